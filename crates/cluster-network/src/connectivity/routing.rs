//! Ingress rules: which of them matches a host and a path, and what is behind it.
//!
//! Hosts and paths match as the API says (`staging/src/k8s.io/api/networking/v1/types.go`): an exact host before a wildcard before
//! none, an exact path before the longest prefix.

use super::policy::{Direction, Peer, Verdict, verdict};
use apiserver::ApiServer;
use k8s_model::ingress::{BackendPort, IngressBackend, IngressPath, IngressSpec, address};
use k8s_model::network::{Endpoint, Service, ServicePort};
use k8s_model::{Kind, Object, ObjectRef};
use std::rc::Rc;

/// What is behind a backend of an Ingress.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Backend {
    /// There is no Service of this name: 503.
    NoService,
    /// The Service has no such port: 503.
    NoPort,
    /// The Service has no ready endpoint: 503.
    NoEndpoints,
    /// NetworkPolicies keep the controller from each of them: 504.
    Denied(Vec<ObjectRef>),
    /// So many endpoints are ready.
    Ready(usize),
}

/// Where a request for a host and a path is led.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Routed {
    /// No rule matches: 404.
    NoRule,
    /// A rule, or the default backend, names a Service.
    To {
        /// The Ingress.
        ingress: ObjectRef,
        /// The Service, if the backend is one.
        service: Option<ObjectRef>,
        /// What is behind it.
        backend: Backend,
    },
}

/// The IngressClass of an Ingress, if it exists: only then a controller serves it.
pub fn class_of<'a>(server: &'a ApiServer, ingress: &Object) -> Option<&'a Rc<Object>> {
    let spec = IngressSpec::of(ingress);
    let class = spec.class(ingress);
    server
        .get(&ObjectRef::new(Kind::IngressClass, "", class))
        .filter(|_| !class.is_empty())
}

/// Returns true if an ingress controller serves at an address.
pub fn serves_ingresses(server: &ApiServer, at: &str) -> bool {
    server
        .list(Kind::Ingress)
        .any(|ingress| address(ingress) == Some(at))
}

/// What is behind a backend of an Ingress in this namespace, for the controller that serves Ingresses.
pub fn ingress_backend(
    server: &ApiServer,
    namespace: &str,
    of: &IngressBackend,
) -> (Option<ObjectRef>, Backend) {
    let (key, found) = backend(server, namespace, of);
    let denied = key
        .as_ref()
        .filter(|_| matches!(found, Backend::Ready(_)))
        .and_then(|key| all_denied(server, key, of));
    (key, denied.map_or(found, Backend::Denied))
}

/// The policies that keep the controller from the ready Pods of a Service, if they keep it from all.
fn all_denied(
    server: &ApiServer,
    service: &ObjectRef,
    of: &IngressBackend,
) -> Option<Vec<ObjectRef>> {
    let object = server.get(service)?;
    let named = port_of(object.body(), &of.service.as_ref()?.port)?;
    let mut denied = None;
    for (endpoint, port) in ready_endpoints(server, object, &named.name) {
        let Some(to) = &endpoint.target_ref else {
            continue;
        };
        let pod = server.get(&ObjectRef::new(Kind::Pod, &to.namespace, &to.name))?;
        match verdict(
            server,
            Direction::Ingress,
            pod,
            &Peer::ingress_controller(),
            port,
            "TCP",
        ) {
            Verdict::Denied { policies } => denied = Some(policies),
            _ => return None,
        }
    }
    denied
}

/// What is behind a backend, whoever asks.
pub fn backend(
    server: &ApiServer,
    namespace: &str,
    backend: &IngressBackend,
) -> (Option<ObjectRef>, Backend) {
    let Some(named) = &backend.service else {
        return (None, Backend::NoService);
    };
    let key = ObjectRef::new(Kind::Service, namespace, &named.name);
    let Some(object) = server.get(&key) else {
        return (Some(key), Backend::NoService);
    };
    let Some(port) = port_of(object.body(), &named.port) else {
        return (Some(key), Backend::NoPort);
    };
    let ready = ready_endpoints(server, object, &port.name).count();
    (
        Some(key),
        if ready == 0 {
            Backend::NoEndpoints
        } else {
            Backend::Ready(ready)
        },
    )
}

