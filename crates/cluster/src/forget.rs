//! Shortening the history: what the journal knows of objects that are gone makes room.
//!
//! Entries keep their places, so that every id stays valid. Of those before an instant, writes of short-lived kinds are forgotten if the
//! object no longer existed at that instant, and so are refusals; commands, and all writes of other objects, stay. Since nothing that the
//! simulation reads is forgotten (field managers and mounted files are read off the writes of objects that exist), it goes on as if nothing
//! had been.

use super::sim::Sim;
use apiserver::journal::{Actor, Entries, Entry, Record};
use apiserver::why::Why;
use k8s_model::{Kind, Time};
use std::ops::Range;

/// Kinds of which many come and go.
const SHORT_LIVED: [Kind; 6] = [
    Kind::Pod,
    Kind::Event,
    Kind::Job,
    Kind::ReplicaSet,
    Kind::ControllerRevision,
    Kind::EndpointSlice,
];
/// Chunks of the journal rewritten at a time; few in tests (feature `test-util`), so that they go through several parts.
const CHUNKS_PER_STEP: usize = if cfg!(any(test, feature = "test-util")) {
    2
} else {
    64
};

/// A journal while its older part is forgotten.
#[derive(Clone, Debug)]
pub struct Forgetting {
    entries: Entries,
    /// The chunks rewritten last; those before are done.
    part: Range<usize>,
    chunks: usize,
    /// From when on everything is kept.
    pub from: Time,
}

impl Forgetting {
    /// Returns true if all that is to be forgotten is.
    pub fn is_done(&self) -> bool {
        self.part.end == self.chunks
    }
}

impl Sim {
    /// Begins to forget what is older than this instant. Nothing is while events are held back: they may be about any entry.
    pub fn begin_forgetting(&self) -> Forgetting {
        let seen = self
            .informers
            .iter()
            .map(controller_runtime::informer::Informer::seen)
            .min()
            .unwrap_or(0);
        let entries = self.server.entries().clone();
        let chunks = if self.is_held_up() {
            0
        } else {
            entries.full_chunks(seen)
        };
        Forgetting {
            entries,
            part: 0..0,
            chunks,
            from: self.now(),
        }
    }

    /// Goes on with the next part, which all simulations of the history are to take over ([`Sim::forget`]): what they let go is
    /// released before the next part. A run that was copied before keeps what it has.
    pub fn forget_next(&self, forgetting: &mut Forgetting) {
        let end = (forgetting.part.end + CHUNKS_PER_STEP).min(forgetting.chunks);
        forgetting.part = forgetting.part.end..end;
        forgetting
            .entries
            .rewrite(forgetting.part.clone(), |entry| {
                self.is_forgotten(entry).then(|| forgotten(entry.time))
            });
    }

    /// Takes over the part of the journal that was shortened last. This simulation has come from the one that it is of, or is that one.
    pub fn forget(&mut self, forgetting: &Forgetting) {
        self.server
            .entries_mut()
            .share(&forgetting.entries, forgetting.part.clone());
    }

    fn is_forgotten(&self, entry: &Entry) -> bool {
        match &entry.record {
            Record::Command(_) | Record::Fault(_) | Record::Forgotten => false,
            Record::Refused(_) => entry.actor != Actor::USER,
            Record::Write { object, .. } => {
                let stays =
                    |kept: &std::rc::Rc<k8s_model::Object>| kept.meta.uid == object.meta.uid;
                SHORT_LIVED.contains(&object.kind) && !self.get(&object.key()).is_some_and(stays)
            }
        }
    }
}

/// What is left of an entry: when it was.
fn forgotten(time: Time) -> Entry {
    Entry {
        time,
        actor: Actor::SERVER,
        record: Record::Forgotten,
        why: Why::Bootstrap,
        cause: None,
        pass: 0,
        manager: None,
    }
}
