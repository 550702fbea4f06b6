//! A Pod that names its node fits no other.
//!
//! Models `pkg/scheduler/framework/plugins/nodename`.

use super::{Cycle, NodeInfo, Plugin, Refusal};
use crate::api::Object;
use crate::api::node::Node;

pub(super) fn asks(cycle: &Cycle<'_>) -> bool {
    !cycle.pod.spec.node_name.is_empty()
}

pub(super) fn filter(cycle: &Cycle<'_>, object: &Object, _: &Node, _: &NodeInfo) -> Option<Refusal> {
    let wanted = &cycle.pod.spec.node_name;
    if !wanted.is_empty() && *wanted != object.meta.name {
        return Refusal::final_(Plugin::NodeName, "node(s) didn't match the requested node name");
    }
    None
}
