//! What is done to a served cluster, repeated elsewhere to the byte.

use crate::http::{chunk, get, head, open, pass, post, send};
use crate::{CONFIG_MAPS, config_map};
use apiserver::ObjectReader;
use cluster::ClientView;
use cluster::Sim;
use controller_runtime::cluster::ClusterConfig;
use k8s_model::{Kind, Object, Time};
use serde_json::{Value, json};
use serve::{ClockPace, ServeOptions, Server};
use session::State;
use session::editor::EditorMsg;
use session::follow::{FollowMsg, Following};
use session::permalink::{self, Link};
use session::record::SavedRecord;
use session::run::Run;
use std::net::SocketAddr;
use std::rc::Rc;

/// Small numbers in a sequence.
struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

fn workload(kind: &str, name: &str, replicas: u64) -> Value {
    let mut object = json!({
        "apiVersion": "apps/v1", "kind": kind, "metadata": { "name": name },
        "spec": { "replicas": replicas, "selector": { "matchLabels": { "app": name } }, "template": {
            "metadata": { "labels": { "app": name } }, "spec": { "containers": [{ "name": "c", "image": "nginx:1.27" }] },
        } },
    });
    if kind == "StatefulSet" {
        object["spec"]["serviceName"] = json!(name);
    }
    object
}

/// Something that a client might do.
fn act(at: SocketAddr, dice: &mut Dice) {
    let (kind, plural) = if dice.below(2) == 0 {
        ("Deployment", "deployments")
    } else {
        ("StatefulSet", "statefulsets")
    };
    let all = format!("/apis/apps/v1/namespaces/default/{plural}");
    let name = format!("w{}", dice.below(4));
    let merge = [
        ("content-type", "application/merge-patch+json"),
        ("user-agent", "kubectl/v1.36.3"),
    ];
    let pods = |dice: &mut Dice| -> Option<String> {
        let pods = get(at, "/api/v1/namespaces/default/pods").json();
        let pods = pods["items"].as_array().unwrap();
        let pod = pods.get(dice.below(pods.len().max(1) as u64) as usize)?;
        Some(format!(
            "/api/v1/namespaces/default/pods/{}",
            pod["metadata"]["name"].as_str().unwrap()
        ))
    };
    match dice.below(13) {
        0 | 1 => drop(post(at, &all, &workload(kind, &name, dice.below(4)))),
        2 => {
            let patch = json!({ "spec": { "replicas": dice.below(6) } });
            send(at, "PATCH", &format!("{all}/{name}/scale"), &merge, patch.to_string().as_bytes());
        }
        3 => {
            let image = json!({ "spec": { "template": { "spec": { "containers": [{ "name": "c", "image": format!("nginx:1.{}", dice.below(3)) }] } } } });
            send(
                at,
                "PATCH",
                &format!("{all}/{name}"),
                &[("content-type", "application/strategic-merge-patch+json")],
                image.to_string().as_bytes(),
            );
        }
        4 => {
            let mut applied = workload(kind, &name, dice.below(3));
            applied["metadata"]["labels"] = json!({ "tier": "a" });
            let target = format!("{all}/{name}?fieldManager=test&force={}", dice.below(2) == 0);
            send(at, "PATCH", &target, &[("content-type", "application/apply-patch+yaml")], applied.to_string().as_bytes());
        }
        5 => drop(send(at, "DELETE", &format!("{all}/{name}?propagationPolicy=Foreground"), &[], b"")),
        6 => drop(pods(dice).map(|pod| send(at, "DELETE", &pod, &[], b"{\"gracePeriodSeconds\": 0}"))),
        7 => drop(pods(dice).map(|pod| {
            let name = pod.rsplit('/').next().unwrap();
            post(at, &format!("{pod}/eviction"), &json!({ "apiVersion": "policy/v1", "kind": "Eviction", "metadata": { "name": name } }))
        })),
        8 => drop(send(
            at,
            "POST",
            "/loopscope/fault",
            &[],
            ["node-down node-1", "node-up node-1", "lose Pod"][dice.below(3) as usize].as_bytes(),
        )),
        9 => drop(send(at, "POST", "/loopscope/kubectl", &[], format!("kubectl rollout restart {plural} {name}").as_bytes())),
        10 => {
            drop(post(at, "/api/v1/namespaces/default/configmaps", &json!({ "metadata": { "generateName": "c-" }, "data": { "a": "b" } })))
        }
        11 => drop(send(at, "GET", "/api/v1/namespaces/default/configmaps", &[("impersonate-user", "jane")], b"")),
        _ => drop(post(at, &format!("{all}?dryRun=All"), &workload(kind, "dry", 1))),
    }
    if dice.below(3) > 0 {
        pass(at, dice.below(20));
    }
}

