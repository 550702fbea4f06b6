use super::*;
use crate::error::StatusReason;
use crate::journal::Actor;
use crate::request::{ListOptions, RequestOptions, ResourceName};
use crate::{Component, ControllerId, Entry, Record, ServerOptions, UserInfo};
use k8s_model::{Kind, Timestamp};

fn server() -> ApiServer {
    let mut server = ApiServer::new(Timestamp::new(0), 1);
    server.options = ServerOptions::default();
    let namespace = json!({"metadata": {"name": "default"}, "status": {"phase": "Active"}});
    let namespace = Object::from_value(Kind::Namespace, namespace).unwrap();
    let own = Origin::new(Actor::SERVER, None, 0);
    server.create(&own, namespace, Why::Bootstrap).unwrap();
    server
}

fn config_map(metadata: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})
}

/// Sends an object; returns its name, or the reason and the message of the refusal.
fn send(server: &mut ApiServer, verb: Verb, body: Value) -> Result<String, (StatusReason, String)> {
    let request = Request::of_manifest(verb, body);
    let response = server.handle(&request.origin(Origin::user()), &request);
    match response.result {
        Ok(content) => Ok(content.object().unwrap().meta.name.to_string()),
        Err(error) => Err((error.reason, error.message)),
    }
}

#[test]
fn generated_names_have_at_most_63_characters() {
    let prefix = "g".repeat(70);
    let body = config_map(json!({ "generateName": prefix }));
    let name = send(&mut server(), Verb::Create, body).unwrap();
    assert_eq!((name.len(), name.starts_with(&prefix[..58])), (63, true));
}

#[test]
fn mutating_admission_precedes_validation_and_validation_the_storage() {
    let mut server = server();
    let metadata = json!({"name": "c", "namespace": "default", "finalizers": ["example.com/held"]});
    let existing = config_map(metadata);
    send(&mut server, Verb::Create, existing.clone()).unwrap();
    let refusal = |server: &mut ApiServer, metadata: Value, data: Value| {
        let mut body = config_map(metadata);
        body["data"] = data;
        send(server, Verb::Create, body).unwrap_err()
    };
    let invalid = json!({"a b": ""});
    let elsewhere = json!({"name": "c", "namespace": "none"});
    let missing = refusal(&mut server, elsewhere, invalid.clone());
    let expected = (
        StatusReason::NotFound,
        "namespaces \"none\" not found".to_owned(),
    );
    assert_eq!(missing, expected);
    let versioned = json!({"name": "c", "resourceVersion": "5"});
    let both = refusal(&mut server, versioned.clone(), invalid);
    assert_eq!(both.0, StatusReason::Invalid);
    let versioned = refusal(&mut server, versioned, json!({}));
    let message = "resourceVersion should not be set on objects to be created".to_owned();
    assert_eq!(versioned, (StatusReason::Unknown, message));
    let delete = Request::new(Verb::Delete, ResourceName::of_manifest(&existing));
    let response = server.handle(&delete.origin(Origin::user()), &delete);
    assert!(response.result.is_ok());
    let again = refusal(&mut server, json!({"name": "c"}), json!({}));
    let message = "object is being deleted: configmaps \"c\" already exists".to_owned();
    assert_eq!(again, (StatusReason::AlreadyExists, message));
}

#[test]
fn objects_of_controllers_are_validated() {
    static ID: ControllerId = ControllerId::new("statefulset-controller");
    let actor = Actor::component(Component::Controller(&ID));
    let labels = json!({"statefulset.kubernetes.io/pod-name": "w".repeat(64)});
    let pod = json!({"metadata": {"name": "web-0", "namespace": "default", "labels": labels}});
    let pod = Object::from_value(Kind::Pod, pod).unwrap();
    let result = server().create(&Origin::new(actor, None, 1), pod, Why::Observed);
    let message = result.unwrap_err().message;
    let part = "metadata.labels: Invalid value: \"wwww";
    assert!(
        message.contains(part) && message.contains("must be no more than 63 bytes"),
        "{message}"
    );
}

