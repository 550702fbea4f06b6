//! Objects of the Gateway API, which a cluster has once its definitions are installed: custom objects, parsed on access.
//!
//! Fields and semantics follow `sigs.k8s.io/gateway-api/apis/v1` (`gateway_types.go`, `httproute_types.go`, `shared_types.go`).

use super::json::record;
use super::kind::GATEWAY_GROUP;
use super::selector::LabelSelector;
use super::{Body, Kind, Object, ObjectRef, Str};
use crate::json;
use serde_json::Value;

/// Kind of Gateway classes.
pub const GATEWAY_CLASS: &str = "GatewayClass";
/// Kind of Gateways.
pub const GATEWAY: &str = "Gateway";
/// Kind of HTTP routes.
pub const HTTP_ROUTE: &str = "HTTPRoute";
/// Kind that allows references across namespaces.
pub const REFERENCE_GRANT: &str = "ReferenceGrant";
/// Controller name that the simulated GatewayClasses use, that of NGINX Gateway Fabric.
pub const CONTROLLER: &str = "gateway.nginx.org/nginx-gateway-controller";

record! {
    /// `spec` of a Gateway.
    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct GatewaySpec {
        pub gateway_class_name: Str = "gatewayClassName",
        pub listeners: Vec<Listener> = "listeners",
        /// Requested addresses.
        pub addresses: Vec<GatewayAddress> = "addresses",
    }

    /// Address with its type.
    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct GatewayAddress {
        pub kind: Str = "type",
        pub value: Str = "value",
    }

    /// Port on which a Gateway accepts requests, for one host name or for all.
    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct Listener {
        pub name: Str = "name",
        pub hostname: Str = "hostname",
        pub port: i32 = "port",
        pub protocol: Str = "protocol",
        pub allowed_routes: AllowedRoutes = "allowedRoutes",
        pub tls: Option<ListenerTls> = "tls",
    }

    /// Routes that may attach to a listener.
    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct AllowedRoutes {
        pub namespaces: RouteNamespaces = "namespaces",
        pub kinds: Vec<RouteKind> = "kinds",
    }

    /// Namespaces from which routes may attach: `All`, `Same` or `Selector`.
    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct RouteNamespaces {
        pub from: Str = "from",
        pub selector: Option<LabelSelector> = "selector",
    }

    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct RouteKind {
        pub group: Option<Str> = "group",
        pub kind: Str = "kind",
    }

    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct ListenerTls {
        pub mode: Str = "mode",
        pub certificate_refs: Vec<BackendRef> = "certificateRefs",
    }

    /// `spec` of an HTTPRoute.
    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct HttpRouteSpec {
        pub parent_refs: Vec<ParentRef> = "parentRefs",
        pub hostnames: Vec<Str> = "hostnames",
        pub rules: Vec<HttpRule> = "rules",
    }

    /// Parent that a route wants to attach to.
    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct ParentRef {
        pub group: Str = "group",
        pub kind: Str = "kind",
        pub namespace: Str = "namespace" omitempty,
        pub name: Str = "name",
        pub section_name: Str = "sectionName" omitempty,
        pub port: Option<i32> = "port" omitempty,
    }

    /// Rule that sends requests matching one of `matches` through its filters to its backends.
    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct HttpRule {
        pub matches: Vec<HttpMatch> = "matches",
        pub filters: Vec<HttpFilter> = "filters",
        pub backend_refs: Vec<BackendRef> = "backendRefs",
    }

    /// Conditions that a request must all meet.
    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct HttpMatch {
        pub path: ValueMatch = "path",
        pub method: Str = "method",
        pub headers: Vec<ValueMatch> = "headers",
        pub query_params: Vec<ValueMatch> = "queryParams",
    }

    /// Value to compare with the path, or with the header or parameter of this name, and the type of the comparison.
    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct ValueMatch {
        pub kind: Str = "type",
        pub name: Str = "name",
        pub value: Str = "value",
    }

    /// Filter applied to a request.
    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct HttpFilter {
        pub kind: Str = "type",
        pub request_redirect: Option<Redirect> = "requestRedirect",
    }

