//! The eviction of a Pod: a deletion that asks the disruption budget first.
//!
//! Guarantees: a budget is spent before the Pod goes, in one step, so that two evictions never share one allowance.
//! Models `pkg/registry/core/pod/storage/eviction.go`.

use super::error::ApiError;
use super::requests::Delete;
use super::server::{ApiServer, Origin};
use crate::api::pod::PodCondition;
use crate::api::policy::{BudgetSpec, BudgetStatus};
use crate::api::{Body, Kind, Object, ObjectRef};
use crate::engine::why::Why;
use serde_json::Value;
use std::rc::Rc;

const REFUSED: &str = "Cannot evict pod as it would violate the pod's disruption budget.";
const SEVERAL: &str = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
/// More evictions than this wait for the disruption loop.
const MOST_DISRUPTED: usize = 2000;

impl ApiServer {
    /// Evicts a Pod if its budget allows it.
    pub fn evict(&mut self, origin: &Origin, key: &ObjectRef, how: Delete, why: Why) -> Result<(), ApiError> {
        let result = self.try_evict(origin, key, how, &why);
        if let Err(error) = &result {
            self.refuse(origin, key.clone(), error, why);
        }
        result
    }

    fn try_evict(&mut self, origin: &Origin, key: &ObjectRef, how: Delete, why: &Why) -> Result<(), ApiError> {
        let Some(object) = self.get(key).cloned() else { return Err(ApiError::not_found(key.kind, &key.name)) };
        let Some(pod) = object.pod() else { return Err(ApiError::not_found(Kind::Pod, &key.name)) };
        // What has ended, does not run yet or is on its way out disrupts nothing.
        if !(pod.is_terminal() || pod.status.phase == "Pending" || object.meta.is_deleting()) {
            let budgets = self.list(Kind::PodDisruptionBudget).filter(|b| b.meta.namespace == key.namespace);
            let budgets: Vec<Rc<Object>> = budgets.filter(|b| BudgetSpec::of(b).selects(&object)).cloned().collect();
            if budgets.len() > 1 {
                return Err(ApiError::internal(SEVERAL));
            }
            if let Some(budget) = budgets.first() {
                self.spend(origin, budget, &object, pod.is_ready(), why)?;
            }
        }
        let (wall, generation) = (self.wall(), object.meta.generation);
        let mut marked = (*object).clone();
        if let Body::Pod(pod) = &mut marked.body {
            let message = "Eviction API: evicting";
            pod.status.set_condition(PodCondition::disruption("EvictionByEvictionAPI", message, wall, generation));
        }
        self.update_status(origin, marked, why.clone())?;
        self.delete(origin, key, how, why.clone()).map(drop)
    }

    /// Takes one disruption from the budget, if the Pod needs one and there is one.
    fn spend(&mut self, origin: &Origin, budget: &Rc<Object>, pod: &Object, healthy: bool, why: &Why) -> Result<(), ApiError> {
        let (spec, mut status) = (BudgetSpec::of(budget), BudgetStatus::of(budget));
        if !healthy {
            let enough = status.current_healthy >= status.desired_healthy && status.desired_healthy > 0;
            if spec.unhealthy_pod_eviction_policy == "AlwaysAllow" || enough {
                return Ok(());
            }
        }
        if status.observed_generation < budget.meta.generation || status.disruptions_allowed == 0 {
            return Err(ApiError::too_many_requests(REFUSED));
        }
        let forbidden =
            |text: &str| Err(ApiError::forbidden(format!("poddisruptionbudget.policy {:?} is forbidden: {text}", budget.meta.name)));
        if status.disruptions_allowed < 0 {
            return forbidden("pdb disruptions allowed is negative");
        }
        if status.disrupted_pods.len() > MOST_DISRUPTED {
            return forbidden("DisruptedPods map too big - too many evictions not confirmed by PDB controller");
        }
        status.disruptions_allowed -= 1;
        let wall = self.wall();
        if status.disruptions_allowed == 0 {
            status.set_condition(None, status.observed_generation, wall);
        }
        status.disrupted_pods.insert(pod.meta.name.to_string(), Value::String(wall.rfc3339()));
        let mut spent = (**budget).clone();
        status.put(&mut spent);
        self.update_status(origin, spent, why.clone()).map(drop)
    }
}
