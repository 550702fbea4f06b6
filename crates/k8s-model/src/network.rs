//! Services and the addresses behind them.

use super::json::record;
pub use super::references::is_slice_of;
use super::spec::Spec;
use super::{Labels, Str, Uid};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::rc::Rc;

#[derive(Clone, PartialEq, Debug, Default)]
pub struct Service {
    pub spec: Rc<Spec<ServiceSpec>>,
    /// `status`, which does not change after creation.
    pub status: Value,
}

record! {
    #[derive(Clone, Debug, Default)]
    pub struct ServiceSpec {
        pub kind: Str = "type",
        pub cluster_ip: Str = "clusterIP",
        pub selector: Labels = "selector",
        pub ports: Vec<ServicePort> = "ports",
        pub publish_not_ready_addresses: bool = "publishNotReadyAddresses",
        pub external_name: Str = "externalName",
        pub traffic_distribution: Str = "trafficDistribution",
    }

    #[derive(Clone, Debug, Default)]
    pub struct ServicePort {
        pub name: Str = "name",
        pub port: i32 = "port",
        pub protocol: Str = "protocol",
        /// Number or name of a container port.
        pub target_port: Value = "targetPort",
        pub node_port: i32 = "nodePort",
        pub app_protocol: Option<Str> = "appProtocol",
    }
}

impl Endpoint {
    /// Returns true if the endpoint gets traffic: an unknown condition counts as true.
    pub fn is_ready(&self) -> bool {
        self.conditions.ready.unwrap_or(true)
    }
}

impl Service {
    pub(super) fn from_parts(spec: Option<Value>, status: Option<Value>) -> Result<Self, String> {
        Ok(Service {
            spec: Spec::from_raw(spec)?,
            status: status.unwrap_or_else(|| json!({ "loadBalancer": {} })),
        })
    }

    /// Returns true if the Service has no cluster IP.
    pub fn is_headless(&self) -> bool {
        self.spec.cluster_ip == "None"
    }
}

record! {
    /// Port of Endpoints and EndpointSlices.
    #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
    pub struct EndpointPort {
        pub app_protocol: Option<Str> = "appProtocol" omitempty,
        pub name: Option<Str> = "name" omitempty,
        pub port: i32 = "port",
        pub protocol: Str = "protocol",
    }

    /// Reference to the object behind an address.
    #[derive(Clone, PartialEq, Eq, Debug, Default)]
    pub struct TargetRef {
        pub kind: Str = "kind",
        pub name: Str = "name",
        pub namespace: Str = "namespace",
        pub uid: Uid = "uid",
    }

    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct EndpointSlice {
        pub address_type: Str = "addressType",
        pub endpoints: Vec<Endpoint> = "endpoints" nullempty,
        pub ports: Vec<EndpointPort> = "ports" nullempty,
    }

    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct Endpoint {
        pub addresses: Vec<Str> = "addresses",
        pub conditions: EndpointConditions = "conditions",
        /// Zones and nodes that should use this endpoint.
        pub hints: BTreeMap<Str, Value> = "hints" omitempty,
        pub hostname: Str = "hostname" omitempty,
        pub node_name: Str = "nodeName" omitempty,
        pub target_ref: Option<TargetRef> = "targetRef" omitempty,
        /// Zone of the node.
        pub zone: Str = "zone" omitempty,
    }

    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub struct EndpointConditions {
        pub ready: Option<bool> = "ready" omitempty,
        pub serving: Option<bool> = "serving" omitempty,
        pub terminating: Option<bool> = "terminating" omitempty,
    }

    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct Endpoints {
        pub subsets: Vec<Subset> = "subsets" omitempty,
    }

    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct Subset {
        pub addresses: Vec<Address> = "addresses" omitempty,
        pub not_ready_addresses: Vec<Address> = "notReadyAddresses" omitempty,
        pub ports: Vec<EndpointPort> = "ports" omitempty,
    }

    #[derive(Clone, PartialEq, Eq, Debug, Default)]
    pub struct Address {
        pub hostname: Str = "hostname" omitempty,
        pub ip: Str = "ip",
        pub node_name: Str = "nodeName" omitempty,
        pub target_ref: Option<TargetRef> = "targetRef" omitempty,
    }
}

/// Label with the name of the Service that an EndpointSlice belongs to.
pub const SERVICE_NAME: &str = "kubernetes.io/service-name";
