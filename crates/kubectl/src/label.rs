//! `kubectl label` and `kubectl annotate`.

use super::client::Client;
use super::failure::server_error;
use super::parse::Args;
use super::targets::{Targets, key_of};
use super::unavailable::NONE_SPECIFIED;
use super::{Failure, Outcome, Reads, Verb};
use apiserver::{PatchType, Subresource, validation};
use serde_json::{Map, Value, json};

const FLAGS: &str = "overwrite selector/l= field-selector= all all-namespaces/A list local resource-version= dry-run?unchanged output/o= \
    @filename/f= kustomize/k= recursive/R record";

/// `kubectl annotate`.
pub const ANNOTATE: Verb = Verb {
    name: "annotate",
    aliases: &[],
    flags: FLAGS,
    reads: Reads::No,
    run: |client, words, _| run(client, words, &ANNOTATIONS),
    help: "Update the annotations on a resource",
};

/// `kubectl label`.
pub const LABEL: Verb = Verb {
    name: "label",
    aliases: &[],
    flags: FLAGS,
    reads: Reads::No,
    run: |client, words, _| run(client, words, &LABELS),
    help: "Update the labels on a resource",
};

/// Differences between the two verbs.
pub struct MetadataVerb {
    verb: &'static str,
    field: &'static str,
    done: &'static str,
}

/// Labels.
pub const LABELS: MetadataVerb = MetadataVerb {
    verb: "label",
    field: "labels",
    done: "labeled",
};
/// Annotations.
pub const ANNOTATIONS: MetadataVerb = MetadataVerb {
    verb: "annotate",
    field: "annotations",
    done: "annotated",
};

fn run(client: &mut Client<'_>, words: &[String], how: &MetadataVerb) -> Result<Outcome, Failure> {
    let args = Args::parse(how.verb, FLAGS, words)?;
    client.use_flags(&args)?;
    let is_change = |word: &String| {
        word.contains('=')
            || word.ends_with('-') && !word.contains('/')
            || word.ends_with('-') && word.contains('.')
    };
    // The first words name objects, even if a name ends in a dash.
    let split = args
        .words
        .iter()
        .enumerate()
        .position(|(index, word)| (index > 0 || args.on("local")) && is_change(word))
        .unwrap_or(args.words.len());
    let (names, changes) = args.words.split_at(split);
    if names.is_empty() && !args.on("local") {
        return Err(Failure::error(NONE_SPECIFIED));
    }
    if changes.is_empty() && !args.on("list") {
        let noun = how.field.trim_end_matches('s');
        return Err(Failure::error(format!(
            "at least one {noun} update is required"
        )));
    }
    let change = changes_of(changes, how)?;
    let noun = how.field.trim_end_matches('s');
    let keys = |removes: bool| {
        changes
            .iter()
            .filter(move |word| word.contains('=') != removes)
            .map(|word| word.split('=').next().unwrap_or(word).trim_end_matches('-'))
    };
    if keys(true).any(|removed| keys(false).any(|set| set == removed)) {
        return Err(Failure::error(format!(
            "can not both modify and remove a {noun} in the same command"
        )));
    }
    for (kind, object) in Targets::parse(client, &args, names)?.fetch(client) {
        if args.on("list") {
            for (key, value) in object["metadata"][how.field]
                .as_object()
                .into_iter()
                .flatten()
            {
                client
                    .streams
                    .say(format!("{key}={}", value.as_str().unwrap_or("")));
            }
            continue;
        }
        let present = object["metadata"][how.field]
            .as_object()
            .cloned()
            .unwrap_or_default();
        if let Some(failure) = overwrite_refusal(&present, &change, &args, how) {
            client.streams.fail(&failure);
            continue;
        }
        let operation = operation(client, &present, &change, how);
        let key = key_of(kind, &object);
        let mut patch = json!({"metadata": {how.field: change}});
        if let Some(version) = args
            .get("resource-version")
            .filter(|version| !version.is_empty())
        {
            patch["metadata"]["resourceVersion"] = version.into();
        }
        match client.patch(&key, Subresource::Main, PatchType::Merge, &patch) {
            Ok(changed) => client.report(kind, &changed, operation)?,
            Err(error) => client.streams.fail(&server_error(&error)),
        }
    }
    Ok(Outcome::Done)
}

fn changes_of(words: &[String], how: &MetadataVerb) -> Result<Map<String, Value>, Failure> {
    let mut change = Map::new();
    for word in words {
        let Some((key, value)) = word.split_once('=') else {
            change.insert(word.trim_end_matches('-').to_owned(), Value::Null);
            continue;
        };
        if how.field == "labels" {
            if let Some(fault) = validation::is_label_value(value) {
                return Err(Failure::error(format!(
                    "invalid label value: {word:?}: {fault}"
                )));
            }
            if let Some(fault) = validation::is_qualified_name(key).first() {
                return Err(Failure::error(format!(
                    "invalid label key: {word:?}: {fault}"
                )));
            }
        }
        change.insert(key.to_owned(), Value::from(value));
    }
    Ok(change)
}

/// Returns the failure if a change overwrites a value without `--overwrite`.
fn overwrite_refusal(
    present: &Map<String, Value>,
    change: &Map<String, Value>,
    args: &Args,
    how: &MetadataVerb,
) -> Option<Failure> {
    if args.on("overwrite") {
        return None;
    }
    let clash = change.iter().find(|(key, value)| {
        !value.is_null() && present.get(*key).is_some_and(|old| old != *value)
    })?;
    let old = present[clash.0].as_str().unwrap_or("");
    let detail = format!("'{}' already has a value ({old})", clash.0);
    Some(Failure::error(if how.field == "labels" {
        format!("{detail}, and --overwrite is false")
    } else {
        format!("--overwrite is false but found the following declared annotation(s): {detail}")
    }))
}

/// Returns the word for what was done, as the printer of names shows it; labels to remove that do not exist are reported.
fn operation(
    client: &mut Client<'_>,
    present: &Map<String, Value>,
    change: &Map<String, Value>,
    how: &MetadataVerb,
) -> &'static str {
    if how.field != "labels" {
        return how.done;
    }
    let (mut set, mut removed) = (false, false);
    for (key, value) in change {
        match (value, present.get(key)) {
            (Value::Null, None) => client.streams.say(format!("label \"{key}\" not found.")),
            (Value::Null, Some(_)) => removed = true,
            (value, old) => set |= old != Some(value),
        }
    }
    match (set, removed) {
        (true, _) => how.done,
        (false, true) => "unlabeled",
        (false, false) => "not labeled",
    }
}
