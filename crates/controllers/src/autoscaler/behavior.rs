//! Scaling behavior: limits, policies and stabilization windows.
//!
//! Models `normalizeDesiredReplicas…` of `pkg/controller/podautoscaler/horizontal.go`.

use k8s_model::Time;
use k8s_model::autoscaling::{ScalingBehavior, ScalingRules};
use k8s_model::time::SECOND;
use std::collections::BTreeMap;

/// Default stabilization window of a scale-down, in seconds.
const DEFAULT_DOWN_WINDOW_S: i64 = 300;

/// Recommendations and scaling events of one autoscaler, by their times.
#[derive(Clone, Default, Debug)]
pub struct ScaleHistory {
    recommendations: BTreeMap<Time, i32>,
    scale_ups: BTreeMap<Time, i32>,
    scale_downs: BTreeMap<Time, i32>,
}

impl ScaleHistory {
    /// Returns true if nothing is recorded.
    pub fn is_empty(&self) -> bool {
        self.recommendations.is_empty() && self.scale_ups.is_empty() && self.scale_downs.is_empty()
    }

    /// Records a recommended size.
    pub fn recommend(&mut self, time: Time, replicas: i32) {
        self.recommendations.insert(time, replicas);
    }

    /// Records a scaling event.
    pub fn scaled(&mut self, time: Time, from: i32, to: i32) {
        if to > from {
            self.scale_ups.insert(time, to - from);
        } else {
            self.scale_downs.insert(time, from - to);
        }
    }

    /// Drops recommendations and scaling events older than the given ages, in seconds.
    fn forget(&mut self, now: Time, recommendations: i64, events: i64) {
        let keep = |entries: &mut BTreeMap<Time, i32>, seconds: i64| {
            entries.retain(|time, _| now.0.saturating_sub(time.0) <= micros(seconds));
        };
        keep(&mut self.recommendations, recommendations);
        keep(&mut self.scale_ups, events);
        keep(&mut self.scale_downs, events);
    }

    /// Returns the recommendations of the last `seconds`.
    fn recent(&self, now: Time, seconds: i64) -> impl Iterator<Item = i64> {
        since(&self.recommendations, now, seconds)
    }

    /// Returns the number of replicas at the beginning of a period that ends now.
    fn start_of(&self, now: Time, seconds: i64, current: i64) -> i64 {
        current - since(&self.scale_ups, now, seconds).sum::<i64>()
            + since(&self.scale_downs, now, seconds).sum::<i64>()
    }
}

/// Returns the values of the last `seconds`.
fn since(entries: &BTreeMap<Time, i32>, now: Time, seconds: i64) -> impl Iterator<Item = i64> {
    let recent = move |(time, _): &(&Time, &i32)| now.0.saturating_sub(time.0) < micros(seconds);
    entries
        .iter()
        .filter(recent)
        .map(|(_, value)| i64::from(*value))
}

fn micros(seconds: i64) -> u64 {
    (seconds.max(0) as u64).saturating_mul(SECOND)
}

