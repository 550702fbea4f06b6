//! Deletes objects that have lost their last owner, and completes foreground and orphaning deletions.
//!
//! Guarantees: an object with an existing owner, or one of an unknown kind, stays; a foreground deletion ends only when no
//! dependent that blocks it is left; dependents of an orphaning owner are kept without it.
//! Models `pkg/controller/garbagecollector/garbagecollector.go`.

use super::{Controller, Event, Watch};
use apiserver::why::Why;
use apiserver::{ApiError, DeleteOptions, Preconditions, Propagation};
use apiserver::{Component, ControllerId};
use controller_runtime::client::{Action, LoopClient, PassView};
use controller_runtime::descriptor::{CodeLine, CodeTag, Descriptor};
use controller_runtime::informer::Cache;
use k8s_model::{Duration, Kind, Object, ObjectRef, OwnerReference, Str, Uid, kind};
use smol_str::format_smolstr;
use std::rc::Rc;

const FOREGROUND: &str = "foregroundDeletion";
const ORPHAN: &str = "orphan";
/// Delay before the live lookup of the owner and its dependents, which upstream makes before it continues.
const LIVE_LOOKUP_US: u64 = 15 * k8s_model::time::MS;

/// Pseudo-code of a reconcile pass.
const CODE: &[CodeLine] = &[
    CodeLine::step("for object := range queue {"),
    CodeLine::step("    owners := object.OwnerReferences"),
    CodeLine::step("    if none of them exists {"),
    CodeLine::writes("        delete(object)", CodeTag::Delete),
    CodeLine::end("    }"),
    CodeLine::step("    if waits for its dependents && has none {"),
    CodeLine::writes("        remove(finalizer)", CodeTag::RemoveFinalizer),
    CodeLine::end("    }"),
    CodeLine::end("}"),
];

/// Watches of all kinds that can be deleted, custom ones included (`GetDeletableResources`); Events are ignored (`graph_builder.go`).
const WATCHES: [Watch; kind::ALL.len() - 1] = {
    let mut watches = [Watch::Maps(Kind::Custom(0)); kind::ALL.len() - 1];
    let (mut from, mut to) = (0, 0);
    while from < kind::ALL.len() {
        if !matches!(kind::ALL[from], Kind::Event | Kind::ComponentStatus) {
            watches[to] = Watch::Maps(kind::ALL[from]);
            to += 1;
        }
        from += 1;
    }
    watches
};

/// UI descriptor of the controller.
static DESCRIPTOR: Descriptor = Descriptor {
    component: Component::Controller(&ControllerId::new("garbage-collector-controller")),
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
        &WATCHES
    }

    /// Wakes the dependents of a deleted object and the owners that wait for it; a new or terminating object wakes itself.
    fn map_event(&self, event: &Event<'_>, cache: &Cache, wake: &mut dyn FnMut(ObjectRef)) {
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
                return process_deleting_dependents(object, view, out);
            }
            return Ok(Action::AwaitChange);
        }
        attempt_to_delete(key, object.meta.uid, view.cache, out)
    }
}

/// Returns the existing owner that a reference points to, from the cache.
fn owner_in<'a>(
    object: &Object,
    owner: &OwnerReference,
    cache: &'a Cache,
) -> Option<&'a Rc<Object>> {
    // Several kinds may share a group and name: from a definition that had another scope.
    let found = |kind: Kind| {
        cache
            .object(&ObjectRef::new(kind, &object.meta.namespace, &owner.name))
            .filter(|o| o.meta.uid == owner.uid)
    };
    kind::all()
        .filter(|kind| owner.is_kind(*kind))
        .find_map(found)
}

fn wake_waiting_owners(object: &Object, cache: &Cache, wake: &mut dyn FnMut(ObjectRef)) {
    for owner in object.meta.owner_references.iter() {
        if let Some(owner) = owner_in(object, owner, cache)
            && is_deleting_dependents(owner)
        {
            wake(owner.key());
        }
    }
}

/// Owner references of an object by the state of the owner (`classifyReferences`).
#[derive(Default)]
struct OwnerStates<'o> {
    /// Owners that exist and do not wait for their dependents.
    solid: Vec<&'o OwnerReference>,
    /// Owners that do not exist.
    dangling: Vec<&'o OwnerReference>,
    /// Owners that are deleted in the foreground.
    waiting: Vec<&'o OwnerReference>,
}

/// Reference that prevents a decision about its object.
enum Undecided {
    /// Kind of the owner that the cluster does not have, or not yet: looked up again later.
    UnknownKind,
    /// Namespaced owner of a cluster-scoped object: an error that no retry resolves.
    NamespacedOwner,
}

impl<'o> OwnerStates<'o> {
    fn classify(object: &'o Object, out: &LoopClient<'_>) -> Result<OwnerStates<'o>, Undecided> {
        let mut states = OwnerStates::default();
        for reference in object.meta.owner_references.iter() {
            // By group and version: another group may have a kind of the same name.
            let kind = out
                .definitions()
                .named(&reference.api_version, &reference.kind)
                .ok_or(Undecided::UnknownKind)?;
            if kind.info().namespaced && object.meta.namespace.is_empty() {
                return Err(Undecided::NamespacedOwner);
            }
            let owner = out
                .store()
                .get(&ObjectRef::new(
                    kind,
                    &object.meta.namespace,
                    &reference.name,
                ))
                .filter(|owner| owner.meta.uid == reference.uid);
            match owner {
                None => states.dangling.push(reference),
                Some(owner) if is_deleting_dependents(owner) => states.waiting.push(reference),
                Some(_) => states.solid.push(reference),
            }
        }
        Ok(states)
    }
}

