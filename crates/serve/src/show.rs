//! Representations of an answer: objects, lists, tables, metadata only.
//!
//! Models `apiserver/pkg/endpoints/handlers/response.go` and `rest/table.go`.

use super::http_request::{Accepts, HttpRequest, MetaVersion};
use super::objects::RenderedObject;
use apiserver::ObjectList;
use apiserver::conversion;
use apiserver::printers::{TableColumn, TableConvertor};
use cluster::Sim;
use k8s_model::Kind;
use serde_json::{Value, json};

/// Requested representation of objects of a kind.
#[derive(Clone, Debug)]
pub struct Representation {
    kind: Kind,
    /// Requested API version.
    api_version: String,
    accepts: Accepts,
    /// `includeObject` of a table: `None`, `Metadata` or `Object`.
    include: String,
    convertor: TableConvertor,
    /// True once a watch has sent the columns of a table.
    has_sent_columns: bool,
}

impl Representation {
    /// Parses the representation that a request asks for.
    pub fn new(
        sim: &Sim,
        request: &HttpRequest,
        kind: Kind,
        api_version: String,
    ) -> Representation {
        let convertor = TableConvertor::new(sim.server.definitions(), &[kind]);
        Representation {
            kind,
            api_version,
            accepts: request.accepts(),
            include: request.option("includeObject").to_owned(),
            convertor,
            has_sent_columns: false,
        }
    }

    /// Formats one object as JSON.
    pub fn object(&self, sim: &Sim, mut object: RenderedObject) -> String {
        if let Accepts::Table(version) = self.accepts {
            let meta = list_meta(&object);
            return self.table(
                sim,
                vec![object],
                &meta,
                TableForm {
                    version,
                    has_columns: true,
                },
            );
        }
        conversion::shown(&self.api_version, self.kind, &mut object.value);
        match self.accepts {
            Accepts::Metadata(version) | Accepts::MetadataList(version) => {
                metadata(&object, version)
            }
            _ => object.text(),
        }
    }

    /// Formats one object of a watch.
    pub fn event(&mut self, sim: &Sim, object: RenderedObject) -> String {
        let Accepts::Table(version) = self.accepts else {
            return self.object(sim, object);
        };
        let meta = list_meta(&object);
        let has_columns = !std::mem::replace(&mut self.has_sent_columns, true);
        self.table(
            sim,
            vec![object],
            &meta,
            TableForm {
                version,
                has_columns,
            },
        )
    }

    /// Builds an object without content, which only gives the progress of a watch.
    pub fn bookmark(&self, version: u64, annotations: Value) -> Value {
        let mut meta = json!({ "resourceVersion": version.to_string(), "creationTimestamp": null });
        if !annotations.is_null() {
            meta["annotations"] = annotations;
        }
        match self.accepts {
            Accepts::Table(meta_version) => json!({
                "kind": "Table", "apiVersion": meta_version.api_version(), "metadata": { "resourceVersion": version.to_string() },
                "columnDefinitions": null, "rows": [{ "cells": null, "object": {
                    "kind": "PartialObjectMetadata", "apiVersion": meta_version.api_version(), "metadata": meta,
                } }],
            }),
            Accepts::Metadata(meta_version) | Accepts::MetadataList(meta_version) => {
                json!({ "kind": "PartialObjectMetadata", "apiVersion": meta_version.api_version(), "metadata": meta })
            }
            _ => {
                json!({ "kind": self.kind.name(), "apiVersion": self.api_version, "metadata": meta })
            }
        }
    }

    /// Formats the objects of a list, with its metadata.
    pub fn list(&self, sim: &Sim, mut items: Vec<RenderedObject>, list: &ObjectList) -> String {
        let mut meta = json!({ "resourceVersion": list.resource_version.to_string() });
        if !list.continue_token.is_empty() {
            meta["continue"] = list.continue_token.as_str().into();
        }
        if let Some(count) = list.remaining_item_count {
            meta["remainingItemCount"] = count.into();
        }
        if let Accepts::Table(version) = self.accepts {
            return self.table(
                sim,
                items,
                &meta,
                TableForm {
                    version,
                    has_columns: true,
                },
            );
        }
        for item in &mut items {
            conversion::shown(&self.api_version, self.kind, &mut item.value);
        }
        if let Accepts::Metadata(version) | Accepts::MetadataList(version) = self.accepts {
            let items = items.iter().map(|item| metadata(item, version));
            let items: Vec<String> = items.collect();
            return whole(
                "PartialObjectMetadataList",
                version.api_version(),
                &meta,
                &format!("\"items\":[{}]", items.join(",")),
            );
        }
        if self.kind.is_custom() {
            // An unstructured list writes the token even when it is empty.
            meta["continue"] = list.continue_token.as_str().into();
        } else {
            // Items of a typed list have no kind and apiVersion.
            for item in items
                .iter_mut()
                .filter_map(|item| item.value.as_object_mut())
            {
                item.remove("kind");
                item.remove("apiVersion");
            }
        }
        let items: Vec<String> = items.iter().map(RenderedObject::text).collect();
        whole(
            &format!("{}List", self.kind.name()),
            &self.api_version,
            &meta,
            &format!("\"items\":[{}]", items.join(",")),
        )
    }

    fn table(
        &self,
        sim: &Sim,
        objects: Vec<RenderedObject>,
        meta: &Value,
        form: TableForm,
    ) -> String {
        let now = sim.store().wall_at(sim.now()).seconds();
        let columns_of_kind = self.convertor.columns(self.kind);
        let definitions: Vec<Value> = columns_of_kind.iter().map(column).collect();
        let rows = objects.into_iter().map(|mut object| {
            let cells = self.convertor.cells(&object.object, now).into_iter();
            let cells = columns_of_kind.iter().zip(cells);
            let cells: Vec<Value> = cells.map(|(column, text)| column.cell(text)).collect();
            let shown = match self.include.as_str() {
                "None" => "null".to_owned(),
                "Object" => {
                    conversion::shown(&self.api_version, self.kind, &mut object.value);
                    object.text()
                }
                _ => metadata(&object, form.version),
            };
            format!("{{\"cells\":{},\"object\":{shown}}}", Value::from(cells))
        });
        let definitions = if form.has_columns {
            Value::Array(definitions)
        } else {
            Value::Null
        };
        let rows = format!(
            "\"columnDefinitions\":{definitions},\"rows\":[{}]",
            rows.collect::<Vec<_>>().join(",")
        );
        whole("Table", form.version.api_version(), meta, &rows)
    }
}

/// Form of a table.
#[derive(Clone, Copy)]
struct TableForm {
    version: MetaVersion,
    /// True if the table defines its columns.
    has_columns: bool,
}

/// Formats a list or a table as JSON.
fn whole(kind: &str, api_version: &str, meta: &Value, content: &str) -> String {
    format!("{{\"kind\":{kind:?},\"apiVersion\":{api_version:?},\"metadata\":{meta},{content}}}")
}

/// Returns the metadata of a table of one object.
fn list_meta(object: &RenderedObject) -> Value {
    json!({ "resourceVersion": object.value["metadata"]["resourceVersion"] })
}

/// Builds the definition of a column.
fn column(column: &TableColumn) -> Value {
    let format = if column.name == "Name" { "name" } else { "" };
    json!({
        "name": column.name, "type": column.kind, "format": format, "description": "", "priority": i32::from(column.is_wide),
    })
}

fn metadata(object: &RenderedObject, version: MetaVersion) -> String {
    format!(
        "{{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":{:?},\"metadata\":{}}}",
        version.api_version(),
        object.metadata()
    )
}
