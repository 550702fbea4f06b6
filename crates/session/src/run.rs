//! A run: the simulation at its newest instant, the user's commands, and checkpoints for going back.
//!
//! The history depends on the cluster, the seed and the commands alone, so an instant of the past is found by
//! replaying the commands from the checkpoint before it.

mod branches;
mod room;
mod waiting;

use super::checkpoint::Checkpoint;
use actions::{Action, ApplyJob, Host, RecordedAction};
use apiserver::Journal;
pub use branches::Fork;
use branches::{Branch, Branches};
use cluster::Sim;
use cluster::settled::{QUIET_US, settles_at};
use controller_runtime::cluster::ClusterConfig;
use k8s_model::{Kind, Object, Time};
use std::rc::Rc;

/// Simulation with its history.
#[derive(Clone, Debug)]
pub struct Run {
    /// Branch shown.
    shown: Branch,
    branches: Branches,
    /// Instant shown, if it is not the newest.
    past: Option<Checkpoint>,
    /// End of a recorded history that is repeated before the run goes on: number of tasks, and time.
    replay_end: Option<(u64, Time)>,
    /// True if the history is another run's, received bit by bit: no command runs here alone.
    follows: bool,
    seed: u64,
    /// Incremented whenever the state shown may have changed other than by time: seek, branch, reset.
    pub epoch: u64,
}

impl Run {
    /// Creates an empty cluster at time 0.
    pub fn new(seed: u64) -> Run {
        Run::of(ClusterConfig::default(), seed)
    }

    /// Creates a run of a given cluster.
    pub fn of(cluster: ClusterConfig, seed: u64) -> Run {
        Run {
            shown: Branch::new(kubectl::new_cluster(cluster, seed)),
            branches: Branches::default(),
            past: None,
            replay_end: None,
            follows: false,
            seed,
            epoch: 0,
        }
    }

    /// Creates a run that first repeats a history as it advances: its commands, and its end.
    pub fn recalled(
        cluster: ClusterConfig,
        seed: u64,
        commands: Vec<RecordedAction>,
        end: (u64, Time),
    ) -> Run {
        let mut run = Run {
            replay_end: Some(end),
            ..Run::of(cluster, seed)
        };
        run.shown.commands = commands;
        run
    }

    /// Creates a run that follows another, whose history is received bit by bit.
    pub fn followed(cluster: ClusterConfig, seed: u64) -> Run {
        Run {
            follows: true,
            ..Run::recalled(cluster, seed, Vec::new(), (0, Time(0)))
        }
    }

    /// Returns true if the run follows another.
    pub fn follows(&self) -> bool {
        self.follows
    }

    /// Appends received commands, and moves the end of the history to follow.
    pub fn extend(&mut self, commands: Vec<RecordedAction>, end: (u64, Time)) {
        self.shown.commands.extend(commands);
        self.replay_end = Some(end);
    }

    /// Returns true if the replay waits for published files that its next command names.
    pub fn waits_for_files(&self) -> bool {
        self.replay_end.is_some() && self.shown.live.waits_for_files(&self.shown.commands)
    }

    /// Returns true while a part of the history is still to be repeated.
    pub fn is_replaying(&self) -> bool {
        self.replay_end.is_some()
    }

    /// Discards the rest of a history to repeat: another command was run.
    fn abandon_replay(&mut self) {
        if !self.follows && self.replay_end.take().is_some() {
            self.shown.truncate();
        }
    }

    /// Returns the commands from the beginning to the newest instant, and its position.
    pub fn record_of(&self) -> (&[RecordedAction], (u64, Time)) {
        (
            self.shown.recorded(),
            (self.shown.live.host.steps, self.shown.sim().now()),
        )
    }

    /// Seed of the run.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Simulation at the instant shown.
    pub fn sim(&self) -> &Sim {
        &self.past.as_ref().unwrap_or(&self.shown.live).host.sim
    }

