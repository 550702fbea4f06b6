//! `kubectl debug`: adds a container to a running Pod, copies a Pod with other images or one more container, or creates a Pod on a node
//! with its namespaces and files.
//!
//! Models `kubectl/pkg/cmd/debug/debug.go`.

mod profiles;

use super::client::Client;
use super::exec::Staying;
use super::failure::server_error;
use super::output::group_version_kind;
use super::parse::Args;
use super::{Failure, Outcome, PendingCommand, Reads, Verb, targets};
use crate::exec;
use apiserver::{DeleteOptions, PatchType, Subresource};
use k8s_model::{Kind, Object, Time, image};
use profiles::{DebugStyle, Profile};
use serde_json::{Value, json};
use std::collections::VecDeque;

const FLAGS: &str = "image= copy-to= target= container/c= stdin/i tty/t attach quiet/q profile= replace same-node share-processes \
    set-image= env= image-pull-policy= arguments-only !custom= keep-labels keep-annotations keep-liveness keep-readiness keep-startup \
    keep-init-containers @filename/f=";

/// `kubectl debug`.
pub const VERB: Verb = Verb {
    name: "debug",
    aliases: &[],
    flags: FLAGS,
    reads: Reads::No,
    run,
    help: "Create debugging sessions for troubleshooting workloads and nodes",
};

/// Options of the command.
#[derive(Clone, Debug)]
struct Debug {
    args: Args,
    /// Command to run in the container.
    command: Vec<String>,
    env: Vec<(String, String)>,
    images: Vec<(String, String)>,
    profile: Profile,
    /// Piped input.
    stdin: String,
}

fn run(client: &mut Client<'_>, words: &[String], stdin: &str) -> Result<Outcome, Failure> {
    let args = Args::parse("debug", FLAGS, words)?;
    let (env, images) = (pairs(&args, "env")?, pairs(&args, "set-image")?);
    client.use_flags(&args)?;
    let profile = args.get("profile").unwrap_or("general");
    let Some(profile) = Profile::named(profile) else {
        return Err(Failure::error(format!("unknown profile: {profile}")));
    };
    let dash = args.dash.unwrap_or(args.words.len());
    let (names, command) = (args.words[..dash].to_vec(), args.words[dash..].to_vec());
    let debug = Debug {
        args,
        command,
        env,
        images,
        profile,
        stdin: stdin.to_owned(),
    };
    debug.validate(client, &names).map_err(Failure::error)?;
    InTurn {
        debug,
        names: names.into(),
        session: None,
    }
    .go_on(client)
}

/// Returns the pairs of a map flag: `A=b,C=d`, or one pair whose value has commas. Models `string_to_string.go` of pflag.
fn pairs(args: &Args, flag: &str) -> Result<Vec<(String, String)>, Failure> {
    let mut all: Vec<(String, String)> = Vec::new();
    for given in args.all(flag) {
        let texts: Vec<&str> = if given.matches('=').count() > 1 {
            given.split(',').collect()
        } else {
            vec![given]
        };
        for text in texts {
            let Some((name, value)) = text.split_once('=') else {
                let fault = format!(
                    "invalid argument {given:?} for \"--{flag}\" flag: {text} must be formatted as key=value"
                );
                return Err(Failure::error(format!(
                    "{fault}\nSee 'kubectl debug --help' for usage."
                )));
            };
            match all.iter_mut().find(|(known, _)| known == name) {
                Some((_, known)) => value.clone_into(known),
                None => all.push((name.to_owned(), value.to_owned())),
            }
        }
    }
    Ok(all)
}

impl Debug {
    fn text(&self, name: &str) -> Option<&str> {
        self.args.get(name).filter(|text| !text.is_empty())
    }

    fn image(&self) -> Option<&str> {
        self.text("image")
    }

    /// Returns true if the command attaches to the container: with `-i`, unless `--attach=false`.
    fn attaches(&self) -> bool {
        self.args
            .get("attach")
            .map_or(self.args.on("stdin"), |on| on != "false")
    }

