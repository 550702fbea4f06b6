//! Score that prefers nodes whose CPU and memory would be used evenly.
//!
//! Models `pkg/scheduler/framework/plugins/noderesources/balanced_allocation.go`.

use crate::framework::{Cycle, Score, Scoring};
use crate::node_info::NodeInfo;

/// Score registration.
pub(super) const SCORE: Score = Score {
    name: "NodeResourcesBalancedAllocation",
    weight: 1,
    score: Scoring::Node(score),
};

/// Returns 100 less the spread of the used shares, in percent; 0 for a Pod without requests, which changes no balance.
fn score(cycle: &Cycle<'_>, info: &NodeInfo) -> i64 {
    let wanted = cycle.pod.spec.requests;
    if wanted.cpu == 0 && wanted.memory == 0 {
        return 0;
    }
    let (has, used) = (info.allocatable, info.requested.plus(wanted));
    let share = |has: i64, used: i64| {
        if has <= 0 {
            1.0
        } else {
            (used as f64 / has as f64).min(1.0)
        }
    };
    let spread = (share(has.cpu, used.cpu) - share(has.memory, used.memory)).abs() / 2.0;
    ((1.0 - spread) * 100.0) as i64
}
