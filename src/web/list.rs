//! A diagram's objects as a nested list: what they are, how they are, and how many.

use super::dom::{icon, kind_icon};
use super::stage::key_of;
use crate::api::ObjectRef;
use crate::app::format::count;
use crate::scene::model::Tone;
use crate::scene::roster;
use crate::scene::shape::{Body, Item, Scene};
use std::rc::Rc;
use yew::prelude::*;

/// The list, as far as it has come.
#[inline(never)]
pub fn list(scene: &Scene, most: usize, on_select: &Callback<Option<ObjectRef>>) -> Html {
    let click = |item: &Item| {
        let (key, on_select) = (key_of(&item.id), on_select.clone());
        Callback::from(move |event: MouseEvent| {
            event.stop_propagation();
            on_select.emit(key.clone());
        })
    };
    let (columns, nodes) = roster::rows(scene);
    // What a node's row has counted is not told again.
    let told = |item: &Item| matches!(item.body, Body::Node(_)) || !nodes.is_empty() && matches!(item.body, Body::Cells(_));
    let shown = |(_, item): &(usize, &Rc<Item>)| !item.label.is_empty() && !told(item);
    let rows = scene.items.iter().enumerate().take(most).filter(shown).map(|(index, item)| {
        // Those on a node stand alone: it is in the table.
        let depth = scene.depth(index).saturating_sub(usize::from(!nodes.is_empty()));
        let onclick = click(item);
        html! { <li key={item.id.uid.clone()} aria-level={(depth + 1).to_string()} style={format!("padding-left:{}px", depth * 20)}><button type="button" onclick={onclick}>{ row(item) }</button></li> }
    });
    let revisions = scene.items.iter().find_map(|item| if let Body::Chart(chart) = &item.body { Some(chart.rows()) } else { None });
    let revisions = revisions.into_iter().flatten().map(|[image, hash, counts]| {
        html! { <li key={hash.clone()} aria-level="2" style="padding-left:20px"><div class="row"><span class="mono ell">{ image }{ " " }</span>{ part("kind", &hash) }<span class="grow" />{ part("n", &counts) }</div></li> }
    });
    let table = || {
        html! {
            <table class="aslist" aria-label="Nodes">
                <thead><tr><th>{ "Node" }</th><th>{ "Status" }</th><th>{ "Pods" }</th>{ for columns.iter().map(|state| html! { <th>{ state.word() }</th> }) }</tr></thead>
                <tbody>{ for nodes.iter().take_while(|row| row.item < most).map(|row| {
                    let item = &scene.items[row.item];
                    html! { <tr key={item.id.uid.clone()}><td><button type="button" onclick={click(item)}>{ part("vh", "Node") }{ part("mono", &item.id.name) }</button></td><td class={item.state.clone()}>{ &row.status }</td><td>{ &row.pods }</td>{ for row.counts.iter().map(|n| html! { <td>{ count(*n) }</td> }) }</tr> }
                }) }</tbody>
            </table>
        }
    };
    html! { <>if !nodes.is_empty() { { table() } }<ul class="aslist" aria-label={scene.summary.clone()}>{ for rows }{ for revisions }</ul></> }
}

/// Glyph, kind and name; the state in its colour; what is counted at the right.
fn row(item: &Item) -> Html {
    if let Body::Chart(chart) = &item.body {
        return html! { <><b>{ &chart.title }</b><span class="grow" />{ part("n", &chart.wants(chart.now)) }</> };
    }
    let (caption, counters) = match &item.body {
        Body::Controller { of, .. } => (of.caption.as_str(), &of.counters[..]),
        _ => (item.id.kind.as_str(), &[][..]),
    };
    let (glyph, family) = match &item.body {
        Body::Pod { state, .. } | Body::Tile { state, .. } => (state.glyph(), ""),
        _ => kind_icon(&item.id.kind),
    };
    let rest = item.label.strip_prefix(caption).and_then(|rest| rest.strip_prefix(' ')?.strip_prefix(item.id.name.as_str()));
    let Some(rest) = rest.filter(|_| !item.id.kind.is_empty()) else {
        // A sentence, which may take more than a line.
        return html! { <span style="white-space:normal;padding-block:6px">{ &item.label }</span> };
    };
    let rest = rest.trim_start_matches(", ");
    let (state, facts) = rest.split_once(", ").or_else(|| rest.split_once(" · ")).unwrap_or((rest, ""));
    let facts = facts.strip_prefix(state).map_or(facts, |facts| facts.trim_start_matches(" · "));
    // The type of a Service is no state.
    let class = if item.id.kind == "Service" { "" } else { item.state.as_str() };
    html! {
        <>
            <span class={["glyph ", family].concat()}>{ icon(glyph, 16) }</span>{ part("kind", caption) }{ part("mono ell", &item.id.name) }<span class="grow" />
            if counters.is_empty() {
                { part("facts", facts) }{ part(class, state) }
            } else {
                { for counters.iter().map(|counter| html! { <span class={match counter.tone { Tone::Plain => "n", Tone::Ok => "n ok", Tone::Off => "n off" }}><b>{ &counter.value }</b>{ " " }{ counter.word }{ " " }</span> }) }
            }
        </>
    }
}

/// A part of a row, and a space for those who hear it.
#[inline(never)]
fn part(class: &str, words: &str) -> Html {
    html! { <span class={class.to_string()}>{ words.to_string() }{ " " }</span> }
}
