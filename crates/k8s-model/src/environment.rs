//! Variables of a container's environment, and the downward API.
//!
//! Models `makeEnvironmentVariables` of `pkg/kubelet/kubelet_pods.go`, `pkg/fieldpath` and `third_party/forked/golang/expansion`.

use super::network::Service;
use super::node::Node;
use super::pod::{Container, Pod};
use super::quantity::Quantity;
use super::{Kind, Labels, Object, base64};
use serde_json::Value;

/// Variables by name, in the order in which they were set.
pub type Environment = Vec<(String, String)>;

/// Objects from which the environment of a container is made.
#[derive(Clone, Copy)]
pub struct EnvironmentSources<'a> {
    /// Pod, as it was when the container started.
    pub pod: &'a Object,
    /// Node of the Pod, whose resources limit containers without limits.
    pub node: Option<&'a Node>,
    /// Variables of Services, which others may refer to.
    pub services: &'a [(String, String)],
    /// Returns keys and values of a ConfigMap or a Secret.
    pub data: &'a dyn Fn(Kind, &str) -> Environment,
}

/// Returns the variables that a container declares, the sources of `envFrom` first. A variable that is declared again keeps its place
/// and gets the new value.
pub fn variables(container: &Value, sources: EnvironmentSources<'_>) -> Environment {
    let items = |list: &str| container[list].as_array().into_iter().flatten();
    let mut declared = Vec::new();
    for source in items("envFrom") {
        let prefix = source["prefix"].as_str().unwrap_or("");
        for (field, kind) in [
            ("configMapRef", Kind::ConfigMap),
            ("secretRef", Kind::Secret),
        ] {
            let Some(name) = source[field]["name"].as_str() else {
                continue;
            };
            for (key, value) in (sources.data)(kind, name) {
                set(&mut declared, format!("{prefix}{key}"), value);
            }
        }
    }
    for entry in items("env") {
        let name = entry["name"].as_str().unwrap_or("").to_owned();
        let value = match entry["value"].as_str().filter(|text| !text.is_empty()) {
            Some(text) => Some(expand(text, |name| {
                find(&declared, name).or_else(|| find(sources.services, name))
            })),
            None => {
                let own = container["name"].as_str().unwrap_or("");
                sourced(&entry["valueFrom"], own, sources)
            }
        };
        if let Some(value) = value {
            set(&mut declared, name, value);
        }
    }
    declared
}

/// Returns the value of a variable that is read from elsewhere; `None` if an optional source lacks it.
fn sourced(from: &Value, own: &str, sources: EnvironmentSources<'_>) -> Option<String> {
    for (field, kind) in [
        ("configMapKeyRef", Kind::ConfigMap),
        ("secretKeyRef", Kind::Secret),
    ] {
        if let Some(name) = from[field]["name"].as_str() {
            let key = from[field]["key"].as_str().unwrap_or("");
            return find(&(sources.data)(kind, name), key);
        }
    }
    if let Some(path) = from["fieldRef"]["fieldPath"].as_str() {
        return Some(field_value(sources.pod, path));
    }
    let resource = &from["resourceFieldRef"];
    if resource.is_object() {
        let pod: &Pod = sources.pod.body();
        return resource_value(pod, own, resource, sources.node);
    }
    Some(String::new())
}

/// Returns the value of a variable.
pub fn find(all: &[(String, String)], name: &str) -> Option<String> {
    all.iter()
        .find(|(known, _)| known == name)
        .map(|(_, value)| value.clone())
}

/// Sets a variable, in its place if it is set already.
pub fn set(all: &mut Environment, name: String, value: String) {
    match all.iter_mut().find(|(known, _)| *known == name) {
        Some((_, old)) => *old = value,
        None => all.push((name, value)),
    }
}

