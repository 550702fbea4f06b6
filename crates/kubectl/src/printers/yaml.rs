//! YAML output, quoted and folded as in kubectl.
//!
//! Models the output of `sigs.k8s.io/yaml`: keys in order, lists not indented, text quoted only if it would be parsed as another type.

use serde_json::Value;

/// Column after which plain and quoted text is broken.
const WIDTH: usize = 80;

/// Formats a document, with a final line break.
pub fn print(value: &Value) -> String {
    let mut text = String::new();
    node(&mut text, value, 0, false);
    text
}

/// Writes a value at the cursor; `inline` is set if a key or a dash precedes it.
fn node(out: &mut String, value: &Value, indent: usize, inline: bool) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            for (index, (key, value)) in map.iter().enumerate() {
                if index > 0 || (inline && !out.ends_with("- ")) {
                    line(out, indent);
                }
                scalar(out, key, indent, true);
                out.push(':');
                after_key(out, value, indent);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for item in items {
                if !out.is_empty() && !out.ends_with("- ") {
                    line(out, indent);
                }
                out.push_str("- ");
                node(out, item, indent + 2, true);
            }
        }
        _ => leaf(out, value, indent),
    }
    if !inline && !out.ends_with('\n') {
        out.push('\n');
    }
}

fn after_key(out: &mut String, value: &Value, indent: usize) {
    match value {
        Value::Object(map) if !map.is_empty() => node(out, value, indent + 2, true),
        Value::Array(items) if !items.is_empty() => node(out, value, indent, true),
        _ => {
            out.push(' ');
            leaf(out, value, indent);
        }
    }
}

fn line(out: &mut String, indent: usize) {
    if !out.ends_with('\n') {
        out.push('\n');
    }
    out.extend(std::iter::repeat_n(' ', indent));
}

fn leaf(out: &mut String, value: &Value, indent: usize) {
    match value {
        Value::String(text) => scalar(out, text, indent + 2, false),
        other => out.push_str(&other.to_string()),
    }
}

fn scalar(out: &mut String, text: &str, indent: usize, key: bool) {
    if looks_like_something_else(text) {
        double_quoted(out, text);
    } else if text.contains('\n') && !key && !has_specials(text) {
        literal(out, text, indent);
    } else if has_specials(text) || text.contains('\n') {
        double_quoted(out, text);
    } else if plain_allowed(text) {
        folded(out, text, indent, key);
    } else {
        let quoted = format!("'{}'", text.replace('\'', "''"));
        folded(out, &quoted, indent, key);
    }
}

/// Returns true if plain text would be parsed as a boolean, a number, a time or null.
fn looks_like_something_else(text: &str) -> bool {
    let known = [
        "", "~", "null", "Null", "NULL", "y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE",
        "on", "On", "ON", "n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off",
        "OFF", ".nan", ".NaN", ".NAN", ".inf", ".Inf", ".INF", "+.inf", "-.inf", "<<",
    ];
    known.contains(&text) || is_number(text) || is_time(text)
}

fn is_number(text: &str) -> bool {
    let plain: String = text.chars().filter(|c| *c != '_').collect();
    let digits = plain.strip_prefix(['-', '+']).unwrap_or(&plain);
    if !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') || digits == "." {
        return false;
    }
    if let Some(hex) = digits.strip_prefix("0x") {
        return !hex.is_empty() && hex.bytes().all(|b| b.is_ascii_hexdigit());
    }
    if let Some(small) = digits.strip_prefix("0o").or(digits.strip_prefix("0b")) {
        return !small.is_empty() && small.bytes().all(|b| b.is_ascii_digit());
    }
    let exact = digits
        .bytes()
        .all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-'));
    // Numbers of base 60, such as `10:30`, are numbers in YAML 1.1.
    let sixty = digits.contains(':')
        && digits
            .bytes()
            .all(|b| b.is_ascii_digit() || matches!(b, b':' | b'.'));
    exact && digits.parse::<f64>().is_ok() || sixty && !digits.ends_with(':')
}

fn is_time(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() >= 8
        && bytes[..4].iter().all(u8::is_ascii_digit)
        && bytes[4] == b'-'
        && text.bytes().all(|b| {
            b.is_ascii_digit() || matches!(b, b'-' | b':' | b'.' | b'T' | b't' | b'Z' | b' ' | b'+')
        })
        && text.matches('-').count() >= 2
}

fn has_specials(text: &str) -> bool {
    text.chars()
        .any(|c| c.is_control() && c != '\n' || matches!(c, '\u{85}' | '\u{a0}' | '\u{feff}'))
        || text.starts_with('\n') && text.trim().is_empty()
}

fn plain_allowed(text: &str) -> bool {
    let first = text.chars().next().unwrap_or(' ');
    let follows = text.chars().nth(1).is_none_or(|c| c == ' ');
    let bad_start = matches!(
        first,
        '#' | ','
            | '['
            | ']'
            | '{'
            | '}'
            | '&'
            | '*'
            | '!'
            | '|'
            | '>'
            | '\''
            | '"'
            | '%'
            | '@'
            | '`'
    ) || matches!(first, '-' | '?' | ':') && follows
        || text.starts_with("---")
        || text.starts_with("...");
    let bad_inside = text.contains(": ") || text.contains(" #") || text.ends_with(':');
    !bad_start && !bad_inside && !text.starts_with(' ') && !text.ends_with(' ')
}

/// Folds long text at spaces; continuation lines are indented.
fn folded(out: &mut String, text: &str, indent: usize, key: bool) {
    if key {
        return out.push_str(text);
    }
    let start = out.rfind('\n').map_or(0, |i| i + 1);
    let mut column = out[start..].chars().count();
    let chars: Vec<char> = text.chars().collect();
    for (index, c) in chars.iter().enumerate() {
        let lone = *c == ' '
            && chars.get(index + 1).is_some_and(|next| *next != ' ')
            && index > 0
            && chars[index - 1] != ' ';
        if lone && column > WIDTH {
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', indent));
            column = indent;
        } else {
            out.push(*c);
            column += 1;
        }
    }
}

fn double_quoted(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if c.is_control() => out.push_str(&format!("\\x{:02X}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
}

fn literal(out: &mut String, text: &str, indent: usize) {
    out.push('|');
    if text.starts_with(' ') || text.starts_with('\n') {
        out.push('2');
    }
    let body = text.strip_suffix('\n').unwrap_or(text);
    if !text.ends_with('\n') {
        out.push('-');
    } else if body.ends_with('\n') || body.is_empty() {
        out.push('+');
    }
    for row in body.split('\n') {
        out.push('\n');
        if !row.is_empty() {
            out.extend(std::iter::repeat_n(' ', indent));
            out.push_str(row);
        }
    }
    out.push('\n');
}
