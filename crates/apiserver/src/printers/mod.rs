//! Printers: the columns and cells of a kind's table.
//!
//! A kind's printer is a constant in the file of its group, and is named in the kind's row (`registry.rs`). Models `pkg/printers/internalversion`.

pub(crate) mod admission;
pub mod age;
pub(crate) mod cluster;
mod convertor;
pub(crate) mod network;
pub(crate) mod pods;
mod row;
pub(crate) mod storage;
pub(crate) mod workloads;

use serde_json::Value;

pub use cluster::certificate_state;
pub use cluster::{count, first_seen, last_seen, source};
pub use convertor::{TableColumn, TableConvertor};
pub use network::{endpoint_list, shortened};
pub use pods::PodSummary;
use row::containers;
pub use row::{Cells, Column, Printer, TableRow, or_none, pairs, selector};
pub use storage::modes;
pub use workloads::metric_field;

/// Prints names and ages: kinds without a printer of their own.
pub(crate) const NAME_AND_AGE: Printer = Printer {
    columns: &[Column::text("Name"), Column::text("Age")],
    cells: Cells::Json(|row| vec![row.name(), row.created()]),
};

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
