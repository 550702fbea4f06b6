//! Runs a scenario: its steps one after the other, in virtual time.

use super::disturb::Disturbance;
use super::names::resolve;
use super::parse::{Scenario, ScenarioStep, Wait};
use crate::disturb;
use actions::Action;
use cluster::Sim;
use cluster::settled::{LONGEST_WAIT_US, next_wait};
use cluster::slowed::is_held_up;
use fault::{Fault, FaultError};
use k8s_model::Time;
use k8s_model::time::{MS, SECOND};
use kubectl::parse::split;
use kubectl::{Beside, BesideAct, Progress, Session};

/// Start-up time of a command line, until it reaches the API server.
const COMMAND: u64 = 100 * MS;
/// Time that injecting a fault takes.
const FAULT: u64 = 5 * MS;
/// Time after which a command that still waits is given up.
const PATIENCE: u64 = 600 * SECOND;

/// Step that has ended.
#[derive(Clone, Debug)]
pub struct Finished {
    /// Index in the scenario.
    pub step: usize,
    /// Kind of step: `apply`, `kubectl`, `wait` or `fault`.
    pub action: &'static str,
    /// Start time.
    pub began: Time,
    /// End time.
    pub ended: Time,
    /// kubectl's standard output.
    pub stdout: String,
    /// kubectl's standard error.
    pub stderr: String,
    /// kubectl's exit code.
    pub exit: i32,
    /// Error if a fault was not injected.
    pub fault_error: Option<FaultError>,
}

impl Finished {
    /// Creates a step without output, except the error of a fault.
    fn quietly(
        step: usize,
        action: &'static str,
        began: Time,
        ended: Time,
        fault_error: Option<FaultError>,
    ) -> Finished {
        let stderr = fault_error
            .as_ref()
            .map(FaultError::to_string)
            .unwrap_or_default();
        let exit = i32::from(fault_error.is_some());
        Finished {
            step,
            action,
            began,
            ended,
            stdout: String::new(),
            stderr,
            exit,
            fault_error,
        }
    }

    /// Returns the error of a step that is wrong in the scenario itself, not only refused in the cluster's state: its fault names a missing
    /// object.
    pub fn mistake(&self) -> Option<&FaultError> {
        self.fault_error
            .as_ref()
            .filter(|error| !matches!(error, FaultError::Refused(_)))
    }
}

/// Source of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActionSource {
    /// A step of the scenario.
    Step,
    /// Random faults beside the scenario.
    Disturbance,
}

/// Observer of a run.
pub trait Observer {
    /// Called when the journal has new entries.
    fn advanced(&mut self, sim: &Sim);
    /// Called when a step has ended.
    fn finished(&mut self, sim: &Sim, step: &Finished);
    /// Called when a step is about to begin; after the last, with the number of steps.
    fn begins(&mut self, _sim: &Sim, _step: usize) {}
    /// An action was carried out, after so many tasks of the engine.
    fn acted(&mut self, _tasks: u64, _at: Time, _action: Action, _source: ActionSource) {}
}

/// Command beside the others, which starts up first.
#[derive(Clone, Copy)]
struct Background {
    step: usize,
    began: Time,
    started: bool,
}

struct Run<'r> {
    scenario: &'r Scenario,
    sim: Sim,
    observer: &'r mut dyn Observer,
    commands: Beside,
    background: Vec<Background>,
    disturbance: Option<Disturbance>,
    slice: usize,
    /// Tasks run since time 0.
    tasks: u64,
}

/// Runs all steps, and returns the cluster at the end. `slice` is the number of tasks run in one go.
pub fn run(scenario: &Scenario, seed: u64, slice: usize, observer: &mut dyn Observer) -> Sim {
    let sim = kubectl::new_cluster(scenario.cluster.clone(), seed);
    finish_run(Run::new(scenario, sim, slice, None, observer))
}

/// Runs all steps with faults in watches and loops; the run continues after its last step until their consequences are repaired.
pub fn run_disturbed(
    scenario: &Scenario,
    seed: u64,
    disturbance: Disturbance,
    observer: &mut dyn Observer,
) -> Sim {
    let sim = kubectl::new_cluster(scenario.cluster.clone(), seed);
    finish_run(Run::new(
        scenario,
        sim,
        usize::MAX,
        Some(disturbance),
        observer,
    ))
}

fn finish_run(mut run: Run<'_>) -> Sim {
    let scenario = run.scenario;
    run.observer.advanced(&run.sim);
    for (i, step) in scenario.steps.iter().enumerate() {
        run.observer.begins(&run.sim, i);
        run.step(i, step);
    }
    // A background command of the last step starts too.
    if let Some(last) = run.background.iter().rfind(|entry| !entry.started) {
        run.advance(last.began.after(COMMAND));
    }
    run.observer.begins(&run.sim, scenario.steps.len());
    run.repair();
    for entry in std::mem::take(&mut run.background)
        .into_iter()
        .filter(|entry| entry.started)
    {
        run.report(entry.step, entry.began);
    }
    run.sim
}

