//! Dispatch of a single command: builtins, tools, and kubectl.

use super::builtins;
use super::frame::{FrameKind, Input, ScriptFrame};
use super::machine::{Flow, Machine};
use super::parse;
use super::room::{Done, MOST_BYTES};
use super::tools::tool::ToolCall;
use crate::Failure;
use crate::client::Client;
use crate::shell::tools;
use crate::verb::{Outcome, PendingCommand};
use k8s_model::time::SECOND;
use std::rc::Rc;

/// Commands that run the words after them.
pub(super) const RUNS_WORDS: [&str; 3] = ["exec", "time", "command"];

/// Returns the words that `watch` runs: those after its own flags.
pub(super) fn watched(words: &[String]) -> &[String] {
    let own = words
        .iter()
        .take_while(|word| word.starts_with('-') || word.parse::<f64>().is_ok())
        .count();
    &words[own..]
}

/// Returns the maximum output of a tool in bytes: somewhat more than its input, but for long input no more than that.
fn most_out(input: usize) -> usize {
    (input + MOST_BYTES).min(input.max(16 * MOST_BYTES))
}

impl Machine {
    /// Runs a command given as words; `calls` is set if it may continue as a script of its own, and wait.
    pub(super) fn call(
        &mut self,
        client: &mut Client<'_>,
        name: &str,
        rest: &[String],
        input: Option<String>,
        calls: bool,
    ) -> Flow {
        let (mut name, mut rest) = (name, rest);
        let short = loop {
            let short = name.rsplit('/').next().unwrap_or(name);
            match rest.split_first() {
                Some((next, more)) if RUNS_WORDS.contains(&short) => (name, rest) = (next, more),
                _ => break short,
            }
        };
        if let Some(script) = self.functions.get(name).cloned() {
            let args = std::iter::once(name)
                .chain(rest.iter().map(String::as_str))
                .map(str::to_owned)
                .collect();
            let stdin = input.as_deref().map(Input::new);
            let frame = ScriptFrame {
                args: Some(args),
                stdin,
                ..ScriptFrame::new(FrameKind::Function, script)
            };
            return if calls {
                Flow::Calls(Box::new(frame))
            } else {
                Flow::Done(self.at_once(client, frame, input.is_some()))
            };
        }
        if let Some(flow) = builtins::call(self, client, short, rest, input.as_deref(), calls) {
            return flow;
        }
        let input = input.unwrap_or_else(|| self.unread());
        match short {
            "sleep" => {
                let span = rest.first().map_or("", String::as_str);
                let text = if span.ends_with(|c: char| c.is_ascii_digit()) {
                    format!("{span}s")
                } else {
                    span.to_owned()
                };
                let span = match span {
                    "infinity" | "inf" => Some(u64::MAX / 4),
                    _ => k8s_model::time::duration(&text),
                };
                if let (Some(requests), Some(span)) = (&mut self.requests, span) {
                    if span < SECOND {
                        return Flow::Done(Done::default());
                    }
                    requests.slept = true;
                }
                return match span {
                    Some(span) if self.replay.is_some() => {
                        self.pass(span);
                        Flow::Done(Done::default())
                    }
                    Some(span) if calls => Flow::Sleeps(client.sim().now().after(span)),
                    Some(_) => Flow::Done(Done::default()),
                    None => Flow::Done(Done::failed(
                        format!(
                            "sleep: invalid number '{}'\n",
                            rest.first().map_or("", String::as_str)
                        ),
                        1,
                    )),
                };
            }
            // Never ends.
            "tail"
                if self.replay.is_some()
                    && rest.iter().any(|word| word == "-f" || word == "-F") =>
            {
                self.pass(u64::MAX / 4);
            }
            "sh" | "bash" | "ash" => return self.script(client, rest, &input, calls),
            "watch" if calls => {
                return match parse::parse(&watched(rest).join(" ")) {
                    Ok(script) => {
                        let script = Rc::new(script);
                        self.watched = Some(script.clone());
                        Flow::Calls(Box::new(ScriptFrame::new(FrameKind::Block, script)))
                    }
                    Err(fault) => Flow::Done(Done::failed(format!("watch: {fault}\n"), 1)),
                };
            }
            "kubectl" | "k" if self.kubectl.is_some() => return self.kubectl(client, rest, &input),
            _ => {}
        }
        if let Some(tool) = tools::find(short) {
            self.replayed.get_mut().is_unknown |= tool.uses_network;
            let mut room = self.room(client);
            let done = (tool.run)(&mut ToolCall {
                room: &mut room,
                name: short,
                words: rest,
                stdin: &input,
            });
            if done.out.len() > most_out(input.len()) {
                // A long file may be printed as it is.
                let longest = rest
                    .iter()
                    .take(64)
                    .filter_map(|file| room.read(file))
                    .map(|text| text.len())
                    .max();
                self.full |= done.out.len() > most_out(input.len().max(longest.unwrap_or(0)));
            }
            return Flow::Done(done);
        }
        if self.kubectl.is_some_and(|kubectl| (kubectl.is_verb)(short)) {
            let words: Vec<String> = std::iter::once(name.to_owned())
                .chain(rest.iter().cloned())
                .collect();
            return self.kubectl(client, &words, &input);
        }
        self.replayed.get_mut().is_unknown = true;
        Flow::Done(Done::failed(format!("sh: {name}: not found\n"), 127))
    }

