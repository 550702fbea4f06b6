//! Syntax of a parsed shell script.

use std::rc::Rc;

/// Parsed script.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ShellScript {
    pub steps: Vec<Step>,
}

/// Step of a script; targets are indices of steps.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Commands joined by `|`, and whether the exit code is negated.
    Pipeline(Vec<Simple>, bool),
    Jump(usize),
    /// Jumps if the last command succeeded (or failed).
    JumpIf(bool, usize),
    /// Sets a successful exit code, for a loop whose condition no longer holds.
    Succeed,
    /// Begins a loop over words.
    For(Vec<ShellWord>),
    /// Takes the next word of the innermost loop, or leaves it.
    Next(String, usize),
    /// Leaves loops down to this nesting depth, and jumps.
    Leave(usize, usize),
    /// Jumps to the target of the first pattern that matches the word, or to the default target.
    Case(ShellWord, Vec<(ShellWord, usize)>, usize),
    /// Defines a function.
    Define(String, Rc<ShellScript>),
}

/// Command with its assignments and redirections.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Simple {
    pub assigns: Vec<(String, ShellWord)>,
    pub words: Vec<ShellWord>,
    pub redirects: Vec<Redirect>,
    /// Block in place of words.
    pub block: Option<ScriptBlock>,
}

/// Commands with pipes or redirections of their own: `{ …; }`, `( … )`, a loop.
#[derive(Clone, Debug, PartialEq)]
pub struct ScriptBlock {
    pub script: Rc<ShellScript>,
    /// True for parentheses, whose variables end with it.
    pub subshell: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Redirect {
    /// Redirection to a file: stream (3 for both), append flag, file.
    To(u8, bool, ShellWord),
    /// Redirection from a file.
    From(ShellWord),
    /// Here-document.
    Here(ShellWord),
    /// `2>&1`.
    Merge,
    /// `>&2`.
    Complain,
}

/// Word: pieces of text and expansions.
pub type ShellWord = Vec<Piece>;

#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    /// Unquoted text, in which `*`, `?` and `[` form a pattern.
    Text(String),
    Quoted(String),
    /// Variable, and whether it is quoted.
    Variable(Rc<Parameter>, bool),
    /// Command substitution, and whether it is quoted.
    Output(Rc<ShellScript>, bool),
    /// Arithmetic expansion `$((…))`, and whether it is quoted.
    Sum(ShellWord, bool),
}

/// Variable, and the expansion of its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    pub name: String,
    pub change: Expansion,
}

/// Parameter expansion `${…}`; with a colon an empty value counts as unset.
#[derive(Clone, Debug, PartialEq)]
pub enum Expansion {
    None,
    Length,
    /// `-`, a default value.
    Default(bool, ShellWord),
    /// `=`, an assigned default value.
    Assign(bool, ShellWord),
    /// `+`, an alternative value.
    Alternative(bool, ShellWord),
    /// `?`, an error if unset.
    Missing(bool, ShellWord),
    /// `#`, `##`, `%`, `%%`, removal of a prefix or suffix.
    Cut {
        end: bool,
        longest: bool,
        pattern: ShellWord,
    },
    /// `/`, `//`, replacement.
    Replace {
        all: bool,
        pattern: ShellWord,
        with: ShellWord,
    },
    /// `:from:count`, a substring.
    Slice(ShellWord, Option<ShellWord>),
}

/// Returns the text of a word without expansions.
pub fn literal(word: &[Piece]) -> Option<String> {
    word.iter()
        .map(|piece| {
            if let Piece::Text(text) | Piece::Quoted(text) = piece {
                Some(text.as_str())
            } else {
                None
            }
        })
        .collect()
}

/// Returns true for a valid variable name.
pub fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !name.starts_with(|c: char| c.is_ascii_digit())
}

/// Parses an assignment, `name=value`.
pub fn assignment(word: &[Piece]) -> Option<(String, ShellWord)> {
    let Some(Piece::Text(text)) = word.first() else {
        return None;
    };
    let (name, value) = text.split_once('=')?;
    let rest = [Piece::Text(value.to_owned())]
        .into_iter()
        .chain(word[1..].iter().cloned());
    is_name(name).then(|| (name.to_owned(), rest.collect()))
}
