//! Kubelets: run the Pods of their nodes, with the status writes of real kubelets in the same order.
//!
//! Guarantees: a Pod's status never moves backwards; a terminating Pod reports a terminal phase before it is removed.
//! Models `pkg/kubelet` (`kubelet_pods.go`, `status/generate.go`, `status/status_manager.go`) as far as the API shows it.

mod behaviour;
mod changed;
mod containers;
mod descriptor;
mod ephemeral;
mod eviction;
mod fetch;
mod hooks;
mod init;
mod memory;
mod nodes;
mod probes;
mod pulls;
mod registry;
mod resize;
mod restart;
mod rules;
mod sources;
mod state;
mod status;

use apiserver::Delete;
use apiserver::journal::{Actor, EntryId, Op};
use apiserver::why::Why;
use behaviour::Behaviour;
use containers::After;
pub use containers::number_of;
use controller_runtime::client::LoopClient;
use controller_runtime::cluster::ClusterConfig;
use controller_runtime::informer::Cache;
use controller_runtime::watch::Event;
pub use descriptor::DESCRIPTOR;
use k8s_model::node::Node;
use k8s_model::pod::{ContainerStatus, Pod};
use k8s_model::time::{MS, SECOND};
use k8s_model::{Body, Kind, Object, ObjectRef, Str, Time, Uid};
pub use probes::misdirected;
pub use registry::{can_be_pulled, corrected, is_assumed};
use sim_core::tree::Tree;
use smol_str::format_smolstr;
pub use sources::{Lack, lack};
pub use state::{ContainerFault, Kubelets, PodJob};
use state::{Course, Ending, Jobs, MAX_BACK_OFF, PodPass, PodStep, Running};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Time from a Pod's arrival at its kubelet to the first status.
const ADMIT_US: u64 = 4 * MS;
/// Time from the end of a container to the status that reports it.
const NOTICE_EXIT_US: u64 = 4 * MS;
/// Cleanup time of a Pod whose containers had ended before it was stopped.
const LEFT_TO_STOP_US: u64 = 100 * MS;
const FIRST_RESTART_US: u64 = 300 * MS;
const BACK_OFF_SHOWN_US: u64 = 500 * MS;
/// Run time of a container after which it restarts without back-off, in seconds.
const BACK_OFF_RESET_S: i64 = 600;

impl Kubelets {
    /// Creates kubelets without Pods.
    pub fn new(config: &ClusterConfig) -> Self {
        let mut next_ip = BTreeMap::new();
        for node in &config.nodes {
            next_ip.insert(node.name.as_str().into(), 1);
        }
        let heartbeat = nodes::heartbeat(config.node_monitor_grace);
        let registered = config.nodes.len();
        Kubelets {
            timing: config.timing,
            pods: Tree::default(),
            next_ip,
            silent: Vec::new(),
            loads: Vec::new(),
            back: BTreeMap::new(),
            pressed: Vec::new(),
            heartbeat,
            registered,
        }
    }

