//! Text to expressions.

use super::functions;
use serde_json::{Number, Value};

/// Signs of one level in a row: `a && b && c` has two.
const LONGEST_CHAIN: usize = 200;
/// Expressions within each other: deeper ones are refused.
const DEEPEST: usize = 64;
/// Letters of an expression.
const LONGEST: usize = 20_000;

/// An expression.
#[derive(Clone, Debug)]
pub(super) enum Expr {
    Literal(Value),
    Name(String),
    /// `a.b`
    Field(Box<Expr>, String),
    /// `has(a.b)`
    Has(Box<Expr>, String),
    /// `a[b]`
    Index(Box<Expr>, Box<Expr>),
    Not(Box<Expr>),
    Negative(Box<Expr>),
    Binary(&'static str, Box<Expr>, Box<Expr>),
    Choice(Box<[Expr; 3]>),
    List(Vec<Expr>),
    Map(Vec<(Expr, Expr)>),
    /// A function, on what it is called if it is a method, and its arguments.
    Call(String, Option<Box<Expr>>, Vec<Expr>),
    /// `list.all(x, …)`: the macro, the list, the name of an element, what is asked of each.
    Each(&'static str, Box<Expr>, String, Vec<Expr>),
}

impl Expr {
    fn parts(&self) -> Vec<&Expr> {
        match self {
            Expr::Literal(_) | Expr::Name(_) => Vec::new(),
            Expr::Field(of, _) | Expr::Has(of, _) | Expr::Not(of) | Expr::Negative(of) => vec![of],
            Expr::Index(a, b) | Expr::Binary(_, a, b) => vec![a, b],
            Expr::Choice(parts) => parts.iter().collect(),
            Expr::List(items) => items.iter().collect(),
            Expr::Map(pairs) => pairs.iter().flat_map(|(key, value)| [key, value]).collect(),
            Expr::Call(_, of, arguments) => of.iter().map(|of| &**of).chain(arguments).collect(),
            Expr::Each(_, list, _, asked) => std::iter::once(&**list).chain(asked).collect(),
        }
    }

    /// Whether a name is in it.
    pub fn names(&self, name: &str) -> bool {
        matches!(self, Expr::Name(here) if here == name) || self.parts().into_iter().any(|part| part.names(name))
    }

    /// What it refers to must be known.
    fn check(&self, known: &mut Vec<String>) -> Result<(), String> {
        match self {
            Expr::Name(name) if !known.contains(name) => Err(undeclared(name)),
            Expr::Call(name, of, arguments) => {
                self.parts().into_iter().try_for_each(|part| part.check(known))?;
                if functions::is_known(name, of.is_some(), arguments.len()) { Ok(()) } else { Err(undeclared(name)) }
            }
            Expr::Each(_, list, element, asked) => {
                list.check(known)?;
                known.push(element.clone());
                asked.iter().try_for_each(|asked| asked.check(known))?;
                known.pop();
                Ok(())
            }
            _ => self.parts().into_iter().try_for_each(|part| part.check(known)),
        }
    }
}

fn undeclared(name: &str) -> String {
    format!("ERROR: <input>:1:1: undeclared reference to '{name}' (in container '')")
}

/// Reads an expression.
pub(super) fn read(text: &str) -> Result<Expr, String> {
    let mut reader = Reader { chars: text.chars().take(LONGEST).collect(), at: 0, depth: 0 };
    let root = reader.choice()?;
    reader.blanks();
    if reader.at < reader.chars.len() {
        return Err(reader.wrong());
    }
    root.check(&mut vec!["self".to_owned(), "oldSelf".to_owned()])?;
    Ok(root)
}

/// Binary signs, the weakest first.
const LEVELS: [&[&str]; 5] = [&["||"], &["&&"], &["==", "!=", "<=", ">=", "<", ">", "in"], &["+", "-"], &["*", "/", "%"]];
const MACROS: [&str; 5] = ["all", "exists", "exists_one", "map", "filter"];

struct Reader {
    chars: Vec<char>,
    at: usize,
    depth: usize,
}

impl Reader {
    fn wrong(&self) -> String {
        let what = self.chars.get(self.at).map_or("<EOF>".to_owned(), char::to_string);
        format!("ERROR: <input>:1:{}: Syntax error: mismatched input '{what}'", self.at + 1)
    }

    fn blanks(&mut self) {
        while self.chars.get(self.at).is_some_and(|c| c.is_whitespace()) {
            self.at += 1;
        }
    }

    fn take(&mut self, sign: &str) -> bool {
        self.blanks();
        let found = sign.chars().enumerate().all(|(i, c)| self.chars.get(self.at + i) == Some(&c));
        let end = self.at + sign.chars().count();
        let word = sign.chars().all(char::is_alphabetic) && self.chars.get(end).is_some_and(|c| is_part(*c));
        if found && !word {
            self.at = end;
        }
        found && !word
    }

    fn expect(&mut self, sign: &str) -> Result<(), String> {
        if self.take(sign) { Ok(()) } else { Err(self.wrong()) }
    }

    fn choice(&mut self) -> Result<Expr, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err("ERROR: <input>:1:1: expression recursion limit exceeded".to_owned());
        }
        let condition = self.binary(0)?;
        let whole = if self.take("?") {
            let yes = self.choice()?;
            self.expect(":")?;
            Expr::Choice(Box::new([condition, yes, self.choice()?]))
        } else {
            condition
        };
        self.depth -= 1;
        Ok(whole)
    }