    /// Validates the options in the order of `DebugOptions.Validate`.
    fn validate(&self, client: &mut Client<'_>, names: &[String]) -> Result<(), String> {
        let fault = |text: &str| Err(text.to_owned());
        let (args, image, container) = (&self.args, self.image(), self.text("container"));
        if args.on("attach") && image.is_none() && container.is_none() {
            return fault(
                "you must specify --container or create a new container using --image in order to attach.",
            );
        }
        self.validate_copy().map_or(Ok(()), fault)?;
        if let Some((image, why)) = image.and_then(|image| Some((image, image::fault(image)?))) {
            return Err(format!("invalid image name {image:?}: {why}"));
        }
        if names.is_empty() {
            return fault("NAME or filename is required for debug");
        }
        if let Some(policy) = self
            .text("image-pull-policy")
            .filter(|policy| !matches!(*policy, "Always" | "IfNotPresent" | "Never"))
        {
            return Err(format!("invalid image pull policy: {policy}"));
        }
        for (name, image) in &self.images {
            if let Some(why) = image::fault(image) {
                return Err(format!(
                    "invalid image name {image:?} for container {name:?}: {why}"
                ));
            }
        }
        if let Some(target) = self.text("target") {
            if self.text("copy-to").is_some() {
                return fault(
                    "--target is incompatible with --copy-to. Use --share-processes instead.",
                );
            }
            self.say(
                client,
                format!(
                    "Targeting container {target:?}. If you don't see processes from this container it may be because the container \
                     runtime doesn't support this feature."
                ),
            );
        }
        if args.on("tty") && !args.on("stdin") {
            return fault("-i/--stdin is required for containers with -t/--tty=true");
        }
        if self.profile == Profile::Legacy {
            client.streams.warn(
                "--profile=legacy is deprecated and planned to be removed in v1.39. It is recommended to specify other profile, for \
                 example \"--profile=general\".",
            );
        }
        Ok(())
    }

