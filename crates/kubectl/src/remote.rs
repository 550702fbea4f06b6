//! Concurrent commands of several clients in containers, as the server runs them for `exec` and `attach`: each client's action is data,
//! so that a history can be replayed.

use super::{Progress, Session, Stdin};
use cluster::Sim;
use k8s_model::{Kind, ObjectRef, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Action of a client on its command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum RemoteAct {
    /// Starts the command.
    Start(RemoteStart),
    /// Passes a line; `None` is the end of the input.
    Line(Option<String>),
    /// Polls the command.
    Poll,
    /// Interrupts the command, as ctrl-C does.
    Interrupt,
}

/// Start of a command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RemoteStart {
    /// Namespace of the Pod.
    pub namespace: String,
    /// Pod.
    pub pod: String,
    /// Index of the container among all of the Pod's.
    pub container: usize,
    /// Command to run.
    pub command: Vec<String>,
    /// Stdin of the command.
    pub stdin: Stdin,
    /// True if the command is the container's own process.
    pub attached: bool,
}

/// Result of an action.
#[derive(Clone, Debug, Default)]
pub struct RemoteOutput {
    /// Stdout since the last action.
    pub out: String,
    /// Stderr since the last action.
    pub err: String,
    /// Exit code, once the command has ended.
    pub exit: Option<i32>,
    /// True if the command waits for a line.
    pub takes_input: bool,
    /// True if the command progressed, so that the action belongs to the history.
    pub changed: bool,
}

/// Running commands by client number.
#[derive(Clone, Debug, Default)]
pub struct Remotes(BTreeMap<u32, Session>);

impl Remotes {
    /// Performs a client's action. A command that has ended is removed.
    pub fn act(&mut self, sim: &mut Sim, id: u32, act: &RemoteAct) -> RemoteOutput {
        let before = sim.journal().len();
        if let RemoteAct::Start(start) = act {
            let Some(pod) = sim
                .store()
                .get(&ObjectRef::new(Kind::Pod, &start.namespace, &start.pod))
                .cloned()
            else {
                return RemoteOutput::default();
            };
            let containers = pod
                .pod()
                .map_or(0, |pod| pod.spec.every_container().count());
            let container = start.container.min(containers.saturating_sub(1));
            let open = if start.attached {
                Session::attached
            } else {
                Session::in_container
            };
            let session = open(sim, &pod, container, &start.command, start.stdin.clone());
            self.0.insert(id, session);
        }
        let Some(session) = self.0.get_mut(&id) else {
            return RemoteOutput::default();
        };
        let progress = session.progress();
        match act {
            RemoteAct::Start(_) => {}
            RemoteAct::Line(line) => drop(session.input(sim, line.as_deref())),
            RemoteAct::Poll => drop(session.poll(sim) == Progress::Done),
            RemoteAct::Interrupt => {
                session.press_interrupt(sim);
                session.poll(sim);
            }
        }
        let output = RemoteOutput {
            out: std::mem::take(&mut session.stdout),
            err: std::mem::take(&mut session.stderr),
            exit: session.exit,
            takes_input: session.takes_input(),
            changed: *act != RemoteAct::Poll
                || session.exit.is_some()
                || session.progress() != progress
                || sim.journal().len() > before,
        };
        if output.exit.is_some() {
            self.0.remove(&id);
        }
        output
    }

    /// Removes a client with its command.
    pub fn end(&mut self, id: u32) {
        self.0.remove(&id);
    }

    /// Returns the earliest time at which a command continues by itself.
    pub fn deadline(&self) -> Option<Time> {
        self.0.values().filter_map(Session::deadline).min()
    }
}
