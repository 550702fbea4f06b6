//! Filter for `nodeName`: the Pod fits no other node.
//!
//! Models `pkg/scheduler/framework/plugins/nodename`.

use crate::framework::{Cycle, Filter, Refusal};
use crate::node_info::NodeInfo;
use crate::unschedulable::UnschedulableReason;
use k8s_model::Object;
use k8s_model::node::Node;
use std::rc::Rc;

/// Filter registration.
pub(super) const FILTER: Filter = Filter {
    name: "NodeName",
    applies: Some(applies),
    filter,
    explain,
    requeue_on: 0,
};

fn applies(cycle: &Cycle<'_>) -> bool {
    !cycle.pod.spec.node_name.is_empty()
}

fn filter(cycle: &Cycle<'_>, object: &Object, _: &Node, _: &NodeInfo) -> Option<Refusal> {
    let wanted = &cycle.pod.spec.node_name;
    if !wanted.is_empty() && *wanted != object.meta.name {
        return Refusal::unresolvable("node(s) didn't match the requested node name");
    }
    None
}

fn explain(_: &Cycle<'_>, _: &Rc<Object>, _: &NodeInfo, out: &mut Vec<UnschedulableReason>) {
    out.push(UnschedulableReason::NodeName);
}
