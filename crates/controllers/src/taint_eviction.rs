//! Deletes Pods that do not tolerate a NoExecute taint of their node, at once or when their time is up.
//!
//! Guarantees: the shortest of several tolerations counts, from the time the first taint was observed; when a node
//! loses its taints, the eviction of its Pods is cancelled.
//! Models `pkg/controller/tainteviction/taint_eviction.go`.

use super::{Controller, Event, Watch};
use apiserver::Op;
use apiserver::why::Why;
use apiserver::{ApiError, DeleteOptions, StatusReason};
use apiserver::{Component, ControllerId};
use controller_runtime::client::{Action, LoopClient, PassView};
use controller_runtime::descriptor::{Descriptor, GENERIC};
use controller_runtime::informer::Cache;
use k8s_model::node::{Node, Taint};
use k8s_model::pod::{Pod, PodCondition, Toleration};
use k8s_model::time::SECOND;
use k8s_model::{Body, Kind, Object, ObjectRef, Time};
use scheduler::tolerates;
use smol_str::format_smolstr;
use std::rc::Rc;

const REASON: &str = "TaintManagerEviction";

/// Eviction of a Pod.
#[derive(Clone, Copy, Debug)]
enum Eviction {
    Scheduled {
        /// Time at which the first taint was observed.
        since: Time,
        /// Time of the eviction.
        due: Time,
    },
    Done,
}

/// UI descriptor of the controller.
static DESCRIPTOR: Descriptor = Descriptor {
    component: Component::Controller(&ControllerId::new("taint-eviction-controller")),
    aliases: &[],
    title: "taint eviction",
    icon: "i-node",
    lane: "node",
    always_shown: false,
    code: GENERIC,
};

/// Taint eviction controller; its keys are Pods.
pub struct TaintEviction;

impl Controller for TaintEviction {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn watches(&self) -> &'static [Watch] {
        &[Watch::Maps(Kind::Node), Watch::Maps(Kind::Pod)]
    }

    fn serves(&self, object: &Object) -> bool {
        matches!(object.kind, Kind::Pod | Kind::Node)
    }

    /// Wakes the Pods of a node whose NoExecute taints change, and a Pod bound to a tainted node.
    fn map_event(&self, event: &Event<'_>, cache: &Cache, wake: &mut dyn FnMut(ObjectRef)) {
        let object = event.object;
        if event.op == Op::Deleted {
            return;
        }
        if object.kind == Kind::Node {
            if !forcing(object).eq(event.before.into_iter().flat_map(forcing)) {
                for pod in cache.pods_on(&object.meta.name) {
                    wake(pod.key());
                }
            }
            return;
        }
        let pod: &Pod = object.body();
        let same = |before: &Pod| before.node_name == pod.node_name && before.spec == pod.spec;
        if pod.node_name.is_empty() || event.before.and_then(|b| b.pod()).is_some_and(same) {
            return;
        }
        if cache
            .object(&ObjectRef::new(Kind::Node, "", &pod.node_name))
            .is_some_and(|node| forcing(node).next().is_some())
        {
            wake(object.key());
        }
    }

    fn reconcile(
        &self,
        key: &ObjectRef,
        view: &PassView<'_>,
        out: &mut LoopClient<'_>,
    ) -> Result<Action, ApiError> {
        let Some((object, pod)) = view.cache.get::<Pod>(key) else {
            return Ok(Action::AwaitChange);
        };
        let node = view
            .cache
            .object(&ObjectRef::new(Kind::Node, "", &pod.node_name));
        let taints: Vec<&Taint> = node.into_iter().flat_map(forcing).collect();
        if taints.is_empty() {
            let eviction = out.state.get::<Eviction>().copied();
            out.state.clear();
            if let Some(Eviction::Scheduled { .. }) = eviction {
                out.event(
                    object,
                    "Normal",
                    REASON,
                    format_smolstr!("Cancelling deletion of Pod {}/{}", key.namespace, key.name),
                );
            }
            return Ok(Action::AwaitChange);
        }
        let (since, earlier) = match out.state.get::<Eviction>() {
            Some(Eviction::Done) => return Ok(Action::AwaitChange),
            Some(Eviction::Scheduled { since, due }) => (*since, *due),
            None => (view.now, Time(u64::MAX)),
        };
        let Some(seconds) = tolerated_for(&pod.spec.tolerations, &taints) else {
            return Ok(Action::AwaitChange);
        };
        // A longer toleration added later does not postpone an eviction that is already due earlier.
        let tolerated = (seconds as u64).saturating_mul(SECOND);
        let due = earlier.min(since.after(tolerated));
        if view.now < due {
            out.state.set(Eviction::Scheduled { since, due });
            return Ok(Action::RequeueAfter(due.0 - view.now.0));
        }
        out.state.set(Eviction::Done);
        evict(object, seconds, view, out)?;
        Ok(Action::AwaitChange)
    }
}

