//! Requests of one sub-state to the others.

use actions::{Action, OutputLine};
use apiserver::Actor;
use fault::Fault;
use i18n::Message;
use k8s_model::ObjectRef;

/// A request to another sub-state; [`State`](super::State) carries them out in the order in which they were returned.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Replaces the notice.
    Announce(Message),
    /// Replaces the notice unless something was announced since the apply began.
    AnnounceIfSilent(Message),
    /// Replaces the notice by that of a failure.
    AnnounceFailure(Message),
    /// Selects the object for which a breakpoint was hit.
    Select(Option<ObjectRef>),
    /// Shows the last pass of a loop at the line for which a breakpoint was hit.
    StepInto(Actor, u32),
    /// Notes that an apply began: from here on a person's selection takes precedence over the objects that it creates.
    ApplyStarted,
    /// Notes that an apply ended, with the first workload that it created.
    SelectCreated(Option<ObjectRef>),
    /// Applies the editor's text.
    Apply,
    /// Forks the history if an instant of the past is shown.
    Fork,
    /// Runs a command and announces its first line.
    Execute(Action),
    /// Injects a fault and prints the answer.
    ExecuteFault(Fault),
    /// Enters a line in the console.
    Enter(String),
    /// Appends lines to the console.
    Print(Vec<OutputLine>),
    /// Discards everything derived from the previous history.
    HistoryChanged,
    /// Discards the cached data about the abandoned branch.
    BranchesChanged,
}
