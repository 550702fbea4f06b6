//! The shapes of a scene as HTML over SVG.

use super::cells::{Sheet, swatch};
use super::chart::ChartView;
use super::dom::{icon, tile};
use super::language::{Lang, say, say_some};
use crate::i18n::format::Px;
use crate::i18n::{Arg, Message, msg};
use crate::projection::budget::Budget;
use crate::projection::model::{Controller, Counter, Metric, PodState, Tone};
use crate::views::loops::model::Loop;
use crate::views::shape::{Body, Item, Look, NodeBody, Scene, Table};
use std::rc::Rc;
use yew::prelude::*;

/// Everything under the cards: bands and lines. It has a key as all its neighbours have: a list with one that has none is
/// matched by place, and an object that comes would build all after it anew.
pub fn under(scene: &Scene) -> Html {
    let bands = scene.bands.iter().map(
        |band| html! { <div class={classes!("band", (band.h < 2.0).then_some("divides"))} style={format!("translate:{}px {}px;width:{}px;height:{}px", Px(band.x), Px(band.y), Px(band.w), Px(band.h))} /> },
    );
    let edges = scene.edges.iter().map(|edge| {
        html! { <path key={edge.key.clone()} class={edge.line.class()} d={edge.d.clone()} style={format!("d:path('{}')", edge.d)} /> }
    });
    html! {
        <key="under">
            { for bands }
            <svg class="edges" width={Px(scene.width).to_string()} height={Px(scene.height).to_string()} aria-hidden="true">{ for edges }</svg>
        </>
    }
}

/// Everything over the cards: ports and words. So much of the left is not in sight: names of rows stay in it.
pub fn over(scene: &Scene, hidden: f64) -> Html {
    let ports = scene.ports.iter().map(|port| {
        let class = match (port.network, port.full) {
            (true, true) => "port net full",
            (true, false) => "port net",
            (false, true) => "port full",
            (false, false) => "port",
        };
        html! { <circle class={class} cx={Px(port.x).to_string()} cy={Px(port.y).to_string()} r={if port.network { "4.5" } else { "4" }} /> }
    });
    let labels = scene.labels.iter().map(|label| {
        let x = label.x + if label.class == "rowname" { hidden } else { 0.0 };
        let style = format!("translate:{}px {}px", Px(x), Px(label.y));
        // What comes first stands out: the number of a stop, what a band is about.
        let text = say(&label.text);
        let (first, rest) = match label.class {
            "stop" | "bandname" => text.split_once(if label.class == "stop" { " " } else { " — " }).unwrap_or((&text, "")),
            _ => ("", text.as_str()),
        };
        let dash = if label.class == "bandname" { " — " } else { "" };
        html! { <span class={classes!("lbl", label.class, label.centred.then_some("mid-x"))} style={style}><span>if !first.is_empty() { <b>{ first }</b>{ dash } }{ rest }</span></span> }
    });
    html! {
        <key="over">
            { for labels }
            <svg class="ports" width={Px(scene.width).to_string()} height={Px(scene.height).to_string()} aria-hidden="true">{ for ports }</svg>
        </>
    }
}

/// One thing of the scene.
#[derive(Properties, PartialEq)]
pub struct ShapeProps {
    /// The language.
    pub lang: Lang,
    /// What.
    pub item: Rc<Item>,
    /// Its place in the scene: the order of the keyboard.
    pub index: usize,
    /// Whether the inspector shows it.
    pub selected: bool,
    /// Whether Tab comes here.
    pub stop: bool,
    /// On its way out.
    #[prop_or_default]
    pub ghost: bool,
    /// It has just come.
    #[prop_or_default]
    pub fresh: bool,
    /// How it differs where two instants are compared.
    #[prop_or_default]
    pub mark: &'static str,
    /// The theme: what is painted has its colours.
    pub dark: bool,
    /// Whether all of the page is there: what the opening can do without is in its second part.
    #[prop_or_default]
    pub whole: bool,
}