/// Returns the variables for Services that a Pod of their namespace gets, by name (`FromServices` of `pkg/kubelet/envvars`). Every Pod
/// gets those of the API server.
pub fn service_variables<'a>(
    pod: &Object,
    services: impl Iterator<Item = &'a Object>,
) -> Environment {
    let wanted = pod.body::<Pod>().spec.raw["enableServiceLinks"] != false;
    let meant = |object: &&Object| {
        let api = object.meta.namespace == "default" && object.meta.name == "kubernetes";
        api || wanted && object.meta.namespace == pod.meta.namespace
    };
    let mut out = Vec::new();
    for object in services.filter(meant) {
        let Some(service) = object.get::<Service>() else {
            continue;
        };
        let (address, Some(first)) = (&service.spec.cluster_ip, service.spec.ports.first()) else {
            continue;
        };
        if address.is_empty() || address == "None" {
            continue;
        }
        let name = object.meta.name.to_ascii_uppercase().replace('-', "_");
        out.push((format!("{name}_SERVICE_HOST"), address.to_string()));
        out.push((format!("{name}_SERVICE_PORT"), first.port.to_string()));
        let url = |protocol: &str, port: i32| {
            format!("{}://{address}:{port}", protocol.to_ascii_lowercase())
        };
        out.push((format!("{name}_PORT"), url(&first.protocol, first.port)));
        for port in &service.spec.ports {
            if !port.name.is_empty() {
                out.push((
                    format!(
                        "{name}_SERVICE_PORT_{}",
                        port.name.to_ascii_uppercase().replace('-', "_")
                    ),
                    port.port.to_string(),
                ));
            }
            let of = format!("{name}_PORT_{}_{}", port.port, port.protocol);
            out.push((of.clone(), url(&port.protocol, port.port)));
            out.push((format!("{of}_PROTO"), port.protocol.to_ascii_lowercase()));
            out.push((format!("{of}_PORT"), port.port.to_string()));
            out.push((format!("{of}_ADDR"), address.to_string()));
        }
    }
    out.sort();
    out
}

/// Returns keys and values of a ConfigMap or a Secret.
pub fn data(object: &Object) -> Environment {
    let value = object.to_value();
    let data = value["data"].as_object().into_iter().flatten();
    data.map(|(key, value)| {
        let text = value.as_str().unwrap_or("");
        let text = if object.kind == Kind::Secret {
            base64::decoded(text)
        } else {
            text.to_owned()
        };
        (key.clone(), text)
    })
    .collect()
}

/// Replaces references such as `$(NAME)`; `$$` stands for `$`. A reference without a value is left as it is.
pub fn expand(text: &str, value: impl Fn(&str) -> Option<String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let reference = after
            .strip_prefix('(')
            .and_then(|inner| inner.split_once(')'));
        rest = match (reference, after.chars().next()) {
            (Some((name, rest)), _) => {
                out.push_str(&value(name).unwrap_or_else(|| format!("$({name})")));
                rest
            }
            (None, Some('$')) => {
                out.push('$');
                &after[1..]
            }
            (None, Some(next)) => {
                out.push('$');
                out.push(next);
                &after[next.len_utf8()..]
            }
            (None, None) => {
                out.push('$');
                after
            }
        };
    }
    out + rest
}

/// Returns a field of a Pod as a variable or a file of the downward API contains it; empty for an unknown field.
pub fn field_value(object: &Object, path: &str) -> String {
    let (meta, pod): (_, &Pod) = (&object.meta, object.body());
    let ips = |all: &[super::pod::PodIp]| {
        let all: Vec<&str> = all.iter().map(|of| of.ip.as_str()).collect();
        all.join(",")
    };
    match path {
        "metadata.name" => meta.name.to_string(),
        "metadata.namespace" => meta.namespace.to_string(),
        "metadata.uid" => meta.uid.to_string(),
        "metadata.labels" => format_map(&meta.labels),
        "metadata.annotations" => format_map(&meta.annotations),
        "spec.nodeName" => pod.node_name.to_string(),
        "spec.serviceAccountName" => pod.spec.service_account_name.to_string(),
        "status.hostIP" => pod.status.host_ip.to_string(),
        "status.hostIPs" => ips(&pod.status.host_ips),
        "status.podIP" => pod.status.pod_ip.to_string(),
        "status.podIPs" => ips(&pod.status.pod_ips),
        _ => {
            let subscript = path
                .strip_suffix("']")
                .and_then(|path| path.split_once("['"));
            let value = match subscript {
                Some(("metadata.labels", key)) => meta.labels.get(key),
                Some(("metadata.annotations", key)) => meta.annotations.get(key),
                _ => None,
            };
            value.map(ToString::to_string).unwrap_or_default()
        }
    }
}

fn format_map(map: &Labels) -> String {
    let lines: Vec<String> = map
        .iter()
        .map(|(key, value)| format!("{key}={:?}", value.as_str()))
        .collect();
    lines.join("\n")
}

