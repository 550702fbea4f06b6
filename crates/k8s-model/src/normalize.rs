//! Normalization of objects to the stored form, which Go produces by decoding a document into a struct and encoding it again.
//!
//! Nulls and empty optional values go, required ones appear as zero, quantities become canonical. So
//! `args: []` is the same object as no `args`, and every container has `resources: {}`.

use super::quantity;
use super::schema::{Field, Omit, list_element, map_element, schema};
use serde_json::{Map, Value};

/// Normalizes an object of a kind in the table; any other object keeps its form.
pub fn normalize(object: &mut Value) {
    let text = |name: &str| object.get(name).and_then(Value::as_str).unwrap_or("");
    if let Some(kind) = schema().kind(text("apiVersion"), text("kind")) {
        normalize_as(kind, object);
    }
}

/// Normalizes a part of an object, such as `v1.PodTemplateSpec`.
pub fn normalize_as(kind: &'static str, value: &mut Value) {
    let base = schema().scalar(kind).unwrap_or(kind);
    if let Some(element) = list_element(base) {
        if let Some(items) = value.as_array_mut() {
            items
                .iter_mut()
                .for_each(|item| normalize_as(element.trim_start_matches('*'), item));
        }
    } else if let Some(element) = map_element(base) {
        if let Some(map) = value.as_object_mut() {
            let base = schema().scalar(element).unwrap_or(element);
            for item in map.values_mut() {
                if item.is_null() && !element.starts_with('*') {
                    *item = zero(base);
                }
                normalize_as(element, item);
            }
        }
    } else if let Some(fields) = schema().fields(base) {
        if value.is_null() {
            *value = Value::Object(Map::new());
        }
        if let Some(map) = value.as_object_mut() {
            fields.iter().for_each(|field| normalize_field(map, field));
        }
    } else if base == "resource.Quantity" {
        match value {
            Value::String(text) => *text = quantity::canonical(text.trim()),
            Value::Number(number) => {
                *value = Value::String(quantity::canonical(&number.to_string()))
            }
            _ => {}
        }
    }
}

fn normalize_field(map: &mut Map<String, Value>, field: &Field) {
    let kind = field.kind.trim_start_matches('*');
    if field.inline() {
        let fields = schema().fields(kind).unwrap_or_default();
        return fields.iter().for_each(|inner| normalize_field(map, inner));
    }
    let pointer = field.kind.starts_with('*');
    let base = schema().scalar(kind).unwrap_or(kind);
    if let Some(value) = map.get_mut(field.json).filter(|value| !value.is_null()) {
        normalize_as(kind, value);
        if !pointer && field.omit != Omit::Never && is_empty(value, base, field.omit) {
            map.remove(field.json);
        }
        return;
    }
    let is_struct = !pointer && schema().fields(base).is_some();
    let written = match field.omit {
        Omit::Never => true,
        Omit::Empty => is_struct,
        Omit::Zero => false,
    };
    if written {
        let mut zero = if pointer { Value::Null } else { zero(base) };
        if is_struct {
            normalize_as(kind, &mut zero);
        }
        map.insert(field.json.to_owned(), zero);
    } else {
        map.remove(field.json);
    }
}

fn is_empty(value: &Value, base: &str, omit: Omit) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(value) => !value,
        Value::String(text) => text.is_empty() && base == "string",
        Value::Number(number) => number.as_i64() == Some(0) && matches!(base, "int32" | "int64"),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => {
            map.is_empty() && (omit == Omit::Zero || schema().fields(base).is_none())
        }
    }
}

fn zero(base: &str) -> Value {
    match base {
        "string" => Value::from(""),
        "bool" => Value::Bool(false),
        "int32" | "int64" | "intstr.IntOrString" => Value::from(0),
        "resource.Quantity" => Value::from("0"),
        _ => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_object_is_stored_as_go_writes_it() {
        let mut object = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "labels": {}, "creationTimestamp": null},
            "spec": {"hostNetwork": false, "tolerations": [], "nodeSelector": null, "priority": 0, "containers": [
                {"name": "c", "args": [], "image": "", "resources": {"limits": {"cpu": 0.5, "memory": "1024Mi"}}},
                {"name": "d", "env": [{"name": "A", "value": ""}]}]}});
        normalize(&mut object);
        assert_eq!(
            object,
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "status": {},
            "spec": {"priority": 0, "containers": [
                {"name": "c", "resources": {"limits": {"cpu": "500m", "memory": "1Gi"}}},
                {"name": "d", "env": [{"name": "A"}], "resources": {}}]}})
        );
        let before = object.clone();
        normalize(&mut object);
        assert_eq!(object, before);
    }

    #[test]
    fn other_kinds_keep_their_form() {
        let mut object =
            json!({"apiVersion": "example.com/v1", "kind": "Widget", "a": null, "b": []});
        let before = object.clone();
        normalize(&mut object);
        assert_eq!(object, before);
    }
}
