//! Status of a Deployment: counts of its ReplicaSets, and the Available condition.
//!
//! Models `syncDeploymentStatus` and `calculateStatus` in `pkg/controller/deployment/sync.go`.

use super::revision::set_condition;
use super::{DeploymentPass, Sets, available, set_of, total};
use apiserver::ApiError;
use apiserver::why::Why;
use controller_runtime::client::Action;
use k8s_model::workload::DeploymentStatus;
use k8s_model::{Body, Object};
use std::rc::Rc;

impl DeploymentPass<'_, '_, '_> {
    pub(super) fn sync_status_only(&mut self, list: &[Rc<Object>]) -> Result<Action, ApiError> {
        let sets = self.sync_revision(list, false)?;
        self.sync_status(&sets)
    }

    pub(super) fn sync_status(&mut self, sets: &Sets) -> Result<Action, ApiError> {
        let status = self.status_of(sets);
        self.write_status(status)?;
        Ok(Action::AwaitChange)
    }

    pub(super) fn write_status(&mut self, status: DeploymentStatus) -> Result<(), ApiError> {
        let object = self.object.clone();
        self.object = self.out.update_status(&object, Why::Observed, |o| {
            if let Body::Deployment(d) = &mut o.body {
                d.status = status;
            }
        })?;
        Ok(())
    }

    /// Sums the counts of the ReplicaSets.
    pub(super) fn status_of(&self, sets: &Sets) -> DeploymentStatus {
        let sum = |count: fn(&Object) -> i32| sets.all().map(|set| count(set)).sum::<i32>();
        let available = available(sets.all());
        let mut status = DeploymentStatus {
            observed_generation: self.object.meta.generation,
            replicas: sum(|s| set_of(s).status.replicas),
            updated_replicas: sets.new.as_ref().map_or(0, |s| set_of(s).status.replicas),
            ready_replicas: sum(|s| set_of(s).status.ready_replicas),
            available_replicas: available,
            unavailable_replicas: (total(sets.all()) - available).max(0),
            terminating_replicas: Some(sum(|s| set_of(s).status.terminating_replicas.unwrap_or(0))),
            collision_count: self.deployment().status.collision_count,
            conditions: self.deployment().status.conditions.clone(),
        };
        let (state, reason, message) = if available >= self.wanted() - self.max_unavailable() {
            (
                "True",
                "MinimumReplicasAvailable",
                "Deployment has minimum availability.",
            )
        } else {
            (
                "False",
                "MinimumReplicasUnavailable",
                "Deployment does not have minimum availability.",
            )
        };
        set_condition(
            &mut status.conditions,
            "Available",
            state,
            reason,
            message,
            self.wall,
        );
        status
    }
}
