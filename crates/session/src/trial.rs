//! Remedies of the selected object, tried on copies of the simulation one after another.

use super::run::Run;
use explain::diagnose::{self, Diagnosis};
use explain::waits::{DecidingFact, FactLabel};
use std::rc::Rc;

/// Tasks that a copy may run for one remedy.
const REMEDY_BUDGET_TASKS: usize = 20_000;
/// Remedies are tried unasked where no more Pods than this make a trial long.
const MAX_UNASKED_PODS: usize = 40;

/// The remedies of one diagnosis, and which of them help.
#[derive(Default)]
pub struct Trial {
    subject: Option<Subject>,
    verdicts: Verdicts,
}

/// What the trial of a diagnosis on copies found.
#[derive(Clone, Default, PartialEq)]
pub struct Verdicts {
    /// Which remedies help; empty unless all were tried on what is found now.
    pub helps: Rc<Vec<bool>>,
    /// It is soon well if nothing is done: then no remedy is tried, and none is said to help.
    pub recovers: bool,
}

/// What a verdict is about: it is dropped when any of this changes.
#[derive(Clone, PartialEq)]
struct Subject {
    epoch: u64,
    /// Commands in the history.
    commands: usize,
    /// The diagnoses down to the root, without what changes with the clock.
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
    /// What was found of the first diagnosis.
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

    /// Whether trying a remedy unasked keeps within a task of the page.
    pub fn is_short(run: &Run) -> bool {
        run.sim().server().count(k8s_model::Kind::Pod) <= MAX_UNASKED_PODS
    }

    /// Tries the next remedy. True while there are more.
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
