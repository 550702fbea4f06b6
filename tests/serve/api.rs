//! Kinds in other versions than the stored one, bindings, metrics, pages of lists, and what deletions say in their bodies.

use crate::http::{get, pass, post, send};
use crate::{CONFIG_MAPS, DEPLOYMENTS, config_map, deployment, patch, server};
use serde_json::{Value, json};
use std::net::SocketAddr;

const PODS: &str = "/api/v1/namespaces/default/pods";

fn pod(name: &str) -> Value {
    // No scheduler of the cluster is meant: a client binds it.
    json!({ "metadata": { "name": name }, "spec": { "schedulerName": "own", "containers": [{ "name": "c", "image": "i" }] } })
}

fn binding(name: &str, node: &str) -> Value {
    json!({ "apiVersion": "v1", "kind": "Binding", "metadata": { "name": name }, "target": { "apiVersion": "v1", "kind": "Node", "name": node } })
}

#[test]
fn a_client_schedules() {
    let server = server();
    let at = server.address();
    for name in ["a", "b"] {
        assert_eq!(post(at, PODS, &pod(name)).code, 201);
    }
    pass(at, 5);
    assert_eq!(
        get(at, &format!("{PODS}/a")).json()["status"]["phase"],
        "Pending"
    );
    assert_eq!(
        post(at, &format!("{PODS}/a/binding"), &binding("a", "node-2")).code,
        201
    );
    assert_eq!(
        post(
            at,
            "/api/v1/namespaces/default/bindings",
            &binding("b", "node-3")
        )
        .code,
        201
    );
    let again = post(at, &format!("{PODS}/a/binding"), &binding("a", "node-1"));
    assert_eq!(
        (again.code, again.json()["reason"].clone()),
        (409, json!("Conflict"))
    );
    assert_eq!(
        post(
            at,
            &format!("{PODS}/nope/binding"),
            &binding("nope", "node-1")
        )
        .code,
        404
    );
    assert_eq!(
        post(
            at,
            &format!("{PODS}/b/binding"),
            &json!({ "metadata": { "name": "b" }, "target": {} })
        )
        .code,
        500
    );
    pass(at, 10);
    for (name, node) in [("a", "node-2"), ("b", "node-3")] {
        let pod = get(at, &format!("{PODS}/{name}")).json();
        assert_eq!(
            (&pod["spec"]["nodeName"], &pod["status"]["phase"]),
            (&json!(node), &json!("Running"))
        );
    }
}

#[test]
fn an_autoscaler_is_read_and_written_as_v1() {
    let server = server();
    let at = server.address();
    let all = "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers";
    let target = json!({ "apiVersion": "apps/v1", "kind": "Deployment", "name": "web" });
    let old = json!({ "metadata": { "name": "web" }, "spec": { "scaleTargetRef": target, "maxReplicas": 4, "targetCPUUtilizationPercentage": 60 } });
    let made = post(at, all, &old);
    assert_eq!(
        (
            made.code,
            &made.json()["apiVersion"],
            &made.json()["spec"]["targetCPUUtilizationPercentage"]
        ),
        (201, &json!("autoscaling/v1"), &json!(60))
    );
    let new = get(
        at,
        "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers/web",
    )
    .json();
    assert_eq!(
        new["spec"]["metrics"][0]["resource"]["target"]["averageUtilization"],
        60
    );
    let patched = patch(
        at,
        &format!("{all}/web"),
        "application/merge-patch+json",
        &json!({ "spec": { "targetCPUUtilizationPercentage": 70 } }),
    );
    assert_eq!(
        (
            patched.code,
            patched.json()["spec"]["targetCPUUtilizationPercentage"].clone()
        ),
        (200, json!(70))
    );
    assert_eq!(
        get(at, all).json()["items"][0]["spec"]["targetCPUUtilizationPercentage"],
        70
    );
    assert_eq!(
        get(at, "/apis/autoscaling").json()["preferredVersion"]["version"],
        "v2"
    );
}

