//! Identities of the components that write.

use std::fmt::{self, Display, Formatter};

/// Component that writes, or the person who uses the cluster. `Display` writes its name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Component {
    /// Person at the page or the command line.
    User,
    /// API server itself.
    ApiServer,
    /// kube-scheduler.
    Scheduler,
    /// Kubelet of any node.
    Kubelet,
    /// Controller.
    Controller(&'static ControllerId),
}

/// Identity of a controller, defined beside its loop. Some controllers have a second one for their Events.
#[derive(PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ControllerId {
    /// User name of its writes, and source of its Events.
    pub name: &'static str,
    /// Field manager of its writes: the binary that it is part of.
    pub manager: &'static str,
}

impl ControllerId {
    /// Creates the identity of a controller of kube-controller-manager.
    pub const fn new(name: &'static str) -> ControllerId {
        ControllerId {
            name,
            manager: "kube-controller-manager",
        }
    }
}

impl Component {
    /// Returns the name under which it writes and records Events.
    pub const fn name(self) -> &'static str {
        match self {
            Component::User => "user",
            Component::ApiServer => "apiserver",
            Component::Scheduler => "default-scheduler",
            Component::Kubelet => "kubelet",
            Component::Controller(controller) => controller.name,
        }
    }

    /// Returns the field manager of its writes.
    pub const fn manager(self) -> &'static str {
        match self {
            Component::User => "kubectl",
            Component::ApiServer => "kube-apiserver",
            Component::Scheduler => "kube-scheduler",
            Component::Kubelet => "kubelet",
            Component::Controller(controller) => controller.manager,
        }
    }
}

impl Display for Component {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
