//! Distinct histories: runs that make the same writes in the same order count once.

use apiserver::journal::Record;
use cluster::Sim;
use k8s_model::{Kind, Uid};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Distinct histories among some runs.
#[derive(Clone, Debug, Default)]
pub struct Histories {
    hashes: BTreeSet<u64>,
    /// Number of runs.
    pub runs: u64,
    /// Run that brought the last new history, from 1.
    pub last_new: u64,
}

impl Histories {
    /// Adds the history of a run.
    pub(super) fn add(&mut self, sim: Option<&Sim>) {
        self.runs += 1;
        if sim.is_some_and(|sim| self.hashes.insert(hash(sim))) {
            self.last_new = self.runs;
        }
    }

    /// Number of distinct histories.
    pub fn distinct(&self) -> usize {
        self.hashes.len()
    }
}

/// Hashes the writes of a run in their order: operation, writer, kind and object. Objects are numbered as they appear, since their names and
/// uids follow from the seed. Events are left out: they tell of writes.
fn hash(sim: &Sim) -> u64 {
    let mut hasher = DefaultHasher::new();
    let mut numbers: BTreeMap<Uid, usize> = BTreeMap::new();
    for entry in sim.journal().iter() {
        let Record::Write { op, object, .. } = &entry.record else {
            continue;
        };
        if object.kind == Kind::Event {
            continue;
        }
        let next = numbers.len();
        let number = *numbers.entry(object.meta.uid).or_insert(next);
        (*op as u8, entry.actor.to_string(), object.kind, number).hash(&mut hasher);
    }
    hasher.finish()
}
