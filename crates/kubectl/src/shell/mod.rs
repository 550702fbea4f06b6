//! Small shell for the terminal's prompt and for the containers of Pods.
//!
//! A text is parsed into steps (`shell-syntax`); a [`Machine`] runs them in sequence and can wait in between, for time or for a kubectl
//! command that waits. The output of each command is passed on as a whole: stages of a pipeline run one after another.

mod arithmetic;
mod builtins;
mod call;
mod expand;
mod frame;
mod line;
mod machine;
mod numbers;
mod pattern;
mod reads;
mod regex;
mod request_loop;
pub mod room;
mod stage;
mod tools;

pub use line::LineCommand;
pub use machine::{Kubectl, Machine};
pub use reads::{commands, only_reads};
use shell_syntax::script;
pub use shell_syntax::{here_words, parse};

/// Returns true if a word names a tool that needs no network.
pub fn is_tool(word: &str) -> bool {
    tools::find(word).is_some_and(|tool| !tool.uses_network)
}

#[cfg(test)]
mod tests;
