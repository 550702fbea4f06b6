//! View models of the Pods. Each is updated when the Pod is written, not when it is drawn, so that a frame costs only what has changed.

use super::id;
use super::pod_filter::PodFilter;
use super::scope::{CreationOrder, ROOTS, SEEN};
use super::services::ServiceCache;
use crate::model::{ControllerCard, Id, Node, Pod, PodBlock};
use crate::totals::PodTotals;
use i18n::{Message, msg};
use k8s_model::natural::natural_cmp;
use k8s_model::sources::{self, Reference};
use k8s_model::{Kind, Labels, Object, ObjectRef, OwnerReference, Uid};
use sim_core::deferred_drop;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Maximum number of cached controllers that may have been deleted, in addition to existing ones.
const MAX_DELETED_CONTROLLERS: usize = 4_096;

/// References of a template or a Pod.
pub(super) type Names = Rc<[Reference]>;

/// All Pods of an instant, by owner.
#[derive(Clone, Debug, Default)]
pub struct Pods {
    known: BTreeMap<Uid, (Uid, Rc<Pod>)>,
    blocks: BTreeMap<Uid, PodBlock>,
    /// Pods by node, without those of system namespaces.
    on: Rc<BTreeMap<String, PodBlock>>,
    /// Uids of owners, shared, and the most frequent labels of their Pods.
    owners: BTreeMap<Uid, Rc<str>>,
    labels: BTreeMap<Uid, (Labels, Rc<[String]>)>,
    /// Terminating Pods, which show a countdown.
    leaving: BTreeMap<Uid, Rc<Object>>,
    /// Nodes that do not respond.
    silent: Vec<String>,
    /// Controllers with the references of their templates, and the version read.
    controllers: BTreeMap<Uid, (u64, (Rc<ControllerCard>, Names))>,
    /// References of Pods without an owner, if they have any.
    lone: BTreeMap<Uid, (Id, Names)>,
    alike: Option<Names>,
    /// View models of the nodes, and the versions read, in the order of their objects.
    nodes: Rc<Vec<Rc<Node>>>,
    read: Vec<ReadNode>,
    pub(super) others: OtherObjects,
    /// Filter state, while a filter or a namespace is selected.
    pub(super) pod_filter: Option<Box<PodFilter>>,
}

/// Caches of objects other than Pods, so that they are not read again for each picture.
#[derive(Clone, Debug, Default)]
pub(super) struct OtherObjects {
    pub services: ServiceCache,
    /// Sort orders of the root kinds.
    pub orders: [CreationOrder; ROOTS.len()],
    /// Number of controllers read so far; a caller compares it with an earlier value.
    pub controllers_read: usize,
}

/// Version of a node that was read, and its index in the sorted list.
#[derive(Clone, Debug)]
struct ReadNode {
    uid: Uid,
    version: u64,
    place: usize,
}

impl Drop for Pods {
    fn drop(&mut self) {
        if self.known.len() <= SEEN {
            return;
        }
        deferred_drop::drop_later(std::mem::take(&mut self.known));
        deferred_drop::drop_later(std::mem::take(&mut self.blocks));
        if let Some(on) = Rc::get_mut(&mut self.on) {
            deferred_drop::drop_later(std::mem::take(on));
        }
    }
}

/// Stands for the owner of a Pod without one.
pub const NO_OWNER: Uid = Uid(0);

impl Pods {
    /// Applies a write.
    pub fn take(
        &mut self,
        object: &Rc<Object>,
        gone: bool,
        get: &dyn Fn(&ObjectRef) -> Option<Rc<Object>>,
    ) {
        let uid = object.meta.uid;
        if gone {
            self.leaving.remove(&uid);
            self.lone.remove(&uid);
            if let Some((owner, pod)) = self.known.remove(&uid) {
                self.out(owner, &pod);
                self.put_on_node(Some(pod), None);
            }
            return;
        }
        let owner = object.meta.controller();
        let family = owner
            .and_then(|owner| owner.key(&object.meta.namespace))
            .filter(|key| matches!(key.kind, Kind::ReplicaSet | Kind::Job))
            .and_then(|key| {
                get(&key)?
                    .meta
                    .controller()
                    .map(|root| root.name.to_string())
            })
            .unwrap_or_else(|| {
                owner
                    .map(|owner| owner.name.to_string())
                    .unwrap_or_default()
            });
        let mut pod = read(object, &family);
        pod.stale = self.silent.contains(&pod.node);
        self.note(object, owner);
        if let Some(owner) = owner {
            pod.owner = self
                .owners
                .entry(owner.uid)
                .or_insert_with(|| owner.uid.to_string().into())
                .clone();
        }
        pod.labels = self.labels_of(
            owner.map_or(NO_OWNER, |owner| owner.uid),
            &object.meta.labels,
        );
        if object.meta.is_deleting() {
            self.leaving.insert(uid, object.clone());
        }
        self.put(owner.map_or(NO_OWNER, |owner| owner.uid), uid, Rc::new(pod));
    }

