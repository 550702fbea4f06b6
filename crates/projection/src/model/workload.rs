//! Controllers with their counters and Pods.

use super::id::Id;
use crate::block::PodBlock;
use i18n::{Message, msg};
use std::rc::Rc;

/// Colour of a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// Colour of text.
    #[default]
    Plain,
    /// Equal to the desired number.
    Ok,
    /// Below the desired number.
    Off,
}

/// Quantity shown by a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Metric {
    Desired,
    Current,
    Ready,
    Updated,
    Done,
    Active,
    Failed,
    Next,
}

impl Metric {
    /// Word under the number.
    pub fn word(self) -> Message {
        match self {
            Metric::Desired => msg::metric_desired(),
            Metric::Current => msg::metric_current(),
            Metric::Ready => msg::metric_ready(),
            Metric::Updated => msg::metric_updated(),
            Metric::Done => msg::metric_done(),
            Metric::Active => msg::metric_active(),
            Metric::Failed => msg::metric_failed(),
            Metric::Next => msg::metric_next(),
        }
    }
}

/// Number over its word.
#[derive(Clone, Debug, PartialEq)]
pub struct Counter {
    /// Number.
    pub value: String,
    /// Quantity.
    pub metric: Metric,
    /// Colour.
    pub tone: Tone,
    /// Actual number of Pods, if the status of the counter differs from it.
    pub lags: Message,
}

/// Counters of every workload: desired, current, ready.
pub fn counters(desired: u64, current: u64, ready: u64) -> Vec<Counter> {
    let tone = if ready == desired {
        Tone::Ok
    } else if ready < desired {
        Tone::Off
    } else {
        Tone::Plain
    };
    let of = |n: u64, metric, tone| Counter {
        value: i18n::format::short_count(n),
        metric,
        tone,
        lags: Message::default(),
    };
    vec![
        of(desired, Metric::Desired, Tone::Plain),
        of(current, Metric::Current, Tone::Plain),
        of(ready, Metric::Ready, tone),
    ]
}

/// Line over the name on the card of a controller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CardCaption {
    /// Kind.
    #[default]
    Kind,
    /// Kind and revision: `ReplicaSet · revision 1`.
    KindRevision(i64),
    /// Revision, for little room.
    Revision(i64),
}

impl CardCaption {
    /// Returns the caption without the kind, if the revision suffices.
    pub fn short(self) -> CardCaption {
        match self {
            CardCaption::Kind => CardCaption::Kind,
            CardCaption::KindRevision(revision) | CardCaption::Revision(revision) => {
                CardCaption::Revision(revision)
            }
        }
    }

    /// Words of the caption for a kind.
    pub fn words(self, kind: &str) -> Message {
        match self {
            CardCaption::Kind => Message::name(kind),
            CardCaption::KindRevision(revision) => msg::card_revision(revision),
            CardCaption::Revision(revision) => msg::why_revision(revision),
        }
    }
}

/// Completions of an Indexed Job above which its indexes are not shown.
pub const MAX_INDEXES: i64 = 48;

/// State of an index of an Indexed Job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexState {
    /// Neither completed nor failed.
    Open,
    /// In `completedIndexes`.
    Completed,
    /// In `failedIndexes`.
    Failed,
}

/// Card of a controller: Deployment, ReplicaSet, StatefulSet, Job, …
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ControllerCard {
    /// Identity.
    pub id: Id,
    /// Line over the name.
    pub caption: CardCaption,
    /// Counters: desired, current, ready.
    pub counters: Vec<Counter>,
    /// Fact at the foot.
    pub footer: Message,
    /// Pill at the foot's right.
    pub chip: Message,
    /// Indexes of an Indexed Job with at most [`MAX_INDEXES`] completions.
    pub indexes: Vec<IndexState>,
    /// True if the deletionTimestamp is set.
    pub leaving: bool,
    /// `spec.replicas`, or its equivalent.
    pub desired: usize,
    /// Maximum number of additional Pods in an update, including terminating ones.
    pub surplus: usize,
    /// Number of Pods of its newest template.
    pub updated: Option<usize>,
    /// Application, from its own labels or those of its template.
    pub app: String,
    /// Labels of its template, such as `app=nginx`.
    pub labels: Vec<String>,
    /// True if it creates claims for its Pods.
    pub claims: bool,
    /// For a StatefulSet: its first ordinal, and the Service that names its Pods.
    pub members: (u32, String),
}

/// Pods of one controller, with that controller's card if it stands between the root and the Pods.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group {
    /// ReplicaSet of a Deployment, or Job of a CronJob.
    pub controller: Option<Rc<ControllerCard>>,
    /// Pods sorted by ordinal, else creation, then name.
    pub pods: PodBlock,
}

/// Ownership tree.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Root {
    /// Controller; `None` for bare Pods.
    pub controller: Option<Rc<ControllerCard>>,
    /// Groups by revision, oldest first.
    pub groups: Vec<Group>,
    /// Number of old ReplicaSets without Pods, folded into one line.
    pub folded: usize,
    /// Number of those shown because a person has unfolded them.
    pub unfolded: usize,
}

impl Root {
    /// Returns true if a Pod mounts a claim, or will.
    pub fn mounts(&self) -> bool {
        self.controller.as_ref().is_some_and(|of| of.claims)
            || self.groups.iter().any(|group| group.pods.mounts())
    }

    /// Returns the index from which on the Pods of a group are of an older revision: 0, or `usize::MAX` if none are.
    pub fn older(&self, group: &Group) -> usize {
        let newest = self
            .groups
            .last()
            .is_none_or(|last| std::ptr::eq(last, group));
        if !newest
            && self
                .controller
                .as_ref()
                .is_some_and(|of| of.id.kind == "Deployment")
        {
            0
        } else {
            usize::MAX
        }
    }

    /// Desired number of Pods.
    pub fn desired(&self) -> usize {
        self.controller.as_ref().map_or(0, |of| of.desired)
    }

    /// Existing number of Pods.
    pub fn pods(&self) -> usize {
        self.groups.iter().map(|group| group.pods.len()).sum()
    }
}

/// Object that acts on a workload: an autoscaler, a disruption budget.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Policy {
    /// Identity.
    pub id: Id,
    /// Words in its pill: `1 to 5 Pods`, `1 may go`.
    pub form: Message,
    /// Words beside its card.
    pub words: Message,
    /// Eviction that it currently refuses; empty if there is none.
    pub refuses: Message,
    /// Uid of its target workload.
    pub target: String,
}
