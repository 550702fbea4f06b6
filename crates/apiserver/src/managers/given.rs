//! Managed fields set by a client: to transfer fields from one manager to another, or to clear them all.
//!
//! Guarantees: invalid or empty managed fields leave the managers unchanged, as do clients that do not know the field.
//! Models `apimachinery/pkg/util/managedfields/internal/{fieldmanager,managedfields,fields}.go`.

use super::super::server::Origin;
use super::super::store::Store;
use super::fields::FieldSet;
use super::{Managed, OWN, managers_of};
use k8s_model::kind::Subresource;
use k8s_model::{ObjectRef, Str, Time, Timestamp};
use serde_json::Value;
use std::rc::Rc;

/// Subresources that managers write.
const PARTS: [Subresource; 6] = [
    Subresource::Main,
    Subresource::Status,
    Subresource::Scale,
    Subresource::Resize,
    Subresource::EphemeralContainers,
    Subresource::Approval,
];

/// Removes managed fields from a client's JSON; returns the origin of a write that sets them, if they differ from those of the
/// object.
pub(crate) fn with_given(
    store: &Store,
    origin: &Origin,
    key: &ObjectRef,
    value: &mut Value,
) -> Origin {
    let given = value
        .pointer_mut("/metadata")
        .and_then(Value::as_object_mut)
        .and_then(|meta| meta.remove("managedFields"));
    let read = given
        .as_ref()
        .and_then(|given| given_managers(store, given));
    let (Some(read), Some(manager)) = (read, origin.manager.as_deref()) else {
        return origin.clone();
    };
    if is_same(&read, &managers_of(store, key)) {
        return origin.clone();
    }
    let manager = super::Manager {
        given: Some(read.into()),
        ..manager.clone()
    };
    Origin {
        manager: Some(Rc::new(manager)),
        ..origin.clone()
    }
}

/// Returns true if managed fields equal those of a text, or change nothing; times are ignored.
pub fn are_managed_fields(store: &Store, given: &Value, current: &str) -> bool {
    let current = serde_json::from_str(current)
        .ok()
        .and_then(|current: Value| given_managers(store, &current))
        .unwrap_or_default();
    given_managers(store, given).is_none_or(|given| is_same(&given, &current))
}

/// Returns the managers set by a client, an empty list to clear them; `None` if they do not decode.
fn given_managers(store: &Store, given: &Value) -> Option<Vec<Managed>> {
    let list = given.as_array()?;
    if list
        .iter()
        .all(|entry| entry.as_object().is_some_and(|entry| entry.is_empty()))
        && list.len() < 2
    {
        return Some(Vec::new());
    }
    let epoch = store.wall_at(Time::default()).seconds();
    let read = |entry: &Value| {
        let text = |field: &str| entry[field].as_str().unwrap_or("");
        let applies = match text("operation") {
            "Apply" => true,
            "Update" => false,
            _ => return None,
        };
        let subresource = PARTS
            .into_iter()
            .find(|part| part.word() == text("subresource"))?;
        let mut fields = entry["fieldsV1"]
            .as_object()
            .filter(|fields| is_set(fields))?
            .clone();
        without_own(&mut fields);
        let seconds = Timestamp::parse(text("time"))
            .map_or(0, |time| time.seconds().saturating_sub(epoch).max(0));
        let time = Time((seconds as u64).saturating_mul(1_000_000));
        Some(Managed {
            manager: Str::from(text("manager")),
            subresource,
            applies,
            time,
            fields,
        })
    };
    let mut all = list.iter().map(read).collect::<Option<Vec<Managed>>>()?;
    all.retain(|managed| !managed.fields.is_empty());
    (!all.is_empty()).then_some(all)
}

/// Returns true if two lists have the same managers with the same fields.
fn is_same(left: &[Managed], right: &[Managed]) -> bool {
    let found = |one: &Managed| {
        right
            .iter()
            .any(|m| m.is(&one.manager, one.subresource, one.applies) && m.fields == one.fields)
    };
    left.len() == right.len() && left.iter().all(found)
}

/// Returns true if a value is a valid field set at every level.
fn is_set(fields: &FieldSet) -> bool {
    fields.iter().all(|(name, below)| {
        let named = name == "."
            || ["f:", "k:", "v:", "i:"]
                .iter()
                .any(|start| name.starts_with(start));
        named && below.as_object().is_some_and(is_set)
    })
}

/// Removes unmanaged fields from a set.
fn without_own(fields: &mut FieldSet) {
    for field in ["f:apiVersion", "f:kind", "."] {
        fields.remove(field);
    }
    let Some(metadata) = fields.get_mut("f:metadata").and_then(Value::as_object_mut) else {
        return;
    };
    metadata.retain(|name, _| {
        name != "." && !OWN.iter().any(|own| name.strip_prefix("f:") == Some(own))
    });
    if metadata.is_empty() {
        fields.remove("f:metadata");
    }
}
