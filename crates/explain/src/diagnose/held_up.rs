//! Delays caused by injected faults: a slow loop, a watch event that is delayed or lost.

use super::finding::Diagnosis;
use crate::waits::{DecidingFact, FactLabel, PendingReason, RemedyKind};
use crate::{effect, words};
use apiserver::Component;
use apiserver::journal::{Op, Record};
use cluster::Sim;
use cluster::slowed::{InLine, is_held_up};
use controller_runtime::process::Process;
use controller_runtime::watch_faults::MissingEvent;
use fault::{Fault, FaultTarget};
use i18n::format;
use k8s_model::network::Service;
use k8s_model::{Kind, Object, ObjectRef, Str};

/// Diagnoses an object that waits because a fault has slowed a loop, or delayed or dropped a watch event.
pub fn held_up(sim: &Sim, object: &Object) -> Option<Diagnosis> {
    held_up_or_idle(sim, object).filter(|found| !matches!(found.waits, PendingReason::SlowIdle(_)))
}

/// Diagnoses like [`held_up`], or reports that the object is in the queue of a slowed loop that has no work for it. The queue is queried
/// only once, since finding out whether a loop has work runs a pass on a copy of the simulation.
pub fn held_up_or_idle(sim: &Sim, object: &Object) -> Option<Diagnosis> {
    if !is_held_up(sim) {
        return None;
    }
    match InLine::of(sim, object) {
        Some(line) if line.works => Some(slow(object, &line)),
        line => late(sim, object).or_else(|| line.map(|line| slow(object, &line))),
    }
}

fn duration(micros: u64) -> String {
    format::span(micros / 1000)
}

/// Returns the name under which a fault slows a component.
fn slowed_name(component: Component) -> &'static str {
    match component {
        Component::Scheduler => Process::Scheduler.name(),
        _ => component.name(),
    }
}

/// Diagnoses an object whose loop processes other keys first, or is still processing it.
fn slow(object: &Object, line: &InLine) -> Diagnosis {
    let (slowed, (took, takes)) = (&line.slowed, line.pass);
    let (name, each): (Str, Str) = (
        slowed_name(slowed.component).into(),
        duration(slowed.span).into(),
    );
    let waits = match line.before {
        _ if !line.works => PendingReason::SlowIdle(name),
        0 => PendingReason::SlowPass { name, each },
        _ => PendingReason::SlowLoop { name, each },
    };
    let mut out = Diagnosis::new(object, waits);
    if line.before == 0 {
        out.word(
            FactLabel::Pass,
            &[&duration(took), " / ", &duration(takes)].concat(),
        );
    } else {
        let of = |n: usize| format::count(n);
        out.word(
            FactLabel::Place,
            &[
                &of(line.before + 1),
                " / ",
                &of(slowed.waiting.max(line.before + 1)),
            ]
            .concat(),
        );
        out.word(
            FactLabel::DoneIn,
            &duration(takes.saturating_sub(took) + slowed.span.saturating_mul(line.before as u64)),
        );
    }
    out.at(FactLabel::AskedAt, Some(slowed.since));
    if line.works {
        out.cure(
            RemedyKind::FullSpeed,
            slowed_name(slowed.component),
            "",
            &[Fault::Slow {
                name: slowed_name(slowed.component).into(),
                pass: None,
            }
            .into()],
        );
    }
    out
}

/// Diagnoses a component that has not received an event of the object or of a related one.
pub fn late(sim: &Sim, object: &Object) -> Option<Diagnosis> {
    let uid = object.meta.uid;
    // Events of the object itself come first.
    if let Some(late) = sim
        .informers
        .missing_event(sim.journal(), &|_, other| other.meta.uid == uid)
    {
        return Some(told_late(sim, &object.key(), &late, true));
    }
    let places = object.pod().is_some_and(|pod| pod.node_name.is_empty());
    let selector = object
        .get::<Service>()
        .map(|service| &service.spec.selector)
        .filter(|selector| !selector.is_empty());
    let about = |process: Process, other: &Object| {
        // Nodes and volumes tell the scheduler where there is room.
        let room = matches!(
            other.kind,
            Kind::Node | Kind::PersistentVolume | Kind::PersistentVolumeClaim
        );
        other.meta.is_controlled_by(uid)
            || places && process == Process::Scheduler && room
            || other.kind == Kind::Pod
                && other.meta.namespace == object.meta.namespace
                && selector.is_some_and(|selector| {
                    selector
                        .iter()
                        .all(|(key, value)| other.meta.labels.get(key) == Some(value))
                })
    };
    let late = sim.informers.missing_event(sim.journal(), &about)?;
    Some(told_late(sim, &object.key(), &late, false))
}

/// Diagnoses an object that is gone, if some component has not received the event.
pub fn gone(sim: &Sim, key: &ObjectRef) -> Option<Diagnosis> {
    if !is_held_up(sim) {
        return None;
    }
    let late = sim
        .informers
        .missing_event(sim.journal(), &|_, other| other.key() == *key)?;
    Some(told_late(sim, key, &late, true))
}

fn told_late(sim: &Sim, of: &ObjectRef, late: &MissingEvent, own: bool) -> Diagnosis {
    let (component, kind): (Str, Str) = (late.process.name().into(), late.kind.name().into());
    // For a gracefully deleted object the first and the last event are shown as its deletion, but not other changes in between.
    let told = |record: &Record| match record {
        Record::Write {
            op: Op::Modified,
            object,
            before: Some(before),
        } if object.meta.is_deleting() && !before.meta.is_deleting() => Some(Op::Deleted),
        Record::Write { op, .. } => Some(*op),
        _ => None,
    };
    let journal = sim.journal();
    let waits = match told(&journal[late.event as usize].record).filter(|_| own) {
        _ if late.lost => PendingReason::LostEvent {
            component,
            kind,
            lists: late.until.is_some(),
        },
        Some(told) => PendingReason::OwnLate { component, told },
        None => PendingReason::LateEvent { component, kind },
    };
    let mut out = Diagnosis::of(of.clone(), waits);
    let behind = effect::effect(&journal[late.behind as usize]);
    out.facts.push(DecidingFact::Said(
        if late.lost {
            FactLabel::LostOf
        } else {
            FactLabel::DelayLogBy
        },
        words::abbreviate_names(&behind),
    ));
    out.at(
        if late.lost {
            FactLabel::ListsAt
        } else {
            FactLabel::ArrivesAt
        },
        late.until,
    );
    out.at(FactLabel::AskedAt, late.asked);
    if late.lost {
        out.cure(
            RemedyKind::ListAnew,
            late.process.name(),
            "",
            &[Fault::Restart {
                component: late.process.name().into(),
            }
            .into()],
        );
    } else {
        let step = Fault::Delay {
            target: FaultTarget::every(late.kind),
            delay: None,
            component: Some(late.process.name().into()),
        };
        out.cure(
            RemedyKind::LetThrough,
            late.process.name(),
            "",
            &[step.into()],
        );
    }
    out
}
