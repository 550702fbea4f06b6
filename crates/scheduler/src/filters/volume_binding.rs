//! Filter for volumes that only some nodes can reach.
//!
//! Models `pkg/scheduler/framework/plugins/volumebinding` and, for claims of one Pod, `volumerestrictions`.

use crate::framework::{Cycle, Filter, NODE_LABELS, NODE_TAINTS, POD_GONE, Refusal, STORAGE};
use crate::node_info::NodeInfo;
use crate::unschedulable::UnschedulableReason;
use crate::volumes;
use k8s_model::Object;
use k8s_model::node::Node;
use std::rc::Rc;

/// Filter registration.
pub(super) const FILTER: Filter = Filter {
    name: "VolumeBinding",
    applies: Some(applies),
    filter,
    explain,
    requeue_on: POD_GONE | NODE_LABELS | NODE_TAINTS | STORAGE,
};

fn applies(cycle: &Cycle<'_>) -> bool {
    volumes::claims(cycle.object, cycle.pod, cycle.cache)
        .next()
        .is_some()
}

fn filter(cycle: &Cycle<'_>, object: &Object, _: &Node, _: &NodeInfo) -> Option<Refusal> {
    if cycle.claim_taken {
        return Refusal::unschedulable(
            "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod",
        );
    }
    match volumes::reachable(cycle.object, cycle.pod, object, cycle.cache) {
        volumes::Reach::Yes => None,
        volumes::Reach::WrongNode => {
            Refusal::unresolvable("node(s) didn't match PersistentVolume's node affinity")
        }
        volumes::Reach::NoVolume => {
            Refusal::unresolvable("node(s) didn't find available persistent volumes to bind")
        }
    }
}

fn explain(
    cycle: &Cycle<'_>,
    object: &Rc<Object>,
    _: &NodeInfo,
    out: &mut Vec<UnschedulableReason>,
) {
    out.push(
        match volumes::reachable(cycle.object, cycle.pod, object, cycle.cache) {
            volumes::Reach::WrongNode => UnschedulableReason::VolumeNodeAffinity,
            volumes::Reach::NoVolume => UnschedulableReason::NoVolume,
            volumes::Reach::Yes => UnschedulableReason::ReadWriteOncePod,
        },
    );
}
