//! Out-of-memory kills of containers.
//!
//! Guarantees: a container that uses more than its limit is killed, and again after each restart as long as it does. A
//! Pod's usage is that of its first container. Models how `pkg/kubelet/kuberuntime` reports the kernel's OOM killer.

use super::PodSync;
use super::behaviour::KILLED;
use super::containers::ContainerId;
use super::pod_worker::Jobs;
use super::termination::EndCause;
use controller_runtime::load;
use k8s_model::quantity::units_of;
use k8s_model::time::SECOND;

/// Time that a container takes to fill its memory after a start.
pub(super) const FILLS_US: u64 = SECOND;

impl PodSync<'_, '_> {
    /// Kills a container that uses more memory than its limit.
    pub(super) fn check_memory(&mut self, id: ContainerId) -> Jobs {
        let container = id.container(&self.pod().spec);
        let own = container.and_then(|container| container.resources.limits.get("memory"));
        let Some(limit) = own
            .or_else(|| self.pod().spec.resources.limits.get("memory"))
            .map(units_of)
        else {
            return Jobs::new();
        };
        match load::memory(&self.kubelets.loads.set, &self.object, self.out.store()) {
            Some(used) if used > limit => self.ended(id, KILLED, EndCause::OutOfMemory),
            _ => Jobs::new(),
        }
    }
}
