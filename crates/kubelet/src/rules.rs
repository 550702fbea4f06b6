//! Restart policies of single containers, and exit code rules that restart a container or all containers of its Pod.
//!
//! Models `ContainerShouldRestart` in `pkg/api/v1/pod/util.go` and `ShouldAllContainersRestart` in
//! `pkg/kubelet/container/helpers.go`; the gates ContainerRestartRules and RestartAllContainersOnContainerExits are on in v1.36.

use super::containers::ContainerId;
use super::pod_worker::{Jobs, PodStep};
use super::{PodSync, status};
use apiserver::why::Why;
use k8s_model::pod::{ContainerState, PodCondition};
use k8s_model::{Str, Timestamp};

const ALL_RESTART: &str = "AllContainersRestarting";

fn condition(on: bool, wall: Timestamp, generation: i64) -> PodCondition {
    let text = |value: &'static str| {
        if on {
            Str::new_static(value)
        } else {
            Str::default()
        }
    };
    PodCondition {
        kind: Str::new_static(ALL_RESTART),
        status: Str::new_static(if on { "True" } else { "False" }),
        reason: text("RestartAllContainersStarted"),
        message: text("container exited with restart policy rule"),
        last_transition_time: Some(wall),
        observed_generation: generation,
        ..Default::default()
    }
}

impl PodSync<'_, '_> {
    /// Restarts all containers because of a rule: running ones are stopped first.
    pub(super) fn stop_for_restart(&mut self) -> Jobs {
        let mut running = self.running_containers();
        running.retain(|id| !matches!(id, ContainerId::Ephemeral(_)));
        running.sort_by_key(|id| matches!(id, ContainerId::Regular(_)));
        self.record_stopping(&running);
        let (wall, generation) = (self.out.store().wall(), self.object.meta.generation);
        self.write(Why::Observed, |pod| {
            pod.status.set_condition(condition(true, wall, generation))
        });
        let stop = self.slowest_stop(&running);
        vec![self.then(stop, PodStep::RestartAll)]
    }

    /// Restarts the Pod in place, with its IP, after all containers have been stopped.
    pub(super) fn restart_all(&mut self) -> Jobs {
        let (wall, generation) = (self.out.store().wall(), self.object.meta.generation);
        let all: Vec<(ContainerId, i32)> = ContainerId::all(&self.pod().spec)
            .map(|id| (id, self.worker_mut().container_mut(id).restart()))
            .collect();
        let count = all.iter().map(|(_, count)| *count).max().unwrap_or(1);
        self.write(Why::Restarted { count }, |pod| {
            let before: Vec<_> = all
                .iter()
                .map(|(id, _)| id.status(pod).cloned().unwrap_or_default())
                .collect();
            status::waiting(pod);
            for ((id, count), mut old) in all.iter().zip(before) {
                if old.state.running.is_some() {
                    status::terminate(&mut old, 137, wall);
                }
                let Some(status) = id.status_mut(pod) else {
                    continue;
                };
                status.restart_count = *count;
                status.last_state = ContainerState {
                    terminated: old.state.terminated.take(),
                    ..Default::default()
                };
            }
            status::set_conditions(pod, true, wall, generation);
            pod.status.set_condition(condition(false, wall, generation));
        });
        if self.pod().spec.init_containers.is_empty() {
            self.start_containers(|_| {})
        } else {
            self.next_init(0)
        }
    }
}
