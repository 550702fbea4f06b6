//! Claims of each ordinal, and their owner references.
//!
//! Guarantees: a claim is created before its Pod; a terminating claim is not used again; claims are owned
//! by the set or the Pod only if the retention policy is `Delete`.
//! Models `pkg/controller/statefulset/stateful_pod_control.go` and the retention helpers of `stateful_set_utils.go`.

use super::identity::{claim_name, pod_name};
use super::{Roles, StatefulSetPass};
use apiserver::ApiError;
use apiserver::why::Why;
use k8s_model::storage::PersistentVolumeClaim;
use k8s_model::{Kind, Object, ObjectRef, OwnerReference, Str};
use serde_json::{Value, json};
use std::rc::Rc;

fn claim_keys<'a>(
    pass: &'a StatefulSetPass<'_, '_, '_>,
    pod: &'a str,
) -> impl Iterator<Item = (&'a Value, ObjectRef)> {
    let namespace = pass.object.meta.namespace.clone();
    pass.set.spec.volume_claim_templates.iter().map(move |t| {
        (
            t,
            ObjectRef::new(Kind::PersistentVolumeClaim, &namespace, &claim_name(t, pod)),
        )
    })
}

/// Returns true if a claim of the Pod still belongs to a deleted Pod and is about to be garbage-collected.
pub(super) fn is_stale(pass: &StatefulSetPass<'_, '_, '_>, pod: &str) -> bool {
    claim_keys(pass, pod).any(|(_, key)| {
        pass.view.cache.object(&key).is_some_and(|claim| {
            claim.meta.owner_references.iter().any(|o| {
                o.is_kind(Kind::Pod)
                    && pass
                        .view
                        .cache
                        .object(&ObjectRef::new(Kind::Pod, &key.namespace, &o.name))
                        .is_none_or(|p| p.meta.uid != o.uid)
            })
        })
    })
}

/// Creates the missing claims of an existing Pod.
pub(super) fn create_missing(
    pass: &mut StatefulSetPass<'_, '_, '_>,
    ordinal: i32,
    pod: &Str,
) -> Result<(), ApiError> {
    create_missing_for_new(pass, ordinal, pod).map(|_| ())
}

/// Creates the claims of a new Pod; the inner error is the reason why the Pod cannot be created now.
pub(super) fn create_missing_for_new(
    pass: &mut StatefulSetPass<'_, '_, '_>,
    ordinal: i32,
    pod: &Str,
) -> Result<Result<(), String>, ApiError> {
    let wanted: Vec<(Value, ObjectRef)> = claim_keys(pass, pod)
        .map(|(t, key)| (t.clone(), key))
        .collect();
    for (template, key) in wanted {
        if let Some(claim) = pass.view.cache.object(&key) {
            if claim.meta.is_deleting() {
                return Ok(Err(format!("pvc {} is being deleted", key.name)));
            }
            continue;
        }
        let claim = new_claim(pass, &template, &key)?;
        let set = pass.object.clone();
        match pass.out.create(claim, Why::MissingClaim { ordinal }) {
            Ok(_) => {
                let message = format!(
                    "Create Claim {} Pod {pod} in StatefulSet {} success",
                    key.name, set.meta.name
                );
                pass.out.event(&set, "Normal", "SuccessfulCreate", message);
            }
            Err(error) if error.reason == apiserver::StatusReason::AlreadyExists => {}
            Err(error) => {
                let message = format!(
                    "Create Claim {} for Pod {pod} in StatefulSet {} failed error: {error}",
                    key.name, set.meta.name
                );
                pass.out.event(&set, "Warning", "FailedCreate", message);
                return Err(error);
            }
        }
    }
    Ok(Ok(()))
}

fn new_claim(
    pass: &StatefulSetPass<'_, '_, '_>,
    template: &Value,
    key: &ObjectRef,
) -> Result<Object, ApiError> {
    let mut labels = template
        .pointer("/metadata/labels")
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_default();
    for (k, v) in pass.set.spec.selector.match_labels.iter() {
        labels.insert(k.to_string(), Value::String(v.to_string()));
    }
    let value = json!({
        "metadata": {
            "name": key.name.as_str(), "namespace": key.namespace.as_str(), "labels": labels,
            "annotations": template.pointer("/metadata/annotations").cloned().unwrap_or(Value::Null),
        },
        "spec": template.get("spec").cloned().unwrap_or(Value::Null),
    });
    let mut claim =
        Object::from_value(Kind::PersistentVolumeClaim, value).map_err(ApiError::bad_request)?;
    if pass
        .set
        .spec
        .persistent_volume_claim_retention_policy
        .when_deleted
        == "Delete"
    {
        Rc::make_mut(&mut claim.meta.owner_references).push(pass.object.controller_reference());
    }
    Ok(claim)
}

/// Brings the owner references of all claims in line with the retention policy.
pub(super) fn sync_retention(
    pass: &mut StatefulSetPass<'_, '_, '_>,
    roles: &Roles,
) -> Result<(), ApiError> {
    let kept = roles
        .replicas
        .iter()
        .map(|(ordinal, pod)| (*ordinal, pod.clone(), false));
    let all: Vec<_> = kept
        .chain(
            roles
                .condemned
                .iter()
                .map(|(ordinal, pod)| (*ordinal, Some(pod.clone()), true)),
        )
        .collect();
    for (ordinal, pod, condemned) in all {
        let name = pod_name(pass.object, ordinal);
        let keys: Vec<_> = claim_keys(pass, &name).map(|(_, key)| key).collect();
        for key in keys {
            let Some(claim) = pass.view.cache.object(&key).cloned() else {
                continue;
            };
            if claim.meta.is_deleting() {
                continue;
            }
            let wanted = wanted_owner(pass, pod.as_ref(), condemned);
            set_owner(pass, &claim, wanted)?;
        }
    }
    Ok(())
}

/// Returns the owner that a claim should have: the condemned Pod, the set, or none; and the field that decides it.
fn wanted_owner(
    pass: &StatefulSetPass<'_, '_, '_>,
    pod: Option<&Rc<Object>>,
    condemned: bool,
) -> Option<(OwnerReference, &'static str)> {
    let policy = &pass.set.spec.persistent_volume_claim_retention_policy;
    if condemned && policy.when_scaled == "Delete" {
        return pod.map(|pod| (pod.controller_reference(), "whenScaled"));
    }
    (policy.when_deleted == "Delete").then(|| (pass.object.controller_reference(), "whenDeleted"))
}

fn set_owner(
    pass: &mut StatefulSetPass<'_, '_, '_>,
    claim: &Rc<Object>,
    wanted: Option<(OwnerReference, &'static str)>,
) -> Result<(), ApiError> {
    let set_uid = pass.object.meta.uid;
    let is_ours = |o: &OwnerReference| o.uid == set_uid || o.is_kind(Kind::Pod);
    let now: Vec<_> = claim
        .meta
        .owner_references
        .iter()
        .filter(|o| is_ours(o))
        .collect();
    let right = match &wanted {
        None => now.is_empty(),
        Some((owner, _)) => now.len() == 1 && now[0].uid == owner.uid,
    };
    if right || claim.get::<PersistentVolumeClaim>().is_none() {
        return Ok(());
    }
    let policy = wanted.as_ref().map_or("whenScaled", |(_, policy)| *policy);
    pass.out.update(claim, Why::Retention { policy }, |o| {
        let owners = Rc::make_mut(&mut o.meta.owner_references);
        owners.retain(|r| !is_ours(r));
        owners.extend(wanted.map(|(owner, _)| owner));
    })?;
    Ok(())
}
