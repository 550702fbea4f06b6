//! Validation of Deployment, ReplicaSet, ReplicationController, StatefulSet and DaemonSet.
//!
//! Models `pkg/apis/apps/validation/validation.go`.

use super::{Errors, inner, list, meta, pod, storage, text};
use k8s_model::names;
use serde_json::{Value, json};

const NO_MATCH: &str = "`selector` does not match template `labels`";

pub fn deployment(errors: &mut Errors, spec: &Value) {
    errors.not_negative("spec.replicas", &spec["replicas"]);
    selector(errors, spec, "empty selector is invalid for deployment");
    template(errors, spec, &[]);
    strategy(errors, &spec["strategy"]);
    errors.not_negative("spec.minReadySeconds", &spec["minReadySeconds"]);
    errors.not_negative("spec.revisionHistoryLimit", &spec["revisionHistoryLimit"]);
    let deadline = &spec["progressDeadlineSeconds"];
    errors.not_negative("spec.progressDeadlineSeconds", deadline);
    if deadline
        .as_i64()
        .is_some_and(|n| n <= spec["minReadySeconds"].as_i64().unwrap_or(0))
    {
        errors.invalid(
            "spec.progressDeadlineSeconds",
            deadline.clone(),
            "must be greater than minReadySeconds",
        );
    }
}

fn selector(errors: &mut Errors, spec: &Value, empty: &str) {
    if spec["selector"].is_null() {
        return errors.required("spec.selector", "");
    }
    meta::selector(errors, &spec["selector"], "spec.selector");
    if meta::is_empty_selector(&spec["selector"]) {
        errors.invalid("spec.selector", spec["selector"].clone(), empty);
    }
}

/// Checks that the template matches the selector, is valid, and has restartPolicy Always.
fn template(errors: &mut Errors, spec: &Value, claims: &[String]) {
    let template = &spec["template"];
    // An absent selector selects nothing.
    if spec["selector"].is_null() {
        errors.invalid(
            "spec.template.metadata.labels",
            template["metadata"]["labels"].clone(),
            NO_MATCH,
        );
    } else if !meta::is_empty_selector(&spec["selector"]) {
        fits(errors, &spec["selector"], &template["metadata"]["labels"]);
    }
    pod::template(errors, template, "spec.template", claims);
    let policy = text(&template["spec"], "restartPolicy");
    if policy != "Always" {
        errors.unsupported("spec.template.spec.restartPolicy", policy, &["Always"]);
    }
    if template["spec"]["activeDeadlineSeconds"].is_i64() {
        errors.forbidden(
            "spec.template.spec.activeDeadlineSeconds",
            "activeDeadlineSeconds in ReplicaSet is not Supported",
        );
    }
}

/// Checks that the labels of a template satisfy the selector.
pub fn fits(errors: &mut Errors, selector: &Value, labels: &Value) {
    if !meta::matches(selector, labels) {
        errors.invalid("spec.template.metadata.labels", labels.clone(), NO_MATCH);
    }
}

fn strategy(errors: &mut Errors, strategy: &Value) {
    let rolling = &strategy["rollingUpdate"];
    match text(strategy, "type") {
        "Recreate" if !rolling.is_null() => {
            errors.forbidden(
                "spec.strategy.rollingUpdate",
                "may not be specified when strategy `type` is 'Recreate'",
            );
        }
        "Recreate" => {}
        "RollingUpdate" => rolling_update(errors, rolling, "spec.strategy.rollingUpdate", true),
        _ => {
            let shown = inner::text("appsv1.DeploymentStrategy", strategy);
            errors.unsupported_text("spec.strategy", shown, &["Recreate", "RollingUpdate"]);
        }
    }
}

fn rolling_update(errors: &mut Errors, rolling: &Value, field: &str, zero_forbidden: bool) {
    for name in ["maxUnavailable", "maxSurge"] {
        int_or_percent(errors, &rolling[name], &format!("{field}.{name}"));
    }
    let number = |name: &str| percent_or_int(&rolling[name]);
    if zero_forbidden && number("maxUnavailable") == Some(0) && number("maxSurge") == Some(0) {
        let value = rolling["maxUnavailable"].clone();
        errors.invalid(
            &format!("{field}.maxUnavailable"),
            value,
            "may not be 0 when `maxSurge` is 0",
        );
    }
    not_above_hundred(
        errors,
        &rolling["maxUnavailable"],
        &format!("{field}.maxUnavailable"),
    );
}

fn percent_or_int(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| {
        value
            .as_str()
            .and_then(|text| text.strip_suffix('%'))
            .and_then(|n| n.parse().ok())
    })
}

/// Validates a count or a percentage, not negative.
pub fn int_or_percent(errors: &mut Errors, value: &Value, field: &str) {
    if let Some(text) = value.as_str() {
        if let Some(detail) = names::percent(text) {
            errors.invalid(field, value.clone(), detail);
        }
    } else {
        errors.not_negative(field, value);
    }
}

/// Checks that a percentage is at most 100 %.
pub fn not_above_hundred(errors: &mut Errors, value: &Value, field: &str) {
    if value.is_string() && percent_or_int(value).is_some_and(|n| n > 100) {
        errors.invalid(field, value.clone(), "must not be greater than 100%");
    }
}

pub fn replica_set(errors: &mut Errors, spec: &Value) {
    errors.not_negative("spec.replicas", &spec["replicas"]);
    errors.not_negative("spec.minReadySeconds", &spec["minReadySeconds"]);
    selector(errors, spec, "empty selector is invalid for deployment");
    if spec["template"].is_null() {
        return errors.required("spec.template", "");
    }
    template(errors, spec, &[]);
}

