//! Identities of a Pod's containers, and the action after one ends.

use super::behaviour::predicted_exit;
use k8s_model::Str;
use k8s_model::pod::{Container, ContainerStatus, Pod, PodSpec};
use k8s_model::time::MS;
use serde_json::Value;
use sim_core::table;
use smol_str::format_smolstr;

/// Minimum duration of an init container.
pub(super) const INIT_TIME_US: u64 = 500 * MS;

/// Container of a Pod, by its list.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ContainerId {
    /// Index in `spec.containers`.
    Regular(u32),
    /// Index in `spec.initContainers`.
    Init(u32),
    /// Hash of the name of an ephemeral container: containers may be added anywhere in their list, and a step planned for one must not
    /// apply to another.
    Ephemeral(u32),
}

impl ContainerId {
    /// Returns the container of this name.
    pub fn named(pod: &Pod, name: &str) -> Option<ContainerId> {
        let index = |list: &[Container]| {
            let at = list.iter().position(|container| container.name == name);
            at.map(|at| at as u32)
        };
        index(&pod.spec.containers)
            .map(ContainerId::Regular)
            .or_else(|| index(&pod.spec.init_containers).map(ContainerId::Init))
            .or_else(|| {
                index(&pod.spec.ephemeral_containers).map(|_| ContainerId::ephemeral_named(name))
            })
    }

    fn ephemeral_named(name: &str) -> ContainerId {
        ContainerId::Ephemeral((table::hash("", name) >> 32) as u32)
    }

    /// Returns the containers that a Pod is created with, init containers first.
    pub(super) fn all(spec: &PodSpec) -> impl Iterator<Item = ContainerId> + use<> {
        let init = 0..spec.init_containers.len() as u32;
        init.map(ContainerId::Init)
            .chain(ContainerId::regular(spec))
    }

    /// Returns the regular containers.
    pub(super) fn regular(spec: &PodSpec) -> impl Iterator<Item = ContainerId> + use<> {
        (0..spec.containers.len() as u32).map(ContainerId::Regular)
    }

    /// Returns the ephemeral containers.
    pub(super) fn ephemeral(spec: &PodSpec) -> impl Iterator<Item = ContainerId> + use<'_> {
        let names = spec.ephemeral_containers.iter().map(|one| &one.name);
        names.map(|name| ContainerId::ephemeral_named(name))
    }

    /// Returns the name of the container's list in the spec.
    pub(super) fn list(self) -> &'static str {
        match self {
            ContainerId::Regular(_) => "containers",
            ContainerId::Init(_) => "initContainers",
            ContainerId::Ephemeral(_) => "ephemeralContainers",
        }
    }

    fn containers(self, spec: &PodSpec) -> &[Container] {
        match self {
            ContainerId::Regular(_) => &spec.containers,
            ContainerId::Init(_) => &spec.init_containers,
            ContainerId::Ephemeral(_) => &spec.ephemeral_containers,
        }
    }

    fn index(self, spec: &PodSpec) -> Option<usize> {
        match self {
            ContainerId::Regular(index) | ContainerId::Init(index) => Some(index as usize),
            ContainerId::Ephemeral(_) => ContainerId::ephemeral(spec).position(|id| id == self),
        }
    }

    /// Returns the container in a spec.
    pub(super) fn container(self, spec: &PodSpec) -> Option<&Container> {
        self.containers(spec).get(self.index(spec)?)
    }

    /// Returns the raw JSON of the container; null if the spec does not have it.
    pub(super) fn raw(self, spec: &PodSpec) -> &Value {
        self.index(spec)
            .map_or(&Value::Null, |index| &spec.raw[self.list()][index])
    }

    /// Returns the container's status. Statuses are looked up by name: their order differs from that of the containers.
    pub(super) fn status(self, pod: &Pod) -> Option<&ContainerStatus> {
        let name = &self.container(&pod.spec)?.name;
        let statuses = match self {
            ContainerId::Regular(_) => &pod.status.container_statuses,
            ContainerId::Init(_) => &pod.status.init_container_statuses,
            ContainerId::Ephemeral(_) => &pod.status.ephemeral_container_statuses,
        };
        statuses.iter().find(|status| status.name == *name)
    }

    /// Returns the container's status, mutably.
    pub(super) fn status_mut(self, pod: &mut Pod) -> Option<&mut ContainerStatus> {
        let name = self.container(&pod.spec)?.name.clone();
        let statuses = match self {
            ContainerId::Regular(_) => &mut pod.status.container_statuses,
            ContainerId::Init(_) => &mut pod.status.init_container_statuses,
            ContainerId::Ephemeral(_) => &mut pod.status.ephemeral_container_statuses,
        };
        let at = statuses.iter().position(|status| status.name == name)?;
        statuses.get_mut(at)
    }

    /// Returns true if the container runs.
    pub(super) fn is_running(self, pod: &Pod) -> bool {
        self.status(pod)
            .is_some_and(|status| status.state.running.is_some())
    }

    /// Returns true for a container whose probes and end count for its Pod throughout the Pod's life: a regular one or a sidecar.
    pub(super) fn is_long_running(self, container: &Container) -> bool {
        match self {
            ContainerId::Regular(_) => true,
            ContainerId::Init(_) => container.is_sidecar(),
            ContainerId::Ephemeral(_) => false,
        }
    }

    /// Returns the field path of the container in Events (`fieldPath` of `pkg/kubelet/container/ref.go`).
    pub(super) fn field_path(self, container_name: &str) -> Str {
        format_smolstr!("spec.{}{{{container_name}}}", self.list())
    }
}

