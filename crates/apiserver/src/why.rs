//! Why a write was made, as data. `explain` turns it into messages.

use k8s_model::{Phrase, Str, Timestamp};

/// The reason of one write, with the values that decided it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Why {
    /// A user asked for it.
    Asked,
    /// Part of the cluster from the start.
    Bootstrap,
    /// The time to live of an Event has passed.
    EventExpired,
    /// A component recorded an Event.
    Said {
        /// The Event's reason.
        reason: &'static str,
    },

    /// deployment: no ReplicaSet has this Pod template.
    NewTemplate {
        /// The hash of the template.
        hash: Str,
        /// How many Pods it may start with.
        replicas: i32,
    },
    /// deployment: the ReplicaSet of this template becomes the newest revision.
    Revision {
        /// Its number.
        revision: i64,
    },
    /// deployment: the new ReplicaSet may grow within the surge.
    RolloutUp {
        /// Pods now, old and new.
        pods: i32,
        /// Pods allowed: desired plus surge.
        at_most: i32,
        /// Size before.
        from: i32,
        /// Size after.
        to: i32,
    },
    /// deployment: an old ReplicaSet may shrink because enough Pods are available.
    RolloutDown {
        /// Pods that are available, old and new.
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
    /// deployment, statefulset, daemonset, cronjob: more old ones than a history limit keeps.
    HistoryLimit {
        /// The field of the spec: `revisionHistoryLimit`, `failedJobsHistoryLimit`
        field: &'static str,
        /// How many are kept.
        limit: i64,
    },
    /// A status is brought up to date with what the loop saw.
    Observed,
    /// deployment: a rollout was paused or resumed.
    Paused {
        /// True if it is paused now.
        paused: bool,
    },

    /// replicaset, statefulset: fewer Pods than wanted.
    TooFew {
        /// Active Pods.
        have: i32,
        /// Pods wanted.
        want: i32,
    },
    /// job: fewer Pods than wanted, and the back-off since the last failure is over.
    Retry(Box<Retry>),
    /// replicaset: more Pods than wanted; this one ranks first for deletion.
    TooMany {
        /// Active Pods.
        have: i32,
        /// Pods wanted.
        want: i32,
        /// What put this Pod before the next one that stays.
        rank: DeletionRank,
        /// The next one that stays; empty if all are deleted.
        stays: Phrase,
    },
    /// An object without a controller matches the selector.
    Adopt,
    /// An owned object no longer matches the selector.
    Release,

    /// statefulset: this ordinal has no Pod.
    MissingOrdinal {
        /// The ordinal.
        ordinal: i32,
        /// `minReadySeconds` that the Pod before it had to be Ready for; 0 if none.
        ready_s: i64,
    },
    /// statefulset: the claim of an ordinal does not exist yet.
    MissingClaim {
        /// The ordinal.
        ordinal: i32,
    },
    /// statefulset: the ordinal is beyond `replicas`.
    CondemnedOrdinal {
        /// The ordinal.
        ordinal: i32,
        /// Replicas wanted.
        replicas: i32,
    },
    /// statefulset: the Pod runs an older revision than it should.
    OldRevision {
        /// The revision of the Pod.
        have: Phrase,
        /// The revision wanted.
        want: Phrase,
    },
    /// statefulset: a Pod that has ended is replaced.
    EndedPod {
        /// Its phase.
        phase: Str,
    },
    /// statefulset: the template has not been seen before.
    NewRevision {
        /// Its number.
        revision: i64,
    },
    /// statefulset: the retention policy says who owns the claim.
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
        /// Its score.
        score: i64,
        /// The second best; empty if no other fits.
        next: Phrase,
        /// Its score.
        next_score: i64,
    },
    /// scheduler: no node fits.
    NoNode {
        /// The scheduler's message.
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
        /// Request and response of its readiness probe; empty if it has none.
        probe: Str,
    },
    /// kubelet: a container is not ready any more.
    BecameUnready,
    /// kubelet: a container is not ready any more, because a probe has reached its failure threshold.
    ProbeFailed {
        /// `readiness`
        probe: &'static str,
    },
    /// kubelet: a container has ended.
    Exited {
        /// Its code.
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
        /// The image.
        image: Str,
    },
    /// kubelet: the node is short of memory.
    EvictedByNode,
    /// kubelet: the image cannot be pulled.
    ImagePull,
    /// kubelet: a container used more memory than its limit.
    OutOfMemory,
    /// kubelet: the node has set aside what the Pod asks for now.
    Resized,
    /// kubelet: the node has no room for what the Pod asks for now.
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
        /// The volume.
        volume: Str,
    },
    /// volume binder: one of the writes that complete a binding.
    Binding,
    /// volume binder: a claim without a class gets the one that has become the default.
    DefaultClass {
        /// The class.
        class: Str,
    },
    /// volume binder: the class has a provisioner, which creates the volume.
    NeedsProvisioning {
        /// The class.
        class: Str,
    },
    /// resizer: the claim requests more than its volume has.
    Expanding,
    /// provisioner: a volume is made for a claim.
    Provisioned {
        /// The claim.
        claim: Str,
    },
    /// volume binder: the claim of this volume is gone.
    ClaimGone {
        /// What the volume's reclaim policy says.
        policy: Str,
    },
    /// volume binder: the volume of this claim is gone.
    VolumeGone,
    /// A finalizer held the object until nothing used it.
    Unused,

    /// ingress: the class of the Ingress exists, so its controller serves it.
    IngressServed {
        /// The class.
        class: Str,
    },
    /// ingress: the class of the Ingress does not exist any more.
    IngressUnserved {
        /// The class.
        class: Str,
    },

    /// gateway: the class of the Gateway names this controller, so it serves it.
    GatewayServed {
        /// The class.
        class: Str,
    },
    /// gateway: the class of the Gateway does not exist any more.
    GatewayUnserved {
        /// The class.
        class: Str,
    },

    /// gateway: a listener of the Gateway takes the route.
    RouteTaken {
        /// The Gateway.
        gateway: Str,
    },
    /// gateway: no listener of the Gateway takes the route.
    RouteRefused {
        /// The Gateway.
        gateway: Str,
    },

    /// service account, root CA publisher: every namespace has one of these.
    NamespaceNeeds,
    /// cluster role aggregation: the rules of all ClusterRoles that the selectors match.
    RulesJoined,
    /// certificate signing: the request is approved.
    CertificateSigned,
    /// garbage collector: the owner is gone.
    OwnerGone {
        /// The owner's kind and name.
        owner: Str,
    },
    /// garbage collector: the owner waits for this object's deletion.
    OwnerWaits {
        /// The owner's kind and name.
        owner: Str,
    },
    /// garbage collector: nothing blocks the deletion any more.
    DependentsGone,
    /// garbage collector: the owner was deleted without its dependents.
    Orphaned {
        /// The owner's kind and name.
        owner: Str,
    },

    // Jobs, CronJobs, autoscalers.
    /// job: the Job ends, completed or failed, and its Pods with it.
    JobEnds {
        /// The reason of its condition.
        reason: Str,
    },
    /// job: the Job was suspended, and its Pods end.
    JobSuspended,
    /// job: the status lists the Pod, so its finalizer is removed.
    Counted,
    /// job: the Job of this Pod is gone or has ended, and will not count it.
    NobodyCounts,
    /// cronjob: the schedule says that a run is due.
    Due {
        /// When it was due.
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
        /// What led to it.
        reason: Phrase,
        /// Size before.
        from: i32,
        /// Size after.
        to: i32,
    },
    /// API server: a quota counts an object that is being created.
    QuotaCharged {
        /// Its kind and name.
        object: Str,
    },
    // ---- Nodes: DaemonSets, node lifecycle, disruption, preemption.
    /// daemonset: this node should run a Pod and has none.
    NodeWithoutPod {
        /// The node.
        node: Str,
    },
    /// daemonset: this node may not run the Pod any more.
    NodeUnfit {
        /// The node.
        node: Str,
    },
    /// daemonset: a Pod that has ended is removed, so that the node gets a new one.
    DaemonEnded {
        /// Its phase.
        phase: Str,
    },
    /// daemonset: the node has another Pod of the set that stays.
    NodeHasPod {
        /// The node.
        node: Str,
    },
    /// daemonset: an update may add a Pod beside the old one.
    Surge {
        /// The node.
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
    /// kubelet: a report of its node.
    NodeReport,
    /// kubelet: it is back and reports the actual status.
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
        /// The node.
        node: Str,
    },
    /// taint-eviction: the Pod does not tolerate a NoExecute taint of its node, or not any longer.
    NotTolerated {
        /// The node.
        node: Str,
        /// Seconds that were tolerated.
        seconds: i64,
    },
    /// disruption: how many Pods are healthy, and how many must be.
    Budget {
        /// Healthy Pods.
        healthy: i32,
        /// Pods that must stay healthy.
        desired: i32,
    },
    /// scheduler: a Pod of higher priority needs the resources.
    Preempted {
        /// That Pod.
        by: Str,
    },
    /// pod-garbage-collector: the Pod's node does not exist.
    NodeGone {
        /// The node.
        node: Str,
    },
    /// pod-garbage-collector: more Pods have ended than are kept.
    TooManyEnded {
        /// Pods that have ended.
        ended: u32,
        /// Pods that may be kept.
        kept: u32,
    },
}

/// Evidence of a Job's retry.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Retry {
    /// Active Pods.
    pub have: i32,
    /// Pods wanted.
    pub want: i32,
    /// The Pod that failed last.
    pub pod: Str,
    /// How: `exit code 1`, or the reason of its status.
    pub how: Str,
    /// Back-off since then, in seconds.
    pub back_off: u64,
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
