//! PodDisruptionBudgets: stored as JSON, parsed on access.

use super::json::record;
use super::selector::LabelSelector;
use super::workload::IntOrPercent;
use super::{Object, Str, Timestamp};
use serde_json::{Map, Value};

record! {
    /// `spec` of a PodDisruptionBudget.
    #[derive(Clone, Debug, Default)]
    pub struct BudgetSpec {
        pub min_available: Option<IntOrPercent> = "minAvailable",
        pub max_unavailable: Option<IntOrPercent> = "maxUnavailable",
        /// Selector of the Pods; `None` selects nothing, an empty one everything in the namespace.
        pub selector: Option<LabelSelector> = "selector",
        pub unhealthy_pod_eviction_policy: Str = "unhealthyPodEvictionPolicy",
    }

    /// `status` of a PodDisruptionBudget.
    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct BudgetStatus {
        pub conditions: Vec<BudgetCondition> = "conditions" omitempty,
        pub current_healthy: i32 = "currentHealthy",
        pub desired_healthy: i32 = "desiredHealthy",
        /// Eviction times of Pods whose deletion has not been observed yet.
        pub disrupted_pods: Map<String, Value> = "disruptedPods" omitempty,
        pub disruptions_allowed: i32 = "disruptionsAllowed",
        pub expected_pods: i32 = "expectedPods",
        pub observed_generation: i64 = "observedGeneration" omitempty,
    }

    /// Condition of a PodDisruptionBudget.
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
    /// Parses the spec; the default if it does not decode.
    pub fn of(budget: &Object) -> BudgetSpec {
        budget.part("spec").unwrap_or_default()
    }

    /// Returns true if the budget selects a Pod of its namespace.
    pub fn selects(&self, pod: &Object) -> bool {
        self.selector
            .as_ref()
            .is_some_and(|selector| selector.matches(&pod.meta.labels))
    }
}

impl BudgetStatus {
    /// Parses the status.
    pub fn of(budget: &Object) -> BudgetStatus {
        budget.part("status").unwrap_or_default()
    }

    /// Replaces the status.
    pub fn put(&self, budget: &mut Object) {
        budget.put_part("status", self);
    }

    /// Sets the DisruptionAllowed condition, which says whether a Pod may be evicted now, or why that is unknown.
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
