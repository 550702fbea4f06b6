//! Client requests: creation from JSON, patches, deletion.

use super::error::{ApiError, StatusReason};
use super::managers::{DuplicateField, Unknown};
use super::server::{ApiServer, Origin};
use super::{defaults, managers, patch, validation};
use crate::why::Why;
use k8s_model::json::go;
use k8s_model::{Kind, Object, ObjectRef, schema, unknown_fields};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::rc::Rc;

/// Type of a patch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Patch {
    /// JSON patch, RFC 6902.
    Json,
    /// JSON merge patch, RFC 7386.
    Merge,
    /// Strategic merge patch: lists of objects are merged by key.
    Strategic,
}

impl Patch {
    /// Returns true if a patch changes a field or a part of it.
    fn concerns(self, change: &Value, field: &str) -> bool {
        if self != Patch::Json {
            return change.pointer(field).is_some();
        }
        let about = |operation: &Value| {
            let is = |place: &str| {
                operation[place]
                    .as_str()
                    .is_some_and(|path| path.starts_with(field))
            };
            is("path") || is("from")
        };
        change
            .as_array()
            .is_some_and(|operations| operations.iter().any(about))
    }

    /// Applies the patch to an object.
    pub fn merged(self, kind: Kind, mut object: Value, change: &Value) -> Result<Value, ApiError> {
        match self {
            Patch::Json => {
                // The API server gives no details about an operation that it cannot carry out.
                let rejected = |_| {
                    ApiError::invalid(
                        "the server rejected our request due to an error in our request".to_owned(),
                    )
                };
                patch::json_patch(&mut object, change).map_err(rejected)?;
                Ok(object)
            }
            Patch::Merge => {
                patch::merge_patch(&mut object, change);
                Ok(object)
            }
            Patch::Strategic if kind.is_custom() => Err(ApiError::unsupported_patch()),
            Patch::Strategic => {
                convertible(kind, change)?;
                patch::strategic_merge(kind.name(), &object, change).map_err(ApiError::bad_request)
            }
        }
    }
}

/// Checks the types of a strategic merge patch: its result is converted to the object.
fn convertible(kind: Kind, change: &Value) -> Result<(), ApiError> {
    let problems = schema::strict_errors(&kind.api_version(), kind.name(), change);
    let Some(reason) = problems.into_iter().find_map(|problem| problem.unconverted) else {
        return Ok(());
    };
    Err(ApiError::invalid(format!(
        "patch: Invalid value: \"{}\": {reason}",
        go(change)
    )))
}

/// Checks that a patch keeps name and namespace. Models `checkName` of the API server's handlers.
fn check_name(key: &ObjectRef, patched: &Value) -> Result<(), ApiError> {
    let text = |field: &str| patched["metadata"][field].as_str().unwrap_or("");
    let (namespace, name) = (text("namespace"), text("name"));
    let message = if name.is_empty() {
        format!(
            "the name of the object ({} based on URL) was undeterminable: name must be provided",
            key.name
        )
    } else if name != key.name.as_str() {
        format!(
            "the name of the object ({name}) does not match the name on the URL ({})",
            key.name
        )
    } else if !namespace.is_empty() && namespace != key.namespace.as_str() {
        format!(
            "the namespace of the object ({namespace}) does not match the namespace on the request ({})",
            key.namespace
        )
    } else {
        return Ok(());
    };
    Err(ApiError::bad_request(message))
}

/// Subresource that a request is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Subresource {
    /// Object without its status.
    #[default]
    Main,
    /// Status.
    Status,
    /// Number of replicas.
    Scale,
    /// Resources of a Pod's containers.
    Resize,
    /// Ephemeral containers of a running Pod.
    EphemeralContainers,
    /// Approval of a certificate signing request.
    Approval,
}

impl Subresource {
    /// Returns true for the object itself.
    pub fn is_main(&self) -> bool {
        *self == Subresource::Main
    }

    /// Returns the name in a path, empty for the object itself.
    pub fn word(self) -> &'static str {
        match self {
            Subresource::Main => "",
            Subresource::Status => "status",
            Subresource::Scale => "scale",
            Subresource::Resize => "resize",
            Subresource::EphemeralContainers => "ephemeralcontainers",
            Subresource::Approval => "approval",
        }
    }
}

impl ApiServer {
    /// Creates an object from a client's JSON: decoding, defaults and validation included.
    pub fn create_value(
        &mut self,
        origin: &Origin,
        value: Value,
        why: Why,
    ) -> Result<Rc<Object>, ApiError> {
        let object = self.read(origin, value, None)?;
        if object.meta.resource_version != 0 {
            let message = "resourceVersion should not be set on objects to be created".to_owned();
            let error = ApiError {
                reason: StatusReason::Unknown,
                message,
                cause: None,
            };
            self.refuse(origin, object.key(), &error, why);
            return Err(error);
        }
        let Some(manager) = &origin.manager else {
            return self.create(origin, object, why);
        };
        // The client does not manage fields that admission adds later.
        let fields = managers::Fields::Created(Rc::new(object.clone()));
        let origin = Origin {
            manager: managers::with_fields(manager, fields, false),
            ..origin.clone()
        };
        self.create(&origin, object, why)
    }

