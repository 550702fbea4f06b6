//! `nodeSelector` and required node affinity.
//!
//! Models `pkg/scheduler/framework/plugins/nodeaffinity`.

use super::{Cycle, NodeInfo, Refusal};
use crate::api::Object;
use crate::api::node::Node;
use crate::api::pod::{NodeSelector, NodeSelectorTerm, PodSpec};
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

/// Whether a node has the labels a Pod asks for and is one of those its affinity requires.
pub(in crate::engine) fn fits(spec: &PodSpec, node: &Object) -> bool {
    let required = spec.affinity.node_affinity.required_during_scheduling_ignored_during_execution.as_ref();
    contains_all(&node.meta.labels, &spec.node_selector) && required.is_none_or(|selector| selects(selector, node))
}

pub(super) fn filter(cycle: &Cycle<'_>, object: &Object, _: &Node, _: &NodeInfo) -> Option<Refusal> {
    if !fits(&cycle.pod.spec, object) {
        return Refusal::final_("node(s) didn't match Pod's node affinity/selector");
    }
    None
}
