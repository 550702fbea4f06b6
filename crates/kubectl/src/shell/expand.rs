//! Expansion of words: variables, command substitution, arithmetic, and file names.

use super::arithmetic;
use super::frame::{FrameKind, Input, ScriptFrame};
use super::machine::{DEEPEST, Machine};
use super::pattern::{Pattern, escaped, is_pattern};
use super::room::{Done, MOST_BYTES};
use super::script::{Expansion, Parameter, Piece, ShellScript};
use crate::client::Client;
use std::cell::RefCell;
use std::rc::Rc;

/// Collector of the fields that a word expands to.
#[derive(Default)]
struct Fields {
    done: Vec<Field>,
    open: Option<Field>,
    /// Characters at which unquoted text is split; `None` for no splitting.
    splits: Option<String>,
    /// True if a field has just ended at a blank.
    blank: bool,
}

#[derive(Default)]
struct Field {
    text: String,
    /// Text with a backslash before each quoted letter that would otherwise be a pattern.
    pattern: String,
}

impl Fields {
    fn add(&mut self, text: &str, quoted: bool) {
        let field = self.open.get_or_insert_default();
        field.text.push_str(text);
        field.pattern.push_str(&if quoted {
            escaped(text)
        } else {
            text.to_owned()
        });
        self.blank = false;
    }

    fn end(&mut self) {
        self.done.extend(self.open.take());
    }

    /// Adds unquoted text, split into fields.
    fn split(&mut self, text: &str) {
        let Some(letters) = self.splits.clone() else {
            return self.add(text, false);
        };
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let length = rest.find(|c| letters.contains(c)).unwrap_or(rest.len());
            if length > 0 {
                self.add(&rest[..length], false);
                rest = &rest[length..];
                continue;
            }
            if c.is_whitespace() {
                self.blank |= self.open.is_some();
                self.end();
            } else if !std::mem::take(&mut self.blank) {
                // Two separators have an empty field between them.
                self.open.get_or_insert_default();
                self.end();
            }
            rest = &rest[c.len_utf8()..];
        }
    }
}

impl Machine {
    /// Runs a script to its end without advancing time, for command substitution or a pipe; `own` is set if its variables end with it.
    pub(super) fn at_once(
        &mut self,
        client: &mut Client<'_>,
        frame: ScriptFrame,
        own: bool,
    ) -> Done {
        if self.depth >= DEEPEST {
            return Done::failed("sh: too deeply nested\n", 2);
        }
        let printed = client.streams.printed();
        let args = self.args().to_vec();
        let stdin = self
            .frames
            .iter()
            .rev()
            .find_map(|frame| frame.stdin.clone());
        let mut inner = Machine {
            depth: self.depth + 1,
            captured: true,
            printed: printed.total(),
            last_step: self.last_step,
            vars: self.vars.clone(),
            functions: self.functions.clone(),
            code: self.code,
            steps: self.steps,
            replay: self.replay,
            replayed: RefCell::new(self.replayed.take()),
            part_us: self.part_us,
            kubectl: self.kubectl,
            ..Machine::new(self.place.clone(), ShellScript::default())
        };
        inner.frames = vec![
            ScriptFrame {
                args: Some(args),
                stdin,
                ..ScriptFrame::new(FrameKind::Block, Rc::default())
            },
            frame,
        ];
        // A waiting command gets no time here.
        let mut ended = inner.run(client);
        while !ended && inner.goes_on() {
            ended = inner.run(client);
        }
        self.steps = inner.steps + 1;
        if inner.full {
            self.full = true;
            client.streams.out.truncate(printed.out);
        } else if !own {
            (self.vars, self.functions) = (inner.vars, inner.functions);
        }
        (self.replay, self.part_us) = (inner.replay, inner.part_us);
        self.replayed = inner.replayed;
        self.paused |= inner.paused;
        self.lost |= inner.paused || inner.lost;
        let (out, err) = client.streams.take_printed(printed);
        Done {
            out,
            err,
            code: if ended { inner.code } else { 1 },
        }
    }

    /// Expands a word into fields: unquoted expansions are split, and a pattern becomes the names of matching files.
    pub(super) fn expand(&mut self, client: &mut Client<'_>, word: &[Piece]) -> Vec<String> {
        let letters = self
            .vars
            .get("IFS")
            .cloned()
            .unwrap_or_else(|| " \t\n".to_owned());
        let mut fields = Fields {
            splits: Some(letters),
            ..Fields::default()
        };
        self.put(client, word, &mut fields);
        fields.end();
        let mut words = Vec::new();
        for field in fields.done {
            match is_pattern(&field.pattern) {
                true => words.extend(self.files(client, field)),
                false => words.push(field.text),
            }
        }
        if self.full { Vec::new() } else { words }
    }

