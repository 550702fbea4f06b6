//! NetworkPolicies: stored as JSON, read where they are looked at.

use super::json::record;
use super::selector::LabelSelector;
use super::{Body, Object, Str};
use crate::json;
use serde_json::Value;

record! {
    /// `spec` of a NetworkPolicy.
    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct NetworkPolicySpec {
        /// The Pods that it isolates; an empty one selects every Pod of the namespace.
        pub pod_selector: LabelSelector = "podSelector",
        /// `Ingress`, `Egress`: the directions in which it isolates them.
        pub policy_types: Vec<Str> = "policyTypes",
        pub ingress: Vec<PolicyRule> = "ingress",
        pub egress: Vec<PolicyRule> = "egress",
    }

    /// A rule of a NetworkPolicy: it allows what matches one of its ports and one of its peers; an empty list matches everything.
    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct PolicyRule {
        pub ports: Vec<PolicyPort> = "ports",
        /// The peers of a rule for ingress.
        pub from: Vec<PolicyPeer> = "from",
        /// The peers of a rule for egress.
        pub to: Vec<PolicyPeer> = "to",
    }

    /// Who may be at the other end.
    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct PolicyPeer {
        /// Without a namespace selector it selects Pods of the policy's namespace.
        pub pod_selector: Option<LabelSelector> = "podSelector",
        pub namespace_selector: Option<LabelSelector> = "namespaceSelector",
        pub ip_block: Option<IpBlock> = "ipBlock",
    }

    /// A range of addresses.
    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct IpBlock {
        pub cidr: Str = "cidr",
        pub except: Vec<Str> = "except",
    }

    /// A port or a range of ports.
    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct PolicyPort {
        pub protocol: Str = "protocol",
        /// A number, the name of a container port, or nothing for every port.
        pub port: Value = "port",
        pub end_port: Option<i32> = "endPort",
    }
}

impl NetworkPolicySpec {
    /// Reads the spec; what cannot be read allows nothing.
    pub fn of(policy: &Object) -> NetworkPolicySpec {
        let Body::Other(map) = &policy.body else {
            return Default::default();
        };
        json::part(map.get("spec")).unwrap_or_default()
    }
}
