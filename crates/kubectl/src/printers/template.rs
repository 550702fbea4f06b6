//! Go templates, as far as `kubectl -o go-template` commonly needs them: fields, `range`, `if`, `with`, variables, a few functions.

use k8s_model::json::go;
use serde_json::Value;
use std::collections::BTreeMap;

/// Parsed template.
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    text: String,
    nodes: Vec<Node>,
}

#[derive(Clone, Debug, PartialEq)]
enum Node {
    Text(String),
    Show(Pipe),
    /// Block of `if`, `range` or `with`: condition, body and `else` body.
    Block(&'static str, Pipe, Vec<Node>, Vec<Node>),
}

/// Pipeline, `$name, $other := command | command`.
#[derive(Clone, Debug, PartialEq)]
struct Pipe {
    names: Vec<String>,
    commands: Vec<Vec<Term>>,
}

#[derive(Clone, Debug, PartialEq)]
enum Term {
    Literal(Value),
    /// Variable (empty for the dot) and the fields after it.
    Path(Option<String>, Vec<String>),
    Function(String),
    /// Pipeline in parentheses and the fields after it.
    Group(Pipe, Vec<String>),
}

/// Maximum nesting of blocks.
const DEPTH: usize = 20;
/// Maximum nesting of groups.
const GROUPS: usize = 100;

impl Template {
    /// Parses a template.
    pub fn parse(text: &str) -> Result<Template, String> {
        let failed =
            |error: String| format!("error parsing template {text}, template: output:1: {error}");
        let mut parser = Parser {
            rest: text,
            depth: 0,
        };
        let (nodes, end) = parser.nodes().map_err(failed)?;
        match end.as_str() {
            "" => Ok(Template {
                text: text.to_owned(),
                nodes,
            }),
            end => Err(failed(format!("unexpected {{{{{end}}}}}"))),
        }
    }

    /// Returns the template as written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Renders the template for an object.
    pub fn print(&self, value: &Value) -> Result<String, String> {
        let mut run = Run {
            out: String::new(),
            names: BTreeMap::from([(String::new(), Some(value.clone()))]),
        };
        run.nodes(&self.nodes, Some(value)).map_err(|error| {
            format!(
                "error executing template {:?}: template: output:1: {error}",
                self.text
            )
        })?;
        Ok(run.out)
    }
}

struct Parser<'a> {
    rest: &'a str,
    depth: usize,
}

impl Parser<'_> {
    /// Parses nodes until an `end` or `else`, and returns which it was.
    fn nodes(&mut self) -> Result<(Vec<Node>, String), String> {
        let mut nodes = Vec::new();
        while let Some(open) = self.rest.find("{{") {
            let (before, after) = (&self.rest[..open], &self.rest[open + 2..]);
            let close = closing(after).ok_or("unclosed action")?;
            let (inner, rest) = (&after[..close], &after[close + 2..]);
            let inner_text = inner.strip_prefix("- ").unwrap_or(inner);
            let before = if inner_text.len() < inner.len() {
                before.trim_end()
            } else {
                before
            };
            let trimmed = inner_text.strip_suffix(" -").unwrap_or(inner_text);
            self.rest = if trimmed.len() < inner_text.len() {
                rest.trim_start()
            } else {
                rest
            };
            if !before.is_empty() {
                nodes.push(Node::Text(before.to_owned()));
            }
            let action = trimmed.trim();
            let (word, tail) = keyword(action);
            match word {
                "end" | "else" => return Ok((nodes, action.to_owned())),
                "if" | "range" | "with" => nodes.push(self.block(word, tail)?),
                _ if action.starts_with("/*") => {}
                _ if action.is_empty() => return Err("missing value for command".to_owned()),
                _ => nodes.push(Node::Show(pipe(action, 0)?)),
            }
        }
        if !self.rest.is_empty() {
            nodes.push(Node::Text(std::mem::take(&mut self.rest).to_owned()));
        }
        Ok((nodes, String::new()))
    }

    fn block(&mut self, word: &str, condition: &str) -> Result<Node, String> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err("blocks are nested too deeply".to_owned());
        }
        let kind = ["if", "range", "with"]
            .into_iter()
            .find(|kind| *kind == word)
            .unwrap_or("if");
        if condition.trim().is_empty() {
            return Err(format!("missing value for {word}"));
        }
        let condition = pipe(condition, 0)?;
        let (then, end) = self.nodes()?;
        let mut other = Vec::new();
        let end = match end.strip_prefix("else") {
            Some("") => {
                let (nodes, end) = self.nodes()?;
                other = nodes;
                end
            }
            // `else if` is a block in the else branch, and its end also closes this one.
            Some(next) => {
                let (word, tail) = keyword(next.trim());
                other.push(self.block(word, tail)?);
                "end".to_owned()
            }
            None => end,
        };
        self.depth -= 1;
        if end == "end" {
            Ok(Node::Block(kind, condition, then, other))
        } else {
            Err("unexpected EOF".to_owned())
        }
    }
}

