//! Runs the steps of a script one after another and waits in between.

use super::call::{append, polled};
use super::parse::{self, Piece, Redirect, Script, Simple, Step};
use super::room::{Done, Place, Room, Variables};
use crate::api::Time;
use crate::api::pod::Pod;
use crate::api::time::SECOND;
use crate::kubectl::Failure;
use crate::kubectl::client::Client;
use crate::kubectl::verb::{PendingCommand, RunVerb};
use std::collections::VecDeque;
use std::rc::Rc;

/// Steps of one script, and of one poll: a loop that never ends is given up.
const MOST_STEPS: usize = 20_000;
/// Scripts within scripts.
pub(super) const DEEPEST: usize = 8;
/// Seconds between two looks of `watch`.
const WATCH_US: u64 = 2 * SECOND;

#[derive(Clone, Debug)]
pub(super) struct Frame {
    script: Rc<Script>,
    at: usize,
    loops: Vec<VecDeque<String>>,
}

/// A pipe that has been begun.
#[derive(Clone, Debug)]
pub(super) struct Pipe {
    commands: Vec<Simple>,
    at: usize,
    /// What the stage before has printed.
    input: String,
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
    Calls(Rc<Script>),
    /// The shell ends.
    Ends(i32),
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
    pub(super) frames: Vec<Frame>,
    pub(super) pipe: Option<Pipe>,
    pub(super) waits: Option<(Box<dyn PendingCommand>, Done)>,
    pub(super) until: Option<Time>,
    /// What `watch` runs again.
    pub(super) watched: Option<Rc<Script>>,
    /// The exit code of the last command.
    pub code: i32,
    /// A rehearsal: the time that it has come to and the end of it, in seconds since 1970.
    pub(super) rehearsed: Option<(i64, i64)>,
    /// The last failure of a kubectl command, which it has printed.
    pub(super) failure: Option<Failure>,
    pub(super) steps: usize,
    /// What knows kubectl's verbs; only the terminal has it.
    pub(super) kubectl: Option<Kubectl>,
    /// It reads lines until it is left.
    pub(super) interactive: bool,
    pub(super) ended: bool,
}

impl Machine {
    /// A shell that runs a script and ends.
    pub fn new(place: Place, script: Script) -> Machine {
        let frames = vec![Frame { script: Rc::new(script), at: 0, loops: Vec::new() }];
        Machine {
            place,
            vars: Variables::new(),
            frames,
            pipe: None,
            waits: None,
            until: None,
            watched: None,
            code: 0,
            failure: None,
            kubectl: None,
            rehearsed: None,
            steps: 0,
            interactive: false,
            ended: false,
        }
    }

    /// The terminal's shell, which has kubectl.
    pub fn terminal(script: Script, kubectl: Kubectl) -> Machine {
        Machine { kubectl: Some(kubectl), ..Machine::new(Place::Console, script) }
    }

    /// A shell that reads lines.
    pub fn interactive(place: Place) -> Machine {
        Machine { interactive: true, frames: Vec::new(), ..Machine::new(place, Script::default()) }
    }

    /// A shell that runs one command given as words.
    pub fn of_words(place: Place, words: &[String]) -> Machine {
        let words = words.iter().map(|word| vec![Piece::Text(word.clone())]).collect();
        let simple = Simple { words, ..Simple::default() };
        Machine::new(place, Script { steps: vec![Step::Pipeline(vec![simple], false)] })
    }

    /// A line for a shell that reads them; nothing ends it. False if it takes none now.
    pub fn input(&mut self, client: &mut Client<'_>, line: Option<&str>) -> bool {
        if !self.takes_input() {
            return false;
        }
        match line.map(parse::parse) {
            None => self.ended = true,
            Some(Ok(script)) => {
                self.steps = 0;
                self.frames.push(Frame { script: Rc::new(script), at: 0, loops: Vec::new() });
            }
            Some(Err(fault)) => {
                client.warn(format!("sh: {fault}"));
                self.code = 2;
            }
        }
        true
    }

    /// Whether it waits for a line.
    pub fn takes_input(&self) -> bool {
        self.interactive && !self.ended && self.frames.is_empty()
    }

    /// What a script prints from one second to another, without time passing and without a trace.
    pub fn rehearse(mut self, client: &mut Client<'_>, began: i64, until: i64) -> String {
        self.rehearsed = Some((began, until));
        let (out, err) = (client.out.len(), client.err.len());
        self.run(client);
        // A log has both streams.
        client.out.split_off(out) + &client.err.split_off(err)
    }

