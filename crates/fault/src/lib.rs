//! Faults injected by a person or a scenario, as data, with their text form, one line each.
//!
//! Their effects are implemented in `crates/cluster/src/faults`.
//!
//! # Adding a fault
//!
//! A variant of [`Fault`] with its line in `from_str`, `Display` and `KNOWN`; a variant of [`FaultError`] for each way in which it can be
//! refused; an arm of `Sim::inject` (`crates/cluster/src/faults/inject.rs`; effects on watches and controllers go to `watches.rs`, on clients
//! to `clients.rs`); a row in `docs/native.md`.

mod client;
mod load;

pub use client::{
    CallStage, ClientAction, ClientCall, ClientFault, ClientFaultError, ClientFaultLimit,
    ClientSelector,
};
use client::{LIMIT, SELECTOR};
pub use load::{Load, LoadError};

use k8s_model::pod::ProbeKind;
use k8s_model::quantity::{Quantity, QuantityError};
use k8s_model::time::{SECOND, duration, duration_text};
use k8s_model::{Duration, Kind, Object, Str, kind, names};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// Longest configurable delay, in microseconds.
pub const MAX_DELAY_US: u64 = 1_000_000_000 * SECOND;

/// Forms of all faults, for usage messages.
const KNOWN: &str = "exit pod/NAME CODE, unready pod/NAME, ready pod/NAME, fail-probe pod/NAME KIND [timeout], pass-probe pod/NAME KIND, evict pod/NAME, node-down NODE, node-up NODE, \
                     node-notready NODE, add-node NODE [RESOURCE=AMOUNT ...], remove-node NODE, cpu-load LABEL=VALUE AMOUNT|none, memory-load LABEL=VALUE AMOUNT|none, memory-pressure NODE [AMOUNT], \
                     lose KIND[/NAME] [COMPONENT], delay KIND[/NAME] TIME|none [COMPONENT], repeat KIND[/NAME] [COMPONENT], event-driven LOOP on|off, slow LOOP TIME|none, jitter TIME [SEED], jitter none, relist TIME|never, restart COMPONENT, conflict KIND[/NAME], \
                     client SELECTOR 429|500|503|409|410|timeout-after-commit|disconnect|lose [LIMIT], client SELECTOR 429 retry-after SECONDS [LIMIT], client SELECTOR slow|delay TIME [LIMIT], \
                     client SELECTOR off";

/// Returns the form of each fault's line.
pub fn usage() -> impl Iterator<Item = &'static str> {
    KNOWN.split(", ")
}

/// Returns notes on the forms: whom they act on, and the words that several of them have.
pub fn usage_notes() -> [String; 3] {
    [
        "lose, delay, repeat and slow act on components of the cluster, client on clients over HTTP"
            .to_owned(),
        format!("SELECTOR of external clients: {SELECTOR}"),
        format!("LIMIT: {LIMIT}; without one until \"client SELECTOR off\""),
    ]
}

