//! A run: the simulation at its newest instant, the user's commands, and checkpoints for going back.
//!
//! The history depends on the cluster, the seed and the commands alone, so an instant of the past is found by
//! replaying the commands from the checkpoint before it.

mod room;
mod waiting;

use super::checkpoint::{Checkpoint, Checkpoints, Recorded};
use super::quiet::{QUIET_US, quiet_from};
use actions::{Action, ApplyJob, WaitingCommands};
use apiserver::Journal;
use cluster::Sim;
use controller_runtime::cluster::ClusterConfig;
use k8s_model::{Kind, Object, ObjectRef, Time};
use std::rc::Rc;

/// Branch that is not shown.
#[derive(Clone, Debug)]
struct Branch {
    live: Checkpoint,
    checkpoints: Checkpoints,
    commands: Vec<Recorded>,
    /// Number, from 1.
    number: u32,
}

/// Maximum number of branches; above it the oldest is dropped.
const MAX_BRANCHES: usize = 4;

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

/// Simulation with its history.
#[derive(Clone, Debug)]
pub struct Run {
    /// Branches that are not shown.
    branches: Vec<Branch>,
    forks: Vec<Fork>,
    /// Number of the branch shown, and the last number given.
    number: u32,
    numbered: u32,
    live: Checkpoint,
    past: Option<Checkpoint>,
    checkpoints: Checkpoints,
    /// Recorded commands: tasks run before each, time, and action.
    commands: Vec<Recorded>,
    /// End of a recorded history that is repeated before the run goes on: number of tasks, and time.
    recalls: Option<(u64, Time)>,
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
        let live = Checkpoint::new(Sim::new(cluster, seed));
        Run {
            branches: Vec::new(),
            forks: Vec::new(),
            number: 1,
            numbered: 1,
            checkpoints: Checkpoints::new(live.clone()),
            live,
            past: None,
            commands: Vec::new(),
            recalls: None,
            follows: false,
            seed,
            epoch: 0,
        }
    }

    /// Creates a run that first repeats a history as it advances: its commands, and its end.
    pub fn recalled(
        cluster: ClusterConfig,
        seed: u64,
        commands: Vec<Recorded>,
        end: (u64, Time),
    ) -> Run {
        Run {
            commands,
            recalls: Some(end),
            ..Run::of(cluster, seed)
        }
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
    pub fn extend(&mut self, commands: Vec<Recorded>, end: (u64, Time)) {
        self.commands.extend(commands);
        self.recalls = Some(end);
    }

    /// Returns true if the replay waits for published files that its next command names.
    pub fn waits_for_files(&self) -> bool {
        self.recalls.is_some() && self.live.waits_for_files(&self.commands)
    }

    /// Returns true while a part of the history is still to be repeated.
    pub fn recalls(&self) -> bool {
        self.recalls.is_some()
    }

    /// Discards the rest of a history to repeat: another command was run.
    fn give_up_recall(&mut self) {
        if !self.follows && self.recalls.take().is_some() {
            while self.live.applying.is_some() {
                self.live.repeat_next();
            }
            self.commands.truncate(self.live.done);
        }
    }

    /// Returns the commands from the beginning to the newest instant, and its position.
    pub fn record_of(&self) -> (&[Recorded], (u64, Time)) {
        (
            &self.commands[..self.live.done.min(self.commands.len())],
            (self.live.steps, self.live.sim.now()),
        )
    }

    /// Seed of the run.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Simulation at the instant shown.
    pub fn sim(&self) -> &Sim {
        &self.past.as_ref().unwrap_or(&self.live).sim
    }

    /// Simulation at the newest instant.
    pub fn newest(&self) -> &Sim {
        &self.live.sim
    }

    /// Runs work for idle time.
    pub fn run_idle_work(&mut self) {
        self.past
            .as_mut()
            .unwrap_or(&mut self.live)
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
        self.live.sim.now().0 / 1000
    }

    /// Journal of the whole history, also after the instant shown.
    pub fn journal(&self) -> Journal<'_> {
        self.live.sim.journal()
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
        (self.epoch, self.sim().server().version())
    }

    /// Returns the completions of a word in the console: kinds, and names of objects with that prefix.
    pub fn completions(&self, start: &str) -> Vec<String> {
        let kinds = k8s_model::kind::all();
        let plurals = kinds
            .clone()
            .map(|kind| kind.info().plural)
            .filter(|word| word.starts_with(start));
        let objects = kinds
            .filter(|kind| kind.info().animated)
            .flat_map(|kind| self.sim().each(kind));
        let names = objects
            .map(|object| object.meta.name.as_str())
            .filter(|name| name.starts_with(start));
        plurals.chain(names).map(str::to_string).collect()
    }

    /// Returns all objects except Events.
    pub fn objects(&self) -> Vec<Rc<Object>> {
        k8s_model::kind::all()
            .filter(|kind| *kind != Kind::Event)
            .flat_map(|kind| self.sim().list(kind))
            .cloned()
            .collect()
    }

    /// Returns the object with this key.
    pub fn get(&self, key: &ObjectRef) -> Option<&Rc<Object>> {
        self.sim().get(key)
    }

    /// Runs towards a time with a budget of tasks. Returns true when it was reached. In the past the recorded history is replayed; at its
    /// end the run is live again.
    pub fn advance(&mut self, to: Time, budget: usize) -> bool {
        if let Some(past) = &mut self.past {
            let end = self.live.sim.now();
            let done = past.replay(&self.commands, to.min(end), self.live.steps, budget);
            if done && to >= end {
                self.live();
            }
            return done;
        }
        if let Some((steps, end)) = self.recalls {
            let done = self.live.replay(&self.commands, to.min(end), steps, budget);
            self.checkpoint();
            if done && to >= end {
                self.give_up_recall();
            }
            return done && (to <= end || self.follows);
        }
        let mut left = budget;
        loop {
            // A waiting command polls at its own interval, however fast the clock runs.
            let looks = self
                .live
                .waiting
                .deadline_after(self.live.sim.now())
                .filter(|at| *at < to);
            let went = self.live.sim.advance(looks.unwrap_or(to), left);
            self.live.steps += went.ran as u64;
            self.checkpoint();
            if looks.is_none() || !went.done {
                return went.done;
            }
            self.look_again();
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
        self.give_up_recall();
        if self.follows {
            return true;
        }
        let quiet = quiet_from(&self.live.sim);
        if self.live.sim.now() >= quiet {
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
                .live
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
        self.give_up_recall();
        if self.follows {
            return false;
        }
        let limit = Time(self.live.sim.now().0.saturating_add(limit.0));
        let soon = self.live.sim.now().after(QUIET_US);
        let mut idle = None;
        while let Some(at) = self.live.sim.next_task().filter(|at| *at <= limit) {
            if idle.is_none() && at > soon {
                idle = Some(self.live.clone());
            }
            let before = self.live.sim.journal().len();
            self.live.sim.step();
            self.live.steps += 1;
            if self
                .live
                .sim
                .journal()
                .from(before)
                .iter()
                .any(|entry| !entry.is_event())
            {
                self.checkpoint();
                return true;
            }
        }
        if let Some(idle) = idle {
            self.live = idle;
        }
        false
    }

    fn checkpoint(&mut self) {
        self.checkpoints.note(&self.live);
    }

    /// Runs a command at the newest instant.
    pub fn command(&mut self, command: Action) -> actions::ActionResult {
        self.give_up_recall();
        if self.follows {
            return actions::ActionResult::default();
        }
        let answer = actions::run(&mut self.live.sim, &mut self.live.waiting, &command);
        if answer.changed {
            self.record(command);
        }
        answer
    }

    /// Returns the commands of the history with their times.
    pub fn commands(&self) -> impl Iterator<Item = (Time, &Action)> {
        self.record_of()
            .0
            .iter()
            .map(|(_, time, command)| (*time, command))
    }

    /// Returns the manifest in effect at an instant of the past, empty if there was none yet; `None` at the newest instant.
    pub fn applied_then(&self) -> Option<Rc<str>> {
        let past = self.past.as_ref()?;
        let before = self.commands.iter().take(past.done).rev();
        let text = before
            .filter_map(|(_, _, command)| {
                if let Action::Apply(text) = command {
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

    /// Records a command in the history.
    fn record(&mut self, command: Action) {
        self.commands
            .push((self.live.steps, self.live.sim.now(), command));
        self.live.done = self.commands.len();
    }

    /// Starts applying a manifest at the newest instant. It is one command, whose documents [`Run::apply_next`] applies; no other command
    /// may run before the last.
    pub fn begin(&mut self, text: &Rc<str>) {
        self.give_up_recall();
        if self.follows {
            return;
        }
        self.live.applying = Some(ApplyJob::new(&self.live.sim, text));
    }

    /// Returns true if documents are left to apply.
    pub fn applies(&self) -> bool {
        self.recalls.is_none() && self.live.applying.is_some()
    }

    /// Applies the next document of the manifest; after the last, returns the job and its result.
    pub fn apply_next(&mut self) -> Option<(ApplyJob, actions::ActionResult)> {
        let (applied, answer) = self.live.apply_next()?;
        if answer.changed {
            self.record(Action::Apply(applied.text.clone()));
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
        if to >= self.live.sim.now() {
            self.past = None;
            return true;
        }
        let mut point = self.checkpoints.before(to);
        let there = point.replay(&self.commands, to, self.live.steps, budget);
        self.past = Some(point);
        there
    }

    /// Shows the newest instant.
    pub fn live(&mut self) {
        self.past = None;
        self.epoch += 1;
    }

    /// Forks the history at the instant shown, which becomes the newest. The part after it is kept as a branch that can be restored.
    pub fn branch(&mut self) {
        if let Some(mut point) = self.past.take() {
            self.give_up_recall();
            // A manifest is applied completely or not at all.
            while point.applying.is_some() {
                point.repeat_next();
            }
            let left = self.leave();
            self.branches.push(left);
            if self.branches.len() > MAX_BRANCHES {
                self.branches.remove(0);
            }
            self.numbered += 1;
            self.forks.push(Fork {
                number: self.numbered,
                of: self.number,
                at: point.sim.now().0 / 1000,
            });
            self.number = self.numbered;
            self.commands.truncate(point.done);
            self.checkpoints.forget_after(&point);
            self.live = point;
            self.epoch += 1;
        }
    }

    fn leave(&self) -> Branch {
        Branch {
            live: self.live.clone(),
            checkpoints: self.checkpoints.clone(),
            commands: self.commands.clone(),
            number: self.number,
        }
    }

    /// Returns the number of the branch shown, and those of the other branches.
    pub fn branches(&self) -> (u32, Vec<u32>) {
        (
            self.number,
            self.branches.iter().map(|branch| branch.number).collect(),
        )
    }

    /// Returns the fork at which the branch shown began, or the last one forked from it, with the other side's history and its end.
    pub fn fork(&self) -> Option<(Fork, Journal<'_>, u64)> {
        let mut newest = self.forks.iter().rev();
        let fork = *newest
            .clone()
            .find(|fork| fork.number == self.number)
            .or_else(|| newest.find(|fork| fork.of == self.number))?;
        let other = fork.number + fork.of - self.number;
        let branch = self.branches.iter().find(|branch| branch.number == other)?;
        Some((
            fork,
            branch.live.sim.journal(),
            branch.live.sim.now().0 / 1000,
        ))
    }

    /// Switches to the newest instant of another branch.
    pub fn switch(&mut self, number: u32) {
        let Some(at) = self
            .branches
            .iter()
            .position(|branch| branch.number == number)
        else {
            return;
        };
        self.give_up_recall();
        let left = self.leave();
        let to = std::mem::replace(&mut self.branches[at], left);
        (self.live, self.checkpoints, self.commands, self.number) =
            (to.live, to.checkpoints, to.commands, to.number);
        self.past = None;
        self.epoch += 1;
    }

    /// Returns a copy that shows another branch.
    pub fn other(&self, number: u32) -> Run {
        let mut other = self.clone();
        other.switch(number);
        other.branches.clear();
        other
    }

    /// Saves the progress of a copy made by [`Run::other`].
    pub fn keep(&mut self, other: &Run) {
        if let Some(branch) = self
            .branches
            .iter_mut()
            .find(|branch| branch.number == other.number)
        {
            *branch = other.leave();
        }
    }

    /// Answers a command about the instant shown, without recording it.
    pub fn ask(&self, line: &str) -> Vec<actions::OutputLine> {
        let (mut sim, mut waiting) = (self.sim().clone(), WaitingCommands::default());
        let mut lines = actions::run(&mut sim, &mut waiting, &Action::Kubectl(line.into())).lines;
        while waiting.goes_on() {
            lines.extend(actions::run(&mut sim, &mut waiting, &Action::Poll).lines);
        }
        // The condition it waits for cannot occur: time is stopped.
        lines.extend(
            waiting
                .terminal
                .first()
                .map(|_| actions::OutputLine::new("It is not so yet at this instant", false)),
        );
        lines
    }
}