/// Splits an action into its first word and the rest: `range.items` has no space between them.
fn keyword(action: &str) -> (&str, &str) {
    let end = action
        .find(|c: char| !c.is_alphanumeric() && c != '_')
        .unwrap_or(action.len());
    action.split_at(end)
}

/// Returns the position of the closing braces, ignoring those in quotes.
fn closing(text: &str) -> Option<usize> {
    let mut quote = None;
    for (index, c) in text.char_indices() {
        match (quote, c) {
            (None, '}') if text[index..].starts_with("}}") => return Some(index),
            (None, '"' | '`') => quote = Some(c),
            (Some(open), c) if c == open => quote = None,
            _ => {}
        }
    }
    None
}

fn pipe(text: &str, depth: usize) -> Result<Pipe, String> {
    if depth > GROUPS {
        return Err("parentheses are nested too deeply".to_owned());
    }
    let (names, body) = match text.split_once(":=") {
        Some((names, body)) if names.trim_start().starts_with('$') => (
            names
                .split(',')
                .map(|name| name.trim().trim_start_matches('$').to_owned())
                .collect(),
            body,
        ),
        _ => (Vec::new(), text),
    };
    let mut commands = vec![Vec::new()];
    let mut rest = body.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '|' => {
                commands.push(Vec::new());
                rest = rest[1..].trim_start();
                continue;
            }
            '"' | '`' => rest[1..]
                .find(first)
                .map(|end| end + 2)
                .ok_or("unterminated quoted string")?,
            '(' => {
                let end = group_end(rest).ok_or("unclosed left paren")?;
                end + rest[end..]
                    .find([' ', '\t', '\n', '|', ')'])
                    .unwrap_or(rest.len() - end)
            }
            _ => rest
                .find([' ', '\t', '\n', '|', ')'])
                .unwrap_or(rest.len())
                .max(1),
        };
        if let Some(command) = commands.last_mut() {
            command.push(term(&rest[..length], depth)?);
        }
        rest = rest[length..].trim_start();
    }
    if commands.iter().any(Vec::is_empty) {
        return Err("missing value for command".to_owned());
    }
    Ok(Pipe { names, commands })
}

fn group_end(text: &str) -> Option<usize> {
    let mut depth = 0;
    text.char_indices().find_map(|(index, c)| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        (depth == 0).then_some(index + 1)
    })
}

fn term(word: &str, depth: usize) -> Result<Term, String> {
    if let Some(inner) = word
        .strip_prefix('"')
        .and_then(|word| word.strip_suffix('"'))
    {
        return Ok(Term::Literal(
            inner
                .replace("\\n", "\n")
                .replace("\\t", "\t")
                .replace("\\\"", "\"")
                .into(),
        ));
    }
    if let Some(inner) = word
        .strip_prefix('`')
        .and_then(|word| word.strip_suffix('`'))
    {
        return Ok(Term::Literal(inner.into()));
    }
    let fields = |path: &str| {
        path.split('.')
            .filter(|field| !field.is_empty())
            .map(str::to_owned)
            .collect()
    };
    if let Some((inner, path)) = word
        .strip_prefix('(')
        .and_then(|word| word.rsplit_once(')'))
    {
        return Ok(Term::Group(pipe(inner, depth + 1)?, fields(path)));
    }
    if let Some(path) = word.strip_prefix('.') {
        return Ok(Term::Path(None, fields(path)));
    }
    if let Some(path) = word.strip_prefix('$') {
        let (name, path) = path.split_once('.').unwrap_or((path, ""));
        return Ok(Term::Path(Some(name.to_owned()), fields(path)));
    }
    match word {
        "true" | "false" => return Ok(Term::Literal((word == "true").into())),
        "nil" => return Ok(Term::Literal(Value::Null)),
        _ => {}
    }
    if let Ok(number) = word.parse::<i64>() {
        return Ok(Term::Literal(number.into()));
    }
    const FUNCTIONS: &[&str] = &[
        "len",
        "index",
        "print",
        "printf",
        "println",
        "eq",
        "ne",
        "lt",
        "gt",
        "le",
        "ge",
        "not",
        "and",
        "or",
        "base64decode",
        "exists",
    ];
    if FUNCTIONS.contains(&word) {
        Ok(Term::Function(word.to_owned()))
    } else {
        Err(format!("function {word:?} not defined"))
    }
}

