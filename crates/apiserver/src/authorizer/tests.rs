use super::*;
use crate::journal::Actor;
use crate::{ApiServer, Origin, Why};
use k8s_model::{Object, Timestamp};
use serde_json::json;
use std::rc::Rc;

fn server(objects: &[Value]) -> ApiServer {
    let mut server = ApiServer::new(Timestamp::new(0), 1);
    let origin = Origin {
        actor: Actor::SERVER,
        cause: None,
        pass: 0,
        manager: None,
        user: None,
        call: None,
    };
    for object in bootstrap::objects().iter().chain(objects) {
        let kind = Kind::from_api(
            "rbac.authorization.k8s.io/v1",
            object["kind"].as_str().unwrap(),
        )
        .unwrap();
        server
            .create(
                &origin,
                Object::from_value(kind, object.clone()).unwrap(),
                Why::Asked,
            )
            .unwrap();
    }
    server
}

fn role(name: &str, labels: Value, rules: Value) -> Value {
    json!({"kind": "ClusterRole", "metadata": {"name": name, "labels": labels}, "rules": rules})
}

fn bound(name: &str, role: &str, user: &str) -> Value {
    json!({"kind": "ClusterRoleBinding", "metadata": {"name": name}, "roleRef": {"kind": "ClusterRole", "name": role},
        "subjects": [{"kind": "User", "name": user}]})
}

#[test]
fn rules_allow_by_verb_group_resource_and_name() {
    let rules = json!([
        {"verbs": ["get"], "apiGroups": [""], "resources": ["pods", "*/scale"], "resourceNames": ["a"]},
        {"verbs": ["*"], "apiGroups": ["apps"], "resources": ["*"]},
        {"verbs": ["get"], "nonResourceURLs": ["/logs/*"]},
    ]);
    let server = server(&[
        role("r", json!({}), rules),
        bound("b", "r", "jane"),
        bound("lost", "gone", "jane"),
    ]);
    let jane = UserInfo::new("jane", Vec::new());
    let may = |verb, group, resource, name| {
        Authorizer::new(&server.store)
            .allows(
                &jane,
                &Attributes {
                    verb,
                    group,
                    resource,
                    name,
                    ..Default::default()
                },
            )
            .is_ok()
    };
    assert!(may("get", "", "pods", "a"));
    assert!(!may("get", "", "pods", "b"));
    assert!(!may("list", "", "pods", ""));
    assert!(may("get", "", "deployments/scale", "a"));
    assert!(may("delete", "apps", "deployments/scale", "x"));
    assert!(
        Authorizer::new(&server.store)
            .allows(
                &jane,
                &Attributes {
                    verb: "get",
                    url: "/logs/a",
                    ..Default::default()
                }
            )
            .is_ok()
    );
    assert!(
        Authorizer::new(&server.store)
            .allows(
                &jane,
                &Attributes {
                    verb: "get",
                    url: "/version",
                    ..Default::default()
                }
            )
            .is_ok(),
        "as everyone may"
    );
    let refused = Authorizer::new(&server.store).allows(
        &jane,
        &Attributes {
            verb: "get",
            resource: "nodes",
            ..Default::default()
        },
    );
    assert_eq!(
        refused,
        Err("RBAC: clusterrole.rbac.authorization.k8s.io \"gone\" not found".to_owned())
    );
    assert!(
        Authorizer::new(&server.store)
            .allows(
                &UserInfo::new("root", vec!["system:masters".into()]),
                &Attributes {
                    verb: "x",
                    ..Default::default()
                }
            )
            .is_ok()
    );
}

#[test]
fn roles_that_come_with_the_cluster_allow_what_they_say() {
    let server = server(&[bound("b", "view", "jane"), bound("c", "edit", "sue")]);
    let may = |user, verb, resource| {
        Authorizer::new(&server.store)
            .allows(
                &UserInfo::new(user, Vec::new()),
                &Attributes {
                    verb,
                    resource,
                    ..Default::default()
                },
            )
            .is_ok()
    };
    assert!(
        may("jane", "list", "pods")
            && !may("jane", "get", "secrets")
            && !may("jane", "create", "pods")
    );
    assert!(
        may("sue", "create", "pods") && may("sue", "list", "pods") && may("sue", "get", "secrets")
    );
}

#[test]
fn no_one_grants_more_than_they_have() {
    let rules = json!([{"verbs": ["*"], "apiGroups": ["rbac.authorization.k8s.io"], "resources": ["roles", "rolebindings"]},
        {"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}]);
    let mut all = rules.clone();
    all[0]["verbs"] = json!(["create"]);
    let server = server(&[role("r", json!({}), all), bound("b", "r", "jane")]);
    let user = Some(Rc::new(UserInfo::new("jane", Vec::new())));
    let origin = Origin {
        actor: Actor::USER,
        cause: None,
        pass: 0,
        manager: None,
        user,
        call: None,
    };
    let grant = |verbs: Value| {
        let rules = json!([{"verbs": verbs, "apiGroups": [""], "resources": ["pods"]}]);
        Authorizer::new(&server.store).check_grant(origin.user.as_deref(), Kind::Role, &json!({"kind": "Role", "metadata": {"name": "n", "namespace": "default"}, "rules": rules}))
    };
    assert_eq!(grant(json!(["get"])), Ok(()));
    let refused = grant(json!(["delete", "get", "watch"]))
        .unwrap_err()
        .message;
    assert_eq!(
        refused,
        "roles.rbac.authorization.k8s.io \"n\" is forbidden: user \"jane\" (groups=[\"system:authenticated\"]) is attempting to grant RBAC \
         permissions not currently held:\n{APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"delete\" \"watch\"]}"
    );
}
