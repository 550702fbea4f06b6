//! Claims, volumes, and what else Pods name.

use super::id::Id;
use i18n::Message;

/// A ConfigMap, a Secret or a service account that Pods name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Used {
    /// Which; of one that does not exist what it would be called.
    pub id: Id,
    /// `env, volume`
    pub what_for: Vec<Message>,
    /// Whether it is named in vain.
    pub missing: bool,
    /// Workloads, and Pods that have none.
    pub users: Vec<Id>,
}

/// A Pod that was deleted, and the claims that it mounted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Removed {
    /// Which.
    pub id: Id,
    /// Names of the claims.
    pub claims: Vec<String>,
    /// Whether a person did it.
    pub by_user: bool,
    /// Whether another is ready in its place.
    pub back: bool,
}

/// A PersistentVolumeClaim.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Claim {
    /// Which.
    pub id: Id,
    /// `Bound`, `Pending`, `Lost`, `Terminating`
    pub phase: String,
    /// `1Gi`
    pub capacity: String,
    /// `RWO`
    pub mode: String,
    /// The PersistentVolume's name.
    pub volume: String,
    /// The StorageClass's name.
    pub class: String,
    /// The ordinal at the end of its name, and the StatefulSet it was made for.
    pub member: Option<(String, u32)>,
}

/// A PersistentVolume.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Volume {
    /// Which.
    pub id: Id,
    /// `Bound`, `Available`, `Released`
    pub phase: String,
    /// `1Gi`
    pub capacity: String,
    /// The node its affinity names, if any.
    pub node: String,
    /// The StorageClass's name.
    pub class: String,
    /// What the data badge says; empty without one.
    pub data: Message,
}

/// A StorageClass.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Class {
    /// Which.
    pub id: Id,
    /// `Delete` or `Retain`
    pub reclaim: String,
}
