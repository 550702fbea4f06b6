//! Provisions a volume for every claim of its StorageClasses, and deletes it again.
//!
//! Stands in for an external provisioner such as those built with `sig-storage-lib-external-provisioner`.

use super::volume_binder::PROVISIONED_BY;
use super::{Controller, Watch};
use apiserver::ApiError;
use apiserver::why::Why;
use apiserver::{Component, ControllerId};
use controller_runtime::client::{Action, LoopClient, PassView};
use controller_runtime::descriptor::{Descriptor, GENERIC};
use k8s_model::json::Json as _;
use k8s_model::references::claim_reference;
use k8s_model::storage::{
    PersistentVolume, PersistentVolumeClaim, SELECTED_NODE, STORAGE_PROVISIONER, StorageClass,
};
use k8s_model::time::MS;
use k8s_model::{Body, Kind, Object, ObjectRef, Str, Time};
use serde_json::json;
use smol_str::format_smolstr;
use std::rc::Rc;

/// Provisioner name in StorageClasses.
pub(super) const NAME: &str = "loopscope.dev/provisioner";
/// Work in progress on a claim or volume.
#[derive(Clone, Copy, Debug)]
struct Work {
    /// Completion time.
    due: Time,
}
const DELETE_AFTER_US: u64 = 200 * MS;

/// Identity of the provisioner, a binary of its own.
static ID: ControllerId = ControllerId {
    name: NAME,
    manager: "provisioner",
};

/// UI descriptor of the controller.
static DESCRIPTOR: Descriptor = Descriptor {
    component: Component::Controller(&ID),
    aliases: &[],
    title: "provisioner",
    icon: "i-pv",
    lane: "volume",
    always_shown: false,
    code: GENERIC,
};

/// External provisioner.
pub struct Provisioner;

impl Controller for Provisioner {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn watches(&self) -> &'static [Watch] {
        &[
            Watch::For(Kind::PersistentVolumeClaim),
            Watch::For(Kind::PersistentVolume),
        ]
    }

    fn serves(&self, object: &Object) -> bool {
        works_on(object)
    }

    fn reconcile(
        &self,
        key: &ObjectRef,
        view: &PassView<'_>,
        out: &mut LoopClient<'_>,
    ) -> Result<Action, ApiError> {
        if let Some((object, claim)) = view.cache.get::<PersistentVolumeClaim>(key) {
            return provision(object, claim, view, out);
        }
        if let Some((object, volume)) = view.cache.get::<PersistentVolume>(key) {
            return reclaim(object, volume, view, out);
        }
        Ok(Action::AwaitChange)
    }
}

/// Returns true if a claim waits for a volume to be created, or a volume to be deleted.
fn works_on(object: &Object) -> bool {
    match &object.body {
        Body::PersistentVolumeClaim(claim) => {
            claim.spec.volume_name.is_empty()
                && object
                    .meta
                    .annotation(STORAGE_PROVISIONER)
                    .is_some_and(|by| by == NAME)
        }
        Body::PersistentVolume(volume) => {
            volume.status.phase == "Released"
                && object
                    .meta
                    .annotation(PROVISIONED_BY)
                    .is_some_and(|by| by == NAME)
        }
        _ => false,
    }
}

/// Returns `Ok` if `span` has elapsed since the first call; the error is the time remaining.
pub(super) fn waited(span: u64, view: &PassView<'_>, out: &mut LoopClient<'_>) -> Result<(), u64> {
    let begun = out.state.get::<Work>().copied();
    let Work { due } = begun.unwrap_or(Work {
        due: view.now.after(span),
    });
    out.state.set(Work { due });
    if view.now >= due {
        Ok(())
    } else {
        Err(due.0 - view.now.0)
    }
}

fn provision(
    object: &Rc<Object>,
    claim: &PersistentVolumeClaim,
    view: &PassView<'_>,
    out: &mut LoopClient<'_>,
) -> Result<Action, ApiError> {
    let class = view
        .cache
        .get::<StorageClass>(&ObjectRef::new(Kind::StorageClass, "", claim.class()))
        .map(|(_, class)| class);
    let Some(class) = class.filter(|c| c.provisioner == NAME) else {
        return Ok(Action::AwaitChange);
    };
    let asked = object
        .meta
        .annotation(STORAGE_PROVISIONER)
        .is_some_and(|p| p == NAME);
    let placed =
        !class.waits_for_first_consumer() || object.meta.annotation(SELECTED_NODE).is_some();
    let name: Str = format_smolstr!("pvc-{}", object.meta.uid);
    let done = !claim.spec.volume_name.is_empty()
        || out
            .store()
            .get(&ObjectRef::new(Kind::PersistentVolume, "", &name))
            .is_some();
    if !asked || !placed || done || object.meta.is_deleting() {
        return Ok(Action::AwaitChange);
    }
    if out.state.get::<Work>().is_none() {
        let message = format!(
            "External provisioner is provisioning volume for claim \"{}/{}\"",
            object.meta.namespace, object.meta.name
        );
        out.event(object, "Normal", "Provisioning", message);
    }
    if let Err(left) = waited(view.timing.provision, view, out) {
        return Ok(Action::RequeueAfter(left));
    }
    let volume = new_volume(object, claim, class, &name).map_err(ApiError::bad_request)?;
    out.create(
        volume,
        Why::Provisioned {
            claim: object.meta.name.clone(),
        },
    )?;
    out.event(
        object,
        "Normal",
        "ProvisioningSucceeded",
        format_smolstr!("Successfully provisioned volume {name}"),
    );
    Ok(Action::AwaitChange)
}

fn new_volume(
    object: &Object,
    claim: &PersistentVolumeClaim,
    class: &StorageClass,
    name: &str,
) -> Result<Object, String> {
    let spec = json!({
        "accessModes": claim.spec.access_modes.write(),
        "capacity": { "storage": claim.spec.resources.requests.get("storage") },
        "claimRef": claim_reference(object),
        "hostPath": { "path": format!("/var/lib/loopscope/volumes/{}/{}", object.meta.namespace, object.meta.name), "type": "" },
        "persistentVolumeReclaimPolicy": class.reclaim_policy.as_str(),
        "storageClassName": claim.class(),
        "volumeMode": if claim.spec.volume_mode.is_empty() { "Filesystem" } else { claim.spec.volume_mode.as_str() },
    });
    Object::from_value(
        Kind::PersistentVolume,
        json!({ "metadata": { "name": name, "annotations": { PROVISIONED_BY: NAME } }, "spec": spec }),
    )
}

/// Deletes a provisioned volume whose claim is gone, if the reclaim policy says so.
fn reclaim(
    object: &Rc<Object>,
    volume: &PersistentVolume,
    view: &PassView<'_>,
    out: &mut LoopClient<'_>,
) -> Result<Action, ApiError> {
    let ours = object
        .meta
        .annotation(PROVISIONED_BY)
        .is_some_and(|p| p == NAME);
    let policy = volume.spec.persistent_volume_reclaim_policy.clone();
    if !ours || volume.status.phase != "Released" || policy != "Delete" || object.meta.is_deleting()
    {
        return Ok(Action::AwaitChange);
    }
    if let Err(left) = waited(DELETE_AFTER_US, view, out) {
        return Ok(Action::RequeueAfter(left));
    }
    out.delete(&object.key(), Default::default(), Why::ClaimGone { policy })?;
    Ok(Action::AwaitChange)
}
