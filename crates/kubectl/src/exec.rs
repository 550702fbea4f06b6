//! `kubectl exec`, `attach` and the attached part of `run`: a shell in a container. Containers do not run; the shell
//! and its commands are modelled (`src/shell`). Files on a volume persist for the next Pod.

use super::client::Client;
use super::output::go_type;
use super::parse::Args;
use super::shell::room::Place;
use super::shell::{LineCommand, Machine};
use super::targets;
use super::{Failure, Outcome, PendingCommand, Reads, Verb};
use apiserver::{ApiError, DeleteOptions, ListOptions, Preconditions, StatusReason, Subresource};
use cluster::Sim;
use cluster::mounted::container_variables;
use k8s_model::environment;
use k8s_model::pod::{ContainerState, Pod, PodSpec};
use k8s_model::selector::LabelSelector;
use k8s_model::time::SECOND;
use k8s_model::{Kind, Object, ObjectRef, Str, Time, Uid};
use std::rc::Rc;

const FLAGS: &str = "container/c= stdin/i tty/t quiet/q @filename/f= ~pod-running-timeout=";

/// `kubectl exec`.
pub const VERB: Verb = Verb {
    name: "exec",
    aliases: &[],
    flags: FLAGS,
    reads: Reads::No,
    run,
    help: "Execute a command in a container",
};

/// Stdin of a command in a container.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stdin {
    /// No input.
    Closed,
    /// Text with an end.
    Text(String),
    /// Lines as they are typed, for a shell; other commands read no input.
    Lines,
}

fn run(client: &mut Client<'_>, words: &[String], stdin: &str) -> Result<Outcome, Failure> {
    // Flags of the command in the container are not kubectl's.
    let split = words
        .iter()
        .position(|word| word == "--")
        .unwrap_or(words.len());
    let args = Args::parse("exec", FLAGS, &words[..split])?;
    client.use_flags(&args)?;
    let Some((target, rest)) = args.words.split_first() else {
        return Err(Failure::error(
            "pod, type/name or --filename must be specified",
        ));
    };
    let command: Vec<String> = rest
        .iter()
        .chain(words.get(split + 1..).unwrap_or_default())
        .cloned()
        .collect();
    if command.is_empty() {
        return Err(Failure::error(
            "you must specify at least one command for the container",
        ));
    }
    let pod = find(client, target, ATTACH_TO)?;
    let container = container(client, &args, &pod)?;
    let stdin = Stdin::of(args.on("stdin"), stdin);
    if args.on("tty") && matches!(stdin, Stdin::Text(_)) && !args.on("quiet") {
        client.streams.warn(NO_TERMINAL);
    }
    Ok(Outcome::pending(LineCommand {
        machine: in_container(&pod, container, &command, stdin),
        remote: true,
    }))
}

impl Stdin {
    /// Returns the stdin of a command: `typed` if `-i` was given, `text` if one was piped to it.
    fn of(typed: bool, text: &str) -> Stdin {
        match text {
            _ if !typed => Stdin::Closed,
            "" => Stdin::Lines,
            text => Stdin::Text(text.to_owned()),
        }
    }
}

/// Message for piped input, which is not a terminal.
const NO_TERMINAL: &str = "Unable to use a TTY - input is not a terminal or the right kind of file";

/// Annotation with the name of the default container.
pub const DEFAULT_CONTAINER: &str = "kubectl.kubernetes.io/default-container";

/// Returns the container of a Pod in which a command is run.
pub fn container(client: &mut Client<'_>, args: &Args, pod: &Object) -> Result<usize, Failure> {
    let phase = &pod.body::<Pod>().status.phase;
    if pod.body::<Pod>().is_terminal() {
        return Err(Failure::error(format!(
            "cannot exec into a container in a completed pod; current phase is {phase}"
        )));
    }
    let wanted = named(client, args, pod).map_err(Failure::error)?;
    connected(client, pod, &wanted, Subresource::Exec)
}

