//! Nodes by name, each shared with checkpoints until it changes.

use super::node_info::NodeInfo;
use k8s_model::Str;
use std::rc::Rc;

/// Nodes, with totals over all of them that are updated as they change.
#[derive(Clone, Debug, Default)]
pub(super) struct Nodes {
    /// Nodes in the order of their names.
    all: Vec<(Str, Rc<NodeInfo>)>,
    /// Number of existing nodes; of others only Pods are known.
    pub real: usize,
    /// Numbers of Pods with required anti-affinity, and of Pods with preferred affinity or anti-affinity.
    pub with_required_anti_affinity: usize,
    pub with_preferences: usize,
    /// Number of nodes with a `PreferNoSchedule` taint.
    pub repelling: usize,
    /// Indexes of the last nodes that changed, and the number of changes before those.
    log: Vec<u32>,
    before: u64,
}

impl Nodes {
    fn place(&self, name: &str) -> Result<usize, usize> {
        self.all
            .binary_search_by(|(known, _)| known.as_str().cmp(name))
    }

    /// Returns the node of this name.
    pub fn find(&self, name: &str) -> Option<(&Str, &NodeInfo)> {
        self.place(name)
            .ok()
            .map(|at| (&self.all[at].0, &*self.all[at].1))
    }

    /// Returns the accounting of the node of this name.
    pub fn get(&self, name: &str) -> Option<&NodeInfo> {
        self.find(name).map(|(_, info)| info)
    }

    /// Returns all nodes by name.
    pub fn iter(&self) -> impl Iterator<Item = (&Str, &NodeInfo)> {
        self.all.iter().map(|(name, info)| (name, &**info))
    }

    /// Returns the accounting of each node.
    pub fn values(&self) -> impl Iterator<Item = &NodeInfo> {
        self.all.iter().map(|(_, info)| &**info)
    }

    /// Returns the number of names, including those of nodes that do not exist.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Returns the node at an index.
    pub fn nth(&self, at: usize) -> Option<(&Str, &NodeInfo)> {
        self.all.get(at).map(|(name, info)| (name, &**info))
    }

    /// Returns the number of changes so far that may affect a scheduling decision.
    pub fn changes(&self) -> u64 {
        self.before + self.log.len() as u64
    }

    /// Returns the indexes of the nodes that have changed since that number of changes; `None` if that is too long ago.
    pub fn changed_since(&self, changes: u64) -> Option<&[u32]> {
        self.log.get(changes.checked_sub(self.before)? as usize..)
    }

    fn forget_changes(&mut self) {
        // One more, so that no reader considers itself up to date.
        self.before += self.log.len() as u64 + 1;
        self.log.clear();
    }

    /// Changes a node's state, which is created if missing.
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
        self.with_required_anti_affinity -= info.with_required_anti_affinity;
        self.with_preferences -= info.with_preferences;
        self.repelling -= usize::from(info.repelling);
        let version = info.version;
        let result = change(info);
        self.real += usize::from(info.node.is_some());
        self.with_required_anti_affinity += info.with_required_anti_affinity;
        self.with_preferences += info.with_preferences;
        self.repelling += usize::from(info.repelling);
        if info.version != version {
            self.log.push(at as u32);
        }
        result
    }
}
