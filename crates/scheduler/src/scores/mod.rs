//! Scores, which rank the feasible nodes. One file each, 0 to 100, with upstream's weights.

mod balanced_allocation;
mod inter_pod_affinity;
mod least_allocated;
mod node_affinity;
mod taints;
pub(super) mod topology_spread;

use super::framework::{Cycle, Score, Scoring};
use super::node_info::NodeInfo;
use k8s_model::Str;

/// All scores. The order does not matter: they are summed.
pub(super) const ALL: &[&Score] = &[
    &topology_spread::SCORE,
    &least_allocated::SCORE,
    &balanced_allocation::SCORE,
    &node_affinity::SCORE,
    &taints::SCORE,
    &inter_pod_affinity::SCORE,
];

/// Returns the weighted sum of the scores that depend on the Pod and the node alone.
pub(super) fn alone(cycle: &Cycle<'_>, info: &NodeInfo) -> i64 {
    let of = |score: &&Score| {
        if let Scoring::Node(value) = score.score {
            score.weight * value(cycle, info)
        } else {
            0
        }
    };
    ALL.iter().map(of).sum()
}

/// Returns true if one of the scores that compare nodes with each other can differ between nodes for this Pod.
pub(super) fn any_special(cycle: &Cycle<'_>) -> bool {
    ALL.iter()
        .any(|score| matches!(score.score, Scoring::Among { applies, .. } if applies(cycle)))
}

/// Returns the weighted sum of all scores for each feasible node.
pub(super) fn total(cycle: &Cycle<'_>, feasible: &[(&Str, &NodeInfo)]) -> Vec<i64> {
    let mut sums: Vec<i64> = feasible
        .iter()
        .map(|(_, info)| alone(cycle, info))
        .collect();
    for score in ALL {
        let values = match score.score {
            Scoring::Among { applies, score } if applies(cycle) => score(cycle, feasible),
            Scoring::Spread(score) => score(cycle, feasible),
            _ => continue,
        };
        for (sum, value) in sums.iter_mut().zip(values) {
            *sum += score.weight * value;
        }
    }
    sums
}
