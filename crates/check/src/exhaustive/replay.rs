//! Runs of one schedule, and the search for the shortest one.

use super::choice::{Choice, Schedule};
use super::world::World;
use super::{FoundSchedule, Violated, writes};
use cluster::Sim;
use cluster::fingerprint::Fingerprints;
use k8s_model::Time;
use std::collections::BTreeMap;

/// Maximum number of choices of a replay.
const MOST_CHOICES: usize = 5_000;

/// Maximum number of replays spent on leaving out departures.
const MOST_REPLAYS: usize = 300;

/// Departure of a run from the ordinary order, as told.
#[derive(Clone, Debug)]
pub struct Departure {
    /// Instant.
    pub at: Time,
    /// What happens.
    pub does: String,
    /// What would have happened.
    pub instead: String,
}

/// Run of a schedule.
#[derive(Clone, Debug, Default)]
pub struct Replayed {
    /// Violation, if there is one.
    pub violated: Option<Violated>,
    /// Instant of the end or of the violation.
    pub at: Time,
    /// Number of choices.
    pub choices: usize,
    /// Departures from the ordinary order.
    pub departures: Vec<Departure>,
    /// Last writes and refusals before the end, as told.
    pub last: Vec<String>,
}

/// State from which schedules are run.
pub struct Replay<'s> {
    root: World<'s>,
}

/// Number of writes and refusals that are told.
const LAST: usize = 12;

impl<'s> Replay<'s> {
    /// Creates replays from a state.
    pub fn of(root: World<'s>) -> Replay<'s> {
        Replay { root }
    }

    /// Runs a schedule to its end or to its first violation.
    ///
    /// # Errors
    /// A choice that is not there.
    pub fn run(&self, schedule: &Schedule, see: &mut dyn FnMut(&Sim)) -> Result<Replayed, String> {
        let mut world = self.root.clone();
        let mut replayed = Replayed::default();
        let mut fingerprints = Fingerprints::default();
        let mut states: BTreeMap<u64, World<'s>> = BTreeMap::new();
        let last = schedule.0.last().map_or(0, |(at, _)| *at as usize);
        for point in 0..MOST_CHOICES {
            let (_, all) = world.alternatives();
            let mut choice = schedule.at(point);
            if !all.iter().any(|one| one.choice == choice) {
                // The scenario goes on if no task is ready.
                match all.first() {
                    _ if choice != Choice::ORDINARY => {
                        return Err(format!("there is no choice {choice} at point {point}"));
                    }
                    Some(first) => choice = first.choice,
                    None => {
                        world.end();
                        break;
                    }
                }
            } else if choice != Choice::ORDINARY {
                let instead = all
                    .first()
                    .map_or_else(String::new, |one| world.told(one.choice));
                replayed.departures.push(Departure {
                    at: world.sim.now(),
                    does: world.told(choice),
                    instead,
                });
            }
            if let Err(error) = world.take(choice) {
                world.violated.get_or_insert(Violated::Failed(error));
            }
            see(&world.sim);
            replayed.choices = point + 1;
            if world.violated.is_some() {
                break;
            }
            if point > last {
                let hash = world.fingerprint(&mut fingerprints);
                if let Some(first) = states.get(&hash) {
                    let writes = writes(world.sim.journal(), first.sim.journal().len());
                    world.violated = world.violated_by_round(first, writes);
                    if world.violated.is_none() && !world.goes_on() {
                        world.end();
                    }
                    break;
                }
                states.insert(hash, world.clone());
            }
        }
        (replayed.violated, replayed.at) = (world.violated.clone(), world.sim.now());
        replayed.last = last_entries(&world.sim);
        Ok(replayed)
    }

    /// Returns the schedule of a violation with as few departures as are found.
    pub fn shrink(&self, violated: Violated, choices: &[Choice]) -> FoundSchedule {
        let mut left = MOST_REPLAYS;
        let mut again = |schedule: &Schedule| {
            left = left.checked_sub(1)?;
            let run = self.run(schedule, &mut |_| {}).ok()?;
            run.violated
                .as_ref()
                .is_some_and(|found| found.is_like(&violated))
                .then_some(run)
        };
        let shorter = self.without_needless(&violated, choices);
        let mut schedule = Schedule::of(&shorter);
        let mut best = again(&schedule);
        if best.is_none() {
            schedule = Schedule::of(choices);
            best = again(&schedule);
        }
        // Later departures are often not needed at all.
        let (mut low, mut high) = (0, schedule.0.len());
        while low < high {
            let middle = low.midpoint(high);
            let fewer = Schedule(schedule.0[..middle].to_vec());
            match again(&fewer) {
                Some(run) => (high, best) = (middle, Some(run)),
                None => low = middle + 1,
            }
        }
        if best.is_some() {
            schedule.0.truncate(high);
        }
        let mut size = schedule.0.len();
        while size > 0 {
            let mut at = 0;
            while at < schedule.0.len() {
                let mut fewer = schedule.clone();
                fewer.0.drain(at..(at + size).min(schedule.0.len()));
                match again(&fewer) {
                    Some(run) => (schedule, best) = (fewer, Some(run)),
                    None => at += size,
                }
            }
            size /= 2;
        }
        let replayed = best.unwrap_or_default();
        let violated = replayed.violated.clone().unwrap_or(violated);
        FoundSchedule {
            violated,
            schedule,
            replayed,
        }
    }
}

impl Replay<'_> {
    /// Leaves out tasks that the violation does not need; the others run in the same order.
    fn without_needless(&self, violated: &Violated, choices: &[Choice]) -> Vec<Choice> {
        let mut world = self.root.clone();
        let mut named = Vec::new();
        for choice in choices {
            named.push((*choice, world.told(*choice)));
            if world.take(*choice).is_err() {
                return choices.to_vec();
            }
        }
        let (mut best, mut left) = (choices.to_vec(), MOST_REPLAYS);
        let mut size = named.len() / 2;
        while size > 0 {
            let mut at = 0;
            while at < named.len() && left > 0 {
                left -= 1;
                let mut fewer = named.clone();
                fewer.drain(at..(at + size).min(named.len()));
                match self.by_name(violated, &fewer) {
                    Some(found) => (named, best) = (fewer, found),
                    None => at += size,
                }
            }
            size /= 2;
        }
        best
    }

