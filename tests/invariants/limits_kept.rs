//! Promises that hold as long as nothing but the promised thing happens: rollouts keep both limits, evictions keep budgets.

use super::{number, plan};
use apiserver::{Entry, Why};
use cluster::Sim;
use controller_runtime::cluster::ClusterConfig;
use k8s_model::pod::Pod;
use k8s_model::workload::{Deployment, ReplicaSet};
use k8s_model::{Kind, ObjectRef, Uid};
use plan::Act;
use sim_core::rng::Rng;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

const RUNS: u64 = 60;
/// From a write to its arrival, in microseconds.
const LAG: u64 = 2_000;

fn runs() -> std::ops::Range<u64> {
    let first = number("LOOPSCOPE_SEED", 0);
    first..first + number("LOOPSCOPE_RUNS", RUNS)
}

/// Pods that live, and how many of them are Ready.
fn pods(sim: &Sim) -> (i64, i64) {
    let live: Vec<&Pod> = sim
        .store()
        .list(Kind::Pod)
        .filter(|o| !o.meta.is_deleting())
        .map(|o| o.body())
        .filter(|p: &&Pod| !p.is_terminal())
        .collect();
    (
        live.len() as i64,
        live.iter().filter(|pod| pod.is_ready()).count() as i64,
    )
}

/// What a Deployment may want: at least so many available, at most so many Pods.
fn limits(sim: &Sim) -> (i64, i64) {
    let object = sim
        .store()
        .get(&ObjectRef::new(Kind::Deployment, "default", "d"))
        .unwrap();
    let spec = &object.body::<Deployment>().spec;
    let replicas = i64::from(spec.replicas);
    let limits = spec.strategy.rolling_update.as_ref().unwrap();
    let surge = limits.max_surge.as_ref().unwrap().resolve(replicas, true);
    let missing = limits
        .max_unavailable
        .as_ref()
        .unwrap()
        .resolve(replicas, false);
    // Both may round to nothing; then one Pod may be missing, or the update would never begin.
    let missing = if surge == 0 { missing.max(1) } else { missing };
    (replicas - missing, replicas + surge)
}

/// Of a ReplicaSet: its size, the available Pods that its status tells of, and the Pods themselves.
#[derive(Default)]
struct Set {
    size: i64,
    told: i64,
    live: i64,
    ready: i64,
    available: i64,
}

fn sets(sim: &Sim) -> BTreeMap<Uid, Set> {
    let mut sets: BTreeMap<Uid, Set> = BTreeMap::new();
    let mut after = 0;
    for object in sim.store().list(Kind::ReplicaSet) {
        let set: &ReplicaSet = object.body();
        after = set.spec.min_ready_seconds;
        let (size, told) = (
            i64::from(set.spec.replicas),
            i64::from(set.status.available_replicas),
        );
        sets.insert(
            object.meta.uid,
            Set {
                size,
                told,
                ..Set::default()
            },
        );
    }
    for object in sim.store().list(Kind::Pod).filter(|o| o.is_active_pod()) {
        let pod: &Pod = object.body();
        let Some(set) = object
            .meta
            .controller()
            .and_then(|owner| sets.get_mut(&owner.uid))
        else {
            continue;
        };
        set.live += 1;
        set.ready += i64::from(pod.is_ready());
        set.available += i64::from(pod.is_available(after, sim.store().wall_at(sim.now())));
    }
    sets
}

/// What the statuses of the ReplicaSets told when the Deployment looked: watch events take 2 ms. Those that arrive in this very
/// moment may have come before the pass or after it.
fn told(sim: &Sim, before: usize, with_those_arriving: bool) -> BTreeMap<Uid, i64> {
    let arrived = |written: u64| written + LAG < sim.now().0 + u64::from(with_those_arriving);
    let mut told = BTreeMap::new();
    for entry in sim
        .journal()
        .first(before)
        .iter()
        .filter(|entry| arrived(entry.time.0))
    {
        if let Some((_, object)) = entry.write().filter(|(_, o)| o.kind == Kind::ReplicaSet) {
            told.insert(
                object.meta.uid,
                i64::from(object.body::<ReplicaSet>().status.available_replicas),
            );
        }
    }
    told
}

/// Follows a rollout: what the Deployment has promised by its last decision, and what its ReplicaSets made of it.
///
/// It decides by the counts in their statuses, which lag behind the Pods, and it adds them up over what it has just taken away. A
/// ReplicaSet picks Pods by their readiness, not by how long they have been ready: told to give up Pods that are not available yet, it
/// may give up one that is and keep one that is not. Both are so upstream (`rolling.go`, `ActivePodsWithRanks`). Nothing else is excused.
struct Ledger {
    floor: i64,
    swapped: i64,
}

impl Ledger {
    /// The Deployment has made ReplicaSets smaller: as many as it saw, in the sizes it left, must stay.
    fn decided(&mut self, sim: &Sim, before: &BTreeMap<Uid, Set>, seen: usize) {
        let after = sets(sim);
        let (at_least, _) = limits(sim);
        let floors = [false, true].map(|arriving| {
            let told = told(sim, seen, arriving);
            let told = |uid: &Uid| told.get(uid).copied().unwrap_or(0);
            let stay = |sets: &BTreeMap<Uid, Set>| -> i64 {
                sets.iter().map(|(uid, set)| set.size.min(told(uid))).sum()
            };
            let going: i64 = before
                .iter()
                .map(|(uid, set)| (told(uid) - set.size).max(0))
                .sum();
            let least = at_least.min(stay(before)) - going;
            (stay(&after).min(at_least), stay(&after) >= least)
        });
        assert!(
            floors.iter().any(|(_, right)| *right),
            "more was taken than the Deployment saw to be spare"
        );
        self.floor = self.floor.min(floors[0].0.min(floors[1].0));
    }

