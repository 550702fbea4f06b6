//! Arithmetic expansion `$((…))`: integers of 64 bits, with C's operators and their precedence, as in ash.

use super::machine::Machine;
use super::numbers::number;
use super::script::is_name;
use crate::client::Client;

/// Maximum nesting of expressions.
const DEEPEST: usize = 32;

/// Binary operators by precedence, the weakest first.
const LEVELS: [&[&str]; 10] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<=", ">=", "<", ">"],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

/// Operator tokens, the longest first.
const SIGNS: [&str; 37] = [
    "<<=", ">>=", "||", "&&", "==", "!=", "<=", ">=", "<<", ">>", "++", "--", "+=", "-=", "*=",
    "/=", "%=", "&=", "|=", "^=", "|", "^", "&", "<", ">", "+", "-", "*", "/", "%", "=", "!", "~",
    "(", ")", "?", ":",
];

const BAD: &str = "arithmetic syntax error";

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Number(i64),
    Name(String),
    Sign(&'static str),
}

struct Sum<'m, 'k, 'c> {
    machine: &'m mut Machine,
    client: &'k mut Client<'c>,
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
    /// Nesting depth of unevaluated parts, such as the right side of `0 &&`: assignments there have no effect.
    idle: usize,
}

/// Evaluates an expression.
pub(super) fn value(
    machine: &mut Machine,
    client: &mut Client<'_>,
    text: &str,
) -> Result<i64, String> {
    let mut sum = Sum {
        machine,
        client,
        tokens: tokens(text)?,
        at: 0,
        depth: 0,
        idle: 0,
    };
    if sum.tokens.is_empty() {
        return Ok(0);
    }
    let value = sum.choice()?;
    if sum.at == sum.tokens.len() {
        Ok(value)
    } else {
        Err(BAD.to_owned())
    }
}

fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let (mut tokens, mut rest) = (Vec::new(), text.trim_start());
    while let Some(c) = rest.chars().next() {
        let length = if c.is_ascii_alphanumeric() || c == '_' {
            let length = rest
                .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                .unwrap_or(rest.len());
            let word = &rest[..length];
            tokens.push(match c.is_ascii_digit() {
                true => Token::Number(number(word).ok_or(BAD)?),
                false => Token::Name(word.to_owned()),
            });
            length
        } else {
            let sign = SIGNS
                .into_iter()
                .find(|sign| rest.starts_with(sign))
                .ok_or(BAD)?;
            tokens.push(Token::Sign(sign));
            sign.len()
        };
        rest = rest[length..].trim_start();
    }
    Ok(tokens)
}