/// One thing of the scene, at its place.
#[component]
pub fn Shape(props: &ShapeProps) -> Html {
    super::dom::renders("Shape");
    let item = &props.item;
    let rect = item.rect;
    // What is one of a thousand does not glide to its place: the browser would keep a layer for each.
    let many = match &item.body {
        Body::Cells(cells) => cells.bare(),
        Body::Node(node) => node.small.is_some(),
        _ => false,
    };
    let (x, y) = (Px(rect.x), Px(rect.y));
    let place = if many { format!("left:{x}px;top:{y}px") } else { format!("translate:{x}px {y}px") };
    let style = format!("{place};width:{}px;height:{}px", Px(rect.w), Px(rect.h));
    let still = still(&item.body);
    let class = classes!(
        "item",
        outer(item),
        props.selected.then_some("pick"),
        props.ghost.then_some("ghost"),
        props.fresh.then_some("fresh"),
        props.mark
    );
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
            aria-pressed={(!still && !props.ghost).then(|| props.selected.to_string())}
            aria-label={(!props.ghost).then(|| say(&item.label))}
            aria-hidden={props.ghost.then_some("true")}
            tabindex={(!still && !props.ghost).then_some(if props.stop { "0" } else { "-1" })}
        >
            { content(item, props.dark, props.whole) }
        </div>
    }
}

/// What is no button: what cannot be chosen, and the chart, which has a slider in it.
pub fn still(body: &Body) -> bool {
    matches!(
        body,
        Body::Tray { .. }
            | Body::Totals { .. }
            | Body::Note(_)
            | Body::Store { .. }
            | Body::Pass(_)
            | Body::Terminal { .. }
            | Body::Gone { .. }
            | Body::Chart(_)
    )
}

fn outer(item: &Item) -> Classes {
    match &item.body {
        Body::Controller { of, look } => {
            let of_look = match look {
                Look::Wide if item.rect.h > 60.0 => "wide two",
                Look::Wide => "wide",
                Look::Low => "brief",
                _ => "",
            };
            classes!("card", of_look, of.leaving.then_some("leaving"))
        }
        Body::Service { .. } if item.rect.h < 50.0 => {
            classes!("card", "flat", (item.rect.w < 310.0).then_some("two"), (item.rect.h < 40.0).then_some("slim"))
        }
        Body::Stored { missing, .. } => classes!("card", "chip", (item.rect.h > 30.0).then_some("two"), missing.then_some("missing")),
        Body::Service { .. } | Body::Volume { .. } | Body::Class { .. } => classes!("card"),
        Body::Cells(cells) if cells.bare() => classes!("cells", "bare"),
        Body::Cells(_) => classes!("card", "cells"),
        Body::Pod { state, stale, .. } => {
            let thin = (item.rect.w < SLENDER && item.rect.h > 40.0).then_some("thin");
            classes!("pod", state.class(), (item.rect.h < 40.0).then_some("line"), thin, stale.then_some("stale"))
        }
        Body::Tile { state, stale, kin, old, .. } => {
            let slim = (item.rect.w < 60.0).then_some("slim");
            classes!("pod", "tile", state.class(), slim, stale.then_some("stale"), kin.then_some("kin"), old.then_some("older"))
        }
        Body::Gone { .. } => classes!("pod", "tile", "gone"),
        Body::Claim { .. } => classes!("ticket", (item.rect.h < 50.0).then_some("slim")),
        Body::Cylinder { .. } => classes!("cylinder"),
        Body::Node(node) => classes!("card", "node", (!node.ready).then_some("down")),
        Body::Tray { .. } => classes!("tray"),
        Body::Totals { .. } => classes!("card", "totals"),
        Body::Note(_) => classes!("foldnote"),
        Body::Store { .. } => classes!("card", "store", (item.rect.h < 100.0).then_some("low"), (item.rect.h < 40.0).then_some("line")),
        Body::Loop { of, big, above, far, two } => {
            classes!(
                "loop",
                (item.rect.h < 70.0).then_some("low"),
                (!of.slow.is_empty()).then_some("slow"),
                of.part.map(|_| "part"),
                (item.rect.h < 24.0).then_some("line"),
                big.then_some("big"),
                (item.rect.w < 132.0).then_some("small"),
                above.then_some("above"),
                far.then_some("far"),
                two.then_some("two"),
                of.writes.then_some("writes"),
                of.told.then_some("arcs")
            )
        }
        Body::Pass(_) => classes!("card", "pass"),
        Body::Terminal { .. } => classes!("card", "term", (item.rect.w < 210.0).then_some("tight")),
        Body::Table(_) => classes!("card", "table"),
        Body::Chart(_) => classes!("card", "chart"),
    }
}

