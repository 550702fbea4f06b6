//! Why something has not happened, as data. `diagnose` finds it, `headline` makes messages of it.

use apiserver::journal::Op;
use i18n::Message;
use k8s_model::Str;

pub use super::cure::Cure;
pub use super::fact_label::FactLabel;
pub use super::gateway_fault::GatewayFault;
pub use scheduler::refuses::Refuses;

/// What a volume lacks to serve a claim.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unfit {
    /// It is smaller.
    Small {
        /// Its capacity.
        has: Str,
        /// What the claim requests.
        asks: Str,
    },
    /// It is of another class.
    Class {
        /// Its class.
        has: Str,
        /// The claim's.
        asks: Str,
    },
    /// It lacks an access mode.
    Access {
        /// What it has.
        has: Str,
        /// The mode asked for.
        asks: Str,
    },
    /// Filesystem or Block.
    Mode {
        /// What it is.
        has: Str,
        /// What is asked for.
        asks: Str,
    },
    /// The claim's selector does not match its labels.
    Selector,
    /// It is bound to or kept for another claim.
    Taken {
        /// That claim.
        by: Str,
        /// Its phase.
        phase: Str,
    },
    /// Nothing is against it: the binder has not looked yet.
    Fits,
}

/// One thing that decides, with its value.
#[derive(Clone, PartialEq, Debug)]
pub enum DecidingFact {
    /// A node's refusal.
    Node(Str, Refuses),
    /// A node that would do.
    Fits(Str),
    /// A volume and what it lacks.
    Volume(Str, Unfit),
    /// A number.
    Count(FactLabel, i64),
    /// A word or a name.
    Word(FactLabel, Str),
    /// A value in words.
    Said(FactLabel, Message),
    /// An instant, in milliseconds.
    At(FactLabel, u64),
}

