//! kube-scheduler: one Pod a cycle, filtered and scored over all nodes, then bound.
//!
//! Guarantees: a Pod is bound to a node at most once; the sum of the requests on a node stays within what it has;
//! a Pod that fits nowhere says so in its condition and in an Event, and is tried again when something changes.
//! Models `pkg/scheduler/schedule_one.go` and `internal/queue/scheduling_queue.go`.

mod filters;
mod node_info;
mod scores;
mod volumes;

use super::controllers::Event;
use super::informer::Cache;
use super::journal::{EntryId, Op};
use super::out::Out;
use super::why::Why;
use crate::api::node::Node;
use crate::api::pod::{Pod, PodCondition};
use crate::api::time::MS;
use crate::api::{Body, Kind, Object, Str, Time, Uid};
use filters::selects as filters_selects;
pub(super) use filters::{fits_affinity, tolerates};
use node_info::NodeInfo;
use smol_str::format_smolstr;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// What one cycle takes.
const CYCLE: u64 = MS;

/// A Pod in the active queue: by priority, then by arrival.
type Waiting = (Reverse<i32>, u64, Uid);

/// The scheduler: its queue and its own count of what is on each node.
#[derive(Clone, Debug, Default)]
pub struct Scheduler {
    nodes: BTreeMap<Str, NodeInfo>,
    active: BTreeSet<Waiting>,
    /// Pods without a node, with what last woke them.
    pending: BTreeMap<Uid, Pending>,
    unschedulable: BTreeSet<Uid>,
    /// Pods placed but waiting for their claims to be bound.
    placed: BTreeMap<Uid, Str>,
    arrivals: u64,
    awake: bool,
}

/// A Pod without a node.
#[derive(Clone, Debug)]
struct Pending {
    object: Rc<Object>,
    cause: EntryId,
    /// Its place in the active queue, if it is there.
    queued: Option<Waiting>,
    /// When it first came, in the order of all.
    arrived: u64,
}

/// What a cycle looks at.
pub(super) struct Cycle<'c> {
    pub object: &'c Rc<Object>,
    pub pod: &'c Pod,
    pub cache: &'c Cache,
    pub nodes: &'c BTreeMap<Str, NodeInfo>,
    /// Whether any Pod anywhere refuses to be near others.
    pub unsociable: bool,
}

impl Scheduler {
    /// Takes in a watch event; gives the time of the next cycle if one has to be planned.
    pub fn observe(&mut self, event: &Event<'_>, id: EntryId, now: Time) -> Option<Time> {
        match event.object.kind {
            Kind::Pod => self.observe_pod(event, id),
            Kind::Node => {
                self.observe_node(event);
                self.retry_all(id);
            }
            _ => self.retry_all(id),
        }
        if self.active.is_empty() || self.awake {
            return None;
        }
        self.awake = true;
        Some(now.after(CYCLE))
    }

    fn observe_pod(&mut self, event: &Event<'_>, id: EntryId) {
        let (object, pod): (_, &Pod) = (event.object, event.object.body());
        let uid = object.meta.uid;
        let gone = event.op == Op::Deleted || pod.is_terminal();
        if !pod.node_name.is_empty() {
            self.forget(uid);
            let node = self.nodes.entry(pod.node_name.clone()).or_default();
            if !gone {
                if node.add(object) {
                    self.retry(id, |p| !p.spec.affinity.pod_affinity.required_during_scheduling_ignored_during_execution.is_empty());
                }
            } else if node.remove(object) {
                self.retry_all(id);
            }
            return;
        }
        if gone || object.meta.is_deleting() {
            if let Some(node) = self.forget(uid).and_then(|name| self.nodes.get_mut(&name)) {
                node.remove(object);
            }
            return;
        }
        if !pod.spec.scheduling_gates.is_empty() || pod.spec.scheduler_name != "default-scheduler" {
            return;
        }
        // Its own status, written by this scheduler, is no reason to try again.
        let changed = event.before.is_none_or(|b| b.pod().is_none_or(|p| p.spec != pod.spec) || b.meta.labels != object.meta.labels);
        self.arrivals += 1;
        let arrived = self.arrivals;
        let pending = self.pending.entry(uid).or_insert_with(|| Pending { object: object.clone(), cause: id, queued: None, arrived });
        pending.object = object.clone();
        if changed {
            self.enqueue(uid, id);
        }
    }

    /// Drops what is known of a Pod without a node; gives the node it was placed on.
    fn forget(&mut self, uid: Uid) -> Option<Str> {
        if let Some(waiting) = self.pending.remove(&uid).and_then(|p| p.queued) {
            self.active.remove(&waiting);
        }
        self.unschedulable.remove(&uid);
        self.placed.remove(&uid)
    }

    fn observe_node(&mut self, event: &Event<'_>) {
        let name = event.object.meta.name.clone();
        if event.op == Op::Deleted {
            if let Some(info) = self.nodes.get_mut(&name) {
                info.set_node(None);
            }
        } else {
            self.nodes.entry(name).or_default().set_node(Some(event.object));
        }
    }

    fn enqueue(&mut self, uid: Uid, cause: EntryId) {
        let Some(pending) = self.pending.get_mut(&uid) else { return };
        self.unschedulable.remove(&uid);
        pending.cause = cause;
        if pending.queued.is_none() {
            self.arrivals += 1;
            let priority = pending.object.body::<Pod>().spec.priority.unwrap_or(0);
            let waiting = (Reverse(priority), self.arrivals, uid);
            pending.queued = Some(waiting);
            self.active.insert(waiting);
        }
    }

