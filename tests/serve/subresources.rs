//! Parts of objects over HTTP: each with what it changes and what it leaves alone, and with the refusals of an API server.

use crate::http::{Reply, get, pass, post, send};
use crate::{CONFIG_MAPS, DEPLOYMENTS, config_map, deployment, patch, server};
use serde_json::{Value, json};
use std::net::SocketAddr;

const PODS: &str = "/api/v1/namespaces/default/pods";
const MERGE: &str = "application/merge-patch+json";
const STRATEGIC: &str = "application/strategic-merge-patch+json";

fn put(at: SocketAddr, target: &str, body: &Value) -> Reply {
    send(
        at,
        "PUT",
        target,
        &[("content-type", "application/json")],
        body.to_string().as_bytes(),
    )
}

fn apply(at: SocketAddr, target: &str, body: &Value) -> Reply {
    send(
        at,
        "PATCH",
        target,
        &[("content-type", "application/apply-patch+yaml")],
        body.to_string().as_bytes(),
    )
}

/// A PEM block, in base64.
const CERTIFICATE: &str =
    "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCmVBPT0KLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo=";

/// Code, reason and message of a refusal.
fn refused(reply: &Reply) -> (u16, String, String) {
    let status = reply.json();
    assert_eq!(status["kind"], "Status", "{status}");
    assert_eq!(status["code"], reply.code, "{status}");
    let text = |key: &str| status[key].as_str().unwrap_or("").to_owned();
    (reply.code, text("reason"), text("message"))
}

/// A refusal of this code and reason, whose message has these words.
fn refuses(reply: &Reply, code: u16, reason: &str, words: &str) {
    let (got, why, message) = refused(reply);
    assert_eq!((got, why.as_str()), (code, reason), "{message}");
    assert!(message.contains(words), "{message}");
}

/// A Pod that runs, named `box`.
fn boxed(at: SocketAddr) {
    let resources = json!({ "requests": { "cpu": "100m", "memory": "64Mi" } });
    let pod = json!({ "metadata": { "name": "box" }, "spec": { "containers": [{ "name": "c", "image": "nginx:1.27", "resources": resources }] } });
    assert_eq!(post(at, PODS, &pod).code, 201);
    pass(at, 10);
    assert_eq!(
        get(at, &format!("{PODS}/box")).json()["status"]["phase"],
        "Running"
    );
}

#[test]
fn a_write_of_the_status_leaves_the_spec_and_the_other_way_round() {
    let server = server();
    let at = server.address();
    assert_eq!(post(at, DEPLOYMENTS, &deployment("web", 0)).code, 201);
    pass(at, 5);
    let web = format!("{DEPLOYMENTS}/web");
    let before = get(at, &web).json();
    let mut both = before.clone();
    (
        both["spec"]["replicas"],
        both["status"]["observedGeneration"],
    ) = (json!(7), json!(40));
    both["metadata"]["labels"] = json!({ "a": "b" });
    let status = put(at, &format!("{web}/status"), &both).json();
    assert_eq!(
        (&status["spec"], &status["metadata"]["generation"]),
        (&before["spec"], &json!(1))
    );
    assert_eq!(
        (
            &status["status"]["observedGeneration"],
            status["metadata"].get("labels")
        ),
        (&json!(40), None)
    );
    assert_ne!(
        status["metadata"]["resourceVersion"],
        before["metadata"]["resourceVersion"]
    );
    let managed = status["metadata"]["managedFields"].as_array().unwrap();
    assert!(
        managed
            .iter()
            .any(|one| one["subresource"] == "status" && one["manager"] == "unknown"),
        "{managed:?}"
    );
    // The spec, with a status that does not count: the generation moves on with the spec alone.
    let mut main = status.clone();
    (main["spec"]["paused"], main["status"]["observedGeneration"]) = (json!(true), json!(90));
    let main = put(at, &web, &main).json();
    assert_eq!(
        (&main["spec"]["paused"], &main["metadata"]["generation"]),
        (&json!(true), &json!(2))
    );
    assert_eq!(main["status"]["observedGeneration"], 40);
    let same = put(at, &web, &main).json();
    assert_eq!(same["metadata"], main["metadata"], "nothing has changed");
    for (kind, change) in [
        (
            MERGE,
            json!({ "spec": { "replicas": 9 }, "status": { "observedGeneration": 41 } }),
        ),
        (
            STRATEGIC,
            json!({ "spec": { "replicas": 9 }, "status": { "observedGeneration": 42 } }),
        ),
        (
            "application/json-patch+json",
            json!([{ "op": "replace", "path": "/status/observedGeneration", "value": 43 }, { "op": "replace", "path": "/spec/replicas", "value": 9 }]),
        ),
    ] {
        let patched = patch(at, &format!("{web}/status"), kind, &change).json();
        assert_eq!(
            (
                &patched["spec"]["replicas"],
                &patched["metadata"]["generation"]
            ),
            (&json!(0), &json!(2)),
            "{kind}"
        );
        assert!(
            patched["status"]["observedGeneration"].as_i64() > Some(40),
            "{kind}"
        );
    }
}

