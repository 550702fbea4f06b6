//! Trait implemented by the controllers.

use apiserver::{ApiError, Component};
use controller_runtime::client::{Action, LoopClient, PassView};
use controller_runtime::descriptor::Descriptor;
use controller_runtime::informer::Cache;
use controller_runtime::key_state::KeyState;
use controller_runtime::limit::ClientLimit;
use controller_runtime::watch::Event;
use k8s_model::{Duration, Kind, Object, ObjectRef};
use sim_core::tree::Tree;

/// Event source that queues keys for a controller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Watch {
    /// Queues the changed object of this kind.
    For(Kind),
    /// Queues the controller of a changed object of the second kind, if that controller is of the first kind.
    Owns(Kind, Kind),
    /// Leaves the mapping from objects of this kind to keys to `map_event`.
    Maps(Kind),
}

/// Controller: reconciles a key against a view of the cache, and writes through `LoopClient` with a reason for each write.
///
/// Controllers never sleep, never read a clock and never call each other.
pub trait Controller {
    /// Name and UI presentation.
    fn descriptor(&self) -> &'static Descriptor;

    /// Identity under which the controller writes.
    fn component(&self) -> Component {
        self.descriptor().component
    }

    /// User name under which the controller writes.
    fn name(&self) -> &'static str {
        self.component().name()
    }

    /// Watches that queue keys.
    fn watches(&self) -> &'static [Watch];

    /// Kind of the objects that the controller reconciles: that of its first watch.
    fn kind(&self) -> Option<Kind> {
        match self.watches().first()? {
            Watch::For(kind) => Some(*kind),
            Watch::Owns(..) | Watch::Maps(_) => None,
        }
    }

    /// Returns true if the controller is responsible for the object; others only read it on behalf of another object.
    fn serves(&self, object: &Object) -> bool {
        self.kind() == Some(object.kind)
    }

    /// Limit of the controller's client, from that of kube-controller-manager.
    fn client_limit(&self, common: ClientLimit) -> ClientLimit {
        common
    }

    /// Wakes further keys for an event, besides the object itself and its controller.
    fn map_event(&self, _event: &Event<'_>, _cache: &Cache, _wake: &mut dyn FnMut(ObjectRef)) {}

    /// Notes, in the state of a key, what an event that the watch delivered asks for: only an event-driven program needs it. Changes that a
    /// relist finds are not events.
    fn remember(
        &self,
        _event: &Event<'_>,
        _cache: &Cache,
        _states: &mut Tree<ObjectRef, KeyState>,
    ) {
    }

    /// Program that may take the place of the controller, reacting to events alone.
    fn event_driven(&self) -> Option<&'static (dyn Controller + Sync)> {
        None
    }

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
