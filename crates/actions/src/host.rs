//! Host of actions: a simulation with the commands that wait on it. The page, scenarios, lessons, trials of remedies and the server run
//! actions on one.

use super::{Action, ActionResult, OutputLine, WaitingCommands, apply};
use cluster::{Advance, Sim};
use k8s_model::Time;

/// Action of a history with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedAction {
    /// Tasks run before it.
    pub steps: u64,
    /// Time at which it was run.
    pub time: Time,
    /// Action.
    pub action: Action,
}

/// Cluster on which actions run. A clone shares unchanged data.
#[derive(Clone, Debug)]
pub struct Host {
    /// Simulation.
    pub sim: Sim,
    /// Commands that still wait.
    pub waiting: WaitingCommands,
    /// Tasks run since time 0.
    pub steps: u64,
}

impl Host {
    /// Creates a host on which nothing waits.
    pub fn new(sim: Sim) -> Host {
        Host {
            sim,
            waiting: WaitingCommands::default(),
            steps: 0,
        }
    }

    /// Runs an action. A command of a client does not affect those of the terminal that still wait.
    pub fn run(&mut self, action: &Action) -> ActionResult {
        let result = self.run_with_answers(action);
        if !matches!(action, Action::Admission(_)) {
            self.sim.server.end_admission();
        }
        result
    }

    fn run_with_answers(&mut self, action: &Action) -> ActionResult {
        let Host { sim, waiting, .. } = self;
        match action {
            Action::Apply(manifest) => apply(sim, manifest),
            Action::Kubectl(line) => waiting.enter(sim, line),
            Action::Edited(text) => waiting.edited(sim, text),
            Action::Poll => waiting.poll(sim),
            Action::Interrupt => ActionResult {
                changed: waiting.interrupt(),
                ..ActionResult::default()
            },
            Action::Stop(number) => ActionResult {
                changed: waiting.stop(sim, *number),
                ..ActionResult::default()
            },
            Action::Fault(fault) => {
                let before = sim.journal().len();
                let error = sim.inject(fault).err();
                let line = error
                    .as_ref()
                    .map(|error| OutputLine::new(error.printed(), true));
                ActionResult {
                    changed: sim.journal().len() > before,
                    failed: error.is_some(),
                    lines: line.into_iter().collect(),
                    ..ActionResult::default()
                }
            }
            Action::Request(request) => {
                let result = sim.request(request).result;
                ActionResult {
                    changed: true,
                    failed: result.is_err(),
                    failure: result.err().map(|error| error.message),
                    ..ActionResult::default()
                }
            }
            Action::Admission(answers) => {
                sim.server.begin_admission(None, Some(answers.clone()));
                ActionResult::default()
            }
            Action::Client(call) => ActionResult {
                changed: sim.disturb_client(call).is_some(),
                ..ActionResult::default()
            },
            Action::Remote(id, act) => ActionResult {
                changed: waiting.remotes.act(sim, *id, act).changed,
                ..ActionResult::default()
            },
            Action::Beside(id, act) => waiting.act_beside(sim, *id, act),
        }
    }

    /// Runs the commands that continue by themselves to their end.
    pub fn run_on(&mut self) {
        while self.waiting.goes_on() {
            self.run(&Action::Poll);
        }
    }

    /// Runs tasks until a time or until the budget is spent.
    pub fn advance(&mut self, to: Time, budget: usize) -> Advance {
        let advance = self.sim.advance(to, budget);
        self.steps += advance.ran as u64;
        advance
    }

    /// Runs the next task; returns its cost.
    pub fn step(&mut self) -> usize {
        self.steps += 1;
        self.sim.step()
    }
}
