//! kubectl: turns a command line into requests to the API server and text on the terminal.
//!
//! A command that has to wait (`rollout status`, `delete`, `get -w`, `wait`, `drain`) stays open as a `Session`, which the owner of
//! virtual time polls. Output, errors and exit codes are those of kubectl 1.36.
//!
//! # Adding a verb
//!
//! 1. `src/<name>.rs` with a `pub const VERB: Verb`: name, aliases, flags (in the notation of `parse.rs`), true if it only reads, the function
//!    that runs it, a line of help. The function parses its arguments with `Args::parse` and calls `client.use_flags`. A command that waits
//!    returns `Outcome::pending` with an implementation of `PendingCommand`.
//! 2. In `src/lib.rs`: `mod <name>;` and a line in `VERBS`, in the order of kubectl's help. Dispatch, help, suggestions, completion in the
//!    console, the bare word in the console (`line.rs`) and the set of read-only verbs derive from the list.
//! 3. `UPDATE_DOCS=1 cargo test -p kubectl the_reference_of_verbs` and `UPDATE_DOCS=1 cargo test -p session simulated` write the two pages of
//!    the documentation that list the verbs.

mod applied;
mod apply;
mod auth;
mod autoscale;
mod beside;
mod by_file;
mod certificate;
mod client;
mod config;
mod content_hash;
mod cp;
mod create;
mod debug;
mod delete;
mod describe;
mod diff;
mod documents;
pub mod drain;
pub mod edit;
mod exec;
pub mod explain;
mod expose;
mod failure;
mod filenames;
mod get;
mod io_streams;
mod kustomize;
mod label;
mod line;
mod logs;
mod nodes;
mod output;
pub mod parse;
mod patch;
pub mod printers;
mod process;
pub mod published;
mod remote;
mod replace;
mod resources;
mod rollout;
mod run;
mod scale;
mod set;
pub mod shell;
mod targets;
mod terminal_files;
mod top;
mod typed;
mod unavailable;
mod verb;
mod wait;

use apiserver::{ApiError, CommandEffect, Origin};
pub use applied::{Applied, ApplyResult};
pub use beside::{Beside, BesideAct};
use client::Client;
use cluster::Sim;
pub use exec::{Stdin, is_shell, no_host, process, reached};
pub use failure::Failure;
pub use filenames::{EXTENSIONS, Filenames};
pub use io_streams::ErrPiece;
use k8s_model::{Object, Time};
use line::{bare_verb, verb_position};
pub use line::{named_files, only_reads, opens_editor, plain};
pub use logs::PodLogOptions;
pub use process::new_cluster;
pub use remote::{RemoteAct, RemoteOutput, RemoteStart, Remotes};
use std::rc::Rc;
pub use verb::{Outcome, PendingCommand, Reads, Verb};

/// State of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The command waits; poll it again after the simulation has moved.
    Running,
    /// The command has ended.
    Done,
}

/// Single kubectl command, from its start to its exit.
#[derive(Clone, Debug)]
pub struct Session {
    /// Command line as recorded in the history.
    pub text: Rc<str>,
    /// Printed output.
    pub stdout: String,
    /// Printed errors.
    pub stderr: String,
    /// Pieces of stderr that precede other output.
    pub err_pieces: Vec<ErrPiece>,
    /// Exit code, once the command has ended.
    pub exit: Option<i32>,
    /// First failure that was printed.
    pub failure: Option<Failure>,
    /// Results of the applied objects.
    pub applied: Vec<Applied>,
    origin: Origin,
    namespace: String,
    mode: output::Mode,
    task: Outcome,
    rows: usize,
}

impl Session {
    /// Starts a command; `args` are the words after `kubectl`, `stdin` is the input of `-f -`.
    pub fn start(sim: &mut Sim, args: &[String], stdin: &str) -> Session {
        let mut session = Session::with_rows(sim, args, stdin, usize::MAX);
        // An editor needs a terminal.
        if session.edits().is_some() {
            session.settle(Err(Failure::error("unable to launch the editor \"vi\"")));
        }
        session
    }

