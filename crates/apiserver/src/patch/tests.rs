use super::*;
use k8s_model::Kind;
use k8s_model::kind::CustomNames;
use serde_json::json;

fn deployment(spec: Value) -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "spec": spec})
}

#[test]
fn a_merge_patch_removes_merges_and_replaces() {
    let mut target = json!({"a": {"b": 1, "c": 2}, "d": [1]});
    merge_patch(
        &mut target,
        &json!({"a": {"b": null, "e": {"f": null, "g": 1}}, "d": [2]}),
    );
    assert_eq!(target, json!({"a": {"c": 2, "e": {"g": 1}}, "d": [2]}));
}

#[test]
fn a_json_patch_applies_whole_or_not_at_all() {
    let mut target = json!({"a": [1, 3], "b": {"c/d": 1}});
    let patch = json!([{"op": "add", "path": "/a/1", "value": 2}, {"op": "add", "path": "/a/-", "value": 4},
        {"op": "remove", "path": "/b/c~1d"}, {"op": "test", "path": "/a/0", "value": 1},
        {"op": "copy", "from": "/a", "path": "/e"}, {"op": "move", "from": "/e/0", "path": "/f"}, {"op": "replace", "path": "/b", "value": 0}]);
    json_patch(&mut target, &patch).unwrap();
    assert_eq!(
        target,
        json!({"a": [1, 2, 3, 4], "b": 0, "e": [2, 3, 4], "f": 1})
    );
    let before = target.clone();
    assert!(
        json_patch(
            &mut target,
            &json!([{"op": "add", "path": "/x", "value": 1}, {"op": "remove", "path": "/nothing"}])
        )
        .is_err()
    );
    assert!(
        json_patch(
            &mut target,
            &json!([{"op": "add", "path": "/a/99", "value": 1}])
        )
        .is_err()
    );
    assert_eq!(target, before);
}

#[test]
fn lists_are_merged_by_their_key() {
    let before = deployment(json!({"template": {"spec": {"containers": [
        {"name": "a", "image": "x", "ports": [{"containerPort": 80}], "env": [{"name": "E", "value": "1"}]}, {"name": "b", "image": "y"}],
        "tolerations": [{"key": "k"}]}}}));
    let patch = json!({"spec": {"template": {"spec": {"containers": [
        {"name": "b", "$patch": "delete"}, {"name": "a", "image": "z", "env": [{"name": "F", "value": "2"}]}, {"name": "c", "image": "w"}],
        "tolerations": [{"key": "l"}], "nodeSelector": {"a": "b", "c": null}}}}});
    let after = strategic_merge(Kind::Deployment, &before, &patch).unwrap();
    assert_eq!(
        after["spec"]["template"]["spec"],
        json!({"containers": [
        {"name": "a", "image": "z", "ports": [{"containerPort": 80}], "env": [{"name": "F", "value": "2"}, {"name": "E", "value": "1"}]},
        {"name": "c", "image": "w"}], "tolerations": [{"key": "l"}], "nodeSelector": {"a": "b"}})
    );
}

#[test]
fn directives_replace_retain_and_order() {
    let before = deployment(
        json!({"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}},
        "template": {"spec": {"containers": [{"name": "a"}, {"name": "s"}, {"name": "b"}]}}}),
    );
    let patch = json!({"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"},
        "template": {"spec": {"$setElementOrder/containers": [{"name": "b"}, {"name": "a"}], "containers": [{"name": "b", "image": "x"}]}}}});
    let after = strategic_merge(Kind::Deployment, &before, &patch).unwrap();
    assert_eq!(after["spec"]["strategy"], json!({"type": "Recreate"}));
    assert_eq!(
        after["spec"]["template"]["spec"]["containers"],
        json!([{"name": "s"}, {"name": "b", "image": "x"}, {"name": "a"}])
    );
    let replaced = strategic_merge(
        Kind::Deployment,
        &before,
        &json!({"spec": {"strategy": {"$patch": "replace", "type": "Recreate"}}}),
    )
    .unwrap();
    assert_eq!(replaced["spec"]["strategy"], json!({"type": "Recreate"}));
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"finalizers": ["a", "b"]}});
    let after = strategic_merge(
        Kind::Pod,
        &pod,
        &json!({"metadata": {"$deleteFromPrimitiveList/finalizers": ["a"], "finalizers": ["c"]}}),
    )
    .unwrap();
    assert_eq!(after["metadata"]["finalizers"], json!(["c", "b"]));
    // Kruise's StatefulSet has none of the rules of the built-in one.
    let kruise = Kind::custom(CustomNames {
        group: "apps.kruise.io",
        version: "v1beta1",
        name: "StatefulSet",
        plural: "statefulsets",
        namespaced: true,
    });
    assert!(strategic_merge(kruise.unwrap(), &json!({}), &json!({})).is_err());
}

