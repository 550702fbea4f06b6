//! What kubectl shows of custom objects: tables with the columns of their definition, and their fields.
//!
//! Models `apiextensions-apiserver/pkg/registry/customresource/tableconvertor` and `kubectl/pkg/explain/v2`.

use super::client::Client;
use super::printers::age;
use super::printers::jsonpath;
use super::{Failure, parse::Args};
use crate::api::{Kind, Timestamp};
use crate::engine::store::{Definition, Definitions, PrinterColumn, Version};
use serde_json::Value;
use std::rc::Rc;

/// The columns of the kinds that definitions add.
#[derive(Clone, Debug, Default)]
pub struct CustomColumns {
    kinds: Vec<(Kind, Vec<PrinterColumn>)>,
}

impl CustomColumns {
    /// Those of the kinds that are asked for.
    pub fn of(definitions: &Definitions, kinds: &[Kind]) -> CustomColumns {
        let asked = definitions.served().filter(|definition| kinds.contains(&definition.kind));
        CustomColumns { kinds: asked.map(|definition| (definition.kind, columns(definition.version("")))).collect() }
    }

    /// Titles, and whether only `-o wide` shows them; `None` for a built-in kind.
    pub fn titles(&self, kind: Kind) -> Option<Vec<(String, bool)>> {
        let columns = self.columns(kind)?.iter().map(|column| (column.name.to_ascii_uppercase(), column.wide));
        Some(std::iter::once(("NAME".to_owned(), false)).chain(columns).collect())
    }

    /// The cells of an object, in the order of the titles.
    pub fn cells(&self, kind: Kind, object: &Value, now: i64) -> Option<Vec<String>> {
        let name = object["metadata"]["name"].as_str().unwrap_or("").to_owned();
        let cells = self.columns(kind)?.iter().map(|column| cell(column, object, now));
        Some(std::iter::once(name).chain(cells).collect())
    }

    fn columns(&self, kind: Kind) -> Option<&[PrinterColumn]> {
        self.kinds.iter().find(|(own, _)| *own == kind).map(|(_, columns)| &columns[..])
    }
}

fn columns(version: &Version) -> Vec<PrinterColumn> {
    if !version.columns.is_empty() {
        return version.columns.clone();
    }
    let path = ".metadata.creationTimestamp".to_owned();
    vec![PrinterColumn { name: "Age".to_owned(), kind: "date".to_owned(), path, wide: false }]
}

fn cell(column: &PrinterColumn, object: &Value, now: i64) -> String {
    let found = jsonpath::values(&column.path, object).unwrap_or_default();
    let all = || found.iter().map(|value| jsonpath::show(value)).collect::<Vec<_>>().join(",");
    match (column.kind.as_str(), found.first()) {
        (_, None | Some(Value::Null)) => String::new(),
        ("date", Some(value)) => match value.as_str().and_then(Timestamp::parse) {
            Some(then) => age::human(now - then.0),
            None => "<invalid>".to_owned(),
        },
        ("integer", Some(value)) if value.is_number() => value.as_f64().map_or_else(String::new, |n| format!("{}", n.trunc())),
        ("integer" | "number", Some(value)) if !value.is_number() => String::new(),
        ("boolean", Some(value)) if !value.is_boolean() => String::new(),
        _ => all(),
    }
}

/// The definition of a custom kind.
pub fn definition(client: &Client<'_>, kind: Kind) -> Option<Rc<Definition>> {
    client.sim().server().definitions().of(kind).cloned()
}

