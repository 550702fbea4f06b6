//! Resize subresource of Pods: CPU and memory of its containers can change while it runs.
//!
//! Models `podResizeStrategy` of `pkg/registry/core/pod/strategy.go`: changes of other fields are dropped silently.

use super::admission::limit_ranger;
use super::error::ApiError;
use super::pod_strategy::qos_class;
use super::server::{ApiServer, Origin};
use super::{defaults, managers, validation};
use crate::why::Why;
use k8s_model::{Object, schema};
use serde_json::Value;
use std::rc::Rc;

impl ApiServer {
    /// Sets the resources of a Pod's containers to those of a patched copy of it.
    pub(super) fn resize(
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
        limit_ranger::fill_defaults(&self.store, kind, &mut patched);
        let submitted = Object::from_value(kind, patched.clone()).ok();
        let before = old.to_value();
        let mut value = before.clone();
        let mut dropped = false;
        for list in ["containers", "initContainers"] {
            let path = format!("/spec/{list}");
            let (Some(new), Some(wanted)) = (value.pointer_mut(&path), patched.pointer_mut(&path))
            else {
                continue;
            };
            let (Some(new), Some(wanted)) = (new.as_array_mut(), wanted.as_array_mut()) else {
                continue;
            };
            if new.len() != wanted.len() {
                new.clone_from(wanted);
            }
            for (new, wanted) in new.iter_mut().zip(wanted.iter_mut()) {
                if new["name"] == wanted["name"] {
                    new["resources"] = wanted["resources"].take();
                    wanted["resources"] = new["resources"].clone();
                }
            }
            dropped |= new != wanted;
        }
        value["metadata"]["resourceVersion"] = patched["metadata"]["resourceVersion"].take();
        let object = Object::from_value(kind, value.clone()).map_err(ApiError::bad_request)?;
        let class = object.pod().map(qos_class).unwrap_or_default();
        let errors = validation::validate_resize(&value, &before, &class);
        let admitted = match errors.is_empty() {
            true => limit_ranger::validate(&self.store, &object, old),
            false => Err(ApiError::invalid_fields(&kind.group_kind(), name, &errors)),
        };
        if let Err(error) = admitted {
            self.refuse(origin, old.key(), &error, why);
            return Err(error);
        }
        let version = old.meta.resource_version;
        let origin = &managers::with_submitted(origin, submitted.filter(|_| dropped));
        let resized = self.update_latest(origin, object, why.clone())?;
        // The client becomes manager of the dropped fields, which is a write of its own.
        Ok(if dropped && resized.meta.resource_version == version {
            self.write(origin, old, (**old).clone(), why)
        } else {
            resized
        })
    }
}
