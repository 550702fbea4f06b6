//! Requests for tokens of ServiceAccounts, and the tokens of Secrets.
//!
//! Models `pkg/registry/core/serviceaccount/storage/token.go` and `pkg/controller/serviceaccount/tokens_controller.go`.

use super::cluster::Cluster;
use super::http_request::{HttpRequest, Target};
use super::issuer::{ISSUER, TokenClaims};
use super::status::Answer;
use super::write::api_request;
use apiserver::validation::{ErrorType, FieldError};
use apiserver::{ApiError, Patch, Request, Subresource, Verb};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use k8s_model::{Kind, Object, ObjectRef, Timestamp};
use serde_json::{Map, Value, json};
use std::rc::Rc;

const SHORTEST: i64 = 600;
const LONGEST: i64 = 1 << 32;
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
    let bound = bound(cluster, &target.namespace, &body["spec"]["boundObjectRef"])?;
    let now = cluster.host.sim.store().wall_at(cluster.host.sim.now());
    let until = Timestamp::new(now.seconds() + lasts);
    if body["spec"]["audiences"]
        .as_array()
        .is_none_or(Vec::is_empty)
    {
        body["spec"]["audiences"] = json!([ISSUER]);
    }
    let audiences = body["spec"]["audiences"].as_array().into_iter().flatten();
    let claims = TokenClaims {
        account: &account,
        audiences: audiences
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect(),
        bound: bound.as_deref(),
        now,
        seconds: lasts,
    };
    let issuer = cluster.authenticator.as_ref().map(|it| &it.issuer);
    let store = cluster.host.sim.store();
    let token = issuer
        .ok_or_else(|| "no key signs tokens".to_owned())
        .and_then(|issuer| issuer.issue(store, &claims))
        .map_err(|problem| ApiError::internal(&format!("Internal error occurred: {problem}")))?;
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

/// Returns the object that a token is bound to: a Pod, a Secret or a node that exists.
fn bound(
    cluster: &Cluster,
    namespace: &str,
    reference: &Value,
) -> Result<Option<Rc<Object>>, ApiError> {
    let text = |field: &str| reference[field].as_str().unwrap_or("");
    if !reference.is_object() {
        return Ok(None);
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
        return Ok(Some(object.clone()));
    }
    let problem = format!(
        "the UID in the bound object reference ({asked}) does not match the UID in record. The object might have been deleted and then recreated"
    );
    Err(ApiError::conflict_because(key.kind, &key.name, &problem))
}

/// Fills in the tokens of new Secrets of type `kubernetes.io/service-account-token`; one whose account does not exist is deleted. A token is
/// made with a key from outside of the simulation, so that its write is a request of the history.
pub fn fill_secrets(cluster: &mut Cluster) {
    let journal = cluster.host.sim.journal();
    let from = cluster.searched.min(journal.len());
    let writes = journal.from(from).iter().filter_map(|entry| entry.write());
    let wanting: Vec<ObjectRef> = writes
        .filter(|(_, object)| object.kind == Kind::Secret)
        .map(|(_, object)| object.key())
        .collect();
    cluster.searched = journal.len();
    for key in wanting {
        if let Some(request) = secret_request(cluster, &key) {
            cluster.send_own(request);
        }
    }
}

/// Returns the write that a Secret of an account needs.
fn secret_request(cluster: &Cluster, key: &ObjectRef) -> Option<Request> {
    let store = cluster.host.sim.store();
    let issuer = &cluster.authenticator.as_ref()?.issuer;
    let secret = store.get(key)?;
    let value = secret.to_value();
    if value["type"] != "kubernetes.io/service-account-token" || secret.meta.is_deleting() {
        return None;
    }
    let path = format!("/api/v1/namespaces/{}/secrets/{}", key.namespace, key.name);
    let name = secret
        .meta
        .annotation("kubernetes.io/service-account.name")?;
    let account = store.get(&ObjectRef::new(Kind::ServiceAccount, &key.namespace, name));
    let request = match account {
        None => Request {
            command: format!("DELETE {path}"),
            ..Request::new(Verb::Delete, key)
        },
        Some(account) => {
            let has = |field: &str| value["data"][field].is_string();
            if has("token") && has("namespace") {
                return None;
            }
            let token = issuer.issue_legacy(account, &key.name).ok()?;
            let bundle = ObjectRef::new(Kind::ConfigMap, &key.namespace, "kube-root-ca.crt");
            let bundle = store.get(&bundle).map(|bundle| bundle.to_value());
            let bundle = bundle.as_ref().and_then(|it| it["data"]["ca.crt"].as_str());
            let data = json!({
                "token": STANDARD.encode(token), "namespace": STANDARD.encode(key.namespace.as_str()),
                "ca.crt": STANDARD.encode(bundle.unwrap_or("")),
            });
            let uid = account.meta.uid.to_string();
            let annotations = json!({ "kubernetes.io/service-account.uid": uid });
            let change = json!({ "metadata": { "annotations": annotations }, "data": data });
            Request {
                command: format!("PATCH {path}"),
                ..Request::patch(key, Patch::merge(change))
            }
        }
    };
    let mut request = request;
    request.options.field_manager = "kube-controller-manager".to_owned();
    Some(request)
}
