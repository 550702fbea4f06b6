//! `kubectl patch`.

use super::client::Client;
use super::failure::json_fault;
use super::failure::server_error;
use super::output::DryRun;
use super::parse::Args;
use super::targets::{Targets, key_of, name_of};
use super::{Failure, Outcome, Reads, Verb};
use apiserver::{ApiError, PatchType, StatusReason, Subresource};
use k8s_model::Kind;
use serde_json::Value;

const FLAGS: &str = "patch/p= type= patch-file= subresource= local dry-run?unchanged output/o= @filename/f= kustomize/k= recursive/R selector/l= field-selector= record";

/// `kubectl patch`.
pub const VERB: Verb = Verb {
    name: "patch",
    aliases: &[],
    flags: FLAGS,
    reads: Reads::No,
    run,
    help: "Update fields of a resource",
};

fn run(client: &mut Client<'_>, words: &[String], _: &str) -> Result<Outcome, Failure> {
    let args = Args::parse("patch", FLAGS, words)?;
    client.use_flags(&args)?;
    let how = args.get("type").unwrap_or("strategic");
    let how = named(how).ok_or_else(|| {
        Failure::error(format!(
            "--type must be one of [json merge strategic], not \"{how}\""
        ))
    })?;
    let file = args.get("patch-file").filter(|path| !path.is_empty());
    if file.is_some() && args.get("patch").is_some() {
        return Err(Failure::error(
            "cannot specify --patch and --patch-file together",
        ));
    }
    let from_file = file.map(|path| {
        let missing = || {
            Failure::error(format!(
                "unable to read patch file: open {path}: no such file or directory"
            ))
        };
        client.file(path).ok_or_else(missing)
    });
    let from_file = from_file.transpose()?;
    let text = args
        .get("patch")
        .or(from_file.as_deref())
        .filter(|text| !text.is_empty());
    let text = text.ok_or_else(|| {
        Failure::error("must specify --patch or --patch-file containing the contents of the patch")
    })?;
    let change = read(text)?;
    let part = match args.get("subresource").unwrap_or("") {
        "" => Subresource::Main,
        "status" => Subresource::Status,
        "scale" => Subresource::Scale,
        "resize" => Subresource::Resize,
        other => {
            return Err(Failure::error(format!(
                "invalid subresource value: \"{other}\". Must be one of [status scale resize]"
            )));
        }
    };
    for (kind, object) in Targets::parse(client, &args, &args.words)?.fetch(client) {
        let name = name_of(&object).to_owned();
        let key = key_of(kind, &object);
        let before = object["metadata"]["resourceVersion"].clone();
        match client.patch(&key, part, how, &change) {
            Ok(_) if part == Subresource::Scale && client.mode.format.is_none() => client
                .streams
                .say(format!("scale.autoscaling/{name} patched")),
            Ok(after) => {
                let same = if client.mode.dry == DryRun::No {
                    after["metadata"]["resourceVersion"] == before
                } else {
                    after == object
                };
                client.report_plainly(
                    kind,
                    &after,
                    if same {
                        "patched (no change)"
                    } else {
                        "patched"
                    },
                )?;
            }
            Err(error) => client.streams.fail(&refused(kind, &error)),
        }
    }
    Ok(Outcome::Done)
}

/// Converts a refusal; kubectl names the type of patch that the object does not support. The server refuses only the strategic one.
fn refused(kind: Kind, error: &ApiError) -> Failure {
    if error.reason != StatusReason::UnsupportedMediaType {
        return server_error(error);
    }
    let (version, name, message) = (kind.api_version(), kind.name(), &error.message);
    Failure::error(format!(
        "application/strategic-merge-patch+json is not supported by {version}, Kind={name}: {message}"
    ))
}

/// Returns the type of patch for a flag's value.
fn named(word: &str) -> Option<PatchType> {
    match word {
        "strategic" => Some(PatchType::Strategic),
        "merge" => Some(PatchType::Merge),
        "json" => Some(PatchType::Json),
        _ => None,
    }
}

/// Parses the patch as JSON or YAML.
fn read(text: &str) -> Result<Value, Failure> {
    if let Ok(value) = serde_json::from_str(text) {
        return Ok(value);
    }
    let parsed = manifest::parse(text.as_bytes());
    match (
        parsed.documents.into_iter().next(),
        parsed.diagnostics.first(),
    ) {
        (Some(document), None) if !text.trim_start().starts_with('{') => Ok(document.value),
        (_, Some(diagnostic)) if !text.trim_start().starts_with('{') => Err(Failure::error(
            format!("unable to parse {text:?}: {}", diagnostic.fault),
        )),
        _ => Err(Failure::plain(format!(
            "Error from server (BadRequest): {}",
            json_fault(text).1
        ))),
    }
}

/// Applies `--overrides` to a generated object.
pub fn overridden(args: &Args, kind: Kind, object: Value) -> Result<Value, Failure> {
    let Some(text) = args.get("overrides").filter(|text| !text.is_empty()) else {
        return Ok(object);
    };
    let how = args.get("override-type").unwrap_or("merge");
    let how = named(how).ok_or_else(|| Failure::error(format!("invalid merge type: {how}")))?;
    how.merged(kind, object, &read(text)?)
        .map_err(|error| server_error(&error))
}
