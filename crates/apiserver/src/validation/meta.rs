//! Validation of `metadata`: names, labels, annotations, finalizers, owner references; and label selectors.
//!
//! Models `apimachinery/pkg/api/validation/objectmeta.go`.

use super::{ErrorType, Errors, FieldError, has, list, text};
use k8s_model::kind::NameFormat;
use k8s_model::names;
use k8s_model::names::{is_label_value, is_qualified_name};
use k8s_model::{Kind, ObjectMeta, Str};
use serde_json::Value;

const ANNOTATIONS_LIMIT: usize = 256 * 1024;

/// Returns the check of the names of a kind.
fn name_check(kind: Kind) -> fn(&str) -> Option<String> {
    match kind.info().strategy.name_format {
        NameFormat::DnsLabel => names::label,
        NameFormat::PathSegment => names::path_segment,
        NameFormat::DnsSubdomain => names::subdomain,
    }
}

/// Returns true if the metadata of an object is certainly valid, at a fraction of the cost of its validation.
pub fn is_plain(kind: Kind, meta: &ObjectMeta) -> bool {
    let check = name_check(kind);
    let is_label = |(key, value): (&Str, &Str)| {
        is_qualified_name(key).is_empty() && is_label_value(value).is_none()
    };
    let prefix = without_trailing_dash(&meta.generate_name);
    !meta.name.is_empty()
        && check(&meta.name).is_none()
        && (prefix.is_empty() || check(&prefix).is_none())
        && meta.labels.iter().all(is_label)
        && meta.annotations.is_empty()
        && meta.finalizers.is_empty()
        && meta.owner_references.len() < 2
}

pub fn metadata(errors: &mut Errors, kind: Kind, object: &Value) {
    let metadata = &object["metadata"];
    let (name, generate) = (text(metadata, "name"), text(metadata, "generateName"));
    let check = name_check(kind);
    if !generate.is_empty()
        && let Some(detail) = check(&without_trailing_dash(generate))
    {
        errors.invalid("metadata.generateName", generate, detail);
    }
    if name.is_empty() {
        if generate.is_empty() {
            errors.required("metadata.name", "name or generateName is required");
        }
    } else {
        errors.checked("metadata.name", name, check);
    }
    errors.not_negative("metadata.generation", &metadata["generation"]);
    labels(errors, &metadata["labels"], "metadata.labels");
    annotations(errors, &metadata["annotations"], "metadata.annotations");
    owners(errors, &metadata["ownerReferences"]);
    for finalizer in list(metadata, "finalizers")
        .iter()
        .filter_map(Value::as_str)
    {
        for detail in is_qualified_name(finalizer) {
            errors.invalid("metadata.finalizers", finalizer, detail);
        }
    }
    if !kind.is_custom() {
        finalizer_names(errors, &metadata["finalizers"], "metadata.finalizers");
    }
}

/// Checks that finalizers without a domain are Kubernetes' own: `validateKubeFinalizerName` of `pkg/apis/core/validation`.
pub fn finalizer_names(errors: &mut Errors, finalizers: &Value, field: &str) {
    const STANDARD: [&str; 3] = ["kubernetes", "orphan", "foregroundDeletion"];
    let names = finalizers.as_array().into_iter().flatten();
    for (index, name) in names.enumerate() {
        let name = name.as_str().unwrap_or("");
        if !name.contains('/') && !STANDARD.contains(&name) {
            let detail = "name is neither a standard finalizer name nor is it fully qualified";
            errors.invalid(&format!("{field}[{index}]"), name, detail);
        }
    }
}

/// Returns a prefix of generated names with an `a` for the trailing dash that the suffix follows, and for the character before it:
/// `maskTrailingDash` of `apimachinery/pkg/api/validation/generic.go`.
fn without_trailing_dash(prefix: &str) -> String {
    let mut masked = prefix.to_owned();
    if prefix.len() > 1 && masked.ends_with('-') {
        masked.pop();
        masked.pop();
        masked.push('a');
    }
    masked
}