/// Fault, or the end of one. Pods are in the namespace `default`.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// Exit of a Pod's first container with this code.
    Exit {
        /// Pod.
        pod: Str,
        /// Exit code.
        code: u8,
    },
    /// Readiness of a Pod's first container, set by hand.
    Ready {
        /// Pod.
        pod: Str,
        /// New readiness.
        ready: bool,
    },
    /// Failure of a probe of a Pod from now on.
    FailProbe {
        /// Pod.
        pod: Str,
        /// Kind of the probe.
        probe: ProbeKind,
        /// True for a timeout.
        timeout: bool,
    },
    /// Renewed success of a probe of a Pod.
    PassProbe {
        /// Pod.
        pod: Str,
        /// Kind of the probe.
        probe: ProbeKind,
    },
    /// Eviction of a Pod, if its budgets allow it.
    Evict {
        /// Pod.
        pod: Str,
    },
    /// Change of a node.
    Node(NodeFault, Str),
    /// Addition of a node to the cluster.
    AddNode {
        /// Name.
        name: Str,
        /// Allocatable resources that differ from those of other nodes.
        allocatable: Vec<(Str, Str)>,
    },
    /// Usage of a resource by Pods.
    Load(Load),
    /// End of a load; its amount is ignored.
    EndLoad(Load),
    /// Memory pressure on a node: 0 ends it; without an amount, enough is missing to evict one Pod.
    MemoryPressure {
        /// Node.
        node: Str,
        /// Amount.
        missing: Option<Quantity>,
    },
    /// Loss of the next watch event about the target on its way to a component of the cluster (default: kube-controller-manager).
    Lose {
        /// Objects.
        target: FaultTarget,
        /// Component.
        component: Option<Str>,
    },
    /// Delay of the next watch event about the target; without a time, delayed events arrive now.
    Delay {
        /// Objects.
        target: FaultTarget,
        /// Delay in microseconds.
        delay: Option<Duration>,
        /// Component.
        component: Option<Str>,
    },
    /// Second delivery of the next watch event about the target (default: to kube-controller-manager).
    Repeat {
        /// Objects.
        target: FaultTarget,
        /// Component.
        component: Option<Str>,
    },
    /// Replacement of a controller by a program that reacts to events alone, or the end of it.
    EventDriven {
        /// Controller.
        name: Str,
        /// True if the program replaces it.
        on: bool,
    },
    /// Slowdown of a controller: duration of each pass in microseconds, `None` to end it.
    Slow {
        /// Controller, kube-scheduler or kube-controller-manager.
        name: Str,
        /// Duration of a pass.
        pass: Option<Duration>,
    },
    /// Random lateness of watch deliveries, and random order of passes and scheduling cycles of the same time.
    Jitter {
        /// Maximum lateness in microseconds, `None` to end the fault.
        range: Option<Duration>,
        /// Seed of the sequence; 0 with the end of the fault.
        seed: u64,
    },
    /// Delay in microseconds from a lost event to the relist that repairs it; `None` for no relist.
    Relist(Option<Duration>),
    /// Restart of a component, which loses its state and relists.
    Restart {
        /// Component.
        component: Str,
    },
    /// Refusal of the next update of the target by a controller.
    Conflict(FaultTarget),
    /// Fault on the requests and watches of external clients.
    Client(ClientFault),
    /// End of the faults on clients with this selector; of all of them if it selects all.
    EndClient(ClientSelector),
}

/// Change of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NodeFault {
    /// The kubelet stops responding.
    Down,
    /// The kubelet reports that it is healthy.
    Up,
    /// The kubelet reports that its container runtime is down.
    NotReady,
    /// The node leaves the cluster.
    Remove,
}

/// Target of a fault as it is written. Its kind may be defined only later, so the word of the kind is resolved when the fault is injected.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FaultTarget {
    /// Word of the kind, as on kubectl's command line.
    kind: Str,
    /// Name of the target; empty for all objects of the kind.
    name: Str,
}

impl FaultTarget {
    /// Returns the target of one object, or of all objects of a kind if the name is empty.
    pub fn new(kind: Kind, name: Str) -> FaultTarget {
        let info = kind.info();
        let word = match kind {
            // A custom kind may share its name with another.
            Kind::Custom(_) => format!("{}.{}.{}", info.name, info.version, info.group),
            _ => info.name.to_owned(),
        };
        FaultTarget {
            kind: word.to_ascii_lowercase().into(),
            name,
        }
    }

    /// Returns the target of all objects of a kind.
    pub fn every(kind: Kind) -> FaultTarget {
        FaultTarget::new(kind, Str::default())
    }

    /// Returns true if the kind is written with its group.
    pub fn names_group(&self) -> bool {
        self.kind.contains('.')
    }

    /// Finds the kind among the built-in ones and the custom ones of a cluster.
    ///
    /// # Errors
    /// None of them has this name.
    pub fn resolve(
        &self,
        custom: impl IntoIterator<Item = Kind>,
    ) -> Result<ResolvedTarget, FaultError> {
        let kind = built_in(&self.kind)
            .or_else(|| custom.into_iter().find(|kind| kind.is_meant(&self.kind)))
            .ok_or_else(|| FaultError::NoKind(self.kind.to_string()))?;
        Ok(ResolvedTarget {
            kind,
            name: self.name.clone(),
        })
    }
}

/// Objects that a fault is about: all of a kind, or the one with this name (in namespace `default` if namespaced).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ResolvedTarget {
    /// Kind of the target.
    pub kind: Kind,
    /// Name of the target; empty for all objects of the kind.
    pub name: Str,
}

