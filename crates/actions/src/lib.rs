//! Actions of a person, run on a simulation: manifests and kubectl lines.

mod action;
mod fragment;
mod host;
mod legacy;
mod repair;
mod waiting;

pub use action::Action;
pub use host::{Host, RecordedAction};
pub use repair::Repair;
pub use waiting::{Job, WaitingCommands};

use apiserver::control_loop::is_control_loop;
use cluster::Sim;
use i18n::{Message, msg};
use k8s_model::kind::GATEWAY_GROUP;
use k8s_model::schema::{schema, strict_errors};
use k8s_model::{Kind, ObjectRef};
use kubectl::{Applied, ApplyResult, Failure, Session, published};
use manifest::{Document, Reader};
use projection::changes::{self, Change};
use script::{Problem, Program};
use serde_json::Value;
use std::collections::VecDeque;
use std::rc::Rc;

/// Error or warning about the manifest.
#[derive(Clone, Debug, PartialEq)]
pub struct ApplyDiagnostic {
    /// Line, from 1.
    pub line: usize,
    /// Columns concerned, from 0; empty for the whole line.
    pub columns: (usize, usize),
    /// Message in the API's own words; about a program in those of the page.
    pub message: Message,
    /// True if refused; otherwise accepted with a warning.
    pub error: bool,
    /// Edit that would let it through.
    pub repair: Option<Repair>,
}

impl ApplyDiagnostic {
    /// Returns true for a document without `apiVersion` and `kind`: a fragment of an object.
    pub fn is_of_fragment(&self) -> bool {
        let fault = manifest::header_fault(&Value::Null);
        fault.is_some_and(|fault| self.message == Message::state(fault.to_string()))
    }
}

/// Line of output.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OutputLine {
    /// Text.
    pub text: String,
    /// True if printed to stderr.
    pub error: bool,
    /// Message of the page itself, in its language: shown in place of the text.
    pub said: Option<Message>,
    /// Line that a click enters: a command of the history, or one that is offered.
    pub enters: Option<String>,
    /// Entered line, if this is a prompt with it.
    pub entered: Option<String>,
    /// Number of the terminal's waiting command that it belongs to.
    pub job: Option<u32>,
}

impl OutputLine {
    /// Creates a line of stdout or of stderr.
    pub fn new(text: impl Into<String>, error: bool) -> OutputLine {
        OutputLine {
            text: text.into(),
            error,
            ..OutputLine::default()
        }
    }

    /// Creates the prompt with an entered line.
    pub fn entered(prompt: &str, line: &str) -> OutputLine {
        OutputLine {
            entered: Some(line.to_owned()),
            ..OutputLine::new([prompt, " ", line].concat(), false)
        }
    }
}

/// Kind of a refused document that the API server did not serve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingKind {
    /// Line of the document, from 1.
    pub line: usize,
    /// `apiVersion` of the document.
    pub api_version: String,
    /// Kind of the document.
    pub kind: String,
}

impl MissingKind {
    /// Returns true if the API server serves the kind by now: its definition is established.
    pub fn is_served(&self, sim: &Sim) -> bool {
        let definitions = sim.server.definitions();
        definitions.named(&self.api_version, &self.kind).is_some()
    }
}

/// Result of a command.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ActionResult {
    /// True if the cluster was written to: such commands are part of the history.
    pub changed: bool,
    /// True if it failed, or a part of it.
    pub failed: bool,
    /// First line of its failure.
    pub failure: Option<String>,
    /// Result for each applied object.
    pub applied: Vec<Applied>,
    /// Output.
    pub lines: Vec<OutputLine>,
    /// Number of the terminal's command that was started and still waits.
    pub job: Option<u32>,
    /// Errors and warnings about the manifest.
    pub diagnostics: Vec<ApplyDiagnostic>,
    /// Kinds that were not served when their documents were applied.
    pub missing: Vec<MissingKind>,
    /// Objects named by the manifest, accepted or not.
    pub named: Vec<ObjectRef>,
    /// True if a part of the manifest is not YAML: it may name more objects.
    pub unread: bool,
}

