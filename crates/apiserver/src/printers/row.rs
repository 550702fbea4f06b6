//! Table rows, and the cells that several kinds share.

use super::age;
use k8s_model::Object;
use serde_json::Value;

/// Printer of a kind.
#[derive(Clone, Copy)]
pub struct Printer {
    /// Columns.
    pub columns: &'static [Column],
    /// Function that prints the cells of an object.
    pub cells: Cells,
}

/// Column of a printer.
#[derive(Clone, Copy)]
pub struct Column {
    /// Name, such as `Desired`.
    pub name: &'static str,
    /// OpenAPI type of its cells.
    pub kind: &'static str,
    /// True if only `-o wide` shows the column.
    pub is_wide: bool,
}

impl Column {
    const fn new(name: &'static str, kind: &'static str) -> Column {
        Column {
            name,
            kind,
            is_wide: false,
        }
    }

    /// Creates a column of strings.
    pub const fn text(name: &'static str) -> Column {
        Column::new(name, "string")
    }

    /// Creates a column of integers.
    pub const fn integer(name: &'static str) -> Column {
        Column::new(name, "integer")
    }

    /// Creates a column of booleans.
    pub const fn boolean(name: &'static str) -> Column {
        Column::new(name, "boolean")
    }

    /// Creates a column of times.
    pub const fn date(name: &'static str) -> Column {
        Column::new(name, "date")
    }

    /// Returns the column as one that only `-o wide` shows.
    pub const fn wide(self) -> Column {
        Column {
            is_wide: true,
            ..self
        }
    }
}

/// Function that prints the cells of an object.
#[derive(Clone, Copy)]
pub enum Cells {
    /// From its JSON.
    Json(fn(TableRow<'_>) -> Vec<String>),
    /// From the object at a time in seconds since 1970, without its JSON: for Pods, of which there are many.
    Object(fn(&Object, i64) -> Vec<String>),
}

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
