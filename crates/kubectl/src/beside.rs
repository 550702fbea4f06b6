//! Commands that run concurrently with each other and with the terminal, such as the steps of a scenario: each action on one is data, so
//! that a
//! history can be replayed.

use super::Session;
use cluster::Sim;
use k8s_model::Time;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Action on a concurrent command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum BesideAct {
    /// Starts the command with its words and stdin.
    Start(Vec<String>, String),
    /// Polls the command.
    Poll,
    /// Interrupts the command.
    Interrupt,
}

/// Concurrent commands by number.
#[derive(Clone, Debug, Default)]
pub struct Beside(BTreeMap<u32, Session>);

impl Beside {
    /// Performs an action on a command; returns true if the command progressed, so that the action belongs to the history.
    pub fn act(&mut self, sim: &mut Sim, id: u32, act: &BesideAct) -> bool {
        match act {
            BesideAct::Start(words, stdin) => {
                self.0.insert(id, Session::start(sim, words, stdin));
                true
            }
            BesideAct::Poll => {
                let (before, session) = (sim.journal().len(), self.0.get_mut(&id));
                let Some(session) = session else { return false };
                let progress = session.progress();
                session.poll(sim);
                session.progress() != progress || sim.journal().len() > before
            }
            BesideAct::Interrupt => {
                let waits = self.waits(id);
                if let Some(session) = self.0.get_mut(&id) {
                    session.interrupt();
                }
                waits
            }
        }
    }

    /// Returns the earliest deadline after an instant.
    pub fn deadline_after(&self, now: Time) -> Option<Time> {
        self.0
            .values()
            .filter_map(Session::deadline)
            .filter(|at| *at > now)
            .min()
    }

    /// Returns true if a command is still waiting.
    pub fn waits(&self, id: u32) -> bool {
        self.0
            .get(&id)
            .is_some_and(|session| session.exit.is_none())
    }

    /// Returns a command that has not been removed.
    pub fn session(&self, id: u32) -> Option<&Session> {
        self.0.get(&id)
    }

    /// Returns a command, mutably, to take its output.
    pub fn session_mut(&mut self, id: u32) -> Option<&mut Session> {
        self.0.get_mut(&id)
    }

    /// Returns all commands, in the order of their numbers.
    pub fn sessions(&self) -> impl Iterator<Item = &Session> {
        self.0.values()
    }

    /// Returns the numbers of all commands, in order.
    pub fn ids(&self) -> impl Iterator<Item = u32> {
        self.0.keys().copied()
    }

    /// Returns the number of commands.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns true if there are no commands.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Removes a command if it has ended.
    pub fn take_ended(&mut self, id: u32) -> Option<Session> {
        if self.waits(id) {
            None
        } else {
            self.0.remove(&id)
        }
    }

    /// Removes a command; a waiting one is interrupted.
    pub fn take(&mut self, id: u32) -> Option<Session> {
        let mut session = self.0.remove(&id)?;
        session.interrupt();
        Some(session)
    }
}
