//! Event-driven counterpart of the ReplicaSet controller: it acts on what each watch event says, and never compares.
//!
//! A ReplicaSet that appears gets its Pods, a change of `spec.replicas` adds or removes the difference of the two events, a deleted Pod is
//! replaced. A lost or repeated event, a refused write and a restart leave the number of Pods wrong for good: no relist is read, no failure
//! is retried, and what is remembered does not survive a restart. The status is written as the controller writes it. It takes the place of the controller with the fault `event-driven`, for
//! comparison with the level-triggered form; Kubernetes has no such component.

use super::replicaset::{BURST, create_pod, look, next_look, update_status};
use super::{Controller, Event, Watch, deletion_order};
use apiserver::journal::Op;
use apiserver::why::{DrivingEvent, Why};
use apiserver::{ApiError, Component, ControllerId, DeleteOptions};
use controller_runtime::client::{Action, LoopClient, PassView};
use controller_runtime::descriptor::{CodeLine, CodeTag, Descriptor};
use controller_runtime::informer::Cache;
use controller_runtime::key_state::KeyState;
use k8s_model::time::MS;
use k8s_model::workload::ReplicaSet;
use k8s_model::{Kind, Object, ObjectRef, Uid};
use sim_core::tree::Tree;
use std::collections::{BTreeSet, VecDeque};

/// Pseudo-code of the handling of events.
const CODE: &[CodeLine] = &[
    CodeLine::step("for event := range watch {"),
    CodeLine::step("    switch event {"),
    CodeLine::step("    case PodDeleted, ReplicaSetAdded,"),
    CodeLine::step("         ReplicasRaised:"),
    CodeLine::writes("        create(event.Pods)", CodeTag::Create),
    CodeLine::step("    case ReplicasLowered:"),
    CodeLine::writes("        delete(event.Pods)", CodeTag::Delete),
    CodeLine::end("    }"),
    CodeLine::writes("    updateStatus(rs)", CodeTag::Status),
    CodeLine::end("}"),
];

/// UI descriptor of the controller.
static DESCRIPTOR: Descriptor = Descriptor {
    component: Component::Controller(&ControllerId::new("event-driven-replicaset")),
    aliases: &[],
    title: "event-driven",
    icon: "i-replicaset",
    lane: "replicaset",
    always_shown: false,
    code: CODE,
};

/// Event-driven counterpart of the ReplicaSet controller.
pub struct EventDrivenReplicaSets;

/// Memory about a ReplicaSet.
#[derive(Clone, Debug, Default)]
struct Memory {
    /// `spec.replicas` of the last event; `None` before the first.
    replicas: Option<i32>,
    /// Events that have not been acted on, each with the number of Pods that are still to be created or, if negative, deleted.
    pending: VecDeque<(DrivingEvent, i32)>,
    /// Deleted Pods, which are not to be replaced.
    deleted: BTreeSet<Uid>,
}

impl Controller for EventDrivenReplicaSets {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn watches(&self) -> &'static [Watch] {
        &[
            Watch::For(Kind::ReplicaSet),
            Watch::Owns(Kind::ReplicaSet, Kind::Pod),
        ]
    }

    fn remember(&self, event: &Event<'_>, cache: &Cache, states: &mut Tree<ObjectRef, KeyState>) {
        let meta = &event.object.meta;
        let owner = meta.controller().filter(|o| o.is_kind(Kind::ReplicaSet));
        let target = match event.object.kind {
            Kind::ReplicaSet => Some((event.object.key(), meta.uid)),
            _ => owner.and_then(|owner| Some((owner.key(&meta.namespace)?, owner.uid))),
        };
        let Some((key, uid)) = target else { return };
        let is_live = cache
            .object(&key)
            .is_some_and(|set| set.meta.uid == uid && !set.meta.is_deleting());
        if is_live {
            let state = states.get_or_insert_with(key, KeyState::default);
            state.update(|memory: &mut Memory| memory.note(event));
        }
    }

    fn reconcile(
        &self,
        key: &ObjectRef,
        view: &PassView<'_>,
        out: &mut LoopClient<'_>,
    ) -> Result<Action, ApiError> {
        let Some((object, set)) = view.cache.get::<ReplicaSet>(key) else {
            return Ok(Action::AwaitChange);
        };
        let mut memory: Memory = out.state.take();
        let mut budget = BURST as i32;
        while budget > 0
            && let Some((event, left)) = memory.pending.pop_front()
        {
            let pods = left.clamp(-budget, budget);
            budget -= pods.abs();
            if pods != left {
                memory.pending.push_front((event, left - pods));
            }
            let why = Why::EventDriven { event };
            for _ in 0..pods {
                // The event is gone: nothing would retry.
                let _ = create_pod(object, set, why.clone(), out);
            }
            if pods < 0 {
                memory.delete(object, pods.unsigned_abs() as usize, &why, view, out);
            }
        }
        let goes_on = !memory.pending.is_empty();
        out.state.set(memory);
        let (counts, _) = look(object, set, view, out)?;
        let status = update_status(object, set, counts, None, view.wall, out)?;
        Ok(if goes_on {
            Action::RequeueAfter(MS)
        } else {
            next_look(set, &status)
        })
    }
}

impl Memory {
    /// Deletes Pods, in the order in which the controller would, and remembers them.
    fn delete(
        &mut self,
        object: &Object,
        count: usize,
        why: &Why,
        view: &PassView<'_>,
        out: &mut LoopClient<'_>,
    ) {
        let ranked = deletion_order::of_controlled(object, count, view);
        for ranked in ranked.iter().take(count) {
            let (pod, uid) = (ranked.pod.key(), ranked.pod.meta.uid);
            let options = DeleteOptions::of_uid(uid);
            if out.delete(&pod, options, why.clone()).is_ok() {
                self.deleted.insert(uid);
            }
        }
    }

    /// Adds what an event asks for.
    fn note(&mut self, event: &Event<'_>) {
        let before = event.before.and_then(|before| before.get::<ReplicaSet>());
        let before = before.map(|before| before.spec.replicas);
        let event = match (event.op, event.object.get::<ReplicaSet>()) {
            (Op::Added, Some(set)) => {
                self.replicas = Some(set.spec.replicas);
                DrivingEvent::Added {
                    replicas: set.spec.replicas,
                }
            }
            (Op::Modified, Some(set)) => {
                let to = set.spec.replicas;
                match self.replicas.replace(to).or(before) {
                    Some(from) if from != to => DrivingEvent::Scaled { from, to },
                    _ => return,
                }
            }
            (Op::Deleted, None) if !self.deleted.remove(&event.object.meta.uid) => {
                DrivingEvent::PodDeleted
            }
            _ => return,
        };
        self.pending.push_back((event, event.pods()));
    }
}
