//! Base64, as Secrets hold their values.

use ::base64::Engine as _;
use ::base64::engine::general_purpose::STANDARD;

/// Bytes as text.
pub fn encoded(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// The bytes behind a text; none if it is no base64.
pub fn bytes(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text).ok()
}

/// The text behind a text; what is no base64 stands as it is.
pub fn decoded(text: &str) -> String {
    bytes(text)
        .and_then(|bytes| String::from_utf8(bytes).ok())
        .unwrap_or_else(|| text.to_string())
}
