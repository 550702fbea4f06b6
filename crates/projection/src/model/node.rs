//! View model of a Node.

use super::id::Id;
use i18n::Message;

/// View model of a Node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Node {
    /// Identity.
    pub id: Id,
    /// True if its Ready condition is True.
    pub ready: bool,
    /// `spec.unschedulable`
    pub cordoned: bool,
    /// Reason why it is not ready, or a taint.
    pub note: Message,
    /// Time until the first of its Pods is evicted, while it is not ready.
    pub countdown: Option<Message>,
    /// Allocatable CPU in thousandths of a core.
    pub cpu: u64,
    /// Allocatable memory in bytes.
    pub memory: u64,
    /// Allocatable number of Pods.
    pub pods: u64,
}
