//! Parser of expressions.

use super::functions;
use serde_json::{Number, Value};

/// Maximum number of operators of one level in a row: `a && b && c` has two.
const LONGEST_CHAIN: usize = 200;
/// Maximum nesting of expressions.
const DEEPEST: usize = 64;
/// Maximum number of characters of an expression.
const LONGEST: usize = 20_000;

/// Expression.
#[derive(Clone, Debug)]
pub(super) enum CelExpr {
    Literal(Value),
    Name(String),
    /// `a.b`
    Field(Box<CelExpr>, String),
    /// `has(a.b)`
    Has(Box<CelExpr>, String),
    /// `a[b]`
    Index(Box<CelExpr>, Box<CelExpr>),
    Not(Box<CelExpr>),
    Negative(Box<CelExpr>),
    Binary(&'static str, Box<CelExpr>, Box<CelExpr>),
    Choice(Box<[CelExpr; 3]>),
    List(Vec<CelExpr>),
    Map(Vec<(CelExpr, CelExpr)>),
    /// Function, receiver if it is a method, and arguments.
    Call(String, Option<Box<CelExpr>>, Vec<CelExpr>),
    /// `list.all(x, …)`: the macro, the list, the name of an element, and the expressions evaluated for each.
    Each(&'static str, Box<CelExpr>, String, Vec<CelExpr>),
}

impl CelExpr {
    fn parts(&self) -> Vec<&CelExpr> {
        match self {
            CelExpr::Literal(_) | CelExpr::Name(_) => Vec::new(),
            CelExpr::Field(of, _)
            | CelExpr::Has(of, _)
            | CelExpr::Not(of)
            | CelExpr::Negative(of) => vec![of],
            CelExpr::Index(a, b) | CelExpr::Binary(_, a, b) => vec![a, b],
            CelExpr::Choice(parts) => parts.iter().collect(),
            CelExpr::List(items) => items.iter().collect(),
            CelExpr::Map(pairs) => pairs.iter().flat_map(|(key, value)| [key, value]).collect(),
            CelExpr::Call(_, of, arguments) => of.iter().map(|of| &**of).chain(arguments).collect(),
            CelExpr::Each(_, list, _, asked) => std::iter::once(&**list).chain(asked).collect(),
        }
    }

    /// Returns true if the expression uses a name.
    pub fn names(&self, name: &str) -> bool {
        matches!(self, CelExpr::Name(here) if here == name)
            || self.parts().into_iter().any(|part| part.names(name))
    }

    /// Checks that all names and functions are known.
    fn check(&self, known: &mut Vec<String>) -> Result<(), String> {
        match self {
            CelExpr::Name(name) if !known.contains(name) => Err(undeclared(name)),
            CelExpr::Call(name, of, arguments) => {
                self.parts()
                    .into_iter()
                    .try_for_each(|part| part.check(known))?;
                if functions::is_known(name, of.is_some(), arguments.len()) {
                    Ok(())
                } else {
                    Err(undeclared(name))
                }
            }
            CelExpr::Each(_, list, element, asked) => {
                list.check(known)?;
                known.push(element.clone());
                asked.iter().try_for_each(|asked| asked.check(known))?;
                known.pop();
                Ok(())
            }
            _ => self
                .parts()
                .into_iter()
                .try_for_each(|part| part.check(known)),
        }
    }
}

fn undeclared(name: &str) -> String {
    format!("ERROR: <input>:1:1: undeclared reference to '{name}' (in container '')")
}

/// Parses an expression.
pub(super) fn read(text: &str) -> Result<CelExpr, String> {
    let mut reader = Reader {
        chars: text.chars().take(LONGEST).collect(),
        at: 0,
        depth: 0,
    };
    let root = reader.choice()?;
    reader.blanks();
    if reader.at < reader.chars.len() {
        return Err(reader.wrong());
    }
    root.check(&mut vec!["self".to_owned(), "oldSelf".to_owned()])?;
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
const MACROS: [&str; 5] = ["all", "exists", "exists_one", "map", "filter"];

struct Reader {
    chars: Vec<char>,
    at: usize,
    depth: usize,
}

impl Reader {
    fn wrong(&self) -> String {
        let what = self
            .chars
            .get(self.at)
            .map_or("<EOF>".to_owned(), char::to_string);
        format!(
            "ERROR: <input>:1:{}: Syntax error: mismatched input '{what}'",
            self.at + 1
        )
    }

    fn blanks(&mut self) {
        while self.chars.get(self.at).is_some_and(|c| c.is_whitespace()) {
            self.at += 1;
        }
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

    fn expect(&mut self, sign: &str) -> Result<(), String> {
        if self.take(sign) {
            Ok(())
        } else {
            Err(self.wrong())
        }
    }

    fn choice(&mut self) -> Result<CelExpr, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err("ERROR: <input>:1:1: expression recursion limit exceeded".to_owned());
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

    fn binary(&mut self, level: usize) -> Result<CelExpr, String> {
        let Some(signs) = LEVELS.get(level) else {
            return self.unary();
        };
        let mut left = self.binary(level + 1)?;
        let mut chain = 0;
        while let Some(sign) = signs.iter().find(|sign| self.take(sign)) {
            // Each operator deepens the tree for recursive evaluation.
            chain += 1;
            if chain > LONGEST_CHAIN {
                return Err(self.wrong());
            }
            left = CelExpr::Binary(sign, Box::new(left), Box::new(self.binary(level + 1)?));
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<CelExpr, String> {
        let mut signs = Vec::new();
        while let Some(sign) = ["!", "-"].iter().find(|sign| self.take(sign)) {
            signs.push(*sign);
        }
        if signs.len() > DEEPEST {
            return Err(self.wrong());
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

    fn member(&mut self) -> Result<CelExpr, String> {
        let mut value = self.primary()?;
        for _ in 0..DEEPEST {
            if self.take(".") {
                let name = self.word()?;
                value = if self.take("(") {
                    self.method(value, name)?
                } else {
                    CelExpr::Field(Box::new(value), unescaped(&name))
                };
            } else if self.take("[") {
                let index = self.choice()?;
                self.expect("]")?;
                value = CelExpr::Index(Box::new(value), Box::new(index));
            } else {
                return Ok(value);
            }
        }
        Err(self.wrong())
    }

    fn method(&mut self, of: CelExpr, name: String) -> Result<CelExpr, String> {
        let arguments = self.list(")")?;
        let Some(each) = MACROS
            .iter()
            .find(|each| **each == name)
            .filter(|_| arguments.len() >= 2)
        else {
            return Ok(CelExpr::Call(name, Some(Box::new(of)), arguments));
        };
        let mut arguments = arguments.into_iter();
        match arguments.next() {
            Some(CelExpr::Name(element))
                if arguments.len() == 1 || *each == "map" && arguments.len() == 2 =>
            {
                Ok(CelExpr::Each(
                    each,
                    Box::new(of),
                    element,
                    arguments.collect(),
                ))
            }
            _ => Err(self.wrong()),
        }
    }

    fn list(&mut self, end: &str) -> Result<Vec<CelExpr>, String> {
        let mut items = Vec::new();
        while !self.take(end) {
            items.push(self.choice()?);
            if !self.take(",") {
                self.expect(end)?;
                break;
            }
        }
        Ok(items)
    }

    fn word(&mut self) -> Result<String, String> {
        self.blanks();
        let word: String = self.chars[self.at..]
            .iter()
            .take_while(|c| is_part(**c))
            .collect();
        if word.is_empty() || word.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(self.wrong());
        }
        self.at += word.chars().count();
        Ok(word)
    }

    fn primary(&mut self) -> Result<CelExpr, String> {
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
            (Some('0'..='9'), _) => self.number(),
            _ => {
                let name = self.word()?;
                Ok(match name.as_str() {
                    "true" | "false" => CelExpr::Literal(Value::Bool(name == "true")),
                    "null" => CelExpr::Literal(Value::Null),
                    "has" if self.take("(") => {
                        let arguments = self.list(")")?;
                        match <[CelExpr; 1]>::try_from(arguments) {
                            Ok([CelExpr::Field(of, field)]) => CelExpr::Has(of, field),
                            _ => {
                                return Err("ERROR: <input>:1:1: invalid argument to has() macro"
                                    .to_owned());
                            }
                        }
                    }
                    _ if self.take("(") => CelExpr::Call(name, None, self.list(")")?),
                    _ => CelExpr::Name(name),
                })
            }
        }
    }

    fn number(&mut self) -> Result<CelExpr, String> {
        let part = |c: &&char| c.is_ascii_alphanumeric() || **c == '.';
        let text: String = self.chars[self.at..].iter().take_while(part).collect();
        let plain = text.trim_end_matches(['u', 'U']);
        let value = match plain.strip_prefix("0x") {
            Some(hex) => i64::from_str_radix(hex, 16).ok().map(Number::from),
            None => plain
                .parse::<i64>()
                .ok()
                .map(Number::from)
                .or_else(|| plain.parse().ok().and_then(Number::from_f64)),
        };
        let value = value.ok_or_else(|| self.wrong())?;
        self.at += text.chars().count();
        Ok(CelExpr::Literal(Value::Number(value)))
    }

    fn text(&mut self, raw: bool) -> Result<CelExpr, String> {
        let quote = self.chars[self.at];
        // Within triple quotes a single quote is a character.
        let many = |from: &[char]| from.len() >= 3 && from[..3].iter().all(|c| *c == quote);
        let end = if many(&self.chars[self.at..]) { 3 } else { 1 };
        self.at += end;
        let mut text = String::new();
        loop {
            let c = *self.chars.get(self.at).ok_or_else(|| self.wrong())?;
            if c == quote && (end == 1 || many(&self.chars[self.at..])) {
                self.at += end;
                return Ok(CelExpr::Literal(Value::String(text)));
            }
            self.at += 1;
            match c {
                '\\' if !raw => {
                    let escaped = *self.chars.get(self.at).ok_or_else(|| self.wrong())?;
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
