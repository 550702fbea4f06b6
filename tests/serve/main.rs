//! `loopscope serve`: what clients send over HTTP, and what they get.

mod admission;
mod api;
mod clients;
mod command;
mod discovery;
mod environment;
mod explain;
mod go;
mod http;
mod kube_rs;
mod kubectl;
mod live;
mod load;
mod mended;
mod options;
mod protobuf;
mod python;
mod record;
mod selectors;
mod strategies;
mod subresources;

use http::{Reply, chunk, get, head, open, pass, post, send};
use serde_json::{Value, json};
use serve::{ClockPace, ServeOptions, Server};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// A server whose clock stands still unless a test moves it.
fn server() -> Server {
    Server::start(ServeOptions {
        pace: ClockPace::Held,
        ..ServeOptions::default()
    })
    .unwrap()
}

fn deployment(name: &str, replicas: u32) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": name },
        "spec": { "replicas": replicas, "selector": { "matchLabels": { "app": name } }, "template": {
            "metadata": { "labels": { "app": name } }, "spec": { "containers": [{ "name": "c", "image": "nginx" }] },
        } },
    })
}

const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";

fn config_map(name: &str) -> Value {
    json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": name }, "data": { "k": "v" } })
}

fn patch(address: SocketAddr, target: &str, kind: &str, body: &Value) -> Reply {
    send(
        address,
        "PATCH",
        target,
        &[("content-type", kind)],
        body.to_string().as_bytes(),
    )
}

#[test]
fn a_deployment_is_created_runs_and_is_scaled() {
    let server = server();
    let at = server.address();
    let created = post(
        at,
        &format!("{DEPLOYMENTS}?fieldManager=test"),
        &deployment("web", 2),
    );
    assert_eq!(created.code, 201);
    assert_eq!(
        created.json()["metadata"]["managedFields"][0]["manager"],
        "test"
    );
    pass(at, 10);
    let pods = get(at, "/api/v1/namespaces/default/pods?labelSelector=app%3Dweb&fieldSelector=status.phase%3DRunning").json();
    assert_eq!(pods["kind"], "PodList");
    assert_eq!(pods["items"].as_array().map(Vec::len), Some(2));
    assert_eq!(pods["items"][0].get("kind"), None);
    let scale = get(at, &format!("{DEPLOYMENTS}/web/scale")).json();
    assert_eq!(
        (
            &scale["kind"],
            &scale["status"]["replicas"],
            &scale["status"]["selector"]
        ),
        (&json!("Scale"), &json!(2), &json!("app=web"))
    );
    let scaled = patch(
        at,
        &format!("{DEPLOYMENTS}/web/scale"),
        "application/merge-patch+json",
        &json!({ "spec": { "replicas": 3 } }),
    );
    assert_eq!(
        (scaled.code, &scaled.json()["spec"]["replicas"]),
        (200, &json!(3))
    );
    pass(at, 10);
    assert_eq!(
        get(at, &format!("{DEPLOYMENTS}/web")).json()["status"]["readyReplicas"],
        3
    );
}

#[test]
fn refusals_are_status_objects() {
    let server = server();
    let at = server.address();
    let missing = get(at, &format!("{DEPLOYMENTS}/nope"));
    let wanted = json!({ "name": "nope", "group": "apps", "kind": "deployments" });
    let status = missing.json();
    assert_eq!(
        (missing.code, &status["reason"], &status["details"]),
        (404, &json!("NotFound"), &wanted)
    );
    let mut bad = deployment("bad", 1);
    bad["metadata"]["name"] = json!("Bad_");
    bad["spec"]["replicas"] = json!(-1);
    let invalid = post(at, DEPLOYMENTS, &bad);
    let causes = invalid.json()["details"]["causes"].clone();
    let fields: Vec<&str> = causes
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|cause| cause["field"].as_str())
        .collect();
    assert_eq!(
        (invalid.code, fields),
        (422, vec!["metadata.name", "spec.replicas"])
    );
    assert_eq!(post(at, DEPLOYMENTS, &deployment("web", 1)).code, 201);
    assert_eq!(
        post(at, DEPLOYMENTS, &deployment("web", 1)).json()["reason"],
        "AlreadyExists"
    );
    // An update from an old version.
    let mut old = get(at, &format!("{DEPLOYMENTS}/web")).json();
    assert_eq!(
        patch(
            at,
            &format!("{DEPLOYMENTS}/web"),
            "application/merge-patch+json",
            &json!({ "metadata": { "labels": { "a": "b" } } })
        )
        .code,
        200
    );
    old["spec"]["replicas"] = json!(5);
    let conflict = send(
        at,
        "PUT",
        &format!("{DEPLOYMENTS}/web"),
        &[],
        old.to_string().as_bytes(),
    );
    assert_eq!(
        (conflict.code, conflict.json()["reason"].clone()),
        (409, json!("Conflict"))
    );
    // Another namespace than that of the path.
    let mut far = deployment("far", 1);
    far["metadata"]["namespace"] = json!("far");
    assert_eq!(post(at, DEPLOYMENTS, &far).code, 400);
}

