//! Restarts of containers, with exponential back-off.
//!
//! Models `doBackOff` of `pkg/kubelet/kuberuntime/kuberuntime_manager.go`.

use super::behaviour::Behaviour;
use super::containers::ContainerId;
use super::pod_worker::{Jobs, PodStep};
use super::{PodSync, pulls, status};
use apiserver::why::Why;
use k8s_model::Str;
use k8s_model::pod::{ContainerState, ContainerStatus, Waiting};
use k8s_model::time::{MS, SECOND};
use smol_str::format_smolstr;

/// Delay of a restart without back-off.
const FIRST_RESTART_US: u64 = 300 * MS;
/// Time from the end of a container to the status that shows its back-off.
const BACK_OFF_SHOWN_US: u64 = 500 * MS;

impl PodSync<'_, '_> {
    /// Restarts a container that has ended after running for `ran` seconds: the first time immediately, then after a back-off.
    pub(super) fn restart_after_exit(&mut self, id: ContainerId, ran: i64) -> Jobs {
        let backs_off = self.worker_mut().container_mut(id).backs_off(ran);
        let run = self.worker.restart_count(id);
        vec![if backs_off {
            self.then(BACK_OFF_SHOWN_US, PodStep::BackOff(id))
        } else {
            self.then(FIRST_RESTART_US, PodStep::Restart(id, run))
        }]
    }

    /// Puts a container into back-off.
    pub(super) fn back_off(&mut self, id: ContainerId) -> Jobs {
        let (seconds, restarts) = {
            let run = self.worker_mut().container_mut(id);
            (run.back_off(), run.restart_count())
        };
        let object = self.object.clone();
        let pod: &k8s_model::pod::Pod = object.body();
        let Some(container) = id.container(&pod.spec) else {
            return Vec::new();
        };
        if id
            .status(pod)
            .is_none_or(|status| status.state.terminated.is_none())
        {
            return Vec::new();
        }
        let name = &container.name;
        let meta = &object.meta;
        let pod_name = format_smolstr!("{}_{}({})", meta.name, meta.namespace, meta.uid);
        let message =
            format_smolstr!("Back-off restarting failed container {name} in pod {pod_name}");
        self.record_container_event(id, "Warning", "BackOff", message);
        let why = Why::BackOff {
            seconds: i64::from(seconds),
            count: restarts,
        };
        self.write(why, |body| {
            let Some(status) = id.status_mut(body) else {
                return;
            };
            status.last_state = ContainerState {
                terminated: status.state.terminated.take(),
                ..Default::default()
            };
            let message = format!(
                "back-off {}restarting failed container={name} pod={pod_name}",
                span(seconds)
            );
            status.state = ContainerState {
                waiting: Some(Box::new(Waiting {
                    reason: "CrashLoopBackOff".into(),
                    message: message.into(),
                })),
                ..Default::default()
            };
            status.container_id = Str::default();
            status.image_id = Default::default();
        });
        vec![self.then(seconds as u64 * SECOND, PodStep::Restart(id, restarts))]
    }

    /// Restarts a container, unless it has restarted since the run of this number or cannot be pulled.
    pub(super) fn restart_run(&mut self, id: ContainerId, run: i32) -> Jobs {
        if run == self.worker.restart_count(id) && !pulls::fails(self.pod(), id) {
            self.restart(id, None)
        } else {
            Vec::new()
        }
    }

    /// Restarts a container, or starts a delayed one for the first time; `ended` is the exit code if it has just been stopped for this.
    pub(super) fn restart(&mut self, id: ContainerId, ended: Option<i32>) -> Jobs {
        let Some(container) = id
            .container(&self.pod().spec)
            .map(|container| self.expanded(container).into_owned())
        else {
            return Vec::new();
        };
        if self.pod().is_terminal() {
            return Vec::new();
        }
        // A container that could not be created so far starts for the first time.
        let never_ran =
            |s: &ContainerStatus| s.state.terminated.is_none() && s.last_state.terminated.is_none();
        let is_first = ended.is_none() && id.status(self.pod()).is_some_and(never_ran);
        if is_first && let ContainerId::Init(index) = id {
            return self.next_init(index);
        }
        if let Some(jobs) = self.wait_for_environment(id) {
            return jobs;
        }
        // Init containers that run to completion, and ephemeral ones, are never ready.
        let can_be_ready = id.is_long_running(&container);
        let completes = match id {
            ContainerId::Init(index) if !can_be_ready => Some(index),
            _ => None,
        };
        let plan = match completes {
            Some(_) => Behaviour::of(&container, &self.object.meta, (0, 0)),
            None => self.behaviour(&container, id),
        };
        if !plan.pulls {
            return self.cannot_restart(id, ended);
        }
        self.record_started(id);
        let (wall, runtime_id) = (self.out.store().wall(), self.container_runtime_id());
        let count = if is_first {
            0
        } else {
            self.worker_mut().container_mut(id).restart_after_exit()
        };
        let why = match ended {
            _ if is_first => self.why_started(std::slice::from_ref(&container), &[plan]),
            Some(_) => Why::NewImage {
                image: container.image.clone(),
            },
            None => Why::Restarted { count },
        };
        self.write_status(why, |pod| {
            let Some(status) = id.status_mut(pod) else {
                return;
            };
            status::keep_end(status, ended, wall);
            status.restart_count = count;
            let ready = can_be_ready && plan.ready_after == Some(0);
            status::run(status, &container.image, runtime_id, wall, ready);
            match id {
                ContainerId::Ephemeral(_) => status.started = None,
                _ if can_be_ready => status.started = Some(plan.started_after == Some(0)),
                _ => {}
            }
            if let ContainerId::Regular(_) = id {
                status::begin_phase(pod);
            }
        });
        match completes {
            Some(index) => vec![self.run_init(index, &container)],
            None => self.follow(id, &plan),
        }
    }
}

/// Formats a back-off as Go prints it: `20s `, `2m40s `.
fn span(seconds: i32) -> String {
    if seconds < 60 {
        format!("{seconds}s ")
    } else {
        format!("{}m{}s ", seconds / 60, seconds % 60)
    }
}
