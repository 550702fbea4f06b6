//! State of a Pod.

use crate::model::PodState;
use apiserver::printers::PodSummary;
use i18n::Message;
use k8s_model::Object;

/// Returns the class of a Pod, and the STATUS of `kubectl get pods` (Ready or Not ready for Running).
pub fn status(object: &Object) -> (PodState, Message) {
    let Some(pod) = object.pod() else {
        return (PodState::Pending, Message::default());
    };
    let status = &pod.status;
    let PodSummary {
        mut reason,
        is_initializing: initializing,
        is_waiting: waiting,
        ..
    } = PodSummary::of(object, pod);
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
        () if status.phase == "Running" && matches!(reason.as_str(), "Running" | "NotReady") => {
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
