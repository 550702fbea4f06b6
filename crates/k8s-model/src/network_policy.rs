//! NetworkPolicies: stored as JSON, parsed on access.

use super::json::record;
use super::selector::LabelSelector;
use super::{Body, Object, Str};
use crate::json;
use serde_json::Value;

record! {
    /// `spec` of a NetworkPolicy.
    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct NetworkPolicySpec {
        /// Selector of the isolated Pods; an empty one selects every Pod of the namespace.
        pub pod_selector: LabelSelector = "podSelector",
        /// Directions in which the Pods are isolated: `Ingress`, `Egress`.
        pub policy_types: Vec<Str> = "policyTypes",
        pub ingress: Vec<PolicyRule> = "ingress",
        pub egress: Vec<PolicyRule> = "egress",
    }

    /// Rule of a NetworkPolicy: allows traffic that matches one of its ports and one of its peers; an empty list matches everything.
    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct PolicyRule {
        pub ports: Vec<PolicyPort> = "ports",
        /// Peers of an ingress rule.
        pub from: Vec<PolicyPeer> = "from",
        /// Peers of an egress rule.
        pub to: Vec<PolicyPeer> = "to",
    }

    /// Peer at the other end of a connection.
    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct PolicyPeer {
        /// Pod selector; without a namespace selector limited to the policy's namespace.
        pub pod_selector: Option<LabelSelector> = "podSelector",
        pub namespace_selector: Option<LabelSelector> = "namespaceSelector",
        pub ip_block: Option<IpBlock> = "ipBlock",
    }

    /// Range of addresses.
    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct IpBlock {
        pub cidr: Str = "cidr",
        pub except: Vec<Str> = "except",
    }

    /// Port or a range of ports.
    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct PolicyPort {
        pub protocol: Str = "protocol",
        /// Number, name of a container port, or null for every port.
        pub port: Value = "port",
        pub end_port: Option<i32> = "endPort",
    }
}

impl NetworkPolicySpec {
    /// Parses the spec; the default, which allows nothing, if it does not decode.
    pub fn of(policy: &Object) -> NetworkPolicySpec {
        let Body::Other(map) = &policy.body else {
            return Default::default();
        };
        json::part(map.get("spec")).unwrap_or_default()
    }
}
