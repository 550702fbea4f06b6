//! `kubectl delete`: deletes objects, and waits until they are gone.

use super::client::Client;
use super::documents;
use super::failure::{file_error, server_error};
use super::filenames::Filenames;
use super::output::{DryRun, OutputFormat};
use super::parse::Args;
use super::targets::{Targets, check_served, key_of};
use super::unavailable::NO_OBJECTS;
use super::{Failure, Outcome, PendingCommand, Reads, Verb};
use apiserver::{DeleteOptions, Propagation, StatusReason};
use k8s_model::{Kind, ObjectRef, Time, Uid};
use std::rc::Rc;

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
    let options = delete_options(&args)?;
    if args.on("force") {
        client.streams.warn(
            "Warning: Immediate deletion does not wait for confirmation that the running resource has been terminated. The resource \
             may continue to run on the cluster indefinitely.",
        );
    }
    let (objects, faults) = if Filenames::of(&args).is_empty() {
        (named(client, &args)?, Vec::new())
    } else {
        from_text(client, &args, stdin)?
    };
    let mut pending = Deletion::default();
    let manner = DeletionManner {
        options,
        adverb: if args.on("force") { "force " } else { "" },
        ignores_missing: args.on("ignore-not-found"),
    };
    let found = !objects.is_empty();
    for target in &objects {
        delete_one(client, target, &manner, &mut pending);
    }
    // Files that cannot be decoded are reported last.
    client.streams.fail_all(faults);
    if !found && client.streams.failure.is_none() && !args.on("ignore-not-found") {
        client.streams.say("No resources found");
    }
    if args.get("wait").is_some_and(|wait| wait == "false") || client.mode.dry != DryRun::No {
        return Ok(Outcome::Done);
    }
    if let Some(span) = args.duration("timeout")?.filter(|span| *span > 0) {
        pending.deadline = Some(client.sim().now().after(span));
    }
    Ok(Outcome::pending(pending))
}

fn delete_options(args: &Args) -> Result<DeleteOptions, Failure> {
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
    Ok(DeleteOptions {
        grace_period_seconds: grace_seconds,
        propagation_policy: Some(propagation),
        ..DeleteOptions::default()
    })
}

fn named(client: &mut Client<'_>, args: &Args) -> Result<Vec<DeletionTarget>, Failure> {
    if args.words.is_empty() {
        return Err(Failure::error(NO_OBJECTS));
    }
    if args.on("all") && args.get("selector").is_some() {
        return Err(Failure::error(
            "setting 'all' parameter but found a non empty selector. ",
        ));
    }
    let targets = Targets::parse(client, args, &args.words)?;
    if args.get("namespace").is_some()
        && targets.list.iter().any(|(kind, _)| !kind.info().namespaced)
    {
        client.streams.warn(
            "Warning: deleting cluster-scoped resources, not scoped to the provided namespace",
        );
    }
    let unnamed = targets.list.iter().any(|(_, name)| name.is_none());
    if unnamed && !targets.has_selector() && !args.on("all") {
        return Err(Failure::error(
            "resource(s) were provided, but no name was specified",
        ));
    }
    if !unnamed {
        // Objects given by name are not read first.
        let mut named = Vec::new();
        for (kind, name) in &targets.list {
            let name = name.as_deref().unwrap_or("");
            match check_served(client, "delete", *kind, Some(name)) {
                Ok(()) => named.push(DeletionTarget {
                    kind: *kind,
                    key: client.key(*kind, name),
                    source: Rc::default(),
                }),
                Err(failure) => client.streams.fail(&failure),
            }
        }
        return Ok(named);
    }
    let listed = targets.fetch(client).into_iter();
    Ok(listed
        .map(|(kind, object)| DeletionTarget {
            kind,
            key: key_of(kind, &object),
            source: Rc::default(),
        })
        .collect())
}

/// Returns the objects of files, and the failures of those that cannot be decoded.
fn from_text(
    client: &mut Client<'_>,
    args: &Args,
    stdin: &str,
) -> Result<(Vec<DeletionTarget>, Vec<Failure>), Failure> {
    let mut found = Vec::new();
    let contents = documents::read(client, args, stdin);
    for document in contents.documents {
        let source = document.source.clone();
        let (kind, value) = match documents::prepare(client, args, document) {
            Ok(prepared) => prepared,
            Err(failure) => {
                client.streams.fail(&failure);
                continue;
            }
        };
        found.push(DeletionTarget {
            kind,
            key: key_of(kind, &value),
            source,
        });
    }
    Ok((found, contents.faults))
}

/// Object to delete.
pub struct DeletionTarget {
    /// Kind.
    pub kind: Kind,
    /// Key.
    pub key: ObjectRef,
    /// File that names it; empty for one named on the command line.
    pub source: Rc<str>,
}

/// Manner of a deletion.
pub struct DeletionManner {
    /// Options of the request.
    pub options: DeleteOptions,
    /// Word that precedes `deleted`: `force ` or empty.
    pub adverb: &'static str,
    /// True if an object that does not exist is no failure.
    pub ignores_missing: bool,
}

/// Deletes an object and prints it.
pub fn delete_one(
    client: &mut Client<'_>,
    target: &DeletionTarget,
    manner: &DeletionManner,
    pending: &mut Deletion,
) {
    let (kind, key) = (target.kind, &target.key);
    let (name, namespace, adverb) = (&*key.name, &*key.namespace, manner.adverb);
    let uid = match client.delete(key, manner.options.clone()) {
        Ok(uid) => uid,
        Err(error) if manner.ignores_missing && error.reason == StatusReason::NotFound => return,
        Err(error) if target.source.is_empty() => {
            return client.streams.fail(&server_error(&error));
        }
        Err(error) => {
            return client
                .streams
                .fail(&file_error(&error, "deleting", &target.source));
        }
    };
    let place = if kind.info().namespaced {
        format!(" from {namespace} namespace")
    } else {
        String::new()
    };
    let dry = client.mode.dry.note();
    if client.mode.format == Some(OutputFormat::Name) {
        client.streams.say(super::targets::label(kind, name));
    } else {
        client.streams.say(format!(
            "{} \"{name}\" {adverb}deleted{place}{dry}",
            kind.qualified_singular()
        ));
    }
    pending.left.extend(uid.map(|uid| (key.clone(), uid)));
}

/// Wait for the removal of objects.
#[derive(Clone, Debug, Default)]
pub struct Deletion {
    left: Vec<(ObjectRef, Uid)>,
    /// Time at which the wait is given up.
    pub deadline: Option<Time>,
}

impl Deletion {
    /// Waits for the removal of an object with this uid.
    pub fn of(key: &ObjectRef, uid: Option<Uid>) -> Deletion {
        Deletion {
            left: uid.map(|uid| (key.clone(), uid)).into_iter().collect(),
            deadline: None,
        }
    }
}

impl PendingCommand for Deletion {
    /// Returns true when all are gone; a recreated object of the same name has another uid.
    fn poll(&mut self, client: &mut Client<'_>) -> Result<bool, Failure> {
        // A user who may not read an object does not wait for it.
        self.left.retain(|(key, uid)| {
            client
                .object(key)
                .is_ok_and(|object| object.meta.uid == *uid)
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