impl ActionResult {
    /// Number of objects created or configured.
    pub fn written(&self) -> usize {
        self.applied
            .iter()
            .filter(|applied| {
                matches!(
                    applied.result,
                    ApplyResult::Created | ApplyResult::Configured
                )
            })
            .count()
    }

    /// Number of unchanged objects.
    pub fn unchanged(&self) -> usize {
        self.applied
            .iter()
            .filter(|applied| applied.result == ApplyResult::Unchanged)
            .count()
    }
}

/// Applies the documents of a text, as `kubectl apply -f` does: accepted ones take effect, each of the others is reported at its line.
/// After one that cannot be parsed none is applied.
fn apply(sim: &mut Sim, text: &Rc<str>) -> ActionResult {
    let mut applying = ApplyJob::new(sim, text);
    loop {
        if let Some(answer) = applying.step(sim) {
            return answer;
        }
    }
}

/// Apply of a text, one document after another: the clock is paused in between, so that the result does not depend on how it is divided.
#[derive(Clone, Debug)]
pub struct ApplyJob {
    /// Text.
    pub text: Rc<str>,
    /// Number of journal entries before it.
    pub begun: usize,
    reader: Reader,
    documents: VecDeque<Document>,
    /// YAML errors: reported before those of documents.
    faults: Vec<ApplyDiagnostic>,
    /// Line at which kubectl stops reading: documents after it are checked, and not applied.
    stopped: Option<usize>,
    answer: ActionResult,
}

impl ApplyJob {
    /// Starts the apply of a text.
    pub fn new(sim: &Sim, text: &Rc<str>) -> ApplyJob {
        ApplyJob {
            text: text.clone(),
            begun: sim.journal().len(),
            reader: Reader::default(),
            documents: VecDeque::new(),
            faults: Vec::new(),
            stopped: None,
            answer: ActionResult::default(),
        }
    }

    /// Applies the next document, always to the same simulation; after the last, returns the result.
    pub fn step(&mut self, sim: &mut Sim) -> Option<ActionResult> {
        if self.documents.is_empty() && !self.read() {
            self.faults.append(&mut self.answer.diagnostics);
            return Some(ActionResult {
                diagnostics: std::mem::take(&mut self.faults),
                ..std::mem::take(&mut self.answer)
            });
        }
        let document = self.documents.pop_front()?;
        match self.stopped {
            Some(line) => self.skip(document.line, line),
            None if apply_document(sim, &self.text, &document, &mut self.answer) => {}
            None => self.stopped = Some(document.line),
        }
        None
    }

    /// Reports, once for all objects of a document, that it is not applied.
    fn skip(&mut self, line: usize, stopped: usize) {
        if self
            .answer
            .diagnostics
            .last()
            .is_none_or(|last| last.line != line)
        {
            let message = msg::apply_stopped(stopped);
            self.answer.diagnostics.push(ApplyDiagnostic {
                line,
                columns: (0, 0),
                message,
                error: true,
                repair: None,
            });
        }
    }

    /// Reads the next document of the text; a list has several objects, an error none.
    fn read(&mut self) -> bool {
        let Some(parsed) = self.reader.next(self.text.as_bytes()) else {
            return false;
        };
        self.answer.unread |= !parsed.diagnostics.is_empty();
        for fault in parsed.diagnostics {
            let end = self
                .text
                .lines()
                .nth(fault.line.saturating_sub(1))
                .map_or(0, |line| line.chars().count());
            self.faults.push(ApplyDiagnostic {
                line: fault.line,
                columns: (fault.column.saturating_sub(1).min(end), end),
                message: Message::state(fault.fault.to_string()),
                error: fault.severity == manifest::Severity::Error,
                repair: Repair::syntax(&self.text, fault.line),
            });
            self.stopped.get_or_insert(fault.line);
        }
        self.answer.named.extend(
            parsed
                .documents
                .iter()
                .filter_map(|document| key_of(&document.value)),
        );
        self.documents = parsed.documents.into();
        true
    }
}

