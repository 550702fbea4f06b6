//! Job and CronJob.
//!
//! Models `pkg/apis/batch/validation/validation.go`.

use super::{Errors, cron, has, list, meta, pod, text, workloads};
use k8s_model::Zone;
use serde_json::Value;

pub fn job(errors: &mut Errors, spec: &Value, field: &str, uid: &str) {
    let generated = spec["manualSelector"] != Value::Bool(true);
    if !uid.is_empty() && generated && has(spec, "selector") {
        let only = spec["selector"]["matchLabels"]
            .as_object()
            .is_some_and(|labels| labels.len() == 1);
        if !only || !list(&spec["selector"], "matchExpressions").is_empty() {
            errors.invalid(
                &format!("{field}.selector"),
                spec["selector"].clone(),
                "`selector` not auto-generated",
            );
        }
    }
    numbers(errors, spec, field);
    if !generated && !has(spec, "selector") {
        errors.required(&format!("{field}.selector"), "");
    }
    errors.one_of(
        &format!("{field}.completionMode"),
        text(spec, "completionMode"),
        &["Indexed", "NonIndexed"],
    );
    if text(spec, "completionMode") == "Indexed" && !has(spec, "completions") {
        errors.required(
            &format!("{field}.completions"),
            "when completion mode is Indexed",
        );
    }
    if !meta::is_empty_selector(&spec["selector"]) {
        workloads::fits(
            errors,
            &spec["selector"],
            &spec["template"]["metadata"]["labels"],
        );
    }
    policies(errors, spec, field);
    pod::template(errors, &spec["template"], &format!("{field}.template"), &[]);
    restart_policy(errors, spec, field);
}

/// Validates the Job template of a CronJob, which has no selector yet.
fn job_template(errors: &mut Errors, spec: &Value, field: &str) {
    numbers(errors, spec, field);
    if has(spec, "selector") {
        errors.invalid(
            &format!("{field}.selector"),
            spec["selector"].clone(),
            "`selector` will be auto-generated",
        );
    }
    policies(errors, spec, field);
    pod::template(errors, &spec["template"], &format!("{field}.template"), &[]);
    restart_policy(errors, spec, field);
}

fn numbers(errors: &mut Errors, spec: &Value, field: &str) {
    for name in [
        "parallelism",
        "completions",
        "activeDeadlineSeconds",
        "backoffLimit",
        "ttlSecondsAfterFinished",
        "maxFailedIndexes",
        "backoffLimitPerIndex",
    ] {
        errors.not_negative(&format!("{field}.{name}"), &spec[name]);
    }
}

/// Maximum parallelism of Indexed Jobs.
const MAX_INDEXED_PARALLELISM: i64 = 100_000;

/// Validates dependencies between completion mode, failure policy and replacement policy.
fn policies(errors: &mut Errors, spec: &Value, field: &str) {
    let indexed = text(spec, "completionMode") == "Indexed";
    let at = |name: &str| format!("{field}.{name}");
    let invalid = |errors: &mut Errors, name: &str, detail: &str| {
        errors.invalid(&at(name), spec[name].clone(), detail)
    };
    if has(spec, "maxFailedIndexes") && !has(spec, "backoffLimitPerIndex") {
        errors.required(
            &at("backoffLimitPerIndex"),
            "when maxFailedIndexes is specified",
        );
    }
    if indexed {
        if spec["parallelism"].as_i64() > Some(MAX_INDEXED_PARALLELISM) {
            invalid(
                errors,
                "parallelism",
                "must be less than or equal to 100000 when completion mode is Indexed",
            );
        }
        if has(spec, "completions")
            && spec["maxFailedIndexes"].as_i64() > spec["completions"].as_i64()
        {
            invalid(
                errors,
                "maxFailedIndexes",
                "must be less than or equal to completions",
            );
        }
    }
    for name in ["backoffLimitPerIndex", "maxFailedIndexes"] {
        if !indexed && has(spec, name) {
            invalid(errors, name, "requires indexed completion mode");
        }
    }
    for (i, rule) in list(&spec["podFailurePolicy"], "rules").iter().enumerate() {
        failure_rule(
            errors,
            spec,
            rule,
            &format!("{field}.podFailurePolicy.rules[{i}]"),
        );
    }
    if has(spec, "successPolicy") && !indexed {
        invalid(errors, "successPolicy", "requires indexed completion mode");
    } else if has(spec, "successPolicy") {
        success_rules(errors, spec, &at("successPolicy.rules"));
    }
    if has(spec, "podReplacementPolicy") {
        let known: &[&str] = if has(spec, "podFailurePolicy") {
            &["Failed"]
        } else {
            &["Failed", "TerminatingOrFailed"]
        };
        errors.one_of(
            &at("podReplacementPolicy"),
            text(spec, "podReplacementPolicy"),
            known,
        );
    }
}

