//! Faults on clients: what the client named by a fault gets, and that others get what they ask for.

use crate::http::{Reply, chunk, get, head, open, pass, send};
use crate::{CONFIG_MAPS, config_map, server};
use apiserver::journal::Record;
use controller_runtime::cluster::ClusterConfig;
use serde_json::{Value, json};
use serve::{ClockPace, ServeOptions, Server};
use session::record::SavedRecord;
use std::io::{BufReader, Read};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

const OPERATOR: (&str, &str) = ("user-agent", "my-operator/v0.1 (linux/amd64)");
const OTHER: (&str, &str) = ("user-agent", "other/v1");

fn fault(at: SocketAddr, line: &str) {
    let reply = send(at, "POST", "/loopscope/fault", &[], line.as_bytes());
    assert_eq!(reply.code, 200, "{line}: {}", reply.json());
}

/// A request of the operator.
fn ask(at: SocketAddr, method: &str, target: &str, body: &Value) -> Reply {
    let kind = match method {
        "PATCH" => "application/merge-patch+json",
        _ => "application/json",
    };
    let body = match body {
        Value::Null => String::new(),
        body => body.to_string(),
    };
    let headers = [OPERATOR, ("content-type", kind)];
    send(at, method, target, &headers, body.as_bytes())
}

fn create(at: SocketAddr, name: &str) {
    let created = send(
        at,
        "POST",
        CONFIG_MAPS,
        &[OTHER],
        config_map(name).to_string().as_bytes(),
    );
    assert_eq!(created.code, 201);
}

/// A watch of the operator's on ConfigMaps, from now on.
fn watch(at: SocketAddr) -> BufReader<TcpStream> {
    let version = get(at, CONFIG_MAPS).json()["metadata"]["resourceVersion"].clone();
    watch_from(at, version.as_str().unwrap())
}

fn watch_from(at: SocketAddr, version: &str) -> BufReader<TcpStream> {
    let target = format!("{CONFIG_MAPS}?watch=true&resourceVersion={version}");
    let mut stream = open(at, "GET", &target, &[OPERATOR], b"");
    assert_eq!(head(&mut stream).0, 200);
    stream
}

/// The next event of a watch; `None` at its end.
fn event(stream: &mut BufReader<TcpStream>) -> Option<Value> {
    let piece = chunk(stream)?;
    Some(serde_json::from_slice(&piece).unwrap())
}

/// Returns true if nothing comes for a tenth of a second.
fn is_silent(stream: &BufReader<TcpStream>) -> bool {
    let wait = |span| stream.get_ref().set_read_timeout(Some(span)).unwrap();
    wait(Duration::from_millis(100));
    let silent = stream.buffer().is_empty() && stream.get_ref().peek(&mut [0]).is_err();
    wait(Duration::from_secs(60));
    silent
}

fn name(event: &Value) -> &str {
    event["object"]["metadata"]["name"].as_str().unwrap_or("")
}

#[test]
fn a_client_is_refused_as_often_as_a_fault_says() {
    let server = server();
    let at = server.address();
    fault(
        at,
        "client agent=my-operator resource=configmaps 429 retry-after 7 2 times",
    );
    let refused = ask(at, "GET", CONFIG_MAPS, &Value::Null);
    let wanted = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "reason": "TooManyRequests", "code": 429,
        "message": "Too many requests, please try again later.", "details": { "retryAfterSeconds": 7 },
    });
    assert_eq!((refused.code, refused.json()), (429, wanted));
    assert_eq!(refused.header("retry-after"), "7");
    // Another client, and another resource.
    assert_eq!(send(at, "GET", CONFIG_MAPS, &[OTHER], b"").code, 200);
    assert_eq!(ask(at, "GET", "/api/v1/pods", &Value::Null).code, 200);
    let line = "client agent=my-operator resource=configmaps 429 retry-after 7 2 times";
    let active = get(at, "/loopscope/fault").json();
    assert_eq!(active, json!([{ "fault": line, "hits": 1, "left": 1 }]));
    let metrics = String::from_utf8(get(at, "/metrics").body).unwrap();
    let counted = format!("loopscope_client_fault_hits{{fault=\"{line}\"}} 1\n");
    assert!(metrics.contains(&counted), "{metrics}");
    let codes = [1, 2].map(|_| ask(at, "GET", CONFIG_MAPS, &Value::Null).code);
    assert_eq!(codes, [429, 200]);
    assert_eq!(get(at, "/loopscope/fault").json(), json!([]));
}