/// What is missing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Waits {
    // Pods.
    /// A Pod has scheduling gates.
    Gated,
    /// A Pod is for another scheduler.
    OtherScheduler(Str),
    /// A Pod fits no node.
    NoNode {
        /// Number of nodes that refuse it.
        nodes: usize,
    },
    /// Others go so that it fits on this node.
    Preempting(Str),
    /// The claim of a Pod does not exist.
    ClaimMissing(Str),
    /// The claim of a Pod is on its way out.
    ClaimLeaves(Str),
    /// The claim of a Pod has lost its volume.
    ClaimLost(Str),
    /// The claim of a Pod is not bound.
    ClaimUnbound(Str),
    /// The kubelet of its node is silent.
    NodeSilent(Str),
    /// Its node does not exist.
    NodeMissing(Str),
    /// A ConfigMap or Secret that it names does not exist.
    SourceMissing(Str),
    /// A ConfigMap or Secret lacks a key that it names.
    KeyMissing {
        /// `ConfigMap settings`
        of: Str,
        /// The key.
        key: Str,
    },
    /// The image cannot be pulled.
    Image(Str),
    /// A container ends again and again.
    Crashes {
        /// The container.
        container: Str,
        /// Its exit code.
        code: i32,
    },
    /// A container uses more memory than its limit.
    OutOfMemory {
        /// The container.
        container: Str,
        /// Its limit.
        limit: Str,
    },
    /// A probe asks a port where nothing listens.
    ProbePort {
        /// The container.
        container: Str,
        /// `liveness`
        probe: Str,
        /// The port.
        port: i32,
    },
    /// It runs and is not ready.
    NotReady(Str),
    /// An init container does not end well.
    Init(Str),
    /// It has failed for good.
    PodFailed(Str),
    /// It is deleted and held by this.
    Held(Str),

    // Faults.
    /// A fault has slowed the loop that it waits for, and others are before it.
    SlowLoop {
        /// The loop.
        name: Str,
        /// What each pass takes.
        each: Str,
    },
    /// A fault has slowed the loop that is processing it.
    SlowPass {
        /// The loop.
        name: Str,
        /// What each pass takes.
        each: Str,
    },
    /// It is in the queue of a slowed loop, which has nothing to do for it.
    SlowIdle(Str),
    /// A fault delays a watch event.
    LateEvent {
        /// Whose watch it is.
        component: Str,
        /// Of which kind.
        kind: Str,
    },
    /// A fault delays a watch event about the object itself.
    OwnLate {
        /// Whose watch it is.
        component: Str,
        /// What happened to it.
        told: Op,
    },
    /// A fault has dropped a watch event.
    LostEvent {
        /// Whose watch it is.
        component: Str,
        /// Of which kind.
        kind: Str,
        /// Whether everything is listed soon.
        lists: bool,
    },

    // Workloads.
    /// A new template while the rollout is paused.
    Paused,
    /// The API server refuses new Pods.
    Refused(Str),
    /// Pod Security refuses new Pods at this level.
    Insecure(Str),
    /// The API server refused a Pod, and would accept it now: the controller has not tried again.
    RefusedBefore,
    /// A quota has no room for more Pods.
    Quota {
        /// The quota.
        name: Str,
        /// The resource that is exceeded.
        resource: Str,
        /// What is used of it.
        used: Str,
        /// Its limit.
        hard: Str,
    },
    /// No progress for so many seconds.
    Deadline(i64),
    /// A rollout that waits for its new Pods.
    Rollout {
        /// Pods of the new template that are ready.
        updated: i32,
        /// Pods wanted.
        desired: i32,
    },
    /// Pods are missing or not ready.
    Pods {
        /// Ready.
        ready: i32,
        /// Wanted.
        desired: i32,
    },
    /// A StatefulSet does nothing more until this Pod is ready.
    Ordinal {
        /// That Pod.
        pod: Str,
        /// The next one.
        then: Str,
        /// For how many seconds it must have been ready: `minReadySeconds`.
        seconds: i64,
    },
    /// A StatefulSet waits for a Pod of an earlier template that never becomes ready.
    StaysBroken(Str),
    /// Pods keep their old revision until a person acts: `OnDelete`, or a partition.
    KeepsOld {
        /// So many.
        pods: i32,
        /// `OnDelete` or the partition.
        because: Str,
    },
    /// The Service that would name the Pods does not exist.
    NoService(Str),
    /// Nodes without a Pod of the DaemonSet.
    NodesLeftOut(usize),
    /// A Job has failed.
    JobFailed(Str),
    /// A Job or CronJob is suspended.
    Suspended,
    /// A Job waits before it tries again.
    BackOff {
        /// Failures until now.
        failed: i32,
        /// How many it may have.
        limit: i32,
    },
    /// A CronJob whose next run is not due.
    NotDue,
    /// A CronJob whose last run has not ended.
    StillRuns(Str),
    /// A time zone that is not known.
    Zone(Str),
    /// An autoscaler cannot work.
    NoScaling(Str),
    /// A namespace is deleted and not empty yet.
    NamespaceContent {
        /// Objects in it.
        objects: usize,
        /// The kind of the one that is in the way.
        kind: Str,
        /// Its name.
        name: Str,
    },
    /// A budget lets no Pod go.
    NoDisruption,
    /// A person drains a node, and a budget refuses the eviction of a Pod.
    EvictionRefused {
        /// The Pod.
        pod: Str,
        /// The budget.
        budget: Str,
    },

    // Nodes.
    /// A node is not ready.
    NodeNotReady,
    /// The kubelet of a node is silent, and the control plane has not marked it yet.
    NodeSilentUnnoticed,

    // Storage.
    /// No class, and no volume that fits.
    NoClass,
    /// The class does not exist, and no volume fits.
    ClassMissing(Str),
    /// The class waits for a Pod that uses the claim.
    FirstConsumer,
    /// The class's provisioner is not running.
    NoProvisioner(Str),
    /// The volume that it names does not exist or does not fit.
    NamedVolume(Str),
    /// It fits a volume; the binder looks at all claims every 15 s.
    NextLook(Str),
    /// Its class came after the binder's last look at all claims.
    NextLookForClass(Str),
    /// Deleted, but a Pod uses it, or a claim has it.
    InUse(Str),
    /// The volume is gone.
    Lost(Str),
    /// The claim of a volume is gone, and the volume is kept.
    Released(Str),
    /// A volume could not be deleted.
    VolumeFailed,

    // Configuration.
    /// So many Pods have a version of it that is no longer the current one, until they are restarted.
    OldConfig(usize),
    /// The role of a binding does not exist.
    RoleMissing(k8s_model::Kind, Str),

    // Services.
    /// There is none of this name here, but in another namespace.
    ServiceElsewhere {
        /// The Service.
        service: Str,
        /// The namespace where it is.
        namespace: Str,
    },
    /// No selector: somebody else has to write the addresses.
    NoSelector,
    /// The namespace has no Pod at all.
    NoPods,
    /// No Pod has the label.
    LabelDiffers {
        /// The key.
        key: Str,
        /// The value asked for.
        value: Str,
    },
    /// Pods match, none is ready.
    NoneReady(usize),
    /// No container has a port of this name.
    NoPort(Str),
    /// No ready Pod listens on the port that requests are sent to.
    NotListening(i32),
    /// NetworkPolicies deny every other Pod a connection to the Pods of a Service.
    Isolated {
        /// Their names.
        policies: Vec<Str>,
        /// At which end: `Ingress` or `Egress`.
        direction: &'static str,
        /// A port of the Service that no ready Pod listens on either.
        unanswered: Option<i32>,
    },

    // Ingresses.
    /// It names no class.
    NoIngressClass,
    /// The class that it names does not exist.
    IngressClassMissing(Str),
    /// A path leads to a Service that does not exist.
    BackendMissing {
        /// Host and path.
        path: Str,
        /// The Service.
        service: Str,
    },
    /// A path leads to a port that its Service does not have.
    BackendPort {
        /// Host and path.
        path: Str,
        /// The Service.
        service: Str,
        /// The port.
        port: Str,
    },
    /// A path leads to a Service without a ready endpoint.
    BackendNotReady {
        /// Host and path.
        path: Str,
        /// The Service.
        service: Str,
    },

    /// NetworkPolicies keep the ingress controller from the endpoints of a path.
    BackendDenied {
        /// Host and path.
        path: Str,
        /// The policies, by name.
        policies: Vec<Str>,
    },

    /// Something of the Gateway API is not served.
    Gateway(GatewayFault),
}