    /// Records the references of a Pod, unless a workload that owns it has them.
    fn note(&mut self, object: &Object, owner: Option<&OwnerReference>) {
        let stands_alone =
            owner.is_none_or(|owner| !super::ROOTS.iter().any(|root| owner.is_kind(*root)));
        let named = if stands_alone {
            sources::of(object)
        } else {
            Vec::new()
        };
        if named.is_empty() {
            self.lone.remove(&object.meta.uid);
            return;
        }
        // Most Pods have the same references as the previous one.
        let alike = self.alike.take().filter(|last| **last == *named);
        let named = alike.unwrap_or_else(|| named.into());
        self.alike = Some(named.clone());
        self.lone.insert(object.meta.uid, (id(object), named));
    }

    /// Returns the Pods without an owner that reference something, with their references. Of very many, one for each distinct set of
    /// references: all of them are one block.
    pub(super) fn lone(&self) -> Vec<&(Id, Names)> {
        let mut told: Vec<&(Id, Names)> = Vec::new();
        for one in self.lone.values() {
            if self.lone.len() <= SEEN
                || !told
                    .iter()
                    .any(|(id, names)| id.namespace == one.0.namespace && Rc::ptr_eq(names, &one.1))
            {
                told.push(one);
            }
        }
        told
    }

    /// Returns the labels of a Pod; Pods of one template share them.
    fn labels_of(&mut self, owner: Uid, labels: &Labels) -> Rc<[String]> {
        if let Some((_, words)) = self
            .labels
            .get(&owner)
            .filter(|(known, _)| Rc::ptr_eq(known, labels) || known == labels)
        {
            return words.clone();
        }
        let words: Rc<[String]> = labels
            .iter()
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        self.labels.insert(owner, (labels.clone(), words.clone()));
        words
    }

    /// Returns true if the filter still has Pods to check.
    pub fn lags(&self) -> bool {
        self.pod_filter
            .as_ref()
            .is_some_and(|pod_filter| pod_filter.lags())
    }

    fn put(&mut self, owner: Uid, uid: Uid, pod: Rc<Pod>) {
        let old = self.known.get(&uid).map(|(_, old)| old.clone());
        // Many writes change nothing visible.
        if old.as_ref() == Some(&pod)
            && self
                .known
                .get(&uid)
                .is_some_and(|(before, _)| *before == owner)
        {
            return;
        }
        self.put_on_node(old, Some(&pod));
        match self.known.insert(uid, (owner, pod.clone())) {
            Some((before, old)) if before == owner => {
                let block = self.blocks.entry(owner).or_default();
                if let Some(at) = block.place_of(&old) {
                    block.replace(at, pod);
                    return;
                }
            }
            Some((before, old)) => self.out(before, &old),
            None => {}
        }
        let block = self.blocks.entry(owner).or_default();
        block.insert(place(block, &pod), pod);
    }

    fn out(&mut self, owner: Uid, pod: &Rc<Pod>) {
        let Some(block) = self.blocks.get_mut(&owner) else {
            return;
        };
        if let Some(at) = block.place_of(pod) {
            block.remove(at);
        }
        if block.is_empty() {
            self.blocks.remove(&owner);
            self.owners.remove(&owner);
            self.labels.remove(&owner);
        }
    }

    /// Moves a Pod from its old position on a node to its new one.
    fn put_on_node(&mut self, old: Option<Rc<Pod>>, new: Option<&Rc<Pod>>) {
        let on = Rc::make_mut(&mut self.on);
        let stays = old
            .as_ref()
            .zip(new)
            .is_some_and(|(old, new)| old.node == new.node);
        if let Some(old) = old
            && let Some(block) = on.get_mut(&old.node)
            && let Some(at) = block.place_of(&old)
        {
            match new {
                Some(new) if stays => return block.replace(at, new.clone()),
                _ => block.remove(at),
            }
            if block.is_empty() {
                on.remove(&old.node);
            }
        }
        if let Some(new) = new {
            let block = on.entry(new.node.clone()).or_default();
            block.insert(place(block, new), new.clone());
        }
    }

