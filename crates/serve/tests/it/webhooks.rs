//! Admission webhooks that are called.

use crate::client::Client;
use crate::hooks::{Deed, Hooks, patch};
use serde_json::{Value, json};
use serve::{Backends, ClockPace, ServeOptions, Server, ServicePort};
use std::time::{Duration, Instant};

const GROUP: &str = "/apis/admissionregistration.k8s.io/v1";
const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const MUTATING: &str = "mutatingwebhookconfigurations";
const VALIDATING: &str = "validatingwebhookconfigurations";

fn server(backends: Backends) -> Server {
    Server::start(ServeOptions {
        pace: ClockPace::Held,
        backends,
        ..ServeOptions::default()
    })
    .unwrap()
}

fn rule(operations: &[&str], group: &str, resources: &[&str]) -> Value {
    json!({ "operations": operations, "apiGroups": [group], "apiVersions": ["v1"], "resources": resources })
}

/// A webhook about ConfigMaps, unless `more` says otherwise.
fn hook(name: &str, config: Value, more: &Value) -> Value {
    let rules = rule(&["*"], "", &["configmaps"]);
    let mut hook = json!({ "name": name, "rules": [rules], "sideEffects": "None", "admissionReviewVersions": ["v1"], "clientConfig": config });
    for (field, value) in more.as_object().unwrap() {
        hook[field] = value.clone();
    }
    hook
}

/// Registers a validating webhook at an address.
fn register_judge(client: &Client, address: Value) {
    let judge = hook("judge.example.com", address, &json!({}));
    register(client, VALIDATING, "judge", &[judge]);
}

fn register(client: &Client, kind: &str, name: &str, hooks: &[Value]) {
    let body = json!({ "metadata": { "name": name }, "webhooks": hooks });
    let reply = client.post(&format!("{GROUP}/{kind}"), &body);
    assert_eq!(reply.code, 201, "{}", reply.json());
}

fn map(name: &str) -> Value {
    json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": name }, "data": { "k": "v" } })
}

fn allowed() -> Deed {
    Deed::Answer(json!({ "allowed": true }))
}

fn set(path: &str, value: &str) -> Value {
    json!([{ "op": "add", "path": path, "value": value }])
}

#[test]
fn a_validating_webhook_denies_with_its_own_status_and_warns() {
    let hooks = Hooks::start(|_, request| {
        let name = request["object"]["metadata"]["name"].as_str().unwrap_or("");
        Deed::Answer(match name {
            "good" => {
                json!({ "allowed": true, "warnings": ["think twice"], "auditAnnotations": { "seen": "yes" } })
            }
            "bare" => json!({ "allowed": false }),
            _ => {
                json!({ "allowed": false, "status": { "code": 403, "reason": "Forbidden", "message": "no bad maps" } })
            }
        })
    });
    let server = server(Backends::new());
    let client = Client::http(&server);
    let own = hook("judge.example.com", hooks.url("/v"), &json!({}));
    register(&client, VALIDATING, "judge", &[own]);
    let bad = client.post(MAPS, &map("bad"));
    let words = "admission webhook \"judge.example.com\" denied the request: no bad maps";
    assert_eq!((bad.code, bad.message().as_str()), (403, words));
    assert_eq!(bad.json()["reason"], "Forbidden");
    assert_eq!(client.get(&format!("{MAPS}/bad")).code, 404);
    let bare = client.post(MAPS, &map("bare"));
    let words = "admission webhook \"judge.example.com\" denied the request without explanation";
    assert_eq!((bare.code, bare.message().as_str()), (400, words));
    let good = client.post(MAPS, &map("good"));
    assert_eq!(
        (good.code, good.warnings()),
        (201, vec!["think twice".to_owned()])
    );
    // The record keeps what would be in an audit log.
    let record = String::from_utf8(client.get("/loopscope/record").body).unwrap();
    assert!(
        record.contains("\"auditAnnotations\":{\"seen\":\"yes\"}"),
        "{record}"
    );
    let metrics = String::from_utf8(client.get("/metrics").body).unwrap();
    for line in [
        "apiserver_admission_webhook_request_total{code=\"403\",name=\"judge.example.com\",operation=\"CREATE\",rejected=\"true\",type=\"validating\"} 1",
        "apiserver_admission_webhook_rejection_count{error_type=\"no_error\",name=\"judge.example.com\",operation=\"CREATE\",rejection_code=\"400\",type=\"validating\"} 1",
    ] {
        assert!(metrics.contains(line), "{line}\n{metrics}");
    }
}

