//! Watch events that are lost or late, writes that are refused, loops that are slow or forget everything: the end is the same.

use super::{number, plan};
use cluster::Sim;
use controller_runtime::cluster::ClusterConfig;
use k8s_model::pod::Pod;
use k8s_model::{Kind, Object, Time};
use plan::Act;
use serde_json::Value;
use sim_core::rng::Rng;
use std::collections::BTreeMap;

const RUNS: u64 = 40;
/// Between two commands everything comes to rest, so that both histories pass through the same states.
const REST: u64 = 60_000_000;

/// Loops that are slow for a while; the last is all of them.
const SLOWED: [&str; 9] = [
    "deployment-controller",
    "replicaset-controller",
    "statefulset-controller",
    "daemonset-controller",
    "endpointslice-controller",
    "garbage-collector-controller",
    "persistentvolume-controller",
    "disruption-controller",
    "kube-controller-manager",
];

/// What an object has come to, without names, times and the way there; nothing for what only tells the way.
fn form(sim: &Sim, object: &Object) -> Option<String> {
    let value = object.to_value();
    let status = |names: &[&str]| {
        names
            .iter()
            .map(|n| format!("{n}={} ", value["status"][*n]))
            .collect::<String>()
    };
    let name = object.meta.name.as_str();
    Some(match object.kind {
        Kind::Event | Kind::ControllerRevision => return None,
        Kind::Pod => {
            let pod: &Pod = object.body();
            let owner = object.meta.controller().map_or("none", |o| o.kind.as_str());
            format!(
                "Pod of {owner} {} {} {}",
                pod.status.phase,
                pod.is_ready(),
                pod.spec.containers[0].image
            )
        }
        Kind::ReplicaSet if value["spec"]["replicas"] == 0 && name.starts_with("d-") => {
            return None;
        }
        Kind::ReplicaSet => format!(
            "ReplicaSet {}",
            status(&["replicas", "readyReplicas", "availableReplicas"])
        ),
        Kind::PersistentVolume => format!(
            "PersistentVolume {} {}",
            status(&["phase"]),
            value["spec"]["claimRef"]["name"]
        ),
        Kind::EndpointSlice => format!(
            "EndpointSlice {}",
            value["endpoints"].as_array().map_or(0, Vec::len)
        ),
        Kind::Endpoints => format!(
            "Endpoints {name} {}",
            value["subsets"][0]["addresses"]
                .as_array()
                .map_or(0, Vec::len)
        ),
        Kind::Node => format!("Node {name} {}", value["spec"]["taints"]),
        _ => {
            let told = [
                "phase",
                "replicas",
                "readyReplicas",
                "updatedReplicas",
                "availableReplicas",
                "succeeded",
                "failed",
                "active",
                "used",
            ];
            let more = [
                "numberReady",
                "updatedNumberScheduled",
                "currentHealthy",
                "disruptionsAllowed",
                "expectedPods",
            ];
            let wanted = if object.kind == Kind::PersistentVolumeClaim {
                &Value::Null
            } else {
                &value["spec"]["replicas"]
            };
            format!(
                "{} {name} {wanted} {}{}",
                object.kind.name(),
                status(&told),
                status(&more)
            )
        }
    })
    .filter(|_| sim.store().get(&object.key()).is_some())
}

fn end(sim: &Sim) -> BTreeMap<String, usize> {
    let mut forms = BTreeMap::new();
    for object in k8s_model::kind::all().flat_map(|kind| sim.store().list(kind)) {
        if let Some(form) = form(sim, object) {
            *forms.entry(form).or_default() += 1;
        }
    }
    forms
}

fn pick<'a>(rng: &mut Rng, of: &[&'a str]) -> &'a str {
    of[rng.below(of.len() as u64) as usize]
}

fn command(rng: &mut Rng) -> Act {
    let (n, image) = (rng.below(6), 1 + rng.below(3));
    Act::Kubectl(match rng.below(10) {
        0 => format!("scale deploy/d --replicas={n}"),
        1 => format!("scale sts/s --replicas={n}"),
        2 => format!("scale rs/r --replicas={n}"),
        3 => format!("set image deploy/d c=a:{image}"),
        4 => format!("set image sts/s c=a:{image}"),
        5 => format!("set image ds/e c=a:{image}"),
        6 => format!(
            "delete {} --wait=false",
            pick(
                rng,
                &["deploy/d", "sts/s", "ds/e", "rs/r", "pdb/p", "svc/w"]
            )
        ),
        7 => "rollout restart deploy/d".into(),
        8 => "rollout restart sts/s".into(),
        _ => {
            let kind = [0, 1, 3, 4, 5, 8, 11][rng.below(7) as usize];
            return Act::Apply(plan::manifest(kind, rng));
        }
    })
}

