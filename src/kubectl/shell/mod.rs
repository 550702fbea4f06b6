//! A small shell: at the terminal's prompt and in the containers of Pods.
//!
//! A text is parsed into steps ([`parse`]); a [`Machine`] runs them one after another and can wait in between, for time or for a
//! kubectl command that waits. What each command prints is passed on as a whole: stages of a pipe run one after another.

pub mod parse;
pub mod room;
mod tools;

use super::client::Client;
use super::{Failure, Outcome, PendingCommand};
use crate::api::Time;
use crate::api::pod::Pod;
use crate::api::time::SECOND;
use parse::{Piece, Redirect, Script, Simple, Step, Word};
use room::{Done, Place, Room, Variables};
use std::collections::VecDeque;
use std::rc::Rc;
use tools::{Call, TOOLS};

/// Steps of one script, and of one poll: a loop that never ends is given up.
const MOST_STEPS: usize = 20_000;
/// Scripts within scripts.
const DEEPEST: usize = 8;
/// Seconds between two looks of `watch`.
const WATCH_US: u64 = 2 * SECOND;

#[derive(Clone, Debug)]
struct Frame {
    script: Rc<Script>,
    at: usize,
    loops: Vec<VecDeque<String>>,
}

/// A pipe that has been begun.
#[derive(Clone, Debug)]
struct Pipe {
    commands: Vec<Simple>,
    at: usize,
    /// What the stage before has printed.
    input: String,
    turned: bool,
}

/// What a command in a pipe leads to.
enum Flow {
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

/// A shell that runs.
#[derive(Clone, Debug)]
pub struct Machine {
    place: Place,
    vars: Variables,
    frames: Vec<Frame>,
    pipe: Option<Pipe>,
    waits: Option<(Box<dyn PendingCommand>, Done)>,
    until: Option<Time>,
    /// What `watch` runs again.
    watched: Option<Rc<Script>>,
    /// The exit code of the last command.
    pub code: i32,
    /// A rehearsal: the time that it has come to and the end of it, in seconds since 1970.
    rehearsed: Option<(i64, i64)>,
    /// The last failure of a kubectl command, which it has printed.
    failure: Option<Failure>,
    steps: usize,
    /// It reads lines until it is left.
    interactive: bool,
    ended: bool,
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
            rehearsed: None,
            steps: 0,
            interactive: false,
            ended: false,
        }
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