    /// Handles a watch event; returns the resulting jobs.
    pub fn observe(&mut self, event: &Event<'_>, id: EntryId, now: Time) -> Jobs {
        let object = event.object;
        let Some(pod) = object.pod() else {
            return Vec::new();
        };
        let uid = object.meta.uid;
        let job = |after: u64, step: PodStep| {
            (
                now.after(after),
                PodJob {
                    uid,
                    step,
                    cause: Some(id),
                },
            )
        };
        if event.op == Op::Deleted {
            self.pods.remove(&uid);
            return Vec::new();
        }
        // A Pod bound to a node that does not exist has no kubelet.
        if pod.node_name.is_empty()
            || !(self.pods.contains_key(&uid) || self.next_ip.contains_key(&pod.node_name))
        {
            return Vec::new();
        }
        let mut jobs = Vec::new();
        let known = self.pods.get(&uid);
        let stopping = known.is_some_and(|running| running.stopping);
        if known.is_none() {
            if !pod.is_terminal() {
                jobs.push(job(ADMIT_US, PodStep::Admit));
            }
            let running = Running {
                pod: object.key(),
                node: pod.node_name.clone(),
                stopping: false,
                allocated: pod.spec.clone(),
                course: None,
            };
            self.pods.insert(uid, Rc::new(running));
        } else if event
            .before
            .is_some_and(|before| before.meta.generation != object.meta.generation)
            && !object.meta.is_deleting()
        {
            jobs.push(job(ADMIT_US, PodStep::Changed));
        }
        // Another client has set a terminal phase: the containers must be stopped.
        let over = pod.is_terminal()
            && pod
                .status
                .every_container()
                .any(|status| status.state.running.is_some());
        if (object.meta.is_deleting() || over) && !stopping {
            self.running(uid)
                .into_iter()
                .for_each(|running| running.stopping = true);
            jobs.push(job(if over { 0 } else { MS }, PodStep::Kill));
        }
        jobs
    }

    /// Returns the state of a Pod, mutably.
    fn running(&mut self, uid: Uid) -> Option<&mut Running> {
        self.pods.get_mut(&uid).map(Rc::make_mut)
    }

    /// Returns the state of a Pod's containers beyond plain running, if any.
    fn course(&self, uid: Uid) -> Option<&Course> {
        self.pods.get(&uid)?.course.as_deref()
    }

    /// Returns the state of a Pod's containers, mutably, creating it if needed.
    fn course_mut(&mut self, uid: Uid) -> Option<&mut Course> {
        self.running(uid)
            .map(|running| &mut **running.course.get_or_insert_default())
    }

    /// Drops Pods that no longer exist.
    pub fn forget_gone(&mut self, is_there: impl Fn(&ObjectRef, Uid) -> bool) {
        self.pods
            .retain(|uid, running| is_there(&running.pod, *uid));
    }

    /// Returns the step for a fault injected into a Pod.
    pub fn forced(uid: Uid, what: ContainerFault, cause: Option<EntryId>) -> PodJob {
        let step = match what {
            ContainerFault::Exit(code) => PodStep::Exit(0, code, None),
            ContainerFault::End(i, code) => PodStep::Exit(i, code, None),
            ContainerFault::Ready(ready) => PodStep::ForceReady(ready),
            ContainerFault::Memory => PodStep::Memory(0),
            ContainerFault::Probe(kind, fails) => PodStep::ForceProbe(kind, fails),
        };
        PodJob { uid, step, cause }
    }

    /// Runs a step; returns the resulting jobs.
    pub fn run(&mut self, job: PodJob, cache: &Cache, now: Time, out: &mut LoopClient<'_>) -> Jobs {
        let Some(running) = self.pods.get(&job.uid) else {
            return Vec::new();
        };
        if let Some(silent) = self.silent.iter_mut().find(|s| s.node == running.node) {
            silent.parked.push(job);
            return Vec::new();
        }
        let stopping = matches!(job.step, PodStep::Kill | PodStep::Stopped | PodStep::Remove);
        let Some(object) = out
            .server
            .get(&running.pod)
            .filter(|o| o.meta.uid == job.uid)
            .cloned()
        else {
            return Vec::new();
        };
        // A container may end by itself in any state of its Pod.
        let ends = matches!(
            job.step,
            PodStep::Exit(..) | PodStep::Killed(..) | PodStep::Memory(..)
        );
        if !ends && (running.stopping != stopping || (object.meta.is_deleting() && !stopping)) {
            return Vec::new();
        }
        out.origin.actor = Actor::kubelet(&running.node);
        out.origin.cause = job.cause;
        let pass = PodPass {
            kubelets: self,
            object,
            job: &job,
            now,
            cache,
            out,
            wrote: None,
        };
        pass.run()
    }

