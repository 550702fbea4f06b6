//! Patch of `kubectl apply`, from the last applied, the modified and the current object.
//!
//! A field is removed if it was applied last time and is not applied now; fields set by other clients are kept.

use super::merge_patch;
use super::strategic::{DELETE_FROM, MergeRule, ORDER, PATCH, RETAIN, rule};
use k8s_model::Kind;
use k8s_model::schema::schema;
use serde_json::{Map, Value, json};

type JsonObject = Map<String, Value>;

/// Kind of differences to report.
#[derive(Clone, Copy, PartialEq)]
enum Seek {
    /// Additions and changes.
    Changes,
    /// Removed fields.
    Deletions,
}

/// Returns the strategic merge patch from the current object to the modified one; `{}` if there is no difference,
/// `None` for a kind that has no strategic merge.
pub fn three_way_strategic(
    kind: Kind,
    last_applied: &Value,
    modified: &Value,
    current: &Value,
) -> Option<Value> {
    let kind = schema().kind(&kind.api_version(), kind.name())?;
    let nothing = JsonObject::new();
    let object = |value: &'_ Value| {
        value
            .as_object()
            .cloned()
            .unwrap_or_else(|| nothing.clone())
    };
    let (last, modified, current) = (object(last_applied), object(modified), object(current));
    let changes = compare(Some(kind), &current, &modified, Seek::Changes, false);
    let mut patch = compare(Some(kind), &last, &modified, Seek::Deletions, false);
    combine(Some(kind), &mut patch, changes);
    Some(Value::Object(patch))
}

/// Returns the JSON merge patch, for kinds that have no strategic merge.
pub fn three_way_merge(last_applied: &Value, modified: &Value, current: &Value) -> Value {
    let mut patch = plain(last_applied, modified, Seek::Deletions).unwrap_or_else(|| json!({}));
    if let Some(changes) = plain(current, modified, Seek::Changes) {
        merge_nested(&mut patch, changes);
    }
    patch
}

fn merge_nested(patch: &mut Value, changes: Value) {
    // Merge patches merge like any objects, except that nulls are kept.
    match (patch, changes) {
        (Value::Object(into), Value::Object(from)) => {
            for (name, value) in from {
                merge_nested(into.entry(name).or_insert(Value::Null), value);
            }
        }
        (slot, changes) => *slot = changes,
    }
}

fn plain(old: &Value, new: &Value, seek: Seek) -> Option<Value> {
    let (Some(before), Some(after)) = (old.as_object(), new.as_object()) else {
        return (seek == Seek::Changes && old != new).then(|| new.clone());
    };
    let mut patch = JsonObject::new();
    for name in before
        .keys()
        .filter(|name| seek == Seek::Deletions && !after.contains_key(*name))
    {
        patch.insert(name.clone(), Value::Null);
    }
    for (name, value) in after {
        let found = match before.get(name) {
            Some(old) => plain(old, value, seek),
            None if seek == Seek::Changes => {
                let mut added = Value::Null;
                merge_patch(&mut added, value);
                Some(added)
            }
            None => None,
        };
        if let Some(found) = found {
            patch.insert(name.clone(), found);
        }
    }
    (!patch.is_empty()).then_some(Value::Object(patch))
}

fn compare(
    kind: Option<&'static str>,
    old: &JsonObject,
    new: &JsonObject,
    seek: Seek,
    retain: bool,
) -> JsonObject {
    let mut patch = JsonObject::new();
    for (name, before) in old {
        let Some(after) = new.get(name) else {
            if seek == Seek::Deletions {
                patch.insert(name.clone(), Value::Null);
            }
            continue;
        };
        let rule = rule(kind, name);
        match (before, after) {
            (Value::Object(before), Value::Object(after)) if !rule.replaced => {
                let inner = compare(rule.kind, before, after, seek, rule.retain);
                if !inner.is_empty() {
                    patch.insert(name.clone(), Value::Object(inner));
                }
            }
            (Value::Array(before), Value::Array(after)) if rule.merged => {
                compare_lists(&mut patch, rule, name, before, after, seek);
            }
            _ if before != after && seek == Seek::Changes => {
                drop(patch.insert(name.clone(), after.clone()))
            }
            _ => {}
        }
    }
    if seek == Seek::Changes {
        for (name, value) in new
            .iter()
            .filter(|(name, value)| !old.contains_key(*name) && !value.is_null())
        {
            patch.insert(name.clone(), value.clone());
        }
    }
    if retain && !patch.is_empty() {
        patch.insert(
            RETAIN.to_owned(),
            new.keys().map(|key| Value::from(key.as_str())).collect(),
        );
    }
    patch
}

