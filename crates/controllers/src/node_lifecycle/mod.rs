//! Monitors node health: a node without heartbeats becomes Unknown, and conditions become taints.
//!
//! Guarantees: a node with a heartbeat within the grace period is never marked; NoSchedule taints follow the
//! conditions at once, NoExecute taints at the next check, one node per zone every ten seconds, and none while
//! no node at all is ready.
//! Models `pkg/controller/nodelifecycle/node_lifecycle_controller.go`.

mod taints;

use super::{Controller, Event, Watch};
use apiserver::why::Why;
use apiserver::{ApiError, StatusReason};
use apiserver::{Component, ControllerId};
use controller_runtime::client::{Action, LoopClient, PassView};
use controller_runtime::descriptor::{Descriptor, GENERIC};
use controller_runtime::informer::Cache;
use k8s_model::node::{Node, NodeCondition};
use k8s_model::pod::Pod;
use k8s_model::time::{MS, SECOND};
use k8s_model::{Body, Kind, Object, ObjectRef, Str, Time};
use smol_str::format_smolstr;
use std::rc::Rc;

/// Name of the controller.
pub static ID: ControllerId = ControllerId::new("node-lifecycle-controller");
/// Source component of its Events.
static EVENT_SOURCE: ControllerId = ControllerId::new("node-controller");
/// Grace period for the first report of a node.
const STARTUP_GRACE_US: u64 = 60 * SECOND;
/// Conditions reported by a kubelet.
const REPORTED: [&str; 4] = ["Ready", "MemoryPressure", "DiskPressure", "PIDPressure"];
/// Time by which the initial nodes have been observed.
const BOOTSTRAP_US: u64 = 10 * MS;
/// Offset of the check within its period.
const CHECK_OFFSET_US: u64 = 200 * MS;
const TAINT_PASS_US: u64 = 100 * MS;
/// Interval between attempts to update a node's health (`retrySleepTime`).
const HEALTH_RETRY_US: u64 = 20 * MS;
/// Attempts after a refused update of a node, before the next check (`NodeHealthUpdateRetry`).
const UPDATE_RETRIES: u32 = 5;

/// State of a node (`nodeHealthData` and `knownNodeSet`).
#[derive(Clone, Copy, Default, Debug)]
struct NodeState {
    is_registered: bool,
    /// Time of the planned check.
    next_check: Option<Time>,
    /// Refused updates of the node since the last accepted one.
    refusals: u32,
    /// Time of the check that retries to mark Pods not ready whose update was refused.
    unmarked_pods: Option<Time>,
}

impl NodeState {
    /// Returns the time of the planned check, which is planned first if there is none.
    fn plan_check(&mut self, view: &PassView<'_>) -> Time {
        let next = || next_check(view.now, view.config.node_monitor_period);
        *self.next_check.get_or_insert_with(next)
    }
}

/// UI descriptor of the controller.
static DESCRIPTOR: Descriptor = Descriptor {
    component: Component::Controller(&ID),
    aliases: &[&EVENT_SOURCE],
    title: "node lifecycle",
    icon: "i-node",
    lane: "node",
    always_shown: false,
    code: GENERIC,
};

/// Node lifecycle controller; its keys are nodes.
pub struct NodeLifecycle;

impl Controller for NodeLifecycle {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn watches(&self) -> &'static [Watch] {
        &[Watch::For(Kind::Node), Watch::Maps(Kind::Node)]
    }

    fn serves(&self, object: &Object) -> bool {
        matches!(object.kind, Kind::Pod | Kind::Node)
    }

    /// Wakes the nodes that are not ready when the first node becomes ready or the last one not ready: with none ready no Pod is evicted.
    fn map_event(&self, event: &Event<'_>, cache: &Cache, wake: &mut dyn FnMut(ObjectRef)) {
        let ready = |object: &Object| object.body::<Node>().is_ready();
        let changes = event
            .before
            .is_some_and(|before| ready(before) != ready(event.object));
        let name = &event.object.meta.name;
        let is_other = |other: &&Rc<Object>| other.meta.name != *name;
        if changes && !cache.list(Kind::Node).filter(is_other).any(|o| ready(o)) {
            for other in cache.list(Kind::Node).filter(|o| !ready(o)) {
                wake(other.key());
            }
        }
    }

    fn reconcile(
        &self,
        key: &ObjectRef,
        view: &PassView<'_>,
        out: &mut LoopClient<'_>,
    ) -> Result<Action, ApiError> {
        let mut state: NodeState = out.state.take();
        let Some(cached) = view.cache.object(key) else {
            return Ok(gone(state, view, out));
        };
        let action = monitor_health(cached, &mut state, view, out);
        out.state.set(state);
        action
    }
}

