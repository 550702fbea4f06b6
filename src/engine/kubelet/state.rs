//! What the kubelets know, and the steps they take.

use crate::api::pod::{Container, Pod};
use crate::api::{Object, ObjectRef, Str, Time, Uid};
use crate::engine::cluster::Timing;
use crate::engine::informer::Cache;
use crate::engine::journal::EntryId;
use crate::engine::out::Out;
use crate::engine::tree::Tree;
use std::collections::BTreeMap;
use std::rc::Rc;

/// What a kubelet does next for a Pod.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    Admit,
    Start,
    Init(u32),
    /// Images could not be pulled, and are not tried again before this time.
    PullBackOff(Time),
    /// A container's startup probe has succeeded.
    Started(u32),
    /// A container has become ready as it was to be expected when it started.
    Ready(u32),
    /// A container ends with a code, in the run of this number.
    Exit(u32, i32, Option<i32>),
    /// A container that the kubelet stopped ends with a code, in the run of this number.
    Killed(u32, i32, i32),
    /// A probe that fails, or failed, runs.
    Probe(u32, Probed),
    /// A person makes a probe fail, `true` by not answering, or succeed.
    ForceProbe(Probed, Option<bool>),
    /// A person sets the readiness of the first container.
    ForceReady(bool),
    /// The containers of a Pod that had to go for its node's sake have stopped.
    Evicted,
    BackOff(u32),
    /// A container starts again, unless it has done so since its run of this number.
    Restart(u32, i32),
    /// What its Pod asks for has changed.
    Changed,
    /// All containers have been stopped, to be started again.
    Anew,
    Kill,
    Stopped,
    Remove,
    Report,
}

/// What a person forces on the first container of a Pod.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Forced {
    /// It ends with this code.
    Exit(i32),
    /// Its readiness is set by hand.
    Ready(bool),
    /// The first probe of this kind fails, `true` by not answering in time, or succeeds again.
    Probe(Probed, Option<bool>),
}

/// A step for one Pod, due at some time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PodJob {
    pub(super) uid: Uid,
    pub(super) step: Step,
    pub(super) cause: Option<EntryId>,
}

impl PodJob {
    /// Whether it is about this Pod.
    pub(in crate::engine) fn is_of(&self, uid: Uid) -> bool {
        self.uid == uid
    }

    /// Whether it asks once more what was answered badly before.
    pub(in crate::engine) fn is_probe(&self) -> bool {
        matches!(self.step, Step::Probe(..))
    }
}

/// What a kubelet knows of a Pod of its own.
#[derive(Clone, Debug)]
pub(super) struct Running {
    pub(super) pod: ObjectRef,
    pub(super) node: Str,
    pub(super) stopping: bool,
    pub(super) restarts: BTreeMap<u32, i32>,
    /// Restarts since a container last ran for long: they decide how long it is held back.
    pub(super) held_back: BTreeMap<u32, i32>,
    /// The run of a container that is being stopped: the kubelet syncs a Pod anew only when that is done.
    pub(super) stops: BTreeMap<u32, i32>,
    pub(super) pulls: Tries,
    /// When the containers that have probes started.
    pub(super) started: BTreeMap<u32, Time>,
    pub(super) probes: BTreeMap<(u32, Probed), ProbeState>,
    /// Why it has to go for its node's sake.
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
    /// When those came back that have been silent.
    pub(super) back: BTreeMap<Str, Time>,
    pub(super) pressed: Vec<Pressure>,
    /// How often a kubelet renews its Lease.
    pub(super) heartbeat: u64,
    /// Nodes there have ever been: each gets a network of its own.
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

/// Which of a container's probes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[allow(missing_docs)]
pub enum Probed {
    Startup,
    Readiness,
    Liveness,
}

impl Probed {
    /// The probe that a word means: `liveness`.
    pub fn named(word: &str) -> Option<Probed> {
        [Probed::Startup, Probed::Readiness, Probed::Liveness].into_iter().find(|kind| kind.word() == word)
    }

    /// `liveness`
    pub fn word(self) -> &'static str {
        match self {
            Probed::Startup => "startup",
            Probed::Readiness => "readiness",
            Probed::Liveness => "liveness",
        }
    }

    /// Whether a container has such a probe.
    pub fn is_of(self, container: &Container) -> bool {
        match self {
            Probed::Startup => container.startup_probe.is_some(),
            Probed::Readiness => container.readiness_probe.is_some(),
            Probed::Liveness => container.liveness_probe.is_some(),
        }
    }

    pub(in crate::engine) fn title(self) -> &'static str {
        match self {
            Probed::Startup => "Startup",
            Probed::Readiness => "Readiness",
            Probed::Liveness => "Liveness",
        }
    }

    pub(in crate::engine) fn field(self) -> &'static str {
        match self {
            Probed::Startup => "startupProbe",
            Probed::Readiness => "readinessProbe",
            Probed::Liveness => "livenessProbe",
        }
    }
}

/// How one probe of a container stands.
#[derive(Clone, Debug, Default)]
pub(super) struct ProbeState {
    /// A person made it fail; `true` by not answering in time.
    pub(super) forced: Option<bool>,
    /// When it runs next, if anybody waits for its result.
    pub(super) due: Option<Time>,
    /// Failures in a row, or successes as a negative number.
    pub(super) row: i32,
}

/// How often the images of a Pod have been tried in vain.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tries {
    pub(super) count: i32,
    /// Until when the last one is backed off from: what was planned after an earlier one is void.
    pub(super) until: Time,
}

/// A kubelet that says nothing.
#[derive(Clone, Debug)]
pub(super) struct Silent {
    pub(super) node: Str,
    /// Its last heartbeat.
    pub(super) since: Time,
    /// What fell due meanwhile.
    pub(super) parked: Vec<PodJob>,
}

/// A node that has too little memory.
#[derive(Clone, Debug)]
pub(super) struct Pressure {
    pub(super) node: Str,
    /// Bytes still to be had from Pods.
    pub(super) missing: i64,
    /// When it had enough again.
    pub(super) relieved: Option<Time>,
}

impl PodPass<'_, '_> {
    pub(super) fn pod(&self) -> &Pod {
        self.object.body()
    }

    pub(super) fn then(&self, after: u64, step: Step) -> (Time, PodJob) {
        let cause = self.wrote.or(self.job.cause);
        (self.now.after(after), PodJob { step, cause, ..self.job.clone() })
    }
}

pub(super) const MAX_BACK_OFF: i32 = 300;