fn compare_lists(
    patch: &mut JsonObject,
    rule: MergeRule,
    name: &str,
    before: &[Value],
    after: &[Value],
    seek: Seek,
) {
    let mut found = Vec::new();
    if rule.key.is_empty() {
        let missing = |from: &[Value], other: &[Value]| -> Vec<Value> {
            from.iter()
                .filter(|item| !other.contains(item))
                .cloned()
                .collect()
        };
        let gone = missing(before, after);
        match seek {
            Seek::Changes => found = missing(after, before),
            Seek::Deletions if !gone.is_empty() => {
                drop(patch.insert(format!("{DELETE_FROM}{name}"), Value::Array(gone)))
            }
            Seek::Deletions => {}
        }
    } else {
        compare_elements(&mut found, rule, before, after, seek);
    }
    let label = |item: &Value| {
        if rule.key.is_empty() {
            item.clone()
        } else {
            json!({rule.key: item[rule.key]})
        }
    };
    let same_order = before.len() <= after.len()
        && before
            .iter()
            .zip(after)
            .all(|(left, right)| label(left) == label(right));
    if !found.is_empty() || (seek == Seek::Changes && !same_order) {
        patch.insert(format!("{ORDER}{name}"), after.iter().map(label).collect());
    }
    if !found.is_empty() {
        patch.insert(name.to_owned(), Value::Array(found));
    }
}

fn compare_elements(
    found: &mut Vec<Value>,
    rule: MergeRule,
    before: &[Value],
    after: &[Value],
    seek: Seek,
) {
    let same = |left: &Value, right: &Value| left[rule.key] == right[rule.key];
    for item in after {
        match before.iter().find(|other| same(other, item)) {
            Some(old) => {
                let (Some(old), Some(new)) = (old.as_object(), item.as_object()) else {
                    continue;
                };
                let mut inner = compare(rule.kind, old, new, seek, rule.retain);
                if !inner.is_empty() {
                    inner.insert(rule.key.to_owned(), item[rule.key].clone());
                    found.push(Value::Object(inner));
                }
            }
            None if seek == Seek::Changes => found.push(item.clone()),
            None => {}
        }
    }
    for item in before
        .iter()
        .filter(|item| seek == Seek::Deletions && !after.iter().any(|other| same(item, other)))
    {
        found.push(json!({PATCH: "delete", rule.key: item[rule.key]}));
    }
}

/// Adds a patch to another of the same object.
fn combine(kind: Option<&'static str>, patch: &mut JsonObject, other: JsonObject) {
    for (name, value) in other {
        let rule = rule(kind, &name);
        match (patch.get_mut(&name), value) {
            (Some(Value::Object(inner)), Value::Object(value)) => combine(rule.kind, inner, value),
            (Some(Value::Array(list)), Value::Array(items))
                if rule.merged && !rule.key.is_empty() =>
            {
                for item in items {
                    match (
                        list.iter_mut().find(|other| {
                            other[rule.key] == item[rule.key] && other.get(PATCH).is_none()
                        }),
                        item,
                    ) {
                        (Some(Value::Object(inner)), Value::Object(item)) => {
                            combine(rule.kind, inner, item)
                        }
                        (_, item) => list.push(item),
                    }
                }
            }
            (_, value) => drop(patch.insert(name, value)),
        }
    }
}