/// Time at which a waiting command polls again: at the next task, or a tenth of a second later.
fn next_look(sim: &Sim, limit: Time) -> Time {
    let next = sim
        .tasks
        .next_due()
        .map_or(limit, |at| at.min(sim.now().after(100 * MS)));
    next.max(Time(sim.now().0 + 1))
}

/// Runs a command to its end, letting time pass while it waits; after `patience` it is given up.
pub fn finish(sim: &mut Sim, args: &[String], stdin: &str, patience: u64) -> Session {
    let mut session = Session::start(sim, args, stdin);
    let limit = sim.now().after(patience);
    while session.poll(sim) == Progress::Running {
        if sim.now() >= limit {
            session.interrupt();
            break;
        }
        sim.advance(next_look(sim, limit), usize::MAX);
    }
    session
}

/// Advances time until the cluster has settled.
pub fn settle(sim: &mut Sim) {
    let began = sim.now();
    while let Some(to) = next_wait(sim, began) {
        sim.advance(to, usize::MAX);
    }
}

/// Returns the command of a step: its words and standard input.
pub fn command_of(step: &ScenarioStep, sim: &Sim) -> BesideAct {
    match step {
        ScenarioStep::Apply(manifest) => BesideAct::Start(
            vec!["apply".into(), "-f".into(), "-".into()],
            manifest.clone(),
        ),
        ScenarioStep::Kubectl { line, .. } => {
            BesideAct::Start(split(&resolve(line, sim)), String::new())
        }
        ScenarioStep::Wait(_) | ScenarioStep::Fault(_) => BesideAct::Poll,
    }
}