/// Checks the health of a node (`monitorNodeHealth`).
fn monitor_health(
    cached: &Rc<Object>,
    state: &mut NodeState,
    view: &PassView<'_>,
    out: &mut LoopClient<'_>,
) -> Result<Action, ApiError> {
    let key = &cached.key();
    // After a refused update the node is read from the API server.
    let latest = (state.refusals > 0)
        .then(|| out.store().get(key).cloned())
        .flatten();
    let object = latest.as_ref().unwrap_or(cached);
    let node: &Node = object.body();
    if view.now < Time(BOOTSTRAP_US) {
        state.is_registered = true;
    }
    taints::sync_no_schedule(object, node, view.wall, out)?;
    let silent = silent_until(object, node, view);
    let all_down = !view
        .cache
        .list(Kind::Node)
        .any(|o| o.body::<Node>().is_ready());
    let change = taints::no_execute_change(node, all_down);
    let overdue = silent.is_some_and(|until| view.now >= until);
    let unmarked = state.unmarked_pods.is_some_and(|due| view.now >= due);
    let pending = !state.is_registered || overdue || change.is_some() || unmarked;
    if !pending {
        state.next_check = state.next_check.filter(|check| view.now < *check);
        return Ok(next_pass(silent, state, view));
    }
    // Upstream does the rest in its periodic check of all nodes, every few seconds.
    let check = state.plan_check(view);
    if view.now < check {
        return Ok(Action::RequeueAfter(check.0 - view.now.0));
    }
    state.next_check = None;
    if !state.is_registered {
        state.is_registered = true;
        let message = format_smolstr!(
            "Node {0} event: Registered Node {0} in Controller",
            key.name
        );
        out.event_as(&EVENT_SOURCE, object, "Normal", "RegisteredNode", message);
    }
    if overdue {
        if mark_silent(object, view, out).is_err() {
            return Ok(retry(state, view));
        }
        state.refusals = 0;
        if node.is_ready() {
            out.event_as(
                &EVENT_SOURCE,
                object,
                "Normal",
                "NodeNotReady",
                format_smolstr!("Node {} status is now: NodeNotReady", key.name),
            );
            mark_pods_not_ready(&key.name, state, view, out);
        }
        // The NoExecute taint follows from the same check, shortly after.
        state.next_check = Some(view.now.after(TAINT_PASS_US));
        return Ok(Action::RequeueAfter(TAINT_PASS_US));
    }
    if unmarked {
        state.unmarked_pods = None;
        if !node.is_ready() {
            mark_pods_not_ready(&key.name, state, view, out);
        }
    }
    let Some((add, remove)) = change else {
        return Ok(next_pass(silent, state, view));
    };
    if add.is_some() && remove.is_empty() {
        match taints::wait_for_turn(object, out.store(), view.wall) {
            Some(0) => {}
            Some(seconds) => return Ok(Action::RequeueAfter(seconds as u64 * SECOND)),
            None => return Ok(Action::RequeueAfter(view.config.node_monitor_period)),
        }
    }
    taints::swap(object, add.as_slice(), &remove, "NoExecute", view.wall, out)?;
    Ok(Action::AwaitChange)
}

/// Schedules another attempt after a refused update of the node, or leaves it to the next check.
fn retry(state: &mut NodeState, view: &PassView<'_>) -> Action {
    state.refusals += 1;
    let mut at = view.now.after(HEALTH_RETRY_US);
    if state.refusals > UPDATE_RETRIES {
        state.refusals = 0;
        at = next_check(view.now.after(1), view.config.node_monitor_period);
    }
    state.next_check = Some(at);
    Action::RequeueAfter(at.0 - view.now.0)
}

/// Requeues the key for the time at which the node, or its Pods, are due to be marked.
fn next_pass(silent: Option<Time>, state: &NodeState, view: &PassView<'_>) -> Action {
    let due = silent.into_iter().chain(state.unmarked_pods).min();
    due.map_or(Action::AwaitChange, |due| {
        Action::RequeueAfter(due.0.saturating_sub(view.now.0))
    })
}

