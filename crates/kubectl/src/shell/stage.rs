//! Stage of a pipeline: its words and redirections before it runs, its output afterwards.

use super::machine::{Flow, Machine};
use super::room::{Done, MOST_BYTES};
use super::script::{Redirect, Simple, literal};
use super::tools;
use crate::client::Client;

/// Maximum number of bytes that a script prints without a pause.
const MOST_SHOWN: usize = 64 * MOST_BYTES;

impl Machine {
    /// Shows the output of a stage while it continues, if all following commands work line by line.
    pub(super) fn flush(&mut self, client: &mut Client<'_>, done: &mut Done) {
        let Some(pipe) = &self.pipe else { return };
        let rest: Vec<Simple> = pipe.commands[pipe.at + 1..].to_vec();
        if !pipe.commands[pipe.at].redirects.is_empty() || !rest.iter().all(by_line) {
            return;
        }
        client.streams.err.push_str(&std::mem::take(&mut done.err));
        // An incomplete line waits for its end.
        let end = if rest.is_empty() {
            done.out.len()
        } else {
            done.out.rfind('\n').map_or(0, |end| end + 1)
        };
        let mut text: String = done.out.drain(..end).collect();
        for simple in &rest {
            if let Flow::Done(one) =
                self.simple(client, simple, Some(std::mem::take(&mut text)), false)
            {
                client.streams.err.push_str(&one.err);
                text = one.out;
            }
        }
        client.streams.out.push_str(&text);
    }

    /// Handles the end of a command: writes its redirections, and passes the rest to the next command or shows it.
    pub(super) fn stage_done(&mut self, client: &mut Client<'_>, mut done: Done) {
        let Some(pipe) = self.pipe.as_ref() else {
            return;
        };
        let (at, count) = (pipe.at, pipe.commands.len());
        let redirects = pipe
            .commands
            .get(at)
            .map(|simple| simple.redirects.clone())
            .unwrap_or_default();
        self.redirect(client, &redirects, &mut done);
        self.code = done.code;
        client.streams.err.push_str(&done.err);
        if at + 1 == count {
            client.streams.out.push_str(&done.out);
        }
        if let Some(pipe) = self.pipe.as_mut() {
            pipe.input = done.out;
            pipe.at += 1;
        }
        // The log of a container continues: the output is truncated, but its command is not aborted.
        let most = if self.captured && self.replay.is_none() {
            MOST_BYTES
        } else {
            MOST_SHOWN
        };
        self.full |= (client.streams.out.len() + client.streams.err.len())
            .saturating_sub(self.printed)
            > most;
    }

    fn redirect(&mut self, client: &mut Client<'_>, redirects: &[Redirect], done: &mut Done) {
        // `2>&1` joins the streams as they are at that point: it is applied in order.
        for redirect in redirects {
            match redirect {
                Redirect::Merge => done.out.push_str(&std::mem::take(&mut done.err)),
                Redirect::Complain => done.err.push_str(&std::mem::take(&mut done.out)),
                Redirect::To(stream, append, file) => {
                    let file = self.text(client, file);
                    if self.full {
                        return;
                    }
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
                    let mut room = self.room(client);
                    let old = if *append {
                        room.read(&file).unwrap_or_default()
                    } else {
                        String::new()
                    };
                    if let Err(error) = room.write(&file, &(old + &text)) {
                        (done.err, done.code) = (done.err.clone() + &error, 1);
                    }
                }
                Redirect::From(_) | Redirect::Here(_) => {}
            }
        }
    }

    /// Runs one command; `input` is the output of the previous one in the pipeline.
    pub(super) fn simple(
        &mut self,
        client: &mut Client<'_>,
        simple: &Simple,
        input: Option<String>,
        last: bool,
    ) -> Flow {
        (self.put_in, self.substituted) = (0, None);
        let (alone, mut input) = (last && input.is_none(), input);
        let mut words = Vec::new();
        for word in &simple.words {
            words.extend(self.expand(client, word));
        }
        for redirect in &simple.redirects {
            if let Redirect::From(file) = redirect {
                let file = self.text(client, file);
                match self.room(client).read(&file) {
                    Some(text) => input = Some(text),
                    None if file == "/dev/null" => input = Some(String::new()),
                    None => {
                        return Flow::Done(Done::failed(
                            format!("sh: can't open {file}: no such file\n"),
                            1,
                        ));
                    }
                }
            } else if let Redirect::Here(word) = redirect {
                input = Some(self.text(client, word));
            }
        }
        let mut olds = Vec::new();
        for (name, value) in &simple.assigns {
            let value = self.text(client, value);
            if !words.is_empty() {
                olds.push((name.clone(), self.vars.get(name).cloned()));
            }
            self.assign(name, value);
        }
        if self.full || self.fault.is_some() {
            return Flow::Done(Done::failed("", 2));
        }
        // Its output goes nowhere else.
        let calls = last
            && simple
                .redirects
                .iter()
                .all(|redirect| matches!(redirect, Redirect::From(_) | Redirect::Here(_)));
        if let Some(block) = &simple.block {
            let frame = self.block(&block.script, block.subshell || !alone, input.as_deref());
            return match calls {
                true => Flow::Calls(Box::new(frame)),
                false => Flow::Done(self.at_once(client, frame, block.subshell || !alone)),
            };
        }
        let Some((name, rest)) = words.split_first() else {
            return Flow::Done(Done {
                code: self.substituted.unwrap_or(0),
                ..Done::default()
            });
        };
        let mut flow = self.call(client, name, rest, input, calls);
        match &mut flow {
            Flow::Calls(frame) => frame.locals.extend(olds),
            _ => self.restore(olds),
        }
        flow
    }
}

/// Returns true if each output line of a command depends on one input line.
fn by_line(simple: &Simple) -> bool {
    let words: Vec<String> = simple
        .words
        .iter()
        .map(|word| literal(word).unwrap_or_default())
        .collect();
    let Some((name, rest)) = words.split_first() else {
        return false;
    };
    simple.redirects.is_empty() && tools::find(name).is_some_and(|tool| (tool.by_line)(rest))
}
