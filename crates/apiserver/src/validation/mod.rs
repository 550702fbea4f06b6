//! Validation of objects on create and update, with the API server's messages.
//!
//! An object is validated after `defaults` has brought it to its stored form. Errors come in the order in
//! which the API server finds them. Models `pkg/apis/*/validation`.

mod batch;
mod cron;
mod diff;
mod ephemeral;
mod errors;
mod ingress;
mod inner;
mod meta;
mod network;
mod pod;
mod pod_parts;
mod policy;
mod rbac;
mod scheduling;
mod storage;
mod update;
mod workloads;

use serde_json::Value;

pub use cron::{Schedule, schedule_error};
pub(crate) use errors::Errors;
pub use errors::{ErrorType, FieldError, invalid_message};
use errors::{NOT_NEGATIVE, NOT_PORT, has, list, text};
use k8s_model::names;
pub use k8s_model::names::{is_label_value, is_qualified_name, subdomain};
pub use meta::new_finalizers;
pub use update::{validate_ephemeral, validate_resize, validate_update};

/// Validates an object before its creation.
pub fn validate_create(object: &Value) -> Vec<FieldError> {
    let mut errors = validate(object);
    only_new(&mut errors, object);
    errors.list
}

/// Validates only the metadata.
pub fn validate_metadata(object: &Value) -> Vec<FieldError> {
    let mut errors = Errors::default();
    meta::metadata(&mut errors, object);
    errors.list
}

fn validate(object: &Value) -> Errors {
    let mut errors = Errors::default();
    meta::metadata(&mut errors, object);
    let kind = text(object, "kind");
    if let Some((_, validate)) = KINDS.iter().find(|(name, _)| *name == kind) {
        validate(&mut errors, object);
    }
    errors
}

type Validate = fn(&mut Errors, &Value);

/// Validators by kind. A table instead of a `match` keeps each a separate function, so that the first part of the module contains only
/// those that its opening needs (scripts/split.mjs).
const KINDS: [(&str, Validate); 29] = [
    ("Pod", |errors, object| {
        pod::spec(errors, &object["spec"], "spec", &[])
    }),
    ("PodTemplate", |errors, object| {
        pod::template(errors, &object["template"], "template", &[])
    }),
    ("Deployment", |errors, object| {
        workloads::deployment(errors, &object["spec"])
    }),
    ("ReplicaSet", |errors, object| {
        workloads::replica_set(errors, &object["spec"])
    }),
    ("ReplicationController", |errors, object| {
        workloads::replication_controller(errors, &object["spec"])
    }),
    ("StatefulSet", |errors, object| {
        workloads::stateful_set(errors, &object["spec"])
    }),
    ("DaemonSet", |errors, object| {
        workloads::daemon_set(errors, &object["spec"])
    }),
    ("Job", |errors, object| {
        batch::job(
            errors,
            &object["spec"],
            "spec",
            text(&object["metadata"], "uid"),
        )
    }),
    ("CronJob", |errors, object| batch::cron_job(errors, object)),
    ("Service", |errors, object| {
        network::service(errors, &object["spec"])
    }),
    ("PersistentVolumeClaim", |errors, object| {
        storage::claim(errors, &object["spec"], "spec")
    }),
    ("PersistentVolume", |errors, object| {
        storage::volume(errors, &object["spec"])
    }),
    ("StorageClass", |errors, object| {
        storage::class(errors, object)
    }),
    ("PodDisruptionBudget", |errors, object| {
        policy::budget(errors, &object["spec"])
    }),
    ("HorizontalPodAutoscaler", |errors, object| {
        policy::autoscaler(errors, &object["spec"])
    }),
    ("ConfigMap", |errors, object| policy::keys(errors, object)),
    ("Secret", |errors, object| policy::keys(errors, object)),
    ("ResourceQuota", |errors, object| {
        policy::quota(errors, &object["spec"])
    }),
    ("LimitRange", |errors, object| {
        policy::limit_range(errors, &object["spec"])
    }),
    ("Ingress", |errors, object| ingress::ingress(errors, object)),
    ("NetworkPolicy", |errors, object| {
        ingress::network_policy(errors, &object["spec"])
    }),
    ("PriorityClass", |errors, object| {
        ingress::priority_class(errors, object)
    }),
    ("Node", |errors, object| {
        scheduling::taints(errors, &object["spec"], "metadata.taints")
    }),
    ("Endpoints", network::endpoints),
    ("Role", rbac::role),
    ("ClusterRole", rbac::role),
    ("RoleBinding", rbac::binding),
    ("ClusterRoleBinding", rbac::binding),
    ("CustomResourceDefinition", rbac::definition),
];

/// Runs the checks that apply only to new objects.
fn only_new(errors: &mut Errors, object: &Value) {
    let old_way = "kubernetes.io/ingress.class";
    let class = text(&object["metadata"]["annotations"], old_way);
    if object["kind"] == "Pod" && !list(&object["spec"], "ephemeralContainers").is_empty() {
        errors.forbidden("spec.ephemeralContainers", "cannot be set on create");
    }
    if object["kind"] == "Ingress" && !class.is_empty() && has(&object["spec"], "ingressClassName")
    {
        errors.invalid(
            &format!("annotations.{old_way}"),
            class,
            "can not be set when the class field is also set",
        );
    }
}

#[cfg(test)]
mod tests;
