//! What must hold at every step, whatever is asked of the cluster: random commands by seed.

use loopscope::api::pod::Pod;
use loopscope::api::storage::PersistentVolumeClaim;
use loopscope::api::workload::{Deployment, ReplicaSet, StatefulSet};
use loopscope::api::{Kind, Object, ObjectRef, Time};
use loopscope::engine::cluster::ClusterConfig;
use loopscope::engine::rng::Rng;
use loopscope::engine::store::{Delete, Patch};
use loopscope::engine::{Op, Sim, Why};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Runs per test; each has another seed.
const RUNS: u64 = 200;
const COMMANDS: u64 = 14;

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
    let origin = sim.command("create");
    sim.request(|server| server.create_value(&origin, value, Why::Asked)).unwrap();
}

fn patch(sim: &mut Sim, kind: Kind, name: &str, change: &Value) {
    let origin = sim.command("patch");
    let key = ObjectRef::new(kind, "default", name);
    // The object may be gone by now; then there is nothing to patch.
    let _ = sim.request(|server| server.patch(&origin, &key, Patch::Strategic, change, Why::Asked));
}

fn delete_some_pod(sim: &mut Sim, rng: &mut Rng) {
    let pods: Vec<ObjectRef> = sim.list(Kind::Pod).map(|o| o.key()).collect();
    if let Some(key) = pods.get(rng.below(pods.len() as u64) as usize) {
        let origin = sim.command("delete pod");
        let _ = sim.request(|server| server.delete(&origin, key, Delete::default(), Why::Asked));
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

/// What the checks remember between steps.
#[derive(Default)]
struct Checks {
    read: usize,
    version: u64,
    volumes: BTreeMap<String, String>,
}

impl Checks {
    /// Looks at everything that was written since the last time.
    fn look(&mut self, sim: &Sim, seed: u64) {
        for i in self.read..sim.journal().len() {
            let Some((op, object)) = sim.journal()[i].write() else { continue };
            assert!(object.meta.resource_version > self.version, "seed {seed}: resourceVersion strictly grows");
            self.version = object.meta.resource_version;
            if op == Op::Added {
                self.added(sim, object, seed);
            }
            if let Some(claim) = object.get::<PersistentVolumeClaim>().filter(|c| !c.spec.volume_name.is_empty()) {
                let volume = claim.spec.volume_name.to_string();
                let known = self.volumes.entry(object.meta.uid.to_string()).or_insert_with(|| volume.clone());
                assert_eq!(*known, volume, "seed {seed}: a bound claim's volume never changes");
            }
        }
        self.read = sim.journal().len();
        ordinals_are_unique(sim, seed);
        surge_is_kept(sim, seed);
    }

    /// In ordered mode a Pod is only created when all of its predecessors are Running and Ready.
    fn added(&self, sim: &Sim, object: &Rc<Object>, seed: u64) {
        let Some(set) = sim.list(Kind::StatefulSet).next() else { return };
        let body: &StatefulSet = set.body();
        let Some(ordinal) = object.meta.name.strip_prefix("s-").and_then(|n| n.parse::<i32>().ok()) else { return };
        if object.kind != Kind::Pod || body.spec.pod_management_policy == "Parallel" {
            return;
        }
        for earlier in 0..ordinal.min(body.spec.replicas) {
            let pod = sim.get(&ObjectRef::new(Kind::Pod, "default", &format!("s-{earlier}")));
            assert!(pod.is_some(), "seed {seed}: s-{ordinal} was created while s-{earlier} was missing");
        }
    }
}

fn ordinals_are_unique(sim: &Sim, seed: u64) {
    let mut names: Vec<&str> = sim.list(Kind::Pod).map(|o| o.meta.name.as_str()).filter(|n| n.starts_with("s-")).collect();
    let all = names.len();
    names.dedup();
    assert_eq!(all, names.len(), "seed {seed}: two Pods of one ordinal");
}

/// ReplicaSets together never ask for more than `replicas + maxSurge`, or than they did before a scale-down.
fn surge_is_kept(sim: &Sim, seed: u64) {
    let Some(object) = sim.list(Kind::Deployment).next() else { return };
    let deployment: &Deployment = object.body();
    if deployment.status.observed_generation != object.meta.generation {
        return;
    }
    let surge = deployment.spec.strategy.rolling_update.as_ref().and_then(|r| r.max_surge.as_ref()).unwrap();
    let at_most = deployment.spec.replicas + surge.resolve(i64::from(deployment.spec.replicas), true) as i32;
    let asked: i32 = sim.list(Kind::ReplicaSet).map(|o| o.body::<ReplicaSet>().spec.replicas).sum();
    assert!(asked <= at_most.max(1), "seed {seed}: {asked} Pods asked for, at most {at_most} allowed");
}

/// After the last command the cluster comes to rest, with what the manifests ask for.
fn settled(sim: &mut Sim, seed: u64) {
    sim.advance(sim.now().after(600_000_000), usize::MAX);
    let version = sim.server().version();
    sim.advance(sim.now().after(120_000_000), usize::MAX);
    assert_eq!(version, sim.server().version(), "seed {seed}: a quiet system stays quiet");
    for (kind, prefix) in [(Kind::Deployment, "d-"), (Kind::StatefulSet, "s-")] {
        let Some(object) = sim.list(kind).next() else { continue };
        let wanted =
            if kind == Kind::Deployment { object.body::<Deployment>().spec.replicas } else { object.body::<StatefulSet>().spec.replicas };
        let pods: Vec<_> = sim.list(Kind::Pod).filter(|p| p.meta.name.starts_with(prefix)).collect();
        assert_eq!(pods.len() as i32, wanted, "seed {seed}: as many Pods as {} asks for", kind.name());
        for pod in pods {
            assert!(pod.body::<Pod>().is_ready(), "seed {seed}: {} is Ready", pod.meta.name);
        }
    }
}

#[test]
fn invariants_hold_at_every_step_of_random_runs() {
    for seed in 0..RUNS {
        let mut rng = Rng::new(seed);
        let mut sim = Sim::new(ClusterConfig::default(), seed);
        let limits = [json!(1), json!(0), json!("25%"), json!("50%"), json!(3)];
        let surge = &limits[rng.below(5) as usize];
        // Both zero would be refused.
        let unavailable = if *surge == json!(0) { &limits[0] } else { &limits[rng.below(5) as usize] };
        create(&mut sim, deployment(rng.below(8), surge, unavailable));
        create(&mut sim, stateful_set(rng.below(4), ["OrderedReady", "Parallel"][rng.below(2) as usize]));
        let mut checks = Checks::default();
        for _ in 0..COMMANDS {
            let until = sim.now().after(rng.below(4_000_000));
            while sim.next_task().is_some_and(|at| at <= until) {
                sim.step();
                checks.look(&sim, seed);
            }
            sim.advance(until, usize::MAX);
            command(&mut sim, &mut rng);
            checks.look(&sim, seed);
        }
        settled(&mut sim, seed);
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
        let line = |e: &loopscope::engine::Entry| {
            format!("{:?} {} {:?} {:?}", e.time, e.actor.name, e.write().map(|(op, o)| (op, o.to_value())), e.cause)
        };
        sim.journal().iter().map(line).collect::<Vec<_>>().join("\n")
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
    assert_eq!(sim.server().version(), copy.server().version());
}
