//! What kubectl says about text that it cannot read.

use std::str::Utf8Error;

/// A fault of YAML, at a line of its document.
pub fn yaml(detail: &str) -> String {
    format!("error parsing STDIN: error converting YAML to JSON: yaml: {detail}")
}

/// A fault of something that is YAML but no object.
pub fn validating(detail: &str) -> String {
    format!(
        "error validating \"STDIN\": error validating data: {detail}; \
         if you choose to ignore these errors, turn validation off with --validate=false"
    )
}

/// More text than is read.
pub fn too_large(limit: usize) -> String {
    format!("error parsing STDIN: Request entity too large: limit is {limit}")
}

/// Bytes that are no UTF-8.
pub fn not_utf8(bytes: &[u8], error: Utf8Error) -> String {
    let lead = bytes.get(error.valid_up_to()).copied().unwrap_or(0);
    yaml(match error.error_len() {
        None => "incomplete UTF-8 octet sequence",
        Some(_) if matches!(lead, 0xc2..=0xf4) => "invalid trailing UTF-8 octet",
        Some(_) => "invalid leading UTF-8 octet",
    })
}