    /// Replaces an object by a client's JSON.
    pub fn update_value(
        &mut self,
        origin: &Origin,
        mut value: Value,
        why: Why,
    ) -> Result<Rc<Object>, ApiError> {
        let kind = self.kind_of(&value)?;
        let meta = |key: &str| {
            value
                .pointer(&format!("/metadata/{key}"))
                .and_then(Value::as_str)
                .unwrap_or("")
        };
        let key = ObjectRef::new(kind, or_default(meta("namespace")), meta("name"));
        let Some(old) = self.get(&key).cloned() else {
            return self.create_on_update(origin, &key, value, why);
        };
        let origin = self.with_given(origin, &key, &mut value);
        let object = self.read(&origin, value, Some(&old))?;
        self.update(&origin, object, why)
    }

    /// Patches an object.
    pub fn patch(
        &mut self,
        origin: &Origin,
        key: &ObjectRef,
        how: Patch,
        change: &Value,
        why: Why,
    ) -> Result<Rc<Object>, ApiError> {
        let Some(old) = self.get(key).cloned() else {
            return Err(ApiError::absent(key));
        };
        let mut current = old.to_value();
        if how.concerns(change, "/metadata/managedFields") {
            current["metadata"]["managedFields"] = self.managed_fields(key);
        }
        let mut patched = how.merged(key.kind, current, change)?;
        check_name(key, &patched)?;
        let origin = self.with_given(origin, key, &mut patched);
        let object = self.read(&origin, patched, Some(&old))?;
        self.update(&origin, object, why)
    }

    /// Patches an object or a subresource of it.
    pub fn patch_part(
        &mut self,
        origin: &Origin,
        key: &ObjectRef,
        part: Subresource,
        (how, change): (Patch, &Value),
        why: Why,
    ) -> Result<Rc<Object>, ApiError> {
        if part == Subresource::Main {
            return self.patch(origin, key, how, change, why);
        }
        let Some(old) = self.get(key).cloned() else {
            return Err(ApiError::absent(key));
        };
        let patched = how.merged(key.kind, old.to_value(), change)?;
        check_name(key, &patched)?;
        if matches!(part, Subresource::Status | Subresource::Approval) {
            let object = self.read_part(origin, part, patched, &old)?;
            return self.update_status(origin, object, why);
        }
        if let Some(problem) =
            schema::type_error(&key.kind.api_version(), key.kind.name(), &patched)
        {
            return Err(ApiError::bad_request(problem));
        }
        match part {
            Subresource::Scale => {
                let replicas = patched["spec"]["replicas"].as_i64().unwrap_or(0);
                self.scale(origin, key, replicas, why)
            }
            Subresource::EphemeralContainers => self.set_ephemeral(origin, &old, patched, why),
            _ => self.resize(origin, &old, patched, why),
        }
    }

    /// Decodes a write of the status or another subresource into a full object.
    pub(super) fn read_part(
        &mut self,
        origin: &Origin,
        part: Subresource,
        mut value: Value,
        old: &Rc<Object>,
    ) -> Result<Object, ApiError> {
        if old.kind.is_custom() {
            return self.read_custom_status(origin, value, old);
        }
        if let Some(problem) = schema::type_error(&old.kind.api_version(), old.kind.name(), &value)
        {
            return Err(ApiError::bad_request(problem));
        }
        if old.kind == Kind::CertificateSigningRequest {
            self.check_decision(origin, part, old, &mut value)?;
        }
        Object::from_value(old.kind, value).map_err(ApiError::bad_request)
    }

    /// Sets name and uid of a Job before its validation, since its selector and its Pods' labels contain them.
    fn identify_job(&mut self, value: &mut Value) {
        let uid = self.rng.uid().to_string();
        let Some(meta) = value.get_mut("metadata").and_then(Value::as_object_mut) else {
            return;
        };
        let text = |key: &str| meta.get(key).and_then(Value::as_str).unwrap_or("");
        if text("name").is_empty() && !text("generateName").is_empty() {
            let name = text("generateName").to_owned() + &self.rng.suffix();
            meta.insert("name".into(), name.into());
        }
        meta.insert("uid".into(), uid.as_str().into());
        defaults::prepare_job(value, &uid);
    }

