//! Commands that run beside each other and beside the terminal, as the steps of a scenario do: what is done to each is data, so that a
//! history can repeat it.

use super::Session;
use cluster::Sim;
use k8s_model::Time;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What is done to a command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum BesideAct {
    /// It starts: its words, and what it reads.
    Start(Vec<String>, String),
    /// It looks at what has happened.
    Poll,
    /// It is given up.
    Interrupt,
}

/// The commands that run, by their numbers.
#[derive(Clone, Debug, Default)]
pub struct Beside(BTreeMap<u32, Session>);

impl Beside {
    /// Does something to a command; whether it has come further, so that this is part of the history.
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

    /// When the first of them looks again by itself, after an instant.
    pub fn deadline_after(&self, now: Time) -> Option<Time> {
        self.0
            .values()
            .filter_map(Session::deadline)
            .filter(|at| *at > now)
            .min()
    }

    /// Returns true if a command waits for something.
    pub fn waits(&self, id: u32) -> bool {
        self.0
            .get(&id)
            .is_some_and(|session| session.exit.is_none())
    }

    /// A command that has not been taken away.
    pub fn session(&self, id: u32) -> Option<&Session> {
        self.0.get(&id)
    }

    /// The same, to take what it has printed.
    pub fn session_mut(&mut self, id: u32) -> Option<&mut Session> {
        self.0.get_mut(&id)
    }

    /// All of them, in the order of their numbers.
    pub fn sessions(&self) -> impl Iterator<Item = &Session> {
        self.0.values()
    }

    /// The numbers of all of them, in order.
    pub fn ids(&self) -> impl Iterator<Item = u32> {
        self.0.keys().copied()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns true if there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes a command away if it has ended.
    pub fn take_ended(&mut self, id: u32) -> Option<Session> {
        if self.waits(id) {
            None
        } else {
            self.0.remove(&id)
        }
    }

    /// Takes a command away; one that still waits has been interrupted.
    pub fn take(&mut self, id: u32) -> Option<Session> {
        let mut session = self.0.remove(&id)?;
        session.interrupt();
        Some(session)
    }
}
