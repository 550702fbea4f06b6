//! Strategic merge patches: lists are merged by the key of their elements.

use k8s_model::Kind;
use k8s_model::json::go;
use k8s_model::schema::{Field, list_element, map_element, schema};
use serde_json::{Map, Value};

type JsonObject = Map<String, Value>;

pub const PATCH: &str = "$patch";
pub const RETAIN: &str = "$retainKeys";
pub const DELETE_FROM: &str = "$deleteFromPrimitiveList/";
pub const ORDER: &str = "$setElementOrder/";

const UNSUPPORTED: &str = "the body of the request was in an unknown format - accepted media types include: \
     application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml";

/// Returns true for a key that directs the merge; other keys are fields, even with a `$`.
fn is_directive(name: &str) -> bool {
    matches!(name, PATCH | RETAIN) || name.starts_with(DELETE_FROM) || name.starts_with(ORDER)
}

/// Applies a strategic merge patch to an object of a kind.
pub fn strategic_merge(kind: Kind, original: &Value, patch: &Value) -> Result<Value, String> {
    // A kind that is not in the field table is merged by its metadata alone: its lists are replaced.
    let by_metadata = || {
        schema()
            .kind("v1", "ConfigMap")
            .filter(|_| !kind.is_custom())
    };
    let kind = schema()
        .kind(&kind.api_version(), kind.name())
        .or_else(by_metadata)
        .ok_or(UNSUPPORTED)?;
    let mut result = original.as_object().cloned().unwrap_or_default();
    merge(
        Some(kind),
        &mut result,
        patch.as_object().unwrap_or(&JsonObject::new()),
    )?;
    Ok(Value::Object(result))
}

/// Merge rule of a field: its type, whether its list is merged, and by which key.
#[derive(Debug, Clone, Copy, Default)]
pub struct MergeRule {
    /// Struct of the value, or of the elements of the list.
    pub kind: Option<&'static str>,
    /// True if elements are merged instead of replaced.
    pub merged: bool,
    /// True if keys that the patch does not name are dropped.
    pub retain: bool,
    /// True if the value is replaced as a whole, though it is an object.
    pub replaced: bool,
    /// Key field of an element; empty for a list of plain values.
    pub key: &'static str,
}

/// Returns the rule for a field of a struct; fields of unknown structs are replaced.
pub fn rule(kind: Option<&'static str>, name: &str) -> MergeRule {
    let Some(kind) = kind else {
        return MergeRule::default();
    };
    if let Some(element) = map_element(kind) {
        return MergeRule {
            kind: struct_of(element),
            ..MergeRule::default()
        };
    }
    let Some(Field {
        kind,
        strategy,
        merge_key,
        ..
    }) = schema().field(kind, name)
    else {
        return MergeRule::default();
    };
    let inner = kind.trim_start_matches('*');
    MergeRule {
        kind: struct_of(list_element(inner).unwrap_or(inner)),
        merged: strategy.contains("merge"),
        retain: strategy.contains("retainKeys"),
        replaced: strategy == "replace",
        key: merge_key,
    }
}

