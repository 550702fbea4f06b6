//! Validation of objects on create and update, in the API server's words.
//!
//! An object is validated after `defaults` has brought it to its stored form. Errors come in the order in
//! which the API server finds them. Models `pkg/apis/*/validation`.

mod batch;
mod cron;
mod diff;
mod errors;
mod ingress;
mod inner;
mod meta;
mod names;
mod network;
mod pod;
mod pod_parts;
mod policy;
mod scheduling;
mod storage;
mod update;
mod workloads;

use serde_json::Value;

pub use cron::{Schedule, local_seconds, schedule_error};
pub(crate) use errors::Errors;
pub use errors::{Fault, FieldError, invalid_message};
use errors::{NOT_NEGATIVE, NOT_PORT, has, list, text};
pub use names::{is_label_value, is_qualified_name};
pub use update::validate_update;

/// Validates an object that is about to be created.
pub fn validate_create(object: &Value) -> Vec<FieldError> {
    let mut errors = validate(object);
    only_new(&mut errors, object);
    errors.list
}

fn validate(object: &Value) -> Errors {
    let mut errors = Errors::default();
    meta::metadata(&mut errors, object);
    let spec = &object["spec"];
    match text(object, "kind") {
        "Pod" => pod::new_pod(&mut errors, spec),
        "PodTemplate" => pod::template(&mut errors, &object["template"], "template", &[]),
        "Deployment" => workloads::deployment(&mut errors, spec),
        "ReplicaSet" => workloads::replica_set(&mut errors, spec),
        "ReplicationController" => workloads::replication_controller(&mut errors, spec),
        "StatefulSet" => workloads::stateful_set(&mut errors, spec),
        "DaemonSet" => workloads::daemon_set(&mut errors, spec),
        "Job" => batch::job(&mut errors, spec, "spec", text(&object["metadata"], "uid")),
        "CronJob" => batch::cron_job(&mut errors, object),
        "Service" => network::service(&mut errors, spec),
        "PersistentVolumeClaim" => storage::claim(&mut errors, spec, "spec"),
        "PersistentVolume" => storage::volume(&mut errors, spec),
        "StorageClass" => storage::class(&mut errors, object),
        "PodDisruptionBudget" => policy::budget(&mut errors, spec),
        "HorizontalPodAutoscaler" => policy::autoscaler(&mut errors, spec),
        "ConfigMap" | "Secret" => policy::keys(&mut errors, object),
        "ResourceQuota" => policy::quota(&mut errors, spec),
        "LimitRange" => policy::limit_range(&mut errors, spec),
        "Ingress" => ingress::ingress(&mut errors, object),
        "NetworkPolicy" => ingress::network_policy(&mut errors, spec),
        "PriorityClass" => ingress::priority_class(&mut errors, object),
        "Node" => scheduling::taints(&mut errors, spec, "spec.taints"),
        _ => {}
    }
    errors
}

/// What is refused only of an object that is new.
fn only_new(errors: &mut Errors, object: &Value) {
    let old_way = "kubernetes.io/ingress.class";
    let class = text(&object["metadata"]["annotations"], old_way);
    if object["kind"] == "Ingress" && !class.is_empty() && has(&object["spec"], "ingressClassName") {
        errors.invalid(&format!("annotations.{old_way}"), class, "can not be set when the class field is also set");
    }
}

#[cfg(test)]
mod tests;
