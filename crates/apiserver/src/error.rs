//! Errors of the API server, with its messages.

use super::validation::{ErrorType, FieldError, invalid_message};
use k8s_model::kind::api_group;
use k8s_model::quantity::Quantity;
use k8s_model::{Kind, ObjectRef, Str, schema};
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
    Timeout,
    Expired,
    /// No reason was given.
    Unknown,
}

impl StatusReason {
    /// Reads the reason of a `Status`.
    pub fn read(text: &str) -> StatusReason {
        let known = [
            StatusReason::NotFound,
            StatusReason::AlreadyExists,
            StatusReason::Conflict,
            StatusReason::Invalid,
            StatusReason::Forbidden,
            StatusReason::BadRequest,
            StatusReason::TooManyRequests,
            StatusReason::InternalError,
            StatusReason::MethodNotAllowed,
            StatusReason::UnsupportedMediaType,
            StatusReason::Timeout,
            StatusReason::Expired,
        ];
        let named = known
            .into_iter()
            .find(|reason| format!("{reason:?}") == text);
        named.unwrap_or(StatusReason::Unknown)
    }
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
    /// resourceVersion that the server has not reached.
    ResourceVersionTooLarge,
    /// Fields that other managers own.
    FieldManagers(Vec<FieldManagerConflict>),
    /// Pod security level that the Pod violates, such as `restricted`.
    PodSecurity(Str),
    /// `Status` with which an admission webhook denies the request.
    Webhook(serde_json::Value),
}

/// Field that an apply would take from another manager.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FieldManagerConflict {
    /// Path, such as `.spec.replicas`.
    pub field: String,
    /// Manager as messages show it, such as `"kubectl" using v1`.
    pub manager: String,
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
    /// Field errors; unlike the message they may repeat.
    pub causes: Vec<FieldError>,
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ApiError {}

/// Type that an object names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GroupVersionKind {
    /// `apiVersion` of the object.
    pub api_version: String,
    /// `kind` of the object.
    pub kind: String,
}

/// Versions that the server still decodes.
const NO_LONGER_SERVED: [&str; 5] = [
    "apps/v1beta1",
    "apps/v1beta2",
    "batch/v1beta1",
    "extensions/v1beta1",
    "policy/v1beta1",
];

impl GroupVersionKind {
    /// Checks that the type is that of a custom resource's path.
    ///
    /// # Errors
    /// The type is another one.
    pub fn check_custom(&self, api_version: &str, kind: &str) -> Result<(), ApiError> {
        let (found, found_kind) = (&self.api_version, &self.kind);
        if found_kind != kind {
            Err(ApiError::bad_request(format!(
                "the kind of the provided object ({found_kind:?}) does not match the expected kind ({kind:?})"
            )))
        } else if found != api_version {
            Err(ApiError::bad_request(format!(
                "the API version in the data ({found}) does not match the expected API version ({api_version})"
            )))
        } else {
            Ok(())
        }
    }

    /// Checks that the type is that of a request's path, as the decoder does (`transformDecodeError` of `endpoints/handlers/rest.go`).
    ///
    /// # Errors
    /// The type is not known, or another one.
    pub fn check(&self, api_version: &str, kind: &str) -> Result<(), ApiError> {
        let Some(problem) = self.unconverted(api_version, kind) else {
            return self.check_custom(api_version, kind);
        };
        let version = self.api_version.rsplit('/').next().unwrap_or("");
        Err(ApiError::bad_request(format!(
            "{} in version {version:?} cannot be handled as a {kind}: {problem}",
            self.kind
        )))
    }

