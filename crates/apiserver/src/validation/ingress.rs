//! Validation of Ingress, NetworkPolicy and PriorityClass.
//!
//! Models `pkg/apis/{networking,scheduling}/validation`.

use super::{Errors, has, list, meta, names, pod, text};
use k8s_model::cidr;
use serde_json::Value;

pub fn ingress(errors: &mut Errors, object: &Value) {
    let spec = &object["spec"];
    let rules = list(spec, "rules");
    if rules.is_empty() && !has(spec, "defaultBackend") {
        errors.invalid(
            "spec",
            Value::Null,
            "either `defaultBackend` or `rules` must be specified",
        );
    }
    if has(spec, "defaultBackend") {
        backend(errors, &spec["defaultBackend"], "spec.defaultBackend");
    }
    for (index, rule) in rules.iter().enumerate() {
        let at = format!("spec.rules[{index}]");
        let host = text(rule, "host");
        if names::ip(host).is_none() {
            errors.invalid(
                &format!("{at}.host"),
                host,
                "must be a DNS name, not an IP address",
            );
        } else if !host.is_empty() {
            errors.checked(&format!("{at}.host"), host, names::host);
        }
        if !has(rule, "http") {
            continue;
        }
        let (at, paths) = (format!("{at}.http.paths"), list(&rule["http"], "paths"));
        if paths.is_empty() {
            errors.required(&at, "");
        }
        for (index, path) in paths.iter().enumerate() {
            one_path(errors, path, &format!("{at}[{index}]"));
        }
    }
    for (index, tls) in list(spec, "tls").iter().enumerate() {
        // Upstream uses the same field path for all hosts, and another for the secret.
        for (n, host) in list(tls, "hosts").iter().enumerate() {
            errors.checked(
                &format!("spec.tls[{n}].hosts"),
                host.as_str().unwrap_or(""),
                names::host,
            );
        }
        if !text(tls, "secretName").is_empty() {
            errors.checked(
                &format!("spec.tls[{index}].secretName"),
                text(tls, "secretName"),
                names::subdomain,
            );
        }
    }
    if !text(spec, "ingressClassName").is_empty() {
        errors.checked(
            "spec.ingressClassName",
            text(spec, "ingressClassName"),
            names::subdomain,
        );
    }
}

fn one_path(errors: &mut Errors, path: &Value, field: &str) {
    let (kind, route) = (text(path, "pathType"), text(path, "path"));
    match kind {
        "" => return errors.required(&format!("{field}.pathType"), "pathType must be specified"),
        "Exact" | "Prefix" if !route.starts_with('/') => {
            errors.invalid(&format!("{field}.path"), route, "must be an absolute path");
        }
        "Exact" | "Prefix" => {
            for part in ["//", "/./", "/../", "%2f", "%2F"]
                .into_iter()
                .filter(|part| route.contains(part))
            {
                errors.invalid(
                    &format!("{field}.path"),
                    route,
                    format!("must not contain '{part}'"),
                );
            }
            for end in ["/..", "/."].into_iter().filter(|end| route.ends_with(end)) {
                errors.invalid(
                    &format!("{field}.path"),
                    route,
                    format!("cannot end with '{end}'"),
                );
            }
        }
        "ImplementationSpecific" if !route.is_empty() && !route.starts_with('/') => {
            errors.invalid(&format!("{field}.path"), route, "must be an absolute path");
        }
        _ => {
            errors.one_of(
                &format!("{field}.pathType"),
                kind,
                &["Exact", "ImplementationSpecific", "Prefix"],
            );
        }
    }
    backend(errors, &path["backend"], &format!("{field}.backend"));
}

fn backend(errors: &mut Errors, backend: &Value, field: &str) {
    let service = &backend["service"];
    match (has(backend, "resource"), has(backend, "service")) {
        (true, true) => errors.invalid(field, "", "cannot set both resource and service backends"),
        (true, false) => {}
        (false, false) => errors.invalid(field, "", "resource or service backend is required"),
        (false, true) => {
            let name = text(service, "name");
            if name.is_empty() {
                errors.required(&format!("{field}.service.name"), "");
            } else {
                errors.checked(&format!("{field}.service.name"), name, names::label);
            }
            let number = service["port"]["number"].as_i64().filter(|n| *n != 0);
            match (text(&service["port"], "name"), number) {
                ("", None) => errors.required(field, "port name or number is required"),
                ("", Some(number)) => {
                    pod::in_port_range(errors, &format!("{field}.service.port.number"), number)
                }
                (_, Some(_)) => {
                    errors.invalid(field, "", "cannot set both port name & port number")
                }
                (name, None) => {
                    for detail in names::port_name(name) {
                        errors.invalid(&format!("{field}.service.port.name"), name, detail);
                    }
                }
            }
        }
    }
}

