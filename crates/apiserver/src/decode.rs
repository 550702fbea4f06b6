//! Decoding of a client's JSON to an object: strict decoding, defaults, and validation against the stored object.
//!
//! Models `apiserver/pkg/endpoints/handlers/{create,update}.go`, the strategies of `pkg/registry`, and for custom objects
//! `apiextensions-apiserver/pkg/registry/customresource/{strategy,etcd}.go`.

use super::admission::calls::WebhookExchange;
use super::admission::dispatcher::Dispatcher;
use super::admission::webhooks::AdmissionPlugins;
use super::admission::{
    self, AdmissionRequest, limit_ranger, persistent_volume_claim_resize, pod_security,
};
use super::authorizer::Authorizer;
use super::control_loop;
use super::definitions::{Definition, Definitions, rules, schema as custom_schema};
use super::error::{ApiError, StatusReason};
use super::managers::{DuplicateField, Unknown};
use super::server::{Origin, ServerOptions};
use super::store::Store;
use super::{certificates, defaults, scale, service_alloc, services, strategies, validation};
use crate::why::Why;
use k8s_model::kind::Subresource;
use k8s_model::{Kind, Object, ObjectRef, schema, unknown_fields};
use serde_json::Value;
use std::rc::Rc;

/// Decoder of objects that clients write. Refusals are recorded in the journal.
pub(super) struct Decoder<'a> {
    pub store: &'a mut Store,
    pub definitions: &'a Definitions,
    pub options: &'a ServerOptions,
    pub plugins: &'a AdmissionPlugins,
    pub exchange: &'a mut WebhookExchange,
    /// Warnings for the client.
    pub warnings: &'a mut Vec<String>,
}

/// Object that a client submitted.
pub(super) struct Decoded {
    /// Object to store, after the admission that precedes validation.
    pub object: Object,
    /// Object as submitted, with defaults, if it differs: the client manages its fields.
    pub submitted: Option<Object>,
}

