//! Selectable fields of each kind, as field selectors name them.
//!
//! Models the field label conversions of `pkg/apis/*/conversion.go`, `SelectableFields` of `pkg/registry/*/strategy.go`, and
//! `apiextensions-apiserver/pkg/registry/customresource/strategy.go`.

use super::definitions::Definitions;
use super::registry::resource;
use k8s_model::Kind;
use serde_json::Value;

/// Field by which objects can be selected.
#[derive(Clone, Debug, PartialEq)]
pub struct SelectableField {
    /// JSON pointer of the value.
    pointer: String,
    /// JSON pointer of the value that stands in for an empty one.
    fallback: &'static str,
    /// Text of an absent value: the zero value of its type in Go.
    zero: &'static str,
}

impl SelectableField {
    fn at(name: &str, zero: &'static str) -> SelectableField {
        SelectableField {
            pointer: format!("/{}", name.replace('.', "/")),
            fallback: "",
            zero,
        }
    }

    /// Returns the value of an object's field as selectors compare it.
    pub fn value(&self, object: &Value) -> String {
        let text = |pointer: &str| match object.pointer(pointer) {
            Some(Value::String(text)) => text.clone(),
            Some(value @ (Value::Bool(_) | Value::Number(_))) => value.to_string(),
            _ => String::new(),
        };
        let own = text(&self.pointer);
        let found = if own.is_empty() && !self.fallback.is_empty() {
            text(self.fallback)
        } else {
            own
        };
        if found.is_empty() {
            self.zero.to_owned()
        } else {
            found
        }
    }
}

/// Selectable fields of Events in `events.k8s.io/v1`.
const NEW_EVENT: &[&str] = &[
    "reason",
    "regarding.kind",
    "regarding.namespace",
    "regarding.name",
    "regarding.uid",
    "regarding.apiVersion",
    "regarding.resourceVersion",
    "regarding.fieldPath",
    "reportingController",
    "type",
    "metadata.namespace",
    "metadata.name",
];

/// Returns the selectable fields of a kind in a version, if it has others than name and namespace.
fn own_fields(kind: Kind, api_version: &str) -> Option<&'static [&'static str]> {
    if kind == Kind::Event && api_version != "v1" {
        return Some(NEW_EVENT);
    }
    resource(kind).selectable_fields
}

/// Maps a selectable field to its stored field.
fn stored_field(kind: Kind, name: &str) -> SelectableField {
    match (kind, name) {
        (Kind::Pod, "spec.host") => SelectableField::at("spec.nodeName", ""),
        (Kind::Pod, "spec.hostNetwork") | (Kind::Node, "spec.unschedulable") => {
            SelectableField::at(name, "false")
        }
        (Kind::ReplicationController, _) if name == "status.replicas" => {
            SelectableField::at(name, "0")
        }
        (Kind::Job, "status.successful") => SelectableField::at("status.succeeded", "0"),
        (Kind::Event, "source") => SelectableField {
            fallback: "/reportingComponent",
            ..SelectableField::at("source.component", "")
        },
        (Kind::Event, "reportingController") => SelectableField::at("reportingComponent", ""),
        (Kind::Event, _) => SelectableField::at(&name.replace("regarding.", "involvedObject."), ""),
        _ => SelectableField::at(name, ""),
    }
}

impl Definitions {
    /// Returns the field that a field selector names.
    ///
    /// # Errors
    /// The API server's message if objects of the kind cannot be selected by it.
    pub fn selectable(
        &self,
        kind: Kind,
        api_version: &str,
        name: &str,
    ) -> Result<SelectableField, String> {
        if let Some(definition) = self.of(kind) {
            let version = definition.version(api_version.rsplit('/').next().unwrap_or(""));
            let usual =
                name == "metadata.name" || (name == "metadata.namespace" && kind.info().namespaced);
            let is_known = usual
                || version
                    .selectable
                    .iter()
                    .any(|path| path.trim_start_matches('.') == name);
            return if is_known {
                Ok(SelectableField::at(name, ""))
            } else {
                Err(format!("field label not supported: {name}"))
            };
        }
        match own_fields(kind, api_version) {
            Some(fields) if fields.contains(&name) => Ok(stored_field(kind, name)),
            Some(_) if kind == Kind::Job => {
                Err(format!("field label {name:?} not supported for Job"))
            }
            Some(_) if kind == Kind::ResourceSlice => Err(format!(
                "field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: {name}"
            )),
            Some(_) => Err(format!("field label not supported: {name}")),
            None if matches!(name, "metadata.name" | "metadata.namespace") => {
                Ok(SelectableField::at(name, ""))
            }
            None => Err(format!(
                "{name:?} is not a known field selector: only \"metadata.name\", \"metadata.namespace\""
            )),
        }
    }
}
