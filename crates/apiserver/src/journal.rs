//! Journal: every command, write and refusal in order, with its cause.

use super::why::Why;
use crate::ApiError;
use fault::Fault;
use k8s_model::{Kind, Object, ObjectRef, Str, Time};
use sim_core::chunks::{ChunkRange, Chunks};
use std::borrow::Cow;
use std::rc::Rc;

/// Position of an entry in the journal.
pub type EntryId = u32;

/// Entries per chunk shared between checkpoints.
const CHUNK_ENTRIES: usize = 256;
/// Journal as stored.
pub type Entries = Chunks<Entry, CHUNK_ENTRIES>;
/// View of the journal or of a part of it.
pub type Journal<'a> = ChunkRange<'a, Entry, CHUNK_ENTRIES>;

/// Component or person that acts.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Actor {
    /// Component name: `deployment-controller`, `default-scheduler`, `kubelet`, `user`…
    pub name: &'static str,
    /// Node of a kubelet; otherwise empty.
    pub node: Str,
}

impl Actor {
    /// Person at the page or the command line.
    pub const USER: Actor = Actor::component("user");
    /// API server itself.
    pub const SERVER: Actor = Actor::component("apiserver");

    /// Returns the actor for a component of the control plane.
    pub const fn component(name: &'static str) -> Actor {
        Actor {
            name,
            node: Str::new_static(""),
        }
    }

    /// Returns the actor for the kubelet of a node.
    pub fn kubelet(node: &Str) -> Actor {
        Actor {
            name: "kubelet",
            node: node.clone(),
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

/// Content of an entry.
#[derive(Clone, Debug)]
pub enum Record {
    /// User's command, as a kubectl line.
    Command(Str),
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
    /// Dropped entry (`forget.rs`), of which only the position is kept.
    Forgotten,
    /// Write that the API server refused; boxed, since refusals are rare and large.
    Refused(Box<RefusedWrite>),
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
            Record::Command(line) => Some(Cow::Borrowed(line)),
            Record::Fault(fault) => Some(Cow::Owned(fault.command_line())),
            _ => None,
        }
    }

    /// Returns the key of the object written or refused.
    pub fn key(&self) -> Option<ObjectRef> {
        match &self.record {
            Record::Command(_) | Record::Fault(_) | Record::Forgotten => None,
            Record::Write { object, .. } => Some(object.key()),
            Record::Refused(refused) => Some(refused.key.clone()),
        }
    }

    /// Returns true if the entry records a Kubernetes Event, or belongs to the cluster's bootstrap.
    pub fn is_event(&self) -> bool {
        // The reason alone is usually enough; reading the object may miss the CPU cache.
        matches!(self.why, Why::Bootstrap | Why::Said { .. })
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
