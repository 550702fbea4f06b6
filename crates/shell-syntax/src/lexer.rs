//! Lexer of the shell's grammar.

use super::parse::{DEEPEST, script};
use super::script::{Expansion, Parameter, Piece, ShellWord, literal};
use std::rc::Rc;

#[derive(Clone, Debug, PartialEq)]
pub enum ShellToken {
    Word(ShellWord),
    Sign(&'static str),
}

const SIGNS: [&str; 20] = [
    "2>&1", "1>&2", ">&2", "2>>", "1>>", "&>>", "<<-", "2>", "1>", "&>", ">>", "<<", "&&", "||",
    ";;", ";", "|", "&", "<", ">",
];

/// Characters that end an unquoted word.
const ENDS: &str = " \t\r\n;|&<>()";

/// Returns the delimiters of a line's here-documents, whose texts begin at the next line.
pub fn here_words(line: &str) -> Vec<String> {
    let Ok((tokens, _)) = Lexer::new(line, 0).scan() else {
        return Vec::new();
    };
    let word_of = |pair: &[ShellToken]| match pair {
        [ShellToken::Sign("<<" | "<<-"), ShellToken::Word(word)] => literal(word),
        _ => None,
    };
    tokens.windows(2).filter_map(word_of).collect()
}

/// Text being scanned.
pub struct Lexer {
    chars: Vec<char>,
    at: usize,
    depth: usize,
}

impl Lexer {
    /// Creates a lexer at a nesting depth.
    pub fn new(text: &str, depth: usize) -> Lexer {
        Lexer {
            chars: text.chars().collect(),
            at: 0,
            depth,
        }
    }

    /// Scans the whole text.
    pub fn tokens(mut self) -> Result<Vec<ShellToken>, String> {
        match self.scan()? {
            (tokens, true) => Ok(tokens),
            (_, false) => Err("syntax error: the here-document has no end".to_owned()),
        }
    }

    /// Returns the tokens, and whether each here-document is complete.
    fn scan(&mut self) -> Result<(Vec<ShellToken>, bool), String> {
        let mut tokens: Vec<ShellToken> = Vec::new();
        // Here-documents whose text begins at the next line: position of their delimiter, and whether tabs are stripped.
        let mut pending: Vec<(usize, bool)> = Vec::new();
        while let Some(c) = self.peek() {
            match c {
                '\n' => {
                    self.at += 1;
                    for (place, tabs) in std::mem::take(&mut pending) {
                        if let Some(ShellToken::Word(word)) = tokens.get_mut(place) {
                            *word = self.here(word, tabs)?;
                        }
                    }
                    tokens.push(ShellToken::Sign("\n"));
                }
                ' ' | '\t' | '\r' => self.at += 1,
                '\\' if self.chars.get(self.at + 1) == Some(&'\n') => self.at += 2,
                '#' => {
                    while self.peek().is_some_and(|c| c != '\n') {
                        self.at += 1;
                    }
                }
                '(' | ')' => {
                    tokens.push(ShellToken::Sign(if c == '(' { "(" } else { ")" }));
                    self.at += 1;
                }
                _ => match self.sign() {
                    Some(sign) => {
                        self.at += sign.len();
                        tokens.push(ShellToken::Sign(sign));
                        if sign.starts_with("<<") {
                            pending.push((tokens.len(), sign == "<<-"));
                        }
                    }
                    None => tokens.push(ShellToken::Word(self.pieces(ENDS, false)?)),
                },
            }
        }
        Ok((tokens, pending.is_empty()))
    }

    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn take(&mut self, c: char) -> bool {
        let found = self.peek() == Some(c);
        self.at += usize::from(found);
        found
    }

    fn sign(&self) -> Option<&'static str> {
        let rest = &self.chars[self.at..];
        SIGNS.into_iter().find(|sign| {
            sign.chars()
                .enumerate()
                .all(|(i, c)| rest.get(i) == Some(&c))
        })
    }

    /// Reads the lines up to the delimiter; they are not expanded if the delimiter is quoted.
    fn here(&mut self, word: &[Piece], tabs: bool) -> Result<ShellWord, String> {
        let end = literal(word).unwrap_or_default();
        let mut text = String::new();
        loop {
            if self.at >= self.chars.len() {
                return Err("syntax error: the here-document has no end".to_owned());
            }
            let line: String = self.chars[self.at..]
                .iter()
                .take_while(|c| **c != '\n')
                .collect();
            self.at = (self.at + line.chars().count() + 1).min(self.chars.len());
            let line = if tabs {
                line.trim_start_matches('\t')
            } else {
                &line
            };
            if line == end {
                break;
            }
            text.push_str(line);
            text.push('\n');
        }
        match word.iter().all(|piece| matches!(piece, Piece::Text(_))) {
            true => Lexer::new(&text, self.depth).pieces("", true),
            false => Ok(vec![Piece::Quoted(text)]),
        }
    }

