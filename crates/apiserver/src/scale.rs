//! Scale subresource: the number of replicas, from the fields of each kind.
//!
//! Models `autoscaling/v1`, `pkg/registry/apps/*/storage` and `apiextensions-apiserver/pkg/registry/customresource/etcd.go`.

use super::definitions::{Definitions, ScalePaths, go_type};
use super::error::ApiError;
use super::label_selector;
use super::patch::Patch;
use super::server::{ApiServer, Origin};
use super::strategies::check_uid;
use super::validation::{ErrorType, FieldError};
use crate::why::Why;
use k8s_model::kind::Subresource;
use k8s_model::schema::json_type;
use k8s_model::selector::LabelSelector;
use k8s_model::{Kind, Object, ObjectRef};
use serde_json::{Map, Value, json};
use std::rc::Rc;

/// API version of a `Scale`.
pub const SCALE_VERSION: &str = "autoscaling/v1";

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

    /// Returns the scale of an object.
    ///
    /// # Errors
    /// The kind has no scale subresource, or the object has no number of replicas.
    pub fn of(definitions: &Definitions, object: &Object) -> Result<ObjectScale, ApiError> {
        if object.kind.is_custom() {
            let paths = scale_paths(definitions, &object.key())?;
            return ObjectScale::at(&paths, &object.to_value());
        }
        if !object.kind.info().has(Subresource::Scale) {
            return Err(ApiError::not_served());
        }
        Ok(ObjectScale::of_workload(&object.to_value()))
    }

    /// Returns the `Scale` of an object; fields that are zero are omitted.
    pub fn to_value(&self, object: &Object) -> Value {
        let meta = &object.to_value()["metadata"];
        let own = [
            "name",
            "namespace",
            "uid",
            "resourceVersion",
            "creationTimestamp",
        ];
        let meta: Map<String, Value> = own
            .iter()
            .map(|key| ((*key).to_owned(), meta[*key].clone()))
            .collect();
        let spec = match self.replicas {
            0 => json!({}),
            replicas => json!({ "replicas": replicas }),
        };
        let mut status = json!({ "replicas": self.status_replicas });
        if !self.selector.is_empty() {
            status["selector"] = self.selector.as_str().into();
        }
        json!({ "kind": "Scale", "apiVersion": SCALE_VERSION, "metadata": meta, "spec": spec, "status": status })
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

fn scale_paths(definitions: &Definitions, key: &ObjectRef) -> Result<ScalePaths, ApiError> {
    definitions
        .of(key.kind)
        .and_then(|definition| definition.version("").scale.clone())
        .ok_or_else(|| ApiError::not_found(key.kind, &key.name))
}

/// Returns the desired replicas of a `Scale`.
///
/// # Errors
/// Go's error for a value that is no int32.
pub(super) fn desired_replicas(scale: &Value) -> Result<i64, String> {
    let value = &scale["spec"]["replicas"];
    if value.is_null() {
        return Ok(0);
    }
    let number = value.as_i64().and_then(|number| i32::try_from(number).ok());
    number.map(i64::from).ok_or_else(|| {
        let found = json_type(value, true);
        format!(
            "json: cannot unmarshal {found} into Go struct field ScaleSpec.spec.replicas of type int32"
        )
    })
}

/// Returns the merge patch that sets the desired replicas of an object.
///
/// # Errors
/// The kind has no scale subresource.
pub(super) fn replicas_change(
    definitions: &Definitions,
    key: &ObjectRef,
    replicas: i64,
) -> Result<Value, ApiError> {
    let path = match key.kind {
        Kind::Custom(_) => scale_paths(definitions, key)?.replicas,
        _ => ".spec.replicas".into(),
    };
    let names = path.trim_start_matches('.').rsplit('.');
    Ok(names.fold(json!(replicas), |inner, name| json!({ name: inner })))
}

/// Refuses a `Scale` with another uid or resourceVersion than the stored object.
pub(super) fn check_scale_preconditions(stored: &Object, wanted: &Value) -> Result<(), ApiError> {
    let text = |field: &str| wanted["metadata"][field].as_str().unwrap_or("");
    check_uid(&stored.key(), text("uid"), &stored.meta.uid.to_string())?;
    let version = text("resourceVersion");
    if matches!(version, "" | "0") || version == stored.meta.resource_version.to_string() {
        return Ok(());
    }
    Err(ApiError::conflict(stored.kind, &stored.meta.name))
}

/// Converts a path such as `.spec.replicas` to a JSON pointer.
fn pointer(path: &str) -> String {
    path.replace('.', "/")
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
        match key.kind {
            Kind::Custom(_) => {}
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
            _ => {}
        }
        let change = replicas_change(&self.definitions, key, replicas)?;
        self.patch(origin, key, Subresource::Main, &Patch::merge(change), why)
    }
}