/// Returns the key of the object that a document names, in the namespace to which it would be applied.
pub fn key_of(document: &Value) -> Option<ObjectRef> {
    let at = |path: &str| document.pointer(path).and_then(Value::as_str);
    let kind = Kind::from_api(at("/apiVersion")?, at("/kind")?)?;
    let namespace = if kind.info().namespaced {
        at("/metadata/namespace").unwrap_or("default")
    } else {
        ""
    };
    Some(ObjectRef::new(kind, namespace, at("/metadata/name")?))
}

/// Returns the objects named by the first documents of a text.
pub fn first_named(text: &str, documents: usize) -> Vec<ObjectRef> {
    let mut reader = Reader::default();
    let parts = (0..documents).map_while(|_| reader.next(text.as_bytes()));
    parts
        .flat_map(|part| part.documents)
        .filter_map(|document| key_of(&document.value))
        .collect()
}

/// Applies a document. Returns false if kubectl stops there: it has no kind (`StreamVisitor.Visit` in `cli-runtime/pkg/resource`).
fn apply_document(
    sim: &mut Sim,
    text: &str,
    document: &Document,
    answer: &mut ActionResult,
) -> bool {
    if let Some(fault) = manifest::header_fault(&document.value) {
        let message = fault.to_string();
        answer.applied.push(Applied {
            key: None,
            result: ApplyResult::Refused(Failure::error(&message)),
        });
        answer.diagnostics.push(ApplyDiagnostic {
            line: document.line,
            columns: (0, 0),
            message: Message::state(message),
            error: true,
            repair: None,
        });
        return false;
    }
    let (version, kind) = (
        document.value["apiVersion"].as_str().unwrap_or(""),
        document.value["kind"].as_str().unwrap_or(""),
    );
    let problems = strict_errors(version, kind, &document.value);
    if !problems.is_empty() {
        let told = problems.iter().map(|problem| {
            let known = suggestion(version, kind, &problem.path);
            let mut told = at(
                text,
                document,
                &problem.path,
                Message::state(&problem.message),
                known,
            );
            if told.repair.is_none() {
                told.repair = Repair::misplaced(text, document, &problem.path);
            }
            told
        });
        answer.diagnostics.extend(told);
        let words: Vec<&str> = problems
            .iter()
            .map(|problem| problem.message.as_str())
            .collect();
        answer.applied.push(Applied {
            key: None,
            result: ApplyResult::Refused(Failure::plain(words.join("\n"))),
        });
        return true;
    }
    // A refusal is part of the history too.
    answer.changed = true;
    let mut session = Session::apply(sim, document.value.clone());
    for applied in std::mem::take(&mut session.applied) {
        if let ApplyResult::Refused(failure) = &applied.result {
            let first = answer.diagnostics.len();
            answer.diagnostics.extend(refusal(text, document, failure));
            if Kind::from_api(version, kind).is_none()
                && let Some(refused) = answer.diagnostics.get_mut(first)
            {
                let (line, ..) = place(text, document, "apiVersion");
                refused.repair = Repair::version(text, line, version, kind);
            }
        }
        answer.applied.push(applied);
    }
    if session.exit == Some(0) {
        answer.lines.extend(waiting::take_lines(&mut session));
    }
    let missing = MissingKind {
        line: document.line,
        api_version: version.to_owned(),
        kind: kind.to_owned(),
    };
    let is_missing = !missing.is_served(sim);
    if is_missing {
        answer.missing.push(missing);
    }
    // If a missing kind can be installed here, the message says so.
    let group = version.split('/').next().unwrap_or("");
    if group == GATEWAY_GROUP && is_missing {
        let message = msg::apply_install(published::GATEWAY_INSTALL);
        if !answer
            .diagnostics
            .iter()
            .any(|told| told.message == message)
        {
            answer.diagnostics.push(ApplyDiagnostic {
                error: false,
                ..at(text, document, "kind", message, None)
            });
        }
    }
    let ignored: Vec<ApplyDiagnostic> = without_effect(&document.value)
        .into_iter()
        .map(|(path, message)| ApplyDiagnostic {
            error: false,
            ..at(text, document, &path, message, None)
        })
        .collect();
    answer.diagnostics.extend(ignored);
    true
}

