//! Runs the steps of a script one after another and waits in between.

use super::call::{append, polled};
use super::frame::{FrameKind, Input, ScriptFrame};
use super::parse;
use super::room::{CommandRoom, Done, MOST_BYTES, Place, Variables};
use super::script::{Piece, ShellScript, Simple, Step};
use crate::Failure;
use crate::client::Client;
use crate::verb::{PendingCommand, RunVerb};
use k8s_model::Time;
use k8s_model::pod::Pod;
use k8s_model::time::SECOND;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

/// Steps of one script, and of one poll: a loop that never ends is given up.
const MOST_STEPS: usize = 20_000;
/// Bytes of all variables together.
const MOST_VARIABLES: usize = 4 * MOST_BYTES;
/// Scripts that are read while others wait for what they print.
pub(super) const DEEPEST: usize = 8;
/// Scripts and functions that have called each other.
const MOST_FRAMES: usize = 32;
/// Functions of one shell.
const MOST_FUNCTIONS: usize = 200;
/// Seconds between two looks of `watch`.
const WATCH_US: u64 = 2 * SECOND;

/// A pipe that has been begun.
#[derive(Clone, Debug)]
pub(super) struct Pipe {
    pub commands: Vec<Simple>,
    pub at: usize,
    /// What the stage before has printed.
    pub input: String,
    turned: bool,
}

/// What a command in a pipe leads to.
pub(super) enum Flow {
    Done(Done),
    /// It waits; so far it has printed this.
    Waits(Box<dyn PendingCommand>, Done),
    /// It goes on at this time.
    Sleeps(Time),
    /// It is a script of its own.
    Calls(Box<ScriptFrame>),
    /// The shell ends.
    Ends(i32),
    /// The function ends.
    Returns(i32),
}

/// kubectl as the shell knows it: it is above the shell, and calls it.
#[derive(Clone, Copy, Debug)]
pub struct Kubectl {
    /// Runs its words.
    pub run: RunVerb,
    /// Whether a word is one of its verbs.
    pub is_verb: fn(&str) -> bool,
}

/// A shell that runs.
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
    /// What `watch` runs again.
    pub(super) watched: Option<Rc<ShellScript>>,
    /// The exit code of the last command.
    pub code: i32,
    /// A rehearsal: the time that it has come to and the end of it, in seconds since 1970.
    pub(super) rehearsed: Option<(i64, i64)>,
    /// The rehearsal has come to its end.
    pub(super) paused: bool,
    pub(super) lost: bool,
    /// The last failure of a kubectl command, which it has printed.
    pub(super) failure: Option<Failure>,
    pub(super) steps: usize,
    /// The step at which it is given up; it moves on while the shell sleeps.
    pub(super) last_step: usize,
    /// How many machines it runs within.
    pub(super) depth: usize,
    /// Bytes that have been put into the words of this command.
    pub(super) put_in: usize,
    /// What it prints is kept for somebody else.
    pub(super) captured: bool,
    /// Bytes that had been printed when it began to run.
    pub(super) printed: usize,
    /// It has run out of memory.
    pub(super) full: bool,
    /// The exit code of the last script in a word of this command.
    pub(super) substituted: Option<i32>,
    /// What is wrong with a word, which ends the script.
    pub(super) fault: Option<String>,
    /// What knows kubectl's verbs; only the terminal has it.
    pub(super) kubectl: Option<Kubectl>,
    /// It reads lines until it is left.
    pub(super) interactive: bool,
    pub(super) ended: bool,
}

