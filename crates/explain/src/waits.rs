//! Reasons why something has not happened, as data. `diagnose` finds them, `headline` turns them into messages.

use apiserver::journal::Op;
use i18n::Message;
use k8s_model::Str;

pub use super::cure::RemedyKind;
pub use super::fact_label::FactLabel;
pub use super::gateway_fault::GatewayFault;
pub use scheduler::unschedulable::UnschedulableReason;

/// Mismatch of a volume and a claim.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum VolumeFit {
    /// The volume is smaller than requested.
    Small {
        /// Capacity of the volume.
        has: Str,
        /// Request of the claim.
        asks: Str,
    },
    /// The volume has another class.
    Class {
        /// Class of the volume.
        has: Str,
        /// Class of the claim.
        asks: Str,
    },
    /// The volume lacks an access mode.
    Access {
        /// Access modes of the volume.
        has: Str,
        /// Requested access mode.
        asks: Str,
    },
    /// The volume modes differ: Filesystem or Block.
    Mode {
        /// Volume mode of the volume.
        has: Str,
        /// Requested volume mode.
        asks: Str,
    },
    /// The claim's selector does not match the volume's labels.
    Selector,
    /// The volume is being deleted.
    Deleting,
    /// The volume is bound to or reserved for another claim.
    Taken {
        /// Other claim.
        by: Str,
        /// Phase of the volume.
        phase: Str,
    },
    /// The volume fits: the binder has not looked at it yet.
    Fits,
}

/// Deciding fact, with its value.
#[derive(Clone, PartialEq, Debug)]
pub enum DecidingFact {
    /// Refusal of a node.
    Node(Str, UnschedulableReason),
    /// Node that would fit.
    Fits(Str),
    /// Volume and its mismatch.
    Volume(Str, VolumeFit),
    /// Number.
    Count(FactLabel, i64),
    /// Word or name.
    Word(FactLabel, Str),
    /// Value in words.
    Said(FactLabel, Message),
    /// Instant in milliseconds.
    At(FactLabel, u64),
}

