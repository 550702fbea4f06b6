//! Expansion of claims.
//!
//! Models `plugin/pkg/admission/storage/persistentvolume/resize`.

use crate::error::ApiError;
use crate::store::Store;
use k8s_model::storage::StorageClass;
use k8s_model::{Body, Kind, Object, ObjectRef};

/// Refuses a growing claim that is not bound, or whose class does not allow expansion.
pub(crate) fn validate(store: &Store, new: &Object, old: &Object) -> Result<(), ApiError> {
    let (Body::PersistentVolumeClaim(claim), Body::PersistentVolumeClaim(before)) =
        (&new.body, &old.body)
    else {
        return Ok(());
    };
    if claim.request() <= before.request() {
        return Ok(());
    }
    let class = store.get(&ObjectRef::new(Kind::StorageClass, "", claim.class()));
    let allowed = class
        .and_then(|o| o.get::<StorageClass>())
        .and_then(|class| class.raw.get("allowVolumeExpansion"))
        .is_some_and(|v| v == true);
    let fault = match () {
        () if before.status.phase != "Bound" => {
            "Only bound persistent volume claims can be expanded"
        }
        () if !allowed || claim.class() != before.class() => {
            "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize"
        }
        () => return Ok(()),
    };
    Err(ApiError::forbidden(format!(
        "persistentvolumeclaims {:?} is forbidden: {fault}",
        new.meta.name.as_str()
    )))
}
