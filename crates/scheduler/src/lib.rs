//! kube-scheduler: one Pod per cycle, filtered and scored over all nodes, then bound.
//!
//! Guarantees: a Pod is bound to a node at most once; the sum of the requests on a node stays within its allocatable
//! resources; an unschedulable Pod gets a condition and an Event, and is retried when something changes.
//! Models `pkg/scheduler/schedule_one.go` and `internal/queue/scheduling_queue.go`.
//!
//! # Adding a filter or a score
//!
//! (2 files: its own and `src/filters/mod.rs`).
//!
//! 1. `src/filters/<name>.rs` with a `const FILTER: Filter`: upstream's name of the plugin; `applies`, whether it applies to a
//!    Pod (leave it out only if the verdict depends on the Pod's template and the node alone: `memo.rs` relies on that); `filter`, the refusal
//!    with kube-scheduler's message, `Refusal::unschedulable` if removing other Pods could help and `Refusal::unresolvable` if not; `explain`, the values
//!    behind a refusal (empty: the message is shown); `requeue_on`, the changes after which refused Pods are retried.
//! 2. In `filters/mod.rs`: `mod <name>;` and a line in `ALL`, in upstream's order.
//!
//! **A score** is added likewise, as `const SCORE: Score` in `src/scores/`: name, weight, and `Scoring::Node` if it scores one node
//! at a time, `Scoring::Among` if it compares nodes.

mod descriptor;
mod explain;
mod filters;
mod framework;
mod matching;
mod memo;
mod node_info;
mod nodes;
mod outcome;
mod preemption;
mod schedule_one;
mod scores;
mod spread;
mod terms;
pub mod unschedulable;
mod volumes;

use apiserver::journal::{EntryId, Op};
use apiserver::why::Why;
use apiserver::{ApiError, StatusReason};
use controller_runtime::client::LoopClient;
use controller_runtime::informer::Cache;
use controller_runtime::watch::Event;
use controller_runtime::watch_faults::DelayLog;
pub use descriptor::DESCRIPTOR;
use framework::{
    ANY, ClusterChanges, Cycle, NODE_ALLOCATABLE, NODE_GONE, NODE_LABELS, NODE_TAINTS, POD_GONE,
    POD_PLACED, STORAGE,
};
use k8s_model::node::Node;
use k8s_model::pod::Pod;
use k8s_model::time::{MS, SECOND};
use k8s_model::{Duration, Kind, Object, ObjectRef, Str, Time, Uid};
pub use matching::{fits_affinity, tolerates};
use memo::{Memo, Placement};
pub use node_info::priority;
use nodes::Nodes;
use schedule_one::find_best_node;
use sim_core::tree::Tree;
use std::cmp::Reverse;
use std::rc::Rc;

/// Duration of one cycle, in microseconds.
const CYCLE_US: u64 = MS;

/// Key of a Pod in the active queue: by priority, then by arrival.
type QueueKey = (Reverse<i32>, u64, Uid);

/// Scheduler: its queue and its own accounting of each node.
#[derive(Clone, Debug, Default)]
pub struct Scheduler {
    nodes: Nodes,
    active: Tree<QueueKey, ()>,
    /// Pods without a node, with the entry that last woke them.
    pending: Tree<Uid, PendingPod>,
    unschedulable: Tree<Uid, ()>,
    /// Pods placed but waiting for their claims to be bound, with their node.
    placed: Tree<Uid, Str>,
    /// Assumed Pods: bound here, but with the binding not yet delivered by the watch, so events about them are older.
    assumed: Tree<Uid, ()>,
    /// Pods that preempted others, each with its nominated node.
    nominated: Vec<(Str, Rc<Object>)>,
    memo: Memo,
    arrivals: u64,
    /// Time of the next cycle, if one is planned.
    awake: Option<Time>,
    /// Time at which the next cycle was planned.
    planned: Time,
    /// Duration of a cycle set by a fault, and the time since when.
    slow: Option<(Duration, Time)>,
    /// Last fault that slowed the scheduler, and the time until when.
    slowed: Option<(EntryId, Time)>,
    /// Time of the last event.
    now: Time,
    /// Time of the next flush of unschedulable Pods, if planned.
    flush: Option<Time>,
}

