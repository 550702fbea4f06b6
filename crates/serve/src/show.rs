//! Representations of an answer: objects, lists, tables, metadata only.
//!
//! Models `apiserver/pkg/endpoints/handlers/response.go` and `rest/table.go`.

use super::convert;
use super::objects::RenderedObject;
use super::request::{Accepts, Request};
use cluster::Sim;
use k8s_model::Kind;
use kubectl::CustomColumns;
use kubectl::printers::{self, TableRow};
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
    custom: CustomColumns,
    /// True once a watch has sent the columns of a table.
    told: bool,
}

impl Representation {
    /// Parses the representation that a request asks for.
    pub fn new(sim: &Sim, request: &Request, kind: Kind, api_version: String) -> Representation {
        let custom = CustomColumns::of(sim.server().definitions(), &[kind]);
        Representation {
            kind,
            api_version,
            accepts: request.accepts(),
            include: request.option("includeObject").to_owned(),
            custom,
            told: false,
        }
    }

    /// Formats one object as JSON.
    pub fn object(&self, sim: &Sim, mut object: RenderedObject) -> String {
        if self.accepts == Accepts::Table {
            let version = object.value["metadata"]["resourceVersion"].clone();
            return self.table(sim, vec![object], version, &Value::Null, true);
        }
        convert::shown(&self.api_version, self.kind, &mut object.value);
        if self.accepts == Accepts::Metadata {
            metadata(&object)
        } else {
            object.text()
        }
    }

    /// Formats one object of a watch.
    pub fn event(&mut self, sim: &Sim, object: RenderedObject) -> String {
        if self.accepts != Accepts::Table {
            return self.object(sim, object);
        }
        let version = object.value["metadata"]["resourceVersion"].clone();
        let columns = !std::mem::replace(&mut self.told, true);
        self.table(sim, vec![object], version, &Value::Null, columns)
    }

    /// Builds an object without content, which only gives the progress of a watch.
    pub fn bookmark(&self, version: u64, annotations: Value) -> Value {
        let mut meta = json!({ "resourceVersion": version.to_string(), "creationTimestamp": null });
        if !annotations.is_null() {
            meta["annotations"] = annotations;
        }
        match self.accepts {
            Accepts::Table => json!({
                "kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": { "resourceVersion": version.to_string() },
                "columnDefinitions": null, "rows": [{ "cells": null, "object": {
                    "kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": meta,
                } }],
            }),
            Accepts::Metadata => {
                json!({ "kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": meta })
            }
            _ => {
                json!({ "kind": self.kind.name(), "apiVersion": self.api_version, "metadata": meta })
            }
        }
    }

    /// Formats several objects, with the resourceVersion and the metadata about the rest.
    pub fn list(
        &self,
        sim: &Sim,
        mut items: Vec<RenderedObject>,
        version: u64,
        more: &Value,
    ) -> String {
        let version = Value::from(version.to_string());
        if self.accepts == Accepts::Table {
            return self.table(sim, items, version, more, true);
        }
        for item in &mut items {
            convert::shown(&self.api_version, self.kind, &mut item.value);
        }
        let mut meta = json!({ "resourceVersion": version });
        join(&mut meta, more);
        if self.accepts == Accepts::Metadata {
            let items: Vec<String> = items.iter().map(metadata).collect();
            return whole(
                "PartialObjectMetadataList",
                "meta.k8s.io/v1",
                &meta,
                &format!("\"items\":[{}]", items.join(",")),
            );
        }
        if !self.kind.is_custom() {
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
        version: Value,
        more: &Value,
        columns: bool,
    ) -> String {
        let now = sim.server().wall_at(sim.now()).seconds();
        let (plain, cells) = printers::columns(self.kind.name());
        let titles = self.custom.titles(self.kind);
        let titles = titles.unwrap_or_else(|| {
            plain
                .iter()
                .map(|(title, wide)| ((*title).to_owned(), *wide))
                .collect()
        });
        let definitions: Vec<Value> = titles
            .iter()
            .map(|(title, wide)| column(title, *wide))
            .collect();
        let rows = objects.into_iter().map(|mut object| {
            let own = self.custom.cells(self.kind, &object.value, now);
            let cells = own.unwrap_or_else(|| {
                cells(TableRow {
                    object: &object.value,
                    now,
                })
            });
            let shown = match self.include.as_str() {
                "None" => "null".to_owned(),
                "Object" => {
                    convert::shown(&self.api_version, self.kind, &mut object.value);
                    object.text()
                }
                _ => metadata(&object),
            };
            format!("{{\"cells\":{},\"object\":{shown}}}", Value::from(cells))
        });
        let mut meta = json!({ "resourceVersion": version });
        join(&mut meta, more);
        let definitions = if columns {
            Value::Array(definitions)
        } else {
            Value::Null
        };
        let rows = format!(
            "\"columnDefinitions\":{definitions},\"rows\":[{}]",
            rows.collect::<Vec<_>>().join(",")
        );
        whole("Table", "meta.k8s.io/v1", &meta, &rows)
    }
}

/// Formats a list or a table as JSON.
fn whole(kind: &str, api_version: &str, meta: &Value, content: &str) -> String {
    format!("{{\"kind\":{kind:?},\"apiVersion\":{api_version:?},\"metadata\":{meta},{content}}}")
}

fn join(meta: &mut Value, more: &Value) {
    if let (Some(meta), Some(more)) = (meta.as_object_mut(), more.as_object()) {
        meta.extend(more.clone());
    }
}

/// Builds a column: clients print its name in capitals.
fn column(title: &str, wide: bool) -> Value {
    let mut name = String::new();
    for (index, word) in title.split(' ').enumerate() {
        let lower = word.to_lowercase();
        let mut chars = lower.chars();
        name.extend((index > 0).then_some(' '));
        name.extend(chars.next().into_iter().flat_map(char::to_uppercase));
        name.push_str(&chars.as_str().replace("-ip", "-IP"));
    }
    let format = if title == "NAME" { "name" } else { "" };
    json!({ "name": name, "type": "string", "format": format, "description": "", "priority": i32::from(wide) })
}

fn metadata(object: &RenderedObject) -> String {
    format!(
        "{{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/v1\",\"metadata\":{}}}",
        object.metadata()
    )
}
