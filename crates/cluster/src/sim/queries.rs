//! Read-only queries on a running simulation.

use super::{MANAGER, MAX_SCANNED_TASKS, SCHEDULER, Sim, Task};
use apiserver::journal::Actor;
use apiserver::why::Why;
use apiserver::{ApiError, Origin};
use controller_runtime::heartbeats::Heartbeats;
use controller_runtime::load;
use controller_runtime::workqueue::WorkQueue;
use k8s_model::pod::{PodSpec, Resources};
use k8s_model::{Kind, Object, ObjectRef, Str, Time, Uid};
use scheduler::refuses::Refuses;
use serde_json::json;
use sim_core::Listing;
use sim_core::tally;
use std::rc::Rc;
use {controllers, scheduler};

/// Components whose health an API server checks. Models `registry/core/rest/storage_core.go` and `registry/core/componentstatus`.
const COMPONENTS: [&str; 3] = ["controller-manager", "scheduler", "etcd-0"];

/// Builds the statuses of the components, which are always healthy here.
fn components() -> impl Iterator<Item = Object> {
    COMPONENTS.iter().filter_map(|name| {
        let healthy = json!([{"type": "Healthy", "status": "True", "message": "ok"}]);
        Object::from_value(
            Kind::ComponentStatus,
            json!({"metadata": {"name": name}, "conditions": healthy}),
        )
        .ok()
    })
}

/// Namespace of the nodes' Leases.
const NODE_LEASES: &str = "kube-node-lease";

impl Sim {
    /// Returns the Events about an existing object, without a scan; Events recorded by clients are not included.
    pub fn events_about(&self, about: &Object) -> Vec<Rc<Object>> {
        self.recorder
            .keys_about(about)
            .filter_map(|key| self.server.get(&key).cloned())
            .collect()
    }

    /// Returns the reasons of up to `most` nodes to reject a Pod that has no node; a node without reasons accepts it.
    pub fn explain(&self, pod: &Rc<Object>, most: usize) -> Vec<(Str, Vec<Refuses>)> {
        self.scheduler
            .explain(pod, &self.informers[SCHEDULER].cache, most)
    }

    /// Returns the resources that Pods can still request on a node.
    pub fn free_on(&self, node: &str) -> Resources {
        self.scheduler.free_on(node)
    }

    /// Returns the objects of a kind owned by the uid, from the controllers' cache, without a scan.
    pub fn owned(&self, uid: Uid, kind: Kind) -> impl Iterator<Item = &Rc<Object>> {
        self.informers[MANAGER].cache.owned_of_kind(uid, kind)
    }

    /// Returns the objects of a kind in a namespace without a controller, from the controllers' cache.
    pub fn orphans(&self, kind: Kind, namespace: &str) -> impl Iterator<Item = &Rc<Object>> {
        self.informers[MANAGER]
            .cache
            .orphans(kind, &namespace.into())
    }

    /// Returns the number of ready Pods of an owner that are not terminating, from the controllers' cache.
    pub fn ready_of(&self, uid: Uid) -> usize {
        let counts = |pod: &&Rc<Object>| {
            pod.is_active_pod() && pod.pod().is_some_and(|body| body.is_ready())
        };
        let cache = &self.informers[MANAGER].cache;
        let count = || cache.owned_of_kind(uid, Kind::Pod).filter(counts).count();
        cache
            .tally(uid)
            .map_or_else(count, |alike| alike.iter().map(|alike| alike.ready).sum())
    }

    /// Returns the totals of an owner's Pods by labels, from the controllers' cache; `None` if they are not tracked.
    pub fn tally_of(&self, uid: Uid) -> Option<&[tally::LabelCounts]> {
        self.informers[MANAGER].cache.tally(uid)
    }

    /// Returns the number of an owner's Pods that are not ready or are terminating; `None` if that is not tracked.
    pub fn unready_of(&self, uid: Uid) -> Option<usize> {
        let alike = self.informers[MANAGER].cache.tally(uid)?;
        Some(alike.iter().map(|alike| alike.pods - alike.ready).sum())
    }

    /// Returns the Pods on a node that are not in a terminal phase.
    pub fn pods_on(&self, node: &str) -> impl Iterator<Item = &Rc<Object>> {
        self.scheduler.pods_on(node)
    }

    /// Returns the Pods without a node, as the scheduler knows them.
    pub fn unplaced(&self) -> impl Iterator<Item = &Rc<Object>> {
        self.scheduler.unplaced()
    }

    /// Returns the number of Pods without a node.
    pub fn waiting(&self) -> usize {
        self.scheduler.waiting()
    }

    /// Returns the number of further Pods a node accepts.
    pub fn places_on(&self, node: &str) -> i64 {
        self.scheduler.places_on(node)
    }

    /// Returns true if a node matches the Pod's node selector and required affinity.
    pub fn suits(spec: &PodSpec, node: &Object) -> bool {
        scheduler::fits_affinity(spec, node)
    }

    /// Returns true if a Pod is in the scheduler's active queue.
    pub fn scheduler_busy(&self) -> bool {
        self.scheduler.queued() > 0
    }

