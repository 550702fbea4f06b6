//! Errors of the API server, with its messages.

use super::validation::{FieldError, invalid_message};
use k8s_model::quantity::Quantity;
use k8s_model::{Kind, Object, ObjectRef, Str};
use std::fmt;

/// `reason` of a refusal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum StatusReason {
    NotFound,
    AlreadyExists,
    Conflict,
    Invalid,
    Forbidden,
    BadRequest,
    TooManyRequests,
    InternalError,
    MethodNotAllowed,
    UnsupportedMediaType,
    /// No reason was given.
    Unknown,
}

/// Error returned by the API server.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ApiError {
    /// Machine-readable reason.
    pub reason: StatusReason,
    /// Human-readable message.
    pub message: String,
    /// Details for errors that callers handle specifically.
    pub cause: Option<Box<Cause>>,
}

/// Details of a refusal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Cause {
    /// Invalid fields of the object.
    Fields(InvalidObject),
    /// Exceeded ResourceQuota.
    Quota(ExceededQuota),
    /// PodDisruptionBudget of this name that allows no eviction.
    Budget(Str),
    /// Terminating namespace of the object.
    NamespaceTerminating,
}

/// ResourceQuota without room for an object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExceededQuota {
    /// Name of the quota.
    pub name: Str,
    /// Exceeded resources.
    pub resources: Vec<ExceededResource>,
}

/// Resource that a ResourceQuota limits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExceededResource {
    /// Resource name, such as `pods` or `requests.cpu`.
    pub name: String,
    /// Amount requested by the object.
    pub requested: Quantity,
    /// Amount used without the object.
    pub used: Quantity,
    /// Hard limit.
    pub hard: Quantity,
}

impl fmt::Display for ExceededQuota {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |amount: fn(&ExceededResource) -> Quantity| {
            self.resources
                .iter()
                .map(|one| format!("{}={}", one.name, amount(one)))
                .collect::<Vec<_>>()
                .join(",")
        };
        let (requested, used, limited) = (
            list(|one| one.requested),
            list(|one| one.used),
            list(|one| one.hard),
        );
        write!(
            f,
            "exceeded quota: {}, requested: {requested}, used: {used}, limited: {limited}",
            self.name
        )
    }
}

/// Invalid object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InvalidObject {
    /// Kind and group, as `Deployment.apps`.
    pub group_kind: String,
    /// Name of the object.
    pub name: String,
    /// Field errors, without duplicates.
    pub causes: Vec<FieldError>,
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ApiError {}

impl ApiError {
    /// Returns the error for an object that does not exist.
    pub fn not_found(kind: Kind, name: &str) -> Self {
        ApiError {
            reason: StatusReason::NotFound,
            message: format!("{} {name:?} not found", kind.group_resource()),
            cause: None,
        }
    }

    /// Returns the error for a write of an object that does not exist.
    pub fn absent(key: &ObjectRef) -> Self {
        if key.kind.is_stored() {
            ApiError::not_found(key.kind, &key.name)
        } else {
            ApiError::not_writable()
        }
    }

    /// Returns the error for a kind that cannot be written.
    pub fn not_writable() -> Self {
        let message = "the server does not allow this method on the requested resource".to_owned();
        ApiError {
            reason: StatusReason::MethodNotAllowed,
            message,
            cause: None,
        }
    }

    /// Returns the error for a generated name when every candidate is in use.
    pub fn no_unique_name(kind: Kind, name: &str) -> ApiError {
        let mut error = ApiError::already_exists(kind, name);
        error
            .message
            .push_str(", the server was not able to generate a unique name for the object");
        error
    }

    /// Returns the error for an object that already exists.
    pub fn already_exists(kind: Kind, name: &str) -> Self {
        ApiError {
            reason: StatusReason::AlreadyExists,
            message: format!("{} {name:?} already exists", kind.group_resource()),
            cause: None,
        }
    }

    /// Returns true if the refusal is due to a terminating namespace, which controllers do not report.
    pub fn is_of_terminating_namespace(&self) -> bool {
        matches!(self.cause.as_deref(), Some(Cause::NamespaceTerminating))
    }

    /// Returns the error for a write based on a version that is no longer current.
    pub fn conflict(kind: Kind, name: &str) -> Self {
        ApiError {
            reason: StatusReason::Conflict,
            message: format!(
                "Operation cannot be fulfilled on {} {name:?}: the object has been modified; please apply your changes to the latest version and try again",
                kind.group_resource()
            ),
            cause: None,
        }
    }