/// Returns the container of a Pod from `-c`, its annotation, or the first one with a notice. Models `kubectl/pkg/cmd/util/podcmd`.
fn named(client: &mut Client<'_>, args: &Args, pod: &Object) -> Result<String, String> {
    let spec = &pod.body::<Pod>().spec;
    let all = all_containers(|list| names(spec, list));
    let given = args.get("container").filter(|name| !name.is_empty());
    let annotated = || {
        pod.meta
            .annotations
            .get(DEFAULT_CONTAINER)
            .map(|name| name.as_str())
            .filter(|name| !name.is_empty())
    };
    let first = spec.containers.first().map_or("", |c| c.name.as_str());
    let wanted = given.or_else(annotated);
    if wanted.is_none() && all != first && !args.on("quiet") {
        client
            .streams
            .warn(format!("Defaulted container {first:?} out of: {all}"));
    }
    let wanted = wanted.unwrap_or(first);
    if !spec.every_container().any(|(_, c)| c.name == wanted) {
        return Err(format!(
            "container {wanted} is not valid for pod {} out of: {all}",
            pod.meta.name
        ));
    }
    Ok(wanted.to_owned())
}

/// Returns the index of a container to which the server connects. Refusals before the connection is upgraded are printed by kubectl;
/// refusals of the kubelet arrive over the connection.
fn connected(
    client: &Client<'_>,
    pod: &Object,
    container: &str,
    subresource: Subresource,
) -> Result<usize, Failure> {
    client
        .connect(&pod.key(), apiserver::Verb::Create, subresource)
        .and_then(|pod| reached(&pod, container))
        .map_err(|error| match error.reason {
            StatusReason::InternalError => Failure::error(error.message),
            _ => Failure::error(format!("unable to upgrade connection: {}", error.message)),
        })
}

/// Returns the names in one of the lists of a spec.
fn names(spec: &PodSpec, list: &str) -> Vec<String> {
    spec.every_container()
        .filter(|(of, _)| *of == list)
        .map(|(_, container)| container.name.to_string())
        .collect()
}