#[test]
fn an_update_names_a_version_that_can_be_parsed() {
    let mut server = server();
    send(&mut server, Verb::Create, config_map(json!({"name": "c"}))).unwrap();
    let body = config_map(json!({"name": "c", "resourceVersion": "abc"}));
    let message = "strconv.ParseUint: parsing \"abc\": invalid syntax".to_owned();
    let refusal = send(&mut server, Verb::Update, body).unwrap_err();
    assert_eq!(refusal, (StatusReason::Unknown, message));
}

#[test]
fn etcd_refuses_large_objects() {
    let mut body = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"},
        "spec": {"type": "ExternalName", "externalName": "example.com"}});
    body["metadata"]["annotations"] = json!({ "a": "x".repeat(200_000) });
    assert!(send(&mut server(), Verb::Create, body.clone()).is_ok());
    let list: Vec<_> = (0..100_000)
        .map(|i| format!("{i:020}.example.com/held"))
        .collect();
    body["metadata"]["finalizers"] = json!(list);
    let message = "etcdserver: request is too large".to_owned();
    let refusal = send(&mut server(), Verb::Create, body).unwrap_err();
    assert_eq!(refusal, (StatusReason::Unknown, message));
}

#[test]
fn an_applied_object_with_a_uid_must_exist() {
    let mut server = server();
    let body = config_map(json!({"name": "c", "uid": "11111111-1111-1111-1111-111111111111"}));
    let apply = |body: Value| Request {
        body: RequestBody::Apply(body.clone()),
        ..Request::new(Verb::Patch, ResourceName::of_manifest(&body))
    };
    let request = apply(body);
    let response = server.handle(&request.origin(Origin::user()), &request);
    let message = "Operation cannot be fulfilled on configmaps \"c\": uid mismatch: the provided object specified uid \
                   11111111-1111-1111-1111-111111111111, and no existing object was found";
    assert_eq!(response.result.unwrap_err().message, message);
    let request = apply(config_map(json!({"name": "c", "resourceVersion": "1"})));
    let response = server.handle(&request.origin(Origin::user()), &request);
    assert!(matches!(response.result, Ok(Content::Created(_))));
}