struct Run {
    out: String,
    names: BTreeMap<String, Option<Value>>,
}

impl Run {
    fn nodes(&mut self, nodes: &[Node], dot: Option<&Value>) -> Result<(), String> {
        for node in nodes {
            match node {
                Node::Text(text) => self.out.push_str(text),
                Node::Show(pipe) => {
                    let value = self.pipe(pipe, dot)?;
                    match pipe.names.first() {
                        Some(name) => drop(self.names.insert(name.clone(), value)),
                        None => self.out.push_str(
                            &value.map_or_else(|| "<no value>".to_owned(), |value| go(&value)),
                        ),
                    }
                }
                Node::Block(kind, condition, then, other) => {
                    self.block(kind, condition, then, other, dot)?
                }
            }
        }
        Ok(())
    }

    fn block(
        &mut self,
        kind: &str,
        condition: &Pipe,
        then: &[Node],
        other: &[Node],
        dot: Option<&Value>,
    ) -> Result<(), String> {
        let value = self.pipe(condition, dot)?;
        if !truth(value.as_ref()) {
            return self.nodes(other, dot);
        }
        match (kind, &value) {
            ("range", Some(Value::Array(items))) => {
                for (index, item) in items.iter().enumerate() {
                    self.name(&condition.names, index.into(), item);
                    self.nodes(then, Some(item))?;
                }
                Ok(())
            }
            ("range", Some(Value::Object(map))) => {
                for (key, item) in map {
                    self.name(&condition.names, key.as_str().into(), item);
                    self.nodes(then, Some(item))?;
                }
                Ok(())
            }
            ("range", Some(other)) => Err(format!("range can't iterate over {}", go(other))),
            (kind, value) => {
                if let Some(name) = condition.names.first() {
                    self.names.insert(name.clone(), value.clone());
                }
                self.nodes(then, if kind == "with" { value.as_ref() } else { dot })
            }
        }
    }

    fn name(&mut self, names: &[String], key: Value, item: &Value) {
        match names {
            [one] => drop(self.names.insert(one.clone(), Some(item.clone()))),
            [first, second, ..] => {
                self.names.insert(first.clone(), Some(key));
                self.names.insert(second.clone(), Some(item.clone()));
            }
            [] => {}
        }
    }

    fn pipe(&self, pipe: &Pipe, dot: Option<&Value>) -> Result<Option<Value>, String> {
        let mut last = None;
        for (index, command) in pipe.commands.iter().enumerate() {
            let mut arguments = Vec::new();
            for term in &command[1..] {
                arguments.push(self.term(term, dot)?);
            }
            if index > 0 {
                arguments.push(last);
            }
            last = match &command[0] {
                Term::Function(name) => call(name, &arguments)?,
                first => self.term(first, dot)?,
            };
        }
        Ok(last)
    }

    fn term(&self, term: &Term, dot: Option<&Value>) -> Result<Option<Value>, String> {
        Ok(match term {
            Term::Literal(value) => Some(value.clone()),
            Term::Group(pipe, fields) => along(self.pipe(pipe, dot)?.as_ref(), fields),
            Term::Function(name) => call(name, &[])?,
            Term::Path(name, fields) => {
                let from = match name {
                    Some(name) => self
                        .names
                        .get(name)
                        .ok_or_else(|| format!("undefined variable \"${name}\""))?
                        .as_ref(),
                    None => dot,
                };
                along(from, fields)
            }
        })
    }
}

fn along(from: Option<&Value>, fields: &[String]) -> Option<Value> {
    fields
        .iter()
        .try_fold(from?, |value, field| value.get(field.as_str()))
        .cloned()
}

fn truth(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => false,
        Some(Value::Bool(on)) => *on,
        Some(Value::Number(number)) => number.as_f64() != Some(0.0),
        Some(Value::String(text)) => !text.is_empty(),
        Some(Value::Array(items)) => !items.is_empty(),
        Some(Value::Object(map)) => !map.is_empty(),
    }
}

