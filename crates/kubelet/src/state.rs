//! State of the kubelets, and the steps they take.

use apiserver::journal::EntryId;
use controller_runtime::cluster::Timing;
use controller_runtime::informer::Cache;
use controller_runtime::out::Out;
use fault::Load;
use k8s_model::pod::{Pod, PodSpec, ProbeKind};
use k8s_model::{Object, ObjectRef, Str, Time, Uid};
use sim_core::tree::Tree;
use std::collections::BTreeMap;
use std::rc::Rc;

/// A step of a kubelet for a Pod.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PodStep {
    Admit,
    Start,
    Init(u32),
    /// Image pulls have failed, and are not retried before this time.
    PullBackOff(Time),
    /// A container's startup probe has succeeded.
    Started(u32),
    /// A container becomes ready as planned at its start.
    Ready(u32),
    /// A container ends with a code, in the run of this number.
    Exit(u32, i32, Option<i32>),
    /// A container is killed if it uses more memory than its limit.
    Memory(u32),
    /// A container that the kubelet stopped ends with a code, in the run of this number.
    Killed(u32, i32, i32),
    /// A probe that fails, or failed, runs.
    Probe(u32, ProbeKind),
    /// A fault makes a probe fail (`true`: by timeout), or succeed.
    ForceProbe(ProbeKind, Option<bool>),
    /// A fault sets the readiness of the first container.
    ForceReady(bool),
    /// The containers of an evicted Pod have stopped.
    Evicted,
    BackOff(u32),
    /// A container restarts, unless it has restarted since the run of this number.
    Restart(u32, i32),
    /// The Pod's spec has changed.
    Changed,
    /// All containers have been stopped, to be restarted.
    Anew,
    Kill,
    Stopped,
    Remove,
    Report,
}

/// A fault injected into the first container of a Pod.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Forced {
    /// It ends with this code.
    Exit(i32),
    /// The container of this number, whichever it is, ends with this code.
    End(u32, i32),
    /// Its readiness is set by hand.
    Ready(bool),
    /// It uses as much memory as a fault says.
    Memory,
    /// The first probe of this kind fails (`true`: by timeout), or succeeds again.
    Probe(ProbeKind, Option<bool>),
}

/// A step for one Pod, due at some time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PodJob {
    pub(super) uid: Uid,
    pub(super) step: PodStep,
    pub(super) cause: Option<EntryId>,
}

impl PodJob {
    /// Returns true if it is about this Pod.
    pub fn is_of(&self, uid: Uid) -> bool {
        self.uid == uid
    }

    /// Returns true if it repeats a failing probe.
    pub fn is_probe(&self) -> bool {
        matches!(self.step, PodStep::Probe(..))
    }
}

/// A kubelet's state of one of its Pods.
#[derive(Clone, Debug)]
pub(super) struct Running {
    pub(super) pod: ObjectRef,
    pub(super) node: Str,
    pub(super) stopping: bool,
    /// The spec whose resources the node has set aside.
    pub(super) allocated: Rc<PodSpec>,
    /// Nothing for most Pods, whose containers just run.
    pub(super) course: Option<Box<Course>>,
}

/// What a kubelet keeps of a Pod whose containers end, are stopped or are probed.
#[derive(Clone, Debug, Default)]
pub(super) struct Course {
    pub(super) restarts: BTreeMap<u32, i32>,
    /// Restarts since a container last ran long enough to reset its back-off.
    pub(super) held_back: BTreeMap<u32, i32>,
    /// The run of each container that is being stopped: the kubelet syncs a Pod again only when that is done.
    pub(super) stops: BTreeMap<u32, i32>,
    pub(super) pulls: Tries,
    /// When the containers that have probes started.
    pub(super) started: BTreeMap<u32, Time>,
    pub(super) probes: BTreeMap<(u32, ProbeKind), ProbeState>,
    /// The message of its eviction, if it is being evicted.
    pub(super) evicted: Option<Str>,
}

/// All kubelets of the cluster.
#[derive(Clone, Debug)]
pub struct Kubelets {
    pub(super) timing: Timing,
    pub(super) pods: Tree<Uid, Rc<Running>>,
    /// The last address given out on each node that has a kubelet.
    pub(super) next_ip: BTreeMap<Str, u32>,
    pub(super) silent: Vec<Silent>,
    /// When kubelets that were down came back.
    pub(super) back: BTreeMap<Str, Time>,
    pub(super) pressed: Vec<Pressure>,
    /// What Pods use, as faults have set it.
    pub loads: Vec<Load>,
    /// How often a kubelet renews its Lease.
    pub(super) heartbeat: u64,
    /// Number of nodes ever registered: each gets its own network.
    pub(super) registered: usize,
}

pub(super) type Jobs = Vec<(Time, PodJob)>;

/// One step for one Pod.
pub(super) struct PodPass<'p, 'o> {
    pub(super) kubelets: &'p mut Kubelets,
    pub(super) object: Rc<Object>,
    pub(super) job: &'p PodJob,
    pub(super) now: Time,
    pub(super) cache: &'p Cache,
    pub(super) out: &'p mut Out<'o>,
    pub(super) wrote: Option<EntryId>,
}

/// How a container ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Ending {
    /// By itself.
    Own,
    /// Stopped by its kubelet.
    Stopped,
    /// Killed by the kernel: it used more memory than its limit.
    OutOfMemory,
}

/// State of a container's probe.
#[derive(Clone, Debug, Default)]
pub(super) struct ProbeState {
    /// Forced to fail by a fault; `true`: by timeout.
    pub(super) forced: Option<bool>,
    /// When it runs next, if scheduled.
    pub(super) due: Option<Time>,
    /// Consecutive failures, or consecutive successes as a negative number.
    pub(super) row: i32,
}

/// Failed tries to pull a Pod's images.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tries {
    pub(super) count: i32,
    /// End of the back-off after the last one; steps planned after an earlier one are void.
    pub(super) until: Time,
}

/// A kubelet that is down.
#[derive(Clone, Debug)]
pub(super) struct Silent {
    pub(super) node: Str,
    /// Its last heartbeat.
    pub(super) since: Time,
    /// Jobs that fell due while it was down.
    pub(super) parked: Vec<PodJob>,
}

/// A node that has too little memory.
#[derive(Clone, Debug)]
pub(super) struct Pressure {
    pub(super) node: Str,
    /// Bytes still to be reclaimed from Pods.
    pub(super) missing: i64,
    /// When it had enough again.
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
