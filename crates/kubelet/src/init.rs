//! Init containers: run in sequence, each to completion; a failed one is restarted, or fails its Pod.

use super::behaviour::{Behaviour, predicted_exit, pull_failure};
use super::containers::{self, ContainerId, has_command, is_initialized};
use super::pod_worker::{Jobs, PodJob, PodStep};
use super::{PodSync, status};
use apiserver::why::Why;
use k8s_model::pod::Container;
use k8s_model::{ObjectMeta, Str, Time};

impl PodSync<'_, '_> {
    /// Handles a ready sandbox: starts the first init container.
    pub(super) fn start_init(&mut self, ip: Str) -> Jobs {
        self.write_status(Why::Sandbox, |pod| status::set_ip(pod, ip));
        self.next_init(0)
    }

    /// Returns an init container, with its variables expanded.
    fn init_container(&self, index: u32) -> Option<Container> {
        let container = ContainerId::Init(index).container(&self.pod().spec)?;
        Some(self.expanded(container).into_owned())
    }

    /// Starts the next init container, if its image can be pulled.
    pub(super) fn next_init(&mut self, index: u32) -> Jobs {
        let id = ContainerId::Init(index);
        let Some(container) = self.init_container(index) else {
            return Vec::new();
        };
        if let Some(jobs) = self.wait_for_environment(id) {
            return jobs;
        }
        // The annotations apply to the main containers, not to init containers.
        if Behaviour::of(&container, &ObjectMeta::default(), (0, 0)).pulls {
            self.record_started(id);
            return vec![self.run_init(index, &container)];
        }
        self.record_pull_failure(id);
        self.write(Why::ImagePull, |pod| {
            if let Some(status) = id.status_mut(pod) {
                let (reason, message) = pull_failure(&container.image);
                status.state = status::waiting_for(reason, &message);
            }
        });
        vec![self.pull_failed()]
    }

    /// Runs the process of an init container, or lets a sidecar start.
    pub(super) fn run_init(&mut self, index: u32, container: &Container) -> (Time, PodJob) {
        let id = ContainerId::Init(index);
        if !container.is_sidecar() && has_command(container) && predicted_exit(container).is_none()
        {
            let run = self.worker.restart_count(id);
            return self.then(0, PodStep::Process { id, run });
        }
        self.then(containers::time(container), PodStep::Init(index))
    }

    /// Handles an init container that has ended, or a sidecar that has started.
    pub(super) fn init(&mut self, index: u32) -> Jobs {
        let Some(container) = self.init_container(index) else {
            return Vec::new();
        };
        let ends = predicted_exit(&container);
        if container.is_sidecar() {
            if containers::has_probe(&container) || (ends.is_some() && has_command(&container)) {
                return self.start_sidecar(index, &container);
            }
        } else if let Some((_, code)) = ends.filter(|(_, code)| *code != 0) {
            return self.init_failed(index, code);
        }
        let wall = self.out.store().wall();
        let runtime_id = self.container_runtime_id();
        if self.is_last_init(index) {
            return self.start_containers(|pod| status::finish_init(pod, index, runtime_id, wall));
        }
        let why = if container.is_sidecar() {
            Why::Sidecar
        } else {
            Why::InitDone
        };
        self.write_status(why, |pod| status::finish_init(pod, index, runtime_id, wall));
        self.next_init(index + 1)
    }

    fn is_last_init(&self, index: u32) -> bool {
        index as usize + 1 == self.pod().spec.init_containers.len()
    }

    /// Starts a sidecar that has probes or ends by itself.
    fn start_sidecar(&mut self, index: u32, container: &Container) -> Jobs {
        let id = ContainerId::Init(index);
        let plan = self.behaviour(container, id);
        let wall = self.out.store().wall();
        let runtime_id = self.container_runtime_id();
        let starts = plan.started_after == Some(0);
        self.write_status(Why::Sidecar, |pod| {
            if let Some(status) = id.status_mut(pod) {
                let ready = plan.ready_after == Some(0);
                status::run(status, &container.image, runtime_id, wall, ready);
                status.started = Some(starts);
            }
        });
        let mut jobs = self.follow(id, &plan);
        if starts {
            jobs.extend(self.after_init(index));
        }
        jobs
    }

    /// Continues after an init container or sidecar: with the next one, or with the main containers.
    pub(super) fn after_init(&mut self, index: u32) -> Jobs {
        // A restarted sidecar does not block the other containers.
        if is_initialized(self.pod()) {
            Vec::new()
        } else if self.is_last_init(index) {
            self.start_containers(|_| {})
        } else {
            self.next_init(index + 1)
        }
    }

    pub(super) fn init_failed(&mut self, index: u32, code: i32) -> Jobs {
        let id = ContainerId::Init(index);
        let never = self.pod().spec.restart_policy == "Never";
        let wall = self.out.store().wall();
        let runtime_id = self.container_runtime_id();
        self.write_status(Why::Exited { code }, |pod| {
            if let Some(status) = id.status_mut(pod) {
                if status.container_id.is_empty() {
                    status.container_id = runtime_id;
                }
                status::terminate(status, code, wall);
                if let Some(end) = &mut status.state.terminated {
                    end.started_at.get_or_insert(wall);
                }
            }
            if never {
                pod.status.phase = "Failed".into();
            }
        });
        if never {
            Vec::new()
        } else {
            self.restart_after_exit(id, 0)
        }
    }
}
