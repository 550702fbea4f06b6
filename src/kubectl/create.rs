//! `kubectl create` and `replace`: from a file, or from a few words.

use super::apply::{self, prepare, with_last_applied};
use super::client::{Client, server_error, source_error};
use super::parse::Args;
use super::targets;
use super::{Failure, Outcome, Reads, Verb};
use crate::api::{Kind, ObjectRef};
use serde_json::{Map, Value, json};

const FLAGS: &str = "filename/f= recursive/R kustomize/k= save-config dry-run?unchanged output/o= validate?strict image= replicas/r= port= \
    from= schedule= restart= tcp= clusterip= node-port= external-name= from-literal= from-file= type= value= min-available= \
    max-unavailable= selector/l= hard= description= global-default preemption-policy= edit";

/// `kubectl create`.
pub const VERB: Verb = Verb {
    name: "create",
    aliases: &[],
    flags: FLAGS,
    reads: Reads::No,
    run: Some(run),
    help: "Create a resource from a file or from stdin",
};

/// `kubectl replace`.
pub const REPLACE: Verb = Verb {
    name: "replace",
    aliases: &[],
    flags: apply::FLAGS,
    reads: Reads::No,
    run: Some(replace),
    help: "Replace a resource by file name or stdin",
};

fn run(client: &mut Client<'_>, words: &[String], stdin: &str) -> Result<Outcome, Failure> {
    let args = Args::parse("create", FLAGS, words)?;
    client.use_flags(&args)?;
    if args.get("filename").is_some() {
        return from_text(client, &args, stdin);
    }
    let Some((topic, rest)) = args.words.split_first() else {
        return Err(Failure::error("must specify one of -f and -k"));
    };
    let value = generate(client, &args, topic, rest)?;
    finish(client, &args, value)
}

/// Creates a generated object, or shows it.
pub fn finish(client: &mut Client<'_>, args: &Args, value: Value) -> Result<Outcome, Failure> {
    let (kind, value) = prepare(client, args, value)?;
    let value = if args.on("save-config") { with_last_applied(&value) } else { value };
    let created = client.create(value).map_err(|error| match error.reason {
        crate::engine::store::Reason::Invalid => server_error(&error),
        _ => Failure::error(format!("failed to create {}: {}", kind.name().to_ascii_lowercase(), error.message)),
    })?;
    client.report_typed(kind, &created, "created")?;
    Ok(Outcome::Done)
}

fn from_text(client: &mut Client<'_>, args: &Args, stdin: &str) -> Result<Outcome, Failure> {
    let documents = apply::read(client, stdin);
    if documents.is_empty() && client.failure.is_none() {
        return Err(Failure::error("no objects passed to create"));
    }
    for value in documents {
        let result = prepare(client, args, value).and_then(|(kind, value)| {
            let value = if args.on("save-config") { with_last_applied(&value) } else { value };
            let created = client.create(value).map_err(|error| source_error(&error, "error when creating \"STDIN\""))?;
            client.report(kind, &created, "created")
        });
        if let Err(failure) = result {
            client.fail(&failure);
        }
    }
    Ok(Outcome::Done)
}

fn replace(client: &mut Client<'_>, words: &[String], stdin: &str) -> Result<Outcome, Failure> {
    let args = Args::parse("replace", apply::FLAGS, words)?;
    client.use_flags(&args)?;
    for value in apply::read(client, stdin) {
        let result = prepare(client, &args, value).and_then(|(kind, value)| {
            let name = value["metadata"]["name"].as_str().unwrap_or("").to_owned();
            let key = ObjectRef::new(kind, value["metadata"]["namespace"].as_str().unwrap_or(""), &name);
            if client.find(&key).is_none() {
                let error = crate::engine::store::ApiError::not_found(kind, &name);
                return Err(source_error(&error, "error when replacing \"STDIN\""));
            }
            let replaced = client.update(value).map_err(|error| source_error(&error, "error when replacing \"STDIN\""))?;
            client.report(kind, &replaced, "replaced")
        });
        if let Err(failure) = result {
            client.fail(&failure);
        }
    }
    Ok(Outcome::Done)
}

fn generate(client: &Client<'_>, args: &Args, topic: &str, rest: &[String]) -> Result<Value, Failure> {
    let service = matches!(topic, "service" | "svc");
    let (kind_word, rest) = match (topic, rest.split_first()) {
        ("service" | "svc" | "secret" | "quota", Some((sub, rest))) if topic != "quota" => (sub.as_str(), rest),
        _ => ("", rest),
    };
    let usage = || {
        Failure::error(format!("exactly one NAME is required, got {}\nSee 'kubectl create {topic} -h' for help and examples", rest.len()))
    };
    let name = rest.first().filter(|_| rest.len() == 1 || topic == "job" || topic == "cronjob" || topic == "cj").ok_or_else(usage)?;
    let labels = json!({"app": name});
    Ok(match topic {
        "deployment" | "deploy" => {
            args.require(&["image"])?;
            json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "labels": labels},
                "spec": {"replicas": args.number("replicas")?.unwrap_or(1), "selector": {"matchLabels": labels},
                    "template": {"metadata": {"labels": labels}, "spec": {"containers": containers(args)?}}}})
        }
        "namespace" | "ns" => json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}),
        "serviceaccount" | "sa" => json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name}}),
        "configmap" | "cm" => json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": literals(args)?}),
        "secret" => {
            json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "type": "Opaque", "stringData": literals(args)?})
        }
        "job" => job(client, args, name, rest)?,
        "cronjob" | "cj" => {
            args.require(&["image", "schedule"])?;
            let pod = json!({"containers": [{"name": name, "image": args.get("image"), "command": command(rest)}], "restartPolicy": args.get("restart").unwrap_or("OnFailure")});
            json!({"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": name}, "spec": {"schedule": args.get("schedule"),
                "jobTemplate": {"metadata": {"name": name}, "spec": {"template": {"spec": pod}}}}})
        }
        "poddisruptionbudget" | "pdb" => {
            let amount = |flag: &str| args.get(flag).map(|text| text.parse::<i64>().map_or(Value::from(text), Value::from));
            json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": name}, "spec": {
                "minAvailable": amount("min-available"), "maxUnavailable": amount("max-unavailable"),
                "selector": {"matchLabels": pairs(args.get("selector").unwrap_or(""))}}})
        }
        "quota" => {
            json!({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": name}, "spec": {"hard": pairs(args.get("hard").unwrap_or(""))}})
        }
        "priorityclass" | "pc" => json!({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name},
            "value": args.number("value")?.unwrap_or(0), "globalDefault": args.on("global-default"), "description": args.get("description")}),
        _ if service => self::service(args, kind_word, name)?,
        other => return Err(Failure::error(format!("unknown command \"{other}\" for \"kubectl create\""))),
    })
}