#[test]
fn a_fault_ends_by_the_clock_or_when_it_is_switched_off() {
    let server = server();
    let at = server.address();
    let code = || ask(at, "GET", CONFIG_MAPS, &Value::Null).code;
    fault(at, "client verb=list 503 for 5s");
    assert_eq!(code(), 503);
    pass(at, 5);
    assert_eq!(code(), 200);
    fault(at, "client agent=my-operator 500");
    fault(at, "client user=kubernetes-admin 503");
    let refused = ask(at, "GET", CONFIG_MAPS, &Value::Null);
    assert_eq!(
        (refused.code, &refused.json()["reason"]),
        (500, &json!("InternalError"))
    );
    fault(at, "client agent=my-operator off");
    assert_eq!(code(), 503);
    fault(at, "client all off");
    assert_eq!(code(), 200);
    let unknown = send(at, "POST", "/loopscope/fault", &[], b"client 429");
    assert_eq!(unknown.code, 400);
}

#[test]
fn an_update_conflicts_and_the_next_one_does_not() {
    let server = server();
    let at = server.address();
    create(at, "one");
    fault(
        at,
        "client agent=my-operator resource=configmaps 409 2 times",
    );
    let target = format!("{CONFIG_MAPS}/one");
    let object = ask(at, "GET", &target, &Value::Null).json();
    let conflict = ask(at, "PUT", &target, &object);
    let status = conflict.json();
    assert_eq!(
        (conflict.code, &status["reason"]),
        (409, &json!("Conflict"))
    );
    assert_eq!(
        status["message"],
        "Operation cannot be fulfilled on configmaps \"one\": the object has been modified; please apply your changes to the latest \
         version and try again"
    );
    assert_eq!(
        status["details"],
        json!({ "name": "one", "kind": "configmaps" })
    );
    let change = json!({ "data": { "k": "w" } });
    assert_eq!(ask(at, "PATCH", &target, &change).code, 409);
    assert_eq!(ask(at, "PUT", &target, &object).code, 200);
}

#[test]
fn a_write_that_times_out_is_committed() {
    let server = server();
    let at = server.address();
    fault(at, "client agent=my-operator timeout-after-commit 1 times");
    let lost = ask(at, "POST", CONFIG_MAPS, &config_map("one"));
    let status = lost.json();
    assert_eq!((lost.code, &status["reason"]), (504, &json!("Timeout")));
    assert_eq!(
        status["message"],
        "Timeout: request did not complete within the allotted timeout"
    );
    let again = ask(at, "POST", CONFIG_MAPS, &config_map("one"));
    assert_eq!(again.json()["reason"], "AlreadyExists");
}

#[test]
fn a_request_is_answered_late_or_not_at_all() {
    let server = server();
    let at = server.address();
    fault(at, "client agent=my-operator slow 300ms 1 times");
    let mut stream = open(at, "GET", CONFIG_MAPS, &[OPERATOR], b"");
    assert!(is_silent(&stream), "it is answered after 300 ms");
    assert_eq!(head(&mut stream).0, 200);
    fault(at, "client agent=my-operator disconnect 1 times");
    let mut stream = open(at, "GET", CONFIG_MAPS, &[OPERATOR], b"");
    let mut answer = Vec::new();
    // The connection may be closed or reset.
    let _ = stream.read_to_end(&mut answer);
    assert_eq!(answer, b"");
    assert_eq!(ask(at, "GET", CONFIG_MAPS, &Value::Null).code, 200);
}

#[test]
fn an_event_of_a_watch_is_lost_or_comes_later_and_in_order() {
    let server = server();
    let at = server.address();
    let mut stream = watch(at);
    fault(
        at,
        "client agent=my-operator resource=configmaps lose 1 times",
    );
    for name in ["lost", "seen"] {
        create(at, name);
    }
    assert_eq!(event(&mut stream).as_ref().map(name), Some("seen"));
    fault(
        at,
        "client agent=my-operator resource=configmaps delay 3s 1 times",
    );
    for name in ["first", "second"] {
        create(at, name);
    }
    // Another client's watch has both already.
    let version = get(at, CONFIG_MAPS).json()["metadata"]["resourceVersion"].clone();
    let since = version.as_str().unwrap().parse::<u64>().unwrap() - 2;
    let target = format!("{CONFIG_MAPS}?watch=true&resourceVersion={since}");
    let mut other = open(at, "GET", &target, &[OTHER], b"");
    head(&mut other);
    assert_eq!(event(&mut other).as_ref().map(name), Some("first"));
    pass(at, 2);
    assert!(is_silent(&stream), "the event is not due");
    pass(at, 1);
    for expected in ["first", "second"] {
        assert_eq!(event(&mut stream).as_ref().map(name), Some(expected));
    }
}

