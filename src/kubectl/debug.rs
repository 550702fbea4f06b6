//! `kubectl debug`: a copy of a Pod with other images or one more container, or a Pod with a node's namespaces and files.
//!
//! Containers are not added to running Pods: ephemeral containers are not simulated.
//! Models `kubectl/pkg/cmd/debug/{debug,profiles}.go` with the profile `general`.

use super::client::{Client, server_error};
use super::parse::Args;
use super::{Failure, Outcome, Reads, Verb, exec, targets};
use crate::api::Kind;
use serde_json::{Value, json};

const FLAGS: &str = "image= copy-to= ~target= container/c= stdin/i tty/t attach quiet/q ~profile= replace same-node share-processes \
    set-image= env= image-pull-policy= arguments-only !custom= keep-labels";

/// `kubectl debug`.
pub const VERB: Verb = Verb {
    name: "debug",
    aliases: &[],
    flags: FLAGS,
    reads: Reads::No,
    run,
    help: "Create debugging sessions for troubleshooting workloads and nodes",
};

fn run(client: &mut Client<'_>, words: &[String], _: &str) -> Result<Outcome, Failure> {
    let args = Args::parse("debug", FLAGS, words)?;
    client.use_flags(&args)?;
    let Some((target, command)) = args.words.split_first().filter(|_| args.dash != Some(0)) else {
        return Err(Failure::error("NAME or TYPE/NAME is required for debug"));
    };
    let (image, copy) = (text(&args, "image"), text(&args, "copy-to"));
    if image.is_none() && copy.is_none() {
        return Err(Failure::error("you must specify --image when not using --copy-to."));
    }
    if copy.is_none() && args.get("set-image").is_some() {
        return Err(Failure::error("--set-image may only be used with --copy-to."));
    }
    if image.is_none() && args.get("set-image").is_none() && text(&args, "container").is_none() {
        return Err(Failure::error("you must specify an existing container or a new image when using --copy-to."));
    }
    let kind = match target.split_once('/') {
        Some((word, _)) => targets::kind(client, word)?,
        None => Kind::Pod,
    };
    match (kind, copy, image) {
        (Kind::Node, _, Some(image)) => {
            let name = target.split_once('/').map_or("", |(_, name)| name);
            client.get(Kind::Node, name)?;
            node(client, &args, name, (image, command))
        }
        (_, Some(copy), image) => {
            let pod = exec::find(client, target)?.to_value();
            copied(client, &args, pod, copy, (image, command))
        }
        _ => {
            exec::find(client, target)?;
            Err(Failure::error(
                "ephemeral containers are not simulated: copy the Pod with --copy-to, or run a command in its own containers with 'kubectl exec'",
            ))
        }
    }
}

fn text<'a>(args: &'a Args, name: &str) -> Option<&'a str> {
    args.get(name).filter(|text| !text.is_empty())
}

/// The container for debugging.
fn debugger(args: &Args, name: &str, (image, command): (&str, &[String])) -> Value {
    let mut container = json!({"name": name, "image": image, "terminationMessagePolicy": "File",
        "imagePullPolicy": text(args, "image-pull-policy").unwrap_or("IfNotPresent")});
    if !command.is_empty() {
        container[if args.on("arguments-only") { "args" } else { "command" }] = command.iter().map(String::as_str).collect();
    }
    for flag in ["stdin", "tty"] {
        if args.on(flag) {
            container[flag] = true.into();
        }
    }
    let env: Vec<Value> =
        args.all("env").filter_map(|pair| pair.split_once('=')).map(|(name, value)| json!({"name": name, "value": value})).collect();
    if !env.is_empty() {
        container["env"] = env.into();
    }
    container
}

