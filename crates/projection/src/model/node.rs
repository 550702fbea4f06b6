//! Nodes.

use super::id::Id;
use i18n::Message;

/// A Node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Node {
    /// Which.
    pub id: Id,
    /// Its Ready condition is True.
    pub ready: bool,
    /// `spec.unschedulable`
    pub cordoned: bool,
    /// Why it is not ready, or a taint.
    pub note: Message,
    /// When the first of its Pods is evicted, while it is not ready.
    pub countdown: Option<Message>,
    /// Allocatable CPU in thousandths.
    pub cpu: u64,
    /// Allocatable memory in bytes.
    pub memory: u64,
    /// Allocatable Pods.
    pub pods: u64,
}
