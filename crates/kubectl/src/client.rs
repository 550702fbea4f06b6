//! What every verb works with: the cluster, the namespace, the terminal.

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

/// The name of the context, of its cluster and of its user.
pub const CONTEXT: &str = "kubernetes-admin@kubernetes";
pub const CLUSTER: &str = "kubernetes";
pub const USER: &str = "kubernetes-admin";
/// The file with the namespace of the current context.
pub const NAMESPACE: &str = ".kube/namespace";

/// A client of the API server, with its terminal.
pub struct Client<'a> {
    /// The cluster. Only `send` writes to it.
    sim: &'a mut Sim,
    origin: Origin,
    /// The namespace of objects that do not say theirs.
    pub namespace: String,
    /// How it prints objects, and whether it writes.
    pub mode: Mode,
    /// The folder of the terminal in which it was started.
    pub folder: String,
    /// Printed since the last poll.
    pub out: String,
    /// Complained about since the last poll.
    pub err: String,
    /// Complaints that came before other output: where they stand in `err`, and where they came in `out`.
    pub among: Vec<(Range<usize>, usize)>,
    /// The first failure of a command that goes on.
    pub failure: Option<Failure>,
    /// Those that are to be printed when it has done what it can.
    failures: Vec<Failure>,
    /// What came of the objects it applied.
    pub applied: Vec<Applied>,
    /// Objects of files that are changed where they are.
    pub local: Vec<(Kind, Value)>,
    /// The command that its writes note as their change cause.
    change_cause: Option<String>,
    /// How many rows of a table it reads or prints at a time.
    pub rows: usize,
    /// Requests that its tools have sent through a Gateway: one after another they go round its backends.
    pub requests: usize,
}

impl<'a> Client<'a> {
    /// A client that writes on behalf of a command.
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

    /// Prints a line on stderr.
    pub fn warn(&mut self, line: impl std::fmt::Display) {
        self.complain(&format!("{line}\n"));
    }

    /// Writes to stderr; a terminal shows it between what was printed before and after it.
    pub fn complain(&mut self, text: &str) {
        let from = self.err.len();
        self.err.push_str(text);
        self.among.push((from..self.err.len(), self.out.len()));
    }

    /// How much has been printed, for [`Client::take_printed`].
    pub fn printed(&self) -> (usize, usize) {
        (self.out.len(), self.err.len())
    }

    /// Takes back what was printed after that, for a shell that pipes or redirects it.
    pub fn take_printed(&mut self, (out, err): (usize, usize)) -> (String, String) {
        self.among.retain(|(range, _)| range.end <= err);
        (self.out.split_off(out), self.err.split_off(err))
    }

    /// Goes on after a failure: it is printed at the end, and the exit code will tell.
    pub fn fail(&mut self, failure: &Failure) {
        self.failures.push(failure.clone());
        self.failure.get_or_insert_with(|| failure.clone());
    }

    /// Goes on after faults that are told as one failure.
    pub fn fail_all(&mut self, faults: Vec<Failure>) {
        Failure::all(faults)
            .iter()
            .for_each(|failure| self.fail(failure));
    }

    /// Prints the failures. One of several is told otherwise than one alone: `checkErr` of `kubectl/pkg/cmd/util/helpers.go`.
    pub fn tell_failures(&mut self) {
        match &std::mem::take(&mut self.failures)[..] {
            [one] => self.err.push_str(&one.message),
            all => all
                .iter()
                .for_each(|failure| self.err.push_str(&format!("{}\n", failure.among))),
        }
    }

    /// Takes the namespace, the format, the kind of dry run and the name of the field manager from the flags.
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

    /// The cluster, to be read.
    pub fn sim(&self) -> &Sim {
        self.sim
    }

    /// The files of containers and volumes.
    pub fn disks(&mut self) -> &mut Disks {
        self.sim.sweep_disks();
        &mut self.sim.disks
    }

    /// The wall clock of the cluster, in seconds since 1970.
    pub fn wall(&self) -> i64 {
        self.sim.server().wall_at(self.sim.now()).seconds()
    }

    /// The key of an object in the client's namespace.
    pub fn key(&self, kind: Kind, name: &str) -> ObjectRef {
        ObjectRef::new(kind, &self.namespace, name)
    }

    /// Refuses what the user it acts as may not read.
    pub fn may_read(&self, verb: &str, key: &ObjectRef, part: &str) -> Result<(), Failure> {
        self.forbids(verb, key, part)
            .map_or(Ok(()), |error| Err(server_error(&error)))
    }

    /// Why the user it acts as may not do something.
    pub fn forbids(&self, verb: &str, key: &ObjectRef, part: &str) -> Option<ApiError> {
        self.sim.server().forbids(&self.origin, verb, key, part)
    }

    /// In whose name it goes on when it is polled.
    pub fn origin(self) -> Origin {
        self.origin
    }

    /// Whom it acts as, if it does not act as the administrator.
    pub fn user(&self) -> Option<&UserInfo> {
        self.origin.user.as_deref()
    }