/// Returns the NoExecute taints of a node.
pub fn forcing(node: &Rc<Object>) -> impl Iterator<Item = &Taint> {
    let taints = node.get::<Node>().map_or(&[][..], |node| &node.spec.taints);
    taints.iter().filter(|t| t.effect == "NoExecute")
}

/// Returns the seconds for which all taints are tolerated; `None` if indefinitely.
pub fn tolerated_for(tolerations: &[Toleration], taints: &[&Taint]) -> Option<i64> {
    let mut shortest: Option<i64> = None;
    for taint in taints {
        // The first of several tolerations of a taint counts.
        let toleration = tolerations
            .iter()
            .find(|t| tolerates(std::slice::from_ref(t), taint));
        let Some(toleration) = toleration else {
            return Some(0);
        };
        if let Some(seconds) = toleration.toleration_seconds {
            let seconds = seconds.max(0);
            shortest = Some(shortest.map_or(seconds, |s| s.min(seconds)));
        }
    }
    shortest
}

fn evict(
    object: &Rc<Object>,
    seconds: i64,
    view: &PassView<'_>,
    out: &mut LoopClient<'_>,
) -> Result<(), ApiError> {
    let (key, node) = (object.key(), object.body::<Pod>().node_name.clone());
    out.event(
        object,
        "Normal",
        REASON,
        format_smolstr!("Marking for deletion Pod {}/{}", key.namespace, key.name),
    );
    let why = || Why::NotTolerated {
        node: node.clone(),
        seconds,
    };
    let (wall, generation) = (view.wall, object.meta.generation);
    let marked = out.patch_status(&key, why(), |o| {
        if let Body::Pod(pod) = &mut o.body {
            let message = "Taint manager: deleting due to NoExecute taint";
            pod.status.set_condition(PodCondition::disruption(
                "DeletionByTaintManager",
                message,
                wall,
                generation,
            ));
        }
    });
    match marked.and_then(|_| out.delete(&key, DeleteOptions::of_uid(object.meta.uid), why())) {
        Err(error) if error.reason != StatusReason::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_toleration_counts_and_none_means_at_once() {
        let taint = |key: &str| Taint {
            key: key.into(),
            effect: "NoExecute".into(),
            ..Default::default()
        };
        let tolerate = |key: &str, seconds: Option<i64>| Toleration {
            key: key.into(),
            operator: "Exists".into(),
            toleration_seconds: seconds,
            ..Default::default()
        };
        let (a, b) = (taint("a"), taint("b"));
        let cases = [
            (vec![], vec![&a], Some(0)),
            (vec![tolerate("a", None)], vec![&a], None),
            (vec![tolerate("a", Some(10))], vec![&a], Some(10)),
            (
                vec![tolerate("a", Some(10)), tolerate("b", Some(5))],
                vec![&a, &b],
                Some(5),
            ),
            (
                vec![tolerate("a", Some(10)), tolerate("b", None)],
                vec![&a, &b],
                Some(10),
            ),
            (vec![tolerate("a", Some(10))], vec![&a, &b], Some(0)),
            (vec![tolerate("a", Some(-3))], vec![&a], Some(0)),
        ];
        for (tolerations, taints, expected) in cases {
            assert_eq!(
                tolerated_for(&tolerations, &taints),
                expected,
                "{tolerations:?}"
            );
        }
    }
}