#[test]
fn hostile_requests_get_a_status() {
    let server = server();
    let at = server.address();
    let code = |method: &str, target: &str, headers: &[(&str, &str)], body: &[u8]| {
        let reply = send(at, method, target, headers, body);
        // An unknown path has no Status, as upstream.
        if reply.body != b"404 page not found\n" {
            assert_eq!(reply.json()["kind"], "Status", "{method} {target}");
        }
        reply.code
    };
    assert_eq!(code("POST", DEPLOYMENTS, &[], b"{\"kind\":"), 400);
    assert_eq!(code("POST", DEPLOYMENTS, &[], b"[1, 2]"), 400);
    assert_eq!(code("POST", DEPLOYMENTS, &[], b"\xff\xfe"), 400);
    for body in [&b"\"x\""[..], b"true", b"7", b"[]"] {
        for target in [
            "/api/v1/namespaces/default/serviceaccounts/default/token",
            "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
            "/api/v1/namespaces/default/pods/web/eviction",
            "/loopscope/time",
            "/loopscope/run",
        ] {
            assert_eq!(code("POST", target, &[], body), 400, "{target}");
        }
    }
    assert_eq!(
        code(
            "POST",
            DEPLOYMENTS,
            &[("content-type", "application/cbor")],
            b"x"
        ),
        415
    );
    assert_eq!(
        code(
            "POST",
            DEPLOYMENTS,
            &[("content-type", "application/vnd.kubernetes.protobuf")],
            b"k8s\0\x12\xff"
        ),
        400
    );
    assert_eq!(
        code(
            "GET",
            DEPLOYMENTS,
            &[("accept", "application/vnd.kubernetes.protobuf")],
            b""
        ),
        406
    );
    assert_eq!(
        code("GET", "/apis/apps/v1/namespaces/default/boats", &[], b""),
        404
    );
    assert_eq!(
        code(
            "GET",
            "/apis/apps/v9/namespaces/default/deployments",
            &[],
            b""
        ),
        404
    );
    assert_eq!(code("GET", "/%ff/../etc/passwd", &[], b""), 404);
    assert_eq!(code("BREW", DEPLOYMENTS, &[], b""), 405);
    assert_eq!(
        code(
            "GET",
            &format!("{DEPLOYMENTS}?labelSelector=a+in+b"),
            &[],
            b""
        ),
        400
    );
    assert_eq!(
        code("GET", &format!("{DEPLOYMENTS}?resourceVersion=x"), &[], b""),
        400
    );
    assert_eq!(
        code(
            "GET",
            &format!("{DEPLOYMENTS}?resourceVersion=99999999"),
            &[],
            b""
        ),
        504
    );
    assert_eq!(
        code(
            "GET",
            &format!("{DEPLOYMENTS}?limit=1&continue=zzz"),
            &[],
            b""
        ),
        400
    );
    assert_eq!(
        code("POST", CONFIG_MAPS, &[], &vec![b' '; 3 * 1024 * 1024 + 1]),
        413
    );
    assert_eq!(
        code(
            "PATCH",
            &format!("{DEPLOYMENTS}/web"),
            &[("content-type", "text/plain")],
            b"{}"
        ),
        415
    );
    assert_eq!(
        code("POST", "/loopscope/time", &[], b"{\"seconds\": 1e99}"),
        400
    );
    assert_eq!(code("POST", "/loopscope/fault", &[], b"no-such-fault"), 400);
    assert_eq!(
        code(
            "GET",
            DEPLOYMENTS,
            &[("origin", "http://evil.example")],
            b""
        ),
        403
    );
    // Half a request, and a client that leaves, concern nobody else.
    let mut half = TcpStream::connect(at).unwrap();
    half.write_all(b"POST /api/v1/namesp").unwrap();
    drop(open(at, "GET", "/api/v1/pods?watch=1", &[], b""));
    assert_eq!(get(at, "/readyz").body, b"ok");
}

