//! Output formats of objects: tables, YAML, JSON, JSONPath.

pub mod age;
mod cluster;
pub mod jsonpath;
pub mod kyaml;
mod network;
mod pods;
mod row;
mod storage;
pub mod table;
pub mod tabs;
pub mod template;
mod workloads;
pub mod yaml;

use serde_json::Value;

pub use cluster::certificate_state;
pub use cluster::{count, first_seen, last_seen, source};
pub use network::{endpoint_list, shortened};
use row::containers;
pub use row::{TableColumns, TableRow, or_none, pairs, selector};
pub use storage::modes;
pub use workloads::metric_field;

/// Returns the columns and the row function of a kind; `NAME` and `AGE` for a kind without its own.
pub fn columns(kind: &str) -> (TableColumns, fn(TableRow<'_>) -> Vec<String>) {
    const PLAIN: TableColumns = &[("NAME", false), ("AGE", false)];
    workloads::columns(kind)
        .or_else(|| pods::columns(kind))
        .or_else(|| network::columns(kind))
        .or_else(|| storage::columns(kind))
        .or_else(|| cluster::columns(kind))
        .unwrap_or((PLAIN, |row| vec![row.name(), row.created()]))
}

/// Returns a Pod's value of the STATUS column.
pub fn pod_status(pod: &Value) -> String {
    pods::Summary::of(TableRow {
        object: pod,
        now: 0,
    })
    .reason
}

/// Returns the sort key of Events: time, then version for those of the same second.
pub fn event_order(event: &Value) -> (i64, u64) {
    let version = event["metadata"]["resourceVersion"]
        .as_str()
        .and_then(|text| text.parse().ok());
    (last_seen(event), version.unwrap_or(0))
}

/// Formats the age of an Event, with its count: `3s (x6 over 7s)`.
pub fn event_age(event: &Value, now: i64) -> String {
    let last = age::human(now - last_seen(event));
    match count(event) {
        1 => age::human(now - first_seen(event)),
        count => format!(
            "{last} (x{count} over {})",
            age::human(now - first_seen(event))
        ),
    }
}

#[cfg(test)]
mod tests;
