//! The grammar of the shell: a text becomes a script, a flat list of steps.

use super::lexer::{Lexer, Token};
use std::rc::Rc;

/// A parsed text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    pub steps: Vec<Step>,
}

/// A step of a script; places are indices of steps.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Commands that are joined by `|`, and whether the result is turned round.
    Pipeline(Vec<Simple>, bool),
    Jump(usize),
    /// Goes on at the place if the last command succeeded (or failed).
    JumpIf(bool, usize),
    /// Begins a loop over words.
    For(Vec<Word>),
    /// Takes the next word of the innermost loop, or leaves it.
    Next(String, usize),
    /// Leaves the loops within which there are so many.
    Leave(usize, usize),
}

/// A command with its assignments and redirections.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Simple {
    pub assigns: Vec<(String, Word)>,
    pub words: Vec<Word>,
    pub redirects: Vec<Redirect>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Redirect {
    /// To a file: which stream (3: both), whether it is appended, the file.
    To(u8, bool, Word),
    /// From a file.
    From(Word),
    /// A here-document.
    Here(Word),
    /// `2>&1`.
    Merge,
}

/// A word: pieces of text and of what is put in.
pub type Word = Vec<Piece>;

#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    Text(String),
    /// A variable, what stands for it if it is empty, and whether it is quoted.
    Variable(String, String, bool),
    /// The output of a script, and whether it is quoted.
    Output(Rc<Script>, bool),
    /// `$((…))`
    Sum(String),
}

/// Nested scripts and blocks.
const DEEPEST: usize = 8;

/// Parses a text; says what is wrong as a shell does.
pub fn parse(text: &str) -> Result<Script, String> {
    script(text, 0)
}

pub(super) fn script(text: &str, depth: usize) -> Result<Script, String> {
    if depth > DEEPEST {
        return Err("syntax error: too deeply nested".to_owned());
    }
    let tokens = Lexer::new(text, depth).tokens()?;
    let mut parser = Parser { tokens, at: 0, steps: Vec::new(), depth, loops: Vec::new() };
    parser.list(&[])?;
    match parser.peek() {
        None => Ok(Script { steps: parser.steps }),
        Some(token) => Err(unexpected(token)),
    }
}

fn unexpected(token: &Token) -> String {
    let shown = match token {
        Token::Sign("\n") => "newline".to_owned(),
        Token::Sign(sign) => (*sign).to_owned(),
        Token::Word(word) => literal(word).unwrap_or_else(|| "word".to_owned()),
    };
    format!("syntax error: unexpected {shown:?}")
}

/// The text of a word in which nothing is put in.
pub fn literal(word: &[Piece]) -> Option<String> {
    word.iter().map(|piece| if let Piece::Text(text) = piece { Some(text.as_str()) } else { None }).collect()
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    steps: Vec<Step>,
    depth: usize,
    /// For each open loop: where it goes on, whether it is one over words, and the jumps that leave it.
    loops: Vec<(usize, bool, Vec<usize>)>,
}

impl Parser {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    /// The next word, if it is this one.
    fn is_word(&self, name: &str) -> bool {
        matches!(self.peek(), Some(Token::Word(word)) if literal(word).as_deref() == Some(name))
    }

    fn take_word(&mut self, name: &str) -> Result<(), String> {
        if self.is_word(name) {
            self.at += 1;
            return Ok(());
        }
        Err(self.peek().map_or_else(|| "syntax error: unexpected end of file".to_owned(), unexpected))
    }