/// The port of a Service that a backend asks for, by its name or by its number.
fn port_of<'a>(service: &'a Service, wanted: &BackendPort) -> Option<&'a ServicePort> {
    let is = |port: &&ServicePort| {
        if wanted.name.is_empty() {
            port.port == wanted.number
        } else {
            port.name == wanted.name
        }
    };
    service.spec.ports.iter().find(is)
}

/// The ready endpoints of a Service at its port of a name, each with the port of the Pod.
pub(super) fn ready_endpoints<'a>(
    server: &'a ApiServer,
    service: &'a Object,
    port: &'a str,
) -> impl Iterator<Item = (&'a Endpoint, i32)> {
    server.slices_of(service).flat_map(move |slice| {
        let at = slice
            .ports
            .iter()
            .find(|one| one.name.as_deref().unwrap_or("") == port)
            .map(|one| one.port);
        slice
            .endpoints
            .iter()
            .filter(|one| one.is_ready())
            .filter_map(move |one| Some((one, at?)))
    })
}

/// Where the controller leads a request for a host and a path. Only Ingresses that have an address are served.
pub fn route(server: &ApiServer, host: &str, wanted: &str) -> Routed {
    let served: Vec<(&Rc<Object>, IngressSpec)> = server
        .list(Kind::Ingress)
        .filter(|ingress| address(ingress).is_some())
        .map(|ingress| (ingress, IngressSpec::of(ingress)))
        .collect();
    // The best match of the host alone decides which rules are read: a path of another host is not fallen back to.
    let hosts = served
        .iter()
        .flat_map(|(_, spec)| &spec.rules)
        .filter_map(|rule| host_rank(&rule.host, host));
    let of_host = hosts.max();
    let mut best: Option<(PathRank, &Object, &IngressBackend)> = None;
    for (ingress, spec) in &served {
        let rules = spec
            .rules
            .iter()
            .filter(|rule| of_host.is_some() && host_rank(&rule.host, host) == of_host);
        for path in rules.flat_map(|rule| &rule.http.paths) {
            // Of equals the first by name wins here; upstream the oldest.
            if let Some(rank) =
                path_rank(path, wanted).filter(|rank| best.is_none_or(|(other, ..)| *rank > other))
            {
                best = Some((rank, ingress, &path.backend));
            }
        }
    }
    let default = || {
        served
            .iter()
            .find_map(|(ingress, spec)| Some((&***ingress, spec.default_backend.as_ref()?)))
    };
    let Some((ingress, of)) = best.map(|(_, ingress, of)| (ingress, of)).or_else(default) else {
        return Routed::NoRule;
    };
    let (service, backend) = ingress_backend(server, &ingress.meta.namespace, of);
    Routed::To {
        ingress: ingress.key(),
        service,
        backend,
    }
}

/// How well a path matches: its length, then whether it is exact.
type PathRank = (usize, bool);

/// How well the host of a rule matches.
fn host_rank(rule: &str, host: &str) -> Option<u8> {
    if rule.is_empty() {
        return Some(1);
    }
    if rule.eq_ignore_ascii_case(host) {
        return Some(3);
    }
    // A wildcard stands for one label.
    let (rest, (label, domain)) = (rule.strip_prefix("*.")?, host.split_once('.')?);
    (!label.is_empty() && rest.eq_ignore_ascii_case(domain)).then_some(2)
}

fn path_rank(rule: &IngressPath, path: &str) -> Option<PathRank> {
    let wanted = rule.path.as_str();
    let exact = rule.path_type == "Exact";
    let fits = match rule.path_type.as_str() {
        "Exact" => wanted == path,
        // Whole elements: `/foo` matches `/foo/bar` and not `/foobar`.
        "Prefix" => {
            let wanted = wanted.trim_end_matches('/');
            path.strip_prefix(wanted)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        }
        _ => path.starts_with(wanted),
    };
    fits.then_some((wanted.len(), exact))
}