#[test]
fn replicas_of_a_scale_are_an_int32() {
    let mut server = server();
    let labels = json!({"app": "web"});
    let deployment = json!({"apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"replicas": 3, "selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels},
            "spec": {"containers": [{"name": "c", "image": "c"}]}}}});
    send(&mut server, Verb::Create, deployment).unwrap();
    let mut refusal = |replicas: Value| {
        let key = ObjectRef::new(Kind::Deployment, "default", "web");
        let request = Request {
            subresource: Subresource::Scale,
            ..Request::patch(&key, Patch::merge(json!({"spec": {"replicas": replicas}})))
        };
        let response = server.handle(&request.origin(Origin::user()), &request);
        response
            .result
            .err()
            .map(|error| (error.reason, error.message))
    };
    let (reason, message) = refusal(json!("x")).unwrap();
    assert_eq!(reason, StatusReason::Invalid);
    let problem =
        "json: cannot unmarshal string into Go struct field ScaleSpec.spec.replicas of type int32";
    assert!(message.ends_with(problem), "{message}");
    assert!(refusal(json!(4_000_000_000_i64)).is_some());
    assert_eq!(refusal(json!(2)), None);
    let scale = json!({"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "web"}, "spec": {"replicas": "x"}});
    let request = Request {
        subresource: Subresource::Scale,
        body: RequestBody::Object(scale),
        ..Request::new(
            Verb::Update,
            &ObjectRef::new(Kind::Deployment, "default", "web"),
        )
    };
    let response = server.handle(&request.origin(Origin::user()), &request);
    assert_eq!(
        response.result.unwrap_err().reason,
        StatusReason::BadRequest
    );
}

#[test]
fn a_merge_patch_with_a_wrong_type_is_invalid() {
    let mut server = server();
    let metadata = json!({"name": "c", "namespace": "default"});
    send(&mut server, Verb::Create, config_map(metadata)).unwrap();
    let key = ObjectRef::new(Kind::ConfigMap, "default", "c");
    let request = Request::patch(&key, Patch::merge(json!({"data": {"a": 7}})));
    let response = server.handle(&request.origin(Origin::user()), &request);
    let error = response.result.unwrap_err();
    assert_eq!(error.reason, StatusReason::Invalid);
    let start = " \"\" is invalid: patch: Invalid value: \"{\\\"apiVersion\\\":\\\"v1\\\"";
    assert!(error.message.starts_with(start), "{}", error.message);
}

#[test]
fn a_binding_names_a_node() {
    let key = ObjectRef::new(Kind::Pod, "default", "p");
    let request = Request {
        subresource: Subresource::Binding,
        body: RequestBody::Object(json!({"target": {"kind": "Disk"}})),
        ..Request::new(Verb::Create, &key)
    };
    let response = server().handle(&request.origin(Origin::user()), &request);
    let error = response.result.unwrap_err();
    let message = "[target.kind: Unsupported value: \"Disk\": supported values: \"Node\", \"<empty>\", target.name: Required value]";
    assert_eq!(
        (error.reason, error.message.as_str()),
        (StatusReason::Unknown, message)
    );
}

#[test]
fn a_binding_of_another_uid_is_refused_and_recorded() {
    let mut server = server();
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "default"}, "spec": {"containers": [{"name": "a", "image": "nginx"}]}});
    server
        .create_value(&Origin::user(), pod, Why::Asked)
        .unwrap();
    let request = Request {
        subresource: Subresource::Binding,
        body: RequestBody::Object(
            json!({"metadata": {"uid": "not-a-uid"}, "target": {"name": "node-1"}}),
        ),
        ..Request::new(Verb::Create, &ObjectRef::new(Kind::Pod, "default", "p"))
    };
    let refusals = |server: &ApiServer| {
        let entries = server.store.journal();
        let refused = |entry: &&Entry| matches!(entry.record, Record::Refused(_));
        entries.iter().filter(refused).count()
    };
    let before = refusals(&server);
    let response = server.handle(&request.origin(Origin::user()), &request);
    assert_eq!(response.result.unwrap_err().reason, StatusReason::Conflict);
    assert_eq!(refusals(&server), before + 1);
}

/// Sends a read of the ConfigMaps of a namespace.
fn read(
    server: &mut ApiServer,
    verb: Verb,
    user: Option<&str>,
    list_options: ListOptions,
) -> Result<Content, ApiError> {
    let request = Request {
        options: RequestOptions {
            list_options,
            ..RequestOptions::default()
        },
        user: user.map(|name| UserInfo::new(name, Vec::new())),
        ..Request::new(verb, &ObjectRef::new(Kind::ConfigMap, "default", ""))
    };
    server
        .handle(&request.origin(Origin::user()), &request)
        .result
}

#[test]
fn lists_are_selected_and_cut_into_pages_of_one_version() {
    let mut server = server();
    for (name, tier) in [("a", "x"), ("b", "y"), ("c", "x"), ("d", "x")] {
        let metadata = json!({"name": name, "namespace": "default", "labels": {"tier": tier}});
        send(&mut server, Verb::Create, config_map(metadata)).unwrap();
    }
    let mut list = |options: ListOptions| match read(&mut server, Verb::List, None, options) {
        Ok(Content::List(mut list)) => {
            let names = list.by_ref().map(|object| object.meta.name.to_string());
            (names.collect::<Vec<_>>(), list)
        }
        other => panic!("{other:?}"),
    };
    let (names, first) = list(ListOptions {
        limit: 3,
        ..ListOptions::default()
    });
    assert_eq!(
        (names.join(""), first.remaining_item_count),
        ("abc".to_owned(), Some(1))
    );
    let (names, page) = list(ListOptions {
        label_selector: "tier=x".to_owned(),
        limit: 2,
        ..ListOptions::default()
    });
    assert_eq!(
        (names.join(""), page.remaining_item_count),
        ("ac".to_owned(), None)
    );
    let (names, _) = list(ListOptions {
        field_selector: "metadata.name!=c".to_owned(),
        ..ListOptions::default()
    });
    assert_eq!(names.join(""), "abd");
    send(
        &mut server,
        Verb::Create,
        config_map(json!({"name": "e", "namespace": "default"})),
    )
    .unwrap();
    let next = ListOptions {
        continue_token: first.continue_token,
        ..ListOptions::default()
    };
    let Ok(Content::List(rest)) = read(&mut server, Verb::List, None, next) else {
        panic!("the token is valid");
    };
    assert_eq!(rest.resource_version, first.resource_version);
    assert_eq!(
        rest.map(|object| object.meta.name.to_string())
            .collect::<Vec<_>>(),
        ["d"]
    );
}