/// Dry run of a text on a copy of the simulation, one document at a time: a long manifest must not block the page while a person types.
pub struct TrialApply {
    sim: Sim,
    applying: ApplyJob,
}

/// Result of a dry run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlannedChanges {
    /// Objects that would be created or changed.
    pub changes: Vec<Change>,
    /// Number of objects that would be unchanged.
    pub unchanged: usize,
    /// Errors and warnings about the text.
    pub diagnostics: Rc<Vec<ApplyDiagnostic>>,
    /// Objects named by the text; `None` if a part of it is not YAML.
    pub named: Option<Vec<ObjectRef>>,
}

impl TrialApply {
    /// Starts a dry run of a text on a copy of a simulation.
    pub fn new(sim: &Sim, text: &Rc<str>) -> TrialApply {
        TrialApply {
            sim: sim.clone(),
            applying: ApplyJob::new(sim, text),
        }
    }

    /// Tries the next document; after the last, returns the plan.
    pub fn step(&mut self) -> Option<PlannedChanges> {
        let answer = self.applying.step(&mut self.sim)?;
        let unchanged = answer.unchanged();
        let changes = changes::written(self.sim.journal().from(self.applying.begun));
        let named = (!answer.unread).then_some(answer.named);
        Some(PlannedChanges {
            changes,
            unchanged,
            diagnostics: Rc::new(answer.diagnostics),
            named,
        })
    }
}

/// Creates a message at the line of a field, or of the field around it, or at the document's first line. `known`: name of a field that may have
/// been meant.
fn at(
    text: &str,
    document: &Document,
    path: &str,
    message: Message,
    known: Option<String>,
) -> ApplyDiagnostic {
    let (line, column, length) = place(text, document, path);
    let columns = (column - 1, column - 1 + length);
    ApplyDiagnostic {
        line,
        columns,
        message,
        error: true,
        repair: known.and_then(|name| Repair::field(text, line, columns, &name)),
    }
}

/// Line, column and length of a field's key, or of the field around it; of nothing at the document's first line without a path.
fn place(text: &str, document: &Document, path: &str) -> (usize, usize, usize) {
    let path_there = format!("{}{path}", document.prefix);
    let place = manifest::locate(text.as_bytes(), document.index, &path_there);
    let place = place.filter(|_| !path.is_empty());
    place.unwrap_or((document.line, 1, 0))
}

/// Field with the program of a ControlLoop.
const PROGRAM: &str = "spec.program";

/// Creates the message about a program that cannot be read, at its line in the text, under the name that is meant if it is one.
fn program_problem(text: &str, document: &Document) -> Option<ApplyDiagnostic> {
    if !is_control_loop(Kind::from_api(
        document.value["apiVersion"].as_str()?,
        document.value["kind"].as_str()?,
    )?) {
        return None;
    }
    let program = document.value["spec"]["program"].as_str()?;
    let error = Program::parse(program).err()?;
    // What is missing at the end is missing on the last line that says something.
    let lines = (1..).zip(program.lines()).take(error.line as usize);
    let told = lines.filter(|(_, line)| !line.trim().is_empty()).last();
    let at = told.map_or(1, |(number, _)| number);
    let path = format!("{}{PROGRAM}", document.prefix);
    let (line, column, length) = manifest::locate_line(text.as_bytes(), document.index, &path, at)?;
    let mut columns = (column - 1, column - 1 + length);
    if let Problem::UndefinedName(name) = &error.problem
        && let Some(content) = text.lines().nth(line - 1)
        && let Some(at) = word_at(content, name)
    {
        columns = (at, at + name.chars().count());
    }
    Some(ApplyDiagnostic {
        line,
        columns,
        message: projection::program::problem(&error.problem),
        error: true,
        repair: None,
    })
}

