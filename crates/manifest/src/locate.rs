//! Position of a field of a document in the text.
//!
//! `serde_yaml` reads values without positions; the events of `saphyr-parser` have them.

use super::split;
use saphyr_parser::{Event, Parser, ScalarStyle};
use std::collections::BTreeSet;

/// Returns line, column (from 1, in characters) and length of the key of a field, such as `spec.template.spec.containers[0].image`; if it
/// does not exist, of the innermost enclosing key that does.
pub fn locate(text: &[u8], document: usize, path: &str) -> Option<(usize, usize, usize)> {
    let chunk = split::chunks(text).nth(document)?;
    let body = std::str::from_utf8(chunk.bytes).ok()?;
    let body = body.strip_prefix('\u{feff}').unwrap_or(body);
    let mut steps = steps(path);
    // The API server names the labels of a template without the enclosing `metadata`.
    if let [.., "template", "labels" | "annotations"] = steps[..] {
        steps.insert(steps.len() - 1, "metadata");
    }
    // Number of steps of the path to the innermost node found so far, and its position.
    let mut found: Option<(usize, Key)> = None;
    walk(body, |containers, key| {
        if key.style.is_some() {
            return false;
        }
        let path = containers.iter().map(|container| &container.step);
        let depth = containers.len();
        let is_next = found.as_ref().map_or(0, |(depth, _)| *depth) < depth;
        if is_next && depth <= steps.len() && path.zip(&steps).all(|(own, step)| own.is(step)) {
            found = Some((depth, key));
        }
        found
            .as_ref()
            .is_some_and(|(depth, _)| *depth == steps.len())
    });
    let (depth, key) = found?;
    let length = steps[depth - 1].chars().count();
    Some((chunk.line + key.line - 1, key.column, length.max(1)))
}

/// Returns line, column (from 1, in characters) and length of a line (from 1) of a text field, without its indentation. Lines of a text that
/// is not written as a literal block are not told apart: that is where the text begins.
pub fn locate_line(
    text: &[u8],
    document: usize,
    path: &str,
    line: usize,
) -> Option<(usize, usize, usize)> {
    let chunk = split::chunks(text).nth(document)?;
    let body = std::str::from_utf8(chunk.bytes).ok()?;
    let body = body.strip_prefix('\u{feff}').unwrap_or(body);
    let steps = steps(path);
    let mut found = None;
    walk(body, |containers, key| {
        let Some(style) = key.style else { return false };
        let mut path = containers.iter().map(|container| &container.step);
        if containers.len() == steps.len()
            && path.by_ref().zip(&steps).all(|(own, step)| own.is(step))
        {
            found = Some((key, style));
        }
        found.is_some()
    });
    let (key, style) = found?;
    // A literal block has the position of its first line that is not empty.
    let at = match style {
        ScalarStyle::Literal => (key.line + line).saturating_sub(1 + key.empty_lines),
        _ => key.line,
    };
    let content = body.lines().nth(at.saturating_sub(1)).unwrap_or("");
    let inner = content.trim();
    let indent = match style {
        ScalarStyle::Literal => content.chars().take_while(|c| c.is_whitespace()).count(),
        _ => key.column - 1,
    };
    let length = match style {
        ScalarStyle::Literal => inner.chars().count(),
        _ => content.chars().count().saturating_sub(indent),
    };
    Some((chunk.line + at.saturating_sub(1), indent + 1, length.max(1)))
}

/// Splits `a.b[0].c` and `a[key]` into a list of keys and indices.
fn steps(path: &str) -> Vec<&str> {
    let mut steps = Vec::new();
    for part in path.split('.') {
        let mut pieces = part.split('[');
        steps.extend(pieces.next().filter(|key| !key.is_empty()));
        steps.extend(pieces.map(|piece| piece.trim_end_matches(']')));
    }
    steps.truncate(100);
    steps
}

/// Returns the first duplicate field of a mapping in a text's first document, with the line of the second occurrence.
pub fn repeated(text: &[u8]) -> Option<(usize, String)> {
    let chunk = split::chunks(text).next()?;
    let mut found = None;
    walk(std::str::from_utf8(chunk.bytes).ok()?, |containers, key| {
        if key.style.is_some() {
            return false;
        }
        if let Some(Container {
            step: Step::Key(name),
            keys,
            ..
        }) = containers.last_mut()
            && !keys.insert(name.clone())
        {
            found = Some((chunk.line + key.line - 1, name.clone()));
        }
        found.is_some()
    });
    found
}

/// Position of a key, of an element of a list, or of a value that is a scalar.
#[derive(Clone, Copy)]
struct Key {
    line: usize,
    /// From 1, in characters.
    column: usize,
    /// Style of a value.
    style: Option<ScalarStyle>,
    /// Number of empty lines at the start of a value.
    empty_lines: usize,
}

/// Step from a container to one of its nodes.
enum Step {
    Key(String),
    Index(usize),
    /// A key that is no scalar.
    Other,
}

impl Step {
    fn is(&self, step: &str) -> bool {
        match self {
            Step::Key(key) => key == step,
            Step::Index(index) => step.parse() == Ok(*index),
            Step::Other => false,
        }
    }
}

/// Open mapping or sequence.
struct Container {
    /// Step to the current node.
    step: Step,
    /// Role of the next node.
    next: Role,
    /// Keys so far, for callers.
    keys: BTreeSet<String>,
}

#[derive(PartialEq)]
enum Role {
    Key,
    Value,
    Element,
}

/// Visits the keys, list elements and scalar values of the first document in order, each with the containers around it, until `visit` returns true.
fn walk(text: &str, mut visit: impl FnMut(&mut Vec<Container>, Key) -> bool) {
    let mut containers: Vec<Container> = Vec::new();
    for (event, span) in Parser::new_from_str(text).map_while(Result::ok) {
        let role = match event {
            Event::Nothing | Event::StreamStart | Event::DocumentStart(_) => continue,
            Event::StreamEnd | Event::DocumentEnd => return,
            Event::MappingEnd | Event::SequenceEnd => {
                containers.pop();
                continue;
            }
            _ => containers.last_mut().map(|container| match container.next {
                Role::Key => {
                    container.next = Role::Value;
                    container.step = match &event {
                        Event::Scalar(key, ..) => Step::Key(key.clone().into_owned()),
                        _ => Step::Other,
                    };
                    Role::Key
                }
                Role::Value => {
                    container.next = Role::Key;
                    Role::Value
                }
                Role::Element => {
                    container.step = match container.step {
                        Step::Index(index) => Step::Index(index + 1),
                        _ => Step::Index(0),
                    };
                    Role::Element
                }
            }),
        };
        let is_value = role == Some(Role::Value);
        let key = Key {
            line: span.start.line(),
            column: span.start.col() + 1,
            style: None,
            empty_lines: 0,
        };
        if role.is_some_and(|role| role != Role::Value) && visit(&mut containers, key) {
            return;
        }
        if let Event::Scalar(value, style, ..) = &event
            && is_value
        {
            let value = Key {
                style: Some(*style),
                empty_lines: value.chars().take_while(|c| *c == '\n').count(),
                ..key
            };
            if visit(&mut containers, value) {
                return;
            }
        }
        let next = match event {
            Event::MappingStart(..) => Role::Key,
            Event::SequenceStart(..) => Role::Element,
            _ => continue,
        };
        containers.push(Container {
            step: Step::Other,
            next,
            keys: BTreeSet::new(),
        });
    }
}
