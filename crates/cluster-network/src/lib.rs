//! Cluster network: names, Services, policies, Ingress and Gateways.

pub mod connectivity;
pub mod dns;
pub mod gateway;
