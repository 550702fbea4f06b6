//! Expression language of lessons, evaluated on the cluster and on its history since the step began.
//!
//! ```text
//! ready(web) == 3 and never ready(web) < 2
//! max(pods(web)) == 4
//! deleted(pod/web-0) > 0 and bound(pvc/www-web-0)
//! ```

use super::functions::Function;
use crate::functions;
use std::fmt;
use std::rc::Rc;

/// Maximum nesting of expressions.
const MAX_DEPTH: usize = 32;
/// Maximum number of tokens of an expression.
const MAX_TOKENS: usize = 400;
/// Maximum number of aggregations in a step: each is evaluated at every instant.
const MAX_OVER: usize = 32;

/// Aggregation of a value over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aggregation {
    /// Largest value.
    Max,
    /// Smallest value.
    Min,
    /// True if the value was ever true.
    Ever,
    /// True if the value was always true.
    Always,
    /// True if the value was never true.
    Never,
}

const OVERS: [(&str, Aggregation); 5] = [
    ("max", Aggregation::Max),
    ("min", Aggregation::Min),
    ("ever", Aggregation::Ever),
    ("always", Aggregation::Always),
    ("never", Aggregation::Never),
];

/// Binary operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    #[allow(missing_docs)]
    Or,
    #[allow(missing_docs)]
    And,
    #[allow(missing_docs)]
    Equal,
    #[allow(missing_docs)]
    Unequal,
    #[allow(missing_docs)]
    Less,
    #[allow(missing_docs)]
    AtMost,
    #[allow(missing_docs)]
    Greater,
    #[allow(missing_docs)]
    AtLeast,
    #[allow(missing_docs)]
    Plus,
    #[allow(missing_docs)]
    Minus,
}

/// Operators with their token and precedence.
const OPERATORS: [(&str, Operator, u8); 10] = [
    ("or", Operator::Or, 1),
    ("and", Operator::And, 2),
    ("==", Operator::Equal, 3),
    ("!=", Operator::Unequal, 3),
    ("<=", Operator::AtMost, 3),
    (">=", Operator::AtLeast, 3),
    ("<", Operator::Less, 3),
    (">", Operator::Greater, 3),
    ("+", Operator::Plus, 4),
    ("-", Operator::Minus, 4),
];

/// Expression.
#[derive(Clone, Debug)]
pub enum Expr {
    /// Number.
    Number(i64),
    /// Quoted text.
    Text(Rc<str>),
    /// Negation.
    Not(Box<Expr>),
    /// Binary operation.
    Binary(Operator, Box<Expr>, Box<Expr>),
    /// Call of a function.
    Call(&'static Function, Rc<[Rc<str>]>),
    /// Aggregation over time: its index in [`Expressions::over`].
    Over(usize),
}

impl Expr {
    /// Parses a condition of an instant: without aggregations over time, and without functions of the present or of a step.
    ///
    /// # Errors
    /// An error of the expression.
    pub fn of_instant(text: &str) -> Result<Expr, ExprError> {
        let expr = Expressions::default().whole(text, true)?;
        match expr.function_of_step() {
            Some(name) => Err(ExprError::OnlyNow(name)),
            None => Ok(expr),
        }
    }

    /// Returns the name of a function in the expression that tells of a step.
    fn function_of_step(&self) -> Option<&'static str> {
        match self {
            Expr::Number(_) | Expr::Text(_) | Expr::Over(_) => None,
            Expr::Not(inner) => inner.function_of_step(),
            Expr::Binary(_, left, right) => {
                left.function_of_step().or_else(|| right.function_of_step())
            }
            Expr::Call(function, _) => function.of_step.then_some(function.name),
        }
    }
}

/// Aggregations over time in the expressions of one step.
#[derive(Clone, Debug, Default)]
pub struct Expressions {
    /// Aggregations with their inner expressions.
    pub over: Vec<(Aggregation, Expr)>,
}

/// Error of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExprError {
    /// Unexpected token; empty at the end.
    Unexpected(String),
    /// Unknown function, with the nearest name.
    NoFunction(String, Option<&'static str>),
    /// Wrong number of arguments.
    Arguments(&'static str, &'static str),
    /// Function of the present state in an aggregation over time.
    OnlyNow(&'static str),
    /// Nested aggregation over time.
    Nested,
    /// Nesting too deep.
    TooDeep,
    /// Too many tokens, or too many aggregations in one step.
    TooLong,
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Number(i64),
    Text(Rc<str>),
    Word(String),
    Sign(&'static str),
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Number(number) => write!(f, "{number}"),
            Token::Text(text) => write!(f, "'{text}'"),
            Token::Word(word) => f.write_str(word),
            Token::Sign(sign) => f.write_str(sign),
        }
    }
}

