//! Accepts the names of CustomResourceDefinitions and establishes them.
//!
//! Models `apiextensions-apiserver/pkg/controller/{status,establish}`. Their objects are not simulated.

use super::{Controller, Watch};
use crate::api::{Body, Kind, ObjectRef};
use crate::engine::descriptor::{Descriptor, GENERIC};
use crate::engine::out::{Action, Out, View};
use crate::engine::store::ApiError;
use serde_json::{Value, json};

/// How the page shows the loop.
static DESCRIPTOR: Descriptor = Descriptor {
    name: "apiextensions-apiserver",
    aliases: &[],
    title: "definitions",
    icon: "i-namespace",
    lane: "",
    always_shown: false,
    code: GENERIC,
};

/// The loop of CustomResourceDefinitions.
pub struct Definitions;

impl Controller for Definitions {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn watches(&self) -> &'static [Watch] {
        &[Watch::For(Kind::CustomResourceDefinition)]
    }

    fn reconcile(&self, key: &ObjectRef, view: &View<'_>, out: &mut Out<'_>) -> Result<Action, ApiError> {
        let Some(object) = view.cache.object(key).filter(|object| !object.meta.is_deleting()) else { return Ok(Action::AwaitChange) };
        let Body::Other(body) = &object.body else { return Ok(Action::AwaitChange) };
        let (now, spec) = (view.wall.rfc3339(), body.get("spec").cloned().unwrap_or_default());
        let known = body.get("status").map(|status| status["conditions"].clone()).unwrap_or_default();
        let condition = |kind: &str, reason: &str, message: &str| {
            let old = known.as_array().into_iter().flatten().find(|c| c["type"] == kind);
            let new = json!({"type": kind, "status": "True", "reason": reason, "message": message, "lastTransitionTime": now});
            old.cloned().unwrap_or(new)
        };
        let stored = spec["versions"].as_array().into_iter().flatten().filter(|version| version["storage"] == true);
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
