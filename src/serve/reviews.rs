//! Questions about who may do what.
//!
//! Models `pkg/registry/authorization` and `pkg/registry/authentication`.

use super::cluster::Cluster;
use super::discovery::REVIEWS;
use super::request::{Request, Target};
use super::status::{Answer, not_allowed};
use crate::api::{Kind, ObjectRef};
use crate::engine::store::{Request as Asked, Rule, User};
use serde_json::{Value, json};

/// Whom a client is that does not say: its requests are allowed everything.
const ADMINISTRATOR: &str = "kubernetes-admin";

/// Answers a review.
pub fn answer(cluster: &mut Cluster, request: &Request, target: &Target) -> Option<Answer> {
    let (_, _, kind, _) =
        REVIEWS.iter().find(|review| review.0 == target.group && review.1 == target.resource && target.version == "v1")?;
    if request.method != "POST" || !target.name.is_empty() {
        return Some(not_allowed());
    }
    let mut body = match request.object() {
        Ok(body) if body.is_object() => body,
        Ok(_) => return Some(Answer::error(&crate::engine::store::ApiError::bad_request("the body is no object".to_owned()), None)),
        Err(error) => return Some(Answer::error(&error, None)),
    };
    let user = request.user();
    body["kind"] = (*kind).into();
    body["apiVersion"] = target.api_version().into();
    body["status"] = match *kind {
        "SelfSubjectReview" => {
            let user = user.unwrap_or_else(administrator);
            json!({ "userInfo": { "username": user.name.as_str(), "groups": texts(user.groups.iter()) } })
        }
        "TokenReview" => token(cluster, body["spec"]["token"].as_str().unwrap_or("")),
        "SelfSubjectRulesReview" => rules(cluster, user, body["spec"]["namespace"].as_str().unwrap_or("")),
        "SelfSubjectAccessReview" => access(cluster, user, &body["spec"], &target.namespace),
        _ => {
            let spec = &body["spec"];
            let groups = spec["groups"].as_array().into_iter().flatten().filter_map(Value::as_str).map(Into::into).collect();
            let user = User::new(spec["user"].as_str().unwrap_or(""), groups);
            access(cluster, Some(user), spec, &target.namespace)
        }
    };
    Some(Answer::json(201, &body))
}

/// Whose token it is: those that the server gives out name their ServiceAccount.
fn token(cluster: &Cluster, token: &str) -> Value {
    let mut words = token.strip_prefix("loopscope.").unwrap_or("").rsplitn(2, '.');
    let (until, account) = (words.next().and_then(|until| until.parse::<i64>().ok()), words.next().unwrap_or(""));
    let (namespace, name) = account.split_once('.').unwrap_or(("", ""));
    let key = ObjectRef::new(Kind::ServiceAccount, namespace, name);
    let lasts = until.is_some_and(|until| until > cluster.sim.server().wall_at(cluster.sim.now()).0);
    match cluster.sim.get(&key).filter(|_| lasts) {
        Some(account) => {
            let groups =
                ["system:serviceaccounts".to_owned(), format!("system:serviceaccounts:{namespace}"), "system:authenticated".to_owned()];
            let user = json!({ "username": format!("system:serviceaccount:{namespace}:{name}"), "uid": account.meta.uid.to_string(), "groups": groups });
            json!({ "authenticated": true, "user": user })
        }
        None => json!({ "error": "[invalid bearer token]" }),
    }
}

fn administrator() -> User {
    User::new(ADMINISTRATOR, vec!["system:masters".into()])
}

fn texts<'a>(list: impl Iterator<Item = &'a crate::api::Str>) -> Vec<&'a str> {
    list.map(|text| text.as_str()).collect()
}

fn access(cluster: &Cluster, user: Option<User>, spec: &Value, namespace: &str) -> Value {
    let user = user.unwrap_or_else(administrator);
    let attributes = &spec["resourceAttributes"];
    let text = |key: &str| attributes[key].as_str().unwrap_or("");
    let resource =
        if text("subresource").is_empty() { text("resource").to_owned() } else { format!("{}/{}", text("resource"), text("subresource")) };
    let namespace = if namespace.is_empty() { text("namespace") } else { namespace };
    let path = &spec["nonResourceAttributes"];
    let asked = if path.is_object() {
        Asked { verb: path["verb"].as_str().unwrap_or(""), url: path["path"].as_str().unwrap_or(""), ..Asked::default() }
    } else {
        Asked { verb: text("verb"), group: text("group"), resource: &resource, namespace, name: text("name"), url: "" }
    };
    match cluster.sim.server().allows(&user, &asked) {
        Ok(()) => json!({ "allowed": true }),
        Err(reason) if reason.is_empty() => json!({ "allowed": false }),
        Err(reason) => json!({ "allowed": false, "reason": reason }),
    }
}

fn rules(cluster: &Cluster, user: Option<User>, namespace: &str) -> Value {
    let (all, problems) = cluster.sim.server().rules_of(&user.unwrap_or_else(administrator), namespace);
    let about = |rule: &&Rule| rule.urls.is_empty();
    let resources: Vec<Value> = all.iter().filter(about).map(resource_rule).collect();
    let paths = all.iter().filter(|rule| !about(rule)).map(|rule| json!({ "verbs": rule.verbs, "nonResourceURLs": rule.urls }));
    let mut status =
        json!({ "resourceRules": resources, "nonResourceRules": paths.collect::<Vec<_>>(), "incomplete": !problems.is_empty() });
    if !problems.is_empty() {
        status["evaluationError"] = problems.join(", ").into();
    }
    status
}

fn resource_rule(rule: &Rule) -> Value {
    let mut value = json!({ "verbs": rule.verbs, "apiGroups": rule.groups, "resources": rule.resources });
    if !rule.names.is_empty() {
        value["resourceNames"] = json!(rule.names);
    }
    value
}
