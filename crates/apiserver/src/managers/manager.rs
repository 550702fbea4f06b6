//! The field manager of a client's writes.

use super::fields::FieldSet;
use k8s_model::{Object, Str, Time};
use std::rc::Rc;

/// The field manager of a client's writes.
#[derive(Clone, Debug, PartialEq)]
pub struct Manager {
    /// `kubectl-client-side-apply`, or what `--field-manager` says.
    pub name: Str,
    /// `scale`, if it writes that subresource.
    pub subresource: &'static str,
    /// The fields it applies, or those it set on creation.
    pub(crate) fields: Fields,
    /// True if it applies: fields it leaves out are removed.
    pub(crate) applies: bool,
    /// The version that its request has named, if it is known.
    pub(crate) api_version: Option<Str>,
    /// What happens to unknown fields.
    pub(crate) unknown: Unknown,
    /// Fields that stand twice in what it sent.
    pub(crate) repeated: Rc<[DuplicateField]>,
    /// The managers that it names in place of those of the object.
    pub(crate) given: Option<Rc<[Managed]>>,
    /// True if it ends client-side apply with what it applies.
    pub(crate) migrates: bool,
}

/// One entry of `managedFields`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Managed {
    pub manager: Str,
    pub subresource: &'static str,
    pub applies: bool,
    pub time: Time,
    pub fields: FieldSet,
}

impl Managed {
    /// Returns true if it is the one of a name, for a part of the object.
    pub fn is(&self, name: &str, subresource: &str, applies: bool) -> bool {
        self.manager == name && self.subresource == subresource && self.applies == applies
    }
}

/// The fields that no comparison of two versions shows.
#[derive(Clone, Debug, PartialEq, Default)]
pub(crate) enum Fields {
    #[default]
    None,
    /// Those it applies.
    Applied(FieldSet),
    /// All of the object that it created, as it was before admission added to it: the set is made when it is asked for.
    Created(Rc<Object>),
}

/// What happens to unknown fields: `fieldValidation` of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unknown {
    /// The request is refused.
    Refuse,
    /// They are dropped, and the client is warned.
    #[default]
    Warn,
    /// They are dropped.
    Drop,
}

/// A field that stands twice in one object of a body.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DuplicateField {
    /// In JSON: its path, such as `spec.containers[0].image`.
    Json(String),
    /// In YAML: the line of the second one, and its key.
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
    /// The strict decoding errors of a body, with those of its unknown fields.
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
    /// A client that updates fields.
    pub fn update(name: &str, subresource: &'static str) -> Manager {
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

    /// kubectl that applies on the server: in the same step it takes over what it has applied on its own side, which takes the program
    /// three requests.
    pub fn migrating(self) -> Manager {
        Manager {
            migrates: true,
            ..self
        }
    }

    /// The same with another treatment of unknown fields.
    pub fn with_unknown(self, unknown: Unknown) -> Manager {
        Manager { unknown, ..self }
    }

    /// A client whose request has named a version.
    pub fn with_api_version(self, api_version: &str) -> Manager {
        Manager {
            api_version: (!api_version.is_empty()).then(|| api_version.into()),
            ..self
        }
    }

    /// A client that sent fields twice.
    pub fn with_repeated(self, repeated: &[DuplicateField]) -> Manager {
        Manager {
            repeated: repeated.into(),
            ..self
        }
    }
}
