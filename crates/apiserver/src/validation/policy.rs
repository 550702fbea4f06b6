//! Validation of PodDisruptionBudget, HorizontalPodAutoscaler, ResourceQuota, LimitRange, ConfigMap and Secret.
//!
//! Models `pkg/apis/{policy,autoscaling,core}/validation`.

use super::{ErrorType, Errors, has, list, meta, names, text, workloads};
use k8s_model::quantity::Quantity;
use serde_json::Value;

pub fn budget(errors: &mut Errors, spec: &Value) {
    if has(spec, "minAvailable") && has(spec, "maxUnavailable") {
        errors.invalid_struct(
            "spec",
            "policyv1.PodDisruptionBudgetSpec",
            spec,
            "minAvailable and maxUnavailable cannot be both set",
        );
    }
    for name in ["minAvailable", "maxUnavailable"] {
        let field = format!("spec.{name}");
        workloads::int_or_percent(errors, &spec[name], &field);
        workloads::not_above_hundred(errors, &spec[name], &field);
    }
    meta::selector(errors, &spec["selector"], "spec.selector");
    if has(spec, "unhealthyPodEvictionPolicy") {
        let policy = text(spec, "unhealthyPodEvictionPolicy");
        errors.one_of(
            "spec.unhealthyPodEvictionPolicy",
            policy,
            &["AlwaysAllow", "IfHealthyBudget"],
        );
    }
}

pub fn autoscaler(errors: &mut Errors, spec: &Value) {
    let least = spec["minReplicas"].as_i64();
    let most = spec["maxReplicas"].as_i64().unwrap_or(0);
    if least.is_some_and(|n| n < 1) {
        errors.invalid(
            "spec.minReplicas",
            spec["minReplicas"].clone(),
            "must be greater than or equal to 1",
        );
    }
    if most == 0 {
        errors.required("spec.maxReplicas", "must be set and greater than 0");
    } else if most < 0 {
        errors.invalid("spec.maxReplicas", most, "must be greater than 0");
    }
    if least.is_some_and(|n| most < n) {
        errors.invalid(
            "spec.maxReplicas",
            most,
            "must be greater than or equal to `minReplicas`",
        );
    }
    for name in ["kind", "name"] {
        if text(&spec["scaleTargetRef"], name).is_empty() {
            errors.required(&format!("spec.scaleTargetRef.{name}"), "");
        }
    }
    let version = text(&spec["scaleTargetRef"], "apiVersion");
    let of_core =
        text(&spec["scaleTargetRef"], "kind") == "ReplicationController" && version == "v1";
    if !version.contains('/') && !of_core {
        errors.invalid(
            "spec.scaleTargetRef.apiVersion",
            version,
            "apiVersion must specify API group",
        );
    }
    for (index, metric) in list(spec, "metrics").iter().enumerate() {
        metric_source(errors, metric, &format!("spec.metrics[{index}]"));
    }
    if least == Some(0)
        && !list(spec, "metrics")
            .iter()
            .any(|metric| matches!(text(metric, "type"), "Object" | "External"))
    {
        errors.forbidden("spec.metrics", "must specify at least one Object or External metric to support scaling to zero replicas");
    }
    for direction in ["scaleUp", "scaleDown"] {
        if has(&spec["behavior"], direction) {
            scaling(
                errors,
                &spec["behavior"][direction],
                &format!("spec.behavior.{direction}"),
            );
        }
    }
}

/// Validates the scaling rules of an autoscaler for one direction.
fn scaling(errors: &mut Errors, rules: &Value, field: &str) {
    let (window, at) = (
        &rules["stabilizationWindowSeconds"],
        format!("{field}.stabilizationWindowSeconds"),
    );
    if window.as_i64().is_some_and(|n| n < 0) {
        errors.invalid(&at, window.clone(), "must be greater than or equal to zero");
    }
    if window.as_i64().is_some_and(|n| n > 3600) {
        errors.invalid(&at, window.clone(), "must be less than or equal to 3600");
    }
    if has(rules, "selectPolicy") {
        errors.one_of(
            &format!("{field}.selectPolicy"),
            text(rules, "selectPolicy"),
            &["Disabled", "Max", "Min"],
        );
    }
    let policies = list(rules, "policies");
    if policies.is_empty() && rules["policies"].is_array() {
        errors.required(
            &format!("{field}.policies"),
            "must specify at least one Policy",
        );
    }
    for (index, policy) in policies.iter().enumerate() {
        let at = format!("{field}.policies[{index}]");
        errors.one_of(
            &format!("{at}.type"),
            text(policy, "type"),
            &["Percent", "Pods"],
        );
        for name in ["value", "periodSeconds"] {
            let number = policy[name].as_i64().unwrap_or(0);
            if number <= 0 {
                errors.invalid(&format!("{at}.{name}"), number, "must be greater than zero");
            }
            if name == "periodSeconds" && number > 1800 {
                errors.invalid(
                    &format!("{at}.{name}"),
                    number,
                    "must be less than or equal to 1800",
                );
            }
        }
    }
}

