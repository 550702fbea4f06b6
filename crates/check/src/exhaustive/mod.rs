//! Exploration of every order of the tasks of a small cluster.
//!
//! Depth-first over the states that the choices at each point lead to; a state that was seen before is not explored again. Reduction: at a
//! point where one task cannot affect what the others do, the others wait (`Explorer::persistent`).

mod choice;
mod replay;
mod report;
#[cfg(test)]
mod tests;
mod world;

pub use choice::{Choice, Schedule};
pub use replay::{Replay, Replayed};
pub use report::{exploration_json, exploration_text};
pub use world::FaultBudget;

use crate::{plans, watch};
use apiserver::journal::{Journal, Record};
use cluster::explore::{ReadyStep, ReadyTask};
use cluster::fingerprint::Fingerprints;
use controller_runtime::process::Process;
use k8s_model::time::MS;
use k8s_model::{Duration, Kind};
use scenario::{How, Scenario, ScenarioStep, Wait};
use std::collections::{BTreeMap, BTreeSet};
use world::{Alternative, World};

/// Default span within which fast tasks are ready together.
pub const WINDOW: Duration = 20 * MS;

/// Options of an exploration.
#[derive(Clone, Copy, Debug)]
pub struct ExhaustiveOptions {
    /// Seed of names.
    pub seed: u64,
    /// Span within which fast tasks are ready together.
    pub window: Duration,
    /// Maximum number of choices in a row.
    pub depth: usize,
    /// Maximum number of states.
    pub states: usize,
    /// Maximum duration, as the given clock counts; `None` without one.
    pub limit: Option<f64>,
    /// Faults that a schedule may have.
    pub faults: FaultBudget,
    /// True without reduction.
    pub naive: bool,
    /// True if the exploration goes on after a violation.
    pub keep_going: bool,
}

/// Violation that a schedule leads to.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Violated {
    /// An expectation of the scenario, by index, and what a command said.
    Expectation(usize, String),
    /// States repeat, and with them these writes, forever.
    Unsettled {
        /// Writers, each with its kind of object and the number of writes in a round.
        writes: Vec<(String, usize)>,
        /// Time that a round takes; 0 for a hot loop.
        round: Duration,
    },
    /// A command waits for what never comes: the step.
    NeverEnds(usize),
    /// An object whose owner is gone.
    Orphan(String),
    /// A step cannot be carried out.
    Failed(String),
}

impl Violated {
    /// Returns true for violations of the same rule.
    pub fn is_like(&self, other: &Violated) -> bool {
        match (self, other) {
            (Violated::Expectation(a, _), Violated::Expectation(b, _)) => a == b,
            (Violated::NeverEnds(a), Violated::NeverEnds(b)) => a == b,
            (a, b) => std::mem::discriminant(a) == std::mem::discriminant(b),
        }
    }
}

/// Reason why an exploration ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// Every state was explored.
    Complete,
    /// Some schedules were cut off at the depth.
    Depth,
    /// Some schedules were left in the middle of a wait, since a state like an earlier one came back.
    Unfinished,
    /// A violation was found.
    Violated,
    /// The limit of states.
    States,
    /// The limit of time.
    Time,
}

/// Schedule that leads to a violation.
#[derive(Clone, Debug)]
pub struct FoundSchedule {
    /// Violation.
    pub violated: Violated,
    /// Departures from the ordinary order.
    pub schedule: Schedule,
    /// Its run.
    pub replayed: Replayed,
}

/// Result of an exploration.
#[derive(Clone, Debug)]
pub struct Exploration {
    /// Name of the scenario.
    pub name: String,
    /// Options.
    pub options: ExhaustiveOptions,
    /// Expectations as text, in the order of the file.
    pub expected: Vec<String>,
    /// Number of steps that ran once, before the exploration.
    pub before: usize,
    /// Number of distinct states.
    pub states: usize,
    /// Number of choices carried out.
    pub transitions: usize,
    /// Number of schedules that the explored states make up.
    pub schedules: f64,
    /// Fingerprints of the states in which the runs ended.
    pub ends: BTreeSet<u64>,
    /// Expectations that no run told anything about: none of the objects that they name ever existed.
    pub undecided: Vec<usize>,
    /// Longest schedule.
    pub longest: usize,
    /// Why it ended.
    pub ended: Ended,
    /// Violations, each with its schedule.
    pub found: Vec<FoundSchedule>,
    /// Duration, as the given clock counts.
    pub seconds: f64,
}

