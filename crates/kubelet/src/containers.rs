//! Containers of a Pod by number, including init and ephemeral containers, and the action after one ends.

use super::behaviour::predicted_exit;
use k8s_model::pod::{Container, ContainerStatus, Pod, PodSpec};
use k8s_model::time::MS;
use serde_json::Value;
use sim_core::table;

/// Minimum duration of an init container.
const INIT_TIME_US: u64 = 500 * MS;

/// Flag in a container number that marks init containers.
pub(super) const FLAG: u32 = 1 << 16;

/// Flag of ephemeral containers. The rest of such a number is a hash of the name: containers may be added anywhere in their list, and a
/// step planned for one must not apply to another.
const EPHEMERAL: u32 = 1 << 17;

/// Returns the index of an init container, or `None` for other containers.
pub(super) fn number(i: u32) -> Option<u32> {
    (i & FLAG != 0).then_some(i & !FLAG)
}

/// Returns true for the number of an ephemeral container.
pub(super) fn is_ephemeral(i: u32) -> bool {
    i & EPHEMERAL != 0
}

/// Returns the number of an ephemeral container.
fn ephemeral_number(name: &str) -> u32 {
    EPHEMERAL | (table::hash("", name) >> 32) as u32 & !FLAG
}

/// Returns the number of the container of this name.
pub fn number_of(pod: &Pod, name: &str) -> Option<u32> {
    let at = |list: &[Container]| {
        list.iter()
            .position(|container| container.name == name)
            .map(|at| at as u32)
    };
    let added = || at(&pod.spec.ephemeral_containers).map(|_| ephemeral_number(name));
    at(&pod.spec.containers)
        .or_else(|| at(&pod.spec.init_containers).map(|at| at | FLAG))
        .or_else(added)
}

/// Returns a container of any list, with the name of the list.
pub(super) fn container(pod: &Pod, i: u32) -> Option<(&'static str, &Container)> {
    let (list, at) = place(&pod.spec, i);
    let all = match list {
        "initContainers" => &pod.spec.init_containers,
        "ephemeralContainers" => &pod.spec.ephemeral_containers,
        _ => &pod.spec.containers,
    };
    all.get(at).map(|container| (list, container))
}

/// Returns the list of the spec that a container is in, and its index there.
pub(super) fn place(spec: &PodSpec, i: u32) -> (&'static str, usize) {
    match number(i) {
        Some(at) => ("initContainers", at as usize),
        None if is_ephemeral(i) => {
            let at = spec
                .ephemeral_containers
                .iter()
                .position(|container| ephemeral_number(&container.name) == i);
            ("ephemeralContainers", at.unwrap_or(usize::MAX))
        }
        None => ("containers", i as usize),
    }
}

/// Returns the numbers of the ephemeral containers of a Pod.
pub(super) fn ephemeral(pod: &Pod) -> impl Iterator<Item = u32> + use<'_> {
    pod.spec
        .ephemeral_containers
        .iter()
        .map(|container| ephemeral_number(&container.name))
}

/// Returns the numbers of all containers that a Pod is created with, init containers first.
pub(super) fn all(pod: &Pod) -> impl Iterator<Item = u32> + use<> {
    (0..pod.spec.init_containers.len() as u32)
        .map(|n| n | FLAG)
        .chain(0..pod.spec.containers.len() as u32)
}

/// Returns the status of a container of any list, mutably. Statuses are looked up by name: their order differs from that of the
/// containers.
pub(super) fn status(pod: &mut Pod, i: u32) -> Option<&mut ContainerStatus> {
    let (list, container) = container(pod, i)?;
    let name = container.name.clone();
    let statuses = match list {
        "initContainers" => &mut pod.status.init_container_statuses,
        "ephemeralContainers" => &mut pod.status.ephemeral_container_statuses,
        _ => &mut pod.status.container_statuses,
    };
    let at = statuses.iter().position(|status| status.name == name)?;
    statuses.get_mut(at)
}

/// Returns the status of a container of any list.
pub(super) fn seen(pod: &Pod, i: u32) -> Option<&ContainerStatus> {
    let (list, container) = container(pod, i)?;
    let statuses = match list {
        "initContainers" => &pod.status.init_container_statuses,
        "ephemeralContainers" => &pod.status.ephemeral_container_statuses,
        _ => &pod.status.container_statuses,
    };
    statuses.iter().find(|status| status.name == container.name)
}

/// Returns true if an init container is a sidecar: other containers do not wait for its end.
pub(super) fn is_sidecar(container: &Container) -> bool {
    container.restart_policy == "Always"
}

