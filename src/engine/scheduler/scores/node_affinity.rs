//! Prefers nodes of the labels a Pod would like.
//!
//! Models `pkg/scheduler/framework/plugins/nodeaffinity/node_affinity.go`, its scoring.

use super::Cycle;
use crate::api::Str;
use crate::engine::scheduler::filters::term_matches;
use crate::engine::scheduler::node_info::NodeInfo;

/// Upstream's weight of this score.
const WEIGHT: i64 = 2;

/// Adds up to 100 times the weight for the node whose preferred terms weigh most.
pub(super) fn add(sums: &mut [i64], cycle: &Cycle<'_>, feasible: &[(&Str, &NodeInfo)]) {
    let preferred = &cycle.pod.spec.affinity.node_affinity.preferred_during_scheduling_ignored_during_execution;
    if preferred.is_empty() {
        return;
    }
    let mut raw = vec![0; feasible.len()];
    for (raw, (_, info)) in raw.iter_mut().zip(feasible) {
        let Some(node) = info.node.as_ref() else { continue };
        *raw = preferred.iter().filter(|t| term_matches(&t.preference, node)).map(|t| t.weight).sum::<i64>();
    }
    let max = raw.iter().max().copied().unwrap_or(0);
    for (sum, raw) in sums.iter_mut().zip(&raw).filter(|_| max > 0) {
        *sum += WEIGHT * (100 * raw / max);
    }
}
