//! PodDisruptionBudget, HorizontalPodAutoscaler, ResourceQuota, LimitRange, ConfigMap and Secret.
//!
//! Models `pkg/apis/{policy,autoscaling,core}/validation`.

use super::{Errors, Fault, has, list, meta, names, text, workloads};
use crate::api::quantity::Quantity;
use serde_json::{Value, json};

pub fn budget(errors: &mut Errors, spec: &Value) {
    if has(spec, "minAvailable") && has(spec, "maxUnavailable") {
        let shown = json!({"MinAvailable": spec["minAvailable"], "Selector": spec["selector"],
            "MaxUnavailable": spec["maxUnavailable"], "UnhealthyPodEvictionPolicy": spec["unhealthyPodEvictionPolicy"]});
        let order = ["MinAvailable", "Selector", "MaxUnavailable", "UnhealthyPodEvictionPolicy"];
        errors.add(Fault::Invalid, "spec", super::ordered(&shown, &order), "minAvailable and maxUnavailable cannot be both set");
    }
    for name in ["minAvailable", "maxUnavailable"] {
        let field = format!("spec.{name}");
        workloads::int_or_percent(errors, &spec[name], &field);
        workloads::not_above_hundred(errors, &spec[name], &field);
    }
    meta::selector(errors, &spec["selector"], "spec.selector");
}

pub fn autoscaler(errors: &mut Errors, spec: &Value) {
    let least = spec["minReplicas"].as_i64();
    let most = spec["maxReplicas"].as_i64().unwrap_or(0);
    if least.is_some_and(|n| n < 1) {
        errors.invalid("spec.minReplicas", spec["minReplicas"].clone(), "must be greater than or equal to 1");
    }
    if most < 1 {
        errors.invalid("spec.maxReplicas", most, "must be greater than 0");
    }
    if least.is_some_and(|n| most < n) {
        errors.invalid("spec.maxReplicas", most, "must be greater than or equal to `minReplicas`");
    }
    for name in ["kind", "name"] {
        if text(&spec["scaleTargetRef"], name).is_empty() {
            errors.required(&format!("spec.scaleTargetRef.{name}"), "");
        }
    }
    for (index, metric) in list(spec, "metrics").iter().enumerate() {
        metric_source(errors, metric, &format!("spec.metrics[{index}]"));
    }
}

const METRICS: [&str; 5] = ["ContainerResource", "External", "Object", "Pods", "Resource"];

fn metric_source(errors: &mut Errors, metric: &Value, field: &str) {
    let kind = text(metric, "type");
    if kind.is_empty() {
        return errors.required(&format!("{field}.type"), "must specify a metric source type");
    }
    if !errors.one_of(&format!("{field}.type"), kind, &METRICS) {
        return;
    }
    let source = format!("{}{}", kind[..1].to_ascii_lowercase(), &kind[1..]);
    if !has(metric, &source) {
        return errors.required(&format!("{field}.{source}"), "must populate information for the given metric source");
    }
    let target = &metric[&source]["target"];
    let at = format!("{field}.{source}.target");
    errors.one_of(&format!("{at}.type"), text(target, "type"), &["AverageValue", "Utilization", "Value"]);
    if target["averageUtilization"].as_i64().is_some_and(|n| n < 1) {
        errors.invalid(&format!("{at}.averageUtilization"), target["averageUtilization"].clone(), "must be greater than 0");
    }
}

/// The keys of a ConfigMap or Secret.
pub fn keys(errors: &mut Errors, object: &Value) {
    for name in ["data", "binaryData"] {
        for key in object[name].as_object().into_iter().flat_map(|map| map.keys()) {
            errors.checked(&format!("{name}[{key}]"), key, names::config_key);
        }
    }
}

pub fn quota(errors: &mut Errors, spec: &Value) {
    for (name, amount) in spec["hard"].as_object().into_iter().flatten() {
        for detail in names::is_qualified_name(name) {
            errors.invalid("spec.hard", name.as_str(), detail);
        }
        if quantity(amount).is_negative() {
            errors.invalid(&format!("spec.hard[{name}]"), amount.clone(), super::NOT_NEGATIVE);
        }
    }
}

fn quantity(amount: &Value) -> Quantity {
    amount.as_str().and_then(|text| Quantity::parse(text).ok()).unwrap_or(Quantity::ZERO)
}

pub fn limit_range(errors: &mut Errors, spec: &Value) {
    for (index, limit) in list(spec, "limits").iter().enumerate() {
        let at = format!("spec.limits[{index}]");
        for (name, most) in limit["max"].as_object().into_iter().flatten() {
            for (kind, relation) in [("min", "min"), ("default", "default"), ("defaultRequest", "default request")] {
                let Some(amount) = limit[kind].get(name) else {
                    continue;
                };
                if quantity(amount) > quantity(most) {
                    let shown = amount.as_str().unwrap_or("");
                    let detail = format!("{relation} value {shown} is greater than max value {}", most.as_str().unwrap_or(""));
                    errors.invalid(&format!("{at}.{kind}[{name}]"), shown, detail);
                }
            }
        }
    }
}
