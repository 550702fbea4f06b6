//! Filter for cordoned nodes, which accept only new Pods that tolerate it.
//!
//! Models `pkg/scheduler/framework/plugins/nodeunschedulable`.

use crate::framework::{Cycle, Filter, NODE_TAINTS, Refusal};
use crate::matching::tolerates;
use crate::node_info::NodeInfo;
use crate::unschedulable::UnschedulableReason;
use k8s_model::Object;
use k8s_model::node::{Node, Taint};
use std::rc::Rc;

/// Filter registration.
pub(super) const FILTER: Filter = Filter {
    name: "NodeUnschedulable",
    applies: None,
    filter,
    explain,
    requeue_on: NODE_TAINTS,
};

fn filter(cycle: &Cycle<'_>, _: &Object, node: &Node, _: &NodeInfo) -> Option<Refusal> {
    if !node.spec.unschedulable {
        return None;
    }
    let taint = Taint {
        key: "node.kubernetes.io/unschedulable".into(),
        effect: "NoSchedule".into(),
        ..Default::default()
    };
    if tolerates(&cycle.pod.spec.tolerations, &taint) {
        None
    } else {
        Refusal::unresolvable("node(s) were unschedulable")
    }
}

fn explain(_: &Cycle<'_>, _: &Rc<Object>, _: &NodeInfo, out: &mut Vec<UnschedulableReason>) {
    out.push(UnschedulableReason::NodeUnschedulable);
}
