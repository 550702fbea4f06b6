//! Kubelets as node agents: join, stop responding, come back and leave.
//!
//! A kubelet that is down does nothing at all; when it is back it processes the backlog. Leases are not stored as
//! objects: a heartbeat that changes nothing would only fill the history. Models `pkg/kubelet/kubelet_node_status.go`.

use super::Kubelets;
use super::ipam::PodNetwork;
use super::pod_worker::{PodJob, PodStep};
use apiserver::journal::EntryId;
use controller_runtime::cluster::MAX_NODES;
use controller_runtime::heartbeats::Heartbeats;
use k8s_model::time::SECOND;
use k8s_model::{Str, Time};

/// Delay from a kubelet's return until it compares every Pod's status with the API server's.
const COMPARE_US: u64 = 10 * SECOND;

/// Interval between renewals of a Lease.
const LEASE_US: u64 = 10 * SECOND;

/// Outage of a kubelet.
#[derive(Clone, Debug)]
pub(super) struct Outage {
    pub(super) node: Str,
    /// Time of the last heartbeat.
    since: Time,
    /// Jobs that became due since then.
    pub(super) parked: Vec<PodJob>,
}

/// Returns the interval of heartbeats, short enough for several within the grace period.
pub(super) fn heartbeat(grace: u64) -> u64 {
    (grace / 4).clamp(1, 5 * SECOND)
}

impl Heartbeats for Kubelets {
    fn has(&self, node: &str) -> bool {
        self.networks.contains_key(node)
    }

    fn silent_since(&self, node: &str) -> Option<Time> {
        match self.outages.iter().find(|outage| outage.node == node) {
            Some(outage) => Some(outage.since),
            None if self.networks.contains_key(node) => None,
            None => Some(Time::default()),
        }
    }
}

impl Kubelets {
    /// Returns the time of the last Lease renewal of a node's kubelet, which renews every 10 seconds; `None` without a kubelet.
    pub fn renewed(&self, node: &str, now: Time) -> Option<Time> {
        if !self.has(node) {
            return None;
        }
        let until = self.silent_since(node).unwrap_or(now);
        // A kubelet that has come back renews the Lease at once, and continues from there.
        let from = self.back.get(node).map_or(0, |back| back.0);
        Some(Time(
            from + until.0.saturating_sub(from) / LEASE_US * LEASE_US,
        ))
    }

    /// Stops the kubelet; its last heartbeat was at the end of the previous interval.
    pub fn silence(&mut self, node: &str, now: Time) {
        if self.outages.iter().all(|outage| outage.node != node) {
            let since = Time(now.0 / self.heartbeat * self.heartbeat)
                .max(self.back.get(node).copied().unwrap_or_default());
            self.outages.push(Outage {
                node: node.into(),
                since,
                parked: Vec::new(),
            });
        }
    }

    /// Restarts the kubelet; returns its next jobs.
    pub fn wake(&mut self, node: &str, now: Time, cause: Option<EntryId>) -> Vec<(Time, PodJob)> {
        let Some(at) = self.outages.iter().position(|outage| outage.node == node) else {
            return Vec::new();
        };
        let parked = self.outages.remove(at).parked;
        self.back.insert(node.into(), now);
        let mut jobs: Vec<(Time, PodJob)> = parked.into_iter().map(|job| (now, job)).collect();
        for (uid, worker) in self.workers.iter() {
            if worker.node == node {
                jobs.push((
                    now.after(COMPARE_US),
                    PodJob {
                        uid: *uid,
                        step: PodStep::SyncStatus,
                        cause,
                    },
                ));
            }
        }
        jobs
    }

    /// Adds a kubelet; returns the number of its node.
    pub fn join(&mut self, node: &str) -> usize {
        loop {
            self.registered = self.registered % MAX_NODES + 1;
            // Numbers are used again in turn (`AllocateNext` of `pkg/controller/nodeipam/ipam/cidrset/cidr_set.go`).
            let number = self.registered;
            let is_free = self.networks.values().all(|network| network.node != number);
            if is_free || self.networks.len() >= MAX_NODES {
                self.networks.insert(node.into(), PodNetwork::new(number));
                return number;
            }
        }
    }

    /// Removes the kubelet permanently, with the containers of its Pods.
    pub fn leave(&mut self, node: &str) {
        self.networks.remove(node);
        self.back.remove(node);
        self.outages.retain(|outage| outage.node != node);
        self.workers.retain(|_, worker| worker.node != node);
    }
}
