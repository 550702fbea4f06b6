//! Lessons: a scenario told step by step, with predictions that the engine answers and tasks that check themselves.
//!
//! `read` parses a lesson (`format`), `expr` and `functions` are its expression language, `history` evaluates that on the journal,
//! `script` plays the actions of a step, and `check` plays a whole lesson natively. The format is described in `docs/lesson-format.md`.
//!
//! # Adding a lesson
//!
//! `static/lessons/<name>.yaml`, as `docs/lesson-format.md` describes, and a line in `src/library.rs`; its title is also a message.
//!
//! # Adding a function
//!
//! An entry in `src/functions.rs`, and a row in `docs/lesson-format.md` and in `docs/zh/lesson-format.md`.

pub mod check;
pub mod expr;
pub mod format;
pub mod functions;
pub mod glossary;
pub mod history;
pub mod library;
pub mod read;
pub mod script;
mod survival;

pub use format::Lesson;
pub use history::{ObservedHistory, Value};
pub use read::{is_lesson, parse};

use std::collections::BTreeSet;

/// Appends a manifest to another, replacing the objects that are in both. A list stays if one of its objects is not in the other; what is
/// applied later counts.
pub fn merge(text: &str, other: &str) -> String {
    let names = |text: &[u8]| -> BTreeSet<String> {
        let name = |value: &serde_json::Value| {
            let text = |path: &str| value.pointer(path).and_then(serde_json::Value::as_str);
            let group = text("/apiVersion").and_then(|version| version.split_once('/'));
            [
                group.map_or("", |(group, _)| group),
                text("/kind").unwrap_or_default(),
                text("/metadata/namespace").unwrap_or("default"),
                text("/metadata/name").unwrap_or_default(),
            ]
            .join("/")
        };
        manifest::parse(text)
            .documents
            .iter()
            .map(|document| name(&document.value))
            .collect()
    };
    let new = names(other.as_bytes());
    let kept = manifest::chunks(text.as_bytes()).filter_map(|chunk| {
        let own = names(chunk.bytes);
        let text = std::str::from_utf8(chunk.bytes).ok()?.trim();
        (!own.is_subset(&new)).then(|| text.to_owned())
    });
    let mut parts: Vec<String> = kept.collect();
    parts.push(other.to_owned());
    parts.join("\n---\n")
}

#[cfg(test)]
mod tests;
