//! Compaction of the journal: entries of deleted objects are dropped to free memory.
//!
//! Entries keep their positions, so that every id stays valid. Of the entries before an instant, writes of short-lived kinds are dropped
//! if the object no longer existed at that instant, and so are refusals; commands, and all writes of other objects, are kept. Since the
//! simulation reads none of the dropped entries (field managers and mounted files are derived from the writes of existing objects), it
//! continues unchanged.

use crate::Sim;
use crate::slowed::is_held_up;
use apiserver::Store;
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
    /// Begins to drop entries older than this instant. None is dropped while watch events are withheld: they may be about any entry.
    pub fn begin(sim: &Sim) -> Forgetting {
        let entries = sim.store().entries().clone();
        let chunks = if is_held_up(sim) {
            0
        } else {
            entries.full_chunks(sim.informers.seen())
        };
        Forgetting {
            entries,
            part: 0..0,
            chunks,
            from: sim.now(),
        }
    }

    /// Returns true if the compaction is complete.
    pub fn is_done(&self) -> bool {
        self.part.end == self.chunks
    }

    /// Rewrites the next part, which all simulations of the history must adopt ([`Forgetting::share`]): the memory that they free is
    /// released before the next part. Earlier copies of a run keep their entries.
    pub fn rewrite_next(&mut self, store: &Store) {
        let end = (self.part.end + CHUNKS_PER_STEP).min(self.chunks);
        self.part = self.part.end..end;
        self.entries.rewrite(self.part.clone(), |entry| {
            is_forgotten(store, entry).then(|| forgotten(entry.time))
        });
    }

    /// Lets a simulation adopt the part of the journal rewritten last. It must be the compacted one or a descendant of it.
    pub fn share(&self, sim: &mut Sim) {
        sim.server
            .store
            .entries_mut()
            .share(&self.entries, self.part.clone());
    }
}

fn is_forgotten(store: &Store, entry: &Entry) -> bool {
    match &entry.record {
        Record::Command(_) | Record::Fault(_) | Record::ClientFault(_) | Record::Forgotten => false,
        Record::Refused(_) => entry.actor != Actor::USER,
        Record::Write { object, .. } => {
            let stored = store.get(&object.key());
            SHORT_LIVED.contains(&object.kind)
                && stored.is_none_or(|stored| stored.meta.uid != object.meta.uid)
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