    /// Returns the error of the flags about a copy.
    fn validate_copy(&self) -> Option<&'static str> {
        let (args, image) = (&self.args, self.image());
        if self.text("copy-to").is_none() {
            return match () {
                () if args.on("replace") => Some("--replace may only be used with --copy-to."),
                () if args.on("same-node") => Some("--same-node may only be used with --copy-to."),
                () if !self.images.is_empty() => {
                    Some("--set-image may only be used with --copy-to.")
                }
                () if image.is_none() => Some("you must specify --image when not using --copy-to."),
                () => None,
            };
        }
        match () {
            () if image.is_none() && self.images.is_empty() && self.command.is_empty() => {
                Some("you must specify --image, --set-image or command arguments.")
            }
            () if !self.command.is_empty()
                && self.text("container").is_none()
                && image.is_none() =>
            {
                Some("you must specify an existing container or a new image when specifying args.")
            }
            () => None,
        }
    }

    fn say(&self, client: &mut Client<'_>, text: String) {
        if !self.args.on("quiet") {
            client.streams.say(text);
        }
    }

    /// Debugs the object for a word; returns the Pod and the container to attach to, if requested.
    fn visit(
        &self,
        client: &mut Client<'_>,
        target: &str,
    ) -> Result<Option<(String, String)>, Failure> {
        let object = targets::object(client, target)?;
        let at = match object.kind {
            Kind::Node => self.on_node(client, &object.meta.name)?,
            Kind::Pod if self.text("copy-to").is_some() => self.by_copy(client, &object)?,
            Kind::Pod => self.by_ephemeral(client, &object)?,
            _ => {
                return Err(Failure::error(format!(
                    "{:?} not supported by debug",
                    group_version_kind(object.kind)
                )));
            }
        };
        Ok(Some(at).filter(|(_, container)| self.attaches() && !container.is_empty()))
    }

    /// Adds an ephemeral container to a running Pod.
    fn by_ephemeral(
        &self,
        client: &mut Client<'_>,
        pod: &Object,
    ) -> Result<(String, String), Failure> {
        let mut debugged = pod.to_value();
        let name = self.container_name(client, &debugged);
        let mut container = self.new_container(&name);
        if let Some(target) = self.text("target") {
            container["targetContainerName"] = target.into();
        }
        let listed = debugged["spec"]["ephemeralContainers"].take();
        let listed = listed.as_array().map_or(&[][..], Vec::as_slice);
        let (known, others): (Vec<&Value>, Vec<&Value>) =
            listed.iter().partition(|one| one["name"] == name.as_str());
        let mut order: Vec<Value> = others
            .iter()
            .map(|one| json!({"name": one["name"]}))
            .collect();
        order.push(json!({"name": name}));
        // An existing one gets the changes of the profile, which the server does not allow.
        debugged["spec"]["ephemeralContainers"] =
            json!([known.first().map_or(&container, |known| *known)]);
        self.profile
            .apply(&mut debugged, &name, DebugStyle::Ephemeral, &self.args);
        warn_of_user(client, &mut debugged, &name);
        let mut containers = debugged["spec"]["ephemeralContainers"].take();
        if let Some(all) = containers.as_array_mut().filter(|_| !known.is_empty()) {
            all.insert(0, json!({"name": name, "securityContext": null}));
        }
        let change = json!({"spec": {"$setElementOrder/ephemeralContainers": order, "ephemeralContainers": containers}});
        let (key, part) = (pod.key(), Subresource::EphemeralContainers);
        client
            .patch(&key, part, PatchType::Strategic, &change)
            .map_err(|error| server_error(&error))?;
        Ok((key.name.to_string(), name))
    }

    /// Returns the container name of `-c`, or a new one.
    fn container_name(&self, client: &mut Client<'_>, pod: &Value) -> String {
        if let Some(name) = self.text("container") {
            return name.to_owned();
        }
        let lists = ["containers", "initContainers", "ephemeralContainers"];
        let is_used = |name: &str| {
            lists.iter().any(|list| {
                pod["spec"][*list]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .any(|one| one["name"] == name)
            })
        };
        let mut rng = client.sim().store().rng.clone();
        let mut name = format!("debugger-{}", rng.suffix());
        while is_used(&name) {
            name = format!("debugger-{}", rng.suffix());
        }
        self.say(
            client,
            format!("Defaulting debug container name to {name}."),
        );
        name
    }

    /// Builds a new container for debugging.
    fn new_container(&self, name: &str) -> Value {
        let mut container = json!({"name": name, "terminationMessagePolicy": "File"});
        self.set_up(&mut container);
        container
    }

    /// Applies the flags to a container.
    fn set_up(&self, container: &mut Value) {
        if !self.command.is_empty() {
            let command: Value = self.command.iter().map(String::as_str).collect();
            if self.args.on("arguments-only") {
                container["args"] = command;
            } else {
                container["command"] = command;
                container
                    .as_object_mut()
                    .map(|fields| fields.remove("args"));
            }
        }
        if !self.env.is_empty() {
            container["env"] = self
                .env
                .iter()
                .map(|(name, value)| json!({"name": name, "value": value}))
                .collect();
        }
        for (flag, field) in [("image", "image"), ("image-pull-policy", "imagePullPolicy")] {
            if let Some(text) = self.text(flag) {
                container[field] = text.into();
            }
        }
        for flag in ["stdin", "tty"] {
            container.as_object_mut().map(|fields| fields.remove(flag));
            if self.args.on(flag) {
                container[flag] = true.into();
            }
        }
    }

    /// Creates a Pod on a node.
    fn on_node(&self, client: &mut Client<'_>, node: &str) -> Result<(String, String), Failure> {
        let name = format!(
            "node-debugger-{node}-{}",
            client.sim().store().rng.clone().suffix()
        );
        let container = self.text("container").unwrap_or("debugger");
        self.say(
            client,
            format!("Creating debugging pod {name} with container {container} on node {node}."),
        );
        let mut pod = json!({"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "namespace": client.namespace, "labels": {"app.kubernetes.io/managed-by": "kubectl-debug"}},
            "spec": {"containers": [self.new_container(container)], "nodeName": node, "restartPolicy": "Never",
                "tolerations": [{"operator": "Exists"}]}});
        self.profile
            .apply(&mut pod, container, DebugStyle::Node, &self.args);
        client.create(pod).map_err(|error| server_error(&error))?;
        Ok((name, container.to_owned()))
    }

    /// Creates a copy of a Pod.
    fn by_copy(&self, client: &mut Client<'_>, pod: &Object) -> Result<(String, String), Failure> {
        let (mut copy, container) = self.copy(client, &pod.to_value())?;
        warn_of_user(client, &mut copy, &container);
        let name = self.text("copy-to").unwrap_or("").to_owned();
        client.create(copy).map_err(|error| server_error(&error))?;
        if self.args.on("replace") {
            let now = DeleteOptions {
                grace_period_seconds: Some(0),
                ..DeleteOptions::background()
            };
            client
                .delete(&pod.key(), now)
                .map_err(|error| server_error(&error))?;
        }
        Ok((name, container))
    }

    /// Builds the copy and the name of its debug container, if any, as `generatePodCopyWithDebugContainer`.
    fn copy(&self, client: &mut Client<'_>, pod: &Value) -> Result<(Value, String), Failure> {
        let old = &pod["metadata"];
        let mut metadata = json!({"name": self.text("copy-to"), "namespace": old["namespace"]});
        for field in ["annotations", "labels"] {
            if old[field].is_object() {
                metadata[field] = old[field].clone();
            }
        }
        let mut copy =
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": pod["spec"]});
        let spec = &mut copy["spec"];
        if let Some(fields) = spec.as_object_mut() {
            fields.remove("ephemeralContainers");
            if !self.args.on("same-node") {
                fields.remove("nodeName");
            }
        }
        if let Some(share) = self.args.get("share-processes") {
            spec["shareProcessNamespace"] = (share != "false").into();
        }
        for container in spec["containers"].as_array_mut().into_iter().flatten() {
            let set = |of: &str| self.images.iter().find(|(name, _)| name == of);
            if let Some((_, image)) =
                set(container["name"].as_str().unwrap_or("")).or_else(|| set("*"))
            {
                container["image"] = image.as_str().into();
            }
        }
        let wanted = self.text("container").unwrap_or("").to_owned();
        let name = match profiles::container(&mut copy, &wanted) {
            Some(container) => {
                self.set_up(container);
                wanted
            }
            None if self.image().is_none() && !self.images.is_empty() => {
                return Ok((copy, String::new()));
            }
            None if self.image().is_none() => {
                return Err(Failure::error(
                    "you must specify image when creating new container",
                ));
            }
            None => {
                let name = self.container_name(client, &copy);
                let added = self.new_container(&name);
                copy["spec"]["containers"]
                    .as_array_mut()
                    .into_iter()
                    .for_each(|all| all.push(added.clone()));
                name
            }
        };
        self.profile
            .apply(&mut copy, &name, DebugStyle::Copy, &self.args);
        Ok((copy, name))
    }
}