/// Returns true if a container has a command; a sidecar without one is assumed to keep running, whatever its image does.
pub(super) fn has_command(container: &Container) -> bool {
    !container.command.is_empty() || !container.args.is_empty()
}

/// Returns true if initialization is complete: a main container no longer waits for it.
pub(super) fn has_ended(pod: &Pod) -> bool {
    let waits = |s: &ContainerStatus| {
        s.state
            .waiting
            .as_ref()
            .is_some_and(|waiting| waiting.reason == "PodInitializing")
    };
    pod.status.container_statuses.iter().any(|s| !waits(s))
}

/// Returns the duration of an init container.
pub(super) fn time(container: &Container) -> u64 {
    let predicted = predicted_exit(container).filter(|_| !is_sidecar(container));
    predicted.map_or(INIT_TIME_US, |(after, _)| after.max(INIT_TIME_US))
}

/// Action after a container ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum After {
    /// The container is not restarted.
    Nothing,
    /// The container is restarted.
    Again,
    /// All containers of the Pod are restarted.
    All,
}

/// Returns the action after a container ends with an exit code.
pub(super) fn after(pod: &Pod, i: u32, code: i32) -> After {
    match container(pod, i) {
        // Ephemeral containers are neither restarted nor counted.
        _ if is_ephemeral(i) => After::Nothing,
        Some((list, container)) if !container.restart_policy.is_empty() => {
            by_rule(pod, list, container, i, code)
        }
        _ if ends(&pod.spec.restart_policy, code) => After::Nothing,
        _ => After::Again,
    }
}

fn by_rule(pod: &Pod, list: &str, container: &Container, i: u32, code: i32) -> After {
    let rules =
        pod.spec.raw[list][number(i).unwrap_or(i) as usize]["restartPolicyRules"].as_array();
    let meant = |rule: &&Value| {
        let codes = &rule["exitCodes"];
        let among = codes["values"].as_array().is_some_and(|values| {
            values
                .iter()
                .any(|value| value.as_i64() == Some(i64::from(code)))
        });
        among == (codes["operator"] == "In")
    };
    match rules.and_then(|rules| rules.iter().find(meant)) {
        Some(rule) if rule["action"] == "RestartAllContainers" => After::All,
        Some(_) => After::Again,
        None if ends(&container.restart_policy, code) => After::Nothing,
        None => After::Again,
    }
}

/// Returns the restart policy that applies to a container stopped by the kubelet.
pub(super) fn policy(pod: &Pod, i: u32) -> &str {
    let own = container(pod, i).map_or("", |(_, container)| container.restart_policy.as_str());
    if own.is_empty() {
        &pod.spec.restart_policy
    } else {
        own
    }
}

/// Returns true if a container has a probe.
pub(super) fn has_probe(container: &Container) -> bool {
    container.startup_probe.is_some()
        || container.readiness_probe.is_some()
        || container.liveness_probe.is_some()
}

/// Returns true if a container with this exit code is not restarted.
pub(super) fn ends(policy: &str, code: i32) -> bool {
    policy == "Never" || (policy == "OnFailure" && code == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_init_container_takes_half_a_second_or_what_its_command_says() {
        let of = |command: &[&str]| Container {
            command: command.iter().map(|w| (*w).into()).collect(),
            ..Default::default()
        };
        assert_eq!(time(&of(&["sleep", "3"])), 3000 * MS);
        assert_eq!(time(&of(&["sh", "-c", "exit 1"])), INIT_TIME_US);
        assert_eq!(time(&of(&["migrate"])), INIT_TIME_US);
        assert_eq!((number(3), number(3 | FLAG)), (None, Some(3)));
    }

    #[test]
    fn an_added_container_keeps_its_number_wherever_others_are_added() {
        let with = |added: &[&str]| {
            let added: Vec<_> = added
                .iter()
                .map(|name| serde_json::json!({"name": name}))
                .collect();
            let spec =
                serde_json::json!({"containers": [{"name": "main"}], "ephemeralContainers": added});
            let pod = k8s_model::Object::from_value(
                k8s_model::Kind::Pod,
                serde_json::json!({"metadata": {"name": "p"}, "spec": spec}),
            );
            pod.unwrap().body::<Pod>().clone()
        };
        let (one, two) = (with(&["b"]), with(&["a", "b"]));
        let number = number_of(&one, "b").unwrap();
        assert_eq!(number_of(&two, "b"), Some(number));
        assert_eq!(
            (place(&one.spec, number).1, place(&two.spec, number).1),
            (0, 1)
        );
        assert!(is_ephemeral(number) && super::number(number).is_none());
        assert_eq!(
            (number_of(&two, "main"), number_of(&one, "a")),
            (Some(0), None)
        );
    }
}