    /// Simulation at the newest instant.
    pub fn newest(&self) -> &Sim {
        self.shown.sim()
    }

    /// Runs work for idle time.
    pub fn run_idle_work(&mut self) {
        self.past
            .as_mut()
            .unwrap_or(&mut self.shown.live)
            .host
            .sim
            .run_idle_work();
    }

    /// Returns true if an instant before the newest is shown.
    pub fn in_past(&self) -> bool {
        self.past.is_some()
    }

    /// Time shown, in milliseconds.
    pub fn now(&self) -> u64 {
        self.sim().now().0 / 1000
    }

    /// Newest time, in milliseconds.
    pub fn end(&self) -> u64 {
        self.shown.sim().now().0 / 1000
    }

    /// Journal of the whole history, also after the instant shown.
    pub fn journal(&self) -> Journal<'_> {
        self.shown.sim().journal()
    }

    /// Number of journal entries at the instant shown.
    pub fn happened(&self) -> usize {
        self.sim().journal().len()
    }

    /// Wall clock of the cluster at the instant shown, in milliseconds since 1970.
    pub fn wall(&self) -> i64 {
        self.sim().config.epoch.seconds() * 1000 + self.now() as i64
    }

    /// Version that changes with every write and every jump: the cache key of anything derived from objects.
    pub fn version(&self) -> (u64, u64) {
        (self.epoch, self.sim().store().version())
    }

    /// Returns all objects except Events.
    pub fn objects(&self) -> Vec<Rc<Object>> {
        k8s_model::kind::all()
            .filter(|kind| *kind != Kind::Event)
            .flat_map(|kind| self.sim().store().list(kind))
            .cloned()
            .collect()
    }

    /// Runs towards a time with a budget of tasks. Returns true when it was reached. In the past the recorded history is replayed; at its
    /// end the run is live again.
    pub fn advance(&mut self, to: Time, budget: usize) -> bool {
        if let Some(past) = &mut self.past {
            let end = self.shown.sim().now();
            let done = past.replay(
                &self.shown.commands,
                to.min(end),
                self.shown.live.host.steps,
                budget,
            );
            if done && to >= end {
                self.live();
            }
            return done;
        }
        if let Some((steps, end)) = self.replay_end {
            let done = self.shown.repeat(to.min(end), steps, budget);
            if done && to >= end {
                self.abandon_replay();
            }
            return done && (to <= end || self.follows);
        }
        let mut left = budget;
        loop {
            // A waiting command polls at its own interval, however fast the clock runs.
            let looks = self
                .shown
                .live
                .host
                .waiting
                .deadline_after(self.shown.sim().now())
                .filter(|at| *at < to);
            let went = self.shown.live.host.advance(looks.unwrap_or(to), left);
            self.shown.checkpoint();
            if looks.is_none() || !went.done {
                return went.done;
            }
            self.poll_waiting();
            left = left.saturating_sub(went.ran);
            if left == 0 {
                return false;
            }
        }
    }

    /// Runs, with a budget of tasks, until nothing but Events has changed for three seconds, or for as long as Pods must stay ready.
    /// Returns true when settled.
    pub fn settle(&mut self, budget: usize) -> bool {
        if self.past.is_some() {
            self.live();
        }
        self.abandon_replay();
        if self.follows {
            return true;
        }
        let quiet = settles_at(self.shown.sim());
        if self.shown.sim().now() >= quiet {
            return true;
        }
        self.advance(quiet, budget);
        false
    }

    /// Runs until one pass of a loop has written something. Returns false if none would: then the clock does not move, since an hour of
    /// passes without a write is not worth showing.
    pub fn step_reconcile(&mut self, limit: Time) -> bool {
        if self.past.is_some() {
            let written = self.sim().journal().len();
            let next = self
                .shown
                .live
                .host
                .sim
                .journal()
                .from(written)
                .iter()
                .find(|entry| !entry.is_event())
                .map(|entry| entry.time);
            match next {
                // Forward from the instant shown, without going back to a checkpoint.
                Some(time) => {
                    self.advance(time, usize::MAX);
                }
                None => self.live(),
            }
            return true;
        }
        self.abandon_replay();
        if self.follows {
            return false;
        }
        let limit = Time(self.shown.sim().now().0.saturating_add(limit.0));
        let soon = self.shown.sim().now().after(QUIET_US);
        let mut idle = None;
        while let Some(at) = self
            .shown
            .live
            .host
            .sim
            .tasks
            .next_due()
            .filter(|at| *at <= limit)
        {
            if idle.is_none() && at > soon {
                idle = Some(self.shown.live.clone());
            }
            let before = self.shown.sim().journal().len();
            self.shown.live.host.step();
            if self
                .shown
                .live
                .host
                .sim
                .journal()
                .from(before)
                .iter()
                .any(|entry| !entry.is_event())
            {
                self.shown.checkpoint();
                return true;
            }
        }
        if let Some(idle) = idle {
            self.shown.live = idle;
        }
        false
    }

    /// Runs a command at the newest instant.
    pub fn command(&mut self, command: Action) -> actions::ActionResult {
        self.abandon_replay();
        if self.follows {
            return actions::ActionResult::default();
        }
        let answer = self.shown.live.run(&command);
        if answer.changed {
            self.shown.record(command);
        }
        answer
    }

    /// Returns the actions of the history.
    pub fn commands(&self) -> &[RecordedAction] {
        self.record_of().0
    }

    /// Returns the manifest in effect at an instant of the past, empty if there was none yet; `None` at the newest instant.
    pub fn applied_then(&self) -> Option<Rc<str>> {
        let past = self.past.as_ref()?;
        let before = self.shown.commands.iter().take(past.done).rev();
        let text = before
            .filter_map(|recorded| {
                if let Action::Apply(text) = &recorded.action {
                    Some(text.clone())
                } else {
                    None
                }
            })
            .next();
        Some(
            past.applying
                .as_ref()
                .map(|applying| applying.text.clone())
                .or(text)
                .unwrap_or_default(),
        )
    }

    /// Number of commands in the history.
    pub fn command_count(&self) -> usize {
        self.record_of().0.len()
    }

    /// Starts applying a manifest at the newest instant. It is one command, whose documents [`Run::apply_next`] applies; no other command
    /// may run before the last.
    pub fn begin(&mut self, text: &Rc<str>) {
        self.abandon_replay();
        if self.follows {
            return;
        }
        self.shown.live.applying = Some(ApplyJob::new(self.shown.sim(), text));
    }

    /// Returns true if documents are left to apply.
    pub fn applies(&self) -> bool {
        self.replay_end.is_none() && self.shown.live.applying.is_some()
    }

    /// Applies the next document of the manifest; after the last, returns the job and its result.
    pub fn apply_next(&mut self) -> Option<(ApplyJob, actions::ActionResult)> {
        let (applied, answer) = self.shown.live.apply_next()?;
        if answer.changed {
            self.shown.record(Action::Apply(applied.text.clone()));
        }
        Some((applied, answer))
    }

    /// Returns true if the past instant shown lies within an apply whose documents are still being replayed.
    pub fn repeats(&self) -> bool {
        self.past
            .as_ref()
            .is_some_and(|past| past.applying.is_some())
    }

    /// Seeks to a time as far as the budget of tasks reaches; returns true when it is there. A time at or after the newest instant shows
    /// the newest.
    pub fn seek(&mut self, to: Time, budget: usize) -> bool {
        self.epoch += 1;
        if to >= self.shown.sim().now() {
            self.past = None;
            return true;
        }
        let mut point = self.shown.checkpoints.before(to);
        let there = point.replay(&self.shown.commands, to, self.shown.live.host.steps, budget);
        self.past = Some(point);
        there
    }

    /// Returns the cluster as it was before the task at a time after which a condition holds; `None` if there is none.
    pub fn before(&self, time: Time, holds: impl Fn(&Sim) -> bool) -> Option<Sim> {
        let start = Time(time.0.saturating_sub(1));
        let most = self.shown.live.host.steps;
        let mut point = self.shown.checkpoints.before(start);
        point.replay(&self.shown.commands, start, most, usize::MAX);
        loop {
            let before = point.host.sim.clone();
            if holds(&before) {
                return None;
            }
            // One task, or an action of a person.
            let due = |sim: &Sim| sim.tasks.next_due().is_some_and(|due| due <= time);
            let acts = self.shown.commands.get(point.done);
            if !due(&before) && acts.is_none_or(|action| action.time > time) {
                return None;
            }
            point.replay(&self.shown.commands, time, most, 1);
            if holds(&point.host.sim) {
                let mut before = before;
                before.advance(time, 0);
                return Some(before);
            }
            if point.host.steps >= most {
                return None;
            }
        }
    }

    /// Shows the newest instant.
    pub fn live(&mut self) {
        self.past = None;
        self.epoch += 1;
    }

    /// Forks the history at the instant shown, which becomes the newest. The part after it is kept as a branch that can be restored.
    pub fn branch(&mut self) {
        if let Some(point) = self.past.take() {
            self.abandon_replay();
            self.branches.fork_at(&mut self.shown, point);
            self.epoch += 1;
        }
    }

    /// Copies the newest instant as another branch that begins with an action, and returns the number of that branch. `None` if the history
    /// is another run's.
    pub fn fork_beside(&mut self, action: Action) -> Option<u32> {
        if self.follows {
            return None;
        }
        self.abandon_replay();
        let number = self.branches.copy(&self.shown);
        let branch = self.branches.get_mut(number)?;
        if branch.live.run(&action).changed {
            branch.record(action);
        }
        Some(number)
    }

    /// Drops a branch that is not shown.
    pub fn drop_branch(&mut self, number: u32) {
        self.branches
            .others
            .retain(|branch| branch.number != number);
    }

    /// Returns the number of the branch shown, and those of the other branches.
    pub fn branches(&self) -> (u32, Vec<u32>) {
        (
            self.shown.number,
            self.branches
                .others
                .iter()
                .map(|branch| branch.number)
                .collect(),
        )
    }

    /// Returns the fork at which the branch shown began, or the last one forked from it, with the other side's history and its end.
    pub fn fork(&self) -> Option<(Fork, Journal<'_>, u64)> {
        self.branches.fork_of(self.shown.number)
    }

    /// Switches to the newest instant of another branch.
    pub fn switch(&mut self, number: u32) {
        if self.branches.get_mut(number).is_none() {
            return;
        }
        self.abandon_replay();
        if let Some(branch) = self.branches.get_mut(number) {
            std::mem::swap(&mut self.shown, branch);
        }
        self.past = None;
        self.epoch += 1;
    }

    /// Returns a copy that shows another branch.
    pub fn other(&self, number: u32) -> Run {
        let mut other = self.clone();
        other.switch(number);
        other.branches.others.clear();
        other
    }

    /// Saves the progress of a copy made by [`Run::other`].
    pub fn keep(&mut self, other: &Run) {
        if let Some(branch) = self.branches.get_mut(other.shown.number) {
            *branch = other.shown.clone();
        }
    }

    /// Answers a command about the instant shown, without recording it.
    pub fn ask(&self, line: &str) -> Vec<actions::OutputLine> {
        let mut host = Host::new(self.sim().clone());
        let mut lines = host.run(&Action::kubectl(line)).lines;
        while host.waiting.goes_on() {
            lines.extend(host.run(&Action::Poll).lines);
        }
        // The condition it waits for cannot occur: time is stopped.
        lines.extend(
            host.waiting
                .terminal
                .first()
                .map(|_| actions::OutputLine::new("It is not so yet at this instant", false)),
        );
        lines
    }
}
