//! ConfigMaps, Secrets and service accounts, and their users.

use super::pods::Names;
use super::pods::Pods;
use super::scope::id;
use super::workloads::revision;
use crate::model::{ControllerCard, Group, Id, Root, Used};
use i18n::msg;
use k8s_model::sources::Purpose;
use k8s_model::workload::ReplicaSet;
use k8s_model::{Kind, Object, Uid};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// User of references: a root with its template and those of its revisions, or a Pod without an owner.
pub(super) struct Referrer {
    pub(super) id: Id,
    pub(super) names: Names,
    /// True for the template of an older revision.
    pub(super) old: bool,
}

/// Returns the objects that users reference, removed from `stored`, and references to missing objects.
pub(super) fn uses(users: &[Referrer], stored: &mut Vec<Id>) -> Vec<Used> {
    // With two flags: the reference is optional, and only older revisions have it.
    let mut found: BTreeMap<(String, String, String), (Used, bool, bool)> = BTreeMap::new();
    for user in users {
        for one in user.names.iter() {
            let (kind, name) = (one.kind.name(), one.name.as_str());
            let (used, optional, old) = found
                .entry((
                    kind.to_string(),
                    user.id.namespace.clone(),
                    name.to_string(),
                ))
                .or_insert_with(|| {
                    let id = Id::missing(kind, &user.id.namespace, name);
                    (
                        Used {
                            id,
                            missing: true,
                            ..Used::default()
                        },
                        true,
                        true,
                    )
                });
            *optional &= one.optional;
            *old &= user.old;
            // A root's templates are adjacent.
            if used.users.last() != Some(&user.id) {
                used.users.push(user.id.clone());
            }
            for part in &one.of {
                let part = match part {
                    Purpose::Env => msg::used_env(),
                    Purpose::Volume => msg::used_volume(),
                    Purpose::ImagePull => msg::used_image_pull(),
                };
                if !used.what_for.contains(&part) {
                    used.what_for.push(part);
                }
            }
        }
    }
    stored.retain(|id| {
        let used = found.get_mut(&(id.kind.clone(), id.namespace.clone(), id.name.clone()));
        let Some((used, ..)) = used else { return true };
        (used.id, used.missing) = (id.clone(), false);
        false
    });
    let shown = |(mut used, optional, old): (Used, bool, bool)| {
        if old {
            used.what_for.push(msg::used_older());
        }
        (!used.missing || !optional).then_some(used)
    };
    found.into_values().filter_map(shown).collect()
}

pub(super) struct ReferenceReader<'a> {
    pub(super) owned: &'a BTreeMap<Uid, Vec<Rc<Object>>>,
    pub(super) pods: &'a mut Pods,
    pub(super) users: Vec<Referrer>,
    pub(super) unfolded: &'a BTreeSet<String>,
}

/// Uid of the line into which a workload's unused old revisions are folded.
pub fn fold_of(uid: &str) -> String {
    format!("{uid}/folded")
}

impl ReferenceReader<'_> {
    /// Returns a controller's card; the references of its template are recorded under the root's uid.
    pub(super) fn controller(
        &mut self,
        object: &Object,
        root: &Object,
        old: bool,
    ) -> Option<Rc<ControllerCard>> {
        let (controller, names) = self.pods.controller(object);
        if !names.is_empty() {
            self.users.push(Referrer {
                id: id(root),
                names,
                old,
            });
        }
        Some(controller)
    }

    pub(super) fn root(&mut self, object: &Object) -> Root {
        let controller = self.controller(object, object, false);
        let kind = match object.kind {
            Kind::Deployment => Kind::ReplicaSet,
            Kind::CronJob => Kind::Job,
            _ => {
                return Root {
                    controller,
                    groups: vec![Group {
                        controller: None,
                        pods: self.pods.of(object.meta.uid),
                    }],
                    ..Root::default()
                };
            }
        };
        let children = self.owned.get(&object.meta.uid).into_iter().flatten();
        let mut sets: Vec<&Rc<Object>> = children.filter(|child| child.kind == kind).collect();
        sets.sort_by_key(|set| revision(set));
        let mut root = Root {
            controller,
            ..Root::default()
        };
        let newest = sets.len().saturating_sub(1);
        let opened = !self.unfolded.is_empty()
            && self
                .unfolded
                .contains(&fold_of(&object.meta.uid.to_string()));
        for (i, set) in sets.into_iter().enumerate() {
            let pods = self.pods.of(set.meta.uid);
            let empty = pods.is_empty()
                && set
                    .get::<ReplicaSet>()
                    .is_none_or(|body| body.spec.replicas == 0);
            let old = empty && i != newest;
            if old && !opened {
                root.folded += 1;
            } else {
                root.unfolded += usize::from(old);
                root.groups.push(Group {
                    controller: self.controller(set, object, i != newest),
                    pods,
                });
            }
        }
        root
    }
}
