//! Interpreter: runs the steps of a script, and can wait in between.

use super::call::{append, polled};
use super::frame::{FrameKind, Input, ScriptFrame};
use super::parse;
use super::request_loop::RequestLoop;
use super::room::{CommandRoom, Done, MOST_BYTES, Place, Replayed, Variables};
use super::script::{Piece, ShellScript, Simple, Step};
use crate::Failure;
use crate::client::Client;
use crate::verb::{PendingCommand, RunVerb};
use k8s_model::Time;
use k8s_model::pod::Pod;
use k8s_model::time::SECOND;
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

/// Maximum number of steps of a script in one poll: an endless loop is aborted.
const MOST_STEPS: usize = 20_000;
/// Maximum number of steps of a script that is run ahead of time.
const MOST_AHEAD: usize = 1_000;
/// Maximum total size of all variables, in bytes.
const MOST_VARIABLES: usize = 4 * MOST_BYTES;
/// Maximum nesting of command substitutions.
pub(super) const DEEPEST: usize = 8;
/// Maximum nesting of scripts and functions.
const MOST_FRAMES: usize = 32;
/// Maximum number of functions of a shell.
const MOST_FUNCTIONS: usize = 200;
/// Number of the signal of Ctrl+C.
const SIGINT: i32 = 2;
/// Interval of `watch`, in microseconds.
const WATCH_US: u64 = 2 * SECOND;

/// Outcome of a script that was run ahead of time.
#[derive(Clone, Debug)]
pub struct RunAhead {
    /// Duration, in microseconds.
    pub span_us: u64,
    /// Exit code.
    pub code: i32,
    /// Writes with their time in seconds since 1970.
    pub writes: Vec<(i64, String, Option<String>)>,
}

/// Pipeline in progress.
#[derive(Clone, Debug)]
pub(super) struct Pipe {
    pub commands: Vec<Simple>,
    pub at: usize,
    /// Output of the previous stage.
    pub input: String,
    turned: bool,
}

/// Result of starting a command in a pipeline.
pub(super) enum Flow {
    Done(Done),
    /// The command waits; its output so far.
    Waits(Box<dyn PendingCommand>, Done),
    /// The command sleeps until this time.
    Sleeps(Time),
    /// The command is a script of its own.
    Calls(Box<ScriptFrame>),
    /// The shell exits.
    Ends(i32),
    /// The function returns.
    Returns(i32),
}

/// Interface to kubectl, which is above the shell and calls it.
#[derive(Clone, Copy, Debug)]
pub struct Kubectl {
    /// Function that runs its words.
    pub run: RunVerb,
    /// Returns true if a word is a verb.
    pub is_verb: fn(&str) -> bool,
}

/// Running shell.
#[derive(Clone, Debug)]
pub struct Machine {
    pub(super) place: Place,
    pub(super) vars: Variables,
    pub(super) functions: BTreeMap<String, Rc<ShellScript>>,
    /// `$0` and the positional parameters of the shell itself.
    pub(super) args: Vec<String>,
    pub(super) frames: Vec<ScriptFrame>,
    pub(super) pipe: Option<Pipe>,
    pub(super) waits: Option<(Box<dyn PendingCommand>, Done)>,
    pub(super) until: Option<Time>,
    /// Script that `watch` repeats.
    pub(super) watched: Option<Rc<ShellScript>>,
    /// Exit code of the last command.
    pub code: i32,
    /// Replay state: current time and end time, in seconds since 1970.
    pub(super) replay: Option<(i64, i64)>,
    /// Files of the replay, and part of a second that has passed, in microseconds.
    pub(super) replayed: RefCell<Replayed>,
    pub(super) part_us: u64,
    /// True if the replay has reached its end.
    pub(super) paused: bool,
    pub(super) lost: bool,
    /// Last failure of a kubectl command, already printed.
    pub(super) failure: Option<Failure>,
    pub(super) steps: usize,
    /// Step at which the script is aborted; it advances while the shell sleeps.
    pub(super) last_step: usize,
    /// Nesting depth of machines.
    pub(super) depth: usize,
    /// Number of bytes expanded into the words of the current command.
    pub(super) put_in: usize,
    /// True if the output is captured.
    pub(super) captured: bool,
    /// Number of bytes printed before the run.
    pub(super) printed: usize,
    /// True if a memory limit was exceeded.
    pub(super) full: bool,
    /// Exit code of the last command substitution in the current command.
    pub(super) substituted: Option<i32>,
    /// Error of an expansion, which ends the script.
    pub(super) fault: Option<String>,
    /// Interface to kubectl; only the terminal has it.
    pub(super) kubectl: Option<Kubectl>,
    /// True if the shell reads lines until it is left.
    pub(super) interactive: bool,
    pub(super) ended: bool,
    /// True for the process of a container.
    pub(super) is_container: bool,
    /// Loop of requests that it runs.
    pub(super) requests: Option<RequestLoop>,
}

