//! Finalizers that keep claims and volumes while they are in use.
//!
//! Models `plugin/pkg/admission/storage/storageobjectinuseprotection`.

use crate::error::ApiError;
use crate::store::Store;
use k8s_model::{Kind, Object, Str};

/// Adds the finalizer of a claim or of a volume.
pub(super) fn admit(_: &mut Store, object: &mut Object) -> Result<(), ApiError> {
    let finalizer = match object.kind {
        Kind::PersistentVolumeClaim => "kubernetes.io/pvc-protection",
        Kind::PersistentVolume => "kubernetes.io/pv-protection",
        _ => return Ok(()),
    };
    if !object.meta.has_finalizer(finalizer) {
        object.meta.finalizers.push(Str::new_static(finalizer));
    }
    Ok(())
}
