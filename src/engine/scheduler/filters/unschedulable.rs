//! A cordoned node takes no new Pods, except such that tolerate it.
//!
//! Models `pkg/scheduler/framework/plugins/nodeunschedulable`.

use super::taints::tolerates;
use super::{Cycle, NodeInfo, Refusal};
use crate::api::Object;
use crate::api::node::{Node, Taint};

pub(super) fn filter(cycle: &Cycle<'_>, _: &Object, node: &Node, _: &NodeInfo) -> Option<Refusal> {
    let taint = Taint { key: "node.kubernetes.io/unschedulable".into(), effect: "NoSchedule".into(), ..Default::default() };
    if node.spec.unschedulable && !tolerates(&cycle.pod.spec.tolerations, &taint) {
        return Refusal::final_("node(s) were unschedulable");
    }
    None
}
