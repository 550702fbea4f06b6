//! Managed fields, and server-side apply.
//!
//! Guarantees: managed fields cost ordinary writes nothing. They are derived from the journal on demand: each write
//! of an object is compared with the version before; only applied field sets, which no comparison shows, are stored there.
//! Models `apimachinery/pkg/util/managedfields` and `structured-merge-diff/v6/merge`.

mod apply;
mod fields;
mod given;
mod history;
mod manager;
mod typed;

use super::server::Origin;
use super::store::Store;
use crate::journal::{Entry, Op, Record};
use crate::why::Why;
use fields::{FieldSet, Shape};
pub use given::are_managed_fields;
pub(super) use given::with_given;
pub use history::ManagedHistory;
use k8s_model::kind::Subresource;
use k8s_model::meta::LAST_APPLIED;
use k8s_model::object::compared;
use k8s_model::{Kind, Object, ObjectRef, Str, Time};
pub use manager::{DuplicateField, Manager, Unknown};
pub(super) use manager::{Fields, Managed};
use serde_json::{Map, Value, json};
use std::rc::Rc;

/// Metadata fields set by the server, which have no manager.
const OWN: [&str; 10] = [
    "name",
    "namespace",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "selfLink",
    "uid",
    "generation",
    "managedFields",
    "resourceVersion",
];

/// Returns `metadata.managedFields` of an object, in the server's order.
pub fn managed_fields(store: &Store, key: &ObjectRef) -> Value {
    let mut all = managers_of(store, key);
    all.sort_by_key(|m| (!m.applies, m.time, m.manager.clone(), m.subresource.word()));
    let entry = |m: Managed| {
        let mut entry = json!({"apiVersion": key.kind.api_version(), "fieldsType": "FieldsV1", "fieldsV1": m.fields, "manager": m.manager.as_str(),
            "operation": if m.applies { "Apply" } else { "Update" }, "time": store.wall_at(m.time).rfc3339()});
        if !m.subresource.is_main() {
            entry["subresource"] = m.subresource.word().into();
        }
        entry
    };
    all.into_iter().map(entry).collect()
}

/// Returns the managers of a live object, from its creation on.
fn managers_of(store: &Store, key: &ObjectRef) -> Vec<Managed> {
    let mut all = Vec::new();
    for entry in store.writes_of(key) {
        let Record::Write { op, object, before } = &entry.record else {
            continue;
        };
        if let Some(write) = FieldWrite::of(entry, *op, object, before.as_deref()) {
            write.apply(&mut all);
        }
    }
    all
}

/// Effect of a write on the managed fields of an object.
struct FieldWrite<'a> {
    entry: &'a Entry,
    kind: Kind,
    name: Str,
    subresource: Subresource,
    applies: bool,
    changes: fields::Changes,
    /// Changed or removed fields.
    touched: FieldSet,
    /// True if the write migrates from client-side apply: the object before had its annotation.
    migrates: bool,
}

impl<'a> FieldWrite<'a> {
    /// Returns the field write of an entry; `None` if it affects no manager.
    fn of(
        entry: &'a Entry,
        op: Op,
        object: &Object,
        before: Option<&Object>,
    ) -> Option<FieldWrite<'a>> {
        let (kind, shape) = (object.kind, Shape::of_kind(object.kind));
        let begins_deletion =
            object.meta.is_deleting() && before.is_some_and(|before| !before.meta.is_deleting());
        let changes = match (op, before) {
            // A deletion manages no fields, though it may set finalizers and the phase of a namespace.
            (Op::Modified, Some(_)) if begins_deletion => return None,
            (Op::Modified, Some(before)) => {
                let submitted = match entry.manager.as_deref().map(|manager| &manager.fields) {
                    Some(Fields::Submitted(submitted)) => submitted,
                    _ => object,
                };
                let (before, after) = compared(before, submitted);
                fields::compare(shape, &plain(before), &plain(after))
            }
            (Op::Added, _) => {
                let mut value = plain(object.to_value());
                value.as_object_mut().map(|map| map.remove("status"));
                fields::compare(shape, &json!({}), &value)
            }
            _ => return None,
        };
        let mut changes = changes;
        if entry
            .manager
            .as_deref()
            .is_some_and(|m| m.applies && m.name == KUBECTL)
        {
            // The server keeps the annotation of client-side apply up to date, which changes no manager.
            changes.changed = fields::difference(&changes.changed, &last_applied(kind));
        }
        let touched = fields::union(&changes.changed, &changes.removed);
        let named = entry.manager.as_deref();
        let migrates = op == Op::Modified
            && named.is_some_and(|m| m.migrates)
            && before.is_some_and(|before| before.meta.annotation(LAST_APPLIED).is_some());
        let (name, subresource) = match named {
            Some(manager) => (manager.name.clone(), manager.subresource),
            None => (
                Str::new_static(entry.actor.component.manager()),
                part(&entry.why, kind, &touched),
            ),
        };
        let applies = named.is_some_and(|m| m.applies);
        let concerns = applies || !touched.is_empty() || named.is_some_and(|m| m.given.is_some());
        concerns.then_some(FieldWrite {
            entry,
            kind,
            name,
            subresource,
            applies,
            changes,
            touched,
            migrates,
        })
    }

    /// Returns the managers set by the client in place of the existing ones.
    fn given(&self) -> Option<&'a [Managed]> {
        self.entry.manager.as_deref()?.given.as_deref()
    }

    /// Applies the write to the managers.
    fn apply(self, all: &mut Vec<Managed>) {
        let is_new = matches!(self.entry.record, Record::Write { op: Op::Added, .. });
        if let Some(given) = self.given() {
            *all = given.to_vec();
            if !self.applies && self.touched.is_empty() {
                return;
            }
        }
        let FieldWrite {
            entry,
            kind,
            name,
            subresource,
            applies,
            changes,
            touched,
            migrates,
        } = self;
        for other in all
            .iter_mut()
            .filter(|m| !m.is(&name, subresource, applies))
        {
            other.fields = fields::difference(&other.fields, &touched);
        }
        let own = all.iter().position(|m| m.is(&name, subresource, applies));
        let before = own.map(|at| all.remove(at).fields).unwrap_or_default();
        let fields = match entry.manager.as_deref().map(|m| &m.fields) {
            Some(Fields::Applied(fields)) => fields.clone(),
            Some(Fields::Submitted(object)) if is_new => fields_created(object),
            _ => fields::union(
                &fields::difference(&before, &changes.removed),
                &changes.changed,
            ),
        };
        all.push(Managed {
            manager: name,
            subresource,
            applies,
            time: entry.time,
            fields,
        });
        if applies && migrates {
            // kubectl migrates the fields of client-side apply to server-side apply, except the last-applied annotation.
            let migrated = all
                .iter()
                .any(|m| m.is(CLIENT_SIDE, Subresource::Main, false));
            all.retain(|m| !m.is(CLIENT_SIDE, Subresource::Main, false));
            if migrated && all.last().is_some_and(|m| m.manager == KUBECTL) {
                let fields = last_applied(kind);
                all.push(Managed {
                    manager: REMEMBERS.into(),
                    subresource: Subresource::Main,
                    applies: true,
                    time: entry.time,
                    fields,
                });
            }
        }
        all.retain(|m| !m.fields.is_empty());
    }
}

