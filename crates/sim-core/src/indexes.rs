//! Secondary indexes, for lookups without visiting all objects of a kind: Pods by their labels or the claims they use, objects by the
//! labels they select, volumes by the claim they are reserved for, and EndpointSlices by their Service.
//!
//! Guarantees: results include every match; hashes may collide, so the caller must check the results. The cost of a change depends on the
//! labels of the object alone, not on the number of other objects.

use super::table::{Slot, Table, hash};
use super::tree::Tree;
use k8s_model::network::SERVICE_NAME;
use k8s_model::policy::BudgetSpec;
use k8s_model::storage::PersistentVolume;
use k8s_model::{Body, Kind, Labels, Object};
use std::rc::Rc;

/// Multimap from a hash to numbers, in order.
#[derive(Clone, Debug)]
struct Marks<V: 'static>(Tree<(u64, V), ()>);

impl<V> Default for Marks<V> {
    fn default() -> Self {
        Marks(Tree::default())
    }
}

impl<V: Copy + Ord + Default> Marks<V> {
    fn add(&mut self, hash: u64, value: V) {
        self.0.insert((hash, value), ());
    }

    fn remove(&mut self, hash: u64, value: V) {
        self.0.remove(&(hash, value));
    }

    fn at(&self, hash: u64) -> impl Iterator<Item = V> {
        self.0
            .from(&(hash, V::default()))
            .take_while(move |((of, _), ())| *of == hash)
            .map(|((_, value), ())| *value)
    }

    /// Returns the hash with the fewest numbers, in at most as many steps for each hash.
    fn rarest(&self, hashes: &[u64]) -> Option<u64> {
        let mut all: Vec<_> = hashes.iter().map(|hash| self.at(*hash)).collect();
        if hashes.len() < 2 {
            return hashes.first().copied();
        }
        loop {
            if let Some(ended) = all.iter_mut().position(|each| each.next().is_none()) {
                return Some(hashes[ended]);
            }
        }
    }
}

/// Index of Pods by their labels, and of objects that select Pods by the labels they require.
#[derive(Clone, Debug, Default)]
pub struct LabelIndex {
    /// Pods of a namespace, by the hash of their whole label set.
    alike: Marks<Slot>,
    /// Label sets, by each label and by their namespace.
    labelled: Marks<u64>,
    /// Selecting objects, by one of the labels they require.
    selecting: Marks<Slot>,
}

impl LabelIndex {
    /// Applies a change of an object.
    pub fn change(&mut self, old: Option<&Rc<Object>>, new: Option<&Rc<Object>>, place: Slot) {
        let Some(kind) = new.or(old).map(|object| object.kind) else {
            return;
        };
        if kind == Kind::Pod {
            if let (Some(old), Some(new)) = (old, new)
                && (Rc::ptr_eq(&old.meta.labels, &new.meta.labels)
                    || old.meta.labels == new.meta.labels)
            {
                return;
            }
            if let Some(old) = old {
                self.remove_pod(old, place);
            }
            if let Some(new) = new {
                self.add_pod(new, place);
            }
        } else if selects(kind) {
            let (before, after) = (old.and_then(|o| wanted(o)), new.and_then(|o| wanted(o)));
            if before == after {
                return;
            }
            if let (Some(old), Some(labels)) = (old, before) {
                pairs(kind, &old.meta.namespace, &labels)
                    .iter()
                    .for_each(|pair| self.selecting.remove(*pair, place));
            }
            if let (Some(new), Some(labels)) = (new, after)
                && let Some(pair) =
                    self.selecting
                        .rarest(&pairs(kind, &new.meta.namespace, &labels))
            {
                self.selecting.add(pair, place);
            }
        }
    }

    fn add_pod(&mut self, pod: &Object, place: Slot) {
        let (namespace, labels) = (&pod.meta.namespace, &pod.meta.labels);
        let set = set_of(namespace, labels);
        if self.alike.at(set).next().is_none() {
            self.labelled.add(whole(Kind::Pod, namespace), set);
            labels.iter().for_each(|(key, value)| {
                self.labelled
                    .add(pair(Kind::Pod, namespace, key, value), set)
            });
        }
        self.alike.add(set, place);
    }

    fn remove_pod(&mut self, pod: &Object, place: Slot) {
        let (namespace, labels) = (&pod.meta.namespace, &pod.meta.labels);
        let set = set_of(namespace, labels);
        self.alike.remove(set, place);
        if self.alike.at(set).next().is_none() {
            self.labelled.remove(whole(Kind::Pod, namespace), set);
            labels.iter().for_each(|(key, value)| {
                self.labelled
                    .remove(pair(Kind::Pod, namespace, key, value), set)
            });
        }
    }

