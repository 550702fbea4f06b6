//! `loopscope check`: a scenario with expectations about its history, run with many seeds and with faults in watches and loops.
//!
//! A violation is reported with the run in which it occurred: the instant, the values, the chain of reasons, and a link to the page at that
//! instant; [`explore`] tries every order of the tasks instead. `docs/check.md` describes the format. Native only.

mod counterexample;
mod exhaustive;
mod histories;
mod report;
mod shrink;
mod watch;

pub use counterexample::Counterexample;
pub use exhaustive::{
    Choice, Ended, ExhaustiveOptions, Exploration, FaultBudget, FoundSchedule, Schedule, Violated,
    WINDOW, exploration_json, exploration_text, explore, repeat,
};
pub use histories::Histories;
pub use report::{escaped, json, junit, text};

use k8s_model::Duration;
use lesson::expr::{Aggregation, ExprError, Expressions};
use lesson::read::of_expression;
use scenario::{Disturbance, Expected, Finished, How, Scenario, ScenarioStep};
use std::collections::BTreeMap;
use std::rc::Rc;
use watch::{ObservedRun, Plan};

/// Options of a check.
#[derive(Clone, Copy, Debug)]
pub struct CheckOptions {
    /// First seed.
    pub seed: u64,
    /// Number of seeds.
    pub seeds: u64,
    /// True if faults are injected into watches and loops.
    pub faults: bool,
    /// Maximum lateness of watch deliveries in microseconds, drawn by the seed as the order of passes is; 0 for neither.
    pub jitter: Duration,
}

impl CheckOptions {
    /// Returns the disturbance of the run with a seed.
    pub fn disturbance(&self, seed: u64) -> Option<Disturbance> {
        let faults = match self.faults {
            true => Disturbance::new(seed),
            false if self.jitter > 0 => Disturbance::of(&[]),
            false => return None,
        };
        Some(match self.jitter {
            0 => faults,
            range => faults.with_jitter(range, seed),
        })
    }
}

/// Result of one expectation.
#[derive(Clone, Debug)]
pub struct Checked {
    /// Expectation.
    pub expected: Expected,
    /// Number of runs in which it was violated.
    pub violated: u64,
    /// First violation.
    pub first: Option<Counterexample>,
    /// Calls of the expression that had no value in any run.
    pub unknown: Vec<String>,
    /// True if none of the objects that it names existed in any run.
    pub unmatched: bool,
    /// Line and place in the file.
    pub location: String,
}

impl Checked {
    /// Returns true if the expectation only held because none of the objects that it names ever existed, as with a misspelled name.
    pub fn is_vacuous(&self) -> bool {
        self.violated == 0 && self.unmatched
    }
}

/// Result of a check.
#[derive(Clone, Debug)]
pub struct Report {
    /// Name of the scenario.
    pub name: String,
    /// Options of the check.
    pub options: CheckOptions,
    /// Expectations with their results, in the order of the file.
    pub checked: Vec<Checked>,
    /// Distinct histories of the runs.
    pub histories: Histories,
    /// Failed steps: index, first message, and number of runs.
    pub failed: BTreeMap<usize, (String, u64)>,
}

impl Report {
    /// Returns true if nothing was violated.
    pub fn is_clean(&self) -> bool {
        self.checked.iter().all(|one| one.violated == 0)
    }

    /// Returns true if an expectation is vacuous: then the scenario is wrong.
    pub fn is_vacuous(&self) -> bool {
        self.checked.iter().any(Checked::is_vacuous)
    }
}