impl ResolvedTarget {
    /// Returns true if an object is a target.
    pub fn is(&self, object: &Object) -> bool {
        let here = || matches!(object.meta.namespace.as_str(), "" | "default");
        self.kind == object.kind
            && (self.name.is_empty() || self.name == object.meta.name && here())
    }

    /// Returns true if every target of `other` is a target of this.
    pub fn covers(&self, other: &ResolvedTarget) -> bool {
        self.kind == other.kind && (self.name.is_empty() || self.name == other.name)
    }
}

impl fmt::Display for FaultTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.kind)?;
        if self.name.is_empty() {
            Ok(())
        } else {
            write!(f, "/{}", self.name)
        }
    }
}

/// Reason why a fault was not injected.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FaultError {
    /// Line that is not a fault.
    Unknown(String),
    /// Target that is not of the form `pod/NAME`.
    NoPod(String),
    /// Missing object of a resource.
    NotFound(&'static str, Str),
    /// Node name that is already in use.
    NodeExists(Str),
    /// Missing probe of this kind on the Pod.
    ProbeMissing(Str, ProbeKind),
    /// Unknown kind of probe.
    NoProbe(String),
    /// Invalid exit code.
    NoExitCode(String),
    /// Unknown kind of object.
    NoKind(String),
    /// Unknown component of the control plane.
    NoComponent(Str),
    /// Unknown controller, or one that cannot be slowed.
    NoLoop(Str),
    /// Controller without an event-driven form.
    NoEventDrivenForm(Str),
    /// Invalid time: the fault, the word allowed in its place, and the word found.
    NoTime(&'static str, &'static str, String),
    /// Seed that is not a number.
    NoSeed(String),
    /// Invalid quantity: of what, and why.
    NoAmount(String, QuantityError),
    /// Invalid load.
    NoLoad(LoadError),
    /// Argument that is not of the form `RESOURCE=AMOUNT`.
    NoPair(String),
    /// Unknown resource of nodes.
    NoResource(String),
    /// Number of Pods that is not whole.
    NotWhole(String),
    /// Node resource whose amount is not positive.
    NotPositive(String),
    /// Duplicate resource.
    Twice(String),
    /// Invalid fault on clients.
    NoClientFault(ClientFaultError),
    /// Refusal by the API server of a write of the fault.
    Refused(String),
}

impl fmt::Display for FaultError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FaultError::Unknown(line) => write!(f, "unknown fault {line:?}; known are: {KNOWN}"),
            FaultError::NoPod(word) => write!(f, "{word}: pod/NAME is required"),
            FaultError::NotFound(resource, name) => write!(f, "{resource} {name:?} not found"),
            FaultError::NodeExists(name) => write!(f, "nodes {name:?} already exists"),
            FaultError::ProbeMissing(pod, probe) => {
                write!(f, "pods {pod:?} has no {} probe", probe.as_str())
            }
            FaultError::NoProbe(word) => {
                write!(f, "{word}: startup, readiness or liveness is required")
            }
            FaultError::NoExitCode(word) => write!(f, "exit: not an exit code: {word}"),
            FaultError::NoKind(word) => write!(f, "no kind {word:?}"),
            FaultError::NoComponent(name) => write!(f, "no component {name:?}"),
            FaultError::NoLoop(name) => {
                write!(
                    f,
                    "no loop {name:?} to slow: a controller, kube-scheduler or kube-controller-manager is meant"
                )
            }
            FaultError::NoEventDrivenForm(name) => write!(
                f,
                "no event-driven form of the loop {name:?}: replicaset-controller has one"
            ),
            FaultError::NoTime(fault, or, word) => write!(
                f,
                "{fault}: neither \"{or}\" nor a time like 500ms, 2s or 1m: {word}"
            ),
            FaultError::NoSeed(word) => write!(f, "jitter: not a seed: {word}"),
            FaultError::NoAmount(of, error) => write!(f, "{of}: {error}"),
            FaultError::NoLoad(error) => error.fmt(f),
            FaultError::NoPair(word) => write!(f, "add-node: {word}: RESOURCE=AMOUNT is required"),
            FaultError::NoResource(word) => write!(
                f,
                "add-node: {word}: cpu, memory, pods or ephemeral-storage is required"
            ),
            FaultError::NotWhole(pair) => write!(f, "add-node: {pair}: must be an integer"),
            FaultError::NotPositive(pair) => write!(f, "add-node: {pair}: must be greater than 0"),
            FaultError::Twice(resource) => write!(f, "add-node: {resource}: named twice"),
            FaultError::NoClientFault(error) => error.fmt(f),
            FaultError::Refused(message) => f.write_str(message),
        }
    }
}

