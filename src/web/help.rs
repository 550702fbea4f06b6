//! Help: the purpose of the page, things to try, the keys, the words, and what is simulated.

use super::dom::{document, icon};
use super::language::{Lang, current, say};
use i18n::{Constant, Message, msg};
use session::simulated::{self, Treatment};
use yew::prelude::*;

const KEYS: [(&str, Constant); 26] = [
    ("Space", || msg::key_play()),
    ("→ ←", || msg::key_reconcile()),
    (".  ,", || msg::key_second()),
    ("]  [", || msg::key_action()),
    (">  <", || msg::key_speed()),
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

const WORDS: [(Constant, Constant); 17] = [
    (|| Message::name("Pod"), || msg::word_pod_means()),
    (
        || Message::name("ReplicaSet"),
        || msg::word_replica_set_means(),
    ),
    (
        || Message::name("Deployment"),
        || msg::word_deployment_means(),
    ),
    (|| Message::name("kubelet"), || msg::word_kubelet_means()),
    (|| msg::word_loop(), || msg::word_loop_means()),
    (|| msg::word_reconcile(), || msg::word_reconcile_means()),
    (|| msg::word_desired(), || msg::word_desired_means()),
    (|| msg::word_actual(), || msg::word_actual_means()),
    (|| msg::word_owner(), || msg::word_owner_means()),
    (|| msg::word_rollout(), || msg::word_rollout_means()),
    (|| msg::word_revision(), || msg::word_revision_means()),
    (
        || Message::name("maxSurge, maxUnavailable"),
        || msg::word_limits_means(),
    ),
    (|| msg::word_ready(), || msg::word_ready_means()),
    (|| msg::word_headless(), || msg::word_headless_means()),
    (|| msg::word_claim(), || msg::word_claim_means()),
    (|| msg::word_event(), || msg::word_event_means()),
    (|| msg::word_virtual(), || msg::word_virtual_means()),
];

/// Draws the offers as buttons, followed by `more`.
pub fn offers(tries: &[Message], on_try: &Callback<usize>, more: Html) -> Html {
    let button = |(at, words): (usize, &Message)| html! { <button type="button" class="btn sm" onclick={on_try.reform(move |_: MouseEvent| at)}>{ say(words) }</button> };
    html! { <div class="row wrap tries" role="group" aria-label={say(msg::help_try())}>{ for tries.iter().enumerate().map(button) }{ more }</div> }
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
    let words = html! { <dl class="words">{ for WORDS.iter().map(|(word, means)| html! { <><dt>{ say(word()) }</dt><dd>{ say(means()) }</dd></> }) }</dl> };
    html! {
        <div class="help">
            <p>{ say(msg::help_what()) }{ guide() }</p>
            if !tries.is_empty() { <p class="dim">{ say(msg::help_try()) }</p>{ offers(tries, on_try, Html::default()) } }
            // The open part comes last, so that all three headings are visible.
            { part(msg::help_words(), narrow, words) }
            { part(msg::help_simulated(), false, table()) }
            { part(msg::help_keys(), !narrow, keys) }
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
