//! Default class of Ingresses.
//!
//! Models `plugin/pkg/admission/network/defaultingressclass`.

use crate::error::ApiError;
use crate::store::Store;
use k8s_model::{Kind, Object, ingress};

/// Sets the default class of an Ingress that names none.
pub(super) fn admit(store: &mut Store, object: &mut Object) -> Result<(), ApiError> {
    if object.kind == Kind::Ingress
        && let Some(class) = ingress::default_class(store.list(Kind::IngressClass))
    {
        ingress::give_class(object, &class.meta.name);
    }
    Ok(())
}
