//! The difference that the API server shows when a spec may not change: both printed as Go prints them,
//! compared line by line.

use crate::api::schema::{Field, list_element, map_element, schema};
use serde_json::Value;
use std::fmt::Write;

/// Lines around a change.
const CONTEXT: usize = 3;

/// A unified difference of two values of a type, with a line break before it.
pub fn of(kind: &'static str, old: &Value, new: &Value) -> String {
    let (old, new) = (print(kind, old), print(kind, new));
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let edits = edits(&old, &new);
    let mut text = String::from("\n");
    let mut at = 0;
    while let Some(first) = (at..edits.len()).find(|i| edits[*i].0 != ' ') {
        let start = first.saturating_sub(CONTEXT).max(at);
        let mut end = first;
        // Changes that stand near each other share a hunk.
        while let Some(next) = (end + 1..edits.len().min(end + 2 + 2 * CONTEXT)).find(|i| edits[*i].0 != ' ') {
            end = next;
        }
        let stop = (end + 1 + CONTEXT).min(edits.len());
        hunk(&mut text, &edits, start, stop);
        at = stop;
    }
    text
}

fn hunk(text: &mut String, edits: &[(char, &str)], start: usize, stop: usize) {
    let count = |range: &[(char, &str)], skip: char| range.iter().filter(|(mark, _)| *mark != skip).count();
    let (before, within) = (&edits[..start], &edits[start..stop]);
    // Writing to a String cannot fail.
    let _ = writeln!(text, "@@ -{},{} +{},{} @@", count(before, '+') + 1, count(within, '+'), count(before, '-') + 1, count(within, '-'));
    for (mark, line) in within {
        let _ = writeln!(text, "{mark}{line}");
    }
}

/// The changes between two lists of lines: equal ends are kept, the middle is replaced where it differs.
fn edits<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<(char, &'a str)> {
    if old.len() * new.len() > 4_000_000 {
        return old.iter().map(|l| ('-', *l)).chain(new.iter().map(|l| ('+', *l))).collect();
    }
    let mut table = vec![vec![0u32; new.len() + 1]; old.len() + 1];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            table[i][j] = if old[i] == new[j] { table[i + 1][j + 1] + 1 } else { table[i + 1][j].max(table[i][j + 1]) };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut edits = Vec::new();
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            edits.push((' ', old[i]));
            (i, j) = (i + 1, j + 1);
        } else if i < old.len() && (j == new.len() || table[i + 1][j] >= table[i][j + 1]) {
            edits.push(('-', old[i]));
            i += 1;
        } else {
            edits.push(('+', new[j]));
            j += 1;
        }
    }
    edits
}

/// A value as indented JSON with Go's field names, absent fields too.
fn print(kind: &'static str, value: &Value) -> String {
    let mut text = String::new();
    write(&mut text, kind, value, 1);
    text
}

fn write(text: &mut String, kind: &'static str, value: &Value, depth: usize) {
    let kind = kind.trim_start_matches('*');
    let base = schema().scalar(kind).unwrap_or(kind);
    let element = list_element(base);
    match value {
        Value::Array(items) if !items.is_empty() => {
            let each = items.iter().map(|item| (None, element.unwrap_or("any"), item));
            block(text, ('[', ']'), each.collect(), depth);
        }
        Value::Object(map) if map_element(base).is_some() => {
            let element = map_element(base).unwrap_or("any");
            let each = map.iter().map(|(key, item)| (Some(key.clone()), element, item));
            block(text, ('{', '}'), each.collect(), depth);
        }
        // Types of apimachinery are the same inside the server, so they keep their JSON names.
        Value::Object(map) if base.starts_with("metav1.") || schema().fields(base).is_none() => {
            let each = map.iter().map(|(key, item)| (Some(key.clone()), "any", item));
            block(text, ('{', '}'), each.collect(), depth);
        }
        Value::Object(_) => {
            let mut each = Vec::new();
            fields(&mut each, schema().fields(base).unwrap_or_default(), value);
            block(text, ('{', '}'), each, depth);
        }
        _ => text.push_str(&value.to_string()),
    }
}

type Entry<'a> = (Option<String>, &'static str, &'a Value);

fn fields<'a>(each: &mut Vec<Entry<'a>>, list: &[Field], value: &'a Value) {
    for field in list {
        if field.inline() {
            fields(each, schema().fields(field.kind).unwrap_or_default(), value);
        } else {
            let (first, rest) = field.go_name();
            each.push((Some(format!("{first}{rest}")), field.kind, &value[field.json]));
        }
    }
}

fn block(text: &mut String, ends: (char, char), each: Vec<Entry<'_>>, depth: usize) {
    text.push(ends.0);
    for (index, (name, kind, value)) in each.iter().enumerate() {
        text.push_str(if index == 0 { "\n" } else { ",\n" });
        text.push_str(&" ".repeat(depth));
        if let Some(name) = name {
            text.push_str(&format!("\"{name}\": "));
        }
        let zero = zero_of(kind);
        write(text, kind, if value.is_null() { &zero } else { value }, depth + 1);
    }
    text.push('\n');
    text.push_str(&" ".repeat(depth - 1));
    text.push(ends.1);
}

fn zero_of(kind: &str) -> Value {
    match schema().scalar(kind).unwrap_or(kind) {
        "string" => Value::from(""),
        "bool" => Value::Bool(false),
        "int32" | "int64" => Value::from(0),
        base if schema().fields(base).is_some() && !kind.starts_with('*') => Value::Object(serde_json::Map::new()),
        _ => Value::Null,
    }
}
