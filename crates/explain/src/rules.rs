//! The rules of NetworkPolicies, Ingresses and HTTPRoutes, as messages.

use cluster_network::connectivity::{Attempt, Direction, RequestOutcome, Verdict};
use i18n::{Message, msg};
use k8s_model::gateway::{BackendRef, HttpRouteSpec, HttpRule};
use k8s_model::ingress::{IngressBackend, IngressPath};
use k8s_model::network_policy::{NetworkPolicySpec, PolicyPeer, PolicyPort, PolicyRule};
use k8s_model::{Object, Str};

/// Describes a rule of a NetworkPolicy: peers and ports.
pub fn of_policy(rule: &PolicyRule, direction: Direction) -> Message {
    let peers = if direction == Direction::Ingress {
        &rule.from
    } else {
        &rule.to
    };
    let named = || peers.iter().map(peer).collect::<Vec<_>>();
    let who = match (peers.is_empty(), direction) {
        (false, Direction::Ingress) => msg::rule_from(named()),
        (false, Direction::Egress) => msg::rule_to(named()),
        (true, Direction::Ingress) => msg::rule_any_source(),
        (true, Direction::Egress) => msg::rule_any_destination(),
    };
    if rule.ports.is_empty() {
        msg::rule_all_ports(who)
    } else {
        msg::rule_ports(who, rule.ports.iter().map(port).collect::<Vec<_>>())
    }
}

/// Returns the rules of a policy for each direction in which it isolates: direction with the number of the rule, and the rule.
pub fn of_spec(spec: &NetworkPolicySpec) -> Vec<(Message, Message)> {
    let mut out = Vec::new();
    for (direction, rules) in [
        (Direction::Ingress, &spec.ingress),
        (Direction::Egress, &spec.egress),
    ] {
        let name = direction.name();
        if !spec.policy_types.iter().any(|kind| kind == name) {
            continue;
        }
        if rules.is_empty() {
            out.push((Message::name(name), msg::rule_nothing()));
        }
        out.extend(
            rules
                .iter()
                .enumerate()
                .map(|(at, rule)| (msg::rule_numbered(name, at + 1), of_policy(rule, direction))),
        );
    }
    out
}

/// Returns true if a policy has no rule in any direction in which it isolates.
pub fn allows_nothing(spec: &NetworkPolicySpec) -> bool {
    let none = |kind: &Str| {
        if kind == Direction::Ingress.name() {
            spec.ingress.is_empty()
        } else {
            spec.egress.is_empty()
        }
    };
    spec.policy_types.iter().all(none)
}

fn peer(peer: &PolicyPeer) -> Message {
    match (&peer.ip_block, &peer.namespace_selector, &peer.pod_selector) {
        (Some(block), ..) if block.except.is_empty() => Message::name(&block.cidr),
        (Some(block), ..) => msg::rule_except(&block.cidr, block.except.join(", ")),
        (None, Some(of), Some(pods)) if of.is_empty() => msg::rule_pods_anywhere(pods.to_string()),
        (None, Some(of), Some(pods)) => {
            msg::rule_pods_of_namespaces(pods.to_string(), of.to_string())
        }
        (None, Some(of), None) if of.is_empty() => msg::rule_any_namespace(),
        (None, Some(of), None) => msg::rule_namespaces(of.to_string()),
        (None, None, Some(pods)) if pods.is_empty() => msg::rule_all_pods(),
        (None, None, Some(pods)) => msg::rule_pods(pods.to_string()),
        (None, None, None) => msg::rule_nothing(),
    }
}

fn port(port: &PolicyPort) -> Message {
    let protocol: &str = if port.protocol.is_empty() {
        "TCP"
    } else {
        &port.protocol
    };
    let number = match &port.port {
        serde_json::Value::Null => return Message::name(protocol),
        serde_json::Value::String(name) => name.clone(),
        number => number.to_string(),
    };
    let last = port
        .end_port
        .map(|last| format!("-{last}"))
        .unwrap_or_default();
    Message::name(format!("{protocol} {number}{last}"))
}

