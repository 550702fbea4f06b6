//! Options of a deletion.

use crate::api::Uid;

/// What happens to the dependents of a deleted object.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Propagation {
    /// They are garbage-collected after it is gone.
    #[default]
    Background,
    /// It waits until they are gone.
    Foreground,
    /// They are kept without it.
    Orphan,
}

/// How to delete.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Delete {
    /// Grace period in seconds; `None`: as in the Pod's spec.
    pub grace_seconds: Option<i64>,
    /// What happens to dependents.
    pub propagation: Propagation,
    /// Precondition: the object's uid.
    pub uid: Option<Uid>,
}
