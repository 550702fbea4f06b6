//! EndpointSlices of a Service, and the addresses and ports of a replaced Service: fields that its new type cannot have are dropped if
//! they are unchanged, and allocated values are kept.
//!
//! Models `dropTypeDependentFields` and `patchAllocatedValues` of `pkg/registry/core/service`.

use super::server::ApiServer;
use k8s_model::network::{EndpointSlice, is_slice_of};
use k8s_model::{Kind, Object};
use serde_json::Value;

impl ApiServer {
    /// Returns the EndpointSlices of a Service.
    pub fn slices_of<'a>(&'a self, service: &'a Object) -> impl Iterator<Item = &'a EndpointSlice> {
        let found = self.references.slices(
            &service.meta.namespace,
            &service.meta.name,
            self.objects.of(Kind::EndpointSlice),
        );
        found
            .into_iter()
            .filter(|slice| is_slice_of(slice, service))
            .filter_map(|slice| slice.get::<EndpointSlice>())
    }
}

fn kind(spec: &Value) -> &str {
    spec["type"]
        .as_str()
        .filter(|kind| !kind.is_empty())
        .unwrap_or("ClusterIP")
}

fn has_address(spec: &Value) -> bool {
    kind(spec) != "ExternalName"
}

fn has_node_ports(spec: &Value) -> bool {
    kind(spec) == "NodePort"
        || kind(spec) == "LoadBalancer" && spec["allocateLoadBalancerNodePorts"] != false
}

fn has_policy(spec: &Value) -> bool {
    matches!(kind(spec), "NodePort" | "LoadBalancer")
        || kind(spec) == "ClusterIP"
            && spec["externalIPs"]
                .as_array()
                .is_some_and(|all| !all.is_empty())
}

fn is_watched(spec: &Value) -> bool {
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
        (is_watched as fn(&Value) -> bool, "healthCheckNodePort"),
        (balanced, "allocateLoadBalancerNodePorts"),
        (balanced, "loadBalancerClass"),
        (has_policy, "externalTrafficPolicy"),
    ] {
        if gone(has, spec) && spec[name] == before[name] {
            dropped.push(name);
        }
    }
    let unused = gone(has_node_ports, spec) && ports(spec) == ports(before);
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
    if is_watched(before) && is_watched(spec) && spec[checked].as_i64().unwrap_or(0) == 0 {
        spec[checked] = before[checked].clone();
    }
    if !(has_node_ports(before) && has_node_ports(spec)) {
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