    /// What a last stage has printed is shown while it goes on.
    fn flush(&self, client: &mut Client<'_>, done: &mut Done) {
        if let Some(pipe) =
            self.pipe.as_ref().filter(|pipe| pipe.at + 1 == pipe.commands.len() && pipe.commands[pipe.at].redirects.is_empty())
        {
            let _ = pipe;
            client.out.push_str(&std::mem::take(&mut done.out));
            client.err.push_str(&std::mem::take(&mut done.err));
        }
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

    fn room_pod(&self, client: &Client<'_>) -> Option<(Rc<crate::api::Object>, usize)> {
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

    fn call(&mut self, client: &mut Client<'_>, name: &str, rest: &[String], input: String, alone: bool, depth: usize) -> Flow {
        let short = name.rsplit('/').next().unwrap_or(name);
        let number = |at: usize| rest.get(at).and_then(|word| word.parse::<i32>().ok());
        match short {
            "exit" | "logout" => return Flow::Ends(number(0).unwrap_or(self.code)),
            "true" | ":" | "alias" | "set" | "clear" => return Flow::Done(Done::default()),
            "false" => return Flow::Done(Done { code: 1, ..Done::default() }),
            "export" => {
                for (name, value) in rest.iter().filter_map(|word| word.split_once('=')) {
                    self.vars.insert(name.to_owned(), value.to_owned());
                }
                return Flow::Done(Done::default());
            }
            "unset" => {
                rest.iter().for_each(|name| drop(self.vars.remove(name)));
                return Flow::Done(Done::default());
            }
            "cd" => {
                let pod = self.room_pod(client);
                let to = Room { client, pod, vars: &self.vars, rehearsed: self.rehearsed.map(|(now, _)| now) }
                    .absolute(rest.first().map_or("/", String::as_str));
                self.vars.insert("PWD".to_owned(), to);
                return Flow::Done(Done::default());
            }
            "sleep" => {
                let span = rest.first().map_or("", String::as_str);
                let text = if span.ends_with(|c: char| c.is_ascii_digit()) { format!("{span}s") } else { span.to_owned() };
                return match crate::api::time::duration(&text) {
                    Some(span) if self.rehearsed.is_some() => {
                        let (now, end) = self.rehearsed.unwrap_or_default();
                        let now = now.saturating_add((span / SECOND) as i64);
                        self.rehearsed = Some((now, end));
                        self.ended = now >= end;
                        Flow::Done(Done::default())
                    }
                    Some(span) if alone => Flow::Sleeps(client.sim().now().after(span)),
                    Some(_) => Flow::Done(Done::default()),
                    None => Flow::Done(Done::failed(format!("sleep: invalid number '{span}'\n"), 1)),
                };
            }
            "sh" | "bash" | "ash" => return self.script(client, rest, &input, alone, depth),
            "exec" | "time" | "command" | "eval" if !rest.is_empty() => {
                return self.call(client, &rest[0].clone(), &rest[1..], input, alone, depth);
            }
            "watch" if alone => {
                let skip = rest.iter().position(|word| !word.starts_with('-') && word.parse::<f64>().is_err()).unwrap_or(rest.len());
                return match parse::parse(&rest[skip..].join(" ")) {
                    Ok(script) => {
                        let script = Rc::new(script);
                        self.watched = Some(script.clone());
                        Flow::Calls(script)
                    }
                    Err(fault) => Flow::Done(Done::failed(format!("watch: {fault}\n"), 1)),
                };
            }
            "kubectl" | "k" if self.place == Place::Console => return kubectl(client, rest, &input),
            _ => {}
        }
        let pod = self.room_pod(client);
        if let Some(tool) = TOOLS.iter().find(|tool| tool.name == short) {
            let mut room = Room { client, pod, vars: &self.vars, rehearsed: self.rehearsed.map(|(now, _)| now) };
            return Flow::Done((tool.run)(&mut Call { room: &mut room, name: short, words: rest, stdin: &input }));
        }
        if self.place == Place::Console && super::verb_named(short).is_some() {
            let words: Vec<String> = std::iter::once(name.to_owned()).chain(rest.iter().cloned()).collect();
            return kubectl(client, &words, &input);
        }
        Flow::Done(Done::failed(format!("sh: {name}: not found\n"), 127))
    }

    /// `sh -c TEXT`, `sh FILE`.
    fn script(&mut self, client: &mut Client<'_>, rest: &[String], input: &str, alone: bool, depth: usize) -> Flow {
        let text = match rest.iter().position(|word| word.starts_with('-') && word.ends_with('c')) {
            Some(at) => rest.get(at + 1).cloned().unwrap_or_default(),
            None => match rest.iter().find(|word| !word.starts_with('-')) {
                Some(file) => {
                    let pod = self.room_pod(client);
                    match (Room { client, pod, vars: &self.vars, rehearsed: self.rehearsed.map(|(now, _)| now) }).read(file) {
                        Some(text) => text,
                        None => return Flow::Done(Done::failed(format!("sh: can't open '{file}'\n"), 2)),
                    }
                }
                None => input.to_owned(),
            },
        };
        match parse::parse(&text) {
            Err(fault) => Flow::Done(Done::failed(format!("sh: {fault}\n"), 2)),
            Ok(script) if alone => Flow::Calls(Rc::new(script)),
            Ok(script) => Flow::Done(self.at_once(client, &script, depth)),
        }
    }

    /// Runs a script to its end without letting time pass, for what stands in a word or a pipe.
    fn at_once(&mut self, client: &mut Client<'_>, script: &Script, depth: usize) -> Done {
        if depth >= DEEPEST {
            return Done::failed("sh: too deeply nested\n", 2);
        }
        let mut inner = Machine {
            vars: self.vars.clone(),
            steps: self.steps,
            rehearsed: self.rehearsed,
            ..Machine::new(self.place.clone(), script.clone())
        };
        let (out, err) = (client.out.len(), client.err.len());
        // A command that waits gets no time here.
        let mut ended = inner.run(client);
        while !ended && inner.goes_on() {
            ended = inner.run(client);
        }
        self.steps = inner.steps + 1;
        Done { out: client.out.split_off(out), err: client.err.split_off(err), code: if ended { inner.code } else { 1 } }
    }

    fn expand(&mut self, client: &mut Client<'_>, word: &[Piece]) -> Vec<String> {
        self.expand_in(client, word, 0)
    }

    /// The words that a word becomes: what is put in without quotes is split at blanks.
    fn expand_in(&mut self, client: &mut Client<'_>, word: &[Piece], depth: usize) -> Vec<String> {
        let mut words: Vec<String> = Vec::new();
        let mut open: Option<String> = None;
        for piece in word {
            let (text, splits) = match piece {
                Piece::Text(text) => (text.clone(), false),
                Piece::Variable(name, other, quoted) => {
                    let value = self.variable(client, name);
                    (if value.is_empty() { other.clone() } else { value }, !quoted)
                }
                Piece::Output(script, quoted) => {
                    let done = self.at_once(client, script, depth + 1);
                    client.err.push_str(&done.err);
                    (done.out.trim_end_matches('\n').to_owned(), !quoted)
                }
                Piece::Sum(text) => (self.sum(client, text).to_string(), false),
            };
            if !splits {
                open.get_or_insert_default().push_str(&text);
                continue;
            }
            if text.starts_with(char::is_whitespace) {
                words.extend(open.take());
            }
            let mut parts = text.split_whitespace().peekable();
            while let Some(part) = parts.next() {
                open.get_or_insert_default().push_str(part);
                if parts.peek().is_some() || text.ends_with(char::is_whitespace) {
                    words.extend(open.take());
                }
            }
        }
        words.extend(open);
        words
    }

    fn variable(&mut self, client: &mut Client<'_>, name: &str) -> String {
        if name == "?" {
            return self.code.to_string();
        }
        if let Some(value) = self.vars.get(name) {
            return value.clone();
        }
        let pod = self.room_pod(client);
        let room = Room { client, pod, vars: &self.vars, rehearsed: self.rehearsed.map(|(now, _)| now) };
        room.env().into_iter().rev().find(|(known, _)| known == name).map(|(_, value)| value).unwrap_or_default()
    }

    /// `$((i + 1))`: numbers and variables, from left to right.
    fn sum(&mut self, client: &mut Client<'_>, text: &str) -> i64 {
        let spaced: String = text.chars().map(|c| if "+-*/%".contains(c) { format!(" {c} ") } else { c.to_string() }).collect();
        let (mut total, mut sign) = (0_i64, "+".to_owned());
        for word in spaced.split_whitespace() {
            let value = match word {
                "+" | "-" | "*" | "/" | "%" => {
                    word.clone_into(&mut sign);
                    continue;
                }
                word => match word.parse() {
                    Ok(number) => number,
                    Err(_) => self.variable(client, word.trim_start_matches('$')).parse().unwrap_or(0),
                },
            };
            total = match sign.as_str() {
                "-" => total.saturating_sub(value),
                "*" => total.saturating_mul(value),
                "/" => total.checked_div(value).unwrap_or(0),
                "%" => total.checked_rem(value).unwrap_or(0),
                _ => total.saturating_add(value),
            };
        }
        total
    }
}

fn append(done: &mut Done, more: Done) {
    done.out.push_str(&more.out);
    done.err.push_str(&more.err);
    done.code = more.code;
}

fn fail(client: &mut Client<'_>, done: &mut Done, failure: Failure) {
    done.err.push_str(&failure.message);
    done.code = failure.exit;
    client.failure.get_or_insert(failure);
}

/// Lets a command look; whether it has ended, and what it printed.
fn polled(client: &mut Client<'_>, command: &mut Box<dyn PendingCommand>) -> (bool, Done) {
    let (out, err) = (client.out.len(), client.err.len());
    let result = command.poll(client);
    let mut done = Done { out: client.out.split_off(out), err: client.err.split_off(err), code: i32::from(client.failure.is_some()) };
    let ended = match result {
        Ok(ended) => ended,
        Err(failure) => {
            fail(client, &mut done, failure);
            true
        }
    };
    (ended, done)
}

/// A kubectl command, with the terminal's files where it names some.
fn kubectl(client: &mut Client<'_>, words: &[String], input: &str) -> Flow {
    let mut words = words.to_vec();
    let mut stdin = String::new();
    let mut at = 0;
    while at < words.len() && words[at] != "--" {
        let inline = ["--filename=", "-f="].iter().find_map(|flag| words[at].strip_prefix(flag)).map(str::to_owned);
        let (place, path) = match inline {
            Some(path) => (at, path),
            None if matches!(words[at].as_str(), "-f" | "--filename") && at + 1 < words.len() => (at + 1, words[at + 1].clone()),
            None => {
                at += 1;
                continue;
            }
        };
        let text = match client.file(&path) {
            _ if path == "-" => input.to_owned(),
            Some(text) => text,
            None => return Flow::Done(Done::failed(format!("error: the path {path:?} does not exist\n"), 1)),
        };
        stdin.push_str(&format!("{}{text}", if stdin.is_empty() { "" } else { "\n---\n" }));
        words[place] = if place == at { "--filename=-".to_owned() } else { "-".to_owned() };
        at = place + 1;
    }
    let (out, err) = (client.out.len(), client.err.len());
    // Flags of one command are not those of the next.
    client.mode = Default::default();
    "default".clone_into(&mut client.namespace);
    let result = super::dispatch(client, &words, &stdin);
    let mut done = Done { out: client.out.split_off(out), err: client.err.split_off(err), code: 0 };
    match result {
        Ok(Outcome::Done) => done.code = i32::from(client.failure.is_some()),
        Err(failure) => fail(client, &mut done, failure),
        Ok(Outcome::Pending(mut command)) => {
            let (ended, more) = polled(client, &mut command);
            append(&mut done, more);
            if !ended {
                return Flow::Waits(command, done);
            }
        }
    }
    Flow::Done(done)
}

/// Whether a line only looks: no command of it writes, to the cluster or to a file.
pub fn only_reads(line: &str) -> bool {
    fn reads(script: &Script) -> bool {
        script.steps.iter().all(|step| match step {
            Step::Pipeline(commands, _) => commands.iter().all(simple_reads),
            Step::For(words) => words.iter().all(|word| word_reads(word)),
            _ => true,
        })
    }
    fn word_reads(word: &Word) -> bool {
        word.iter().all(|piece| if let Piece::Output(script, _) = piece { reads(script) } else { true })
    }
    fn simple_reads(simple: &Simple) -> bool {
        let inner = simple.words.iter().chain(simple.assigns.iter().map(|(_, word)| word)).all(word_reads);
        let files = simple.redirects.iter().all(|redirect| !matches!(redirect, Redirect::To(..)));
        let words: Option<Vec<String>> = simple.words.iter().map(|word| parse::literal(word)).collect();
        let known = words.as_ref().and_then(|words| words.first()).is_some_and(|first| match first.as_str() {
            "sleep" | "true" | "false" | "exit" | "watch" => true,
            "rm" | "touch" | "tee" | "cp" | "sh" | "bash" => false,
            name => TOOLS.iter().any(|tool| tool.name == name),
        });
        inner && files && (known || words.is_some_and(|words| super::command_only_reads(&words)))
    }
    match parse::parse(line) {
        Ok(script) => !script.steps.is_empty() && reads(&script),
        // Words that were joined without their quotes.
        Err(_) => super::command_only_reads(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>()),
    }
}

/// A line of the terminal as a command that is polled.
#[derive(Clone, Debug)]
pub struct LineCommand {
    pub machine: Machine,
    /// What stands behind the exit code on stderr.
    pub remote: bool,
}

impl PendingCommand for LineCommand {
    fn poll(&mut self, client: &mut Client<'_>) -> Result<bool, Failure> {
        if !self.machine.run(client) {
            return Ok(false);
        }
        if self.machine.code != 0 && !self.remote {
            client.failure = self.machine.failure.take();
        }
        match self.machine.code {
            0 => Ok(true),
            code if self.remote => Err(Failure::exit(format!("command terminated with exit code {code}\n"), code)),
            code => Err(Failure::exit("", code)),
        }
    }

    fn deadline(&self) -> Option<Time> {
        self.machine.deadline()
    }

    fn goes_on(&self) -> bool {
        self.machine.goes_on()
    }

    fn input(&mut self, client: &mut Client<'_>, line: Option<&str>) -> bool {
        match self.machine.waits.as_mut() {
            Some((command, _)) => command.input(client, line),
            None => self.machine.input(client, line),
        }
    }

    fn takes_input(&self) -> bool {
        self.machine.waits.as_ref().map_or(self.machine.takes_input(), |(command, _)| command.takes_input())
    }

    fn copy(&self) -> Box<dyn PendingCommand> {
        Box::new(self.clone())
    }
}
