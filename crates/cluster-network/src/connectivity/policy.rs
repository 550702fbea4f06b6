//! NetworkPolicies: whether a connection is allowed at its two ends, and by which rule.
//!
//! A Pod that no policy of a direction selects is open in it; once one selects it, only what some rule allows gets through. Models
//! the `NetworkPolicy` section of the API (`staging/src/k8s.io/api/networking/v1/types.go`); network plugins do the same with packets.

use crate::dns;
use apiserver::ApiServer;
use k8s_model::cidr;
use k8s_model::network_policy::{NetworkPolicySpec, PolicyPeer, PolicyPort, PolicyRule};
use k8s_model::pod::{Pod, PodSpec};
use k8s_model::{Kind, Labels, Object, ObjectRef, Str};
use serde_json::Value;
use std::rc::Rc;

/// A direction, as seen from the Pod that is isolated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// Into the Pod.
    Ingress,
    /// Out of the Pod.
    Egress,
}

impl Direction {
    /// As `policyTypes` has it.
    pub fn name(self) -> &'static str {
        match self {
            Direction::Ingress => "Ingress",
            Direction::Egress => "Egress",
        }
    }
}

/// The namespace of the controller that serves Ingresses.
const INGRESS_NAMESPACE: &str = "ingress-nginx";

/// The labels that the manifests of ingress-nginx give to all that is its own, and some more.
fn ingress_labels(more: &[(&'static str, &'static str)]) -> Labels {
    let all = [
        ("app.kubernetes.io/instance", INGRESS_NAMESPACE),
        ("app.kubernetes.io/name", INGRESS_NAMESPACE),
    ];
    let all = all
        .iter()
        .chain(more)
        .map(|(key, value)| (Str::new_static(key), Str::new_static(value)));
    Rc::new(k8s_model::sort::tree(all))
}

/// An end of a connection, as a rule sees it.
pub struct Peer<'a> {
    /// Of a Pod.
    namespace: Option<&'a str>,
    labels: Labels,
    address: &'a str,
    spec: Option<&'a PodSpec>,
}

impl<'a> Peer<'a> {
    /// A Pod.
    pub fn pod(object: &'a Object) -> Peer<'a> {
        let pod: &Pod = object.body();
        Peer {
            namespace: Some(&object.meta.namespace),
            labels: object.meta.labels.clone(),
            address: &pod.status.pod_ip,
            spec: Some(&pod.spec),
        }
    }

    /// The name server of the cluster. Its Pods are not simulated, but rules that allow lookups name their labels.
    pub fn name_server() -> Peer<'static> {
        let labels = [(Str::new_static("k8s-app"), Str::new_static("kube-dns"))];
        Peer {
            namespace: Some("kube-system"),
            labels: Rc::new(k8s_model::sort::tree(labels.into_iter())),
            address: dns::SERVER,
            spec: None,
        }
    }

    /// The proxy of a Gateway. Its Pods are not simulated, but rules that allow what it sends name their labels.
    pub fn proxy(namespace: &'a str, gateway: &str, address: &'a str) -> Peer<'a> {
        let labels = [(
            Str::new_static("gateway.networking.k8s.io/gateway-name"),
            gateway.into(),
        )];
        Peer {
            namespace: Some(namespace),
            labels: Rc::new(k8s_model::sort::tree(labels.into_iter())),
            address,
            spec: None,
        }
    }

    /// The controller that serves Ingresses. Its Pods and its namespace are not simulated; rules that allow what it sends name the labels
    /// that its own manifests give both.
    pub fn ingress_controller() -> Peer<'static> {
        let own = [("app.kubernetes.io/component", "controller")];
        Peer {
            namespace: Some(INGRESS_NAMESPACE),
            labels: ingress_labels(&own),
            address: "10.244.1.250",
            spec: None,
        }
    }

    /// An address that is no Pod's.
    pub fn address(address: &'a str) -> Peer<'a> {
        Peer {
            namespace: None,
            labels: Labels::default(),
            address,
            spec: None,
        }
    }
}

/// Whether a connection is allowed at one end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// No policy isolates this end.
    Open,
    /// A rule of a policy allows it.
    Allowed {
        /// The policy.
        policy: ObjectRef,
        /// The number of the rule, from 1.
        rule: usize,
    },
    /// These policies isolate this end, and none of their rules allows it.
    Denied {
        /// The policies, by name.
        policies: Vec<ObjectRef>,
    },
}

impl Verdict {
    /// Returns true if it is denied.
    pub fn is_denied(&self) -> bool {
        matches!(self, Verdict::Denied { .. })
    }
}

/// The policies that isolate a Pod in a direction.
pub fn policies_of(
    server: &ApiServer,
    direction: Direction,
    pod: &Object,
) -> Vec<(ObjectRef, NetworkPolicySpec)> {
    // The network of its node is isolated by no policy.
    if pod.pod().is_none_or(|pod| pod.spec.host_network) {
        return Vec::new();
    }
    let here = server
        .list(Kind::NetworkPolicy)
        .filter(|policy| policy.meta.namespace == pod.meta.namespace);
    let all = here.map(|policy| (policy.key(), NetworkPolicySpec::of(policy)));
    let isolates = |spec: &NetworkPolicySpec| {
        spec.policy_types
            .iter()
            .any(|kind| kind == direction.name())
            && spec.pod_selector.matches(&pod.meta.labels)
    };
    all.filter(|(_, spec)| isolates(spec)).collect()
}

