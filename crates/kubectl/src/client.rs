//! Client used by every verb: the cluster, the namespace, the terminal.

use super::Failure;
use super::applied::Applied;
use super::failure::{list_error, server_error};
use super::io_streams::IoStreams;
use super::output::{DryRun, Mode, OutputFormat, named};
use super::targets::key_of;
use super::typed;
use apiserver::{
    ApiError, Content, DeleteOptions, ListOptions, ObjectList, Origin, Patch, PatchType, Request,
    RequestBody, RequestOptions, ResourceName, StatusReason, Subresource, UserInfo, Verb, Watch,
    patch,
};
use cluster::Sim;
use cluster::disk::Disks;
use controller_runtime::load::LoadGenerator;
use k8s_model::meta::CHANGE_CAUSE;
use k8s_model::{Kind, Object, ObjectRef, Uid};
use serde_json::{Value, json};
use std::rc::Rc;

/// Names of the context, its cluster and its user.
pub const CONTEXT: &str = "kubernetes-admin@kubernetes";
pub const CLUSTER: &str = "kubernetes";
pub const USER: &str = "kubernetes-admin";
/// File with the namespace of the current context.
pub const NAMESPACE: &str = ".kube/namespace";

/// Client of the API server, with its terminal.
pub struct Client<'a> {
    /// Simulation. API writes go through `send`; files and processes of containers are changed directly.
    sim: &'a mut Sim,
    origin: Origin,
    /// Default namespace of objects.
    pub namespace: String,
    /// Output format, and dry-run mode.
    pub mode: Mode,
    /// Working directory in the terminal.
    pub folder: String,
    /// Output since the last poll.
    pub streams: IoStreams,
    /// Results of the applied objects.
    pub applied: Vec<Applied>,
    /// Objects of files that are changed locally.
    pub local: Vec<(Kind, Value)>,
    /// Command line to record as the change cause of writes.
    change_cause: Option<String>,
    /// Maximum number of table rows to read or print at a time.
    pub rows: usize,
    /// Number of requests sent through a Gateway, for the rotation over its backends.
    pub requests: usize,
}

