//! Reads of the store for requests.

use super::cluster::Cluster;
use apiserver::ManagedHistory;
use apiserver::journal::{Entry, Op, Record};
use cluster::Sim;
use k8s_model::{Kind, Object, ObjectRef};
use kubectl::ObjectSelector;
use serde_json::Value;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Object as clients see it, with its managed fields: these are large, so that they stay text.
pub struct RenderedObject {
    pub value: Value,
    managers: String,
}

impl RenderedObject {
    /// Creates it from an object whose kind's managed fields are up to date.
    pub fn of(
        sim: &Sim,
        managed: &ManagedHistory,
        object: &Object,
        value: Value,
    ) -> RenderedObject {
        RenderedObject {
            value,
            managers: managed.text(sim.server(), object),
        }
    }

    /// Creates it from a value that is not stored in this form.
    pub fn plain(value: Value) -> RenderedObject {
        RenderedObject {
            value,
            managers: String::new(),
        }
    }

    /// Returns its metadata as JSON.
    pub fn metadata(&self) -> String {
        let mut text = self.value["metadata"].to_string();
        if !self.managers.is_empty() && text.ends_with('}') {
            text.pop();
            text.push_str(if text.len() > 1 {
                ",\"managedFields\":"
            } else {
                "\"managedFields\":"
            });
            text.push_str(&self.managers);
            text.push('}');
        }
        text
    }

    /// Returns the whole object as JSON.
    pub fn text(&self) -> String {
        let Some(map) = self.value.as_object() else {
            return self.value.to_string();
        };
        let field = |(key, value): (&String, &Value)| {
            let value = if key == "metadata" {
                self.metadata()
            } else {
                value.to_string()
            };
            format!("{}:{value}", Value::from(key.as_str()))
        };
        format!(
            "{{{}}}",
            map.iter().map(field).collect::<Vec<_>>().join(",")
        )
    }
}

/// Returns a stored object.
pub fn stored(cluster: &mut Cluster, key: &ObjectRef) -> Option<RenderedObject> {
    let (sim, managed) = cluster.managed(key.kind);
    selected(sim, managed, &*sim.seen(key)?, &ObjectSelector::default())
}

/// Returns the selected objects of a kind in a namespace (empty: all), or a single one if a name is given.
pub fn objects(
    cluster: &mut Cluster,
    (kind, namespace, name): (Kind, &str, &str),
    selection: &ObjectSelector,
) -> Vec<RenderedObject> {
    let (sim, managed) = cluster.managed(kind);
    if !name.is_empty() {
        let found = sim
            .seen(&ObjectRef::new(kind, namespace, name))
            .and_then(|object| selected(sim, managed, &object, selection));
        return found.into_iter().collect();
    }
    let listing = sim.seen_all(kind, (!namespace.is_empty()).then_some(namespace));
    listing
        .filter_map(|object| selected(sim, managed, &object, selection))
        .collect()
}

fn selected(
    sim: &Sim,
    managed: &ManagedHistory,
    object: &Object,
    selection: &ObjectSelector,
) -> Option<RenderedObject> {
    let value = object.to_value();
    (selection.is_empty() || selection.matches(&value))
        .then(|| RenderedObject::of(sim, managed, object, value))
}

/// Returns the selected objects as of a resourceVersion: later writes are undone.
pub fn objects_at(
    cluster: &mut Cluster,
    version: u64,
    (kind, namespace): (Kind, &str),
    selection: &ObjectSelector,
) -> Vec<RenderedObject> {
    let here = |object: &Object| {
        object.kind == kind && (namespace.is_empty() || object.meta.namespace == namespace)
    };
    let mut before: BTreeMap<ObjectRef, Option<Rc<Object>>> = BTreeMap::new();
    let (sim, managed) = cluster.managed(kind);
    for entry in sim.journal().from(entries_until(sim, version)).iter() {
        let Record::Write {
            op,
            object,
            before: old,
        } = &entry.record
        else {
            continue;
        };
        if here(object) && !before.contains_key(&object.key()) {
            let old = if *op == Op::Added { None } else { old.clone() };
            before.insert(object.key(), old);
        }
    }
    if before.is_empty() {
        return objects(cluster, (kind, namespace, ""), selection);
    }
    let listing = sim
        .server()
        .listing(kind, (!namespace.is_empty()).then_some(namespace));
    let mut all: BTreeMap<ObjectRef, Rc<Object>> =
        listing.map(|object| (object.key(), object)).collect();
    for (key, old) in before {
        match old {
            Some(old) => drop(all.insert(key, old)),
            None => drop(all.remove(&key)),
        }
    }
    all.values()
        .filter_map(|object| selected(sim, managed, object, selection))
        .collect()
}

/// Number of journal entries when the store was at a resourceVersion.
pub fn entries_until(sim: &Sim, version: u64) -> usize {
    let entries = sim.journal();
    // Not every entry is a write; the next write gives the version.
    let newer = |at: usize| {
        let next = entries.from(at).iter().find_map(Entry::write);
        next.is_none_or(|(_, object)| object.meta.resource_version > version)
    };
    let (mut from, mut to) = (0, entries.len());
    while from < to {
        let middle = from.midpoint(to);
        if newer(middle) {
            to = middle
        } else {
            from = middle + 1
        }
    }
    from
}
