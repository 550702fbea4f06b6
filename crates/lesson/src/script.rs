//! Playback of a step's actions: in the page's run, and on a copy that determines the answers.

use super::expr::Expressions;
use super::history::ObservedHistory;
use actions::{Action, Host};
use cluster::Sim;
use cluster::settled::wait_ends_at;
use fault::FaultError;
use k8s_model::Time;
use k8s_model::time::SECOND;
use scenario::{ScenarioStep, Wait, resolve};
use std::rc::Rc;

/// Maximum duration of a step's actions.
pub const LONGEST: Time = Time(1_800 * SECOND);

/// Position of the playback in the actions.
#[derive(Clone, Copy, Debug)]
pub struct LessonCursor {
    next: usize,
    began: Time,
}

impl LessonCursor {
    /// Creates a cursor at the first action.
    pub fn new(now: Time) -> LessonCursor {
        LessonCursor {
            next: 0,
            began: now,
        }
    }

    /// Returns true if all actions have been played.
    pub fn ended(&self, actions: &[ScenarioStep]) -> bool {
        self.next >= actions.len()
    }

    /// Returns the time of the next action, as far as it is known; `None` after the last.
    pub fn due(&self, actions: &[ScenarioStep], sim: &Sim) -> Option<Time> {
        match actions.get(self.next)? {
            ScenarioStep::Wait(Wait::For(span)) => Some(self.began.after(*span)),
            ScenarioStep::Wait(Wait::Settled) => Some(wait_ends_at(sim, self.began)),
            _ => Some(self.began),
        }
    }

    /// Advances to the next action, and returns the one that was due; `None` for a wait.
    pub fn take(
        &mut self,
        actions: &[ScenarioStep],
        sim: &Sim,
    ) -> Option<Result<Action, FaultError>> {
        let action = actions.get(self.next)?;
        (self.next, self.began) = (self.next + 1, sim.now());
        match action {
            ScenarioStep::Apply(text) => Some(Ok(Action::Apply(text.as_str().into()))),
            ScenarioStep::Kubectl { line, .. } => {
                let line = resolve(line, sim);
                let line = if line.starts_with("kubectl ") {
                    line
                } else {
                    format!("kubectl {line}")
                };
                Some(Ok(Action::Kubectl(line.into())))
            }
            // A placeholder may have no object to stand for.
            ScenarioStep::Fault(line) => Some(resolve(line, sim).parse().map(Action::Fault)),
            ScenarioStep::Wait(_) => None,
        }
    }
}

/// Playback of actions on a copy of a simulation.
#[derive(Clone, Debug)]
pub struct Play {
    /// Copy of the simulation.
    pub host: Host,
    /// History of the copy.
    pub history: ObservedHistory,
    /// Message of the first failed command, if any.
    pub failure: Option<String>,
    actions: Rc<[ScenarioStep]>,
    cursor: LessonCursor,
    limit: Time,
}

impl Play {
    /// Begins to play actions on a copy, with the history of a step so far.
    pub fn new(sim: Sim, history: ObservedHistory, actions: Rc<[ScenarioStep]>) -> Play {
        let (cursor, limit) = (LessonCursor::new(sim.now()), sim.now().after(LONGEST.0));
        Play {
            host: Host::new(sim),
            history,
            failure: None,
            actions,
            cursor,
            limit,
        }
    }

    /// Begins to play actions on a copy, from the beginning of a step.
    pub fn of_step(
        sim: Sim,
        mut history: ObservedHistory,
        actions: Rc<[ScenarioStep]>,
        over: Rc<Expressions>,
    ) -> Play {
        history.begin(&sim, over);
        Play::new(sim, history, actions)
    }

    /// Plays on with a budget of tasks; returns true at the end.
    pub fn advance(&mut self, mut budget: usize) -> bool {
        while let Some(due) = self.cursor.due(&self.actions, &self.host.sim) {
            if self.host.sim.now() > self.limit {
                self.failure
                    .get_or_insert_with(|| "the actions of the step last too long".to_owned());
                break;
            }
            if self.host.sim.now() >= due {
                match self.cursor.take(&self.actions, &self.host.sim) {
                    Some(Ok(action)) => self.run(&action),
                    Some(Err(error)) => {
                        self.failure.get_or_insert_with(|| error.printed());
                    }
                    None => {}
                }
                continue;
            }
            if budget == 0 {
                self.history.advance(&self.host.sim, false);
                return false;
            }
            // Whether the cluster has settled is checked after each instant.
            // A waiting command polls at its own times, as on the page.
            let looks = self.host.waiting.deadline_after(self.host.sim.now());
            let to = self
                .host
                .sim
                .tasks
                .next_due()
                .into_iter()
                .chain(looks)
                .fold(due, Time::min)
                .max(Time(self.host.sim.now().0 + 1));
            let went = self.host.advance(to.min(self.limit.after(1)), budget);
            budget = budget.saturating_sub(went.ran.max(1));
            if went.done && !self.host.waiting.terminal.is_empty() {
                self.run(&Action::Poll);
            }
        }
        self.history.advance(&self.host.sim, true);
        true
    }

    fn run(&mut self, command: &Action) {
        let answer = self.host.run(command);
        if answer.failed && self.failure.is_none() {
            self.failure = answer
                .failure
                .or_else(|| answer.lines.first().map(|line| line.text.clone()));
            self.failure.get_or_insert_default();
        }
        self.host.run_on();
    }

    /// Plays to the end.
    pub fn finish(mut self) -> Play {
        while !self.advance(usize::MAX) {}
        self
    }
}