/// Everything in a cluster, and when it was written.
fn whole(sim: &Sim) -> Vec<Value> {
    let value = |object: Rc<Object>| {
        let (mut value, managed) = (
            object.to_value(),
            apiserver::managed_fields(sim.store(), &object.key()),
        );
        if managed.as_array().is_some_and(|list| !list.is_empty()) {
            value["metadata"]["managedFields"] = managed;
        }
        value
    };
    k8s_model::kind::all()
        .flat_map(|kind| ClientView::new(sim).list(kind, None))
        .map(value)
        .collect()
}

/// The same as the server tells it.
fn told(at: SocketAddr) -> Vec<Value> {
    let kinds = k8s_model::kind::all().filter(|kind| !kind.info().plural.is_empty());
    let lists = kinds.flat_map(|kind| {
        let (info, version) = (kind.info(), kind.api_version());
        let root = if info.group.is_empty() {
            "/api/"
        } else {
            "/apis/"
        };
        let list = get(at, &format!("{root}{version}/{}", info.plural)).json();
        let items = list["items"]
            .as_array()
            .unwrap_or_else(|| panic!("{list}"))
            .clone();
        items.into_iter().map(move |mut item| {
            item["apiVersion"] = version.to_string().into();
            item["kind"] = info.name.into();
            item
        })
    });
    lists.collect()
}

fn repeated(record: &SavedRecord, budget: usize) -> Run {
    let mut run = Run::recalled(
        record.config.clone(),
        record.seed,
        record.commands.clone(),
        record.end,
    );
    while run.is_replaying() {
        run.advance(record.end.1, budget);
    }
    run
}

#[test]
fn five_hundred_requests_are_repeated_to_the_byte() {
    let options = ServeOptions {
        pace: ClockPace::Held,
        seed: 3,
        config: ClusterConfig::with_nodes(4),
        ..ServeOptions::default()
    };
    let server = Server::start(options).unwrap();
    let at = server.address();
    let mut dice = Dice(11);
    for _ in 0..500 {
        act(at, &mut dice);
    }
    let text = String::from_utf8(get(at, "/loopscope/record").body).unwrap();
    let record = SavedRecord::read(&text).unwrap();
    assert!(record.commands.len() > 250, "{}", record.commands.len());
    let run = repeated(&record, usize::MAX);
    assert!(run.sim().store().list(k8s_model::Kind::Pod).count() > 0);
    let (own, theirs) = (whole(run.sim()), told(at));
    let different = own.iter().zip(&theirs).find(|(own, theirs)| own != theirs);
    assert_eq!((different, own.len()), (None, theirs.len()));
    let version = get(at, "/loopscope/time").json()["version"].as_u64();
    assert_eq!(Some(run.sim().store().version()), version);
    assert_eq!(
        whole(repeated(&record, 37).sim()),
        own,
        "however it is sliced"
    );
}

