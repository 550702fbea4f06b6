//! Score that prefers nodes matching a Pod's preferred node affinity.
//!
//! Models `pkg/scheduler/framework/plugins/nodeaffinity/node_affinity.go`, its scoring.

use crate::framework::{Cycle, Score, Scoring};
use crate::matching::term_matches;
use crate::node_info::NodeInfo;
use k8s_model::{Object, Str};

/// Upstream's weight of this score.
const WEIGHT: i64 = 2;

/// Score registration.
pub(super) const SCORE: Score = Score {
    name: "NodeAffinity",
    weight: WEIGHT,
    score: Scoring::Among { applies, score },
};

fn applies(cycle: &Cycle<'_>) -> bool {
    !cycle
        .pod
        .spec
        .affinity
        .node_affinity
        .preferred_during_scheduling_ignored_during_execution
        .is_empty()
}

/// Returns 100 for the node with the highest weight of matching preferred terms.
fn score(cycle: &Cycle<'_>, feasible: &[(&Str, &NodeInfo)]) -> Vec<i64> {
    let preferred = &cycle
        .pod
        .spec
        .affinity
        .node_affinity
        .preferred_during_scheduling_ignored_during_execution;
    let weight = |node: &Object| {
        preferred
            .iter()
            .filter(|t| term_matches(&t.preference, node))
            .map(|t| t.weight)
            .sum::<i64>()
    };
    let raw: Vec<i64> = feasible
        .iter()
        .map(|(_, info)| info.node.as_ref().map_or(0, |node| weight(node)))
        .collect();
    let max = raw.iter().max().copied().unwrap_or(0);
    raw.iter()
        .map(|raw| if max > 0 { 100 * raw / max } else { 0 })
        .collect()
}
