//! How a client asks for a deletion.

use crate::api::Uid;

/// What becomes of the objects that a deleted one owns.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Propagation {
    /// They are collected after it is gone.
    #[default]
    Background,
    /// It waits until they are gone.
    Foreground,
    /// They live on without it.
    Orphan,
}

/// How to delete.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Delete {
    /// Seconds a Pod gets to stop; none: as its spec says.
    pub grace_seconds: Option<i64>,
    /// What becomes of dependents.
    pub propagation: Propagation,
    /// Only if the object is still this one.
    pub uid: Option<Uid>,
}