/// State on the way from the first to the present one.
struct Frame<'s> {
    world: World<'s>,
    hash: u64,
    /// Choices to explore.
    open: Vec<Choice>,
    next: usize,
    /// Choices that wait, since those to explore cannot affect them.
    waiting: Vec<Choice>,
    /// Identities of the ready tasks.
    ready: Vec<String>,
    schedules: f64,
}

/// Depth-first search.
struct Explorer<'c> {
    options: ExhaustiveOptions,
    clock: &'c dyn Fn() -> f64,
    fingerprints: Fingerprints,
    /// States with the number of schedules from each; `None` for those on the way.
    visited: BTreeMap<u64, Option<f64>>,
    transitions: usize,
    ends: BTreeSet<u64>,
    decided: BTreeSet<usize>,
    longest: usize,
    is_cut: bool,
    /// True if a round in the middle of a wait was left.
    is_left: bool,
    found: Vec<(Violated, Vec<Choice>)>,
}

/// Returns the step before which the exploration begins: that of the first expectation or the one after the first wait for a settled
/// cluster, whichever comes first.
fn first_step(scenario: &Scenario) -> usize {
    let expected = scenario.expected.iter().map(|one| one.step).min();
    let settled = |step: &ScenarioStep| *step == ScenarioStep::Wait(Wait::Settled);
    let after = scenario.steps.iter().position(settled).map(|at| at + 1);
    let first = expected.into_iter().chain(after).min();
    first
        .filter(|step| *step < scenario.steps.len())
        .unwrap_or(0)
}

/// Explores every order of the tasks of a scenario; `clock` counts seconds.
///
/// # Errors
/// An error in the scenario.
pub fn explore(
    scenario: &Scenario,
    options: ExhaustiveOptions,
    clock: &dyn Fn() -> f64,
) -> Result<Exploration, String> {
    let plans = plans(scenario)?;
    let began = clock();
    let root = root(scenario, &plans, options)?;
    let mut explorer = Explorer {
        options,
        clock,
        fingerprints: Fingerprints::default(),
        visited: BTreeMap::new(),
        transitions: 0,
        ends: BTreeSet::new(),
        decided: BTreeSet::new(),
        longest: 0,
        is_cut: false,
        is_left: false,
        found: Vec::new(),
    };
    let (schedules, limit) = explorer.run(root.clone(), began);
    let ended = limit.unwrap_or(match (explorer.is_cut, explorer.is_left) {
        (true, _) => Ended::Depth,
        (_, true) => Ended::Unfinished,
        _ => Ended::Complete,
    });
    let seconds = clock() - began;
    let undecided = scenario.expected.iter().enumerate().filter(|(at, one)| {
        let is_expression = !matches!(one.how, How::Finishes(_));
        is_expression && ended == Ended::Complete && !explorer.decided.contains(at)
    });
    let undecided = undecided.map(|(at, _)| at).collect();
    let before = root.step;
    let replay = Replay::of(root);
    let found = std::mem::take(&mut explorer.found);
    let found = found
        .into_iter()
        .map(|(violated, choices)| replay.shrink(violated, &choices));
    Ok(Exploration {
        name: scenario.name.clone(),
        options,
        expected: scenario
            .expected
            .iter()
            .map(crate::report::expectation)
            .collect(),
        before,
        found: found.collect(),
        states: explorer.visited.len(),
        transitions: explorer.transitions,
        schedules,
        ends: explorer.ends,
        undecided,
        longest: explorer.longest,
        ended,
        seconds,
    })
}

/// Repeats a schedule of a scenario; `see` is called after every choice.
///
/// # Errors
/// An error in the scenario, or a choice that is not there.
pub fn repeat(
    scenario: &Scenario,
    options: ExhaustiveOptions,
    schedule: &Schedule,
    see: &mut dyn FnMut(&cluster::Sim),
) -> Result<Replayed, String> {
    let plans = plans(scenario)?;
    let root = root(scenario, &plans, options)?;
    see(&root.sim);
    let replayed = Replay::of(root).run(schedule, see)?;
    match schedule.0.get(replayed.departures.len()) {
        Some((point, choice)) => Err(format!(
            "choice {choice} at point {point} was not reached: the run ended after {} choices",
            replayed.choices
        )),
        None => Ok(replayed),
    }
}

