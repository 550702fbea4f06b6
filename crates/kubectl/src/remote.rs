//! Commands in containers that several clients run at once, as the server does for `exec` and `attach`: what each client does is data,
//! so that a history can repeat it.

use super::{Progress, Session, Stdin};
use cluster::Sim;
use k8s_model::{Kind, ObjectRef, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a client does to a command of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum RemoteAct {
    /// Starts it.
    Start(RemoteStart),
    /// Gives it a line; nothing is the end of its input.
    Line(Option<String>),
    /// Lets it look at what has happened.
    Poll,
    /// Ends it, as ctrl-C does.
    Interrupt,
}

/// What is started, and where.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RemoteStart {
    /// The namespace of the Pod.
    pub namespace: String,
    /// The Pod.
    pub pod: String,
    /// The place of the container among all of the Pod's.
    pub container: usize,
    /// What runs there.
    pub command: Vec<String>,
    /// What it reads.
    pub stdin: Stdin,
    /// It is the process of the container itself from then on.
    pub attached: bool,
}

/// What came of it.
#[derive(Clone, Debug, Default)]
pub struct RemoteOutput {
    /// Printed since the last act.
    pub out: String,
    /// The same on stderr.
    pub err: String,
    /// The exit code, once it has ended.
    pub exit: Option<i32>,
    /// It waits for a line.
    pub takes_input: bool,
    /// It has come further: the act is part of the history.
    pub changed: bool,
}

/// The commands that run, by the numbers of their clients.
#[derive(Clone, Debug, Default)]
pub struct Remotes(BTreeMap<u32, Session>);

impl Remotes {
    /// Carries out what a client does. One that has ended is forgotten.
    pub fn act(&mut self, sim: &mut Sim, id: u32, act: &RemoteAct) -> RemoteOutput {
        let before = sim.journal().len();
        if let RemoteAct::Start(start) = act {
            let Some(pod) = sim
                .get(&ObjectRef::new(Kind::Pod, &start.namespace, &start.pod))
                .cloned()
            else {
                return RemoteOutput::default();
            };
            let containers = pod
                .pod()
                .map_or(0, |pod| pod.spec.every_container().count());
            let container = (&*pod, start.container.min(containers.saturating_sub(1)));
            let open = if start.attached {
                Session::attached
            } else {
                Session::in_container
            };
            let session = open(sim, container, &start.command, start.stdin.clone());
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
            RemoteAct::Interrupt => session.interrupt(),
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

    /// A client is gone, and its command with it.
    pub fn end(&mut self, id: u32) {
        self.0.remove(&id);
    }

    /// When one of them goes on by itself.
    pub fn deadline(&self) -> Option<Time> {
        self.0.values().filter_map(Session::deadline).min()
    }
}
