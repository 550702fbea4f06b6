//! Match of volumes and claims, for the volume binder, the scheduler and diagnoses.
//!
//! Models `FindMatchingVolume` and its parts in `component-helpers/storage/volume/pv_helpers.go`.

use super::storage::{PersistentVolume, PersistentVolumeClaim};
use super::{Object, Str};
use std::rc::Rc;

/// First respect in which a volume cannot serve a claim.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum VolumeMismatch {
    /// The volume is bound to or reserved for another claim.
    Taken,
    /// The volume is being deleted.
    Deleting,
    /// The volume is smaller than requested.
    Size,
    /// The volume has another storage class.
    Class,
    /// The volume has another VolumeAttributesClass.
    AttributesClass,
    /// The volume modes differ: Filesystem or Block.
    Mode,
    /// The volume lacks this access mode.
    AccessMode(Str),
    /// The claim's selector does not match the volume's labels.
    Selector,
}

/// Returns true if the volume is bound to or reserved for this very claim (`IsVolumeBoundToClaim`).
pub fn is_bound_to(volume: &PersistentVolume, claim: &Object) -> bool {
    volume.spec.claim_ref.as_ref().is_some_and(|reference| {
        reference.name == claim.meta.name
            && reference.namespace == claim.meta.namespace
            && reference
                .uid
                .is_none_or(|uid| uid.0 == 0 || uid == claim.meta.uid)
    })
}

/// Returns the first respect in which a volume cannot serve a claim that names it, except that it may be taken
/// (`checkVolumeSatisfyClaim` of `pkg/controller/volume/persistentvolume/pv_controller.go`).
pub fn unsatisfied(volume: &Object, claim: &PersistentVolumeClaim) -> Option<VolumeMismatch> {
    let body: &PersistentVolume = volume.body();
    if volume.meta.is_deleting() {
        return Some(VolumeMismatch::Deleting);
    }
    if body.capacity() < claim.request() {
        return Some(VolumeMismatch::Size);
    }
    if body.spec.storage_class_name != claim.class() {
        return Some(VolumeMismatch::Class);
    }
    if body.spec.volume_attributes_class_name != claim.spec.volume_attributes_class_name {
        return Some(VolumeMismatch::AttributesClass);
    }
    if body.mode() != claim.mode() {
        return Some(VolumeMismatch::Mode);
    }
    let mut modes = claim.spec.access_modes.iter();
    modes
        .find(|mode| !body.spec.access_modes.contains(mode))
        .map(|mode| VolumeMismatch::AccessMode(mode.clone()))
}

/// Returns the first respect in which a volume cannot serve a claim.
pub fn mismatch(volume: &Object, claim: &Object) -> Option<VolumeMismatch> {
    let (body, asks): (&PersistentVolume, &PersistentVolumeClaim) = (volume.body(), claim.body());
    if body.spec.claim_ref.is_some() && !is_bound_to(body, claim) {
        return Some(VolumeMismatch::Taken);
    }
    let selected = || {
        asks.spec
            .selector
            .as_ref()
            .is_none_or(|selector| selector.matches(&volume.meta.labels))
    };
    unsatisfied(volume, asks).or_else(|| (!selected()).then_some(VolumeMismatch::Selector))
}

/// Returns the volume reserved for a claim, or the smallest available one that fits; the first among equals. `rank` orders
/// volumes before their size does.
///
/// A reserved volume needs neither the claim's class nor its labels. `reachable` tells the volumes that the node in question
/// reaches, if there is one: a reserved volume out of its reach means no match.
pub fn find_matching<'v, R: Ord>(
    claim: &Object,
    volumes: impl Iterator<Item = &'v Rc<Object>> + Clone,
    reachable: impl Fn(&PersistentVolume) -> bool,
    rank: impl Fn(&PersistentVolume) -> R,
) -> Option<&'v Rc<Object>> {
    let asks: &PersistentVolumeClaim = claim.body();
    let reserved = volumes.clone().find(|volume| {
        let body: &PersistentVolume = volume.body();
        is_bound_to(body, claim)
            && !volume.meta.is_deleting()
            && body.capacity() >= asks.request()
            && body.mode() == asks.mode()
            && body.spec.volume_attributes_class_name == asks.spec.volume_attributes_class_name
    });
    if let Some(reserved) = reserved {
        return Some(reserved).filter(|volume| reachable(volume.body()));
    }
    volumes
        .filter(|volume| {
            let body: &PersistentVolume = volume.body();
            body.spec.claim_ref.is_none()
                && body.status.phase == "Available"
                && mismatch(volume, claim).is_none()
                && reachable(body)
        })
        .min_by_key(|volume| {
            let body: &PersistentVolume = volume.body();
            (rank(body), body.capacity())
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;
    use serde_json::{Value, json};

    fn volume(name: &str, size: &str, more: Value) -> Rc<Object> {
        let mut value = json!({
            "metadata": {"name": name, "labels": {"disk": name}},
            "spec": {"capacity": {"storage": size}, "accessModes": ["ReadWriteOnce"]},
            "status": {"phase": "Available"},
        });
        for (key, more) in more.as_object().into_iter().flatten() {
            value["spec"][key] = more.clone();
        }
        Rc::new(Object::from_value(Kind::PersistentVolume, value).unwrap())
    }

    fn claim(more: Value) -> Object {
        let mut value = json!({
            "metadata": {"name": "data", "namespace": "default"},
            "spec": {"resources": {"requests": {"storage": "1Gi"}}, "accessModes": ["ReadWriteOnce"]},
        });
        for (key, more) in more.as_object().into_iter().flatten() {
            value["spec"][key] = more.clone();
        }
        Object::from_value(Kind::PersistentVolumeClaim, value).unwrap()
    }

    fn found(claim: &Object, volumes: &[Rc<Object>]) -> String {
        find_matching(claim, volumes.iter(), |_| true, |_| ())
            .map_or_else(String::new, |volume| volume.meta.name.to_string())
    }

    #[test]
    fn smallest_volume_of_the_claims_mode_and_labels_is_taken() {
        let volumes = [
            volume("small", "512Mi", json!({})),
            volume("block", "1Gi", json!({"volumeMode": "Block"})),
            volume("large", "3Gi", json!({})),
            volume("fits", "2Gi", json!({})),
        ];
        assert_eq!(found(&claim(json!({})), &volumes), "fits");
        let block = claim(json!({"volumeMode": "Block"}));
        assert_eq!(found(&block, &volumes), "block");
        let labelled = claim(json!({"selector": {"matchLabels": {"disk": "large"}}}));
        assert_eq!(found(&labelled, &volumes), "large");
        let small = claim(json!({"selector": {"matchLabels": {"disk": "small"}}}));
        assert_eq!(found(&small, &volumes), "");
    }

    #[test]
    fn reserved_volume_is_taken_whatever_its_class_if_it_is_large_enough() {
        let reserved = |size| {
            let reference = json!({"name": "data", "namespace": "default"});
            volume(
                "reserved",
                size,
                json!({"claimRef": reference, "storageClassName": "fast"}),
            )
        };
        let free = volume("free", "1Gi", json!({}));
        let claim = claim(json!({}));
        assert_eq!(found(&claim, &[free.clone(), reserved("9Gi")]), "reserved");
        assert_eq!(found(&claim, &[free, reserved("1Mi")]), "free");
    }
}
