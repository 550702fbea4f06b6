//! Runs a scenario: its steps one after the other, in virtual time.

use super::names::resolve;
use super::parse::{Scenario, Step, Wait};
use crate::api::Time;
use crate::api::time::{MS, SECOND};
use crate::engine::Sim;
use crate::kubectl::{Progress, Session, parse::split};

/// What a command line takes before it reaches the API server, and until the prompt is back.
const COMMAND: u64 = 100 * MS;
/// How long it takes until a fault is there.
const FAULT: u64 = 5 * MS;
const QUIET: u64 = 3 * SECOND;
const AT_MOST: u64 = 90 * SECOND;
/// A command that waits for something that never comes ends here.
const PATIENCE: u64 = 600 * SECOND;

/// A step that has ended.
#[derive(Clone, Debug)]
pub struct Finished {
    /// Its place in the scenario.
    pub step: usize,
    /// `apply`, `kubectl`, `wait` or `fault`.
    pub action: &'static str,
    /// When it began.
    pub began: Time,
    /// When it ended.
    pub ended: Time,
    /// What kubectl printed.
    pub stdout: String,
    /// What kubectl printed as errors.
    pub stderr: String,
    /// kubectl's exit code.
    pub exit: i32,
}

/// Who watches a run.
pub trait Observer {
    /// The cluster has new entries in its journal.
    fn advanced(&mut self, sim: &Sim);
    /// A step has ended.
    fn finished(&mut self, sim: &Sim, step: &Finished);
}

/// A command beside the others; it has no session until it has started up.
struct Background {
    step: usize,
    began: Time,
    args: Vec<String>,
    session: Option<Session>,
    done: bool,
}

struct Run<'r> {
    sim: Sim,
    observer: &'r mut dyn Observer,
    background: Vec<Background>,
    /// At most so many tasks are run in one go; the history must not depend on it.
    slice: usize,
}

/// Runs all steps; gives the cluster at the end. `slice` is how many tasks are run in one go.
pub fn run(scenario: &Scenario, seed: u64, slice: usize, observer: &mut dyn Observer) -> Sim {
    let sim = Sim::new(scenario.cluster.clone(), seed);
    let mut run = Run { sim, observer, background: Vec::new(), slice: slice.max(1) };
    run.observer.advanced(&run.sim);
    for (i, step) in scenario.steps.iter().enumerate() {
        run.step(i, step);
    }
    for entry in std::mem::take(&mut run.background).into_iter().filter(|entry| !entry.done) {
        if let Some(mut session) = entry.session {
            session.interrupt();
            let now = run.sim.now();
            run.report(entry.step, "kubectl", entry.began, now, &session);
        }
    }
    run.sim
}

/// When a waiting command looks again: at the next task, or a tenth of a second later.
fn next_look(sim: &Sim, limit: Time) -> Time {
    let next = sim.next_task().map_or(limit, |at| at.min(sim.now().after(100 * MS)));
    next.max(Time(sim.now().0 + 1))
}

/// Until when nothing but Events must stay as it is for the cluster to count as settled since `began`.
pub fn quiet_until(sim: &Sim, began: Time) -> Time {
    sim.last_change().max(began).after(QUIET).min(began.after(AT_MOST))
}

/// Runs a command to its end, letting time pass while it waits; what takes longer than `patience` is given up.
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

/// Lets time pass until the cluster has settled.
pub fn settle(sim: &mut Sim) {
    let began = sim.now();
    while sim.now() < quiet_until(sim, began) {
        let until = quiet_until(sim, began);
        sim.advance(sim.next_task().map_or(until, |at| at.min(until)), usize::MAX);
    }
}

impl Run<'_> {
    fn step(&mut self, i: usize, step: &Step) {
        let began = self.sim.now();
        match step {
            Step::Wait(wait) => {
                self.wait(*wait);
                let ended = self.sim.now();
                self.finish(Finished { step: i, action: "wait", began, ended, stdout: String::new(), stderr: String::new(), exit: 0 });
            }
            Step::Apply(manifest) => self.command(i, began, &["apply".into(), "-f".into(), "-".into()], manifest, false, "apply"),
            Step::Kubectl { line, background } => {
                let line = resolve(line, &self.sim);
                self.command(i, began, &split(&line), "", *background, "kubectl");
            }
            Step::Fault(line) => {
                let line = resolve(line, &self.sim);
                self.advance(began.after(FAULT));
                let error = self.sim.fault(&line).err().unwrap_or_default();
                let exit = i32::from(!error.is_empty());
                let ended = self.sim.now();
                self.finish(Finished { step: i, action: "fault", began, ended, stdout: String::new(), stderr: error, exit });
            }
        }
    }

    fn command(&mut self, i: usize, began: Time, args: &[String], stdin: &str, background: bool, action: &'static str) {
        if background {
            self.background.push(Background { step: i, began, args: args.to_vec(), session: None, done: false });
            return;
        }
        self.advance(began.after(COMMAND));
        let mut session = Session::start(&mut self.sim, args, stdin);
        let limit = self.sim.now().after(PATIENCE);
        while session.poll(&mut self.sim) == Progress::Running {
            if self.sim.now() >= limit {
                session.interrupt();
                break;
            }
            self.advance(next_look(&self.sim, limit));
        }
        self.observer.advanced(&self.sim);
        let ended = self.sim.now();
        self.report(i, action, began, ended, &session);
    }

    fn report(&mut self, step: usize, action: &'static str, began: Time, ended: Time, session: &Session) {
        let (stdout, stderr) = (session.stdout.clone(), session.stderr.clone());
        self.finish(Finished { step, action, began, ended, stdout, stderr, exit: session.exit.unwrap_or(0) });
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
                while self.sim.now() < quiet_until(&self.sim, began) {
                    let until = quiet_until(&self.sim, began);
                    self.advance(self.sim.next_task().map_or(until, |at| at.min(until)));
                }
            }
        }
    }

    /// Lets time pass; commands in the background look at every change.
    fn advance(&mut self, to: Time) {
        loop {
            let waiting = self.background.iter().filter(|b| !b.done);
            let start = waiting.clone().filter(|b| b.session.is_none()).map(|b| b.began.after(COMMAND)).min();
            let slice = if waiting.count() == 0 { self.slice } else { 1 };
            let until = start.map_or(to, |start| start.min(to));
            let done = self.sim.advance(until, slice).done;
            self.poll_background();
            self.observer.advanced(&self.sim);
            if done && until == to {
                return;
            }
        }
    }

    fn poll_background(&mut self) {
        let now = self.sim.now();
        for n in 0..self.background.len() {
            let entry = &mut self.background[n];
            if entry.done || entry.began.after(COMMAND) > now {
                continue;
            }
            let sim = &mut self.sim;
            let session = entry.session.get_or_insert_with(|| Session::start(sim, &entry.args, ""));
            if session.poll(sim) == Progress::Done {
                entry.done = true;
                let (step, began, session) = (entry.step, entry.began, session.clone());
                self.report(step, "kubectl", began, now, &session);
            }
        }
    }
}