/// Pod without a node.
#[derive(Clone, Debug)]
struct PendingPod {
    object: Rc<Object>,
    cause: EntryId,
    /// Key in the active queue, if the Pod is queued.
    queued: Option<QueueKey>,
    /// Time since which the Pod is pending.
    since: Time,
    /// Sequence number of its arrival.
    arrived: u64,
    /// Filters of the last refusal, as a set.
    unschedulable_plugins: u16,
    /// Time at which the Pod was last moved to the unschedulable Pods.
    unschedulable_since: Time,
}

/// Time after which an unschedulable Pod that no event has woken is retried at the next flush:
const UNSCHEDULABLE_RETRY_US: u64 = 300 * SECOND;
const FLUSH_PERIOD_US: u64 = 30 * SECOND;
/// Returns upstream's names of the filters, in the order in which they run.
pub fn filter_names() -> impl Iterator<Item = &'static str> {
    filters::ALL.iter().map(|filter| filter.name)
}

/// Returns upstream's names and weights of the scores.
pub fn score_names() -> impl Iterator<Item = (&'static str, i64)> {
    scores::ALL.iter().map(|score| (score.name, score.weight))
}

impl Scheduler {
    /// Returns the number of Pod templates with cached verdicts, and of those that fit no node.
    pub fn cached_templates(&self) -> (usize, usize) {
        self.memo.cached_templates()
    }

    /// Returns the state of the scheduler about each Pod that it knows, as text: where it is queued, placed or counted.
    pub fn pod_states(&self) -> impl Iterator<Item = (Uid, String)> {
        let waits = self.pending.iter().map(|(uid, pod)| {
            let state = (pod.queued.is_some(), pod.unschedulable_plugins);
            (
                *uid,
                format!("{state:?} {}", self.unschedulable.contains_key(uid)),
            )
        });
        let placed = self
            .placed
            .iter()
            .map(|(uid, node)| (*uid, format!("placed {node}")));
        let assumed = self.assumed.keys().map(|uid| (*uid, "assumed".to_owned()));
        let counted = self.nodes.iter().flat_map(|(name, info)| {
            info.pods
                .keys()
                .map(move |uid| (*uid, format!("counted {name}")))
        });
        waits.chain(placed).chain(assumed).chain(counted)
    }

    /// Handles a watch event; returns the time of the next cycle if one has to be planned.
    pub fn observe(&mut self, event: &Event<'_>, id: EntryId, now: Time) -> Option<Time> {
        self.now = now;
        match event.object.kind {
            Kind::Pod => self.observe_pod(event, id),
            Kind::Node => {
                self.observe_node(event);
                self.move_to_active_queue(id, changes_of_node(event), &|_| true);
            }
            Kind::PodDisruptionBudget | Kind::Namespace => {}
            _ => self.move_to_active_queue(id, STORAGE, &|_| true),
        }
        self.plan_cycle(now)
    }

    fn observe_pod(&mut self, event: &Event<'_>, id: EntryId) {
        let (object, pod): (_, &Pod) = (event.object, event.object.body());
        let uid = object.meta.uid;
        let gone = event.op == Op::Deleted || pod.is_terminal();
        if !pod.node_name.is_empty() {
            self.assumed.remove(&uid);
            self.forget(uid);
            let counted = self.nodes.change(&pod.node_name, |node| {
                if gone {
                    node.remove(object)
                } else {
                    node.add(object)
                }
            });
            let smaller = |before: &Pod| {
                let (new, old) = (pod.requests(), before.requests());
                new.cpu < old.cpu || new.memory < old.memory
            };
            if !gone {
                if event.before.and_then(|b| b.pod()).is_some_and(smaller) {
                    self.move_to_active_queue(id, POD_GONE, &|_| true);
                }
                let relabelled = event
                    .before
                    .is_some_and(|b| b.meta.labels != object.meta.labels);
                if counted || relabelled {
                    self.move_to_active_queue(id, POD_PLACED, &|p| {
                        !p.spec
                            .affinity
                            .pod_affinity
                            .required_during_scheduling_ignored_during_execution
                            .is_empty()
                            || !p.spec.topology_spread_constraints.is_empty()
                            || relabelled
                    });
                }
            } else if counted {
                self.move_to_active_queue(id, POD_GONE, &|_| true);
            }
            return;
        }
        if gone || object.meta.is_deleting() {
            if let Some(name) = self.forget(uid) {
                self.nodes.change(&name, |node| node.remove(object));
            }
            return;
        }
        if !pod.spec.scheduling_gates.is_empty()
            || pod.spec.scheduler_name != "default-scheduler"
            || self.assumed.contains_key(&uid)
        {
            return;
        }
        // A status update, written by this scheduler itself, is no reason to retry.
        let changed = event.before.is_none_or(|b| {
            b.pod().is_none_or(|p| p.spec != pod.spec) || b.meta.labels != object.meta.labels
        });
        self.arrivals += 1;
        let (arrived, now) = (self.arrivals, self.now);
        let pending = self.pending.get_or_insert_with(uid, || PendingPod {
            object: object.clone(),
            cause: id,
            queued: None,
            since: now,
            arrived,
            unschedulable_plugins: u16::MAX,
            unschedulable_since: Time::default(),
        });
        pending.object = object.clone();
        if changed {
            self.enqueue(uid, id);
        }
    }

