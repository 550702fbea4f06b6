//! Requests of one sub-state to the others.

use actions::{Action, OutputLine};
use fault::Fault;
use i18n::Message;
use k8s_model::ObjectRef;

/// A request to another sub-state; [`State`](super::State) carries them out in the order in which they were returned.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Replace the notice.
    Announce(Message),
    /// Replace the notice unless something was announced since the apply began.
    AnnounceIfSilent(Message),
    /// Replace the notice: something failed.
    AnnounceFailure(Message),
    /// Select the object that a breakpoint was hit for.
    Select(Option<ObjectRef>),
    /// An apply began: from here on a person's selection takes precedence over what it creates.
    ApplyStarted,
    /// An apply ended; the first workload it created.
    SelectCreated(Option<ObjectRef>),
    /// Apply the editor's text.
    Apply,
    /// Fork the history if an instant of the past is shown.
    Fork,
    /// Run a command and announce its first line.
    Execute(Action),
    /// Inject a fault and print what it answers.
    ExecuteFault(Fault),
    /// Enter a line in the console.
    Enter(String),
    /// Append to the console.
    Print(Vec<OutputLine>),
    /// The history is another one: discard what was derived from it.
    HistoryChanged,
    /// Discard what is known of the branch that was abandoned.
    BranchesChanged,
}
