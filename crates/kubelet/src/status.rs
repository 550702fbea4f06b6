//! Parts of a Pod's status that a kubelet writes.
//!
//! Models `pkg/kubelet/status/generate.go`.

use super::behaviour::Stop;
use super::containers::{After, ContainerId, after, ends, is_initialized, policy};
use k8s_model::pod::{
    ContainerState, ContainerStatus, Pod, PodCondition, PodIp, PodStatus, Running, Terminated,
    Waiting, image_parts,
};
use k8s_model::{Str, Timestamp};
use smol_str::format_smolstr;

const NOT_READY: &str = "ContainersNotReady";

/// Returns a waiting state with a reason and a message.
pub(super) fn waiting_for(reason: &'static str, message: &str) -> ContainerState {
    ContainerState {
        waiting: Some(Box::new(Waiting {
            reason: Str::new_static(reason),
            message: message.into(),
        })),
        ..Default::default()
    }
}

/// Sorts the statuses of ephemeral containers by name, regardless of the order in the spec (`SortedContainerStatuses`).
pub(super) fn sort(statuses: &mut [ContainerStatus]) {
    statuses.sort_by_key(|status| status.name.clone());
}

/// Sets all containers to waiting: for their sandbox, or for the init containers.
pub(super) fn waiting(pod: &mut Pod) {
    let reason = if pod.spec.init_containers.is_empty() {
        "ContainerCreating"
    } else {
        "PodInitializing"
    };
    let wait = |c: &k8s_model::pod::Container| ContainerStatus {
        name: c.name.clone(),
        image: (&c.image).into(),
        started: Some(false),
        state: waiting_for(reason, ""),
        ..Default::default()
    };
    let spec = pod.spec.clone();
    pod.status.container_statuses = spec.containers.iter().map(wait).collect();
    pod.status.share_statuses();
    pod.status.init_container_statuses = spec.init_containers.iter().map(wait).collect();
    pod.status.phase = "Pending".into();
}

pub(super) fn set_ip(pod: &mut Pod, ip: Str) {
    pod.status.pod_ips = vec![PodIp { ip: ip.clone() }].into();
    pod.status.pod_ip = ip;
}

/// Sets container id, image and image id of a created container.
fn identify(status: &mut ContainerStatus, image: &str, id: Str) {
    let (repository, _) = image_parts(image);
    let host = if repository.contains('/') {
        ""
    } else {
        "docker.io/library/"
    };
    status.container_id = id;
    status.image = image.into();
    status.image_id = format_smolstr!("{host}{repository}@sha256:{:064}", 0).into();
}

/// Sets a container to running.
pub(super) fn run(status: &mut ContainerStatus, image: &str, id: Str, now: Timestamp, ready: bool) {
    identify(status, image, id);
    status.state = ContainerState {
        running: Some(Running {
            started_at: Some(now),
        }),
        ..Default::default()
    };
    status.started = Some(true);
    status.ready = ready;
}

/// Sets a container to terminated.
pub(super) fn terminate(status: &mut ContainerStatus, code: i32, now: Timestamp) {
    let started_at = status.state.running.as_ref().and_then(|r| r.started_at);
    let reason = if code == 0 { "Completed" } else { "Error" };
    let container_id = std::mem::take(&mut status.container_id);
    status.state = ContainerState {
        terminated: Some(Box::new(Terminated {
            container_id,
            exit_code: code,
            reason: Str::new_static(reason),
            started_at,
            finished_at: Some(now),
            ..Default::default()
        })),
        ..Default::default()
    };
    status.image_id = Default::default();
    status.ready = false;
    status.started = status.started.map(|_| false);
}

/// Moves the last termination of a container to `lastState`; `ended` is the exit code if it terminates just now.
pub(super) fn keep_end(status: &mut ContainerStatus, ended: Option<i32>, now: Timestamp) {
    if let Some(code) = ended {
        terminate(status, code, now);
    }
    if let Some(end) = status.state.terminated.take() {
        status.last_state = ContainerState {
            terminated: Some(end),
            ..Default::default()
        };
    }
}

/// Marks an init container as completed; a sidecar keeps running.
pub(super) fn finish_init(pod: &mut Pod, index: u32, runtime_id: Str, now: Timestamp) {
    let id = ContainerId::Init(index);
    let spec = pod.spec.clone();
    let (Some(container), Some(status)) = (id.container(&spec), id.status_mut(pod)) else {
        return;
    };
    identify(status, &container.image, runtime_id.clone());
    status.ready = true;
    if container.is_sidecar() {
        status.started = Some(true);
        status.state = ContainerState {
            running: Some(Running {
                started_at: Some(now),
            }),
            ..Default::default()
        };
        return;
    }
    status.started = Some(false);
    let ended = Terminated {
        container_id: runtime_id,
        reason: Str::new_static("Completed"),
        started_at: Some(now),
        finished_at: Some(now),
        ..Default::default()
    };
    status.state = ContainerState {
        terminated: Some(Box::new(ended)),
        ..Default::default()
    };
}

