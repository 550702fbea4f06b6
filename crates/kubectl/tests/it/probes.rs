//! Probes and hooks: what fails, how it is told, and what the kubelet does about it.

use cluster::Sim;
use controller_runtime::cluster::ClusterConfig;
use k8s_model::{Kind, ObjectRef};
use kubectl::Session;
use kubectl::parse::split;

fn started(container: &str, rest: &str) -> Sim {
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    let pod = format!(
        "{{apiVersion: v1, kind: Pod, metadata: {{name: p}}, spec: {{containers: [{{name: c, image: nginx, {container}}}]{rest}}}}}"
    );
    let session = Session::start(&mut sim, &split("apply -f -"), &pod);
    assert_eq!(session.stdout, "pod/p created\n", "{}", session.stderr);
    sim
}

/// Lets time pass until so many tenths of a second after the beginning.
fn until(sim: &mut Sim, tenths: u64) {
    sim.advance(k8s_model::Time(tenths * 100_000), usize::MAX);
}

#[test]
fn pod_whose_program_ignores_sigterm_is_killed_after_its_grace_period() {
    let mut sim = started(
        "command: [sleep, '3600']",
        ", terminationGracePeriodSeconds: 10",
    );
    until(&mut sim, 20);
    Session::start(&mut sim, &split("delete pod p --wait=false"), "");
    until(&mut sim, 110);
    assert!(state(&sim).ends_with("running"), "{}", state(&sim));
    until(&mut sim, 200);
    let journal = sim.store().journal();
    let pods = (0..journal.len())
        .filter_map(|at| journal[at].write())
        .filter_map(|(_, object)| object.pod());
    let phases: Vec<String> = pods.map(|pod| pod.status.phase.to_string()).collect();
    assert_eq!(phases.last().map(String::as_str), Some("Failed"));
}

/// `ready started restarts state` of the container.
fn state(sim: &Sim) -> String {
    let pod = sim
        .store()
        .get(&ObjectRef::new(Kind::Pod, "default", "p"))
        .unwrap()
        .to_value();
    let status = &pod["status"]["containerStatuses"][0];
    let (name, state) = status["state"].as_object().unwrap().iter().next().unwrap();
    let reason = state["reason"]
        .as_str()
        .map(|reason| format!(" {reason}"))
        .unwrap_or_default();
    format!(
        "{} {} {} {name}{reason}",
        status["ready"], status["started"], status["restartCount"]
    )
}

/// The kubelet's events that are about probes and restarts, with their counts.
fn events(sim: &Sim) -> Vec<String> {
    let wanted = [
        "Unhealthy",
        "Killing",
        "BackOff",
        "FailedPostStartHook",
        "FailedPreStopHook",
    ];
    let all = sim
        .store()
        .list(Kind::Event)
        .map(|event| event.to_value())
        .filter(|event| wanted.contains(&event["reason"].as_str().unwrap_or("")));
    all.map(|e| {
        format!(
            "{} {} {}",
            e["count"],
            e["reason"].as_str().unwrap(),
            e["message"].as_str().unwrap()
        )
    })
    .collect()
}

const LIVENESS: &str =
    "livenessProbe: {httpGet: {path: /healthz, port: 80}, periodSeconds: 5, failureThreshold: 2}";

#[test]
fn a_failing_liveness_probe_restarts_its_container_again_and_again() {
    let mut sim = started(LIVENESS, "");
    until(&mut sim, 80);
    assert_eq!(state(&sim), "true true 0 running");
    sim.fault("fail-probe pod/p liveness").unwrap();
    // The container started at 1 s: it is probed at 11 s and 16 s, stops in half a second and is back 0.3 s later.
    until(&mut sim, 159);
    assert_eq!(
        (state(&sim).as_str(), events(&sim)),
        (
            "true true 0 running",
            vec![
                "1 Unhealthy Liveness probe failed: HTTP probe failed with statuscode: 500".into()
            ]
        )
    );
    until(&mut sim, 180);
    assert_eq!(state(&sim), "true true 1 running");
    assert_eq!(
        events(&sim),
        [
            "3 Unhealthy Liveness probe failed: HTTP probe failed with statuscode: 500",
            "1 Killing Container c failed liveness probe, will be restarted"
        ]
    );
    // Probed at 0 s and 5 s of the next run: from now on it is held back, 10 s, then 20 s.
    until(&mut sim, 235);
    assert_eq!(state(&sim), "false false 1 waiting CrashLoopBackOff");
    sim.fault("pass-probe pod/p liveness").unwrap();
    until(&mut sim, 400);
    assert_eq!(state(&sim), "true true 2 running");
    let quiet = sim.last_change();
    until(&mut sim, 2000);
    assert_eq!(sim.last_change(), quiet, "a probe that succeeds is no news");
}

