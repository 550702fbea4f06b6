//! Arbitrary requests to `loopscope serve`: each gets an answer, an error is a `Status`, and the cluster goes on.

use super::{PIECES, WEB, mutated, rounds, seeds};
use serde_json::Value;
use serve::{ClockPace, ServeOptions, Server};
use sim_core::rng::Rng;
use std::cell::RefCell;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

/// Requests to one server before another takes its place: what earlier ones have made is there for later ones.
const BATCH: u64 = 500;
/// An answer that takes longer is a hang.
const PATIENCE: Duration = Duration::from_secs(20);

const METHODS: [&str; 10] = [
    "GET", "POST", "PUT", "PATCH", "DELETE", "GET", "PATCH", "HEAD", "OPTIONS", "BREW",
];
const ROOTS: [&str; 22] = [
    "/api/v1/namespaces/default/",
    "/api/v1/namespaces/default/",
    "/apis/apps/v1/namespaces/default/",
    "/apis/batch/v1/namespaces/default/",
    "/apis/policy/v1/namespaces/default/",
    "/apis/autoscaling/v1/namespaces/default/",
    "/apis/autoscaling/v2/namespaces/default/",
    "/apis/events.k8s.io/v1/namespaces/default/",
    "/apis/metrics.k8s.io/v1beta1/namespaces/default/",
    "/apis/rbac.authorization.k8s.io/v1/",
    "/apis/apiextensions.k8s.io/v1/",
    "/apis/certificates.k8s.io/v1/",
    "/apis/authorization.k8s.io/v1/",
    "/apis/authentication.k8s.io/v1/",
    "/apis/coordination.k8s.io/v1/namespaces/default/",
    "/api/v1/",
    "/apis/",
    "/openapi/",
    "/loopscope/",
    "/page/",
    "/",
    "/api/v1/namespaces/",
];
const RESOURCES: [&str; 45] = [
    "pods",
    "pods",
    "deployments",
    "deployments",
    "replicasets",
    "statefulsets",
    "jobs",
    "services",
    "configmaps",
    "configmaps",
    "secrets",
    "serviceaccounts",
    "events",
    "bindings",
    "nodes",
    "namespaces",
    "endpoints",
    "persistentvolumeclaims",
    "poddisruptionbudgets",
    "horizontalpodautoscalers",
    "leases",
    "clusterroles",
    "clusterrolebindings",
    "customresourcedefinitions",
    "certificatesigningrequests",
    "selfsubjectaccessreviews",
    "selfsubjectrulesreviews",
    "subjectaccessreviews",
    "tokenreviews",
    "v2",
    "v3",
    "v3/apis/apps/v1",
    "run",
    "run/1",
    "kubectl",
    "apply",
    "fault",
    "time",
    "record",
    "snapshots",
    "snapshots/a",
    "version",
    "readyz",
    "metrics",
    "",
];
/// Paths of what is served.
const SERVED: [&str; 32] = [
    "/api/v1/namespaces/default/pods",
    "/api/v1/namespaces/default/pods",
    "/api/v1/pods",
    "/apis/apps/v1/namespaces/default/deployments",
    "/apis/apps/v1/namespaces/default/deployments",
    "/apis/apps/v1/namespaces/default/replicasets",
    "/apis/batch/v1/namespaces/default/jobs",
    "/api/v1/namespaces/default/configmaps",
    "/api/v1/namespaces/default/configmaps",
    "/api/v1/namespaces/default/events",
    "/api/v1/namespaces/default/services",
    "/api/v1/namespaces/default/serviceaccounts",
    "/api/v1/namespaces/default/bindings",
    "/api/v1/namespaces",
    "/api/v1/nodes",
    "/apis/policy/v1/namespaces/default/poddisruptionbudgets",
    "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers",
    "/apis/events.k8s.io/v1/namespaces/default/events",
    "/apis/metrics.k8s.io/v1beta1/nodes",
    "/apis/metrics.k8s.io/v1beta1/namespaces/default/pods",
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    "/apis/rbac.authorization.k8s.io/v1/clusterroles",
    "/apis/certificates.k8s.io/v1/certificatesigningrequests",
    "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
    "/openapi/v2",
    "/openapi/v3/apis/apps/v1",
    "/loopscope/run",
    "/loopscope/time",
    "/loopscope/kubectl",
    "/loopscope/snapshots",
    "/metrics",
    "/apis/example.com/v1/namespaces/default/boats",
];
const NAMES: [&str; 9] = [
    "web",
    "web",
    "default",
    "kube-root-ca.crt",
    "node-1",
    "nope",
    "POD",
    "%2e%2e",
    "a%00b",
];
const PARTS: [&str; 16] = [
    "status",
    "scale",
    "eviction",
    "binding",
    "log",
    "exec",
    "attach",
    "portforward",
    "proxy",
    "token",
    "resize",
    "finalize",
    "approval",
    "ephemeralcontainers",
    "x",
    "status/y",
];
const OPTIONS: [&str; 18] = [
    "watch",
    "limit",
    "continue",
    "resourceVersion",
    "resourceVersionMatch",
    "labelSelector",
    "fieldSelector",
    "dryRun",
    "fieldManager",
    "fieldValidation",
    "force",
    "propagationPolicy",
    "gracePeriodSeconds",
    "sendInitialEvents",
    "allowWatchBookmarks",
    "command",
    "timeoutSeconds",
    "pretty",
];
const VALUES: [&str; 26] = [
    "1",
    "0",
    "-1",
    "true",
    "All",
    "Strict",
    "Exact",
    "NotOlderThan",
    "99999999999999999999",
    "18446744073709551615",
    "app%3Dweb",
    "a+in+(b",
    "a+notin+(b,c)",
    "metadata.name%3Dweb",
    "status.phase!%3DRunning",
    "Orphan",
    "Foreground",
    "WyJhIiwiYiJd",
    "%ff%fe",
    "%",
    "sh",
    "",
    "eyJ2IjoxLCJzIjoiYSJ9",
    "null",
    "test",
    "%F0%9D%95%8F",
];
const ACCEPTS: [&str; 9] = [
    "application/json",
    "*/*",
    "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
    "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
    "application/vnd.kubernetes.protobuf",
    "application/yaml",
    "text/html;;=,,",
    "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
];
const TYPES: [&str; 11] = [
    "application/json",
    "application/json",
    "application/yaml",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/json-patch+json",
    "application/apply-patch+yaml",
    "application/vnd.kubernetes.protobuf",
    "application/cbor",
    "text/plain; charset=utf-16",
    "",
];
const BODIES: [&str; 27] = [
    "{}",
    "[]",
    "null",
    "1e999",
    "\"x\"",
    "{\"seconds\": 2}",
    "{\"seconds\": -1}",
    "{\"until\": \"settled\"}",
    "{\"command\": \"scale deployment web --replicas=3\"}",
    "{\"command\": [\"get\", \"pods\", \"-w\"]}",
    "scale deployment web --replicas=1",
    "exit pod/{{pod:web:0}} 1",
    "delay pod 2s",
    "[{\"op\":\"remove\",\"path\":\"/spec\"}]",
    "[{\"op\":\"add\",\"path\":\"/metadata/labels/a~1b\",\"value\":{}},{\"op\":\"test\",\"path\":\"\",\"value\":1}]",
    "{\"spec\":{\"replicas\":2}}",
    "{\"spec\":{\"replicas\":-3,\"template\":null}}",
    "{\"metadata\":{\"finalizers\":[\"a/b\"],\"labels\":{\"a\":\"b\"},\"resourceVersion\":\"1\"}}",
    "{\"apiVersion\":\"policy/v1\",\"kind\":\"Eviction\",\"metadata\":{\"name\":\"web\"}}",
    "{\"apiVersion\":\"v1\",\"kind\":\"Binding\",\"metadata\":{\"name\":\"web\"},\"target\":{\"kind\":\"Node\",\"name\":\"node-1\"}}",
    "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"web\"},\"data\":{\"a\":\"b\"}}",
    "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"web\"},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}",
    "{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\",\"preconditions\":{\"uid\":\"x\"},\"gracePeriodSeconds\":0}",
    "{\"spec\":{\"resourceAttributes\":{\"verb\":\"get\",\"resource\":\"pods\"}}}",
    "{\"metadata\":{\"managedFields\":[{}]}}",
    "{\"orphanDependents\":true,\"propagationPolicy\":\"Orphan\",\"dryRun\":[\"All\"]}",
    "{\"kind\":\"Node\",\"metadata\":{\"name\":\"bare\"},\"status\":{\"capacity\":{\"memory\":\"1Gi\"}}}",
];

