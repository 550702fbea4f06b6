//! Defaults of workloads and of the autoscaler.
//!
//! Models `pkg/apis/{apps,batch,autoscaling}/*/defaults.go`.

use super::{JsonObject, child, claim, items, part, set, template, text};
use serde_json::{Value, json};

pub fn deployment(object: &mut JsonObject) {
    template(child(object, "spec"), "template");
    let spec = child(object, "spec");
    set(spec, "replicas", 1);
    let strategy = child(spec, "strategy");
    set(strategy, "type", "RollingUpdate");
    if text(strategy, "type") == "RollingUpdate" {
        let rolling = child(strategy, "rollingUpdate");
        set(rolling, "maxUnavailable", "25%");
        set(rolling, "maxSurge", "25%");
    }
    set(spec, "revisionHistoryLimit", 10);
    set(spec, "progressDeadlineSeconds", 600);
}

pub fn replica_set(object: &mut JsonObject) {
    let spec = child(object, "spec");
    set(spec, "replicas", 1);
    if spec.contains_key("template") {
        template(spec, "template");
    }
}

pub fn replication_controller(object: &mut JsonObject) {
    let spec = child(object, "spec");
    set(spec, "replicas", 1);
    if !spec.get("template").is_some_and(Value::is_object) {
        return;
    }
    template(spec, "template");
    if let Some(labels) = spec["template"]["metadata"].get("labels").cloned() {
        set(spec, "selector", labels.clone());
        set(child(object, "metadata"), "labels", labels);
    }
}

pub fn stateful_set(object: &mut JsonObject) {
    template(child(object, "spec"), "template");
    let spec = child(object, "spec");
    set(spec, "podManagementPolicy", "OrderedReady");
    let strategy = child(spec, "updateStrategy");
    set(strategy, "type", "RollingUpdate");
    if text(strategy, "type") == "RollingUpdate" {
        set(child(strategy, "rollingUpdate"), "partition", 0);
    }
    let retention = child(spec, "persistentVolumeClaimRetentionPolicy");
    set(retention, "whenDeleted", "Retain");
    set(retention, "whenScaled", "Retain");
    set(spec, "replicas", 1);
    set(spec, "revisionHistoryLimit", 10);
    for template in items(spec, "volumeClaimTemplates") {
        set(template, "apiVersion", "v1");
        set(template, "kind", "PersistentVolumeClaim");
        claim(template);
    }
}

pub fn daemon_set(object: &mut JsonObject) {
    template(child(object, "spec"), "template");
    let spec = child(object, "spec");
    let strategy = child(spec, "updateStrategy");
    set(strategy, "type", "RollingUpdate");
    if text(strategy, "type") == "RollingUpdate" {
        let rolling = child(strategy, "rollingUpdate");
        set(rolling, "maxUnavailable", 1);
        set(rolling, "maxSurge", 0);
    }
    set(spec, "revisionHistoryLimit", 10);
}

pub fn job(object: &mut JsonObject) {
    template(child(object, "spec"), "template");
    let spec = child(object, "spec");
    if !spec.contains_key("completions") && !spec.contains_key("parallelism") {
        set(spec, "completions", 1);
    }
    set(spec, "parallelism", 1);
    set(spec, "completionMode", "NonIndexed");
    set(spec, "suspend", false);
    set(spec, "manualSelector", false);
    let limit = if spec.contains_key("backoffLimitPerIndex") {
        i32::MAX
    } else {
        6
    };
    set(spec, "backoffLimit", limit);
    let policy = if spec.contains_key("podFailurePolicy") {
        "Failed"
    } else {
        "TerminatingOrFailed"
    };
    set(spec, "podReplacementPolicy", policy);
    for rule in part(spec, "podFailurePolicy")
        .into_iter()
        .flat_map(|policy| items(policy, "rules"))
    {
        items(rule, "onPodConditions").for_each(|pattern| set(pattern, "status", "True"));
    }
    if let Some(labels) = spec["template"]["metadata"].get("labels").cloned() {
        set(child(object, "metadata"), "labels", labels);
    }
}

pub fn cron_job(object: &mut JsonObject) {
    let spec = child(object, "spec");
    set(spec, "concurrencyPolicy", "Allow");
    set(spec, "suspend", false);
    set(spec, "successfulJobsHistoryLimit", 3);
    set(spec, "failedJobsHistoryLimit", 1);
    let job = child(spec, "jobTemplate");
    child(job, "metadata");
    template(child(job, "spec"), "template");
}

pub fn autoscaler(object: &mut JsonObject) {
    let spec = child(object, "spec");
    set(spec, "minReplicas", 1);
    if items(spec, "metrics").next().is_none() {
        let target = json!({"type": "Utilization", "averageUtilization": 80});
        spec.insert(
            "metrics".to_owned(),
            json!([{"type": "Resource", "resource": {"name": "cpu", "target": target}}]),
        );
    }
    let Some(behavior) = part(spec, "behavior") else {
        return;
    };
    let percent = json!({"type": "Percent", "value": 100, "periodSeconds": 15});
    let up = child(behavior, "scaleUp");
    set(up, "stabilizationWindowSeconds", 0);
    set(up, "selectPolicy", "Max");
    set(
        up,
        "policies",
        json!([{"type": "Pods", "value": 4, "periodSeconds": 15}, percent]),
    );
    let down = child(behavior, "scaleDown");
    set(down, "selectPolicy", "Max");
    set(down, "policies", json!([percent]));
}
