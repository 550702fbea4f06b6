//! `kubectl apply`: creates missing objects, and patches existing ones with the difference to the last applied configuration.

mod force;
mod last_applied;
mod prune;

use self::force::Recreation;
use self::prune::Pruner;
use super::applied::{Applied, ApplyResult};
use super::client::Client;
use super::documents::{FileContents, ManifestObject, prepare, read, with_last_applied};
use super::failure::{file_error, server_error, source_error};
use super::filenames::Filenames;
use super::output::{group_version_kind, resource};
use super::parse::Args;
use super::unavailable::NO_FILE;
use super::{Failure, Outcome, Reads, Verb};
use crate::documents;
use crate::targets::key_of;
use apiserver::{ApiError, PatchType, StatusReason, Subresource, patch};
use k8s_model::meta::LAST_APPLIED;
use k8s_model::{Kind, ObjectRef};
use serde_json::{Value, json};
use std::collections::VecDeque;

/// Flags of the verbs that read objects.
const FLAGS: &str = "filename/f= kustomize/k= recursive/R dry-run?unchanged validate?strict output/o= server-side force-conflicts \
    ~overwrite force prune all selector/l= prune-allowlist= save-config wait cascade?background grace-period= timeout= record";

/// `kubectl apply`.
pub const VERB: Verb = Verb {
    name: "apply",
    aliases: &[],
    flags: FLAGS,
    reads: Reads::No,
    run,
    help: "Apply a configuration to a resource by file name or stdin",
};

fn run(client: &mut Client<'_>, words: &[String], stdin: &str) -> Result<Outcome, Failure> {
    match words.split_first() {
        Some((topic, rest)) if topic == "view-last-applied" => {
            return last_applied::view(client, rest, stdin);
        }
        Some((topic, rest)) if topic == "set-last-applied" => {
            return last_applied::set(client, rest, stdin);
        }
        _ => {}
    }
    let args = Args::parse("apply", FLAGS, words)?;
    client.use_flags(&args)?;
    if let Some(fault) = contradiction(&args) {
        return Err(Failure::error(fault));
    }
    if let Some(word) = args.words.first() {
        return Err(Failure::usage(
            "apply",
            format!("Unexpected args: [{word}]"),
        ));
    }
    if Filenames::of(&args).is_empty() {
        return Err(Failure::error(NO_FILE));
    }
    let pruner = Pruner::parse(client, &args)?;
    let selector = crate::filenames::selector_of_files(args.get("selector"))?;
    // All files are read before the first object is sent.
    let FileContents {
        mut documents,
        faults,
    } = read(client, &args, stdin);
    documents.retain(|document| selector.matches(&document.value));
    if documents.is_empty() && faults.is_empty() {
        return Err(Failure::error("no objects passed to apply"));
    }
    client.applied.extend(faults.iter().map(|fault| Applied {
        key: None,
        result: ApplyResult::Refused(fault.clone()),
    }));
    client.streams.fail_all(faults);
    let mut applying = Applying {
        args,
        documents: documents.into(),
        pruner,
        applied: Vec::new(),
        recreation: None,
    };
    applying.go_on(client);
    Ok(if applying.recreation.is_some() {
        Outcome::pending(applying)
    } else {
        Outcome::Done
    })
}

/// Apply of several objects.
#[derive(Clone, Debug)]
struct Applying {
    args: Args,
    /// Objects still to be applied.
    documents: VecDeque<ManifestObject>,
    pruner: Option<Pruner>,
    applied: Vec<ObjectRef>,
    /// Recreation in progress.
    recreation: Option<Recreation>,
}

impl Applying {
    /// Applies one object after the other, until one has to be waited for; prunes at the end.
    fn go_on(&mut self, client: &mut Client<'_>) {
        while let Some(document) = self.documents.pop_front() {
            self.recreation = one(client, &self.args, document);
            self.applied
                .extend(client.applied.last().and_then(|last| last.key.clone()));
            if self.recreation.is_some() {
                return;
            }
        }
        if let Some(pruner) = self
            .pruner
            .take()
            .filter(|_| client.streams.failure.is_none())
        {
            pruner.prune(client, &self.applied);
        }
    }
}