/// Checks that a terminating object gets no new finalizers.
pub fn new_finalizers(object: &Value, old: &Value) -> Option<FieldError> {
    let (metadata, before) = (&object["metadata"], list(&old["metadata"], "finalizers"));
    if text(&old["metadata"], "deletionTimestamp").is_empty() {
        return None;
    }
    let mut new: Vec<&str> = list(metadata, "finalizers")
        .iter()
        .filter(|one| !before.contains(one))
        .filter_map(Value::as_str)
        .collect();
    new.sort();
    let found: Vec<String> = new.iter().map(|name| format!("{name:?}")).collect();
    let found = format!("found new finalizers []string{{{}}}", found.join(", "));
    let detail = format!("no new finalizers can be added if the object is being deleted, {found}");
    let field = "metadata.finalizers".to_owned();
    (!new.is_empty()).then(|| FieldError {
        field,
        fault: ErrorType::Forbidden,
        value: String::new(),
        detail,
    })
}

/// Validates owner references: complete, and at most one with `controller`.
fn owners(errors: &mut Errors, references: &Value) {
    let at = "metadata.ownerReferences";
    let mut first: Option<String> = None;
    for reference in references.as_array().into_iter().flatten() {
        let version = text(reference, "apiVersion");
        if version.is_empty() || version.ends_with('/') {
            errors.invalid(
                &format!("{at}.apiVersion"),
                version,
                "version must not be empty",
            );
        }
        for field in ["kind", "name", "uid"] {
            if text(reference, field).is_empty() {
                errors.invalid(&format!("{at}.{field}"), "", "must not be empty");
            }
        }
        if version == "v1" && text(reference, "kind") == "Event" {
            errors.add(
                ErrorType::Invalid,
                at,
                shown(&Value::from(vec![reference.clone()])),
                "/v1, Kind=Event is disallowed from being an owner",
            );
        }
        if reference["controller"] == true {
            let name = format!("{}/{}", text(reference, "kind"), text(reference, "name"));
            if let Some(first) = &first {
                let detail = "Only one reference can have Controller set to true. Found \"true\" in references for";
                errors.add(
                    ErrorType::Invalid,
                    at,
                    shown(references),
                    format!("{detail} {first} and {name}"),
                );
            }
            first.get_or_insert(name);
        }
    }
}

/// Formats owner references as the server's own type prints them.
fn shown(references: &Value) -> String {
    const FIELDS: [&str; 6] = [
        "apiVersion",
        "kind",
        "name",
        "uid",
        "controller",
        "blockOwnerDeletion",
    ];
    let one = |reference: &Value| {
        let fields = FIELDS.iter().filter(|field| has(reference, field));
        let fields: Vec<String> = fields
            .map(|field| format!("\"{field}\":{}", reference[*field]))
            .collect();
        format!("{{{}}}", fields.join(","))
    };
    let all: Vec<String> = references
        .as_array()
        .into_iter()
        .flatten()
        .map(one)
        .collect();
    format!("[{}]", all.join(","))
}

/// Validates keys and values of a label map.
pub fn labels(errors: &mut Errors, labels: &Value, field: &str) {
    for (key, value) in labels.as_object().into_iter().flatten() {
        for detail in is_qualified_name(key) {
            errors.invalid(field, key.as_str(), detail);
        }
        if let Some(detail) = is_label_value(value.as_str().unwrap_or("")) {
            errors.invalid(field, value.clone(), detail);
        }
    }
}

pub fn annotations(errors: &mut Errors, annotations: &Value, field: &str) {
    let mut size = 0;
    for (key, value) in annotations.as_object().into_iter().flatten() {
        size += key.len() + value.as_str().map_or(0, str::len);
        // Unlike labels, annotation keys may have upper case before the slash.
        for detail in is_qualified_name(&key.to_ascii_lowercase()) {
            errors.invalid(field, key.as_str(), detail);
        }
    }
    if size > ANNOTATIONS_LIMIT {
        errors.add(
            ErrorType::TooLong,
            field,
            "",
            format!("may not be more than {ANNOTATIONS_LIMIT} bytes"),
        );
    }
}

