//! Expands the volume of a claim that requests more than it has; the file system grows on a node where a Pod uses it.
//!
//! Guarantees: the volume grows first, the claim's capacity last; without a Pod the claim waits for one.
//! Stands in for the `external-resizer` of a storage driver and for the kubelet's part, `NodeExpandVolume`; records the Events
//! of `pkg/controller/volume/expand/expand_controller.go`.

use super::provisioner::waited;
use super::volume_binder::PROVISIONED_BY;
use super::{Controller, Event, Watch};
use crate::provisioner;
use apiserver::ApiError;
use apiserver::journal::Actor;
use apiserver::why::Why;
use apiserver::{Component, ControllerId};
use controller_runtime::client::{Action, LoopClient, PassView};
use controller_runtime::descriptor::{Descriptor, GENERIC};
use controller_runtime::informer::Cache;
use k8s_model::pod::{Pod, PodCondition};
use k8s_model::storage::{ClaimStatus, PersistentVolume, PersistentVolumeClaim};
use k8s_model::{Body, Kind, Object, ObjectRef, Str, Timestamp};
use serde_json::Value;
use smol_str::format_smolstr;
use std::rc::Rc;

/// User name under which the resizer writes.
static ID: ControllerId = ControllerId::new("external-resizer loopscope.dev/provisioner");
const STORAGE: &str = "storage";
const WAITS_FOR_POD: &str =
    "Waiting for user to (re-)start a pod to finish file system resize of volume on node.";

/// Identity of the Events of the expand controller.
static VOLUME_EXPAND: ControllerId = ControllerId::new("volume_expand");

/// UI descriptor of the controller.
static DESCRIPTOR: Descriptor = Descriptor {
    component: Component::Controller(&ID),
    aliases: &[&VOLUME_EXPAND],
    title: "provisioner",
    icon: "i-act",
    lane: "volume",
    always_shown: false,
    code: GENERIC,
};

/// Volume resizer.
pub struct Resizer;

impl Controller for Resizer {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn watches(&self) -> &'static [Watch] {
        &[
            Watch::For(Kind::PersistentVolumeClaim),
            Watch::Maps(Kind::Pod),
        ]
    }

    fn serves(&self, object: &Object) -> bool {
        works_on(object)
    }

    /// Wakes the claims that a newly running Pod mounts.
    fn map_event(&self, event: &Event<'_>, _cache: &Cache, wake: &mut dyn FnMut(ObjectRef)) {
        let pod: &Pod = event.object.body();
        if pod.status.phase == "Running"
            && event
                .before
                .is_none_or(|before| before.body::<Pod>().status.phase != "Running")
        {
            for name in pod.spec.claims() {
                wake(ObjectRef::new(
                    Kind::PersistentVolumeClaim,
                    &event.object.meta.namespace,
                    name,
                ));
            }
        }
    }

    fn reconcile(
        &self,
        key: &ObjectRef,
        view: &PassView<'_>,
        out: &mut LoopClient<'_>,
    ) -> Result<Action, ApiError> {
        let Some((object, claim)) = view.cache.get::<PersistentVolumeClaim>(key) else {
            return Ok(Action::AwaitChange);
        };
        if !works_on(object) {
            return Ok(Action::AwaitChange);
        }
        let volume = out
            .store()
            .get(&ObjectRef::new(
                Kind::PersistentVolume,
                "",
                &claim.spec.volume_name,
            ))
            .cloned();
        let Some((object_of_volume, volume)) = volume
            .as_ref()
            .and_then(|o| Some((o, o.get::<PersistentVolume>()?)))
        else {
            return Ok(Action::AwaitChange);
        };
        if volume.capacity() < claim.request() {
            return expand(object, claim, object_of_volume, view, out);
        }
        if !has_condition(claim, "FileSystemResizePending") {
            return Ok(Action::AwaitChange);
        }
        grow_file_system(object, claim, view, out)
    }
}

/// Returns true if a claim requests more storage than its capacity.
fn works_on(object: &Object) -> bool {
    object.get::<PersistentVolumeClaim>().is_some_and(|claim| {
        let has = claim
            .status
            .capacity
            .get(STORAGE)
            .map_or(0, k8s_model::quantity::units_of);
        claim.status.phase == "Bound" && !object.meta.is_deleting() && claim.request() > has
    })
}

fn has_condition(claim: &PersistentVolumeClaim, kind: &str) -> bool {
    claim
        .status
        .conditions
        .iter()
        .any(|condition| condition.kind == kind)
}

