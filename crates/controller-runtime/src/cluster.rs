//! Initial configuration and objects of a simulated cluster.

use super::limit::ClientLimit;
use apiserver::bootstrap;
use k8s_model::time::{MS, SECOND};
use k8s_model::{Duration, Timestamp};
use serde_json::Value;

/// Initial node.
#[derive(Clone, PartialEq, Debug)]
pub struct NodeConfig {
    /// Its name.
    pub name: String,
    /// Allocatable resources that differ from 4 cpu, 8Gi, 110 pods, 100Gi.
    pub allocatable: Vec<(String, Value)>,
}

/// Durations outside the control plane, in microseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timing {
    /// Time from binding to running.
    pub pod_start: Duration,
    /// Time from the request to stop to the end of the containers.
    pub pod_stop: Duration,
    /// Time from the request for a volume to its creation.
    pub provision: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Timing {
            pod_start: SECOND,
            pod_stop: 500 * MS,
            provision: 500 * MS,
        }
    }
}

/// Configuration of a cluster.
#[derive(Clone, PartialEq, Debug)]
pub struct ClusterConfig {
    /// Its nodes.
    pub nodes: Vec<NodeConfig>,
    /// Durations outside the control plane.
    pub timing: Timing,
    /// Wall clock at time 0.
    pub epoch: Timestamp,
    /// Feature gate `MaxUnavailableStatefulSet`, off in v1.36.
    pub max_unavailable_statefulset: bool,
    /// Time a node may go without a heartbeat: `--node-monitor-grace-period`.
    pub node_monitor_grace: Duration,
    /// Interval of node checks: `--node-monitor-period`.
    pub node_monitor_period: Duration,
    /// Requests per second and burst of each controller's client: `--kube-api-qps`, `--kube-api-burst`. `None` for no limit.
    pub client_limit: Option<ClientLimit>,
    /// Number of terminated Pods kept: `--terminated-pod-gc-threshold`.
    pub ended_pods_kept: usize,
    /// Seconds that Pods stay on a node that is not ready, unless their tolerations differ.
    pub default_toleration_seconds: i64,
}

impl Default for ClusterConfig {
    fn default() -> Self {
        ClusterConfig::with_nodes(3)
    }
}

impl ClusterConfig {
    /// Returns the configuration of a cluster with `n` equal nodes, `node-1` and up.
    pub fn with_nodes(n: usize) -> Self {
        ClusterConfig {
            nodes: (1..=n)
                .map(|i| NodeConfig {
                    name: format!("node-{i}"),
                    allocatable: Vec::new(),
                })
                .collect(),
            timing: Timing::default(),
            // 2026-01-01T00:00:00Z
            epoch: Timestamp::new(1_767_225_600),
            max_unavailable_statefulset: false,
            node_monitor_grace: 50 * SECOND,
            node_monitor_period: 5 * SECOND,
            client_limit: None,
            ended_pods_kept: 12_500,
            default_toleration_seconds: 300,
        }
    }

    /// Builds the API objects that exist before the first command.
    pub fn objects(&self) -> Vec<Value> {
        let mut objects = Vec::new();
        for name in ["default", "kube-node-lease", "kube-public", "kube-system"] {
            objects.push(made(NAMESPACE, &[("$name", name)]));
            objects.push(made(ACCOUNT, &[("$name", name)]));
            objects.push(root_ca(name));
        }
        objects.extend(
            [
                API_SERVER,
                API_ENDPOINTS,
                API_SLICE,
                STANDARD,
                WAITS,
                CLUSTER_CRITICAL,
                NODE_CRITICAL,
            ]
            .map(|text| made(text, &[])),
        );
        objects.extend(bootstrap::objects());
        objects.extend(
            self.nodes
                .iter()
                .enumerate()
                .map(|(i, n)| node(i + 1, n, self.epoch)),
        );
        objects
    }
}