    /// Something has changed that may help: all Pods that fitted nowhere are tried again.
    fn retry_all(&mut self, cause: EntryId) {
        self.retry(cause, |_| true);
    }

    /// Tries those again that a change may help, in the order in which they came.
    fn retry(&mut self, cause: EntryId, may_help: impl Fn(&Pod) -> bool) {
        let mut found: Vec<(u64, Uid)> = Vec::new();
        for uid in &self.unschedulable {
            if let Some(pending) = self.pending.get(uid).filter(|p| may_help(p.object.body())) {
                found.push((pending.arrived, *uid));
            }
        }
        found.sort_unstable();
        for (_, uid) in found {
            self.enqueue(uid, cause);
        }
    }

    /// Schedules the next Pod; gives the time of the next cycle if there are more.
    pub fn cycle(&mut self, cache: &Cache, now: Time, out: &mut Out<'_>) -> Option<Time> {
        if let Some((_, _, uid)) = self.active.pop_first()
            && let Some(pending) = self.pending.get_mut(&uid)
        {
            pending.queued = None;
            out.origin.cause = Some(pending.cause);
            let object = pending.object.clone();
            self.schedule(&object, object.body(), cache, out);
        }
        self.awake = !self.active.is_empty();
        self.awake.then(|| now.after(CYCLE))
    }

    fn schedule(&mut self, object: &Rc<Object>, pod: &Pod, cache: &Cache, out: &mut Out<'_>) {
        if let Some(node) = self.placed.get(&object.meta.uid).cloned() {
            if volumes::all_bound(object, pod, cache) {
                self.bind(object, &node, (0, 0, 0), out);
            } else {
                self.unschedulable.insert(object.meta.uid);
            }
            return;
        }
        let real = self.nodes.values().filter(|n| n.node.is_some()).count();
        if let Err(message) = volumes::check(object, pod, cache) {
            let message = format!("0/{real} nodes are available: {message}. not found");
            return self.fail(object, message, out);
        }
        let unsociable = self.nodes.values().any(|info| info.unsociable > 0);
        let cycle = Cycle { object, pod, cache, nodes: &self.nodes, unsociable };
        let mut feasible: Vec<(&Str, &NodeInfo)> = Vec::with_capacity(real);
        let mut refusals = Vec::new();
        for (name, info) in &self.nodes {
            let Some(node) = info.node.as_ref() else { continue };
            match filters::ALL.iter().find_map(|filter| filter(&cycle, node, node.body::<Node>(), info)) {
                Some(refusal) => refusals.push(refusal),
                None => feasible.push((name, info)),
            }
        }
        if feasible.is_empty() {
            return self.fail(object, filters::message(real, refusals, pod), out);
        }
        let scores = scores::total(&cycle, &feasible);
        // The first of the best by name: every tie is broken in one way.
        let best = (0..feasible.len()).fold(0, |best, i| if scores[i] > scores[best] { i } else { best });
        let (node, feasible) = (feasible[best].0.clone(), feasible.len() as u32);
        if volumes::all_bound(object, pod, cache) {
            self.bind(object, &node, (feasible, real as u32, scores[best]), out);
        } else {
            volumes::reserve(object, pod, &node, cache, out);
            self.nodes.entry(node.clone()).or_default().add(object);
            self.placed.insert(object.meta.uid, node);
            self.unschedulable.insert(object.meta.uid);
        }
    }

    fn bind(&mut self, object: &Rc<Object>, node: &Str, (feasible, nodes, score): (u32, u32, i64), out: &mut Out<'_>) {
        let (wall, generation) = (out.server.wall(), object.meta.generation);
        let why = Why::BestNode { feasible, nodes, score };
        let bound = out.patch(&object.key(), why, |o| {
            if let Body::Pod(pod) = &mut o.body {
                pod.node_name = node.clone();
                pod.status.conditions.retain(|c| c.kind != "PodScheduled");
                pod.status.conditions.push(PodCondition {
                    kind: "PodScheduled".into(),
                    status: "True".into(),
                    last_transition_time: Some(wall),
                    observed_generation: generation,
                    ..Default::default()
                });
            }
        });
        if let Ok(bound) = bound {
            // Counted at once, not when the watch brings it: the next cycle must see it.
            self.nodes.entry(node.clone()).or_default().add(&bound);
            out.event(
                &bound,
                "Normal",
                "Scheduled",
                format_smolstr!("Successfully assigned {}/{} to {node}", object.meta.namespace, object.meta.name),
            );
        }
    }

    fn fail(&mut self, object: &Rc<Object>, message: String, out: &mut Out<'_>) {
        out.event(object, "Warning", "FailedScheduling", message.clone());
        let (wall, generation) = (out.server.wall(), object.meta.generation);
        let why = Why::NoNode { message: message.as_str().into() };
        // A Pod that is gone meanwhile needs no condition.
        let _ = out.update_status(&out.server.get(&object.key()).cloned().unwrap_or_else(|| object.clone()), why, |o| {
            if let Body::Pod(pod) = &mut o.body {
                let old = pod.status.condition("PodScheduled").filter(|c| c.status == "False").cloned();
                if old.as_ref().is_some_and(|c| c.message == message) {
                    return;
                }
                pod.status.conditions.retain(|c| c.kind != "PodScheduled");
                pod.status.conditions.push(PodCondition {
                    kind: "PodScheduled".into(),
                    status: "False".into(),
                    reason: "Unschedulable".into(),
                    message: message.into(),
                    last_transition_time: old.and_then(|c| c.last_transition_time).or(Some(wall)),
                    observed_generation: generation,
                    ..Default::default()
                });
            }
        });
        self.unschedulable.insert(object.meta.uid);
    }
}