    /// Returns the Pods of a namespace that may have all these labels, grouped by label set.
    pub fn pods(&self, namespace: &str, labels: &Labels) -> impl Iterator<Item = Slot> {
        let pairs = pairs(Kind::Pod, namespace, labels);
        let sets: Vec<u64> = self
            .labelled
            .rarest(&pairs)
            .into_iter()
            .flat_map(|pair| self.labelled.at(pair))
            .collect();
        sets.into_iter().flat_map(|set| self.alike.at(set))
    }

    /// Returns the objects of a kind in a namespace that may select these labels, by name.
    pub fn selecting<'t>(
        &self,
        kind: Kind,
        namespace: &str,
        labels: &Labels,
        table: &'t Table,
    ) -> Vec<&'t Rc<Object>> {
        let mut hashes: Vec<u64> = labels
            .iter()
            .map(|(key, value)| pair(kind, namespace, key, value))
            .collect();
        hashes.push(whole(kind, namespace));
        by_name(
            hashes.into_iter().flat_map(|hash| self.selecting.at(hash)),
            namespace,
            table,
        )
    }
}

/// Returns the objects in these slots in a namespace, by name, each once.
fn by_name<'t>(
    places: impl Iterator<Item = Slot>,
    namespace: &str,
    table: &'t Table,
) -> Vec<&'t Rc<Object>> {
    let mut found: Vec<&Rc<Object>> = places
        .filter_map(|place| table.at(place))
        .filter(|o| o.meta.namespace == namespace)
        .collect();
    if found.len() > 1 {
        found.sort_by(|a, b| a.meta.name.cmp(&b.meta.name));
        found.dedup_by(|a, b| Rc::ptr_eq(a, b));
    }
    found
}

/// Returns true for kinds that select Pods, or adopt matching ones.
fn selects(kind: Kind) -> bool {
    use Kind::{
        DaemonSet, Deployment, Job, PodDisruptionBudget, ReplicaSet, ReplicationController,
        Service, StatefulSet,
    };
    matches!(
        kind,
        Service
            | PodDisruptionBudget
            | ReplicaSet
            | ReplicationController
            | StatefulSet
            | DaemonSet
            | Deployment
            | Job
    )
}

/// Returns the labels that every match of an object's selector has; `None` if it selects nothing.
fn wanted(object: &Object) -> Option<Labels> {
    let labels = match &object.body {
        Body::Service(service) if service.spec.selector.is_empty() => return None,
        Body::Service(service) => service.spec.selector.clone(),
        Body::ReplicaSet(set) => set.spec.selector.match_labels.clone(),
        Body::StatefulSet(set) => set.spec.selector.match_labels.clone(),
        Body::DaemonSet(set) => set.spec.selector.match_labels.clone(),
        Body::Deployment(deployment) => deployment.spec.selector.match_labels.clone(),
        Body::Job(job) => job.spec.selector.match_labels.clone(),
        Body::Other(_) if object.kind == Kind::PodDisruptionBudget => {
            BudgetSpec::of(object).selector?.match_labels
        }
        Body::Pod(_)
        | Body::ControllerRevision(_)
        | Body::Endpoints(_)
        | Body::EndpointSlice(_)
        | Body::PersistentVolumeClaim(_)
        | Body::PersistentVolume(_)
        | Body::StorageClass(_)
        | Body::Node(_)
        | Body::Event(_)
        | Body::Other(_) => Labels::default(),
    };
    Some(labels)
}

/// Returns the hashes of the labels, or of the namespace if there are none.
fn pairs(kind: Kind, namespace: &str, labels: &Labels) -> Vec<u64> {
    if labels.is_empty() {
        return vec![whole(kind, namespace)];
    }
    labels
        .iter()
        .map(|(key, value)| pair(kind, namespace, key, value))
        .collect()
}

fn mix(hash: u64, other: u64) -> u64 {
    (hash.rotate_left(5) ^ other).wrapping_mul(0x517c_c1b7_2722_0a95)
}

/// Returns the hash of a kind and a namespace.
pub fn whole(kind: Kind, namespace: &str) -> u64 {
    mix(kind.index() as u64, hash(namespace, ""))
}

fn pair(kind: Kind, namespace: &str, key: &str, value: &str) -> u64 {
    mix(whole(kind, namespace), hash(key, value))
}

fn set_of(namespace: &str, labels: &Labels) -> u64 {
    labels
        .iter()
        .fold(whole(Kind::Pod, namespace), |set, (key, value)| {
            mix(set, hash(key, value))
        })
}

/// Index of Pods by their node.
#[derive(Clone, Debug, Default)]
pub struct NodeIndex(Marks<Slot>);

