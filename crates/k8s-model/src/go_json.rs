//! Errors of malformed JSON in the words of Go's decoder.
//!
//! Models `encoding/json/scanner.go`, which `sigs.k8s.io/json` shares.

use crate::schema::json_type;
use std::borrow::Cow;

/// Maximum nesting.
const MAX_DEPTH: usize = 10_000;

/// Go's type of the fields that name the kind of an object.
const TYPE_META: &str = "struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }";

/// Returns the error of a text that is no JSON; `None` if its syntax is valid.
pub fn syntax_error(text: &[u8]) -> Option<String> {
    Scanner {
        text,
        at: 0,
        closing: Vec::new(),
    }
    .scan()
    .err()
}

/// Returns the error of a value without fields in place of an object that names its kind.
pub fn no_object(value: &serde_json::Value) -> String {
    let kind = json_type(value, false);
    format!("json: cannot unmarshal {kind} into Go value of type {TYPE_META}")
}

/// Returns the error of a text that is no JSON object.
pub fn map_error(text: &[u8]) -> Option<String> {
    let kind = match serde_json::from_slice::<serde_json::Value>(text) {
        Ok(serde_json::Value::Object(_) | serde_json::Value::Null) => return None,
        Ok(value) => json_type(&value, false),
        Err(_) => return syntax_error(text),
    };
    let target = "Go value of type map[string]interface {}";
    Some(format!("json: cannot unmarshal {kind} into {target}"))
}

/// Returns a text in which what is no Unicode is replaced, as Go's decoder does in strings: invalid bytes, and halves of surrogate pairs.
pub fn readable(text: &[u8]) -> Cow<'_, [u8]> {
    let valid = String::from_utf8_lossy(text);
    if !valid.contains("\\u") {
        return match valid {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            Cow::Owned(valid) => Cow::Owned(valid.into_bytes()),
        };
    }
    let bytes = valid.as_bytes();
    let unit = |at: usize| {
        let escape = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u16::from_str_radix(std::str::from_utf8(escape).ok()?, 16).ok()
    };
    let (mut whole, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while at < bytes.len() {
        let length = match unit(at) {
            Some(0xd800..=0xdbff) if matches!(unit(at + 6), Some(0xdc00..=0xdfff)) => 12,
            Some(0xd800..=0xdfff) => {
                whole.extend_from_slice(b"\\ufffd");
                at += 6;
                continue;
            }
            Some(_) => 6,
            // A backslash escapes the character after it.
            None if bytes[at] == b'\\' => 2,
            None => 1,
        };
        let end = bytes.len().min(at + length);
        whole.extend_from_slice(&bytes[at..end]);
        at = end;
    }
    Cow::Owned(whole)
}

struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
    /// Closing characters of the open objects and arrays.
    closing: Vec<u8>,
}

