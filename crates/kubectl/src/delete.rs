//! `kubectl delete`: deletes objects, and waits until they are gone.

use super::client::Client;
use super::documents;
use super::failure::{file_error, server_error};
use super::filenames::Filenames;
use super::output::{DryRun, OutputFormat};
use super::parse::Args;
use super::targets::{Targets, key_of, name_of};
use super::unavailable::NO_OBJECTS;
use super::{Failure, Outcome, PendingCommand, Reads, Verb};
use apiserver::{ApiError, Delete, Propagation};
use k8s_model::{Kind, ObjectRef, Time, Uid};
use serde_json::{Value, json};

const FLAGS: &str = "filename/f= recursive/R kustomize/k= selector/l= field-selector= all-namespaces/A all cascade?background \
    grace-period= force now wait timeout= ignore-not-found output/o= dry-run?unchanged !interactive/i !raw=";

/// `kubectl delete`.
pub const VERB: Verb = Verb {
    name: "delete",
    aliases: &[],
    flags: FLAGS,
    reads: Reads::No,
    run,
    help: "Delete resources by file names, stdin, resources and names, or by resources and label selector",
};

fn run(client: &mut Client<'_>, words: &[String], stdin: &str) -> Result<Outcome, Failure> {
    let args = Args::parse("delete", FLAGS, words)?;
    client.use_flags(&args)?;
    if let Some(mode) = args
        .get("output")
        .filter(|mode| !mode.is_empty() && *mode != "name")
    {
        return Err(Failure::error(format!(
            "unexpected -o output mode: {mode}. We only support '-o name'"
        )));
    }
    let how = how(&args)?;
    if args.on("force") {
        client.warn(
            "Warning: Immediate deletion does not wait for confirmation that the running resource has been terminated. The resource \
             may continue to run on the cluster indefinitely.",
        );
    }
    let objects = if Filenames::of(&args).is_empty() {
        named(client, &args)?
    } else {
        from_text(client, &args, stdin)?
    };
    let mut pending = Deletion::default();
    let forced = if args.on("force") { "force " } else { "" };
    let found = !objects.is_empty();
    for (kind, object) in objects {
        delete_one(client, (kind, &object), forced, how, &mut pending);
    }
    if !found && client.failure.is_none() && !args.on("ignore-not-found") {
        client.say("No resources found");
    }
    if args.get("wait").is_some_and(|wait| wait == "false") || client.mode.dry != DryRun::No {
        return Ok(Outcome::Done);
    }
    if let Some(span) = args.duration("timeout")?.filter(|span| *span > 0) {
        pending.deadline = Some(client.sim().now().after(span));
    }
    Ok(Outcome::pending(pending))
}

fn how(args: &Args) -> Result<Delete, Failure> {
    let propagation = match args.get("cascade").unwrap_or("background") {
        "background" | "true" => Propagation::Background,
        "foreground" => Propagation::Foreground,
        "orphan" | "false" => Propagation::Orphan,
        other => {
            return Err(Failure::error(format!(
                "invalid cascade value ({other}). Must be \"background\", \"foreground\", or \"orphan\""
            )));
        }
    };
    let grace = args.number("grace-period")?.filter(|n| *n >= 0);
    let grace_seconds = match (grace, args.on("force"), args.on("now")) {
        (Some(grace), false, true) if grace != 1 => {
            return Err(Failure::error(
                "--now and --grace-period cannot be specified together",
            ));
        }
        (None, _, true) => Some(1),
        // Without --force a Pod gets one second, to prevent accidental loss.
        (Some(0), false, _) => Some(1),
        (None, true, _) => Some(0),
        (grace, ..) => grace,
    };
    Ok(Delete {
        grace_seconds,
        propagation,
        uid: None,
    })
}

