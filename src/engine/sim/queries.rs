//! What can be asked of a cluster in motion, without a change of anything.

use super::{MANAGER, SCHEDULER, SOON, Sim, Task};
use crate::api::pod::{PodSpec, Resources};
use crate::api::{Kind, Object, ObjectRef, Str, Time, Uid};
use crate::engine::heartbeats::Heartbeats;
use crate::engine::scheduler::refuses::Refuses;
use crate::engine::workqueue::WorkQueue;
use crate::engine::{controllers, load, scheduler, tally};
use std::rc::Rc;

impl Sim {
    /// The Events about an object that is there, found without looking at all others; not those that somebody else has written.
    pub fn events_about(&self, about: &Object) -> Vec<Rc<Object>> {
        self.recorder.keys_about(about).filter_map(|key| self.server.get(&key).cloned()).collect()
    }

    /// What each node, or each of so many, has against a Pod without a node; nothing if it would take it.
    pub fn explain(&self, pod: &Rc<Object>, most: usize) -> Vec<(Str, Vec<Refuses>)> {
        self.scheduler.explain(pod, &self.informers[SCHEDULER].cache, most)
    }

    /// What Pods may still request on a node.
    pub fn free_on(&self, node: &str) -> Resources {
        self.scheduler.free_on(node)
    }

    /// The objects of a kind that name the uid as an owner, as the loops see them: found without looking at all others.
    pub fn owned(&self, uid: Uid, kind: Kind) -> impl Iterator<Item = &Rc<Object>> {
        self.informers[MANAGER].cache.owned_of_kind(uid, kind)
    }

    /// How many Pods of an owner are ready and stay, as the loops see them.
    pub fn ready_of(&self, uid: Uid) -> usize {
        let counts = |pod: &&Rc<Object>| pod.is_active_pod() && pod.pod().is_some_and(|body| body.is_ready());
        let cache = &self.informers[MANAGER].cache;
        let count = || cache.owned_of_kind(uid, Kind::Pod).filter(counts).count();
        cache.tally(uid).map_or_else(count, |alike| alike.iter().map(|alike| alike.ready).sum())
    }

    /// What the Pods of an owner come to, as the loops see them; nothing if that is not known without a look at each.
    pub fn tally_of(&self, uid: Uid) -> Option<&[tally::Alike]> {
        self.informers[MANAGER].cache.tally(uid)
    }

    /// How many Pods of an owner are not ready, or leave; nothing if that is not known without a look at each.
    pub fn unready_of(&self, uid: Uid) -> Option<usize> {
        let alike = self.informers[MANAGER].cache.tally(uid)?;
        Some(alike.iter().map(|alike| alike.pods - alike.ready).sum())
    }

    /// The Pods on a node that have not ended.
    pub fn pods_on(&self, node: &str) -> impl Iterator<Item = &Rc<Object>> {
        self.scheduler.pods_on(node)
    }

    /// The Pods that have no node, as the scheduler knows them.
    pub fn unplaced(&self) -> impl Iterator<Item = &Rc<Object>> {
        self.scheduler.unplaced()
    }

    /// How many Pods have no node, as the scheduler knows them.
    pub fn waiting(&self) -> usize {
        self.scheduler.waiting()
    }

    /// How many more Pods a node may have.
    pub fn places_on(&self, node: &str) -> i64 {
        self.scheduler.places_on(node)
    }

    /// Whether a node has the labels that a Pod asks for.
    pub fn suits(spec: &PodSpec, node: &Object) -> bool {
        scheduler::fits_affinity(spec, node)
    }

    /// Whether the scheduler is about to try a Pod.
    pub fn scheduler_busy(&self) -> bool {
        self.scheduler.queued() > 0
    }

    /// What each node has against the Pods of a DaemonSet.
    pub fn explain_daemon(&self, set: &Object) -> Vec<(Str, Vec<Refuses>)> {
        let places =
            |refuses: &Refuses| matches!(refuses, Refuses::Elsewhere | Refuses::Taint { .. } | Refuses::Label { .. } | Refuses::Affinity);
        let mut all = controllers::daemon_pod(set).map(|pod| self.explain(&pod, usize::MAX)).unwrap_or_default();
        all.iter_mut().for_each(|(_, found)| found.retain(places));
        all
    }

    /// When a loop will look at a key again by itself.
    pub fn looks_again(&self, key: &ObjectRef) -> Option<Time> {
        self.queues.iter().filter_map(|queue| queue.later(key)).min()
    }

    /// When the kubelet has something to do for a Pod.
    pub fn kubelet_looks(&self, uid: Uid) -> Option<Time> {
        let of_pod =
            |((at, _), task): (&(Time, u64), &Task)| matches!(task, Task::Kubelet(job) if job.is_of(uid) && !job.is_probe()).then_some(*at);
        // What is due first comes first.
        self.tasks.iter().take(SOON).find_map(of_pod)
    }

    /// When the kubelet of a node was last heard, if it is silent.
    pub fn silent_since(&self, node: &str) -> Option<Time> {
        self.kubelets.silent_since(node)
    }

    /// When the kubelet of a node last renewed its Lease, if there is one.
    pub fn lease_renewed(&self, node: &str) -> Option<Time> {
        self.kubelets.renewed(node, self.now())
    }

    /// Whether a person makes a probe of a Pod fail.
    pub fn is_probe_forced(&self, uid: Uid, probe: &str) -> bool {
        self.kubelets.is_forced(uid, probe)
    }

    /// Whether somebody has said what the Pods of these labels use of a resource.
    pub fn is_load_said(&self, what: &'static str, selector: &str) -> bool {
        load::is_said(&self.loads, what, selector)
    }

    /// The keys that wait in each loop's queue.
    pub fn queues(&self) -> impl Iterator<Item = (&'static str, &WorkQueue)> {
        controllers::ALL.iter().map(|c| c.name()).zip(&self.queues)
    }
}
