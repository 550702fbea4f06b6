//! Scale subresource: the number of replicas, from the fields of each kind.
//!
//! Models `autoscaling/v1`, `pkg/registry/apps/*/storage` and `apiextensions-apiserver/pkg/registry/customresource/etcd.go`.

use super::definitions::{ScalePaths, go_type};
use super::error::{ApiError, StatusReason};
use super::label_selector;
use super::requests::Patch;
use super::server::{ApiServer, Origin};
use super::validation::{ErrorType, FieldError};
use crate::why::Why;
use k8s_model::selector::LabelSelector;
use k8s_model::{Kind, Object, ObjectRef};
use serde_json::{Value, json};
use std::rc::Rc;

/// Scale of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectScale {
    /// Desired replicas.
    pub replicas: i64,
    /// Actual replicas.
    pub status_replicas: i64,
    /// Label selector of the Pods; empty if there is none.
    pub selector: String,
}

impl ObjectScale {
    /// Parses the selector of the Pods.
    ///
    /// # Errors
    /// The parser's message.
    pub fn pod_selector(&self) -> Result<LabelSelector, String> {
        label_selector::read(&self.selector)
    }

    /// Returns the scale of a workload.
    fn of_workload(object: &Value) -> ObjectScale {
        let selector = LabelSelector::of_pods(&object["spec"]["selector"]);
        let replicas = |part: &str| object[part]["replicas"].as_i64().unwrap_or(0);
        ObjectScale {
            replicas: replicas("spec"),
            status_replicas: replicas("status"),
            selector: label_selector::show(&selector),
        }
    }

    /// Returns the scale of a custom object.
    fn at(paths: &ScalePaths, object: &Value) -> Result<ObjectScale, ApiError> {
        let at = |path: &str| object.pointer(&pointer(path));
        let missing = || {
            format!(
                "Internal error occurred: the spec replicas field {:?} does not exist",
                paths.replicas
            )
        };
        let replicas = at(&paths.replicas)
            .and_then(Value::as_i64)
            .ok_or_else(|| ApiError::internal(&missing()))?;
        let selector = if paths.selector.is_empty() {
            None
        } else {
            at(&paths.selector).and_then(Value::as_str)
        };
        let status_replicas = at(&paths.status_replicas)
            .and_then(Value::as_i64)
            .unwrap_or(0);
        Ok(ObjectScale {
            replicas,
            status_replicas,
            selector: selector.unwrap_or("").to_owned(),
        })
    }
}

/// Converts a path such as `.spec.replicas` to a JSON pointer.
fn pointer(path: &str) -> String {
    path.replace('.', "/")
}

/// Returns the error for a kind without a scale subresource.
fn not_served() -> ApiError {
    ApiError {
        reason: StatusReason::NotFound,
        message: "the server could not find the requested resource".into(),
        cause: None,
    }
}

/// Validates a replica count of a custom object, in its spec or in its status.
pub(super) fn validate_replicas_path(path: &str, object: &Value) -> Option<FieldError> {
    let value = object.pointer(&pointer(path))?;
    let invalid = |value: String, detail: String| FieldError {
        field: path.to_owned(),
        fault: ErrorType::Invalid,
        value,
        detail,
    };
    match value {
        Value::Number(number) if !number.is_f64() => {
            return number
                .as_i64()
                .filter(|n| *n < 0)
                .map(|n| invalid(n.to_string(), "should be a non-negative integer".into()));
        }
        Value::Null => return None,
        _ => {}
    }
    let kind = go_type(value);
    let shown = value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned);
    Some(invalid(
        "0".into(),
        format!("{path} accessor error: {shown} is of the type {kind}, expected int64"),
    ))
}

impl ApiServer {
    /// Returns the scale of an object.
    ///
    /// # Errors
    /// The kind has no scale subresource, or the object has no number of replicas.
    pub fn scale_of(&self, object: &Object) -> Result<ObjectScale, ApiError> {
        match object.kind {
            Kind::Deployment
            | Kind::ReplicaSet
            | Kind::StatefulSet
            | Kind::ReplicationController => Ok(ObjectScale::of_workload(&object.to_value())),
            Kind::Custom(_) => ObjectScale::at(&self.scale_paths(object.kind)?, &object.to_value()),
            _ => Err(not_served()),
        }
    }

    fn scale_paths(&self, kind: Kind) -> Result<ScalePaths, ApiError> {
        self.definitions
            .of(kind)
            .and_then(|definition| definition.version("").scale.clone())
            .ok_or_else(not_served)
    }

    /// Sets the desired replicas.
    ///
    /// # Errors
    /// The kind has no scale subresource, or the object would be invalid.
    pub fn scale(
        &mut self,
        origin: &Origin,
        key: &ObjectRef,
        replicas: i64,
        why: Why,
    ) -> Result<Rc<Object>, ApiError> {
        let paths = match key.kind {
            Kind::Custom(_) => self.scale_paths(key.kind)?,
            _ if replicas < 0 => {
                let field = FieldError {
                    field: "spec.replicas".into(),
                    fault: ErrorType::Invalid,
                    value: replicas.to_string(),
                    detail: "must be greater than or equal to 0".into(),
                };
                let error = ApiError::invalid_fields("Scale.autoscaling", &key.name, &[field]);
                self.refuse(origin, key.clone(), &error, why);
                return Err(error);
            }
            _ => ScalePaths {
                replicas: ".spec.replicas".into(),
                ..ScalePaths::default()
            },
        };
        let change = paths
            .replicas
            .trim_start_matches('.')
            .rsplit('.')
            .fold(json!(replicas), |inner, name| json!({ name: inner }));
        self.patch(origin, key, Patch::Merge, &change, why)
    }
}
