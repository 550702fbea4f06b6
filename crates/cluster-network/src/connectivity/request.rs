//! Path of a request from a Pod: DNS lookup, endpoint of the Service, policies at both ends, and a listening container.
//!
//! Models the rules that `pkg/proxy/iptables/proxier.go` generates for Services: without a ready endpoint a connection is rejected;
//! packets to a port that the Service does not have are dropped.

use super::policy::{Direction, Peer, Verdict, verdict};
use crate::dns;
use crate::gateway::gateway_at;
use apiserver::ApiServer;
use k8s_model::network::{EndpointPort, EndpointSlice, Service};
use k8s_model::node::Node;
use k8s_model::pod::{Container, Pod, image_parts};
use k8s_model::{Kind, Object, ObjectRef, Str};
use std::rc::Rc;

/// Outcome of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RequestOutcome {
    /// The request is answered.
    Answered,
    /// DNS has no record of the name.
    NoName,
    /// The name server is unreachable.
    NoNameServer,
    /// The port has no listener, or the Service has no ready endpoint.
    Refused,
    /// A policy drops the request, or the address or port does not exist.
    TimedOut,
}

/// Returns host and port of an address such as `name:8080`, `http://name/path` or `https://name`.
pub fn host_and_port(url: &str) -> (&str, i32) {
    let (scheme, rest) = url.split_once("://").unwrap_or(("http", url));
    let place = rest.split(['/', '?', '#']).next().unwrap_or("");
    let default = if scheme == "https" { 443 } else { 80 };
    place
        .rsplit_once(':')
        .map_or((place, default), |(host, port)| {
            (host, port.parse().unwrap_or(default))
        })
}

/// Request with its outcome.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// Outcome.
    pub outcome: RequestOutcome,
    /// Destination address; empty if the name does not resolve.
    pub address: Str,
    /// Service with this address.
    pub service: Option<ObjectRef>,
    /// Pod that the request was sent to.
    pub pod: Option<Rc<Object>>,
    /// Port of that Pod.
    pub port: i32,
    /// Verdict at the client Pod.
    pub egress: Verdict,
    /// Verdict at the server Pod.
    pub ingress: Verdict,
}

impl Attempt {
    fn of(outcome: RequestOutcome, address: &str) -> Attempt {
        let (egress, ingress) = (Verdict::Open, Verdict::Open);
        Attempt {
            outcome,
            address: address.into(),
            service: None,
            pod: None,
            port: 0,
            egress,
            ingress,
        }
    }
}

/// Evaluates a TCP request from a Pod to a host name or an address. `turn` selects one of several endpoints.
pub fn connect(
    server: &ApiServer,
    from: &Rc<Object>,
    host: &str,
    port: i32,
    turn: usize,
) -> Attempt {
    if matches!(host, "localhost" | "127.0.0.1") {
        return arrive(
            server,
            from,
            Attempt::of(RequestOutcome::Answered, "127.0.0.1"),
            from,
            port,
        );
    }
    if host.parse::<std::net::IpAddr>().is_ok() {
        return to_address(server, from, host, port, turn);
    }
    let asks = verdict(
        server,
        Direction::Egress,
        from,
        &Peer::name_server(),
        53,
        "UDP",
    );
    if asks.is_denied() {
        return Attempt {
            egress: asks,
            ..Attempt::of(RequestOutcome::NoNameServer, "")
        };
    }
    let found = dns::lookup(server, &from.meta.namespace, host);
    match found.get(turn % found.len().max(1)) {
        Some(record) => to_address(server, from, &record.address, port, turn),
        None => Attempt::of(RequestOutcome::NoName, ""),
    }
}

/// Evaluates a ping from a Pod: a Service's virtual IP does not answer. Policies treat a ping as any other packet; only rules for every
/// port let it pass.
pub fn ping(server: &ApiServer, from: &Rc<Object>, host: &str) -> Attempt {
    let attempt = connect(server, from, host, 0, 0);
    match (&attempt.pod, &attempt.service, attempt.outcome) {
        (_, None, RequestOutcome::Refused) => Attempt {
            outcome: RequestOutcome::Answered,
            ..attempt
        },
        (..) => attempt,
    }
}

