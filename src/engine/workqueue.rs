//! The work queue of one loop: keys, each at most once, at the earliest time anybody asked for.
//!
//! Models `client-go/util/workqueue`: a key that is being worked on is queued again only when that
//! pass is over, and a failing key comes back after 5 ms, 10 ms, 20 ms… up to 1000 s. Keys do not wait for one another: a pass is over in
//! no time, so that it makes no difference that upstream works on five of them at once. A loop that a person has slowed has one worker.

use super::journal::EntryId;
use super::tree::Tree;
use crate::api::time::MS;
use crate::api::{Duration, ObjectRef, Time};
use std::collections::VecDeque;

const BASE_DELAY_US: u64 = 5 * MS;
const MAX_DELAY_US: u64 = 1_000_000 * MS;

/// A queued key.
#[derive(Clone, Debug)]
struct QueueItem {
    at: Time,
    cause: Option<EntryId>,
}

/// How a slowed loop works: on one key at a time, the first in line, and so long on each.
#[derive(Clone, Debug)]
struct Slow {
    /// Nothing if it is slow no longer and only those that have waited still have to have their turn.
    span: Option<Duration>,
    since: Time,
    fault: EntryId,
    line: VecDeque<ObjectRef>,
    /// How each of them has come to wait.
    waiting: Tree<ObjectRef, Waited>,
    /// When the pass over the first began, and when it ends.
    due: Option<(Time, Time)>,
}

/// How a key has come to wait in the line of a slowed loop.
#[derive(Clone, Copy, Debug)]
pub struct Waited {
    /// What woke the loop for it.
    pub cause: Option<EntryId>,
    /// Since when it waits.
    pub since: Time,
    /// The fault that made the loop slow.
    pub fault: EntryId,
}

/// The queue of one loop.
#[derive(Clone, Debug, Default)]
pub struct WorkQueue {
    ready: Tree<ObjectRef, QueueItem>,
    later: Tree<ObjectRef, QueueItem>,
    busy: Tree<ObjectRef, Time>,
    failures: Tree<ObjectRef, u32>,
    passes: u32,
    slow: Option<Box<Slow>>,
}

impl WorkQueue {
    /// Asks for a pass over the key. Gives the time to run at, if it has to be scheduled anew.
    pub fn add(&mut self, key: &ObjectRef, at: Time, cause: Option<EntryId>) -> Option<Time> {
        let at = self.busy.get(key).map_or(at, |free| at.max(*free));
        match self.ready.get_mut(key) {
            Some(item) => {
                // The newest change is what the pass will have seen.
                item.cause = cause.or(item.cause);
                if item.at <= at {
                    return None;
                }
                item.at = at;
            }
            None => {
                self.ready.insert(key.clone(), QueueItem { at, cause });
            }
        }
        Some(at)
    }

    /// Asks for a pass at some later time; the earliest wish counts.
    pub fn add_at(&mut self, key: &ObjectRef, at: Time, cause: Option<EntryId>) -> bool {
        match self.later.get(key) {
            Some(earlier) if earlier.at <= at => false,
            _ => {
                self.later.insert(key.clone(), QueueItem { at, cause });
                true
            }
        }
    }

    /// Whether the wish for this time still stands; it is taken out, and gives its cause.
    pub fn take_later(&mut self, key: &ObjectRef, now: Time) -> Option<Option<EntryId>> {
        if self.later.get(key).is_none_or(|item| item.at != now) {
            return None;
        }
        self.later.remove(key).map(|item| item.cause)
    }

    /// Takes the key for a pass, if it is due now.
    pub fn take(&mut self, key: &ObjectRef, now: Time) -> Option<Option<EntryId>> {
        match self.ready.get(key) {
            Some(item) if item.at == now => {
                self.passes += u32::from(self.slowed().is_none());
                self.ready.remove(key).map(|item| item.cause)
            }
            _ => None,
        }
    }

    /// How many passes its loop has made.
    pub fn passes(&self) -> u32 {
        self.passes
    }

    /// The pass keeps the key until then.
    pub fn keep_busy(&mut self, key: &ObjectRef, until: Time) {
        self.busy.insert(key.clone(), until);
    }

    /// The pass went well: earlier failures are forgotten.
    pub fn forget(&mut self, key: &ObjectRef) {
        self.failures.remove(key);
    }

    /// The pass failed: how long to wait before the next try.
    pub fn back_off(&mut self, key: &ObjectRef) -> u64 {
        let failures = self.failures.get_or_insert_with(key.clone(), u32::default);
        let delay = (BASE_DELAY_US << (*failures).min(30)).min(MAX_DELAY_US);
        *failures += 1;
        delay
    }

    /// The object is gone: nothing is remembered of it.
    pub fn drop_key(&mut self, key: &ObjectRef) {
        self.busy.remove(key);
        self.failures.remove(key);
        self.later.remove(key);
    }

    /// When the key is looked at again by itself.
    pub fn later(&self, key: &ObjectRef) -> Option<Time> {
        self.later.get(key).map(|item| item.at)
    }

    /// How many keys wait, with the one that a slowed loop works on.
    pub fn len(&self) -> usize {
        self.ready.len() + self.slow.as_ref().map_or(0, |slow| slow.line.len())
    }

    /// Whether no key waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The keys that wait.
    pub fn keys(&self) -> impl Iterator<Item = &ObjectRef> {
        self.ready.keys().chain(self.slow.iter().flat_map(|slow| &slow.line))
    }