impl FaultError {
    /// Returns the line that a command prints for the error.
    pub fn printed(&self) -> String {
        format!("error: {self}")
    }
}

impl std::error::Error for FaultError {}

impl Fault {
    /// Target of a fault of watches and writes.
    pub fn target(&self) -> Option<&FaultTarget> {
        match self {
            Fault::Lose { target, .. }
            | Fault::Delay { target, .. }
            | Fault::Repeat { target, .. }
            | Fault::Conflict(target) => Some(target),
            _ => None,
        }
    }

    /// Builds a fault that sets the readiness of a Pod.
    pub fn ready(pod: &Str, ready: bool) -> Fault {
        Fault::Ready {
            pod: pod.clone(),
            ready,
        }
    }

    /// Builds a fault that adds a node like the others.
    pub fn add_node(name: &str) -> Fault {
        Fault::AddNode {
            name: name.into(),
            allocatable: Vec::new(),
        }
    }

    /// Builds a fault that powers a node on.
    pub fn node_up(name: &str) -> Fault {
        Fault::Node(NodeFault::Up, name.into())
    }
}

impl Fault {
    /// Formats the line that injects the fault in the terminal.
    pub fn command_line(&self) -> String {
        format!("fault {self}")
    }
}

impl fmt::Display for Fault {
    /// Formats the fault as the line that `from_str` parses.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let or = |span: &Option<Duration>, none: &str| span.map_or(none.to_owned(), duration_text);
        let of = |component: &Option<Str>| {
            component
                .as_ref()
                .map_or(String::new(), |component| format!(" {component}"))
        };
        match self {
            Fault::Exit { pod, code } => write!(f, "exit pod/{pod} {code}"),
            Fault::Ready { pod, ready: true } => write!(f, "ready pod/{pod}"),
            Fault::Ready { pod, ready: false } => write!(f, "unready pod/{pod}"),
            Fault::FailProbe {
                pod,
                probe,
                timeout,
            } => {
                let timeout = if *timeout { " timeout" } else { "" };
                write!(f, "fail-probe pod/{pod} {}{timeout}", probe.as_str())
            }
            Fault::PassProbe { pod, probe } => write!(f, "pass-probe pod/{pod} {}", probe.as_str()),
            Fault::Evict { pod } => write!(f, "evict pod/{pod}"),
            Fault::Node(change, name) => {
                let verb = match change {
                    NodeFault::Down => "node-down",
                    NodeFault::Up => "node-up",
                    NodeFault::NotReady => "node-notready",
                    NodeFault::Remove => "remove-node",
                };
                write!(f, "{verb} {name}")
            }
            Fault::AddNode { name, allocatable } => {
                write!(f, "add-node {name}")?;
                allocatable
                    .iter()
                    .try_for_each(|(resource, amount)| write!(f, " {resource}={amount}"))
            }
            Fault::Load(load) => write!(
                f,
                "{}-load {} {}",
                load.resource(),
                load.labels(),
                load.amount()
            ),
            Fault::EndLoad(load) => write!(f, "{}-load {} none", load.resource(), load.labels()),
            Fault::MemoryPressure {
                node,
                missing: None,
            } => write!(f, "memory-pressure {node}"),
            Fault::MemoryPressure {
                node,
                missing: Some(missing),
            } => {
                write!(f, "memory-pressure {node} {missing}")
            }
            Fault::Lose { target, component } => write!(f, "lose {target}{}", of(component)),
            Fault::Delay {
                target,
                delay,
                component,
            } => {
                write!(f, "delay {target} {}{}", or(delay, "none"), of(component))
            }
            Fault::Repeat { target, component } => write!(f, "repeat {target}{}", of(component)),
            Fault::EventDriven { name, on } => {
                write!(f, "event-driven {name} {}", if *on { "on" } else { "off" })
            }
            Fault::Slow { name, pass } => write!(f, "slow {name} {}", or(pass, "none")),
            Fault::Jitter {
                range: range @ Some(_),
                seed,
            } => write!(f, "jitter {} {seed}", or(range, "none")),
            Fault::Jitter { range: None, .. } => f.write_str("jitter none"),
            Fault::Relist(after) => write!(f, "relist {}", or(after, "never")),
            Fault::Restart { component } => write!(f, "restart {component}"),
            Fault::Conflict(target) => write!(f, "conflict {target}"),
            Fault::Client(fault) => fault.fmt(f),
            Fault::EndClient(selector) => write!(f, "client {selector} off"),
        }
    }
}