    /// Starts a read-only command, without an entry in the history.
    pub fn unnoted(sim: &mut Sim, args: &[String]) -> Session {
        let mut session = Session::of(Origin::user(), usize::MAX);
        let result = session.with_client(sim, |client| dispatch(client, args, ""));
        session.settle(result);
        if session.exit.is_none() {
            session.poll(sim);
        }
        session
    }

    /// Opens the log of a container of a Pod, as the `log` subresource does: without an entry in the history.
    pub fn log(sim: &mut Sim, pod: &Object, options: &PodLogOptions) -> Result<Session, ApiError> {
        let logs = logs::open(pod, options)?;
        let mut session = Session::of(Origin::user(), usize::MAX);
        let mut refused = None;
        let result = session.with_client(sim, |client| {
            logs.begin(client).map_err(|error| {
                let failure = failure::server_error(&error);
                refused = Some(error);
                failure
            })
        });
        session.settle(result);
        refused.map_or(Ok(session), Err)
    }

    /// Starts a command with a maximum number of table rows at a time: the next ones follow when it is polled.
    pub fn with_rows(sim: &mut Sim, args: &[String], stdin: &str, rows: usize) -> Session {
        Session::run(
            sim,
            &format!("kubectl {}", args.join(" ")),
            args,
            stdin,
            rows,
        )
    }

    fn run(sim: &mut Sim, text: &str, args: &[String], stdin: &str, rows: usize) -> Session {
        let mut session = if args.first().is_some_and(|verb| verb == apply::VERB.name) {
            Session::recorded(sim, text, CommandEffect::Applies, rows)
        } else {
            Session::noted(sim, text, rows)
        };
        let result = session.with_client(sim, |client| dispatch(client, args, stdin));
        session.settle(result);
        if session.exit.is_none() {
            session.poll(sim);
        }
        session
    }

    /// Starts a line of the terminal: a kubectl command, with or without `kubectl`, or a shell line.
    pub fn line(sim: &mut Sim, line: &str, rows: usize) -> Session {
        if let Some(words) = plain(line) {
            // Recorded as entered, with its quotes, so that it can be copied and run again.
            let line = line.trim();
            let entered = ["kubectl ", "k "]
                .iter()
                .find_map(|word| line.strip_prefix(word))
                .unwrap_or(line)
                .trim_start();
            return Session::run(sim, &format!("kubectl {entered}"), &words, "", rows);
        }
        let first = line.split_whitespace().next().unwrap_or("");
        let is_verb = bare_verb(first);
        let mut session = Session::noted(
            sim,
            &if is_verb {
                format!("kubectl {line}")
            } else {
                line.to_owned()
            },
            rows,
        );
        let result = match shell::parse::parse(line) {
            Ok(script) => {
                let kubectl = shell::Kubectl {
                    run: dispatch,
                    is_verb: bare_verb,
                };
                let machine = shell::Machine::terminal(script, kubectl);
                Ok(Outcome::pending(shell::LineCommand {
                    machine,
                    remote: false,
                }))
            }
            Err(fault) => Err(Failure::exit(format!("sh: {fault}\n"), 2)),
        };
        session.settle(result);
        session.poll(sim);
        session
    }

    /// Returns a number that changes when the command progresses without a trace in the cluster.
    pub fn progress(&self) -> usize {
        if let Outcome::Pending(command) = &self.task {
            command.progress()
        } else {
            usize::MAX
        }
    }

    /// Returns true if the command waits for a line of input.
    pub fn takes_input(&self) -> bool {
        matches!(&self.task, Outcome::Pending(command) if command.takes_input())
    }

    /// Returns the text to be edited, if the command waits for an editor.
    pub fn edits(&self) -> Option<&str> {
        if let Outcome::Pending(command) = &self.task {
            command.edits()
        } else {
            None
        }
    }

