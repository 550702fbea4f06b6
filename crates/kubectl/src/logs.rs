//! `kubectl logs`: simulated output of containers. A script of a shell is replayed up to the present; well-known tutorial images print
//! their startup messages; the output of others is unknown.
//!
//! Models `kubectl/pkg/cmd/logs` and `polymorphichelpers/logsforobject.go`, and for the `log` subresource `LogLocation` in
//! `pkg/registry/core/pod/strategy.go`.

use super::client::Client;
use super::exec;
use super::failure::{list_error, server_error};
use super::parse::Args;
use super::process;
use super::shell::Machine;
use super::targets;
use super::{Failure, Outcome, PendingCommand, Reads, Verb};
use apiserver::{ApiError, ListOptions, StatusReason, Subresource};
use k8s_model::pod::Pod;
use k8s_model::time::SECOND;
use k8s_model::{Kind, Object, ObjectRef, Timestamp};
use serde_json::Value;

const FLAGS: &str = "container/c= follow/f previous/p tail= since= since-time= all-containers all-pods selector/l= !timestamps prefix \
    ~max-log-requests= limit-bytes= ~ignore-errors ~pod-running-timeout= ~insecure-skip-tls-verify-backend";

/// `kubectl logs`.
pub const VERB: Verb = Verb {
    name: "logs",
    aliases: &[],
    flags: FLAGS,
    reads: Reads::Yes,
    run,
    help: "Print the logs for a container in a pod",
};

/// Options of the `log` subresource of Pods, as `PodLogOptions` of core/v1 has them.
#[derive(Clone, Debug, Default)]
pub struct PodLogOptions {
    /// Container; the only one if none is named.
    pub container: Option<String>,
    /// Stays open while the container writes.
    pub follow: bool,
    /// Reads the log of the run before.
    pub previous: bool,
    /// Number of lines from the end.
    pub tail_lines: Option<usize>,
    /// Second since 1970 before which lines are left out.
    pub since: Option<i64>,
    /// Number of bytes after which the log is cut off.
    pub limit_bytes: Option<usize>,
}

/// Opens the log of one container, as the `log` subresource does.
pub(super) fn open(pod: &Object, options: &PodLogOptions) -> Result<Logs, ApiError> {
    let spec = &pod.body::<Pod>().spec;
    let names: Vec<&str> = spec
        .every_container()
        .map(|(_, container)| container.name.as_str())
        .collect();
    let name = &pod.meta.name;
    let container = match (&options.container, &spec.containers[..]) {
        (Some(container), _) if !names.contains(&container.as_str()) => {
            return Err(ApiError::bad_request(format!(
                "container {container} is not valid for pod {name}"
            )));
        }
        (Some(container), _) => container.clone(),
        (None, [only]) => only.name.to_string(),
        (None, []) => {
            return Err(ApiError::bad_request(format!(
                "a container name must be specified for pod {name}"
            )));
        }
        (None, _) => {
            return Err(ApiError::bad_request(format!(
                "a container name must be specified for pod {name}, choose one of: [{}]",
                names.join(" ")
            )));
        }
    };
    Ok(Logs {
        sources: vec![Source {
            pod: pod.key(),
            container,
            previous: options.previous,
            prefix: String::new(),
            room: options.limit_bytes,
            place: None,
        }],
        tail: options.tail_lines,
        since: options.since,
        follow: options.follow,
    })
}

/// A container whose log is shown.
#[derive(Clone, Debug)]
struct Source {
    pod: ObjectRef,
    container: String,
    previous: bool,
    /// Prefix of each line.
    prefix: String,
    /// Remaining bytes, if they are limited.
    room: Option<usize>,
    place: Option<Place>,
}

