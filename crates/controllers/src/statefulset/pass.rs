//! State of one pass over a StatefulSet.

use super::revisions::Revisions;
use controller_runtime::client::{LoopClient, PassView};
use k8s_model::pod::Pod;
use k8s_model::workload::StatefulSet;
use k8s_model::{Object, Str};
use std::rc::Rc;

/// Reconcile pass over one StatefulSet.
pub(super) struct StatefulSetPass<'p, 'v, 'o> {
    pub(super) object: &'p Rc<Object>,
    pub(super) set: &'p StatefulSet,
    pub(super) view: &'p PassView<'v>,
    pub(super) out: &'p mut LoopClient<'o>,
    pub(super) revisions: Revisions,
}

/// Pods by role: one slot per ordinal, and the condemned Pods, highest ordinal first.
pub(super) struct Roles {
    pub(super) replicas: Vec<(i32, Option<Rc<Object>>)>,
    pub(super) condemned: Vec<(i32, Rc<Object>)>,
}

/// Result of a step: continue the pass, or wait.
#[derive(PartialEq, Eq)]
pub(super) enum Proceed {
    Continue,
    Wait,
}

pub(super) fn is_healthy(pod: &Object) -> bool {
    is_ready(pod) && !pod.meta.is_deleting()
}

pub(super) fn is_ready(pod: &Object) -> bool {
    let body: &Pod = pod.body();
    body.status.phase == "Running" && body.is_ready()
}

pub(super) fn revision_of(pod: &Object) -> &str {
    pod.meta.label(REVISION_LABEL).map_or("", Str::as_str)
}

pub(super) const REVISION_LABEL: &str = "controller-revision-hash";