#[test]
fn a_watch_expires_and_so_does_a_list_that_continues() {
    let server = server();
    let at = server.address();
    for name in ["one", "two"] {
        create(at, name);
    }
    let version = get(at, CONFIG_MAPS).json()["metadata"]["resourceVersion"].clone();
    let mut stream = watch(at);
    fault(at, "client agent=my-operator 410 3 times");
    let ended = event(&mut stream).unwrap();
    assert_eq!(
        (
            &ended["type"],
            &ended["object"]["code"],
            &ended["object"]["reason"]
        ),
        (&json!("ERROR"), &json!(410), &json!("Expired"))
    );
    assert_eq!(event(&mut stream), None);
    // A watch from a resourceVersion begins with the error.
    let mut stream = watch_from(at, version.as_str().unwrap());
    let ended = event(&mut stream).unwrap();
    assert_eq!(
        (&ended["type"], &ended["object"]["code"]),
        (&json!("ERROR"), &json!(410))
    );
    let page = ask(at, "GET", &format!("{CONFIG_MAPS}?limit=1"), &Value::Null).json();
    let next = page["metadata"]["continue"].as_str().unwrap();
    let next = format!("{CONFIG_MAPS}?limit=1&continue={next}");
    let expired = ask(at, "GET", &next, &Value::Null);
    assert_eq!(
        (expired.code, &expired.json()["reason"]),
        (410, &json!("Expired"))
    );
    assert_eq!(ask(at, "GET", &next, &Value::Null).code, 200);
}

#[test]
fn watches_resume_after_a_restart_of_the_api_server() {
    let server = server();
    let at = server.address();
    create(at, "before");
    let version = get(at, CONFIG_MAPS).json()["metadata"]["resourceVersion"].clone();
    let mut stream = watch(at);
    fault(at, "client all disconnect for 5s");
    assert_eq!(event(&mut stream), None);
    let mut dropped = open(at, "GET", "/api", &[OTHER], b"");
    let mut answer = Vec::new();
    let _ = dropped.read_to_end(&mut answer);
    assert_eq!(answer, b"");
    pass(at, 5);
    create(at, "after");
    let mut stream = watch_from(at, version.as_str().unwrap());
    assert_eq!(event(&mut stream).as_ref().map(name), Some("after"));
}

/// The codes of forty requests of which a fault refuses some.
fn refused_share(seed: u64) -> Vec<u16> {
    let server = Server::start(ServeOptions {
        pace: ClockPace::Held,
        seed,
        ..ServeOptions::default()
    })
    .unwrap();
    let at = server.address();
    fault(at, "client agent=my-operator 503 30%");
    (0..40)
        .map(|_| ask(at, "GET", CONFIG_MAPS, &Value::Null).code)
        .collect()
}

#[test]
fn the_seed_decides_which_share_of_requests_is_hit() {
    let codes = refused_share(1);
    let refused = codes.iter().filter(|code| **code == 503).count();
    assert!((4..=20).contains(&refused), "{codes:?}");
    assert_eq!(refused_share(1), codes);
    assert_ne!(refused_share(2), codes);
}

#[test]
fn a_record_repeats_what_faults_did_to_clients() {
    let server = server();
    let at = server.address();
    fault(at, "client agent=my-operator 409 50% 3 times");
    create(at, "one");
    let target = format!("{CONFIG_MAPS}/one");
    let change = json!({ "data": { "k": "w" } });
    let mut refused = 0;
    while refused < 2 {
        refused += usize::from(ask(at, "PATCH", &target, &change).code == 409);
    }
    let record = String::from_utf8(get(at, "/loopscope/record").body).unwrap();
    let saved = SavedRecord::read(&record).unwrap_or_else(|_| panic!("{record}"));
    let sim = cluster::Sim::new(ClusterConfig::default(), saved.seed);
    let mut point = session::Checkpoint::new(sim);
    while !point.replay(&saved.commands, saved.end.1, saved.end.0, usize::MAX) {}
    let hits: Vec<_> = point
        .host
        .sim
        .journal()
        .iter()
        .filter_map(|entry| match &entry.record {
            Record::ClientFault(hit) => Some((entry, hit.clone())),
            _ => None,
        })
        .collect();
    assert_eq!(hits.len(), 2);
    let (entry, hit) = &hits[0];
    assert_eq!(hit.call.client(), "my-operator");
    assert_eq!(hit.call.line, format!("PATCH {target}"));
    let caused = point.host.sim.journal().get(entry.cause.unwrap() as usize);
    assert!(caused.is_some_and(|fault| fault.fault().is_some()));
    assert_eq!(
        explain::effect::effect(entry).english(),
        format!("PATCH {target} was hit by the fault client agent=my-operator 409 50% 3 times")
    );
    assert_eq!(explain::words::actor(entry).0.english(), "my-operator");
    // A server that resumes the record goes on with the same decisions.
    let resumed = Server::start(ServeOptions {
        pace: ClockPace::Held,
        resume: Some(record),
        ..ServeOptions::default()
    })
    .unwrap();
    let state = |at| get(at, "/loopscope/fault").json();
    assert_eq!(state(resumed.address()), state(at));
    let next = |at| [0; 6].map(|_: u16| ask(at, "PATCH", &target, &change).code);
    assert_eq!(next(resumed.address()), next(at));
}
