//! Eviction of a Pod: a deletion that checks the disruption budget first.
//!
//! Guarantees: a budget is charged before the Pod is deleted, in one step, so that two evictions never share one allowance.
//! Models `pkg/registry/core/pod/storage/eviction.go`.

use super::admission::AdmissionRequest;
use super::deletion::DeleteOptions;
use super::error::{ApiError, Cause, StatusReason};
use super::server::{ApiServer, Origin};
use crate::why::Why;
use k8s_model::kind::Subresource;
use k8s_model::pod::PodCondition;
use k8s_model::policy::{BudgetSpec, BudgetStatus};
use k8s_model::{Body, Kind, Object, ObjectRef, Timestamp};
use serde_json::Value;
use std::rc::Rc;

const REFUSED: &str = "Cannot evict pod as it would violate the pod's disruption budget.";
const SEVERAL: &str = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
/// Maximum number of disrupted Pods of a budget; above it, evictions wait for the disruption controller.
const MAX_DISRUPTED_PODS: usize = 2000;

impl ApiServer {
    /// Evicts a Pod if its budget allows it.
    pub fn evict(
        &mut self,
        origin: &Origin,
        key: &ObjectRef,
        mut options: DeleteOptions,
        why: Why,
    ) -> Result<(), ApiError> {
        let admitted = self.admit_eviction(origin, key);
        if let Err(error) = &admitted {
            self.refuse(origin, key.clone(), error, why.clone());
        }
        let AdmittedEviction { pod, charge } = admitted?;
        if let Some(budget) = charge {
            self.update_status(origin, budget, why.clone())?;
        }
        if let Err(error) = options.preconditions.check(&pod) {
            self.refuse(origin, key.clone(), &error, why);
            return Err(error);
        }
        // The condition of the Pod is written first, which changes its version.
        options.preconditions.resource_version = None;
        let (wall, generation) = (self.store.wall(), pod.meta.generation);
        let mut marked = (*pod).clone();
        if let Body::Pod(pod) = &mut marked.body {
            let message = "Eviction API: evicting";
            pod.status.set_condition(PodCondition::disruption(
                "EvictionByEvictionAPI",
                message,
                wall,
                generation,
            ));
        }
        self.update_status(origin, marked, why.clone())?;
        self.delete(origin, key, options, why).map(drop)
    }

    /// Checks webhooks, policies and the budget of a Pod that is to be evicted.
    fn admit_eviction(
        &mut self,
        origin: &Origin,
        key: &ObjectRef,
    ) -> Result<AdmittedEviction, ApiError> {
        let Some(object) = self.store.get(key).cloned() else {
            return Err(ApiError::not_found(key.kind, &key.name));
        };
        let Some(pod) = object.pod() else {
            return Err(ApiError::not_found(Kind::Pod, &key.name));
        };
        let request = AdmissionRequest {
            operation: "CREATE",
            subresource: Subresource::Eviction,
            object: &object,
            old: None,
            api_version: None,
        };
        self.admit_by_webhooks(origin, request)?;
        let mut charge = None;
        // A Pod that is pending, terminating or in a terminal phase needs no budget.
        if !(pod.is_terminal() || pod.status.phase == "Pending" || object.meta.is_deleting()) {
            let budgets = self
                .store
                .listing(Kind::PodDisruptionBudget, Some(&key.namespace));
            let budgets: Vec<Rc<Object>> = budgets
                .filter(|b| BudgetSpec::of(b).selects(&object))
                .collect();
            if budgets.len() > 1 {
                // Upstream answers a Status without a reason.
                return Err(ApiError {
                    reason: StatusReason::Unknown,
                    message: SEVERAL.to_owned(),
                    cause: None,
                });
            }
            if let Some(budget) = budgets.first() {
                charge = charged(budget, &object, pod.is_ready(), self.store.wall())?;
            }
        }
        Ok(AdmittedEviction {
            pod: object,
            charge,
        })
    }
}

/// Eviction that may take place.
struct AdmittedEviction {
    pod: Rc<Object>,
    /// Budget with the status that the eviction brings it to, if the Pod needs one.
    charge: Option<Object>,
}

