//! Descriptions of Jobs, CronJobs and HorizontalPodAutoscalers.

use super::{DescribePage, controlled_by, long, show, template};
use crate::printers::{self, age};
use k8s_model::Timestamp;
use serde_json::Value;

pub fn job(page: &mut DescribePage<'_>) {
    let row = page.row;
    page.name();
    page.field("Selector", printers::selector(row.at("/spec/selector")));
    page.labels();
    page.annotations();
    if let Some(owner) = controlled_by(row) {
        page.field("Controlled By", owner);
    }
    page.field("Parallelism", show(row.at("/spec/parallelism")));
    page.field("Completions", unset(row.at("/spec/completions"), ""));
    page.field("Completion Mode", row.text("/spec/completionMode"));
    page.field("Suspend", row.at("/spec/suspend") == true);
    page.field("Backoff Limit", row.number("/spec/backoffLimit"));
    if !row.at("/spec/ttlSecondsAfterFinished").is_null() {
        page.field(
            "TTL Seconds After Finished",
            row.number("/spec/ttlSecondsAfterFinished"),
        );
    }
    for (title, path) in [
        ("Start Time", "/status/startTime"),
        ("Completed At", "/status/completionTime"),
    ] {
        if !row.text(path).is_empty() {
            page.field(title, long(row, path));
        }
    }
    let at = |path: &str| Timestamp::parse(row.text(path)).map(|t| t.seconds());
    if let (Some(start), Some(end)) = (at("/status/startTime"), at("/status/completionTime")) {
        page.field("Duration", age::human(end - start));
    }
    deadline(page, "/spec/activeDeadlineSeconds");
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
    if row.text("/spec/completionMode") == "Indexed" {
        page.field(
            "Completed Indexes",
            some_indexes(row.text("/status/completedIndexes")),
        );
    }
    page.text
        .push_str(&template::describe(row.at("/spec/template")));
}

/// Formats a number with its unit, or `<unset>`.
fn unset(value: &Value, unit: &str) -> String {
    value
        .as_i64()
        .map_or("<unset>".to_owned(), |n| format!("{n}{unit}"))
}

fn deadline(page: &mut DescribePage<'_>, path: &str) {
    let seconds = page.row.at(path);
    if !seconds.is_null() {
        page.field("Active Deadline Seconds", unset(seconds, "s"));
    }
}

/// Shortens a long list after fifty characters, at a comma.
fn some_indexes(indexes: &str) -> String {
    match indexes.get(50..).and_then(|rest| rest.find(',')) {
        Some(comma) => format!("{}...", &indexes[..51 + comma]),
        None => printers::or_none(indexes),
    }
}

pub fn cron_job(page: &mut DescribePage<'_>) {
    let row = page.row;
    page.name();
    page.labels();
    page.annotations();
    page.field("Schedule", row.text("/spec/schedule"));
    page.field("Concurrency Policy", row.text("/spec/concurrencyPolicy"));
    page.field(
        "Suspend",
        if row.at("/spec/suspend") == true {
            "True"
        } else {
            "False"
        },
    );
    let zone = row.text("/spec/timeZone");
    page.field("Time Zone", if zone.is_empty() { "<unset>" } else { zone });
    page.field(
        "Successful Job History Limit",
        show(row.at("/spec/successfulJobsHistoryLimit")),
    );
    page.field(
        "Failed Job History Limit",
        show(row.at("/spec/failedJobsHistoryLimit")),
    );
    page.field(
        "Starting Deadline Seconds",
        unset(row.at("/spec/startingDeadlineSeconds"), "s"),
    );
    page.field("Selector", "<unset>");
    page.field(
        "Parallelism",
        unset(row.at("/spec/jobTemplate/spec/parallelism"), ""),
    );
    page.field(
        "Completions",
        unset(row.at("/spec/jobTemplate/spec/completions"), ""),
    );
    deadline(page, "/spec/jobTemplate/spec/activeDeadlineSeconds");
    page.text.push_str(&template::describe(
        row.at("/spec/jobTemplate/spec/template"),
    ));
    let last = row.text("/status/lastScheduleTime");
    page.field(
        "Last Schedule Time",
        if last.is_empty() {
            "<unset>".to_owned()
        } else {
            age::long(last)
        },
    );
    let active: Vec<&str> = row
        .list("/status/active")
        .iter()
        .filter_map(|job| job["name"].as_str())
        .collect();
    page.field("Active Jobs", printers::or_none(&active.join(", ")));
}

