//! Webhooks and policies of admission, which nothing here can call or evaluate: no write that they would judge goes through in silence.

use crate::http::{Reply, get, pass, post, send};
use crate::{CONFIG_MAPS, DEPLOYMENTS, config_map, deployment, patch, server};
use serde_json::{Value, json};
use std::net::SocketAddr;

const GROUP: &str = "/apis/admissionregistration.k8s.io/v1";
const MERGE: &str = "application/merge-patch+json";

/// A webhook of this name that judges what a rule says.
fn hook(name: &str, rule: &Value, more: &Value) -> Value {
    let mut hook = json!({ "name": name, "rules": [rule], "sideEffects": "None", "admissionReviewVersions": ["v1"],
        "clientConfig": { "service": { "namespace": "hooks", "name": "judge", "path": "/v" } } });
    for (field, value) in more.as_object().unwrap() {
        hook[field] = value.clone();
    }
    hook
}

fn rule(operations: &[&str], group: &str, resources: &[&str]) -> Value {
    json!({ "operations": operations, "apiGroups": [group], "apiVersions": ["v1"], "resources": resources })
}

fn register(at: SocketAddr, kind: &str, name: &str, hooks: &[Value]) {
    let reply = post(
        at,
        &format!("{GROUP}/{kind}"),
        &json!({ "metadata": { "name": name }, "webhooks": hooks }),
    );
    assert_eq!(reply.code, 201, "{}", reply.json());
}

fn warning(reply: &Reply) -> &str {
    reply.header("warning")
}

fn message(reply: &Reply) -> String {
    reply.json()["message"].as_str().unwrap_or("").to_owned()
}

const MAPS: &str = "validatingwebhookconfigurations";

#[test]
fn a_write_whose_webhook_cannot_be_called_is_refused() {
    let server = server();
    let at = server.address();
    assert_eq!(post(at, CONFIG_MAPS, &config_map("old")).code, 201);
    register(
        at,
        MAPS,
        "maps",
        &[hook(
            "maps.example.com",
            &rule(&["CREATE", "DELETE"], "", &["configmaps"]),
            &json!({}),
        )],
    );
    let refused = post(at, CONFIG_MAPS, &config_map("one"));
    let words = "Internal error occurred: failed calling webhook \"maps.example.com\": failed to call webhook: Post \
                 \"https://judge.hooks.svc:443/v?timeout=10s\": service \"judge\" not found";
    assert_eq!((refused.code, message(&refused)), (500, words.to_owned()));
    assert_eq!(refused.json()["reason"], "InternalError");
    assert!(
        warning(&refused).contains("maps.example.com") && warning(&refused).contains("not called"),
        "{}",
        warning(&refused)
    );
    assert_eq!(get(at, &format!("{CONFIG_MAPS}/one")).code, 404);
    assert_eq!(
        post(at, &format!("{CONFIG_MAPS}?dryRun=All"), &config_map("one")).code,
        500
    );
    assert_eq!(
        send(at, "DELETE", &format!("{CONFIG_MAPS}/old"), &[], b"").code,
        500
    );
    // Other operations and kinds are none of its business, and it can be taken away.
    assert_eq!(
        patch(
            at,
            &format!("{CONFIG_MAPS}/old"),
            MERGE,
            &json!({ "data": { "a": "b" } })
        )
        .code,
        200
    );
    assert_eq!(post(at, DEPLOYMENTS, &deployment("web", 1)).code, 201);
    let everything = json!({ "operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*/*"] });
    register(
        at,
        "mutatingwebhookconfigurations",
        "all",
        &[hook("all.example.com", &everything, &json!({}))],
    );
    assert!(message(&post(at, DEPLOYMENTS, &deployment("more", 1))).contains("all.example.com"));
    assert_eq!(
        send(
            at,
            "DELETE",
            &format!("{GROUP}/mutatingwebhookconfigurations/all"),
            &[],
            b""
        )
        .code,
        200
    );
    assert_eq!(
        send(at, "DELETE", &format!("{GROUP}/{MAPS}/maps"), &[], b"").code,
        200
    );
    assert_eq!(post(at, CONFIG_MAPS, &config_map("one")).code, 201);
}

