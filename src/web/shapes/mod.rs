//! The shapes of a scene as HTML over SVG.

mod cards;
mod controllers;

use self::cards::{
    class, cylinder, humps, loop_of, node, small_node, store, stored, table, terminal, ticket,
    totals, tray, volume,
};
use self::controllers::{brief, controller, stacked, wide};
use crate::web::cells::{Sheet, swatch};
use crate::web::chart::ChartView;
use crate::web::dom::{icon, tile};
use crate::web::language::{Lang, say};
use i18n::format::Px;
use i18n::msg;
use std::rc::Rc;
use views::card_text;
use views::shape::{CardBody, Item, Look, Scene};
use views::variant;
use yew::prelude::*;

/// Number of lines, words or ports of a scene above which only the visible ones are in the page.
const MAX_WHOLE: usize = 300;

/// Filters many elements to the visible ones; `sees` returns true if a range of y positions is visible.
fn in_page<T>(
    all: &[T],
    rows: impl Fn(&T) -> (f64, f64),
    sees: impl Fn(f64, f64) -> bool,
) -> impl Iterator<Item = &T> {
    let many = all.len() > MAX_WHOLE;
    all.iter().filter(move |one| {
        let (top, bottom) = if many { rows(one) } else { (0.0, 0.0) };
        !many || sees(top, bottom)
    })
}

/// Draws everything under the cards: bands and lines. It needs a key like all its siblings: Yew matches a list with an unkeyed element by
/// position, and a new object would rebuild all after it.
pub fn under(scene: &Scene, sees: impl Fn(f64, f64) -> bool) -> Html {
    let bands = scene.bands.iter().map(
        |band| html! { <div class={classes!("band", variant::divides(*band).then_some("divides"))} style={format!("translate:{}px {}px;width:{}px;height:{}px", Px(band.x), Px(band.y), Px(band.w), Px(band.h))} /> },
    );
    let edges = in_page(&scene.edges, |edge| edge.rows, sees).map(|edge| {
        html! { <path key={edge.key.clone()} class={edge.line.class()} d={edge.d.clone()} style={format!("d:path('{}')", edge.d)} /> }
    });
    html! {
        <key="under">
            { for bands }
            <svg class="edges" width={Px(scene.width).to_string()} height={Px(scene.height).to_string()} aria-hidden="true">{ for edges }</svg>
        </>
    }
}

/// Draws everything over the cards: ports and words. `hidden`: pixels scrolled out at the left; row names stay visible beside it.
pub fn over(scene: &Scene, hidden: f64, sees: impl Fn(f64, f64) -> bool) -> Html {
    let ports = in_page(&scene.ports, |port| (port.y, port.y), &sees).map(|port| {
        let class = match (port.network, port.full) {
            (true, true) => "port net full",
            (true, false) => "port net",
            (false, true) => "port full",
            (false, false) => "port",
        };
        html! { <circle class={class} cx={Px(port.x).to_string()} cy={Px(port.y).to_string()} r={if port.network { "4.5" } else { "4" }} /> }
    });
    let labels = in_page(&scene.labels, |label| (label.y, label.y + 16.0), &sees).map(|label| {
        let x = label.x + if label.class == "rowname" { hidden } else { 0.0 };
        let style = format!("translate:{}px {}px", Px(x), Px(label.y));
        // The first part stands out: the number of a stop, the subject of a band.
        let text = say(&label.text);
        let (first, rest) = match label.class {
            "stop" | "bandname" => text.split_once(if label.class == "stop" { " " } else { " — " }).unwrap_or((&text, "")),
            _ => ("", text.as_str()),
        };
        let dash = if label.class == "bandname" && !rest.is_empty() { " — " } else { "" };
        html! { <span class={classes!("lbl", label.class, label.centred.then_some("mid-x"))} style={style}><span>if !first.is_empty() { <b>{ first }</b>{ dash } }{ rest }</span></span> }
    });
    html! {
        <key="over">
            { for labels }
            <svg class="ports" width={Px(scene.width).to_string()} height={Px(scene.height).to_string()} aria-hidden="true">{ for ports }</svg>
        </>
    }
}

/// Properties of an item of the scene.
#[derive(Properties, PartialEq)]
pub struct ShapeProps {
    /// Language of the page.
    pub lang: Lang,
    /// Item.
    pub item: Rc<Item>,
    /// Index in the scene: the order of the keyboard.
    pub index: usize,
    /// True if the inspector shows it.
    pub selected: bool,
    /// True if it is the Tab stop.
    pub stop: bool,
    /// True if it is being removed.
    #[prop_or_default]
    pub ghost: bool,
    /// True if it was just added.
    #[prop_or_default]
    pub fresh: bool,
    /// Difference between two compared instants.
    #[prop_or_default]
    pub mark: &'static str,
    /// Theme: canvases use its colours.
    pub dark: bool,
    /// True if the whole module is loaded: parts not needed for the opening are loaded later.
    #[prop_or_default]
    pub whole: bool,
}

