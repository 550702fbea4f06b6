//! Field errors with the API server's messages, and their collection by validators.

use super::inner;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt;

/// Type of a field error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorType {
    /// Missing value.
    Required,
    /// Invalid value.
    Invalid,
    /// Value not in a fixed set.
    NotSupported,
    /// Field not allowed here.
    Forbidden,
    /// Duplicate in a list.
    Duplicate,
    /// Dangling reference.
    NotFound,
    /// Value that is too long.
    TooLong,
    TooMany,
    /// Value of another type.
    Type,
}

/// Error of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldError {
    /// Path such as `spec.template.spec.containers[0].image`.
    pub field: String,
    /// Type of error.
    pub fault: ErrorType,
    /// Invalid value as JSON text, for the types that show it.
    pub value: String,
    /// Detail after the value; may be empty.
    pub detail: String,
}

impl FieldError {
    /// Returns the `reason` of the API's status cause.
    pub fn reason(&self) -> &'static str {
        match self.fault {
            ErrorType::Required => "FieldValueRequired",
            ErrorType::Invalid => "FieldValueInvalid",
            ErrorType::NotSupported => "FieldValueNotSupported",
            ErrorType::Forbidden => "FieldValueForbidden",
            ErrorType::Duplicate => "FieldValueDuplicate",
            ErrorType::NotFound => "FieldValueNotFound",
            ErrorType::TooLong => "FieldValueTooLong",
            ErrorType::TooMany => "FieldValueTooMany",
            ErrorType::Type => "FieldValueTypeInvalid",
        }
    }

    /// Returns the error without the field.
    pub fn body(&self) -> String {
        let (name, shown) = match self.fault {
            ErrorType::Required => ("Required value", false),
            ErrorType::Forbidden => ("Forbidden", false),
            ErrorType::TooLong => ("Too long", false),
            ErrorType::TooMany => ("Too many", true),
            ErrorType::Invalid | ErrorType::Type => ("Invalid value", true),
            ErrorType::NotSupported => ("Unsupported value", true),
            ErrorType::Duplicate => ("Duplicate value", true),
            ErrorType::NotFound => ("Not found", true),
        };
        let value = if shown && !self.value.is_empty() {
            format!(": {}", self.value)
        } else {
            String::new()
        };
        let detail = if self.detail.is_empty() {
            String::new()
        } else {
            format!(": {}", self.detail)
        };
        format!("{name}{value}{detail}")
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.body())
    }
}

/// Formats the errors of an object, as `Deployment.apps "x" is invalid: ...`; several are bracketed, duplicates dropped.
pub fn invalid_message(group_kind: &str, name: &str, errors: &[FieldError]) -> String {
    let mut seen = BTreeSet::new();
    let mut texts: Vec<String> = Vec::new();
    for error in errors {
        let text = error.to_string();
        if seen.insert(text.clone()) {
            texts.push(text);
        }
    }
    let all = texts.join(", ");
    let all = if texts.len() > 1 {
        format!("[{all}]")
    } else {
        all
    };
    format!("{group_kind} \"{name}\" is invalid: {all}")
}

/// Formats the limit of the elements of a list.
pub(crate) fn at_most(limit: u64) -> String {
    format!(
        "must have at most {limit} item{}",
        if limit == 1 { "" } else { "s" }
    )
}

/// Collector of the errors of one object.
#[derive(Default)]
pub(crate) struct Errors {
    pub(super) list: Vec<FieldError>,
}

impl Errors {
    pub(super) fn add(
        &mut self,
        fault: ErrorType,
        field: &str,
        value: impl Into<String>,
        detail: impl Into<String>,
    ) {
        self.list.push(FieldError {
            field: field.to_owned(),
            fault,
            value: value.into(),
            detail: detail.into(),
        });
    }

    pub(super) fn required(&mut self, field: &str, detail: &str) {
        self.add(ErrorType::Required, field, "", detail);
    }

    pub(super) fn invalid(
        &mut self,
        field: &str,
        value: impl Into<Value>,
        detail: impl Into<String>,
    ) {
        self.add(ErrorType::Invalid, field, value.into().to_string(), detail);
    }

    /// Adds an invalid value of a struct, shown in the server's internal form.
    pub(super) fn invalid_struct(
        &mut self,
        field: &str,
        kind: &'static str,
        value: &Value,
        detail: &str,
    ) {
        self.add(ErrorType::Invalid, field, inner::text(kind, value), detail);
    }

    /// Adds an invalid value that is not shown.
    pub(super) fn invalid_at(&mut self, field: &str, detail: &str) {
        self.add(ErrorType::Invalid, field, "", detail);
    }

    pub(super) fn forbidden(&mut self, field: &str, detail: impl Into<String>) {
        self.add(ErrorType::Forbidden, field, "", detail);
    }

    pub(super) fn duplicate(&mut self, field: &str, value: impl Into<Value>) {
        self.add(ErrorType::Duplicate, field, value.into().to_string(), "");
    }

    pub(super) fn unsupported(&mut self, field: &str, value: impl Into<Value>, supported: &[&str]) {
        self.unsupported_text(field, value.into().to_string(), supported);
    }

    pub(super) fn unsupported_text(&mut self, field: &str, value: String, supported: &[&str]) {
        let list: Vec<String> = supported.iter().map(|s| format!("\"{s}\"")).collect();
        self.add(
            ErrorType::NotSupported,
            field,
            value,
            format!("supported values: {}", list.join(", ")),
        );
    }

    pub(super) fn too_many(&mut self, field: &str, count: usize, limit: usize) {
        self.add(
            ErrorType::TooMany,
            field,
            count.to_string(),
            at_most(limit as u64),
        );
    }

    /// Checks that a text is one of a set; returns true if it is.
    pub(super) fn one_of(&mut self, field: &str, value: &str, supported: &[&str]) -> bool {
        let good = supported.contains(&value);
        if !good {
            self.unsupported(field, value, supported);
        }
        good
    }

    /// Checks a text with a function of `names`.
    pub(super) fn checked(
        &mut self,
        field: &str,
        value: &str,
        check: impl Fn(&str) -> Option<String>,
    ) {
        if let Some(detail) = check(value) {
            self.invalid(field, value, detail);
        }
    }

    /// Adds each error of a value.
    pub(super) fn checked_all(
        &mut self,
        field: &str,
        value: &str,
        check: impl Fn(&str) -> Vec<String>,
    ) {
        for detail in check(value) {
            self.invalid(field, value, detail);
        }
    }

    /// Checks that a number, if set, is not negative.
    pub(super) fn not_negative(&mut self, field: &str, value: &Value) {
        if value.as_i64().is_some_and(|n| n < 0) {
            self.invalid(field, value.clone(), NOT_NEGATIVE);
        }
    }
}

pub(super) const NOT_NEGATIVE: &str = "must be greater than or equal to 0";

pub(super) const NOT_PORT: &str = "must be between 1 and 65535, inclusive";

/// Returns the text in a field; empty if there is none.
pub(super) fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or("")
}

/// Returns the elements of a list field.
pub(super) fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name].as_array().map_or(&[], Vec::as_slice)
}

pub(super) fn has(value: &Value, name: &str) -> bool {
    !value[name].is_null()
}
