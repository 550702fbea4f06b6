//! Parser of the shell: converts a text into a script, a flat list of steps.

use super::lexer::{Lexer, ShellToken};
use super::script::{
    Expansion, Parameter, Piece, Redirect, ScriptBlock, ShellScript, Simple, Step, assignment,
    is_name, literal,
};
use std::collections::BTreeSet;
use std::rc::Rc;

/// Maximum nesting of scripts and blocks.
pub(crate) const DEEPEST: usize = 8;

/// Parses a text; the error is worded as in a shell.
pub fn parse(text: &str) -> Result<ShellScript, String> {
    script(text, 0)
}

pub(crate) fn script(text: &str, depth: usize) -> Result<ShellScript, String> {
    if depth > DEEPEST {
        return Err("syntax error: too deeply nested".to_owned());
    }
    let tokens = Lexer::new(text, depth).tokens()?;
    let mut parser = Parser {
        tokens,
        at: 0,
        steps: Vec::new(),
        depth,
        loops: Vec::new(),
        apart: BTreeSet::new(),
    };
    parser.list(&[])?;
    match parser.peek() {
        None => Ok(ShellScript {
            steps: parser.steps,
        }),
        Some(token) => Err(unexpected(token)),
    }
}

fn unexpected(token: &ShellToken) -> String {
    let shown = match token {
        ShellToken::Sign("\n") => "newline".to_owned(),
        ShellToken::Sign(sign) => (*sign).to_owned(),
        ShellToken::Word(word) => literal(word).unwrap_or_else(|| "word".to_owned()),
    };
    format!("syntax error: unexpected {shown:?}")
}

/// Open loop.
struct Loop {
    begin: usize,
    /// True for a loop over words.
    words: bool,
    /// Jumps that leave the loop.
    leaves: Vec<usize>,
}

struct Parser {
    tokens: Vec<ShellToken>,
    at: usize,
    steps: Vec<Step>,
    depth: usize,
    loops: Vec<Loop>,
    /// Start tokens of blocks with pipes or redirections of their own, which are known once the end of the block has been seen.
    apart: BTreeSet<usize>,
}

/// Keywords that begin a block.
const BLOCKS: [&str; 6] = ["for", "while", "until", "if", "case", "{"];

impl Parser {
    fn peek(&self) -> Option<&ShellToken> {
        self.tokens.get(self.at)
    }

    /// Returns the next word, if it may be a keyword.
    fn keyword(&self) -> &str {
        match self.peek() {
            Some(ShellToken::Word(word)) => match word.as_slice() {
                [Piece::Text(text)] => text,
                _ => "",
            },
            _ => "",
        }
    }

    fn is_word(&self, name: &str) -> bool {
        self.keyword() == name
    }

    fn refuse<T>(&self) -> Result<T, String> {
        Err(self.peek().map_or_else(
            || "syntax error: unexpected end of file".to_owned(),
            unexpected,
        ))
    }

    fn take_word(&mut self, name: &str) -> Result<(), String> {
        if !self.is_word(name) {
            return self.refuse();
        }
        self.at += 1;
        Ok(())
    }

    fn is_sign(&self, sign: &str) -> bool {
        matches!(self.peek(), Some(ShellToken::Sign(found)) if *found == sign)
    }

    fn take_sign(&mut self, sign: &str) -> bool {
        let found = self.is_sign(sign);
        self.at += usize::from(found);
        found
    }

    fn breaks(&mut self) {
        while self.take_sign("\n") || self.take_sign(";") {}
    }

    fn lines(&mut self) {
        while self.take_sign("\n") {}
    }

    /// Parses commands until one of these keywords.
    fn list(&mut self, ends: &[&str]) -> Result<(), String> {
        loop {
            self.breaks();
            if self.peek().is_none()
                || ends.contains(&self.keyword())
                || self.is_sign(")")
                || self.is_sign(";;")
            {
                return Ok(());
            }
            self.chain()?;
            if !(self.take_sign(";") || self.take_sign("\n") || self.take_sign("&")) {
                return Ok(());
            }
        }
    }

    /// Parses commands joined by `&&` and `
    /// `.
    fn chain(&mut self) -> Result<(), String> {
        self.pipeline()?;
        loop {
            let and = self.take_sign("&&");
            if !and && !self.take_sign("||") {
                return Ok(());
            }
            self.lines();
            let jump = self.hole();
            self.pipeline()?;
            self.steps[jump] = Step::JumpIf(!and, self.steps.len());
        }
    }

    /// Emits a jump whose target is not known yet.
    fn hole(&mut self) -> usize {
        self.steps.push(Step::Jump(0));
        self.steps.len() - 1
    }

