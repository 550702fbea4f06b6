//! Filter for `nodeSelector` and required node affinity.
//!
//! Models `pkg/scheduler/framework/plugins/nodeaffinity`.

use crate::framework::{Cycle, Filter, NODE_LABELS, Refusal};
use crate::matching::fits_affinity;
use crate::node_info::NodeInfo;
use crate::unschedulable::UnschedulableReason;
use k8s_model::Object;
use k8s_model::node::Node;
use k8s_model::pod::NodeSelectorTerm;
use std::rc::Rc;

/// Filter registration.
pub(super) const FILTER: Filter = Filter {
    name: "NodeAffinity",
    applies: None,
    filter,
    explain,
    requeue_on: NODE_LABELS,
};

/// Part of the filter that upstream evaluates before all others.
pub(super) const PINNED: Filter = Filter {
    filter: pinned,
    ..FILTER
};

/// Returns a refusal if the affinity names other nodes in every term.
///
/// Upstream then never evaluates other nodes; a DaemonSet's Pods are pinned this way.
fn pinned(cycle: &Cycle<'_>, object: &Object, _: &Node, _: &NodeInfo) -> Option<Refusal> {
    let required = cycle
        .pod
        .spec
        .affinity
        .node_affinity
        .required_during_scheduling_ignored_during_execution
        .as_ref()?;
    let elsewhere = |term: &NodeSelectorTerm| {
        let names = term
            .match_fields
            .iter()
            .filter(|f| f.key == "metadata.name" && f.operator == "In");
        names
            .into_iter()
            .any(|f| !f.values.contains(&object.meta.name))
    };
    if required.node_selector_terms.is_empty()
        || !required.node_selector_terms.iter().all(elsewhere)
    {
        return None;
    }
    Refusal::unresolvable("node(s) didn't satisfy plugin(s) [NodeAffinity]")
}

fn filter(cycle: &Cycle<'_>, object: &Object, _: &Node, _: &NodeInfo) -> Option<Refusal> {
    if !fits_affinity(&cycle.pod.spec, object) {
        return Refusal::unresolvable("node(s) didn't match Pod's node affinity/selector");
    }
    None
}

fn explain(
    cycle: &Cycle<'_>,
    object: &Rc<Object>,
    _: &NodeInfo,
    out: &mut Vec<UnschedulableReason>,
) {
    let differs = cycle
        .pod
        .spec
        .node_selector
        .iter()
        .find(|(key, want)| object.meta.label(key) != Some(*want));
    out.push(match differs {
        Some((key, want)) => UnschedulableReason::NodeSelector {
            key: key.clone(),
            want: want.clone(),
            has: object.meta.label(key).cloned(),
        },
        None => UnschedulableReason::NodeAffinity,
    });
}
