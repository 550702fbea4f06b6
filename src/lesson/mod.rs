//! Lessons: a scenario told step by step, with predictions that the engine answers and tasks that check themselves.
//!
//! `read` makes a lesson (`format`) of a file, `expr` and `functions` of what it asks about the cluster, `history` answers that from the journal, `script` plays
//! the actions of a step, and `check` plays a whole lesson natively. The format is described in `docs/lessons.md`.

pub mod check;
pub mod expr;
pub mod format;
pub mod functions;
pub mod history;
pub mod library;
pub mod read;
pub mod script;

pub use format::Lesson;
pub use history::{History, Value};
pub use read::{is_lesson, parse};

use crate::manifest;
use std::collections::BTreeSet;

/// A manifest with another one put to it; where both name an object the other one stands alone.
pub fn merge(text: &str, other: &str) -> String {
    let names = |text: &str| -> BTreeSet<String> {
        let name = |value: &serde_json::Value| {
            let of = |path: &str| value.pointer(path).map(ToString::to_string).unwrap_or_default();
            [of("/kind"), of("/metadata/namespace"), of("/metadata/name")].join("/")
        };
        manifest::parse(text.as_bytes()).documents.iter().map(|document| name(&document.value)).collect()
    };
    if text.trim().is_empty() || !names(text).is_disjoint(&names(other)) {
        return other.to_owned();
    }
    [text.trim_end(), "\n---\n", other].concat()
}

#[cfg(test)]
mod tests;
