//! Options that are misspelt or contradict each other: they are refused, and nothing is written or deleted.

use crate::http::{get, post, send};
use crate::{CONFIG_MAPS, config_map, server};
use serde_json::{Value, json};

#[test]
fn a_misspelt_dry_run_writes_nothing() {
    let server = server();
    let at = server.address();
    assert_eq!(post(at, CONFIG_MAPS, &config_map("one")).code, 201);
    let (one, before) = (format!("{CONFIG_MAPS}/one"), get(at, CONFIG_MAPS).json());
    let requests: [(&str, String, &str, &[u8]); 7] = [
        (
            "POST",
            format!("{CONFIG_MAPS}?dryRun=all"),
            "application/json",
            b"{\"metadata\":{\"name\":\"two\"}}",
        ),
        (
            "POST",
            format!("{CONFIG_MAPS}?dryRun="),
            "application/json",
            b"{\"metadata\":{\"name\":\"two\"}}",
        ),
        (
            "PUT",
            format!("{one}?dryRun=true"),
            "application/json",
            b"{\"metadata\":{\"name\":\"one\"}}",
        ),
        (
            "PATCH",
            format!("{one}?dryRun=server"),
            "application/merge-patch+json",
            b"{\"data\":{\"k\":\"w\"}}",
        ),
        (
            "DELETE",
            format!("{one}?dryRun=True"),
            "application/json",
            b"",
        ),
        (
            "DELETE",
            one.clone(),
            "application/json",
            b"{\"dryRun\":[\"Some\"]}",
        ),
        (
            "DELETE",
            format!("{CONFIG_MAPS}?dryRun=All&dryRun=x"),
            "application/json",
            b"",
        ),
    ];
    for (method, target, kind, body) in requests {
        let reply = send(at, method, &target, &[("content-type", kind)], body);
        let status = reply.json();
        assert_eq!(
            (
                reply.code,
                &status["reason"],
                &status["details"]["causes"][0]["field"]
            ),
            (422, &json!("Invalid"), &json!("dryRun")),
            "{method} {target} {status}"
        );
        assert_eq!(
            (&status["details"]["group"], status["details"].get("name")),
            (&json!("meta.k8s.io"), None)
        );
    }
    assert_eq!(get(at, CONFIG_MAPS).json(), before);
}

#[test]
fn other_options_are_refused_too() {
    let server = server();
    let at = server.address();
    assert_eq!(post(at, CONFIG_MAPS, &config_map("one")).code, 201);
    let (one, long) = (format!("{CONFIG_MAPS}/one"), "m".repeat(129));
    for (method, target, code, field) in [
        (
            "POST",
            format!("{CONFIG_MAPS}?fieldValidation=Loud"),
            422,
            "fieldValidation",
        ),
        (
            "POST",
            format!("{CONFIG_MAPS}?fieldManager={long}"),
            422,
            "fieldManager",
        ),
        ("PATCH", format!("{one}?force=true"), 422, "force"),
        (
            "GET",
            format!("{CONFIG_MAPS}?resourceVersionMatch=Exact"),
            422,
            "resourceVersionMatch",
        ),
        (
            "GET",
            format!("{CONFIG_MAPS}?resourceVersionMatch=Exact&resourceVersion=0"),
            422,
            "resourceVersionMatch",
        ),
        (
            "GET",
            format!("{CONFIG_MAPS}?resourceVersionMatch=Near&resourceVersion=1"),
            422,
            "resourceVersionMatch",
        ),
        (
            "GET",
            format!("{CONFIG_MAPS}?sendInitialEvents=true"),
            422,
            "sendInitialEvents",
        ),
        (
            "GET",
            format!("{CONFIG_MAPS}?watch=1&sendInitialEvents=true"),
            422,
            "resourceVersionMatch",
        ),
        (
            "GET",
            format!("{CONFIG_MAPS}?watch=1&resourceVersionMatch=NotOlderThan"),
            422,
            "resourceVersionMatch",
        ),
        ("GET", format!("{CONFIG_MAPS}?limit=few"), 400, ""),
        (
            "GET",
            format!("{CONFIG_MAPS}?watch=1&timeoutSeconds=soon"),
            400,
            "",
        ),
        ("DELETE", format!("{one}?gracePeriodSeconds=none"), 400, ""),
    ] {
        let kind = if method == "PATCH" {
            "application/merge-patch+json"
        } else {
            "application/json"
        };
        let body = if method == "POST" {
            config_map("two").to_string()
        } else {
            String::new()
        };
        let reply = send(
            at,
            method,
            &target,
            &[("content-type", kind)],
            body.as_bytes(),
        );
        let cause = reply.json()["details"]["causes"][0]["field"].clone();
        assert_eq!(
            (reply.code, cause.as_str().unwrap_or("")),
            (code, field),
            "{method} {target}"
        );
    }
    assert_eq!(get(at, &one).code, 200);
    assert_eq!(get(at, &format!("{CONFIG_MAPS}/two")).code, 404);
}

