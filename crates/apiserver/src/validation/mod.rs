//! Validation of objects on create and update, with the API server's messages.
//!
//! An object is validated after `defaults` has brought it to its stored form. Errors come in the order in
//! which the API server finds them. Models `pkg/apis/*/validation`.
//!
//! A rule stands in the file of its API group; of Pods, in `pod.rs`, and in `pod_parts.rs` for what is no container. `update.rs` has the rules of
//! updates. Cases are written in `tests/validation/written.rs` of the root package, and recorded ones are beside it.

pub(crate) mod admission;
pub(crate) mod batch;
mod cron;
mod diff;
mod ephemeral;
mod errors;
pub(crate) mod ingress;
mod inner;
mod meta;
pub(crate) mod network;
pub(crate) mod pod;
mod pod_parts;
pub(crate) mod policy;
pub(crate) mod rbac;
pub(crate) mod scheduling;
pub(crate) mod storage;
pub(crate) mod update;
pub(crate) mod workloads;

use crate::error::ApiError;
use crate::registry::resource;
use k8s_model::pod::PodSpec;
use k8s_model::{Body, Kind, Object};
use serde_json::Value;
use std::collections::VecDeque;
use std::rc::Rc;

pub use cron::{Schedule, schedule_error};
pub use errors::{ErrorType, FieldError, invalid_message};
pub(crate) use errors::{Errors, at_most};
use errors::{NOT_NEGATIVE, NOT_PORT, has, list, text};
use k8s_model::names;
pub use k8s_model::names::{is_label_value, is_qualified_name, subdomain};
pub use meta::new_finalizers;
pub use update::{validate_ephemeral, validate_metadata_update, validate_resize, validate_update};

/// Validates an object before its creation.
pub fn validate_create(kind: Kind, object: &Value) -> Vec<FieldError> {
    let mut errors = validate(kind, object);
    only_new(&mut errors, kind, object);
    errors.list
}

/// Specs of Pods that were found valid lately: the Pods of a template share theirs.
#[derive(Clone, Debug, Default)]
pub(crate) struct ValidPodSpecs(VecDeque<Rc<PodSpec>>);

impl ValidPodSpecs {
    /// Number of specs kept.
    const CAPACITY: usize = 8;

    /// Validates a new object that a component has built.
    ///
    /// # Errors
    /// Its invalid fields.
    pub fn check_new(&mut self, object: &Object) -> Result<(), ApiError> {
        let is_known = match &object.body {
            Body::Pod(pod) => self.0.iter().any(|known| Rc::ptr_eq(known, &pod.spec)),
            // Nothing but its metadata can be invalid.
            Body::Event(_) => true,
            _ => false,
        };
        if is_known && meta::is_plain(object.kind, &object.meta) {
            return Ok(());
        }
        let errors = validate_create(object.kind, &object.to_value());
        if !errors.is_empty() {
            let (kind, name) = (object.kind.group_kind(), &object.meta.name);
            return Err(ApiError::invalid_fields(&kind, name, &errors));
        }
        if let (Body::Pod(pod), false) = (&object.body, is_known) {
            self.0.truncate(Self::CAPACITY - 1);
            self.0.push_front(pod.spec.clone());
        }
        Ok(())
    }
}

/// Validates the status of an object that a client writes.
pub fn validate_status(kind: Kind, object: &Value) -> Vec<FieldError> {
    let mut errors = Errors::default();
    (resource(kind).validate_status)(&mut errors, object);
    errors.list
}

/// Validates the finalizers of a namespace's spec.
pub fn finalizers(finalizers: &Value) -> Vec<FieldError> {
    let mut errors = Errors::default();
    for (index, name) in finalizers.as_array().into_iter().flatten().enumerate() {
        let at = format!("spec.finalizers[{index}]");
        errors.checked_all(&at, name.as_str().unwrap_or(""), is_qualified_name);
    }
    meta::finalizer_names(&mut errors, finalizers, "spec.finalizers");
    errors.list
}

/// Validates only the metadata.
pub fn validate_metadata(kind: Kind, object: &Value) -> Vec<FieldError> {
    let mut errors = Errors::default();
    meta::metadata(&mut errors, kind, object);
    errors.list
}

fn validate(kind: Kind, object: &Value) -> Errors {
    let mut errors = Errors::default();
    meta::metadata(&mut errors, kind, object);
    (resource(kind).validate)(&mut errors, object);
    errors
}

/// Runs the checks that apply only to new objects.
fn only_new(errors: &mut Errors, kind: Kind, object: &Value) {
    let old_way = "kubernetes.io/ingress.class";
    let class = text(&object["metadata"]["annotations"], old_way);
    if kind == Kind::Pod && !list(&object["spec"], "ephemeralContainers").is_empty() {
        errors.forbidden("spec.ephemeralContainers", "cannot be set on create");
    }
    let spec = &object["spec"];
    if kind == Kind::Pod
        && !text(spec, "nodeName").is_empty()
        && !list(spec, "schedulingGates").is_empty()
    {
        let detail = "cannot be set until all schedulingGates have been cleared";
        errors.forbidden("spec.nodeName", detail);
    }
    if kind == Kind::Ingress && !class.is_empty() && has(&object["spec"], "ingressClassName") {
        errors.invalid(
            &format!("annotations.{old_way}"),
            class,
            "can not be set when the class field is also set",
        );
    }
}

#[cfg(test)]
mod tests;
