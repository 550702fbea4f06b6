//! What a request reads of the store.

use crate::api::{Kind, ObjectRef};
use crate::engine::Sim;
use crate::kubectl::Selection;
use serde_json::Value;

/// An object as it is stored, with who set which of its fields.
pub fn stored(sim: &Sim, key: &ObjectRef) -> Option<Value> {
    let mut value = sim.get(key)?.to_value();
    let managed = sim.server().managed_fields(key);
    if managed.as_array().is_some_and(|list| !list.is_empty()) {
        value["metadata"]["managedFields"] = managed;
    }
    Some(value)
}

/// The objects of a kind in a namespace (empty: in all) that are selected, one if a name is given.
pub fn objects(sim: &Sim, (kind, namespace, name): (Kind, &str, &str), selection: &Selection) -> Vec<Value> {
    if !name.is_empty() {
        let found = sim.get(&ObjectRef::new(kind, namespace, name)).map(|object| object.to_value());
        return found.into_iter().filter(|object| selection.matches(object)).collect();
    }
    let listing = sim.server().listing(kind, (!namespace.is_empty()).then_some(namespace));
    let all = selection.is_empty();
    listing.map(|object| object.to_value()).filter(|object| all || selection.matches(object)).collect()
}
