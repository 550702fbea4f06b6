//! ControllerRevisions: the revision history of StatefulSets and DaemonSets.
//!
//! Models `pkg/controller/history/controller_history.go`.

use apiserver::ApiError;
use apiserver::why::Why;
use controller_runtime::client::LoopClient;
use k8s_model::pod_template::PodTemplate;
use k8s_model::workload::ControllerRevision;
use k8s_model::{Body, Kind, Object, ObjectMeta, Str};
use std::rc::Rc;

/// Returns the revision number in its owner's history.
pub(super) fn number(revision: &Object) -> i64 {
    revision.body::<ControllerRevision>().revision
}

/// Builds a revision of a template with the owner's annotations; the suffix of its name is also the value of the label with the given
/// key.
pub(super) fn new_revision(
    owner: &Object,
    template: &PodTemplate,
    name: &Str,
    hash_label: &'static str,
    number: i64,
) -> Object {
    let mut labels = (*template.labels).clone();
    labels.insert(
        Str::new_static(hash_label),
        name.rsplit('-').next().unwrap_or("").into(),
    );
    let data = serde_json::from_str(&template.revision_data()).unwrap_or_default();
    Object {
        kind: Kind::ControllerRevision,
        meta: ObjectMeta {
            name: name.clone(),
            namespace: owner.meta.namespace.clone(),
            labels: Rc::new(labels),
            annotations: owner.meta.annotations.clone(),
            owner_references: Rc::new(vec![owner.controller_reference()]),
            ..Default::default()
        },
        body: Body::ControllerRevision(Box::new(ControllerRevision {
            data,
            revision: number,
        })),
    }
}

/// Gives a revision the newest number.
pub(super) fn renumber(
    revision: &Object,
    number: i64,
    out: &mut LoopClient<'_>,
) -> Result<Rc<Object>, ApiError> {
    out.update(revision, Why::NewRevision { revision: number }, |o| {
        if let Body::ControllerRevision(r) = &mut o.body {
            r.revision = number;
        }
    })
}

/// Deletes the `surplus` oldest of the unused revisions.
pub(super) fn delete_oldest(
    mut idle: Vec<Rc<Object>>,
    surplus: usize,
    limit: i64,
    out: &mut LoopClient<'_>,
) -> Result<(), ApiError> {
    idle.sort_by_key(|r| number(r));
    for revision in idle.iter().take(surplus) {
        out.delete(
            &revision.key(),
            Default::default(),
            Why::HistoryLimit {
                field: "revisionHistoryLimit",
                limit,
            },
        )?;
    }
    Ok(())
}
