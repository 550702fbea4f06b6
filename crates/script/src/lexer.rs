//! Tokens of a program, with its blocks as `Indent` and `Dedent`.

use crate::api::KEYWORDS;
use crate::error::{Problem, ScriptError};
use std::rc::Rc;

/// Token.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Token {
    Name(Rc<str>),
    Int(i64),
    Float(f64),
    Text(Rc<str>),
    /// Formatted string: literal texts, and sources of expressions.
    Format(Rc<[FormatPart]>),
    /// Operator or keyword.
    Word(&'static str),
    /// End of a statement.
    Line,
    Indent,
    Dedent,
    End,
}

/// Part of a formatted string.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum FormatPart {
    Text(Rc<str>),
    Source(Rc<str>),
}

/// Keywords of Python that the language does not have.
const FOREIGN: &[&str] = &[
    "as", "assert", "async", "await", "class", "del", "except", "finally", "from", "import",
    "nonlocal", "raise", "try", "with", "yield",
];

/// Operators, longer ones first.
const OPERATORS: &[&str] = &[
    "//=", "**=", "**", "//", "==", "!=", "<=", ">=", "+=", "-=", "*=", "%=", "/=", "->", "+", "-",
    "*", "/", "%", "<", ">", "=", "(", ")", "[", "]", "{", "}", ",", ":", ".", ";", "|",
];

impl Token {
    /// Describes the token in a message.
    pub(crate) fn text(&self) -> String {
        match self {
            Token::Name(name) => format!("'{name}'"),
            Token::Int(number) => number.to_string(),
            Token::Float(number) => number.to_string(),
            Token::Text(_) | Token::Format(_) => "a string".to_owned(),
            Token::Word(word) => format!("'{word}'"),
            Token::Line => "the end of the line".to_owned(),
            Token::Indent => "an indented block".to_owned(),
            Token::Dedent => "the end of the block".to_owned(),
            Token::End => "the end of the program".to_owned(),
        }
    }
}

/// Splits a program into tokens, each with its line.
pub(crate) fn tokens(source: &str) -> Result<Vec<(u32, Token)>, ScriptError> {
    let source = source.replace('\r', "");
    let mut lexer = Lexer {
        rest: &source,
        line: 1,
        open: 0,
        tokens: Vec::new(),
    };
    let mut blocks = vec![0];
    while !lexer.rest.is_empty() {
        // At the start of a line outside of brackets.
        let width = lexer.indentation();
        if lexer.at_end_of_line() {
            lexer.skip_comment();
            lexer.newline();
            continue;
        }
        let current = blocks.last().copied().unwrap_or(0);
        if width > current {
            blocks.push(width);
            lexer.push(Token::Indent);
        }
        while blocks.last().is_some_and(|block| width < *block) {
            blocks.pop();
            lexer.push(Token::Dedent);
        }
        if blocks.last() != Some(&width) {
            return Err(lexer.error(Problem::Indentation));
        }
        lexer.logical_line()?;
    }
    for _ in 1..blocks.len() {
        lexer.push(Token::Dedent);
    }
    lexer.push(Token::End);
    Ok(lexer.tokens)
}

struct Lexer<'s> {
    rest: &'s str,
    line: u32,
    /// Open brackets.
    open: u32,
    tokens: Vec<(u32, Token)>,
}

