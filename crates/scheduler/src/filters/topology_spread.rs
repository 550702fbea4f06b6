//! Filter for hard spread constraints: keeps a Pod out of a domain that would exceed `maxSkew`.
//!
//! Models `pkg/scheduler/framework/plugins/podtopologyspread/filtering.go`.

use crate::framework::{
    Cycle, Filter, NODE_GONE, NODE_LABELS, NODE_TAINTS, POD_GONE, POD_PLACED, Refusal,
};
use crate::node_info::NodeInfo;
use crate::unschedulable::UnschedulableReason;
use k8s_model::Object;
use k8s_model::node::Node;
use std::rc::Rc;

/// Filter registration.
pub(super) const FILTER: Filter = Filter {
    name: "PodTopologySpread",
    applies: Some(applies),
    filter,
    explain,
    requeue_on: POD_GONE | POD_PLACED | NODE_GONE | NODE_LABELS | NODE_TAINTS,
};

fn applies(cycle: &Cycle<'_>) -> bool {
    !cycle.spread.is_empty()
}

fn filter(cycle: &Cycle<'_>, node: &Object, _: &Node, _: &NodeInfo) -> Option<Refusal> {
    for counted in &cycle.spread {
        let constraint = counted.constraint;
        let Some(value) = node.meta.label(&constraint.topology_key) else {
            return Refusal::unresolvable(
                "node(s) didn't match pod topology spread constraints (missing required label)",
            );
        };
        let own = constraint
            .label_selector
            .as_ref()
            .is_some_and(|s| s.matches(&cycle.object.meta.labels));
        if counted.in_domain(value) + i64::from(own) - counted.fewest > constraint.max_skew {
            return Refusal::unschedulable("node(s) didn't match pod topology spread constraints");
        }
    }
    None
}

fn explain(
    cycle: &Cycle<'_>,
    object: &Rc<Object>,
    _: &NodeInfo,
    out: &mut Vec<UnschedulableReason>,
) {
    for counted in &cycle.spread {
        let (key, most) = (
            counted.constraint.topology_key.clone(),
            counted.constraint.max_skew,
        );
        let Some(domain) = object.meta.label(&key).cloned() else {
            return out.push(UnschedulableReason::MissingTopologyKey { key });
        };
        let own = counted
            .constraint
            .label_selector
            .as_ref()
            .is_some_and(|s| s.matches(&cycle.object.meta.labels));
        let (here, fewest) = (counted.in_domain(&domain), counted.fewest);
        if here + i64::from(own) - fewest > most {
            return out.push(UnschedulableReason::TopologySpread {
                key,
                domain,
                here,
                fewest,
                most,
            });
        }
    }
}
