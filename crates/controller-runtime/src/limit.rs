//! Client-side rate limits of the controllers, if the cluster sets them.
//!
//! A controller that has used up its limit stops in the middle of its pass, and continues with the next pass when one more request is
//! allowed. Events are sent separately and are not counted. Models `client-go/util/flowcontrol/throttle.go` with the clients that
//! `cmd/kube-controller-manager` creates: one per controller.

use k8s_model::time::SECOND;
use k8s_model::{ObjectRef, Time};

/// Configured limit of a client: requests per second, and burst. Models `QPS` and `Burst` of `client-go/rest/config.go`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ClientLimit {
    /// Requests per second.
    pub qps: f64,
    /// Requests at once.
    pub burst: u32,
}

/// Rate limiter of one client.
#[derive(Clone, Debug)]
pub struct Limit {
    /// Interval between requests once the burst is used up, in microseconds.
    every: u64,
    /// Length of the burst, in the same unit.
    most: u64,
    /// Time up to which past requests have used the limit.
    filled: Time,
    /// Keys whose passes wait for the limit, in order.
    waiting: Vec<ObjectRef>,
}

impl Limit {
    /// Creates the limit of a controller's client.
    pub fn of(client: ClientLimit) -> Limit {
        let every = ((SECOND as f64 / client.qps) as u64).max(1);
        Limit {
            every,
            most: every.saturating_mul(u64::from(client.burst)),
            filled: Time::default(),
            waiting: Vec::new(),
        }
    }

    /// Takes a token for a key, if one is available and the key is next.
    pub fn take(&mut self, key: &ObjectRef, now: Time) -> bool {
        let first = self.waiting.first();
        if self.next() > now || first.is_some_and(|first| first != key) {
            return false;
        }
        if first.is_some() {
            self.waiting.remove(0);
        }
        self.filled = self.filled.max(now).after(self.every);
        true
    }

    /// Queues a key and returns the time of its turn.
    pub fn wait(&mut self, key: &ObjectRef) -> Time {
        let place = self
            .waiting
            .iter()
            .position(|other| other == key)
            .unwrap_or_else(|| {
                self.waiting.push(key.clone());
                self.waiting.len() - 1
            });
        self.next().after(self.every.saturating_mul(place as u64))
    }

    /// Removes a key from the queue.
    pub fn leave(&mut self, key: &ObjectRef) {
        self.waiting.retain(|other| other != key);
    }

    /// Returns the time at which the next token is available.
    fn next(&self) -> Time {
        Time((self.filled.0 + self.every).saturating_sub(self.most))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> ObjectRef {
        ObjectRef::new(k8s_model::Kind::ReplicaSet, "default", name)
    }

    #[test]
    fn after_the_burst_requests_go_out_at_the_rate() {
        let (mut limit, a, b) = (
            Limit::of(ClientLimit {
                qps: 20.0,
                burst: 30,
            }),
            key("a"),
            key("b"),
        );
        let start = Time(5 * SECOND);
        let slot = |n: u64| start.after(n * SECOND / 20);
        assert_eq!((0..100).filter(|_| limit.take(&a, start)).count(), 30);
        assert_eq!(
            (limit.wait(&a), limit.wait(&b), limit.wait(&a)),
            (slot(1), slot(2), slot(1))
        );
        assert!(!limit.take(&b, slot(1)), "a is first");
        assert!(
            limit.take(&a, slot(1)) && !limit.take(&a, slot(2)),
            "now it is b's turn"
        );
        assert!(limit.take(&b, slot(2)));
        // Unused tokens accumulate up to the burst.
        let later = Time(60 * SECOND);
        assert_eq!((0..100).filter(|_| limit.take(&a, later)).count(), 30);
    }
}