impl Machine {
    /// Creates a shell that runs a script and ends.
    pub fn new(place: Place, script: ShellScript) -> Machine {
        let frames = vec![ScriptFrame::new(FrameKind::Block, Rc::new(script))];
        Machine {
            place,
            vars: Variables::new(),
            functions: BTreeMap::new(),
            args: vec!["sh".to_owned()],
            frames,
            pipe: None,
            waits: None,
            until: None,
            watched: None,
            code: 0,
            failure: None,
            kubectl: None,
            replay: None,
            replayed: RefCell::default(),
            part_us: 0,
            paused: false,
            lost: false,
            steps: 0,
            last_step: MOST_STEPS,
            depth: 0,
            put_in: 0,
            captured: false,
            printed: 0,
            full: false,
            substituted: None,
            fault: None,
            interactive: false,
            ended: false,
            is_container: false,
            requests: None,
        }
    }

    /// Creates the terminal's shell, which has kubectl.
    pub fn terminal(script: ShellScript, kubectl: Kubectl) -> Machine {
        Machine {
            kubectl: Some(kubectl),
            ..Machine::new(Place::Console, script)
        }
    }

    /// Creates a shell that reads lines.
    pub fn interactive(place: Place) -> Machine {
        Machine {
            interactive: true,
            frames: Vec::new(),
            ..Machine::new(place, ShellScript::default())
        }
    }

    /// Creates a shell that runs one command given as words.
    pub fn of_words(place: Place, words: &[String]) -> Machine {
        let words = words
            .iter()
            .map(|word| vec![Piece::Quoted(word.clone())])
            .collect();
        let simple = Simple {
            words,
            ..Simple::default()
        };
        Machine::new(
            place,
            ShellScript {
                steps: vec![Step::Pipeline(vec![simple], false)],
            },
        )
    }

    /// Sets the input.
    pub fn with_stdin(mut self, text: &str) -> Machine {
        if let Some(frame) = self.frames.first_mut() {
            frame.stdin = Some(Input::new(text));
        }
        self
    }

    /// Passes a line to an interactive shell; `None` ends it. Returns false if it takes none now.
    pub fn input(&mut self, client: &mut Client<'_>, line: Option<&str>) -> bool {
        if !self.takes_input() {
            return false;
        }
        match line.map(parse::parse) {
            None => self.ended = true,
            Some(Ok(script)) => {
                self.last_step = self.steps + MOST_STEPS;
                self.find_requests(client, &script);
                self.frames
                    .push(ScriptFrame::new(FrameKind::Block, Rc::new(script)));
            }
            Some(Err(fault)) => {
                client.streams.warn(format!("sh: {fault}"));
                self.code = 2;
            }
        }
        true
    }

    /// Returns true if the shell waits for a line.
    pub fn takes_input(&self) -> bool {
        self.interactive && !self.ended && self.frames.is_empty()
    }

    /// Replays a script from one second to another, without advancing time and without side effects, and returns its output. Called again
    /// with a later end, it continues where it was, unless [`Machine::is_lost`].
    pub fn replay(&mut self, client: &mut Client<'_>, began: i64, until: i64) -> String {
        let now = self.replay.map_or(began, |(now, _)| now);
        self.replay = Some((now, until));
        self.paused = now >= until && self.paused;
        let printed = client.streams.printed();
        (self.captured, self.printed) = (true, printed.total());
        self.run(client);
        let (mut text, complaints) = client.streams.take_printed(printed);
        if self.full {
            let end = (0..=MOST_BYTES.min(text.len()))
                .rev()
                .find(|end| text.is_char_boundary(*end));
            text.truncate(end.unwrap_or(0));
        }
        // A log contains both streams.
        text + &complaints
    }

    /// Runs a script ahead of time, from a second on; `None` if it does not end within `limit` seconds and [`MOST_AHEAD`] steps, or depends on
    /// what is not modelled.
    pub fn run_ahead(
        &mut self,
        client: &mut Client<'_>,
        began: i64,
        limit: i64,
    ) -> Option<RunAhead> {
        self.last_step = MOST_AHEAD;
        self.replay(client, began, began.saturating_add(limit));
        let replayed = std::mem::take(self.replayed.get_mut());
        let ended = !self.paused && !self.full && self.steps <= self.last_step;
        let (now, _) = self.replay?;
        (ended && !replayed.is_unknown).then(|| RunAhead {
            span_us: (now - began).unsigned_abs() * SECOND + self.part_us,
            code: self.code,
            writes: replayed.writes,
        })
    }

