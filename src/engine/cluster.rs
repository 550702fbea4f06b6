//! What a simulated cluster is made of before the first command.

use crate::api::time::{MS, SECOND};
use crate::api::{Duration, Timestamp};
use serde_json::{Value, json};

/// A node to begin with.
#[derive(Clone, PartialEq, Debug)]
pub struct NodeConfig {
    /// Its name.
    pub name: String,
    /// Its allocatable resources where they differ from 4 cpu, 8Gi, 110 pods, 100Gi.
    pub allocatable: Vec<(String, Value)>,
}

/// How long what the control plane does not decide takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timing {
    /// From binding to running.
    pub pod_start: Duration,
    /// From the wish to stop to the end of the containers.
    pub pod_stop: Duration,
    /// From the wish for a volume to the volume.
    pub provision: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Timing { pod_start: SECOND, pod_stop: 500 * MS, provision: 500 * MS }
    }
}

/// A cluster before its first command.
#[derive(Clone, PartialEq, Debug)]
pub struct ClusterConfig {
    /// Its nodes.
    pub nodes: Vec<NodeConfig>,
    /// How long things take.
    pub timing: Timing,
    /// The wall clock at time 0.
    pub epoch: Timestamp,
    /// The feature gate `MaxUnavailableStatefulSet`, off in v1.36.
    pub max_unavailable_statefulset: bool,
    /// How long a node may be silent: `--node-monitor-grace-period`.
    pub node_monitor_grace: Duration,
    /// How often the nodes are looked at: `--node-monitor-period`.
    pub node_monitor_period: Duration,
    /// How many requests a second each loop may send, and how many at once: `--kube-api-qps`, `--kube-api-burst`. Without
    /// limits if it is nothing.
    pub client_limit: Option<(f64, u32)>,
    /// So many Pods that have ended are kept: `--terminated-pod-gc-threshold`.
    pub ended_pods_kept: usize,
    /// How long Pods stay on a node that is not ready, unless they say otherwise.
    pub default_toleration_seconds: i64,
}

impl Default for ClusterConfig {
    fn default() -> Self {
        ClusterConfig::with_nodes(3)
    }
}

impl ClusterConfig {
    /// A cluster of `n` equal nodes, `node-1` and up.
    pub fn with_nodes(n: usize) -> Self {
        ClusterConfig {
            nodes: (1..=n).map(|i| NodeConfig { name: format!("node-{i}"), allocatable: Vec::new() }).collect(),
            timing: Timing::default(),
            // 2026-01-01T00:00:00Z
            epoch: Timestamp(1_767_225_600),
            max_unavailable_statefulset: false,
            node_monitor_grace: 50 * SECOND,
            node_monitor_period: 5 * SECOND,
            client_limit: None,
            ended_pods_kept: 12_500,
            default_toleration_seconds: 300,
        }
    }

    /// The API objects that are there before the first command.
    pub fn objects(&self) -> Vec<Value> {
        let mut objects = Vec::new();
        for name in ["default", "kube-node-lease", "kube-public", "kube-system"] {
            objects.push(json!({ "apiVersion": "v1", "kind": "Namespace",
                "metadata": { "name": name, "labels": { "kubernetes.io/metadata.name": name } },
                "spec": { "finalizers": ["kubernetes"] }, "status": { "phase": "Active" } }));
            objects.push(json!({ "apiVersion": "v1", "kind": "ServiceAccount", "metadata": { "name": "default", "namespace": name } }));
            objects.push(root_ca(name));
        }
        objects.push(json!({ "apiVersion": "v1", "kind": "Service",
            "metadata": { "name": "kubernetes", "namespace": "default", "labels": { "component": "apiserver", "provider": "kubernetes" } },
            "spec": { "type": "ClusterIP", "ports": [{ "name": "https", "port": 443, "protocol": "TCP", "targetPort": 6443 }] } }));
        objects.push(class("standard", "Immediate", true));
        objects.push(class("standard-wait", "WaitForFirstConsumer", false));
        for (name, value) in [("system-cluster-critical", 2_000_000_000_i64), ("system-node-critical", 2_000_001_000)] {
            objects.push(json!({ "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": { "name": name },
                "value": value, "preemptionPolicy": "PreemptLowerPriority" }));
        }
        objects.extend(self.nodes.iter().enumerate().map(|(i, n)| node(i + 1, n, self.epoch)));
        objects
    }
}

/// The ConfigMap with the certificate that Pods know the API server by. There are no certificates here.
pub(super) fn root_ca(namespace: &str) -> Value {
    json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "kube-root-ca.crt", "namespace": namespace,
        "annotations": { "kubernetes.io/description": "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters." } },
        "data": { "ca.crt": "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n" } })
}

fn class(name: &str, mode: &str, default: bool) -> Value {
    let mut object = json!({ "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": { "name": name },
        "provisioner": "loopscope.dev/provisioner", "reclaimPolicy": "Delete", "volumeBindingMode": mode, "allowVolumeExpansion": false });
    if default {
        object["metadata"]["annotations"] = json!({ "storageclass.kubernetes.io/is-default-class": "true" });
    }
    object
}

/// What a kubelet reports of a healthy node: type, status, reason and message of each condition.
pub(super) const HEALTHY: [(&str, &str, &str, &str); 4] = [
    ("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
];

/// The `n`-th Node, as its kubelet has registered it.
pub(super) fn node(n: usize, config: &NodeConfig, at: Timestamp) -> Value {
    let mut resources = json!({ "cpu": "4", "memory": "8Gi", "pods": "110", "ephemeral-storage": "100Gi" });
    for (name, amount) in &config.allocatable {
        resources[name.as_str()] = amount.clone();
    }
    let condition = |(kind, status, reason, message): (&str, &str, &str, &str)| {
        json!({ "type": kind, "status": status, "reason": reason, "message": message,
            "lastHeartbeatTime": at.rfc3339(), "lastTransitionTime": at.rfc3339() })
    };
    let name = &config.name;
    json!({ "apiVersion": "v1", "kind": "Node",
        "metadata": { "name": name,
            "annotations": { "node.alpha.kubernetes.io/ttl": "0" },
            "labels": { "beta.kubernetes.io/arch": "amd64", "beta.kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64",
                "kubernetes.io/hostname": name, "kubernetes.io/os": "linux" } },
        "spec": { "podCIDR": format!("10.244.{n}.0/24"), "podCIDRs": [format!("10.244.{n}.0/24")] },
        "status": {
            "addresses": [{ "type": "InternalIP", "address": format!("192.168.49.{}", 10 + n) }, { "type": "Hostname", "address": name }],
            "allocatable": resources, "capacity": resources,
            "conditions": HEALTHY.map(condition),
            "nodeInfo": { "architecture": "amd64", "bootID": "", "containerRuntimeVersion": "containerd://2.2.0",
                "kernelVersion": "6.1.0", "kubeProxyVersion": "", "kubeletVersion": "v1.36.2", "machineID": "",
                "operatingSystem": "linux", "osImage": "Debian GNU/Linux 12 (bookworm)", "systemUUID": "" },
        } })
}
