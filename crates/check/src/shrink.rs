//! Shrinking of counterexamples: only the faults needed for the violation are kept, so that it can be understood.

use super::counterexample::Counterexample;
use super::watch::{ObservedRun, Violation};
use fault::Fault;
use k8s_model::Time;
use scenario::Disturbance;

/// Maximum number of runs spent on leaving out faults.
const MOST_RUNS: usize = 80;

/// Returns the counterexample with as few faults as are found.
pub fn smallest(run: &ObservedRun<'_>, violation: Violation) -> Option<Counterexample> {
    let Some(faults) = &run.faults else {
        return Counterexample::of(run, violation);
    };
    // Later faults did not lead to the violation.
    let mut kept: Vec<(Time, Fault)> = faults
        .iter()
        .filter(|(at, _)| *at <= violation.at)
        .cloned()
        .collect();
    let expected = violation.expected;
    let again = |faults: &[(Time, Fault)]| {
        let run = ObservedRun::run(
            run.scenario,
            run.plans,
            run.seed,
            Some(Disturbance::of(faults)),
        );
        run.violation(expected).map(|violation| (run, violation))
    };
    let (mut runs, mut size) = (0, kept.len());
    let mut best = again(&kept);
    while best.is_some() && size > 0 && runs < MOST_RUNS {
        let mut at = 0;
        while at < kept.len() && runs < MOST_RUNS {
            let mut fewer = kept.clone();
            fewer.drain(at..(at + size).min(kept.len()));
            runs += 1;
            match again(&fewer) {
                Some(found) => (kept, best) = (fewer, Some(found)),
                None => at += size,
            }
        }
        size /= 2;
    }
    match best {
        Some((run, violation)) => Counterexample::of(&run, violation),
        None => Counterexample::of(run, violation),
    }
}
