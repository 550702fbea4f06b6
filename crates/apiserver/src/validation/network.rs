//! Validation of Services and Endpoints.
//!
//! Models the Service part of `pkg/apis/core/validation/validation.go`.

use super::{ErrorType, Errors, has, inner, list, meta, names, pod, text};
use serde_json::{Value, json};

const TYPES: [&str; 4] = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];

/// Validates Endpoints: addresses and ports of each subset.
pub fn endpoints(errors: &mut Errors, object: &Value) {
    for (index, subset) in list(object, "subsets").iter().enumerate() {
        let at = format!("subsets[{index}]");
        if list(subset, "addresses").is_empty() && list(subset, "notReadyAddresses").is_empty() {
            errors.required(&at, "must specify `addresses` or `notReadyAddresses`");
        }
        for name in ["addresses", "notReadyAddresses"] {
            for (n, address) in list(subset, name).iter().enumerate() {
                let (ip, at) = (text(address, "ip"), format!("{at}.{name}[{n}]"));
                errors.checked(&format!("{at}.ip"), ip, |ip| {
                    names::ip(ip).or_else(|| special(ip).map(str::to_owned))
                });
                if has(address, "hostname") {
                    errors.checked(
                        &format!("{at}.hostname"),
                        text(address, "hostname"),
                        names::label,
                    );
                }
            }
        }
        let ports = list(subset, "ports");
        for (n, port) in ports.iter().enumerate() {
            let (name, at) = (text(port, "name"), format!("{at}.ports[{n}]"));
            if !name.is_empty() {
                errors.checked(&format!("{at}.name"), name, names::label);
            } else if ports.len() > 1 {
                errors.required(&format!("{at}.name"), "");
            }
            pod::in_port_range(
                errors,
                &format!("{at}.port"),
                port["port"].as_i64().unwrap_or(0),
            );
            errors.one_of(
                &format!("{at}.protocol"),
                text(port, "protocol"),
                &["TCP", "UDP", "SCTP"],
            );
        }
    }
}

/// Returns the reason why an address cannot be an endpoint's.
fn special(ip: &str) -> Option<&'static str> {
    use std::net::IpAddr;
    let ip: IpAddr = ip.parse().ok()?;
    let local = match ip {
        IpAddr::V4(ip) => (ip.is_link_local(), ip.octets()[..3] == [224, 0, 0]),
        IpAddr::V6(ip) => (
            ip.segments()[0] & 0xffc0 == 0xfe80,
            ip.segments()[0] == 0xff02,
        ),
    };
    match local {
        _ if ip.is_unspecified() => Some("may not be unspecified (0.0.0.0 or ::)"),
        _ if ip.is_loopback() => Some("may not be in the loopback range (127.0.0.0/8, ::1/128)"),
        (true, _) => Some("may not be in the link-local range (169.254.0.0/16, fe80::/10)"),
        (_, true) => Some("may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"),
        _ => None,
    }
}

