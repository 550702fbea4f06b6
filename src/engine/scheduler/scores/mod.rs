//! Scores: which of the nodes that fit is best? Each in its own file, 0 to 100, with upstream's weights.

mod balanced_allocation;
mod least_allocated;
mod topology_spread;

use super::Cycle;
use crate::api::Str;

/// The weighted sum of all scores for each feasible node.
pub fn total(cycle: &Cycle<'_>, feasible: &[Str]) -> Vec<i64> {
    let mut sums = vec![0; feasible.len()];
    for (i, name) in feasible.iter().enumerate() {
        if let Some(info) = cycle.nodes.get(name) {
            sums[i] += least_allocated::score(cycle, info) + balanced_allocation::score(cycle, info);
        }
    }
    for (sum, spread) in sums.iter_mut().zip(topology_spread::scores(cycle, feasible)) {
        *sum += topology_spread::WEIGHT * spread;
    }
    sums
}
