//! When kubelets were last heard: what the node lifecycle controller reads without knowing the kubelets.

use crate::api::Time;

/// The heartbeats of all kubelets. They are not kept as objects: one that changes nothing would only fill the history.
pub trait Heartbeats {
    /// Whether this node has a kubelet.
    fn has(&self, node: &str) -> bool;

    /// When this node's kubelet was last heard, if it is silent; time 0 if it has none.
    fn silent_since(&self, node: &str) -> Option<Time>;
}
