//! Kubelets as node agents: they join, stop responding, come back and leave.
//!
//! A kubelet that is down does nothing at all; when it is back it processes the backlog. Leases are not stored as
//! objects: a heartbeat that changes nothing would only fill the history. Models `pkg/kubelet/kubelet_node_status.go`.

use super::state::Silent;
use super::{Kubelets, PodJob, PodStep};
use crate::api::Time;
use crate::api::time::SECOND;
use crate::engine::heartbeats::Heartbeats;
use crate::engine::journal::EntryId;

/// From a kubelet's return until it compares every Pod's status with the API server's.
const COMPARE_US: u64 = 10 * SECOND;

/// Interval between renewals of a Lease.
const LEASE_US: u64 = 10 * SECOND;

/// Interval of heartbeats, short enough for several within the grace period.
pub(super) fn heartbeat(grace: u64) -> u64 {
    (grace / 4).clamp(1, 5 * SECOND)
}

impl Heartbeats for Kubelets {
    fn has(&self, node: &str) -> bool {
        self.next_ip.contains_key(node)
    }

    fn silent_since(&self, node: &str) -> Option<Time> {
        match self.silent.iter().find(|s| s.node == node) {
            Some(silent) => Some(silent.since),
            None if self.next_ip.contains_key(node) => None,
            None => Some(Time::default()),
        }
    }
}

impl Kubelets {
    /// When this node's kubelet last renewed its Lease, which it does every quarter of 40 seconds; `None` without a kubelet.
    pub fn renewed(&self, node: &str, now: Time) -> Option<Time> {
        if !self.has(node) {
            return None;
        }
        let until = self.silent_since(node).unwrap_or(now);
        // A kubelet that has come back renews it at once, and continues from there.
        let from = self.back.get(node).map_or(0, |back| back.0);
        Some(Time(from + until.0.saturating_sub(from) / LEASE_US * LEASE_US))
    }

    /// Stops the kubelet; its last heartbeat was some time ago.
    pub(in crate::engine) fn silence(&mut self, node: &str, now: Time) {
        if self.silent.iter().all(|s| s.node != node) {
            let since = Time(now.0 / self.heartbeat * self.heartbeat).max(self.back.get(node).copied().unwrap_or_default());
            self.silent.push(Silent { node: node.into(), since, parked: Vec::new() });
        }
    }

    /// Starts the kubelet again; returns its next jobs.
    pub(in crate::engine) fn wake(&mut self, node: &str, now: Time, cause: Option<EntryId>) -> Vec<(Time, PodJob)> {
        let Some(at) = self.silent.iter().position(|s| s.node == node) else { return Vec::new() };
        let parked = self.silent.remove(at).parked;
        self.back.insert(node.into(), now);
        let mut jobs: Vec<(Time, PodJob)> = parked.into_iter().map(|job| (now, job)).collect();
        for (uid, running) in self.pods.iter() {
            if running.node == node {
                jobs.push((now.after(COMPARE_US), PodJob { uid: *uid, step: PodStep::Report, cause }));
            }
        }
        jobs
    }

    /// Adds a kubelet; returns the number of its node.
    pub(in crate::engine) fn join(&mut self, node: &str) -> usize {
        self.next_ip.insert(node.into(), 1);
        self.registered += 1;
        self.registered
    }

    /// Removes the kubelet for good, with the containers of its Pods.
    pub(in crate::engine) fn leave(&mut self, node: &str) {
        self.next_ip.remove(node);
        self.back.remove(node);
        self.silent.retain(|s| s.node != node);
        self.pods.retain(|_, running| running.node != node);
    }
}

#[cfg(test)]
mod tests {
    use crate::api::Time;
    use crate::engine::Sim;
    use crate::engine::cluster::ClusterConfig;

    /// No Lease is renewed while its kubelet is down.
    #[test]
    fn a_kubelet_that_is_back_renews_its_lease_then_and_not_before() {
        let mut sim = Sim::new(ClusterConfig::with_nodes(1), 1);
        let to = |sim: &mut Sim, second: u64| {
            sim.advance(Time(second * 1_000_000), 100_000);
        };
        let renewed = |sim: &Sim| sim.lease_renewed("node-1").map(|at| at.0 / 1_000_000);
        to(&mut sim, 12);
        assert_eq!(renewed(&sim), Some(10));
        assert!(sim.fault("node-down node-1").is_ok());
        to(&mut sim, 47);
        assert_eq!(renewed(&sim), Some(10));
        assert!(sim.fault("node-up node-1").is_ok());
        to(&mut sim, 53);
        // Without the outage it would be 50; 40 would be during the outage.
        assert_eq!(renewed(&sim), Some(47));
        to(&mut sim, 58);
        assert_eq!(renewed(&sim), Some(57));
        // Down again at once, its last heartbeat is at its return or later.
        assert!(sim.fault("node-down node-1").is_ok() && sim.fault("node-up node-1").is_ok() && sim.fault("node-down node-1").is_ok());
        to(&mut sim, 90);
        assert_eq!(renewed(&sim), Some(58));
    }
}