fn failure_rule(errors: &mut Errors, spec: &Value, rule: &Value, field: &str) {
    let at = format!("{field}.action");
    match text(rule, "action") {
        "" => errors.required(
            &at,
            "valid values: [\"Count\" \"FailIndex\" \"FailJob\" \"Ignore\"]",
        ),
        "FailIndex" if has(spec, "backoffLimitPerIndex") => {}
        "FailIndex" => errors.invalid(
            &at,
            "FailIndex",
            "requires the backoffLimitPerIndex to be set",
        ),
        action => {
            errors.one_of(&at, action, &["Count", "FailIndex", "FailJob", "Ignore"]);
        }
    }
    let (codes, conditions) = (has(rule, "onExitCodes"), list(rule, "onPodConditions"));
    if codes {
        exit_codes(
            errors,
            spec,
            &rule["onExitCodes"],
            &format!("{field}.onExitCodes"),
        );
    }
    for (i, pattern) in conditions.iter().enumerate() {
        errors.one_of(
            &format!("{field}.onPodConditions[{i}].status"),
            text(pattern, "status"),
            &["False", "True", "Unknown"],
        );
    }
    if codes && !conditions.is_empty() {
        errors.invalid_at(
            field,
            "specifying both OnExitCodes and OnPodConditions is not supported",
        );
    } else if !codes && conditions.is_empty() {
        errors.invalid_at(
            field,
            "specifying one of OnExitCodes and OnPodConditions is required",
        );
    }
}

fn exit_codes(errors: &mut Errors, spec: &Value, wanted: &Value, field: &str) {
    let operator = text(wanted, "operator");
    if operator.is_empty() {
        errors.required(
            &format!("{field}.operator"),
            "valid values: [\"In\" \"NotIn\"]",
        );
    } else {
        errors.one_of(&format!("{field}.operator"), operator, &["In", "NotIn"]);
    }
    let pod = &spec["template"]["spec"];
    if let Some(name) = wanted["containerName"].as_str()
        && !list(pod, "containers")
            .iter()
            .chain(list(pod, "initContainers"))
            .any(|c| text(c, "name") == name)
    {
        let detail = "must be one of the container or initContainer names in the pod template";
        errors.invalid(&format!("{field}.containerName"), name, detail);
    }
    let (at, values) = (format!("{field}.values"), list(wanted, "values"));
    if values.is_empty() {
        errors.invalid(
            &at,
            wanted["values"].clone(),
            "at least one value is required",
        );
    }
    for (i, value) in values.iter().enumerate() {
        if operator == "In" && *value == 0 {
            errors.invalid(
                &format!("{at}[{i}]"),
                0,
                "must not be 0 for the In operator",
            );
        }
        if values[..i].contains(value) {
            errors.duplicate(&format!("{at}[{i}]"), value.clone());
        }
    }
    if values
        .windows(2)
        .any(|pair| pair[0].as_i64() > pair[1].as_i64())
    {
        errors.invalid(&at, wanted["values"].clone(), "must be ordered");
    }
}

