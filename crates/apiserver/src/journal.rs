//! The journal: every command, write and refusal in order, with its cause.

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
/// The journal as stored.
pub type Entries = Chunks<Entry, CHUNK_ENTRIES>;
/// A view of the journal or of a part of it.
pub type Journal<'a> = ChunkRange<'a, Entry, CHUNK_ENTRIES>;

/// Who acts.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Actor {
    /// `deployment-controller`, `default-scheduler`, `kubelet`, `user`…
    pub name: &'static str,
    /// The node, for a kubelet.
    pub node: Str,
}

impl Actor {
    /// The person at the page or the command line.
    pub const USER: Actor = Actor::component("user");
    /// The API server itself.
    pub const SERVER: Actor = Actor::component("apiserver");

    /// A component of the control plane.
    pub const fn component(name: &'static str) -> Actor {
        Actor {
            name,
            node: Str::new_static(""),
        }
    }

    /// The kubelet of a node.
    pub fn kubelet(node: &Str) -> Actor {
        Actor {
            name: "kubelet",
            node: node.clone(),
        }
    }
}

/// What a write did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Op {
    /// The object is new.
    Added,
    /// It has changed.
    Modified,
    /// It is gone; the entry holds its last state.
    Deleted,
}

impl Op {
    /// The type of the watch event: `ADDED`, `MODIFIED`, `DELETED`.
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
    /// A user's command, as a kubectl line.
    Command(Str),
    /// An injected fault.
    Fault(Rc<Fault>),
    /// A write that the API server accepted: a watch event.
    Write {
        /// What it did.
        op: Op,
        /// The object after the write.
        object: Rc<Object>,
        /// The object before it.
        before: Option<Rc<Object>>,
    },
    /// Something that is no longer known (`forget.rs`): its place alone is kept.
    Forgotten,
    /// A write that the API server refused; boxed, since refusals are rare and large.
    Refused(Box<RefusedWrite>),
}

/// A refused write.
#[derive(Clone, Debug)]
pub struct RefusedWrite {
    /// The object that was to be written.
    pub key: ObjectRef,
    /// The refusal.
    pub error: ApiError,
}

/// One line of the history.
#[derive(Clone, Debug)]
pub struct Entry {
    /// When.
    pub time: Time,
    /// Who.
    pub actor: Actor,
    /// What.
    pub record: Record,
    /// Why it was done.
    pub why: Why,
    /// The earlier entry that woke the actor.
    pub cause: Option<EntryId>,
    /// The pass of a loop that this belongs to; entries of one pass have one number.
    pub pass: u32,
    /// The field manager, if a client named one.
    pub manager: Option<Rc<crate::Manager>>,
}

impl Entry {
    /// True for an act of a person: a command or a fault.
    pub fn is_command(&self) -> bool {
        matches!(self.record, Record::Command(_) | Record::Fault(_))
    }

    /// Injected fault, if the entry is one.
    pub fn fault(&self) -> Option<&Fault> {
        match &self.record {
            Record::Fault(fault) => Some(fault),
            _ => None,
        }
    }

    /// Command line of a person's act.
    pub fn command_line(&self) -> Option<Cow<'_, str>> {
        match &self.record {
            Record::Command(line) => Some(Cow::Borrowed(line)),
            Record::Fault(fault) => Some(Cow::Owned(format!("fault {fault}"))),
            _ => None,
        }
    }

    /// The object written or refused.
    pub fn key(&self) -> Option<ObjectRef> {
        match &self.record {
            Record::Command(_) | Record::Fault(_) | Record::Forgotten => None,
            Record::Write { object, .. } => Some(object.key()),
            Record::Refused(refused) => Some(refused.key.clone()),
        }
    }

    /// Returns true if it only records a Kubernetes Event, or belongs to the cluster's bootstrap.
    pub fn is_event(&self) -> bool {
        // The reason alone is enough most of the time; reading the object may miss the CPU cache.
        matches!(self.why, Why::Bootstrap | Why::Said { .. })
            || self
                .write()
                .is_some_and(|(_, object)| object.kind == Kind::Event)
    }

    /// The write, if it is one.
    pub fn write(&self) -> Option<(Op, &Rc<Object>)> {
        if let Record::Write { op, object, .. } = &self.record {
            Some((*op, object))
        } else {
            None
        }
    }
}
