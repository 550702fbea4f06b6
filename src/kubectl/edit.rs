//! `kubectl edit`: the object as a text that a person changes; what was changed is written to the object as it is then.
//!
//! Models `kubectl/pkg/cmd/util/editor/editoptions.go`. The text comes back as input of many lines, from the page's editor, or from stdin.

use super::client::{Client, server_error};
use super::output::{OutputFormat, named};
use super::parse::Args;
use super::targets::{Targets, name_of};
use super::unavailable::NO_OBJECTS;
use super::{Failure, Outcome, PendingCommand, Reads, Verb};
use crate::api::{Kind, ObjectRef, schema};
use crate::manifest;
use serde_json::Value;

const FLAGS: &str = "@filename/f= output/o= !subresource= !save-config ~validate?strict !output-patch recursive/R kustomize/k=";

/// `kubectl edit`.
pub const VERB: Verb = Verb { name: "edit", aliases: &[], flags: FLAGS, reads: Reads::No, run, help: "Edit a resource on the server" };

const HEADER: &str = "# Please edit the object below. Lines beginning with a '#' will be ignored,\n# and an empty file will abort the edit. If an \
    error occurs while saving this file will be\n# reopened with the relevant failures.\n#\n";

fn run(client: &mut Client<'_>, words: &[String], stdin: &str) -> Result<Outcome, Failure> {
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
    let objects = Targets::parse(client, &args, &args.words)?.fetch(client);
    let Some((kind, _)) = objects.first() else { return Ok(Outcome::Done) };
    let all: Vec<Value> = objects.iter().map(|(_, object)| object.clone()).collect();
    let shown = format.print(*kind, &all, all.len() == 1, true)?;
    let mut editing = Editing { objects, text: format!("{HEADER}{shown}"), refused: false, end: None };
    if !stdin.trim().is_empty() {
        editing.take(client, stdin);
        return editing.end.unwrap_or_else(|| Err(Failure::error(reasons(&editing.text)))).map(|()| Outcome::Done);
    }
    Ok(Outcome::pending(editing))
}

/// Objects whose text is being edited.
#[derive(Clone, Debug)]
struct Editing {
    /// As they were when the editor opened.
    objects: Vec<(Kind, Value)>,
    /// What is in the editor.
    text: String,
    /// What was saved last was refused.
    refused: bool,
    /// How it has ended.
    end: Option<Result<(), Failure>>,
}

/// The lines that are read.
fn without_comments(text: &str) -> String {
    text.lines().filter(|line| !line.trim_start().starts_with('#')).map(|line| format!("{}\n", line.trim_end())).collect()
}

