//! Namespace of a new object: it must exist and must not be terminating.
//!
//! Models `apiserver/pkg/admission/plugin/namespace/lifecycle`.

use crate::error::{ApiError, Cause};
use crate::store::Store;
use k8s_model::{Kind, Object, ObjectRef};

/// Refuses an object whose namespace does not exist or is terminating.
pub(super) fn validate(store: &Store, object: &Object) -> Result<(), ApiError> {
    let name = &object.meta.namespace;
    // The most common namespace; it exists from the start and may not be deleted.
    if name == "default" {
        return Ok(());
    }
    if !object.kind.info().namespaced {
        return Ok(());
    }
    match store.get(&ObjectRef::new(Kind::Namespace, "", name)) {
        None => Err(ApiError::not_found(Kind::Namespace, name)),
        Some(namespace) if namespace.meta.is_deleting() && object.kind != Kind::Event => {
            let error = ApiError::forbidden(format!(
                "{} {:?} is forbidden: unable to create new content in namespace {name} because it is being terminated",
                object.kind.group_resource(),
                object.meta.name.as_str()
            ));
            Err(ApiError {
                cause: Some(Box::new(Cause::NamespaceTerminating)),
                ..error
            })
        }
        Some(_) => Ok(()),
    }
}
