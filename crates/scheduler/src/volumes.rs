//! Claims in scheduling: binding state, node affinity of their volumes, and delayed binding.
//!
//! Models `pkg/scheduler/framework/plugins/volumebinding/binder.go`.

use super::matching::selects;
use super::nodes::Nodes;
use apiserver::ApiError;
use apiserver::why::Why;
use controller_runtime::client::LoopClient;
use controller_runtime::informer::Cache;
use k8s_model::pod::Pod;
use k8s_model::references::claim_reference;
use k8s_model::storage::{
    BIND_COMPLETED, PersistentVolume, PersistentVolumeClaim, SELECTED_NODE, StorageClass,
};
use k8s_model::volume_match::find_matching;
use k8s_model::{Body, Kind, Object, ObjectRef, Str, Uid};
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
        // A claim that names its volume is bound without its Pod.
        let named = !claim
            .body::<PersistentVolumeClaim>()
            .spec
            .volume_name
            .is_empty();
        unbound |= !is_bound(claim)
            && (named
                || !class_of(claim, cache).is_some_and(StorageClass::waits_for_first_consumer));
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

/// Returns true if a ReadWriteOncePod claim is used by another Pod on a node.
pub(super) fn is_taken_by_another(
    object: &Object,
    pod: &Pod,
    cache: &Cache,
    nodes: &Nodes,
) -> bool {
    let exclusive = |claim: &Object| {
        let mut modes = claim
            .body::<PersistentVolumeClaim>()
            .spec
            .access_modes
            .iter();
        modes.any(|mode| mode == "ReadWriteOncePod")
    };
    let taken = |name: &Str| {
        let mut others = nodes.values().flat_map(|info| info.pods.values());
        others.any(|other| {
            other.meta.namespace == object.meta.namespace
                && other.meta.uid != object.meta.uid
                && other.body::<Pod>().spec.claims().any(|claim| claim == name)
        })
    };
    claims(object, pod, cache)
        .any(|(name, claim)| claim.is_some_and(|claim| exclusive(claim)) && taken(name))
}

/// Decision about a claim that is bound once its Pod has a node.
enum ClaimBinding<'a> {
    /// The claim takes an existing volume.
    Static(&'a Rc<Object>),
    /// The provisioner makes a volume.
    Provision,
}

/// Claims with the decision about each.
type ClaimBindings<'a> = Vec<(&'a Rc<Object>, ClaimBinding<'a>)>;

/// Returns the decision about each unbound claim of a Pod if it ran on a node, smallest claim first; or the reason why the node is
/// out (`FindPodVolumes`).
fn plan<'a>(
    object: &'a Object,
    pod: &'a Pod,
    node: &Object,
    cache: &'a Cache,
) -> Result<ClaimBindings<'a>, Reach> {
    let (bound, mut unbound): (Vec<_>, Vec<_>) = claims(object, pod, cache)
        .filter_map(|(_, claim)| claim)
        .partition(|claim| is_bound(claim));
    for claim in bound {
        let name = &claim.body::<PersistentVolumeClaim>().spec.volume_name;
        let volume =
            cache.get::<PersistentVolume>(&ObjectRef::new(Kind::PersistentVolume, "", name));
        if volume.is_some_and(|(_, volume)| !is_on(volume, node)) {
            return Err(Reach::WrongNode);
        }
    }
    unbound.sort_by_key(|claim| claim.body::<PersistentVolumeClaim>().request());
    let mut chosen: Vec<Uid> = Vec::new();
    let mut plan = Vec::new();
    for claim in unbound {
        let selected = claim.meta.annotation(SELECTED_NODE);
        if selected.is_some_and(|selected| *selected != node.meta.name) {
            return Err(Reach::NoVolume);
        }
        let volume = if selected.is_some() {
            None
        } else {
            find_volume(claim, node, &chosen, cache)
        };
        plan.push((
            claim,
            match volume {
                Some(volume) => {
                    chosen.push(volume.meta.uid);
                    ClaimBinding::Static(volume)
                }
                None if class_of(claim, cache).is_some_and(|class| provisions(class, node)) => {
                    ClaimBinding::Provision
                }
                None => return Err(Reach::NoVolume),
            },
        ));
    }
    // Volumes are bound before others are asked for.
    plan.sort_by_key(|(_, binding)| matches!(binding, ClaimBinding::Provision));
    Ok(plan)
}

/// Returns true if volumes of a class are made for a node (`checkVolumeProvisions`).
fn provisions(class: &StorageClass, node: &Object) -> bool {
    !matches!(class.provisioner.as_str(), "" | NO_PROVISIONER) && class.allows(&node.meta.labels)
}

/// Returns the reason why a node is out for the claims of a Pod.
pub(super) fn reachable(object: &Object, pod: &Pod, node: &Object, cache: &Cache) -> Reach {
    plan(object, pod, node, cache).map_or_else(|reach| reach, |_| Reach::Yes)
}

fn is_on(volume: &PersistentVolume, node: &Object) -> bool {
    volume
        .spec
        .node_affinity
        .as_ref()
        .and_then(|a| a.required.as_ref())
        .is_none_or(|selector| selects(selector, node))
}

/// Returns the volume that the node can reach and that fits the claim best, without those chosen for other claims of the Pod.
fn find_volume<'a>(
    claim: &Object,
    node: &Object,
    chosen: &[Uid],
    cache: &'a Cache,
) -> Option<&'a Rc<Object>> {
    let class = claim.body::<PersistentVolumeClaim>().class();
    let mut volumes = cache.volumes_for(Some((&claim.meta.namespace, &claim.meta.name)));
    volumes.extend(cache.volumes_for(None));
    volumes.retain(|volume| {
        volume.body::<PersistentVolume>().spec.storage_class_name == class
            && !chosen.contains(&volume.meta.uid)
    });
    find_matching(
        claim,
        volumes.into_iter(),
        |volume| is_on(volume, node),
        |_| (),
    )
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
    for (claim, binding) in plan(object, pod, node_object, cache).unwrap_or_default() {
        // A refused write is repeated when the Pod is retried.
        let _ = match binding {
            ClaimBinding::Static(volume) => bind_volume(volume, claim, out),
            ClaimBinding::Provision => out.patch(
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

/// Points a volume at a claim, unless it is already reserved for it (`GetBindVolumeToClaim`).
fn bind_volume(
    volume: &Rc<Object>,
    claim: &Object,
    out: &mut LoopClient<'_>,
) -> Result<Rc<Object>, ApiError> {
    let reference = volume.body::<PersistentVolume>().spec.claim_ref.as_ref();
    if reference.is_some_and(|reference| reference.uid == Some(claim.meta.uid)) {
        return Ok(volume.clone());
    }
    let is_free = reference.is_none();
    out.update(
        volume,
        Why::SmallestFit {
            volume: volume.meta.name.clone(),
        },
        |o| {
            if is_free {
                o.meta
                    .annotate("pv.kubernetes.io/bound-by-controller", "yes");
            }
            if let Body::PersistentVolume(v) = &mut o.body {
                v.spec = v.spec.edited(|raw| {
                    raw.insert("claimRef".into(), claim_reference(claim));
                });
            }
        },
    )
}
