//! Rolling update: one step per pass, up or down.
//!
//! Models `pkg/controller/deployment/rolling.go`.

use super::revision::by_creation;
use super::{DeploymentPass, Sets, available, replicas, set_of, total};
use apiserver::ApiError;
use apiserver::why::Why;
use controller_runtime::client::Action;
use k8s_model::Object;
use std::rc::Rc;

impl DeploymentPass<'_, '_, '_> {
    pub(super) fn roll(&mut self, sets: &[Rc<Object>]) -> Result<Action, ApiError> {
        let mut sets = self.sync_revision(sets, true)?;
        if self.reconcile_new_replica_set(&mut sets)?
            || self.reconcile_old_replica_sets(&mut sets)?
        {
            return self.sync_rollout_status(&sets);
        }
        if self.is_complete(&self.deployment().status.clone()) {
            self.clean_up(&sets.old)?;
        }
        self.sync_rollout_status(&sets)
    }

    /// Scales up the new ReplicaSet as far as the surge allows.
    ///
    /// 10 wanted, surge 3, 8 old and 3 new: `10 + 3 - 11 = 2` more, never beyond 10 new ones.
    fn reconcile_new_replica_set(&mut self, sets: &mut Sets) -> Result<bool, ApiError> {
        let Some(new) = sets.new.clone() else {
            return Ok(false);
        };
        let (wanted, from) = (self.wanted(), replicas(&new));
        if from == wanted {
            return Ok(false);
        }
        let (pods, at_most) = (total(sets.all()), wanted.saturating_add(self.max_surge()));
        let to = if from > wanted {
            wanted
        } else {
            from + at_most.saturating_sub(pods).clamp(0, wanted - from)
        };
        let why = if from > wanted {
            Why::Scaled { from, to }
        } else {
            Why::RolloutUp {
                pods,
                at_most,
                from,
                to,
            }
        };
        Ok(self.scale_set(&mut sets.new, to, why)? || to != from)
    }

    /// Scales down old ReplicaSets: first their unavailable Pods, then as many as the available ones allow.
    fn reconcile_old_replica_sets(&mut self, sets: &mut Sets) -> Result<bool, ApiError> {
        if total(sets.old.iter()) == 0 {
            return Ok(false);
        }
        let at_least = self.wanted() - self.max_unavailable();
        let new_unavailable = sets.new.as_ref().map_or(0, |new| {
            replicas(new) - set_of(new).status.available_replicas
        });
        let room = total(sets.all()) - at_least - new_unavailable;
        if room <= 0 {
            return Ok(false);
        }
        sets.old.sort_by(by_creation);
        let cleaned = self.clean_unhealthy(sets, room)?;
        let shrunk = self.shrink_available(sets, at_least)?;
        Ok(cleaned + shrunk > 0)
    }

    fn clean_unhealthy(&mut self, sets: &mut Sets, room: i32) -> Result<i32, ApiError> {
        let mut gone = 0;
        for i in 0..sets.old.len() {
            let from = replicas(&sets.old[i]);
            let unhealthy = from - set_of(&sets.old[i]).status.available_replicas;
            let count = unhealthy.min(room - gone);
            if gone >= room || from == 0 || count <= 0 {
                continue;
            }
            let to = from - count;
            self.scale_at(
                &mut sets.old[i],
                to,
                Why::CleanUnhealthy {
                    unhealthy,
                    from,
                    to,
                },
            )?;
            gone += count;
        }
        Ok(gone)
    }

    fn shrink_available(&mut self, sets: &mut Sets, at_least: i32) -> Result<i32, ApiError> {
        let now = available(sets.all());
        let surplus = now - at_least;
        let mut gone = 0;
        for i in 0..sets.old.len() {
            let from = replicas(&sets.old[i]);
            let count = from.min(surplus - gone);
            if count <= 0 {
                continue;
            }
            let to = from - count;
            self.scale_at(
                &mut sets.old[i],
                to,
                Why::RolloutDown {
                    available: now,
                    at_least,
                    from,
                    to,
                },
            )?;
            gone += count;
        }
        Ok(gone)
    }
}