fn root<'s>(
    scenario: &'s Scenario,
    plans: &'s [watch::Plan],
    options: ExhaustiveOptions,
) -> Result<World<'s>, String> {
    let mut root = World::new(
        scenario,
        plans,
        (options.seed, options.window, options.faults),
    );
    root.run_until(first_step(scenario))?;
    Ok(root)
}

impl Explorer<'_> {
    /// Explores from a state; returns the number of schedules, and the limit that ended it.
    fn run(&mut self, root: World<'_>, began: f64) -> (f64, Option<Ended>) {
        let hash = root.fingerprint(&mut self.fingerprints);
        self.visited.insert(hash, None);
        let mut stack = vec![self.frame(root, hash)];
        while let Some(top) = stack.last_mut() {
            let Some(choice) = top.open.get(top.next).copied() else {
                let schedules = top.schedules;
                self.visited.insert(top.hash, Some(schedules));
                stack.pop();
                match stack.last_mut() {
                    Some(parent) => parent.schedules += schedules,
                    None => return (schedules, None),
                }
                continue;
            };
            top.next += 1;
            self.transitions += 1;
            let mut world = top.world.clone();
            if let Err(error) = world.take(choice) {
                world.violated.get_or_insert(Violated::Failed(error));
            }
            self.longest = self.longest.max(stack.len());
            let schedules = self.child(&mut stack, world);
            if let (Some(schedules), Some(top)) = (schedules, stack.last_mut()) {
                top.schedules += schedules;
            }
            if !self.options.keep_going && !self.found.is_empty() {
                let schedules = stack.iter().map(|frame| frame.schedules).sum();
                return (schedules, Some(Ended::Violated));
            }
            let late = self
                .options
                .limit
                .is_some_and(|limit| (self.clock)() - began > limit);
            if late || self.visited.len() >= self.options.states {
                let schedules = stack.iter().map(|frame| frame.schedules).sum();
                return (
                    schedules,
                    Some(if late { Ended::Time } else { Ended::States }),
                );
            }
        }
        (0.0, None)
    }

    /// Handles the state after a choice: returns the number of schedules from it, or `None` if it is explored next.
    fn child<'s>(&mut self, stack: &mut Vec<Frame<'s>>, mut world: World<'s>) -> Option<f64> {
        if let Some(violated) = world.violated.clone() {
            self.decided.extend(world.decided());
            self.note(stack, violated);
            return Some(1.0);
        }
        let hash = world.fingerprint(&mut self.fingerprints);
        if let Some(known) = self.visited.get(&hash) {
            return Some(known.unwrap_or_else(|| {
                self.cycle(stack, &mut world, hash);
                1.0
            }));
        }
        self.visited.insert(hash, None);
        let frame = self.frame(world, hash);
        if frame.open.is_empty() {
            let mut world = frame.world;
            world.end();
            self.ends.insert(hash);
            self.decided.extend(world.decided());
            self.visited.insert(hash, Some(1.0));
            if let Some(violated) = world.violated {
                self.note(stack, violated);
            }
            return Some(1.0);
        }
        if stack.len() >= self.options.depth {
            self.is_cut = true;
            // It is explored where a shorter way leads to it.
            self.visited.remove(&hash);
            return Some(1.0);
        }
        stack.push(frame);
        None
    }

    fn note(&mut self, stack: &[Frame<'_>], violated: Violated) {
        if self.found.iter().any(|(known, _)| known.is_like(&violated)) {
            return;
        }
        let taken = stack.iter().map(|frame| frame.open[frame.next - 1]);
        self.found.push((violated, taken.collect()));
    }

    /// Judges a run that has come back to a state on its way: it can go round forever.
    fn cycle(&mut self, stack: &mut [Frame<'_>], world: &mut World<'_>, hash: u64) {
        if let Some(top) = stack.last_mut()
            && !top.waiting.is_empty()
        {
            // What waits may end the cycle: it must not wait forever.
            let waiting = std::mem::take(&mut top.waiting);
            top.open.extend(waiting);
        }
        let Some(from) = stack.iter().position(|frame| frame.hash == hash) else {
            return;
        };
        let round = &stack[from..];
        let starved = round[0].ready.iter().find(|task| {
            let ready = |frame: &Frame<'_>| frame.ready.contains(task);
            let taken = |frame: &Frame<'_>| match frame.open[frame.next - 1] {
                Choice::Task(at) => frame.ready.get(usize::from(at)) == Some(task),
                _ => false,
            };
            round.iter().all(ready) && !round.iter().any(taken)
        });
        if starved.is_some() {
            // No scheduler that is fair repeats it.
            return;
        }
        let first = &round[0].world;
        let writes = writes(world.sim.journal(), first.sim.journal().len());
        if let Some(violated) = world.violated_by_round(first, writes) {
            self.note(stack, violated);
        } else if world.goes_on() {
            // States that are not told apart come back before a wait is over: what follows the wait is not explored here.
            self.is_left = true;
        } else {
            world.end();
            self.ends.insert(hash);
            self.decided.extend(world.decided());
            if let Some(violated) = world.violated.clone() {
                self.note(stack, violated);
            }
        }
    }

    fn frame<'s>(&mut self, world: World<'s>, hash: u64) -> Frame<'s> {
        let (tasks, all) = world.alternatives();
        let first = match self.options.naive {
            true => None,
            false => persistent(&world, &tasks, &mut self.fingerprints),
        };
        let explored = |one: &Alternative| first.is_none_or(|first| one.task == Some(first));
        let (open, waiting): (Vec<_>, Vec<_>) = all.into_iter().partition(explored);
        let ready = tasks.iter().map(|task| identity(&world, task)).collect();
        let choices = |all: Vec<Alternative>| all.into_iter().map(|one| one.choice).collect();
        Frame {
            world,
            hash,
            open: choices(open),
            next: 0,
            waiting: choices(waiting),
            ready,
            schedules: 0.0,
        }
    }
}