#[test]
fn unserved_media_types_are_refused_unless_another_is_accepted() {
    let server = server();
    let at = server.address();
    let shape = |accept: &str, target: &str| {
        let reply = send(at, "GET", target, &[("accept", accept)], b"");
        (
            reply.code,
            reply.header("content-type").to_owned(),
            reply.json()["kind"].as_str().unwrap_or("").to_owned(),
        )
    };
    let json = |code: u16, kind: &str| (code, "application/json".to_owned(), kind.to_owned());
    let protobuf = "application/vnd.kubernetes.protobuf";
    for target in [
        CONFIG_MAPS,
        "/api/v1/namespaces/default/configmaps/kube-root-ca.crt",
        "/apis",
        "/api/v1",
        "/api/v1/pods?watch=1",
    ] {
        assert_eq!(shape(protobuf, target), json(406, "Status"), "{target}");
    }
    assert_eq!(
        shape(&format!("{protobuf},application/json"), CONFIG_MAPS),
        json(200, "ConfigMapList")
    );
    assert_eq!(
        shape(&format!("{protobuf}, */*"), "/api/v1"),
        json(200, "APIResourceList")
    );
    for accept in [
        "application/json;as=Table;g=meta.k8s.io;v=v9",
        "application/json;as=Chart;g=meta.k8s.io;v=v1",
        "text/html",
    ] {
        assert_eq!(shape(accept, CONFIG_MAPS), json(406, "Status"), "{accept}");
        assert_eq!(
            shape(&format!("{accept},application/json"), CONFIG_MAPS),
            json(200, "ConfigMapList"),
            "{accept}"
        );
    }
}

#[test]
fn an_answer_is_yaml_where_a_client_asks_for_it() {
    let server = server();
    let at = server.address();
    assert_eq!(post(at, CONFIG_MAPS, &config_map("one")).code, 201);
    let one = format!("{CONFIG_MAPS}/one");
    let asked = |accept: &str, target: &str| send(at, "GET", target, &[("accept", accept)], b"");
    let reply = asked("application/yaml", &one);
    assert_eq!(
        (reply.code, reply.header("content-type")),
        (200, "application/yaml")
    );
    let text = String::from_utf8(reply.body).unwrap();
    assert!(
        text.starts_with("apiVersion: v1\ndata:\n  k: v\nkind: ConfigMap\nmetadata:\n"),
        "{text}"
    );
    let missing = asked(
        "application/vnd.kubernetes.protobuf,application/yaml,application/json",
        &format!("{one}x"),
    );
    assert_eq!(
        (missing.code, missing.header("content-type")),
        (404, "application/yaml")
    );
    assert!(
        String::from_utf8(missing.body)
            .unwrap()
            .contains("reason: NotFound\n")
    );
    for accept in [
        "application/json,application/yaml",
        "*/*,application/yaml",
        "",
    ] {
        assert_eq!(asked(accept, &one).json()["data"]["k"], "v", "{accept}");
    }
}

#[test]
fn already_exists_names_the_object() {
    let server = server();
    let at = server.address();
    let made = post(at, CONFIG_MAPS, &config_map("one"));
    let again = post(at, CONFIG_MAPS, &config_map("one"));
    assert_eq!((made.code, again.code), (201, 409));
    assert_eq!(
        again.json()["details"],
        json!({ "name": "one", "kind": "configmaps" })
    );
}

#[test]
fn orphaned_dependents_survive_their_owner() {
    let server = server();
    let at = server.address();
    for (name, options) in [
        ("a", json!({ "orphanDependents": true })),
        ("b", json!({ "propagationPolicy": "Orphan" })),
        ("c", Value::Null),
    ] {
        assert_eq!(
            post(at, crate::DEPLOYMENTS, &crate::deployment(name, 1)).code,
            201
        );
        crate::http::pass(at, 5);
        let body = if options.is_null() {
            String::new()
        } else {
            options.to_string()
        };
        assert_eq!(
            send(
                at,
                "DELETE",
                &format!("{}/{name}", crate::DEPLOYMENTS),
                &[],
                body.as_bytes()
            )
            .code,
            200
        );
        crate::http::pass(at, 60);
        let left = get(
            at,
            &format!("/apis/apps/v1/namespaces/default/replicasets?labelSelector=app%3D{name}"),
        )
        .json();
        assert_eq!(
            left["items"].as_array().map(Vec::len),
            Some(usize::from(name != "c")),
            "{name}"
        );
    }
    let both = json!({ "orphanDependents": true, "propagationPolicy": "Foreground" }).to_string();
    assert_eq!(post(at, CONFIG_MAPS, &config_map("one")).code, 201);
    let refusal = send(
        at,
        "DELETE",
        &format!("{CONFIG_MAPS}/one"),
        &[],
        both.as_bytes(),
    );
    assert_eq!(
        (refusal.code, get(at, &format!("{CONFIG_MAPS}/one")).code),
        (422, 200)
    );
}
