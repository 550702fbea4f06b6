//! Store and write path of the API server.
//!
//! Guarantees: `resourceVersion` grows with every write; an update without changes is not written;
//! `uid` and `creationTimestamp` never change; `generation` counts changes of the spec; an object with
//! finalizers outlives its deletion until the last one is gone.
//! Models `staging/src/k8s.io/apiserver/pkg/registry/generic/registry/store.go`.

use super::admission::calls::WebhookExchange;
use super::admission::dispatcher::Dispatcher;
use super::admission::webhooks::AdmissionPlugins;
use super::admission::{self, AdmissionRequest, limit_ranger, pod_security, resource_quota};
use super::authorizer::UserInfo;
use super::definitions::Definitions;
use super::error::{ApiError, StatusReason};
use super::managers::Manager;
use super::namespace_strategy::{self, is_held};
use super::parts::{keep_spec, keep_status, spec_changed};
use super::registry::resource;
use super::store::Store;
use super::{strategies, validation};
use crate::journal::{Actor, EntryId, Op};
use crate::why::{ProgramCall, Why};
use k8s_model::daemonset::TEMPLATE_GENERATION;
use k8s_model::kind::Subresource;
use k8s_model::{Body, Kind, Object, ObjectRef, Str, Timestamp};
use serde_json::Value;
use std::rc::Rc;

/// Maximum number of Pods: a typo must not fill the memory of the page.
const MAX_PODS: usize = 200_000;
/// Attempts to generate an unused name (RetryGenerateName, GA in v1.32).
const MAX_NAME_TRIES: usize = 8;

/// Validation that an object has passed already.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Validated {
    /// None.
    Never,
    /// That of the decoder.
    Decoded,
}

/// Origin of a request.
#[derive(Clone, Debug)]
pub struct Origin {
    /// Component or person that acts.
    pub actor: Actor,
    /// Journal entry that woke the actor.
    pub cause: Option<EntryId>,
    /// Number of the reconcile pass.
    pub pass: u32,
    /// The field manager, if it differs from the actor.
    pub manager: Option<Rc<Manager>>,
    /// Impersonated user; `None` for unrestricted access.
    pub user: Option<Rc<UserInfo>>,
    /// Call of a program that makes the request: the reason of the write.
    pub call: Option<Rc<ProgramCall>>,
}

impl Origin {
    /// Returns the origin of a person's request that no entry of the journal caused.
    pub fn user() -> Origin {
        Origin::new(Actor::USER, None, 0)
    }

    /// Returns the subresource that the client writes.
    fn subresource(&self) -> Subresource {
        let manager = self.manager.as_ref();
        manager.map_or(Subresource::Main, |manager| manager.subresource)
    }

    /// Returns the origin of an actor's writes in a pass, under its own name and with unrestricted access.
    pub fn new(actor: Actor, cause: Option<EntryId>, pass: u32) -> Origin {
        Origin {
            actor,
            cause,
            pass,
            manager: None,
            user: None,
            call: None,
        }
    }
}

/// API server: the store, and the stages that a write passes on its way there.
#[derive(Clone, Debug)]
pub struct ApiServer {
    /// Objects and their history.
    pub store: Store,
    /// Custom kinds.
    pub(super) definitions: Definitions,
    /// Webhooks and policies.
    pub(super) admission_plugins: AdmissionPlugins,
    /// Calls of webhooks and their answers.
    pub webhooks: WebhookExchange,
    /// Options of the server.
    pub options: ServerOptions,
    /// Injected conflicts: writes of controllers to be refused once.
    pub conflicts: Vec<fault::ResolvedTarget>,
    /// Warnings for the client whose request is being served.
    pub(super) warnings: Vec<String>,
    /// Specs that need not be validated again.
    valid_pod_specs: validation::ValidPodSpecs,
}

/// Options of an API server.
#[derive(Clone, Copy, Debug)]
pub struct ServerOptions {
    /// Default toleration of a node that is not ready or not reachable, in seconds.
    pub toleration_seconds: i64,
    /// True if StatefulSets honour `maxUnavailable`: the feature gate `MaxUnavailableStatefulSet`.
    pub max_unavailable_statefulset: bool,
}