const METRICS: [&str; 5] = [
    "ContainerResource",
    "External",
    "Object",
    "Pods",
    "Resource",
];

fn metric_source(errors: &mut Errors, metric: &Value, field: &str) {
    let kind = text(metric, "type");
    if kind.is_empty() {
        return errors.required(
            &format!("{field}.type"),
            "must specify a metric source type",
        );
    }
    if !errors.one_of(&format!("{field}.type"), kind, &METRICS) {
        return;
    }
    let source = format!("{}{}", kind[..1].to_ascii_lowercase(), &kind[1..]);
    if !has(metric, &source) {
        return errors.required(
            &format!("{field}.{source}"),
            "must populate information for the given metric source",
        );
    }
    let at = format!("{field}.{source}");
    metric_target(errors, &metric[&source], &source, &at);
    elsewhere(errors, &metric[&source], &source, &at);
}

/// Validates the required fields of metrics other than resource metrics.
fn elsewhere(errors: &mut Errors, source: &Value, kind: &str, field: &str) {
    let (target, at) = (&source["target"], format!("{field}.target.averageValue"));
    let (value, average) = (has(target, "value"), has(target, "averageValue"));
    match kind {
        "object" => {
            for name in ["kind", "name"] {
                if text(&source["describedObject"], name).is_empty() {
                    errors.required(&format!("{field}.describedObject.{name}"), "");
                }
            }
            if !value && !average {
                errors.required(&at, "must set either a target value or averageValue");
            }
        }
        "pods" if !average || quantity(&target["averageValue"]) <= Quantity::ZERO => {
            errors.required(&at, "must specify a positive target averageValue");
        }
        "external" if !value && !average => {
            errors.required(
                &at,
                "must set either a target value for metric or a per-pod target",
            );
        }
        "external" if value && average => {
            errors.forbidden(
                &format!("{field}.target.value"),
                "may not set both a target value for metric and a per-pod target",
            );
        }
        _ => {}
    }
}

fn metric_target(errors: &mut Errors, source: &Value, kind: &str, field: &str) {
    let (target, at) = (&source["target"], format!("{field}.target"));
    if matches!(kind, "resource" | "containerResource") {
        for (name, detail) in [
            ("name", "must specify a resource name"),
            ("container", "must specify a container"),
        ] {
            if text(source, name).is_empty() && (name == "name" || kind != "resource") {
                errors.required(&format!("{field}.{name}"), detail);
            }
        }
    } else if text(&source["metric"], "name").is_empty() {
        errors.required(
            &format!("{field}.metric.name"),
            "must specify a metric name",
        );
    }
    match text(target, "type") {
        "" => errors.required(&format!("{at}.type"), "must specify a metric target type"),
        "Utilization" | "Value" | "AverageValue" => {}
        other => errors.invalid(
            &format!("{at}.type"),
            other,
            "must be either Utilization, Value, or AverageValue",
        ),
    }
    for name in ["value", "averageValue"] {
        if has(target, name) && quantity(&target[name]) <= Quantity::ZERO {
            errors.invalid(
                &format!("{at}.{name}"),
                target[name].clone(),
                "must be positive",
            );
        }
    }
    if target["averageUtilization"].as_i64().is_some_and(|n| n < 1) {
        errors.invalid(
            &format!("{at}.averageUtilization"),
            target["averageUtilization"].clone(),
            "must be greater than 0",
        );
    }
    if !matches!(kind, "resource" | "containerResource") {
        return;
    }
    match (
        has(target, "averageUtilization"),
        has(target, "averageValue"),
    ) {
        (false, false) => {
            let detail = "must set either a target raw value or a target utilization";
            errors.required(&format!("{at}.averageUtilization"), detail);
        }
        (true, true) => errors.forbidden(
            &format!("{at}.averageValue"),
            "may not set both a target raw value and a target utilization",
        ),
        _ => {}
    }
}