/// Expands the volume itself.
fn expand(
    object: &Rc<Object>,
    claim: &PersistentVolumeClaim,
    volume: &Rc<Object>,
    view: &PassView<'_>,
    out: &mut LoopClient<'_>,
) -> Result<Action, ApiError> {
    let asked = claim
        .spec
        .resources
        .requests
        .get(STORAGE)
        .cloned()
        .unwrap_or_default();
    let ours = volume
        .meta
        .annotation(PROVISIONED_BY)
        .is_some_and(|p| p == provisioner::NAME);
    let wall = out.store().wall();
    if !has_condition(claim, "Resizing") {
        out.event_as(
            &VOLUME_EXPAND,
            object,
            "Normal",
            "ExternalExpanding",
            "waiting for an external controller to expand this PVC",
        );
        if !ours {
            return Ok(Action::AwaitChange);
        }
        let size = asked.clone();
        out.update_status(object, Why::Expanding, |o| {
            mark(o, |status| {
                status
                    .allocated_resources
                    .insert(Str::new_static(STORAGE), size);
                progress(status, Some("ControllerResizeInProgress"));
                status.conditions = vec![condition("Resizing", "", wall)];
            });
        })?;
        out.event(
            object,
            "Normal",
            "Resizing",
            format_smolstr!("External resizer is resizing volume {}", volume.meta.name),
        );
    }
    if let Err(left) = waited(view.timing.provision, view, out) {
        return Ok(Action::RequeueAfter(left));
    }
    out.state.clear();
    out.update(volume, Why::Expanding, |o| {
        if let Body::PersistentVolume(volume) = &mut o.body {
            volume.spec = volume.spec.edited(|raw| {
                if let Some(capacity) = raw.get_mut("capacity").and_then(Value::as_object_mut) {
                    capacity.insert(STORAGE.into(), asked.clone());
                }
            });
        }
    })?;
    let block = claim.spec.volume_mode == "Block";
    out.patch_status(&object.key(), Why::Expanding, |o| {
        mark(o, |status| {
            if block {
                return finish(status, asked);
            }
            progress(status, Some("NodeResizePending"));
            status.conditions = vec![condition("FileSystemResizePending", WAITS_FOR_POD, wall)];
        });
    })?;
    match block {
        true => out.event(
            object,
            "Normal",
            "VolumeResizeSuccessful",
            "Resize volume succeeded",
        ),
        false => out.event(
            object,
            "Normal",
            "FileSystemResizeRequired",
            "Require file system resize of volume on node",
        ),
    }
    Ok(Action::AwaitChange)
}

/// Expands the file system, as the kubelet does on a node where a Pod uses the claim.
fn grow_file_system(
    object: &Rc<Object>,
    claim: &PersistentVolumeClaim,
    view: &PassView<'_>,
    out: &mut LoopClient<'_>,
) -> Result<Action, ApiError> {
    let uses = |pod: &&&Rc<Object>| {
        let body: &Pod = pod.body();
        body.status.phase == "Running" && body.spec.claims().any(|name| *name == object.meta.name)
    };
    let users = view
        .cache
        .users_of(&object.meta.namespace, &object.meta.name);
    let Some(pod) = users.iter().find(uses).copied() else {
        return Ok(Action::AwaitChange);
    };
    let node = pod.body::<Pod>().node_name.clone();
    let asked = claim
        .spec
        .resources
        .requests
        .get(STORAGE)
        .cloned()
        .unwrap_or_default();
    out.origin.actor = Actor::kubelet(&node);
    out.update_status(object, Why::Expanding, |o| {
        mark(o, |status| finish(status, asked))
    })?;
    let message = format_smolstr!(
        "MountVolume.NodeExpandVolume succeeded for volume {:?} {node}",
        claim.spec.volume_name.as_str()
    );
    out.event(pod, "Normal", "FileSystemResizeSuccessful", message.clone());
    out.event(object, "Normal", "FileSystemResizeSuccessful", message);
    Ok(Action::AwaitChange)
}

fn mark(object: &mut Object, change: impl FnOnce(&mut ClaimStatus)) {
    if let Body::PersistentVolumeClaim(claim) = &mut object.body {
        change(&mut claim.status);
    }
}

fn progress(status: &mut ClaimStatus, how: Option<&'static str>) {
    status.allocated_resource_statuses.clear();
    if let Some(how) = how {
        status
            .allocated_resource_statuses
            .insert(Str::new_static(STORAGE), how.into());
    }
}

fn finish(status: &mut ClaimStatus, size: Value) {
    status.capacity.insert(Str::new_static(STORAGE), size);
    status.conditions.clear();
    progress(status, None);
}

fn condition(kind: &'static str, message: &'static str, now: Timestamp) -> PodCondition {
    PodCondition {
        kind: Str::new_static(kind),
        status: Str::new_static("True"),
        message: Str::new_static(message),
        last_transition_time: Some(now),
        ..Default::default()
    }
}
