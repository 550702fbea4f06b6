//! Interfaces of a verb, and of a command that continues after its start.

use super::client::Client;
use super::failure::Failure;
use k8s_model::Time;
use std::fmt::{self, Debug, Formatter};

/// Verb: one constant in its file, registered in `kubectl::VERBS`.
pub struct Verb {
    /// Name on the command line.
    pub name: &'static str,
    /// Aliases.
    pub aliases: &'static [&'static str],
    /// Flags besides the global ones, in the notation of [`super::parse`].
    pub flags: &'static str,
    /// Read-only property.
    pub reads: Reads,
    /// Function that starts the verb with the words after it and stdin.
    pub run: RunVerb,
    /// Description, in kubectl's words.
    pub help: &'static str,
}

/// Function that starts a command with its words after the verb, and stdin.
pub type RunVerb = fn(&mut Client<'_>, &[String], &str) -> Result<Outcome, Failure>;

/// Read-only property of a verb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// The verb writes.
    No,
    /// The verb is read-only.
    Yes,
    /// Only these subcommands are read-only.
    Sub(&'static [&'static str]),
}

/// Remaining work of a command after its start.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// The command has ended.
    Done,
    /// The command waits, or has more to print.
    Pending(Box<dyn PendingCommand>),
}

impl Outcome {
    /// Wraps a command that continues.
    pub fn pending(command: impl PendingCommand + 'static) -> Outcome {
        Outcome::Pending(Box::new(command))
    }
}

/// Debug output of the type name only: printing the fields of each command would increase the size of the page.
impl Debug for dyn PendingCommand {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("PendingCommand")
    }
}

/// Command that is polled as the simulation moves.
pub trait PendingCommand {
    /// Processes the changes since the last poll, and prints; returns true when the command has ended.
    fn poll(&mut self, client: &mut Client<'_>) -> Result<bool, Failure>;

    /// Returns the time at which the command times out or polls by itself, if any.
    fn deadline(&self) -> Option<Time> {
        None
    }

    /// Returns true if the command continues by itself, without a change in the cluster.
    fn goes_on(&self) -> bool {
        false
    }

    /// Passes a line of input; `None` is the end of the input. Returns false if the command takes none.
    fn input(&mut self, _: &mut Client<'_>, _: Option<&str>) -> bool {
        false
    }

    /// Returns true if the command waits for a line of input.
    fn takes_input(&self) -> bool {
        false
    }

    /// Returns the text to be edited, if the command waits for an editor: it comes back as input of many lines.
    fn edits(&self) -> Option<&str> {
        None
    }

    /// Returns a number that changes when the command progresses without a trace in the cluster, such as a script.
    fn progress(&self) -> usize {
        0
    }

    /// Interrupts the process in a container that the command is attached to; returns false if Ctrl+C ends the command itself.
    fn interrupt(&mut self, _: &mut Client<'_>) -> bool {
        false
    }

    /// Clones the command, since it is part of a checkpoint.
    fn copy(&self) -> Box<dyn PendingCommand>;
}

impl Clone for Box<dyn PendingCommand> {
    fn clone(&self) -> Self {
        (**self).copy()
    }
}
