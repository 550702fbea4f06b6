//! What a person or a scenario can break, as data, and how it is written as a line.
//!
//! A fault is read here and carried out in `inject.rs`; what happens to watches and loops is in `watches.rs`. To add one: a variant, the
//! line that means it, and what it does.
//!
//! # Adding a fault
//!
//! (`src/fault/mod.rs` and `inject.rs`): a variant of `Fault` with its line in `from_str` and in `KNOWN`, an arm of `inject`, a variant of
//! `FaultError` for each way in which it can be refused, and a row in `docs/native.md`. What it does to watches and loops goes to `watches.rs`.

mod inject;
mod watches;

pub use watches::InLine;

use apiserver::FaultTarget;
use apiserver::validation;
use controller_runtime::cluster::NodeConfig;
use controller_runtime::load::{Load, LoadError};
use k8s_model::quantity::{Quantity, QuantityError};
use k8s_model::time::{SECOND, duration};
use k8s_model::{Duration, Kind, Str};
use kubelet::{Forced, Probed};
use serde_json::json;
use std::fmt;
use std::str::FromStr;

/// Longest delay that can be set.
const MAX_DELAY_US: u64 = 1_000_000_000 * SECOND;

/// The faults, as a reader is told them.
const KNOWN: &str = "exit pod/NAME CODE, unready pod/NAME, ready pod/NAME, fail-probe pod/NAME KIND [timeout], pass-probe pod/NAME KIND, evict pod/NAME, node-down NODE, node-up NODE, \
                     node-notready NODE, add-node NODE [RESOURCE=AMOUNT ...], remove-node NODE, cpu-load LABEL=VALUE AMOUNT|none, memory-load LABEL=VALUE AMOUNT|none, memory-pressure NODE [AMOUNT], \
                     lose KIND[/NAME] [COMPONENT], delay KIND[/NAME] TIME|none [COMPONENT], slow LOOP TIME|none, relist TIME|never, restart COMPONENT, conflict KIND[/NAME]";

/// The faults, each as a line has it.
pub fn usage() -> impl Iterator<Item = &'static str> {
    KNOWN.split(", ")
}

/// A fault, or the end of one.
#[derive(Clone, Debug)]
pub enum Fault {
    /// The first container of a Pod in the namespace `default` does this.
    Container(Str, Forced),
    /// A Pod in the namespace `default` is evicted, if its budgets allow it.
    Evict(Str),
    /// Something happens to a node.
    Node(NodeFault, Str),
    /// A node joins.
    AddNode(NodeConfig),
    /// Pods use this much of a resource.
    Load(Load),
    /// The load of these Pods ends.
    EndLoad(Load),
    /// A node has this many bytes of memory too few, at least enough to evict one Pod; 0 ends it.
    MemoryPressure(Str, i64),
    /// The next watch event about the target does not reach a component: the controllers, if none is named.
    Lose(FaultTarget, Option<Str>),
    /// It reaches the component that much later; without a time, what is delayed arrives now.
    Delay(FaultTarget, Option<Duration>, Option<Str>),
    /// Each pass of a loop takes this long; no time ends it.
    Slow(Str, Option<Duration>),
    /// How long after a lost event components list everything again; never, without a time.
    Relist(Option<Duration>),
    /// A component loses its state and lists everything again.
    Restart(Str),
    /// The next update of the target by a loop is refused.
    Conflict(FaultTarget),
}

/// What happens to a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NodeFault {
    /// Its kubelet is silent.
    Down,
    /// Its kubelet reports that it is healthy.
    Up,
    /// Its kubelet reports that its container runtime is down.
    NotReady,
    /// It leaves the cluster.
    Remove,
}

