//! Score that prefers nodes without `PreferNoSchedule` taints.
//!
//! Models `pkg/scheduler/framework/plugins/tainttoleration/taint_toleration.go`, its scoring.

use crate::framework::{Cycle, Score, Scoring};
use crate::matching::tolerates;
use crate::node_info::NodeInfo;
use k8s_model::Str;
use k8s_model::node::Node;

/// Upstream's weight of this score.
const WEIGHT: i64 = 3;

/// Score registration.
pub(super) const SCORE: Score = Score {
    name: "TaintToleration",
    weight: WEIGHT,
    score: Scoring::Among { applies, score },
};

fn applies(cycle: &Cycle<'_>) -> bool {
    cycle.nodes.repelling > 0
}

/// Returns 100 for a node without such taints, less for others, 0 for the worst.
fn score(cycle: &Cycle<'_>, feasible: &[(&Str, &NodeInfo)]) -> Vec<i64> {
    let count = |info: &NodeInfo| {
        let taints = info
            .node
            .as_ref()
            .map_or(&[][..], |node| &node.body::<Node>().spec.taints);
        taints
            .iter()
            .filter(|t| {
                t.effect == "PreferNoSchedule" && !tolerates(&cycle.pod.spec.tolerations, t)
            })
            .count() as i64
    };
    let max = feasible
        .iter()
        .map(|(_, info)| count(info))
        .max()
        .unwrap_or(0);
    feasible
        .iter()
        .map(|(_, info)| {
            if max > 0 {
                100 - 100 * count(info) / max
            } else {
                0
            }
        })
        .collect()
}