    /// Drops the cards of deleted controllers once there are many. `existing` is the number of existing controllers.
    pub(super) fn forget_controllers(&mut self, existing: usize) {
        if self.controllers.len() > existing + MAX_DELETED_CONTROLLERS {
            self.controllers.clear();
        }
    }

    /// Returns the card of a controller, read again after a write.
    pub fn controller(&mut self, object: &Object) -> (Rc<ControllerCard>, Names) {
        let version = object.meta.resource_version;
        let anew = &mut self.others.controllers_read;
        let mut read = || {
            *anew += 1;
            (
                version,
                (
                    Rc::new(super::controller(object)),
                    sources::of(object).into(),
                ),
            )
        };
        let known = self
            .controllers
            .entry(object.meta.uid)
            .or_insert_with(&mut read);
        if known.0 != version {
            *known = read();
        }
        known.1.clone()
    }

    /// Returns the nodes by name. A node is read again after a write; all are sorted again when one was added or removed.
    pub fn nodes(&mut self, objects: &[Rc<Object>]) -> Rc<Vec<Rc<Node>>> {
        let same = |(object, read): (&Rc<Object>, &ReadNode)| object.meta.uid == read.uid;
        if objects.len() != self.read.len() || !objects.iter().zip(&self.read).all(same) {
            let read =
                |(at, object): (usize, &Rc<Object>)| Some((at, Rc::new(super::node(object)?)));
            let mut all: Vec<(usize, Rc<Node>)> =
                objects.iter().enumerate().filter_map(read).collect();
            all.sort_by(|(_, a), (_, b)| natural_cmp(&a.id.name, &b.id.name));
            let of = |object: &Rc<Object>| ReadNode {
                uid: object.meta.uid,
                version: object.meta.resource_version,
                place: 0,
            };
            self.read = objects.iter().map(of).collect();
            all.iter()
                .enumerate()
                .for_each(|(place, (at, _))| self.read[*at].place = place);
            self.nodes = Rc::new(all.into_iter().map(|(_, node)| node).collect());
        }
        for (object, read) in objects
            .iter()
            .zip(&mut self.read)
            .filter(|(object, read)| object.meta.resource_version != read.version)
        {
            read.version = object.meta.resource_version;
            if let Some(node) = super::node(object) {
                Rc::make_mut(&mut self.nodes)[read.place] = Rc::new(node);
            }
        }
        self.nodes.clone()
    }

    /// Sets the unresponsive nodes and the current time.
    pub fn look(&mut self, silent: Vec<String>, now: i64) {
        if self.silent != silent {
            let turned: Vec<(Uid, Uid, Pod)> = self
                .known
                .iter()
                .filter(|(_, (_, pod))| pod.stale != silent.contains(&pod.node))
                .map(|(uid, (owner, pod))| {
                    (
                        *uid,
                        *owner,
                        Pod {
                            stale: !pod.stale,
                            ..(**pod).clone()
                        },
                    )
                })
                .collect();
            for (uid, owner, pod) in turned {
                self.put(owner, uid, Rc::new(pod));
            }
            self.silent = silent;
        }
        if self.leaving.len() > SEEN {
            return;
        }
        let mut told = Vec::new();
        for (uid, object) in &self.leaving {
            let Some((owner, pod)) = self.known.get(uid) else {
                continue;
            };
            let note = left(object, now, pod.stale);
            if pod.note != note {
                told.push((
                    *uid,
                    *owner,
                    Pod {
                        note,
                        ..(**pod).clone()
                    },
                ));
            }
        }
        for (uid, owner, pod) in told {
            self.put(owner, uid, Rc::new(pod));
        }
    }

    /// Returns true if any Pod is terminating.
    pub fn leave(&self) -> bool {
        !self.leaving.is_empty()
    }

    /// Returns the Pods of an owner.
    pub fn of(&self, owner: Uid) -> PodBlock {
        self.blocks.get(&owner).cloned().unwrap_or_default()
    }

