//! Path of a request from a Pod: DNS lookup, endpoint of the Service, policies at both ends, and a listening container.
//!
//! Models the rules that `pkg/proxy/iptables/proxier.go` generates for Services: without a ready endpoint a connection is rejected;
//! packets to a port that the Service does not have are dropped.

use super::policy::{Direction, Peer, Verdict, verdict};
use crate::dns;
use crate::gateway::gateway_at;
use apiserver::Store;
use k8s_model::network::{EndpointPort, EndpointSlice, Service, ServicePort};
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
    /// Number of endpoints over which such requests rotate.
    pub choices: usize,
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
            choices: 1,
            egress,
            ingress,
        }
    }
}

/// Origin of a request.
struct RequestClient<'a> {
    /// Pod that sends the request; `None` outside the cluster.
    pod: Option<&'a Object>,
    /// Source of the packets that arrive at the server.
    seen_as: Peer<'a>,
}

impl<'a> RequestClient<'a> {
    fn pod(object: &'a Object) -> RequestClient<'a> {
        RequestClient {
            pod: Some(object),
            seen_as: Peer::pod(object),
        }
    }
}

/// Evaluates a TCP request from a Pod to a host name or an address. `turn` selects one of several endpoints.
pub fn connect(store: &Store, from: &Rc<Object>, host: &str, port: i32, turn: usize) -> Attempt {
    if matches!(host, "localhost" | "127.0.0.1") {
        return arrive(
            store,
            &RequestClient::pod(from),
            Attempt::of(RequestOutcome::Answered, "127.0.0.1"),
            from,
            port,
        );
    }
    if host.parse::<std::net::IpAddr>().is_ok() {
        return to_address(store, from, host, port, turn);
    }
    let asks = verdict(
        store,
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
    let found = dns::lookup(store, &from.meta.namespace, host);
    match found.get(turn % found.len().max(1)) {
        Some(record) => {
            let attempt = to_address(store, from, &record.address, port, turn);
            Attempt {
                choices: attempt.choices.max(found.len()),
                ..attempt
            }
        }
        None => Attempt::of(RequestOutcome::NoName, ""),
    }
}

/// Evaluates a TCP request from a Pod to each endpoint over which such requests rotate.
pub fn connect_each(store: &Store, from: &Rc<Object>, host: &str, port: i32) -> Vec<Attempt> {
    let first = connect(store, from, host, port, 0);
    let others = (1..first.choices).map(|turn| connect(store, from, host, port, turn));
    let others: Vec<Attempt> = others.collect();
    [first].into_iter().chain(others).collect()
}

/// Evaluates a ping from a Pod: a Service's virtual IP does not answer. Policies treat a ping as any other packet; only rules for every
/// port let it pass.
pub fn ping(store: &Store, from: &Rc<Object>, host: &str) -> Attempt {
    let attempt = connect(store, from, host, 0, 0);
    match (&attempt.pod, &attempt.service, attempt.outcome) {
        (_, None, RequestOutcome::Refused) => Attempt {
            outcome: RequestOutcome::Answered,
            ..attempt
        },
        (..) => attempt,
    }
}

/// Evaluates a TCP request from outside the cluster: only nodes are reachable there, on the node ports of Services.
pub fn connect_from_outside(store: &Store, host: &str, port: i32, turn: usize) -> Attempt {
    if host.parse::<std::net::IpAddr>().is_err() {
        return Attempt::of(RequestOutcome::NoName, "");
    }
    let attempt = Attempt::of(RequestOutcome::TimedOut, host);
    if let Some(gateway) = gateway_at(store, host) {
        let is_there = super::gateways::listens_at(store, gateway, port);
        return Attempt {
            outcome: if is_there {
                RequestOutcome::Answered
            } else {
                RequestOutcome::Refused
            },
            ..attempt
        };
    }
    if !is_node_address(store, host) {
        return attempt;
    }
    let client = RequestClient {
        pod: None,
        seen_as: Peer::address(host),
    };
    to_node_port(store, &client, attempt, port, turn)
}

/// Sends a request to a port of a node: only node ports of Services listen there.
fn to_node_port(
    store: &Store,
    client: &RequestClient<'_>,
    attempt: Attempt,
    port: i32,
    turn: usize,
) -> Attempt {
    let mut services = store.list(Kind::Service);
    let target = services.find_map(|object| {
        let service: &Service = object.get()?;
        let mut ports = service.spec.ports.iter();
        Some((object, ports.find(|one| one.node_port == port)?))
    });
    match target {
        Some((service, port)) => to_service(store, client, attempt, service, port, turn),
        None => Attempt {
            outcome: RequestOutcome::Refused,
            ..attempt
        },
    }
}

/// Returns one of the ready Pods of a Service.
pub fn endpoint_of(store: &Store, service: &ObjectRef, turn: usize) -> Option<Rc<Object>> {
    let service = store.get(service)?;
    let ready = store
        .slices_of(service)
        .flat_map(|slice| &slice.endpoints)
        .filter(|one| one.is_ready());
    let pods: Vec<_> = ready.filter_map(|one| one.target_ref.as_ref()).collect();
    let one = pods.get(turn % pods.len().max(1))?;
    store
        .get(&ObjectRef::new(Kind::Pod, &one.namespace, &one.name))
        .cloned()
}

fn to_address(store: &Store, from: &Object, address: &str, port: i32, turn: usize) -> Attempt {
    let attempt = Attempt::of(RequestOutcome::TimedOut, address);
    if address.parse::<std::net::IpAddr>().is_err() {
        // The target of an ExternalName is a name of the cluster, or an external one, which is not reachable from here.
        let found = dns::lookup(store, &from.meta.namespace, address);
        return match found.first().filter(|record| record.address != address) {
            Some(record) if record.address.parse::<std::net::IpAddr>().is_ok() => {
                to_address(store, from, &record.address, port, turn)
            }
            _ => attempt,
        };
    }
    if gateway_at(store, address).is_some() {
        return connect_from_outside(store, address, port, turn);
    }
    let client = RequestClient::pod(from);
    if is_node_address(store, address) {
        let own = |pod: &&Rc<Object>| {
            pod.pod()
                .is_some_and(|p| p.status.pod_ip == address && !p.is_terminal() && listens(p, port))
        };
        return match store.list(Kind::Pod).find(own) {
            Some(pod) => arrive(store, &client, attempt, pod, port),
            None => {
                // kube-proxy masquerades what comes to a node port: the server sees the client's node.
                let masqueraded = RequestClient {
                    seen_as: Peer::address(&from.body::<Pod>().status.host_ip),
                    ..client
                };
                to_node_port(store, &masqueraded, attempt, port, turn)
            }
        };
    }
    if let Some(pod) = pod_at(store, address) {
        return arrive(store, &client, attempt, pod, port);
    }
    let has = |object: &&Rc<Object>| {
        object
            .get::<Service>()
            .is_some_and(|service| service.spec.cluster_ip == address)
    };
    let Some(service) = store.list(Kind::Service).find(has) else {
        return attempt;
    };
    let body: &Service = service.body();
    match body.spec.ports.iter().find(|one| one.port == port) {
        Some(wanted) => to_service(store, &client, attempt, service, wanted, turn),
        None => Attempt {
            service: Some(service.key()),
            ..attempt
        },
    }
}

/// Returns true if a node has this address.
fn is_node_address(store: &Store, address: &str) -> bool {
    let mut nodes = store.list(Kind::Node);
    nodes.any(|node| node.body::<Node>().internal_ip() == address)
}

/// Returns the running Pod with an address.
fn pod_at<'a>(store: &'a Store, address: &str) -> Option<&'a Rc<Object>> {
    store.list(Kind::Pod).find(|object| {
        let pod: &Pod = object.body();
        pod.status.pod_ip == address && !pod.is_terminal()
    })
}