    fn new_ip(&mut self, node: &Str, cidr: &str) -> Str {
        let n = self.next_ip.entry(node.clone()).or_insert(1);
        *n += 1;
        let base = cidr
            .split('/')
            .next()
            .unwrap_or("10.244.0.0")
            .rsplit_once('.')
            .map_or("10.244.0", |(base, _)| base);
        let (net, host) = (*n >> 8, *n & 0xff);
        match net {
            0 => format_smolstr!("{base}.{host}"),
            // Pods beyond 254 on a node get addresses of the next network, so that none is assigned twice.
            _ => format_smolstr!(
                "10.{}.{}.{host}",
                128 + net,
                base.rsplit('.').next().unwrap_or("0")
            ),
        }
    }
}

impl PodPass<'_, '_> {
    fn run(mut self) -> Jobs {
        match self.job.step {
            PodStep::Admit => self.admit(),
            PodStep::Start => self.start(),
            PodStep::Init(n) => self.init(n),
            PodStep::PullBackOff(until) => self.pull_back_off(until),
            PodStep::Evicted => self.evicted(),
            PodStep::Started(i) => self.has_started(i),
            PodStep::Ready(i) => self.ready(i),
            PodStep::Exit(i, code, run) => self.exit(i, code, run, Ending::Own),
            PodStep::Memory(i) => self.check_memory(i),
            PodStep::Killed(i, code, run) => self.exit(i, code, Some(run), Ending::Stopped),
            PodStep::Probe(i, kind) => self.probe(i, kind),
            PodStep::ForceProbe(kind, fails) => self.force_probe(kind, fails),
            PodStep::ForceReady(ready) => self.set_ready(
                0,
                ready,
                if ready {
                    Why::BecameReady {
                        probe: Str::default(),
                    }
                } else {
                    Why::BecameUnready
                },
            ),
            PodStep::BackOff(i) => self.back_off(i),
            PodStep::Restart(i, run) => {
                if run == self.run_number(i) && !pulls::fails(self.pod(), i) {
                    self.restart(i, None)
                } else {
                    Vec::new()
                }
            }
            PodStep::Changed => self.changed(),
            PodStep::Anew => self.anew(),
            PodStep::Kill => self.kill(),
            PodStep::Stopped => self.stopped(),
            PodStep::Remove => self.remove(),
            PodStep::Report => self.report(),
        }
    }

    /// Writes a status; if the API server refuses it, a later write repairs it.
    fn write(&mut self, why: Why, change: impl FnOnce(&mut Pod)) {
        let generation = self.object.meta.generation;
        let changed = self.out.update_status(&self.object.clone(), why, |o| {
            if let Body::Pod(pod) = &mut o.body {
                change(pod);
                pod.status.observed_generation = generation;
            }
        });
        if let Ok(object) = changed {
            self.object = object;
            // Events recorded in between are not the cause: later steps follow from this write.
            self.wrote = (self.out.server.journal().len() as EntryId).checked_sub(1);
        }
    }

    fn node(&self) -> Option<(&Rc<Object>, &Node)> {
        self.cache
            .get::<Node>(&ObjectRef::new(Kind::Node, "", &self.pod().node_name))
    }

    fn admit(&mut self) -> Jobs {
        if self.is_turned_away() {
            return Vec::new();
        }
        let host = self
            .node()
            .map_or_else(Str::default, |(_, node)| node.internal_ip());
        let (wall, generation) = (self.out.server.wall(), self.object.meta.generation);
        self.write(Why::Bound, |pod| {
            status::waiting(pod);
            pod.status.host_ip = host.clone();
            pod.status.host_ips = vec![k8s_model::pod::PodIp { ip: host }].into();
            pod.status.start_time = Some(wall);
            status::set_conditions(pod, false, wall, generation);
        });
        let delay = behaviour::seconds(&self.object.meta, "start-delay")
            .unwrap_or(self.kubelets.timing.pod_start);
        vec![self.then(delay, PodStep::Start)]
    }