    /// The kind that a word of the command line means.
    pub fn kind(&self, word: &str) -> Option<Kind> {
        self.sim.server().definitions().meant(word)
    }

    /// An object as JSON, or `Error from server (NotFound)`.
    pub fn get(&self, kind: Kind, name: &str) -> Result<Value, Failure> {
        self.may_read("get", &self.key(kind, name), "")?;
        self.find(&self.key(kind, name))
            .ok_or_else(|| not_found(kind, name))
    }

    /// That there is no such object; or no such namespace, which a client looks for then. Models `Info.Get` of
    /// `cli-runtime/pkg/resource/visitor.go`.
    pub fn missing(&self, key: &ObjectRef) -> Failure {
        server_error(&self.not_there(key))
    }

    /// The same as the API server says it.
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

    /// The same by its key.
    pub fn get_at(&self, key: &ObjectRef) -> Result<Value, Failure> {
        self.find(key).ok_or_else(|| not_found(key.kind, &key.name))
    }

    /// An object as JSON, if it is there.
    pub fn find(&self, key: &ObjectRef) -> Option<Value> {
        self.sim.seen(key).map(|object| object.to_value())
    }

    /// Puts into an object who set which of its fields.
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

    /// All objects of a kind in a namespace (empty: in all), as JSON.
    pub fn list(&self, kind: Kind, namespace: &str) -> Vec<Value> {
        self.listing(kind, namespace)
            .map(|o| o.to_value())
            .collect()
    }

    /// The same as they are, to be read later.
    pub fn listing(&self, kind: Kind, namespace: &str) -> Listing {
        let everywhere = namespace.is_empty() || !kind.info().namespaced;
        self.sim.seen_all(kind, (!everywhere).then_some(namespace))
    }

    /// Tells what was done to an object, or shows it as `-o` says.
    pub fn report(&mut self, kind: Kind, object: &Value, done: &str) -> Result<(), Failure> {
        let note = self.mode.dry.note();
        self.report_plainly(kind, object, &format!("{done}{note}"))
    }

    /// The same for verbs that do not tell a dry run.
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

    /// The same for objects that kubectl has as Go types: zero values are shown, and JSON has the order of the types.
    pub fn report_typed(&mut self, kind: Kind, object: &Value, done: &str) -> Result<(), Failure> {
        let mut typed = typed::completed(kind, object);
        if self.keeps() && !self.mode.namespaced {
            // A client does not write into an object the namespace that the server would put it into.
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

    /// The only way to the server. A dry run talks to a copy of it.
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

    /// What the server answers: in a dry run the object keeps its version, and a new one has none.
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

    /// Notes in an object, or in a patch of one, the command that changes it.
    pub fn note_cause(&self, value: &mut Value) {
        if let Some(cause) = &self.change_cause
            && value.is_object()
        {
            value["metadata"]["annotations"][CHANGE_CAUSE] = cause.as_str().into();
        }
    }

    /// Notes it in an object whose change had no place for it.
    fn note_cause_after(&mut self, key: &ObjectRef) -> Result<(), ApiError> {
        let mut note = json!({});
        self.note_cause(&mut note);
        if note == json!({}) {
            return Ok(());
        }
        self.send(|server, origin| server.patch(origin, key, Patch::Merge, &note, Why::Asked))
            .map(drop)
    }

    /// Returns true if requests that write are not even sent.
    fn keeps(&self) -> bool {
        matches!(self.mode.dry, DryRun::Client | DryRun::Local)
    }

    /// Creates an object.
    pub fn create(&mut self, mut value: Value) -> Result<Value, ApiError> {
        self.note_cause(&mut value);
        // What was read of another cluster has a version that a new object must not have.
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

    /// Applies a configuration on the server.
    pub fn apply(&mut self, value: Value, force: bool) -> Result<Value, ApiError> {
        let applied = self.send(|server, origin| {
            server.authorize_value(origin, "patch", &value, "")?;
            server.apply(origin, value, force, Why::Asked)
        });
        applied.map(|object| self.shown(&object))
    }

    /// Evicts a Pod, if its disruption budget allows it.
    pub fn evict(&mut self, key: &ObjectRef, how: Delete) -> Result<(), ApiError> {
        // kubectl asks for no eviction in any dry run.
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

    /// In whose name a verb writes, unless `--field-manager` says another.
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
            // The server's own way, where a command does not say how it wants it.
            _ => Unknown::Warn,
        };
        self.origin.manager = Some(Rc::new(manager.with_unknown(unknown)));
    }
}

/// Whether the kubeconfig has what the flags name, and they fit together.
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
    // Bindings have users of their own.
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

/// The user of `--as`, with the groups of `--as-group` and the uid of `--as-uid`.
fn user(args: &super::parse::Args) -> Option<Rc<UserInfo>> {
    let name = args.get("as").filter(|name| !name.is_empty())?;
    let user = UserInfo::new(name, args.all("as-group").map(Into::into).collect());
    Some(Rc::new(UserInfo {
        uid: args.get("as-uid").unwrap_or("").into(),
        ..user
    }))
}
