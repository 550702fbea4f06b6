//! Default storage class of claims.
//!
//! Models `plugin/pkg/admission/storage/storageclass/setdefault`.

use crate::error::ApiError;
use crate::store::Store;
use k8s_model::storage::StorageClass;
use k8s_model::{Body, Kind, Object};

/// Sets the default class of a claim that names none.
pub(super) fn admit(store: &mut Store, object: &mut Object) -> Result<(), ApiError> {
    let Body::PersistentVolumeClaim(claim) = &mut object.body else {
        return Ok(());
    };
    if claim.spec.storage_class_name.is_some() {
        return Ok(());
    }
    let classes = store.list(Kind::StorageClass);
    if let Some(class) = StorageClass::default_of(classes) {
        claim.spec = claim.spec.edited(|raw| {
            raw.insert("storageClassName".into(), class.meta.name.as_str().into());
        });
    }
    Ok(())
}
