//! Requests to a Gateway's address: the listener that accepts one, the matching route and rule, and the backend.
//!
//! Precedence is that of the API (`sigs.k8s.io/gateway-api/apis/v1/httproute_types.go`, `HTTPRouteSpec` and `HTTPRouteRule`); as with
//! NGINX, the best host name decides first, and a path that its routes do not have is not searched for elsewhere. The proxy is assumed to
//! run in the Gateway's namespace, with the labels that NGINX Gateway Fabric gives its Pods, which NetworkPolicies match.

use super::policy::{Direction, Peer, verdict};
use super::request::listens;
use super::routing::{Backend, backend, ready_endpoints};
use crate::gateway::{RefFault, all, attach, fault_of, resolve};
use apiserver::Store;
use k8s_model::gateway::{
    BackendRef, GatewaySpec, HTTP_ROUTE, HttpMatch, HttpRouteSpec, HttpRule, Listener, Redirect,
    ValueMatch, address_of, common_host, host_rank, status_of,
};
use k8s_model::go_regex::GoRegex;
use k8s_model::ingress::{BackendPort, BackendService, IngressBackend};
use k8s_model::network::Endpoint;
use k8s_model::{Kind, Object, ObjectRef, Str};
use std::rc::Rc;

/// HTTP request as a listener receives it.
#[derive(Clone, Debug, Default)]
pub struct HttpRequest<'a> {
    /// Scheme, `http` or `https`.
    pub scheme: &'a str,
    /// Host header.
    pub host: &'a str,
    /// Destination port.
    pub port: i32,
    /// Method, such as `GET`.
    pub method: &'a str,
    /// Path without the query.
    pub path: &'a str,
    /// Query without the question mark.
    pub query: &'a str,
    /// Header names and values.
    pub headers: Vec<(&'a str, &'a str)>,
}

/// Outcome of a request at a Gateway.
#[derive(Clone, Debug)]
pub enum Led {
    /// Connection refused: no listener on this port.
    Refused,
    /// 404: no route matches.
    NoRoute,
    /// Redirect of the client.
    Redirected {
        /// Status code.
        status: u16,
        /// Target URL.
        location: String,
    },
    /// 500: the backend reference does not resolve, or there is none.
    Unresolved,
    /// 503: the backend has no ready endpoint.
    NotReady,
    /// 502: the Pod does not listen on the port.
    NotListening,
    /// 504: a NetworkPolicy blocks the proxy's connection to the Pod.
    Denied,
    /// Answer from a Pod.
    Answered(Rc<Object>),
}

/// Returns the backend of a route's reference: the Service, and the number of its ready endpoints.
pub fn backend_of(
    store: &Store,
    route: &Object,
    to: &BackendRef,
) -> Result<(ObjectRef, Backend), RefFault> {
    let (key, _) = resolve(store, route, to)?;
    let port = BackendPort {
        name: Str::default(),
        number: to.port.unwrap_or(0),
    };
    let of = IngressBackend {
        service: Some(BackendService {
            name: key.name.clone(),
            port,
        }),
    };
    let (_, found) = backend(store, &key.namespace, &of);
    Ok((key, found))
}

/// Returns the routes attached to a Gateway, each with its listeners, once the controller has accepted it.
pub fn routes_of(
    store: &Store,
    gateway: &Object,
) -> Vec<(Rc<Object>, HttpRouteSpec, Vec<Listener>)> {
    let key = gateway.key();
    let of = |route: &Rc<Object>| {
        let spec = HttpRouteSpec::of(route);
        let own = spec
            .parent_refs
            .iter()
            .filter(|by| by.names(&route.meta.namespace, &key));
        let listeners: Vec<Listener> = own
            .filter_map(|by| attach(store, gateway, (route, &spec), by).ok())
            .flatten()
            .collect();
        let parents = status_of(route)["parents"].as_array().into_iter().flatten();
        let is_told = parents
            .clone()
            .any(|parent| k8s_model::gateway::holds(parent, "Accepted"));
        (is_told && !listeners.is_empty()).then(|| (route.clone(), spec, listeners))
    };
    let mut routes: Vec<_> = all(store, HTTP_ROUTE).into_iter().filter_map(of).collect();
    // Of equal matches the oldest wins, then the first by name.
    routes.sort_by(|(a, ..), (b, ..)| {
        (a.meta.creation_timestamp, &a.meta.namespace, &a.meta.name).cmp(&(
            b.meta.creation_timestamp,
            &b.meta.namespace,
            &b.meta.name,
        ))
    });
    routes
}

