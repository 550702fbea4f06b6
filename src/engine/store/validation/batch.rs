//! Job and CronJob.
//!
//! Models `pkg/apis/batch/validation/validation.go`.

use super::{Errors, cron, has, list, meta, pod, text, workloads};
use serde_json::Value;

pub fn job(errors: &mut Errors, spec: &Value, field: &str, uid: &str) {
    let generated = spec["manualSelector"] != Value::Bool(true);
    if !uid.is_empty() && generated && has(spec, "selector") {
        let only = spec["selector"]["matchLabels"].as_object().is_some_and(|labels| labels.len() == 1);
        if !only || !list(&spec["selector"], "matchExpressions").is_empty() {
            errors.invalid(&format!("{field}.selector"), spec["selector"].clone(), "`selector` not auto-generated");
        }
    }
    numbers(errors, spec, field);
    errors.one_of(&format!("{field}.completionMode"), text(spec, "completionMode"), &["Indexed", "NonIndexed"]);
    if text(spec, "completionMode") == "Indexed" && !has(spec, "completions") {
        errors.required(&format!("{field}.completions"), "when completion mode is Indexed");
    }
    if !meta::is_empty_selector(&spec["selector"]) {
        workloads::fits(errors, &spec["selector"], &spec["template"]["metadata"]["labels"]);
    }
    pod::template(errors, &spec["template"], &format!("{field}.template"), &[]);
    restart_policy(errors, spec, field);
}

/// A Job that is only described, inside a CronJob: it has no selector yet.
fn job_template(errors: &mut Errors, spec: &Value, field: &str) {
    numbers(errors, spec, field);
    if has(spec, "selector") {
        errors.invalid(&format!("{field}.selector"), spec["selector"].clone(), "`selector` will be auto-generated");
    }
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

fn restart_policy(errors: &mut Errors, spec: &Value, field: &str) {
    let policy = text(&spec["template"]["spec"], "restartPolicy");
    let at = format!("{field}.template.spec.restartPolicy");
    if !matches!(policy, "OnFailure" | "Never") {
        errors.required(&at, "valid values: \"OnFailure\", \"Never\"");
    } else if policy == "OnFailure" && has(spec, "podFailurePolicy") {
        errors.invalid(&at, policy, "only \"Never\" is supported when podFailurePolicy is specified");
    }
}

/// Eleven characters are kept for the suffix of the Jobs' names.
const NAME_LIMIT: usize = 52;

pub fn cron_job(errors: &mut Errors, object: &Value) {
    let spec = &object["spec"];
    schedule(errors, spec);
    errors.not_negative("spec.startingDeadlineSeconds", &spec["startingDeadlineSeconds"]);
    errors.one_of("spec.concurrencyPolicy", text(spec, "concurrencyPolicy"), &["Allow", "Forbid", "Replace"]);
    job_template(errors, &spec["jobTemplate"]["spec"], "spec.jobTemplate.spec");
    errors.not_negative("spec.successfulJobsHistoryLimit", &spec["successfulJobsHistoryLimit"]);
    errors.not_negative("spec.failedJobsHistoryLimit", &spec["failedJobsHistoryLimit"]);
    let name = text(&object["metadata"], "name");
    if name.len() > NAME_LIMIT {
        errors.invalid("metadata.name", name, format!("must be no more than {NAME_LIMIT} characters"));
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
            errors.invalid("spec.schedule", schedule, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead");
        }
    }
    let Some(zone) = spec["timeZone"].as_str() else {
        return;
    };
    if zone.is_empty() {
        errors.invalid("spec.timeZone", zone, "timeZone must be nil or non-empty string");
    } else if zone.eq_ignore_ascii_case("local") {
        errors.invalid("spec.timeZone", zone, "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones");
    } else if !cron::is_zone(zone) {
        errors.invalid("spec.timeZone", zone, format!("unknown time zone {zone}"));
    }
}