    /// Redirect of a client to another URL.
    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct Redirect {
        pub scheme: Str = "scheme",
        pub hostname: Str = "hostname",
        pub path: Option<PathChange> = "path",
        pub port: Option<i32> = "port",
        pub status_code: Option<i32> = "statusCode",
    }

    /// Replacement of a path.
    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct PathChange {
        pub kind: Str = "type",
        pub replace_full_path: Str = "replaceFullPath",
        pub replace_prefix_match: Str = "replacePrefixMatch",
    }

    /// Reference to a Service that takes requests, or to a Secret with a certificate.
    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct BackendRef {
        pub group: Str = "group",
        pub kind: Str = "kind",
        pub namespace: Str = "namespace",
        pub name: Str = "name",
        pub port: Option<i32> = "port",
        /// Weight among the backends; 1 by default.
        pub weight: Option<i32> = "weight",
        pub filters: Vec<HttpFilter> = "filters",
    }

    /// `spec` of a ReferenceGrant.
    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct GrantSpec {
        pub from: Vec<GrantEnd> = "from",
        pub to: Vec<GrantEnd> = "to",
    }

    /// Source or target of the references that a grant allows.
    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct GrantEnd {
        pub group: Str = "group",
        pub kind: Str = "kind",
        pub namespace: Str = "namespace",
        pub name: Str = "name",
    }

    /// Condition of a status.
    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct GatewayCondition {
        pub kind: Str = "type",
        pub status: Str = "status",
        pub reason: Str = "reason",
        pub message: Str = "message",
    }
}

/// Parses a part of a custom object; the default if it does not decode.
fn part<T: json::Json + Default>(object: &Object, name: &str) -> T {
    let Body::Other(map) = &object.body else {
        return T::default();
    };
    json::part(map.get(name)).unwrap_or_default()
}

/// Returns the status of a custom object.
pub fn status_of(object: &Object) -> &Value {
    let Body::Other(map) = &object.body else {
        return &Value::Null;
    };
    map.get("status").unwrap_or(&Value::Null)
}

/// Returns a condition of a status or of a part of one.
pub fn condition(status: &Value, kind: &str) -> Option<GatewayCondition> {
    let all = status["conditions"].as_array().into_iter().flatten();
    all.clone()
        .find(|one| one["type"] == kind)
        .and_then(|one| json::read(one).ok())
}

/// Returns true if a condition is `True`.
pub fn holds(status: &Value, kind: &str) -> bool {
    condition(status, kind).is_some_and(|one| one.status == "True")
}

/// Returns the controller that a GatewayClass names.
pub fn controller_of(class: &Object) -> &str {
    let Body::Other(map) = &class.body else {
        return "";
    };
    map.get("spec")
        .and_then(|spec| spec["controllerName"].as_str())
        .unwrap_or("")
}

/// Returns the first address of a Gateway's status, if any.
pub fn address_of(gateway: &Object) -> Option<&str> {
    status_of(gateway)["addresses"][0]["value"].as_str()
}

/// Returns the namespace of a reference, by default that of the referring object.
fn namespace_or<'a>(named: &'a str, own: &'a str) -> &'a str {
    if named.is_empty() { own } else { named }
}

impl GatewaySpec {
    /// Parses the spec.
    pub fn of(gateway: &Object) -> GatewaySpec {
        part(gateway, "spec")
    }
}

impl HttpRouteSpec {
    /// Parses the spec.
    pub fn of(route: &Object) -> HttpRouteSpec {
        part(route, "spec")
    }
}

impl GrantSpec {
    /// Parses the spec.
    pub fn of(grant: &Object) -> GrantSpec {
        part(grant, "spec")
    }
}

impl ParentRef {
    /// Returns true if a route in a namespace attaches to this Gateway by this reference.
    pub fn names(&self, from: &str, gateway: &ObjectRef) -> bool {
        self.is_gateway()
            && self.name == gateway.name
            && self.namespace_from(from) == gateway.namespace
    }

    /// Returns true if the parent is a Gateway.
    pub fn is_gateway(&self) -> bool {
        self.group == GATEWAY_GROUP && self.kind == GATEWAY
    }