fn command(rest: &[String]) -> Value {
    if rest.len() > 1 { rest[1..].iter().map(String::as_str).collect() } else { Value::Null }
}

/// `nginx:1.16` gives a container called `nginx`.
fn containers(args: &Args) -> Result<Value, Failure> {
    let port = args.number("port")?;
    let one = |image: &str| {
        let name = image.rsplit('/').next().unwrap_or(image).split([':', '@']).next().unwrap_or(image);
        let mut container = json!({"name": name.to_ascii_lowercase(), "image": image});
        if let Some(port) = port {
            container["ports"] = json!([{"containerPort": port}]);
        }
        container
    };
    Ok(args.all("image").flat_map(|images| images.split(',')).map(one).collect())
}

/// `a=b,c=d` as a map.
pub(super) fn pairs(text: &str) -> Map<String, Value> {
    crate::sort::map(text.split(',').filter_map(|pair| pair.split_once('=')).map(|(key, value)| (key.to_owned(), Value::from(value))))
}

fn literals(args: &Args) -> Result<Map<String, Value>, Failure> {
    let mut data = Map::new();
    for literal in args.all("from-literal") {
        let (key, value) =
            literal.split_once('=').ok_or_else(|| Failure::error(format!("invalid literal source {literal}, expected key=value")))?;
        data.insert(key.to_owned(), Value::from(value));
    }
    Ok(data)
}

fn job(client: &Client<'_>, args: &Args, name: &str, rest: &[String]) -> Result<Value, Failure> {
    let mut job = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}});
    if let Some(source) = args.get("from") {
        let (kind, cron) = source.split_once('/').ok_or_else(|| Failure::error("--from must be like cronjob/NAME"))?;
        if targets::kind(kind)? != Kind::CronJob {
            return Err(Failure::error(format!("from must be an existing cronjob, got {kind}")));
        }
        let cron = client.get(Kind::CronJob, cron)?;
        let template = &cron["spec"]["jobTemplate"];
        job["metadata"]["annotations"] = template["metadata"]["annotations"].clone();
        job["metadata"]["annotations"]["cronjob.kubernetes.io/instantiate"] = json!("manual");
        job["metadata"]["labels"] = template["metadata"]["labels"].clone();
        job["metadata"]["ownerReferences"] = json!([{"apiVersion": "batch/v1", "kind": "CronJob", "name": cron["metadata"]["name"],
            "uid": cron["metadata"]["uid"], "controller": true}]);
        job["spec"] = template["spec"].clone();
        return Ok(job);
    }
    let image = args.get("image").ok_or_else(|| Failure::error("either --image or --from must be specified"))?;
    job["spec"]["template"]["spec"] =
        json!({"containers": [{"name": name, "image": image, "command": command(rest)}], "restartPolicy": "Never"});
    Ok(job)
}

fn service(args: &Args, kind: &str, name: &str) -> Result<Value, Failure> {
    let kind = match kind {
        "clusterip" => "ClusterIP",
        "nodeport" => "NodePort",
        "loadbalancer" => "LoadBalancer",
        "externalname" => "ExternalName",
        other => return Err(Failure::error(format!("unknown command \"{other}\" for \"kubectl create service\""))),
    };
    let mut ports = Vec::new();
    for pair in args.all("tcp").flat_map(|pairs| pairs.split(',')) {
        let (port, target) = pair.split_once(':').unwrap_or((pair, pair));
        let number: i64 = port.parse().map_err(|_| Failure::error(format!("invalid port format: {pair}")))?;
        let target = target.parse::<i64>().map_or(Value::from(target), Value::from);
        ports.push(json!({"name": pair.replace(':', "-"), "port": number, "targetPort": target, "protocol": "TCP"}));
    }
    if ports.is_empty() && kind != "ExternalName" && args.get("clusterip") != Some("None") {
        return Err(Failure::error("at least one tcp port specifier must be provided"));
    }
    let mut spec = json!({"type": kind, "ports": ports, "selector": {"app": name}});
    if let Some(address) = args.get("clusterip") {
        spec["clusterIP"] = Value::from(address);
    }
    if let Some(external) = args.get("external-name") {
        spec["externalName"] = Value::from(external);
    }
    if let (Some(number), Some(port)) = (args.number("node-port")?, spec["ports"].get_mut(0)) {
        port["nodePort"] = Value::from(number);
    }
    Ok(json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "labels": {"app": name}}, "spec": spec}))
}
