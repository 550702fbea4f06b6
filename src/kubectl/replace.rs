//! `kubectl replace`: puts whole objects in the place of those that are there; with `--force` it deletes them first.

use super::client::Client;
use super::delete::{Deletion, delete_one};
use super::documents::{self, prepare};
use super::failure::source_error;
use super::output::DryRun;
use super::parse::Args;
use super::targets::{key_of, name_of};
use super::unavailable::NO_FILE;
use super::{Failure, Outcome, PendingCommand, Reads, Verb};
use crate::api::{Kind, Time};
use crate::engine::store::{ApiError, Delete};
use serde_json::Value;

const FLAGS: &str = "filename/f= kustomize/k= recursive/R dry-run?unchanged validate?strict output/o= force save-config wait \
    cascade?background grace-period= timeout= !raw= !subresource=";

/// `kubectl replace`.
pub const VERB: Verb =
    Verb { name: "replace", aliases: &[], flags: FLAGS, reads: Reads::No, run, help: "Replace a resource by file name or stdin" };

const DOING: &str = "error when replacing \"STDIN\"";

fn run(client: &mut Client<'_>, words: &[String], stdin: &str) -> Result<Outcome, Failure> {
    let args = Args::parse("replace", FLAGS, words)?;
    client.use_flags(&args)?;
    if args.on("force") && client.mode.dry != DryRun::No {
        return Err(Failure::error("--dry-run can not be used when --force is set"));
    }
    if args.get("filename").is_none() {
        return Err(Failure::error(NO_FILE));
    }
    let mut prepared = Vec::new();
    for value in documents::read(client, stdin) {
        match prepare(client, &args, value) {
            Ok((kind, value)) if args.on("save-config") => prepared.push((kind, documents::with_last_applied(&value))),
            Ok(prepared_one) => prepared.push(prepared_one),
            Err(failure) => client.fail(&failure),
        }
    }
    if args.on("force") {
        return Ok(Outcome::pending(forced(client, &args, prepared)?));
    }
    for (kind, value) in prepared {
        if let Err(failure) = replace(client, kind, value) {
            client.fail(&failure);
        }
    }
    Ok(Outcome::Done)
}

fn replace(client: &mut Client<'_>, kind: Kind, value: Value) -> Result<(), Failure> {
    if client.find(&key_of(kind, &value)).is_none() {
        return Err(source_error(&ApiError::not_found(kind, name_of(&value)), DOING));
    }
    let replaced = client.update(value).map_err(|error| source_error(&error, DOING))?;
    client.report(kind, &replaced, "replaced")
}

/// Objects that are created anew when the old ones are gone.
#[derive(Clone, Debug)]
struct Forced {
    old: Deletion,
    new: Vec<(Kind, Value)>,
}

fn forced(client: &mut Client<'_>, args: &Args, new: Vec<(Kind, Value)>) -> Result<Forced, Failure> {
    let mut old = Deletion::default();
    let grace_seconds = args.number("grace-period")?.filter(|seconds| *seconds >= 0);
    for (kind, value) in &new {
        if let Some(object) = client.find(&key_of(*kind, value)) {
            delete_one(client, (*kind, &object), "", Delete { grace_seconds, ..Delete::default() }, &mut old);
        }
    }
    Ok(Forced { old, new })
}

impl PendingCommand for Forced {
    fn poll(&mut self, client: &mut Client<'_>) -> Result<bool, Failure> {
        if !self.old.poll(client)? {
            return Ok(false);
        }
        for (kind, value) in std::mem::take(&mut self.new) {
            match client.create(value) {
                Ok(created) => client.report(kind, &created, "replaced")?,
                Err(error) => client.fail(&source_error(&error, DOING)),
            }
        }
        Ok(true)
    }

    fn deadline(&self) -> Option<Time> {
        self.old.deadline
    }

    fn copy(&self) -> Box<dyn PendingCommand> {
        Box::new(self.clone())
    }
}