const SIGNS: [&str; 11] = ["==", "!=", "<=", ">=", "<", ">", "+", "-", "(", ")", ","];

/// Splits an expression into tokens. Names of objects are words: they contain hyphens, dots, slashes and colons.
fn tokens(text: &str) -> Result<Vec<Token>, ExprError> {
    let mut all = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let length;
        if first == '\'' || first == '"' {
            let end = rest[1..]
                .find(first)
                .ok_or_else(|| ExprError::Unexpected(rest.to_owned()))?;
            all.push(Token::Text(rest[1..1 + end].into()));
            length = end + 2;
        } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            all.push(Token::Sign(sign));
            length = sign.len();
        } else {
            length = rest
                .find(|c: char| !c.is_ascii_alphanumeric() && !"-_./:*".contains(c))
                .unwrap_or(rest.len());
            let word = &rest[..length];
            if word.is_empty() {
                return Err(ExprError::Unexpected(first.to_string()));
            }
            all.push(
                word.parse()
                    .map_or_else(|_| Token::Word(word.to_owned()), Token::Number),
            );
        }
        rest = rest[length..].trim_start();
    }
    Ok(all)
}

struct Reader<'t> {
    tokens: &'t [Token],
    at: usize,
    depth: usize,
    within: bool,
    over: &'t mut Vec<(Aggregation, Expr)>,
}

impl Expressions {
    /// Parses an expression to aggregate over time; returns its index.
    pub fn parse_aggregate(&mut self, over: Aggregation, text: &str) -> Result<usize, ExprError> {
        let expr = self.whole(text, true)?;
        self.over.push((over, expr));
        Ok(self.over.len() - 1)
    }

    /// Parses an expression.
    pub fn read(&mut self, text: &str) -> Result<Expr, ExprError> {
        self.whole(text, false)
    }

    /// Parses a whole text; `within` is set if its own value is aggregated over time.
    fn whole(&mut self, text: &str, within: bool) -> Result<Expr, ExprError> {
        let tokens = tokens(text)?;
        if tokens.len() > MAX_TOKENS || !within && self.over.len() > MAX_OVER {
            return Err(ExprError::TooLong);
        }
        let mut reader = Reader {
            tokens: &tokens,
            at: 0,
            depth: 0,
            within,
            over: &mut self.over,
        };
        let expr = reader.binary(0)?;
        if reader.at < tokens.len() {
            Err(reader.unexpected())
        } else {
            Ok(expr)
        }
    }
}

