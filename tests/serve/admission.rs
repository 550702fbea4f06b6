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
    let reply = post(at, &format!("{GROUP}/{kind}"), &json!({ "metadata": { "name": name }, "webhooks": hooks }));
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
    register(at, MAPS, "maps", &[hook("maps.example.com", &rule(&["CREATE", "DELETE"], "", &["configmaps"]), &json!({}))]);
    let refused = post(at, CONFIG_MAPS, &config_map("one"));
    let words = "Internal error occurred: failed calling webhook \"maps.example.com\": failed to call webhook: Post \
                 \"https://judge.hooks.svc:443/v?timeout=10s\": service \"judge\" not found";
    assert_eq!((refused.code, message(&refused)), (500, words.to_owned()));
    assert_eq!(refused.json()["reason"], "InternalError");
    assert!(warning(&refused).contains("maps.example.com") && warning(&refused).contains("not called"), "{}", warning(&refused));
    assert_eq!(get(at, &format!("{CONFIG_MAPS}/one")).code, 404);
    assert_eq!(post(at, &format!("{CONFIG_MAPS}?dryRun=All"), &config_map("one")).code, 500);
    assert_eq!(send(at, "DELETE", &format!("{CONFIG_MAPS}/old"), &[], b"").code, 500);
    // Other operations and kinds are none of its business, and it can be taken away.
    assert_eq!(patch(at, &format!("{CONFIG_MAPS}/old"), MERGE, &json!({ "data": { "a": "b" } })).code, 200);
    assert_eq!(post(at, DEPLOYMENTS, &deployment("web", 1)).code, 201);
    let everything = json!({ "operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*/*"] });
    register(at, "mutatingwebhookconfigurations", "all", &[hook("all.example.com", &everything, &json!({}))]);
    assert!(message(&post(at, DEPLOYMENTS, &deployment("more", 1))).contains("all.example.com"));
    assert_eq!(send(at, "DELETE", &format!("{GROUP}/mutatingwebhookconfigurations/all"), &[], b"").code, 200);
    assert_eq!(send(at, "DELETE", &format!("{GROUP}/{MAPS}/maps"), &[], b"").code, 200);
    assert_eq!(post(at, CONFIG_MAPS, &config_map("one")).code, 201);
}

#[test]
fn a_webhook_that_may_fail_is_told_of() {
    let server = server();
    let at = server.address();
    let ignored = json!({ "failurePolicy": "Ignore" });
    register(at, MAPS, "maps", &[hook("maps.example.com", &rule(&["CREATE"], "", &["configmaps"]), &ignored)]);
    let created = post(at, CONFIG_MAPS, &config_map("one"));
    assert_eq!(created.code, 201);
    assert!(warning(&created).contains("maps.example.com") && warning(&created).contains("not called"), "{}", warning(&created));
    let line = send(at, "POST", "/loopscope/kubectl", &[], b"kubectl create configmap two").json();
    let lines: Vec<&str> = line["lines"].as_array().unwrap().iter().filter_map(|line| line["text"].as_str()).collect();
    assert!(lines.iter().any(|line| line.starts_with("Warning: ") && line.contains("maps.example.com")), "{lines:?}");
}

#[test]
fn selectors_scopes_and_subresources_decide_what_a_webhook_judges() {
    let server = server();
    let at = server.address();
    for (name, labels) in [("judged", json!({ "judge": "yes" })), ("free", json!({}))] {
        assert_eq!(post(at, "/api/v1/namespaces", &json!({ "metadata": { "name": name, "labels": labels } })).code, 201);
    }
    let maps = rule(&["CREATE"], "", &["configmaps"]);
    let in_judged = json!({ "namespaceSelector": { "matchLabels": { "judge": "yes" } } });
    let with_label = json!({ "objectSelector": { "matchExpressions": [{ "key": "strict", "operator": "Exists" }] } });
    let cluster = json!({ "operations": ["CREATE"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"], "scope": "Cluster" });
    register(at, MAPS, "a", &[hook("namespace.example.com", &maps, &in_judged), hook("object.example.com", &maps, &with_label)]);
    register(at, MAPS, "b", &[hook("cluster.example.com", &cluster, &json!({}))]);
    register(at, MAPS, "c", &[hook("scale.example.com", &rule(&["UPDATE"], "apps", &["deployments/scale"]), &json!({}))]);
    let create = |namespace: &str, labels: Value| {
        let mut map = config_map("one");
        map["metadata"]["labels"] = labels;
        let reply = post(at, &format!("/api/v1/namespaces/{namespace}/configmaps"), &map);
        (reply.code, message(&reply))
    };
    assert!(create("judged", json!({})).1.contains("namespace.example.com"));
    assert!(create("free", json!({ "strict": "" })).1.contains("object.example.com"));
    assert_eq!(create("free", json!({})).0, 201);
    let namespace = json!({ "metadata": { "name": "more" } });
    assert!(message(&post(at, "/api/v1/namespaces", &namespace)).contains("cluster.example.com"));
    assert_eq!(post(at, DEPLOYMENTS, &deployment("web", 1)).code, 201);
    let (web, three) = (format!("{DEPLOYMENTS}/web"), json!({ "spec": { "replicas": 3 } }));
    assert!(message(&patch(at, &format!("{web}/scale"), MERGE, &three)).contains("scale.example.com"));
    assert_eq!(patch(at, &web, MERGE, &three).code, 200);
}

#[test]
fn control_loops_are_judged_as_clients_are() {
    let server = server();
    let at = server.address();
    register(at, MAPS, "pods", &[hook("pods.example.com", &rule(&["CREATE"], "", &["pods"]), &json!({}))]);
    assert_eq!(post(at, DEPLOYMENTS, &deployment("web", 1)).code, 201);
    pass(at, 5);
    assert_eq!(get(at, "/api/v1/namespaces/default/pods").json()["items"], json!([]));
    let events = get(at, "/api/v1/namespaces/default/events?fieldSelector=reason%3DFailedCreate").json();
    assert!(
        events["items"][0]["message"].as_str().is_some_and(|text| text.contains("failed calling webhook \"pods.example.com\"")),
        "{events}"
    );
}

#[test]
fn a_policy_that_is_not_evaluated_says_so() {
    let server = server();
    let at = server.address();
    let policy = |name: &str, failure: &str| {
        let constraints = json!({ "resourceRules": [rule(&["CREATE", "UPDATE"], "apps", &["deployments"])] });
        let spec = json!({ "failurePolicy": failure, "matchConstraints": constraints, "validations": [{ "expression": "object.spec.replicas <= 5" }] });
        assert_eq!(
            post(at, &format!("{GROUP}/validatingadmissionpolicies"), &json!({ "metadata": { "name": name }, "spec": spec })).code,
            201
        );
    };
    let bind = |name: &str, policy: &str, actions: Value| {
        let spec = json!({ "policyName": policy, "validationActions": actions, "matchResources": { "objectSelector": { "matchLabels": { "bound": name } } } });
        assert_eq!(
            post(at, &format!("{GROUP}/validatingadmissionpolicybindings"), &json!({ "metadata": { "name": name }, "spec": spec })).code,
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
        let wanted = format!("299 - \"ValidatingAdmissionPolicy '{policy}' with binding '{name}' is not evaluated here\"");
        assert_eq!((created.code, warning(&created)), (201, wanted.as_str()));
    }
    assert_eq!(create("free").code, 201);
}
