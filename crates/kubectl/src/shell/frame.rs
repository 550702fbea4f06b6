//! Stack frames of nested scripts, each with its position and its own state.

use super::room::Variables;
use super::script::ShellScript;
use std::collections::VecDeque;
use std::rc::Rc;

/// Relation of a script to the one that runs it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum FrameKind {
    /// Separate shell: `exit` ends it, and its variables end with it.
    Shell,
    /// Function: `return` ends it.
    Function,
    /// Part of the surrounding script.
    Block,
}

#[derive(Clone, Debug)]
pub(super) struct ScriptFrame {
    pub kind: FrameKind,
    pub script: Rc<ShellScript>,
    pub at: usize,
    pub loops: Vec<VecDeque<String>>,
    /// `$0` and the positional parameters, if the frame has its own.
    pub args: Option<Vec<String>>,
    /// Input; `None` for that of the surrounding script.
    pub stdin: Option<Input>,
    /// Variables to restore at the end.
    pub saved: Option<Variables>,
    /// Local variables, with the values to restore at the end.
    pub locals: Vec<(String, Option<String>)>,
    /// True if the exit code is negated.
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

/// Text read line by line.
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

    /// Returns the unread text.
    pub fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    /// Returns the next line, and whether it has a line break.
    pub fn line(&mut self) -> (String, bool) {
        let rest = &self.text[self.at..];
        let end = rest.find('\n');
        let line = rest[..end.unwrap_or(rest.len())].to_owned();
        self.at += line.len() + usize::from(end.is_some());
        (line, end.is_some())
    }
}