/// Charges one disruption to a budget, if the Pod needs one and one is left.
fn charged(
    budget: &Object,
    pod: &Object,
    healthy: bool,
    wall: Timestamp,
) -> Result<Option<Object>, ApiError> {
    let (spec, mut status) = (BudgetSpec::of(budget), BudgetStatus::of(budget));
    if !healthy {
        let enough = status.current_healthy >= status.desired_healthy && status.desired_healthy > 0;
        if spec.unhealthy_pod_eviction_policy == "AlwaysAllow" || enough {
            return Ok(None);
        }
    }
    if status.observed_generation < budget.meta.generation || status.disruptions_allowed == 0 {
        let cause = Some(Box::new(Cause::Budget(budget.meta.name.clone())));
        return Err(ApiError {
            cause,
            ..ApiError::too_many_requests(REFUSED)
        });
    }
    let forbidden = |text: &str| {
        Err(ApiError::forbidden(format!(
            "poddisruptionbudget.policy {:?} is forbidden: {text}",
            budget.meta.name
        )))
    };
    if status.disruptions_allowed < 0 {
        return forbidden("pdb disruptions allowed is negative");
    }
    if status.disrupted_pods.len() > MAX_DISRUPTED_PODS {
        return forbidden(
            "DisruptedPods map too big - too many evictions not confirmed by PDB controller",
        );
    }
    status.disruptions_allowed -= 1;
    if status.disruptions_allowed == 0 {
        status.set_condition(None, status.observed_generation, wall);
    }
    status
        .disrupted_pods
        .insert(pod.meta.name.to_string(), Value::String(wall.rfc3339()));
    let mut charged = budget.clone();
    status.put(&mut charged);
    Ok(Some(charged))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::Actor;
    use serde_json::json;

    /// Evicts a running Pod; returns the result and the disruptions left.
    fn evict(ready: bool, budgets: &[Value]) -> (Result<(), StatusReason>, i32) {
        let mut server = ApiServer::new(Timestamp::new(0), 1);
        let origin = Origin {
            actor: Actor::SERVER,
            cause: None,
            pass: 0,
            manager: None,
            user: None,
            call: None,
        };
        let status = if ready { "True" } else { "False" };
        let pod = json!({"metadata": {"name": "p", "labels": {"app": "web"}}, "spec": {"nodeName": "n", "containers": []}});
        let pod = Object::from_value(Kind::Pod, pod).unwrap();
        let pod = server.create(&origin, pod, Why::Asked).unwrap();
        let mut running = (*pod).clone();
        if let Body::Pod(body) = &mut running.body {
            body.status.phase = "Running".into();
            body.status.set_condition(PodCondition {
                kind: "Ready".into(),
                status: status.into(),
                ..Default::default()
            });
        }
        server.update_status(&origin, running, Why::Asked).unwrap();
        for (i, budget) in budgets.iter().enumerate() {
            let mut value = json!({"metadata": {"name": format!("b{i}")}, "spec": {"selector": {"matchLabels": {"app": "web"}}},
                "status": {"observedGeneration": 1}});
            for (key, field) in budget.as_object().unwrap() {
                let part = if key == "unhealthyPodEvictionPolicy" {
                    "spec"
                } else {
                    "status"
                };
                value[part][key] = field.clone();
            }
            let object = Object::from_value(Kind::PodDisruptionBudget, value).unwrap();
            server.create(&origin, object, Why::Asked).unwrap();
        }
        let result = server
            .evict(&origin, &pod.key(), DeleteOptions::default(), Why::Asked)
            .map_err(|error| error.reason);
        let left = server
            .store
            .list(Kind::PodDisruptionBudget)
            .next()
            .map_or(0, |b| BudgetStatus::of(b).disruptions_allowed);
        (result, left)
    }

    #[test]
    fn a_budget_is_asked_and_spent() {
        let allowed =
            |n: i32| json!({"disruptionsAllowed": n, "currentHealthy": 2, "desiredHealthy": 2});
        let always = json!({"disruptionsAllowed": 0, "unhealthyPodEvictionPolicy": "AlwaysAllow"});
        let short = json!({"disruptionsAllowed": 0, "currentHealthy": 1, "desiredHealthy": 2});
        let cases = [
            ("no budget", true, vec![], (Ok(()), 0)),
            ("one is left", true, vec![allowed(1)], (Ok(()), 0)),
            ("two are left", true, vec![allowed(2)], (Ok(()), 1)),
            (
                "none is left",
                true,
                vec![allowed(0)],
                (Err(StatusReason::TooManyRequests), 0),
            ),
            (
                "two budgets",
                true,
                vec![allowed(1), allowed(1)],
                (Err(StatusReason::Unknown), 1),
            ),
            (
                "not observed yet",
                true,
                vec![json!({"disruptionsAllowed": 1, "observedGeneration": 0})],
                (Err(StatusReason::TooManyRequests), 1),
            ),
            (
                "unready, enough others",
                false,
                vec![allowed(0)],
                (Ok(()), 0),
            ),
            (
                "unready, too few others",
                false,
                vec![short],
                (Err(StatusReason::TooManyRequests), 0),
            ),
            (
                "unready, always allowed",
                false,
                vec![always.clone()],
                (Ok(()), 0),
            ),
            (
                "ready, the policy does not count",
                true,
                vec![always],
                (Err(StatusReason::TooManyRequests), 0),
            ),
        ];
        for (name, ready, budgets, expected) in cases {
            assert_eq!(evict(ready, &budgets), expected, "{name}");
        }
    }
}
