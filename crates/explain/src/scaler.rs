//! State of an autoscaler, read from its status.

use crate::waits::Health;
use controllers::autoscaler_conditions::stabilizes;
use i18n::{Message, msg};
use k8s_model::Object;
use k8s_model::autoscaling::{HorizontalPodAutoscalerSpec, HorizontalPodAutoscalerStatus};

/// Describes an autoscaler's state: the number of Pods, its metrics, and what keeps it from the desired number.
pub fn state(scaler: &Object) -> Option<(Message, Health)> {
    let spec = HorizontalPodAutoscalerSpec::of(scaler)?;
    let status = HorizontalPodAutoscalerStatus::of(scaler);
    let Some(measured) = &status.current_metrics else {
        return Some((msg::standing_scaler_unmeasured(), Health::Waiting));
    };
    if status.current_replicas == 0 {
        return None;
    }
    // Within the tolerance of a tenth around its target it does not scale.
    let mut far = false;
    let metrics: Vec<Message> = spec
        .metrics
        .iter()
        .zip(measured)
        .filter_map(|(goal, now)| {
            let is = now.resource.as_ref()?.current.average_utilization?;
            let wanted = goal.resource.target.average_utilization?;
            far |= is * 10 > wanted * 11;
            Some(msg::standing_scaler_metric(
                goal.resource.name.as_str(),
                is,
                wanted,
            ))
        })
        .collect();
    if metrics.is_empty() {
        return None;
    }
    let told = msg::standing_scaler(i64::from(status.current_replicas), metrics);
    let limited = status.condition("ScalingLimited");
    let limited = limited.map(|condition| (condition.status.as_str(), condition.reason.as_str()));
    Some(match (stabilizes(scaler), limited) {
        (Some(seconds), _) => (
            msg::standing_scaler_stabilizes(told, seconds * 1000),
            Health::Waiting,
        ),
        (None, Some(("True", "TooManyReplicas"))) => (
            msg::standing_scaler_limited(told, i64::from(spec.max_replicas)),
            Health::Note,
        ),
        _ if far => (told, Health::Waiting),
        _ => (told, Health::Well),
    })
}
