//! Which icon stands for what.

/// The icon of a kind, and the family its tile takes the colour of.
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
