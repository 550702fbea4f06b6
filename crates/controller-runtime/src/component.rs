//! Components with an informer of their own, and the constants that the simulation shares with fault injection.

use k8s_model::Kind;
use k8s_model::time::SECOND;

/// Index of kube-controller-manager in [`ALL`]; all controllers share its informer.
pub const MANAGER: usize = 0;
/// Index of kube-scheduler in [`ALL`].
pub const SCHEDULER: usize = 1;
/// Index of the kubelets in [`ALL`]; they share one informer.
pub const KUBELETS: usize = 2;

/// Watch events delivered in one task: further events of the same instant take further tasks.
pub const DELIVERY_BATCH: usize = 64;

/// Default delay, in microseconds, from a lost watch event to the relist that repairs it.
pub const RELIST_DELAY_US: u64 = 10 * SECOND;

/// Component with a watch cache.
pub struct Component {
    /// Name, as used by fault injection.
    pub name: &'static str,
    /// Returns true for the kinds that it watches.
    pub watches: fn(Kind) -> bool,
    /// Returns true for the kinds that its cache holds; a component with an index of its own for a kind needs no second copy.
    pub stores: fn(Kind) -> bool,
}

/// All components, by their index.
pub const ALL: [Component; 3] = [
    Component {
        name: "kube-controller-manager",
        watches: |kind| kind != Kind::Event,
        stores: |_| true,
    },
    Component {
        name: "kube-scheduler",
        watches: scheduler_watches,
        stores: |kind| kind != Kind::Pod,
    },
    Component {
        name: "kubelet",
        watches: |kind| matches!(kind, Kind::Pod | Kind::Node),
        stores: |kind| kind != Kind::Pod,
    },
];

fn scheduler_watches(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Pod
            | Kind::Node
            | Kind::PersistentVolume
            | Kind::PersistentVolumeClaim
            | Kind::StorageClass
            | Kind::PodDisruptionBudget
            | Kind::Namespace
    )
}
