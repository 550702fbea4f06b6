//! State of the kubelets, and their steps.

use apiserver::journal::EntryId;
use controller_runtime::client::LoopClient;
use controller_runtime::cluster::Timing;
use controller_runtime::informer::Cache;
use fault::Load;
use k8s_model::pod::{Pod, PodSpec, ProbeKind};
use k8s_model::{Object, ObjectRef, Str, Time, Uid};
use sim_core::tree::Tree;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Step of a kubelet for a Pod.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PodStep {
    Admit,
    Start,
    Init(u32),
    /// Image pull back-off, until this time.
    PullBackOff(Time),
    /// Success of a container's startup probe.
    Started(u32),
    /// Planned readiness of a container.
    Ready(u32),
    /// Exit of a container with a code, in the run of this number.
    Exit(u32, i32, Option<i32>),
    /// Check of a container's memory against its limit.
    Memory(u32),
    /// Exit, with a code, of a container that the kubelet stopped, in the run of this number.
    Killed(u32, i32, i32),
    /// Run of a probe that fails, or failed.
    Probe(u32, ProbeKind),
    /// Forced failure (`true`: by timeout) or success of a probe.
    ForceProbe(ProbeKind, Option<bool>),
    /// Forced readiness of the first container.
    ForceReady(bool),
    /// Stop of the containers of an evicted Pod.
    Evicted,
    BackOff(u32),
    /// Restart of a container, unless it has restarted since the run of this number.
    Restart(u32, i32),
    /// Change of the Pod's spec.
    Changed,
    /// Restart of all containers after they have been stopped.
    Anew,
    Kill,
    Stopped,
    Remove,
    Report,
}

/// Fault injected into the first container of a Pod.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ContainerFault {
    /// Exit with this code.
    Exit(i32),
    /// Exit of the container of this number, with this code.
    End(u32, i32),
    /// Readiness set by hand.
    Ready(bool),
    /// Memory usage set by a fault.
    Memory,
    /// Failure (`true`: by timeout) or renewed success of the first probe of this kind.
    Probe(ProbeKind, Option<bool>),
}

/// Step for one Pod, due at some time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PodJob {
    pub(super) uid: Uid,
    pub(super) step: PodStep,
    pub(super) cause: Option<EntryId>,
}

impl PodJob {
    /// Returns true if the job is for this Pod.
    pub fn is_of(&self, uid: Uid) -> bool {
        self.uid == uid
    }

    /// Returns true if the job repeats a failing probe.
    pub fn is_probe(&self) -> bool {
        matches!(self.step, PodStep::Probe(..))
    }
}

/// Kubelet's state of one of its Pods.
#[derive(Clone, Debug)]
pub(super) struct Running {
    pub(super) pod: ObjectRef,
    pub(super) node: Str,
    pub(super) stopping: bool,
    /// Spec whose resources the node has allocated.
    pub(super) allocated: Rc<PodSpec>,
    /// Container state; `None` for most Pods, whose containers just run.
    pub(super) course: Option<Box<Course>>,
}

/// Kubelet's state of a Pod whose containers end, are stopped or are probed.
#[derive(Clone, Debug, Default)]
pub(super) struct Course {
    pub(super) restarts: BTreeMap<u32, i32>,
    /// Restarts since a container last ran long enough to reset its back-off.
    pub(super) held_back: BTreeMap<u32, i32>,
    /// Run number of each container that is being stopped: the kubelet syncs the Pod again only when that is done.
    pub(super) stops: BTreeMap<u32, i32>,
    pub(super) pulls: Tries,
    /// Start times of the containers with probes.
    pub(super) started: BTreeMap<u32, Time>,
    pub(super) probes: BTreeMap<(u32, ProbeKind), ProbeState>,
    /// Message of the eviction in progress, if any.
    pub(super) evicted: Option<Str>,
}

/// All kubelets of the cluster.
#[derive(Clone, Debug)]
pub struct Kubelets {
    pub(super) timing: Timing,
    pub(super) pods: Tree<Uid, Rc<Running>>,
    /// Last address assigned on each node that has a kubelet.
    pub(super) next_ip: BTreeMap<Str, u32>,
    pub(super) silent: Vec<Silent>,
    /// Return times of kubelets that were down.
    pub(super) back: BTreeMap<Str, Time>,
    pub(super) pressed: Vec<Pressure>,
    /// Usage of Pods, as set by faults.
    pub loads: Vec<Load>,
    /// Interval of Lease renewals, in microseconds.
    pub(super) heartbeat: u64,
    /// Number of nodes ever registered: each gets a network of its own.
    pub(super) registered: usize,
}

pub(super) type Jobs = Vec<(Time, PodJob)>;

/// Step for one Pod.
pub(super) struct PodPass<'p, 'o> {
    pub(super) kubelets: &'p mut Kubelets,
    pub(super) object: Rc<Object>,
    pub(super) job: &'p PodJob,
    pub(super) now: Time,
    pub(super) cache: &'p Cache,
    pub(super) out: &'p mut LoopClient<'o>,
    pub(super) wrote: Option<EntryId>,
}

/// Way in which a container ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Ending {
    /// Exit of its own.
    Own,
    /// Stop by the kubelet.
    Stopped,
    /// Kill by the kernel for exceeding the memory limit.
    OutOfMemory,
}

/// State of a container's probe.
#[derive(Clone, Debug, Default)]
pub(super) struct ProbeState {
    /// Failure forced by a fault; `true`: by timeout.
    pub(super) forced: Option<bool>,
    /// Time of the next run, if scheduled.
    pub(super) due: Option<Time>,
    /// Consecutive failures, or consecutive successes as a negative number.
    pub(super) row: i32,
}

/// Failed attempts to pull a Pod's images.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tries {
    pub(super) count: i32,
    /// End of the back-off after the last attempt; steps planned after an earlier one are void.
    pub(super) until: Time,
}

/// Kubelet that is down.
#[derive(Clone, Debug)]
pub(super) struct Silent {
    pub(super) node: Str,
    /// Time of the last heartbeat.
    pub(super) since: Time,
    /// Jobs that became due while the kubelet was down.
    pub(super) parked: Vec<PodJob>,
}

/// Node under memory pressure.
#[derive(Clone, Debug)]
pub(super) struct Pressure {
    pub(super) node: Str,
    /// Bytes still to be reclaimed from Pods.
    pub(super) missing: i64,
    /// Time at which the pressure ended.
    pub(super) relieved: Option<Time>,
}

impl PodPass<'_, '_> {
    pub(super) fn pod(&self) -> &Pod {
        self.object.body()
    }

    pub(super) fn then(&self, after: u64, step: PodStep) -> (Time, PodJob) {
        let cause = self.wrote.or(self.job.cause);
        (
            self.now.after(after),
            PodJob {
                step,
                cause,
                ..self.job.clone()
            },
        )
    }
}

pub(super) const MAX_BACK_OFF: i32 = 300;
