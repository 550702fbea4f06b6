//! Processes with an informer of their own, and the constants that the simulation shares with fault injection.

use apiserver::{Component, ControllerId};
use k8s_model::Kind;
use k8s_model::time::SECOND;
use std::fmt::{self, Display, Formatter};

/// Watch events delivered in one task: further events of the same instant take further tasks.
pub const DELIVERY_BATCH: usize = 64;

/// Default delay, in microseconds, from a lost watch event to the relist that repairs it.
pub const RELIST_DELAY_US: u64 = 10 * SECOND;

/// Process with a watch cache. `Display` writes its name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Process {
    /// kube-controller-manager; all controllers share its informer.
    ControllerManager,
    /// kube-scheduler.
    Scheduler,
    /// Kubelets of all nodes; they share one informer.
    Kubelet,
    /// Loop of a ControlLoop.
    Loop(&'static ControllerId),
}

impl Process {
    /// Processes of every cluster.
    pub const ALL: [Process; 3] = [
        Process::ControllerManager,
        Process::Scheduler,
        Process::Kubelet,
    ];

    /// Returns the process in which a component runs.
    pub const fn of(component: Component) -> Process {
        match component {
            Component::Scheduler => Process::Scheduler,
            Component::Kubelet => Process::Kubelet,
            Component::User | Component::ApiServer | Component::Controller(_) => {
                Process::ControllerManager
            }
            Component::Loop(id) => Process::Loop(id),
        }
    }

    /// Returns the name, as used by fault injection.
    pub const fn name(self) -> &'static str {
        match self {
            Process::ControllerManager => "kube-controller-manager",
            Process::Scheduler => "kube-scheduler",
            Process::Kubelet => "kubelet",
            Process::Loop(id) => id.name,
        }
    }

    /// Returns true for the kinds that it watches.
    pub fn watches(self, kind: Kind) -> bool {
        match self {
            Process::ControllerManager | Process::Loop(_) => kind != Kind::Event,
            Process::Scheduler => matches!(
                kind,
                Kind::Pod
                    | Kind::Node
                    | Kind::PersistentVolume
                    | Kind::PersistentVolumeClaim
                    | Kind::StorageClass
                    | Kind::PodDisruptionBudget
                    | Kind::Namespace
            ),
            Process::Kubelet => matches!(kind, Kind::Pod | Kind::Node),
        }
    }

    /// Returns true for the kinds that its cache holds; a process with an index of its own for a kind needs no second copy.
    pub fn stores(self, kind: Kind) -> bool {
        match self {
            Process::ControllerManager | Process::Loop(_) => true,
            Process::Scheduler | Process::Kubelet => kind != Kind::Pod,
        }
    }
}

impl Display for Process {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
