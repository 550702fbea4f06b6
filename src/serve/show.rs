//! The forms of an answer: objects, lists, tables, metadata alone.
//!
//! Models `apiserver/pkg/endpoints/handlers/response.go` and `rest/table.go`.

use super::convert;
use super::request::{Accepts, Request};
use crate::api::Kind;
use crate::engine::Sim;
use crate::kubectl::CustomColumns;
use crate::kubectl::printers::{self, TableRow};
use serde_json::{Value, json};

/// How a client wants objects of a kind.
#[derive(Clone, Debug)]
pub struct Representation {
    kind: Kind,
    /// The version that was asked for.
    api_version: String,
    accepts: Accepts,
    /// `includeObject` of a table: `None`, `Metadata` or `Object`.
    include: String,
    custom: CustomColumns,
    /// A watch says the columns once.
    told: bool,
}

impl Representation {
    /// The form that a request asks for.
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

    /// One object.
    pub fn object(&self, sim: &Sim, mut value: Value) -> Value {
        if self.accepts != Accepts::Table {
            convert::shown(&self.api_version, self.kind, &mut value);
        }
        match self.accepts {
            Accepts::Table => {
                let version = value["metadata"]["resourceVersion"].clone();
                self.table(sim, vec![value], version, &Value::Null, true)
            }
            Accepts::Metadata => metadata(&value),
            _ => value,
        }
    }

    /// One object of a watch.
    pub fn event(&mut self, sim: &Sim, value: Value) -> Value {
        if self.accepts != Accepts::Table {
            return self.object(sim, value);
        }
        let version = value["metadata"]["resourceVersion"].clone();
        let columns = !std::mem::replace(&mut self.told, true);
        self.table(sim, vec![value], version, &Value::Null, columns)
    }

    /// An object without content, which only tells how far a watch has come.
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
            Accepts::Metadata => json!({ "kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": meta }),
            _ => json!({ "kind": self.kind.name(), "apiVersion": self.api_version, "metadata": meta }),
        }
    }

    /// Several objects, with the version of the store and what is said of those that are left off.
    pub fn list(&self, sim: &Sim, mut items: Vec<Value>, version: u64, more: &Value) -> Value {
        let version = Value::from(version.to_string());
        if self.accepts == Accepts::Table {
            return self.table(sim, items, version, more, true);
        }
        for item in &mut items {
            convert::shown(&self.api_version, self.kind, item);
        }
        let mut meta = json!({ "resourceVersion": version });
        join(&mut meta, more);
        if self.accepts == Accepts::Metadata {
            let items: Vec<Value> = items.iter().map(metadata).collect();
            return json!({ "kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "metadata": meta, "items": items });
        }
        if !self.kind.is_custom() {
            // Items of a typed list do not say what they are.
            for item in items.iter_mut().filter_map(Value::as_object_mut) {
                item.remove("kind");
                item.remove("apiVersion");
            }
        }
        json!({ "kind": format!("{}List", self.kind.name()), "apiVersion": self.api_version, "metadata": meta, "items": items })
    }

    fn table(&self, sim: &Sim, objects: Vec<Value>, version: Value, more: &Value, columns: bool) -> Value {
        let now = sim.server().wall_at(sim.now()).seconds();
        let (plain, cells) = printers::columns(self.kind.name());
        let titles = self.custom.titles(self.kind);
        let titles = titles.unwrap_or_else(|| plain.iter().map(|(title, wide)| ((*title).to_owned(), *wide)).collect());
        let definitions: Vec<Value> = titles.iter().map(|(title, wide)| column(title, *wide)).collect();
        let rows = objects.into_iter().map(|object| {
            let own = self.custom.cells(self.kind, &object, now);
            let cells = own.unwrap_or_else(|| cells(TableRow { object: &object, now }));
            let shown = match self.include.as_str() {
                "None" => Value::Null,
                "Object" => {
                    let mut object = object;
                    convert::shown(&self.api_version, self.kind, &mut object);
                    object
                }
                _ => metadata(&object),
            };
            json!({ "cells": cells, "object": shown })
        });
        let mut meta = json!({ "resourceVersion": version });
        join(&mut meta, more);
        json!({
            "kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": meta,
            "columnDefinitions": if columns { Value::Array(definitions) } else { Value::Null },
            "rows": rows.collect::<Vec<_>>(),
        })
    }
}

fn join(meta: &mut Value, more: &Value) {
    if let (Some(meta), Some(more)) = (meta.as_object_mut(), more.as_object()) {
        meta.extend(more.clone());
    }
}

/// A column: clients write its name in capitals.
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

fn metadata(object: &Value) -> Value {
    json!({ "kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": object["metadata"] })
}
