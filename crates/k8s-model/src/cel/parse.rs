//! Parser of expressions.

use serde_json::{Number, Value};

/// Maximum number of operators of one level in a row: `a && b && c` has two.
const LONGEST_CHAIN: usize = 200;
/// Maximum nesting of expressions.
const DEEPEST: usize = 64;
/// Maximum number of characters of an expression (`parser.ExpressionSizeCodePointLimit` of cel-go).
const LONGEST: usize = 100_000;

/// Expression.
#[derive(Clone, Debug)]
pub(super) enum CelExpr {
    Literal(Value),
    /// Name, and its position.
    Name(String, usize),
    /// `a.b`, and the position of the dot.
    Field(Box<CelExpr>, String, usize),
    /// `has(a.b)`, and the position of the dot.
    Has(Box<CelExpr>, String, usize),
    /// `a[b]`
    Index(Box<CelExpr>, Box<CelExpr>),
    Not(Box<CelExpr>),
    Negative(Box<CelExpr>),
    /// Operator, its operands, and its position.
    Binary(&'static str, Box<CelExpr>, Box<CelExpr>, usize),
    Choice(Box<[CelExpr; 3]>),
    List(Vec<CelExpr>),
    Map(Vec<(CelExpr, CelExpr)>),
    /// Function, receiver if it is a method, arguments, and the position of the parenthesis. Optional selection `a.?b` and optional
    /// index `a[?b]` are calls as well, with the names that `cel-go` gives them.
    Call(String, Option<Box<CelExpr>>, Vec<CelExpr>, usize),
    /// `list.all(x, …)`: the macro, the list, the name of an element, and the expressions evaluated for each.
    Each(&'static str, Box<CelExpr>, String, Vec<CelExpr>),
}

impl CelExpr {
    fn parts(&self) -> Vec<&CelExpr> {
        match self {
            CelExpr::Literal(_) | CelExpr::Name(..) => Vec::new(),
            CelExpr::Field(of, ..)
            | CelExpr::Has(of, ..)
            | CelExpr::Not(of)
            | CelExpr::Negative(of) => vec![of],
            CelExpr::Index(a, b) | CelExpr::Binary(_, a, b, _) => vec![a, b],
            CelExpr::Choice(parts) => parts.iter().collect(),
            CelExpr::List(items) => items.iter().collect(),
            CelExpr::Map(pairs) => pairs.iter().flat_map(|(key, value)| [key, value]).collect(),
            CelExpr::Call(_, of, arguments, _) => {
                of.iter().map(|of| &**of).chain(arguments).collect()
            }
            CelExpr::Each(_, list, _, asked) => std::iter::once(&**list).chain(asked).collect(),
        }
    }

    /// Returns true if the expression uses a name.
    pub fn names(&self, name: &str) -> bool {
        matches!(self, CelExpr::Name(here, _) if here == name)
            || self.parts().into_iter().any(|part| part.names(name))
    }
}

/// Error of an expression, at a position in it.
#[derive(Clone, Debug)]
pub(super) struct Issue {
    /// Number of characters before it.
    pub at: usize,
    /// Message of `cel-go`.
    pub message: String,
}

impl Issue {
    /// Formats the issue with its line, as `cel-go/common/error.go` does.
    fn render(&self, text: &str) -> String {
        let before: String = text.chars().take(self.at).collect();
        let line = before.matches('\n').count();
        let column = before.chars().rev().take_while(|c| *c != '\n').count();
        let source = text.split('\n').nth(line).unwrap_or("").replace('\t', " ");
        let (message, dots) = (&self.message, ".".repeat(column));
        format!(
            "ERROR: <input>:{}:{}: {message}\n | {source}\n | {dots}^",
            line + 1,
            column + 1
        )
    }
}

/// Formats the issues of an expression, one after the other.
pub(super) fn render(text: &str, issues: &[Issue]) -> String {
    let issues: Vec<String> = issues.iter().map(|issue| issue.render(text)).collect();
    issues.join("\n")
}

/// Parses an expression.
pub(super) fn read(text: &str) -> Result<CelExpr, Issue> {
    let chars: Vec<char> = text.chars().take(LONGEST + 1).collect();
    if chars.len() > LONGEST {
        let size = text.chars().count();
        return Err(Issue {
            at: 0,
            message: format!(
                "expression code point size exceeds limit: size: {size}, limit {LONGEST}"
            ),
        });
    }
    let mut reader = Reader {
        chars,
        at: 0,
        depth: 0,
    };
    let root = reader.choice()?;
    reader.blanks();
    if reader.at < reader.chars.len() {
        return Err(reader.mismatch("<EOF>"));
    }
    Ok(root)
}

/// Binary operators by precedence, the weakest first.
const LEVELS: [&[&str]; 5] = [
    &["||"],
    &["&&"],
    &["==", "!=", "<=", ">=", "<", ">", "in"],
    &["+", "-"],
    &["*", "/", "%"],
];
/// Function of `a.?b`.
pub(super) const OPTIONAL_SELECT: &str = "_?._";
/// Function of `a[?b]`.
pub(super) const OPTIONAL_INDEX: &str = "_[?_]";

const MACROS: [&str; 5] = ["all", "exists", "exists_one", "map", "filter"];

struct Reader {
    chars: Vec<char>,
    at: usize,
    depth: usize,
}

impl Reader {
    fn issue(&self, message: impl Into<String>) -> Issue {
        Issue {
            at: self.at,
            message: message.into(),
        }
    }

    /// Returns the error of a token that the grammar does not allow here.
    fn mismatch(&self, expected: &str) -> Issue {
        let token = self.token();
        self.issue(format!(
            "Syntax error: mismatched input '{token}' expecting {expected}"
        ))
    }

    fn token(&self) -> String {
        let rest = &self.chars[self.at..];
        match rest.first() {
            None => "<EOF>".to_owned(),
            Some(c) if is_part(*c) => rest.iter().take_while(|c| is_part(**c)).collect(),
            Some(c) => c.to_string(),
        }
    }

    /// Skips blanks and comments.
    fn blanks(&mut self) {
        while let Some(c) = self.chars.get(self.at) {
            if *c == '/' && self.chars.get(self.at + 1) == Some(&'/') {
                let rest = self.chars[self.at..].iter();
                self.at += rest.take_while(|c| **c != '\n').count();
            } else if c.is_whitespace() {
                self.at += 1;
            } else {
                return;
            }
        }
    }

    /// Position of the next token.
    fn next(&mut self) -> usize {
        self.blanks();
        self.at
    }

    fn take(&mut self, sign: &str) -> bool {
        self.blanks();
        let found = sign
            .chars()
            .enumerate()
            .all(|(i, c)| self.chars.get(self.at + i) == Some(&c));
        let end = self.at + sign.chars().count();
        let word = sign.chars().all(char::is_alphabetic)
            && self.chars.get(end).is_some_and(|c| is_part(*c));
        if found && !word {
            self.at = end;
        }
        found && !word
    }

    fn expect(&mut self, sign: &str) -> Result<(), Issue> {
        if self.take(sign) {
            Ok(())
        } else {
            Err(self.mismatch(&format!("'{sign}'")))
        }
    }

    fn choice(&mut self) -> Result<CelExpr, Issue> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.issue("expression recursion limit exceeded"));
        }
        let condition = self.binary(0)?;
        let whole = if self.take("?") {
            let yes = self.choice()?;
            self.expect(":")?;
            CelExpr::Choice(Box::new([condition, yes, self.choice()?]))
        } else {
            condition
        };
        self.depth -= 1;
        Ok(whole)
    }

    fn binary(&mut self, level: usize) -> Result<CelExpr, Issue> {
        let Some(signs) = LEVELS.get(level) else {
            return self.unary();
        };
        let mut left = self.binary(level + 1)?;
        let mut chain = 0;
        loop {
            let at = self.next();
            let Some(sign) = signs.iter().find(|sign| self.take(sign)) else {
                return Ok(left);
            };
            // Each operator deepens the tree for recursive evaluation.
            chain += 1;
            if chain > LONGEST_CHAIN {
                return Err(self.issue("max recursion depth exceeded"));
            }
            let right = self.binary(level + 1)?;
            left = CelExpr::Binary(sign, Box::new(left), Box::new(right), at);
        }
    }

    fn unary(&mut self) -> Result<CelExpr, Issue> {
        let mut signs = Vec::new();
        while let Some(sign) = ["!", "-"].iter().find(|sign| self.take(sign)) {
            signs.push(*sign);
        }
        if signs.len() > DEEPEST {
            return Err(self.issue("max recursion depth exceeded"));
        }
        let mut value = self.member()?;
        for sign in signs {
            value = if sign == "!" {
                CelExpr::Not(Box::new(value))
            } else {
                CelExpr::Negative(Box::new(value))
            };
        }
        Ok(value)
    }

    fn member(&mut self) -> Result<CelExpr, Issue> {
        let mut value = self.primary()?;
        for _ in 0..DEEPEST {
            let at = self.next();
            if self.take(".") {
                let optional = self.take("?");
                let name = self.selector()?;
                let parenthesis = self.next();
                value = if optional {
                    let field = CelExpr::Literal(Value::String(unescaped(&name)));
                    CelExpr::Call(
                        OPTIONAL_SELECT.into(),
                        Some(Box::new(value)),
                        vec![field],
                        at,
                    )
                } else if self.take("(") {
                    self.method(value, name, parenthesis)?
                } else {
                    CelExpr::Field(Box::new(value), unescaped(&name), at)
                };
            } else if self.take("[") {
                let optional = self.take("?");
                let index = self.choice()?;
                self.expect("]")?;
                value = if optional {
                    CelExpr::Call(
                        OPTIONAL_INDEX.into(),
                        Some(Box::new(value)),
                        vec![index],
                        at,
                    )
                } else {
                    CelExpr::Index(Box::new(value), Box::new(index))
                };
            } else {
                return Ok(value);
            }
        }
        Err(self.issue("max recursion depth exceeded"))
    }

    fn method(&mut self, of: CelExpr, name: String, at: usize) -> Result<CelExpr, Issue> {
        let arguments = self.list(")")?;
        let Some(each) = MACROS
            .iter()
            .find(|each| **each == name)
            // Those of two variables are checked as calls (`ext.TwoVarComprehensions`).
            .filter(|each| arguments.len() == 2 || arguments.len() == 3 && **each == "map")
        else {
            return Ok(CelExpr::Call(name, Some(Box::new(of)), arguments, at));
        };
        let mut arguments = arguments.into_iter();
        match arguments.next() {
            Some(CelExpr::Name(element, _))
                if arguments.len() == 1 || *each == "map" && arguments.len() == 2 =>
            {
                Ok(CelExpr::Each(
                    each,
                    Box::new(of),
                    element,
                    arguments.collect(),
                ))
            }
            _ => Err(Issue {
                at,
                message: "argument must be a simple name".to_owned(),
            }),
        }
    }

    fn list(&mut self, end: &str) -> Result<Vec<CelExpr>, Issue> {
        let mut items = Vec::new();
        while !self.take(end) {
            if items.is_empty() && self.next() == self.chars.len() {
                return Err(self.mismatch(&expected_operand(Some(end))));
            }
            // An optional element.
            if end == "]" {
                self.take("?");
            }
            items.push(self.choice()?);
            if !self.take(",") {
                self.expect(end)?;
                break;
            }
        }
        Ok(items)
    }

    /// Reads the name after a dot.
    fn selector(&mut self) -> Result<String, Issue> {
        self.word().ok_or_else(|| match self.token().as_str() {
            "<EOF>" => self.issue("Syntax error: no viable alternative at input '.'"),
            _ => self.mismatch("IDENTIFIER"),
        })
    }

    fn word(&mut self) -> Option<String> {
        self.blanks();
        let rest = self.chars[self.at..].iter();
        let word: String = rest.take_while(|c| is_part(**c)).collect();
        if word.is_empty() || word.starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        self.at += word.len();
        Some(word)
    }

    fn primary(&mut self) -> Result<CelExpr, Issue> {
        if self.take("(") {
            let inner = self.choice()?;
            self.expect(")")?;
            return Ok(inner);
        }
        if self.take("[") {
            return Ok(CelExpr::List(self.list("]")?));
        }
        if self.take("{") {
            let mut pairs = Vec::new();
            while !self.take("}") {
                self.take("?");
                let key = self.choice()?;
                self.expect(":")?;
                pairs.push((key, self.choice()?));
                if !self.take(",") {
                    self.expect("}")?;
                    break;
                }
            }
            return Ok(CelExpr::Map(pairs));
        }
        self.blanks();
        match (
            self.chars.get(self.at).copied(),
            self.chars.get(self.at + 1).copied(),
        ) {
            (Some('"' | '\''), _) => self.text(false),
            (Some('r' | 'R'), Some('"' | '\'')) => {
                self.at += 1;
                self.text(true)
            }
            (Some('b' | 'B'), Some('"' | '\'')) => {
                let at = self.at;
                self.at += 1;
                let text = self.text(false)?;
                Ok(CelExpr::Call("bytes".to_owned(), None, vec![text], at))
            }
            (Some('0'..='9'), _) | (Some('.'), Some('0'..='9')) => self.number(),
            _ => {
                let at = self.at;
                let name = self
                    .word()
                    .ok_or_else(|| self.mismatch(&expected_operand(None)))?;
                let parenthesis = self.next();
                Ok(match name.as_str() {
                    "true" | "false" => CelExpr::Literal(Value::Bool(name == "true")),
                    "null" => CelExpr::Literal(Value::Null),
                    "has" if self.take("(") => {
                        let arguments = self.list(")")?;
                        match <[CelExpr; 1]>::try_from(arguments) {
                            Ok([CelExpr::Field(of, field, dot)]) => CelExpr::Has(of, field, dot),
                            _ => {
                                return Err(Issue {
                                    at: parenthesis,
                                    message: "invalid argument to has() macro".to_owned(),
                                });
                            }
                        }
                    }
                    _ if self.take("(") => CelExpr::Call(name, None, self.list(")")?, parenthesis),
                    _ => CelExpr::Name(name, at),
                })
            }
        }
    }

    fn number(&mut self) -> Result<CelExpr, Issue> {
        let mut text = String::new();
        for c in &self.chars[self.at..] {
            let is_sign =
                matches!(c, '+' | '-') && text.ends_with(['e', 'E']) && !text.starts_with("0x");
            if !(is_sign || c.is_ascii_alphanumeric() || *c == '.') {
                break;
            }
            text.push(*c);
        }
        let plain = text.trim_end_matches(['u', 'U']);
        let value = match plain.strip_prefix("0x") {
            Some(hex) => i64::from_str_radix(hex, 16).ok().map(Number::from),
            None => plain
                .parse::<i64>()
                .ok()
                .map(Number::from)
                .or_else(|| plain.parse().ok().and_then(Number::from_f64)),
        };
        let value = value.ok_or_else(|| self.issue("invalid number literal"))?;
        self.at += text.chars().count();
        Ok(CelExpr::Literal(Value::Number(value)))
    }

    fn text(&mut self, raw: bool) -> Result<CelExpr, Issue> {
        let quote = self.chars[self.at];
        // Within triple quotes a single quote is a character.
        let many = |from: &[char]| from.len() >= 3 && from[..3].iter().all(|c| *c == quote);
        let end = if many(&self.chars[self.at..]) { 3 } else { 1 };
        self.at += end;
        let mut text = String::new();
        loop {
            let c = *self
                .chars
                .get(self.at)
                .ok_or_else(|| self.issue("Syntax error: token recognition error"))?;
            if c == quote && (end == 1 || many(&self.chars[self.at..])) {
                self.at += end;
                return Ok(CelExpr::Literal(Value::String(text)));
            }
            self.at += 1;
            match c {
                '\\' if !raw => {
                    let escaped = *self
                        .chars
                        .get(self.at)
                        .ok_or_else(|| self.issue("Syntax error: token recognition error"))?;
                    self.at += 1;
                    text.push(match escaped {
                        'n' => '\n',
                        't' => '\t',
                        'r' => '\r',
                        other => other,
                    });
                }
                c => text.push(c),
            }
        }
    }
}