impl Scanner<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    /// Returns the error of the next character, or of the end.
    fn wrong(&self, context: &str) -> String {
        match self.peek() {
            None => "unexpected end of JSON input".to_owned(),
            Some(b'\'') => format!("invalid character '\\'' {context}"),
            Some(b'"') => format!("invalid character '\"' {context}"),
            Some(byte @ (0..=8 | 11 | 12 | 14..=31 | 127..=159)) => {
                format!("invalid character '\\x{byte:02x}' {context}")
            }
            Some(b'\n') => format!("invalid character '\\n' {context}"),
            Some(b'\r') => format!("invalid character '\\r' {context}"),
            Some(b'\t') => format!("invalid character '\\t' {context}"),
            Some(b'\\') => format!("invalid character '\\\\' {context}"),
            Some(byte) => format!("invalid character '{}' {context}", char::from(byte)),
        }
    }

    fn expect(&mut self, byte: u8, context: &str) -> Result<(), String> {
        if self.peek() != Some(byte) {
            return Err(self.wrong(context));
        }
        self.at += 1;
        Ok(())
    }

    fn scan(&mut self) -> Result<(), String> {
        loop {
            self.value()?;
            // A value may close any number of objects and arrays.
            loop {
                self.blanks();
                let Some(&closing) = self.closing.last() else {
                    return match self.peek() {
                        None => Ok(()),
                        Some(_) => Err(self.wrong("after top-level value")),
                    };
                };
                if self.peek() == Some(closing) {
                    self.at += 1;
                    self.closing.pop();
                    continue;
                }
                let is_object = closing == b'}';
                self.expect(
                    b',',
                    match is_object {
                        true => "after object key:value pair",
                        false => "after array element",
                    },
                )?;
                if is_object {
                    self.key()?;
                }
                break;
            }
        }
    }

    fn key(&mut self) -> Result<(), String> {
        self.blanks();
        self.expect(b'"', "looking for beginning of object key string")?;
        self.string()?;
        self.blanks();
        self.expect(b':', "after object key")
    }

    /// Scans a scalar or an empty object or array, or opens one with its first key.
    fn value(&mut self) -> Result<(), String> {
        loop {
            self.blanks();
            match self.peek() {
                Some(open @ (b'{' | b'[')) => {
                    if self.closing.len() >= MAX_DEPTH {
                        return Err(self.wrong("exceeded max depth"));
                    }
                    self.at += 1;
                    self.blanks();
                    let closing = if open == b'{' { b'}' } else { b']' };
                    if self.peek() == Some(closing) {
                        self.at += 1;
                        return Ok(());
                    }
                    self.closing.push(closing);
                    if open == b'{' {
                        self.key()?;
                    }
                }
                Some(b'"') => {
                    self.at += 1;
                    return self.string();
                }
                Some(b'-' | b'0'..=b'9') => return self.number(),
                Some(b't') => return self.word("true"),
                Some(b'f') => return self.word("false"),
                Some(b'n') => return self.word("null"),
                _ => return Err(self.wrong("looking for beginning of value")),
            }
        }
    }

    fn word(&mut self, word: &str) -> Result<(), String> {
        for byte in word.bytes() {
            let expected = char::from(byte);
            self.expect(byte, &format!("in literal {word} (expecting '{expected}')"))?;
        }
        Ok(())
    }

    /// Scans the rest of a string.
    fn string(&mut self) -> Result<(), String> {
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => {
                    self.at += 1;
                    match self.peek() {
                        Some(b'b' | b'f' | b'n' | b'r' | b't' | b'\\' | b'/' | b'"') => {
                            self.at += 1;
                        }
                        Some(b'u') => {
                            self.at += 1;
                            for _ in 0..4 {
                                if !self.peek().is_some_and(|byte| byte.is_ascii_hexdigit()) {
                                    return Err(self.wrong("in \\u hexadecimal character escape"));
                                }
                                self.at += 1;
                            }
                        }
                        _ => return Err(self.wrong("in string escape code")),
                    }
                }
                None | Some(0..=0x1f) => return Err(self.wrong("in string literal")),
                Some(_) => self.at += 1,
            }
        }
    }

    fn digits(&mut self, context: &str) -> Result<(), String> {
        if !self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            return Err(self.wrong(context));
        }
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        Ok(())
    }

    fn number(&mut self) -> Result<(), String> {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits("in numeric literal")?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits("after decimal point in numeric literal")?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits("in exponent of numeric literal")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_unicode_is_replaced() {
        for (text, read) in [
            (&b"{\"a\": 1}"[..], "{\"a\": 1}"),
            (b"\"\xff\"", "\"\u{fffd}\""),
            (b"\"\\ud800\"", "\"\\ufffd\""),
            (
                b"\"\\ud83d\\ude00 \\\\ud800\"",
                "\"\\ud83d\\ude00 \\\\ud800\"",
            ),
        ] {
            assert_eq!(readable(text), read.as_bytes());
        }
    }

    #[test]
    fn malformed_json_is_refused_in_words_of_go() {
        for (text, error) in [
            ("", "unexpected end of JSON input"),
            ("{\"a\":", "unexpected end of JSON input"),
            ("{\"a\":1}x", "invalid character 'x' after top-level value"),
            (
                "{'a':1}",
                "invalid character '\\'' looking for beginning of object key string",
            ),
            (
                "// c",
                "invalid character '/' looking for beginning of value",
            ),
            ("{\"a\" 1}", "invalid character '1' after object key"),
            ("[1 2]", "invalid character '2' after array element"),
            (
                "{\"a\":1 \"b\"}",
                "invalid character '\"' after object key:value pair",
            ),
            ("\"\\q\"", "invalid character 'q' in string escape code"),
            ("\"\n\"", "invalid character '\\n' in string literal"),
            (
                "nul!",
                "invalid character '!' in literal null (expecting 'l')",
            ),
            (
                "1.x",
                "invalid character 'x' after decimal point in numeric literal",
            ),
            (
                "\u{feff}{}",
                "invalid character 'ï' looking for beginning of value",
            ),
        ] {
            assert_eq!(
                syntax_error(text.as_bytes()).as_deref(),
                Some(error),
                "{text}"
            );
        }
        let deep = syntax_error("[".repeat(MAX_DEPTH + 1).as_bytes());
        assert_eq!(
            deep.as_deref(),
            Some("invalid character '[' exceeded max depth")
        );
        assert_eq!(
            syntax_error(b" {\"a\": [1, -2.5e3, {}, [], \"\\u00e4\", true, null]} "),
            None
        );
    }
}
