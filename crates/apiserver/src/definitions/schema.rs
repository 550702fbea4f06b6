//! Structural schemas: pruning of unknown fields, defaults, and validation.
//!
//! Models `apiextensions-apiserver/pkg/apiserver/schema/{pruning,defaulting,listtype}` and `kube-openapi/pkg/validation/validate`.

use super::super::validation::{ErrorType, FieldError, at_most};
use k8s_model::cel::{CelType, Program};
use k8s_model::go_regex::GoRegex;
use k8s_model::json::escaped;
use k8s_model::{Timestamp, base64, cidr};
use serde_json::{Map, Value};

/// Maximum nesting of values; deeper ones are ignored.
const DEEPEST: usize = 100;

fn is_on(schema: &Value, name: &str) -> bool {
    schema[name] == true
}

/// Returns the schema of a field or of the values of a map.
fn below<'a>(schema: &'a Value, name: &str) -> Option<&'a Value> {
    schema["properties"].get(name).or_else(|| {
        schema
            .get("additionalProperties")
            .filter(|more| !more.is_null() && **more != false)
    })
}

/// Removes the fields that a schema does not have; returns their paths.
pub(crate) fn prune(schema: &Value, value: &mut Value) -> Vec<String> {
    let mut unknown = Vec::new();
    pruned(schema, value, true, "", &mut unknown, 0);
    unknown
}

fn pruned(
    schema: &Value,
    value: &mut Value,
    object: bool,
    path: &str,
    unknown: &mut Vec<String>,
    depth: usize,
) {
    let keeps = is_on(schema, "x-kubernetes-preserve-unknown-fields");
    match value {
        _ if depth > DEEPEST => {}
        Value::Object(map) => {
            let whole = |name: &str| object && matches!(name, "apiVersion" | "kind" | "metadata");
            map.retain(|name, value| {
                let path = if path.is_empty() {
                    name.clone()
                } else {
                    format!("{path}.{name}")
                };
                match below(schema, name) {
                    _ if whole(name) => return true,
                    Some(schema) => pruned(
                        schema,
                        value,
                        is_on(schema, "x-kubernetes-embedded-resource"),
                        &path,
                        unknown,
                        depth + 1,
                    ),
                    None if keeps => {}
                    None => {
                        unknown.push(path);
                        return false;
                    }
                }
                true
            });
        }
        Value::Array(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                let schema = &schema["items"];
                let embedded = is_on(schema, "x-kubernetes-embedded-resource");
                if !schema.is_null() {
                    pruned(
                        schema,
                        item,
                        embedded,
                        &format!("{path}[{index}]"),
                        unknown,
                        depth + 1,
                    );
                }
            }
        }
        _ => {}
    }
}

/// Sets the defaults of missing fields.
pub(crate) fn default(schema: &Value, value: &mut Value, depth: usize) {
    match value {
        _ if depth > DEEPEST => {}
        Value::Object(map) => {
            for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
                let missing = map
                    .get(name)
                    .is_none_or(|value| value.is_null() && !is_on(schema, "nullable"));
                if missing && let Some(value) = schema.get("default") {
                    map.insert(name.clone(), value.clone());
                }
            }
            for (name, value) in map {
                if let Some(schema) = below(schema, name) {
                    default(schema, value, depth + 1);
                }
            }
        }
        Value::Array(items) => items
            .iter_mut()
            .for_each(|item| default(&schema["items"], item, depth + 1)),
        _ => {}
    }
}

/// Removes null from fields that are not nullable and have no default, as if they had been left out.
pub(crate) fn drop_nulls(schema: &Value, value: &mut Value, depth: usize) {
    match value {
        _ if depth > DEEPEST => {}
        Value::Object(map) => map.retain(|name, value| {
            let Some(schema) = below(schema, name) else {
                return true;
            };
            if value.is_null()
                && !is_on(schema, "nullable")
                && schema.get("default").is_none()
                && schema.is_object()
            {
                return false;
            }
            drop_nulls(schema, value, depth + 1);
            true
        }),
        Value::Array(items) => items
            .iter_mut()
            .for_each(|item| drop_nulls(&schema["items"], item, depth + 1)),
        _ => {}
    }
}

/// Returns the type errors of a value in the words of server-side apply: undeclared fields, and values of other types.
///
/// Models `structured-merge-diff/v6/typed/validate.go`.
pub(crate) fn untyped(schema: &Value, value: &Value) -> Vec<String> {
    let mut problems = Vec::new();
    let undeclared = prune(schema, &mut value.clone());
    problems.extend(undeclared.into_iter().map(|path| {
        (
            format!(".{path}"),
            "field not declared in schema".to_owned(),
        )
    }));
    mistyped(schema, value, "", 0, &mut problems);
    problems.sort();
    problems
        .into_iter()
        .map(|(path, problem)| format!("{path}: {problem}"))
        .collect()
}

