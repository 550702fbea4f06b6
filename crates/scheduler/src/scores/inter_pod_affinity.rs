//! Score that prefers nodes near or away from other Pods: by the Pod's preferences, by those of other Pods, and near Pods that require
//! Pods like this one.
//!
//! Models `pkg/scheduler/framework/plugins/interpodaffinity/scoring.go`.

use crate::framework::{Cycle, Score, Scoring};
use crate::node_info::NodeInfo;
use crate::terms::{DomainSums, selects};
use k8s_model::pod::{Pod, PodAffinityTerm};
use k8s_model::{Object, Str};

/// Upstream's weight of this score.
const WEIGHT: i64 = 2;

/// Score registration.
pub(super) const SCORE: Score = Score {
    name: "InterPodAffinity",
    weight: WEIGHT,
    score: Scoring::Among { applies, score },
};

/// Returns true if the Pod has preferences of its own.
fn prefers(cycle: &Cycle<'_>) -> bool {
    let own = &cycle.pod.spec.affinity;
    !own.pod_affinity
        .preferred_during_scheduling_ignored_during_execution
        .is_empty()
        || !own
            .pod_anti_affinity
            .preferred_during_scheduling_ignored_during_execution
            .is_empty()
}

fn applies(cycle: &Cycle<'_>) -> bool {
    cycle.nodes.with_preferences > 0 || prefers(cycle)
}

/// Returns 100 for the most preferred node, 0 for the least preferred.
fn score(cycle: &Cycle<'_>, feasible: &[(&Str, &NodeInfo)]) -> Vec<i64> {
    let own = &cycle.pod.spec.affinity;
    let near = &own
        .pod_affinity
        .preferred_during_scheduling_ignored_during_execution;
    let far = &own
        .pod_anti_affinity
        .preferred_during_scheduling_ignored_during_execution;
    let prefers = prefers(cycle);
    let object: &Object = cycle.object;
    let mut weights = DomainSums::default();
    for info in cycle
        .nodes
        .values()
        .filter(|info| prefers || info.with_preferences > 0)
    {
        let Some(home) = info.node.as_deref() else {
            continue;
        };
        for other in info.pods.values() {
            let means = |term: &PodAffinityTerm, weight: i64, mine: bool| {
                let (from, to): (&Object, &Object) = if mine {
                    (object, other)
                } else {
                    (other, object)
                };
                weight != 0 && selects(term, &from.meta.namespace, to, cycle)
            };
            for (terms, sign) in [(near, 1), (far, -1)] {
                for t in terms
                    .iter()
                    .filter(|t| means(&t.pod_affinity_term, t.weight, true))
                {
                    weights.add(&t.pod_affinity_term.topology_key, home, sign * t.weight);
                }
            }
            let theirs = &other.body::<Pod>().spec.affinity;
            for t in theirs
                .pod_affinity
                .required_during_scheduling_ignored_during_execution
                .iter()
                .filter(|t| means(t, 1, false))
            {
                weights.add(&t.topology_key, home, 1);
            }
            let near = &theirs
                .pod_affinity
                .preferred_during_scheduling_ignored_during_execution;
            let far = &theirs
                .pod_anti_affinity
                .preferred_during_scheduling_ignored_during_execution;
            for (terms, sign) in [(near, 1), (far, -1)] {
                for t in terms
                    .iter()
                    .filter(|t| means(&t.pod_affinity_term, t.weight, false))
                {
                    weights.add(&t.pod_affinity_term.topology_key, home, sign * t.weight);
                }
            }
        }
    }
    let raw: Vec<i64> = feasible
        .iter()
        .map(|(_, info)| info.node.as_ref().map_or(0, |node| weights.total(node)))
        .collect();
    let (max, min) = (
        raw.iter().max().copied().unwrap_or(0),
        raw.iter().min().copied().unwrap_or(0),
    );
    raw.iter()
        .map(|raw| {
            if max > min {
                100 * (raw - min) / (max - min)
            } else {
                0
            }
        })
        .collect()
}
