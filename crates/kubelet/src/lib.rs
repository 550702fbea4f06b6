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
mod ipam;
mod memory;
mod nodes;
mod pod_sync;
mod pod_worker;
mod prober;
mod pulls;
mod registry;
mod resize;
mod restart;
mod rules;
mod sources;
mod start;
mod status;
mod termination;

use apiserver::Store;
use apiserver::journal::{Actor, EntryId, Op};
pub use containers::ContainerId;
use controller_runtime::client::LoopClient;
use controller_runtime::cluster::{ClusterConfig, Timing};
use controller_runtime::informer::Cache;
use controller_runtime::load::Loads;
use controller_runtime::watch::Event;
pub use descriptor::DESCRIPTOR;
use eviction::EvictionManager;
use ipam::PodNetwork;
use k8s_model::time::MS;
use k8s_model::{Object, ObjectRef, Str, Time, Uid};
use nodes::Outage;
use pod_sync::PodSync;
pub use pod_worker::{ContainerFault, PodJob};
use pod_worker::{Jobs, PodStep, PodWorker, PodWorkerState};
pub use prober::misdirected;
pub use registry::{can_be_pulled, corrected, is_assumed};
use sim_core::tree::Tree;
pub use sources::{Lack, lack};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Time from a Pod's arrival at its kubelet to the first status.
const ADMIT_US: u64 = 4 * MS;

/// All kubelets of the cluster.
#[derive(Clone, Debug)]
pub struct Kubelets {
    timing: Timing,
    workers: Tree<Uid, Rc<PodWorker>>,
    /// Pod network of each node that has a kubelet.
    networks: BTreeMap<Str, PodNetwork>,
    outages: Vec<Outage>,
    /// Return times of kubelets that were down.
    back: BTreeMap<Str, Time>,
    eviction: EvictionManager,
    /// Sources of the usage of Pods.
    pub loads: Loads,
    /// Interval of Lease renewals, in microseconds.
    heartbeat: u64,
    /// Number of the last node registered: each gets addresses of its own.
    registered: usize,
}

impl Kubelets {
    /// Creates kubelets without Pods.
    pub fn new(config: &ClusterConfig) -> Self {
        let names = config.nodes.iter().map(|node| Str::from(&node.name));
        let networks = names.zip(1..).map(|(name, n)| (name, PodNetwork::new(n)));
        let heartbeat = nodes::heartbeat(config.node_monitor_grace);
        let registered = config.nodes.len();
        Kubelets {
            timing: config.timing,
            workers: Tree::default(),
            networks: networks.collect(),
            outages: Vec::new(),
            back: BTreeMap::new(),
            eviction: EvictionManager::default(),
            loads: Loads::default(),
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
            let cause = Some(id);
            (now.after(after), PodJob { uid, step, cause })
        };
        if event.op == Op::Deleted {
            self.forget(uid);
            return Vec::new();
        }
        if pod.is_terminal() {
            self.release_ip(uid);
        }
        let mut jobs = Vec::new();
        if !self.workers.contains_key(&uid) {
            // A Pod bound to a node that does not exist has no kubelet.
            if pod.node_name.is_empty() || !self.networks.contains_key(&pod.node_name) {
                return Vec::new();
            }
            if !pod.is_terminal() {
                jobs.push(job(ADMIT_US, PodStep::Admit));
            }
            let worker = PodWorker::new(object, &pod.node_name, &pod.spec);
            self.workers.insert(uid, Rc::new(worker));
        } else if event
            .before
            .is_some_and(|before| before.meta.generation != object.meta.generation)
            && !object.meta.is_deleting()
        {
            jobs.push(job(ADMIT_US, PodStep::SpecChanged));
        }
        // Another client has set a terminal phase: the containers must be stopped.
        let is_over = pod.is_terminal()
            && pod
                .status
                .every_container()
                .any(|status| status.state.running.is_some());
        if (object.meta.is_deleting() || is_over)
            && let Some(worker) = self.workers.get_mut(&uid)
            && Rc::make_mut(worker).terminate(object)
        {
            let delay = if is_over { 0 } else { MS };
            jobs.push(job(delay, PodStep::SyncTerminating));
        }
        jobs
    }

    /// Returns the state of the kubelets about each Pod that they run, as text.
    pub fn pod_states(&self) -> impl Iterator<Item = (Uid, String)> {
        self.workers.iter().map(|(uid, worker)| {
            let down = self.outages.iter().any(|outage| outage.node == worker.node);
            (*uid, format!("{} {down}", worker.told()))
        })
    }

