//! Row of a Pod, whose status summarizes its containers.
//!
//! Models `printPod` of `pkg/printers/internalversion`.

use super::{TableColumns, TableRow, age, or_none};
use serde_json::Value;

const COLUMNS: TableColumns = &[
    ("NAME", false),
    ("READY", false),
    ("STATUS", false),
    ("RESTARTS", false),
    ("AGE", false),
    ("IP", true),
    ("NODE", true),
    ("NOMINATED NODE", true),
    ("READINESS GATES", true),
];

type Cells = fn(TableRow<'_>) -> Vec<String>;

pub fn columns(kind: &str) -> Option<(TableColumns, Cells)> {
    (kind == "Pod").then_some((COLUMNS, pod))
}

fn pod(row: TableRow<'_>) -> Vec<String> {
    let summary = Summary::of(row);
    vec![
        row.name(),
        format!("{}/{}", summary.ready, summary.total),
        summary.reason.clone(),
        summary.restarts(row.now),
        row.created(),
        row.or_none("/status/podIP"),
        row.or_none("/spec/nodeName"),
        row.or_none("/status/nominatedNodeName"),
        gates(row),
    ]
}

fn gates(row: TableRow<'_>) -> String {
    let all = row.list("/spec/readinessGates");
    let met = all
        .iter()
        .filter(|gate| is_true(row, gate["conditionType"].as_str().unwrap_or("")))
        .count();
    if all.is_empty() {
        "<none>".to_owned()
    } else {
        format!("{met}/{}", all.len())
    }
}

fn is_true(row: TableRow<'_>, kind: &str) -> bool {
    row.list("/status/conditions")
        .iter()
        .any(|c| c["type"] == kind && c["status"] == "True")
}

/// Column values of a Pod.
pub struct Summary {
    pub ready: usize,
    pub total: usize,
    pub reason: String,
    restarts: i64,
    last_restart: String,
}

impl Summary {
    pub fn of(row: TableRow<'_>) -> Summary {
        let phase = row.text("/status/phase");
        let mut summary = Summary {
            ready: 0,
            total: row.list("/spec/containers").len(),
            reason: if row.text("/status/reason").is_empty() {
                phase
            } else {
                row.text("/status/reason")
            }
            .to_owned(),
            restarts: 0,
            last_restart: String::new(),
        };
        let gated = |c: &Value| c["type"] == "PodScheduled" && c["reason"] == "SchedulingGated";
        if row.list("/status/conditions").iter().any(gated) {
            summary.reason = "SchedulingGated".to_owned();
        }
        let initializing = summary.init_containers(row);
        if !initializing || is_true(row, "Initialized") {
            summary.containers(row);
        }
        if !row.at("/metadata/deletionTimestamp").is_null() {
            if row.text("/status/reason") == "NodeLost" {
                summary.reason = "Unknown".to_owned();
            } else if !matches!(phase, "Succeeded" | "Failed") {
                summary.reason = "Terminating".to_owned();
            }
        }
        summary
    }

    fn restarts(&self, now: i64) -> String {
        if self.restarts != 0 && !self.last_restart.is_empty() {
            format!(
                "{} ({} ago)",
                self.restarts,
                age::since(&self.last_restart, now)
            )
        } else {
            self.restarts.to_string()
        }
    }

    fn count(&mut self, status: &Value) {
        self.restarts += status["restartCount"].as_i64().unwrap_or(0);
        let ended = status["lastState"]["terminated"]["finishedAt"]
            .as_str()
            .unwrap_or("");
        if ended > self.last_restart.as_str() {
            self.last_restart = ended.to_owned();
        }
    }

    /// Evaluates the init containers; returns true if one of them is still running.
    fn init_containers(&mut self, row: TableRow<'_>) -> bool {
        let specs = row.list("/spec/initContainers");
        let sidecar = |name: &Value| {
            specs
                .iter()
                .any(|s| s["name"] == *name && s["restartPolicy"] == "Always")
        };
        self.total += specs
            .iter()
            .filter(|s| s["restartPolicy"] == "Always")
            .count();
        for (index, status) in row.list("/status/initContainerStatuses").iter().enumerate() {
            let state = &status["state"];
            self.count(status);
            if state["terminated"]["exitCode"] == 0 {
                continue;
            }
            if sidecar(&status["name"]) && status["started"] == true {
                self.ready += usize::from(status["ready"] == true);
                continue;
            }
            let waiting = state["waiting"]["reason"].as_str().unwrap_or("");
            self.reason = if !state["terminated"].is_null() {
                format!("Init:{}", ended(&state["terminated"]))
            } else if !waiting.is_empty() && waiting != "PodInitializing" {
                format!("Init:{waiting}")
            } else {
                format!("Init:{index}/{}", specs.len())
            };
            return true;
        }
        false
    }

    fn containers(&mut self, row: TableRow<'_>) {
        if row
            .list("/spec/initContainers")
            .iter()
            .all(|s| s["restartPolicy"] != "Always")
        {
            self.restarts = 0;
        }
        let mut running = false;
        for status in row.list("/status/containerStatuses").iter().rev() {
            self.count(status);
            let state = &status["state"];
            let waiting = state["waiting"]["reason"].as_str().unwrap_or("");
            if !waiting.is_empty() {
                self.reason = waiting.to_owned();
            } else if !state["terminated"].is_null() {
                self.reason = ended(&state["terminated"]);
            } else if status["ready"] == true && !state["running"].is_null() {
                running = true;
                self.ready += 1;
            }
        }
        if self.reason == "Completed" && running {
            self.reason = if is_true(row, "Ready") {
                "Running"
            } else {
                "NotReady"
            }
            .to_owned();
        }
    }
}

fn ended(terminated: &Value) -> String {
    let reason = terminated["reason"].as_str().unwrap_or("");
    let signal = terminated["signal"].as_i64().unwrap_or(0);
    match (reason, signal) {
        ("", 0) => format!("ExitCode:{}", terminated["exitCode"].as_i64().unwrap_or(0)),
        ("", signal) => format!("Signal:{signal}"),
        _ => or_none(reason),
    }
}
