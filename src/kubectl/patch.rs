//! `kubectl patch`.

use super::client::{Client, server_error};
use super::parse::Args;
use super::targets::{Targets, label, name_of};
use super::{Failure, Outcome, Reads, Verb};
use crate::api::{Kind, Object, ObjectRef, schema};
use crate::engine::store::{ApiError, Patch, patch as patches};
use crate::manifest;
use serde_json::Value;

const FLAGS: &str = "patch/p= type= patch-file= subresource= local dry-run?unchanged output/o= filename/f= selector/l= field-selector=";

/// `kubectl patch`.
pub const VERB: Verb =
    Verb { name: "patch", aliases: &[], flags: FLAGS, reads: Reads::No, run: Some(run), help: "Update fields of a resource" };

fn run(client: &mut Client<'_>, words: &[String], _: &str) -> Result<Outcome, Failure> {
    let args = Args::parse("patch", FLAGS, words)?;
    client.use_flags(&args);
    let how = match args.get("type").unwrap_or("strategic") {
        "strategic" => Patch::Strategic,
        "merge" => Patch::Merge,
        "json" => Patch::Json,
        other => return Err(Failure::error(format!("--type must be one of [json merge strategic], not \"{other}\""))),
    };
    let text = args.get("patch").filter(|text| !text.is_empty());
    let text = text.ok_or_else(|| Failure::error("must specify --patch or --patch-file containing the contents of the patch"))?;
    let change = read(text)?;
    for (kind, object) in Targets::parse(client, &args, &args.words)?.fetch(client) {
        let name = name_of(&object).to_owned();
        let key = ObjectRef::new(kind, object["metadata"]["namespace"].as_str().unwrap_or(""), &name);
        let before = object["metadata"]["resourceVersion"].clone();
        let result = if args.get("subresource") == Some("status") {
            status(client, &key, &object, how, &change)
        } else if args.get("subresource") == Some("resize") {
            client.resize(&key, &change)
        } else {
            checked(kind, how, &change).and_then(|()| client.patch(&key, how, &change))
        };
        match result {
            Ok(after) => {
                let note = if after["metadata"]["resourceVersion"] == before { " (no change)" } else { "" };
                client.say(format!("{} patched{note}", label(kind, &name)));
            }
            Err(error) => client.fail(&server_error(&error)),
        }
    }
    Ok(Outcome::Done)
}

/// The patch as JSON; YAML is read too.
fn read(text: &str) -> Result<Value, Failure> {
    if let Ok(value) = serde_json::from_str(text) {
        return Ok(value);
    }
    let parsed = manifest::parse(text.as_bytes());
    match (parsed.documents.into_iter().next(), parsed.diagnostics.first()) {
        (Some(document), None) if !text.trim_start().starts_with('{') => Ok(document.value),
        (_, Some(diagnostic)) if !text.trim_start().starts_with('{') => {
            Err(Failure::error(format!("unable to parse {text:?}: {}", diagnostic.message)))
        }
        _ => Err(Failure::plain(format!("Error from server (BadRequest): {}", syntax(text)))),
    }
}

/// What Go says about JSON that does not parse.
fn syntax(text: &str) -> String {
    let Err(error) = serde_json::from_str::<Value>(text) else { return String::new() };
    if error.is_eof() {
        return "unexpected end of JSON input".to_owned();
    }
    let line = text.lines().nth(error.line().saturating_sub(1)).unwrap_or("");
    let found = line.chars().nth(error.column().saturating_sub(1)).unwrap_or(' ');
    let place = if error.to_string().contains("key must be a string") { "object key string" } else { "value" };
    format!("invalid character '{found}' looking for beginning of {place}")
}

/// A strategic patch must have the types of the kind's fields.
fn checked(kind: Kind, how: Patch, change: &Value) -> Result<(), ApiError> {
    if how != Patch::Strategic {
        return Ok(());
    }
    let problem = schema::strict_errors(&kind.api_version(), kind.name(), change).into_iter().find(|problem| !problem.unknown);
    let Some(problem) = problem else { return Ok(()) };
    let Some((_, wanted)) = problem.message.rsplit_once(" of type ") else { return Ok(()) };
    Err(ApiError::invalid(format!("patch: Invalid value: \"{}\": unrecognized type: {wanted}", go(change))))
}

/// A value as Go prints maps.
fn go(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let all: Vec<String> = map.iter().map(|(key, value)| format!("{key}:{}", go(value))).collect();
            format!("map[{}]", all.join(" "))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(go).collect::<Vec<_>>().join(" ")),
        Value::String(text) => text.clone(),
        Value::Null => "<nil>".to_owned(),
        other => other.to_string(),
    }
}

fn status(client: &mut Client<'_>, key: &ObjectRef, object: &Value, how: Patch, change: &Value) -> Result<Value, ApiError> {
    let patched = match how {
        Patch::Strategic => patches::strategic_merge(key.kind.name(), object, change).map_err(ApiError::bad_request)?,
        Patch::Merge => {
            let mut value = object.clone();
            patches::merge_patch(&mut value, change);
            value
        }
        Patch::Json => {
            let mut value = object.clone();
            patches::json_patch(&mut value, change).map_err(ApiError::bad_request)?;
            value
        }
    };
    let object = Object::from_value(key.kind, patched).map_err(ApiError::bad_request)?;
    client.update_status(object)
}
