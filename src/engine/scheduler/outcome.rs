//! Outcomes of a cycle: a binding, a preemption, or an unschedulable Pod.
//!
//! Models `bindingCycle` and `handleSchedulingFailure` of `pkg/scheduler/schedule_one.go`.

use super::framework::{Cycle, Refusal};
use super::node_info::{self, priority};
use super::{NoFit, Scheduler, filters, preemption};
use crate::api::pod::PodCondition;
use crate::api::{Body, Object, Str, Time, Timestamp};
use crate::engine::out::Out;
use crate::engine::store::Delete;
use crate::engine::why::Why;
use smol_str::format_smolstr;
use std::rc::Rc;

impl Scheduler {
    /// The message of an unschedulable Pod, the filters that refused it, and a candidate for preemption.
    pub(super) fn preempt(&self, cycle: &Cycle<'_>, refused: Vec<(Str, Refusal)>, real: usize, now: Timestamp) -> NoFit {
        let refusals: Vec<Refusal> = refused.iter().map(|(_, r)| r.clone()).collect();
        let mut text = filters::reasons(real, &refusals);
        if real == 0 {
            return (text, u16::MAX, None);
        }
        let refused_by = refusals.iter().fold(0, |set, r| set | r.by);
        match preemption::find(cycle, &refused, now) {
            Ok(candidate) => (text, refused_by, Some(candidate)),
            Err(why) => {
                text.push_str(" no new claims to deallocate, preemption: ");
                text.push_str(&why);
                (text, refused_by, None)
            }
        }
    }

    /// Records that the Pod is unschedulable, and preempts Pods of lower priority if that helps.
    pub(super) fn give_up(&mut self, object: &Rc<Object>, failure: NoFit, out: &mut Out<'_>) {
        let (message, refused_by, candidate) = failure;
        let Some(candidate) = candidate else { return self.fail(object, (message, refused_by, None), out) };
        let (uid, node) = (object.meta.uid, candidate.node);
        self.fail(object, (message, refused_by, Some(node.clone())), out);
        let why = || Why::Preempted { by: object.meta.name.clone() };
        for victim in candidate.victims.iter().filter(|v| !v.meta.is_deleting()) {
            let (wall, generation) = (out.server.wall(), victim.meta.generation);
            // A victim that is already gone has freed its resources.
            let _ = out.patch(&victim.key(), why(), |o| {
                if let Body::Pod(pod) = &mut o.body {
                    let message = "default-scheduler: preempting to accommodate a higher priority pod";
                    pod.status.set_condition(PodCondition::disruption("PreemptionByScheduler", message, wall, generation));
                }
            });
            let how = Delete { uid: Some(victim.meta.uid), ..Default::default() };
            if out.delete(&victim.key(), how, why()).is_ok() {
                out.event(victim, "Normal", "Preempted", format_smolstr!("Preempted by pod {uid} on node {node}"));
            }
        }
        // Pods of lower priority nominated to this node lose their nomination.
        let (lost, kept) =
            std::mem::take(&mut self.nominated).into_iter().partition(|(at, o)| *at == node && priority(o) < priority(object));
        self.nominated = kept;
        for (_, other) in lost {
            let _ = out.patch(&other.key(), why(), |o| {
                if let Body::Pod(pod) = &mut o.body {
                    pod.status.nominated_node_name = Str::default();
                }
            });
            let cause = self.pending.get(&other.meta.uid).map_or(0, |p| p.cause);
            self.enqueue(other.meta.uid, cause);
        }
        self.nominated.push((node, object.clone()));
    }

    pub(super) fn bind(&mut self, object: &Rc<Object>, node: &Str, why: Why, out: &mut Out<'_>) {
        let (wall, generation) = (out.server.wall(), object.meta.generation);
        let home = self.nodes.get(node).and_then(|info| info.node.clone());
        let bound = out.bind(object, why, |o| {
            // A Pod gets the region and zone labels of its node.
            for key in [node_info::REGION, node_info::ZONE] {
                if let Some(value) = home.as_ref().and_then(|home| home.meta.label(key)) {
                    Rc::make_mut(&mut o.meta.labels).insert(key.into(), value.clone());
                }
            }
            if let Body::Pod(pod) = &mut o.body {
                pod.node_name = node.clone();
                pod.status.nominated_node_name = Str::default();
                pod.status.conditions.retain(|c| c.kind != "PodScheduled");
                pod.status.conditions.reserve_exact(1);
                pod.status.conditions.push(PodCondition {
                    kind: "PodScheduled".into(),
                    status: "True".into(),
                    last_transition_time: Some(wall),
                    observed_generation: generation,
                    ..Default::default()
                });
                pod.status.share_conditions();
            }
        });
        self.nominated.retain(|(_, o)| o.meta.uid != object.meta.uid);
        match bound {
            Ok(bound) => {
                // Counted at once, not when the watch delivers it: the next cycle must see it.
                self.nodes.change(node, |info| info.add(&bound));
                self.assumed.insert(object.meta.uid, ());
                out.event(
                    &bound,
                    "Normal",
                    "Scheduled",
                    format_smolstr!("Successfully assigned {}/{} to {node}", object.meta.namespace, object.meta.name),
                );
            }
            Err(error) => self.unassigned(object, &error, out),
        }
    }

    pub(super) fn fail(&mut self, object: &Rc<Object>, (message, refused_by, nominee): (String, u16, Option<Str>), out: &mut Out<'_>) {
        out.event(object, "Warning", "FailedScheduling", message.clone());
        let (wall, generation) = (out.server.wall(), object.meta.generation);
        let why = Why::NoNode { message: message.as_str().into() };
        // While a victim is still terminating, the Pod keeps its nominated node.
        let keeps = message.ends_with("nominated node.") || message.ends_with("=Never.");
        if !keeps {
            self.nominated.retain(|(_, o)| o.meta.uid != object.meta.uid);
        }
        // A Pod deleted in the meantime needs no condition.
        let _ = out.update_status(&out.server.get(&object.key()).cloned().unwrap_or_else(|| object.clone()), why, |o| {
            if let Body::Pod(pod) = &mut o.body {
                if !keeps {
                    pod.status.nominated_node_name = nominee.unwrap_or_default();
                }
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
                pod.status.share_conditions();
            }
        });
        self.set_aside(object, refused_by, out.server.now);
    }

    /// Parks the Pod until a change that may resolve the refusals.
    pub(super) fn set_aside(&mut self, object: &Object, refused_by: u16, now: Time) {
        if let Some(pending) = self.pending.get_mut(&object.meta.uid) {
            pending.refused_by = refused_by;
            pending.aside = now;
        }
        self.unschedulable.insert(object.meta.uid, ());
    }
}