fn mistyped(
    schema: &Value,
    value: &Value,
    path: &str,
    depth: usize,
    problems: &mut Vec<(String, String)>,
) {
    let free = is_on(schema, "x-kubernetes-int-or-string") || value.is_null() || depth > DEEPEST;
    let go = || match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let problem = match schema["type"].as_str().unwrap_or("") {
        _ if free => None,
        "integer" | "number" if !value.is_number() => Some(format!(
            "expected numeric (int or float), got {}",
            go_type(value)
        )),
        "string" if !value.is_string() => Some(format!(
            "expected string, got &value.valueUnstructured{{Value:{}}}",
            go()
        )),
        "boolean" if !value.is_boolean() => Some(format!("expected boolean, got &{{{}}}", go())),
        _ => None,
    };
    problems.extend(problem.map(|problem| (path.to_owned(), problem)));
    match value {
        Value::Object(map) if !free => {
            for (name, value) in map {
                if let Some(schema) = below(schema, name) {
                    mistyped(
                        schema,
                        value,
                        &format!("{path}.{name}"),
                        depth + 1,
                        problems,
                    );
                }
            }
        }
        Value::Array(items) if !free => {
            for (index, item) in items.iter().enumerate() {
                mistyped(
                    &schema["items"],
                    item,
                    &format!("{path}[{index}]"),
                    depth + 1,
                    problems,
                );
            }
        }
        _ => {}
    }
}

/// Returns the Go type of a decoded JSON value.
pub(crate) fn go_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float64",
        Value::Number(_) => "int64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}

/// Validates a value against a schema. Values that an update leaves unchanged are not validated again.
pub(crate) fn validate(schema: &Value, value: &Value, old: Option<&Value>) -> Vec<FieldError> {
    let mut check = Check { errors: Vec::new() };
    check.value(schema, value, old, "", 0);
    check.errors
}

struct Check {
    errors: Vec<FieldError>,
}

/// Returns the JSON type name of a value.
fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number)
            if number.is_f64() && number.as_f64().is_some_and(|n| n.fract() != 0.0) =>
        {
            "number"
        }
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn is_of(schema: &Value, value: &Value) -> bool {
    let found = type_of(value);
    if is_on(schema, "x-kubernetes-int-or-string") {
        return matches!(found, "integer" | "string");
    }
    let wanted = schema["type"].as_str().unwrap_or("");
    wanted.is_empty()
        || wanted == found
        || wanted == "number" && found == "integer"
        || found == "null" && is_on(schema, "nullable")
}

/// Returns true if a text has a format; unknown formats accept anything.
fn has_format(format: &str, text: &str) -> bool {
    let digits = |part: &str, length: usize| {
        part.len() == length && part.bytes().all(|c| c.is_ascii_hexdigit())
    };
    match format {
        "date-time" => Timestamp::parse(text).is_some(),
        "date" => Timestamp::parse(&format!("{text}T00:00:00Z")).is_some(),
        "ipv4" => text.parse::<std::net::Ipv4Addr>().is_ok(),
        "ipv6" => text.parse::<std::net::Ipv6Addr>().is_ok(),
        "cidr" => cidr::network(text).is_some(),
        "uuid" => {
            text.split('-').map(str::len).eq([8, 4, 4, 4, 12])
                && text.split('-').all(|part| digits(part, part.len()))
        }
        "email" => text
            .split_once('@')
            .is_some_and(|(name, host)| !name.is_empty() && !host.is_empty()),
        "byte" => base64::bytes(text).is_some(),
        _ => true,
    }
}

impl Check {
    fn add(
        &mut self,
        fault: ErrorType,
        path: &str,
        value: impl Into<String>,
        detail: impl Into<String>,
    ) {
        let field = if path.is_empty() { "<nil>" } else { path };
        self.errors.push(FieldError {
            field: field.to_owned(),
            fault,
            value: value.into(),
            detail: detail.into(),
        });
    }

    fn wrong(&mut self, path: &str, value: &Value, detail: impl std::fmt::Display) {
        self.add(
            ErrorType::Invalid,
            path,
            value.to_string(),
            format!("{path} in body {detail}"),
        );
    }