// JSON text: parsing it costs the page a third of the size of code that builds it.
const NAMESPACE: &str = r#"{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"$name","labels":{"kubernetes.io/metadata.name":"$name"}},"spec":{"finalizers":["kubernetes"]},"status":{"phase":"Active"}}"#;
const ACCOUNT: &str = r#"{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"default","namespace":"$name"}}"#;
/// CA certificate with which Pods verify the API server; its content is a placeholder.
const ROOT_CA: &str = r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"kube-root-ca.crt","namespace":"$name","annotations":{"kubernetes.io/description":"Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters."}},"data":{"ca.crt":"-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n"}}"#;
const API_SERVER: &str = r#"{"apiVersion":"v1","kind":"Service","metadata":{"name":"kubernetes","namespace":"default","labels":{"component":"apiserver","provider":"kubernetes"}},"spec":{"type":"ClusterIP","ports":[{"name":"https","port":443,"protocol":"TCP","targetPort":6443}]}}"#;
/// Endpoints of the API server, which it maintains itself. Their uids are fixed, so that they draw no random numbers.
const API_ENDPOINTS: &str = r#"{"apiVersion":"v1","kind":"Endpoints","metadata":{"name":"kubernetes","namespace":"default","uid":"6b1f0c5e-2d54-4c0b-8a4e-0a3c5f0e9d01","labels":{"endpointslice.kubernetes.io/skip-mirror":"true"}},"subsets":[{"addresses":[{"ip":"192.168.49.2"}],"ports":[{"name":"https","port":6443,"protocol":"TCP"}]}]}"#;
const API_SLICE: &str = r#"{"apiVersion":"discovery.k8s.io/v1","kind":"EndpointSlice","metadata":{"name":"kubernetes","namespace":"default","uid":"6b1f0c5e-2d54-4c0b-8a4e-0a3c5f0e9d02","labels":{"kubernetes.io/service-name":"kubernetes"}},"addressType":"IPv4","endpoints":[{"addresses":["192.168.49.2"],"conditions":{"ready":true}}],"ports":[{"name":"https","port":6443,"protocol":"TCP"}]}"#;
const STANDARD: &str = r#"{"apiVersion":"storage.k8s.io/v1","kind":"StorageClass","metadata":{"name":"standard","annotations":{"storageclass.kubernetes.io/is-default-class":"true"}},"provisioner":"loopscope.dev/provisioner","reclaimPolicy":"Delete","volumeBindingMode":"Immediate","allowVolumeExpansion":false}"#;
const WAITS: &str = r#"{"apiVersion":"storage.k8s.io/v1","kind":"StorageClass","metadata":{"name":"standard-wait"},"provisioner":"loopscope.dev/provisioner","reclaimPolicy":"Delete","volumeBindingMode":"WaitForFirstConsumer","allowVolumeExpansion":false}"#;
const CLUSTER_CRITICAL: &str = r#"{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"system-cluster-critical"},"description":"Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.","value":2000000000,"preemptionPolicy":"PreemptLowerPriority"}"#;
const NODE_CRITICAL: &str = r#"{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"system-node-critical"},"description":"Used for system critical pods that must not be moved from their current node.","value":2000001000,"preemptionPolicy":"PreemptLowerPriority"}"#;
const NODE: &str = r#"{"apiVersion":"v1","kind":"Node","metadata":{"name":"$name","annotations":{"node.alpha.kubernetes.io/ttl":"0"},"labels":{"beta.kubernetes.io/arch":"amd64","beta.kubernetes.io/os":"linux","kubernetes.io/arch":"amd64","kubernetes.io/hostname":"$name","kubernetes.io/os":"linux"}},"spec":{"podCIDR":"$cidr","podCIDRs":["$cidr"]},"status":{"addresses":[{"type":"InternalIP","address":"$ip"},{"type":"Hostname","address":"$name"}],"allocatable":{"cpu":"4","memory":"8Gi","pods":"110","ephemeral-storage":"100Gi"},"capacity":{"cpu":"4","memory":"8Gi","pods":"110","ephemeral-storage":"100Gi"},"conditions":[$conditions],"nodeInfo":{"architecture":"amd64","bootID":"","containerRuntimeVersion":"containerd://2.2.0","kernelVersion":"6.1.0","kubeProxyVersion":"","kubeletVersion":"v1.36.2","machineID":"","operatingSystem":"linux","osImage":"Debian GNU/Linux 12 (bookworm)","systemUUID":""}}}"#;
const CONDITION: &str = r#"{"type":"$type","status":"$status","reason":"$reason","message":"$message","lastHeartbeatTime":"$at","lastTransitionTime":"$at"}"#;

/// Fills the placeholders of a template.
fn filled(text: &str, holes: &[(&str, &str)]) -> String {
    holes.iter().fold(text.to_string(), |text, (hole, with)| {
        text.replace(hole, with)
    })
}

/// Parses a template with its placeholders filled.
fn made(text: &str, holes: &[(&str, &str)]) -> Value {
    serde_json::from_str(&filled(text, holes)).unwrap_or_default()
}

/// Builds the ConfigMap `kube-root-ca.crt`, which every namespace has.
pub fn root_ca(namespace: &str) -> Value {
    made(ROOT_CA, &[("$name", namespace)])
}

