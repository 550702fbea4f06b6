//! State of an exploration: the cluster, the place in the scenario, what its commands wait for, and the faults that are left.

use super::Violated;
use super::choice::Choice;
use crate::watch::{ObservedExpectation, Plan, counts};
use cluster::Sim;
use cluster::explore::{ReadyStep, ReadyTask};
use cluster::fingerprint::Fingerprints;
use cluster::settled::{settles_at, wait_ends_at};
use cluster::slowed::is_held_up;
use controller_runtime::process::Process;
use fault::{Fault, FaultTarget};
use k8s_model::time::SECOND;
use k8s_model::{Duration, Kind, Time};
use kubectl::{Beside, BesideAct};
use lesson::{ObservedHistory, Value};
use scenario::{How, Scenario, ScenarioStep, Wait, command_of, resolve};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

/// Time after which a command that still waits is given up.
const PATIENCE: Duration = 600 * SECOND;

/// Choices at one instant after which the steps before an exploration are taken not to rest.
const MOST_AT_ONCE: usize = 2_000;

/// Numbers of faults of each kind that a schedule may have.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct FaultBudget {
    /// Lost watch events.
    pub lose: u16,
    /// Restarts of a process.
    pub crash: u16,
}

impl FaultBudget {
    /// Parses `lose:1,crash:1`.
    ///
    /// # Errors
    /// The part that is no kind of fault with a number.
    pub fn parse(text: &str) -> Result<FaultBudget, String> {
        let mut budget = FaultBudget::default();
        for part in text.split(',').filter(|part| !part.is_empty()) {
            let (kind, count) = part.split_once(':').unwrap_or((part, "1"));
            let count = count
                .parse()
                .map_err(|_| format!("{part}: {count} is no number"))?;
            match kind {
                "lose" => budget.lose = count,
                "crash" => budget.crash = count,
                _ => {
                    return Err(format!(
                        "{kind} is no fault of an exploration: lose and crash are"
                    ));
                }
            }
        }
        Ok(budget)
    }

    /// Returns a budget that no schedule exceeds.
    pub fn any() -> FaultBudget {
        FaultBudget {
            lose: u16::MAX / 2,
            crash: u16::MAX / 2,
        }
    }

    /// Number of all faults.
    pub fn count(self) -> u32 {
        u32::from(self.lose) + u32::from(self.crash)
    }
}

/// What the scenario waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// The next step may begin.
    Idle,
    /// A command runs since an instant.
    Command(Time),
    /// Time passes until an instant.
    Until(Time),
    /// The cluster settles since an instant.
    Settling(Time),
}

/// Option at a point: a choice, and what it does.
#[derive(Clone, Debug)]
pub struct Alternative {
    /// Choice.
    pub choice: Choice,
    /// Its task; `None` for a step of the scenario or a restart.
    pub task: Option<usize>,
}

/// State of an exploration.
#[derive(Clone)]
pub struct World<'s> {
    scenario: &'s Scenario,
    plans: &'s [Plan],
    /// Span within which fast tasks are ready together.
    pub window: Duration,
    /// Cluster.
    pub sim: Sim,
    commands: Beside,
    /// Number of steps that have begun.
    pub step: usize,
    phase: Phase,
    background: Vec<usize>,
    /// Faults that are left.
    pub left: FaultBudget,
    histories: Rc<Vec<Option<ObservedHistory>>>,
    polled: usize,
    /// First violation.
    pub violated: Option<Violated>,
}