impl<'r> Run<'r> {
    fn new(
        scenario: &'r Scenario,
        sim: Sim,
        slice: usize,
        disturbance: Option<Disturbance>,
        observer: &'r mut dyn Observer,
    ) -> Run<'r> {
        let (commands, background) = (Beside::default(), Vec::new());
        Run {
            scenario,
            sim,
            observer,
            commands,
            background,
            disturbance,
            slice: slice.max(1),
            tasks: 0,
        }
    }

    fn step(&mut self, i: usize, step: &ScenarioStep) {
        let began = self.sim.now();
        match step {
            ScenarioStep::Wait(wait) => {
                self.wait(*wait);
                self.finish(Finished::quietly(i, "wait", began, self.sim.now(), None));
            }
            ScenarioStep::Apply(_)
            | ScenarioStep::Kubectl {
                background: false, ..
            } => self.command(i, began),
            ScenarioStep::Kubectl { .. } => self.background.push(Background {
                step: i,
                began,
                started: false,
            }),
            ScenarioStep::Fault(line) => {
                let line = resolve(line, &self.sim);
                self.advance(began.after(FAULT));
                let error = line
                    .parse()
                    .and_then(|fault| self.inject(fault, ActionSource::Step))
                    .err();
                self.finish(Finished::quietly(i, "fault", began, self.sim.now(), error));
            }
        }
    }

    fn start_of(&self, step: usize) -> BesideAct {
        command_of(&self.scenario.steps[step], &self.sim)
    }

    fn act(&mut self, step: usize, act: BesideAct) {
        let id = u32::try_from(step).unwrap_or(u32::MAX);
        if self.commands.act(&mut self.sim, id, &act) {
            self.observer.acted(
                self.tasks,
                self.sim.now(),
                Action::Beside(id, act.into()),
                ActionSource::Step,
            );
        }
    }

    fn inject(&mut self, fault: Fault, source: ActionSource) -> Result<(), FaultError> {
        let result = self.sim.inject(&fault);
        if result.is_ok() {
            self.observer
                .acted(self.tasks, self.sim.now(), Action::Fault(fault), source);
        }
        result
    }

    fn command(&mut self, i: usize, began: Time) {
        self.advance(began.after(COMMAND));
        let start = self.start_of(i);
        self.act(i, start);
        let limit = self
            .sim
            .now()
            .after(self.scenario.patience(i).max(PATIENCE));
        loop {
            self.act(i, BesideAct::Poll);
            if !self.commands.waits(i as u32) || self.sim.now() >= limit {
                break;
            }
            let looks = self.commands.deadline_after(self.sim.now());
            self.advance(
                looks
                    .into_iter()
                    .fold(next_look(&self.sim, limit), Time::min),
            );
        }
        self.observer.advanced(&self.sim);
        self.report(i, began);
    }

    /// Reports a command that has ended; one that still waits is interrupted.
    fn report(&mut self, step: usize, began: Time) {
        if self.commands.waits(step as u32) {
            self.act(step, BesideAct::Interrupt);
        }
        let Some(session) = self.commands.take(step as u32) else {
            return;
        };
        let action = self.scenario.steps[step].action();
        let (stdout, stderr, exit) = (session.stdout, session.stderr, session.exit.unwrap_or(0));
        self.finish(Finished {
            step,
            action,
            began,
            ended: self.sim.now(),
            stdout,
            stderr,
            exit,
            fault_error: None,
        });
    }

    fn finish(&mut self, finished: Finished) {
        self.observer.advanced(&self.sim);
        self.observer.finished(&self.sim, &finished);
    }

    fn wait(&mut self, wait: Wait) {
        let began = self.sim.now();
        match wait {
            Wait::For(span) => self.advance(began.after(span)),
            Wait::Settled => {
                while let Some(to) = next_wait(&self.sim, began) {
                    self.advance(to);
                }
            }
        }
    }

    /// Ends the disturbance, and lets the cluster repair its consequences.
    fn repair(&mut self) {
        if self.disturbance.take().is_none() {
            return;
        }
        for process in disturb::SLOWED {
            // A loop that is not slowed does not need its slowdown to be ended.
            let _ = self.inject(
                Fault::Slow {
                    name: process.name().into(),
                    pass: None,
                },
                ActionSource::Step,
            );
        }
        let limit = self.sim.now().after(LONGEST_WAIT_US);
        while is_held_up(&self.sim) && self.sim.now() < limit {
            self.advance(next_look(&self.sim, limit));
        }
        self.wait(Wait::Settled);
    }

    /// Advances time; background commands poll after every change, and at their own interval.
    fn advance(&mut self, to: Time) {
        loop {
            let waiting = self.background.iter();
            let start = waiting
                .clone()
                .filter(|b| !b.started)
                .map(|b| b.began.after(COMMAND))
                .min();
            let slice = if waiting.count() == 0 { self.slice } else { 1 };
            let disturbed = self
                .disturbance
                .as_ref()
                .map(|disturbance| disturbance.next);
            let looks = self.commands.deadline_after(self.sim.now());
            let until = start
                .into_iter()
                .chain(disturbed)
                .chain(looks)
                .fold(to, Time::min);
            let went = self.sim.advance(until, slice);
            self.tasks += went.ran as u64;
            self.poll_background();
            self.observer.advanced(&self.sim);
            if went.done && disturbed == Some(until) {
                self.disturb();
            }
            if went.done && until == to {
                return;
            }
        }
    }

    fn disturb(&mut self) {
        let Some(fault) = self
            .disturbance
            .as_mut()
            .and_then(|disturbance| disturbance.draw(&self.sim))
        else {
            return;
        };
        // What cannot be done to the cluster as it is, is not done.
        let _ = self.inject(fault, ActionSource::Disturbance);
    }

    fn poll_background(&mut self) {
        let now = self.sim.now();
        for mut entry in std::mem::take(&mut self.background) {
            if entry.began.after(COMMAND) <= now {
                if !std::mem::replace(&mut entry.started, true) {
                    let start = self.start_of(entry.step);
                    self.act(entry.step, start);
                }
                self.act(entry.step, BesideAct::Poll);
                if !self.commands.waits(entry.step as u32) {
                    self.report(entry.step, entry.began);
                    continue;
                }
            }
            self.background.push(entry);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;
    use apiserver::journal::Record;

    struct Blind;

    impl Observer for Blind {
        fn advanced(&mut self, _: &Sim) {}
        fn finished(&mut self, _: &Sim, _: &Finished) {}
    }

    #[test]
    fn a_command_in_the_background_tries_again_when_it_would_by_itself() {
        let text = "name: a\ncluster: {nodes: 1}\nsteps:\n- apply: |\n    apiVersion: apps/v1\n    kind: Deployment\n    metadata: {name: web}\n    spec:\n      replicas: 1\n      selector: {matchLabels: {app: web}}\n      template:\n        metadata: {labels: {app: web}}\n        spec: {containers: [{name: c, image: nginx}]}\n    ---\n    apiVersion: policy/v1\n    kind: PodDisruptionBudget\n    metadata: {name: web}\n    spec: {minAvailable: 1, selector: {matchLabels: {app: web}}}\n- wait: settled\n- kubectl: drain node-1\n  background: true\n- wait: 21s\n";
        let sim = run(&parse(text).unwrap(), 1, usize::MAX, &mut Blind);
        let refused = sim
            .journal()
            .iter()
            .filter(|entry| matches!(entry.record, Record::Refused(_)))
            .count();
        // At once, and then every five seconds.
        assert_eq!(refused, 5);
    }

    /// Acts of a run, as a file of the scenario repeats them.
    #[derive(Default)]
    struct Done(Vec<Action>);

    impl Observer for Done {
        fn advanced(&mut self, _: &Sim) {}
        fn finished(&mut self, _: &Sim, _: &Finished) {}
        fn acted(&mut self, _: u64, _: Time, action: Action, _: ActionSource) {
            self.0.push(action);
        }
    }

    #[test]
    fn a_command_that_still_waits_at_the_end_is_given_up_and_one_that_has_ended_is_not() {
        let text = "name: a\ncluster: {nodes: 1}\nsteps:\n- kubectl: get pods\n- kubectl: wait --for=create pod/never --timeout=1h\n  background: true\n- wait: 5s\n";
        let mut done = Done::default();
        run(&parse(text).unwrap(), 1, usize::MAX, &mut done);
        let given_up: Vec<u32> = done
            .0
            .iter()
            .filter_map(|action| match action {
                Action::Beside(id, act) if **act == BesideAct::Interrupt => Some(*id),
                _ => None,
            })
            .collect();
        assert_eq!(given_up, [1]);
    }
}
