//! View model of a Pod.

use super::id::Id;
use i18n::{Message, msg};
use k8s_model::Str;
use k8s_model::natural::natural_cmp;
use std::cmp::Ordering;
use std::rc::Rc;

/// The seven classes of Pod states with a shape of their own. The word beside a shape is more specific.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum PodState {
    /// Not bound to a node yet.
    #[default]
    Pending,
    /// Bound; a container is waiting.
    Creating,
    /// Running and not ready.
    NotReady,
    /// Ready.
    Ready,
    /// The deletionTimestamp is set.
    Terminating,
    /// Failed, or waiting because of an error.
    Failed,
    /// Ended successfully.
    Succeeded,
}

impl PodState {
    /// All states, in the order of the legend.
    pub const ALL: [PodState; 7] = [
        PodState::Pending,
        PodState::Creating,
        PodState::NotReady,
        PodState::Ready,
        PodState::Terminating,
        PodState::Failed,
        PodState::Succeeded,
    ];

    /// Class in the style sheet, also the value of `data-state`.
    pub fn class(self) -> &'static str {
        match self {
            PodState::Pending => "pending",
            PodState::Creating => "creating",
            PodState::NotReady => "notready",
            PodState::Ready => "ready",
            PodState::Terminating => "terminating",
            PodState::Failed => "failed",
            PodState::Succeeded => "succeeded",
        }
    }

    /// Glyph in the sprite.
    pub fn glyph(self) -> &'static str {
        match self {
            PodState::Pending => "pod-pending",
            PodState::Creating => "pod-creating",
            PodState::NotReady => "pod-notready",
            PodState::Ready => "pod-ready",
            PodState::Terminating => "pod-terminating",
            PodState::Failed => "pod-failed",
            PodState::Succeeded => "pod-succeeded",
        }
    }

    /// Word of the legend and of counts.
    pub fn word(self) -> Message {
        match self {
            PodState::Pending => Message::state("Pending"),
            PodState::Creating => Message::state("ContainerCreating"),
            PodState::NotReady => msg::state_not_ready(),
            PodState::Ready => Message::state("Ready"),
            PodState::Terminating => Message::state("Terminating"),
            // Most of these Pods are Pending or Running: Failed is a phase.
            PodState::Failed => msg::state_failing(),
            PodState::Succeeded => Message::state("Succeeded"),
        }
    }
}

/// Containers of a Pod.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PodContainers {
    /// Number of ready containers, sidecars included; the first number of kubectl's READY column.
    pub ready: usize,
    /// Number of containers and sidecars; the second number of that column.
    pub total: usize,
    /// RESTARTS column.
    pub restarts: i64,
    /// Init containers in the order in which they start, then sidecars, then the others.
    pub list: Vec<Container>,
}

/// View model of a container.
#[derive(Clone, Debug, PartialEq)]
pub struct Container {
    /// Name.
    pub name: Str,
    /// True for an init container that ends before the next one starts.
    pub is_init: bool,
    /// State class of the container alone.
    pub state: PodState,
}

/// View model of a Pod.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pod {
    /// Identity.
    pub id: Id,
    /// State class.
    pub state: PodState,
    /// STATUS column of `kubectl get pods`, or Ready and Not ready for Running.
    pub word: Message,
    /// Addition to the word: the node, or the remaining time.
    pub note: Message,
    /// Length of the prefix of the name shared with its siblings: `web-`, `nginx-5d59d67564-`.
    pub prefix: usize,
    /// Length of the part of that prefix shared by the whole tree: `nginx-`.
    pub family: usize,
    /// Ordinal of a StatefulSet's Pod.
    pub ordinal: Option<u32>,
    /// Creation time in virtual milliseconds.
    pub created: u64,
    /// Node to which it is bound.
    pub node: String,
    /// Names of the claims that it mounts.
    pub claims: Vec<String>,
    /// True if its node does not respond.
    pub stale: bool,
    /// True if its phase is Succeeded or Failed: its requests no longer count.
    pub ended: bool,
    /// CPU request in thousandths of a core.
    pub cpu: u64,
    /// Memory request in bytes.
    pub memory: u64,
    /// Message of its PodScheduled condition while that is False.
    pub unscheduled: String,
    /// Image of its first container.
    pub image: Str,
    /// Containers, unless it is one that has not restarted.
    pub containers: Option<Rc<PodContainers>>,
    /// Uid of its controller; empty if it has none.
    pub owner: Rc<str>,
    /// Labels, such as `app=nginx`.
    pub labels: Rc<[String]>,
}

impl Pod {
    /// Compares Pods of one owner: by ordinal, else creation, then name. Pods of different owners are sorted by owner.
    pub fn order(&self, other: &Pod) -> Ordering {
        if !Rc::ptr_eq(&self.owner, &other.owner) && self.owner != other.owner {
            return self.owner.cmp(&other.owner);
        }
        match (self.ordinal, other.ordinal) {
            (Some(x), Some(y)) if x != y => x.cmp(&y),
            _ => (self.created, &self.id.namespace)
                .cmp(&(other.created, &other.id.namespace))
                .then_with(|| natural_cmp(&self.id.name, &other.id.name))
                .then_with(|| self.id.uid.cmp(&other.id.uid)),
        }
    }

    /// Splits the name into two parts, the shared one to be dimmed. In a long name the part shared by the whole tree is left out, and the
    /// rest is cut at the front.
    pub fn parts(&self, most: usize) -> (String, String) {
        let name = self.id.name.as_str();
        let (lead, tail) = name.split_at_checked(self.prefix).unwrap_or(("", name));
        let lead = if name.len() > most {
            lead.get(self.family.min(lead.len())..).unwrap_or("")
        } else {
            lead
        };
        if lead.len() + tail.len() <= most {
            return (lead.into(), tail.into());
        }
        if tail.len() <= most {
            let drop = lead.len() - most.saturating_sub(tail.len() + 1).min(lead.len());
            let rest = lead.get(drop..).unwrap_or("");
            return (format!("…{rest}"), tail.into());
        }
        (
            String::new(),
            format!("…{}", tail.get(tail.len() + 1 - most..).unwrap_or(tail)),
        )
    }
}
