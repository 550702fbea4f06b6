//! The shapes of a scene: elements with the primitives of their items, over the lines.

use crate::web::cells::Sheet;
use crate::web::chart::ChartView;
use crate::web::language::{Lang, say};
use crate::web::primitives::{Moves, block, disc, line, nodes, path, setting};
use i18n::format::Px;
use session::drawing::WriteShown;
use std::rc::Rc;
use views::draw;
use views::shape::{CardBody, Edge, Item, LabelRole, Line, Rect, Scene};
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
/// `writes`: writes of the newest pass.
pub fn under(scene: &Scene, writes: &[WriteShown], sees: impl Fn(f64, f64) -> bool) -> Html {
    let bands = scene
        .bands
        .iter()
        .map(|band| block(&draw::scene::band(*band)));
    let edges = in_page(&scene.edges, |edge| edge.rows, sees)
        .map(|edge| path(&edge.key, &draw::scene::edge(edge), Moves::Yes));
    let carried = scene
        .edges
        .iter()
        .filter_map(|edge| Some(token(&edge.key, edge.carries()?, edge.line)));
    let by_owners = writes.iter().filter(|write| write.by_owner);
    let created = by_owners.filter_map(|write| {
        let edge = edge_to(scene, write)?;
        Some(token(&write.entry.to_string(), &edge.d, edge.line))
    });
    html! {
        <key="under">
            { for bands }
            <svg class="edges" width={Px(scene.width).to_string()} height={Px(scene.height).to_string()} aria-hidden="true">{ for edges }{ for carried }{ for created }</svg>
        </>
    }
}

/// Draws what an edge carries, once on its way: a write to the API server, then its event to a loop.
fn token(key: &str, way: &str, line: Line) -> Html {
    let class = classes!("token", (line == Line::Informs).then_some("after"));
    html! { <circle key={format!("token/{key}")} {class} r="5" style={format!("offset-path:path('{way}')")} /> }
}

/// Line from the owner of an object to the object.
fn edge_to<'a>(scene: &'a Scene, write: &WriteShown) -> Option<&'a Edge> {
    scene.edges.iter().find(|edge| *edge.key == *write.object)
}

/// Draws a frame that appears once around the object written, after what comes to it along its line.
fn written(scene: &Scene, write: &WriteShown) -> Option<Html> {
    let items = scene.items.iter();
    let item = items.rev().find(|item| item.id.is_of(&write.object))?;
    let comes = write.by_owner && edge_to(scene, write).is_some();
    let Rect { x, y, w, h } = item.rect;
    let (x, y, w, h) = (x - 4.0, y - 4.0, w + 8.0, h + 8.0);
    Some(html! {
        <rect key={format!("written/{}", write.entry)} class={classes!("written", comes.then_some("after"))} x={Px(x).to_string()} y={Px(y).to_string()} width={Px(w).to_string()} height={Px(h).to_string()} rx="10" />
    })
}

/// Draws everything over the cards: ports and words. `hidden`: pixels scrolled out at the left; row names stay visible beside it.
pub fn over(
    scene: &Scene,
    writes: &[WriteShown],
    hidden: f64,
    sees: impl Fn(f64, f64) -> bool,
) -> Html {
    let text = setting();
    let ports = in_page(&scene.ports, |port| (port.y, port.y), &sees)
        .map(|port| disc(&draw::scene::port(port)));
    let labels = in_page(&scene.labels, |label| (label.y, label.y + 16.0), &sees).map(|label| {
        let mut words = draw::scene::label(label, &text);
        if label.role == LabelRole::RowName {
            words.x += hidden;
        }
        line(&words)
    });
    html! {
        <key="over">
            { for labels }
            <svg class="ports" width={Px(scene.width).to_string()} height={Px(scene.height).to_string()} aria-hidden="true">{ for ports }{ for writes.iter().filter_map(|write| written(scene, write)) }</svg>
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
            { content(item, props.dark) }
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
            | CardBody::Cache(_)
            | CardBody::Pass(_)
            | CardBody::Terminal { .. }
            | CardBody::Gone { .. }
            | CardBody::Chart(_)
    )
}

/// Draws the contents of an item: the primitives of its description, the canvas of its cells, or its chart.
fn content(item: &Rc<Item>, dark: bool) -> Html {
    if let CardBody::Chart(of) = &item.body {
        let size = (item.rect.w, item.rect.h);
        return html! { <ChartView of={of.clone()} size={size} lang={crate::web::language::current()} /> };
    }
    let text = setting();
    let mut parts = Vec::new();
    if draw::has_path(&item.body) {
        parts.append(&mut draw::ground(item, false, &text));
    }
    parts.append(&mut draw::contents(item, &text));
    let art = (!parts.is_empty()).then(|| html! { <div class="art">{ nodes(&parts) }</div> });
    // The cells of a shape without counts are on a sheet of the stage.
    let sheet = match &item.body {
        CardBody::Cells(cells) if !cells.bare() => {
            html! { <Sheet at={cells.at} origin={(item.rect.x, item.rect.y)} items={vec![item.clone()]} dark={dark} /> }
        }
        _ => Html::default(),
    };
    html! { <>{ sheet }{ art }</> }
}