/// Whether a connection between a Pod and a peer on a port of its receiver is allowed at the Pod's end.
pub fn verdict(
    server: &ApiServer,
    direction: Direction,
    pod: &Object,
    peer: &Peer<'_>,
    port: i32,
    protocol: &str,
) -> Verdict {
    let isolating = policies_of(server, direction, pod);
    if isolating.is_empty() {
        return Verdict::Open;
    }
    let own = pod.pod().map(|pod| &*pod.spec);
    let receiver = if direction == Direction::Ingress {
        own
    } else {
        peer.spec
    };
    for (key, spec) in &isolating {
        let rules = if direction == Direction::Ingress {
            &spec.ingress
        } else {
            &spec.egress
        };
        let allows = |rule: &PolicyRule| {
            let peers = if direction == Direction::Ingress {
                &rule.from
            } else {
                &rule.to
            };
            (peers.is_empty()
                || peers
                    .iter()
                    .any(|one| is_peer(server, &key.namespace, one, peer)))
                && (rule.ports.is_empty()
                    || rule
                        .ports
                        .iter()
                        .any(|one| is_port(one, receiver, port, protocol)))
        };
        if let Some(at) = rules.iter().position(allows) {
            return Verdict::Allowed {
                policy: key.clone(),
                rule: at + 1,
            };
        }
    }
    Verdict::Denied {
        policies: isolating.into_iter().map(|(key, _)| key).collect(),
    }
}

/// Returns true if the rules of a policy of a namespace name peers, and no Pod is one of them.
pub fn allows_no_pod(server: &ApiServer, namespace: &str, spec: &NetworkPolicySpec) -> bool {
    let of = |kind: &Str| {
        if kind == Direction::Ingress.name() {
            (&spec.ingress, true)
        } else {
            (&spec.egress, false)
        }
    };
    let mut peers = Vec::new();
    for (rules, from) in spec.policy_types.iter().map(of) {
        for rule in rules {
            let named = if from { &rule.from } else { &rule.to };
            // A rule without peers, or for addresses, allows more than Pods.
            if named.is_empty() || named.iter().any(|peer| peer.ip_block.is_some()) {
                return false;
            }
            peers.extend(named);
        }
    }
    let is_one = |pod: &Object| {
        let pod = Peer::pod(pod);
        peers
            .iter()
            .any(|peer| is_peer(server, namespace, peer, &pod))
    };
    !peers.is_empty()
        && !server.list(Kind::Pod).any(|pod| is_one(pod))
        && ![Peer::name_server(), Peer::ingress_controller()]
            .iter()
            .any(|one| {
                peers
                    .iter()
                    .any(|peer| is_peer(server, namespace, peer, one))
            })
}

fn is_peer(server: &ApiServer, namespace: &str, rule: &PolicyPeer, peer: &Peer<'_>) -> bool {
    if let Some(block) = &rule.ip_block {
        let Ok(address) = peer.address.parse() else {
            return false;
        };
        let within = |text: &Str| {
            cidr::network(text).is_some_and(|network| cidr::contains(network, address))
        };
        return within(&block.cidr) && !block.except.iter().any(within);
    }
    let Some(own) = peer.namespace else {
        return false;
    };
    let of_namespace = match &rule.namespace_selector {
        Some(selector) => match server.get(&ObjectRef::new(Kind::Namespace, "", own)) {
            Some(object) => selector.matches(&object.meta.labels),
            None => {
                own == INGRESS_NAMESPACE
                    && selector.matches(&ingress_labels(&[(
                        "kubernetes.io/metadata.name",
                        INGRESS_NAMESPACE,
                    )]))
            }
        },
        None => own == namespace,
    };
    of_namespace
        && rule
            .pod_selector
            .as_ref()
            .is_none_or(|selector| selector.matches(&peer.labels))
}

fn is_port(rule: &PolicyPort, receiver: Option<&PodSpec>, port: i32, protocol: &str) -> bool {
    let wanted = if rule.protocol.is_empty() {
        "TCP"
    } else {
        &rule.protocol
    };
    let number = i64::from(port);
    let fits = match &rule.port {
        Value::Null => true,
        Value::Number(first) => {
            let first = first.as_i64().unwrap_or(0);
            (first..=rule.end_port.map_or(first, i64::from)).contains(&number)
        }
        Value::String(name) => receiver.is_some_and(|spec| {
            let mut ports = spec
                .containers
                .iter()
                .flat_map(|container| &container.ports);
            ports.any(|one| one.name == name.as_str() && one.container_port == port)
        }),
        _ => false,
    };
    wanted == protocol && fits
}