    /// How far it has come.
    pub fn progress(&self) -> usize {
        let pipe = self.pipe.as_ref().map_or(0, |pipe| pipe.at);
        self.steps + pipe + self.waits.as_ref().map_or(0, |(command, _)| command.progress()) + usize::from(self.until.is_some())
    }

    /// When it goes on by itself.
    pub fn deadline(&self) -> Option<Time> {
        self.until.or_else(|| self.waits.as_ref().and_then(|(command, _)| command.deadline()))
    }

    /// Whether it goes on without anything that happens.
    pub fn goes_on(&self) -> bool {
        self.waits.as_ref().is_some_and(|(command, _)| command.goes_on())
    }

    /// Runs on until it waits or ends; true when it has ended.
    pub fn run(&mut self, client: &mut Client<'_>) -> bool {
        while !self.ended {
            if let Place::Pod(..) = self.place
                && self.place.pod(client).is_none_or(|pod| self.interactive && pod.pod().is_none_or(Pod::is_terminal))
            {
                self.code = 137;
                return true;
            }
            if self.until.is_some_and(|until| client.sim().now() < until) {
                return false;
            }
            if self.until.take().is_some() {
                match self.watched.clone() {
                    Some(script) => self.frames.push(Frame { script, at: 0, loops: Vec::new() }),
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
                None if self.watched.is_some() => self.until = Some(client.sim().now().after(WATCH_US)),
                None => return !self.interactive,
            }
        }
        true
    }

    /// What a stage has printed is shown while it goes on, if the commands after it look at one line after another.
    fn flush(&mut self, client: &mut Client<'_>, done: &mut Done) {
        let Some(pipe) = &self.pipe else { return };
        let rest: Vec<Simple> = pipe.commands[pipe.at + 1..].to_vec();
        if !pipe.commands[pipe.at].redirects.is_empty() || !rest.iter().all(by_line) {
            return;
        }
        client.err.push_str(&std::mem::take(&mut done.err));
        // A line that is not complete waits for its end.
        let end = if rest.is_empty() { done.out.len() } else { done.out.rfind('\n').map_or(0, |end| end + 1) };
        let mut text: String = done.out.drain(..end).collect();
        for simple in &rest {
            if let Flow::Done(one) = self.simple(client, simple, std::mem::take(&mut text), false, 0) {
                client.err.push_str(&one.err);
                text = one.out;
            }
        }
        client.out.push_str(&text);
    }

    fn next_step(&mut self) -> Option<Step> {
        loop {
            let frame = self.frames.last_mut()?;
            if let Some(step) = frame.script.steps.get(frame.at).cloned() {
                frame.at += 1;
                return Some(step);
            }
            self.frames.pop();
        }
    }

    fn step(&mut self, client: &mut Client<'_>, step: Step) {
        self.steps += 1;
        if self.steps > MOST_STEPS {
            if self.rehearsed.is_none() {
                client.warn("sh: this script does not end; it is stopped");
            }
            (self.code, self.ended) = (1, !self.interactive);
            self.frames.clear();
            return;
        }
        match step {
            Step::Pipeline(commands, turned) => self.pipe = Some(Pipe { commands, at: 0, input: String::new(), turned }),
            Step::Jump(place) => self.jump(place),
            Step::JumpIf(good, place) if (self.code == 0) == good => self.jump(place),
            Step::JumpIf(..) => {}
            Step::For(words) => {
                let mut list = VecDeque::new();
                for word in &words {
                    list.extend(self.expand(client, word));
                }
                if let Some(frame) = self.frames.last_mut() {
                    frame.loops.push(list);
                }
            }
            Step::Next(name, end) => {
                let Some(frame) = self.frames.last_mut() else { return };
                match frame.loops.last_mut().and_then(VecDeque::pop_front) {
                    Some(word) => drop(self.vars.insert(name, word)),
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

    fn jump(&mut self, place: usize) {
        if let Some(frame) = self.frames.last_mut() {
            frame.at = place;
        }
    }

    /// Begins the next command of the pipe.
    fn stage(&mut self, client: &mut Client<'_>) {
        let Some(pipe) = self.pipe.as_mut() else { return };
        let Some(simple) = pipe.commands.get(pipe.at).cloned() else {
            let pipe = self.pipe.take();
            if pipe.is_some_and(|pipe| pipe.turned) {
                self.code = i32::from(self.code == 0);
            }
            return;
        };
        let input = std::mem::take(&mut pipe.input);
        let alone = pipe.commands.len() == 1;
        let flow = self.simple(client, &simple, input, alone, 0);
        self.failure = client.failure.take().or(self.failure.take());
        match flow {
            Flow::Done(done) => self.stage_done(client, done),
            Flow::Waits(command, mut done) => {
                self.flush(client, &mut done);
                self.waits = Some((command, done));
            }
            Flow::Sleeps(until) => self.until = Some(until),
            Flow::Calls(script) => {
                self.pipe = None;
                if self.frames.len() < DEEPEST {
                    self.frames.push(Frame { script, at: 0, loops: Vec::new() });
                }
            }
            Flow::Ends(code) => {
                self.code = code;
                self.pipe = None;
                match self.frames.len() {
                    // A script that another one called ends alone.
                    2.. => drop(self.frames.pop()),
                    _ => self.ended = true,
                }
            }
        }
    }

    /// A command of the pipe has ended: its files are written, the rest goes to the next command or is shown.
    fn stage_done(&mut self, client: &mut Client<'_>, mut done: Done) {
        let Some(pipe) = self.pipe.as_ref() else { return };
        let (at, count) = (pipe.at, pipe.commands.len());
        let redirects = pipe.commands.get(at).map(|simple| simple.redirects.clone()).unwrap_or_default();
        self.redirect(client, &redirects, &mut done);
        self.code = done.code;
        client.err.push_str(&done.err);
        if at + 1 == count {
            client.out.push_str(&done.out);
        }
        if let Some(pipe) = self.pipe.as_mut() {
            pipe.input = done.out;
            pipe.at += 1;
        }
    }

    fn redirect(&mut self, client: &mut Client<'_>, redirects: &[Redirect], done: &mut Done) {
        // `2>&1` joins the streams as they stand then: it is applied where it comes.
        for redirect in redirects {
            match redirect {
                Redirect::Merge => done.out.push_str(&std::mem::take(&mut done.err)),
                Redirect::To(stream, append, file) => {
                    let file = self.expand(client, file).join(" ");
                    let merged = redirects.contains(&Redirect::Merge);
                    let mut text = String::new();
                    if stream & 1 > 0 {
                        text.push_str(&std::mem::take(&mut done.out));
                    }
                    if stream & 2 > 0 || merged {
                        text.push_str(&std::mem::take(&mut done.err));
                    }
                    if file == "/dev/null" {
                        continue;
                    }
                    let pod = self.room_pod(client);
                    let mut room = Room { client, pod, vars: &self.vars, rehearsed: self.rehearsed.map(|(now, _)| now) };
                    let old = if *append { room.read(&file).unwrap_or_default() } else { String::new() };
                    if let Err(error) = room.write(&file, &(old + &text)) {
                        (done.err, done.code) = (done.err.clone() + &error, 1);
                    }
                }
                Redirect::From(_) | Redirect::Here(_) => {}
            }
        }
    }

    pub(super) fn room_pod(&self, client: &Client<'_>) -> Option<(Rc<crate::api::Object>, usize)> {
        let Place::Pod(_, _, container) = self.place else { return None };
        self.place.pod(client).map(|pod| (pod, container))
    }

    /// Runs one command.
    fn simple(&mut self, client: &mut Client<'_>, simple: &Simple, mut input: String, alone: bool, depth: usize) -> Flow {
        let mut words = Vec::new();
        for word in &simple.words {
            words.extend(self.expand_in(client, word, depth));
        }
        for redirect in &simple.redirects {
            if let Redirect::From(file) = redirect {
                let file = self.expand_in(client, file, depth).join(" ");
                let pod = self.room_pod(client);
                match (Room { client, pod, vars: &self.vars, rehearsed: self.rehearsed.map(|(now, _)| now) }).read(&file) {
                    Some(text) => input = text,
                    None => return Flow::Done(Done::failed(format!("sh: can't open {file}: no such file\n"), 1)),
                }
            } else if let Redirect::Here(word) = redirect {
                input = self.expand_in(client, word, depth).join(" ");
            }
        }
        for (name, value) in &simple.assigns {
            let value = self.expand_in(client, value, depth).join(" ");
            self.vars.insert(name.clone(), value);
        }
        let Some((name, rest)) = words.split_first() else { return Flow::Done(Done::default()) };
        self.call(client, name, rest, input, alone, depth)
    }
}

/// Whether a command makes each line of its output from one line of its input.
fn by_line(simple: &Simple) -> bool {
    let words: Vec<String> = simple.words.iter().map(|word| parse::literal(word).unwrap_or_default()).collect();
    let counts = words.iter().any(|word| word.starts_with('-') && word.contains(['c', 'q', 'A', 'B', 'C']));
    let tool = words.first().is_some_and(|name| matches!(name.as_str(), "grep" | "cut" | "tr" | "cat" | "awk"));
    tool && simple.redirects.is_empty() && (!counts || words[0] != "grep") && !words.iter().any(|word| word.contains("NR"))
}