#[test]
fn a_status_is_refused_as_an_object_is() {
    let server = server();
    let at = server.address();
    boxed(at);
    let part = format!("{PODS}/box/status");
    let stored = get(at, &part).json();
    assert_eq!(stored, get(at, &format!("{PODS}/box")).json());
    let mut old = stored.clone();
    old["metadata"]["resourceVersion"] = json!("1");
    refuses(
        &put(at, &part, &old),
        409,
        "Conflict",
        "the object has been modified",
    );
    refuses(
        &patch(
            at,
            &part,
            MERGE,
            &json!({ "metadata": { "resourceVersion": "1" }, "status": { "reason": "x" } }),
        ),
        409,
        "Conflict",
        "",
    );
    let mut other = stored.clone();
    other["metadata"]["name"] = json!("other");
    refuses(
        &put(at, &part, &other),
        400,
        "BadRequest",
        "the name of the object (other) does not match the name on the URL (box)",
    );
    refuses(
        &patch(
            at,
            &part,
            MERGE,
            &json!({ "metadata": { "name": "other" } }),
        ),
        400,
        "BadRequest",
        "(other)",
    );
    let mut service = stored.clone();
    service["kind"] = json!("Service");
    refuses(
        &put(at, &part, &service),
        400,
        "BadRequest",
        "unknown conversion",
    );
    let nope = json!({ "metadata": { "name": "nope" }, "status": {} });
    refuses(
        &put(at, &format!("{PODS}/nope/status"), &nope),
        404,
        "NotFound",
        "pods \"nope\" not found",
    );
    refuses(&post(at, &part, &stored), 405, "MethodNotAllowed", "");
    refuses(
        &send(at, "DELETE", &part, &[], b""),
        405,
        "MethodNotAllowed",
        "",
    );
    refuses(
        &patch(at, &part, "text/plain", &json!({})),
        415,
        "UnsupportedMediaType",
        "the body of the request was in an unknown format",
    );
    let jane = [("impersonate-user", "jane"), ("content-type", MERGE)];
    refuses(
        &send(at, "PATCH", &part, &jane, b"{}"),
        403,
        "Forbidden",
        "cannot patch resource \"pods/status\"",
    );
    assert_eq!(get(at, &part).json(), stored, "nothing of it was written");
    // Kinds without a status have no such part.
    assert_eq!(post(at, CONFIG_MAPS, &config_map("one")).code, 201);
    for reply in [
        get(at, &format!("{CONFIG_MAPS}/one/status")),
        patch(at, &format!("{CONFIG_MAPS}/one/status"), MERGE, &json!({})),
    ] {
        refuses(
            &reply,
            404,
            "NotFound",
            "the server could not find the requested resource",
        );
    }
}

#[test]
fn a_status_is_applied_by_its_own_manager() {
    let server = server();
    let at = server.address();
    boxed(at);
    let part =
        |manager: &str, more: &str| format!("{PODS}/box/status?fieldManager={manager}{more}");
    let status = |text: &str| json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "box" }, "spec": { "nodeName": "x" }, "status": { "message": text } });
    let first = apply(at, &part("one", ""), &status("a"));
    assert_eq!(
        (
            first.code,
            &first.json()["status"]["message"],
            &first.json()["status"]["phase"]
        ),
        (200, &json!("a"), &json!("Running"))
    );
    assert_ne!(first.json()["spec"]["nodeName"], "x");
    let owns = |object: &Value, manager: &str| {
        let managed = object["metadata"]["managedFields"]
            .as_array()
            .unwrap()
            .clone();
        managed
            .into_iter()
            .find(|one| one["manager"] == manager && one["operation"] == "Apply")
            .map(|one| (one["subresource"].clone(), one["fieldsV1"].clone()))
    };
    assert_eq!(
        owns(&first.json(), "one"),
        Some((json!("status"), json!({ "f:status": { "f:message": {} } })))
    );
    refuses(
        &apply(at, &part("two", ""), &status("b")),
        409,
        "Conflict",
        "conflict with \"one\" with subresource \"status\"",
    );
    let forced = apply(at, &part("two", "&force=true"), &status("b")).json();
    assert_eq!(
        (&forced["status"]["message"], owns(&forced, "one")),
        (&json!("b"), None)
    );
    // What is no longer applied is gone.
    let empty =
        json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "box" }, "status": {} });
    assert_eq!(
        apply(at, &part("two", ""), &empty).json()["status"].get("message"),
        None
    );
    refuses(
        &apply(
            at,
            &format!("{PODS}/nope/status?fieldManager=one"),
            &json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "nope" } }),
        ),
        404,
        "NotFound",
        "",
    );
    refuses(
        &apply(at, &format!("{PODS}/box/status"), &status("c")),
        422,
        "Invalid",
        "fieldManager: Required value",
    );
    let jane = [
        ("impersonate-user", "jane"),
        ("content-type", "application/apply-patch+yaml"),
    ];
    let body = status("d").to_string();
    refuses(
        &send(at, "PATCH", &part("one", ""), &jane, body.as_bytes()),
        403,
        "Forbidden",
        "pods/status",
    );
}

