//! Sources of the simulated resource usage of Pods: loads set by faults, and containers that send requests in a loop.

use apiserver::Store;
use fault::Load;
use k8s_model::pod::Pod;
use k8s_model::{Duration, Kind, Object, ObjectRef, Str, Time, Uid};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Sources of the usage of Pods.
#[derive(Clone, Debug, Default)]
pub struct Loads {
    /// Loads set by faults; of equal ones the last.
    pub set: Vec<Load>,
    /// Containers that send requests in a loop, and shells in them, by the uid of their Pod.
    generators: BTreeMap<Uid, Rc<Vec<LoadGenerator>>>,
    /// True once such a loop has begun.
    has_generated: bool,
}

/// Container that sends the same requests again and again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoadGenerator {
    /// Pod of the container.
    pub pod: ObjectRef,
    /// Name of the container.
    pub container: Str,
    /// Shell that was started in the container; `None` for the command of the container.
    pub shell: Option<ShellRun>,
    /// One round of its loop.
    pub round: RequestRound,
}

/// Run of a shell that was started in a container.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ShellRun {
    /// Time at which its loop began.
    pub began: Time,
    /// Time until which it counts unless it reports again: who leaves it says nothing.
    pub until: Time,
}

/// Round of a loop that sends requests.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct RequestRound {
    /// Requests in their order.
    pub requests: Vec<LoopRequest>,
    /// Time in the round during which it sleeps.
    pub pause: Duration,
}

/// Request of a loop.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct LoopRequest {
    /// Address, with or without a scheme and a path.
    pub url: Str,
    /// Time limit of the client, if it is given one.
    pub limit: Option<Duration>,
}

impl Loads {
    /// Adds a loop that has begun or goes on, in place of an earlier run of its container or report of its shell.
    pub fn add_generator(&mut self, pod: Uid, generator: LoadGenerator) {
        self.has_generated = true;
        let all = Rc::make_mut(self.generators.entry(pod).or_default());
        let began = |one: &LoadGenerator| one.shell.map(|shell| shell.began);
        let is_same = |other: &LoadGenerator| {
            (&other.container, began(other)) == (&generator.container, began(&generator))
        };
        let is_over = |other: &LoadGenerator| {
            let ends = other.shell.map(|shell| shell.until);
            ends.zip(began(&generator))
                .is_some_and(|(end, now)| end < now)
        };
        all.retain(|other| !is_same(other) && !is_over(other));
        all.push(generator);
    }

    /// Forgets the containers of a Pod that is gone.
    pub fn forget(&mut self, pod: Uid) {
        self.generators.remove(&pod);
    }

    /// Returns the loops of containers, while they run, and of shells in them, with the uid of their Pod.
    pub fn generators(&self) -> impl Iterator<Item = (Uid, &LoadGenerator)> {
        self.generators
            .iter()
            .flat_map(|(pod, all)| all.iter().map(|one| (*pod, one)))
    }

    /// Returns true once a loop of requests has begun.
    pub fn has_generated(&self) -> bool {
        self.has_generated
    }
}

/// Returns true if a load is set for these labels.
pub fn is_said(loads: &[Load], what: &'static str, selector: &str) -> bool {
    Load::parse(what, selector, "0").is_ok_and(|load| loads.iter().any(|old| load.replaces(old)))
}

/// Returns the total usage set for these labels, in thousandths.
pub fn amount(loads: &[Load], what: &'static str, selector: &str) -> Option<i64> {
    let load = Load::parse(what, selector, "0").ok()?;
    loads
        .iter()
        .rev()
        .find(|old| load.replaces(old))
        .map(|old| old.amount().as_millis())
}

/// Returns true if a Pod runs.
pub fn is_running(object: &Object) -> bool {
    object
        .pod()
        .is_some_and(|pod: &Pod| pod.status.phase == "Running")
}

/// Returns the load that is set for a Pod, if it runs; the last one set wins.
pub fn of<'l>(loads: &'l [Load], what: &str, pod: &Object) -> Option<&'l Load> {
    loads
        .iter()
        .rev()
        .find(|load| load.resource() == what && is_running(pod) && load.is_for(&pod.meta.labels))
}

/// Returns the memory usage of a Pod in bytes, if a load is set.
pub fn memory(loads: &[Load], pod: &Object, store: &Store) -> Option<i64> {
    let load = of(loads, "memory", pod)?;
    Some(share(load, store, &pod.meta.namespace) / 1000)
}

/// Returns the share of a load, in thousandths, of each running Pod of a namespace that matches.
pub fn share(load: &Load, store: &Store, namespace: &str) -> i64 {
    let is_meant = |pod: &&Rc<Object>| {
        pod.meta.namespace == namespace && is_running(pod) && load.is_for(&pod.meta.labels)
    };
    load.amount().as_millis() / store.list(Kind::Pod).filter(is_meant).count().max(1) as i64
}