#[test]
fn a_review_holds_what_upstream_sends() {
    let hooks = Hooks::start(|_, _| allowed());
    let server = server(Backends::new());
    let client = Client::http(&server);
    let own = hook("judge.example.com", hooks.url("/v"), &json!({}));
    register(&client, VALIDATING, "judge", &[own]);
    let created = client.post(&format!("{MAPS}?fieldManager=me"), &map("one"));
    assert_eq!(created.code, 201);
    let patched = client.merge(&format!("{MAPS}/one"), &json!({ "data": { "k": "w" } }));
    assert_eq!(patched.code, 200);
    let mut jane = client.clone();
    jane.headers.extend([
        ("impersonate-user".to_owned(), "jane".to_owned()),
        ("impersonate-group".to_owned(), "system:masters".to_owned()),
    ]);
    assert_eq!(
        jane.delete(&format!("{MAPS}/one?propagationPolicy=Background"))
            .code,
        200
    );
    let received = hooks.received();
    let [(path, create), (_, update), (_, delete)] = &received[..] else {
        panic!("{received:?}");
    };
    assert_eq!(path, "/v?timeout=10s");
    assert_eq!(create["apiVersion"], "admission.k8s.io/v1");
    assert_eq!(create["kind"], "AdmissionReview");
    let request = &create["request"];
    let kind = json!({ "group": "", "version": "v1", "kind": "ConfigMap" });
    let resource = json!({ "group": "", "version": "v1", "resource": "configmaps" });
    for (field, value) in [
        ("kind", &kind),
        ("requestKind", &kind),
        ("resource", &resource),
        ("requestResource", &resource),
        ("name", &json!("one")),
        ("namespace", &json!("default")),
        ("operation", &json!("CREATE")),
        ("oldObject", &Value::Null),
        ("dryRun", &json!(false)),
    ] {
        assert_eq!(&request[field], value, "{field}");
    }
    assert_eq!(request["uid"].as_str().map(str::len), Some(36));
    assert_eq!(request["userInfo"]["username"], "kubernetes-admin");
    assert_eq!(request["object"]["data"]["k"], "v");
    assert_eq!(
        request["object"]["metadata"]["uid"],
        created.json()["metadata"]["uid"]
    );
    let options = &request["options"];
    assert_eq!(
        (&options["kind"], &options["fieldManager"]),
        (&json!("CreateOptions"), &json!("me"))
    );
    let request = &update["request"];
    assert_eq!(request["operation"], "UPDATE");
    assert_eq!(
        (
            &request["object"]["data"]["k"],
            &request["oldObject"]["data"]["k"]
        ),
        (&json!("w"), &json!("v"))
    );
    assert_eq!(request["options"]["kind"], "UpdateOptions");
    let request = &delete["request"];
    assert_eq!(
        (&request["operation"], &request["object"]),
        (&json!("DELETE"), &Value::Null)
    );
    assert_eq!(request["oldObject"]["data"]["k"], "w");
    assert_eq!(request["userInfo"]["username"], "jane");
    assert_eq!(request["options"]["propagationPolicy"], "Background");
}

#[test]
fn mutating_webhooks_change_objects_in_order_and_are_reinvoked() {
    let hooks = Hooks::start(|path, request| {
        let data = &request["object"]["data"];
        Deed::Answer(match path {
            "/first" if data["second"].is_null() => patch(&set("/data/first", "alone")),
            "/first" => patch(&set("/data/first", "again")),
            "/second" => patch(&set("/data/second", data["first"].as_str().unwrap_or(""))),
            _ => json!({ "allowed": true }),
        })
    });
    let server = server(Backends::new());
    let client = Client::http(&server);
    let again = json!({ "reinvocationPolicy": "IfNeeded" });
    let own = [
        hook("first.example.com", hooks.url("/first"), &again),
        hook("second.example.com", hooks.url("/second"), &json!({})),
    ];
    register(&client, MUTATING, "change", &own);
    let seen = hook("seen.example.com", hooks.url("/seen"), &json!({}));
    register(&client, VALIDATING, "seen", &[seen]);
    let created = client.post(MAPS, &map("one"));
    let data = json!({ "k": "v", "first": "again", "second": "alone" });
    assert_eq!((created.code, &created.json()["data"]), (201, &data));
    let paths: Vec<String> = hooks
        .paths()
        .iter()
        .map(|path| path.split('?').next().unwrap().to_owned())
        .collect();
    assert_eq!(paths, ["/first", "/second", "/first", "/seen"]);
    let (_, first) = &hooks.received()[0];
    assert!(first["request"]["object"]["metadata"].get("uid").is_none());
    // Nobody manages what a webhook has added.
    let fields = created.json()["metadata"]["managedFields"][0]["fieldsV1"]["f:data"].clone();
    assert_eq!(
        fields
            .as_object()
            .map(|fields| fields.keys().cloned().collect::<Vec<_>>()),
        Some(vec![".".to_owned(), "f:k".to_owned()])
    );
}

