//! Pods of one owner, in the order of the diagram.
//!
//! Guarantees: a copy is cheap, and changing one of many Pods copies only its chunk, so that a picture of a hundred thousand of them may be
//! kept while the next is made.

use crate::model::{Pod, PodState};
use i18n::Message;
use std::cmp::Ordering;
use std::ops::{Index, Range};
use std::rc::Rc;

/// Maximum number of Pods per chunk; a larger chunk is split.
const MAX_CHUNK_PODS: usize = 128;

/// Number of Pods up to which they are compared one by one.
const MAX_COMPARED_PODS: usize = 200;

/// Pods in order with their counts, shared between pictures.
#[derive(Clone, Debug, Default)]
pub struct PodBlock(Rc<Members>);

#[derive(Clone, Debug, Default)]
struct Members {
    chunks: Vec<Rc<Chunk>>,
    pods: usize,
    counts: [usize; PodState::ALL.len()],
    /// Number of Pods that mount claims.
    mounting: usize,
    /// Number of unscheduled Pods.
    unscheduled: usize,
    /// Number of Pods that have ended.
    ended: usize,
    /// Number of active Pods: neither ended nor terminating.
    active: usize,
    /// Numbers of Pods that have succeeded and failed without being deleted.
    outcomes: [usize; 2],
    /// Reasons of failing Pods, with their counts.
    reasons: Vec<(Message, usize)>,
}

#[derive(Clone, Debug, Default)]
struct Chunk {
    pods: Vec<Rc<Pod>>,
    /// States of the Pods, stored contiguously for painting.
    states: Vec<PodState>,
}

impl Members {
    fn count(&mut self, pod: &Pod, by: isize) {
        let add = |n: &mut usize, by| *n = n.wrapping_add_signed(by);
        add(&mut self.pods, by);
        add(&mut self.counts[pod.state as usize], by);
        if !pod.claims.is_empty() {
            add(&mut self.mounting, by);
        }
        if !pod.unscheduled.is_empty() {
            add(&mut self.unscheduled, by);
        }
        if pod.ended {
            add(&mut self.ended, by);
            match pod.state {
                PodState::Succeeded => add(&mut self.outcomes[0], by),
                PodState::Failed => add(&mut self.outcomes[1], by),
                _ => {}
            }
        } else if pod.state != PodState::Terminating {
            add(&mut self.active, by);
        }
        if pod.state == PodState::Failed {
            match self.reasons.iter_mut().find(|(word, _)| *word == pod.word) {
                Some((_, n)) => add(n, by),
                None => self.reasons.push((pod.word.clone(), 1)),
            }
            self.reasons.retain(|(_, n)| *n > 0);
        }
    }

    /// Returns the chunk of a position, and the position within it. The end belongs to the last chunk.
    fn chunk(&self, at: usize) -> (usize, usize) {
        let mut from = 0;
        for (i, chunk) in self.chunks.iter().enumerate() {
            let len = chunk.pods.len();
            if at < from + len || i + 1 == self.chunks.len() {
                return (i, at - from);
            }
            from += len;
        }
        (0, at)
    }
}

impl PodBlock {
    /// Number of Pods.
    pub fn len(&self) -> usize {
        self.0.pods
    }

    /// Returns true if there are no Pods.
    pub fn is_empty(&self) -> bool {
        self.0.pods == 0
    }

    /// Number of unscheduled Pods.
    pub fn unscheduled(&self) -> usize {
        self.0.unscheduled
    }

