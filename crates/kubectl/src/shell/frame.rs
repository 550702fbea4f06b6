//! Scripts that run within each other: each has its place, and what belongs to it alone.

use super::room::Variables;
use super::script::ShellScript;
use std::collections::VecDeque;
use std::rc::Rc;

/// What a script is to the one that runs it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum FrameKind {
    /// A shell of its own: `exit` ends it, and its variables end with it.
    Shell,
    /// A function: `return` ends it.
    Function,
    /// Part of the script around it.
    Block,
}

#[derive(Clone, Debug)]
pub(super) struct ScriptFrame {
    pub kind: FrameKind,
    pub script: Rc<ShellScript>,
    pub at: usize,
    pub loops: Vec<VecDeque<String>>,
    /// `$0` and its positional parameters, if it has its own.
    pub args: Option<Vec<String>>,
    /// What it reads, if that is not what the script around it reads.
    pub stdin: Option<Input>,
    /// The variables that are there again once it has ended.
    pub saved: Option<Variables>,
    /// Single variables that have their old value again then.
    pub locals: Vec<(String, Option<String>)>,
    /// The exit code is turned round.
    pub turned: bool,
}

impl ScriptFrame {
    pub fn new(kind: FrameKind, script: Rc<ShellScript>) -> ScriptFrame {
        ScriptFrame {
            kind,
            script,
            at: 0,
            loops: Vec::new(),
            args: None,
            stdin: None,
            saved: None,
            locals: Vec::new(),
            turned: false,
        }
    }
}

/// A text that is read line by line.
#[derive(Clone, Debug)]
pub(super) struct Input {
    text: Rc<str>,
    at: usize,
}

impl Input {
    pub fn new(text: &str) -> Input {
        Input {
            text: text.into(),
            at: 0,
        }
    }

    /// What has not been read.
    pub fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    /// The next line, and whether it has an end.
    pub fn line(&mut self) -> (String, bool) {
        let rest = &self.text[self.at..];
        let end = rest.find('\n');
        let line = rest[..end.unwrap_or(rest.len())].to_owned();
        self.at += line.len() + usize::from(end.is_some());
        (line, end.is_some())
    }
}
