//! A Pod.

use super::id::{Id, natural};
use i18n::{Message, msg};
use k8s_model::Str;
use std::cmp::Ordering;
use std::rc::Rc;

/// The seven classes of Pod states that a shape stands for. The word beside it is more specific.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum PodState {
    /// No node yet.
    #[default]
    Pending,
    /// Bound, a container waits.
    Creating,
    /// Running, not ready.
    NotReady,
    /// Ready.
    Ready,
    /// Has a deletionTimestamp.
    Terminating,
    /// Failed, or waiting for an error.
    Failed,
    /// Ended with success.
    Succeeded,
}

impl PodState {
    /// All of them, in the order of the legend.
    pub const ALL: [PodState; 7] = [
        PodState::Pending,
        PodState::Creating,
        PodState::NotReady,
        PodState::Ready,
        PodState::Terminating,
        PodState::Failed,
        PodState::Succeeded,
    ];

    /// The class in the style sheet, also `data-state`.
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

    /// The glyph in the sprite.
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

    /// The word of the legend and of counts.
    pub fn word(self) -> Message {
        match self {
            PodState::Pending => Message::state("Pending"),
            PodState::Creating => Message::state("ContainerCreating"),
            PodState::NotReady => msg::state_not_ready(),
            PodState::Ready => Message::state("Ready"),
            PodState::Terminating => Message::state("Terminating"),
            // Most of them are Pending or Running: Failed is a phase.
            PodState::Failed => msg::state_failing(),
            PodState::Succeeded => Message::state("Succeeded"),
        }
    }
}

/// A Pod.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pod {
    /// Which.
    pub id: Id,
    /// Its class.
    pub state: PodState,
    /// What `kubectl get pods` prints under STATUS, or Ready and Not ready for Running.
    pub word: Message,
    /// After the word: the node, the time left.
    pub note: Message,
    /// How many leading characters of the name its siblings share: `web-`, `nginx-5d59d67564-`.
    pub prefix: usize,
    /// How many of them the whole tree shares: `nginx-`.
    pub family: usize,
    /// The ordinal of a StatefulSet's Pod.
    pub ordinal: Option<u32>,
    /// Virtual milliseconds of its creation.
    pub created: u64,
    /// The node it is bound to.
    pub node: String,
    /// Names of the claims it mounts.
    pub claims: Vec<String>,
    /// Whether its node does not answer.
    pub stale: bool,
    /// Whether its phase is Succeeded or Failed: it asks for nothing any more.
    pub ended: bool,
    /// CPU request in thousandths.
    pub cpu: u64,
    /// Memory request in bytes.
    pub memory: u64,
    /// The message of its PodScheduled condition while it is False.
    pub unscheduled: String,
    /// The image of its first container.
    pub image: Str,
    /// The uid of its controller; empty if it has none.
    pub owner: Rc<str>,
    /// `app=nginx`.
    pub labels: Rc<[String]>,
}

impl Pod {
    /// The order in which Pods of one owner stand: by ordinal, else creation, then name. Those of another stand apart.
    pub fn order(&self, other: &Pod) -> Ordering {
        if !Rc::ptr_eq(&self.owner, &other.owner) && self.owner != other.owner {
            return self.owner.cmp(&other.owner);
        }
        match (self.ordinal, other.ordinal) {
            (Some(x), Some(y)) if x != y => x.cmp(&y),
            _ => (self.created, &self.id.namespace)
                .cmp(&(other.created, &other.id.namespace))
                .then_with(|| natural(&self.id.name, &other.id.name))
                .then_with(|| self.id.uid.cmp(&other.id.uid)),
        }
    }

    /// The name in two parts, the shared one to be dimmed. What the whole tree shares is left out of a long name,
    /// and the rest is cut at the front.
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