fn call(name: &str, arguments: &[Option<Value>]) -> Result<Option<Value>, String> {
    let text = |value: &Option<Value>| value.as_ref().map_or_else(|| "<no value>".to_owned(), go);
    let all = |arguments: &[Option<Value>], between: &str| {
        arguments.iter().map(text).collect::<Vec<_>>().join(between)
    };
    let wrong = || format!("wrong number of args for {name}");
    let first = arguments.first().and_then(Option::as_ref);
    let number = |at: usize| {
        arguments
            .get(at)
            .and_then(Option::as_ref)
            .and_then(Value::as_f64)
    };
    Ok(Some(match name {
        "len" => match first {
            Some(Value::String(text)) => text.len().into(),
            Some(Value::Array(items)) => items.len().into(),
            Some(Value::Object(map)) => map.len().into(),
            _ => return Err("error calling len: len of type nil".to_owned()),
        },
        "index" => {
            let step = |value: Option<Value>, key: &Option<Value>| match key {
                Some(Value::Number(at)) => value?.get(at.as_u64()? as usize).cloned(),
                key => value?.get(key.as_ref()?.as_str()?).cloned(),
            };
            let (from, keys) = arguments.split_first().ok_or_else(wrong)?;
            return Ok(keys.iter().fold(from.clone(), step));
        }
        "exists" => {
            let keys = arguments.get(1..).unwrap_or_default();
            let found = keys
                .iter()
                .try_fold(first, |value, key| {
                    value?.get(key.as_ref()?.as_str()?).map(Some)
                })
                .flatten();
            found.is_some().into()
        }
        "print" => all(arguments, "").into(),
        "println" => format!("{}\n", all(arguments, " ")).into(),
        "printf" => {
            let format = text(arguments.first().ok_or_else(wrong)?);
            let mut parts = arguments[1..].iter();
            let mut out = String::new();
            let mut chars = format.chars();
            while let Some(c) = chars.next() {
                match (c, chars.clone().next()) {
                    ('%', Some('%')) => out.extend(chars.next()),
                    ('%', Some('s' | 'v' | 'd')) => {
                        chars.next();
                        out.push_str(&parts.next().map_or_else(|| "%!s(MISSING)".to_owned(), text));
                    }
                    _ => out.push(c),
                }
            }
            out.into()
        }
        "eq" => arguments
            .iter()
            .skip(1)
            .any(|other| text(other) == arguments.first().map(text).unwrap_or_default())
            .into(),
        "ne" => (arguments.first().map(text) != arguments.get(1).map(text)).into(),
        "lt" => (number(0) < number(1)).into(),
        "gt" => (number(0) > number(1)).into(),
        "le" => (number(0) <= number(1)).into(),
        "ge" => (number(0) >= number(1)).into(),
        "not" => (!truth(first)).into(),
        "and" => {
            return Ok(arguments
                .iter()
                .find(|value| !truth(value.as_ref()))
                .or(arguments.last())
                .cloned()
                .flatten());
        }
        "or" => {
            return Ok(arguments
                .iter()
                .find(|value| truth(value.as_ref()))
                .or(arguments.last())
                .cloned()
                .flatten());
        }
        _ => k8s_model::base64::decoded(&text(arguments.first().ok_or_else(wrong)?)).into(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn templates_print_as_go_prints_them() {
        let value = json!({"a": {"b": [{"n": "x", "v": 1}, {"n": "yy", "v": 2}]}, "m": {"k": "v"}});
        for (template, text) in [
            ("{{range .a.b}}{{.n}}:{{len .n}} {{end}}", "x:1 yy:2 "),
            ("{{.a.c.d}}", "<no value>"),
            (
                "{{range $i, $e := .a.b}}{{$i}}={{$e.n}}{{\"\\n\"}}{{end}}",
                "0=x\n1=yy\n",
            ),
            ("{{if eq .m.k \"v\"}}yes{{else}}no{{end}}", "yes"),
            ("{{if .m.z}}a{{else if .m.k}}b{{else}}c{{end}}", "b"),
            ("{{ index .m \"k\" | printf \"<%s>\" }}", "<v>"),
            (
                "{{range.a.b}}{{.n}}{{end}}{{if(eq .m.k \"v\")}}!{{end}}",
                "xyy!",
            ),
            ("{{.m}} {{(index .a.b 1).v}}", "map[k:v] 2"),
        ] {
            let parsed = Template::parse(template);
            assert_eq!(
                parsed.and_then(|t| t.print(&value)).as_deref(),
                Ok(text),
                "{template}"
            );
        }
        let nested = |depth: usize| format!("{{{{{}.m{}}}}}", "(".repeat(depth), ")".repeat(depth));
        assert!(
            Template::parse(&nested(100))
                .and_then(|t| t.print(&value))
                .is_ok()
        );
        assert!(
            Template::parse(&nested(20_000))
                .is_err_and(|error| error.ends_with("nested too deeply"))
        );
        assert_eq!(
            Template::parse("{{.spec.replicas").unwrap_err(),
            "error parsing template {{.spec.replicas, template: output:1: unclosed action"
        );
    }
}
