//! Revision history of a DaemonSet.
//!
//! Models `constructHistory` and `cleanupHistory` of `pkg/controller/daemon/update.go`. Unlike those of StatefulSets,
//! revisions are named by the hash of the Pod template, and of two with the same template the older is deleted.

use super::placement::HASH_LABEL;
use crate::history::{delete_oldest, new_revision, number, renumber};
use apiserver::why::Why;
use apiserver::{ApiError, StatusReason};
use controller_runtime::client::LoopClient;
use k8s_model::daemonset::DaemonSet;
use k8s_model::workload::ControllerRevision;
use k8s_model::{Body, Object, Str};
use smol_str::format_smolstr;
use std::rc::Rc;

/// Finds or creates the revision of the current template; returns its hash and the older revisions.
pub(super) fn sync(
    object: &Rc<Object>,
    set: &DaemonSet,
    known: &[Rc<Object>],
    pods: &[Rc<Object>],
    out: &mut LoopClient<'_>,
) -> Result<(Str, Vec<Rc<Object>>), ApiError> {
    let data: serde_json::Value =
        serde_json::from_str(&set.template.revision_data()).unwrap_or_default();
    let holds = |r: &Rc<Object>| r.body::<ControllerRevision>().data == data;
    let (mut current, old): (Vec<_>, Vec<_>) = known.iter().cloned().partition(holds);
    let next = old.iter().map(|r| number(r)).max().unwrap_or(0) + 1;
    current.sort_by_key(|r| number(r));
    let Some(kept) = current.pop() else {
        return Ok((create(object, set, next, out)?, old));
    };
    let hash = kept.meta.label(HASH_LABEL).cloned().unwrap_or_default();
    for double in current {
        for pod in pods
            .iter()
            .filter(|p| p.meta.label(HASH_LABEL) != Some(&hash))
        {
            out.patch(&pod.key(), Why::NewRevision { revision: next }, |o| {
                Rc::make_mut(&mut o.meta.labels).insert(Str::new_static(HASH_LABEL), hash.clone());
            })?;
        }
        out.delete(
            &double.key(),
            Default::default(),
            Why::NewRevision { revision: next },
        )?;
    }
    if number(&kept) < next {
        renumber(&kept, next, out)?;
    }
    Ok((hash, old))
}

fn create(
    object: &Rc<Object>,
    set: &DaemonSet,
    next: i64,
    out: &mut LoopClient<'_>,
) -> Result<Str, ApiError> {
    let hash = set.template.hash(set.status.collision_count);
    let name = format_smolstr!("{}-{hash}", object.meta.name);
    let new = new_revision(object, &set.template, &name, HASH_LABEL, next);
    match out.create(new, Why::NewRevision { revision: next }) {
        Err(error) if error.reason == StatusReason::AlreadyExists => {
            // Another template has the same hash: a higher collision count leads to a new one.
            out.update_status(object, Why::Observed, |o| {
                if let Body::DaemonSet(set) = &mut o.body {
                    set.status.collision_count = Some(set.status.collision_count.unwrap_or(0) + 1);
                }
            })?;
            Err(error)
        }
        Err(error) => Err(error),
        Ok(_) => Ok(hash),
    }
}

/// Deletes the oldest revisions that no Pod runs, beyond the history limit.
pub(super) fn clean_up(
    set: &DaemonSet,
    old: Vec<Rc<Object>>,
    pods: &[Rc<Object>],
    out: &mut LoopClient<'_>,
) -> Result<(), ApiError> {
    let limit = set.spec.revision_history_limit.unwrap_or(10);
    let surplus = old.len().saturating_sub(limit.max(0) as usize);
    if surplus == 0 {
        return Ok(());
    }
    let is_live = |r: &Rc<Object>| {
        pods.iter()
            .any(|p| p.meta.label(HASH_LABEL) == r.meta.label(HASH_LABEL))
    };
    delete_oldest(
        old.into_iter().filter(|r| !is_live(r)).collect(),
        surplus,
        limit,
        out,
    )
}
