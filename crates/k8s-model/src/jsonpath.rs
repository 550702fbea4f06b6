//! JSONPath in the dialect of `kubectl -o jsonpath`: fields, indices, slices, filters, `range`, text.

use serde_json::Value;
use std::fmt::Write;

/// Error of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JsonPathError {
    /// The template does not parse.
    Parse(String),
    /// The object lacks a requested part.
    Execute(String),
}

impl From<&str> for JsonPathError {
    fn from(text: &str) -> JsonPathError {
        JsonPathError::Parse(text.to_owned())
    }
}

impl JsonPathError {
    /// Formats the error as kubectl does.
    pub fn told(&self, template: &str, object: &Value) -> String {
        match self {
            JsonPathError::Parse(fault) => format!("error parsing jsonpath {template}, {fault}"),
            JsonPathError::Execute(fault) => format!(
                "error executing jsonpath {template:?}: Error executing template: {fault}. Printing more information for debugging the \
                 template:\n\ttemplate was:\n\t\t{template}\n\tobject given to jsonpath engine was:\n\t\t{}\n\n",
                go_syntax(object)
            ),
        }
    }
}

/// Formats a value in Go's own syntax, `%#v`.
fn go_syntax(value: &Value) -> String {
    match value {
        Value::Null => "interface {}(nil)".to_owned(),
        Value::String(text) => format!("{text:?}"),
        Value::Array(items) => format!(
            "[]interface {{}}{{{}}}",
            items.iter().map(go_syntax).collect::<Vec<_>>().join(", ")
        ),
        Value::Object(map) => {
            let mut text = String::from("map[string]interface {}{");
            for (index, (key, value)) in map.iter().enumerate() {
                // Writing to a String cannot fail.
                let _ = write!(
                    text,
                    "{}{key:?}:{}",
                    if index > 0 { ", " } else { "" },
                    go_syntax(value)
                );
            }
            text + "}"
        }
        other => other.to_string(),
    }
}

/// Evaluates a template such as `{.items[*].metadata.name}` or `{range .items[*]}{.a}{"\n"}{end}`.
pub fn print(template: &str, value: &Value) -> Result<String, JsonPathError> {
    let pieces = pieces(template)?;
    let mut out = String::new();
    run(&pieces, value, value, &mut out, 0)?;
    Ok(out)
}

/// Returns the values at one path such as `.spec.replicas` or `{.spec.replicas}`.
pub fn values<'a>(path: &str, value: &'a Value) -> Result<Vec<&'a Value>, JsonPathError> {
    let path = path.trim().trim_start_matches('{').trim_end_matches('}');
    let path = if path.starts_with(['.', '[', '$', '@']) {
        path.to_owned()
    } else {
        format!(".{path}")
    };
    find(&path, value, value)
}

enum Piece {
    Text(String),
    Expression(String),
}

fn pieces(template: &str) -> Result<Vec<Piece>, JsonPathError> {
    let mut pieces = Vec::new();
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        if open > 0 {
            pieces.push(Piece::Text(rest[..open].to_owned()));
        }
        let close = closing(&rest[open + 1..]).ok_or("unclosed action")?;
        pieces.push(Piece::Expression(
            rest[open + 1..open + 1 + close].trim().to_owned(),
        ));
        rest = &rest[open + close + 2..];
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest.to_owned()));
    }
    Ok(pieces)
}

/// Returns the position of the closing brace, ignoring those in quotes.
fn closing(text: &str) -> Option<usize> {
    let mut quote = None;
    for (index, c) in text.char_indices() {
        match (quote, c) {
            (None, '}') => return Some(index),
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), c) if c == open => quote = None,
            _ => {}
        }
    }
    None
}

const DEPTH: usize = 20;

fn run(
    pieces: &[Piece],
    root: &Value,
    value: &Value,
    out: &mut String,
    depth: usize,
) -> Result<(), JsonPathError> {
    if depth > DEPTH {
        return Err("ranges are nested too deeply".into());
    }
    let mut index = 0;
    while index < pieces.len() {
        match &pieces[index] {
            Piece::Text(text) => out.push_str(text),
            Piece::Expression(text) if text == "end" => {
                return Err("not in range, nothing to end".into());
            }
            Piece::Expression(text) => match text.strip_prefix("range ") {
                Some(path) => {
                    let end = end_of(&pieces[index + 1..]).ok_or("unexpected end of range")?;
                    let body = &pieces[index + 1..index + 1 + end];
                    for item in find(path.trim(), root, value)? {
                        run(body, root, item, out, depth + 1)?;
                    }
                    index += end + 1;
                }
                None => out.push_str(&expression(text, root, value)?),
            },
        }
        index += 1;
    }
    Ok(())
}

