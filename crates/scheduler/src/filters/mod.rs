//! Filters, which decide whether a Pod may run on a node. One file each, with the messages of its refusals.

mod inter_pod_affinity;
mod node_affinity;
mod node_name;
mod ports;
mod resources;
mod taints;
mod topology_spread;
mod unschedulable;
mod volume_binding;

pub(super) use inter_pod_affinity::AffinityCounts;

use super::framework::{ANY, ClusterChanges, Cycle, Filter, Refusal};
use k8s_model::Str;

/// All filters, in upstream's order; the first refusal counts.
pub(super) const ALL: &[&Filter] = &[
    &node_affinity::PINNED,
    &unschedulable::FILTER,
    &node_name::FILTER,
    &taints::FILTER,
    &node_affinity::FILTER,
    &ports::FILTER,
    &resources::FILTER,
    &volume_binding::FILTER,
    &topology_spread::FILTER,
    &inter_pod_affinity::FILTER,
];

/// Returns the volume binder as a set of one filter: it also refuses before and after the filters run.
pub(super) fn volume_binding() -> u16 {
    ALL.iter()
        .position(|filter| filter.name == volume_binding::FILTER.name)
        .map_or(0, |at| 1 << at)
}

/// Returns the matched affinity terms of a Pod, if there are any.
pub(super) fn affinity_counts<'c>(cycle: &Cycle<'c>) -> AffinityCounts<'c> {
    if inter_pod_affinity::applies(cycle) {
        AffinityCounts::new(cycle)
    } else {
        AffinityCounts::default()
    }
}

/// Returns the filters that apply to the Pod.
pub(super) fn applicable(cycle: &Cycle<'_>) -> Vec<(usize, &'static Filter)> {
    let mut applicable = Vec::with_capacity(ALL.len());
    applicable.extend(
        ALL.iter()
            .copied()
            .enumerate()
            .filter(|(_, filter)| filter.applies.is_none_or(|applies| applies(cycle))),
    );
    applicable
}

/// Returns true if a filter applies that most Pods skip: such filters depend on more than the template and the node's totals.
pub(super) fn any_special(cycle: &Cycle<'_>) -> bool {
    ALL.iter()
        .filter_map(|filter| filter.applies)
        .any(|applies| applies(cycle))
}

/// Returns the filters whose refusals these changes may resolve, as a set.
pub(super) fn helped_by(changes: ClusterChanges) -> u16 {
    if changes == ANY {
        return u16::MAX;
    }
    ALL.iter()
        .enumerate()
        .filter(|(_, filter)| filter.requeue_on & changes != 0)
        .fold(0, |set, (at, _)| set | 1 << at)
}

/// Formats the first part of a FailedScheduling message: the reasons of the nodes, counted.
pub fn reasons(nodes: usize, refusals: &[Refusal]) -> String {
    if nodes == 0 {
        return "no nodes available to schedule pods".into();
    }
    let mut counts: Vec<(Str, usize)> = Vec::new();
    for reason in refusals.iter().flat_map(|r| &r.reasons) {
        match counts.iter_mut().find(|(known, _)| known == reason) {
            Some((_, n)) => *n += 1,
            None => counts.push((reason.clone(), 1)),
        }
    }
    let mut parts: Vec<String> = counts
        .iter()
        .map(|(reason, n)| format!("{n} {reason}"))
        .collect();
    parts.sort();
    format!("0/{nodes} nodes are available: {}.", parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_room_for_every_filter_and_nodes_come_back_for_each() {
        assert!(ALL.len() <= 16);
        assert_eq!(helped_by(ANY), u16::MAX);
        assert_eq!(volume_binding().count_ones(), 1);
    }

    #[test]
    fn refusals_are_counted_and_sorted_as_kube_scheduler_prints_them() {
        let refusals = vec![
            Refusal::unresolvable("node(s) were unschedulable"),
            Refusal::unresolvable("node(s) were unschedulable"),
            Refusal::unresolvable("node(s) had untolerated taint(s)"),
        ];
        let text = reasons(3, &refusals.into_iter().flatten().collect::<Vec<_>>());
        assert_eq!(
            text,
            "0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 node(s) were unschedulable."
        );
    }
}