/// Evaluates a TCP request from outside the cluster: only nodes are reachable there, on the node ports of Services.
pub fn connect_from_outside(server: &ApiServer, host: &str, port: i32, turn: usize) -> Attempt {
    if host.parse::<std::net::IpAddr>().is_err() {
        return Attempt::of(RequestOutcome::NoName, "");
    }
    let attempt = Attempt::of(RequestOutcome::TimedOut, host);
    if let Some(gateway) = gateway_at(server, host) {
        let is_there = super::gateways::listens_at(server, gateway, port);
        return Attempt {
            outcome: if is_there {
                RequestOutcome::Answered
            } else {
                RequestOutcome::Refused
            },
            ..attempt
        };
    }
    if !server
        .list(Kind::Node)
        .any(|node| node.body::<Node>().internal_ip() == host)
    {
        return attempt;
    }
    let opens = |service: &&Rc<Object>| {
        service
            .get::<Service>()
            .is_some_and(|body| body.spec.ports.iter().any(|one| one.node_port == port))
    };
    // No other port of a node listens.
    let Some(service) = server.list(Kind::Service).find(opens) else {
        return Attempt {
            outcome: RequestOutcome::Refused,
            ..attempt
        };
    };
    match (
        endpoint_of(server, &service.key(), turn),
        Attempt {
            service: Some(service.key()),
            ..attempt
        },
    ) {
        (Some(pod), attempt) => {
            let port = service
                .body::<Service>()
                .spec
                .ports
                .iter()
                .find(|one| one.node_port == port);
            let to = port
                .and_then(|one| one.target_port.as_i64())
                .map_or(0, |port| port as i32);
            let refused = to > 0 && !listens(pod.body(), to);
            Attempt {
                outcome: if refused {
                    RequestOutcome::Refused
                } else {
                    RequestOutcome::Answered
                },
                pod: Some(pod),
                port: to,
                ..attempt
            }
        }
        (None, attempt) => Attempt {
            outcome: RequestOutcome::Refused,
            ..attempt
        },
    }
}

/// Returns one of the ready Pods of a Service.
pub fn endpoint_of(server: &ApiServer, service: &ObjectRef, turn: usize) -> Option<Rc<Object>> {
    let service = server.get(service)?;
    let ready = server
        .slices_of(service)
        .flat_map(|slice| &slice.endpoints)
        .filter(|one| one.is_ready());
    let pods: Vec<_> = ready.filter_map(|one| one.target_ref.as_ref()).collect();
    let one = pods.get(turn % pods.len().max(1))?;
    server
        .get(&ObjectRef::new(Kind::Pod, &one.namespace, &one.name))
        .cloned()
}

fn to_address(server: &ApiServer, from: &Object, address: &str, port: i32, turn: usize) -> Attempt {
    let attempt = Attempt::of(RequestOutcome::TimedOut, address);
    let with = |address: &str| {
        server.list(Kind::Pod).find(|pod| {
            pod.pod()
                .is_some_and(|p| p.status.pod_ip == address && !p.is_terminal())
        })
    };
    if address.parse::<std::net::IpAddr>().is_err() {
        // The target of an ExternalName is a name of the cluster, or an external one, which is not reachable from here.
        let found = dns::lookup(server, &from.meta.namespace, address);
        return match found.first().filter(|record| record.address != address) {
            Some(record) if record.address.parse::<std::net::IpAddr>().is_ok() => {
                to_address(server, from, &record.address, port, turn)
            }
            _ => attempt,
        };
    }
    if gateway_at(server, address).is_some() {
        return connect_from_outside(server, address, port, turn);
    }
    if server
        .list(Kind::Node)
        .any(|node| node.body::<Node>().internal_ip() == address)
    {
        let own = |pod: &&Rc<Object>| {
            pod.pod()
                .is_some_and(|p| p.status.pod_ip == address && !p.is_terminal() && listens(p, port))
        };
        return match server.list(Kind::Pod).find(own) {
            Some(pod) => arrive(server, from, attempt, pod, port),
            None => connect_from_outside(server, address, port, turn),
        };
    }
    if let Some(pod) = with(address) {
        return arrive(server, from, attempt, pod, port);
    }
    let has = |object: &&Rc<Object>| {
        object
            .get::<Service>()
            .is_some_and(|service| service.spec.cluster_ip == address)
    };
    let Some(service) = server.list(Kind::Service).find(has) else {
        return attempt;
    };
    let attempt = Attempt {
        service: Some(service.key()),
        ..attempt
    };
    let body: &Service = service.body();
    let Some(wanted) = body.spec.ports.iter().find(|one| one.port == port) else {
        return attempt;
    };
    let ready = |slice: &EndpointSlice| {
        let of = |one: &&k8s_model::network::EndpointPort| {
            one.name.as_deref().unwrap_or("") == wanted.name
        };
        let port = slice.ports.iter().find(of).map(|one| one.port)?;
        let ready = slice.endpoints.iter().filter(|one| one.is_ready());
        Some(
            ready
                .filter_map(|one| Some((one.addresses.first()?.clone(), port)))
                .collect::<Vec<_>>(),
        )
    };
    let all: Vec<(Str, i32)> = server
        .slices_of(service)
        .filter_map(ready)
        .flatten()
        .collect();
    // Consecutive requests rotate over the endpoints.
    match all.get(turn % all.len().max(1)) {
        None => Attempt {
            outcome: RequestOutcome::Refused,
            ..attempt
        },
        Some((address, port)) => match with(address) {
            Some(pod) => arrive(server, from, attempt, pod, *port),
            None => Attempt {
                port: *port,
                ..attempt
            },
        },
    }
}

