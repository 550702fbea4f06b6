//! Recreate: all old Pods end before the first new one is created.
//!
//! Models `pkg/controller/deployment/recreate.go`.

use super::{DeploymentPass, Sets, replicas, set_of};
use apiserver::ApiError;
use apiserver::why::Why;
use controller_runtime::client::Action;
use k8s_model::{Kind, Object};
use std::rc::Rc;

impl DeploymentPass<'_, '_, '_> {
    pub(super) fn recreate(&mut self, list: &[Rc<Object>]) -> Result<Action, ApiError> {
        let mut sets = self.sync_revision(list, false)?;
        let mut scaled = false;
        for i in 0..sets.old.len() {
            let from = replicas(&sets.old[i]);
            if from > 0 {
                self.scale_at(&mut sets.old[i], 0, Why::Recreate { from, to: 0 })?;
                scaled = true;
            }
        }
        if scaled || self.old_pods_run(&sets) {
            return self.sync_rollout_status(&sets);
        }
        if sets.new.is_none() {
            sets = self.sync_revision(list, true)?;
        }
        let (from, to) = (sets.new.as_ref().map_or(0, |s| replicas(s)), self.wanted());
        self.scale_set(&mut sets.new, to, Why::Recreate { from, to })?;
        if self.is_complete(&self.deployment().status.clone()) {
            self.clean_up(&sets.old)?;
        }
        self.sync_rollout_status(&sets)
    }

    /// Returns true if any old Pod has not ended; a Pod in a terminal phase counts as ended even while it still exists.
    fn old_pods_run(&self, sets: &Sets) -> bool {
        sets.old.iter().any(|set| {
            set_of(set).status.replicas > 0
                || self
                    .view
                    .cache
                    .owned_of_kind(set.meta.uid, Kind::Pod)
                    .any(|pod| pod.pod().is_some_and(|p| !p.is_terminal()))
        })
    }
}