impl Lexer<'_> {
    fn error(&self, problem: Problem) -> ScriptError {
        ScriptError::new(self.line, problem)
    }

    fn push(&mut self, token: Token) {
        self.tokens.push((self.line, token));
    }

    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or("");
    }

    /// Skips spaces and returns the width of the indentation; a tab fills up to a multiple of eight.
    fn indentation(&mut self) -> usize {
        let mut width = 0;
        while let Some(c @ (' ' | '\t' | '\u{c}')) = self.peek() {
            width = match c {
                ' ' => width + 1,
                '\t' => (width / 8 + 1) * 8,
                _ => 0,
            };
            self.skip(1);
        }
        width
    }

    fn at_end_of_line(&self) -> bool {
        matches!(self.peek(), None | Some('\n' | '#'))
    }

    fn skip_comment(&mut self) {
        if self.peek() == Some('#') {
            self.skip(self.rest.find('\n').unwrap_or(self.rest.len()));
        }
    }

    fn newline(&mut self) {
        if self.peek() == Some('\n') {
            self.skip(1);
            self.line += 1;
        }
    }

    /// Reads up to the end of a line, which brackets and a backslash continue.
    fn logical_line(&mut self) -> Result<(), ScriptError> {
        loop {
            match self.peek() {
                None => {
                    self.push(Token::Line);
                    return Ok(());
                }
                Some('#') => self.skip_comment(),
                Some('\n') => {
                    if self.open == 0 {
                        self.push(Token::Line);
                        self.newline();
                        return Ok(());
                    }
                    self.newline();
                }
                Some(' ' | '\t' | '\u{c}') => self.skip(1),
                Some('\\') if self.rest[1..].starts_with('\n') => {
                    self.skip(1);
                    self.newline();
                }
                Some(c) => self.token(c)?,
            }
        }
    }

    fn token(&mut self, first: char) -> Result<(), ScriptError> {
        if let Some(length) = self.string_prefix() {
            let formatted = self.rest[..length].contains(['f', 'F']);
            let raw = self.rest[..length].contains(['r', 'R']);
            self.skip(length);
            return self.string(formatted, raw);
        }
        if first.is_alphabetic() || first == '_' {
            let is_part = |c: char| c.is_alphanumeric() || c == '_';
            let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
            let name = &self.rest[..end];
            // `is` is read, and not offered.
            let mut words = KEYWORDS.iter().chain(&["is"]);
            let token = match words.find(|word| **word == name) {
                Some(word) => Token::Word(word),
                None if FOREIGN.contains(&name) => {
                    return Err(self.error(Problem::Unsupported(format!("'{name}'"))));
                }
                None => Token::Name(name.into()),
            };
            self.push(token);
            self.skip(end);
            return Ok(());
        }
        if first.is_ascii_digit() {
            return self.number();
        }
        let Some(word) = OPERATORS.iter().find(|word| self.rest.starts_with(**word)) else {
            return Err(self.error(Problem::UnexpectedText {
                found: format!("'{first}'"),
                expected: "an expression",
            }));
        };
        match *word {
            "(" | "[" | "{" => self.open += 1,
            ")" | "]" | "}" => self.open = self.open.saturating_sub(1),
            _ => {}
        }
        self.push(Token::Word(word));
        self.skip(word.len());
        Ok(())
    }

    fn number(&mut self) -> Result<(), ScriptError> {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let mut end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let after = &self.rest[end..];
        let is_float =
            after.starts_with('.') && after[1..].starts_with(|c: char| c.is_ascii_digit());
        if is_float {
            let more = after[1..].find(|c| !is_part(c));
            end += 1 + more.unwrap_or(after.len() - 1);
        }
        let text = self.rest[..end].replace('_', "");
        let token = if is_float {
            text.parse().ok().map(Token::Float)
        } else if let Some(hex) = text.strip_prefix("0x") {
            i64::from_str_radix(hex, 16).ok().map(Token::Int)
        } else if text.bytes().all(|b| b.is_ascii_digit()) {
            match text.parse() {
                Ok(number) => Some(Token::Int(number)),
                Err(_) => return Err(self.error(Problem::NumberTooLarge)),
            }
        } else {
            None
        };
        let Some(token) = token else {
            return Err(self.error(Problem::UnexpectedText {
                found: format!("'{text}'"),
                expected: "a number",
            }));
        };
        self.push(token);
        self.skip(end);
        Ok(())
    }

    /// Returns the length of the prefix of a string that begins here, 0 if it has none.
    fn string_prefix(&self) -> Option<usize> {
        let quote = |byte: u8| matches!(byte, b'"' | b'\'');
        let length = self.rest.bytes().take(3).position(quote)?;
        let prefix = &self.rest[..length];
        prefix.chars().all(|c| "fFrR".contains(c)).then_some(length)
    }

    fn string(&mut self, formatted: bool, raw: bool) -> Result<(), ScriptError> {
        let line = self.line;
        let open = || ScriptError::new(line, Problem::OpenString);
        let quote = self.peek().unwrap_or('"');
        let triple = [quote; 3].iter().collect::<String>();
        let long = self.rest.starts_with(&triple);
        self.skip(if long { 3 } else { 1 });
        let (mut text, mut parts) = (String::new(), Vec::new());
        loop {
            let Some(c) = self.peek() else {
                return Err(open());
            };
            if long && self.rest.starts_with(&triple) {
                self.skip(3);
                break;
            }
            if !long && c == quote {
                self.skip(1);
                break;
            }
            if c == '\n' {
                if !long {
                    return Err(open());
                }
                self.line += 1;
            }
            if c == '\\' && !raw {
                self.skip(1);
                self.escape(&mut text)?;
                continue;
            }
            if formatted && (c == '{' || c == '}') {
                if self.rest[1..].starts_with(c) {
                    text.push(c);
                    self.skip(2);
                    continue;
                }
                let close = self.rest.find('}').filter(|_| c == '{');
                let source = close.map(|close| &self.rest[1..close]);
                let Some(source) = source.filter(|source| !source.contains('\n')) else {
                    return Err(open());
                };
                if !text.is_empty() {
                    parts.push(FormatPart::Text(std::mem::take(&mut text).into()));
                }
                parts.push(FormatPart::Source(source.into()));
                self.skip(source.len() + 2);
                continue;
            }
            text.push(c);
            self.skip(c.len_utf8());
        }
        let token = if formatted {
            if !text.is_empty() {
                parts.push(FormatPart::Text(text.into()));
            }
            Token::Format(parts.into())
        } else {
            Token::Text(text.into())
        };
        self.tokens.push((line, token));
        Ok(())
    }

    fn escape(&mut self, text: &mut String) -> Result<(), ScriptError> {
        let Some(c) = self.peek() else {
            return Err(self.error(Problem::OpenString));
        };
        self.skip(c.len_utf8());
        match c {
            'n' => text.push('\n'),
            't' => text.push('\t'),
            'r' => text.push('\r'),
            '\\' | '\'' | '"' => text.push(c),
            '\n' => self.line += 1,
            c => text.extend(['\\', c]),
        }
        Ok(())
    }
}
