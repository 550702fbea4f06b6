//! Claims, volumes, and other objects referenced by Pods.

use super::id::Id;
use i18n::Message;

/// ConfigMap, Secret or service account referenced by Pods.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Used {
    /// Identity; for a missing object, that which it would have.
    pub id: Id,
    /// Uses: `env, volume`.
    pub what_for: Vec<Message>,
    /// True if the object does not exist.
    pub missing: bool,
    /// Workloads that reference it, and Pods without one.
    pub users: Vec<Id>,
}

/// Pod that was deleted, and the claims that it mounted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Removed {
    /// Identity.
    pub id: Id,
    /// Names of its claims.
    pub claims: Vec<String>,
    /// True if a person deleted it.
    pub by_user: bool,
    /// True if its replacement is ready.
    pub back: bool,
}

/// A PersistentVolumeClaim.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Claim {
    /// Identity.
    pub id: Id,
    /// Phase: `Bound`, `Pending`, `Lost`, `Terminating`.
    pub phase: String,
    /// Capacity: `1Gi`.
    pub capacity: String,
    /// Access mode: `RWO`.
    pub mode: String,
    /// Name of the PersistentVolume.
    pub volume: String,
    /// Name of the StorageClass.
    pub class: String,
    /// StatefulSet for which it was created, and the ordinal at the end of its name.
    pub member: Option<(String, u32)>,
}

/// A PersistentVolume.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Volume {
    /// Identity.
    pub id: Id,
    /// Phase: `Bound`, `Available`, `Released`.
    pub phase: String,
    /// Capacity: `1Gi`.
    pub capacity: String,
    /// Node named by its affinity, if any.
    pub node: String,
    /// Name of the StorageClass.
    pub class: String,
    /// Contents of the data badge; empty without one.
    pub data: Message,
}

/// A StorageClass.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Class {
    /// Identity.
    pub id: Id,
    /// Reclaim policy: `Delete` or `Retain`.
    pub reclaim: String,
}