impl<'a> Client<'a> {
    /// Creates a client that writes on behalf of a command.
    pub fn new(
        sim: &'a mut Sim,
        origin: Origin,
        namespace: String,
        mode: Mode,
        rows: usize,
    ) -> Client<'a> {
        Client {
            sim,
            origin,
            namespace,
            mode,
            folder: String::new(),
            streams: IoStreams::default(),
            applied: Vec::new(),
            local: Vec::new(),
            change_cause: None,
            rows,
            requests: 0,
        }
    }

    /// Applies the flags for namespace, output format, dry run and field manager.
    pub fn use_flags(&mut self, args: &super::parse::Args) -> Result<(), Failure> {
        configured(args)?;
        self.origin.user = user(args);
        self.mode = Mode::parse(args)?;
        match args.get("dry-run") {
            Some("unchanged") => self
                .streams
                .warn("--dry-run is deprecated and can be replaced with --dry-run=client."),
            Some(on @ ("true" | "false")) => {
                let now = if on == "true" { "client" } else { "none" };
                self.streams.warn(format!("--dry-run={on} is deprecated (boolean value) and can be replaced with --dry-run={now}."));
            }
            _ => {}
        }
        self.change_cause = None;
        if args.get("record").is_some() {
            self.streams
                .warn("Flag --record has been deprecated, --record will be removed in the future");
            self.change_cause = args.on("record").then(|| args.command());
        }
        if let Some(namespace) = args.get("namespace").filter(|n| !n.is_empty()) {
            self.namespace = namespace.to_owned();
        } else if let Some(namespace) = self
            .context_namespace()
            .filter(|namespace| !namespace.is_empty())
        {
            self.namespace = namespace;
        }
        Ok(())
    }

    /// Returns the simulation, for reading.
    pub fn sim(&self) -> &Sim {
        self.sim
    }

    /// Returns the files of containers and volumes.
    pub fn disks(&mut self) -> &mut Disks {
        let sim = &mut *self.sim;
        sim.disks.sweep(&sim.server.store);
        &mut sim.disks
    }

    /// Returns the wall clock of the cluster, in seconds since 1970.
    pub fn wall(&self) -> i64 {
        self.sim.store().wall_at(self.sim.now()).seconds()
    }

    /// Returns the key of an object in the client's namespace.
    pub fn key(&self, kind: Kind, name: &str) -> ObjectRef {
        ObjectRef::new(kind, &self.namespace, name)
    }

    /// Returns the origin with which a polled command continues.
    pub fn origin(self) -> Origin {
        self.origin
    }

    /// Returns the impersonated user, if any.
    pub fn user(&self) -> Option<&UserInfo> {
        self.origin.user.as_deref()
    }

    /// Returns the kind for a word of the command line.
    pub fn kind(&self, word: &str) -> Option<Kind> {
        self.sim.server.definitions().meant(word)
    }

    /// Sends a request that changes nothing.
    fn read(&self, request: Request) -> Result<Content, ApiError> {
        let user = self.user().cloned();
        self.sim.read(&Request { user, ..request }).result
    }

    /// Returns an object.
    pub fn object(&self, key: &ObjectRef) -> Result<Rc<Object>, ApiError> {
        self.connect(key, Verb::Get, Subresource::Main)
    }

    /// Asks for a connection to a subresource of an object; returns the object.
    pub fn connect(
        &self,
        key: &ObjectRef,
        verb: Verb,
        subresource: Subresource,
    ) -> Result<Rc<Object>, ApiError> {
        let content = self.read(Request {
            subresource,
            ..Request::new(verb, key)
        })?;
        let object = content.object().cloned();
        object.ok_or_else(|| ApiError::absent(key))
    }

    /// Returns the `Scale` of an object.
    pub fn get_scale(&self, key: &ObjectRef) -> Result<Value, ApiError> {
        let content = self.read(Request {
            subresource: Subresource::Scale,
            ..Request::new(Verb::Get, key)
        })?;
        match content {
            Content::Scale(scale) => Ok(scale),
            _ => Err(ApiError::absent(key)),
        }
    }

    /// Returns an object as JSON, or `Error from server (NotFound)`.
    pub fn get(&self, kind: Kind, name: &str) -> Result<Value, Failure> {
        let object = self.object(&self.key(kind, name));
        object
            .map(|object| object.to_value())
            .map_err(|error| server_error(&error))
    }

    /// Returns an object, or the error of a client that looks up its namespace as well. Models `Info.Get` of
    /// `cli-runtime/pkg/resource/visitor.go`.
    pub fn get_info(&self, key: &ObjectRef) -> Result<Rc<Object>, ApiError> {
        self.object(key).map_err(|error| {
            let is_missing = |error: &ApiError| error.reason == StatusReason::NotFound;
            let namespace = ObjectRef::new(Kind::Namespace, "", &key.namespace);
            if !is_missing(&error) || matches!(&*key.namespace, "" | "default") {
                return error;
            }
            self.object(&namespace)
                .err()
                .filter(is_missing)
                .unwrap_or(error)
        })
    }

    /// Returns an object, if it exists.
    ///
    /// # Errors
    /// The refusal of the server.
    pub fn find_object(&self, key: &ObjectRef) -> Result<Option<Rc<Object>>, ApiError> {
        match self.object(key) {
            Err(error) if error.reason == StatusReason::NotFound => Ok(None),
            found => found.map(Some),
        }
    }

    /// Returns an object as JSON, if it exists.
    pub fn find(&self, key: &ObjectRef) -> Result<Option<Value>, Failure> {
        let found = self
            .find_object(key)
            .map_err(|error| server_error(&error))?;
        Ok(found.map(|object| object.to_value()))
    }

    /// Adds the managed fields to an object.
    pub fn show_managers(&self, kind: Kind, object: &mut Value) {
        let text = |key: &str| object["metadata"][key].as_str().unwrap_or("");
        let key = ObjectRef::new(kind, text("namespace"), text("name"));
        let managed = apiserver::managed_fields(self.sim.store(), &key);
        if managed.as_array().is_some_and(|list| !list.is_empty()) {
            object["metadata"]["managedFields"] = managed;
        }
    }

    /// Returns all objects of a kind in a namespace (empty for all namespaces), as JSON.
    pub fn list(&self, kind: Kind, namespace: &str) -> Result<Vec<Value>, Failure> {
        let objects = self
            .listing(kind, namespace, ListOptions::default())
            .map_err(|error| list_error(kind, &ListOptions::default(), &error))?;
        Ok(objects.map(|object| object.to_value()).collect())
    }

    /// Returns the selected objects of a kind in a namespace (empty for all namespaces), to be read bit by bit.
    pub fn listing(
        &self,
        kind: Kind,
        namespace: &str,
        options: ListOptions,
    ) -> Result<ObjectList, ApiError> {
        match self.read(collection(Verb::List, kind, namespace, options))? {
            Content::List(objects) => Ok(objects),
            _ => Err(ApiError::not_writable()),
        }
    }

    /// Watches the selected objects of a kind in a namespace (empty for all namespaces).
    pub fn watch(
        &self,
        kind: Kind,
        namespace: &str,
        options: ListOptions,
    ) -> Result<Watch, ApiError> {
        match self.read(collection(Verb::Watch, kind, namespace, options))? {
            Content::Watch(watch) => Ok(watch),
            _ => Err(ApiError::not_writable()),
        }
    }

    /// Prints the result for an object, or the object in the format of `-o`.
    pub fn report(&mut self, kind: Kind, object: &Value, done: &str) -> Result<(), Failure> {
        let note = self.mode.dry.note();
        self.report_plainly(kind, object, &format!("{done}{note}"))
    }

    /// Prints the result for verbs that do not mention a dry run.
    pub fn report_plainly(
        &mut self,
        kind: Kind,
        object: &Value,
        done: &str,
    ) -> Result<(), Failure> {
        match &self.mode.format {
            None => self.streams.say(format!("{} {done}", named(kind, object))),
            Some(format) => {
                let text = format.print(kind, std::slice::from_ref(object), true, true)?;
                self.streams.out.push_str(&text);
            }
        }
        Ok(())
    }

    /// Prints the result for objects that kubectl holds as Go types: zero values are shown, and JSON has the order of the types.
    pub fn report_typed(&mut self, kind: Kind, object: &Value, done: &str) -> Result<(), Failure> {
        let mut typed = typed::completed(kind, object);
        if self.keeps() && !self.mode.namespaced {
            // A client does not set the namespace that the server would default.
            typed["metadata"]
                .as_object_mut()
                .map(|metadata| metadata.remove("namespace"));
        }
        if self.mode.format == Some(OutputFormat::Json) {
            self.streams.out.push_str(&typed::json(kind, &typed));
            return Ok(());
        }
        self.report(kind, &typed, done)
    }

    /// Sends a request to the server, the only way to do so.
    fn send(&mut self, request: Request) -> Result<Content, ApiError> {
        let request = Request {
            options: RequestOptions {
                dry_run: self.mode.dry != DryRun::No,
                field_manager: self.mode.field_manager.clone(),
                field_validation: self.mode.field_validation,
                migrates: self.mode.migrates,
                ..request.options
            },
            user: self.origin.user.as_deref().cloned(),
            ..request
        };
        let origin = request.origin(self.origin.clone());
        let response = self.sim.handle(&origin, &request);
        for warning in response.warnings {
            self.streams.warn(format!("Warning: {warning}"));
        }
        response.result
    }

    /// Sends a request that is answered with an object.
    fn send_for_object(&mut self, request: Request) -> Result<Value, ApiError> {
        let content = self.send(request)?;
        Ok(content
            .object()
            .map_or(Value::Null, |object| object.to_value()))
    }

    /// Records the command as change cause in an object, or in a patch of one.
    pub fn note_cause(&self, value: &mut Value) {
        if let Some(cause) = &self.change_cause
            && value.is_object()
        {
            value["metadata"]["annotations"][CHANGE_CAUSE] = cause.as_str().into();
        }
    }

    /// Records the change cause of a request without a body for it.
    fn note_cause_after(&mut self, key: &ObjectRef) -> Result<(), ApiError> {
        let mut note = json!({});
        self.note_cause(&mut note);
        if note == json!({}) {
            return Ok(());
        }
        self.send(Request::patch(key, Patch::merge(note))).map(drop)
    }

    /// Returns true if writes are not sent at all.
    fn keeps(&self) -> bool {
        matches!(self.mode.dry, DryRun::Client | DryRun::Local)
    }

    /// Creates an object.
    pub fn create(&mut self, mut value: Value) -> Result<Value, ApiError> {
        self.note_cause(&mut value);
        // An object read from another cluster has a version, which a new object must not have.
        value["metadata"]
            .as_object_mut()
            .map(|meta| meta.remove("resourceVersion"));
        if self.keeps() {
            return Ok(value);
        }
        self.send_for_object(Request::of_manifest(Verb::Create, value))
    }

    /// Replaces an object.
    pub fn update(&mut self, mut value: Value) -> Result<Value, ApiError> {
        self.note_cause(&mut value);
        if self.keeps() {
            return Ok(value);
        }
        self.send_for_object(Request::of_manifest(Verb::Update, value))
    }

    /// Patches an object by the difference between two states of it: as read, and as edited. Models `CalculatePatch` of
    /// `kubectl/pkg/cmd/set/helper.go`.
    pub fn patch_difference(
        &mut self,
        kind: Kind,
        read: &Value,
        mut edited: Value,
    ) -> Result<Value, ApiError> {
        if self.keeps() {
            self.note_cause(&mut edited);
            return Ok(edited);
        }
        let (patch_type, change) = match patch::three_way_strategic(kind, read, &edited, read) {
            Some(change) => (PatchType::Strategic, change),
            None => (
                PatchType::Merge,
                patch::three_way_merge(read, &edited, read),
            ),
        };
        self.patch(&key_of(kind, read), Subresource::Main, patch_type, &change)
    }

    /// Patches an object, or a subresource of it.
    pub fn patch(
        &mut self,
        key: &ObjectRef,
        subresource: Subresource,
        patch_type: PatchType,
        patch: &Value,
    ) -> Result<Value, ApiError> {
        if self.keeps() {
            let here = |(kind, object): &&(Kind, Value)| {
                *kind == key.kind && object["metadata"]["name"] == key.name.as_str()
            };
            let local = self
                .local
                .iter()
                .find(here)
                .map(|(_, object)| object.clone());
            let object = match local {
                Some(object) => object,
                None => self.object(key)?.to_value(),
            };
            return patch_type.merged(key.kind, object, patch);
        }
        let whole = subresource == Subresource::Main && patch_type != PatchType::Json;
        let mut patch = patch.clone();
        if whole {
            self.note_cause(&mut patch);
        }
        let patched = self.send_for_object(Request {
            subresource,
            ..Request::patch(
                key,
                Patch {
                    patch_type,
                    content: patch,
                },
            )
        })?;
        if !whole {
            self.note_cause_after(key)?;
        }
        Ok(patched)
    }

    /// Sets the number of replicas.
    pub fn scale(&mut self, key: &ObjectRef, replicas: i64) -> Result<(), ApiError> {
        if self.keeps() {
            return Ok(());
        }
        let scale = json!({ "spec": { "replicas": replicas } });
        self.send(Request {
            subresource: Subresource::Scale,
            ..Request::patch(key, Patch::merge(scale))
        })?;
        self.note_cause_after(key)
    }

    /// Deletes an object; returns its uid, unless nothing is sent.
    pub fn delete(
        &mut self,
        key: &ObjectRef,
        options: DeleteOptions,
    ) -> Result<Option<Uid>, ApiError> {
        if self.keeps() {
            return Ok(None);
        }
        let content = self.send(Request {
            options: RequestOptions {
                deletion: options,
                ..RequestOptions::default()
            },
            ..Request::new(Verb::Delete, key)
        })?;
        Ok(content.object().map(|object| object.meta.uid))
    }

    /// Applies a configuration on the server side.
    pub fn apply(&mut self, value: Value, force: bool) -> Result<Value, ApiError> {
        let resource = ResourceName::of_manifest(&value);
        self.send_for_object(Request {
            options: RequestOptions {
                force,
                ..RequestOptions::default()
            },
            body: RequestBody::Apply(value),
            ..Request::new(Verb::Patch, resource)
        })
    }

    /// Evicts a Pod, if its disruption budget allows it.
    pub fn evict(&mut self, key: &ObjectRef, options: DeleteOptions) -> Result<(), ApiError> {
        // kubectl sends no eviction in any dry run.
        if self.mode.dry != DryRun::No {
            return Ok(());
        }
        self.send(Request {
            subresource: Subresource::Eviction,
            options: RequestOptions {
                deletion: options,
                ..RequestOptions::default()
            },
            ..Request::new(Verb::Create, key)
        })
        .map(drop)
    }

    /// Reports a loop of requests that a shell in a container runs.
    pub fn add_generator(&mut self, pod: Uid, generator: LoadGenerator) {
        self.sim.kubelets.loads.add_generator(pod, generator);
    }

    /// Ends the first process of a container of a Pod.
    pub fn end_process(&mut self, pod: &ObjectRef, uid: Uid, container: &str, code: i32) {
        cluster::end_process(self.sim, pod, uid, container, code, &self.origin);
    }
}