    /// Drops the state of a pending Pod; returns the node it was placed on.
    fn forget(&mut self, uid: Uid) -> Option<Str> {
        if let Some(waiting) = self.pending.remove(&uid).and_then(|p| p.queued) {
            self.active.remove(&waiting);
        }
        self.unschedulable.remove(&uid);
        self.nominated.retain(|(_, o)| o.meta.uid != uid);
        self.placed.remove(&uid)
    }

    fn observe_node(&mut self, event: &Event<'_>) {
        let name = &event.object.meta.name;
        self.nodes.change(name, |node| {
            node.set_node((event.op != Op::Deleted).then_some(event.object))
        });
    }

    fn enqueue(&mut self, uid: Uid, cause: EntryId) {
        let Some(pending) = self.pending.get_mut(&uid) else {
            return;
        };
        self.unschedulable.remove(&uid);
        pending.cause = cause;
        if pending.queued.is_none() {
            self.arrivals += 1;
            let priority = pending.object.body::<Pod>().spec.priority.unwrap_or(0);
            let waiting = (Reverse(priority), self.arrivals, uid);
            pending.queued = Some(waiting);
            pending.since = self.now;
            self.active.insert(waiting, ());
        }
    }

    /// Requeues the Pods that a change may help, in order of arrival.
    fn move_to_active_queue(
        &mut self,
        cause: EntryId,
        changes: ClusterChanges,
        may_help: &dyn Fn(&Pod) -> bool,
    ) {
        if !self.unschedulable.is_empty() {
            self.move_pods(cause, filters::helped_by(changes), may_help);
        }
    }

    fn move_pods(&mut self, cause: EntryId, helps: u16, may_help: &dyn Fn(&Pod) -> bool) {
        let mut found: Vec<(u64, Uid)> = Vec::new();
        for uid in self.unschedulable.keys() {
            let helped =
                |p: &&PendingPod| p.unschedulable_plugins & helps != 0 && may_help(p.object.body());
            if let Some(pending) = self.pending.get(uid).filter(helped) {
                found.push((pending.arrived, *uid));
            }
        }
        found.sort();
        for (_, uid) in found {
            self.enqueue(uid, cause);
        }
    }

    /// Returns the time of the next flush of Pods that no event has woken for five minutes, if it is not planned yet.
    pub fn plan_flush(&mut self) -> Option<Time> {
        // Called after each cycle: must be cheap once planned, however many Pods wait.
        if self.flush.is_some() {
            return None;
        }
        let first = self
            .unschedulable
            .keys()
            .filter_map(|uid| self.pending.get(uid))
            .map(|p| p.unschedulable_since)
            .min()?;
        self.flush = Some(Time(
            first
                .after(UNSCHEDULABLE_RETRY_US)
                .0
                .next_multiple_of(FLUSH_PERIOD_US),
        ));
        self.flush
    }

