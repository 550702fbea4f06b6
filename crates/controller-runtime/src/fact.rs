//! Facts that a pass of a loop has seen: what decided its write, as data. `explain` turns them into messages.

use apiserver::why::{DeletionRank, Why};
use k8s_model::Str;

/// Value that a loop has seen or computed.
#[derive(Clone, PartialEq, Debug)]
pub struct Fact {
    /// Identity, from which its name follows.
    pub id: FactId,
    /// Value.
    pub value: FactValue,
}

impl Fact {
    /// Creates a fact.
    pub fn new(id: FactId, value: FactValue) -> Fact {
        Fact { id, value }
    }

    /// Creates a fact whose value is a count.
    pub fn count(id: FactId, count: impl Into<i64>) -> Fact {
        Fact::new(id, FactValue::Count(count.into()))
    }

    /// Creates a fact whose value is a name.
    pub fn name(id: FactId, name: impl Into<Str>) -> Fact {
        Fact::new(id, FactValue::Name(name.into()))
    }
}

/// Identity of a fact.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum FactId {
    // Any object.
    ResourceVersion,
    DeletionTimestamp,
    Reason,
    /// Changed field of the status, named by the value.
    Field,
    StatusOutOfDate,
    // Workloads.
    Desired,
    Actual,
    Difference,
    Updated,
    Available,
    Ready,
    Ordinals,
    Create,
    Delete,
    RankedFirst,
    NextInRank,
    LastFailedPod,
    Result,
    BackOff,
    // Rollouts and scaling.
    AvailableOfAll,
    MinAvailable,
    ThisSet,
    Removable,
    TotalReplicas,
    Maximum,
    CanBeAdded,
    NewSize,
    Unavailable,
    UnavailableFirst,
    ReplicasBefore,
    ReplicasDesired,
    ScaledDownBy,
    ScaledUpBy,
    Metric,
    // StatefulSets.
    Replicas,
    Ordinal,
    DeletedBecause,
    PodRevision,
    UpdateRevision,
    // Scheduling.
    Nodes,
    NodesFit,
    /// Score of the node that the value names.
    NodeScore,
    BestScore,
    Tie,
    PreemptedBy,
    // Endpoints.
    PodsMatch,
    PodsReady,
    Addresses,
    ReadyEndpoints,
    Slices,
    // Nodes.
    Node,
    NodesUnavailable,
    MaxUnavailable,
    MaxSurge,
    ToleratedFor,
    NoHeartbeat,
    // Disruption.
    Healthy,
    MinHealthy,
    EvictionsAllowed,
    // Kubelets.
    ContainersRunning,
    ExitCode,
    Image,
    Restarts,
    // Volumes, Jobs.
    SmallestFit,
    ReclaimPolicy,
    TtlSecondsAfterFinished,
    /// Variable of a program, named by the value.
    Variable,
}

/// Value of a fact.
#[derive(Clone, PartialEq, Debug)]
pub enum FactValue {
    /// Number of objects.
    Count(i64),
    /// Number that counts nothing: an ordinal, an exit code.
    Number(i64),
    /// Name of an object.
    Name(Str),
    /// Name of a Pod, which may be long.
    Pod(Str),
    /// Word of the API.
    State(Str),
    /// Duration in milliseconds.
    Span(i64),
    /// True if a field is set.
    Set(bool),
    /// Part of a total: `1 of 2`.
    Part {
        /// Part.
        part: usize,
        /// Total.
        total: usize,
    },
    /// Difference with its terms: `3 − 2 = 1`.
    Difference {
        /// Minuend.
        from: i32,
        /// Subtrahend.
        minus: i32,
    },
    /// Difference with its terms that is never negative: `2 − 3 = 0`.
    Surplus {
        /// Minuend.
        from: i32,
        /// Subtrahend.
        minus: i32,
    },
    /// Smaller of an allowance and a wish, which is the smaller one: `min(3; 2) = 2`.
    Least {
        /// Allowance.
        allowed: i32,
        /// Wish.
        wished: i32,
    },
    /// Size plus the smaller of an allowance and a wish: `1 + 2 = 3`, `1 + min(3; 2) = 3`.
    Growth {
        /// Size before.
        from: i32,
        /// Allowance.
        allowed: i32,
        /// Wish, at most the allowance.
        wished: i32,
    },
    /// Change of a number: `3 → 2`.
    CountChange {
        /// Number before.
        from: i64,
        /// Number after.
        to: i64,
    },
    /// Change of a field.
    FieldChange {
        /// Name of the field.
        field: Str,
        /// Value before and after.
        change: Change,
    },
    /// Addresses added or removed: the address, if it is the only one, or their number.
    Addresses {
        /// True if they were added.
        added: bool,
        /// Addresses.
        addresses: Vec<Str>,
    },
    /// Range of ordinals, first and last; `None` if there are none.
    Ordinals(Option<(i32, i32)>),
    /// Ordinal that a number of replicas does not need.
    Beyond {
        /// Ordinal.
        ordinal: i32,
        /// Replicas.
        replicas: i32,
    },
    /// Criterion that ranked a Pod first for deletion.
    Rank(DeletionRank),
    /// Score of a node.
    Score {
        /// Node.
        node: Str,
        /// Score.
        score: i64,
    },
    /// Variable of a program.
    Variable {
        /// Name.
        name: Str,
        /// Value, shortened.
        value: Str,
    },
    /// Reason of a write.
    Because(Why),
    /// First of several in alphabetical order.
    FirstByName,
    /// Out of date, so that it was written.
    OutOfDate,
}

impl FactValue {
    /// Returns true for a value before a write and another one after it.
    pub fn is_change(&self) -> bool {
        match self {
            FactValue::CountChange { .. } => true,
            FactValue::FieldChange { change, .. } => !matches!(change, Change::Added(_)),
            _ => false,
        }
    }
}

/// Values of a field before and after a write.
#[derive(Clone, PartialEq, Debug)]
pub enum Change {
    /// Change of a count.
    Counts {
        /// Value before.
        from: i64,
        /// Value after.
        to: i64,
    },
    /// Change of another value.
    Values {
        /// Value before.
        from: Str,
        /// Value after.
        to: Str,
    },
    /// Value that was not there before.
    Added(Str),
}
