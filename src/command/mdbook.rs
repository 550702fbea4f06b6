//! `loopscope mdbook`: a preprocessor of mdBook that turns fenced blocks into embeds.

use super::block::{self, Word};
use super::{Language, picture, print};
use serde_json::Value;
use std::io;

/// Embeds the fenced blocks of an mdBook: command = "loopscope mdbook" in [preprocessor.loopscope] (docs/packages.md)
#[derive(clap::Args)]
pub(super) struct MdbookArgs {
    /// `supports RENDERER`, as mdBook asks; without it a book is read from standard input
    #[arg(num_args = 0..=2)]
    question: Vec<String>,
}

/// Folder of the page within the book, unless `folder` is set in `book.toml`.
const FOLDER: &str = "loopscope";

pub(super) fn mdbook(args: &MdbookArgs) -> Result<u8, String> {
    if let [word, renderer] = args.question.as_slice() {
        return match word.as_str() {
            "supports" => Ok(u8::from(renderer != "html")),
            _ => Err(format!("mdbook: unknown argument {word:?}")),
        };
    }
    let input: Value = serde_json::from_reader(io::stdin().lock())
        .map_err(|error| format!("mdbook: the input is not a book: {error}"))?;
    let (context, mut book) = (input[0].clone(), input[1].clone());
    let folder = context
        .pointer("/config/preprocessor/loopscope/folder")
        .and_then(Value::as_str)
        .unwrap_or(FOLDER);
    let language = context.pointer("/config/book/language");
    let is_chinese = language
        .and_then(Value::as_str)
        .is_some_and(|tag| tag.to_lowercase().starts_with("zh"));
    let lang = if is_chinese {
        Language::Zh
    } else {
        Language::En
    };
    let draw = |words: &[Word], text: &str| {
        let is_dark = block::value(words, "theme") == Some("dark");
        picture::still(text, block::value(words, "view"), is_dark, lang)
    };
    // mdBook 0.5 calls the list of chapters `items`, earlier versions `sections`.
    for list in ["items", "sections"] {
        embed_chapters(&mut book[list], folder, &draw)?;
    }
    if let Some(book) = book.as_object_mut() {
        book.retain(|_, value| !value.is_null());
        // Older versions want the field, empty as it is.
        if book.contains_key("sections") {
            book.insert("__non_exhaustive".to_owned(), Value::Null);
        }
    }
    print(&book.to_string())?;
    Ok(0)
}

/// Draws the manifest of a block as SVG, if it can.
type Draw<'a> = &'a dyn Fn(&[Word], &str) -> Option<String>;

fn embed_chapters(items: &mut Value, folder: &str, draw: Draw) -> Result<(), String> {
    for item in items.as_array_mut().into_iter().flatten() {
        let Some(chapter) = item.get_mut("Chapter") else {
            continue;
        };
        let path = chapter["path"].as_str().unwrap_or("").to_owned();
        let up = "../".repeat(path.split('/').count().saturating_sub(1));
        let script = format!("<script src=\"{up}{folder}/embed.js\" defer></script>");
        let text = chapter["content"].as_str().unwrap_or("");
        let text = embed_blocks(text, &script, draw).map_err(|words| format!("{path}: {words}"))?;
        chapter["content"] = text.into();
        embed_chapters(&mut chapter["sub_items"], folder, draw)?;
    }
    Ok(())
}

