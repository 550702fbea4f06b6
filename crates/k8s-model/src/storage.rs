//! Claims, volumes and storage classes.

use super::json::record;
use super::pod::{NodeSelector, PodCondition};
use super::selector::LabelSelector;
use super::spec::Spec;
use super::{Str, Timestamp, Uid, quantity};
use crate::json;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::rc::Rc;

#[derive(Clone, PartialEq, Debug, Default)]
pub struct PersistentVolumeClaim {
    pub spec: Rc<Spec<ClaimSpec>>,
    pub status: ClaimStatus,
}

record! {
    #[derive(Clone, Debug, Default)]
    pub struct ClaimSpec {
        pub access_modes: Vec<Str> = "accessModes",
        pub resources: ClaimResources = "resources",
        pub selector: Option<LabelSelector> = "selector",
        /// Storage class; `None` for the default class, empty for no class.
        pub storage_class_name: Option<Str> = "storageClassName",
        pub volume_attributes_class_name: Str = "volumeAttributesClassName",
        pub volume_mode: Str = "volumeMode",
        pub volume_name: Str = "volumeName",
    }

    #[derive(Clone, Debug, Default)]
    pub struct ClaimResources {
        pub requests: BTreeMap<Str, Value> = "requests",
    }

    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct ClaimStatus {
        pub access_modes: Vec<Str> = "accessModes" omitempty,
        /// State of each expansion.
        pub allocated_resource_statuses: BTreeMap<Str, Value> = "allocatedResourceStatuses" omitempty,
        /// Target sizes of expansions.
        pub allocated_resources: BTreeMap<Str, Value> = "allocatedResources" omitempty,
        pub capacity: BTreeMap<Str, Value> = "capacity" omitempty,
        pub conditions: Vec<PodCondition> = "conditions" omitempty,
        /// `Pending`, `Bound` or `Lost`.
        pub phase: Str = "phase",
    }
}

impl PersistentVolumeClaim {
    pub(super) fn from_parts(spec: Option<Value>, status: Option<Value>) -> Result<Self, String> {
        Ok(PersistentVolumeClaim {
            spec: Spec::from_raw(spec)?,
            status: json::part(status.as_ref())?,
        })
    }

    /// Returns the requested bytes.
    pub fn request(&self) -> i64 {
        self.spec
            .resources
            .requests
            .get("storage")
            .map_or(0, quantity::units_of)
    }

    /// Returns the name of the storage class; empty for none.
    pub fn class(&self) -> &str {
        self.spec.storage_class_name.as_deref().unwrap_or("")
    }

    /// Returns the volume mode, `Filesystem` or `Block`.
    pub fn mode(&self) -> &str {
        volume_mode(&self.spec.volume_mode)
    }
}

#[derive(Clone, PartialEq, Debug, Default)]
pub struct PersistentVolume {
    pub spec: Rc<Spec<VolumeSpec>>,
    pub status: VolumeStatus,
}

record! {
    #[derive(Clone, Debug, Default)]
    pub struct VolumeSpec {
        pub access_modes: Vec<Str> = "accessModes",
        pub capacity: BTreeMap<Str, Value> = "capacity",
        pub claim_ref: Option<ClaimRef> = "claimRef",
        pub persistent_volume_reclaim_policy: Str = "persistentVolumeReclaimPolicy",
        pub storage_class_name: Str = "storageClassName",
        pub volume_attributes_class_name: Str = "volumeAttributesClassName",
        pub volume_mode: Str = "volumeMode",
        pub node_affinity: Option<VolumeNodeAffinity> = "nodeAffinity",
    }

    #[derive(Clone, Debug, Default)]
    pub struct VolumeNodeAffinity {
        pub required: Option<NodeSelector> = "required",
    }

    /// Claim that a volume is bound to, or reserved for.
    #[derive(Clone, PartialEq, Eq, Debug, Default)]
    pub struct ClaimRef {
        pub name: Str = "name",
        pub namespace: Str = "namespace",
        pub uid: Option<Uid> = "uid",
    }

    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct VolumeStatus {
        pub last_phase_transition_time: Option<Timestamp> = "lastPhaseTransitionTime" omitempty,
        pub message: Str = "message" omitempty,
        /// `Pending`, `Available`, `Bound`, `Released` or `Failed`.
        pub phase: Str = "phase",
        pub reason: Str = "reason" omitempty,
    }
}

