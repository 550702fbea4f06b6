//! Nodes.

use super::json::record;
use super::pod::Resources;
use super::spec::Spec;
use super::{Str, Timestamp, quantity};
use crate::json;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

#[derive(Clone, PartialEq, Debug, Default)]
pub struct Node {
    pub spec: Rc<Spec<NodeSpec>>,
    pub status: NodeStatus,
}

record! {
    #[derive(Clone, Debug, Default)]
    pub struct NodeSpec {
        pub unschedulable: bool = "unschedulable",
        pub taints: Vec<Taint> = "taints",
    }

    #[derive(Clone, PartialEq, Eq, Debug, Default)]
    pub struct Taint {
        pub effect: Str = "effect",
        pub key: Str = "key",
        pub time_added: Option<Timestamp> = "timeAdded" omitempty,
        pub value: Str = "value" omitempty,
    }

    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct NodeStatus {
        pub addresses: Vec<NodeAddress> = "addresses" omitempty,
        pub allocatable: BTreeMap<Str, Value> = "allocatable" omitempty,
        pub capacity: BTreeMap<Str, Value> = "capacity" omitempty,
        pub conditions: Vec<NodeCondition> = "conditions" omitempty,
        pub node_info: Map<String, Value> = "nodeInfo",
    }

    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct NodeAddress {
        pub address: Str = "address",
        pub kind: Str = "type",
    }

    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct NodeCondition {
        pub last_heartbeat_time: Option<Timestamp> = "lastHeartbeatTime",
        pub last_transition_time: Option<Timestamp> = "lastTransitionTime",
        pub message: Str = "message",
        pub reason: Str = "reason",
        pub status: Str = "status",
        pub kind: Str = "type",
    }
}

/// Formats a taint as kubectl does: `key=value:NoSchedule`.
impl fmt::Display for Taint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = if self.value.is_empty() { "" } else { "=" };
        write!(f, "{}{value}{}:{}", self.key, self.value, self.effect)
    }
}

impl Node {
    pub(super) fn from_parts(spec: Option<Value>, status: Option<Value>) -> Result<Self, String> {
        Ok(Node {
            spec: Spec::from_raw(spec)?,
            status: json::part(status.as_ref())?,
        })
    }

    /// Returns the resources that Pods may request on the node in total.
    pub fn allocatable(&self) -> Resources {
        Resources::from_list(|name| self.status.allocatable.get(name))
    }

    /// Returns the maximum number of Pods on the node.
    pub fn max_pods(&self) -> i64 {
        self.status
            .allocatable
            .get("pods")
            .map_or(0, quantity::units_of)
    }

    /// Returns the InternalIP, which is also the address of host network Pods.
    pub fn internal_ip(&self) -> Str {
        self.status
            .addresses
            .iter()
            .find(|a| a.kind == "InternalIP")
            .map_or_else(Str::default, |a| a.address.clone())
    }

    /// Returns true if `Ready` is `True`.
    pub fn is_ready(&self) -> bool {
        self.status
            .conditions
            .iter()
            .any(|c| c.kind == "Ready" && c.status == "True")
    }
}