    /// Advances the time of a replay.
    pub(super) fn pass(&mut self, span: u64) {
        let Some((now, end)) = &mut self.replay else {
            return;
        };
        let span = span.saturating_add(self.part_us);
        *now = now.saturating_add(i64::try_from(span / SECOND).unwrap_or(i64::MAX));
        (self.part_us, self.paused) = (span % SECOND, *now >= *end);
    }

    /// Returns true if the script is being replayed.
    pub fn is_replay(&self) -> bool {
        self.replay.is_some()
    }

    /// Returns true if a replay has stopped within a command that cannot be resumed.
    pub fn is_lost(&self) -> bool {
        self.lost
    }

    /// Returns a measure of progress.
    pub fn progress(&self) -> usize {
        let pipe = self.pipe.as_ref().map_or(0, |pipe| pipe.at);
        self.steps
            + pipe
            + self
                .waits
                .as_ref()
                .map_or(0, |(command, _)| command.progress())
            + usize::from(self.until.is_some())
    }

    /// Returns the time at which the shell continues by itself.
    pub fn deadline(&self) -> Option<Time> {
        self.until.or_else(|| {
            self.waits
                .as_ref()
                .and_then(|(command, _)| command.deadline())
        })
    }

    /// Returns true if the shell continues without a change in the cluster.
    pub fn goes_on(&self) -> bool {
        self.waits
            .as_ref()
            .is_some_and(|(command, _)| command.goes_on())
    }

    /// Ends the command that runs, as Ctrl+C does: the shell ends, or reads the next line. Returns false if none runs.
    pub fn interrupt(&mut self) -> bool {
        let runs = !self.ended && !self.frames.is_empty();
        if runs {
            self.give_up(128 + SIGINT);
        }
        runs
    }

    /// Runs until the shell waits or ends; returns true when it has ended.
    pub fn run(&mut self, client: &mut Client<'_>) -> bool {
        if let [frame] = &self.frames[..]
            && self.steps == 0
            && !self.interactive
        {
            let script = frame.script.clone();
            self.find_requests(client, &script);
        }
        let ended = self.go_on(client);
        if !ended {
            self.report_requests(client);
        }
        ended
    }

    fn go_on(&mut self, client: &mut Client<'_>) -> bool {
        if !self.captured {
            self.printed = client.streams.out.len() + client.streams.err.len();
        }
        while !self.ended {
            // A started pipeline is finished, so that the input it has read is shown.
            if self.paused && self.pipe.is_none() {
                return true;
            }
            if self.full {
                if self.depth == 0 {
                    client.streams.warn("sh: out of memory");
                }
                self.give_up(2);
                continue;
            }
            if let Some(fault) = self.fault.take() {
                client.streams.warn(format!("sh: {fault}"));
                self.give_up(2);
                continue;
            }
            if let Place::Pod(..) = self.place
                && self
                    .place
                    .pod(client)
                    .is_none_or(|pod| self.interactive && pod.pod().is_none_or(Pod::is_terminal))
            {
                self.code = 137;
                return true;
            }
            if self.until.is_some_and(|until| client.sim().now() < until) {
                self.last_step = self.steps + MOST_STEPS;
                return false;
            }
            if self.until.take().is_some() {
                match self.watched.clone() {
                    Some(script) => self.frames.push(ScriptFrame::new(FrameKind::Block, script)),
                    None => self.stage_done(client, Done::default()),
                }
                continue;
            }
            if let Some((mut command, mut done)) = self.waits.take() {
                let (ended, more) = polled(client, &mut command);
                append(&mut done, more);
                self.failure = client.streams.failure.take().or(self.failure.take());
                if ended {
                    self.stage_done(client, done);
                } else {
                    self.flush(client, &mut done);
                    self.waits = Some((command, done));
                    return false;
                }
                continue;
            }
            if self.pipe.is_some() {
                self.stage(client);
                continue;
            }
            match self.next_step() {
                Some(step) => self.step(client, step),
                None if self.watched.is_some() => {
                    self.until = Some(client.sim().now().after(WATCH_US))
                }
                None => return !self.interactive,
            }
        }
        true
    }