#[test]
fn only_this_machine_may_connect_without_a_token() {
    let options = || ServeOptions {
        pace: ClockPace::Held,
        ..ServeOptions::default()
    };
    let open = ServeOptions {
        listen: SocketAddr::from(([0, 0, 0, 0], 0)),
        ..options()
    };
    assert!(Server::start(open).is_err_and(|problem| problem.contains("--token")));
    let named = server();
    let mut stream = TcpStream::connect(named.address()).unwrap();
    stream
        .write_all(b"GET /api HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n")
        .unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    assert!(text.starts_with("HTTP/1.1 403"), "{text}");
    let guarded = Server::start(ServeOptions {
        token: Some("secret".to_owned()),
        ..options()
    })
    .unwrap();
    assert_eq!(get(guarded.address(), "/api").code, 401);
    assert_eq!(
        send(
            guarded.address(),
            "GET",
            "/api",
            &[("authorization", "Bearer secret")],
            b""
        )
        .code,
        200
    );
}

/// The next event of a watch.
fn event(stream: &mut std::io::BufReader<TcpStream>) -> (String, Value) {
    let piece = chunk(stream).expect("an event");
    let value: Value = serde_json::from_slice(&piece).unwrap();
    (
        value["type"].as_str().unwrap().to_owned(),
        value["object"].clone(),
    )
}

#[test]
fn a_watch_sends_initial_objects_and_later_events() {
    let server = server();
    let at = server.address();
    assert_eq!(post(at, CONFIG_MAPS, &config_map("one")).code, 201);
    let target = format!(
        "{CONFIG_MAPS}?watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan"
    );
    let mut watch = open(at, "GET", &target, &[], b"");
    assert_eq!(head(&mut watch).0, 200);
    let mut names = Vec::new();
    loop {
        let (what, object) = event(&mut watch);
        if what == "BOOKMARK" {
            assert_eq!(
                object["metadata"]["annotations"]["k8s.io/initial-events-end"],
                "true"
            );
            break;
        }
        assert_eq!(what, "ADDED");
        names.push(object["metadata"]["name"].as_str().unwrap().to_owned());
    }
    assert!(names.contains(&"one".to_owned()));
    assert_eq!(post(at, CONFIG_MAPS, &config_map("two")).code, 201);
    let (what, two) = event(&mut watch);
    assert_eq!(
        (what.as_str(), &two["metadata"]["name"]),
        ("ADDED", &json!("two"))
    );
    // It goes on where another ended.
    let version = two["metadata"]["resourceVersion"].as_str().unwrap();
    assert_eq!(
        send(at, "DELETE", &format!("{CONFIG_MAPS}/two"), &[], b"").code,
        200
    );
    let mut later = open(
        at,
        "GET",
        &format!("{CONFIG_MAPS}?watch=1&resourceVersion={version}"),
        &[],
        b"",
    );
    assert_eq!(head(&mut later).0, 200);
    assert_eq!(event(&mut later).0, "DELETED");
    assert_eq!(event(&mut watch).0, "DELETED");
}

#[test]
fn a_watch_sends_deleted_for_objects_no_longer_selected() {
    let server = server();
    let at = server.address();
    let mut watch = open(
        at,
        "GET",
        &format!("{CONFIG_MAPS}?watch=1&labelSelector=a%3Db&timeoutSeconds=2"),
        &[],
        b"",
    );
    assert_eq!(head(&mut watch).0, 200);
    assert_eq!(post(at, CONFIG_MAPS, &config_map("one")).code, 201);
    let label = |value: Value| {
        patch(
            at,
            &format!("{CONFIG_MAPS}/one"),
            "application/merge-patch+json",
            &json!({ "metadata": { "labels": { "a": value } } }),
        )
    };
    assert_eq!(label(json!("b")).code, 200);
    assert_eq!(label(json!("c")).code, 200);
    assert_eq!(event(&mut watch).0, "ADDED");
    assert_eq!(event(&mut watch).0, "DELETED");
    // It ends when its time is over.
    assert_eq!(chunk(&mut watch), None);
}

