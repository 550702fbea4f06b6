//! Base64 in the form used for the values of Secrets.

use ::base64::Engine as _;
use ::base64::engine::general_purpose::STANDARD;

/// Encodes bytes.
pub fn encoded(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Decodes a text; `None` if it is not base64.
pub fn bytes(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text).ok()
}

/// Decodes a text into UTF-8 text; returns it unchanged if it is not base64.
pub fn decoded(text: &str) -> String {
    bytes(text)
        .and_then(|bytes| String::from_utf8(bytes).ok())
        .unwrap_or_else(|| text.to_string())
}
