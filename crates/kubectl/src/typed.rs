//! Objects in the form of Go types: with the zero values that Go does not omit, and in JSON in the order of the types.

use k8s_model::Kind;
use k8s_model::schema::{Omit, list_element, map_element, schema};
use serde_json::{Map, Value};

/// Maximum nesting of lists and objects.
const DEPTH: usize = 40;

/// Returns the object with the zero values of its type.
pub fn completed(kind: Kind, object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(name) = schema().kind(&kind.api_version(), kind.name()) {
        complete(name, &mut object, DEPTH);
    }
    object
}

fn complete(kind: &'static str, value: &mut Value, depth: usize) {
    let kind = kind.trim_start_matches('*');
    let Some(depth) = depth.checked_sub(1) else {
        return;
    };
    if let Some(element) = list_element(kind).or(map_element(kind)) {
        match value {
            Value::Array(items) => items
                .iter_mut()
                .for_each(|item| complete(element, item, depth)),
            Value::Object(map) => map
                .values_mut()
                .for_each(|item| complete(element, item, depth)),
            _ => {}
        }
    } else if let Value::Object(map) = value {
        map.retain(|_, value| !value.is_null());
        fields(kind, map, depth);
    }
}

fn fields(kind: &'static str, map: &mut Map<String, Value>, depth: usize) {
    for field in schema().fields(kind).unwrap_or_default() {
        if field.inline() {
            fields(field.kind, map, depth);
        } else if let Some(value) = map.get_mut(field.json) {
            complete(field.kind, value, depth);
        } else if let Some(zero) = zero(field.kind, field.omit, depth) {
            map.insert(field.json.to_owned(), zero);
        }
    }
}

/// Returns the value that Go writes for an unset field; `None` if it is omitted.
fn zero(kind: &'static str, omit: Omit, depth: usize) -> Option<Value> {
    if schema()
        .fields(kind)
        .is_some_and(|fields| !fields.is_empty())
    {
        let mut value = Value::Object(Map::new());
        complete(kind, &mut value, depth);
        return (omit != Omit::Zero).then_some(value);
    }
    if omit != Omit::Never {
        return None;
    }
    Some(match schema().scalar(kind).unwrap_or(kind) {
        "string" => Value::from(""),
        "int32" | "int64" => Value::from(0),
        "bool" => Value::from(false),
        _ => Value::Null,
    })
}

/// Formats the object as JSON indented by four blanks, with fields in the order of the type.
pub fn json(kind: Kind, object: &Value) -> String {
    let mut out = String::new();
    write(
        schema()
            .kind(&kind.api_version(), kind.name())
            .unwrap_or(""),
        object,
        0,
        &mut out,
    );
    out.push('\n');
    out
}

fn write(kind: &'static str, value: &Value, depth: usize, out: &mut String) {
    let kind = kind.trim_start_matches('*');
    let inner = list_element(kind).or(map_element(kind)).unwrap_or("");
    let line = |out: &mut String, first: bool, depth: usize| {
        out.push_str(if first { "\n" } else { ",\n" });
        out.extend(std::iter::repeat_n("    ", depth));
    };
    match value {
        Value::Array(items) if !items.is_empty() => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                line(out, index == 0, depth + 1);
                write(inner, item, depth + 1, out);
            }
            out.push('\n');
            out.extend(std::iter::repeat_n("    ", depth));
            out.push(']');
        }
        Value::Object(map) if !map.is_empty() => {
            let mut order = Vec::new();
            names(kind, inner, &mut order);
            // Names that are not in the type, as in maps, are in alphabetical order.
            let others = map
                .keys()
                .filter(|key| !order.iter().any(|(name, _)| name == key))
                .map(|key| (key.as_str(), inner));
            let all: Vec<_> = order
                .iter()
                .copied()
                .chain(others.collect::<Vec<_>>())
                .collect();
            out.push('{');
            let mut first = true;
            for (key, kind) in all {
                let Some(value) = map.get(key) else { continue };
                line(out, first, depth + 1);
                first = false;
                out.push_str(&format!("{}: ", Value::from(key)));
                write(kind, value, depth + 1, out);
            }
            out.push('\n');
            out.extend(std::iter::repeat_n("    ", depth));
            out.push('}');
        }
        other => out.push_str(&other.to_string()),
    }
}

fn names(kind: &'static str, inner: &'static str, order: &mut Vec<(&'static str, &'static str)>) {
    if kind.is_empty() {
        // Kinds without a type here begin with the common fields.
        order.extend(["kind", "apiVersion", "metadata"].map(|name| {
            (
                name,
                if name == "metadata" {
                    "metav1.ObjectMeta"
                } else {
                    ""
                },
            )
        }));
    }
    for field in schema()
        .fields(kind)
        .filter(|_| inner.is_empty())
        .unwrap_or_default()
    {
        if field.inline() {
            names(field.kind, inner, order);
        } else {
            order.push((field.json, field.kind));
        }
    }
}