/// Formats the containers of a Pod as kubectl lists them; `of` returns the names in a list of its spec.
pub fn all_containers(of: impl Fn(&'static str) -> Vec<String>) -> String {
    let lists = [
        ("containers", ""),
        ("ephemeralContainers", " (ephem)"),
        ("initContainers", " (init)"),
    ];
    let all: Vec<String> = lists
        .iter()
        .flat_map(|(list, what)| of(list).into_iter().map(move |name| name + what))
        .collect();
    all.join(", ")
}

/// Returns the error of connecting to a Pod that no node runs.
pub fn no_host(pod: &str) -> ApiError {
    ApiError::bad_request(format!("pod {pod} does not have a host assigned"))
}

/// Returns the index among all containers of the one with this name, or of the only one; errors are those of the server and its kubelet.
///
/// Models `pkg/registry/core/pod/strategy.go` and `pkg/kubelet/kubelet_pods.go`.
pub fn reached(pod: &Object, wanted: &str) -> Result<usize, ApiError> {
    let body: &Pod = pod.body();
    let (name, containers) = (pod.meta.name.as_str(), &body.spec.containers);
    let found = match (wanted, containers.len()) {
        ("", 1) => Some(0),
        ("", _) => {
            let names: Vec<&str> = containers.iter().map(|c| c.name.as_str()).collect();
            let message = format!(
                "a container name must be specified for pod {name}, choose one of: [{}]",
                names.join(" ")
            );
            return Err(ApiError::bad_request(message));
        }
        _ => body
            .spec
            .every_container()
            .position(|(_, c)| c.name == wanted),
    };
    let Some(found) = found else {
        return Err(ApiError::bad_request(format!(
            "container {wanted} is not valid for pod {name}"
        )));
    };
    if body.node_name.is_empty() {
        return Err(no_host(name));
    }
    let of = body
        .spec
        .every_container()
        .nth(found)
        .map_or("", |(_, container)| container.name.as_str());
    if body
        .status
        .of_container(of)
        .is_none_or(|status| status.state.running.is_none())
    {
        let message = format!(
            "Internal error occurred: unable to upgrade connection: container not found ({of:?})"
        );
        return Err(ApiError::internal(&message));
    }
    Ok(found)
}

/// Returns the command of a container, with its references to variables expanded; without one a shell, whatever its image would run.
pub fn process(sim: &Sim, pod: &Rc<Object>, container: usize) -> Vec<String> {
    let own = pod.body::<Pod>().spec.every_container().nth(container);
    let mut words: Vec<String> = own
        .into_iter()
        .flat_map(|(_, own)| own.command.iter().chain(&own.args))
        .map(ToString::to_string)
        .collect();
    if words.iter().any(|word| word.contains('$')) {
        let variables = container_variables(sim.store(), pod, container);
        for word in &mut words {
            *word = environment::expand(word, |name| environment::find(&variables, name));
        }
    }
    if words.is_empty() {
        vec!["sh".to_owned()]
    } else {
        words
    }
}

/// Returns true if a command is a shell, which reads lines as they are typed.
pub fn is_shell(command: &[String]) -> bool {
    matches!(command, [word] if matches!(word.rsplit('/').next(), Some("sh" | "bash" | "ash")))
}

/// Creates a shell in a container, or a single command.
pub fn in_container(pod: &Object, container: usize, command: &[String], stdin: Stdin) -> Machine {
    let place = Place::Pod(pod.key(), pod.meta.uid, container);
    match stdin {
        Stdin::Lines if is_shell(command) => Machine::interactive(place),
        Stdin::Text(text) => Machine::of_words(place, command).with_stdin(&text),
        Stdin::Lines | Stdin::Closed => Machine::of_words(place, command),
    }
}

/// Start of the message for an object that selects no Pods, used by `exec`, `attach` and `port-forward`.
pub const ATTACH_TO: &str = "cannot attach to";

/// Returns the Pods that a workload selects.
pub fn pods_of(client: &Client<'_>, kind: Kind, name: &str) -> Vec<Rc<Object>> {
    let Ok(object) = client.object(&client.key(kind, name)) else {
        return Vec::new();
    };
    let selector = LabelSelector::of_pods(&object.to_value()["spec"]["selector"]);
    if selector.is_empty() {
        return Vec::new();
    }
    let options = ListOptions {
        label_selector: apiserver::label_selector::show(&selector),
        ..ListOptions::default()
    };
    let pods = client.listing(Kind::Pod, &object.meta.namespace, options);
    pods.into_iter().flatten().collect()
}

/// Returns the Pod for a word: itself, or the first of a workload; `doing` is the start of the message for other objects.
pub fn find(client: &Client<'_>, target: &str, doing: &str) -> Result<Rc<Object>, Failure> {
    let object = targets::object(client, target)?;
    let (kind, name) = (object.kind, object.meta.name.as_str());
    if kind == Kind::Pod {
        return Ok(object);
    }
    let refused = |why: &str| Err(Failure::error(format!("{doing} {}: {why}", go_type(kind))));
    match kind {
        Kind::Service
            if object.to_value()["spec"]["selector"]
                .as_object()
                .is_none_or(serde_json::Map::is_empty) =>
        {
            return refused(&format!(
                "invalid service '{name}': Service is defined without a selector"
            ));
        }
        Kind::Deployment | Kind::ReplicaSet | Kind::ReplicationController => {}
        Kind::StatefulSet | Kind::DaemonSet | Kind::Job | Kind::Service => {}
        _ => return refused(&format!("selector for {} not implemented", go_type(kind))),
    }
    let pods = pods_of(client, kind, name);
    let best = pods
        .iter()
        .find(|pod| pod.pod().is_some_and(Pod::is_ready))
        .or(pods.first());
    best.cloned()
        .ok_or_else(|| Failure::error(format!("unable to get pods for {target}: no pods found")))
}

const ATTACH_FLAGS: &str = "container/c= stdin/i tty/t quiet/q ~pod-running-timeout= ~detach-keys=";

/// `kubectl attach`.
pub const ATTACH: Verb = Verb {
    name: "attach",
    aliases: &[],
    flags: ATTACH_FLAGS,
    reads: Reads::No,
    run: attach,
    help: "Attach to a running container",
};

fn attach(client: &mut Client<'_>, words: &[String], stdin: &str) -> Result<Outcome, Failure> {
    let args = Args::parse("attach", ATTACH_FLAGS, words)?;
    client.use_flags(&args)?;
    let Some(target) = args.words.first() else {
        return Err(Failure::error("at least 1 argument is required for attach"));
    };
    let pod = find(client, target, ATTACH_TO)?;
    let phase = &pod.body::<Pod>().status.phase;
    if pod.body::<Pod>().is_terminal() {
        return Err(Failure::error(format!(
            "cannot attach a container in a completed pod; current phase is {phase}"
        )));
    }
    let container = named(client, &args, &pod)
        .map_err(|fault| Failure::error(format!("cannot attach to the container: {fault}")))?;
    let (quiet, asked) = (args.on("quiet"), args.on("tty"));
    let has_tty = pod.pod().is_some_and(|pod| {
        let place = pod
            .spec
            .every_container()
            .position(|(_, one)| one.name == container);
        place.is_some_and(|place| pod.spec.raw_container(place)["tty"] == true)
    });
    if asked && !has_tty && !quiet {
        client.streams.warn(format!(
            "error: Unable to use a TTY - container {container} did not allocate one"
        ));
    }
    let is_terminal = stdin.is_empty();
    if !quiet {
        if asked && has_tty && !is_terminal {
            client.streams.warn(NO_TERMINAL);
        }
        warn_of_recording(client);
    }
    connected(client, &pod, &container, Subresource::Attach)?;
    if !args.on("stdin") {
        return Err(Failure::error(
            "what this container prints is not known here; 'kubectl exec' runs a command in it",
        ));
    }
    let how = Staying {
        typed: true,
        tty: asked && has_tty && is_terminal,
        quiet,
        is_announced: true,
        ..Staying::default()
    };
    stay(client, &pod.meta.name, &container, stdin, how)
}

fn warn_of_recording(client: &mut Client<'_>) {
    client.streams.warn(
        "All commands and output from this session will be recorded in container logs, including credentials and sensitive information \
         passed through the command prompt.",
    );
    client
        .streams
        .warn("If you don't see a command prompt, try pressing enter.");
}

/// Creates the process of a container, attached until it ends. It prints no messages of its own: the client does.
pub fn attached(
    pod: &Object,
    container: usize,
    began: Time,
    command: &[String],
    stdin: Stdin,
) -> impl PendingCommand + 'static {
    let shell = LineCommand {
        machine: in_container(pod, container, command, stdin).of_container(),
        remote: true,
    };
    Stay::new(
        pod,
        container,
        shell,
        began,
        Staying {
            tty: true,
            quiet: true,
            ..Staying::default()
        },
    )
}

