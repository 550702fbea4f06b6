//! Reads the engine's objects into a [`Model`]. Only this folder knows the API's types.

mod containers;
mod filter;
mod pod_filter;
mod pods;
mod policies;
mod references;
mod scope;
mod services;
mod status;
mod storage;
mod strip;
mod workloads;

#[cfg(test)]
mod tests;

use self::filter::filter;
use self::policies::BudgetTargets;
use self::references::{ReferenceReader, Referrer, uses};
use self::services::ServiceReading;
use self::storage::{claims, node, volume};
use self::workloads::controller;
use crate::model::{Class, Group, Model, Node, PodBlock, Policy, Root};
use k8s_model::natural::natural_cmp;
use k8s_model::storage::StorageClass;
use k8s_model::{Kind, Object, Uid};
pub use pods::Pods;
pub use references::fold_of;
pub use scope::{
    Lister, MANY_WORKLOADS, ROOTS, Scope, first_workload, has_many_workloads, id, roots, workloads,
};
pub use services::{hint_unanswered, nearest};
pub use status::status;
use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
pub use strip::budget;
pub use workloads::revision;

/// Reads the objects. Nodes show the Pods of all namespaces; the other diagrams those of the scope.
pub fn model(list: Lister, pods: &mut Pods, scope: &Scope) -> Model {
    let mut reading = ModelReading::begin(list, pods, scope);
    reading.roots(pods, usize::MAX);
    reading.list_services(list, scope);
    while !reading.services(list, pods, scope, usize::MAX) {}
    reading.policies(list, pods, scope);
    reading.finish(list, pods, scope)
}

/// A [`Model`] being read in parts, while the clock is paused.
pub struct ModelReading {
    nodes: Rc<Vec<Rc<Node>>>,
    /// Objects that may own Pods, in display order.
    owners: Vec<Rc<Object>>,
    owned: BTreeMap<Uid, Vec<Rc<Object>>>,
    uids: BTreeSet<Uid>,
    /// Index of the first of `owners` that is not read yet.
    next: usize,
    roots: Vec<Root>,
    users: Vec<Referrer>,
    services: ServiceReading,
    policies: Vec<Policy>,
    unfolded: BTreeSet<String>,
}

/// Returns the objects of a kind in the scope.
fn scoped(list: Lister, scope: &Scope, kind: Kind) -> Vec<Rc<Object>> {
    let mut objects = list(kind);
    objects.retain(|object| scope.holds(object));
    objects
}

impl ModelReading {
    /// Lists the objects to read.
    pub fn begin(list: Lister, pods: &mut Pods, scope: &Scope) -> ModelReading {
        let of = |kind: Kind| scoped(list, scope, kind);
        let nodes = of(Kind::Node);
        let answers = |node: &Rc<Object>| {
            node.get::<k8s_model::node::Node>()
                .is_some_and(k8s_model::node::Node::is_ready)
        };
        pods.look(
            nodes
                .iter()
                .filter(|node| !answers(node))
                .map(|node| node.meta.name.to_string())
                .collect(),
            scope.now,
        );
        let nodes = pods.nodes(&nodes);
        let owners: Vec<Rc<Object>> = ROOTS
            .into_iter()
            .zip(&mut pods.others.orders)
            .flat_map(|(kind, order)| order.sort(&of(kind)))
            .collect();
        let (mut owned, mut uids) = (BTreeMap::<Uid, Vec<Rc<Object>>>::new(), BTreeSet::new());
        for object in &owners {
            uids.insert(object.meta.uid);
            if let Some(owner) = object.meta.controller() {
                owned.entry(owner.uid).or_default().push(object.clone());
            }
        }
        pods.forget_controllers(uids.len());
        let unfolded = scope.unfolded.clone();
        let (roots, users, services, policies) = (
            Vec::new(),
            Vec::new(),
            ServiceReading::default(),
            Vec::new(),
        );
        ModelReading {
            nodes,
            owners,
            owned,
            uids,
            next: 0,
            roots,
            users,
            services,
            policies,
            unfolded,
        }
    }

    /// Number of controllers.
    pub fn controllers(&self) -> usize {
        self.owners.len()
    }

    /// Reads up to `most` more workloads, with the objects that they own; half as many of those written since the last read. Returns true
    /// when all are read.
    pub fn roots(&mut self, pods: &mut Pods, most: usize) -> bool {
        let anew = pods.others.controllers_read;
        let mut reader = ReferenceReader {
            owned: &self.owned,
            pods,
            users: std::mem::take(&mut self.users),
            unfolded: &self.unfolded,
        };
        let to = self.next.saturating_add(most).min(self.owners.len());
        while self.next < to && reader.pods.others.controllers_read - anew < most.div_ceil(2) {
            let object = &self.owners[self.next];
            if object
                .meta
                .controller()
                .is_none_or(|owner| !self.uids.contains(&owner.uid))
            {
                self.roots.push(reader.root(object));
            }
            self.next += 1;
        }
        self.users = reader.users;
        self.next == self.owners.len()
    }

    /// Lists the Services and their EndpointSlices.
    pub fn list_services(&mut self, list: Lister, scope: &Scope) {
        let [services, slices] =
            [Kind::Service, Kind::EndpointSlice].map(|kind| scoped(list, scope, kind));
        self.services = ServiceReading::new(services, slices);
    }

