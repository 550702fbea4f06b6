//! View models of the diagrams, independent of the engine's types.

mod id;
mod node;
mod pod;
mod service;
mod storage;
mod workload;

#[cfg(test)]
mod tests;

pub use crate::block::PodBlock;
pub use id::Id;
use k8s_model::natural::natural_cmp;
pub use node::Node;
pub use pod::{Container, Pod, PodContainers, PodState};
pub use service::{Endpoint, PENDING, Service, ServicePort};
use std::collections::BTreeMap;
use std::rc::Rc;
pub use storage::{Claim, Class, Removed, Used, Volume};
pub use workload::{
    CardCaption, ControllerCard, Counter, Group, IndexState, MAX_INDEXES, Metric, Policy, Root,
    Tone, counters,
};

/// Number of Pods up to which a search visits each.
pub(super) const FEW: usize = 200;

/// Contents of all diagrams.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Model {
    /// Budget of the rollout, if its Deployment's card has to show it.
    pub budget: Option<Rc<crate::budget::Budget>>,
    /// Trees, sorted.
    pub roots: Vec<Root>,
    /// Services by name.
    pub services: Vec<Rc<Service>>,
    /// Policies by kind and name.
    pub policies: Vec<Policy>,
    /// Claims by namespace and name, ordinals as numbers.
    pub claims: Vec<Claim>,
    /// Volumes by name.
    pub volumes: Vec<Volume>,
    /// Classes by name.
    pub classes: Vec<Class>,
    /// Nodes by name, numbers by value.
    pub nodes: Rc<Vec<Rc<Node>>>,
    /// Pods of all trees by node, if known without visiting each.
    pub on: Rc<BTreeMap<String, PodBlock>>,
    /// Selected Pod, so that it need not be searched for.
    pub chosen: Option<Rc<Pod>>,
    /// Number of objects hidden by the filter.
    pub hidden: usize,
    /// Objects referenced by Pods: by kind, namespace and name.
    pub uses: Vec<Used>,
    /// Stored objects that no diagram animates and nobody uses: kind and name.
    pub inert: Vec<Id>,
    /// Last deleted Pod of a StatefulSet, as long as that is news.
    pub removed: Option<Removed>,
}

impl Model {
    /// Iterates over all Pods, in the order of the trees.
    pub fn pods(&self) -> impl Iterator<Item = &Pod> {
        self.roots
            .iter()
            .flat_map(|root| &root.groups)
            .flat_map(|group| group.pods.iter())
            .map(|pod| &**pod)
    }

    /// Returns the Pod with this uid if it is the chosen one, or if there are at most `FEW`; otherwise `None`.
    pub fn pod(&self, uid: Option<&str>) -> Option<&Pod> {
        match &self.chosen {
            Some(chosen) if Some(chosen.id.uid.as_str()) == uid => Some(chosen),
            _ if self.population() <= FEW => {
                self.pods().find(|pod| Some(pod.id.uid.as_str()) == uid)
            }
            _ => None,
        }
    }

    /// Returns the position of the Pod with this uid in a group.
    pub fn place(&self, group: &Group, uid: Option<&str>) -> Option<usize> {
        match &self.chosen {
            Some(chosen) if Some(chosen.id.uid.as_str()) == uid => {
                group.pods.search(|pod| pod.order(chosen)).ok()
            }
            _ if group.pods.len() <= FEW => group
                .pods
                .iter()
                .position(|pod| Some(pod.id.uid.as_str()) == uid),
            _ => None,
        }
    }

    /// Number of Pods.
    pub fn population(&self) -> usize {
        self.roots.iter().map(Root::pods).sum()
    }

    /// Returns the uids of the Pods of a selected owner.
    pub fn kin(&self, chosen: Option<&str>) -> Vec<&str> {
        let is = |of: &Option<Rc<ControllerCard>>| {
            of.as_ref()
                .is_some_and(|of| Some(of.id.uid.as_str()) == chosen)
        };
        let groups = self.roots.iter().flat_map(|root| {
            root.groups
                .iter()
                .filter(move |group| is(&root.controller) || is(&group.controller))
        });
        let kin: Vec<&str> = groups
            .flat_map(|group| group.pods.iter())
            .map(|pod| pod.id.uid.as_str())
            .collect();
        // If nearly all Pods belong to it, highlighting them is of no use.
        if kin.len() * 2 > self.population() {
            Vec::new()
        } else {
            kin
        }
    }

    /// Returns the claim of this name: claims are sorted by namespace and name.
    pub fn claim(&self, namespace: &str, name: &str) -> Option<&Claim> {
        self.claims.get(self.claim_place(namespace, name)?)
    }

    /// Returns the index of the claim of this name.
    pub fn claim_place(&self, namespace: &str, name: &str) -> Option<usize> {
        let order = |claim: &Claim| {
            claim
                .id
                .namespace
                .as_str()
                .cmp(namespace)
                .then_with(|| natural_cmp(&claim.id.name, name))
        };
        self.claims.binary_search_by(order).ok()
    }

    /// Returns the volume of this name: volumes are sorted by name.
    pub fn volume(&self, name: &str) -> Option<&Volume> {
        let at = self
            .volumes
            .binary_search_by(|volume| natural_cmp(&volume.id.name, name))
            .ok()?;
        self.volumes.get(at)
    }

    /// Returns true if a Pod mounts a claim.
    pub fn mounts(&self) -> bool {
        self.roots.iter().any(Root::mounts)
    }

    /// Returns true if the ownership diagram has nothing to show.
    pub fn is_empty(&self) -> bool {
        self.roots.is_empty()
            && self.services.is_empty()
            && self.claims.is_empty()
            && self.uses.is_empty()
            && self.inert.is_empty()
    }
}