#[test]
fn a_custom_status_changes_nothing_else() {
    let server = server();
    let at = server.address();
    let version = |name: &str, parts: Value| {
        let state = json!({ "type": "object", "properties": { "state": { "type": "string", "maxLength": 5 } } });
        let schema = json!({ "type": "object", "properties": { "spec": { "type": "object", "properties": { "oars": { "type": "integer" } } }, "status": state } });
        json!({ "name": name, "served": true, "storage": true, "schema": { "openAPIV3Schema": schema }, "subresources": parts })
    };
    for (plural, kind, parts) in [
        ("boats", "Boat", json!({ "status": {} })),
        ("ships", "Ship", json!({})),
    ] {
        let names = json!({ "plural": plural, "singular": kind.to_lowercase(), "kind": kind });
        let spec = json!({ "group": "example.com", "scope": "Namespaced", "names": names, "versions": [version("v1", parts)] });
        let definition =
            json!({ "metadata": { "name": format!("{plural}.example.com") }, "spec": spec });
        assert_eq!(
            post(
                at,
                "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
                &definition
            )
            .code,
            201
        );
    }
    pass(at, 2);
    let all = |plural: &str| format!("/apis/example.com/v1/namespaces/default/{plural}");
    let object = |kind: &str| json!({ "kind": kind, "apiVersion": "example.com/v1", "metadata": { "name": "one" }, "spec": { "oars": 2 }, "status": { "state": "new" } });
    let made = post(at, &all("boats"), &object("Boat")).json();
    assert_eq!(
        (made.get("status"), &made["metadata"]["generation"]),
        (None, &json!(1)),
        "the status is not the creator's"
    );
    let mut changed = made.clone();
    changed["metadata"]["annotations"] = json!({ "a": "b" });
    (changed["spec"]["oars"], changed["status"]) = (json!(5), json!({ "state": "sails" }));
    let status = put(at, &format!("{}/one/status", all("boats")), &changed).json();
    assert_eq!(
        (
            &status["status"]["state"],
            &status["spec"]["oars"],
            &status["metadata"]["generation"]
        ),
        (&json!("sails"), &json!(2), &json!(1))
    );
    assert_eq!(
        status["metadata"].get("annotations"),
        None,
        "nor are the annotations"
    );
    refuses(
        &put(at, &format!("{}/one/status", all("boats")), &changed),
        409,
        "Conflict",
        "",
    );
    let long = json!({ "status": { "state": "anchored" } });
    refuses(
        &patch(at, &format!("{}/one/status", all("boats")), MERGE, &long),
        422,
        "Invalid",
        "status.state",
    );
    let main = patch(
        at,
        &format!("{}/one", all("boats")),
        MERGE,
        &json!({ "spec": { "oars": 4 }, "status": { "state": "lies" } }),
    )
    .json();
    assert_eq!(
        (&main["status"]["state"], &main["metadata"]["generation"]),
        (&json!("sails"), &json!(2))
    );
    let applied = json!({ "kind": "Boat", "apiVersion": "example.com/v1", "metadata": { "name": "one" }, "status": { "state": "sinks" } });
    let applied = apply(
        at,
        &format!("{}/one/status?fieldManager=own&force=true", all("boats")),
        &applied,
    );
    assert_eq!(
        (
            applied.code,
            &applied.json()["status"]["state"],
            &applied.json()["spec"]["oars"]
        ),
        (200, &json!("sinks"), &json!(4))
    );
    // Without the subresource the status is a field like any other, and there is no such part.
    assert_eq!(
        post(at, &all("ships"), &object("Ship")).json()["status"]["state"],
        "new"
    );
    refuses(
        &get(at, &format!("{}/one/status", all("ships"))),
        404,
        "NotFound",
        "ships.example.com \"one\" not found",
    );
}

