//! Cards of controllers.

use crate::web::dom::{icon, tile};
use crate::web::language::{say, say_some};
use i18n::format::Px;
use i18n::msg;
use projection::budget::Budget;
use projection::model::{ControllerCard, Counter, Tone};
use views::card_text::{self, BriefText, ControllerText};
use views::shape::Rect;
use views::variant;
use yew::prelude::*;

pub(super) fn tone(tone: Tone) -> &'static str {
    match tone {
        Tone::Plain => "",
        Tone::Ok => "ok",
        Tone::Off => "off",
    }
}

pub(super) fn controller(of: &ControllerCard, width: f64) -> Html {
    let ControllerText {
        caption,
        name,
        long,
        footer,
        mono,
    } = card_text::controller(of, width, |message| say(message));
    html! {
        <>
            <div class="hd">{ tile(&of.id.kind) }<div class="grow"><small class="ell">{ say(caption) }</small><b class={if long { "long" } else { "ell" }}>{ name }</b></div></div>
            if !of.counters.is_empty() {
                <div class={classes!("nums", card_text::has_long_numbers(of).then_some("long"), variant::has_tight_numbers(width).then_some("tight"))}>
                    { for of.counters.iter().map(|counter| html! { <div class={tone(counter.tone)} title={late(counter)}><b key={counter.value.clone()}>{ &counter.value }</b><small>{ say(counter.metric.word()) }</small></div> }) }
                </div>
            }
            if !of.footer.is_empty() || !of.chip.is_empty() {
                <div class="ft"><span class={classes!("ell", mono.then_some("mono"))}>{ footer }</span>
                    if !of.chip.is_empty() { <span class="pill low">{ say(&of.chip) }</span> }
                </div>
            }
        </>
    }
}

/// Note on a counter that lags behind its Pods; its presence also marks the counter.
pub(super) fn late(counter: &Counter) -> Option<String> {
    say_some(&counter.lags)
}

/// Draws a controller in a low frame: the name, and its numbers in one line.
pub(super) fn brief(of: &ControllerCard, width: f64) -> Html {
    let BriefText {
        tiled,
        caption,
        name,
        numbers,
        tag,
    } = card_text::brief(of, width, |message| say(message));
    let numbers = numbers.iter().map(|(value, counter)| html! { <span class={tone(counter.tone)} title={late(counter)}><b>{ value }</b>{ " " }{ say(counter.metric.word()) }</span> });
    html! {
        <>
            <div class="hd">if tiled { { tile(&of.id.kind) } }<div class="grow"><small class="ell">{ caption }</small><b class="ell">{ name }</b></div></div>
            <div class="facts">{ for numbers }if !tag.is_empty() { <em class="mono ell">{ tag }</em> }</div>
        </>
    }
}

/// Draws a Deployment on a phone with its rollout budget: a segment for each kind of Pods between the limits, and the next step.
pub(super) fn stacked(of: &ControllerCard, budget: &Budget, width: f64) -> Html {
    let long = (width - 30.0) * 0.48;
    let bar = budget.bar(long, long);
    let cells = bar.pieces.iter().map(|(cell, x, long)| {
        html! { <rect class={classes!(cell.state.class(), cell.new.then_some("new"))} x={Px(x + 1.0).to_string()} y="4" width={Px(*long).to_string()} height="8" rx={if bar.gap > 0.0 { "2" } else { "0" }} /> }
    });
    let limit = |n: usize| format!("M{} 0V16", Px(bar.limit(n) + 1.0));
    // The chip of a Deployment shows the progress of its update.
    let rolls = !of.chip.is_empty();
    let (words, state) = card_text::rolling(budget);
    html! {
        <>
            <div class="hd">{ tile(&of.id.kind) }<div class="grow"><small class="ell">{ say(&of.caption) }</small><b class="ell">{ card_text::stacked_name(of, width) }</b></div>
                if rolls { <span class={classes!("pill", state.class())}>{ icon(state.glyph(), 12) }{ say(words) }</span> }
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

pub(super) fn wide(of: &ControllerCard, rect: Rect) -> Html {
    html! {
        <>
            <div class="hd">{ tile(&of.id.kind) }<div class="grow"><small>{ say(&of.caption) }</small><b class="ell">{ &of.id.name }</b></div></div>
            <div class="facts">
                { for of.counters.iter().map(|counter| html! { <span class={tone(counter.tone)} title={late(counter)}><b>{ &counter.value }</b>{ " " }{ say(counter.metric.word()) }</span> }) }
                if let Some(pill) = card_text::wide_pill(of, rect) { <span class="pill">{ say(pill) }</span> }
            </div>
        </>
    }
}