/// How an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Health {
    /// As it should be.
    Well,
    /// Worth knowing; nothing is wrong.
    Note,
    /// Something is under way.
    Waiting,
    /// Something has gone wrong.
    Stuck,
}

impl Waits {
    /// How an object is that waits for this.
    pub fn health(&self) -> Health {
        use Waits::*;
        match self {
            NodesLeftOut(_)
            | NoService(_)
            | KeepsOld { .. }
            | NoSelector
            | Released(_)
            | NoDisruption
            | NotDue
            | SlowIdle(_)
            | OldConfig(_)
            | Isolated { .. }
            | Gateway(GatewayFault::ForeignController { .. })
            | RoleMissing(..) => Health::Note,
            waits if waits.is_bad() => Health::Stuck,
            _ => Health::Waiting,
        }
    }

    /// Whether it has gone wrong; otherwise it waits, as it should.
    pub fn is_bad(&self) -> bool {
        use Waits::*;
        !matches!(
            self,
            Gated
                | Preempting(_)
                | Paused
                | Rollout { .. }
                | Pods { .. }
                | Ordinal { .. }
                | KeepsOld { .. }
                | NodesLeftOut(_)
                | NoService(_)
                | Suspended
                | BackOff { .. }
                | NotDue
                | StillRuns(_)
                | NoDisruption
                | ClaimUnbound(_)
                | FirstConsumer
                | NextLook(_)
                | NextLookForClass(_)
                | InUse(_)
                | Held(_)
                | Released(_)
                | NoSelector
                | NoPods
                | NotReady(_)
                | SlowLoop { .. }
                | SlowPass { .. }
                | SlowIdle(_)
                | LateEvent { .. }
                | OwnLate { .. }
                | LostEvent { lists: true, .. }
                | RefusedBefore
                | NamespaceContent { .. }
                | NodeSilentUnnoticed
                | OldConfig(_)
                | Isolated { .. }
                | Gateway(GatewayFault::ForeignController { .. })
                | RoleMissing(..)
        )
    }
}