/// Status, reason and message of a condition.
pub type ConditionText = (&'static str, &'static str, &'static str);

const READY: ConditionText = (
    "True",
    "ReadyForNewScale",
    "recommended size matches current size",
);
const WITHIN: ConditionText = (
    "False",
    "DesiredWithinRange",
    "the desired count is within the acceptable range",
);
const UP_STABILIZED: ConditionText = (
    "True",
    "ScaleUpStabilized",
    "recent recommendations were lower than current one, applying the lowest recent recommendation",
);
const DOWN_STABILIZED: ConditionText = (
    "True",
    "ScaleDownStabilized",
    "recent recommendations were higher than current one, applying the highest recent recommendation",
);
const UP_LIMIT: ConditionText = (
    "True",
    "ScaleUpLimit",
    "the desired replica count is increasing faster than the maximum scale rate",
);
const TOO_MANY: ConditionText = (
    "True",
    "TooManyReplicas",
    "the desired replica count is more than the maximum replica count",
);
const DOWN_LIMIT: ConditionText = (
    "True",
    "ScaleDownLimit",
    "the desired replica count is decreasing faster than the maximum scale rate",
);
const TOO_FEW: ConditionText = (
    "True",
    "TooFewReplicas",
    "the desired replica count is less than the minimum replica count",
);

/// Returns the size allowed now for the desired one, with the conditions `AbleToScale` and `ScalingLimited`.
pub fn normalize(
    behavior: Option<&ScalingBehavior>,
    history: &mut ScaleHistory,
    now: Time,
    current: i32,
    wanted: i32,
    least: i32,
    most: i32,
) -> (i32, ConditionText, ConditionText) {
    let (stable, able) = match behavior {
        None => stabilize_down(history, now, wanted),
        Some(behavior) => stabilize(behavior, history, now, current, wanted),
    };
    let (allowed, limited) = match behavior {
        None => limit_simply(current, stable, least, most),
        Some(behavior) => limit(behavior, history, now, current, stable, least, most),
    };
    // A limit that changes nothing is reported as False.
    (
        allowed,
        able,
        if allowed == stable {
            ("False", limited.1, limited.2)
        } else {
            limited
        },
    )
}

fn stabilize_down(history: &mut ScaleHistory, now: Time, wanted: i32) -> (i32, ConditionText) {
    history.forget(now, DEFAULT_DOWN_WINDOW_S, 0);
    let highest = history
        .recent(now, DEFAULT_DOWN_WINDOW_S)
        .max()
        .unwrap_or(0)
        .max(i64::from(wanted)) as i32;
    history.recommend(now, wanted);
    (
        highest,
        if highest == wanted {
            READY
        } else {
            DOWN_STABILIZED
        },
    )
}

fn stabilize(
    behavior: &ScalingBehavior,
    history: &mut ScaleHistory,
    now: Time,
    current: i32,
    wanted: i32,
) -> (i32, ConditionText) {
    let up = behavior.scale_up.stabilization_window_seconds.unwrap_or(0);
    let down = behavior
        .scale_down
        .stabilization_window_seconds
        .unwrap_or(DEFAULT_DOWN_WINDOW_S);
    let longest = |rules: &ScalingRules| {
        rules
            .policies
            .iter()
            .map(|p| p.period_seconds)
            .max()
            .unwrap_or(0)
    };
    history.forget(
        now,
        up.max(down),
        longest(&behavior.scale_up).max(longest(&behavior.scale_down)),
    );
    let lowest = history
        .recent(now, up)
        .min()
        .unwrap_or(i64::MAX)
        .min(i64::from(wanted)) as i32;
    let highest = history
        .recent(now, down)
        .max()
        .unwrap_or(0)
        .max(i64::from(wanted)) as i32;
    history.recommend(now, wanted);
    let stable = current.max(lowest).min(highest);
    let said = match () {
        () if stable == wanted => READY,
        () if wanted >= current => UP_STABILIZED,
        () => DOWN_STABILIZED,
    };
    (stable, said)
}

/// Limits a scale-up without a behavior to double the size, but at least four.
fn limit_simply(current: i32, wanted: i32, least: i32, most: i32) -> (i32, ConditionText) {
    let fastest = current.saturating_mul(2).max(4);
    let (top, said) = if most > fastest {
        (fastest, UP_LIMIT)
    } else {
        (most, TOO_MANY)
    };
    match () {
        () if wanted < least => (least, TOO_FEW),
        () if wanted > top => (top, said),
        () => (wanted, WITHIN),
    }
}

fn limit(
    behavior: &ScalingBehavior,
    history: &ScaleHistory,
    now: Time,
    current: i32,
    wanted: i32,
    least: i32,
    most: i32,
) -> (i32, ConditionText) {
    if wanted > current {
        let fastest = fastest(&behavior.scale_up, history, now, current, true).max(current);
        let (top, said) = if most > fastest {
            (fastest, UP_LIMIT)
        } else {
            (most, TOO_MANY)
        };
        if wanted > top {
            return (top, said);
        }
    } else if wanted < current {
        let fastest = fastest(&behavior.scale_down, history, now, current, false).min(current);
        let (bottom, said) = if least < fastest {
            (fastest, DOWN_LIMIT)
        } else {
            (least, TOO_FEW)
        };
        if wanted < bottom {
            return (bottom, said);
        }
    }
    (wanted, WITHIN)
}

/// Returns the size that the policies allow, chosen among them by `selectPolicy`.
fn fastest(rules: &ScalingRules, history: &ScaleHistory, now: Time, current: i32, up: bool) -> i32 {
    if rules.select_policy == "Disabled" {
        return current;
    }
    let sizes = rules.policies.iter().map(|policy| {
        let start = history.start_of(now, policy.period_seconds, i64::from(current));
        match (policy.kind.as_str(), up) {
            ("Pods", true) => start + policy.value,
            ("Pods", false) => start - policy.value,
            // Rounded up, or the size would never grow: 1 Pod plus 10 % is 2.
            (_, true) => (start as f64 * (1.0 + policy.value as f64 / 100.0)).ceil() as i64,
            (_, false) => (start as f64 * (1.0 - policy.value as f64 / 100.0)) as i64,
        }
    });
    // The smallest change is the lower size going up and the higher one going down.
    let size = if up == (rules.select_policy == "Min") {
        sizes.min()
    } else {
        sizes.max()
    };
    size.unwrap_or(i64::from(current))
        .clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_model::json;
    use serde_json::json;

    fn behavior() -> ScalingBehavior {
        let four = json!({ "type": "Pods", "value": 4, "periodSeconds": 15 });
        let double = json!({ "type": "Percent", "value": 100, "periodSeconds": 15 });
        let value = json!({ "scaleUp": { "stabilizationWindowSeconds": 0, "selectPolicy": "Max", "policies": [four, double] },
            "scaleDown": { "stabilizationWindowSeconds": 15, "selectPolicy": "Max", "policies": [double] } });
        json::read(&value).unwrap()
    }

    #[test]
    fn a_size_grows_by_the_fastest_policy_and_shrinks_after_its_window() {
        let (behavior, mut history) = (behavior(), ScaleHistory::default());
        let mut at = |seconds: u64, current: i32, wanted: i32| {
            let now = Time(seconds * SECOND);
            let (size, able, limited) =
                normalize(Some(&behavior), &mut history, now, current, wanted, 1, 8);
            if size != current {
                history.scaled(now, current, size);
            }
            (size, able.1, limited.0, limited.1)
        };
        assert_eq!(at(0, 1, 7), (5, "ReadyForNewScale", "True", "ScaleUpLimit"));
        assert_eq!(
            at(15, 5, 7),
            (7, "ReadyForNewScale", "False", "DesiredWithinRange")
        );
        assert_eq!(
            at(16, 7, 9),
            (8, "ReadyForNewScale", "True", "TooManyReplicas")
        );
        assert_eq!(
            at(20, 8, 1),
            (8, "ScaleDownStabilized", "False", "DesiredWithinRange")
        );
        assert_eq!(
            at(36, 8, 1),
            (1, "ReadyForNewScale", "False", "DesiredWithinRange")
        );
    }

    #[test]
    fn without_a_behavior_it_doubles_at_most_and_waits_five_minutes_to_shrink() {
        let mut history = ScaleHistory::default();
        let mut at = |seconds: u64, current: i32, wanted: i32| {
            let now = Time(seconds * SECOND);
            let (size, able, limited) = normalize(None, &mut history, now, current, wanted, 2, 20);
            (size, able.1, limited.1)
        };
        assert_eq!(at(0, 3, 10), (6, "ReadyForNewScale", "ScaleUpLimit"));
        assert_eq!(
            at(15, 6, 5),
            (10, "ScaleDownStabilized", "DesiredWithinRange")
        );
        assert_eq!(
            at(310, 10, 1),
            (5, "ScaleDownStabilized", "DesiredWithinRange")
        );
        assert_eq!(at(700, 5, 1), (2, "ReadyForNewScale", "TooFewReplicas"));
    }
}
