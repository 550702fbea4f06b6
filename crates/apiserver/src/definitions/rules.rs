//! `x-kubernetes-validations`: evaluation of the rules of a schema.
//!
//! Models `apiextensions-apiserver/pkg/apiserver/schema/cel/validation.go`.

use super::super::validation::{ErrorType, FieldError};
use super::Version;
use k8s_model::cel::Program;
use serde_json::Value;

/// Returns an error that blocks the rules: they are evaluated only on objects that otherwise match the schema.
pub(crate) fn blocked(errors: &[FieldError]) -> Option<FieldError> {
    let blocks = |fault: ErrorType| {
        matches!(
            fault,
            ErrorType::NotSupported
                | ErrorType::Required
                | ErrorType::TooLong
                | ErrorType::TooMany
                | ErrorType::Type
        )
    };
    errors.iter().any(|error| blocks(error.fault)).then(|| FieldError {
        field: "<nil>".into(),
        fault: ErrorType::Invalid,
        value: "null".into(),
        detail: "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation"
            .into(),
    })
}

/// Returns the violations of the rules.
pub(crate) fn broken(version: &Version, value: &Value, old: Option<&Value>) -> Vec<FieldError> {
    let mut asked = Evaluator {
        version,
        errors: Vec::new(),
    };
    asked.visit(&version.schema, "", value, old, "", 0);
    asked.errors
}

struct Evaluator<'a> {
    version: &'a Version,
    errors: Vec<FieldError>,
}

impl Evaluator<'_> {
    fn program(&self, at: &str) -> Option<&Program> {
        self.version
            .rules
            .iter()
            .find(|(path, _)| path == at)
            .map(|(_, program)| program)
    }

    fn visit(
        &mut self,
        schema: &Value,
        at: &str,
        value: &Value,
        old: Option<&Value>,
        path: &str,
        depth: usize,
    ) {
        if depth > 100 || value.is_null() {
            return;
        }
        for (index, rule) in schema["x-kubernetes-validations"]
            .as_array()
            .into_iter()
            .flatten()
            .enumerate()
        {
            self.ask(
                rule,
                &format!("{at}.x-kubernetes-validations[{index}]"),
                value,
                old,
                path,
            );
        }
        match value {
            Value::Object(map) => {
                for (name, value) in map {
                    let old = old.and_then(|old| old.get(name));
                    let inner = if path.is_empty() {
                        name.clone()
                    } else {
                        format!("{path}.{name}")
                    };
                    if let Some(schema) = schema["properties"].get(name) {
                        self.visit(
                            schema,
                            &format!("{at}.properties[{name}]"),
                            value,
                            old,
                            &inner,
                            depth + 1,
                        );
                    } else if schema["additionalProperties"].is_object() {
                        self.visit(
                            &schema["additionalProperties"],
                            &format!("{at}.additionalProperties"),
                            value,
                            old,
                            &inner,
                            depth + 1,
                        );
                    }
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    // Elements have an old value only in lists with keys.
                    let old = former(schema, item, old);
                    self.visit(
                        &schema["items"],
                        &format!("{at}.items"),
                        item,
                        old,
                        &format!("{path}[{index}]"),
                        depth + 1,
                    );
                }
            }
            _ => {}
        }
    }

    fn ask(&mut self, rule: &Value, at: &str, value: &Value, old: Option<&Value>, path: &str) {
        let Some(program) = self.program(at) else {
            return;
        };
        if program.asks_old() && old.is_none() || !program.asks_old() && old == Some(value) {
            return;
        }
        let text = rule["rule"].as_str().unwrap_or("").trim();
        let said = |program: &Program| {
            program
                .ask(value, old)
                .ok()
                .and_then(|said| said.as_str().map(str::to_owned))
        };
        let detail = match program.ask(value, old) {
            Ok(Value::Bool(true)) => return,
            Ok(_) => {
                let expression = self
                    .program(&format!("{at}.messageExpression"))
                    .and_then(said);
                let message = expression.or_else(|| {
                    rule["message"]
                        .as_str()
                        .filter(|text| !text.is_empty())
                        .map(str::to_owned)
                });
                message.unwrap_or_else(|| format!("failed rule: {text}"))
            }
            Err(error) if error.starts_with("operation cancelled") => {
                format!("rule evaluation error: {error} for rule: {text}")
            }
            Err(error) => format!("rule evaluation error: {error} evaluating rule: {text}"),
        };
        let fault = match rule["reason"].as_str() {
            Some("FieldValueForbidden") => ErrorType::Forbidden,
            Some("FieldValueRequired") => ErrorType::Required,
            Some("FieldValueDuplicate") => ErrorType::Duplicate,
            _ => ErrorType::Invalid,
        };
        let inner = rule["fieldPath"].as_str().unwrap_or("");
        let field = format!("{path}{inner}");
        let field = match field.trim_start_matches('.') {
            "" => "<nil>".to_owned(),
            field => field.to_owned(),
        };
        // Only scalar values are shown.
        let shown = if value.is_object() || value.is_array() {
            String::new()
        } else {
            value.to_string()
        };
        // A duplicate is not explained.
        let detail = match fault {
            ErrorType::Duplicate => String::new(),
            _ => detail,
        };
        self.errors.push(FieldError {
            field,
            fault,
            value: shown,
            detail,
        });
    }
}

fn former<'a>(schema: &Value, item: &Value, old: Option<&'a Value>) -> Option<&'a Value> {
    let keys = schema["x-kubernetes-list-map-keys"].as_array()?;
    let same = |old: &&Value| {
        keys.iter()
            .filter_map(Value::as_str)
            .all(|key| old[key] == item[key])
    };
    old?.as_array()?.iter().find(same)
}
