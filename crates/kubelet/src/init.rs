//! Init containers: run in sequence, each to completion; a failed one is restarted, or fails its Pod.

use super::behaviour::{Behaviour, predicted_exit, pull_failure};
use super::containers::{FLAG, has_command, has_ended, is_sidecar, time};
use super::{Jobs, PodPass, PodStep, status};
use crate::containers;
use apiserver::why::Why;
use k8s_model::pod::Container;
use k8s_model::{ObjectMeta, Str};

impl PodPass<'_, '_> {
    /// Handles a ready sandbox: starts the first init container.
    pub(super) fn start_init(&mut self, ip: Str) -> Jobs {
        let (wall, generation) = (self.out.server.wall(), self.object.meta.generation);
        self.write(Why::Sandbox, |pod| {
            status::set_ip(pod, ip);
            status::set_conditions(pod, true, wall, generation);
        });
        self.next_init(0)
    }

    /// Starts the next init container, if its image can be pulled.
    pub(super) fn next_init(&mut self, n: u32) -> Jobs {
        let Some(container) = self.pod().spec.init_containers.get(n as usize).cloned() else {
            return Vec::new();
        };
        if let Some(jobs) = self.wait_for_environment(n | FLAG) {
            return jobs;
        }
        // The annotations apply to the main containers, not to init containers.
        if Behaviour::of(&container, &ObjectMeta::default(), (0, 0)).pulls {
            self.say_started(&container.name, &container.image, "initContainers");
            return vec![self.then(time(&container), PodStep::Init(n))];
        }
        self.say_pull_failed(&container.name, &container.image, "initContainers");
        self.write(Why::ImagePull, |pod| {
            if let Some(status) = pod.status.init_container_statuses.get_mut(n as usize) {
                let (reason, message) = pull_failure(&container.image);
                status.state = status::waiting_for(reason, &message);
            }
        });
        vec![self.pull_failed()]
    }

    /// Handles an init container that has ended, or a sidecar that has started.
    pub(super) fn init(&mut self, n: u32) -> Jobs {
        let Some(container) = self.pod().spec.init_containers.get(n as usize).cloned() else {
            return Vec::new();
        };
        let ends = predicted_exit(&container);
        if is_sidecar(&container) {
            if containers::has_probe(&container) || (ends.is_some() && has_command(&container)) {
                return self.start_sidecar(n, &container);
            }
        } else if let Some((_, code)) = ends.filter(|(_, code)| *code != 0) {
            return self.init_failed(n, code);
        }
        let (wall, generation) = (self.out.server.wall(), self.object.meta.generation);
        let id = self.container_id();
        if (n as usize) + 1 == self.pod().spec.init_containers.len() {
            return self.start_containers_after(None, |pod| {
                status::finish_init(pod, n as usize, id, wall)
            });
        }
        self.write(
            if is_sidecar(&container) {
                Why::Sidecar
            } else {
                Why::InitDone
            },
            |pod| {
                status::finish_init(pod, n as usize, id, wall);
                status::set_conditions(pod, true, wall, generation);
            },
        );
        self.next_init(n + 1)
    }

    /// Starts a sidecar that has probes or ends by itself.
    fn start_sidecar(&mut self, n: u32, container: &Container) -> Jobs {
        let plan = self.behaviour(container, n | FLAG);
        let (wall, generation) = (self.out.server.wall(), self.object.meta.generation);
        let id = self.container_id();
        let starts = plan.started_after == Some(0);
        self.write(Why::Sidecar, |pod| {
            if let Some(status) = pod.status.init_container_statuses.get_mut(n as usize) {
                status::run(
                    status,
                    &container.image,
                    id,
                    wall,
                    plan.ready_after == Some(0),
                );
                status.started = Some(starts);
            }
            status::set_conditions(pod, true, wall, generation);
        });
        let mut jobs = self.follow(n | FLAG, &plan);
        if starts {
            jobs.extend(self.after_init(n));
        }
        jobs
    }

    /// Continues after an init container or sidecar: with the next one, or with the main containers.
    pub(super) fn after_init(&mut self, n: u32) -> Jobs {
        match (n as usize) + 1 == self.pod().spec.init_containers.len() {
            // A restarted sidecar does not block the other containers.
            _ if has_ended(self.pod()) => Vec::new(),
            true => self.start_containers(None),
            false => self.next_init(n + 1),
        }
    }

    fn init_failed(&mut self, n: u32, code: i32) -> Jobs {
        let never = self.pod().spec.restart_policy == "Never";
        let (wall, generation) = (self.out.server.wall(), self.object.meta.generation);
        let id = self.container_id();
        self.write(Why::Exited { code }, |pod| {
            if let Some(status) = pod.status.init_container_statuses.get_mut(n as usize) {
                if status.container_id.is_empty() {
                    status.container_id = id;
                }
                status::terminate(status, code, wall);
                if let Some(end) = &mut status.state.terminated {
                    end.started_at.get_or_insert(wall);
                }
            }
            if never {
                pod.status.phase = "Failed".into();
            }
            status::set_conditions(pod, true, wall, generation);
        });
        if never {
            Vec::new()
        } else {
            self.hold_back(n | FLAG, 0)
        }
    }
}