/// Draws an item of the scene at its position.
#[component]
pub fn Shape(props: &ShapeProps) -> Html {
    crate::web::dom::renders("Shape");
    let item = &props.item;
    let rect = item.rect;
    // One of very many items is not animated: the browser would keep a layer for each.
    let many = match &item.body {
        CardBody::Cells(cells) => cells.bare(),
        CardBody::Node(node) => node.small.is_some(),
        _ => false,
    };
    let (x, y) = (Px(rect.x), Px(rect.y));
    let place = if many {
        format!("left:{x}px;top:{y}px")
    } else {
        format!("translate:{x}px {y}px")
    };
    let style = format!("{place};width:{}px;height:{}px", Px(rect.w), Px(rect.h));
    let still = still(&item.body);
    let class = classes!(
        "item",
        classes!(variant::classes(item)),
        props.selected.then_some("pick"),
        props.ghost.then_some("ghost"),
        props.fresh.then_some("fresh"),
        props.mark
    );
    let open = match &item.body {
        CardBody::Heading { folded, .. } => Some(!folded),
        _ => None,
    };
    let real = !still && !props.ghost && !item.id.kind.is_empty();
    html! {
        <div
            class={class}
            style={style}
            data-index={props.index.to_string()}
            data-kind={real.then(|| item.id.kind.clone())}
            data-namespace={real.then(|| item.id.namespace.clone())}
            data-name={real.then(|| item.id.name.clone())}
            data-state={real.then(|| item.state.clone())}
            role={(!still && !props.ghost).then_some("button")}
            aria-pressed={(!still && !props.ghost && open.is_none()).then(|| props.selected.to_string())}
            aria-expanded={open.map(|open| open.to_string())}
            aria-label={(!props.ghost).then(|| say(&item.label))}
            aria-hidden={props.ghost.then_some("true")}
            tabindex={(!still && !props.ghost).then_some(if props.stop { "0" } else { "-1" })}
        >
            { content(item, props.dark, props.whole) }
        </div>
    }
}

/// Returns true if an item is not a button: it cannot be selected, or is the chart, which contains a slider.
pub fn still(body: &CardBody) -> bool {
    matches!(
        body,
        CardBody::Tray { .. }
            | CardBody::Totals { .. }
            | CardBody::Note(_)
            | CardBody::Store { .. }
            | CardBody::Pass(_)
            | CardBody::Terminal { .. }
            | CardBody::Gone { .. }
            | CardBody::Chart(_)
    )
}

pub(super) fn content(item: &Rc<Item>, dark: bool, whole: bool) -> Html {
    match &item.body {
        CardBody::Controller {
            of,
            look: Look::Wide,
        } => wide(of, item.rect),
        CardBody::Controller {
            of,
            look: Look::Low,
        } if whole => brief(of, item.rect.w),
        CardBody::Controller {
            of,
            look: Look::Stacked(budget),
        } if whole => stacked(of, budget, item.rect.w),
        CardBody::Controller { of, .. } => controller(of, item.rect.w),
        CardBody::Service { form } => html! {
            <div class="hd">{ tile(&item.id.kind) }<div class="grow"><small class="ell">{ &item.id.kind }</small><b class="ell">{ card_text::name(item, 92.0 + 6.6 * form.length() as f64) }</b></div><span class={classes!("pill", card_text::service_class(item))}>{ say(form) }</span></div>
        },
        CardBody::Pod {
            state,
            lead,
            tail,
            word,
            note,
            ..
        } => html! {
            <>
                { icon(state.glyph(), 24) }
                <div class="grow"><b class="ell"><span>{ lead }</span>{ tail }</b><small class="ell"><em>{ humps(&say(word)) }</em>{ (!note.is_empty()).then(|| format!(" · {}", say(note))) }</small></div>
            </>
        },
        CardBody::Tile {
            state, tail, note, ..
        } => {
            let (lead, end) = card_text::tile_name(tail);
            html! { <>{ icon(state.glyph(), 14) }<b class="ell"><span>{ lead }</span>{ end }</b>if !note.is_empty() { <small class="ell">{ say(note) }</small> }</> }
        }
        CardBody::Gone { name } => {
            html! { <><b class="ell">{ name }</b><small>{ say(msg::tile_deleted()) }</small></> }
        }
        // Its cells are on a sheet of the stage.
        CardBody::Cells(cells) if cells.bare() => crate::web::cells::ring(cells),
        CardBody::Cells(cells) => html! {
            <>
                <div class={classes!("counts", variant::has_thin_counts(item.rect.w).then_some("thin"))}>{ for cells.pods.counts().iter().map(|(state, n)| html! { <span><i class={swatch(*state, cells.old == 0)} /><b>{ i18n::format::count(*n) }</b>{ " " }<small class="ell">{ say(cells.pods.word(*state)) }</small></span> }) }</div>
                <Sheet at={cells.at} origin={(item.rect.x, item.rect.y)} items={vec![item.clone()]} dark={dark} />
                { crate::web::cells::ring(cells) }
            </>
        },
        CardBody::Claim { fact, .. } => ticket(item, fact),
        CardBody::Cylinder { fact, data } => cylinder(item, fact, data),
        CardBody::Volume { fact } => volume(&i18n::format::volume(&item.id.name), fact),
        CardBody::Class { reclaim } => class(item, reclaim),
        CardBody::Node(body) if body.small.is_some() => small_node(item, body),
        CardBody::Node(body) => node(&card_text::name(item, 134.0), body),
        CardBody::Tray {
            title,
            aside,
            head,
            rows,
        } => tray(title, aside, head, rows),
        CardBody::Totals { numbers, parts } => totals(numbers, parts),
        CardBody::Stored { fact, .. } => stored(item, fact),
        CardBody::Heading { text, .. } => {
            html! { <>{ icon("i-down", 14) }<span class="ell">{ say(text) }</span></> }
        }
        CardBody::Note(text) => html! { { say(text) } },
        CardBody::Store { version } => store(*version),
        CardBody::Loop { of, .. } => loop_of(of),
        CardBody::Pass(pass) => crate::web::pass::view(pass),
        CardBody::Terminal {
            state,
            title,
            lines,
        } => terminal(*state, title, lines),
        CardBody::Table(of) => table(of),
        CardBody::Chart(of) => {
            html! { <ChartView of={of.clone()} size={(item.rect.w, item.rect.h)} lang={crate::web::language::current()} /> }
        }
    }
}