/// Sends a request to an endpoint of a Service's port; consecutive requests rotate over the ready endpoints.
fn to_service(
    store: &Store,
    client: &RequestClient<'_>,
    attempt: Attempt,
    service: &Object,
    wanted: &ServicePort,
    turn: usize,
) -> Attempt {
    let attempt = Attempt {
        service: Some(service.key()),
        ..attempt
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
    let all: Vec<(Str, i32)> = store
        .slices_of(service)
        .filter_map(ready)
        .flatten()
        .collect();
    let attempt = Attempt {
        choices: all.len().max(1),
        ..attempt
    };
    match all.get(turn % all.len().max(1)) {
        None => Attempt {
            outcome: RequestOutcome::Refused,
            ..attempt
        },
        Some((address, port)) => match pod_at(store, address) {
            Some(pod) => arrive(store, client, attempt, pod, *port),
            None => Attempt {
                port: *port,
                ..attempt
            },
        },
    }
}

/// Completes a request: policies at both ends, then a container that listens.
fn arrive(
    store: &Store,
    client: &RequestClient<'_>,
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
    if client.pod.is_none_or(|from| from.meta.uid != pod.meta.uid) {
        if let Some(from) = client.pod {
            attempt.egress = verdict(store, Direction::Egress, from, &Peer::pod(pod), port, "TCP");
        }
        attempt.ingress = verdict(store, Direction::Ingress, pod, &client.seen_as, port, "TCP");
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

/// Returns the container of a Pod that serves a port: the one that listens there, or else the first.
pub fn server_of(pod: &Pod, port: i32) -> Option<&Container> {
    let containers = &pod.spec.containers;
    let listener = containers
        .iter()
        .find(|container| ports_of([*container]).contains(&port));
    listener.or(containers.first())
}

/// Maximum number of ready Pods of a Service to check for a listener: the Pods of one Service are mostly alike.
const MAX_PODS_ASKED: usize = 8;

/// Returns the first port of a Service on which none of its ready Pods listens, and one of these Pods.
pub fn unanswered_port<'a>(
    store: &'a Store,
    service: &'a Object,
) -> Option<(&'a EndpointPort, &'a Rc<Object>)> {
    store.slices_of(service).find_map(|slice| {
        let ready = slice
            .endpoints
            .iter()
            .filter(|one| one.is_ready())
            .filter_map(|one| one.target_ref.as_ref());
        let pods = ready
            .take(MAX_PODS_ASKED)
            .filter_map(|to| store.get(&ObjectRef::new(Kind::Pod, &to.namespace, &to.name)));
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