    fn take_sign(&mut self, sign: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Sign(found)) if *found == sign);
        self.at += usize::from(found);
        found
    }

    fn breaks(&mut self) {
        while self.take_sign("\n") || self.take_sign(";") {}
    }

    /// Commands until one of these words.
    fn list(&mut self, ends: &[&str]) -> Result<(), String> {
        loop {
            self.breaks();
            if self.peek().is_none() || ends.iter().any(|end| self.is_word(end)) || matches!(self.peek(), Some(Token::Sign(")"))) {
                return Ok(());
            }
            self.chain()?;
            if !(self.take_sign(";") || self.take_sign("\n") || self.take_sign("&")) {
                return Ok(());
            }
        }
    }

    /// Commands joined by `&&` and `||`.
    fn chain(&mut self) -> Result<(), String> {
        self.command()?;
        loop {
            let and = self.take_sign("&&");
            if !and && !self.take_sign("||") {
                return Ok(());
            }
            while self.take_sign("\n") {}
            let jump = self.hole();
            self.command()?;
            self.steps[jump] = Step::JumpIf(!and, self.steps.len());
        }
    }

    /// A jump whose place is not known yet.
    fn hole(&mut self) -> usize {
        self.steps.push(Step::Jump(0));
        self.steps.len() - 1
    }

    fn command(&mut self) -> Result<(), String> {
        self.depth += 1;
        if self.depth > 2 * DEEPEST {
            return Err("syntax error: too deeply nested".to_owned());
        }
        let word = match self.peek() {
            Some(Token::Word(word)) => literal(word).unwrap_or_default(),
            Some(Token::Sign("(")) => "(".to_owned(),
            Some(token) => return Err(unexpected(token)),
            None => return Err("syntax error: unexpected end of file".to_owned()),
        };
        match word.as_str() {
            "for" => self.over_words()?,
            "while" | "until" => self.repeat(word == "while")?,
            "if" => {
                self.at += 1;
                self.branch()?;
            }
            "{" => {
                self.at += 1;
                self.list(&["}"])?;
                self.take_word("}")?;
            }
            "(" => {
                self.at += 1;
                self.list(&[])?;
                if !self.take_sign(")") {
                    return Err("syntax error: unexpected end of file".to_owned());
                }
            }
            "break" | "continue" if !self.loops.is_empty() => {
                self.at += 1;
                let deep = self.loops.iter().filter(|(_, words, _)| *words).count();
                let jump = self.hole();
                let Some((begin, words, leaves)) = self.loops.last_mut() else { return Ok(()) };
                if word == "continue" {
                    self.steps[jump] = Step::Jump(*begin);
                } else {
                    let keep = deep - usize::from(*words);
                    self.steps[jump] = Step::Leave(keep, 0);
                    leaves.push(jump);
                }
            }
            "do" | "done" | "then" | "else" | "elif" | "fi" | "}" => return Err(format!("syntax error: unexpected {word:?}")),
            _ => return self.pipeline(),
        }
        self.depth -= 1;
        match self.peek() {
            Some(Token::Sign("|" | ">" | ">>" | "<")) => Err("a pipe or file after a block is not known to this shell".to_owned()),
            _ => Ok(()),
        }
    }

    fn over_words(&mut self) -> Result<(), String> {
        self.at += 1;
        let Some(Token::Word(name)) = self.peek().cloned() else { return Err("syntax error: bad for loop variable".to_owned()) };
        self.at += 1;
        self.take_word("in")?;
        let mut words = Vec::new();
        while let Some(Token::Word(word)) = self.peek() {
            words.push(word.clone());
            self.at += 1;
        }
        self.breaks();
        self.steps.push(Step::For(words));
        let begin = self.hole();
        self.block(begin, true)?;
        self.steps[begin] = Step::Next(literal(&name).unwrap_or_default(), self.steps.len());
        Ok(())
    }

    fn repeat(&mut self, while_true: bool) -> Result<(), String> {
        self.at += 1;
        let begin = self.steps.len();
        self.list(&["do"])?;
        let out = self.hole();
        self.block(begin, false)?;
        self.steps[out] = Step::JumpIf(!while_true, self.steps.len());
        Ok(())
    }

    /// `do … done`, and back to the beginning.
    fn block(&mut self, begin: usize, words: bool) -> Result<(), String> {
        self.take_word("do")?;
        self.loops.push((begin, words, Vec::new()));
        self.list(&["done"])?;
        self.take_word("done")?;
        self.steps.push(Step::Jump(begin));
        let end = self.steps.len();
        for jump in self.loops.pop().map(|(_, _, leaves)| leaves).unwrap_or_default() {
            if let Step::Leave(_, place) = &mut self.steps[jump] {
                *place = end;
            }
        }
        Ok(())
    }

    fn branch(&mut self) -> Result<(), String> {
        let mut ends = Vec::new();
        loop {
            self.list(&["then"])?;
            self.take_word("then")?;
            let no = self.hole();
            self.list(&["else", "elif", "fi"])?;
            ends.push(self.hole());
            self.steps[no] = Step::JumpIf(false, self.steps.len());
            if !self.is_word("elif") {
                break;
            }
            self.at += 1;
        }
        if self.is_word("else") {
            self.at += 1;
            self.list(&["fi"])?;
        }
        self.take_word("fi")?;
        for end in ends {
            self.steps[end] = Step::Jump(self.steps.len());
        }
        Ok(())
    }

    fn pipeline(&mut self) -> Result<(), String> {
        self.depth -= 1;
        let turned = self.is_word("!");
        self.at += usize::from(turned);
        let mut commands = Vec::new();
        loop {
            commands.push(self.simple()?);
            if !self.take_sign("|") {
                break;
            }
            while self.take_sign("\n") {}
        }
        self.steps.push(Step::Pipeline(commands, turned));
        Ok(())
    }

    fn simple(&mut self) -> Result<Simple, String> {
        let mut simple = Simple::default();
        loop {
            match self.peek().cloned() {
                Some(Token::Word(word)) => {
                    self.at += 1;
                    match assignment(&word).filter(|_| simple.words.is_empty()) {
                        Some(assign) => simple.assigns.push(assign),
                        None => simple.words.push(word),
                    }
                }
                Some(Token::Sign("2>&1")) => {
                    self.at += 1;
                    simple.redirects.push(Redirect::Merge);
                }
                Some(Token::Sign(sign)) if sign.contains(['<', '>']) => {
                    self.at += 1;
                    let Some(Token::Word(file)) = self.peek().cloned() else {
                        return Err(self.peek().map_or_else(|| "syntax error: unexpected newline".to_owned(), unexpected));
                    };
                    self.at += 1;
                    let stream = match sign.as_bytes()[0] {
                        b'2' => 2,
                        b'&' => 3,
                        _ => 1,
                    };
                    simple.redirects.push(match sign {
                        "<" => Redirect::From(file),
                        "<<" | "<<-" => Redirect::Here(file),
                        sign => Redirect::To(stream, sign.ends_with(">>"), file),
                    });
                }
                other => {
                    if simple == Simple::default() {
                        return Err(other.as_ref().map_or_else(|| "syntax error: unexpected end of file".to_owned(), unexpected));
                    }
                    return Ok(simple);
                }
            }
        }
    }
}

/// `name=value`
fn assignment(word: &[Piece]) -> Option<(String, Word)> {
    let Some(Piece::Text(text)) = word.first() else { return None };
    let (name, value) = text.split_once('=')?;
    let fits =
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && !name.starts_with(|c: char| c.is_ascii_digit());
    let rest = [Piece::Text(value.to_owned())].into_iter().chain(word[1..].iter().cloned());
    fits.then(|| (name.to_owned(), rest.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_script_is_refused() {
        for text in ["'", "a |", "for x in a; do", "if a; fi", "$(", "a &&", "cat <<E\nx", "done", "a >", "(a"] {
            assert!(parse(text).is_err(), "{text}");
        }
        for text in [
            "",
            "a",
            "a; b && c || d",
            "for x in 1 2; do echo $x; done",
            "while a; do b; break; done",
            "if a; then b; else c; fi",
            "a 2>&1 | b > c",
            "cat <<E\nx\nE",
        ] {
            assert!(parse(text).is_ok(), "{text}: {:?}", parse(text));
        }
        // A long chain is no deep one.
        assert!(parse(&format!("if a; then b; {}fi", "elif a; then b; ".repeat(20_000))).is_ok());
    }
}