/// What the comments over a text that was refused say.
fn reasons(text: &str) -> String {
    let lines = text.strip_prefix(HEADER).unwrap_or(text).lines().map_while(|line| line.strip_prefix('#'));
    lines.map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

impl Editing {
    /// A text was saved.
    fn take(&mut self, client: &mut Client<'_>, saved: &str) {
        let (plain, before) = (without_comments(saved), without_comments(&self.text));
        if plain.trim().is_empty() {
            return self.cancel(client, "Edit cancelled, saved file was empty.");
        }
        if plain.trim() == before.trim() {
            return match self.refused {
                true => self.end = Some(Err(Failure::error("Edit cancelled, no valid changes were saved."))),
                false => self.cancel(client, "Edit cancelled, no changes made."),
            };
        }
        let parsed = manifest::parse(plain.as_bytes());
        if let Some(wrong) = parsed.diagnostics.first() {
            return self.reopen(&format!("# The edited file had a syntax error: {}\n#\n", wrong.message), &plain);
        }
        let edited: Vec<Value> = parsed.documents.into_iter().map(|document| document.value).collect();
        let key = |object: &Value| [&object["apiVersion"], &object["kind"], &object["metadata"]["name"]].map(Value::clone);
        if edited.len() != self.objects.len() || !edited.iter().zip(&self.objects).all(|(new, (_, old))| key(new) == key(old)) {
            self.end = Some(Err(Failure::error("At least one of apiVersion, kind and name was changed")));
            return;
        }
        let mut wrong = String::new();
        for (kind, original, new) in self.objects.iter().zip(&edited).map(|((kind, original), new)| (*kind, original, new)) {
            if let Err(reason) = write(client, kind, original, new) {
                wrong += &reason;
            }
        }
        if wrong.is_empty() {
            self.end = Some(Ok(()));
        } else {
            self.reopen(&wrong, &plain);
        }
    }

    fn cancel(&mut self, client: &mut Client<'_>, words: &str) {
        client.warn(words);
        self.end = Some(Ok(()));
    }

    fn reopen(&mut self, reason: &str, text: &str) {
        self.text = format!("{HEADER}{reason}{text}");
        self.refused = true;
    }
}

/// Writes what was changed; the comment that says why not if it is refused.
fn write(client: &mut Client<'_>, kind: Kind, original: &Value, edited: &Value) -> Result<(), String> {
    let key = ObjectRef::new(kind, original["metadata"]["namespace"].as_str().unwrap_or(""), name_of(original));
    let comment = |what: String| format!("# {}\n#\n", what.replace('\n', "\n# "));
    let Some(current) = client.find(&key) else {
        return Err(comment(super::client::not_found(kind, &key.name).message));
    };
    if original == edited {
        client.say(format!("{} skipped", named(kind, original)));
        return Ok(());
    }
    if let Some(wrong) = schema::decode_error(&kind.api_version(), kind.name(), edited) {
        return Err(comment(format!("Error from server (BadRequest): {wrong}")));
    }
    let mut object = onto(original, edited, &current);
    object["metadata"]["resourceVersion"] = current["metadata"]["resourceVersion"].clone();
    match client.update(object) {
        Ok(after) => client.report(kind, &after, "edited").map_err(|failure| comment(failure.message)),
        Err(error) => {
            let failure = server_error(&error);
            let said = match failure.causes.is_empty() {
                true => failure.message,
                false => {
                    let causes: String = failure.causes.iter().map(|cause| format!("\n* {cause}")).collect();
                    format!("{} {:?} was not valid:{causes}", kind.group_resource(), key.name)
                }
            };
            Err(comment(said))
        }
    }
}

/// The current value with what an edit has changed of the original one.
fn onto(original: &Value, edited: &Value, current: &Value) -> Value {
    match (original, edited, current) {
        _ if original == edited => current.clone(),
        (Value::Object(original), Value::Object(edited), Value::Object(current)) => {
            let mut out = current.clone();
            for (name, value) in edited {
                let (before, now) = (original.get(name).unwrap_or(&Value::Null), current.get(name).unwrap_or(&Value::Null));
                if before != value {
                    out.insert(name.clone(), onto(before, value, now));
                }
            }
            out.retain(|name, _| edited.contains_key(name) || !original.contains_key(name));
            Value::Object(out)
        }
        _ => edited.clone(),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actions::{Answer, Command, Waiting, run};
    use crate::engine::Sim;
    use crate::engine::cluster::ClusterConfig;

    /// A terminal with a Deployment.
    struct Terminal {
        sim: Sim,
        waiting: Waiting,
    }

    impl Terminal {
        fn new() -> Terminal {
            let mut terminal = Terminal { sim: Sim::new(ClusterConfig::default(), 1), waiting: Waiting::default() };
            terminal.enter("kubectl create deployment web --image=nginx:1.25 --replicas=2");
            terminal
        }

        fn enter(&mut self, line: &str) -> String {
            let Answer { lines, .. } = run(&mut self.sim, &mut self.waiting, &Command::Kubectl(line.into()));
            lines.iter().map(|line| line.text.as_str()).collect::<Vec<_>>().join("\n")
        }

        fn text(&self) -> String {
            self.waiting.foreground.as_ref().and_then(|session| session.edits()).unwrap_or_default().to_owned()
        }
    }

    #[test]
    fn what_was_changed_is_written_to_the_object_as_it_is_then() {
        let mut terminal = Terminal::new();
        assert_eq!(terminal.enter("kubectl edit deployment web"), "");
        let text = terminal.text();
        assert!(text.starts_with("# Please edit the object below.") && text.contains("image: nginx:1.25"), "{text}");
        // An autoscaler or somebody else has changed another field meanwhile.
        let key = ObjectRef::new(Kind::Deployment, "default", "web");
        let origin = terminal.sim.command("scaled");
        let patch = serde_json::json!({"spec": {"replicas": 5}});
        let how = (crate::engine::store::Patch::Merge, &patch);
        let part = crate::engine::store::Subresource::Main;
        terminal.sim.request(|server| server.patch_part(&origin, &key, part, how, crate::engine::why::Why::Asked)).unwrap();
        assert_eq!(terminal.enter(&text.replace("nginx:1.25", "nginx:1.27")), "deployment.apps/web edited");
        assert_eq!(terminal.text(), "");
        let fields = terminal.enter("kubectl get deployment web -o jsonpath={.spec.replicas},{..image}");
        assert_eq!(fields, "5,nginx:1.27");
    }

    #[test]
    fn nothing_changed_or_an_empty_file_ends_the_edit() {
        let mut terminal = Terminal::new();
        terminal.enter("kubectl edit deployment/web");
        let text = terminal.text();
        assert_eq!(terminal.enter(&text), "Edit cancelled, no changes made.");
        terminal.enter("kubectl edit deployment/web");
        assert_eq!(terminal.enter("# nothing\n\n# left"), "Edit cancelled, saved file was empty.");
        // Another command ends it as well.
        terminal.enter("kubectl edit deployment/web");
        assert!(terminal.enter("kubectl get deployment web -o name").contains("deployment.apps/web"));
        assert_eq!(terminal.text(), "");
    }

    #[test]
    fn what_is_refused_is_opened_again_with_the_reason() {
        let mut terminal = Terminal::new();
        terminal.enter("kubectl edit deployment web");
        let text = terminal.text();
        assert_eq!(terminal.enter(&text.replace("replicas: 2", "replicas: -2")), "");
        let again = terminal.text();
        let reason =
            "# deployments.apps \"web\" was not valid:\n# * spec.replicas: Invalid value: -2: must be greater than or equal to 0\n#\n";
        assert!(again.contains(reason) && again.contains("replicas: -2"), "{again}");
        assert_eq!(terminal.enter(&again), "error: Edit cancelled, no valid changes were saved.");

        terminal.enter("kubectl edit deployment web");
        terminal.enter(&text.replace("replicas: 2", "replica: 2"));
        assert!(terminal.text().contains("unknown field \"spec.replica\""), "{}", terminal.text());
        terminal.enter(&text.replace("spec:", "spec: ["));
        assert!(terminal.text().contains("# The edited file had a syntax error: "), "{}", terminal.text());
        assert_eq!(
            terminal.enter(&text.replace("name: web", "name: other")),
            "error: At least one of apiVersion, kind and name was changed"
        );
    }

    #[test]
    fn a_text_on_stdin_is_what_was_edited() {
        let mut sim = Terminal::new().sim;
        let edit = |sim: &mut Sim, text: &str| {
            let words: Vec<String> = ["edit", "deployment", "web"].map(String::from).to_vec();
            let session = crate::kubectl::Session::start(sim, &words, text);
            (session.exit, session.stdout + &session.stderr)
        };
        let words: Vec<String> = ["get", "deployment", "web", "-o", "yaml"].map(String::from).to_vec();
        let shown = crate::kubectl::Session::start(&mut sim, &words, "").stdout;
        assert_eq!(edit(&mut sim, &shown.replace("replicas: 2", "replicas: 3")), (Some(0), "deployment.apps/web edited\n".to_owned()));
        let (exit, said) = edit(&mut sim, &shown.replace("replicas: 2", "replicas: -1"));
        assert!(exit == Some(1) && said.contains("was not valid") && said.contains("must be greater than or equal to 0"), "{said}");
    }
}
