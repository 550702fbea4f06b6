//! Ephemeral containers: added to a running Pod for debugging. They are started once, never restarted, and do not affect the Pod's phase.
//!
//! Models their part of `computePodActions` and `SyncPod` in `pkg/kubelet/kuberuntime/kuberuntime_manager.go`.

use super::containers::ephemeral;
use super::{Jobs, PodPass, PodStep, status};
use crate::containers;
use apiserver::why::Why;
use k8s_model::pod::ContainerStatus;

impl PodPass<'_, '_> {
    /// Starts new ephemeral containers, once the Pod has its sandbox.
    pub(super) fn start_ephemeral(&mut self) -> Jobs {
        let object = self.object.clone();
        let pod: &k8s_model::pod::Pod = object.body();
        if pod.status.pod_ip.is_empty() {
            return Jobs::new();
        }
        let new: Vec<u32> = ephemeral(pod)
            .filter(|i| containers::seen(pod, *i).is_none())
            .collect();
        if new.is_empty() {
            return Jobs::new();
        }
        self.write(Why::Observed, |body| {
            let waits = new
                .iter()
                .filter_map(|i| containers::container(pod, *i))
                .map(|(_, container)| ContainerStatus {
                    name: container.name.clone(),
                    image: (&container.image).into(),
                    state: status::waiting_for("ContainerCreating", ""),
                    ..Default::default()
                });
            waits.for_each(|status| body.status.ephemeral_container_statuses.push(status));
            status::sort(&mut body.status.ephemeral_container_statuses);
        });
        let delay = self.kubelets.timing.pod_start;
        new.into_iter()
            .map(|i| self.then(delay, PodStep::Restart(i, self.run_number(i))))
            .collect()
    }
}
