//! Bodies in protobuf, as client-go sends them for built-in kinds. `tests/tools/protobuf_bodies.py` has encoded them, from Kubernetes'
//! own `generated.proto`.

use crate::http::send;
use crate::server;
use k8s_model::Kind;
use serde_json::{Value, json};

const BODIES: &str = include_str!("../data/serve/protobuf.txt");

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap())
        .collect()
}

/// Fields that every object has, aside.
fn content(mut object: Value) -> Value {
    object["metadata"] =
        json!({ "name": object["metadata"]["name"], "labels": object["metadata"]["labels"] });
    object
}

fn definition() -> Value {
    let oars = json!({ "type": "integer", "minimum": 1, "maximum": 8.5, "default": 2, "description": "how many" });
    let names = json!({ "type": "array", "x-kubernetes-list-type": "set", "items": { "type": "string", "enum": ["a", "b"] } });
    let labels =
        json!({ "type": "object", "additionalProperties": { "type": "string", "nullable": true } });
    let spec = json!({ "type": "object", "required": ["oars"], "properties": { "oars": oars, "names": names, "labels": labels },
        "x-kubernetes-validations": [{ "rule": "self.oars > 1", "message": "too few" }] });
    let status = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    json!([{
        "name": "v1", "served": true, "storage": true,
        "schema": { "openAPIV3Schema": { "type": "object", "properties": { "spec": spec, "status": status } } },
        "subresources": { "status": {}, "scale": { "specReplicasPath": ".spec.oars", "statusReplicasPath": ".status.oars" } },
        "additionalPrinterColumns": [{ "name": "Oars", "type": "integer", "jsonPath": ".spec.oars", "priority": 1 }],
        "selectableFields": [{ "jsonPath": ".spec.oars" }],
    }])
}

fn webhooks() -> Value {
    json!([{
        "name": "a.boats.example.com", "sideEffects": "None", "failurePolicy": "Ignore", "timeoutSeconds": 3,
        "admissionReviewVersions": ["v1"], "namespaceSelector": { "matchLabels": { "judged": "yes" } },
        "clientConfig": { "service": { "namespace": "far", "name": "hook", "path": "/judge" }, "caBundle": "Q0E=" },
        "rules": [{ "operations": ["CREATE"], "apiGroups": ["example.com"], "apiVersions": ["*"], "resources": ["boats"],
            "scope": "Namespaced" }],
        "matchConditions": [{ "name": "deep", "expression": "object.spec.oars > 2" }],
    }])
}