#[test]
fn an_older_version_of_a_status_is_written_in_its_own_form() {
    let server = server();
    let at = server.address();
    let (old, new) = (
        "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers",
        "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers",
    );
    let target = json!({ "apiVersion": "apps/v1", "kind": "Deployment", "name": "web" });
    assert_eq!(post(at, old, &json!({ "metadata": { "name": "web" }, "spec": { "scaleTargetRef": target, "maxReplicas": 4 } })).code, 201);
    let usage = |at: SocketAddr| {
        get(at, &format!("{new}/web")).json()["status"]["currentMetrics"][0]["resource"]["current"]
            ["averageUtilization"]
            .clone()
    };
    let mut whole = get(at, &format!("{old}/web")).json();
    whole["status"] = json!({ "currentReplicas": 2, "desiredReplicas": 2, "currentCPUUtilizationPercentage": 30 });
    assert_eq!(put(at, &format!("{old}/web/status"), &whole).code, 200);
    assert_eq!(usage(at), 30);
    let change = json!({ "status": { "currentCPUUtilizationPercentage": 40 } });
    let patched = patch(at, &format!("{old}/web/status"), MERGE, &change);
    assert_eq!(
        (
            patched.code,
            &patched.json()["status"]["currentCPUUtilizationPercentage"],
            usage(at)
        ),
        (200, &json!(40), json!(40))
    );
}

#[test]
fn a_scale_has_the_replicas_alone() {
    let server = server();
    let at = server.address();
    assert_eq!(post(at, DEPLOYMENTS, &deployment("web", 1)).code, 201);
    let part = format!("{DEPLOYMENTS}/web/scale");
    let mut scale = get(at, &part).json();
    scale["spec"]["replicas"] = json!(2);
    let scaled = put(at, &part, &scale);
    assert_eq!(
        (scaled.code, &scaled.json()["spec"]["replicas"]),
        (200, &json!(2))
    );
    assert_eq!(
        get(at, &format!("{DEPLOYMENTS}/web")).json()["metadata"]["generation"],
        2
    );
    refuses(
        &put(at, &part, &scale),
        409,
        "Conflict",
        "the object has been modified",
    );
    refuses(
        &patch(at, &part, MERGE, &json!({ "spec": { "replicas": -1 } })),
        422,
        "Invalid",
        "spec.replicas",
    );
    refuses(
        &get(at, &format!("{DEPLOYMENTS}/nope/scale")),
        404,
        "NotFound",
        "deployments.apps \"nope\" not found",
    );
    refuses(&post(at, &part, &scale), 405, "MethodNotAllowed", "");
    refuses(
        &get(at, "/apis/apps/v1/namespaces/default/daemonsets/web/scale"),
        404,
        "NotFound",
        "could not find the requested resource",
    );
}