#[test]
fn a_mutating_webhook_completes_what_would_be_invalid() {
    let hooks = Hooks::start(|_, request| {
        let has = |field: &str| !request["object"]["spec"][field].is_null();
        Deed::Answer(match has("size") {
            true => json!({ "allowed": true }),
            false => patch(&json!([{ "op": "add", "path": "/spec", "value": { "size": 3 } }])),
        })
    });
    let server = server(Backends::new());
    let client = Client::http(&server);
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": { "name": "boats.example.com" },
        "spec": { "group": "example.com", "scope": "Namespaced", "names": { "plural": "boats", "singular": "boat", "kind": "Boat" },
            "versions": [{ "name": "v1", "served": true, "storage": true, "schema": { "openAPIV3Schema": {
                "type": "object", "required": ["spec"], "properties": { "spec": {
                    "type": "object", "required": ["size"], "properties": { "size": { "type": "integer" } } } },
            } } }] },
    });
    assert_eq!(
        client
            .post(
                "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
                &definition
            )
            .code,
        201
    );
    client.pass(2);
    let boats = "/apis/example.com/v1/namespaces/default/boats";
    let boat =
        json!({ "apiVersion": "example.com/v1", "kind": "Boat", "metadata": { "name": "one" } });
    assert_eq!(client.post(boats, &boat).code, 422);
    let rules = json!({ "rules": [rule(&["CREATE", "UPDATE"], "example.com", &["boats"])] });
    register(
        &client,
        MUTATING,
        "boats",
        &[hook("boats.example.com", hooks.url("/"), &rules)],
    );
    let created = client.post(boats, &boat);
    assert_eq!(
        (created.code, &created.json()["spec"]["size"]),
        (201, &json!(3))
    );
    // Its patch is validated.
    let broken = Hooks::start(|_, _| {
        Deed::Answer(patch(
            &json!([{ "op": "replace", "path": "/spec/size", "value": "x" }]),
        ))
    });
    register(
        &client,
        MUTATING,
        "more",
        &[hook("more.example.com", broken.url("/"), &rules)],
    );
    let mut two = boat.clone();
    two["metadata"]["name"] = "two".into();
    assert_eq!(client.post(boats, &two).code, 422);
}

