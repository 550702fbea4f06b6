//! What a text of the shell is parsed into.

use std::rc::Rc;

/// A parsed text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ShellScript {
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
    /// What came before counts as a success: a loop whose condition no longer holds.
    Succeed,
    /// Begins a loop over words.
    For(Vec<ShellWord>),
    /// Takes the next word of the innermost loop, or leaves it.
    Next(String, usize),
    /// Leaves the loops within which there are so many, and goes on at the place.
    Leave(usize, usize),
    /// Goes on where the first pattern that fits the word says, or at the place.
    Case(ShellWord, Vec<(ShellWord, usize)>, usize),
    /// A function.
    Define(String, Rc<ShellScript>),
}

/// A command with its assignments and redirections.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Simple {
    pub assigns: Vec<(String, ShellWord)>,
    pub words: Vec<ShellWord>,
    pub redirects: Vec<Redirect>,
    /// A block in place of words.
    pub block: Option<ScriptBlock>,
}

/// Commands with pipes or files of their own: `{ …; }`, `( … )`, a loop.
#[derive(Clone, Debug, PartialEq)]
pub struct ScriptBlock {
    pub script: Rc<ShellScript>,
    /// In parentheses: what it sets ends with it.
    pub subshell: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Redirect {
    /// To a file: which stream (3: both), whether it is appended, the file.
    To(u8, bool, ShellWord),
    /// From a file.
    From(ShellWord),
    /// A here-document.
    Here(ShellWord),
    /// `2>&1`
    Merge,
    /// `>&2`
    Complain,
}

/// A word: pieces of text and of what is put in.
pub type ShellWord = Vec<Piece>;

#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    /// Text without quotes, in which `*`, `?` and `[` make a pattern.
    Text(String),
    Quoted(String),
    /// A variable, and whether it is quoted.
    Variable(Rc<Parameter>, bool),
    /// The output of a script, and whether it is quoted.
    Output(Rc<ShellScript>, bool),
    /// `$((…))`, and whether it is quoted.
    Sum(ShellWord, bool),
}

/// A variable, and what is made of its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    pub name: String,
    pub change: Expansion,
}

/// What `${…}` makes of a value; with a colon an empty value counts as none.
#[derive(Clone, Debug, PartialEq)]
pub enum Expansion {
    None,
    Length,
    /// `-`
    Default(bool, ShellWord),
    /// `=`
    Assign(bool, ShellWord),
    /// `+`
    Alternative(bool, ShellWord),
    /// `?`
    Missing(bool, ShellWord),
    /// `#`, `##`, `%`, `%%`
    Cut {
        end: bool,
        longest: bool,
        pattern: ShellWord,
    },
    /// `/`, `//`
    Replace {
        all: bool,
        pattern: ShellWord,
        with: ShellWord,
    },
    /// `:from:count`
    Slice(ShellWord, Option<ShellWord>),
}

/// The text of a word in which nothing is put in.
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

/// Returns true if it may name a variable.
pub(super) fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !name.starts_with(|c: char| c.is_ascii_digit())
}

/// `name=value`
pub(super) fn assignment(word: &[Piece]) -> Option<(String, ShellWord)> {
    let Some(Piece::Text(text)) = word.first() else {
        return None;
    };
    let (name, value) = text.split_once('=')?;
    let rest = [Piece::Text(value.to_owned())]
        .into_iter()
        .chain(word[1..].iter().cloned());
    is_name(name).then(|| (name.to_owned(), rest.collect()))
}
