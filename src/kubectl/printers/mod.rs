//! Tables, YAML, JSON, JSONPath: how kubectl shows objects.

pub mod age;
mod cluster;
pub mod jsonpath;
mod network;
mod pods;
mod storage;
pub mod tabs;
pub mod table;
mod workloads;
pub mod yaml;

use serde_json::Value;

pub use cluster::{count, first_seen, last_seen, source};
pub use network::{endpoint_list, shortened};
pub use storage::modes;
pub use workloads::metric_field;

/// The columns of a kind: header, and whether it only shows with `-o wide`.
pub type Columns = &'static [(&'static str, bool)];

/// What a row is made of: the object and the wall clock in seconds.
#[derive(Clone, Copy)]
pub struct Row<'a> {
    /// The object as JSON.
    pub object: &'a Value,
    /// Now, for ages.
    pub now: i64,
}

impl<'a> Row<'a> {
    /// The value at a path such as `/spec/replicas`.
    pub fn at(self, path: &str) -> &'a Value {
        self.object.pointer(path).unwrap_or(&Value::Null)
    }

    /// The text at a path; empty if there is none.
    pub fn text(self, path: &str) -> &'a str {
        self.at(path).as_str().unwrap_or("")
    }

    /// The number at a path; 0 if there is none.
    pub fn number(self, path: &str) -> i64 {
        self.at(path).as_i64().unwrap_or(0)
    }

    /// The list at a path.
    pub fn list(self, path: &str) -> &'a [Value] {
        self.at(path).as_array().map_or(&[], Vec::as_slice)
    }

    /// The text at a path, or `<none>`.
    pub fn or_none(self, path: &str) -> String {
        or_none(self.text(path))
    }

    /// How long ago the time at a path was.
    pub fn age(self, path: &str) -> String {
        age::since(self.text(path), self.now)
    }

    fn name(self) -> String {
        self.text("/metadata/name").to_owned()
    }

    fn created(self) -> String {
        self.age("/metadata/creationTimestamp")
    }
}

/// Text, or `<none>` for none.
pub fn or_none(text: &str) -> String {
    if text.is_empty() { "<none>".to_owned() } else { text.to_owned() }
}

/// `a=b,c=d`, or `<none>`.
pub fn pairs(map: &Value) -> String {
    let all = map.as_object().into_iter().flatten().map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or("")));
    or_none(&all.collect::<Vec<_>>().join(","))
}

/// A label selector in one line, or `<none>`.
pub fn selector(selector: &Value) -> String {
    let mut parts = Vec::new();
    let labels = pairs(&selector["matchLabels"]);
    if labels != "<none>" {
        parts.push(labels);
    }
    for expression in selector["matchExpressions"].as_array().into_iter().flatten() {
        let key = expression["key"].as_str().unwrap_or("");
        let values: Vec<&str> = expression["values"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let values = values.join(",");
        parts.push(match expression["operator"].as_str().unwrap_or("") {
            "In" => format!("{key} in ({values})"),
            "NotIn" => format!("{key} notin ({values})"),
            "Exists" => key.to_owned(),
            _ => format!("!{key}"),
        });
    }
    or_none(&parts.join(","))
}

/// The columns and the cells of a kind; `NAME` and `AGE` for a kind without its own.
pub fn columns(kind: &str) -> (Columns, fn(Row<'_>) -> Vec<String>) {
    const PLAIN: Columns = &[("NAME", false), ("AGE", false)];
    workloads::columns(kind)
        .or_else(|| pods::columns(kind))
        .or_else(|| network::columns(kind))
        .or_else(|| storage::columns(kind))
        .or_else(|| cluster::columns(kind))
        .unwrap_or((PLAIN, |row| vec![row.name(), row.created()]))
}

/// Events in the order in which they came; those of one second by when they were written.
pub fn event_order(event: &Value) -> (i64, u64) {
    let version = event["metadata"]["resourceVersion"].as_str().and_then(|text| text.parse().ok());
    (last_seen(event), version.unwrap_or(0))
}

/// The age of an event, with how often it came: `3s (x6 over 7s)`.
pub fn event_age(event: &Value, now: i64) -> String {
    let last = age::human(now - last_seen(event));
    match count(event) {
        1 => age::human(now - first_seen(event)),
        count => format!("{last} (x{count} over {})", age::human(now - first_seen(event))),
    }
}

/// Names and images of a template's containers.
fn containers(row: Row<'_>, path: &str) -> (String, String) {
    let all = row.list(path);
    let join = |name: &str| all.iter().map(|c| c[name].as_str().unwrap_or("")).collect::<Vec<_>>().join(",");
    (join("name"), join("image"))
}

#[cfg(test)]
mod tests;