fn run(client: &mut Client<'_>, words: &[String], _: &str) -> Result<Outcome, Failure> {
    let args = Args::parse("logs", FLAGS, words)?;
    client.use_flags(&args)?;
    let mut pods: Vec<ObjectRef> = Vec::new();
    if let Some(labels) = args.get("selector") {
        let options = ListOptions {
            label_selector: labels.to_owned(),
            ..ListOptions::default()
        };
        let namespace = client.namespace.clone();
        let found = client
            .listing(Kind::Pod, &namespace, options.clone())
            .map_err(|error| list_error(Kind::Pod, &options, &error))?;
        pods.extend(found.map(|pod| pod.key()));
        if pods.is_empty() {
            client
                .streams
                .warn(format!("No resources found in {namespace} namespace."));
            return Ok(Outcome::Done);
        }
    } else {
        let Some(name) = args.words.first() else {
            return Err(Failure::usage(
                "logs",
                "expected 'logs [-f] [-p] (POD | TYPE/NAME) [-c CONTAINER]'.\nPOD or TYPE/NAME is a required argument for the logs command",
            ));
        };
        pods.push(named(client, name, args.on("all-pods"))?);
        if args.on("all-pods") && name.contains('/') {
            let (kind, name) = targets::kind_and_name(client, name)?;
            pods = exec::pods_of(client, kind, name)
                .iter()
                .map(|pod| pod.key())
                .collect();
        }
    }
    let tail = match (args.number("tail")?, args.get("selector")) {
        (Some(lines), _) => usize::try_from(lines).ok(),
        // With a selector only the last lines are shown.
        (None, Some(_)) => Some(10),
        _ => None,
    };
    let since = since(client, &args)?;
    let mut sources = Vec::new();
    for pod in pods {
        choose(client, &args, pod, &mut sources)?;
    }
    let logs = Logs {
        sources,
        tail,
        since,
        follow: args.on("follow"),
    };
    logs.begin(client).map_err(|error| server_error(&error))
}

/// Returns the second since which lines are shown, if one is given.
fn since(client: &Client<'_>, args: &Args) -> Result<Option<i64>, Failure> {
    let span = args.duration("since")?.filter(|span| *span > 0);
    match (span, args.get("since-time").filter(|time| !time.is_empty())) {
        (Some(_), Some(_)) => Err(Failure::error(
            "at most one of `sinceTime` or `sinceSeconds` may be specified",
        )),
        (Some(span), None) => Ok(Some(
            client.wall() - i64::try_from(span / SECOND).unwrap_or(i64::MAX),
        )),
        (None, Some(time)) => match Timestamp::parse(time) {
            Some(time) => Ok(Some(time.seconds())),
            None => Err(Failure::error(format!(
                "parsing time {time:?} as \"2006-01-02T15:04:05Z07:00\": cannot parse {time:?} as \"2006\""
            ))),
        },
        (None, None) => Ok(None),
    }
}

/// Returns the key of the object for a word.
fn named(client: &mut Client<'_>, word: &str, all: bool) -> Result<ObjectRef, Failure> {
    let (kind, name) = targets::kind_and_name(client, word)?;
    let key = client.key(kind, name);
    if let Err(error) = client.get_info(&key)
        && error.reason == StatusReason::NotFound
    {
        let (missing, namespace) = (error.message, &client.namespace);
        return Err(Failure::error(format!(
            "error from server (NotFound): {missing} in namespace {namespace:?}"
        )));
    }
    let pod = exec::find(client, word, "cannot get the logs from")?;
    client
        .connect(&pod.key(), apiserver::Verb::Get, Subresource::Log)
        .map_err(|error| server_error(&error))?;
    if kind != Kind::Pod {
        let count = exec::pods_of(client, kind, name).len();
        if count > 1 && !all {
            client
                .streams
                .warn(format!("Found {count} pods, using pod/{}", pod.meta.name));
        }
    }
    Ok(pod.key())
}

/// Selects the containers of a Pod.
fn choose(
    client: &mut Client<'_>,
    args: &Args,
    pod: ObjectRef,
    sources: &mut Vec<Source>,
) -> Result<(), Failure> {
    let object = client
        .object(&pod)
        .and_then(|_| client.connect(&pod, apiserver::Verb::Get, Subresource::Log))
        .map_err(|error| server_error(&error))?
        .to_value();
    let name = |container: &Value| container["name"].as_str().unwrap_or("").to_owned();
    let of = |field: &str| -> Vec<String> {
        object["spec"][field]
            .as_array()
            .into_iter()
            .flatten()
            .map(name)
            .collect()
    };
    let (main, init, ephemeral) = (
        of("containers"),
        of("initContainers"),
        of("ephemeralContainers"),
    );
    let all = || exec::all_containers(of);
    let mut chosen: Vec<String> = Vec::new();
    if args.on("all-containers") {
        chosen.extend(init.iter().chain(&main).chain(&ephemeral).cloned());
    } else if let Some(wanted) = args
        .get("container")
        .map(str::to_owned)
        .or(args.words.get(1).cloned())
    {
        if ![&main, &init, &ephemeral]
            .iter()
            .any(|list| list.contains(&wanted))
        {
            return Err(Failure::error(format!(
                "container {wanted} is not valid for pod {} out of: {}",
                pod.name,
                all()
            )));
        }
        chosen.push(wanted);
    } else {
        let many = main.len() + init.len() + ephemeral.len() > 1;
        let annotated = object["metadata"]["annotations"][exec::DEFAULT_CONTAINER]
            .as_str()
            .filter(|name| !name.is_empty());
        let known = annotated.filter(|name| {
            [&main, &init, &ephemeral]
                .iter()
                .any(|list| list.iter().any(|one| one == name))
        });
        if let Some(name) = annotated.filter(|_| known.is_none()) {
            client.streams.warn(format!(
                "Default container name {name:?} not found in pod {}",
                pod.name
            ));
        }
        if many && known.is_none() && args.get("selector").is_none() {
            client.streams.warn(format!(
                "Defaulted container {:?} out of: {}",
                main.first().map_or("", String::as_str),
                all()
            ));
        }
        chosen.extend(known.map(str::to_owned).or_else(|| main.first().cloned()));
    }
    let room = args
        .number("limit-bytes")?
        .and_then(|bytes| usize::try_from(bytes).ok())
        .filter(|bytes| *bytes > 0);
    for container in chosen {
        let prefix = if args.on("prefix") || args.on("all-pods") {
            format!("[pod/{}/{container}] ", pod.name)
        } else {
            String::new()
        };
        sources.push(Source {
            pod: pod.clone(),
            container,
            previous: args.on("previous"),
            prefix,
            room,
            place: None,
        });
    }
    Ok(())
}

