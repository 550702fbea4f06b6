//! Watch events, which informers deliver to controllers, the scheduler and the kubelets.

use apiserver::journal::Op;
use k8s_model::Object;
use std::rc::Rc;

/// Watch event as delivered to a controller.
pub struct Event<'a> {
    /// Operation.
    pub op: Op,
    /// Object after the event.
    pub object: &'a Rc<Object>,
    /// Object before the event, if known.
    pub before: Option<&'a Rc<Object>>,
    /// True if a relist found the change, so that no watch delivered it.
    pub listed: bool,
}
