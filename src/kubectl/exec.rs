//! `kubectl exec`, `attach` and the part of `run` that stays with its Pod: a shell in a container. Containers do not run; the shell
//! and its commands are modelled (`kubectl/shell`). Files on a volume are still there for the next Pod.

use super::client::{Client, server_error};
use super::output::go_type;
use super::parse::Args;
use super::shell::room::Place;
use super::shell::{LineCommand, Machine};
use super::targets;
use super::{Failure, Outcome, PendingCommand, Reads, Verb};
use crate::api::pod::{ContainerState, Pod, PodSpec};
use crate::api::selector::LabelSelector;
use crate::api::time::SECOND;
use crate::api::{Kind, Object, ObjectRef, Time};
use crate::engine::store::{ApiError, Delete, StatusReason};
use std::rc::Rc;

const FLAGS: &str = "container/c= stdin/i ~tty/t ~quiet/q @filename/f= ~pod-running-timeout=";

/// `kubectl exec`.
pub const VERB: Verb = Verb { name: "exec", aliases: &[], flags: FLAGS, reads: Reads::No, run, help: "Execute a command in a container" };

/// What a command in a container reads.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stdin {
    /// Nothing.
    Closed,
    /// A text, which has ended.
    Text(String),
    /// A shell reads lines as they are typed; other commands read nothing.
    Lines,
}

fn run(client: &mut Client<'_>, words: &[String], stdin: &str) -> Result<Outcome, Failure> {
    // Flags of the command in the container are not kubectl's.
    let split = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let args = Args::parse("exec", FLAGS, &words[..split])?;
    client.use_flags(&args)?;
    let Some((target, rest)) = args.words.split_first() else {
        return Err(Failure::error("pod, type/name or --filename must be specified"));
    };
    let command: Vec<String> = rest.iter().chain(words.get(split + 1..).unwrap_or_default()).cloned().collect();
    if command.is_empty() {
        return Err(Failure::error("you must specify at least one command for the container"));
    }
    let pod = find(client, target, ATTACH_TO)?;
    let container = container(client, &args, &pod)?;
    let stdin = match stdin {
        _ if !args.on("stdin") => Stdin::Closed,
        "" => Stdin::Lines,
        text => Stdin::Text(text.to_owned()),
    };
    Ok(Outcome::pending(LineCommand { machine: in_container(&pod, container, &command, stdin), remote: true }))
}

/// The container of a Pod that `-c` names, or the first; it must be running.
pub fn container(client: &mut Client<'_>, args: &Args, pod: &Object) -> Result<usize, Failure> {
    let body: &Pod = pod.body();
    if body.is_terminal() {
        return Err(Failure::error(format!("cannot exec into a container in a completed pod; current phase is {}", body.status.phase)));
    }
    let all = all_containers(|list| names(&body.spec, list));
    let first = body.spec.containers.first().map_or("", |c| c.name.as_str());
    let wanted = args.get("container").unwrap_or(first);
    if !body.spec.every_container().any(|(_, c)| c.name == wanted) {
        return Err(Failure::error(format!("container {wanted} is not valid for pod {} out of: {all}", pod.meta.name)));
    }
    if args.get("container").is_none() && all != first {
        client.warn(format!("Defaulted container {first:?} out of: {all}"));
    }
    reached(pod, wanted).map_err(|error| match error.reason {
        StatusReason::InternalError => Failure::error(error.message),
        _ => server_error(&error),
    })
}

/// The names in one of the lists of a spec.
fn names(spec: &PodSpec, list: &str) -> Vec<String> {
    spec.every_container().filter(|(of, _)| *of == list).map(|(_, container)| container.name.to_string()).collect()
}