#[test]
fn kinds_of_other_repositories_and_of_admission_are_read() {
    let server = server();
    let at = server.address();
    let mut stored = Vec::new();
    for line in BODIES.lines() {
        let (path, hex) = line.split_once(' ').unwrap();
        let reply = send(
            at,
            "POST",
            path,
            &[("content-type", "application/vnd.kubernetes.protobuf")],
            &bytes(hex),
        );
        assert_eq!(
            reply.code,
            201,
            "{path}: {}",
            String::from_utf8_lossy(&reply.body)
        );
        stored.push(content(reply.json()));
    }
    let [
        definition_read,
        service,
        event,
        validating,
        mutating,
        policy,
        binding,
    ] = &stored[..]
    else {
        panic!("{}", stored.len())
    };
    assert_eq!(definition_read["spec"]["versions"], definition());
    assert_eq!(definition_read["metadata"]["labels"], json!({ "a": "b" }));
    assert_eq!(
        definition_read["spec"]["names"]["shortNames"],
        json!(["bt"])
    );
    let wanted = json!({ "group": "example.org", "version": "v1", "groupPriorityMinimum": 1000, "versionPriority": 15, "caBundle": "Q0E=",
        "service": { "namespace": "far", "name": "api", "port": 8443 } });
    assert_eq!(service["spec"], wanted);
    let fields = [
        "reason",
        "note",
        "type",
        "action",
        "eventTime",
        "reportingController",
        "reportingInstance",
    ];
    let text: Vec<&str> = fields
        .iter()
        .map(|field| event[*field].as_str().unwrap_or(""))
        .collect();
    assert_eq!(
        text,
        [
            "Sunk",
            "it sank",
            "Warning",
            "Sinking",
            "2023-11-14T22:13:20.250000Z",
            "example.com/boats",
            "boats-0"
        ]
    );
    let regarding =
        ["kind", "name", "namespace"].map(|field| event["regarding"][field].as_str().unwrap_or(""));
    assert_eq!(regarding, ["Pod", "one", "default"]);
    assert_eq!(
        event["series"],
        json!({ "count": 2, "lastObservedTime": "2023-11-14T22:14:20.000000Z" })
    );
    let mut defaulted = webhooks();
    defaulted[0]["matchPolicy"] = json!("Equivalent");
    defaulted[0]["objectSelector"] = json!({});
    defaulted[0]["clientConfig"]["service"]["port"] = json!(443);
    assert_eq!(validating["webhooks"], defaulted);
    defaulted[0]["reinvocationPolicy"] = json!("Never");
    assert_eq!(mutating["webhooks"], defaulted);
    let wanted = json!({
        "failurePolicy": "Fail", "variables": [{ "name": "oars", "expression": "object.spec.oars" }],
        "matchConstraints": { "matchPolicy": "Equivalent", "namespaceSelector": {}, "objectSelector": {}, "resourceRules": [{
            "resourceNames": ["one"], "operations": ["CREATE", "UPDATE"], "apiGroups": ["example.com"], "apiVersions": ["*"],
            "resources": ["boats"], "scope": "*" }] },
        "validations": [{ "expression": "object.spec.oars < 9", "message": "too many", "reason": "Forbidden" }],
        "auditAnnotations": [{ "key": "oars", "valueExpression": "string(object.spec.oars)" }],
    });
    assert_eq!(policy["spec"], wanted);
    let wanted = json!({ "policyName": "boats", "validationActions": ["Deny", "Audit"],
        "matchResources": { "matchPolicy": "Equivalent", "namespaceSelector": {}, "objectSelector": { "matchLabels": { "deep": "sea" } } } });
    assert_eq!(binding["spec"], wanted);
}

/// An empty message of each kind is read: it is refused for what it lacks, not for what it is.
#[test]
fn every_built_in_kind_is_read() {
    let server = server();
    let at = server.address();
    let put = |number: u8, bytes: &[u8]| {
        [
            &[number << 3 | 2, u8::try_from(bytes.len()).unwrap()],
            bytes,
        ]
        .concat()
    };
    let built_in = k8s_model::kind::ALL
        .iter()
        .filter(|kind| **kind != Kind::ComponentStatus);
    let stored = built_in.map(|kind| (kind.api_version(), *kind));
    let others = [
        ("autoscaling/v1", Kind::HorizontalPodAutoscaler),
        ("events.k8s.io/v1", Kind::Event),
    ];
    for (version, kind) in stored.chain(others.map(|(version, kind)| (version.to_owned(), kind))) {
        let info = kind.info();
        let root = if version.contains('/') {
            "/apis"
        } else {
            "/api"
        };
        let namespace = if info.namespaced {
            "/namespaces/default"
        } else {
            ""
        };
        let envelope = [put(1, version.as_bytes()), put(2, info.name.as_bytes())].concat();
        let body = [
            b"k8s\0",
            &put(1, &envelope)[..],
            &put(2, &put(1, &put(1, b"-"))),
        ]
        .concat();
        let path = format!("{root}/{version}{namespace}/{}", info.plural);
        let reply = send(
            at,
            "POST",
            &path,
            &[("content-type", "application/vnd.kubernetes.protobuf")],
            &body,
        );
        let text = String::from_utf8_lossy(&reply.body);
        assert!(
            matches!(reply.code, 201 | 422),
            "{path}: {} {text}",
            reply.code
        );
    }
}