/// Returns the column (from 0) of a name in a line, where it is a word of its own and no field.
fn word_at(line: &str, name: &str) -> Option<usize> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut places = line.match_indices(name);
    let found = places.find(|(at, _)| {
        let before = line[..*at].chars().next_back();
        let after = line[at + name.len()..].chars().next();
        !before.is_some_and(|c| is_part(c) || c == '.') && !after.is_some_and(is_part)
    });
    found.map(|(at, _)| line[..at].chars().count())
}

/// Creates the messages of a refusal: each of several causes at its field.
fn refusal(text: &str, document: &Document, failure: &Failure) -> Vec<ApplyDiagnostic> {
    match &failure.causes[..] {
        causes @ [_, _, ..] => causes
            .iter()
            .map(|cause| {
                at(
                    text,
                    document,
                    &cause.field,
                    Message::state(cause.to_string()),
                    None,
                )
            })
            .collect(),
        [cause] if cause.field == PROGRAM => match program_problem(text, document) {
            Some(diagnostic) => vec![diagnostic],
            None => vec![at(
                text,
                document,
                PROGRAM,
                Message::state(failure.message.trim()),
                None,
            )],
        },
        causes => {
            let field = causes.first().map_or("", |cause| &cause.field);
            vec![at(
                text,
                document,
                field,
                Message::state(failure.message.trim()),
                None,
            )]
        }
    }
}

/// Returns the existing field closest to an unknown one, if its name is at most two edits away.
fn suggestion(version: &str, kind: &str, path: &str) -> Option<String> {
    let mut at = schema().kind(version, kind)?;
    let mut steps = path.split('.').peekable();
    while let Some(step) = steps.next() {
        let name = step.split('[').next().unwrap_or(step);
        if steps.peek().is_none() {
            return nearest(at, name);
        }
        let field = schema().field(at, name)?;
        at = field.kind.trim_start_matches('*');
        if step.contains('[') {
            at = k8s_model::schema::list_element(at)?.trim_start_matches('*');
        }
    }
    None
}

fn nearest(kind: &'static str, name: &str) -> Option<String> {
    let mut names = Vec::new();
    let mut open = vec![kind];
    while let Some(kind) = open.pop() {
        for field in schema().fields(kind).unwrap_or_default() {
            if field.inline() {
                open.push(field.kind.trim_start_matches('*'));
            } else {
                names.push(field.json);
            }
        }
    }
    // An existing field has another problem than its name.
    let close = kubectl::nearest(name, names.into_iter(), 2).filter(|known| *known != name);
    close.map(str::to_string)
}