    /// Reads the pieces up to one of these characters; in quotes all except `$`, `` ` `` and `\` is literal.
    fn pieces(&mut self, ends: &str, quoted: bool) -> Result<ShellWord, String> {
        let (mut word, mut text) = (Vec::new(), String::new());
        let flush = |word: &mut ShellWord, text: &mut String| {
            if !text.is_empty() {
                let text = std::mem::take(text);
                word.push(if quoted {
                    Piece::Quoted(text)
                } else {
                    Piece::Text(text)
                });
            }
        };
        while let Some(c) = self.peek().filter(|c| !ends.contains(*c)) {
            match c {
                '\'' if !quoted => {
                    flush(&mut word, &mut text);
                    let inner: String = self.chars[self.at + 1..]
                        .iter()
                        .take_while(|c| **c != '\'')
                        .collect();
                    self.at += inner.chars().count() + 1;
                    word.push(Piece::Quoted(inner));
                    self.close('\'')?;
                }
                // Within `"${x:-"…"}"` quotes nest; in a here-document they are literal.
                '"' if !quoted || ends.contains('}') => {
                    flush(&mut word, &mut text);
                    self.at += 1;
                    let inner = self.pieces("\"", true)?;
                    // An empty text in quotes is a word too.
                    word.push(Piece::Quoted(String::new()));
                    word.extend(inner);
                    self.close('"')?;
                }
                '\\' => {
                    let next = self.chars.get(self.at + 1).copied();
                    // In quotes a backslash is literal before most characters.
                    let escapes = match next {
                        Some('\\' | '$' | '`' | '\n') => true,
                        Some(next) => !quoted || ends.contains(next),
                        None => false,
                    };
                    self.at += 1 + usize::from(escapes);
                    if !escapes {
                        text.push('\\');
                    } else if let Some(next) = next.filter(|next| *next != '\n') {
                        flush(&mut word, &mut text);
                        word.push(Piece::Quoted(next.to_string()));
                    }
                }
                '$' => {
                    let piece = self.dollar(quoted)?;
                    match piece {
                        None => text.push('$'),
                        Some(piece) => {
                            flush(&mut word, &mut text);
                            word.push(piece);
                        }
                    }
                }
                '`' => {
                    flush(&mut word, &mut text);
                    let inner = self.back_ticks()?;
                    word.push(Piece::Output(
                        Rc::new(script(&inner, self.depth + 1)?),
                        quoted,
                    ));
                }
                c => {
                    text.push(c);
                    self.at += 1;
                }
            }
        }
        flush(&mut word, &mut text);
        Ok(word)
    }

    fn close(&mut self, c: char) -> Result<(), String> {
        if self.take(c) {
            Ok(())
        } else {
            Err("syntax error: unterminated quoted string".to_owned())
        }
    }

    fn back_ticks(&mut self) -> Result<String, String> {
        let mut inner = String::new();
        self.at += 1;
        while let Some(c) = self.peek() {
            self.at += 1;
            match c {
                '`' => return Ok(inner),
                '\\' if matches!(self.peek(), Some('`' | '\\' | '$')) => {
                    inner.extend(self.peek());
                    self.at += 1;
                }
                c => inner.push(c),
            }
        }
        Err("syntax error: EOF in backquote substitution".to_owned())
    }

    /// Reads an expansion after a dollar sign; `None` if the sign is literal.
    fn dollar(&mut self, quoted: bool) -> Result<Option<Piece>, String> {
        self.at += 1;
        Ok(Some(match self.peek() {
            Some('(') => {
                let inner = self.parentheses(0)?;
                match inner
                    .strip_prefix('(')
                    .and_then(|inner| inner.strip_suffix(')'))
                {
                    Some(sum) if self.depth < DEEPEST => {
                        Piece::Sum(Lexer::new(sum, self.depth + 1).pieces("", true)?, quoted)
                    }
                    Some(_) => return Err("syntax error: too deeply nested".to_owned()),
                    None => Piece::Output(Rc::new(script(&inner, self.depth + 1)?), quoted),
                }
            }
            Some('{') => {
                if self.depth >= DEEPEST {
                    return Err("syntax error: too deeply nested".to_owned());
                }
                self.depth += 1;
                self.at += 1;
                let parameter = self.parameter(quoted)?;
                self.depth -= 1;
                Piece::Variable(Rc::new(parameter), quoted)
            }
            Some(c @ ('?' | '$' | '#' | '@' | '*' | '!' | '0'..='9')) => {
                self.at += 1;
                Piece::Variable(
                    Rc::new(Parameter {
                        name: c.to_string(),
                        change: Expansion::None,
                    }),
                    quoted,
                )
            }
            _ => {
                let name = self.name();
                if name.is_empty() {
                    return Ok(None);
                }
                Piece::Variable(
                    Rc::new(Parameter {
                        name,
                        change: Expansion::None,
                    }),
                    quoted,
                )
            }
        }))
    }