#[test]
fn a_pod_is_resized_and_nothing_else_of_it_changes() {
    let server = server();
    let at = server.address();
    boxed(at);
    let part = format!("{PODS}/box/resize");
    let before = get(at, &part).json();
    let change = |resources: Value| json!({ "metadata": { "labels": { "a": "b" } }, "spec": { "containers": [{ "name": "c", "image": "other", "resources": resources }] } });
    let resized = patch(
        at,
        &part,
        STRATEGIC,
        &change(json!({ "requests": { "cpu": "200m" } })),
    );
    let pod = resized.json();
    assert_eq!(
        (
            resized.code,
            &pod["spec"]["containers"][0]["resources"]["requests"]["cpu"]
        ),
        (200, &json!("200m"))
    );
    assert_eq!(
        (
            &pod["spec"]["containers"][0]["image"],
            pod["metadata"].get("labels")
        ),
        (&json!("nginx:1.27"), None)
    );
    assert_eq!(
        pod["metadata"]["generation"].as_i64(),
        before["metadata"]["generation"].as_i64().map(|old| old + 1)
    );
    pass(at, 5);
    let settled = get(at, &format!("{PODS}/box")).json();
    assert_eq!(
        settled["status"]["containerStatuses"][0]["resources"]["requests"]["cpu"],
        "200m"
    );
    // The object itself does not change its resources.
    let main = patch(
        at,
        &format!("{PODS}/box"),
        STRATEGIC,
        &change(json!({ "requests": { "cpu": "300m" } })),
    );
    refuses(
        &main,
        422,
        "Invalid",
        "pod updates may not change fields other than",
    );
    refuses(&put(at, &part, &before), 409, "Conflict", "");
    refuses(
        &patch(
            at,
            &part,
            STRATEGIC,
            &change(json!({ "requests": { "cpu": "200m" }, "limits": { "cpu": "100m" } })),
        ),
        422,
        "Invalid",
        "must be less than or equal to",
    );
    let limits = json!({ "requests": { "cpu": "200m", "memory": "64Mi" }, "limits": { "cpu": "200m", "memory": "64Mi" } });
    refuses(
        &patch(at, &part, STRATEGIC, &change(limits)),
        422,
        "Invalid",
        "Pod QOS Class may not change as a result of resizing",
    );
    refuses(
        &patch(at, &format!("{PODS}/nope/resize"), STRATEGIC, &json!({})),
        404,
        "NotFound",
        "",
    );
    refuses(&post(at, &part, &before), 405, "MethodNotAllowed", "");
    refuses(
        &get(at, &format!("{DEPLOYMENTS}/web/resize")),
        404,
        "NotFound",
        "",
    );
}

#[test]
fn a_decision_about_a_certificate_is_written_as_approval_alone() {
    let server = server();
    let at = server.address();
    let all = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
    for name in ["one", "two"] {
        let spec = json!({ "request": "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUE9PQotLS0tLUVORCBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K", "signerName": "example.com/signer", "usages": ["client auth"] });
        assert_eq!(
            post(
                at,
                all,
                &json!({ "metadata": { "name": name }, "spec": spec })
            )
            .code,
            201
        );
    }
    let approved =
        || json!({ "type": "Approved", "status": "True", "reason": "Test", "message": "fine" });
    let (approval, status) = (format!("{all}/one/approval"), format!("{all}/one/status"));
    let refusal = patch(
        at,
        &status,
        MERGE,
        &json!({ "status": { "conditions": [approved()] } }),
    );
    refuses(
        &refusal,
        422,
        "Invalid",
        "status.conditions: Forbidden: updates may not add a condition of type \"Approved\"",
    );
    let mut request = get(at, &approval).json();
    request["spec"]["signerName"] = json!("example.com/other");
    request["status"] = json!({ "conditions": [approved()], "certificate": "eA==" });
    let decided = put(at, &approval, &request);
    let object = decided.json();
    assert_eq!(
        (decided.code, &object["spec"]["signerName"]),
        (200, &json!("example.com/signer"))
    );
    assert_eq!(
        object["status"].get("certificate"),
        None,
        "the certificate is not the approver's"
    );
    let condition = &object["status"]["conditions"][0];
    assert!(
        condition["lastUpdateTime"].is_string() && condition["lastTransitionTime"].is_string(),
        "{condition}"
    );
    assert!(
        object["metadata"]["managedFields"]
            .as_array()
            .unwrap()
            .iter()
            .any(|one| one["subresource"] == "approval")
    );
    // The signer's status: the decision stays.
    let signed = patch(
        at,
        &status,
        MERGE,
        &json!({ "status": { "certificate": CERTIFICATE, "conditions": [{ "type": "Approved", "status": "True", "reason": "Other" }] } }),
    );
    assert_eq!(
        (
            signed.code,
            &signed.json()["status"]["conditions"][0]["reason"]
        ),
        (200, &json!("Test"))
    );
    assert_eq!(signed.json()["status"]["certificate"], CERTIFICATE);
    refuses(
        &patch(
            at,
            &status,
            MERGE,
            &json!({ "status": { "conditions": [] } }),
        ),
        422,
        "Invalid",
        "updates may not remove a condition of type \"Approved\"",
    );
    let denied =
        json!({ "status": { "conditions": [approved(), { "type": "Denied", "status": "True" }] } });
    refuses(
        &patch(at, &approval, MERGE, &denied),
        422,
        "Invalid",
        "Approved and Denied conditions are mutually exclusive",
    );
    refuses(&put(at, &approval, &request), 409, "Conflict", "");
    refuses(
        &get(at, &format!("{all}/nope/approval")),
        404,
        "NotFound",
        "certificatesigningrequests.certificates.k8s.io \"nope\" not found",
    );
    refuses(&post(at, &approval, &request), 405, "MethodNotAllowed", "");
    let main = patch(
        at,
        &format!("{all}/two"),
        MERGE,
        &json!({ "status": { "conditions": [approved()] } }),
    )
    .json();
    assert_eq!(main["status"].get("conditions"), None);
    let jane = [("impersonate-user", "jane"), ("content-type", MERGE)];
    refuses(
        &send(at, "PATCH", &format!("{all}/two/approval"), &jane, b"{}"),
        403,
        "Forbidden",
        "certificatesigningrequests/approval",
    );
}

