//! Journal: every command, write and refusal in order, with its cause.

use super::component::Component;
use super::why::Why;
use crate::ApiError;
use fault::{ClientCall, ClientFault, Fault};
use k8s_model::{Kind, Object, ObjectRef, Str, Time};
use sim_core::chunks::{ChunkRange, Chunks};
use std::borrow::Cow;
use std::fmt::{self, Display, Formatter};
use std::rc::Rc;

/// Position of an entry in the journal.
pub type EntryId = u32;

/// Entries per chunk shared between checkpoints.
const CHUNK_ENTRIES: usize = 256;
/// Journal as stored.
pub type Entries = Chunks<Entry, CHUNK_ENTRIES>;
/// View of the journal or of a part of it.
pub type Journal<'a> = ChunkRange<'a, Entry, CHUNK_ENTRIES>;

/// Component or person that acts. `Display` writes `deployment-controller`, `kubelet node-2`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Actor {
    /// Component.
    pub component: Component,
    /// Node of a kubelet; otherwise empty.
    pub node: Str,
}

impl Actor {
    /// Person at the page or the command line.
    pub const USER: Actor = Actor::component(Component::User);
    /// API server itself.
    pub const SERVER: Actor = Actor::component(Component::ApiServer);

    /// Returns the actor for a component of the control plane.
    pub const fn component(component: Component) -> Actor {
        Actor {
            component,
            node: Str::new_static(""),
        }
    }

    /// Returns the actor for the kubelet of a node.
    pub fn kubelet(node: &Str) -> Actor {
        Actor {
            component: Component::Kubelet,
            node: node.clone(),
        }
    }
}

impl Display for Actor {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.node.as_str() {
            "" => write!(f, "{}", self.component),
            node => write!(f, "{} {node}", self.component),
        }
    }
}

/// Effect of a write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Op {
    /// The object was created.
    Added,
    /// The object was changed.
    Modified,
    /// The object was removed; the entry holds its last state.
    Deleted,
}

impl Op {
    /// Returns the type of the watch event: `ADDED`, `MODIFIED`, `DELETED`.
    pub fn watch_type(self) -> &'static str {
        match self {
            Op::Added => "ADDED",
            Op::Modified => "MODIFIED",
            Op::Deleted => "DELETED",
        }
    }
}

/// User's command.
#[derive(Clone, Debug)]
pub struct UserCommand {
    /// kubectl line.
    pub line: Str,
    /// Effect that the command may have.
    pub effect: CommandEffect,
    /// Index of the action in the history of which the command is a part.
    pub action: u32,
}

/// Effect that a command may have on the cluster.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CommandEffect {
    /// None.
    Reads,
    /// Writes of objects.
    Writes,
    /// Writes that make the cluster match a manifest.
    Applies,
}

/// Returns the object that a watch sends when a write takes it out of the selection: as it was selected, at the version of the write
/// (`watch_cache.go`).
pub fn leaving(before: &Object, written: &Object) -> Object {
    let mut last = before.clone();
    last.meta.resource_version = written.meta.resource_version;
    last
}

/// Content of an entry.
#[derive(Clone, Debug)]
pub enum Record {
    /// User's command.
    Command(UserCommand),
    /// Injected fault.
    Fault(Rc<Fault>),
    /// Write that the API server accepted: a watch event.
    Write {
        /// Effect of the write.
        op: Op,
        /// Object after the write.
        object: Rc<Object>,
        /// Object before the write.
        before: Option<Rc<Object>>,
    },
    /// Action of a fault on a client.
    ClientFault(Rc<ClientFaultHit>),
    /// Dropped entry (`forget.rs`), of which only the position is kept.
    Forgotten,
    /// Write that the API server refused; boxed, since refusals are rare and large.
    Refused(Box<RefusedWrite>),
}

/// Exchange with a client on which a fault has acted.
#[derive(Clone, Debug)]
pub struct ClientFaultHit {
    /// Fault.
    pub fault: Rc<ClientFault>,
    /// Exchange.
    pub call: ClientCall,
}

/// Refused write.
#[derive(Clone, Debug)]
pub struct RefusedWrite {
    /// Key of the object that was to be written.
    pub key: ObjectRef,
    /// Error returned to the client.
    pub error: ApiError,
}

/// Journal entry.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Virtual time.
    pub time: Time,
    /// Component or person that acted.
    pub actor: Actor,
    /// Content.
    pub record: Record,
    /// Reason.
    pub why: Why,
    /// Earlier entry that woke the actor.
    pub cause: Option<EntryId>,
    /// Number of the reconcile pass; entries of one pass share it.
    pub pass: u32,
    /// Field manager, if a client named one.
    pub manager: Option<Rc<crate::Manager>>,
}

impl Entry {
    /// Returns true for an action of a person: a command or a fault.
    pub fn is_command(&self) -> bool {
        matches!(self.record, Record::Command(_) | Record::Fault(_))
    }

    /// Returns the effect of a user's command, if the entry is one.
    pub fn command_effect(&self) -> Option<CommandEffect> {
        match &self.record {
            Record::Command(command) => Some(command.effect),
            _ => None,
        }
    }

    /// Returns the injected fault, if the entry is one.
    pub fn fault(&self) -> Option<&Fault> {
        match &self.record {
            Record::Fault(fault) => Some(fault),
            _ => None,
        }
    }

    /// Returns the command line of a person's action.
    pub fn command_line(&self) -> Option<Cow<'_, str>> {
        match &self.record {
            Record::Command(command) => Some(Cow::Borrowed(&command.line)),
            Record::Fault(fault) => Some(Cow::Owned(fault.command_line())),
            _ => None,
        }
    }

    /// Returns the key of the object written or refused.
    pub fn key(&self) -> Option<ObjectRef> {
        match &self.record {
            Record::Command(_) | Record::Fault(_) | Record::ClientFault(_) | Record::Forgotten => {
                None
            }
            Record::Write { object, .. } => Some(object.key()),
            Record::Refused(refused) => Some(refused.key.clone()),
        }
    }

    /// Returns true if the entry records a Kubernetes Event, or belongs to the cluster's bootstrap.
    pub fn is_event(&self) -> bool {
        // The reason alone is usually enough; reading the object may miss the CPU cache.
        matches!(self.why, Why::Bootstrap | Why::Event { .. })
            || self
                .write()
                .is_some_and(|(_, object)| object.kind == Kind::Event)
    }

    /// Returns the operation and the object, if the entry is a write.
    pub fn write(&self) -> Option<(Op, &Rc<Object>)> {
        if let Record::Write { op, object, .. } = &self.record {
            Some((*op, object))
        } else {
            None
        }
    }
}
