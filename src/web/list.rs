//! A diagram's objects as a nested list, with their states and counts.

use super::dom::icon;
use super::language::{Lang, say};
use super::stage::picked;
use i18n::format::count;
use i18n::{Message, msg};
use projection::model::Tone;
use session::Standings;
use session::selection::SelectionMsg;
use std::rc::Rc;
use views::roster;
use views::shape::{CardBody, Item, Scene};
use wasm_bindgen::JsCast;
use web_sys::Element;
use yew::prelude::*;

/// Rows per page: a row takes about six elements.
const ROWS_PER_PAGE: usize = 100;

/// Properties of the list.
#[derive(Properties)]
pub struct ListProps {
    /// Diagram.
    pub scene: Rc<Scene>,
    /// States of objects with a problem.
    pub standings: Rc<Standings>,
    /// Language of the page.
    pub lang: Lang,
    /// An object was selected, or a group is folded or unfolded.
    pub on_pick: Callback<SelectionMsg>,
}

impl PartialEq for ListProps {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.scene, &other.scene)
            && Rc::ptr_eq(&self.standings, &other.standings)
            && self.lang == other.lang
            && self.on_pick == other.on_pick
    }
}

/// Draws the objects, in pages if there are very many.
#[component]
pub fn List(props: &ListProps) -> Html {
    let at = use_state_eq(|| 0_usize);
    let scene = &props.scene;
    let click = |item: &Item| {
        let (picked, on_pick) = (picked(&item.id), props.on_pick.clone());
        Callback::from(move |event: MouseEvent| {
            event.stop_propagation();
            on_pick.emit(picked.clone().unwrap_or(SelectionMsg::Select(None)));
        })
    };
    let (columns, nodes) = roster::rows(scene);
    // Objects counted in a node's row are not listed again.
    let told = |item: &Item| {
        matches!(item.body, CardBody::Node(_))
            || !nodes.is_empty() && matches!(item.body, CardBody::Cells(_))
    };
    let others: Vec<usize> = (0..scene.items.len())
        .filter(|at| !scene.items[*at].label.is_empty() && !told(&scene.items[*at]))
        .collect();
    let (most, first) = (nodes.len() + others.len(), *at * ROWS_PER_PAGE);
    // The list may have become shorter.
    let first = if first < most {
        first
    } else {
        most.saturating_sub(1) / ROWS_PER_PAGE * ROWS_PER_PAGE
    };
    let last = most.min(first + ROWS_PER_PAGE);
    let of = |rows: usize, before: usize| {
        first.saturating_sub(before).min(rows)..last.saturating_sub(before).min(rows)
    };
    let standing = |item: &Item| {
        let said = props.standings.get(&item.id.uid)?;
        Some(html! { <p class="stands">{ say(said) }</p> })
    };
    let rows = others[of(others.len(), nodes.len())].iter().map(|index| {
        let item = &scene.items[*index];
        // Without the indentation of their node, which is in the table.
        let depth = scene.depth(*index).saturating_sub(usize::from(!nodes.is_empty()));
        let onclick = click(item);
        html! { <li key={item.id.uid.clone()} aria-level={(depth + 1).to_string()} style={format!("padding-left:{}px", depth * 20)}><button type="button" onclick={onclick}>{ row(item) }</button>{ for standing(item) }</li> }
    });
    let revisions = scene.items.iter().find_map(|item| {
        if let CardBody::Chart(chart) = &item.body {
            Some(chart.rows())
        } else {
            None
        }
    });
    let revisions = revisions.into_iter().flatten().map(|[image, hash, counts]| {
        html! { <li key={say(&hash)} aria-level="2" style="padding-left:20px"><div class="row"><span class="mono ell">{ say(image) }{ " " }</span>{ part("kind", &say(&hash)) }<span class="grow" />{ part("n", &say(counts)) }</div></li> }
    });
    let shown = &nodes[of(nodes.len(), 0)];
    let table = || {
        html! {
            <table class="aslist" aria-label={say(msg::list_nodes())}>
                <thead><tr><th>{ "Node" }</th><th>{ say(msg::column_status()) }</th><th>{ say(msg::column_pods()) }</th>{ for columns.iter().map(|state| html! { <th>{ say(scene.word(*state)) }</th> }) }</tr></thead>
                <tbody>{ for shown.iter().map(|row| {
                    let item = &scene.items[row.item];
                    html! { <tr key={item.id.uid.clone()}><td><button type="button" onclick={click(item)}>{ part("vh", "Node") }{ part("mono", &item.id.name) }</button></td><td class={item.state.clone()}>{ &row.status }</td><td>{ &row.pods }</td>{ for row.counts.iter().map(|n| html! { <td>{ count(*n) }</td> }) }</tr> }
                }) }</tbody>
            </table>
        }
    };
    let turn = |words: Message, to: Option<usize>| {
        let at = at.clone();
        let onclick = Callback::from(move |event: MouseEvent| {
            let Some(to) = to else { return };
            at.set(to / ROWS_PER_PAGE);
            let button = event
                .target()
                .and_then(|target| target.dyn_into::<Element>().ok());
            if let Some(stage) = button.and_then(|button| button.closest(".stage").ok().flatten()) {
                stage.set_scroll_top(0);
            }
        });
        // Not disabled, so that it keeps the focus on the last page.
        html! { <button type="button" class="btn sm" aria-disabled={to.is_none().to_string()} onclick={onclick}>{ say(words) }</button> }
    };
    html! {
        <>
            if !shown.is_empty() { { table() } }
            <ul class="aslist" aria-label={say(&scene.summary)}>{ for rows }if last == most { { for revisions } }</ul>
            if most > ROWS_PER_PAGE {
                <div class="pages" role="group" aria-label={say(msg::list_pages())}>
                    { turn(msg::list_previous(), first.checked_sub(ROWS_PER_PAGE)) }
                    <span role="status">{ say(msg::list_range(first + 1, last, most)) }</span>
                    { turn(msg::list_next(), (last < most).then_some(last)) }
                </div>
            }
        </>
    }
}