    /// Passes a line of input; `None` is the end of the input. Returns false if the command takes none.
    pub fn input(&mut self, sim: &mut Sim, line: Option<&str>) -> bool {
        let mut task = std::mem::replace(&mut self.task, Outcome::Done);
        let mut taken = false;
        let result = self.with_client(sim, |client| {
            if let Outcome::Pending(command) = &mut task {
                taken = command.input(client, line);
            }
            Ok(task)
        });
        self.settle(result);
        if taken {
            self.poll(sim);
        }
        taken
    }

    /// Runs `kubectl apply -f -` with an object parsed from a manifest.
    pub fn apply(sim: &mut Sim, object: serde_json::Value) -> Session {
        let args = ["apply".to_owned(), "-f".to_owned(), "-".to_owned()];
        let line = format!("kubectl {}", args.join(" "));
        let mut session = Session::recorded(sim, &line, CommandEffect::Applies, usize::MAX);
        let result = session.with_client(sim, |client| apply::object(client, &args[1..], object));
        session.settle(result);
        session
    }

    /// Starts a command in a running container, as the server does for `exec`: a failure shows only in the exit code.
    pub fn in_container(
        sim: &mut Sim,
        pod: &Object,
        container: usize,
        command: &[String],
        stdin: Stdin,
    ) -> Session {
        let mut session = Session::noted(
            sim,
            &format!("kubectl exec {} -- {}", pod.meta.name, command.join(" ")),
            usize::MAX,
        );
        let machine = exec::in_container(pod, container, command, stdin);
        session.settle(Ok(Outcome::pending(shell::LineCommand {
            machine,
            remote: false,
        })));
        session.poll(sim);
        session
    }

    /// Starts the process of a container, as the server does for `attach`: a shell or a command.
    pub fn attached(
        sim: &mut Sim,
        pod: &Object,
        container: usize,
        command: &[String],
        stdin: Stdin,
    ) -> Session {
        let mut session = Session::noted(
            sim,
            &format!("kubectl attach {}", pod.meta.name),
            usize::MAX,
        );
        let stays = exec::attached(pod, container, sim.now(), command, stdin);
        session.settle(Ok(Outcome::pending(stays)));
        session.poll(sim);
        session
    }

    /// Creates a command recorded in the history under this text.
    fn noted(sim: &mut Sim, text: &str, rows: usize) -> Session {
        let effect = if only_reads(text) {
            CommandEffect::Reads
        } else {
            CommandEffect::Writes
        };
        Session::recorded(sim, text, effect, rows)
    }

    fn recorded(sim: &mut Sim, text: &str, effect: CommandEffect, rows: usize) -> Session {
        Session {
            text: text.into(),
            ..Session::of(sim.command(text, effect), rows)
        }
    }

    fn of(origin: Origin, rows: usize) -> Session {
        Session {
            text: Rc::default(),
            stdout: String::new(),
            stderr: String::new(),
            err_pieces: Vec::new(),
            failure: None,
            exit: None,
            applied: Vec::new(),
            origin,
            namespace: "default".to_owned(),
            mode: output::Mode::default(),
            task: Outcome::Done,
            rows,
        }
    }

    /// Polls the command, which processes the changes since the last poll.
    pub fn poll(&mut self, sim: &mut Sim) -> Progress {
        if self.exit.is_some() {
            return Progress::Done;
        }
        let mut task = std::mem::replace(&mut self.task, Outcome::Done);
        let result = self.with_client(sim, |client| {
            let done = match &mut task {
                Outcome::Done => true,
                Outcome::Pending(command) => command.poll(client)?,
            };
            Ok(if done { Outcome::Done } else { task })
        });
        self.settle(result);
        if self.exit.is_some() {
            Progress::Done
        } else {
            Progress::Running
        }
    }

    /// Returns the time at which the command times out or polls by itself, if any.
    pub fn deadline(&self) -> Option<Time> {
        match &self.task {
            Outcome::Done => None,
            Outcome::Pending(command) => command.deadline(),
        }
    }