/// Conditions of a healthy node: type, status, reason and message.
pub const HEALTHY: [(&str, &str, &str, &str); 4] = [
    (
        "MemoryPressure",
        "False",
        "KubeletHasSufficientMemory",
        "kubelet has sufficient memory available",
    ),
    (
        "DiskPressure",
        "False",
        "KubeletHasNoDiskPressure",
        "kubelet has no disk pressure",
    ),
    (
        "PIDPressure",
        "False",
        "KubeletHasSufficientPID",
        "kubelet has sufficient PID available",
    ),
    (
        "Ready",
        "True",
        "KubeletReady",
        "kubelet is posting ready status",
    ),
];

/// Maximum number of nodes with Pod networks of their own.
pub const MAX_NODES: usize = 240 * 256 - 1;

/// Returns the Pod network of the `n`-th node, from 1 to [`MAX_NODES`]: a /24 of 10.244.0.0/16, kubeadm's usual range, and beyond
/// 255 nodes of the rest of 10.0.0.0/8 except 10.96.0.0/12, the addresses of Services.
fn pod_cidr(n: usize) -> String {
    let second = match n / 256 % 240 {
        block @ 0..12 => 244 + block,
        block @ 12..144 => block + 100,
        block => block - 144,
    };
    format!("10.{second}.{}.0/24", n % 256)
}

/// Returns the InternalIP of the `n`-th node, from 1 to [`MAX_NODES`], in 192.168.0.0/16.
fn internal_ip(n: usize) -> String {
    let host = 49 * 256 + 10 + n;
    format!("192.168.{}.{}", host / 256 % 256, host % 256)
}

/// Builds the `n`-th Node, as registered by its kubelet.
pub fn node(n: usize, config: &NodeConfig, at: Timestamp) -> Value {
    let at = at.rfc3339();
    let condition = |(kind, status, reason, message): (&str, &str, &str, &str)| {
        filled(
            CONDITION,
            &[
                ("$type", kind),
                ("$status", status),
                ("$reason", reason),
                ("$message", message),
                ("$at", &at),
            ],
        )
    };
    let conditions = HEALTHY.map(condition).join(",");
    // A scenario may give a node any name.
    let name = Value::from(config.name.as_str()).to_string();
    let mut node = made(
        NODE,
        &[
            ("$conditions", &conditions),
            ("$cidr", &pod_cidr(n)),
            ("$ip", &internal_ip(n)),
            ("\"$name\"", &name),
        ],
    );
    for (name, amount) in &config.allocatable {
        for of in ["allocatable", "capacity"] {
            node["status"][of][name.as_str()] = amount.clone();
        }
    }
    node
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_node_has_valid_addresses_of_its_own() {
        use std::collections::BTreeSet;
        use std::net::Ipv4Addr;
        assert_eq!(
            (internal_ip(1), pod_cidr(1)),
            ("192.168.49.11".into(), "10.244.1.0/24".into())
        );
        assert_eq!(
            (pod_cidr(256), pod_cidr(12 * 256)),
            ("10.245.0.0/24".into(), "10.112.0.0/24".into())
        );
        let (mut addresses, mut networks) = (BTreeSet::new(), BTreeSet::new());
        for n in 1..=MAX_NODES {
            let address: Ipv4Addr = internal_ip(n).parse().unwrap();
            assert!(addresses.insert(address), "{n}: {address}");
            let cidr = pod_cidr(n);
            let network: Ipv4Addr = cidr.strip_suffix("/24").unwrap().parse().unwrap();
            assert!(!(96..112).contains(&network.octets()[1]), "{n}: {network}");
            assert!(networks.insert(network), "{n}: {network}");
        }
    }

    #[test]
    fn every_object_is_read_whatever_a_node_is_called() {
        let mut config = ClusterConfig::with_nodes(2);
        config.nodes[1] = NodeConfig {
            name: "a\"$ip\\".into(),
            allocatable: vec![("cpu".into(), "8".into())],
        };
        let objects = config.objects();
        assert!(
            objects.iter().all(|object| object["kind"].is_string()
                && !["$name", "$cidr", "$at"]
                    .iter()
                    .any(|hole| object.to_string().contains(hole))),
            "{objects:?}"
        );
        let node = &objects[objects.len() - 1];
        assert_eq!(
            (
                &node["metadata"]["name"],
                &node["status"]["capacity"]["cpu"]
            ),
            (&"a\"$ip\\".into(), &"8".into())
        );
        assert_eq!(
            node["status"]["conditions"].as_array().map(Vec::len),
            Some(4)
        );
    }
}
