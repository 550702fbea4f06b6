//! Injected conflicts: writes of controllers that are refused once.

use super::ApiServer;
use k8s_model::Object;

impl ApiServer {
    /// Returns true if a fault makes this write fail with a conflict.
    pub fn is_disturbed(&mut self, actor: &'static str, object: &Object) -> bool {
        if self.conflicts.is_empty() || actor == "user" || actor == "kubelet" {
            return false;
        }
        let at = self.conflicts.iter().position(|meant| meant.is(object));
        at.map(|at| self.conflicts.remove(at)).is_some()
    }
}
