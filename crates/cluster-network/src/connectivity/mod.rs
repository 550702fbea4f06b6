//! Connectivity: evaluates whether a request reaches its target, through names, Services, ports, NetworkPolicies, Ingress rules and
//! Gateways.
//!
//! Nothing is sent: every request is evaluated on the current objects. It serves only the simulation's own requests (a command in a
//! container, the path that a diagram follows); no controller depends on it.

mod gateways;
mod policy;
mod request;
mod routing;

pub use gateways::{HttpRequest, Led, backend_of, routes_of, through_gateway};
pub use policy::{Direction, Peer, Verdict, allows_no_pod, policies_of, verdict};
pub use request::{
    Attempt, RequestOutcome, connect, connect_each, connect_from_outside, endpoint_of,
    host_and_port, ping, ports_of, server_of, unanswered_port, would_listen,
};
pub use routing::{Backend, Routed, class_of, ingress_backend, route, serves_ingresses};