/// Draws a row: glyph, kind and name; the state in its colour; counts at the right.
fn row(item: &Item) -> Html {
    if let CardBody::Chart(chart) = &item.body {
        return html! { <><b>{ say(&chart.title) }</b><span class="grow" />{ part("n", &say(chart.wants(chart.now))) }</> };
    }
    let (glyph, family) = match &item.body {
        CardBody::Pod { state, .. } | CardBody::Tile { state, .. } => (state.glyph(), ""),
        _ => views::icons::kind_icon(&item.id.kind),
    };
    let class = item.state.as_str();
    // Caption, state with its colour, and further facts.
    let (caption, class, state, facts) = match &item.body {
        CardBody::Controller { of, .. } => {
            let counters = of.counters.iter().map(|counter| html! { <span class={match counter.tone { Tone::Plain => "n", Tone::Ok => "n ok", Tone::Off => "n off" }}><b>{ &counter.value }</b>{ " " }{ say(counter.metric.word()) }{ " " }</span> });
            return html! { <><span class={["glyph ", family].concat()}>{ icon(glyph, 16) }</span>{ part("kind", &say(of.caption.words(&of.id.kind))) }{ part("mono ell", &item.id.name) }<span class="grow" />{ for counters }</> };
        }
        CardBody::Pod { word, note, .. } => (
            Message::name(&item.id.kind),
            class,
            word.clone(),
            note.clone(),
        ),
        CardBody::Tile { state, note, .. } => (
            Message::name(&item.id.kind),
            class,
            state.word(),
            note.clone(),
        ),
        // The type of a Service is no state.
        CardBody::Service { form } => (
            Message::name(&item.id.kind),
            "",
            form.clone(),
            Message::default(),
        ),
        CardBody::Claim { fact, .. }
        | CardBody::Cylinder { fact, .. }
        | CardBody::Volume { fact }
        | CardBody::Stored { fact, .. } => (
            Message::name(&item.id.kind),
            class,
            Message::default(),
            fact.clone(),
        ),
        CardBody::Class { reclaim } => (
            Message::name(&item.id.kind),
            "",
            Message::default(),
            msg::class_reclaim(reclaim),
        ),
        CardBody::Node(node) => (
            Message::name(&item.id.kind),
            class,
            Message::state(node.status),
            Message::default(),
        ),
        CardBody::Gone { .. } => (
            Message::name("Pod"),
            class,
            msg::tile_deleted(),
            Message::default(),
        ),
        // A sentence, which may need several lines.
        _ => {
            return html! { <span style="white-space:normal;padding-block:6px">{ say(&item.label) }</span> };
        }
    };
    html! {
        <>
            <span class={["glyph ", family].concat()}>{ icon(glyph, 16) }</span>{ part("kind", &say(caption)) }{ part("mono ell", &item.id.name) }<span class="grow" />
            { part("facts", &say(facts)) }{ part(class, &say(state)) }
        </>
    }
}

/// Draws a part of a row, followed by a space for screen readers.
fn part(class: &str, words: &str) -> Html {
    html! { <span class={class.to_string()}>{ words.to_string() }{ " " }</span> }
}