/// Missing condition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PendingReason {
    // Pods.
    /// A Pod has scheduling gates.
    Gated,
    /// A Pod names another scheduler.
    OtherScheduler(Str),
    /// A Pod fits no node.
    NoNode {
        /// Number of nodes that refuse it.
        nodes: usize,
    },
    /// Other Pods are being preempted so that it fits on this node.
    Preempting(Str),
    /// The claim of a Pod does not exist.
    ClaimMissing(Str),
    /// The claim of a Pod is terminating.
    ClaimLeaves(Str),
    /// The claim of a Pod has lost its volume.
    ClaimLost(Str),
    /// The claim of a Pod is not bound.
    ClaimUnbound(Str),
    /// The kubelet of its node does not report.
    NodeSilent(Str),
    /// The node of a Pod does not exist.
    NodeMissing(Str),
    /// A ConfigMap or Secret that it references does not exist.
    SourceMissing(Str),
    /// A ConfigMap or Secret lacks a referenced key.
    KeyMissing {
        /// `ConfigMap settings`
        of: Str,
        /// Key.
        key: Str,
    },
    /// The image cannot be pulled.
    Image(Str),
    /// A container is in a crash loop.
    Crashes {
        /// Container.
        container: Str,
        /// Exit code.
        code: i32,
    },
    /// A container uses more memory than its limit.
    OutOfMemory {
        /// Container.
        container: Str,
        /// Memory limit.
        limit: Str,
    },
    /// A probe uses a port on which nothing listens.
    ProbePort {
        /// Container.
        container: Str,
        /// `liveness`
        probe: Str,
        /// Port.
        port: i32,
    },
    /// A container is running and not ready.
    NotReady(Str),
    /// An init container fails.
    Init(Str),
    /// A Pod has failed for good.
    PodFailed(Str),
    /// An object is being deleted and held by this.
    Held(Str),

    // Faults.
    /// A fault has slowed the loop that it waits for, and other keys are queued before it.
    SlowLoop {
        /// Loop.
        name: Str,
        /// Duration of each pass.
        each: Str,
    },
    /// A fault has slowed the loop that is processing it.
    SlowPass {
        /// Loop.
        name: Str,
        /// Duration of each pass.
        each: Str,
    },
    /// The object is in the queue of a slowed loop, which has nothing to do for it.
    SlowIdle(Str),
    /// A fault delays a watch event.
    LateEvent {
        /// Component with the watch.
        component: Str,
        /// Kind of the object.
        kind: Str,
    },
    /// A fault delays a watch event of the object itself.
    OwnLate {
        /// Component with the watch.
        component: Str,
        /// Operation of the event.
        told: Op,
    },
    /// A fault has dropped a watch event.
    LostEvent {
        /// Component with the watch.
        component: Str,
        /// Kind of the object.
        kind: Str,
        /// True if the component relists soon.
        lists: bool,
    },

    // Workloads.
    /// The template was changed while the rollout is paused.
    Paused,
    /// The API server refuses new Pods.
    Refused(Str),
    /// Pod Security refuses new Pods at this level.
    Insecure(Str),
    /// The API server refused a Pod, and would accept it now: the controller has not retried yet.
    RefusedBefore,
    /// A quota has no room for more Pods.
    Quota {
        /// Quota.
        name: Str,
        /// Resource that is exceeded.
        resource: Str,
        /// Current usage.
        used: Str,
        /// Hard limit.
        hard: Str,
    },
    /// A rollout has made no progress for this many seconds.
    Deadline(i64),
    /// A rollout waits for its new Pods.
    Rollout {
        /// Ready Pods of the new template.
        updated: i32,
        /// Desired Pods.
        desired: i32,
    },
    /// Pods are missing or not ready.
    Pods {
        /// Ready Pods.
        ready: i32,
        /// Desired Pods.
        desired: i32,
    },
    /// A StatefulSet pauses until this Pod is ready.
    Ordinal {
        /// Pod.
        pod: Str,
        /// Next Pod.
        then: Str,
        /// Seconds for which it must have been ready: `minReadySeconds`.
        seconds: i64,
    },
    /// A StatefulSet waits for a Pod of an earlier template that never becomes ready.
    RollbackBlocked(Str),
    /// Pods keep their old revision until a person acts: `OnDelete`, or a partition.
    UpdateHeld {
        /// Number of Pods.
        pods: i32,
        /// `OnDelete` or the partition.
        because: Str,
    },
    /// The Service that governs the Pods' names does not exist.
    NoService(Str),
    /// Number of nodes without a Pod of the DaemonSet.
    NodesLeftOut(usize),
    /// A Job has failed.
    JobFailed(Str),
    /// A Job or CronJob is suspended.
    Suspended,
    /// A Job waits for its back-off.
    BackOff {
        /// Number of failures so far.
        failed: i32,
        /// `backoffLimit`.
        limit: i32,
    },
    /// The next run of a CronJob is not due.
    NotDue,
    /// The last run of a CronJob has not ended.
    ConcurrencyForbidden(Str),
    /// The time zone is unknown.
    Zone(Str),
    /// An autoscaler cannot work.
    ScalingInactive(Str),
    /// A namespace is being deleted and not empty yet.
    NamespaceContent {
        /// Number of objects in it.
        objects: usize,
        /// Kind of the object that blocks the deletion.
        kind: Str,
        /// Name of that object.
        name: Str,
    },
    /// A budget allows no disruption.
    NoDisruption,
    /// A person drains a node, and a budget refuses the eviction of a Pod.
    EvictionRefused {
        /// Pod.
        pod: Str,
        /// Budget.
        budget: Str,
    },

    // Nodes.
    /// A node is not ready.
    NodeNotReady,
    /// The kubelet of a node does not report, and the control plane has not marked the node yet.
    NodeSilentUnnoticed,

    // Storage.
    /// There is no class, and no volume that fits.
    NoClass,
    /// The class does not exist, and no volume fits.
    ClassMissing(Str),
    /// The class waits for the first consumer of the claim.
    FirstConsumer,
    /// The class's provisioner is not running.
    NoProvisioner(Str),
    /// The volume named by the claim does not exist or does not fit.
    NamedVolume(Str),
    /// The claim fits a volume; the binder looks at all claims every 15 s.
    NextLook(Str),
    /// The claim's class was created after the binder's last look at all claims.
    NextLookForClass(Str),
    /// Deleted, but used by a Pod, or bound to a claim.
    InUse(Str),
    /// The volume is gone.
    Lost(Str),
    /// The claim of a volume is gone, and the volume is retained.
    Released(Str),
    /// A volume could not be deleted.
    VolumeFailed,

    // Configuration.
    /// Number of Pods with an outdated version of a ConfigMap or Secret, until they are restarted.
    OldConfig(usize),
    /// The role of a binding does not exist.
    RoleMissing(k8s_model::Kind, Str),

    // Services.
    /// There is no Service of this name here, but one in another namespace.
    ServiceElsewhere {
        /// Service.
        service: Str,
        /// Namespace of the Service.
        namespace: Str,
    },
    /// The Service has no selector: its endpoints have to be written by hand.
    NoSelector,
    /// The namespace has no Pods.
    NoPods,
    /// No Pod has the label.
    LabelDiffers {
        /// Label key.
        key: Str,
        /// Requested value.
        value: Str,
    },
    /// Pods match, but none is ready.
    NoneReady(usize),
    /// No container has a port of this name.
    NoPort(Str),
    /// No ready Pod listens on the target port.
    NotListening(i32),
    /// NetworkPolicies deny every other Pod a connection to the Pods of a Service.
    DeniedByPolicy {
        /// Names of the policies.
        policies: Vec<Str>,
        /// Direction in which they isolate: `Ingress` or `Egress`.
        direction: &'static str,
        /// Port of the Service on which no ready Pod listens either.
        unanswered: Option<i32>,
    },

    // Ingresses.
    /// The Ingress names no class.
    NoIngressClass,
    /// The class named by the Ingress does not exist.
    IngressClassMissing(Str),
    /// A path has a backend Service that does not exist.
    BackendMissing {
        /// Host and path.
        path: Str,
        /// Service.
        service: Str,
    },
    /// A path has a backend port that its Service does not have.
    BackendPort {
        /// Host and path.
        path: Str,
        /// Service.
        service: Str,
        /// Port.
        port: Str,
    },
    /// A path has a backend Service without a ready endpoint.
    BackendNotReady {
        /// Host and path.
        path: Str,
        /// Service.
        service: Str,
    },

    /// NetworkPolicies keep the ingress controller from the endpoints of a path.
    BackendDenied {
        /// Host and path.
        path: Str,
        /// Names of the policies.
        policies: Vec<Str>,
    },

    /// An object of the Gateway API is not served.
    Gateway(GatewayFault),
}