impl<'s> World<'s> {
    /// Creates the cluster of a scenario before its first step.
    pub fn new(
        scenario: &'s Scenario,
        plans: &'s [Plan],
        (seed, window, left): (u64, Duration, FaultBudget),
    ) -> World<'s> {
        World {
            scenario,
            plans,
            window,
            sim: kubectl::new_cluster(scenario.cluster.clone(), seed),
            commands: Beside::default(),
            step: 0,
            phase: Phase::Idle,
            background: Vec::new(),
            left,
            histories: Rc::new(vec![None; plans.len()]),
            polled: 0,
            violated: None,
        }
    }

    /// Runs the steps before a place in the ordinary order.
    ///
    /// # Errors
    /// A step that cannot be carried out.
    pub fn run_until(&mut self, place: usize) -> Result<(), String> {
        let left = std::mem::take(&mut self.left);
        let (mut choices, mut since) = (0, self.sim.now());
        loop {
            self.pass_time();
            if self.sim.now() > since {
                (choices, since) = (0, self.sim.now());
            }
            choices += 1;
            // What never rests is for the exploration to find.
            if self.phase == Phase::Idle && self.step >= place || choices > MOST_AT_ONCE {
                break;
            }
            let ready = self.sim.ready_tasks(self.window);
            match ready.first() {
                Some(_) => self.take(Choice::ORDINARY)?,
                None if self.phase == Phase::Idle => self.begin()?,
                None => break,
            }
        }
        self.left = left;
        for (at, plan) in self.plans.iter().enumerate() {
            if plan.step <= self.step && self.histories[at].is_none() {
                self.observe(at);
            }
        }
        Ok(())
    }

    fn observe(&mut self, plan: usize) {
        let mut history = ObservedHistory::default();
        history.begin(&self.sim, self.plans[plan].over.clone());
        Rc::make_mut(&mut self.histories)[plan] = Some(history);
    }

    /// Returns the tasks that are ready, and the choices among them and the faults, the ordinary one first; none once the run has ended.
    pub fn alternatives(&self) -> (Vec<ReadyTask>, Vec<Alternative>) {
        let tasks = self.sim.ready_tasks(self.window);
        let mut all = Vec::new();
        let mut add = |choice, task| all.push(Alternative { choice, task });
        for at in 0..tasks.len() {
            add(Choice::Task(at as u16), Some(at));
        }
        if self.phase == Phase::Idle && self.step < self.scenario.steps.len() {
            add(Choice::Step, None);
        }
        for (at, task) in tasks.iter().enumerate() {
            let process = task.process.filter(|_| task.step == ReadyStep::Deliver);
            if process.is_some() && self.left.lose > 0 {
                add(Choice::Lose(at as u16), Some(at));
            }
        }
        if self.left.crash > 0 {
            for (at, process) in self.sim.informers.processes().enumerate() {
                if tasks.iter().any(|task| task.process == Some(process)) {
                    add(Choice::Crash(at as u16), None);
                }
            }
        }
        (tasks, all)
    }

    /// Carries out a choice, evaluates what is expected, and lets time pass if nothing is ready.
    ///
    /// # Errors
    /// A choice that is not there, or a step that cannot be carried out.
    pub fn take(&mut self, choice: Choice) -> Result<(), String> {
        let absent = || format!("there is no choice {choice} at this point");
        match choice {
            Choice::Step => self.begin()?,
            Choice::Task(at) => {
                let ready = self.sim.ready_tasks(self.window);
                let task = ready.get(usize::from(at)).ok_or_else(absent)?;
                self.sim.step_task(task);
            }
            Choice::Lose(at) => {
                let ready = self.sim.ready_tasks(self.window);
                let task = ready.get(usize::from(at)).ok_or_else(absent)?;
                self.lose(task).ok_or_else(absent)?;
                self.sim.step_task(task);
            }
            Choice::Crash(at) => {
                let process = self.sim.informers.processes().nth(usize::from(at));
                let component = process.ok_or_else(absent)?.name().into();
                let restart = Fault::Restart { component };
                self.sim
                    .inject(&restart)
                    .map_err(|error| error.to_string())?;
                self.left.crash = self.left.crash.saturating_sub(1);
            }
        }
        self.evaluate();
        self.pass_time();
        Ok(())
    }

    /// Orders the loss of the next event on its way to a process.
    fn lose(&mut self, task: &ReadyTask) -> Option<()> {
        let process = task.process?;
        let id = self.sim.undelivered(process).next()?;
        let (_, object) = self.sim.journal().get(id as usize)?.write()?;
        let fault = Fault::Lose {
            target: FaultTarget::new(object.kind, object.meta.name.clone()),
            component: Some(process.name().into()),
        };
        self.sim.inject(&fault).ok()?;
        self.left.lose = self.left.lose.saturating_sub(1);
        Some(())
    }

    /// Tells what a choice does.
    pub fn told(&self, choice: Choice) -> String {
        let tasks = self.sim.ready_tasks(self.window);
        let label = |at: u16| {
            let task = tasks.get(usize::from(at));
            task.map_or_else(String::new, |task| self.sim.told(task))
        };
        match choice {
            Choice::Task(at) => label(at),
            Choice::Step => format!("step {} begins", self.step + 1),
            Choice::Lose(at) => format!("LOST on its way: {}", label(at)),
            Choice::Crash(at) => {
                let process = self.sim.informers.processes().nth(usize::from(at));
                format!("RESTART: {}", process.map_or("", Process::name))
            }
        }
    }

    /// Begins the next step.
    fn begin(&mut self) -> Result<(), String> {
        let (step, now) = (self.step, self.sim.now());
        for at in 0..self.plans.len() {
            if self.plans[at].step == step && self.histories[at].is_none() {
                self.observe(at);
            }
        }
        let scenario = self.scenario;
        self.step += 1;
        match &scenario.steps[step] {
            ScenarioStep::Wait(Wait::For(span)) => self.phase = Phase::Until(now.after(*span)),
            ScenarioStep::Wait(Wait::Settled) => self.phase = Phase::Settling(now),
            ScenarioStep::Fault(line) => {
                let fault: Fault = resolve(line, &self.sim)
                    .parse()
                    .map_err(|error: fault::FaultError| error.to_string())?;
                self.sim.inject(&fault).map_err(|error| error.to_string())?;
            }
            written => {
                let start = command_of(written, &self.sim);
                self.commands.act(&mut self.sim, step as u32, &start);
                match written {
                    ScenarioStep::Kubectl {
                        background: true, ..
                    } => self.background.push(step),
                    _ => self.phase = Phase::Command(now),
                }
                self.poll()?;
            }
        }
        Ok(())
    }

    /// Polls the commands; one that has ended is done.
    fn poll(&mut self) -> Result<(), String> {
        self.polled = self.sim.journal().len();
        for step in self.commands.ids().collect::<Vec<u32>>() {
            self.commands.act(&mut self.sim, step, &BesideAct::Poll);
            if self.commands.waits(step) {
                continue;
            }
            let ended = self.commands.take_ended(step);
            let step = step as usize;
            if self.background.contains(&step) {
                self.background.retain(|other| *other != step);
            } else if let Phase::Command(began) = self.phase {
                self.phase = Phase::Idle;
                let session = ended.as_ref();
                let exit = session.and_then(|session| session.exit).unwrap_or(0);
                let said = session.map_or("", |session| session.stderr.trim());
                if exit != 0 && matches!(self.scenario.steps[step], ScenarioStep::Apply(_)) {
                    return Err(format!(
                        "the manifest of step {} was refused: {said}",
                        step + 1
                    ));
                }
                let late = self
                    .limit(step)
                    .is_some_and(|span| self.sim.now() > began.after(span));
                if self.limit(step).is_some() && (exit != 0 || late) {
                    let how = if late { "too late" } else { said };
                    self.violate_step(step, how);
                }
            }
        }
        self.polled = self.polled.max(self.sim.journal().len());
        Ok(())
    }

    /// Returns the time within which a step has to finish.
    fn limit(&self, step: usize) -> Option<Duration> {
        let mut all = self.scenario.expected.iter().filter(|one| one.step == step);
        all.find_map(|one| match one.how {
            How::Finishes(span) => Some(span),
            _ => None,
        })
    }

    fn violate_step(&mut self, step: usize, how: &str) {
        let mut all = self.scenario.expected.iter();
        let at = all.position(|one| one.step == step && matches!(one.how, How::Finishes(_)));
        self.violated.get_or_insert(match at {
            Some(at) => Violated::Expectation(at, how.to_owned()),
            None => Violated::NeverEnds(step),
        });
    }

    /// Lets time pass until a task is ready or the run has ended: nothing else can happen before.
    fn pass_time(&mut self) {
        loop {
            if self.violated.is_some() || !self.sim.ready_tasks(self.window).is_empty() {
                return;
            }
            // Commands look when all is quiet.
            let looks = self
                .commands
                .deadline_after(Time(self.sim.now().0.saturating_sub(1)));
            let is_due = looks.is_some_and(|at| at <= self.sim.now());
            if !self.commands.is_empty() && (self.sim.journal().len() > self.polled || is_due) {
                let before = self.sim.journal().len();
                let _ = self.poll();
                self.evaluate();
                if self.sim.journal().len() > before || !is_due {
                    continue;
                }
            }
            let next = self.sim.next_ready();
            let until = match self.phase {
                Phase::Idle if self.step < self.scenario.steps.len() => return,
                Phase::Idle => {
                    let quiet = settles_at(&self.sim);
                    let rests = next.is_none_or(|at| at > quiet);
                    if rests && !is_held_up(&self.sim) && self.commands.is_empty() {
                        return;
                    }
                    None
                }
                Phase::Until(at) => Some(at),
                Phase::Settling(began) => Some(wait_ends_at(&self.sim, began)),
                Phase::Command(began) => Some(began.after(PATIENCE)),
            };
            let looks = self.commands.deadline_after(self.sim.now());
            let to = next.into_iter().chain(until).chain(looks).min();
            let Some(to) = to else { return };
            self.sim.elapse(to);
            self.evaluate();
            if until == Some(to) && next.is_none_or(|at| at > to) {
                if let Phase::Command(_) = self.phase {
                    let step = self.step - 1;
                    self.commands.take(step as u32);
                    self.violate_step(step, "it never ended");
                }
                self.phase = Phase::Idle;
                self.evaluate();
            }
            if !self.commands.is_empty() && looks == Some(to) {
                let _ = self.poll();
                self.evaluate();
            }
        }
    }

    /// Evaluates the expectations that one state decides.
    fn evaluate(&mut self) {
        // What is expected after the last step applies once that has ended.
        let last = self.scenario.steps.len();
        for at in 0..self.plans.len() {
            let begins = self.plans[at].step == last && self.histories[at].is_none();
            if begins && self.step == last && self.phase == Phase::Idle {
                self.observe(at);
            }
        }
        for (at, plan) in self.plans.iter().enumerate() {
            let Some(history) = &mut Rc::make_mut(&mut self.histories)[at] else {
                continue;
            };
            history.advance(&self.sim, true);
            for item in &plan.items {
                let how = self.scenario.expected[item.expected].how;
                let holds = history
                    .over(item.slot)
                    .is_none_or(|(value, _)| value.is_true());
                if how != How::Eventually && !holds && self.violated.is_none() {
                    self.violated = Some(Violated::Expectation(item.expected, String::new()));
                }
            }
        }
    }

    /// Evaluates what only the end of a run decides.
    pub fn end(&mut self) {
        for (at, plan) in self.plans.iter().enumerate() {
            let Some(history) = &self.histories[at] else {
                continue;
            };
            for item in &plan.items {
                let how = self.scenario.expected[item.expected].how;
                let came = history
                    .over(item.slot)
                    .is_some_and(|(value, _)| value.is_true());
                if how == How::Eventually && !came && self.violated.is_none() {
                    self.violated = Some(Violated::Expectation(item.expected, String::new()));
                }
            }
        }
        if self.violated.is_none() {
            self.violated = self.orphan().map(Violated::Orphan);
        }
    }

    /// Returns the expectations that this run tells something about: an object that they name existed, or a call had a value.
    pub fn decided(&self) -> impl Iterator<Item = usize> {
        let known = self.plans.iter().zip(self.histories.iter());
        known.flat_map(|(plan, history)| {
            let decides = |item: &&ObservedExpectation| {
                let Some(history) = history else { return false };
                let value = |slot: usize| history.over(slot).map(|(value, _)| value);
                let exists = |slot: &usize| value(*slot).is_some_and(Value::is_true);
                let has_value =
                    |slot: usize| value(slot).is_some_and(|value| *value != Value::Nothing);
                item.objects.is_empty()
                    || item.objects.iter().any(exists)
                    || item
                        .calls
                        .iter()
                        .any(|(slot, call)| !counts(call) && has_value(*slot))
            };
            plan.items.iter().filter(decides).map(|item| item.expected)
        })
    }

    /// Returns an object whose controlling owner is gone, though the cluster has settled.
    fn orphan(&self) -> Option<String> {
        let uids: std::collections::BTreeSet<_> = k8s_model::kind::all()
            .flat_map(|kind| self.sim.store().each(kind))
            .map(|object| object.meta.uid)
            .collect();
        let mut all = k8s_model::kind::all()
            .filter(|kind| *kind != Kind::Event)
            .flat_map(|kind| self.sim.store().list(kind));
        let orphan = all.find(|object| {
            let owner = object.meta.controller();
            owner.is_some_and(|owner| !uids.contains(&owner.uid))
        })?;
        Some(format!("{} {}", orphan.kind.name(), orphan.meta.name))
    }

    /// Returns the fingerprint of the state.
    pub fn fingerprint(&self, fingerprints: &mut Fingerprints) -> u64 {
        let now = self.sim.now();
        let mut hasher = DefaultHasher::new();
        fingerprints.of(&self.sim, self.window).hash(&mut hasher);
        let left = |at: Time| at.0.saturating_sub(now.0);
        let phase = match self.phase {
            Phase::Idle => (0, 0),
            Phase::Command(_) => (1, self.commands.deadline_after(now).map_or(0, left)),
            Phase::Until(at) => (2, left(at)),
            Phase::Settling(began) => (3, left(wait_ends_at(&self.sim, began))),
        };
        (self.step, phase, self.left, &self.background).hash(&mut hasher);
        for (at, plan) in self.plans.iter().enumerate() {
            let Some(history) = &self.histories[at] else {
                continue;
            };
            for item in &plan.items {
                history
                    .over(item.slot)
                    .is_some_and(|(value, _)| value.is_true())
                    .hash(&mut hasher);
                for (_, call) in &item.calls {
                    history.eval_recorded(call).to_string().hash(&mut hasher);
                }
            }
        }
        hasher.finish()
    }
}

impl World<'_> {
    /// Returns true if the scenario is not over: a step is left, or one waits.
    pub fn goes_on(&self) -> bool {
        self.step < self.scenario.steps.len() || self.phase != Phase::Idle
    }

    /// Judges a round of states that can repeat forever, by its writes: `None` if it is the rest of a settled cluster.
    pub fn violated_by_round(
        &self,
        first: &World<'_>,
        writes: Vec<(String, usize)>,
    ) -> Option<Violated> {
        let round = self.sim.now().0 - first.sim.now().0;
        match self.phase {
            Phase::Command(_) if round > 0 => {
                let step = self.step - 1;
                let mut all = self.scenario.expected.iter();
                let limited = |one: &scenario::Expected| {
                    one.step == step && matches!(one.how, How::Finishes(_))
                };
                Some(match all.position(limited) {
                    Some(at) => Violated::Expectation(at, "it never ends".to_owned()),
                    None => Violated::NeverEnds(step),
                })
            }
            _ if writes.is_empty() => None,
            _ => Some(Violated::Unsettled { writes, round }),
        }
    }
}
