//! One run of a scenario, in which the expectations are evaluated at every instant.

use actions::Action;
use actions::RecordedAction;
use cluster::Sim;
use fault::Fault;
use k8s_model::{Kind, Time};
use lesson::expr::{Expr, Expressions};
use lesson::functions;
use lesson::{ObservedHistory, Value};
use scenario::{ActionSource, Disturbance, Finished, How, Observer, Scenario};
use std::rc::Rc;

/// Expressions to evaluate from one place in the steps on.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Number of steps before it.
    pub step: usize,
    /// Expressions with their values over time.
    pub over: Rc<Expressions>,
    /// Expectations among them.
    pub items: Vec<ObservedExpectation>,
}

/// Expectation among the expressions.
#[derive(Clone, Debug)]
pub struct ObservedExpectation {
    /// Index of the expectation.
    pub expected: usize,
    /// Index of its expression.
    pub slot: usize,
    /// Calls of the expression, each with the index of the expression that records whether it ever had a value.
    pub calls: Vec<(usize, Expr)>,
    /// Indices of the expressions that record whether each named object ever existed.
    pub objects: Vec<usize>,
}

/// Violation of an expectation.
#[derive(Clone, Debug)]
pub struct Violation {
    /// Index of the expectation.
    pub expected: usize,
    /// Time from which the expectation applied: the start of the command, or the place in the steps.
    pub began: Time,
    /// Instant of the violation.
    pub at: Time,
    /// For an expression: the indices of its plan and of its item there.
    pub item: Option<(usize, usize)>,
    /// For a command: its last output.
    pub output: Vec<String>,
}

/// Run with the recorded values.
pub struct ObservedRun<'s> {
    /// Scenario.
    pub scenario: &'s Scenario,
    /// Expressions to evaluate.
    pub plans: &'s [Plan],
    /// Seed.
    pub seed: u64,
    /// Cluster at the end.
    pub sim: Option<Sim>,
    /// Commands that were run.
    pub commands: Vec<RecordedAction>,
    /// Injected faults; `None` without a disturbance.
    pub faults: Option<Vec<(Time, Fault)>>,
    /// Steps that have ended.
    pub finished: Vec<Finished>,
    /// History from the place of each plan on, and its start: time, and number of entries.
    pub histories: Vec<Option<(ObservedHistory, (Time, usize))>>,
}

impl<'s> ObservedRun<'s> {
    /// Runs a scenario.
    pub fn run(
        scenario: &'s Scenario,
        plans: &'s [Plan],
        seed: u64,
        disturbance: Option<Disturbance>,
    ) -> ObservedRun<'s> {
        let mut run = ObservedRun {
            scenario,
            plans,
            seed,
            sim: None,
            commands: Vec::new(),
            faults: disturbance.is_some().then(Vec::new),
            finished: Vec::new(),
            histories: vec![None; plans.len()],
        };
        let sim = match disturbance {
            Some(disturbance) => scenario::run_disturbed(scenario, seed, disturbance, &mut run),
            None => scenario::run(scenario, seed, usize::MAX, &mut run),
        };
        for (history, _) in run.histories.iter_mut().flatten() {
            history.advance(&sim, true);
        }
        run.sim = Some(sim);
        run
    }

    fn item(&self, expected: usize) -> Option<(usize, usize, &ObservedExpectation)> {
        let mut all = self.plans.iter().enumerate();
        all.find_map(|(plan, of)| {
            of.items
                .iter()
                .position(|item| item.expected == expected)
                .map(|at| (plan, at, &of.items[at]))
        })
    }

    /// Returns the calls of an expectation that had no value at any instant.
    pub fn unknown(&self, expected: usize) -> Vec<String> {
        let Some((plan, _, item)) = self.item(expected) else {
            return Vec::new();
        };
        let Some((history, _)) = &self.histories[plan] else {
            return Vec::new();
        };
        let nothing = |slot: usize| {
            history
                .over(slot)
                .is_none_or(|(value, _)| *value == Value::Nothing)
        };
        item.calls
            .iter()
            .filter(|(slot, _)| nothing(*slot))
            .map(|(_, call)| told(call))
            .collect()
    }

    /// Returns true if no call of an expectation could tell anything, since none of the objects that it names ever existed.
    pub fn is_vacuous(&self, expected: usize) -> bool {
        let Some((plan, _, item)) = self.item(expected) else {
            return false;
        };
        let Some((history, _)) = &self.histories[plan] else {
            return false;
        };
        let existed = |slot: &usize| {
            history
                .over(*slot)
                .is_some_and(|(value, _)| value.is_true())
        };
        let unknown = self.unknown(expected);
        !item.objects.is_empty()
            && (item.calls.iter()).all(|(_, call)| counts(call) || unknown.contains(&told(call)))
            && !item.objects.iter().any(existed)
    }

    /// Returns the violation of an expectation, if there was one.
    pub fn violation(&self, expected: usize) -> Option<Violation> {
        let one = &self.scenario.expected[expected];
        if let How::Finishes(span) = one.how {
            return self.unfinished(expected, one.step, span);
        }
        let (plan, at, item) = self.item(expected)?;
        let (history, (began, _)) = self.histories[plan].as_ref()?;
        let (value, since) = history.over(item.slot)?;
        // A missing event is only certain at the end.
        let when = if one.how == How::Eventually {
            history.now
        } else {
            since
        };
        (!value.is_true()).then(|| Violation {
            expected,
            began: *began,
            at: when,
            item: Some((plan, at)),
            output: Vec::new(),
        })
    }

    fn unfinished(&self, expected: usize, step: usize, span: u64) -> Option<Violation> {
        let ended = self
            .finished
            .iter()
            .find(|finished| finished.step == step)?;
        let limit = ended.began.after(span);
        let in_time = ended.exit == 0 && ended.ended <= limit;
        let lines = ended
            .stdout
            .lines()
            .chain(ended.stderr.lines())
            .filter(|line| !line.trim().is_empty());
        let mut output: Vec<String> = lines.map(str::to_owned).collect();
        output.drain(..output.len().saturating_sub(LAST_LINES));
        (!in_time).then(|| Violation {
            expected,
            began: ended.began,
            at: ended.ended.min(limit),
            item: None,
            output,
        })
    }
}