fn is_deleting_dependents(object: &Object) -> bool {
    object.meta.is_deleting() && object.meta.has_finalizer(FOREGROUND)
}

/// Records an Event about an owner that exists, but in another namespace (`reportInvalidNamespaceOwnerRef` of `graph_builder.go`).
fn report_invalid_namespace(object: &Object, reference: &OwnerReference, out: &mut LoopClient<'_>) {
    let (api_version, namespace) = (&reference.api_version, &object.meta.namespace);
    let kind = out.definitions().named(api_version, &reference.kind);
    let Some(kind) = kind.filter(|kind| kind.info().namespaced) else {
        return;
    };
    let mut others = out.store().listing(kind, None);
    if !others.any(|other| other.meta.uid == reference.uid && other.meta.namespace != *namespace) {
        return;
    }
    let (kind, name, uid) = (&reference.kind, &reference.name, reference.uid);
    let owner = format!("[{api_version}/{kind}, namespace: {namespace}, name: {name}, uid: {uid}]");
    out.event(
        object,
        "Warning",
        "OwnerRefInvalidNamespace",
        format!("ownerRef {owner} does not exist in namespace {namespace:?}"),
    );
}

/// Deletes an object if none of its owners exists; drops references to deleted owners if another one does. The owners are looked up live
/// (`attemptToDeleteItem`).
fn attempt_to_delete(
    key: &ObjectRef,
    uid: Uid,
    cache: &Cache,
    out: &mut LoopClient<'_>,
) -> Result<Action, ApiError> {
    let live = out.store().get(key).filter(|live| live.meta.uid == uid);
    let Some(object) = live.cloned() else {
        return Ok(Action::AwaitChange);
    };
    let states = match OwnerStates::classify(&object, out) {
        Ok(states) => states,
        Err(Undecided::UnknownKind) => return Ok(Action::RetryWithin(Duration::MAX)),
        Err(Undecided::NamespacedOwner) => return Ok(Action::AwaitChange),
    };
    let Some(gone) = states.waiting.last().or(states.dangling.last()) else {
        return Ok(Action::AwaitChange);
    };
    let owner: Str = format_smolstr!("{} {}", gone.kind, gone.name);
    for reference in &states.dangling {
        report_invalid_namespace(&object, reference, out);
    }
    if !states.solid.is_empty() {
        let solid: Vec<Uid> = states.solid.iter().map(|owner| owner.uid).collect();
        out.patch(key, Why::OwnerGone { owner }, |o| {
            Rc::make_mut(&mut o.meta.owner_references).retain(|r| solid.contains(&r.uid))
        })?;
        return Ok(Action::AwaitChange);
    }
    let why = match states.waiting.is_empty() {
        true => Why::OwnerGone { owner },
        false => Why::OwnerWaits { owner },
    };
    let mut dependents = cache.owned_by(uid).peekable();
    let propagation = if !states.waiting.is_empty() && dependents.peek().is_some() {
        if dependents.any(|dependent| is_deleting_dependents(dependent)) {
            // A circle of owners, of which each would wait for the next.
            unblock_owners(key, why.clone(), out)?;
        }
        Propagation::Foreground
    } else if object.meta.has_finalizer(ORPHAN) {
        Propagation::Orphan
    } else if object.meta.has_finalizer(FOREGROUND) {
        Propagation::Foreground
    } else {
        Propagation::Background
    };
    let options = DeleteOptions {
        preconditions: Preconditions::of_uid(uid),
        propagation_policy: Some(propagation),
        ..Default::default()
    };
    match out.delete(key, options, why) {
        Err(error) if error.reason != apiserver::StatusReason::NotFound => Err(error),
        _ => Ok(Action::AwaitChange),
    }
}

/// Lets the owners of an object be deleted before it (`unblockOwnerReferencesStrategicMergePatch`).
fn unblock_owners(key: &ObjectRef, why: Why, out: &mut LoopClient<'_>) -> Result<(), ApiError> {
    out.patch(key, why, |object| {
        for reference in Rc::make_mut(&mut object.meta.owner_references) {
            if reference.block_owner_deletion == Some(true) {
                reference.block_owner_deletion = Some(false);
            }
        }
    })?;
    Ok(())
}

/// Deletes in the foreground: the dependents that block the owner first, and the owner when none is left
/// (`processDeletingDependentsItem`).
fn process_deleting_dependents(
    object: &Rc<Object>,
    view: &PassView<'_>,
    out: &mut LoopClient<'_>,
) -> Result<Action, ApiError> {
    let uid = object.meta.uid;
    let blocks = |dependent: &&Rc<Object>| {
        let mut references = dependent.meta.owner_references.iter();
        references.any(|r| r.uid == uid && r.block_owner_deletion == Some(true))
    };
    let blocking: Vec<Rc<Object>> = view.cache.owned_by(uid).filter(blocks).cloned().collect();
    if blocking.is_empty() {
        out.patch(&object.key(), Why::DependentsGone, |o| {
            o.meta.finalizers.retain(|f| f != FOREGROUND)
        })?;
    }
    for dependent in blocking.iter().filter(|d| !d.meta.is_deleting()) {
        attempt_to_delete(&dependent.key(), dependent.meta.uid, view.cache, out)?;
    }
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
        return Ok(Action::RequeueAfter(LIVE_LOOKUP_US));
    }
    out.patch(&object.key(), Why::Orphaned { owner }, |o| {
        o.meta.finalizers.retain(|f| f != ORPHAN)
    })?;
    Ok(Action::AwaitChange)
}
