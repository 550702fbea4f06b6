//! Validation of scheduling fields: affinity, tolerations, spread constraints, taints, requests of devices.
//!
//! Models the scheduling part of `pkg/apis/core/validation/validation.go`.

use super::{Errors, has, list, meta, text};
use k8s_model::cel::{self, CelType, Environment};
use k8s_model::names::{self, is_label_value, is_qualified_name};
use serde_json::Value;

pub fn affinity(errors: &mut Errors, affinity: &Value, field: &str) {
    node_affinity(
        errors,
        &affinity["nodeAffinity"],
        &format!("{field}.nodeAffinity"),
    );
    for kind in ["podAffinity", "podAntiAffinity"] {
        for (index, term) in list(&affinity[kind], REQUIRED).iter().enumerate() {
            pod_term(errors, term, &format!("{field}.{kind}.{REQUIRED}[{index}]"));
        }
        for (index, term) in list(&affinity[kind], PREFERRED).iter().enumerate() {
            let at = format!("{field}.{kind}.{PREFERRED}[{index}]");
            weight(errors, term, &at);
            pod_term(
                errors,
                &term["podAffinityTerm"],
                &format!("{at}.podAffinityTerm"),
            );
        }
    }
}

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

fn weight(errors: &mut Errors, term: &Value, field: &str) {
    if !(1..=100).contains(&term["weight"].as_i64().unwrap_or(0)) {
        errors.invalid(
            &format!("{field}.weight"),
            term["weight"].clone(),
            "must be in the range 1-100",
        );
    }
}

fn node_affinity(errors: &mut Errors, affinity: &Value, field: &str) {
    if affinity[REQUIRED].is_object() {
        let at = format!("{field}.{REQUIRED}.nodeSelectorTerms");
        let terms = list(&affinity[REQUIRED], "nodeSelectorTerms");
        if terms.is_empty() {
            errors.required(&at, "must have at least one node selector term");
        }
        for (index, term) in terms.iter().enumerate() {
            required_node_term(errors, term, &format!("{at}[{index}]"));
        }
    }
    for (index, term) in list(affinity, PREFERRED).iter().enumerate() {
        let at = format!("{field}.{PREFERRED}[{index}]");
        weight(errors, term, &at);
        node_term(errors, &term["preference"], &format!("{at}.preference"));
    }
}

/// Validates a required term, also of a volume's node affinity: its values must be valid label values.
pub fn required_node_term(errors: &mut Errors, term: &Value, field: &str) {
    node_term(errors, term, field);
    for (index, requirement) in list(term, "matchExpressions").iter().enumerate() {
        for (n, value) in list(requirement, "values").iter().enumerate() {
            errors.checked(
                &format!("{field}.matchExpressions[{index}].values[{n}]"),
                value.as_str().unwrap_or(""),
                is_label_value,
            );
        }
    }
}