/// Maximum number of a command's output lines in the report.
const LAST_LINES: usize = 5;

impl Observer for ObservedRun<'_> {
    fn advanced(&mut self, sim: &Sim) {
        for (history, _) in self.histories.iter_mut().flatten() {
            history.advance(sim, false);
        }
    }

    fn finished(&mut self, _: &Sim, step: &Finished) {
        self.finished.push(step.clone());
    }

    fn begins(&mut self, sim: &Sim, step: usize) {
        for (at, plan) in self
            .plans
            .iter()
            .enumerate()
            .filter(|(_, plan)| plan.step == step)
        {
            let mut history = ObservedHistory::default();
            history.begin(sim, plan.over.clone());
            self.histories[at] = Some((history, (sim.now(), sim.journal().len())));
        }
    }

    fn acted(&mut self, tasks: u64, at: Time, action: Action, source: ActionSource) {
        if let (Action::Fault(fault), ActionSource::Disturbance) = (&action, source) {
            self.faults
                .get_or_insert_default()
                .push((at, fault.clone()));
        }
        self.commands.push(RecordedAction {
            steps: tasks,
            time: at,
            action,
        });
    }
}

/// Returns true for a call that counts what happened: to an object that never existed, nothing did. That none was created may be what is
/// expected.
pub fn counts(call: &Expr) -> bool {
    matches!(call, Expr::Call(function, _) if ["deleted", "changed", "unready"].contains(&function.name))
}

/// Returns the distinct calls of an expression.
pub fn calls(expr: &Expr) -> Vec<Expr> {
    let mut found: Vec<Expr> = Vec::new();
    let mut open = vec![expr];
    while let Some(expr) = open.pop() {
        match expr {
            Expr::Call(..) if !found.iter().any(|other| told(other) == told(expr)) => {
                found.push(expr.clone())
            }
            Expr::Not(inner) => open.push(inner),
            Expr::Binary(_, left, right) => open.extend([&**right, left]),
            _ => {}
        }
    }
    found
}

/// Returns an expression for each object named by calls that checks its existence.
pub fn objects(calls: &[Expr]) -> Vec<Expr> {
    let mut names: Vec<&Rc<str>> = Vec::new();
    for call in calls {
        if let Expr::Call(_, words) = call
            && let Some(name) = words.first()
            && !names.contains(&name)
            && Kind::from_word(name).is_none()
        {
            names.push(name);
        }
    }
    let exists = || functions::find("exists");
    names
        .into_iter()
        .filter_map(|name| Some(Expr::Call(exists()?, [name.clone()].into())))
        .collect()
}

/// Formats a call as written.
pub fn told(call: &Expr) -> String {
    match call {
        Expr::Call(function, words) => {
            let words: Vec<&str> = words.iter().map(|word| &**word).collect();
            format!("{}({})", function.name, words.join(", "))
        }
        _ => String::new(),
    }
}