#[test]
fn server_side_apply_reports_conflicts_and_dry_run_writes_nothing() {
    let server = server();
    let at = server.address();
    let apply = |manager: &str, more: &str, value: &str| {
        let body = format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: one}}\ndata: {{k: {value}}}\n"
        );
        let target = format!("{CONFIG_MAPS}/one?fieldManager={manager}{more}");
        send(
            at,
            "PATCH",
            &target,
            &[("content-type", "application/apply-patch+yaml")],
            body.as_bytes(),
        )
    };
    assert_eq!(apply("a", "&dryRun=All", "v").code, 201);
    assert_eq!(get(at, &format!("{CONFIG_MAPS}/one")).code, 404);
    assert_eq!(apply("a", "", "v").code, 201);
    assert_eq!(apply("a", "", "w").code, 200);
    assert_eq!(apply("b", "", "x").code, 409);
    assert_eq!(apply("b", "&force=true", "x").json()["data"]["k"], "x");
    assert_eq!(apply("", "", "x").code, 422);
}

#[test]
fn unknown_fields_are_refused_or_warned_of() {
    let server = server();
    let at = server.address();
    let mut odd = config_map("one");
    odd["extra"] = json!(1);
    assert_eq!(
        post(at, &format!("{CONFIG_MAPS}?fieldValidation=Strict"), &odd).code,
        400
    );
    let warned = post(at, CONFIG_MAPS, &odd);
    assert_eq!(
        (warned.code, warned.header("warning")),
        (201, "299 - \"unknown field \\\"extra\\\"\"")
    );
}

#[test]
fn lists_come_in_pages_as_tables_and_as_metadata() {
    let server = server();
    let at = server.address();
    for name in ["a", "b", "c", "d", "e"] {
        let mut map = config_map(name);
        map["metadata"]["labels"] = json!({ "own": "yes" });
        assert_eq!(post(at, CONFIG_MAPS, &map).code, 201);
    }
    let (mut token, mut names) = (String::new(), Vec::new());
    loop {
        let page = get(
            at,
            &format!("{CONFIG_MAPS}?labelSelector=own&limit=2&continue={token}"),
        )
        .json();
        names.extend(
            page["items"]
                .as_array()
                .unwrap()
                .iter()
                .map(|item| item["metadata"]["name"].as_str().unwrap().to_owned()),
        );
        match page["metadata"]["continue"].as_str() {
            Some(next) => token = next.to_owned(),
            None => break,
        }
    }
    assert_eq!(names, ["a", "b", "c", "d", "e"]);
    let table = send(
        at,
        "GET",
        CONFIG_MAPS,
        &[(
            "accept",
            "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
        )],
        b"",
    )
    .json();
    let titles: Vec<&str> = table["columnDefinitions"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|column| column["name"].as_str())
        .collect();
    assert_eq!(
        (table["kind"].as_str(), titles),
        (Some("Table"), vec!["Name", "Data", "Age"])
    );
    let partial = send(
        at,
        "GET",
        &format!("{CONFIG_MAPS}/a"),
        &[(
            "accept",
            "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
        )],
        b"",
    );
    assert_eq!(
        (partial.json()["kind"].as_str(), partial.json().get("data")),
        (Some("PartialObjectMetadata"), None)
    );
}

#[test]
fn custom_resources_are_served_under_their_group() {
    let server = server();
    let at = server.address();
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": { "name": "boats.example.com" },
        "spec": { "group": "example.com", "scope": "Namespaced", "names": { "plural": "boats", "singular": "boat", "kind": "Boat" },
            "versions": [{ "name": "v1", "served": true, "storage": true, "schema": { "openAPIV3Schema": {
                "type": "object", "properties": { "spec": { "type": "object", "properties": { "oars": { "type": "integer" } } } },
            } } }] },
    });
    assert_eq!(get(at, "/apis/example.com/v1").code, 404);
    assert_eq!(
        post(
            at,
            "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
            &definition
        )
        .code,
        201
    );
    pass(at, 2);
    assert_eq!(
        get(at, "/apis/example.com/v1").json()["resources"][0]["kind"],
        "Boat"
    );
    let boats = "/apis/example.com/v1/namespaces/default/boats";
    let boat = json!({ "apiVersion": "example.com/v1", "kind": "Boat", "metadata": { "name": "one" }, "spec": { "oars": 2 } });
    assert_eq!(post(at, boats, &boat).code, 201);
    assert_eq!(get(at, boats).json()["items"][0]["spec"]["oars"], 2);
    let fields = get(at, "/openapi/v3/apis/example.com/v1").json();
    assert_eq!(
        fields["components"]["schemas"]["com.example.v1.Boat"]["x-kubernetes-group-version-kind"]
            [0]["kind"],
        "Boat"
    );
}