/// Serializes a fault as its line, for links, records and traces.
impl Serialize for Fault {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Fault {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Fault, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

impl FromStr for Fault {
    type Err = FaultError;

    /// Parses a line such as `exit pod/web-0 1`, `node-down node-1` or `cpu-load app=web 700m`.
    fn from_str(line: &str) -> Result<Fault, FaultError> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let node = |what, name: &str| Ok(Fault::Node(what, name.into()));
        match words[..] {
            ["exit", target, code] => {
                let code = code
                    .parse()
                    .map_err(|_| FaultError::NoExitCode(code.to_owned()))?;
                Ok(Fault::Exit {
                    pod: pod(target)?,
                    code,
                })
            }
            ["unready", target] => Ok(Fault::Ready {
                pod: pod(target)?,
                ready: false,
            }),
            ["ready", target] => Ok(Fault::Ready {
                pod: pod(target)?,
                ready: true,
            }),
            ["fail-probe", target, kind] => Ok(Fault::FailProbe {
                pod: pod(target)?,
                probe: probe(kind)?,
                timeout: false,
            }),
            ["fail-probe", target, kind, "timeout"] => Ok(Fault::FailProbe {
                pod: pod(target)?,
                probe: probe(kind)?,
                timeout: true,
            }),
            ["pass-probe", target, kind] => Ok(Fault::PassProbe {
                pod: pod(target)?,
                probe: probe(kind)?,
            }),
            ["evict", target] => Ok(Fault::Evict { pod: pod(target)? }),
            ["node-down", name] => node(NodeFault::Down, name),
            ["node-up", name] => node(NodeFault::Up, name),
            ["node-notready", name] => node(NodeFault::NotReady, name),
            ["remove-node", name] => node(NodeFault::Remove, name),
            ["add-node", name, ref amounts @ ..] => {
                if let Some(fault) = names::subdomain(name) {
                    return Err(FaultError::Refused(format!("add-node: {name}: {fault}")));
                }
                Ok(Fault::AddNode {
                    name: name.into(),
                    allocatable: allocatable(amounts)?,
                })
            }
            ["cpu-load", selector, total] => load("cpu", selector, total),
            ["memory-load", selector, total] => load("memory", selector, total),
            ["memory-pressure", node] => Ok(Fault::MemoryPressure {
                node: node.into(),
                missing: None,
            }),
            ["memory-pressure", node, amount] => {
                let missing = quantity(format!("memory-pressure: {amount}"), amount)?;
                Ok(Fault::MemoryPressure {
                    node: node.into(),
                    missing: Some(missing),
                })
            }
            ["lose", what] => Ok(Fault::Lose {
                target: target(what)?,
                component: None,
            }),
            ["lose", what, component] => Ok(Fault::Lose {
                target: target(what)?,
                component: Some(component.into()),
            }),
            ["delay", what, delay] => Ok(Fault::Delay {
                target: target(what)?,
                delay: span("delay", delay)?,
                component: None,
            }),
            ["delay", what, delay, component] => Ok(Fault::Delay {
                target: target(what)?,
                delay: span("delay", delay)?,
                component: Some(component.into()),
            }),
            ["repeat", what] => Ok(Fault::Repeat {
                target: target(what)?,
                component: None,
            }),
            ["repeat", what, component] => Ok(Fault::Repeat {
                target: target(what)?,
                component: Some(component.into()),
            }),
            ["event-driven", name, switch @ ("on" | "off")] => Ok(Fault::EventDriven {
                name: name.into(),
                on: switch == "on",
            }),
            // Some names have two words.
            ["slow", ref name @ .., pass] if !name.is_empty() => Ok(Fault::Slow {
                name: name.join(" ").into(),
                pass: span("slow", pass)?,
            }),
            ["jitter", range] => Ok(jitter(span("jitter", range)?, 1)),
            ["jitter", range, seed] => {
                let seed = seed
                    .parse()
                    .map_err(|_| FaultError::NoSeed(seed.to_owned()))?;
                Ok(jitter(span("jitter", range)?, seed))
            }
            ["relist", "never"] => Ok(Fault::Relist(None)),
            ["relist", after] => match time(after) {
                Some(after) => Ok(Fault::Relist(Some(after))),
                None => Err(FaultError::NoTime("relist", "never", after.to_owned())),
            },
            ["restart", component] => Ok(Fault::Restart {
                component: component.into(),
            }),
            ["conflict", what] => Ok(Fault::Conflict(target(what)?)),
            ["client", ref words @ ..] => client::parse(words).map_err(FaultError::NoClientFault),
            _ => Err(FaultError::Unknown(line.to_owned())),
        }
    }
}

/// Returns the jitter; the end of one has no seed.
fn jitter(range: Option<Duration>, seed: u64) -> Fault {
    let seed = range.map_or(0, |_| seed);
    Fault::Jitter { range, seed }
}

fn pod(word: &str) -> Result<Str, FaultError> {
    word.strip_prefix("pod/")
        .map(Str::from)
        .ok_or_else(|| FaultError::NoPod(word.to_owned()))
}

fn probe(word: &str) -> Result<ProbeKind, FaultError> {
    ProbeKind::from_name(word).ok_or_else(|| FaultError::NoProbe(word.to_owned()))
}

/// Parses a target: `pod/web-0`, or `pod` for any Pod.
fn target(word: &str) -> Result<FaultTarget, FaultError> {
    let (kind, name) = word.split_once('/').unwrap_or((word, ""));
    let name = Str::new(name);
    let word = kind.to_ascii_lowercase();
    // Built-in kinds have one word; others are known only once they are defined.
    Ok(match built_in(&word) {
        Some(kind) => FaultTarget::new(kind, name),
        None => FaultTarget {
            kind: word.into(),
            name,
        },
    })
}

/// Returns the built-in kind that a word in lower case names.
fn built_in(word: &str) -> Option<Kind> {
    kind::ALL.iter().copied().find(|kind| kind.is_meant(word))
}

fn time(word: &str) -> Option<Duration> {
    duration(word).filter(|span| *span < MAX_DELAY_US)
}

/// Parses a duration; `None` for `none` and `0s`.
fn span(fault: &'static str, word: &str) -> Result<Option<Duration>, FaultError> {
    match time(word) {
        _ if word == "none" => Ok(None),
        Some(span) => Ok((span > 0).then_some(span)),
        None => Err(FaultError::NoTime(fault, "none", word.to_owned())),
    }
}

fn quantity(of: String, text: &str) -> Result<Quantity, FaultError> {
    Quantity::parse(text).map_err(|error| FaultError::NoAmount(of, error))
}

/// Parses a load, which `none` ends.
fn load(resource: &'static str, selector: &str, total: &str) -> Result<Fault, FaultError> {
    let read = |total| Load::parse(resource, selector, total).map_err(FaultError::NoLoad);
    match total {
        "none" => read("0").map(Fault::EndLoad),
        total => read(total).map(Fault::Load),
    }
}

/// Parses the allocatable resources that differ from those of other nodes: `cpu=8`.
fn allocatable(pairs: &[&str]) -> Result<Vec<(Str, Str)>, FaultError> {
    let mut found: Vec<(Str, Str)> = Vec::new();
    for pair in pairs {
        let (resource, amount) = pair
            .split_once('=')
            .ok_or_else(|| FaultError::NoPair((*pair).to_owned()))?;
        if !["cpu", "memory", "pods", "ephemeral-storage"].contains(&resource) {
            return Err(FaultError::NoResource(resource.to_owned()));
        }
        let many = quantity(format!("add-node: {pair}"), amount)?;
        if resource == "pods" && !many.is_whole() {
            return Err(FaultError::NotWhole((*pair).to_owned()));
        }
        if many.as_units() <= 0 {
            return Err(FaultError::NotPositive((*pair).to_owned()));
        }
        if found.iter().any(|(other, _)| other == resource) {
            return Err(FaultError::Twice(resource.to_owned()));
        }
        found.push((resource.into(), amount.into()));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_that_is_told_is_read() {
        for pattern in KNOWN.split(", ") {
            // Covers every alternative, with and without the optional parts.
            let filled = |word: &str| match word.trim_matches(['[', ']']) {
                "pod/NAME" => "pod/web-0".to_owned(),
                "KIND" if pattern.contains("probe") => "liveness".to_owned(),
                "KIND/NAME" | "KIND[/NAME" => "pod/web-0".to_owned(),
                "CODE" => "137".to_owned(),
                "LABEL=VALUE" => "app=web".to_owned(),
                "RESOURCE=AMOUNT" => "cpu=8".to_owned(),
                "AMOUNT" => "500m".to_owned(),
                "TIME" => "2s".to_owned(),
                "NODE" => "node-9".to_owned(),
                "SELECTOR" => "agent=my-operator".to_owned(),
                "SECONDS" => "3".to_owned(),
                "SEED" => "7".to_owned(),
                "LIMIT" => "30%".to_owned(),
                "..." => "memory=1Gi".to_owned(),
                word => word.to_owned(),
            };
            let words: Vec<&str> = pattern.split(' ').collect();
            let needed = words
                .iter()
                .position(|word| word.starts_with('['))
                .unwrap_or(words.len());
            for count in needed..=words.len() {
                for choice in 0..2 {
                    let pick = |word: &&str| {
                        filled(word.split('|').cycle().nth(choice).unwrap_or_default())
                    };
                    let line = words[..count]
                        .iter()
                        .map(pick)
                        .collect::<Vec<_>>()
                        .join(" ");
                    let fault = line
                        .parse::<Fault>()
                        .unwrap_or_else(|error| panic!("{line}: {error}"));
                    // The formatted line parses to the fault again; without optional parts it equals the parsed line.
                    assert_eq!(
                        fault.to_string().parse::<Fault>(),
                        Ok(fault.clone()),
                        "{line}"
                    );
                    let json = serde_json::to_value(&fault).unwrap();
                    assert_eq!(json, fault.to_string());
                    assert_eq!(serde_json::from_value::<Fault>(json).unwrap(), fault);
                }
            }
        }
    }

    #[test]
    fn durations_are_kept_to_the_microsecond() {
        let steps = (0..400_000)
            .step_by(7)
            .chain((400_000..900_000_000).step_by(999_983));
        for us in steps.map(|us| us as u64 + 1) {
            let fault = Fault::Relist(Some(us));
            assert_eq!(fault.to_string().parse(), Ok(fault), "{us}");
        }
        let fault: Fault = "relist 2.05s".parse().unwrap();
        assert_eq!(fault.to_string().parse(), Ok(fault));
    }

    /// A link is read before the definitions in it are applied.
    #[test]
    fn the_kind_of_a_target_may_be_defined_later() {
        let line = "lose gateway.v1.gateway.networking.k8s.io/web kubelet";
        let fault: Fault = line.parse().unwrap();
        assert_eq!(fault.to_string(), line);
        let unknown = FaultError::NoKind("gateway.v1.gateway.networking.k8s.io".into());
        let target = fault.target().unwrap();
        assert_eq!(target.resolve([]), Err(unknown));
        let gateway = Kind::custom(kind::CustomNames {
            group: "gateway.networking.k8s.io",
            version: "v1",
            name: "Gateway",
            plural: "gateways",
            namespaced: true,
        })
        .unwrap();
        // Another cluster of this thread may have registered the kind.
        assert!(target.resolve([]).is_err());
        assert_eq!(target.resolve([gateway]).unwrap().kind, gateway);
        assert_eq!(
            "lose pods".parse::<Fault>().unwrap().to_string(),
            "lose pod"
        );
    }

    #[test]
    fn what_is_wrong_is_named() {
        let error = |line: &str| line.parse::<Fault>().unwrap_err();
        assert_eq!(
            error("exit pod/web-0 many"),
            FaultError::NoExitCode("many".into())
        );
        assert_eq!(error("exit web-0 1"), FaultError::NoPod("web-0".into()));
        assert_eq!(
            error("delay pod soon"),
            FaultError::NoTime("delay", "none", "soon".into())
        );
        assert_eq!(
            error("add-node n pods=0.5"),
            FaultError::NotWhole("pods=0.5".into())
        );
        assert_eq!(
            error("add-node n cpu=1 cpu=2"),
            FaultError::Twice("cpu".into())
        );
        assert!(
            error("break everything")
                .to_string()
                .starts_with("unknown fault \"break everything\"; known are: exit pod/NAME CODE")
        );
    }
}