/// The fields of a custom kind, as far as its schema tells.
pub fn explain(client: &mut Client<'_>, kind: Kind, steps: &[&str], args: &Args) -> Result<(), Failure> {
    let info = kind.info();
    let missing = || Failure::error(format!("couldn't find resource for \"{}\"", info.name));
    let definition = definition(client, kind).ok_or_else(missing)?;
    let version = definition.version(args.get("api-version").and_then(|version| version.rsplit('/').next()).unwrap_or(""));
    client.say(format!("GROUP:      {}\nKIND:       {}\nVERSION:    {}\n", info.group, info.name, version.name));
    let mut schema = with_header(&version.schema);
    for (index, step) in steps.iter().enumerate() {
        let found = inner(&schema)["properties"].get(step).cloned();
        let found = found.ok_or_else(|| Failure::error(format!("field {step:?} does not exist")))?;
        if index + 1 == steps.len() {
            client.say(format!("FIELD: {step} <{}>", type_of(&found)));
            enumerated(client, &found, "");
            client.say("\n");
        }
        schema = found;
    }
    client.say("DESCRIPTION:");
    let text = described(&schema, "<empty>", 4);
    client.out.push_str(&text);
    if inner(&schema)["properties"].is_object() {
        client.say("FIELDS:");
        fields(client, inner(&schema), 1, args.on("recursive"));
        client.say("\n");
    } else {
        client.say("    \n\n");
    }
    Ok(())
}

/// The schema with the fields that every object has.
fn with_header(schema: &Value) -> Value {
    let mut schema = schema.clone();
    if let Some(map) = schema.as_object_mut() {
        let properties = map.entry("properties").or_insert_with(|| Value::Object(Default::default()));
        // What a definition says of its properties may be anything.
        let Some(properties) = properties.as_object_mut() else { return schema };
        for (name, kind) in [("apiVersion", "string"), ("kind", "string"), ("metadata", "object")] {
            properties.entry(name).or_insert_with(|| serde_json::json!({ "type": kind }));
        }
        if let Some(metadata) = properties.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.entry("title").or_insert_with(|| "ObjectMeta".into());
        }
    }
    schema
}

/// The schema of the elements of a list or the values of a map, or the schema itself.
fn inner(schema: &Value) -> &Value {
    match schema {
        schema if schema["items"].is_object() => inner(&schema["items"]),
        schema if schema["additionalProperties"].is_object() => inner(&schema["additionalProperties"]),
        schema => schema,
    }
}

fn is_required(schema: &Value, name: &str) -> bool {
    schema["required"].as_array().is_some_and(|required| required.iter().any(|own| own == name))
}

fn type_of(schema: &Value) -> String {
    match schema["type"].as_str() {
        Some("array") => format!("[]{}", type_of(&schema["items"])),
        Some("object") if schema["additionalProperties"].is_object() => format!("map[string]{}", type_of(&schema["additionalProperties"])),
        Some("object") => schema["title"].as_str().filter(|title| *title == "ObjectMeta").unwrap_or("Object").to_owned(),
        Some(plain) => plain.to_owned(),
        None if schema["x-kubernetes-int-or-string"] == true => "IntOrString".to_owned(),
        None => "Object".to_owned(),
    }
}

fn enumerated(client: &mut Client<'_>, schema: &Value, lead: &str) {
    if let Some(values) = schema["enum"].as_array() {
        let values: Vec<String> = values.iter().map(jsonpath::show).collect();
        client.say(format!("{lead}enum: {}", values.join(", ")));
    }
}

/// The description of a field, or what stands for it.
fn described(schema: &Value, without: &str, indent: usize) -> String {
    let text = schema["description"].as_str().filter(|text| !text.is_empty()).unwrap_or(without);
    text.lines().map(|line| format!("{}{line}\n", " ".repeat(indent))).collect()
}

fn fields(client: &mut Client<'_>, schema: &Value, depth: usize, recursive: bool) {
    let lead = "  ".repeat(depth);
    let mut first = true;
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let required = if is_required(schema, name) { " -required-" } else { "" };
        if !first && !recursive {
            client.say("");
        }
        first = false;
        client.say(format!("{lead}{name}\t<{}>{required}", type_of(field)));
        enumerated(client, field, &lead);
        if recursive {
            if depth < 16 && inner(field)["properties"].is_object() {
                fields(client, inner(field), depth + 1, true);
            }
        } else {
            let text = described(field, "<no description>", 4);
            client.out.push_str(&text);
        }
    }
}