impl Default for ServerOptions {
    fn default() -> ServerOptions {
        ServerOptions {
            toleration_seconds: 300,
            max_unavailable_statefulset: false,
        }
    }
}

impl ApiServer {
    /// Creates an empty cluster whose time 0 is `epoch`.
    pub fn new(epoch: Timestamp, seed: u64) -> ApiServer {
        ApiServer {
            store: Store::new(epoch, seed),
            definitions: Definitions::default(),
            admission_plugins: AdmissionPlugins::default(),
            webhooks: WebhookExchange::default(),
            options: ServerOptions::default(),
            conflicts: Vec::new(),
            warnings: Vec::new(),
            valid_pod_specs: validation::ValidPodSpecs::default(),
        }
    }

    /// Returns the custom kinds.
    pub fn definitions(&self) -> &Definitions {
        &self.definitions
    }

    /// Returns true if the cluster has admission webhooks.
    pub fn has_webhooks(&self) -> bool {
        self.admission_plugins.has_webhooks()
    }

    /// Stores a new object that a component has built. Its fields must be defaulted; admission, validation and metadata are handled here.
    pub fn create(
        &mut self,
        origin: &Origin,
        object: Object,
        why: Why,
    ) -> Result<Rc<Object>, ApiError> {
        self.admit_and_store(origin, object, Validated::Never, why)
    }

    /// Stores a new object after its decoding.
    pub(super) fn admit_and_store(
        &mut self,
        origin: &Origin,
        mut object: Object,
        validated: Validated,
        why: Why,
    ) -> Result<Rc<Object>, ApiError> {
        if let Err(error) = self.prepare_create(origin, &mut object, validated) {
            self.refuse(origin, object.key(), &error, why);
            return Err(error);
        }
        Ok(self.commit(origin, Op::Added, object, None, why))
    }

    /// Takes a new object through admission and validation, in the order of `handlers/create.go` and `Store.Create`: mutating admission,
    /// strategy, validation, validating admission with quotas, and what the storage refuses.
    fn prepare_create(
        &mut self,
        origin: &Origin,
        object: &mut Object,
        validated: Validated,
    ) -> Result<(), ApiError> {
        if !object.kind.is_stored() {
            return Err(ApiError::not_writable());
        }
        let info = object.kind.info();
        let meta = &mut object.meta;
        if !info.namespaced {
            meta.namespace = Str::default();
        } else if meta.namespace.is_empty() {
            meta.namespace = "default".into();
        }
        let generated = meta.name.is_empty() && !meta.generate_name.is_empty();
        let mut taken = !generated && self.store.get(&object.key()).is_some();
        for _ in 0..if generated { MAX_NAME_TRIES } else { 0 } {
            object.meta.name = self.store.generate_name(&object.meta.generate_name);
            taken = self.store.get(&object.key()).is_some();
            if !taken {
                break;
            }
        }
        let meta = &mut object.meta;
        if meta.uid.0 == 0 {
            meta.uid = self.store.rng.uid();
        }
        meta.creation_timestamp = Some(self.store.wall());
        meta.deletion_timestamp = None;
        meta.generation = i64::from(object.kind.has_generation());
        admission::check_namespace(&self.store, object)?;
        if object.kind == Kind::Pod && self.store.count(Kind::Pod) >= MAX_PODS {
            let name = object.meta.name.as_str();
            return Err(ApiError::forbidden(format!(
                "pods {name:?} is forbidden: this cluster holds at most {MAX_PODS} Pods"
            )));
        }
        admission::admit(&mut self.store, object)?;
        if validated == Validated::Never {
            self.mutate_new(origin, object, generated)?;
        }
        strategies::prepare_for_create(&mut self.store, object, &self.options)?;
        if validated == Validated::Never && origin.actor != Actor::SERVER {
            self.valid_pod_specs.check_new(object)?;
        }
        pod_security::validate(&self.store, object)?;
        let request = AdmissionRequest {
            operation: "CREATE",
            subresource: Subresource::Main,
            object,
            old: None,
            api_version: None,
        };
        self.dispatcher(origin).validate(request)?;
        self.charge_quotas(origin, object, None)?;
        if validated == Validated::Decoded {
            check_size(object)?;
        }
        if object.meta.resource_version != 0 {
            return Err(ApiError::version_of_new_object());
        }
        if taken {
            let stored = self.store.get(&object.key());
            return Err(if generated {
                ApiError::no_unique_name(object.kind, &object.meta.name)
            } else if stored.is_some_and(|stored| stored.meta.is_deleting()) {
                ApiError::still_exists(object.kind, &object.meta.name)
            } else {
                ApiError::already_exists(object.kind, &object.meta.name)
            });
        }
        Ok(())
    }

