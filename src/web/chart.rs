//! The chart of a rollout: its layers, and the values at the instant of the pointer or the keyboard.

use super::language::{Lang, say};
use i18n::format::{Px, clock};
use i18n::{Message, msg};
use std::rc::Rc;
use views::rollout::Chart;
use web_sys::{Element, KeyboardEvent, PointerEvent};
use yew::prelude::*;

/// Properties of the chart.
#[derive(Properties, PartialEq)]
pub struct Props {
    /// Chart.
    pub of: Rc<Chart>,
    /// Size in pixels.
    pub size: (f64, f64),
    /// Language of the page.
    pub lang: Lang,
}

/// Draws the chart.
#[component]
pub fn ChartView(props: &Props) -> Html {
    // Instant of the probe; `None` for the instant shown.
    let asked = use_state_eq(|| None::<u64>);
    let of = &props.of;
    let at = asked.unwrap_or(of.now).min(of.now);
    html! {
        <>
            { drawing(of, props.size) }
            { revisions(of, at, asked.is_some()) }
            { probe(of, at, &asked) }
        </>
    }
}

fn drawing(of: &Chart, (width, height): (f64, f64)) -> Html {
    html! {
        <svg width={Px(width).to_string()} height={Px(height).to_string()} aria-hidden="true">
            <pattern id="unready" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path class="line" d="M1 0V6" /></pattern>
            <pattern id="failing" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(-45)"><path class="line fls" d="M1 0V6" /></pattern>
            // With forced colours an older revision is striped.
            <pattern id="older" width="4" height="4" patternUnits="userSpaceOnUse"><path class="line" d="M0 1H4" /></pattern>
            { for of.paths.iter().map(|(class, d)| html! { <path class={class.clone()} d={d.clone()} /> }) }
            { for of.words.iter().map(|(x, y, anchor, class, text)| html! { <text x={Px(*x).to_string()} y={Px(*y).to_string()} text-anchor={*anchor} class={*class}>{ say(text) }</text> }) }
        </svg>
    }
}

/// Draws a row per revision: its colour, its name, and its number of Pods at an instant.
fn revisions(of: &Chart, at: u64, asked: bool) -> Html {
    let row = |(class, revision, [image, hash]): &(&'static str, usize, [Message; 2])| {
        if of.low {
            return html! { <tr>{ cell("mono", class, &say(image)) }{ cell("", "", &of.share(*revision, at)) }</tr> };
        }
        html! { <tr>{ cell("mono", class, &say(image)) }{ cell("mono", "", &say(hash)) }{ for of.numbers(*revision, at).map(|number| cell("", "", &number)) }</tr> }
    };
    let heads = [(msg::chart_image(), ""), (msg::chart_revision_head(), "")]
        .into_iter()
        .chain(of.heads());
    // On a phone the axis has no room for the playhead's time.
    let small = of.left < of.plot.x;
    html! {
        <div class={classes!("keys-of", small.then_some("small"), of.low.then_some("low"))} style={format!("left:{}px", Px(of.left))}>
            <p><b>{ say(&of.title) }</b>if asked || small { <span class="mono at">{ clock(at) }</span> }<span>{ say(of.line(at, asked)) }</span></p>
            <table aria-label={say(&of.title)}><thead><tr>{ for heads.map(|(words, class)| html! { <th scope="col">if !class.is_empty() { <i class={class} /> }{ say(words) }</th> }) }</tr></thead>
            <tbody>{ for of.keys.iter().map(row) }</tbody></table>
        </div>
    }
}

/// Draws a table cell, with its colour.
fn cell(class: &'static str, swatch: &'static str, words: &str) -> Html {
    html! { <td class={class}>if !swatch.is_empty() { <i class={swatch} /> }{ words.to_string() }</td> }
}

/// Draws the line that follows the pointer. By keyboard it goes from change to change.
fn probe(of: &Rc<Chart>, at: u64, asked: &UseStateHandle<Option<u64>>) -> Html {
    let plot = of.plot;
    let style = format!(
        "left:{}px;top:{}px;width:{}px;height:{}px",
        Px(plot.x),
        Px(plot.y),
        Px(plot.w),
        Px(plot.h)
    );
    let point = {
        let (asked, of) = (asked.clone(), of.clone());
        Callback::from(move |event: PointerEvent| {
            let Some(place) = event
                .target_dyn_into::<Element>()
                .map(|element| element.get_bounding_client_rect())
            else {
                return;
            };
            // The stage may be scaled differently from its layout.
            let share = (f64::from(event.client_x()) - place.left()) / place.width().max(1.0);
            asked.set(Some(of.axis.time(share * of.axis.width)));
        })
    };
    let key = {
        let (asked, of) = (asked.clone(), of.clone());
        Callback::from(move |event: KeyboardEvent| {
            let to = match event.key().as_str() {
                "ArrowRight" => Some(of.next(at, true)),
                "ArrowLeft" => Some(of.next(at, false)),
                "Home" => Some(of.axis.from),
                "End" => Some(of.now),
                "Escape" if asked.is_some() => None,
                _ => return,
            };
            event.prevent_default();
            event.stop_propagation();
            asked.set(to);
        })
    };
    let asked_now = asked.is_some();
    let leave = {
        let asked = asked.clone();
        Callback::from(move |()| asked.set(None))
    };
    html! {
        <div class="probe" style={style} role="slider" tabindex="0" aria-label={say(msg::chart_values_at_time())}
            aria-valuemin={of.axis.from.to_string()} aria-valuemax={of.now.to_string()} aria-valuenow={at.to_string()} aria-valuetext={say(of.said(at))}
            onpointermove={point} onpointerleave={leave.reform(|_: PointerEvent| ())} onblur={leave.reform(|_: FocusEvent| ())} onkeydown={key}>
            if asked_now { <i style={format!("left:{}px", Px(of.axis.x(at)))} /> }
        </div>
    }
}
