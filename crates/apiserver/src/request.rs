//! Request to the API server, and its response: what kubectl, HTTP clients, and records of them send.
//!
//! Models `apiserver/pkg/endpoints/request/requestinfo.go` and the option types of `apimachinery/pkg/apis/meta/v1`.

use super::authorizer::UserInfo;
use super::deletion::DeleteOptions;
use super::error::ApiError;
use super::managers::{DuplicateField, Manager, Unknown};
use super::patch::Patch;
use super::reads::{ObjectList, Watch};
use super::server::Origin;
use k8s_model::kind::Subresource;
use k8s_model::{Object, ObjectRef};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::rc::Rc;

/// Request of a client.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Request {
    /// Line in the history: the client's command, or the HTTP request.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub command: String,
    /// Verb.
    pub verb: Verb,
    /// Object, or collection, that the request is about.
    pub resource: ResourceName,
    /// Subresource.
    #[serde(default, skip_serializing_if = "Subresource::is_main")]
    pub subresource: Subresource,
    /// Options.
    #[serde(default)]
    pub options: RequestOptions,
    /// Body.
    #[serde(default, skip_serializing_if = "RequestBody::is_none")]
    pub body: RequestBody,
    /// Impersonated user; `None` for the administrator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<UserInfo>,
}

/// Verb of a request, as RBAC rules name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verb {
    /// Reads an object.
    Get,
    /// Reads the objects of a collection.
    List,
    /// Reads the changes of a collection.
    Watch,
    /// Creates an object.
    Create,
    /// Replaces an object.
    Update,
    /// Changes a part of an object.
    Patch,
    /// Deletes an object.
    Delete,
    /// Deletes the selected objects of a collection; with a name, as earlier records have it, one of them.
    DeleteCollection,
}

impl Verb {
    /// Returns the verb as RBAC rules name it.
    pub fn word(self) -> &'static str {
        match self {
            Verb::Get => "get",
            Verb::List => "list",
            Verb::Watch => "watch",
            Verb::Create => "create",
            Verb::Update => "update",
            Verb::Patch => "patch",
            Verb::Delete => "delete",
            Verb::DeleteCollection => "deletecollection",
        }
    }
}

/// Name of an object with the API version of the request; its kind may be defined only later.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceName {
    /// API version of the request: `apps/v1`.
    pub api_version: String,
    /// Kind.
    pub kind: String,
    /// Namespace; empty for a cluster-scoped kind.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// Name; empty if the server is to generate it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
}

impl ResourceName {
    /// Returns the name of the object in a manifest.
    pub fn of_manifest(value: &Value) -> ResourceName {
        let text = |path: &str| {
            value
                .pointer(path)
                .and_then(Value::as_str)
                .unwrap_or("")
                .to_owned()
        };
        ResourceName {
            api_version: text("/apiVersion"),
            kind: text("/kind"),
            namespace: text("/metadata/namespace"),
            name: text("/metadata/name"),
        }
    }
}

impl From<&ObjectRef> for ResourceName {
    fn from(key: &ObjectRef) -> ResourceName {
        ResourceName {
            api_version: key.kind.api_version().to_string(),
            kind: key.kind.name().to_owned(),
            namespace: key.namespace.to_string(),
            name: key.name.to_string(),
        }
    }
}

/// Options of a request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RequestOptions {
    /// True if nothing is to be stored (`dryRun=All`).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
    /// Name of the field manager.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub field_manager: String,
    /// Handling of unknown fields.
    pub field_validation: Unknown,
    /// Duplicate fields of the body, which decoding has merged.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub duplicate_fields: Vec<DuplicateField>,
    /// True if a server-side apply takes fields from their managers.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub force: bool,
    /// True if a server-side apply takes over the fields of kubectl's client-side apply.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub migrates: bool,
    /// Options of a read, and selectors of a deletion of a collection.
    #[serde(flatten)]
    pub list_options: ListOptions,
    /// Options of a deletion or an eviction.
    #[serde(flatten)]
    pub deletion: DeleteOptions,
}

impl RequestOptions {
    /// Returns the options of a write as JSON, as `CreateOptions` and the like of `meta/v1` have them.
    pub(super) fn shown(&self) -> Value {
        let mut shown = serde_json::to_value(&self.deletion).unwrap_or_default();
        if !shown.is_object() {
            shown = Value::Object(serde_json::Map::new());
        }
        if let Some(policy) = self.deletion.propagation_policy {
            shown["propagationPolicy"] = format!("{policy:?}").into();
        }
        if self.dry_run {
            shown["dryRun"] = serde_json::json!(["All"]);
        }
        if !self.field_manager.is_empty() {
            shown["fieldManager"] = self.field_manager.as_str().into();
        }
        let validation = match self.field_validation {
            Unknown::Refuse => "Strict",
            Unknown::Warn => "Warn",
            Unknown::Drop => "Ignore",
        };
        shown["fieldValidation"] = validation.into();
        shown
    }
}