#[test]
fn a_readiness_probe_fails_and_recovers_by_its_thresholds() {
    let probe = "readinessProbe: {tcpSocket: {port: 80}, initialDelaySeconds: 3, periodSeconds: 2, successThreshold: 2, failureThreshold: 3}";
    let mut sim = started(probe, "");
    until(&mut sim, 55);
    assert_eq!(
        state(&sim),
        "false true 0 running",
        "two successes are needed: 3 s and 5 s after the start"
    );
    until(&mut sim, 65);
    assert_eq!(state(&sim), "true true 0 running");
    sim.fault("fail-probe pod/p readiness timeout").unwrap();
    // Probes at 8, 10 and 12 s, each answered a second later by nobody.
    until(&mut sim, 129);
    assert_eq!(state(&sim), "true true 0 running");
    until(&mut sim, 132);
    assert_eq!(state(&sim), "false true 0 running");
    let pod = sim
        .store()
        .get(&ObjectRef::new(Kind::Pod, "default", "p"))
        .unwrap()
        .to_value();
    let ip = pod["status"]["podIP"].as_str().unwrap();
    assert_eq!(
        events(&sim),
        [format!(
            "3 Unhealthy Readiness probe failed: dial tcp {ip}:80: i/o timeout"
        )]
    );
    sim.fault("pass-probe pod/p readiness").unwrap();
    until(&mut sim, 180);
    assert_eq!(state(&sim), "true true 0 running");
}

#[test]
fn nothing_else_is_asked_before_the_startup_probe_has_succeeded() {
    let startup = "startupProbe: {httpGet: {port: 80}, initialDelaySeconds: 10, failureThreshold: 2, periodSeconds: 4}";
    let mut sim = started(
        &format!("{startup}, {LIVENESS}, readinessProbe: {{httpGet: {{port: 80}}}}"),
        "",
    );
    until(&mut sim, 105);
    assert_eq!(state(&sim), "false false 0 running");
    until(&mut sim, 115);
    assert_eq!(state(&sim), "true true 0 running");
    let mut sim = started(&format!("{startup}, {LIVENESS}"), "");
    until(&mut sim, 50);
    sim.fault("fail-probe pod/p startup").unwrap();
    sim.fault("fail-probe pod/p liveness").unwrap();
    until(&mut sim, 148);
    assert_eq!(
        (state(&sim).as_str(), events(&sim).len()),
        ("false false 0 running", 1)
    );
    until(&mut sim, 170);
    assert_eq!(
        events(&sim),
        [
            "2 Unhealthy Startup probe failed: HTTP probe failed with statuscode: 500",
            "1 Killing Container c failed startup probe, will be restarted"
        ]
    );
    assert_eq!(state(&sim), "false false 1 running");
}

