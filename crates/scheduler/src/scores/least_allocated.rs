//! Score that prefers nodes with more free resources.
//!
//! Models `pkg/scheduler/framework/plugins/noderesources/least_allocated.go`.

use crate::framework::{Cycle, Score, Scoring};
use crate::node_info::NodeInfo;

/// Score registration.
pub(super) const SCORE: Score = Score {
    name: "NodeResourcesLeastAllocated",
    weight: 1,
    score: Scoring::Node(score),
};

/// Returns the free shares of CPU and memory in percent, averaged.
fn score(cycle: &Cycle<'_>, info: &NodeInfo) -> i64 {
    let (has, used) = (info.allocatable, info.scoring.plus(cycle.pod.spec.scoring));
    let left = |has: i64, used: i64| {
        if has <= 0 || used > has {
            0
        } else {
            (i128::from(has - used) * 100 / i128::from(has)) as i64
        }
    };
    (left(has.cpu, used.cpu) + left(has.memory, used.memory)) / 2
}
