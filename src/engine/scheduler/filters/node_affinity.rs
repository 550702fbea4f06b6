//! `nodeSelector` and required node affinity.
//!
//! Models `pkg/scheduler/framework/plugins/nodeaffinity`.

use super::{Cycle, NodeInfo, Plugin, Refusal};
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

pub(in crate::engine::scheduler) fn term_matches(term: &NodeSelectorTerm, node: &Object) -> bool {
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

/// Whether the affinity names nodes of which this is none, in every term.
///
/// Upstream then never looks at the others; a DaemonSet's Pods are pinned so.
pub(super) fn pinned(cycle: &Cycle<'_>, object: &Object, _: &Node, _: &NodeInfo) -> Option<Refusal> {
    let required = cycle.pod.spec.affinity.node_affinity.required_during_scheduling_ignored_during_execution.as_ref()?;
    let elsewhere = |term: &NodeSelectorTerm| {
        let names = term.match_fields.iter().filter(|f| f.key == "metadata.name" && f.operator == "In");
        names.into_iter().any(|f| !f.values.contains(&object.meta.name))
    };
    if required.node_selector_terms.is_empty() || !required.node_selector_terms.iter().all(elsewhere) {
        return None;
    }
    Refusal::final_(Plugin::NodeAffinity, "node(s) didn't satisfy plugin(s) [NodeAffinity]")
}

pub(super) fn filter(cycle: &Cycle<'_>, object: &Object, _: &Node, _: &NodeInfo) -> Option<Refusal> {
    if !fits(&cycle.pod.spec, object) {
        return Refusal::final_(Plugin::NodeAffinity, "node(s) didn't match Pod's node affinity/selector");
    }
    None
}
