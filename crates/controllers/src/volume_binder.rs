//! Binds claims to volumes, with two writes on each side, and releases volumes whose claim is gone.
//!
//! Guarantees: a bound claim's volume never changes; the smallest volume that fits is taken; a new volume does not
//! wake a pending claim, but the resync does, every 15 s.
//! Models `pkg/controller/volume/persistentvolume/pv_controller.go`.

use super::{Controller, Event, Watch};
use apiserver::why::Why;
use apiserver::{ApiError, Store};
use apiserver::{Component, ControllerId};
use controller_runtime::client::{Action, LoopClient, PassView};
use controller_runtime::descriptor::{CodeLine, CodeTag, Descriptor};
use controller_runtime::informer::Cache;
use k8s_model::references::claim_reference;
use k8s_model::storage::{
    BIND_COMPLETED, PersistentVolume, PersistentVolumeClaim, SELECTED_NODE, STORAGE_PROVISIONER,
    StorageClass,
};
use k8s_model::volume_match::{VolumeMismatch, find_matching, is_bound_to, unsatisfied};
use k8s_model::{Body, Kind, Object, ObjectRef, Str, Timestamp};
use smol_str::format_smolstr;
use std::rc::Rc;

/// Resync period of claims and volumes, in seconds.
pub const CLAIM_RESYNC_SECONDS: u64 = 15;
const PROVISIONER_BETA: &str = "volume.beta.kubernetes.io/storage-provisioner";
pub(super) const PROVISIONED_BY: &str = "pv.kubernetes.io/provisioned-by";
const BOUND_BY_US: &str = "pv.kubernetes.io/bound-by-controller";

/// Pseudo-code of a reconcile pass.
const CODE: &[CodeLine] = &[
    CodeLine::step("for claim := range queue {"),
    CodeLine::writes(
        "    if bound(claim) { check(volume) ; continue }",
        CodeTag::CheckVolume,
    ),
    CodeLine::writes(
        "    volume := smallestFit(volumes, claim)",
        CodeTag::SmallestFit,
    ),
    CodeLine::step("    if volume == nil {"),
    CodeLine::writes("        provision(class, claim)", CodeTag::Provision),
    CodeLine::leaves("        continue"),
    CodeLine::end("    }"),
    CodeLine::writes("    bind(volume, claim)", CodeTag::BindVolume),
    CodeLine::end("}"),
];

/// UI descriptor of the controller.
static DESCRIPTOR: Descriptor = Descriptor {
    component: Component::Controller(&ControllerId::new("persistentvolume-controller")),
    aliases: &[],
    title: "volume",
    icon: "i-pv",
    lane: "volume",
    always_shown: true,
    code: CODE,
};

/// PersistentVolume controller: binds claims and volumes.
pub struct VolumeBinder;

impl Controller for VolumeBinder {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn watches(&self) -> &'static [Watch] {
        use Kind::{PersistentVolume as Volume, PersistentVolumeClaim as Claim};
        &[
            Watch::For(Claim),
            Watch::For(Volume),
            Watch::Maps(Claim),
            Watch::Maps(Volume),
        ]
    }

    fn serves(&self, object: &Object) -> bool {
        matches!(
            object.kind,
            Kind::PersistentVolumeClaim | Kind::PersistentVolume
        )
    }

    /// Wakes the volume of a deleted claim, and the claim of a volume that is deleted or reserved for it.
    fn map_event(&self, event: &Event<'_>, _cache: &Cache, wake: &mut dyn FnMut(ObjectRef)) {
        match &event.object.body {
            Body::PersistentVolumeClaim(claim)
                if event.op == apiserver::Op::Deleted && !claim.spec.volume_name.is_empty() =>
            {
                wake(ObjectRef::new(
                    Kind::PersistentVolume,
                    "",
                    &claim.spec.volume_name,
                ));
            }
            Body::PersistentVolume(volume) => {
                if let Some(claim) = &volume.spec.claim_ref {
                    wake(ObjectRef::new(
                        Kind::PersistentVolumeClaim,
                        &claim.namespace,
                        &claim.name,
                    ));
                }
            }
            _ => {}
        }
    }

    fn resync(&self) -> Option<(u64, &'static [Kind])> {
        Some((
            CLAIM_RESYNC_SECONDS,
            &[Kind::PersistentVolume, Kind::PersistentVolumeClaim],
        ))
    }

    fn reconcile(
        &self,
        key: &ObjectRef,
        view: &PassView<'_>,
        out: &mut LoopClient<'_>,
    ) -> Result<Action, ApiError> {
        if !view.sees_own_writes {
            return Ok(Action::RequeueAfter(k8s_model::time::MS));
        }
        if let Some((object, claim)) = view.cache.get::<PersistentVolumeClaim>(key) {
            if object.meta.annotation(BIND_COMPLETED).is_some() {
                sync_bound(object, claim, view, out)?;
            } else {
                sync_unbound(object, claim, view, out)?;
            }
        } else if let Some((object, volume)) = view.cache.get::<PersistentVolume>(key) {
            sync_volume(object, volume, view, out)?;
        }
        Ok(Action::AwaitChange)
    }
}

