use apiserver::{Patch, Request, Verb};
use cluster::Sim;
use controller_runtime::cluster::ClusterConfig;
use k8s_model::{Kind, ObjectRef};
use serde_json::{Value, json};
use sim_core::rng::Rng;

/// Makes a random change to a cluster.
fn disturb(sim: &mut Sim, rng: &mut Rng) {
    let (node, set) = (
        format!("node-{}", 1 + rng.below(9)),
        format!("web-{}", rng.below(3)),
    );
    let mut patch = |kind, name: &str, change: Value| {
        let key = ObjectRef::new(kind, if kind == Kind::Node { "" } else { "default" }, name);
        sim.request(&Request::patch(&key, Patch::merge(change)));
    };
    let taint = |effect: &str| json!({"spec": {"taints": [{"key": "gpu", "value": "yes", "effect": effect}]}});
    match rng.below(9) {
        0 => patch(Kind::Node, &node, json!({"spec": {"unschedulable": true}})),
        1 => patch(
            Kind::Node,
            &node,
            json!({"spec": {"unschedulable": null, "taints": null}}),
        ),
        2 => patch(Kind::Node, &node, taint("NoSchedule")),
        3 => patch(Kind::Node, &node, taint("PreferNoSchedule")),
        4 => patch(
            Kind::Node,
            &node,
            json!({"metadata": {"labels": {"topology.kubernetes.io/zone": format!("z{}", rng.below(3))}}}),
        ),
        5 | 6 => patch(
            Kind::Deployment,
            &set,
            json!({"spec": {"replicas": rng.below(40)}}),
        ),
        7 => patch(
            Kind::Deployment,
            &set,
            json!({"spec": {"template": {"metadata": {"labels": {"turn": rng.below(99).to_string()}}}}}),
        ),
        _ => {
            let all: Vec<ObjectRef> = sim.store().list(Kind::Pod).map(|pod| pod.key()).collect();
            if let Some(key) = all.get(rng.below(all.len().max(1) as u64) as usize) {
                sim.request(&Request::new(Verb::Delete, key));
            }
        }
    }
}

/// Compares each choice with that of a full cycle at the point where it is made.
#[test]
fn cached_verdicts_match_a_full_cycle() {
    for seed in 0..12 {
        let (mut sim, mut rng) = (Sim::new(ClusterConfig::with_nodes(9), seed), Rng::new(seed));
        for i in 0..3 {
            let name = format!("web-{i}");
            // There is not enough room for all Pods of the last Deployment.
            let requests = json!({"cpu": format!("{}m", [0, 100, 3_000][i]), "memory": format!("{}Mi", 64 * i)});
            let set = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": {
                "replicas": 20, "selector": {"matchLabels": {"app": name}}, "template": {"metadata": {"labels": {"app": name}},
                    "spec": {"containers": [{"name": "nginx", "image": "nginx", "resources": {"requests": requests}}]}}}});
            assert!(
                sim.request(&Request::of_manifest(Verb::Create, set))
                    .result
                    .is_ok()
            );
        }
        let mut refused = false;
        for _ in 0..40 {
            refused |= sim.scheduler.cached_templates().1 > 0;
            let to = sim.now().after(rng.below(900_000));
            sim.advance(to, usize::MAX);
            disturb(&mut sim, &mut rng);
        }
        assert!(
            sim.scheduler.cached_templates().0 > 0 && refused,
            "seed {seed}: something is remembered"
        );
    }
}
