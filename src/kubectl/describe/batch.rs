//! Jobs, CronJobs and HorizontalPodAutoscalers.

use super::{Page, controlled_by, long, show, template};
use crate::api::Timestamp;
use crate::kubectl::printers::{self, age};
use serde_json::Value;

pub fn job(page: &mut Page<'_>) {
    let row = page.row;
    page.name();
    page.field("Selector", printers::selector(row.at("/spec/selector")));
    page.labels();
    page.annotations();
    if let Some(owner) = controlled_by(row) {
        page.field("Controlled By", owner);
    }
    page.field("Parallelism", show(row.at("/spec/parallelism")));
    page.field("Completions", show(row.at("/spec/completions")));
    page.field("Completion Mode", row.text("/spec/completionMode"));
    page.field("Suspend", row.at("/spec/suspend") == true);
    page.field("Backoff Limit", row.number("/spec/backoffLimit"));
    for (title, path) in [("Start Time", "/status/startTime"), ("Completed At", "/status/completionTime")] {
        if !row.text(path).is_empty() {
            page.field(title, long(row, path));
        }
    }
    let at = |path: &str| Timestamp::parse(row.text(path)).map(|t| t.0);
    if let (Some(start), Some(end)) = (at("/status/startTime"), at("/status/completionTime")) {
        page.field("Duration", age::human(end - start));
    }
    page.field(
        "Pods Statuses",
        format!(
            "{} Active ({} Ready) / {} Succeeded / {} Failed",
            row.number("/status/active"),
            row.number("/status/ready"),
            row.number("/status/succeeded"),
            row.number("/status/failed")
        ),
    );
    if !row.text("/status/completedIndexes").is_empty() {
        page.field("Completed Indexes", row.text("/status/completedIndexes"));
    }
    page.text.push_str(&template::describe(row.at("/spec/template")));
}

pub fn cron_job(page: &mut Page<'_>) {
    let row = page.row;
    page.name();
    page.labels();
    page.annotations();
    page.field("Schedule", row.text("/spec/schedule"));
    page.field("Concurrency Policy", row.text("/spec/concurrencyPolicy"));
    page.field("Suspend", if row.at("/spec/suspend") == true { "True" } else { "False" });
    page.field("Successful Job History Limit", show(row.at("/spec/successfulJobsHistoryLimit")));
    page.field("Failed Job History Limit", show(row.at("/spec/failedJobsHistoryLimit")));
    let deadline = row.at("/spec/startingDeadlineSeconds").as_i64().map_or("<unset>".to_owned(), |n| format!("{n}s"));
    page.field("Starting Deadline Seconds", deadline);
    page.field("Selector", "<unset>");
    page.field("Parallelism", row.at("/spec/jobTemplate/spec/parallelism").as_i64().map_or("<unset>".to_owned(), |n| n.to_string()));
    page.field("Completions", row.at("/spec/jobTemplate/spec/completions").as_i64().map_or("<unset>".to_owned(), |n| n.to_string()));
    page.text.push_str(&template::describe(row.at("/spec/jobTemplate/spec/template")));
    let last = row.text("/status/lastScheduleTime");
    page.field("Last Schedule Time", if last.is_empty() { "<unset>".to_owned() } else { age::long(last) });
    let active: Vec<&str> = row.list("/status/active").iter().filter_map(|job| job["name"].as_str()).collect();
    page.field("Active Jobs", printers::or_none(&active.join(", ")));
}

pub fn autoscaler(page: &mut Page<'_>) {
    let row = page.row;
    page.name();
    page.labels();
    page.annotations();
    page.field("CreationTimestamp", long(row, "/metadata/creationTimestamp"));
    page.field("Reference", format!("{}/{}", row.text("/spec/scaleTargetRef/kind"), row.text("/spec/scaleTargetRef/name")));
    page.line("Metrics:\t( current / target )");
    let current = row.list("/status/currentMetrics");
    for (index, metric) in row.list("/spec/metrics").iter().enumerate() {
        metric_line(page, metric, current.get(index));
    }
    page.field("Min replicas", row.at("/spec/minReplicas").as_i64().map_or("<unset>".to_owned(), |n| n.to_string()));
    page.field("Max replicas", row.number("/spec/maxReplicas"));
    behavior(page);
    let (now, wanted) = (row.number("/status/currentReplicas"), row.number("/status/desiredReplicas"));
    page.field("Deployment pods", format!("{now} current / {wanted} desired"));
    let conditions = row.list("/status/conditions");
    if !conditions.is_empty() {
        page.line("Conditions:\n  Type\tStatus\tReason\tMessage\n  ----\t------\t------\t-------");
        for c in conditions {
            page.line(format!("  {}\t{}\t{}\t{}", show(&c["type"]), show(&c["status"]), show(&c["reason"]), show(&c["message"])));
        }
    }
}

fn metric_line(page: &mut Page<'_>, metric: &Value, current: Option<&Value>) {
    let resource = &metric["resource"];
    let now = current.map_or(Value::Null, |c| c["resource"]["current"].clone());
    let name = show(&resource["name"]);
    if let Some(target) = resource["target"]["averageUtilization"].as_i64() {
        let value = now["averageUtilization"].as_i64().map_or("<unknown>".to_owned(), |n| format!("{n}% ({})", show(&now["averageValue"])));
        return page.line(format!("  resource {name} on pods  (as a percentage of request):\t{value} / {target}%"));
    }
    let value = now["averageValue"].as_str().unwrap_or("<unknown>").to_owned();
    page.line(format!("  resource {name} on pods:\t{value} / {}", show(&resource["target"]["averageValue"])));
}

fn behavior(page: &mut Page<'_>) {
    let behavior = page.row.at("/spec/behavior");
    if !behavior.is_object() {
        return;
    }
    page.line("Behavior:");
    for (title, name) in [("Scale Up", "scaleUp"), ("Scale Down", "scaleDown")] {
        let rules = &behavior[name];
        if !rules.is_object() {
            continue;
        }
        page.line(format!("  {title}:"));
        if let Some(seconds) = rules["stabilizationWindowSeconds"].as_i64() {
            page.line(format!("    Stabilization Window: {seconds} seconds"));
        }
        page.line(format!("    Select Policy: {}\n    Policies:", show(&rules["selectPolicy"])));
        for policy in rules["policies"].as_array().into_iter().flatten() {
            page.line(format!(
                "      - Type: {}\tValue: {}\tPeriod: {} seconds",
                show(&policy["type"]),
                show(&policy["value"]),
                show(&policy["periodSeconds"])
            ));
        }
    }
}
