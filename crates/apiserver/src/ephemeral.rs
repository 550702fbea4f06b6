//! Ephemeralcontainers subresource of Pods: containers are added to a running Pod, and cannot be removed.
//!
//! Models `podEphemeralContainersStrategy` of `pkg/registry/core/pod/strategy.go`: changes of other fields are dropped silently.

use super::admission::pod_security;
use super::error::ApiError;
use super::server::{ApiServer, Origin};
use super::{defaults, validation};
use crate::why::Why;
use k8s_model::{Object, schema};
use serde_json::Value;
use std::rc::Rc;

impl ApiServer {
    /// Sets the ephemeral containers of a Pod to those of a patched copy of it.
    pub(super) fn set_ephemeral(
        &mut self,
        origin: &Origin,
        old: &Rc<Object>,
        mut patched: Value,
        why: Why,
    ) -> Result<Rc<Object>, ApiError> {
        let (kind, name) = (old.kind, old.meta.name.as_str());
        if let Some(message) = schema::decode_error(&kind.api_version(), kind.name(), &patched) {
            return Err(ApiError::bad_request(message));
        }
        defaults::apply_defaults(&mut patched);
        let before = old.to_value();
        let mut value = before.clone();
        if !patched["spec"]["ephemeralContainers"].is_null() {
            value["spec"]["ephemeralContainers"] = patched["spec"]["ephemeralContainers"].take();
        } else if let Some(spec) = value["spec"].as_object_mut() {
            spec.remove("ephemeralContainers");
        }
        value["metadata"]["resourceVersion"] = patched["metadata"]["resourceVersion"].take();
        let errors = validation::validate_ephemeral(&value, &before);
        let object = Object::from_value(kind, value).map_err(ApiError::bad_request)?;
        if !errors.is_empty() {
            let error = ApiError::invalid_fields(&kind.group_kind(), name, &errors);
            self.refuse(origin, old.key(), &error, why);
            return Err(error);
        }
        pod_security::validate(&self.store, &object)?;
        self.update(origin, object, why)
    }
}
