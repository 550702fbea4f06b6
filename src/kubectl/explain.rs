//! `kubectl explain`: the fields of a kind with their types.

use super::client::Client;
use super::parse::Args;
use super::{Failure, Outcome, Reads, Verb};
use crate::api::schema::{list_element, map_element, schema};

const FLAGS: &str = "recursive api-version= output=";

/// `kubectl explain`.
pub const VERB: Verb =
    Verb { name: "explain", aliases: &[], flags: FLAGS, reads: Reads::Yes, run, help: "Get documentation for a resource" };

fn run(client: &mut Client<'_>, words: &[String], _: &str) -> Result<Outcome, Failure> {
    let args = Args::parse("explain", FLAGS, words)?;
    let Some(path) = args.words.first() else {
        return Err(Failure::error(
            "You must specify the type of resource to explain. Use \"kubectl api-resources\" for a complete list of supported resources.",
        ));
    };
    let (word, steps) = path.split_once('.').map_or((path.as_str(), ""), |(word, steps)| (word, steps));
    let steps = steps.split('.').filter(|step| !step.is_empty());
    let kind = client.kind(word).ok_or_else(|| Failure::plain(format!("the server doesn't have a resource type {word:?}")))?;
    if kind.is_custom() {
        let info = kind.info();
        let full = path.strip_prefix(word).and_then(|rest| rest.trim_start_matches('.').strip_prefix(info.group));
        let steps: Vec<&str> = match full {
            Some(rest) if rest.is_empty() || rest.starts_with('.') => rest.split('.').filter(|step| !step.is_empty()).collect(),
            _ => steps.collect(),
        };
        super::custom::explain(client, kind, &steps, &args)?;
        return Ok(Outcome::Done);
    }
    let info = kind.info();
    if let Some(version) = args.get("api-version").filter(|version| *version != kind.api_version()) {
        return Err(Failure::error(format!("couldn't find resource for \"{version}, Resource={}\"", info.plural)));
    }
    let Some(mut current) = schema().kind(&kind.api_version(), kind.name()) else {
        return Err(Failure::error(format!("couldn't find resource for \"{}\"", kind.name())));
    };
    if !info.group.is_empty() {
        client.say(format!("GROUP:      {}", info.group));
    }
    client.say(format!("KIND:       {}\nVERSION:    {}\n", info.name, info.version));
    let mut field = None;
    for step in steps {
        let found = schema().field(current, step).ok_or_else(|| Failure::error(format!("field \"{step}\" does not exist")))?;
        current = element(found.kind);
        field = Some((step, found.kind));
    }
    if let Some((name, kind)) = field {
        client.say(format!("FIELD: {name} <{}>\n", shown(kind)));
    }
    if schema().fields(current).is_some() {
        client.say("FIELDS:");
        let text = fields(current, 1, args.on("recursive"));
        client.out.push_str(&text);
    }
    Ok(Outcome::Done)
}

/// The struct inside a list, a map or a pointer.
fn element(kind: &'static str) -> &'static str {
    let inner = kind.trim_start_matches('*');
    list_element(inner).or(map_element(inner)).map_or(inner, |inner| inner.trim_start_matches('*'))
}

const DEPTH: usize = 12;

fn fields(kind: &'static str, depth: usize, recursive: bool) -> String {
    let mut lines: Vec<(String, String)> = Vec::new();
    collect(kind, depth, recursive, &mut lines);
    crate::sort::sort(&mut lines);
    lines.into_iter().map(|(_, text)| text).collect()
}

fn collect(kind: &'static str, depth: usize, recursive: bool, lines: &mut Vec<(String, String)>) {
    for field in schema().fields(kind).unwrap_or_default() {
        if field.inline() {
            collect(field.kind.trim_start_matches('*'), depth, recursive, lines);
            continue;
        }
        let required = if field.required { " -required-" } else { "" };
        let mut text = format!("{}{}\t<{}>{required}\n", "  ".repeat(depth), field.json, shown(field.kind));
        if recursive && depth < DEPTH {
            text.push_str(&fields(element(field.kind), depth + 1, true));
        }
        lines.push((field.json.to_owned(), text));
    }
}

/// A type as kubectl shows it.
fn shown(kind: &str) -> String {
    let inner = kind.trim_start_matches('*');
    if let Some(element) = inner.strip_prefix("[]") {
        return format!("[]{}", shown(element));
    }
    let base = schema().scalar(inner).unwrap_or(inner);
    if let Some((_, element)) = base.strip_prefix("map[").and_then(|rest| rest.split_once(']')) {
        return format!("map[string]{}", shown(element));
    }
    match base {
        "bool" => "boolean".to_owned(),
        "int32" | "int64" => "integer".to_owned(),
        "metav1.Time" | "metav1.MicroTime" => "string".to_owned(),
        other => other.rsplit('.').next().unwrap_or(other).to_owned(),
    }
}
