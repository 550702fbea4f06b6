//! The loops, one file each. A new loop is one file here and one line in `ALL`.

mod backends;
mod deployment;
mod endpoints;
mod endpointslice;
mod garbage_collector;
mod namespace;
mod ownership;
mod protection;
mod provisioner;
mod replicaset;
mod service_account;
mod statefulset;
mod volume_binder;

use super::informer::Cache;
use super::journal::Op;
use super::out::{Action, Out, View};
use super::store::ApiError;
use crate::api::{Kind, Object, ObjectRef};
use std::rc::Rc;

/// Every loop, in the order their queues are shown.
pub static ALL: &[&(dyn Controller + Sync)] = &[
    &deployment::DeploymentController,
    &replicaset::ReplicaSetController,
    &statefulset::StatefulSetController,
    &endpoints::EndpointsController,
    &endpointslice::EndpointSliceController,
    &volume_binder::VolumeBinder,
    &provisioner::Provisioner,
    &protection::ClaimProtection,
    &protection::VolumeProtection,
    &garbage_collector::GarbageCollector,
    &namespace::NamespaceController,
    &service_account::ServiceAccountController,
];

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

/// One watch event as a loop gets it.
pub struct Event<'a> {
    /// What happened.
    pub op: Op,
    /// The object after it.
    pub object: &'a Rc<Object>,
    /// The object before it.
    pub before: Option<&'a Rc<Object>>,
}

/// A control loop: it gets a key and a view and says what it wants written, and why.
///
/// It never sleeps, never reads a clock and never calls another loop.
pub trait Controller {
    /// The name it writes under.
    fn name(&self) -> &'static str;

    /// What wakes it.
    fn watches(&self) -> &'static [Watch];

    /// Keys that an event wakes beyond the object itself and its controller.
    fn also_wakes(&self, _event: &Event<'_>, _cache: &Cache, _wake: &mut dyn FnMut(ObjectRef)) {}

    /// Seconds after which every object of these kinds is looked at again, changed or not.
    fn resync(&self) -> Option<(u64, &'static [Kind])> {
        None
    }

    /// One pass: brings the world a step closer to what the object asks for.
    fn reconcile(&self, key: &ObjectRef, view: &View<'_>, out: &mut Out<'_>) -> Result<Action, ApiError>;
}

/// The keys that an event wakes in a loop.
pub fn woken_by(controller: &dyn Controller, event: &Event<'_>, cache: &Cache, wake: &mut dyn FnMut(ObjectRef)) {
    for watch in controller.watches() {
        match *watch {
            Watch::For(kind) if kind == event.object.kind => wake(event.object.key()),
            Watch::Owns(owner, kind) if kind == event.object.kind => {
                wake_owner(owner, event.object, wake);
                if let Some(before) = event.before
                    && before.meta.controller().map(|o| o.uid) != event.object.meta.controller().map(|o| o.uid)
                {
                    wake_owner(owner, before, wake);
                }
            }
            Watch::Maps(kind) if kind == event.object.kind => controller.also_wakes(event, cache, wake),
            _ => {}
        }
    }
}

fn wake_owner(owner: Kind, object: &Object, wake: &mut dyn FnMut(ObjectRef)) {
    if let Some(reference) = object.meta.controller()
        && reference.kind == owner.name()
    {
        wake(ObjectRef { kind: owner, namespace: object.meta.namespace.clone(), name: reference.name.clone() });
    }
}