pub fn service(errors: &mut Errors, spec: &Value) {
    let (kind, address) = (text(spec, "type"), text(spec, "clusterIP"));
    if let Some(detail) = (!matches!(address, "" | "None"))
        .then(|| names::ip(address))
        .flatten()
        && kind != "ExternalName"
    {
        // The allocation of addresses precedes validation.
        errors.list.clear();
        return errors.invalid("spec.clusterIPs[0]", address, detail);
    }
    if list(spec, "ports").is_empty() && address != "None" && kind != "ExternalName" {
        errors.required("spec.ports", "");
    }
    if kind == "ExternalName" {
        if !address.is_empty() {
            errors.forbidden(
                "spec.clusterIPs",
                "may not be set for ExternalName services",
            );
        }
        let name = text(spec, "externalName").trim_end_matches('.');
        if name.is_empty() {
            errors.required("spec.externalName", "");
        } else {
            errors.checked("spec.externalName", name, names::subdomain);
        }
    }
    if address == "None" && matches!(kind, "NodePort" | "LoadBalancer") {
        errors.invalid(
            "spec.clusterIPs[0]",
            address,
            format!("may not be set to 'None' for {kind} services"),
        );
    }
    ports(errors, spec);
    meta::labels(errors, &spec["selector"], "spec.selector");
    errors.one_of(
        "spec.sessionAffinity",
        text(spec, "sessionAffinity"),
        &["ClientIP", "None"],
    );
    let timeout = &spec["sessionAffinityConfig"]["clientIP"]["timeoutSeconds"];
    if text(spec, "sessionAffinity") == "None" && has(spec, "sessionAffinityConfig") {
        errors.forbidden(
            "spec.sessionAffinityConfig",
            "must not be set when session affinity is None",
        );
    } else if timeout.as_i64().is_some_and(|n| n <= 0 || n > 86400) {
        let at = "spec.sessionAffinityConfig.clientIP.timeoutSeconds";
        errors.invalid(
            at,
            timeout.clone(),
            "must be greater than 0 and less than 86400",
        );
    }
    for (index, outside) in list(spec, "externalIPs").iter().enumerate() {
        let (at, ip) = (
            format!("spec.externalIPs[{index}]"),
            outside.as_str().unwrap_or(""),
        );
        errors.checked(&at, ip, names::ip);
        errors.checked(&at, ip, |ip| special(ip).map(str::to_owned));
    }
    errors.one_of("spec.type", kind, &TYPES);
    node_ports(errors, list(spec, "ports"), kind);
    duplicates(errors, list(spec, "ports"));
    outside(errors, spec, kind);
}

/// Validates the status of a Service: `ValidateLoadBalancerStatus`.
pub fn service_status(errors: &mut Errors, object: &Value) {
    let field = "status.loadBalancer.ingress";
    let ingress = list(&object["status"]["loadBalancer"], "ingress");
    if text(&object["spec"], "type") != "LoadBalancer" {
        if !ingress.is_empty() {
            errors.forbidden(field, "may only be used when `spec.type` is 'LoadBalancer'");
        }
        return;
    }
    for (index, one) in ingress.iter().enumerate() {
        let at = |name: &str| format!("{field}[{index}].{name}");
        let (ip, host) = (text(one, "ip"), text(one, "hostname"));
        if !ip.is_empty() {
            errors.checked(&at("ip"), ip, names::ip);
        }
        match one["ipMode"].as_str() {
            None if !ip.is_empty() => {
                errors.required(&at("ipMode"), "must be specified when `ip` is set");
            }
            None => {}
            Some(_) if ip.is_empty() => {
                errors.forbidden(&at("ipMode"), "may not be specified when `ip` is not set");
            }
            Some(mode) => {
                errors.one_of(&at("ipMode"), mode, &["Proxy", "VIP"]);
            }
        }
        if !host.is_empty() {
            errors.checked(&at("hostname"), host, names::subdomain);
            if names::ip(host).is_none() {
                let detail = "must be a DNS name, not an IP address";
                errors.invalid(&at("hostname"), host, detail);
            }
        }
    }
}

const NEEDS_BALANCER: &str = "may only be used when `type` is 'LoadBalancer'";

