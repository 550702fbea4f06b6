//! Branches of the history.

use crate::checkpoint::{Checkpoint, Checkpoints};
use actions::{Action, RecordedAction};
use apiserver::Journal;
use cluster::Sim;
use k8s_model::Time;

/// Maximum number of branches that are not shown; above it the oldest is dropped.
const MAX_BRANCHES: usize = 4;

/// History of one branch, up to its newest instant.
#[derive(Clone, Debug)]
pub(super) struct Branch {
    /// Newest instant.
    pub(super) live: Checkpoint,
    pub(super) checkpoints: Checkpoints,
    /// Recorded commands: tasks run before each, time, and action.
    pub(super) commands: Vec<RecordedAction>,
    /// Number, from 1.
    pub(super) number: u32,
}

impl Branch {
    /// Creates the first branch, without commands.
    pub(super) fn new(sim: Sim) -> Branch {
        let live = Checkpoint::new(sim);
        Branch {
            checkpoints: Checkpoints::new(live.clone()),
            live,
            commands: Vec::new(),
            number: 1,
        }
    }

    /// Returns the simulation at the newest instant.
    pub(super) fn sim(&self) -> &Sim {
        &self.live.host.sim
    }

    /// Adds the newest instant to the checkpoints, if it is far enough from the last.
    pub(super) fn checkpoint(&mut self) {
        self.checkpoints.note(&self.live);
    }

    /// Records a command.
    pub(super) fn record(&mut self, action: Action) {
        self.commands.push(RecordedAction {
            steps: self.live.host.steps,
            time: self.sim().now(),
            action,
        });
        self.live.done = self.commands.len();
    }

    /// Returns the commands up to the newest instant.
    pub(super) fn recorded(&self) -> &[RecordedAction] {
        &self.commands[..self.live.done.min(self.commands.len())]
    }

    /// Repeats the commands up to a time, with a budget of tasks, or up to a number of tasks; returns true when it was reached.
    pub(super) fn repeat(&mut self, to: Time, steps: u64, budget: usize) -> bool {
        let done = self.live.replay(&self.commands, to, steps, budget);
        self.checkpoint();
        done
    }

    /// Completes the apply in progress and drops the commands that are not repeated yet.
    pub(super) fn truncate(&mut self) {
        while self.live.applying.is_some() {
            self.live.repeat_next();
        }
        self.commands.truncate(self.live.done);
    }

    /// Makes an instant of the past the newest one.
    fn end_at(&mut self, mut point: Checkpoint) {
        // A manifest is applied completely or not at all.
        while point.applying.is_some() {
            point.repeat_next();
        }
        self.commands.truncate(point.done);
        self.checkpoints.forget_after(&point);
        self.live = point;
    }
}

/// Start of a branch.
#[derive(Clone, Copy, Debug)]
pub struct Fork {
    /// Number of the branch.
    pub number: u32,
    /// Branch from which it was forked.
    pub of: u32,
    /// Time in milliseconds.
    pub at: u64,
}

/// Branches that are not shown, and where they were forked.
#[derive(Clone, Debug)]
pub(super) struct Branches {
    pub(super) others: Vec<Branch>,
    forks: Vec<Fork>,
    /// Last number given to a branch.
    last_number: u32,
}

impl Default for Branches {
    fn default() -> Branches {
        Branches {
            others: Vec::new(),
            forks: Vec::new(),
            last_number: 1,
        }
    }
}

impl Branches {
    /// Forks the branch shown at an instant of its past; the part after it is kept as another branch.
    pub(super) fn fork_at(&mut self, shown: &mut Branch, point: Checkpoint) {
        self.add(shown.clone());
        shown.end_at(point);
        shown.number = self.fork(shown);
    }

    /// Copies the branch shown as another branch, and returns its number.
    pub(super) fn copy(&mut self, shown: &Branch) -> u32 {
        let number = self.fork(shown);
        self.add(Branch {
            number,
            ..shown.clone()
        });
        number
    }

    /// Records a fork of a branch at its newest instant, and returns the number of the new branch.
    fn fork(&mut self, of: &Branch) -> u32 {
        self.last_number += 1;
        self.forks.push(Fork {
            number: self.last_number,
            of: of.number,
            at: of.sim().now().0 / 1000,
        });
        self.last_number
    }

    /// Adds a branch that is not shown; drops the oldest if there are too many.
    fn add(&mut self, branch: Branch) {
        self.others.push(branch);
        if self.others.len() > MAX_BRANCHES {
            let oldest = (0..self.others.len()).min_by_key(|at| self.others[*at].number);
            oldest.map(|at| self.others.remove(at));
        }
    }

    /// Returns the fork at which a branch began, or the last one forked from it, with the other side's history and its end.
    pub(super) fn fork_of(&self, number: u32) -> Option<(Fork, Journal<'_>, u64)> {
        let mut newest = self.forks.iter().rev();
        let fork = *newest
            .clone()
            .find(|fork| fork.number == number)
            .or_else(|| newest.find(|fork| fork.of == number))?;
        let other = fork.number + fork.of - number;
        let branch = self.others.iter().find(|branch| branch.number == other)?;
        Some((fork, branch.sim().journal(), branch.sim().now().0 / 1000))
    }

    /// Returns another branch.
    pub(super) fn get_mut(&mut self, number: u32) -> Option<&mut Branch> {
        self.others
            .iter_mut()
            .find(|branch| branch.number == number)
    }
}
