//! Scaling outside a rollout step: a changed size or a paused Deployment.
//!
//! Models `scale` and `isScalingEvent` in `pkg/controller/deployment/sync.go`.

use super::revision::{DESIRED, MAX, annotate_size, by_creation};
use super::{DeploymentPass, Sets, replicas, set_of, total};
use apiserver::ApiError;
use apiserver::why::Why;
use controller_runtime::client::Action;
use k8s_model::{Body, Object};
use smol_str::format_smolstr;
use std::rc::Rc;

fn annotated(set: &Object, key: &str) -> Option<i32> {
    set.meta.annotation(key).and_then(|v| v.parse().ok())
}

impl DeploymentPass<'_, '_, '_> {
    /// Returns true if `spec.replicas` has changed since the ReplicaSets were last sized.
    pub(super) fn is_scaling(&mut self, list: &[Rc<Object>]) -> Result<bool, ApiError> {
        let sets = self.sync_revision(list, false)?;
        let wanted = self.wanted();
        Ok(sets.all().any(|set| {
            replicas(set) > 0 && annotated(set, DESIRED).is_some_and(|desired| desired != wanted)
        }))
    }

    /// Scales and updates the status, without a rollout step.
    pub(super) fn sync(&mut self, list: &[Rc<Object>]) -> Result<Action, ApiError> {
        let mut sets = self.sync_revision(list, false)?;
        self.scale(&mut sets)?;
        if self.deployment().spec.paused {
            self.clean_up(&sets.old)?;
        }
        self.sync_status(&sets)
    }

    fn scale(&mut self, sets: &mut Sets) -> Result<(), ApiError> {
        let wanted = self.wanted();
        let active = sets.all().filter(|set| replicas(set) > 0).count();
        if active <= 1 {
            return self.scale_only(sets, wanted);
        }
        if sets.new.as_ref().is_some_and(|new| self.is_saturated(new)) {
            for i in 0..sets.old.len() {
                let from = replicas(&sets.old[i]);
                if from > 0 {
                    self.scale_at(&mut sets.old[i], 0, Why::Scaled { from, to: 0 })?;
                }
            }
            return Ok(());
        }
        if self.deployment().spec.strategy.kind == "Recreate" {
            return Ok(());
        }
        self.scale_proportionally(sets)
    }

    /// Gives the whole size to the only ReplicaSet with Pods, otherwise to the new or the newest old one.
    fn scale_only(&mut self, sets: &mut Sets, wanted: i32) -> Result<(), ApiError> {
        let is_active = |set: &Rc<Object>| replicas(set) > 0;
        let why = |from| Why::Scaled { from, to: wanted };
        if let Some(i) = sets.old.iter().position(is_active) {
            let from = replicas(&sets.old[i]);
            return self.scale_at(&mut sets.old[i], wanted, why(from));
        }
        if let Some(new) = &sets.new {
            let from = replicas(new);
            self.scale_set(&mut sets.new, wanted, why(from))?;
        } else if let Some(i) =
            (0..sets.old.len()).max_by(|a, b| by_creation(&sets.old[*a], &sets.old[*b]))
        {
            self.scale_at(&mut sets.old[i], wanted, why(0))?;
        }
        Ok(())
    }

    fn is_saturated(&self, new: &Object) -> bool {
        let wanted = self.wanted();
        replicas(new) == wanted
            && annotated(new, DESIRED) == Some(wanted)
            && set_of(new).status.available_replicas == wanted
    }

    /// Scales every ReplicaSet by its share of the difference during a rollout; the largest gets the remainder.
    ///
    /// 10 to 15 with surge 3, old 8 and new 5 of 13: `18 - 13 = 5` more; old `8 * 18 / 13 = 11` (+3), new
    /// `5 * 18 / 13 = 7` (+2).
    fn scale_proportionally(&mut self, sets: &mut Sets) -> Result<(), ApiError> {
        let wanted = self.wanted();
        let allowed = if wanted > 0 {
            wanted.saturating_add(self.max_surge())
        } else {
            0
        };
        let to_add = allowed - total(sets.all());
        let mut active: Vec<Rc<Object>> = sets
            .all()
            .filter(|set| replicas(set) > 0)
            .cloned()
            .collect();
        active.sort_by(|a, b| {
            replicas(b).cmp(&replicas(a)).then_with(|| {
                if to_add > 0 {
                    by_creation(b, a)
                } else {
                    by_creation(a, b)
                }
            })
        });
        let mut sizes = Vec::new();
        let mut added = 0;
        for set in &active {
            let share = self.share(set, to_add, added);
            sizes.push(replicas(set) + share);
            added += share;
        }
        if let Some(first) = sizes.first_mut() {
            *first = (*first + to_add - added).max(0);
        }
        for (set, to) in active.into_iter().zip(sizes) {
            let why = Why::Scaled {
                from: replicas(&set),
                to,
            };
            let slot = sets
                .old
                .iter_mut()
                .chain(&mut sets.new)
                .find(|s| s.meta.uid == set.meta.uid);
            if let Some(slot) = slot {
                self.scale_at(slot, to, why)?;
            }
        }
        Ok(())
    }

    fn share(&self, set: &Object, to_add: i32, added: i32) -> i32 {
        if replicas(set) == 0 || to_add == 0 || to_add == added {
            return 0;
        }
        let left = to_add - added;
        let fraction = self.fraction(set);
        if to_add > 0 {
            fraction.min(left)
        } else {
            fraction.max(left)
        }
    }

    fn fraction(&self, set: &Object) -> i32 {
        let (wanted, size) = (self.wanted(), replicas(set));
        if wanted == 0 {
            return -size;
        }
        let before = annotated(set, MAX)
            .filter(|n| *n > 0)
            .unwrap_or(self.deployment().status.replicas)
            .max(1);
        let scaled =
            f64::from(size) * (f64::from(wanted) + f64::from(self.max_surge())) / f64::from(before);
        scaled.round() as i32 - size
    }

    /// Scales the new ReplicaSet, if there is one; returns true if it changed.
    pub(super) fn scale_set(
        &mut self,
        slot: &mut Option<Rc<Object>>,
        to: i32,
        why: Why,
    ) -> Result<bool, ApiError> {
        let Some(set) = slot else { return Ok(false) };
        let changes = replicas(set) != to;
        if changes {
            self.scale_at(set, to, why)?;
        }
        Ok(changes)
    }

    /// Scales a ReplicaSet and records an Event; its size annotations are updated in the same write.
    pub(super) fn scale_at(
        &mut self,
        set: &mut Rc<Object>,
        to: i32,
        why: Why,
    ) -> Result<(), ApiError> {
        let (from, wanted, max) = (
            replicas(set),
            self.wanted(),
            self.wanted().saturating_add(self.max_surge()),
        );
        let name = set.meta.name.clone();
        *set = self.out.update(set, why, |o| {
            annotate_size(&mut o.meta, wanted, max);
            if let Body::ReplicaSet(body) = &mut o.body {
                body.spec.replicas = to;
            }
        })?;
        if from != to {
            let direction = if to > from { "up" } else { "down" };
            let object = self.object.clone();
            self.out.event(
                &object,
                "Normal",
                "ScalingReplicaSet",
                format_smolstr!("Scaled {direction} replica set {name} from {from} to {to}"),
            );
        }
        Ok(())
    }
}
