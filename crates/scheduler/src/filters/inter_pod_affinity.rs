//! Filter for required affinity and anti-affinity between Pods.
//!
//! Models `pkg/scheduler/framework/plugins/interpodaffinity/filtering.go`.

use crate::framework::{Cycle, Filter, NODE_LABELS, POD_GONE, POD_PLACED, Refusal};
use crate::node_info::NodeInfo;
use crate::refuses::Refuses;
use crate::terms::{same_domain, selects};
use k8s_model::Object;
use k8s_model::node::Node;
use k8s_model::pod::Pod;
use std::rc::Rc;

/// Filter registration.
pub(super) const FILTER: Filter = Filter {
    name: "InterPodAffinity",
    asks: Some(asks),
    filter,
    explain,
    requeue_on: POD_GONE | POD_PLACED | NODE_LABELS,
};

/// Returns true if a Pod on any node in the node's domain passes the test.
fn any_in_domain(
    cycle: &Cycle<'_>,
    node: &Object,
    key: &str,
    test: impl Fn(&Object) -> bool,
) -> bool {
    node.meta.label(key).is_some()
        && cycle.nodes.values().any(|info| {
            info.node
                .as_ref()
                .is_some_and(|n| same_domain(n, node, key))
                && info.pods.values().any(|pod| test(pod))
        })
}

fn asks(cycle: &Cycle<'_>) -> bool {
    let affinity = &cycle.pod.spec.affinity;
    cycle.nodes.unsociable > 0
        || !affinity
            .pod_affinity
            .required_during_scheduling_ignored_during_execution
            .is_empty()
        || !affinity
            .pod_anti_affinity
            .required_during_scheduling_ignored_during_execution
            .is_empty()
}

fn filter(cycle: &Cycle<'_>, node: &Object, _: &Node, _: &NodeInfo) -> Option<Refusal> {
    let (object, affinity) = (cycle.object, &cycle.pod.spec.affinity);
    let namespace = &object.meta.namespace;
    let near = &affinity
        .pod_affinity
        .required_during_scheduling_ignored_during_execution;
    // A Pod counts only if all terms select it.
    let is_meant = |other: &Object| {
        near.iter()
            .all(|term| selects(term, namespace, other, cycle))
    };
    if !near
        .iter()
        .all(|term| any_in_domain(cycle, node, &term.topology_key, is_meant))
    {
        // The first Pod of a group with affinity to itself may start anywhere.
        let first = || {
            is_meant(object)
                && near
                    .iter()
                    .all(|term| node.meta.label(&term.topology_key).is_some())
                && !cycle
                    .nodes
                    .values()
                    .any(|info| info.pods.values().any(|pod| is_meant(pod)))
        };
        if !first() {
            return Refusal::final_("node(s) didn't match pod affinity rules");
        }
    }
    for term in &affinity
        .pod_anti_affinity
        .required_during_scheduling_ignored_during_execution
    {
        if any_in_domain(cycle, node, &term.topology_key, |other| {
            selects(term, namespace, other, cycle)
        }) {
            return Refusal::for_now("node(s) didn't match pod anti-affinity rules");
        }
    }
    if cycle.nodes.unsociable == 0 {
        return None;
    }
    for info in cycle.nodes.values().filter(|info| info.unsociable > 0) {
        let Some(home) = info.node.as_ref() else {
            continue;
        };
        for other in info.pods.values() {
            let terms = &other
                .body::<Pod>()
                .spec
                .affinity
                .pod_anti_affinity
                .required_during_scheduling_ignored_during_execution;
            if terms.iter().any(|t| {
                same_domain(home, node, &t.topology_key)
                    && selects(t, &other.meta.namespace, object, cycle)
            }) {
                return Refusal::for_now(
                    "node(s) didn't satisfy existing pods anti-affinity rules",
                );
            }
        }
    }
    None
}

fn explain(cycle: &Cycle<'_>, object: &Rc<Object>, _: &NodeInfo, out: &mut Vec<Refuses>) {
    out.push(neighbour(cycle, object));
}

/// Returns the term and Pod behind the refusal.
fn neighbour(cycle: &Cycle<'_>, node: &Rc<Object>) -> Refuses {
    let (affinity, namespace) = (&cycle.pod.spec.affinity, &cycle.object.meta.namespace);
    let homes = || {
        cycle
            .nodes
            .values()
            .filter_map(|info| Some((info.node.as_ref()?, info)))
    };
    for term in &affinity
        .pod_anti_affinity
        .required_during_scheduling_ignored_during_execution
    {
        for (_, info) in homes().filter(|(home, _)| same_domain(home, node, &term.topology_key)) {
            if let Some(other) = info
                .pods
                .values()
                .find(|other| selects(term, namespace, other, cycle))
            {
                return Refuses::Apart {
                    key: term.topology_key.clone(),
                    from: other.meta.name.clone(),
                };
            }
        }
    }
    for (home, info) in homes().filter(|(_, info)| info.unsociable > 0) {
        for other in info.pods.values() {
            let terms = &other
                .body::<Pod>()
                .spec
                .affinity
                .pod_anti_affinity
                .required_during_scheduling_ignored_during_execution;
            let mut meant = terms.iter().filter(|t| {
                same_domain(home, node, &t.topology_key)
                    && selects(t, &other.meta.namespace, cycle.object, cycle)
            });
            if let Some(term) = meant.next() {
                return Refuses::Apart {
                    key: term.topology_key.clone(),
                    from: other.meta.name.clone(),
                };
            }
        }
    }
    let near = affinity
        .pod_affinity
        .required_during_scheduling_ignored_during_execution
        .first();
    Refuses::Alone {
        key: near
            .map(|term| term.topology_key.clone())
            .unwrap_or_default(),
    }
}
