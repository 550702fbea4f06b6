//! HorizontalPodAutoscalers (`autoscaling/v2`): stored as JSON, parsed on access.

use super::json::record;
use super::{Object, Str, Timestamp};
use serde_json::Value;

record! {
    /// `spec` of a HorizontalPodAutoscaler.
    #[derive(Clone, Debug, Default)]
    pub struct HorizontalPodAutoscalerSpec {
        pub scale_target_ref: CrossVersionObjectReference = "scaleTargetRef",
        pub min_replicas: Option<i32> = "minReplicas",
        pub max_replicas: i32 = "maxReplicas",
        pub metrics: Vec<MetricSpec> = "metrics",
        pub behavior: Option<ScalingBehavior> = "behavior",
    }

    /// Reference to an object in the namespace of its owner.
    #[derive(Clone, Debug, Default)]
    pub struct CrossVersionObjectReference {
        pub api_version: Str = "apiVersion",
        pub kind: Str = "kind",
        pub name: Str = "name",
    }

    /// Metric of the spec; the field that `kind` names is set.
    #[derive(Clone, Debug, Default)]
    pub struct MetricSpec {
        pub kind: Str = "type",
        pub resource: ResourceMetricSource = "resource",
        pub container_resource: ResourceMetricSource = "containerResource",
        pub pods: CustomMetricSource = "pods",
        pub object: CustomMetricSource = "object",
        pub external: CustomMetricSource = "external",
    }

    /// Resource usage of the Pods, or of one container of each.
    #[derive(Clone, Debug, Default)]
    pub struct ResourceMetricSource {
        pub name: Str = "name",
        pub container: Str = "container",
        pub target: MetricTarget = "target",
    }

    /// Metric of another API.
    #[derive(Clone, Debug, Default)]
    pub struct CustomMetricSource {
        pub metric: MetricIdentifier = "metric",
        pub described_object: CrossVersionObjectReference = "describedObject",
    }

    /// Name of a metric.
    #[derive(Clone, Debug, Default)]
    pub struct MetricIdentifier {
        pub name: Str = "name",
    }

    /// Target of a metric.
    #[derive(Clone, Debug, Default)]
    pub struct MetricTarget {
        /// Quantity; null without one.
        pub average_value: Value = "averageValue",
        pub average_utilization: Option<i64> = "averageUtilization",
    }

    /// Limits of scaling, by direction.
    #[derive(Clone, Debug, Default)]
    pub struct ScalingBehavior {
        pub scale_up: ScalingRules = "scaleUp",
        pub scale_down: ScalingRules = "scaleDown",
    }

    /// Rules of scaling in one direction.
    #[derive(Clone, Debug, Default)]
    pub struct ScalingRules {
        pub stabilization_window_seconds: Option<i64> = "stabilizationWindowSeconds",
        pub select_policy: Str = "selectPolicy",
        pub policies: Vec<ScalingPolicy> = "policies",
        /// Quantity; null without one.
        pub tolerance: Value = "tolerance",
    }

    /// Largest change within a period.
    #[derive(Clone, Debug, Default)]
    pub struct ScalingPolicy {
        /// Policy type, `Pods` or `Percent`.
        pub kind: Str = "type",
        pub value: i64 = "value",
        pub period_seconds: i64 = "periodSeconds",
    }

    /// `status` of a HorizontalPodAutoscaler.
    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct HorizontalPodAutoscalerStatus {
        pub conditions: Vec<HorizontalPodAutoscalerCondition> = "conditions" omitempty,
        pub current_metrics: Option<Vec<MetricStatus>> = "currentMetrics",
        pub current_replicas: i32 = "currentReplicas" omitempty,
        pub desired_replicas: i32 = "desiredReplicas",
        pub last_scale_time: Option<Timestamp> = "lastScaleTime" omitempty,
        pub observed_generation: Option<i64> = "observedGeneration" omitempty,
    }

    /// Condition of a HorizontalPodAutoscaler.
    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct HorizontalPodAutoscalerCondition {
        pub last_transition_time: Option<Timestamp> = "lastTransitionTime",
        pub message: Str = "message" omitempty,
        pub reason: Str = "reason" omitempty,
        pub status: Str = "status",
        pub kind: Str = "type",
    }

    /// Measured metric; neither part is set if it could not be read.
    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct MetricStatus {
        pub container_resource: Option<ResourceMetricStatus> = "containerResource" omitempty,
        pub resource: Option<ResourceMetricStatus> = "resource" omitempty,
        pub kind: Str = "type",
    }

    /// Measured resource usage.
    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct ResourceMetricStatus {
        pub container: Str = "container" omitempty,
        pub current: MetricValueStatus = "current",
        pub name: Str = "name",
    }

    /// Measured value, as an average over the Pods.
    #[derive(Clone, PartialEq, Debug, Default)]
    pub struct MetricValueStatus {
        pub average_utilization: Option<i64> = "averageUtilization" omitempty,
        /// Quantity.
        pub average_value: Str = "averageValue" omitempty,
    }
}

impl HorizontalPodAutoscalerSpec {
    /// Parses the spec; `None` if it does not decode.
    pub fn of(scaler: &Object) -> Option<HorizontalPodAutoscalerSpec> {
        scaler.part("spec")
    }
}

impl HorizontalPodAutoscalerStatus {
    /// Parses the status; the default if it does not decode.
    pub fn of(scaler: &Object) -> HorizontalPodAutoscalerStatus {
        scaler.part("status").unwrap_or_default()
    }

    /// Replaces the status.
    pub fn put(&self, scaler: &mut Object) {
        scaler.put_part("status", self);
    }

    /// Returns the condition of a type.
    pub fn condition(&self, kind: &str) -> Option<&HorizontalPodAutoscalerCondition> {
        self.conditions
            .iter()
            .find(|condition| condition.kind == kind)
    }

    /// Sets a condition; its transition time changes with its status.
    pub fn set_condition(&mut self, new: HorizontalPodAutoscalerCondition) {
        match self.conditions.iter_mut().find(|old| old.kind == new.kind) {
            Some(old) => {
                let since = old
                    .last_transition_time
                    .filter(|_| old.status == new.status);
                *old = HorizontalPodAutoscalerCondition {
                    last_transition_time: since.or(new.last_transition_time),
                    ..new
                };
            }
            None => self.conditions.push(new),
        }
    }
}