impl NodeIndex {
    /// Applies a change of an object.
    pub fn change(&mut self, old: Option<&Rc<Object>>, new: Option<&Rc<Object>>, place: Slot) {
        let (before, after) = (node_of(old), node_of(new));
        if before == after {
            return;
        }
        if let Some(node) = before {
            self.0.remove(hash(node, ""), place);
        }
        if let Some(node) = after {
            self.0.add(hash(node, ""), place);
        }
    }

    /// Returns the Pods on a node, by namespace and name.
    pub fn pods<'t>(&self, node: &str, pods: &'t Table) -> Vec<&'t Rc<Object>> {
        let mut found: Vec<&Rc<Object>> = self
            .0
            .at(hash(node, ""))
            .filter_map(|place| pods.at(place))
            .filter(|object| node_of(Some(object)) == Some(node))
            .collect();
        found.sort_by(|a, b| {
            (&a.meta.namespace, &a.meta.name).cmp(&(&b.meta.namespace, &b.meta.name))
        });
        found
    }
}

/// Returns the node to which a Pod is bound.
fn node_of(object: Option<&Rc<Object>>) -> Option<&str> {
    let node = object?.pod()?.node_name.as_str();
    (!node.is_empty()).then_some(node)
}

/// Index of objects by the name that they reference: Pods by the claims they use, volumes by the claim they are reserved for,
/// EndpointSlices by their Service.
#[derive(Clone, Debug, Default)]
pub struct ReferenceIndex {
    users: Marks<Slot>,
    volumes: Marks<Slot>,
    slices: Marks<Slot>,
}

impl ReferenceIndex {
    /// Applies a change of an object.
    pub fn change(&mut self, old: Option<&Rc<Object>>, new: Option<&Rc<Object>>, place: Slot) {
        for (object, is_new) in old
            .map(|old| (old, false))
            .into_iter()
            .chain(new.map(|new| (new, true)))
        {
            let (marks, hashes): (_, Vec<u64>) = match &object.body {
                Body::Pod(pod) => {
                    let same = |other: &Rc<Object>| {
                        other
                            .pod()
                            .is_some_and(|other| Rc::ptr_eq(&other.spec, &pod.spec))
                    };
                    if !is_new && new.is_some_and(same) {
                        return;
                    }
                    (
                        &mut self.users,
                        pod.spec
                            .claims()
                            .map(|name| hash(&object.meta.namespace, name))
                            .collect(),
                    )
                }
                Body::PersistentVolume(volume) => (&mut self.volumes, vec![reserved_for(volume)]),
                Body::EndpointSlice(_) => {
                    let service = object.meta.label(SERVICE_NAME);
                    (
                        &mut self.slices,
                        service
                            .map(|name| hash(&object.meta.namespace, name))
                            .into_iter()
                            .collect(),
                    )
                }
                Body::ReplicaSet(_)
                | Body::Deployment(_)
                | Body::StatefulSet(_)
                | Body::Job(_)
                | Body::DaemonSet(_)
                | Body::ControllerRevision(_)
                | Body::Service(_)
                | Body::Endpoints(_)
                | Body::PersistentVolumeClaim(_)
                | Body::StorageClass(_)
                | Body::Node(_)
                | Body::Event(_)
                | Body::Other(_) => return,
            };
            for hash in hashes {
                if is_new {
                    marks.add(hash, place)
                } else {
                    marks.remove(hash, place)
                }
            }
        }
    }

    /// Returns the Pods of a namespace that may use a claim, by name.
    pub fn users<'t>(&self, namespace: &str, claim: &str, pods: &'t Table) -> Vec<&'t Rc<Object>> {
        by_name(self.users.at(hash(namespace, claim)), namespace, pods)
    }

    /// Returns the volumes that may be reserved for a claim, or for none, by name.
    pub fn volumes<'t>(
        &self,
        claim: Option<(&str, &str)>,
        volumes: &'t Table,
    ) -> Vec<&'t Rc<Object>> {
        by_name(
            self.volumes
                .at(claim.map_or(FREE, |(namespace, name)| hash(namespace, name))),
            "",
            volumes,
        )
    }

    /// Returns the EndpointSlices that may belong to a Service, by name.
    pub fn slices<'t>(
        &self,
        namespace: &str,
        service: &str,
        slices: &'t Table,
    ) -> Vec<&'t Rc<Object>> {
        by_name(self.slices.at(hash(namespace, service)), namespace, slices)
    }
}

/// Hash that stands for no claim.
const FREE: u64 = 0;

fn reserved_for(volume: &PersistentVolume) -> u64 {
    volume
        .spec
        .claim_ref
        .as_ref()
        .map_or(FREE, |claim| hash(&claim.namespace, &claim.name))
}
