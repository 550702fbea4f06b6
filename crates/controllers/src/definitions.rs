//! Accepts the names of CustomResourceDefinitions and establishes them; deletes the custom objects of a deleted definition.

use super::{Controller, Watch};
use apiserver::why::Why;
use apiserver::{ApiError, CLEANUP};
use apiserver::{Component, ControllerId};
use controller_runtime::client::{Action, LoopClient, PassView};
use controller_runtime::descriptor::{Descriptor, GENERIC};
use k8s_model::time::SECOND;
use k8s_model::{Body, Kind, Object, ObjectRef};
use serde_json::{Value, json};

/// Interval of the checks for remaining custom objects, in seconds.
const REQUEUE_S: u64 = 5;

/// UI descriptor of the controller.
static DESCRIPTOR: Descriptor = Descriptor {
    component: Component::Controller(&ControllerId::new("apiextensions-apiserver")),
    aliases: &[],
    title: "definitions",
    icon: "i-namespace",
    lane: "",
    always_shown: false,
    code: GENERIC,
};

/// Controller of CustomResourceDefinitions.
pub struct DefinitionsController;

impl Controller for DefinitionsController {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn watches(&self) -> &'static [Watch] {
        &[Watch::For(Kind::CustomResourceDefinition)]
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
            return if object.meta.has_finalizer(CLEANUP) {
                clean_up(object, out)
            } else {
                Ok(Action::AwaitChange)
            };
        }
        let Body::Other(body) = &object.body else {
            return Ok(Action::AwaitChange);
        };
        let (now, spec) = (
            view.wall.rfc3339(),
            body.get("spec").cloned().unwrap_or_default(),
        );
        let known = body
            .get("status")
            .map(|status| status["conditions"].clone())
            .unwrap_or_default();
        let condition = |kind: &str, reason: &str, message: &str| {
            let old = known
                .as_array()
                .into_iter()
                .flatten()
                .find(|c| c["type"] == kind);
            let new = json!({"type": kind, "status": "True", "reason": reason, "message": message, "lastTransitionTime": now});
            old.cloned().unwrap_or(new)
        };
        let stored = spec["versions"]
            .as_array()
            .into_iter()
            .flatten()
            .filter(|version| version["storage"] == true);
        let status = json!({
            "acceptedNames": spec["names"],
            "conditions": [
                condition("NamesAccepted", "NoConflicts", "no conflicts found"),
                condition("Established", "InitialNamesAccepted", "the initial names have been accepted"),
            ],
            "storedVersions": stored.map(|version| version["name"].clone()).collect::<Vec<Value>>(),
        });
        out.observe(object, status)?;
        Ok(Action::AwaitChange)
    }
}

/// Deletes the custom objects of a definition; requeues while finalizers hold some.
fn clean_up(definition: &Object, out: &mut LoopClient<'_>) -> Result<Action, ApiError> {
    let of = |kind: Kind| {
        let info = kind.info();
        *definition.meta.name == *format!("{}.{}", info.plural, info.group)
    };
    let kind = out
        .definitions()
        .served()
        .map(|defined| defined.kind)
        .find(|kind| of(*kind));
    let list = |out: &LoopClient<'_>| {
        kind.map_or_else(Vec::new, |kind| {
            out.store()
                .list(kind)
                .map(|object| object.key())
                .collect::<Vec<_>>()
        })
    };
    let owner = format!("CustomResourceDefinition {}", definition.meta.name);
    for key in list(out) {
        // An object that cannot be deleted now is retried at the next check.
        let _ = out.delete(
            &key,
            Default::default(),
            Why::OwnerGone {
                owner: owner.as_str().into(),
            },
        );
    }
    if !list(out).is_empty() {
        return Ok(Action::RequeueAfter(REQUEUE_S * SECOND));
    }
    out.patch(&definition.key(), Why::DependentsGone, |o| {
        o.meta.finalizers.retain(|f| f != CLEANUP)
    })?;
    Ok(Action::AwaitChange)
}
