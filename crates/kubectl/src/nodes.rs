//! `kubectl cordon`, `uncordon` and `taint`.

use super::client::Client;
use super::failure::{list_error, server_error};
use super::output::resource;
use super::parse::Args;
use super::targets::name_of;
use super::unavailable::NO_OBJECTS;
use super::{Failure, Outcome, Reads, Verb};
use apiserver::{ListOptions, PatchType, Subresource, validation};
use k8s_model::{Kind, ObjectRef};
use serde_json::{Value, json};

const CORDON_FLAGS: &str = "selector/l= dry-run?unchanged";
const TAINT_FLAGS: &str = "overwrite selector/l= all dry-run?unchanged output/o=";

/// `kubectl uncordon`.
pub const UNCORDON: Verb = Verb {
    name: "uncordon",
    aliases: &[],
    flags: CORDON_FLAGS,
    reads: Reads::No,
    run: |client, words, _| cordon(client, words, false),
    help: "Mark node as schedulable",
};

/// `kubectl cordon`.
pub const CORDON: Verb = Verb {
    name: "cordon",
    aliases: &[],
    flags: CORDON_FLAGS,
    reads: Reads::No,
    run: |client, words, _| cordon(client, words, true),
    help: "Mark node as unschedulable",
};

/// `kubectl taint`.
pub const TAINT: Verb = Verb {
    name: "taint",
    aliases: &[],
    flags: TAINT_FLAGS,
    reads: Reads::No,
    run: taint,
    help: "Update the taints on one or more nodes",
};

fn cordon(client: &mut Client<'_>, words: &[String], on: bool) -> Result<Outcome, Failure> {
    let verb = if on { "cordon" } else { "uncordon" };
    let args = Args::parse(verb, CORDON_FLAGS, words)?;
    client.use_flags(&args)?;
    if args.words.is_empty() && args.get("selector").is_none() {
        return Err(Failure::error(format!(
            "USAGE: {verb} NODE [flags]\nSee 'kubectl {verb} -h' for help and examples"
        )));
    }
    if args.words.is_empty() && args.get("selector") == Some("") {
        return Err(Failure::error(NO_OBJECTS));
    }
    for word in &args.words {
        if let Some((kind, _)) = word.split_once('/')
            && super::targets::kind(client, kind)? != Kind::Node
        {
            let found = resource(super::targets::kind(client, kind)?);
            return Err(Failure::error(format!(
                "expected resource of type node, got {found:?}"
            )));
        }
    }
    for name in named(client, &args)? {
        set_cordon(client, &name, on)?;
    }
    Ok(Outcome::Done)
}

/// Returns the nodes given by name or by a label selector.
pub fn named(client: &Client<'_>, args: &Args) -> Result<Vec<String>, Failure> {
    let Some(labels) = args.get("selector") else {
        return Ok(args
            .words
            .iter()
            .map(|word| word.trim_start_matches("node/").to_owned())
            .collect());
    };
    let options = ListOptions {
        label_selector: labels.to_owned(),
        ..ListOptions::default()
    };
    let found = client
        .listing(Kind::Node, "", options.clone())
        .map_err(|error| list_error(Kind::Node, &options, &error))?;
    Ok(found.map(|node| node.meta.name.to_string()).collect())
}

/// Cordons or uncordons a node, and prints whether that changed anything.
pub fn set_cordon(client: &mut Client<'_>, name: &str, on: bool) -> Result<(), Failure> {
    let node = client.get(Kind::Node, name)?;
    let word = if on { "cordoned" } else { "uncordoned" };
    if (node["spec"]["unschedulable"] == true) == on {
        return client.report(Kind::Node, &node, &format!("already {word}"));
    }
    let value = if on { json!(true) } else { Value::Null };
    let key = ObjectRef::new(Kind::Node, "", name);
    let change = json!({"spec": {"unschedulable": value}});
    let node = client
        .patch(&key, Subresource::Main, PatchType::Strategic, &change)
        .map_err(|error| server_error(&error))?;
    client.report(Kind::Node, &node, word)
}

struct TaintChange {
    key: String,
    value: String,
    effect: String,
    remove: bool,
}

const EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

