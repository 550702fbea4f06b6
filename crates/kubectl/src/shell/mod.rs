//! Small shell for the terminal's prompt and for the containers of Pods.
//!
//! A text is parsed into steps ([`parse`]); a [`Machine`] runs them in sequence and can wait in between, for time or for a kubectl
//! command that waits. The output of each command is passed on as a whole: stages of a pipeline run one after another.

mod arithmetic;
mod builtins;
mod call;
mod expand;
mod frame;
mod lexer;
mod line;
mod machine;
mod numbers;
pub mod parse;
mod pattern;
mod reads;
mod regex;
pub mod room;
mod script;
mod stage;
mod tools;

pub use lexer::here_words;
pub use line::LineCommand;
pub use machine::{Kubectl, Machine};
pub use reads::{commands, only_reads};

#[cfg(test)]
mod tests;
