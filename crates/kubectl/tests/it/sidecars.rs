//! Containers that start before the others and stay; containers with a restart policy of their own.

use crate::one_pod;

use cluster::Sim;
use k8s_model::{Kind, ObjectRef, Time};
use one_pod::started;
use serde_json::Value;

fn pod(sim: &mut Sim, tenths: u64) -> Value {
    sim.advance(Time(tenths * 100_000), usize::MAX);
    sim.store()
        .get(&ObjectRef::new(Kind::Pod, "default", "p"))
        .unwrap()
        .to_value()
}

/// `name ready started restarts state` of each container, sidecars first.
fn states(sim: &mut Sim, tenths: u64) -> String {
    let pod = pod(sim, tenths);
    let show = |status: &Value| {
        let (state, detail) = status["state"].as_object().unwrap().iter().next().unwrap();
        let reason = detail["reason"]
            .as_str()
            .map(|reason| format!(" {reason}"))
            .unwrap_or_default();
        let name = status["name"].as_str().unwrap();
        format!(
            "{name} {} {} {} {state}{reason}",
            status["ready"], status["started"], status["restartCount"]
        )
    };
    let lists = ["initContainerStatuses", "containerStatuses"]
        .into_iter()
        .flat_map(|list| pod["status"][list].as_array().cloned());
    lists
        .flatten()
        .map(|status| show(&status))
        .collect::<Vec<_>>()
        .join("; ")
}

fn condition(pod: &Value, kind: &str) -> String {
    let all = pod["status"]["conditions"].as_array().unwrap();
    let found = all
        .iter()
        .find(|c| c["type"] == kind)
        .unwrap_or(&Value::Null);
    format!(
        "{} {}",
        found["status"].as_str().unwrap_or("-"),
        found["message"].as_str().unwrap_or("")
    )
}

fn events(sim: &Sim, reason: &str) -> Vec<String> {
    let all = sim
        .store()
        .list(Kind::Event)
        .map(|event| event.to_value())
        .filter(|event| event["reason"] == reason);
    all.map(|e| {
        format!(
            "{} {}",
            e["involvedObject"]["fieldPath"].as_str().unwrap_or(""),
            e["message"].as_str().unwrap()
        )
    })
    .collect()
}

const MAIN: &str = "containers: [{name: main, image: nginx}]";

#[test]
fn the_containers_wait_until_a_sidecar_has_started() {
    let probe = "startupProbe: {httpGet: {port: 80}, initialDelaySeconds: 4}, readinessProbe: {httpGet: {port: 80}, initialDelaySeconds: 8}";
    let mut sim = started(&format!(
        "initContainers: [{{name: side, image: proxy, restartPolicy: Always, {probe}}}], {MAIN}"
    ));
    // The sandbox is up after one second, the sidecar half a second later; its startup probe first runs after four.
    assert_eq!(
        states(&mut sim, 30),
        "side false false 0 running; main false false 0 waiting PodInitializing"
    );
    assert_eq!(
        condition(&pod(&mut sim, 30), "Initialized"),
        "False containers with incomplete status: [side]"
    );
    assert_eq!(
        states(&mut sim, 60),
        "side false true 0 running; main true true 0 running"
    );
    let now = pod(&mut sim, 60);
    assert_eq!(condition(&now, "Initialized"), "True ");
    assert_eq!(
        condition(&now, "Ready"),
        "False containers with unready status: [side]"
    );
    assert_eq!(
        states(&mut sim, 110),
        "side true true 0 running; main true true 0 running"
    );
    assert_eq!(condition(&pod(&mut sim, 110), "Ready"), "True ");
}