/// Applies a parsed object.
pub fn object(client: &mut Client<'_>, words: &[String], value: Value) -> Result<Outcome, Failure> {
    let args = Args::parse("apply", FLAGS, words)?;
    client.use_flags(&args)?;
    match documents::made(client, value) {
        Ok(document) => drop(one(client, &args, document)),
        Err(failure) => refuse(client, None, failure),
    }
    Ok(Outcome::Done)
}

/// Applies an object, prints and records the result; returns the recreation to wait for, if any.
fn one(client: &mut Client<'_>, args: &Args, document: ManifestObject) -> Option<Recreation> {
    let (mut key, mut recreation) = (None, None);
    match send(client, args, document, &mut key, &mut recreation) {
        Ok(result) => client.applied.push(Applied { key, result }),
        Err(failure) => refuse(client, key, failure),
    }
    recreation
}

fn refuse(client: &mut Client<'_>, key: Option<ObjectRef>, failure: Failure) {
    client.streams.fail(&failure);
    client.applied.push(Applied {
        key,
        result: ApplyResult::Refused(failure),
    });
}

/// Returns the error of a contradiction between flags.
fn contradiction(args: &Args) -> Option<&'static str> {
    match (args.on("server-side"), args.get("dry-run")) {
        (false, _) if args.on("force-conflicts") => {
            Some("--force-conflicts only works with --server-side")
        }
        (_, Some("server")) if args.on("force") => {
            Some("--dry-run=server cannot be used with --force")
        }
        (true, _) if args.on("force") => Some("--force cannot be used with --server-side"),
        (true, Some("client")) => Some(
            "--dry-run=client doesn't work with --server-side (did you mean --dry-run=server instead?)",
        ),
        _ => None,
    }
}

fn send(
    client: &mut Client<'_>,
    args: &Args,
    document: ManifestObject,
    sent: &mut Option<ObjectRef>,
    recreation: &mut Option<Recreation>,
) -> Result<ApplyResult, Failure> {
    let source = document.source.clone();
    let (kind, mut value) = prepare(client, args, document)?;
    client.note_cause(&mut value);
    let name = value["metadata"]["name"].as_str().unwrap_or("").to_owned();
    if name.is_empty() {
        return Err(nameless(client, kind, &value, &source));
    }
    let key = key_of(kind, &value);
    *sent = Some(key.clone());
    if args.on("server-side") {
        return server_side(client, args, (kind, value));
    }
    let modified = with_last_applied(&value);
    let found = client
        .find_object(&key)
        .map_err(|error| source_error(&error, &reading(kind, &name, &key.namespace, &source)))?;
    let Some(current) = found.map(|object| object.to_value()) else {
        let created = client
            .create(modified)
            .map_err(|error| file_error(&error, "creating", &source))?;
        client.report(kind, &created, "created")?;
        return Ok(ApplyResult::Created);
    };
    if current["metadata"]["annotations"]
        .get(LAST_APPLIED)
        .is_none()
    {
        client.streams.warn(missing_annotation(kind, &name));
    }
    let (how, change) = difference(kind, &modified, &current);
    if change == json!({}) {
        client.report(kind, &current, "unchanged")?;
        return Ok(ApplyResult::Unchanged);
    }
    let written = match client.patch(&key, Subresource::Main, how, &change) {
        Err(error)
            if args.on("force")
                && matches!(error.reason, StatusReason::Conflict | StatusReason::Invalid) =>
        {
            let grace = args.number("grace-period")?.filter(|seconds| *seconds >= 0);
            *recreation = Some(Recreation::start(
                client,
                ManifestObject {
                    source,
                    kind,
                    value: modified,
                },
                &key,
                grace,
            )?);
            return Ok(ApplyResult::Configured);
        }
        written => written.map_err(|error| patch_failure(&error, &key, &change, &source))?,
    };
    client.report(kind, &written, "configured")?;
    Ok(ApplyResult::Configured)
}

