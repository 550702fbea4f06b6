//! Cluster network: names, Services, policies, Ingress and Gateways; and what the requests cost the Pods that they reach.

pub mod connectivity;
pub mod dns;
pub mod gateway;
pub mod http_client;
pub mod request_loop;
pub mod usage;
