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

    /// Changes a node, which is made if nothing is known of it.
    pub fn change<R>(&mut self, name: &Str, change: impl FnOnce(&mut NodeInfo) -> R) -> R {
        let at = self.place(name).unwrap_or_else(|at| {
            self.all.insert(at, (name.clone(), Rc::default()));
            at
        });
        let info = Rc::make_mut(&mut self.all[at].1);
        self.real -= usize::from(info.node.is_some());
        self.unsociable -= info.unsociable;
        self.choosy -= info.choosy;
        let result = change(info);
        self.real += usize::from(info.node.is_some());
        self.unsociable += info.unsociable;
        self.choosy += info.choosy;
        result
    }
}
