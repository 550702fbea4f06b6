//! Rows of admission webhooks, policies and their bindings.

use super::{Cells, Column, Printer, TableRow, selector};

pub(crate) const WEBHOOK_CONFIGURATION: Printer = Printer {
    columns: &[
        Column::text("Name"),
        Column::integer("Webhooks"),
        Column::text("Age"),
    ],
    cells: Cells::Json(|row| {
        let count = row.list("/webhooks").len().to_string();
        vec![row.name(), count, row.created()]
    }),
};

pub(crate) const VALIDATING_POLICY: Printer = Printer {
    columns: &[
        Column::text("Name"),
        Column::integer("Validations"),
        Column::text("ParamKind"),
        Column::text("Age"),
    ],
    cells: Cells::Json(|row| policy(row, "/spec/validations")),
};

pub(crate) const MUTATING_POLICY: Printer = Printer {
    columns: &[
        Column::text("Name"),
        Column::integer("Mutations"),
        Column::text("ParamKind"),
        Column::text("Age"),
    ],
    cells: Cells::Json(|row| policy(row, "/spec/mutations")),
};

fn policy(row: TableRow<'_>, expressions: &str) -> Vec<String> {
    let text = |name: &str| row.text(&format!("/spec/paramKind/{name}"));
    let param_kind = match row.at("/spec/paramKind").is_object() {
        true => format!("{}/{}", text("apiVersion"), text("kind")),
        false => "<unset>".to_owned(),
    };
    let count = row.list(expressions).len().to_string();
    vec![row.name(), count, param_kind, row.created()]
}

pub(crate) const POLICY_BINDING: Printer = Printer {
    columns: &[
        Column::text("Name"),
        Column::text("PolicyName"),
        Column::text("ParamRef"),
        Column::text("Age"),
    ],
    cells: Cells::Json(|row| {
        let text = |name: &str| row.text(&format!("/spec/paramRef/{name}"));
        let param_ref = match (text("name"), text("namespace")) {
            ("", _) if row.at("/spec/paramRef/selector").is_object() => {
                selector(row.at("/spec/paramRef/selector"))
            }
            ("", _) => "<unset>".to_owned(),
            (name, "") => format!("*/{name}"),
            (name, namespace) => format!("{namespace}/{name}"),
        };
        let policy = row.text("/spec/policyName").to_owned();
        vec![row.name(), policy, param_ref, row.created()]
    }),
};