#[test]
fn a_sidecar_that_fails_its_liveness_probe_is_started_again_alone() {
    let probe = "livenessProbe: {tcpSocket: {port: 80}, periodSeconds: 2, failureThreshold: 2}";
    let mut sim = started(&format!(
        "initContainers: [{{name: side, image: proxy, restartPolicy: Always, {probe}}}], {MAIN}"
    ));
    assert_eq!(
        states(&mut sim, 40),
        "side true true 0 running; main true true 0 running"
    );
    sim.fault("fail-probe pod/p liveness").unwrap();
    assert_eq!(
        states(&mut sim, 90),
        "side true true 1 running; main true true 0 running"
    );
    assert_eq!(
        events(&sim, "Unhealthy")[0].split(" Liveness").next(),
        Some("spec.initContainers{side}")
    );
    assert_eq!(
        events(&sim, "Killing"),
        ["spec.initContainers{side} Container side failed liveness probe, will be restarted"]
    );
    sim.fault("pass-probe pod/p liveness").unwrap();
    let restarted = states(&mut sim, 600);
    assert_eq!(states(&mut sim, 3000), restarted, "nothing more happens");
}

#[test]
fn a_sidecar_whose_command_ends_is_started_again() {
    let mut sim = started(&format!(
        "initContainers: [{{name: side, image: x, restartPolicy: Always, command: [sleep, '3']}}], {MAIN}"
    ));
    assert_eq!(
        states(&mut sim, 40),
        "side true true 0 running; main true true 0 running"
    );
    assert_eq!(
        states(&mut sim, 60),
        "side true true 1 running; main true true 0 running"
    );
    assert_eq!(pod(&mut sim, 60)["status"]["phase"], "Running");
}

#[test]
fn a_rule_starts_a_container_again_by_its_exit_code() {
    let main = |code: u32| {
        format!(
            "restartPolicy: Never, containers: [{{name: main, image: x, command: [sh, -c, 'sleep 2; exit {code}'], restartPolicy: Never, \
             restartPolicyRules: [{{action: Restart, exitCodes: {{operator: In, values: [42, 43]}}}}]}}]"
        )
    };
    let mut sim = started(&main(42));
    assert_eq!(states(&mut sim, 40), "main true true 1 running");
    let mut sim = started(&main(1));
    assert_eq!(states(&mut sim, 40), "main false false 0 terminated Error");
    assert_eq!(pod(&mut sim, 40)["status"]["phase"], "Failed");
}

#[test]
fn a_container_has_a_restart_policy_of_its_own() {
    let mut sim = started(
        "restartPolicy: Always, containers: [{name: a, image: x, restartPolicy: Never, command: ['false']}, {name: b, image: nginx}]",
    );
    assert_eq!(
        states(&mut sim, 100),
        "a false false 0 terminated Error; b true true 0 running"
    );
    assert_eq!(pod(&mut sim, 100)["status"]["phase"], "Running");
}

#[test]
fn a_rule_starts_all_containers_again() {
    let mut sim = started(
        "restartPolicy: Never, initContainers: [{name: prepare, image: x, command: ['true']}, {name: watch, image: x, restartPolicy: Always, \
         command: [sh, -c, 'sleep 6; exit 88'], restartPolicyRules: [{action: RestartAllContainers, exitCodes: {operator: In, values: [88]}}]}], \
         containers: [{name: main, image: nginx}]",
    );
    let before = "prepare true false 0 terminated Completed; watch true true 0 running; main true true 0 running";
    assert_eq!(states(&mut sim, 50), before);
    assert_eq!(
        condition(&pod(&mut sim, 82), "AllContainersRestarting"),
        "True container exited with restart policy rule"
    );
    assert_eq!(
        events(&sim, "Killing"),
        ["spec.containers{main} Stopping container main"]
    );
    assert_eq!(
        states(&mut sim, 110),
        "prepare true false 1 terminated Completed; watch true true 1 running; main true true 1 running"
    );
    let now = pod(&mut sim, 110);
    assert_eq!(
        (
            condition(&now, "AllContainersRestarting").as_str(),
            &now["status"]["phase"]
        ),
        ("False ", &"Running".into())
    );
}
