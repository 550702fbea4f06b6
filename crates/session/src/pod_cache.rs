//! The Pods as they are drawn, read incrementally from the journal.

use super::run::Run;
use apiserver::{Entry, Op};
use k8s_model::{Kind, Object, ObjectRef};
use projection::adapt::Pods;

/// The Pods of another instant, while they are being read.
struct PodBackfill {
    epoch: u64,
    happened: usize,
    /// Places that have been looked at; what is written meanwhile is read again.
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

/// The Pods, and how much of which history they were read from.
#[derive(Default)]
pub struct PodCache {
    pub(super) pods: Pods,
    /// The epoch of the run and the number of entries read.
    pub(super) position: Option<(u64, usize)>,
    backfill: Option<PodBackfill>,
}

impl PodCache {
    /// Whether everything that has happened is read.
    pub fn is_current(&self, run: &Run) -> bool {
        self.position == Some((run.epoch, run.happened()))
    }

    /// Whether the Pods of another instant are still being read.
    pub fn is_backfilling(&self) -> bool {
        self.backfill.is_some()
    }

    /// Takes over what was written to Pods since it was last asked to, of so many entries or Pods. True when all is read.
    pub fn read(&mut self, run: &Run, most: usize) -> bool {
        let (epoch, happened) = (run.epoch, run.happened());
        let get = |key: &ObjectRef| run.get(key).cloned();
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
                // An object written again since is read at its newest entry.
                let gone = op == Op::Deleted;
                if gone || run.sim().server().is_newest(object) {
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
        let some = run.sim().server().some(Kind::Pod, backfill.places, most);
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

    /// How many Pods of a workload are ready: those that are drawn, or else those that the loops know of.
    pub fn ready_of(&self, run: &Run, object: &Object) -> usize {
        let (sim, uid) = (run.sim(), object.meta.uid);
        let sets = sim
            .list(Kind::ReplicaSet)
            .filter(|set| set.meta.is_controlled_by(uid))
            .map(|set| set.meta.uid);
        let drawn = self.is_current(run);
        sets.chain([uid])
            .map(|uid| {
                if drawn {
                    self.pods.totals(uid).ready
                } else {
                    sim.ready_of(uid)
                }
            })
            .sum()
    }
}
