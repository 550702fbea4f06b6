//! Topology spread constraints: how many Pods each domain has, counted once a cycle.
//!
//! Models `pkg/scheduler/framework/plugins/podtopologyspread/common.go` and `filtering.go` (`calPreFilterState`).

use super::NodeInfo;
use super::filters::{fits_affinity, tolerates};
use crate::api::node::Node;
use crate::api::pod::{Pod, TopologySpreadConstraint};
use crate::api::{Object, Str};
use std::collections::BTreeMap;

/// One constraint with the Pods of each domain.
pub(in crate::engine) struct Counted<'c> {
    pub constraint: &'c TopologySpreadConstraint,
    pub domains: Vec<(Str, i64)>,
}

impl Counted<'_> {
    /// The Pods in a domain; none are known of one that no eligible node is in.
    pub fn in_domain(&self, value: &str) -> i64 {
        self.domains.iter().find(|(v, _)| v == value).map_or(0, |(_, n)| *n)
    }

    /// The Pods of the emptiest domain; 0 while there are fewer domains than the constraint asks for.
    pub fn fewest(&self) -> i64 {
        let few = self.constraint.min_domains.is_some_and(|wanted| (self.domains.len() as i64) < wanted);
        if few { 0 } else { self.domains.iter().map(|(_, n)| *n).min().unwrap_or(0) }
    }
}

/// The Pods of a node that a constraint of a Pod counts; those on their way out do not count.
pub(super) fn matching(constraint: &TopologySpreadConstraint, object: &Object, info: &NodeInfo) -> i64 {
    let Some(selector) = constraint.label_selector.as_ref().filter(|s| !s.is_empty()) else { return 0 };
    let counts = |o: &Object| !o.meta.is_deleting() && o.meta.namespace == object.meta.namespace && selector.matches(&o.meta.labels);
    info.pods.values().filter(|o| counts(o)).count() as i64
}

/// Whether a constraint looks at a node at all.
pub(super) fn includes(constraint: &TopologySpreadConstraint, pod: &Pod, node: &Object) -> bool {
    let repels = |t: &crate::api::node::Taint| t.effect != "PreferNoSchedule" && !tolerates(&pod.spec.tolerations, t);
    (constraint.node_affinity_policy == "Ignore" || fits_affinity(&pod.spec, node))
        && (constraint.node_taints_policy != "Honor" || !node.body::<Node>().spec.taints.iter().any(repels))
}

/// The constraints of one kind (`DoNotSchedule` or `ScheduleAnyway`), counted over all nodes that have all their keys.
pub(super) fn count<'c>(object: &Object, pod: &'c Pod, kind: &str, nodes: &BTreeMap<Str, NodeInfo>) -> Vec<Counted<'c>> {
    let of_kind = pod.spec.topology_spread_constraints.iter().filter(|c| c.when_unsatisfiable == kind);
    let mut counted: Vec<Counted<'_>> = of_kind.map(|constraint| Counted { constraint, domains: Vec::new() }).collect();
    if counted.is_empty() {
        return counted;
    }
    for info in nodes.values() {
        let Some(node) = info.node.as_ref() else { continue };
        if !counted.iter().all(|c| node.meta.label(&c.constraint.topology_key).is_some()) {
            continue;
        }
        for c in counted.iter_mut().filter(|c| includes(c.constraint, pod, node)) {
            let Some(value) = node.meta.label(&c.constraint.topology_key) else { continue };
            let more = matching(c.constraint, object, info);
            match c.domains.iter_mut().find(|(v, _)| v == value) {
                Some((_, n)) => *n += more,
                None => c.domains.push((value.clone(), more)),
            }
        }
    }
    counted
}
