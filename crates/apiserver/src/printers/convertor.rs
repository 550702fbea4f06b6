//! Conversion of objects to the rows of a table, by the printer of a built-in kind or the printer columns of a definition.
//!
//! Models `apiserver/pkg/registry/rest/table.go` and `apiextensions-apiserver/pkg/registry/customresource/tableconvertor`.

use super::{Cells, TableRow, age};
use crate::definitions::{Definitions, PrinterColumn, Version};
use crate::registry::resource;
use k8s_model::{Kind, Object, Timestamp, jsonpath};
use serde_json::Value;

/// Column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableColumn {
    /// Name, such as `Up-to-date`.
    pub name: String,
    /// OpenAPI type of its cells.
    pub kind: String,
    /// True if only `-o wide` shows the column.
    pub is_wide: bool,
}

impl TableColumn {
    /// Returns the title that kubectl prints.
    pub fn title(&self) -> String {
        self.name.to_ascii_uppercase()
    }

    /// Returns a cell as JSON of the column's type.
    pub fn cell(&self, text: String) -> Value {
        match self.kind.as_str() {
            "integer" => text.parse::<i64>().map_or(Value::from(text), Value::from),
            "boolean" => text.parse::<bool>().map_or(Value::from(text), Value::from),
            _ => Value::from(text),
        }
    }
}

/// Converter of objects to rows of a table.
#[derive(Clone, Debug, Default)]
pub struct TableConvertor {
    /// Printer columns of the custom kinds.
    custom: Vec<(Kind, Vec<PrinterColumn>)>,
}

impl TableConvertor {
    /// Creates a converter for objects of these kinds.
    pub fn new(definitions: &Definitions, kinds: &[Kind]) -> TableConvertor {
        let custom = definitions
            .served()
            .filter(|definition| kinds.contains(&definition.kind))
            .map(|definition| (definition.kind, printer_columns(definition.version(""))))
            .collect();
        TableConvertor { custom }
    }

    /// Returns the columns of a kind.
    pub fn columns(&self, kind: Kind) -> Vec<TableColumn> {
        let column = |name: &str, kind: &str, is_wide| TableColumn {
            name: name.to_owned(),
            kind: kind.to_owned(),
            is_wide,
        };
        match self.printer_columns(kind) {
            Some(columns) => std::iter::once(column("Name", "string", false))
                .chain(
                    columns
                        .iter()
                        .map(|own| column(&own.name, &own.kind, own.wide)),
                )
                .collect(),
            None => resource(kind)
                .printer
                .columns
                .iter()
                .map(|own| column(own.name, own.kind, own.is_wide))
                .collect(),
        }
    }

    /// Returns the cells of an object, in the order of the columns; `now` is the wall clock in seconds since 1970.
    pub fn cells(&self, object: &Object, now: i64) -> Vec<String> {
        if let Some(columns) = self.printer_columns(object.kind) {
            let value = object.to_value();
            let cells = columns.iter().map(|column| cell(column, &value, now));
            return std::iter::once(object.meta.name.to_string())
                .chain(cells)
                .collect();
        }
        match resource(object.kind).printer.cells {
            Cells::Object(cells) => cells(object, now),
            Cells::Json(cells) => cells(TableRow {
                object: &object.to_value(),
                now,
            }),
        }
    }

    fn printer_columns(&self, kind: Kind) -> Option<&[PrinterColumn]> {
        self.custom
            .iter()
            .find(|(own, _)| *own == kind)
            .map(|(_, columns)| &columns[..])
    }
}

/// Returns the columns of a version: its printer columns, or the age.
fn printer_columns(version: &Version) -> Vec<PrinterColumn> {
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
