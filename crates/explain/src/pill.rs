//! Status pill of an object.

use crate::waits::Health;
use i18n::{Message, msg};
use k8s_model::{Body, Object};
use projection::adapt::status;
use projection::model::PodState;

/// Status pill of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct StatusPill {
    /// Words.
    pub words: Message,
    /// Class that gives the colours: a state of Pods, or a family of kinds; may be empty.
    pub class: &'static str,
    /// Glyph; may be empty.
    pub glyph: &'static str,
}

impl StatusPill {
    fn new(words: Message, class: &'static str, glyph: &'static str) -> StatusPill {
        StatusPill {
            words,
            class,
            glyph,
        }
    }

    /// Creates a pill with the colours and the glyph of a state.
    fn of_state(words: Message, state: PodState) -> StatusPill {
        StatusPill::new(words, state.class(), state.glyph())
    }

    /// Returns the pill of an object; a stuck workload is shown as such, not by its numbers alone.
    pub fn of(object: &Object, health: Health) -> Option<StatusPill> {
        let pill = by_numbers(object)?;
        let counts = matches!(
            object.body,
            Body::Deployment(_) | Body::ReplicaSet(_) | Body::StatefulSet(_) | Body::DaemonSet(_)
        );
        Some(match health {
            Health::Stuck if counts => StatusPill::of_state(pill.words, PodState::Failed),
            _ => pill,
        })
    }
}

/// Returns the pill by the object's numbers alone.
fn by_numbers(object: &Object) -> Option<StatusPill> {
    let all = |ready: i32, desired: i32, well: bool| {
        let state = if ready == desired && well {
            PodState::Ready
        } else {
            PodState::NotReady
        };
        Some(StatusPill::of_state(msg::ready_of(ready, desired), state))
    };
    let of = |ready, desired| all(ready, desired, true);
    let updating = |words: Message| Some(StatusPill::of_state(words, PodState::Creating));
    let bound = |phase: &str| {
        let class = if phase == "Bound" { "storage" } else { "" };
        Some(StatusPill::new(Message::state(phase), class, ""))
    };
    match &object.body {
        Body::Pod(_) => {
            let (state, word) = status(object);
            // There is little room beside the kind.
            let word = if word == PodState::Creating.word() {
                msg::pill_creating()
            } else {
                word
            };
            Some(StatusPill::of_state(word, state))
        }
        // An update is complete when no old Pod is left, and all are available.
        Body::Deployment(body) if body.is_updating() => {
            let (updated, desired) = (body.status.updated_replicas, body.spec.replicas);
            // Thousands use the short form: there is little room beside the kind.
            updating(if desired < 1000 {
                msg::updated_of(updated, desired)
            } else {
                msg::updated_short(updated, desired)
            })
        }
        Body::Deployment(body) => {
            let (spec, status) = (&body.spec, &body.status);
            let well = status.observed_generation >= object.meta.generation
                && status.available_replicas >= spec.replicas;
            all(status.ready_replicas, spec.replicas, well)
        }
        Body::ReplicaSet(body) => of(body.status.ready_replicas, body.spec.replicas),
        Body::StatefulSet(body) if body.is_updating() => updating(msg::updated_of(
            body.status.updated_replicas,
            body.spec.replicas,
        )),
        Body::StatefulSet(body) => of(body.status.ready_replicas, body.spec.replicas),
        Body::DaemonSet(body) => of(
            body.status.number_ready,
            body.status.desired_number_scheduled,
        ),
        Body::PersistentVolumeClaim(_) | Body::PersistentVolume(_) if object.meta.is_deleting() => {
            Some(StatusPill::of_state(
                Message::state("Terminating"),
                PodState::Terminating,
            ))
        }
        Body::PersistentVolumeClaim(body) => bound(&body.status.phase),
        Body::PersistentVolume(body) => bound(&body.status.phase),
        Body::Node(body) if !body.is_ready() => {
            Some(StatusPill::new(Message::state("NotReady"), "failed", ""))
        }
        Body::Node(body) if body.spec.unschedulable => Some(StatusPill::new(
            msg::pill_cordoned(),
            "notready",
            "i-cordon",
        )),
        Body::Node(_) => Some(StatusPill::new(Message::state("Ready"), "ready", "")),
        _ => None,
    }
}
