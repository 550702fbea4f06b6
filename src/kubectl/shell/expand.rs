//! What is put into words: variables, outputs of scripts, sums.

use super::machine::{DEEPEST, Machine};
use super::parse::{Piece, Script};
use super::room::{Done, MOST_BYTES};
use crate::kubectl::client::Client;

impl Machine {
    /// Runs a script to its end without letting time pass, for what stands in a word or a pipe.
    pub(super) fn at_once(&mut self, client: &mut Client<'_>, script: &Script) -> Done {
        if self.depth >= DEEPEST {
            return Done::failed("sh: too deeply nested\n", 2);
        }
        let (out, err) = (client.out.len(), client.err.len());
        let mut inner = Machine {
            depth: self.depth + 1,
            captured: true,
            printed: out + err,
            last_step: self.last_step,
            vars: self.vars.clone(),
            steps: self.steps,
            rehearsed: self.rehearsed,
            kubectl: self.kubectl,
            ..Machine::new(self.place.clone(), script.clone())
        };
        // A command that waits gets no time here.
        let mut ended = inner.run(client);
        while !ended && inner.goes_on() {
            ended = inner.run(client);
        }
        self.steps = inner.steps + 1;
        if inner.full {
            self.full = true;
            client.out.truncate(out);
        }
        Done { out: client.out.split_off(out), err: client.err.split_off(err), code: if ended { inner.code } else { 1 } }
    }

    /// The words that a word becomes: what is put in without quotes is split at blanks.
    pub(super) fn expand(&mut self, client: &mut Client<'_>, word: &[Piece]) -> Vec<String> {
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
                    let done = self.at_once(client, script);
                    client.err.push_str(&done.err);
                    (done.out.trim_end_matches('\n').to_owned(), !quoted)
                }
                Piece::Sum(text) => (self.sum(client, text).to_string(), false),
            };
            if !matches!(piece, Piece::Text(_)) {
                self.put_in += text.len();
                self.full |= self.put_in > MOST_BYTES;
            }
            if self.full {
                return Vec::new();
            }
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
        self.room(client).env().into_iter().rev().find(|(known, _)| known == name).map(|(_, value)| value).unwrap_or_default()
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
