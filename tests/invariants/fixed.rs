//! The same commands give the same history, in whatever slices, and a copy goes on like the original.

use apiserver::{Patch, PatchType, Request, RequestBody, Verb};
use cluster::Sim;
use controller_runtime::cluster::ClusterConfig;
use k8s_model::{Kind, ObjectRef, Time};
use serde_json::{Value, json};
use sim_core::rng::Rng;

fn template(image: &str) -> Value {
    json!({ "metadata": { "labels": { "app": "x" } }, "spec": { "containers": [{ "name": "c", "image": image }] } })
}

fn deployment(replicas: u64, surge: &Value, unavailable: &Value) -> Value {
    json!({ "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": "d" }, "spec": {
        "replicas": replicas, "selector": { "matchLabels": { "app": "x" } }, "template": template("a:1"),
        "strategy": { "rollingUpdate": { "maxSurge": surge, "maxUnavailable": unavailable } } } })
}

fn stateful_set(replicas: u64, policy: &str) -> Value {
    json!({ "apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": { "name": "s" }, "spec": {
        "replicas": replicas, "serviceName": "s", "podManagementPolicy": policy, "selector": { "matchLabels": { "app": "y" } },
        "template": { "metadata": { "labels": { "app": "y" } }, "spec": { "containers": [{ "name": "c", "image": "a:1" }] } },
        "volumeClaimTemplates": [{ "metadata": { "name": "v" }, "spec": { "accessModes": ["ReadWriteOnce"],
            "resources": { "requests": { "storage": "1Gi" } } } }] } })
}

fn create(sim: &mut Sim, value: Value) {
    let request = Request::of_manifest(Verb::Create, value);
    sim.request(&request).result.unwrap();
}

fn patch(sim: &mut Sim, kind: Kind, name: &str, change: &Value) {
    // The object may be gone by now; then there is nothing to patch.
    sim.request(&Request {
        body: RequestBody::Patch(Patch {
            patch_type: PatchType::Strategic,
            content: change.clone(),
        }),
        ..Request::new(Verb::Patch, &ObjectRef::new(kind, "default", name))
    });
}

fn delete_some_pod(sim: &mut Sim, rng: &mut Rng) {
    let pods: Vec<ObjectRef> = sim.store().list(Kind::Pod).map(|o| o.key()).collect();
    if let Some(key) = pods.get(rng.below(pods.len() as u64) as usize) {
        sim.request(&Request::new(Verb::Delete, key));
    }
}

/// One random command.
fn command(sim: &mut Sim, rng: &mut Rng) {
    let image = |n: u64| json!({ "spec": { "template": { "spec": { "containers": [{ "name": "c", "image": format!("a:{n}") }] } } } });
    let replicas = |n: u64| json!({ "spec": { "replicas": n } });
    match rng.below(6) {
        0 => patch(sim, Kind::Deployment, "d", &replicas(rng.below(9))),
        1 => patch(sim, Kind::Deployment, "d", &image(1 + rng.below(3))),
        2 => patch(sim, Kind::StatefulSet, "s", &replicas(rng.below(5))),
        3 => patch(sim, Kind::StatefulSet, "s", &image(1 + rng.below(3))),
        _ => delete_some_pod(sim, rng),
    }
}

#[test]
fn the_history_does_not_depend_on_how_it_is_sliced() {
    let history = |budget: usize| {
        let mut sim = Sim::new(ClusterConfig::default(), 7);
        create(&mut sim, deployment(4, &json!(1), &json!(1)));
        create(&mut sim, stateful_set(2, "OrderedReady"));
        let mut rng = Rng::new(3);
        for second in 1..12 {
            while !sim.advance(Time(second * 1_000_000), budget).done {}
            command(&mut sim, &mut rng);
        }
        let line = |e: &apiserver::Entry| {
            format!(
                "{:?} {} {:?} {:?}",
                e.time,
                e.actor.component.name(),
                e.write().map(|(op, o)| (op, o.to_value())),
                e.cause
            )
        };
        sim.journal()
            .iter()
            .map(line)
            .collect::<Vec<_>>()
            .join("\n")
    };
    let whole = history(usize::MAX);
    for budget in [1, 7, 1000] {
        assert_eq!(history(budget), whole, "slices of {budget}");
    }
}

#[test]
fn a_copy_goes_on_like_the_original() {
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    create(&mut sim, deployment(5, &json!(1), &json!(0)));
    sim.advance(Time(500_000), usize::MAX);
    let mut copy = sim.clone();
    sim.advance(Time(9_000_000), usize::MAX);
    copy.advance(Time(9_000_000), usize::MAX);
    assert_eq!(sim.journal().len(), copy.journal().len());
    assert_eq!(sim.store().version(), copy.store().version());
}