/// Default field manager of kubectl.
const KUBECTL: &str = "kubectl";

/// Returns the last-applied annotation as a field set.
fn last_applied(kind: Kind) -> FieldSet {
    fields::of_value(
        Shape::of_kind(kind),
        &json!({"metadata": {"annotations": {LAST_APPLIED: ""}}}),
    )
}

/// kubectl's manager for client-side apply.
const CLIENT_SIDE: &str = "kubectl-client-side-apply";

/// kubectl's manager for the last-applied annotation under server-side apply.
const REMEMBERS: &str = "kubectl-last-applied";

/// Returns the subresource that a component must have written.
fn part(why: &Why, kind: Kind, touched: &FieldSet) -> Subresource {
    match why {
        _ if touched.contains_key("f:status") => Subresource::Status,
        Why::Autoscaled { .. } if kind != Kind::HorizontalPodAutoscaler => Subresource::Scale,
        _ => Subresource::Main,
    }
}

/// Removes the unmanaged fields of an object.
fn plain(mut value: Value) -> Value {
    let Some(map) = value.as_object_mut() else {
        return value;
    };
    map.remove("apiVersion");
    map.remove("kind");
    if let Some(metadata) = map.get_mut("metadata").and_then(Value::as_object_mut) {
        OWN.iter().for_each(|field| drop(metadata.remove(*field)));
        if metadata.is_empty() {
            map.remove("metadata");
        }
    }
    value
}

/// Returns the fields that a client's JSON sets.
pub(super) fn fields_of(kind: Kind, value: &Value) -> FieldSet {
    fields::of_value(Shape::of_kind(kind), &plain(value.clone()))
}

/// Manager of the fields of an object without managers, once somebody applies it: `skipnonapplied.go`.
const BEFORE_FIRST_APPLY: &str = "before-first-apply";

/// Returns the manager of all fields of an object that has no managers.
fn before_first_apply(object: &Object) -> Managed {
    let value = plain(object.to_value());
    Managed {
        manager: BEFORE_FIRST_APPLY.into(),
        subresource: Subresource::Main,
        applies: false,
        time: Time::default(),
        fields: fields::compare(Shape::of_kind(object.kind), &json!({}), &value).changed,
    }
}

/// Returns the fields that the creation of an object sets, including the server's defaults.
fn fields_created(object: &Object) -> FieldSet {
    let mut value = plain(object.to_value());
    value
        .as_object_mut()
        .map(|map: &mut Map<String, Value>| map.remove("status"));
    fields::compare(Shape::of_kind(object.kind), &json!({}), &value).changed
}

/// Returns the origin of a write whose client manages the fields of this object instead of the stored one's.
pub(super) fn with_submitted(origin: &Origin, submitted: Option<Object>) -> Origin {
    let mut origin = origin.clone();
    if let (Some(manager), Some(submitted)) = (&origin.manager, submitted) {
        let fields = Fields::Submitted(Rc::new(submitted));
        origin.manager = with_fields(manager, fields, false);
    }
    origin
}

/// Returns a copy of the manager with these fields.
pub(super) fn with_fields(manager: &Manager, fields: Fields, applies: bool) -> Option<Rc<Manager>> {
    Some(Rc::new(Manager {
        fields,
        applies,
        ..manager.clone()
    }))
}

#[cfg(test)]
mod tests;
