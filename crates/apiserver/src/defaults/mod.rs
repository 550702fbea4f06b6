//! Server-side defaults: fields that the API server fills in before it validates and stores an object.
//!
//! Models `pkg/apis/*/v1/defaults.go`. Fields that admission adds to a Pod (token, tolerations, priority) are set in `admit`; a Pod
//! template does not get them.

mod admit;
mod pod;
mod workloads;

use k8s_model::normalize::normalize;
use serde_json::{Map, Value, json};

pub use admit::{admit_pod, admit_pod_update, prepare_job};

type JsonObject = Map<String, Value>;

/// Converts an object to its stored form: normalized, with every default of its kind.
pub fn apply_defaults(value: &mut Value) {
    normalize(value);
    let kind = value
        .get("kind")
        .and_then(Value::as_str)
        .unwrap_or("")
        .to_owned();
    let Some(object) = value.as_object_mut() else {
        return;
    };
    match kind.as_str() {
        "Pod" => pod_object(object),
        "PodTemplate" => template(object, "template"),
        "Deployment" => workloads::deployment(object),
        "ReplicaSet" => workloads::replica_set(object),
        "ReplicationController" => workloads::replication_controller(object),
        "StatefulSet" => workloads::stateful_set(object),
        "DaemonSet" => workloads::daemon_set(object),
        "Job" => workloads::job(object),
        "CronJob" => workloads::cron_job(object),
        "HorizontalPodAutoscaler" => workloads::autoscaler(object),
        "Service" => service(object),
        "PersistentVolumeClaim" => claim(object),
        "PersistentVolume" => volume(object),
        "StorageClass" => {
            set(object, "reclaimPolicy", "Delete");
            set(object, "volumeBindingMode", "Immediate");
        }
        "PriorityClass" => set(object, "preemptionPolicy", "PreemptLowerPriority"),
        "Namespace" => namespace(object),
        "Secret" => secret(object),
        "Node" => node(object),
        "Endpoints" => endpoints(object),
        "EndpointSlice" => slice(object),
        "LimitRange" => limit_range(object),
        "RoleBinding" | "ClusterRoleBinding" => role_binding(object),
        "CustomResourceDefinition" => definition(object),
        "NetworkPolicy" => network_policy(object),
        _ => {}
    }
}

/// Defaults the names of a definition that follow from others, and the conversion.
fn definition(object: &mut JsonObject) {
    let spec = child(object, "spec");
    set(child(spec, "conversion"), "strategy", "None");
    let names = child(spec, "names");
    let kind = names
        .get("kind")
        .and_then(Value::as_str)
        .unwrap_or("")
        .to_owned();
    set(names, "singular", kind.to_ascii_lowercase().as_str());
    set(names, "listKind", format!("{kind}List").as_str());
}

/// Defaults the API group of the role reference, and of subjects that are users or groups.
fn role_binding(object: &mut JsonObject) {
    const GROUP: &str = "rbac.authorization.k8s.io";
    set(child(object, "roleRef"), "apiGroup", GROUP);
    for subject in object
        .get_mut("subjects")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
        .filter_map(Value::as_object_mut)
    {
        if subject
            .get("kind")
            .is_some_and(|kind| kind != "ServiceAccount")
        {
            set(subject, "apiGroup", GROUP);
        }
    }
}

/// Defaults of a Pod template alone.
pub fn default_template(template: &mut Value) {
    if let Some(object) = template.as_object_mut() {
        pod::spec(child(object, "spec"));
    }
}

fn template(object: &mut JsonObject, name: &str) {
    pod::spec(child(child(object, name), "spec"));
}

/// Sets a field that is absent or empty.
fn set(object: &mut JsonObject, name: &str, value: impl Into<Value>) {
    let slot = object.entry(name).or_insert(Value::Null);
    if slot.is_null() || slot == "" {
        *slot = value.into();
    }
}

/// Returns the object in a field, created if missing.
fn child<'a>(object: &'a mut JsonObject, name: &str) -> &'a mut JsonObject {
    let slot = object.entry(name).or_insert(Value::Null);
    if !slot.is_object() {
        *slot = Value::Object(JsonObject::new());
    }
    match slot {
        Value::Object(map) => map,
        _ => unreachable!("the slot was made an object"),
    }
}

/// Returns the object in a field, if present.
fn part<'a>(object: &'a mut JsonObject, name: &str) -> Option<&'a mut JsonObject> {
    object.get_mut(name).and_then(Value::as_object_mut)
}

/// Returns the objects in a list field.
fn items<'a>(object: &'a mut JsonObject, name: &str) -> impl Iterator<Item = &'a mut JsonObject> {
    object
        .get_mut(name)
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
        .filter_map(Value::as_object_mut)
}

fn text<'a>(object: &'a JsonObject, name: &str) -> &'a str {
    object.get(name).and_then(Value::as_str).unwrap_or("")
}

