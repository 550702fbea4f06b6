//! What each node has against a Pod: all filters asked, with the values that decide. Reads, writes nothing.

use super::filters::Plugin;
use super::terms::{same_domain, selects};
use super::volumes::{Reach, reachable};
use super::{Cycle, NodeInfo, Scheduler, refusal, tolerates};
use crate::api::node::Node;
use crate::api::pod::{Pod, Resources};
use crate::api::{Object, Str};
use crate::engine::informer::Cache;
use std::rc::Rc;

/// What one node has against a Pod, with the values that decide.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refuses {
    /// It is cordoned.
    Cordoned,
    /// The Pod names another node, or its affinity leaves only others.
    Elsewhere,
    /// A taint is not tolerated.
    Taint {
        /// Its key.
        key: Str,
        /// Its value.
        value: Str,
        /// Its effect.
        effect: Str,
    },
    /// `nodeSelector` asks for a label.
    Label {
        /// Its key.
        key: Str,
        /// The value asked for.
        want: Str,
        /// What the node has.
        has: Option<Str>,
    },
    /// Required node affinity does not hold.
    Affinity,
    /// A host port is taken.
    Port {
        /// The port.
        port: i32,
        /// By this Pod.
        by: Str,
    },
    /// It has as many Pods as it may.
    Pods {
        /// So many.
        most: i64,
    },
    /// Too little is free.
    Short {
        /// `cpu`, `memory`, `ephemeral-storage`
        what: &'static str,
        /// What the Pod requests: thousandths of cpu, bytes.
        asks: i64,
        /// What is free.
        free: i64,
        /// What the node has in all.
        all: i64,
    },
    /// What is free is kept for a Pod that others were preempted for.
    Kept,
    /// A claim's volume is not reachable from it.
    VolumeElsewhere,
    /// No volume there fits a claim.
    NoVolume,
    /// A claim that only one Pod may use is used.
    ClaimTaken,
    /// A spread constraint: too many in this domain already.
    Spread {
        /// The topology key.
        key: Str,
        /// The node's domain.
        domain: Str,
        /// Matching Pods there, this one not counted.
        here: i64,
        /// Matching Pods of the emptiest domain.
        fewest: i64,
        /// `maxSkew`.
        most: i64,
    },
    /// A spread constraint asks for a label that the node lacks.
    NoDomain {
        /// The topology key.
        key: Str,
    },
    /// Pod affinity finds nobody here.
    Alone {
        /// The topology key.
        key: Str,
    },
    /// Pod anti-affinity, its own or another Pod's, finds somebody here.
    Apart {
        /// The topology key.
        key: Str,
        /// That Pod.
        from: Str,
    },
}

impl Scheduler {
    /// For every node, or for so many, what its filters say; a node without refusals would do.
    pub fn explain(&self, object: &Rc<Object>, cache: &Cache, most: usize) -> Vec<(Str, Vec<Refuses>)> {
        let Some(pod) = object.pod() else { return Vec::new() };
        let cycle = Cycle::new(object, pod, cache, &self.nodes, &self.nominated);
        let mut out = Vec::new();
        for (name, info) in self.nodes.iter().take(most) {
            let Some(node) = &info.node else { continue };
            let (mut found, mut last) = (Vec::new(), None);
            for filter in &cycle.filters {
                let Some(refusal) = filter(&cycle, node, node.body::<Node>(), info) else { continue };
                // Pinned to another node: the affinity says so twice.
                if last.replace(refusal.plugin) != Some(refusal.plugin) {
                    detail(&cycle, refusal.plugin, node, info, &mut found);
                }
            }
            if found.is_empty() && refusal(&cycle, name, node, info).is_some() {
                found.push(Refuses::Kept);
            }
            out.push((name.clone(), found));
        }
        out
    }

    /// The Pods of a node.
    pub fn pods_on(&self, node: &str) -> impl Iterator<Item = &Rc<Object>> {
        self.nodes.get(node).into_iter().flat_map(|info| info.pods.values())
    }

    /// What is free on a node.
    pub fn free_on(&self, node: &str) -> Resources {
        self.nodes.get(node).map_or_else(Resources::default, |info| info.allocatable.minus(info.requested))
    }

    /// How many more Pods a node may have.
    pub fn places_on(&self, node: &str) -> i64 {
        self.nodes.get(node).map_or(0, |info| (info.max_pods - info.pods.len() as i64).max(0))
    }
}