fn named(client: &mut Client<'_>, args: &Args) -> Result<Vec<(Kind, Value)>, Failure> {
    if args.words.is_empty() {
        return Err(Failure::error(NO_OBJECTS));
    }
    if args.on("all") && args.get("selector").is_some() {
        return Err(Failure::error(
            "setting 'all' parameter but found a non empty selector. ",
        ));
    }
    let mut targets = Targets::parse(client, args, &args.words)?;
    targets.verb = "delete";
    if args.get("namespace").is_some()
        && targets.list.iter().any(|(kind, _)| !kind.info().namespaced)
    {
        client.warn(
            "Warning: deleting cluster-scoped resources, not scoped to the provided namespace",
        );
    }
    let unnamed = targets.list.iter().any(|(_, name)| name.is_none());
    if unnamed && !targets.has_selector() && !args.on("all") {
        return Err(Failure::error(
            "resource(s) were provided, but no name was specified",
        ));
    }
    if args.on("ignore-not-found") {
        targets.list.retain(|(kind, name)| {
            name.as_ref()
                .is_none_or(|name| client.find(&client.key(*kind, name)).is_some())
        });
    }
    if client.mode.dry == DryRun::Client {
        // Objects given by name are not looked up on the server.
        let named = |(kind, name): &(Kind, Option<String>)| {
            let key = client.key(*kind, name.as_deref()?);
            let namespace = if kind.info().namespaced {
                key.namespace.as_str()
            } else {
                ""
            };
            Some((
                *kind,
                json!({"metadata": {"name": key.name.as_str(), "namespace": namespace}}),
            ))
        };
        let told: Vec<(Kind, Value)> = targets.list.iter().filter_map(named).collect();
        if !told.is_empty() {
            return Ok(told);
        }
    }
    Ok(targets.fetch(client))
}

fn from_text(
    client: &mut Client<'_>,
    args: &Args,
    stdin: &str,
) -> Result<Vec<(Kind, Value)>, Failure> {
    let mut found = Vec::new();
    let contents = documents::read(client, args, stdin);
    for document in contents.documents {
        let source = document.source.clone();
        let (kind, value) = match documents::prepare(client, args, document) {
            Ok(prepared) => prepared,
            Err(failure) => {
                client.fail(&failure);
                continue;
            }
        };
        let key = key_of(kind, &value);
        match client.find(&key) {
            Some(object) => found.push((kind, object)),
            None if args.on("ignore-not-found") => {}
            None => {
                let error = ApiError::not_found(kind, &key.name);
                client.fail(&file_error(&error, "deleting", &source));
            }
        }
    }
    client.fail_all(contents.faults);
    Ok(found)
}

/// Deletes an object and prints it; `how_word` precedes `deleted`.
pub fn delete_one(
    client: &mut Client<'_>,
    (kind, object): (Kind, &Value),
    how_word: &str,
    how: Delete,
    pending: &mut Deletion,
) {
    let name = name_of(object);
    let namespace = object["metadata"]["namespace"].as_str().unwrap_or("");
    let key = ObjectRef::new(kind, namespace, name);
    let uid = client.sim().get(&key).map(|object| object.meta.uid);
    if let Err(error) = client.delete(&key, how) {
        return client.fail(&server_error(&error));
    }
    let place = if kind.info().namespaced {
        format!(" from {namespace} namespace")
    } else {
        String::new()
    };
    let dry = client.mode.dry.note();
    if client.mode.format == Some(OutputFormat::Name) {
        client.say(super::targets::label(kind, name));
    } else {
        client.say(format!(
            "{} \"{name}\" {how_word}deleted{place}{dry}",
            kind.qualified_singular()
        ));
    }
    pending.left.extend(uid.map(|uid| (key, uid)));
}

/// Wait for the removal of objects.
#[derive(Clone, Debug, Default)]
pub struct Deletion {
    left: Vec<(ObjectRef, Uid)>,
    /// Time at which the wait is given up.
    pub deadline: Option<Time>,
}

impl Deletion {
    /// Waits for the removal of an object, if it exists.
    pub fn of(client: &Client<'_>, key: &ObjectRef) -> Deletion {
        let uid = client.sim().get(key).map(|object| object.meta.uid);
        Deletion {
            left: uid.map(|uid| (key.clone(), uid)).into_iter().collect(),
            deadline: None,
        }
    }
}

impl PendingCommand for Deletion {
    /// Returns true when all are gone; a recreated object of the same name has another uid.
    fn poll(&mut self, client: &mut Client<'_>) -> Result<bool, Failure> {
        self.left.retain(|(key, uid)| {
            client
                .sim()
                .get(key)
                .is_some_and(|object| object.meta.uid == *uid)
        });
        let now = client.sim().now();
        match (self.left.first(), self.deadline) {
            (None, _) => Ok(true),
            (Some((key, _)), Some(deadline)) if now >= deadline => {
                let place = format!("{}/{}", key.kind.info().plural, key.name);
                Err(Failure::error(format!(
                    "timed out waiting for the condition on {place}"
                )))
            }
            _ => Ok(false),
        }
    }

    fn deadline(&self) -> Option<Time> {
        self.deadline
    }

    fn copy(&self) -> Box<dyn PendingCommand> {
        Box::new(self.clone())
    }
}
