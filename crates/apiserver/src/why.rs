//! Reasons of writes, as data. `explain` turns them into messages.

use k8s_model::{InternedStr, Str, Timestamp};
use std::rc::Rc;

/// Reason of a write, with the values that determined it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Why {
    /// Request of a user.
    Asked,
    /// Part of the initial cluster.
    Bootstrap,
    /// Expired TTL of an Event.
    EventExpired,
    /// Event recorded by a component.
    Event {
        /// Reason of the Event.
        reason: &'static str,
    },

    /// Loop of a ControlLoop: a line of its program.
    Program(Rc<ProgramCall>),

    /// deployment: no ReplicaSet has this Pod template.
    NewTemplate {
        /// Hash of the template.
        hash: Str,
        /// Initial number of Pods.
        replicas: i32,
    },
    /// deployment: the ReplicaSet of this template becomes the newest revision.
    Revision {
        /// Revision number.
        revision: i64,
    },
    /// deployment: the new ReplicaSet may grow within the surge.
    RolloutUp {
        /// Current Pods, old and new.
        pods: i32,
        /// Maximum number of Pods: desired plus surge.
        at_most: i32,
        /// Size before.
        from: i32,
        /// Size after.
        to: i32,
    },
    /// deployment: an old ReplicaSet may shrink because enough Pods are available.
    RolloutDown {
        /// Available Pods, old and new.
        available: i32,
        /// Pods that must stay available.
        at_least: i32,
        /// Size before.
        from: i32,
        /// Size after.
        to: i32,
    },
    /// deployment: unavailable Pods of an old ReplicaSet are removed first.
    CleanUnhealthy {
        /// Pods that are not available.
        unhealthy: i32,
        /// Size before.
        from: i32,
        /// Size after.
        to: i32,
    },
    /// deployment: `spec.replicas` was changed.
    Scaled {
        /// Size before.
        from: i32,
        /// Size after.
        to: i32,
    },
    /// deployment: the strategy is Recreate, so old Pods are deleted before new ones are created.
    Recreate {
        /// Size before.
        from: i32,
        /// Size after.
        to: i32,
    },
    /// deployment, statefulset, daemonset, cronjob: more old objects than a history limit keeps.
    HistoryLimit {
        /// Field of the spec: `revisionHistoryLimit`, `failedJobsHistoryLimit`.
        field: &'static str,
        /// Number of objects kept.
        limit: i64,
    },
    /// Status update with the controller's observations.
    Observed,
    /// deployment: a rollout was paused or resumed.
    Paused {
        /// True if the rollout is paused now.
        paused: bool,
    },

    /// replicaset, statefulset: fewer Pods than wanted.
    TooFew {
        /// Active Pods.
        have: i32,
        /// Pods wanted.
        want: i32,
    },
    /// event-driven counterpart of replicaset: an event asked for it, whatever the number of Pods.
    EventDriven {
        /// Event.
        event: DrivingEvent,
    },
    /// job: fewer Pods than wanted, and the back-off since the last failure is over.
    Retry(Box<Retry>),
    /// replicaset: more Pods than wanted; this one ranks first for deletion.
    TooMany {
        /// Active Pods.
        have: i32,
        /// Pods wanted.
        want: i32,
        /// Criterion that ranked this Pod before the next one that stays.
        rank: DeletionRank,
        /// Next Pod that stays; empty if all are deleted.
        stays: InternedStr,
    },
    /// An object without a controller matches the selector.
    Adopt,
    /// An owned object no longer matches the selector.
    Release,

    /// statefulset: this ordinal has no Pod.
    MissingOrdinal {
        /// Ordinal.
        ordinal: i32,
        /// `minReadySeconds` for which the preceding Pod had to be Ready; 0 if none.
        ready_s: i64,
    },
    /// statefulset: the claim of an ordinal does not exist yet.
    MissingClaim {
        /// Ordinal.
        ordinal: i32,
    },
    /// statefulset: the ordinal is beyond `replicas`.
    CondemnedOrdinal {
        /// Ordinal.
        ordinal: i32,
        /// Replicas wanted.
        replicas: i32,
    },
    /// statefulset: the Pod runs an outdated revision.
    OldRevision {
        /// Revision of the Pod.
        have: InternedStr,
        /// Revision wanted.
        want: InternedStr,
    },
    /// statefulset: a Pod that has ended is replaced.
    EndedPod {
        /// Phase of the Pod.
        phase: Str,
    },
    /// statefulset: the template has not been seen before.
    NewRevision {
        /// Revision number.
        revision: i64,
    },
    /// statefulset: the retention policy determines the owner of the claim.
    Retention {
        /// `whenScaled` or `whenDeleted`.
        policy: &'static str,
    },

    /// scheduler: the best node of those that fit.
    BestNode {
        /// Nodes that fit.
        feasible: u32,
        /// All nodes.
        nodes: u32,
        /// Score of the node.
        score: i64,
        /// Second-best node; empty if no other fits.
        next: InternedStr,
        /// Score of the second-best node.
        next_score: i64,
    },
    /// scheduler: no node fits.
    NoNode {
        /// Scheduler's message.
        message: Str,
    },

    /// kubelet: a Pod was bound to its node.
    Bound,
    /// kubelet: the Pod has its address; its init containers come next.
    Sandbox,
    /// kubelet: an init container has completed.
    InitDone,
    /// kubelet: a sidecar has started.
    Sidecar,
    /// kubelet: the containers have started.
    Started,
    /// kubelet: the startup probe of a container has succeeded.
    StartedUp,
    /// kubelet: a container is ready.
    BecameReady {
        /// Request and response of the readiness probe; empty if there is none.
        probe: Str,
    },
    /// kubelet: a container is not ready any more.
    BecameUnready,
    /// kubelet: a container is not ready any more, because a probe has reached its failure threshold.
    ProbeFailed {
        /// Kind of probe, such as `readiness`.
        probe: &'static str,
    },
    /// kubelet: a container has ended.
    Exited {
        /// Exit code.
        code: i32,
    },
    /// kubelet: a container that exited is restarted only after a back-off.
    BackOff {
        /// Length of the back-off.
        seconds: i64,
        /// Restarts until now.
        count: i32,
    },
    /// kubelet: a container is restarted.
    Restarted {
        /// Restart count.
        count: i32,
    },
    /// kubelet: a container is restarted because its Pod has another image now.
    NewImage {
        /// Image.
        image: Str,
    },
    /// kubelet: the node is short of memory.
    EvictedByNode,
    /// kubelet: the image cannot be pulled.
    ImagePull,
    /// kubelet: a container used more memory than its limit.
    OutOfMemory,
    /// kubelet: the node has allocated the resources that the Pod now requests.
    Resized,
    /// kubelet: the node has no room for the resources that the Pod now requests.
    ResizePending {
        /// `Infeasible` or `Deferred`.
        reason: &'static str,
    },
    /// kubelet: a source of a container's environment is missing.
    SourceMissing,
    /// kubelet: the Pod's containers have been stopped.
    Stopped,
    /// kubelet: a stopped Pod is removed.
    Removed,

    /// endpoints: the Pods behind a Service.
    Endpoints {
        /// Ready addresses.
        ready: u32,
        /// All addresses.
        all: u32,
    },

    /// volume binder: the smallest volume that fits the claim.
    SmallestFit {
        /// Volume.
        volume: Str,
    },
    /// volume binder: one of the writes that complete a binding.
    Binding,
    /// volume binder: a claim without a class gets the one that has become the default.
    DefaultClass {
        /// Class.
        class: Str,
    },
    /// volume binder: the class has a provisioner, which creates the volume.
    NeedsProvisioning {
        /// Class.
        class: Str,
    },
    /// resizer: the claim requests more than its volume has.
    Expanding,
    /// provisioner: a volume is created for a claim.
    Provisioned {
        /// Claim.
        claim: Str,
    },
    /// volume binder: the claim of this volume is gone.
    ClaimGone {
        /// Reclaim policy of the volume.
        policy: Str,
    },
    /// volume binder: the volume of this claim is gone.
    VolumeGone,
    /// Finalizer removed because the object is no longer in use.
    Unused,

    /// ingress: the class of the Ingress exists, so its controller serves it.
    IngressServed {
        /// Class.
        class: Str,
    },
    /// ingress: the class of the Ingress does not exist any more.
    IngressUnserved {
        /// Class.
        class: Str,
    },

    /// gateway: the class of the Gateway names this controller, so it serves it.
    GatewayServed {
        /// Class.
        class: Str,
    },
    /// gateway: the class of the Gateway does not exist any more.
    GatewayUnserved {
        /// Class.
        class: Str,
    },

    /// gateway: a listener of the Gateway accepts the route.
    RouteTaken {
        /// Gateway.
        gateway: Str,
    },
    /// gateway: no listener of the Gateway accepts the route.
    RouteRefused {
        /// Gateway.
        gateway: Str,
    },

    /// service account, root CA publisher: an object that every namespace must have.
    NamespaceNeeds,
    /// cluster role aggregation: the rules of all ClusterRoles that the selectors match.
    RulesJoined,
    /// certificate signing: the request is approved.
    CertificateSigned,
    /// garbage collector: the owner is gone.
    OwnerGone {
        /// Owner's kind and name.
        owner: Str,
    },
    /// garbage collector: the owner waits for this object's deletion.
    OwnerWaits {
        /// Owner's kind and name.
        owner: Str,
    },
    /// garbage collector: nothing blocks the deletion any more.
    DependentsGone,
    /// garbage collector: the owner was deleted without its dependents.
    Orphaned {
        /// Owner's kind and name.
        owner: Str,
    },

    // Jobs, CronJobs, autoscalers.
    /// job: the Job ends, completed or failed, and its Pods with it.
    JobEnds {
        /// Reason of the condition.
        reason: Str,
    },
    /// job: the Job was suspended, and its Pods end.
    JobSuspended,
    /// job: the status lists the Pod, so its finalizer is removed.
    Counted,
    /// job: the Job of this Pod is gone or finished, and will not count it.
    NobodyCounts,
    /// cronjob: the schedule says that a run is due.
    Due {
        /// Scheduled time.
        at: Timestamp,
    },
    /// cronjob: the run before this one has not ended, and concurrencyPolicy is Replace.
    Replaced,
    /// ttl-after-finished: the TTL of the finished Job has expired.
    Expired {
        /// `ttlSecondsAfterFinished`.
        seconds: i64,
    },
    /// horizontal-pod-autoscaler: the metrics lead to another size.
    Autoscaled {
        /// Reason of the new size.
        reason: InternedStr,
        /// Size before.
        from: i32,
        /// Size after.
        to: i32,
    },
    /// API server: a quota counts an object that is being created.
    QuotaCharged {
        /// Kind and name of the object.
        object: Str,
    },
    // ---- Nodes: DaemonSets, node lifecycle, disruption, preemption.
    /// daemonset: this node should run a Pod and has none.
    NodeWithoutPod {
        /// Node.
        node: Str,
    },
    /// daemonset: this node may not run the Pod any more.
    NodeUnfit {
        /// Node.
        node: Str,
    },
    /// daemonset: a Pod that has ended is removed, so that the node gets a new one.
    DaemonEnded {
        /// Phase of the Pod.
        phase: Str,
    },
    /// daemonset: the node has another Pod of the set that stays.
    NodeHasPod {
        /// Node.
        node: Str,
    },
    /// daemonset: an update may add a Pod beside the old one.
    Surge {
        /// Node.
        node: Str,
        /// Pods that may be added at once.
        at_most: i64,
    },
    /// daemonset: an update replaces the Pod of this node.
    ReplaceDaemon {
        /// Nodes without an available Pod.
        unavailable: i64,
        /// Nodes that may be without one.
        at_most: i64,
    },
    /// kubelet: status report of its node.
    NodeReport,
    /// kubelet: reconnected, and reporting the actual status.
    BackAgain,
    /// node-lifecycle: the node has sent no heartbeat for this long.
    NodeSilent {
        /// Seconds.
        seconds: u64,
    },
    /// node-lifecycle: the taints follow from the node's conditions.
    Conditions,
    /// node-lifecycle: the Pod's node is not ready.
    OnSilentNode {
        /// Node.
        node: Str,
    },
    /// taint-eviction: the Pod does not tolerate a NoExecute taint of its node, or not any longer.
    NotTolerated {
        /// Node.
        node: Str,
        /// Seconds for which the taint was tolerated.
        seconds: i64,
    },
    /// disruption: numbers of healthy Pods and of Pods that must stay healthy.
    Budget {
        /// Healthy Pods.
        healthy: i32,
        /// Pods that must stay healthy.
        desired: i32,
    },
    /// scheduler: a Pod of higher priority needs the resources.
    Preempted {
        /// Preempting Pod.
        by: Str,
    },
    /// pod-garbage-collector: the Pod's node does not exist.
    NodeGone {
        /// Node.
        node: Str,
    },
    /// pod-garbage-collector: more terminated Pods than the threshold.
    TooManyEnded {
        /// Terminated Pods.
        ended: u32,
        /// Threshold.
        kept: u32,
    },
}

