//! PodDisruptionBudgets: stored as JSON, read where they are looked at.

use super::json::{Json, record};
use super::selector::LabelSelector;
use super::workload::IntOrPercent;
use super::{Body, Object, Str, Timestamp};
use crate::json;
use serde_json::{Map, Value};

record! {
    /// `spec` of a PodDisruptionBudget.
    #[derive(Clone, Debug, Default)]
    pub struct BudgetSpec {
        pub min_available: Option<IntOrPercent> = "minAvailable",
        pub max_unavailable: Option<IntOrPercent> = "maxUnavailable",
        /// None selects nothing, an empty one everything in the namespace.
        pub selector: Option<LabelSelector> = "selector",
        pub unhealthy_pod_eviction_policy: Str = "unhealthyPodEvictionPolicy",
    }

    /// `status` of a PodDisruptionBudget.
    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct BudgetStatus {
        pub conditions: Vec<BudgetCondition> = "conditions" omitempty,
        pub current_healthy: i32 = "currentHealthy",
        pub desired_healthy: i32 = "desiredHealthy",
        /// When Pods were evicted that are not seen to go yet.
        pub disrupted_pods: Map<String, Value> = "disruptedPods" omitempty,
        pub disruptions_allowed: i32 = "disruptionsAllowed",
        pub expected_pods: i32 = "expectedPods",
        pub observed_generation: i64 = "observedGeneration" omitempty,
    }

    /// A condition of a PodDisruptionBudget.
    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct BudgetCondition {
        pub last_transition_time: Option<Timestamp> = "lastTransitionTime",
        pub message: Str = "message",
        pub observed_generation: i64 = "observedGeneration" omitempty,
        pub reason: Str = "reason",
        pub status: Str = "status",
        pub kind: Str = "type",
    }
}

impl BudgetSpec {
    /// Reads the spec; what cannot be read asks for nothing.
    pub fn of(budget: &Object) -> BudgetSpec {
        part(budget, "spec")
    }

    /// Returns true if a Pod of the same namespace is under this budget.
    pub fn selects(&self, pod: &Object) -> bool {
        self.selector
            .as_ref()
            .is_some_and(|selector| selector.matches(&pod.meta.labels))
    }
}

impl BudgetStatus {
    /// Reads the status.
    pub fn of(budget: &Object) -> BudgetStatus {
        part(budget, "status")
    }

    /// Puts the status in place of the old one.
    pub fn put(&self, budget: &mut Object) {
        if let Body::Other(map) = &mut budget.body {
            map.insert("status".into(), self.write());
        }
    }

    /// Makes the one condition say whether a Pod may be evicted now, or why that is not known.
    pub fn set_condition(&mut self, failure: Option<&str>, generation: i64, now: Timestamp) {
        let allowed = self.disruptions_allowed > 0;
        let status = if allowed { "True" } else { "False" };
        let reason = match failure {
            Some(_) => "SyncFailed",
            None if allowed => "SufficientPods",
            None => "InsufficientPods",
        };
        let since = self
            .conditions
            .iter()
            .find(|c| c.status == status)
            .and_then(|c| c.last_transition_time);
        self.conditions = vec![BudgetCondition {
            last_transition_time: since.or(Some(now)),
            message: failure.unwrap_or("").into(),
            observed_generation: generation,
            reason: Str::new_static(reason),
            status: Str::new_static(status),
            kind: Str::new_static("DisruptionAllowed"),
        }];
    }
}

fn part<T: Json + Default>(budget: &Object, key: &str) -> T {
    let Body::Other(map) = &budget.body else {
        return T::default();
    };
    json::part(map.get(key)).unwrap_or_default()
}
