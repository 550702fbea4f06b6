//! Workloads: Deployment, ReplicaSet, StatefulSet, ControllerRevision.

use super::meta::nullable;
use super::object::{Spec, part};
use super::pod::PodTemplate;
use super::selector::LabelSelector;
use super::{Str, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::rc::Rc;

/// A number, or a percentage of another number.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum IntOrPercent {
    /// As it stands.
    Int(i64),
    /// In hundredths of the total.
    Percent(i64),
}

impl IntOrPercent {
    /// The number this means of `total`; a percentage is rounded up or down.
    pub fn resolve(&self, total: i64, round_up: bool) -> i64 {
        match *self {
            IntOrPercent::Int(n) => n,
            IntOrPercent::Percent(p) if round_up => (p * total + 99).div_euclid(100),
            IntOrPercent::Percent(p) => (p * total).div_euclid(100),
        }
    }
}

impl<'de> Deserialize<'de> for IntOrPercent {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        Ok(match Value::deserialize(d)? {
            Value::String(s) => IntOrPercent::Percent(s.trim_end_matches('%').parse().unwrap_or(0)),
            v => IntOrPercent::Int(v.as_i64().unwrap_or(0)),
        })
    }
}

/// A spec with `replicas` and a Pod template taken out, so that both can change or be shared cheaply.
#[derive(Clone, Debug, Default)]
pub struct WorkloadSpec<T> {
    /// `spec.replicas`; none where the kind or the object has no such field.
    pub replicas: i32,
    /// `spec.template`.
    pub template: Rc<PodTemplate>,
    /// The rest of the spec.
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

impl<T: for<'de> Deserialize<'de>> WorkloadSpec<T> {
    fn from_raw(raw: Option<Value>) -> Result<Self, String> {
        let mut map = match raw {
            Some(Value::Object(map)) => map,
            _ => Map::new(),
        };
        let replicas = map.remove("replicas").and_then(|v| v.as_i64()).unwrap_or(1) as i32;
        let template = PodTemplate::from_value(map.remove("template").unwrap_or(Value::Null))?;
        Ok(WorkloadSpec { replicas, template, rest: Spec::from_raw(Some(Value::Object(map)))? })
    }
}

impl<T> WorkloadSpec<T> {
    /// The whole spec as the API shows it.
    pub fn to_value(&self) -> Value {
        let mut raw = self.rest.raw.clone();
        if let Value::Object(map) = &mut raw {
            map.insert("replicas".into(), self.replicas.into());
            map.insert("template".into(), self.template.to_value());
        }
        raw
    }
}

/// A condition of a workload.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Condition {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_transition_time: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_update_time: Option<Timestamp>,
    #[serde(skip_serializing_if = "Str::is_empty")]
    pub message: Str,
    #[serde(skip_serializing_if = "Str::is_empty")]
    pub reason: Str,
    pub status: Str,
    #[serde(rename = "type")]
    pub kind: Str,
}

fn zero(n: &i32) -> bool {
    *n == 0
}

// ---- Deployment

#[derive(Clone, PartialEq, Debug, Default)]
pub struct Deployment {
    pub spec: WorkloadSpec<DeploymentSpec>,
    pub status: DeploymentStatus,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DeploymentSpec {
    pub selector: LabelSelector,
    #[serde(deserialize_with = "nullable")]
    pub strategy: DeploymentStrategy,
    pub min_ready_seconds: i64,
    pub revision_history_limit: Option<i64>,
    pub progress_deadline_seconds: Option<i64>,
    pub paused: bool,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DeploymentStrategy {
    /// `RollingUpdate` or `Recreate`.
    #[serde(rename = "type")]
    pub kind: Str,
    pub rolling_update: Option<RollingUpdate>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RollingUpdate {
    pub max_surge: Option<IntOrPercent>,
    pub max_unavailable: Option<IntOrPercent>,
    pub partition: Option<i32>,
}

#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DeploymentStatus {
    #[serde(skip_serializing_if = "zero")]
    pub available_replicas: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collision_count: Option<i32>,
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "nullable")]
    pub conditions: Vec<Condition>,
    #[serde(skip_serializing_if = "super::meta::is_zero")]
    pub observed_generation: i64,
    #[serde(skip_serializing_if = "zero")]
    pub ready_replicas: i32,
    #[serde(skip_serializing_if = "zero")]
    pub replicas: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub terminating_replicas: Option<i32>,
    #[serde(skip_serializing_if = "zero")]
    pub unavailable_replicas: i32,
    #[serde(skip_serializing_if = "zero")]
    pub updated_replicas: i32,
}