/// Returns true if a container has a command; a sidecar without one is assumed to keep running, whatever its image does.
pub(super) fn has_command(container: &Container) -> bool {
    !container.command.is_empty() || !container.args.is_empty()
}

/// Returns true if initialization is complete: a main container no longer waits for it.
pub(super) fn is_initialized(pod: &Pod) -> bool {
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
    let predicted = predicted_exit(container).filter(|_| !container.is_sidecar());
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
pub(super) fn after(pod: &Pod, id: ContainerId, code: i32) -> After {
    match id.container(&pod.spec) {
        // Ephemeral containers are neither restarted nor counted.
        _ if matches!(id, ContainerId::Ephemeral(_)) => After::Nothing,
        Some(container) if !container.restart_policy.is_empty() => {
            by_rule(container, id.raw(&pod.spec), code)
        }
        _ if ends(&pod.spec.restart_policy, code) => After::Nothing,
        _ => After::Again,
    }
}

fn by_rule(container: &Container, raw: &Value, code: i32) -> After {
    let rules = raw["restartPolicyRules"].as_array();
    let applies = |rule: &&Value| {
        let codes = &rule["exitCodes"];
        let among = codes["values"].as_array().is_some_and(|values| {
            values
                .iter()
                .any(|value| value.as_i64() == Some(i64::from(code)))
        });
        among == (codes["operator"] == "In")
    };
    match rules.and_then(|rules| rules.iter().find(applies)) {
        Some(rule) if rule["action"] == "RestartAllContainers" => After::All,
        Some(_) => After::Again,
        None if ends(&container.restart_policy, code) => After::Nothing,
        None => After::Again,
    }
}

/// Returns the restart policy that applies to a container stopped by the kubelet.
pub(super) fn policy(pod: &Pod, id: ContainerId) -> &str {
    let own = id
        .container(&pod.spec)
        .map_or("", |container| container.restart_policy.as_str());
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
    fn init_container_takes_half_a_second_or_as_long_as_its_command() {
        let of = |command: &[&str]| Container {
            command: command.iter().map(|w| (*w).into()).collect(),
            ..Default::default()
        };
        assert_eq!(time(&of(&["sleep", "3"])), 3000 * MS);
        assert_eq!(time(&of(&["sh", "-c", "exit 1"])), INIT_TIME_US);
        assert_eq!(time(&of(&["migrate"])), INIT_TIME_US);
    }

    #[test]
    fn ephemeral_container_keeps_its_identity_wherever_others_are_added() {
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
        let id = ContainerId::named(&one, "b").unwrap();
        assert_eq!(ContainerId::named(&two, "b"), Some(id));
        assert_eq!(
            (id.index(&one.spec), id.index(&two.spec)),
            (Some(0), Some(1))
        );
        assert!(matches!(id, ContainerId::Ephemeral(_)));
        assert_eq!(
            ContainerId::named(&two, "main"),
            Some(ContainerId::Regular(0))
        );
        assert_eq!(ContainerId::named(&one, "a"), None);
    }
}
