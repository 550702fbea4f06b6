//! Sorted Pods of each node, cached from one picture to the next.

use crate::shape::{Item, Rect};
use i18n::{Message, msg};
use k8s_model::natural::natural_cmp;
use projection::model::{Group, Model, Node, Pod, PodBlock, PodState};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Pods on a node, and the index from which on they are ready ones of an older revision.
#[derive(Debug, Default)]
pub struct PodsOnNode {
    pub pods: PodBlock,
    pub old: usize,
    /// For tiles: true for each Pod of an older revision.
    pub older: Vec<bool>,
    /// Number of Pods that have not ended, and the sums of their requests of CPU and memory.
    pub(super) live: usize,
    pub(super) cpu: u64,
    pub(super) memory: u64,
}

pub(super) type ByNode<'a> = BTreeMap<&'a str, Rc<PodsOnNode>>;

impl PodsOnNode {
    pub fn new(pods: PodBlock, old: usize) -> PodsOnNode {
        let mut on = PodsOnNode {
            pods,
            old,
            ..PodsOnNode::default()
        };
        for pod in on.pods.iter().filter(|pod| !pod.ended) {
            (on.live, on.cpu, on.memory) = (on.live + 1, on.cpu + pod.cpu, on.memory + pod.memory);
        }
        on
    }

    /// Returns the index of the selected Pod, if it is on this node.
    pub(super) fn place(&self, node: &Node, chosen: Option<&Pod>) -> Option<usize> {
        let chosen = chosen.filter(|pod| pod.node == node.id.name)?;
        self.pods.iter().position(|pod| pod.id.uid == chosen.id.uid)
    }
}

/// Last layout of each node: unchanged nodes are not laid out again.
#[derive(Debug)]
pub struct LayoutCache {
    pub(super) nodes: BTreeMap<String, Known>,
    /// Owners of older revisions, and a counter of their changes.
    pub(super) older: Vec<String>,
    pub(super) turn: u64,
    /// Number of nodes sorted again per picture; the others wait for the next picture.
    pub budget: usize,
    /// True if some nodes are waiting; the index of the next follows.
    pub lags: bool,
    pub(super) next: usize,
    /// Reasons why no node accepts the waiting Pod.
    pub(super) refused: Unschedulable,
}

/// Reasons why no node accepts a Pod, each with its number of nodes, as of the scheduler's last answer.
#[derive(Debug, Default)]
pub struct Unschedulable {
    /// Uid of the Pod, epoch, and the scheduler's message at that time.
    subject: (String, u64, String),
    pub(super) reasons: Vec<(usize, Message)>,
}

impl Unschedulable {
    pub fn of(&mut self, pod: &Pod, epoch: u64, ask: &dyn Fn() -> Vec<(usize, Message)>) {
        let subject = (pod.id.uid.clone(), epoch, pod.unscheduled.clone());
        if self.subject != subject {
            self.reasons = if subject.2.is_empty() {
                Vec::new()
            } else {
                ask()
            };
            self.subject = subject;
        }
    }

    /// Returns the rows of the tray, if they are for this Pod.
    pub(super) fn rows(&self, pod: &Pod) -> Vec<[Message; 3]> {
        let of = self.reasons.iter().filter(|_| self.subject.0 == pod.id.uid);
        of.map(|(nodes, why)| [msg::tray_nodes(*nodes), why.clone(), Message::default()])
            .collect()
    }
}