    /// Reads up to `most` more of the listed Services. Returns true when all are read.
    pub fn services(&mut self, list: Lister, pods: &mut Pods, scope: &Scope, most: usize) -> bool {
        let mut known = std::mem::take(&mut pods.others.services);
        let gone = |uid: Uid| !scope.lags && pods.get(uid).is_none();
        let all = self
            .services
            .read(&mut known, most, &|kind| scoped(list, scope, kind), &gone);
        pods.others.services = known;
        all
    }

    /// Reads the Pods without a workload, then autoscalers and budgets, once all workloads are read.
    pub fn policies(&mut self, list: Lister, pods: &Pods, scope: &Scope) {
        let lone = pods
            .blocks()
            .filter(|(owner, _)| !self.uids.contains(owner));
        let bare: PodBlock = lone
            .flat_map(|(_, block)| block.iter())
            .filter(|pod| scope.has(&pod.id.namespace))
            .cloned()
            .collect();
        if !bare.is_empty() {
            self.roots.push(Root {
                controller: None,
                groups: vec![Group {
                    controller: None,
                    pods: bare,
                }],
                ..Root::default()
            });
        }
        let of = |kind: Kind| scoped(list, scope, kind);
        let uids: LazyCell<BTreeMap<(Kind, &str, &str), Uid>, _> = LazyCell::new(|| {
            self.owners
                .iter()
                .map(|of| {
                    (
                        (of.kind, of.meta.namespace.as_str(), of.meta.name.as_str()),
                        of.meta.uid,
                    )
                })
                .collect()
        });
        let scaler = |object: &Rc<Object>| {
            policies::scaler(object, &|kind, name| {
                uids.get(&(kind, object.meta.namespace.as_str(), name))
                    .copied()
            })
        };
        self.policies
            .extend(of(Kind::HorizontalPodAutoscaler).iter().map(scaler));
        let budgets = of(Kind::PodDisruptionBudget);
        if !budgets.is_empty() {
            let targets = BudgetTargets::new(&budgets, &self.roots);
            self.policies.extend(
                budgets
                    .iter()
                    .map(|object| policies::budget(object, targets.of(object))),
            );
        }
    }

    /// Reads the remaining objects, once all of these are read.
    pub fn finish(self, list: Lister, pods: &mut Pods, scope: &Scope) -> Model {
        let ModelReading {
            nodes,
            roots,
            mut users,
            services,
            policies,
            ..
        } = self;
        let services = services.finish(&mut pods.others.services);
        let of = |kind: Kind| scoped(list, scope, kind);
        let mut out = Model {
            nodes,
            roots,
            services,
            policies,
            ..Model::default()
        };
        out.claims = claims(&of(Kind::PersistentVolumeClaim), &of(Kind::StatefulSet));
        out.volumes = of(Kind::PersistentVolume)
            .iter()
            .filter_map(|object| volume(object))
            .collect();
        out.volumes
            .sort_by(|a, b| natural_cmp(&a.id.name, &b.id.name));
        out.classes = of(Kind::StorageClass)
            .iter()
            .filter_map(|object| {
                Some(Class {
                    id: id(object),
                    reclaim: object.get::<StorageClass>()?.reclaim_policy.to_string(),
                })
            })
            .collect();
        let still = k8s_model::kind::all().filter(|kind| {
            let info = kind.info();
            let is_shown = matches!(
                kind,
                Kind::ServiceAccount | Kind::Ingress | Kind::NetworkPolicy | Kind::Custom(_)
            );
            info.namespaced && (!info.is_controlled() || is_shown) && *kind != Kind::Lease
        });
        // Default objects of every namespace do not count.
        let made = |object: &Rc<Object>| {
            !matches!(
                (object.kind, object.meta.name.as_str()),
                (Kind::ServiceAccount, "default") | (Kind::ConfigMap, "kube-root-ca.crt")
            )
        };
        out.inert = still
            .flat_map(of)
            .filter(made)
            .map(|object| id(&object))
            .collect();
        let alone = pods
            .lone()
            .into_iter()
            .filter(|(id, _)| scope.has(&id.namespace));
        users.extend(alone.map(|(id, names)| Referrer {
            id: id.clone(),
            names: names.clone(),
            old: false,
        }));
        if !users.is_empty() {
            out.uses = uses(&users, &mut out.inert);
        }
        if scope.filter.trim().is_empty() && scope.namespace.is_none() {
            out.on = pods.on().clone();
            // Checked first, so that the opening does not load the code that drops a filter.
            if pods.pod_filter.is_some() {
                pods.pod_filter = None;
            }
        } else {
            filter(&mut out, list, pods, scope);
        }
        out
    }
}

/// Returns the namespaces with objects created by a user.
pub fn namespaces(list: Lister, pods: &Pods) -> Vec<String> {
    let mut names = BTreeSet::new();
    names.insert("default".to_string());
    for kind in ROOTS
        .into_iter()
        .chain([Kind::Service, Kind::PersistentVolumeClaim])
    {
        for object in list(kind) {
            if !names.contains(object.meta.namespace.as_str()) {
                names.insert(object.meta.namespace.to_string());
            }
        }
    }
    // Pods of an owner are in its namespace; those without one may be anywhere.
    for (owner, block) in pods.blocks() {
        let told = if owner == pods::NO_OWNER {
            block.len()
        } else {
            1
        };
        for pod in block.iter().take(told) {
            if !names.contains(&pod.id.namespace) {
                names.insert(pod.id.namespace.clone());
            }
        }
    }
    names.into_iter().collect()
}
