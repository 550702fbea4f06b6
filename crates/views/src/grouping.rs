//! By what a diagram groups its workloads, and which groups are folded.

use i18n::{Message, msg};
use projection::model::{Id, Model, Root};
use std::collections::{BTreeMap, BTreeSet};

/// The kind of a heading's id, which is no object of the cluster.
pub const GROUP: &str = "Group";

/// The kind of the id of a line that stands for what is folded.
pub const FOLD: &str = "Fold";

/// By what workloads are grouped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GroupBy {
    /// By namespace or kind where there are too many to be seen as trees, else not.
    #[default]
    Automatic,
    /// Not at all.
    Nothing,
    /// By namespace.
    Namespace,
    /// By the label that names the application.
    App,
    /// By kind.
    Kind,
}

impl GroupBy {
    /// All, in the order of the picker.
    pub const ALL: [GroupBy; 5] = [
        GroupBy::Automatic,
        GroupBy::Nothing,
        GroupBy::Namespace,
        GroupBy::App,
        GroupBy::Kind,
    ];

    /// In the picker.
    pub fn title(self) -> Message {
        match self {
            GroupBy::Automatic => msg::group_automatic(),
            GroupBy::Nothing => msg::group_nothing(),
            GroupBy::Namespace => msg::group_namespace(),
            GroupBy::App => msg::group_app(),
            GroupBy::Kind => msg::group_kind(),
        }
    }

    /// What it stands for among many workloads: namespaces where there are several, else kinds.
    fn resolved(self, roots: &[Root]) -> GroupBy {
        let mut owners = roots.iter().filter_map(|root| root.controller.as_deref());
        match (self, owners.next()) {
            (GroupBy::Automatic, Some(first))
                if owners.any(|of| of.id.namespace != first.id.namespace) =>
            {
                GroupBy::Namespace
            }
            (GroupBy::Automatic, _) => GroupBy::Kind,
            (by, _) => by,
        }
    }

    /// The key of a workload's group: a namespace, the value of a label, a kind. Empty where it has no such label, or is not a workload
    /// but Pods without an owner.
    fn key(self, root: &Root) -> &str {
        let Some(of) = &root.controller else {
            return "";
        };
        match self {
            GroupBy::Namespace => &of.id.namespace,
            GroupBy::App => &of.app,
            _ => &of.id.kind,
        }
    }

    /// The title of a group.
    fn heading(self, key: &str, bare: bool) -> Message {
        match self {
            _ if bare => msg::group_bare_pods(),
            GroupBy::Namespace => msg::kind_name("Namespace", key),
            GroupBy::App if key.is_empty() => msg::group_without_app(),
            _ => Message::name(key),
        }
    }
}

/// By what a diagram groups its workloads, and which groups are folded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grouping {
    /// By what.
    pub by: GroupBy,
    /// The uids of the headings of those that are folded.
    pub folded: BTreeSet<String>,
}

impl Grouping {
    /// Folds a group, or unfolds it.
    pub fn toggle(&mut self, uid: String) {
        if !self.folded.remove(&uid) {
            self.folded.insert(uid);
        }
    }

    /// The groups of a model's workloads, in the order in which these come.
    pub fn groups(&self, model: &Model) -> Vec<WorkloadGroup> {
        let by = self.by.resolved(&model.roots);
        let mut out: Vec<WorkloadGroup> = Vec::new();
        let mut places: BTreeMap<(bool, &str), usize> = BTreeMap::new();
        for (at, root) in model.roots.iter().enumerate() {
            let bare = root.controller.is_none();
            let key = by.key(root);
            if let Some(place) = places.get(&(bare, key)) {
                out[*place].roots.push(at);
                continue;
            }
            places.insert((bare, key), out.len());
            let uid = format!("group/{by:?}/{}{key}", if bare { "/" } else { "" });
            let folded = self.folded.contains(&uid);
            let title = by.heading(key, bare);
            out.push(WorkloadGroup {
                id: Id {
                    kind: GROUP.into(),
                    name: key.into(),
                    uid,
                    ..Id::default()
                },
                title,
                roots: vec![at],
                folded,
            });
        }
        out
    }
}

/// Workloads that stand under one heading.
#[derive(Clone, Debug)]
pub struct WorkloadGroup {
    /// Of its heading.
    pub id: Id,
    /// `Namespace shop`
    pub title: Message,
    /// Their places among the roots of the model.
    pub roots: Vec<usize>,
    /// Whether only the heading is drawn.
    pub folded: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use projection::model::ControllerCard;

    fn root(kind: &str, namespace: &str, app: &str) -> Root {
        let id = Id {
            kind: kind.into(),
            namespace: namespace.into(),
            name: "x".into(),
            uid: format!("{kind}{namespace}{app}"),
        };
        let of = ControllerCard {
            id,
            app: app.into(),
            ..ControllerCard::default()
        };
        Root {
            controller: Some(of.into()),
            ..Root::default()
        }
    }

    fn titles(by: GroupBy, roots: Vec<Root>) -> Vec<(String, Vec<usize>)> {
        let grouping = Grouping {
            by,
            ..Grouping::default()
        };
        let groups = grouping.groups(&Model {
            roots,
            ..Model::default()
        });
        groups
            .into_iter()
            .map(|group| (group.title.english(), group.roots))
            .collect()
    }

    fn some() -> Vec<Root> {
        vec![
            root("Deployment", "shop", "web"),
            root("StatefulSet", "shop", "db"),
            root("Deployment", "ops", ""),
            Root::default(),
        ]
    }

    #[test]
    fn workloads_are_grouped_by_what_was_chosen() {
        let of = |title: &str, roots: &[usize]| (title.to_owned(), roots.to_vec());
        let bare = of("Pods without an owner", &[3]);
        assert_eq!(
            titles(GroupBy::Namespace, some()),
            [
                of("Namespace shop", &[0, 1]),
                of("Namespace ops", &[2]),
                bare.clone()
            ]
        );
        assert_eq!(
            titles(GroupBy::Kind, some()),
            [
                of("Deployment", &[0, 2]),
                of("StatefulSet", &[1]),
                bare.clone()
            ]
        );
        assert_eq!(
            titles(GroupBy::App, some()),
            [
                of("web", &[0]),
                of("db", &[1]),
                of("Without an app label", &[2]),
                bare.clone()
            ]
        );
        assert_eq!(
            titles(GroupBy::Automatic, some()),
            titles(GroupBy::Namespace, some())
        );
        assert_eq!(
            titles(GroupBy::Automatic, some().split_off(2)),
            titles(GroupBy::Kind, some().split_off(2))
        );
    }

    #[test]
    fn a_group_is_folded_and_unfolded() {
        let mut grouping = Grouping {
            by: GroupBy::Kind,
            ..Grouping::default()
        };
        let model = Model {
            roots: some(),
            ..Model::default()
        };
        let uid = grouping.groups(&model)[1].id.uid.clone();
        grouping.toggle(uid.clone());
        let folded: Vec<bool> = grouping
            .groups(&model)
            .iter()
            .map(|group| group.folded)
            .collect();
        assert_eq!(folded, [false, true, false]);
        grouping.toggle(uid);
        assert!(grouping.groups(&model).iter().all(|group| !group.folded));
    }
}
