//! Workloads: Deployment, ReplicaSet, StatefulSet, ControllerRevision.

use super::json::{Json, record};
use super::pod_template::PodTemplate;
use super::selector::LabelSelector;
use super::spec::Spec;
use super::{Str, Timestamp};
use crate::json;
use serde_json::{Map, Value};
use std::rc::Rc;

/// Number, or a percentage of another number.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum IntOrPercent {
    /// Absolute number.
    Int(i64),
    /// Percentage of the total.
    Percent(i64),
}

impl IntOrPercent {
    /// Resolves the value for `total`; a percentage is rounded up or down.
    pub fn resolve(&self, total: i64, round_up: bool) -> i64 {
        match *self {
            IntOrPercent::Int(n) => n,
            IntOrPercent::Percent(p) if round_up => {
                p.saturating_mul(total).saturating_add(99).div_euclid(100)
            }
            IntOrPercent::Percent(p) => p.saturating_mul(total).div_euclid(100),
        }
    }
}

impl Json for IntOrPercent {
    fn read(&mut self, value: &Value) -> Result<(), String> {
        *self = match value {
            Value::String(s) => IntOrPercent::Percent(s.trim_end_matches('%').parse().unwrap_or(0)),
            v => IntOrPercent::Int(v.as_i64().unwrap_or(0)),
        };
        Ok(())
    }
    fn write(&self) -> Value {
        match self {
            IntOrPercent::Int(n) => Value::from(*n),
            IntOrPercent::Percent(n) => Value::String(format!("{n}%")),
        }
    }
}

impl Default for IntOrPercent {
    fn default() -> Self {
        IntOrPercent::Int(0)
    }
}

/// A spec with `replicas` and a Pod template taken out, so that both can change or be shared cheaply.
#[derive(Clone, Debug, Default)]
pub struct WorkloadSpec<T> {
    /// `spec.replicas`; 0 where the kind or the object has no such field.
    pub replicas: i32,
    /// `spec.template`.
    pub template: Rc<PodTemplate>,
    /// Rest of the spec.
    pub rest: Rc<Spec<T>>,
}

impl<T> PartialEq for WorkloadSpec<T> {
    fn eq(&self, other: &Self) -> bool {
        self.replicas == other.replicas
            && self.template == other.template
            && (Rc::ptr_eq(&self.rest, &other.rest) || self.rest == other.rest)
    }
}

impl<T> std::ops::Deref for WorkloadSpec<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.rest
    }
}

impl<T: Json + Default> WorkloadSpec<T> {
    fn from_raw(raw: Option<Value>) -> Result<Self, String> {
        let mut map = match raw {
            Some(Value::Object(map)) => map,
            _ => Map::new(),
        };
        let replicas = map.remove("replicas").and_then(|v| v.as_i64()).unwrap_or(1) as i32;
        let template = PodTemplate::from_value(map.remove("template").unwrap_or(Value::Null))?;
        Ok(WorkloadSpec {
            replicas,
            template,
            rest: Spec::from_raw(Some(Value::Object(map)))?,
        })
    }
}

impl<T> WorkloadSpec<T> {
    /// Encodes the whole spec as the API shows it.
    pub fn to_value(&self) -> Value {
        let mut raw = self.rest.raw.clone();
        if let Value::Object(map) = &mut raw {
            map.insert("replicas".into(), self.replicas.into());
            map.insert("template".into(), self.template.to_value());
        }
        raw
    }
}

record! {
    /// Condition of a workload.
    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct Condition {
        pub last_transition_time: Option<Timestamp> = "lastTransitionTime" omitempty,
        pub last_update_time: Option<Timestamp> = "lastUpdateTime" omitempty,
        pub message: Str = "message" omitempty,
        pub reason: Str = "reason" omitempty,
        pub status: Str = "status",
        pub kind: Str = "type",
    }
}

// ---- Deployment

#[derive(Clone, PartialEq, Debug, Default)]
pub struct Deployment {
    pub spec: WorkloadSpec<DeploymentSpec>,
    pub status: DeploymentStatus,
}

record! {
    #[derive(Clone, Debug, Default)]
    pub struct DeploymentSpec {
        pub selector: LabelSelector = "selector",
        pub strategy: DeploymentStrategy = "strategy",
        pub min_ready_seconds: i64 = "minReadySeconds",
        pub revision_history_limit: Option<i64> = "revisionHistoryLimit",
        pub progress_deadline_seconds: Option<i64> = "progressDeadlineSeconds",
        pub paused: bool = "paused",
    }

    #[derive(Clone, Debug, Default)]
    pub struct DeploymentStrategy {
        /// `RollingUpdate` or `Recreate`.
        pub kind: Str = "type",
        pub rolling_update: Option<RollingUpdate> = "rollingUpdate",
    }

