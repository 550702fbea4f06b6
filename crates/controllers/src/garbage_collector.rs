//! Deletes objects that have lost their last owner, and completes foreground and orphaning deletions.
//!
//! Guarantees: an object with an existing owner stays; a foreground deletion ends only when no dependent that blocks
//! it is left; dependents of an orphaning owner are kept without it.
//! Models `pkg/controller/garbagecollector/garbagecollector.go`.

use super::{Controller, Event, Watch};
use apiserver::why::Why;
use apiserver::{ApiError, Delete, Propagation};
use controller_runtime::client::{Action, LoopClient, PassView};
use controller_runtime::descriptor::{CodeLine, Descriptor};
use controller_runtime::informer::Cache;
use k8s_model::{Kind, Object, ObjectRef, OwnerReference, Str, Uid, kind};
use smol_str::format_smolstr;
use std::rc::Rc;

const FOREGROUND: &str = "foregroundDeletion";
const ORPHAN: &str = "orphan";
/// Delay before the live lookup of the owner and its dependents, which upstream makes before it continues.
const LOOK_AGAIN_US: u64 = 15 * k8s_model::time::MS;

/// Pseudo-code of a reconcile pass.
const CODE: &[CodeLine] = &[
    ("for object := range queue {", "", ""),
    ("    owners := object.OwnerReferences", "", ""),
    ("    if none of them exists {", "", ""),
    ("        delete(object)", "delete", "act"),
    ("    }", "", ""),
    ("    if waits for its dependents && has none {", "", ""),
    ("        remove(finalizer)", "release", "act"),
    ("    }", "", ""),
    ("}", "", ""),
];

/// UI descriptor of the controller.
static DESCRIPTOR: Descriptor = Descriptor {
    name: "garbage-collector-controller",
    aliases: &[],
    title: "garbage collector",
    icon: "i-gc",
    lane: "",
    always_shown: true,
    code: CODE,
};

/// Garbage collector; its keys are objects to delete, and owners that wait for dependents.
pub struct GarbageCollector;

impl Controller for GarbageCollector {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn watches(&self) -> &'static [Watch] {
        use Watch::Maps;
        &[
            Maps(Kind::Pod),
            Maps(Kind::ReplicaSet),
            Maps(Kind::Deployment),
            Maps(Kind::StatefulSet),
            Maps(Kind::ControllerRevision),
            Maps(Kind::DaemonSet),
            Maps(Kind::Job),
            Maps(Kind::CronJob),
            Maps(Kind::ReplicationController),
            Maps(Kind::Service),
            Maps(Kind::EndpointSlice),
            Maps(Kind::PersistentVolumeClaim),
            Maps(Kind::PersistentVolume),
            Maps(Kind::ConfigMap),
            Maps(Kind::Secret),
            Maps(Kind::ServiceAccount),
            Maps(Kind::Node),
            Maps(Kind::Endpoints),
            Maps(Kind::StorageClass),
            Maps(Kind::PodDisruptionBudget),
            Maps(Kind::HorizontalPodAutoscaler),
            Maps(Kind::ResourceQuota),
            Maps(Kind::LimitRange),
            Maps(Kind::PriorityClass),
            Maps(Kind::PodTemplate),
            Maps(Kind::Lease),
            Maps(Kind::Ingress),
            Maps(Kind::IngressClass),
            Maps(Kind::NetworkPolicy),
            Maps(Kind::Role),
            Maps(Kind::RoleBinding),
            Maps(Kind::ClusterRole),
            Maps(Kind::ClusterRoleBinding),
            Maps(Kind::CSIDriver),
            Maps(Kind::VolumeAttachment),
            Maps(Kind::RuntimeClass),
            Maps(Kind::CustomResourceDefinition),
            Maps(Kind::APIService),
            Maps(Kind::MutatingWebhookConfiguration),
            Maps(Kind::ValidatingWebhookConfiguration),
            Maps(Kind::Custom(0)),
        ]
    }

    /// Wakes the dependents of a deleted object and the owners that wait for it; a new or terminating object wakes itself.
    fn also_wakes(&self, event: &Event<'_>, cache: &Cache, wake: &mut dyn FnMut(ObjectRef)) {
        let object = event.object;
        match event.op {
            apiserver::Op::Deleted => {
                for dependent in cache.owned_by(object.meta.uid) {
                    wake(dependent.key());
                }
                wake_waiting_owners(object, cache, wake);
            }
            _ => {
                let waits = object.meta.is_deleting()
                    && (object.meta.has_finalizer(FOREGROUND) || object.meta.has_finalizer(ORPHAN));
                let released = event
                    .before
                    .is_some_and(|b| b.meta.owner_references != object.meta.owner_references);
                // An owner deleted later wakes its dependents itself.
                let looked_up = released || event.before.is_none();
                let lost_owner = looked_up
                    && object
                        .meta
                        .owner_references
                        .iter()
                        .any(|o| owner_in(object, o, cache).is_none());
                if waits || lost_owner {
                    wake(object.key());
                }
                if released && let Some(before) = event.before {
                    wake_waiting_owners(before, cache, wake);
                }
            }
        }
    }

    fn reconcile(
        &self,
        key: &ObjectRef,
        view: &PassView<'_>,
        out: &mut LoopClient<'_>,
    ) -> Result<Action, ApiError> {
        let Some(object) = view.cache.object(key) else {
            return Ok(Action::AwaitChange);
        };
        if object.meta.is_deleting() {
            if object.meta.has_finalizer(ORPHAN) {
                return orphan_dependents(object, view, out);
            }
            if object.meta.has_finalizer(FOREGROUND) {
                return delete_dependents(object, view, out);
            }
            return Ok(Action::AwaitChange);
        }
        collect(object, out)
    }
}