    /// Expands a word into a single text.
    pub(super) fn text(&mut self, client: &mut Client<'_>, word: &[Piece]) -> String {
        self.field(client, word).text
    }

    /// Expands a word into a pattern.
    pub(super) fn pattern(&mut self, client: &mut Client<'_>, word: &[Piece]) -> Pattern {
        Pattern::new(&self.field(client, word).pattern)
    }

    fn field(&mut self, client: &mut Client<'_>, word: &[Piece]) -> Field {
        let mut fields = Fields::default();
        self.put(client, word, &mut fields);
        if self.full {
            Field::default()
        } else {
            fields.open.unwrap_or_default()
        }
    }

    /// Returns the files that match a pattern in the last part of a path, or the word itself.
    fn files(&mut self, client: &mut Client<'_>, field: Field) -> Vec<String> {
        let (folder, last) = field
            .pattern
            .rsplit_once('/')
            .unwrap_or(("", &field.pattern));
        if is_pattern(folder) || !is_pattern(last) {
            return vec![field.text];
        }
        let before = field
            .text
            .rfind('/')
            .map_or(String::new(), |at| field.text[..=at].to_owned());
        let mut pattern = Pattern::new(last);
        let names = self
            .room(client)
            .names(if before.is_empty() { "." } else { &before });
        let mut found: Vec<String> = Vec::new();
        for name in names
            .into_iter()
            .filter(|name| pattern.fits(&name.chars().collect::<Vec<_>>()))
        {
            self.grow(before.len() + name.len());
            found.push(format!("{before}{name}"));
        }
        if found.is_empty() {
            vec![field.text]
        } else {
            found
        }
    }

    /// Counts the bytes expanded into the words of a command.
    fn grow(&mut self, bytes: usize) {
        self.put_in += bytes;
        self.full |= self.put_in > MOST_BYTES;
    }

    fn put(&mut self, client: &mut Client<'_>, word: &[Piece], fields: &mut Fields) {
        for piece in word {
            if self.full || self.fault.is_some() {
                return;
            }
            let (text, quoted) = match piece {
                Piece::Text(text) => {
                    fields.add(text, false);
                    continue;
                }
                Piece::Quoted(text) => {
                    fields.add(text, true);
                    continue;
                }
                Piece::Variable(parameter, quoted) => {
                    match self.parameter(client, parameter, *quoted, fields) {
                        Some(text) => (text, *quoted),
                        None => continue,
                    }
                }
                Piece::Output(script, quoted) => {
                    let frame = ScriptFrame::new(FrameKind::Shell, script.clone());
                    let done = self.at_once(client, frame, true);
                    client.streams.err.push_str(&done.err);
                    self.substituted = Some(done.code);
                    (done.out.trim_end_matches('\n').to_owned(), *quoted)
                }
                Piece::Sum(word, quoted) => {
                    let text = self.text(client, word);
                    match arithmetic::value(self, client, &text) {
                        Ok(value) => (value.to_string(), *quoted),
                        Err(fault) => {
                            self.fault.get_or_insert(fault);
                            return;
                        }
                    }
                }
            };
            self.grow(text.len());
            if self.full {
                return;
            }
            if quoted {
                fields.add(&text, true)
            } else {
                fields.split(&text)
            }
        }
    }