/// Replaces each block of a chapter that is to be embedded; the script follows the first.
fn embed_blocks(text: &str, script: &str, draw: Draw) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut lines = text.split_inclusive('\n');
    let mut has_script = false;
    while let Some(line) = lines.next() {
        let Some((indent, fence, info)) = opening(line) else {
            out.push_str(line);
            continue;
        };
        let mut body = Vec::new();
        let mut end = "";
        for line in lines.by_ref() {
            if is_closing(line, fence) {
                end = line;
                break;
            }
            body.push(line);
        }
        let Some(attributes) = block::attributes(info)? else {
            out.push_str(line);
            out.extend(body);
            out.push_str(end);
            continue;
        };
        let inner: String = body
            .iter()
            .map(|line| {
                line.strip_prefix(indent)
                    .unwrap_or(line.trim_start_matches([' ', '\t']))
            })
            .collect();
        let svg = block::is_drawn(&attributes, &inner).then(|| draw(&attributes, &inner));
        let element = block::element(&attributes, &inner, svg.flatten().as_deref());
        // Apart from each other: an element of Markdown ends at the first empty line, but <pre> does not.
        let script = (!has_script).then_some(script);
        let parts = [
            script,
            Some(element.open.as_str()),
            element.picture.as_deref(),
            element.manifest.as_deref(),
            Some(block::CLOSE),
        ];
        for part in parts.into_iter().flatten() {
            for line in part.lines() {
                out.push_str(indent);
                out.push_str(line);
                out.push('\n');
            }
            out.push('\n');
        }
        has_script = true;
    }
    Ok(out)
}

/// Reads the first line of a fenced block: indentation, fence, info string.
fn opening(line: &str) -> Option<(&str, &str, &str)> {
    let rest = line.trim_start_matches([' ', '\t']);
    let indent = &line[..line.len() - rest.len()];
    let mark = rest.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let info = rest.trim_start_matches(mark);
    let fence = &rest[..rest.len() - info.len()];
    let is_fence = fence.len() >= 3 && !(mark == '`' && info.contains('`'));
    is_fence.then_some((indent, fence, info.trim()))
}

fn is_closing(line: &str, fence: &str) -> bool {
    let line = line.trim();
    line.len() >= fence.len() && line.chars().all(|c| fence.starts_with(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nothing(_: &[Word], _: &str) -> Option<String> {
        None
    }

    #[test]
    fn blocks_have_the_pictures_that_can_be_drawn() {
        let draw = |words: &[Word], text: &str| {
            (text == "a: 1\n").then(|| format!("<svg><title>{}</title></svg>", words.len()))
        };
        let text = "```loopscope view=nodes\na: 1\n```\n```loopscope\nb: 2\n```\n";
        let expected = "S\n\n<loop-scope view=\"nodes\">\n\n<img src=\"data:image/svg+xml,%3Csvg%3E%3Ctitle%3E1%3C%2Ftitle%3E%3C%2Fsvg%3E\" alt=\"1\">\n\n<pre>\na: 1\n</pre>\n\n</loop-scope>\n\n<loop-scope>\n\n<pre>\nb: 2\n</pre>\n\n</loop-scope>\n\n";
        assert_eq!(embed_blocks(text, "S", &draw), Ok(expected.to_owned()));
        let drawn = picture::still(
            "kind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: c, image: c}]}\napiVersion: v1\n",
            Some("nodes"),
            true,
            Language::En,
        );
        assert!(drawn.is_some_and(|svg| svg.contains(">node-1<")));
        assert_eq!(picture::still("kind: [", None, false, Language::En), None);
        assert_eq!(
            picture::still("kind: Pod", Some("no"), false, Language::En),
            None
        );
    }

    #[test]
    fn blocks_of_a_chapter_are_replaced_and_others_stay() {
        let text = "Text\n\n```yaml\na: 1\n```\n\n- item\n\n  ````loopscope view=nodes\n  a: 1\n\n  b: <2>\n  ````\n\n~~~yaml play\nc: 3\n~~~\n";
        let expected = "Text\n\n```yaml\na: 1\n```\n\n- item\n\n  S\n\n  <loop-scope view=\"nodes\">\n\n  <pre>\n  a: 1\n  \n  b: &lt;2&gt;\n  </pre>\n\n  </loop-scope>\n\n\n<loop-scope>\n\n<pre>\nc: 3\n</pre>\n\n</loop-scope>\n\n";
        assert_eq!(embed_blocks(text, "S", &nothing), Ok(expected.to_owned()));
        let unclosed = "```yaml\na: 1\n";
        assert_eq!(
            embed_blocks(unclosed, "S", &nothing),
            Ok(unclosed.to_owned())
        );
        assert!(embed_blocks("```loopscope vew=nodes\n```\n", "S", &nothing).is_err());
    }
}