/// Warns if the Pod runs as a user that cannot use the container's privileges.
fn warn_of_user(client: &mut Client<'_>, pod: &mut Value, name: &str) {
    let is_root = |context: &Value| context["runAsUser"].as_i64().map(|user| user == 0);
    if is_root(&pod["spec"]["securityContext"]) != Some(false) {
        return;
    }
    let Some(context) =
        profiles::container(pod, name).map(|container| &container["securityContext"])
    else {
        return;
    };
    let added = context["capabilities"]["add"]
        .as_array()
        .is_some_and(|added| !added.is_empty());
    if is_root(context) != Some(true) && (context["privileged"] == true || added) {
        client.streams.warn(
            "Warning: Non-root user is configured for the entire target Pod, and some capabilities granted by debug profile may not work. \
             Please consider using \"--custom\" with a custom profile that specifies \"securityContext.runAsUser: 0\".",
        );
    }
}

/// Several Pods or nodes that are debugged in sequence; the command stays attached to each until its session ends.
#[derive(Clone)]
struct InTurn {
    debug: Debug,
    names: VecDeque<String>,
    session: Option<Box<dyn PendingCommand>>,
}

impl InTurn {
    /// Debugs the next target.
    fn go_on(mut self, client: &mut Client<'_>) -> Result<Outcome, Failure> {
        Ok(if self.next(client)? {
            Outcome::Done
        } else {
            Outcome::pending(self)
        })
    }

    /// Debugs further targets until there is a session to attach to; returns true if all are done.
    fn next(&mut self, client: &mut Client<'_>) -> Result<bool, Failure> {
        self.session = None;
        while let Some(name) = self.names.pop_front() {
            let Some((pod, container)) = self.debug.visit(client, &name)? else {
                continue;
            };
            let on = |flag| self.debug.args.on(flag);
            let how = Staying {
                typed: on("stdin"),
                tty: on("tty"),
                quiet: on("quiet"),
                patient: true,
                ..Staying::default()
            };
            let stays = exec::stay(client, &pod, &container, &self.debug.stdin, how)?;
            if !self.debug.stdin.is_empty() {
                // The first target has consumed the piped input.
                "\n".clone_into(&mut self.debug.stdin);
            }
            if let Outcome::Pending(session) = stays {
                self.session = Some(session);
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn session(&self) -> Option<&dyn PendingCommand> {
        self.session.as_deref()
    }
}

impl PendingCommand for InTurn {
    fn poll(&mut self, client: &mut Client<'_>) -> Result<bool, Failure> {
        match &mut self.session {
            Some(session) => Ok(session.poll(client)? && self.next(client)?),
            None => self.next(client),
        }
    }

    fn deadline(&self) -> Option<Time> {
        self.session()?.deadline()
    }

    fn goes_on(&self) -> bool {
        self.session().is_some_and(PendingCommand::goes_on)
    }

    fn input(&mut self, client: &mut Client<'_>, line: Option<&str>) -> bool {
        self.session
            .as_mut()
            .is_some_and(|session| session.input(client, line))
    }

    fn takes_input(&self) -> bool {
        self.session().is_some_and(PendingCommand::takes_input)
    }

    fn progress(&self) -> usize {
        // Each finished target counts more than the session of the next.
        self.session().map_or(0, PendingCommand::progress) + usize::MAX / 2 / (self.names.len() + 1)
    }

    fn copy(&self) -> Box<dyn PendingCommand> {
        Box::new(self.clone())
    }
}