    fn next_step(&mut self) -> Option<Step> {
        loop {
            let frame = self.frames.last_mut()?;
            if let Some(step) = frame.script.steps.get(frame.at).cloned() {
                frame.at += 1;
                return Some(step);
            }
            self.end_frame();
        }
    }

    /// Ends the innermost frame, and restores its state.
    fn end_frame(&mut self) {
        let Some(frame) = self.frames.pop() else {
            return;
        };
        if let Some(vars) = frame.saved {
            self.vars = vars;
        }
        self.restore(frame.locals);
        if frame.turned {
            self.code = i32::from(self.code == 0);
        }
    }

    /// Restores variables to their old values.
    pub(super) fn restore(&mut self, olds: Vec<(String, Option<String>)>) {
        for (name, old) in olds.into_iter().rev() {
            match old {
                Some(value) => drop(self.vars.insert(name, value)),
                None => drop(self.vars.remove(&name)),
            }
        }
    }

    fn step(&mut self, client: &mut Client<'_>, step: Step) {
        self.steps += 1;
        if self.steps > self.last_step {
            if self.replay.is_none() {
                client
                    .streams
                    .warn("sh: this script does not end; it is stopped");
            }
            self.give_up(1);
            return;
        }
        self.put_in = 0;
        match step {
            Step::Pipeline(commands, turned) => {
                self.pipe = Some(Pipe {
                    commands,
                    at: 0,
                    input: String::new(),
                    turned,
                })
            }
            Step::Jump(place) => {
                self.rest(client, place);
                self.jump(place);
            }
            Step::JumpIf(good, place) if (self.code == 0) == good => self.jump(place),
            Step::JumpIf(..) => {}
            Step::Succeed => self.code = 0,
            Step::Define(name, script) => {
                self.full |= self.functions.len() >= MOST_FUNCTIONS;
                self.functions.insert(name, script);
                self.code = 0;
            }
            Step::Case(word, arms, end) => {
                let text: Vec<char> = self.text(client, &word).chars().collect();
                let arm = arms
                    .iter()
                    .find(|(pattern, _)| self.pattern(client, pattern).fits(&text));
                self.code = 0;
                self.jump(arm.map_or(end, |(_, place)| *place));
            }
            Step::For(words) => {
                let mut list = VecDeque::new();
                for word in &words {
                    list.extend(self.expand(client, word));
                }
                self.code = 0;
                if let Some(frame) = self.frames.last_mut() {
                    frame.loops.push(list);
                }
            }
            Step::Next(name, end) => {
                let Some(frame) = self.frames.last_mut() else {
                    return;
                };
                match frame.loops.last_mut().and_then(VecDeque::pop_front) {
                    Some(word) => self.assign(&name, word),
                    None => {
                        frame.loops.pop();
                        frame.at = end;
                    }
                }
            }
            Step::Leave(depth, place) => {
                if let Some(frame) = self.frames.last_mut() {
                    frame.loops.truncate(depth);
                }
                self.rest(client, place);
                self.jump(place);
            }
        }
    }

    /// Aborts the script; an interactive shell continues with the next line.
    fn give_up(&mut self, code: i32) {
        (self.code, self.ended) = (code, !self.interactive);
        self.full &= self.ended;
        self.requests = None;
        self.frames.clear();
        (self.pipe, self.waits, self.until, self.watched) = (None, None, None, None);
    }

    /// Assigns a variable.
    pub(super) fn assign(&mut self, name: &str, value: String) {
        let others: usize = self
            .vars
            .iter()
            .filter(|(known, _)| *known != name)
            .map(|(name, value)| name.len() + value.len() + 64)
            .sum();
        self.full |= others + name.len() + value.len() > MOST_VARIABLES;
        if !self.full {
            self.vars.insert(name.to_owned(), value);
        }
    }

    fn jump(&mut self, place: usize) {
        if let Some(frame) = self.frames.last_mut() {
            frame.at = place;
        }
    }

