//! Run in which an expectation was violated, with everything needed to understand it.

use super::watch::{ObservedRun, Violation, calls, told};
use apiserver::journal::{Actor, EntryId, Record};
use cluster::Sim;
use explain::words::{self, Reason};
use explain::{diagnose, standing};
use fault::Fault;
use k8s_model::{Kind, ObjectRef, Time};
use lesson::ObservedHistory;
use lesson::expr::{Aggregation, Expr};
use session::permalink::{self, Link};
use session::run::Run;

/// Run in which an expectation was violated.
#[derive(Clone, Debug)]
pub struct Counterexample {
    /// Seed of the run.
    pub seed: u64,
    /// Instant of the violation.
    pub at: Time,
    /// Injected faults up to that instant, without those found not to be needed.
    pub faults: Vec<(Time, Fault)>,
    /// Calls of the expression, and their values.
    pub values: Vec<(String, String)>,
    /// Last output of the command.
    pub output: Vec<String>,
    /// States of the objects that the expression names.
    pub standing: Vec<String>,
    /// Chain of causes, newest first.
    pub reasons: Vec<Reason>,
    /// Fragment that opens the page at that instant.
    pub link: String,
}

/// State at an instant.
struct Found {
    entry: Option<EntryId>,
    values: Vec<(String, String)>,
    about: Vec<ObjectRef>,
}

impl Counterexample {
    /// Builds the counterexample of a run.
    pub fn of(run: &ObservedRun<'_>, violation: Violation) -> Option<Counterexample> {
        let sim = run.sim.as_ref()?;
        let found = match violation.item {
            Some((plan, item)) => by_expression(run, sim, plan, item, violation.at)?,
            None => by_command(run, sim, &violation),
        };
        let repeated = Repeated::of(run, sim)?;
        let then = repeated.at(violation.at);
        let about: Vec<&ObjectRef> = found
            .about
            .iter()
            .filter(|key| then.store().get(key).is_some())
            .collect();
        let standing = about.iter().map(|key| {
            format!(
                "{} {}: {}",
                key.kind.name(),
                key.name,
                standing::of(&then, key).sentence.english()
            )
        });
        let reasons = match (found.entry, about.first()) {
            (Some(entry), _) => words::chain_of(sim.journal(), &sim.delays, entry),
            (None, Some(key)) => {
                let root = diagnose::chain_of_waiting(&then, key)
                    .last()
                    .map(|found| found.object.clone());
                let of = |key: &ObjectRef| standing::chain(&then, then.journal(), key);
                root.map(|root| of(&root))
                    .filter(|chain| !chain.is_empty())
                    .unwrap_or_else(|| of(key))
            }
            (None, None) => Vec::new(),
        };
        let wrote = found
            .entry
            .and_then(|entry| sim.journal().get(entry as usize)?.key());
        let link = repeated.link(run, violation.at, wrote.as_ref().or(about.first().copied()));
        let faults = run
            .faults
            .iter()
            .flatten()
            .filter(|(at, _)| *at <= violation.at)
            .cloned()
            .collect();
        let standing = standing.collect();
        Some(Counterexample {
            seed: run.seed,
            at: violation.at,
            faults,
            values: found.values,
            output: violation.output,
            standing,
            reasons,
            link,
        })
    }
}

/// Finds the write of an instant that decided an expression, and its values there.
fn by_expression(
    run: &ObservedRun<'_>,
    sim: &Sim,
    plan: usize,
    item: usize,
    at: Time,
) -> Option<Found> {
    let plan_of = &run.plans[plan];
    let (_, began) = run.histories[plan].as_ref()?;
    let (over, expr) = &plan_of.over.over[plan_of.items[item].slot];
    let journal = sim.journal();
    let first = journal
        .iter()
        .position(|entry| entry.time >= at)
        .unwrap_or(journal.len())
        .max(began.1);
    let end = journal
        .iter()
        .position(|entry| entry.time > at)
        .unwrap_or(journal.len());
    let bad = |history: &ObservedHistory| {
        history.eval_recorded(expr).is_true() == (*over == Aggregation::Never)
    };
    let mut history = ObservedHistory::of(journal.first(first), *began, plan_of.over.clone(), at);
    let (mut was, mut entry) = (bad(&history), None);
    if *over != Aggregation::Ever {
        for id in first..end {
            history.catch_up(journal.first(id + 1), at);
            let is = bad(&history);
            entry = if is && !was {
                Some(id as EntryId)
            } else {
                entry
            };
            was = is;
        }
    }
    history.catch_up(journal.first(end), at);
    let value = |call: &Expr| (told(call), history.eval_recorded(call).to_string());
    let calls = calls(expr);
    Some(Found {
        entry,
        values: calls.iter().map(value).collect(),
        about: named(&history, &calls),
    })
}

/// Returns the objects named by calls.
fn named(history: &ObservedHistory, calls: &[Expr]) -> Vec<ObjectRef> {
    let words = calls.iter().filter_map(|call| {
        if let Expr::Call(_, words) = call {
            words.first()
        } else {
            None
        }
    });
    let mut found: Vec<ObjectRef> = Vec::new();
    for key in words
        .filter_map(|word| history.find(word))
        .map(|object| object.key())
    {
        if !found.contains(&key) {
            found.push(key);
        }
    }
    found
}

/// Finds the last refusal of a command, and the objects that its line names.
fn by_command(run: &ObservedRun<'_>, sim: &Sim, violation: &Violation) -> Found {
    let during = |time: Time| (violation.began..=violation.at).contains(&time);
    let refused = sim.journal().iter().rposition(|entry| {
        during(entry.time)
            && entry.actor == Actor::USER
            && matches!(entry.record, Record::Refused(_))
    });
    let line = &run.scenario.expected[violation.expected].text;
    let name = |word: &str| {
        let (kind, name) = word.split_once('/')?;
        let kind = Kind::from_word(kind)?;
        Some(ObjectRef::new(
            kind,
            if kind.info().namespaced {
                "default"
            } else {
                ""
            },
            name,
        ))
    };
    Found {
        entry: refused.map(|id| id as EntryId),
        values: Vec::new(),
        about: line.split(' ').filter_map(name).collect(),
    }
}

/// Run as a page repeats it.
struct Repeated(Run);

impl Repeated {
    /// Repeats a run; `None` if its history differs: then there is nothing to open.
    fn of(run: &ObservedRun<'_>, sim: &Sim) -> Option<Repeated> {
        let mut repeated = Run::recalled(
            run.scenario.cluster.clone(),
            run.seed,
            run.commands.clone(),
            (u64::MAX, sim.now()),
        );
        while repeated.is_replaying() {
            repeated.advance(sim.now(), usize::MAX);
        }
        let same = repeated.journal().len() == sim.journal().len()
            && repeated.sim().store().version() == sim.store().version();
        same.then_some(Repeated(repeated))
    }

    fn at(&self, at: Time) -> Sim {
        let mut run = self.0.clone();
        while !run.seek(at, usize::MAX) {}
        run.sim().clone()
    }

    fn link(&self, run: &ObservedRun<'_>, at: Time, selected: Option<&ObjectRef>) -> String {
        let (commands, end) = self.0.record_of();
        // The page uses milliseconds: the first that is not before the instant.
        let shown = at.0.div_ceil(1000);
        let shown = (shown * 1000 < end.1.0).then_some(shown);
        permalink::encode(&Link {
            selected: selected
                .map(|key| format!("{}/{}/{}", key.kind.label(), key.namespace, key.name)),
            ..Link::of_scenario(run.scenario, run.seed, commands, end, shown)
        })
    }
}
