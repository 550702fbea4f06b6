//! Help: the purpose of the page, things to try, the keys, the words, and what is simulated.

use super::dom::{document, icon};
use super::language::{Lang, current, say};
use i18n::{Constant, Message, msg};
use lesson::glossary::TERMS;
use session::simulated::{self, Treatment};
use yew::prelude::*;

const KEYS: [(&str, Constant); 27] = [
    ("Space", || msg::key_play()),
    ("→ ←", || msg::key_reconcile()),
    (".  ,", || msg::key_second()),
    ("]  [", || msg::key_action()),
    (">  <", || msg::key_speed()),
    ("c", || msg::key_pace()),
    ("a  b", || msg::key_mark()),
    ("Home  End", || msg::key_start_and_live()),
    ("1 … 6", || msg::key_views()),
    ("↓  ↑", || msg::key_next_object()),
    ("Shift ↓  ↑", || msg::key_enter_and_leave()),
    ("Enter", || msg::key_select()),
    ("W", || msg::key_why()),
    ("+  -  0", || msg::key_zoom()),
    ("Ctrl", || msg::key_drag()),
    ("/", || msg::key_filter()),
    ("`", || msg::key_console()),
    ("Ctrl ⏎", || msg::key_apply()),
    ("F6", || msg::key_panel()),
    ("s", || msg::key_stable()),
    ("r", || msg::key_restart()),
    ("l", || msg::key_list()),
    ("f", || msg::key_full()),
    ("p", || msg::key_present()),
    ("PgDn PgUp", || msg::key_lesson()),
    ("?", || msg::button_help()),
    ("Esc", || msg::key_close()),
];

/// Draws the offers as buttons.
pub fn offers(tries: &[Message], on_try: &Callback<usize>) -> Html {
    let button = |(at, words): (usize, &Message)| html! { <button type="button" class="btn sm" onclick={on_try.reform(move |_: MouseEvent| at)}>{ say(words) }</button> };
    html! { <div class="row wrap tries" role="group" aria-label={say(msg::help_try())}>{ for tries.iter().enumerate().map(button) }</div> }
}

fn part(title: Message, open: bool, body: Html) -> Html {
    html! { <details open={open}><summary>{ icon("i-down", 14) }<h3>{ say(title) }</h3></summary>{ body }</details> }
}

/// Link to the documentation, if it was built beside the page (scripts/offline.mjs).
fn guide() -> Html {
    let link = document()
        .query_selector("link[rel=help]")
        .ok()
        .flatten()
        .and_then(|link| link.get_attribute("href"));
    let Some(home) = link else {
        return Html::default();
    };
    let page = if current() == Lang::Chinese {
        "zh/index.html"
    } else {
        "index.html"
    };
    html! { <>{ " " }<a href={[home.as_str(), page].concat()} target="_blank" rel="noopener">{ say(msg::help_guide()) }</a></> }
}

/// Draws the body of the dialog.
/// `narrow`: there is little room, and no keyboard whose keys could be named.
pub fn help(tries: &[Message], on_try: &Callback<usize>, narrow: bool) -> Html {
    let keys = html! { <dl class="kv keys">{ for KEYS.iter().map(|(key, words)| html! { <><dt>{ for key.split_whitespace().map(|key| if key == "…" { key.into() } else { html! { <kbd class="k">{ key }</kbd> } }) }</dt><dd>{ say(words()) }</dd></> }) }</dl> };
    let words = html! { <dl class="words">{ for TERMS.iter().map(|term| html! { <><dt>{ say((term.name)()) }</dt><dd>{ say((term.definition)()) }</dd></> }) }</dl> };
    html! {
        <div class="help">
            <p>{ say(msg::help_what()) }{ guide() }</p>
            if !tries.is_empty() { <p class="dim">{ say(msg::help_try()) }</p>{ offers(tries, on_try) } }
            // The open part comes last, so that all three headings are visible.
            { part(msg::help_words(), narrow, words) }
            { part(msg::help_simulated(), false, table()) }
            { part(msg::help_keys(), !narrow, keys) }
            <p class="dim">{ concat!("Loopscope ", env!("CARGO_PKG_VERSION")) }</p>
        </div>
    }
}

fn table() -> Html {
    let row = |row: simulated::SimulatedRow| {
        let glyph = match row.treatment {
            Treatment::Simulated => "i-check",
            Treatment::Stored => "i-info",
            Treatment::Refused => "i-cross",
        };
        html! { <tr><th scope="row">{ say(&row.what) }</th><td>{ icon(glyph, 12) }{ say(row.treatment.word()) }</td><td>{ say(&row.which) }</td></tr> }
    };
    html! { <table class="simulated"><tbody>{ for simulated::table().into_iter().map(row) }</tbody></table> }
}