#[test]
fn events_have_a_group_of_their_own() {
    let server = server();
    let at = server.address();
    assert_eq!(post(at, DEPLOYMENTS, &deployment("web", 1)).code, 201);
    let large = json!({ "metadata": { "name": "large" }, "spec": { "containers": [{ "name": "c", "image": "i", "resources": { "requests": { "cpu": "99" } } }] } });
    assert_eq!(post(at, PODS, &large).code, 201);
    pass(at, 700);
    let list = get(at, "/apis/events.k8s.io/v1/namespaces/default/events").json();
    assert_eq!(list["kind"], "EventList");
    let all = list["items"].as_array().unwrap();
    let of = |reason: &str| {
        all.iter()
            .find(|event| event["reason"] == reason)
            .unwrap_or_else(|| panic!("{reason}"))
    };
    assert_eq!(of("ScalingReplicaSet")["regarding"]["kind"], "Deployment");
    assert!(
        of("ScalingReplicaSet")["note"]
            .as_str()
            .unwrap()
            .starts_with("Scaled up replica set web-")
    );
    // One that came again says when.
    let again = all
        .iter()
        .find(|event| event["reason"] == "FailedScheduling" && !event["series"].is_null())
        .expect("a series");
    assert!(
        again["series"]["count"] == 2 && again["series"]["lastObservedTime"].is_string(),
        "{again}"
    );
    assert!(again["series"]["lastObservedTime"].as_str() > again["eventTime"].as_str());
}

#[test]
fn metrics_are_served_once_a_load_is_set() {
    let server = server();
    let at = server.address();
    assert_eq!(post(at, DEPLOYMENTS, &deployment("web", 2)).code, 201);
    pass(at, 10);
    assert_eq!(
        get(at, "/apis/metrics.k8s.io/v1beta1/nodes").code,
        404,
        "nothing measures"
    );
    for line in [&b"cpu-load app=web 500m"[..], b"memory-load app=web 64Mi"] {
        assert_eq!(send(at, "POST", "/loopscope/fault", &[], line).code, 200);
    }
    let pods = get(at, "/apis/metrics.k8s.io/v1beta1/namespaces/default/pods").json();
    assert_eq!(
        (&pods["kind"], &pods["items"][0]["containers"][0]["usage"]),
        (
            &json!("PodMetricsList"),
            &json!({ "cpu": "250m", "memory": "32768Ki" })
        )
    );
    let nodes = get(at, "/apis/metrics.k8s.io/v1beta1/nodes").json();
    assert_eq!(nodes["items"].as_array().map(Vec::len), Some(3));
    assert_eq!(get(at, "/apis/metrics.k8s.io/v1beta1/nodes/nope").code, 404);
    assert_eq!(
        get(at, "/apis/metrics.k8s.io/v1beta1").json()["resources"][0]["kind"],
        "NodeMetrics"
    );
}

