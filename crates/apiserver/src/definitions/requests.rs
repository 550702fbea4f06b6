//! Requests for custom objects: decoding, and the deletion of a definition.
//!
//! Models `apiextensions-apiserver/pkg/registry/customresource/{strategy,etcd}.go`.

use super::super::error::{ApiError, StatusReason};
use super::super::managers::{DuplicateField, Unknown};
use super::super::requests::reset_metadata;
use super::super::scale;
use super::super::server::{ApiServer, Origin};
use super::super::validation;
use super::{Definition, Definitions, rules, schema};
use crate::why::Why;
use k8s_model::{Body, Kind, Object, ObjectRef};
use serde_json::{Value, json};
use std::rc::Rc;

/// Returns the error for a resource that is not served.
fn gone() -> ApiError {
    ApiError {
        reason: StatusReason::NotFound,
        message: "the server could not find the requested resource".into(),
        cause: None,
    }
}

impl ApiServer {
    /// Returns the custom kinds.
    pub fn definitions(&self) -> &Definitions {
        &self.definitions
    }

    /// Returns true if a kind is served.
    pub fn serves(&self, kind: Kind) -> bool {
        self.definitions.serves(kind)
    }

    /// Returns the definition of a custom kind, or an error if it is not served.
    fn defined(&self, kind: Kind) -> Result<Rc<Definition>, ApiError> {
        self.definitions.of(kind).cloned().ok_or_else(gone)
    }

    /// Decodes a custom object: pruned, defaulted and validated, against the stored one if there is one.
    pub(crate) fn read_custom(
        &mut self,
        origin: &Origin,
        kind: Kind,
        mut value: Value,
        old: Option<&Rc<Object>>,
    ) -> Result<Object, ApiError> {
        let definition = self.defined(kind)?;
        match old {
            Some(old) => self.check_preconditions(origin, &value, old)?,
            None => reset_metadata(&mut value),
        }
        if definition.terminating && old.is_none() {
            let message =
                "create not allowed while custom resource definition is terminating".into();
            return Err(ApiError {
                reason: StatusReason::MethodNotAllowed,
                message,
                cause: None,
            });
        }
        let name = value["metadata"]["name"].as_str().unwrap_or("").to_owned();
        let asked = value["apiVersion"]
            .as_str()
            .and_then(|v| v.rsplit('/').next())
            .unwrap_or("");
        // A stored object carries the version that its kind was registered with, which means the preferred version.
        let version = definition.version(if old.is_some() && asked == kind.info().version {
            ""
        } else {
            asked
        });
        self.warnings
            .extend(version.deprecation.clone().filter(|_| old.is_none()));
        let unknown: Vec<String> = schema::prune(&version.schema, &mut value)
            .iter()
            .map(|path| format!("unknown field {path:?}"))
            .collect();
        let repeated = origin
            .manager
            .as_ref()
            .map(|manager| manager.repeated.clone())
            .unwrap_or_default();
        match origin
            .manager
            .as_ref()
            .map_or(Unknown::Refuse, |manager| manager.unknown)
        {
            Unknown::Refuse if !unknown.is_empty() || !repeated.is_empty() => {
                let (kind_name, all) = (
                    kind.name(),
                    DuplicateField::strict(&repeated, unknown).join(", "),
                );
                let message = format!(
                    "{kind_name} in version {:?} cannot be handled as a {kind_name}: strict decoding error: {all}",
                    version.name
                );
                return self.refused(origin, kind, &name, ApiError::bad_request(message));
            }
            Unknown::Warn => {
                self.warnings
                    .extend(repeated.iter().map(DuplicateField::to_string));
                self.warnings.extend(unknown);
            }
            _ => {}
        }
        value["apiVersion"] = kind.api_version().into();
        let before = old.map(|old| old.to_value());
        if version.status
            && let Some(map) = value.as_object_mut()
        {
            map.remove("status");
            if let Some(status) = before.as_ref().and_then(|before| before.get("status")) {
                map.insert("status".into(), status.clone());
            }
        }
        schema::drop_nulls(&version.schema, &mut value, 0);
        schema::default(&version.schema, &mut value, 0);
        let mut errors = validation::validate_metadata(&value);
        errors.extend(
            before
                .as_ref()
                .and_then(|before| validation::new_finalizers(&value, before)),
        );
        errors.extend(schema::validate(&version.schema, &value, before.as_ref()));
        if !version.rules.is_empty() {
            match rules::blocked(&errors) {
                Some(error) => errors.push(error),
                None => errors.extend(rules::broken(version, &value, before.as_ref())),
            }
        }
        errors.extend(
            version
                .scale
                .as_ref()
                .and_then(|scale| scale::validate_replicas_path(&scale.replicas, &value)),
        );
        if !errors.is_empty() {
            let error = ApiError::invalid_fields(&kind.group_kind(), &name, &errors);
            return self.refused(origin, kind, &name, error);
        }
        Object::from_value(kind, value).map_err(ApiError::bad_request)
    }

    fn refused(
        &mut self,
        origin: &Origin,
        kind: Kind,
        name: &str,
        error: ApiError,
    ) -> Result<Object, ApiError> {
        self.refuse(origin, ObjectRef::new(kind, "", name), &error, Why::Asked);
        Err(error)
    }

    /// Returns true if an update may change the status too.
    pub(crate) fn updates_status(&self, kind: Kind) -> bool {
        self.definitions
            .of(kind)
            .is_some_and(|definition| !definition.version("").status)
    }

    /// Decodes a write of the status subresource: the metadata is kept.
    pub(crate) fn read_custom_status(
        &mut self,
        origin: &Origin,
        mut value: Value,
        old: &Object,
    ) -> Result<Object, ApiError> {
        let kind = self.kind_of(&value)?;
        let (uid, version) = (
            value["metadata"]["uid"].take(),
            value["metadata"]["resourceVersion"].take(),
        );
        value["metadata"] = old.to_value()["metadata"].take();
        (
            value["metadata"]["uid"],
            value["metadata"]["resourceVersion"],
        ) = (uid, version);
        let definition = self.defined(kind)?;
        let version = definition.version("");
        if !version.status {
            return Err(gone());
        }
        schema::prune(&version.schema, &mut value);
        let errors = schema::validate(
            &version.schema["properties"]["status"],
            &value["status"],
            Some(&Value::Null),
        );
        let name = value["metadata"]["name"].as_str().unwrap_or("").to_owned();
        if !errors.is_empty() {
            let inner = |mut error: validation::FieldError| {
                error.field = format!("status.{}", error.field).replace("status.<nil>", "status");
                error
            };
            let errors: Vec<_> = errors.into_iter().map(inner).collect();
            let error = ApiError::invalid_fields(&kind.group_kind(), &name, &errors);
            return self.refused(origin, kind, &name, error);
        }
        Object::from_value(kind, value).map_err(ApiError::bad_request)
    }

    /// Marks a definition as terminating: its controller deletes the objects and then removes the finalizer.
    pub(crate) fn end_definition(&self, object: &mut Object) {
        object.meta.finalizers.push(super::CLEANUP.into());
        let condition = json!({
            "type": "Terminating", "status": "True", "reason": "InstanceDeletionPending",
            "message": "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
            "lastTransitionTime": self.wall().rfc3339(),
        });
        if let Body::Other(body) = &mut object.body
            && let Some(Value::Array(conditions)) = body
                .get_mut("status")
                .and_then(|status| status.get_mut("conditions"))
        {
            conditions.push(condition);
        }
    }
}