fn struct_of(kind: &'static str) -> Option<&'static str> {
    let kind = kind.trim_start_matches('*');
    (schema().fields(kind).is_some() || map_element(kind).is_some()).then_some(kind)
}

fn merge(
    kind: Option<&'static str>,
    target: &mut JsonObject,
    patch: &JsonObject,
) -> Result<(), String> {
    match patch.get(PATCH).and_then(Value::as_str) {
        Some("replace") => {
            *target = patch.clone();
            target.remove(PATCH);
            return Ok(());
        }
        Some("delete") => {
            target.clear();
            return Ok(());
        }
        _ => {}
    }
    if let Some(Value::Array(keys)) = patch.get(RETAIN) {
        target.retain(|key, _| keys.iter().any(|kept| kept == key.as_str()));
    }
    for (name, value) in patch
        .iter()
        .filter(|(name, _)| name.starts_with(DELETE_FROM))
    {
        if let (Some(Value::Array(list)), Value::Array(gone)) =
            (target.get_mut(&name[DELETE_FROM.len()..]), value)
        {
            list.retain(|item| !gone.contains(item));
        }
    }
    for (name, value) in patch.iter().filter(|(name, _)| !is_directive(name)) {
        merge_field(
            rule(kind, name),
            target,
            name,
            value,
            patch.get(&format!("{ORDER}{name}")),
        )?;
    }
    // A patch may set the order of a list that it does not change otherwise.
    for (name, order) in patch.iter().filter(|(name, _)| name.starts_with(ORDER)) {
        let name = &name[ORDER.len()..];
        if let (false, Some(Value::Array(list))) = (patch.contains_key(name), target.get_mut(name))
        {
            let before = list.clone();
            reorder(list, &before, order, rule(kind, name).key);
        }
    }
    Ok(())
}

fn merge_field(
    rule: MergeRule,
    target: &mut JsonObject,
    name: &str,
    value: &Value,
    order: Option<&Value>,
) -> Result<(), String> {
    if value.is_null() {
        target.remove(name);
        return Ok(());
    }
    match (target.get_mut(name), value) {
        (Some(Value::Object(inner)), Value::Object(patch)) if !rule.replaced => {
            merge(rule.kind, inner, patch)
        }
        (Some(Value::Array(list)), Value::Array(patch)) if rule.merged => {
            let before = list.clone();
            merge_list(rule, list, patch)?;
            // Without an explicit order the patch is the order: new elements come first.
            reorder(list, &before, order.unwrap_or(value), rule.key);
            Ok(())
        }
        _ => {
            target.insert(name.to_owned(), without_directives(value));
            Ok(())
        }
    }
}

fn merge_list(rule: MergeRule, list: &mut Vec<Value>, patch: &[Value]) -> Result<(), String> {
    if rule.key.is_empty() {
        for item in patch.iter() {
            if !list.contains(item) {
                list.push(item.clone());
            }
        }
        return Ok(());
    }
    if patch.iter().any(|item| item[PATCH] == "replace") {
        *list = patch
            .iter()
            .filter(|item| item.get(PATCH).is_none())
            .map(without_directives)
            .collect();
        return Ok(());
    }
    for item in patch {
        let name = item.get(rule.key).ok_or_else(|| {
            format!(
                "map: {} does not contain declared merge key: {}",
                go(item),
                rule.key
            )
        })?;
        if item[PATCH] == "delete" {
            list.retain(|other| other.get(rule.key) != Some(name));
            continue;
        }
        match list
            .iter_mut()
            .find(|other| other.get(rule.key) == Some(name))
        {
            Some(Value::Object(inner)) => merge(
                rule.kind,
                inner,
                item.as_object().unwrap_or(&JsonObject::new()),
            )?,
            _ => list.push(without_directives(item)),
        }
    }
    Ok(())
}

/// Returns a value of a patch without directives, for a field that did not exist.
fn without_directives(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let kept = map
                .iter()
                .filter(|(name, value)| !is_directive(name) && !value.is_null());
            Value::Object(
                kept.map(|(name, value)| (name.clone(), without_directives(value)))
                    .collect::<serde_json::Map<_, _>>(),
            )
        }
        Value::Array(items) => {
            let kept = items.iter().filter(|item| item.get(PATCH).is_none());
            Value::Array(kept.map(without_directives).collect())
        }
        other => other.clone(),
    }
}

/// Sorts the elements named by the patch into its order; other elements keep their positions among them.
fn reorder(list: &mut Vec<Value>, before: &[Value], order: &Value, key: &str) {
    let Some(order) = order.as_array() else {
        return;
    };
    let name = |item: &Value| {
        if key.is_empty() {
            item.clone()
        } else {
            item[key].clone()
        }
    };
    let place =
        |list: &[Value], item: &Value| list.iter().position(|other| name(other) == name(item));
    let (mut named, others): (Vec<Value>, Vec<Value>) = list
        .drain(..)
        .partition(|item| place(order, item).is_some());
    named.sort_by_key(|item| place(order, item));
    let (mut others, mut named) = (others.into_iter().peekable(), named.into_iter().peekable());
    while let Some(other) = others.peek() {
        let Some(next) = named.peek() else { break };
        let first = match (place(before, other), place(before, next)) {
            (Some(left), Some(right)) => left < right,
            _ => false,
        };
        list.extend(if first { others.next() } else { named.next() });
    }
    list.extend(others);
    list.extend(named);
}
