//! Results of applying objects, as data.

use super::Failure;
use k8s_model::ObjectRef;

/// Result of applying an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApplyResult {
    /// The object was created.
    Created,
    /// The object existed and was changed.
    Configured,
    /// The object existed and was left unchanged.
    Unchanged,
    /// The object was refused.
    Refused(Failure),
}

/// Applied object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    /// Key; `None` if the object has no name or its kind is unknown.
    pub key: Option<ObjectRef>,
    /// Result.
    pub result: ApplyResult,
}
