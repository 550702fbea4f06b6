//! Heartbeats of the kubelets, in a form that the node lifecycle controller can read without depending on the kubelets.

use k8s_model::Time;

/// Heartbeats of all kubelets. Leases are not stored as objects: a renewal that changes nothing would only fill the history.
pub trait Heartbeats {
    /// Returns true if this node has a kubelet.
    fn has(&self, node: &str) -> bool;

    /// Returns the last heartbeat of this node's kubelet, if it has stopped responding; time 0 if there was none.
    fn silent_since(&self, node: &str) -> Option<Time>;
}
