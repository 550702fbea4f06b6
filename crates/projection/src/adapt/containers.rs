//! Containers of a Pod.

use crate::model::{Container, PodContainers, PodState};
use apiserver::printers::PodSummary;
use k8s_model::Object;
use k8s_model::pod::{self, ContainerStatus, Pod, Waiting};

/// Returns the containers of a Pod, or `None` for one container that has not restarted: its state is that of the Pod.
pub fn of(object: &Object, pod: &Pod) -> Option<PodContainers> {
    let spec = &pod.spec;
    let restarted = pod
        .status
        .every_container()
        .any(|one| one.restart_count > 0);
    if !restarted && spec.containers.len() == 1 && spec.init_containers.is_empty() {
        return None;
    }
    let summary = PodSummary::of(object, pod);
    let list = |list: &[pod::Container], statuses: &[ContainerStatus], init: bool| {
        let one = |container: &pod::Container| {
            let is_init = init && !container.is_sidecar();
            let status = statuses.iter().find(|one| one.name == container.name);
            Container {
                name: container.name.clone(),
                is_init,
                state: status.map_or(PodState::Pending, |status| state(status, is_init)),
            }
        };
        list.iter().map(one).collect::<Vec<_>>()
    };
    let status = &pod.status;
    let mut all = list(&spec.init_containers, &status.init_container_statuses, true);
    all.extend(list(&spec.containers, &status.container_statuses, false));
    // Sidecars run beside the others.
    all.sort_by_key(|one| !one.is_init);
    Some(PodContainers {
        ready: summary.ready,
        total: summary.total,
        restarts: summary.restarts(),
        list: all,
    })
}

/// Returns the state class of a container. An init container is never ready while it runs: it is on its way.
fn state(status: &ContainerStatus, is_init: bool) -> PodState {
    if let Some(ended) = &status.state.terminated {
        return match ended.exit_code {
            0 => PodState::Succeeded,
            _ => PodState::Failed,
        };
    }
    match &status.state.waiting {
        Some(waiting) => waiting_state(waiting),
        None if status.state.running.is_none() => PodState::Pending,
        None if is_init => PodState::Creating,
        None if status.ready => PodState::Ready,
        None => PodState::NotReady,
    }
}

/// Returns the state class of a container that waits: for its turn, for its image and volumes, or after an error.
fn waiting_state(waiting: &Waiting) -> PodState {
    match waiting.reason.as_str() {
        "" | "PodInitializing" => PodState::Pending,
        "ContainerCreating" => PodState::Creating,
        _ => PodState::Failed,
    }
}
