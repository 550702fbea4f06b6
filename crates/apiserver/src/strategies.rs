//! Update strategies of each kind: updates without a resource version, and creation on update.
//!
//! Models `AllowUnconditionalUpdate` and `AllowCreateOnUpdate` of `pkg/registry/*/strategy.go`, and the preconditions of
//! `apiserver/pkg/registry/generic/registry/store.go`.

use super::error::{ApiError, StatusReason};
use super::server::ServerOptions;
use super::store::Store;
use super::validation::{ErrorType, FieldError};
use super::{definitions, namespace_strategy, pod_strategy, service_alloc};
use k8s_model::daemonset::TEMPLATE_GENERATION;
use k8s_model::kind::Precondition;
use k8s_model::storage::VolumeStatus;
use k8s_model::{Body, Kind, Object, ObjectRef};
use serde_json::Value;

/// Sets the fields of a new object that only the server sets, and allocates the addresses of a Service.
///
/// Models `PrepareForCreate` of `pkg/registry/*/strategy.go`.
pub(super) fn prepare_for_create(
    store: &mut Store,
    object: &mut Object,
    options: &ServerOptions,
) -> Result<(), ApiError> {
    match &mut object.body {
        Body::Pod(pod) => pod_strategy::prepare_for_create(
            pod,
            &object.meta.labels,
            store.wall(),
            options.toleration_seconds,
        ),
        Body::Service(_) => return service_alloc::allocate(store, object),
        Body::PersistentVolumeClaim(claim) => claim.status.phase = "Pending".into(),
        Body::PersistentVolume(volume) => {
            volume.status = VolumeStatus {
                phase: "Pending".into(),
                last_phase_transition_time: Some(store.wall()),
                ..VolumeStatus::default()
            };
        }
        Body::StatefulSet(set) => set.status.replicas = 0,
        Body::DaemonSet(set) => {
            set.status = Default::default();
            object.meta.annotate(TEMPLATE_GENERATION, "1");
        }
        Body::ReplicaSet(_)
        | Body::Deployment(_)
        | Body::Job(_)
        | Body::ControllerRevision(_)
        | Body::Endpoints(_)
        | Body::EndpointSlice(_)
        | Body::StorageClass(_)
        | Body::Node(_)
        | Body::Event(_) => {}
        Body::Other(_) => {
            if object.kind == Kind::Namespace {
                namespace_strategy::prepare_for_create(object);
            }
            if object.kind == Kind::CustomResourceDefinition {
                definitions::prepare_for_create(object);
            }
        }
    }
    Ok(())
}

/// Returns the key of an object in etcd.
fn storage_key(key: &ObjectRef) -> String {
    let info = key.kind.info();
    let directory = info.strategy.directory;
    let namespace = if info.namespaced {
        format!("{}/", key.namespace)
    } else {
        String::new()
    };
    format!("/registry/{directory}/{namespace}{}", key.name)
}

/// Returns the conflict of a write with another uid than the stored one.
fn other_uid(key: &ObjectRef, asked: &str, stored: &str) -> ApiError {
    let precondition =
        format!("Precondition failed: UID in precondition: {asked}, UID in object meta: {stored}");
    let storage = format!(
        "StorageError: invalid object, Code: 4, Key: {}, ResourceVersion: 0",
        storage_key(key)
    );
    let problem = format!("{storage}, AdditionalErrorMsg: {precondition}");
    ApiError::conflict_because(key.kind, &key.name, &problem)
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

/// Checks uid and resource version of an update before it is validated.
pub(super) fn check_preconditions(value: &Value, old: &Object) -> Result<(), ApiError> {
    let (uid, version, stored) = (
        meta(value, "uid"),
        meta(value, "resourceVersion"),
        old.meta.uid.to_string(),
    );
    let error = if let Err(error) = check_uid(&old.key(), uid, &stored) {
        error
    } else if matches!(version, "" | "0") {
        if old.kind.info().strategy.precondition == Precondition::Unconditional {
            return Ok(());
        }
        let field = FieldError {
            field: "metadata.resourceVersion".into(),
            fault: ErrorType::Invalid,
            value: "0".into(),
            detail: "must be specified for an update".into(),
        };
        ApiError::invalid_fields(&old.kind.group_resource(), &old.meta.name, &[field])
    } else if version.parse::<u64>().is_err() {
        ApiError {
            reason: StatusReason::Unknown,
            message: format!("strconv.ParseUint: parsing {version:?}: invalid syntax"),
            cause: None,
        }
    } else if version.parse() == Ok(old.meta.resource_version) {
        return Ok(());
    } else {
        ApiError::conflict(old.kind, &old.meta.name)
    };
    Err(error)
}