    /// Charges an object to the quotas of its namespace, or the growth of an object that is updated.
    fn charge_quotas(
        &mut self,
        origin: &Origin,
        object: &Object,
        old: Option<&Object>,
    ) -> Result<(), ApiError> {
        let charges = resource_quota::charges(&self.store, object, old)?;
        let origin = Origin {
            actor: Actor::SERVER,
            ..origin.clone()
        };
        for charge in charges {
            let why = Why::QuotaCharged {
                object: object.key().to_string().into(),
            };
            self.update_status(&origin, charge.charged(), why)?;
        }
        Ok(())
    }

    fn dispatcher<'a>(&'a mut self, origin: &'a Origin) -> Dispatcher<'a> {
        Dispatcher {
            plugins: &self.admission_plugins,
            store: &mut self.store,
            definitions: &self.definitions,
            exchange: &mut self.webhooks,
            warnings: &mut self.warnings,
            origin,
        }
    }

    /// Lets webhooks and policies change a new object of a component, which has no identity for them yet.
    fn mutate_new(
        &mut self,
        origin: &Origin,
        object: &mut Object,
        generated: bool,
    ) -> Result<(), ApiError> {
        if self.admission_plugins.is_empty() {
            return Ok(());
        }
        let mut submitted = object.clone();
        let meta = &mut submitted.meta;
        (meta.uid, meta.creation_timestamp, meta.generation) = Default::default();
        if generated {
            meta.name = Str::default();
        }
        let request = AdmissionRequest {
            operation: "CREATE",
            subresource: Subresource::Main,
            object: &submitted,
            old: None,
            api_version: None,
        };
        let Some(mut mutated) = self.dispatcher(origin).mutate(request)? else {
            return Ok(());
        };
        let errors = validation::validate_create(mutated.kind, &mutated.to_value());
        if !errors.is_empty() {
            let (kind, name) = (object.kind.group_kind(), &object.meta.name);
            return Err(ApiError::invalid_fields(&kind, name, &errors));
        }
        let meta = &mut mutated.meta;
        (meta.uid, meta.creation_timestamp) = (object.meta.uid, object.meta.creation_timestamp);
        meta.generation = object.meta.generation;
        (meta.name, meta.namespace) = (object.meta.name.clone(), object.meta.namespace.clone());
        *object = mutated;
        Ok(())
    }

    /// Lets webhooks and policies admit a write whose object they cannot change.
    pub(super) fn admit_by_webhooks(
        &mut self,
        origin: &Origin,
        request: AdmissionRequest<'_>,
    ) -> Result<(), ApiError> {
        self.dispatcher(origin).mutate(request)?;
        self.dispatcher(origin).validate(request)
    }