/// Tokens that an operand begins with, as the parser of `cel-go` lists them; `end` may follow an open bracket instead.
fn expected_operand(end: Option<&str>) -> String {
    let end = end.map_or(String::new(), |end| format!("'{end}', "));
    format!(
        "{{'[', '{{', '(', {end}'.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}}"
    )
}

/// Words that are no names.
const RESERVED: [&str; 21] = [
    "true",
    "false",
    "null",
    "in",
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

/// Returns true for the name of a variable.
pub fn is_identifier(name: &str) -> bool {
    name.starts_with(|c: char| is_part(c) && !c.is_ascii_digit())
        && name.chars().all(is_part)
        && !RESERVED.contains(&name)
}

fn is_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Unescapes names of fields that could not be written otherwise: `__dash__`, `__namespace__`.
fn unescaped(name: &str) -> String {
    let mut plain = name.to_owned();
    for (escaped, letter) in [
        ("__underscores__", "__"),
        ("__dot__", "."),
        ("__dash__", "-"),
        ("__slash__", "/"),
    ] {
        plain = plain.replace(escaped, letter);
    }
    match plain
        .strip_prefix("__")
        .and_then(|rest| rest.strip_suffix("__"))
    {
        Some(word) if !word.is_empty() => word.to_owned(),
        _ => plain,
    }
}