/// Validates the keys of a ConfigMap or Secret.
pub fn keys(errors: &mut Errors, object: &Value) {
    for name in ["data", "binaryData"] {
        for key in object[name]
            .as_object()
            .into_iter()
            .flat_map(|map| map.keys())
        {
            errors.checked(&format!("{name}[{key}]"), key, names::config_key);
            if name == "data" && object["binaryData"].get(key).is_some() {
                errors.invalid(
                    &format!("data[{key}]"),
                    key.as_str(),
                    "duplicate of key present in binaryData",
                );
            }
        }
    }
    let of = |name: &str| object[name].as_object().into_iter().flatten();
    let decoded = |value: &Value| {
        value
            .as_str()
            .map_or(0, |text| text.trim_end_matches('=').len() * 3 / 4)
    };
    if text(object, "kind") == "Secret" {
        if of("data").map(|(_, value)| decoded(value)).sum::<usize>() > MAX_DATA_BYTES {
            errors.add(
                ErrorType::TooLong,
                "data",
                "",
                format!("may not be more than {MAX_DATA_BYTES} bytes"),
            );
        }
        return of_type(errors, object);
    }
    let plain: usize = of("data")
        .map(|(_, value)| value.as_str().map_or(0, str::len))
        .sum();
    if plain
        + of("binaryData")
            .map(|(_, value)| decoded(value))
            .sum::<usize>()
        > MAX_DATA_BYTES
    {
        // The error is about the whole object.
        errors.add(
            ErrorType::TooLong,
            "[]",
            "",
            format!("may not be more than {MAX_DATA_BYTES} bytes"),
        );
    }
}

const MAX_DATA_BYTES: usize = 1024 * 1024;

/// Checks the required keys of a Secret of a known type.
fn of_type(errors: &mut Errors, object: &Value) {
    let kind = text(object, "type");
    let needed: &[&str] = match kind {
        "kubernetes.io/tls" => &["tls.crt", "tls.key"],
        "kubernetes.io/dockerconfigjson" => &[".dockerconfigjson"],
        "kubernetes.io/dockercfg" => &[".dockercfg"],
        _ => &[],
    };
    for key in needed
        .iter()
        .filter(|key| object["data"].get(**key).is_none())
    {
        errors.required(&format!("data[{key}]"), "");
    }
    let named = "kubernetes.io/service-account.name";
    if kind == "kubernetes.io/service-account-token"
        && text(&object["metadata"]["annotations"], named).is_empty()
    {
        errors.required(&format!("metadata.annotations[{named}]"), "");
    }
}

/// Resources that a quota can limit without a group in the name, besides `count/…`.
const LIMITED: [&str; 19] = [
    "cpu",
    "memory",
    "ephemeral-storage",
    "requests.cpu",
    "requests.memory",
    "requests.storage",
    "requests.ephemeral-storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "persistentvolumeclaims",
    "configmaps",
    "services.nodeports",
    "services.loadbalancers",
];

/// Scopes of Pods in pairs; a quota may not have both of a pair.
const SCOPES: [&str; 6] = [
    "BestEffort",
    "NotBestEffort",
    "Terminating",
    "NotTerminating",
    "PriorityClass",
    "CrossNamespacePodAffinity",
];

fn scopes(errors: &mut Errors, spec: &Value) {
    let (all, at) = (&spec["scopes"], "spec.scopes");
    let has = |scope: &str| list(spec, "scopes").iter().any(|other| other == scope);
    for scope in list(spec, "scopes")
        .iter()
        .map(|scope| scope.as_str().unwrap_or(""))
    {
        if !SCOPES.contains(&scope) && scope != "VolumeAttributesClass" {
            errors.invalid(at, all.clone(), "unsupported scope");
        }
        let fits = |resource: &str| match scope {
            "BestEffort" => resource == "pods",
            "VolumeAttributesClass" => {
                matches!(resource, "persistentvolumeclaims" | "requests.storage")
            }
            _ => matches!(
                resource,
                "pods"
                    | "cpu"
                    | "memory"
                    | "requests.cpu"
                    | "requests.memory"
                    | "limits.cpu"
                    | "limits.memory"
            ),
        };
        for resource in spec["hard"]
            .as_object()
            .into_iter()
            .flat_map(|map| map.keys())
        {
            if LIMITED.contains(&resource.as_str()) && !fits(resource) {
                errors.invalid(at, all.clone(), "unsupported scope applied to resource");
            }
        }
    }
    for pair in SCOPES[..4].chunks(2) {
        if pair.iter().all(|scope| has(scope)) {
            errors.invalid(at, all.clone(), "conflicting scopes");
        }
    }
}

