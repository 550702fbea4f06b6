//! Scope of the cluster to show.

use crate::model::Id;
use cluster::Sim;
use k8s_model::natural::natural_cmp;
use k8s_model::{Kind, Object, ObjectRef, Uid};
use std::collections::BTreeSet;
use std::rc::Rc;

/// Scope of the objects to read, and the current time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scope {
    /// Namespace; `None` for all.
    pub namespace: Option<String>,
    /// Filter: part of a name, `kind:pod`, `app=nginx`; all terms must match.
    pub filter: String,
    /// Current time in milliseconds since 1970, comparable with timestamps of objects.
    pub now: i64,
    /// True if the Pods are still being read: an unknown Pod may exist.
    pub lags: bool,
    /// True if nodes are drawn: the filter may match them too.
    pub nodes: bool,
    /// Uids of the folded lines that a person has opened.
    pub unfolded: BTreeSet<String>,
}

/// Kinds at the root of a tree, in the order of the diagram.
pub const ROOTS: [Kind; 7] = [
    Kind::Deployment,
    Kind::StatefulSet,
    Kind::DaemonSet,
    Kind::CronJob,
    Kind::Job,
    Kind::ReplicaSet,
    Kind::ReplicationController,
];

/// Returns the kinds of workloads, in display order.
pub fn workloads() -> impl Iterator<Item = Kind> {
    ROOTS.into_iter().chain([Kind::Pod])
}

/// Iterates over workloads and Pods without an owner, in that order.
pub fn roots(sim: &Sim) -> impl Iterator<Item = &Rc<Object>> {
    let all = workloads().flat_map(|kind| sim.store().list(kind));
    all.filter(|object| object.meta.controller().is_none())
}

/// Returns the workload to select first.
pub fn first_workload(sim: &Sim) -> Option<ObjectRef> {
    roots(sim).map(|object| object.key()).next()
}

/// Number of workloads from which an application is seen as a whole first.
pub const MANY_WORKLOADS: usize = 5;

/// Returns true if a cluster has so many workloads that none of them is the one to look at.
pub fn has_many_workloads(sim: &Sim) -> bool {
    roots(sim).nth(MANY_WORKLOADS - 1).is_some()
}

impl Scope {
    /// Returns true if Pods of a namespace are shown.
    pub fn has(&self, namespace: &str) -> bool {
        self.namespace.as_deref().is_none_or(|one| namespace == one)
    }

    /// Returns true if an object is cluster-scoped or in a namespace that is shown.
    pub fn holds(&self, object: &Object) -> bool {
        !object.kind.info().namespaced || self.has(&object.meta.namespace)
    }
}

/// Returns the identity of an object.
pub fn id(object: &Object) -> Id {
    Id {
        kind: object.kind.label(),
        namespace: object.meta.namespace.to_string(),
        name: object.meta.name.to_string(),
        uid: object.meta.uid.to_string(),
    }
}

/// Function that lists the objects of a kind.
pub type Lister<'a> = &'a dyn Fn(Kind) -> Vec<Rc<Object>>;

/// Compares objects by their creation, namespace and name.
pub(super) fn by_creation(a: &Object, b: &Object) -> std::cmp::Ordering {
    let (a, b) = (&a.meta, &b.meta);
    (a.creation_timestamp, &a.namespace)
        .cmp(&(b.creation_timestamp, &b.namespace))
        .then_with(|| natural_cmp(&a.name, &b.name))
}

/// Cached order of objects by creation and name. Since neither changes, the order is reused as long as the objects are the same.
#[derive(Clone, Debug, Default)]
pub(super) struct CreationOrder {
    uids: Vec<Uid>,
    order: Vec<u32>,
}

impl CreationOrder {
    /// Returns the objects, sorted.
    pub fn sort(&mut self, objects: &[Rc<Object>]) -> Vec<Rc<Object>> {
        if !self
            .uids
            .iter()
            .copied()
            .eq(objects.iter().map(|object| object.meta.uid))
        {
            self.uids = objects.iter().map(|object| object.meta.uid).collect();
            self.order = (0..objects.len() as u32).collect();
            self.order
                .sort_by(|a, b| by_creation(&objects[*a as usize], &objects[*b as usize]));
        }
        self.order
            .iter()
            .map(|at| objects[*at as usize].clone())
            .collect()
    }
}

/// Number of Pods above which they are cells, which do not show the countdown of terminating Pods.
pub(super) const SEEN: usize = 200;

pub(super) fn text(value: Option<&serde_json::Value>) -> String {
    match value {
        Some(serde_json::Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => String::new(),
    }
}
