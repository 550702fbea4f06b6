//! Containers of a Pod by number, init and ephemeral containers included, and what happens when one ends.

use super::behaviour::predicted_exit;
use crate::api::pod::{Container, ContainerStatus, Pod};
use crate::api::time::MS;
use serde_json::Value;

/// Minimum duration of an init container.
const INIT_TIME_US: u64 = 500 * MS;

/// Flag in a container number that marks init containers.
pub(super) const FLAG: u32 = 1 << 16;

/// The same for ephemeral containers.
const EPHEMERAL: u32 = 1 << 17;

/// The number of an init container, if it is one.
pub(super) fn number(i: u32) -> Option<u32> {
    (i & FLAG != 0).then_some(i & !FLAG)
}

/// Whether it is the number of an ephemeral container.
pub(super) fn is_ephemeral(i: u32) -> bool {
    i & EPHEMERAL != 0
}

/// The number of the container at a place among [`every_container`](crate::api::pod::PodSpec::every_container).
pub(in crate::engine) fn at(pod: &Pod, place: usize) -> u32 {
    let (main, init) = (pod.spec.containers.len(), pod.spec.init_containers.len());
    match place {
        n if n < main => n as u32,
        n if n < main + init => (n - main) as u32 | FLAG,
        n => (n - main - init) as u32 | EPHEMERAL,
    }
}

/// A container of any list, with the name of the list.
pub(super) fn container(pod: &Pod, i: u32) -> Option<(&'static str, &Container)> {
    let (list, at) = place(i);
    let all = match list {
        "initContainers" => &pod.spec.init_containers,
        "ephemeralContainers" => &pod.spec.ephemeral_containers,
        _ => &pod.spec.containers,
    };
    all.get(at).map(|container| (list, container))
}

/// The list of the spec in which a container is, and its place there.
pub(super) fn place(i: u32) -> (&'static str, usize) {
    let at = (i & !(FLAG | EPHEMERAL)) as usize;
    match i {
        i if is_ephemeral(i) => ("ephemeralContainers", at),
        i => (number(i).map_or("containers", |_| "initContainers"), at),
    }
}

/// The numbers of the ephemeral containers of a Pod.
pub(super) fn ephemeral(pod: &Pod) -> impl Iterator<Item = u32> + use<> {
    (0..pod.spec.ephemeral_containers.len() as u32).map(|n| n | EPHEMERAL)
}

/// The numbers of all containers that a Pod is created with, init containers first.
pub(super) fn all(pod: &Pod) -> impl Iterator<Item = u32> + use<> {
    (0..pod.spec.init_containers.len() as u32).map(|n| n | FLAG).chain(0..pod.spec.containers.len() as u32)
}

/// The status of a container of any list.
pub(super) fn status(pod: &mut Pod, i: u32) -> Option<&mut ContainerStatus> {
    let (list, at) = place(i);
    match list {
        "initContainers" => pod.status.init_container_statuses.get_mut(at),
        "ephemeralContainers" => pod.status.ephemeral_container_statuses.get_mut(at),
        _ => pod.status.container_statuses.get_mut(at),
    }
}

/// The status of a container of any list, read-only.
pub(super) fn seen(pod: &Pod, i: u32) -> Option<&ContainerStatus> {
    let (list, at) = place(i);
    match list {
        "initContainers" => pod.status.init_container_statuses.get(at),
        "ephemeralContainers" => pod.status.ephemeral_container_statuses.get(at),
        _ => pod.status.container_statuses.get(at),
    }
}

/// Whether an init container is a sidecar: the others need not wait for its end.
pub(super) fn is_sidecar(container: &Container) -> bool {
    container.restart_policy == "Always"
}

/// Whether a container has a command; a sidecar without one is assumed to keep running, whatever its image would do.
pub(super) fn has_command(container: &Container) -> bool {
    !container.command.is_empty() || !container.args.is_empty()
}

/// Whether initialization is complete: one of the main containers no longer waits for it.
pub(super) fn has_ended(pod: &Pod) -> bool {
    let waits = |s: &ContainerStatus| s.state.waiting.as_ref().is_some_and(|waiting| waiting.reason == "PodInitializing");
    pod.status.container_statuses.iter().any(|s| !waits(s))
}

/// How long an init container takes.
pub(super) fn time(container: &Container) -> u64 {
    let predicted = predicted_exit(container).filter(|_| !is_sidecar(container));
    predicted.map_or(INIT_TIME_US, |(after, _)| after.max(INIT_TIME_US))
}

/// What happens after a container ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum After {
    /// It is not restarted.
    Nothing,
    /// It is restarted.
    Again,
    /// All containers of its Pod are restarted.
    All,
}

/// What happens when this container ends with this exit code.
pub(super) fn after(pod: &Pod, i: u32, code: i32) -> After {
    match container(pod, i) {
        // Neither restarted nor counted.
        _ if is_ephemeral(i) => After::Nothing,
        Some((list, container)) if !container.restart_policy.is_empty() => by_rule(pod, list, container, i, code),
        _ if ends(&pod.spec.restart_policy, code) => After::Nothing,
        _ => After::Again,
    }
}

fn by_rule(pod: &Pod, list: &str, container: &Container, i: u32, code: i32) -> After {
    let rules = pod.spec.raw[list][number(i).unwrap_or(i) as usize]["restartPolicyRules"].as_array();
    let meant = |rule: &&Value| {
        let codes = &rule["exitCodes"];
        let among = codes["values"].as_array().is_some_and(|values| values.iter().any(|value| value.as_i64() == Some(i64::from(code))));
        among == (codes["operator"] == "In")
    };
    match rules.and_then(|rules| rules.iter().find(meant)) {
        Some(rule) if rule["action"] == "RestartAllContainers" => After::All,
        Some(_) => After::Again,
        None if ends(&container.restart_policy, code) => After::Nothing,
        None => After::Again,
    }
}

/// The restart policy that applies to a container stopped by the kubelet.
pub(super) fn policy(pod: &Pod, i: u32) -> &str {
    let own = container(pod, i).map_or("", |(_, container)| container.restart_policy.as_str());
    if own.is_empty() { &pod.spec.restart_policy } else { own }
}

/// Whether a container has a probe.
pub(super) fn has_probe(container: &Container) -> bool {
    container.startup_probe.is_some() || container.readiness_probe.is_some() || container.liveness_probe.is_some()
}

/// Whether a container with this exit code is not restarted.
pub(super) fn ends(policy: &str, code: i32) -> bool {
    policy == "Never" || (policy == "OnFailure" && code == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_init_container_takes_half_a_second_or_what_its_command_says() {
        let of = |command: &[&str]| Container { command: command.iter().map(|w| (*w).into()).collect(), ..Default::default() };
        assert_eq!(time(&of(&["sleep", "3"])), 3000 * MS);
        assert_eq!(time(&of(&["sh", "-c", "exit 1"])), INIT_TIME_US);
        assert_eq!(time(&of(&["migrate"])), INIT_TIME_US);
        assert_eq!((number(3), number(3 | FLAG)), (None, Some(3)));
    }
}
