//! Conditions of an autoscaler's status, and how long they may hold it back.

use k8s_model::Object;
use k8s_model::autoscaling::{
    HorizontalPodAutoscalerSpec, HorizontalPodAutoscalerStatus, ScalingBehavior,
};

/// Upstream's default of `stabilizationWindowSeconds` for scaling down.
const DEFAULT_WINDOW_SECONDS: i64 = 300;

fn behavior(scaler: &Object) -> ScalingBehavior {
    let spec = HorizontalPodAutoscalerSpec::of(scaler);
    spec.and_then(|spec| spec.behavior).unwrap_or_default()
}

/// Maximum number of seconds for which an older, higher recommendation still applies; `None` if it does not.
pub fn stabilizes(scaler: &Object) -> Option<i64> {
    let status = HorizontalPodAutoscalerStatus::of(scaler);
    let condition = status.condition("AbleToScale")?;
    (condition.reason == "ScaleDownStabilized").then(|| {
        let window = behavior(scaler).scale_down.stabilization_window_seconds;
        window.unwrap_or(DEFAULT_WINDOW_SECONDS)
    })
}

/// Maximum number of seconds for which its policies may limit scaling; `None` if they do not.
pub fn held_by_policies(scaler: &Object) -> Option<i64> {
    let status = HorizontalPodAutoscalerStatus::of(scaler);
    let condition = status.condition("ScalingLimited")?;
    let behavior = behavior(scaler);
    let rules = match (condition.status.as_str(), condition.reason.as_str()) {
        ("True", "ScaleUpLimit") => behavior.scale_up,
        ("True", "ScaleDownLimit") => behavior.scale_down,
        _ => return None,
    };
    rules
        .policies
        .iter()
        .map(|policy| policy.period_seconds)
        .max()
}
