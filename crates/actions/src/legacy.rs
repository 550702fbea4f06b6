//! Earlier forms of actions in links and records: each is read as the action it stands for.

use apiserver::{
    DeleteOptions, DuplicateField, Patch, PatchType, Preconditions, Propagation, Request,
    RequestBody, RequestOptions, ResourceName, Subresource, Unknown, UserInfo, Verb,
};
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};
use std::rc::Rc;

/// Reads a request in its present or its earlier form.
///
/// # Errors
/// The value has neither form.
pub fn request<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Rc<Request>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum AnyRequest {
        Present(Request),
        Earlier(ClientRequest),
    }
    Ok(Rc::new(match AnyRequest::deserialize(deserializer)? {
        AnyRequest::Present(request) => request,
        AnyRequest::Earlier(request) => request.into(),
    }))
}

/// Write request, as records of version 0.2 hold it.
#[derive(Deserialize)]
struct ClientRequest {
    told: String,
    verb: String,
    manager: String,
    #[serde(default)]
    part: Subresource,
    #[serde(default)]
    unknown: Unknown,
    #[serde(default)]
    repeated: Vec<DuplicateField>,
    #[serde(default)]
    user: Option<UserInfo>,
    write: ClientWrite,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
enum ClientWrite {
    Create(Value),
    Update(Value),
    Apply(Value, bool),
    Patch(Name, PatchType, Value),
    Scale(Name, i64),
    Delete(Name, DeletionTuple),
    Evict(Name, DeletionTuple),
    Bind(Name, String),
    Finalize(Name, bool),
}

/// API version, kind, namespace and name.
#[derive(Deserialize)]
struct Name(String, String, String, String);

/// Grace period in seconds, propagation and uid.
#[derive(Deserialize)]
struct DeletionTuple(Option<i64>, Propagation, Option<String>);

impl From<Name> for ResourceName {
    fn from(Name(api_version, kind, namespace, name): Name) -> ResourceName {
        ResourceName {
            api_version,
            kind,
            namespace,
            name,
        }
    }
}

impl From<DeletionTuple> for RequestOptions {
    fn from(DeletionTuple(grace, propagation, uid): DeletionTuple) -> RequestOptions {
        RequestOptions {
            deletion: DeleteOptions {
                grace_period_seconds: grace,
                propagation_policy: Some(propagation),
                preconditions: Preconditions {
                    uid,
                    resource_version: None,
                },
            },
            ..RequestOptions::default()
        }
    }
}

impl From<ClientRequest> for Request {
    fn from(earlier: ClientRequest) -> Request {
        let deletes = match earlier.verb.as_str() {
            "deletecollection" => Verb::DeleteCollection,
            _ => Verb::Delete,
        };
        let mut request = match earlier.write {
            ClientWrite::Create(value) => Request::of_manifest(Verb::Create, value),
            ClientWrite::Update(value) => Request::of_manifest(Verb::Update, value),
            ClientWrite::Apply(value, force) => {
                let mut request = Request::new(Verb::Patch, ResourceName::of_manifest(&value));
                request.options.force = force;
                request.body = RequestBody::Apply(value);
                request
            }
            ClientWrite::Patch(name, patch_type, patch) => Request {
                body: RequestBody::Patch(Patch {
                    patch_type,
                    content: patch,
                }),
                ..Request::new(Verb::Patch, name)
            },
            ClientWrite::Scale(name, replicas) => Request {
                subresource: Subresource::Scale,
                body: RequestBody::Patch(Patch::merge(json!({ "spec": { "replicas": replicas } }))),
                ..Request::new(Verb::Patch, name)
            },
            ClientWrite::Delete(name, options) => Request {
                options: options.into(),
                ..Request::new(deletes, name)
            },
            ClientWrite::Evict(name, options) => Request {
                subresource: Subresource::Eviction,
                options: options.into(),
                ..Request::new(Verb::Create, name)
            },
            ClientWrite::Bind(name, node) => Request {
                subresource: Subresource::Binding,
                body: RequestBody::Object(json!({ "target": { "name": node } })),
                ..Request::new(Verb::Create, name)
            },
            ClientWrite::Finalize(name, held) => {
                let finalizers: &[&str] = if held { &["kubernetes"] } else { &[] };
                let body = json!({
                    "metadata": { "name": name.3 }, "spec": { "finalizers": finalizers },
                });
                Request {
                    subresource: Subresource::Finalize,
                    body: RequestBody::Object(body),
                    ..Request::new(Verb::Update, name)
                }
            }
        };
        if request.subresource.is_main() {
            request.subresource = earlier.part;
        }
        request.command = earlier.told;
        request.user = earlier.user;
        request.options.field_manager = earlier.manager;
        request.options.field_validation = earlier.unknown;
        request.options.duplicate_fields = earlier.repeated;
        request
    }
}

#[cfg(test)]
mod tests {
    use crate::Action;
    use apiserver::{Request, RequestBody, Subresource, Verb};
    use serde_json::{Value, json};
    use std::rc::Rc;

    fn read(write: &Value, verb: &str, part: &str) -> Rc<Request> {
        let earlier = json!({ "request": {
            "told": "PUT /x", "verb": verb, "manager": "m", "part": part, "unknown": "warn", "write": write,
        } });
        match serde_json::from_value(earlier).unwrap() {
            Action::Request(request) => request,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn earlier_requests_are_read_as_what_they_did() {
        let pod = json!(["v1", "Pod", "default", "p"]);
        let request = read(
            &json!({ "evict": [pod, [5, "background", null]] }),
            "create",
            "main",
        );
        assert_eq!(
            (
                request.verb,
                request.subresource,
                request.options.deletion.grace_period_seconds
            ),
            (Verb::Create, Subresource::Eviction, Some(5))
        );
        let change = json!([{ "op": "add", "path": "/status", "value": {} }]);
        let request = read(
            &json!({ "patch": [pod, "json", change] }),
            "update",
            "status",
        );
        assert_eq!(
            (request.verb, request.subresource),
            (Verb::Patch, Subresource::Status)
        );
        let request = read(
            &json!({ "delete": [pod, [null, "orphan", "u"]] }),
            "deletecollection",
            "main",
        );
        assert_eq!(request.verb, Verb::DeleteCollection);
        assert_eq!(
            request.options.deletion.preconditions.uid.as_deref(),
            Some("u")
        );
        let made = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "c" } });
        let request = read(&json!({ "create": made }), "create", "main");
        assert_eq!(
            (request.resource.name.as_str(), request.command.as_str()),
            ("c", "PUT /x")
        );
        assert_eq!(request.body, RequestBody::Object(made));
    }

    #[test]
    fn a_request_is_read_as_it_was_written() {
        let request = Request::of_manifest(
            Verb::Create,
            json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "c", "namespace": "n" } }),
        );
        let action = Action::Request(Rc::new(request));
        let text = serde_json::to_string(&action).unwrap();
        assert_eq!(
            serde_json::from_str::<Action>(&text).unwrap(),
            action,
            "{text}"
        );
    }
}