/// Completes a request: policies at both ends, then a container that listens.
fn arrive(
    server: &ApiServer,
    from: &Object,
    attempt: Attempt,
    pod: &Rc<Object>,
    port: i32,
) -> Attempt {
    let mut attempt = Attempt {
        pod: Some(pod.clone()),
        port,
        ..attempt
    };
    // A Pod's requests to itself bypass all policies.
    if from.meta.uid != pod.meta.uid {
        attempt.egress = verdict(
            server,
            Direction::Egress,
            from,
            &Peer::pod(pod),
            port,
            "TCP",
        );
        attempt.ingress = verdict(
            server,
            Direction::Ingress,
            pod,
            &Peer::pod(from),
            port,
            "TCP",
        );
    }
    attempt.outcome = match () {
        () if attempt.egress.is_denied() || attempt.ingress.is_denied() => RequestOutcome::TimedOut,
        () if listens(pod.body(), port) => RequestOutcome::Answered,
        () => RequestOutcome::Refused,
    };
    attempt
}

/// Ports of well-known images, since no manifest says what a process listens on.
const KNOWN_PORTS: [(&str, i32); 9] = [
    ("nginx", 80),
    ("httpd", 80),
    ("redis", 6379),
    ("mysql", 3306),
    ("mariadb", 3306),
    ("postgres", 5432),
    ("mongo", 27017),
    ("hpa-example", 80),
    ("wordpress", 80),
];

/// Returns true if a container of the Pod listens on a port: one that it declares or that its image is known for. If neither is known for
/// the Pod, every port is assumed to be open.
pub fn listens(pod: &Pod, port: i32) -> bool {
    // A container that waits to be restarted does not listen.
    let runs = |name: &Str| {
        pod.status
            .container_statuses
            .iter()
            .any(|status| status.name == *name && status.state.running.is_some())
    };
    let running: Vec<_> = pod
        .spec
        .containers
        .iter()
        .filter(|one| runs(&one.name))
        .collect();
    !running.is_empty() && is_among(&ports_of(running), port)
}

/// Maximum number of ready Pods of a Service to check for a listener: the Pods of one Service are mostly alike.
const MAX_PODS_ASKED: usize = 8;

/// Returns the first port of a Service on which none of its ready Pods listens, and one of these Pods.
pub fn unanswered_port<'a>(
    server: &'a ApiServer,
    service: &'a Object,
) -> Option<(&'a EndpointPort, &'a Rc<Object>)> {
    server.slices_of(service).find_map(|slice| {
        let ready = slice
            .endpoints
            .iter()
            .filter(|one| one.is_ready())
            .filter_map(|one| one.target_ref.as_ref());
        let pods = ready
            .take(MAX_PODS_ASKED)
            .filter_map(|to| server.get(&ObjectRef::new(Kind::Pod, &to.namespace, &to.name)));
        let pods: Vec<&Rc<Object>> = pods.collect();
        let port = slice
            .ports
            .iter()
            .find(|port| pods.iter().all(|pod| !listens(pod.body(), port.port)))?;
        Some((port, *pods.first()?))
    })
}

/// Returns true if a container of a Pod would listen on a port, once it runs.
pub fn would_listen(containers: &[Container], port: i32) -> bool {
    is_among(&ports_of(containers), port)
}

fn is_among(ports: &[i32], port: i32) -> bool {
    ports.is_empty() || ports.contains(&port)
}

/// Returns the ports that containers declare or that their images are known for.
pub fn ports_of<'a>(containers: impl IntoIterator<Item = &'a Container>) -> Vec<i32> {
    let known = |image: &str| {
        let name = image_parts(image).0;
        let name = name.rsplit('/').next().unwrap_or(name);
        KNOWN_PORTS
            .iter()
            .find(|(of, _)| *of == name)
            .map(|(_, port)| *port)
    };
    let of = |one: &'a Container| {
        one.ports
            .iter()
            .map(|port| port.container_port)
            .chain(known(&one.image))
    };
    let mut ports: Vec<i32> = containers.into_iter().flat_map(of).collect();
    ports.dedup();
    ports
}