/// State of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Health {
    /// Healthy.
    Well,
    /// Worth knowing, but nothing is wrong.
    Note,
    /// In progress.
    Waiting,
    /// Failed or stuck.
    Stuck,
}

impl PendingReason {
    /// State of an object that waits for this.
    pub fn health(&self) -> Health {
        use PendingReason::*;
        match self {
            NodesLeftOut(_)
            | NoService(_)
            | UpdateHeld { .. }
            | NoSelector
            | Released(_)
            | NoDisruption
            | NotDue
            | SlowIdle(_)
            | OldConfig(_)
            | DeniedByPolicy { .. }
            | Gateway(GatewayFault::ForeignController { .. })
            | RoleMissing(..) => Health::Note,
            waits if waits.is_bad() => Health::Stuck,
            _ => Health::Waiting,
        }
    }

    /// Returns true if something has gone wrong; otherwise the object waits as expected.
    pub fn is_bad(&self) -> bool {
        use PendingReason::*;
        !matches!(
            self,
            Gated
                | Preempting(_)
                | Paused
                | Rollout { .. }
                | Pods { .. }
                | Ordinal { .. }
                | UpdateHeld { .. }
                | NodesLeftOut(_)
                | NoService(_)
                | Suspended
                | BackOff { .. }
                | NotDue
                | ConcurrencyForbidden(_)
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
                | DeniedByPolicy { .. }
                | Gateway(GatewayFault::ForeignController { .. })
                | RoleMissing(..)
        )
    }
}