    /// Handles a ready sandbox: the Pod gets its IP, and init or main containers start.
    fn start(&mut self) -> Jobs {
        if sources::has_volumes(self.pod())
            && let Some(jobs) = self.wait_for_volumes()
        {
            return jobs;
        }
        let ip = if self.pod().spec.host_network {
            self.pod().status.host_ip.clone()
        } else {
            let cidr = self
                .node()
                .and_then(|(_, n)| {
                    n.spec
                        .raw
                        .get("podCIDR")
                        .and_then(|v| v.as_str())
                        .map(String::from)
                })
                .unwrap_or_default();
            let node = self.pod().node_name.clone();
            self.kubelets.new_ip(&node, &cidr)
        };
        let mut jobs = match self.pod().spec.init_containers.is_empty() {
            true => self.start_containers(Some(ip)),
            false => self.start_init(ip),
        };
        jobs.extend(self.start_ephemeral());
        jobs
    }

    fn start_containers(&mut self, ip: Option<Str>) -> Jobs {
        self.start_containers_after(ip, |_| {})
    }

    /// Starts all containers in one status write.
    fn start_containers_after(&mut self, ip: Option<Str>, before: impl FnOnce(&mut Pod)) -> Jobs {
        let spec = self.pod().spec.clone();
        let plans: Vec<Behaviour> = spec
            .containers
            .iter()
            .enumerate()
            .map(|(i, c)| self.behaviour(c, i as u32))
            .collect();
        let lacks: Vec<Option<String>> = (0..plans.len())
            .map(|i| self.lacks(i as u32).filter(|_| plans[i].pulls))
            .collect();
        let mut jobs = Vec::new();
        for (i, (container, plan)) in spec.containers.iter().zip(&plans).enumerate() {
            if let Some(words) = &lacks[i] {
                jobs.extend(self.say_lacks(i as u32, words));
            } else if plan.pulls {
                self.say_started(&container.name, &container.image, "containers");
            } else {
                self.say_pull_failed(&container.name, &container.image, "containers");
            }
        }
        let (wall, generation) = (self.out.server.wall(), self.object.meta.generation);
        let ids: Vec<Str> = plans.iter().map(|_| self.container_id()).collect();
        let why = match () {
            () if plans.iter().any(|p| !p.pulls) => Why::ImagePull,
            () if lacks.iter().any(Option::is_some) => Why::SourceMissing,
            () => self.why_started(&spec.containers, &plans),
        };
        self.write(why, |pod| {
            before(pod);
            if let Some(ip) = ip {
                status::set_ip(pod, ip);
            }
            for (i, plan) in plans.iter().enumerate() {
                let image = spec.containers[i].image.clone();
                let Some(status) = containers::status(pod, i as u32) else {
                    continue;
                };
                if let Some(words) = &lacks[i] {
                    status.state = sources::waiting(words);
                } else if plan.pulls {
                    status::run(
                        status,
                        &image,
                        ids[i].clone(),
                        wall,
                        plan.ready_after == Some(0),
                    );
                    status.started = Some(plan.started_after == Some(0));
                } else {
                    let (reason, message) = behaviour::pull_failure(&image);
                    status.state = status::waiting_for(reason, &message);
                }
            }
            status::begin_phase(pod);
            status::set_conditions(pod, true, wall, generation);
        });
        for (i, plan) in plans
            .iter()
            .enumerate()
            .filter(|(i, _)| lacks[*i].is_none())
        {
            jobs.extend(self.follow(i as u32, plan));
        }
        if plans.iter().any(|p| !p.pulls) {
            jobs.push(self.pull_failed());
        }
        jobs
    }