    /// Lets webhooks and policies change an object that is updated; a refusal is recorded.
    fn mutate_update(
        &mut self,
        origin: &Origin,
        subresource: Subresource,
        object: &mut Object,
        old: &Object,
        why: &Why,
    ) -> Result<(), ApiError> {
        if self.admission_plugins.is_empty() {
            return Ok(());
        }
        let request = AdmissionRequest {
            operation: "UPDATE",
            subresource,
            object,
            old: Some(old),
            api_version: None,
        };
        let result = self.dispatcher(origin).mutate(request).and_then(|mutated| {
            let Some(mutated) = mutated else {
                return Ok(());
            };
            let (value, old) = (mutated.to_value(), old.to_value());
            let errors = match subresource {
                Subresource::Status => validation::validate_status(mutated.kind, &value),
                _ => validation::validate_update(mutated.kind, &value, &old),
            };
            if !errors.is_empty() {
                let (kind, name) = (mutated.kind.group_kind(), &mutated.meta.name);
                return Err(ApiError::invalid_fields(&kind, name, &errors));
            }
            *object = mutated;
            Ok(())
        });
        if let Err(error) = &result {
            self.refuse(origin, object.key(), error, why.clone());
        }
        result
    }

    /// Lets webhooks and policies judge an update; a refusal is recorded.
    fn validate_update_by_webhooks(
        &mut self,
        origin: &Origin,
        subresource: Subresource,
        object: &Object,
        old: &Object,
        why: &Why,
    ) -> Result<(), ApiError> {
        let request = AdmissionRequest {
            operation: "UPDATE",
            subresource,
            object,
            old: Some(old),
            api_version: None,
        };
        let result = self.dispatcher(origin).validate(request);
        if let Err(error) = &result {
            self.refuse(origin, object.key(), error, why.clone());
        }
        result
    }

    /// Replaces spec and metadata; the status is kept. The object must carry the version it was made from.
    pub fn update(
        &mut self,
        origin: &Origin,
        object: Object,
        why: Why,
    ) -> Result<Rc<Object>, ApiError> {
        self.check_disturbance(origin, &object, &why)?;
        self.update_latest(origin, object, why)
    }

    /// Replaces spec and metadata as a patch does, which no injected conflict refuses.
    pub fn update_latest(
        &mut self,
        origin: &Origin,
        mut object: Object,
        why: Why,
    ) -> Result<Rc<Object>, ApiError> {
        let old = self.current(origin, &object, &why)?;
        self.mutate_update(origin, origin.subresource(), &mut object, &old, &why)?;
        self.update_decoded(origin, object, why)
    }

    /// Replaces spec and metadata by those of an object that the decoder has passed through mutating admission.
    pub(super) fn update_decoded(
        &mut self,
        origin: &Origin,
        mut object: Object,
        why: Why,
    ) -> Result<Rc<Object>, ApiError> {
        let old = self.current(origin, &object, &why)?;
        if !self.definitions.updates_status(object.kind) {
            keep_status(&mut object, &old);
        }
        if object.kind == Kind::Namespace {
            namespace_strategy::prepare_for_update(&mut object, &old);
        }
        if object.kind == Kind::CertificateSigningRequest {
            // Only its subresources change it.
            keep_spec(&mut object, &old);
        }
        if let (Body::DaemonSet(new), Body::DaemonSet(before)) = (&object.body, &old.body) {
            let count = old
                .meta
                .annotation(TEMPLATE_GENERATION)
                .and_then(|n| n.parse::<i64>().ok())
                .unwrap_or(1);
            let changed = new.template != before.template;
            object.meta.annotate(
                TEMPLATE_GENERATION,
                &(count + i64::from(changed)).to_string(),
            );
        }
        object.meta.uid = old.meta.uid;
        object.meta.creation_timestamp = old.meta.creation_timestamp;
        self.validate_update_by_webhooks(origin, origin.subresource(), &object, &old, &why)?;
        let mut admitted = Ok(());
        if object.kind == Kind::PersistentVolumeClaim {
            admitted = limit_ranger::validate(&self.store, &object, &old);
        }
        admitted = admitted.and_then(|()| self.charge_quotas(origin, &object, Some(&old)));
        if let Err(error) = admitted {
            self.refuse(origin, object.key(), &error, why);
            return Err(error);
        }
        if origin.manager.is_some()
            && let Err(error) = check_size(&object)
        {
            self.refuse(origin, object.key(), &error, why);
            return Err(error);
        }
        // Only Deployments count changes of their annotations too.
        let annotated =
            old.kind == Kind::Deployment && old.meta.annotations != object.meta.annotations;
        let generation = old.meta.generation + i64::from(annotated || spec_changed(&old, &object));
        self.replace(origin, &old, object, generation, why)
    }