/// The containers of a Pod as kubectl lists them; `of` gives the names in a list of its spec.
pub fn all_containers(of: impl Fn(&'static str) -> Vec<String>) -> String {
    let lists = [("containers", ""), ("ephemeralContainers", " (ephem)"), ("initContainers", " (init)")];
    let all: Vec<String> = lists.iter().flat_map(|(list, what)| of(list).into_iter().map(move |name| name + what)).collect();
    all.join(", ")
}

/// The place among all containers of the one of this name that the server and its kubelet reach; without a name, of the only one.
///
/// Models `pkg/registry/core/pod/strategy.go` and `pkg/kubelet/kubelet_pods.go`.
pub fn reached(pod: &Object, wanted: &str) -> Result<usize, ApiError> {
    let body: &Pod = pod.body();
    let (name, containers) = (pod.meta.name.as_str(), &body.spec.containers);
    if body.node_name.is_empty() {
        return Err(ApiError::bad_request(format!("pod {name} does not have a host assigned")));
    }
    let found = match (wanted, containers.len()) {
        ("", 1) => Some(0),
        ("", _) => {
            let names: Vec<&str> = containers.iter().map(|c| c.name.as_str()).collect();
            let message = format!("a container name must be specified for pod {name}, choose one of: [{}]", names.join(" "));
            return Err(ApiError::bad_request(message));
        }
        _ => body.spec.every_container().position(|(_, c)| c.name == wanted),
    };
    let Some(found) = found else {
        return Err(ApiError::bad_request(format!("container {wanted} is not valid for pod {name}")));
    };
    let of = body.spec.every_container().nth(found).map_or("", |(_, container)| container.name.as_str());
    if body.status.of_container(of).is_none_or(|status| status.state.running.is_none()) {
        let message = format!("Internal error occurred: unable to upgrade connection: container not found ({of:?})");
        return Err(ApiError::internal(&message));
    }
    Ok(found)
}

/// Whether a command is a shell, which reads lines as they are typed.
pub fn is_shell(command: &[String]) -> bool {
    matches!(command, [word] if matches!(word.rsplit('/').next(), Some("sh" | "bash" | "ash")))
}

/// A shell in a container, or one command.
pub fn in_container(pod: &Object, container: usize, command: &[String], stdin: Stdin) -> Machine {
    let place = Place::Pod(pod.key(), pod.meta.uid, container);
    match stdin {
        Stdin::Lines if is_shell(command) => Machine::interactive(place),
        Stdin::Text(text) => Machine::of_words(place, command).with_stdin(&text),
        Stdin::Lines | Stdin::Closed => Machine::of_words(place, command),
    }
}

/// What `exec`, `attach` and `port-forward` cannot do with an object that selects no Pods.
pub const ATTACH_TO: &str = "cannot attach to";

/// The Pods that a workload selects.
pub fn pods_of(client: &Client<'_>, kind: Kind, name: &str) -> Vec<Rc<Object>> {
    let Some(object) = client.sim().get(&client.key(kind, name)) else { return Vec::new() };
    let selector = LabelSelector::of_pods(&object.to_value()["spec"]["selector"]);
    let matches = |pod: &Object| pod.meta.namespace == object.meta.namespace && selector.matches(&pod.meta.labels);
    client.sim().list(Kind::Pod).filter(|pod| !selector.is_empty() && matches(pod)).cloned().collect()
}

/// The Pod that a word names: itself, or the first of a workload; `doing` is what cannot be done with other objects.
pub fn find(client: &Client<'_>, target: &str, doing: &str) -> Result<Rc<Object>, Failure> {
    let (kind, name) = match target.split_once('/') {
        Some((kind, name)) => (targets::kind(client, kind)?, name),
        None => (Kind::Pod, target),
    };
    let key = client.key(kind, name);
    client.may_read("get", &key, "")?;
    let object = client.sim().get(&key).cloned().ok_or_else(|| client.missing(&key))?;
    if kind == Kind::Pod {
        return Ok(object);
    }
    let refused = |why: &str| Err(Failure::error(format!("{doing} {}: {why}", go_type(kind))));
    match kind {
        Kind::Service if object.to_value()["spec"]["selector"].as_object().is_none_or(serde_json::Map::is_empty) => {
            return refused(&format!("invalid service '{name}': Service is defined without a selector"));
        }
        Kind::Deployment | Kind::ReplicaSet | Kind::ReplicationController => {}
        Kind::StatefulSet | Kind::DaemonSet | Kind::Job | Kind::Service => {}
        _ => return refused(&format!("selector for {} not implemented", go_type(kind))),
    }
    let pods = pods_of(client, kind, name);
    let best = pods.iter().find(|pod| pod.pod().is_some_and(Pod::is_ready)).or(pods.first());
    best.cloned().ok_or_else(|| Failure::error(format!("unable to get pods for {target}: no pods found")))
}

const ATTACH_FLAGS: &str = "container/c= stdin/i tty/t quiet/q ~pod-running-timeout= ~detach-keys=";

/// `kubectl attach`.
pub const ATTACH: Verb =
    Verb { name: "attach", aliases: &[], flags: ATTACH_FLAGS, reads: Reads::No, run: attach, help: "Attach to a running container" };

fn attach(client: &mut Client<'_>, words: &[String], _: &str) -> Result<Outcome, Failure> {
    let args = Args::parse("attach", ATTACH_FLAGS, words)?;
    client.use_flags(&args)?;
    let Some(target) = args.words.first() else {
        return Err(Failure::error("at least 1 argument is required for attach"));
    };
    let pod = find(client, target, ATTACH_TO)?;
    let container = container(client, &args, &pod)?;
    if !args.on("stdin") {
        return Err(Failure::error("what this container prints is not known here; 'kubectl exec' runs a command in it"));
    }
    let (typed, tty, quiet) = (true, args.on("tty"), args.on("quiet"));
    stay(client, &pod.meta.name, &[], Staying { container, typed, tty, quiet, ..Staying::default() })
}

/// What stays with a container of a Pod until its process ends, which this shell or command is. It says nothing itself: the client does.
pub fn attached((pod, container): (&Object, usize), began: Time, command: &[String], stdin: Stdin) -> impl PendingCommand + 'static {
    let shell = LineCommand { machine: in_container(pod, container, command, stdin), remote: true };
    Stay { key: pod.key(), shell, began, state: StayState::Starting, how: Staying { container, quiet: true, ..Staying::default() } }
}