/// Exit codes of a container ended by a signal.
const KILLED: [i64; 2] = [137, 143];

/// Logs to show, and to follow.
#[derive(Clone, Debug)]
pub(super) struct Logs {
    sources: Vec<Source>,
    tail: Option<usize>,
    since: Option<i64>,
    follow: bool,
}

/// Position in a container's log.
#[derive(Clone, Debug, Default)]
struct Place {
    /// Start time of the container.
    began: i64,
    /// Number of lines shown.
    lines: usize,
    /// Suspended command, if it can be continued.
    machine: Option<Machine>,
}

impl Logs {
    /// Prints what is there, and stays open if the log is followed.
    pub(super) fn begin(mut self, client: &mut Client<'_>) -> Result<Outcome, ApiError> {
        let ended = self.show(client)?;
        Ok(if ended || !self.follow {
            Outcome::Done
        } else {
            Outcome::pending(self)
        })
    }

    /// Prints new lines; true if no more will come.
    fn show(&mut self, client: &mut Client<'_>) -> Result<bool, ApiError> {
        let mut ended = true;
        for source in self
            .sources
            .iter_mut()
            .filter(|source| source.room != Some(0))
        {
            let first = source.place.is_none();
            let early = match self.since.filter(|_| first) {
                Some(since) => match printed(client, &mut source.clone(), since)? {
                    Some((text, _)) => text.lines().count(),
                    None => continue,
                },
                None => 0,
            };
            let Some((text, running)) = printed(client, source, i64::MAX)? else {
                continue;
            };
            let lines = text.lines().count();
            let skipped = self
                .tail
                .filter(|_| first)
                .map_or(0, |tail| lines.saturating_sub(tail))
                .max(early);
            for line in text.lines().skip(skipped) {
                match source.room.filter(|room| *room <= line.len()) {
                    // The last line may be truncated.
                    Some(room) => {
                        let at = (0..=room)
                            .rev()
                            .find(|at| line.is_char_boundary(*at))
                            .unwrap_or(0);
                        client
                            .streams
                            .out
                            .push_str(&[source.prefix.as_str(), &line[..at]].concat());
                        source.room = Some(0);
                        break;
                    }
                    None => client.streams.say(format!("{}{line}", source.prefix)),
                }
                source.room = source.room.map(|room| room - line.len() - 1);
            }
            ended &= !running || source.room == Some(0);
        }
        Ok(ended)
    }
}

impl PendingCommand for Logs {
    fn poll(&mut self, client: &mut Client<'_>) -> Result<bool, Failure> {
        self.sources
            .retain(|source| client.sim().store().get(&source.pod).is_some());
        self.show(client).map_err(|error| server_error(&error))
    }

    fn copy(&self) -> Box<dyn PendingCommand> {
        Box::new(self.clone())
    }
}

