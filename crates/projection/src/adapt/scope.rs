//! What is shown of a cluster.

use crate::model::{Id, natural};
use cluster::Sim;
use k8s_model::{Kind, Object, ObjectRef, Uid};
use std::collections::BTreeSet;
use std::rc::Rc;

/// What to read, and when it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scope {
    /// One namespace, or all.
    pub namespace: Option<String>,
    /// The filter: part of a name, `kind:pod`, `app=nginx`; all terms must match.
    pub filter: String,
    /// Now, in milliseconds since 1970, as timestamps of objects count.
    pub now: i64,
    /// Whether the Pods are still being read: a Pod that is not known yet may exist.
    pub lags: bool,
    /// Whether nodes are drawn: words may name them too.
    pub nodes: bool,
    /// Lines of what is folded that a person has opened, by their uids.
    pub unfolded: BTreeSet<String>,
}

/// Kinds that stand at the root of a tree, in the order of the diagram.
pub const ROOTS: [Kind; 7] = [
    Kind::Deployment,
    Kind::StatefulSet,
    Kind::DaemonSet,
    Kind::CronJob,
    Kind::Job,
    Kind::ReplicaSet,
    Kind::ReplicationController,
];

/// Kinds of workloads, in the order in which diagrams show them.
pub fn workloads() -> impl Iterator<Item = Kind> {
    ROOTS.into_iter().chain([Kind::Pod])
}

/// Workloads and Pods without an owner, in that order.
pub fn roots(sim: &Sim) -> impl Iterator<Item = &Rc<Object>> {
    let all = workloads().flat_map(|kind| sim.list(kind));
    all.filter(|object| object.meta.controller().is_none())
}

/// The workload to select first.
pub fn first_workload(sim: &Sim) -> Option<ObjectRef> {
    roots(sim).map(|object| object.key()).next()
}

impl Scope {
    /// Whether Pods of a namespace are shown.
    pub fn has(&self, namespace: &str) -> bool {
        self.namespace.as_deref().is_none_or(|one| namespace == one)
    }

    /// Whether an object is of a namespace that is shown.
    pub fn holds(&self, object: &Object) -> bool {
        !object.kind.info().namespaced || self.has(&object.meta.namespace)
    }
}

/// Which object a shape will stand for.
pub fn id(object: &Object) -> Id {
    Id {
        kind: object.kind.label(),
        namespace: object.meta.namespace.to_string(),
        name: object.meta.name.to_string(),
        uid: object.meta.uid.to_string(),
    }
}

/// The objects of a kind.
pub type Lister<'a> = &'a dyn Fn(Kind) -> Vec<Rc<Object>>;

/// Compares objects by their creation, namespace and name.
pub(super) fn by_creation(a: &Object, b: &Object) -> std::cmp::Ordering {
    let (a, b) = (&a.meta, &b.meta);
    (a.creation_timestamp, &a.namespace)
        .cmp(&(b.creation_timestamp, &b.namespace))
        .then_with(|| natural(&a.name, &b.name))
}

/// The order of some objects by their creation and name. Since neither changes, the order is that of the last time while there are the
/// same objects.
#[derive(Clone, Debug, Default)]
pub(super) struct CreationOrder {
    uids: Vec<Uid>,
    order: Vec<u32>,
}

impl CreationOrder {
    /// The objects, sorted.
    pub fn sort(&mut self, objects: &[Rc<Object>]) -> Vec<Rc<Object>> {
        if !self
            .uids
            .iter()
            .copied()
            .eq(objects.iter().map(|object| object.meta.uid))
        {
            self.uids = objects.iter().map(|object| object.meta.uid).collect();
            self.order = k8s_model::sort::indices(objects.len(), &mut |a, b| {
                by_creation(&objects[a], &objects[b])
            });
        }
        self.order
            .iter()
            .map(|at| objects[*at as usize].clone())
            .collect()
    }
}

/// Above so many, Pods are cells, and what a leaving one says is not seen.
pub(super) const SEEN: usize = 200;

pub(super) fn text(value: Option<&serde_json::Value>) -> String {
    match value {
        Some(serde_json::Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => String::new(),
    }
}
