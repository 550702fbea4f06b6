//! What must hold at every step, whatever is asked of the cluster: random manifests, commands and faults by seed.
//!
//! `LOOPSCOPE_RUNS=10000 cargo test --release --test invariants` runs more of them, from `LOOPSCOPE_SEED` on. A run that fails is
//! made shorter until nothing can be left out, and printed.

mod checks;
mod fixed;
mod limits_kept;
mod loss;
mod plan;

use checks::Checks;
use cluster::Sim;
use controller_runtime::cluster::ClusterConfig;
use controller_runtime::limit::ClientLimit;
use k8s_model::{Kind, Object};
use kubectl::{Progress, Session};
use plan::Step;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs by default: enough to find what is wrong, few enough to be run always.
const RUNS: u64 = 150;
const COMMANDS: u64 = 16;

pub fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable)
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(default)
}

/// Carries out a plan, looking after every task.
fn play(sim: &mut Sim, checks: &mut Checks, steps: &[Step]) {
    let mut waiting: Vec<Session> = Vec::new();
    for step in steps {
        let until = sim.now().after(step.after);
        while sim.tasks.next_due().is_some_and(|at| at <= until) {
            sim.step();
            checks.look(sim);
            waiting.retain_mut(|session| session.poll(sim) == Progress::Running);
        }
        sim.advance(until, usize::MAX);
        waiting.extend(plan::act(sim, &step.act));
        checks.look(sim);
    }
}

fn whole(seed: u64, steps: &[Step]) -> Result<(), String> {
    let run = || {
        // Some clusters limit what their loops may send.
        let client_limit = (seed % 5 == 4).then_some(ClientLimit {
            qps: 20.0,
            burst: 30,
        });
        let mut sim = Sim::new(
            ClusterConfig {
                client_limit,
                ..ClusterConfig::default()
            },
            seed,
        );
        let mut checks = Checks::default();
        play(&mut sim, &mut checks, steps);
        play(&mut sim, &mut checks, &plan::heal());
        // A Pod that a person has set unready stays so, and holds up what waits for it; so does a probe that was made to fail.
        let pods: Vec<String> = sim
            .store()
            .list(Kind::Pod)
            .map(|o| o.meta.name.to_string())
            .collect();
        // One that fails and has no Job any more to give it up is started again for ever, as it is upstream.
        let left = |object: &Object| {
            object.meta.controller().is_none()
                && object
                    .pod()
                    .is_some_and(|pod| pod.spec.restart_policy == "OnFailure")
        };
        let left: Vec<String> = sim
            .store()
            .list(Kind::Pod)
            .filter(|object| left(object))
            .map(|object| object.meta.name.to_string())
            .collect();
        for pod in left {
            plan::act(
                &mut sim,
                &plan::Act::Kubectl(format!("delete pod {pod} --wait=false")),
            );
        }
        for pod in pods {
            for probe in ["startup", "readiness", "liveness"] {
                let _ = sim.fault(&format!("pass-probe pod/{pod} {probe}"));
            }
            let _ = sim.fault(&format!("ready pod/{pod}"));
        }
        checks::settled(&mut sim);
        checks.look(&sim);
    };
    let text = |error: Box<dyn std::any::Any + Send>| {
        let text = error.downcast_ref::<String>().cloned();
        text.or_else(|| error.downcast_ref::<&str>().map(|t| (*t).to_owned()))
            .unwrap_or_default()
    };
    catch_unwind(AssertUnwindSafe(run)).map_err(text)
}

/// Leaves out of a failing plan whatever it fails without.
fn shrink(seed: u64, mut steps: Vec<Step>) -> Vec<Step> {
    let mut i = 0;
    while i < steps.len() {
        let mut fewer = steps.clone();
        let left_out = fewer.remove(i);
        if let Some(next) = fewer.get_mut(i) {
            next.after += left_out.after;
        }
        if whole(seed, &fewer).is_err() {
            steps = fewer;
        } else {
            i += 1;
        }
    }
    steps
}

#[test]
fn invariants_hold_at_every_step_of_random_runs() {
    let first = number("LOOPSCOPE_SEED", 0);
    let most = number("LOOPSCOPE_FAILURES", 1);
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let mut failed = Vec::new();
    for seed in first..first + number("LOOPSCOPE_RUNS", RUNS) {
        let steps = plan::random(seed, COMMANDS);
        if whole(seed, &steps).is_err() {
            let least = shrink(seed, steps);
            let error = whole(seed, &least).unwrap_err();
            let lines: Vec<String> = least
                .iter()
                .map(|s| format!("  {:>9} µs later: {:?}", s.after, s.act))
                .collect();
            failed.push(format!("seed {seed}: {error}\n{}", lines.join("\n")));
            if failed.len() as u64 >= most {
                break;
            }
        }
    }
    std::panic::set_hook(hook);
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