    /// Returns the namespace of the parent, by default that of the route.
    pub fn namespace_from<'a>(&'a self, own: &'a str) -> &'a str {
        namespace_or(&self.namespace, own)
    }
}

impl BackendRef {
    /// Returns the namespace of the target, by default that of the referring object.
    pub fn namespace_from<'a>(&'a self, own: &'a str) -> &'a str {
        namespace_or(&self.namespace, own)
    }

    /// Returns the weight among the backends.
    pub fn share(&self) -> usize {
        usize::try_from(self.weight.unwrap_or(1)).unwrap_or(0)
    }

    /// Formats the backend, as `web:80`.
    pub fn label(&self) -> String {
        self.port.map_or_else(
            || self.name.to_string(),
            |port| format!("{}:{port}", self.name),
        )
    }
}

impl HttpMatch {
    /// Returns the type of the path match and the path.
    pub fn path(&self) -> (&str, &str) {
        let kind = if self.path.kind.is_empty() {
            "PathPrefix"
        } else {
            &self.path.kind
        };
        (
            kind,
            if self.path.value.is_empty() {
                "/"
            } else {
                &self.path.value
            },
        )
    }
}

/// Returns all custom kinds that are served, or were, under a name of the Gateway API.
pub fn kinds(name: &str) -> Vec<Kind> {
    Kind::custom_named(GATEWAY_GROUP, name)
}

/// Ranks a host name with an optional wildcard against a host: exact before wildcard, longer before shorter, and all before an empty one;
/// `None` if it does not match.
/// Unlike in an Ingress, the wildcard of the Gateway API stands for one label or several.
pub fn host_rank(pattern: &str, host: &str) -> Option<(bool, usize)> {
    if pattern.is_empty() {
        return Some((false, 0));
    }
    if let Some(domain) = pattern.strip_prefix('*') {
        let fits = host.len() > domain.len() && host.is_char_boundary(host.len() - domain.len());
        return (fits && host[host.len() - domain.len()..].eq_ignore_ascii_case(domain))
            .then_some((false, pattern.len()));
    }
    pattern
        .eq_ignore_ascii_case(host)
        .then_some((true, pattern.len()))
}

/// Returns the intersection of a listener's and a route's host name, the narrower one; `None` if they are disjoint.
pub fn common_host<'a>(listener: &'a str, route: &'a str) -> Option<&'a str> {
    match (listener, route) {
        ("", host) | (host, "") => Some(host),
        (a, b) if a.eq_ignore_ascii_case(b) => Some(b),
        (wide, narrow)
            if host_rank(wide, narrow.trim_start_matches("*.")).is_some()
                && wide.starts_with('*') =>
        {
            Some(narrow)
        }
        (narrow, wide)
            if host_rank(wide, narrow.trim_start_matches("*.")).is_some()
                && wide.starts_with('*') =>
        {
            Some(narrow)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{common_host, host_rank};

    #[test]
    fn a_wildcard_stands_for_one_label_or_several() {
        assert_eq!(
            host_rank("*.example.com", "a.b.example.com"),
            Some((false, 13))
        );
        assert_eq!(host_rank("*.example.com", "example.com"), None);
        assert!(
            host_rank("a.example.com", "A.example.com")
                > host_rank("*.example.com", "a.example.com")
        );
        assert!(host_rank("*.example.com", "a.example.com") > host_rank("", "a.example.com"));
    }

    #[test]
    fn hosts_of_a_listener_and_a_route_meet_in_the_narrower_one() {
        for (listener, route, common) in [
            ("", "a.example.com", Some("a.example.com")),
            ("a.example.com", "", Some("a.example.com")),
            ("*.example.com", "a.example.com", Some("a.example.com")),
            ("a.example.com", "*.example.com", Some("a.example.com")),
            (
                "*.example.com",
                "*.shop.example.com",
                Some("*.shop.example.com"),
            ),
            ("*.example.com", "example.com", None),
            ("*.example.com", "*.com", Some("*.example.com")),
            ("a.example.com", "b.example.com", None),
        ] {
            assert_eq!(common_host(listener, route), common, "{listener} {route}");
        }
    }
}
