//! Checkpoints of a run; other instants are reached by replaying commands from them.

use actions::{Action, ApplyJob, Host, RecordedAction};
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

/// Simulation with its position in the history. A clone shares unchanged data.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    /// Simulation, with the commands that wait.
    pub host: Host,
    /// Commands run since time 0.
    pub done: usize,
    /// Apply in progress: the clock is paused until it ends.
    pub applying: Option<ApplyJob>,
}

impl Checkpoint {
    /// Creates the checkpoint of an untouched simulation.
    pub fn new(sim: Sim) -> Checkpoint {
        Checkpoint {
            host: Host::new(sim),
            done: 0,
            applying: None,
        }
    }

    /// Applies the next document of the manifest in progress; returns the result when none is left.
    pub fn apply_next(&mut self) -> Option<(ApplyJob, actions::ActionResult)> {
        self.host.sim.action = self.done as u32;
        let answer = self.applying.as_mut()?.step(&mut self.host.sim)?;
        Some((self.applying.take()?, answer))
    }

    /// Runs the next action of the history.
    pub fn run(&mut self, action: &Action) -> actions::ActionResult {
        self.host.sim.action = self.done as u32;
        self.host.run(action)
    }

    /// Applies the next document during a replay.
    pub fn repeat_next(&mut self) {
        if self.apply_next().is_some() {
            self.done += 1;
        }
    }

    /// Returns true if the next command names a published file that is not loaded yet.
    pub fn waits_for_files(&self, commands: &[RecordedAction]) -> bool {
        let names = match commands.get(self.done).map(|recorded| &recorded.action) {
            Some(Action::Kubectl(line)) => published::is_in(line),
            Some(Action::Beside(_, act)) => {
                matches!(&**act, BesideAct::Start(words, _) if words.iter().any(|word| published::is_in(word)))
            }
            _ => false,
        };
        names && !published::is_settled()
    }

    /// Replays the history up to a time, with a budget as in `Sim::advance`. Returns true when the time was reached.
    pub fn replay(
        &mut self,
        commands: &[RecordedAction],
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
            let due = commands.get(self.done).filter(|due| due.time <= to);
            if let Some(RecordedAction {
                steps,
                time,
                action,
            }) = due
            {
                // Another build of the engine may run fewer tasks until then.
                if self.host.steps >= *steps
                    || self
                        .host
                        .sim
                        .tasks
                        .next_due()
                        .is_none_or(|next| next > *time)
                {
                    if self.waits_for_files(commands) {
                        return false;
                    }
                    self.host.sim.advance(*time, 0);
                    if let Action::Apply(text) = action {
                        self.applying = Some(ApplyJob::new(&self.host.sim, text));
                    } else {
                        self.run(action);
                        self.done += 1;
                    }
                    continue;
                }
            } else if self.host.steps >= most
                || self.host.sim.tasks.next_due().is_none_or(|next| next > to)
            {
                self.host.sim.advance(to, 0);
                return true;
            }
            budget = budget.saturating_sub(self.host.step());
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
            .rposition(|earlier| earlier.host.sim.now() <= to)
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
            self.forgetting = Some(Forgetting::begin(&self.kept[0].host.sim));
        }
        half > 0
    }

    /// Drops the next part of that history, here and in `others`, which share it. Returns `None` if there is nothing to drop, `Some(false)`
    /// after the last part.
    pub fn forget_next<'a>(&mut self, others: impl Iterator<Item = &'a mut Sim>) -> Option<bool> {
        let forgetting = self.forgetting.as_mut()?;
        forgetting.rewrite_next(self.kept[0].host.sim.store());
        self.kept
            .iter_mut()
            .for_each(|kept| forgetting.share(&mut kept.host.sim));
        others.for_each(|sim| forgetting.share(sim));
        if forgetting.is_done() {
            self.forgetting = None;
        }
        Some(self.forgetting.is_some())
    }

    /// Drops the checkpoints after an instant.
    pub fn forget_after(&mut self, point: &Checkpoint) {
        self.kept
            .retain(|earlier| earlier.host.steps <= point.host.steps && earlier.done <= point.done);
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
        if live.host.steps < self.kept.last().map_or(0, |last| last.host.steps) + self.every {
            return;
        }
        self.kept.push(live.clone());
        let most = if live.host.sim.store().count(Kind::Pod) > LARGE_CLUSTER_PODS {
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
