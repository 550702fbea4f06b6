//! Scores: which of the nodes that fit is best? Each in its own file, 0 to 100, with upstream's weights.

mod balanced_allocation;
mod inter_pod_affinity;
mod least_allocated;
mod node_affinity;
mod taints;
pub(super) mod topology_spread;

use super::Cycle;
use super::filters::fits_affinity;
use super::node_info::NodeInfo;
use crate::api::Str;

/// The scores that depend on the Pod and the node alone.
pub(super) fn alone(cycle: &Cycle<'_>, info: &NodeInfo) -> i64 {
    least_allocated::score(cycle, info) + balanced_allocation::score(cycle, info)
}

/// The weighted sum of all scores for each feasible node.
pub fn total(cycle: &Cycle<'_>, feasible: &[(&Str, &NodeInfo)]) -> Vec<i64> {
    let mut sums = topology_spread::scores(cycle, feasible);
    for (sum, (_, info)) in sums.iter_mut().zip(feasible) {
        *sum = topology_spread::WEIGHT * *sum + alone(cycle, info);
    }
    node_affinity::add(&mut sums, cycle, feasible);
    taints::add(&mut sums, cycle, feasible);
    inter_pod_affinity::add(&mut sums, cycle, feasible);
    sums
}