fn volume_key(name: &str) -> ObjectRef {
    ObjectRef::new(Kind::PersistentVolume, "", name)
}

fn sync_unbound(
    object: &Rc<Object>,
    claim: &PersistentVolumeClaim,
    view: &PassView<'_>,
    out: &mut LoopClient<'_>,
) -> Result<(), ApiError> {
    if !claim.spec.volume_name.is_empty() {
        let Some((volume_object, volume)) = view
            .cache
            .get::<PersistentVolume>(&volume_key(&claim.spec.volume_name))
        else {
            return Ok(());
        };
        let name = &volume_object.meta.name;
        if is_bound_to(volume, object) {
            return bind(volume_object, object, view.wall, out);
        }
        if volume.spec.claim_ref.is_some() {
            let message = format_smolstr!("volume {name:?} already bound to a different claim.");
            out.event(object, "Warning", "FailedBinding", message);
        } else if let Some(why_not) = unsatisfied(volume_object, claim) {
            let message = format_smolstr!(
                "Cannot bind to requested volume {name:?}: {}",
                mismatch_message(name, &why_not)
            );
            out.event(object, "Warning", "VolumeMismatch", message);
        } else {
            return bind(volume_object, object, view.wall, out);
        }
        return Ok(());
    }
    let class = view
        .cache
        .get::<StorageClass>(&ObjectRef::new(Kind::StorageClass, "", claim.class()))
        .map(|(_, class)| class);
    let delayed = class.is_some_and(StorageClass::waits_for_first_consumer)
        && object.meta.annotation(SELECTED_NODE).is_none();
    if let Some(volume) = best_match(object, claim, delayed, view.cache, out.store()) {
        return bind(&volume, object, view.wall, out);
    }
    if claim.spec.storage_class_name.is_none()
        && let Some(default) = StorageClass::default_of(view.cache.list(Kind::StorageClass))
    {
        let class = &default.meta.name;
        out.update(
            object,
            Why::DefaultClass {
                class: class.clone(),
            },
            |o| {
                if let Body::PersistentVolumeClaim(c) = &mut o.body {
                    c.spec = c.spec.edited(|raw| {
                        raw.insert("storageClassName".into(), class.as_str().into());
                    });
                }
            },
        )?;
        return Ok(());
    }
    if delayed {
        emit_waiting_event(object, view, out);
        return Ok(());
    }
    if claim.class().is_empty() {
        let message = "no persistent volumes available for this claim and no storage class is set";
        out.event(object, "Normal", "FailedBinding", message);
        return Ok(());
    }
    match class {
        Some(class) => ask_provisioner(object, claim, class, out),
        None => {
            let message = format!("storageclass.storage.k8s.io {:?} not found", claim.class());
            out.event(object, "Warning", "ProvisioningFailed", message);
            Ok(())
        }
    }
}