/// Returns a request for the objects of a kind.
fn collection(verb: Verb, kind: Kind, namespace: &str, list_options: ListOptions) -> Request {
    let namespace = if kind.info().namespaced {
        namespace
    } else {
        ""
    };
    Request {
        options: RequestOptions {
            list_options,
            ..RequestOptions::default()
        },
        ..Request::new(verb, &ObjectRef::new(kind, namespace, ""))
    }
}

/// Checks that the flags match the kubeconfig and each other.
fn configured(args: &super::parse::Args) -> Result<(), Failure> {
    let other = |flag: &str, known: &str| {
        args.get(flag)
            .filter(|name| !name.is_empty() && *name != known)
            .map(str::to_owned)
    };
    if let Some(name) = other("context", CONTEXT) {
        return Err(Failure::plain(format!(
            "Error in configuration: context was not found for specified context: {name}"
        )));
    }
    if let Some(name) = other("cluster", CLUSTER) {
        return Err(Failure::error(format!(
            "no server found for cluster {name:?}"
        )));
    }
    // In these verbs `--user` has another meaning.
    if let Some(name) =
        other("user", USER).filter(|_| !matches!(args.verb.as_str(), "set" | "create" | "config"))
    {
        return Err(Failure::error(format!("auth info {name:?} does not exist")));
    }
    let given = |flag: &str| args.get(flag).is_some_and(|name| !name.is_empty());
    if !given("as") && (given("as-group") || given("as-uid")) {
        return Err(Failure::error(format!(
            "requesting uid, groups or user-extra for {USER} without impersonating a user"
        )));
    }
    let timeout = args.get("request-timeout").unwrap_or("0");
    if timeout.parse::<u64>().is_err() && k8s_model::time::duration(timeout).is_none() {
        return Err(Failure::error(
            "Invalid timeout value. Timeout must be a single integer in seconds, or an integer followed by a corresponding time unit \
             (e.g. 1s | 2m | 3h)",
        ));
    }
    Ok(())
}

/// Returns the user of `--as`, with the groups of `--as-group` and the uid of `--as-uid`.
fn user(args: &super::parse::Args) -> Option<Rc<UserInfo>> {
    let name = args.get("as").filter(|name| !name.is_empty())?;
    let user = UserInfo::new(name, args.all("as-group").map(Into::into).collect());
    Some(Rc::new(UserInfo {
        uid: args.get("as-uid").unwrap_or("").into(),
        ..user
    }))
}
