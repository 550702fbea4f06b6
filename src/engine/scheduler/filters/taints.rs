//! A taint keeps away Pods that do not tolerate it.
//!
//! Models `pkg/scheduler/framework/plugins/tainttoleration`.

use crate::api::Object;
use crate::api::node::{Node, Taint};
use crate::engine::scheduler::framework::{Cycle, Filter, NODE_TAINTS, Refusal};
use crate::engine::scheduler::matching::tolerates;
use crate::engine::scheduler::node_info::NodeInfo;
use crate::engine::scheduler::refuses::Refuses;
use std::rc::Rc;

/// The filter.
pub(super) const FILTER: Filter = Filter { name: "TaintToleration", asks: None, filter, explain, requeue_on: NODE_TAINTS };

fn filter(cycle: &Cycle<'_>, _: &Object, node: &Node, _: &NodeInfo) -> Option<Refusal> {
    let mut hard = node.spec.taints.iter().filter(|t| t.effect == "NoSchedule" || t.effect == "NoExecute");
    if hard.any(|taint| !tolerates(&cycle.pod.spec.tolerations, taint)) {
        return Refusal::final_("node(s) had untolerated taint(s)");
    }
    None
}

fn explain(cycle: &Cycle<'_>, object: &Rc<Object>, _: &NodeInfo, out: &mut Vec<Refuses>) {
    let hard = |t: &&Taint| t.effect != "PreferNoSchedule" && !tolerates(&cycle.pod.spec.tolerations, t);
    if let Some(t) = object.body::<Node>().spec.taints.iter().find(hard) {
        out.push(Refuses::Taint { key: t.key.clone(), value: t.value.clone(), effect: t.effect.clone() });
    }
}
