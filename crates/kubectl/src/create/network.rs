//! `create service` and `create ingress`.

use super::generator::{Generator, amount, list, object};
use crate::Failure;
use crate::client::Client;
use crate::parse::Args;
use apiserver::validation;
use serde_json::{Map, Value, json};

const fn service_of(
    name: &'static str,
    flags: &'static str,
    fails: &'static str,
    make: Make,
) -> Generator {
    Generator {
        name,
        alias: "svc",
        flags,
        fails,
        make,
    }
}

type Make = fn(&mut Client<'_>, &Args, &str) -> Result<Value, Failure>;

pub const CLUSTER_IP: Generator = service_of(
    "service clusterip",
    "tcp= clusterip=",
    "failed to create ClusterIP service:",
    |_, args, name| service(args, "ClusterIP", name),
);
pub const NODE_PORT: Generator = service_of(
    "service nodeport",
    "tcp= node-port=",
    "failed to create NodePort service:",
    |_, args, name| service(args, "NodePort", name),
);
pub const LOAD_BALANCER: Generator = service_of(
    "service loadbalancer",
    "tcp=",
    "failed to create LoadBalancer service:",
    |_, args, name| service(args, "LoadBalancer", name),
);
pub const EXTERNAL_NAME: Generator = service_of(
    "service externalname",
    "tcp= external-name=",
    "failed to create ExternalName service:",
    |_, args, name| service(args, "ExternalName", name),
);

pub const INGRESS: Generator = Generator {
    name: "ingress",
    alias: "ing",
    flags: "class= rule= annotation= default-backend=",
    fails: "failed to create ingress:",
    make: ingress,
};

fn service(args: &Args, kind: &str, name: &str) -> Result<Value, Failure> {
    if kind == "ExternalName" {
        args.require(&["external-name"])?;
    }
    let mut ports = Vec::new();
    for pair in list(args, "tcp") {
        let (port, target) = pair.split_once(':').unwrap_or((pair, pair));
        let number: u16 = port.parse().map_err(|_| {
            Failure::error(format!(
                "strconv.ParseUint: parsing {port:?}: invalid syntax"
            ))
        })?;
        let mut port = json!({"name": pair.replace(':', "-"), "port": number, "targetPort": amount(target), "protocol": "TCP"});
        if let Some(number) = args.number("node-port")?.filter(|number| *number != 0) {
            port["nodePort"] = number.into();
        }
        ports.push(port);
    }
    let address = args.get("clusterip").filter(|address| !address.is_empty());
    if address != Some("None") && ports.is_empty() && kind != "ExternalName" {
        return Err(Failure::error(
            "at least one tcp port specifier must be provided",
        ));
    }
    let external = args.get("external-name");
    if let Some(external) = external.filter(|name| validation::subdomain(name).is_some()) {
        return Err(Failure::error(format!(
            "invalid service external name {external}"
        )));
    }
    let mut service = object("v1", "Service", name);
    service["metadata"]["labels"] = json!({"app": name});
    service["spec"] = json!({"type": kind, "selector": {"app": name}, "clusterIP": address, "externalName": external,
        "ports": if ports.is_empty() { Value::Null } else { ports.into() }});
    Ok(service)
}

/// Rule of the form `host/path=service:port[,tls[=secret]]`.
struct IngressRule<'a> {
    host: &'a str,
    path: &'a str,
    backend: Value,
    tls: Option<&'a str>,
}

