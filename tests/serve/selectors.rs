//! Label and field selectors: what they select, and how those that cannot be read are refused.

use crate::http::{get, pass, post, send};
use crate::{config_map, server};
use serde_json::{Value, json};
use std::net::SocketAddr;

fn names(at: SocketAddr, target: &str) -> Vec<String> {
    let reply = get(at, target);
    assert_eq!(
        reply.code,
        200,
        "{target}: {}",
        String::from_utf8_lossy(&reply.body)
    );
    let name = |item: &Value| item["metadata"]["name"].as_str().unwrap().to_owned();
    reply.json()["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(name)
        .collect()
}

#[test]
fn absent_fields_have_their_zero_value_in_field_selectors() {
    let server = server();
    let at = server.address();
    let nodes = names(at, "/api/v1/nodes");
    assert_eq!(nodes.len(), 3);
    assert_eq!(
        names(at, "/api/v1/nodes?fieldSelector=spec.unschedulable%3Dfalse"),
        nodes
    );
    assert_eq!(
        names(at, "/api/v1/nodes?fieldSelector=spec.unschedulable!%3Dtrue"),
        nodes
    );
    assert!(names(at, "/api/v1/nodes?fieldSelector=spec.unschedulable%3Dtrue").is_empty());
    assert!(names(at, "/api/v1/nodes?fieldSelector=spec.unschedulable%3D").is_empty());

    let pod = json!({ "metadata": { "name": "p" }, "spec": { "schedulerName": "none", "containers": [{ "name": "c", "image": "nginx" }] } });
    assert_eq!(post(at, "/api/v1/namespaces/default/pods", &pod).code, 201);
    for field in [
        "spec.hostNetwork=false",
        "spec.nodeName=",
        "spec.host=",
        "status.podIP=",
        "status.podIPs=",
        "status.nominatedNodeName=",
    ] {
        assert_eq!(
            names(
                at,
                &format!("/api/v1/pods?fieldSelector={}", field.replace('=', "%3D"))
            ),
            ["p"],
            "{field}"
        );
    }
    let template = json!({ "metadata": { "labels": { "a": "b" } }, "spec": { "restartPolicy": "Never", "schedulerName": "none",
        "containers": [{ "name": "c", "image": "nginx" }] } });
    let job = json!({ "metadata": { "name": "j" }, "spec": { "template": template } });
    assert_eq!(
        post(at, "/apis/batch/v1/namespaces/default/jobs", &job).code,
        201
    );
    assert_eq!(
        names(
            at,
            "/apis/batch/v1/jobs?fieldSelector=status.successful%3D0"
        ),
        ["j"]
    );
    let mut always = template;
    always["spec"]["restartPolicy"] = json!("Always");
    let controller = json!({ "metadata": { "name": "rc" }, "spec": { "replicas": 0, "selector": { "a": "b" }, "template": always } });
    assert_eq!(
        post(
            at,
            "/api/v1/namespaces/default/replicationcontrollers",
            &controller
        )
        .code,
        201
    );
    assert_eq!(
        names(
            at,
            "/api/v1/replicationcontrollers?fieldSelector=status.replicas%3D0"
        ),
        ["rc"]
    );
}

#[test]
fn events_are_selected_by_the_fields_of_both_their_versions() {
    let server = server();
    let at = server.address();
    let event = json!({ "metadata": { "name": "e" }, "involvedObject": { "kind": "Pod", "name": "p", "namespace": "default" },
        "reason": "R", "type": "Normal", "reportingComponent": "me", "reportingInstance": "i" });
    assert_eq!(
        post(at, "/api/v1/namespaces/default/events", &event).code,
        201
    );
    for (version, field) in [
        ("/api/v1", "source%3Dme"),
        ("/api/v1", "reportingComponent%3Dme"),
        ("/api/v1", "involvedObject.name%3Dp"),
        ("/apis/events.k8s.io/v1", "regarding.name%3Dp"),
        ("/apis/events.k8s.io/v1", "reportingController%3Dme"),
    ] {
        let found = names(
            at,
            &format!("{version}/namespaces/default/events?fieldSelector={field}"),
        );
        assert_eq!(found, ["e"], "{version} {field}");
    }
}

/// A definition whose objects are selected by two of their fields.
fn boats(at: SocketAddr) {
    let spec = json!({ "type": "object", "properties": { "colour": { "type": "string" }, "oars": { "type": "integer" },
        "afloat": { "type": "boolean" } } });
    let schema = json!({ "type": "object", "properties": { "spec": spec } });
    let definition = json!({
        "metadata": { "name": "boats.example.com" },
        "spec": { "group": "example.com", "scope": "Namespaced", "names": { "plural": "boats", "kind": "Boat" }, "versions": [{
            "name": "v1", "served": true, "storage": true, "schema": { "openAPIV3Schema": schema },
            "selectableFields": [{ "jsonPath": ".spec.colour" }, { "jsonPath": ".spec.afloat" }],
        }] },
    });
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
}

#[test]
fn custom_objects_are_selected_by_the_fields_their_definition_declares() {
    let server = server();
    let at = server.address();
    boats(at);
    let path = "/apis/example.com/v1/namespaces/default/boats";
    for (name, spec) in [
        ("a", json!({ "colour": "red", "afloat": true })),
        ("b", json!({})),
    ] {
        assert_eq!(
            post(
                at,
                path,
                &json!({ "metadata": { "name": name }, "spec": spec })
            )
            .code,
            201
        );
    }
    for (field, found) in [
        ("spec.colour%3Dred", ["a"]),
        ("spec.colour%3D", ["b"]),
        ("spec.afloat%3Dtrue", ["a"]),
        ("metadata.name%3Db", ["b"]),
    ] {
        assert_eq!(
            names(at, &format!("{path}?fieldSelector={field}")),
            found,
            "{field}"
        );
    }
    let refused = get(at, &format!("{path}?fieldSelector=spec.oars%3D1"));
    assert_eq!(
        (refused.code, refused.json()["message"].clone()),
        (400, json!("field label not supported: spec.oars"))
    );
}

/// Every request that takes a selector, and selectors that are refused.
#[test]
fn selectors_that_cannot_be_read_are_refused_by_every_request() {
    let server = server();
    let at = server.address();
    boats(at);
    assert_eq!(post(at, crate::CONFIG_MAPS, &config_map("kept")).code, 201);
    let unknown = |field: &str| {
        format!(
            "{field:?} is not a known field selector: only \"metadata.name\", \"metadata.namespace\""
        )
    };
    let operators = "in, notin, =, ==, !=, gt, lt";
    let labels = [
        ("a%20b", format!("unable to parse requirement: found 'b', expected: {operators}")),
        ("a%3D%3D%3Db", "unable to parse requirement: found '=', expected: identifier".to_owned()),
        ("a%3Db,", "found '', expected: identifier after ','".to_owned()),
        ("a%20in%20b", "unable to parse requirement: found 'b' expected: '('".to_owned()),
        ("a%20in%20(b", "unable to parse requirement: found '', expected: ',' or ')'".to_owned()),
        ("a%3Db%20c", "found 'c', expected: ',' or 'end of string'".to_owned()),
        ("(", "found '(', expected: !, identifier, or 'end of string'".to_owned()),
        ("!", "unable to parse requirement: found '', expected: identifier".to_owned()),
        (
            "a%3Eb",
            "unable to parse requirement: values[0]: Invalid value: \"b\": for 'Gt', 'Lt' operators, the value must be an integer"
                .to_owned(),
        ),
        (
            "a%3Db%2Fc",
            "unable to parse requirement: values[0][a]: Invalid value: \"b/c\": a valid label must be an empty string or consist of \
             alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or \
             'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
                .to_owned(),
        ),
        ("%2Fa%3Db", "unable to parse requirement: <nil>: Invalid value: \"/a\": prefix part must be non-empty".to_owned()),
    ];
    let fields = [
        (
            "metadata.name",
            "invalid selector: 'metadata.name'; can't understand 'metadata.name'".to_owned(),
        ),
        ("foo%3Dx", unknown("foo")),
        ("data.k%3Dv", unknown("data.k")),
        (
            "metadata.name%3Da%5Cb",
            "invalid field selector: invalid escape sequence: \\b".to_owned(),
        ),
    ];
    let bad: Vec<(String, &String)> = labels
        .iter()
        .map(|(text, message)| (format!("labelSelector={text}"), message))
        .chain(
            fields
                .iter()
                .map(|(text, message)| (format!("fieldSelector={text}"), message)),
        )
        .collect();
    for (option, message) in bad {
        for (method, more) in [("GET", ""), ("GET", "&watch=1"), ("DELETE", "")] {
            let reply = send(
                at,
                method,
                &format!("{}?{option}{more}", crate::CONFIG_MAPS),
                &[],
                b"",
            );
            assert_eq!(
                (reply.code, reply.json()["message"].as_str()),
                (400, Some(message.as_str())),
                "{method} {option}{more}"
            );
        }
    }
    for path in [
        "/api/v1/nodes",
        "/apis/example.com/v1/boats",
        "/api/v1/secrets",
        "/apis/events.k8s.io/v1/events",
    ] {
        let reply = get(at, &format!("{path}?watch=1&fieldSelector=spec.foo%3Dx"));
        assert_eq!(
            (reply.code, reply.json()["message"].clone()),
            (400, json!("field label not supported: spec.foo")),
            "{path}"
        );
    }
    let reply = get(at, "/apis/batch/v1/jobs?fieldSelector=status.succeeded%3D1");
    assert_eq!(
        reply.json()["message"],
        "field label \"status.succeeded\" not supported for Job"
    );
    assert!(
        names(at, crate::CONFIG_MAPS).contains(&"kept".to_owned()),
        "a refused request deletes nothing"
    );
}

#[test]
fn label_selectors_compare_numbers_and_know_every_operator() {
    let server = server();
    let at = server.address();
    for (name, labels) in [
        ("one", json!({ "n": "1", "in": "x" })),
        ("ten", json!({ "n": "10" })),
        ("none", json!({ "m": "" })),
    ] {
        let mut map = config_map(name);
        map["metadata"]["labels"] = labels;
        assert_eq!(post(at, crate::CONFIG_MAPS, &map).code, 201);
    }
    let select = |text: &str| {
        names(
            at,
            &format!(
                "{}?fieldSelector=metadata.name!%3Dkube-root-ca.crt&labelSelector={text}",
                crate::CONFIG_MAPS
            ),
        )
    };
    for (text, found) in [
        ("n%3E5", vec!["ten"]),
        ("n%3C5", vec!["one"]),
        ("n%20in%20(1,10)", vec!["one", "ten"]),
        ("n%20notin%20(1)", vec!["none", "ten"]),
        ("n!%3D1", vec!["none", "ten"]),
        ("!n", vec!["none"]),
        ("m%3D", vec!["none"]),
        ("m%20in%20()", vec!["none"]),
        ("in%3Dx", vec!["one"]),
        ("n,in%20in%20(x,,y)", vec!["one"]),
    ] {
        assert_eq!(select(text), found, "{text}");
    }
}