/// Returns fields that are accepted and have no effect in this simulation: each is reported once, never silently ignored.
fn without_effect(value: &Value) -> Vec<(String, Message)> {
    let kind = value["kind"].as_str().unwrap_or("");
    let known = Kind::from_api(value["apiVersion"].as_str().unwrap_or(""), kind);
    if known.is_some_and(|kind| !kind.is_simulated()) {
        return vec![("kind".into(), msg::diagnostic_not_simulated(kind))];
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_close_name_is_suggested_where_it_exists() {
        let of = |path: &str| suggestion("apps/v1", "Deployment", path);
        assert_eq!(of("spec.replica").as_deref(), Some("replicas"));
        assert_eq!(
            of("spec.template.spec.containers[0].imagee").as_deref(),
            Some("image")
        );
        assert_eq!(of("spec.something"), None);
        assert_eq!(
            of("spec.template.spec.containers[0].image"),
            None,
            "its value is wrong, not its name"
        );
        assert_eq!(kubectl::distance("replica", "replicas"), 1);
    }

    #[test]
    fn a_problem_of_a_program_is_told_at_its_line_of_the_manifest() {
        let manifest = |line: &str| -> Rc<str> {
            format!(
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\n---\napiVersion: loopscope.dev/v1\nkind: ControlLoop\nmetadata: {{name: mine}}\nspec:\n  \
                 for: {{apiVersion: v1, kind: ConfigMap}}\n  program: |\n    def reconcile(key):\n        config = get(\"ConfigMap\", key)\n        {line}\n"
            )
            .into()
        };
        let mut sim = Sim::new(controller_runtime::cluster::ClusterConfig::default(), 1);
        let mut told = |line: &str| {
            let answer = apply(&mut sim, &manifest(line));
            let all = answer.diagnostics.iter();
            all.map(|one| (one.line, one.columns, one.message.to_string()))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            told("log(config.confg, confg)"),
            [(13, (26, 31), "name 'confg' is not defined".to_owned())]
        );
        assert_eq!(
            told("x = ("),
            [(
                13,
                (8, 13),
                "expected an expression, found the end of the line".to_owned()
            )]
        );
        assert_eq!(
            told("get(\"Pod\")"),
            [(13, (8, 18), "get: argument 'name' is missing".to_owned())]
        );
        assert_eq!(told("log(config)"), []);
    }

    #[test]
    fn the_field_of_a_refusal_is_found() {
        let text: Rc<str> =
            "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: d\nspec:\n  replicas: -1\n  selector: {matchLabels: {a: b}}\n  \
                             template:\n    metadata:\n      labels: {a: c}\n    spec: {containers: [{name: c, image: i}]}\n"
                .into();
        let mut sim = Sim::new(controller_runtime::cluster::ClusterConfig::default(), 1);
        let answer = apply(&mut sim, &text);
        let ApplyResult::Refused(failure) = &answer.applied[0].result else {
            panic!("{answer:?}")
        };
        let fields: Vec<&str> = failure
            .causes
            .iter()
            .map(|cause| cause.field.as_str())
            .collect();
        assert_eq!(fields, ["spec.replicas", "spec.template.metadata.labels"]);
        assert_eq!(
            answer
                .diagnostics
                .iter()
                .map(|told| told.line)
                .collect::<Vec<_>>(),
            [6, 10]
        );
        assert!(
            answer.lines.is_empty() && answer.diagnostics.iter().all(|told| told.error),
            "{answer:?}"
        );
    }

    #[test]
    fn where_the_gateway_api_is_missed_it_is_said_how_to_install_it() {
        let mut sim = Sim::new(controller_runtime::cluster::ClusterConfig::default(), 1);
        let text: Rc<str> =
            "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: g}\nspec: {gatewayClassName: nginx, \
            listeners: [{name: http, port: 80, protocol: HTTP}]}\n"
                .into();
        let told = |sim: &mut Sim| {
            apply(sim, &text)
                .diagnostics
                .iter()
                .map(|told| told.message.to_string())
                .collect::<Vec<_>>()
        };
        let before = told(&mut sim);
        assert!(
            before[0].contains("ensure CRDs are installed first")
                && before[1].ends_with(published::GATEWAY_INSTALL),
            "{before:?}"
        );
        let mut host = Host::new(sim);
        host.run(&Action::kubectl(published::GATEWAY_INSTALL));
        host.advance(k8s_model::Time(5_000_000), usize::MAX);
        assert!(told(&mut host.sim).is_empty());
    }

    #[test]
    fn each_document_is_answered_for() {
        let config = |data: &str| {
            format!(
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c}}\ndata: {{a: {data}}}\n---\n"
            )
        };
        let text: Rc<str> = [
            config("x"),
            config("x"),
            config("z"),
            "apiVersion: v1\nkind: Thing\nmetadata: {name: t}\n".into(),
        ]
        .concat()
        .into();
        let mut sim = Sim::new(controller_runtime::cluster::ClusterConfig::default(), 1);
        let answer = apply(&mut sim, &text);
        let results: Vec<&ApplyResult> = answer
            .applied
            .iter()
            .map(|applied| &applied.result)
            .collect();
        assert!(
            matches!(
                results[..],
                [
                    ApplyResult::Created,
                    ApplyResult::Unchanged,
                    ApplyResult::Configured,
                    ApplyResult::Refused(_)
                ]
            ),
            "{results:?}"
        );
        assert_eq!((answer.written(), answer.unchanged()), (2, 1));
        assert_eq!(
            answer.applied[0].key.as_ref().map(|key| &*key.name),
            Some("c")
        );
    }
}
