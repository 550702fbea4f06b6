//! `kubectl expose`: creates a Service for the Pods of a workload.

use super::client::Client;
use super::documents::with_last_applied;
use super::failure::server_error;
use super::output::DryRun;
use super::parse::Args;
use super::patch::overridden;
use super::targets::{Targets, name_of};
use super::unavailable::NO_OBJECTS;
use super::{Failure, Outcome, Reads, Verb};
use k8s_model::Kind;
use serde_json::{Value, json};

const FLAGS: &str = "port= target-port= name= type= protocol= selector= labels/l= cluster-ip= external-ip= session-affinity= \
    load-balancer-ip= dry-run?unchanged output/o= @filename/f= kustomize/k= recursive/R save-config overrides= record";

/// Maximum length of a Service name.
const NAME_LENGTH: usize = 63;

/// `kubectl expose`.
pub const VERB: Verb = Verb {
    name: "expose",
    aliases: &[],
    flags: FLAGS,
    reads: Reads::No,
    run,
    help: "Take a replication controller, service, deployment or pod and expose it as a new Kubernetes service",
};

fn run(client: &mut Client<'_>, words: &[String], _: &str) -> Result<Outcome, Failure> {
    let args = Args::parse("expose", FLAGS, words)?;
    client.use_flags(&args)?;
    if args.words.is_empty() && client.local.is_empty() {
        return Err(Failure::error(NO_OBJECTS));
    }
    let mut objects = std::mem::take(&mut client.local);
    if objects.is_empty() {
        objects = Targets::parse(client, &args, &args.words)?.fetch(client);
    }
    for (kind, object) in objects {
        // A name taken from the object is truncated to fit.
        let own = name_of(&object);
        let name = args
            .get("name")
            .unwrap_or(own.get(..NAME_LENGTH).unwrap_or(own))
            .to_owned();
        let mut service = service(&args, kind, &object, &name)?;
        if args.on("save-config") {
            service = with_last_applied(&service);
        }
        match client.create(service) {
            Ok(service) if client.mode.dry == DryRun::Client => {
                client.report_typed(Kind::Service, &service, "exposed")?
            }
            Ok(service) => client.report(Kind::Service, &service, "exposed")?,
            Err(error) => client.streams.fail(&server_error(&error)),
        }
    }
    Ok(Outcome::Done)
}

fn service(args: &Args, kind: Kind, object: &Value, name: &str) -> Result<Value, Failure> {
    let selector = match (args.get("selector"), kind) {
        (Some(text), _) => Value::Object(super::create::pairs(text)),
        (None, Kind::Deployment | Kind::ReplicaSet) => {
            object["spec"]["selector"]["matchLabels"].clone()
        }
        (None, Kind::ReplicationController | Kind::Service) => object["spec"]["selector"].clone(),
        (None, Kind::Pod) => object["metadata"]["labels"].clone(),
        _ => {
            return Err(Failure::error(format!(
                "cannot expose a {}",
                kind.group_kind()
            )));
        }
    };
    if selector.as_object().is_none_or(serde_json::Map::is_empty) {
        let fault = if kind == Kind::Pod {
            "the pod has no labels and cannot be exposed"
        } else {
            "the object has no selector"
        };
        return Err(Failure::error(format!(
            "couldn't retrieve selectors via --selector flag or introspection: {fault}"
        )));
    }
    let containers = if kind == Kind::Pod {
        &object["spec"]["containers"]
    } else {
        &object["spec"]["template"]["spec"]["containers"]
    };
    let mut known: Vec<Value> = containers
        .as_array()
        .into_iter()
        .flatten()
        .flat_map(|c| c["ports"].as_array().cloned().unwrap_or_default())
        .collect();
    if kind == Kind::Service {
        known = object["spec"]["ports"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|port| json!({"containerPort": port["port"]}))
            .collect();
    }
    let numbers: Vec<i64> = match args.get("port") {
        Some(text) => text.split(',').filter_map(|n| n.parse().ok()).collect(),
        None => known
            .iter()
            .filter_map(|port| port["containerPort"].as_i64())
            .collect(),
    };
    if numbers.is_empty() {
        return Err(Failure::error(
            "couldn't find port via --port flag or introspection",
        ));
    }
    let target = args
        .get("target-port")
        .map(|text| text.parse::<i64>().map_or(Value::from(text), Value::from));
    let protocol = args.get("protocol").unwrap_or("TCP").to_ascii_uppercase();
    let many = numbers.len() > 1;
    let port = |(index, number): (usize, &i64)| {
        let mut port = json!({"port": number, "protocol": protocol, "targetPort": target.clone().unwrap_or(Value::from(*number))});
        if many {
            port["name"] = Value::from(format!("port-{}", index + 1));
        }
        port
    };
    let ports: Vec<Value> = numbers.iter().enumerate().map(port).collect();
    let mut spec = json!({"selector": selector, "ports": ports});
    for (flag, field) in [
        ("type", "type"),
        ("cluster-ip", "clusterIP"),
        ("session-affinity", "sessionAffinity"),
        ("load-balancer-ip", "loadBalancerIP"),
    ] {
        if let Some(value) = args.get(flag) {
            spec[field] = Value::from(value);
        }
    }
    if let Some(address) = args.get("external-ip") {
        spec["externalIPs"] = json!([address]);
    }
    let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "namespace": object["metadata"]["namespace"],
        "labels": object["metadata"]["labels"]}, "spec": spec});
    overridden(args, Kind::Service, service)
}
