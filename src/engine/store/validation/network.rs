//! Service.
//!
//! Models the Service part of `pkg/apis/core/validation/validation.go`.

use super::{Errors, Fault, list, meta, names, pod, text};
use serde_json::{Value, json};

const TYPES: [&str; 4] = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];

pub fn service(errors: &mut Errors, spec: &Value) {
    let (kind, address) = (text(spec, "type"), text(spec, "clusterIP"));
    if list(spec, "ports").is_empty() && address != "None" && kind != "ExternalName" {
        errors.required("spec.ports", "");
    }
    if kind == "ExternalName" {
        if !address.is_empty() {
            errors.forbidden("spec.clusterIP", "may not be set when `type` is 'ExternalName'");
        }
        let name = text(spec, "externalName").trim_end_matches('.');
        if name.is_empty() {
            errors.required("spec.externalName", "");
        } else {
            errors.checked("spec.externalName", name, names::subdomain);
        }
    }
    if address == "None" && matches!(kind, "NodePort" | "LoadBalancer") {
        errors.invalid("spec.clusterIPs[0]", address, format!("may not be set to 'None' for {kind} services"));
    }
    ports(errors, spec, kind);
    meta::labels(errors, &spec["selector"], "spec.selector");
    errors.one_of("spec.sessionAffinity", text(spec, "sessionAffinity"), &["ClientIP", "None"]);
    errors.one_of("spec.type", kind, &TYPES);
    if !address.is_empty() && address != "None" && kind != "ExternalName" {
        errors.checked("spec.clusterIPs[0]", address, names::ip);
    }
}

fn ports(errors: &mut Errors, spec: &Value, kind: &str) {
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
        pod::in_port_range(errors, &format!("{at}.port"), port["port"].as_i64().unwrap_or(0));
        errors.one_of(&format!("{at}.protocol"), text(port, "protocol"), &["SCTP", "TCP", "UDP"]);
        pod::port_or_name(errors, &format!("{at}.targetPort"), &port["targetPort"]);
        let node_port = port["nodePort"].as_i64().unwrap_or(0);
        if node_port != 0 && matches!(kind, "ClusterIP" | "ExternalName") {
            errors.forbidden(&format!("{at}.nodePort"), format!("may not be used when `type` is '{kind}'"));
        } else if node_port != 0 && !(30000..=32767).contains(&node_port) {
            errors.invalid(
                &format!("{at}.nodePort"),
                node_port,
                "provided port is not in the valid range. The range of valid ports is 30000-32767",
            );
        }
    }
    duplicates(errors, all);
}

fn duplicates(errors: &mut Errors, ports: &[Value]) {
    for (index, port) in ports.iter().enumerate() {
        let same = |other: &&Value| other["port"] == port["port"] && other["protocol"] == port["protocol"];
        if ports[..index].iter().any(|other| same(&other)) {
            let shown = json!({"Name": "", "Protocol": port["protocol"], "AppProtocol": null, "Port": port["port"], "TargetPort": 0, "NodePort": 0});
            let order = ["Name", "Protocol", "AppProtocol", "Port", "TargetPort", "NodePort"];
            errors.add(Fault::Duplicate, &format!("spec.ports[{index}]"), super::ordered(&shown, &order), "");
        }
    }
}