    /// Returns the Pods without an owner.
    pub fn bare(&self) -> PodBlock {
        self.of(NO_OWNER)
    }

    /// Totals of an owner's Pods.
    pub fn totals(&self, owner: Uid) -> PodTotals {
        self.blocks
            .get(&owner)
            .map(PodBlock::totals)
            .unwrap_or_default()
    }

    /// Returns true if all failing Pods have ended.
    pub fn failed(&self) -> bool {
        self.blocks.values().all(PodBlock::failed)
    }

    /// Returns the Pod with this uid.
    pub fn get(&self, uid: Uid) -> Option<&Rc<Pod>> {
        self.known.get(&uid).map(|(_, pod)| pod)
    }

    /// Returns the Pods by node, without those of system namespaces.
    pub fn on(&self) -> &Rc<BTreeMap<String, PodBlock>> {
        &self.on
    }

    /// Iterates over all Pods, by owner.
    pub fn blocks(&self) -> impl Iterator<Item = (Uid, &PodBlock)> {
        self.blocks.iter().map(|(owner, block)| (*owner, block))
    }
}

/// Returns the position of a Pod in its block.
fn place(block: &PodBlock, pod: &Pod) -> usize {
    block
        .search(|other| other.order(pod))
        .unwrap_or_else(|at| at)
}

/// Describes the remaining grace period, and after it what still holds the Pod: a finalizer, or a kubelet that does not respond. Once the
/// containers have ended, the grace period does not matter.
fn left(object: &Object, now: i64, stale: bool) -> Message {
    let ended = object
        .pod()
        .is_some_and(|pod| pod.is_terminal() || ended(&pod.status.container_statuses));
    let end = object
        .meta
        .deletion_timestamp
        .map_or(0, |end| end.seconds() * 1000);
    let left = if ended {
        0
    } else {
        (end - now).max(0) / 100 * 100
    };
    match (object.meta.finalizers.first(), object.pod()) {
        _ if left > 0 => msg::pod_grace_left(left),
        _ if stale && !ended => msg::pod_held_by_kubelet(),
        (Some(finalizer), _) => {
            msg::pod_held_by_finalizer(finalizer.rsplit('/').next().unwrap_or(finalizer))
        }
        (None, Some(pod)) if ended => Message::name(&pod.node_name),
        _ => msg::pod_kill_due(),
    }
}

/// Returns true if all existing containers have ended.
fn ended(all: &[k8s_model::pod::ContainerStatus]) -> bool {
    !all.is_empty() && all.iter().all(|one| one.state.terminated.is_some())
}

fn read(object: &Object, family: &str) -> Pod {
    let Some(body) = object.pod() else {
        return Pod::default();
    };
    let (state, word) = super::status(object);
    let name = object.meta.name.as_str();
    let shared = |of: &str| {
        if !of.is_empty()
            && name
                .strip_prefix(of)
                .is_some_and(|rest| rest.starts_with('-'))
        {
            of.len() + 1
        } else {
            0
        }
    };
    let owner = object.meta.controller();
    let ordinal = owner
        .filter(|owner| owner.is_kind(Kind::StatefulSet))
        .and_then(|_| name.rsplit('-').next()?.parse().ok());
    let unscheduled = body
        .status
        .condition("PodScheduled")
        .filter(|c| c.status == "False");
    Pod {
        id: id(object),
        state,
        word,
        note: if body.node_name.is_empty() {
            msg::pod_no_node()
        } else {
            Message::name(&body.node_name)
        },
        prefix: owner.map_or(0, |owner| shared(&owner.name)),
        family: shared(family),
        ordinal,
        created: object
            .meta
            .creation_timestamp
            .map_or(0, |at| at.seconds().max(0) as u64),
        node: body.node_name.to_string(),
        claims: body.spec.claims().map(|name| name.to_string()).collect(),
        stale: false,
        ended: body.is_terminal(),
        cpu: body.spec.requests.cpu.max(0) as u64,
        memory: body.spec.requests.memory.max(0) as u64,
        unscheduled: unscheduled
            .map(|c| c.message.to_string())
            .unwrap_or_default(),
        image: body
            .spec
            .containers
            .first()
            .map(|container| container.image.clone())
            .unwrap_or_default(),
        containers: super::containers::of(object, body).map(Rc::new),
        owner: Rc::default(),
        labels: Rc::default(),
    }
}
