//! What a person's faults hold up: a loop that is slow, a watch event that is late or lost.

use super::Diagnosis;
use crate::api::network::Service;
use crate::api::{Kind, Object, ObjectRef, Str};
use crate::app::words;
use crate::engine::Sim;
use crate::engine::disturb::InLine;
use crate::engine::journal::Op;
use crate::engine::late::Late;
use crate::engine::waits::{Cure, Fact, Label, Waits};
use crate::scene::format;
use std::rc::Rc;

/// What an object waits for because a person has slowed a loop, or has a watch event be late or lost.
pub fn held_up(sim: &Sim, object: &Object) -> Option<Diagnosis> {
    if !sim.is_held_up() {
        return None;
    }
    let line = sim.waits_for_slow(object).filter(|line| line.works);
    line.map(|line| slow(object, &line)).or_else(|| late(sim, object))
}

/// It is in the queue of a slowed loop that has nothing to do for it.
#[inline(never)]
pub fn idle(sim: &Sim, object: &Object) -> Option<Diagnosis> {
    let line = if sim.is_held_up() { sim.waits_for_slow(object) } else { None };
    line.map(|line| slow(object, &line))
}

fn duration(micros: u64) -> String {
    format::duration(micros / 1000).replace(".0 s", " s")
}

/// Its loop works on others first, or still on it.
#[inline(never)]
fn slow(object: &Object, line: &InLine) -> Diagnosis {
    let (slowed, (took, takes)) = (&line.slowed, line.pass);
    let (name, each): (Str, Str) = (slowed.name.into(), duration(slowed.span).into());
    let waits = match line.before {
        _ if !line.works => Waits::SlowIdle(name),
        0 => Waits::SlowPass { name, each },
        _ => Waits::SlowLoop { name, each },
    };
    let mut out = Diagnosis::new(object, waits);
    if line.before == 0 {
        out.word(Label::Pass, &[&duration(took), " / ", &duration(takes)].concat());
    } else {
        let of = |n: usize| format::count(n);
        out.word(Label::Place, &[&of(line.before + 1), " / ", &of(slowed.waiting.max(line.before + 1))].concat());
        out.word(Label::DoneIn, &duration(takes.saturating_sub(took) + slowed.span.saturating_mul(line.before as u64)));
    }
    out.at(Label::AskedAt, Some(slowed.asked));
    if line.works {
        out.cure(Cure::FullSpeed, slowed.name, "", &[["fault slow ", slowed.name, " none"].concat()]);
    }
    out
}

/// A component has not been told of it, or of what it has to do with.
#[inline(never)]
fn late(sim: &Sim, object: &Object) -> Option<Diagnosis> {
    let uid = object.meta.uid;
    // Of what happened to the object itself first: that is what was asked about.
    if let Some(late) = sim.late(&|_, other| other.meta.uid == uid) {
        return Some(told_late(sim, &object.key(), &late, true));
    }
    let places = object.pod().is_some_and(|pod| pod.node_name.is_empty());
    let selector = object.get::<Service>().map(|service| &service.spec.selector).filter(|selector| !selector.is_empty());
    let about = |component: &str, other: &Object| {
        // Nodes and volumes say to the scheduler where there is room.
        let room = matches!(other.kind, Kind::Node | Kind::PersistentVolume | Kind::PersistentVolumeClaim);
        other.meta.is_controlled_by(uid)
            || places && component == "kube-scheduler" && room
            || other.kind == Kind::Pod
                && other.meta.namespace == object.meta.namespace
                && selector.is_some_and(|selector| selector.iter().all(|(key, value)| other.meta.labels.get(key) == Some(value)))
    };
    let late = sim.late(&about)?;
    Some(told_late(sim, &object.key(), &late, false))
}

/// An object is no more, and some component has not been told so.
#[inline(never)]
pub fn gone(sim: &Sim, key: &ObjectRef) -> Option<Diagnosis> {
    if !sim.is_held_up() {
        return None;
    }
    let late = sim.late(&|_, other| other.key() == *key)?;
    Some(told_late(sim, key, &late, true))
}

#[inline(never)]
fn told_late(sim: &Sim, of: &ObjectRef, late: &Late, own: bool) -> Diagnosis {
    let (component, kind): (Str, Str) = (late.component.into(), late.kind.name().into());
    let told = |(op, object): (Op, &Rc<Object>)| if object.meta.is_deleting() { Op::Deleted } else { op };
    let journal = sim.journal();
    let waits = match journal[late.event as usize].write().filter(|_| own).map(told) {
        _ if late.lost => Waits::LostEvent { component, kind, lists: late.until.is_some() },
        Some(told) => Waits::OwnLate { component, told },
        None => Waits::LateEvent { component, kind },
    };
    let mut out = Diagnosis::of(of.clone(), waits);
    let behind = words::effect(&journal[late.behind as usize]);
    out.facts.push(Fact::Word(if late.lost { Label::LostOf } else { Label::HeldUpBy }, words::plain(&words::in_short(&behind)).into()));
    out.at(if late.lost { Label::ListsAt } else { Label::ArrivesAt }, late.until);
    out.at(Label::AskedAt, late.asked);
    if late.lost {
        out.cure(Cure::ListAnew, late.component, "", &[["fault restart ", late.component].concat()]);
    } else {
        let step = ["fault delay ", &late.kind.name().to_ascii_lowercase(), " none ", late.component].concat();
        out.cure(Cure::LetThrough, late.component, "", &[step]);
    }
    out
}
