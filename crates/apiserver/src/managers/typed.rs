//! Type errors of applied configurations of built-in kinds.
//!
//! Models `structured-merge-diff/v6/typed/validate.go`.

use super::fields::{Shape, step};
use crate::definitions::go_type;
use k8s_model::Kind;
use k8s_model::json::go;
use k8s_model::schema::{list_element, map_element, schema};
use serde_json::Value;

/// Returns the type errors of a configuration, by path.
pub(super) fn type_errors(kind: Kind, config: &Value) -> Vec<String> {
    let Some(name) = schema().kind(&kind.api_version(), kind.name()) else {
        return Vec::new();
    };
    let mut errors = Vec::new();
    check(name, Shape::of_kind(kind), config, "", &mut errors);
    errors.sort();
    errors
        .into_iter()
        .map(|(path, problem)| format!("{path}: {problem}"))
        .collect()
}

fn check(
    kind: &'static str,
    shape: Shape,
    value: &Value,
    path: &str,
    errors: &mut Vec<(String, String)>,
) {
    let kind = kind.trim_start_matches('*');
    let base = schema().scalar(kind).unwrap_or(kind);
    let mut add = |problem: String| errors.push((path.to_owned(), problem));
    let got = || format!("&{{{}}}", go(value));
    if value.is_null() {
        return;
    }
    if let Some(element) = list_element(base) {
        let Value::Array(items) = value else {
            return add(format!("expected list, got {}", got()));
        };
        let mut seen: Vec<String> = Vec::new();
        for (index, item) in items.iter().enumerate() {
            if shape.is_atomic() {
                check(
                    element,
                    shape.element(),
                    item,
                    &format!("{path}[{index}]"),
                    errors,
                );
                continue;
            }
            let name = step(&shape.element_name(item));
            if seen.contains(&name) {
                errors.push((path.to_owned(), format!("duplicate entries for key {name}")));
            }
            check(
                element,
                shape.element(),
                item,
                &format!("{path}{name}"),
                errors,
            );
            seen.push(name);
        }
        return;
    }
    let of_map = map_element(base);
    if of_map.is_some() || schema().fields(base).is_some() {
        let Value::Object(map) = value else {
            return add(format!("expected map, got {}", got()));
        };
        for (name, value) in map {
            let path = format!("{path}.{name}");
            let field = || schema().field(base, name).map(|field| field.kind);
            match of_map.or_else(field) {
                Some(kind) => check(kind, shape.child(name), value, &path, errors),
                None => errors.push((path, "field not declared in schema".to_owned())),
            }
        }
        return;
    }
    match base {
        "string" if !value.is_string() => add(format!(
            "expected string, got &value.valueUnstructured{{Value:{value}}}"
        )),
        "bool" if !value.is_boolean() => add(format!("expected boolean, got {}", got())),
        "int32" | "int64" | "float64" if !value.is_number() => add(format!(
            "expected numeric (int or float), got {}",
            go_type(value)
        )),
        _ => {}
    }
}
