//! KYAML output: YAML in flow style, with quoted text and trailing commas.
//!
//! Models `sigs.k8s.io/yaml/kyaml`.

use serde_json::Value;

/// Formats a document with its separator and a final line break.
pub fn print(value: &Value) -> String {
    let mut out = "---\n".to_owned();
    node(&mut out, value, 0);
    out.push('\n');
    out
}

fn line(out: &mut String, indent: usize) {
    out.push('\n');
    out.push_str(&"  ".repeat(indent));
}

fn node(out: &mut String, value: &Value, indent: usize) {
    match value {
        Value::Object(map) if map.is_empty() => out.push_str("{}"),
        Value::Array(items) if items.is_empty() => out.push_str("[]"),
        Value::Object(map) => {
            out.push('{');
            for (key, value) in map {
                line(out, indent + 1);
                if is_plain(key) {
                    out.push_str(key)
                } else {
                    text(out, key, None)
                }
                out.push_str(": ");
                node(out, value, indent + 1);
                out.push(',');
            }
            line(out, indent);
            out.push('}');
        }
        // Structs and lists begin on the line of their bracket.
        Value::Array(items) if items.iter().all(|item| item.is_object() || item.is_array()) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index > 0 { ", " } else { "" });
                node(out, item, indent);
            }
            out.push(']');
        }
        Value::Array(items) => {
            out.push('[');
            for item in items {
                line(out, indent + 1);
                node(out, item, indent + 1);
                out.push(',');
            }
            line(out, indent);
            out.push(']');
        }
        Value::String(string) => text(out, string, Some(indent + 1)),
        other => out.push_str(&other.to_string()),
    }
}

/// Writes quoted text; multi-line text is split into lines if an indent is given.
fn text(out: &mut String, text: &str, indent: Option<usize>) {
    let folded = indent.filter(|_| text.contains('\n'));
    let lead = folded.map(|indent| "  ".repeat(indent)).unwrap_or_default();
    out.push('"');
    let mut begins = folded.is_some();
    if begins {
        out.push_str("\\\n");
    }
    for c in text.chars() {
        if begins {
            out.push_str(&lead);
            out.push(if c.is_whitespace() && c != '\n' {
                '\\'
            } else {
                ' '
            });
        }
        begins = c == '\n' && folded.is_some();
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' if begins => out.push_str("\\n\\\n"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\0' => out.push_str("\\0"),
            '\u{1b}' => out.push_str("\\e"),
            c if c.is_control() => out.push_str(&format!("\\x{:02x}", c as u32)),
            c => out.push(c),
        }
    }
    if folded.is_some() {
        out.push_str(if begins { "" } else { "\\\n" });
        out.push_str(&lead);
    }
    out.push('"');
}

/// Returns true if an unquoted key is read as text.
fn is_plain(key: &str) -> bool {
    const WORDS: [&str; 13] = [
        "null", "~", "true", "t", "y", "yes", "on", "false", "f", "n", "no", "off", "nan",
    ];
    let last = key.chars().count().saturating_sub(1);
    let fits = |(at, c): (usize, char)| {
        c.is_alphanumeric() || c == '_' || (0 < at && at < last && matches!(c, '-' | '.' | '/'))
    };
    let number = || {
        let plain = key.replace('_', "");
        let based = ["0x", "0o", "0b"]
            .iter()
            .any(|base| plain.to_ascii_lowercase().starts_with(base));
        let date = plain.len() >= 8
            && plain.as_bytes()[..4].iter().all(u8::is_ascii_digit)
            && plain.as_bytes()[4] == b'-';
        plain.parse::<f64>().is_ok() || based || date
    };
    !key.is_empty()
        && !WORDS.contains(&key.to_ascii_lowercase().as_str())
        && key.chars().enumerate().all(fits)
        && !number()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_object_is_in_flow_form() {
        let object = json!({"kind": "Pod", "spec": {"containers": [{"name": "c", "args": ["a", "no"]}, {"name": "d"}], "on": true, "n": null},
            "data": {"a.b/c": "x\n y\n", "8080": "\"q\"", "-x": "", "two": "a\nb"}, "empty": {}, "none": []});
        let wanted = "---\n{\n  data: {\n    \"-x\": \"\",\n    \"8080\": \"\\\"q\\\"\",\n    a.b/c: \"\\\n       x\\n\\\n      \\ y\\n\\\n      \",\n    \
            two: \"\\\n       a\\n\\\n       b\\\n      \",\n  },\n  empty: {},\n  kind: \"Pod\",\n  none: [],\n  spec: {\n    containers: [{\n      \
            args: [\n        \"a\",\n        \"no\",\n      ],\n      name: \"c\",\n    }, {\n      name: \"d\",\n    }],\n    \"n\": null,\n    \
            \"on\": true,\n  },\n}\n";
        let printed = print(&object);
        assert_eq!(printed, wanted, "{printed}");
        let read = manifest::parse(printed.as_bytes());
        assert_eq!(read.documents[0].value, object);
    }
}
