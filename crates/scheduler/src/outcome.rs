//! Outcomes of a cycle: a binding, a preemption, or an unschedulable Pod.
//!
//! Models `bindingCycle` and `handleSchedulingFailure` of `pkg/scheduler/schedule_one.go`.

use super::framework::{Cycle, Refusal};
use super::node_info::priority;
use super::preemption::NoPreemption;
use super::{FitError, NoFit, Nominated, Scheduler, filters, preemption};
use apiserver::DeleteOptions;
use apiserver::why::Why;
use controller_runtime::client::LoopClient;
use k8s_model::pod::PodCondition;
use k8s_model::{Body, Object, Str, Time, Timestamp};
use smol_str::format_smolstr;
use std::rc::Rc;

impl Scheduler {
    /// Returns the reason why a Pod is unschedulable, and a preemption candidate if one helps.
    pub(super) fn preempt(
        &self,
        cycle: &Cycle<'_>,
        refused: Vec<(Str, Refusal)>,
        real: usize,
        now: Timestamp,
    ) -> NoFit {
        let refusals: Vec<Refusal> = refused.iter().map(|(_, r)| r.clone()).collect();
        let mut text = filters::reasons(real, &refusals);
        if real == 0 {
            let error = FitError {
                message: text,
                unschedulable_plugins: u16::MAX,
            };
            return NoFit {
                error,
                preemption: Err(NoPreemption::NoCandidate(String::new())),
            };
        }
        let unschedulable_plugins = refusals.iter().fold(0, |set, r| set | r.by);
        let preemption = preemption::find(cycle, &refused, now);
        if let Err(none) = &preemption {
            text.push_str(" no new claims to deallocate, preemption: ");
            text.push_str(none.words());
        }
        NoFit {
            error: FitError {
                message: text,
                unschedulable_plugins,
            },
            preemption,
        }
    }

    /// Records that the Pod is unschedulable, and preempts Pods of lower priority if that helps.
    pub(super) fn handle_fit_error(
        &mut self,
        object: &Rc<Object>,
        failure: NoFit,
        out: &mut LoopClient<'_>,
    ) {
        let NoFit { error, preemption } = failure;
        let candidate = match preemption {
            Ok(candidate) => candidate,
            Err(NoPreemption::NotEligible(_)) => {
                return self.handle_scheduling_failure(object, error, Nominated::Stays, out);
            }
            Err(NoPreemption::NoCandidate(_)) => {
                return self.handle_scheduling_failure(object, error, Nominated::None, out);
            }
        };
        let (uid, node) = (object.meta.uid, candidate.node);
        self.handle_scheduling_failure(object, error, Nominated::Becomes(node.clone()), out);
        let why = || Why::Preempted {
            by: object.meta.name.clone(),
        };
        for victim in candidate.victims.iter().filter(|v| !v.meta.is_deleting()) {
            let (wall, generation) = (out.store().wall(), victim.meta.generation);
            // A victim that is already gone has freed its resources.
            let _ = out.patch_status(&victim.key(), why(), |o| {
                if let Body::Pod(pod) = &mut o.body {
                    let message =
                        "default-scheduler: preempting to accommodate a higher priority pod";
                    pod.status.set_condition(PodCondition::disruption(
                        "PreemptionByScheduler",
                        message,
                        wall,
                        generation,
                    ));
                }
            });
            let how = DeleteOptions::of_uid(victim.meta.uid);
            if out.delete(&victim.key(), how, why()).is_ok() {
                out.event(
                    victim,
                    "Normal",
                    "Preempted",
                    format_smolstr!("Preempted by pod {uid} on node {node}"),
                );
            }
        }
        // Pods of lower priority nominated to this node lose their nomination.
        let (lost, kept) = std::mem::take(&mut self.nominated)
            .into_iter()
            .partition(|(at, o)| *at == node && priority(o) < priority(object));
        self.nominated = kept;
        for (_, other) in lost {
            let _ = out.patch_status(&other.key(), why(), |o| {
                if let Body::Pod(pod) = &mut o.body {
                    pod.status.nominated_node_name = Default::default();
                }
            });
            let cause = self.pending.get(&other.meta.uid).map_or(0, |p| p.cause);
            self.enqueue(other.meta.uid, cause);
        }
        self.nominated.push((node, object.clone()));
    }

    pub(super) fn bind(
        &mut self,
        object: &Rc<Object>,
        node: &Str,
        why: Why,
        out: &mut LoopClient<'_>,
    ) {
        let bound = out.bind(object, node, why);
        self.nominated
            .retain(|(_, o)| o.meta.uid != object.meta.uid);
        match bound {
            Ok(bound) => {
                // Assumed immediately, not when the watch delivers the binding: the next cycle must see it.
                self.nodes.change(node, |info| info.add(&bound));
                self.assumed.insert(object.meta.uid, ());
                out.event(
                    &bound,
                    "Normal",
                    "Scheduled",
                    format_smolstr!(
                        "Successfully assigned {}/{} to {node}",
                        object.meta.namespace,
                        object.meta.name
                    ),
                );
            }
            Err(error) => self.unassigned(object, &error, out),
        }
    }

    /// Records the reason why a Pod is unschedulable, and the filters that refused it.
    pub(super) fn handle_scheduling_failure(
        &mut self,
        object: &Rc<Object>,
        FitError {
            message,
            unschedulable_plugins,
        }: FitError,
        nominated: Nominated,
        out: &mut LoopClient<'_>,
    ) {
        out.event(object, "Warning", "FailedScheduling", message.clone());
        let (wall, generation) = (out.store().wall(), object.meta.generation);
        let why = Why::NoNode {
            message: message.as_str().into(),
        };
        if !matches!(nominated, Nominated::Stays) {
            self.nominated
                .retain(|(_, o)| o.meta.uid != object.meta.uid);
        }
        // A Pod deleted in the meantime needs no condition.
        let _ = out.update_status(
            &out.store()
                .get(&object.key())
                .cloned()
                .unwrap_or_else(|| object.clone()),
            why,
            |o| {
                if let Body::Pod(pod) = &mut o.body {
                    match nominated {
                        Nominated::Stays => {}
                        Nominated::None => pod.status.nominated_node_name = Default::default(),
                        Nominated::Becomes(node) => pod.status.nominated_node_name = node.into(),
                    }
                    let old = pod
                        .status
                        .condition("PodScheduled")
                        .filter(|c| c.status == "False")
                        .cloned();
                    if old.as_ref().is_some_and(|c| c.message == message) {
                        return;
                    }
                    pod.status.conditions.retain(|c| c.kind != "PodScheduled");
                    pod.status.conditions.push(PodCondition {
                        kind: "PodScheduled".into(),
                        status: "False".into(),
                        reason: "Unschedulable".into(),
                        message: message.into(),
                        last_transition_time: old
                            .and_then(|c| c.last_transition_time)
                            .or(Some(wall)),
                        observed_generation: generation,
                        ..Default::default()
                    });
                    pod.status.share_conditions();
                }
            },
        );
        self.add_unschedulable(object, unschedulable_plugins, out.store().now);
    }

    /// Parks the Pod until a change that may resolve the refusals.
    pub(super) fn add_unschedulable(
        &mut self,
        object: &Object,
        unschedulable_plugins: u16,
        now: Time,
    ) {
        if let Some(pending) = self.pending.get_mut(&object.meta.uid) {
            pending.unschedulable_plugins = unschedulable_plugins;
            pending.unschedulable_since = now;
        }
        self.unschedulable.insert(object.meta.uid, ());
    }
}
