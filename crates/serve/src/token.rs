//! Tokens of ServiceAccounts: each names its account; no request requires one.
//!
//! Models `pkg/registry/core/serviceaccount/storage/token.go`.

use super::cluster::Cluster;
use super::request::{Request, Target};
use super::reviews::IssuedToken;
use super::status::Answer;
use apiserver::ApiError;
use apiserver::validation::{ErrorType, FieldError};
use k8s_model::{Kind, ObjectRef, Timestamp};
use serde_json::{Value, json};

const SHORTEST: i64 = 600;
const LONGEST: i64 = 1 << 32;
/// Default audience of a token.
const AUDIENCE: &str = "https://kubernetes.default.svc.cluster.local";
const VERSION: &str = "authentication.k8s.io/v1";

/// Creates a token.
pub fn create(cluster: &Cluster, request: &Request, target: &Target) -> Answer {
    made(cluster, request, target)
        .unwrap_or_else(|error| Answer::error(&error, Some((Kind::ServiceAccount, &target.name))))
}

fn made(cluster: &Cluster, request: &Request, target: &Target) -> Result<Answer, ApiError> {
    let key = ObjectRef::new(Kind::ServiceAccount, &target.namespace, &target.name);
    if let Some(refusal) = cluster.forbids(request, "create", &key, "token") {
        return Err(refusal);
    }
    let mut body = request.posted("TokenRequest", VERSION)?;
    if cluster.sim.get(&key).is_none() {
        return Err(ApiError::not_found(Kind::ServiceAccount, &target.name));
    }
    let lasts = body["spec"]["expirationSeconds"].as_i64().unwrap_or(3_600);
    let mut errors = Vec::new();
    let mut add = |field: &str, value: Value, detail: &str| {
        errors.push(FieldError {
            field: field.to_owned(),
            fault: ErrorType::Invalid,
            value: value.to_string(),
            detail: detail.to_owned(),
        });
    };
    let name = body["metadata"]["name"].as_str().unwrap_or("");
    if !name.is_empty() && name != target.name {
        add(
            "metadata.name",
            name.into(),
            "must match the service account name if specified",
        );
    }
    if lasts < SHORTEST {
        add(
            "spec.expirationSeconds",
            lasts.into(),
            "may not specify a duration less than 10 minutes",
        );
    }
    if lasts > LONGEST {
        add(
            "spec.expirationSeconds",
            lasts.into(),
            "may not specify a duration larger than 2^32 seconds",
        );
    }
    if !errors.is_empty() {
        return Err(ApiError::invalid_fields(
            "TokenRequest.authentication.k8s.io",
            "",
            &errors,
        ));
    }
    let now = cluster.sim.server().wall_at(cluster.sim.now());
    let until = Timestamp::new(now.seconds() + lasts);
    let token = IssuedToken {
        namespace: &target.namespace,
        name: &target.name,
        until,
    }
    .to_string();
    (body["kind"], body["apiVersion"]) = ("TokenRequest".into(), VERSION.into());
    body["metadata"] = json!({ "name": target.name, "namespace": target.namespace, "creationTimestamp": now.rfc3339() });
    body["spec"]["expirationSeconds"] = lasts.into();
    if body["spec"]["audiences"]
        .as_array()
        .is_none_or(Vec::is_empty)
    {
        body["spec"]["audiences"] = json!([AUDIENCE]);
    }
    body["status"] = json!({ "token": token, "expirationTimestamp": until.rfc3339() });
    Ok(Answer::json(201, &body))
}