impl DeploymentStatus {
    /// The condition of this type.
    pub fn condition(&self, kind: &str) -> Option<&Condition> {
        self.conditions.iter().find(|c| c.kind == kind)
    }
}

impl Deployment {
    pub(super) fn from_parts(spec: Option<Value>, status: Option<Value>) -> Result<Self, String> {
        Ok(Deployment { spec: WorkloadSpec::from_raw(spec)?, status: part(status)? })
    }
}

// ---- ReplicaSet

#[derive(Clone, PartialEq, Debug, Default)]
pub struct ReplicaSet {
    pub spec: WorkloadSpec<ReplicaSetSpec>,
    pub status: ReplicaSetStatus,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ReplicaSetSpec {
    pub selector: LabelSelector,
    pub min_ready_seconds: i64,
}

#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ReplicaSetStatus {
    #[serde(skip_serializing_if = "zero")]
    pub available_replicas: i32,
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "nullable")]
    pub conditions: Vec<Condition>,
    #[serde(skip_serializing_if = "zero")]
    pub fully_labeled_replicas: i32,
    #[serde(skip_serializing_if = "super::meta::is_zero")]
    pub observed_generation: i64,
    #[serde(skip_serializing_if = "zero")]
    pub ready_replicas: i32,
    pub replicas: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub terminating_replicas: Option<i32>,
}

impl ReplicaSet {
    pub(super) fn from_parts(spec: Option<Value>, status: Option<Value>) -> Result<Self, String> {
        Ok(ReplicaSet { spec: WorkloadSpec::from_raw(spec)?, status: part(status)? })
    }
}

// ---- StatefulSet

#[derive(Clone, PartialEq, Debug, Default)]
pub struct StatefulSet {
    pub spec: WorkloadSpec<StatefulSetSpec>,
    pub status: StatefulSetStatus,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct StatefulSetSpec {
    pub selector: LabelSelector,
    pub service_name: Str,
    /// `OrderedReady` or `Parallel`.
    pub pod_management_policy: Str,
    #[serde(deserialize_with = "nullable")]
    pub update_strategy: UpdateStrategy,
    #[serde(deserialize_with = "nullable")]
    pub volume_claim_templates: Vec<Value>,
    #[serde(deserialize_with = "nullable")]
    pub persistent_volume_claim_retention_policy: RetentionPolicy,
    #[serde(deserialize_with = "nullable")]
    pub ordinals: Ordinals,
    pub min_ready_seconds: i64,
    pub revision_history_limit: Option<i64>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct UpdateStrategy {
    /// `RollingUpdate` or `OnDelete`.
    #[serde(rename = "type")]
    pub kind: Str,
    pub rolling_update: Option<RollingUpdate>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RetentionPolicy {
    pub when_deleted: Str,
    pub when_scaled: Str,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Ordinals {
    pub start: i32,
}

#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct StatefulSetStatus {
    pub available_replicas: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collision_count: Option<i32>,
    #[serde(skip_serializing_if = "zero")]
    pub current_replicas: i32,
    #[serde(skip_serializing_if = "Str::is_empty")]
    pub current_revision: Str,
    #[serde(skip_serializing_if = "super::meta::is_zero")]
    pub observed_generation: i64,
    #[serde(skip_serializing_if = "zero")]
    pub ready_replicas: i32,
    pub replicas: i32,
    #[serde(skip_serializing_if = "Str::is_empty")]
    pub update_revision: Str,
    #[serde(skip_serializing_if = "zero")]
    pub updated_replicas: i32,
}

impl StatefulSet {
    pub(super) fn from_parts(spec: Option<Value>, status: Option<Value>) -> Result<Self, String> {
        Ok(StatefulSet { spec: WorkloadSpec::from_raw(spec)?, status: part(status)? })
    }
}

/// A remembered template of a StatefulSet.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ControllerRevision {
    /// The patch that restores the template.
    pub data: Value,
    /// Position in the rollout history.
    pub revision: i64,
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
}