    /// Returns the error for a binding of a Pod that has changed since it was read: `setPodHostAndAnnotations`.
    pub fn not_bound(stored: &Object, read: &Object) -> Option<Self> {
        let (name, node) = (
            &read.meta.name,
            stored
                .pod()
                .map(|pod| &pod.node_name)
                .filter(|node| !node.is_empty()),
        );
        let (resource, what) = if stored.meta.uid != read.meta.uid {
            let (asked, is) = (read.meta.uid, stored.meta.uid);
            let precondition = format!(
                "Precondition failed: UID in precondition: {asked}, UID in object meta: {is}"
            );
            let key = format!("/registry/pods/{}/{name}", read.meta.namespace);
            let error = "StorageError: invalid object, Code: 4, Key: ";
            (
                "pods",
                format!("{error}{key}, ResourceVersion: 0, AdditionalErrorMessage: {precondition}"),
            )
        } else if stored.meta.is_deleting() {
            (
                "pods/binding",
                format!("pod {name} is being deleted, cannot be assigned to a host"),
            )
        } else {
            (
                "pods/binding",
                format!(
                    "pod {name} is already assigned to node {:?}",
                    node?.as_str()
                ),
            )
        };
        Some(ApiError {
            reason: StatusReason::Conflict,
            message: format!("Operation cannot be fulfilled on {resource} {name:?}: {what}"),
            cause: None,
        })
    }

    /// Returns the error for a rule that is not about a field; the message is complete.
    pub fn invalid(message: String) -> Self {
        ApiError {
            reason: StatusReason::Invalid,
            message,
            cause: None,
        }
    }

    /// Returns the error for invalid fields of an object.
    pub fn invalid_fields(group_kind: &str, name: &str, errors: &[FieldError]) -> Self {
        let mut causes: Vec<FieldError> = Vec::new();
        for error in errors {
            // Errors with equal text are reported once.
            let text = error.to_string();
            if causes.iter().all(|known| known.to_string() != text) {
                causes.push(error.clone());
            }
        }
        let message = invalid_message(group_kind, name, &causes);
        let invalid = InvalidObject {
            group_kind: group_kind.to_owned(),
            name: name.to_owned(),
            causes,
        };
        ApiError {
            reason: StatusReason::Invalid,
            message,
            cause: Some(Box::new(Cause::Fields(invalid))),
        }
    }

    /// Returns the error for a body whose kind or version (`kind`, `apiVersion`) differs from its path.
    pub fn of_other_type(field: &str, found: &str, expected: &str) -> Self {
        ApiError::bad_request(match field {
            "apiVersion" => format!(
                "the API version in the data ({found}) does not match the expected API version ({expected})"
            ),
            _ => format!(
                "the {field} of the provided object ({found:?}) does not match the expected {field} ({expected:?})"
            ),
        })
    }

    /// Returns the error for a request that could not be decoded.
    pub fn bad_request(message: String) -> Self {
        ApiError {
            reason: StatusReason::BadRequest,
            message,
            cause: None,
        }
    }

    /// Returns the error for a strategic patch of a custom object.
    pub fn unsupported_patch() -> Self {
        let message = "the body of the request was in an unknown format - accepted media types include: application/json-patch+json, \
                       application/merge-patch+json, application/apply-patch+yaml";
        ApiError {
            reason: StatusReason::UnsupportedMediaType,
            message: message.to_owned(),
            cause: None,
        }
    }

    /// Returns the error for a body with an unsupported media type.
    pub fn unsupported_body(found: &str) -> Self {
        let message = format!(
            "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf (found {found:?})"
        );
        ApiError {
            reason: StatusReason::UnsupportedMediaType,
            message,
            cause: None,
        }
    }

    /// Returns the error for a request that the client may retry later.
    pub fn too_many_requests(message: &str) -> Self {
        ApiError {
            reason: StatusReason::TooManyRequests,
            message: message.into(),
            cause: None,
        }
    }

    /// Returns an internal error of the server or a controller.
    pub fn internal(message: &str) -> Self {
        ApiError {
            reason: StatusReason::InternalError,
            message: message.into(),
            cause: None,
        }
    }

    /// Returns the error for a request that is not allowed.
    pub fn forbidden(message: String) -> Self {
        ApiError {
            reason: StatusReason::Forbidden,
            message,
            cause: None,
        }
    }
}
