//! Completion in the program of a ControlLoop. The kind of a name is known where a call or a loop above says it.

use super::{Completion, element, fields, row, top};
use k8s_model::kind::{self, LOOP_GROUP};
use k8s_model::schema::schema;
use script::api::{self, Signature};
use std::collections::BTreeSet;

/// Maximum number of steps from a name to what it stands for.
const DEEPEST: usize = 8;

/// Program with a line in it.
pub(super) struct Place<'a> {
    document: &'a [&'a str],
    /// Lines of the program up to this one, the newest last.
    above: &'a [&'a str],
    all: &'a [&'a str],
}

/// Value of an expression, as far as it is known.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Shape {
    /// Value of a type of the schema.
    Of(&'static str),
    /// List of values of a type.
    List(&'static str),
    Key,
    Event,
}

/// Splits the path before the cursor into the part up to the last dot, and the word behind it.
fn path(before: &str) -> (Option<String>, &str) {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let start = before
        .char_indices()
        .rev()
        .take_while(|(_, c)| is_word(*c))
        .last()
        .map_or(before.len(), |(at, _)| at);
    let (head, word) = before.split_at(start);
    let Some(head) = head.strip_suffix('.') else {
        return (None, word);
    };
    // Back to where the expression begins: over names, dots and what is in brackets.
    let (mut depth, mut begin) = (0, head.len());
    for (at, c) in head.char_indices().rev() {
        match c {
            ']' => depth += 1,
            '[' if depth > 0 => depth -= 1,
            _ if depth > 0 || is_word(c) || c == '.' => {}
            _ => break,
        }
        begin = at;
    }
    (Some(head[begin..].to_owned()), word)
}

/// Returns true if the text ends within a string or a comment.
fn is_inert(before: &str) -> bool {
    let mut open = None;
    let mut chars = before.chars();
    while let Some(c) = chars.next() {
        match (open, c) {
            (Some(_), '\\') => {
                chars.next();
            }
            (Some(quote), _) if quote == c => open = None,
            (None, '"' | '\'') => open = Some(c),
            (None, '#') => return true,
            _ => {}
        }
    }
    open.is_some()
}

/// Returns the expression that a line gives to a name.
fn assigned<'a>(line: &'a str, name: &str) -> Option<(&'a str, bool)> {
    let text = line.trim_start();
    let rest = text.strip_prefix(name).map(str::trim_start);
    if let Some(value) = rest.and_then(|rest| rest.strip_prefix('='))
        && !value.starts_with('=')
    {
        return Some((value.trim(), false));
    }
    let mut from = 0;
    while let Some(at) = text[from..].find("for ") {
        let after = text[from + at + 4..].trim_start();
        let rest = after.strip_prefix(name).map(str::trim_start);
        if let Some(items) = rest.and_then(|rest| rest.strip_prefix("in ")) {
            return Some((items.trim(), true));
        }
        from += at + 4;
    }
    None
}