/// A page that follows the server from its beginning, and hears of each thing as it is done.
fn page_of(
    stream: std::io::BufReader<std::net::TcpStream>,
) -> std::thread::JoinHandle<Vec<String>> {
    let mut stream = stream;
    std::thread::spawn(move || {
        let mut lines = Vec::new();
        while let Some(piece) = chunk(&mut stream) {
            let text = String::from_utf8(piece).unwrap();
            let told = text
                .lines()
                .filter_map(|line| line.strip_prefix("data: "))
                .map(str::to_owned);
            lines.extend(told);
        }
        lines
    })
}

#[test]
fn a_page_that_follows_five_hundred_commands_is_equal_to_the_byte() {
    let server = Server::start(ServeOptions {
        pace: ClockPace::Held,
        seed: 9,
        ..ServeOptions::default()
    })
    .unwrap();
    let at = server.address();
    let mut stream = open(at, "GET", "/loopscope/record?follow=true", &[], b"");
    assert_eq!(head(&mut stream).0, 200);
    let page = page_of(stream);
    let mut dice = Dice(5);
    let mut waiting: Vec<u64> = Vec::new();
    for round in 0..500 {
        act(at, &mut dice);
        // Commands that wait, beside each other and in the terminal.
        if round % 10 == 0 {
            let line = [
                "drain node-2 --ignore-daemonsets --force",
                "uncordon node-2",
                "rollout status deployment/w1",
            ][dice.below(3) as usize];
            waiting.extend(
                post(at, "/loopscope/run", &json!({ "command": line })).json()["id"].as_u64(),
            );
            send(
                at,
                "POST",
                "/loopscope/kubectl",
                &[],
                b"delete pod -l app=w2 --wait",
            );
        }
        waiting.retain(|id| {
            post(at, &format!("/loopscope/run/{id}"), &Value::Null).json()["exit"].is_null()
        });
    }
    let (theirs, time) = (told(at), get(at, "/loopscope/time").json());
    let mut watch = String::new();
    for kind in ["/api/v1/pods", "/apis/apps/v1/replicasets", "/api/v1/nodes"] {
        let body = get(
            at,
            &format!("{kind}?watch=1&resourceVersion=1&timeoutSeconds=1"),
        )
        .body;
        watch += &String::from_utf8(body).unwrap();
    }
    // A pause between two looks at the clock, so that the last of it is told.
    pass(at, 1);
    drop(server);
    let mut state = State::from_link(Some(&Link {
        v: 1,
        manifest: Some(String::new()),
        ..Link::default()
    }));
    state.following = Some(Following::default());
    let lines = page.join().unwrap();
    assert!(lines.len() > 500, "{}", lines.len());
    for line in &lines {
        state.update(FollowMsg::Told(line.clone()));
        state.run_slice(300);
    }
    let end = Time((time["seconds"].as_f64().unwrap() * 1e6).round() as u64);
    while !state.timeline.run.advance(end, usize::MAX) {}
    let sim = state.timeline.run.sim();
    let own = whole(sim);
    let different = own.iter().zip(&theirs).find(|(own, theirs)| own != theirs);
    assert_eq!((different, own.len()), (None, theirs.len()));
    assert_eq!(
        (Some(sim.store().version()), sim.now()),
        (time["version"].as_u64(), end)
    );
    // What led there is the same as well.
    let writes = sim.journal().iter().filter_map(|entry| entry.write());
    let kinds = [Kind::Pod, Kind::ReplicaSet, Kind::Node];
    let own = writes
        .filter(|(_, object)| kinds.contains(&object.kind) && object.meta.resource_version > 1)
        .count();
    assert_eq!(own, watch.lines().count());
}