/// Rounds limits and requests to thousandths, as they are stored.
fn round_resources(resources: &mut JsonObject) {
    for name in ["limits", "requests"] {
        for amount in part(resources, name)
            .into_iter()
            .flat_map(JsonObject::values_mut)
        {
            if let Some(text) = amount.as_str()
                && let Ok(quantity) = k8s_model::quantity::Quantity::parse(text)
                && quantity.round_up_to_milli() != quantity
            {
                *amount = Value::from(quantity.round_up_to_milli().to_string());
            }
        }
    }
}

fn pod_object(object: &mut JsonObject) {
    let spec = child(object, "spec");
    pod::spec(spec);
    pod::created(spec);
    set(child(object, "status"), "phase", "Pending");
}

fn service(object: &mut JsonObject) {
    let spec = child(object, "spec");
    set(spec, "sessionAffinity", "None");
    set(spec, "type", "ClusterIP");
    if text(spec, "sessionAffinity") == "ClientIP" {
        set(
            child(child(spec, "sessionAffinityConfig"), "clientIP"),
            "timeoutSeconds",
            10800,
        );
    }
    let kind = text(spec, "type").to_owned();
    if matches!(kind.as_str(), "NodePort" | "LoadBalancer") {
        set(spec, "externalTrafficPolicy", "Cluster");
    }
    if matches!(kind.as_str(), "ClusterIP" | "NodePort" | "LoadBalancer") {
        set(spec, "internalTrafficPolicy", "Cluster");
    }
    if kind == "LoadBalancer" {
        set(spec, "allocateLoadBalancerNodePorts", true);
    }
    for port in items(spec, "ports") {
        set(port, "protocol", "TCP");
        if matches!(port.get("targetPort"), None | Some(Value::Null))
            || port["targetPort"] == 0
            || port["targetPort"] == ""
        {
            let number = port.get("port").cloned().unwrap_or(Value::from(0));
            port.insert("targetPort".to_owned(), number);
        }
    }
}

fn claim(object: &mut JsonObject) {
    set(child(object, "spec"), "volumeMode", "Filesystem");
    set(child(object, "status"), "phase", "Pending");
}

fn volume(object: &mut JsonObject) {
    let spec = child(object, "spec");
    set(spec, "persistentVolumeReclaimPolicy", "Retain");
    set(spec, "volumeMode", "Filesystem");
    pod::volume_source(spec);
    set(child(object, "status"), "phase", "Pending");
}

fn namespace(object: &mut JsonObject) {
    let metadata = child(object, "metadata");
    let name = text(metadata, "name").to_owned();
    if !name.is_empty() {
        set(
            child(metadata, "labels"),
            "kubernetes.io/metadata.name",
            name,
        );
    }
    set(child(object, "spec"), "finalizers", json!(["kubernetes"]));
    set(child(object, "status"), "phase", "Active");
}

/// Moves the write-only `stringData` into `data`, as base64.
fn secret(object: &mut JsonObject) {
    set(object, "type", "Opaque");
    if let Some(Value::Object(plain)) = object.remove("stringData") {
        let data = child(object, "data");
        for (key, value) in plain {
            data.insert(
                key,
                Value::from(k8s_model::base64::encoded(
                    value.as_str().unwrap_or("").as_bytes(),
                )),
            );
        }
    }
}

fn node(object: &mut JsonObject) {
    let status = child(object, "status");
    if let Some(capacity) = status.get("capacity").cloned() {
        set(status, "allocatable", capacity);
    }
}

fn endpoints(object: &mut JsonObject) {
    for subset in items(object, "subsets") {
        items(subset, "ports").for_each(|port| set(port, "protocol", "TCP"));
    }
}

fn slice(object: &mut JsonObject) {
    for port in items(object, "ports") {
        set(port, "name", "");
        set(port, "protocol", "TCP");
    }
}

/// Defaults a LimitRange: defaults follow from the maximum, default requests from the default or minimum.
fn limit_range(object: &mut JsonObject) {
    for limit in items(child(object, "spec"), "limits") {
        if text(limit, "type") != "Container" {
            continue;
        }
        for (to, from) in [
            ("default", "max"),
            ("defaultRequest", "default"),
            ("defaultRequest", "min"),
        ] {
            if let Some(Value::Object(amounts)) = limit.get(from).cloned() {
                let target = child(limit, to);
                amounts
                    .into_iter()
                    .for_each(|(name, amount)| set(target, &name, amount));
            }
        }
    }
}

fn network_policy(object: &mut JsonObject) {
    let spec = child(object, "spec");
    let kinds = if spec.contains_key("egress") {
        json!(["Ingress", "Egress"])
    } else {
        json!(["Ingress"])
    };
    set(spec, "policyTypes", kinds);
}

#[cfg(test)]
mod tests;
