use super::super::server::Origin;
use super::*;
use crate::journal::Actor;
use crate::{
    ApiError, ApiServer, Component, ControllerId, Patch, PatchType, Request, Subresource, Verb,
};
use k8s_model::{Object, Timestamp};

fn deployment(spec: Value) -> Value {
    let mut value = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {
        "selector": {"matchLabels": {"app": "web"}}, "template": {"metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "c", "image": "nginx", "ports": [{"containerPort": 80}]}]}}}});
    for (key, inner) in spec.as_object().unwrap() {
        value["spec"][key.as_str()] = inner.clone();
    }
    value
}

fn origin(manager: &str) -> Origin {
    Origin {
        actor: Actor::USER,
        cause: None,
        pass: 0,
        manager: Some(Rc::new(Manager::update(manager, Subresource::Main))),
        user: None,
        call: None,
    }
}

fn server() -> ApiServer {
    ApiServer::new(Timestamp::new(0), 1)
}

fn apply(server: &mut ApiServer, manager: &str, spec: Value) -> Result<Rc<Object>, ApiError> {
    server.apply(
        &origin(manager),
        &key(),
        deployment(spec),
        false,
        Why::Asked,
    )
}

fn key() -> ObjectRef {
    ObjectRef::new(Kind::Deployment, "default", "web")
}

fn managed(server: &ApiServer, name: &str) -> Value {
    let all = managed_fields(&server.store, &key());
    all.as_array()
        .unwrap()
        .iter()
        .find(|m| m["manager"] == name)
        .cloned()
        .unwrap_or_default()
}

#[test]
fn applied_fields_are_managed_and_defaults_are_not() {
    let mut server = server();
    apply(
        &mut server,
        "a",
        json!({"replicas": 2, "strategy": {"rollingUpdate": {"maxSurge": 1}}}),
    )
    .unwrap();
    let all = managed_fields(&server.store, &key());
    assert_eq!(all.as_array().unwrap().len(), 1);
    assert_eq!(
        (&all[0]["manager"], &all[0]["operation"]),
        (&json!("a"), &json!("Apply"))
    );
    assert_eq!(
        all[0]["fieldsV1"],
        json!({"f:spec": {"f:replicas": {}, "f:selector": {}, "f:strategy": {"f:rollingUpdate": {"f:maxSurge": {}}},
            "f:template": {"f:metadata": {"f:labels": {"f:app": {}}}, "f:spec": {"f:containers": {"k:{\"name\":\"c\"}": {".": {}, "f:name": {}, "f:image": {},
            "f:ports": {"k:{\"containerPort\":80,\"protocol\":\"TCP\"}": {".": {}, "f:containerPort": {}}}}}}}}})
    );
}

#[test]
fn a_creation_manages_the_defaults_too() {
    let mut server = server();
    server
        .create_value(&origin("kubectl-create"), deployment(json!({})), Why::Asked)
        .unwrap();
    let fields = &managed(&server, "kubectl-create")["fieldsV1"]["f:spec"];
    assert_eq!(
        fields["f:strategy"],
        json!({"f:type": {}, "f:rollingUpdate": {".": {}, "f:maxSurge": {}, "f:maxUnavailable": {}}})
    );
    assert_eq!(
        fields["f:template"]["f:metadata"],
        json!({"f:labels": {".": {}, "f:app": {}}})
    );
    let container = &fields["f:template"]["f:spec"]["f:containers"]["k:{\"name\":\"c\"}"];
    assert_eq!(
        (&container["f:resources"], &container["f:ports"]["."]),
        (&json!({}), &json!({}))
    );
    assert_eq!(
        fields["f:template"]["f:spec"]["f:containers"].get("."),
        None,
        "Go writes an empty list of containers"
    );
}

#[test]
fn others_fields_are_not_taken_without_force() {
    let mut server = server();
    server
        .create_value(
            &origin("kubectl-create"),
            deployment(json!({"replicas": 3})),
            Why::Asked,
        )
        .unwrap();
    apply(&mut server, "a", json!({"replicas": 3})).unwrap();
    let error = apply(&mut server, "b", json!({"replicas": 5})).unwrap_err();
    assert_eq!(
        error.message,
        "Apply failed with 2 conflicts: conflicts with \"a\":\n- .spec.replicas\nconflicts with \"kubectl-create\" using apps/v1:\n- .spec.replicas"
    );
    let forced = server
        .apply(
            &origin("b"),
            &key(),
            deployment(json!({"replicas": 5})),
            true,
            Why::Asked,
        )
        .unwrap();
    assert_eq!(forced.to_value()["spec"]["replicas"], 5);
    assert_eq!(
        managed(&server, "a")["fieldsV1"]["f:spec"].get("f:replicas"),
        None
    );
    // A manager that loses a field may leave it out; the field keeps its owner.
    apply(&mut server, "a", json!({})).unwrap();
    assert_eq!(
        server.store.get(&key()).unwrap().to_value()["spec"]["replicas"],
        5
    );
}

#[test]
fn fields_no_longer_applied_are_removed_unless_shared() {
    let mut server = server();
    let sidecars = |extra: Value| {
        let mut spec = deployment(json!({"minReadySeconds": 5}))["spec"].clone();
        spec["template"]["spec"]["containers"]
            .as_array_mut()
            .unwrap()
            .push(extra);
        spec
    };
    apply(
        &mut server,
        "a",
        sidecars(json!({"name": "s", "image": "x"})),
    )
    .unwrap();
    apply(&mut server, "b", json!({"minReadySeconds": 5})).unwrap();
    let after = apply(&mut server, "a", json!({})).unwrap().to_value();
    assert_eq!(after["spec"]["minReadySeconds"], 5, "b still wants it");
    assert_eq!(
        after["spec"]["template"]["spec"]["containers"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    let after = apply(&mut server, "b", json!({})).unwrap().to_value();
    assert_eq!(after["spec"].get("minReadySeconds"), None);
    let version = after["metadata"]["resourceVersion"].clone();
    assert_eq!(
        apply(&mut server, "b", json!({})).unwrap().to_value()["metadata"]["resourceVersion"],
        version
    );
}

static AUTOSCALER: ControllerId = ControllerId::new("horizontal-pod-autoscaler");

#[test]
fn a_loop_that_writes_takes_the_field() {
    let mut server = server();
    apply(&mut server, "a", json!({"replicas": 2})).unwrap();
    let hpa = Origin {
        actor: Actor::component(Component::Controller(&AUTOSCALER)),
        manager: None,
        ..origin("")
    };
    let why = Why::Autoscaled {
        reason: "cpu".into(),
        from: 2,
        to: 4,
    };
    server.scale(&hpa, &key(), 4, why).unwrap();
    let error = apply(&mut server, "a", json!({"replicas": 2})).unwrap_err();
    assert_eq!(
        error.message,
        "Apply failed with 1 conflict: conflict with \"kube-controller-manager\" with subresource \"scale\" using apps/v1: .spec.replicas"
    );
}

#[test]
fn server_side_apply_takes_over_client_side_fields() {
    let mut server = server();
    let old = deployment(json!({"replicas": 2, "minReadySeconds": 7}));
    let mut annotated = old.clone();
    annotated["metadata"]["annotations"] = json!({LAST_APPLIED: old.to_string()});
    server
        .create_value(&origin(CLIENT_SIDE), annotated, Why::Asked)
        .unwrap();
    let error = apply(&mut server, "other", json!({"replicas": 3})).unwrap_err();
    assert_eq!(
        error.message,
        "Apply failed with 1 conflict: conflict with \"kubectl-client-side-apply\" using apps/v1: .spec.replicas"
    );
    // kubectl over HTTP has to do the rest: the annotation, which the server keeps up to date, still belongs to client-side apply.
    let mut copy = server.clone();
    copy.apply(
        &origin("kubectl"),
        &key(),
        deployment(json!({"replicas": 3})),
        false,
        Why::Asked,
    )
    .unwrap();
    let annotations =
        managed(&copy, CLIENT_SIDE)["fieldsV1"]["f:metadata"]["f:annotations"].clone();
    assert_eq!(
        annotations["f:kubectl.kubernetes.io/last-applied-configuration"],
        json!({})
    );
    // Programs other than kubectl do not migrate the fields.
    let mut copy = server.clone();
    let after = copy
        .apply(
            &origin("other"),
            &key(),
            deployment(json!({"replicas": 3})),
            true,
            Why::Asked,
        )
        .unwrap()
        .to_value();
    assert_eq!(after["spec"]["minReadySeconds"], 7);
    assert_eq!(
        managed(&copy, CLIENT_SIDE)["fieldsV1"]["f:spec"]["f:minReadySeconds"],
        json!({})
    );
    let kubectl = Origin {
        manager: Some(Rc::new(
            Manager::update("kubectl", Subresource::Main).migrating(),
        )),
        ..origin("")
    };
    let after = server
        .apply(
            &kubectl,
            &key(),
            deployment(json!({"replicas": 3})),
            false,
            Why::Asked,
        )
        .unwrap()
        .to_value();
    assert_eq!(
        (
            &after["spec"]["replicas"],
            after["spec"].get("minReadySeconds")
        ),
        (&json!(3), None)
    );
    assert_eq!(managed(&server, CLIENT_SIDE), Value::Null);
    let annotation = "f:kubectl.kubernetes.io/last-applied-configuration";
    let remembers = managed(&server, "kubectl-last-applied");
    assert_eq!(
        (&remembers["operation"], &remembers["fieldsV1"]),
        (
            &json!("Apply"),
            &json!({"f:metadata": {"f:annotations": {annotation: {}}}})
        )
    );
}

#[test]
fn merged_lists_keep_the_applied_order() {
    let mut server = server();
    let named = |names: &[&str]| -> Value {
        let containers: Value = names
            .iter()
            .map(|name| json!({"name": name, "image": "i"}))
            .collect();
        json!({"template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": containers}}})
    };
    apply(&mut server, "a", named(&["x", "y"])).unwrap();
    apply(&mut server, "b", named(&["z"])).unwrap();
    let after = apply(&mut server, "a", named(&["y", "x"]))
        .unwrap()
        .to_value();
    let names: Vec<&str> = after["spec"]["template"]["spec"]["containers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| c["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["y", "x", "z"]);
}

#[test]
fn paths_are_formatted_readably() {
    let mut server = server();
    apply(&mut server, "a", json!({})).unwrap();
    let patch = json!({"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "other", "ports": [{"containerPort": 80, "name": "w"}]}]}}}});
    server
        .patch(
            &origin("kubectl-patch"),
            &key(),
            Subresource::Main,
            &Patch {
                patch_type: PatchType::Strategic,
                content: patch,
            },
            Why::Asked,
        )
        .unwrap();
    let all = managers_of(&server.store, &key());
    let patched = all.iter().find(|m| m.manager == "kubectl-patch").unwrap();
    assert_eq!(
        fields::paths(&patched.fields),
        [
            ".spec.template.spec.containers[name=\"c\"].image",
            ".spec.template.spec.containers[name=\"c\"].ports[containerPort=80,protocol=\"TCP\"].name"
        ]
    );
}

#[test]
fn a_client_names_other_managers() {
    let mut server = server();
    apply(&mut server, "a", json!({"replicas": 2})).unwrap();
    let given = json!([{"manager": "b", "operation": "Update", "apiVersion": "apps/v1", "fieldsType": "FieldsV1", "time": "1970-01-01T00:00:00Z",
        "fieldsV1": {"f:apiVersion": {}, "f:metadata": {"f:name": {}}, "f:spec": {"f:replicas": {}}}}]);
    let names = |server: &ApiServer| -> Vec<String> {
        managed_fields(&server.store, &key())
            .as_array()
            .unwrap()
            .iter()
            .map(|m| m["manager"].as_str().unwrap().to_owned())
            .collect()
    };
    let json_patch = |server: &mut ApiServer, value: &Value| {
        let change = json!([{"op": "replace", "path": "/metadata/managedFields", "value": value}]);
        server
            .patch(
                &origin("c"),
                &key(),
                Subresource::Main,
                &Patch {
                    patch_type: PatchType::Json,
                    content: change,
                },
                Why::Asked,
            )
            .map(|object| object.meta.resource_version)
    };
    // Managed fields that do not decode, or are unchanged, have no effect.
    let version = server.store.version();
    let same = managed_fields(&server.store, &key());
    for nonsense in [
        json!(null),
        json!(5),
        json!([{"manager": "b"}]),
        json!([{"é": {}}]),
        same.clone(),
    ] {
        assert_eq!(
            json_patch(&mut server, &nonsense).unwrap(),
            version,
            "{nonsense}"
        );
    }
    for fields in [
        json!({"f:spec": 5}),
        json!({"é": {}}),
        json!({"": {}}),
        json!([]),
    ] {
        let mut bad = given.clone();
        bad[0]["fieldsV1"] = fields;
        assert_eq!(json_patch(&mut server, &bad).unwrap(), version);
    }
    assert_eq!(names(&server), ["a"]);
    assert!(json_patch(&mut server, &given).unwrap() > version);
    assert_eq!(
        (names(&server), &managed(&server, "b")["fieldsV1"]),
        (vec!["b".to_owned()], &json!({"f:spec": {"f:replicas": {}}}))
    );
    // A client that writes fields in the same request becomes their manager.
    let change = json!({"metadata": {"managedFields": same}, "spec": {"replicas": 3}});
    server
        .patch(
            &origin("c"),
            &key(),
            Subresource::Main,
            &Patch {
                patch_type: PatchType::Merge,
                content: change,
            },
            Why::Asked,
        )
        .unwrap();
    assert_eq!(names(&server), ["a", "c"]);
    assert_eq!(
        managed(&server, "a")["fieldsV1"]["f:spec"].get("f:replicas"),
        None
    );
    // An empty list clears the managers.
    let mut value = server.store.get(&key()).unwrap().to_value();
    value["metadata"]["managedFields"] = json!([{}]);
    server
        .handle(&origin("c"), &Request::of_manifest(Verb::Update, value))
        .result
        .unwrap();
    assert_eq!(names(&server), [""; 0]);
    let mut config = deployment(json!({}));
    config["metadata"]["managedFields"] = given;
    assert_eq!(
        server
            .apply(&origin("a"), &key(), config, false, Why::Asked)
            .unwrap_err()
            .message,
        "metadata.managedFields must be nil"
    );
}

#[test]
fn an_applier_of_an_object_without_managers_conflicts_with_its_fields() {
    let mut server = server();
    apply(&mut server, "a", json!({"replicas": 2})).unwrap();
    let mut value = server.store.get(&key()).unwrap().to_value();
    value["metadata"]["managedFields"] = json!([{}]);
    server
        .handle(&origin("c"), &Request::of_manifest(Verb::Update, value))
        .result
        .unwrap();
    let error = apply(&mut server, "a", json!({"replicas": 3})).unwrap_err();
    let message = "Apply failed with 1 conflict: conflict with \"before-first-apply\" using apps/v1: .spec.replicas";
    assert_eq!(error.message, message);
    let forced = server.apply(
        &origin("a"),
        &key(),
        deployment(json!({"replicas": 3})),
        true,
        Why::Asked,
    );
    assert!(forced.is_ok());
    let spec = |name: &str| managed(&server, name)["fieldsV1"]["f:spec"].clone();
    assert_eq!(spec("a")["f:replicas"], json!({}));
    let before = spec("before-first-apply");
    assert!(before.get("f:replicas").is_none() && before.get("f:strategy").is_some());
}

#[test]
fn a_configuration_without_metadata_is_applied_to_the_object_that_the_request_names() {
    let mut server = server();
    apply(&mut server, "a", json!({"replicas": 2})).unwrap();
    let mut config = deployment(json!({"replicas": 3}));
    config
        .as_object_mut()
        .map(|config| config.remove("metadata"));
    let applied = server.apply(&origin("a"), &key(), config, false, Why::Asked);
    assert_eq!(applied.unwrap().to_value()["spec"]["replicas"], 3);
}

#[test]
fn types_of_an_applied_configuration_are_those_of_its_kind() {
    let mut server = server();
    let mut message = |spec: Value| apply(&mut server, "a", spec).unwrap_err().message;
    let start = "failed to create typed patch object (/web; apps/v1, Kind=Deployment): ";
    for (containers, problem) in [
        (json!({"name": "a"}), ": expected list, got &{map[name:a]}"),
        (
            json!([{"name": "a", "image": 5}]),
            "[name=\"a\"].image: expected string, got &value.valueUnstructured{Value:5}",
        ),
        (
            json!([{"name": "a"}, {"name": "a"}]),
            ": duplicate entries for key [name=\"a\"]",
        ),
    ] {
        let spec = json!({"template": {"spec": {"containers": containers}}});
        let place = ".spec.template.spec.containers";
        assert_eq!(message(spec), format!("{start}{place}{problem}"));
    }
    let unknown = json!({"foo": 1, "replicas": "1"});
    assert_eq!(
        message(unknown),
        format!(
            "{start}errors:\n  .spec.foo: field not declared in schema\n  .spec.replicas: expected numeric (int or float), got string"
        )
    );
}

#[test]
fn a_client_manages_what_it_submitted_and_not_what_the_server_allocates() {
    let mut server = server();
    let key = ObjectRef::new(Kind::Service, "default", "s");
    let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s", "namespace": "default"},
        "spec": {"ports": [{"port": 80}]}});
    let create = Request::of_manifest(Verb::Create, service);
    server.handle(&origin("c"), &create).result.unwrap();
    let mut fields = |change: Value| {
        let patch = Patch::merge(json!({ "spec": change }));
        let patch = Request::patch(&key, patch);
        server.handle(&origin("c"), &patch).result.unwrap();
        managed_fields(&server.store, &key)[0]["fieldsV1"]["f:spec"].clone()
    };
    let port = "k:{\"port\":80,\"protocol\":\"TCP\"}";
    let exposed = fields(json!({"type": "NodePort"}));
    assert_eq!(exposed["f:externalTrafficPolicy"], json!({}));
    assert!(exposed["f:ports"][port].get("f:nodePort").is_none());
    let external = fields(json!({"type": "ExternalName", "externalName": "q.r"}));
    assert_eq!(external["f:externalName"], json!({}));
    let internal = fields(json!({"type": "ClusterIP", "externalName": null}));
    assert!(internal.get("f:clusterIP").is_none());
}

#[test]
fn empty_structs_and_the_status_have_no_manager() {
    let mut server = server();
    let budget = json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
        "metadata": {"name": "b", "namespace": "default"}, "spec": {}});
    let create = Request::of_manifest(Verb::Create, budget);
    server.handle(&origin("c"), &create).result.unwrap();
    let key = ObjectRef::new(Kind::PodDisruptionBudget, "default", "b");
    assert_eq!(managed_fields(&server.store, &key), json!([]));
    apply(&mut server, "a", json!({})).unwrap();
    let mut config =
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}});
    config["status"] = json!({"replicas": 9});
    let deployment = ObjectRef::new(Kind::Deployment, "default", "web");
    let applied = server.apply(&origin("s"), &deployment, config, false, Why::Asked);
    assert!(applied.is_ok());
    assert_eq!(managed(&server, "s"), Value::Null);
}

#[test]
fn a_deletion_manages_no_fields() {
    let mut server = server();
    apply(&mut server, "a", json!({"replicas": 2})).unwrap();
    let before = names_of(&server);
    let mut delete = Request::new(Verb::Delete, &key());
    delete.options.deletion.propagation_policy = Some(crate::Propagation::Foreground);
    server.handle(&origin("d"), &delete).result.unwrap();
    let live = server.store.get(&key()).unwrap();
    assert!(live.meta.has_finalizer("foregroundDeletion"));
    assert_eq!(names_of(&server), before);
}

fn names_of(server: &ApiServer) -> Vec<Value> {
    let all = managed_fields(&server.store, &key());
    let all = all.as_array().cloned().unwrap_or_default();
    all.into_iter().map(|m| m["manager"].clone()).collect()
}
