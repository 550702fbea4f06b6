//! Deletes Pods whose node does not exist, and terminated Pods above the threshold.
//!
//! Guarantees: a node has 40 s to come back; its Pods are marked as failed before they are deleted. Of the terminated Pods the
//! evicted are deleted first, then the oldest.
//! Models `pkg/controller/podgc/gc_controller.go`.

use super::{Controller, Event, Watch};
use apiserver::Op;
use apiserver::why::Why;
use apiserver::{ApiError, DeleteOptions, Preconditions, StatusReason};
use apiserver::{Component, ControllerId};
use controller_runtime::client::{Action, LoopClient, PassView};
use controller_runtime::descriptor::{Descriptor, GENERIC};
use controller_runtime::informer::Cache;
use k8s_model::pod::{Pod, PodCondition};
use k8s_model::time::SECOND;
use k8s_model::{Body, Kind, ObjectRef, Time};

/// Period of upstream's checks, and time of the first one.
const PERIOD_US: u64 = 20 * SECOND;
const FIRST_US: u64 = 5 * SECOND;
const QUARANTINE_US: u64 = 40 * SECOND;

/// Planned check.
#[derive(Clone, Copy, Debug)]
struct PlannedCheck {
    due: u64,
}

/// UI descriptor of the controller.
static DESCRIPTOR: Descriptor = Descriptor {
    component: Component::Controller(&ControllerId::new("pod-garbage-collector-controller")),
    aliases: &[],
    title: "pod garbage collector",
    icon: "i-gc",
    lane: "",
    always_shown: false,
    code: GENERIC,
};

/// Pod garbage collector; its keys are nodes, and one key that stands for all terminated Pods.
pub struct PodGarbageCollector;

impl Controller for PodGarbageCollector {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn watches(&self) -> &'static [Watch] {
        &[Watch::Maps(Kind::Node), Watch::Maps(Kind::Pod)]
    }

    /// Wakes a deleted node, and the missing node of a Pod bound to it.
    fn map_event(&self, event: &Event<'_>, cache: &Cache, wake: &mut dyn FnMut(ObjectRef)) {
        let object = event.object;
        let Some(pod) = object.pod() else {
            if event.op == Op::Deleted {
                wake(object.key());
            }
            return;
        };
        let ended = pod.is_terminal()
            && !event
                .before
                .and_then(|b| b.pod())
                .is_some_and(Pod::is_terminal);
        if ended && event.op != Op::Deleted && !object.meta.is_deleting() {
            wake(all_ended());
        }
        let news = event.op != Op::Deleted
            && event
                .before
                .and_then(|b| b.pod())
                .is_none_or(|before| before.node_name != pod.node_name);
        if news && !pod.node_name.is_empty() {
            let node = ObjectRef::new(Kind::Node, "", &pod.node_name);
            if cache.object(&node).is_none() {
                wake(node);
            }
        }
    }

    fn reconcile(
        &self,
        key: &ObjectRef,
        view: &PassView<'_>,
        out: &mut LoopClient<'_>,
    ) -> Result<Action, ApiError> {
        if key.kind == Kind::Pod {
            return collect_ended(view, out);
        }
        if view.cache.object(key).is_some() || out.store().get(key).is_some() {
            out.state.clear();
            return Ok(Action::AwaitChange);
        }
        let now = view.now.0;
        let due = due(next_check(view.now) + QUARANTINE_US, out);
        if now < due {
            return Ok(Action::RequeueAfter(due - now));
        }
        out.state.clear();
        for object in view.cache.pods_on(&key.name) {
            let why = || Why::NodeGone {
                node: key.name.clone(),
            };
            let (wall, generation) = (view.wall, object.meta.generation);
            if !object.body::<Pod>().is_terminal() {
                out.patch_status(&object.key(), why(), |o| {
                    if let Body::Pod(pod) = &mut o.body {
                        pod.status.phase = "Failed".into();
                        let message = "PodGC: node no longer exists";
                        pod.status.set_condition(PodCondition::disruption(
                            "DeletionByPodGC",
                            message,
                            wall,
                            generation,
                        ));
                    }
                })?;
            }
            let how = DeleteOptions {
                grace_period_seconds: Some(0),
                preconditions: Preconditions::of_uid(object.meta.uid),
                ..Default::default()
            };
            match out.delete(&object.key(), how, why()) {
                Err(error) if error.reason != StatusReason::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(Action::AwaitChange)
    }
}

/// Returns the key that stands for all terminated Pods.
fn all_ended() -> ObjectRef {
    ObjectRef::new(Kind::Pod, "", "ended")
}

/// Deletes the terminated Pods above the threshold, at the time of upstream's next check.
fn collect_ended(view: &PassView<'_>, out: &mut LoopClient<'_>) -> Result<Action, ApiError> {
    let now = view.now.0;
    let due = due(next_check(view.now), out);
    if now < due {
        return Ok(Action::RequeueAfter(due - now));
    }
    out.state.clear();
    let mut ended: Vec<_> = view
        .cache
        .list(Kind::Pod)
        .filter(|o| o.body::<Pod>().is_terminal())
        .cloned()
        .collect();
    let surplus = ended.len().saturating_sub(view.config.ended_pods_kept);
    if surplus == 0 {
        return Ok(Action::AwaitChange);
    }
    let why = Why::TooManyEnded {
        ended: ended.len() as u32,
        kept: view.config.ended_pods_kept as u32,
    };
    ended.sort_by_key(|o| {
        (
            o.body::<Pod>().status.reason != "Evicted",
            o.meta.creation_timestamp,
            o.meta.name.clone(),
        )
    });
    for object in &ended[..surplus] {
        let how = DeleteOptions {
            grace_period_seconds: Some(0),
            preconditions: Preconditions::of_uid(object.meta.uid),
            ..Default::default()
        };
        match out.delete(&object.key(), how, why.clone()) {
            Err(error) if error.reason != StatusReason::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(Action::AwaitChange)
}

/// Returns the time of the planned check, which is planned first if there is none.
fn due(first: u64, out: &mut LoopClient<'_>) -> u64 {
    let PlannedCheck { due } = *out.state.get().unwrap_or(&PlannedCheck { due: first });
    out.state.set(PlannedCheck { due });
    due
}

/// Returns the time of upstream's next check.
fn next_check(now: Time) -> u64 {
    let passed = now.0.saturating_sub(FIRST_US).div_ceil(PERIOD_US);
    FIRST_US + passed * PERIOD_US
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_node_is_noticed_within_twenty_seconds() {
        let look = |seconds: u64| next_check(Time(seconds * SECOND)) / SECOND;
        assert_eq!(
            [0, 4, 5, 6, 24, 25, 26].map(look),
            [5, 5, 5, 25, 25, 25, 45]
        );
    }
}