#[test]
fn a_watch_sends_what_enters_and_leaves_its_selection() {
    let mut server = server();
    let options = ListOptions {
        label_selector: "tier=x".to_owned(),
        ..ListOptions::default()
    };
    let Ok(Content::Watch(mut watch)) = read(&mut server, Verb::Watch, None, options) else {
        panic!("ConfigMaps can be watched");
    };
    for (verb, tier) in [
        (Verb::Create, "x"),
        (Verb::Update, "y"),
        (Verb::Update, "x"),
    ] {
        let metadata = json!({"name": "a", "namespace": "default", "labels": {"tier": tier}});
        send(&mut server, verb, config_map(metadata)).unwrap();
    }
    let events = std::iter::from_fn(|| watch.next_event(&server.store));
    let types: Vec<&str> = events.map(|event| event.op.watch_type()).collect();
    assert_eq!(types, ["ADDED", "DELETED", "ADDED"]);
}

#[test]
fn reads_are_authorized_by_verb() {
    let mut server = server();
    for (verb, word) in [(Verb::List, "list"), (Verb::Watch, "watch")] {
        let error = read(&mut server, verb, Some("ann"), ListOptions::default()).unwrap_err();
        let message = format!(
            "configmaps is forbidden: User \"ann\" cannot {word} resource \"configmaps\" in API group \"\" in the namespace \"default\""
        );
        assert_eq!(error.message, message);
    }
}

#[test]
fn a_collection_is_deleted_by_one_request() {
    let mut server = server();
    for name in ["a", "b"] {
        let metadata = json!({"name": name, "namespace": "default", "labels": {"name": name}});
        send(&mut server, Verb::Create, config_map(metadata)).unwrap();
    }
    let options = ListOptions {
        label_selector: "name=a".to_owned(),
        ..ListOptions::default()
    };
    let Ok(Content::List(deleted)) = read(&mut server, Verb::DeleteCollection, None, options)
    else {
        panic!("ConfigMaps can be deleted together");
    };
    assert_eq!(deleted.count(), 1);
    assert_eq!(server.store.count(Kind::ConfigMap), 1);
}

/// Sends a write of a subresource; returns the object, or the reason and the message of the refusal.
fn send_part(
    server: &mut ApiServer,
    subresource: Subresource,
    body: Value,
) -> Result<Rc<Object>, (StatusReason, String)> {
    let request = Request {
        subresource,
        ..Request::of_manifest(Verb::Update, body)
    };
    let response = server.handle(&request.origin(Origin::user()), &request);
    match response.result {
        Ok(content) => Ok(content.object().unwrap().clone()),
        Err(error) => Err((error.reason, error.message)),
    }
}

#[test]
fn a_replaced_terminating_namespace_is_held_by_its_spec() {
    let mut server = server();
    let key = ObjectRef::new(Kind::Namespace, "", "x");
    let body = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "x"}});
    send(&mut server, Verb::Create, body.clone()).unwrap();
    let delete = Request::new(Verb::Delete, &key);
    for _ in 0..2 {
        let response = server.handle(&delete.origin(Origin::user()), &delete);
        assert!(response.result.is_ok());
    }
    send(&mut server, Verb::Update, body.clone()).unwrap();
    let namespace = server.store.get(&key).unwrap().to_value();
    assert_eq!(namespace["spec"]["finalizers"], json!(["kubernetes"]));
    assert_eq!(namespace["metadata"].get("finalizers"), None);
    assert_eq!(namespace["status"]["phase"], "Terminating");
    send_part(&mut server, Subresource::Finalize, body).unwrap();
    assert!(server.store.get(&key).is_none());
}

