//! References between objects by name, updated when an object is renamed.
//!
//! Models `kustomize/api/internal/konfig/builtinpluginconsts/namereference.go`, for the kinds that are simulated.

use super::resource::Resource;
use serde_json::Value;

/// Reference fields by kind: paths of keys, with `[]` for each element.
const REFERENCES: &[(&str, &[&str])] = &[
    (
        "ConfigMap",
        &[
            "volumes/[]/configMap/name",
            "volumes/[]/projected/sources/[]/configMap/name",
            "containers/[]/env/[]/valueFrom/configMapKeyRef/name",
            "containers/[]/envFrom/[]/configMapRef/name",
            "initContainers/[]/env/[]/valueFrom/configMapKeyRef/name",
            "initContainers/[]/envFrom/[]/configMapRef/name",
        ],
    ),
    (
        "Secret",
        &[
            "volumes/[]/secret/secretName",
            "volumes/[]/projected/sources/[]/secret/name",
            "containers/[]/env/[]/valueFrom/secretKeyRef/name",
            "containers/[]/envFrom/[]/secretRef/name",
            "initContainers/[]/env/[]/valueFrom/secretKeyRef/name",
            "initContainers/[]/envFrom/[]/secretRef/name",
            "imagePullSecrets/[]/name",
        ],
    ),
    (
        "PersistentVolumeClaim",
        &["volumes/[]/persistentVolumeClaim/claimName"],
    ),
    ("ServiceAccount", &["serviceAccountName"]),
    ("PriorityClass", &["priorityClassName"]),
];

/// Reference fields outside of Pod specs.
const OTHERS: &[(&str, &str, &[&str])] = &[
    ("StatefulSet", "Service", &["spec/serviceName"]),
    (
        "Ingress",
        "Service",
        &[
            "spec/defaultBackend/service/name",
            "spec/rules/[]/http/paths/[]/backend/service/name",
        ],
    ),
    ("Ingress", "Secret", &["spec/tls/[]/secretName"]),
    (
        "ServiceAccount",
        "Secret",
        &["imagePullSecrets/[]/name", "secrets/[]/name"],
    ),
    (
        "PersistentVolumeClaim",
        "PersistentVolume",
        &["spec/volumeName"],
    ),
    (
        "PersistentVolumeClaim",
        "StorageClass",
        &["spec/storageClassName"],
    ),
    (
        "PersistentVolume",
        "StorageClass",
        &["spec/storageClassName"],
    ),
];

/// Reference fields with a kind beside the name.
const TYPED: [(&str, &str); 6] = [
    ("HorizontalPodAutoscaler", "spec/scaleTargetRef"),
    ("RoleBinding", "roleRef"),
    ("RoleBinding", "subjects/[]"),
    ("ClusterRoleBinding", "roleRef"),
    ("ClusterRoleBinding", "subjects/[]"),
    ("PersistentVolume", "spec/claimRef"),
];

/// Returns the path of the Pod spec in a kind.
pub(super) fn pod_spec(kind: &str) -> Option<&'static str> {
    match kind {
        "Pod" => Some("spec"),
        "CronJob" => Some("spec/jobTemplate/spec/template/spec"),
        "Deployment"
        | "ReplicaSet"
        | "StatefulSet"
        | "DaemonSet"
        | "Job"
        | "ReplicationController" => Some("spec/template/spec"),
        _ => None,
    }
}

/// Visits the values at a path, if they exist.
pub(super) fn visit(value: &mut Value, path: &str, change: &mut dyn FnMut(&mut Value)) {
    let (step, rest) = path.split_once('/').unwrap_or((path, ""));
    let mut go_on = |next: &mut Value| {
        if rest.is_empty() {
            change(next)
        } else {
            visit(next, rest, change)
        }
    };
    match (step, value) {
        ("[]", Value::Array(all)) => all.iter_mut().for_each(go_on),
        (name, Value::Object(map)) => {
            if let Some(next) = map.get_mut(name) {
                go_on(next);
            }
        }
        _ => {}
    }
}

pub(super) fn follow(all: &mut [Resource]) {
    // Kind, old name and new name.
    let renamed: Vec<(String, String, String)> = all
        .iter()
        .flat_map(|resource| {
            let now = resource.name().to_owned();
            let old = resource
                .names
                .iter()
                .filter(|name| **name != now)
                .map(|old| (resource.kind().to_owned(), old.clone(), now.clone()));
            old.collect::<Vec<_>>()
        })
        .collect();
    if renamed.is_empty() {
        return;
    }
    let rename = |of: &str, value: &mut Value| {
        let found = renamed
            .iter()
            .find(|(kind, old, _)| kind == of && value.as_str() == Some(old));
        if let Some((_, _, now)) = found {
            *value = Value::from(now.clone());
        }
    };
    for resource in all {
        let kind = resource.kind().to_owned();
        if let Some(spec) = pod_spec(&kind) {
            for (of, paths) in REFERENCES {
                paths.iter().for_each(|path| {
                    visit(
                        &mut resource.object,
                        &format!("{spec}/{path}"),
                        &mut |value| rename(of, value),
                    )
                });
            }
        }
        for (_, of, paths) in OTHERS.iter().filter(|(at, ..)| *at == kind) {
            paths
                .iter()
                .for_each(|path| visit(&mut resource.object, path, &mut |value| rename(of, value)));
        }
        for (_, path) in TYPED.iter().filter(|(at, _)| *at == kind) {
            visit(&mut resource.object, path, &mut |reference| {
                let of = reference["kind"].as_str().unwrap_or("").to_owned();
                if let Some(name) = reference.get_mut("name") {
                    rename(&of, name);
                }
            });
        }
    }
}
