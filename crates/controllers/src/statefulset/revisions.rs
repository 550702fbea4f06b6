//! Revision history: one ControllerRevision per template, named by a hash of its data.
//!
//! Models `getStatefulSetRevisions` of `pkg/controller/statefulset/stateful_set_control.go`.

use crate::history::{delete_oldest, new_revision, number, renumber};
use apiserver::ApiError;
use apiserver::why::Why;
use controller_runtime::client::LoopClient;
use k8s_model::pod_template::PodTemplate;
use k8s_model::workload::{ControllerRevision, StatefulSet};
use k8s_model::{Object, Str, hash};
use serde_json::Value;
use std::rc::Rc;

const HASH_LABEL: &str = "controller.kubernetes.io/hash";

/// Current and update revision; equal when no update is in progress.
pub(super) struct Revisions {
    pub current: Str,
    pub update: Str,
    current_data: Option<Rc<Object>>,
}

impl Revisions {
    /// Returns the template of the current revision.
    pub(super) fn current_template(&self, set: &StatefulSet) -> Rc<PodTemplate> {
        let data = self.current_data.as_ref().and_then(|r| {
            r.body::<ControllerRevision>()
                .data
                .pointer("/spec/template")
        });
        let Some(Value::Object(template)) = data else {
            return set.spec.template.clone();
        };
        let mut template = template.clone();
        template.remove("$patch");
        PodTemplate::from_value(Value::Object(template))
            .unwrap_or_else(|_| set.spec.template.clone())
    }
}

/// Finds or creates the revision of the current template.
pub(super) fn sync(
    object: &Rc<Object>,
    set: &StatefulSet,
    known: &[Rc<Object>],
    out: &mut LoopClient<'_>,
) -> Result<Revisions, ApiError> {
    let mut sorted = known.to_vec();
    sorted.sort_by_key(|r| (number(r), r.meta.creation_timestamp, r.meta.name.clone()));
    let next = sorted.last().map_or(1, |r| number(r) + 1);
    let text = set.spec.template.revision_data();
    let name: Str = format!(
        "{}-{}",
        object.meta.name,
        hash::controller_revision_hash(&text, set.status.collision_count.unwrap_or(0))
    )
    .into();
    let update = match sorted.iter().rev().find(|r| r.meta.name == name) {
        Some(equal) if number(equal) + 1 == next => equal.clone(),
        // An older template is restored, so its revision becomes the newest.
        Some(equal) => renumber(equal, next, out)?,
        None => {
            let new = new_revision(object, &set.spec.template, &name, HASH_LABEL, next);
            out.create(new, Why::NewRevision { revision: next })?
        }
    };
    let current = sorted
        .iter()
        .find(|r| r.meta.name == set.status.current_revision)
        .cloned();
    Ok(Revisions {
        current: current
            .as_ref()
            .map_or_else(|| update.meta.name.clone(), |r| r.meta.name.clone()),
        update: update.meta.name.clone(),
        current_data: current,
    })
}

/// Deletes the oldest revisions that no Pod runs, beyond the history limit.
pub(super) fn truncate(
    object: &Object,
    set: &StatefulSet,
    known: &[Rc<Object>],
    pods: &[Rc<Object>],
    now: &Revisions,
    out: &mut LoopClient<'_>,
) -> Result<(), ApiError> {
    let limit = set.spec.revision_history_limit.unwrap_or(10);
    let is_live = |r: &Object| {
        r.meta.name == now.current
            || r.meta.name == now.update
            || pods.iter().any(|p| super::revision_of(p) == r.meta.name)
    };
    let idle: Vec<_> = known
        .iter()
        .filter(|r| !is_live(r) && r.meta.is_controlled_by(object.meta.uid))
        .cloned()
        .collect();
    let surplus = idle.len().saturating_sub(limit as usize);
    delete_oldest(idle, surplus, limit, out)
}