/// A Pod with the namespaces of a node, and its files at `/host`.
fn node(client: &mut Client<'_>, args: &Args, node: &str, run: (&str, &[String])) -> Result<Outcome, Failure> {
    let name = format!("node-debugger-{node}-{}", client.sim().server().rng.clone().suffix());
    let container = text(args, "container").unwrap_or("debugger");
    let mut debugger = debugger(args, container, run);
    debugger["volumeMounts"] = json!([{"mountPath": "/host", "name": "host-root"}]);
    let pod = json!({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": client.namespace, "labels": {"app.kubernetes.io/managed-by": "kubectl-debug"}},
        "spec": {"containers": [debugger], "hostIPC": true, "hostNetwork": true, "hostPID": true, "nodeName": node,
            "restartPolicy": "Never", "tolerations": [{"operator": "Exists"}],
            "volumes": [{"name": "host-root", "hostPath": {"path": "/"}}]}});
    if !args.on("quiet") {
        client.say(format!("Creating debugging pod {name} with container {container} on node {node}."));
    }
    client.create(pod).map_err(|error| server_error(&error))?;
    attached(client, args, &name, run.1)
}

/// A copy of a Pod: without its labels, so that no Service or ReplicaSet takes it for one of theirs.
fn copied(client: &mut Client<'_>, args: &Args, pod: Value, name: &str, run: (Option<&str>, &[String])) -> Result<Outcome, Failure> {
    let (image, command) = run;
    let old = &pod["metadata"];
    let mut metadata = json!({"name": name, "namespace": old["namespace"]});
    if old["annotations"].is_object() {
        metadata["annotations"] = old["annotations"].clone();
    }
    if args.on("keep-labels") {
        metadata["labels"] = old["labels"].clone();
    }
    let mut spec = pod["spec"].clone();
    if let Some(spec) = spec.as_object_mut() {
        spec.remove("ephemeralContainers");
        if !args.on("same-node") {
            spec.remove("nodeName");
        }
    }
    spec["shareProcessNamespace"] = args.get("share-processes").is_none_or(|on| on != "false").into();
    let containers = spec["containers"].as_array_mut().ok_or_else(|| Failure::error("the Pod has no containers"))?;
    // Probes would end a copy that is meant to be looked at.
    for container in containers.iter_mut().filter_map(Value::as_object_mut) {
        ["livenessProbe", "readinessProbe", "startupProbe"].iter().for_each(|probe| drop(container.remove(*probe)));
    }
    for pair in args.all("set-image").flat_map(|pairs| pairs.split(',')) {
        let Some((of, image)) = pair.split_once('=') else { return Err(Failure::error(format!("invalid argument {pair:?}"))) };
        for container in containers.iter_mut().filter(|container| of == "*" || container["name"] == of) {
            container["image"] = image.into();
        }
    }
    let wanted = text(args, "container");
    let known = wanted.and_then(|wanted| containers.iter().position(|container| container["name"] == wanted));
    let place = match (known, image) {
        (Some(at), image) => {
            if let Some(image) = image {
                containers[at]["image"] = image.into();
            }
            if !command.is_empty() {
                containers[at]["command"] = command.iter().map(String::as_str).collect();
                containers[at].as_object_mut().map(|container| container.remove("args"));
            }
            at
        }
        (None, Some(image)) => {
            let suffix = client.sim().server().rng.clone().suffix();
            let own = wanted.map_or_else(|| format!("debugger-{suffix}"), str::to_owned);
            if wanted.is_none() && !args.on("quiet") {
                client.say(format!("Defaulting debug container name to {own}."));
            }
            containers.push(debugger(args, &own, (image, command)));
            containers.len() - 1
        }
        (None, None) if wanted.is_some() => {
            return Err(Failure::error(format!("unable to find container with name {:?}", wanted.unwrap_or(""))));
        }
        (None, None) => 0,
    };
    let copy = json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec});
    if args.on("replace") {
        let key = client.key(Kind::Pod, pod["metadata"]["name"].as_str().unwrap_or(""));
        client.delete(&key, Default::default()).map_err(|error| server_error(&error))?;
    }
    client.create(copy).map_err(|error| server_error(&error))?;
    // A shell is opened in the first container only: in another one `kubectl exec -c` does that.
    if place == 0 { attached(client, args, name, command) } else { Ok(Outcome::Done) }
}

fn attached(client: &Client<'_>, args: &Args, name: &str, command: &[String]) -> Result<Outcome, Failure> {
    if args.on("stdin") || args.on("attach") {
        exec::stay(client, name, command, (args.on("stdin"), false, false))
    } else {
        Ok(Outcome::Done)
    }
}
