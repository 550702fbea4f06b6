//! Icons of kinds.

/// Returns the icon of a kind, and the family that gives its tile the colour.
pub fn kind_icon(kind: &str) -> (&'static str, &'static str) {
    match kind {
        "Pod" => ("i-pod", ""),
        "ReplicaSet" | "ReplicationController" => ("i-replicaset", ""),
        "Deployment" => ("i-deployment", ""),
        "StatefulSet" => ("i-statefulset", ""),
        "DaemonSet" => ("i-daemonset", ""),
        "Job" => ("i-job", ""),
        "CronJob" => ("i-cronjob", ""),
        "HorizontalPodAutoscaler" => ("i-hpa", ""),
        "PodDisruptionBudget" => ("i-pdb", ""),
        "Service" => ("i-service", "network"),
        "EndpointSlice" | "Endpoints" => ("i-endpointslice", "network"),
        "Ingress" | "NetworkPolicy" | "Gateway" | "HTTPRoute" | "GatewayClass" => {
            ("i-ingress", "network")
        }
        "PersistentVolumeClaim" => ("i-pvc", "storage"),
        "PersistentVolume" => ("i-pv", "storage"),
        "StorageClass" => ("i-storageclass", "storage"),
        "Node" => ("i-node", "cluster"),
        "ConfigMap" => ("i-configmap", ""),
        "Secret" => ("i-secret", ""),
        "Namespace" => ("i-namespace", "cluster"),
        "Dns" => ("i-dns", "network"),
        "Outside" => ("i-user", "cluster"),
        "ResourceQuota" | "LimitRange" => ("i-pdb", "cluster"),
        _ => ("i-configmap", "cluster"),
    }
}