    /// Returns the reasons of each node to reject the Pods of a DaemonSet.
    pub fn explain_daemon(&self, set: &Object) -> Vec<(Str, Vec<Refuses>)> {
        let places = |refuses: &Refuses| {
            matches!(
                refuses,
                Refuses::Elsewhere
                    | Refuses::Taint { .. }
                    | Refuses::Label { .. }
                    | Refuses::Affinity
            )
        };
        let mut all = controllers::daemon_pod(set)
            .map(|pod| self.explain(&pod, usize::MAX))
            .unwrap_or_default();
        all.iter_mut().for_each(|(_, found)| found.retain(places));
        all
    }

    /// Returns the API server's refusal of a workload's Pod at this instant, found by creating one on a copy.
    pub fn refusal_of_pod(&self, workload: &Object) -> Option<ApiError> {
        let pod = workload.new_pod(workload.pod_template()?);
        let origin = Origin {
            actor: Actor::SERVER,
            cause: None,
            pass: 0,
            manager: None,
            user: None,
        };
        self.server.clone().create(&origin, pod, Why::Asked).err()
    }

    /// Returns the time at which a controller will reconcile a key again without an event.
    pub fn looks_again(&self, key: &ObjectRef) -> Option<Time> {
        self.queues
            .iter()
            .filter_map(|queue| queue.later(key))
            .min()
    }

    /// Returns the time of the kubelet's next step for a Pod.
    pub fn kubelet_looks(&self, uid: Uid) -> Option<Time> {
        let of_pod = |((at, _), task): (&(Time, u64), &Task)| {
            matches!(task, Task::Kubelet(job) if job.is_of(uid) && !job.is_probe()).then_some(*at)
        };
        // Tasks are in order of time.
        self.tasks.iter().take(MAX_SCANNED_TASKS).find_map(of_pod)
    }

    /// Returns the last heartbeat of a node's kubelet, if it is silent.
    pub fn silent_since(&self, node: &str) -> Option<Time> {
        self.kubelets.silent_since(node)
    }

    /// Returns the last renewal of the node's Lease, if it has a kubelet.
    pub fn lease_renewed(&self, node: &str) -> Option<Time> {
        self.kubelets.renewed(node, self.now())
    }

    /// Builds the Lease that a node's kubelet renews, as of now: renewals are not writes here (`heartbeats.rs`).
    fn node_lease(&self, node: &Object) -> Option<Rc<Object>> {
        let (name, made) = (node.meta.name.as_str(), node.meta.creation_timestamp?);
        // The first renewal comes with the node.
        let renewed = self.server.wall_at(self.lease_renewed(name)?).max(made);
        let lease = json!({
            "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
            "metadata": {
                "name": name, "namespace": NODE_LEASES, "uid": Uid(node.meta.uid.0 ^ 0xffff_ffff).to_string(),
                "resourceVersion": self.server.version().to_string(), "creationTimestamp": made.rfc3339(),
                "ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": name, "uid": node.meta.uid.to_string()}],
            },
            "spec": {"holderIdentity": name, "leaseDurationSeconds": 40, "renewTime": renewed.rfc3339().replace('Z', ".000000Z")},
        });
        Object::from_value(Kind::Lease, lease).ok().map(Rc::new)
    }

    /// Returns an object as clients see it: a stored one, the Lease of a node, or the status of a component.
    pub fn seen(&self, key: &ObjectRef) -> Option<Rc<Object>> {
        if key.kind == Kind::ComponentStatus {
            return components()
                .find(|one| one.meta.name == key.name)
                .map(Rc::new);
        }
        let stored = self.get(key).cloned();
        if stored.is_some() || key.kind != Kind::Lease || key.namespace != NODE_LEASES {
            return stored;
        }
        self.node_lease(self.get(&ObjectRef::new(Kind::Node, "", &key.name))?)
    }

    /// Returns the objects of a kind as clients see them, in a namespace or in all.
    pub fn seen_all(&self, kind: Kind, namespace: Option<&str>) -> Listing {
        if kind == Kind::ComponentStatus {
            return Listing::of(components().map(Rc::new));
        }
        let stored = self.server.listing(kind, namespace);
        if kind != Kind::Lease || namespace.is_some_and(|namespace| namespace != NODE_LEASES) {
            return stored;
        }
        Listing::of(
            stored.chain(
                self.list(Kind::Node)
                    .filter_map(|node| self.node_lease(node)),
            ),
        )
    }

    /// Returns true if a fault makes this probe of the Pod fail.
    pub fn is_probe_forced(&self, uid: Uid, probe: &str) -> bool {
        self.kubelets.is_forced(uid, probe)
    }

    /// Returns true if a load fault sets the usage of Pods with these labels.
    pub fn is_load_said(&self, what: &'static str, selector: &str) -> bool {
        load::is_said(&self.kubelets.loads, what, selector)
    }

    /// Returns the work queue of each controller.
    pub fn queues(&self) -> impl Iterator<Item = (&'static str, &WorkQueue)> {
        controllers::ALL.iter().map(|c| c.name()).zip(&self.queues)
    }
}
