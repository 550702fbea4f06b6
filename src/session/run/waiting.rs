//! The kubectl commands of a page that still wait: for something to happen, for a line, for an edited text.

use super::Run;
use crate::actions::{self, Command};
use crate::kubectl::{BesideAct, Session};
use std::rc::Rc;

impl Run {
    /// Whether a command waits for a line to be typed.
    pub fn takes_input(&self) -> bool {
        self.past.is_none() && self.recalls.is_none() && self.live.waiting.foreground.as_ref().is_some_and(Session::takes_input)
    }

    /// The text that a command waits to have edited.
    pub fn edits(&self) -> Option<&str> {
        self.live.waiting.foreground.as_ref().filter(|_| self.past.is_none() && self.recalls.is_none()).and_then(Session::edits)
    }

    /// Lets a command that still waits (`-w`, `rollout status`, `drain`) look again; what it printed.
    pub fn poll(&mut self) -> Vec<actions::OutputLine> {
        if self.past.is_some() || self.recalls.is_some() {
            return Vec::new();
        }
        let mut lines = std::mem::take(&mut self.live.waiting.printed);
        let beside: Vec<u32> = self.live.waiting.beside.ids().collect();
        if self.waits() {
            lines.extend(self.command(Command::Poll).lines);
        }
        for id in beside {
            lines.extend(self.command(Command::Beside(id, Rc::new(BesideAct::Poll))).lines);
        }
        lines
    }

    /// Whether a command of the terminal still waits.
    pub fn waits(&self) -> bool {
        self.live.waiting.foreground.is_some()
    }

    /// The command of the terminal that still waits for something to happen.
    pub fn waiting(&self) -> Option<&str> {
        let shown = !self.follows && self.past.is_none();
        let session = self.live.waiting.foreground.as_ref().filter(|session| shown && session.edits().is_none() && !session.goes_on());
        session.map(|session| &*session.text)
    }

    /// A number for a command beside that of the terminal.
    pub fn free_number(&self) -> u32 {
        self.live.waiting.beside.ids().max().map_or(0, |last| last + 1)
    }

    /// Whether a command goes on by itself, also while the clock stands.
    pub fn goes_on(&self) -> bool {
        self.past.is_none()
            && self.recalls.is_none()
            && (self.applies() || self.live.waiting.foreground.as_ref().is_some_and(Session::goes_on))
    }

    /// Ends a command that still waits.
    pub fn interrupt(&mut self) {
        self.command(Command::Interrupt);
    }
}
