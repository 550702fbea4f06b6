//! Required affinity and anti-affinity between Pods.
//!
//! Models `pkg/scheduler/framework/plugins/interpodaffinity/filtering.go`.

use super::{Cycle, NodeInfo, Refusal};
use crate::api::node::Node;
use crate::api::pod::{Pod, PodAffinityTerm};
use crate::api::{Object, Str};

fn term_selects(term: &PodAffinityTerm, namespace: &Str, other: &Object) -> bool {
    let in_namespace =
        if term.namespaces.is_empty() { other.meta.namespace == *namespace } else { term.namespaces.contains(&other.meta.namespace) };
    in_namespace && term.label_selector.as_ref().is_some_and(|s| s.matches(&other.meta.labels))
}

/// Whether the Pods of all nodes in the node's domain include one that the test accepts.
fn any_in_domain(cycle: &Cycle<'_>, node: &Object, key: &Str, test: impl Fn(&Object) -> bool) -> bool {
    let Some(domain) = node.meta.labels.get(key) else { return false };
    cycle
        .nodes
        .values()
        .any(|info| info.node.as_ref().is_some_and(|n| n.meta.labels.get(key) == Some(domain)) && info.pods.values().any(|pod| test(pod)))
}

pub(super) fn filter(cycle: &Cycle<'_>, node: &Object, _: &Node, _: &NodeInfo) -> Option<Refusal> {
    let (object, affinity) = (cycle.object, &cycle.pod.spec.affinity);
    let namespace = &object.meta.namespace;
    for term in &affinity.pod_affinity.required_during_scheduling_ignored_during_execution {
        let found = any_in_domain(cycle, node, &term.topology_key, |other| term_selects(term, namespace, other));
        // The first Pod of a group that wants to be together may start anywhere.
        let first = || {
            term_selects(term, namespace, object)
                && node.meta.labels.contains_key(&term.topology_key)
                && !cycle.nodes.values().any(|info| info.pods.values().any(|pod| term_selects(term, namespace, pod)))
        };
        if !found && !first() {
            return Refusal::final_("node(s) didn't match pod affinity rules");
        }
    }
    for term in &affinity.pod_anti_affinity.required_during_scheduling_ignored_during_execution {
        if any_in_domain(cycle, node, &term.topology_key, |other| term_selects(term, namespace, other)) {
            return Refusal::for_now("node(s) didn't match pod anti-affinity rules");
        }
    }
    if !cycle.unsociable {
        return None;
    }
    let refuses = |other: &Object| {
        let terms = &other.body::<Pod>().spec.affinity.pod_anti_affinity.required_during_scheduling_ignored_during_execution;
        terms.iter().any(|term| {
            term_selects(term, &other.meta.namespace, object)
                && any_in_domain(cycle, node, &term.topology_key, |o| o.meta.uid == other.meta.uid)
        })
    };
    let unsociable = cycle.nodes.values().filter(|info| info.unsociable > 0).flat_map(|info| info.pods.values());
    if unsociable.into_iter().any(|other| refuses(other)) {
        return Refusal::for_now("node(s) didn't satisfy existing pods anti-affinity rules");
    }
    None
}