    /// Parses commands joined by `|`, or a block of the script itself.
    fn pipeline(&mut self) -> Result<(), String> {
        let turned = self.is_word("!");
        self.at += usize::from(turned);
        if !turned && matches!(self.keyword(), "break" | "continue") && !self.loops.is_empty() {
            return self.leave();
        }
        if let Some(name) = self.function() {
            self.at += 3;
            self.lines();
            let (script, _) = self.block_apart()?;
            self.steps.push(Step::Define(name, script));
            return Ok(());
        }
        if !turned && BLOCKS.contains(&self.keyword()) && !self.apart.contains(&self.at) {
            let (begin, steps) = (self.at, self.steps.len());
            let leaves: Vec<usize> = self.loops.iter().map(|open| open.leaves.len()).collect();
            self.block()?;
            if !matches!(self.peek(), Some(ShellToken::Sign(sign)) if *sign == "|" || sign.contains(['<', '>']))
            {
                return Ok(());
            }
            // The block has a pipe or a redirection: it is parsed again as a script of its own.
            self.at = begin;
            self.steps.truncate(steps);
            self.loops
                .iter_mut()
                .zip(leaves)
                .for_each(|(open, count)| open.leaves.truncate(count));
            self.apart.insert(begin);
        }
        let mut commands = Vec::new();
        loop {
            commands.push(self.stage()?);
            if !self.take_sign("|") {
                break;
            }
            self.lines();
        }
        self.steps.push(Step::Pipeline(commands, turned));
        Ok(())
    }

    /// Returns the name of the function defined here.
    fn function(&self) -> Option<String> {
        let defines = matches!(
            self.tokens.get(self.at + 1..self.at + 3),
            Some([ShellToken::Sign("("), ShellToken::Sign(")")])
        );
        Some(self.keyword().to_owned()).filter(|name| defines && is_name(&name.replace('-', "_")))
    }

    /// Parses a command of a pipeline.
    fn stage(&mut self) -> Result<Simple, String> {
        if !BLOCKS.contains(&self.keyword()) && !self.is_sign("(") {
            return self.simple();
        }
        let (script, subshell) = self.block_apart()?;
        let mut simple = Simple {
            block: Some(ScriptBlock { script, subshell }),
            ..Simple::default()
        };
        while let Some(redirect) = self.redirect()? {
            simple.redirects.push(redirect);
        }
        Ok(simple)
    }

    /// Parses a block as a script of its own; returns true for one in parentheses.
    fn block_apart(&mut self) -> Result<(Rc<ShellScript>, bool), String> {
        let (steps, loops) = (
            std::mem::take(&mut self.steps),
            std::mem::take(&mut self.loops),
        );
        let subshell = self.take_sign("(");
        if subshell {
            self.deeper()?;
            self.list(&[])?;
            self.depth -= 1;
            if !self.take_sign(")") {
                return self.refuse();
            }
        } else if BLOCKS.contains(&self.keyword()) {
            self.block()?;
        } else {
            return self.refuse();
        }
        self.loops = loops;
        let steps = std::mem::replace(&mut self.steps, steps);
        Ok((Rc::new(ShellScript { steps }), subshell))
    }

    fn deeper(&mut self) -> Result<(), String> {
        self.depth += 1;
        if self.depth > 2 * DEEPEST {
            Err("syntax error: too deeply nested".to_owned())
        } else {
            Ok(())
        }
    }

    /// Parses one of [`BLOCKS`].
    fn block(&mut self) -> Result<(), String> {
        self.deeper()?;
        let word = self.keyword().to_owned();
        self.at += 1;
        match word.as_str() {
            "for" => self.over_words()?,
            "while" | "until" => self.repeat(word == "while")?,
            "if" => self.branch()?,
            "case" => self.case()?,
            _ => {
                self.list(&["}"])?;
                self.take_word("}")?;
            }
        }
        self.depth -= 1;
        Ok(())
    }

    /// Parses `break` and `continue`, with their number of loops.
    fn leave(&mut self) -> Result<(), String> {
        let breaks = self.is_word("break");
        self.at += 1;
        let count = self.keyword().parse::<usize>().ok();
        self.at += usize::from(count.is_some());
        let of = self.loops.len().saturating_sub(count.unwrap_or(1).max(1));
        let inside = self.loops[..of + usize::from(!breaks)]
            .iter()
            .filter(|open| open.words)
            .count();
        let jump = self.hole();
        self.steps[jump] = Step::Leave(inside, self.loops[of].begin);
        if breaks {
            self.loops[of].leaves.push(jump);
        }
        Ok(())
    }

    fn over_words(&mut self) -> Result<(), String> {
        let name = self.keyword().to_owned();
        if !is_name(&name) {
            return Err("syntax error: bad for loop variable".to_owned());
        }
        self.at += 1;
        self.lines();
        let mut words = Vec::new();
        if self.is_word("in") {
            self.at += 1;
            while let Some(ShellToken::Word(word)) = self.peek() {
                words.push(word.clone());
                self.at += 1;
            }
        } else {
            words.push(vec![Piece::Variable(
                Rc::new(Parameter {
                    name: "@".to_owned(),
                    change: Expansion::None,
                }),
                true,
            )]);
        }
        self.breaks();
        self.steps.push(Step::For(words));
        let begin = self.hole();
        self.body(begin, true)?;
        self.steps[begin] = Step::Next(name, self.steps.len());
        Ok(())
    }