/// Handles a removed node, of which the last state woke the controller.
fn gone(mut state: NodeState, view: &PassView<'_>, out: &mut LoopClient<'_>) -> Action {
    let check = state.plan_check(view);
    if view.now < check {
        out.state.set(state);
        return Action::RequeueAfter(check.0 - view.now.0);
    }
    let entry = out
        .origin
        .cause
        .and_then(|id| out.store().journal().get(id as usize));
    if let Some(object) = entry
        .and_then(|e| e.write())
        .map(|(_, object)| object.clone())
        .filter(|o| o.kind == Kind::Node)
    {
        let message = format_smolstr!(
            "Node {0} event: Removing Node {0} from Controller",
            object.meta.name
        );
        out.event_as(&EVENT_SOURCE, &object, "Normal", "RemovingNode", message);
    }
    Action::AwaitChange
}

fn next_check(now: Time, period: u64) -> Time {
    let phase = CHECK_OFFSET_US % period;
    Time(now.0.saturating_sub(phase).div_ceil(period) * period + phase)
}

/// Returns the time at which an unresponsive node is marked Unknown, or `None` if it already is.
fn silent_until(object: &Object, node: &Node, view: &PassView<'_>) -> Option<Time> {
    if node
        .status
        .conditions
        .iter()
        .any(|c| c.kind == "Ready" && c.status == "Unknown")
    {
        return None;
    }
    let period = view.config.node_monitor_period;
    if !view.heartbeats.has(&object.meta.name) && node.status.conditions.is_empty() {
        // No kubelet has ever reported for the node.
        let since = object
            .meta
            .creation_timestamp
            .map_or(0, |t| t.since(view.config.epoch) * MS);
        return Some(next_check(Time(since + STARTUP_GRACE_US), period));
    }
    let heard = view.heartbeats.silent_since(&object.meta.name)?;
    Some(next_check(
        Time(next_check(heard, period).0 + view.config.node_monitor_grace),
        period,
    ))
}

/// Sets all conditions reported by the kubelet to Unknown.
fn mark_silent(
    object: &Rc<Object>,
    view: &PassView<'_>,
    out: &mut LoopClient<'_>,
) -> Result<Rc<Object>, ApiError> {
    let heard = view
        .heartbeats
        .silent_since(&object.meta.name)
        .unwrap_or_default();
    let why = Why::NodeSilent {
        seconds: (view.now.0.saturating_sub(heard.0)) / SECOND,
    };
    let (wall, created) = (view.wall, object.meta.creation_timestamp);
    out.update_status(object, why, |o| {
        let Body::Node(node) = &mut o.body else {
            return;
        };
        for kind in REPORTED {
            match node.status.conditions.iter_mut().find(|c| c.kind == kind) {
                Some(old) if old.status == "Unknown" => {}
                Some(old) => {
                    old.status = Str::new_static("Unknown");
                    old.reason = Str::new_static("NodeStatusUnknown");
                    old.message = Str::new_static("Kubelet stopped posting node status.");
                    old.last_transition_time = Some(wall);
                }
                None => node.status.conditions.push(NodeCondition {
                    kind: Str::new_static(kind),
                    status: Str::new_static("Unknown"),
                    reason: Str::new_static("NodeStatusNeverUpdated"),
                    message: Str::new_static("Kubelet never posted node status."),
                    last_heartbeat_time: created,
                    last_transition_time: Some(wall),
                }),
            }
        }
    })
}

/// Marks the ready Pods of a node not ready; those whose update is refused are left to the next check.
fn mark_pods_not_ready(
    name: &Str,
    state: &mut NodeState,
    view: &PassView<'_>,
    out: &mut LoopClient<'_>,
) {
    let wall = view.wall;
    let pods = view.cache.pods_on(name);
    for pod in pods.into_iter().filter(|p| p.body::<Pod>().is_ready()) {
        let marked = out.update_status(pod, Why::OnSilentNode { node: name.clone() }, |o| {
            let Body::Pod(body) = &mut o.body else { return };
            if let Some(ready) = body
                .status
                .conditions
                .iter_mut()
                .find(|c| c.kind == "Ready")
            {
                ready.status = Str::new_static("False");
                ready.last_transition_time = Some(wall);
            }
        });
        match marked {
            Ok(marked) => out.event_as(
                &EVENT_SOURCE,
                &marked,
                "Warning",
                "NodeNotReady",
                "Node is not ready",
            ),
            Err(error) if error.reason == StatusReason::NotFound => {}
            Err(_) => {
                let check = next_check(view.now.after(1), view.config.node_monitor_period);
                state.unmarked_pods = Some(check);
            }
        }
    }
}
