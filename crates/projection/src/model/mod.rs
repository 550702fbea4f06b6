//! What the diagrams need to know, free of the engine's types.

mod id;
mod node;
mod pod;
mod service;
mod storage;
mod workload;

#[cfg(test)]
mod tests;

pub use crate::block::PodBlock;
pub use id::{Id, natural};
pub use node::Node;
pub use pod::{Pod, PodState};
pub use service::{Endpoint, PENDING, Service};
use std::collections::BTreeMap;
use std::rc::Rc;
pub use storage::{Claim, Class, Removed, Used, Volume};
pub use workload::{ControllerCard, Counter, Group, Metric, Policy, Root, Tone, counters};

/// So many Pods are looked through for one.
pub(super) const FEW: usize = 200;

/// Everything the diagrams draw.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Model {
    /// What a rollout may do, where its Deployment's card is to tell.
    pub budget: Option<Rc<crate::budget::Budget>>,
    /// Trees, sorted.
    pub roots: Vec<Root>,
    /// By name.
    pub services: Vec<Rc<Service>>,
    /// By kind and name.
    pub policies: Vec<Policy>,
    /// By namespace and name, ordinals as numbers.
    pub claims: Vec<Claim>,
    /// By name.
    pub volumes: Vec<Volume>,
    /// By name.
    pub classes: Vec<Class>,
    /// By name, numbers as numbers.
    pub nodes: Rc<Vec<Rc<Node>>>,
    /// All Pods of the trees by their node, where that is known without a look at each.
    pub on: Rc<BTreeMap<String, PodBlock>>,
    /// The Pod that is chosen, so that nobody has to look for it among many.
    pub chosen: Option<Rc<Pod>>,
    /// How many objects the filter hides.
    pub hidden: usize,
    /// What Pods name: by kind, namespace and name.
    pub uses: Vec<Used>,
    /// Stored objects that no diagram animates and nobody uses: kind and name.
    pub inert: Vec<Id>,
    /// The last Pod of a StatefulSet that was deleted, as long as that is news.
    pub removed: Option<Removed>,
}

impl Model {
    /// All Pods, in the order of the trees.
    pub fn pods(&self) -> impl Iterator<Item = &Pod> {
        self.roots
            .iter()
            .flat_map(|root| &root.groups)
            .flat_map(|group| group.pods.iter())
            .map(|pod| &**pod)
    }

    /// The Pod with this uid.
    pub fn pod(&self, uid: Option<&str>) -> Option<&Pod> {
        match &self.chosen {
            Some(chosen) if Some(chosen.id.uid.as_str()) == uid => Some(chosen),
            _ if self.population() <= FEW => {
                self.pods().find(|pod| Some(pod.id.uid.as_str()) == uid)
            }
            _ => None,
        }
    }

    /// Where the Pod with this uid stands among those of a group.
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

    /// How many Pods there are.
    pub fn population(&self) -> usize {
        self.roots.iter().map(Root::pods).sum()
    }

    /// The Pods of a chosen owner, by uid.
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
        // What nearly all have tells none of them apart.
        if kin.len() * 2 > self.population() {
            Vec::new()
        } else {
            kin
        }
    }

    /// The claim of this name: they stand in the order of namespaces and names.
    pub fn claim(&self, namespace: &str, name: &str) -> Option<&Claim> {
        self.claims.get(self.claim_place(namespace, name)?)
    }

    /// Where it stands among them.
    pub fn claim_place(&self, namespace: &str, name: &str) -> Option<usize> {
        let order = |claim: &Claim| {
            claim
                .id
                .namespace
                .as_str()
                .cmp(namespace)
                .then_with(|| natural(&claim.id.name, name))
        };
        self.claims.binary_search_by(order).ok()
    }

    /// The volume of this name: they stand in the order of names.
    pub fn volume(&self, name: &str) -> Option<&Volume> {
        let at = self
            .volumes
            .binary_search_by(|volume| natural(&volume.id.name, name))
            .ok()?;
        self.volumes.get(at)
    }

    /// Whether a Pod mounts a claim.
    pub fn mounts(&self) -> bool {
        self.roots.iter().any(Root::mounts)
    }

    /// Whether the ownership diagram has anything to show.
    pub fn is_empty(&self) -> bool {
        self.roots.is_empty()
            && self.services.is_empty()
            && self.claims.is_empty()
            && self.uses.is_empty()
            && self.inert.is_empty()
    }
}