    /// Starts the next command of the pipeline.
    fn stage(&mut self, client: &mut Client<'_>) {
        let Some(pipe) = self.pipe.as_mut() else {
            return;
        };
        let Some(simple) = pipe.commands.get(pipe.at).cloned() else {
            let pipe = self.pipe.take();
            if pipe.is_some_and(|pipe| pipe.turned) {
                self.code = i32::from(self.code == 0);
            }
            return;
        };
        let input = std::mem::take(&mut pipe.input);
        let last = pipe.at + 1 == pipe.commands.len();
        let input = (pipe.at > 0).then_some(input);
        let flow = self.simple(client, &simple, input, last);
        self.failure = client.streams.failure.take().or(self.failure.take());
        match flow {
            _ if self.full => {}
            Flow::Done(done) => self.stage_done(client, done),
            Flow::Waits(command, mut done) => {
                self.flush(client, &mut done);
                self.waits = Some((command, done));
            }
            Flow::Sleeps(until) => self.until = Some(until),
            Flow::Calls(mut frame) => {
                frame.turned = self.pipe.take().is_some_and(|pipe| pipe.turned);
                if self.frames.len() < MOST_FRAMES {
                    self.frames.push(*frame);
                } else {
                    client.streams.warn("sh: too deeply nested");
                    self.code = 2;
                }
            }
            // `exit` in a called script ends only that script.
            Flow::Ends(code) if !self.leaves(FrameKind::Shell, code) => self.ended = true,
            Flow::Returns(code) if !self.leaves(FrameKind::Function, code) => {
                self.leaves(FrameKind::Block, code);
            }
            Flow::Ends(_) | Flow::Returns(_) => {}
        }
    }

    /// Ends the innermost frame of this kind and those within it; returns false if there is none.
    fn leaves(&mut self, kind: FrameKind, code: i32) -> bool {
        (self.code, self.pipe) = (code, None);
        let Some(at) = self.frames.iter().rposition(|frame| frame.kind == kind) else {
            return false;
        };
        while self.frames.len() > at {
            self.end_frame();
        }
        true
    }

    /// Returns the environment that commands see.
    pub fn room<'r, 'c>(&'r self, client: &'r mut Client<'c>) -> CommandRoom<'r, 'c> {
        let pod = match self.place {
            Place::Console => None,
            Place::Pod(_, _, container) => self.place.pod(client).map(|pod| (pod, container)),
        };
        CommandRoom {
            client,
            pod,
            vars: &self.vars,
            replay: self.replay.map(|(now, _)| now),
            replayed: &self.replayed,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Session;
    use cluster::Sim;
    use controller_runtime::cluster::ClusterConfig;

    /// Returns the output of a line, and its exit code.
    fn line(sim: &mut Sim, text: &str) -> (String, Option<i32>) {
        let mut session = Session::line(sim, text, usize::MAX);
        session.poll(sim);
        (session.stdout.clone() + &session.stderr, session.exit)
    }

    #[test]
    fn scripts_that_call_themselves_end() {
        let mut sim = Sim::new(ClusterConfig::default(), 1);
        for text in [
            "echo 'echo x | sh f' > f; sh f",
            "echo 'x=$(sh f)' > f; sh f",
            "echo 'sh f' > f; sh f",
        ] {
            assert!(line(&mut sim, text).1.is_some(), "{text}");
        }
        let (shown, code) = line(&mut sim, "echo 'sh f' > f; sh f");
        assert!(
            shown.contains("too deeply nested") && code == Some(2),
            "{shown} {code:?}"
        );
        let (shown, _) = line(
            &mut sim,
            &format!("true; {} echo a", "exec ".repeat(50_000)),
        );
        assert_eq!(shown, "a\n");
    }

    #[test]
    fn unbounded_variables_run_out_of_memory() {
        let mut sim = Sim::new(ClusterConfig::default(), 1);
        for text in [
            "x=aa; while true; do x=$x$x; done",
            "y=$(x=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; while true; do echo $x; done); echo no",
            "x=aaaaaaaa; echo $x | sed s/a/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/g | sed s/a/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/g | sed s/a/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/g",
        ] {
            let (shown, code) = line(&mut sim, text);
            assert_eq!(
                (shown.as_str(), code),
                ("sh: out of memory\n", Some(2)),
                "{text}"
            );
        }
    }

    #[test]
    fn a_loop_that_sleeps_goes_on() {
        let mut sim = Sim::new(ClusterConfig::default(), 1);
        let mut session = Session::line(
            &mut sim,
            "while true; do true; true; true; sleep 1; done",
            usize::MAX,
        );
        for _ in 0..5_000 {
            sim.advance(sim.now().after(1_000_000), usize::MAX);
            session.poll(&mut sim);
        }
        assert_eq!((session.exit, session.stderr.as_str()), (None, ""));
        assert_eq!(
            line(
                &mut sim,
                "seq 5 | grep -A 18446744073709551615 -B 1 3 | tr '\\n' ' '"
            )
            .0,
            "2 3 4 5 "
        );
        assert_eq!(
            line(&mut sim, "seq 9 | grep -A1 -B1 -e 2 -e 7 | tr '\\n' ' '").0,
            "1 2 3 -- 6 7 8 "
        );
    }
}