/// Validates fields that only externally reachable Services may have.
fn outside(errors: &mut Errors, spec: &Value, kind: &str) {
    let balanced = kind == "LoadBalancer";
    if !balanced && !list(spec, "loadBalancerSourceRanges").is_empty() {
        errors.forbidden("spec.LoadBalancerSourceRanges", NEEDS_BALANCER);
    }
    for name in ["allocateLoadBalancerNodePorts", "loadBalancerClass"] {
        if !balanced && has(spec, name) {
            errors.forbidden(&format!("spec.{name}"), NEEDS_BALANCER);
        }
    }
    for (index, range) in list(spec, "loadBalancerSourceRanges")
        .iter()
        .enumerate()
        .filter(|_| balanced)
    {
        errors.checked(
            &format!("spec.LoadBalancerSourceRanges[{index}]"),
            range.as_str().unwrap_or("").trim(),
            names::cidr,
        );
    }
    if has(spec, "trafficDistribution") {
        let known = ["PreferClose", "PreferSameZone", "PreferSameNode"];
        errors.one_of(
            "spec.trafficDistribution",
            text(spec, "trafficDistribution"),
            &known,
        );
    }
    let policy = text(spec, "externalTrafficPolicy");
    let reached = balanced
        || kind == "NodePort"
        || (kind == "ClusterIP" && !list(spec, "externalIPs").is_empty());
    if !reached && !policy.is_empty() {
        errors.invalid(
            "spec.externalTrafficPolicy",
            policy,
            "may only be set for externally-accessible services",
        );
    } else if !policy.is_empty() {
        errors.one_of("spec.externalTrafficPolicy", policy, &["Cluster", "Local"]);
    }
    let health = &spec["healthCheckNodePort"];
    if health.as_i64().is_some_and(|n| n != 0) && !(balanced && policy == "Local") {
        let detail =
            "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
        errors.invalid("spec.healthCheckNodePort", health.clone(), detail);
    }
    if has(spec, "internalTrafficPolicy") {
        errors.one_of(
            "spec.internalTrafficPolicy",
            text(spec, "internalTrafficPolicy"),
            &["Cluster", "Local"],
        );
    }
}

fn node_ports(errors: &mut Errors, all: &[Value], kind: &str) {
    for (index, port) in all.iter().enumerate() {
        let at = format!("spec.ports[{index}].nodePort");
        let Some(number) = port["nodePort"].as_i64().filter(|n| *n != 0) else {
            continue;
        };
        if kind == "ClusterIP" {
            errors.forbidden(&at, "may not be used when `type` is 'ClusterIP'");
        } else if kind != "ExternalName" && !(30000..=32767).contains(&number) {
            errors.invalid(
                &at,
                number,
                "provided port is not in the valid range. The range of valid ports is 30000-32767",
            );
        }
        if all[..index]
            .iter()
            .any(|other| other["nodePort"] == number && other["protocol"] == port["protocol"])
        {
            errors.duplicate(&at, number);
        }
    }
}

fn ports(errors: &mut Errors, spec: &Value) {
    let all = list(spec, "ports");
    let mut names_seen: Vec<&str> = Vec::new();
    for (index, port) in all.iter().enumerate() {
        let at = format!("spec.ports[{index}]");
        let name = text(port, "name");
        if name.is_empty() && all.len() > 1 {
            errors.required(&format!("{at}.name"), "");
        } else if !name.is_empty() {
            errors.checked(&format!("{at}.name"), name, names::label);
            if names_seen.contains(&name) {
                errors.duplicate(&format!("{at}.name"), name);
            }
            names_seen.push(name);
        }
        pod::in_port_range(
            errors,
            &format!("{at}.port"),
            port["port"].as_i64().unwrap_or(0),
        );
        errors.one_of(
            &format!("{at}.protocol"),
            text(port, "protocol"),
            &["SCTP", "TCP", "UDP"],
        );
        pod::port_or_name(errors, &format!("{at}.targetPort"), &port["targetPort"]);
        if !text(port, "appProtocol").is_empty() {
            for detail in names::is_qualified_name(text(port, "appProtocol")) {
                errors.invalid(
                    &format!("{at}.appProtocol"),
                    text(port, "appProtocol"),
                    detail,
                );
            }
        }
    }
}

fn duplicates(errors: &mut Errors, ports: &[Value]) {
    for (index, port) in ports.iter().enumerate() {
        let same =
            |other: &&Value| other["port"] == port["port"] && other["protocol"] == port["protocol"];
        if ports[..index].iter().any(|other| same(&other)) {
            let shown = inner::text(
                "v1.ServicePort",
                &json!({"protocol": port["protocol"], "port": port["port"]}),
            );
            errors.add(
                ErrorType::Duplicate,
                &format!("spec.ports[{index}]"),
                shown,
                "",
            );
        }
    }
}
