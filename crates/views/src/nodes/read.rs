//! Reads of Nodes: the time of the first eviction from a node that is not ready, evictions refused by a budget, and the reasons why the
//! scheduler finds no node for a Pod.

use crate::view::Source;
use cluster::Sim;
use controllers::taint_eviction;
use explain::diagnose::{diagnose, refused_evictions};
use explain::headline::{headline, refusal};
use explain::waits::PendingReason;
use i18n::{Message, msg};
use k8s_model::{Body, Kind, Object, ObjectRef, Str};
use projection::model::{Model, Pod};
use scheduler::unschedulable::UnschedulableReason;
use std::rc::Rc;

/// Returns true if a node's kubelet does not report, or reports that it is not ready.
fn silent(node: &Rc<Object>) -> bool {
    matches!(&node.body, Body::Node(node) if !node.is_ready())
}

/// Refreshes every second while a node is not ready: a countdown is shown.
pub fn refresh_ms(sim: &Sim) -> Option<i64> {
    (sim.store().list(Kind::Node).any(silent)
        || refused_evictions(sim, &|_, _| true).next().is_some())
    .then_some(1000)
}

/// Sets on each node from which an eviction was refused the budget that refused it, and the time of the drain's next attempt.
pub fn drains(model: &mut Model, sim: &Sim) {
    let mut told: Vec<Str> = Vec::new();
    for refused in refused_evictions(sim, &|_, _| true) {
        let Some(name) = sim
            .store()
            .get(&refused.pod)
            .and_then(|pod| Some(pod.pod()?.node_name.clone()))
        else {
            continue;
        };
        if told.contains(&name) {
            continue;
        }
        told.push(name.clone());
        let words = msg::node_eviction_refused(
            format!("pdb/{}", refused.budget),
            refused.seconds_left(sim.now()),
        );
        if let Some(node) = Rc::make_mut(&mut model.nodes)
            .iter_mut()
            .find(|node| node.id.name == *name)
        {
            // There is room for one note: the pill already shows that the node is cordoned.
            Rc::make_mut(node).note = words;
        }
    }
}

/// Returns the reasons why the scheduler finds no node for a Pod, with the number of nodes for each, the most frequent first. As upstream
/// counts: the first filter that refuses a node, and if a claim excludes all of them, nothing else.
pub fn refusals(sim: &Sim, pod: &Pod) -> Vec<(usize, Message)> {
    let key = ObjectRef::new(Kind::Pod, &pod.id.namespace, &pod.id.name);
    let Some(object) = sim.store().get(&key) else {
        return Vec::new();
    };
    let waits = diagnose(sim, &key).map(|found| found.waits);
    if let Some(claim) = waits.filter(|waits| {
        matches!(
            waits,
            PendingReason::ClaimMissing(_)
                | PendingReason::ClaimLeaves(_)
                | PendingReason::ClaimLost(_)
                | PendingReason::ClaimUnbound(_)
        )
    }) {
        return vec![(sim.store().count(Kind::Node), headline(&claim))];
    }
    let mut found: Vec<(usize, Message)> = Vec::new();
    let first = |reasons: Vec<UnschedulableReason>| {
        let amounts = matches!(
            reasons.first(),
            Some(UnschedulableReason::InsufficientResource { .. })
        );
        let same = move |(at, reason): &(usize, UnschedulableReason)| {
            *at == 0
                || amounts && matches!(reason, UnschedulableReason::InsufficientResource { .. })
        };
        reasons
            .into_iter()
            .enumerate()
            .take_while(same)
            .map(|(_, reason)| reason)
    };
    for reason in sim
        .scheduler
        .explain(object, &sim.informers.scheduler.cache, usize::MAX)
        .into_iter()
        .flat_map(|(_, reasons)| first(reasons))
    {
        // The amounts differ from node to node.
        let words = match &reason {
            UnschedulableReason::InsufficientResource { resource, .. } => {
                msg::tray_insufficient(*resource)
            }
            other => refusal(other),
        };
        match found.iter_mut().find(|(_, known)| *known == words) {
            Some((nodes, _)) => *nodes += 1,
            None => found.push((1, words)),
        }
    }
    found.sort_by_key(|(nodes, _)| std::cmp::Reverse(*nodes));
    found
}

/// Sets the time of the first eviction from each node that is not ready.
pub fn count_down(model: &mut Model, source: &Source) {
    if model.nodes.iter().all(|node| node.ready) {
        return;
    }
    for node in Rc::make_mut(&mut model.nodes)
        .iter_mut()
        .filter(|node| !node.ready)
    {
        let Some(object) = source
            .sim
            .store()
            .get(&ObjectRef::new(Kind::Node, "", &node.id.name))
        else {
            continue;
        };
        let taints: Vec<_> = taint_eviction::forcing(object).collect();
        let Some(since) = taints.iter().filter_map(|taint| taint.time_added).min() else {
            continue;
        };
        let here = source
            .sim
            .scheduler
            .pods_on(&node.id.name)
            .filter(|pod| !pod.meta.is_deleting())
            .filter_map(|pod| pod.pod());
        let first = here
            .filter(|pod| !pod.is_terminal())
            .filter_map(|pod| taint_eviction::tolerated_for(&pod.spec.tolerations, &taints))
            .min();
        let left = first.map_or(0, |seconds| {
            since.seconds() + seconds - source.scope.now / 1000
        });
        if left > 0 {
            let left = format!("{:02}:{:02}", left / 60, left % 60);
            Rc::make_mut(node).countdown = Some(msg::node_evicts_in(left));
        }
    }
}
