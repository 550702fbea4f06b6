//! What a request reads of the store.

use crate::api::event::MicroTime;
use crate::api::{Kind, Object, ObjectRef};
use crate::engine::Sim;
use crate::engine::journal::{Entry, Op, Record};
use crate::kubectl::ObjectSelector;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::rc::Rc;

/// An object as clients see it: an Event that came again says when it did last.
pub fn shown(sim: &Sim, object: &Object) -> Value {
    let mut value = object.to_value();
    if object.kind == Kind::Event && value["eventTime"].is_string() && value["lastTimestamp"].is_null() {
        let count = value["count"].as_i64().unwrap_or(1);
        let last = entries_until(sim, object.meta.resource_version).checked_sub(1).and_then(|at| sim.journal().get(at));
        if let Some(entry) = last.filter(|_| count > 1) {
            let last = MicroTime(sim.server().wall_at(entry.time), (entry.time.0 % 1_000_000) as u32);
            value["series"] = json!({ "count": count, "lastObservedTime": last.rfc3339() });
        }
    }
    value
}

/// An object as it is stored, with who set which of its fields.
pub fn stored(sim: &Sim, key: &ObjectRef) -> Option<Value> {
    let mut value = shown(sim, &*sim.seen(key)?);
    let managed = sim.server().managed_fields(key);
    if managed.as_array().is_some_and(|list| !list.is_empty()) {
        value["metadata"]["managedFields"] = managed;
    }
    Some(value)
}

/// The objects of a kind in a namespace (empty: in all) that are selected, one if a name is given.
pub fn objects(sim: &Sim, (kind, namespace, name): (Kind, &str, &str), selection: &ObjectSelector) -> Vec<Value> {
    if !name.is_empty() {
        let found = sim.seen(&ObjectRef::new(kind, namespace, name)).map(|object| shown(sim, &object));
        return found.into_iter().filter(|object| selection.matches(object)).collect();
    }
    let listing = sim.seen_all(kind, (!namespace.is_empty()).then_some(namespace));
    let all = selection.is_empty();
    listing.map(|object| shown(sim, &object)).filter(|object| all || selection.matches(object)).collect()
}

/// The same as it was at a version: what was written since is taken back.
pub fn objects_at(sim: &Sim, version: u64, (kind, namespace): (Kind, &str), selection: &ObjectSelector) -> Vec<Value> {
    let here = |object: &Object| object.kind == kind && (namespace.is_empty() || object.meta.namespace == namespace);
    let mut before: BTreeMap<ObjectRef, Option<Rc<Object>>> = BTreeMap::new();
    for entry in sim.journal().from(entries_until(sim, version)).iter() {
        let Record::Write { op, object, before: old } = &entry.record else { continue };
        if here(object) && !before.contains_key(&object.key()) {
            let old = if *op == Op::Added { None } else { old.clone() };
            before.insert(object.key(), old);
        }
    }
    if before.is_empty() {
        return objects(sim, (kind, namespace, ""), selection);
    }
    let listing = sim.server().listing(kind, (!namespace.is_empty()).then_some(namespace));
    let mut all: BTreeMap<ObjectRef, Rc<Object>> = listing.map(|object| (object.key(), object)).collect();
    for (key, old) in before {
        match old {
            Some(old) => drop(all.insert(key, old)),
            None => drop(all.remove(&key)),
        }
    }
    let values = all.values().map(|object| shown(sim, object));
    values.filter(|object| selection.is_empty() || selection.matches(object)).collect()
}

/// How many entries the journal had when the store was at this version.
pub fn entries_until(sim: &Sim, version: u64) -> usize {
    let entries = sim.journal();
    // Not every entry is a write; the next one that is tells how far this is.
    let newer = |at: usize| {
        let next = entries.from(at).iter().find_map(Entry::write);
        next.is_none_or(|(_, object)| object.meta.resource_version > version)
    };
    let (mut from, mut to) = (0, entries.len());
    while from < to {
        let middle = from.midpoint(to);
        if newer(middle) { to = middle } else { from = middle + 1 }
    }
    from
}