    /// Iterates over the Pods, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Rc<Pod>> {
        self.0.chunks.iter().flat_map(|chunk| &chunk.pods)
    }

    /// Returns the Pod at a position.
    pub fn get(&self, at: usize) -> Option<&Rc<Pod>> {
        let (chunk, at) = self.0.chunk(at);
        self.0.chunks.get(chunk)?.pods.get(at)
    }

    /// Returns the first Pod.
    pub fn first(&self) -> Option<&Rc<Pod>> {
        self.0.chunks.first()?.pods.first()
    }

    /// Iterates over the states of the Pods.
    pub fn states(&self) -> impl Iterator<Item = PodState> {
        self.0
            .chunks
            .iter()
            .flat_map(|chunk| chunk.states.iter().copied())
    }

    /// Iterates over the states of the Pods at a range of positions.
    pub fn states_of(&self, places: Range<usize>) -> impl Iterator<Item = PodState> {
        let (chunk, at) = self.0.chunk(places.start);
        let from = self.0.chunks.get(chunk..).unwrap_or_default().iter();
        from.flat_map(|chunk| chunk.states.iter().copied())
            .skip(at)
            .take(places.len())
    }

    /// Number of Pods in each state that occurs.
    pub fn counts(&self) -> Vec<(PodState, usize)> {
        PodState::ALL
            .into_iter()
            .map(|state| (state, self.0.counts[state as usize]))
            .filter(|(_, n)| *n > 0)
            .collect()
    }

    /// Returns true if both are the same block, by pointer.
    pub fn is_same(&self, other: &PodBlock) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    /// Returns true if a Pod is in this state.
    pub fn has(&self, state: PodState) -> bool {
        self.0.counts[state as usize] > 0
    }

    /// Label of a state's count: the reason of the failures, if all have the same.
    pub fn word(&self, state: PodState) -> Message {
        match &self.0.reasons[..] {
            [(reason, _)] if state == PodState::Failed => reason.clone(),
            [_, ..] if state == PodState::Failed && self.failed() => Message::state("Failed"),
            _ => state.word(),
        }
    }

    /// Returns true if all failing Pods have ended.
    pub fn failed(&self) -> bool {
        self.0.outcomes[1] == self.0.counts[PodState::Failed as usize]
    }

    /// Number of Pods that have ended.
    pub fn ended(&self) -> usize {
        self.0.ended
    }

    /// Totals of the Pods, as controllers count them.
    pub fn totals(&self) -> crate::totals::PodTotals {
        let [ready, leaving] =
            [PodState::Ready, PodState::Terminating].map(|state| self.0.counts[state as usize]);
        // Not computed for very many Pods: their totals are counted as they are written.
        let looks = leaving > 0 && self.len() <= MAX_COMPARED_PODS;
        let ended = |pod: &&Rc<Pod>| pod.state == PodState::Terminating && pod.ended;
        let stopped = if looks {
            self.iter().filter(ended).count()
        } else {
            0
        };
        let [succeeded, failed] = self.0.outcomes;
        crate::totals::PodTotals {
            all: self.len(),
            active: self.0.active,
            ready,
            leaving,
            stopped,
            succeeded,
            failed,
        }
    }

    /// Returns true if a Pod mounts a claim.
    pub fn mounts(&self) -> bool {
        self.0.mounting > 0
    }

    /// Position of the Pod that compares equal, or where to insert it; the Pods must be sorted in that order.
    pub fn search(&self, compare: impl Fn(&Pod) -> Ordering) -> Result<usize, usize> {
        let Some((chunk, from)) = self.chunk_for(&compare) else {
            return Err(0);
        };
        let found = self.0.chunks[chunk]
            .pods
            .binary_search_by(|pod| compare(pod));
        found.map(|at| from + at).map_err(|at| from + at)
    }

    /// Position of this very Pod. Comparing pointers in a chunk is faster than comparing names.
    pub fn place_of(&self, pod: &Rc<Pod>) -> Option<usize> {
        let (chunk, from) = self.chunk_for(|other| other.order(pod))?;
        self.0.chunks[chunk]
            .pods
            .iter()
            .position(|other| Rc::ptr_eq(other, pod))
            .map(|at| from + at)
    }

    /// Chunk that contains a Pod comparing equal, or into which it would be inserted, and the position of the chunk's first Pod.
    fn chunk_for(&self, compare: impl Fn(&Pod) -> Ordering) -> Option<(usize, usize)> {
        let chunks = &self.0.chunks;
        let after = chunks.partition_point(|chunk| {
            chunk
                .pods
                .first()
                .is_some_and(|pod| compare(pod) != Ordering::Greater)
        });
        let chunk = after.checked_sub(1)?;
        Some((
            chunk,
            chunks[..chunk].iter().map(|chunk| chunk.pods.len()).sum(),
        ))
    }

    /// Inserts a Pod at a position.
    pub fn insert(&mut self, at: usize, pod: Rc<Pod>) {
        let own = Rc::make_mut(&mut self.0);
        own.count(&pod, 1);
        let (chunk, at) = own.chunk(at);
        if own.chunks.is_empty() {
            own.chunks.push(Rc::default());
        }
        let here = Rc::make_mut(&mut own.chunks[chunk]);
        here.states.insert(at, pod.state);
        here.pods.insert(at, pod);
        if here.pods.len() > MAX_CHUNK_PODS {
            // Most Pods are appended: the first of the two chunks stays full, and is not changed from then on.
            let keep = if chunk + 1 == own.chunks.len() {
                MAX_CHUNK_PODS
            } else {
                MAX_CHUNK_PODS / 2
            };
            let here = Rc::make_mut(&mut own.chunks[chunk]);
            let rest = Chunk {
                pods: here.pods.split_off(keep),
                states: here.states.split_off(keep),
            };
            own.chunks.insert(chunk + 1, Rc::new(rest));
        }
    }

    /// Removes the Pod at a position.
    pub fn remove(&mut self, at: usize) {
        let own = Rc::make_mut(&mut self.0);
        let (chunk, at) = own.chunk(at);
        let here = Rc::make_mut(&mut own.chunks[chunk]);
        here.states.remove(at);
        let pod = here.pods.remove(at);
        if here.pods.is_empty() {
            own.chunks.remove(chunk);
        }
        own.count(&pod, -1);
    }

    /// Replaces the Pod at a position.
    pub fn replace(&mut self, at: usize, pod: Rc<Pod>) {
        let own = Rc::make_mut(&mut self.0);
        own.count(&pod, 1);
        let (chunk, at) = own.chunk(at);
        let here = Rc::make_mut(&mut own.chunks[chunk]);
        here.states[at] = pod.state;
        let old = std::mem::replace(&mut here.pods[at], pod);
        own.count(&old, -1);
    }

    /// Returns true if both are the same block, by pointer.
    pub fn is(&self, other: &PodBlock) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    /// Returns the ranges in which this may differ from another block: all except shared chunks.
    pub fn changed_since(&self, other: &PodBlock) -> Vec<Range<usize>> {
        let places = |block: &PodBlock| {
            let mut at = 0;
            let of = |chunk: &Rc<Chunk>| {
                at += chunk.pods.len();
                (at - chunk.pods.len(), Rc::as_ptr(chunk))
            };
            block.0.chunks.iter().map(of).collect::<Vec<_>>()
        };
        let (mine, theirs) = (places(self), places(other));
        let mut changed: Vec<Range<usize>> = Vec::new();
        for (chunk, place) in self.0.chunks.iter().zip(&mine) {
            if theirs
                .binary_search_by_key(&place.0, |(at, _)| *at)
                .is_ok_and(|i| theirs[i] == *place)
            {
                continue;
            }
            let end = place.0 + chunk.pods.len();
            match changed.last_mut() {
                Some(last) if last.end == place.0 => last.end = end,
                _ => changed.push(place.0..end),
            }
        }
        if other.len() > self.len() {
            changed.push(self.len()..other.len());
        }
        changed
    }
}