    #[derive(Clone, Debug, Default)]
    pub struct RollingUpdate {
        pub max_surge: Option<IntOrPercent> = "maxSurge",
        pub max_unavailable: Option<IntOrPercent> = "maxUnavailable",
        pub partition: Option<i32> = "partition",
    }

    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct DeploymentStatus {
        pub available_replicas: i32 = "availableReplicas" omitempty,
        pub collision_count: Option<i32> = "collisionCount" omitempty,
        pub conditions: Vec<Condition> = "conditions" omitempty,
        pub observed_generation: i64 = "observedGeneration" omitempty,
        pub ready_replicas: i32 = "readyReplicas" omitempty,
        pub replicas: i32 = "replicas" omitempty,
        pub terminating_replicas: Option<i32> = "terminatingReplicas" omitempty,
        pub unavailable_replicas: i32 = "unavailableReplicas" omitempty,
        pub updated_replicas: i32 = "updatedReplicas" omitempty,
    }
}

impl DeploymentStatus {
    /// Returns the condition of this type.
    pub fn condition(&self, kind: &str) -> Option<&Condition> {
        self.conditions.iter().find(|c| c.kind == kind)
    }
}

impl Deployment {
    /// Returns true if Pods of an older template are left. Pods added by scaling up are of the current template.
    pub fn is_updating(&self) -> bool {
        self.status.updated_replicas < self.status.replicas
    }

    /// Returns the surge and the number of unavailable Pods allowed during an update. If both are zero, one Pod may be unavailable.
    pub fn limits(&self) -> (i64, i64) {
        let Some(rolling) = self
            .spec
            .strategy
            .rolling_update
            .as_ref()
            .filter(|_| self.spec.strategy.kind != "Recreate")
        else {
            return (0, 0);
        };
        let resolved = |limit: &Option<IntOrPercent>, up| {
            limit
                .as_ref()
                .map_or(0, |limit| limit.resolve(self.spec.replicas.into(), up))
        };
        match (
            resolved(&rolling.max_surge, true),
            resolved(&rolling.max_unavailable, false),
        ) {
            (0, 0) => (0, 1),
            limits => limits,
        }
    }

    pub(super) fn from_parts(spec: Option<Value>, status: Option<Value>) -> Result<Self, String> {
        Ok(Deployment {
            spec: WorkloadSpec::from_raw(spec)?,
            status: json::part(status.as_ref())?,
        })
    }
}

// ---- ReplicaSet and ReplicationController

/// Selector in either form: a ReplicationController's is a plain map of labels.
#[derive(Clone, Debug, Default)]
pub struct PodSelector(LabelSelector);

impl std::ops::Deref for PodSelector {
    type Target = LabelSelector;
    fn deref(&self) -> &LabelSelector {
        &self.0
    }
}

impl Json for PodSelector {
    fn read(&mut self, value: &Value) -> Result<(), String> {
        // A plain label with one of these names would have a string as its value.
        let is_plain = !value["matchLabels"].is_object() && !value["matchExpressions"].is_array();
        if is_plain {
            self.0.match_labels.read(value)
        } else {
            self.0.read(value)
        }
    }
    fn write(&self) -> Value {
        self.0.write()
    }
}

#[derive(Clone, PartialEq, Debug, Default)]
pub struct ReplicaSet {
    pub spec: WorkloadSpec<ReplicaSetSpec>,
    pub status: ReplicaSetStatus,
}

record! {
    #[derive(Clone, Debug, Default)]
    pub struct ReplicaSetSpec {
        pub selector: PodSelector = "selector",
        pub min_ready_seconds: i64 = "minReadySeconds",
    }

    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct ReplicaSetStatus {
        pub available_replicas: i32 = "availableReplicas" omitempty,
        pub conditions: Vec<Condition> = "conditions" omitempty,
        pub fully_labeled_replicas: i32 = "fullyLabeledReplicas" omitempty,
        pub observed_generation: i64 = "observedGeneration" omitempty,
        pub ready_replicas: i32 = "readyReplicas" omitempty,
        pub replicas: i32 = "replicas",
        pub terminating_replicas: Option<i32> = "terminatingReplicas" omitempty,
    }
}

impl ReplicaSet {
    pub(super) fn from_parts(spec: Option<Value>, status: Option<Value>) -> Result<Self, String> {
        Ok(ReplicaSet {
            spec: WorkloadSpec::from_raw(spec)?,
            status: json::part(status.as_ref())?,
        })
    }
}

// ---- StatefulSet

