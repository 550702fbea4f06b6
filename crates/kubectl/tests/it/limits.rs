//! Values at the edge of what the API accepts: the engine takes them without a panic and without growing for ever.

use apiserver::{Request, Verb};
use cluster::Sim;
use controller_runtime::cluster::ClusterConfig;
use k8s_model::{Kind, ObjectRef, Time};
use serde_json::{Value, json};

fn workload(kind: &str, spec: &Value) -> Value {
    let mut object = json!({ "apiVersion": "apps/v1", "kind": kind, "metadata": { "name": "x" }, "spec": {
        "replicas": 1, "selector": { "matchLabels": { "app": "x" } },
        "template": { "metadata": { "labels": { "app": "x" } }, "spec": { "containers": [{ "name": "c", "image": "a" }] } } } });
    for (key, value) in spec.as_object().unwrap() {
        object["spec"][key.as_str()] = value.clone();
    }
    object
}

fn run(value: Value) -> Sim {
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    sim.request(&Request::of_manifest(Verb::Create, value))
        .result
        .unwrap();
    sim.advance(Time(2_000_000), 3_000);
    sim
}

#[test]
fn the_largest_sizes_are_taken_step_by_step() {
    let most = i32::MAX;
    for (kind, spec) in [
        ("StatefulSet", json!({ "replicas": most })),
        (
            "StatefulSet",
            json!({ "replicas": most, "podManagementPolicy": "Parallel" }),
        ),
        (
            "StatefulSet",
            json!({ "replicas": 2, "ordinals": { "start": most } }),
        ),
        (
            "Deployment",
            json!({ "replicas": most, "strategy": { "rollingUpdate": { "maxSurge": most } } }),
        ),
    ] {
        let sim = run(workload(kind, &spec));
        assert!(
            sim.store().count(Kind::Pod) <= 4_000,
            "{kind} {spec}: Pods come in bursts"
        );
    }
}

#[test]
fn a_grace_period_of_ages_is_a_date_all_the_same() {
    let mut value = json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "x" }, "spec": {
        "terminationGracePeriodSeconds": i64::MAX, "containers": [{ "name": "c", "image": "a" }] } });
    value["spec"]["containers"][0]["readinessProbe"] =
        json!({ "initialDelaySeconds": i32::MAX, "tcpSocket": { "port": 1 } });
    let mut sim = run(value);
    let key = ObjectRef::new(Kind::Pod, "default", "x");
    sim.request(&Request::new(Verb::Delete, &key))
        .result
        .unwrap();
    let text = sim.store().get(&key).unwrap().to_value()["metadata"]["deletionTimestamp"]
        .as_str()
        .unwrap()
        .to_string();
    assert!(text.starts_with("21"), "{text}");
    sim.advance(Time(9_000_000), usize::MAX);
    assert!(
        sim.store().get(&key).is_none(),
        "the Pod is stopped and gone"
    );
}

#[test]
fn three_hundred_containers_are_counted_to_the_end() {
    let containers = |prefix: &str| {
        (0..300)
            .map(|i| json!({ "name": format!("{prefix}{i}"), "image": "a" }))
            .collect::<Vec<_>>()
    };
    let value = json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "x" },
        "spec": { "initContainers": containers("i"), "containers": containers("c") } });
    let mut sim = run(value);
    sim.advance(Time(400_000_000), usize::MAX);
    let key = ObjectRef::new(Kind::Pod, "default", "x");
    assert!(
        sim.store()
            .get(&key)
            .and_then(|o| o.pod())
            .is_some_and(|pod| pod.is_ready())
    );
}

#[test]
fn a_node_may_be_as_large_as_a_number_and_says_what_it_cannot_be() {
    let mut sim = run(workload("Deployment", &json!({ "replicas": 3 })));
    for name in ["node-8", "node-9"] {
        sim.fault(&format!(
            "add-node {name} cpu=9000P memory=9E pods=2000000000"
        ))
        .unwrap();
    }
    sim.advance(Time(60_000_000), 3_000);
    let node = sim
        .store()
        .get(&ObjectRef::new(Kind::Node, "", "node-9"))
        .unwrap()
        .to_value();
    assert_eq!(node["status"]["allocatable"]["cpu"], "9000P");
    assert_eq!(
        node["status"]["capacity"]["ephemeral-storage"], "100Gi",
        "what is not named is as on every node"
    );
    for (said, what) in [
        ("add-node node-7 cpu", "cpu: RESOURCE=AMOUNT is required"),
        (
            "add-node node-7 gpu=1",
            "gpu: cpu, memory, pods or ephemeral-storage is required",
        ),
        ("add-node node-7 cpu=0", "cpu=0: must be greater than 0"),
        ("add-node node-7 cpu=-1", "cpu=-1: must be greater than 0"),
        (
            "add-node node-7 pods=1500m",
            "pods=1500m: must be an integer",
        ),
        ("add-node node-7 cpu=1 cpu=2", "cpu: named twice"),
        (
            "add-node node-7 cpu=much",
            "cpu=much: quantities must match",
        ),
    ] {
        let error = sim.fault(said).unwrap_err().to_string();
        assert!(
            error.starts_with(&format!("add-node: {what}")),
            "{said}: {error}"
        );
        assert!(
            sim.store()
                .get(&ObjectRef::new(Kind::Node, "", "node-7"))
                .is_none(),
            "{said}"
        );
    }
    assert_eq!(
        sim.fault("add-node node-9 cpu=1").unwrap_err().to_string(),
        "nodes \"node-9\" already exists"
    );
}

/// How long the worst task of a Job with so many Pods takes, while it makes the first ones and when all of them have failed.
#[allow(clippy::disallowed_methods)]
fn worst_tasks(pods: usize) -> [std::time::Duration; 2] {
    let mut sim = Sim::new(ClusterConfig::with_nodes(pods / 100 + 1), 1);
    let job = json!({ "apiVersion": "batch/v1", "kind": "Job", "metadata": { "name": "x" }, "spec": {
        "parallelism": pods, "completions": pods, "backoffLimit": 1_000_000, "template": { "spec": { "restartPolicy": "Never",
            "containers": [{ "name": "c", "image": "busybox", "command": ["sh", "-c", "sleep 30; exit 1"] }] } } } });
    sim.request(&Request::of_manifest(Verb::Create, job))
        .result
        .unwrap();
    let mut worst = [std::time::Duration::ZERO; 2];
    let made = |sim: &Sim| sim.store().count(Kind::Pod);
    while made(&sim) < pods * 3 / 2 && sim.now() < Time(6_000_000_000) {
        let start = std::time::Instant::now();
        sim.advance(Time(sim.now().0 + 1_000_000), 1);
        let phase = usize::from(made(&sim) > pods);
        worst[phase] = worst[phase].max(start.elapsed());
    }
    assert!(made(&sim) > pods, "failed Pods are replaced");
    worst
}

#[test]
fn a_job_of_which_thousands_of_pods_failed_makes_new_ones_as_fast_as_the_first() {
    let [first, again] = worst_tasks(3_000);
    assert!(
        again < first * 8,
        "{first:?} at first, {again:?} when all have failed"
    );
}
