//! Label selectors as text: parser, with the API server's error messages.
//!
//! Models `apimachinery/pkg/labels/selector.go`.

use super::validation::{ErrorType, FieldError, is_label_value, is_qualified_name};
use k8s_model::selector::{LabelSelector, Requirement};
use std::rc::Rc;

const OPERATORS: &str = "in, notin, =, ==, !=, gt, lt";

/// Builds a requirement, checking that key and values have the form of labels.
fn requirement(
    key: &str,
    operator: &'static str,
    mut values: Vec<String>,
) -> Result<Requirement, String> {
    let invalid = |field: String, value: &str, detail: String| {
        FieldError {
            field,
            fault: ErrorType::Invalid,
            value: format!("{value:?}"),
            detail,
        }
        .to_string()
    };
    let mut errors = Vec::new();
    for (index, value) in values.iter().enumerate() {
        if matches!(operator, "Gt" | "Lt") && value.parse::<i64>().is_err() {
            let detail = "for 'Gt', 'Lt' operators, the value must be an integer".to_owned();
            errors.push(invalid(format!("values[{index}]"), value, detail));
        }
    }
    values.sort();
    values.dedup();
    for (index, value) in values.iter().enumerate() {
        errors.extend(
            is_label_value(value)
                .map(|detail| invalid(format!("values[{index}][{key}]"), value, detail)),
        );
    }
    match &errors[..] {
        [] => Ok(Requirement {
            key: key.into(),
            operator: operator.into(),
            values: values.into_iter().map(Into::into).collect(),
        }),
        [one] => Err(one.clone()),
        several => Err(format!("[{}]", several.join(", "))),
    }
}

/// Parses a label selector into the form of objects.
///
/// # Errors
/// The API server's message.
pub fn read(text: &str) -> Result<LabelSelector, String> {
    let mut selector = LabelSelector::default();
    for requirement in parse(text)? {
        match (requirement.operator.as_str(), &requirement.values[..]) {
            ("In", [value]) => {
                let labels = Rc::make_mut(&mut selector.match_labels);
                labels.insert(requirement.key, value.clone());
            }
            _ => selector.match_expressions.push(requirement),
        }
    }
    Ok(selector)
}

/// Formats an object's selector as text, ordered by key.
pub fn show(selector: &LabelSelector) -> String {
    let labels = selector
        .match_labels
        .iter()
        .map(|(key, value)| (key.clone(), format!("{key}={value}")));
    let expressions = selector.match_expressions.iter().map(|expression| {
        let one = LabelSelector {
            match_expressions: vec![expression.clone()],
            ..LabelSelector::default()
        };
        (expression.key.clone(), one.to_string())
    });
    let mut all: Vec<_> = labels.chain(expressions).collect();
    all.sort_by_key(|(key, _)| key.clone());
    all.into_iter()
        .map(|(_, text)| text)
        .collect::<Vec<_>>()
        .join(",")
}

/// Splits a selector into symbols and words; invalid symbols are errors of the parser.
fn tokens(text: &str) -> Vec<&str> {
    let is_symbol = |c: char| matches!(c, '=' | '!' | '(' | ')' | ',' | '>' | '<');
    let is_space = |c: char| matches!(c, ' ' | '\t' | '\r' | '\n');
    let mut tokens = Vec::new();
    let mut rest = text.trim_start_matches(is_space);
    while let Some(first) = rest.chars().next() {
        let length = match first {
            _ if rest.starts_with("==") || rest.starts_with("!=") => 2,
            first if is_symbol(first) => first.len_utf8(),
            _ => rest
                .find(|c| is_symbol(c) || is_space(c))
                .unwrap_or(rest.len()),
        };
        let (token, after) = rest.split_at(length);
        tokens.push(token);
        rest = after.trim_start_matches(is_space);
    }
    tokens
}