    fn value(
        &mut self,
        schema: &Value,
        value: &Value,
        old: Option<&Value>,
        path: &str,
        depth: usize,
    ) {
        if old == Some(value) || depth > DEEPEST {
            return;
        }
        if !is_of(schema, value) {
            let wanted = if is_on(schema, "x-kubernetes-int-or-string") {
                "integer,string"
            } else {
                schema["type"].as_str().unwrap_or("")
            };
            let found = Value::from(type_of(value));
            self.add(
                ErrorType::Type,
                path,
                found.to_string(),
                format!("{path} in body must be of type {wanted}: {found}"),
            );
        }
        self.combined(schema, value, path, depth);
        match value {
            Value::String(text) => self.text(schema, text, path),
            Value::Number(number) => {
                self.number(schema, number.as_f64().unwrap_or(0.0), value, path)
            }
            Value::Array(items) => self.list(schema, items, old, path, depth),
            _ => {}
        }
        if let Some(allowed) = schema["enum"]
            .as_array()
            .filter(|allowed| !allowed.contains(value))
            && !(value.is_null() && is_on(schema, "nullable"))
        {
            let allowed: Vec<String> = allowed.iter().map(Value::to_string).collect();
            self.add(
                ErrorType::NotSupported,
                path,
                value.to_string(),
                format!("supported values: {}", allowed.join(", ")),
            );
        }
        if let Value::Object(map) = value {
            self.object(schema, map, old, path, depth);
        }
    }

    /// Validates `allOf`, `anyOf`, `oneOf` and `not`.
    fn combined(&mut self, schema: &Value, value: &Value, path: &str, depth: usize) {
        let faults = |schema: &Value| {
            let mut check = Check { errors: Vec::new() };
            check.value(schema, value, None, path, depth + 1);
            check.errors
        };
        let list = |name: &str| schema[name].as_array().map_or(&[][..], Vec::as_slice);
        for part in list("allOf") {
            self.errors.extend(faults(part));
        }
        let any: Vec<Vec<FieldError>> = list("anyOf").iter().map(faults).collect();
        if !any.is_empty() && any.iter().all(|faults| !faults.is_empty()) {
            self.add(
                ErrorType::Invalid,
                path,
                "",
                format!("{path:?} must validate at least one schema (anyOf)"),
            );
            self.errors
                .extend(any.into_iter().next().unwrap_or_default());
        }
        let one: Vec<Vec<FieldError>> = list("oneOf").iter().map(faults).collect();
        let valid = one.iter().filter(|faults| faults.is_empty()).count();
        if !one.is_empty() && valid != 1 {
            let found = if valid == 0 {
                "Found none valid".to_owned()
            } else {
                format!("Found {valid} valid alternatives")
            };
            self.add(
                ErrorType::Invalid,
                path,
                "",
                format!("{path:?} must validate one and only one schema (oneOf). {found}"),
            );
        }
        if schema
            .get("not")
            .is_some_and(|not| !not.is_null() && faults(not).is_empty())
        {
            self.add(
                ErrorType::Invalid,
                path,
                "",
                format!("{path:?} must not validate the schema (not)"),
            );
        }
    }

    /// Validates a string: the first of length and pattern that fails (`stringValidator`), and the format.
    fn text(&mut self, schema: &Value, text: &str, path: &str) {
        let (value, length) = (Value::from(text), text.chars().count() as u64);
        let matches =
            |pattern: &str| GoRegex::new(pattern).map_or(true, |pattern| pattern.is_match(text));
        if let Some(most) = schema["maxLength"].as_u64().filter(|most| length > *most) {
            let detail = format!("may not be more than {most} bytes");
            self.add(ErrorType::TooLong, path, "", detail);
        } else if let Some(least) = schema["minLength"].as_u64().filter(|least| length < *least) {
            self.wrong(
                path,
                &value,
                format_args!("should be at least {least} chars long"),
            );
        } else if let Some(pattern) = schema["pattern"].as_str().filter(|one| !matches(one)) {
            self.wrong(path, &value, format_args!("should match '{pattern}'"));
        }
        if let Some(format) = schema["format"]
            .as_str()
            .filter(|format| !has_format(format, text))
        {
            self.add(
                ErrorType::Type,
                path,
                value.to_string(),
                format!("{path} in body must be of type {format}: {value}"),
            );
        }
    }

