//! Cards of all other objects.

use crate::web::cells::swatch;
use crate::web::dom::{icon, tile};
use crate::web::language::say;
use i18n::format::Px;
use i18n::{Message, msg};
use projection::model::PodState;
use views::card_text;
use views::loops::model::Loop;
use views::shape::{CardTable, Item, NodeBody};
use views::variant;
use yew::prelude::*;

/// Draws the name of a state, which may wrap between its parts if there is little room: it is never cut.
pub(super) fn humps(word: &str) -> Html {
    let at = |(at, pair): (usize, &[u8])| {
        (pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase()).then_some(at + 1)
    };
    match word.as_bytes().windows(2).enumerate().find_map(at) {
        Some(at) => html! { <>{ &word[..at] }<wbr />{ humps(&word[at..]) }</> },
        None => html! { { word } },
    }
}

pub(super) fn class(item: &Item, reclaim: &Message) -> Html {
    html! {
        <div class="class">{ tile("StorageClass") }<small>{ "StorageClass" }</small><b class="ell">{ card_text::name(item, 24.0) }</b><small>{ say(msg::class_reclaim(reclaim)) }</small></div>
    }
}

pub(super) fn store(version: u64) -> Html {
    html! {
        <>
            <div class="hd"><span class="kicon cluster">{ icon("i-apiserver", 18) }</span><div class="grow"><b>{ "API server" }</b><small>{ say(msg::store_does()) }</small></div></div>
            <div class="hd"><span class="kicon cluster">{ icon("i-etcd", 18) }</span><div class="grow"><b>{ "etcd" }</b><small>{ "resourceVersion " }<em class="mono">{ version }</em></small></div></div>
        </>
    }
}

pub(super) fn loop_of(of: &Loop) -> Html {
    let queue = of.queue;
    html! {
        <>
            <span class="ring" style={of.part.map(|part| format!("--part:{part}%"))}>{ icon(of.glyph, 18) }</span>
            <span class="nm"><b>{ &of.title }</b>
                <i class="queue">if !of.slow.is_empty() { { say(&of.slow) } }{ for (0..queue.min(6)).map(|_| html! { <i /> }) }if queue > 6 { { format!("+{}", queue - 6) } }</i>
            </span>
        </>
    }
}

pub(super) fn terminal(state: Option<PodState>, title: &Message, lines: &[String]) -> Html {
    html! {
        <>
            <div class="hd">if let Some(state) = state { { icon(state.glyph(), 24) } }<div class="grow"><small>{ say(card_text::asks(state)) }</small><b class="ell">{ say(title) }</b></div></div>
            <pre>{ for lines.iter().map(|line| match line.strip_prefix("/ # ") {
                Some(asked) => html! { <p><i>{ "/ # " }</i><b>{ asked }</b></p> },
                None => html! { <p>{ line }</p> },
            }) }</pre>
        </>
    }
}

pub(super) fn volume(name: &str, fact: &Message) -> Html {
    html! {
        <div class="hd">{ tile("PersistentVolume") }<div class="grow"><b class="ell">{ name.to_string() }</b><small class="ell">{ say(fact) }</small></div></div>
    }
}

pub(super) fn stored(item: &Item, fact: &Message) -> Html {
    let kind = &item.id.kind;
    if variant::has_two_lines(item.rect) {
        return html! {
            <div class="hd">{ tile(kind) }<div class="grow"><small class="ell">{ kind }if !fact.is_empty() { { " · " }<em>{ say(fact) }</em> }</small><b class="ell">{ card_text::name(item, 48.0) }</b></div></div>
        };
    }
    html! {
        <div class="hd">{ tile(kind) }<small>{ kind }</small><b class="ell">{ card_text::name(item, 44.0 + 7.0 * kind.len() as f64) }</b></div>
    }
}

pub(super) fn table(of: &CardTable) -> Html {
    let cell = |text: &Message| match *text == msg::net_ready() {
        true => html! { <td class="ok">{ icon("i-check", 12) }{ say(msg::metric_ready()) }</td> },
        false => html! { <td>{ say(text) }</td> },
    };
    html! {
        <>
            <div class="hd">{ tile(of.kind) }<div class="grow"><small>{ say(&of.caption) }</small><b class="ell">{ say(&of.title) }</b></div>
                if !of.pill.is_empty() { <span class="pill network">{ say(&of.pill) }</span> }
            </div>
            <table class={if of.head.is_empty() { "plain" } else { "" }}>
                if !of.head.is_empty() { <thead><tr>{ for of.head.iter().map(|name| html! { <th>{ say(name) }</th> }) }</tr></thead> }
                <tbody>{ for of.rows.iter().map(|(cells, on)| html! { <tr class={on.then_some("on")}>{ for cells.iter().map(cell) }</tr> }) }</tbody>
            </table>
        </>
    }
}