fn end_of(pieces: &[Piece]) -> Option<usize> {
    let mut open = 0;
    for (index, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Expression(text) if text.starts_with("range ") => open += 1,
            Piece::Expression(text) if text == "end" && open == 0 => return Some(index),
            Piece::Expression(text) if text == "end" => open -= 1,
            _ => {}
        }
    }
    None
}

fn expression(text: &str, root: &Value, value: &Value) -> Result<String, JsonPathError> {
    if let Some(quoted) = text.strip_prefix('"').and_then(|t| t.strip_suffix('"')) {
        return Ok(quoted
            .replace("\\n", "\n")
            .replace("\\t", "\t")
            .replace("\\\"", "\""));
    }
    if let Some(quoted) = text.strip_prefix('\'').and_then(|t| t.strip_suffix('\'')) {
        return Ok(quoted.to_owned());
    }
    let found = find(text, root, value)?;
    Ok(found.into_iter().map(show).collect::<Vec<_>>().join(" "))
}

/// Formats a value: strings bare, other values as JSON.
pub fn show(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn find<'a>(
    path: &str,
    root: &'a Value,
    value: &'a Value,
) -> Result<Vec<&'a Value>, JsonPathError> {
    let mut current = vec![if path.starts_with('$') { root } else { value }];
    let mut rest = path.strip_prefix(['$', '@']).unwrap_or(path);
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix("..") {
            let (name, tail) = name(after);
            let mut found = Vec::new();
            current
                .iter()
                .for_each(|v| descend(v, &name, &mut found, 0));
            (current, rest) = (found, tail);
        } else if let Some(after) = rest.strip_prefix('.') {
            let (name, tail) = name(after);
            current = match name.as_str() {
                "" => current,
                "*" => current.into_iter().flat_map(children).collect(),
                name => current.into_iter().filter_map(|v| v.get(name)).collect(),
            };
            rest = tail;
        } else if let Some(after) = rest.strip_prefix('[') {
            let close = bracket(after).ok_or("unterminated array")?;
            current = select(&after[..close], root, current)?;
            rest = &after[close + 1..];
        } else {
            return Err(JsonPathError::Parse(format!(
                "unrecognized character in action: {:?}",
                rest.chars().next().unwrap_or(' ')
            )));
        }
    }
    Ok(current)
}

fn name(text: &str) -> (String, &str) {
    let mut name = String::new();
    let mut escaped = false;
    for (index, c) in text.char_indices() {
        match c {
            '\\' if !escaped => escaped = true,
            '.' | '[' if !escaped => return (name, &text[index..]),
            _ => {
                name.push(c);
                escaped = false;
            }
        }
    }
    (name, "")
}

fn bracket(text: &str) -> Option<usize> {
    let mut quote = None;
    let mut open = 0;
    for (index, c) in text.char_indices() {
        match (quote, c) {
            (None, ']') if open == 0 => return Some(index),
            (None, ']') => open -= 1,
            (None, '[') => open += 1,
            (None, '"' | '\'') => quote = Some(c),
            (Some(start), c) if c == start => quote = None,
            _ => {}
        }
    }
    None
}

fn children(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(items) => items.iter().collect(),
        Value::Object(map) => map.values().collect(),
        _ => Vec::new(),
    }
}

fn descend<'a>(value: &'a Value, name: &str, found: &mut Vec<&'a Value>, depth: usize) {
    if depth > 100 {
        return;
    }
    found.extend(value.get(name));
    children(value)
        .into_iter()
        .for_each(|child| descend(child, name, found, depth + 1));
}

fn select<'a>(
    inside: &str,
    root: &'a Value,
    current: Vec<&'a Value>,
) -> Result<Vec<&'a Value>, JsonPathError> {
    if inside == "*" {
        return Ok(current.into_iter().flat_map(children).collect());
    }
    if let Some(filter) = inside.strip_prefix("?(").and_then(|f| f.strip_suffix(')')) {
        let all = current.into_iter().flat_map(children);
        return all
            .filter_map(|item| {
                matches(filter, root, item)
                    .map(|good| good.then_some(item))
                    .transpose()
            })
            .collect();
    }
    let parts = union(inside);
    let mut found = Vec::new();
    for value in current {
        for part in &parts {
            one(part.trim(), value, &mut found)?;
        }
    }
    Ok(found)
}

/// Splits a union, `'a','b'` or `0,2`, at commas outside of quotes.
fn union(inside: &str) -> Vec<&str> {
    let mut quoted = false;
    inside
        .split(|c: char| {
            quoted ^= c == '\'';
            c == ',' && !quoted
        })
        .collect()
}

