//! Tables of custom objects, with the printer columns of their definition.
//!
//! Models `apiextensions-apiserver/pkg/registry/customresource/tableconvertor`.

use super::client::Client;
use super::printers::age;
use super::printers::jsonpath;
use apiserver::{Definition, Definitions, PrinterColumn, Version};
use k8s_model::{Kind, Timestamp};
use serde_json::Value;
use std::rc::Rc;

/// Printer columns of custom kinds.
#[derive(Clone, Debug, Default)]
pub struct CustomColumns {
    kinds: Vec<(Kind, Vec<PrinterColumn>)>,
}

impl CustomColumns {
    /// Returns the columns of the given kinds.
    pub fn of(definitions: &Definitions, kinds: &[Kind]) -> CustomColumns {
        let asked = definitions
            .served()
            .filter(|definition| kinds.contains(&definition.kind));
        CustomColumns {
            kinds: asked
                .map(|definition| (definition.kind, columns(definition.version(""))))
                .collect(),
        }
    }

    /// Returns the titles, and whether only `-o wide` shows them; `None` for a built-in kind.
    pub fn titles(&self, kind: Kind) -> Option<Vec<(String, bool)>> {
        let columns = self
            .columns(kind)?
            .iter()
            .map(|column| (column.name.to_ascii_uppercase(), column.wide));
        Some(
            std::iter::once(("NAME".to_owned(), false))
                .chain(columns)
                .collect(),
        )
    }

    /// Returns the cells of an object, in the order of the titles.
    pub fn cells(&self, kind: Kind, object: &Value, now: i64) -> Option<Vec<String>> {
        let name = object["metadata"]["name"].as_str().unwrap_or("").to_owned();
        let cells = self
            .columns(kind)?
            .iter()
            .map(|column| cell(column, object, now));
        Some(std::iter::once(name).chain(cells).collect())
    }

    fn columns(&self, kind: Kind) -> Option<&[PrinterColumn]> {
        self.kinds
            .iter()
            .find(|(own, _)| *own == kind)
            .map(|(_, columns)| &columns[..])
    }
}

fn columns(version: &Version) -> Vec<PrinterColumn> {
    if !version.columns.is_empty() {
        return version.columns.clone();
    }
    let path = ".metadata.creationTimestamp".to_owned();
    vec![PrinterColumn {
        name: "Age".to_owned(),
        kind: "date".to_owned(),
        path,
        wide: false,
    }]
}

fn cell(column: &PrinterColumn, object: &Value, now: i64) -> String {
    let found = jsonpath::values(&column.path, object).unwrap_or_default();
    let all = || {
        found
            .iter()
            .map(|value| jsonpath::show(value))
            .collect::<Vec<_>>()
            .join(",")
    };
    match (column.kind.as_str(), found.first()) {
        (_, None | Some(Value::Null)) => String::new(),
        ("date", Some(value)) => match value.as_str().and_then(Timestamp::parse) {
            Some(then) => age::human(now - then.seconds()),
            None => "<invalid>".to_owned(),
        },
        ("integer", Some(value)) if value.is_number() => value
            .as_f64()
            .map_or_else(String::new, |n| format!("{}", n.trunc())),
        ("integer" | "number", Some(value)) if !value.is_number() => String::new(),
        ("boolean", Some(value)) if !value.is_boolean() => String::new(),
        _ => all(),
    }
}

/// Returns the definition of a custom kind.
pub fn definition(client: &Client<'_>, kind: Kind) -> Option<Rc<Definition>> {
    client.sim().server().definitions().of(kind).cloned()
}
