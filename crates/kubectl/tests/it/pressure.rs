//! A node that runs short of memory.

use cluster::Sim;
use controller_runtime::cluster::ClusterConfig;
use k8s_model::{Kind, ObjectRef, Time};
use kubectl::Session;
use kubectl::parse::split;
use serde_json::Value;

fn apply(sim: &mut Sim, text: &str) {
    let session = Session::start(sim, &split("apply -f -"), text);
    assert_eq!(session.exit, Some(0), "{}", session.stderr);
}

fn wait(sim: &mut Sim, seconds: u64) {
    let to: Time = sim.now().after(seconds * 1_000_000);
    sim.advance(to, usize::MAX);
}

/// A Pod on node-1 that requests so much memory.
fn pod(name: &str, memory: &str, extra: &str) -> String {
    let requests = if memory.is_empty() {
        String::new()
    } else {
        format!(", resources: {{requests: {{memory: {memory}}}}}")
    };
    format!(
        "---\n{{apiVersion: v1, kind: Pod, metadata: {{name: {name}, labels: {{app: {name}}}}}, spec: {{{extra}nodeSelector: {{kubernetes.io/hostname: node-1}}, containers: [{{name: c, image: nginx{requests}}}]}}}}\n"
    )
}

fn get(sim: &Sim, kind: Kind, name: &str) -> Value {
    sim.store()
        .get(&ObjectRef::new(kind, "default", name))
        .map(|o| o.to_value())
        .unwrap_or_default()
}

fn phases(sim: &Sim) -> Vec<String> {
    let show = |o: Value| {
        format!(
            "{} {} {}",
            o["metadata"]["name"].as_str().unwrap(),
            o["status"]["phase"].as_str().unwrap(),
            o["status"]["reason"].as_str().unwrap_or("-")
        )
    };
    sim.store()
        .list(Kind::Pod)
        .map(|o| show(o.to_value()))
        .collect()
}

fn events(sim: &Sim, of: &str) -> Vec<String> {
    let all = sim
        .store()
        .list(Kind::Event)
        .map(|e| e.to_value())
        .filter(|e| e["involvedObject"]["name"] == of);
    let known = [
        "EvictionThresholdMet",
        "NodeHasInsufficientMemory",
        "NodeHasSufficientMemory",
        "Evicted",
        "Killing",
    ];
    let all = all.filter(|e| known.contains(&e["reason"].as_str().unwrap()));
    all.map(|e| {
        format!(
            "{} {}",
            e["reason"].as_str().unwrap(),
            e["message"].as_str().unwrap()
        )
    })
    .collect()
}

#[test]
fn the_pod_that_uses_more_than_it_requests_goes_first() {
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    apply(
        &mut sim,
        &(pod("modest", "1Gi", "") + &pod("greedy", "1Gi", "") + &pod("small", "100Mi", "")),
    );
    wait(&mut sim, 5);
    sim.fault("memory-load app=greedy 2Gi").unwrap();
    sim.fault("memory-pressure node-1").unwrap();
    wait(&mut sim, 5);
    assert_eq!(
        phases(&sim),
        [
            "greedy Failed Evicted",
            "modest Running -",
            "small Running -"
        ]
    );
    let message = "The node was low on resource: memory. Threshold quantity: 100Mi, available: 102399Ki. \
                   Container c was using 2Gi, request is 1Gi, has larger consumption of memory. ";
    let greedy = get(&sim, Kind::Pod, "greedy");
    assert_eq!(greedy["status"]["message"], message);
    let target = greedy["status"]["conditions"]
        .as_array()
        .unwrap()
        .iter()
        .find(|c| c["type"] == "DisruptionTarget")
        .unwrap();
    assert_eq!(
        (&target["reason"], &target["message"]),
        (&Value::from("TerminationByKubelet"), &Value::from(message))
    );
    assert_eq!(
        greedy["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"],
        137
    );
    assert_eq!(
        events(&sim, "greedy"),
        [
            format!("Evicted {message}"),
            "Killing Stopping container c".into()
        ]
    );
    assert_eq!(
        events(&sim, "node-1"),
        [
            "EvictionThresholdMet Attempting to reclaim memory",
            "NodeHasInsufficientMemory Node node-1 status is now: NodeHasInsufficientMemory"
        ]
    );
}