    /// Returns the key of a Pod that a kubelet runs.
    pub fn pod_of(&self, uid: Uid) -> Option<&ObjectRef> {
        self.workers.get(&uid).map(|worker| &worker.pod)
    }

    /// Drops Pods that no longer exist.
    pub fn forget_gone(&mut self, is_there: impl Fn(&ObjectRef, Uid) -> bool) {
        let gone: Vec<Uid> = self
            .workers
            .iter()
            .filter(|(uid, worker)| !is_there(&worker.pod, **uid))
            .map(|(uid, _)| *uid)
            .collect();
        for uid in gone {
            self.forget(uid);
        }
    }

    fn forget(&mut self, uid: Uid) {
        self.release_ip(uid);
        self.workers.remove(&uid);
        self.loads.forget(uid);
    }

    /// Frees the address of a Pod whose sandbox is gone.
    fn release_ip(&mut self, uid: Uid) {
        let Some(worker) = self.workers.get(&uid) else {
            return;
        };
        if let Some(host) = worker.host
            && let Some(network) = self.networks.get_mut(&worker.node)
        {
            network.release(host);
            if let Some(worker) = self.workers.get_mut(&uid) {
                Rc::make_mut(worker).host = None;
            }
        }
    }

    /// Returns true if a step brings its Pod nearer to its goal: a container becomes ready, an init container ends, or a container that is
    /// not started again completes.
    pub fn progresses(&self, job: &PodJob, store: &Store) -> bool {
        let goes_on = matches!(
            job.step,
            PodStep::Init(_) | PodStep::Started(_) | PodStep::Ready(_)
        );
        let completes = matches!(job.step, PodStep::Exit { code: 0, .. });
        (goes_on || completes)
            && self
                .workers
                .get(&job.uid)
                .and_then(|worker| store.get(&worker.pod))
                .filter(|object| object.meta.uid == job.uid && !object.meta.is_deleting())
                .and_then(|object| object.pod())
                .is_some_and(|pod| goes_on || pod.spec.restart_policy != "Always")
    }

    /// Returns the Pod and the place among its containers ([`PodSpec::every_container`](k8s_model::pod::PodSpec::every_container)) of the
    /// process that a job runs; `None` if the job runs none, or its kubelet is down.
    pub fn process(&self, job: &PodJob, store: &Store) -> Option<(Rc<Object>, usize)> {
        let PodStep::Process { id, .. } = job.step else {
            return None;
        };
        let worker = self.workers.get(&job.uid)?;
        if self.outages.iter().any(|outage| outage.node == worker.node) {
            return None;
        }
        let object = store.get(&worker.pod)?;
        let spec = &object.pod()?.spec;
        let container = id.container(spec)?;
        let mut every = spec.every_container();
        let place = every.position(|(_, one)| one.name == container.name)?;
        (object.meta.uid == job.uid && !object.meta.is_deleting()).then(|| (object.clone(), place))
    }

    /// Runs a step; returns the resulting jobs.
    pub fn run(&mut self, job: PodJob, cache: &Cache, now: Time, out: &mut LoopClient<'_>) -> Jobs {
        let Some(worker) = self.workers.get(&job.uid) else {
            return Vec::new();
        };
        if let Some(outage) = self.outages.iter_mut().find(|o| o.node == worker.node) {
            outage.parked.push(job);
            return Vec::new();
        }
        let Some(object) = out
            .store()
            .get(&worker.pod)
            .filter(|o| o.meta.uid == job.uid)
            .cloned()
        else {
            return Vec::new();
        };
        let is_due = match job.step {
            step if step.is_container_end() => true,
            PodStep::SyncTerminating | PodStep::SyncTerminated => {
                worker.state == PodWorkerState::Terminating
            }
            PodStep::Remove => worker.state == PodWorkerState::Terminated,
            _ => worker.state == PodWorkerState::Sync && !object.meta.is_deleting(),
        };
        if !is_due {
            return Vec::new();
        }
        let Some(worker) = self.workers.remove(&job.uid) else {
            return Vec::new();
        };
        out.origin.actor = Actor::kubelet(&worker.node);
        out.origin.cause = job.cause;
        let mut sync = PodSync {
            kubelets: self,
            worker,
            object,
            job: &job,
            now,
            cache,
            out,
            wrote: None,
        };
        let jobs = sync.run();
        let worker = sync.worker;
        self.workers.insert(job.uid, worker);
        jobs
    }
}
