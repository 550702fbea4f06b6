//! kubectl commands of the page that still wait: for a condition, for a line of input, or for an edited text.

use super::Run;
use actions::{Action, Job};
use kubectl::BesideAct;
use std::rc::Rc;

impl Run {
    /// Returns true if a command waits for a line of input.
    pub fn takes_input(&self) -> bool {
        self.past.is_none()
            && self.replay_end.is_none()
            && self.shown.live.host.waiting.takes_input()
    }

    /// Returns the text that a command waits to have edited.
    pub fn edits(&self) -> Option<&str> {
        self.shown
            .live
            .host
            .waiting
            .edits()
            .filter(|_| self.past.is_none() && self.replay_end.is_none())
    }

    /// Polls the waiting commands (`-w`, `rollout status`, `drain`), and returns their output since the last call.
    pub fn poll(&mut self) -> Vec<actions::OutputLine> {
        if self.past.is_some() || self.replay_end.is_some() {
            return Vec::new();
        }
        self.poll_waiting();
        std::mem::take(&mut self.shown.live.host.waiting.printed)
    }

    /// Polls them at an instant at which one of them would poll by itself.
    pub(super) fn poll_waiting(&mut self) {
        let beside: Vec<u32> = self.shown.live.host.waiting.beside.ids().collect();
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
            self.shown.live.host.waiting.printed.extend(lines);
        }
    }

    /// Returns true if a command of the terminal still waits.
    pub fn waits(&self) -> bool {
        !self.shown.live.host.waiting.terminal.is_empty()
    }

    /// Returns the waiting commands of the terminal, oldest first, each with its number; none in the past.
    pub fn jobs(&self) -> &[Job] {
        if self.follows || self.past.is_some() || self.replay_end.is_some() {
            &[]
        } else {
            &self.shown.live.host.waiting.terminal
        }
    }

    /// Ends a waiting command of the terminal; returns false if there is none of this number.
    pub fn stop(&mut self, number: u32) -> bool {
        let waits = self.jobs().iter().any(|job| job.number == number);
        waits && self.command(Action::Stop(number)).changed
    }

    /// Returns the newest waiting command of the terminal, which [`Run::interrupt`] ends; none in the past.
    pub fn interruptible(&self) -> Option<&Job> {
        self.shown
            .live
            .host
            .waiting
            .newest()
            .filter(|_| !self.follows && self.past.is_none())
    }

    /// Returns the command that [`Run::interrupt`] ends, if it waits for a condition: not for an edited text, and not for more output of
    /// its own.
    pub fn waiting(&self) -> Option<&str> {
        self.interruptible()
            .map(|job| &job.session)
            .filter(|session| session.edits().is_none() && !session.goes_on())
            .map(|session| &*session.text)
    }

    /// Returns a free number for a command beside those of the terminal.
    pub fn free_number(&self) -> u32 {
        self.shown
            .live
            .host
            .waiting
            .beside
            .ids()
            .max()
            .map_or(0, |last| last + 1)
    }

    /// Returns true if a command continues by itself, also while the clock is paused.
    pub fn goes_on(&self) -> bool {
        self.past.is_none()
            && self.replay_end.is_none()
            && (self.applies() || self.shown.live.host.waiting.goes_on())
    }

    /// Presses Ctrl+C for the newest waiting command of the terminal; returns false if there is none.
    pub fn interrupt(&mut self) -> bool {
        let newest = self.interruptible().map(|job| job.number);
        newest.is_some_and(|number| self.stop(number))
    }
}