/// Returns true if a listener of a Gateway is served on a port.
pub(super) fn listens_at(store: &Store, gateway: &Object, port: i32) -> bool {
    let spec = GatewaySpec::of(gateway);
    spec.listeners.iter().any(|listener| {
        listener.port == port && fault_of(store, gateway, &spec, listener).is_none()
    })
}

/// Returns the outcome of a request at a Gateway that has an address. `turn` selects one of several backends and endpoints.
pub fn through_gateway(
    store: &Store,
    gateway: &Object,
    request: &HttpRequest<'_>,
    turn: usize,
) -> Led {
    let spec = GatewaySpec::of(gateway);
    let takes = |listener: &&Listener| {
        listener.port == request.port
            && listener.protocol.eq_ignore_ascii_case(request.scheme)
            && fault_of(store, gateway, &spec, listener).is_none()
    };
    let mut at_port = spec.listeners.iter().filter(takes).peekable();
    if at_port.peek().is_none() {
        return Led::Refused;
    }
    let ranked = at_port
        .filter_map(|listener| Some((host_rank(&listener.hostname, request.host)?, listener)));
    let Some((_, listener)) = ranked.max_by_key(|(rank, _)| *rank) else {
        return Led::NoRoute;
    };
    let routes = routes_of(store, gateway);
    let attached: Vec<_> = routes
        .iter()
        .filter(|(.., listeners)| listeners.iter().any(|one| one.name == listener.name))
        .collect();
    // Only rules with the best host name are considered.
    let hosts = |spec: &HttpRouteSpec| best_host(listener, spec, request.host);
    let Some(best) = attached.iter().filter_map(|(_, spec, _)| hosts(spec)).max() else {
        return Led::NoRoute;
    };
    let mut found: Option<(MatchRank, &Object, &HttpRule, &HttpMatch)> = None;
    for (route, spec, _) in attached
        .iter()
        .filter(|(_, spec, _)| hosts(spec) == Some(best))
    {
        for (rule, one) in spec
            .rules
            .iter()
            .flat_map(|rule| rule.matches.iter().map(move |one| (rule, one)))
        {
            if let Some(rank) = match_rank(one, request)
                .filter(|rank| found.as_ref().is_none_or(|(other, ..)| rank > other))
            {
                found = Some((rank, route, rule, one));
            }
        }
    }
    let Some((_, route, rule, one)) = found else {
        return Led::NoRoute;
    };
    if let Some(redirect) = rule
        .filters
        .iter()
        .find_map(|filter| filter.request_redirect.as_ref())
    {
        return redirected(redirect, one, request);
    }
    // A filter of an unknown kind must not be skipped.
    if rule
        .filters
        .iter()
        .any(|filter| filter.kind == "ExtensionRef")
    {
        return Led::Unresolved;
    }
    let Some(to) = picked(&rule.backend_refs, turn) else {
        return Led::Unresolved;
    };
    arrive(store, gateway, route, to, turn)
}

/// Returns the backend for a turn: each gets its share of consecutive requests.
fn picked(backends: &[BackendRef], turn: usize) -> Option<&BackendRef> {
    let total: usize = backends.iter().map(BackendRef::share).sum();
    let mut left = turn.checked_rem(total)?;
    backends.iter().find(|to| {
        let is_it = left < to.share();
        left = left.saturating_sub(to.share());
        is_it
    })
}

/// Completes a request: a ready endpoint, the policies of its Pod, a container that listens.
fn arrive(store: &Store, gateway: &Object, route: &Object, to: &BackendRef, turn: usize) -> Led {
    let Ok((key, name)) = resolve(store, route, to) else {
        return Led::Unresolved;
    };
    let Some(service) = store.get(&key) else {
        return Led::Unresolved;
    };
    let pod_of = |endpoint: &Endpoint| {
        endpoint
            .target_ref
            .as_ref()
            .map(|to| ObjectRef::new(Kind::Pod, &to.namespace, &to.name))
    };
    let ready = ready_endpoints(store, service, &name);
    let all: Vec<_> = ready
        .filter_map(|(endpoint, port)| Some((pod_of(endpoint)?, port)))
        .collect();
    let found = all
        .get(turn % all.len().max(1))
        .and_then(|(pod, port)| Some((store.get(pod)?, *port)));
    let Some((pod, port)) = found else {
        return Led::NotReady;
    };
    let proxy = Peer::proxy(
        &gateway.meta.namespace,
        &gateway.meta.name,
        address_of(gateway).unwrap_or(""),
    );
    match () {
        () if verdict(store, Direction::Ingress, pod, &proxy, port, "TCP").is_denied() => {
            Led::Denied
        }
        () if !listens(pod.body(), port) => Led::NotListening,
        () => Led::Answered(pod.clone()),
    }
}

