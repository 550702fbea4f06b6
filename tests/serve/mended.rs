//! What Kubernetes' own suite for kubectl has found.

use crate::http::{get, pass, post, send};
use crate::{CONFIG_MAPS, config_map, patch, server};
use controller_runtime::cluster::ClusterConfig;
use serde_json::{Value, json};
use serve::{ClockPace, ServeOptions, Server};

const MERGE: &str = "application/merge-patch+json";
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

fn node(name: &str) -> Value {
    json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": name }, "status": { "capacity": { "memory": "1Gi" } } })
}

/// Without nodes of its own: those that clients create have no kubelet.
fn without_nodes() -> Server {
    let config = ClusterConfig::with_nodes(0);
    Server::start(ServeOptions {
        pace: ClockPace::Held,
        config,
        ..ServeOptions::default()
    })
    .unwrap()
}

#[test]
fn a_node_without_kubelet_becomes_unknown() {
    for server in [without_nodes(), server()] {
        let at = server.address();
        assert_eq!(post(at, "/api/v1/nodes", &node("bare")).code, 201);
        let read = || get(at, "/api/v1/nodes/bare").json();
        pass(at, 55);
        assert_eq!(read()["status"].get("conditions"), None);
        pass(at, 15);
        let bare = read();
        let created = bare["metadata"]["creationTimestamp"].clone();
        let conditions = bare["status"]["conditions"].as_array().unwrap();
        let kinds: Vec<&str> = conditions
            .iter()
            .map(|condition| condition["type"].as_str().unwrap())
            .collect();
        assert_eq!(
            kinds,
            ["Ready", "MemoryPressure", "DiskPressure", "PIDPressure"]
        );
        for condition in conditions {
            assert_eq!(
                (
                    &condition["status"],
                    &condition["reason"],
                    &condition["message"],
                    &condition["lastHeartbeatTime"]
                ),
                (
                    &json!("Unknown"),
                    &json!("NodeStatusNeverUpdated"),
                    &json!("Kubelet never posted node status."),
                    &created
                )
            );
        }
        let taints: Vec<Value> = bare["spec"]["taints"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let unreachable = |effect: &str| {
            taints
                .iter()
                .any(|t| t["key"] == "node.kubernetes.io/unreachable" && t["effect"] == effect)
        };
        assert!(unreachable("NoSchedule"), "{taints:?}");
    }
}

/// What is missing where kubectl looks: an Event, and no loop that turns for ever.
#[test]
fn a_schedule_without_a_next_time_is_reported_once() {
    let server = server();
    let at = server.address();
    let cron = json!({ "metadata": { "name": "pi" }, "spec": { "schedule": "59 23 31 2 *", "jobTemplate": { "spec": { "template": {
        "spec": { "restartPolicy": "Never", "containers": [{ "name": "c", "image": "perl" }] } } } } } });
    assert_eq!(
        post(at, "/apis/batch/v1/namespaces/default/cronjobs", &cron).code,
        201
    );
    pass(at, 2);
    let told = || {
        let list = get(
            at,
            "/api/v1/namespaces/default/events?fieldSelector=involvedObject.name%3Dpi",
        )
        .json();
        let event = |event: &Value| {
            (
                event["reason"].clone(),
                event["message"].clone(),
                event["count"].clone(),
            )
        };
        list["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(event)
            .collect::<Vec<_>>()
    };
    let message = json!(
        "invalid schedule: 59 23 31 2 * : time difference between two schedules is less than 1 second"
    );
    assert_eq!(
        told(),
        [(json!("InvalidSchedule"), message.clone(), json!(1))]
    );
    pass(at, 3000);
    assert_eq!(
        told(),
        [(json!("InvalidSchedule"), message.clone(), json!(1))]
    );
    // Another schedule is tried at once, and one that comes starts a Job.
    let cron = "/apis/batch/v1/namespaces/default/cronjobs/pi";
    assert_eq!(
        patch(
            at,
            cron,
            MERGE,
            &json!({ "spec": { "schedule": "0 0 30 2 *" } })
        )
        .code,
        200
    );
    pass(at, 2);
    assert_eq!(told().len(), 2);
    assert_eq!(
        patch(
            at,
            cron,
            MERGE,
            &json!({ "spec": { "schedule": "* * * * *" } })
        )
        .code,
        200
    );
    pass(at, 70);
    assert!(
        told()
            .iter()
            .any(|(reason, ..)| reason == "SuccessfulCreate")
    );
}

/// What `kubectl apply --server-side` does with an object of client-side apply: three requests, of which the second names the managers.
#[test]
fn a_client_takes_over_what_it_applied_on_its_own_side() {
    let server = server();
    let at = server.address();
    let one = format!("{CONFIG_MAPS}/one");
    let mut config = config_map("one");
    config["data"] = json!({ "key": "a", "legacy": "b" });
    config["metadata"]["annotations"] = json!({ "note": "n" });
    assert_eq!(
        post(at, &format!("{CONFIG_MAPS}?fieldManager=mine"), &config).code,
        201
    );
    let apply = |config: &Value| {
        let target = format!("{one}?fieldManager=mine");
        send(
            at,
            "PATCH",
            &target,
            &[("content-type", "application/apply-patch+yaml")],
            config.to_string().as_bytes(),
        )
    };
    assert_eq!(apply(&config).code, 200);
    let managers = |object: &Value| -> Vec<(String, String)> {
        let entry = |entry: &Value| {
            (
                entry["manager"].as_str().unwrap().to_owned(),
                entry["operation"].as_str().unwrap().to_owned(),
            )
        };
        object["metadata"]["managedFields"]
            .as_array()
            .map(|list| list.iter().map(entry).collect())
            .unwrap_or_default()
    };
    let both = get(at, &one).json();
    assert_eq!(
        managers(&both),
        [
            ("mine".to_owned(), "Apply".to_owned()),
            ("mine".to_owned(), "Update".to_owned())
        ]
    );
    // It joins both into one, of the version that it has read.
    let joined = json!([both["metadata"]["managedFields"][0]]);
    let change = |version: &Value| {
        json!([
            { "op": "replace", "path": "/metadata/managedFields", "value": joined },
            { "op": "replace", "path": "/metadata/resourceVersion", "value": version },
        ])
    };
    assert_eq!(
        patch(
            at,
            &one,
            "application/json-patch+json",
            &change(&json!("1"))
        )
        .code,
        409
    );
    let taken = patch(
        at,
        &one,
        "application/json-patch+json",
        &change(&both["metadata"]["resourceVersion"]),
    );
    assert_eq!(
        (taken.code, managers(&taken.json())),
        (200, vec![("mine".to_owned(), "Apply".to_owned())])
    );
    // A list and a watch tell the same, and what is no longer applied goes.
    let list = get(
        at,
        &format!("{CONFIG_MAPS}?fieldSelector=metadata.name%3Done"),
    )
    .json();
    assert_eq!(managers(&list["items"][0]).len(), 1);
    config["data"] = json!({ "key": "c" });
    config["metadata"]
        .as_object_mut()
        .unwrap()
        .remove("annotations");
    let applied = apply(&config).json();
    assert_eq!(
        (&applied["data"], &applied["metadata"]["name"]),
        (&json!({ "key": "c" }), &json!("one"))
    );
    assert_eq!(applied["metadata"].get("annotations"), None);
    // Who sends back what it has read changes no manager; who names others does, and who names none forgets them all.
    let mut read = get(at, &one).json();
    let put = |object: &Value| {
        send(
            at,
            "PUT",
            &format!("{one}?fieldManager=other"),
            &[],
            object.to_string().as_bytes(),
        )
        .json()
    };
    assert_eq!(
        put(&read)["metadata"]["resourceVersion"],
        read["metadata"]["resourceVersion"]
    );
    read["metadata"]["managedFields"][0]["manager"] = json!("theirs");
    assert_eq!(
        managers(&put(&read)),
        [("theirs".to_owned(), "Apply".to_owned())]
    );
    let mut read = get(at, &one).json();
    read["metadata"]["managedFields"] = json!([{}]);
    assert_eq!(managers(&put(&read)), []);
    config["metadata"]["managedFields"] = json!([{ "manager": "x" }]);
    assert_eq!(
        (
            apply(&config).code,
            apply(&config).json()["message"].clone()
        ),
        (400, json!("metadata.managedFields must be nil"))
    );
}

/// A definition with two versions; the older one is deprecated, if it is to be.
fn boats(scope: &str, deprecated: &Value) -> Value {
    let version = |name: &str, storage: bool| {
        let schema = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
        json!({ "name": name, "served": true, "storage": storage, "schema": { "openAPIV3Schema": schema } })
    };
    let mut old = version("v1beta1", false);
    for (field, value) in deprecated.as_object().into_iter().flatten() {
        old[field] = value.clone();
    }
    json!({ "metadata": { "name": "boats.example.com" }, "spec": { "group": "example.com", "scope": scope, "versions": [version("v1", true), old],
        "names": { "plural": "boats", "singular": "boat", "kind": "Boat" } } })
}

/// As the test of a chart that `helm create` writes: the address has no scheme.
#[test]
fn a_container_that_only_asks_a_service_ends_with_its_answer() {
    let server = server();
    let at = server.address();
    let pods = "/api/v1/namespaces/default/pods";
    let service = json!({ "metadata": { "name": "web" }, "spec": { "selector": { "app": "web" }, "ports": [{ "port": 80 }] } });
    assert_eq!(
        post(at, "/api/v1/namespaces/default/services", &service).code,
        201
    );
    let ask = |name: &str, command: Value| {
        let spec = json!({ "restartPolicy": "Never", "containers": [{ "name": "c", "image": "busybox", "command": command }] });
        assert_eq!(
            post(
                at,
                pods,
                &json!({ "metadata": { "name": name }, "spec": spec })
            )
            .code,
            201
        );
        pass(at, 20);
        let pod = get(at, &format!("{pods}/{name}")).json();
        let code = pod["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"].clone();
        (pod["status"]["phase"].as_str().unwrap().to_owned(), code)
    };
    assert_eq!(
        ask("refused", json!(["wget", "web:80"])),
        ("Failed".to_owned(), json!(1))
    );
    assert_eq!(
        ask("unknown", json!(["curl", "http://nobody/"])),
        ("Failed".to_owned(), json!(6))
    );
    let web = json!({ "metadata": { "name": "web", "labels": { "app": "web" } }, "spec": { "containers": [{ "name": "c", "image": "nginx" }] } });
    assert_eq!(post(at, pods, &web).code, 201);
    pass(at, 20);
    assert_eq!(
        ask("answered", json!(["wget", "web:80"])),
        ("Succeeded".to_owned(), json!(0))
    );
    assert_eq!(
        ask("script", json!(["sh", "-c", "wget -T 5 -qO- http://web/x"])),
        ("Succeeded".to_owned(), json!(0))
    );
    assert_eq!(
        ask("loop", json!(["sh", "-c", "while true; do wget web; done"])).0,
        "Running"
    );
}

fn warnings(reply: &crate::http::Reply) -> Vec<String> {
    reply
        .headers
        .iter()
        .filter(|(key, _)| key == "warning")
        .map(|(_, value)| value.clone())
        .collect()
}

#[test]
fn clients_are_warned_of_a_deprecated_version_whatever_they_do() {
    for (deprecated, told) in [
        (
            json!({ "deprecated": true }),
            "299 - \"example.com/v1beta1 Boat is deprecated\"",
        ),
        (
            json!({ "deprecated": true, "deprecationWarning": "use \"v1\"" }),
            r#"299 - "use \"v1\"""#,
        ),
    ] {
        let server = server();
        let at = server.address();
        assert_eq!(
            post(at, DEFINITIONS, &boats("Cluster", &deprecated)).code,
            201
        );
        pass(at, 2);
        let (old, new) = (
            "/apis/example.com/v1beta1/boats",
            "/apis/example.com/v1/boats",
        );
        let boat = json!({ "metadata": { "name": "a" } });
        let change = json!({ "x": 1 });
        let (old_one, new_one) = (format!("{old}/a"), format!("{new}/a"));
        for (all, one, expected) in [
            (old, &old_one, vec![told.to_owned()]),
            (new, &new_one, Vec::new()),
        ] {
            for reply in [
                post(at, all, &boat),
                get(at, all),
                get(at, one),
                patch(at, one, MERGE, &change),
                send(at, "DELETE", one, &[], b""),
            ] {
                assert_eq!((reply.code / 100, warnings(&reply)), (2, expected.clone()));
            }
        }
        assert_eq!(warnings(&get(at, &old_one)), [told]);
        assert_eq!(
            warnings(&get(at, &format!("{old}?watch=1&timeoutSeconds=1"))),
            [told]
        );
    }
    // So are those of a version that comes with Kubernetes.
    let server = server();
    let reply = send(
        server.address(),
        "DELETE",
        "/api/v1/namespaces/default/endpoints/none",
        &[],
        b"",
    );
    assert_eq!((reply.code, warnings(&reply).len()), (404, 1));
}

#[test]
fn decode_errors_name_the_expected_kind() {
    let server = server();
    let at = server.address();
    let message = |method: &str, target: &str, kind: &str, body: &[u8]| {
        let reply = send(at, method, target, &[("content-type", kind)], body);
        assert_eq!(reply.code, 400);
        reply.json()["message"].as_str().unwrap().to_owned()
    };
    let namespaces = "/api/v1/namespaces";
    let text = message(
        "POST",
        namespaces,
        "application/json",
        b"apiVersion: v1\nkind: LimitRange\n",
    );
    assert!(
        text.starts_with("the object provided is unrecognized (must be of type Namespace): couldn't get version/kind; json parse error: ")
    );
    assert!(
        text.ends_with(" (61706956657273696f6e3a2076310a6b696e643a204c696d697452616e67 ...)"),
        "{text}"
    );
    assert!(
        message("POST", namespaces, "application/json", b"{\"kind\":").ends_with(" ({\"kind\":)")
    );
    assert!(message("POST", namespaces, "application/json", b"").ends_with(" (<empty>)"));
    assert!(
        message("DELETE", "/api/v1/namespaces/far", "application/json", b"5")
            .contains("(must be of type DeleteOptions)")
    );
    let review = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    assert!(
        message("POST", review, "application/json", b"5")
            .contains("(must be of type SelfSubjectAccessReview)")
    );
    let applied = message(
        "PATCH",
        "/api/v1/namespaces/far?fieldManager=me",
        "application/apply-patch+yaml",
        b"- 5",
    );
    assert!(applied.starts_with("error decoding YAML: "), "{applied}");
}

#[test]
fn a_request_is_made_as_a_user_with_uid_and_extra() {
    let server = server();
    let at = server.address();
    let target = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    let as_user = |more: &[(&str, &str)]| {
        let headers: Vec<(&str, &str)> = more
            .iter()
            .copied()
            .chain([("content-type", "application/json")])
            .collect();
        send(at, "POST", target, &headers, b"{}")
    };
    let told = as_user(&[
        ("Impersonate-User", "jane"),
        ("Impersonate-Uid", "abc123"),
        ("Impersonate-Extra-Example.com%2fScopes", "view"),
        ("Impersonate-Extra-Example.com%2fScopes", "edit"),
    ]);
    let user = json!({ "username": "jane", "uid": "abc123", "groups": ["system:authenticated"], "extra": { "example.com/scopes": ["view", "edit"] } });
    assert_eq!(told.json()["status"]["userInfo"], user);
    let groups =
        |more: &[(&str, &str)]| as_user(more).json()["status"]["userInfo"]["groups"].clone();
    assert_eq!(
        groups(&[("Impersonate-User", "system:anonymous")]),
        json!(["system:unauthenticated"])
    );
    assert_eq!(
        groups(&[
            ("Impersonate-User", "x"),
            ("Impersonate-Group", "system:authenticated")
        ]),
        json!(["system:authenticated"])
    );
    for header in [
        "Impersonate-Uid",
        "Impersonate-Group",
        "Impersonate-Extra-Scopes",
    ] {
        let reply = as_user(&[(header, "x")]);
        assert_eq!(
            (reply.code, reply.json()["reason"].clone()),
            (400, json!("BadRequest"))
        );
    }
    // It is noted where a certificate is asked for, and in no other way.
    let requests = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
    let csr = json!({ "metadata": { "name": "foo" }, "spec": { "request": "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIa01JR0xBZ0VBTUNreEp6QWxCZ05WQkFNVEhtNXZkQzFoTFhKbFlXd3RZMlZ5ZEdsbWFXTmhkR1V1ClpYaGhiWEJzWlRCWk1CTUdCeXFHU000OUFnRUdDQ3FHU000OUF3RUhBMElBQkE9PQotLS0tLUVORCBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K",
        "signerName": "example.com/any", "usages": ["client auth"], "uid": "made-up" } });
    let created = post(at, requests, &csr);
    assert_eq!(
        (created.code, created.json()["spec"].get("uid")),
        (201, None),
        "{}",
        created.json()
    );
}

/// A client that sends a whole Pod may leave out what admission has set.
#[test]
fn a_pod_is_replaced_without_what_admission_added() {
    let server = server();
    let at = server.address();
    let pods = "/api/v1/namespaces/default/pods";
    let pod = json!({ "metadata": { "name": "a" }, "spec": { "containers": [{ "name": "c", "image": "nginx" }],
        "tolerations": [{ "key": "mine", "operator": "Exists" }] } });
    assert_eq!(post(at, pods, &pod).code, 201);
    let one = format!("{pods}/a");
    let read = get(at, &one).json();
    let mut sent = read.clone();
    sent["metadata"]["labels"] = json!({ "status": "replaced" });
    let spec = sent["spec"].as_object_mut().unwrap();
    spec.remove("priority");
    spec.remove("preemptionPolicy");
    spec.insert(
        "tolerations".to_owned(),
        json!([{ "key": "mine", "operator": "Exists" }]),
    );
    let replaced = send(at, "PUT", &one, &[], sent.to_string().as_bytes());
    assert_eq!(
        (replaced.code, &replaced.json()["spec"]),
        (200, &read["spec"])
    );
    // Another priority is still refused, and a toleration cannot be taken away.
    sent["spec"]["priority"] = json!(7);
    sent["metadata"]["resourceVersion"] = json!("");
    assert_eq!(
        send(at, "PUT", &one, &[], sent.to_string().as_bytes()).code,
        422
    );
    sent["spec"]["priority"] = read["spec"]["priority"].clone();
    sent["spec"]["tolerations"] = json!([]);
    assert_eq!(
        send(at, "PUT", &one, &[], sent.to_string().as_bytes()).code,
        422
    );
}

#[test]
fn a_kind_in_another_scope_is_written_like_any_other() {
    let server = server();
    let at = server.address();
    let one = format!("{DEFINITIONS}/boats.example.com");
    for scope in ["Namespaced", "Cluster", "Namespaced"] {
        assert_eq!(post(at, DEFINITIONS, &boats(scope, &json!({}))).code, 201);
        pass(at, 2);
        let all = if scope == "Cluster" {
            "/apis/example.com/v1/boats"
        } else {
            "/apis/example.com/v1/namespaces/default/boats"
        };
        assert_eq!(
            post(at, all, &json!({ "metadata": { "name": "a" } })).code,
            201,
            "{scope}"
        );
        let boat = format!("{all}/a");
        assert_eq!(patch(at, &boat, MERGE, &json!({ "x": 1 })).json()["x"], 1);
        assert_eq!(send(at, "DELETE", &boat, &[], b"").code, 200, "{scope}");
        assert_eq!(get(at, &boat).code, 404);
        // What it owns goes with it.
        let owner = post(at, all, &json!({ "metadata": { "name": "b" } })).json();
        let mut owned = config_map("owned");
        owned["metadata"]["ownerReferences"] = json!([{ "apiVersion": "example.com/v1", "kind": "Boat", "name": "b", "uid": owner["metadata"]["uid"] }]);
        if scope == "Namespaced" {
            assert_eq!(post(at, CONFIG_MAPS, &owned).code, 201);
            pass(at, 2);
            assert_eq!(get(at, &format!("{CONFIG_MAPS}/owned")).code, 200);
            assert_eq!(send(at, "DELETE", &format!("{all}/b"), &[], b"").code, 200);
            pass(at, 2);
            assert_eq!(get(at, &format!("{CONFIG_MAPS}/owned")).code, 404);
        }
        assert_eq!(send(at, "DELETE", &one, &[], b"").code, 200);
        pass(at, 15);
        assert_eq!(get(at, &one).code, 404);
    }
}

#[test]
fn metrics_describe_the_server() {
    let server = server();
    let at = server.address();
    assert_eq!(post(at, CONFIG_MAPS, &config_map("one")).code, 201);
    assert_eq!(
        post(at, &format!("{CONFIG_MAPS}?dryRun=All"), &config_map("two")).code,
        201
    );
    assert_eq!(post(at, CONFIG_MAPS, &config_map("one")).code, 409);
    assert_eq!(get(at, CONFIG_MAPS).code, 200);
    assert_eq!(send(at, "BREW", "/api", &[], b"").code, 405);
    let mut watch = crate::open(at, "GET", "/api/v1/pods?watch=1", &[], b"");
    assert_eq!(crate::head(&mut watch).0, 200);
    let reply = get(at, "/metrics");
    assert_eq!(
        (reply.code, reply.header("content-type")),
        (200, "text/plain; version=0.0.4; charset=utf-8")
    );
    let text = String::from_utf8(reply.body).unwrap();
    let labels = |code: u16, dry: &str, verb: &str, scope: &str| {
        format!(
            "apiserver_request_total{{code=\"{code}\",dry_run=\"{dry}\",component=\"apiserver\",group=\"\",resource=\"configmaps\",\
             scope=\"{scope}\",subresource=\"\",verb=\"{verb}\",version=\"v1\"}} 1"
        )
    };
    for line in [
        labels(201, "", "POST", "resource"),
        labels(201, "All", "POST", "resource"),
        labels(409, "", "POST", "resource"),
        labels(200, "", "LIST", "namespace"),
        "apiserver_resource_objects{group=\"\",resource=\"nodes\"} 3".to_owned(),
        "apiserver_storage_objects{resource=\"deployments.apps\"} 0".to_owned(),
        "apiserver_longrunning_requests{component=\"apiserver\",group=\"\",resource=\"pods\",scope=\"cluster\",subresource=\"\",verb=\"WATCH\",\
         version=\"v1\"} 1"
            .to_owned(),
    ] {
        assert!(text.lines().any(|one| one == line), "{line}\n{text}");
    }
    // Each metric is described once, before its values, and names no label twice.
    let mut known: Vec<&str> = Vec::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            known.push(rest.split_once(' ').expect("a description").0);
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').expect("a type");
            assert!(
                known.last() == Some(&name) && matches!(kind, "counter" | "gauge"),
                "{line}"
            );
        } else {
            let (name, value) = (
                line.split(['{', ' ']).next().unwrap(),
                line.rsplit_once(' ').unwrap().1,
            );
            assert!(
                known.last() == Some(&name) && value.parse::<u64>().is_ok(),
                "{line}"
            );
        }
    }
    let mut sorted = known.clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(known, sorted);
    // No word of a client becomes a label that the server does not know.
    assert!(!text.contains("BREW") && text.contains("verb=\"other\""));
}

