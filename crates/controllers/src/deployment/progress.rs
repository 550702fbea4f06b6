//! Progress of a rollout: progressing, complete, paused or past its deadline.
//!
//! Models `pkg/controller/deployment/progress.go`.

use super::revision::set_condition;
use super::{DeploymentPass, Sets, set_of};
use apiserver::ApiError;
use apiserver::why::Why;
use controller_runtime::client::Action;
use k8s_model::time::SECOND;
use k8s_model::workload::{Condition, DeploymentStatus};
use k8s_model::{Body, Str};
use smol_str::format_smolstr;

const AVAILABLE: &str = "NewReplicaSetAvailable";
const TIMED_OUT: &str = "ProgressDeadlineExceeded";

impl DeploymentPass<'_, '_, '_> {
    /// Records in the Progressing condition that a rollout was paused or resumed.
    pub(super) fn check_paused(&mut self) -> Result<(), ApiError> {
        let (wall, object) = (self.wall, self.object.clone());
        let deployment = self.deployment();
        let progressing = deployment.status.condition("Progressing");
        if deployment.spec.progress_deadline_seconds.is_none()
            || progressing.is_some_and(|c| c.reason == TIMED_OUT)
        {
            return Ok(());
        }
        let noted = progressing.is_some_and(|c| c.reason == "DeploymentPaused");
        let paused = deployment.spec.paused;
        let (reason, message) = match (paused, noted) {
            (true, false) => ("DeploymentPaused", "Deployment is paused"),
            (false, true) => ("DeploymentResumed", "Deployment is resumed"),
            _ => return Ok(()),
        };
        let noted = self
            .out
            .update_status(&object, Why::Paused { paused }, |o| {
                if let Body::Deployment(d) = &mut o.body {
                    set_condition(
                        &mut d.status.conditions,
                        "Progressing",
                        "Unknown",
                        reason,
                        message,
                        wall,
                    );
                }
            })?;
        // Upstream continues with the version it had read: the next write of this pass is refused with a conflict.
        let mut stale = (*noted).clone();
        stale.meta.resource_version = object.meta.resource_version;
        self.object = std::rc::Rc::new(stale);
        Ok(())
    }

    /// Returns true if all Pods are of the new template, and available.
    pub(super) fn is_complete(&self, status: &DeploymentStatus) -> bool {
        let wanted = self.wanted();
        status.updated_replicas == wanted
            && status.replicas == wanted
            && status.available_replicas == wanted
            && status.observed_generation >= self.object.meta.generation
    }

    /// Writes the status of a rollout, and requeues the key for its deadline.
    pub(super) fn sync_rollout_status(&mut self, sets: &Sets) -> Result<Action, ApiError> {
        let mut status = self.status_of(sets);
        let deadline = self.deployment().spec.progress_deadline_seconds;
        if deadline.is_none() {
            status.conditions.retain(|c| c.kind != "Progressing");
        }
        let current = self.deployment().status.condition("Progressing").cloned();
        let was_complete = status.replicas == status.updated_replicas
            && current.as_ref().is_some_and(|c| c.reason == AVAILABLE);
        if deadline.is_some() && !was_complete {
            self.judge(sets, &mut status, current.as_ref());
        }
        self.move_failures(sets, &mut status);
        if status == self.deployment().status {
            return Ok(self.requeue_after(&status));
        }
        self.write_status(status)?;
        Ok(Action::AwaitChange)
    }

    fn judge(&self, sets: &Sets, status: &mut DeploymentStatus, current: Option<&Condition>) {
        let subject = match &sets.new {
            Some(set) => format!("ReplicaSet {:?}", set.meta.name.as_str()),
            None => format!("Deployment {:?}", self.object.meta.name.as_str()),
        };
        let wall = self.wall;
        if self.is_complete(status) {
            let message = format!("{subject} has successfully progressed.");
            set_condition(
                &mut status.conditions,
                "Progressing",
                "True",
                AVAILABLE,
                &message,
                wall,
            );
        } else if self.is_progressing(status) {
            // The update time changes with every step, so the condition is replaced.
            status.conditions.retain(|c| c.kind != "Progressing");
            let since = current
                .filter(|c| c.status == "True")
                .and_then(|c| c.last_transition_time)
                .unwrap_or(wall);
            status.conditions.push(Condition {
                kind: Str::new_static("Progressing"),
                status: Str::new_static("True"),
                reason: Str::new_static("ReplicaSetUpdated"),
                message: format_smolstr!("{subject} is progressing."),
                last_update_time: Some(wall),
                last_transition_time: Some(since),
            });
        } else if self.is_timed_out(current) {
            let message = format!("{subject} has timed out progressing.");
            set_condition(
                &mut status.conditions,
                "Progressing",
                "False",
                TIMED_OUT,
                &message,
                wall,
            );
        }
    }

    fn is_progressing(&self, new: &DeploymentStatus) -> bool {
        let old = &self.deployment().status;
        new.updated_replicas > old.updated_replicas
            || new.replicas - new.updated_replicas < old.replicas - old.updated_replicas
            || new.ready_replicas > old.ready_replicas
            || new.available_replicas > old.available_replicas
    }

    fn is_timed_out(&self, current: Option<&Condition>) -> bool {
        let (Some(condition), Some(deadline)) =
            (current, self.deployment().spec.progress_deadline_seconds)
        else {
            return false;
        };
        match condition.reason.as_str() {
            AVAILABLE => false,
            TIMED_OUT => true,
            _ => condition
                .last_update_time
                .is_some_and(|since| since.seconds() + deadline < self.wall.seconds()),
        }
    }

    /// Copies the ReplicaFailure condition of a ReplicaSet to the Deployment, preferring that of the new one.
    fn move_failures(&self, sets: &Sets, status: &mut DeploymentStatus) {
        let failure = sets.new.iter().chain(&sets.old).find_map(|set| {
            set_of(set)
                .status
                .conditions
                .iter()
                .find(|c| c.kind == "ReplicaFailure")
        });
        match failure {
            None => status.conditions.retain(|c| c.kind != "ReplicaFailure"),
            Some(failure) => {
                let known = status
                    .condition("ReplicaFailure")
                    .is_some_and(|c| c.status == failure.status && c.reason == failure.reason);
                if !known {
                    status.conditions.retain(|c| c.kind != "ReplicaFailure");
                    let mut copy = failure.clone();
                    copy.last_update_time = copy.last_transition_time;
                    status.conditions.push(copy);
                }
            }
        }
    }

    /// Requeues a rollout without progress one second after its deadline.
    fn requeue_after(&self, status: &DeploymentStatus) -> Action {
        let (Some(condition), Some(deadline)) = (
            status.condition("Progressing"),
            self.deployment().spec.progress_deadline_seconds,
        ) else {
            return Action::AwaitChange;
        };
        if self.is_complete(status)
            || condition.reason == TIMED_OUT
            || condition.reason == AVAILABLE
        {
            return Action::AwaitChange;
        }
        let left = condition
            .last_update_time
            .map_or(0, |since| since.seconds() + deadline - self.wall.seconds())
            .max(0);
        Action::RequeueAfter((left as u64 + 1) * SECOND)
    }
}