/// Attachment to a container created by `run` or `debug`: waits until it runs, acts as its shell or its command, and ends it.
#[derive(Clone, Debug)]
pub struct Stay {
    key: ObjectRef,
    /// Uid of the Pod, to tell it from a later one of the same name.
    uid: Uid,
    container: Str,
    /// Container id of the run it is attached to.
    run: Str,
    shell: LineCommand,
    began: Time,
    state: StayState,
    how: Staying,
    /// Version of the Pod in the last message while waiting.
    reported_version: u64,
    /// Number of messages while waiting.
    reports: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum StayState {
    Starting,
    Running,
    Ending,
}

/// Default of `--pod-running-timeout`, in microseconds.
const POD_RUNNING_TIMEOUT_US: u64 = 60 * SECOND;

/// Options of an attachment.
#[derive(Clone, Copy, Debug, Default)]
pub struct Staying {
    /// True if input reaches the container.
    pub typed: bool,
    /// `--rm`.
    pub removes: bool,
    /// True if the attachment lasts until the Pod has ended.
    pub waits: bool,
    /// `-t`.
    pub tty: bool,
    /// `-q`.
    pub quiet: bool,
    /// True for a wait for the container without a limit, with its reason reported.
    pub patient: bool,
    /// True if the initial messages have been printed.
    pub is_announced: bool,
    /// True if the input is a text, not a terminal.
    pub piped: bool,
}

/// Attaches to a container of a Pod, the first if none is named; `text` is the piped input.
pub fn stay(
    client: &Client<'_>,
    name: &str,
    container: &str,
    text: &str,
    how: Staying,
) -> Result<Outcome, Failure> {
    let key = client.key(Kind::Pod, name);
    let pod = client
        .sim()
        .store()
        .get(&key)
        .ok_or_else(|| super::failure::not_found(Kind::Pod, name))?;
    let place = pod
        .body::<Pod>()
        .spec
        .every_container()
        .position(|(_, one)| one.name == container)
        .unwrap_or_default();
    let machine = in_container(
        pod,
        place,
        &process(client.sim(), pod, place),
        Stdin::of(how.typed, text),
    );
    let shell = LineCommand {
        machine: machine.of_container(),
        remote: true,
    };
    let how = Staying {
        piped: !text.is_empty(),
        ..how
    };
    Ok(Outcome::pending(Stay::new(
        pod,
        place,
        shell,
        client.sim().now(),
        how,
    )))
}

impl Stay {
    fn new(pod: &Object, container: usize, shell: LineCommand, began: Time, how: Staying) -> Stay {
        let container = pod
            .body::<Pod>()
            .spec
            .every_container()
            .nth(container)
            .map_or_else(Str::default, |(_, one)| one.name.clone());
        let (key, uid, state) = (pod.key(), pod.meta.uid, StayState::Starting);
        Stay {
            key,
            uid,
            container,
            run: Str::default(),
            shell,
            began,
            state,
            how,
            reported_version: 0,
            reports: 0,
        }
    }

