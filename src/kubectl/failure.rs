//! How a command fails.

/// Why a command ends early: what goes to stderr, and the exit code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The whole text, with its line break.
    pub message: String,
    /// The exit code.
    pub exit: i32,
}

impl Failure {
    /// `error: …`
    pub fn error(message: impl std::fmt::Display) -> Failure {
        Failure { message: format!("error: {message}\n"), exit: 1 }
    }

    /// A message without `error: ` before it.
    pub fn plain(message: impl std::fmt::Display) -> Failure {
        Failure { message: format!("{message}\n"), exit: 1 }
    }
}
