//! Changes of a Pod's spec: containers are restarted to match.
//!
//! Guarantees: only a changed image restarts a container, and then regardless of the restart policy; a container in
//! back-off starts at once. Models `containerChanged` and its use by `computePodActions` in
//! `pkg/kubelet/kuberuntime/kuberuntime_manager.go`.

use super::containers::{After, after};
use super::{Jobs, PodPass, PodStep, pulls};
use crate::containers;
use k8s_model::pod::{ContainerState, Pod};

/// Returns true if a container runs, or waits to run, an image other than that of its Pod's spec.
pub(super) fn differs(pod: &Pod, i: u32) -> bool {
    let wanted = containers::container(pod, i).map(|(_, container)| &container.image);
    containers::seen(pod, i)
        .zip(wanted)
        .is_some_and(|(status, image)| status.image != *image)
}

/// Returns true if a container has ended and waits to be restarted.
fn held_back(pod: &Pod, i: u32) -> bool {
    let state = containers::seen(pod, i).map(|status| &status.state);
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
            .is_some_and(|end| after(pod, i, end.exit_code) == After::Again)
    };
    state.is_some_and(|state| waits(state) || ended(state))
}

impl PodPass<'_, '_> {
    pub(super) fn changed(&mut self) -> Jobs {
        let object = self.object.clone();
        let pod = object.body::<Pod>();
        if pod.is_terminal() {
            return Jobs::new();
        }
        let mut jobs = self.resize();
        jobs.extend(self.start_ephemeral());
        for i in containers::all(pod).filter(|i| differs(pod, *i)) {
            // A running init container may finish with the old image.
            let stays = containers::number(i).is_none()
                || containers::container(pod, i)
                    .is_some_and(|(_, container)| containers::is_sidecar(container));
            if containers::seen(pod, i).is_some_and(|status| status.state.running.is_some()) {
                if !stays {
                    continue;
                }
                let message = match containers::number(i) {
                    Some(_) => "Init container {} definition changed",
                    None => "Container {} definition changed, will be restarted",
                };
                self.forget_restarts(i);
                jobs.extend(self.kill_container(i, message, None, false));
            } else if pulls::fails(pod, i) {
                jobs.push(self.pull_anew());
            } else if held_back(pod, i) {
                self.forget_restarts(i);
                jobs.push(self.then(0, PodStep::Restart(i, self.run_number(i))));
            }
        }
        jobs
    }

    /// Clears the back-off: a new image does not inherit that of the previous one.
    fn forget_restarts(&mut self, i: u32) {
        if let Some(course) = self.kubelets.course_mut(self.job.uid) {
            course.held_back.remove(&i);
        }
    }
}
