//! Output order of objects: kinds that others depend on come first.
//!
//! Models `kustomize/api/internal/builtins/SortOrderTransformer.go` (legacy).

use super::resource::Resource;

const FIRST: [&str; 22] = [
    "Namespace",
    "ResourceQuota",
    "StorageClass",
    "CustomResourceDefinition",
    "ServiceAccount",
    "PodSecurityPolicy",
    "Role",
    "ClusterRole",
    "RoleBinding",
    "ClusterRoleBinding",
    "ConfigMap",
    "Secret",
    "Endpoints",
    "Service",
    "LimitRange",
    "PriorityClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "Deployment",
    "StatefulSet",
    "CronJob",
    "PodDisruptionBudget",
];
const LAST: [&str; 2] = [
    "MutatingWebhookConfiguration",
    "ValidatingWebhookConfiguration",
];

fn rank(kind: &str) -> usize {
    let first = FIRST.iter().position(|first| *first == kind);
    let last = LAST.iter().position(|last| *last == kind);
    first
        .or(last.map(|at| FIRST.len() + 1 + at))
        .unwrap_or(FIRST.len())
}

pub(super) fn sorted(mut all: Vec<Resource>) -> Vec<Resource> {
    all.sort_by_key(|resource| {
        let text = |value: &serde_json::Value| value.as_str().unwrap_or("").to_owned();
        let metadata = &resource.object["metadata"];
        (
            rank(resource.kind()),
            text(&resource.object["apiVersion"]),
            resource.kind().to_owned(),
            text(&metadata["namespace"]),
            text(&metadata["name"]),
        )
    });
    all
}