#[test]
fn the_options_of_a_deletion_are_read_in_one_place() {
    let server = server();
    let at = server.address();
    let one = format!("{CONFIG_MAPS}/one");
    assert_eq!(post(at, CONFIG_MAPS, &config_map("one")).code, 201);
    let refused = |target: &str, body: &Value| {
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        let status = send(
            at,
            "DELETE",
            target,
            &[("content-type", "application/json")],
            body.as_bytes(),
        )
        .json();
        (
            status["code"].clone(),
            status["message"].as_str().unwrap_or("").to_owned(),
        )
    };
    let invalid = |detail: &str| {
        (
            json!(422),
            format!("DeleteOptions.meta.k8s.io \"\" is invalid: propagationPolicy: {detail}"),
        )
    };
    let both = invalid(
        "Invalid value: \"Orphan\": orphanDependents and deletionPropagation cannot be both set",
    );
    let supported = "supported values: \"Foreground\", \"Background\", \"Orphan\", \"nil\"";
    for target in [&one, CONFIG_MAPS] {
        assert_eq!(
            refused(
                target,
                &json!({ "propagationPolicy": "Orphan", "orphanDependents": true })
            ),
            both
        );
        assert_eq!(
            refused(
                &format!("{target}?propagationPolicy=Orphan&orphanDependents=false"),
                &json!(null)
            ),
            both
        );
        let misspelt = invalid(&format!("Unsupported value: \"orphan\": {supported}"));
        assert_eq!(
            refused(target, &json!({ "propagationPolicy": "orphan" })),
            misspelt
        );
        assert_eq!(
            refused(&format!("{target}?propagationPolicy=orphan"), &json!(null)),
            misspelt
        );
        let (code, message) = refused(target, &json!({ "gracePeriodSeconds": "5" }));
        assert_eq!(code, 400);
        assert!(message.ends_with("json: cannot unmarshal string into Go struct field DeleteOptions.gracePeriodSeconds of type int64"));
    }
    assert_eq!(get(at, &one).code, 200);
    let eviction = json!({ "apiVersion": "policy/v1", "kind": "Eviction", "metadata": { "name": "x" }, "deleteOptions": { "dryRun": ["Some"] } });
    let reply = post(at, "/api/v1/namespaces/default/pods/x/eviction", &eviction);
    assert_eq!(
        (
            reply.code,
            reply.json()["details"]["causes"][0]["field"].clone()
        ),
        (422, json!("dryRun"))
    );
}
