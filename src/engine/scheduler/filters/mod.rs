//! Filters: may this Pod run on this node? Each in its own file, with its own words for a refusal.

mod inter_pod_affinity;
mod node_affinity;
mod node_name;
mod ports;
mod resources;
mod taints;
mod topology_spread;
mod unschedulable;
mod volume_binding;

pub(super) use node_affinity::{selects, term_matches};
pub(in crate::engine) use {node_affinity::fits as fits_affinity, taints::tolerates};

use super::Cycle;
use super::node_info::NodeInfo;
use crate::api::node::Node;
use crate::api::{Object, Str};

/// Who refuses: decides which changes make another try worth while.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Plugin {
    Unschedulable,
    NodeName,
    Taints,
    NodeAffinity,
    Ports,
    Resources,
    Volumes,
    Spread,
    InterPod,
}

impl Plugin {
    /// As a member of a set.
    pub const fn bit(self) -> u16 {
        1 << self as u8
    }
}

/// A node's refusal of a Pod.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// Who refuses.
    pub plugin: Plugin,
    /// The scheduler's words; several for resources.
    pub reasons: Vec<Str>,
    /// Whether removing other Pods could help.
    pub preemption_helps: bool,
}

impl Refusal {
    /// The node could not be used even if it were empty.
    pub fn no_help() -> Refusal {
        Refusal {
            plugin: Plugin::NodeName,
            reasons: vec![Str::new_static("Preemption is not helpful for scheduling")],
            preemption_helps: false,
        }
    }

    /// Nobody on the node has a lower priority.
    pub fn no_victims() -> Refusal {
        let reasons = vec![Str::new_static("No preemption victims found for incoming pod")];
        Refusal { plugin: Plugin::NodeName, reasons, preemption_helps: false }
    }

    fn final_(plugin: Plugin, reason: &'static str) -> Option<Refusal> {
        Some(Refusal { plugin, reasons: vec![Str::new_static(reason)], preemption_helps: false })
    }

    fn for_now(plugin: Plugin, reason: &'static str) -> Option<Refusal> {
        Some(Refusal { plugin, reasons: vec![Str::new_static(reason)], preemption_helps: true })
    }
}

pub(super) type Filter = fn(&Cycle<'_>, &Object, &Node, &NodeInfo) -> Option<Refusal>;

/// Whether a filter has anything to say about the Pod, on whatever node: what upstream's PreFilter answers with Skip.
/// One without this question always has.
type Asks = fn(&Cycle<'_>) -> bool;

/// All filters, in the order they are asked; the first refusal counts.
pub const ALL: &[(Filter, Option<Asks>)] = &[
    (node_affinity::pinned, None),
    (unschedulable::filter, None),
    (node_name::filter, Some(node_name::asks)),
    (taints::filter, None),
    (node_affinity::filter, None),
    (ports::filter, Some(ports::asks)),
    (resources::filter, None),
    (volume_binding::filter, Some(volume_binding::asks)),
    (topology_spread::filter, Some(topology_spread::asks)),
    (inter_pod_affinity::filter, Some(inter_pod_affinity::asks)),
];

/// The filters that have something to say about the Pod.
pub(super) fn asked(cycle: &Cycle<'_>) -> Vec<Filter> {
    let mut asked = Vec::with_capacity(ALL.len());
    asked.extend(ALL.iter().filter(|(_, asks)| asks.is_none_or(|asks| asks(cycle))).map(|(filter, _)| *filter));
    asked
}

/// Whether one of those has something to say that not every Pod has to pass: they look at more than the template and the node's sums.
pub(super) fn any_special(cycle: &Cycle<'_>) -> bool {
    ALL.iter().filter_map(|(_, asks)| *asks).any(|asks| asks(cycle))
}

/// The beginning of the text of a FailedScheduling Event: what each node has against the Pod.
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
    let mut parts: Vec<String> = counts.iter().map(|(reason, n)| format!("{n} {reason}")).collect();
    crate::order::sort(&mut parts);
    format!("0/{nodes} nodes are available: {}.", parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_counted_and_sorted_as_kube_scheduler_prints_them() {
        let refusals = vec![
            Refusal::final_(Plugin::Unschedulable, "node(s) were unschedulable"),
            Refusal::final_(Plugin::Unschedulable, "node(s) were unschedulable"),
            Refusal::final_(Plugin::Taints, "node(s) had untolerated taint(s)"),
        ];
        let text = reasons(3, &refusals.into_iter().flatten().collect::<Vec<_>>());
        assert_eq!(text, "0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 node(s) were unschedulable.");
    }
}
