//! Fields set by admission and the storage strategy on creation.
//!
//! Models `plugin/pkg/admission/{serviceaccount,defaulttolerationseconds,priority}` and
//! `pkg/registry/batch/job` (the generated selector).

use super::{JsonObject, child, items, part, set, text};
use k8s_model::pod;
use serde_json::{Value, json};

/// Taints of nodes that a Pod tolerates for a while by default.
const TOLERATED: [&str; 2] = [
    "node.kubernetes.io/not-ready",
    "node.kubernetes.io/unreachable",
];
const TOKEN_PATH: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// Completes a new Pod: service account and its token volume (named with the suffix, if there is one), the tolerations for not-ready and
/// unreachable nodes, priority. Priority classes are resolved before.
pub fn admit_pod(pod: &mut Value, token_suffix: Option<&str>, toleration_seconds: i64) {
    let Some(object) = pod.as_object_mut() else {
        return;
    };
    let spec = child(object, "spec");
    set(spec, "serviceAccountName", "default");
    let account = spec["serviceAccountName"].clone();
    set(spec, "serviceAccount", account);
    if let Some(suffix) = token_suffix
        && spec.get("automountServiceAccountToken") != Some(&Value::Bool(false))
    {
        mount_token(spec, &format!("{}{suffix}", pod::TOKEN_PREFIX));
    }
    for key in TOLERATED {
        tolerate(spec, key, toleration_seconds);
    }
    set(spec, "priority", 0);
    set(spec, "preemptionPolicy", "PreemptLowerPriority");
}

/// Completes a Pod that replaces another: priority and preemption policy are kept unless set, and the tolerations for not-ready and
/// unreachable nodes are added again.
pub fn admit_pod_update(pod: &mut Value, old: &Value, toleration_seconds: i64) {
    let Some(object) = pod.as_object_mut() else {
        return;
    };
    let spec = child(object, "spec");
    for field in ["priority", "preemptionPolicy"] {
        let before = &old["spec"][field];
        if !before.is_null() && spec.get(field).is_none_or(Value::is_null) {
            spec.insert(field.to_owned(), before.clone());
        }
    }
    for key in TOLERATED {
        tolerate(spec, key, toleration_seconds);
    }
}

fn mount_token(spec: &mut JsonObject, name: &str) {
    let mut mounted = false;
    for kind in ["initContainers", "containers"] {
        for container in items(spec, kind) {
            if items(container, "volumeMounts").any(|mount| text(mount, "mountPath") == TOKEN_PATH)
            {
                continue;
            }
            mounted = true;
            push(
                container,
                "volumeMounts",
                json!({"name": name, "readOnly": true, "mountPath": TOKEN_PATH}),
            );
        }
    }
    if mounted {
        push(spec, "volumes", token_volume(name));
    }
}

fn token_volume(name: &str) -> Value {
    json!({"name": name, "projected": {"defaultMode": 420, "sources": [
        {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
        {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
        {"downwardAPI": {"items": [
            {"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}]}},
    ]}})
}

fn tolerate(spec: &mut JsonObject, key: &str, seconds: i64) {
    let tolerated = items(spec, "tolerations").any(|t| {
        matches!(text(t, "key"), k if k == key || k.is_empty())
            && matches!(text(t, "effect"), "NoExecute" | "")
    });
    if !tolerated {
        let toleration = json!({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": seconds});
        push(spec, "tolerations", toleration);
    }
}

fn push(object: &mut JsonObject, name: &str, value: Value) {
    match object.get_mut(name) {
        Some(Value::Array(list)) => list.push(value),
        _ => drop(object.insert(name.to_owned(), Value::Array(vec![value]))),
    }
}

/// Sets a Job's selector and its Pods' labels, which contain the Job's uid; a Job without labels gets those of its Pods.
pub fn prepare_job(job: &mut Value, uid: &str) {
    let name = job["metadata"]["name"].as_str().unwrap_or("").to_owned();
    let Some(object) = job.as_object_mut() else {
        return;
    };
    let spec = child(object, "spec");
    if spec.get("manualSelector") == Some(&Value::Bool(true)) {
        return;
    }
    let labels = child(child(child(spec, "template"), "metadata"), "labels");
    for prefix in ["", "batch.kubernetes.io/"] {
        labels.insert(format!("{prefix}job-name"), Value::from(name.as_str()));
        labels.insert(format!("{prefix}controller-uid"), Value::from(uid));
    }
    let labels = Value::Object(labels.clone());
    let selector = child(child(spec, "selector"), "matchLabels");
    selector
        .entry("batch.kubernetes.io/controller-uid")
        .or_insert(Value::from(uid));
    let metadata = child(object, "metadata");
    if part(metadata, "labels").is_none_or(|own| own.is_empty()) {
        metadata.insert("labels".to_owned(), labels);
    }
}