fn ingress(_: &mut Client<'_>, args: &Args, name: &str) -> Result<Value, Failure> {
    let rules: Vec<&str> = args.all("rule").collect();
    if rules.is_empty() && args.get("default-backend").is_none() {
        return Err(Failure::error(
            "not enough information provided: every ingress has to either specify a default-backend (which catches all traffic) or a \
             list of rules (which catch specific paths)",
        ));
    }
    let mut spec = Map::new();
    let (mut tls, mut hosts): (Vec<Value>, Vec<Value>) = (Vec::new(), Vec::new());
    let mut secured: Vec<&str> = Vec::new();
    for text in rules {
        let wrong = || {
            Failure::error(format!(
                "rule {text} is invalid and should be in format host/path=svcname:svcport[,tls[=secret]]"
            ))
        };
        let rule = read(text).ok_or_else(wrong)?;
        let (path, kind) = match rule.path.strip_suffix('*') {
            Some(prefix) => (prefix, "Prefix"),
            None => (rule.path, "Exact"),
        };
        let path = json!({"path": path, "pathType": kind, "backend": rule.backend});
        let known = hosts
            .iter_mut()
            .find(|known| known["host"].as_str().unwrap_or("") == rule.host);
        match known.and_then(|known| known["http"]["paths"].as_array_mut()) {
            Some(paths) => paths.push(path),
            None => {
                let host = if rule.host.is_empty() {
                    Value::Null
                } else {
                    rule.host.into()
                };
                hosts.push(json!({"host": host, "http": {"paths": [path]}}));
            }
        }
        let Some(secret) = rule.tls.filter(|_| !secured.contains(&rule.host)) else {
            continue;
        };
        secured.push(rule.host);
        let name = if secret.is_empty() {
            Value::Null
        } else {
            secret.into()
        };
        let same = tls.iter_mut().find(|known| known["secretName"] == name);
        match same.and_then(|known| known["hosts"].as_array_mut()) {
            Some(hosts) => hosts.push(rule.host.into()),
            None if rule.host.is_empty() && secret.is_empty() => {}
            None => tls.push(json!({"secretName": name, "hosts": if rule.host.is_empty() { Value::Null } else { json!([rule.host]) }})),
        }
    }
    if let Some(class) = args.get("class") {
        spec.insert("ingressClassName".into(), class.into());
    }
    if let Some(text) = args.get("default-backend") {
        let found = backend(text).ok_or_else(|| {
            Failure::error("default-backend should be in format servicename:serviceport")
        })?;
        spec.insert("defaultBackend".into(), found);
    }
    for (field, list) in [("tls", tls), ("rules", hosts)] {
        if !list.is_empty() {
            spec.insert(field.into(), list.into());
        }
    }
    let mut annotations = Map::new();
    for text in args.all("annotation") {
        let wrong = || {
            Failure::error(format!(
                "annotation {text} is invalid and should be in format key=[value]"
            ))
        };
        let (key, value) = text.split_once('=').ok_or_else(wrong)?;
        annotations.insert(key.to_owned(), value.into());
    }
    let mut ingress = object("networking.k8s.io/v1", "Ingress", name);
    ingress["metadata"]["annotations"] = if annotations.is_empty() {
        Value::Null
    } else {
        annotations.into()
    };
    ingress["spec"] = spec.into();
    Ok(ingress)
}

fn read(text: &str) -> Option<IngressRule<'_>> {
    let (rule, tls) = match text.split_once(',') {
        Some((rule, tls)) => (rule, Some(tls.strip_prefix("tls")?.trim_start_matches('='))),
        None => (text, None),
    };
    let slash = rule.find('/')?;
    let (path, service) = rule[slash..].rsplit_once('=')?;
    let host = &rule[..slash];
    let plain = host
        .chars()
        .all(|c| c.is_alphanumeric() || "_*-.".contains(c));
    Some(IngressRule {
        host,
        path,
        backend: backend(service)?,
        tls,
    })
    .filter(|_| plain)
}

fn backend(text: &str) -> Option<Value> {
    let (service, port) = text
        .split_once(':')
        .filter(|(service, port)| !service.is_empty() && !port.is_empty())?;
    let port = port.parse::<i64>().map_or_else(
        |_| json!({"name": port}),
        |number| json!({"number": number}),
    );
    Some(json!({"service": {"name": service, "port": port}}))
}
