//! Admission: stock plugins that complete or refuse an object before it is stored, and webhooks and policies.
//!
//! A plugin is a file with a function `admit` or `validate`, listed once in [`MUTATING`] or called in [`super::server`].
//! Models `kubeapiserver/options/plugins.go`, which gives the order.

pub(crate) mod calls;
mod default_ingress_class;
mod default_storage_class;
pub(crate) mod dispatcher;
pub(crate) mod limit_ranger;
mod matching;
mod namespace_lifecycle;
pub(crate) mod persistent_volume_claim_resize;
pub(crate) mod pod_security;
pub(crate) mod pod_topology_labels;
mod priority;
mod request;
pub mod resource_quota;
mod review;
mod runtime_class;
mod service_account;
mod storage_object_in_use_protection;
pub(crate) mod webhooks;

use super::error::ApiError;
use super::store::Store;
use k8s_model::Object;
pub(crate) use request::AdmissionRequest;

/// Completes a new object, or refuses it.
type Plugin = fn(&mut Store, &mut Object) -> Result<(), ApiError>;

/// Mutating plugins, in the order in which they admit.
const MUTATING: [Plugin; 8] = [
    limit_ranger::admit,
    service_account::admit,
    runtime_class::admit,
    pod_topology_labels::admit,
    priority::admit,
    default_ingress_class::admit,
    default_storage_class::admit,
    storage_object_in_use_protection::admit,
];

/// Refuses an object whose namespace cannot hold it.
pub(super) fn check_namespace(store: &Store, object: &Object) -> Result<(), ApiError> {
    namespace_lifecycle::validate(store, object)
}

/// Completes a new object by every mutating plugin.
pub(super) fn admit(store: &mut Store, object: &mut Object) -> Result<(), ApiError> {
    MUTATING.iter().try_for_each(|admit| admit(store, object))
}
