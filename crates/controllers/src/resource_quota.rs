//! Keeps the status of every ResourceQuota equal to the usage of its namespace. Admission enforces the limits.
//!
//! Creations are counted by admission; this controller handles new quotas, changed limits, and objects that were deleted or have ended.
//! Models `pkg/controller/resourcequota/resource_quota_controller.go`.

use super::{Controller, Event, Watch};
use apiserver::Op;
use apiserver::{ApiError, quota};
use controller_runtime::client::{Action, LoopClient, PassView};
use controller_runtime::descriptor::{Descriptor, GENERIC};
use controller_runtime::informer::Cache;
use k8s_model::time::SECOND;
use k8s_model::{Body, Kind, ObjectRef, kind};

/// UI descriptor of the controller.
static DESCRIPTOR: Descriptor = Descriptor {
    name: "resourcequota-controller",
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

    /// Wakes the quotas of the namespace on a deletion, a Pod that ends and a changed Service type.
    fn also_wakes(&self, event: &Event<'_>, cache: &Cache, wake: &mut dyn FnMut(ObjectRef)) {
        let object = event.object;
        let frees = event.op == Op::Deleted
            || event
                .before
                .is_some_and(|before| match (&object.body, &before.body) {
                    (Body::Pod(new), Body::Pod(old)) => new.is_terminal() && !old.is_terminal(),
                    (Body::Service(new), Body::Service(old)) => new.spec != old.spec,
                    (Body::PersistentVolumeClaim(new), Body::PersistentVolumeClaim(old)) => {
                        new.spec != old.spec
                    }
                    _ => false,
                });
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