/// Ranks the host names of a route at a listener against a host.
fn best_host(listener: &Listener, route: &HttpRouteSpec, host: &str) -> Option<(bool, usize)> {
    if route.hostnames.is_empty() {
        return host_rank(&listener.hostname, host);
    }
    let common = route
        .hostnames
        .iter()
        .filter_map(|name| common_host(&listener.hostname, name));
    common.filter_map(|name| host_rank(name, host)).max()
}

/// Rank of a match: an exact path, then a longer one, then a method, more headers, more parameters.
type MatchRank = (u8, usize, bool, usize, usize);

fn match_rank(wanted: &HttpMatch, request: &HttpRequest<'_>) -> Option<MatchRank> {
    let (kind, path) = wanted.path();
    let (rank, fits) = match kind {
        "Exact" => (2, path == request.path),
        "PathPrefix" => (1, prefix_rest(path, request.path).is_some()),
        _ => (0, is_match(path, request.path)),
    };
    let has = |one: &ValueMatch, found: Option<&str>| {
        found.is_some_and(|value| {
            if one.kind == "RegularExpression" {
                is_match(&one.value, value)
            } else {
                one.value == value
            }
        })
    };
    let header = |one: &ValueMatch| {
        let named = request
            .headers
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(&one.name));
        has(one, named.map(|(_, value)| *value))
    };
    let parameter = |one: &ValueMatch| {
        let mut all = request
            .query
            .split('&')
            .map(|part| part.split_once('=').unwrap_or((part, "")));
        has(
            one,
            all.find(|(name, _)| one.name == *name)
                .map(|(_, value)| value),
        )
    };
    let by_method = !wanted.method.is_empty();
    let fits = fits
        && (!by_method || wanted.method == request.method)
        && wanted.headers.iter().all(header)
        && wanted.query_params.iter().all(parameter);
    fits.then_some((
        rank,
        path.len(),
        by_method,
        wanted.headers.len(),
        wanted.query_params.len(),
    ))
}

/// Returns the rest of a path after a prefix of whole elements.
fn prefix_rest<'a>(prefix: &str, path: &'a str) -> Option<&'a str> {
    path.strip_prefix(prefix.trim_end_matches('/'))
        .filter(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Returns true if a pattern matches; an invalid pattern never does.
fn is_match(pattern: &str, text: &str) -> bool {
    GoRegex::new(pattern).is_ok_and(|pattern| pattern.is_match(text))
}

/// Builds a redirect; unspecified parts are those of the request.
fn redirected(redirect: &Redirect, by: &HttpMatch, request: &HttpRequest<'_>) -> Led {
    let scheme = if redirect.scheme.is_empty() {
        request.scheme
    } else {
        &redirect.scheme
    };
    let host = if redirect.hostname.is_empty() {
        request.host
    } else {
        &redirect.hostname
    };
    let usual = if scheme == "https" { 443 } else { 80 };
    // An explicit scheme implies its default port.
    let port = redirect.port.unwrap_or(if redirect.scheme.is_empty() {
        request.port
    } else {
        usual
    });
    let port = if port == usual {
        String::new()
    } else {
        format!(":{port}")
    };
    let path = match &redirect.path {
        Some(change) if change.kind == "ReplaceFullPath" => change.replace_full_path.to_string(),
        Some(change) if change.kind == "ReplacePrefixMatch" => {
            let rest = prefix_rest(by.path().1, request.path).unwrap_or("");
            let new = format!(
                "{}{rest}",
                change.replace_prefix_match.trim_end_matches('/')
            );
            if new.is_empty() { "/".to_owned() } else { new }
        }
        _ => request.path.to_owned(),
    };
    let query = if request.query.is_empty() {
        String::new()
    } else {
        format!("?{}", request.query)
    };
    let status = redirect
        .status_code
        .and_then(|code| u16::try_from(code).ok())
        .unwrap_or(302);
    Led::Redirected {
        status,
        location: format!("{scheme}://{host}{port}{path}{query}"),
    }
}
