//! Keeps the status of every ResourceQuota equal to the usage of its namespace. Admission enforces the limits.
//!
//! Creations are counted by admission; this controller handles new quotas, changed limits, and objects that were deleted or have ended.
//! Models `pkg/controller/resourcequota/resource_quota_controller.go`.

use super::{Controller, Event, Watch};
use apiserver::Op;
use apiserver::{ApiError, resource_quota as quota};
use apiserver::{Component, ControllerId};
use controller_runtime::client::{Action, LoopClient, PassView};
use controller_runtime::descriptor::{Descriptor, GENERIC};
use controller_runtime::informer::Cache;
use k8s_model::network::Service;
use k8s_model::storage::PersistentVolumeClaim;
use k8s_model::time::SECOND;
use k8s_model::{Body, Kind, Object, ObjectRef, kind};

/// UI descriptor of the controller.
static DESCRIPTOR: Descriptor = Descriptor {
    component: Component::Controller(&ControllerId::new("resourcequota-controller")),
    aliases: &[],
    title: "resourcequota",
    icon: "i-pdb",
    lane: "",
    always_shown: false,
    code: GENERIC,
};

/// ResourceQuota controller.
pub struct QuotaController;

impl Controller for QuotaController {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn watches(&self) -> &'static [Watch] {
        use Kind::*;
        use Watch::{For, Maps};
        &[
            For(ResourceQuota),
            Maps(Pod),
            Maps(Service),
            Maps(PersistentVolumeClaim),
            Maps(ConfigMap),
            Maps(Secret),
            Maps(ReplicationController),
            Maps(Deployment),
            Maps(ReplicaSet),
            Maps(StatefulSet),
            Maps(DaemonSet),
            Maps(Job),
            Maps(CronJob),
        ]
    }

    /// Wakes the quotas of the namespace on a deletion, a Pod that ends or was resized, and a changed Service type.
    fn map_event(&self, event: &Event<'_>, cache: &Cache, wake: &mut dyn FnMut(ObjectRef)) {
        let object = event.object;
        let frees =
            event.op == Op::Deleted || event.before.is_some_and(|before| uses_less(object, before));
        if frees {
            for quota in cache.list_in(Kind::ResourceQuota, &object.meta.namespace) {
                wake(quota.key());
            }
        }
    }

    fn resync(&self) -> Option<(u64, &'static [Kind])> {
        Some((300 * SECOND, &[Kind::ResourceQuota]))
    }

    fn reconcile(
        &self,
        key: &ObjectRef,
        view: &PassView<'_>,
        out: &mut LoopClient<'_>,
    ) -> Result<Action, ApiError> {
        let Some(object) = view.cache.object(key) else {
            return Ok(Action::AwaitChange);
        };
        let Body::Other(body) = &object.body else {
            return Ok(Action::AwaitChange);
        };
        let counted = kind::all()
            .filter(|kind| kind.info().namespaced)
            .flat_map(|kind| view.cache.list_in(kind, &key.namespace));
        let status = quota::quota_status(body, counted);
        out.observe(object, status)?;
        Ok(Action::AwaitChange)
    }
}

/// Returns true if an update may have freed what its object uses of a quota.
fn uses_less(new: &Object, old: &Object) -> bool {
    if let (Some(new), Some(old)) = (new.pod(), old.pod()) {
        let (after, before) = (
            &new.status.container_statuses,
            &old.status.container_statuses,
        );
        let is_resized = || {
            let mut both = after.iter().zip(before.iter());
            both.any(|(after, before)| after.resources != before.resources)
        };
        return new.is_terminal() && !old.is_terminal() || is_resized();
    }
    if let (Some(new), Some(old)) = (new.get::<Service>(), old.get::<Service>()) {
        return new.spec != old.spec;
    }
    let claim = |object| Object::get::<PersistentVolumeClaim>(object);
    matches!((claim(new), claim(old)), (Some(new), Some(old)) if new.spec != old.spec)
}
