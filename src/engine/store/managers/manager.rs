//! The field manager of a client's writes.

use super::fields::FieldSet;
use crate::api::Str;

/// The field manager of a client's writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manager {
    /// `kubectl-client-side-apply`, or what `--field-manager` says.
    pub name: Str,
    /// `scale`, if it writes that subresource.
    pub subresource: &'static str,
    /// The fields it applies, or those it set on creation.
    pub(in crate::engine::store) fields: Option<FieldSet>,
    /// Whether it applies: fields it leaves out are removed.
    pub(in crate::engine::store) applies: bool,
    /// What happens to unknown fields.
    pub(in crate::engine::store) unknown: Unknown,
}

/// What happens to unknown fields: `fieldValidation` of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// The request is refused.
    Refuse,
    /// They are dropped, and the client is warned.
    Warn,
    /// They are dropped.
    Drop,
}

impl Manager {
    /// A client that updates fields.
    pub fn update(name: &str, subresource: &'static str) -> Manager {
        Manager { name: name.into(), subresource, fields: None, applies: false, unknown: Unknown::Refuse }
    }

    /// The same with another treatment of unknown fields.
    pub fn with_unknown(self, unknown: Unknown) -> Manager {
        Manager { unknown, ..self }
    }
}
