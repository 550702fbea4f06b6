//! Lessons: a scenario told step by step, with predictions that the engine answers and tasks that check themselves.
//!
//! `read` makes a lesson (`format`) of a file, `expr` and `functions` of what it asks about the cluster, `history` answers that from the journal, `script` plays
//! the actions of a step, and `check` plays a whole lesson natively. The format is described in `docs/lessons.md`.

pub mod check;
pub mod expr;
pub mod format;
pub mod functions;
pub mod history;
pub mod read;
pub mod script;

pub use format::Lesson;
pub use history::{History, Value};
pub use read::{is_lesson, parse};

#[cfg(test)]
mod tests;