#[test]
fn a_file_that_a_script_removes_fails_the_probe_that_looks_for_it() {
    let script =
        "command: [/bin/sh, -c, 'touch /tmp/healthy; sleep 30; rm -f /tmp/healthy; sleep 600']";
    let probe = "livenessProbe: {exec: {command: [cat, /tmp/healthy]}, initialDelaySeconds: 5, periodSeconds: 5}";
    let mut sim = started(&format!("{script}, {probe}"), "");
    until(&mut sim, 400);
    assert_eq!(
        events(&sim).len(),
        1,
        "at 30 s the file is gone, at 35 s it is missed"
    );
    until(&mut sim, 500);
    assert_eq!(
        events(&sim),
        [
            "3 Unhealthy Liveness probe failed: cat: can't open '/tmp/healthy': No such file or directory",
            "1 Killing Container c failed liveness probe, will be restarted"
        ]
    );
    // A shell does not pass the signal on: it is killed after the grace period of 30 s.
    until(&mut sim, 700);
    assert_eq!(state(&sim), "true true 0 running");
    until(&mut sim, 720);
    assert_eq!(state(&sim), "true true 1 running");
    let pod = sim
        .store()
        .get(&ObjectRef::new(Kind::Pod, "default", "p"))
        .unwrap()
        .to_value();
    assert_eq!(
        pod["status"]["containerStatuses"][0]["lastState"]["terminated"]["exitCode"],
        137
    );
}

#[test]
fn annotations_make_probes_fail_from_the_start() {
    let mut sim = Sim::new(ClusterConfig::default(), 1);
    let pod = format!(
        "{{apiVersion: v1, kind: Pod, metadata: {{name: p, annotations: {{loopscope.dev/failing-probes: 'readiness, startup'}}}}, \
         spec: {{containers: [{{name: c, image: nginx, startupProbe: {{grpc: {{port: 9}}}}, {LIVENESS}}}]}}}}"
    );
    Session::start(&mut sim, &split("apply -f -"), &pod);
    until(&mut sim, 25);
    assert_eq!(state(&sim), "false false 0 running");
    assert_eq!(
        events(&sim),
        ["1 Unhealthy Startup probe failed: service unhealthy (responded with \"NOT_SERVING\")"]
    );
}

#[test]
fn hooks_that_fail_are_told_and_those_that_wait_are_waited_for() {
    let mut sim = started(
        "lifecycle: {postStart: {exec: {command: [/bin/sh, -c, exit 1]}}}",
        "",
    );
    until(&mut sim, 30);
    assert_eq!(state(&sim), "false false 1 waiting CrashLoopBackOff");
    assert!(
        events(&sim).contains(&"2 FailedPostStartHook PostStartHook failed".to_owned()),
        "{:?}",
        events(&sim)
    );

    let mut sim = started("lifecycle: {preStop: {sleep: {seconds: 5}}}", "");
    until(&mut sim, 30);
    Session::start(&mut sim, &split("delete pod p --wait=false"), "");
    until(&mut sim, 80);
    assert!(
        sim.store()
            .get(&ObjectRef::new(Kind::Pod, "default", "p"))
            .is_some()
    );
    until(&mut sim, 90);
    assert!(
        sim.store()
            .get(&ObjectRef::new(Kind::Pod, "default", "p"))
            .is_none()
    );
}

#[test]
fn a_probe_that_is_not_there_cannot_fail() {
    let mut sim = started("readinessProbe: {httpGet: {port: 80}}", "");
    assert_eq!(
        sim.fault("fail-probe pod/p liveness")
            .unwrap_err()
            .to_string(),
        "pods \"p\" has no liveness probe"
    );
    assert_eq!(
        sim.fault("fail-probe pod/p health")
            .unwrap_err()
            .to_string(),
        "health: startup, readiness or liveness is required"
    );
}

#[test]
fn a_probe_of_a_port_where_nothing_listens_fails() {
    let mut sim = started(
        "readinessProbe: {httpGet: {path: /ok, port: 8081}, periodSeconds: 2}",
        "",
    );
    until(&mut sim, 100);
    assert_eq!(state(&sim), "false true 0 running");
    let pod = sim
        .store()
        .get(&ObjectRef::new(Kind::Pod, "default", "p"))
        .unwrap()
        .to_value();
    let ip = pod["status"]["podIP"].as_str().unwrap();
    let told = events(&sim).concat();
    assert!(
        told.contains(&format!(
            "Get \"http://{ip}:8081/ok\": dial tcp {ip}:8081: connect: connection refused"
        )),
        "{told}"
    );
}