    fn name(&mut self) -> String {
        let name: String = self.chars[self.at..]
            .iter()
            .take_while(|c| c.is_ascii_alphanumeric() || **c == '_')
            .collect();
        self.at += name.len();
        name
    }

    /// Reads the contents of `${…}`.
    fn parameter(&mut self, quoted: bool) -> Result<Parameter, String> {
        let bad = || "syntax error: bad substitution".to_owned();
        let length = self.peek() == Some('#')
            && !matches!(
                self.chars.get(self.at + 1),
                Some('}' | '#' | '%' | ':') | None
            );
        self.at += usize::from(length);
        let mut name = self.name();
        if name.is_empty() {
            name = self
                .peek()
                .filter(|c| "?$#@*!".contains(*c))
                .ok_or_else(bad)?
                .to_string();
            self.at += 1;
        }
        let colon = !length && self.take(':');
        let sign = self.peek().ok_or_else(bad)?;
        self.at += 1;
        let change = match sign {
            '}' if length => {
                return Ok(Parameter {
                    name,
                    change: Expansion::Length,
                });
            }
            '}' if !colon => {
                return Ok(Parameter {
                    name,
                    change: Expansion::None,
                });
            }
            _ if length => return Err(bad()),
            '-' => Expansion::Default(colon, self.pieces("}", quoted)?),
            '=' => Expansion::Assign(colon, self.pieces("}", quoted)?),
            '+' => Expansion::Alternative(colon, self.pieces("}", quoted)?),
            '?' => Expansion::Missing(colon, self.pieces("}", quoted)?),
            _ if colon => {
                self.at -= 1;
                let from = self.pieces(":}", true)?;
                let count = if self.take(':') {
                    Some(self.pieces("}", true)?)
                } else {
                    None
                };
                Expansion::Slice(from, count)
            }
            '#' | '%' => {
                let longest = self.take(sign);
                Expansion::Cut {
                    end: sign == '%',
                    longest,
                    pattern: self.pieces("}", false)?,
                }
            }
            '/' => {
                let all = self.take('/');
                let pattern = self.pieces("/}", false)?;
                let with = if self.take('/') {
                    self.pieces("}", quoted)?
                } else {
                    Vec::new()
                };
                Expansion::Replace { all, pattern, with }
            }
            _ => return Err(bad()),
        };
        if self.take('}') {
            Ok(Parameter { name, change })
        } else {
            Err(bad())
        }
    }

    /// Returns the text up to the matching parenthesis, skipping quotes and patterns of `case`.
    fn parentheses(&mut self, nested: usize) -> Result<String, String> {
        let begin = self.at + 1;
        let (mut depth, mut quote) = (0, None);
        // Depth at which a parenthesis ends a pattern, for each open `case`; the current word, and whether it is in command position.
        let (mut cases, mut word, mut names): (Vec<usize>, String, bool) =
            (Vec::new(), String::new(), true);
        while let Some(c) = self.peek() {
            let letter = c.is_ascii_alphanumeric() && quote.is_none();
            if letter {
                word.push(c);
            } else if !word.is_empty() {
                match word.as_str() {
                    "case" if names => cases.push(depth),
                    "esac" => drop(cases.pop()),
                    _ => {}
                }
                names = matches!(
                    word.as_str(),
                    "do" | "then" | "else" | "elif" | "if" | "while" | "until"
                );
                word.clear();
            }
            match (quote, c) {
                (None | Some('"'), '\\') => self.at += 1,
                (None, '\'' | '"') => quote = Some(c),
                (Some(open), c) if c == open => quote = None,
                (Some('"'), '$') if self.chars.get(self.at + 1) == Some(&'(') => {
                    if nested >= DEEPEST {
                        return Err("syntax error: too deeply nested".to_owned());
                    }
                    self.at += 1;
                    self.parentheses(nested + 1)?;
                    continue;
                }
                (Some(_), _) => {}
                (None, ';' | '\n' | '|' | '&' | '{') => names = true,
                (None, '(') => (depth, names) = (depth + 1, true),
                (None, ')') if cases.last() == Some(&depth) => names = true,
                (None, ')') => {
                    depth -= 1;
                    if depth == 0 {
                        let inner = self.chars[begin..self.at].iter().collect();
                        self.at += 1;
                        return Ok(inner);
                    }
                }
                _ => {}
            }
            self.at += 1;
        }
        Err("syntax error: unterminated $(".to_owned())
    }
}