    /// Replaces the status, and the metadata that its strategy lets a write of the status change; the spec is kept.
    pub fn update_status(
        &mut self,
        origin: &Origin,
        object: Object,
        why: Why,
    ) -> Result<Rc<Object>, ApiError> {
        self.check_disturbance(origin, &object, &why)?;
        self.update_latest_status(origin, object, why)
    }

    /// Replaces the status as a patch does, which no injected conflict refuses.
    pub fn update_latest_status(
        &mut self,
        origin: &Origin,
        mut new: Object,
        why: Why,
    ) -> Result<Rc<Object>, ApiError> {
        let old = self.current(origin, &new, &why)?;
        let subresource = match origin.subresource() {
            Subresource::Main => Subresource::Status,
            other => other,
        };
        self.mutate_update(origin, subresource, &mut new, &old, &why)?;
        self.validate_update_by_webhooks(origin, subresource, &new, &old, &why)?;
        (resource(old.kind).reset_status_metadata)(&mut new.meta, &old.meta);
        keep_spec(&mut new, &old);
        if let Body::Job(job) = &new.body
            && job
                .status
                .ready
                .is_some_and(|ready| ready > job.status.active)
        {
            let name = &new.meta.name;
            let ready = job.status.ready.unwrap_or_default();
            let cause = super::validation::FieldError {
                field: "status.ready".into(),
                fault: super::validation::ErrorType::Invalid,
                value: ready.to_string(),
                detail: "cannot set more ready pods than active".into(),
            };
            let error = ApiError::invalid_fields(&Kind::Job.group_kind(), name, &[cause]);
            self.refuse(origin, new.key(), &error, why);
            return Err(error);
        }
        let generation = old.meta.generation;
        self.replace(origin, &old, new, generation, why)
    }

    /// Replaces spec, status and metadata at once, for bindings and other subresources.
    pub(super) fn update_all(
        &mut self,
        origin: &Origin,
        object: Object,
        why: Why,
    ) -> Result<Rc<Object>, ApiError> {
        let old = self.current(origin, &object, &why)?;
        self.replace(origin, &old, object, old.meta.generation, why)
    }

    /// Returns the stored object of a write, if the write is based on its current version.
    fn current(
        &mut self,
        origin: &Origin,
        object: &Object,
        why: &Why,
    ) -> Result<Rc<Object>, ApiError> {
        let key = object.key();
        let error = match self.store.get(&key) {
            Some(old) if object.meta.uid.0 != 0 && object.meta.uid != old.meta.uid => {
                ApiError::conflict(key.kind, &key.name)
            }
            Some(old)
                if object.meta.resource_version == 0
                    || object.meta.resource_version == old.meta.resource_version =>
            {
                return Ok(old.clone());
            }
            Some(_) => ApiError::conflict(key.kind, &key.name),
            None => ApiError::not_found(key.kind, &key.name),
        };
        self.refuse(origin, key, &error, why.clone());
        Err(error)
    }

    fn replace(
        &mut self,
        origin: &Origin,
        old: &Rc<Object>,
        mut new: Object,
        generation: i64,
        why: Why,
    ) -> Result<Rc<Object>, ApiError> {
        new.meta.uid = old.meta.uid;
        new.meta.creation_timestamp = old.meta.creation_timestamp;
        new.meta.deletion_timestamp = old.meta.deletion_timestamp;
        new.meta.deletion_grace_period_seconds = old.meta.deletion_grace_period_seconds;
        new.meta.generate_name = old.meta.generate_name.clone();
        new.meta.resource_version = old.meta.resource_version;
        new.meta.generation = old.meta.generation;
        // An apply makes its client a manager even of unchanged fields, and a client may set managers itself.
        if new == **old
            && !origin
                .manager
                .as_ref()
                .is_some_and(|m| m.applies || m.given.is_some())
        {
            return Ok(old.clone());
        }
        if old.kind.has_generation() {
            new.meta.generation = generation;
        }
        let released = new.meta.is_deleting() && !is_held(&new) && is_held(old);
        if released && !self.is_graceful(&new) {
            return Ok(self.remove(origin, old, new, why));
        }
        Ok(self.write(origin, old, new, why))
    }

