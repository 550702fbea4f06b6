//! Restart policies of single containers, and exit code rules that restart a container or all containers of its Pod.
//!
//! Models `ContainerShouldRestart` in `pkg/api/v1/pod/util.go` and `ShouldAllContainersRestart` in
//! `pkg/kubelet/container/helpers.go`; the gates ContainerRestartRules and RestartAllContainersOnContainerExits are on in v1.36.

use super::{Jobs, PodPass, PodStep, containers, status};
use apiserver::why::Why;
use k8s_model::pod::{ContainerState, Pod, PodCondition};
use k8s_model::time::SECOND;
use k8s_model::{Str, Timestamp};
use smol_str::format_smolstr;

const ALL_RESTART: &str = "AllContainersRestarting";

fn condition(on: bool, wall: Timestamp, generation: i64) -> PodCondition {
    let told = |text: &'static str| {
        if on {
            Str::new_static(text)
        } else {
            Str::default()
        }
    };
    PodCondition {
        kind: Str::new_static(ALL_RESTART),
        status: Str::new_static(if on { "True" } else { "False" }),
        reason: told("RestartAllContainersStarted"),
        message: told("container exited with restart policy rule"),
        last_transition_time: Some(wall),
        observed_generation: generation,
        ..Default::default()
    }
}

impl PodPass<'_, '_> {
    /// Restarts all containers because of a rule: running ones are stopped first.
    pub(super) fn restart_all(&mut self) -> Jobs {
        let object = self.object.clone();
        let pod = object.body::<Pod>();
        let mut any = false;
        for (list, statuses) in [
            ("initContainers", &pod.status.init_container_statuses),
            ("containers", &pod.status.container_statuses),
        ] {
            for status in statuses
                .iter()
                .filter(|status| status.state.running.is_some())
            {
                let field = format_smolstr!("spec.{list}{{{}}}", status.name);
                self.out.event_at(
                    &object,
                    &field,
                    "Normal",
                    "Killing",
                    format_smolstr!("Stopping container {}", status.name),
                );
                any = true;
            }
        }
        let (wall, generation) = (self.out.server.wall(), object.meta.generation);
        self.write(Why::Observed, |pod| {
            pod.status.set_condition(condition(true, wall, generation))
        });
        let grace = pod
            .spec
            .termination_grace_period_seconds
            .unwrap_or(30)
            .clamp(0, 1_000_000) as u64
            * SECOND;
        let stop = if any {
            self.kubelets.timing.pod_stop.min(grace)
        } else {
            0
        };
        vec![self.then(stop, PodStep::Anew)]
    }

    /// Restarts the Pod in place, with its IP, after all containers have been stopped.
    pub(super) fn anew(&mut self) -> Jobs {
        let (wall, generation) = (self.out.server.wall(), self.object.meta.generation);
        let all: Vec<u32> = containers::all(self.pod()).collect();
        let mut counts = Vec::new();
        if let Some(course) = self.kubelets.course_mut(self.job.uid) {
            for i in &all {
                let count = course.restarts.entry(*i).or_default();
                *count += 1;
                counts.push(*count);
            }
        }
        self.write(
            Why::Restarted {
                count: counts.iter().copied().max().unwrap_or(1),
            },
            |pod| {
                let before: Vec<_> = all
                    .iter()
                    .map(|i| containers::status(pod, *i).cloned().unwrap_or_default())
                    .collect();
                status::waiting(pod);
                for ((i, mut old), count) in all.iter().zip(before).zip(counts) {
                    if old.state.running.is_some() {
                        status::terminate(&mut old, 137, wall);
                    }
                    let Some(status) = containers::status(pod, *i) else {
                        continue;
                    };
                    status.restart_count = count;
                    status.last_state = ContainerState {
                        terminated: old.state.terminated.take(),
                        ..Default::default()
                    };
                }
                status::set_conditions(pod, true, wall, generation);
                pod.status.set_condition(condition(false, wall, generation));
            },
        );
        if self.pod().spec.init_containers.is_empty() {
            self.start_containers(None)
        } else {
            self.next_init(0)
        }
    }
}
