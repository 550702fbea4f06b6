//! Compaction of the journal: entries of deleted objects are dropped to free memory.
//!
//! Entries keep their positions, so that every id stays valid. Of the entries before an instant, writes of short-lived kinds are dropped
//! if the object no longer existed at that instant, and so are refusals; commands, and all writes of other objects, are kept. Since the
//! simulation reads none of the dropped entries (field managers and mounted files are derived from the writes of existing objects), it
//! continues unchanged.

use super::sim::Sim;
use apiserver::journal::{Actor, Entries, Entry, Record};
use apiserver::why::Why;
use k8s_model::{Kind, Time};
use std::ops::Range;

/// Kinds with many short-lived objects.
const SHORT_LIVED: [Kind; 6] = [
    Kind::Pod,
    Kind::Event,
    Kind::Job,
    Kind::ReplicaSet,
    Kind::ControllerRevision,
    Kind::EndpointSlice,
];
/// Journal chunks rewritten at a time; few in tests (feature `test-util`), so that they take several steps.
const CHUNKS_PER_STEP: usize = if cfg!(any(test, feature = "test-util")) {
    2
} else {
    64
};

/// Compaction in progress.
#[derive(Clone, Debug)]
pub struct Forgetting {
    entries: Entries,
    /// Chunks rewritten last; those before are done.
    part: Range<usize>,
    chunks: usize,
    /// Time from which all entries are kept.
    pub from: Time,
}

impl Forgetting {
    /// Returns true if the compaction is complete.
    pub fn is_done(&self) -> bool {
        self.part.end == self.chunks
    }
}

impl Sim {
    /// Begins to drop entries older than this instant. None is dropped while watch events are withheld: they may be about any entry.
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

    /// Rewrites the next part, which all simulations of the history must adopt ([`Sim::forget`]): the memory that they free is released
    /// before the next part. Earlier copies of a run keep their entries.
    pub fn forget_next(&self, forgetting: &mut Forgetting) {
        let end = (forgetting.part.end + CHUNKS_PER_STEP).min(forgetting.chunks);
        forgetting.part = forgetting.part.end..end;
        forgetting
            .entries
            .rewrite(forgetting.part.clone(), |entry| {
                self.is_forgotten(entry).then(|| forgotten(entry.time))
            });
    }

    /// Adopts the part of the journal rewritten last. This simulation must be the compacted one or a descendant of it.
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

/// Returns the remainder of a dropped entry: its time.
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
