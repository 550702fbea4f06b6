//! Handlers of requests: each takes a request through authorization, decoding, admission and validation to the store.
//!
//! Models `apiserver/pkg/endpoints/handlers/{create,update,patch,delete}.go`; subresources model `pkg/registry/*/storage`.
//!
//! Reads are in `reads.rs`. A log, or a command in a container, is only authorized: its caller connects to the kubelet, as the API server of
//! a cluster does (`pkg/registry/core/pod/rest`).

use super::authorizer::Authorizer;
use super::conversion;
use super::decode::{Decoded, Decoder};
use super::error::{ApiError, GroupVersionKind, StatusReason};
use super::managers;
use super::patch::{Patch, PatchType, check_name, quoted_patch, unknown_members};
use super::reads::ObjectList;
use super::request::{Content, Request, RequestBody, Response, Verb};
use super::scale::{ObjectScale, SCALE_VERSION, check_scale_preconditions, desired_replicas};
use super::server::{ApiServer, Origin, Validated};
use super::strategies::{self, check_uid};
use super::validation;
use crate::why::Why;
use k8s_model::kind::{Subresource, Upsert};
use k8s_model::{Kind, Object, ObjectRef, schema};
use serde_json::{Value, json};
use sim_core::Listing;
use std::rc::Rc;

/// Metadata that a write of a subresource takes from its client: the preconditions, and for a status what its strategy does not reset.
const WRITTEN_METADATA: [&str; 6] = [
    "uid",
    "resourceVersion",
    "labels",
    "annotations",
    "finalizers",
    "ownerReferences",
];

impl ApiServer {
    /// Serves a request. A read, and a dry run, change nothing.
    pub fn handle(&mut self, origin: &Origin, request: &Request) -> Response {
        if request.is_read() {
            return self.read(&self.store, request);
        }
        if request.options.dry_run {
            let mut copy = self.clone();
            let mut response = copy.serve(origin, request);
            self.webhooks = copy.webhooks.clone();
            if let Ok(Content::Object(object) | Content::Created(object)) = &mut response.result {
                response.managed_fields = managers::managed_fields(&copy.store, &object.key());
                // An object that is not stored has no resourceVersion.
                let stored = self.store.get(&object.key());
                let version = stored.map_or(0, |stored| stored.meta.resource_version);
                Rc::make_mut(object).meta.resource_version = version;
            }
            return response;
        }
        self.serve(origin, request)
    }

    fn serve(&mut self, origin: &Origin, request: &Request) -> Response {
        self.warnings.clear();
        self.webhooks.dry_run = request.options.dry_run;
        self.webhooks.options = match self.admission_plugins.has_webhooks() {
            true => Rc::new(request.options.shown()),
            false => Rc::default(),
        };
        let result = self.route(origin, request);
        (self.webhooks.dry_run, self.webhooks.options) = (false, Rc::default());
        Response {
            result,
            managed_fields: Value::Null,
            warnings: std::mem::take(&mut self.warnings),
        }
    }

    /// Returns the key of the object that a request is about.
    ///
    /// # Errors
    /// No kind has this name in this API version.
    pub fn key(&self, request: &Request) -> Result<ObjectRef, ApiError> {
        let resource = &request.resource;
        let (version, kind) = (&resource.api_version, &resource.kind);
        let found = self
            .definitions
            .named(version, kind)
            .or_else(|| conversion::stored_kind(version, kind))
            .or_else(|| self.definitions.stored(version, kind));
        let kind = found.ok_or_else(|| ApiError::no_matches(version, kind))?;
        Ok(ObjectRef::new(kind, &resource.namespace, &resource.name))
    }

    fn route(&mut self, origin: &Origin, request: &Request) -> Result<Content, ApiError> {
        let key = self.key(request)?;
        self.authorize(origin, request.verb, &key, request.subresource)?;
        match (request.verb, request.subresource) {
            (Verb::Get | Verb::List | Verb::Watch, _) => self.read(&self.store, request).result,
            (Verb::Create, Subresource::Eviction) => self.create_eviction(origin, &key, request),
            (Verb::Create, Subresource::Binding) => self.create_binding(origin, &key, request),
            (Verb::Create, _) => self.create_object(origin, &key, request),
            (Verb::DeleteCollection, _) if key.name.is_empty() => {
                self.delete_collection(origin, &key, request)
            }
            (Verb::Delete | Verb::DeleteCollection, _) => self.delete_object(origin, &key, request),
            (Verb::Update, Subresource::Finalize) => self.update_finalizers(origin, &key, request),
            (Verb::Update | Verb::Patch, Subresource::Scale) => {
                self.write_scale(origin, &key, request)
            }
            (Verb::Update, Subresource::Main) => self.update_object(origin, &key, request),
            (Verb::Update, _) => self.update_subresource(origin, &key, request),
            (Verb::Patch, _) => self.patch_object(origin, &key, request),
        }
    }

