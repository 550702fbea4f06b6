//! Table rows, and the cells that several kinds share.

use super::age;
use serde_json::Value;

/// Columns of a kind: header, and whether only `-o wide` shows it.
pub type TableColumns = &'static [(&'static str, bool)];

/// Input of a row: the object and the wall clock in seconds.
#[derive(Clone, Copy)]
pub struct TableRow<'a> {
    /// Object as JSON.
    pub object: &'a Value,
    /// Current time, for ages.
    pub now: i64,
}

impl<'a> TableRow<'a> {
    /// Returns the value at a path such as `/spec/replicas`.
    pub fn at(self, path: &str) -> &'a Value {
        self.object.pointer(path).unwrap_or(&Value::Null)
    }

    /// Returns the text at a path; empty if there is none.
    pub fn text(self, path: &str) -> &'a str {
        self.at(path).as_str().unwrap_or("")
    }

    /// Returns the number at a path; 0 if there is none.
    pub fn number(self, path: &str) -> i64 {
        self.at(path).as_i64().unwrap_or(0)
    }

    /// Returns the list at a path; empty if there is none.
    pub fn list(self, path: &str) -> &'a [Value] {
        self.at(path).as_array().map_or(&[], Vec::as_slice)
    }

    /// Returns the text at a path, or `<none>`.
    pub fn or_none(self, path: &str) -> String {
        or_none(self.text(path))
    }

    /// Returns the age of the time at a path.
    pub fn age(self, path: &str) -> String {
        age::since(self.text(path), self.now)
    }

    pub(super) fn name(self) -> String {
        self.text("/metadata/name").to_owned()
    }

    pub(super) fn created(self) -> String {
        self.age("/metadata/creationTimestamp")
    }
}

/// Returns the text, or `<none>` if it is empty.
pub fn or_none(text: &str) -> String {
    if text.is_empty() {
        "<none>".to_owned()
    } else {
        text.to_owned()
    }
}

/// Formats a map as `a=b,c=d`, or `<none>`.
pub fn pairs(map: &Value) -> String {
    let all = map
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or("")));
    or_none(&all.collect::<Vec<_>>().join(","))
}

/// Formats a label selector in one line, or `<none>`.
pub fn selector(selector: &Value) -> String {
    let mut parts = Vec::new();
    let labels = pairs(&selector["matchLabels"]);
    if labels != "<none>" {
        parts.push(labels);
    }
    for expression in selector["matchExpressions"]
        .as_array()
        .into_iter()
        .flatten()
    {
        let key = expression["key"].as_str().unwrap_or("");
        let values: Vec<&str> = expression["values"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
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

/// Returns names and images of a template's containers.
pub(super) fn containers(row: TableRow<'_>, path: &str) -> (String, String) {
    let all = row.list(path);
    let join = |name: &str| {
        all.iter()
            .map(|c| c[name].as_str().unwrap_or(""))
            .collect::<Vec<_>>()
            .join(",")
    };
    (join("name"), join("image"))
}
