//! Rows of workloads: Deployments, ReplicaSets, StatefulSets, DaemonSets, Jobs, CronJobs, autoscalers.

use super::{Cells, Column, Printer, TableRow, age, containers, or_none, pairs, selector};
use k8s_model::Timestamp;
use serde_json::Value;

pub(crate) const DEPLOYMENT: Printer = Printer {
    columns: &[
        Column::text("Name"),
        Column::text("Ready"),
        Column::text("Up-to-date"),
        Column::text("Available"),
        Column::text("Age"),
        Column::text("Containers").wide(),
        Column::text("Images").wide(),
        Column::text("Selector").wide(),
    ],
    cells: Cells::Json(deployment),
};

pub(crate) const REPLICA_SET: Printer = Printer {
    columns: &[
        Column::text("Name"),
        Column::integer("Desired"),
        Column::integer("Current"),
        Column::integer("Ready"),
        Column::text("Age"),
        Column::text("Containers").wide(),
        Column::text("Images").wide(),
        Column::text("Selector").wide(),
    ],
    cells: Cells::Json(replicas),
};

pub(crate) const STATEFUL_SET: Printer = Printer {
    columns: &[
        Column::text("Name"),
        Column::text("Ready"),
        Column::text("Age"),
        Column::text("Containers").wide(),
        Column::text("Images").wide(),
    ],
    cells: Cells::Json(stateful_set),
};

pub(crate) const DAEMON_SET: Printer = Printer {
    columns: &[
        Column::text("Name"),
        Column::integer("Desired"),
        Column::integer("Current"),
        Column::integer("Ready"),
        Column::integer("Up-to-date"),
        Column::integer("Available"),
        Column::text("Node Selector"),
        Column::text("Age"),
        Column::text("Containers").wide(),
        Column::text("Images").wide(),
        Column::text("Selector").wide(),
    ],
    cells: Cells::Json(daemon_set),
};

pub(crate) const JOB: Printer = Printer {
    columns: &[
        Column::text("Name"),
        Column::text("Status"),
        Column::text("Completions"),
        Column::text("Duration"),
        Column::text("Age"),
        Column::text("Containers").wide(),
        Column::text("Images").wide(),
        Column::text("Selector").wide(),
    ],
    cells: Cells::Json(job),
};

pub(crate) const CRON_JOB: Printer = Printer {
    columns: &[
        Column::text("Name"),
        Column::text("Schedule"),
        Column::text("Timezone"),
        Column::boolean("Suspend"),
        Column::integer("Active"),
        Column::text("Last Schedule"),
        Column::text("Age"),
        Column::text("Containers").wide(),
        Column::text("Images").wide(),
        Column::text("Selector").wide(),
    ],
    cells: Cells::Json(cron_job),
};

pub(crate) const HORIZONTAL_POD_AUTOSCALER: Printer = Printer {
    columns: &[
        Column::text("Name"),
        Column::text("Reference"),
        Column::text("Targets"),
        Column::text("MinPods"),
        Column::text("MaxPods"),
        Column::text("Replicas"),
        Column::text("Age"),
    ],
    cells: Cells::Json(autoscaler),
};

pub(crate) const CONTROLLER_REVISION: Printer = Printer {
    columns: &[
        Column::text("Name"),
        Column::text("Controller"),
        Column::text("Revision"),
        Column::text("Age"),
    ],
    cells: Cells::Json(revision),
};

const TEMPLATE: &str = "/spec/template/spec/containers";

fn deployment(row: TableRow<'_>) -> Vec<String> {
    let (names, images) = containers(row, TEMPLATE);
    vec![
        row.name(),
        format!(
            "{}/{}",
            row.number("/status/readyReplicas"),
            row.number("/spec/replicas")
        ),
        row.number("/status/updatedReplicas").to_string(),
        row.number("/status/availableReplicas").to_string(),
        row.created(),
        names,
        images,
        selector(row.at("/spec/selector")),
    ]
}