/// Returns the existing owner that a reference points to, from the cache.
fn owner_in<'a>(
    object: &Object,
    owner: &OwnerReference,
    cache: &'a Cache,
) -> Option<&'a Rc<Object>> {
    // Several kinds may share a name: in other groups, or from a definition that had another scope.
    let found = |kind: Kind| {
        cache
            .object(&ObjectRef::new(kind, &object.meta.namespace, &owner.name))
            .filter(|o| o.meta.uid == owner.uid)
    };
    kind::all()
        .filter(|kind| *kind.name() == *owner.kind)
        .find_map(found)
}

fn wake_waiting_owners(object: &Object, cache: &Cache, wake: &mut dyn FnMut(ObjectRef)) {
    for owner in object.meta.owner_references.iter() {
        if let Some(owner) = owner_in(object, owner, cache)
            && owner.meta.is_deleting()
            && owner.meta.has_finalizer(FOREGROUND)
        {
            wake(owner.key());
        }
    }
}

/// Deletes an object if none of its owners exists; drops references to deleted owners if another one does.
fn collect(object: &Rc<Object>, out: &mut LoopClient<'_>) -> Result<Action, ApiError> {
    let mut living: Vec<Uid> = Vec::new();
    let mut dead: Option<Str> = None;
    let mut waiting: Option<Str> = None;
    for owner in object.meta.owner_references.iter() {
        // By group and version: another group may have a kind of the same name.
        let Some(kind) = out
            .server
            .definitions()
            .named(&owner.api_version, &owner.kind)
        else {
            continue;
        };
        let current = out
            .server
            .get(&ObjectRef::new(kind, &object.meta.namespace, &owner.name))
            .filter(|o| o.meta.uid == owner.uid);
        let name: Str = format_smolstr!("{} {}", owner.kind, owner.name);
        match current {
            None => dead = Some(name),
            Some(o) if o.meta.is_deleting() && o.meta.has_finalizer(FOREGROUND) => {
                waiting = Some(name)
            }
            Some(_) => living.push(owner.uid),
        }
    }
    let (Some(owner), why) = (match (&dead, &waiting) {
        (Some(owner), None) => (
            Some(owner.clone()),
            Why::OwnerGone {
                owner: owner.clone(),
            },
        ),
        (_, Some(owner)) => (
            Some(owner.clone()),
            Why::OwnerWaits {
                owner: owner.clone(),
            },
        ),
        (None, None) => (None, Why::Observed),
    }) else {
        return Ok(Action::AwaitChange);
    };
    if !living.is_empty() {
        out.patch(&object.key(), Why::OwnerGone { owner }, |o| {
            Rc::make_mut(&mut o.meta.owner_references).retain(|r| living.contains(&r.uid))
        })?;
        return Ok(Action::AwaitChange);
    }
    let propagation = if waiting.is_some() && has_dependents(object, out) {
        Propagation::Foreground
    } else {
        Propagation::Background
    };
    let how = Delete {
        uid: Some(object.meta.uid),
        propagation,
        ..Default::default()
    };
    match out.delete(&object.key(), how, why) {
        Err(error) if error.reason != apiserver::StatusReason::NotFound => Err(error),
        _ => Ok(Action::AwaitChange),
    }
}

fn has_dependents(object: &Object, out: &LoopClient<'_>) -> bool {
    let kinds = [
        Kind::Pod,
        Kind::ReplicaSet,
        Kind::ControllerRevision,
        Kind::EndpointSlice,
        Kind::PersistentVolumeClaim,
        Kind::Job,
    ];
    kinds.iter().any(|kind| {
        out.server.list(*kind).any(|o| {
            o.meta
                .owner_references
                .iter()
                .any(|r| r.uid == object.meta.uid)
        })
    })
}

/// Deletes in the foreground: dependents first, and the owner when no dependent blocks it any more.
fn delete_dependents(
    object: &Rc<Object>,
    view: &PassView<'_>,
    out: &mut LoopClient<'_>,
) -> Result<Action, ApiError> {
    let dependents: Vec<_> = view.cache.owned_by(object.meta.uid).cloned().collect();
    let blocks = |o: &Object| {
        o.meta
            .owner_references
            .iter()
            .any(|r| r.uid == object.meta.uid && r.block_owner_deletion == Some(true))
    };
    if dependents.iter().any(|d| blocks(d)) {
        for dependent in dependents.iter().filter(|d| !d.meta.is_deleting()) {
            collect(dependent, out)?;
        }
        return Ok(Action::AwaitChange);
    }
    out.patch(&object.key(), Why::DependentsGone, |o| {
        o.meta.finalizers.retain(|f| f != FOREGROUND)
    })?;
    Ok(Action::AwaitChange)
}

/// Orphans dependents: removes their references to the owner, then deletes the owner.
fn orphan_dependents(
    object: &Rc<Object>,
    view: &PassView<'_>,
    out: &mut LoopClient<'_>,
) -> Result<Action, ApiError> {
    let owner: Str = object.key().to_string().into();
    let dependents: Vec<_> = view
        .cache
        .owned_by(object.meta.uid)
        .map(|d| d.key())
        .collect();
    for key in &dependents {
        out.patch(
            key,
            Why::Orphaned {
                owner: owner.clone(),
            },
            |o| Rc::make_mut(&mut o.meta.owner_references).retain(|r| r.uid != object.meta.uid),
        )?;
    }
    if !dependents.is_empty() {
        // The finalizer is removed only when the cache shows that no dependent is left.
        return Ok(Action::RequeueAfter(LOOK_AGAIN_US));
    }
    out.patch(&object.key(), Why::Orphaned { owner }, |o| {
        o.meta.finalizers.retain(|f| f != ORPHAN)
    })?;
    Ok(Action::AwaitChange)
}
