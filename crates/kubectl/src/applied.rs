//! What comes of applying an object, as data.

use super::Failure;
use k8s_model::ObjectRef;

/// What came of an object that was applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApplyResult {
    /// It is new.
    Created,
    /// It was there and differs now.
    Configured,
    /// It was there and stays as it is.
    Unchanged,
    /// It was refused.
    Refused(Failure),
}

/// An object that was applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    /// Which; none if it has no name or its kind is unknown.
    pub key: Option<ObjectRef>,
    /// What came of it.
    pub result: ApplyResult,
}
