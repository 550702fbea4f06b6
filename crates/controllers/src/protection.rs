//! Protects claims and volumes that are in use from deletion.
//!
//! Models `pkg/controller/volume/pvcprotection` and `pvprotection`.

use super::{Controller, Event, Watch};
use apiserver::ApiError;
use apiserver::why::Why;
use apiserver::{Component, ControllerId};
use controller_runtime::client::{Action, LoopClient, PassView};
use controller_runtime::descriptor::{Descriptor, GENERIC};
use controller_runtime::informer::Cache;
use k8s_model::pod::Pod;
use k8s_model::storage::PersistentVolume;
use k8s_model::time::MS;
use k8s_model::{Duration, Kind, ObjectRef};

const CLAIM_FINALIZER: &str = "kubernetes.io/pvc-protection";
const VOLUME_FINALIZER: &str = "kubernetes.io/pv-protection";
/// Duration of the live list of a claim's Pods, a round trip to the API server that precedes the removal of the finalizer.
const LIVE_LIST_US: Duration = 7 * MS;

/// UI descriptor of the controller.
static VOLUMES: Descriptor = Descriptor {
    component: Component::Controller(&ControllerId::new("pv-protection-controller")),
    aliases: &[],
    title: "pv protection",
    icon: "i-pv",
    lane: "volume",
    always_shown: false,
    code: GENERIC,
};

/// UI descriptor of the controller.
static CLAIMS: Descriptor = Descriptor {
    component: Component::Controller(&ControllerId::new("pvc-protection-controller")),
    aliases: &[],
    title: "pvc protection",
    icon: "i-pv",
    lane: "volume",
    always_shown: false,
    code: GENERIC,
};

/// PVC protection controller: removes the finalizer of a terminating claim when no scheduled Pod uses it any more.
pub struct ClaimProtection;

impl Controller for ClaimProtection {
    fn descriptor(&self) -> &'static Descriptor {
        &CLAIMS
    }

    fn watches(&self) -> &'static [Watch] {
        &[
            Watch::For(Kind::PersistentVolumeClaim),
            Watch::Maps(Kind::Pod),
        ]
    }

    fn serves(&self, _: &k8s_model::Object) -> bool {
        false
    }

    /// Wakes the claims that a deleted Pod used.
    fn map_event(&self, event: &Event<'_>, _cache: &Cache, wake: &mut dyn FnMut(ObjectRef)) {
        if event.op == apiserver::Op::Deleted {
            for name in event.object.body::<Pod>().spec.claims() {
                wake(ObjectRef::new(
                    Kind::PersistentVolumeClaim,
                    &event.object.meta.namespace,
                    name,
                ));
            }
        }
    }

    fn delay(&self, _event: &Event<'_>, _key: &ObjectRef, _clock: i64) -> Duration {
        LIVE_LIST_US
    }

    fn reconcile(
        &self,
        key: &ObjectRef,
        view: &PassView<'_>,
        out: &mut LoopClient<'_>,
    ) -> Result<Action, ApiError> {
        let Some(claim) = view.cache.object(key) else {
            return Ok(Action::AwaitChange);
        };
        if !claim.meta.is_deleting() || !claim.meta.has_finalizer(CLAIM_FINALIZER) {
            return Ok(Action::AwaitChange);
        }
        let uses = |pod: &std::rc::Rc<k8s_model::Object>| {
            let body: &Pod = pod.body();
            !body.node_name.is_empty() && body.spec.claims().any(|name| *name == key.name)
        };
        // The cache may not contain yet a Pod that uses the claim.
        let live = out
            .store()
            .users_of(&key.namespace, &key.name)
            .into_iter()
            .any(uses);
        if !live
            && !view
                .cache
                .users_of(&key.namespace, &key.name)
                .into_iter()
                .any(uses)
        {
            out.update(claim, Why::Unused, |o| {
                o.meta.finalizers.retain(|f| f != CLAIM_FINALIZER)
            })?;
        }
        Ok(Action::AwaitChange)
    }
}

/// PV protection controller: removes the finalizer of a terminating volume when it is no longer bound.
pub struct VolumeProtection;

impl Controller for VolumeProtection {
    fn descriptor(&self) -> &'static Descriptor {
        &VOLUMES
    }

    fn watches(&self) -> &'static [Watch] {
        &[Watch::For(Kind::PersistentVolume)]
    }

    fn serves(&self, _: &k8s_model::Object) -> bool {
        false
    }

    fn reconcile(
        &self,
        key: &ObjectRef,
        view: &PassView<'_>,
        out: &mut LoopClient<'_>,
    ) -> Result<Action, ApiError> {
        let Some((object, volume)) = view.cache.get::<PersistentVolume>(key) else {
            return Ok(Action::AwaitChange);
        };
        if object.meta.is_deleting()
            && object.meta.has_finalizer(VOLUME_FINALIZER)
            && volume.status.phase != "Bound"
        {
            out.update(object, Why::Unused, |o| {
                o.meta.finalizers.retain(|f| f != VOLUME_FINALIZER)
            })?;
        }
        Ok(Action::AwaitChange)
    }
}
