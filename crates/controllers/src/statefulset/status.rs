//! Status of a StatefulSet: counts by revision, and the end of an update.
//!
//! Models `updateStatus` and `completeRollingUpdate` in `pkg/controller/statefulset/`.

use super::{StatefulSetPass, is_ready, revision_of};
use apiserver::ApiError;
use apiserver::why::Why;
use k8s_model::workload::StatefulSetStatus;
use k8s_model::{Body, Object};
use std::rc::Rc;

/// Counts the Pods by state and revision.
pub(super) fn count(pass: &StatefulSetPass<'_, '_, '_>, pods: &[Rc<Object>]) -> StatefulSetStatus {
    let mut status = StatefulSetStatus {
        observed_generation: pass.object.meta.generation,
        current_revision: pass.revisions.current.clone(),
        update_revision: pass.revisions.update.clone(),
        collision_count: Some(pass.set.status.collision_count.unwrap_or(0)),
        ..Default::default()
    };
    for pod in pods {
        status.replicas += 1;
        if is_ready(pod) {
            status.ready_replicas += 1;
            status.available_replicas += i32::from(pass.is_available(pod));
        }
        if !pod.meta.is_deleting() {
            status.current_replicas += i32::from(revision_of(pod) == pass.revisions.current);
            status.updated_replicas += i32::from(revision_of(pod) == pass.revisions.update);
        }
    }
    status
}

impl StatefulSetPass<'_, '_, '_> {
    /// Makes the update revision the current one, once all Pods are of it and ready.
    pub(super) fn complete_update(&self, status: &mut StatefulSetStatus) {
        let wanted = self.set.spec.replicas;
        if self.set.spec.update_strategy.kind == "RollingUpdate"
            && status.updated_replicas == wanted
            && status.ready_replicas == wanted
            && status.replicas == wanted
        {
            status.current_replicas = status.updated_replicas;
            status.current_revision = status.update_revision.clone();
        }
    }

    pub(super) fn write_status(&mut self, status: &StatefulSetStatus) -> Result<(), ApiError> {
        if *status == self.set.status {
            return Ok(());
        }
        self.out.update_status(self.object, Why::Observed, |o| {
            if let Body::StatefulSet(set) = &mut o.body {
                set.status = status.clone();
            }
        })?;
        Ok(())
    }
}