/// Validates conditions: `ValidateConditions` of `apimachinery/pkg/apis/meta/v1/validation`.
pub fn conditions(errors: &mut Errors, conditions: &[Value], field: &str) {
    const REASON: &str = "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric \
        characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or \
        'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')";
    let is_reason = |reason: &str| {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        reason.starts_with(|c: char| c.is_ascii_alphabetic())
            && reason.ends_with(is_word)
            && reason.chars().all(|c| is_word(c) || matches!(c, ',' | ':'))
    };
    for (index, condition) in conditions.iter().enumerate() {
        let at = |name: &str| format!("{field}[{index}].{name}");
        let (kind, reason) = (text(condition, "type"), text(condition, "reason"));
        if conditions[..index]
            .iter()
            .any(|other| text(other, "type") == kind)
        {
            errors.duplicate(&at("type"), kind);
        }
        errors.checked_all(&at("type"), kind, is_qualified_name);
        let status = text(condition, "status");
        errors.one_of(&at("status"), status, &["False", "True", "Unknown"]);
        let generation = &condition["observedGeneration"];
        if generation.as_i64().is_some_and(|generation| generation < 0) {
            errors.invalid(
                &at("observedGeneration"),
                generation.clone(),
                "must be greater than or equal to zero",
            );
        }
        if text(condition, "lastTransitionTime").is_empty() {
            errors.required(&at("lastTransitionTime"), "");
        }
        if reason.is_empty() {
            errors.required(&at("reason"), "");
        } else if !is_reason(reason) {
            errors.invalid(&at("reason"), reason, REASON);
        }
        for (name, limit) in [("reason", 1024), ("message", 32 * 1024)] {
            if text(condition, name).len() > limit {
                let detail = format!("may not be more than {limit} bytes");
                errors.add(ErrorType::TooLong, &at(name), "", detail);
            }
        }
    }
}

/// Validates a label selector.
pub fn selector(errors: &mut Errors, selector: &Value, field: &str) {
    labels(
        errors,
        &selector["matchLabels"],
        &format!("{field}.matchLabels"),
    );
    for (index, expression) in list(selector, "matchExpressions").iter().enumerate() {
        let at = format!("{field}.matchExpressions[{index}]");
        let values = list(expression, "values").len();
        match text(expression, "operator") {
            "In" | "NotIn" if values == 0 => {
                errors.required(
                    &format!("{at}.values"),
                    "must be specified when `operator` is 'In' or 'NotIn'",
                );
            }
            "Exists" | "DoesNotExist" if values > 0 => {
                errors.forbidden(
                    &format!("{at}.values"),
                    "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
                );
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
            other => errors.invalid(
                &format!("{at}.operator"),
                other,
                "not a valid selector operator",
            ),
        }
        for detail in is_qualified_name(text(expression, "key")) {
            errors.invalid(&format!("{at}.key"), text(expression, "key"), detail);
        }
        for (number, value) in list(expression, "values").iter().enumerate() {
            let value = value.as_str().unwrap_or("");
            if let Some(detail) = is_label_value(value) {
                errors.invalid(&format!("{at}.values[{number}]"), value, detail);
            }
        }
    }
}

/// Returns true if a selector is empty, or absent.
pub fn is_empty_selector(selector: &Value) -> bool {
    selector["matchLabels"]
        .as_object()
        .is_none_or(serde_json::Map::is_empty)
        && list(selector, "matchExpressions").is_empty()
}

/// Returns true if labels satisfy a selector.
pub fn matches(selector: &Value, labels: &Value) -> bool {
    let all = selector["matchLabels"]
        .as_object()
        .into_iter()
        .flatten()
        .all(|(key, value)| labels.get(key) == Some(value));
    all && list(selector, "matchExpressions").iter().all(|expression| {
        let value = labels.get(text(expression, "key"));
        let listed = value.is_some_and(|value| list(expression, "values").contains(value));
        match text(expression, "operator") {
            "In" => listed,
            "NotIn" => !listed,
            "Exists" => value.is_some(),
            "DoesNotExist" => value.is_none(),
            _ => false,
        }
    })
}
