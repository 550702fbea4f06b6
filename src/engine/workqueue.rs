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

const BASE_DELAY: u64 = 5 * MS;
const MAX_DELAY: u64 = 1_000_000 * MS;

/// A queued key.
#[derive(Clone, Debug)]
struct Item {
    at: Time,
    cause: Option<EntryId>,
}

/// How a slowed loop works: on one key at a time, the first in line, and so long on each.
#[derive(Clone, Debug)]
struct Slow {
    span: Duration,
    since: Time,
    line: VecDeque<ObjectRef>,
    /// What woke the loop for each of them.
    causes: Tree<ObjectRef, Option<EntryId>>,
    /// When the pass over the first ends.
    due: Option<Time>,
}

/// The queue of one loop.
#[derive(Clone, Debug, Default)]
pub struct WorkQueue {
    ready: Tree<ObjectRef, Item>,
    later: Tree<ObjectRef, Item>,
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
                self.ready.insert(key.clone(), Item { at, cause });
            }
        }
        Some(at)
    }

    /// Asks for a pass at some later time; the earliest wish counts.
    pub fn add_at(&mut self, key: &ObjectRef, at: Time, cause: Option<EntryId>) -> bool {
        match self.later.get(key) {
            Some(earlier) if earlier.at <= at => false,
            _ => {
                self.later.insert(key.clone(), Item { at, cause });
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
                self.passes += u32::from(self.slow.is_none());
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
        let delay = (BASE_DELAY << (*failures).min(30)).min(MAX_DELAY);
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
        self.slow.as_ref().map(|slow| (slow.span, slow.since))
    }

    /// Has each pass take so long from now on; nothing for as long as it does by itself. Gives the keys that then need not wait in line.
    #[inline(never)]
    pub fn slow_down(&mut self, span: Option<Duration>, now: Time) -> Vec<(ObjectRef, Option<EntryId>)> {
        match (&mut self.slow, span) {
            (Some(slow), Some(span)) => (slow.span, slow.since) = (span, now),
            (slow, Some(span)) => {
                *slow = Some(Box::new(Slow { span, since: now, line: VecDeque::new(), causes: Tree::default(), due: None }));
            }
            (slow, None) => {
                let Some(mut slow) = slow.take() else { return Vec::new() };
                return slow
                    .line
                    .into_iter()
                    .map(|key| (slow.causes.remove(&key).flatten(), key))
                    .map(|(cause, key)| (key, cause))
                    .collect();
            }
        }
        Vec::new()
    }

    /// Whether a key waits in the line of a slowed loop, or is about to.
    pub fn is_in_line(&self, key: &ObjectRef) -> bool {
        self.slow.as_ref().is_some_and(|slow| slow.causes.get(key).is_some() || self.ready.get(key).is_some())
    }

    /// Puts a key that was taken at the end of the line of a slowed loop, if it is not in it.
    #[inline(never)]
    pub fn line_up(&mut self, key: &ObjectRef, cause: Option<EntryId>) {
        let Some(slow) = &mut self.slow else { return };
        match slow.causes.get_mut(key) {
            Some(known) => *known = cause.or(*known),
            None => {
                slow.causes.insert(key.clone(), cause);
                slow.line.push_back(key.clone());
            }
        }
    }

    /// When the pass over the first in line ends, if that has to be scheduled anew.
    #[inline(never)]
    pub fn next_pass(&mut self, now: Time) -> Option<Time> {
        let slow = self.slow.as_mut().filter(|slow| slow.due.is_none() && !slow.line.is_empty())?;
        slow.due = Some(now.after(slow.span));
        slow.due
    }

    /// Takes the first in line, if its pass ends now.
    #[inline(never)]
    pub fn take_first(&mut self, now: Time) -> Option<(ObjectRef, Option<EntryId>)> {
        let slow = self.slow.as_mut().filter(|slow| slow.due == Some(now))?;
        slow.due = None;
        let key = slow.line.pop_front()?;
        self.passes += 1;
        slow.causes.remove(&key).map(|cause| (key, cause))
    }

    /// Forgets everything but that its loop is slow.
    pub fn restart(&mut self) {
        let slow = self.slowed();
        *self = WorkQueue::default();
        if let Some((span, since)) = slow {
            self.slow_down(Some(span), since);
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