/// Describes the verdict on a request: the reason of its failure, or the rules that allow it at each isolated end.
pub fn of_attempt(attempt: &Attempt) -> Vec<Message> {
    let ends = [
        (&attempt.egress, Direction::Egress),
        (&attempt.ingress, Direction::Ingress),
    ];
    let denied = ends.iter().any(|(verdict, _)| verdict.is_denied());
    let fails = match (attempt.outcome, &attempt.pod) {
        (RequestOutcome::NoNameServer, _) => Some(msg::verdict_no_name_server()),
        (RequestOutcome::Refused, Some(pod)) => {
            Some(msg::verdict_not_listening(&pod.meta.name, attempt.port))
        }
        _ => None,
    };
    let told = ends
        .into_iter()
        .filter(|(verdict, _)| verdict.is_denied() == denied && (denied || fails.is_none()));
    let mut out: Vec<Message> = told
        .filter_map(|(verdict, direction)| of_verdict(verdict, direction))
        .collect();
    out.extend(fails);
    out
}

/// Describes the verdict at one end of a connection; `None` if no policy isolates it.
fn of_verdict(verdict: &Verdict, direction: Direction) -> Option<Message> {
    match verdict {
        Verdict::Open => None,
        Verdict::Allowed { policy, rule } => {
            Some(msg::verdict_allowed(&policy.name, direction.name(), *rule))
        }
        Verdict::Denied { policies } => {
            let names: Vec<Message> = policies
                .iter()
                .map(|policy| Message::name(&policy.name))
                .collect();
            Some(msg::verdict_denied(names, direction.name()))
        }
    }
}

/// Formats host and path: `shop.example.com/cart`; any host is a star.
pub fn of_path(host: &Str, path: &IngressPath) -> String {
    let host: &str = if host.is_empty() { "*" } else { host };
    format!(
        "{host}{}",
        if path.path.is_empty() {
            "/"
        } else {
            path.path.as_str()
        }
    )
}

/// Formats a backend: `web:80`.
pub fn of_backend(backend: &IngressBackend) -> String {
    let Some(service) = &backend.service else {
        return "<resource>".to_owned();
    };
    match service.port.name.as_str() {
        "" => format!("{}:{}", service.name, service.port.number),
        name => format!("{}:{name}", service.name),
    }
}

/// Formats the conditions of a route's rule: host and path of its first match, and any others.
pub fn of_route_rule(route: &HttpRouteSpec, rule: &HttpRule) -> String {
    let host = route.hostnames.first().map_or("*", |host| host.as_str());
    let Some(one) = rule.matches.first() else {
        return format!("{host}/");
    };
    let mut out = if one.method.is_empty() {
        String::new()
    } else {
        format!("{} ", one.method)
    };
    let (kind, path) = one.path();
    out.push_str(if kind == "RegularExpression" {
        "~ "
    } else {
        ""
    });
    out.push_str(host);
    out.push_str(path);
    for header in &one.headers {
        out.push_str(&format!(" {}: {}", header.name, header.value));
    }
    for (at, parameter) in one.query_params.iter().enumerate() {
        out.push_str(&format!(
            "{}{}={}",
            if at == 0 { "?" } else { "&" },
            parameter.name,
            parameter.value
        ));
    }
    out
}

/// Facts about a route: conditions and backends of each rule.
pub fn of_route(route: &HttpRouteSpec) -> Vec<(String, String)> {
    let to = |rule: &HttpRule| {
        let redirects = rule
            .filters
            .iter()
            .filter_map(|filter| filter.request_redirect.as_ref());
        let codes = redirects.map(|redirect| redirect.status_code.unwrap_or(302).to_string());
        codes
            .chain(rule.backend_refs.iter().map(BackendRef::label))
            .collect::<Vec<_>>()
            .join(", ")
    };
    route
        .rules
        .iter()
        .map(|rule| (of_route_rule(route, rule), to(rule)))
        .collect()
}

/// Facts about an Ingress: each path and its backend.
pub fn of_ingress(ingress: &Object) -> Vec<(String, String)> {
    let spec = k8s_model::ingress::IngressSpec::of(ingress);
    let paths = spec.rules.iter().flat_map(|rule| {
        rule.http
            .paths
            .iter()
            .map(|path| (of_path(&rule.host, path), of_backend(&path.backend)))
    });
    let default = spec
        .default_backend
        .iter()
        .map(|backend| ("*".to_owned(), of_backend(backend)));
    paths.chain(default).collect()
}