    fn repeat(&mut self, while_true: bool) -> Result<(), String> {
        let begin = self.steps.len();
        self.list(&["do"])?;
        let out = self.hole();
        self.body(begin, false)?;
        self.steps[out] = Step::JumpIf(!while_true, self.steps.len());
        self.steps.push(Step::Succeed);
        Ok(())
    }

    /// Parses `do … done`, with the jump back to the beginning.
    fn body(&mut self, begin: usize, words: bool) -> Result<(), String> {
        self.take_word("do")?;
        self.loops.push(Loop {
            begin,
            words,
            leaves: Vec::new(),
        });
        self.list(&["done"])?;
        self.take_word("done")?;
        self.steps.push(Step::Jump(begin));
        let end = self.steps.len();
        for jump in self.loops.pop().map(|open| open.leaves).unwrap_or_default() {
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
        } else {
            self.steps.push(Step::Succeed);
        }
        self.take_word("fi")?;
        for end in ends {
            self.steps[end] = Step::Jump(self.steps.len());
        }
        Ok(())
    }

    fn case(&mut self) -> Result<(), String> {
        let Some(ShellToken::Word(word)) = self.peek().cloned() else {
            return self.refuse();
        };
        self.at += 1;
        self.lines();
        self.take_word("in")?;
        let case = self.hole();
        let (mut arms, mut ends) = (Vec::new(), Vec::new());
        loop {
            self.breaks();
            if self.is_word("esac") {
                break;
            }
            self.take_sign("(");
            loop {
                let Some(ShellToken::Word(pattern)) = self.peek().cloned() else {
                    return self.refuse();
                };
                self.at += 1;
                arms.push((pattern, self.steps.len()));
                if !self.take_sign("|") {
                    break;
                }
            }
            if !self.take_sign(")") {
                return self.refuse();
            }
            self.list(&["esac"])?;
            ends.push(self.hole());
            if !self.take_sign(";;") && !self.is_word("esac") {
                return self.refuse();
            }
        }
        self.at += 1;
        for end in ends {
            self.steps[end] = Step::Jump(self.steps.len());
        }
        self.steps[case] = Step::Case(word, arms, self.steps.len());
        Ok(())
    }

    fn simple(&mut self) -> Result<Simple, String> {
        let mut simple = Simple::default();
        if matches!(
            self.keyword(),
            "do" | "done" | "then" | "else" | "elif" | "fi" | "esac" | "}"
        ) {
            return self.refuse();
        }
        loop {
            if let Some(redirect) = self.redirect()? {
                simple.redirects.push(redirect);
                continue;
            }
            match self.peek().cloned() {
                Some(ShellToken::Word(word)) => {
                    self.at += 1;
                    match assignment(&word).filter(|_| simple.words.is_empty()) {
                        Some(assign) => simple.assigns.push(assign),
                        None => simple.words.push(word),
                    }
                }
                _ if simple == Simple::default() => return self.refuse(),
                _ => return Ok(simple),
            }
        }
    }

    fn redirect(&mut self) -> Result<Option<Redirect>, String> {
        let Some(ShellToken::Sign(sign)) = self.peek().cloned() else {
            return Ok(None);
        };
        if !sign.contains(['<', '>']) {
            return Ok(None);
        }
        self.at += 1;
        match sign {
            "2>&1" => return Ok(Some(Redirect::Merge)),
            "1>&2" | ">&2" => return Ok(Some(Redirect::Complain)),
            _ => {}
        }
        let Some(ShellToken::Word(file)) = self.peek().cloned() else {
            return Err(self
                .peek()
                .map_or_else(|| "syntax error: unexpected newline".to_owned(), unexpected));
        };
        self.at += 1;
        let stream = match sign.as_bytes()[0] {
            b'2' => 2,
            b'&' => 3,
            _ => 1,
        };
        Ok(Some(match sign {
            "<" => Redirect::From(file),
            "<<" | "<<-" => Redirect::Here(file),
            sign => Redirect::To(stream, sign.ends_with(">>"), file),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn syntax_errors_are_refused() {
        for text in [
            "'",
            "a |",
            "for x in a; do",
            "if a; fi",
            "$(",
            "a &&",
            "cat <<E\nx",
            "done",
            "a >",
            "(a",
        ] {
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
        // A long chain is not deeply nested.
        assert!(
            parse(&format!(
                "if a; then b; {}fi",
                "elif a; then b; ".repeat(20_000)
            ))
            .is_ok()
        );
    }
}