/// Call of a program that has made a request.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ProgramCall {
    /// Line, from 1.
    pub line: u32,
    /// Text of the line.
    pub text: Str,
    /// Values of the names on the line and on the condition around it.
    pub values: Vec<(Str, Str)>,
}

/// Details of a Job's retry.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Retry {
    /// Active Pods.
    pub have: i32,
    /// Pods wanted.
    pub want: i32,
    /// Pod that failed last.
    pub pod: Str,
    /// Cause of the failure: `exit code 1`, or the reason of the Pod's status.
    pub how: Str,
    /// Back-off since the failure, in seconds.
    pub back_off: u64,
}

/// Event that an event-driven program acts on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DrivingEvent {
    /// A ReplicaSet appeared.
    Added {
        /// Its `spec.replicas`.
        replicas: i32,
    },
    /// `spec.replicas` changed.
    Scaled {
        /// Value of the event before.
        from: i32,
        /// Value of this event.
        to: i32,
    },
    /// A Pod was deleted.
    PodDeleted,
}

impl DrivingEvent {
    /// Returns the number of Pods to create or, if negative, to delete.
    pub fn pods(self) -> i32 {
        match self {
            DrivingEvent::Added { replicas } => replicas,
            DrivingEvent::Scaled { from, to } => to - from,
            DrivingEvent::PodDeleted => 1,
        }
    }
}

/// Criteria for which of two Pods of a ReplicaSet is deleted first, in order of precedence.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[allow(missing_docs)]
pub enum DeletionRank {
    Unassigned,
    Pending,
    NotReady,
    LowerCost,
    SharesNode,
    YoungerReady,
    MoreRestarts,
    Younger,
    Equal,
}
