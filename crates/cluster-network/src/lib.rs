//! The network of the cluster: names, Services, policies, Ingress and Gateways.

pub mod connectivity;
pub mod dns;
pub mod gateway;