#[test]
fn a_budget_refuses_an_eviction() {
    let server = server();
    let at = server.address();
    assert_eq!(post(at, DEPLOYMENTS, &deployment("web", 1)).code, 201);
    let budget = json!({
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": { "name": "web" },
        "spec": { "minAvailable": 1, "selector": { "matchLabels": { "app": "web" } } },
    });
    assert_eq!(
        post(
            at,
            "/apis/policy/v1/namespaces/default/poddisruptionbudgets",
            &budget
        )
        .code,
        201
    );
    pass(at, 20);
    let pods = get(at, "/api/v1/namespaces/default/pods").json();
    let name = pods["items"][0]["metadata"]["name"]
        .as_str()
        .unwrap()
        .to_owned();
    let eviction = json!({ "apiVersion": "policy/v1", "kind": "Eviction", "metadata": { "name": name, "namespace": "default" } });
    let refused = post(
        at,
        &format!("/api/v1/namespaces/default/pods/{name}/eviction"),
        &eviction,
    );
    assert_eq!(
        (
            refused.code,
            refused.json()["details"]["causes"][0]["reason"].clone()
        ),
        (429, json!("DisruptionBudget"))
    );
}

#[test]
fn impersonated_users_are_authorized() {
    let server = server();
    let at = server.address();
    let jane = [
        ("impersonate-user", "jane"),
        ("content-type", "application/json"),
    ];
    assert_eq!(send(at, "GET", CONFIG_MAPS, &jane, b"").code, 403);
    assert_eq!(
        send(
            at,
            "POST",
            CONFIG_MAPS,
            &jane,
            config_map("one").to_string().as_bytes()
        )
        .code,
        403
    );
    let review = json!({ "spec": { "resourceAttributes": { "verb": "get", "resource": "pods", "namespace": "default" } } });
    let target = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    assert_eq!(
        send(at, "POST", target, &jane, review.to_string().as_bytes()).json()["status"]["allowed"],
        false
    );
    assert_eq!(post(at, target, &review).json()["status"]["allowed"], true);
}

#[test]
fn slow_watches_do_not_block_other_clients() {
    let server = server();
    let at = server.address();
    let watches: Vec<_> = (0..1_000)
        .map(|_| {
            let mut watch = open(
                at,
                "GET",
                &format!("{CONFIG_MAPS}?watch=1&resourceVersion=1"),
                &[],
                b"",
            );
            assert_eq!(head(&mut watch).0, 200);
            watch
        })
        .collect();
    std::thread::scope(|scope| {
        for index in 0..100 {
            scope.spawn(move || {
                assert_eq!(
                    post(at, CONFIG_MAPS, &config_map(&format!("m{index}"))).code,
                    201
                )
            });
        }
    });
    for mut watch in watches {
        let seen = (0..100).filter(|_| event(&mut watch).0 == "ADDED").count();
        assert_eq!(seen, 100);
    }
}

#[test]
fn a_fault_is_injected_and_a_clock_that_runs_goes_on() {
    let held = server();
    let at = held.address();
    assert_eq!(
        send(at, "POST", "/loopscope/fault", &[], b"node-down node-1").code,
        200
    );
    pass(at, 120);
    let node = get(at, "/api/v1/nodes/node-1").json();
    let ready = node["status"]["conditions"]
        .as_array()
        .unwrap()
        .iter()
        .find(|condition| condition["type"] == "Ready")
        .unwrap();
    assert_eq!(ready["status"], "Unknown");
    for pace in [ClockPace::Real(100.0), ClockPace::Leap] {
        let running = Server::start(ServeOptions {
            pace,
            ..ServeOptions::default()
        })
        .unwrap();
        assert_eq!(
            post(running.address(), DEPLOYMENTS, &deployment("web", 3)).code,
            201
        );
        let is_ready = || {
            get(running.address(), &format!("{DEPLOYMENTS}/web")).json()["status"]["readyReplicas"]
                == 3
        };
        assert!(
            (0..100).any(|_| is_ready() || {
                std::thread::sleep(Duration::from_millis(50));
                false
            }),
            "{pace:?}"
        );
    }
}
