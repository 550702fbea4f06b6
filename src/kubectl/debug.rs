//! `kubectl debug`: a container added to a running Pod, a copy of a Pod with other images or one more container, or a Pod with a node's
//! namespaces and files.
//!
//! Models `kubectl/pkg/cmd/debug/{debug,profiles}.go`.

use super::client::{Client, server_error};
use super::exec::{self, Staying};
use super::output::group_version_kind;
use super::parse::Args;
use super::{Failure, Outcome, Reads, Verb, targets};
use crate::api::pod::Pod;
use crate::api::{Kind, Object};
use crate::engine::store::{Patch, Subresource};
use serde_json::{Value, json};

const FLAGS: &str = "image= copy-to= target= container/c= stdin/i tty/t attach quiet/q profile= replace same-node share-processes \
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
    if let Some(container) = text(&args, "target") {
        if copy.is_some() {
            return Err(Failure::error("--target is incompatible with --copy-to. Use --share-processes instead."));
        }
        if !args.on("quiet") {
            client.say(format!(
                "Targeting container {container:?}. If you don't see processes from this container it may be because the container runtime \
                 doesn't support this feature."
            ));
        }
    }
    let Some(profile) = Profile::named(text(&args, "profile").unwrap_or("general")) else {
        let all = "must be one of [\"legacy\", \"general\", \"baseline\", \"netadmin\", \"restricted\", \"sysadmin\"]";
        return Err(Failure::error(format!("unknown profile: {}, {all}", text(&args, "profile").unwrap_or(""))));
    };
    let kind = match target.split_once('/') {
        Some((word, _)) => targets::kind(client, word)?,
        None => Kind::Pod,
    };
    match (kind, copy, image) {
        (Kind::Pod, None, None) => Err(Failure::error("you must specify --image when not using --copy-to.")),
        (kind, ..) if !matches!(kind, Kind::Pod | Kind::Node) => {
            let name = target.split_once('/').map_or("", |(_, name)| name);
            client.get(kind, name)?;
            Err(Failure::error(format!("{:?} not supported by debug", group_version_kind(kind))))
        }
        (Kind::Node, _, Some(image)) => {
            let name = target.split_once('/').map_or("", |(_, name)| name);
            client.get(Kind::Node, name)?;
            node(client, &args, name, (image, command))
        }
        (_, Some(copy), image) => {
            let pod = exec::find(client, target, exec::ATTACH_TO)?.to_value();
            copied(client, &args, pod, copy, (image, command), profile)
        }
        (_, None, Some(image)) => {
            let pod = exec::find(client, target, exec::ATTACH_TO)?;
            added(client, &args, &pod, (image, command), profile)
        }
        (_, None, None) => Err(Failure::error("you must specify --image when not using --copy-to.")),
    }
}

/// What the container for debugging may do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Profile {
    Legacy,
    General,
    Baseline,
    Restricted,
    NetAdmin,
    SysAdmin,
}

impl Profile {
    fn named(word: &str) -> Option<Profile> {
        Some(match word {
            "legacy" => Profile::Legacy,
            "general" => Profile::General,
            "baseline" => Profile::Baseline,
            "restricted" => Profile::Restricted,
            "netadmin" => Profile::NetAdmin,
            "sysadmin" => Profile::SysAdmin,
            _ => return None,
        })
    }

    /// The security context of the container; `copied`: in a copy of the Pod.
    fn security(self, copied: bool) -> Option<Value> {
        let traces = Some(json!({"capabilities": {"add": ["SYS_PTRACE"]}}));
        match self {
            Profile::General => traces,
            Profile::Baseline if copied => traces,
            Profile::Legacy | Profile::Baseline => None,
            Profile::Restricted => Some(json!({"allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}, "runAsNonRoot": true,
                "seccompProfile": {"type": "RuntimeDefault"}})),
            Profile::NetAdmin => Some(json!({"capabilities": {"add": ["NET_ADMIN", "NET_RAW"]}})),
            Profile::SysAdmin => Some(json!({"privileged": true})),
        }
    }
}

/// A container added to a Pod that runs.
fn added(
    client: &mut Client<'_>,
    args: &Args,
    pod: &Object,
    (image, command): (&str, &[String]),
    profile: Profile,
) -> Result<Outcome, Failure> {
    let taken = |name: &str| pod.body::<Pod>().spec.every_container().any(|(_, container)| container.name == name);
    let name = debugger_name(client, args, &taken);
    let mut container = debugger(args, &name, (image, command));
    if let Some(target) = text(args, "target") {
        container["targetContainerName"] = target.into();
    }
    if let Some(security) = profile.security(false) {
        container["securityContext"] = security;
    }
    let change = json!({"spec": {"ephemeralContainers": [container]}});
    let key = pod.key();
    client.patch(&key, Subresource::EphemeralContainers, Patch::Strategic, &change).map_err(|error| server_error(&error))?;
    let place = client.get_at(&key).ok().and_then(|_| {
        let spec = &client.sim().get(&key)?.pod()?.spec;
        spec.every_container().position(|(_, container)| container.name == name)
    });
    attached(client, args, &key.name, command, place.unwrap_or_default())
}

/// The name that `-c` gives the container, or a new one.
fn debugger_name(client: &mut Client<'_>, args: &Args, taken: &dyn Fn(&str) -> bool) -> String {
    if let Some(name) = text(args, "container") {
        return name.to_owned();
    }
    let mut rng = client.sim().server().rng.clone();
    let mut name = format!("debugger-{}", rng.suffix());
    while taken(&name) {
        name = format!("debugger-{}", rng.suffix());
    }
    if !args.on("quiet") {
        client.say(format!("Defaulting debug container name to {name}."));
    }
    name
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
    attached(client, args, &name, run.1, 0)
}

/// A copy of a Pod: without its labels, so that no Service or ReplicaSet takes it for one of theirs.
fn copied(
    client: &mut Client<'_>,
    args: &Args,
    pod: Value,
    name: &str,
    run: (Option<&str>, &[String]),
    profile: Profile,
) -> Result<Outcome, Failure> {
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
            let own = debugger_name(client, args, &|name| containers.iter().any(|container| container["name"] == name));
            containers.push(debugger(args, &own, (image, command)));
            containers.len() - 1
        }
        (None, None) if wanted.is_some() => {
            return Err(Failure::error(format!("unable to find container with name {:?}", wanted.unwrap_or(""))));
        }
        (None, None) => 0,
    };
    if image.is_some()
        && let Some(security) = profile.security(true)
    {
        containers[place]["securityContext"] = security;
    }
    let copy = json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec});
    if args.on("replace") {
        let key = client.key(Kind::Pod, pod["metadata"]["name"].as_str().unwrap_or(""));
        client.delete(&key, Default::default()).map_err(|error| server_error(&error))?;
    }
    client.create(copy).map_err(|error| server_error(&error))?;
    attached(client, args, name, command, place)
}

/// Stays with the container at a place, if that is asked for: with `-i`, unless `--attach=false`.
fn attached(client: &Client<'_>, args: &Args, name: &str, command: &[String], container: usize) -> Result<Outcome, Failure> {
    let stays = args.get("attach").map_or(args.on("stdin"), |on| on != "false");
    if !stays {
        return Ok(Outcome::Done);
    }
    let (typed, tty, quiet) = (args.on("stdin"), args.on("tty"), args.on("quiet"));
    exec::stay(client, name, command, Staying { container, typed, tty, quiet, ..Staying::default() })
}
