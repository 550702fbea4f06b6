//! Start of a Pod: admission, its sandbox, and the first start of its containers.
//!
//! Models `SyncPod` of `pkg/kubelet/kuberuntime/kuberuntime_manager.go`.

use super::behaviour::{self, Behaviour};
use super::containers::ContainerId;
use super::pod_worker::{Jobs, PodStep};
use super::{PodSync, containers, fetch, memory, sources, status};
use apiserver::why::Why;
use cluster_network::request_loop::{may_request, round_of_command};
use controller_runtime::load::LoadGenerator;
use k8s_model::pod::{Container, Pod, PodIp};
use k8s_model::time::MS;
use k8s_model::{Str, environment};
use smol_str::format_smolstr;

/// Time from the end of a container to the status that reports it.
pub(super) const NOTICE_EXIT_US: u64 = 4 * MS;

/// Planned first start of a container.
struct ContainerStart {
    id: ContainerId,
    behaviour: Behaviour,
    /// Message about a missing source of its environment.
    config_error: Option<String>,
    runtime_id: Str,
}

impl PodSync<'_, '_> {
    pub(super) fn admit(&mut self) -> Jobs {
        if self.is_rejected() {
            return Vec::new();
        }
        let host = self
            .node()
            .map_or_else(Str::default, |(_, node)| node.internal_ip());
        let (wall, generation) = (self.out.store().wall(), self.object.meta.generation);
        self.write(Why::Bound, |pod| {
            status::waiting(pod);
            pod.status.host_ip = host.clone();
            pod.status.host_ips = vec![PodIp { ip: host }].into();
            pod.status.start_time = Some(wall);
            status::set_conditions(pod, false, wall, generation);
        });
        let delay = behaviour::seconds(&self.object.meta, "start-delay")
            .unwrap_or(self.kubelets.timing.pod_start);
        vec![self.then(delay, PodStep::Start)]
    }

    /// Handles a ready sandbox: the Pod gets its IP, and init or main containers start.
    pub(super) fn start(&mut self) -> Jobs {
        if sources::has_volumes(self.pod())
            && let Some(jobs) = self.wait_for_volumes()
        {
            return jobs;
        }
        let ip = if self.pod().spec.host_network {
            self.pod().status.host_ip.clone()
        } else {
            match self.reserve_ip() {
                Some(ip) => ip,
                None => return self.sandbox_failed(),
            }
        };
        let mut jobs = match self.pod().spec.init_containers.is_empty() {
            true => self.start_containers(|pod| status::set_ip(pod, ip)),
            false => self.start_init(ip),
        };
        jobs.extend(self.start_ephemeral());
        jobs
    }

    /// Starts all regular containers in one status write, which also makes the change given.
    pub(super) fn start_containers(&mut self, change: impl FnOnce(&mut Pod)) -> Jobs {
        let spec = self.pod().spec.clone();
        let ids = ContainerId::regular(&spec);
        let plans: Vec<(ContainerId, Behaviour)> = ids
            .zip(spec.containers.iter())
            .map(|(id, container)| (id, self.behaviour(container, id)))
            .collect();
        let mut starts = Vec::with_capacity(plans.len());
        for (id, behaviour) in plans {
            starts.push(ContainerStart {
                id,
                behaviour,
                config_error: self.config_error(id).filter(|_| behaviour.pulls),
                runtime_id: Str::default(),
            });
        }
        let mut jobs = Vec::new();
        for start in &starts {
            if let Some(message) = &start.config_error {
                jobs.extend(self.retry_after_config_error(start.id, message));
            } else if start.behaviour.pulls {
                self.record_started(start.id);
            } else {
                self.record_pull_failure(start.id);
            }
        }
        for start in &mut starts {
            start.runtime_id = self.container_runtime_id();
        }
        let has_pull_failure = starts.iter().any(|start| !start.behaviour.pulls);
        let why = match () {
            () if has_pull_failure => Why::ImagePull,
            () if starts.iter().any(|start| start.config_error.is_some()) => Why::SourceMissing,
            () => {
                let behaviours: Vec<_> = starts.iter().map(|start| start.behaviour).collect();
                self.why_started(&spec.containers, &behaviours)
            }
        };
        let wall = self.out.store().wall();
        self.write_status(why, |pod| {
            change(pod);
            for start in &starts {
                let (Some(container), Some(status)) =
                    (start.id.container(&spec), start.id.status_mut(pod))
                else {
                    continue;
                };
                let behaviour = start.behaviour;
                if let Some(message) = &start.config_error {
                    status.state = sources::waiting(message);
                } else if behaviour.pulls {
                    status::run(
                        status,
                        &container.image,
                        start.runtime_id.clone(),
                        wall,
                        behaviour.ready_after == Some(0),
                    );
                    status.started = Some(behaviour.started_after == Some(0));
                } else {
                    let (reason, message) = behaviour::pull_failure(&container.image);
                    status.state = status::waiting_for(reason, &message);
                }
            }
            status::begin_phase(pod);
        });
        for start in starts.iter().filter(|start| start.config_error.is_none()) {
            jobs.extend(self.follow(start.id, &start.behaviour));
        }
        if has_pull_failure {
            jobs.push(self.pull_failed());
        }
        jobs
    }

