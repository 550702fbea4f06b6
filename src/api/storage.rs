//! Claims, volumes and classes.

use super::meta::nullable;
use super::object::{Spec, part};
use super::pod::NodeSelector;
use super::selector::LabelSelector;
use super::{Str, Timestamp, Uid, quantity};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::rc::Rc;

#[derive(Clone, PartialEq, Debug, Default)]
pub struct PersistentVolumeClaim {
    pub spec: Rc<Spec<ClaimSpec>>,
    pub status: ClaimStatus,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ClaimSpec {
    #[serde(deserialize_with = "nullable")]
    pub access_modes: Vec<Str>,
    pub resources: ClaimResources,
    pub selector: Option<LabelSelector>,
    /// None: the default class is wanted; empty: no class at all.
    pub storage_class_name: Option<Str>,
    pub volume_mode: Str,
    pub volume_name: Str,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct ClaimResources {
    #[serde(deserialize_with = "nullable")]
    pub requests: BTreeMap<Str, Value>,
}

#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ClaimStatus {
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "nullable")]
    pub access_modes: Vec<Str>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "nullable")]
    pub capacity: BTreeMap<Str, Value>,
    /// `Pending`, `Bound` or `Lost`.
    pub phase: Str,
}

impl PersistentVolumeClaim {
    pub(super) fn from_parts(spec: Option<Value>, status: Option<Value>) -> Result<Self, String> {
        Ok(PersistentVolumeClaim { spec: Spec::from_raw(spec)?, status: part(status)? })
    }

    /// Bytes it asks for.
    pub fn request(&self) -> i64 {
        self.spec.resources.requests.get("storage").map_or(0, quantity::units_of)
    }

    /// The class it names; empty for none.
    pub fn class(&self) -> &str {
        self.spec.storage_class_name.as_deref().unwrap_or("")
    }
}

#[derive(Clone, PartialEq, Debug, Default)]
pub struct PersistentVolume {
    pub spec: Rc<Spec<VolumeSpec>>,
    pub status: VolumeStatus,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct VolumeSpec {
    #[serde(deserialize_with = "nullable")]
    pub access_modes: Vec<Str>,
    #[serde(deserialize_with = "nullable")]
    pub capacity: BTreeMap<Str, Value>,
    pub claim_ref: Option<ClaimRef>,
    pub persistent_volume_reclaim_policy: Str,
    pub storage_class_name: Str,
    pub volume_mode: Str,
    pub node_affinity: Option<VolumeNodeAffinity>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct VolumeNodeAffinity {
    pub required: Option<NodeSelector>,
}

/// The claim a volume is bound to, or kept for.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(default)]
pub struct ClaimRef {
    pub name: Str,
    pub namespace: Str,
    pub uid: Option<Uid>,
}

#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct VolumeStatus {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_phase_transition_time: Option<Timestamp>,
    #[serde(skip_serializing_if = "Str::is_empty")]
    pub message: Str,
    /// `Pending`, `Available`, `Bound`, `Released` or `Failed`.
    pub phase: Str,
    #[serde(skip_serializing_if = "Str::is_empty")]
    pub reason: Str,
}

impl PersistentVolume {
    pub(super) fn from_parts(spec: Option<Value>, status: Option<Value>) -> Result<Self, String> {
        Ok(PersistentVolume { spec: Spec::from_raw(spec)?, status: part(status)? })
    }

    /// Bytes it holds.
    pub fn capacity(&self) -> i64 {
        self.spec.capacity.get("storage").map_or(0, quantity::units_of)
    }
}

#[derive(Clone, PartialEq, Debug, Default)]
pub struct StorageClass {
    /// The whole object but its metadata.
    pub raw: Map<String, Value>,
    pub provisioner: Str,
    pub reclaim_policy: Str,
    /// `Immediate` or `WaitForFirstConsumer`.
    pub volume_binding_mode: Str,
}

impl StorageClass {
    pub(super) fn from_map(raw: Map<String, Value>) -> Result<Self, String> {
        let text = |key: &str, default: &str| Str::from(raw.get(key).and_then(Value::as_str).unwrap_or(default));
        Ok(StorageClass {
            provisioner: text("provisioner", ""),
            reclaim_policy: text("reclaimPolicy", "Delete"),
            volume_binding_mode: text("volumeBindingMode", "Immediate"),
            raw,
        })
    }

    /// Whether a claim of this class waits until a Pod that uses it is scheduled.
    pub fn waits_for_first_consumer(&self) -> bool {
        self.volume_binding_mode == "WaitForFirstConsumer"
    }
}