#[derive(Clone, PartialEq, Debug, Default)]
pub struct StatefulSet {
    pub spec: WorkloadSpec<StatefulSetSpec>,
    pub status: StatefulSetStatus,
}

record! {
    #[derive(Clone, Debug, Default)]
    pub struct StatefulSetSpec {
        pub selector: LabelSelector = "selector",
        pub service_name: Str = "serviceName",
        /// `OrderedReady` or `Parallel`.
        pub pod_management_policy: Str = "podManagementPolicy",
        pub update_strategy: UpdateStrategy = "updateStrategy",
        pub volume_claim_templates: Vec<Value> = "volumeClaimTemplates",
        pub persistent_volume_claim_retention_policy: RetentionPolicy = "persistentVolumeClaimRetentionPolicy",
        pub ordinals: Ordinals = "ordinals",
        pub min_ready_seconds: i64 = "minReadySeconds",
        pub revision_history_limit: Option<i64> = "revisionHistoryLimit",
    }

    #[derive(Clone, Debug, Default)]
    pub struct UpdateStrategy {
        /// `RollingUpdate` or `OnDelete`.
        pub kind: Str = "type",
        pub rolling_update: Option<RollingUpdate> = "rollingUpdate",
    }

    #[derive(Clone, Debug, Default)]
    pub struct RetentionPolicy {
        pub when_deleted: Str = "whenDeleted",
        pub when_scaled: Str = "whenScaled",
    }

    #[derive(Clone, Debug, Default)]
    pub struct Ordinals {
        pub start: i32 = "start",
    }

    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct StatefulSetStatus {
        pub available_replicas: i32 = "availableReplicas",
        pub collision_count: Option<i32> = "collisionCount" omitempty,
        pub current_replicas: i32 = "currentReplicas" omitempty,
        pub current_revision: Str = "currentRevision" omitempty,
        pub observed_generation: i64 = "observedGeneration" omitempty,
        pub ready_replicas: i32 = "readyReplicas" omitempty,
        pub replicas: i32 = "replicas",
        pub update_revision: Str = "updateRevision" omitempty,
        pub updated_replicas: i32 = "updatedReplicas" omitempty,
    }
}

impl StatefulSet {
    pub(super) fn from_parts(spec: Option<Value>, status: Option<Value>) -> Result<Self, String> {
        Ok(StatefulSet {
            spec: WorkloadSpec::from_raw(spec)?,
            status: json::part(status.as_ref())?,
        })
    }

    /// Returns the prefixes of the claim names of a set with this name: the ordinal follows.
    pub fn claim_prefixes(&self, set: &str) -> impl Iterator<Item = String> {
        let named = self
            .spec
            .volume_claim_templates
            .iter()
            .filter_map(|claim| claim["metadata"]["name"].as_str());
        named.map(move |claim| [claim, "-", set, "-"].concat())
    }

    /// Returns true if Pods of an earlier revision are still to be replaced. Pods below the partition are left as they are.
    pub fn is_updating(&self) -> bool {
        let strategy = &self.spec.update_strategy;
        let kept = strategy
            .rolling_update
            .as_ref()
            .and_then(|rolling| rolling.partition)
            .unwrap_or(0);
        strategy.kind != "OnDelete"
            && self.status.current_revision != self.status.update_revision
            && self.status.updated_replicas < self.spec.replicas - kept
    }
}

record! {
    /// Stored template of a StatefulSet or DaemonSet.
    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct ControllerRevision {
        /// Patch that restores the template.
        pub data: Value = "data",
        /// Position in the rollout history.
        pub revision: i64 = "revision",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_round_up_for_surge_and_down_for_unavailable() {
        assert_eq!(IntOrPercent::Percent(25).resolve(3, true), 1);
        assert_eq!(IntOrPercent::Percent(25).resolve(3, false), 0);
        assert_eq!(IntOrPercent::Percent(25).resolve(10, true), 3);
        assert_eq!(IntOrPercent::Int(2).resolve(10, false), 2);
    }

    #[test]
    fn an_update_that_may_do_nothing_may_take_one_away() {
        let limits = |strategy: Value| {
            let spec = serde_json::json!({ "replicas": 10, "strategy": strategy });
            Deployment::from_parts(Some(spec), None)
                .expect("a Deployment")
                .limits()
        };
        let update = |surge: &str| serde_json::json!({ "type": "RollingUpdate", "rollingUpdate": { "maxSurge": surge, "maxUnavailable": "9%" } });
        assert_eq!(limits(update("25%")), (3, 0));
        assert_eq!(limits(update("0%")), (0, 1));
        assert_eq!(limits(serde_json::json!({ "type": "Recreate" })), (0, 0));
    }
}