fn content(item: &Rc<Item>, dark: bool, whole: bool) -> Html {
    match &item.body {
        Body::Controller { of, look: Look::Wide } => wide(of),
        Body::Controller { of, look: Look::Low } if whole => brief(of, item.rect.w),
        Body::Controller { of, look: Look::Stacked(budget) } if whole => stacked(of, budget, item.rect.w),
        Body::Controller { of, .. } => controller(of, item.rect.w),
        Body::Service { form } => html! {
            <div class="hd">{ tile(&item.id.kind) }<div class="grow"><small class="ell">{ &item.id.kind }</small><b class="ell">{ cut(item, 92.0 + 6.6 * form.length() as f64) }</b></div><span class={classes!("pill", (item.id.kind == "Service").then_some("network"))}>{ say(form) }</span></div>
        },
        Body::Pod { state, lead, tail, word, note, .. } => html! {
            <>
                { icon(state.glyph(), 24) }
                <div class="grow"><b class="ell"><span>{ lead }</span>{ tail }</b><small class="ell"><em>{ humps(&say(word)) }</em>{ (!note.is_empty()).then(|| format!(" · {}", say(note))) }</small></div>
            </>
        },
        Body::Tile { state, tail, note, .. } => {
            let (lead, end) = tail.split_at(tail.rfind('-').map_or(0, |at| at + 1));
            html! { <>{ icon(state.glyph(), 14) }<b class="ell"><span>{ lead }</span>{ end }</b>if !note.is_empty() { <small class="ell">{ say(note) }</small> }</> }
        }
        Body::Gone { name } => html! { <><b class="ell">{ name }</b><small>{ say(msg::tile_gone()) }</small></> },
        // On a sheet, which the stage has.
        Body::Cells(cells) if cells.bare() => super::cells::ring(cells),
        Body::Cells(cells) => html! {
            <>
                <div class={classes!("counts", (item.rect.w < 180.0).then_some("thin"))}>{ for cells.pods.counts().iter().map(|(state, n)| html! { <span><i class={swatch(*state, cells.old == 0)} /><b>{ crate::i18n::format::count(*n) }</b>{ " " }<small class="ell">{ say(cells.pods.word(*state)) }</small></span> }) }</div>
                <Sheet at={cells.at} origin={(item.rect.x, item.rect.y)} items={vec![item.clone()]} dark={dark} />
                { super::cells::ring(cells) }
            </>
        },
        Body::Claim { fact, .. } => ticket(item, fact),
        Body::Cylinder { fact, data } => cylinder(item, fact, data),
        Body::Volume { fact } => volume(&crate::i18n::format::volume(&item.id.name), fact),
        Body::Class { reclaim } => class(item, reclaim),
        Body::Node(body) if body.small.is_some() => small_node(item, body),
        Body::Node(body) => node(&cut(item, 134.0), body),
        Body::Tray { title, aside, head, rows } => tray(title, aside, head, rows),
        Body::Totals { numbers, parts } => totals(numbers, parts),
        Body::Stored { fact, .. } => stored(item, fact),
        Body::Note(text) => html! { { say(text) } },
        Body::Store { version } => store(*version),
        Body::Loop { of, .. } => loop_of(of),
        Body::Pass(pass) => super::pass::view(pass),
        Body::Terminal { state, title, lines } => terminal(*state, title, lines),
        Body::Table(of) => table(of),
        Body::Chart(of) => html! { <ChartView of={of.clone()} size={(item.rect.w, item.rect.h)} lang={super::language::current()} /> },
    }
}