fn taint(client: &mut Client<'_>, words: &[String], _: &str) -> Result<Outcome, Failure> {
    let args = Args::parse("taint", TAINT_FLAGS, words)?;
    client.use_flags(&args)?;
    let Some((kind, rest)) = args.words.split_first() else {
        return Err(Failure::error("at least one taint update is required"));
    };
    if kind.contains('/') {
        return Err(Failure::plain(format!(
            "the server doesn't have a resource type {kind:?}"
        )));
    }
    if super::targets::kind(client, kind)? != Kind::Node {
        return Err(Failure::error(format!(
            "invalid resource type {kind}, only node types are supported"
        )));
    }
    let mut nodes: Vec<String> = Vec::new();
    let mut changes = Vec::new();
    for word in rest {
        match change(word)? {
            Some(change) => {
                let same = |other: &TaintChange| {
                    !change.remove
                        && !other.remove
                        && other.key == change.key
                        && other.effect == change.effect
                };
                if changes.iter().any(same) {
                    let taint = format!(
                        "{{{} {} {} <nil>}}",
                        change.key, change.value, change.effect
                    );
                    return Err(Failure::usage(
                        "taint",
                        format!("duplicated taints with the same key and effect: {taint}"),
                    ));
                }
                changes.push(change);
            }
            None => nodes.push(word.clone()),
        }
    }
    if args.get("selector").is_some() {
        nodes = named(client, &args)?;
    } else if args.on("all") {
        nodes = client
            .list(Kind::Node, "")?
            .iter()
            .map(|node| name_of(node).to_owned())
            .collect();
    }
    if changes.is_empty() {
        return Err(Failure::error("at least one taint update is required"));
    }
    if nodes.is_empty() {
        return Err(Failure::error(
            "at least one resource name must be specified since 'all' parameter is not set",
        ));
    }
    for name in nodes {
        if let Err(failure) = taint_one(client, &name, &changes, args.on("overwrite")) {
            client.streams.fail(&failure);
        }
    }
    Ok(Outcome::Done)
}

/// Parses `key=value:effect`, `key:effect-`, `key-`; `None` for a node's name.
fn change(word: &str) -> Result<Option<TaintChange>, Failure> {
    let remove = word.ends_with('-');
    let body = word.trim_end_matches('-');
    let (pair, effect) = body.split_once(':').unwrap_or((body, ""));
    if !remove && !word.contains(['=', ':']) {
        return Ok(None);
    }
    let invalid = |why: String| {
        Err(Failure::usage(
            "taint",
            format!("invalid taint spec: {body}{why}"),
        ))
    };
    if body.matches(':').count() > 1 || pair.matches('=').count() > 1 {
        return invalid(String::new());
    }
    if !effect.is_empty() && !EFFECTS.contains(&effect) {
        return Err(Failure::usage(
            "taint",
            format!("invalid taint effect: {effect}, unsupported taint effect"),
        ));
    }
    let (key, value) = if effect.is_empty() {
        (pair, "")
    } else {
        pair.split_once('=').unwrap_or((pair, ""))
    };
    if let Some(fault) = validation::is_label_value(value) {
        return invalid(format!(", {fault}"));
    }
    let faults = validation::is_qualified_name(key);
    if !faults.is_empty() {
        return invalid(format!(", {}", faults.join("; ")));
    }
    if effect.is_empty() && !remove {
        return invalid(String::new());
    }
    Ok(Some(TaintChange {
        key: key.to_owned(),
        value: value.to_owned(),
        effect: effect.to_owned(),
        remove,
    }))
}

fn taint_one(
    client: &mut Client<'_>,
    name: &str,
    changes: &[TaintChange],
    overwrite: bool,
) -> Result<(), Failure> {
    let node = client.get(Kind::Node, name)?;
    let mut taints = node["spec"]["taints"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let (mut added, mut removed, mut replaced) = (false, false, false);
    for change in changes {
        let same = |taint: &Value| {
            taint["key"] == change.key.as_str()
                && (change.effect.is_empty() || taint["effect"] == change.effect.as_str())
        };
        let exists = taints.iter().any(same);
        if change.remove {
            if !exists {
                return Err(Failure::error(format!(
                    "taint \"{}\" not found",
                    change.key
                )));
            }
            taints.retain(|taint| !same(taint));
            removed = true;
            continue;
        }
        if exists && !overwrite {
            return Err(Failure::error(format!(
                "node {name} already has {} taint(s) with same effect(s) and --overwrite is false",
                change.key
            )));
        }
        taints.retain(|taint| !same(taint));
        let mut taint = json!({"key": change.key, "effect": change.effect});
        if !change.value.is_empty() {
            taint["value"] = Value::from(change.value.as_str());
        }
        taints.insert(0, taint);
        (added, replaced) = (added || !exists, replaced || exists);
    }
    let mut edited = node.clone();
    if let Some(spec) = edited["spec"].as_object_mut() {
        match taints.is_empty() {
            true => drop(spec.remove("taints")),
            false => drop(spec.insert("taints".to_owned(), Value::Array(taints))),
        }
    }
    let node = client
        .patch_difference(Kind::Node, &node, edited)
        .map_err(|error| server_error(&error))?;
    let word = match (added || replaced, removed) {
        (true, true) => "modified",
        (true, false) if replaced => "modified",
        (true, false) => "tainted",
        _ => "untainted",
    };
    client.report_plainly(Kind::Node, &node, word)
}