/// Applies an object on the server side, which tracks the field managers.
fn server_side(
    client: &mut Client<'_>,
    args: &Args,
    object: (Kind, Value),
) -> Result<ApplyResult, Failure> {
    let (kind, value) = object;
    let force = args.on("force-conflicts");
    match client.apply(value, force) {
        Ok(applied) => {
            client.report(kind, &applied, "serverside-applied")?;
            Ok(ApplyResult::Configured)
        }
        Err(error) if error.reason == StatusReason::Conflict => {
            Err(Failure::error(format!("{}\n{WAYS_OUT}", error.message)))
        }
        Err(error) => Err(server_error(&error)),
    }
}

const WAYS_OUT: &str = "Please review the fields above--they currently have other managers. Here
are the ways you can resolve this warning:
* If you intend to manage all of these fields, please re-run the apply
  command with the `--force-conflicts` flag.
* If you do not intend to manage all of the fields, please edit your
  manifest to remove references to the fields that should keep their
  current managers.
* You may co-own fields by updating your manifest to match the existing
  value; in this case, you'll become the manager if the other manager(s)
  stop managing the field (remove it from their configuration).
See https://kubernetes.io/docs/reference/using-api/server-side-apply/#conflicts";

/// Returns the patch that apply has to send.
pub fn difference(kind: Kind, modified: &Value, current: &Value) -> (PatchType, Value) {
    let last = current["metadata"]["annotations"][LAST_APPLIED].as_str();
    let last: Value = last
        .and_then(|text| serde_json::from_str(text).ok())
        .unwrap_or_else(|| json!({}));
    match patch::three_way_strategic(kind, &last, modified, current) {
        Some(change) => (PatchType::Strategic, change),
        None => (
            PatchType::Merge,
            patch::three_way_merge(&last, modified, current),
        ),
    }
}

fn nameless(client: &Client<'_>, kind: Kind, value: &Value, source: &str) -> Failure {
    if let Some(generate) = value["metadata"]["generateName"]
        .as_str()
        .filter(|name| !name.is_empty())
    {
        return Failure::error(format!(
            "from {generate}: cannot use generate name with apply"
        ));
    }
    Failure::error(format!(
        "{}: resource name may not be empty",
        reading(kind, "", &client.namespace, source)
    ))
}

/// Returns the description of the first request of an apply, which precedes the server's error.
fn reading(kind: Kind, name: &str, namespace: &str, source: &str) -> String {
    format!(
        "error when retrieving current configuration of:\n{}\nfrom server for: {source:?}",
        identity(kind, name, namespace)
    )
}

fn identity(kind: Kind, name: &str, namespace: &str) -> String {
    let (resource, kind) = (resource(kind), group_version_kind(kind));
    format!(
        "Resource: \"{resource}\", GroupVersionKind: \"{kind}\"\nName: \"{name}\", Namespace: \"{namespace}\""
    )
}

fn patch_failure(error: &ApiError, key: &ObjectRef, change: &Value, source: &str) -> Failure {
    let place = identity(key.kind, &key.name, &key.namespace);
    source_error(
        error,
        &format!(
            "error when applying patch:\n{change}\nto:\n{place}\nfor: {source:?}: error when patching {source:?}"
        ),
    )
}

fn missing_annotation(kind: Kind, name: &str) -> String {
    format!(
        "Warning: resource {}/{name} is missing the {LAST_APPLIED} annotation which is required by kubectl apply. kubectl apply should \
         only be used on resources created declaratively by either kubectl create --save-config or kubectl apply. The missing annotation \
         will be patched automatically.",
        kind.info().plural
    )
}
