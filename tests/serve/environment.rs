//! Episodes for agents, and what the server tells about objects.

use crate::http::{Reply, get, send};
use crate::server;
use serde_json::{Value, json};
use std::net::SocketAddr;

const BROKEN: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  replicas: 3\n  selector: {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n    spec: {containers: [{name: nginx, image: \"nginx:broken\"}]}\n";

fn ask(at: SocketAddr, name: &str, body: &Value) -> Reply {
    let target = format!("/loopscope/environment/{name}");
    send(at, "POST", &target, &[], body.to_string().as_bytes())
}

fn task() -> Value {
    json!({ "seed": 7, "manifest": BROKEN, "goal": "ready(web) == 3", "max_steps": 3, "episode_id": "a" })
}

#[test]
fn an_episode_ends_with_its_goal() {
    let server = server();
    let at = server.address();
    assert_eq!(
        get(at, "/loopscope/environment/health").json()["status"],
        "healthy"
    );
    let begun = ask(at, "reset", &task()).json();
    assert_eq!(
        (&begun["reward"], &begun["done"]),
        (&json!(0.0), &json!(false))
    );
    let looked = ask(at, "step", &json!({ "action": { "kubectl": "get pods" } })).json();
    let output = looked["observation"]["output"].as_str().unwrap();
    assert!(output.contains("ImagePullBackOff"), "{output}");
    let mended = json!({ "action": { "kubectl": "set image deployment/web nginx=nginx:1.27" } });
    let mended = ask(at, "step", &mended).json();
    assert_eq!(mended["observation"]["failed"], false);
    assert_eq!(
        (&mended["reward"], &mended["done"]),
        (&json!(1.0), &json!(true))
    );
    let state = get(at, "/loopscope/environment/state").json();
    assert_eq!(
        state,
        json!({ "episode_id": "a", "step_count": 2, "done": true, "goal": "ready(web) == 3", "reached": true })
    );
    assert_eq!(
        ask(at, "step", &json!({ "action": { "wait": 1 } })).code,
        400
    );
}

#[test]
fn an_episode_ends_with_its_steps_and_the_next_begins_the_same_way() {
    let server = server();
    let at = server.address();
    let play = || {
        let begun = ask(at, "reset", &task()).json();
        let steps = [
            json!({ "action": { "fault": "node-down node-1" } }),
            json!({ "action": { "kubectl": "rollout status deployment/web --timeout=5s" } }),
            json!({ "action": { "kubectl": "get pods -o wide" } }),
        ];
        let steps = steps.map(|step| ask(at, "step", &step).json());
        json!([begun, steps])
    };
    let first = play();
    assert_eq!(first[1][1]["observation"]["failed"], true);
    assert_eq!(
        (&first[1][2]["reward"], &first[1][2]["done"]),
        (&json!(0.0), &json!(true))
    );
    assert_eq!(play(), first);
}

#[test]
fn a_task_that_makes_no_sense_is_refused() {
    let server = server();
    let at = server.address();
    for (body, problem) in [
        (
            json!({ "goal": "redy(web) == 3" }),
            "goal: no function redy; did you mean ready?",
        ),
        (
            json!({ "nodes": 5001 }),
            "nodes must be a number from 0 to 5000",
        ),
        (
            json!({ "faults": ["explode"] }),
            "faults: error: unknown fault \"explode\"",
        ),
        (json!({ "node": 1 }), "unknown field `node`"),
        (
            json!({ "seconds_per_step": -1 }),
            "seconds must be a number from 0 to 86400",
        ),
    ] {
        let reply = ask(at, "reset", &body);
        let message = reply.json()["message"].as_str().unwrap().to_owned();
        assert!(
            reply.code == 400 && message.starts_with(problem),
            "{message}"
        );
    }
    let reply = ask(at, "step", &json!({ "action": { "dance": true } }));
    assert_eq!(reply.code, 400);
    assert_eq!(
        send(at, "GET", "/loopscope/environment/reset", &[], b"").code,
        405
    );
    assert_eq!(get(at, "/loopscope/environment/nothing").code, 404);
}

#[test]
fn an_object_tells_its_causes_and_what_would_help() {
    let server = server();
    let at = server.address();
    ask(at, "reset", &task());
    let why = get(at, "/loopscope/why/web").json();
    assert_eq!(why["health"], "stuck");
    let causes = why["causes"].as_array().unwrap();
    let actors: Vec<&str> = causes
        .iter()
        .filter_map(|cause| cause["actor"].as_str())
        .collect();
    assert!(
        actors[0].starts_with("kubelet") && actors.last() == Some(&"user"),
        "{actors:?}"
    );
    let diagnosis = get(at, "/loopscope/diagnosis/deploy/default/web").json();
    let root = diagnosis["waits"]
        .as_array()
        .unwrap()
        .last()
        .unwrap()
        .clone();
    assert_eq!(root["condition"], "Image nginx:broken cannot be pulled");
    let helps = |wait: &Value| {
        wait["remedies"]
            .as_array()
            .unwrap()
            .iter()
            .any(|one| one["helps"] == true)
    };
    assert!(diagnosis["waits"].as_array().unwrap().iter().any(helps));
    let value = |text: &str| send(at, "POST", "/loopscope/value", &[], text.as_bytes());
    assert_eq!(value("ready(web) + 2").json()["value"], 2);
    assert_eq!(value("ready(nobody)").json()["value"], Value::Null);
    assert_eq!(value("ready(web").code, 400);
    assert_eq!(get(at, "/loopscope/why/nobody").code, 404);
}

#[test]
fn a_snapshot_keeps_its_seed_and_its_episode() {
    let server = server();
    let at = server.address();
    let pods = || {
        get(at, "/api/v1/namespaces/default/pods").json()["items"][0]["metadata"]["name"].clone()
    };
    ask(at, "reset", &task());
    let (first, record) = (pods(), get(at, "/loopscope/record").body);
    send(at, "PUT", "/loopscope/snapshots/a", &[], b"");
    ask(
        at,
        "reset",
        &json!({ "seed": 8, "manifest": BROKEN, "max_steps": 0 }),
    );
    assert_ne!(pods(), first);
    assert_eq!(
        ask(at, "step", &json!({ "action": { "wait": 1 } })).code,
        400
    );
    assert_eq!(
        send(at, "POST", "/loopscope/snapshots/a", &[], b"").code,
        200
    );
    assert_eq!((pods(), get(at, "/loopscope/record").body), (first, record));
    assert_eq!(
        ask(at, "step", &json!({ "action": { "wait": 1 } })).code,
        200
    );
}

#[test]
fn the_faults_of_a_task_name_what_its_manifest_makes() {
    let server = server();
    let at = server.address();
    let task = json!({ "manifest": BROKEN.replace("broken", "1.27"), "faults": ["exit pod/{{pod:web:0}} 1"], "goal": "ready(web) == 9" });
    assert_eq!(ask(at, "reset", &task).code, 200);
    let restarts = "get pods -o jsonpath={.items[*].status.containerStatuses[0].restartCount}";
    ask(at, "step", &json!({ "action": { "wait": 5 } }));
    let looked = ask(at, "step", &json!({ "action": { "kubectl": restarts } })).json();
    let output = looked["observation"]["output"].as_str().unwrap();
    assert_eq!(output.matches('1').count(), 1, "{output}");
    // A task that is refused leaves no goal of the one before it.
    ask(at, "reset", &json!({ "manifest": "kind: Pod" }));
    assert_eq!(get(at, "/loopscope/environment/state").json()["goal"], "");
}

#[test]
fn a_command_that_waits_is_interrupted() {
    let server = server();
    let at = server.address();
    let body = json!({ "command": "get pods -w" }).to_string();
    let begun = send(at, "POST", "/loopscope/run", &[], body.as_bytes()).json();
    let path = format!("/loopscope/run/{}", begun["id"]);
    assert_eq!(begun["exit"], Value::Null);
    assert_eq!(send(at, "DELETE", &path, &[], b"").json()["exit"], 130);
    assert_eq!(send(at, "DELETE", &path, &[], b"").code, 404);
}
