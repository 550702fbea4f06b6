//! Score that spreads Pods over domains by their soft constraints, or else the Pods of one controller over nodes and zones.
//!
//! Models `pkg/scheduler/framework/plugins/podtopologyspread/scoring.go` with its system defaults.

use crate::framework::{Cycle, Score, Scoring};
use crate::matching::fits_affinity;
use crate::node_info::NodeInfo;
use crate::spread::{includes, matching};
use k8s_model::{Kind, Object, Str, Uid};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Upstream's weight of this score.
pub(crate) const WEIGHT: i64 = 2;
/// Score registration.
pub(super) const SCORE: Score = Score {
    name: "PodTopologySpread",
    weight: WEIGHT,
    score: Scoring::Spread(scores),
};

/// Skews of the system defaults for `kubernetes.io/hostname` and for the zone.
const NODE_SKEW: f64 = 3.0;
const ZONE_SKEW: f64 = 5.0;
const HOSTNAME: &str = "kubernetes.io/hostname";

/// Returns 100 for the node with the fewest Pods, down to 0.
fn scores(cycle: &Cycle<'_>, feasible: &[(&Str, &NodeInfo)]) -> Vec<i64> {
    let costs = if cycle.pod.spec.topology_spread_constraints.is_empty() {
        let Some(owner) = owner(cycle) else {
            return vec![0; feasible.len()];
        };
        by_default(cycle, owner, feasible)
    } else {
        by_constraints(cycle, feasible)
    };
    let mut range = CostRange::default();
    costs.iter().flatten().for_each(|cost| range.take(*cost));
    costs
        .iter()
        .map(|cost| cost.map_or(0, |cost| range.score(cost)))
        .collect()
}

/// Lowest and highest cost.
#[derive(Default)]
pub(crate) struct CostRange(Option<(i64, i64)>);

impl CostRange {
    /// Adds a cost.
    pub fn take(&mut self, cost: i64) {
        let (min, max) = self.0.unwrap_or((cost, cost));
        self.0 = Some((min.min(cost), max.max(cost)));
    }

    /// Returns the score of a cost.
    pub fn score(&self, cost: i64) -> i64 {
        let (min, max) = self.0.unwrap_or_default();
        if max == 0 {
            100
        } else {
            100 * (max + min - cost) / max
        }
    }
}

/// Returns the controller whose Pods are spread by default.
pub(crate) fn owner(cycle: &Cycle<'_>) -> Option<Uid> {
    // Defaults use the selectors of these kinds only.
    let kinds = [
        Kind::ReplicaSet,
        Kind::StatefulSet,
        Kind::ReplicationController,
    ];
    cycle
        .object
        .meta
        .controller()
        .filter(|owner| kinds.iter().any(|kind| owner.is_kind(*kind)))
        .map(|owner| owner.uid)
}

/// Returns the number of a controller's Pods on a node.
pub(crate) fn alike(info: &NodeInfo, owner: Uid) -> i64 {
    info.by_controller.get(&owner).copied().unwrap_or(0)
}

/// Default cost of a node: from the controller's Pods on it and in its zone.
///
/// With counts 2, 0, 1 on three nodes and weight `ln(5) = 1.61`: costs 5, 2, 4; scores `100 * (5 + 2 - cost) / 5` = 40, 100, 60.
pub(crate) struct Defaults {
    node_weight: f64,
    zone_weight: f64,
}

impl Defaults {
    /// Creates the weights for a number of nodes and zones.
    pub fn new(nodes: usize, zones: usize) -> Defaults {
        Defaults {
            node_weight: weight(nodes),
            zone_weight: weight(zones),
        }
    }

    /// Returns the cost of a node with `count` Pods, and `in_zone` Pods in its zone if it has one.
    pub fn cost(&self, count: i64, in_zone: Option<i64>) -> i64 {
        let mut cost = count as f64 * self.node_weight + (NODE_SKEW - 1.0);
        if let Some(n) = in_zone {
            cost += n as f64 * self.zone_weight + (ZONE_SKEW - 1.0);
        }
        cost.round() as i64
    }
}

