//! Trial of the remedies of the selected object, one after another on copies of the simulation.

use super::run::Run;
use explain::diagnose::{self, Diagnosis};
use explain::waits::{DecidingFact, FactLabel};
use std::rc::Rc;

/// Budget of a copy for one remedy, in tasks.
const REMEDY_BUDGET_TASKS: usize = 20_000;
/// Maximum number of Pods for which remedies are tried automatically; with more a trial takes long.
const MAX_UNASKED_PODS: usize = 40;

/// Remedies of one diagnosis, and their verdicts.
#[derive(Default)]
pub struct Trial {
    subject: Option<Subject>,
    verdicts: Verdicts,
}

/// Result of the trial of a diagnosis on copies.
#[derive(Clone, Default, PartialEq)]
pub struct Verdicts {
    /// True for each remedy that helps; empty unless all were tried on the current diagnosis.
    pub helps: Rc<Vec<bool>>,
    /// True if the object recovers by itself soon: then no remedy is tried, and none is said to help.
    pub recovers: bool,
}

/// Subject of a verdict: the verdict is dropped when any of this changes.
#[derive(Clone, PartialEq)]
struct Subject {
    epoch: u64,
    /// Number of commands in the history.
    commands: usize,
    /// Diagnoses down to the root, without the parts that change with the clock.
    found: Vec<Diagnosis>,
}

impl Subject {
    fn of(run: &Run, found: &[Diagnosis]) -> Subject {
        let lasting = |found: &Diagnosis| {
            let changes = |fact: &DecidingFact| {
                matches!(
                    fact,
                    DecidingFact::At(..)
                        | DecidingFact::Count(FactLabel::Restarts, _)
                        | DecidingFact::Word(FactLabel::Message | FactLabel::Pass, _)
                )
            };
            let facts = found
                .facts
                .iter()
                .filter(|fact| !changes(fact))
                .cloned()
                .collect();
            Diagnosis {
                facts,
                since: None,
                ..found.clone()
            }
        };
        Subject {
            epoch: run.epoch,
            commands: run.command_count(),
            found: found.iter().map(lasting).collect(),
        }
    }
}

impl Trial {
    /// Returns the verdicts for the first diagnosis.
    pub fn verdicts(&self, run: &Run, found: &[Diagnosis]) -> Verdicts {
        let all = found.first().map_or(0, |found| found.remedies.len());
        match &self.subject {
            Some(subject)
                if self.verdicts.helps.len() == all && *subject == Subject::of(run, found) =>
            {
                self.verdicts.clone()
            }
            _ => Verdicts::default(),
        }
    }

    /// Returns true if an automatic trial of a remedy fits into a task of the page.
    pub fn is_short(run: &Run) -> bool {
        run.sim().store().count(k8s_model::Kind::Pod) <= MAX_UNASKED_PODS
    }

    /// Tries the next remedy. Returns true while there are more.
    pub fn step(&mut self, run: &Run, found: &[Diagnosis]) -> bool {
        let Some(first) = found.first() else {
            return false;
        };
        let subject = Subject::of(run, found);
        if self.subject.as_ref() != Some(&subject) {
            self.subject = Some(subject);
            let recovers =
                first.waits.is_bad() && diagnose::recovers(run.sim(), first, REMEDY_BUDGET_TASKS);
            let helps = if recovers {
                vec![false; first.remedies.len()]
            } else {
                Vec::new()
            };
            self.verdicts = Verdicts {
                helps: Rc::new(helps),
                recovers,
            };
            return self.verdicts.helps.len() < first.remedies.len();
        }
        let helps = &mut self.verdicts.helps;
        if let Some(remedy) = first.remedies.get(helps.len()) {
            let works = diagnose::works(run.sim(), first, remedy, REMEDY_BUDGET_TASKS);
            Rc::make_mut(helps).push(works);
        }
        helps.len() < first.remedies.len()
    }
}
