//! Pods that name ConfigMaps and Secrets which are not there.

use loopscope::api::{Kind, ObjectRef, Time};
use loopscope::engine::Sim;
use loopscope::engine::cluster::ClusterConfig;
use loopscope::kubectl::{Session, parse::split};

fn apply(sim: &mut Sim, text: &str) {
    let session = Session::start(sim, &split("apply -f -"), text);
    assert_eq!(session.exit, Some(0), "{}", session.stderr);
}

fn cluster(spec: &str) -> Sim {
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    apply(&mut sim, &format!("{{apiVersion: v1, kind: Pod, metadata: {{name: p}}, spec: {{containers: [{{name: c, image: i{spec}}}]}}}}"));
    sim
}

/// What `kubectl get pods` shows after so many seconds.
fn shown(sim: &mut Sim, seconds: u64) -> String {
    sim.advance(Time(seconds * 1_000_000), usize::MAX);
    let mut session = Session::start(sim, &split("get pods --no-headers"), "");
    session.poll(sim);
    session.stdout.split_whitespace().take(3).collect::<Vec<_>>().join(" ")
}

fn events(sim: &Sim, reason: &str) -> Vec<String> {
    let all = sim.list(Kind::Event).map(|event| event.to_value()).filter(|event| event["reason"] == reason);
    all.map(|e| e["message"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_container_waits_for_what_its_environment_is_made_of() {
    for (spec, words, kind) in [
        ("envFrom: [{configMapRef: {name: settings}}]", "configmap \"settings\" not found", "ConfigMap"),
        ("env: [{name: A, valueFrom: {secretKeyRef: {name: settings, key: a}}}]", "secret \"settings\" not found", "Secret"),
    ] {
        let mut sim = cluster(&format!(", {spec}"));
        assert_eq!(shown(&mut sim, 5), "p 0/1 CreateContainerConfigError");
        assert_eq!(events(&sim, "Failed"), [format!("Error: {words}")]);
        apply(&mut sim, &format!("{{apiVersion: v1, kind: {kind}, metadata: {{name: settings}}}}"));
        assert_eq!(shown(&mut sim, 20), "p 1/1 Running");
    }
}

#[test]
fn a_pod_waits_for_what_its_volumes_hold() {
    for source in ["configMap: {name: files}", "projected: {sources: [{configMap: {name: files}}]}"] {
        let mut sim = cluster(&format!("}}], volumes: [{{name: v, {source}"));
        assert_eq!(shown(&mut sim, 10), "p 0/1 ContainerCreating");
        assert_eq!(events(&sim, "FailedMount"), ["MountVolume.SetUp failed for volume \"v\" : configmap \"files\" not found"]);
        apply(&mut sim, "{apiVersion: v1, kind: ConfigMap, metadata: {name: files}}");
        assert_eq!(shown(&mut sim, 30), "p 1/1 Running");
    }
}

#[test]
fn what_is_optional_is_not_waited_for() {
    let mut sim = cluster(
        ", envFrom: [{configMapRef: {name: settings, optional: true}}]}], volumes: [{name: v, secret: {secretName: s, optional: true}",
    );
    assert_eq!(shown(&mut sim, 5), "p 1/1 Running");
    assert!(sim.get(&ObjectRef::new(Kind::Secret, "default", "s")).is_none());
}