    fn number(&mut self, schema: &Value, number: f64, value: &Value, path: &str) {
        if schema["type"] == "integer" && number.fract() != 0.0 {
            let detail =
                format!("Checked value must be of type integer (default format) in {path}");
            self.add(ErrorType::Invalid, "", "\"\"", detail);
        }
        if let Some(of) = schema["multipleOf"]
            .as_f64()
            .filter(|of| *of > 0.0 && (number / of).fract() != 0.0)
        {
            self.wrong(path, value, format_args!("should be a multiple of {of}"));
        }
        let (most, least) = (&schema["maximum"], &schema["minimum"]);
        if let Some(bound) = most.as_f64() {
            let open = is_on(schema, "exclusiveMaximum");
            if number > bound || open && number == bound {
                self.wrong(
                    path,
                    value,
                    format_args!(
                        "should be less than {}{most}",
                        if open { "" } else { "or equal to " }
                    ),
                );
            }
        }
        if let Some(bound) = least.as_f64() {
            let open = is_on(schema, "exclusiveMinimum");
            if number < bound || open && number == bound {
                self.wrong(
                    path,
                    value,
                    format_args!(
                        "should be greater than {}{least}",
                        if open { "" } else { "or equal to " }
                    ),
                );
            }
        }
    }

    fn list(
        &mut self,
        schema: &Value,
        items: &[Value],
        old: Option<&Value>,
        path: &str,
        depth: usize,
    ) {
        let length = items.len() as u64;
        if let Some(least) = schema["minItems"].as_u64().filter(|least| length < *least) {
            self.wrong(
                path,
                &Value::from(length),
                format_args!("should have at least {least} items"),
            );
        }
        if let Some(most) = schema["maxItems"].as_u64().filter(|most| length > *most) {
            self.add(ErrorType::TooMany, path, length.to_string(), at_most(most));
        }
        let keys: Option<Vec<&str>> = match schema["x-kubernetes-list-type"].as_str() {
            Some("set") => Some(Vec::new()),
            Some("map") => Some(
                schema["x-kubernetes-list-map-keys"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .filter_map(Value::as_str)
                    .collect(),
            ),
            _ => None,
        };
        let key = |item: &Value| {
            let keys = keys.as_ref()?;
            let named = || {
                Value::Object(
                    keys.iter()
                        .map(|key| ((*key).to_owned(), item[*key].clone()))
                        .collect::<serde_json::Map<_, _>>(),
                )
            };
            Some(if keys.is_empty() {
                item.clone()
            } else {
                named()
            })
        };
        for (index, item) in items.iter().enumerate() {
            let at = format!("{path}[{index}]");
            if let Some(own) = key(item)
                && items[..index]
                    .iter()
                    .any(|before| key(before).as_ref() == Some(&own))
            {
                self.add(ErrorType::Duplicate, &at, own.to_string(), "");
            }
            let before = old.and_then(Value::as_array).and_then(|old| old.get(index));
            self.value(&schema["items"], item, before, &at, depth + 1);
        }
    }

    fn object(
        &mut self,
        schema: &Value,
        map: &Map<String, Value>,
        old: Option<&Value>,
        path: &str,
        depth: usize,
    ) {
        let count = map.len() as u64;
        if let Some(most) = schema["maxProperties"]
            .as_u64()
            .filter(|most| count > *most)
        {
            self.add(
                ErrorType::TooMany,
                path,
                count.to_string(),
                format!("must have at most {most} items"),
            );
        }
        if let Some(least) = schema["minProperties"]
            .as_u64()
            .filter(|least| count < *least)
        {
            self.wrong(
                path,
                &Value::from(count),
                format_args!("should have at least {least} properties"),
            );
        }
        let inner = |name: &str| {
            if path.is_empty() {
                name.to_owned()
            } else {
                format!("{path}.{name}")
            }
        };
        for (name, value) in map {
            if path.is_empty() && name == "metadata" {
                continue;
            }
            if let Some(schema) = below(schema, name) {
                self.value(
                    schema,
                    value,
                    old.and_then(|old| old.get(name)),
                    &inner(name),
                    depth + 1,
                );
            }
        }
        for name in schema["required"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
        {
            if !map.contains_key(name) {
                self.add(ErrorType::Required, &inner(name), "", "");
            }
        }
    }
}

/// Parses the rules of a schema, by the path of the schema within it; `wrong` gets those that do not parse.
pub fn read_rules(
    schema: &Value,
    wrong: &mut dyn FnMut(String, &str, String),
) -> Vec<(String, Program)> {
    let mut rules = Vec::new();
    visit(schema, "", &mut |path, schema| {
        for (index, rule) in schema["x-kubernetes-validations"]
            .as_array()
            .into_iter()
            .flatten()
            .enumerate()
        {
            let text = rule["rule"].as_str().unwrap_or("");
            let at = format!("{path}.x-kubernetes-validations[{index}]");
            match Program::with_type(text, scalar_type(schema)) {
                Ok(program) => rules.push((at.clone(), program)),
                Err(fault) => wrong(format!("{at}.rule"), &internal_rule(rule), fault),
            }
            if let Some(text) = rule["messageExpression"].as_str() {
                match Program::with_type(text, scalar_type(schema)) {
                    Ok(program) => rules.push((format!("{at}.messageExpression"), program)),
                    Err(fault) => wrong(
                        format!("{at}.messageExpression"),
                        &internal_rule(rule),
                        fault,
                    ),
                }
            }
        }
    });
    rules
}

/// Returns the type of the values of a schema that is one of scalars, `dyn` for others: fields of objects are not checked.
fn scalar_type(schema: &Value) -> CelType {
    let is_plain = schema["format"].is_null()
        && schema["nullable"] != true
        && !is_on(schema, "x-kubernetes-int-or-string");
    match schema["type"].as_str() {
        Some("string") if is_plain => CelType::String,
        Some("integer") if is_plain => CelType::Int,
        Some("number") if is_plain => CelType::Double,
        Some("boolean") if is_plain => CelType::Bool,
        _ => CelType::Dyn,
    }
}

/// Formats a validation rule in the server's internal form.
fn internal_rule(rule: &Value) -> String {
    let text = |name: &str| escaped(&Value::from(rule[name].as_str().unwrap_or("")));
    format!(
        "{{\"Rule\":{},\"Message\":{},\"MessageExpression\":{},\"Reason\":{},\"FieldPath\":{},\"OptionalOldSelf\":{}}}",
        text("rule"),
        text("message"),
        text("messageExpression"),
        rule["reason"],
        text("fieldPath"),
        rule["optionalOldSelf"],
    )
}

/// Visits a schema and its nested schemas, with their paths.
fn visit(schema: &Value, path: &str, see: &mut dyn FnMut(&str, &Value)) {
    if path.len() > 4_000 || !schema.is_object() {
        return;
    }
    see(path, schema);
    for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
        visit(schema, &format!("{path}.properties[{name}]"), see);
    }
    for name in ["items", "additionalProperties"] {
        visit(&schema[name], &format!("{path}.{name}"), see);
    }
}

/// Returns the errors of a version's schema: values without a type, and rules that do not parse.
pub fn problems(schema: &Value, path: &str) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut add = |fault: ErrorType, field: String, value: String, detail: String| {
        errors.push(FieldError {
            field,
            fault,
            value,
            detail,
        })
    };
    if schema["type"] != "object" {
        let found = Value::from(schema["type"].as_str().unwrap_or(""));
        if schema["type"].is_null() {
            add(
                ErrorType::Required,
                format!("{path}.type"),
                String::new(),
                "must not be empty at the root".into(),
            );
        } else {
            add(
                ErrorType::Invalid,
                format!("{path}.type"),
                found.to_string(),
                "must be object at the root".into(),
            );
        }
    }
    visit(schema, "", &mut |at, schema| {
        let kind = schema["type"].as_str().unwrap_or("");
        let free = is_on(schema, "x-kubernetes-int-or-string")
            || is_on(schema, "x-kubernetes-preserve-unknown-fields");
        if kind.is_empty() && !at.is_empty() && !free {
            add(
                ErrorType::Required,
                format!("{path}{at}.type"),
                String::new(),
                "must not be empty for specified object fields".into(),
            );
        }
        const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];
        if !kind.is_empty() && !TYPES.contains(&kind) {
            let all: Vec<String> = TYPES.iter().map(|name| format!("{name:?}")).collect();
            add(
                ErrorType::NotSupported,
                format!("{path}{at}.type"),
                format!("{kind:?}"),
                format!("supported values: {}", all.join(", ")),
            );
        }
        if kind == "array" && schema["items"].is_null() {
            add(
                ErrorType::Required,
                format!("{path}{at}.items"),
                String::new(),
                "must be specified".into(),
            );
        }
        if let Some(pattern) = schema["pattern"].as_str()
            && let Err(fault) = GoRegex::new(pattern)
        {
            let detail = format!("must be a valid regular expression, but isn't: {fault}");
            add(
                ErrorType::Invalid,
                format!("{path}{at}.pattern"),
                Value::from(pattern).to_string(),
                detail,
            );
        }
        let default = schema.get("default");
        if let Some(default) = default.filter(|_| !at.is_empty()) {
            for fault in validate(schema, default, None) {
                add(
                    fault.fault,
                    format!("{path}{at}.default"),
                    fault.value,
                    fault.detail,
                );
            }
        }
    });
    read_rules(schema, &mut |at, rule, fault| {
        add(
            ErrorType::Invalid,
            format!("{path}{at}"),
            rule.to_owned(),
            format!("compilation failed: {fault}"),
        );
    });
    errors
}