/// Why a fault was not injected.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FaultError {
    /// The line is none of the faults.
    Unknown(String),
    /// Something else than `pod/NAME` is named.
    NoPod(String),
    /// No object of a resource has this name.
    NotFound(&'static str, Str),
    /// A node of this name is there.
    NodeExists(Str),
    /// The Pod has no probe of this kind.
    ProbeMissing(Str, Probed),
    /// No kind of probe.
    NoProbe(String),
    /// No number that a process can end with.
    NoExitCode(String),
    /// No kind of object.
    NoKind(String),
    /// No component of the control plane.
    NoComponent(Str),
    /// No loop that can be slowed.
    NoLoop(Str),
    /// No time: the fault, the word that may stand there instead, and what does.
    NoTime(&'static str, &'static str, String),
    /// No quantity: of what, and why.
    NoAmount(String, QuantityError),
    /// No load.
    NoLoad(LoadError),
    /// No `RESOURCE=AMOUNT`.
    NoPair(String),
    /// No resource of nodes.
    NoResource(String),
    /// A number of Pods that is not whole.
    NotWhole(String),
    /// A node that would have nothing of a resource.
    NotPositive(String),
    /// A resource that is named twice.
    Twice(String),
    /// The API server refused what the fault asked of it.
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
                write!(f, "pods {pod:?} has no {} probe", probe.word())
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
            FaultError::NoTime(fault, or, word) => write!(
                f,
                "{fault}: neither \"{or}\" nor a time like 500ms, 2s or 1m: {word}"
            ),
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
            FaultError::Refused(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for FaultError {}

impl Fault {
    /// The fault that a command in the history sets or ends; none where it is another command, or refused.
    pub fn of_command(line: &str) -> Option<Fault> {
        line.strip_prefix("fault ")?.parse().ok()
    }
}

impl FromStr for Fault {
    type Err = FaultError;

    /// Reads a line such as `exit pod/web-0 1`, `node-down node-1` or `cpu-load app=web 700m`.
    fn from_str(line: &str) -> Result<Fault, FaultError> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let container = |target, forced| Ok(Fault::Container(pod(target)?, forced));
        let node = |what, name: &str| Ok(Fault::Node(what, name.into()));
        match words[..] {
            ["exit", target, code] => {
                let code = code
                    .parse::<u8>()
                    .map_err(|_| FaultError::NoExitCode(code.to_owned()))?
                    .into();
                container(target, Forced::Exit(code))
            }
            ["unready", target] => container(target, Forced::Ready(false)),
            ["ready", target] => container(target, Forced::Ready(true)),
            ["fail-probe", target, kind] => {
                container(target, Forced::Probe(probe(kind)?, Some(false)))
            }
            ["fail-probe", target, kind, "timeout"] => {
                container(target, Forced::Probe(probe(kind)?, Some(true)))
            }
            ["pass-probe", target, kind] => container(target, Forced::Probe(probe(kind)?, None)),
            ["evict", target] => Ok(Fault::Evict(pod(target)?)),
            ["node-down", name] => node(NodeFault::Down, name),
            ["node-up", name] => node(NodeFault::Up, name),
            ["node-notready", name] => node(NodeFault::NotReady, name),
            ["remove-node", name] => node(NodeFault::Remove, name),
            ["add-node", name, ref amounts @ ..] => {
                if let Some(fault) = validation::subdomain(name) {
                    return Err(FaultError::Refused(format!("add-node: {name}: {fault}")));
                }
                Ok(Fault::AddNode(NodeConfig {
                    name: name.into(),
                    allocatable: allocatable(amounts)?,
                }))
            }
            ["cpu-load", selector, total] => load("cpu", selector, total),
            ["memory-load", selector, total] => load("memory", selector, total),
            ["memory-pressure", name] => Ok(Fault::MemoryPressure(name.into(), 1)),
            ["memory-pressure", name, amount] => {
                let bytes = quantity(format!("memory-pressure: {amount}"), amount)?
                    .as_units()
                    .max(0);
                Ok(Fault::MemoryPressure(name.into(), bytes))
            }
            ["lose", what] => Ok(Fault::Lose(target(what)?, None)),
            ["lose", what, component] => Ok(Fault::Lose(target(what)?, Some(component.into()))),
            ["delay", what, late] => Ok(Fault::Delay(target(what)?, span("delay", late)?, None)),
            ["delay", what, late, component] => Ok(Fault::Delay(
                target(what)?,
                span("delay", late)?,
                Some(component.into()),
            )),
            // Some names have two words.
            ["slow", ref name @ .., each] if !name.is_empty() => {
                Ok(Fault::Slow(name.join(" ").into(), span("slow", each)?))
            }
            ["relist", "never"] => Ok(Fault::Relist(None)),
            ["relist", after] => match time(after) {
                Some(after) => Ok(Fault::Relist(Some(after))),
                None => Err(FaultError::NoTime("relist", "never", after.to_owned())),
            },
            ["restart", component] => Ok(Fault::Restart(component.into())),
            ["conflict", what] => Ok(Fault::Conflict(target(what)?)),
            _ => Err(FaultError::Unknown(line.to_owned())),
        }
    }
}

fn pod(word: &str) -> Result<Str, FaultError> {
    word.strip_prefix("pod/")
        .map(Str::from)
        .ok_or_else(|| FaultError::NoPod(word.to_owned()))
}

fn probe(word: &str) -> Result<Probed, FaultError> {
    Probed::named(word).ok_or_else(|| FaultError::NoProbe(word.to_owned()))
}

/// `pod/web-0`, or `pod` for any Pod.
fn target(word: &str) -> Result<FaultTarget, FaultError> {
    let (kind, name) = word.split_once('/').unwrap_or((word, ""));
    let kind = Kind::from_word(kind).ok_or_else(|| FaultError::NoKind(kind.to_owned()))?;
    Ok(FaultTarget {
        kind,
        name: Str::new(name),
    })
}

fn time(word: &str) -> Option<Duration> {
    duration(word).filter(|span| *span < MAX_DELAY_US)
}

/// A duration; nothing for `none` and `0s`.
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

/// `none` ends a load.
fn load(resource: &'static str, selector: &str, total: &str) -> Result<Fault, FaultError> {
    let read = |total| Load::parse(resource, selector, total).map_err(FaultError::NoLoad);
    match total {
        "none" => read("0").map(Fault::EndLoad),
        total => read(total).map(Fault::Load),
    }
}

/// What a node has, where it is not what the others have: `cpu=8`.
fn allocatable(pairs: &[&str]) -> Result<Vec<(String, serde_json::Value)>, FaultError> {
    let mut found: Vec<(String, serde_json::Value)> = Vec::new();
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
        found.push((resource.to_owned(), json!(amount)));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_that_is_told_is_read() {
        for pattern in KNOWN.split(", ") {
            // Every alternative, and both with and without what may be left out.
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
                    assert!(
                        line.parse::<Fault>().is_ok(),
                        "{line}: {:?}",
                        line.parse::<Fault>().err()
                    );
                }
            }
        }
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
