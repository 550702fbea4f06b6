//! End of containers and Pods: exits, kills by the kubelet, and the termination of a Pod.
//!
//! Models `killContainer` of `pkg/kubelet/kuberuntime/kuberuntime_container.go`, `SyncTerminatingPod` and `SyncTerminatedPod`.

use super::behaviour::{self, KILLED, Stop};
use super::containers::{self, After, ContainerId};
use super::pod_worker::{Jobs, PodStep, PodWorkerState, Termination};
use super::{PodSync, changed, status};
use apiserver::why::Why;
use apiserver::{DeleteOptions, Preconditions};
use k8s_model::Str;
use k8s_model::pod::{Container, ContainerStatus, ProbeKind};
use k8s_model::time::{MS, SECOND};
use smol_str::format_smolstr;

/// Cleanup time of a Pod whose containers had ended before it was stopped.
const CLEANUP_US: u64 = 100 * MS;
/// Time to the final status of a Pod without running containers.
const NOTHING_TO_STOP_US: u64 = 5 * MS;
/// Time from the final status to the removal of the Pod.
const REMOVE_US: u64 = 3 * MS;

/// Cause of a container's end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum EndCause {
    Exit,
    /// Stop by the kubelet.
    Killed,
    /// Kill by the kernel for exceeding the memory limit.
    OutOfMemory,
}

/// Kill of a single container by the kubelet.
pub(super) struct Kill<'k> {
    /// Message of the Event, in which `{}` stands for the container's name.
    pub(super) message: &'k str,
    /// Failed probe, which may have a grace period of its own.
    pub(super) probe: Option<ProbeKind>,
    /// True for a kill without a grace period.
    pub(super) at_once: bool,
}

impl PodSync<'_, '_> {
    /// Handles the exit of a container in a run; `None`: in any run.
    pub(super) fn exited(&mut self, id: ContainerId, code: i32, run: Option<i32>) -> Jobs {
        if run.is_some_and(|run| run != self.worker.restart_count(id)) {
            return Vec::new();
        }
        self.ended(id, code, EndCause::Exit)
    }

    /// Handles the end of a container that the kubelet killed in a run.
    pub(super) fn killed(&mut self, id: ContainerId, code: i32, run: i32) -> Jobs {
        if run != self.worker.restart_count(id) {
            return Vec::new();
        }
        self.ended(id, code, EndCause::Killed)
    }

    /// Handles the end of a container; one killed by the kubelet is restarted unless the policy is Never.
    pub(super) fn ended(&mut self, id: ContainerId, code: i32, cause: EndCause) -> Jobs {
        let killed = cause == EndCause::Killed;
        let Some(started) = id
            .status(self.pod())
            .and_then(|s| s.state.running.as_ref()?.started_at)
        else {
            return Vec::new();
        };
        if killed
            && !self.object.meta.is_deleting()
            && changed::differs(self.pod(), id)
            && !self.has_lost_its_image(id)
        {
            return self.restart(id, Some(code));
        }
        let after = match containers::after(self.pod(), id, code) {
            _ if killed && containers::policy(self.pod(), id) == "Never" => After::Nothing,
            _ if killed => After::Again,
            after => after,
        };
        let ends = after == After::Nothing;
        let wall = self.out.store().wall();
        let out_of_memory = cause == EndCause::OutOfMemory;
        let why = if out_of_memory {
            Why::OutOfMemory
        } else {
            Why::Exited { code }
        };
        self.write_status(why, |pod| {
            if let Some(status) = id.status_mut(pod) {
                status::terminate(status, code, wall);
                if let Some(end) = status.state.terminated.as_mut().filter(|_| out_of_memory) {
                    end.reason = Str::new_static("OOMKilled");
                }
            }
            if ends {
                status::end_phase(pod, wall);
            }
        });
        if self.object.meta.is_deleting() {
            let mut regular = self.pod().status.container_statuses.iter();
            return if regular.all(|status| status.state.running.is_none()) {
                vec![self.then(CLEANUP_US, PodStep::SyncTerminated)]
            } else {
                Vec::new()
            };
        }
        match after {
            After::Nothing => Vec::new(),
            After::Again => self.restart_after_exit(id, wall.seconds() - started.seconds()),
            After::All => self.stop_for_restart(),
        }
    }

    /// Kills one container, possibly because of a probe; the container is restarted unless the policy is Never.
    pub(super) fn kill_container(&mut self, id: ContainerId, kill: Kill<'_>) -> Jobs {
        let spec = self.pod().spec.clone();
        let Some(container) = id.container(&spec) else {
            return Vec::new();
        };
        let run = self.worker.restart_count(id);
        if !self.worker_mut().container_mut(id).kill() && !kill.at_once {
            return Vec::new();
        }
        let message = kill.message.replacen("{}", &container.name, 1);
        self.record_container_event(id, "Normal", "Killing", message);
        let own = kill.probe.and_then(|probe| {
            id.raw(&spec)[probe.field()]["terminationGracePeriodSeconds"].as_i64()
        });
        let grace = own
            .or(spec.termination_grace_period_seconds)
            .unwrap_or(30)
            .clamp(0, 1_000_000) as u64
            * SECOND;
        let stop = if kill.at_once {
            Stop {
                after: MS,
                code: KILLED,
            }
        } else {
            let usual = self.kubelets.timing.pod_stop;
            Stop::of(&self.expanded(container), usual, grace)
        };
        let code = stop.code;
        vec![self.then(stop.after, PodStep::Killed { id, code, run })]
    }

