//! What kubectl says about text that it cannot read.

use std::fmt::{self, Display, Formatter};
use std::str::Utf8Error;

/// What kubectl calls a text that was written to it.
pub const STDIN: &str = "STDIN";

/// What is wrong with a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextFault {
    /// It cannot be read.
    Parsing(String),
    /// It can be read, and is no object.
    Validating(String),
}

impl TextFault {
    /// kubectl's words for a text of that name, without the leading `error: `.
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

/// A fault of YAML, at a line of its document.
pub fn yaml(detail: &str) -> TextFault {
    TextFault::Parsing(format!("error converting YAML to JSON: yaml: {detail}"))
}

/// More text than is read.
pub fn too_large(limit: usize) -> TextFault {
    TextFault::Parsing(format!("Request entity too large: limit is {limit}"))
}

/// Bytes that are no UTF-8.
pub fn not_utf8(bytes: &[u8], error: Utf8Error) -> TextFault {
    let lead = bytes.get(error.valid_up_to()).copied().unwrap_or(0);
    yaml(match error.error_len() {
        None => "incomplete UTF-8 octet sequence",
        Some(_) if matches!(lead, 0xc2..=0xf4) => "invalid trailing UTF-8 octet",
        Some(_) => "invalid leading UTF-8 octet",
    })
}
