//! Heartbeats of the kubelets: what the node lifecycle controller reads without depending on the kubelets.

use k8s_model::Time;

/// The heartbeats of all kubelets. They are not stored as objects: a renewal that changes nothing would only fill the history.
pub trait Heartbeats {
    /// Returns true if this node has a kubelet.
    fn has(&self, node: &str) -> bool;

    /// Last heartbeat of this node's kubelet, if it has stopped responding; time 0 if it has none.
    fn silent_since(&self, node: &str) -> Option<Time>;
}
