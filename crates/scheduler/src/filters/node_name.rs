//! Filter for `nodeName`: the Pod fits no other node.
//!
//! Models `pkg/scheduler/framework/plugins/nodename`.

use crate::framework::{Cycle, Filter, Refusal};
use crate::node_info::NodeInfo;
use crate::refuses::Refuses;
use k8s_model::Object;
use k8s_model::node::Node;
use std::rc::Rc;

/// Filter registration.
pub(super) const FILTER: Filter = Filter {
    name: "NodeName",
    asks: Some(asks),
    filter,
    explain,
    requeue_on: 0,
};

fn asks(cycle: &Cycle<'_>) -> bool {
    !cycle.pod.spec.node_name.is_empty()
}

fn filter(cycle: &Cycle<'_>, object: &Object, _: &Node, _: &NodeInfo) -> Option<Refusal> {
    let wanted = &cycle.pod.spec.node_name;
    if !wanted.is_empty() && *wanted != object.meta.name {
        return Refusal::final_("node(s) didn't match the requested node name");
    }
    None
}

fn explain(_: &Cycle<'_>, _: &Rc<Object>, _: &NodeInfo, out: &mut Vec<Refuses>) {
    out.push(Refuses::Elsewhere);
}