/// Returns a name under which a task is ready again.
fn identity(world: &World<'_>, task: &ReadyTask) -> String {
    match (task.step, task.process) {
        (ReadyStep::Deliver, Some(process)) => process.name().to_owned(),
        _ => world.sim.told(task),
    }
}

/// Returns a task whose early run leaves out no behaviour, so that the others may wait:
///
/// - a pass over a key or a timer that changes no object: whatever a later pass would see differently wakes the key again;
/// - a delivery to a process of which no pass is ready that would see the difference: what arrives later is delivered later.
fn persistent(
    world: &World<'_>,
    tasks: &[ReadyTask],
    fingerprints: &mut Fingerprints,
) -> Option<usize> {
    let is_silent = |task: &ReadyTask| {
        let mut copy = world.sim.clone();
        copy.step_task(task);
        copy.journal().len() == world.sim.journal().len()
    };
    let first = tasks
        .iter()
        .position(|task| match (task.step, task.process) {
            (ReadyStep::Pass, Some(Process::ControllerManager | Process::Scheduler))
            | (ReadyStep::Timer, _) => is_silent(task),
            _ => false,
        });
    let deliveries = || (0..tasks.len()).filter(|at| tasks[*at].step == ReadyStep::Deliver);
    let readers = |at: usize| {
        let process = tasks[at].process;
        let reads =
            move |task: &&ReadyTask| task.process == process && task.step != ReadyStep::Deliver;
        tasks.iter().filter(reads)
    };
    let first = first.or_else(|| deliveries().find(|at| readers(*at).next().is_none()));
    first.or_else(|| {
        let mut after = |order: [&ReadyTask; 2]| {
            let mut copy = world.sim.clone();
            order.into_iter().for_each(|task| copy.step_task(task));
            fingerprints.of(&copy, world.window)
        };
        deliveries().find(|at| {
            let delivery = &tasks[*at];
            readers(*at).all(|reader| after([delivery, reader]) == after([reader, delivery]))
        })
    })
}

/// Returns the writers since a place in the journal, with the numbers of their writes; Events do not count.
fn writes(journal: Journal<'_>, from: usize) -> Vec<(String, usize)> {
    let mut writes: BTreeMap<String, usize> = BTreeMap::new();
    for entry in journal.from(from).iter() {
        if let Record::Write { object, .. } = &entry.record
            && object.kind != Kind::Event
        {
            let writer = format!("{} writes {}", entry.actor, object.kind.name());
            *writes.entry(writer).or_default() += 1;
        }
    }
    writes.into_iter().collect()
}