    /// Returns true if the command continues by itself, without a change in the cluster.
    pub fn goes_on(&self) -> bool {
        matches!(&self.task, Outcome::Pending(command) if command.goes_on())
    }

    /// Presses Ctrl+C: interrupts the process in a container that the command is attached to, or else the command.
    pub fn press_interrupt(&mut self, sim: &mut Sim) {
        let mut task = std::mem::replace(&mut self.task, Outcome::Done);
        let mut goes_on = false;
        let result = self.with_client(sim, |client| {
            if let Outcome::Pending(command) = &mut task {
                goes_on = command.interrupt(client);
            }
            Ok(task)
        });
        self.settle(result);
        if !goes_on {
            self.interrupt();
        }
    }

    /// Ends a waiting command; a process in a container that it is attached to goes on.
    pub fn interrupt(&mut self) {
        if self.exit.is_none() {
            self.task = Outcome::Done;
            self.exit = Some(130);
        }
    }

    fn with_client(
        &mut self,
        sim: &mut Sim,
        run: impl FnOnce(&mut Client<'_>) -> Result<Outcome, Failure>,
    ) -> Result<Outcome, Failure> {
        let mut client = Client::new(
            sim,
            self.origin.clone(),
            std::mem::take(&mut self.namespace),
            std::mem::take(&mut self.mode),
            self.rows,
        );
        let result = run(&mut client);
        client.streams.print_failures();
        let (err, out) = (self.stderr.len(), self.stdout.len());
        let pieces = client.streams.err_pieces.drain(..);
        self.err_pieces.extend(pieces.map(|piece| ErrPiece {
            range: err + piece.range.start..err + piece.range.end,
            out_len: out + piece.out_len,
        }));
        self.stdout.push_str(&client.streams.out);
        self.stderr.push_str(&client.streams.err);
        self.applied.append(&mut client.applied);
        self.failure = self.failure.take().or(client.streams.failure.take());
        (self.namespace, self.mode) = (
            std::mem::take(&mut client.namespace),
            std::mem::take(&mut client.mode),
        );
        self.origin = client.origin();
        match result {
            Ok(Outcome::Done) if self.failure.is_some() => Err(Failure::exit("", 1)),
            other => other,
        }
    }

    fn settle(&mut self, result: Result<Outcome, Failure>) {
        match result {
            Ok(Outcome::Done) => self.exit = Some(0),
            Ok(task) => self.task = task,
            Err(failure) => {
                self.stderr.push_str(&failure.message);
                self.exit = Some(failure.exit);
                self.failure.get_or_insert(failure);
            }
        }
    }
}

/// All verbs, in the order of kubectl's help.
pub const VERBS: &[&Verb] = &[
    &create::VERB,
    &expose::VERB,
    &run::VERB,
    &set::VERB,
    &explain::VERB,
    &get::VERB,
    &edit::VERB,
    &delete::VERB,
    &rollout::VERB,
    &scale::VERB,
    &autoscale::VERB,
    &certificate::VERB,
    &resources::CLUSTER_INFO,
    &top::VERB,
    &nodes::CORDON,
    &nodes::UNCORDON,
    &drain::VERB,
    &nodes::TAINT,
    &describe::VERB,
    &logs::VERB,
    &exec::VERB,
    &exec::ATTACH,
    &unavailable::PORT_FORWARD,
    &unavailable::PROXY,
    &cp::VERB,
    &auth::VERB,
    &debug::VERB,
    &patch::VERB,
    &replace::VERB,
    &apply::VERB,
    &wait::VERB,
    &label::LABEL,
    &label::ANNOTATE,
    &resources::API_RESOURCES,
    &resources::API_VERSIONS,
    &config::VERB,
    &resources::VERSION,
    &get::EVENTS,
    &diff::VERB,
    &kustomize::VERB,
];

/// Returns the verb for a word.
fn verb_named(word: &str) -> Option<&'static Verb> {
    VERBS
        .iter()
        .copied()
        .find(|verb| verb.name == word || verb.aliases.contains(&word))
}