#[test]
fn control_loops_meet_webhooks_too() {
    let hooks = Hooks::start(|_, request| match request["operation"].as_str() {
        Some("CREATE") => Deed::Answer(patch(
            &json!([{ "op": "add", "path": "/metadata/labels/injected", "value": "yes" }]),
        )),
        _ => allowed(),
    });
    let backend = ServicePort {
        namespace: "hooks".into(),
        name: "judge".into(),
        port: 443,
    };
    let server = server([(backend, hooks.address)].into());
    let client = Client::http(&server);
    let pods = json!({ "rules": [rule(&["CREATE"], "", &["pods"])], "namespaceSelector": { "matchExpressions": [
        { "key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["kube-system"] } ] } });
    register(
        &client,
        MUTATING,
        "inject",
        &[hook("inject.example.com", hooks.service("/inject"), &pods)],
    );
    let deployment = json!({ "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": "web" },
        "spec": { "replicas": 2, "selector": { "matchLabels": { "app": "web" } }, "template": {
            "metadata": { "labels": { "app": "web" } }, "spec": { "containers": [{ "name": "c", "image": "nginx" }] } } } });
    assert_eq!(
        client
            .post("/apis/apps/v1/namespaces/default/deployments", &deployment)
            .code,
        201
    );
    client.pass(10);
    let found = client
        .get("/api/v1/namespaces/default/pods?labelSelector=injected%3Dyes")
        .json();
    assert_eq!(found["items"].as_array().map(Vec::len), Some(2));
    let received = hooks.received();
    assert_eq!(received.len(), 2, "{received:?}");
    let request = &received[0].1["request"];
    let user = "system:serviceaccount:kube-system:replicaset-controller";
    assert_eq!(request["userInfo"]["username"], user);
    assert!(
        request.get("name").is_none(),
        "a generated name is not sent"
    );
}

#[test]
fn one_line_may_need_many_answers() {
    let hooks = Hooks::start(|_, _| Deed::Answer(patch(&set("/data/seen", "yes"))));
    let server = server(Backends::new());
    let client = Client::http(&server);
    let own = hook("judge.example.com", hooks.url("/"), &json!({}));
    let configuration = json!({ "apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration",
        "metadata": { "name": "judge" }, "webhooks": [own] });
    let maps = (0..40).map(|index| map(&format!("m{index}")).to_string());
    let all: Vec<String> = [configuration.to_string()]
        .into_iter()
        .chain(maps)
        .collect();
    let applied = client.send(
        "POST",
        "/loopscope/apply",
        "text/plain",
        &all.join("\n---\n"),
    );
    assert_eq!(applied.json()["failed"], false, "{}", applied.json());
    assert_eq!(hooks.paths().len(), 40);
    let found = client.get(MAPS).json();
    let seen = found["items"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|map| map["data"]["seen"] == "yes");
    assert_eq!(seen.count(), 40);
}

#[test]
fn failure_policy_decides_about_a_call_that_fails() {
    let hooks = Hooks::start(|path, _| match path {
        "/500" => Deed::Fail(500, "boom"),
        "/raw" => Deed::Raw(
            "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\"}".to_owned(),
        ),
        "/late" => Deed::Late(Duration::from_secs(3), json!({ "allowed": true })),
        _ => allowed(),
    });
    let server = server(Backends::new());
    let client = Client::http(&server);
    let mut untrusted = hooks.url("/");
    untrusted["caBundle"] = Hooks::start(|_, _| allowed()).bundle.clone().into();
    let cases = [
        (
            hooks.url("/500"),
            "an error on the server (\"boom\") has prevented the request from succeeding",
        ),
        (
            hooks.url("/raw"),
            "received invalid webhook response: webhook response was absent",
        ),
        (hooks.url("/late"), "context deadline exceeded"),
        (
            untrusted,
            "tls: failed to verify certificate: x509: certificate signed by unknown authority",
        ),
        (
            json!({ "url": "https://127.0.0.1:1/x", "caBundle": hooks.bundle }),
            "dial tcp 127.0.0.1:1: connect: connection refused",
        ),
    ];
    for (config, problem) in cases {
        for policy in ["Fail", "Ignore"] {
            let more = json!({ "failurePolicy": policy, "timeoutSeconds": 1 });
            register(
                &client,
                VALIDATING,
                "judge",
                &[hook("judge.example.com", config.clone(), &more)],
            );
            let reply = client.post(MAPS, &map("one"));
            let start = "failed calling webhook \"judge.example.com\": ";
            if policy == "Fail" {
                assert_eq!(
                    (reply.code, &reply.json()["reason"]),
                    (500, &json!("InternalError"))
                );
                let message = reply.message();
                assert!(
                    message.starts_with(&format!("Internal error occurred: {start}"))
                        && message.ends_with(problem),
                    "{message}"
                );
            } else {
                assert_eq!(reply.code, 201, "{}", reply.json());
                let warnings = reply.warnings().concat();
                assert!(
                    warnings.contains(start) && warnings.contains(problem),
                    "{warnings}"
                );
                assert_eq!(
                    client.delete(&format!("{GROUP}/{VALIDATING}/judge")).code,
                    200
                );
                assert_eq!(client.delete(&format!("{MAPS}/one")).code, 200);
                continue;
            }
            assert_eq!(
                client.delete(&format!("{GROUP}/{VALIDATING}/judge")).code,
                200
            );
        }
    }
}

#[test]
#[allow(clippy::disallowed_methods)]
fn a_slow_webhook_holds_up_nobody_else() {
    let hooks = Hooks::start(|_, _| Deed::Late(Duration::from_secs(2), json!({ "allowed": true })));
    let server = server(Backends::new());
    let client = Client::http(&server);
    register_judge(&client, hooks.url("/"));
    let secrets = "/api/v1/namespaces/default/secrets";
    std::thread::scope(|scope| {
        let slow: Vec<_> = (0..4)
            .map(|index| {
                let client = client.clone();
                scope.spawn(move || client.post(MAPS, &map(&format!("m{index}"))).code)
            })
            .collect();
        let began = Instant::now();
        while hooks.received().len() < 4 {
            assert!(
                began.elapsed() < Duration::from_secs(10),
                "the calls are made at once"
            );
            std::thread::sleep(Duration::from_millis(10));
        }
        let began = Instant::now();
        for index in 0..20 {
            let secret = json!({ "metadata": { "name": format!("s{index}") } });
            assert_eq!(client.post(secrets, &secret).code, 201);
        }
        assert!(
            began.elapsed() < Duration::from_millis(1_500),
            "{:?}",
            began.elapsed()
        );
        for slow in slow {
            assert_eq!(slow.join().unwrap(), 201);
        }
    });
    assert_eq!(hooks.received().len(), 4);
}

#[test]
fn a_webhook_may_ask_the_cluster_about_which_it_is_asked() {
    let address = std::sync::Arc::new(std::sync::OnceLock::<Client>::new());
    let own = address.clone();
    let hooks = Hooks::start(move |_, request| {
        let client = own.get().unwrap();
        let name = request["name"].as_str().unwrap_or("x");
        let known = client.get("/api/v1/namespaces/default").code == 200;
        let written = client.post(
            "/api/v1/namespaces/default/secrets",
            &json!({ "metadata": { "generateName": format!("of-{name}-") } }),
        );
        Deed::Answer(json!({ "allowed": known && written.code == 201 }))
    });
    let server = server(Backends::new());
    let client = Client::http(&server);
    assert!(address.set(client.clone()).is_ok());
    let more = json!({ "rules": [rule(&["CREATE"], "", &["configmaps", "pods"])] });
    register(
        &client,
        VALIDATING,
        "judge",
        &[hook("judge.example.com", hooks.url("/"), &more)],
    );
    assert_eq!(client.post(MAPS, &map("one")).code, 201);
    // Likewise while a line of the console runs, and while the clock is moved.
    let line = client.send(
        "POST",
        "/loopscope/kubectl",
        "text/plain",
        "kubectl create deployment web --image=nginx",
    );
    assert_eq!(line.json()["failed"], false, "{}", line.json());
    let line = client.send(
        "POST",
        "/loopscope/kubectl",
        "text/plain",
        "kubectl create configmap two",
    );
    assert_eq!(line.json()["failed"], false, "{}", line.json());
    client.pass(10);
    let pods = client.get("/api/v1/namespaces/default/pods").json();
    assert_eq!(pods["items"].as_array().map(Vec::len), Some(1));
    let secrets = client.get("/api/v1/namespaces/default/secrets").json();
    assert_eq!(secrets["items"].as_array().map(Vec::len), Some(3));
    // What it was asked about is what was stored, though it wrote meanwhile.
    let received = hooks.received();
    let asked = &received.last().unwrap().1["request"]["object"]["metadata"];
    let stored = &pods["items"][0]["metadata"];
    assert_eq!(
        (&asked["name"], &asked["uid"]),
        (&stored["name"], &stored["uid"])
    );
    let uids = secrets["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|secret| secret["metadata"]["uid"].to_string());
    let uids: std::collections::BTreeSet<String> =
        uids.chain([stored["uid"].to_string()]).collect();
    assert_eq!(uids.len(), 4);
}

#[test]
fn match_conditions_selectors_and_versions_choose_what_a_webhook_judges() {
    let hooks = Hooks::start(|_, _| allowed());
    let server = server(Backends::new());
    let client = Client::http(&server);
    let more = json!({
        "objectSelector": { "matchLabels": { "judge": "yes" } },
        "matchConditions": [
            { "name": "not-spared", "expression": "!has(object.data.spared)" },
            { "name": "not-jane", "expression": "request.userInfo.username != 'jane'" },
        ],
    });
    register(
        &client,
        VALIDATING,
        "judge",
        &[hook("judge.example.com", hooks.url("/"), &more)],
    );
    let labelled = |name: &str| {
        let mut map = map(name);
        map["metadata"]["labels"] = json!({ "judge": "yes" });
        map
    };
    assert_eq!(client.post(MAPS, &map("unlabelled")).code, 201);
    let mut spared = labelled("spared");
    spared["data"]["spared"] = "yes".into();
    assert_eq!(client.post(MAPS, &spared).code, 201);
    assert_eq!(hooks.paths().len(), 0);
    assert_eq!(client.post(MAPS, &labelled("judged")).code, 201);
    assert_eq!(hooks.paths().len(), 1);
    // An expression that fails is decided by the failure policy.
    let broken = json!({ "matchConditions": [{ "name": "broken", "expression": "object.data.nothing == 'x'" }] });
    register(
        &client,
        VALIDATING,
        "broken",
        &[hook("broken.example.com", hooks.url("/"), &broken)],
    );
    let refused = client.post(MAPS, &map("one"));
    let words = "configmaps \"one\" is forbidden: expression 'object.data.nothing == 'x'' resulted in error: no such key: nothing";
    assert_eq!((refused.code, refused.message().as_str()), (403, words));
    let ignored = json!({ "failurePolicy": "Ignore" });
    assert_eq!(client.merge(&format!("{GROUP}/{VALIDATING}/broken"), &json!({ "webhooks": [
        { "name": "broken.example.com", "rules": [rule(&["*"], "", &["configmaps"])], "sideEffects": "None", "admissionReviewVersions": ["v1"],
          "clientConfig": hooks.url("/"), "failurePolicy": ignored["failurePolicy"], "matchConditions": broken["matchConditions"] } ] })).code, 200);
    assert_eq!(client.post(MAPS, &map("one")).code, 201);
    assert_eq!(hooks.paths().len(), 1);
    // An equivalent version is converted, an exact one does not match.
    let scalers = |policy: &str| json!({ "matchPolicy": policy, "rules": [{ "operations": ["CREATE"], "apiGroups": ["autoscaling"], "apiVersions": ["v2"], "resources": ["horizontalpodautoscalers"] }] });
    let path = "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers";
    let scaler = |name: &str| {
        json!({ "apiVersion": "autoscaling/v1", "kind": "HorizontalPodAutoscaler", "metadata": { "name": name },
        "spec": { "scaleTargetRef": { "apiVersion": "apps/v1", "kind": "Deployment", "name": "web" }, "maxReplicas": 3, "targetCPUUtilizationPercentage": 50 } })
    };
    register(
        &client,
        VALIDATING,
        "exact",
        &[hook(
            "exact.example.com",
            hooks.url("/exact"),
            &scalers("Exact"),
        )],
    );
    assert_eq!(client.post(path, &scaler("one")).code, 201);
    assert_eq!(hooks.paths().len(), 1);
    register(
        &client,
        VALIDATING,
        "equivalent",
        &[hook(
            "equivalent.example.com",
            hooks.url("/equivalent"),
            &scalers("Equivalent"),
        )],
    );
    assert_eq!(client.post(path, &scaler("two")).code, 201);
    let received = hooks.received();
    let request = &received.last().unwrap().1["request"];
    assert_eq!(
        (
            &request["kind"]["version"],
            &request["requestKind"]["version"]
        ),
        (&json!("v2"), &json!("v1"))
    );
    assert_eq!(request["object"]["apiVersion"], "autoscaling/v2");
    assert!(request["object"]["spec"]["metrics"].is_array());
}

#[test]
fn dry_runs_are_not_sent_to_webhooks_with_side_effects() {
    let hooks = Hooks::start(|_, _| Deed::Answer(patch(&set("/data/seen", "yes"))));
    let server = server(Backends::new());
    let client = Client::http(&server);
    register(
        &client,
        MUTATING,
        "judge",
        &[hook(
            "judge.example.com",
            hooks.url("/"),
            &json!({ "sideEffects": "NoneOnDryRun" }),
        )],
    );
    let dry = client.post(&format!("{MAPS}?dryRun=All"), &map("one"));
    assert_eq!(
        (dry.code, &dry.json()["data"]["seen"]),
        (201, &json!("yes"))
    );
    let received = hooks.received();
    let request = &received[0].1["request"];
    assert_eq!(
        (&request["dryRun"], &request["options"]["dryRun"]),
        (&json!(true), &json!(["All"]))
    );
    assert_eq!(client.get(&format!("{MAPS}/one")).code, 404);
    // A v1 configuration with side effects is not valid.
    let some = hook(
        "some.example.com",
        hooks.url("/"),
        &json!({ "sideEffects": "Some" }),
    );
    let body = json!({ "metadata": { "name": "some" }, "webhooks": [some] });
    assert_eq!(client.post(&format!("{GROUP}/{MUTATING}"), &body).code, 422);
    // So is a URL without https.
    let plain = hook(
        "plain.example.com",
        json!({ "url": "http://127.0.0.1/x" }),
        &json!({}),
    );
    let body = json!({ "metadata": { "name": "plain" }, "webhooks": [plain] });
    let refused = client.post(&format!("{GROUP}/{MUTATING}"), &body);
    assert!(
        refused.code == 422
            && refused
                .message()
                .contains("'https' is the only allowed URL scheme"),
        "{}",
        refused.message()
    );
}

#[test]
fn scale_eviction_and_status_are_judged_as_what_they_are() {
    let hooks = Hooks::start(|path, _| match path {
        "/scale" => Deed::Answer(patch(
            &json!([{ "op": "replace", "path": "/spec/replicas", "value": 1 }]),
        )),
        "/evict" => Deed::Answer(json!({ "allowed": false, "status": { "message": "stay" } })),
        _ => allowed(),
    });
    let server = server(Backends::new());
    let client = Client::http(&server);
    let deployments = "/apis/apps/v1/namespaces/default/deployments";
    let deployment = json!({ "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": "web" },
        "spec": { "replicas": 2, "selector": { "matchLabels": { "app": "web" } }, "template": {
            "metadata": { "labels": { "app": "web" } }, "spec": { "containers": [{ "name": "c", "image": "nginx" }] } } } });
    assert_eq!(client.post(deployments, &deployment).code, 201);
    client.pass(5);
    let of = |operations: &[&str], group: &str, resource: &str| json!({ "rules": [rule(operations, group, &[resource])] });
    register(
        &client,
        MUTATING,
        "scale",
        &[hook(
            "scale.example.com",
            hooks.url("/scale"),
            &of(&["UPDATE"], "apps", "deployments/scale"),
        )],
    );
    register(
        &client,
        VALIDATING,
        "evict",
        &[hook(
            "evict.example.com",
            hooks.url("/evict"),
            &of(&["CREATE"], "", "pods/eviction"),
        )],
    );
    let scaled = client.merge(
        &format!("{deployments}/web/scale"),
        &json!({ "spec": { "replicas": 5 } }),
    );
    assert_eq!(
        (scaled.code, &scaled.json()["spec"]["replicas"]),
        (200, &json!(1))
    );
    let pods = client.get("/api/v1/namespaces/default/pods").json();
    let pod = pods["items"][0]["metadata"]["name"]
        .as_str()
        .unwrap()
        .to_owned();
    let eviction = json!({ "apiVersion": "policy/v1", "kind": "Eviction", "metadata": { "name": pod, "namespace": "default" } });
    let refused = client.post(
        &format!("/api/v1/namespaces/default/pods/{pod}/eviction"),
        &eviction,
    );
    assert_eq!(
        (refused.code, refused.message().as_str()),
        (
            400,
            "admission webhook \"evict.example.com\" denied the request: stay"
        )
    );
    let received = hooks.received();
    let kinds: Vec<(&str, &str)> = received
        .iter()
        .map(|(_, review)| {
            (
                review["request"]["kind"]["kind"].as_str().unwrap(),
                review["request"]["subResource"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(kinds, [("Scale", "scale"), ("Eviction", "eviction")]);
}

#[test]
fn a_replay_calls_no_webhook_and_ends_the_same() {
    let hooks = Hooks::start(|_, request| {
        let name = request["object"]["metadata"]["name"].as_str().unwrap_or("");
        Deed::Answer(match (name, request["operation"].as_str()) {
            ("bad", _) => json!({ "allowed": false, "status": { "message": "bad" } }),
            (_, Some("CREATE")) => patch(
                &json!([{ "op": "add", "path": "/metadata/annotations", "value": { "seen": "yes" } }]),
            ),
            _ => json!({ "allowed": true }),
        })
    });
    let first = server(Backends::new());
    let client = Client::http(&first);
    let more = json!({ "rules": [rule(&["CREATE", "UPDATE"], "", &["configmaps", "pods"])] });
    register(
        &client,
        MUTATING,
        "judge",
        &[hook("judge.example.com", hooks.url("/"), &more)],
    );
    register(
        &client,
        VALIDATING,
        "gone",
        &[hook(
            "gone.example.com",
            json!({ "url": "https://127.0.0.1:1/", "caBundle": hooks.bundle }),
            &json!({ "failurePolicy": "Ignore" }),
        )],
    );
    assert_eq!(client.post(MAPS, &map("one")).code, 201);
    assert_eq!(client.post(MAPS, &map("bad")).code, 400);
    let line = client.send(
        "POST",
        "/loopscope/kubectl",
        "text/plain",
        "kubectl create deployment web --image=nginx --replicas=2",
    );
    assert_eq!(line.code, 200);
    client.pass(10);
    let made = client.send(
        "POST",
        "/loopscope/kubectl",
        "text/plain",
        "kubectl create configmap two",
    );
    assert_eq!(made.json()["failed"], false, "{}", made.json());
    let record = String::from_utf8(client.get("/loopscope/record").body).unwrap();
    let count = hooks.received().len();
    assert!(count >= 5, "{count}");
    let second = Server::start(ServeOptions {
        pace: ClockPace::Held,
        resume: Some(record.clone()),
        ..ServeOptions::default()
    })
    .unwrap();
    let other = Client::http(&second);
    assert_eq!(hooks.received().len(), count, "a replay calls nothing");
    for path in [
        MAPS,
        "/api/v1/namespaces/default/pods",
        "/api/v1/events",
        "/loopscope/time",
    ] {
        let (one, two) = (client.get(path), other.get(path));
        assert_eq!(
            String::from_utf8_lossy(&one.body),
            String::from_utf8_lossy(&two.body),
            "{path}"
        );
    }
    let pods = other.get("/api/v1/namespaces/default/pods").json();
    let seen = |pod: &Value| pod["metadata"]["annotations"]["seen"] == "yes";
    assert!(pods["items"].as_array().unwrap().iter().all(seen));
    assert_eq!(
        String::from_utf8_lossy(&other.get("/loopscope/record").body),
        record
    );
}

#[test]
fn a_certificate_that_is_its_own_authority_is_trusted_for_its_names_alone() {
    let params = |name: &str| {
        let mut params = rcgen::CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        params
    };
    let server = server(Backends::new());
    let client = Client::http(&server);
    let good = Hooks::with_certificate(params("127.0.0.1"), |_, _| allowed());
    let own = hook("good.example.com", good.url("/"), &json!({}));
    register(&client, VALIDATING, "good", &[own]);
    assert_eq!(client.post(MAPS, &map("one")).code, 201);
    assert_eq!(good.paths().len(), 1);
    let other = Hooks::with_certificate(params("elsewhere.example.com"), |_, _| allowed());
    let own = hook("other.example.com", other.url("/"), &json!({}));
    register(&client, VALIDATING, "other", &[own]);
    let refused = client.post(MAPS, &map("two"));
    let words = "tls: failed to verify certificate: x509: certificate is not valid for 127.0.0.1";
    assert!(refused.message().ends_with(words), "{}", refused.message());
    assert!(other.paths().is_empty());
}

#[test]
fn a_server_stops_while_it_waits_for_a_webhook() {
    let hooks = Hooks::start(|_, _| Deed::Late(Duration::from_secs(8), json!({ "allowed": true })));
    let server = server(Backends::new());
    let client = Client::http(&server);
    let more = json!({ "rules": [rule(&["CREATE"], "", &["pods"])] });
    let own = hook("judge.example.com", hooks.url("/"), &more);
    register(&client, VALIDATING, "judge", &[own]);
    let deployment = json!({ "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": "web" },
        "spec": { "replicas": 1, "selector": { "matchLabels": { "app": "web" } }, "template": {
            "metadata": { "labels": { "app": "web" } }, "spec": { "containers": [{ "name": "c", "image": "nginx" }] } } } });
    let path = "/apis/apps/v1/namespaces/default/deployments";
    assert_eq!(client.post(path, &deployment).code, 201);
    let waiting = std::thread::spawn(move || {
        let body = json!({ "seconds": 60 });
        client.post("/loopscope/time", &body).code
    });
    while hooks.received().is_empty() {
        std::thread::sleep(Duration::from_millis(10));
    }
    // It does not wait for the answer.
    drop(server);
    // The client has an answer, or none.
    let _ = waiting.join();
}

#[test]
fn a_service_without_a_backend_cannot_be_called() {
    let hooks = Hooks::start(|_, _| allowed());
    let server = server(Backends::new());
    let client = Client::http(&server);
    register_judge(&client, hooks.service("/v"));
    let refused = client.post(MAPS, &map("one"));
    let words = "Internal error occurred: failed calling webhook \"judge.example.com\": failed to call webhook: Post \
                 \"https://judge.hooks.svc:443/v?timeout=10s\": service \"judge\" not found";
    assert_eq!((refused.code, refused.message().as_str()), (500, words));
    assert!(hooks.paths().is_empty());
}
