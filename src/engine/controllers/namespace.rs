//! Deletes the content of a terminating namespace, then removes its finalizer.
//!
//! Models `pkg/controller/namespace/deletion/namespaced_resources_deleter.go`.

use super::{Controller, Watch};
use crate::api::time::MS;
use crate::api::{Kind, ObjectRef, kind};
use crate::engine::descriptor::{Descriptor, GENERIC};
use crate::engine::out::{Action, Out, View};
use crate::engine::store::{ApiError, FINALIZED_BY_LOOP};
use crate::engine::why::Why;

/// Delay until remaining objects are checked again.
const LOOK_AGAIN_US: u64 = 100 * MS;

/// How the page shows the loop.
static DESCRIPTOR: Descriptor = Descriptor {
    name: "namespace-controller",
    aliases: &[],
    title: "namespace",
    icon: "i-namespace",
    lane: "",
    always_shown: false,
    code: GENERIC,
};

/// The namespace loop.
pub struct NamespaceController;

impl Controller for NamespaceController {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn watches(&self) -> &'static [Watch] {
        &[Watch::For(Kind::Namespace)]
    }

    fn reconcile(&self, key: &ObjectRef, view: &View<'_>, out: &mut Out<'_>) -> Result<Action, ApiError> {
        let Some(namespace) = view.cache.object(key).filter(|n| n.meta.is_deleting()) else { return Ok(Action::AwaitChange) };
        let why = Why::OwnerGone { owner: format!("Namespace {}", key.name).into() };
        let mut left = false;
        for kind in kind::ALL.iter().filter(|kind| kind.info().namespaced) {
            let content: Vec<ObjectRef> = out.server.list(*kind).filter(|o| o.meta.namespace == key.name).map(|o| o.key()).collect();
            for object in content {
                let gone = out.delete(&object, Default::default(), why.clone()).is_err() || out.server.get(&object).is_none();
                left |= !gone;
            }
        }
        if left {
            return Ok(Action::RequeueAfter(LOOK_AGAIN_US));
        }
        out.patch(&namespace.key(), Why::DependentsGone, |o| o.meta.finalizers.retain(|f| f != FINALIZED_BY_LOOP))?;
        Ok(Action::AwaitChange)
    }
}
