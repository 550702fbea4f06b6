//! Objects as clients see them: with those that no component stores here.

use crate::Sim;
use apiserver::{ObjectReader, Store};
use k8s_model::{Kind, Object, ObjectRef, Time, Uid};
use kubelet::Kubelets;
use serde_json::json;
use sim_core::Listing;
use std::rc::Rc;

/// Namespace of the nodes' Leases.
const NODE_LEASES: &str = "kube-node-lease";

/// Components whose health an API server checks. Models `registry/core/rest/storage_core.go` and `registry/core/componentstatus`.
const COMPONENTS: [&str; 3] = ["controller-manager", "scheduler", "etcd-0"];

/// Builds the statuses of the components, which are always healthy here.
fn component_statuses() -> impl Iterator<Item = Object> {
    COMPONENTS.iter().filter_map(|name| {
        let healthy = json!([{"type": "Healthy", "status": "True", "message": "ok"}]);
        Object::from_value(
            Kind::ComponentStatus,
            json!({"metadata": {"name": name}, "conditions": healthy}),
        )
        .ok()
    })
}

/// Stored objects, the Leases of the nodes and the statuses of the components.
#[derive(Clone, Copy)]
pub struct ClientView<'a> {
    store: &'a Store,
    kubelets: &'a Kubelets,
    now: Time,
}

impl<'a> ClientView<'a> {
    /// Creates the view of a cluster as of now.
    pub fn new(sim: &'a Sim) -> ClientView<'a> {
        ClientView {
            store: sim.store(),
            kubelets: &sim.kubelets,
            now: sim.now(),
        }
    }

    /// Builds the Lease that a node's kubelet renews, as of now: renewals are not writes here (`heartbeats.rs`).
    fn node_lease(&self, node: &Object) -> Option<Rc<Object>> {
        let (name, made) = (node.meta.name.as_str(), node.meta.creation_timestamp?);
        // The first renewal comes with the node.
        let renewed = self.kubelets.renewed(name, self.now)?;
        let renewed = self.store.wall_at(renewed).max(made);
        let lease = json!({
            "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
            "metadata": {
                "name": name, "namespace": NODE_LEASES, "uid": Uid(node.meta.uid.0 ^ 0xffff_ffff).to_string(),
                "resourceVersion": self.store.version().to_string(), "creationTimestamp": made.rfc3339(),
                "ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": name, "uid": node.meta.uid.to_string()}],
            },
            "spec": {"holderIdentity": name, "leaseDurationSeconds": 40, "renewTime": renewed.rfc3339().replace('Z', ".000000Z")},
        });
        Object::from_value(Kind::Lease, lease).ok().map(Rc::new)
    }
}

impl ObjectReader for ClientView<'_> {
    fn store(&self) -> &Store {
        self.store
    }

    fn get(&self, key: &ObjectRef) -> Option<Rc<Object>> {
        if key.kind == Kind::ComponentStatus {
            return component_statuses()
                .find(|status| status.meta.name == key.name)
                .map(Rc::new);
        }
        let stored = self.store.get(key).cloned();
        if stored.is_some() || key.kind != Kind::Lease || key.namespace != NODE_LEASES {
            return stored;
        }
        self.node_lease(self.store.get(&ObjectRef::new(Kind::Node, "", &key.name))?)
    }

    fn list(&self, kind: Kind, namespace: Option<&str>) -> Listing {
        if kind == Kind::ComponentStatus {
            return Listing::of(component_statuses().map(Rc::new));
        }
        let stored = self.store.listing(kind, namespace);
        if kind != Kind::Lease || namespace.is_some_and(|namespace| namespace != NODE_LEASES) {
            return stored;
        }
        let nodes = self.store.list(Kind::Node);
        let leases = nodes.filter_map(|node| self.node_lease(node));
        // A stored Lease of a node comes first, and is the one that stays.
        let mut all: Vec<Rc<Object>> = stored.chain(leases).collect();
        let place = |lease: &Rc<Object>| (lease.meta.namespace.clone(), lease.meta.name.clone());
        all.sort_by_key(place);
        all.dedup_by_key(|lease| place(lease));
        Listing::of(all)
    }
}