#[test]
fn a_load_balancer_without_allocation_gets_no_node_ports() {
    let mut server = server();
    let ports = |server: &mut ApiServer, name: &str, allocates: bool| {
        let spec = json!({"type": "LoadBalancer", "allocateLoadBalancerNodePorts": allocates,
            "externalTrafficPolicy": "Local", "ports": [{"port": 80}]});
        let body = json!({"apiVersion": "v1", "kind": "Service",
            "metadata": {"name": name, "namespace": "default"}, "spec": spec});
        send(server, Verb::Create, body).unwrap();
        let key = ObjectRef::new(Kind::Service, "default", name);
        let spec = server.store.get(&key).unwrap().to_value()["spec"].take();
        let number = |value: &Value| value.as_i64().unwrap_or(0);
        (
            number(&spec["ports"][0]["nodePort"]),
            number(&spec["healthCheckNodePort"]),
        )
    };
    let without = ports(&mut server, "without", false);
    assert!(without.0 == 0 && without.1 != 0, "{without:?}");
    let with = ports(&mut server, "with", true);
    assert!(with.0 != 0 && ![0, with.0, without.1].contains(&with.1));
    let spec = json!({"type": "NodePort", "ports": [{"port": 80, "nodePort": with.1}]});
    let body = json!({"apiVersion": "v1", "kind": "Service",
        "metadata": {"name": "other", "namespace": "default"}, "spec": spec});
    let (reason, message) = send(&mut server, Verb::Create, body).unwrap_err();
    assert_eq!(reason, StatusReason::Invalid);
    assert!(
        message.ends_with("provided port is already allocated"),
        "{message}"
    );
}

#[test]
fn the_protocols_of_a_port_share_a_node_port() {
    let mut server = server();
    let ports = json!([{"name": "udp", "port": 53, "protocol": "UDP"}, {"name": "tcp", "port": 53},
        {"name": "http", "port": 80}]);
    let body = json!({"apiVersion": "v1", "kind": "Service",
        "metadata": {"name": "dns", "namespace": "default"}, "spec": {"type": "NodePort", "ports": ports}});
    send(&mut server, Verb::Create, body).unwrap();
    let key = ObjectRef::new(Kind::Service, "default", "dns");
    let ports = server.store.get(&key).unwrap().to_value()["spec"]["ports"].take();
    assert_eq!(ports[0]["nodePort"], ports[1]["nodePort"]);
    assert_ne!(ports[0]["nodePort"], ports[2]["nodePort"]);
}

#[test]
fn a_watch_sends_nothing_of_an_object_selected_by_its_last_write() {
    let mut server = server();
    let metadata = |labels: Value, finalizers: Value| {
        config_map(
            json!({"name": "a", "namespace": "default", "labels": labels, "finalizers": finalizers}),
        )
    };
    let held = json!(["example.com/held"]);
    let options = |tier: &str| ListOptions {
        label_selector: format!("tier={tier}"),
        ..ListOptions::default()
    };
    let watch = |server: &mut ApiServer, tier: &str| {
        let Ok(Content::Watch(watch)) = read(server, Verb::Watch, None, options(tier)) else {
            panic!("ConfigMaps can be watched");
        };
        watch
    };
    let (mut before, mut after) = (watch(&mut server, "x"), watch(&mut server, "y"));
    let body = metadata(json!({"tier": "x"}), held.clone());
    send(&mut server, Verb::Create, body.clone()).unwrap();
    let delete = Request::new(Verb::Delete, ResourceName::of_manifest(&body));
    let response = server.handle(&delete.origin(Origin::user()), &delete);
    assert!(response.result.is_ok());
    let last = metadata(json!({"tier": "y"}), json!([]));
    send(&mut server, Verb::Update, last).unwrap();
    let events = std::iter::from_fn(|| before.next_event(&server.store));
    let events: Vec<crate::WatchEvent> = events.collect();
    let types: Vec<&str> = events.iter().map(|event| event.op.watch_type()).collect();
    assert_eq!(types, ["ADDED", "MODIFIED", "DELETED"]);
    let gone = &events[2].object;
    assert_eq!(gone.meta.finalizers.len(), 1, "as it was selected");
    assert_eq!(gone.meta.resource_version, server.store.version());
    assert!(after.next_event(&server.store).is_none());
}

