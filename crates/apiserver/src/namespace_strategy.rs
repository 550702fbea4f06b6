//! Strategy of namespaces: `spec.finalizers` hold a terminating namespace, beside those of its metadata.
//!
//! Models `pkg/registry/core/namespace`.

use super::error::ApiError;
use super::server::{ApiServer, Origin};
use crate::why::Why;
use k8s_model::{Body, Kind, Object, ObjectRef};
use serde_json::{Value, json};
use std::rc::Rc;

/// Finalizer that holds a namespace until its controller has emptied it.
pub const NAMESPACE_FINALIZER: &str = "kubernetes";

/// Returns the finalizers of a namespace's spec.
pub fn spec_finalizers(object: &Object) -> &[Value] {
    let Body::Other(body) = &object.body else {
        return &[];
    };
    let spec = body.get("spec");
    spec.and_then(|spec| spec["finalizers"].as_array())
        .map_or(&[], Vec::as_slice)
}

fn set_spec_finalizers(object: &mut Object, finalizers: &[Value]) {
    if let Body::Other(body) = &mut object.body {
        let spec = match finalizers {
            [] => json!({}),
            _ => json!({ "finalizers": finalizers }),
        };
        body.insert("spec".to_owned(), spec);
    }
}

/// Gives a new namespace the finalizer of its controller.
pub(super) fn prepare_for_create(object: &mut Object) {
    let mut finalizers = spec_finalizers(object).to_vec();
    if !finalizers.iter().any(|one| one == NAMESPACE_FINALIZER) {
        finalizers.push(NAMESPACE_FINALIZER.into());
        set_spec_finalizers(object, &finalizers);
    }
}

/// Keeps the finalizers of the spec, which only the subresource `finalize` changes.
pub(super) fn prepare_for_update(new: &mut Object, old: &Object) {
    set_spec_finalizers(new, spec_finalizers(old));
}

impl ApiServer {
    /// Replaces the finalizers of a namespace's spec: its subresource `finalize`.
    pub fn finalize(
        &mut self,
        origin: &Origin,
        key: &ObjectRef,
        finalizers: &[Value],
        why: Why,
    ) -> Result<Rc<Object>, ApiError> {
        let Some(old) = self.store.get(key) else {
            return Err(ApiError::not_found(key.kind, &key.name));
        };
        let mut new = (**old).clone();
        set_spec_finalizers(&mut new, finalizers);
        self.update_all(origin, new, why)
    }
}

/// Returns true if finalizers keep an object whose deletion has begun.
pub(super) fn is_held(object: &Object) -> bool {
    !object.meta.finalizers.is_empty()
        || object.kind == Kind::Namespace && !spec_finalizers(object).is_empty()
}