    pub(super) fn write(
        &mut self,
        origin: &Origin,
        old: &Rc<Object>,
        new: Object,
        why: Why,
    ) -> Rc<Object> {
        self.commit(origin, Op::Modified, new, Some(old), why)
    }

    pub(super) fn remove(
        &mut self,
        origin: &Origin,
        old: &Rc<Object>,
        last: Object,
        why: Why,
    ) -> Rc<Object> {
        self.commit(origin, Op::Deleted, last, Some(old), why)
    }

    /// Stores a write, and reloads what is derived from objects of its kind.
    fn commit(
        &mut self,
        origin: &Origin,
        op: Op,
        object: Object,
        before: Option<&Rc<Object>>,
        why: Why,
    ) -> Rc<Object> {
        let object = self.store.put(origin, op, object, before, why);
        if object.kind == Kind::CustomResourceDefinition {
            match op {
                Op::Deleted => self.definitions.forget(&object),
                _ => self.definitions.take(&object),
            }
        }
        if AdmissionPlugins::depend_on(object.kind) {
            self.admission_plugins = AdmissionPlugins::read(&self.store);
        }
        object
    }

    /// Records a refused write.
    pub fn refuse(&mut self, origin: &Origin, key: ObjectRef, error: &ApiError, why: Why) {
        self.store.refuse(origin, key, error, why);
    }
}

/// Refuses an object that is larger than a request to etcd may be.
fn check_size(object: &Object) -> Result<(), ApiError> {
    /// Default of etcd's `--max-request-bytes`.
    const MAX_REQUEST_BYTES: usize = 1_572_864;
    let value = object.to_value();
    // Custom objects are stored as JSON; of others, whose stored form is more compact, the text alone counts.
    let size = match object.kind.is_custom() {
        true => value.to_string().len(),
        false => text_bytes(&value),
    };
    if size <= MAX_REQUEST_BYTES {
        return Ok(());
    }
    Err(ApiError {
        reason: StatusReason::Unknown,
        message: "etcdserver: request is too large".to_owned(),
        cause: None,
    })
}

/// Returns the length of all strings of a value, in bytes.
fn text_bytes(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(text_bytes).sum(),
        Value::Object(fields) => fields.values().map(text_bytes).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::Actor;
    use serde_json::json;

    #[test]
    fn a_generated_name_in_use_is_generated_again() {
        let origin = Origin {
            actor: Actor::SERVER,
            cause: None,
            pass: 0,
            manager: None,
            user: None,
            call: None,
        };
        let made = |taken: &[Str]| {
            let mut server = ApiServer::new(Timestamp::new(0), 1);
            for (at, name) in taken.iter().enumerate() {
                let meta = json!({"name": name.as_str(), "uid": format!("00000000-0000-4000-8000-00000000000{}", at + 1)});
                let object =
                    Object::from_value(Kind::ConfigMap, json!({ "metadata": meta })).unwrap();
                server.create(&origin, object, Why::Asked).unwrap();
            }
            let object =
                Object::from_value(Kind::ConfigMap, json!({"metadata": {"generateName": "a-"}}))
                    .unwrap();
            server
                .create(&origin, object, Why::Asked)
                .map(|object| object.meta.name.clone())
        };
        let mut taken = Vec::new();
        for _ in 0..MAX_NAME_TRIES {
            let name = made(&taken).unwrap();
            assert!(name.starts_with("a-") && !taken.contains(&name));
            taken.push(name);
        }
        let error = made(&taken).unwrap_err();
        assert_eq!(error.reason, super::super::StatusReason::AlreadyExists);
        assert!(
            error.message.ends_with(
                "already exists, the server was not able to generate a unique name for the object"
            ),
            "{error}"
        );
    }
}