pub fn replication_controller(errors: &mut Errors, spec: &Value) {
    errors.not_negative("spec.minReadySeconds", &spec["minReadySeconds"]);
    let labels = spec["selector"].as_object();
    if labels.is_none_or(serde_json::Map::is_empty) {
        errors.required("spec.selector", "");
    }
    errors.not_negative("spec.replicas", &spec["replicas"]);
    if spec["template"].is_null() {
        return errors.required("spec.template", "");
    }
    let as_selector = json!({"matchLabels": spec["selector"]});
    if labels.is_some() {
        fits(
            errors,
            &as_selector,
            &spec["template"]["metadata"]["labels"],
        );
    }
    template(
        errors,
        &json!({"selector": as_selector, "template": spec["template"]}),
        &[],
    );
}

pub fn stateful_set(errors: &mut Errors, spec: &Value) {
    let policy = text(spec, "podManagementPolicy");
    if !matches!(policy, "OrderedReady" | "Parallel") {
        errors.invalid(
            "spec.podManagementPolicy",
            policy,
            "must be 'OrderedReady' or 'Parallel'",
        );
    }
    stateful_strategy(errors, &spec["updateStrategy"]);
    for name in ["whenDeleted", "whenScaled"] {
        let field = format!("spec.persistentVolumeClaimRetentionPolicy.{name}");
        errors.one_of(
            &field,
            text(&spec["persistentVolumeClaimRetentionPolicy"], name),
            &["Retain", "Delete"],
        );
    }
    errors.not_negative("spec.replicas", &spec["replicas"]);
    errors.not_negative("spec.minReadySeconds", &spec["minReadySeconds"]);
    errors.not_negative("spec.ordinals.start", &spec["ordinals"]["start"]);
    if !text(spec, "serviceName").is_empty() {
        errors.checked("spec.serviceName", text(spec, "serviceName"), names::label);
    }
    selector(errors, spec, "empty selector is invalid for statefulset");
    let mut claims = Vec::new();
    for (index, claim) in list(spec, "volumeClaimTemplates").iter().enumerate() {
        let field = format!("spec.volumeClaimTemplates[{index}]");
        let name = text(&claim["metadata"], "name");
        if name.is_empty() {
            errors.required(&format!("{field}.metadata.name"), "");
        }
        claims.push(name.to_owned());
        storage::claim(errors, &claim["spec"], &format!("{field}.spec"));
    }
    template(errors, spec, &claims);
}

fn stateful_strategy(errors: &mut Errors, strategy: &Value) {
    let rolling = &strategy["rollingUpdate"];
    match text(strategy, "type") {
        "" => errors.required("spec.updateStrategy", ""),
        "OnDelete" if !rolling.is_null() => {
            let shown = json!({"partition": rolling["partition"].as_i64().unwrap_or(0), "maxUnavailable": rolling["maxUnavailable"]});
            let detail = "only allowed for updateStrategy 'RollingUpdate'";
            errors.invalid_struct(
                "spec.updateStrategy.rollingUpdate",
                "appsv1.RollingUpdateStatefulSetStrategy",
                &shown,
                detail,
            );
        }
        "OnDelete" => {}
        "RollingUpdate" => {
            errors.not_negative(
                "spec.updateStrategy.rollingUpdate.partition",
                &rolling["partition"],
            );
            let field = "spec.updateStrategy.rollingUpdate.maxUnavailable";
            int_or_percent(errors, &rolling["maxUnavailable"], field);
            not_above_hundred(errors, &rolling["maxUnavailable"], field);
        }
        _ => {
            let detail = "must be 'RollingUpdate' or 'OnDelete'";
            errors.invalid_struct(
                "spec.updateStrategy",
                "appsv1.StatefulSetUpdateStrategy",
                strategy,
                detail,
            );
        }
    }
}

pub fn daemon_set(errors: &mut Errors, spec: &Value) {
    selector(errors, spec, "empty selector is invalid for daemonset");
    template(errors, spec, &[]);
    errors.not_negative("spec.minReadySeconds", &spec["minReadySeconds"]);
    let strategy = &spec["updateStrategy"];
    match text(strategy, "type") {
        "OnDelete" => {}
        "RollingUpdate" if strategy["rollingUpdate"].is_null() => {
            errors.required("spec.updateStrategy.rollingUpdate", "")
        }
        "RollingUpdate" => daemon_rolling(errors, &strategy["rollingUpdate"]),
        _ => {
            let shown = inner::text("appsv1.DaemonSetUpdateStrategy", strategy);
            errors.unsupported_text("spec.updateStrategy", shown, &["OnDelete", "RollingUpdate"]);
        }
    }
    errors.not_negative("spec.revisionHistoryLimit", &spec["revisionHistoryLimit"]);
}

fn daemon_rolling(errors: &mut Errors, rolling: &Value) {
    let field = "spec.updateStrategy.rollingUpdate";
    rolling_update(errors, rolling, field, false);
    let number = |name: &str| percent_or_int(&rolling[name]).unwrap_or(0);
    let (surge, unavailable) = (number("maxSurge"), number("maxUnavailable"));
    if surge == 0 && unavailable == 0 {
        errors.required(
            &format!("{field}.maxUnavailable"),
            "cannot be 0 when maxSurge is 0",
        );
    } else if surge != 0 && unavailable != 0 {
        errors.invalid(
            &format!("{field}.maxSurge"),
            rolling["maxSurge"].clone(),
            "may not be set when maxUnavailable is non-zero",
        );
    }
}