/// Records an Event on a claim with `WaitForFirstConsumer` that says what it waits for.
fn emit_waiting_event(object: &Rc<Object>, view: &PassView<'_>, out: &mut LoopClient<'_>) {
    let consumer = view
        .cache
        .users_of(&object.meta.namespace, &object.meta.name)
        .into_iter()
        .find(|pod| {
            let body: &k8s_model::pod::Pod = pod.body();
            body.node_name.is_empty() && body.spec.claims().any(|name| *name == object.meta.name)
        });
    match consumer {
        Some(pod) => out.event(
            object,
            "Normal",
            "WaitForPodScheduled",
            format_smolstr!("waiting for pod {} to be scheduled", pod.meta.name),
        ),
        None => out.event(
            object,
            "Normal",
            "WaitForFirstConsumer",
            "waiting for first consumer to be created before binding",
        ),
    }
}

fn ask_provisioner(
    object: &Rc<Object>,
    claim: &PersistentVolumeClaim,
    class: &StorageClass,
    out: &mut LoopClient<'_>,
) -> Result<(), ApiError> {
    let provisioner = class.provisioner.clone();
    let asked = object
        .meta
        .annotation(STORAGE_PROVISIONER)
        .is_some_and(|p| *p == provisioner);
    let mut current = object.clone();
    if !asked {
        current = out.update(
            object,
            Why::NeedsProvisioning {
                class: claim.class().into(),
            },
            |o| {
                o.meta.annotate(STORAGE_PROVISIONER, &provisioner);
                o.meta.annotate(PROVISIONER_BETA, &provisioner);
            },
        )?;
    }
    let message = format!(
        "Waiting for a volume to be created either by the external provisioner '{provisioner}' or manually by the system administrator. \
         If volume creation is delayed, please verify that the provisioner is running and correctly registered."
    );
    out.event(&current, "Normal", "ExternalProvisioning", message);
    Ok(())
}

/// Returns the message for a volume that cannot serve the claim that names it.
fn mismatch_message(name: &Str, mismatch: &VolumeMismatch) -> String {
    match mismatch {
        VolumeMismatch::Deleting => format!("the volume is marked for deletion {name:?}"),
        VolumeMismatch::Size => "requested PV is too small".to_owned(),
        VolumeMismatch::Class => "storageClassName does not match".to_owned(),
        VolumeMismatch::AttributesClass => "volumeAttributesClassName does not match".to_owned(),
        VolumeMismatch::Mode => "incompatible volumeMode".to_owned(),
        VolumeMismatch::AccessMode(_) => "incompatible accessMode".to_owned(),
        // A claim that names its volume takes it whatever its labels.
        VolumeMismatch::Taken | VolumeMismatch::Selector => String::new(),
    }
}

/// Returns the volume reserved for this claim, or the smallest free one with the fewest access modes that fits; by name among
/// equals. A delayed claim takes a reserved volume only.
///
/// Upstream keeps its own cache of volumes, which shows its writes at once; reading the API server's copy has the same effect.
fn best_match(
    object: &Object,
    claim: &PersistentVolumeClaim,
    delayed: bool,
    cache: &Cache,
    store: &Store,
) -> Option<Rc<Object>> {
    let mut volumes = store.volumes_for(Some((&object.meta.namespace, &object.meta.name)));
    if !delayed {
        volumes.extend(store.volumes_for(None));
    }
    volumes.retain(|volume| {
        let known = cache.object(&volume.key()).is_some();
        // Upstream looks volumes up by their access modes, reserved ones too.
        let has = &volume.body::<PersistentVolume>().spec.access_modes;
        known
            && claim
                .spec
                .access_modes
                .iter()
                .all(|mode| has.contains(mode))
    });
    find_matching(
        object,
        volumes.into_iter(),
        |_| true,
        |volume| volume.spec.access_modes.len(),
    )
    .cloned()
}