fn success_rules(errors: &mut Errors, spec: &Value, field: &str) {
    let rules = list(&spec["successPolicy"], "rules");
    if rules.is_empty() {
        errors.required(
            field,
            "at least one rules must be specified when the successPolicy is specified",
        );
    }
    for (i, rule) in rules.iter().enumerate() {
        if !has(rule, "succeededCount") && !has(rule, "succeededIndexes") {
            errors.required(
                &format!("{field}[{i}]"),
                "at least one of succeededCount or succeededIndexes must be specified",
            );
        }
        let at = format!("{field}[{i}].succeededCount");
        errors.not_negative(&at, &rule["succeededCount"]);
        if let (Some(count), Some(all)) = (
            rule["succeededCount"].as_i64(),
            spec["completions"].as_i64(),
        ) && count > all
        {
            errors.invalid(
                &at,
                count,
                format!(
                    "must be less than or equal to {all} (the number of specified completions)"
                ),
            );
        }
    }
}

fn restart_policy(errors: &mut Errors, spec: &Value, field: &str) {
    let policy = text(&spec["template"]["spec"], "restartPolicy");
    let at = format!("{field}.template.spec.restartPolicy");
    if !matches!(policy, "OnFailure" | "Never") {
        errors.required(&at, "valid values: \"OnFailure\", \"Never\"");
    } else if policy == "OnFailure" && has(spec, "podFailurePolicy") {
        errors.invalid(
            &at,
            policy,
            "only \"Never\" is supported when podFailurePolicy is specified",
        );
    }
}

/// Maximum length of a CronJob's name: eleven characters are reserved for the suffix of the Jobs' names.
const NAME_LIMIT: usize = 52;

pub fn cron_job(errors: &mut Errors, object: &Value) {
    let spec = &object["spec"];
    schedule(errors, spec);
    errors.not_negative(
        "spec.startingDeadlineSeconds",
        &spec["startingDeadlineSeconds"],
    );
    errors.one_of(
        "spec.concurrencyPolicy",
        text(spec, "concurrencyPolicy"),
        &["Allow", "Forbid", "Replace"],
    );
    job_template(
        errors,
        &spec["jobTemplate"]["spec"],
        "spec.jobTemplate.spec",
    );
    errors.not_negative(
        "spec.successfulJobsHistoryLimit",
        &spec["successfulJobsHistoryLimit"],
    );
    errors.not_negative(
        "spec.failedJobsHistoryLimit",
        &spec["failedJobsHistoryLimit"],
    );
    let name = text(&object["metadata"], "name");
    if name.len() > NAME_LIMIT {
        errors.invalid(
            "metadata.name",
            name,
            format!("must be no more than {NAME_LIMIT} characters"),
        );
    }
}

fn schedule(errors: &mut Errors, spec: &Value) {
    let schedule = text(spec, "schedule");
    if schedule.is_empty() {
        errors.required("spec.schedule", "");
    } else {
        if let Some(detail) = cron::schedule_error(schedule) {
            errors.invalid("spec.schedule", schedule, detail);
        }
        if schedule.contains("TZ") {
            errors.invalid(
                "spec.schedule",
                schedule,
                "cannot use TZ or CRON_TZ in schedule, use timeZone field instead",
            );
        }
    }
    let Some(zone) = spec["timeZone"].as_str() else {
        return;
    };
    if zone.is_empty() {
        errors.invalid(
            "spec.timeZone",
            zone,
            "timeZone must be nil or non-empty string",
        );
    } else if zone.eq_ignore_ascii_case("local") {
        errors.invalid(
            "spec.timeZone",
            zone,
            "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones",
        );
    } else if Zone::find(zone).is_none() {
        errors.invalid("spec.timeZone", zone, format!("unknown time zone {zone}"));
    }
}