#[test]
fn a_cluster_is_kept_restored_and_forked() {
    let server = Server::start(ServeOptions {
        pace: ClockPace::Held,
        ..ServeOptions::default()
    })
    .unwrap();
    let at = server.address();
    let scale = |at: SocketAddr, count: u64| {
        let patch = json!({ "spec": { "replicas": count } }).to_string();
        send(
            at,
            "PATCH",
            "/apis/apps/v1/namespaces/default/deployments/web/scale",
            &[("content-type", "application/merge-patch+json")],
            patch.as_bytes(),
        )
    };
    assert_eq!(
        post(
            at,
            "/apis/apps/v1/namespaces/default/deployments",
            &workload("Deployment", "web", 2)
        )
        .code,
        201
    );
    pass(at, 10);
    assert_eq!(
        send(at, "PUT", "/loopscope/snapshots/ready", &[], b"").code,
        200
    );
    let (before, then) = (told(at), get(at, "/loopscope/time").json());
    let mut watch = open(
        at,
        "GET",
        "/api/v1/pods?watch=1&resourceVersion=1",
        &[],
        b"",
    );
    let mut page = open(at, "GET", "/loopscope/record?follow=true", &[], b"");
    assert_eq!((head(&mut watch).0, head(&mut page).0), (200, 200));
    assert_eq!(scale(at, 5).code, 200);
    pass(at, 10);
    let ahead = told(at);
    assert_ne!(ahead, before);
    // A second server goes its own way from here.
    let forked = post(at, "/loopscope/fork", &json!({})).json()["address"]
        .as_str()
        .unwrap()
        .to_owned();
    let other: SocketAddr = forked.strip_prefix("http://").unwrap().parse().unwrap();
    assert_eq!(told(other), ahead);
    assert_eq!(scale(other, 1).code, 200);
    pass(other, 40);
    assert_eq!(told(at), ahead);
    // Back to what was kept: who watches has to list again, and a page begins again.
    assert_eq!(
        post(at, "/loopscope/snapshots/ready", &Value::Null).code,
        200
    );
    assert_eq!(
        (told(at), get(at, "/loopscope/time").json()),
        (before, then)
    );
    let mut last = Value::Null;
    while let Some(piece) = chunk(&mut watch) {
        last = serde_json::from_slice(&piece).unwrap();
    }
    assert_eq!(
        (
            &last["type"],
            &last["object"]["code"],
            &last["object"]["reason"]
        ),
        (&json!("ERROR"), &json!(410), &json!("Expired"))
    );
    let mut heads = 0;
    while heads < 2 {
        heads += usize::from(
            String::from_utf8(chunk(&mut page).unwrap())
                .unwrap()
                .contains("\"record\":1"),
        );
    }
    // The same is done again, and the same comes of it.
    assert_eq!(scale(at, 5).code, 200);
    pass(at, 10);
    assert_eq!(told(at), ahead);
    assert_eq!(get(at, "/loopscope/snapshots").json()[0]["name"], "ready");
    assert_eq!(
        send(at, "DELETE", "/loopscope/snapshots/ready", &[], b"").code,
        200
    );
    for (method, name, code) in [
        ("POST", "ready", 404),
        ("DELETE", "ready", 404),
        ("PUT", "a%20b", 400),
        ("PATCH", "x", 405),
        ("PUT", "", 405),
    ] {
        assert_eq!(
            send(
                at,
                method,
                &format!("/loopscope/snapshots/{name}"),
                &[],
                b""
            )
            .code,
            code,
            "{method} {name}"
        );
    }
}

#[test]
fn a_record_is_gone_on_from() {
    let first = Server::start(ServeOptions {
        pace: ClockPace::Held,
        seed: 3,
        ..ServeOptions::default()
    })
    .unwrap();
    let mut dice = Dice(2);
    (0..60).for_each(|_| act(first.address(), &mut dice));
    let text = String::from_utf8(get(first.address(), "/loopscope/record").body).unwrap();
    let all = told(first.address());
    drop(first);
    let resumed = Server::start(ServeOptions {
        pace: ClockPace::Held,
        resume: Some(text.clone()),
        ..ServeOptions::default()
    })
    .unwrap();
    assert_eq!(told(resumed.address()), all);
    assert_eq!(
        String::from_utf8(get(resumed.address(), "/loopscope/record").body).unwrap(),
        text
    );
    let broken = ServeOptions {
        resume: Some(text.replacen("\n[", "\n{", 1)),
        ..ServeOptions::default()
    };
    assert!(
        Server::start(broken).is_err_and(|problem| problem.starts_with("line 2 of the record: "))
    );
}

