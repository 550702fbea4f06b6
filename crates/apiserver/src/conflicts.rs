//! Injected conflicts: writes of loops that are refused once.

use super::ApiServer;
use k8s_model::{Kind, Object, Str};

/// Target of a fault: all objects of a kind, or the one with this name (in namespace `default` if namespaced).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FaultTarget {
    /// Kind of the target.
    pub kind: Kind,
    /// Name of the target; empty for all of the kind.
    pub name: Str,
}

impl FaultTarget {
    /// Whether the object is a target.
    pub fn is(&self, object: &Object) -> bool {
        let here = || matches!(object.meta.namespace.as_str(), "" | "default");
        self.kind == object.kind
            && (self.name.is_empty() || self.name == object.meta.name && here())
    }

    /// Whether every target of `other` is a target of this.
    pub fn covers(&self, other: &FaultTarget) -> bool {
        self.kind == other.kind && (self.name.is_empty() || self.name == other.name)
    }
}

impl ApiServer {
    /// Whether a fault makes this write fail with a conflict.
    pub fn is_disturbed(&mut self, actor: &'static str, object: &Object) -> bool {
        if self.conflicts.is_empty() || actor == "user" || actor == "kubelet" {
            return false;
        }
        let at = self.conflicts.iter().position(|meant| meant.is(object));
        at.map(|at| self.conflicts.remove(at)).is_some()
    }
}
