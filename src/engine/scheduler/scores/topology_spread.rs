//! Spreads the Pods of one controller over nodes, as the default constraints ask.
//!
//! Models `pkg/scheduler/framework/plugins/podtopologyspread/scoring.go` with its system defaults.

use super::Cycle;
use crate::api::Str;
use crate::engine::scheduler::node_info::NodeInfo;

/// Upstream's weight of this score.
pub(super) const WEIGHT: i64 = 2;
/// The system default for `kubernetes.io/hostname`.
const MAX_SKEW: f64 = 3.0;

/// 100 for the node with the fewest Pods of the same controller, down to 0.
///
/// With counts 2, 0, 1 on three nodes and weight `ln(5) = 1.61`: costs 5, 2, 4; scores `100 * (5 + 2 - cost) / 5` = 40, 100, 60.
pub(super) fn scores(cycle: &Cycle<'_>, feasible: &[(&Str, &NodeInfo)]) -> Vec<i64> {
    let Some(owner) = cycle.object.meta.controller() else { return vec![0; feasible.len()] };
    let weight = ((feasible.len() + 2) as f64).ln();
    let costs: Vec<i64> = feasible
        .iter()
        .map(|(_, info)| {
            let count = info.by_controller.get(&owner.uid).copied().unwrap_or(0);
            (count as f64 * weight + (MAX_SKEW - 1.0)).round() as i64
        })
        .collect();
    let (max, min) = (costs.iter().max().copied().unwrap_or(0), costs.iter().min().copied().unwrap_or(0));
    costs.iter().map(|cost| if max == 0 { 100 } else { 100 * (max + min - cost) / max }).collect()
}