/// Binds a claim and a volume in four writes; each is skipped if already done.
fn bind(
    volume: &Rc<Object>,
    claim: &Rc<Object>,
    wall: Timestamp,
    out: &mut LoopClient<'_>,
) -> Result<(), ApiError> {
    let volume = bind_volume_to_claim(volume, claim, out)?;
    let volume = set_volume_phase(&volume, "Bound", Why::Binding, wall, out)?;
    let claim = point_claim_at(claim, &volume, out)?;
    let body: &PersistentVolume = volume.body();
    let (size, modes) = (
        body.spec.capacity.get("storage").cloned(),
        body.spec.access_modes.clone(),
    );
    out.update_status(&claim, Why::Binding, |o| {
        if let Body::PersistentVolumeClaim(c) = &mut o.body {
            // The capacity of a bound claim follows its file system, not the volume.
            if c.status.phase != "Bound" {
                c.status.capacity.clear();
                if let Some(size) = size {
                    c.status.capacity.insert("storage".into(), size);
                }
            }
            c.status.phase = "Bound".into();
            c.status.access_modes = modes;
        }
    })?;
    Ok(())
}

fn bind_volume_to_claim(
    volume: &Rc<Object>,
    claim: &Rc<Object>,
    out: &mut LoopClient<'_>,
) -> Result<Rc<Object>, ApiError> {
    let body: &PersistentVolume = volume.body();
    let known = body.spec.claim_ref.as_ref();
    if known.is_some_and(|r| r.uid == Some(claim.meta.uid)) {
        return Ok(volume.clone());
    }
    let chosen_by_us = known.is_none();
    out.update(
        volume,
        Why::SmallestFit {
            volume: volume.meta.name.clone(),
        },
        |o| {
            if chosen_by_us {
                o.meta.annotate(BOUND_BY_US, "yes");
            }
            if let Body::PersistentVolume(v) = &mut o.body {
                v.spec = v.spec.edited(|raw| {
                    raw.insert("claimRef".into(), claim_reference(claim));
                });
            }
        },
    )
}

fn point_claim_at(
    claim: &Rc<Object>,
    volume: &Object,
    out: &mut LoopClient<'_>,
) -> Result<Rc<Object>, ApiError> {
    let body: &PersistentVolumeClaim = claim.body();
    let chosen_by_us = body.spec.volume_name.is_empty();
    if !chosen_by_us && claim.meta.annotation(BIND_COMPLETED).is_some() {
        return Ok(claim.clone());
    }
    out.update(claim, Why::Binding, |o| {
        if chosen_by_us {
            o.meta.annotate(BOUND_BY_US, "yes");
        }
        o.meta.annotate(BIND_COMPLETED, "yes");
        if let Body::PersistentVolumeClaim(c) = &mut o.body {
            c.spec = c.spec.edited(|raw| {
                raw.insert("volumeName".into(), volume.meta.name.as_str().into());
            });
        }
    })
}

/// Marks a bound claim as Lost if its volume is gone or bound to another claim.
fn sync_bound(
    object: &Rc<Object>,
    claim: &PersistentVolumeClaim,
    view: &PassView<'_>,
    out: &mut LoopClient<'_>,
) -> Result<(), ApiError> {
    match view
        .cache
        .get::<PersistentVolume>(&volume_key(&claim.spec.volume_name))
    {
        Some((volume_object, volume))
            if volume.spec.claim_ref.is_none() || is_bound_to(volume, object) =>
        {
            bind(volume_object, object, view.wall, out)
        }
        _ if claim.status.phase == "Lost" => Ok(()),
        _ => {
            let lost = out.update_status(object, Why::VolumeGone, |o| {
                if let Body::PersistentVolumeClaim(c) = &mut o.body {
                    c.status = k8s_model::storage::ClaimStatus {
                        phase: "Lost".into(),
                        ..Default::default()
                    };
                }
            })?;
            let message = "Bound claim has lost its PersistentVolume. Data on the volume is lost!";
            out.event(&lost, "Warning", "ClaimLost", message);
            Ok(())
        }
    }
}