/// Sets the phase to Running once every container has been started.
pub(super) fn begin_phase(pod: &mut Pod) {
    let waits =
        |s: &ContainerStatus| s.state.waiting.is_some() && s.last_state.terminated.is_none();
    let waits = pod.status.container_statuses.iter().any(waits);
    pod.status.phase = if waits {
        "Pending".into()
    } else {
        "Running".into()
    };
}

/// Sets the terminal phase when all containers have ended for good: Failed if one failed, otherwise Succeeded. Sidecars and ephemeral
/// containers end with them.
pub(super) fn end_phase(pod: &mut Pod, now: Timestamp) {
    let code = |id: ContainerId| Some(id.status(pod)?.state.terminated.as_ref()?.exit_code);
    let codes: Vec<Option<i32>> = ContainerId::regular(&pod.spec).map(code).collect();
    let is_over = |(id, code): (ContainerId, &Option<i32>)| {
        code.is_some_and(|code| after(pod, id, code) == After::Nothing)
    };
    if !ContainerId::regular(&pod.spec).zip(&codes).all(is_over) {
        return;
    }
    let spec = pod.spec.clone();
    let stops: Vec<(Str, i32)> = spec
        .every_container()
        .map(|(_, container)| (container.name.clone(), Stop::of(container, 0, 0).code))
        .collect();
    let PodStatus {
        init_container_statuses: init,
        ephemeral_container_statuses: ephemeral,
        ..
    } = &mut pod.status;
    for status in init
        .iter_mut()
        .chain(ephemeral.iter_mut())
        .filter(|status| status.state.running.is_some())
    {
        terminate(status, code_of(&stops, &status.name), now);
    }
    let failed = codes.iter().any(|code| *code != Some(0));
    pod.status.phase = if failed {
        "Failed".into()
    } else {
        "Succeeded".into()
    };
}

fn code_of(codes: &[(Str, i32)], name: &str) -> i32 {
    codes
        .iter()
        .find(|(other, _)| other == name)
        .map_or(0, |(_, code)| *code)
}

/// Writes the status of stopped containers, given the exit code of each; containers that never ran have `ContainerStatusUnknown`.
pub(super) fn stop(pod: &mut Pod, codes: &[(Str, i32)], now: Timestamp, generation: i64) {
    let mut failed = false;
    let ended = pod.is_terminal();
    let policies: Vec<Str> = pod
        .status
        .container_statuses
        .iter()
        .map(|status| {
            let id = ContainerId::named(pod, &status.name);
            id.map_or_else(Str::default, |id| policy(pod, id).into())
        })
        .collect();
    // A container that would have been restarted is not found; init containers have completed.
    let lost = |status: &ContainerStatus, policy: Option<&Str>| match &status.state.terminated {
        Some(state) => !ended && policy.is_some_and(|policy| !ends(policy, state.exit_code)),
        None => status.state.waiting.is_some(),
    };
    let spec = pod.spec.clone();
    let is_sidecar = |name: &Str| {
        let mut all = spec.init_containers.iter();
        all.any(|container| container.name == *name && container.is_sidecar())
    };
    let before = pod
        .status
        .init_container_statuses
        .iter_mut()
        .map(|status| (status, None));
    let own = pod
        .status
        .container_statuses
        .iter_mut()
        .zip(policies.iter().map(Some));
    for (status, policy) in before.chain(own) {
        if status.state.running.is_some() {
            terminate(status, code_of(codes, &status.name), now);
        } else if lost(status, policy) {
            status.state = ContainerState {
                terminated: Some(Box::new(Terminated {
                    exit_code: 137,
                    reason: Str::new_static("ContainerStatusUnknown"),
                    message: Str::new_static(
                        "The container could not be located when the pod was terminated",
                    ),
                    ..Default::default()
                })),
                ..Default::default()
            };
        }
        // The end of a sidecar decides nothing.
        let end = status.state.terminated.as_ref();
        failed |= end.is_some_and(|end| end.exit_code != 0) && !is_sidecar(&status.name);
    }
    for status in pod
        .status
        .ephemeral_container_statuses
        .iter_mut()
        .filter(|status| status.state.running.is_some())
    {
        terminate(status, code_of(codes, &status.name), now);
    }
    if !ended {
        pod.status.phase = if failed {
            "Failed".into()
        } else {
            "Succeeded".into()
        };
    }
    set_conditions(pod, false, now, generation);
}