#[test]
fn a_line_of_kubectl_runs_without_kubectl() {
    let server = Server::start(ServeOptions {
        pace: ClockPace::Held,
        ..ServeOptions::default()
    })
    .unwrap();
    let at = server.address();
    let run = |body: Value| post(at, "/loopscope/run", &body).json();
    let made = run(
        json!({ "command": "apply -f -", "stdin": workload("Deployment", "web", 2).to_string() }),
    );
    assert_eq!(
        (&made["stdout"], &made["stderr"], &made["exit"]),
        (
            &json!("deployment.apps/web created\n"),
            &json!(""),
            &json!(0)
        )
    );
    let waits = run(json!({ "command": ["rollout", "status", "deployment/web"] }));
    assert_eq!(waits["exit"], Value::Null);
    assert_eq!(
        post(at, "/loopscope/time", &json!({ "until": "settled" })).code,
        200
    );
    let ended = post(at, &format!("/loopscope/run/{}", waits["id"]), &Value::Null).json();
    assert_eq!(ended["exit"], 0);
    assert!(
        ended["stdout"]
            .as_str()
            .unwrap()
            .ends_with("deployment \"web\" successfully rolled out\n"),
        "{ended}"
    );
    assert_eq!(
        post(at, &format!("/loopscope/run/{}", waits["id"]), &Value::Null).code,
        404,
        "it has ended"
    );
    let failed = run(json!({ "command": "get pods nope" }));
    assert_eq!(
        (&failed["exit"], &failed["stderr"]),
        (
            &json!(1),
            &json!("Error from server (NotFound): pods \"nope\" not found\n")
        )
    );
    // Placeholders are those of scenarios.
    assert!(
        run(json!({ "command": "get pod {{pod:web:0}} -o name" }))["stdout"]
            .as_str()
            .unwrap()
            .starts_with("pod/web-")
    );
    assert_eq!(
        send(
            at,
            "POST",
            "/loopscope/fault",
            &[],
            b"exit pod/{{pod:web:0}} 1"
        )
        .code,
        200
    );
    assert_eq!(
        post(at, "/loopscope/run", &json!({ "command": 3 })).code,
        400
    );
    assert_eq!(send(at, "POST", "/loopscope/run", &[], b"{").code, 400);
    assert_eq!(post(at, "/loopscope/run/x", &Value::Null).code, 404);
}

