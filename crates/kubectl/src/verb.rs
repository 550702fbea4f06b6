//! What a verb of kubectl is, and what a command is that goes on after its first answer.

use super::client::Client;
use super::failure::Failure;
use k8s_model::Time;
use std::fmt::{self, Debug, Formatter};

/// A verb: one constant in its file, registered in `kubectl::VERBS`.
pub struct Verb {
    /// The word on the command line.
    pub name: &'static str,
    /// Other words for it.
    pub aliases: &'static [&'static str],
    /// The flags it takes beside the global ones, in the notation of [`super::parse`].
    pub flags: &'static str,
    /// Whether it leaves the cluster as it is.
    pub reads: Reads,
    /// Runs it on the words after the verb and on stdin.
    pub run: RunVerb,
    /// What it does, in kubectl's words.
    pub help: &'static str,
}

/// The start of a command: its words without the verb, and stdin.
pub type RunVerb = fn(&mut Client<'_>, &[String], &str) -> Result<Outcome, Failure>;

/// Whether a verb leaves the cluster as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// It writes.
    No,
    /// It only reads.
    Yes,
    /// These subcommands of it only read.
    Sub(&'static [&'static str]),
}

/// What a command has left to do.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// Nothing.
    Done,
    /// It waits for something, or has more to print.
    Pending(Box<dyn PendingCommand>),
}

impl Outcome {
    /// A command that goes on.
    pub fn pending(command: impl PendingCommand + 'static) -> Outcome {
        Outcome::Pending(Box::new(command))
    }
}

/// No command is shown whole: what each of them holds would be part of the page for that alone.
impl Debug for dyn PendingCommand {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("PendingCommand")
    }
}

/// A command that is polled as the simulation moves.
pub trait PendingCommand {
    /// Looks at what has happened since, and prints; `true` when it has ended.
    fn poll(&mut self, client: &mut Client<'_>) -> Result<bool, Failure>;

    /// When it gives up or looks again by itself, if it does.
    fn deadline(&self) -> Option<Time> {
        None
    }

    /// Returns true if it goes on by itself, without anything that happens.
    fn goes_on(&self) -> bool {
        false
    }

    /// Gives it a line that was typed; nothing is the end of the input. False if it takes none.
    fn input(&mut self, _: &mut Client<'_>, _: Option<&str>) -> bool {
        false
    }

    /// Returns true if it waits for a line to be typed.
    fn takes_input(&self) -> bool {
        false
    }

    /// The text that it waits to have edited: it comes back as input of many lines.
    fn edits(&self) -> Option<&str> {
        None
    }

    /// A number that changes when it has done something that leaves no trace in the cluster: a script that has come further.
    fn progress(&self) -> usize {
        0
    }

    /// A copy: a command is part of a checkpoint.
    fn copy(&self) -> Box<dyn PendingCommand>;
}

impl Clone for Box<dyn PendingCommand> {
    fn clone(&self) -> Self {
        (**self).copy()
    }
}
