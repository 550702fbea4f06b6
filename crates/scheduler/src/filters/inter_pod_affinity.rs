//! Filter for required affinity and anti-affinity between Pods.
//!
//! Models `pkg/scheduler/framework/plugins/interpodaffinity/filtering.go`.

use crate::framework::{Cycle, Filter, NODE_LABELS, POD_GONE, POD_PLACED, Refusal};
use crate::node_info::NodeInfo;
use crate::terms::{DomainSums, same_domain, selects};
use crate::unschedulable::UnschedulableReason;
use k8s_model::Object;
use k8s_model::node::Node;
use k8s_model::pod::{Pod, PodAffinityTerm};
use std::rc::Rc;

/// Filter registration.
pub(super) const FILTER: Filter = Filter {
    name: "InterPodAffinity",
    applies: Some(applies),
    filter,
    explain,
    requeue_on: POD_GONE | POD_PLACED | NODE_LABELS,
};

/// Terms matched by the Pods of each domain (`preFilterState`).
#[derive(Default)]
pub(crate) struct AffinityCounts<'c> {
    /// Pods whose required anti-affinity selects this Pod, by their terms.
    existing_anti_affinity: DomainSums<'c>,
    /// Pods that all required affinity terms of this Pod select.
    affinity: DomainSums<'c>,
    /// Pods that a required anti-affinity term of this Pod selects.
    anti_affinity: DomainSums<'c>,
}

impl<'c> AffinityCounts<'c> {
    /// Counts the matched terms over all nodes.
    pub fn new(cycle: &Cycle<'c>) -> AffinityCounts<'c> {
        let mut counts = AffinityCounts::default();
        let object = cycle.object;
        let namespace = &object.meta.namespace;
        let (near, far) = required_terms(cycle.pod);
        let has_terms = !near.is_empty() || !far.is_empty();
        for info in cycle.nodes.values() {
            let Some(node) = info.node.as_deref() else {
                continue;
            };
            if info.with_required_anti_affinity > 0 {
                for other in info.pods.values() {
                    let terms = required_terms(other.body::<Pod>()).1;
                    let namespace = &other.meta.namespace;
                    for term in terms
                        .iter()
                        .filter(|term| selects(term, namespace, object, cycle))
                    {
                        counts
                            .existing_anti_affinity
                            .add(&term.topology_key, node, 1);
                    }
                }
            }
            for other in info.pods.values().filter(|_| has_terms) {
                if matches_all(near, object, other, cycle) {
                    near.iter()
                        .for_each(|term| counts.affinity.add(&term.topology_key, node, 1));
                }
                for term in far
                    .iter()
                    .filter(|term| selects(term, namespace, other, cycle))
                {
                    counts.anti_affinity.add(&term.topology_key, node, 1);
                }
            }
        }
        counts
    }
}

/// Returns the required affinity and anti-affinity terms of a Pod.
fn required_terms(pod: &Pod) -> (&[PodAffinityTerm], &[PodAffinityTerm]) {
    let affinity = &pod.spec.affinity;
    (
        &affinity
            .pod_affinity
            .required_during_scheduling_ignored_during_execution,
        &affinity
            .pod_anti_affinity
            .required_during_scheduling_ignored_during_execution,
    )
}

/// Returns true if all affinity terms of a Pod select the other Pod: only then it counts (`podMatchesAllAffinityTerms`).
fn matches_all(
    near: &[PodAffinityTerm],
    object: &Object,
    other: &Object,
    cycle: &Cycle<'_>,
) -> bool {
    let namespace = &object.meta.namespace;
    !near.is_empty()
        && near
            .iter()
            .all(|term| selects(term, namespace, other, cycle))
}

/// Returns true if this Pod or one on a node has required terms.
pub(crate) fn applies(cycle: &Cycle<'_>) -> bool {
    let (near, far) = required_terms(cycle.pod);
    cycle.nodes.with_required_anti_affinity > 0 || !near.is_empty() || !far.is_empty()
}

fn filter(cycle: &Cycle<'_>, node: &Object, _: &Node, _: &NodeInfo) -> Option<Refusal> {
    let (near, far) = required_terms(cycle.pod);
    let counts = &cycle.affinity;
    let has_labels = near
        .iter()
        .all(|term| node.meta.label(&term.topology_key).is_some());
    let has_pods = near
        .iter()
        .all(|term| counts.affinity.get(&term.topology_key, node) > 0);
    // The first Pod of a group with affinity to itself may start anywhere.
    let is_first =
        || counts.affinity.is_empty() && matches_all(near, cycle.object, cycle.object, cycle);
    if !has_labels || !has_pods && !is_first() {
        return Refusal::unresolvable("node(s) didn't match pod affinity rules");
    }
    if far
        .iter()
        .any(|term| counts.anti_affinity.get(&term.topology_key, node) > 0)
    {
        return Refusal::unschedulable("node(s) didn't match pod anti-affinity rules");
    }
    if counts.existing_anti_affinity.total(node) > 0 {
        return Refusal::unschedulable("node(s) didn't satisfy existing pods anti-affinity rules");
    }
    None
}

fn explain(
    cycle: &Cycle<'_>,
    object: &Rc<Object>,
    _: &NodeInfo,
    out: &mut Vec<UnschedulableReason>,
) {
    out.push(neighbour(cycle, object));
}

/// Returns the term and Pod behind the refusal.
fn neighbour(cycle: &Cycle<'_>, node: &Rc<Object>) -> UnschedulableReason {
    let (affinity, namespace) = (&cycle.pod.spec.affinity, &cycle.object.meta.namespace);
    let homes = || {
        cycle
            .nodes
            .values()
            .filter_map(|info| Some((info.node.as_ref()?, info)))
    };
    for term in &affinity
        .pod_anti_affinity
        .required_during_scheduling_ignored_during_execution
    {
        for (_, info) in homes().filter(|(home, _)| same_domain(home, node, &term.topology_key)) {
            if let Some(other) = info
                .pods
                .values()
                .find(|other| selects(term, namespace, other, cycle))
            {
                return UnschedulableReason::PodAntiAffinity {
                    key: term.topology_key.clone(),
                    pod: other.meta.name.clone(),
                };
            }
        }
    }
    for (home, info) in homes().filter(|(_, info)| info.with_required_anti_affinity > 0) {
        for other in info.pods.values() {
            let terms = &other
                .body::<Pod>()
                .spec
                .affinity
                .pod_anti_affinity
                .required_during_scheduling_ignored_during_execution;
            let mut meant = terms.iter().filter(|t| {
                same_domain(home, node, &t.topology_key)
                    && selects(t, &other.meta.namespace, cycle.object, cycle)
            });
            if let Some(term) = meant.next() {
                return UnschedulableReason::PodAntiAffinity {
                    key: term.topology_key.clone(),
                    pod: other.meta.name.clone(),
                };
            }
        }
    }
    let near = affinity
        .pod_affinity
        .required_during_scheduling_ignored_during_execution
        .first();
    UnschedulableReason::PodAffinity {
        key: near
            .map(|term| term.topology_key.clone())
            .unwrap_or_default(),
    }
}
