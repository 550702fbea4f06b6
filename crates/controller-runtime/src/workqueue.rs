//! Work queue of a controller: keys, each at most once, at the earliest requested time.
//!
//! Models `client-go/util/workqueue`: a key that is being processed is queued again only when that pass is over, and a failing key comes
//! back after 5 ms, 10 ms, 20 ms… up to 1000 s. Keys do not wait for one another: a pass takes no virtual time, so upstream's five
//! concurrent workers make no difference. A slowed controller has one worker.

use apiserver::journal::EntryId;
use k8s_model::time::MS;
use k8s_model::{Duration, ObjectRef, Time};
use sim_core::tree::Tree;
use std::collections::VecDeque;

const BASE_DELAY_US: u64 = 5 * MS;
const MAX_DELAY_US: u64 = 1_000_000 * MS;

/// Queued key.
#[derive(Clone, Debug)]
struct QueueItem {
    at: Time,
    cause: Option<EntryId>,
}

/// State of a slowed controller, which processes the keys in line one by one, for a fixed time each.
#[derive(Clone, Debug)]
struct Slow {
    /// Duration of a pass; `None` once normal speed is restored and only the line is drained.
    span: Option<Duration>,
    since: Time,
    fault: EntryId,
    line: VecDeque<ObjectRef>,
    /// Details of each waiting key.
    waiting: Tree<ObjectRef, Waited>,
    /// Start and end of the pass for the first key.
    due: Option<(Time, Time)>,
}

/// Key waiting in the line of a slowed controller.
#[derive(Clone, Copy, Debug)]
pub struct Waited {
    /// Entry that woke the controller for the key.
    pub cause: Option<EntryId>,
    /// Time since which the key waits.
    pub since: Time,
    /// Fault that slowed the controller.
    pub fault: EntryId,
}