impl<'a> Place<'a> {
    /// Returns the place of a line in the program of a ControlLoop.
    pub fn find(document: &'a [&'a str], at: usize) -> Option<Place<'a>> {
        let group = top(document, "apiVersion").split('/').next();
        if top(document, "kind") != "ControlLoop" || group != Some(LOOP_GROUP) {
            return None;
        }
        let indent = |line: &str| line.len() - line.trim_start().len();
        let begins = |line: &&&str| {
            row(line).is_some_and(|row| {
                row.key == "program" && row.value.is_some_and(|value| value.starts_with(['|', '>']))
            })
        };
        let header = document.get(..at)?.iter().rposition(|line| begins(&line))?;
        let column = row(document[header])?.at;
        let inside = |line: &&&str| line.trim().is_empty() || indent(line) > column;
        let body = &document[header + 1..];
        let length = body.iter().take_while(|line| inside(line)).count();
        (at <= header + length).then(|| Place {
            document,
            above: &document[header + 1..=at],
            all: &body[..length],
        })
    }

    /// Returns the completions after a text of the line.
    pub fn offers(&self, before: &str) -> Vec<Completion> {
        if is_inert(before) {
            return Vec::new();
        }
        let (of, word) = path(before);
        let replaces = Some(word.chars().count());
        let mut all = match of {
            Some(of) => self.shape(&of, DEEPEST).map(members).unwrap_or_default(),
            None if word.is_empty() => Vec::new(),
            None => self.names(),
        };
        all.retain(|offer| offer.name.starts_with(word) && offer.name != word);
        all.sort_by(|a, b| a.name.cmp(&b.name));
        all.dedup_by(|a, b| a.name == b.name);
        for offer in &mut all {
            (offer.tail, offer.replaces) = ("", replaces);
        }
        all
    }

    /// Returns the form and the description of the function at a column (from 0).
    pub fn about(&self, line: &str, column: usize) -> Option<(String, String)> {
        let is_word = |c: &char| c.is_alphanumeric() || *c == '_';
        let chars: Vec<char> = line.chars().collect();
        let (before, after) = chars.split_at_checked(column)?;
        let begin = before.iter().rev().take_while(|c| is_word(c)).count();
        let end = after.iter().take_while(|c| is_word(c)).count();
        if column > begin && before[column - begin - 1] == '.' {
            return None;
        }
        let word: String = chars[column - begin..column + end].iter().collect();
        let function = api::cluster_function(&word).or_else(|| api::language_function(&word))?;
        Some((function.form(), function.help.to_owned()))
    }

    /// Returns functions, keywords and the names of the program.
    fn names(&self) -> Vec<Completion> {
        let function = |function: &Signature| Completion {
            name: function.name.to_owned(),
            detail: function.form(),
            help: function.help,
            ..Completion::default()
        };
        let plain = |name: &str| Completion {
            name: name.to_owned(),
            ..Completion::default()
        };
        let functions = api::CLUSTER.iter().chain(api::LANGUAGE);
        let mut all: Vec<Completion> = functions.map(function).collect();
        all.extend(api::KEYWORDS.iter().map(|word| plain(word)));
        all.extend(self.own_names().into_iter().map(plain));
        all
    }

    /// Returns the names that the program gives to values, parameters and functions.
    fn own_names(&self) -> BTreeSet<&'a str> {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let mut names = BTreeSet::new();
        for line in self.all {
            let text = line.trim();
            if let Some(rest) = text.strip_prefix("def ") {
                let words = rest.split(|c| !is_word(c));
                names.extend(words);
            }
            if let Some((name, rest)) = text.split_once('=')
                && !rest.starts_with('=')
                && name.trim().chars().all(is_word)
            {
                names.insert(name.trim());
            }
            let targets = text.split("for ").skip(1);
            names.extend(targets.filter_map(|rest| rest.split_once(" in ").map(|(name, _)| name)));
        }
        names.retain(|name| !name.is_empty() && name.chars().all(is_word));
        names.retain(|name| !name.starts_with(|c: char| c.is_ascii_digit()));
        names
    }

    /// Returns what an expression stands for.
    fn shape(&self, expression: &str, deep: usize) -> Option<Shape> {
        let deep = deep.checked_sub(1)?;
        let mut steps = expression.split('.');
        let mut shape = self.first(steps.next()?, deep)?;
        for step in steps {
            let (name, index) = match step.split_once('[') {
                Some((name, _)) => (name, true),
                None => (step, false),
            };
            let of = match (shape, name) {
                (Shape::Event, "object" | "before") => Shape::Of(self.reconciled()?),
                (Shape::Of(of), name) => field(of, name)?,
                _ => return None,
            };
            shape = match (of, index) {
                (Shape::List(of), true) => Shape::Of(of),
                (of, false) => of,
                _ => return None,
            };
        }
        Some(shape)
    }

    /// Returns what the first name of a path stands for, with its index.
    fn first(&self, step: &str, deep: usize) -> Option<Shape> {
        let (name, index) = match step.split_once('[') {
            Some((name, index)) => (name, Some(index)),
            None => (step, None),
        };
        let found = self.above.iter().rev().find_map(|line| {
            let text = line.trim_start();
            let argument = |entry: &str| {
                let rest = text.strip_prefix(entry)?;
                rest.strip_prefix(name)?
                    .trim_start()
                    .starts_with(')')
                    .then_some(())
            };
            if argument("def reconcile(").is_some() {
                return Some(Some(Shape::Key));
            }
            if argument("def on_event(").is_some() {
                return Some(Some(Shape::Event));
            }
            let (value, is_item) = assigned(line, name)?;
            let shape = self.value(value, deep);
            Some(match (shape, is_item) {
                (Some(Shape::List(of)), true) => Some(Shape::Of(of)),
                (shape, false) => shape,
                _ => None,
            })
        })??;
        match (found, index) {
            (Shape::List(of), Some(index)) if !index.contains(':') => Some(Shape::Of(of)),
            (found, None) => Some(found),
            (Shape::List(of), Some(_)) => Some(Shape::List(of)),
            _ => None,
        }
    }

    /// Returns what the value at the start of a text stands for.
    fn value(&self, text: &str, deep: usize) -> Option<Shape> {
        let deep = deep.checked_sub(1)?;
        let end = text.find(|c: char| !c.is_alphanumeric() && c != '_');
        let (word, rest) = text.split_at(end.unwrap_or(text.len()));
        if let Some(arguments) = rest.strip_prefix('(') {
            let of = || self.kind(arguments);
            return match word {
                "get" => of().map(Shape::Of),
                "list" => of().map(Shape::List),
                "check" | "create" | "update" | "patch" | "apply" | "sorted" | "reversed"
                | "update_status" => self.value(arguments, deep),
                _ => None,
            };
        }
        // A list of what is kept of another one.
        if let Some(inner) = text.strip_prefix('[')
            && let Some((name, rest)) = inner.split_once(" for ")
            && rest.starts_with(name.trim())
        {
            let items = assigned(text, name.trim())?.0;
            return self.value(items, deep);
        }
        let end = text.find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '.' | '[' | ']'));
        let path = &text[..end.unwrap_or(text.len())];
        self.shape(path.trim_end_matches(']'), deep)
    }

    /// Returns the type of a kind by the text of its name.
    fn kind(&self, arguments: &str) -> Option<&'static str> {
        let quote = arguments
            .chars()
            .next()
            .filter(|c| matches!(c, '"' | '\''))?;
        let name = arguments[1..].split(quote).next()?;
        named(name)
    }

    /// Returns the type of the kind that the loop reconciles.
    fn reconciled(&self) -> Option<&'static str> {
        let at = self
            .document
            .iter()
            .position(|line| row(line).is_some_and(|row| row.key == "for" && row.at > 0))?;
        let text = self.document[at..].iter().take(3);
        let found = text.filter_map(|line| line.split_once("kind:")).next()?.1;
        let is_word = |c: char| c.is_alphanumeric();
        named(found.trim().split(|c| !is_word(c)).next()?)
    }
}

fn named(kind: &str) -> Option<&'static str> {
    let found = kind::all().find(|known| known.name() == kind)?;
    schema().kind(&found.api_version(), kind)
}

/// Returns the value of a field of a type.
fn field(of: &'static str, name: &str) -> Option<Shape> {
    let found = schema().field(of, name)?;
    let kind = found.kind.trim_start_matches('*');
    Some(match k8s_model::schema::list_element(kind) {
        Some(_) => Shape::List(element(kind)),
        None => Shape::Of(kind),
    })
}

/// Returns the fields of a value.
fn members(shape: Shape) -> Vec<Completion> {
    let plain = |names: &[&str]| {
        let names = names.iter().map(|name| Completion {
            name: (*name).to_owned(),
            ..Completion::default()
        });
        names.collect()
    };
    match shape {
        Shape::Key => plain(&["namespace", "name"]),
        Shape::Event => plain(&["type", "object", "before", "initial"]),
        Shape::List(_) => Vec::new(),
        Shape::Of(of) => {
            let mut all = Vec::new();
            fields(of, &mut all);
            all
        }
    }
}