#[test]
fn finalizers_of_a_namespace_are_written_on_their_own() {
    let server = server();
    let at = server.address();
    let far = "/api/v1/namespaces/far";
    assert_eq!(
        post(
            at,
            "/api/v1/namespaces",
            &json!({ "metadata": { "name": "far" } })
        )
        .code,
        201
    );
    let main = patch(at, far, MERGE, &json!({ "spec": { "finalizers": [] } })).json();
    assert_eq!(
        main["spec"]["finalizers"],
        json!(["kubernetes"]),
        "they are not the object's"
    );
    let body = |name: &str, version: &str| json!({ "metadata": { "name": name, "resourceVersion": version }, "spec": { "finalizers": [] } });
    let part = format!("{far}/finalize");
    refuses(
        &put(at, &part, &body("far", "1")),
        409,
        "Conflict",
        "the object has been modified",
    );
    refuses(
        &put(at, &part, &body("near", "")),
        400,
        "BadRequest",
        "does not match the name on the URL (far)",
    );
    refuses(
        &put(at, "/api/v1/namespaces/nope/finalize", &body("nope", "")),
        404,
        "NotFound",
        "namespaces \"nope\" not found",
    );
    refuses(&get(at, &part), 405, "MethodNotAllowed", "");
    refuses(&put(at, &part, &json!([])), 400, "BadRequest", "");
    let current = get(at, far).json()["metadata"]["resourceVersion"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(put(at, &part, &body("far", &current)).code, 200);
}

#[test]
fn a_token_is_asked_for_as_long_as_it_may_last() {
    let server = server();
    let at = server.address();
    pass(at, 2);
    let part = "/api/v1/namespaces/default/serviceaccounts/default/token";
    let made = post(
        at,
        part,
        &json!({ "spec": { "expirationSeconds": 7200, "audiences": ["own"] } }),
    );
    let token = made.json();
    assert_eq!(
        (
            made.code,
            &token["kind"],
            &token["spec"]["expirationSeconds"],
            &token["spec"]["audiences"]
        ),
        (201, &json!("TokenRequest"), &json!(7200), &json!(["own"]))
    );
    assert!(
        token["status"]["token"].is_string() && token["status"]["expirationTimestamp"].is_string(),
        "{token}"
    );
    assert_eq!(
        post(at, part, &json!({})).json()["spec"]["audiences"],
        json!(["https://kubernetes.default.svc.cluster.local"])
    );
    for (seconds, words) in [
        (10, "may not specify a duration less than 10 minutes"),
        (
            1_i64 << 33,
            "may not specify a duration larger than 2^32 seconds",
        ),
    ] {
        let refusal = post(
            at,
            part,
            &json!({ "spec": { "expirationSeconds": seconds } }),
        );
        refuses(&refusal, 422, "Invalid", words);
        assert_eq!(
            refusal.json()["details"]["causes"][0]["field"],
            "spec.expirationSeconds"
        );
    }
    refuses(
        &post(at, part, &json!({ "metadata": { "name": "other" } })),
        422,
        "Invalid",
        "must match the service account name if specified",
    );
    refuses(
        &post(at, part, &json!({ "kind": "Pod", "apiVersion": "v1" })),
        400,
        "BadRequest",
        "unknown conversion",
    );
    refuses(
        &post(
            at,
            "/api/v1/namespaces/default/serviceaccounts/nope/token",
            &json!({}),
        ),
        404,
        "NotFound",
        "serviceaccounts \"nope\" not found",
    );
    refuses(&get(at, part), 405, "MethodNotAllowed", "");
    let jane = [
        ("impersonate-user", "jane"),
        ("content-type", "application/json"),
    ];
    refuses(
        &send(at, "POST", part, &jane, b"{}"),
        403,
        "Forbidden",
        "cannot create resource \"serviceaccounts/token\"",
    );
}

#[test]
fn a_binding_and_an_eviction_name_their_pod() {
    let server = server();
    let at = server.address();
    boxed(at);
    let eviction = |name: &str| json!({ "apiVersion": "policy/v1", "kind": "Eviction", "metadata": { "name": name } });
    let binding = |name: &str| json!({ "apiVersion": "v1", "kind": "Binding", "metadata": { "name": name }, "target": { "kind": "Node", "name": "node-1" } });
    let (evict, bind) = (
        format!("{PODS}/box/eviction"),
        format!("{PODS}/box/binding"),
    );
    refuses(
        &post(at, &evict, &eviction("other")),
        400,
        "BadRequest",
        "name in URL does not match name in Eviction object",
    );
    refuses(
        &post(at, &bind, &binding("other")),
        400,
        "BadRequest",
        "name in URL does not match name in Binding object",
    );
    refuses(
        &post(at, &evict, &binding("box")),
        400,
        "BadRequest",
        "\"Binding\"",
    );
    refuses(
        &post(at, &bind, &binding("box")),
        409,
        "Conflict",
        "pod box is already assigned to node",
    );
    refuses(
        &post(at, &format!("{PODS}/nope/eviction"), &eviction("nope")),
        404,
        "NotFound",
        "pods \"nope\" not found",
    );
    refuses(
        &post(at, &format!("{PODS}/nope/binding"), &binding("nope")),
        404,
        "NotFound",
        "pods \"nope\" not found",
    );
    for part in [&evict, &bind] {
        refuses(&get(at, part), 405, "MethodNotAllowed", "");
    }
    let jane = [
        ("impersonate-user", "jane"),
        ("content-type", "application/json"),
    ];
    for (part, body, words) in [
        (&evict, eviction("box"), "pods/eviction"),
        (&bind, binding("box"), "pods/binding"),
    ] {
        refuses(
            &send(at, "POST", part, &jane, body.to_string().as_bytes()),
            403,
            "Forbidden",
            words,
        );
    }
    let wrong = json!({ "metadata": { "name": "box" }, "deleteOptions": { "preconditions": { "uid": "00000000-0000-4000-8000-000000000000" } } });
    refuses(&post(at, &evict, &wrong), 409, "Conflict", "");
    assert!(
        get(at, &format!("{PODS}/box")).json()["metadata"]
            .get("deletionTimestamp")
            .is_none(),
        "nothing was evicted"
    );
    let evicted = post(at, &evict, &eviction("box"));
    assert_eq!(
        (evicted.code, &evicted.json()["status"]),
        (201, &json!("Success"))
    );
    assert!(get(at, &format!("{PODS}/box")).json()["metadata"]["deletionTimestamp"].is_string());
}

#[test]
fn a_custom_kind_of_a_built_in_name_is_applied_without_its_list_keys() {
    let server = server();
    let at = server.address();
    let schema = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    let definition = json!({ "metadata": { "name": "services.serving.example.org" }, "spec": {
        "group": "serving.example.org", "scope": "Namespaced", "names": { "plural": "services", "kind": "Service" },
        "versions": [{ "name": "v1", "served": true, "storage": true, "schema": { "openAPIV3Schema": schema } }],
    } });
    assert_eq!(
        post(
            at,
            "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
            &definition
        )
        .code,
        201
    );
    pass(at, 5);
    let web = "/apis/serving.example.org/v1/namespaces/default/services/web";
    let service = |port: u16| {
        json!({ "apiVersion": "serving.example.org/v1", "kind": "Service", "metadata": { "name": "web" },
            "spec": { "ports": [{ "port": port }] } })
    };
    let created = apply(at, &format!("{web}?fieldManager=a"), &service(80));
    assert_eq!(created.code, 201, "{}", created.json());
    assert_eq!(
        created.json()["metadata"]["managedFields"][0]["fieldsV1"],
        json!({ "f:spec": { "f:ports": {} } })
    );
    let conflict = "Apply failed with 1 conflict: conflict with \"a\": .spec.ports";
    let refusal = apply(at, &format!("{web}?fieldManager=b"), &service(443));
    assert_eq!(
        (refusal.code, &refusal.json()["message"]),
        (409, &json!(conflict))
    );
    let forced = apply(
        at,
        &format!("{web}?fieldManager=b&force=true"),
        &service(443),
    );
    assert_eq!(
        (forced.code, &forced.json()["spec"]["ports"]),
        (200, &json!([{ "port": 443 }]))
    );
}

#[test]
fn a_budget_reports_owners_without_scale() {
    let server = server();
    let at = server.address();
    for (plural, kind, parts) in [
        (
            "boats",
            "Boat",
            json!({ "scale": { "specReplicasPath": ".spec.oars", "statusReplicasPath": ".status.oars" } }),
        ),
        ("ships", "Ship", json!({})),
    ] {
        let schema = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
        let definition = json!({ "metadata": { "name": format!("{plural}.example.com") }, "spec": {
            "group": "example.com", "scope": "Namespaced", "names": { "plural": plural, "kind": kind },
            "versions": [{ "name": "v1", "served": true, "storage": true, "schema": { "openAPIV3Schema": schema }, "subresources": parts }],
        } });
        assert_eq!(
            post(
                at,
                "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
                &definition
            )
            .code,
            201
        );
    }
    pass(at, 5);
    for (plural, kind, words) in [
        (
            "boats",
            "Boat",
            "the spec replicas field \".spec.oars\" does not exist",
        ),
        (
            "ships",
            "Ship",
            "ships.example.com does not implement the scale subresource",
        ),
    ] {
        let owner =
            json!({ "apiVersion": "example.com/v1", "kind": kind, "metadata": { "name": "one" } });
        let owner = post(
            at,
            &format!("/apis/example.com/v1/namespaces/default/{plural}"),
            &owner,
        )
        .json();
        let reference = json!({ "apiVersion": "example.com/v1", "kind": kind, "name": "one", "uid": owner["metadata"]["uid"], "controller": true });
        let meta =
            json!({ "name": plural, "labels": { "of": plural }, "ownerReferences": [reference] });
        let pod = json!({ "metadata": meta, "spec": { "containers": [{ "name": "c", "image": "nginx" }] } });
        assert_eq!(post(at, PODS, &pod).code, 201);
        let spec = json!({ "maxUnavailable": 1, "selector": { "matchLabels": { "of": plural } } });
        let budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
        assert_eq!(
            post(
                at,
                budgets,
                &json!({ "metadata": { "name": plural }, "spec": spec })
            )
            .code,
            201
        );
        pass(at, 5);
        let budget = get(at, &format!("{budgets}/{plural}")).json();
        let message = budget["status"]["conditions"][0]["message"]
            .as_str()
            .unwrap_or("");
        assert!(message.contains(words), "{budget}");
    }
}

/// The log belongs to one container, as `validateContainer` in `pkg/registry/core/pod/strategy.go` has it.
#[test]
fn a_log_names_its_container_and_is_cut_to_lines_and_bytes() {
    let server = server();
    let at = server.address();
    let container = |name: &str| json!({ "name": name, "image": "busybox", "command": ["sh", "-c", "echo one; echo two; echo three; sleep 1h"] });
    let pod = |name: &str, containers: Vec<Value>| json!({ "metadata": { "name": name }, "spec": { "containers": containers } });
    assert_eq!(post(at, PODS, &pod("one", vec![container("a")])).code, 201);
    assert_eq!(
        post(at, PODS, &pod("two", vec![container("a"), container("b")])).code,
        201
    );
    pass(at, 10);
    let log = |query: &str| get(at, &format!("{PODS}/{query}"));
    assert_eq!(log("one/log").body, b"one\ntwo\nthree\n");
    assert_eq!(log("one/log?tailLines=1").body, b"three\n");
    assert_eq!(log("one/log?limitBytes=5").body, b"one\nt");
    assert_eq!(log("two/log?container=b").body, b"one\ntwo\nthree\n");
    let message = |query: &str| refused(&log(query)).2;
    assert_eq!(
        message("two/log"),
        "a container name must be specified for pod two, choose one of: [a b]"
    );
    assert_eq!(
        message("one/log?container=z"),
        "container z is not valid for pod one"
    );
    assert_eq!(
        message("one/log?previous=true"),
        "previous terminated container \"a\" in pod \"one\" not found"
    );
    refuses(
        &log("one/log?sinceSeconds=1&sinceTime=2026-01-01T00:00:00Z"),
        422,
        "Invalid",
        "at most one of `sinceTime` or `sinceSeconds` may be specified",
    );
    for (query, words) in [
        (
            "sinceSeconds=0",
            "sinceSeconds: Invalid value: 0: must be greater than 0",
        ),
        (
            "sinceSeconds=-9223372036854775808",
            "must be greater than 0",
        ),
        (
            "tailLines=-1",
            "tailLines: Invalid value: -1: must be greater than or equal to 0",
        ),
        (
            "limitBytes=0",
            "limitBytes: Invalid value: 0: must be greater than 0",
        ),
    ] {
        refuses(&log(&format!("one/log?{query}")), 422, "Invalid", words);
    }
    assert_eq!(refused(&log("none/log")).0, 404);
}
