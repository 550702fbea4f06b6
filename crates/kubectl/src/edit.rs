//! `kubectl edit`: opens an object as text in an editor; the changes are applied to the current object.
//!
//! Models `kubectl/pkg/cmd/util/editor/editoptions.go`, for one object. The text comes back as input, from the page's editor. The write
//! merges fields, without strategic merge: a changed list is written as a whole.

use super::client::Client;
use super::failure::server_error;
use super::output::OutputFormat;
use super::parse::Args;
use super::targets::{Targets, key_of};
use super::unavailable::NO_OBJECTS;
use super::{Failure, Outcome, PendingCommand, Reads, Verb};
use k8s_model::{Kind, schema};
use serde_json::Value;

const FLAGS: &str = "@filename/f= output/o= !subresource= !save-config ~validate?strict !output-patch recursive/R kustomize/k= record";

/// `kubectl edit`.
pub const VERB: Verb = Verb {
    name: "edit",
    aliases: &[],
    flags: FLAGS,
    reads: Reads::No,
    run,
    help: "Edit a resource on the server",
};

const HEADER: &str = "# Please edit the object below. Lines beginning with a '#' will be ignored,\n# and an empty file will abort the edit. If an \
    error occurs while saving this file will be\n# reopened with the relevant failures.\n#\n";

fn run(client: &mut Client<'_>, words: &[String], _: &str) -> Result<Outcome, Failure> {
    let args = Args::parse("edit", FLAGS, words)?;
    client.use_flags(&args)?;
    let format = match client.mode.format.take() {
        None => OutputFormat::Yaml,
        Some(format @ (OutputFormat::Yaml | OutputFormat::Json)) => format,
        Some(_) => return Err(Failure::error("The flag 'output' must be one of yaml|json")),
    };
    if args.words.is_empty() {
        return Err(Failure::error(NO_OBJECTS));
    }
    let mut objects = Targets::parse(client, &args, &args.words)?.fetch(client);
    let Some((kind, object)) = objects.pop() else {
        return Ok(Outcome::Done);
    };
    if !objects.is_empty() {
        return Err(Failure::error("one object is edited at a time here"));
    }
    let shown = format.print(kind, std::slice::from_ref(&object), true, true)?;
    // JSON has no comments.
    let text = if matches!(format, OutputFormat::Json) {
        shown
    } else {
        format!("{HEADER}{shown}")
    };
    Ok(Outcome::pending(Editing {
        kind,
        object,
        text,
        refused: false,
        end: None,
    }))
}

/// Object being edited as text.
#[derive(Clone, Debug)]
struct Editing {
    kind: Kind,
    /// Object when the editor was opened.
    object: Value,
    /// Text in the editor.
    text: String,
    /// True if the last saved text was refused.
    refused: bool,
    /// Final result.
    end: Option<Result<(), Failure>>,
}

/// Removes comment lines and trailing blanks, to detect changes.
fn without_comments(text: &str) -> String {
    text.lines()
        .filter(|line| !line.trim_start().starts_with('#'))
        .map(|line| format!("{}\n", line.trim_end()))
        .collect()
}

/// Removes the leading comments of a text.
fn without_head(text: &str) -> String {
    text.lines()
        .skip_while(|line| line.starts_with('#'))
        .map(|line| format!("{line}\n"))
        .collect()
}

impl Editing {
    /// Handles a saved text.
    fn take(&mut self, client: &mut Client<'_>, saved: &str) {
        let (plain, before) = (without_comments(saved), without_comments(&self.text));
        if plain.trim().is_empty() {
            return self.cancel(client, "Edit cancelled, saved file was empty.");
        }
        if plain.trim() == before.trim() {
            return match self.refused {
                true => {
                    self.end = Some(Err(Failure::error(
                        "Edit cancelled, no valid changes were saved.",
                    )))
                }
                false => self.cancel(client, "Edit cancelled, no changes made."),
            };
        }
        // Comments are parsed by YAML, since `#` within a block scalar is not a comment.
        let parsed = manifest::parse(saved.as_bytes());
        if let Some(wrong) = parsed.diagnostics.first() {
            return self.reopen(
                &format!("# The edited file had a syntax error: {}\n#\n", wrong.fault),
                saved,
            );
        }
        let edited: Vec<Value> = parsed
            .documents
            .into_iter()
            .map(|document| document.value)
            .collect();
        let key = |object: &Value| {
            [
                &object["apiVersion"],
                &object["kind"],
                &object["metadata"]["name"],
            ]
            .map(Value::clone)
        };
        let [edited] = &edited[..] else {
            return self.reopen("# The edited file must have one object\n#\n", saved);
        };
        if key(edited) != key(&self.object) {
            self.end = Some(Err(Failure::error(
                "At least one of apiVersion, kind and name was changed",
            )));
            return;
        }
        match write(client, self.kind, &self.object, edited) {
            Ok(()) => self.end = Some(Ok(())),
            Err(reason) => self.reopen(&reason, saved),
        }
    }

    fn cancel(&mut self, client: &mut Client<'_>, words: &str) {
        client.streams.warn(words);
        self.end = Some(Ok(()));
    }

    fn reopen(&mut self, reason: &str, text: &str) {
        self.text = format!("{HEADER}{reason}{}", without_head(text));
        self.refused = true;
    }
}

/// Writes the changes; the error is the comment that explains a refusal.
fn write(
    client: &mut Client<'_>,
    kind: Kind,
    original: &Value,
    edited: &Value,
) -> Result<(), String> {
    let key = key_of(kind, original);
    let comment = |what: String| format!("# {}\n#\n", what.replace('\n', "\n# "));
    if let Some(wrong) = schema::decode_error(&kind.api_version(), kind.name(), edited) {
        return Err(comment(format!("Error from server (BadRequest): {wrong}")));
    }
    match client.patch_difference(kind, original, edited.clone()) {
        Ok(after) => client
            .report(kind, &after, "edited")
            .map_err(|failure| comment(failure.message)),
        Err(error) => {
            let failure = server_error(&error);
            let problem = match failure.causes.is_empty() {
                true => failure.message,
                false => {
                    let causes: String = failure
                        .causes
                        .iter()
                        .map(|cause| format!("\n* {cause}"))
                        .collect();
                    format!(
                        "{} {:?} was not valid:{causes}",
                        kind.group_resource(),
                        key.name
                    )
                }
            };
            Err(comment(problem))
        }
    }
}

impl PendingCommand for Editing {
    fn poll(&mut self, _: &mut Client<'_>) -> Result<bool, Failure> {
        self.end.take().map_or(Ok(false), |end| end.map(|()| true))
    }

    fn input(&mut self, client: &mut Client<'_>, text: Option<&str>) -> bool {
        match text {
            Some(text) => self.take(client, text),
            None => self.cancel(client, "Edit cancelled, no changes made."),
        }
        true
    }

    fn edits(&self) -> Option<&str> {
        Some(&self.text)
    }

    fn copy(&self) -> Box<dyn PendingCommand> {
        Box::new(self.clone())
    }
}
