//! Filters: may this Pod run on this node? Each in its own file, with its own words for a refusal.

mod inter_pod_affinity;
mod node_affinity;
mod node_name;
mod ports;
mod resources;
mod taints;
mod unschedulable;
mod volume_binding;

pub(super) use node_affinity::selects;
pub(in crate::engine) use {node_affinity::fits as fits_affinity, taints::tolerates};

use super::Cycle;
use super::node_info::NodeInfo;
use crate::api::node::Node;
use crate::api::pod::Pod;
use crate::api::{Object, Str};
use std::collections::BTreeMap;

/// A node's refusal of a Pod.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// The scheduler's words; several for resources.
    pub reasons: Vec<Str>,
    /// Whether removing other Pods could help.
    pub preemption_helps: bool,
}

impl Refusal {
    fn final_(reason: &'static str) -> Option<Refusal> {
        Some(Refusal { reasons: vec![Str::new_static(reason)], preemption_helps: false })
    }

    fn for_now(reason: &'static str) -> Option<Refusal> {
        Some(Refusal { reasons: vec![Str::new_static(reason)], preemption_helps: true })
    }
}

type Filter = fn(&Cycle<'_>, &Object, &Node, &NodeInfo) -> Option<Refusal>;

/// All filters, in the order they are asked; the first refusal counts.
pub const ALL: &[Filter] = &[
    unschedulable::filter,
    node_name::filter,
    taints::filter,
    node_affinity::filter,
    ports::filter,
    resources::filter,
    volume_binding::filter,
    inter_pod_affinity::filter,
];

/// The text of a FailedScheduling Event.
pub fn message(nodes: usize, refusals: Vec<Refusal>, pod: &Pod) -> String {
    if nodes == 0 {
        return "no nodes available to schedule pods".into();
    }
    let mut counts: BTreeMap<Str, usize> = BTreeMap::new();
    let mut preemption: BTreeMap<&str, usize> = BTreeMap::new();
    for refusal in &refusals {
        for reason in &refusal.reasons {
            *counts.entry(reason.clone()).or_default() += 1;
        }
        let word = if refusal.preemption_helps {
            "No preemption victims found for incoming pod."
        } else {
            "Preemption is not helpful for scheduling."
        };
        *preemption.entry(word).or_default() += 1;
    }
    let reasons = list(counts.iter().map(|(reason, n)| (reason.as_str(), *n)));
    let head = format!("0/{nodes} nodes are available: {reasons}.");
    if pod.spec.preemption_policy == "Never" {
        return format!("{head} no new claims to deallocate, preemption: not eligible due to preemptionPolicy=Never.");
    }
    format!("{head} no new claims to deallocate, preemption: 0/{nodes} nodes are available: {}", list(preemption.into_iter()))
}

fn list<'a>(counts: impl Iterator<Item = (&'a str, usize)>) -> String {
    let mut parts: Vec<String> = counts.map(|(reason, n)| format!("{n} {reason}")).collect();
    crate::order::sort(&mut parts);
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_counted_and_sorted_as_kube_scheduler_prints_them() {
        let refusals = vec![
            Refusal::final_("node(s) were unschedulable"),
            Refusal::final_("node(s) were unschedulable"),
            Refusal::final_("node(s) had untolerated taint(s)"),
        ];
        let text = message(3, refusals.into_iter().flatten().collect(), &Pod::default());
        assert_eq!(
            text,
            "0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 node(s) were unschedulable. no new claims to deallocate, \
             preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling."
        );
    }
}
