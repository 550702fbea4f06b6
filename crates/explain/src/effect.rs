//! Effect of a journal entry as a sentence.

use super::why::sizes;
use super::words::grouped;
use apiserver::Why;
use apiserver::journal::{Entry, Op, Record};
use fault::{Fault, Load, NodeFault};
use i18n::format::{front, volume};
use i18n::{Arg, Message, msg};
use k8s_model::{Body, Kind, Object};
use projection::adapt::status;
use projection::changes::{ChangedField, fields};
use projection::model::PodState;

/// Name of an object in a sentence: a long name keeps its end.
fn name(object: &Object) -> String {
    if matches!(object.body, Body::PersistentVolume(_)) {
        volume(&object.meta.name)
    } else {
        front(&object.meta.name, 26)
    }
}

fn replicas(object: &Object) -> Option<i32> {
    match &object.body {
        Body::ReplicaSet(body) => Some(body.spec.replicas),
        Body::Deployment(body) => Some(body.spec.replicas),
        Body::StatefulSet(body) => Some(body.spec.replicas),
        _ => None,
    }
}

/// Change of a workload's replicas by a write: `3 → 2`; `None` if there was none.
pub fn scaled(before: &Object, after: &Object) -> Option<String> {
    let (from, to) = (replicas(before)?, replicas(after)?);
    (from != to).then(|| sizes(from, to))
}

/// Change of the first container's image in a template by a write; `None` if there was none.
fn new_image(before: &Object, after: &Object) -> Option<String> {
    if !matches!(after.kind, Kind::Deployment | Kind::StatefulSet) {
        return None;
    }
    let (from, to) = (before.first_image()?, after.first_image()?);
    (from != to).then(|| format!("{from} → {to}"))
}

/// Describes the effect of an entry in a sentence.
pub fn effect(entry: &Entry) -> Message {
    match &entry.record {
        Record::Command(command) => msg::effect_ran(&command.line),
        Record::Fault(fault) => injected(fault),
        Record::ClientFault(hit) => msg::effect_client_fault(&hit.call.line, hit.fault.to_string()),
        Record::Forgotten => msg::effect_forgotten(),
        Record::Refused(refused) => msg::effect_rejected(
            refused.key.to_string(),
            refused.error.message.trim_end_matches('.'),
        ),
        Record::Write { op, object, before } => write(entry, *op, object, before.as_deref()),
    }
}

fn injected(fault: &Fault) -> Message {
    let resource = |load: &Load| {
        if load.resource() == "cpu" {
            "CPU"
        } else {
            load.resource()
        }
    };
    match fault {
        Fault::Load(load) => {
            msg::effect_load(resource(load), load.labels(), load.amount().to_string())
        }
        Fault::EndLoad(load) => msg::effect_load(resource(load), load.labels(), "0"),
        Fault::Node(NodeFault::Up, node) => msg::effect_powered_on(node),
        Fault::Node(NodeFault::Down, node) => msg::effect_powered_off(node),
        fault => msg::effect_ran(fault.command_line()),
    }
}

fn write(entry: &Entry, op: Op, object: &Object, before: Option<&Object>) -> Message {
    let (kind, of) = (object.kind, name(object));
    match op {
        Op::Added => return msg::effect_created(kind, of),
        Op::Deleted => return msg::effect_deleted(kind, of),
        Op::Modified => {}
    }
    let Some(before) = before else {
        return msg::effect_changed(kind, of);
    };
    if let Why::Revision { revision } = &entry.why {
        return msg::effect_revision(of, revision);
    }
    if !before.meta.is_deleting() && object.meta.is_deleting() {
        return msg::effect_marked_for_deletion(kind, of);
    }
    match (scaled(before, object), new_image(before, object)) {
        (Some(sizes), Some(images)) => return msg::effect_scaled_image(of, sizes, images),
        (Some(sizes), None) => return msg::effect_scaled(of, sizes),
        (None, _) => {}
    }
    if let (Some(was), Some(is)) = (before.pod(), object.pod()) {
        if was.node_name.is_empty() && !is.node_name.is_empty() {
            return msg::effect_bound(kind, of, &is.node_name);
        }
        let (from, to) = (status(before), status(object));
        if from.1 != to.1 {
            return match to.0 {
                PodState::Ready => msg::effect_became(kind, of, "Ready"),
                PodState::NotReady => msg::effect_running(kind, of),
                PodState::Succeeded => msg::effect_succeeded(kind, of),
                _ => msg::effect_state_changed(kind, of, from.1, to.1),
            };
        }
        if let Why::NoNode { .. } = &entry.why {
            return msg::effect_not_scheduled(kind, of);
        }
        if let Why::Stopped = &entry.why {
            return msg::effect_containers_stopped(kind, of);
        }
        let gone = before
            .meta
            .finalizers
            .iter()
            .find(|finalizer| !object.meta.finalizers.contains(finalizer));
        if let Some(finalizer) = gone {
            return msg::effect_finalizer_removed(kind, of, finalizer);
        }
    }
    // An autoscaler's metrics are more informative than the first condition that changed.
    if object.kind == Kind::HorizontalPodAutoscaler
        && let Some((standing, _)) = super::scaler::state(object)
            .filter(|state| Some(state) != super::scaler::state(before).as_ref())
    {
        return msg::effect_stands(kind, of, standing);
    }
    if let Some(phase) = phases(before, object) {
        return msg::effect_became(kind, of, phase);
    }
    if let Some(turned) = turned(before, object, &of) {
        return turned;
    }
    if let Some(images) = new_image(before, object) {
        return msg::effect_image(of, images);
    }
    if let Some(taint) = tainted(before, object) {
        return taint;
    }
    match field(before, object) {
        Some((path, change)) => msg::effect_field(kind, of, path, change),
        None => msg::effect_changed(kind, of),
    }
}