/// Options of reads: `ListOptions` of `meta/v1`, of which a get has the resourceVersion.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ListOptions {
    /// Label selector.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub label_selector: String,
    /// Field selector.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub field_selector: String,
    /// resourceVersion.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub resource_version: String,
    /// Meaning of the resourceVersion of a list: `Exact`, `NotOlderThan` or empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub resource_version_match: String,
    /// Maximum number of objects; 0 for all.
    #[serde(skip_serializing_if = "is_zero")]
    pub limit: usize,
    /// Token of the previous page.
    #[serde(rename = "continue", skip_serializing_if = "String::is_empty")]
    pub continue_token: String,
    /// True if a watch begins with the present objects; by default one without resourceVersion does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub send_initial_events: Option<bool>,
}

fn is_zero(limit: &usize) -> bool {
    *limit == 0
}

/// Body of a request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum RequestBody {
    /// No body.
    #[default]
    None,
    /// Object.
    Object(Value),
    /// Configuration of a server-side apply.
    Apply(Value),
    /// Patch.
    Patch(Patch),
}

impl RequestBody {
    fn is_none(&self) -> bool {
        *self == RequestBody::None
    }

    /// Returns the object of the body; null if it has none.
    pub fn object(&self) -> &Value {
        match self {
            RequestBody::Object(value) | RequestBody::Apply(value) => value,
            RequestBody::None | RequestBody::Patch(_) => &Value::Null,
        }
    }
}

impl Request {
    /// Creates a request about an object, without options and body.
    pub fn new(verb: Verb, resource: impl Into<ResourceName>) -> Request {
        Request {
            command: String::new(),
            verb,
            resource: resource.into(),
            subresource: Subresource::Main,
            options: RequestOptions::default(),
            body: RequestBody::None,
            user: None,
        }
    }

    /// Creates a request about the object in a manifest, which is its body.
    pub fn of_manifest(verb: Verb, manifest: Value) -> Request {
        let resource = ResourceName::of_manifest(&manifest);
        Request {
            body: RequestBody::Object(manifest),
            ..Request::new(verb, resource)
        }
    }

    /// Creates a request that patches an object.
    pub fn patch(resource: impl Into<ResourceName>, patch: Patch) -> Request {
        Request {
            body: RequestBody::Patch(patch),
            ..Request::new(Verb::Patch, resource)
        }
    }

    /// Returns true if the request changes nothing: a read, or a connection to a container.
    pub fn is_read(&self) -> bool {
        matches!(self.verb, Verb::Get | Verb::List | Verb::Watch)
            || self.subresource.is_connection()
    }

    /// Returns the subresource that the field manager writes: that of an update, not of an action on a Pod or a namespace.
    fn managed_subresource(&self) -> Subresource {
        match self.subresource {
            Subresource::Eviction | Subresource::Binding | Subresource::Finalize => {
                Subresource::Main
            }
            subresource => subresource,
        }
    }

    /// Returns the origin of the request's writes: that of the client, with the request's user and field manager.
    pub fn origin(&self, client: Origin) -> Origin {
        let options = &self.options;
        let mut manager = Manager::update(&options.field_manager, self.managed_subresource())
            .with_unknown(options.field_validation)
            .with_repeated(&options.duplicate_fields)
            .with_api_version(&self.resource.api_version);
        if options.migrates {
            manager = manager.migrating();
        }
        Origin {
            manager: Some(Rc::new(manager)),
            user: self.user.clone().map(Rc::new),
            ..client
        }
    }
}

/// Response to a request.
#[derive(Clone, Debug)]
pub struct Response {
    /// Content, or the refusal.
    pub result: Result<Content, ApiError>,
    /// Managed fields that the object of a dry run would have; null for other requests, whose fields the history has.
    pub managed_fields: Value,
    /// Warnings for the client.
    pub warnings: Vec<String>,
}

/// Content of a response.
#[derive(Clone, Debug)]
pub enum Content {
    /// Object as it is stored, or would be after a dry run.
    Object(Rc<Object>),
    /// Object that the request has created.
    Created(Rc<Object>),
    /// Object that is deleted already.
    Deleted(Rc<Object>),
    /// Objects of a list, or those that the deletion of a collection has deleted.
    List(ObjectList),
    /// Watch.
    Watch(Watch),
    /// `Scale` of an object.
    Scale(Value),
    /// Success without an object.
    Success,
}

impl Content {
    /// Returns the object.
    pub fn object(&self) -> Option<&Rc<Object>> {
        match self {
            Content::Object(object) | Content::Created(object) | Content::Deleted(object) => {
                Some(object)
            }
            Content::List(_) | Content::Watch(_) | Content::Scale(_) | Content::Success => None,
        }
    }
}
