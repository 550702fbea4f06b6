//! The work queue of one loop: keys, each at most once, at the earliest time anybody asked for.
//!
//! Models `client-go/util/workqueue`: a key that is being worked on is queued again only when that
//! pass is over, and a failing key comes back after 5 ms, 10 ms, 20 ms… up to 1000 s.

use super::journal::EntryId;
use super::tree::Tree;
use crate::api::time::MS;
use crate::api::{ObjectRef, Time};

const BASE_DELAY: u64 = 5 * MS;
const MAX_DELAY: u64 = 1_000_000 * MS;

/// A queued key.
#[derive(Clone, Debug)]
struct Item {
    at: Time,
    cause: Option<EntryId>,
}

/// The queue of one loop.
#[derive(Clone, Debug, Default)]
pub struct WorkQueue {
    ready: Tree<ObjectRef, Item>,
    later: Tree<ObjectRef, Item>,
    busy: Tree<ObjectRef, Time>,
    failures: Tree<ObjectRef, u32>,
    passes: u32,
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
                self.passes += 1;
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

    /// How many keys wait.
    pub fn len(&self) -> usize {
        self.ready.len()
    }

    /// Whether no key waits.
    pub fn is_empty(&self) -> bool {
        self.ready.is_empty()
    }

    /// The keys that wait.
    pub fn keys(&self) -> impl Iterator<Item = &ObjectRef> {
        self.ready.keys()
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