    /// Refuses a request for which its user is not authorized; a refused write is recorded in the journal.
    fn authorize(
        &mut self,
        origin: &Origin,
        verb: Verb,
        key: &ObjectRef,
        subresource: Subresource,
    ) -> Result<(), ApiError> {
        let authorizer = Authorizer::new(&self.store);
        let refusal =
            authorizer.forbids(origin.user.as_deref(), verb.word(), key, subresource.word());
        let Some(error) = refusal else {
            return Ok(());
        };
        self.refuse(origin, key.clone(), &error, Why::Asked);
        Err(error)
    }

    pub(super) fn decoder(&mut self) -> Decoder<'_> {
        Decoder {
            store: &mut self.store,
            definitions: &self.definitions,
            options: &self.options,
            plugins: &self.admission_plugins,
            exchange: &mut self.webhooks,
            warnings: &mut self.warnings,
        }
    }

    fn create_object(
        &mut self,
        origin: &Origin,
        key: &ObjectRef,
        request: &Request,
    ) -> Result<Content, ApiError> {
        let value = request.decoded_object(key)?;
        self.create_value(origin, value, Why::Asked)
            .map(Content::Created)
    }

    /// Creates an object from JSON: decoding, defaults and validation included.
    pub fn create_value(
        &mut self,
        origin: &Origin,
        value: Value,
        why: Why,
    ) -> Result<Rc<Object>, ApiError> {
        let Decoded { object, submitted } = self.decoder().object(origin, value, None)?;
        // The client does not manage fields that admission adds later.
        let is_managed = origin.manager.is_some();
        let submitted = is_managed.then(|| submitted.unwrap_or_else(|| object.clone()));
        let origin = managers::with_submitted(origin, submitted);
        self.admit_and_store(&origin, object, Validated::Decoded, why)
    }

    fn update_object(
        &mut self,
        origin: &Origin,
        key: &ObjectRef,
        request: &Request,
    ) -> Result<Content, ApiError> {
        let value = request.decoded_object(key)?;
        self.replace_object(origin, key, value)
    }

    /// Replaces an object, or creates it if its kind allows that on an update.
    fn replace_object(
        &mut self,
        origin: &Origin,
        key: &ObjectRef,
        mut value: Value,
    ) -> Result<Content, ApiError> {
        let key = &ObjectRef::new(key.kind, or_default(&key.namespace), &key.name);
        let Some(old) = self.store.get(key).cloned() else {
            return self.create_on_update(origin, key, value);
        };
        let origin = managers::with_given(&self.store, origin, key, &mut value);
        let Decoded { object, submitted } = self.decoder().object(&origin, value, Some(&old))?;
        let origin = managers::with_submitted(&origin, submitted);
        self.check_disturbance(&origin, &old, &Why::Asked)?;
        self.update_decoded(&origin, object, Why::Asked)
            .map(Content::Object)
    }

    /// Creates the object of an update, if its kind allows that and the client is authorized to create.
    fn create_on_update(
        &mut self,
        origin: &Origin,
        key: &ObjectRef,
        mut value: Value,
    ) -> Result<Content, ApiError> {
        if key.kind.info().strategy.upsert == Upsert::Existing {
            return Err(ApiError::absent(key));
        }
        self.authorize(origin, Verb::Create, key, Subresource::Main)?;
        check_uid(key, value["metadata"]["uid"].as_str().unwrap_or(""), "")?;
        if let Some(meta) = value["metadata"].as_object_mut() {
            meta.remove("resourceVersion");
        }
        self.create_value(origin, value, Why::Asked)
            .map(Content::Created)
    }

    fn patch_object(
        &mut self,
        origin: &Origin,
        key: &ObjectRef,
        request: &Request,
    ) -> Result<Content, ApiError> {
        let patch = match &request.body {
            RequestBody::Apply(_) => {
                let config = request.typed_object(key)?;
                let key = &ObjectRef::new(key.kind, or_default(&key.namespace), &key.name);
                let is_new = self.store.get(key).is_none();
                let force = request.options.force;
                let applied = self.apply(origin, key, config, force, Why::Asked)?;
                return Ok(match is_new {
                    true => Content::Created(applied),
                    false => Content::Object(applied),
                });
            }
            RequestBody::Patch(patch) => patch,
            RequestBody::None | RequestBody::Object(_) => {
                return Err(ApiError::bad_request("a patch has no content".to_owned()));
            }
        };
        let api_version = &request.resource.api_version;
        if conversion::is_other(api_version, key.kind) {
            // The patch is made for another version than the stored one: its result replaces the object.
            let value = self.patched_in_version(key, api_version, patch)?;
            return match request.subresource {
                Subresource::Main => self.replace_object(origin, key, value),
                subresource => self.replace_subresource(origin, key, subresource, &value),
            };
        }
        self.check_patched(origin, key, request, patch)?;
        self.patch(origin, key, request.subresource, patch, Why::Asked)
            .map(Content::Object)
    }

    /// Refuses a patch whose result is no object of its kind, or is none to strict decoding. Wrong types of a strategic merge patch are found
    /// by its merge.
    fn check_patched(
        &mut self,
        origin: &Origin,
        key: &ObjectRef,
        request: &Request,
        patch: &Patch,
    ) -> Result<(), ApiError> {
        let Some(stored) = self.store.get(key).cloned() else {
            return Ok(());
        };
        if key.kind.is_custom() {
            return Ok(());
        }
        let current = self.value_to_patch(&stored, request.subresource, patch);
        let patched = patch.apply(key.kind, current)?;
        let (api_version, kind) = (key.kind.api_version(), key.kind.name());
        let problems = schema::strict_errors(&api_version, kind, &patched);
        let is_strategic = patch.patch_type == PatchType::Strategic;
        let wrong_type = problems.iter().find(|problem| !problem.unknown);
        let field = |name: &str| patched[name].as_str().unwrap_or("").to_owned();
        let found = GroupVersionKind {
            api_version: field("apiVersion"),
            kind: field("kind"),
        };
        let undecoded = found
            .unconverted(&api_version, kind)
            .or_else(|| wrong_type.map(|problem| problem.message.clone()))
            .filter(|_| !is_strategic);
        let members = match patch.patch_type {
            PatchType::Json => unknown_members(&patch.content),
            PatchType::Merge | PatchType::Strategic => Vec::new(),
        };
        let members = members
            .into_iter()
            .map(|member| format!("json patch unknown field {member:?}"));
        let unknown = origin.manager.as_ref().map(|manager| manager.unknown);
        let problem = match (undecoded, unknown) {
            (Some(problem), _) => problem,
            (None, Some(managers::Unknown::Refuse)) => {
                let repeated = &origin
                    .manager
                    .as_ref()
                    .map(|manager| manager.repeated.clone());
                let unknown = problems.into_iter().filter(|problem| problem.unknown);
                let all: Vec<String> = members
                    .chain(managers::DuplicateField::strict(
                        repeated.as_deref().unwrap_or_default(),
                        unknown.map(|problem| problem.message).collect(),
                    ))
                    .collect();
                if all.is_empty() {
                    return Ok(());
                }
                format!("strict decoding error: {}", all.join(", "))
            }
            (None, unknown) => {
                if unknown == Some(managers::Unknown::Warn) {
                    self.warnings.extend(members);
                }
                return Ok(());
            }
        };
        if is_strategic {
            let content = quoted_patch(&patch.content);
            return Err(ApiError::invalid_patch(&content, &problem));
        }
        let mut whole = patched;
        let managers = managers::managed_fields(&self.store, key);
        if managers.as_array().is_some_and(|all| !all.is_empty())
            && let Some(metadata) = whole["metadata"].as_object_mut()
        {
            metadata.entry("managedFields").or_insert(managers);
        }
        let text = schema::patched_text(&api_version, kind, &whole, &patch.touched());
        Err(invalid_patch(&text, &problem))
    }

    /// Applies a patch to an object in another API version than the stored one; returns the result in the stored one.
    fn patched_in_version(
        &self,
        key: &ObjectRef,
        api_version: &str,
        patch: &Patch,
    ) -> Result<Value, ApiError> {
        let Some(stored) = self.store.get(key) else {
            return Err(ApiError::not_found(key.kind, &key.name));
        };
        let mut value = stored.to_value();
        conversion::shown(api_version, key.kind, &mut value);
        let mut value = patch.apply(key.kind, value)?;
        conversion::stored(api_version, key.kind, &mut value);
        Ok(value)
    }

    /// Returns an object as JSON to which a patch is applied; its managed fields are computed only if the patch changes them.
    fn value_to_patch(&self, object: &Object, subresource: Subresource, patch: &Patch) -> Value {
        let mut value = object.to_value();
        if subresource.is_main() && patch.concerns("/metadata/managedFields") {
            value["metadata"]["managedFields"] =
                managers::managed_fields(&self.store, &object.key());
        }
        value
    }

    /// Patches an object or a subresource of it.
    pub fn patch(
        &mut self,
        origin: &Origin,
        key: &ObjectRef,
        subresource: Subresource,
        patch: &Patch,
        why: Why,
    ) -> Result<Rc<Object>, ApiError> {
        let Some(old) = self.store.get(key).cloned() else {
            return Err(ApiError::absent(key));
        };
        let current = self.value_to_patch(&old, subresource, patch);
        let mut patched = patch.apply(key.kind, current)?;
        check_name(key, &patched)?;
        if subresource.is_main() {
            let origin = managers::with_given(&self.store, origin, key, &mut patched);
            let Decoded { object, submitted } =
                self.decoder().object(&origin, patched, Some(&old))?;
            let origin = managers::with_submitted(&origin, submitted);
            return self.update_decoded(&origin, object, why);
        }
        self.write_subresource(origin, subresource, patched, &old, why)
    }

    /// Writes the part of an object that a subresource stands for, from a changed copy of the whole object.
    fn write_subresource(
        &mut self,
        origin: &Origin,
        subresource: Subresource,
        value: Value,
        old: &Rc<Object>,
        why: Why,
    ) -> Result<Rc<Object>, ApiError> {
        if let Err(error) = strategies::check_preconditions(&value, old) {
            self.refuse(origin, old.key(), &error, why);
            return Err(error);
        }
        if !matches!(
            subresource,
            Subresource::Resize | Subresource::EphemeralContainers
        ) {
            let object = self
                .decoder()
                .subresource(origin, subresource, value, old)?;
            return self.update_latest_status(origin, object, why);
        }
        let (api_version, kind) = (old.kind.api_version(), old.kind.name());
        if let Some(problem) = schema::type_error(&api_version, kind, &value) {
            return Err(ApiError::bad_request(problem));
        }
        match subresource {
            Subresource::Resize => self.resize(origin, old, value, why),
            _ => self.set_ephemeral(origin, old, value, why),
        }
    }

    fn update_subresource(
        &mut self,
        origin: &Origin,
        key: &ObjectRef,
        request: &Request,
    ) -> Result<Content, ApiError> {
        let value = request.decoded_object(key)?;
        if let Some(old) = self.store.get(key).cloned() {
            self.check_disturbance(origin, &old, &Why::Asked)?;
        }
        self.replace_subresource(origin, key, request.subresource, &value)
    }

    /// Replaces the part of an object that a subresource stands for.
    fn replace_subresource(
        &mut self,
        origin: &Origin,
        key: &ObjectRef,
        subresource: Subresource,
        value: &Value,
    ) -> Result<Content, ApiError> {
        let Some(old) = self.store.get(key).cloned() else {
            return Err(ApiError::absent(key));
        };
        let (part, fields) = match subresource {
            Subresource::Status | Subresource::Approval => ("status", &WRITTEN_METADATA[..]),
            _ => ("spec", &WRITTEN_METADATA[..2]),
        };
        let mut replaced = old.to_value();
        replaced[part] = value[part].clone();
        if let Some(metadata) = replaced["metadata"].as_object_mut() {
            for field in fields {
                metadata.remove(*field);
                let new = value["metadata"].get(field).filter(|new| !new.is_null());
                metadata.extend(new.map(|new| ((*field).to_owned(), new.clone())));
            }
        }
        self.write_subresource(origin, subresource, replaced, &old, Why::Asked)
            .map(Content::Object)
    }

    fn write_scale(
        &mut self,
        origin: &Origin,
        key: &ObjectRef,
        request: &Request,
    ) -> Result<Content, ApiError> {
        let Some(stored) = self.store.get(key).cloned() else {
            return Err(ApiError::absent(key));
        };
        let (wanted, replicas) = match &request.body {
            RequestBody::Patch(patch) => {
                let current = ObjectScale::of(&self.definitions, &stored)?.to_value(&stored);
                let patch_type = match patch.patch_type {
                    PatchType::Strategic => PatchType::Merge,
                    other => other,
                };
                let wanted = patch_type.merged(key.kind, current, &patch.content)?;
                let replicas = desired_replicas(&wanted).map_err(|problem| {
                    let touched = patch.touched();
                    let text = schema::patched_text(SCALE_VERSION, "Scale", &wanted, &touched);
                    invalid_patch(&text, &problem)
                })?;
                (wanted, replicas)
            }
            body => {
                let wanted = request.of_this_object(body.object().clone())?;
                let replicas = desired_replicas(&wanted).map_err(|problem| {
                    ApiError::bad_request(format!(
                        "Scale in version \"v1\" cannot be handled as a Scale: {problem}"
                    ))
                })?;
                (wanted, replicas)
            }
        };
        check_scale_preconditions(&stored, &wanted)?;
        let object = self.scale(origin, key, replicas, Why::Asked)?;
        let scale = ObjectScale::of(&self.definitions, &object)?;
        Ok(Content::Scale(scale.to_value(&object)))
    }

    fn delete_object(
        &mut self,
        origin: &Origin,
        key: &ObjectRef,
        request: &Request,
    ) -> Result<Content, ApiError> {
        let options = request.options.deletion.clone();
        let object = self.delete(origin, key, options, Why::Asked)?;
        Ok(match self.store.get(key) {
            None => Content::Deleted(object),
            Some(_) => Content::Object(object),
        })
    }

    /// Deletes the selected objects of a collection; the first refusal ends it.
    fn delete_collection(
        &mut self,
        origin: &Origin,
        key: &ObjectRef,
        request: &Request,
    ) -> Result<Content, ApiError> {
        let options = &request.options;
        let (api_version, namespace) = (&request.resource.api_version, &*key.namespace);
        let selector = self.selector(key.kind, api_version, &options.list_options)?;
        let listing = self
            .store
            .listing(key.kind, (!namespace.is_empty()).then_some(namespace));
        let selected: Vec<Rc<Object>> = listing.filter(|object| selector.selects(object)).collect();
        for object in &selected {
            let deleted = self.delete(origin, &object.key(), options.deletion.clone(), Why::Asked);
            match deleted {
                // The deletion of another one may have removed it.
                Err(error) if error.reason != StatusReason::NotFound => return Err(error),
                _ => {}
            }
        }
        let deleted = ObjectList::new(self.store.version(), Listing::of(selected));
        Ok(Content::List(deleted))
    }

    fn create_eviction(
        &mut self,
        origin: &Origin,
        key: &ObjectRef,
        request: &Request,
    ) -> Result<Content, ApiError> {
        let options = request.options.deletion.clone();
        self.evict(origin, key, options, Why::Asked)
            .map(|()| Content::Success)
    }

    fn create_binding(
        &mut self,
        origin: &Origin,
        key: &ObjectRef,
        request: &Request,
    ) -> Result<Content, ApiError> {
        let body = request.body.object();
        let text = |path: &str| body.pointer(path).and_then(Value::as_str).unwrap_or("");
        let (kind, node) = (text("/target/kind"), text("/target/name"));
        let mut errors = Vec::new();
        if !matches!(kind, "" | "Node") {
            errors.push(format!(
                "target.kind: Unsupported value: {kind:?}: supported values: \"Node\", \"<empty>\""
            ));
        }
        if node.is_empty() {
            errors.push("target.name: Required value".to_owned());
        }
        if !errors.is_empty() {
            // A plain error, not one of the API: the registry does not wrap it.
            let message = match &errors[..] {
                [error] => error.clone(),
                _ => format!("[{}]", errors.join(", ")),
            };
            return Err(ApiError {
                reason: StatusReason::Unknown,
                message,
                cause: None,
            });
        }
        self.bind(origin, key, text("/metadata/uid"), node, Why::Asked)
            .map(|_| Content::Success)
    }

    /// Updates the finalizers of a namespace's spec.
    fn update_finalizers(
        &mut self,
        origin: &Origin,
        key: &ObjectRef,
        request: &Request,
    ) -> Result<Content, ApiError> {
        let value = request.decoded_object(key)?;
        let Some(old) = self.store.get(key) else {
            return Err(ApiError::absent(key));
        };
        if let Some(problem) = schema::type_error("v1", Kind::Namespace.name(), &value) {
            return Err(ApiError::bad_request(problem));
        }
        strategies::check_preconditions(&value, old)?;
        let errors = validation::finalizers(&value["spec"]["finalizers"]);
        if !errors.is_empty() {
            let kind = Kind::Namespace.group_kind();
            return Err(ApiError::invalid_fields(&kind, &key.name, &errors));
        }
        let finalizers = value["spec"]["finalizers"].as_array();
        let finalizers = finalizers.map_or(&[][..], Vec::as_slice);
        self.finalize(origin, key, finalizers, Why::Asked)
            .map(Content::Object)
    }
}

