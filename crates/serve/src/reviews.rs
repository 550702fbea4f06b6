//! Access and token reviews.
//!
//! Models `pkg/registry/authorization` and `pkg/registry/authentication`.

use super::cluster::Cluster;
use super::discovery::REVIEWS;
use super::http_request::{HttpRequest, Target};
use super::issuer::ISSUER;
use super::status::{Answer, not_allowed};
use apiserver::validation::{ErrorType, FieldError};
use apiserver::{ApiError, Attributes, Authorizer, PolicyRule, UserInfo};
use serde_json::{Value, json};

/// Handles a review.
pub fn answer(cluster: &mut Cluster, request: &HttpRequest, target: &Target) -> Option<Answer> {
    let (_, _, kind, _) = REVIEWS.iter().find(|review| {
        review.0 == target.group && review.1 == target.resource && target.version == "v1"
    })?;
    if request.method != "POST" || !target.name.is_empty() {
        return Some(not_allowed());
    }
    let mut body = match request.object(kind) {
        Ok(body) => body,
        Err(error) => return Some(Answer::error(&error, None)),
    };
    let errors = invalid_fields(kind, &body["spec"]);
    if !errors.is_empty() {
        let group_kind = format!(".{}", target.group);
        let error = ApiError::invalid_fields(&group_kind, "", &errors);
        return Some(Answer::error(&error, None));
    }
    let user = request.user();
    body["kind"] = (*kind).into();
    body["apiVersion"] = target.api_version().into();
    body["status"] = match *kind {
        "SelfSubjectReview" => {
            let user = request.full_user();
            let mut info =
                json!({ "username": user.name.as_str(), "groups": texts(user.groups.iter()) });
            user.tell_more(&mut info);
            json!({ "userInfo": info })
        }
        "TokenReview" => token(cluster, &body["spec"]),
        "SelfSubjectRulesReview" => rules(
            cluster,
            user,
            body["spec"]["namespace"].as_str().unwrap_or(""),
        ),
        "SelfSubjectAccessReview" => access(cluster, user, &body["spec"], &target.namespace),
        _ => {
            let spec = &body["spec"];
            let groups = spec["groups"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .map(Into::into)
                .collect();
            let user = UserInfo::new(spec["user"].as_str().unwrap_or(""), groups);
            access(cluster, Some(user), spec, &target.namespace)
        }
    };
    Some(Answer::json(201, &body))
}

/// Returns the errors of an access review: `pkg/apis/authorization/validation`.
fn invalid_fields(kind: &str, spec: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut add = |field: &str, value: &Value, detail: &str| {
        errors.push(FieldError {
            field: field.to_owned(),
            fault: ErrorType::Invalid,
            value: value.to_string(),
            detail: detail.to_owned(),
        });
    };
    if !kind.ends_with("AccessReview") {
        return errors;
    }
    let (resource, other) = (&spec["resourceAttributes"], &spec["nonResourceAttributes"]);
    let only_one = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
    if resource.is_object() && other.is_object() {
        let detail = "cannot be specified in combination with resourceAttributes";
        add("spec.nonResourceAttributes", other, detail);
    } else if !resource.is_object() && !other.is_object() {
        add("spec.resourceAttributes", resource, only_one);
    }
    let is_empty = |field: &str| spec[field].as_array().is_none_or(Vec::is_empty);
    let user = spec["user"].as_str().unwrap_or("");
    if kind != "SelfSubjectAccessReview" && user.is_empty() && is_empty("groups") {
        let detail = "at least one of user or group must be specified";
        add("spec.user", &user.into(), detail);
    }
    errors
}

/// Returns the status of a token review.
fn token(cluster: &Cluster, spec: &Value) -> Value {
    let text = spec["token"].as_str().unwrap_or("");
    let audiences = spec["audiences"].as_array().into_iter().flatten();
    let mut audiences: Vec<String> = audiences
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect();
    if audiences.is_empty() {
        audiences.push(ISSUER.to_owned());
    }
    let found = cluster
        .authenticator
        .as_ref()
        .and_then(|authenticator| authenticator.token_user(&cluster.host.sim, text, &audiences));
    match found {
        Some(Ok(valid)) => {
            let groups = texts(valid.user.groups.iter());
            let mut user = json!({ "username": valid.user.name.as_str(), "groups": groups });
            valid.user.tell_more(&mut user);
            let mut status = json!({ "authenticated": true, "user": user });
            if !valid.audiences.is_empty() {
                status["audiences"] = json!(valid.audiences);
            }
            status
        }
        Some(Err(problem)) => json!({ "error": format!("[invalid bearer token, {problem}]") }),
        None => json!({ "error": "[invalid bearer token]" }),
    }
}

fn texts<'a>(list: impl Iterator<Item = &'a k8s_model::Str>) -> Vec<&'a str> {
    list.map(|text| text.as_str()).collect()
}

fn access(cluster: &Cluster, user: Option<UserInfo>, spec: &Value, namespace: &str) -> Value {
    let user = user.unwrap_or_else(UserInfo::masters);
    let attributes = &spec["resourceAttributes"];
    let text = |key: &str| attributes[key].as_str().unwrap_or("");
    let resource = if text("subresource").is_empty() {
        text("resource").to_owned()
    } else {
        format!("{}/{}", text("resource"), text("subresource"))
    };
    let namespace = if namespace.is_empty() {
        text("namespace")
    } else {
        namespace
    };
    let path = &spec["nonResourceAttributes"];
    let asked = if path.is_object() {
        Attributes {
            verb: path["verb"].as_str().unwrap_or(""),
            url: path["path"].as_str().unwrap_or(""),
            ..Attributes::default()
        }
    } else {
        Attributes {
            verb: text("verb"),
            group: text("group"),
            resource: &resource,
            namespace,
            name: text("name"),
            url: "",
        }
    };
    match Authorizer::new(cluster.host.sim.store()).allows(&user, &asked) {
        Ok(()) => json!({ "allowed": true }),
        Err(reason) if reason.is_empty() => json!({ "allowed": false }),
        Err(reason) => json!({ "allowed": false, "reason": reason }),
    }
}

fn rules(cluster: &Cluster, user: Option<UserInfo>, namespace: &str) -> Value {
    let (all, problems) = Authorizer::new(cluster.host.sim.store())
        .rules_of(&user.unwrap_or_else(UserInfo::masters), namespace);
    let about = |rule: &&PolicyRule| rule.urls.is_empty();
    let resources: Vec<Value> = all.iter().filter(about).map(resource_rule).collect();
    let paths = all
        .iter()
        .filter(|rule| !about(rule))
        .map(|rule| json!({ "verbs": rule.verbs, "nonResourceURLs": rule.urls }));
    let mut status = json!({ "resourceRules": resources, "nonResourceRules": paths.collect::<Vec<_>>(), "incomplete": !problems.is_empty() });
    if !problems.is_empty() {
        status["evaluationError"] = problems.join(", ").into();
    }
    status
}

fn resource_rule(rule: &PolicyRule) -> Value {
    let mut value =
        json!({ "verbs": rule.verbs, "apiGroups": rule.groups, "resources": rule.resources });
    if !rule.names.is_empty() {
        value["resourceNames"] = json!(rule.names);
    }
    value
}
