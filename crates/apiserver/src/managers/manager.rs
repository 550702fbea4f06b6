//! Field manager of a client's writes.

use super::fields::FieldSet;
use k8s_model::kind::Subresource;
use k8s_model::{Object, Str, Time};
use std::rc::Rc;

/// Field manager of a client's writes.
#[derive(Clone, Debug, PartialEq)]
pub struct Manager {
    /// Name: `kubectl-client-side-apply`, or the value of `--field-manager`.
    pub name: Str,
    /// Subresource that it writes.
    pub subresource: Subresource,
    /// Fields that it applies, or that it submitted.
    pub(crate) fields: Fields,
    /// True for server-side apply: fields that it leaves out are removed.
    pub(crate) applies: bool,
    /// API version of the request, if it is known.
    pub(crate) api_version: Option<Str>,
    /// Handling of unknown fields.
    pub(crate) unknown: Unknown,
    /// Duplicate fields of the body.
    pub(crate) repeated: Rc<[DuplicateField]>,
    /// Managers set by the client in place of those of the object.
    pub(crate) given: Option<Rc<[Managed]>>,
    /// True if the apply migrates the fields of client-side apply.
    pub(crate) migrates: bool,
}

/// Entry of `managedFields`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Managed {
    pub manager: Str,
    pub subresource: Subresource,
    pub applies: bool,
    pub time: Time,
    pub fields: FieldSet,
}

impl Managed {
    /// Returns true for the entry of this manager, subresource and operation.
    pub fn is(&self, name: &str, subresource: Subresource, applies: bool) -> bool {
        self.manager == name && self.subresource == subresource && self.applies == applies
    }
}

/// Managed fields that do not follow from a comparison of two versions.
#[derive(Clone, Debug, PartialEq, Default)]
pub(crate) enum Fields {
    #[default]
    None,
    /// Applied fields.
    Applied(FieldSet),
    /// Fields of the object as the client submitted it, before admission and allocation: the set is computed on demand.
    Submitted(Rc<Object>),
}

/// Handling of unknown fields: `fieldValidation` of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unknown {
    /// Refuses the request.
    Refuse,
    /// Drops the fields with a warning.
    #[default]
    Warn,
    /// Drops the fields silently.
    Drop,
}

/// Duplicate field in an object of a body.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DuplicateField {
    /// Path in JSON, such as `spec.containers[0].image`.
    Json(String),
    /// Line of the second occurrence in YAML, and its key.
    Yaml(usize, String),
}

impl std::fmt::Display for DuplicateField {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            DuplicateField::Json(path) => write!(f, "duplicate field {path:?}"),
            DuplicateField::Yaml(line, key) => {
                write!(f, "line {line}: key {key:?} already set in map")
            }
        }
    }
}

impl DuplicateField {
    /// Returns the strict decoding errors of a body, including its unknown fields.
    pub fn strict(repeated: &[DuplicateField], unknown: Vec<String>) -> Vec<String> {
        let (json, yaml): (Vec<_>, Vec<_>) = repeated
            .iter()
            .partition(|field| matches!(field, DuplicateField::Json(_)));
        let mut errors: Vec<String> = json
            .iter()
            .map(ToString::to_string)
            .chain(unknown)
            .collect();
        if !yaml.is_empty() {
            errors.push(format!(
                "yaml: unmarshal errors:{}",
                yaml.iter()
                    .map(|field| format!("\n  {field}"))
                    .collect::<String>()
            ));
        }
        errors
    }
}

impl Manager {
    /// Returns the manager of a client that updates fields.
    pub fn update(name: &str, subresource: Subresource) -> Manager {
        Manager {
            name: name.into(),
            subresource,
            fields: Fields::None,
            applies: false,
            api_version: None,
            unknown: Unknown::Refuse,
            repeated: Rc::default(),
            given: None,
            migrates: false,
        }
    }

    /// Migrates from client-side apply: kubectl's server-side apply takes over its client-side fields in the same step, which takes the
    /// real program three requests.
    pub fn migrating(self) -> Manager {
        Manager {
            migrates: true,
            ..self
        }
    }

    /// Sets the handling of unknown fields.
    pub fn with_unknown(self, unknown: Unknown) -> Manager {
        Manager { unknown, ..self }
    }

    /// Sets the API version of the request.
    pub fn with_api_version(self, api_version: &str) -> Manager {
        Manager {
            api_version: (!api_version.is_empty()).then(|| api_version.into()),
            ..self
        }
    }

    /// Sets the duplicate fields of the request.
    pub fn with_repeated(self, repeated: &[DuplicateField]) -> Manager {
        Manager {
            repeated: repeated.into(),
            ..self
        }
    }
}