/// What stays with a container that `run` or `debug` has made: waits until it runs, is its shell or its command, and ends it.
#[derive(Clone, Debug)]
pub struct Stay {
    key: ObjectRef,
    shell: LineCommand,
    began: Time,
    state: StayState,
    how: Staying,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum StayState {
    Starting,
    Running,
    Ending,
}

/// How long it waits for the Pod to run.
const PATIENCE_US: u64 = 60 * SECOND;

/// How one stays with a container.
#[derive(Clone, Copy, Debug, Default)]
pub struct Staying {
    /// Its place among all containers of the Pod.
    pub container: usize,
    /// Lines are typed to it.
    pub typed: bool,
    /// `--rm`
    pub removes: bool,
    /// It waits until the Pod has ended.
    pub waits: bool,
    /// `-t`
    pub tty: bool,
    /// `-q`
    pub quiet: bool,
}

/// Stays with a container of a Pod: `command` is what it runs, empty for the image's own.
pub fn stay(client: &Client<'_>, name: &str, command: &[String], how: Staying) -> Result<Outcome, Failure> {
    let key = client.key(Kind::Pod, name);
    let pod = client.sim().get(&key).ok_or_else(|| super::client::not_found(Kind::Pod, name))?;
    let shell = ["sh".to_owned()];
    let stdin = if how.typed { Stdin::Lines } else { Stdin::Closed };
    let machine = in_container(pod, how.container, if command.is_empty() { &shell } else { command }, stdin);
    let shell = LineCommand { machine, remote: true };
    Ok(Outcome::pending(Stay { key, shell, began: client.sim().now(), state: StayState::Starting, how }))
}

impl Stay {
    /// Whether its container has been started, and whether it has ended.
    fn life(&self, pod: Option<&Pod>) -> (bool, bool) {
        let Some(pod) = pod else { return (false, true) };
        let runs = pod.status.phase == "Running";
        match pod.spec.every_container().nth(self.how.container) {
            Some(("containers", _)) | None => (runs, pod.is_terminal()),
            Some((_, container)) => {
                let state = pod.status.of_container(&container.name).map(|status| &status.state);
                let is = |what: fn(&ContainerState) -> bool| state.is_some_and(what);
                (is(|state| state.running.is_some()), pod.is_terminal() || is(|state| state.terminated.is_some()))
            }
        }
    }