impl Default for LayoutCache {
    fn default() -> LayoutCache {
        LayoutCache {
            nodes: BTreeMap::new(),
            older: Vec::new(),
            turn: 1,
            budget: usize::MAX,
            lags: false,
            next: 0,
            refused: Unschedulable::default(),
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Known {
    /// Pods of the node at the last layout, and their order.
    pub(super) pods: PodBlock,
    pub(super) turn: u64,
    pub(super) on: Rc<PodsOnNode>,
    pub(super) look: Option<NodeInput>,
    pub(super) items: Vec<Rc<Item>>,
}

/// Input for the shapes of a node.
#[derive(Debug)]
pub(super) struct NodeInput {
    pub(super) node: Rc<Node>,
    pub(super) on: Rc<PodsOnNode>,
    pub(super) rect: Rect,
    /// Index of the first shape, which the others have as their parent.
    pub(super) first: usize,
    pub(super) ring: Option<usize>,
}

impl PartialEq for NodeInput {
    fn eq(&self, other: &NodeInput) -> bool {
        Rc::ptr_eq(&self.node, &other.node)
            && Rc::ptr_eq(&self.on, &other.on)
            && (self.rect, self.first, self.ring) == (other.rect, other.first, other.ring)
    }
}

/// Returns all groups of Pods, with true for those of an older revision.
pub(super) fn groups(model: &Model) -> impl Iterator<Item = (&Group, bool)> {
    model.roots.iter().flat_map(|root| {
        root.groups
            .iter()
            .map(move |group| (group, root.older(group) == 0))
    })
}

/// Sorts Pods by node: tiles by name; cells so that a rollout is visible as a wave: newest revision, Pods in transition, older ones.
pub(super) fn by_node<'a>(model: &'a Model, dense: bool, cache: &mut LayoutCache) -> ByNode<'a> {
    if !dense || model.on.is_empty() {
        let mut on: BTreeMap<&str, Vec<(bool, &Rc<Pod>)>> = BTreeMap::new();
        for (group, old) in groups(model) {
            group
                .pods
                .iter()
                .for_each(|pod| on.entry(&pod.node).or_default().push((old, pod)));
        }
        return on
            .into_iter()
            .map(|(node, pods)| (node, Rc::new(arrange(pods, dense))))
            .collect();
    }
    let older = || groups(model).filter(|(_, old)| *old);
    let mut uids: Vec<String> = older()
        .filter_map(|(group, _)| Some(group.controller.as_ref()?.id.uid.clone()))
        .collect();
    uids.sort();
    if cache.older != uids {
        (cache.older, cache.turn) = (uids, cache.turn + 1);
    }
    // Deleted nodes are dropped from time to time.
    if cache.nodes.len() > 2 * (model.nodes.len() + model.on.len()) + 2 {
        cache.nodes.clear();
    }
    // All Pods of an owner share its uid: its address identifies it.
    let lies = |pod: &Rc<Pod>| Rc::as_ptr(&pod.owner).cast::<u8>().addr();
    let mut owners: Vec<usize> = older()
        .filter_map(|(group, _)| group.pods.first().map(lies))
        .collect();
    owners.sort();
    let is_older = |pod: &Rc<Pod>| owners.binary_search(&lies(pod)).is_ok();
    let arranged = |known: &mut Known, pods: &PodBlock, turn: u64| {
        known.on = Rc::new(arrange(
            pods.iter().map(|pod| (is_older(pod), pod)).collect(),
            true,
        ));
        (known.pods, known.turn) = (pods.clone(), turn);
    };
    let (mut there, mut late) = (Vec::with_capacity(model.on.len()), Vec::new());
    // Both are sorted by name, so that no search is needed.
    let mut all = cache.nodes.iter().peekable();
    for (at, (node, pods)) in model
        .on
        .iter()
        .filter(|(node, _)| !node.is_empty())
        .enumerate()
    {
        while all.next_if(|(name, _)| *name < node).is_some() {}
        let known = all
            .next_if(|(name, _)| *name == node)
            .map(|(_, known)| known);
        if known.is_none_or(|known| known.turn != cache.turn || !known.pods.is(pods)) {
            late.push((at, node, pods));
        }
        if let Some(known) = known {
            there.push((node.as_str(), known.on.clone()));
        }
    }
    let mut out: ByNode<'_> = there.into_iter().collect();
    // Waiting nodes take turns.
    let first = late.partition_point(|(at, ..)| *at < cache.next);
    late.rotate_left(first);
    cache.lags = late.len() > cache.budget;
    for (at, node, pods) in late.into_iter().take(cache.budget) {
        let known = cache.nodes.entry(node.clone()).or_default();
        arranged(known, pods, cache.turn);
        out.insert(node.as_str(), known.on.clone());
        cache.next = at + 1;
    }
    out
}

/// Sorts the Pods of a node; each comes with true if it is of an older revision.
pub fn arrange(mut pods: Vec<(bool, &Rc<Pod>)>, dense: bool) -> PodsOnNode {
    if !dense {
        pods.sort_by(|(_, a), (_, b)| natural_cmp(&a.id.name, &b.id.name));
        let older = pods.iter().map(|(old, _)| *old).collect();
        return PodsOnNode {
            older,
            ..PodsOnNode::new(
                pods.into_iter().map(|(_, pod)| pod.clone()).collect(),
                usize::MAX,
            )
        };
    }
    // Order: ready Pods of the newest revision, starting ones, terminating ones, ready ones of older revisions. Within each they are sorted
    // by appearance: a cell moves only when it, or one before it, changes.
    let place = |(old, pod): &(bool, &Rc<Pod>)| match pod.state {
        PodState::Ready => usize::from(*old) * 15,
        PodState::Terminating => 14,
        state => 1 + usize::from(*old) * 7 + (PodState::Succeeded as usize - state as usize),
    };
    let mut places = [(); 16].map(|()| Vec::new());
    pods.iter()
        .for_each(|one| places[place(one)].push(one.1.clone()));
    let old = pods.len() - places[15].len();
    PodsOnNode::new(places.into_iter().flatten().collect(), old)
}