/// The word of a state, which breaks between its parts where there is little room: it is never cut.
fn humps(word: &str) -> Html {
    let at = |(at, pair): (usize, &[u8])| (pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase()).then_some(at + 1);
    match word.as_bytes().windows(2).enumerate().find_map(at) {
        Some(at) => html! { <>{ &word[..at] }<wbr />{ humps(&word[at..]) }</> },
        None => html! { { word } },
    }
}

/// A column of storage on a phone, without glyphs.
const SLENDER: f64 = 150.0;

/// The name of an item, cut in the middle to the width beside what else stands in its line: letters are 7 pixels wide.
fn cut(item: &Item, taken: f64) -> String {
    crate::i18n::format::middle(&item.id.name, (((item.rect.w - taken) / 7.0) as usize).max(8))
}

fn class(item: &Item, reclaim: &Message) -> Html {
    html! {
        <div class="class">{ tile("StorageClass") }<small>{ "StorageClass" }</small><b class="ell">{ cut(item, 24.0) }</b><small>{ say(msg::class_reclaim(reclaim)) }</small></div>
    }
}

fn store(version: u64) -> Html {
    html! {
        <>
            <div class="hd"><span class="kicon cluster">{ icon("i-apiserver", 18) }</span><div class="grow"><b>{ "API server" }</b><small>{ say(msg::store_does()) }</small></div></div>
            <div class="hd"><span class="kicon cluster">{ icon("i-etcd", 18) }</span><div class="grow"><b>{ "etcd" }</b><small>{ "resourceVersion " }<em class="mono">{ version }</em></small></div></div>
        </>
    }
}

