//! What a person, a client or a scenario asks of a cluster, as data: what buttons make and a history keeps, links hold and replay repeats.

use apiserver::ClientRequest;
use fault::Fault;
use kubectl::{BesideAct, RemoteAct};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::rc::Rc;

/// One act on a cluster. Its serialized form is that of links and records.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// Applies a manifest.
    Apply(Rc<str>),
    /// Runs a line of the terminal.
    Kubectl(Rc<str>),
    /// Saves the text that `kubectl edit` has opened.
    Edited(Rc<str>),
    /// Injects a fault.
    Fault(Fault),
    /// Lets the waiting command of the terminal look again (`drain`).
    Poll,
    /// Sends a write as a client of the API server.
    Request(Rc<ClientRequest>),
    /// Runs a command in a container as a client of the API server, or continues the one of this number.
    Remote(u32, Rc<RemoteAct>),
    /// Runs a command beside that of the terminal, as a step of a scenario does, or continues the one of this number.
    Beside(u32, Rc<BesideAct>),
    /// Interrupts the command of the terminal, as Ctrl+C does.
    Interrupt,
}

impl Action {
    /// Runs a line of the terminal.
    pub fn kubectl(line: impl Into<Rc<str>>) -> Action {
        Action::Kubectl(line.into())
    }

    /// Applies a manifest.
    pub fn apply(manifest: impl Into<Rc<str>>) -> Action {
        Action::Apply(manifest.into())
    }
}

/// Line that does the same in the terminal; of a manifest its text.
impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Action::Apply(text) | Action::Kubectl(text) | Action::Edited(text) => f.write_str(text),
            Action::Fault(fault) => write!(f, "fault {fault}"),
            Action::Request(request) => f.write_str(&request.told),
            Action::Remote(..) | Action::Beside(..) | Action::Poll | Action::Interrupt => Ok(()),
        }
    }
}

impl From<Fault> for Action {
    fn from(fault: Fault) -> Action {
        Action::Fault(fault)
    }
}