    /// Requeues Pods that have waited too long; returns the time of the next cycle if one has to be planned.
    pub fn flush(&mut self, now: Time) -> Option<Time> {
        self.flush = None;
        self.now = now;
        let waiting = self
            .unschedulable
            .keys()
            .filter_map(|uid| Some((*uid, self.pending.get(uid)?)));
        let due: Vec<(Uid, EntryId)> = waiting
            .filter(|(_, p)| p.unschedulable_since.after(UNSCHEDULABLE_RETRY_US) <= now)
            .map(|(uid, p)| (uid, p.cause))
            .collect();
        for (uid, cause) in due {
            self.enqueue(uid, cause);
        }
        self.plan_cycle(now)
    }

    /// Schedules the next Pod; returns the time of the next cycle if there are more.
    pub fn cycle(
        &mut self,
        cache: &Cache,
        now: Time,
        out: &mut LoopClient<'_>,
        late: &mut DelayLog,
    ) -> Option<Time> {
        self.now = now;
        if let Some(((_, _, uid), ())) = self.active.pop_first()
            && let Some(pending) = self.pending.get_mut(&uid)
        {
            pending.queued = None;
            out.origin.cause = Some(pending.cause);
            if let Some((fault, _)) = self.slowed.filter(|(_, until)| pending.since < *until) {
                late.pass(out.origin.pass, fault, pending.since, now);
            }
            let object = pending.object.clone();
            self.schedule(&object, object.body(), cache, out);
        }
        self.awake = None;
        self.plan_cycle(now)
    }

    /// Returns the time of the next cycle, if Pods are queued and none is planned.
    fn plan_cycle(&mut self, now: Time) -> Option<Time> {
        if self.active.is_empty() || self.awake.is_some() {
            return None;
        }
        self.planned = now;
        self.awake = Some(now.after(self.slow.map_or(CYCLE_US, |(span, _)| span.max(CYCLE_US))));
        self.awake
    }

    /// Returns true if a cycle is planned for this time.
    pub fn is_due(&self, now: Time) -> bool {
        self.awake == Some(now)
    }

    /// Returns the number of Pods before this one, if it is queued; and start and end of the planned cycle.
    pub fn in_line(&self, uid: Uid) -> Option<(usize, Option<(Time, Time)>)> {
        let own = self.pending.get(&uid)?.queued?;
        Some((
            self.active.keys().take_while(|other| **other < own).count(),
            self.awake.map(|ends| (self.planned, ends)),
        ))
    }

    /// Returns the number of Pods in the active queue.
    pub fn queued(&self) -> usize {
        self.active.len()
    }

    /// Returns the Pods without a node.
    pub fn unplaced(&self) -> impl Iterator<Item = &Rc<Object>> {
        self.pending.values().map(|pending| &pending.object)
    }

    /// Returns the number of Pods without a node.
    pub fn waiting(&self) -> usize {
        self.pending.len()
    }

    /// Returns the Pod whose cycle is planned and the end of the cycle; another Pod may still come before it.
    pub fn under_way(&self) -> Option<(ObjectRef, Time)> {
        let (_, _, uid) = self.active.keys().next()?;
        Some((self.pending.get(uid)?.object.key(), self.awake?))
    }

    /// Returns the duration of a cycle and the time since when, if a fault has slowed it.
    pub fn slowed(&self) -> Option<(Duration, Time)> {
        self.slow
    }

    /// Sets the duration of a cycle; `None` restores normal speed. Returns the time of the next cycle if it comes sooner.
    pub fn slow_down(&mut self, span: Option<Duration>, now: Time, fault: EntryId) -> Option<Time> {
        self.slow = span.map(|span| (span, now));
        if span.is_some() {
            self.slowed = Some((fault, Time(u64::MAX)));
            return None;
        }
        self.slowed = self.slowed.map(|(fault, until)| (fault, until.min(now)));
        self.awake = None;
        self.plan_cycle(now)
    }

    /// Clears everything except the slowdown.
    pub fn restart(&mut self) {
        *self = Scheduler {
            slow: self.slow,
            slowed: self.slowed,
            ..Scheduler::default()
        };
    }