    /// Schedules the planned steps of a started container.
    fn follow(&mut self, i: u32, plan: &Behaviour) -> Jobs {
        let mut jobs = Vec::new();
        if !plan.pulls {
            return jobs;
        }
        let object = self.object.clone();
        let Some((_, container)) = containers::container(object.body(), i) else {
            return jobs;
        };
        if containers::has_probe(container) {
            jobs = self.watch_probes(i);
        }
        match (plan.started_after, plan.ready_after) {
            (Some(after), _) if after > 0 => jobs.push(self.then(after, PodStep::Started(i))),
            (Some(_), Some(after)) if after > 0 => jobs.push(self.then(after, PodStep::Ready(i))),
            _ => {}
        }
        let stays = containers::number(i).is_some() && !containers::has_command(container);
        let exits = plan
            .exits
            .or_else(|| fetch::predicted_exit(self.out.server, &object, container));
        if let Some((after, code)) = exits.filter(|_| !stays) {
            let run = self.run_number(i);
            jobs.push(self.then(
                after.saturating_add(NOTICE_EXIT_US),
                PodStep::Exit(i, code, Some(run)),
            ));
        }
        if i == 0 && !self.kubelets.loads.is_empty() {
            jobs.push(self.then(memory::FILLS_US, PodStep::Memory(i)));
        }
        if !container.lifecycle.is_null() {
            jobs.extend(self.post_start(i, container));
        }
        jobs
    }

    /// Returns the restart count of a container: steps planned for an earlier run do not apply to a later one.
    fn run_number(&self, i: u32) -> i32 {
        self.kubelets
            .course(self.job.uid)
            .and_then(|course| course.restarts.get(&i))
            .copied()
            .unwrap_or(0)
    }

    fn set_ready(&mut self, i: u32, ready: bool, why: Why) -> Jobs {
        let (wall, generation) = (self.out.server.wall(), self.object.meta.generation);
        self.write(why, |pod| {
            if let Some(status) = containers::status(pod, i).filter(|s| s.state.running.is_some()) {
                status.ready = ready;
            }
            status::set_conditions(pod, true, wall, generation);
        });
        Vec::new()
    }

    /// Handles the end of a container, by itself or killed by the kubelet; a killed one is restarted unless the policy is Never.
    fn exit(&mut self, i: u32, code: i32, run: Option<i32>, how: Ending) -> Jobs {
        let killed = how == Ending::Stopped;
        if run.is_some_and(|run| run != self.run_number(i)) {
            return Vec::new();
        }
        let Some(started) =
            containers::seen(self.pod(), i).and_then(|s| s.state.running.as_ref()?.started_at)
        else {
            return Vec::new();
        };
        if killed
            && !self.object.meta.is_deleting()
            && changed::differs(self.pod(), i)
            && !self.has_lost_its_image(i)
        {
            return self.restart(i, Some(code));
        }
        let after = match containers::after(self.pod(), i, code) {
            _ if killed && containers::policy(self.pod(), i) == "Never" => After::Nothing,
            _ if killed => After::Again,
            after => after,
        };
        let ends = after == After::Nothing;
        let (wall, generation) = (self.out.server.wall(), self.object.meta.generation);
        let full = how == Ending::OutOfMemory;
        self.write(
            if full {
                Why::OutOfMemory
            } else {
                Why::Exited { code }
            },
            |pod| {
                if let Some(status) = containers::status(pod, i) {
                    status::terminate(status, code, wall);
                    status
                        .state
                        .terminated
                        .iter_mut()
                        .filter(|_| full)
                        .for_each(|end| end.reason = Str::new_static("OOMKilled"));
                }
                if ends {
                    status::end_phase(pod, wall);
                }
                status::set_conditions(pod, true, wall, generation);
            },
        );
        if self.object.meta.is_deleting() {
            let alone = self
                .pod()
                .status
                .container_statuses
                .iter()
                .all(|s| s.state.running.is_none());
            return if alone {
                vec![self.then(LEFT_TO_STOP_US, PodStep::Stopped)]
            } else {
                Vec::new()
            };
        }
        match after {
            After::Nothing => Vec::new(),
            After::Again => self.hold_back(i, wall.seconds() - started.seconds()),
            After::All => self.restart_all(),
        }
    }