/// What is broken, at one of many moments between two commands. One refusal of each kind is ordered between them: refusals that nothing
/// has used up yet would add to a row, and the back-off of a long row lasts longer than the run.
fn disturb(sim: &mut Sim, rng: &mut Rng, refused: &mut Vec<String>) {
    let kind = pick(
        rng,
        &[
            "pod",
            "pod",
            "pod",
            "rs",
            "deploy",
            "sts",
            "ds",
            "pvc",
            "pv",
            "svc",
            "endpoints",
            "endpointslices",
            "pdb",
            "rc",
        ],
    );
    let component = pick(
        rng,
        &["kube-controller-manager", "kube-scheduler", "kubelet"],
    );
    let span = pick(rng, &["none", "3ms", "50ms", "1s", "7s"]);
    let line = match rng.below(20) {
        0..=4 => format!("lose {kind}"),
        5 => "lose pod kube-scheduler".into(),
        6 => "lose pod kubelet".into(),
        7..=9 => format!("conflict {kind}"),
        10 => "restart kube-controller-manager".into(),
        11 => "restart kube-scheduler".into(),
        12..=14 => format!("delay {kind} {span}"),
        15 | 16 => format!("delay pod {span} {component}"),
        17 => format!(
            "slow kube-scheduler {}",
            pick(rng, &["none", "1ms", "300ms"])
        ),
        _ => format!(
            "slow {} {}",
            pick(rng, &SLOWED),
            pick(rng, &["none", "1ms", "300ms"])
        ),
    };
    if line.starts_with("conflict") {
        if refused.contains(&line) {
            return;
        }
        refused.push(line.clone());
    }
    sim.fault(&line).unwrap();
}

fn run(seed: u64, acts: &[Act], disturbed: bool) -> BTreeMap<String, usize> {
    let mut rng = Rng::new(seed ^ 0xd15);
    let mut sim = Sim::new(ClusterConfig::default(), seed);
    sim.fault("relist 2s").unwrap();
    for act in acts {
        plan::act(&mut sim, act);
        let until = sim.now().after(REST);
        let mut refused = Vec::new();
        while disturbed && sim.now() < until {
            // Most of it happens at once; there the disturbances have to be.
            let pause = [20_000, 200_000, 3_000_000][rng.below(3) as usize];
            let next = sim.now().after(1 + rng.below(pause));
            sim.advance(next, usize::MAX);
            if until.0 - sim.now().0.min(until.0) > 20_000_000 {
                disturb(&mut sim, &mut rng, &mut refused);
            }
        }
        sim.advance(until, usize::MAX);
    }
    // What was never lost until now shall not be lost any more.
    sim.advance(sim.now().after(10 * REST), usize::MAX);
    end(&sim)
}

fn plan_of(seed: u64) -> Vec<Act> {
    let mut rng = Rng::new(seed);
    let mut acts: Vec<Act> = [0, 1, 3, 4, 5, 8, 11, 12]
        .iter()
        .map(|kind| Act::Apply(plan::manifest(*kind, &mut rng)))
        .collect();
    // A static volume that is seen too late is not taken: the claim gets one of its own.
    acts.retain(|act| rng.below(3) > 0 && !format!("{act:?}").contains("pv-a"));
    acts.extend((0..6).map(|_| command(&mut rng)));
    acts
}

#[test]
fn what_is_lost_is_made_up_for() {
    let first = number("LOOPSCOPE_SEED", 0);
    let mut failed = Vec::new();
    for seed in first..first + number("LOOPSCOPE_RUNS", RUNS).min(2000) {
        let mut acts = plan_of(seed);
        let differs = |acts: &[Act]| run(seed, acts, false) != run(seed, acts, true);
        if !differs(&acts) {
            continue;
        }
        let mut i = 0;
        while i < acts.len() {
            let mut fewer = acts.clone();
            fewer.remove(i);
            if differs(&fewer) {
                acts = fewer;
            } else {
                i += 1;
            }
        }
        let (calm, disturbed) = (run(seed, &acts, false), run(seed, &acts, true));
        let only = |a: &BTreeMap<String, usize>, b: &BTreeMap<String, usize>| {
            a.iter()
                .filter(|(k, n)| b.get(*k) != Some(*n))
                .map(|(k, n)| format!("    {n} × {k}\n"))
                .collect::<String>()
        };
        failed.push(format!(
            "seed {seed}: {acts:#?}\n  undisturbed:\n{}  disturbed:\n{}",
            only(&calm, &disturbed),
            only(&disturbed, &calm)
        ));
        if failed.len() as u64 >= number("LOOPSCOPE_FAILURES", 1) {
            break;
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// The two ways to react: to events alone, or to what is there.
#[test]
fn only_a_list_repairs_what_an_event_alone_would_have_told() {
    for (mode, pods) in [("relist never", 2), ("relist 5s", 3)] {
        let mut sim = Sim::new(ClusterConfig::default(), 1);
        sim.fault(mode).unwrap();
        let set = "apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: r}\nspec: {replicas: 3, selector: {matchLabels: {a: b}}, template: \
                   {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}\n";
        plan::act(&mut sim, &Act::Apply(set.into()));
        sim.advance(Time(5_000_000), usize::MAX);
        // The deletion of a Pod that goes at once is one event of a change and one of the end.
        let pod = sim
            .store()
            .list(Kind::Pod)
            .next()
            .unwrap()
            .meta
            .name
            .to_string();
        for _ in 0..3 {
            sim.fault(&format!("lose pod/{pod}")).unwrap();
        }
        plan::act(
            &mut sim,
            &Act::Kubectl(format!(
                "delete pod {pod} --force --grace-period=0 --wait=false"
            )),
        );
        sim.advance(Time(60_000_000), usize::MAX);
        assert_eq!(sim.store().count(Kind::Pod), pods, "{mode}");
    }
}
