//! Faults in watches and loops at random instants of a run, by its seed: failures that a control loop must survive.

use cluster::Sim;
use controller_runtime::process::Process;
use fault::{Fault, FaultTarget};
use k8s_model::time::{MS, SECOND};
use k8s_model::{Duration, Kind, Str, Time};
use sim_core::rng::Rng;

/// Components whose slowdown ends with the disturbance.
pub const SLOWED: [Process; 2] = [Process::ControllerManager, Process::Scheduler];
const NEVER: Time = Time(u64::MAX);
/// Number of faults after which the disturbance ends.
const MOST: u32 = 1_000;
/// Median gap between two faults, chosen per run.
const GAPS: [u64; 4] = [500 * MS, 2 * SECOND, 8 * SECOND, 30 * SECOND];
const KINDS: [Kind; 10] = [
    Kind::Pod,
    Kind::ReplicaSet,
    Kind::Deployment,
    Kind::StatefulSet,
    Kind::DaemonSet,
    Kind::Job,
    Kind::PodDisruptionBudget,
    Kind::PersistentVolumeClaim,
    Kind::Node,
    Kind::EndpointSlice,
];
const DELAYS_US: [u64; 5] = [50 * MS, 500 * MS, 2 * SECOND, 5 * SECOND, 20 * SECOND];
const SLOW_US: [u64; 4] = [20 * MS, 100 * MS, 500 * MS, 2 * SECOND];

/// Faults still to be injected.
#[derive(Clone, Debug)]
pub struct Disturbance {
    rng: Rng,
    gap: u64,
    left: u32,
    /// Loop that is slowed until the fault after this one.
    slow: Option<Str>,
    /// Given faults, in reverse order; `None` if they are random.
    given: Option<Vec<(Time, Fault)>>,
    /// Fault before all others, and the time of the one after it.
    first: Option<(Fault, Time)>,
    /// Time of the next fault.
    pub next: Time,
}

impl Disturbance {
    /// Creates random faults from a seed; names are drawn from another sequence of it.
    pub fn new(seed: u64) -> Disturbance {
        let mut rng = Rng::new(!seed);
        let gap = GAPS[rng.below(GAPS.len() as u64) as usize];
        let next = Time(rng.below(2 * gap));
        Disturbance {
            rng,
            gap,
            left: MOST,
            slow: None,
            given: None,
            first: None,
            next,
        }
    }

    /// Creates a disturbance of given faults, in order.
    pub fn of(faults: &[(Time, Fault)]) -> Disturbance {
        let given: Vec<(Time, Fault)> = faults.iter().rev().cloned().collect();
        let next = given.last().map_or(NEVER, |(at, _)| *at);
        Disturbance {
            given: Some(given),
            next,
            ..Disturbance::new(0)
        }
    }

    /// Begins with a jitter of up to `range` microseconds, whose sequence follows from the seed.
    pub fn with_jitter(mut self, range: Duration, seed: u64) -> Disturbance {
        let range = Some(range);
        self.first = Some((Fault::Jitter { range, seed }, self.next));
        self.next = Time(0);
        self
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.rng.below(of.len() as u64) as usize]
    }

    /// Returns the next fault.
    pub fn draw(&mut self, sim: &Sim) -> Option<Fault> {
        if let Some((fault, next)) = self.first.take() {
            self.next = next;
            return Some(fault);
        }
        let Some(given) = &mut self.given else {
            return Some(self.random(sim));
        };
        let (_, fault) = given.pop()?;
        self.next = given.last().map_or(NEVER, |(at, _)| *at);
        Some(fault)
    }

    fn random(&mut self, sim: &Sim) -> Fault {
        self.left = self.left.saturating_sub(1);
        let gap = 1 + self.rng.below(2 * self.gap);
        self.next = if self.left == 0 {
            NEVER
        } else {
            sim.now().after(gap)
        };
        if let Some(slow) = self.slow.take().filter(|_| self.rng.below(2) == 0) {
            return Fault::Slow {
                name: slow,
                pass: None,
            };
        }
        let loops = sim.manager.scripted_loops();
        let mut kinds = KINDS.to_vec();
        for kind in loops.flat_map(|(of, _)| of.watched()) {
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        let processes: Vec<Process> = sim.informers.processes().collect();
        let present: Vec<Kind> = kinds
            .into_iter()
            .filter(|kind| sim.store().list(*kind).next().is_some())
            .collect();
        let kind = self.pick(if present.is_empty() {
            &[Kind::Pod]
        } else {
            &present
        });
        let (target, component) = (
            FaultTarget::every(kind),
            Str::from(self.pick(&processes).name()),
        );
        match self.rng.below(10) {
            0..=2 => Fault::Lose {
                target,
                component: Some(component),
            },
            3..=5 => {
                let delay = Some(self.pick(&DELAYS_US));
                Fault::Delay {
                    target,
                    delay,
                    component: Some(component),
                }
            }
            6 | 7 => {
                let loops: Vec<&'static str> = sim
                    .manager
                    .queues()
                    .map(|(controller, _)| controller.name())
                    .chain([Process::Scheduler, Process::ControllerManager].map(Process::name))
                    .collect();
                let name = Str::from(self.pick(&loops));
                self.slow = Some(name.clone());
                Fault::Slow {
                    name,
                    pass: Some(self.pick(&SLOW_US)),
                }
            }
            8 => Fault::Restart { component },
            _ => Fault::Conflict(target),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use controller_runtime::cluster::ClusterConfig;

    #[test]
    fn every_fault_is_understood_and_follows_from_the_seed() {
        let drawn = |seed: u64| -> Vec<String> {
            let (mut sim, mut disturbance) = (
                Sim::new(ClusterConfig::default(), 1),
                Disturbance::new(seed),
            );
            let one = |_| {
                sim.advance(disturbance.next, usize::MAX);
                let fault = disturbance.draw(&sim).unwrap();
                assert_eq!(sim.inject(&fault), Ok(()), "{fault}");
                format!("{} {fault}", sim.now().0)
            };
            (0..200).map(one).collect()
        };
        assert_eq!(drawn(7), drawn(7));
        assert_ne!(drawn(7), drawn(8));
        for word in ["lose", "delay", "slow", "restart", "conflict"] {
            assert!(drawn(7).iter().any(|line| line.contains(word)), "{word}");
        }
    }
}