    /// Returns the value of `${…}`; `None` if it has been added already.
    fn parameter(
        &mut self,
        client: &mut Client<'_>,
        parameter: &Parameter,
        quoted: bool,
        fields: &mut Fields,
    ) -> Option<String> {
        let name = parameter.name.as_str();
        if matches!(name, "@" | "*")
            && parameter.change == Expansion::None
            && fields.splits.is_some()
            && (name == "@" || !quoted)
        {
            let args = self.args().to_vec();
            for (index, arg) in args.iter().skip(1).enumerate() {
                if index > 0 {
                    fields.end();
                }
                self.grow(arg.len());
                if quoted {
                    fields.add(arg, true)
                } else {
                    fields.split(arg)
                }
            }
            return None;
        }
        let value = self.variable(client, name);
        let is_set = |colon: bool| {
            value
                .as_ref()
                .is_some_and(|value| !colon || !value.is_empty())
        };
        let text = || value.clone().unwrap_or_default();
        Some(match &parameter.change {
            Expansion::None => text(),
            Expansion::Length => text().chars().count().to_string(),
            Expansion::Default(colon, _)
            | Expansion::Assign(colon, _)
            | Expansion::Missing(colon, _)
                if is_set(*colon) =>
            {
                text()
            }
            Expansion::Alternative(colon, _) if !is_set(*colon) => String::new(),
            Expansion::Default(_, word) | Expansion::Alternative(_, word) => {
                self.put(client, word, fields);
                return None;
            }
            Expansion::Assign(_, word) => {
                let value = self.text(client, word);
                self.assign(name, value.clone());
                value
            }
            Expansion::Missing(_, word) => {
                let said = self.text(client, word);
                let said = if said.is_empty() {
                    "parameter not set".to_owned()
                } else {
                    said
                };
                self.fault.get_or_insert(format!("{name}: {said}"));
                return None;
            }
            Expansion::Cut {
                end,
                longest,
                pattern,
            } => self.pattern(client, pattern).cut(&text(), *end, *longest),
            Expansion::Replace { all, pattern, with } => {
                let with = self.text(client, with);
                self.pattern(client, pattern).replaced(&text(), &with, *all)
            }
            Expansion::Slice(from, count) => {
                let from = self.number(client, from)?;
                let count = match count {
                    Some(count) => Some(self.number(client, count)?),
                    None => None,
                };
                let chars: Vec<char> = text().chars().collect();
                let length = chars.len() as i64;
                let begin = if from < 0 {
                    length.saturating_add(from)
                } else {
                    from
                };
                let end = match count {
                    Some(count) if count < 0 => length.saturating_add(count),
                    Some(count) => begin.saturating_add(count),
                    None => length,
                };
                let part = begin.clamp(0, length) as usize
                    ..end.clamp(begin.clamp(0, length), length) as usize;
                chars[part].iter().collect()
            }
        })
    }

    fn number(&mut self, client: &mut Client<'_>, word: &[Piece]) -> Option<i64> {
        let text = self.text(client, word);
        match arithmetic::value(self, client, &text) {
            Ok(value) => Some(value),
            Err(fault) => {
                self.fault.get_or_insert(fault);
                None
            }
        }
    }

    /// Returns `$0` and the positional parameters.
    pub(super) fn args(&self) -> &[String] {
        self.frames
            .iter()
            .rev()
            .find_map(|frame| frame.args.as_deref())
            .unwrap_or(&self.args)
    }

    /// Returns the value of a variable, if it is set.
    pub(super) fn variable(&mut self, client: &mut Client<'_>, name: &str) -> Option<String> {
        match name {
            "?" => return Some(self.code.to_string()),
            "#" => return Some(self.args().len().saturating_sub(1).to_string()),
            "@" | "*" => return Some(self.args().get(1..).unwrap_or_default().join(" ")),
            "$" => return Some("7".to_owned()),
            "!" => return None,
            name if name.starts_with(|c: char| c.is_ascii_digit()) => {
                return name
                    .parse::<usize>()
                    .ok()
                    .and_then(|at| self.args().get(at).cloned());
            }
            _ => {}
        }
        if let Some(value) = self.vars.get(name) {
            return Some(value.clone());
        }
        self.room(client)
            .env()
            .into_iter()
            .rev()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value)
    }

    /// Reads a line of the script's input; `None` at its end.
    pub(super) fn read_line(&mut self) -> Option<(String, bool)> {
        let input = self
            .frames
            .iter_mut()
            .rev()
            .find_map(|frame| frame.stdin.as_mut())?;
        Some(input.line()).filter(|(line, whole)| *whole || !line.is_empty())
    }

    /// Returns the unread input of the script.
    pub(super) fn unread(&self) -> String {
        self.frames
            .iter()
            .rev()
            .find_map(|frame| frame.stdin.as_ref())
            .map_or(String::new(), |input| input.rest().to_owned())
    }

    /// Builds the frame for a block in a pipe, or with redirections of its own.
    pub(super) fn block(
        &self,
        script: &Rc<ShellScript>,
        own: bool,
        stdin: Option<&str>,
    ) -> ScriptFrame {
        let kind = if own {
            FrameKind::Shell
        } else {
            FrameKind::Block
        };
        ScriptFrame {
            stdin: stdin.map(Input::new),
            saved: own.then(|| self.vars.clone()),
            ..ScriptFrame::new(kind, script.clone())
        }
    }
}
