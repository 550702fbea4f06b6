//! Grouping of workloads in a diagram, and the folded groups.

use i18n::{Message, msg};
use projection::model::{Id, Model, Root};
use std::collections::{BTreeMap, BTreeSet};

/// Kind of a heading's id, which is not an object of the cluster.
pub const GROUP: &str = "Group";

/// Kind of the id of a line that stands for folded items.
pub const FOLD: &str = "Fold";

/// Grouping of workloads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GroupBy {
    /// By namespace or kind if there are too many to be seen as trees, otherwise none.
    #[default]
    Automatic,
    /// No groups.
    Nothing,
    /// By namespace.
    Namespace,
    /// By the label with the application's name.
    App,
    /// By kind.
    Kind,
}

impl GroupBy {
    /// All groupings, in the order of the picker.
    pub const ALL: [GroupBy; 5] = [
        GroupBy::Automatic,
        GroupBy::Nothing,
        GroupBy::Namespace,
        GroupBy::App,
        GroupBy::Kind,
    ];

    /// Title in the picker.
    pub fn title(self) -> Message {
        match self {
            GroupBy::Automatic => msg::group_automatic(),
            GroupBy::Nothing => msg::group_nothing(),
            GroupBy::Namespace => msg::group_namespace(),
            GroupBy::App => msg::group_app(),
            GroupBy::Kind => msg::group_kind(),
        }
    }

    /// Resolves `Automatic` for many workloads: by namespace if there are several, otherwise by kind.
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

    /// Returns the key of a workload's group: a namespace, a label's value, a kind. Empty without such a label, and for Pods without an
    /// owner.
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

    /// Title of a group.
    fn heading(self, key: &str, bare: bool) -> Message {
        match self {
            _ if bare => msg::group_bare_pods(),
            GroupBy::Namespace => msg::kind_name("Namespace", key),
            GroupBy::App if key.is_empty() => msg::group_without_app(),
            _ => Message::name(key),
        }
    }
}

/// Grouping of workloads in a diagram, and the folded groups.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grouping {
    /// Grouping.
    pub by: GroupBy,
    /// Uids of the headings of folded groups.
    pub folded: BTreeSet<String>,
}

impl Grouping {
    /// Folds or unfolds a group.
    pub fn toggle(&mut self, uid: String) {
        if !self.folded.remove(&uid) {
            self.folded.insert(uid);
        }
    }

    /// Returns the groups of a model's workloads, in the order of the workloads.
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

/// Workloads below one heading.
#[derive(Clone, Debug)]
pub struct WorkloadGroup {
    /// Id of the heading.
    pub id: Id,
    /// `Namespace shop`
    pub title: Message,
    /// Indices among the roots of the model.
    pub roots: Vec<usize>,
    /// True if only the heading is drawn.
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
