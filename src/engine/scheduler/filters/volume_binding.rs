//! Volumes that only some nodes reach.
//!
//! Models `pkg/scheduler/framework/plugins/volumebinding` and, for claims of one Pod, `volumerestrictions`.

use super::{Cycle, NodeInfo, Plugin, Refusal};
use crate::api::Object;
use crate::api::node::Node;
use crate::engine::scheduler::volumes;

pub(super) fn asks(cycle: &Cycle<'_>) -> bool {
    volumes::claims(cycle.object, cycle.pod, cycle.cache).next().is_some()
}

pub(super) fn filter(cycle: &Cycle<'_>, object: &Object, _: &Node, _: &NodeInfo) -> Option<Refusal> {
    if volumes::taken_by_another(cycle) {
        return Refusal::for_now(
            Plugin::Volumes,
            "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod",
        );
    }
    match volumes::reachable(cycle.object, cycle.pod, object, cycle.cache) {
        volumes::Reach::Yes => None,
        volumes::Reach::WrongNode => Refusal::final_(Plugin::Volumes, "node(s) didn't match PersistentVolume's node affinity"),
        volumes::Reach::NoVolume => Refusal::final_(Plugin::Volumes, "node(s) didn't find available persistent volumes to bind"),
    }
}
