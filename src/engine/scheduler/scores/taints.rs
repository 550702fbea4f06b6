//! Prefers nodes without taints that say `PreferNoSchedule`.
//!
//! Models `pkg/scheduler/framework/plugins/tainttoleration/taint_toleration.go`, its scoring.

use super::Cycle;
use crate::api::Str;
use crate::api::node::Node;
use crate::engine::scheduler::filters::tolerates;
use crate::engine::scheduler::node_info::NodeInfo;

/// Upstream's weight of this score.
const WEIGHT: i64 = 3;

/// Adds 100 times the weight for a node without such taints, less for others, nothing for the worst.
pub(super) fn add(sums: &mut [i64], cycle: &Cycle<'_>, feasible: &[(&Str, &NodeInfo)]) {
    let count = |info: &NodeInfo| {
        let taints = info.node.as_ref().map_or(&[][..], |node| &node.body::<Node>().spec.taints);
        taints.iter().filter(|t| t.effect == "PreferNoSchedule" && !tolerates(&cycle.pod.spec.tolerations, t)).count() as i64
    };
    let max = feasible.iter().map(|(_, info)| count(info)).max().unwrap_or(0);
    for (sum, (_, info)) in sums.iter_mut().zip(feasible).filter(|_| max > 0) {
        *sum += WEIGHT * (100 - 100 * count(info) / max);
    }
}
