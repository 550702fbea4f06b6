//! Filter for taints that a Pod does not tolerate.
//!
//! Models `pkg/scheduler/framework/plugins/tainttoleration`.

use crate::framework::{Cycle, Filter, NODE_TAINTS, Refusal};
use crate::matching::tolerates;
use crate::node_info::NodeInfo;
use crate::unschedulable::UnschedulableReason;
use k8s_model::Object;
use k8s_model::node::{Node, Taint};
use std::rc::Rc;

/// Filter registration.
pub(super) const FILTER: Filter = Filter {
    name: "TaintToleration",
    applies: None,
    filter,
    explain,
    requeue_on: NODE_TAINTS,
};

fn filter(cycle: &Cycle<'_>, _: &Object, node: &Node, _: &NodeInfo) -> Option<Refusal> {
    untolerated(cycle, node)?;
    Refusal::unresolvable("node(s) had untolerated taint(s)")
}

/// Returns the first taint that is not tolerated. That of a cordoned node is left to the unschedulable filter; when the node is
/// uncordoned, the taint stays for a moment.
fn untolerated<'n>(cycle: &Cycle<'_>, node: &'n Node) -> Option<&'n Taint> {
    let cordon = |t: &Taint| node.spec.unschedulable && t.key == "node.kubernetes.io/unschedulable";
    let mut hard = node
        .spec
        .taints
        .iter()
        .filter(|t| matches!(t.effect.as_str(), "NoSchedule" | "NoExecute") && !cordon(t));
    hard.find(|taint| !tolerates(&cycle.pod.spec.tolerations, taint))
}

fn explain(
    cycle: &Cycle<'_>,
    object: &Rc<Object>,
    _: &NodeInfo,
    out: &mut Vec<UnschedulableReason>,
) {
    if let Some(t) = untolerated(cycle, object.body()) {
        out.push(UnschedulableReason::UntoleratedTaint {
            key: t.key.clone(),
            value: t.value.clone(),
            effect: t.effect.clone(),
        });
    }
}
