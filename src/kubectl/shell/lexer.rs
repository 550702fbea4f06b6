//! Words and signs of the shell's grammar.

use super::parse::{Piece, Word, literal, script};
use std::rc::Rc;

#[derive(Clone, Debug, PartialEq)]
pub enum Token {
    Word(Word),
    Sign(&'static str),
}

const SIGNS: [&str; 18] = ["2>&1", "2>>", "1>>", "&>>", "<<-", "2>", "1>", "&>", ">>", "<<", "&&", "||", ";;", ";", "|", "&", "<", ">"];

/// A text that is being read.
pub struct Lexer {
    chars: Vec<char>,
    at: usize,
    depth: usize,
}

impl Lexer {
    /// Of a text within so many others.
    pub fn new(text: &str, depth: usize) -> Lexer {
        Lexer { chars: text.chars().collect(), at: 0, depth }
    }

    /// Reads all of it.
    pub fn tokens(mut self) -> Result<Vec<Token>, String> {
        let mut tokens: Vec<Token> = Vec::new();
        // Here-documents whose text begins at the next line: the place of their word, and whether tabs are cut.
        let mut pending: Vec<(usize, bool)> = Vec::new();
        while let Some(c) = self.chars.get(self.at).copied() {
            match c {
                '\n' => {
                    self.at += 1;
                    for (place, tabs) in std::mem::take(&mut pending) {
                        if let Some(Token::Word(word)) = tokens.get_mut(place) {
                            *word = self.here(word, tabs)?;
                        }
                    }
                    tokens.push(Token::Sign("\n"));
                }
                ' ' | '\t' | '\r' => self.at += 1,
                '\\' if self.chars.get(self.at + 1) == Some(&'\n') => self.at += 2,
                '#' => {
                    while self.chars.get(self.at).is_some_and(|c| *c != '\n') {
                        self.at += 1;
                    }
                }
                '(' | ')' => {
                    tokens.push(Token::Sign(if c == '(' { "(" } else { ")" }));
                    self.at += 1;
                }
                _ => match self.sign() {
                    Some(sign) => {
                        self.at += sign.len();
                        tokens.push(Token::Sign(sign));
                        if sign.starts_with("<<") {
                            pending.push((tokens.len(), sign == "<<-"));
                        }
                    }
                    None => tokens.push(Token::Word(self.word()?)),
                },
            }
        }
        match pending.is_empty() {
            true => Ok(tokens),
            false => Err("syntax error: the here-document has no end".to_owned()),
        }
    }

    fn sign(&self) -> Option<&'static str> {
        let rest = &self.chars[self.at..];
        SIGNS.into_iter().find(|sign| sign.chars().enumerate().all(|(i, c)| rest.get(i) == Some(&c)))
    }

    /// The lines up to the one that is the word.
    fn here(&mut self, word: &[Piece], tabs: bool) -> Result<Word, String> {
        let end = literal(word).unwrap_or_default();
        let mut text = String::new();
        loop {
            if self.at >= self.chars.len() {
                return Err("syntax error: the here-document has no end".to_owned());
            }
            let line: String = self.chars[self.at..].iter().take_while(|c| **c != '\n').collect();
            self.at = (self.at + line.chars().count() + 1).min(self.chars.len());
            let line = if tabs { line.trim_start_matches('\t') } else { &line };
            if line == end {
                return Ok(vec![Piece::Text(text)]);
            }
            text.push_str(line);
            text.push('\n');
        }
    }

    fn word(&mut self) -> Result<Word, String> {
        let (mut word, mut text, mut quote) = (Vec::new(), String::new(), None);
        let mut begun = false;
        while let Some(c) = self.chars.get(self.at).copied() {
            match (quote, c) {
                (None, ' ' | '\t' | '\n' | '\r' | ';' | '|' | '&' | '<' | '>' | '(' | ')') => break,
                (None, '\'' | '"') => (quote, begun) = (Some(c), true),
                (Some(open), c) if c == open => quote = None,
                (None, '\\') | (Some('"'), '\\') => {
                    let next = self.chars.get(self.at + 1).copied();
                    // In double quotes a backslash stands for itself before most letters.
                    if quote.is_some() && !matches!(next, Some('"' | '\\' | '$' | '`' | '\n')) {
                        text.push('\\');
                    } else {
                        self.at += 1;
                        text.extend(next.filter(|c| *c != '\n'));
                    }
                }
                (None | Some('"'), '$') => {
                    let piece = self.dollar(quote.is_some())?;
                    match piece {
                        Piece::Text(more) => text.push_str(&more),
                        piece => {
                            word.push(Piece::Text(std::mem::take(&mut text)));
                            word.push(piece);
                        }
                    }
                    continue;
                }
                (None | Some('"'), '`') => {
                    let inner: String = self.chars[self.at + 1..].iter().take_while(|c| **c != '`').collect();
                    self.at += inner.chars().count() + 2;
                    word.push(Piece::Text(std::mem::take(&mut text)));
                    word.push(Piece::Output(Rc::new(script(&inner, self.depth + 1)?), quote.is_some()));
                    continue;
                }
                (_, c) => text.push(c),
            }
            self.at += 1;
        }
        if quote.is_some() {
            return Err("syntax error: unterminated quoted string".to_owned());
        }
        if !text.is_empty() || begun || word.is_empty() {
            word.push(Piece::Text(text));
        }
        word.retain(|piece| begun || !matches!(piece, Piece::Text(text) if text.is_empty()));
        Ok(word)
    }

    /// What follows a dollar sign.
    fn dollar(&mut self, quoted: bool) -> Result<Piece, String> {
        self.at += 1;
        match self.chars.get(self.at).copied() {
            Some('(') => {
                let mut depth = 0;
                let end = (self.at..self.chars.len()).find(|i| {
                    depth += i32::from(self.chars[*i] == '(') - i32::from(self.chars[*i] == ')');
                    depth == 0
                });
                let end = end.ok_or("syntax error: unterminated $(")?;
                let inner: String = self.chars[self.at + 1..end].iter().collect();
                self.at = end + 1;
                match inner.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')) {
                    Some(sum) => Ok(Piece::Sum(sum.to_owned())),
                    None => Ok(Piece::Output(Rc::new(script(&inner, self.depth + 1)?), quoted)),
                }
            }
            Some('{') => {
                let inner: String = self.chars[self.at + 1..].iter().take_while(|c| **c != '}').collect();
                self.at = (self.at + inner.chars().count() + 2).min(self.chars.len());
                let (name, other) = inner.split_once(":-").unwrap_or((&inner, ""));
                Ok(Piece::Variable(name.to_owned(), other.to_owned(), quoted))
            }
            Some(c @ ('?' | '$' | '#' | '@' | '0'..='9')) => {
                self.at += 1;
                Ok(Piece::Variable(c.to_string(), String::new(), quoted))
            }
            _ => {
                let name: String = self.chars[self.at..].iter().take_while(|c| c.is_ascii_alphanumeric() || **c == '_').collect();
                self.at += name.len();
                Ok(if name.is_empty() { Piece::Text("$".to_owned()) } else { Piece::Variable(name, String::new(), quoted) })
            }
        }
    }
}