    /// Returns whether the container has been started, and whether it has ended.
    fn life(&self, pod: Option<&Pod>) -> (bool, bool) {
        let Some(pod) = pod else { return (false, true) };
        let state = pod
            .status
            .of_container(&self.container)
            .map(|status| &status.state);
        let is = |what: fn(&ContainerState) -> bool| state.is_some_and(what);
        let is_main = pod
            .spec
            .containers
            .iter()
            .any(|one| one.name == self.container);
        let runs = is(|state| state.running.is_some());
        match is_main {
            true if !self.how.patient => (pod.status.phase == "Running", pod.is_terminal()),
            true => (
                runs || is(|state| state.terminated.is_some()),
                pod.is_terminal(),
            ),
            false => (
                runs,
                pod.is_terminal() || is(|state| state.terminated.is_some()),
            ),
        }
    }

    /// Returns the container id of the current run.
    fn current(&self, pod: Option<&Pod>) -> Str {
        let status = pod.and_then(|pod| pod.status.of_container(&self.container));
        status
            .filter(|status| status.state.running.is_some())
            .map_or_else(Str::default, |status| status.container_id.clone())
    }

    /// Waits for the container to run; returns true once it does or did.
    fn start(
        &mut self,
        client: &mut Client<'_>,
        pod: Option<&Rc<Object>>,
    ) -> Result<bool, Failure> {
        let body = pod.and_then(|pod| pod.pod());
        let (runs, ended) = self.life(body);
        if !runs && !ended {
            if self.how.patient {
                self.report_waiting_reason(client, pod);
            } else if client.sim().now() >= self.began.after(POD_RUNNING_TIMEOUT_US) {
                return Err(Failure::error("timed out waiting for the condition"));
            }
            return Ok(false);
        }
        if body.is_none() && self.how.patient {
            return Err(super::failure::not_found(Kind::Pod, ""));
        }
        self.run = self.current(body);
        self.state = StayState::Running;
        if !self.how.quiet && !self.how.is_announced {
            if self.how.tty && self.how.piped {
                client.streams.warn(NO_TERMINAL);
            }
            warn_of_recording(client);
        }
        Ok(true)
    }

