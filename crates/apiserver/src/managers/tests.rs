use super::super::server::Origin;
use super::*;
use crate::why::Why;
use crate::{ApiError, Patch};
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
        manager: Some(Rc::new(Manager::update(manager, ""))),
        user: None,
    }
}

fn server() -> ApiServer {
    ApiServer::new(Timestamp::new(0), 1)
}

fn apply(server: &mut ApiServer, manager: &str, spec: Value) -> Result<Rc<Object>, ApiError> {
    server.apply(&origin(manager), deployment(spec), false, Why::Asked)
}

fn key() -> ObjectRef {
    ObjectRef::new(Kind::Deployment, "default", "web")
}

fn managed(server: &ApiServer, name: &str) -> Value {
    let all = server.managed_fields(&key());
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
    let all = server.managed_fields(&key());
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
        server.get(&key()).unwrap().to_value()["spec"]["replicas"],
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

#[test]
fn a_loop_that_writes_takes_the_field() {
    let mut server = server();
    apply(&mut server, "a", json!({"replicas": 2})).unwrap();
    let hpa = Origin {
        actor: Actor::component("horizontal-pod-autoscaler"),
        manager: None,
        ..origin("")
    };
    server.scale(&hpa, &key(), 4, Why::Asked).unwrap();
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
        manager: Some(Rc::new(Manager::update("kubectl", "").migrating())),
        ..origin("")
    };
    let after = server
        .apply(
            &kubectl,
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
            Patch::Strategic,
            &patch,
            Why::Asked,
        )
        .unwrap();
    let all = server.managers(&key());
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
        server
            .managed_fields(&key())
            .as_array()
            .unwrap()
            .iter()
            .map(|m| m["manager"].as_str().unwrap().to_owned())
            .collect()
    };
    let json_patch = |server: &mut ApiServer, value: &Value| {
        let change = json!([{"op": "replace", "path": "/metadata/managedFields", "value": value}]);
        server
            .patch(&origin("c"), &key(), Patch::Json, &change, Why::Asked)
            .map(|object| object.meta.resource_version)
    };
    // Managed fields that do not decode, or are unchanged, have no effect.
    let version = server.version();
    let same = server.managed_fields(&key());
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
        .patch(&origin("c"), &key(), Patch::Merge, &change, Why::Asked)
        .unwrap();
    assert_eq!(names(&server), ["a", "c"]);
    assert_eq!(
        managed(&server, "a")["fieldsV1"]["f:spec"].get("f:replicas"),
        None
    );
    // An empty list clears the managers.
    let mut value = server.get(&key()).unwrap().to_value();
    value["metadata"]["managedFields"] = json!([{}]);
    server
        .update_value(&origin("c"), value, Why::Asked)
        .unwrap();
    assert_eq!(names(&server), [""; 0]);
    let mut config = deployment(json!({}));
    config["metadata"]["managedFields"] = given;
    assert_eq!(
        server
            .apply(&origin("a"), config, false, Why::Asked)
            .unwrap_err()
            .message,
        "metadata.managedFields must be nil"
    );
}
