//! Services and the addresses behind them.

use super::meta::nullable;
use super::object::Spec;
use super::{Labels, Str, Uid};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::rc::Rc;

#[derive(Clone, PartialEq, Debug, Default)]
pub struct Service {
    pub spec: Rc<Spec<ServiceSpec>>,
    /// `status`, which nothing here changes after creation.
    pub status: Value,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ServiceSpec {
    #[serde(rename = "type")]
    pub kind: Str,
    #[serde(rename = "clusterIP")]
    pub cluster_ip: Str,
    #[serde(deserialize_with = "nullable")]
    pub selector: Labels,
    #[serde(deserialize_with = "nullable")]
    pub ports: Vec<ServicePort>,
    pub publish_not_ready_addresses: bool,
    pub external_name: Str,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ServicePort {
    pub name: Str,
    pub port: i32,
    pub protocol: Str,
    /// A number or the name of a container port.
    pub target_port: Value,
    pub node_port: i32,
    pub app_protocol: Option<Str>,
}

impl Service {
    pub(super) fn from_parts(spec: Option<Value>, status: Option<Value>) -> Result<Self, String> {
        Ok(Service { spec: Spec::from_raw(spec)?, status: status.unwrap_or_else(|| json!({ "loadBalancer": {} })) })
    }

    /// Whether it has no address of its own.
    pub fn is_headless(&self) -> bool {
        self.spec.cluster_ip == "None"
    }
}

/// A port as Endpoints and EndpointSlices list it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct EndpointPort {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub app_protocol: Option<Str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<Str>,
    pub port: i32,
    pub protocol: Str,
}

/// What an address stands for.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TargetRef {
    pub kind: Str,
    pub name: Str,
    pub namespace: Str,
    pub uid: Uid,
}

#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct EndpointSlice {
    pub address_type: Str,
    #[serde(serialize_with = "null_if_empty", deserialize_with = "nullable")]
    pub endpoints: Vec<Endpoint>,
    #[serde(serialize_with = "null_if_empty", deserialize_with = "nullable")]
    pub ports: Vec<EndpointPort>,
}

#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Endpoint {
    pub addresses: Vec<Str>,
    pub conditions: EndpointConditions,
    #[serde(skip_serializing_if = "Str::is_empty")]
    pub hostname: Str,
    #[serde(skip_serializing_if = "Str::is_empty")]
    pub node_name: Str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_ref: Option<TargetRef>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct EndpointConditions {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ready: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub serving: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub terminating: Option<bool>,
}

#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Endpoints {
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "nullable")]
    pub subsets: Vec<Subset>,
}

#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Subset {
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "nullable")]
    pub addresses: Vec<Address>,
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "nullable")]
    pub not_ready_addresses: Vec<Address>,
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "nullable")]
    pub ports: Vec<EndpointPort>,
}

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Address {
    #[serde(skip_serializing_if = "Str::is_empty")]
    pub hostname: Str,
    pub ip: Str,
    #[serde(skip_serializing_if = "Str::is_empty")]
    pub node_name: Str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_ref: Option<TargetRef>,
}

/// Go's nil slices are printed as `null`.
fn null_if_empty<T: Serialize, S: serde::Serializer>(list: &[T], s: S) -> Result<S::Ok, S::Error> {
    if list.is_empty() { s.serialize_none() } else { list.serialize(s) }
}