impl Machine {
    /// A shell that runs a script and ends.
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
            rehearsed: None,
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
        }
    }

    /// The terminal's shell, which has kubectl.
    pub fn terminal(script: ShellScript, kubectl: Kubectl) -> Machine {
        Machine {
            kubectl: Some(kubectl),
            ..Machine::new(Place::Console, script)
        }
    }

    /// A shell that reads lines.
    pub fn interactive(place: Place) -> Machine {
        Machine {
            interactive: true,
            frames: Vec::new(),
            ..Machine::new(place, ShellScript::default())
        }
    }

    /// A shell that runs one command given as words.
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

    /// The same, with something to read.
    pub fn with_stdin(mut self, text: &str) -> Machine {
        if let Some(frame) = self.frames.first_mut() {
            frame.stdin = Some(Input::new(text));
        }
        self
    }

    /// A line for a shell that reads them; nothing ends it. False if it takes none now.
    pub fn input(&mut self, client: &mut Client<'_>, line: Option<&str>) -> bool {
        if !self.takes_input() {
            return false;
        }
        match line.map(parse::parse) {
            None => self.ended = true,
            Some(Ok(script)) => {
                self.last_step = self.steps + MOST_STEPS;
                self.frames
                    .push(ScriptFrame::new(FrameKind::Block, Rc::new(script)));
            }
            Some(Err(fault)) => {
                client.warn(format!("sh: {fault}"));
                self.code = 2;
            }
        }
        true
    }

    /// Returns true if it waits for a line.
    pub fn takes_input(&self) -> bool {
        self.interactive && !self.ended && self.frames.is_empty()
    }

    /// What a script prints from one second to another, without time passing and without a trace. Called again with a later end, it
    /// goes on where it was, unless [`Machine::is_lost`].
    pub fn rehearse(&mut self, client: &mut Client<'_>, began: i64, until: i64) -> String {
        let now = self.rehearsed.map_or(began, |(now, _)| now);
        self.rehearsed = Some((now, until));
        self.paused = now >= until && self.paused;
        let printed = client.printed();
        (self.captured, self.printed) = (true, printed.0 + printed.1);
        self.run(client);
        let (mut text, complaints) = client.take_printed(printed);
        if self.full {
            let end = (0..=MOST_BYTES.min(text.len()))
                .rev()
                .find(|end| text.is_char_boundary(*end));
            text.truncate(end.unwrap_or(0));
        }
        // A log has both streams.
        text + &complaints
    }

    /// Returns true if it has been rehearsed up to some time.
    pub fn is_rehearsed(&self) -> bool {
        self.rehearsed.is_some()
    }

    /// Returns true if a rehearsal has stopped within a command whose place is not kept.
    pub fn is_lost(&self) -> bool {
        self.lost
    }

    /// How far it has come.
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

    /// When it goes on by itself.
    pub fn deadline(&self) -> Option<Time> {
        self.until.or_else(|| {
            self.waits
                .as_ref()
                .and_then(|(command, _)| command.deadline())
        })
    }

    /// Returns true if it goes on without anything that happens.
    pub fn goes_on(&self) -> bool {
        self.waits
            .as_ref()
            .is_some_and(|(command, _)| command.goes_on())
    }

    /// Runs on until it waits or ends; true when it has ended.
    pub fn run(&mut self, client: &mut Client<'_>) -> bool {
        if !self.captured {
            self.printed = client.out.len() + client.err.len();
        }
        while !self.ended {
            // A pipe that has been begun is finished: what it has read is shown.
            if self.paused && self.pipe.is_none() {
                return true;
            }
            if self.full {
                if self.depth == 0 {
                    client.warn("sh: out of memory");
                }
                self.give_up(2);
                continue;
            }
            if let Some(fault) = self.fault.take() {
                client.warn(format!("sh: {fault}"));
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
                self.failure = client.failure.take().or(self.failure.take());
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

    /// The innermost script has ended: what belongs to it alone goes.
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

    /// Variables have their old values again.
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
            if self.rehearsed.is_none() {
                client.warn("sh: this script does not end; it is stopped");
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
            Step::Jump(place) => self.jump(place),
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
                self.jump(place);
            }
        }
    }

    /// The script ends; a shell that reads lines takes the next.
    fn give_up(&mut self, code: i32) {
        (self.code, self.ended) = (code, !self.interactive);
        self.full &= self.ended;
        self.frames.clear();
        (self.pipe, self.waits, self.until, self.watched) = (None, None, None, None);
    }

    /// Gives a variable its value.
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

    /// Begins the next command of the pipe.
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
        self.failure = client.failure.take().or(self.failure.take());
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
                    client.warn("sh: too deeply nested");
                    self.code = 2;
                }
            }
            // A script that another one called ends alone.
            Flow::Ends(code) if !self.leaves(FrameKind::Shell, code) => self.ended = true,
            Flow::Returns(code) if !self.leaves(FrameKind::Function, code) => {
                self.leaves(FrameKind::Block, code);
            }
            Flow::Ends(_) | Flow::Returns(_) => {}
        }
    }

    /// Ends the innermost script of this kind and those within it; false if there is none.
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

    /// What its commands see.
    pub(super) fn room<'r, 'c>(&'r self, client: &'r mut Client<'c>) -> CommandRoom<'r, 'c> {
        let pod = match self.place {
            Place::Console => None,
            Place::Pod(_, _, container) => self.place.pod(client).map(|pod| (pod, container)),
        };
        CommandRoom {
            client,
            pod,
            vars: &self.vars,
            rehearsed: self.rehearsed.map(|(now, _)| now),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Session;
    use cluster::Sim;
    use controller_runtime::cluster::ClusterConfig;

    /// What a line prints, and its exit code.
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
    fn what_grows_without_end_runs_out_of_memory() {
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
