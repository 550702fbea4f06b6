//! A cordoned node takes no new Pods, except such that tolerate it.
//!
//! Models `pkg/scheduler/framework/plugins/nodeunschedulable`.

use super::taints::tolerates;
use super::{Cycle, NodeInfo, Plugin, Refusal};
use crate::api::Object;
use crate::api::node::{Node, Taint};

pub(super) fn filter(cycle: &Cycle<'_>, _: &Object, node: &Node, _: &NodeInfo) -> Option<Refusal> {
    if !node.spec.unschedulable {
        return None;
    }
    let taint = Taint { key: "node.kubernetes.io/unschedulable".into(), effect: "NoSchedule".into(), ..Default::default() };
    if tolerates(&cycle.pod.spec.tolerations, &taint) { None } else { Refusal::final_(Plugin::Unschedulable, "node(s) were unschedulable") }
}
