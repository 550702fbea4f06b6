//! Label and field selectors of requests.

use super::definitions::Definitions;
use super::label_selector;
use super::selectable::SelectableField;
use k8s_model::selector::Requirement;
use k8s_model::{Kind, Object};
use serde_json::Value;

/// Requirements on the labels and the fields of objects.
#[derive(Clone, Debug, Default)]
pub struct ObjectSelector {
    labels: Vec<Requirement>,
    fields: Vec<FieldRequirement>,
}

/// Requirement on a field of an object.
#[derive(Clone, Debug)]
struct FieldRequirement {
    name: String,
    value: String,
    is_equal: bool,
    /// Field of the selected kind; `None` until the kind is known.
    field: Option<SelectableField>,
}

impl ObjectSelector {
    /// Parses `labelSelector` and `fieldSelector`.
    ///
    /// # Errors
    /// The API server's message.
    pub fn parse(labels: Option<&str>, fields: Option<&str>) -> Result<ObjectSelector, String> {
        Ok(ObjectSelector {
            labels: label_selector::parse(labels.unwrap_or(""))?,
            fields: field_requirements(fields.unwrap_or(""))?,
        })
    }

    /// Resolves the selector for one kind.
    ///
    /// # Errors
    /// The API server's message if the kind does not support one of the fields.
    pub fn for_kind(
        mut self,
        definitions: &Definitions,
        kind: Kind,
        api_version: &str,
    ) -> Result<ObjectSelector, String> {
        for requirement in &mut self.fields {
            requirement.field =
                Some(definitions.selectable(kind, api_version, &requirement.name)?);
        }
        Ok(self)
    }

    /// Returns true if the selector selects everything.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty()
    }

    /// Returns the name of the only object that the field selector allows, if it gives one.
    pub fn name(&self) -> Option<&str> {
        let exact = |field: &&FieldRequirement| field.is_equal && field.name == "metadata.name";
        self.fields.iter().find(exact).map(|field| &*field.value)
    }

    /// Returns true if an object meets all requirements; only those on few fields need its JSON.
    pub fn selects(&self, object: &Object) -> bool {
        let labels = &object.meta.labels;
        let has_labels = self.labels.iter().all(|requirement| {
            let value = labels.get(requirement.key.as_str());
            requirement.admits(value.map(|value| value.as_str()))
        });
        if !has_labels {
            return false;
        }
        let mut value = None;
        self.fields
            .iter()
            .all(|field| match field.plain_value(object) {
                Some(plain) => (plain == field.value) == field.is_equal,
                None => field.holds(value.get_or_insert_with(|| object.to_value())),
            })
    }

    /// Returns true if an object meets all requirements.
    pub fn matches(&self, object: &Value) -> bool {
        let labels = &object["metadata"]["labels"];
        self.labels.iter().all(|requirement| {
            let value = labels.get(requirement.key.as_str());
            requirement.admits(value.and_then(Value::as_str))
        }) && self.fields.iter().all(|field| field.holds(object))
    }
}

impl FieldRequirement {
    /// Returns the value of a field that is at hand without the object's JSON.
    fn plain_value<'o>(&self, object: &'o Object) -> Option<&'o str> {
        match self.name.as_str() {
            "metadata.name" => Some(&object.meta.name),
            "metadata.namespace" => Some(&object.meta.namespace),
            "spec.nodeName" => object.pod().map(|pod| pod.node_name.as_str()),
            _ => None,
        }
    }

    fn holds(&self, object: &Value) -> bool {
        let value = self
            .field
            .as_ref()
            .map(|field| field.value(object))
            .unwrap_or_default();
        (value == self.value) == self.is_equal
    }
}

/// Parses a field selector. Models `apimachinery/pkg/fields/selector.go`.
fn field_requirements(selector: &str) -> Result<Vec<FieldRequirement>, String> {
    let mut terms = terms(selector);
    terms.sort();
    let mut requirements = Vec::new();
    for term in terms.into_iter().filter(|term| !term.is_empty()) {
        let start = term.find("!=").into_iter().chain(term.find('=')).min();
        let start = start
            .ok_or_else(|| format!("invalid selector: '{selector}'; can't understand '{term}'"))?;
        let (name, rest) = term.split_at(start);
        let operator = ["!=", "==", "="]
            .into_iter()
            .find(|operator| rest.starts_with(operator))
            .unwrap_or("");
        let (name, value) = (name.to_owned(), unescaped(&rest[operator.len()..])?);
        requirements.push(FieldRequirement {
            name,
            value,
            is_equal: operator != "!=",
            field: None,
        });
    }
    Ok(requirements)
}

/// Splits at commas that are not escaped by a backslash.
fn terms(selector: &str) -> Vec<&str> {
    let (mut terms, mut start, mut escaped) = (Vec::new(), 0, false);
    for (at, c) in selector.char_indices() {
        if c == ',' && !escaped {
            terms.push(&selector[start..at]);
            start = at + 1;
        }
        escaped = c == '\\' && !escaped;
    }
    terms.push(&selector[start..]);
    terms
}

/// Removes the escapes of backslashes, commas and equals signs.
fn unescaped(value: &str) -> Result<String, String> {
    let mut text = String::new();
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some(next @ ('\\' | ',' | '=')) => text.push(next),
                next => {
                    let sequence: String = std::iter::once('\\').chain(next).collect();
                    return Err(format!(
                        "invalid field selector: invalid escape sequence: {sequence}"
                    ));
                }
            },
            ',' | '=' => {
                return Err(format!(
                    "invalid field selector: unescaped character in value: {}",
                    u32::from(c)
                ));
            }
            c => text.push(c),
        }
    }
    Ok(text)
}
