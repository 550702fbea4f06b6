//! Problems of files as text and as JSON.

use serde::Serialize;

/// Problem of a manifest or a lesson.
#[derive(Serialize)]
pub(super) struct FileProblem<'a> {
    pub file: &'a str,
    /// Line, from 1.
    pub line: usize,
    pub severity: Severity,
    /// Words of the API server, or of the check of a lesson; they may have several lines.
    pub message: String,
}

/// Severity of a problem: an error refuses the object, a warning does not.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Severity {
    Error,
    Warning,
}

impl FileProblem<'_> {
    /// Formats the problem as `FILE:LINE: message`.
    pub fn located(&self) -> String {
        format!("{}:{}: {}\n", self.file, self.line, self.message)
    }

    /// Formats the problem as `FILE:LINE: error: message`, each line of the message in its own line.
    pub fn rated(&self) -> String {
        let word = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let lines = self.message.lines();
        lines
            .map(|line| format!("{}:{}: {word}: {line}\n", self.file, self.line))
            .collect()
    }
}

/// Formats problems as JSON, an object a line.
pub(super) fn json_lines(problems: &[FileProblem]) -> String {
    problems
        .iter()
        .map(|problem| format!("{}\n", serde_json::json!(problem)))
        .collect()
}
