//! A hard spread constraint keeps a Pod out of a domain that has too many more than the emptiest.
//!
//! Models `pkg/scheduler/framework/plugins/podtopologyspread/filtering.go`.

use super::{Cycle, NodeInfo, Plugin, Refusal};
use crate::api::Object;
use crate::api::node::Node;

pub(super) fn asks(cycle: &Cycle<'_>) -> bool {
    !cycle.spread.is_empty()
}

pub(super) fn filter(cycle: &Cycle<'_>, node: &Object, _: &Node, _: &NodeInfo) -> Option<Refusal> {
    for counted in &cycle.spread {
        let constraint = counted.constraint;
        let Some(value) = node.meta.label(&constraint.topology_key) else {
            return Refusal::final_(Plugin::Spread, "node(s) didn't match pod topology spread constraints (missing required label)");
        };
        let own = constraint.label_selector.as_ref().is_some_and(|s| s.matches(&cycle.object.meta.labels));
        if counted.in_domain(value) + i64::from(own) - counted.fewest() > constraint.max_skew {
            return Refusal::for_now(Plugin::Spread, "node(s) didn't match pod topology spread constraints");
        }
    }
    None
}