/// Requests that are right: method, path, type and body.
const RIGHT: [(&str, &str, &str, &str); 22] = [
    (
        "POST",
        "/api/v1/namespaces/default/configmaps",
        "application/json",
        "{\"metadata\":{\"generateName\":\"c-\"},\"data\":{\"a\":\"b\"}}",
    ),
    (
        "POST",
        "/api/v1/namespaces/default/pods",
        "application/json",
        "{\"metadata\":{\"generateName\":\"p-\"},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}",
    ),
    (
        "PATCH",
        "/apis/apps/v1/namespaces/default/deployments/web",
        "application/merge-patch+json",
        "{\"spec\":{\"replicas\":3}}",
    ),
    (
        "PATCH",
        "/apis/apps/v1/namespaces/default/deployments/web/scale",
        "application/merge-patch+json",
        "{\"spec\":{\"replicas\":1}}",
    ),
    (
        "PATCH",
        "/apis/apps/v1/namespaces/default/deployments/web",
        "application/json-patch+json",
        "[{\"op\":\"add\",\"path\":\"/metadata/labels\",\"value\":{\"a\":\"b\"}}]",
    ),
    (
        "PATCH",
        "/apis/apps/v1/namespaces/default/deployments/web",
        "application/strategic-merge-patch+json",
        "{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"j\"}]}}}}",
    ),
    (
        "PATCH",
        "/api/v1/namespaces/default/configmaps/c?fieldManager=m&force=true",
        "application/apply-patch+yaml",
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {k: v}}",
    ),
    (
        "DELETE",
        "/api/v1/namespaces/default/pods",
        "application/json",
        "{\"gracePeriodSeconds\":0}",
    ),
    (
        "PATCH",
        "/apis/apps/v1/namespaces/default/deployments/web",
        "application/json-patch+json",
        "[{\"op\":\"replace\",\"path\":\"/metadata/managedFields\",\"value\":[{\"manager\":\"m\",\"operation\":\"Apply\",\"apiVersion\":\"apps/v1\",\
         \"fieldsType\":\"FieldsV1\",\"fieldsV1\":{\"f:metadata\":{\"f:labels\":{\".\":{},\"f:a\":{}}},\"f:spec\":{\"f:replicas\":{},\
         \"f:template\":{\"f:spec\":{\"f:containers\":{\"k:{\\\"name\\\":\\\"c\\\"}\":{\".\":{},\"f:image\":{}}}}}}}}]}]",
    ),
    (
        "PATCH",
        "/apis/apps/v1/namespaces/default/deployments/web?fieldManager=m&force=true",
        "application/apply-patch+yaml",
        "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 2}}",
    ),
    (
        "POST",
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
        "application/json",
        "{\"metadata\":{\"name\":\"boats.example.com\"},\"spec\":{\"group\":\"example.com\",\"scope\":\"Namespaced\",\"names\":{\"plural\":\"boats\",\
         \"kind\":\"Boat\"},\"versions\":[{\"name\":\"v1\",\"served\":true,\"storage\":true,\"deprecated\":true,\"deprecationWarning\":\"old\\n\u{e9}\",\
         \"schema\":{\"openAPIV3Schema\":{\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":true}}}]}}",
    ),
    (
        "POST",
        "/apis/example.com/v1/namespaces/default/boats",
        "application/json",
        "{\"metadata\":{\"generateName\":\"b-\"},\"x\":[1]}",
    ),
    (
        "POST",
        "/apis/batch/v1/namespaces/default/cronjobs",
        "application/json",
        "{\"metadata\":{\"generateName\":\"c-\"},\"spec\":{\"schedule\":\"59 23 31 2 *\",\"jobTemplate\":{\"spec\":{\"template\":{\"spec\":{\
         \"restartPolicy\":\"Never\",\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}}}}}",
    ),
    (
        "POST",
        "/api/v1/nodes",
        "application/json",
        "{\"metadata\":{\"generateName\":\"bare-\"}}",
    ),
    ("GET", "/api/v1/namespaces/default/pods?limit=1", "", ""),
    (
        "GET",
        "/apis/apps/v1/deployments?watch=1&timeoutSeconds=1&resourceVersion=1",
        "",
        "",
    ),
    (
        "POST",
        "/loopscope/time",
        "application/json",
        "{\"seconds\": 1}",
    ),
    (
        "POST",
        "/loopscope/run",
        "application/json",
        "{\"command\": \"rollout status deployment/web\"}",
    ),
    ("PUT", "/loopscope/snapshots/a", "", ""),
    ("POST", "/loopscope/snapshots/a", "", ""),
    (
        "POST",
        "/api/v1/namespaces/default/serviceaccounts/default/token",
        "application/json",
        "{}",
    ),
    (
        "POST",
        "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
        "application/json",
        "{\"spec\":{\"resourceAttributes\":{\"verb\":\"get\",\"resource\":\"pods\"}}}",
    ),
];