    fn kill(&mut self) -> Jobs {
        let object = self.object.clone();
        let running = self.say_stopping();
        let stop = behaviour::seconds(&object.meta, "stop-delay")
            .unwrap_or(self.kubelets.timing.pod_stop)
            + self.pre_stop(&running);
        let grace = (object
            .meta
            .deletion_grace_period_seconds
            .unwrap_or(30)
            .max(0) as u64)
            .saturating_mul(SECOND);
        let delay = if running.is_empty() {
            5 * MS
        } else {
            stop.min(grace.max(MS))
        };
        vec![self.then(delay, PodStep::Stopped)]
    }

    fn stopped(&mut self) -> Jobs {
        let (wall, generation) = (self.out.server.wall(), self.object.meta.generation);
        self.write(Why::Stopped, |pod| status::stop(pod, wall, generation));
        if self.object.meta.is_deleting() {
            vec![self.then(3 * MS, PodStep::Remove)]
        } else {
            Vec::new()
        }
    }

    fn remove(&mut self) -> Jobs {
        let how = Delete {
            grace_seconds: Some(0),
            uid: Some(self.job.uid),
            ..Default::default()
        };
        // A Pod that is already gone needs no deletion.
        let _ = self.out.delete(&self.object.key(), how, Why::Removed);
        Vec::new()
    }

    /// Writes the actual status again, since it may have been changed while the node did not respond.
    fn report(&mut self) -> Jobs {
        let (wall, generation) = (self.out.server.wall(), self.object.meta.generation);
        if self.pod().status.phase == "Running" {
            self.write(Why::BackAgain, |pod| {
                status::set_conditions(pod, true, wall, generation)
            });
        }
        Vec::new()
    }

    fn container_id(&mut self) -> Str {
        let (a, b) = (self.out.server.rng.uid().0, self.out.server.rng.uid().0);
        format_smolstr!("containerd://{a:032x}{b:032x}")
    }

    /// Records Events for the stop of every running container: ephemeral ones first, sidecars last. Returns the main ones.
    pub fn say_stopping(&mut self) -> Vec<Str> {
        let object = self.object.clone();
        let status = &object.body::<Pod>().status;
        let running = |list: &[ContainerStatus]| -> Vec<Str> {
            list.iter()
                .filter(|s| s.state.running.is_some())
                .map(|s| s.name.clone())
                .collect()
        };
        let (own, sidecars) = (
            running(&status.container_statuses),
            running(&status.init_container_statuses),
        );
        let ephemeral = running(&status.ephemeral_container_statuses);
        for (list, names) in [
            ("ephemeralContainers", &ephemeral),
            ("containers", &own),
            ("initContainers", &sidecars),
        ] {
            for name in names {
                let field = format_smolstr!("spec.{list}{{{name}}}");
                self.out.event_at(
                    &object,
                    &field,
                    "Normal",
                    "Killing",
                    format_smolstr!("Stopping container {name}"),
                );
            }
        }
        own
    }

    fn say_started(&mut self, name: &str, image: &str, list: &str) {
        let (object, field) = (
            self.object.clone(),
            format_smolstr!("spec.{list}{{{name}}}"),
        );
        self.say_present(&object, &field, image);
        self.out
            .event_at(&object, &field, "Normal", "Created", "Container created");
        self.out
            .event_at(&object, &field, "Normal", "Started", "Container started");
    }

    fn say_present(&mut self, object: &Object, field: &Str, image: &str) {
        let pulled = format_smolstr!(
            "Container image {image:?} already present on machine and can be accessed by the pod"
        );
        self.out.event_at(object, field, "Normal", "Pulled", pulled);
    }
}
