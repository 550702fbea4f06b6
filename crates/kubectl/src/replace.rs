//! `kubectl replace`: replaces whole objects; with `--force` it deletes them first.

use super::client::Client;
use super::delete::{Deletion, DeletionManner, DeletionTarget, delete_one};
use super::documents::{ManifestObject, prepare};
use super::failure::file_error;
use super::filenames::Filenames;
use super::output::DryRun;
use super::parse::Args;
use super::targets::key_of;
use super::unavailable::NO_FILE;
use super::{Failure, Outcome, PendingCommand, Reads, Verb};
use crate::documents;
use apiserver::{ApiError, DeleteOptions};
use k8s_model::Time;

const FLAGS: &str = "filename/f= kustomize/k= recursive/R dry-run?unchanged validate?strict output/o= force save-config wait \
    cascade?background grace-period= timeout= !raw= !subresource=";

/// `kubectl replace`.
pub const VERB: Verb = Verb {
    name: "replace",
    aliases: &[],
    flags: FLAGS,
    reads: Reads::No,
    run,
    help: "Replace a resource by file name or stdin",
};

fn run(client: &mut Client<'_>, words: &[String], stdin: &str) -> Result<Outcome, Failure> {
    let args = Args::parse("replace", FLAGS, words)?;
    client.use_flags(&args)?;
    if args.on("force") && client.mode.dry != DryRun::No {
        return Err(Failure::error(
            "--dry-run can not be used when --force is set",
        ));
    }
    if Filenames::of(&args).is_empty() {
        return Err(Failure::error(NO_FILE));
    }
    let mut prepared = Vec::new();
    let contents = documents::read(client, &args, stdin);
    for document in contents.documents {
        let source = document.source.clone();
        match prepare(client, &args, document) {
            Ok((kind, value)) => {
                let value = if args.on("save-config") {
                    documents::with_last_applied(&value)
                } else {
                    value
                };
                prepared.push(ManifestObject {
                    source,
                    kind,
                    value,
                });
            }
            Err(failure) => client.streams.fail(&failure),
        }
    }
    if args.on("force") {
        client.streams.fail_all(contents.faults);
        return Ok(Outcome::pending(forced(client, &args, prepared)?));
    }
    for document in prepared {
        if let Err(failure) = replace(client, document) {
            client.streams.fail(&failure);
        }
    }
    client.streams.fail_all(contents.faults);
    Ok(Outcome::Done)
}

fn replace(
    client: &mut Client<'_>,
    ManifestObject {
        source,
        kind,
        mut value,
    }: ManifestObject,
) -> Result<(), Failure> {
    let refused = |error: &ApiError| file_error(error, "replacing", &source);
    let current = client
        .object(&key_of(kind, &value))
        .map_err(|error| refused(&error))?
        .to_value();
    if value["metadata"]["resourceVersion"]
        .as_str()
        .is_none_or(str::is_empty)
    {
        value["metadata"]["resourceVersion"] = current["metadata"]["resourceVersion"].clone();
    }
    let replaced = client.update(value).map_err(|error| refused(&error))?;
    client.report(kind, &replaced, "replaced")
}

/// Objects that are recreated when the old ones are gone.
#[derive(Clone, Debug)]
struct ForcedReplacement {
    old: Deletion,
    new: Vec<ManifestObject>,
}

fn forced(
    client: &mut Client<'_>,
    args: &Args,
    new: Vec<ManifestObject>,
) -> Result<ForcedReplacement, Failure> {
    let mut old = Deletion::default();
    let grace_seconds = args.number("grace-period")?.filter(|seconds| *seconds >= 0);
    let manner = DeletionManner {
        options: DeleteOptions {
            grace_period_seconds: grace_seconds,
            ..DeleteOptions::background()
        },
        adverb: "",
        ignores_missing: true,
    };
    for document in &new {
        let target = DeletionTarget {
            kind: document.kind,
            key: key_of(document.kind, &document.value),
            source: document.source.clone(),
        };
        delete_one(client, &target, &manner, &mut old);
    }
    Ok(ForcedReplacement { old, new })
}

impl PendingCommand for ForcedReplacement {
    fn poll(&mut self, client: &mut Client<'_>) -> Result<bool, Failure> {
        if !self.old.poll(client)? {
            return Ok(false);
        }
        for ManifestObject {
            source,
            kind,
            value,
        } in std::mem::take(&mut self.new)
        {
            match client.create(value) {
                Ok(created) => client.report(kind, &created, "replaced")?,
                Err(error) => client
                    .streams
                    .fail(&file_error(&error, "replacing", &source)),
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
