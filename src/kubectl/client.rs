//! What every verb works with: the cluster, the namespace, the terminal.

use super::Failure;
use super::applied::Applied;
use crate::api::{Kind, Object, ObjectRef};
use crate::engine::store::{ApiError, Cause, Delete, Manager, Origin, Patch, Reason, Unknown};
use crate::engine::{Listing, Sim, Why};
use serde_json::Value;
use std::rc::Rc;

/// A client of the API server, with its terminal.
pub struct Client<'a> {
    /// The cluster.
    pub sim: &'a mut Sim,
    origin: Origin,
    /// The namespace of objects that do not say theirs.
    pub namespace: String,
    /// Printed since the last poll.
    pub out: String,
    /// Complained about since the last poll.
    pub err: String,
    /// The first failure that was printed although the command goes on.
    pub failure: Option<Failure>,
    /// What came of the objects it applied.
    pub applied: Vec<Applied>,
    /// How many rows of a table it reads or prints at a time.
    pub rows: usize,
}

impl<'a> Client<'a> {
    /// A client that writes on behalf of a command.
    pub fn new(sim: &'a mut Sim, origin: Origin, namespace: String, rows: usize) -> Client<'a> {
        Client { sim, origin, namespace, out: String::new(), err: String::new(), failure: None, applied: Vec::new(), rows }
    }

    /// Prints a line.
    pub fn say(&mut self, line: impl std::fmt::Display) {
        self.out.push_str(&format!("{line}\n"));
    }

    /// Prints a line on stderr.
    pub fn warn(&mut self, line: impl std::fmt::Display) {
        self.err.push_str(&format!("{line}\n"));
    }

    /// Prints a failure and goes on; the exit code will tell.
    pub fn fail(&mut self, failure: &Failure) {
        self.err.push_str(&failure.message);
        self.failure.get_or_insert_with(|| failure.clone());
    }

    /// Takes the namespace and the name of the field manager from the flags.
    pub fn use_flags(&mut self, args: &super::parse::Args) {
        self.write_as(args);
        if let Some(namespace) = args.get("namespace").filter(|n| !n.is_empty()) {
            self.namespace = namespace.to_owned();
        }
    }

    /// The wall clock of the cluster, in seconds since 1970.
    pub fn wall(&self) -> i64 {
        self.sim.server().wall_at(self.sim.now()).0
    }

    /// The key of an object in the client's namespace.
    pub fn key(&self, kind: Kind, name: &str) -> ObjectRef {
        ObjectRef::new(kind, &self.namespace, name)
    }

    /// An object as JSON, or `Error from server (NotFound)`.
    pub fn get(&self, kind: Kind, name: &str) -> Result<Value, Failure> {
        self.find(&self.key(kind, name)).ok_or_else(|| not_found(kind, name))
    }

    /// An object as JSON, if it is there.
    pub fn find(&self, key: &ObjectRef) -> Option<Value> {
        self.sim.get(key).map(|object| object.to_value())
    }

    /// Puts into an object who set which of its fields.
    pub fn show_managers(&self, kind: Kind, object: &mut Value) {
        let text = |key: &str| object["metadata"][key].as_str().unwrap_or("");
        let managed = self.sim.server().managed_fields(&ObjectRef::new(kind, text("namespace"), text("name")));
        if managed.as_array().is_some_and(|list| !list.is_empty()) {
            object["metadata"]["managedFields"] = managed;
        }
    }

    /// All objects of a kind in a namespace (empty: in all), as JSON.
    pub fn list(&self, kind: Kind, namespace: &str) -> Vec<Value> {
        self.listing(kind, namespace).map(|o| o.to_value()).collect()
    }

    /// The same as they are, to be read later.
    pub fn listing(&self, kind: Kind, namespace: &str) -> Listing {
        let everywhere = namespace.is_empty() || !kind.info().namespaced;
        self.sim.server().listing(kind, (!everywhere).then_some(namespace))
    }

    /// Creates an object.
    pub fn create(&mut self, value: Value) -> Result<Value, ApiError> {
        let origin = self.origin.clone();
        let result = self.sim.request(|server| server.create_value(&origin, value, Why::Asked));
        self.answered(result)
    }

    /// Replaces an object.
    pub fn update(&mut self, value: Value) -> Result<Value, ApiError> {
        let origin = self.origin.clone();
        let result = self.sim.request(|server| server.update_value(&origin, value, Why::Asked));
        self.answered(result)
    }

    /// Patches an object.
    pub fn patch(&mut self, key: &ObjectRef, how: Patch, patch: &Value) -> Result<Value, ApiError> {
        let origin = self.origin.clone();
        let result = self.sim.request(|server| server.patch(&origin, key, how, patch, Why::Asked));
        self.answered(result)
    }

    /// Patches the resources of a Pod's containers.
    pub fn resize(&mut self, key: &ObjectRef, change: &Value) -> Result<Value, ApiError> {
        let origin = self.origin.clone();
        let result = self.sim.request(|server| server.patch_resize(&origin, key, change, Why::Asked));
        self.answered(result)
    }

    /// Prints what the server warned of.
    fn answered(&mut self, result: Result<Rc<Object>, ApiError>) -> Result<Value, ApiError> {
        for warning in self.sim.request(|server| std::mem::take(&mut server.warnings)) {
            self.warn(format!("Warning: {warning}"));
        }
        result.map(|object| object.to_value())
    }

    /// Replaces the status of an object.
    pub fn update_status(&mut self, object: Object) -> Result<Value, ApiError> {
        let origin = self.origin.clone();
        self.sim.request(|server| server.update_status(&origin, object, Why::Asked)).map(shown)
    }

    /// Deletes an object.
    pub fn delete(&mut self, key: &ObjectRef, how: Delete) -> Result<Rc<Object>, ApiError> {
        let origin = self.origin.clone();
        self.sim.request(|server| server.delete(&origin, key, how, Why::Asked))
    }

    /// Applies a configuration on the server.
    pub fn apply(&mut self, value: Value, force: bool) -> Result<Value, ApiError> {
        let origin = self.origin.clone();
        let result = self.sim.request(|server| server.apply(&origin, value, force, Why::Asked));
        self.answered(result)
    }

    /// The same on a copy of the server, for a dry run.
    pub fn try_apply(&self, value: Value, force: bool) -> Result<Value, ApiError> {
        self.sim.server().clone().apply(&self.origin, value, force, Why::Asked).map(shown)
    }

    /// In whose name a verb writes, unless `--field-manager` says another.
    fn write_as(&mut self, args: &super::parse::Args) {
        let usual = match args.verb.as_str() {
            "apply" if args.on("server-side") => "kubectl".to_owned(),
            "apply" => "kubectl-client-side-apply".to_owned(),
            "scale" => "kubectl".to_owned(),
            verb => format!("kubectl-{verb}"),
        };
        let name = args.get("field-manager").filter(|name| !name.is_empty()).unwrap_or(&usual);
        let manager = Manager::update(name, if args.verb == "scale" { "scale" } else { "" });
        let unknown = match (args.verb.as_str(), args.get("validate")) {
            (_, Some("warn")) => Unknown::Warn,
            (_, Some("false" | "ignore")) => Unknown::Drop,
            ("apply" | "create" | "replace", _) => Unknown::Refuse,
            // The server's own way, where a command does not say how it wants it.
            _ => Unknown::Warn,
        };
        self.origin.manager = Some(Rc::new(manager.with_unknown(unknown)));
    }

    /// Evicts a Pod, if its disruption budget allows it.
    pub fn evict(&mut self, key: &ObjectRef, how: Delete) -> Result<(), ApiError> {
        let origin = self.origin.clone();
        self.sim.request(|server| server.evict(&origin, key, how, Why::Asked))
    }

    /// On whose behalf this client writes.
    pub fn origin(&self) -> Origin {
        self.origin.clone()
    }
}

fn shown(object: Rc<Object>) -> Value {
    object.to_value()
}

/// `Error from server (NotFound): pods "x" not found`
pub fn not_found(kind: Kind, name: &str) -> Failure {
    server_error(&ApiError::not_found(kind, name))
}

/// An API error as kubectl prints it.
pub fn server_error(error: &ApiError) -> Failure {
    match error.reason {
        Reason::Invalid => invalid(error),
        Reason::Unknown => Failure::plain(format!("Error from server: {}", error.message)),
        reason => Failure::plain(format!("Error from server ({reason:?}): {}", error.message)),
    }
}

/// The same for an object of a file; only errors that are not about fields name the file.
pub fn source_error(error: &ApiError, doing: &str) -> Failure {
    match error.reason {
        Reason::Invalid => invalid(error),
        reason => Failure::plain(format!("Error from server ({reason:?}): {doing}: {}", error.message)),
    }
}

/// `The Deployment "x" is invalid: …`, one line for each of several causes.
fn invalid(error: &ApiError) -> Failure {
    let Some(Cause::Fields(invalid)) = error.cause.as_deref() else {
        return Failure::plain(format!("The request is invalid: {}", error.message));
    };
    let kind = invalid.group_kind.split('.').next().unwrap_or(&invalid.group_kind);
    let causes = match &invalid.causes[..] {
        [cause] => cause.to_string(),
        causes => causes.iter().map(|cause| format!("\n* {cause}")).collect(),
    };
    let message = format!("The {kind} \"{}\" is invalid: {causes}", invalid.name);
    Failure { causes: invalid.causes.clone(), ..Failure::plain(message) }
}
