//! Scheduler's accounting of one node.

use k8s_model::node::Node;
use k8s_model::pod::{Affinity, Pod, Resources};
use k8s_model::{Object, Str, Uid};
use sim_core::tree::Tree;
use std::collections::BTreeMap;
use std::rc::Rc;

const ZONE: &str = "topology.kubernetes.io/zone";

/// Node with its Pods.
#[derive(Clone, Debug, Default)]
pub(super) struct NodeInfo {
    /// The Node object; `None` if only Pods of the node are known.
    pub node: Option<Rc<Object>>,
    /// Pods of the node that are not in a terminal phase.
    pub pods: Tree<Uid, Rc<Object>>,
    /// Allocatable resources and number of Pods, read once from the Node.
    pub allocatable: Resources,
    /// Maximum number of Pods.
    pub max_pods: i64,
    /// Number of Pods with required anti-affinity.
    pub with_required_anti_affinity: usize,
    /// Number of Pods with preferred affinity or anti-affinity.
    pub with_preferences: usize,
    /// True if the node has a `PreferNoSchedule` taint.
    pub repelling: bool,
    /// Incremented with every change that may affect a scheduling decision.
    pub version: u64,
    /// Topology zone of the node.
    pub zone: Option<Str>,
    /// Total requests of the Pods.
    pub requested: Resources,
    /// Total requests, with defaults for containers without requests.
    pub scoring: Resources,
    /// Number of Pods by priority.
    pub by_priority: BTreeMap<i64, usize>,
    /// Number of Pods by controller.
    pub by_controller: BTreeMap<Uid, i64>,
}

impl NodeInfo {
    /// Sets or removes the Node object.
    pub fn set_node(&mut self, node: Option<&Rc<Object>>) {
        self.version += 1;
        self.node = node.cloned();
        self.repelling = false;
        if let Some(node) = node {
            let body: &Node = node.body();
            self.repelling = body
                .spec
                .taints
                .iter()
                .any(|taint| taint.effect == "PreferNoSchedule");
            (self.allocatable, self.max_pods) = (body.allocatable(), body.max_pods());
            self.zone = node.meta.label(ZONE).cloned();
        }
    }

    /// Counts a Pod once; returns true if its assignment is new.
    pub fn add(&mut self, object: &Rc<Object>) -> bool {
        let pod: &Pod = object.body();
        if let Some(known) = self.pods.insert(object.meta.uid, object.clone()) {
            if object.meta.is_deleting() && !known.meta.is_deleting() {
                self.leave_controller(object);
            }
            let before: &Pod = known.body();
            let (old, new) = (before.requests(), pod.requests());
            if old != new {
                self.version += 1;
                self.requested = self.requested.minus(old).plus(new);
                self.scoring = self
                    .scoring
                    .minus(before.spec.scoring)
                    .plus(pod.spec.scoring);
            }
            // A Pod that the scheduler itself has just bound is new when the watch delivers it.
            return known.meta.resource_version == object.meta.resource_version;
        }
        self.version += 1;
        self.requested = self.requested.plus(pod.requests());
        self.scoring = self.scoring.plus(pod.spec.scoring);
        self.with_required_anti_affinity += usize::from(has_required_anti_affinity(pod));
        self.with_preferences += usize::from(has_preferences(pod));
        *self.by_priority.entry(priority(object)).or_default() += 1;
        if let Some(owner) = object
            .meta
            .controller()
            .filter(|_| !object.meta.is_deleting())
        {
            *self.by_controller.entry(owner.uid).or_default() += 1;
        }
        true
    }

    /// Removes a Pod; returns true if it was counted.
    pub fn remove(&mut self, object: &Rc<Object>) -> bool {
        let Some(known) = self.pods.remove(&object.meta.uid) else {
            return false;
        };
        let pod: &Pod = known.body();
        self.version += 1;
        self.requested = self.requested.minus(pod.requests());
        self.scoring = self.scoring.minus(pod.spec.scoring);
        self.with_required_anti_affinity -= usize::from(has_required_anti_affinity(pod));
        self.with_preferences -= usize::from(has_preferences(pod));
        if let Some(count) = self.by_priority.get_mut(&priority(&known)) {
            *count -= 1;
        }
        if !known.meta.is_deleting() {
            self.leave_controller(&known);
        }
        true
    }

    /// Returns true if a Pod on the node has a lower priority.
    pub fn has_lower(&self, than: i64) -> bool {
        self.by_priority.range(..than).any(|(_, count)| *count > 0)
    }

    /// Stops counting a terminating Pod for the spread of its controller's Pods.
    fn leave_controller(&mut self, object: &Object) {
        if let Some(owner) = object.meta.controller()
            && let Some(count) = self.by_controller.get_mut(&owner.uid)
        {
            self.version += 1;
            *count -= 1;
            if *count == 0 {
                self.by_controller.remove(&owner.uid);
            }
        }
    }
}

fn has_required_anti_affinity(pod: &Pod) -> bool {
    !pod.spec
        .affinity
        .pod_anti_affinity
        .required_during_scheduling_ignored_during_execution
        .is_empty()
}

fn has_preferences(pod: &Pod) -> bool {
    let Affinity {
        pod_affinity: near,
        pod_anti_affinity: far,
        ..
    } = &pod.spec.affinity;
    !near
        .required_during_scheduling_ignored_during_execution
        .is_empty()
        || !near
            .preferred_during_scheduling_ignored_during_execution
            .is_empty()
        || !far
            .preferred_during_scheduling_ignored_during_execution
            .is_empty()
}

/// Returns the priority of a Pod; 0 if it has none.
pub fn priority(object: &Object) -> i64 {
    i64::from(object.pod().and_then(|p| p.spec.priority).unwrap_or(0))
}
