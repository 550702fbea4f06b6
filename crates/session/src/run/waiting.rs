//! The kubectl commands of a page that still wait: for something to happen, for a line, for an edited text.

use super::Run;
use actions::Action;
use kubectl::{BesideAct, Session};
use std::rc::Rc;

impl Run {
    /// Whether a command waits for a line to be typed.
    pub fn takes_input(&self) -> bool {
        self.past.is_none() && self.recalls.is_none() && self.live.waiting.takes_input()
    }

    /// The text that a command waits to have edited.
    pub fn edits(&self) -> Option<&str> {
        self.live
            .waiting
            .edits()
            .filter(|_| self.past.is_none() && self.recalls.is_none())
    }

    /// Lets the commands that still wait (`-w`, `rollout status`, `drain`) look again; what they have printed since the last call.
    pub fn poll(&mut self) -> Vec<actions::OutputLine> {
        if self.past.is_some() || self.recalls.is_some() {
            return Vec::new();
        }
        self.look_again();
        std::mem::take(&mut self.live.waiting.printed)
    }

    /// The same at an instant at which one of them would by itself.
    pub(super) fn look_again(&mut self) {
        let beside: Vec<u32> = self.live.waiting.beside.ids().collect();
        let polls = beside
            .into_iter()
            .map(|id| Action::Beside(id, Rc::new(BesideAct::Poll)));
        for command in self
            .waits()
            .then_some(Action::Poll)
            .into_iter()
            .chain(polls)
        {
            let lines = self.command(command).lines;
            self.live.waiting.printed.extend(lines);
        }
    }

    /// Whether a command of the terminal still waits.
    pub fn waits(&self) -> bool {
        !self.live.waiting.terminal.is_empty()
    }

    /// The newest command of the terminal that still waits: the one that [`Run::interrupt`] ends. In the past there is none.
    fn interruptible(&self) -> Option<&Session> {
        self.live
            .waiting
            .newest()
            .filter(|_| !self.follows && self.past.is_none())
    }

    /// The command that [`Run::interrupt`] ends, where it waits for something to happen: not for an edited text, and not for its own rows.
    pub fn waiting(&self) -> Option<&str> {
        self.interruptible()
            .filter(|session| session.edits().is_none() && !session.goes_on())
            .map(|session| &*session.text)
    }

    /// A number for a command beside that of the terminal.
    pub fn free_number(&self) -> u32 {
        self.live
            .waiting
            .beside
            .ids()
            .max()
            .map_or(0, |last| last + 1)
    }

    /// Whether a command goes on by itself, also while the clock stands.
    pub fn goes_on(&self) -> bool {
        self.past.is_none()
            && self.recalls.is_none()
            && (self.applies() || self.live.waiting.goes_on())
    }

    /// Ends the newest command of the terminal that still waits; false if none does.
    pub fn interrupt(&mut self) -> bool {
        self.interruptible().is_some() && self.command(Action::Interrupt).changed
    }
}