impl Decoder<'_> {
    /// Decodes, defaults and validates an object, against the stored one if there is one.
    pub fn object(
        &mut self,
        origin: &Origin,
        mut value: Value,
        old: Option<&Rc<Object>>,
    ) -> Result<Decoded, ApiError> {
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
            return self.custom_object(origin, kind, value, old);
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
            self.store
                .refuse(origin, ObjectRef::new(kind, "", &name), &error, Why::Asked);
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
        let mut submitted = None;
        if let (Kind::Service, Some(old)) = (kind, old) {
            let mut plain = value.clone();
            defaults::apply_defaults(&mut plain);
            submitted = Some(plain);
            services::settle(&mut value, &old.to_value());
        }
        defaults::apply_defaults(&mut value);
        if let (Kind::Pod, Some(old)) = (kind, old) {
            defaults::admit_pod_update(
                &mut value,
                &old.to_value(),
                self.options.toleration_seconds,
            );
        }
        if let Err(error) =
            Authorizer::new(self.store).check_grant(origin.user.as_deref(), kind, &value)
        {
            let namespace = value
                .pointer("/metadata/namespace")
                .and_then(Value::as_str)
                .unwrap_or("");
            self.store.refuse(
                origin,
                ObjectRef::new(kind, namespace, &name),
                &error,
                Why::Asked,
            );
            return Err(error);
        }
        if let (Kind::StatefulSet, false) = (kind, self.options.max_unavailable_statefulset)
            && let Some(Value::Object(rolling)) =
                value.pointer_mut("/spec/updateStrategy/rollingUpdate")
        {
            rolling.remove("maxUnavailable");
        }
        if let Some(mutated) = self.mutated(origin, kind, &value, old)? {
            submitted.get_or_insert(value);
            value = mutated;
        }
        if kind == Kind::CertificateSigningRequest && old.is_none() {
            certificates::note_requester(origin, &mut value);
        }
        if kind == Kind::Job && old.is_none() {
            self.identify_job(&mut value);
        }
        if old.is_none() && limit_ranger::has_ranges(self.store, kind, &value) {
            submitted.get_or_insert_with(|| value.clone());
            limit_ranger::fill_defaults(self.store, kind, &mut value);
        }
        let mut errors = match old {
            None => validation::validate_create(kind, &value),
            Some(old) => validation::validate_update(kind, &value, &old.to_value()),
        };
        if errors.is_empty() && (kind == Kind::Namespace || origin.manager.is_some()) {
            let old = old.map(|old| &**old);
            errors = pod_security::warn(self.store, self.warnings, kind, &value, old);
        }
        if !errors.is_empty() {
            let error = match old {
                None => self.refused_by_admission(kind, &value),
                Some(_) => None,
            };
            let error = error
                .unwrap_or_else(|| ApiError::invalid_fields(&kind.group_kind(), &name, &errors));
            self.store
                .refuse(origin, ObjectRef::new(kind, "", &name), &error, Why::Asked);
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
            if kind == Kind::Service {
                service_alloc::allocate(self.store, &mut object)?;
            }
            persistent_volume_claim_resize::validate(self.store, &object, old)?;
        }
        let submitted = submitted.and_then(|value| Object::from_value(kind, value).ok());
        Ok(Decoded { object, submitted })
    }

    /// Passes an object through mutating admission, which precedes validation, if a webhook or a policy of a cluster takes part in it;
    /// returns the object if it was changed. Otherwise the stock plugins admit it later.
    fn mutated(
        &mut self,
        origin: &Origin,
        kind: Kind,
        value: &Value,
        old: Option<&Rc<Object>>,
    ) -> Result<Option<Value>, ApiError> {
        if self.plugins.is_empty() {
            return Ok(None);
        }
        let Ok(mut object) = Object::from_value(kind, value.clone()) else {
            return Ok(None);
        };
        if kind.info().namespaced && object.meta.namespace.is_empty() {
            object.meta.namespace = "default".into();
        }
        let before = object.clone();
        let manager = origin.manager.as_ref();
        let request = AdmissionRequest {
            operation: if old.is_some() { "UPDATE" } else { "CREATE" },
            subresource: manager.map_or(Subresource::Main, |manager| manager.subresource),
            object: &before,
            old: old.map(|old| &**old),
            api_version: None,
        };
        let mut dispatcher = Dispatcher {
            plugins: self.plugins,
            store: self.store,
            definitions: self.definitions,
            exchange: self.exchange,
            warnings: self.warnings,
            origin,
        };
        if !dispatcher.mutates(request) {
            return Ok(None);
        }
        let mut result = Ok(());
        if old.is_none() {
            result = admission::check_namespace(dispatcher.store, &object)
                .and_then(|()| admission::admit(dispatcher.store, &mut object));
        }
        let request = AdmissionRequest {
            object: &object,
            ..request
        };
        let result = result.and_then(|()| dispatcher.mutate(request));
        match result {
            Ok(mutated) => {
                let object = mutated.as_ref().unwrap_or(&object);
                Ok((*object != before).then(|| object.to_value()))
            }
            Err(error) => {
                let key = ObjectRef::new(kind, &before.meta.namespace, &before.meta.name);
                self.store.refuse(origin, key, &error, Why::Asked);
                Err(error)
            }
        }
    }

    /// Returns the refusal of an invalid new object by mutating admission, which precedes validation.
    fn refused_by_admission(&mut self, kind: Kind, value: &Value) -> Option<ApiError> {
        let mut object = Object::from_value(kind, value.clone()).ok()?;
        if kind.info().namespaced && object.meta.namespace.is_empty() {
            object.meta.namespace = "default".into();
        }
        admission::check_namespace(self.store, &object)
            .and_then(|()| admission::admit(self.store, &mut object))
            .err()
    }

    /// Decodes a write of the status or another subresource into a full object.
    pub fn subresource(
        &mut self,
        origin: &Origin,
        subresource: Subresource,
        mut value: Value,
        old: &Rc<Object>,
    ) -> Result<Object, ApiError> {
        if old.kind.is_custom() {
            return self.custom_status(origin, value, old);
        }
        if let Some(problem) = schema::type_error(&old.kind.api_version(), old.kind.name(), &value)
        {
            return Err(ApiError::bad_request(problem));
        }
        if old.kind == Kind::Service {
            defaults::apply_defaults(&mut value);
        }
        if old.kind == Kind::CertificateSigningRequest {
            let wall = self.store.wall();
            if let Err(error) = certificates::check_decision(subresource, old, &mut value, wall) {
                self.store.refuse(origin, old.key(), &error, Why::Asked);
                return Err(error);
            }
        }
        let mut errors = validation::validate_metadata_update(old.kind, &value, &old.to_value());
        if matches!(subresource, Subresource::Status | Subresource::Approval) {
            errors.extend(validation::validate_status(old.kind, &value));
        }
        if !errors.is_empty() {
            let name = &old.meta.name;
            let error = ApiError::invalid_fields(&old.kind.group_kind(), name, &errors);
            return self.refused(origin, old.kind, name, error);
        }
        Object::from_value(old.kind, value).map_err(ApiError::bad_request)
    }

    /// Refuses a value that was not made from the stored version of its object.
    fn check_preconditions(
        &mut self,
        origin: &Origin,
        value: &Value,
        old: &Object,
    ) -> Result<(), ApiError> {
        let result = strategies::check_preconditions(value, old);
        if let Err(error) = &result {
            self.store.refuse(origin, old.key(), error, Why::Asked);
        }
        result
    }

    /// Sets name and uid of a Job before its validation, since its selector and its Pods' labels contain them.
    fn identify_job(&mut self, value: &mut Value) {
        let uid = self.store.rng.uid().to_string();
        let Some(meta) = value.get_mut("metadata").and_then(Value::as_object_mut) else {
            return;
        };
        let text = |key: &str| meta.get(key).and_then(Value::as_str).unwrap_or("");
        if text("name").is_empty() && !text("generateName").is_empty() {
            let name = self.store.generate_name(text("generateName"));
            meta.insert("name".into(), name.as_str().into());
        }
        meta.insert("uid".into(), uid.as_str().into());
        defaults::prepare_job(value, &uid);
    }

    /// Returns the kind of a client's JSON.
    pub fn kind_of(&self, value: &Value) -> Result<Kind, ApiError> {
        let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or("");
        let (api_version, kind) = (text("apiVersion"), text("kind"));
        let found = self.definitions.named(api_version, kind);
        found.ok_or_else(|| ApiError::no_matches(api_version, kind))
    }

    /// Returns the definition of a custom kind, or an error if it is not served.
    fn defined(&self, kind: Kind) -> Result<Rc<Definition>, ApiError> {
        self.definitions
            .of(kind)
            .cloned()
            .ok_or_else(ApiError::not_served)
    }

    /// Decodes a custom object: pruned, defaulted and validated, against the stored one if there is one.
    fn custom_object(
        &mut self,
        origin: &Origin,
        kind: Kind,
        mut value: Value,
        old: Option<&Rc<Object>>,
    ) -> Result<Decoded, ApiError> {
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
        let unknown: Vec<String> = custom_schema::prune(&version.schema, &mut value)
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
                self.refused(origin, kind, &name, ApiError::bad_request(message))?;
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
        custom_schema::drop_nulls(&version.schema, &mut value, 0);
        custom_schema::default(&version.schema, &mut value, 0);
        let mut submitted = None;
        if let Some(mutated) = self.mutated(origin, kind, &value, old)? {
            submitted = Object::from_value(kind, value).ok();
            value = mutated;
        }
        let mut errors = validation::validate_metadata(kind, &value);
        errors.extend(
            before
                .as_ref()
                .and_then(|before| validation::new_finalizers(&value, before)),
        );
        errors.extend(custom_schema::validate(
            &version.schema,
            &value,
            before.as_ref(),
        ));
        if !version.rules.is_empty() {
            match rules::blocked(&errors) {
                Some(error) => errors.push(error),
                None => errors.extend(rules::broken(version, &value, before.as_ref())),
            }
        }
        if errors.is_empty() && control_loop::is_control_loop(kind) {
            errors.extend(control_loop::validate(&value));
        }
        errors.extend(
            version
                .scale
                .as_ref()
                .and_then(|scale| scale::validate_replicas_path(&scale.replicas, &value)),
        );
        if !errors.is_empty() {
            let error = ApiError::invalid_fields(&kind.group_kind(), &name, &errors);
            self.refused(origin, kind, &name, error)?;
        }
        let object = Object::from_value(kind, value).map_err(ApiError::bad_request)?;
        Ok(Decoded { object, submitted })
    }

    fn refused(
        &mut self,
        origin: &Origin,
        kind: Kind,
        name: &str,
        error: ApiError,
    ) -> Result<Object, ApiError> {
        self.store
            .refuse(origin, ObjectRef::new(kind, "", name), &error, Why::Asked);
        Err(error)
    }

    /// Decodes a write of the status subresource: the metadata is kept.
    fn custom_status(
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
            return Err(ApiError::not_found(kind, &old.meta.name));
        }
        let unknown = custom_schema::prune(&version.schema, &mut value);
        let manager = origin.manager.as_ref();
        if manager.is_some_and(|manager| manager.unknown == Unknown::Warn) {
            let unknown = unknown.iter().map(|path| format!("unknown field {path:?}"));
            self.warnings.extend(unknown);
        }
        let errors = custom_schema::validate(
            &version.schema["properties"]["status"],
            &value["status"],
            Some(&Value::Null),
        );
        let name = value["metadata"]["name"].as_str().unwrap_or("").to_owned();
        let inner = |mut error: validation::FieldError| {
            error.field = format!("status.{}", error.field).replace("status.<nil>", "status");
            error
        };
        let mut errors: Vec<_> = errors.into_iter().map(inner).collect();
        let scale = version.scale.as_ref();
        errors.extend(
            scale.and_then(|scale| scale::validate_replicas_path(&scale.status_replicas, &value)),
        );
        if !version.rules.is_empty() {
            match rules::blocked(&errors) {
                Some(error) => errors.push(error),
                None => errors.extend(rules::broken(version, &value, Some(&old.to_value()))),
            }
        }
        if !errors.is_empty() {
            let error = ApiError::invalid_fields(&kind.group_kind(), &name, &errors);
            return self.refused(origin, kind, &name, error);
        }
        Object::from_value(kind, value).map_err(ApiError::bad_request)
    }
}

/// Resets fields that a client may not set on creation.
fn reset_on_create(kind: Kind, map: &mut serde_json::Map<String, Value>) {
    if !matches!(kind, Kind::Node | Kind::Namespace | Kind::PersistentVolume) {
        map.remove("status");
    }
    if let Some(meta) = map.get_mut("metadata") {
        let generation = meta["generation"].take();
        reset_fields(meta);
        // Of kinds without generations it is validated.
        if !kind.has_generation() && generation.as_i64().is_some_and(|number| number < 0) {
            meta["generation"] = generation;
        }
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
