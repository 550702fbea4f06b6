//! Identities of the components that write.

use std::cell::RefCell;
use std::collections::BTreeMap;
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
    /// Loop that a ControlLoop describes.
    Loop(&'static ControllerId),
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

thread_local! {
    /// Identities of loops by name; an entry is never removed, as with custom kinds.
    static LOOPS: RefCell<BTreeMap<&'static str, &'static ControllerId>> = const { RefCell::new(BTreeMap::new()) };
}

/// Maximum number of identities of loops.
const MAX_LOOPS: usize = 20_000;

impl ControllerId {
    /// Returns the identity of the loop of this name; `None` if there is no room for more.
    pub fn of_loop(name: &str) -> Option<&'static ControllerId> {
        LOOPS.with_borrow_mut(|known| {
            if let Some(id) = known.get(name) {
                return Some(*id);
            }
            if known.len() >= MAX_LOOPS {
                return None;
            }
            let name: &'static str = Box::leak(name.into());
            let manager = name;
            let id: &'static ControllerId = Box::leak(Box::new(ControllerId { name, manager }));
            known.insert(name, id);
            Some(id)
        })
    }

    /// Returns the identity of a loop that has run under this name.
    pub fn known_loop(name: &str) -> Option<&'static ControllerId> {
        LOOPS.with_borrow(|known| known.get(name).copied())
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
            Component::Controller(id) | Component::Loop(id) => id.name,
        }
    }

    /// Returns the field manager of its writes.
    pub const fn manager(self) -> &'static str {
        match self {
            Component::User => "kubectl",
            Component::ApiServer => "kube-apiserver",
            Component::Scheduler => "kube-scheduler",
            Component::Kubelet => "kubelet",
            Component::Controller(id) | Component::Loop(id) => id.manager,
        }
    }
}

impl Display for Component {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