impl Sum<'_, '_, '_> {
    fn take(&mut self, signs: &[&'static str]) -> Option<&'static str> {
        match self.tokens.get(self.at) {
            Some(Token::Sign(sign)) if signs.contains(sign) => {
                self.at += 1;
                Some(sign)
            }
            _ => None,
        }
    }

    fn variable(&mut self, name: &str) -> Result<i64, String> {
        let text = self.machine.variable(self.client, name).unwrap_or_default();
        let text = text.trim();
        if text.is_empty() {
            Ok(0)
        } else {
            number(text).ok_or_else(|| BAD.to_owned())
        }
    }

    fn assign(&mut self, name: &str, value: i64) {
        if self.idle == 0 {
            self.machine.assign(name, value.to_string());
        }
    }

    /// Evaluates `a ? b : c`, and assignments.
    fn choice(&mut self) -> Result<i64, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(BAD.to_owned());
        }
        let value = match self.tokens.get(self.at..self.at + 2) {
            Some([Token::Name(name), Token::Sign(sign)])
                if sign.ends_with('=') && !matches!(*sign, "==" | "!=" | "<=" | ">=") =>
            {
                let (name, sign) = (name.clone(), *sign);
                self.at += 2;
                let right = self.choice()?;
                let value = match sign.trim_end_matches('=') {
                    "" => right,
                    sign => {
                        let left = self.variable(&name)?;
                        self.joined(sign, left, right)?
                    }
                };
                self.assign(&name, value);
                value
            }
            _ => {
                let value = self.level(0)?;
                if self.take(&["?"]).is_none() {
                    value
                } else {
                    let yes = self.side(value == 0, Self::choice)?;
                    self.take(&[":"]).ok_or(BAD)?;
                    let no = self.side(value != 0, Self::choice)?;
                    if value != 0 { yes } else { no }
                }
            }
        };
        self.depth -= 1;
        Ok(value)
    }

    /// Evaluates a part, without effects if `idle`.
    fn side(
        &mut self,
        idle: bool,
        part: impl FnOnce(&mut Self) -> Result<i64, String>,
    ) -> Result<i64, String> {
        self.idle += usize::from(idle);
        let value = part(self);
        self.idle -= usize::from(idle);
        value
    }

    fn level(&mut self, level: usize) -> Result<i64, String> {
        let Some(signs) = LEVELS.get(level) else {
            return self.operand();
        };
        let mut left = self.level(level + 1)?;
        while let Some(sign) = self.take(signs) {
            let idle = sign == "||" && left != 0 || sign == "&&" && left == 0;
            let right = self.side(idle, |sum| sum.level(level + 1))?;
            left = self.joined(sign, left, right)?;
        }
        Ok(left)
    }

    fn joined(&self, sign: &str, left: i64, right: i64) -> Result<i64, String> {
        Ok(match sign {
            "||" => i64::from(left != 0 || right != 0),
            "&&" => i64::from(left != 0 && right != 0),
            "|" => left | right,
            "^" => left ^ right,
            "&" => left & right,
            "==" => i64::from(left == right),
            "!=" => i64::from(left != right),
            "<=" => i64::from(left <= right),
            ">=" => i64::from(left >= right),
            "<" => i64::from(left < right),
            ">" => i64::from(left > right),
            "<<" => left.wrapping_shl(right as u32),
            ">>" => left.wrapping_shr(right as u32),
            "+" => left.wrapping_add(right),
            "-" => left.wrapping_sub(right),
            "*" => left.wrapping_mul(right),
            _ if right == 0 && self.idle > 0 => 0,
            _ if right == 0 => return Err("divide by zero".to_owned()),
            "/" => left.wrapping_div(right),
            _ => left.wrapping_rem(right),
        })
    }

    fn operand(&mut self) -> Result<i64, String> {
        // Prefix operators apply from the last to the first.
        let mut before = Vec::new();
        let mut steps: i64 = 0;
        loop {
            if let Some(sign) = self.take(&["+", "-", "!", "~"]) {
                before.push(sign);
                continue;
            }
            match self.take(&["++", "--"]) {
                Some(sign) if matches!(self.tokens.get(self.at), Some(Token::Name(_))) => {
                    steps = if sign == "++" { 1 } else { -1 }
                }
                Some("--") => before.extend(["-", "-"]),
                Some(_) => {}
                None => break,
            }
        }
        let token = self.tokens.get(self.at).cloned();
        self.at += 1;
        let mut value = match token {
            Some(Token::Number(value)) => value,
            Some(Token::Sign("(")) => {
                let value = self.choice()?;
                self.take(&[")"]).ok_or(BAD)?;
                value
            }
            Some(Token::Name(name)) if is_name(&name) => {
                let old = self.variable(&name)?;
                let after = match self.take(&["++", "--"]) {
                    Some("++") => 1,
                    Some(_) => -1,
                    None => 0,
                };
                if steps != 0 || after != 0 {
                    self.assign(&name, old.wrapping_add(steps).wrapping_add(after));
                }
                old.wrapping_add(steps)
            }
            _ => return Err(BAD.to_owned()),
        };
        for sign in before.iter().rev() {
            value = match *sign {
                "-" => value.wrapping_neg(),
                "!" => i64::from(value == 0),
                "~" => !value,
                _ => value,
            };
        }
        Ok(value)
    }
}
