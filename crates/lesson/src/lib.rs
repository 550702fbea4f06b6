//! Lessons: a scenario told step by step, with predictions that the engine answers and tasks that check themselves.
//!
//! `read` parses a lesson (`format`), `expr` and `functions` are its expression language, `history` evaluates that on the journal,
//! `script` plays the actions of a step, and `check` plays a whole lesson natively. The format is described in `docs/lesson-format.md`.
//!
//! # Adding a lesson
//!
//! (its own file and a line in `src/library.rs`): `static/lessons/<name>.yaml`, as `docs/lesson-format.md` describes; its title is also a
//! message. A new function for lessons is an entry in `src/functions.rs` and a row in the document.

pub mod check;
pub mod expr;
pub mod format;
pub mod functions;
pub mod history;
pub mod library;
pub mod read;
pub mod script;

pub use format::Lesson;
pub use history::{ObservedHistory, Value};
pub use read::{is_lesson, parse};

use std::collections::BTreeSet;

/// Appends a manifest to another, replacing the objects that are in both.
pub fn merge(text: &str, other: &str) -> String {
    let names = |text: &[u8]| -> BTreeSet<String> {
        let name = |value: &serde_json::Value| {
            let of = |path: &str| {
                value
                    .pointer(path)
                    .map(ToString::to_string)
                    .unwrap_or_default()
            };
            [of("/kind"), of("/metadata/namespace"), of("/metadata/name")].join("/")
        };
        k8s_model::sort::tree(
            manifest::parse(text)
                .documents
                .iter()
                .map(|document| name(&document.value)),
        )
    };
    let new = names(other.as_bytes());
    let kept = manifest::chunks(text.as_bytes()).filter_map(|chunk| {
        let own = names(chunk.bytes);
        let text = std::str::from_utf8(chunk.bytes).ok()?.trim();
        (!own.is_empty() && own.is_disjoint(&new)).then(|| text.to_owned())
    });
    let mut parts: Vec<String> = kept.collect();
    parts.push(other.to_owned());
    parts.join("\n---\n")
}

#[cfg(test)]
mod tests;
