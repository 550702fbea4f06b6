//! The snippet for other pages, and its options.

use super::dom;
use super::language::say;
use i18n::{Constant, Message, msg};
use views::view::View;
use web_sys::HtmlSelectElement;
use yew::prelude::*;

/// Value and label of an option.
type Choice = (&'static str, Constant);

/// Options of the frame: its theme, its height in pixels, and autoplay. The values are those of the element's attributes.
const THEMES: [Choice; 3] = [
    ("", || msg::theme_system()),
    ("light", || msg::theme_light()),
    ("dark", || msg::theme_dark()),
];
const HEIGHTS: [Choice; 3] = [
    ("320", || msg::embed_height_low()),
    ("", || msg::embed_height_medium()),
    ("560", || msg::embed_height_high()),
];
const LANGUAGES: [Choice; 3] = [
    ("", || msg::embed_language_around()),
    ("en", || Message::name("English")),
    ("zh", || Message::name("简体中文")),
];
/// Contents of the frame: the page as its author sees it, or the manifest alone.
const CONTENTS: [Choice; 2] = [
    ("", || msg::embed_contents_now()),
    (ALONE, || msg::embed_contents_manifest()),
];
const ALONE: &str = "manifest";
const PLAYS: [Choice; 2] = [
    ("1", || msg::embed_start_load()),
    ("", || msg::embed_start_click()),
];

/// Chosen values in the order of the form: diagram, theme, height, autoplay, language, contents.
pub fn chosen() -> Vec<String> {
    let Ok(all) = dom::document().query_selector_all(".choices select") else {
        return Vec::new();
    };
    let selects = (0..all.length())
        .filter_map(|at| wasm_bindgen::JsCast::dyn_into::<HtmlSelectElement>(all.item(at)?).ok());
    selects.map(|select| select.value()).collect()
}

/// Returns true if the frame is to show the page as it is, with its history.
pub fn is_of_now(chosen: &[String]) -> bool {
    chosen.get(5).is_none_or(|contents| contents != ALONE)
}

/// Draws the form with the chosen values. `done`: there is a history that the frame could include.
pub fn choices(chosen: &[String], view: &View, done: bool, onchange: Callback<Event>) -> Html {
    let views = views::ALL
        .iter()
        .map(|view| (view.id, (view.title)()))
        .collect::<Vec<_>>();
    let of = |all: &[Choice]| {
        all.iter()
            .map(|(value, words)| (*value, words()))
            .collect::<Vec<_>>()
    };
    let picker = |at: usize, name: Message, of: &[(&'static str, Message)], usual: &'static str| {
        let now = chosen.get(at).map_or(usual, String::as_str);
        let options = of.iter().map(|(value, words)| html! { <option value={*value} selected={*value == now}>{ say(words) }</option> });
        html! { <label>{ say(name) }<span class="picker"><select>{ for options }</select>{ dom::icon("i-down", 14) }</span></label> }
    };
    html! { <div class="grid choices" onchange={onchange}>{ picker(0, msg::embed_diagram(), &views, view.id) }{ picker(1, msg::embed_theme(), &of(&THEMES), "") }{ picker(2, msg::embed_height(), &of(&HEIGHTS), "") }{ picker(3, msg::embed_start(), &of(&PLAYS), "1") }{ picker(4, msg::embed_language(), &of(&LANGUAGES), "") }if done { { picker(5, msg::embed_contents(), &of(&CONTENTS), "") } }</div> }
}

/// Contents with which a frame opens.
#[derive(Clone, Copy, Debug)]
pub enum Opens<'a> {
    /// Lesson of the library, by its name.
    Lesson(&'a str),
    /// Fragment of a link.
    Link(&'a str),
}

/// Address of the pasted frame, as `embed.js` writes it in a page of this language.
pub fn address(
    page: &str,
    opens: Opens<'_>,
    view: &View,
    chosen: &[String],
    around: &str,
) -> String {
    let of = |at: usize, usual: &'static str| chosen.get(at).map_or(usual, String::as_str);
    let given = |name: &str, value: &str| {
        if value.is_empty() {
            String::new()
        } else {
            ["&", name, "=", value].concat()
        }
    };
    let (lesson, hash) = match opens {
        Opens::Lesson(name) => (name, ""),
        Opens::Link(hash) => ("", hash),
    };
    // A lesson selects its own diagrams.
    let view = if lesson.is_empty() {
        of(0, view.id)
    } else {
        ""
    };
    [
        page,
        "?embed=",
        &given("lesson", lesson),
        &given("view", view),
        &given("theme", of(1, "")),
        &given("autoplay", of(3, "1")),
        &given(
            "lang",
            Some(of(4, ""))
                .filter(|lang| !lang.is_empty())
                .unwrap_or(around),
        ),
        hash,
    ]
    .concat()
}

/// Height in pixels.
pub fn height(chosen: &[String]) -> String {
    chosen
        .get(2)
        .filter(|height| !height.is_empty())
        .map_or_else(|| "420".into(), String::clone)
}

/// Fallback without JavaScript: a link to the page, and the manifest.
fn fallback(page: &str, opens: Opens<'_>, manifest: &str) -> String {
    let (query, text) = match opens {
        Opens::Lesson(name) => (["?lesson=", name].concat(), ""),
        Opens::Link(hash) => (hash.to_owned(), manifest.trim_end()),
    };
    let escaped = text
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    let yaml = if escaped.is_empty() {
        String::new()
    } else {
        ["\n  <pre>\n", &escaped, "\n</pre>"].concat()
    };
    [
        "\n  <a href=\"",
        page,
        &query,
        "\">",
        &say(msg::embed_fallback()),
        "</a>",
        &yaml,
        "\n",
    ]
    .concat()
}

/// Builds the snippet for the page at an address.
pub fn snippet(
    page: &str,
    opens: Opens<'_>,
    view: &View,
    chosen: &[String],
    manifest: &str,
) -> String {
    let home = page.rsplit_once('/').map_or(page, |(home, _)| home);
    let of = |at: usize, usual: &'static str| chosen.get(at).map_or(usual, String::as_str);
    let given = |name: &str, value: &str| {
        if value.is_empty() {
            String::new()
        } else {
            [" ", name, "=\"", value, "\""].concat()
        }
    };
    [
        "<script src=\"",
        home,
        "/embed.js\" async></script>\n<loop-scope",
        &given(
            "view",
            if matches!(opens, Opens::Lesson(_)) {
                ""
            } else {
                of(0, view.id)
            },
        ),
        &given("theme", of(1, "")),
        &given("height", of(2, "")),
        &given("autoplay", of(3, "1")),
        &given("lang", of(4, "")),
        "\n ",
        &match opens {
            Opens::Lesson(name) => given("lesson", name),
            Opens::Link(hash) => given("hash", hash.trim_start_matches('#')),
        },
        ">",
        &fallback(page, opens, manifest),
        "</loop-scope>",
    ]
    .concat()
}
