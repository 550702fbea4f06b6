//! What is done to a served cluster, repeated elsewhere to the byte.

use crate::http::{chunk, get, head, open, pass, post, send};
use loopscope::engine::Sim;
use loopscope::serve::{Options, Pace, Server};
use loopscope::session::record::Record;
use loopscope::session::run::Run;
use serde_json::{Value, json};
use std::net::SocketAddr;

/// Small numbers in a sequence.
struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
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
    let (kind, plural) = if dice.below(2) == 0 { ("Deployment", "deployments") } else { ("StatefulSet", "statefulsets") };
    let all = format!("/apis/apps/v1/namespaces/default/{plural}");
    let name = format!("w{}", dice.below(4));
    let merge = [("content-type", "application/merge-patch+json"), ("user-agent", "kubectl/v1.36.3")];
    let pods = |dice: &mut Dice| -> Option<String> {
        let pods = get(at, "/api/v1/namespaces/default/pods").json();
        let pods = pods["items"].as_array().unwrap();
        let pod = pods.get(dice.below(pods.len().max(1) as u64) as usize)?;
        Some(format!("/api/v1/namespaces/default/pods/{}", pod["metadata"]["name"].as_str().unwrap()))
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
    loopscope::api::kind::all().flat_map(|kind| sim.list(kind)).map(|object| object.to_value()).collect()
}

/// The same as the server tells it.
fn told(at: SocketAddr) -> Vec<Value> {
    let kinds = loopscope::api::kind::all().filter(|kind| !kind.info().plural.is_empty());
    let lists = kinds.flat_map(|kind| {
        let (info, version) = (kind.info(), kind.api_version());
        let root = if info.group.is_empty() { "/api/" } else { "/apis/" };
        let list = get(at, &format!("{root}{version}/{}", info.plural)).json();
        let items = list["items"].as_array().unwrap_or_else(|| panic!("{list}")).clone();
        items.into_iter().map(move |mut item| {
            item["apiVersion"] = version.to_string().into();
            item["kind"] = info.name.into();
            item
        })
    });
    lists.collect()
}

fn repeated(record: &Record, budget: usize) -> Run {
    let mut run = Run::recalled(record.config.clone(), record.seed, record.commands.clone(), record.end);
    while run.recalls() {
        run.advance(record.end.1, budget);
    }
    run
}

#[test]
fn five_hundred_requests_are_repeated_to_the_byte() {
    let options =
        Options { pace: Pace::Held, seed: 3, config: loopscope::engine::cluster::ClusterConfig::with_nodes(4), ..Options::default() };
    let server = Server::start(options).unwrap();
    let at = server.address();
    let mut dice = Dice(11);
    for _ in 0..500 {
        act(at, &mut dice);
    }
    let text = String::from_utf8(get(at, "/loopscope/record").body).unwrap();
    let record = Record::read(&text).unwrap();
    assert!(record.commands.len() > 250, "{}", record.commands.len());
    let run = repeated(&record, usize::MAX);
    assert!(run.sim().list(loopscope::api::Kind::Pod).count() > 0);
    let (own, theirs) = (whole(run.sim()), told(at));
    let different = own.iter().zip(&theirs).find(|(own, theirs)| own != theirs);
    assert_eq!((different, own.len()), (None, theirs.len()));
    let version = get(at, "/loopscope/time").json()["version"].as_u64();
    assert_eq!(Some(run.sim().server().version()), version);
    assert_eq!(whole(repeated(&record, 37).sim()), own, "however it is sliced");
}

#[test]
fn what_is_done_is_told_as_it_is_done_and_kept_in_a_file() {
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("kept.record");
    let options = Options { pace: Pace::Held, record: Some(file.clone()), ..Options::default() };
    let server = Server::start(options).unwrap();
    let at = server.address();
    let mut stream = open(at, "GET", "/loopscope/record?follow=true", &[], b"");
    assert_eq!(head(&mut stream).0, 200);
    let mut next = || String::from_utf8(chunk(&mut stream).unwrap()).unwrap();
    assert_eq!(next(), "data: {\"record\":1,\"seed\":1}\n\n");
    assert!(next().starts_with("data: ["), "the clock");
    let applied = "kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\n";
    assert_eq!(send(at, "POST", "/loopscope/apply", &[], applied.as_bytes()).json()["failed"], false);
    assert!(next().contains("{\"apply\":"), "what is applied");
    drop(server);
    let record = Record::read(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let run = repeated(&record, usize::MAX);
    assert!(run.sim().list(loopscope::api::Kind::ConfigMap).any(|map| map.meta.name == "a"));
}
