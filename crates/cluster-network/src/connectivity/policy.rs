//! NetworkPolicies: whether a connection is allowed at its two ends, and by which rule.
//!
//! A Pod that no policy of a direction selects is not isolated in it; otherwise only traffic allowed by some rule passes. Models the
//! `NetworkPolicy` section of the API (`staging/src/k8s.io/api/networking/v1/types.go`); network plugins apply the same rules to packets.

use crate::dns;
use apiserver::Store;
use k8s_model::cidr;
use k8s_model::network_policy::{NetworkPolicySpec, PolicyPeer, PolicyPort, PolicyRule};
use k8s_model::pod::{Pod, PodSpec};
use k8s_model::{Kind, Labels, Object, ObjectRef, Str};
use serde_json::Value;
use std::rc::Rc;

/// Direction, from the perspective of the isolated Pod.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// Traffic into the Pod.
    Ingress,
    /// Traffic out of the Pod.
    Egress,
}

impl Direction {
    /// Returns the name used in `policyTypes`.
    pub fn name(self) -> &'static str {
        match self {
            Direction::Ingress => "Ingress",
            Direction::Egress => "Egress",
        }
    }
}

/// Namespace of the ingress controller.
const INGRESS_NAMESPACE: &str = "ingress-nginx";

/// Returns the labels that the manifests of ingress-nginx give to all their objects, plus some more.
fn ingress_labels(more: &[(&'static str, &'static str)]) -> Labels {
    let all = [
        ("app.kubernetes.io/instance", INGRESS_NAMESPACE),
        ("app.kubernetes.io/name", INGRESS_NAMESPACE),
    ];
    let all = all
        .iter()
        .chain(more)
        .map(|(key, value)| (Str::new_static(key), Str::new_static(value)));
    Rc::new(all.collect())
}

/// End of a connection, as a rule sees it.
pub struct Peer<'a> {
    /// Namespace of a Pod; `None` for other addresses.
    namespace: Option<&'a str>,
    labels: Labels,
    address: &'a str,
    spec: Option<&'a PodSpec>,
}

impl<'a> Peer<'a> {
    /// Returns the peer for a Pod.
    pub fn pod(object: &'a Object) -> Peer<'a> {
        let pod: &Pod = object.body();
        Peer {
            namespace: Some(&object.meta.namespace),
            labels: object.meta.labels.clone(),
            address: &pod.status.pod_ip,
            spec: Some(&pod.spec),
        }
    }

    /// Returns the peer for the cluster's name store. Its Pods are not simulated, but rules that allow lookups name their labels.
    pub fn name_server() -> Peer<'static> {
        let labels = [(Str::new_static("k8s-app"), Str::new_static("kube-dns"))];
        Peer {
            namespace: Some("kube-system"),
            labels: Rc::new(labels.into_iter().collect()),
            address: dns::SERVER,
            spec: None,
        }
    }

    /// Returns the peer for a Gateway's proxy. Its Pods are not simulated, but rules that allow its traffic name their labels.
    pub fn proxy(namespace: &'a str, gateway: &str, address: &'a str) -> Peer<'a> {
        let labels = [(
            Str::new_static("gateway.networking.k8s.io/gateway-name"),
            gateway.into(),
        )];
        Peer {
            namespace: Some(namespace),
            labels: Rc::new(labels.into_iter().collect()),
            address,
            spec: None,
        }
    }

    /// Returns the peer for the ingress controller. Its Pods and its namespace are not simulated; rules that allow its traffic name the
    /// labels that its manifests give both.
    pub fn ingress_controller() -> Peer<'static> {
        let own = [("app.kubernetes.io/component", "controller")];
        Peer {
            namespace: Some(INGRESS_NAMESPACE),
            labels: ingress_labels(&own),
            address: "10.244.1.250",
            spec: None,
        }
    }

    /// Returns the peer for an address outside of Pods.
    pub fn address(address: &'a str) -> Peer<'a> {
        Peer {
            namespace: None,
            labels: Labels::default(),
            address,
            spec: None,
        }
    }
}

/// Verdict for a connection at one end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// No policy isolates this end.
    Open,
    /// A rule of a policy allows the connection.
    Allowed {
        /// Policy.
        policy: ObjectRef,
        /// Number of the rule, from 1.
        rule: usize,
    },
    /// The policies isolate this end, and none of their rules allows the connection.
    Denied {
        /// Policies by name.
        policies: Vec<ObjectRef>,
    },
}

impl Verdict {
    /// Returns true if the connection is denied.
    pub fn is_denied(&self) -> bool {
        matches!(self, Verdict::Denied { .. })
    }
}

/// Returns the policies that isolate a Pod in a direction.
pub fn policies_of(
    store: &Store,
    direction: Direction,
    pod: &Object,
) -> Vec<(ObjectRef, NetworkPolicySpec)> {
    // Host network Pods are not isolated by policies.
    if pod.pod().is_none_or(|pod| pod.spec.host_network) {
        return Vec::new();
    }
    let here = store.listing(Kind::NetworkPolicy, Some(&pod.meta.namespace));
    let all = here.map(|policy| (policy.key(), NetworkPolicySpec::of(&policy)));
    let isolates = |spec: &NetworkPolicySpec| {
        spec.policy_types
            .iter()
            .any(|kind| kind == direction.name())
            && spec.pod_selector.matches(&pod.meta.labels)
    };
    all.filter(|(_, spec)| isolates(spec)).collect()
}

/// Evaluates, at a Pod's end, a connection between it and a peer on a port of the receiver.
pub fn verdict(
    store: &Store,
    direction: Direction,
    pod: &Object,
    peer: &Peer<'_>,
    port: i32,
    protocol: &str,
) -> Verdict {
    let isolating = policies_of(store, direction, pod);
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
                    .any(|one| is_peer(store, &key.namespace, one, peer)))
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

/// Returns true if the rules of a namespace's policy name peers, but no Pod is among them.
pub fn allows_no_pod(store: &Store, namespace: &str, spec: &NetworkPolicySpec) -> bool {
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
            // A rule without peers, or with IP blocks, allows more than Pods.
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
            .any(|peer| is_peer(store, namespace, peer, &pod))
    };
    !peers.is_empty()
        && !store.list(Kind::Pod).any(|pod| is_one(pod))
        && ![Peer::name_server(), Peer::ingress_controller()]
            .iter()
            .any(|one| {
                peers
                    .iter()
                    .any(|peer| is_peer(store, namespace, peer, one))
            })
}

fn is_peer(store: &Store, namespace: &str, rule: &PolicyPeer, peer: &Peer<'_>) -> bool {
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
        Some(selector) => match store.get(&ObjectRef::new(Kind::Namespace, "", own)) {
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
                .serving_containers()
                .flat_map(|container| &container.ports);
            ports.any(|one| one.name == name.as_str() && one.container_port == port)
        }),
        _ => false,
    };
    wanted == protocol && fits
}