pub(super) fn ticket(item: &Item, fact: &Message) -> Html {
    let (w, h) = (item.rect.w, item.rect.h);
    let (name, long) = card_text::claim_name(item);
    html! {
        <>
            <svg width={Px(w).to_string()} height={Px(h).to_string()} aria-hidden="true"><path d={card_text::ticket((w, h))} /></svg>
            <div class="in">if !variant::is_slender(w) { { tile("PersistentVolumeClaim") } }<div class="grow"><b class={if long { "long" } else { "ell" }}>{ name }</b><small class="ell">{ say(fact) }</small></div></div>
        </>
    }
}

pub(super) fn cylinder(item: &Item, fact: &Message, data: &Message) -> Html {
    let (w, h) = (item.rect.w, item.rect.h);
    let rim = card_text::cylinder_rim(h);
    html! {
        <>
            <svg width={Px(w).to_string()} height={Px(h).to_string()} aria-hidden="true">
                <path d={card_text::cylinder((w, h))} />
                <ellipse cx={Px(w / 2.0).to_string()} cy={Px(rim + 1.0).to_string()} rx={Px(w / 2.0 - 1.0).to_string()} ry={Px(rim).to_string()} />
            </svg>
            <div class="in"><div class="nm">if !variant::is_slender(w) { { icon("i-pv", 14) } }<b>{ i18n::format::volume(&item.id.name) }</b></div><small>{ say(fact) }</small>
                // Data written by programs is not simulated: the line stays empty unless a person wrote something, but its height is kept.
                if !data.is_empty() { <span class="pill storage">{ say(data) }</span> } else if item.state == "bound" { <small>{ "\u{a0}" }</small> } else { <span class="pill">{ i18n::format::sentence(&item.state) }</span> }
            </div>
        </>
    }
}

pub(super) fn node(name: &str, body: &NodeBody) -> Html {
    let (class, glyph, words) = card_text::node_pill(body);
    let pill =
        html! { <span class={classes!("pill", class)}>{ icon(glyph, 12) }{ say(words) }</span> };
    let note = if !body.ready {
        "bad"
    } else if body.cordoned {
        "warn"
    } else {
        ""
    };
    html! {
        <>
            <div class="hd">{ tile("Node") }<div class="grow"><small>{ "Node" }</small><b class="ell">{ name }</b></div>{ pill }</div>
            { for body.meters.iter().map(|(what, value, share)| html! {
                <div class="bar"><div><span>{ *what }</span><span class="mono">{ value }</span></div>
                    <div class="meter"><i class={if !body.ready { "mute" } else if *share > 80.0 { "full" } else { "" }} style={format!("width:{share:.1}%")} /></div></div>
            }) }
            <div class={classes!("note", note, body.note.iter().all(Message::is_empty).then_some("none"))}>{ for body.note.iter().map(|line| html! { <p>{ say(line) }</p> }) }</div>
        </>
    }
}

/// Draws one of many nodes: its name and number of Pods.
pub(super) fn small_node(item: &Item, body: &NodeBody) -> Html {
    let glyph = match (body.ready, body.cordoned) {
        (false, _) => Some("i-error"),
        (true, true) => Some("i-cordon"),
        (true, false) => None,
    };
    html! { <div class="nh">if let Some(glyph) = glyph { { icon(glyph, 12) } }<b class="ell grow">{ &item.id.name }</b><span>{ i18n::format::count(body.small.unwrap_or(0)) }</span></div> }
}

/// Draws the strip over cells.
pub(super) fn totals(numbers: &[(usize, Message)], parts: &[(PodState, bool, usize)]) -> Html {
    let count = i18n::format::count;
    let rolls = parts.iter().any(|(_, old, _)| *old);
    html! {
        <>
            <div class="nums">{ for numbers.iter().map(|(n, word)| html! { <div class={(*word == msg::metric_ready()).then_some("ok")}><b>{ count(*n) }</b><small>{ say(word) }</small></div> }) }</div>
            <div class="grow">
                <div class="share">{ for parts.iter().map(|(state, old, n)| html! { <i class={swatch(*state, *old)} style={format!("flex:{n}")} /> }) }</div>
                <div class="parts">
                    { for parts.iter().map(|(state, old, n)| html! { <span><i class={swatch(*state, *old)} />{ say(card_text::part_word(*state, *old, rolls)) }<b>{ count(*n) }</b></span> }) }
                    <small>{ say(msg::totals_square_is_pod()) }</small>
                </div>
            </div>
        </>
    }
}

pub(super) fn tray(
    title: &Message,
    aside: &Message,
    head: &Message,
    rows: &[[Message; 3]],
) -> Html {
    html! {
        <>
            <div class="th"><b>{ say(msg::tray_title()) }</b><span class="pill">{ say(title) }</span><span class="grow" /><small>{ say(aside) }</small></div>
            <div class="tb"><small class="h">{ say(head) }</small>
                { for rows.iter().map(|[who, why, detail]| html! { <div class="tr"><span class="mono ell">{ say(who) }</span><i>{ if why.is_empty() { "" } else { "×" } }</i><b>{ say(why) }</b><small class="ell">{ say(detail) }</small></div> }) }
            </div>
        </>
    }
}