    /// Prints the waiting reason of the container at each change of the Pod.
    fn report_waiting_reason(&mut self, client: &mut Client<'_>, pod: Option<&Rc<Object>>) {
        let Some(pod) = pod.filter(|pod| pod.meta.resource_version != self.reported_version) else {
            return;
        };
        self.reported_version = pod.meta.resource_version;
        let waiting = pod
            .body::<Pod>()
            .status
            .of_container(&self.container)
            .and_then(|status| status.state.waiting.as_ref());
        if let Some(waiting) =
            waiting.filter(|waiting| !waiting.message.is_empty() && !self.how.quiet)
        {
            client.streams.warn(format!(
                "Warning: container {}: {}",
                self.container, waiting.message
            ));
            self.reports += 1;
        }
    }

    /// Prints how to attach again.
    fn say_reattach(&self, client: &mut Client<'_>, pod: &Pod) {
        if self.how.quiet
            || !self.how.typed
            || !self.how.tty
            || self.how.piped
            || pod.spec.restart_policy != "Always"
        {
            return;
        }
        let attach = format!(
            "kubectl attach {} -c {} -i -t",
            self.key.name, self.container
        );
        client.streams.warn(match pod.spec.ephemeral_containers.iter().any(|one| one.name == self.container) {
            true => format!(
                "Session ended, the ephemeral container will not be restarted but may be reattached using '{attach}' if it is still running"
            ),
            false => format!("Session ended, resume using '{attach}' command when the pod is running"),
        });
    }

    /// Returns the result of the container's command.
    fn result(&self, is_there: bool) -> Result<bool, Failure> {
        match self.shell.machine.code {
            _ if self.how.waits && !is_there => {
                Err(super::failure::not_found(Kind::Pod, &self.key.name))
            }
            0 => Ok(true),
            code if self.how.waits => Err(Failure::exit(
                format!(
                    "pod {}/{} terminated (Error)\n\n",
                    self.key.namespace, self.key.name
                ),
                code,
            )),
            _ => Ok(true),
        }
    }
}

impl PendingCommand for Stay {
    fn poll(&mut self, client: &mut Client<'_>) -> Result<bool, Failure> {
        let pod = client
            .sim()
            .store()
            .get(&self.key)
            .filter(|pod| pod.meta.uid == self.uid)
            .cloned();
        let body = pod.as_ref().and_then(|pod| pod.pod());
        if self.state == StayState::Starting && !self.start(client, pod.as_ref())? {
            return Ok(false);
        }
        if self.state == StayState::Running {
            let goes_on = self.current(body) == self.run;
            // Typed input ends when the container has ended; a command has printed all its output.
            if goes_on || !self.shell.takes_input() {
                if !self.shell.machine.run(client) {
                    return Ok(false);
                }
                if goes_on {
                    client.end_process(
                        &self.key,
                        self.uid,
                        &self.container,
                        self.shell.machine.code,
                    );
                }
            }
            if let Some(pod) = body {
                self.say_reattach(client, pod);
            }
            self.state = StayState::Ending;
        }
        if self.how.waits && !self.life(body).1 {
            return Ok(false);
        }
        if self.how.removes && pod.is_some() {
            let gone = client.delete(
                &self.key,
                DeleteOptions {
                    preconditions: Preconditions::of_uid(self.uid),
                    ..DeleteOptions::background()
                },
            );
            if gone.is_ok() {
                client.streams.say(format!(
                    "pod \"{}\" deleted from {} namespace",
                    self.key.name, self.key.namespace
                ));
            }
        }
        self.result(pod.is_some())
    }

    fn deadline(&self) -> Option<Time> {
        match self.state {
            StayState::Starting => {
                Some(self.began.after(POD_RUNNING_TIMEOUT_US)).filter(|_| !self.how.patient)
            }
            _ => self.shell.deadline(),
        }
    }

    fn progress(&self) -> usize {
        self.state as usize + self.reports + self.shell.progress()
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

    /// Through a terminal the signal reaches the process; without one kubectl ends, and the process goes on.
    fn interrupt(&mut self, _: &mut Client<'_>) -> bool {
        self.state == StayState::Running && self.how.tty && self.shell.machine.interrupt()
    }

    fn copy(&self) -> Box<dyn PendingCommand> {
        Box::new(self.clone())
    }
}