fn pick(rng: &mut Rng, of: &[&'static str]) -> &'static str {
    of[rng.below(of.len() as u64) as usize]
}

/// A request, and whether it is HTTP at all and whole.
struct Sent {
    bytes: Vec<u8>,
    whole: bool,
    head_only: bool,
}

fn target(rng: &mut Rng) -> String {
    let mut path = if rng.below(4) > 0 {
        pick(rng, &SERVED).to_owned()
    } else {
        [pick(rng, &ROOTS), pick(rng, &RESOURCES)].concat()
    };
    if rng.below(2) > 0 {
        path += &format!("/{}", pick(rng, &NAMES));
        if rng.below(2) == 0 {
            path += &format!("/{}", pick(rng, &PARTS));
        }
    }
    for n in 0..rng.below(4) {
        path += &format!(
            "{}{}={}",
            if n == 0 { "?" } else { "&" },
            pick(rng, &OPTIONS),
            pick(rng, &VALUES)
        );
    }
    if rng.below(12) == 0 {
        let at = 1 + rng.below(path.len() as u64) as usize;
        let piece: String = PIECES[rng.below(PIECES.len() as u64) as usize]
            .bytes()
            .map(|byte| format!("%{byte:02x}"))
            .collect();
        path.insert_str(at, &piece);
    }
    path
}

fn body(rng: &mut Rng, seeds: &[Vec<u8>]) -> Vec<u8> {
    match rng.below(8) {
        0 => Vec::new(),
        1 => mutated(rng, seeds),
        2 => WEB.as_bytes().to_vec(),
        3 => [
            b"k8s\0".to_vec(),
            (0..rng.below(200)).map(|_| rng.bits() as u8).collect(),
        ]
        .concat(),
        4 => mutated(rng, &BODIES.map(|body| body.as_bytes().to_vec())),
        _ => pick(rng, &BODIES).as_bytes().to_vec(),
    }
}

fn request(rng: &mut Rng, seeds: &[Vec<u8>], address: SocketAddr) -> Sent {
    let (mut method, mut target, mut body) = (pick(rng, &METHODS), target(rng), body(rng, seeds));
    let mut content_type = (rng.below(4) > 0).then(|| pick(rng, &TYPES));
    if rng.below(2) == 0 {
        // Right in all, or in all but one thing.
        let (right_method, right_target, right_type, right_body) =
            RIGHT[rng.below(RIGHT.len() as u64) as usize];
        let wrong = rng.below(6);
        method = if wrong == 0 { method } else { right_method };
        target = if wrong == 1 {
            target
        } else {
            right_target.to_owned()
        };
        content_type = if wrong == 2 {
            content_type
        } else {
            Some(right_type)
        };
        body = match wrong {
            3 => body,
            4 => mutated(rng, &[right_body.as_bytes().to_vec()]),
            _ => right_body.as_bytes().to_vec(),
        };
    }
    let mut head =
        format!("{method} {target} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n");
    if rng.below(4) == 0 {
        head += &format!("accept: {}\r\n", pick(rng, &ACCEPTS));
    }
    if let Some(content_type) = content_type {
        head += &format!("content-type: {content_type}\r\n");
    }
    match rng.below(16) {
        0 => head += &format!("impersonate-user: {}\r\n", pick(rng, &NAMES)),
        5 => {
            let (uid, key, value) = (pick(rng, &VALUES), pick(rng, &VALUES), pick(rng, &VALUES));
            let key: String = key
                .chars()
                .filter(|c| c.is_ascii_alphanumeric() || "%-.".contains(*c))
                .collect();
            head += &format!(
                "impersonate-user: jane\r\nimpersonate-uid: {uid}\r\nimpersonate-extra-{key}: {value}\r\n"
            );
        }
        1 => head += &format!("origin: http://{address}\r\nuser-agent: /\r\n"),
        2 => head += "kubectl-command: kubectl \u{e9}\r\nuser-agent: \u{4e2d}/1\r\n",
        3 | 4 => {
            head = head.replace("connection: close", "connection: upgrade");
            head += "upgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
                     sec-websocket-protocol: v5.channel.k8s.io\r\n";
        }
        _ => {}
    }
    let mut whole = true;
    let length = match rng.below(20) {
        0 => {
            whole = false;
            body.len() as u64 + 1 + rng.below(1 << 40)
        }
        _ => body.len() as u64,
    };
    head += &format!("content-length: {length}\r\n\r\n");
    let mut bytes = [head.into_bytes(), body].concat();
    if rng.below(20) == 0 {
        whole = false;
        match rng.below(3) {
            0 => bytes.truncate(rng.below(bytes.len() as u64 + 1) as usize),
            1 => bytes = mutated(rng, &[bytes]),
            _ => bytes = (0..rng.below(600)).map(|_| rng.bits() as u8).collect(),
        }
    }
    Sent {
        bytes,
        whole,
        head_only: method == "HEAD",
    }
}

/// Sends it and reads the answer, of a stream only its head; an error if there is none in time, or an error that is no `Status`.
fn answered(address: SocketAddr, sent: &Sent) -> Result<u16, String> {
    let mut stream = TcpStream::connect(address).map_err(|error| format!("connecting: {error}"))?;
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let _ = stream.write_all(&sent.bytes);
    if !sent.whole {
        let _ = stream.shutdown(Shutdown::Write);
    }
    let (mut read, mut piece) = (Vec::new(), [0; 16_384]);
    let end = loop {
        if let Some(at) = read.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
        match stream.read(&mut piece) {
            // A request that is none may be left without an answer.
            Ok(0) if !sent.whole => return Ok(0),
            Ok(0) => return Err("the connection ended without an answer".to_owned()),
            Ok(n) => read.extend(&piece[..n]),
            Err(_) if !sent.whole && read.is_empty() => return Ok(0),
            Err(error) => return Err(format!("reading: {error}")),
        }
    };
    let head = String::from_utf8_lossy(&read[..end]).to_lowercase();
    let code: u16 = head
        .split(' ')
        .nth(1)
        .and_then(|code| code.parse().ok())
        .ok_or_else(|| format!("no status: {head}"))?;
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "))
        .and_then(|length| length.parse::<usize>().ok());
    let Some(length) = length.filter(|_| !sent.head_only) else {
        // An object is not read at a version that is no number: upstream fails there too.
        let asks_version = String::from_utf8_lossy(&sent.bytes).contains("resourceVersion=");
        return if matches!(code, 500 | 503) && !asks_version {
            Err(format!("{code}"))
        } else {
            Ok(code)
        };
    };
    while read.len() < end + length {
        match stream.read(&mut piece) {
            Ok(0) => return Err(format!("{code}: the body ended early")),
            Ok(n) => read.extend(&piece[..n]),
            Err(error) => return Err(format!("{code}: reading: {error}")),
        }
    }
    let body = &read[end..end + length];
    // JSON, or the YAML that was asked for, of which JSON is a part.
    let status: Value = serde_json::from_slice(body)
        .or_else(|_| serde_yaml::from_slice(body))
        .unwrap_or_default();
    let is_status = status["kind"] == "Status"
        && status["code"].as_u64() == Some(u64::from(code))
        && status["message"].is_string();
    // A patch of fields that do not exist fails without a reason, and so do a version that is no number, a Binding without a node and
    // impersonating nobody with a uid, as upstream.
    let known = [
        "target.",
        "[target.",
        "resourceVersion: Invalid value",
        "failed to create typed patch object",
        "Internal error occurred: a uid, groups or extra",
    ];
    let failed = matches!(code, 500 | 503)
        && !status["message"]
            .as_str()
            .is_some_and(|text| known.iter().any(|start| text.starts_with(start)));
    // An unknown path has no Status, as upstream.
    let is_page = code == 404 && body == b"404 page not found\n";
    if failed || code >= 400 && sent.whole && !is_status && !is_page {
        return Err(format!("{code}: {}", String::from_utf8_lossy(body)));
    }
    Ok(code)
}

fn server() -> Server {
    Server::start(ServeOptions {
        pace: ClockPace::Held,
        setup: vec![WEB.to_owned()],
        ..ServeOptions::default()
    })
    .unwrap()
}

#[test]
fn any_request_is_answered_and_an_error_is_a_status() {
    let seeds = seeds();
    let (current, codes) = (
        RefCell::new(server()),
        RefCell::new(std::collections::BTreeMap::<u16, u64>::new()),
    );
    rounds(|rng, round| {
        if round > 0 && round % BATCH == 0 {
            *current.borrow_mut() = server();
        }
        let address = current.borrow().address();
        let sent = request(rng, &seeds, address);
        match answered(address, &sent) {
            Ok(code) => *codes.borrow_mut().entry(code).or_default() += 1,
            Err(problem) => panic!(
                "round {round}: {problem}\n{:?}",
                String::from_utf8_lossy(&sent.bytes)
            ),
        }
        let ready = Sent {
            bytes: format!("GET /readyz HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n")
                .into_bytes(),
            whole: true,
            head_only: false,
        };
        if round % 25 == 24 {
            assert_eq!(answered(address, &ready), Ok(200), "round {round}");
        }
    });
    println!("{:?}", codes.borrow());
    assert!(
        codes.borrow().get(&200).is_some_and(|count| *count > 50),
        "some requests are right"
    );
}