impl Request {
    /// Returns the object of the body, completed by the request's resource, in the stored API version.
    ///
    /// # Errors
    /// The body is no object, or another one than the request names.
    fn decoded_object(&self, key: &ObjectRef) -> Result<Value, ApiError> {
        self.of_this_object(self.typed_object(key)?)
    }

    /// Returns the object of the body in the stored API version, with its type.
    ///
    /// # Errors
    /// The body is no object of the request's kind.
    fn typed_object(&self, key: &ObjectRef) -> Result<Value, ApiError> {
        let (kind, resource) = (key.kind, &self.resource);
        let mut value = self.body.object().clone();
        let name = value["metadata"]["name"].as_str();
        if self.verb == Verb::Update && name.is_none_or(str::is_empty) {
            return Err(ApiError::bad_request(format!(
                "the name of the object ({} based on URL) was undeterminable: name must be provided",
                resource.name
            )));
        }
        let Some(object) = value.as_object_mut() else {
            return Err(ApiError::bad_request(
                "the object provided is unrecognized (must be of type Object)".to_owned(),
            ));
        };
        let api_version = resource.api_version.as_str();
        let mut text = |field: &str, expected: &str| {
            let given = object.entry(field).or_insert_with(|| expected.into());
            given.as_str().unwrap_or("").to_owned()
        };
        let found = GroupVersionKind {
            api_version: text("apiVersion", api_version),
            kind: text("kind", kind.name()),
        };
        match kind.is_custom() {
            true => found.check_custom(api_version, kind.name())?,
            false => found.check(api_version, kind.name())?,
        }
        conversion::stored(&resource.api_version, kind, &mut value);
        Ok(value)
    }

