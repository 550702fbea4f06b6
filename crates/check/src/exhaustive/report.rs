//! Report of an exploration.

use super::{Ended, ExhaustiveOptions, Exploration, FoundSchedule, Violated};
use serde_json::{Value, json};
use std::fmt::Write;

/// Rules that need no expectation.
const BUILT_IN: [&str; 3] = [
    "the cluster settles",
    "every command ends",
    "nothing outlives its owner",
];

fn faults(options: &ExhaustiveOptions) -> String {
    match options.faults.count() {
        0 => "no fault".to_owned(),
        1 => "at most 1 fault".to_owned(),
        count => format!("at most {count} faults"),
    }
}

/// Formats what was explored.
fn scope(of: &Exploration) -> String {
    let schedules = format!("{:.0} schedules", of.schedules);
    let faults = faults(&of.options);
    match of.ended {
        Ended::Complete => format!(
            "all {schedules} (longest: {} choices) with {faults}",
            of.longest
        ),
        Ended::Depth => format!(
            "{schedules} with {faults}, each cut after {} choices; there are more",
            of.options.depth
        ),
        Ended::Unfinished => format!(
            "{schedules} with {faults}; in some a wait does not end, and what follows it was not explored"
        ),
        Ended::Violated => format!("{} states to the first violation, with {faults}", of.states),
        Ended::States => format!(
            "the first {} states, {schedules} with {faults}; there are more",
            of.states
        ),
        Ended::Time => format!(
            "{} states within the time, {schedules} with {faults}; there are more",
            of.states
        ),
    }
}

/// Formats a violation.
fn violation(of: &Exploration, violated: &Violated) -> String {
    match violated {
        Violated::Expectation(at, said) => {
            let said = if said.is_empty() {
                String::new()
            } else {
                format!(" ({said})")
            };
            format!("{}{said}", of.expected.get(*at).map_or("", String::as_str))
        }
        Violated::Unsettled { writes, round } => {
            let writes: Vec<String> = writes
                .iter()
                .map(|(who, count)| format!("{who} ({count})"))
                .collect();
            let round = match round {
                0 => "a hot loop, without a pause".to_owned(),
                span => format!("every {} s", *span as f64 / 1e6),
            };
            format!(
                "{}: the same writes repeat forever, {round}: {}",
                BUILT_IN[0],
                writes.join(", ")
            )
        }
        Violated::NeverEnds(step) => format!("{}: step {} waits forever", BUILT_IN[1], step + 1),
        Violated::Orphan(name) => format!("{}: {name}", BUILT_IN[2]),
        Violated::Failed(error) => format!("a step cannot be carried out: {error}"),
    }
}

/// Returns true if a rule is violated.
fn is_violated(of: &Exploration, rule: usize) -> bool {
    of.found.iter().any(|found| match found.violated {
        Violated::Expectation(at, _) => at == rule,
        Violated::Unsettled { .. } => rule == of.expected.len(),
        Violated::NeverEnds(_) => rule == of.expected.len() + 1,
        Violated::Orphan(_) => rule == of.expected.len() + 2,
        Violated::Failed(_) => false,
    })
}

/// Formats the result of an exploration.
pub fn exploration_text(of: &Exploration) -> String {
    let mut out = format!("{}: {}\n", of.name, scope(of));
    let rules = of.expected.iter().map(String::as_str).chain(BUILT_IN);
    for (at, rule) in rules.enumerate() {
        let verdict = match (is_violated(of, at), of.ended) {
            (true, _) => "VIOLATED",
            _ if of.undecided.contains(&at) => "CANNOT BE DECIDED",
            (false, Ended::Complete) => "holds for all of them",
            (false, Ended::Violated) => "not decided",
            (false, Ended::Depth | Ended::Unfinished | Ended::States | Ended::Time) => {
                "not found so far"
            }
        };
        let _ = writeln!(out, "{verdict:<26} {rule}");
    }
    let rate = of.states as f64 / of.seconds.max(1e-3);
    let _ = writeln!(
        out,
        "{} states, {} choices, {} final states, {:.1} s, {rate:.0} states a second{}",
        of.states,
        of.transitions,
        of.ends.len(),
        of.seconds,
        if of.options.naive {
            ", without reduction"
        } else {
            ""
        }
    );
    let _ = writeln!(
        out,
        "not told apart: uids, generated names, addresses, Events, ages of objects, phases of resyncs; a latency within {} ms takes no time; {} steps before ran once, in the ordinary order",
        of.options.window as f64 / 1e3,
        of.before
    );
    for found in &of.found {
        out += &format!("\n{}\n{}", violation(of, &found.violated), story(found));
    }
    out
}

fn story(found: &FoundSchedule) -> String {
    let mut out = String::new();
    let replayed = &found.replayed;
    let _ = writeln!(
        out,
        "  at {}, after {} choices",
        replayed.at.clock(),
        replayed.choices
    );
    if replayed.departures.is_empty() {
        let _ = writeln!(out, "  in the ordinary order");
    }
    for (at, departure) in replayed.departures.iter().enumerate() {
        let _ = writeln!(
            out,
            "  {}. {}  {}",
            at + 1,
            departure.at.clock(),
            departure.does
        );
        let _ = writeln!(out, "     instead of: {}", departure.instead);
    }
    let _ = writeln!(out, "  the last writes:");
    for line in &replayed.last {
        let _ = writeln!(out, "    {line}");
    }
    let _ = writeln!(
        out,
        "  again: loopscope run SCENARIO --schedule {}",
        found.schedule
    );
    out
}

/// Builds the result of an exploration as JSON.
pub fn exploration_json(of: &Exploration) -> Value {
    let found = of.found.iter().map(|found| {
        let departures = found.replayed.departures.iter().map(
            |one| json!({ "seconds": one.at.seconds(), "does": one.does, "instead": one.instead }),
        );
        json!({
            "violation": violation(of, &found.violated), "schedule": found.schedule.to_string(),
            "seconds": found.replayed.at.seconds(), "departures": departures.collect::<Vec<_>>(),
        })
    });
    let ended = match of.ended {
        Ended::Complete => "complete",
        Ended::Depth => "depth",
        Ended::Unfinished => "unfinished",
        Ended::Violated => "violated",
        Ended::States => "states",
        Ended::Time => "time",
    };
    json!({
        "name": of.name, "ended": ended, "states": of.states, "choices": of.transitions, "schedules": of.schedules,
        "finalStates": of.ends.len(), "longest": of.longest, "undecided": of.undecided, "seconds": of.seconds, "found": found.collect::<Vec<_>>(),
    })
}