    /// Decodes, defaults and validates an object, against the stored one if there is one.
    pub(super) fn read(
        &mut self,
        origin: &Origin,
        mut value: Value,
        old: Option<&Rc<Object>>,
    ) -> Result<Object, ApiError> {
        // A stored custom object names the version that it was stored with, which may not be served any more.
        let stored = old.map(|old| old.kind).filter(|kind| {
            kind.is_custom()
                && value["apiVersion"] == *kind.api_version()
                && value["kind"] == kind.name()
        });
        let kind = stored.map_or_else(|| self.kind_of(&value), Ok)?;
        let name = value
            .pointer("/metadata/name")
            .and_then(Value::as_str)
            .unwrap_or("")
            .to_string();
        if kind.is_custom() {
            return self.read_custom(origin, kind, value, old);
        }
        let unknown = origin
            .manager
            .as_ref()
            .map_or(Unknown::Refuse, |m| m.unknown);
        let repeated = origin
            .manager
            .as_ref()
            .map(|manager| manager.repeated.clone())
            .unwrap_or_default();
        if unknown == Unknown::Warn {
            self.warnings
                .extend(repeated.iter().map(DuplicateField::to_string));
        }
        if unknown != Unknown::Refuse {
            let dropped = unknown_fields::drop(&kind.api_version(), kind.name(), &mut value);
            self.warnings
                .extend(dropped.into_iter().filter(|_| unknown == Unknown::Warn));
        }
        self.warnings.extend(kind.deprecation().map(str::to_owned));
        // Strict decoding: unknown fields and wrong types are refused before anything else is checked.
        let strict = |problems| {
            if unknown == Unknown::Refuse {
                DuplicateField::strict(&repeated, problems)
            } else {
                problems
            }
        };
        if let Some(message) =
            schema::strict_decode_error(&kind.api_version(), kind.name(), &value, strict)
        {
            let error = ApiError::bad_request(message);
            self.refuse(origin, ObjectRef::new(kind, "", &name), &error, Why::Asked);
            return Err(error);
        }
        if let Some(old) = old {
            self.check_preconditions(origin, &value, old)?;
        }
        if old.is_none()
            && let Some(map) = value.as_object_mut()
        {
            reset_on_create(kind, map);
        }
        if let (Kind::Service, Some(old)) = (kind, old) {
            super::services::settle(&mut value, &old.to_value());
        }
        defaults::apply_defaults(&mut value);
        if let (Kind::Pod, Some(old)) = (kind, old) {
            defaults::admit_pod_update(&mut value, &old.to_value(), self.toleration_seconds);
        }
        if let Err(error) = self.check_grant(origin, &value) {
            let namespace = value
                .pointer("/metadata/namespace")
                .and_then(Value::as_str)
                .unwrap_or("");
            self.refuse(
                origin,
                ObjectRef::new(kind, namespace, &name),
                &error,
                Why::Asked,
            );
            return Err(error);
        }
        if let (Kind::StatefulSet, false) = (kind, self.max_unavailable_statefulset)
            && let Some(Value::Object(rolling)) =
                value.pointer_mut("/spec/updateStrategy/rollingUpdate")
        {
            rolling.remove("maxUnavailable");
        }
        if kind == Kind::CertificateSigningRequest && old.is_none() {
            super::certificates::note_requester(origin, &mut value);
        }
        if kind == Kind::Job && old.is_none() {
            self.identify_job(&mut value);
        }
        if old.is_none() {
            self.fill_limits(kind, &mut value);
        }
        let mut errors = match old {
            None => validation::validate_create(&value),
            Some(old) => validation::validate_update(&value, &old.to_value()),
        };
        if errors.is_empty() {
            errors = self.warn_of_security(origin, kind, &value, old.map(|old| &**old));
        }
        if !errors.is_empty() {
            let error = ApiError::invalid_fields(&kind.group_kind(), &name, &errors);
            self.refuse(origin, ObjectRef::new(kind, "", &name), &error, Why::Asked);
            return Err(error);
        }
        let mut object = Object::from_value(kind, value).map_err(|e| {
            ApiError::bad_request(format!(
                "{} in version {:?} cannot be handled as a {}: {e}",
                kind.name(),
                kind.info().version,
                kind.name()
            ))
        })?;
        if let Some(old) = old {
            self.admit_update(&mut object, old)?;
        }
        Ok(object)
    }
}

impl ApiServer {
    /// Returns the kind of a client's JSON.
    pub(super) fn kind_of(&self, value: &Value) -> Result<Kind, ApiError> {
        let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or("");
        let found = self.definitions.named(text("apiVersion"), text("kind"));
        found.ok_or_else(|| {
            ApiError::bad_request(format!(
                "no matches for kind {:?} in version {:?}",
                text("kind"),
                text("apiVersion")
            ))
        })
    }
}

fn or_default(namespace: &str) -> &str {
    if namespace.is_empty() {
        "default"
    } else {
        namespace
    }
}

/// Resets fields that a client may not set on creation.
fn reset_on_create(kind: Kind, map: &mut serde_json::Map<String, Value>) {
    if !matches!(kind, Kind::Node | Kind::Namespace | Kind::PersistentVolume) {
        map.remove("status");
    }
    if let Some(meta) = map.get_mut("metadata") {
        reset_fields(meta);
    }
}

/// Resets metadata that a client may not set on creation.
pub(super) fn reset_metadata(value: &mut Value) {
    if let Some(meta) = value.get_mut("metadata") {
        reset_fields(meta);
    }
}

fn reset_fields(meta: &mut Value) {
    if let Some(meta) = meta.as_object_mut() {
        for field in [
            "uid",
            "creationTimestamp",
            "deletionTimestamp",
            "deletionGracePeriodSeconds",
            "generation",
            "managedFields",
            "selfLink",
        ] {
            meta.remove(field);
        }
    }
}