/// Selects by a name in quotes, an index or a slice.
fn one<'a>(part: &str, value: &'a Value, found: &mut Vec<&'a Value>) -> Result<(), JsonPathError> {
    if let Some(name) = part
        .strip_prefix('\'')
        .and_then(|part| part.strip_suffix('\''))
    {
        found.extend(value.get(name.replace('\\', "")));
        return Ok(());
    }
    let invalid = || JsonPathError::Parse(format!("invalid array index {part}"));
    let number = |text: &str| {
        if text.is_empty() {
            Ok(None)
        } else {
            text.trim().parse::<i64>().map(Some).map_err(|_| invalid())
        }
    };
    let bounds = part.split(':').map(number).collect::<Result<Vec<_>, _>>()?;
    let Some(items) = value.as_array() else {
        return Ok(());
    };
    let length = items.len() as i64;
    let place = |n: i64| if n < 0 { n + length } else { n };
    match bounds[..] {
        [Some(index)] => {
            let item = usize::try_from(place(index))
                .ok()
                .and_then(|at| items.get(at));
            let outside = || {
                JsonPathError::Execute(format!(
                    "array index out of bounds: index {index}, length {length}"
                ))
            };
            found.push(item.ok_or_else(outside)?);
        }
        [from, to] | [from, to, _] => {
            let (from, to) = (
                place(from.unwrap_or(0)).clamp(0, length),
                place(to.unwrap_or(length)).clamp(0, length),
            );
            let step = bounds.get(2).copied().flatten().unwrap_or(1).max(1);
            found.extend(
                items
                    .iter()
                    .skip(from as usize)
                    .take((to - from).max(0) as usize)
                    .step_by(step as usize),
            );
        }
        _ => return Err(invalid()),
    }
    Ok(())
}

const OPERATORS: [&str; 6] = ["==", "!=", ">=", "<=", ">", "<"];

fn matches(filter: &str, root: &Value, item: &Value) -> Result<bool, JsonPathError> {
    let Some((at, operator)) = OPERATORS
        .iter()
        .find_map(|op| filter.find(op).map(|at| (at, *op)))
    else {
        return Ok(!find(filter.trim(), root, item)?.is_empty());
    };
    let (left, right) = (filter[..at].trim(), filter[at + operator.len()..].trim());
    let text = |side: &str| -> Result<Option<String>, JsonPathError> {
        if let Some(quoted) = side.strip_prefix(['\'', '"']) {
            return Ok(Some(quoted.trim_end_matches(['\'', '"']).to_owned()));
        }
        if side.starts_with(['@', '$']) {
            return Ok(find(side, root, item)?.first().map(|v| show(v)));
        }
        Ok(Some(side.to_owned()))
    };
    let (Some(left), Some(right)) = (text(left)?, text(right)?) else {
        return Ok(operator == "!=");
    };
    let order = match (left.parse::<f64>(), right.parse::<f64>()) {
        (Ok(a), Ok(b)) => a.partial_cmp(&b),
        _ => Some(left.cmp(&right)),
    };
    Ok(order.is_some_and(|order| match operator {
        "==" => order.is_eq(),
        "!=" => order.is_ne(),
        ">=" => order.is_ge(),
        "<=" => order.is_le(),
        ">" => order.is_gt(),
        _ => order.is_lt(),
    }))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn jsonpath_selects() {
        let value = json!({"items": [{"metadata": {"name": "a", "labels": {"x.y": "1"}}, "n": 1}, {"metadata": {"name": "b"}, "n": 2}]});
        for (template, text) in [
            ("{.items[*].metadata.name}", "a b"),
            ("{.items[0].metadata.name}", "a"),
            ("{.items[-1:].metadata.name}", "b"),
            (
                "{range .items[*]}{.metadata.name}={.n}{\"\\n\"}{end}",
                "a=1\nb=2\n",
            ),
            ("{.items[?(@.n==2)].metadata.name}", "b"),
            ("{.items[?(@.metadata.name==\"a\")].n}", "1"),
            ("{.items[0].metadata.labels.x\\.y}", "1"),
            ("{..name}", "a b"),
            ("x{.items[0].n}y", "x1y"),
            ("{.items[0].metadata.labels}", "{\"x.y\":\"1\"}"),
            ("{.nothing}", ""),
        ] {
            assert_eq!(
                super::print(template, &value).as_deref(),
                Ok(text),
                "{template}"
            );
        }
        for bad in ["{.a", "{range .items[*]}", "{end}", "{.a[}"] {
            assert!(super::print(bad, &value).is_err(), "{bad}");
        }
    }
}
