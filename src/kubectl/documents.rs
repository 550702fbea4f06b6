//! The objects of a manifest that a command sends, as a client checks and completes them.

use super::Failure;
use super::client::Client;
use super::failure::json_fault;
use super::parse::Args;
use crate::api::meta::LAST_APPLIED;
use crate::api::{Kind, json, schema};
use crate::manifest;
use serde_json::{Map, Value, json};

/// The objects of a text that are fit to be sent, up to the first document that cannot be read, whose fault is printed.
///
/// Models `StreamVisitor.Visit` (`staging/src/k8s.io/cli-runtime/pkg/resource/visitor.go`).
pub fn read(client: &mut Client<'_>, text: &str) -> Vec<Value> {
    let (mut reader, mut values) = (manifest::Reader::default(), Vec::new());
    while let Some(part) = reader.next(text.as_bytes()) {
        values.extend(part.documents.into_iter().map(|document| document.value));
        let Some(fault) = part.diagnostics.iter().find(|one| one.severity == manifest::Severity::Error) else { continue };
        // What is neither JSON nor YAML and looks like JSON is told as JSON.
        if text.trim_start().starts_with('{') {
            let (offset, fault) = json_fault(text);
            client.fail(&Failure::error(format!("error parsing STDIN: json: offset {offset}: {fault}")));
            return Vec::new();
        }
        client.fail(&Failure::error(&fault.message));
        break;
    }
    values
}

/// Checks of a client before it sends an object: header, metadata, kind, namespace.
pub fn prepare(client: &Client<'_>, args: &Args, mut value: Value) -> Result<(Kind, Value), Failure> {
    if let Some(message) = manifest::header_error(&value) {
        let validates = matches!(args.verb_path.as_str(), "apply" | "create" | "replace");
        let validates = validates && !matches!(args.get("validate"), Some("false" | "ignore"));
        let message = if validates { message } else { undecodable(&value) };
        return Err(Failure::error(message));
    }
    if let Some(problem) = schema::metadata_error(&value) {
        return Err(Failure::error(format!("unable to decode \"STDIN\": {}", problem.message)));
    }
    let text = |path: &str| value.pointer(path).and_then(Value::as_str).unwrap_or("").to_owned();
    let (api_version, kind_name) = (text("/apiVersion"), text("/kind"));
    let (name, namespace) = (text("/metadata/name"), text("/metadata/namespace"));
    let Some(kind) = client.sim().server().definitions().named(&api_version, &kind_name) else {
        return Err(Failure::error(format!(
            "resource mapping not found for name: \"{name}\" namespace: \"{namespace}\" from \"STDIN\": no matches for kind \
             \"{kind_name}\" in version \"{api_version}\"\nensure CRDs are installed first"
        )));
    };
    if kind.info().namespaced {
        if namespace.is_empty() {
            set(&mut value, "namespace", &client.namespace);
        } else if args.get("namespace").is_some_and(|asked| asked != namespace) {
            return Err(Failure::error(format!(
                "the namespace from the provided object \"{namespace}\" does not match the namespace \"{}\". You must pass \
                 '--namespace={namespace}' to perform this operation.",
                client.namespace
            )));
        }
    } else if let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("namespace");
    }
    Ok((kind, value))
}

/// What a client that does not validate says about an object without a kind or an apiVersion.
fn undecodable(value: &Value) -> String {
    let missing = if value["kind"].as_str().is_none_or(str::is_empty) { "Kind" } else { "apiVersion" };
    format!("unable to decode \"STDIN\": Object '{missing}' is missing in '{value}'")
}

fn set(value: &mut Value, name: &str, text: &str) {
    let Some(map) = value.as_object_mut() else { return };
    if let Some(metadata) = map.entry("metadata").or_insert_with(|| Value::Object(Map::new())).as_object_mut() {
        metadata.insert(name.to_owned(), Value::from(text));
    }
}

/// The object with the annotation that holds the object without it.
pub fn with_last_applied(value: &Value) -> Value {
    let mut value = value.clone();
    let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut) else { return value };
    let annotations = metadata.entry("annotations").or_insert_with(|| json!({}));
    if annotations.is_null() {
        *annotations = json!({});
    }
    if let Some(annotations) = annotations.as_object_mut() {
        annotations.remove(LAST_APPLIED);
    }
    let text = format!("{}\n", json::escaped(&value));
    if let Some(annotations) = value["metadata"]["annotations"].as_object_mut() {
        annotations.insert(LAST_APPLIED.to_owned(), Value::from(text));
    }
    value
}
