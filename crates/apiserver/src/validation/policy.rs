//! Validation of PodDisruptionBudget, HorizontalPodAutoscaler, ResourceQuota, LimitRange, ConfigMap, Secret, APIService, FlowSchema and
//! CertificateSigningRequest, and of the status of a namespace.
//!
//! Models `pkg/apis/{policy,autoscaling,core,flowcontrol,certificates}/validation` and kube-aggregator's.

use super::admission::service_reference;
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
        let field = format!("spec.scaleTargetRef.{name}");
        match text(&spec["scaleTargetRef"], name) {
            "" => errors.required(&field, ""),
            value => errors.checked(&field, value, names::path_segment),
        }
    }
    let version = text(&spec["scaleTargetRef"], "apiVersion");
    let of_core =
        text(&spec["scaleTargetRef"], "kind") == "ReplicationController" && version == "v1";
    if version.matches('/').count() > 1 {
        let detail = format!("unexpected GroupVersion string: {version}");
        errors.invalid("spec.scaleTargetRef.apiVersion", version, detail);
    } else if !version.contains('/') && !of_core {
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
        // Said once for the type, and once for the source that it has not.
        return errors.unsupported(&format!("{field}.type"), kind, &METRICS);
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
fn keys(errors: &mut Errors, object: &Value) {
    for name in ["data", "binaryData"] {
        for key in object[name]
            .as_object()
            .into_iter()
            .flat_map(|map| map.keys())
        {
            errors.checked_all(&format!("{name}[{key}]"), key, names::config_key);
            if name == "data" && object["binaryData"].get(key).is_some() {
                errors.invalid(
                    &format!("data[{key}]"),
                    key.as_str(),
                    "duplicate of key present in binaryData",
                );
            }
        }
    }
}

/// Returns the sum of the sizes of a map's values in bytes.
fn data_bytes(map: &Value, size: impl Fn(&str) -> usize) -> usize {
    let values = map.as_object().into_iter().flatten();
    values
        .map(|(_, value)| value.as_str().map_or(0, &size))
        .sum()
}

/// Returns the number of bytes that a base64 text encodes.
fn decoded_bytes(text: &str) -> usize {
    text.trim_end_matches('=').len() * 3 / 4
}

/// Validates a Secret.
pub fn secret(errors: &mut Errors, object: &Value) {
    keys(errors, object);
    if data_bytes(&object["data"], decoded_bytes) > MAX_DATA_BYTES {
        errors.add(
            ErrorType::TooLong,
            "data",
            "",
            format!("may not be more than {MAX_DATA_BYTES} bytes"),
        );
    }
    of_type(errors, object);
}

/// Validates a ConfigMap.
pub fn config_map(errors: &mut Errors, object: &Value) {
    keys(errors, object);
    let plain = data_bytes(&object["data"], str::len);
    if plain + data_bytes(&object["binaryData"], decoded_bytes) > MAX_DATA_BYTES {
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
        "kubernetes.io/ssh-auth" => &["ssh-privatekey"],
        "kubernetes.io/basic-auth"
            if object["data"].get("username").is_none()
                && object["data"].get("password").is_none() =>
        {
            &["username", "password"]
        }
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
    let configuration = match kind {
        "kubernetes.io/dockerconfigjson" => ".dockerconfigjson",
        "kubernetes.io/dockercfg" => ".dockercfg",
        _ => "",
    };
    let content = object["data"].get(configuration).and_then(Value::as_str);
    if let Some(content) = content.and_then(k8s_model::base64::bytes)
        && let Some(problem) = k8s_model::go_json::map_error(&content)
    {
        errors.invalid(
            &format!("data[{configuration}]"),
            "<secret contents redacted>",
            problem,
        );
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
    scope_selector(errors, &spec["scopeSelector"]);
}

/// Validates the scope selector of a quota: `validateScopedResourceSelectorRequirement`.
fn scope_selector(errors: &mut Errors, selector: &Value) {
    let at = |name: &str| format!("spec.scopeSelector.matchExpressions.{name}");
    for requirement in list(selector, "matchExpressions") {
        let (scope, operator) = (
            text(requirement, "scopeName"),
            text(requirement, "operator"),
        );
        if !SCOPES.contains(&scope) && scope != "VolumeAttributesClass" {
            errors.invalid(&at("scopeName"), scope, "unsupported scope");
        }
        if SCOPES.contains(&scope) && scope != "PriorityClass" && operator != "Exists" {
            let detail = "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, \
                          ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";
            errors.invalid(&at("operator"), operator, detail);
        }
        let values = list(requirement, "values");
        match operator {
            "In" | "NotIn" if values.is_empty() => errors.required(
                &at("values"),
                "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
            ),
            "Exists" | "DoesNotExist" if !values.is_empty() => errors.invalid(
                &at("values"),
                values.to_vec(),
                "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector",
            ),
            "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
            _ => errors.invalid(&at("operator"), operator, "not a valid selector operator"),
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

/// Validates the name of a resource that a LimitRange limits: `validateLimitRangeResourceName`.
fn limited_name(errors: &mut Errors, kind: &str, name: &str, field: &str) {
    for detail in names::is_qualified_name(name) {
        errors.invalid(field, name, detail);
    }
    if name.contains('/') {
        return;
    }
    let is_of_container =
        matches!(name, "cpu" | "memory" | "ephemeral-storage") || name.starts_with("hugepages-");
    if !is_of_container && !LIMITED.contains(&name) && name != "storage" {
        let detail = "must be a standard resource type or fully qualified";
        errors.invalid(field, name, detail);
    }
    if matches!(kind, "Pod" | "Container") && !is_of_container {
        errors.invalid(field, name, "must be a standard resource for containers");
    }
}

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
        let mut named = |list: &str| {
            for (name, _) in limit[list].as_object().into_iter().flatten() {
                limited_name(errors, kind, name, &format!("{at}.{list}[{name}]"));
            }
        };
        ["max", "min"].into_iter().for_each(&mut named);
        if kind != "Pod" {
            ["default", "defaultRequest"]
                .into_iter()
                .for_each(&mut named);
        }
        named("maxLimitRequestRatio");
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
        for (name, ratio) in limit["maxLimitRequestRatio"]
            .as_object()
            .into_iter()
            .flatten()
        {
            if quantity(ratio) < Quantity::units(1) {
                let detail = format!("ratio {} is less than 1", quantity(ratio));
                let at = format!("{at}.maxLimitRequestRatio[{name}]");
                errors.invalid(&at, ratio.clone(), detail);
            }
        }
        let mut names: Vec<&String> = ["min", "max", "default", "defaultRequest"]
            .iter()
            .flat_map(|n| limit[*n].as_object())
            .flat_map(|m| m.keys())
            .collect();
        names.sort();
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

/// Validates an APIService: `kube-aggregator/pkg/apis/apiregistration/validation`.
pub fn api_service(errors: &mut Errors, object: &Value) {
    let (spec, name) = (&object["spec"], text(&object["metadata"], "name"));
    let (group, version) = (text(spec, "group"), text(spec, "version"));
    let required = format!("{version}.{group}");
    if !name.is_empty() && name != required {
        let detail = format!("must be `spec.version+\".\"+spec.group`: {required:?}");
        errors.invalid("metadata.name", name, detail);
    }
    if !group.is_empty() {
        errors.checked("spec.group", group, names::subdomain);
    } else if version != "v1" {
        errors.required(
            "spec.group",
            "only v1 may have an empty group and it better be legacy kube",
        );
    }
    errors.checked("spec.version", version, names::dns_1035_label);
    for (name, limit) in [("groupPriorityMinimum", 20_000), ("versionPriority", 1000)] {
        let priority = spec[name].as_i64().unwrap_or(0);
        if !(1..=limit).contains(&priority) {
            let detail = format!("must be positive and less than {limit}");
            errors.invalid(&format!("spec.{name}"), priority, detail);
        }
    }
    let (service, bundle) = (&spec["service"], text(spec, "caBundle"));
    let is_insecure = spec["insecureSkipTLSVerify"] == true;
    if service.is_null() {
        if !bundle.is_empty() {
            let size = k8s_model::base64::bytes(bundle).map_or(0, |bytes| bytes.len());
            let detail = "local APIServices may not have a caBundle";
            errors.invalid("spec.caBundle", format!("{size} bytes"), detail);
        }
        if is_insecure {
            errors.invalid(
                "spec.insecureSkipTLSVerify",
                true,
                "local APIServices may not have insecureSkipTLSVerify",
            );
        }
        return;
    }
    service_reference(errors, service, "spec.service", ["namespace", "name"]);
    if is_insecure && !bundle.is_empty() {
        errors.invalid(
            "spec.insecureSkipTLSVerify",
            true,
            "may not be true if caBundle is present",
        );
    }
}

/// Validates a FlowSchema but for its rules.
pub fn flow_schema(errors: &mut Errors, object: &Value) {
    const MAX_PRECEDENCE: i64 = 10_000;
    let (spec, name) = (&object["spec"], text(&object["metadata"], "name"));
    let precedence = spec["matchingPrecedence"].as_i64().unwrap_or(0);
    let mut refuse = |detail: &str| errors.invalid("spec.matchingPrecedence", precedence, detail);
    if precedence <= 0 {
        refuse("must be a positive value");
    }
    if precedence > MAX_PRECEDENCE {
        refuse(&format!("must not be greater than {MAX_PRECEDENCE}"));
    }
    if precedence == 1 && name != "exempt" {
        refuse("only the schema named 'exempt' may have matchingPrecedence 1");
    }
    let field = "spec.priorityLevelConfiguration.name";
    match text(&spec["priorityLevelConfiguration"], "name") {
        "" => errors.required(field, "must reference a priority level"),
        level => errors.checked(field, level, names::subdomain),
    }
}

/// Validates the status of a Namespace: `ValidateNamespaceStatusUpdate`.
pub fn namespace_status(errors: &mut Errors, object: &Value) {
    let is_deleted = has(&object["metadata"], "deletionTimestamp");
    let (expected, state) = match is_deleted {
        true => ("Terminating", "not empty"),
        false => ("Active", "empty"),
    };
    let phase = text(&object["status"], "phase");
    if phase != expected {
        let detail = format!("may only be '{expected}' if `deletionTimestamp` is {state}");
        errors.invalid("status.Phase", phase, detail);
    }
}

/// Usages of a certificate.
const KEY_USAGES: [&str; 23] = [
    "any",
    "cert sign",
    "client auth",
    "code signing",
    "content commitment",
    "crl sign",
    "data encipherment",
    "decipher only",
    "digital signature",
    "email protection",
    "encipher only",
    "ipsec end system",
    "ipsec tunnel",
    "ipsec user",
    "key agreement",
    "key encipherment",
    "microsoft sgc",
    "netscape sgc",
    "ocsp signing",
    "s/mime",
    "server auth",
    "signing",
    "timestamping",
];

/// Validates a CertificateSigningRequest but for the content of its PEM block: `pkg/apis/certificates/validation`.
pub fn certificate_request(errors: &mut Errors, object: &Value) {
    const HEADER: &str = "-----BEGIN CERTIFICATE REQUEST-----";
    let spec = &object["spec"];
    let request = text(spec, "request");
    let block = k8s_model::base64::bytes(request).unwrap_or_default();
    if !std::str::from_utf8(&block).is_ok_and(|block| block.contains(HEADER)) {
        errors.invalid(
            "spec.request",
            request,
            "PEM block type must be CERTIFICATE REQUEST",
        );
    }
    let usages = list(spec, "usages");
    if usages.is_empty() {
        errors.required("spec.usages", "");
    }
    for (index, usage) in usages.iter().enumerate() {
        let usage = usage.as_str().unwrap_or("");
        errors.one_of(&format!("spec.usages[{index}]"), usage, &KEY_USAGES);
    }
    for (index, usage) in usages.iter().enumerate() {
        if usages[..index].contains(usage) {
            errors.duplicate(&format!("spec.usages[{index}]"), usage.clone());
        }
    }
    signer_name(errors, text(spec, "signerName"), "spec.signerName");
    let expiration = &spec["expirationSeconds"];
    if expiration.as_i64().is_some_and(|seconds| seconds < 600) {
        errors.invalid(
            "spec.expirationSeconds",
            expiration.clone(),
            "may not specify a duration less than 600 seconds (10 minutes)",
        );
    }
    certificate_conditions(errors, object);
}

/// Validates the name of a signer: `ValidateSignerName` of `pkg/apis/core/validation`.
fn signer_name(errors: &mut Errors, name: &str, field: &str) {
    const FORM: &str =
        "must be a fully qualified domain and path of the form 'example.com/signer-name'";
    const LEGACY: &str = "kubernetes.io/legacy-unknown";
    if name.is_empty() {
        return errors.required(field, "");
    }
    if name == LEGACY {
        let detail = "the legacy signerName is not allowed via this API version";
        return errors.invalid(field, name, detail);
    }
    match name.split('/').collect::<Vec<_>>()[..] {
        [domain, path] if !path.is_empty() => {
            errors.checked(field, domain, names::subdomain);
            if domain.split('.').count() < 2 {
                let detail = "should be a domain with at least two segments separated by dots";
                errors.invalid(field, domain, detail);
            }
            for label in path.split('.') {
                errors.checked(field, label, names::label);
            }
        }
        _ => errors.invalid(field, name, FORM),
    }
}

/// Validates the conditions of a CertificateSigningRequest.
pub fn certificate_conditions(errors: &mut Errors, object: &Value) {
    let conditions = list(&object["status"], "conditions");
    for (index, condition) in conditions.iter().enumerate() {
        let at = |name: &str| format!("status.conditions[{index}].{name}");
        let (kind, status) = (text(condition, "type"), text(condition, "status"));
        if kind.is_empty() {
            errors.required(&at("type"), "");
        }
        let supported: &[&str] = match kind {
            "Approved" | "Denied" | "Failed" => &["True"],
            _ => &["False", "True", "Unknown"],
        };
        if status.is_empty() {
            errors.required(&at("status"), "");
        } else {
            errors.one_of(&at("status"), status, supported);
        }
        let is_kind = |other: &Value| text(other, "type") == kind;
        if conditions[..index].iter().any(is_kind) {
            errors.duplicate(&at("type"), kind);
        }
    }
}

/// Validates the status of a PodDisruptionBudget.
pub fn budget_status(errors: &mut Errors, object: &Value) {
    let status = &object["status"];
    meta::conditions(errors, list(status, "conditions"), "status.conditions");
    for name in [
        "disruptionsAllowed",
        "currentHealthy",
        "desiredHealthy",
        "expectedPods",
    ] {
        errors.not_negative(&format!("status.{name}"), &status[name]);
    }
}

/// Validates the status of a ResourceQuota.
pub fn quota_status(errors: &mut Errors, object: &Value) {
    for field in ["hard", "used"] {
        for (name, amount) in object["status"][field].as_object().into_iter().flatten() {
            if quantity(amount).is_negative() {
                let at = format!("status.{field}[{name}]");
                errors.invalid(&at, amount.clone(), super::NOT_NEGATIVE);
            }
        }
    }
}
