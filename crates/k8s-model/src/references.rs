//! References from one object to another.

use super::Object;
use super::network::SERVICE_NAME;

/// Returns true if an EndpointSlice belongs to a Service.
#[inline]
pub fn is_slice_of(slice: &Object, service: &Object) -> bool {
    slice.meta.namespace == service.meta.namespace
        && slice.meta.label(SERVICE_NAME) == Some(&service.meta.name)
}

/// Builds the `spec.claimRef` of a volume bound to the claim.
pub fn claim_reference(claim: &Object) -> serde_json::Value {
    serde_json::json!({ "apiVersion": "v1", "kind": "PersistentVolumeClaim", "name": claim.meta.name.as_str(), "namespace": claim.meta.namespace.as_str(),
        "resourceVersion": claim.meta.resource_version.to_string(), "uid": claim.meta.uid.to_string() })
}
