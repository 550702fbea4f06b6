//! What each kind allows of creates and updates, and custom objects as the API server takes them.

use crate::http::{Reply, get, pass, post, send};
use crate::{CONFIG_MAPS, config_map, patch, server};
use serde_json::{Value, json};
use std::net::SocketAddr;

const BOATS: &str = "/apis/example.com/v1/namespaces/default/boats";
const MERGE: &str = "application/merge-patch+json";

/// A definition whose objects can be scaled; with unusual paths, as operators have them.
fn boats(at: SocketAddr) {
    let spec = json!({ "type": "object", "properties": {
        "oars": { "type": "integer", "maximum": 8 }, "name": { "type": "string", "enum": ["a", "b"] }, "note": { "type": "string", "nullable": true },
        "size": { "type": "string", "default": "small" }, "map": { "type": "object", "additionalProperties": { "type": "string" } },
    } });
    let status = json!({ "type": "object", "properties": { "wet": { "type": "integer" }, "selector": { "type": "string" } } });
    let scale = json!({ "specReplicasPath": ".spec.oars", "statusReplicasPath": ".status.wet", "labelSelectorPath": ".status.selector" });
    let definition = json!({
        "metadata": { "name": "boats.example.com" },
        "spec": { "group": "example.com", "scope": "Namespaced", "names": { "plural": "boats", "kind": "Boat" }, "versions": [{
            "name": "v1", "served": true, "storage": true, "subresources": { "status": {}, "scale": scale },
            "schema": { "openAPIV3Schema": { "type": "object", "properties": { "spec": spec, "status": status } } },
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

fn boat(name: &str, spec: &Value) -> Value {
    json!({ "apiVersion": "example.com/v1", "kind": "Boat", "metadata": { "name": name }, "spec": spec })
}

fn put(at: SocketAddr, target: &str, body: &Value) -> Reply {
    send(
        at,
        "PUT",
        target,
        &[("content-type", "application/json")],
        body.to_string().as_bytes(),
    )
}

fn said(reply: &Reply) -> (u16, String) {
    (
        reply.code,
        reply.json()["message"].as_str().unwrap_or("").to_owned(),
    )
}

fn refused(code: u16, message: &str) -> (u16, String) {
    (code, message.to_owned())
}

#[test]
fn a_replaced_object_must_be_the_one_that_was_read() {
    let server = server();
    let at = server.address();
    boats(at);
    let created = post(at, BOATS, &boat("one", &json!({ "oars": 1 }))).json();
    let one = format!("{BOATS}/one");
    let unread = "boats.example.com \"one\" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update";
    let reply = put(at, &one, &boat("one", &json!({ "oars": 2 })));
    assert_eq!(said(&reply), refused(422, unread));
    assert_eq!(
        reply.json()["details"]["causes"][0]["field"],
        "metadata.resourceVersion"
    );
    let mut unnamed = created.clone();
    unnamed["metadata"].as_object_mut().unwrap().remove("name");
    let message =
        "the name of the object (one based on URL) was undeterminable: name must be provided";
    assert_eq!(said(&put(at, &one, &unnamed)), refused(400, message));
    assert_eq!(put(at, &one, &unnamed).json()["details"], Value::Null);
    let (mut foreign, uid) = (
        created.clone(),
        created["metadata"]["uid"].as_str().unwrap(),
    );
    foreign["metadata"]["uid"] = json!("11111111-1111-1111-1111-111111111111");
    let message = format!(
        "Operation cannot be fulfilled on boats.example.com \"one\": StorageError: invalid object, Code: 4, Key: \
         /registry/example.com/boats/default/one, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: \
         11111111-1111-1111-1111-111111111111, UID in object meta: {uid}"
    );
    assert_eq!(said(&put(at, &one, &foreign)), (409, message));
    assert_eq!(put(at, &one, &created).code, 200);
    // Of built-in kinds some must be read first, others need not.
    let budget = json!({ "metadata": { "name": "b" }, "spec": { "minAvailable": 1, "selector": { "matchLabels": { "a": "b" } } } });
    let budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
    assert_eq!(post(at, budgets, &budget).code, 201);
    let message = "poddisruptionbudgets.policy \"b\" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update";
    assert_eq!(
        said(&put(at, &format!("{budgets}/b"), &budget)),
        refused(422, message)
    );
    assert_eq!(post(at, CONFIG_MAPS, &config_map("m")).code, 201);
    let map = format!("{CONFIG_MAPS}/m");
    assert_eq!(put(at, &map, &config_map("m")).code, 200);
    assert_eq!(said(&put(at, &map, &json!({ "data": {} }))).0, 400);
    let mut foreign = config_map("m");
    foreign["metadata"]["uid"] = json!("not-even-a-uid");
    assert_eq!(put(at, &map, &foreign).code, 409);
    // A patch is made of what is stored.
    assert_eq!(
        patch(at, &one, MERGE, &json!({ "spec": { "oars": 3 } })).code,
        200
    );
}

#[test]
fn a_new_object_has_no_version_and_gets_its_own_uid() {
    let server = server();
    let at = server.address();
    boats(at);
    let uid = "11111111-1111-1111-1111-111111111111";
    for (path, mut object) in [
        (BOATS, boat("one", &json!({}))),
        (CONFIG_MAPS, config_map("one")),
    ] {
        object["metadata"]["resourceVersion"] = json!("5");
        assert_eq!(
            said(&post(at, path, &object)),
            refused(
                500,
                "resourceVersion should not be set on objects to be created"
            )
        );
        object["metadata"]["resourceVersion"] = json!("0");
        object["metadata"]["uid"] = json!(uid);
        let created = post(at, path, &object);
        assert_eq!(created.code, 201, "{path}");
        assert_ne!(created.json()["metadata"]["uid"], uid);
    }
}

#[test]
fn null_in_a_field_of_a_custom_object_is_no_value() {
    let server = server();
    let at = server.address();
    boats(at);
    let spec = json!({ "oars": 1, "name": null, "note": null, "size": null, "map": { "a": null, "b": "c" } });
    let created = post(at, BOATS, &boat("one", &spec));
    assert_eq!(created.code, 201, "{}", created.json());
    assert_eq!(
        created.json()["spec"],
        json!({ "oars": 1, "note": null, "size": "small", "map": { "b": "c" } })
    );
}

#[test]
fn applied_fields_must_be_declared_with_their_types() {
    let server = server();
    let at = server.address();
    boats(at);
    let apply = |spec: Value| {
        let mut object = boat("one", &spec);
        object["metadata"]["namespace"] = json!("default");
        let target = format!("{BOATS}/one?fieldManager=m");
        said(&send(
            at,
            "PATCH",
            &target,
            &[("content-type", "application/apply-patch+yaml")],
            object.to_string().as_bytes(),
        ))
    };
    let failed = "failed to create typed patch object (default/one; example.com/v1, Kind=Boat): ";
    for (spec, message) in [
        (
            json!({ "sail": 1 }),
            ".spec.sail: field not declared in schema",
        ),
        (
            json!({ "oars": "q" }),
            ".spec.oars: expected numeric (int or float), got string",
        ),
        (
            json!({ "name": true }),
            ".spec.name: expected string, got &value.valueUnstructured{Value:true}",
        ),
        (
            json!({ "oars": "q", "sail": 1 }),
            "errors:\n  .spec.oars: expected numeric (int or float), got string\n  .spec.sail: field not declared in schema",
        ),
    ] {
        assert_eq!(apply(spec), refused(500, &format!("{failed}{message}")));
    }
    assert_eq!(apply(json!({ "oars": 1 })).0, 201);
}

#[test]
fn an_object_that_is_deleted_gets_no_more_finalizers() {
    let server = server();
    let at = server.address();
    boats(at);
    for (path, mut object) in [
        (BOATS, boat("one", &json!({}))),
        (CONFIG_MAPS, config_map("one")),
    ] {
        let one = format!("{path}/one");
        object["metadata"]["finalizers"] = json!(["example.com/kept", "example.com/other"]);
        assert_eq!(post(at, path, &object).code, 201);
        assert_eq!(send(at, "DELETE", &one, &[], b"").code, 200);
        let more = json!({ "metadata": { "finalizers": ["example.com/kept", "example.com/new"] } });
        let (code, message) = said(&patch(at, &one, MERGE, &more));
        let found = "found new finalizers []string{\"example.com/new\"}";
        let detail = format!(
            "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, {found}"
        );
        assert!(code == 422 && message.ends_with(&detail), "{message}");
        assert_eq!(
            patch(
                at,
                &one,
                MERGE,
                &json!({ "metadata": { "finalizers": ["example.com/kept"] } })
            )
            .code,
            200
        );
        assert_eq!(
            patch(
                at,
                &one,
                MERGE,
                &json!({ "metadata": { "finalizers": null } })
            )
            .code,
            200
        );
        assert_eq!(get(at, &one).code, 404);
    }
}

#[test]
fn custom_objects_are_scaled_by_the_paths_of_their_definition() {
    let server = server();
    let at = server.address();
    boats(at);
    let (one, scale) = (format!("{BOATS}/one"), format!("{BOATS}/one/scale"));
    assert_eq!(post(at, BOATS, &boat("one", &json!({}))).code, 201);
    let missing = "Internal error occurred: the spec replicas field \".spec.oars\" does not exist";
    assert_eq!(said(&get(at, &scale)), refused(500, missing));
    assert_eq!(
        patch(at, &one, MERGE, &json!({ "spec": { "oars": 2 } })).code,
        200
    );
    let status = json!({ "status": { "wet": 1, "selector": "app=one" } });
    assert_eq!(
        patch(at, &format!("{one}/status"), MERGE, &status).code,
        200
    );
    let read = get(at, &scale).json();
    assert_eq!(
        (&read["spec"], &read["status"]),
        (
            &json!({ "replicas": 2 }),
            &json!({ "replicas": 1, "selector": "app=one" })
        )
    );
    let body = json!({ "apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": { "name": "one" }, "spec": { "replicas": 4 } });
    assert_eq!(put(at, &scale, &body).json()["spec"]["replicas"], 4);
    assert_eq!(get(at, &one).json()["spec"]["oars"], 4);
    let many = "Boat.example.com \"one\" is invalid: spec.oars: Invalid value: 9: spec.oars in body should be less than or equal to 8";
    assert_eq!(
        said(&patch(
            at,
            &scale,
            MERGE,
            &json!({ "spec": { "replicas": 9 } })
        )),
        refused(422, many)
    );
    let negative = said(&patch(
        at,
        &scale,
        MERGE,
        &json!({ "spec": { "replicas": -1 } }),
    ));
    assert_eq!(negative.0, 422, "{}", negative.1);
    let mut foreign = body;
    foreign["metadata"]["uid"] = json!("11111111-1111-1111-1111-111111111111");
    assert_eq!(put(at, &scale, &foreign).code, 409);
    // kubectl goes the same way.
    let line = send(
        at,
        "POST",
        "/loopscope/kubectl",
        &[],
        b"kubectl scale boats one --current-replicas=4 --replicas=3",
    )
    .json();
    assert_eq!(line["lines"][0]["text"], "boat.example.com/one scaled");
    assert_eq!(get(at, &scale).json()["spec"]["replicas"], 3);
    // A workload's scale has its whole selector, and no fields that are zero.
    let mut set = crate::deployment("web", 0);
    set["spec"]["selector"] = json!({ "matchLabels": { "app": "web" }, "matchExpressions": [{ "key": "app", "operator": "Exists" }] });
    assert_eq!(post(at, crate::DEPLOYMENTS, &set).code, 201);
    let read = get(at, &format!("{}/web/scale", crate::DEPLOYMENTS)).json();
    assert_eq!(
        (&read["spec"], &read["status"]),
        (
            &json!({}),
            &json!({ "replicas": 0, "selector": "app=web,app" })
        )
    );
    let negative = "Scale.autoscaling \"web\" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0";
    let web = format!("{}/web/scale", crate::DEPLOYMENTS);
    assert_eq!(
        said(&patch(
            at,
            &web,
            MERGE,
            &json!({ "spec": { "replicas": -1 } })
        )),
        refused(422, negative)
    );
}

#[test]
fn an_autoscaler_sets_the_size_of_custom_objects() {
    let server = server();
    let at = server.address();
    boats(at);
    assert_eq!(
        post(at, BOATS, &boat("one", &json!({ "oars": 1 }))).code,
        201
    );
    let status = json!({ "status": { "wet": 1, "selector": "app=one" } });
    assert_eq!(
        patch(at, &format!("{BOATS}/one/status"), MERGE, &status).code,
        200
    );
    let target = json!({ "apiVersion": "example.com/v1", "kind": "Boat", "name": "one" });
    let scaler = json!({ "metadata": { "name": "boats" }, "spec": { "minReplicas": 3, "maxReplicas": 5, "scaleTargetRef": target } });
    let scalers = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers";
    assert_eq!(post(at, scalers, &scaler).code, 201);
    pass(at, 40);
    assert_eq!(get(at, &format!("{BOATS}/one")).json()["spec"]["oars"], 3);
    // Without a selector no Pods are found.
    assert_eq!(
        patch(
            at,
            &format!("{BOATS}/one/status"),
            MERGE,
            &json!({ "status": { "selector": null } })
        )
        .code,
        200
    );
    pass(at, 40);
    let read = get(at, &format!("{scalers}/boats")).json();
    let condition = |kind: &str| {
        read["status"]["conditions"]
            .as_array()
            .unwrap()
            .iter()
            .find(|c| c["type"] == kind)
            .cloned()
            .unwrap()
    };
    assert_eq!(condition("AbleToScale")["reason"], "SucceededGetScale");
    assert_eq!(condition("ScalingActive")["reason"], "InvalidSelector");
    assert_eq!(
        condition("ScalingActive")["message"],
        "the HPA target's scale is missing a selector"
    );
}

#[test]
fn kinds_that_allow_it_are_created_by_a_put() {
    let server = server();
    let at = server.address();
    let role = json!({ "apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "one" });
    for (path, body) in [
        (
            "/apis/coordination.k8s.io/v1/namespaces/default/leases",
            json!({ "spec": { "holderIdentity": "me" } }),
        ),
        (
            "/api/v1/namespaces/default/endpoints",
            json!({ "subsets": [] }),
        ),
        (
            "/api/v1/namespaces/default/services",
            json!({ "spec": { "ports": [{ "port": 80 }] } }),
        ),
        (
            "/api/v1/namespaces/default/limitranges",
            json!({ "spec": { "limits": [] } }),
        ),
        (
            "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles",
            json!({ "rules": [] }),
        ),
        (
            "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings",
            json!({ "roleRef": role }),
        ),
        (
            "/apis/rbac.authorization.k8s.io/v1/clusterroles",
            json!({ "rules": [] }),
        ),
        (
            "/apis/node.k8s.io/v1/runtimeclasses",
            json!({ "handler": "runc" }),
        ),
    ] {
        let mut body = body;
        body["metadata"] = json!({ "name": "one" });
        let one = format!("{path}/one");
        let created = put(at, &one, &body);
        assert_eq!(created.code, 201, "{path}: {}", created.json());
        let stored = get(at, &one).json();
        assert_eq!(
            stored["metadata"]["uid"],
            created.json()["metadata"]["uid"],
            "{path}"
        );
        assert_eq!(put(at, &one, &stored).code, 200, "{path}");
    }
    assert_eq!(
        put(at, &format!("{CONFIG_MAPS}/none"), &config_map("none")).code,
        404
    );
    // Whoever may only update may not create that way.
    let bind = json!({ "metadata": { "name": "lessor" }, "rules": [{ "apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["update"] }] });
    assert_eq!(
        post(at, "/apis/rbac.authorization.k8s.io/v1/clusterroles", &bind).code,
        201
    );
    let subjects =
        json!([{ "apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "jane" }]);
    let bound = json!({ "metadata": { "name": "jane" }, "subjects": subjects,
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "lessor" } });
    assert_eq!(
        post(
            at,
            "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
            &bound
        )
        .code,
        201
    );
    let lease = "/apis/coordination.k8s.io/v1/namespaces/default/leases/jane";
    let body = json!({ "metadata": { "name": "jane" }, "spec": {} }).to_string();
    let headers = [
        ("content-type", "application/json"),
        ("impersonate-user", "jane"),
    ];
    assert_eq!(send(at, "PUT", lease, &headers, body.as_bytes()).code, 403);
    assert_eq!(get(at, lease).code, 404);
}

#[test]
fn fields_that_stand_twice_are_named() {
    let server = server();
    let at = server.address();
    boats(at);
    let raw = |method: &str, target: &str, kind: &str, body: &str| {
        send(
            at,
            method,
            target,
            &[("content-type", kind)],
            body.as_bytes(),
        )
    };
    let twice = |name: &str| {
        format!(
            "{{\"metadata\":{{\"name\":\"{name}\",\"foo\":1,\"labels\":{{\"a\":\"1\",\"a\":\"2\"}}}},\"data\":{{\"a\":\"b\"}},\"data\":{{\"c\":\"d\"}}}}"
        )
    };
    let strict = format!("{CONFIG_MAPS}?fieldValidation=Strict");
    let found = "duplicate field \"data\", duplicate field \"metadata.labels.a\", unknown field \"metadata.foo\"";
    let message = format!(
        "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict decoding error: {found}"
    );
    assert_eq!(
        said(&raw("POST", &strict, "application/json", &twice("one"))),
        (400, message)
    );
    let warned = raw("POST", CONFIG_MAPS, "application/json", &twice("one"));
    let warnings: Vec<&str> = warned
        .headers
        .iter()
        .filter(|(key, _)| key == "warning")
        .map(|(_, value)| value.as_str())
        .collect();
    let wanted = [
        "duplicate field \\\"data\\\"",
        "duplicate field \\\"metadata.labels.a\\\"",
        "unknown field \\\"metadata.foo\\\"",
    ];
    assert_eq!(
        (warned.code, warnings),
        (
            201,
            wanted
                .map(|text| format!("299 - \"{text}\""))
                .iter()
                .map(String::as_str)
                .collect::<Vec<_>>()
        )
    );
    // What stands twice is read twice, into the same field.
    assert_eq!(
        (&warned.json()["data"], &warned.json()["metadata"]["labels"]),
        (&json!({ "a": "b", "c": "d" }), &json!({ "a": "2" }))
    );
    let ignored = raw(
        "POST",
        &format!("{CONFIG_MAPS}?fieldValidation=Ignore"),
        "application/json",
        &twice("two"),
    );
    assert_eq!((ignored.code, ignored.header("warning")), (201, ""));
    let yaml = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: y\n  name: z\nfoo: 1\n";
    let message = "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict decoding error: unknown field \"foo\", yaml: \
                   unmarshal errors:\n  line 5: key \"name\" already set in map";
    assert_eq!(
        said(&raw("POST", &strict, "application/yaml", yaml)),
        refused(400, message)
    );
    let warned = raw("POST", CONFIG_MAPS, "application/yaml", yaml);
    assert_eq!(
        (warned.code, warned.json()["metadata"]["name"].clone()),
        (201, json!("z"))
    );
    assert_eq!(
        warned.header("warning"),
        "299 - \"line 5: key \\\"name\\\" already set in map\""
    );
    // Custom objects, replacements, and fields within lists.
    let boat = "{\"metadata\":{\"name\":\"one\"},\"spec\":{\"oars\":1,\"oars\":2}}";
    let message = "Boat in version \"v1\" cannot be handled as a Boat: strict decoding error: duplicate field \"spec.oars\"";
    assert_eq!(
        said(&raw(
            "POST",
            &format!("{BOATS}?fieldValidation=Strict"),
            "application/json",
            boat
        )),
        refused(400, message)
    );
    assert_eq!(
        raw("POST", BOATS, "application/json", boat).json()["spec"]["oars"],
        2
    );
    let pod = "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"a\",\"image\":\"b\"}]}}";
    let reply = raw(
        "POST",
        "/api/v1/namespaces/default/pods?fieldValidation=Strict",
        "application/json",
        pod,
    );
    assert!(
        said(&reply)
            .1
            .ends_with("strict decoding error: duplicate field \"spec.containers[0].image\""),
        "{}",
        said(&reply).1
    );
    let target = format!("{CONFIG_MAPS}/one?fieldValidation=Strict");
    assert_eq!(
        raw(
            "PUT",
            &target,
            "application/json",
            "{\"metadata\":{\"name\":\"one\"},\"data\":{\"a\":\"1\",\"a\":\"2\"}}"
        )
        .code,
        400
    );
}

#[test]
fn addresses_of_services_are_of_the_cluster() {
    let server = server();
    let at = server.address();
    let services = "/api/v1/namespaces/default/services";
    let service = |name: &str, spec: Value| json!({ "metadata": { "name": name }, "spec": spec });
    let spec = |ip: &str| json!({ "clusterIP": ip, "ports": [{ "port": 80 }] });
    let message = |ip: &str| {
        let detail = format!(
            "failed to allocate IP {ip}: the provided network does not match the current range"
        );
        (
            422,
            format!(
                "Service \"out\" is invalid: spec.clusterIPs: Invalid value: [\"{ip}\"]: {detail}"
            ),
        )
    };
    for ip in ["1.2.3.4", "10.112.0.1", "10.95.255.255"] {
        assert_eq!(
            said(&post(at, services, &service("out", spec(ip)))),
            message(ip)
        );
    }
    for ip in ["10.96.200.7", "10.111.0.1"] {
        assert_eq!(
            post(
                at,
                services,
                &service(&format!("in-{}", ip.replace('.', "-")), spec(ip))
            )
            .code,
            201,
            "{ip}"
        );
    }
    let mismatch = json!({ "clusterIP": "10.97.77.78", "clusterIPs": ["10.97.77.79"], "ports": [{ "port": 80 }] });
    let message = "Service \"two\" is invalid: spec.clusterIPs: Invalid value: [\"10.97.77.79\"]: first value must match `clusterIP`";
    assert_eq!(
        said(&post(at, services, &service("two", mismatch))),
        refused(422, message)
    );
}
