//! All nodes by name, each shared with checkpoints until it changes.

use super::node_info::NodeInfo;
use crate::api::Str;
use std::rc::Rc;

/// The nodes, and what a cycle asks of all of them, counted as they change.
#[derive(Clone, Debug, Default)]
pub(super) struct Nodes {
    /// In the order of their names.
    all: Vec<(Str, Rc<NodeInfo>)>,
    /// Those that are there; of others only Pods are known.
    pub real: usize,
    /// Pods that refuse to be near others, and Pods that would rather be near others, or not.
    pub unsociable: usize,
    pub choosy: usize,
    /// Nodes that would rather not be taken.
    pub repelling: usize,
    /// The places of the last nodes that changed, and how many changes there were before those.
    log: Vec<u32>,
    before: u64,
}

impl Nodes {
    fn place(&self, name: &str) -> Result<usize, usize> {
        self.all.binary_search_by(|(known, _)| known.as_str().cmp(name))
    }

    /// The node of this name.
    pub fn find(&self, name: &str) -> Option<(&Str, &NodeInfo)> {
        self.place(name).ok().map(|at| (&self.all[at].0, &*self.all[at].1))
    }

    /// What is known of the node of this name.
    pub fn get(&self, name: &str) -> Option<&NodeInfo> {
        self.find(name).map(|(_, info)| info)
    }

    /// All nodes by name.
    pub fn iter(&self) -> impl Iterator<Item = (&Str, &NodeInfo)> {
        self.all.iter().map(|(name, info)| (name, &**info))
    }

    /// What is known of each.
    pub fn values(&self) -> impl Iterator<Item = &NodeInfo> {
        self.all.iter().map(|(_, info)| &**info)
    }

    /// How many names there are, also of nodes that are not there.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// The node at a place.
    pub fn nth(&self, at: usize) -> Option<(&Str, &NodeInfo)> {
        self.all.get(at).map(|(name, info)| (name, &**info))
    }

    /// How often nodes have changed so that they may be another choice for a Pod.
    pub fn changes(&self) -> u64 {
        self.before + self.log.len() as u64
    }

    /// The places of the nodes that have changed since there were so many changes; nothing if that is too long ago.
    pub fn changed_since(&self, changes: u64) -> Option<&[u32]> {
        self.log.get(changes.checked_sub(self.before)? as usize..)
    }

    fn forget_changes(&mut self) {
        // One more, so that nobody takes what it has seen for all there was.
        self.before += self.log.len() as u64 + 1;
        self.log.clear();
    }

    /// Changes a node, which is made if nothing is known of it.
    pub fn change<R>(&mut self, name: &Str, change: impl FnOnce(&mut NodeInfo) -> R) -> R {
        let at = self.place(name).unwrap_or_else(|at| {
            self.all.insert(at, (name.clone(), Rc::default()));
            self.forget_changes();
            at
        });
        if self.log.len() > self.all.len() {
            self.forget_changes();
        }
        let info = Rc::make_mut(&mut self.all[at].1);
        self.real -= usize::from(info.node.is_some());
        self.unsociable -= info.unsociable;
        self.choosy -= info.choosy;
        self.repelling -= usize::from(info.repelling);
        let version = info.version;
        let result = change(info);
        self.real += usize::from(info.node.is_some());
        self.unsociable += info.unsociable;
        self.choosy += info.choosy;
        self.repelling += usize::from(info.repelling);
        if info.version != version {
            self.log.push(at as u32);
        }
        result
    }
}