    /// Stops the running containers of a terminating Pod, within the grace period that it has now.
    pub(super) fn sync_terminating(&mut self) -> Jobs {
        let spec = self.pod().spec.clone();
        let running = self.running_containers();
        self.record_stopping(&running);
        let mut end = None;
        for id in running {
            let Some(container) = id.container(&spec) else {
                continue;
            };
            let hook = self.pre_stop(id, container);
            let stop = self.stop_of(container);
            let planned = Termination {
                at: self.now.after(self.with_hook(stop, hook)),
                code: stop.code,
            };
            let planned = self.worker_mut().container_mut(id).terminate(planned);
            end = end.max(Some(planned.at));
        }
        let delay = end.map_or(NOTHING_TO_STOP_US, |end| end.0.saturating_sub(self.now.0));
        vec![self.then(delay, PodStep::SyncTerminated)]
    }

    /// Returns the running containers in the order in which they are stopped: ephemeral ones first, sidecars last.
    pub(super) fn running_containers(&self) -> Vec<ContainerId> {
        let pod = self.pod();
        let running = |statuses: &[ContainerStatus]| -> Vec<ContainerId> {
            let running = statuses.iter().filter(|s| s.state.running.is_some());
            running
                .filter_map(|status| ContainerId::named(pod, &status.name))
                .collect()
        };
        let mut all = running(&pod.status.ephemeral_container_statuses);
        all.extend(running(&pod.status.container_statuses));
        all.extend(running(&pod.status.init_container_statuses));
        all
    }

    /// Records an Event for the stop of each container.
    pub(super) fn record_stopping(&mut self, ids: &[ContainerId]) {
        let spec = self.pod().spec.clone();
        for id in ids {
            let name = id.container(&spec).map_or("", |one| one.name.as_str());
            let message = format_smolstr!("Stopping container {name}");
            self.record_container_event(*id, "Normal", "Killing", message);
        }
    }

    /// Returns the time until all of these containers have been stopped.
    pub(super) fn slowest_stop(&self, ids: &[ContainerId]) -> u64 {
        let containers = ids.iter().filter_map(|id| id.container(&self.pod().spec));
        containers
            .map(|container| self.stop_of(container).after)
            .max()
            .unwrap_or(0)
    }

    /// Returns the time of a stop after a preStop hook of this duration, which runs within the grace period.
    fn with_hook(&self, stop: Stop, hook: u64) -> u64 {
        let grace = self.worker.grace(&self.object);
        stop.after.saturating_add(hook).min(grace.max(stop.after))
    }

    /// Returns the time and exit code of a container's stop when its Pod is stopped.
    fn stop_of(&self, container: &Container) -> Stop {
        let usual = behaviour::seconds(&self.object.meta, "stop-delay")
            .unwrap_or(self.kubelets.timing.pod_stop);
        let grace = self.worker.grace(&self.object);
        Stop::of(&self.expanded(container), usual, grace)
    }

    /// Writes the final status of a Pod whose containers have ended.
    pub(super) fn sync_terminated(&mut self) -> Jobs {
        self.worker_mut().state = PodWorkerState::Terminated;
        let (wall, generation) = (self.out.store().wall(), self.object.meta.generation);
        let spec = self.pod().spec.clone();
        let mut codes: Vec<(Str, i32)> = Vec::new();
        let all = ContainerId::all(&spec).chain(ContainerId::ephemeral(&spec));
        for id in all {
            let Some(container) = id.container(&spec) else {
                continue;
            };
            let planned = self
                .worker
                .container(id)
                .and_then(|run| run.termination_code());
            let code = planned.unwrap_or_else(|| self.stop_of(container).code);
            codes.push((container.name.clone(), code));
        }
        self.write(Why::Stopped, |pod| {
            status::stop(pod, &codes, wall, generation)
        });
        if self.object.meta.is_deleting() {
            vec![self.then(REMOVE_US, PodStep::Remove)]
        } else {
            Vec::new()
        }
    }

    /// Removes the terminated Pod from the API.
    pub(super) fn remove(&mut self) -> Jobs {
        let options = DeleteOptions {
            grace_period_seconds: Some(0),
            preconditions: Preconditions::of_uid(self.job.uid),
            ..Default::default()
        };
        // A Pod that is already gone needs no deletion.
        let _ = self.out.delete(&self.object.key(), options, Why::Removed);
        Vec::new()
    }

    /// Writes the actual status again, since it may have been changed while the node did not respond.
    pub(super) fn sync_status(&mut self) -> Jobs {
        if self.pod().status.phase == "Running" {
            self.write_status(Why::BackAgain, |_| {});
        }
        Vec::new()
    }
}
