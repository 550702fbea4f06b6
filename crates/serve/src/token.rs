//! Tokens of ServiceAccounts: each names its account; no request requires one.
//!
//! Models `pkg/registry/core/serviceaccount/storage/token.go`.

use super::cluster::Cluster;
use super::http_request::{HttpRequest, Target};
use super::reviews::IssuedToken;
use super::status::Answer;
use super::write::api_request;
use apiserver::validation::{ErrorType, FieldError};
use apiserver::{ApiError, Subresource, Verb};
use k8s_model::{Kind, ObjectRef, Timestamp};
use serde_json::{Map, Value, json};

const SHORTEST: i64 = 600;
const LONGEST: i64 = 1 << 32;
/// Default audience of a token.
const AUDIENCE: &str = "https://kubernetes.default.svc.cluster.local";
const VERSION: &str = "authentication.k8s.io/v1";

/// Creates a token.
pub fn create(cluster: &mut Cluster, request: &HttpRequest, target: &Target) -> Answer {
    made(cluster, request, target)
        .unwrap_or_else(|error| Answer::error(&error, Some((Kind::ServiceAccount, &target.name))))
}

fn made(cluster: &mut Cluster, request: &HttpRequest, target: &Target) -> Result<Answer, ApiError> {
    let (kind, subresource) = (Kind::ServiceAccount, Subresource::Token);
    let account = cluster.connect(api_request(
        request,
        kind,
        target,
        Verb::Create,
        subresource,
    ))?;
    let mut body = request.posted("TokenRequest", VERSION)?;
    let lasts = body["spec"]["expirationSeconds"].as_i64().unwrap_or(3_600);
    let mut errors = Vec::new();
    let name = body["metadata"]["name"].as_str().unwrap_or("");
    if !name.is_empty() && name != target.name {
        let detail = "must match the service account name if specified";
        errors.push(invalid("metadata.name", name.into(), detail));
    }
    let refusal = |name: &str, errors: &[FieldError]| {
        ApiError::invalid_fields("TokenRequest.authentication.k8s.io", name, errors)
    };
    if !errors.is_empty() {
        return Err(refusal(&target.name, &errors));
    }
    let mut add = |field: &str, value: Value, detail: &str| {
        errors.push(invalid(field, value, detail));
    };
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
        return Err(refusal("", &errors));
    }
    check_bound(cluster, &target.namespace, &body["spec"]["boundObjectRef"])?;
    let now = cluster.host.sim.store().wall_at(cluster.host.sim.now());
    let until = Timestamp::new(now.seconds() + lasts);
    let token = IssuedToken {
        namespace: &target.namespace,
        name: &target.name,
        until,
    }
    .to_string();
    (body["kind"], body["apiVersion"]) = ("TokenRequest".into(), VERSION.into());
    body["spec"]["expirationSeconds"] = lasts.into();
    let fields = json!({ "f:spec": request_fields(&body["spec"]) });
    let entry = json!({
        "manager": request.manager(), "operation": "Update", "apiVersion": VERSION, "time": now.rfc3339(),
        "fieldsType": "FieldsV1", "fieldsV1": fields, "subresource": "token",
    });
    body["metadata"] = json!({
        "name": target.name, "namespace": target.namespace, "uid": account.meta.uid.to_string(),
        "creationTimestamp": now.rfc3339(), "managedFields": [entry],
    });
    if body["spec"].get("boundObjectRef").is_none() {
        body["spec"]["boundObjectRef"] = Value::Null;
    }
    if body["spec"]["audiences"]
        .as_array()
        .is_none_or(Vec::is_empty)
    {
        body["spec"]["audiences"] = json!([AUDIENCE]);
    }
    body["status"] = json!({ "token": token, "expirationTimestamp": until.rfc3339() });
    Ok(Answer::json(201, &body))
}

fn invalid(field: &str, value: Value, detail: &str) -> FieldError {
    FieldError {
        field: field.to_owned(),
        fault: ErrorType::Invalid,
        value: value.to_string(),
        detail: detail.to_owned(),
    }
}

/// Returns the managed fields of the spec of a request.
fn request_fields(spec: &Value) -> Value {
    let mut fields = Map::new();
    for name in ["audiences", "expirationSeconds"] {
        if !spec[name].is_null() {
            fields.insert(format!("f:{name}"), json!({}));
        }
    }
    if let Value::Object(reference) = &spec["boundObjectRef"] {
        let inner = reference
            .keys()
            .map(|name| (format!("f:{name}"), json!({})));
        let inner: Map<String, Value> = [(".".to_owned(), json!({}))]
            .into_iter()
            .chain(inner)
            .collect();
        fields.insert("f:boundObjectRef".to_owned(), inner.into());
    }
    fields.into()
}

/// Checks the object that a token is bound to: a Pod, a Secret or a node that exists.
fn check_bound(cluster: &Cluster, namespace: &str, reference: &Value) -> Result<(), ApiError> {
    let text = |field: &str| reference[field].as_str().unwrap_or("");
    if !reference.is_object() {
        return Ok(());
    }
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    let key = match (api_version, kind) {
        ("v1", "Pod") => ObjectRef::new(Kind::Pod, namespace, text("name")),
        ("v1", "Secret") => ObjectRef::new(Kind::Secret, namespace, text("name")),
        ("v1", "Node") => ObjectRef::new(Kind::Node, "", text("name")),
        _ => {
            let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
            let kind = format!("{group}/{version}, Kind={kind}");
            return Err(ApiError::bad_request(format!(
                "cannot bind token to object of type {kind}"
            )));
        }
    };
    let Some(object) = cluster.host.sim.store().get(&key) else {
        return Err(ApiError::not_found(key.kind, &key.name));
    };
    let (asked, uid) = (text("uid"), object.meta.uid.to_string());
    if asked.is_empty() || asked == uid {
        return Ok(());
    }
    let problem = format!(
        "the UID in the bound object reference ({asked}) does not match the UID in record. The object might have been deleted and then recreated"
    );
    Err(ApiError::conflict_because(key.kind, &key.name, &problem))
}
