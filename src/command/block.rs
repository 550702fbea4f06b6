//! A fenced block of Markdown as a `<loop-scope>` element: `loopscope view=nodes`, or `yaml play view=nodes`.
//!
//! `packages/npm/loopscope/block.mjs` and `packages/python/src/loopscope/block.py` follow the same rules; `packages/blocks.json` holds cases
//! that all three are tested with.

/// Languages whose blocks are embedded if their info string has the word `play`.
const PLAYED: [&str; 4] = ["yaml", "yml", "kubernetes", "k8s"];
/// Attributes of the element (`packages/npm/loopscope/embed.d.ts`).
const ATTRIBUTES: [&str; 19] = [
    "src",
    "hash",
    "lesson",
    "view",
    "speed",
    "pace",
    "autoplay",
    "start-at",
    "loop",
    "idle-time-limit",
    "markers",
    "pause-on-markers",
    "preload",
    "poster",
    "controls",
    "fit",
    "height",
    "theme",
    "title",
];

/// Word of an info string, with its value if it has one.
type Word = (String, Option<String>);

/// Returns the attributes of the element that an info string asks for, `None` for a block that is not embedded.
pub(super) fn attributes(info: &str) -> Result<Option<Vec<Word>>, String> {
    let (mut words, rest) = words(info);
    if words.is_empty() {
        return Ok(None);
    }
    let language = words.remove(0);
    let is_play = |word: &Word| word.0 == "play" && word.1.is_none();
    if language.1.is_some() {
        return Ok(None);
    }
    if language.0 != "loopscope" {
        if !PLAYED.contains(&language.0.as_str()) || !words.iter().any(is_play) {
            return Ok(None);
        }
        words.retain(|word| !is_play(word));
    }
    if !rest.is_empty() {
        return Err(format!("loopscope: cannot read {rest:?} in {info:?}"));
    }
    match words
        .iter()
        .find(|(name, _)| !ATTRIBUTES.contains(&name.as_str()))
    {
        Some((name, _)) => Err(format!(
            "loopscope: there is no attribute {name:?}; there are {}",
            ATTRIBUTES.join(", ")
        )),
        None => Ok(Some(words)),
    }
}

/// Returns the opening tag, the manifest in its `<pre>` if there is one, and the closing tag.
pub(super) fn element(attributes: &[Word], text: &str) -> (String, Option<String>, &'static str) {
    let open = attributes.iter().map(|(name, value)| match value {
        Some(value) => format!(" {name}=\"{}\"", escape(value)),
        None => format!(" {name}"),
    });
    let text = text.trim_end();
    let manifest = (!text.is_empty()).then(|| format!("<pre>\n{}\n</pre>", escape(text)));
    (
        format!("<loop-scope{}>", open.collect::<String>()),
        manifest,
        "</loop-scope>",
    )
}

/// Splits an info string at blanks, commas and braces; the second value is what cannot be read.
fn words(info: &str) -> (Vec<Word>, &str) {
    let is_separator = |c: char| c.is_whitespace() || matches!(c, ',' | '{' | '}');
    let is_end = |c: char| is_separator(c) || matches!(c, '"' | '\'');
    let mut words = Vec::new();
    let mut rest = info.trim_start_matches(is_separator);
    while !rest.is_empty() {
        let end = rest
            .find(|c: char| is_end(c) || c == '=')
            .unwrap_or(rest.len());
        if end == 0 {
            return (words, rest);
        }
        let (name, after) = rest.split_at(end);
        let Some(value) = after.strip_prefix('=') else {
            words.push((name.to_owned(), None));
            rest = after;
            if rest.starts_with(['"', '\'']) {
                return (words, rest);
            }
            rest = rest.trim_start_matches(is_separator);
            continue;
        };
        let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''));
        let (value, after) = match quote {
            Some(quote) => match value[1..].split_once(quote) {
                Some(parts) => parts,
                None => return (words, rest),
            },
            None => value.split_at(value.find(is_end).unwrap_or(value.len())),
        };
        words.push((name.to_owned(), Some(value.to_owned())));
        if after.starts_with(|c: char| !is_separator(c)) {
            return (words, after);
        }
        rest = after.trim_start_matches(is_separator);
    }
    (words, "")
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn blocks_become_the_shared_html() {
        let cases: Value = serde_json::from_str(include_str!("../../packages/blocks.json"))
            .expect("packages/blocks.json");
        for case in cases.as_array().expect("a list") {
            let info = case["info"].as_str().expect("info");
            let html = attributes(info).map(|found| {
                found.map(|attributes| {
                    let (open, manifest, close) =
                        element(&attributes, case["text"].as_str().unwrap_or(""));
                    match manifest {
                        Some(manifest) => format!("{open}\n{manifest}\n{close}"),
                        None => format!("{open}{close}"),
                    }
                })
            });
            match case["html"].as_str() {
                Some(expected) => assert_eq!(html, Ok(Some(expected.to_owned())), "{info}"),
                None if case["error"] == true => assert!(html.is_err(), "{info}: {html:?}"),
                None => assert_eq!(html, Ok(None), "{info}"),
            }
        }
    }
}
