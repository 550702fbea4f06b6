//! Promises that hold as long as nothing but the promised thing happens: rollouts keep both limits, evictions keep budgets.

use super::{number, plan};
use loopscope::api::pod::Pod;
use loopscope::api::workload::{Deployment, ReplicaSet};
use loopscope::api::{Kind, ObjectRef};
use loopscope::engine::cluster::ClusterConfig;
use loopscope::engine::rng::Rng;
use loopscope::engine::{Sim, Why};
use plan::Act;

const RUNS: u64 = 60;

fn runs() -> std::ops::Range<u64> {
    let first = number("LOOPSCOPE_SEED", 0);
    first..first + number("LOOPSCOPE_RUNS", RUNS)
}

/// Pods that live, and how many of them are Ready.
fn pods(sim: &Sim) -> (i64, i64) {
    let live: Vec<&Pod> =
        sim.list(Kind::Pod).filter(|o| !o.meta.is_deleting()).map(|o| o.body()).filter(|p: &&Pod| !p.is_terminal()).collect();
    (live.len() as i64, live.iter().filter(|pod| pod.is_ready()).count() as i64)
}

/// Pods that their ReplicaSets still count as available though they have to give them up. The Deployment reads these counts, as
/// upstream does: when it takes more in these few milliseconds, it takes as many too many.
fn told_to_go(sim: &Sim) -> i64 {
    let sets = sim.list(Kind::ReplicaSet).map(|o| o.body::<ReplicaSet>());
    sets.map(|set| i64::from((set.status.available_replicas - set.spec.replicas).max(0))).sum()
}

#[test]
fn a_rolling_update_never_leaves_its_limits() {
    for seed in runs() {
        let mut rng = Rng::new(seed);
        let manifest = plan::deployment(&mut rng);
        if manifest.contains("Recreate") {
            continue;
        }
        let mut sim = Sim::new(ClusterConfig::default(), seed);
        plan::act(&mut sim, &Act::Apply(manifest.clone()));
        sim.advance(sim.now().after(30_000_000), usize::MAX);
        let mut blind = 0;
        for _ in 0..5 {
            plan::act(&mut sim, &Act::Kubectl(format!("set image deploy/d c=a:{}", rng.below(4))));
            let until = sim.now().after(rng.below(12_000_000));
            while sim.next_task().is_some_and(|at| at <= until) {
                let (stale, seen) = (told_to_go(&sim), sim.journal().len());
                sim.step();
                if sim.journal()[seen..].iter().any(|entry| matches!(entry.why, Why::RolloutDown { .. })) {
                    blind = blind.max(stale);
                }
                let object = sim.get(&ObjectRef::new(Kind::Deployment, "default", "d")).unwrap();
                let spec = &object.body::<Deployment>().spec;
                let replicas = i64::from(spec.replicas);
                let limits = spec.strategy.rolling_update.as_ref().unwrap();
                let surge = limits.max_surge.as_ref().unwrap().resolve(replicas, true);
                let missing = limits.max_unavailable.as_ref().unwrap().resolve(replicas, false);
                // Both may round to nothing; then one Pod may be missing, or the update would never begin.
                let missing = if surge == 0 { missing.max(1) } else { missing };
                let (live, ready) = pods(&sim);
                assert!(live <= replicas + surge, "seed {seed}: {live} Pods live, {replicas} + {surge} may\n{manifest}");
                let missing = missing + blind;
                assert!(ready >= replicas - missing, "seed {seed}: {ready} Pods are Ready, {replicas} - {missing} must\n{manifest}");
            }
            sim.advance(until, usize::MAX);
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
        let budget = ["minAvailable: 2", "maxUnavailable: 1", "minAvailable: 50%", "maxUnavailable: 0"][rng.below(4) as usize];
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
                0 => Act::Kubectl(format!("drain node-{} --ignore-daemonsets --force --timeout=1s", 1 + rng.below(3))),
                1 => Act::Kubectl(format!("uncordon node-{}", 1 + rng.below(3))),
                _ => Act::Fault(format!("evict pod/{{{}}}", rng.below(20))),
            };
            plan::act(&mut sim, &act);
            let until = sim.now().after(rng.below(1_500_000));
            sim.advance(until, usize::MAX);
            let value = sim.get(&ObjectRef::new(Kind::PodDisruptionBudget, "default", "p")).unwrap().to_value();
            let needed = value["status"]["desiredHealthy"].as_i64().unwrap_or(0).min(before);
            let (_, ready) = pods(&sim);
            assert!(ready >= needed, "seed {seed}: {ready} Pods are Ready, the budget asks for {needed} ({budget})");
        }
    }
}