pub fn network_policy(errors: &mut Errors, spec: &Value) {
    meta::selector(errors, &spec["podSelector"], "spec.podSelector");
    for (direction, peers) in [("ingress", "from"), ("egress", "to")] {
        for (index, rule) in list(spec, direction).iter().enumerate() {
            for (n, port) in list(rule, "ports").iter().enumerate() {
                policy_port(
                    errors,
                    port,
                    &format!("spec.{direction}[{index}].ports[{n}]"),
                );
            }
            for (n, peer) in list(rule, peers).iter().enumerate() {
                let at = format!("spec.{direction}[{index}].{peers}[{n}]");
                let block = has(peer, "ipBlock");
                for name in ["podSelector", "namespaceSelector"] {
                    meta::selector(errors, &peer[name], &format!("{at}.{name}"));
                }
                if block {
                    ip_block(errors, &peer["ipBlock"], &format!("{at}.ipBlock"));
                }
                match (
                    has(peer, "podSelector") || has(peer, "namespaceSelector"),
                    block,
                ) {
                    (false, false) => errors.required(&at, "must specify a peer"),
                    (true, true) => {
                        errors.forbidden(&at, "may not specify both ipBlock and another peer")
                    }
                    _ => {}
                }
            }
        }
    }
    let kinds = list(spec, "policyTypes");
    for (index, kind) in kinds.iter().enumerate() {
        errors.one_of(
            &format!("spec.policyTypes[{index}]"),
            kind.as_str().unwrap_or(""),
            &["Ingress", "Egress"],
        );
    }
}

fn policy_port(errors: &mut Errors, port: &Value, at: &str) {
    if has(port, "protocol") {
        errors.one_of(
            &format!("{at}.protocol"),
            text(port, "protocol"),
            &["TCP", "UDP", "SCTP"],
        );
    }
    if has(port, "port") {
        pod::port_or_name(errors, &format!("{at}.port"), &port["port"]);
    }
    let (end, at) = (&port["endPort"], format!("{at}.endPort"));
    let Some(last) = end.as_i64() else { return };
    match &port["port"] {
        Value::Null => errors.invalid(
            &at,
            last,
            "may not be specified when `port` is not specified",
        ),
        Value::String(_) => {
            errors.invalid(&at, last, "may not be specified when `port` is non-numeric")
        }
        first => {
            if Some(last) < first.as_i64() {
                errors.invalid(
                    &at,
                    first.clone(),
                    "must be greater than or equal to `port`",
                );
            }
            pod::in_port_range(errors, &at, last);
        }
    }
}

fn ip_block(errors: &mut Errors, block: &Value, at: &str) {
    let range = text(block, "cidr");
    if range.is_empty() {
        return errors.required(&format!("{at}.cidr"), "");
    }
    errors.checked(&format!("{at}.cidr"), range, names::cidr);
    let Some(whole) = cidr::network(range) else {
        return;
    };
    for (index, except) in list(block, "except").iter().enumerate() {
        let (at, except) = (
            format!("{at}.except[{index}]"),
            except.as_str().unwrap_or(""),
        );
        errors.checked(&at, except, names::cidr);
        if cidr::network(except)
            .is_some_and(|(address, bits)| !cidr::contains(whole, address) || whole.1 >= bits)
        {
            errors.invalid(&at, except, "must be a strict subset of `cidr`");
        }
    }
}

/// Maximum value of user-defined priority classes, below those of the system.
const MAX_USER_PRIORITY: i64 = 1_000_000_000;
const SYSTEM_CLASSES: [(&str, i64); 2] = [
    ("system-cluster-critical", 2_000_000_000),
    ("system-node-critical", 2_000_001_000),
];
const RESERVED: &str =
    "priority class names with 'system-' prefix are reserved for system use only.";

pub fn priority_class(errors: &mut Errors, object: &Value) {
    let name = text(&object["metadata"], "name");
    let known = SYSTEM_CLASSES.iter().find(|(known, _)| *known == name);
    if let Some((_, value)) = known
        && object["value"] != *value
    {
        let wrong = format!("error: value of {name} PriorityClass must be {value}");
        errors.forbidden("metadata.name", format!("{RESERVED} {wrong}"));
    } else if known.is_none() && name.starts_with("system-") {
        errors.forbidden(
            "metadata.name",
            format!("{RESERVED} error: {name} is not a known system priority class"),
        );
    }
    if known.is_none()
        && !name.starts_with("system-")
        && object["value"]
            .as_i64()
            .is_some_and(|value| value > MAX_USER_PRIORITY)
    {
        errors.forbidden(
            "value",
            format!("maximum allowed value of a user defined priority is {MAX_USER_PRIORITY}"),
        );
    }
    if has(object, "preemptionPolicy") {
        errors.one_of(
            "preemptionPolicy",
            text(object, "preemptionPolicy"),
            &["PreemptLowerPriority", "Never"],
        );
    }
}
