//! Loops whose clients may send twenty requests a second, and thirty at once.

use apiserver::Op;
use cluster::Sim;
use k8s_model::{Kind, Time};
use kubectl::Session;
use kubectl::parse::split;

fn cluster(options: &str) -> Sim {
    let text = format!("name: x\ncluster: {{nodes: 3{options}}}\nsteps: []\n");
    Sim::new(scenario::parse(&text).unwrap().cluster, 1)
}

const LIMITED: &str = ", controllerManager: {kubeAPIQPS: 20, kubeAPIBurst: 30}";

fn set(name: &str, replicas: u32) -> String {
    format!(
        "---\n{{apiVersion: apps/v1, kind: ReplicaSet, metadata: {{name: {name}}}, spec: {{replicas: {replicas}, selector: {{matchLabels: \
         {{app: {name}}}}}, template: {{metadata: {{labels: {{app: {name}}}}}, spec: {{containers: [{{name: c, image: i}}]}}}}}}}}\n"
    )
}

fn apply(sim: &mut Sim, text: &str) {
    let session = Session::start(sim, &split("apply -f -"), text);
    assert_eq!(session.exit, Some(0), "{}", session.stderr);
}

/// When each Pod of a set was made, in milliseconds.
fn made(sim: &Sim, of: &str) -> Vec<u64> {
    let pods = sim.journal().iter().filter(|entry| {
        entry.write().is_some_and(|(op, o)| {
            op == Op::Added && o.kind == Kind::Pod && o.meta.name.starts_with(of)
        })
    });
    pods.map(|entry| entry.time.0 / 1000).collect()
}

#[test]
fn a_hundred_pods_take_three_and_a_half_seconds() {
    let mut sim = cluster(LIMITED);
    apply(&mut sim, &set("web", 100));
    sim.advance(Time(60_000_000), usize::MAX);
    let times = made(&sim, "web-");
    assert_eq!(times.len(), 100);
    assert_eq!(
        times.iter().filter(|at| **at == times[0]).count(),
        30,
        "a burst of thirty: {times:?}"
    );
    let span = times[99] - times[0];
    assert!(
        (3_450..3_700).contains(&span),
        "then twenty a second: {span} ms"
    );
    let status = sim
        .store()
        .list(Kind::ReplicaSet)
        .next()
        .unwrap()
        .to_value()["status"]
        .clone();
    assert_eq!(
        (&status["readyReplicas"], &status["conditions"]),
        (&100.into(), &serde_json::Value::Null),
        "nothing has failed"
    );
    let told = sim
        .store()
        .list(Kind::Event)
        .map(|e| e.to_value())
        .filter(|e| e["reason"] == "FailedCreate")
        .count();
    assert_eq!(told, 0);
}

#[test]
fn without_the_option_they_are_made_at_once() {
    let mut sim = cluster("");
    apply(&mut sim, &set("web", 100));
    sim.advance(Time(60_000_000), usize::MAX);
    let times = made(&sim, "web-");
    assert_eq!((times.len(), times[99] - times[0]), (100, 0));
}

#[test]
fn two_sets_take_turns() {
    let mut sim = cluster(LIMITED);
    apply(&mut sim, &(set("a", 60) + &set("b", 60)));
    sim.advance(Time(60_000_000), usize::MAX);
    let (a, b) = (made(&sim, "a-"), made(&sim, "b-"));
    assert_eq!((a.len(), b.len()), (60, 60));
    // The first has the burst; of what comes then each has every other.
    assert_eq!(b.iter().filter(|at| **at < a[59]).count(), 29);
}

#[test]
fn a_rollout_ends_with_what_was_asked_for() {
    let mut sim = cluster(LIMITED);
    let deployment = set("web", 40).replace("ReplicaSet", "Deployment");
    apply(&mut sim, &deployment);
    sim.advance(Time(20_000_000), usize::MAX);
    apply(&mut sim, &deployment.replace("image: i", "image: j"));
    sim.advance(Time(200_000_000), usize::MAX);
    let images: Vec<_> = sim
        .store()
        .list(Kind::Pod)
        .map(|o| o.to_value()["spec"]["containers"][0]["image"].clone())
        .collect();
    assert!(
        images.len() == 40 && images.iter().all(|image| image == "j"),
        "{images:?}"
    );
    let status = sim
        .store()
        .list(Kind::Deployment)
        .next()
        .unwrap()
        .to_value()["status"]
        .clone();
    assert_eq!(
        (&status["updatedReplicas"], &status["availableReplicas"]),
        (&40.into(), &40.into())
    );
}