/// Taint added to or removed from a Node by a write.
fn tainted(before: &Object, object: &Object) -> Option<Message> {
    let (Body::Node(was), Body::Node(is)) = (&before.body, &object.body) else {
        return None;
    };
    let same = |a: &k8s_model::node::Taint, b: &k8s_model::node::Taint| {
        (&a.key, &a.value, &a.effect) == (&b.key, &b.value, &b.effect)
    };
    let (was, is) = (&was.spec.taints, &is.spec.taints);
    let node = name(object);
    if let Some(new) = is
        .iter()
        .find(|taint| !was.iter().any(|old| same(old, taint)))
    {
        return Some(msg::effect_tainted(node, new.to_string()));
    }
    let gone = was
        .iter()
        .find(|taint| !is.iter().any(|new| same(new, taint)))?;
    Some(msg::effect_untainted(gone.to_string(), node))
}

/// Maximum length of a nested object that is shown.
const MAX_OBJECT: usize = 32;

/// Returns the most informative field changed by a write, and its change.
fn field(before: &Object, object: &Object) -> Option<(Message, Message)> {
    // In this order; of the other fields, first those of the object, then bookkeeping.
    const TELLING: [&str; 8] = [
        "status.readyReplicas",
        "status.availableReplicas",
        "status.updatedReplicas",
        "status.replicas",
        "status.succeeded",
        "status.failed",
        "status.active",
        "].status",
    ];
    let rank = |field: &ChangedField| match TELLING.iter().position(|end| field.path.ends_with(end))
    {
        Some(place) => place,
        None if field.is_technical() => 10,
        // Annotations that loops set for each other.
        None if field.path.starts_with("metadata.annotations") => 11,
        None if field.path.starts_with("spec.") => 8,
        None => 9,
    };
    let found = fields(before, object).into_iter().min_by_key(rank)?;
    let (from, to) = found.shown();
    // A zero count may be omitted in the object.
    let none =
        (found.path.starts_with("status.") && found.counts().is_some()).then(|| "0".to_string());
    // Only counts are grouped: a port, a year or a label's value is left as written. A Secret's value is not shown at all.
    let is_count = found.path.starts_with("status.") || found.path.ends_with("replicas");
    let said = |value: &str| {
        if is_count {
            grouped(value)
        } else {
            value.to_string()
        }
    };
    let secret = object.kind == Kind::Secret
        && ["data.", "stringData."]
            .iter()
            .any(|of| found.path.starts_with(of));
    let value = |text: String| Message::only(Arg::Change(text.into()));
    let change = match (from.or(none.clone()), to.or(none)) {
        (_, None) => msg::field_removed(),
        (None, _) if secret => msg::field_set(),
        (_, _) if secret => msg::field_changed(),
        // A large nested object would be too long.
        (None, Some(to)) if found.is_nested() && to.len() > MAX_OBJECT => msg::field_set(),
        (None, Some(to)) => value(said(&to)),
        (Some(_), Some(_)) if found.is_nested() => msg::field_changed(),
        (Some(from), Some(to)) => value(format!("{} → {}", said(&from), said(&to))),
    };
    // A condition is named by its type.
    let path = match found
        .path
        .strip_prefix("status.conditions[")
        .and_then(|rest| rest.split_once(']'))
    {
        Some((of, "" | ".status")) => msg::field_condition(of),
        Some((of, rest)) => msg::field_condition([of, rest].concat()),
        // With little room the field's own name suffices.
        None => Message::state(found.path.strip_prefix("status.").unwrap_or(&found.path)),
    };
    Some((path, change))
}

/// Describes a change of a Node's readiness or of a Job's result.
fn turned(before: &Object, object: &Object, of: &str) -> Option<Message> {
    let kind = object.kind;
    match (&before.body, &object.body) {
        (Body::Node(was), Body::Node(is)) if was.is_ready() != is.is_ready() => {
            let state = if is.is_ready() { "Ready" } else { "NotReady" };
            Some(msg::effect_became(kind, of, state))
        }
        (Body::Node(was), Body::Node(is)) if was.spec.unschedulable != is.spec.unschedulable => {
            Some(match is.spec.unschedulable {
                true => msg::effect_cordoned(kind, of),
                false => msg::effect_uncordoned(kind, of),
            })
        }
        (Body::Job(was), Body::Job(is))
            if was.status.met("Complete").is_none() && is.status.met("Complete").is_some() =>
        {
            Some(msg::effect_completed(kind, of))
        }
        (Body::Job(was), Body::Job(is))
            if was.status.met("Failed").is_none() && is.status.met("Failed").is_some() =>
        {
            Some(msg::effect_failed(kind, of))
        }
        _ => None,
    }
}

fn phases(before: &Object, object: &Object) -> Option<String> {
    let phase = |object: &Object| match &object.body {
        Body::PersistentVolumeClaim(body) => Some(body.status.phase.to_string()),
        Body::PersistentVolume(body) => Some(body.status.phase.to_string()),
        _ => None,
    };
    let (from, to) = (phase(before)?, phase(object)?);
    (from != to).then_some(to)
}
