//! Pods that have ended are kept until there are too many.

use cluster::Sim;
use k8s_model::{Kind, Time};
use kubectl::Session;
use kubectl::parse::split;

fn cluster(kept: u32) -> Sim {
    let options = format!(
        "name: x\ncluster: {{nodes: 3, controllerManager: {{terminatedPodGCThreshold: {kept}}}}}\nsteps: []\n"
    );
    Sim::new(scenario::parse(&options).unwrap().cluster, 1)
}

fn names(sim: &Sim) -> String {
    sim.store()
        .list(Kind::Pod)
        .map(|o| o.meta.name.as_str())
        .collect::<Vec<_>>()
        .join(" ")
}

fn run(sim: &mut Sim, name: &str, seconds: u64) {
    let pod = format!(
        "{{apiVersion: v1, kind: Pod, metadata: {{name: {name}}}, spec: {{restartPolicy: Never, containers: [{{name: c, image: i, command: ['true']}}]}}}}"
    );
    let session = Session::start(sim, &split("apply -f -"), &pod);
    assert_eq!(session.exit, Some(0), "{}", session.stderr);
    sim.advance(Time(seconds * 1_000_000), usize::MAX);
}

#[test]
fn the_oldest_of_too_many_ended_pods_go_within_twenty_seconds() {
    let mut sim = cluster(2);
    for (i, name) in ["d", "a", "c", "b"].into_iter().enumerate() {
        run(&mut sim, name, 6 + 2 * i as u64);
    }
    // Upstream looks at 5 s, 25 s, 45 s…
    assert_eq!(names(&sim), "a b c d");
    sim.advance(Time(24_900_000), usize::MAX);
    assert_eq!(names(&sim), "a b c d");
    sim.advance(Time(25_100_000), usize::MAX);
    assert_eq!(names(&sim), "b c");
    sim.advance(Time(300_000_000), usize::MAX);
    assert_eq!(names(&sim), "b c");
}

#[test]
fn what_was_evicted_goes_before_what_has_ended_by_itself() {
    let mut sim = cluster(1);
    run(&mut sim, "old", 6);
    let pod = "{apiVersion: v1, kind: Pod, metadata: {name: new}, spec: {nodeName: node-1, containers: [{name: c, image: i}]}}";
    Session::start(&mut sim, &split("apply -f -"), pod);
    sim.advance(Time(9_000_000), usize::MAX);
    sim.fault("memory-pressure node-1").unwrap();
    sim.advance(Time(30_000_000), usize::MAX);
    assert_eq!(names(&sim), "old");
}

#[test]
fn who_says_that_a_pod_has_failed_ends_its_containers() {
    let mut sim = cluster(5);
    let pod = "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: i}]}}";
    Session::start(&mut sim, &split("apply -f -"), pod);
    sim.advance(Time(5_000_000), usize::MAX);
    let patch =
        "patch pod/p --type merge -p '{\"status\": {\"phase\": \"Failed\"}}' --subresource=status";
    assert_eq!(Session::start(&mut sim, &split(patch), "").exit, Some(0));
    sim.advance(Time(10_000_000), usize::MAX);
    let pod = sim.store().list(Kind::Pod).next().unwrap().to_value();
    assert_eq!(pod["status"]["phase"], "Failed");
    assert_eq!(
        pod["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"],
        0
    );
    let events: Vec<_> = sim
        .store()
        .list(Kind::Event)
        .map(|e| e.to_value())
        .filter(|e| e["reason"] == "Killing")
        .collect();
    assert_eq!(events.len(), 1);
    // It can be deleted like any Pod that has ended.
    Session::start(&mut sim, &split("delete pod/p"), "");
    sim.advance(Time(11_000_000), usize::MAX);
    assert_eq!(names(&sim), "");
}