/// Returns a request or a limit of a container in units of a divisor, rounded up; a missing limit is the node's allocatable amount.
/// `own` is the container meant if the source names none; `None` without the container (`ExtractContainerResourceValue` of
/// `pkg/api/v1/resource/helpers.go`).
pub fn resource_value(pod: &Pod, own: &str, source: &Value, node: Option<&Node>) -> Option<String> {
    let name = source["containerName"].as_str().unwrap_or("");
    let name = if name.is_empty() { own } else { name };
    let mut all = pod.spec.every_container().map(|(_, container)| container);
    let container: &Container = all.find(|container| container.name == name)?;
    let (list, resource) = source["resource"].as_str()?.split_once('.')?;
    let positive = |value: Option<&Value>| {
        let amount = value.and_then(Quantity::from_json);
        amount.filter(|amount| !amount.is_zero())
    };
    let amount = match list {
        "limits" => positive(container.resources.limits.get(resource)).or_else(|| {
            let is_overcommitted = matches!(resource, "cpu" | "memory" | "ephemeral-storage");
            let allocatable = node.map(|node| &node.status.allocatable);
            positive(allocatable?.get(resource).filter(|_| is_overcommitted))
        }),
        _ => positive(container.resources.requests.get(resource)),
    };
    let amount = amount.unwrap_or(Quantity::ZERO);
    let divisor = positive(Some(&source["divisor"])).unwrap_or(Quantity::units(1));
    let unit = if resource == "cpu" {
        Quantity::as_millis
    } else {
        Quantity::as_units
    };
    let value = (unit(amount) as f64 / unit(divisor).max(1) as f64).ceil();
    Some((value as i64).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn pod() -> Object {
        let resources =
            json!({"requests": {"cpu": "250m", "memory": "64Mi"}, "limits": {"cpu": "1500m"}});
        let value = json!({
            "metadata": {"name": "web-0", "namespace": "shop", "labels": {"app": "web", "tier": "front"}, "annotations": {"x": "y z"}},
            "spec": {"nodeName": "node-1", "containers": [{"name": "c", "resources": resources}]},
            "status": {"podIP": "10.244.1.2", "podIPs": [{"ip": "10.244.1.2"}]},
        });
        Object::from_value(Kind::Pod, value).unwrap()
    }

    #[test]
    fn references_are_expanded_as_the_kubelet_does() {
        let value = |name: &str| (name == "A").then(|| "1".to_owned());
        for (text, expanded) in [
            ("$(A)", "1"),
            ("-$(A)$(A)-", "-11-"),
            ("$$(A)", "$(A)"),
            ("$$$(A)", "$1"),
            ("$(B)", "$(B)"),
            ("$(A", "$(A"),
            ("$A $", "$A $"),
            ("$é$(A)", "$é1"),
            ("$()", "$()"),
            ("$($(A))", "$($(A))"),
        ] {
            assert_eq!(expand(text, value), expanded, "{text}");
        }
    }

    #[test]
    fn variables_refer_to_earlier_ones_and_to_services() {
        let container = json!({"name": "c", "envFrom": [{"prefix": "C_", "configMapRef": {"name": "conf"}}], "env": [
            {"name": "HOST", "value": "$(DB_SERVICE_HOST):$(C_port)"},
            {"name": "LATER", "value": "$(URL)"},
            {"name": "URL", "value": "http://$(HOST)"},
            {"name": "APP", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['app']"}}},
            {"name": "NOTE", "valueFrom": {"fieldRef": {"fieldPath": "metadata.annotations['x']"}}},
            {"name": "LIMIT", "valueFrom": {"resourceFieldRef": {"containerName": "c", "resource": "limits.cpu", "divisor": "0"}}},
            {"name": "MILLI", "valueFrom": {"resourceFieldRef": {"resource": "requests.cpu", "divisor": "1m"}}},
            {"name": "MEM", "valueFrom": {"resourceFieldRef": {"containerName": "c", "resource": "limits.memory", "divisor": "1Mi"}}},
            {"name": "NONE", "valueFrom": {"configMapKeyRef": {"name": "conf", "key": "none", "optional": true}}},
            {"name": "C_port", "value": "9"},
        ]});
        let pod = pod();
        let data = |_: Kind, name: &str| {
            assert_eq!(name, "conf");
            vec![("port".to_owned(), "5432".to_owned())]
        };
        let node =
            json!({"metadata": {"name": "node-1"}, "status": {"allocatable": {"memory": "8Gi"}}});
        let node = Object::from_value(Kind::Node, node).unwrap();
        let services = [("DB_SERVICE_HOST".to_owned(), "10.96.0.7".to_owned())];
        let all = variables(
            &container,
            EnvironmentSources {
                pod: &pod,
                node: Some(node.body()),
                services: &services,
                data: &data,
            },
        );
        let all: Vec<String> = all
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        assert_eq!(
            all.join(" "),
            "C_port=9 HOST=10.96.0.7:5432 LATER=$(URL) URL=http://10.96.0.7:5432 APP=web NOTE=y z LIMIT=2 MILLI=250 MEM=8192"
        );
    }

    #[test]
    fn fields_of_a_pod_are_read_by_their_paths() {
        let pod = pod();
        for (path, value) in [
            ("metadata.labels", "app=\"web\"\ntier=\"front\""),
            ("metadata.labels['tier']", "front"),
            ("spec.nodeName", "node-1"),
            ("status.podIPs", "10.244.1.2"),
            ("metadata.labels['none']", ""),
        ] {
            assert_eq!(field_value(&pod, path), value, "{path}");
        }
    }
}
