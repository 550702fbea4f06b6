//! Ephemeral containers: added to a running Pod for debugging. They are started once, never restarted, and do not affect the Pod's phase.
//!
//! Models their part of `computePodActions` and `SyncPod` in `pkg/kubelet/kuberuntime/kuberuntime_manager.go`.

use super::containers::ContainerId;
use super::pod_worker::{Jobs, PodStep};
use super::{PodSync, status};
use apiserver::why::Why;
use k8s_model::pod::{ContainerStatus, Pod};

impl PodSync<'_, '_> {
    /// Starts new ephemeral containers, once the Pod has its sandbox.
    pub(super) fn start_ephemeral(&mut self) -> Jobs {
        let object = self.object.clone();
        let pod = object.body::<Pod>();
        if pod.status.pod_ip.is_empty() {
            return Jobs::new();
        }
        let new: Vec<ContainerId> = ContainerId::ephemeral(&pod.spec)
            .filter(|id| id.status(pod).is_none())
            .collect();
        if new.is_empty() {
            return Jobs::new();
        }
        self.write(Why::Observed, |body| {
            let containers = new.iter().filter_map(|id| id.container(&pod.spec));
            let waiting = containers.map(|container| ContainerStatus {
                name: container.name.clone(),
                image: (&container.image).into(),
                state: status::waiting_for("ContainerCreating", ""),
                ..Default::default()
            });
            let statuses = &mut body.status.ephemeral_container_statuses;
            waiting.for_each(|status| statuses.push(status));
            status::sort(statuses);
        });
        let delay = self.kubelets.timing.pod_start;
        let restart = |id: ContainerId| {
            let run = self.worker.restart_count(id);
            self.then(delay, PodStep::Restart(id, run))
        };
        new.into_iter().map(restart).collect()
    }
}
