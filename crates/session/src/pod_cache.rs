//! Pods as drawn, read incrementally from the journal.

use super::run::Run;
use apiserver::{Entry, Op};
use k8s_model::{Kind, Object, ObjectRef};
use projection::adapt::Pods;

/// Pods of another instant while they are being read.
struct PodBackfill {
    epoch: u64,
    happened: usize,
    /// Places read so far; those written meanwhile are read again.
    places: usize,
    pods: Pods,
}

impl PodBackfill {
    fn new(run: &Run) -> PodBackfill {
        PodBackfill {
            epoch: run.epoch,
            happened: run.happened(),
            places: 0,
            pods: Pods::default(),
        }
    }
}

/// Cache of the Pods, and the position in the history up to which it was read.
#[derive(Default)]
pub struct PodCache {
    pub(super) pods: Pods,
    /// Epoch of the run and number of entries read.
    pub(super) position: Option<(u64, usize)>,
    backfill: Option<PodBackfill>,
}

impl PodCache {
    /// Returns true if all journal entries have been read.
    pub fn is_current(&self, run: &Run) -> bool {
        self.position == Some((run.epoch, run.happened()))
    }

    /// Returns true while the Pods of another instant are still being read.
    pub fn is_backfilling(&self) -> bool {
        self.backfill.is_some()
    }

    /// Reads the writes to Pods since the last call, at most `most` entries or Pods. Returns true when all are read.
    pub fn read(&mut self, run: &Run, most: usize) -> bool {
        let (epoch, happened) = (run.epoch, run.happened());
        let get = |key: &ObjectRef| run.sim().store().get(key).cloned();
        if let Some((turn, read)) = self.position
            && turn == epoch
            && read <= happened
        {
            let to = happened.min(read.saturating_add(most));
            let written = run
                .journal()
                .first(to)
                .from(read)
                .iter()
                .filter_map(Entry::write);
            for (op, object) in written.filter(|(_, object)| object.kind == Kind::Pod) {
                // An object written again later is read at its newest entry.
                let gone = op == Op::Deleted;
                if gone || run.sim().store().is_newest(object) {
                    self.pods.take(object, gone, &get);
                }
            }
            self.position = Some((epoch, to));
            return to == happened;
        }
        let backfill = self.backfill.get_or_insert_with(|| PodBackfill::new(run));
        if backfill.epoch != epoch || backfill.happened > happened {
            *backfill = PodBackfill::new(run);
        }
        let some = run.sim().store().some(Kind::Pod, backfill.places, most);
        let done = some
            .map(|some| some.for_each(|object| backfill.pods.take(object, false, &get)))
            .is_none();
        backfill.places = backfill.places.saturating_add(most);
        if done {
            self.pods = std::mem::take(&mut backfill.pods);
            self.position = Some((epoch, backfill.happened));
            self.backfill = None;
        }
        false
    }

    /// Number of ready Pods of a workload: of the Pods drawn, or else of those in the cache of the loops.
    pub fn ready_of(&self, run: &Run, object: &Object) -> usize {
        let (sim, uid) = (run.sim(), object.meta.uid);
        let sets = sim
            .store()
            .list(Kind::ReplicaSet)
            .filter(|set| set.meta.is_controlled_by(uid))
            .map(|set| set.meta.uid);
        let drawn = self.is_current(run);
        sets.chain([uid])
            .map(|uid| {
                if drawn {
                    self.pods.totals(uid).ready
                } else {
                    sim.informers.controller_manager.cache.ready_pods(uid)
                }
            })
            .sum()
    }
}