/// Returns the output of a container before a second that has not been shown, and whether the container still runs; `None`, after a
/// message, if it is unknown.
fn printed(
    client: &mut Client<'_>,
    source: &mut Source,
    before: i64,
) -> Result<Option<(String, bool)>, ApiError> {
    let Some(pod) = client.sim().store().get(&source.pod).cloned() else {
        return Ok(None);
    };
    let object = pod.to_value();
    let wanted = |item: &&Value| item["name"] == source.container.as_str();
    let status = [
        "containerStatuses",
        "initContainerStatuses",
        "ephemeralContainerStatuses",
    ]
    .iter()
    .flat_map(|field| object["status"][*field].as_array().into_iter().flatten())
    .find(wanted);
    let state = status.map_or(&Value::Null, |status| {
        &status[if source.previous {
            "lastState"
        } else {
            "state"
        }]
    });
    let life = if state["running"].is_object() {
        &state["running"]
    } else {
        &state["terminated"]
    };
    if !life.is_object() {
        let (container, pod) = (&source.container, &source.pod.name);
        let reason = state["waiting"]["reason"]
            .as_str()
            .unwrap_or("ContainerCreating");
        let refused = |text: String| Err(ApiError::bad_request(text));
        return match (source.previous, object["spec"]["nodeName"].as_str(), reason) {
            (true, ..) => refused(format!(
                "previous terminated container {container:?} in pod {pod:?} not found"
            )),
            // No node has a log of it, and the server answers without content.
            (_, None, _) => Ok(Some((String::new(), false))),
            // A container that waits to be restarted shows the output of its last run.
            (_, _, "CrashLoopBackOff") => {
                let mut last = Source {
                    previous: true,
                    ..source.clone()
                };
                let text = printed(client, &mut last, before);
                source.place = last.place;
                text
            }
            (_, _, "ImagePullBackOff" | "ErrImagePull") => refused(format!(
                "container {container:?} in pod {pod:?} is waiting to start: trying and failing to pull image"
            )),
            _ => refused(format!(
                "container {container:?} in pod {pod:?} is waiting to start: {reason}"
            )),
        };
    }
    let at = |field: &str| {
        life[field]
            .as_str()
            .and_then(Timestamp::parse)
            .map(|time| time.seconds())
    };
    let began = at("startedAt").unwrap_or_else(|| client.wall());
    let until = at("finishedAt").unwrap_or_else(|| client.wall());
    if before <= began {
        return Ok(Some((String::new(), state["running"].is_object())));
    }
    // A command that ended by itself has also printed the output after its last sleep; a killed one has not.
    let by_itself = life["exitCode"]
        .as_i64()
        .is_some_and(|code| !KILLED.contains(&code));
    let until = (until + i64::from(by_itself)).min(before);
    let specs = ["containers", "initContainers", "ephemeralContainers"]
        .iter()
        .flat_map(|field| object["spec"][*field].as_array().into_iter().flatten());
    let spec = specs.into_iter().find(wanted).cloned().unwrap_or_default();
    let mut every = pod.body::<Pod>().spec.every_container();
    let index = every
        .position(|(_, container)| container.name == source.container)
        .unwrap_or(0);
    let place = source
        .place
        .take()
        .filter(|place| place.began == began)
        .unwrap_or(Place {
            began,
            ..Place::default()
        });
    let (text, machine, kept) = match place
        .machine
        .or_else(|| process::of_container(client, &pod, index))
    {
        Some(mut machine) => {
            let kept = machine.is_replay();
            let text = machine.replay(client, began, until);
            (
                text,
                Some(machine).filter(|machine| !machine.is_lost()),
                kept,
            )
        }
        None => match known(spec["image"].as_str().unwrap_or(""), began) {
            Some(text) => (text, None, false),
            None => {
                client.streams.warn(format!(
                    "What the image {} prints is not known to this simulation.",
                    spec["image"].as_str().unwrap_or("")
                ));
                return Ok(None);
            }
        },
    };
    // A replay from the start begins with the lines already shown.
    let new: String = if kept {
        text
    } else {
        text.split_inclusive('\n').skip(place.lines).collect()
    };
    source.place = Some(Place {
        began,
        lines: place.lines + new.lines().count(),
        machine,
    });
    Ok(Some((new, state["running"].is_object())))
}

/// Returns the startup messages of well-known tutorial images.
fn known(image: &str, began: i64) -> Option<String> {
    let name = image.rsplit('/').next()?.split([':', '@']).next()?;
    let time = Timestamp::new(began).rfc3339();
    let slashed = time.get(..19)?.replace('-', "/").replace('T', " ");
    Some(match name {
        "nginx" => {
            let notice = |text: &str| format!("{slashed} [notice] 1#1: {text}\n");
            let entry = "/docker-entrypoint.sh: /docker-entrypoint.d/ is not empty, will attempt to perform configuration\n\
                /docker-entrypoint.sh: Configuration complete; ready for start up\n";
            format!("{entry}{}{}", notice("using the \"epoll\" event method"), notice("start worker processes"))
        }
        "redis" => format!("1:M {slashed} * Server initialized\n1:M {slashed} * Ready to accept connections tcp\n"),
        "hello-world" => "\nHello from Docker!\nThis message shows that your installation appears to be working correctly.\n\n".to_owned(),
        "pause" | "busybox" | "alpine" => String::new(),
        _ => return None,
    })
}
