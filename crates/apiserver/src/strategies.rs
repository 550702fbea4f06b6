//! Update strategies of each kind: updates without a resource version, and creation on update.
//!
//! Models `AllowUnconditionalUpdate` and `AllowCreateOnUpdate` of `pkg/registry/*/strategy.go`, and the preconditions of
//! `apiserver/pkg/registry/generic/registry/store.go`.

use super::error::{ApiError, StatusReason};
use super::server::{ApiServer, Origin};
use super::validation::{ErrorType, FieldError};
use crate::why::Why;
use k8s_model::{Kind, Object, ObjectRef};
use serde_json::Value;
use std::rc::Rc;

/// Returns true if an update may omit the resource version.
fn allows_unconditional_update(kind: Kind) -> bool {
    !matches!(
        kind,
        Kind::Custom(_)
            | Kind::CustomResourceDefinition
            | Kind::APIService
            | Kind::MutatingWebhookConfiguration
            | Kind::ValidatingWebhookConfiguration
            | Kind::MutatingAdmissionPolicy
            | Kind::MutatingAdmissionPolicyBinding
            | Kind::ValidatingAdmissionPolicy
            | Kind::ValidatingAdmissionPolicyBinding
            | Kind::Lease
            | Kind::RuntimeClass
            | Kind::PodDisruptionBudget
            | Kind::CSIDriver
            | Kind::CSINode
            | Kind::CSIStorageCapacity
            | Kind::VolumeAttachment
    )
}

/// Returns true if an update of a missing object creates it.
fn allows_create_on_update(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Lease
            | Kind::Endpoints
            | Kind::Event
            | Kind::LimitRange
            | Kind::Service
            | Kind::RuntimeClass
            | Kind::Role
            | Kind::RoleBinding
            | Kind::ClusterRole
            | Kind::ClusterRoleBinding
    )
}

/// Returns the key of an object in etcd.
fn storage_key(key: &ObjectRef) -> String {
    let info = key.kind.info();
    let resource = match key.kind {
        Kind::Custom(_) | Kind::CustomResourceDefinition | Kind::APIService => {
            format!("{}/{}", info.group, info.plural)
        }
        Kind::Service => "services/specs".to_owned(),
        Kind::Endpoints => "services/endpoints".to_owned(),
        Kind::Node => "minions".to_owned(),
        Kind::ReplicationController => "controllers".to_owned(),
        Kind::Ingress => "ingress".to_owned(),
        _ => info.plural.to_owned(),
    };
    let namespace = if info.namespaced {
        format!("{}/", key.namespace)
    } else {
        String::new()
    };
    format!("/registry/{resource}/{namespace}{}", key.name)
}

/// Returns the conflict of a write with another uid than the stored one.
fn other_uid(key: &ObjectRef, asked: &str, stored: &str) -> ApiError {
    let precondition =
        format!("Precondition failed: UID in precondition: {asked}, UID in object meta: {stored}");
    let storage = format!(
        "StorageError: invalid object, Code: 4, Key: {}, ResourceVersion: 0",
        storage_key(key)
    );
    ApiError {
        reason: StatusReason::Conflict,
        message: format!(
            "Operation cannot be fulfilled on {} {:?}: {storage}, AdditionalErrorMsg: {precondition}",
            key.kind.group_resource(),
            key.name.as_str()
        ),
        cause: None,
    }
}

/// Checks the uid precondition of a write; `stored` is empty if there is no object.
///
/// # Errors
/// The API server's conflict.
pub fn check_uid(key: &ObjectRef, asked: &str, stored: &str) -> Result<(), ApiError> {
    if asked.is_empty() || asked == stored {
        Ok(())
    } else {
        Err(other_uid(key, asked, stored))
    }
}

fn meta<'a>(value: &'a Value, field: &str) -> &'a str {
    value["metadata"][field].as_str().unwrap_or("")
}

impl ApiServer {
    /// Checks uid and resource version of an update before it is validated.
    pub fn check_preconditions(
        &mut self,
        origin: &Origin,
        value: &Value,
        old: &Object,
    ) -> Result<(), ApiError> {
        let (uid, version, stored) = (
            meta(value, "uid"),
            meta(value, "resourceVersion"),
            old.meta.uid.to_string(),
        );
        let error = if let Err(error) = check_uid(&old.key(), uid, &stored) {
            error
        } else if matches!(version, "" | "0") {
            if allows_unconditional_update(old.kind) {
                return Ok(());
            }
            let field = FieldError {
                field: "metadata.resourceVersion".into(),
                fault: ErrorType::Invalid,
                value: "0".into(),
                detail: "must be specified for an update".into(),
            };
            ApiError::invalid_fields(&old.kind.group_resource(), &old.meta.name, &[field])
        } else if version.parse() == Ok(old.meta.resource_version) {
            return Ok(());
        } else {
            ApiError::conflict(old.kind, &old.meta.name)
        };
        self.refuse(origin, old.key(), &error, Why::Asked);
        Err(error)
    }

    /// Creates the object of an update, if its kind allows that and the client is authorized to create.
    pub(super) fn create_on_update(
        &mut self,
        origin: &Origin,
        key: &ObjectRef,
        mut value: Value,
        why: Why,
    ) -> Result<Rc<Object>, ApiError> {
        if !allows_create_on_update(key.kind) {
            return Err(ApiError::absent(key));
        }
        self.authorize(origin, "create", key, "")?;
        check_uid(key, meta(&value, "uid"), "")?;
        if let Some(meta) = value["metadata"].as_object_mut() {
            meta.remove("resourceVersion");
        }
        self.create_value(origin, value, why)
    }
}