#[test]
fn the_least_important_goes_next_until_enough_is_free() {
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    apply(
        &mut sim,
        "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 1000}\n",
    );
    apply(
        &mut sim,
        &(pod("high", "1Gi", "priorityClassName: high, ")
            + &pod("low", "512Mi", "")
            + &pod("none", "", "")),
    );
    wait(&mut sim, 5);
    // 16Mi of the Pod without a request, and 512Mi of the one of priority 0, are enough.
    sim.fault("memory-pressure node-1 500Mi").unwrap();
    wait(&mut sim, 5);
    assert_eq!(
        phases(&sim),
        ["high Running -", "low Running -", "none Failed Evicted"]
    );
    wait(&mut sim, 60);
    assert_eq!(
        phases(&sim),
        [
            "high Running -",
            "low Failed Evicted",
            "none Failed Evicted"
        ]
    );
}

#[test]
fn nothing_new_comes_to_a_node_under_pressure_and_it_recovers() {
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    apply(&mut sim, &pod("first", "1Gi", ""));
    wait(&mut sim, 5);
    sim.fault("memory-pressure node-1").unwrap();
    wait(&mut sim, 5);
    let node = get(&sim, Kind::Node, "node-1");
    assert_eq!(
        node["spec"]["taints"][0]["key"],
        "node.kubernetes.io/memory-pressure"
    );
    assert_eq!(node["spec"]["taints"][0]["effect"], "NoSchedule");
    apply(&mut sim, &pod("second", "1Gi", ""));
    apply(
        &mut sim,
        "{apiVersion: v1, kind: Pod, metadata: {name: forced}, spec: {nodeName: node-1, containers: [{name: c, image: nginx}]}}",
    );
    wait(&mut sim, 5);
    assert_eq!(
        phases(&sim),
        [
            "first Failed Evicted",
            "forced Failed Evicted",
            "second Pending -"
        ]
    );
    assert_eq!(
        get(&sim, Kind::Pod, "forced")["status"]["message"],
        "The node had condition: [MemoryPressure]. "
    );
    // Five minutes after enough was free again the node says so, and the Pod that waits is placed.
    wait(&mut sim, 330);
    assert_eq!(
        phases(&sim),
        [
            "first Failed Evicted",
            "forced Failed Evicted",
            "second Running -"
        ]
    );
    assert_eq!(
        get(&sim, Kind::Node, "node-1")["spec"]["taints"],
        Value::Null
    );
    assert_eq!(
        events(&sim, "node-1").last().unwrap(),
        "NodeHasSufficientMemory Node node-1 status is now: NodeHasSufficientMemory"
    );
}

#[test]
fn a_workload_replaces_what_was_evicted_elsewhere() {
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    apply(
        &mut sim,
        "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}, spec: {replicas: 3, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: nginx}]}}}}",
    );
    wait(&mut sim, 5);
    sim.fault("memory-pressure node-2").unwrap();
    wait(&mut sim, 20);
    let running: Vec<String> = sim
        .store()
        .list(Kind::Pod)
        .map(|o| o.to_value())
        .filter(|o| o["status"]["phase"] == "Running")
        .map(|o| o["spec"]["nodeName"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(running.len(), 3);
    assert!(!running.contains(&"node-2".to_owned()), "{running:?}");
}

#[test]
fn a_wrong_fault_is_refused() {
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    assert_eq!(
        sim.fault("memory-pressure node-9").unwrap_err().to_string(),
        "nodes \"node-9\" not found"
    );
    assert!(
        sim.fault("memory-pressure node-1 much")
            .unwrap_err()
            .to_string()
            .starts_with("memory-pressure: much: quantities must match")
    );
}

#[test]
fn pressure_ends_when_nothing_is_missing_any_more() {
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    apply(&mut sim, &(pod("one", "1Gi", "") + &pod("two", "1Gi", "")));
    wait(&mut sim, 5);
    sim.fault("memory-pressure node-1 3Gi").unwrap();
    wait(&mut sim, 5);
    sim.fault("memory-pressure node-1 0").unwrap();
    wait(&mut sim, 290);
    let pressed = |sim: &Sim| get_node(sim)["status"]["conditions"][0]["status"].clone();
    assert_eq!(
        (phases(&sim).join(", ").as_str(), pressed(&sim)),
        ("one Failed Evicted, two Running -", "True".into())
    );
    wait(&mut sim, 15);
    assert_eq!(pressed(&sim), "False");
}

fn get_node(sim: &Sim) -> Value {
    sim.store()
        .get(&ObjectRef::new(Kind::Node, "", "node-1"))
        .unwrap()
        .to_value()
}