pub fn quota(errors: &mut Errors, spec: &Value) {
    for (name, amount) in spec["hard"].as_object().into_iter().flatten() {
        let at = format!("spec.hard[{name}]");
        for detail in names::is_qualified_name(name) {
            errors.invalid(&at, name.as_str(), detail);
        }
        if !name.contains('/') && !LIMITED.contains(&name.as_str()) && !name.contains("hugepages-")
        {
            errors.invalid(
                &at,
                name.as_str(),
                "must be a standard resource type or fully qualified",
            );
            errors.invalid(&at, name.as_str(), "must be a standard resource for quota");
        }
        if quantity(amount).is_negative() {
            errors.invalid(&at, amount.clone(), super::NOT_NEGATIVE);
        }
        let counted = LIMITED[10..].contains(&name.as_str());
        if counted && !quantity(amount).is_whole() {
            errors.invalid(&at, amount.clone(), "must be an integer");
        }
    }
    scopes(errors, spec);
}

fn quantity(amount: &Value) -> Quantity {
    amount
        .as_str()
        .and_then(|text| Quantity::parse(text).ok())
        .unwrap_or(Quantity::ZERO)
}

/// Pairs of amounts of a limit: the first must not be above the second.
const ORDER: [(&str, &str, &str, &str, &str); 6] = [
    ("min", "max", "min", "min", "max"),
    (
        "min",
        "defaultRequest",
        "defaultRequest",
        "min",
        "default request",
    ),
    (
        "defaultRequest",
        "max",
        "defaultRequest",
        "default request",
        "max",
    ),
    (
        "defaultRequest",
        "default",
        "defaultRequest",
        "default request",
        "default limit",
    ),
    ("min", "default", "default", "min", "default"),
    ("default", "max", "default", "default", "max"),
];

pub fn limit_range(errors: &mut Errors, spec: &Value) {
    let all = list(spec, "limits");
    for (index, limit) in all.iter().enumerate() {
        let (at, kind) = (format!("spec.limits[{index}]"), text(limit, "type"));
        if all[..index].iter().any(|other| text(other, "type") == kind) {
            errors.duplicate(&format!("{at}.type"), kind);
        }
        if !kind.contains('/') && !matches!(kind, "Pod" | "Container" | "PersistentVolumeClaim") {
            errors.invalid(
                &format!("{at}.type"),
                kind,
                "must be a standard limit type or fully qualified",
            );
        }
        let sized = |name: &str| has(&limit[name], "storage");
        if kind == "PersistentVolumeClaim" && !sized("min") && !sized("max") {
            let detail =
                "either minimum or maximum storage value is required, but neither was provided";
            errors.required(&format!("{at}.limits"), detail);
        }
        for name in ["default", "defaultRequest"] {
            if kind == "Pod" && limit[name].as_object().is_some_and(|map| !map.is_empty()) {
                errors.forbidden(
                    &format!("{at}.{name}"),
                    "may not be specified when `type` is 'Pod'",
                );
            }
        }
        let mut names: Vec<&String> = ["min", "max", "default", "defaultRequest"]
            .iter()
            .flat_map(|n| limit[*n].as_object())
            .flat_map(|m| m.keys())
            .collect();
        k8s_model::sort::sort(&mut names);
        names.dedup();
        for name in names {
            for (low, high, shown, low_words, high_words) in ORDER {
                let (Some(less), Some(more)) = (limit[low].get(name), limit[high].get(name)) else {
                    continue;
                };
                if quantity(less) > quantity(more) {
                    let amount = |value: &Value| value.as_str().unwrap_or("").to_owned();
                    let value = if low == if shown == "default" { "min" } else { shown } {
                        less
                    } else {
                        more
                    };
                    let detail = format!(
                        "{low_words} value {} is greater than {high_words} value {}",
                        amount(less),
                        amount(more)
                    );
                    errors.invalid(&format!("{at}.{shown}[{name}]"), value.clone(), detail);
                }
            }
        }
    }
}
