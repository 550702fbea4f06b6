//! Server-side defaults: fields that the API server fills in before it validates and stores an object.
//!
//! Models `pkg/apis/*/v1/defaults.go`. Fields that admission adds to a Pod (token, tolerations, priority) are set in `admit`; a Pod
//! template does not get them.

pub(crate) mod admission;
mod admit;
mod pod;
pub(crate) mod workloads;

use crate::registry::resource;
use k8s_model::Kind;
use k8s_model::normalize::normalize;
use serde_json::{Map, Value, json};

pub use admit::{admit_pod, admit_pod_update, prepare_job};

pub(crate) type JsonObject = Map<String, Value>;

/// Converts an object to its stored form: normalized, with every default of its kind.
pub fn apply_defaults(value: &mut Value) {
    normalize(value);
    let text = |field: &str| value[field].as_str().unwrap_or("");
    let kind = Kind::from_api(text("apiVersion"), text("kind"));
    let (Some(kind), Some(object)) = (kind, value.as_object_mut()) else {
        return;
    };
    (resource(kind).set_defaults)(object);
}

pub(crate) fn storage_class(object: &mut JsonObject) {
    set(object, "reclaimPolicy", "Delete");
    set(object, "volumeBindingMode", "Immediate");
}

pub(crate) fn csi_driver(object: &mut JsonObject) {
    let spec = child(object, "spec");
    set(spec, "attachRequired", true);
    for name in [
        "podInfoOnMount",
        "storageCapacity",
        "requiresRepublish",
        "seLinuxMount",
    ] {
        set(spec, name, false);
    }
    set(spec, "fsGroupPolicy", "ReadWriteOnceWithFSType");
    set(spec, "volumeLifecycleModes", json!(["Persistent"]));
}

pub(crate) fn flow_schema(object: &mut JsonObject) {
    const PRECEDENCE: i64 = 1000;
    let spec = child(object, "spec");
    if spec.get("matchingPrecedence") == Some(&json!(0)) {
        spec.remove("matchingPrecedence");
    }
    set(spec, "matchingPrecedence", PRECEDENCE);
}

pub(crate) fn priority_class(object: &mut JsonObject) {
    set(object, "preemptionPolicy", "PreemptLowerPriority");
}

/// Defaults the names of a definition that follow from others, and the conversion.
pub(crate) fn definition(object: &mut JsonObject) {
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

/// Defaults of the requests of a ResourceClaim.
pub(crate) fn resource_claim(object: &mut JsonObject) {
    let count = |request: &mut JsonObject| {
        set(request, "allocationMode", "ExactCount");
        if text(request, "allocationMode") == "ExactCount" {
            set(request, "count", 1);
        }
    };
    for request in items(child(child(object, "spec"), "devices"), "requests") {
        if let Some(Value::Object(exact)) = request.get_mut("exactly") {
            count(exact);
        }
        items(request, "firstAvailable").for_each(count);
    }
}

/// Defaults the API group of the role reference, and of subjects that are users or groups.
pub(crate) fn role_binding(object: &mut JsonObject) {
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

pub(crate) fn template(object: &mut JsonObject, name: &str) {
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

pub(crate) fn pod_object(object: &mut JsonObject) {
    let spec = child(object, "spec");
    pod::spec(spec);
    pod::created(spec);
    set(child(object, "status"), "phase", "Pending");
}

pub(crate) fn service(object: &mut JsonObject) {
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
    let balances = kind == "LoadBalancer";
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
    let status = object.get_mut("status").and_then(Value::as_object_mut);
    if let (true, Some(status)) = (balances, status) {
        for ingress in items(child(status, "loadBalancer"), "ingress") {
            if !text(ingress, "ip").is_empty() {
                set(ingress, "ipMode", "VIP");
            }
        }
    }
}

pub(crate) fn claim(object: &mut JsonObject) {
    set(child(object, "spec"), "volumeMode", "Filesystem");
    set(child(object, "status"), "phase", "Pending");
}

pub(crate) fn volume(object: &mut JsonObject) {
    let spec = child(object, "spec");
    set(spec, "persistentVolumeReclaimPolicy", "Retain");
    set(spec, "volumeMode", "Filesystem");
    pod::volume_source(spec);
    set(child(object, "status"), "phase", "Pending");
}

pub(crate) fn namespace(object: &mut JsonObject) {
    let metadata = child(object, "metadata");
    let name = text(metadata, "name").to_owned();
    if !name.is_empty() {
        set(
            child(metadata, "labels"),
            "kubernetes.io/metadata.name",
            name,
        );
    }
    child(object, "spec");
    set(child(object, "status"), "phase", "Active");
}

/// Moves the write-only `stringData` into `data`, as base64.
pub(crate) fn secret(object: &mut JsonObject) {
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

pub(crate) fn node(object: &mut JsonObject) {
    let status = child(object, "status");
    if let Some(capacity) = status.get("capacity").cloned() {
        set(status, "allocatable", capacity);
    }
}

pub(crate) fn endpoints(object: &mut JsonObject) {
    for subset in items(object, "subsets") {
        items(subset, "ports").for_each(|port| set(port, "protocol", "TCP"));
    }
}

pub(crate) fn slice(object: &mut JsonObject) {
    for port in items(object, "ports") {
        set(port, "name", "");
        set(port, "protocol", "TCP");
    }
}

/// Defaults a LimitRange: defaults follow from the maximum, default requests from the default or minimum.
pub(crate) fn limit_range(object: &mut JsonObject) {
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

pub(crate) fn network_policy(object: &mut JsonObject) {
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
