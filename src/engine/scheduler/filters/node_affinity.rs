//! `nodeSelector` and required node affinity.
//!
//! Models `pkg/scheduler/framework/plugins/nodeaffinity`.

use super::{Cycle, NodeInfo, Refusal};
use crate::api::Object;
use crate::api::node::Node;
use crate::api::pod::{NodeSelector, NodeSelectorTerm};
use crate::api::selector::contains_all;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Whether one of the terms holds; a term without requirements never does.
pub(in crate::engine::scheduler) fn selects(selector: &NodeSelector, node: &Object) -> bool {
    selector.node_selector_terms.iter().any(|term| term_matches(term, node))
}

fn term_matches(term: &NodeSelectorTerm, node: &Object) -> bool {
    if term.match_expressions.is_empty() && term.match_fields.is_empty() {
        return false;
    }
    let fields = Rc::new(BTreeMap::from([("metadata.name".into(), node.meta.name.clone())]));
    term.match_expressions.iter().all(|r| r.matches(&node.meta.labels)) && term.match_fields.iter().all(|r| r.matches(&fields))
}

pub(super) fn filter(cycle: &Cycle<'_>, object: &Object, _: &Node, _: &NodeInfo) -> Option<Refusal> {
    let spec = &cycle.pod.spec;
    let required = spec.affinity.node_affinity.required_during_scheduling_ignored_during_execution.as_ref();
    if !contains_all(&object.meta.labels, &spec.node_selector) || required.is_some_and(|selector| !selects(selector, object)) {
        return Refusal::final_("node(s) didn't match Pod's node affinity/selector");
    }
    None
}