    fn binary(&mut self, level: usize) -> Result<Expr, String> {
        let Some(signs) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        let mut chain = 0;
        while let Some(sign) = signs.iter().find(|sign| self.take(sign)) {
            // Each sign is one deeper for whoever follows the expression.
            chain += 1;
            if chain > LONGEST_CHAIN {
                return Err(self.wrong());
            }
            left = Expr::Binary(sign, Box::new(left), Box::new(self.binary(level + 1)?));
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Expr, String> {
        let mut signs = Vec::new();
        while let Some(sign) = ["!", "-"].iter().find(|sign| self.take(sign)) {
            signs.push(*sign);
        }
        if signs.len() > DEEPEST {
            return Err(self.wrong());
        }
        let mut value = self.member()?;
        for sign in signs {
            value = if sign == "!" { Expr::Not(Box::new(value)) } else { Expr::Negative(Box::new(value)) };
        }
        Ok(value)
    }

    fn member(&mut self) -> Result<Expr, String> {
        let mut value = self.primary()?;
        for _ in 0..DEEPEST {
            if self.take(".") {
                let name = self.word()?;
                value = if self.take("(") { self.method(value, name)? } else { Expr::Field(Box::new(value), unescaped(&name)) };
            } else if self.take("[") {
                let index = self.choice()?;
                self.expect("]")?;
                value = Expr::Index(Box::new(value), Box::new(index));
            } else {
                return Ok(value);
            }
        }
        Err(self.wrong())
    }

    fn method(&mut self, of: Expr, name: String) -> Result<Expr, String> {
        let arguments = self.list(")")?;
        let Some(each) = MACROS.iter().find(|each| **each == name).filter(|_| arguments.len() >= 2) else {
            return Ok(Expr::Call(name, Some(Box::new(of)), arguments));
        };
        let mut arguments = arguments.into_iter();
        match arguments.next() {
            Some(Expr::Name(element)) if arguments.len() == 1 || *each == "map" && arguments.len() == 2 => {
                Ok(Expr::Each(each, Box::new(of), element, arguments.collect()))
            }
            _ => Err(self.wrong()),
        }
    }

    fn list(&mut self, end: &str) -> Result<Vec<Expr>, String> {
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
        let word: String = self.chars[self.at..].iter().take_while(|c| is_part(**c)).collect();
        if word.is_empty() || word.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(self.wrong());
        }
        self.at += word.chars().count();
        Ok(word)
    }

    fn primary(&mut self) -> Result<Expr, String> {
        if self.take("(") {
            let inner = self.choice()?;
            self.expect(")")?;
            return Ok(inner);
        }
        if self.take("[") {
            return Ok(Expr::List(self.list("]")?));
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
            return Ok(Expr::Map(pairs));
        }
        self.blanks();
        match (self.chars.get(self.at).copied(), self.chars.get(self.at + 1).copied()) {
            (Some('"' | '\''), _) => self.text(false),
            (Some('r' | 'R'), Some('"' | '\'')) => {
                self.at += 1;
                self.text(true)
            }
            (Some('0'..='9'), _) => self.number(),
            _ => {
                let name = self.word()?;
                Ok(match name.as_str() {
                    "true" | "false" => Expr::Literal(Value::Bool(name == "true")),
                    "null" => Expr::Literal(Value::Null),
                    "has" if self.take("(") => {
                        let arguments = self.list(")")?;
                        match <[Expr; 1]>::try_from(arguments) {
                            Ok([Expr::Field(of, field)]) => Expr::Has(of, field),
                            _ => return Err("ERROR: <input>:1:1: invalid argument to has() macro".to_owned()),
                        }
                    }
                    _ if self.take("(") => Expr::Call(name, None, self.list(")")?),
                    _ => Expr::Name(name),
                })
            }
        }
    }

    fn number(&mut self) -> Result<Expr, String> {
        let part = |c: &&char| c.is_ascii_alphanumeric() || **c == '.';
        let text: String = self.chars[self.at..].iter().take_while(part).collect();
        let plain = text.trim_end_matches(['u', 'U']);
        let value = match plain.strip_prefix("0x") {
            Some(hex) => i64::from_str_radix(hex, 16).ok().map(Number::from),
            None => plain.parse::<i64>().ok().map(Number::from).or_else(|| plain.parse().ok().and_then(Number::from_f64)),
        };
        let value = value.ok_or_else(|| self.wrong())?;
        self.at += text.chars().count();
        Ok(Expr::Literal(Value::Number(value)))
    }

    fn text(&mut self, raw: bool) -> Result<Expr, String> {
        let quote = self.chars[self.at];
        self.at += 1;
        let mut text = String::new();
        loop {
            let c = *self.chars.get(self.at).ok_or_else(|| self.wrong())?;
            self.at += 1;
            match c {
                c if c == quote => return Ok(Expr::Literal(Value::String(text))),
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

/// Names of fields that could not be written: `__dash__`, `__namespace__`.
fn unescaped(name: &str) -> String {
    let mut plain = name.to_owned();
    for (escaped, letter) in [("__underscores__", "__"), ("__dot__", "."), ("__dash__", "-"), ("__slash__", "/")] {
        plain = plain.replace(escaped, letter);
    }
    match plain.strip_prefix("__").and_then(|rest| rest.strip_suffix("__")) {
        Some(word) if !word.is_empty() => word.to_owned(),
        _ => plain,
    }
}