    /// A ReplicaSet has given up Pods: fewer available ones may stay than its status told, if others are ready for less long.
    fn given_up(&mut self, before: &BTreeMap<Uid, Set>, after: &BTreeMap<Uid, Set>) {
        for (uid, set) in after {
            let Some(earlier) = before.get(uid).filter(|earlier| earlier.live > set.live) else {
                continue;
            };
            let swapped = (earlier.told.min(set.size) - set.available).max(0);
            assert!(
                swapped <= set.ready - set.available,
                "an available Pod went although another was not ready"
            );
            self.swapped += swapped;
        }
    }

    /// Where every ReplicaSet is what it should be and enough are available, earlier slips are over.
    fn look(&mut self, sets: &BTreeMap<Uid, Set>, at_least: i64) {
        let available: i64 = sets.values().map(|set| set.available).sum();
        if available >= at_least && sets.values().all(|set| set.live <= set.size) {
            *self = Ledger {
                floor: at_least,
                swapped: 0,
            };
        }
    }
}

#[test]
fn a_rolling_update_never_leaves_its_limits() {
    for seed in runs() {
        let mut rng = Rng::new(seed);
        let manifest = plan::deployment(&mut rng);
        if manifest.contains("Recreate") {
            continue;
        }
        let run = || {
            let mut sim = Sim::new(ClusterConfig::default(), seed);
            plan::act(&mut sim, &Act::Apply(manifest.clone()));
            sim.advance(sim.now().after(30_000_000), usize::MAX);
            let (at_least, at_most) = limits(&sim);
            let mut ledger = Ledger {
                floor: at_least,
                swapped: 0,
            };
            for _ in 0..5 {
                plan::act(
                    &mut sim,
                    &Act::Kubectl(format!("set image deploy/d c=a:{}", rng.below(4))),
                );
                let until = sim.now().after(rng.below(12_000_000));
                while sim.tasks.next_due().is_some_and(|at| at <= until) {
                    let (before, seen) = (sets(&sim), sim.journal().len());
                    sim.step();
                    let now = sets(&sim);
                    let down = |entry: &Entry| {
                        matches!(
                            entry.why,
                            Why::RolloutDown { .. } | Why::CleanUnhealthy { .. }
                        )
                    };
                    if sim.journal().from(seen).iter().any(down) {
                        ledger.decided(&sim, &before, seen);
                    }
                    ledger.given_up(&before, &now);
                    ledger.look(&now, at_least);
                    let (live, _) = pods(&sim);
                    assert!(live <= at_most, "{live} Pods live, {at_most} may");
                    let available: i64 = now.values().map(|set| set.available).sum();
                    let least = ledger.floor - ledger.swapped;
                    assert!(
                        available >= least,
                        "{available} Pods are available, {least} must (of {at_least})"
                    );
                }
                sim.advance(until, usize::MAX);
            }
        };
        if let Err(error) = catch_unwind(AssertUnwindSafe(run)) {
            eprintln!("seed {seed}\n{manifest}");
            resume_unwind(error);
        }
    }
}

#[test]
fn evictions_never_take_more_than_the_budget_has() {
    for seed in runs() {
        let mut rng = Rng::new(seed);
        let mut sim = Sim::new(ClusterConfig::default(), seed);
        let owner = [0, 1, 4][rng.below(3) as usize];
        let app = ["d", "s", "", "", "r"][owner as usize];
        let budget = [
            "minAvailable: 2",
            "maxUnavailable: 1",
            "minAvailable: 50%",
            "maxUnavailable: 0",
        ][rng.below(4) as usize];
        plan::act(&mut sim, &Act::Apply(plan::manifest(owner, &mut rng)));
        plan::act(
            &mut sim,
            &Act::Apply(format!(
                "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {{name: p}}\nspec: {{{budget}, selector: {{matchLabels: {{app: {app}}}}}}}\n"
            )),
        );
        sim.advance(sim.now().after(60_000_000), usize::MAX);
        let (_, before) = pods(&sim);
        for _ in 0..30 {
            let act = match rng.below(8) {
                0 => Act::Kubectl(format!(
                    "drain node-{} --ignore-daemonsets --force --timeout=1s",
                    1 + rng.below(3)
                )),
                1 => Act::Kubectl(format!("uncordon node-{}", 1 + rng.below(3))),
                _ => Act::Fault(format!("evict pod/{{{}}}", rng.below(20))),
            };
            plan::act(&mut sim, &act);
            let until = sim.now().after(rng.below(1_500_000));
            sim.advance(until, usize::MAX);
            let value = sim
                .store()
                .get(&ObjectRef::new(Kind::PodDisruptionBudget, "default", "p"))
                .unwrap()
                .to_value();
            let needed = value["status"]["desiredHealthy"]
                .as_i64()
                .unwrap_or(0)
                .min(before);
            let (_, ready) = pods(&sim);
            assert!(
                ready >= needed,
                "seed {seed}: {ready} Pods are Ready, the budget asks for {needed} ({budget})"
            );
        }
    }
}
