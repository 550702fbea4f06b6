//! Claims in scheduling: binding state, node affinity of their volumes, and delayed binding.
//!
//! Models `pkg/scheduler/framework/plugins/volumebinding/binder.go`.

use super::framework::Cycle;
use super::matching::selects;
use apiserver::why::Why;
use controller_runtime::client::LoopClient;
use controller_runtime::informer::Cache;
use k8s_model::pod::Pod;
use k8s_model::references::claim_reference;
use k8s_model::storage::{
    BIND_COMPLETED, PersistentVolume, PersistentVolumeClaim, SELECTED_NODE, StorageClass,
};
use k8s_model::{Body, Kind, Object, ObjectRef, Str};
use std::rc::Rc;

const NO_PROVISIONER: &str = "kubernetes.io/no-provisioner";

/// Result of checking a node against all volumes of a Pod.
pub(super) enum Reach {
    Yes,
    WrongNode,
    NoVolume,
}

pub(super) fn claims<'a>(
    object: &'a Object,
    pod: &'a Pod,
    cache: &'a Cache,
) -> impl Iterator<Item = (&'a Str, Option<&'a Rc<Object>>)> {
    pod.spec.claims().map(|name| {
        (
            name,
            cache.object(&ObjectRef::new(
                Kind::PersistentVolumeClaim,
                &object.meta.namespace,
                name,
            )),
        )
    })
}

fn is_bound(claim: &Object) -> bool {
    claim.meta.annotation(BIND_COMPLETED).is_some()
        && !claim
            .body::<PersistentVolumeClaim>()
            .spec
            .volume_name
            .is_empty()
}

fn class_of<'a>(claim: &Object, cache: &'a Cache) -> Option<&'a StorageClass> {
    let name = claim.body::<PersistentVolumeClaim>().class().to_string();
    cache
        .get::<StorageClass>(&ObjectRef::new(Kind::StorageClass, "", &name))
        .map(|(_, class)| class)
}

/// Checks that every claim exists and is bound, or will be bound once the Pod has a node.
pub(super) fn check(object: &Object, pod: &Pod, cache: &Cache) -> Result<(), String> {
    let mut unbound = false;
    for (name, claim) in claims(object, pod, cache) {
        let Some(claim) = claim else {
            return Err(format!(
                "persistentvolumeclaim {:?} not found",
                name.as_str()
            ));
        };
        if claim.meta.is_deleting() {
            return Err(format!(
                "persistentvolumeclaim {:?} is being deleted",
                name.as_str()
            ));
        }
        if claim.body::<PersistentVolumeClaim>().status.phase == "Lost" {
            let volume = &claim.body::<PersistentVolumeClaim>().spec.volume_name;
            return Err(format!(
                "persistentvolumeclaim {:?} bound to non-existent persistentvolume {:?}",
                name.as_str(),
                volume.as_str()
            ));
        }
        unbound |= !is_bound(claim)
            && !class_of(claim, cache).is_some_and(StorageClass::waits_for_first_consumer);
    }
    if unbound {
        Err("pod has unbound immediate PersistentVolumeClaims".into())
    } else {
        Ok(())
    }
}

/// Returns true if all claims are bound.
pub(super) fn all_bound(object: &Object, pod: &Pod, cache: &Cache) -> bool {
    claims(object, pod, cache).all(|(_, claim)| claim.is_some_and(|c| is_bound(c)))
}

/// Returns true if a ReadWriteOncePod claim is used by another Pod.
pub(super) fn taken_by_another(cycle: &Cycle<'_>) -> bool {
    let exclusive = |claim: &Object| {
        claim
            .body::<PersistentVolumeClaim>()
            .spec
            .access_modes
            .iter()
            .any(|m| m == "ReadWriteOncePod")
    };
    claims(cycle.object, cycle.pod, cycle.cache)
        .filter(|(_, claim)| claim.is_some_and(|c| exclusive(c)))
        .any(|(name, _)| {
            cycle
                .nodes
                .values()
                .flat_map(|info| info.pods.values())
                .any(|other| {
                    other.meta.namespace == cycle.object.meta.namespace
                        && other.meta.uid != cycle.object.meta.uid
                        && other.body::<Pod>().spec.claims().any(|c| c == name)
                })
        })
}

pub(super) fn reachable(object: &Object, pod: &Pod, node: &Object, cache: &Cache) -> Reach {
    for (_, claim) in claims(object, pod, cache) {
        let Some(claim) = claim else { continue };
        if is_bound(claim) {
            let volume = cache.get::<PersistentVolume>(&ObjectRef::new(
                Kind::PersistentVolume,
                "",
                &claim.body::<PersistentVolumeClaim>().spec.volume_name,
            ));
            if volume.is_some_and(|(_, v)| !is_on(v, node)) {
                return Reach::WrongNode;
            }
        } else if find_volume(claim, node, cache).is_none()
            && class_of(claim, cache).is_none_or(|c| c.provisioner == NO_PROVISIONER)
        {
            return Reach::NoVolume;
        }
    }
    Reach::Yes
}

fn is_on(volume: &PersistentVolume, node: &Object) -> bool {
    volume
        .spec
        .node_affinity
        .as_ref()
        .and_then(|a| a.required.as_ref())
        .is_none_or(|selector| selects(selector, node))
}

/// Returns the smallest free volume that the node can reach and that fits the claim.
fn find_volume<'a>(claim: &Object, node: &Object, cache: &'a Cache) -> Option<&'a Rc<Object>> {
    let body: &PersistentVolumeClaim = claim.body();
    cache
        .free_volumes()
        .into_iter()
        .filter(|object| {
            let volume: &PersistentVolume = object.body();
            volume.spec.claim_ref.is_none()
                && volume.status.phase == "Available"
                && volume.spec.storage_class_name == body.class()
                && volume.capacity() >= body.request()
                && body
                    .spec
                    .access_modes
                    .iter()
                    .all(|m| volume.spec.access_modes.contains(m))
                && is_on(volume, node)
        })
        .min_by_key(|object| object.body::<PersistentVolume>().capacity())
}

/// Binds free volumes, or selects the node on which the provisioner creates the volume.
pub(super) fn reserve(
    object: &Object,
    pod: &Pod,
    node: &Str,
    cache: &Cache,
    out: &mut LoopClient<'_>,
) {
    let Some(node_object) = cache.object(&ObjectRef::new(Kind::Node, "", node)) else {
        return;
    };
    let waiting: Vec<Rc<Object>> = claims(object, pod, cache)
        .filter_map(|(_, c)| c.filter(|c| !is_bound(c)).cloned())
        .collect();
    for claim in waiting {
        // A refused write is repeated when the Pod is retried.
        let _ = match find_volume(&claim, node_object, cache) {
            Some(volume) => out.update(
                volume,
                Why::SmallestFit {
                    volume: volume.meta.name.clone(),
                },
                |o| {
                    o.meta
                        .annotate("pv.kubernetes.io/bound-by-controller", "yes");
                    if let Body::PersistentVolume(v) = &mut o.body {
                        v.spec = v.spec.edited(|raw| {
                            raw.insert("claimRef".into(), claim_reference(&claim));
                        });
                    }
                },
            ),
            None => out.patch(
                &claim.key(),
                Why::NeedsProvisioning {
                    class: claim.body::<PersistentVolumeClaim>().class().into(),
                },
                |o| {
                    o.meta.annotate(SELECTED_NODE, node);
                },
            ),
        };
    }
}