fn dispatch(client: &mut Client<'_>, args: &[String], stdin: &str) -> Result<Outcome, Failure> {
    // Global flags may precede the verb.
    let at = verb_position(args);
    let Some(word) = args.get(at) else {
        client.streams.out.push_str(&help());
        return Ok(Outcome::Done);
    };
    // They are moved behind, so that a subcommand comes first.
    let mut rest = args[at + 1..].to_vec();
    let end = rest
        .iter()
        .position(|word| word == "--")
        .unwrap_or(rest.len());
    rest.splice(end..end, args[..at].iter().cloned());
    if let Some(message) = unknown_verb(args) {
        return Err(Failure::plain(message));
    }
    let Some(verb) = verb_named(word) else {
        client.streams.out.push_str(&help());
        return Ok(Outcome::Done);
    };
    if rest.iter().any(|word| word == "--help" || word == "-h") {
        client.streams.say(format!(
            "{}\n\nOptions:\n{}\nUsage:\n  kubectl {} [options]",
            verb.help,
            options(verb),
            verb.name
        ));
        return Ok(Outcome::Done);
    }
    match by_file::named(client, verb, rest, stdin)? {
        Some(words) => (verb.run)(client, &words, stdin),
        None => Ok(Outcome::Done),
    }
}

/// Lists the flags of a verb that are accepted here, one per line.
fn options(verb: &Verb) -> String {
    let taken =
        parse::described(verb.flags).filter(|(_, effect)| *effect != parse::FlagEffect::Refused);
    taken.map(|(flag, _)| format!("    {flag}\n")).collect()
}

/// Returns the message for a command line with an unknown verb.
pub fn unknown_verb(args: &[String]) -> Option<String> {
    let word = args.get(verb_position(args))?;
    let help = matches!(word.as_str(), "help" | "--help" | "-h");
    (!help && verb_named(word).is_none()).then(|| unknown(word))
}

fn unknown(verb: &str) -> String {
    let mut text = format!("error: unknown command \"{verb}\" for \"kubectl\"");
    let names = VERBS.iter().map(|verb| verb.name);
    let near: Vec<&str> = names
        .filter(|known| known.starts_with(verb) || distance(verb, known) <= 2)
        .collect();
    if !near.is_empty() {
        text.push_str("\n\nDid you mean this?");
        let mut near = near;
        // kubectl lists them in the order of its command groups.
        near.sort_by_key(|known| {
            ["create", "expose", "run", "set", "explain", "get"]
                .iter()
                .position(|k| k == known)
        });
        near.iter()
            .for_each(|known| text.push_str(&format!("\n\t{known}")));
    }
    text
}

/// Returns the known word with the least edit distance to another one, if that is within a limit.
pub fn nearest<'k>(
    word: &str,
    known: impl Iterator<Item = &'k str>,
    limit: usize,
) -> Option<&'k str> {
    known
        .map(|known| (distance(word, known), known))
        .min()
        .filter(|(edits, _)| *edits <= limit)
        .map(|(_, known)| known)
}

/// Returns the edit distance (Levenshtein) of two words.
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

/// Width of the list of commands, in columns.
const HELP_WIDTH: usize = 102;

/// Lists the simulated commands, wrapped into lines.
fn help() -> String {
    let mut text = String::from("kubectl controls the Kubernetes cluster manager.\n\nCommands:");
    let mut column = HELP_WIDTH;
    for verb in VERBS.iter().filter(|verb| verb.is_simulated()) {
        let wraps = column + 1 + verb.name.len() > HELP_WIDTH;
        text.push_str(if wraps { "\n  " } else { " " });
        text.push_str(verb.name);
        column = if wraps { 2 } else { column + 1 } + verb.name.len();
    }
    text.push_str("\n\nUsage:\n  kubectl [flags] [options]\n");
    text
}

#[cfg(test)]
mod tests;