    /// Returns the decoder's problem with the type in place of another one; `None` if it decodes, which another version of the kind does.
    pub(crate) fn unconverted(&self, api_version: &str, kind: &str) -> Option<String> {
        if self.api_version == api_version && self.kind == kind {
            return None;
        }
        let is_kind = |kind: &str| schema::schema().kind(&self.api_version, kind).is_some();
        let is_known = is_kind(&self.kind)
            || self.kind == kind && NO_LONGER_SERVED.contains(&self.api_version.as_str())
            || self.api_version == "v1" && self.kind == "List"
            || self.kind.strip_suffix("List").is_some_and(is_kind);
        if is_known && self.kind == kind {
            return None;
        }
        if !is_known {
            return Some(format!(
                "no kind {:?} is registered for version {:?} in scheme \"pkg/api/legacyscheme/scheme.go:30\"",
                self.kind, self.api_version
            ));
        }
        let version = self.api_version.rsplit('/').next().unwrap_or("");
        let internal = match api_group(api_version).split('.').next() {
            None | Some("") => "core",
            Some(group) => group,
        };
        Some(format!(
            "converting ({version}.{}) to ({internal}.{kind}): unknown conversion",
            self.kind
        ))
    }
}

impl ApiError {
    /// Returns the error for an object that does not exist.
    pub fn not_found(kind: Kind, name: &str) -> Self {
        ApiError {
            reason: StatusReason::NotFound,
            message: format!("{} {name:?} not found", kind.group_resource()),
            cause: None,
        }
    }

    /// Returns the error for a kind that is not served in an API version.
    pub fn no_matches(api_version: &str, kind: &str) -> Self {
        ApiError::bad_request(format!(
            "no matches for kind {kind:?} in version {api_version:?}"
        ))
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

    /// Returns the error for an object whose predecessor of this name is still being deleted.
    pub fn still_exists(kind: Kind, name: &str) -> Self {
        let mut error = ApiError::already_exists(kind, name);
        error.message.insert_str(0, "object is being deleted: ");
        error
    }

    /// Returns the error for a new object with a resourceVersion (`ErrResourceVersionSetOnCreate`).
    pub fn version_of_new_object() -> Self {
        ApiError::unclassified(
            "resourceVersion should not be set on objects to be created".to_owned(),
        )
    }

    /// Returns true if the refusal is due to a terminating namespace, which controllers do not report.
    pub fn is_of_terminating_namespace(&self) -> bool {
        matches!(self.cause.as_deref(), Some(Cause::NamespaceTerminating))
    }

    /// Returns the error for a write based on a version that is no longer current.
    pub fn conflict(kind: Kind, name: &str) -> Self {
        let problem = "the object has been modified; please apply your changes to the latest version and try again";
        ApiError::conflict_because(kind, name, problem)
    }

    /// Returns the error for a write that conflicts with the stored object, or with its absence.
    pub fn conflict_because(kind: Kind, name: &str, problem: &str) -> Self {
        ApiError {
            reason: StatusReason::Conflict,
            message: format!(
                "Operation cannot be fulfilled on {} {name:?}: {problem}",
                kind.group_resource()
            ),
            cause: None,
        }
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
        let causes = errors.to_vec();
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

    /// Returns a plain error, which the handlers wrap in no reason of the API.
    pub fn unclassified(message: String) -> Self {
        ApiError {
            reason: StatusReason::Unknown,
            message,
            cause: None,
        }
    }

    /// Returns the error for a kind, or a subresource of one, that is not served.
    pub fn not_served() -> Self {
        ApiError {
            reason: StatusReason::NotFound,
            message: "the server could not find the requested resource".to_owned(),
            cause: None,
        }
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

    /// Returns the error for a patch whose result does not decode; the error names no object.
    pub fn invalid_patch(patch: &str, problem: &str) -> Self {
        let cause = FieldError {
            field: "patch".to_owned(),
            fault: ErrorType::Invalid,
            value: patch.to_owned(),
            detail: problem.to_owned(),
        };
        ApiError::invalid_fields("", "", &[cause])
    }

    /// Returns the error for a body with an unsupported media type.
    pub fn unsupported_body() -> Self {
        let message = "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, \
                       application/vnd.kubernetes.protobuf";
        ApiError {
            reason: StatusReason::UnsupportedMediaType,
            message: message.to_owned(),
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
