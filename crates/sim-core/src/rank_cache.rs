//! Deletion ranks of the Pods in a cache, computed once per version of a Pod.

use super::deferred_drop;
use super::index::Index;
use super::table::{Slot, Table, hash};
use k8s_model::pod::Pod;
use k8s_model::{Object, Str, Timestamp, Uid};
use std::rc::Rc;

/// Annotation that makes the deletion of a Pod earlier or later.
pub const COST: &str = "controller.kubernetes.io/pod-deletion-cost";

/// Properties of a Pod that determine its deletion order.
#[derive(Clone, Copy, Debug)]
pub struct PodRank {
    pub controller: Uid,
    pub active: bool,
    /// Index of the Pod's node in `nodes`.
    pub node: u32,
    pub assigned: bool,
    pub phase: i32,
    pub ready: bool,
    pub ready_since: Option<Timestamp>,
    pub created: Option<Timestamp>,
    pub cost: i32,
    pub restarts: i32,
}

/// Ranks by slot in the cache. A clone starts empty: the ranks are derived data, not part of the cluster.
#[derive(Debug, Default)]
pub struct RankCache {
    pub pods: Vec<Option<(Rc<Object>, PodRank)>>,
    nodes: Vec<Str>,
    index: Index,
    /// Slot where reading ahead continues.
    next: Slot,
}

impl Clone for RankCache {
    fn clone(&self) -> Self {
        RankCache::default()
    }
}

impl Drop for RankCache {
    fn drop(&mut self) {
        deferred_drop::drop_later(std::mem::take(&mut self.pods));
    }
}

impl RankCache {
    /// Returns the rank of the Pod in a slot.
    pub fn of(&mut self, place: Slot, pod: &Rc<Object>) -> PodRank {
        let place = place as usize;
        if let Some(Some((known, seen))) = self.pods.get(place)
            && Rc::ptr_eq(known, pod)
        {
            return *seen;
        }
        let seen = self.read(pod);
        self.pods.resize(self.pods.len().max(place + 1), None);
        self.pods[place] = Some((pod.clone(), seen));
        seen
    }

    /// Computes up to `most` ranks in advance, so that the first pass over very many Pods is short.
    pub fn read_ahead(&mut self, pods: &Table, most: usize) {
        for place in self.next..self.next.saturating_add(most as Slot) {
            if let Some(pod) = pods.at(place) {
                self.of(place, pod);
            }
        }
        let end = self.next as usize + most >= pods.len();
        self.next = if end { 0 } else { self.next + most as Slot };
    }

    pub fn read(&mut self, object: &Rc<Object>) -> PodRank {
        let pod: &Pod = object.body();
        let ready = pod.status.condition("Ready").filter(|c| c.status == "True");
        PodRank {
            controller: object
                .meta
                .controller()
                .map_or(Uid::default(), |owner| owner.uid),
            active: object.is_active_pod(),
            node: self.number(&pod.node_name),
            assigned: !pod.node_name.is_empty(),
            phase: match pod.status.phase.as_str() {
                "Pending" => 0,
                "Running" => 2,
                _ => 1,
            },
            ready: ready.is_some(),
            ready_since: ready.and_then(|c| c.last_transition_time),
            created: object.meta.creation_timestamp,
            cost: object
                .meta
                .annotation(COST)
                .and_then(|v| v.parse().ok())
                .unwrap_or(0),
            restarts: pod
                .status
                .container_statuses
                .iter()
                .map(|c| c.restart_count)
                .max()
                .unwrap_or(0),
        }
    }

    fn number(&mut self, node: &Str) -> u32 {
        let hash = hash(node, "") as u32;
        self.index
            .find(hash, |at| self.nodes[at as usize] == *node)
            .unwrap_or_else(|| {
                let new = self.nodes.len() as u32;
                self.index.insert(hash, new);
                self.nodes.push(node.clone());
                new
            })
    }
}
