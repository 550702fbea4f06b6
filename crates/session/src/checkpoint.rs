//! Checkpoints of a run; other instants are reached by replaying commands from them.

use actions::{Action, ApplyJob, WaitingCommands};
use cluster::Sim;
use cluster::forget::Forgetting;
use k8s_model::{Kind, Time};
use kubectl::{BesideAct, published};

/// Tasks between two checkpoints, initially.
const CHECKPOINT_INTERVAL_TASKS: u64 = 2_000;
/// Maximum number of checkpoints; above it every second one is dropped, one at a time. Fewer for a large cluster, where checkpoints share
/// less.
const MAX_CHECKPOINTS: usize = 64;
const MAX_CHECKPOINTS_LARGE: usize = 24;
const LARGE_CLUSTER_PODS: usize = 20_000;
/// Cost of applying a document, in tasks.
const DOCUMENT_COST_TASKS: usize = 64;

/// Recorded command: tasks run before it, time, and action.
pub type Recorded = (u64, Time, Action);

/// Simulation with its position in the history. A clone shares unchanged data.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    /// Simulation.
    pub sim: Sim,
    /// Tasks run since time 0.
    pub steps: u64,
    /// Commands run since time 0.
    pub done: usize,
    /// Commands that still wait.
    pub waiting: WaitingCommands,
    /// Apply in progress: the clock is paused until it ends.
    pub applying: Option<ApplyJob>,
}

impl Checkpoint {
    /// Creates the checkpoint of an untouched simulation.
    pub fn new(sim: Sim) -> Checkpoint {
        Checkpoint {
            sim,
            steps: 0,
            done: 0,
            waiting: WaitingCommands::default(),
            applying: None,
        }
    }

    /// Applies the next document of the manifest in progress; returns the result when none is left.
    pub fn apply_next(&mut self) -> Option<(ApplyJob, actions::ActionResult)> {
        let answer = self.applying.as_mut()?.step(&mut self.sim)?;
        Some((self.applying.take()?, answer))
    }

    /// Applies the next document during a replay.
    pub fn repeat_next(&mut self) {
        if self.apply_next().is_some() {
            self.done += 1;
        }
    }

    /// Returns true if the next command names a published file that is not loaded yet.
    pub fn waits_for_files(&self, commands: &[Recorded]) -> bool {
        let names = match commands.get(self.done) {
            Some((_, _, Action::Kubectl(line))) => published::is_in(line),
            Some((_, _, Action::Beside(_, act))) => {
                matches!(&**act, BesideAct::Start(words, _) if words.iter().any(|word| published::is_in(word)))
            }
            _ => false,
        };
        names && !published::is_settled()
    }

    /// Replays the history up to a time, with a budget as in `Sim::advance`. Returns true when the time was reached.
    pub fn replay(
        &mut self,
        commands: &[Recorded],
        to: Time,
        most: u64,
        mut budget: usize,
    ) -> bool {
        loop {
            if budget == 0 {
                return false;
            }
            if self.applying.is_some() {
                self.repeat_next();
                budget = budget.saturating_sub(DOCUMENT_COST_TASKS);
                continue;
            }
            let due = commands.get(self.done).filter(|(_, time, _)| *time <= to);
            if let Some((at, time, command)) = due {
                // Another build of the engine may run fewer tasks until then.
                if self.steps >= *at || self.sim.next_task().is_none_or(|next| next > *time) {
                    if self.waits_for_files(commands) {
                        return false;
                    }
                    self.sim.advance(*time, 0);
                    if let Action::Apply(text) = command {
                        self.applying = Some(ApplyJob::new(&self.sim, text));
                    } else {
                        actions::run(&mut self.sim, &mut self.waiting, command);
                        self.done += 1;
                    }
                    continue;
                }
            } else if self.steps >= most || self.sim.next_task().is_none_or(|next| next > to) {
                self.sim.advance(to, 0);
                return true;
            }
            budget = budget.saturating_sub(self.sim.step());
            self.steps += 1;
        }
    }
}

/// Checkpoints of one history; the interval grows with its length.
#[derive(Clone, Debug)]
pub struct Checkpoints {
    kept: Vec<Checkpoint>,
    every: u64,
    /// Index of the next one to drop, and how many are left to drop.
    thin: Option<(usize, usize)>,
    /// The history before the first checkpoint, while it is being dropped.
    forgetting: Option<Forgetting>,
}

impl Checkpoints {
    /// Starts with the first instant.
    pub fn new(first: Checkpoint) -> Checkpoints {
        Checkpoints {
            kept: vec![first],
            every: CHECKPOINT_INTERVAL_TASKS,
            thin: None,
            forgetting: None,
        }
    }

    /// Returns the last checkpoint that is not after a time.
    pub fn before(&self, to: Time) -> Checkpoint {
        let from = self
            .kept
            .iter()
            .rposition(|earlier| earlier.sim.now() <= to)
            .unwrap_or(0);
        self.kept[from].clone()
    }

    /// Returns the earliest checkpoint.
    pub fn first(&self) -> &Checkpoint {
        &self.kept[0]
    }

    /// Drops the older half, and starts dropping the history before the rest. Returns false if there is only one.
    pub fn begin_forgetting(&mut self) -> bool {
        let half = self.kept.len() / 2;
        if half > 0 {
            self.kept.drain(..half);
            self.thin = None;
            self.forgetting = Some(self.kept[0].sim.begin_forgetting());
        }
        half > 0
    }

    /// Drops the next part of that history, here and in `others`, which share it. Returns `None` if there is nothing to drop, `Some(false)`
    /// after the last part.
    pub fn forget_next<'a>(&mut self, others: impl Iterator<Item = &'a mut Sim>) -> Option<bool> {
        let forgetting = self.forgetting.as_mut()?;
        self.kept[0].sim.forget_next(forgetting);
        self.kept
            .iter_mut()
            .for_each(|kept| kept.sim.forget(forgetting));
        others.for_each(|sim| sim.forget(forgetting));
        if forgetting.is_done() {
            self.forgetting = None;
        }
        Some(self.forgetting.is_some())
    }

    /// Drops the checkpoints after an instant.
    pub fn forget_after(&mut self, point: &Checkpoint) {
        self.kept
            .retain(|earlier| earlier.steps <= point.steps && earlier.done <= point.done);
    }

    /// Adds the newest instant, if it is far enough from the last checkpoint.
    pub fn note(&mut self, live: &Checkpoint) {
        if let Some((at, left)) = self
            .thin
            .filter(|(at, left)| *left > 0 && *at < self.kept.len())
        {
            self.kept.remove(at);
            self.thin = Some((at + 1, left - 1));
        }
        if live.steps < self.kept.last().map_or(0, |last| last.steps) + self.every {
            return;
        }
        self.kept.push(live.clone());
        let most = if live.sim.server().count(Kind::Pod) > LARGE_CLUSTER_PODS {
            MAX_CHECKPOINTS_LARGE
        } else {
            MAX_CHECKPOINTS
        };
        if self.kept.len() > most {
            self.thin = Some((1, self.kept.len() / 2));
            self.every *= 2;
        }
    }
}