fn replicas(row: TableRow<'_>) -> Vec<String> {
    let (names, images) = containers(row, TEMPLATE);
    let chosen = row.at("/spec/selector");
    let plain = row.text("/kind") == "ReplicationController";
    vec![
        row.name(),
        row.number("/spec/replicas").to_string(),
        row.number("/status/replicas").to_string(),
        row.number("/status/readyReplicas").to_string(),
        row.created(),
        names,
        images,
        if plain {
            pairs(chosen)
        } else {
            selector(chosen)
        },
    ]
}

fn stateful_set(row: TableRow<'_>) -> Vec<String> {
    let (names, images) = containers(row, TEMPLATE);
    let ready = format!(
        "{}/{}",
        row.number("/status/readyReplicas"),
        row.number("/spec/replicas")
    );
    vec![row.name(), ready, row.created(), names, images]
}

fn daemon_set(row: TableRow<'_>) -> Vec<String> {
    let (names, images) = containers(row, TEMPLATE);
    let mut cells = vec![row.name()];
    for field in [
        "desiredNumberScheduled",
        "currentNumberScheduled",
        "numberReady",
        "updatedNumberScheduled",
        "numberAvailable",
    ] {
        cells.push(row.number(&format!("/status/{field}")).to_string());
    }
    cells.push(pairs(row.at("/spec/template/spec/nodeSelector")));
    cells.extend([
        row.created(),
        names,
        images,
        selector(row.at("/spec/selector")),
    ]);
    cells
}

fn job(row: TableRow<'_>) -> Vec<String> {
    let (names, images) = containers(row, TEMPLATE);
    let done = row.number("/status/succeeded");
    let completions = match (
        row.at("/spec/completions").as_i64(),
        row.number("/spec/parallelism"),
    ) {
        (Some(wanted), _) => format!("{done}/{wanted}"),
        (None, parallel) if parallel > 1 => format!("{done}/1 of {parallel}"),
        (None, _) => format!("{done}/1"),
    };
    vec![
        row.name(),
        job_status(row),
        completions,
        job_duration(row),
        row.created(),
        names,
        images,
        selector(row.at("/spec/selector")),
    ]
}

fn job_status(row: TableRow<'_>) -> String {
    let has = |kind: &str| {
        row.list("/status/conditions")
            .iter()
            .any(|c| c["type"] == kind && c["status"] == "True")
    };
    let known = [
        ("Complete", "Complete"),
        ("Failed", "Failed"),
        ("Suspended", "Suspended"),
        ("FailureTarget", "FailureTarget"),
        ("SuccessCriteriaMet", "SuccessCriteriaMet"),
    ];
    if !row.at("/metadata/deletionTimestamp").is_null() && !has("Complete") && !has("Failed") {
        return "Terminating".to_owned();
    }
    known
        .iter()
        .find(|(kind, _)| has(kind))
        .map_or("Running", |(_, shown)| shown)
        .to_owned()
}

fn job_duration(row: TableRow<'_>) -> String {
    let at = |path: &str| Timestamp::parse(row.text(path)).map(|t| t.seconds());
    match (at("/status/startTime"), at("/status/completionTime")) {
        (Some(start), Some(end)) => age::human(end - start),
        (Some(start), None) => age::human(row.now - start),
        _ => String::new(),
    }
}

fn cron_job(row: TableRow<'_>) -> Vec<String> {
    let (names, images) = containers(row, "/spec/jobTemplate/spec/template/spec/containers");
    let suspended = row.at("/spec/suspend") == true;
    let last = if row.text("/status/lastScheduleTime").is_empty() {
        "<none>".to_owned()
    } else {
        row.age("/status/lastScheduleTime")
    };
    vec![
        row.name(),
        row.text("/spec/schedule").to_owned(),
        row.or_none("/spec/timeZone"),
        if suspended { "True" } else { "False" }.to_owned(),
        row.list("/status/active").len().to_string(),
        last,
        row.created(),
        names,
        images,
        "<none>".to_owned(),
    ]
}

