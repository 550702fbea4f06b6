//! State of an autoscaler, read from its status.

use crate::waits::Health;
use i18n::{Message, msg};
use k8s_model::{Body, Object};
use serde_json::Value;

/// Upstream's default of `stabilizationWindowSeconds` for scaling down.
const DEFAULT_WINDOW_SECONDS: i64 = 300;

/// Returns the status of a condition and its reason.
fn condition<'a>(scaler: &'a Object, kind: &str) -> (&'a str, &'a str) {
    let Body::Other(body) = &scaler.body else {
        return ("", "");
    };
    let all = body
        .get("status")
        .and_then(|status| status["conditions"].as_array())
        .into_iter()
        .flatten();
    let found = all.into_iter().find(|one| one["type"] == kind);
    let text = |name: &str| found.and_then(|one| one[name].as_str()).unwrap_or("");
    (text("status"), text("reason"))
}

/// Maximum number of seconds for which an older, higher recommendation still applies; `None` if it does not.
pub fn stabilizes(scaler: &Object) -> Option<i64> {
    let Body::Other(body) = &scaler.body else {
        return None;
    };
    let window = || {
        body.get("spec")
            .and_then(|spec| spec["behavior"]["scaleDown"]["stabilizationWindowSeconds"].as_i64())
    };
    (condition(scaler, "AbleToScale").1 == "ScaleDownStabilized")
        .then(|| window().unwrap_or(DEFAULT_WINDOW_SECONDS))
}

/// Maximum number of seconds for which its policies may limit scaling; `None` if they do not.
pub fn held_by_policies(scaler: &Object) -> Option<i64> {
    let Body::Other(body) = &scaler.body else {
        return None;
    };
    let direction = match condition(scaler, "ScalingLimited") {
        ("True", "ScaleUpLimit") => "scaleUp",
        ("True", "ScaleDownLimit") => "scaleDown",
        _ => return None,
    };
    let policies = body.get("spec")?["behavior"][direction]["policies"].as_array()?;
    policies
        .iter()
        .filter_map(|policy| policy["periodSeconds"].as_i64())
        .max()
}

/// Describes an autoscaler's state: the number of Pods, its metrics, and what keeps it from the desired number.
pub fn state(scaler: &Object) -> Option<(Message, Health)> {
    let Body::Other(body) = &scaler.body else {
        return None;
    };
    let (spec, status) = (
        body.get("spec")?,
        body.get("status").unwrap_or(&Value::Null),
    );
    if status["currentMetrics"].is_null() {
        return Some((msg::standing_scaler_unmeasured(), Health::Waiting));
    }
    let pods = status["currentReplicas"].as_i64()?;
    let measured = status["currentMetrics"].as_array().into_iter().flatten();
    let percent = |value: &Value, of: &str| value["resource"][of]["averageUtilization"].as_i64();
    // Within the tolerance of a tenth around its target it does not scale.
    let mut far = false;
    let metrics: Vec<Message> = spec["metrics"]
        .as_array()
        .into_iter()
        .flatten()
        .zip(measured)
        .filter_map(|(goal, now)| {
            let (is, wanted) = (percent(now, "current")?, percent(goal, "target")?);
            far |= is * 10 > wanted * 11;
            Some(msg::standing_scaler_metric(
                goal["resource"]["name"].as_str()?,
                is,
                wanted,
            ))
        })
        .collect();
    if metrics.is_empty() {
        return None;
    }
    let told = msg::standing_scaler(pods, metrics);
    Some(
        match (stabilizes(scaler), condition(scaler, "ScalingLimited")) {
            (Some(seconds), _) => (
                msg::standing_scaler_stabilizes(told, seconds * 1000),
                Health::Waiting,
            ),
            (None, ("True", "TooManyReplicas")) => (
                msg::standing_scaler_limited(told, spec["maxReplicas"].as_i64().unwrap_or(0)),
                Health::Note,
            ),
            _ if far => (told, Health::Waiting),
            _ => (told, Health::Well),
        },
    )
}