#[test]
fn applying_the_same_again_does_nothing() {
    let applied = deployment(
        json!({"replicas": 3, "template": {"spec": {"containers": [{"name": "a", "image": "x", "ports": [{"containerPort": 80}]}]}}}),
    );
    let mut current = applied.clone();
    current["spec"]["strategy"] = json!({"type": "RollingUpdate"});
    current["spec"]["template"]["spec"]["containers"][0]["ports"][0]["protocol"] = json!("TCP");
    current["status"] = json!({"replicas": 3});
    assert_eq!(
        three_way_strategic(Kind::Deployment, &applied, &applied, &current),
        Some(json!({}))
    );
}

#[test]
fn apply_removes_what_it_once_set_and_nothing_else() {
    let last = deployment(json!({"replicas": 3, "template": {"spec": {"containers": [
        {"name": "a", "image": "x", "env": [{"name": "E", "value": "1"}]}, {"name": "b", "image": "y"}]}}}));
    let modified =
        deployment(json!({"template": {"spec": {"containers": [{"name": "a", "image": "z"}]}}}));
    let mut current = last.clone();
    current["spec"]["template"]["spec"]["containers"][0]["env"] =
        json!([{"name": "E", "value": "1"}, {"name": "OTHER", "value": "2"}]);
    current["spec"]["paused"] = json!(true);
    let patch = three_way_strategic(Kind::Deployment, &last, &modified, &current).unwrap();
    let after = strategic_merge(Kind::Deployment, &current, &patch).unwrap();
    assert_eq!(
        after["spec"],
        json!({"paused": true, "template": {"spec": {"containers": [{"name": "a", "image": "z"}]}}})
    );
}

#[test]
fn other_kinds_are_applied_by_merge_patch() {
    let last =
        json!({"apiVersion": "x/v1", "kind": "Widget", "spec": {"a": 1, "b": {"c": 1}, "l": [1]}});
    let modified =
        json!({"apiVersion": "x/v1", "kind": "Widget", "spec": {"b": {"d": 1}, "l": [2]}});
    let mut current = last.clone();
    current["spec"]["e"] = json!(5);
    let patch = three_way_merge(&last, &modified, &current);
    assert_eq!(
        patch,
        json!({"spec": {"a": null, "b": {"c": null, "d": 1}, "l": [2]}})
    );
    merge_patch(&mut current, &patch);
    assert_eq!(current["spec"], json!({"b": {"d": 1}, "e": 5, "l": [2]}));
    assert_eq!(three_way_merge(&last, &last, &last), json!({}));
}

#[test]
fn a_replacement_adds_a_missing_member() {
    let mut target = json!({"spec": {}, "list": []});
    let replace = |path: &str| json!([{"op": "replace", "path": path, "value": 2, "x": 1}]);
    json_patch(&mut target, &replace("/spec/replicas")).unwrap();
    assert_eq!(target["spec"], json!({"replicas": 2}));
    assert!(json_patch(&mut target, &replace("/none/replicas")).is_err());
    assert!(json_patch(&mut target, &replace("/list/0")).is_err());
    assert_eq!(unknown_members(&replace("/spec/replicas")), ["[0].x"]);
}

#[test]
fn only_directives_are_left_out_of_a_strategic_merge() {
    let patch = json!({"spec": {"$foo": "x", "$retainKeys": ["$foo"]}});
    let after = strategic_merge(Kind::Deployment, &deployment(json!({"a": 1})), &patch).unwrap();
    assert_eq!(after["spec"], json!({"$foo": "x"}));
    let keyless = json!({"spec": {"template": {"spec": {"containers": [{"image": "q"}]}}}});
    let before = deployment(json!({"template": {"spec": {"containers": [{"name": "a"}]}}}));
    let problem = strategic_merge(Kind::Deployment, &before, &keyless).unwrap_err();
    assert_eq!(
        problem,
        "map: map[image:q] does not contain declared merge key: name"
    );
}
