//! In whose name a client writes.

use super::fields::FieldSet;
use crate::api::Str;

/// In whose name a client writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manager {
    /// `kubectl-client-side-apply`, or what `--field-manager` says.
    pub name: Str,
    /// `scale`, if it writes that subresource.
    pub subresource: &'static str,
    /// The fields it applies, or those it set on creation.
    pub(in crate::engine::store) fields: Option<FieldSet>,
    /// It applies: what it leaves out goes.
    pub(in crate::engine::store) applies: bool,
    /// What becomes of fields that the server does not know.
    pub(in crate::engine::store) unknown: Unknown,
}

/// What becomes of fields that the server does not know: `fieldValidation` of a request.
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
    /// A client that writes fields as it likes.
    pub fn update(name: &str, subresource: &'static str) -> Manager {
        Manager { name: name.into(), subresource, fields: None, applies: false, unknown: Unknown::Refuse }
    }

    /// The same with another wish for fields that do not exist.
    pub fn with_unknown(self, unknown: Unknown) -> Manager {
        Manager { unknown, ..self }
    }
}
