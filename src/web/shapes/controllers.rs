//! Cards of controllers.

use crate::i18n::format::Px;
use crate::i18n::{Arg, Message, msg};
use crate::projection::budget::Budget;
use crate::projection::model::{Controller, Counter, Metric, Tone};
use crate::views::variant;
use crate::web::dom::{icon, tile};
use crate::web::language::{say, say_some};
use yew::prelude::*;

pub(super) fn tone(tone: Tone) -> &'static str {
    match tone {
        Tone::Plain => "",
        Tone::Ok => "ok",
        Tone::Off => "off",
    }
}

/// That it is a ReplicaSet goes without saying where there is little room.
pub(super) fn revision(of: &Controller) -> Message {
    match of.caption.args() {
        [Arg::Number(revision)] => msg::why_revision(*revision),
        _ => of.caption.clone(),
    }
}

pub(super) fn controller(of: &Controller, width: f64) -> Html {
    // 7 pixels a letter, beside tile and padding; smaller ones in two lines where that is too few.
    let most = ((width - 64.0) / 7.2) as usize;
    let (long, name) = (of.id.name.len() > most, crate::i18n::format::front(&of.id.name, most * 2));
    // It breaks at hyphens: the end that tells it from its siblings has a line, what is before it the other.
    let name = match name.rsplit_once('-') {
        Some((of, end)) if long && of.len() >= most && end.len() <= most => format!("{}-{end}", crate::i18n::format::front(of, most - 1)),
        _ => name,
    };
    // The tile tells the kind where there is no room for both.
    let caption = if variant::has_short_caption(width) { revision(of) } else { of.caption.clone() };
    // Of an image the tag tells it from another.
    let image = matches!(of.footer.args(), [Arg::Name(name)] if name.contains(':'));
    let beside = if of.chip.is_empty() { 24.0 } else { 46.0 + of.chip.length() as f64 * 6.5 };
    let footer = say(&of.footer);
    let footer = if image { crate::i18n::format::front(&footer, ((width - beside) / 6.8).max(6.0) as usize) } else { footer };
    html! {
        <>
            <div class="hd">{ tile(&of.id.kind) }<div class="grow"><small class="ell">{ say(caption) }</small><b class={if long { "long" } else { "ell" }}>{ name }</b></div></div>
            if !of.counters.is_empty() {
                <div class={classes!("nums", of.counters.iter().any(|counter| counter.value.len() > 4).then_some("long"), variant::has_tight_numbers(width).then_some("tight"))}>
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
pub(super) fn late(counter: &Counter) -> Option<String> {
    say_some(&counter.lags)
}

/// A controller in a low frame: the name, and its numbers in one line.
pub(super) fn brief(of: &Controller, width: f64) -> Html {
    // Beside tile and padding; a letter of the name is 7 pixels wide, one of the caption some 6.
    let most = |beside: f64| ((width - beside) / 7.2).max(4.0) as usize;
    let name = of.id.name.as_str();
    // Of a ReplicaSet the end tells it from its siblings.
    let own = if of.id.kind == "ReplicaSet" && name.len() > most(46.0) { name.rsplit('-').next().unwrap_or(name) } else { name };
    // The tile goes before letters of the name do.
    let tiled = own.len() <= most(46.0);
    let most = most(if tiled { 46.0 } else { 18.0 });
    let small = variant::is_small_controller(width);
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
pub(super) fn stacked(of: &Controller, budget: &Budget, width: f64) -> Html {
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
                if rolls { <span class="pill creating">{ icon("pod-creating", 12) }{ say(msg::pill_rolling_out()) }</span> }
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

pub(super) fn wide(of: &Controller) -> Html {
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