    /// Runs the tasks of these names, those that are not ready left out; returns the choices if they lead to the violation.
    fn by_name(&self, violated: &Violated, named: &[(Choice, String)]) -> Option<Vec<Choice>> {
        let mut world = self.root.clone();
        let mut taken = Vec::new();
        for (choice, name) in named {
            let (_, all) = world.alternatives();
            let same = |one: &&super::Alternative| {
                std::mem::discriminant(&one.choice) == std::mem::discriminant(choice)
                    && world.told(one.choice) == *name
            };
            let Some(found) = all.iter().find(same).map(|one| one.choice) else {
                continue;
            };
            taken.push(found);
            world.take(found).ok()?;
            if let Some(found) = &world.violated {
                return found.is_like(violated).then_some(taken);
            }
        }
        None
    }
}

/// Tells the last writes and refusals of objects other than Events.
fn last_entries(sim: &Sim) -> Vec<String> {
    let journal = sim.journal();
    let told = journal.iter().rev().filter_map(|entry| {
        let clock = entry.time.clock();
        if let Some((op, object)) = entry.write() {
            let (kind, name) = (object.kind.name(), &object.meta.name);
            return (kind != "Event")
                .then(|| format!("{clock}  {}  {op:?} {kind} {name}", entry.actor));
        }
        let key = entry.key()?;
        let (kind, name) = (key.kind.name(), &key.name);
        Some(format!("{clock}  {}  refused: {kind} {name}", entry.actor))
    });
    let mut last: Vec<String> = told.take(LAST).collect();
    last.reverse();
    last
}
