//! Language of control loops: Python's syntax, run within limits and without anything that depends on a machine.
//!
//! Guarantees: a pass depends on the program, its input, its memory and the answers of its [`Host`] alone; it takes at most the steps and the
//! memory of its [`Limits`]; any text is a program or a [`ScriptError`] with a line.
//!
//! A program defines `reconcile(key)`, which compares and acts, or `on_event(event)`, which reacts. Its statements outside of functions run
//! before each pass. Global variables of a program with `on_event` are its [`Memory`]: a pass finds them as the last one left them.
//!
//! Differences from Python: no classes, exceptions, imports, sets or generators; a tuple is a list; a bool is no number; a field of a dict can be read and set as
//! `object.field`, and is `None` if it is missing; integers have 64 bits; comparisons never mix types.

pub mod api;
mod ast;
mod builtins;
mod error;
mod eval;
mod lexer;
mod names;
mod parser;
mod value;

pub use error::{Problem, ScriptError};
pub use eval::{Host, HostCall, Limits, Lines, Reply, Site, Step};
pub use value::{Failure, ToJson};

use ast::{Act, Function, Name, Statement};
use eval::{At, Done, Interpreter};
use serde_json::{Map, Value as Json};
use std::rc::Rc;
use value::{Dict, Key, Value};

/// Maximum size of a program in bytes.
pub const MAX_PROGRAM: usize = 64 * 1024;

/// Trigger of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Style {
    /// `reconcile(key)`: compares the desired with the actual state.
    Level,
    /// `on_event(event)`: reacts to a change.
    Edge,
}

impl Style {
    /// Returns the name of the function.
    pub fn entry(self) -> &'static str {
        match self {
            Style::Level => "reconcile",
            Style::Edge => "on_event",
        }
    }
}

/// Parsed program.
#[derive(Debug)]
pub struct Program {
    source: String,
    statements: Vec<Statement>,
    style: Style,
}

/// Global variables that a program with `on_event` keeps between passes.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Memory(Option<Map<String, Json>>);

impl Memory {
    /// Returns the variables; none before the first pass.
    pub fn variables(&self) -> impl Iterator<Item = (&String, &Json)> {
        self.0.iter().flatten()
    }
}

/// Input of a pass.
pub enum Input {
    /// Key of an object to reconcile.
    Key {
        /// Namespace; empty for a kind without.
        namespace: String,
        /// Name.
        name: String,
    },
    /// Event of a watch.
    Event {
        /// `ADDED`, `MODIFIED` or `DELETED`.
        kind: &'static str,
        /// Object after the event.
        object: Rc<dyn ToJson>,
        /// Object before the event, if it is known.
        before: Option<Rc<dyn ToJson>>,
        /// True for an object that existed when the program was started.
        initial: bool,
    },
}

/// Outcome of a pass.
#[derive(Debug)]
pub struct Outcome {
    /// Failure that the program returned, or the error that ended it.
    pub result: Result<Option<Failure>, ScriptError>,
    /// Steps taken.
    pub steps: u64,
    /// Lines that it has reached, without those outside of functions.
    pub lines: Lines,
    /// Steps line by line, if they were asked for.
    pub trace: Vec<Step>,
}

impl Program {
    /// Parses a program.
    ///
    /// # Errors
    /// The text is none, or reads a name that nothing defines.
    pub fn parse(source: &str) -> Result<Program, ScriptError> {
        if source.len() > MAX_PROGRAM {
            return Err(ScriptError::new(1, Problem::Memory(MAX_PROGRAM / 1024)));
        }
        let statements = parser::parse(source)?;
        let entry = |style: Style| {
            let found = statements
                .iter()
                .find_map(|statement| match &statement.node {
                    Act::Def(function) if *function.name == *style.entry() => {
                        Some((statement.line, function))
                    }
                    _ => None,
                });
            found.map(|(line, function)| (style, line, function.clone()))
        };
        let (style, line, function): (Style, u32, Rc<Function>) =
            match (entry(Style::Level), entry(Style::Edge)) {
                (Some(found), None) | (None, Some(found)) => found,
                (None, None) => return Err(ScriptError::new(1, Problem::NoEntryPoint)),
                (Some(_), Some((_, line, _))) => {
                    return Err(ScriptError::new(line, Problem::TwoEntryPoints));
                }
            };
        if function.parameters.len() != 1 {
            return Err(ScriptError::new(
                line,
                Problem::EntryParameters(style.entry()),
            ));
        }
        names::check(&statements)?;
        Ok(Program {
            source: source.to_owned(),
            statements,
            style,
        })
    }