    fn schedule(
        &mut self,
        object: &Rc<Object>,
        pod: &Pod,
        cache: &Cache,
        out: &mut LoopClient<'_>,
    ) {
        if let Some(node) = self.placed.get(&object.meta.uid).cloned() {
            if volumes::all_bound(object, pod, cache) {
                self.bind(
                    object,
                    &node,
                    Why::BestNode {
                        feasible: 0,
                        nodes: 0,
                        score: 0,
                        next: Default::default(),
                        next_score: 0,
                    },
                    out,
                );
            } else {
                self.add_unschedulable(object, filters::volume_binding(), out.store().now);
            }
            return;
        }
        let real = self.nodes.real;
        if let Err(message) = volumes::check(object, pod, cache) {
            let message = format!("0/{real} nodes are available: {message}. not found");
            return self.handle_scheduling_failure(
                object,
                FitError {
                    message,
                    unschedulable_plugins: filters::volume_binding(),
                },
                Nominated::None,
                out,
            );
        }
        let cycle = Cycle::new(object, pod, cache, &self.nodes, &self.nominated);
        let choice = match self.memo.choose(&cycle) {
            Placement::Fits(choice) => {
                debug_assert_eq!(
                    find_best_node(&cycle).ok().as_ref(),
                    Some(&choice),
                    "what is remembered of the nodes still holds"
                );
                Ok(choice)
            }
            Placement::FitsNowhere(error) => {
                debug_assert_eq!(
                    find_best_node(&cycle).map_err(|refused| self
                        .preempt(&cycle, refused, real, out.store().wall())
                        .error),
                    Err(error.clone()),
                    "what refused the last such Pod refuses this one"
                );
                return self.handle_scheduling_failure(object, error, Nominated::None, out);
            }
            Placement::Unknown => find_best_node(&cycle),
        };
        let choice = match choice {
            Ok(choice) => choice,
            Err(refused) => {
                let failure = self.preempt(&cycle, refused, real, out.store().wall());
                if failure.preemption.is_err() {
                    self.memo.refuse(&cycle, &failure.error);
                }
                return self.handle_fit_error(object, failure, out);
            }
        };
        let (feasible, nodes) = (choice.feasible as u32, real as u32);
        let why = Why::BestNode {
            feasible,
            nodes,
            score: choice.score,
            next: choice.next.into(),
            next_score: choice.next_score,
        };
        let node = choice.node;
        if volumes::all_bound(object, pod, cache) {
            self.bind(object, &node, why, out);
        } else {
            volumes::reserve(object, pod, &node, cache, out);
            self.nodes.change(&node, |info| info.add(object));
            self.placed.insert(object.meta.uid, node);
            self.add_unschedulable(object, filters::volume_binding(), out.store().now);
        }
    }

    /// Handles a refused binding: frees the reserved resources. The watch delivers the Pod's current state.
    fn unassigned(&mut self, object: &Rc<Object>, error: &ApiError, out: &mut LoopClient<'_>) {
        if let Some(node) = self.placed.remove(&object.meta.uid) {
            self.nodes.change(&node, |info| info.remove(object));
        }
        if error.reason == StatusReason::Conflict {
            let message = [
                "binding rejected: running Bind plugin \"DefaultBinder\": ",
                &error.message,
            ]
            .concat();
            out.event(object, "Warning", "FailedScheduling", message);
        }
    }
}

/// Reason why a Pod fits no node.
#[derive(Clone, Debug, PartialEq)]
struct FitError {
    message: String,
    /// Refusing filters, as a set.
    unschedulable_plugins: u16,
}

/// Reason why a Pod fits no node, with the result of the preemption.
struct NoFit {
    error: FitError,
    preemption: Result<preemption::Candidate, preemption::NoPreemption>,
}

/// Change of a Pod's nominated node.
enum Nominated {
    Stays,
    None,
    Becomes(Str),
}

/// Returns the changes of a node in a watch event.
fn changes_of_node(event: &Event<'_>) -> ClusterChanges {
    let (Some(new), Some(before)) = (event.object.get::<Node>(), event.before) else {
        return ANY;
    };
    if event.op == Op::Deleted {
        return NODE_GONE;
    }
    let old: &Node = before.body();
    let mut changes = 0;
    if before.meta.labels != event.object.meta.labels {
        changes |= NODE_LABELS;
    }
    if old.spec.taints != new.spec.taints || old.spec.unschedulable != new.spec.unschedulable {
        changes |= NODE_TAINTS;
    }
    if old.status.allocatable != new.status.allocatable {
        changes |= NODE_ALLOCATABLE;
    }
    changes
}
