//! What a person's faults hold up: a loop that is slow, a watch event that is late or lost.

use super::Diagnosis;
use crate::api::network::Service;
use crate::api::{Kind, Object};
use crate::engine::Sim;
use crate::engine::waits::{Cure, Label, Waits};
use crate::scene::format::duration;

/// What an object waits for because a person has slowed a loop, or has a watch event be late or lost.
pub fn held_up(sim: &Sim, object: &Object) -> Option<Diagnosis> {
    if sim.is_held_up() { slow(sim, object).or_else(|| late(sim, object)) } else { None }
}

/// Its loop works on others first, or still on it.
#[inline(never)]
fn slow(sim: &Sim, object: &Object) -> Option<Diagnosis> {
    let slowed = sim.waits_for_slow(object)?;
    let each = duration(slowed.span / 1000).replace(".0 s", " s");
    let mut out = Diagnosis::new(object, Waits::SlowLoop { name: slowed.name.into(), each: each.into() });
    out.count(Label::Queued, slowed.waiting as i64);
    out.at(Label::AskedAt, Some(slowed.asked));
    out.cure(Cure::FullSpeed, slowed.name, "", &[["fault slow ", slowed.name, " none"].concat()]);
    Some(out)
}

/// A component has not been told of it, or of what it has to do with.
#[inline(never)]
fn late(sim: &Sim, object: &Object) -> Option<Diagnosis> {
    let uid = object.meta.uid;
    let places = object.pod().is_some_and(|pod| pod.node_name.is_empty());
    let selector = object.get::<Service>().map(|service| &service.spec.selector).filter(|selector| !selector.is_empty());
    let about = |component: &str, other: &Object| {
        // Nodes and volumes say to the scheduler where there is room.
        let room = matches!(other.kind, Kind::Node | Kind::PersistentVolume | Kind::PersistentVolumeClaim);
        other.meta.uid == uid
            || other.meta.is_controlled_by(uid)
            || places && component == "kube-scheduler" && room
            || other.kind == Kind::Pod
                && other.meta.namespace == object.meta.namespace
                && selector.is_some_and(|selector| selector.iter().all(|(key, value)| other.meta.labels.get(key) == Some(value)))
    };
    let late = sim.late(&about)?;
    let kind = late.kind.name();
    let (component, of) = (late.component.into(), kind.into());
    let mut out = Diagnosis::new(
        object,
        match late.lost {
            true => Waits::LostEvent { component, kind: of, lists: late.until.is_some() },
            false => Waits::LateEvent { component, kind: of },
        },
    );
    out.word(if late.lost { Label::LostOf } else { Label::HeldUpBy }, &late.behind);
    out.at(if late.lost { Label::ListsAt } else { Label::ArrivesAt }, late.until);
    out.at(Label::AskedAt, late.asked);
    if late.lost {
        out.cure(Cure::ListAnew, late.component, "", &[["fault restart ", late.component].concat()]);
    } else {
        let step = ["fault delay ", &kind.to_ascii_lowercase(), " none ", late.component].concat();
        out.cure(Cure::LetThrough, late.component, "", &[step]);
    }
    Some(out)
}