    /// Returns the text.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns the trigger.
    pub fn style(&self) -> Style {
        self.style
    }

    /// Runs a pass; the memory is left as it was if the pass ends with an error.
    pub fn run(
        &self,
        input: &Input,
        memory: &mut Memory,
        limits: Limits,
        host: &mut dyn Host,
    ) -> Outcome {
        self.start(input, memory, limits, host, false)
    }

    /// Runs a pass and records each line that it executes.
    pub fn trace(
        &self,
        input: &Input,
        memory: &mut Memory,
        limits: Limits,
        host: &mut dyn Host,
    ) -> Outcome {
        self.start(input, memory, limits, host, true)
    }

    fn start(
        &self,
        input: &Input,
        memory: &mut Memory,
        limits: Limits,
        host: &mut dyn Host,
        traced: bool,
    ) -> Outcome {
        let mut interpreter = match Interpreter::new(&self.source, limits) {
            Ok(interpreter) => interpreter,
            Err(error) => {
                return Outcome {
                    result: Err(error),
                    steps: 0,
                    lines: Lines::default(),
                    trace: Vec::new(),
                };
            }
        };
        let result = self.pass(&mut interpreter, input, memory, host, traced);
        Outcome {
            result,
            steps: interpreter.steps,
            lines: std::mem::take(&mut interpreter.lines),
            trace: interpreter.trace.take().unwrap_or_default(),
        }
    }

    fn pass<'h>(
        &'h self,
        interpreter: &mut Interpreter<'h>,
        input: &Input,
        memory: &mut Memory,
        host: &'h mut dyn Host,
        traced: bool,
    ) -> Done<Option<Failure>> {
        interpreter.module(&self.statements)?;
        let line = self.line_of_entry();
        for (name, value) in memory.variables() {
            let value = interpreter.heap.json(value).at(line)?;
            let name: Name = name.as_str().into();
            let globals = interpreter.globals;
            interpreter.heap.set(globals, &name, value).at(line)?;
        }
        interpreter.host = Some(host);
        interpreter.trace = traced.then(Vec::new);
        let globals = interpreter.globals;
        let entry = interpreter
            .heap
            .lookup(globals, self.style.entry())
            .unwrap_or(Value::None);
        let argument = argument(interpreter, input).at(line)?;
        let returned = interpreter.apply(line, &entry, vec![argument], Vec::new())?;
        if self.style == Style::Edge {
            *memory = Memory(Some(self.remember(interpreter).at(line)?));
        }
        Ok(match returned {
            Value::Failure(failure) => Some((*failure).clone()),
            _ => None,
        })
    }

    fn line_of_entry(&self) -> u32 {
        let is_entry = |statement: &&Statement| matches!(&statement.node, Act::Def(function) if *function.name == *self.style.entry());
        self.statements
            .iter()
            .find(is_entry)
            .map_or(1, |statement| statement.line)
    }

    /// Returns the global variables.
    fn remember(&self, interpreter: &mut Interpreter<'_>) -> Result<Map<String, Json>, Problem> {
        let globals = interpreter.heap.frame_at(interpreter.globals);
        let globals = globals.map(|frame| frame.names.clone()).unwrap_or_default();
        let mut kept = Map::new();
        for (name, value) in &globals {
            if !matches!(
                value,
                Value::Function(..) | Value::Builtin(_) | Value::Failure(_)
            ) {
                kept.insert(name.to_string(), interpreter.heap.write_json(value)?);
            }
        }
        Ok(kept)
    }
}

/// Builds the argument of the entry point.
fn argument(interpreter: &mut Interpreter<'_>, input: &Input) -> Result<Value, Problem> {
    let heap = &mut interpreter.heap;
    let mut dict = Dict::default();
    let mut insert = |name: &str, value: Value| dict.insert(Key::Text(name.into()), value);
    match input {
        Input::Key { namespace, name } => {
            insert("namespace", heap.text(namespace)?);
            insert("name", heap.text(name)?);
        }
        Input::Event {
            kind,
            object,
            before,
            initial,
        } => {
            insert("type", heap.text(kind)?);
            insert("object", heap.object(object.clone())?);
            let before = match before {
                Some(before) => heap.object(before.clone())?,
                None => Value::None,
            };
            insert("before", before);
            insert("initial", Value::Bool(*initial));
        }
    }
    heap.dict(dict)
}