    /// How long each pass takes, and since when, if a person has slowed the loop.
    pub fn slowed(&self) -> Option<(Duration, Time)> {
        self.slow.as_ref().and_then(|slow| slow.span.map(|span| (span, slow.since)))
    }

    /// Whether a person has slowed the loop, or did and those that had to wait for that still have to have their turn.
    pub fn is_disturbed(&self) -> bool {
        self.slow.is_some()
    }

    /// Has each pass take so long from now on; nothing for as long as it does by itself. Gives the keys that then need not wait in line.
    pub fn slow_down(&mut self, span: Option<Duration>, now: Time, fault: EntryId) -> Vec<(ObjectRef, Option<EntryId>)> {
        match (&mut self.slow, span) {
            (Some(slow), Some(span)) if slow.span.is_some() => (slow.span, slow.since, slow.fault) = (Some(span), now, fault),
            (slow, Some(_)) => {
                let (line, waiting) = (VecDeque::new(), Tree::default());
                *slow = Some(Box::new(Slow { span, since: now, fault, line, waiting, due: None }));
            }
            (Some(slow), None) => {
                (slow.span, slow.due) = (None, None);
                let line = std::mem::take(&mut slow.line);
                let cause = |key: &ObjectRef| slow.waiting.get(key).and_then(|waited| waited.cause);
                let keys = line.into_iter().map(|key| (key.clone(), cause(&key))).collect();
                if slow.waiting.is_empty() {
                    self.slow = None;
                }
                return keys;
            }
            (None, None) => {}
        }
        Vec::new()
    }

    /// Takes out how a key has waited whose loop is slow no longer.
    pub fn let_go(&mut self, key: &ObjectRef) -> Option<Waited> {
        let slow = self.slow.as_mut()?;
        let waited = slow.waiting.remove(key);
        if slow.waiting.is_empty() {
            self.slow = None;
        }
        waited
    }

    /// How many keys are before this one in the line of a slowed loop, if it waits there or is about to; and when the pass over the first
    /// began and ends.
    pub fn in_line(&self, key: &ObjectRef) -> Option<(usize, Option<(Time, Time)>)> {
        let slow = self.slow.as_ref().filter(|slow| slow.span.is_some())?;
        let last = || self.ready.contains_key(key).then_some(slow.line.len());
        Some((slow.line.iter().position(|one| one == key).or_else(last)?, slow.due))
    }

    /// The key that a slowed loop works on, and when its pass ends.
    pub fn under_way(&self) -> Option<(ObjectRef, Time)> {
        let slow = self.slow.as_ref()?;
        Some((slow.line.front()?.clone(), slow.due?.1))
    }

    /// Puts a key that was taken at the end of the line of a slowed loop, if it is not in it.
    pub fn line_up(&mut self, key: &ObjectRef, cause: Option<EntryId>, now: Time) {
        let Some(slow) = &mut self.slow else { return };
        match slow.waiting.get_mut(key) {
            Some(known) => known.cause = cause.or(known.cause),
            None => {
                slow.waiting.insert(key.clone(), Waited { cause, since: now, fault: slow.fault });
                slow.line.push_back(key.clone());
            }
        }
    }

    /// When the pass over the first in line ends, if that has to be scheduled anew.
    pub fn next_pass(&mut self, now: Time) -> Option<Time> {
        let slow = self.slow.as_mut().filter(|slow| slow.due.is_none() && !slow.line.is_empty())?;
        let ends = now.after(slow.span?);
        slow.due = Some((now, ends));
        Some(ends)
    }

    /// Takes the first in line, if its pass ends now.
    pub fn take_first(&mut self, now: Time) -> Option<(ObjectRef, Waited)> {
        let slow = self.slow.as_mut().filter(|slow| slow.due.is_some_and(|(_, ends)| ends == now))?;
        slow.due = None;
        let key = slow.line.pop_front()?;
        self.passes += 1;
        slow.waiting.remove(&key).map(|waited| (key, waited))
    }

    /// Forgets everything but that its loop is slow.
    pub fn restart(&mut self) {
        let slow = self.slowed().zip(self.slow.as_ref().map(|slow| slow.fault));
        *self = WorkQueue::default();
        if let Some(((span, since), fault)) = slow {
            self.slow_down(Some(span), since, fault);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::Kind;

    fn key() -> ObjectRef {
        ObjectRef::new(Kind::Pod, "default", "a")
    }

    #[test]
    fn a_key_waits_once_and_knows_its_newest_cause() {
        let mut queue = WorkQueue::default();
        assert_eq!(queue.add(&key(), Time(10), Some(1)), Some(Time(10)));
        assert_eq!(queue.add(&key(), Time(20), Some(2)), None);
        assert_eq!(queue.take(&key(), Time(10)), Some(Some(2)));
        assert_eq!(queue.take(&key(), Time(10)), None);
    }

    #[test]
    fn a_key_that_is_worked_on_waits_for_the_end_of_the_pass() {
        let mut queue = WorkQueue::default();
        queue.keep_busy(&key(), Time(50));
        assert_eq!(queue.add(&key(), Time(10), None), Some(Time(50)));
    }

    #[test]
    fn failures_double_the_wait() {
        let mut queue = WorkQueue::default();
        assert_eq!((queue.back_off(&key()), queue.back_off(&key()), queue.back_off(&key())), (5 * MS, 10 * MS, 20 * MS));
        queue.forget(&key());
        assert_eq!(queue.back_off(&key()), 5 * MS);
    }
}