    /// Says how to attach again.
    fn say_reattach(&self, client: &mut Client<'_>, pod: &Pod) {
        let Some((list, container)) = pod.spec.every_container().nth(self.how.container) else { return };
        if self.how.quiet || !self.how.typed || !self.how.tty || pod.spec.restart_policy != "Always" {
            return;
        }
        let attach = format!("kubectl attach {} -c {} -i -t", self.key.name, container.name);
        client.warn(match list {
            "ephemeralContainers" => format!(
                "Session ended, the ephemeral container will not be restarted but may be reattached using '{attach}' if it is still running"
            ),
            _ => format!("Session ended, resume using '{attach}' command when the pod is running"),
        });
    }
}

impl PendingCommand for Stay {
    fn poll(&mut self, client: &mut Client<'_>) -> Result<bool, Failure> {
        let pod = client.sim().get(&self.key).cloned();
        let (runs, ended) = self.life(pod.as_ref().and_then(|pod| pod.pod()));
        if self.state == StayState::Starting {
            if !runs && !ended {
                let late = client.sim().now() >= self.began.after(PATIENCE_US);
                return if late { Err(Failure::error("timed out waiting for the condition")) } else { Ok(false) };
            }
            self.state = StayState::Running;
            if !self.how.quiet {
                client.warn(
                    "All commands and output from this session will be recorded in container logs, including credentials and sensitive \
                     information passed through the command prompt.",
                );
                client.warn("If you don't see a command prompt, try pressing enter.");
            }
        }
        if self.state == StayState::Running {
            if !self.shell.machine.run(client) {
                return Ok(false);
            }
            client.end_process(&self.key, self.how.container, self.shell.machine.code);
            if let Some(pod) = pod.as_ref().and_then(|pod| pod.pod()) {
                self.say_reattach(client, pod);
            }
            self.state = StayState::Ending;
            return Ok(false);
        }
        if self.how.waits && !ended {
            return Ok(false);
        }
        if self.how.removes && pod.is_some() {
            let gone = client.delete(&self.key, Delete::default());
            if gone.is_ok() {
                client.say(format!("pod \"{}\" deleted from {} namespace", self.key.name, self.key.namespace));
            }
        }
        match self.shell.machine.code {
            0 => Ok(true),
            code if self.how.waits => {
                Err(Failure::exit(format!("pod {}/{} terminated (Error)\n\n", self.key.namespace, self.key.name), code))
            }
            _ => Ok(true),
        }
    }

    fn deadline(&self) -> Option<Time> {
        if self.state == StayState::Starting { Some(self.began.after(PATIENCE_US)) } else { self.shell.deadline() }
    }

    fn progress(&self) -> usize {
        self.state as usize + self.shell.progress()
    }

    fn goes_on(&self) -> bool {
        self.shell.goes_on()
    }

    fn input(&mut self, client: &mut Client<'_>, line: Option<&str>) -> bool {
        self.state == StayState::Running && self.shell.input(client, line)
    }

    fn takes_input(&self) -> bool {
        self.state == StayState::Running && self.shell.takes_input()
    }

    fn copy(&self) -> Box<dyn PendingCommand> {
        Box::new(self.clone())
    }
}