/// Derives the five conditions from the containers' states.
pub(super) fn set_conditions(pod: &mut Pod, sandbox: bool, now: Timestamp, generation: i64) {
    let spec = pod.spec.clone();
    let ready = |name: &Str| {
        pod.status
            .container_statuses
            .iter()
            .any(|status| status.name == *name && status.ready)
    };
    let mut unready: Vec<&str> = spec
        .containers
        .iter()
        .map(|container| &container.name)
        .filter(|name| !ready(name))
        .map(Str::as_str)
        .collect();
    let mut incomplete: Vec<&str> = Vec::new();
    if !pod.status.init_container_statuses.is_empty() {
        init_conditions(pod, &mut unready, &mut incomplete);
    }
    let ended = match pod.status.phase.as_str() {
        "Succeeded" => Some("PodCompleted"),
        "Failed" => Some("PodFailed"),
        _ => None,
    };
    let ready = match ended {
        Some(reason) => ("False", reason, String::new()),
        None if unready.is_empty() => ("True", "", String::new()),
        None => (
            "False",
            NOT_READY,
            format!("containers with unready status: [{}]", unready.join(" ")),
        ),
    };
    let initialized = match ended {
        Some("PodCompleted") => ("True", "PodCompleted", String::new()),
        _ if incomplete.is_empty() => ("True", "", String::new()),
        _ => (
            "False",
            "ContainersNotInitialized",
            format!(
                "containers with incomplete status: [{}]",
                incomplete.join(" ")
            ),
        ),
    };
    let sandbox = (
        if sandbox && ended.is_none() {
            "True"
        } else {
            "False"
        },
        "",
        String::new(),
    );
    let scheduled = ("True", "", String::new());
    let order = [
        ("PodReadyToStartContainers", sandbox),
        ("Initialized", initialized),
        ("Ready", ready.clone()),
        ("ContainersReady", ready),
        ("PodScheduled", scheduled),
    ];
    let old = std::mem::take(&mut pod.status.conditions);
    let is_ours = |kind: &str| order.iter().any(|(ours, _)| *ours == kind);
    // Conditions of other components, such as DisruptionTarget, are kept.
    let others = old.iter().filter(|c| !is_ours(&c.kind)).cloned();
    // PodScheduled is set by the scheduler; a Pod created with a node name does not have it.
    let scheduled = old.iter().any(|c| c.kind == "PodScheduled");
    let ours = order
        .iter()
        .filter(|(kind, _)| *kind != "PodScheduled" || scheduled)
        .map(|(kind, (status, reason, message))| {
            let since = old
                .iter()
                .find(|c| c.kind == *kind && c.status == *status)
                .and_then(|c| c.last_transition_time);
            PodCondition {
                kind: Str::new_static(kind),
                status: Str::new_static(status),
                reason: Str::new_static(reason),
                message: message.as_str().into(),
                last_transition_time: Some(since.unwrap_or(now)),
                observed_generation: generation,
                ..Default::default()
            }
        });
    // Allocated at its final size: each Pod keeps several of these forever.
    let mut all = Vec::with_capacity(old.len().max(order.len()));
    all.extend(ours.chain(others));
    pod.status.conditions = all.into();
    pod.status.share_conditions();
}

/// Adds init containers to both lists: sidecars must be started and ready, others must have completed.
fn init_conditions<'p>(pod: &'p Pod, unready: &mut Vec<&'p str>, incomplete: &mut Vec<&'p str>) {
    let statuses = pod
        .spec
        .init_containers
        .iter()
        .zip(&pod.status.init_container_statuses);
    let (sidecars, others): (Vec<_>, Vec<_>) =
        statuses.partition(|(container, _)| container.is_sidecar());
    let late = sidecars
        .iter()
        .filter(|(_, status)| !status.ready)
        .map(|(_, status)| status.name.as_str());
    let mut all: Vec<&str> = late.collect();
    all.append(unready);
    *unready = all;
    // Once a main container has started, initialization is complete.
    if is_initialized(pod) {
        return;
    }
    let waits = |name: &Str| {
        sidecars
            .iter()
            .any(|(_, s)| s.name == *name && s.started != Some(true))
            || others.iter().any(|(_, s)| s.name == *name && !s.ready)
    };
    *incomplete = names(&pod.status.init_container_statuses, |s| waits(&s.name));
}

fn names(statuses: &[ContainerStatus], which: impl Fn(&ContainerStatus) -> bool) -> Vec<&str> {
    statuses
        .iter()
        .filter(|s| which(s))
        .map(|s| s.name.as_str())
        .collect()
}
