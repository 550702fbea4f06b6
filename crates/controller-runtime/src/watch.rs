//! Watch events: what informers deliver to control loops, the scheduler and the kubelets.

use apiserver::journal::Op;
use k8s_model::Object;
use std::rc::Rc;

/// One watch event as a loop gets it.
pub struct Event<'a> {
    /// What happened.
    pub op: Op,
    /// The object after it.
    pub object: &'a Rc<Object>,
    /// The object before it.
    pub before: Option<&'a Rc<Object>>,
}
