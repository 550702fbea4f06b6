//! Changes of a Pod's spec: containers are restarted to match.
//!
//! Guarantees: only a changed image restarts a container, and then regardless of the restart policy; a container in
//! back-off starts at once. Models `containerChanged` and its use by `computePodActions` in
//! `pkg/kubelet/kuberuntime/kuberuntime_manager.go`.

use super::containers::{After, ContainerId, after};
use super::pod_worker::{Jobs, PodStep};
use super::termination::Kill;
use super::{PodSync, pulls};
use k8s_model::pod::{ContainerState, Pod};

/// Returns true if a container runs, or waits to run, an image other than that of its Pod's spec.
pub(super) fn differs(pod: &Pod, id: ContainerId) -> bool {
    let wanted = id.container(&pod.spec).map(|container| &container.image);
    id.status(pod)
        .zip(wanted)
        .is_some_and(|(status, image)| status.image != *image)
}

/// Returns true if a container has ended and waits to be restarted.
fn waits_for_restart(pod: &Pod, id: ContainerId) -> bool {
    let state = id.status(pod).map(|status| &status.state);
    let waits = |state: &ContainerState| {
        state
            .waiting
            .as_ref()
            .is_some_and(|waiting| waiting.reason == "CrashLoopBackOff")
    };
    let ended = |state: &ContainerState| {
        state
            .terminated
            .as_ref()
            .is_some_and(|end| after(pod, id, end.exit_code) == After::Again)
    };
    state.is_some_and(|state| waits(state) || ended(state))
}

impl PodSync<'_, '_> {
    /// Handles a change of the spec.
    pub(super) fn spec_changed(&mut self) -> Jobs {
        let object = self.object.clone();
        let pod = object.body::<Pod>();
        if pod.is_terminal() {
            return Jobs::new();
        }
        let mut jobs = self.resize();
        jobs.extend(self.start_ephemeral());
        for id in ContainerId::all(&pod.spec).filter(|id| differs(pod, *id)) {
            if id.is_running(pod) {
                // A running init container may finish with the old image.
                let finishes = id
                    .container(&pod.spec)
                    .is_none_or(|container| !id.is_long_running(container));
                if finishes {
                    continue;
                }
                let message = match id {
                    ContainerId::Init(_) => "Init container {} definition changed",
                    _ => "Container {} definition changed, will be restarted",
                };
                // A new image does not inherit the back-off of the previous one.
                self.worker_mut().container_mut(id).reset_back_off();
                let kill = Kill {
                    message,
                    probe: None,
                    at_once: false,
                };
                jobs.extend(self.kill_container(id, kill));
            } else if pulls::fails(pod, id) {
                jobs.push(self.pull_without_back_off());
            } else if waits_for_restart(pod, id) {
                self.worker_mut().container_mut(id).reset_back_off();
                let run = self.worker.restart_count(id);
                jobs.push(self.then(0, PodStep::Restart(id, run)));
            }
        }
        jobs
    }
}
