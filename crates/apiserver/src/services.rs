//! Addresses and ports of a replaced Service: fields that its new type cannot have are dropped if
//! they are unchanged, and allocated values are kept.
//!
//! Models `dropTypeDependentFields` and `patchAllocatedValues` of `pkg/registry/core/service`.

use serde_json::Value;

fn kind(spec: &Value) -> &str {
    spec["type"]
        .as_str()
        .filter(|kind| !kind.is_empty())
        .unwrap_or("ClusterIP")
}

fn has_address(spec: &Value) -> bool {
    kind(spec) != "ExternalName"
}

/// Returns true if the ports of a Service may have node ports.
pub(super) fn may_have_node_ports(spec: &Value) -> bool {
    matches!(kind(spec), "NodePort" | "LoadBalancer")
}

/// Returns true if ports without a node port get one.
pub(super) fn allocates_node_ports(spec: &Value) -> bool {
    kind(spec) == "NodePort"
        || kind(spec) == "LoadBalancer" && spec["allocateLoadBalancerNodePorts"] != false
}

fn has_policy(spec: &Value) -> bool {
    may_have_node_ports(spec)
        || kind(spec) == "ClusterIP"
            && spec["externalIPs"]
                .as_array()
                .is_some_and(|all| !all.is_empty())
}

/// Returns true if load balancers check the nodes of a Service: `NeedsHealthCheck` of `pkg/api/service/util.go`.
pub(super) fn needs_health_check(spec: &Value) -> bool {
    kind(spec) == "LoadBalancer" && spec["externalTrafficPolicy"] == "Local"
}

fn ports(spec: &Value) -> Vec<i64> {
    spec["ports"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|port| port["nodePort"].as_i64().unwrap_or(0))
        .collect()
}

/// Prepares the replacement of a Service for validation.
pub(super) fn settle(new: &mut Value, old: &Value) {
    let (Some(spec), before) = (
        new.get_mut("spec").filter(|spec| spec.is_object()),
        &old["spec"],
    ) else {
        return;
    };
    keep(spec, before);
    let gone = |has: fn(&Value) -> bool, spec: &Value| has(before) && !has(spec);
    let mut dropped: Vec<&str> = Vec::new();
    if gone(has_address, spec) {
        if spec["clusterIP"] == before["clusterIP"] {
            dropped.extend(["clusterIP", "clusterIPs"]);
        }
        dropped.extend(
            ["ipFamilies", "ipFamilyPolicy"]
                .into_iter()
                .filter(|name| spec[*name] == before[*name]),
        );
    }
    let balanced: fn(&Value) -> bool = |spec| kind(spec) == "LoadBalancer";
    for (has, name) in [
        (
            needs_health_check as fn(&Value) -> bool,
            "healthCheckNodePort",
        ),
        (balanced, "allocateLoadBalancerNodePorts"),
        (balanced, "loadBalancerClass"),
        (has_policy, "externalTrafficPolicy"),
    ] {
        if gone(has, spec) && spec[name] == before[name] {
            dropped.push(name);
        }
    }
    // Ports may come and go, but no node port may be new.
    let known = ports(before);
    let unused = gone(may_have_node_ports, spec)
        && ports(spec)
            .iter()
            .all(|port| *port == 0 || known.contains(port));
    let Some(map) = spec.as_object_mut() else {
        return;
    };
    map.retain(|name, _| !dropped.contains(&name.as_str()));
    for port in map
        .get_mut("ports")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
        .filter(|_| unused)
    {
        port.as_object_mut()
            .and_then(|port| port.remove("nodePort"));
    }
}

/// Copies missing addresses and ports from the old Service.
fn keep(spec: &mut Value, before: &Value) {
    if has_address(before)
        && has_address(spec)
        && spec["clusterIP"].as_str().is_none_or(str::is_empty)
    {
        for name in ["clusterIP", "clusterIPs"]
            .into_iter()
            .filter(|name| !before[*name].is_null())
        {
            spec[name] = before[name].clone();
        }
    }
    let checked = "healthCheckNodePort";
    if needs_health_check(before)
        && needs_health_check(spec)
        && spec[checked].as_i64().unwrap_or(0) == 0
    {
        spec[checked] = before[checked].clone();
    }
    if !(allocates_node_ports(before) && allocates_node_ports(spec)) {
        return;
    }
    let mut used: Vec<i64> = ports(spec).into_iter().filter(|port| *port != 0).collect();
    for port in spec
        .get_mut("ports")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
    {
        let same = |other: &&Value| other["name"] == port["name"];
        let known = before["ports"]
            .as_array()
            .into_iter()
            .flatten()
            .find(same)
            .and_then(|other| other["nodePort"].as_i64());
        if let (true, Some(number)) = (
            port["nodePort"].as_i64().unwrap_or(0) == 0 && port.is_object(),
            known.filter(|n| !used.contains(n)),
        ) {
            port["nodePort"] = number.into();
            used.push(number);
        }
    }
}