impl Reader<'_> {
    fn unexpected(&self) -> ExprError {
        ExprError::Unexpected(
            self.tokens
                .get(self.at)
                .map(Token::to_string)
                .unwrap_or_default(),
        )
    }

    fn take(&mut self, sign: &'static str) -> Result<(), ExprError> {
        if self.tokens.get(self.at) != Some(&Token::Sign(sign)) {
            return Err(self.unexpected());
        }
        self.at += 1;
        Ok(())
    }

    fn operator(&self) -> Option<(Operator, u8)> {
        let word = match self.tokens.get(self.at)? {
            Token::Word(word) => word.as_str(),
            Token::Sign(sign) => sign,
            _ => return None,
        };
        OPERATORS
            .iter()
            .find(|(name, ..)| *name == word)
            .map(|(_, operator, binds)| (*operator, *binds))
    }

    fn binary(&mut self, least: u8) -> Result<Expr, ExprError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(ExprError::TooDeep);
        }
        let mut left = self.unary()?;
        while let Some((operator, binds)) = self.operator().filter(|(_, binds)| *binds > least) {
            self.at += 1;
            let right = self.binary(binds)?;
            left = Expr::Binary(operator, Box::new(left), Box::new(right));
        }
        self.depth -= 1;
        Ok(left)
    }

    /// Parses `not` and aggregations, whose operand binds at least as tightly as a comparison.
    fn unary(&mut self) -> Result<Expr, ExprError> {
        let Some(token) = self.tokens.get(self.at) else {
            return Err(self.unexpected());
        };
        let word = match token {
            Token::Number(number) => {
                self.at += 1;
                return Ok(Expr::Number(*number));
            }
            Token::Text(text) => {
                self.at += 1;
                return Ok(Expr::Text(text.clone()));
            }
            Token::Sign("(") => {
                self.at += 1;
                let inner = self.binary(0)?;
                self.take(")")?;
                return Ok(inner);
            }
            Token::Sign(_) => return Err(self.unexpected()),
            Token::Word(word) => word,
        };
        if word == "not" {
            self.at += 1;
            return Ok(Expr::Not(Box::new(self.binary(2)?)));
        }
        if let Some((_, over)) = OVERS.iter().find(|(name, _)| name == word) {
            if std::mem::replace(&mut self.within, true) {
                return Err(ExprError::Nested);
            }
            self.at += 1;
            // `max(pods(web)) == 4` compares the maximum; `never ready(web) < 2` aggregates the comparison.
            let largest = matches!(over, Aggregation::Max | Aggregation::Min);
            let inner = if largest {
                self.unary()?
            } else {
                self.binary(2)?
            };
            self.within = false;
            self.over.push((*over, inner));
            return Ok(Expr::Over(self.over.len() - 1));
        }
        self.call(word)
    }

    fn call(&mut self, name: &str) -> Result<Expr, ExprError> {
        let Some(function) = functions::find(name) else {
            return Err(ExprError::NoFunction(
                name.to_owned(),
                functions::nearest(name),
            ));
        };
        if function.only_now && self.within {
            return Err(ExprError::OnlyNow(function.name));
        }
        self.at += 1;
        self.take("(")?;
        let mut arguments: Vec<Rc<str>> = Vec::new();
        while self.tokens.get(self.at) != Some(&Token::Sign(")")) {
            if !arguments.is_empty() {
                self.take(",")?;
            }
            match self.tokens.get(self.at) {
                Some(Token::Word(word)) => arguments.push(word.as_str().into()),
                Some(Token::Text(text)) => arguments.push(text.clone()),
                Some(Token::Number(number)) => arguments.push(number.to_string().into()),
                _ => return Err(self.unexpected()),
            }
            self.at += 1;
        }
        self.at += 1;
        let takes = function.arguments();
        if !takes.contains(&arguments.len()) {
            return Err(ExprError::Arguments(function.name, function.usage));
        }
        Ok(Expr::Call(function, arguments.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::{Aggregation, Expr, ExprError, Expressions, Operator};

    fn read(text: &str) -> Result<(Expr, Expressions), ExprError> {
        let mut all = Expressions::default();
        all.read(text).map(|expr| (expr, all))
    }

    #[test]
    fn what_binds_how() {
        let (expr, all) =
            read("ready(web) == 3 and never ready(web) < 2 or not exists(pod/web-0)").unwrap();
        let Expr::Binary(Operator::Or, left, right) = &expr else {
            panic!("{expr:?}")
        };
        assert!(matches!(**right, Expr::Not(_)));
        let Expr::Binary(Operator::And, first, second) = &**left else {
            panic!("{left:?}")
        };
        assert!(
            matches!(**first, Expr::Binary(Operator::Equal, ..))
                && matches!(**second, Expr::Over(0))
        );
        assert!(matches!(
            &all.over[..],
            [(Aggregation::Never, Expr::Binary(Operator::Less, ..))]
        ));
        let (expr, all) = read("max(pods(web)) - 1 >= 3").unwrap();
        let Expr::Binary(Operator::AtLeast, left, _) = &expr else {
            panic!("{expr:?}")
        };
        assert!(matches!(**left, Expr::Binary(Operator::Minus, ..)));
        assert!(matches!(
            &all.over[..],
            [(Aggregation::Max, Expr::Call(..))]
        ));
    }

    #[test]
    fn what_is_wrong_is_told() {
        let fault = |text: &str| read(text).unwrap_err();
        assert_eq!(fault("ready(web) = 3"), ExprError::Unexpected("=".into()));
        assert_eq!(fault("ready(web"), ExprError::Unexpected(String::new()));
        assert_eq!(fault(""), ExprError::Unexpected(String::new()));
        assert_eq!(
            fault("redy(web) == 3"),
            ExprError::NoFunction("redy".into(), Some("ready"))
        );
        assert!(matches!(
            fault("ready() == 3"),
            ExprError::Arguments("ready", _)
        ));
        assert_eq!(fault("max(min(pods(web)))"), ExprError::Nested);
        assert_eq!(
            fault("never file(web-0, '/a') == 'b'"),
            ExprError::OnlyNow("file")
        );
        assert_eq!(fault(&"(".repeat(200)), ExprError::TooDeep);
        assert_eq!(fault(&"not ".repeat(200)), ExprError::TooDeep);
        assert_eq!(fault(&["1"; 150_000].join(" + ")), ExprError::TooLong);
        let mut many = Expressions::default();
        assert!(
            (0..1_000)
                .map(|_| many.read("max(pods(web))"))
                .any(|read| read.is_err_and(|error| error == ExprError::TooLong))
        );
        assert_eq!(fault("'open"), ExprError::Unexpected("'open".into()));
        assert_eq!(fault("é"), ExprError::Unexpected("é".into()));
    }
}
