//! `kubectl apply view-last-applied` and `set-last-applied`: the configuration with which the next apply compares.
//!
//! Models `kubectl/pkg/cmd/apply/apply_view_last_applied.go` and `apply_set_last_applied.go`.

use crate::client::Client;
use crate::documents::{prepare, read, with_last_applied};
use crate::failure::server_error;
use crate::filenames::Filenames;
use crate::parse::Args;
use crate::printers::yaml;
use crate::targets::{Targets, key_of, name_of};
use crate::unavailable::NO_OBJECTS;
use crate::{Failure, Outcome};
use apiserver::{PatchType, Subresource};
use k8s_model::Kind;
use k8s_model::meta::LAST_APPLIED;
use serde_json::{Value, json};

const VIEW_FLAGS: &str = "filename/f= recursive/R kustomize/k= output/o= selector/l= all";
const SET_FLAGS: &str =
    "filename/f= recursive/R kustomize/k= output/o= dry-run?unchanged create-annotation";

fn last_applied(object: &Value) -> Option<&str> {
    object["metadata"]["annotations"][LAST_APPLIED].as_str()
}

/// Returns the objects of a text, with their stored versions.
fn stored(
    client: &mut Client<'_>,
    args: &Args,
    text: &str,
) -> Result<Vec<(Kind, Value, Value)>, Failure> {
    let mut found = Vec::new();
    let contents = read(client, args, text);
    client.streams.fail_all(contents.faults);
    for document in contents.documents {
        let (kind, value) = prepare(client, args, document)?;
        let key = key_of(kind, &value);
        let object = client
            .object(&key)
            .map_err(|error| server_error(&error))?
            .to_value();
        found.push((kind, value, object));
    }
    Ok(found)
}

/// Prints the last applied configuration; none for an object that was never applied.
pub fn view(client: &mut Client<'_>, words: &[String], text: &str) -> Result<Outcome, Failure> {
    let path = "apply view-last-applied";
    let args = Args::parse(path, VIEW_FLAGS, words)?;
    let format = args.get("output").unwrap_or("yaml").to_owned();
    if !matches!(format.as_str(), "yaml" | "json") {
        let message = format!(
            "Unexpected -o output mode: {format}, the flag 'output' must be one of yaml|json"
        );
        return Err(Failure::usage(path, message));
    }
    client.use_flags(&args)?;
    let objects: Vec<Value> = if !Filenames::of(&args).is_empty() {
        stored(client, &args, text)?
            .into_iter()
            .map(|(_, _, object)| object)
            .collect()
    } else if args.words.is_empty() {
        return Err(Failure::error(NO_OBJECTS));
    } else {
        let targets = Targets::parse(client, &args, &args.words)?;
        let unnamed = targets.list.iter().any(|(_, name)| name.is_none());
        if unnamed && args.get("selector").is_none() && !args.on("all") {
            return Err(Failure::error(
                "resource(s) were provided, but no name was specified",
            ));
        }
        targets
            .fetch(client)
            .into_iter()
            .map(|(_, object)| object)
            .collect()
    };
    for object in &objects {
        let Some(last) =
            last_applied(object).and_then(|text| serde_json::from_str::<Value>(text).ok())
        else {
            break;
        };
        match format.as_str() {
            "json" => client
                .streams
                .say(serde_json::to_string_pretty(&last).unwrap_or_default()),
            _ => client.streams.out.push_str(&yaml::print(&last)),
        }
    }
    Ok(Outcome::Done)
}

/// Sets the last applied configuration from a text, without applying it.
pub fn set(client: &mut Client<'_>, words: &[String], text: &str) -> Result<Outcome, Failure> {
    let args = Args::parse("apply set-last-applied", SET_FLAGS, words)?;
    client.use_flags(&args)?;
    if Filenames::of(&args).is_empty() {
        return Err(Failure::error(NO_OBJECTS));
    }
    let mut changes = Vec::new();
    for (kind, value, object) in stored(client, &args, text)? {
        let (new, name) = (with_last_applied(&value), name_of(&object).to_owned());
        let last = last_applied(&object);
        if last.is_none() && !args.on("create-annotation") {
            return Err(Failure::error(format!(
                "no last-applied-configuration annotation found on resource: {name}, to create the annotation, run the command with \
                 --create-annotation"
            )));
        }
        if last == last_applied(&new) {
            client
                .streams
                .say(format!("set-last-applied {name}: no changes required."));
            continue;
        }
        let key = key_of(kind, &object);
        changes.push((
            key,
            json!({"metadata": {"annotations": {LAST_APPLIED: last_applied(&new)}}}),
        ));
    }
    for (key, change) in changes {
        let changed = client
            .patch(&key, Subresource::Main, PatchType::Merge, &change)
            .map_err(|error| server_error(&error))?;
        client.report(key.kind, &changed, "configured")?;
    }
    Ok(Outcome::Done)
}
