//! The actions of a step, played on the clock: in the page's run, and on a copy that knows the answers.

use super::expr::Expressions;
use super::history::ObservedHistory;
use actions::{Action, WaitingCommands};
use cluster::Sim;
use k8s_model::Time;
use k8s_model::time::SECOND;
use scenario::{ScenarioStep, Wait, quiet_until, resolve};
use std::rc::Rc;

/// What a step plays lasts at most so long.
pub const LONGEST: Time = Time(1_800 * SECOND);

/// How far the actions have been played.
#[derive(Clone, Copy, Debug)]
pub struct LessonCursor {
    next: usize,
    began: Time,
}

impl LessonCursor {
    /// At the first action, at an instant.
    pub fn new(now: Time) -> LessonCursor {
        LessonCursor {
            next: 0,
            began: now,
        }
    }

    /// Returns true if all of them have been played.
    pub fn ended(&self, actions: &[ScenarioStep]) -> bool {
        self.next >= actions.len()
    }

    /// When the next action is due, as far as is known by now; none after the last.
    pub fn due(&self, actions: &[ScenarioStep], sim: &Sim) -> Option<Time> {
        match actions.get(self.next)? {
            ScenarioStep::Wait(Wait::For(span)) => Some(self.began.after(*span)),
            ScenarioStep::Wait(Wait::Settled) => Some(quiet_until(sim, self.began)),
            _ => Some(self.began),
        }
    }

    /// Goes on to the next action, and says what the one that was due does; a wait does nothing.
    pub fn take(&mut self, actions: &[ScenarioStep], sim: &Sim) -> Option<Action> {
        let action = actions.get(self.next)?;
        (self.next, self.began) = (self.next + 1, sim.now());
        match action {
            ScenarioStep::Apply(text) => Some(Action::Apply(text.as_str().into())),
            ScenarioStep::Kubectl { line, .. } => {
                let line = resolve(line, sim);
                let line = if line.starts_with("kubectl ") {
                    line
                } else {
                    format!("kubectl {line}")
                };
                Some(Action::Kubectl(line.into()))
            }
            // Its form was checked when the lesson was read.
            ScenarioStep::Fault(line) => resolve(line, sim).parse().ok().map(Action::Fault),
            ScenarioStep::Wait(_) => None,
        }
    }
}

/// Actions that are played on a copy of a simulation.
#[derive(Clone, Debug)]
pub struct Play {
    /// The copy.
    pub sim: Sim,
    /// What has happened on it.
    pub history: ObservedHistory,
    /// What a command that failed said.
    pub failure: Option<String>,
    actions: Rc<[ScenarioStep]>,
    cursor: LessonCursor,
    waiting: WaitingCommands,
    limit: Time,
}

impl Play {
    /// Begins to play actions on a copy, with the history that a step has so far.
    pub fn new(sim: Sim, history: ObservedHistory, actions: Rc<[ScenarioStep]>) -> Play {
        let (cursor, limit) = (LessonCursor::new(sim.now()), sim.now().after(LONGEST.0));
        Play {
            sim,
            history,
            failure: None,
            actions,
            cursor,
            waiting: WaitingCommands::default(),
            limit,
        }
    }

    /// The same from the beginning of a step.
    pub fn of_step(
        sim: Sim,
        mut history: ObservedHistory,
        actions: Rc<[ScenarioStep]>,
        over: Rc<Expressions>,
    ) -> Play {
        history.begin(&sim, over);
        Play::new(sim, history, actions)
    }

    /// Plays on with a budget of tasks; true at the end.
    pub fn advance(&mut self, mut budget: usize) -> bool {
        while let Some(due) = self.cursor.due(&self.actions, &self.sim) {
            if self.sim.now() > self.limit {
                self.failure
                    .get_or_insert_with(|| "the actions of the step last too long".to_owned());
                break;
            }
            if self.sim.now() >= due {
                if let Some(command) = self.cursor.take(&self.actions, &self.sim) {
                    self.run(&command);
                }
                continue;
            }
            if budget == 0 {
                self.history.advance(&self.sim, false);
                return false;
            }
            // Whether it has settled is seen after each instant.
            // A command that waits looks again when it would, as on the page.
            let looks = self.waiting.deadline_after(self.sim.now());
            let to = self
                .sim
                .next_task()
                .into_iter()
                .chain(looks)
                .fold(due, Time::min)
                .max(Time(self.sim.now().0 + 1));
            let went = self.sim.advance(to.min(self.limit.after(1)), budget);
            budget = budget.saturating_sub(went.ran.max(1));
            if went.done && !self.waiting.terminal.is_empty() {
                self.run(&Action::Poll);
            }
        }
        self.history.advance(&self.sim, true);
        true
    }

    fn run(&mut self, command: &Action) {
        let answer = actions::run(&mut self.sim, &mut self.waiting, command);
        if answer.failed && self.failure.is_none() {
            self.failure = answer
                .failure
                .or_else(|| answer.lines.first().map(|line| line.text.clone()));
            self.failure.get_or_insert_default();
        }
        while self.waiting.goes_on() {
            actions::run(&mut self.sim, &mut self.waiting, &Action::Poll);
        }
    }

    /// Plays to the end.
    pub fn finish(mut self) -> Play {
        while !self.advance(usize::MAX) {}
        self
    }
}