    /// Schedules the planned steps of a started container.
    pub(super) fn follow(&mut self, id: ContainerId, plan: &Behaviour) -> Jobs {
        let mut jobs = Vec::new();
        if !plan.pulls {
            return jobs;
        }
        let object = self.object.clone();
        let Some(container) = id.container(&object.body::<Pod>().spec) else {
            return jobs;
        };
        if containers::has_probe(container) {
            jobs = self.start_probes(id);
        }
        match (plan.started_after, plan.ready_after) {
            (Some(after), _) if after > 0 => jobs.push(self.then(after, PodStep::Started(id))),
            (Some(_), Some(after)) if after > 0 => jobs.push(self.then(after, PodStep::Ready(id))),
            _ => {}
        }
        let stays = matches!(id, ContainerId::Init(_)) && !containers::has_command(container);
        let exits = plan.exits.or_else(|| {
            fetch::predicted_exit(self.out.store(), &object, &self.expanded(container))
        });
        let run = self.worker.restart_count(id);
        if let Some((after, code)) = exits.filter(|_| !stays) {
            let run = Some(run);
            jobs.push(self.then(
                after.saturating_add(NOTICE_EXIT_US),
                PodStep::Exit { id, code, run },
            ));
        } else if exits.is_none() && containers::has_command(container) && !container.stdin {
            jobs.push(self.then(0, PodStep::Process { id, run }));
        }
        self.begin_requests(container);
        if id == ContainerId::Regular(0) && !self.kubelets.loads.set.is_empty() {
            jobs.push(self.then(memory::FILLS_US, PodStep::CheckMemory(id)));
        }
        if !container.lifecycle.is_null() {
            jobs.extend(self.post_start(id, container));
        }
        jobs
    }

    /// Records the requests that a started container sends in a loop.
    fn begin_requests(&mut self, container: &Container) {
        let mut words = container.command.iter().chain(&container.args);
        if !words.any(|word| may_request(word)) {
            return;
        }
        let container = self.expanded(container);
        let words = container.command.iter().chain(&container.args);
        let words: Vec<String> = words.map(ToString::to_string).collect();
        let variables = self.variables(&container);
        let variable = |name: &str| environment::find(&variables, name);
        if let Some(round) = round_of_command(&words, &variable) {
            let generator = LoadGenerator {
                pod: self.object.key(),
                container: container.name.clone(),
                shell: None,
                round,
            };
            let uid = self.object.meta.uid;
            self.kubelets.loads.add_generator(uid, generator);
        }
    }

    /// Returns a new id of a container.
    pub(super) fn container_runtime_id(&mut self) -> Str {
        format_smolstr!("containerd://{}", self.runtime_id())
    }

    /// Returns a new id of a container or sandbox, as the runtime makes it.
    pub(super) fn runtime_id(&mut self) -> String {
        let (a, b) = (self.out.random_uid().0, self.out.random_uid().0);
        format!("{a:032x}{b:032x}")
    }

    /// Records the Events of a container's start.
    pub(super) fn record_started(&mut self, id: ContainerId) {
        self.record_image_present(id);
        self.record_container_event(id, "Normal", "Created", "Container created");
        self.record_container_event(id, "Normal", "Started", "Container started");
    }

    /// Records the Event of an image that needs no pull.
    pub(super) fn record_image_present(&mut self, id: ContainerId) {
        let Some(image) = id.container(&self.pod().spec).map(|one| one.image.clone()) else {
            return;
        };
        let message = format_smolstr!(
            "Container image {:?} already present on machine and can be accessed by the pod",
            image.as_str()
        );
        self.record_container_event(id, "Normal", "Pulled", message);
    }
}