/// Returns the weight of a topology key: fewer domains weigh less.
fn weight(domains: usize) -> f64 {
    ((domains + 2) as f64).ln()
}

/// Returns the default cost of each node.
fn by_default(cycle: &Cycle<'_>, owner: Uid, feasible: &[(&Str, &NodeInfo)]) -> Vec<Option<i64>> {
    let count = |info: &NodeInfo| alike(info, owner);
    let mut zones: Vec<(&Str, i64)> = Vec::new();
    for zone in feasible.iter().filter_map(|(_, info)| info.zone.as_ref()) {
        if zones.iter().all(|(z, _)| *z != zone) {
            zones.push((zone, 0));
        }
    }
    if !zones.is_empty() {
        for info in cycle.nodes.values().filter(|info| {
            info.node
                .as_ref()
                .is_some_and(|n| fits_affinity(&cycle.pod.spec, n))
        }) {
            if let Some(zone) = zones
                .iter_mut()
                .find(|(z, _)| info.zone.as_ref() == Some(z))
            {
                zone.1 += count(info);
            }
        }
    }
    let defaults = Defaults::new(feasible.len(), zones.len());
    let in_zone = |info: &NodeInfo| {
        zones
            .iter()
            .find(|(z, _)| info.zone.as_ref() == Some(z))
            .map(|(_, n)| *n)
    };
    feasible
        .iter()
        .map(|(_, info)| Some(defaults.cost(count(info), in_zone(info))))
        .collect()
}

/// Returns the cost of the Pod's own soft constraints; `None` for a node that lacks one of their keys.
fn by_constraints<'n>(
    cycle: &'n Cycle<'_>,
    feasible: &[(&'n Str, &'n NodeInfo)],
) -> Vec<Option<i64>> {
    let soft: Vec<_> = cycle
        .pod
        .spec
        .topology_spread_constraints
        .iter()
        .filter(|c| c.when_unsatisfiable == "ScheduleAnyway")
        .collect();
    if soft.is_empty() {
        return vec![Some(0); feasible.len()];
    }
    let has_all = |node: &Object| {
        soft.iter()
            .all(|c| node.meta.label(&c.topology_key).is_some())
    };
    let usable = |info: &'n NodeInfo| info.node.as_ref().filter(|node| has_all(node));
    let mut costs: Vec<f64> = vec![0.0; feasible.len()];
    let eligible = feasible
        .iter()
        .filter(|(_, info)| usable(info).is_some())
        .count();
    for c in &soft {
        let domain = |node: &'n Rc<Object>| node.meta.label(&c.topology_key);
        let mut domains: BTreeMap<&Str, i64> = BTreeMap::new();
        if c.topology_key != HOSTNAME {
            let nodes = feasible.iter().filter_map(|(_, info)| usable(info));
            domains.extend(nodes.filter_map(domain).map(|domain| (domain, 0)));
            for info in cycle.nodes.values() {
                let Some(node) = usable(info).filter(|n| includes(c, cycle.pod, n)) else {
                    continue;
                };
                if let Some(count) = domain(node).and_then(|domain| domains.get_mut(domain)) {
                    *count += matching(c, cycle.object, info);
                }
            }
        }
        let weight = weight(if c.topology_key == HOSTNAME {
            eligible
        } else {
            domains.len()
        });
        for (cost, (_, info)) in costs.iter_mut().zip(feasible) {
            let Some(node) = usable(info) else { continue };
            let count = match domain(node).and_then(|domain| domains.get(domain)) {
                Some(count) => *count,
                None => matching(c, cycle.object, info),
            };
            *cost += count as f64 * weight + (c.max_skew - 1) as f64;
        }
    }
    costs
        .iter()
        .zip(feasible)
        .map(|(cost, (_, info))| usable(info).map(|_| cost.round() as i64))
        .collect()
}