    /// Runs `sh -c TEXT` and `sh FILE`.
    fn script(
        &mut self,
        client: &mut Client<'_>,
        rest: &[String],
        input: &str,
        calls: bool,
    ) -> Flow {
        let option = |word: &String| word.starts_with('-') && word.ends_with('c');
        let (text, args) = match rest
            .iter()
            .take_while(|word| word.starts_with('-'))
            .position(option)
        {
            Some(at) => (
                rest.get(at + 1).cloned().unwrap_or_default(),
                rest.get(at + 2..).unwrap_or_default(),
            ),
            None => match rest.iter().position(|word| !word.starts_with('-')) {
                Some(at) => match self.room(client).read(&rest[at]) {
                    Some(text) => (text, &rest[at..]),
                    None => {
                        return Flow::Done(Done::failed(
                            format!("sh: can't open '{}'\n", rest[at]),
                            2,
                        ));
                    }
                },
                None => (input.to_owned(), &rest[..0]),
            },
        };
        match parse::parse(&text) {
            Err(fault) => Flow::Done(Done::failed(format!("sh: {fault}\n"), 2)),
            Ok(script) => {
                let args = if args.is_empty() {
                    vec!["sh".to_owned()]
                } else {
                    args.to_vec()
                };
                let frame = ScriptFrame {
                    args: Some(args),
                    ..self.block(&Rc::new(script), true, None)
                };
                if calls {
                    Flow::Calls(Box::new(frame))
                } else {
                    Flow::Done(self.at_once(client, frame, true))
                }
            }
        }
    }

    /// Runs a kubectl command.
    fn kubectl(&self, client: &mut Client<'_>, words: &[String], input: &str) -> Flow {
        let Some(kubectl) = self.kubectl else {
            return Flow::Done(Done::default());
        };
        let printed = client.streams.printed();
        // Flags of one command do not apply to the next.
        client.mode = Default::default();
        "default".clone_into(&mut client.namespace);
        client.folder = self.vars.get("PWD").cloned().unwrap_or_default();
        let result = (kubectl.run)(client, words, input);
        client.streams.print_failures();
        let (out, err) = client.streams.take_printed(printed);
        let mut done = Done { out, err, code: 0 };
        match result {
            Ok(Outcome::Done) => done.code = i32::from(client.streams.failure.is_some()),
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
}

pub(super) fn append(done: &mut Done, more: Done) {
    done.out.push_str(&more.out);
    done.err.push_str(&more.err);
    done.code = more.code;
}

fn fail(client: &mut Client<'_>, done: &mut Done, failure: Failure) {
    done.err.push_str(&failure.message);
    done.code = failure.exit;
    client.streams.failure.get_or_insert(failure);
}

/// Polls a command; returns whether it has ended, and its output.
pub(super) fn polled(
    client: &mut Client<'_>,
    command: &mut Box<dyn PendingCommand>,
) -> (bool, Done) {
    let printed = client.streams.printed();
    let result = command.poll(client);
    client.streams.print_failures();
    let (out, err) = client.streams.take_printed(printed);
    let mut done = Done {
        out,
        err,
        code: i32::from(client.streams.failure.is_some()),
    };
    let ended = match result {
        Ok(ended) => ended,
        Err(failure) => {
            fail(client, &mut done, failure);
            true
        }
    };
    (ended, done)
}