#[test]
fn webhook_with_failure_policy_ignore_is_reported() {
    let server = server();
    let at = server.address();
    let ignored = json!({ "failurePolicy": "Ignore" });
    register(
        at,
        MAPS,
        "maps",
        &[hook(
            "maps.example.com",
            &rule(&["CREATE"], "", &["configmaps"]),
            &ignored,
        )],
    );
    let created = post(at, CONFIG_MAPS, &config_map("one"));
    assert_eq!(created.code, 201);
    assert!(
        warning(&created).contains("maps.example.com") && warning(&created).contains("not called"),
        "{}",
        warning(&created)
    );
    let line = send(
        at,
        "POST",
        "/loopscope/kubectl",
        &[],
        b"kubectl create configmap two",
    )
    .json();
    let lines: Vec<&str> = line["lines"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|line| line["text"].as_str())
        .collect();
    assert!(
        lines
            .iter()
            .any(|line| line.starts_with("Warning: ") && line.contains("maps.example.com")),
        "{lines:?}"
    );
}

#[test]
fn selectors_scopes_and_subresources_decide_what_a_webhook_judges() {
    let server = server();
    let at = server.address();
    for (name, labels) in [("judged", json!({ "judge": "yes" })), ("free", json!({}))] {
        assert_eq!(
            post(
                at,
                "/api/v1/namespaces",
                &json!({ "metadata": { "name": name, "labels": labels } })
            )
            .code,
            201
        );
    }
    let maps = rule(&["CREATE"], "", &["configmaps"]);
    let in_judged = json!({ "namespaceSelector": { "matchLabels": { "judge": "yes" } } });
    let with_label = json!({ "objectSelector": { "matchExpressions": [{ "key": "strict", "operator": "Exists" }] } });
    let cluster = json!({ "operations": ["CREATE"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"], "scope": "Cluster" });
    register(
        at,
        MAPS,
        "a",
        &[
            hook("namespace.example.com", &maps, &in_judged),
            hook("object.example.com", &maps, &with_label),
        ],
    );
    register(
        at,
        MAPS,
        "b",
        &[hook("cluster.example.com", &cluster, &json!({}))],
    );
    register(
        at,
        MAPS,
        "c",
        &[hook(
            "scale.example.com",
            &rule(&["UPDATE"], "apps", &["deployments/scale"]),
            &json!({}),
        )],
    );
    let create = |namespace: &str, labels: Value| {
        let mut map = config_map("one");
        map["metadata"]["labels"] = labels;
        let reply = post(
            at,
            &format!("/api/v1/namespaces/{namespace}/configmaps"),
            &map,
        );
        (reply.code, message(&reply))
    };
    assert!(
        create("judged", json!({}))
            .1
            .contains("namespace.example.com")
    );
    assert!(
        create("free", json!({ "strict": "" }))
            .1
            .contains("object.example.com")
    );
    assert_eq!(create("free", json!({})).0, 201);
    let namespace = json!({ "metadata": { "name": "more" } });
    assert!(message(&post(at, "/api/v1/namespaces", &namespace)).contains("cluster.example.com"));
    assert_eq!(post(at, DEPLOYMENTS, &deployment("web", 1)).code, 201);
    let (web, three) = (
        format!("{DEPLOYMENTS}/web"),
        json!({ "spec": { "replicas": 3 } }),
    );
    assert!(
        message(&patch(at, &format!("{web}/scale"), MERGE, &three)).contains("scale.example.com")
    );
    assert_eq!(patch(at, &web, MERGE, &three).code, 200);
}

#[test]
fn control_loops_are_judged_as_clients_are() {
    let server = server();
    let at = server.address();
    register(
        at,
        MAPS,
        "pods",
        &[hook(
            "pods.example.com",
            &rule(&["CREATE"], "", &["pods"]),
            &json!({}),
        )],
    );
    assert_eq!(post(at, DEPLOYMENTS, &deployment("web", 1)).code, 201);
    pass(at, 5);
    assert_eq!(
        get(at, "/api/v1/namespaces/default/pods").json()["items"],
        json!([])
    );
    let events = get(
        at,
        "/api/v1/namespaces/default/events?fieldSelector=reason%3DFailedCreate",
    )
    .json();
    assert!(
        events["items"][0]["message"]
            .as_str()
            .is_some_and(|text| text.contains("failed calling webhook \"pods.example.com\"")),
        "{events}"
    );
}

#[test]
fn a_policy_that_is_not_evaluated_says_so() {
    let server = server();
    let at = server.address();
    let policy = |name: &str, failure: &str| {
        let constraints =
            json!({ "resourceRules": [rule(&["CREATE", "UPDATE"], "apps", &["deployments"])] });
        let spec = json!({ "failurePolicy": failure, "matchConstraints": constraints, "validations": [{ "expression": "object.spec.replicas <= 5" }] });
        assert_eq!(
            post(
                at,
                &format!("{GROUP}/validatingadmissionpolicies"),
                &json!({ "metadata": { "name": name }, "spec": spec })
            )
            .code,
            201
        );
    };
    let bind = |name: &str, policy: &str, actions: Value| {
        let spec = json!({ "policyName": policy, "validationActions": actions, "matchResources": { "objectSelector": { "matchLabels": { "bound": name } } } });
        assert_eq!(
            post(
                at,
                &format!("{GROUP}/validatingadmissionpolicybindings"),
                &json!({ "metadata": { "name": name }, "spec": spec })
            )
            .code,
            201
        );
    };
    let create = |name: &str| {
        let mut object = deployment(name, 1);
        object["metadata"]["labels"] = json!({ "bound": name });
        post(at, DEPLOYMENTS, &object)
    };
    policy("strict", "Fail");
    policy("lax", "Ignore");
    let free = create("unbound");
    assert_eq!((free.code, warning(&free)), (201, ""));
    bind("denied", "strict", json!(["Deny"]));
    bind("warned", "strict", json!(["Warn"]));
    bind("lax", "lax", json!(["Deny"]));
    let denied = create("denied");
    let words = "deployments.apps \"denied\" is forbidden: ValidatingAdmissionPolicy 'strict' with binding 'denied' denied request: expression \
                 'object.spec.replicas <= 5' resulted in error: admission policies are not evaluated here";
    assert_eq!((denied.code, message(&denied)), (422, words.to_owned()));
    for (name, policy) in [("warned", "strict"), ("lax", "lax")] {
        let created = create(name);
        let wanted = format!(
            "299 - \"ValidatingAdmissionPolicy '{policy}' with binding '{name}' is not evaluated here\""
        );
        assert_eq!((created.code, warning(&created)), (201, wanted.as_str()));
    }
    assert_eq!(create("free").code, 201);
}

#[test]
fn a_webhook_of_exact_versions_matches_no_equivalent_one() {
    let server = server();
    let at = server.address();
    let version = |name: &str, storage: bool| {
        let schema = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
        json!({ "name": name, "served": true, "storage": storage, "schema": { "openAPIV3Schema": schema } })
    };
    let definition = json!({ "metadata": { "name": "boats.example.org" }, "spec": {
        "group": "example.org", "scope": "Namespaced", "names": { "plural": "boats", "kind": "Boat" },
        "versions": [version("v1", true), version("v2", false)],
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
    let codes = |name: &str| {
        ["v1", "v2"].map(|version| {
            let boats = format!("/apis/example.org/{version}/namespaces/default/boats");
            let boat = json!({ "apiVersion": format!("example.org/{version}"), "kind": "Boat", "metadata": { "name": format!("{name}-{version}") } });
            let created = post(at, &boats, &boat).code;
            let patched = patch(at, &format!("{boats}/old-{version}"), MERGE, &json!({ "length": name })).code;
            let deleted = send(at, "DELETE", &format!("{boats}/{name}-{version}?dryRun=All"), &[], b"").code;
            (created, patched, deleted)
        })
    };
    assert_eq!(codes("old"), [(201, 200, 200); 2]);
    let boats = rule(&["CREATE", "UPDATE"], "example.org", &["boats"]);
    register(
        at,
        MAPS,
        "boats",
        &[hook(
            "boats.example.com",
            &boats,
            &json!({ "matchPolicy": "Exact" }),
        )],
    );
    assert_eq!(codes("exact"), [(500, 500, 404), (201, 200, 200)]);
    assert_eq!(
        send(at, "DELETE", &format!("{GROUP}/{MAPS}/boats"), &[], b"").code,
        200
    );
    register(
        at,
        MAPS,
        "boats",
        &[hook(
            "boats.example.com",
            &boats,
            &json!({ "matchPolicy": "Equivalent" }),
        )],
    );
    assert_eq!(codes("equivalent"), [(500, 500, 404); 2]);
}

#[test]
fn of_several_refusals_the_first_plugin_of_the_chain_decides() {
    let server = server();
    let at = server.address();
    let maps = rule(&["CREATE"], "", &["configmaps"]);
    register(
        at,
        MAPS,
        "last",
        &[hook("validating.example.com", &maps, &json!({}))],
    );
    let constraints = json!({ "resourceRules": [maps] });
    let validating =
        json!({ "matchConstraints": constraints, "validations": [{ "expression": "false" }] });
    let mutating = json!({ "matchConstraints": constraints, "reinvocationPolicy": "Never", "mutations": [{
        "patchType": "ApplyConfiguration", "applyConfiguration": { "expression": "Object{}" } }] });
    for (kind, spec, actions) in [
        (
            "validatingadmissionpolic",
            validating,
            json!({ "validationActions": ["Deny"] }),
        ),
        ("mutatingadmissionpolic", mutating, json!({})),
    ] {
        let mut bound = actions;
        bound["policyName"] = "p".into();
        for (path, spec) in [("ies", spec), ("ybindings", bound)] {
            let reply = post(
                at,
                &format!("{GROUP}/{kind}{path}"),
                &json!({ "metadata": { "name": "p" }, "spec": spec }),
            );
            assert_eq!(reply.code, 201, "{}", reply.json());
        }
    }
    register(
        at,
        "mutatingwebhookconfigurations",
        "third",
        &[hook("mutating.example.com", &maps, &json!({}))],
    );
    let quota =
        json!({ "metadata": { "name": "none" }, "spec": { "hard": { "configmaps": "0" } } });
    assert_eq!(
        post(at, "/api/v1/namespaces/default/resourcequotas", &quota).code,
        201
    );
    pass(at, 5);
    let chain = [
        (
            "mutatingadmissionpolicybindings/p",
            422,
            "MutatingAdmissionPolicy 'p'",
        ),
        (
            "mutatingwebhookconfigurations/third",
            500,
            "mutating.example.com",
        ),
        (
            "validatingadmissionpolicybindings/p",
            422,
            "ValidatingAdmissionPolicy 'p'",
        ),
        (
            "validatingwebhookconfigurations/last",
            500,
            "validating.example.com",
        ),
    ];
    for (plugin, code, words) in chain {
        let refused = post(at, CONFIG_MAPS, &config_map("one"));
        assert!(
            refused.code == code && message(&refused).contains(words),
            "{words}: {} {}",
            refused.code,
            message(&refused)
        );
        assert_eq!(
            send(at, "DELETE", &format!("{GROUP}/{plugin}"), &[], b"").code,
            200,
            "{plugin}"
        );
    }
    let refused = post(at, CONFIG_MAPS, &config_map("one"));
    assert!(
        refused.code == 403 && message(&refused).contains("exceeded quota: none"),
        "{} {}",
        refused.code,
        message(&refused)
    );
}
