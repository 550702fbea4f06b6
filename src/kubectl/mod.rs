//! kubectl: a command line becomes requests to the API server and text on the terminal.
//!
//! A command that has to wait (`rollout status`, `delete`, `get -w`, `wait`, `drain`) stays open as a
//! `Session`; whoever drives virtual time polls it. Output, errors and exit codes are those of kubectl 1.36.

mod apply;
mod autoscale;
mod client;
mod create;
mod delete;
mod describe;
mod drain;
mod exec;
mod explain;
mod expose;
mod get;
mod label;
mod nodes;
pub mod parse;
mod patch;
pub mod printers;
mod resources;
mod rollout;
mod run;
mod scale;
mod select;
mod set;
mod targets;
mod wait;

use crate::api::Time;
use crate::engine::Sim;
use client::Client;

/// Why a command ends early: what goes to stderr, and the exit code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The whole text, with its line break.
    pub message: String,
    /// The exit code.
    pub exit: i32,
}

impl Failure {
    /// `error: …`
    pub fn error(message: impl std::fmt::Display) -> Failure {
        Failure { message: format!("error: {message}\n"), exit: 1 }
    }

    /// A message without `error: ` before it.
    pub fn plain(message: impl std::fmt::Display) -> Failure {
        Failure { message: format!("{message}\n"), exit: 1 }
    }
}

/// Whether a command still waits for something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// It waits; poll it again after the simulation has moved.
    Running,
    /// It has ended.
    Done,
}

/// What a command waits for.
#[derive(Clone, Debug)]
enum Task {
    Done,
    Watch(Box<get::Watch>),
    Table(Box<get::Table>),
    Rollout(rollout::Follow),
    Delete(delete::Pending),
    Wait(wait::Waiting),
    Drain(Box<drain::Drain>),
}

/// One kubectl command, from its start to its exit.
#[derive(Clone, Debug)]
pub struct Session {
    /// What it has printed.
    pub stdout: String,
    /// What it has complained about.
    pub stderr: String,
    /// Its exit code, once it has ended.
    pub exit: Option<i32>,
    origin: crate::engine::store::Origin,
    namespace: String,
    task: Task,
    /// An error was printed although the command goes on.
    failed: bool,
    rows: usize,
}

impl Session {
    /// Starts a command; `args` are the words after `kubectl`, `stdin` is what `-f -` reads.
    pub fn start(sim: &mut Sim, args: &[String], stdin: &str) -> Session {
        Session::with_rows(sim, args, stdin, usize::MAX)
    }

    /// The same, with so many rows of a table at a time: it goes on with the next when it is polled.
    pub fn with_rows(sim: &mut Sim, args: &[String], stdin: &str, rows: usize) -> Session {
        let origin = sim.command(&format!("kubectl {}", args.join(" ")));
        let mut session = Session {
            stdout: String::new(),
            stderr: String::new(),
            exit: None,
            origin,
            namespace: "default".to_owned(),
            task: Task::Done,
            failed: false,
            rows,
        };
        let result = session.with_client(sim, |client| dispatch(client, args, stdin));
        session.settle(result);
        if session.exit.is_none() {
            session.poll(sim);
        }
        session
    }

    /// Lets the command look at what has happened since.
    pub fn poll(&mut self, sim: &mut Sim) -> Progress {
        if self.exit.is_some() {
            return Progress::Done;
        }
        let mut task = std::mem::replace(&mut self.task, Task::Done);
        let result = self.with_client(sim, |client| {
            let done = match &mut task {
                Task::Done => true,
                Task::Watch(watch) => watch.poll(client)?,
                Task::Table(table) => table.poll(client),
                Task::Rollout(follow) => follow.poll(client)?,
                Task::Delete(pending) => pending.poll(client)?,
                Task::Wait(waiting) => waiting.poll(client)?,
                Task::Drain(drain) => drain.poll(client)?,
            };
            Ok(if done { Task::Done } else { task })
        });
        self.settle(result);
        if self.exit.is_some() { Progress::Done } else { Progress::Running }
    }