/// Work queue of a controller.
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
    /// Adds a key; returns the time of its pass if it has to be scheduled.
    pub fn add(&mut self, key: &ObjectRef, at: Time, cause: Option<EntryId>) -> Option<Time> {
        let at = self.busy.get(key).map_or(at, |free| at.max(*free));
        match self.ready.get_mut(key) {
            Some(item) => {
                // The pass will see the newest change.
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

    /// Adds a key after a delay; the earliest request wins.
    pub fn add_at(&mut self, key: &ObjectRef, at: Time, cause: Option<EntryId>) -> bool {
        match self.later.get(key) {
            Some(earlier) if earlier.at <= at => false,
            _ => {
                self.later.insert(key.clone(), QueueItem { at, cause });
                true
            }
        }
    }

    /// Takes a delayed key, with its cause, if it is still due at this time.
    pub fn take_later(&mut self, key: &ObjectRef, now: Time) -> Option<Option<EntryId>> {
        if self.later.get(key).is_none_or(|item| item.at != now) {
            return None;
        }
        self.later.remove(key).map(|item| item.cause)
    }

    /// Takes a key for a pass if it is due.
    pub fn take(&mut self, key: &ObjectRef, now: Time) -> Option<Option<EntryId>> {
        match self.ready.get(key) {
            Some(item) if item.at == now => {
                self.passes += u32::from(self.slowed().is_none());
                self.ready.remove(key).map(|item| item.cause)
            }
            _ => None,
        }
    }

    /// Returns true if the pass of a key is due at this time.
    pub fn is_due(&self, key: &ObjectRef, at: Time) -> bool {
        self.ready.get(key).is_some_and(|item| item.at == at)
    }

    /// Returns the keys whose last passes failed, with the number of failures.
    pub fn failures(&self) -> impl Iterator<Item = (&ObjectRef, u32)> {
        self.failures.iter().map(|(key, count)| (key, *count))
    }

    /// Number of passes so far.
    pub fn passes(&self) -> u32 {
        self.passes
    }

    /// Marks the key as being processed until a time.
    pub fn keep_busy(&mut self, key: &ObjectRef, until: Time) {
        self.busy.insert(key.clone(), until);
    }

    /// Resets the back-off of a key.
    pub fn forget(&mut self, key: &ObjectRef) {
        self.failures.remove(key);
    }

    /// Returns the back-off before the next attempt of a failed key, and increments its failures.
    pub fn back_off(&mut self, key: &ObjectRef) -> u64 {
        let failures = self.failures.get_or_insert_with(key.clone(), u32::default);
        let delay = (BASE_DELAY_US << (*failures).min(30)).min(MAX_DELAY_US);
        *failures += 1;
        delay
    }

    /// Removes a key whose object is gone.
    pub fn drop_key(&mut self, key: &ObjectRef) {
        self.busy.remove(key);
        self.failures.remove(key);
        self.later.remove(key);
    }

    /// Returns the time at which a delayed key is due.
    pub fn later(&self, key: &ObjectRef) -> Option<Time> {
        self.later.get(key).map(|item| item.at)
    }

    /// Returns the number of waiting keys, including the one that a slowed controller processes.
    pub fn len(&self) -> usize {
        self.ready.len() + self.slow.as_ref().map_or(0, |slow| slow.line.len())
    }

    /// Returns true if no key waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the waiting keys.
    pub fn keys(&self) -> impl Iterator<Item = &ObjectRef> {
        self.ready
            .keys()
            .chain(self.slow.iter().flat_map(|slow| &slow.line))
    }

    /// Returns the duration of a pass and the time since when, if the controller is slowed.
    pub fn slowed(&self) -> Option<(Duration, Time)> {
        self.slow
            .as_ref()
            .and_then(|slow| slow.span.map(|span| (span, slow.since)))
    }

    /// Returns true if the controller is slowed, or still drains the line.
    pub fn is_disturbed(&self) -> bool {
        self.slow.is_some()
    }

    /// Sets the duration of a pass; `None` restores normal speed. Returns the keys that no longer have to wait in line.
    pub fn slow_down(
        &mut self,
        span: Option<Duration>,
        now: Time,
        fault: EntryId,
    ) -> Vec<(ObjectRef, Option<EntryId>)> {
        match (&mut self.slow, span) {
            (Some(slow), Some(span)) if slow.span.is_some() => {
                (slow.span, slow.since, slow.fault) = (Some(span), now, fault)
            }
            (slow, Some(_)) => {
                let (line, waiting) = (VecDeque::new(), Tree::default());
                *slow = Some(Box::new(Slow {
                    span,
                    since: now,
                    fault,
                    line,
                    waiting,
                    due: None,
                }));
            }
            (Some(slow), None) => {
                (slow.span, slow.due) = (None, None);
                let line = std::mem::take(&mut slow.line);
                let cause = |key: &ObjectRef| slow.waiting.get(key).and_then(|waited| waited.cause);
                let keys = line
                    .into_iter()
                    .map(|key| (key.clone(), cause(&key)))
                    .collect();
                if slow.waiting.is_empty() {
                    self.slow = None;
                }
                return keys;
            }
            (None, None) => {}
        }
        Vec::new()
    }

    /// Removes and returns the details of a key's wait, once the controller is no longer slowed.
    pub fn take_waited(&mut self, key: &ObjectRef) -> Option<Waited> {
        let slow = self.slow.as_mut()?;
        let waited = slow.waiting.remove(key);
        if slow.waiting.is_empty() {
            self.slow = None;
        }
        waited
    }

    /// Returns the number of keys before this one in the line of a slowed controller, if it waits there or is about to; and start and end
    /// of the pass for the first key.
    pub fn in_line(&self, key: &ObjectRef) -> Option<(usize, Option<(Time, Time)>)> {
        let slow = self.slow.as_ref().filter(|slow| slow.span.is_some())?;
        let last = || self.ready.contains_key(key).then_some(slow.line.len());
        Some((
            slow.line.iter().position(|one| one == key).or_else(last)?,
            slow.due,
        ))
    }

    /// Returns the key that a slowed controller processes, and the end of its pass.
    pub fn under_way(&self) -> Option<(ObjectRef, Time)> {
        let slow = self.slow.as_ref()?;
        Some((slow.line.front()?.clone(), slow.due?.1))
    }

    /// Appends a taken key to the line of a slowed controller, unless it is in it.
    pub fn push_slow(&mut self, key: &ObjectRef, cause: Option<EntryId>, now: Time) {
        let Some(slow) = &mut self.slow else { return };
        match slow.waiting.get_mut(key) {
            Some(known) => known.cause = cause.or(known.cause),
            None => {
                slow.waiting.insert(
                    key.clone(),
                    Waited {
                        cause,
                        since: now,
                        fault: slow.fault,
                    },
                );
                slow.line.push_back(key.clone());
            }
        }
    }

    /// Returns the end of the current pass of a slowed controller, if it has to be scheduled.
    pub fn next_pass(&mut self, now: Time) -> Option<Time> {
        let slow = self
            .slow
            .as_mut()
            .filter(|slow| slow.due.is_none() && !slow.line.is_empty())?;
        let ends = now.after(slow.span?);
        slow.due = Some((now, ends));
        Some(ends)
    }

    /// Takes the first key in line if its pass ends now.
    pub fn take_first(&mut self, now: Time) -> Option<(ObjectRef, Waited)> {
        let slow = self
            .slow
            .as_mut()
            .filter(|slow| slow.due.is_some_and(|(_, ends)| ends == now))?;
        slow.due = None;
        let key = slow.line.pop_front()?;
        self.passes += 1;
        slow.waiting.remove(&key).map(|waited| (key, waited))
    }

    /// Clears the queue but keeps the slowdown.
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
    use k8s_model::Kind;

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
        assert_eq!(
            (
                queue.back_off(&key()),
                queue.back_off(&key()),
                queue.back_off(&key())
            ),
            (5 * MS, 10 * MS, 20 * MS)
        );
        queue.forget(&key());
        assert_eq!(queue.back_off(&key()), 5 * MS);
    }
}
