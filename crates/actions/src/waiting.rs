//! kubectl commands that still wait: those of the terminal, those beside it, and those of clients.

use super::{ActionResult, OutputLine};
use cluster::Sim;
use i18n::msg;
use k8s_model::Time;
use kubectl::{Beside, BesideAct, Remotes, Session};
use std::ops::Range;

/// Rows of a table read or printed at a time: a longer table continues at the next poll.
const ROWS: usize = 160;

/// Maximum number of waiting commands of the terminal; above it the oldest is ended.
const MAX_WAITING: usize = 8;

/// Commands that still wait.
#[derive(Clone, Debug, Default)]
pub struct WaitingCommands {
    /// kubectl commands of the terminal, oldest first: each as if it had a terminal of its own.
    pub terminal: Vec<Session>,
    /// Commands of clients of the API server.
    pub remotes: Remotes,
    /// Commands beside the terminal.
    pub beside: Beside,
    /// Output of commands that polled by themselves, until it is read.
    pub printed: Vec<OutputLine>,
}

impl WaitingCommands {
    /// Time of the next poll or timeout among the commands of a page.
    pub fn deadline_after(&self, now: Time) -> Option<Time> {
        let terminal = self
            .terminal
            .iter()
            .filter_map(Session::deadline)
            .filter(|at| *at > now);
        terminal.chain(self.beside.deadline_after(now)).min()
    }

    /// Returns true if a command of the terminal continues by itself.
    pub fn goes_on(&self) -> bool {
        self.terminal.iter().any(Session::goes_on)
    }

    /// Returns true if a command of the terminal waits for a line.
    pub fn takes_input(&self) -> bool {
        self.terminal.iter().any(Session::takes_input)
    }

    /// Returns the text that a command of the terminal waits to have edited.
    pub fn edits(&self) -> Option<&str> {
        self.terminal.iter().rev().find_map(Session::edits)
    }

    /// Runs a line of the terminal: as input of the newest command that reads lines, or as a new command.
    pub(super) fn enter(&mut self, sim: &mut Sim, line: &str) -> ActionResult {
        if let Some(at) = self.terminal.iter().rposition(Session::takes_input) {
            return self.input(sim, at, line);
        }
        let before = sim.journal().len();
        let mut session = Session::line(sim, line, ROWS);
        let mut answer = answer_of(&mut session, sim.journal().len() > before);
        if session.exit.is_none() {
            self.terminal.push(session);
            if self.terminal.len() > MAX_WAITING {
                let said = msg::console_ended_oldest(&*self.terminal.remove(0).text, MAX_WAITING);
                answer.lines.insert(
                    0,
                    OutputLine {
                        said: Some(said.clone()),
                        ..OutputLine::new(said.english(), false)
                    },
                );
            }
        }
        answer
    }

    /// Passes the edited text to the command that waits for it.
    pub(super) fn edited(&mut self, sim: &mut Sim, text: &str) -> ActionResult {
        let at = self
            .terminal
            .iter()
            .rposition(|session| session.edits().is_some());
        at.map(|at| self.input(sim, at, text)).unwrap_or_default()
    }

    fn input(&mut self, sim: &mut Sim, at: usize, text: &str) -> ActionResult {
        let session = &mut self.terminal[at];
        session.input(sim, Some(text));
        let answer = answer_of(session, true);
        self.terminal.retain(|session| session.exit.is_none());
        answer
    }

    /// Polls the commands of the terminal.
    pub(super) fn poll(&mut self, sim: &mut Sim) -> ActionResult {
        let mut all = ActionResult::default();
        for session in &mut self.terminal {
            let (before, progress) = (sim.journal().len(), session.progress());
            session.poll(sim);
            // The progress of a script is part of the history, even without a write: a replay must get as far.
            let mut answer = answer_of(
                session,
                sim.journal().len() > before || session.progress() != progress,
            );
            (all.changed, all.failed) = (all.changed | answer.changed, all.failed | answer.failed);
            all.failure = all.failure.or(answer.failure);
            all.applied.append(&mut answer.applied);
            all.lines.append(&mut answer.lines);
        }
        self.terminal.retain(|session| session.exit.is_none());
        all
    }

    /// Newest command of the terminal, which Ctrl+C ends.
    pub fn newest(&self) -> Option<&Session> {
        self.terminal.last()
    }

    /// Presses Ctrl+C, which ends the newest command of the terminal, or the process in a container that it is attached to; returns false
    /// if none waits.
    pub(super) fn interrupt(&mut self, sim: &mut Sim) -> bool {
        let Some(session) = self.terminal.last_mut() else {
            return false;
        };
        session.press_interrupt(sim);
        self.terminal.retain(|session| session.exit.is_none());
        true
    }

    /// Acts on a command beside the terminal.
    pub(super) fn act_beside(&mut self, sim: &mut Sim, id: u32, act: &BesideAct) -> ActionResult {
        let changed = self.beside.act(sim, id, act);
        let answer = self
            .beside
            .session_mut(id)
            .map(|session| answer_of(session, changed));
        self.beside.take_ended(id);
        answer.unwrap_or(ActionResult {
            changed,
            ..ActionResult::default()
        })
    }
}

/// Returns the result of a command since the last call.
fn answer_of(session: &mut Session, changed: bool) -> ActionResult {
    let failed = session.exit.is_some_and(|exit| exit != 0);
    let applied = std::mem::take(&mut session.applied);
    let failure = session
        .failure
        .as_ref()
        .and_then(|failure| failure.message.lines().next().map(str::to_string));
    ActionResult {
        changed,
        failed,
        failure,
        applied,
        lines: take_lines(session),
        ..ActionResult::default()
    }
}

/// Returns the output of a command since the last call, as a terminal shows it: warnings where they occurred, failures at the end.
pub(super) fn take_lines(session: &mut Session) -> Vec<OutputLine> {
    let (out, err) = (
        std::mem::take(&mut session.stdout),
        std::mem::take(&mut session.stderr),
    );
    let mut lines = Vec::new();
    let mut put = |text: &str, error: bool| {
        lines.extend(text.lines().map(|text| OutputLine::new(text, error)))
    };
    let (mut out_done, mut err_done, mut failures) = (0, 0, String::new());
    for piece in std::mem::take(&mut session.err_pieces) {
        let Range { start, end } = piece.range;
        put(&out[out_done..piece.out_len], false);
        put(&err[start..end], true);
        failures.push_str(&err[err_done..start]);
        (out_done, err_done) = (piece.out_len, end);
    }
    put(&out[out_done..], false);
    put(&[&failures, &err[err_done..]].concat(), true);
    lines
}