fn autoscaler(row: TableRow<'_>) -> Vec<String> {
    let target = format!(
        "{}/{}",
        row.text("/spec/scaleTargetRef/kind"),
        row.text("/spec/scaleTargetRef/name")
    );
    vec![
        row.name(),
        target,
        metrics(row),
        row.at("/spec/minReplicas")
            .as_i64()
            .map_or("<unset>".to_owned(), |n| n.to_string()),
        row.number("/spec/maxReplicas").to_string(),
        row.number("/status/currentReplicas").to_string(),
        row.created(),
    ]
}

fn metrics(row: TableRow<'_>) -> String {
    let current = row.list("/status/currentMetrics");
    let shown: Vec<String> = row
        .list("/spec/metrics")
        .iter()
        .enumerate()
        .map(|(index, metric)| one_metric(metric, current.get(index)))
        .collect();
    match shown.len() {
        0 => "<none>".to_owned(),
        count if count > 2 => format!("{}, {} + {} more...", shown[0], shown[1], count - 2),
        _ => shown.join(", "),
    }
}

/// Returns the field of a metric of this type.
pub fn metric_field(kind: &str) -> &'static str {
    match kind {
        "Resource" => "resource",
        "ContainerResource" => "containerResource",
        "Pods" => "pods",
        "Object" => "object",
        _ => "external",
    }
}

fn one_metric(metric: &Value, current: Option<&Value>) -> String {
    let field = metric_field(metric["type"].as_str().unwrap_or(""));
    let source = &metric[field];
    let now = current.map_or(&Value::Null, |c| &c[field]["current"]);
    let name = source["name"]
        .as_str()
        .map_or(String::new(), |name| format!("{name}: "));
    if let Some(target) = source["target"]["averageUtilization"].as_i64() {
        let value = now["averageUtilization"]
            .as_i64()
            .map_or("<unknown>".to_owned(), |n| format!("{n}%"));
        return format!("{name}{value}/{target}%");
    }
    let average = source["target"]["averageValue"].as_str();
    let path = if average.is_some() {
        "averageValue"
    } else {
        "value"
    };
    let target = average
        .or(source["target"]["value"].as_str())
        .unwrap_or("<auto>");
    let unit = if average.is_some() && matches!(field, "object" | "external") {
        " (avg)"
    } else {
        ""
    };
    format!(
        "{name}{}/{target}{unit}",
        now[path].as_str().unwrap_or("<unknown>")
    )
}

fn revision(row: TableRow<'_>) -> Vec<String> {
    let owner = row
        .list("/metadata/ownerReferences")
        .iter()
        .find(|owner| owner["controller"] == true);
    let controller = owner.map_or(String::new(), |owner| {
        let group = owner["apiVersion"]
            .as_str()
            .unwrap_or("")
            .split_once('/')
            .map_or("", |(group, _)| group);
        let kind = owner["kind"].as_str().unwrap_or("").to_ascii_lowercase();
        let dot = if group.is_empty() { "" } else { "." };
        format!(
            "{kind}{dot}{group}/{}",
            owner["name"].as_str().unwrap_or("")
        )
    });
    vec![
        row.name(),
        or_none(&controller),
        row.number("/revision").to_string(),
        row.created(),
    ]
}

pub(crate) const POD_TEMPLATE: Printer = Printer {
    columns: &[
        Column::text("Name"),
        Column::text("Containers"),
        Column::text("Images"),
        Column::text("Pod Labels"),
    ],
    cells: Cells::Json(|row| {
        let (names, images) = containers(row, "/template/spec/containers");
        let labels = pairs(row.at("/template/metadata/labels"));
        vec![row.name(), names, images, labels]
    }),
};
