//! Actions of a person, a client or a scenario on a cluster, as data: created by buttons, stored in histories and links, and replayed.

use crate::legacy;
use apiserver::{AdmissionAnswers, Request};
use fault::{ClientCall, Fault};
use kubectl::{BesideAct, RemoteAct};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::rc::Rc;

/// Action on a cluster. Its serialized form is that of links and records.
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
    /// Polls the waiting commands of the terminal (`drain`).
    Poll,
    /// Sends a request as a client of the API server.
    Request(#[serde(deserialize_with = "legacy::request")] Rc<Request>),
    /// Runs a command in a container as a client of the API server, or continues the one with this number.
    Remote(u32, Rc<RemoteAct>),
    /// Runs a command beside those of the terminal, as a step of a scenario does, or continues the one with this number.
    Beside(u32, Rc<BesideAct>),
    /// Lets the faults on clients act on an exchange with one, which a server has examined.
    Client(Rc<ClientCall>),
    /// Holds the answers of admission webhooks to the calls of the next action or task.
    Admission(Rc<AdmissionAnswers>),
    /// Ends the newest waiting command of the terminal. Links of earlier versions have it.
    Interrupt,
    /// Presses Ctrl+C for the waiting command of the terminal with this number.
    Stop(u32),
}

impl Action {
    /// Creates an action that runs a line of the terminal.
    pub fn kubectl(line: impl Into<Rc<str>>) -> Action {
        Action::Kubectl(line.into())
    }

    /// Creates an action that applies a manifest.
    pub fn apply(manifest: impl Into<Rc<str>>) -> Action {
        Action::Apply(manifest.into())
    }
}

/// Formats the equivalent line of the terminal; for a manifest its text.
impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Action::Apply(text) | Action::Kubectl(text) | Action::Edited(text) => f.write_str(text),
            Action::Fault(fault) => f.write_str(&fault.command_line()),
            Action::Request(request) => f.write_str(&request.command),
            Action::Client(call) => f.write_str(&call.line),
            Action::Remote(..)
            | Action::Beside(..)
            | Action::Admission(_)
            | Action::Poll
            | Action::Interrupt
            | Action::Stop(_) => Ok(()),
        }
    }
}

impl From<Fault> for Action {
    fn from(fault: Fault) -> Action {
        Action::Fault(fault)
    }
}