/// Runs a scenario with its seeds.
///
/// # Errors
/// An error in the scenario: an expression that cannot be parsed, no expectation, a manifest that cannot be applied.
pub fn check(scenario: &Scenario, options: CheckOptions) -> Result<Report, String> {
    if scenario.expected.is_empty() {
        return Err("nothing is expected: always, never, eventually or finishes among the steps says what is".to_owned());
    }
    let plans = plans(scenario)?;
    let blank = |expected: &Expected| Checked {
        expected: expected.clone(),
        violated: 0,
        first: None,
        unknown: Vec::new(),
        unmatched: true,
        location: scenario.locate(expected),
    };
    let checked = scenario.expected.iter().map(blank).collect();
    let mut report = Report {
        name: scenario.name.clone(),
        options,
        checked,
        histories: Histories::default(),
        failed: BTreeMap::new(),
    };
    let is_disturbed = options.disturbance(options.seed).is_some();
    if is_disturbed {
        // In a disturbed run the target of a fault may be gone.
        reject_mistakes(
            scenario,
            &ObservedRun::run(scenario, &[], options.seed, None),
        )?;
    }
    for seed in options.seed..options.seed.saturating_add(options.seeds) {
        let run = ObservedRun::run(scenario, &plans, seed, options.disturbance(seed));
        note_failures(scenario, &run, &mut report)?;
        report.histories.add(run.sim.as_ref());
        if !is_disturbed {
            reject_mistakes(scenario, &run)?;
        }
        for (at, checked) in report.checked.iter_mut().enumerate() {
            let unknown = run.unknown(at);
            checked.unmatched &= run.is_vacuous(at);
            if seed == options.seed {
                checked.unknown = unknown;
            } else {
                checked.unknown.retain(|call| unknown.contains(call));
            }
            let Some(violation) = run.violation(at) else {
                continue;
            };
            checked.violated += 1;
            if checked.first.is_none() {
                checked.first = shrink::smallest(&run, violation);
            }
        }
    }
    Ok(report)
}

/// Records failed steps. A refused manifest makes the expectations meaningless; other steps may fail because of the faults.
fn note_failures(
    scenario: &Scenario,
    run: &ObservedRun<'_>,
    report: &mut Report,
) -> Result<(), String> {
    for step in run.finished.iter().filter(|step| step.exit != 0) {
        let said = said(step);
        if matches!(scenario.steps[step.step], ScenarioStep::Apply(_)) {
            return Err(format!(
                "seed {}: the manifest of step {} was refused: {said}",
                run.seed,
                step.step + 1
            ));
        }
        report.failed.entry(step.step).or_insert((said, 0)).1 += 1;
    }
    Ok(())
}

/// Rejects a scenario with a fault whose target does not exist.
fn reject_mistakes(scenario: &Scenario, run: &ObservedRun<'_>) -> Result<(), String> {
    run.finished
        .iter()
        .find_map(|step| scenario.mistake(step))
        .map_or(Ok(()), Err)
}

/// Returns the last line of a failed step.
fn said(step: &Finished) -> String {
    let last = step
        .stderr
        .lines()
        .chain(step.stdout.lines())
        .rfind(|line| !line.trim().is_empty());
    last.map_or_else(|| format!("exit code {}", step.exit), str::to_owned)
}

/// Builds the expressions to evaluate from each place in the steps on.
fn plans(scenario: &Scenario) -> Result<Vec<Plan>, String> {
    let mut plans: Vec<(usize, Expressions, Vec<watch::ObservedExpectation>)> = Vec::new();
    for (at, expected) in scenario.expected.iter().enumerate() {
        let over = match expected.how {
            How::Always => Aggregation::Always,
            How::Never => Aggregation::Never,
            How::Eventually => Aggregation::Ever,
            How::Finishes(_) => continue,
        };
        let wrong = |error: ExprError| {
            format!(
                "{}: {}: {}",
                scenario.locate(expected),
                expected.how.word(),
                of_expression(&error).english()
            )
        };
        if plans.last().is_none_or(|(step, ..)| *step != expected.step) {
            plans.push((expected.step, Expressions::default(), Vec::new()));
        }
        let Some((_, expressions, items)) = plans.last_mut() else {
            continue;
        };
        let slot = expressions
            .parse_aggregate(over, &expected.text)
            .map_err(wrong)?;
        let calls = watch::calls(&expressions.over[slot].1);
        let mut objects = Vec::new();
        for exists in watch::objects(&calls) {
            objects.push(expressions.over.len());
            expressions.over.push((Aggregation::Ever, exists));
        }
        // The maximum of a call is missing if it never had a value.
        let calls = calls.into_iter().map(|call| {
            expressions.over.push((Aggregation::Max, call.clone()));
            (expressions.over.len() - 1, call)
        });
        items.push(watch::ObservedExpectation {
            expected: at,
            slot,
            calls: calls.collect(),
            objects,
        });
    }
    Ok(plans
        .into_iter()
        .map(|(step, over, items)| Plan {
            step,
            over: Rc::new(over),
            items,
        })
        .collect())
}

#[cfg(test)]
mod tests;
