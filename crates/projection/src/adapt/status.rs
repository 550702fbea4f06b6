//! State of a Pod.

use crate::model::PodState;
use i18n::Message;
use k8s_model::Object;

/// Returns the class of a Pod, and the STATUS of `kubectl get pods` (Ready or Not ready for Running).
pub fn status(object: &Object) -> (PodState, Message) {
    let Some(pod) = object.pod() else {
        return (PodState::Pending, Message::default());
    };
    let status = &pod.status;
    let mut reason = if status.reason.is_empty() {
        status.phase.to_string()
    } else {
        status.reason.to_string()
    };
    let mut waiting = false;
    let mut initializing = false;
    for (i, container) in status.init_container_statuses.iter().enumerate() {
        let state = &container.state;
        let restartable = pod
            .spec
            .init_containers
            .get(i)
            .is_some_and(|spec| spec.restart_policy == "Always");
        match (&state.terminated, &state.waiting) {
            (Some(end), _) if end.exit_code == 0 => continue,
            _ if restartable && container.started == Some(true) => continue,
            (Some(end), _) => {
                reason = format!(
                    "Init:{}",
                    if end.reason.is_empty() {
                        format!("ExitCode:{}", end.exit_code)
                    } else {
                        end.reason.to_string()
                    }
                )
            }
            (_, Some(wait)) if !wait.reason.is_empty() && wait.reason != "PodInitializing" => {
                reason = format!("Init:{}", wait.reason)
            }
            _ => reason = format!("Init:{i}/{}", status.init_container_statuses.len()),
        }
        initializing = true;
        break;
    }
    if !initializing || status.is_true("Initialized") {
        let mut running = false;
        for container in status.container_statuses.iter().rev() {
            let state = &container.state;
            if let Some(wait) = state
                .waiting
                .as_ref()
                .filter(|wait| !wait.reason.is_empty())
            {
                (reason, waiting) = (wait.reason.to_string(), true);
            } else if let Some(end) = &state.terminated {
                reason = if end.reason.is_empty() {
                    format!("ExitCode:{}", end.exit_code)
                } else {
                    end.reason.to_string()
                };
            } else if container.ready && state.running.is_some() {
                running = true;
            }
        }
        if reason == "Completed" && running {
            reason = "Running".into();
        }
    }
    let class = match () {
        () if object.meta.is_deleting() => {
            return (PodState::Terminating, Message::state("Terminating"));
        }
        () if status.phase == "Succeeded" || reason == "Completed" => PodState::Succeeded,
        () if status.phase == "Failed" => PodState::Failed,
        () if waiting && matches!(reason.as_str(), "ContainerCreating" | "PodInitializing") => {
            PodState::Creating
        }
        () if waiting
            || reason.ends_with("Error")
            || reason.ends_with("BackOff")
            || reason == "OOMKilled" =>
        {
            PodState::Failed
        }
        () if status.phase == "Running" && pod.is_ready() => {
            return (PodState::Ready, Message::state("Ready"));
        }
        () if status.phase == "Running" && reason == "Running" => {
            return (PodState::NotReady, PodState::NotReady.word());
        }
        () if status.phase == "Running" => PodState::NotReady,
        () if initializing && !pod.node_name.is_empty() => PodState::Creating,
        () => PodState::Pending,
    };
    if reason.is_empty() {
        reason = "Pending".into();
    }
    (class, Message::state(reason))
}
