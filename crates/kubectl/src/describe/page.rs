//! Text that describes one object, and the sections that several kinds share.

use crate::client::Client;
use crate::printers::{self, TableRow, age, or_none};
use crate::targets::name_of;
use k8s_model::Kind;
use k8s_model::kind::api_group;
use serde_json::Value;

/// Object being described, and the cluster around it.
pub(super) struct DescribePage<'a> {
    pub(super) client: &'a Client<'a>,
    pub(super) row: TableRow<'a>,
    pub(super) text: String,
}

impl<'a> DescribePage<'a> {
    pub(super) fn new(client: &'a Client<'a>, object: &'a Value) -> DescribePage<'a> {
        DescribePage {
            client,
            row: TableRow {
                object,
                now: client.wall(),
            },
            text: String::new(),
        }
    }

    /// Returns the objects of a kind in a namespace (empty for all); none if the user may not list them.
    pub(super) fn list(&self, kind: Kind, namespace: &str) -> Vec<Value> {
        self.client.list(kind, namespace).unwrap_or_default()
    }

    /// Appends a line with tabs.
    pub(super) fn line(&mut self, text: impl std::fmt::Display) {
        self.text.push_str(&format!("{text}\n"));
    }

    /// Appends `Name:` and a value.
    pub(super) fn field(&mut self, name: &str, value: impl std::fmt::Display) {
        self.line(format!("{name}:\t{value}"));
    }

    pub(super) fn name(&mut self) {
        self.field("Name", self.row.text("/metadata/name").to_owned());
        let namespace = self.row.text("/metadata/namespace").to_owned();
        if !namespace.is_empty() {
            self.field("Namespace", namespace);
        }
    }

    pub(super) fn labels(&mut self) {
        self.map("Labels", "/metadata/labels", '=');
    }

    pub(super) fn annotations(&mut self) {
        self.map("Annotations", "/metadata/annotations", ':');
    }

    /// Appends a map with one pair per line.
    pub(super) fn map(&mut self, title: &str, path: &str, sign: char) {
        self.text.push_str(&pairs(title, self.row.at(path), sign));
    }

    /// Appends the Events about the object, oldest first.
    pub(super) fn events(&mut self, kind: Kind) {
        let about = |event: &Value| {
            let involved = &event["involvedObject"];
            let group = api_group(involved["apiVersion"].as_str().unwrap_or(""));
            involved["name"] == self.row.text("/metadata/name")
                && involved["kind"] == kind.name()
                && group == kind.info().group
        };
        let mut events: Vec<Value> = self
            .list(Kind::Event, "")
            .into_iter()
            .filter(|event| about(event))
            .collect();
        events.sort_by_key(printers::event_order);
        if events.is_empty() {
            return self.line("Events:\t<none>");
        }
        self.line(
            "Events:\n  Type\tReason\tAge\tFrom\tMessage\n  ----\t------\t----\t----\t-------",
        );
        for event in &events {
            let text = |name: &str| event[name].as_str().unwrap_or("");
            let part = event["involvedObject"]["fieldPath"]
                .as_str()
                .filter(|part| !part.is_empty());
            let part = part.map_or(String::new(), |part| format!("{part}: "));
            let age = printers::event_age(event, self.row.now);
            let line = format!(
                "  {}\t{}\t{age}\t{}\t{part}{}",
                text("type"),
                text("reason"),
                printers::source(event),
                text("message").trim()
            );
            self.line(line);
        }
    }
}

/// Formats `Labels:` with one pair per line, without the last-applied annotation.
pub(super) fn pairs(title: &str, map: &Value, sign: char) -> String {
    let shown = map
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(key, _)| *key != k8s_model::meta::LAST_APPLIED);
    let one = |(key, value): (&String, &Value)| {
        let value = value.as_str().unwrap_or("");
        if sign == ':' {
            annotation(key, value.strip_suffix('\n').unwrap_or(value))
        } else {
            format!("{key}{sign}{value}")
        }
    };
    let all: Vec<String> = shown.map(one).collect();
    if all.is_empty() {
        return format!("{title}:\t<none>\n");
    }
    format!("{title}:\t{}\n", all.join("\n\t"))
}

/// Formats an annotation; a long or multi-line one begins on a line of its own and is truncated.
fn annotation(key: &str, value: &str) -> String {
    const LONGEST: usize = 140;
    if key.len() + value.len() + 2 <= LONGEST && !value.contains('\n') {
        return format!("{key}: {value}");
    }
    let cut = |line: &str| match line
        .char_indices()
        .map(|(at, c)| at + c.len_utf8())
        .take_while(|end| *end <= LONGEST - 2)
        .last()
    {
        Some(end) if end < line.len() => format!("\n\t  {}...", &line[..end]),
        _ => format!("\n\t  {line}"),
    };
    format!("{key}:{}", value.split('\n').map(cut).collect::<String>())
}

/// Formats the controlling owner of an object, as `Deployment/nginx`.
pub(super) fn controlled_by(row: TableRow<'_>) -> Option<String> {
    let owner = row
        .list("/metadata/ownerReferences")
        .iter()
        .find(|owner| owner["controller"] == true)?;
    Some(format!(
        "{}/{}",
        owner["kind"].as_str().unwrap_or(""),
        owner["name"].as_str().unwrap_or("")
    ))
}

pub(super) fn long(row: TableRow<'_>, path: &str) -> String {
    age::long(row.text(path))
}

pub(super) fn show(value: &Value) -> String {
    match value {
        Value::Null => "<none>".to_owned(),
        other => printers::jsonpath::show(other),
    }
}

pub(super) fn name(object: &Value) -> String {
    or_none(name_of(object))
}