/// The values behind a refusal.
fn detail(cycle: &Cycle<'_>, plugin: Plugin, object: &Rc<Object>, info: &NodeInfo, out: &mut Vec<Refuses>) {
    let (pod, node) = (cycle.pod, object.body::<Node>());
    match plugin {
        Plugin::Unschedulable => out.push(Refuses::Cordoned),
        Plugin::NodeName => out.push(Refuses::Elsewhere),
        Plugin::Taints => {
            let hard = |t: &&crate::api::node::Taint| {
                t.effect != "PreferNoSchedule" && t.key != "node.kubernetes.io/unschedulable" && !tolerates(&pod.spec.tolerations, t)
            };
            if let Some(t) = node.spec.taints.iter().find(hard) {
                out.push(Refuses::Taint { key: t.key.clone(), value: t.value.clone(), effect: t.effect.clone() });
            }
        }
        Plugin::NodeAffinity => {
            let differs = pod.spec.node_selector.iter().find(|(key, want)| object.meta.label(key) != Some(*want));
            out.push(match differs {
                Some((key, want)) => Refuses::Label { key: key.clone(), want: want.clone(), has: object.meta.label(key).cloned() },
                None => Refuses::Affinity,
            });
        }
        Plugin::Ports => {
            let ports = |pod: &Pod| -> Vec<i32> {
                pod.spec.containers.iter().flat_map(|c| &c.ports).map(|p| p.host_port).filter(|port| *port > 0).collect()
            };
            let wanted = ports(pod);
            let taken = info.pods.values().find_map(|other| {
                let port = ports(other.body()).into_iter().find(|port| wanted.contains(port))?;
                Some((port, other.meta.name.clone()))
            });
            let (port, by) = taken.unwrap_or_default();
            out.push(Refuses::Port { port, by });
        }
        Plugin::Resources => resources(pod, info, out),
        Plugin::Volumes => out.push(match reachable(cycle.object, pod, object, cycle.cache) {
            Reach::WrongNode => Refuses::VolumeElsewhere,
            Reach::NoVolume => Refuses::NoVolume,
            Reach::Yes => Refuses::ClaimTaken,
        }),
        Plugin::Spread => {
            for counted in &cycle.spread {
                let (key, most) = (counted.constraint.topology_key.clone(), counted.constraint.max_skew);
                let Some(domain) = object.meta.label(&key).cloned() else { return out.push(Refuses::NoDomain { key }) };
                let own = counted.constraint.label_selector.as_ref().is_some_and(|s| s.matches(&cycle.object.meta.labels));
                let (here, fewest) = (counted.in_domain(&domain), counted.fewest());
                if here + i64::from(own) - fewest > most {
                    return out.push(Refuses::Spread { key, domain, here, fewest, most });
                }
            }
        }
        Plugin::InterPod => out.push(neighbour(cycle, object)),
    }
}

fn resources(pod: &Pod, info: &NodeInfo, out: &mut Vec<Refuses>) {
    let (asks, all, free) = (pod.spec.requests, info.allocatable, info.allocatable.minus(info.requested));
    if info.pods.len() as i64 + 1 > info.max_pods {
        out.push(Refuses::Pods { most: info.max_pods });
    }
    for (what, asks, free, all) in [
        ("cpu", asks.cpu, free.cpu, all.cpu),
        ("memory", asks.memory, free.memory, all.memory),
        ("ephemeral-storage", asks.ephemeral, free.ephemeral, all.ephemeral),
    ] {
        if asks > 0 && asks > free {
            out.push(Refuses::Short { what, asks, free, all });
        }
    }
}

/// Whose nearness is wanted or not.
fn neighbour(cycle: &Cycle<'_>, node: &Rc<Object>) -> Refuses {
    let (affinity, namespace) = (&cycle.pod.spec.affinity, &cycle.object.meta.namespace);
    let homes = || cycle.nodes.values().filter_map(|info| Some((info.node.as_ref()?, info)));
    for term in &affinity.pod_anti_affinity.required_during_scheduling_ignored_during_execution {
        for (_, info) in homes().filter(|(home, _)| same_domain(home, node, &term.topology_key)) {
            if let Some(other) = info.pods.values().find(|other| selects(term, namespace, other, cycle)) {
                return Refuses::Apart { key: term.topology_key.clone(), from: other.meta.name.clone() };
            }
        }
    }
    for (home, info) in homes().filter(|(_, info)| info.unsociable > 0) {
        for other in info.pods.values() {
            let terms = &other.body::<Pod>().spec.affinity.pod_anti_affinity.required_during_scheduling_ignored_during_execution;
            let mut meant =
                terms.iter().filter(|t| same_domain(home, node, &t.topology_key) && selects(t, &other.meta.namespace, cycle.object, cycle));
            if let Some(term) = meant.next() {
                return Refuses::Apart { key: term.topology_key.clone(), from: other.meta.name.clone() };
            }
        }
    }
    let near = affinity.pod_affinity.required_during_scheduling_ignored_during_execution.first();
    Refuses::Alone { key: near.map(|term| term.topology_key.clone()).unwrap_or_default() }
}