#[test]
fn metrics_are_served_of_pods_that_requests_reach() {
    let server = server();
    let at = server.address();
    assert_eq!(post(at, DEPLOYMENTS, &deployment("web", 2)).code, 201);
    let service = json!({ "metadata": { "name": "web" }, "spec": { "selector": { "app": "web" }, "ports": [{ "port": 80 }] } });
    let script = "while sleep 0.01; do wget -q -O- http://web; done";
    let container =
        json!({ "name": "c", "image": "busybox:1.28", "args": ["/bin/sh", "-c", script] });
    let pod = json!({ "metadata": { "name": "load" }, "spec": { "containers": [container] } });
    let objects = "/api/v1/namespaces/default";
    assert_eq!(post(at, &format!("{objects}/services"), &service).code, 201);
    assert_eq!(post(at, &format!("{objects}/pods"), &pod).code, 201);
    pass(at, 10);
    let pods = get(at, "/apis/metrics.k8s.io/v1beta1/namespaces/default/pods").json();
    let usage = |pod: &Value| pod["containers"][0]["usage"]["cpu"].clone();
    let usages: Vec<Value> = pods["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(usage)
        .collect();
    assert_eq!(usages, [json!("0m"), json!("322m"), json!("322m")]);
}

fn page(at: SocketAddr, options: &str) -> (Vec<String>, String, Value) {
    let list = get(at, &format!("{CONFIG_MAPS}?{options}")).json();
    let names = list["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["metadata"]["name"].as_str().unwrap().to_owned());
    (
        names.collect(),
        list["metadata"]["continue"]
            .as_str()
            .unwrap_or("")
            .to_owned(),
        list["metadata"].clone(),
    )
}

#[test]
fn the_pages_of_a_list_are_of_one_version() {
    let server = server();
    let at = server.address();
    for name in ["a", "b", "c", "d"] {
        assert_eq!(post(at, CONFIG_MAPS, &config_map(name)).code, 201);
    }
    let (first, token, meta) = page(at, "limit=2");
    assert_eq!(
        (&first[..], &meta["remainingItemCount"]),
        (&["a".to_owned(), "b".to_owned()][..], &json!(3))
    );
    // What happens between two pages is not in the second.
    assert_eq!(
        send(at, "DELETE", &format!("{CONFIG_MAPS}/c"), &[], b"").code,
        200
    );
    assert_eq!(post(at, CONFIG_MAPS, &config_map("bb")).code, 201);
    assert_eq!(
        patch(
            at,
            &format!("{CONFIG_MAPS}/d"),
            "application/merge-patch+json",
            &json!({ "data": { "k": "new" } })
        )
        .code,
        200
    );
    let (rest, _, later) = page(at, &format!("continue={token}"));
    assert_eq!(
        (rest, &later["resourceVersion"]),
        (
            vec![
                "c".to_owned(),
                "d".to_owned(),
                "kube-root-ca.crt".to_owned()
            ],
            &meta["resourceVersion"]
        )
    );
    let version = meta["resourceVersion"].as_str().unwrap();
    let then = get(
        at,
        &format!("{CONFIG_MAPS}?resourceVersion={version}&resourceVersionMatch=Exact"),
    )
    .json();
    assert_eq!(
        (
            then["items"].as_array().map(Vec::len),
            &then["items"][3]["data"]["k"]
        ),
        (Some(5), &json!("v"))
    );
    assert_eq!(page(at, "").0, ["a", "b", "bb", "d", "kube-root-ca.crt"]);
    // A history that has been taken back has no such version.
    assert_eq!(
        send(at, "PUT", "/loopscope/snapshots/now", &[], b"").code,
        200
    );
    assert_eq!(post(at, CONFIG_MAPS, &config_map("later")).code, 201);
    let (_, token, _) = page(at, "limit=1");
    assert_eq!(post(at, "/loopscope/snapshots/now", &Value::Null).code, 200);
    let gone = get(at, &format!("{CONFIG_MAPS}?limit=1&continue={token}"));
    assert_eq!(
        (gone.code, gone.json()["reason"].clone()),
        (410, json!("Expired"))
    );
}

#[test]
fn components_are_healthy_and_cannot_be_written() {
    let server = server();
    let at = server.address();
    let all = "/api/v1/componentstatuses";
    let list = get(at, all);
    assert!(
        list.header("warning")
            .contains("v1 ComponentStatus is deprecated in v1.19+"),
        "{:?}",
        list.headers
    );
    let names: Vec<Value> = list.json()["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["metadata"]["name"].clone())
        .collect();
    assert_eq!(names, ["controller-manager", "scheduler", "etcd-0"]);
    let one = get(at, &format!("{all}/etcd-0")).json();
    assert_eq!(
        one["conditions"],
        json!([{ "type": "Healthy", "status": "True", "message": "ok" }])
    );
    assert_eq!(get(at, &format!("{all}/nope")).code, 500);
    assert_eq!(get(at, &format!("{all}?watch=1")).code, 405);
    assert_eq!(
        post(at, all, &json!({ "metadata": { "name": "x" } })).code,
        405
    );
    assert_eq!(
        send(at, "DELETE", &format!("{all}/etcd-0"), &[], b"").code,
        405
    );
}

#[test]
fn a_watch_may_begin_at_any_version() {
    let server = server();
    let at = server.address();
    assert_eq!(post(at, DEPLOYMENTS, &deployment("web", 3)).code, 201);
    // The Events of the rollout expire.
    pass(at, 3 * 60 * 60);
    let all = "/api/v1/namespaces/default/events";
    assert_eq!(
        get(at, all).json()["items"].as_array().map(Vec::len),
        Some(0)
    );
    let told = String::from_utf8(
        get(
            at,
            &format!("{all}?watch=1&timeoutSeconds=1&resourceVersion=1"),
        )
        .body,
    )
    .unwrap();
    let count = |kind: &str| {
        told.lines()
            .filter(|line| line.starts_with(&format!("{{\"type\":\"{kind}\"")))
            .count()
    };
    assert!(
        count("ADDED") > 10 && count("ADDED") == count("DELETED") && count("ERROR") == 0,
        "{told}"
    );
    let then = get(
        at,
        "/api/v1/namespaces/default/pods?resourceVersionMatch=Exact&resourceVersion=1",
    )
    .json();
    assert_eq!(
        (
            then["items"].as_array().map(Vec::len),
            &then["metadata"]["resourceVersion"]
        ),
        (Some(0), &json!("1"))
    );
}

#[test]
fn lists_and_watches_tell_who_manages_the_fields() {
    let server = server();
    let at = server.address();
    let made = post(
        at,
        &format!("{DEPLOYMENTS}?fieldManager=test"),
        &deployment("web", 2),
    )
    .json();
    pass(at, 10);
    let managed = |object: &Value| object["metadata"]["managedFields"].clone();
    let pods = get(at, PODS).json();
    for pod in pods["items"].as_array().unwrap() {
        let single = get(
            at,
            &format!("{PODS}/{}", pod["metadata"]["name"].as_str().unwrap()),
        )
        .json();
        assert_eq!(managed(pod), managed(&single));
        assert_eq!(
            (&managed(pod)[0]["manager"], &managed(pod)[1]["subresource"]),
            (&json!("kube-controller-manager"), &json!("status"))
        );
    }
    // The list as it was, and the events since: each object at its version.
    let old = made["metadata"]["resourceVersion"].as_str().unwrap();
    let then = get(
        at,
        &format!("{DEPLOYMENTS}?resourceVersionMatch=Exact&resourceVersion={old}"),
    )
    .json();
    assert_eq!(managed(&then["items"][0]), managed(&made));
    let now = managed(&get(at, &format!("{DEPLOYMENTS}/web")).json());
    assert_ne!(now, managed(&made));
    let events = String::from_utf8(
        get(
            at,
            &format!("{DEPLOYMENTS}?watch=1&timeoutSeconds=1&resourceVersion={old}"),
        )
        .body,
    )
    .unwrap();
    let events: Vec<Value> = events
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(
        events.last().map(|event| managed(&event["object"])),
        Some(now.clone())
    );
    assert!(events.len() > 2 && managed(&events[0]["object"]) != now);
    // Metadata alone, and the rows of a table.
    for (shape, path) in [
        ("PartialObjectMetadataList", "/items/0"),
        ("Table", "/rows/0/object"),
    ] {
        let accept = format!("application/json;as={shape};g=meta.k8s.io;v=v1");
        let list = send(at, "GET", DEPLOYMENTS, &[("accept", &accept)], b"").json();
        assert_eq!(managed(list.pointer(path).unwrap()), now, "{shape}");
    }
    // What is deleted had them too.
    let gone = send(
        at,
        "DELETE",
        &format!("{PODS}?labelSelector=app%3Dweb"),
        &[],
        b"",
    )
    .json();
    assert_eq!(managed(&gone["items"][0]), managed(&pods["items"][0]));
}

#[test]
fn a_deletion_may_be_dry_by_its_body() {
    let server = server();
    let at = server.address();
    assert_eq!(post(at, CONFIG_MAPS, &config_map("one")).code, 201);
    assert_eq!(post(at, DEPLOYMENTS, &deployment("web", 1)).code, 201);
    pass(at, 10);
    let dry = br#"{"kind":"DeleteOptions","apiVersion":"v1","dryRun":["All"]}"#;
    assert_eq!(
        send(at, "DELETE", &format!("{CONFIG_MAPS}/one"), &[], dry).code,
        200
    );
    assert_eq!(get(at, &format!("{CONFIG_MAPS}/one")).code, 200);
    let name = get(at, PODS).json()["items"][0]["metadata"]["name"]
        .as_str()
        .unwrap()
        .to_owned();
    let eviction = json!({ "apiVersion": "policy/v1", "kind": "Eviction", "metadata": { "name": name }, "deleteOptions": { "dryRun": ["All"] } });
    assert_eq!(
        post(at, &format!("{PODS}/{name}/eviction"), &eviction).code,
        201
    );
    assert_eq!(
        get(at, &format!("{PODS}/{name}")).json()["metadata"].get("deletionTimestamp"),
        None
    );
}

#[test]
fn deletions_heed_their_preconditions() {
    let server = server();
    let at = server.address();
    for name in ["a", "b", "c"] {
        let mut map = config_map(name);
        map["metadata"]["labels"] = json!({ "own": if name == "c" { "no" } else { "yes" } });
        assert_eq!(post(at, CONFIG_MAPS, &map).code, 201);
    }
    let meta = get(at, &format!("{CONFIG_MAPS}/a")).json()["metadata"].clone();
    let delete = |target: &str, preconditions: Value| {
        let options =
            json!({ "kind": "DeleteOptions", "apiVersion": "v1", "preconditions": preconditions });
        let reply = send(
            at,
            "DELETE",
            target,
            &[("content-type", "application/json")],
            options.to_string().as_bytes(),
        );
        (reply.code, reply.json())
    };
    let other = "00000000-0000-4000-8000-000000000000";
    for target in [
        format!("{CONFIG_MAPS}/a"),
        format!("{CONFIG_MAPS}?labelSelector=own%3Dyes"),
    ] {
        for wrong in [
            json!({ "uid": other }),
            json!({ "uid": "x" }),
            json!({ "resourceVersion": "1" }),
        ] {
            let (code, status) = delete(&target, wrong);
            assert_eq!(
                (code, &status["reason"]),
                (409, &json!("Conflict")),
                "{target}"
            );
        }
    }
    let (code, status) = delete(
        &format!("{CONFIG_MAPS}/a"),
        json!({ "uid": meta["uid"], "resourceVersion": meta["resourceVersion"] }),
    );
    assert_eq!((code, &status["status"]), (200, &json!("Success")));
    let (code, gone) = delete(&format!("{CONFIG_MAPS}?labelSelector=own%3Dyes"), json!({}));
    let names = |list: &Value| -> Vec<Value> {
        let items = list["items"].as_array().into_iter().flatten();
        items
            .map(|item| item["metadata"]["name"].clone())
            .filter(|name| *name != "kube-root-ca.crt")
            .collect()
    };
    assert_eq!(
        (code, gone["kind"].as_str(), names(&gone)),
        (200, Some("ConfigMapList"), vec![json!("b")])
    );
    assert_eq!(names(&get(at, CONFIG_MAPS).json()), [json!("c")]);
}

#[test]
fn json_is_indented_for_curl_and_browsers() {
    let server = server();
    let at = server.address();
    assert_eq!(post(at, CONFIG_MAPS, &config_map("a")).code, 201);
    let text = |target: &str, agent: &str| {
        String::from_utf8(send(at, "GET", target, &[("user-agent", agent)], b"").body).unwrap()
    };
    let (one, asked) = (
        format!("{CONFIG_MAPS}/a"),
        format!("{CONFIG_MAPS}/a?pretty=true"),
    );
    let pretty = text(&asked, "kubectl/v1.36.2");
    assert!(
        pretty.starts_with("{\n  \"apiVersion\": \"v1\",\n  \"data\": {\n    \"k\": \"v\"\n  },\n"),
        "{pretty}"
    );
    assert_eq!(
        serde_json::from_str::<Value>(&pretty).unwrap(),
        get(at, &one).json()
    );
    assert_eq!(text(&one, "curl/8.5.0"), pretty);
    assert!(
        !text(&one, "kubectl/v1.36.2").contains('\n')
            && !text(&format!("{one}?pretty=false"), "curl/8.5.0").contains('\n')
    );
    assert!(text("/version", "kubectl/v1.36.2").starts_with("{\n  \""));
    // A refusal too, and not a watch.
    assert!(text(&format!("{one}x"), "curl/8.5.0").contains("\n  \"code\": 404"));
    let watch = text(
        &format!("{CONFIG_MAPS}?watch=1&timeoutSeconds=1"),
        "curl/8.5.0",
    );
    assert!(
        watch.lines().all(|line| line.starts_with("{\"type\":")),
        "{watch}"
    );
}

#[test]
fn kinds_without_a_field_table_are_merged() {
    let server = server();
    let at = server.address();
    let roles = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles";
    assert_eq!(
        post(
            at,
            roles,
            &json!({ "metadata": { "name": "r", "labels": { "a": "b" } }, "rules": [] })
        )
        .code,
        201
    );
    let patched = patch(
        at,
        &format!("{roles}/r"),
        "application/strategic-merge-patch+json",
        &json!({ "metadata": { "labels": { "c": "d" } } }),
    );
    assert_eq!(
        (patched.code, &patched.json()["metadata"]["labels"]),
        (200, &json!({ "a": "b", "c": "d" }))
    );
}

#[test]
fn unsimulated_requests_are_refused_with_a_reason() {
    let server = server();
    let at = server.address();
    assert_eq!(post(at, PODS, &pod("a")).code, 201);
    let refused = || {
        let refused = post(at, &format!("{PODS}/a/portforward"), &Value::Null);
        let message = refused.json()["message"].as_str().unwrap().to_owned();
        (refused.code, message)
    };
    let unassigned = "pod a does not have a host assigned".to_owned();
    assert_eq!(refused(), (400, unassigned));
    let bound = post(at, &format!("{PODS}/a/binding"), &binding("a", "node-1"));
    assert_eq!(bound.code, 201);
    let (code, message) = refused();
    assert_eq!(code, 400);
    assert!(message.contains("not simulated"), "{message}");
    let missing = get(at, "/apis/example.com/v1/namespaces/default/boats/one");
    assert_eq!(missing.body, b"404 page not found\n");
}

#[test]
fn a_namespace_is_finalized_by_a_client() {
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
    let finalize = |finalizers: Value| {
        let body = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": "far" }, "spec": { "finalizers": finalizers } });
        send(
            at,
            "PUT",
            &format!("{far}/finalize"),
            &[("content-type", "application/json")],
            body.to_string().as_bytes(),
        )
        .code
    };
    assert_eq!(finalize(json!([])), 200);
    assert_eq!(get(at, far).code, 200, "it is not being deleted");
    assert_eq!(send(at, "DELETE", far, &[], b"").code, 200);
    assert_eq!(finalize(json!(["kubernetes"])), 200);
    assert_eq!(get(at, far).code, 200);
    assert_eq!(finalize(json!([])), 200);
    assert_eq!(get(at, far).code, 404);
}

#[test]
fn issued_tokens_pass_a_token_review() {
    let server = server();
    let at = server.address();
    pass(at, 2);
    let token = post(
        at,
        "/api/v1/namespaces/default/serviceaccounts/default/token",
        &json!({}),
    )
    .json();
    let review = |token: &Value| {
        let body = json!({ "apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": { "token": token } });
        post(at, "/apis/authentication.k8s.io/v1/tokenreviews", &body).json()["status"].clone()
    };
    assert_eq!(
        review(&token["status"]["token"])["user"]["username"],
        "system:serviceaccount:default:default"
    );
    assert_eq!(
        review(&json!("loopscope.default.default.1")).get("authenticated"),
        None,
        "its time is over"
    );
    assert_eq!(review(&json!("x")).get("user"), None);
}