    /// When the command gives up or looks again by itself, if it does.
    pub fn deadline(&self) -> Option<Time> {
        match &self.task {
            Task::Done | Task::Watch(_) | Task::Table(_) => None,
            Task::Rollout(follow) => follow.deadline,
            Task::Delete(pending) => pending.deadline,
            Task::Wait(waiting) => Some(waiting.deadline),
            Task::Drain(drain) => drain.deadline(),
        }
    }

    /// Whether it goes on by itself, without anything that happens.
    pub fn goes_on(&self) -> bool {
        matches!(self.task, Task::Table(_))
    }

    /// Ends a command that still waits, as ctrl-C does.
    pub fn interrupt(&mut self) {
        if self.exit.is_none() {
            self.task = Task::Done;
            self.exit = Some(130);
        }
    }

    fn with_client(&mut self, sim: &mut Sim, run: impl FnOnce(&mut Client<'_>) -> Result<Task, Failure>) -> Result<Task, Failure> {
        let mut client = Client::new(sim, self.origin.clone(), std::mem::take(&mut self.namespace), self.rows);
        let result = run(&mut client);
        self.stdout.push_str(&client.out);
        self.stderr.push_str(&client.err);
        self.failed |= client.failed;
        self.namespace = client.namespace;
        match result {
            Ok(Task::Done) if self.failed => Err(Failure { message: String::new(), exit: 1 }),
            other => other,
        }
    }

    fn settle(&mut self, result: Result<Task, Failure>) {
        match result {
            Ok(Task::Done) => self.exit = Some(0),
            Ok(task) => self.task = task,
            Err(failure) => {
                self.stderr.push_str(&failure.message);
                self.exit = Some(failure.exit);
            }
        }
    }
}

/// Verbs in the order of kubectl's help.
const VERBS: [&str; 32] = [
    "create",
    "expose",
    "run",
    "set",
    "explain",
    "get",
    "edit",
    "delete",
    "rollout",
    "scale",
    "autoscale",
    "cluster-info",
    "top",
    "cordon",
    "uncordon",
    "drain",
    "taint",
    "describe",
    "logs",
    "exec",
    "patch",
    "replace",
    "apply",
    "wait",
    "label",
    "annotate",
    "api-resources",
    "api-versions",
    "config",
    "version",
    "events",
    "diff",
];

fn dispatch(client: &mut Client<'_>, args: &[String], stdin: &str) -> Result<Task, Failure> {
    // Global flags may stand before the verb.
    let at = verb_position(args);
    let Some(verb) = args.get(at) else {
        client.out.push_str(HELP);
        return Ok(Task::Done);
    };
    let mut rest: Vec<String> = args[..at].to_vec();
    rest.extend_from_slice(&args[at + 1..]);
    if rest.iter().any(|word| word == "--help" || word == "-h") && VERBS.contains(&verb.as_str()) {
        client.say(format!("Usage:\n  kubectl {verb} [options]\n\nUse \"kubectl options\" for a list of global command-line options (applies to all commands)."));
        return Ok(Task::Done);
    }
    if let Some((_, run)) = COMMANDS.iter().find(|(name, _)| name == verb) {
        return run(client, &rest, stdin);
    }
    match verb.as_str() {
        "help" | "--help" | "-h" => {
            client.out.push_str(HELP);
            Ok(Task::Done)
        }
        verb if VERBS.contains(&verb) => Err(Failure::error(format!("\"{verb}\" has no effect in this simulation"))),
        verb => Err(Failure::plain(unknown(verb))),
    }
}

type Run = fn(&mut Client<'_>, &[String], &str) -> Result<Task, Failure>;

/// The verbs that do something here. A table and no `match`: each stays a function of its own, and the page opens with `apply` alone
/// (scripts/split.mjs).
const COMMANDS: [(&str, Run); 27] = [
    ("apply", apply::run),
    ("create", create::run),
    ("replace", create::replace),
    ("get", |client, rest, _| get::run(client, rest)),
    ("events", |client, rest, _| get::events(client, rest)),
    ("delete", delete::run),
    ("describe", |client, rest, _| describe::run(client, rest)),
    ("scale", |client, rest, _| scale::run(client, rest)),
    ("set", |client, rest, _| set::run(client, rest)),
    ("rollout", |client, rest, _| rollout::run(client, rest)),
    ("patch", |client, rest, _| patch::run(client, rest)),
    ("label", |client, rest, _| label::run(client, rest, &label::LABELS)),
    ("annotate", |client, rest, _| label::run(client, rest, &label::ANNOTATIONS)),
    ("expose", |client, rest, _| expose::run(client, rest)),
    ("run", |client, rest, _| run::run(client, rest)),
    ("autoscale", |client, rest, _| autoscale::run(client, rest)),
    ("cordon", |client, rest, _| nodes::cordon(client, rest, true)),
    ("uncordon", |client, rest, _| nodes::cordon(client, rest, false)),
    ("taint", |client, rest, _| nodes::taint(client, rest)),
    ("drain", |client, rest, _| drain::run(client, rest)),
    ("wait", |client, rest, _| wait::run(client, rest)),
    ("exec", |client, rest, _| exec::run(client, rest)),
    ("explain", |client, rest, _| explain::run(client, rest)),
    ("api-resources", |client, rest, _| resources::api_resources(client, rest)),
    ("api-versions", |client, _, _| resources::api_versions(client)),
    ("version", |client, _, _| resources::version(client)),
    ("logs", |client, rest, _| resources::logs(client, rest)),
];

/// Whether a line only looks: in the past it is answered about the instant shown, and the timeline has no mark of it.
pub fn only_reads(line: &str) -> bool {
    let words: Vec<String> = line.strip_prefix("kubectl ").unwrap_or(line).split_whitespace().map(String::from).collect();
    let words = &words[verb_position(&words).min(words.len())..];
    match words.first().map(String::as_str) {
        Some("rollout") => {
            words[1..].iter().find(|word| !word.starts_with('-')).is_some_and(|word| matches!(word.as_str(), "status" | "history"))
        }
        Some(verb) => READS.contains(&verb),
        None => false,
    }
}

/// Verbs that change nothing.
const READS: [&str; 13] = [
    "get",
    "describe",
    "explain",
    "events",
    "logs",
    "top",
    "wait",
    "diff",
    "version",
    "config",
    "cluster-info",
    "api-resources",
    "api-versions",
];

fn verb_position(args: &[String]) -> usize {
    let mut at = 0;
    while let Some(word) = args.get(at).filter(|word| word.starts_with('-')) {
        let takes_value = matches!(word.as_str(), "-n" | "--namespace" | "--context" | "--kubeconfig" | "-s" | "--server" | "-v");
        at += if takes_value { 2 } else { 1 };
    }
    at
}

fn unknown(verb: &str) -> String {
    let mut text = format!("error: unknown command \"{verb}\" for \"kubectl\"");
    let near: Vec<&&str> = VERBS.iter().filter(|known| known.starts_with(verb) || distance(verb, known) <= 2).collect();
    if !near.is_empty() {
        text.push_str("\n\nDid you mean this?");
        let mut near = near;
        // kubectl lists them as its commands are grouped.
        crate::order::sort_by_key(&mut near, |known| ["create", "expose", "run", "set", "explain", "get"].iter().position(|k| k == *known));
        near.iter().for_each(|known| text.push_str(&format!("\n\t{known}")));
    }
    text
}

/// Edits from one word to another: insert, remove, replace a letter (Levenshtein).
pub fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.chars().take(64).enumerate() {
        let mut before = row[0];
        row[0] = i + 1;
        for (j, b) in right.iter().enumerate() {
            let cost = before + usize::from(a != *b);
            before = row[j + 1];
            row[j + 1] = cost.min(before + 1).min(row[j] + 1);
        }
    }
    row[right.len()]
}

const HELP: &str = "kubectl controls the Kubernetes cluster manager.

Commands:
  create expose run set explain get delete rollout scale autoscale cordon uncordon drain taint
  describe logs exec patch replace apply wait label annotate api-resources api-versions version events

Usage:
  kubectl [flags] [options]
";

#[cfg(test)]
mod tests;