fn loop_of(of: &Loop) -> Html {
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

fn terminal(state: Option<PodState>, title: &Message, lines: &[String]) -> Html {
    html! {
        <>
            <div class="hd">if let Some(state) = state { { icon(state.glyph(), 24) } }<div class="grow"><small>{ say(msg::ui_pod_for_example()) }</small><b class="ell">{ say(title) }</b></div></div>
            <pre>{ for lines.iter().map(|line| match line.strip_prefix("/ # ") {
                Some(asked) => html! { <p><i>{ "/ # " }</i><b>{ asked }</b></p> },
                None => html! { <p>{ line }</p> },
            }) }</pre>
        </>
    }
}

fn volume(name: &str, fact: &Message) -> Html {
    html! {
        <div class="hd">{ tile("PersistentVolume") }<div class="grow"><b class="ell">{ name.to_string() }</b><small class="ell">{ say(fact) }</small></div></div>
    }
}

fn stored(item: &Item, fact: &Message) -> Html {
    let kind = &item.id.kind;
    if item.rect.h > 30.0 {
        return html! {
            <div class="hd">{ tile(kind) }<div class="grow"><small class="ell">{ kind }if !fact.is_empty() { { " · " }<em>{ say(fact) }</em> }</small><b class="ell">{ cut(item, 48.0) }</b></div></div>
        };
    }
    html! {
        <div class="hd">{ tile(kind) }<small>{ kind }</small><b class="ell">{ cut(item, 44.0 + 7.0 * kind.len() as f64) }</b></div>
    }
}

fn table(of: &Table) -> Html {
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

fn tone(tone: Tone) -> &'static str {
    match tone {
        Tone::Plain => "",
        Tone::Ok => "ok",
        Tone::Off => "off",
    }
}

/// That it is a ReplicaSet goes without saying where there is little room.
fn revision(of: &Controller) -> Message {
    match of.caption.args() {
        [Arg::Number(revision)] => msg::why_revision(*revision),
        _ => of.caption.clone(),
    }
}

fn controller(of: &Controller, width: f64) -> Html {
    // 7 pixels a letter, beside tile and padding; smaller ones in two lines where that is too few.
    let most = ((width - 64.0) / 7.2) as usize;
    let (long, name) = (of.id.name.len() > most, crate::i18n::format::front(&of.id.name, most * 2));
    // It breaks at hyphens: the end that tells it from its siblings has a line, what is before it the other.
    let name = match name.rsplit_once('-') {
        Some((of, end)) if long && of.len() >= most && end.len() <= most => format!("{}-{end}", crate::i18n::format::front(of, most - 1)),
        _ => name,
    };
    // The tile tells the kind where there is no room for both.
    let caption = if width < 190.0 { revision(of) } else { of.caption.clone() };
    // Of an image the tag tells it from another.
    let image = matches!(of.footer.args(), [Arg::Name(name)] if name.contains(':'));
    let beside = if of.chip.is_empty() { 24.0 } else { 46.0 + of.chip.length() as f64 * 6.5 };
    let footer = say(&of.footer);
    let footer = if image { crate::i18n::format::front(&footer, ((width - beside) / 6.8).max(6.0) as usize) } else { footer };
    html! {
        <>
            <div class="hd">{ tile(&of.id.kind) }<div class="grow"><small class="ell">{ say(caption) }</small><b class={if long { "long" } else { "ell" }}>{ name }</b></div></div>
            if !of.counters.is_empty() {
                <div class={classes!("nums", of.counters.iter().any(|counter| counter.value.len() > 4).then_some("long"), (width < 200.0).then_some("tight"))}>
                    { for of.counters.iter().map(|counter| html! { <div class={tone(counter.tone)} title={late(counter)}><b key={counter.value.clone()}>{ &counter.value }</b><small>{ say(counter.metric.word()) }</small></div> }) }
                </div>
            }
            if !of.footer.is_empty() || !of.chip.is_empty() {
                <div class="ft"><span class={classes!("ell", image.then_some("mono"))}>{ footer }</span>
                    if !of.chip.is_empty() { <span class="pill low">{ say(&of.chip) }</span> }
                </div>
            }
        </>
    }
}

/// What is said of a counter that its Pods have overtaken; it is also what marks it.
fn late(counter: &Counter) -> Option<String> {
    say_some(&counter.lags)
}

/// A controller in a low frame: the name, and its numbers in one line.
fn brief(of: &Controller, width: f64) -> Html {
    // Beside tile and padding; a letter of the name is 7 pixels wide, one of the caption some 6.
    let most = |beside: f64| ((width - beside) / 7.2).max(4.0) as usize;
    let name = of.id.name.as_str();
    // Of a ReplicaSet the end tells it from its siblings.
    let own = if of.id.kind == "ReplicaSet" && name.len() > most(46.0) { name.rsplit('-').next().unwrap_or(name) } else { name };
    // The tile goes before letters of the name do.
    let tiled = own.len() <= most(46.0);
    let most = most(if tiled { 46.0 } else { 18.0 });
    let small = width < 160.0;
    let caption = say(if of.id.kind == "ReplicaSet" { revision(of) } else { of.caption.clone() });
    let image = if of.id.kind == "ReplicaSet" { say(&of.footer) } else { String::new() };
    let caption = if small || image.is_empty() { caption } else { format!("{caption} · {image}") };
    let tag = image.rsplit_once(':').map(|(_, tag)| tag).filter(|_| small).unwrap_or_default();
    let value = |metric: Metric| of.counters.iter().find(|counter| counter.metric == metric);
    // As kubectl prints them where there is no room for words.
    let numbers = match (value(Metric::Desired), value(Metric::Ready)) {
        (Some(desired), Some(ready)) if small => {
            html! { <span class={tone(ready.tone)} title={late(ready)}><b>{ format!("{}/{}", ready.value, desired.value) }</b>{ " " }{ say(ready.metric.word()) }</span> }
        }
        _ => {
            html! { <>{ for of.counters.iter().take(if small { 1 } else { 3 }).map(|counter| html! { <span class={tone(counter.tone)} title={late(counter)}><b>{ &counter.value }</b>{ " " }{ say(counter.metric.word()) }</span> }) }</> }
        }
    };
    html! {
        <>
            <div class="hd">if tiled { { tile(&of.id.kind) } }<div class="grow"><small class="ell">{ caption }</small><b class="ell">{ crate::i18n::format::front(own, most) }</b></div></div>
            <div class="facts">{ numbers }if !tag.is_empty() { <em class="mono ell">{ tag }</em> }</div>
        </>
    }
}

/// A Deployment on a phone, with what its rollout may do: a stretch of each kind of Pods between the limits, and what comes next.
fn stacked(of: &Controller, budget: &Budget, width: f64) -> Html {
    let long = (width - 30.0) * 0.48;
    let bar = budget.bar(long, long);
    let cells = bar.pieces.iter().map(|(cell, x, long)| {
        html! { <rect class={classes!(cell.state.class(), cell.new.then_some("new"))} x={Px(x + 1.0).to_string()} y="4" width={Px(*long).to_string()} height="8" rx={if bar.gap > 0.0 { "2" } else { "0" }} /> }
    });
    let limit = |n: usize| format!("M{} 0V16", Px(bar.limit(n) + 1.0));
    // The chip of a Deployment says how far its update is.
    let rolls = !of.chip.is_empty();
    html! {
        <>
            <div class="hd">{ tile(&of.id.kind) }<div class="grow"><small class="ell">{ say(&of.caption) }</small><b class="ell">{ crate::i18n::format::front(&of.id.name, ((width - 150.0) / 7.2) as usize) }</b></div>
                if rolls { <span class="pill creating">{ icon("pod-creating", 12) }{ say(msg::ui_rolling()) }</span> }
            </div>
            <div class="nums">{ for of.counters.iter().map(|counter| html! { <div class={tone(counter.tone)} title={late(counter)}><b key={counter.value.clone()}>{ &counter.value }</b><small>{ say(counter.metric.word()) }</small></div> }) }</div>
            <div class="roll" aria-hidden="true">
                <div><svg width={Px(long + 2.0).to_string()} height="16">{ for cells }<path d={limit(budget.at_least)} /><path d={limit(budget.at_most)} /></svg>
                <span>{ say(msg::chart_at_least(budget.at_least)) }{ " · " }</span><span>{ say(msg::chart_at_most(budget.at_most)) }</span></div>
                <p class="ell">{ say(&budget.text) }</p>
            </div>
        </>
    }
}

fn wide(of: &Controller) -> Html {
    // How far a rollout is tells more than how it is done.
    let pill = if of.id.kind == "Deployment" && !of.chip.is_empty() { &of.chip } else { &of.footer };
    html! {
        <>
            <div class="hd">{ tile(&of.id.kind) }<div class="grow"><small>{ say(&of.caption) }</small><b class="ell">{ &of.id.name }</b></div></div>
            <div class="facts">
                { for of.counters.iter().map(|counter| html! { <span class={tone(counter.tone)} title={late(counter)}><b>{ &counter.value }</b>{ " " }{ say(counter.metric.word()) }</span> }) }
                if !pill.is_empty() { <span class="pill">{ say(pill) }</span> }
            </div>
        </>
    }
}

fn ticket(item: &Item, fact: &Message) -> Html {
    let (w, h) = (item.rect.w, item.rect.h);
    let d = format!(
        "M10 .5H{}A9.5 9.5 0 0 1 {r} 10V{}A6 6 0 0 0 {r} {}V{}A9.5 9.5 0 0 1 {} {b}H10A9.5 9.5 0 0 1 .5 {}V{}A6 6 0 0 0 .5 {}V10A9.5 9.5 0 0 1 10 .5Z",
        w - 10.0,
        h / 2.0 - 6.0,
        h / 2.0 + 6.0,
        h - 10.0,
        w - 10.0,
        h - 10.0,
        h / 2.0 + 6.0,
        h / 2.0 - 6.0,
        r = w - 0.5,
        b = h - 0.5
    );
    // Two lines tell a name that one would cut.
    let most = ((w - if w < SLENDER { 28.0 } else { 66.0 }) / 7.0).max(4.0) as usize;
    let lines = if h < 50.0 { 1 } else { 2 };
    let (long, name) = (lines > 1 && item.id.name.len() > most, crate::i18n::format::middle(&item.id.name, most * lines));
    html! {
        <>
            <svg width={Px(w).to_string()} height={Px(h).to_string()} aria-hidden="true"><path d={d} /></svg>
            <div class="in">if w >= SLENDER { { tile("PersistentVolumeClaim") } }<div class="grow"><b class={if long { "long" } else { "ell" }}>{ name }</b><small class="ell">{ say(fact) }</small></div></div>
        </>
    }
}

fn cylinder(item: &Item, fact: &Message, data: &Message) -> Html {
    let (w, h) = (item.rect.w, item.rect.h);
    html! {
        <>
            <svg width={Px(w).to_string()} height={Px(h).to_string()} aria-hidden="true">
                <path d={format!("M1 13V{}A{} 12 0 0 0 {} {}V13", h - 13.0, w / 2.0 - 1.0, w - 1.0, h - 13.0)} />
                <ellipse cx={Px(w / 2.0).to_string()} cy="13" rx={Px(w / 2.0 - 1.0).to_string()} ry="12" />
            </svg>
            <div class="in"><div class="nm">if w >= SLENDER { { icon("i-pv", 14) } }<b>{ crate::i18n::format::volume(&item.id.name) }</b></div><small>{ say(fact) }</small>
                // What a program writes by itself is not simulated: nothing is said where nobody wrote, in the room of what would be.
                if !data.is_empty() { <span class="pill storage">{ say(data) }</span> } else if item.state == "bound" { <small>{ "\u{a0}" }</small> } else { <span class="pill">{ crate::i18n::format::sentence(&item.state) }</span> }
            </div>
        </>
    }
}

fn node(name: &str, body: &NodeBody) -> Html {
    let pill = match (body.ready, body.cordoned) {
        (false, _) => html! { <span class="pill failed">{ icon("i-error", 12) }{ "NotReady" }</span> },
        (true, true) => html! { <span class="pill notready">{ icon("i-cordon", 12) }{ say(msg::ui_cordoned()) }</span> },
        (true, false) => html! { <span class="pill ready">{ icon("pod-ready", 12) }{ say(msg::ui_ready()) }</span> },
    };
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

/// One of many nodes: its name and how many Pods it has.
fn small_node(item: &Item, body: &NodeBody) -> Html {
    let glyph = match (body.ready, body.cordoned) {
        (false, _) => Some("i-error"),
        (true, true) => Some("i-cordon"),
        (true, false) => None,
    };
    html! { <div class="nh">if let Some(glyph) = glyph { { icon(glyph, 12) } }<b class="ell grow">{ &item.id.name }</b><span>{ crate::i18n::format::count(body.small.unwrap_or(0)) }</span></div> }
}

/// The strip over cells.
fn totals(numbers: &[(usize, Message)], parts: &[(PodState, bool, usize)]) -> Html {
    let count = crate::i18n::format::count;
    let rolls = parts.iter().any(|(_, old, _)| *old);
    html! {
        <>
            <div class="nums">{ for numbers.iter().map(|(n, word)| html! { <div class={(*word == msg::metric_ready()).then_some("ok")}><b>{ count(*n) }</b><small>{ say(word) }</small></div> }) }</div>
            <div class="grow">
                <div class="share">{ for parts.iter().map(|(state, old, n)| html! { <i class={swatch(*state, *old)} style={format!("flex:{n}")} /> }) }</div>
                <div class="parts">
                    { for parts.iter().map(|(state, old, n)| html! { <span><i class={swatch(*state, *old)} />{ match (rolls, state, old) {
                        (true, PodState::Ready, true) => say(msg::totals_older()),
                        (true, PodState::Ready, false) => say(msg::totals_newest()),
                        _ => say(state.word()),
                    } }<b>{ count(*n) }</b></span> }) }
                    <small>{ say(msg::ui_one_square_is_one_pod()) }</small>
                </div>
            </div>
        </>
    }
}

fn tray(title: &Message, aside: &Message, head: &Message, rows: &[[Message; 3]]) -> Html {
    html! {
        <>
            <div class="th"><b>{ say(msg::ui_unscheduled()) }</b><span class="pill">{ say(title) }</span><span class="grow" /><small>{ say(aside) }</small></div>
            <div class="tb"><small class="h">{ say(head) }</small>
                { for rows.iter().map(|[who, why, detail]| html! { <div class="tr"><span class="mono ell">{ say(who) }</span><i>{ if why.is_empty() { "" } else { "×" } }</i><b>{ say(why) }</b><small class="ell">{ say(detail) }</small></div> }) }
            </div>
        </>
    }
}