pub fn autoscaler(page: &mut DescribePage<'_>) {
    let row = page.row;
    page.name();
    page.labels();
    page.annotations();
    page.field(
        "CreationTimestamp",
        long(row, "/metadata/creationTimestamp"),
    );
    page.field(
        "Reference",
        format!(
            "{}/{}",
            row.text("/spec/scaleTargetRef/kind"),
            row.text("/spec/scaleTargetRef/name")
        ),
    );
    page.line("Metrics:\t( current / target )");
    let current = row.list("/status/currentMetrics");
    for (index, metric) in row.list("/spec/metrics").iter().enumerate() {
        metric_line(page, metric, current.get(index));
    }
    page.field("Min replicas", unset(row.at("/spec/minReplicas"), ""));
    page.field("Max replicas", row.number("/spec/maxReplicas"));
    behavior(page);
    let (now, wanted) = (
        row.number("/status/currentReplicas"),
        row.number("/status/desiredReplicas"),
    );
    page.line(format!(
        "{} pods:\t{now} current / {wanted} desired",
        row.text("/spec/scaleTargetRef/kind")
    ));
    let conditions = row.list("/status/conditions");
    if !conditions.is_empty() {
        page.line("Conditions:\n  Type\tStatus\tReason\tMessage\n  ----\t------\t------\t-------");
        for c in conditions {
            page.line(format!(
                "  {}\t{}\t{}\t{}",
                show(&c["type"]),
                show(&c["status"]),
                show(&c["reason"]),
                show(&c["message"])
            ));
        }
    }
}

fn metric_line(page: &mut DescribePage<'_>, metric: &Value, current: Option<&Value>) {
    let kind = metric["type"].as_str().unwrap_or("");
    let field = printers::metric_field(kind);
    let source = &metric[field];
    let now = current.map_or(&Value::Null, |c| &c[field]["current"]);
    let shown = |value: &Value| value.as_str().unwrap_or("<unknown>").to_owned();
    let target = &source["target"];
    let name = show(&source["metric"]["name"]);
    let what = match kind {
        "Resource" => format!("resource {} on pods", show(&source["name"])),
        "ContainerResource" => format!(
            "resource {} of container \"{}\" on pods",
            show(&source["name"]),
            show(&source["container"])
        ),
        "Pods" => format!("\"{name}\" on pods"),
        "Object" => {
            let object = &source["describedObject"];
            format!(
                "\"{name}\" on {}/{}",
                show(&object["kind"]),
                show(&object["name"])
            )
        }
        _ => format!("\"{name}\""),
    };
    if let Some(percent) = target["averageUtilization"].as_i64() {
        let value = now["averageUtilization"]
            .as_i64()
            .map_or("<unknown>".to_owned(), |n| {
                format!("{n}% ({})", show(&now["averageValue"]))
            });
        return page.line(format!(
            "  {what}  (as a percentage of request):\t{value} / {percent}%"
        ));
    }
    let form = match (kind, target["averageValue"].is_null()) {
        ("Object" | "External", false) => " (target average value)",
        ("Object" | "External", true) => " (target value)",
        _ => "",
    };
    let path = if target["averageValue"].is_null() {
        "value"
    } else {
        "averageValue"
    };
    page.line(format!(
        "  {what}{form}:\t{} / {}",
        shown(&now[path]),
        show(&target[path])
    ));
}

fn behavior(page: &mut DescribePage<'_>) {
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
        page.line(format!(
            "    Select Policy: {}\n    Policies:",
            show(&rules["selectPolicy"])
        ));
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
