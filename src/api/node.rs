//! Nodes.

use super::meta::nullable;
use super::object::{Spec, part};
use super::pod::Resources;
use super::{Str, Timestamp, quantity};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::rc::Rc;

#[derive(Clone, PartialEq, Debug, Default)]
pub struct Node {
    pub spec: Rc<Spec<NodeSpec>>,
    pub status: NodeStatus,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeSpec {
    pub unschedulable: bool,
    #[serde(deserialize_with = "nullable")]
    pub taints: Vec<Taint>,
}

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Taint {
    pub effect: Str,
    pub key: Str,
    #[serde(skip_serializing_if = "Str::is_empty")]
    pub value: Str,
}

#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeStatus {
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "nullable")]
    pub addresses: Vec<NodeAddress>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "nullable")]
    pub allocatable: BTreeMap<Str, Value>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "nullable")]
    pub capacity: BTreeMap<Str, Value>,
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "nullable")]
    pub conditions: Vec<NodeCondition>,
    pub node_info: Map<String, Value>,
}

#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct NodeAddress {
    pub address: Str,
    #[serde(rename = "type")]
    pub kind: Str,
}

#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeCondition {
    pub last_heartbeat_time: Option<Timestamp>,
    pub last_transition_time: Option<Timestamp>,
    pub message: Str,
    pub reason: Str,
    pub status: Str,
    #[serde(rename = "type")]
    pub kind: Str,
}

impl Node {
    pub(super) fn from_parts(spec: Option<Value>, status: Option<Value>) -> Result<Self, String> {
        Ok(Node { spec: Spec::from_raw(spec)?, status: part(status)? })
    }

    /// What Pods may request here together.
    pub fn allocatable(&self) -> Resources {
        Resources::from_list(|name| self.status.allocatable.get(name))
    }

    /// How many Pods may run here.
    pub fn max_pods(&self) -> i64 {
        self.status.allocatable.get("pods").map_or(0, quantity::units_of)
    }

    /// The address Pods of the host network get.
    pub fn internal_ip(&self) -> Str {
        self.status.addresses.iter().find(|a| a.kind == "InternalIP").map_or_else(Str::default, |a| a.address.clone())
    }

    /// Whether `Ready` is `True`.
    pub fn is_ready(&self) -> bool {
        self.status.conditions.iter().any(|c| c.kind == "Ready" && c.status == "True")
    }
}