fn node_term(errors: &mut Errors, term: &Value, field: &str) {
    for (index, requirement) in list(term, "matchExpressions").iter().enumerate() {
        let at = format!("{field}.matchExpressions[{index}]");
        let values = list(requirement, "values").len();
        match text(requirement, "operator") {
            "In" | "NotIn" if values == 0 => {
                errors.required(
                    &format!("{at}.values"),
                    "must be specified when `operator` is 'In' or 'NotIn'",
                );
            }
            "Exists" | "DoesNotExist" if values > 0 => {
                errors.forbidden(
                    &format!("{at}.values"),
                    "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
                );
            }
            "Gt" | "Lt" if values != 1 => {
                errors.required(
                    &format!("{at}.values"),
                    "must be specified single value when `operator` is 'Lt' or 'Gt'",
                );
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt" => {}
            other => errors.invalid(
                &format!("{at}.operator"),
                other,
                "not a valid selector operator",
            ),
        }
        for detail in is_qualified_name(text(requirement, "key")) {
            errors.invalid(&format!("{at}.key"), text(requirement, "key"), detail);
        }
    }
}

fn pod_term(errors: &mut Errors, term: &Value, field: &str) {
    meta::selector(
        errors,
        &term["labelSelector"],
        &format!("{field}.labelSelector"),
    );
    let key = text(term, "topologyKey");
    let at = format!("{field}.topologyKey");
    if key.is_empty() {
        errors.required(&at, "can not be empty");
    }
    for detail in is_qualified_name(key) {
        errors.invalid(&at, key, detail);
    }
    label_keys(errors, term, &term["labelSelector"], field);
}

/// Checks that `matchLabelKeys` and `mismatchLabelKeys` have a selector to be merged into.
fn label_keys(errors: &mut Errors, of: &Value, selector: &Value, field: &str) {
    for name in ["matchLabelKeys", "mismatchLabelKeys"] {
        let at = format!("{field}.{name}");
        if !list(of, name).is_empty() && selector.is_null() {
            errors.forbidden(&at, "must not be specified when labelSelector is not set");
        }
        for (index, key) in list(of, name).iter().enumerate() {
            for detail in is_qualified_name(key.as_str().unwrap_or("")) {
                errors.invalid(&format!("{at}[{index}]"), key.clone(), detail);
            }
        }
    }
}

const EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

pub fn tolerations(errors: &mut Errors, spec: &Value, field: &str) {
    for (index, toleration) in list(spec, "tolerations").iter().enumerate() {
        tolerates(errors, toleration, &format!("{field}[{index}]"));
    }
}

fn tolerates(errors: &mut Errors, toleration: &Value, at: &str) {
    let (key, effect) = (text(toleration, "key"), text(toleration, "effect"));
    for detail in if key.is_empty() {
        Vec::new()
    } else {
        is_qualified_name(key)
    } {
        errors.invalid(&format!("{at}.key"), key, detail);
    }
    let operator = text(toleration, "operator");
    if key.is_empty() && operator != "Exists" {
        errors.invalid(
            &format!("{at}.operator"),
            operator,
            "operator must be Exists when `key` is empty, which means \"match all values and all keys\"",
        );
    }
    if toleration["tolerationSeconds"].is_i64() && effect != "NoExecute" {
        errors.invalid(
            &format!("{at}.effect"),
            effect,
            "effect must be 'NoExecute' when `tolerationSeconds` is set",
        );
    }
    match operator {
        "Equal" | "" => errors.checked(
            &format!("{at}.operator"),
            text(toleration, "value"),
            is_label_value,
        ),
        "Exists" if !text(toleration, "value").is_empty() => {
            errors.invalid(
                &format!("{at}.operator"),
                text(toleration, "value"),
                "value must be empty when `operator` is 'Exists'",
            );
        }
        "Exists" => {}
        other => errors.unsupported(&format!("{at}.operator"), other, &["Equal", "Exists"]),
    }
    if !effect.is_empty() {
        errors.one_of(&format!("{at}.effect"), effect, &EFFECTS);
    }
}

pub fn spread(errors: &mut Errors, spec: &Value, field: &str) {
    let all = list(spec, "topologySpreadConstraints");
    for (index, constraint) in all.iter().enumerate() {
        let at = format!("{field}[{index}]");
        let skew = constraint["maxSkew"].as_i64().unwrap_or(0);
        if skew <= 0 {
            errors.invalid(&format!("{at}.maxSkew"), skew, "must be greater than zero");
        }
        let key = text(constraint, "topologyKey");
        if key.is_empty() {
            errors.required(&format!("{at}.topologyKey"), "can not be empty");
        }
        for detail in if key.is_empty() {
            Vec::new()
        } else {
            is_qualified_name(key)
        } {
            errors.invalid(&format!("{at}.topologyKey"), key, detail);
        }
        let action = text(constraint, "whenUnsatisfiable");
        errors.one_of(
            &format!("{at}.whenUnsatisfiable"),
            action,
            &["DoNotSchedule", "ScheduleAnyway"],
        );
        if all[index + 1..].iter().any(|other| {
            text(other, "topologyKey") == key && text(other, "whenUnsatisfiable") == action
        }) {
            errors.duplicate(
                &format!("{at}.{{topologyKey, whenUnsatisfiable}}"),
                format!("{{{key}, {action}}}"),
            );
        }
        let (least, least_at) = (&constraint["minDomains"], format!("{at}.minDomains"));
        if least.as_i64().is_some_and(|n| n <= 0) {
            errors.invalid(&least_at, least.clone(), "must be greater than zero");
        }
        if least.is_i64() && action != "DoNotSchedule" {
            let detail =
                format!("can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {action}");
            errors.invalid(&least_at, least.clone(), detail);
        }
        for name in ["nodeAffinityPolicy", "nodeTaintsPolicy"]
            .into_iter()
            .filter(|name| has(constraint, name))
        {
            errors.one_of(
                &format!("{at}.{name}"),
                text(constraint, name),
                &["Honor", "Ignore"],
            );
        }
        label_keys(errors, constraint, &constraint["labelSelector"], &at);
        meta::selector(
            errors,
            &constraint["labelSelector"],
            &format!("{at}.labelSelector"),
        );
    }
}

pub fn taints(errors: &mut Errors, spec: &Value, field: &str) {
    for (index, taint) in list(spec, "taints").iter().enumerate() {
        let at = format!("{field}[{index}]");
        for detail in is_qualified_name(text(taint, "key")) {
            errors.invalid(&format!("{at}.key"), text(taint, "key"), detail);
        }
        errors.checked(&format!("{at}.value"), text(taint, "value"), is_label_value);
        errors.one_of(&format!("{at}.effect"), text(taint, "effect"), &EFFECTS);
    }
}

/// Validates the requests of a ResourceClaim: `validateDeviceRequest` of `pkg/apis/resource/validation`.
pub fn resource_claim(errors: &mut Errors, object: &Value) {
    let requests = list(&object["spec"]["devices"], "requests");
    for (index, request) in requests.iter().enumerate() {
        let at = format!("spec.devices.requests[{index}]");
        errors.checked(&format!("{at}.name"), text(request, "name"), names::label);
        let alternatives = list(request, "firstAvailable");
        match (has(request, "exactly"), !alternatives.is_empty()) {
            (false, false) => {
                errors.required(
                    &at,
                    "exactly one of `exactly` or `firstAvailable` is required",
                );
            }
            (true, true) => {
                let detail = "exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set";
                errors.invalid(&at, Value::Null, detail);
            }
            (true, false) => {
                device_selectors(errors, &request["exactly"], &format!("{at}.exactly"));
            }
            (false, true) => {
                for (index, alternative) in alternatives.iter().enumerate() {
                    let at = format!("{at}.firstAvailable[{index}]");
                    errors.checked(
                        &format!("{at}.name"),
                        text(alternative, "name"),
                        names::label,
                    );
                    device_selectors(errors, alternative, &at);
                }
            }
        }
    }
}

/// Validates a DeviceClass.
pub fn device_class(errors: &mut Errors, object: &Value) {
    device_selectors(errors, &object["spec"], "spec");
}

/// Checks that the expressions that select devices compile.
fn device_selectors(errors: &mut Errors, selecting: &Value, field: &str) {
    for (index, selector) in list(selecting, "selectors").iter().enumerate() {
        let at = format!("{field}.selectors[{index}].cel");
        if !has(selector, "cel") {
            errors.required(&at, "");
            continue;
        }
        let expression = text(&selector["cel"], "expression");
        let environment = Environment::default().declare("device", CelType::Dyn);
        if let Err(fault) = cel::compile(expression, &environment) {
            let detail = format!("compilation failed: {fault}");
            errors.invalid(&format!("{at}.expression"), expression, detail);
        }
    }
}
