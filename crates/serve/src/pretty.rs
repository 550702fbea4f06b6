//! Answers for people: JSON over several lines, and YAML.
//!
//! Models `isPrettyPrint` of `apiserver/pkg/endpoints/handlers/negotiation/negotiate.go`.

use super::http_request::HttpRequest;
use super::status::Answer;
use kubectl::printers::yaml;
use serde_json::Value;

/// Returns true if the client prefers pretty output: it says so, or it is one used interactively.
pub fn is_wanted(request: &HttpRequest) -> bool {
    let person = || {
        ["curl", "Wget", "Mozilla/5.0"]
            .iter()
            .any(|name| request.header("user-agent").starts_with(name))
    };
    match request.path.trim_end_matches('/') {
        "" | "/version" => true,
        path if path == "/api"
            || path == "/apis"
            || path.starts_with("/api/")
            || path.starts_with("/apis/") =>
        {
            match request.option("pretty") {
                "" => person(),
                word => matches!(word, "1" | "t" | "T" | "true" | "TRUE" | "True"),
            }
        }
        _ => false,
    }
}

/// Converts an answer to YAML.
pub fn as_yaml(answer: Answer) -> Answer {
    match serde_json::from_slice::<Value>(&answer.body) {
        Ok(value) => Answer {
            content_type: "application/yaml",
            body: yaml::print(&value).into_bytes(),
            ..answer
        },
        Err(_) => answer,
    }
}

/// Indents JSON as Go does, by two spaces.
pub fn indented(json: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(json.len() * 2);
    let (mut depth, mut in_string, mut escaped) = (0, false, false);
    let line = |out: &mut Vec<u8>, depth: usize| {
        out.push(b'\n');
        out.extend(std::iter::repeat_n(b' ', depth * 2));
    };
    for (at, byte) in json.iter().enumerate() {
        if in_string {
            in_string = escaped || *byte != b'"';
            escaped = !escaped && *byte == b'\\';
            out.push(*byte);
            continue;
        }
        match byte {
            b'{' | b'[' => {
                out.push(*byte);
                depth += 1;
                if !matches!(json.get(at + 1), Some(b'}' | b']')) {
                    line(&mut out, depth);
                }
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                if !matches!(out.last(), Some(b'{' | b'[')) {
                    line(&mut out, depth);
                }
                out.push(*byte);
            }
            b',' => {
                out.push(b',');
                line(&mut out, depth);
            }
            b':' => out.extend(b": "),
            b'"' => {
                in_string = true;
                out.push(b'"');
            }
            _ => out.push(*byte),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::indented;
    use serde_json::{Value, json};

    #[test]
    fn json_is_indented_like_gos() {
        let value = json!({ "a": [], "b": {}, "c": [1, -2.5e3, null, true], "d": { "e": "{\"x\": [1,\\2]}\\", "f": "\\\"," }, "g": [[{}]], "h": "" });
        let text = String::from_utf8(indented(value.to_string().as_bytes())).unwrap();
        assert_eq!(text, serde_json::to_string_pretty(&value).unwrap());
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
    }
}
