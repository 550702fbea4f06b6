//! The interface of a control loop.

use apiserver::ApiError;
use controller_runtime::descriptor::Descriptor;
use controller_runtime::informer::Cache;
use controller_runtime::out::{Action, Out, PassView};
use controller_runtime::watch::Event;
use k8s_model::{Duration, Kind, ObjectRef};

/// What wakes a loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Watch {
    /// A change of an object of this kind queues that object.
    For(Kind),
    /// A change of an object of the second kind queues its controller, if that is of the first kind.
    Owns(Kind, Kind),
    /// `also_wakes` decides for objects of this kind.
    Maps(Kind),
}

/// A control loop: it gets a key and a view, and writes through `Out` with a reason for each write.
///
/// It never sleeps, never reads a clock and never calls another loop.
pub trait Controller {
    /// Its name, and how the page presents it.
    fn descriptor(&self) -> &'static Descriptor;

    /// The name it writes under.
    fn name(&self) -> &'static str {
        self.descriptor().name
    }

    /// What wakes it.
    fn watches(&self) -> &'static [Watch];

    /// Keys that an event wakes beyond the object itself and its controller.
    fn also_wakes(&self, _event: &Event<'_>, _cache: &Cache, _wake: &mut dyn FnMut(ObjectRef)) {}

    /// How long a key waits after an event, so that many events lead to one pass. `clock` is the cluster's wall clock, in
    /// microseconds since 1970.
    fn delay(&self, _event: &Event<'_>, _key: &ObjectRef, _clock: i64) -> Duration {
        0
    }

    /// Resync period in seconds, and the kinds whose objects are reconciled again, changed or not.
    fn resync(&self) -> Option<(u64, &'static [Kind])> {
        None
    }

    /// One pass: moves the actual state a step closer to the desired state.
    fn reconcile(
        &self,
        key: &ObjectRef,
        view: &PassView<'_>,
        out: &mut Out<'_>,
    ) -> Result<Action, ApiError>;
}