#[test]
fn record_stream_and_file_get_each_action() {
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("kept.record");
    let options = ServeOptions {
        pace: ClockPace::Held,
        record: Some(file.clone()),
        ..ServeOptions::default()
    };
    let server = Server::start(options).unwrap();
    let at = server.address();
    let mut stream = open(at, "GET", "/loopscope/record?follow=true", &[], b"");
    assert_eq!(head(&mut stream).0, 200);
    let mut next = || String::from_utf8(chunk(&mut stream).unwrap()).unwrap();
    assert_eq!(next(), "data: {\"record\":1,\"seed\":1}\n\n");
    assert!(next().starts_with("data: ["), "the clock");
    let applied = "kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\n";
    assert_eq!(
        send(at, "POST", "/loopscope/apply", &[], applied.as_bytes()).json()["failed"],
        false
    );
    assert!(next().contains("{\"apply\":"), "what is applied");
    drop(server);
    let record = SavedRecord::read(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let run = repeated(&record, usize::MAX);
    assert!(
        run.sim()
            .store()
            .list(k8s_model::Kind::ConfigMap)
            .any(|map| map.meta.name == "a")
    );
}

#[test]
fn a_record_is_replayed_by_the_command_and_opens_as_a_link() {
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("linked.record");
    let config = ClusterConfig {
        epoch: k8s_model::Timestamp::new(1_800_000_000),
        ..ClusterConfig::with_nodes(4)
    };
    let options = ServeOptions {
        pace: ClockPace::Held,
        seed: 7,
        config,
        ..ServeOptions::default()
    };
    let server = Server::start(ServeOptions {
        record: Some(file.clone()),
        ..options
    })
    .unwrap();
    let at = server.address();
    let mut dice = Dice(23);
    (0..60).for_each(|_| act(at, &mut dice));
    pass(at, 1);
    let (theirs, time) = (told(at), get(at, "/loopscope/time").json());
    drop(server);
    let replay = |flags: &[&str]| {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_loopscope"))
            .arg("replay")
            .arg(&file)
            .args(flags)
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(replay(&[]).contains("deployment-controller"));
    let printed = replay(&["--link"]);
    let link = permalink::decode(printed.trim().strip_prefix("index.html").unwrap())
        .unwrap()
        .unwrap();
    let mut linked = State::from_link(Some(&link));
    linked.recall(&link);
    // The file, dropped on the editor of a page.
    let mut dropped = State::from_link(None);
    dropped.update(EditorMsg::Edit(std::fs::read_to_string(&file).unwrap()));
    let end = Time((time["seconds"].as_f64().unwrap() * 1e6).round() as u64);
    for mut state in [linked, dropped] {
        while state.timeline.run.is_replaying() {
            state.timeline.run.advance(end, usize::MAX);
        }
        assert_eq!(whole(state.timeline.run.sim()), theirs);
        assert_eq!(
            Some(state.timeline.run.sim().store().version()),
            time["version"].as_u64()
        );
    }
    let mut page = State::from_link(None);
    page.update(EditorMsg::Edit(
        "{\"record\":1,\"seed\":1}\n[1,2,{\"sing\":1}]\n".to_owned(),
    ));
    assert!(page.announcer.failed());
}

#[test]
fn a_cluster_without_nodes_is_repeated_without_them() {
    let config = ClusterConfig::with_nodes(0);
    let server = Server::start(ServeOptions {
        pace: ClockPace::Held,
        config,
        ..ServeOptions::default()
    })
    .unwrap();
    let at = server.address();
    assert_eq!(
        post(
            at,
            "/apis/apps/v1/namespaces/default/deployments",
            &workload("Deployment", "web", 2)
        )
        .code,
        201
    );
    pass(at, 10);
    let record =
        SavedRecord::read(&String::from_utf8(get(at, "/loopscope/record").body).unwrap()).unwrap();
    let run = repeated(&record, usize::MAX);
    assert_eq!(
        (run.sim().store().count(Kind::Node), whole(run.sim())),
        (0, told(at))
    );
}

/// The record of this server is a pipe, which cannot be written while nobody reads it.
#[test]
#[cfg(unix)]
fn a_write_that_cannot_be_recorded_is_refused() {
    let pipe = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("unrecorded-{}", std::process::id()));
    assert!(
        std::process::Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || std::fs::File::open(pipe).unwrap()
    });
    let options = ServeOptions {
        pace: ClockPace::Held,
        record: Some(pipe.clone()),
        ..ServeOptions::default()
    };
    let server = Server::start(options).unwrap();
    let at = server.address();
    let reader = reader.join().unwrap();
    assert_eq!(post(at, CONFIG_MAPS, &config_map("kept")).code, 201);
    drop(reader);
    let refused = post(at, CONFIG_MAPS, &config_map("lost"));
    assert_eq!(
        (refused.code, &refused.json()["reason"]),
        (500, &json!("InternalError"))
    );
    // What comes later would follow a hole.
    let _reader = std::fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open(&pipe)
        .unwrap();
    assert_eq!(post(at, CONFIG_MAPS, &config_map("later")).code, 500);
    assert_eq!(get(at, &format!("{CONFIG_MAPS}/kept")).code, 200);
    assert_eq!(get(at, &format!("{CONFIG_MAPS}/later")).code, 404);
    std::fs::remove_file(pipe).unwrap();
}
