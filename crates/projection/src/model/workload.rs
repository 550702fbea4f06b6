//! Controllers with their counters and Pods.

use super::id::Id;
use crate::block::PodBlock;
use i18n::{Message, msg};
use std::rc::Rc;

/// The colour of a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// As text.
    #[default]
    Plain,
    /// As wanted.
    Ok,
    /// Short of what is wanted.
    Off,
}

/// What a counter counts.
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
}

impl Metric {
    /// The word under the number.
    pub fn word(self) -> Message {
        match self {
            Metric::Desired => msg::metric_desired(),
            Metric::Current => msg::metric_current(),
            Metric::Ready => msg::metric_ready(),
            Metric::Updated => msg::metric_updated(),
            Metric::Done => msg::metric_done(),
            Metric::Active => msg::metric_active(),
            Metric::Failed => msg::metric_failed(),
        }
    }
}

/// A number over its word.
#[derive(Clone, Debug, PartialEq)]
pub struct Counter {
    /// The number.
    pub value: String,
    /// What it counts.
    pub metric: Metric,
    /// Its colour.
    pub tone: Tone,
    /// What its Pods come to, where the status that it is read from says something else.
    pub lags: Message,
}

/// The counters that every workload has: desired, current, ready.
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

/// A card of a controller: Deployment, ReplicaSet, StatefulSet, Job, …
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ControllerCard {
    /// Which.
    pub id: Id,
    /// The line over the name: `ReplicaSet · revision 1`.
    pub caption: Message,
    /// desired, current, ready.
    pub counters: Vec<Counter>,
    /// One fact at the foot.
    pub footer: Message,
    /// A pill at the foot's right.
    pub chip: Message,
    /// Has a deletionTimestamp.
    pub leaving: bool,
    /// `spec.replicas`, or what stands for it.
    pub desired: usize,
    /// How many Pods more there may be in an update, with those that are on their way out.
    pub surplus: usize,
    /// How many are of its newest template.
    pub updated: Option<usize>,
    /// The application that its own labels name, or those of its template.
    pub app: String,
    /// The labels of its template: `app=nginx`.
    pub labels: Vec<String>,
    /// Whether it makes claims for its Pods.
    pub claims: bool,
    /// Of a StatefulSet: its first ordinal, and the Service that names its Pods.
    pub members: (u32, String),
}

/// Pods that one controller owns, with that controller's card if it stands between the root and the Pods.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group {
    /// A ReplicaSet of a Deployment, a Job of a CronJob.
    pub controller: Option<Rc<ControllerCard>>,
    /// Sorted by ordinal, else creation, then name.
    pub pods: PodBlock,
}

/// A tree of ownership.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Root {
    /// None for bare Pods.
    pub controller: Option<Rc<ControllerCard>>,
    /// By revision, old first.
    pub groups: Vec<Group>,
    /// Old ReplicaSets without Pods, folded into one line.
    pub folded: usize,
    /// Those that are shown because a person has unfolded them.
    pub unfolded: usize,
}

impl Root {
    /// Whether a Pod mounts a claim, or will.
    pub fn mounts(&self) -> bool {
        self.controller.as_ref().is_some_and(|of| of.claims)
            || self.groups.iter().any(|group| group.pods.mounts())
    }

    /// From which of its Pods on a group is of an older revision: from the first, or none.
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

    /// How many Pods there are to be.
    pub fn desired(&self) -> usize {
        self.controller.as_ref().map_or(0, |of| of.desired)
    }

    /// How many Pods there are.
    pub fn pods(&self) -> usize {
        self.groups.iter().map(|group| group.pods.len()).sum()
    }
}

/// What acts on a workload from beside it: an autoscaler, a disruption budget.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Policy {
    /// Which.
    pub id: Id,
    /// In its pill: `1 to 5 Pods`, `1 may go`.
    pub form: Message,
    /// Beside its card.
    pub words: Message,
    /// The eviction that it refuses at the moment; empty if none is asked for.
    pub refuses: Message,
    /// The uid of the workload it is about.
    pub target: String,
}
