//! Write request of a client as data: it can be sent, stored, and sent again when a history is replayed.

use super::managers::{DuplicateField, Manager, Unknown};
use super::{ApiError, ApiServer, Delete, Origin, Patch, Propagation, Subresource, UserInfo};
use crate::why::Why;
use k8s_model::{Object, ObjectRef, Uid};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::rc::Rc;

/// Write request with its user.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClientRequest {
    /// Command line in the history.
    pub told: String,
    /// Verb for authorization: `create`, `update`, `patch`…
    pub verb: String,
    /// Name of the field manager.
    pub manager: String,
    /// Subresource to write.
    #[serde(default, skip_serializing_if = "Subresource::is_main")]
    pub part: Subresource,
    /// Handling of unknown fields.
    #[serde(default)]
    pub unknown: Unknown,
    /// Duplicate fields of the body.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repeated: Vec<DuplicateField>,
    /// Impersonated user; `None` for the administrator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<UserInfo>,
    /// API version of the request path, if it differs from that of the body.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub api_version: String,
    /// Operation and body.
    pub write: ClientWrite,
}

/// Write operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ClientWrite {
    /// Creates an object.
    Create(Value),
    /// Replaces an object.
    Update(Value),
    /// Server-side apply; `true` forces conflicts.
    Apply(Value, bool),
    /// Patches an object or a subresource.
    Patch(Name, Patch, Value),
    /// Sets the number of replicas.
    Scale(Name, i64),
    /// Deletes an object.
    Delete(Name, DeleteOptions),
    /// Evicts a Pod.
    Evict(Name, DeleteOptions),
    /// Binds a Pod to the node of this name.
    Bind(Name, String),
    /// Finalizes a terminating namespace if nothing is left in it; `true` if its finalizer stays.
    Finalize(Name, bool),
}

/// Options of a deletion: grace period in seconds, propagation and uid precondition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeleteOptions(Option<i64>, Propagation, Option<String>);

impl From<Delete> for DeleteOptions {
    fn from(how: Delete) -> DeleteOptions {
        DeleteOptions(
            how.grace_seconds,
            how.propagation,
            how.uid.map(|uid| uid.to_string()),
        )
    }
}

impl DeleteOptions {
    fn delete(&self) -> Delete {
        Delete {
            grace_seconds: self.0,
            propagation: self.1,
            uid: self.2.as_deref().and_then(Uid::parse),
        }
    }
}

/// Serializable object key: API version, kind, namespace and name, since the kind may be defined only later.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Name(String, String, String, String);

impl Name {
    /// Returns the name of an object.
    pub fn of(key: &ObjectRef) -> Name {
        Name(
            key.kind.api_version().to_string(),
            key.kind.name().to_owned(),
            key.namespace.to_string(),
            key.name.to_string(),
        )
    }

    fn key(&self, server: &ApiServer) -> Result<ObjectRef, ApiError> {
        let Name(version, kind, namespace, name) = self;
        let unknown = || {
            ApiError::bad_request(format!(
                "no matches for kind {kind:?} in version {version:?}"
            ))
        };
        let kind = server
            .definitions()
            .stored(version, kind)
            .ok_or_else(unknown)?;
        Ok(ObjectRef::new(kind, namespace, name))
    }
}

/// Result of a write request.
#[derive(Clone, Debug)]
pub struct Written {
    /// Written or deleted object; `None` for an eviction.
    pub object: Option<Rc<Object>>,
    /// True if the object was deleted immediately.
    pub gone: bool,
}

impl ClientWrite {
    /// Returns the API version of the written object.
    pub fn api_version(&self) -> &str {
        match self {
            ClientWrite::Create(value)
            | ClientWrite::Update(value)
            | ClientWrite::Apply(value, _) => value["apiVersion"].as_str().unwrap_or(""),
            ClientWrite::Patch(name, ..)
            | ClientWrite::Scale(name, _)
            | ClientWrite::Delete(name, _)
            | ClientWrite::Evict(name, _)
            | ClientWrite::Bind(name, _)
            | ClientWrite::Finalize(name, _) => &name.0,
        }
    }
}

impl ClientRequest {
    /// Returns the origin of the request's writes.
    pub fn origin(&self, origin: Origin) -> Origin {
        let manager = Manager::update(&self.manager, self.part.word())
            .with_unknown(self.unknown)
            .with_repeated(&self.repeated);
        let named = if self.api_version.is_empty() {
            self.write.api_version()
        } else {
            &self.api_version
        };
        let manager = manager.with_api_version(named);
        Origin {
            manager: Some(Rc::new(manager)),
            user: self.user.clone().map(Rc::new),
            ..origin
        }
    }

    /// Sends the request to a server.
    ///
    /// # Errors
    /// The server's refusal.
    pub fn send(&self, server: &mut ApiServer, origin: &Origin) -> Result<Written, ApiError> {
        let written = |object| Written {
            object: Some(object),
            gone: false,
        };
        match &self.write {
            ClientWrite::Create(value) => {
                server.authorize_value(origin, &self.verb, value, "")?;
                server
                    .create_value(origin, value.clone(), Why::Asked)
                    .map(written)
            }
            ClientWrite::Update(value) => {
                server.authorize_value(origin, &self.verb, value, "")?;
                server
                    .update_value(origin, value.clone(), Why::Asked)
                    .map(written)
            }
            ClientWrite::Apply(value, force) => {
                server.authorize_value(origin, &self.verb, value, self.part.word())?;
                server
                    .apply(origin, value.clone(), *force, Why::Asked)
                    .map(written)
            }
            ClientWrite::Patch(name, how, change) => {
                let key = name.key(server)?;
                server.authorize(origin, &self.verb, &key, self.part.word())?;
                server
                    .patch_part(origin, &key, self.part, (*how, change), Why::Asked)
                    .map(written)
            }
            ClientWrite::Scale(name, replicas) => {
                let key = name.key(server)?;
                server.authorize(origin, &self.verb, &key, self.part.word())?;
                server
                    .scale(origin, &key, *replicas, Why::Asked)
                    .map(written)
            }
            ClientWrite::Delete(name, how) => {
                let key = name.key(server)?;
                server.authorize(origin, &self.verb, &key, "")?;
                let object = server.delete(origin, &key, how.delete(), Why::Asked)?;
                Ok(Written {
                    gone: server.get(&key).is_none(),
                    object: Some(object),
                })
            }
            ClientWrite::Bind(name, node) => {
                let key = name.key(server)?;
                server.authorize(origin, &self.verb, &key, "binding")?;
                server
                    .bind(origin, &key, node, Why::Asked)
                    .map(|_| Written {
                        object: None,
                        gone: false,
                    })
            }
            ClientWrite::Finalize(name, held) => {
                let key = name.key(server)?;
                server.authorize(origin, &self.verb, &key, "finalize")?;
                server
                    .finalize(origin, &key, *held, Why::Asked)
                    .map(written)
            }
            ClientWrite::Evict(name, how) => {
                let key = name.key(server)?;
                server.authorize(origin, &self.verb, &key, "eviction")?;
                server
                    .evict(origin, &key, how.delete(), Why::Asked)
                    .map(|()| Written {
                        object: None,
                        gone: false,
                    })
            }
        }
    }
}