impl Index<usize> for PodBlock {
    type Output = Rc<Pod>;
    fn index(&self, at: usize) -> &Rc<Pod> {
        let (chunk, at) = self.0.chunk(at);
        &self.0.chunks[chunk].pods[at]
    }
}

impl PartialEq for PodBlock {
    fn eq(&self, other: &PodBlock) -> bool {
        // Most differences are in the state, which is compared without reading the Pods.
        let same = |(a, b): (&Rc<Pod>, &Rc<Pod>)| Rc::ptr_eq(a, b) || a == b;
        let alike = || {
            self.changed_since(other)
                .into_iter()
                .all(|places| self.states_of(places.clone()).eq(other.states_of(places)))
        };
        let shared = || {
            self.0.chunks.len() == other.0.chunks.len()
                && self
                    .0
                    .chunks
                    .iter()
                    .zip(&other.0.chunks)
                    .all(|(a, b)| Rc::ptr_eq(a, b))
        };
        // For many Pods that were all read again, comparing costs more than drawing.
        let few = self.len() <= MAX_COMPARED_PODS;
        self.is(other)
            || self.0.counts == other.0.counts
                && (shared() || few && alike() && self.iter().zip(other.iter()).all(same))
    }
}

impl FromIterator<Rc<Pod>> for PodBlock {
    fn from_iter<I: IntoIterator<Item = Rc<Pod>>>(pods: I) -> PodBlock {
        let (mut all, mut chunk) = (Members::default(), Chunk::default());
        for pod in pods {
            if chunk.pods.len() == MAX_CHUNK_PODS {
                all.chunks.push(Rc::new(std::mem::take(&mut chunk)));
            }
            all.count(&pod, 1);
            chunk.states.push(pod.state);
            chunk.pods.push(pod);
        }
        if !chunk.pods.is_empty() {
            all.chunks.push(Rc::new(chunk));
        }
        PodBlock(Rc::new(all))
    }
}