#[test]
fn a_write_of_the_status_changes_the_metadata_that_its_strategy_leaves() {
    let mut server = server();
    let labels = json!({"app": "web"});
    let pod = json!({"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "c"}]}});
    let workload = |kind: &str, metadata: Value| {
        json!({"apiVersion": "apps/v1", "kind": kind, "metadata": metadata,
            "spec": {"selector": {"matchLabels": labels}, "template": pod}, "status": {"replicas": 1}})
    };
    let metadata = |labels: Value| json!({"name": "web", "namespace": "default", "labels": labels, "annotations": labels});
    for (kind, label) in [("Deployment", "old"), ("ReplicaSet", "new")] {
        let stored = workload(kind, metadata(json!({"a": "old"})));
        send(&mut server, Verb::Create, stored).unwrap();
        let body = workload(kind, metadata(json!({"a": "new"})));
        let written = send_part(&mut server, Subresource::Status, body).unwrap();
        assert_eq!(written.meta.labels.get("a").unwrap(), label, "{kind}");
        assert_eq!(written.meta.annotation("a").unwrap(), "new", "{kind}");
        let mut other = metadata(json!({}));
        other["uid"] = json!("11111111-1111-1111-1111-111111111111");
        let refusal = send_part(&mut server, Subresource::Status, workload(kind, other));
        let (reason, message) = refusal.unwrap_err();
        assert_eq!(reason, StatusReason::Conflict);
        assert!(
            message.contains("UID in precondition: 11111111"),
            "{message}"
        );
        let mut unversioned = metadata(json!({"a": "new"}));
        unversioned["resourceVersion"] = json!("0");
        let body = workload(kind, unversioned);
        assert!(send_part(&mut server, Subresource::Status, body).is_ok());
        let mut invalid = metadata(json!({"a": "new"}));
        invalid["labels"]["a b"] = json!("");
        let refusal = send_part(&mut server, Subresource::Status, workload(kind, invalid));
        assert_eq!(refusal.unwrap_err().0, StatusReason::Invalid);
    }
}

#[test]
fn limit_ranges_hold_for_resized_pods_and_expanded_claims() {
    let mut server = server();
    let metadata = |name: &str| json!({"name": name, "namespace": "default"});
    let limits = json!([
        {"type": "Container", "max": {"cpu": "1"}, "default": {"cpu": "500m"}, "defaultRequest": {"cpu": "500m"}},
        {"type": "PersistentVolumeClaim", "max": {"storage": "2Gi"}},
    ]);
    let range = json!({"apiVersion": "v1", "kind": "LimitRange", "metadata": metadata("range"),
        "spec": {"limits": limits}});
    send(&mut server, Verb::Create, range).unwrap();
    let class = json!({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "fast"},
        "provisioner": "example.com/disk", "allowVolumeExpansion": true});
    send(&mut server, Verb::Create, class).unwrap();
    let claim = |size: &str| {
        json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata("data"),
        "spec": {"storageClassName": "fast", "volumeName": "v", "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": size}}},
        "status": {"phase": "Bound", "capacity": {"storage": "1Gi"}}})
    };
    send(&mut server, Verb::Create, claim("1Gi")).unwrap();
    send_part(&mut server, Subresource::Status, claim("1Gi")).unwrap();
    send(&mut server, Verb::Update, claim("2Gi")).unwrap();
    let message = "persistentvolumeclaims \"data\" is forbidden: maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 3Gi";
    let expected = (StatusReason::Forbidden, message.to_owned());
    let refusal = send(&mut server, Verb::Update, claim("3Gi"));
    assert_eq!(refusal.unwrap_err(), expected);
    let pod = |cpu: &str| {
        let resources = json!({"requests": {"cpu": cpu}, "limits": {"cpu": cpu}});
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata("p"),
            "spec": {"containers": [{"name": "c", "image": "c", "resources": resources}]}})
    };
    let account =
        json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata("default")});
    send(&mut server, Verb::Create, account).unwrap();
    send(&mut server, Verb::Create, pod("500m")).unwrap();
    assert!(send_part(&mut server, Subresource::Resize, pod("1")).is_ok());
    let message =
        "pods \"p\" is forbidden: maximum cpu usage per Container is 1, but limit is 2".to_owned();
    let refusal = send_part(&mut server, Subresource::Resize, pod("2"));
    assert_eq!(refusal.unwrap_err(), (StatusReason::Forbidden, message));
}

