//! Ingress routing: the rule that matches a host and a path, and its backend.
//!
//! Hosts and paths match as in the API (`staging/src/k8s.io/api/networking/v1/types.go`): an exact host before a wildcard before none, an
//! exact path before the longest prefix.

use super::policy::{Direction, Peer, Verdict, verdict};
use apiserver::Store;
use k8s_model::ingress::{BackendPort, IngressBackend, IngressPath, IngressSpec, address};
use k8s_model::network::{Endpoint, Service, ServicePort};
use k8s_model::{Kind, Object, ObjectRef};
use std::rc::Rc;

/// State of an Ingress backend.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Backend {
    /// 503: no Service of this name.
    NoService,
    /// 503: the Service has no such port.
    NoPort,
    /// 503: the Service has no ready endpoint.
    NoEndpoints,
    /// 504: NetworkPolicies block the controller's connection to every endpoint.
    Denied(Vec<ObjectRef>),
    /// Number of ready endpoints.
    Ready(usize),
}

/// Routing result for a host and a path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Routed {
    /// 404: no rule matches.
    NoRule,
    /// A rule, or the default backend, matches.
    To {
        /// Matching Ingress.
        ingress: ObjectRef,
        /// Service, if the backend is one.
        service: Option<ObjectRef>,
        /// State of the backend.
        backend: Backend,
    },
}

/// Returns the IngressClass of an Ingress, if it exists: only then a controller serves the Ingress.
pub fn class_of<'a>(store: &'a Store, ingress: &Object) -> Option<&'a Rc<Object>> {
    let spec = IngressSpec::of(ingress);
    let class = spec.class(ingress);
    store
        .get(&ObjectRef::new(Kind::IngressClass, "", class))
        .filter(|_| !class.is_empty())
}

/// Returns true if an ingress controller serves at an address.
pub fn serves_ingresses(store: &Store, at: &str) -> bool {
    store
        .list(Kind::Ingress)
        .any(|ingress| address(ingress) == Some(at))
}

/// Returns the state of an Ingress backend in this namespace, as seen by the ingress controller.
pub fn ingress_backend(
    store: &Store,
    namespace: &str,
    of: &IngressBackend,
) -> (Option<ObjectRef>, Backend) {
    let (key, found) = backend(store, namespace, of);
    let denied = key
        .as_ref()
        .filter(|_| matches!(found, Backend::Ready(_)))
        .and_then(|key| all_denied(store, key, of));
    (key, denied.map_or(found, Backend::Denied))
}

/// Returns the policies that block the controller's connection to all ready Pods of a Service, or `None` if one is reachable.
fn all_denied(store: &Store, service: &ObjectRef, of: &IngressBackend) -> Option<Vec<ObjectRef>> {
    let object = store.get(service)?;
    let named = port_of(object.body(), &of.service.as_ref()?.port)?;
    let mut denied = None;
    for (endpoint, port) in ready_endpoints(store, object, &named.name) {
        let Some(to) = &endpoint.target_ref else {
            continue;
        };
        let pod = store.get(&ObjectRef::new(Kind::Pod, &to.namespace, &to.name))?;
        match verdict(
            store,
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

/// Returns the state of a backend, regardless of policies.
pub fn backend(
    store: &Store,
    namespace: &str,
    backend: &IngressBackend,
) -> (Option<ObjectRef>, Backend) {
    let Some(named) = &backend.service else {
        return (None, Backend::NoService);
    };
    let key = ObjectRef::new(Kind::Service, namespace, &named.name);
    let Some(object) = store.get(&key) else {
        return (Some(key), Backend::NoService);
    };
    let Some(port) = port_of(object.body(), &named.port) else {
        return (Some(key), Backend::NoPort);
    };
    let ready = ready_endpoints(store, object, &port.name).count();
    (
        Some(key),
        if ready == 0 {
            Backend::NoEndpoints
        } else {
            Backend::Ready(ready)
        },
    )
}

/// Returns the Service port of a backend, by its name or by its number.
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

/// Returns the ready endpoints of a named Service port, each with the port of the Pod.
pub(super) fn ready_endpoints<'a>(
    store: &'a Store,
    service: &'a Object,
    port: &'a str,
) -> impl Iterator<Item = (&'a Endpoint, i32)> {
    store.slices_of(service).flat_map(move |slice| {
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

/// Routes a request for a host and a path. Only Ingresses with an address are served.
pub fn route(store: &Store, host: &str, wanted: &str) -> Routed {
    let served: Vec<(&Rc<Object>, IngressSpec)> = store
        .list(Kind::Ingress)
        .filter(|ingress| address(ingress).is_some())
        .map(|ingress| (ingress, IngressSpec::of(ingress)))
        .collect();
    // Only rules with the best host are considered: there is no fallback to a path of another host.
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
            // Of equal matches the first by name wins here; upstream the oldest.
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
    let (service, backend) = ingress_backend(store, &ingress.meta.namespace, of);
    Routed::To {
        ingress: ingress.key(),
        service,
        backend,
    }
}

/// Rank of a path: its length, then whether it is exact.
type PathRank = (usize, bool);

/// Ranks the host of a rule; `None` if it does not match.
fn host_rank(rule: &str, host: &str) -> Option<u8> {
    if rule.is_empty() {
        return Some(1);
    }
    if rule.eq_ignore_ascii_case(host) {
        return Some(3);
    }
    // A wildcard matches exactly one label.
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
