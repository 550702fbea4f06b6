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

/// Command of the terminal that still waits, as if it had a terminal of its own.
#[derive(Clone, Debug)]
pub struct Job {
    /// Number among the commands of the terminal that ever waited, from 1.
    pub number: u32,
    /// Command.
    pub session: Session,
    /// True once it has read input: what it prints then follows what is typed.
    pub interactive: bool,
}

impl Job {
    /// Returns its result since the last call, with its output marked as its own.
    fn answer(&mut self, changed: bool) -> ActionResult {
        self.interactive |= self.session.takes_input() || self.session.edits().is_some();
        let mut answer = answer_of(&mut self.session, changed);
        if !self.interactive {
            answer
                .lines
                .iter_mut()
                .for_each(|line| line.job = Some(self.number));
        }
        answer
    }
}

/// Commands that still wait.
#[derive(Clone, Debug, Default)]
pub struct WaitingCommands {
    /// kubectl commands of the terminal, oldest first.
    pub terminal: Vec<Job>,
    /// Number of commands of the terminal that ever waited.
    started: u32,
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
            .sessions()
            .filter_map(Session::deadline)
            .filter(|at| *at > now);
        terminal.chain(self.beside.deadline_after(now)).min()
    }

    fn sessions(&self) -> impl DoubleEndedIterator<Item = &Session> {
        self.terminal.iter().map(|job| &job.session)
    }

    /// Returns true if a command of the terminal continues by itself.
    pub fn goes_on(&self) -> bool {
        self.sessions().any(Session::goes_on)
    }

    /// Returns true if a command of the terminal waits for a line.
    pub fn takes_input(&self) -> bool {
        self.sessions().any(Session::takes_input)
    }

    /// Returns the text that a command of the terminal waits to have edited.
    pub fn edits(&self) -> Option<&str> {
        self.sessions().rev().find_map(Session::edits)
    }

    /// Runs a line of the terminal: as input of the newest command that reads lines, or as a new command.
    pub(super) fn enter(&mut self, sim: &mut Sim, line: &str) -> ActionResult {
        let reads = |job: &Job| job.session.takes_input();
        if let Some(at) = self.terminal.iter().rposition(reads) {
            return self.input(sim, at, line);
        }
        let before = sim.journal().len();
        let mut session = Session::line(sim, line, ROWS);
        let changed = sim.journal().len() > before;
        if session.exit.is_some() {
            return answer_of(&mut session, changed);
        }
        self.started += 1;
        let mut job = Job {
            number: self.started,
            session,
            interactive: false,
        };
        let mut answer = job.answer(changed);
        answer.job = (!job.interactive).then_some(job.number);
        self.terminal.push(job);
        if self.terminal.len() > MAX_WAITING {
            let oldest = self.terminal.remove(0).session;
            let said = msg::console_ended_oldest(&*oldest.text, MAX_WAITING);
            answer.lines.insert(
                0,
                OutputLine {
                    said: Some(said.clone()),
                    ..OutputLine::new(said.english(), false)
                },
            );
        }
        answer
    }

    /// Passes the edited text to the command that waits for it.
    pub(super) fn edited(&mut self, sim: &mut Sim, text: &str) -> ActionResult {
        let at = self
            .terminal
            .iter()
            .rposition(|job| job.session.edits().is_some());
        at.map(|at| self.input(sim, at, text)).unwrap_or_default()
    }

    fn input(&mut self, sim: &mut Sim, at: usize, text: &str) -> ActionResult {
        let job = &mut self.terminal[at];
        job.interactive = true;
        job.session.input(sim, Some(text));
        let answer = job.answer(true);
        self.retain_waiting();
        answer
    }

    /// Polls the commands of the terminal.
    pub(super) fn poll(&mut self, sim: &mut Sim) -> ActionResult {
        let mut all = ActionResult::default();
        for job in &mut self.terminal {
            let (before, progress) = (sim.journal().len(), job.session.progress());
            job.session.poll(sim);
            // The progress of a script is part of the history, even without a write: a replay must get as far.
            let changed = sim.journal().len() > before || job.session.progress() != progress;
            let mut answer = job.answer(changed);
            (all.changed, all.failed) = (all.changed | answer.changed, all.failed | answer.failed);
            all.failure = all.failure.or(answer.failure);
            all.applied.append(&mut answer.applied);
            all.lines.append(&mut answer.lines);
        }
        self.retain_waiting();
        all
    }

    fn retain_waiting(&mut self) {
        self.terminal.retain(|job| job.session.exit.is_none());
    }

    /// Newest command of the terminal, which Ctrl+C ends.
    pub fn newest(&self) -> Option<&Job> {
        self.terminal.last()
    }

    /// Ends the newest command of the terminal, not a process in a container that it is attached to; returns false if none waits.
    pub(super) fn interrupt(&mut self) -> bool {
        let newest = self.terminal.last_mut();
        let waits = newest.map(|job| job.session.interrupt()).is_some();
        self.retain_waiting();
        waits
    }

    /// Presses Ctrl+C for the command of the terminal with a number; returns false if it does not wait.
    pub(super) fn stop(&mut self, sim: &mut Sim, number: u32) -> bool {
        let at = self.terminal.iter().position(|job| job.number == number);
        at.is_some_and(|at| self.press_interrupt(sim, at))
    }

    /// Ends a command, or the process in a container that it is attached to.
    fn press_interrupt(&mut self, sim: &mut Sim, at: usize) -> bool {
        self.terminal[at].session.press_interrupt(sim);
        self.retain_waiting();
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
