//! Trait implemented by the controllers.

use apiserver::ApiError;
use controller_runtime::client::{Action, LoopClient, PassView};
use controller_runtime::descriptor::Descriptor;
use controller_runtime::informer::Cache;
use controller_runtime::watch::Event;
use k8s_model::{Duration, Kind, ObjectRef};

/// Event source that queues keys for a controller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Watch {
    /// Queues the changed object of this kind.
    For(Kind),
    /// Queues the controller of a changed object of the second kind, if that controller is of the first kind.
    Owns(Kind, Kind),
    /// Leaves the mapping from objects of this kind to keys to `also_wakes`.
    Maps(Kind),
}

/// Controller: reconciles a key against a view of the cache, and writes through `LoopClient` with a reason for each write.
///
/// Controllers never sleep, never read a clock and never call each other.
pub trait Controller {
    /// Name and UI presentation.
    fn descriptor(&self) -> &'static Descriptor;

    /// User name under which the controller writes.
    fn name(&self) -> &'static str {
        self.descriptor().name
    }

    /// Watches that queue keys.
    fn watches(&self) -> &'static [Watch];

    /// Wakes further keys for an event, besides the object itself and its controller.
    fn also_wakes(&self, _event: &Event<'_>, _cache: &Cache, _wake: &mut dyn FnMut(ObjectRef)) {}

    /// Delay of a key after an event, in microseconds, so that many events lead to one pass. `clock` is the cluster's wall clock, in
    /// microseconds since 1970.
    fn delay(&self, _event: &Event<'_>, _key: &ObjectRef, _clock: i64) -> Duration {
        0
    }

    /// Resync period in seconds, and the kinds whose objects are reconciled again, changed or not.
    fn resync(&self) -> Option<(u64, &'static [Kind])> {
        None
    }

    /// Reconciles a key: moves the actual state one step closer to the desired state.
    fn reconcile(
        &self,
        key: &ObjectRef,
        view: &PassView<'_>,
        out: &mut LoopClient<'_>,
    ) -> Result<Action, ApiError>;
}