impl FromIterator<Pod> for PodBlock {
    fn from_iter<I: IntoIterator<Item = Pod>>(pods: I) -> PodBlock {
        pods.into_iter().map(Rc::new).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_core::rng::Rng;

    fn pod(created: u64, state: PodState) -> Rc<Pod> {
        Rc::new(Pod {
            created,
            state,
            ..Pod::default()
        })
    }

    #[test]
    fn a_block_behaves_like_a_vec_and_reports_changed_ranges() {
        let (mut block, mut list, mut rng) =
            (PodBlock::default(), Vec::<Rc<Pod>>::new(), Rng::new(5));
        let (mut kept, mut was) = (block.clone(), list.clone());
        for step in 0..20_000u64 {
            // The block alternately grows and shrinks to nothing.
            let grows = if step / 4_000 % 2 == 0 { 7 } else { 2 };
            let new = pod(rng.below(2_000), PodState::ALL[rng.below(7) as usize]);
            let found = block.search(|pod| pod.created.cmp(&new.created));
            assert_eq!(
                found.is_ok(),
                list.binary_search_by(|pod| pod.created.cmp(&new.created))
                    .is_ok(),
                "{step}"
            );
            match found {
                Ok(at) if rng.below(10) < grows => {
                    block.replace(at, new.clone());
                    list[at] = new;
                }
                Ok(at) => {
                    block.remove(at);
                    list.remove(at);
                }
                Err(at) if rng.below(10) < grows => {
                    block.insert(at, new.clone());
                    list.insert(at, new);
                }
                Err(_) if !list.is_empty() => {
                    let at = rng.below(list.len() as u64) as usize;
                    block.remove(at);
                    list.remove(at);
                }
                Err(_) => {}
            }
            assert_eq!(block.len(), list.len(), "{step}");
            if rng.below(40) > 0 {
                continue;
            }
            assert!(
                block.iter().eq(&list) && block.states().eq(list.iter().map(|pod| pod.state)),
                "{step}"
            );
            let again: PodBlock = list.iter().cloned().collect();
            assert!(block == again || list.len() > MAX_COMPARED_PODS, "{step}");
            let counted = |state| list.iter().filter(|pod| pod.state == state).count();
            assert!(
                block
                    .counts()
                    .iter()
                    .all(|(state, n)| counted(*state) == *n),
                "{step}"
            );
            let changed = kept.clone().changed_since(&block);
            assert_eq!(changed, kept.changed_since(&block), "{step}");
            let changed = block.changed_since(&kept);
            for at in 0..list.len().max(was.len()) {
                let same = list
                    .get(at)
                    .zip(was.get(at))
                    .is_some_and(|(new, old)| Rc::ptr_eq(new, old));
                assert!(
                    same || changed.iter().any(|places| places.contains(&at)),
                    "{step}: {at}"
                );
                assert!(
                    block.get(at).map(Rc::as_ptr) == list.get(at).map(Rc::as_ptr),
                    "{step}: {at}"
                );
            }
            for places in changed {
                let end = places.end.min(list.len());
                let states = list
                    .get(places.start..end)
                    .unwrap_or_default()
                    .iter()
                    .map(|pod| pod.state);
                assert!(
                    block
                        .states_of(places.start..end.max(places.start))
                        .eq(states),
                    "{step}"
                );
            }
            if rng.below(4) == 0 {
                (kept, was) = (block.clone(), list.clone());
            }
        }
    }

    #[test]
    fn failures_with_one_reason_are_counted_by_reason() {
        let fails = |at: u64, reason: &str| {
            Rc::new(Pod {
                word: reason.into(),
                ..(*pod(at, PodState::Failed)).clone()
            })
        };
        let mut block: PodBlock = [
            pod(0, PodState::Ready),
            fails(1, "ErrImagePull"),
            fails(2, "ErrImagePull"),
        ]
        .into_iter()
        .collect();
        assert_eq!(block.word(PodState::Failed), "ErrImagePull");
        assert_eq!(block.word(PodState::Ready), "Ready");
        block.replace(2, fails(2, "ImagePullBackOff"));
        assert_eq!(block.word(PodState::Failed), "Failing");
        block.remove(1);
        assert_eq!(block.word(PodState::Failed), "ImagePullBackOff");
        block.remove(1);
        assert_eq!(block.word(PodState::Failed), "Failing");
        // If the failing Pods have ended, the reason is a phase.
        let ended = |at: u64, reason: &str| {
            Rc::new(Pod {
                ended: true,
                ..(*fails(at, reason)).clone()
            })
        };
        let block: PodBlock = [
            pod(0, PodState::Ready),
            ended(1, "Error"),
            ended(2, "OOMKilled"),
        ]
        .into_iter()
        .collect();
        assert_eq!(block.word(PodState::Failed), "Failed");
        assert!(block.failed());
    }

    #[test]
    fn one_more_of_many_leaves_almost_all_shared() {
        let block: PodBlock = (0..10_000).map(|at| pod(at, PodState::Ready)).collect();
        let mut next = block.clone();
        next.replace(5_000, pod(5_000, PodState::Failed));
        let changed = next.changed_since(&block);
        assert!(
            changed.len() == 1 && changed[0].len() <= MAX_CHUNK_PODS && changed[0].contains(&5_000),
            "{changed:?}"
        );
        assert_ne!(next, block);
    }
}
