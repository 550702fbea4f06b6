//! What Pods would rather have: nodes of some labels, nodes without soft taints, other Pods near or far.
//!
//! Models the scoring of `nodeaffinity`, `tainttoleration` and `interpodaffinity` below
//! `pkg/scheduler/framework/plugins`.

use super::Cycle;
use crate::api::node::Node;
use crate::api::pod::{Pod, PodAffinityTerm};
use crate::api::{Object, Str};
use crate::engine::scheduler::filters::{term_matches, tolerates};
use crate::engine::scheduler::node_info::NodeInfo;
use crate::engine::scheduler::terms::{same_domain, selects};
use std::rc::Rc;

const NODE_AFFINITY: i64 = 2;
const TAINTS: i64 = 3;
const INTER_POD: i64 = 2;

type Nodes<'a, 'n> = &'a [(&'n Str, &'n NodeInfo)];

fn node(info: &NodeInfo) -> Option<&Rc<Object>> {
    info.node.as_ref()
}

/// Adds all preferences to the sums.
pub(super) fn add(sums: &mut [i64], cycle: &Cycle<'_>, feasible: Nodes<'_, '_>) {
    let preferred = &cycle.pod.spec.affinity.node_affinity.preferred_during_scheduling_ignored_during_execution;
    if !preferred.is_empty() {
        let weight = |n: &Object| preferred.iter().filter(|t| term_matches(&t.preference, n)).map(|t| t.weight).sum::<i64>();
        let raw: Vec<i64> = feasible.iter().map(|(_, info)| node(info).map_or(0, |n| weight(n))).collect();
        let max = raw.iter().max().copied().unwrap_or(0);
        for (sum, raw) in sums.iter_mut().zip(&raw).filter(|_| max > 0) {
            *sum += NODE_AFFINITY * (100 * raw / max);
        }
    }
    let soft = |n: &Object| {
        let taints = &n.body::<Node>().spec.taints;
        taints.iter().filter(|t| t.effect == "PreferNoSchedule" && !tolerates(&cycle.pod.spec.tolerations, t)).count() as i64
    };
    let raw: Vec<i64> = feasible.iter().map(|(_, info)| node(info).map_or(0, |n| soft(n))).collect();
    let max = raw.iter().max().copied().unwrap_or(0);
    for (sum, raw) in sums.iter_mut().zip(&raw).filter(|_| max > 0) {
        *sum += TAINTS * (100 - 100 * raw / max);
    }
    add_inter_pod(sums, cycle, feasible);
}

/// Near or far from other Pods: what this one prefers, what the others prefer, and others that require it.
fn add_inter_pod(sums: &mut [i64], cycle: &Cycle<'_>, feasible: Nodes<'_, '_>) {
    let own = &cycle.pod.spec.affinity;
    let (near, far) = (
        &own.pod_affinity.preferred_during_scheduling_ignored_during_execution,
        &own.pod_anti_affinity.preferred_during_scheduling_ignored_during_execution,
    );
    let prefers = !near.is_empty() || !far.is_empty();
    if !prefers && !cycle.nodes.values().any(|info| info.choosy > 0) {
        return;
    }
    // Each entry: the home of a Pod, a key and what being in one domain with it is worth.
    let mut worth: Vec<(&Object, &str, i64)> = Vec::new();
    let object: &Object = cycle.object;
    for info in cycle.nodes.values().filter(|info| prefers || info.choosy > 0) {
        let Some(home) = node(info) else { continue };
        for other in info.pods.values() {
            let theirs = &other.body::<Pod>().spec.affinity;
            let add = |term: &'_ PodAffinityTerm, weight: i64, from: &Object, to: &Object, key: &mut dyn FnMut(i64)| {
                if selects(term, &from.meta.namespace, to, cycle) {
                    key(weight);
                }
            };
            for t in near {
                add(&t.pod_affinity_term, t.weight, object, other, &mut |w| worth.push((home, &t.pod_affinity_term.topology_key, w)));
            }
            for t in far {
                add(&t.pod_affinity_term, -t.weight, object, other, &mut |w| worth.push((home, &t.pod_affinity_term.topology_key, w)));
            }
            for t in &theirs.pod_affinity.required_during_scheduling_ignored_during_execution {
                add(t, 1, other, object, &mut |w| worth.push((home, &t.topology_key, w)));
            }
            for t in &theirs.pod_affinity.preferred_during_scheduling_ignored_during_execution {
                add(&t.pod_affinity_term, t.weight, other, object, &mut |w| worth.push((home, &t.pod_affinity_term.topology_key, w)));
            }
            for t in &theirs.pod_anti_affinity.preferred_during_scheduling_ignored_during_execution {
                add(&t.pod_affinity_term, -t.weight, other, object, &mut |w| worth.push((home, &t.pod_affinity_term.topology_key, w)));
            }
        }
    }
    let value = |n: &Object| worth.iter().filter(|(home, key, _)| same_domain(home, n, key)).map(|(.., w)| *w).sum::<i64>();
    let raw: Vec<i64> = feasible.iter().map(|(_, info)| node(info).map_or(0, |n| value(n))).collect();
    let (max, min) = (raw.iter().max().copied().unwrap_or(0), raw.iter().min().copied().unwrap_or(0));
    for (sum, raw) in sums.iter_mut().zip(&raw).filter(|_| max > min) {
        *sum += INTER_POD * (100 * (raw - min) / (max - min));
    }
}
