//! Deletes Jobs `ttlSecondsAfterFinished` after their end, and their Pods before them.
//!
//! Models `pkg/controller/ttlafterfinished/ttlafterfinished_controller.go`.

use super::{Controller, Watch};
use apiserver::why::Why;
use apiserver::{ApiError, DeleteOptions, Preconditions, Propagation, StatusReason};
use apiserver::{Component, ControllerId};
use controller_runtime::client::{Action, LoopClient, PassView};
use controller_runtime::descriptor::{Descriptor, GENERIC};
use k8s_model::batch::Job;
use k8s_model::{Kind, ObjectRef};

/// UI descriptor of the controller.
static DESCRIPTOR: Descriptor = Descriptor {
    component: Component::Controller(&ControllerId::new("ttl-after-finished-controller")),
    aliases: &[],
    title: "ttl after finished",
    icon: "i-job",
    lane: "job",
    always_shown: false,
    code: GENERIC,
};

/// TTL-after-finished controller.
pub struct TtlAfterFinished;

impl Controller for TtlAfterFinished {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn watches(&self) -> &'static [Watch] {
        &[Watch::For(Kind::Job)]
    }

    fn reconcile(
        &self,
        key: &ObjectRef,
        view: &PassView<'_>,
        out: &mut LoopClient<'_>,
    ) -> Result<Action, ApiError> {
        let Some((object, job)) = view.cache.get::<Job>(key) else {
            return Ok(Action::AwaitChange);
        };
        let ended = job.status.finished().and_then(|c| c.last_transition_time);
        let (Some(seconds), Some(ended), false) = (
            job.spec.ttl_seconds_after_finished,
            ended,
            object.meta.is_deleting(),
        ) else {
            return Ok(Action::AwaitChange);
        };
        match view.until(ended, seconds) {
            0 => {}
            left => return Ok(Action::RequeueAfter(left)),
        }
        let how = DeleteOptions {
            preconditions: Preconditions::of_uid(object.meta.uid),
            propagation_policy: Some(Propagation::Foreground),
            ..Default::default()
        };
        match out.delete(key, how, Why::Expired { seconds }) {
            Err(error) if error.reason != StatusReason::NotFound => Err(error),
            _ => Ok(Action::AwaitChange),
        }
    }
}
