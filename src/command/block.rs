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
pub(super) type Word = (String, Option<String>);

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

/// Element of a block, in parts that stand apart from each other in Markdown.
#[derive(Debug, PartialEq)]
pub(super) struct Element {
    /// Opening tag.
    pub(super) open: String,
    /// Picture, shown without JavaScript and until the element has drawn its own.
    pub(super) picture: Option<String>,
    /// Manifest in its `<pre>`.
    pub(super) manifest: Option<String>,
}

/// Closing tag of an element.
pub(super) const CLOSE: &str = "</loop-scope>";

/// Returns the element of a block, with the picture that is drawn as SVG.
pub(super) fn element(attributes: &[Word], text: &str, svg: Option<&str>) -> Element {
    let open = attributes.iter().map(|(name, value)| match value {
        Some(value) => format!(" {name}=\"{}\"", escape(value)),
        None => format!(" {name}"),
    });
    let text = text.trim_end();
    Element {
        open: format!("<loop-scope{}>", open.collect::<String>()),
        picture: svg.map(image),
        manifest: (!text.is_empty()).then(|| format!("<pre>\n{}\n</pre>", escape(text))),
    }
}

/// Returns the value of an attribute.
pub(super) fn value<'a>(attributes: &'a [Word], name: &str) -> Option<&'a str> {
    let word = attributes.iter().find(|word| word.0 == name)?;
    word.1.as_deref()
}

/// Returns true if a picture can stand for the block: a manifest without a picture of its own.
pub(super) fn is_drawn(attributes: &[Word], text: &str) -> bool {
    let is_lesson = text.lines().any(|line| line.starts_with("lesson:"));
    !text.trim().is_empty() && !is_lesson && attributes.iter().all(|word| word.0 != "poster")
}

/// Returns an image that needs no file, described by the title of the SVG.
fn image(svg: &str) -> String {
    let title = svg
        .split_once("<title>")
        .and_then(|(_, rest)| rest.split_once("</title>"))
        .map_or("", |(title, _)| title);
    let alt = title.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut source = String::with_capacity(svg.len() * 3 / 2);
    // As encodeURIComponent does.
    for byte in svg.trim().bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' => source.push(byte.into()),
            b'-' | b'_' | b'.' | b'!' | b'~' | b'*' | b'\'' | b'(' | b')' => {
                source.push(byte.into())
            }
            _ => source.push_str(&format!("%{byte:02X}")),
        }
    }
    format!(
        "<img src=\"data:image/svg+xml,{source}\" alt=\"{}\">",
        alt.replace('"', "&quot;")
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
    fn manifests_without_a_poster_are_drawn() {
        let is_drawn_of = |info, text| {
            let words = attributes(info).ok().flatten().expect("a block");
            is_drawn(&words, text)
        };
        assert!(is_drawn_of("loopscope", "kind: Pod"));
        assert!(!is_drawn_of("loopscope poster=a.svg", "kind: Pod"));
        assert!(!is_drawn_of("loopscope", "lesson: 1\n"));
        assert!(!is_drawn_of("loopscope lesson=undo", " \n"));
    }

    #[test]
    fn blocks_become_the_shared_html() {
        let cases: Value = serde_json::from_str(include_str!("../../packages/blocks.json"))
            .expect("packages/blocks.json");
        for case in cases.as_array().expect("a list") {
            let info = case["info"].as_str().expect("info");
            let html = attributes(info).map(|found| {
                found.map(|attributes| {
                    let text = case["text"].as_str().unwrap_or("");
                    let found = element(&attributes, text, case["svg"].as_str());
                    let inner: Vec<String> = [found.picture, found.manifest]
                        .into_iter()
                        .flatten()
                        .collect();
                    match inner.is_empty() {
                        false => format!("{}\n{}\n{CLOSE}", found.open, inner.join("\n")),
                        true => format!("{}{CLOSE}", found.open),
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
