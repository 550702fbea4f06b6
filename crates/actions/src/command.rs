//! What a person, a client or a scenario asks for, as data: what a history keeps and repeats.

use apiserver::ClientRequest;
use kubectl::{BesideAct, RemoteAct};
use scenario::Act;
use std::rc::Rc;

/// What a person did.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Applied a manifest.
    Apply(Rc<str>),
    /// Entered a kubectl line.
    Kubectl(Rc<str>),
    /// Saved the text that `kubectl edit` has opened.
    Edited(Rc<str>),
    /// Broke something: `exit pod/web-0 1`, `node-down node-2`.
    Fault(Rc<str>),
    /// The kubectl command that still waits looked again, and wrote something (`drain`).
    Poll,
    /// Sent a write as a client of the API server.
    Request(Rc<ClientRequest>),
    /// Ran a command in a container as a client of the API server, or went on with the one of this number.
    Remote(u32, Rc<RemoteAct>),
    /// Ran a kubectl command beside that of the terminal, as a step of a scenario does, or let it look again.
    Beside(u32, Rc<BesideAct>),
    /// Ended the kubectl command of the terminal, with Ctrl+C.
    Interrupt,
}

/// As a history repeats what a scenario did.
impl From<Act> for Command {
    fn from(act: Act) -> Command {
        match act {
            Act::Command(id, act) => Command::Beside(id, Rc::new(act)),
            Act::Fault(line) | Act::Disturbed(line) => Command::Fault(line.into()),
        }
    }
}
