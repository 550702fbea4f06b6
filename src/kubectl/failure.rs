//! How a command fails.

use crate::engine::store::validation::FieldError;

/// Why a command ends early: what goes to stderr, and the exit code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The whole text, with its line break.
    pub message: String,
    /// The exit code.
    pub exit: i32,
    /// What the server found wrong with which fields.
    pub causes: Vec<FieldError>,
}

impl Failure {
    /// A text as it is, with an exit code.
    pub fn exit(message: impl Into<String>, exit: i32) -> Failure {
        Failure { message: message.into(), exit, causes: Vec::new() }
    }

    /// `error: …`
    pub fn error(message: impl std::fmt::Display) -> Failure {
        Failure::exit(format!("error: {message}\n"), 1)
    }

    /// `error: …`, and where to look it up.
    pub fn usage(path: &str, message: impl std::fmt::Display) -> Failure {
        Failure::error(format!("{message}\nSee 'kubectl {path} -h' for help and examples"))
    }

    /// A message without `error: ` before it.
    pub fn plain(message: impl std::fmt::Display) -> Failure {
        Failure::exit(format!("{message}\n"), 1)
    }
}
