//! Problems of a program, each with its line.

use std::fmt;

/// Problem of a program at a line.
#[derive(Clone, PartialEq, Debug)]
pub struct ScriptError {
    /// Line, from 1.
    pub line: u32,
    /// Problem.
    pub problem: Problem,
}

/// Problem of a program.
#[derive(Clone, PartialEq, Debug)]
pub enum Problem {
    /// Text that is none of the language's.
    UnexpectedText {
        /// Text found.
        found: String,
        /// Text expected.
        expected: &'static str,
    },
    /// Indentation that fits no enclosing block.
    Indentation,
    /// String without an end.
    OpenString,
    /// Integer beyond 64 bits.
    NumberTooLarge,
    /// Statement or expression nested too deeply to be read.
    TooNested,
    /// Part of Python that this language does not have.
    Unsupported(String),
    /// Name that nothing defines.
    UndefinedName(String),
    /// Program without `reconcile(key)` or `on_event(event)`.
    NoEntryPoint,
    /// Program with both `reconcile(key)` and `on_event(event)`.
    TwoEntryPoints,
    /// Entry point with another number of parameters than one.
    EntryParameters(&'static str),
    /// Operation on values that do not have it.
    Operation {
        /// Operation, such as `+`.
        operation: String,
        /// Types of its values.
        types: Vec<&'static str>,
    },
    /// More arguments than a function takes.
    TooManyArguments {
        /// Function.
        function: String,
        /// Number of its parameters.
        most: usize,
        /// Number of arguments.
        given: usize,
    },
    /// Argument that a function does not have, or has already.
    UnexpectedArgument {
        /// Function.
        function: String,
        /// Name of the argument.
        name: String,
    },
    /// Argument that a function needs.
    MissingArgument {
        /// Function.
        function: String,
        /// Name of the parameter.
        name: String,
    },
    /// Value of another type than a function needs.
    Argument {
        /// Function.
        function: String,
        /// Reason.
        reason: String,
    },
    /// Field of a value that has none.
    NoField {
        /// Type of the value.
        of: &'static str,
        /// Field.
        field: String,
    },
    /// Key or index that is not there.
    NoItem(String),
    /// Call of a value that is no function.
    NotCallable(&'static str),
    /// Division by zero.
    DivisionByZero,
    /// Integer result beyond 64 bits.
    Overflow,
    /// Function of the cluster called outside of a pass.
    OutsidePass(&'static str),
    /// Failure of the program's own: `fail(message)`.
    Failed(String),
    /// Failure of a request that the program used as if it had succeeded.
    Unchecked {
        /// Reason, such as `conflict`.
        reason: &'static str,
        /// Message of the API server.
        message: String,
    },
    /// More steps than a pass may take.
    Steps(u64),
    /// More memory than a pass may take, in kilobytes.
    Memory(usize),
    /// Calls nested too deeply.
    Depth,
}

impl ScriptError {
    /// Creates the error of a line.
    pub fn new(line: u32, problem: Problem) -> ScriptError {
        ScriptError { line, problem }
    }
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.problem)
    }
}

impl std::error::Error for ScriptError {}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::UnexpectedText { found, expected } => {
                write!(f, "expected {expected}, found {found}")
            }
            Problem::Indentation => f.write_str("the indentation fits no block"),
            Problem::OpenString => f.write_str("the string has no end"),
            Problem::NumberTooLarge => f.write_str("the number is too large"),
            Problem::TooNested => f.write_str("nested too deeply"),
            Problem::Unsupported(what) => write!(f, "{what} is not part of the language"),
            Problem::UndefinedName(name) => write!(f, "name '{name}' is not defined"),
            Problem::NoEntryPoint => {
                f.write_str("the program defines neither reconcile(key) nor on_event(event)")
            }
            Problem::TwoEntryPoints => {
                f.write_str("the program defines both reconcile(key) and on_event(event)")
            }
            Problem::EntryParameters(name) => write!(f, "{name} takes one parameter"),
            Problem::Operation { operation, types } => {
                write!(f, "{operation} is not possible for {}", types.join(" and "))
            }
            Problem::TooManyArguments {
                function,
                most,
                given,
            } => write!(f, "{function}: takes {most} arguments, not {given}"),
            Problem::UnexpectedArgument { function, name } => {
                write!(f, "{function}: argument '{name}' is not expected")
            }
            Problem::MissingArgument { function, name } => {
                write!(f, "{function}: argument '{name}' is missing")
            }
            Problem::Argument { function, reason } => write!(f, "{function}: {reason}"),
            Problem::NoField { of, field } => write!(f, "{of} has no field '{field}'"),
            Problem::NoItem(item) => write!(f, "no item {item}"),
            Problem::NotCallable(of) => write!(f, "{of} is not a function"),
            Problem::DivisionByZero => f.write_str("division by zero"),
            Problem::Overflow => f.write_str("the result does not fit 64 bits"),
            Problem::OutsidePass(name) => {
                write!(f, "{name} can only be called while a pass runs")
            }
            Problem::Failed(message) => f.write_str(message),
            Problem::Unchecked { reason, message } => write!(f, "{reason}: {message}"),
            Problem::Steps(most) => write!(f, "stopped after {most} steps"),
            Problem::Memory(most) => write!(f, "stopped: more than {most} kB of memory"),
            Problem::Depth => f.write_str("stopped: calls are nested too deeply"),
        }
    }
}
