//! Error messages of kubectl for text that it cannot parse.

use std::fmt::{self, Display, Formatter};
use std::str::Utf8Error;

/// Name that kubectl uses for standard input.
pub const STDIN: &str = "STDIN";

/// Error in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextFault {
    /// The text does not parse.
    Parsing(String),
    /// The text parses, but is not an object.
    Validating(String),
}

impl TextFault {
    /// Formats kubectl's message for a text of that name, without the leading `error: `.
    pub fn of(&self, source: &str) -> String {
        match self {
            TextFault::Parsing(detail) => format!("error parsing {source}: {detail}"),
            TextFault::Validating(detail) => format!(
                "error validating {source:?}: error validating data: {detail}; \
                 if you choose to ignore these errors, turn validation off with --validate=false"
            ),
        }
    }
}

impl Display for TextFault {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.of(STDIN))
    }
}

/// Builds a YAML error.
pub fn yaml(detail: &str) -> TextFault {
    TextFault::Parsing(format!("error converting YAML to JSON: yaml: {detail}"))
}

/// Builds the error for a text beyond the limit.
pub fn too_large(limit: usize) -> TextFault {
    TextFault::Parsing(format!("Request entity too large: limit is {limit}"))
}

/// Builds the error for bytes that are not UTF-8.
pub fn not_utf8(bytes: &[u8], error: Utf8Error) -> TextFault {
    let lead = bytes.get(error.valid_up_to()).copied().unwrap_or(0);
    yaml(match error.error_len() {
        None => "incomplete UTF-8 octet sequence",
        Some(_) if matches!(lead, 0xc2..=0xf4) => "invalid trailing UTF-8 octet",
        Some(_) => "invalid leading UTF-8 octet",
    })
}