#[test]
fn a_patched_object_that_does_not_decode_strictly_is_an_invalid_patch() {
    let mut server = server();
    send(&mut server, Verb::Create, config_map(json!({"name": "c"}))).unwrap();
    let key = ObjectRef::new(Kind::ConfigMap, "default", "c");
    let mut refusal = |patch_type: PatchType, content: Value| {
        let options = RequestOptions {
            field_validation: managers::Unknown::Refuse,
            ..RequestOptions::default()
        };
        let patch = Patch {
            patch_type,
            content,
        };
        let request = Request {
            options,
            ..Request::patch(&key, patch)
        };
        let response = server.handle(&request.origin(Origin::user()), &request);
        let error = response.result.unwrap_err();
        assert_eq!(error.reason, StatusReason::Invalid);
        error.message
    };
    assert_eq!(
        refusal(PatchType::Strategic, json!({"foo": 1})),
        " \"\" is invalid: patch: Invalid value: \"map[foo:1]\": strict decoding error: unknown field \"foo\""
    );
    let message = refusal(PatchType::Merge, json!({"metadata": {"bar": 2}}));
    // Members of an object that the patch changes are sorted, those of others are in the order of the struct.
    let start = " \"\" is invalid: patch: Invalid value: \"{\\\"apiVersion\\\":\\\"v1\\\",\\\"kind\\\":\\\"ConfigMap\\\",\\\"metadata\\\":{\\\"bar\\\":2,\\\"creationTimestamp\\\"";
    let end = ": strict decoding error: unknown field \"metadata.bar\"";
    assert!(
        message.starts_with(start) && message.ends_with(end),
        "{message}"
    );
    let operation = json!([{"op": "add", "path": "/data", "value": {}, "x": 1}]);
    let message = refusal(PatchType::Json, operation);
    assert!(message.contains("\\\"metadata\\\":{\\\"name\\\":\\\"c\\\",\\\"namespace\\\""));
    assert!(message.ends_with(": strict decoding error: json patch unknown field \"[0].x\""));
    let message = refusal(PatchType::Merge, json!({"kind": "Secret"}));
    assert!(message.ends_with(": converting (v1.Secret) to (core.ConfigMap): unknown conversion"));
}

#[test]
fn service_accounts_give_pods_their_pull_secrets_and_may_withhold_their_token() {
    let mut server = server();
    let metadata = |name: &str| json!({"name": name, "namespace": "default"});
    let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata("sa"),
        "automountServiceAccountToken": false, "imagePullSecrets": [{"name": "registry"}]});
    send(&mut server, Verb::Create, account).unwrap();
    let pod = |name: &str, spec: Value| {
        let mut pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata(name),
            "spec": {"serviceAccountName": "sa", "containers": [{"name": "c", "image": "c"}]}});
        pod["spec"]
            .as_object_mut()
            .unwrap()
            .extend(spec.as_object().unwrap().clone());
        pod
    };
    let mut spec = |name: &str, spec: Value| {
        send(&mut server, Verb::Create, pod(name, spec)).unwrap();
        let key = ObjectRef::new(Kind::Pod, "default", name);
        server.store.get(&key).unwrap().to_value()["spec"].take()
    };
    let plain = spec("plain", json!({}));
    assert_eq!(plain["imagePullSecrets"], json!([{"name": "registry"}]));
    assert!(plain["volumes"].is_null() && plain["automountServiceAccountToken"].is_null());
    let own = json!({"automountServiceAccountToken": true, "imagePullSecrets": [{"name": "own"}]});
    let own = spec("own", own);
    assert_eq!(own["imagePullSecrets"], json!([{"name": "own"}]));
    assert_eq!(own["volumes"].as_array().map(Vec::len), Some(1));
}