fn sync_volume(
    object: &Rc<Object>,
    volume: &PersistentVolume,
    view: &PassView<'_>,
    out: &mut LoopClient<'_>,
) -> Result<(), ApiError> {
    let Some(reference) = volume
        .spec
        .claim_ref
        .as_ref()
        .filter(|r| r.uid.is_some_and(|uid| uid.0 != 0))
    else {
        set_volume_phase(object, "Available", Why::Observed, view.wall, out)?;
        return Ok(());
    };
    let claim = view.cache.get::<PersistentVolumeClaim>(&ObjectRef::new(
        Kind::PersistentVolumeClaim,
        &reference.namespace,
        &reference.name,
    ));
    match claim.filter(|(o, _)| Some(o.meta.uid) == reference.uid) {
        None => release(object, volume, view, out),
        Some((_, claim)) if claim.spec.volume_name == object.meta.name => {
            set_volume_phase(object, "Bound", Why::Binding, view.wall, out)?;
            Ok(())
        }
        Some((_, claim)) if claim.spec.volume_name.is_empty() => Ok(()),
        Some(_)
            if object.meta.annotation(PROVISIONED_BY).is_some()
                && volume.spec.persistent_volume_reclaim_policy == "Delete" =>
        {
            release(object, volume, view, out)
        }
        Some(_) => unbind(object, view, out),
    }
}

/// Releases a volume whose claim is bound to another one.
fn unbind(
    object: &Rc<Object>,
    view: &PassView<'_>,
    out: &mut LoopClient<'_>,
) -> Result<(), ApiError> {
    let ours = object.meta.annotation(BOUND_BY_US).is_some();
    let free = out.update(object, Why::Observed, |o| {
        Rc::make_mut(&mut o.meta.annotations).remove(BOUND_BY_US);
        if let Body::PersistentVolume(v) = &mut o.body {
            v.spec = v.spec.edited(|raw| {
                if ours {
                    raw.remove("claimRef");
                } else if let Some(reference) = raw
                    .get_mut("claimRef")
                    .and_then(serde_json::Value::as_object_mut)
                {
                    reference.remove("uid");
                    reference.remove("resourceVersion");
                }
            });
        }
    })?;
    set_volume_phase(&free, "Available", Why::Observed, view.wall, out)?;
    Ok(())
}

fn release(
    object: &Rc<Object>,
    volume: &PersistentVolume,
    view: &PassView<'_>,
    out: &mut LoopClient<'_>,
) -> Result<(), ApiError> {
    let policy = volume.spec.persistent_volume_reclaim_policy.clone();
    if volume.status.phase == "Failed" {
        return Ok(());
    }
    let released = set_volume_phase(
        object,
        "Released",
        Why::ClaimGone {
            policy: policy.clone(),
        },
        view.wall,
        out,
    )?;
    let path = volume
        .spec
        .raw
        .pointer("/hostPath/path")
        .and_then(serde_json::Value::as_str);
    // Provisioned volumes are deleted by their provisioner; of other volumes only hostPath has a deleter, for one directory.
    if let (true, true, Some(path)) = (
        policy == "Delete",
        object.meta.annotation(PROVISIONED_BY).is_none(),
        path,
    ) {
        if path.starts_with("/tmp/") {
            out.delete(
                &released.key(),
                Default::default(),
                Why::ClaimGone { policy },
            )?;
            return Ok(());
        }
        let message =
            format!("host_path deleter only supports /tmp/.+ but received provided {path}");
        let failed = out.update_status(&released, Why::ClaimGone { policy }, |o| {
            if let Body::PersistentVolume(v) = &mut o.body {
                v.status.phase = "Failed".into();
                v.status.message = message.as_str().into();
            }
        })?;
        out.event(&failed, "Warning", "VolumeFailedDelete", message);
    }
    Ok(())
}

fn set_volume_phase(
    volume: &Rc<Object>,
    phase: &'static str,
    why: Why,
    wall: Timestamp,
    out: &mut LoopClient<'_>,
) -> Result<Rc<Object>, ApiError> {
    if volume.body::<PersistentVolume>().status.phase == phase {
        return Ok(volume.clone());
    }
    out.update_status(volume, why, |o| {
        if let Body::PersistentVolume(v) = &mut o.body {
            v.status.phase = phase.into();
            v.status.message = Default::default();
            v.status.last_phase_transition_time = Some(wall);
        }
    })
}
