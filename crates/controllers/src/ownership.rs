//! Adoption and release of objects by a controller's selector.
//!
//! Guarantees: an object has at most one controller; a terminating object is never adopted.
//! Models `pkg/controller/controller_ref_manager.go`.

use apiserver::ApiError;
use apiserver::why::Why;
use controller_runtime::client::{LoopClient, PassView};
use k8s_model::selector::LabelSelector;
use k8s_model::{Kind, Labels, Object, Str};
use std::rc::Rc;

/// Finalizer that holds a Pod of a Job until the Job has counted it.
pub const JOB_TRACKING: &str = "batch.kubernetes.io/job-tracking";

/// Returns the objects of a kind that belong to the owner, after adopting orphans that match and releasing others.
pub fn claim(
    owner: &Object,
    selector: &LabelSelector,
    kind: Kind,
    view: &PassView<'_>,
    out: &mut LoopClient<'_>,
    mine: impl Fn(&Object) -> bool,
) -> Result<Vec<Rc<Object>>, ApiError> {
    claim_by(owner, selector, kind, view, out, &mine)
}

fn claim_by(
    owner: &Object,
    selector: &LabelSelector,
    kind: Kind,
    view: &PassView<'_>,
    out: &mut LoopClient<'_>,
    mine: &dyn Fn(&Object) -> bool,
) -> Result<Vec<Rc<Object>>, ApiError> {
    let mut claimed = Vec::with_capacity(view.cache.owned_count(owner.meta.uid));
    // Pods of one template share their labels: labels that have matched need not be matched again.
    let mut matched: Option<&Labels> = None;
    for object in view.cache.owned_of_kind(owner.meta.uid, kind) {
        if !object.meta.is_controlled_by(owner.meta.uid) {
            continue;
        }
        let matches = matched.is_some_and(|m| Rc::ptr_eq(m, &object.meta.labels))
            || selector.matches(&object.meta.labels);
        if matches && mine(object) {
            matched = Some(&object.meta.labels);
            claimed.push(object.clone());
        } else if !owner.meta.is_deleting() && !object.meta.is_deleting() {
            release(owner, object, out);
        }
    }
    if owner.meta.is_deleting() || selector.is_empty() {
        return Ok(claimed);
    }
    for object in view.cache.orphans(kind, &owner.meta.namespace) {
        if selector.matches(&object.meta.labels)
            && mine(object)
            && !object.meta.is_deleting()
            && let Some(adopted) = adopt(owner, object, out)?
        {
            claimed.push(adopted);
        }
    }
    Ok(claimed)
}

/// Makes the owner the controller of an orphan, unless another controller was faster.
fn adopt(
    owner: &Object,
    orphan: &Object,
    out: &mut LoopClient<'_>,
) -> Result<Option<Rc<Object>>, ApiError> {
    let key = orphan.key();
    let still_free = out
        .store()
        .get(&key)
        .is_some_and(|now| now.meta.uid == orphan.meta.uid && now.meta.controller().is_none());
    let owner_lives = out
        .store()
        .get(&owner.key())
        .is_some_and(|now| now.meta.uid == owner.meta.uid && !now.meta.is_deleting());
    if !still_free || !owner_lives {
        return Ok(None);
    }
    out.patch(&key, Why::Adopt, |object| {
        Rc::make_mut(&mut object.meta.owner_references).push(owner.controller_reference());
        if owner.kind == Kind::Job && !object.meta.has_finalizer(JOB_TRACKING) {
            object.meta.finalizers.push(Str::new_static(JOB_TRACKING));
        }
    })
    .map(Some)
}

/// Releases an object that no longer matches.
fn release(owner: &Object, object: &Object, out: &mut LoopClient<'_>) {
    // An object deleted or changed in the meantime counts as released.
    let _ = out.patch(&object.key(), Why::Release, |o| {
        Rc::make_mut(&mut o.meta.owner_references).retain(|r| r.uid != owner.meta.uid);
        if owner.kind == Kind::Job {
            o.meta.finalizers.retain(|f| f != JOB_TRACKING);
        }
    });
}
