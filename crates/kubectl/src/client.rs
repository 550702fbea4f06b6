//! Client used by every verb: the cluster, the namespace, the terminal.

use super::Failure;
use super::applied::Applied;
use super::failure::{not_found, server_error};
use super::output::{DryRun, Mode, OutputFormat, named};
use super::typed;
use apiserver::Why;
use apiserver::{
    ApiError, ApiServer, Delete, Manager, Origin, Patch, StatusReason, Subresource, Unknown,
    UserInfo,
};
use cluster::Sim;
use cluster::disk::Disks;
use k8s_model::meta::CHANGE_CAUSE;
use k8s_model::{Kind, Object, ObjectRef, Uid};
use serde_json::{Value, json};
use sim_core::Listing;
use std::ops::Range;
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
    /// Stdout since the last poll.
    pub out: String,
    /// Stderr since the last poll.
    pub err: String,
    /// Stderr pieces that precede other output: their range in `err`, and their position in `out`.
    pub among: Vec<(Range<usize>, usize)>,
    /// First failure of a command that continues.
    pub failure: Option<Failure>,
    /// Failures to print at the end of the command.
    failures: Vec<Failure>,
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
        (namespace, mode): (String, Mode),
        rows: usize,
    ) -> Client<'a> {
        Client {
            sim,
            origin,
            namespace,
            mode,
            folder: String::new(),
            out: String::new(),
            err: String::new(),
            failure: None,
            failures: Vec::new(),
            among: Vec::new(),
            applied: Vec::new(),
            local: Vec::new(),
            change_cause: None,
            rows,
            requests: 0,
        }
    }

    /// Prints a line.
    pub fn say(&mut self, line: impl std::fmt::Display) {
        self.out.push_str(&format!("{line}\n"));
    }

    /// Prints a line to stderr.
    pub fn warn(&mut self, line: impl std::fmt::Display) {
        self.complain(&format!("{line}\n"));
    }

    /// Writes to stderr; a terminal shows the text in order with stdout.
    pub fn complain(&mut self, text: &str) {
        let from = self.err.len();
        self.err.push_str(text);
        self.among.push((from..self.err.len(), self.out.len()));
    }

    /// Returns the lengths of stdout and stderr so far, for [`Client::take_printed`].
    pub fn printed(&self) -> (usize, usize) {
        (self.out.len(), self.err.len())
    }

    /// Takes back the output printed since then, for a shell that pipes or redirects it.
    pub fn take_printed(&mut self, (out, err): (usize, usize)) -> (String, String) {
        self.among.retain(|(range, _)| range.end <= err);
        (self.out.split_off(out), self.err.split_off(err))
    }

    /// Records a failure and continues: it is printed at the end, and sets the exit code.
    pub fn fail(&mut self, failure: &Failure) {
        self.failures.push(failure.clone());
        self.failure.get_or_insert_with(|| failure.clone());
    }

    /// Records several errors as one failure and continues.
    pub fn fail_all(&mut self, faults: Vec<Failure>) {
        Failure::all(faults)
            .iter()
            .for_each(|failure| self.fail(failure));
    }

    /// Prints the failures. Several are formatted differently from a single one: `checkErr` of `kubectl/pkg/cmd/util/helpers.go`.
    pub fn tell_failures(&mut self) {
        match &std::mem::take(&mut self.failures)[..] {
            [one] => self.err.push_str(&one.message),
            all => all
                .iter()
                .for_each(|failure| self.err.push_str(&format!("{}\n", failure.among))),
        }
    }

    /// Applies the flags for namespace, output format, dry run and field manager.
    pub fn use_flags(&mut self, args: &super::parse::Args) -> Result<(), Failure> {
        configured(args)?;
        self.write_as(args);
        self.origin.user = user(args);
        self.mode = Mode::parse(args)?;
        match args.get("dry-run") {
            Some("unchanged") => {
                self.warn("--dry-run is deprecated and can be replaced with --dry-run=client.")
            }
            Some(on @ ("true" | "false")) => {
                let now = if on == "true" { "client" } else { "none" };
                self.warn(format!("--dry-run={on} is deprecated (boolean value) and can be replaced with --dry-run={now}."));
            }
            _ => {}
        }
        self.change_cause = None;
        if args.get("record").is_some() {
            self.warn("Flag --record has been deprecated, --record will be removed in the future");
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
        self.sim.sweep_disks();
        &mut self.sim.disks
    }

    /// Returns the wall clock of the cluster, in seconds since 1970.
    pub fn wall(&self) -> i64 {
        self.sim.server().wall_at(self.sim.now()).seconds()
    }

    /// Returns the key of an object in the client's namespace.
    pub fn key(&self, kind: Kind, name: &str) -> ObjectRef {
        ObjectRef::new(kind, &self.namespace, name)
    }

    /// Returns an error if the user may not read an object.
    pub fn may_read(&self, verb: &str, key: &ObjectRef, part: &str) -> Result<(), Failure> {
        self.forbids(verb, key, part)
            .map_or(Ok(()), |error| Err(server_error(&error)))
    }

    /// Returns the refusal if the user is not authorized.
    pub fn forbids(&self, verb: &str, key: &ObjectRef, part: &str) -> Option<ApiError> {
        self.sim.server().forbids(&self.origin, verb, key, part)
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
        self.sim.server().definitions().meant(word)
    }

    /// Returns an object as JSON, or `Error from server (NotFound)`.
    pub fn get(&self, kind: Kind, name: &str) -> Result<Value, Failure> {
        self.may_read("get", &self.key(kind, name), "")?;
        self.find(&self.key(kind, name))
            .ok_or_else(|| not_found(kind, name))
    }

    /// Returns the error for an object that does not exist, or for its namespace, which a client looks up then. Models `Info.Get` of
    /// `cli-runtime/pkg/resource/visitor.go`.
    pub fn missing(&self, key: &ObjectRef) -> Failure {
        server_error(&self.not_there(key))
    }

    /// Returns the API server's error for an object or namespace that does not exist.
    pub fn not_there(&self, key: &ObjectRef) -> ApiError {
        let namespace = ObjectRef::new(Kind::Namespace, "", &key.namespace);
        if key.kind.info().namespaced
            && &*key.namespace != "default"
            && self.sim.get(&namespace).is_none()
        {
            return ApiError::not_found(Kind::Namespace, &key.namespace);
        }
        if key.kind == Kind::ComponentStatus {
            return ApiError {
                reason: StatusReason::Unknown,
                message: format!("Component not found: {}", key.name),
                cause: None,
            };
        }
        ApiError::not_found(key.kind, &key.name)
    }

    /// Returns the object with a key as JSON, or `Error from server (NotFound)`.
    pub fn get_at(&self, key: &ObjectRef) -> Result<Value, Failure> {
        self.find(key).ok_or_else(|| not_found(key.kind, &key.name))
    }

    /// Returns an object as JSON, if it exists.
    pub fn find(&self, key: &ObjectRef) -> Option<Value> {
        self.sim.seen(key).map(|object| object.to_value())
    }

    /// Adds the managed fields to an object.
    pub fn show_managers(&self, kind: Kind, object: &mut Value) {
        let text = |key: &str| object["metadata"][key].as_str().unwrap_or("");
        let managed = self.sim.server().managed_fields(&ObjectRef::new(
            kind,
            text("namespace"),
            text("name"),
        ));
        if managed.as_array().is_some_and(|list| !list.is_empty()) {
            object["metadata"]["managedFields"] = managed;
        }
    }

    /// Returns all objects of a kind in a namespace (empty for all namespaces), as JSON.
    pub fn list(&self, kind: Kind, namespace: &str) -> Vec<Value> {
        self.listing(kind, namespace)
            .map(|o| o.to_value())
            .collect()
    }

    /// Returns a snapshot of the objects of a kind in a namespace, for later iteration.
    pub fn listing(&self, kind: Kind, namespace: &str) -> Listing {
        let everywhere = namespace.is_empty() || !kind.info().namespaced;
        self.sim.seen_all(kind, (!everywhere).then_some(namespace))
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
            None => self.say(format!("{} {done}", named(kind, object))),
            Some(format) => {
                let text = format.print(kind, std::slice::from_ref(object), true, true)?;
                self.out.push_str(&text);
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
            self.out.push_str(&typed::json(kind, &typed));
            return Ok(());
        }
        self.report(kind, &typed, done)
    }

    /// Sends requests to the server, the only way to do so. A dry run uses a copy of the server.
    fn send<R>(&mut self, talk: impl FnOnce(&mut ApiServer, &Origin) -> R) -> R {
        let origin = self.origin.clone();
        let (result, warnings) = if self.mode.dry == DryRun::No {
            self.sim
                .request(|server| (talk(server, &origin), std::mem::take(&mut server.warnings)))
        } else {
            let mut copy = self.sim.server().clone();
            copy.now = self.sim.now();
            (talk(&mut copy, &origin), copy.warnings)
        };
        for warning in warnings {
            self.warn(format!("Warning: {warning}"));
        }
        result
    }

    /// Returns an object as the server answers: in a dry run the object keeps its version, and a new one has none.
    fn shown(&self, object: &Object) -> Value {
        let mut value = object.to_value();
        if self.mode.dry != DryRun::No
            && let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut)
        {
            match self.sim.get(&object.key()) {
                Some(old) => drop(metadata.insert(
                    "resourceVersion".to_owned(),
                    old.meta.resource_version.to_string().into(),
                )),
                None => drop(metadata.remove("resourceVersion")),
            }
        }
        value
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
        self.send(|server, origin| server.patch(origin, key, Patch::Merge, &note, Why::Asked))
            .map(drop)
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
        let created = self.send(|server, origin| {
            server.authorize_value(origin, "create", &value, "")?;
            server.create_value(origin, value, Why::Asked)
        });
        created.map(|object| self.shown(&object))
    }

    /// Replaces an object.
    pub fn update(&mut self, mut value: Value) -> Result<Value, ApiError> {
        self.note_cause(&mut value);
        if self.keeps() {
            return Ok(value);
        }
        let updated = self.send(|server, origin| {
            server.authorize_value(origin, "update", &value, "")?;
            server.update_value(origin, value, Why::Asked)
        });
        updated.map(|object| self.shown(&object))
    }

    /// Patches an object, or a subresource of it.
    pub fn patch(
        &mut self,
        key: &ObjectRef,
        part: Subresource,
        how: Patch,
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
            let object = local
                .or_else(|| self.find(key))
                .ok_or_else(|| ApiError::not_found(key.kind, &key.name))?;
            return how.merged(key.kind, object, patch);
        }
        let whole = part == Subresource::Main && how != Patch::Json;
        let mut patch = patch.clone();
        if whole {
            self.note_cause(&mut patch);
        }
        let patched = self.send(|server, origin| {
            server.authorize(origin, "patch", key, part.word())?;
            server.patch_part(origin, key, part, (how, &patch), Why::Asked)
        })?;
        if !whole {
            self.note_cause_after(key)?;
        }
        Ok(self.shown(&patched))
    }

    /// Sets the number of replicas.
    pub fn scale(&mut self, key: &ObjectRef, replicas: i64) -> Result<(), ApiError> {
        if self.keeps() {
            return Ok(());
        }
        self.send(|server, origin| {
            server.authorize(origin, "patch", key, Subresource::Scale.word())?;
            server.scale(origin, key, replicas, Why::Asked)
        })?;
        self.note_cause_after(key)
    }

    /// Deletes an object.
    pub fn delete(&mut self, key: &ObjectRef, how: Delete) -> Result<(), ApiError> {
        if self.keeps() {
            return Ok(());
        }
        self.send(|server, origin| {
            server.authorize(origin, "delete", key, "")?;
            server.delete(origin, key, how, Why::Asked)
        })
        .map(drop)
    }

    /// Applies a configuration on the server side.
    pub fn apply(&mut self, value: Value, force: bool) -> Result<Value, ApiError> {
        let applied = self.send(|server, origin| {
            server.authorize_value(origin, "patch", &value, "")?;
            server.apply(origin, value, force, Why::Asked)
        });
        applied.map(|object| self.shown(&object))
    }

    /// Evicts a Pod, if its disruption budget allows it.
    pub fn evict(&mut self, key: &ObjectRef, how: Delete) -> Result<(), ApiError> {
        // kubectl sends no eviction in any dry run.
        if self.mode.dry != DryRun::No {
            return Ok(());
        }
        self.send(|server, origin| {
            server.authorize(origin, "create", key, "eviction")?;
            server.evict(origin, key, how, Why::Asked)
        })
    }

    /// Ends the first process of a container of a Pod.
    pub fn end_process(&mut self, pod: (&ObjectRef, Uid), container: &str, code: i32) {
        self.sim.end_process(pod, container, code, &self.origin);
    }

    /// Sets the field manager: the verb's default, or that of `--field-manager`.
    fn write_as(&mut self, args: &super::parse::Args) {
        let usual = match args.verb.as_str() {
            "apply" if args.on("server-side") => "kubectl".to_owned(),
            "apply" => "kubectl-client-side-apply".to_owned(),
            "scale" => "kubectl".to_owned(),
            verb => format!("kubectl-{verb}"),
        };
        let name = args
            .get("field-manager")
            .filter(|name| !name.is_empty())
            .unwrap_or(&usual);
        let manager = Manager::update(name, if args.verb == "scale" { "scale" } else { "" });
        let manager = if args.verb == "apply" && args.on("server-side") {
            manager.migrating()
        } else {
            manager
        };
        let unknown = match (args.verb.as_str(), args.get("validate")) {
            (_, Some("warn")) => Unknown::Warn,
            (_, Some("false" | "ignore")) => Unknown::Drop,
            ("apply" | "create" | "replace", _) => Unknown::Refuse,
            // Default of the server, without the flag.
            _ => Unknown::Warn,
        };
        self.origin.manager = Some(Rc::new(manager.with_unknown(unknown)));
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