    /// Completes the metadata of an object by name and namespace of the request.
    ///
    /// # Errors
    /// The object has others.
    fn of_this_object(&self, value: Value) -> Result<Value, ApiError> {
        with_metadata(value, &self.resource.namespace, &self.resource.name)
    }
}

/// Completes the metadata of an object by a namespace and a name, each if it is not empty.
///
/// # Errors
/// The object has others.
pub(crate) fn with_metadata(
    mut value: Value,
    namespace: &str,
    name: &str,
) -> Result<Value, ApiError> {
    let meta = value
        .as_object_mut()
        .map(|object| object.entry("metadata").or_insert_with(|| json!({})));
    let Some(meta) = meta.and_then(Value::as_object_mut) else {
        return Ok(value);
    };
    for (field, expected) in [("namespace", namespace), ("name", name)] {
        let given = meta.get(field).and_then(Value::as_str).unwrap_or("");
        if expected.is_empty() || given == expected {
            continue;
        }
        if given.is_empty() {
            meta.insert(field.to_owned(), expected.into());
            continue;
        }
        return Err(ApiError::bad_request(match field {
            "namespace" => "the namespace of the provided object does not match the namespace sent on the request".to_owned(),
            _ => format!(
                "the name of the object ({given}) does not match the name on the URL ({expected})"
            ),
        }));
    }
    Ok(value)
}

/// Returns the error for a patch whose result does not decode; `patched` is its JSON.
fn invalid_patch(patched: &str, problem: &str) -> ApiError {
    ApiError::invalid_patch(&Value::from(patched).to_string(), problem)
}

fn or_default(namespace: &str) -> &str {
    match namespace {
        "" => "default",
        other => other,
    }
}

#[cfg(test)]
mod tests;
