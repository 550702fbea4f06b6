//! The normal form of what kubectl prints.

use super::names::Names;
use regex::Regex;
use serde_json::{Value, json};
use std::sync::LazyLock;

macro_rules! pattern {
    ($name:ident, $text:literal) => {
        static $name: LazyLock<Regex> = LazyLock::new(|| Regex::new($text).unwrap());
    };
}
pattern!(
    LONG_TIME,
    r"[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d [+-]\d{4}"
);
pattern!(IP, r"\b(?:10|192|172)\.\d{1,3}\.\d{1,3}\.\d{1,3}\b");
pattern!(AGE, r"^(?:\d+(?:ms|[smhdy]))+$");
pattern!(NODE, r"\bnode-\d+\b");
pattern!(OVER, r"\bx\d+ over");
pattern!(NODE_PORT, r":3[0-2]\d{3}/");
pattern!(CONTAINER, r"containerd://[0-9a-f]+");
pattern!(OWN, r"^\S*\bkubernetes\s");
pattern!(
    VERSION,
    r#"((?:"resourceVersion"|resourceVersion|Resource Version):\s+)"?\d+"?"#
);
pattern!(GAP, r"\s{2,}");

pub fn node_names(text: &str) -> String {
    NODE.replace_all(text, "<node>").into_owned()
}

/// Ages, times, addresses and random names masked, gaps narrowed; rows whose order is chance sorted.
pub fn normal(command: &str, text: &str, names: &Names) -> Value {
    let verb = command.split_whitespace().next().unwrap_or("apply");
    let mut text = LONG_TIME
        .replace_all(&names.sub(text), "<time>")
        .into_owned();
    text = VERSION.replace_all(&text, "$1<rv>").into_owned();
    if (verb == "get" || verb == "describe") && !command.contains("jsonpath") {
        text = mask_columns(verb, &text);
        if !command.contains(" node") {
            text = node_names(&text);
        }
    }
    let mut lines: Vec<String> = text
        .trim_end_matches('\n')
        .split('\n')
        .map(|l| GAP.replace_all(l.trim_end(), "  ").into_owned())
        .collect();
    if !matches!(verb, "drain" | "delete" | "get") {
        lines.dedup();
    }
    match verb {
        "drain" | "delete" => {
            lines.sort();
            lines.dedup();
        }
        "get" if !command.contains("-w") => {
            let (mut head, mut rest): (Vec<_>, Vec<_>) =
                lines.into_iter().partition(|l| l.starts_with("NAME"));
            head.dedup();
            rest.sort();
            rest.dedup();
            head.extend(rest);
            lines = head;
        }
        "get" => lines.dedup(),
        "describe" => {
            if let Some(cut) = lines
                .iter()
                .position(|l| l == "Events:")
                .filter(|cut| cut + 1 < lines.len())
            {
                lines[cut + 1..].sort();
            }
        }
        _ => {}
    }
    json!(lines)
}

fn mask_columns(verb: &str, text: &str) -> String {
    let (head, tail) = match text.split_once("\nEvents:") {
        Some((head, tail)) if verb == "describe" => (format!("{head}\nEvents:"), tail),
        None if verb == "describe" => (text.to_string(), ""),
        _ => (String::new(), text),
    };
    let tail = OVER.replace_all(&mask_ages(tail), "x<n> over").into_owned();
    let text = IP.replace_all(&(head + &tail), "<ip>").into_owned();
    let text = NODE_PORT.replace_all(&text, |c: &regex::Captures<'_>| {
        if &c[0] == ":30007/" {
            c[0].to_string()
        } else {
            ":<nodePort>/".into()
        }
    });
    let text = CONTAINER.replace_all(&text, "<containerID>").into_owned();
    text.split('\n')
        .filter(|l| !OWN.is_match(l))
        .collect::<Vec<_>>()
        .join("\n")
}

/// Words that are ages: regex has no look-around, so words are looked at one by one.
fn mask_ages(text: &str) -> String {
    let mut out = String::new();
    for piece in text.split_inclusive(char::is_whitespace) {
        let word = piece.trim_end_matches(char::is_whitespace);
        if AGE.is_match(word) {
            out.push_str("<age>");
            out.push_str(&piece[word.len()..]);
        } else {
            out.push_str(piece);
        }
    }
    out
}