impl PersistentVolume {
    pub(super) fn from_parts(spec: Option<Value>, status: Option<Value>) -> Result<Self, String> {
        Ok(PersistentVolume {
            spec: Spec::from_raw(spec)?,
            status: json::part(status.as_ref())?,
        })
    }

    /// Returns the volume mode, `Filesystem` or `Block`.
    pub fn mode(&self) -> &str {
        volume_mode(&self.spec.volume_mode)
    }

    /// Returns the capacity in bytes.
    pub fn capacity(&self) -> i64 {
        self.spec
            .capacity
            .get("storage")
            .map_or(0, quantity::units_of)
    }
}

fn volume_mode(mode: &str) -> &str {
    if mode.is_empty() { "Filesystem" } else { mode }
}

#[derive(Clone, PartialEq, Debug, Default)]
pub struct StorageClass {
    /// Whole object except its metadata.
    pub raw: Map<String, Value>,
    pub provisioner: Str,
    pub reclaim_policy: Str,
    /// `Immediate` or `WaitForFirstConsumer`.
    pub volume_binding_mode: Str,
}

impl StorageClass {
    pub(super) fn from_map(raw: Map<String, Value>) -> Result<Self, String> {
        let text = |key: &str, default: &str| {
            Str::from(raw.get(key).and_then(Value::as_str).unwrap_or(default))
        };
        Ok(StorageClass {
            provisioner: text("provisioner", ""),
            reclaim_policy: text("reclaimPolicy", "Delete"),
            volume_binding_mode: text("volumeBindingMode", "Immediate"),
            raw,
        })
    }

    /// Returns true if the class is annotated as the default for claims without a class.
    pub fn is_default(meta: &super::ObjectMeta) -> bool {
        const BETA: &str = "storageclass.beta.kubernetes.io/is-default-class";
        [IS_DEFAULT, BETA]
            .into_iter()
            .any(|key| meta.annotation(key).is_some_and(|v| v == "true"))
    }

    /// Returns the default among classes.
    pub fn default_of<'a>(
        classes: impl Iterator<Item = &'a Rc<super::Object>>,
    ) -> Option<&'a Rc<super::Object>> {
        newest(classes.filter(|class| StorageClass::is_default(&class.meta)))
    }

    /// Returns true if volumes may be made for a node with these labels: `allowedTopologies` has no terms, or one that matches.
    pub fn allows(&self, labels: &super::Labels) -> bool {
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let terms = self
            .raw
            .get("allowedTopologies")
            .map_or_else(Vec::new, list);
        let matches = |expression: &Value| {
            let label = expression["key"].as_str().and_then(|key| labels.get(key));
            let mut values = list(&expression["values"]).into_iter();
            label.is_some_and(|label| values.any(|value| value == label.as_str()))
        };
        terms.is_empty()
            || terms
                .iter()
                .any(|term| list(&term["matchLabelExpressions"]).iter().all(matches))
    }

    /// Returns true if a claim of this class waits until a Pod that uses it is scheduled.
    pub fn waits_for_first_consumer(&self) -> bool {
        self.volume_binding_mode == "WaitForFirstConsumer"
    }
}

/// Returns the class that counts if several are the default: the newest; of equally old ones, the first by name.
pub(super) fn newest<'a>(
    classes: impl Iterator<Item = &'a Rc<super::Object>>,
) -> Option<&'a Rc<super::Object>> {
    classes.min_by_key(|class| {
        (
            std::cmp::Reverse(class.meta.creation_timestamp),
            &class.meta.name,
        )
    })
}

/// Annotation of a class: default for claims without a class.
pub const IS_DEFAULT: &str = "storageclass.kubernetes.io/is-default-class";
/// Annotation of a claim: both sides of its binding are written.
pub const BIND_COMPLETED: &str = "pv.kubernetes.io/bind-completed";
/// Annotation of a claim that waits for its first consumer: node that the scheduler selected.
pub const SELECTED_NODE: &str = "volume.kubernetes.io/selected-node";
/// Annotation of a claim: provisioner that the binder has asked for a volume.
pub const STORAGE_PROVISIONER: &str = "volume.kubernetes.io/storage-provisioner";