/// Parses a label selector.
///
/// # Errors
/// The API server's message.
pub fn parse(text: &str) -> Result<Vec<Requirement>, String> {
    let mut parser = Parser {
        tokens: tokens(text),
        position: 0,
    };
    let mut requirements = Vec::new();
    loop {
        match parser.peek() {
            "" => return Ok(requirements),
            token if token == "!" || is_identifier(token) => {
                requirements.push(
                    parser
                        .requirement()
                        .map_err(|problem| format!("unable to parse requirement: {problem}"))?,
                );
            }
            token => {
                return Err(format!(
                    "found '{token}', expected: !, identifier, or 'end of string'"
                ));
            }
        }
        match parser.next() {
            "" => return Ok(requirements),
            "," => {
                let next = parser.peek();
                if next != "!" && !is_identifier(next) {
                    return Err(format!("found '{next}', expected: identifier after ','"));
                }
            }
            token => return Err(format!("found '{token}', expected: ',' or 'end of string'")),
        }
    }
}

fn is_identifier(token: &str) -> bool {
    !matches!(
        token,
        "" | "=" | "==" | "!=" | "!" | "(" | ")" | "," | ">" | "<"
    )
}

struct Parser<'a> {
    tokens: Vec<&'a str>,
    position: usize,
}

impl<'a> Parser<'a> {
    /// Returns the next token, empty at the end.
    fn peek(&self) -> &'a str {
        self.tokens.get(self.position).copied().unwrap_or("")
    }

    fn next(&mut self) -> &'a str {
        let token = self.peek();
        self.position += 1;
        token
    }

    fn requirement(&mut self) -> Result<Requirement, String> {
        let negated = self.peek() == "!";
        self.position += usize::from(negated);
        let key = self.next();
        if !is_identifier(key) {
            return Err(format!("found '{key}', expected: identifier"));
        }
        let faults = is_qualified_name(key);
        if !faults.is_empty() {
            let detail = faults.join("; ");
            return Err(FieldError {
                field: "<nil>".to_owned(),
                fault: ErrorType::Invalid,
                value: format!("{key:?}"),
                detail,
            }
            .to_string());
        }
        if negated {
            return requirement(key, "DoesNotExist", Vec::new());
        }
        if matches!(self.peek(), "" | ",") {
            return requirement(key, "Exists", Vec::new());
        }
        let operator = match self.next() {
            "in" => "In",
            "=" | "==" => "In",
            "notin" | "!=" => "NotIn",
            ">" => "Gt",
            "<" => "Lt",
            token => return Err(format!("found '{token}', expected: {OPERATORS}")),
        };
        let is_set = matches!(self.tokens[self.position - 1], "in" | "notin");
        let values = if is_set {
            self.values()?
        } else {
            vec![self.value()?]
        };
        requirement(key, operator, values)
    }

    /// Parses the value after `=`; a missing value is empty.
    fn value(&mut self) -> Result<String, String> {
        match self.peek() {
            "" | "," => Ok(String::new()),
            token if is_identifier(token) => Ok(self.next().to_owned()),
            token => Err(format!("found '{token}', expected: identifier")),
        }
    }

    /// Parses the values between parentheses; a missing value is empty.
    fn values(&mut self) -> Result<Vec<String>, String> {
        match self.next() {
            "(" => {}
            token => return Err(format!("found '{token}' expected: '('")),
        }
        let mut values = Vec::new();
        match self.peek() {
            ")" | "," => {}
            token if is_identifier(token) => {}
            token => return Err(format!("found '{token}', expected: ',', ')' or identifier")),
        }
        loop {
            let token = self.peek();
            if is_identifier(token) {
                self.position += 1;
                values.push(token.to_owned());
            } else if matches!(token, ")" | ",") {
                values.push(String::new());
            } else {
                return Err(format!("found '{token}', expected: ',', or identifier"));
            }
            match self.next() {
                ")" => return Ok(values),
                "," => {}
                token => return Err(format!("found '{token}', expected: ',' or ')'")),
            }
        }
    }
}