#[test]
fn an_injected_conflict_refuses_an_update_of_an_operator() {
    let mut server = server();
    send(&mut server, Verb::Create, config_map(json!({"name": "c"}))).unwrap();
    let target = fault::ResolvedTarget {
        kind: Kind::ConfigMap,
        name: "c".into(),
    };
    server.conflicts.push(target);
    let mut update = |manager: &str, patches: bool| {
        let body = config_map(json!({"name": "c", "namespace": "default"}));
        let patch = Patch::merge(json!({"data": {"a": manager}}));
        let mut request = match patches {
            true => Request::patch(ResourceName::of_manifest(&body), patch),
            false => Request::of_manifest(Verb::Update, body),
        };
        request.options.field_manager = manager.to_owned();
        let response = server.handle(&request.origin(Origin::user()), &request);
        response.result.map(drop).map_err(|error| error.reason)
    };
    assert_eq!(update("kubectl-replace", false), Ok(()));
    assert_eq!(update("operator", true), Ok(()));
    assert_eq!(update("operator", false), Err(StatusReason::Conflict));
    assert_eq!(update("operator", false), Ok(()));
}

#[test]
fn only_its_subresources_change_a_signing_request() {
    let mut server = server();
    let request = |signer: &str| {
        json!({"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest", "metadata": {"name": "r"},
            "spec": {"request": "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIYU1JR0JBZ0VBTUI4eEN6QUpCZ05WQkFvTUFtVjRNUkF3RGdZRFZRUUREQWRsZUdGdGNHeGxNRmt3RXdZSApLb1pJemowQ0FRWUlLb1pJemowREFRY0RRZ0FFQUhPemJqMGUwREo3TUhlNm04Yms1Vk5MWWhxVXU2QUU3c2YrCnYrTUV6NmNieVR3b1FRNG84SHlzbXJyMlV0ZGRlSU45MldHZnNzams2emJMT1Y3dUxhQUFNQW9HQ0NxR1NNNDkKQkFNQ0EwZ0FNRVVDSUhUcVZiZnJiTTdyN05qNk1OVFplUVZBUUZGb0FQeW9qeWpxRDQ2cTdYTkpBaUVBbkhIZApiRVBLbU5CZW5tVzQxMnJKM3JpMFNNTUtyby81VzlUbjcrQ280SDQ9Ci0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo=",
                "signerName": signer, "usages": ["client auth"]}})
    };
    send(&mut server, Verb::Create, request("example.com/s")).unwrap();
    send(&mut server, Verb::Update, request("other.com/x")).unwrap();
    let key = ObjectRef::new(Kind::CertificateSigningRequest, "", "r");
    let spec = server.store.get(&key).unwrap().to_value()["spec"].take();
    assert_eq!(spec["signerName"], "example.com/s");
    let mut issued = request("example.com/s");
    issued["status"] = json!({"certificate": "eA=="});
    let refusal = send_part(&mut server, Subresource::Status, issued).unwrap_err();
    let problem = "status.certificate: Invalid value: \"<certificate data>\": must contain at least one CERTIFICATE PEM block";
    assert!(refusal.1.ends_with(problem), "{}", refusal.1);
}

#[test]
fn a_malformed_continue_token_is_told_before_its_version() {
    let mut server = server();
    let key = ObjectRef::new(Kind::ConfigMap, "default", "");
    let mut request = Request::new(Verb::List, &key);
    request.options.list_options = ListOptions {
        resource_version: "1".to_owned(),
        continue_token: "abc".to_owned(),
        ..ListOptions::default()
    };
    let error = server.handle(&Origin::user(), &request).result.unwrap_err();
    assert_eq!(
        error.message,
        "invalid continue token: continue key is not valid: invalid character 'i' looking for beginning of value"
    );
}
