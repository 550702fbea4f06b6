//! The chart of a rollout: its layers, and the values at the instant of the pointer or the keyboard.

use super::language::{Lang, say};
use super::primitives::{drawing, setting};
use i18n::format::{Px, clock};
use i18n::msg;
use std::rc::Rc;
use views::draw::chart::plot;
use views::rollout::{Chart, RevisionKey, Swatch};
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
            { drawing(&plot(of, props.size, &setting())) }
            { revisions(of, at, asked.is_some()) }
            { probe(of, at, &asked) }
        </>
    }
}

/// Draws a row per revision: its colour, its name, and its number of Pods at an instant.
fn revisions(of: &Chart, at: u64, asked: bool) -> Html {
    let row = |key: &RevisionKey| {
        let image = cell("mono", Some(key.swatch), &say(&key.image));
        if of.low {
            return html! { <tr>{ image }{ cell("", None, &of.share(key.revision, at)) }</tr> };
        }
        html! { <tr>{ image }{ cell("mono", None, &say(&key.hash)) }{ for of.numbers(key.revision, at).map(|number| cell("", None, &number)) }</tr> }
    };
    let heads = [
        (msg::chart_image(), None),
        (msg::chart_revision_head(), None),
    ]
    .into_iter()
    .chain(of.heads());
    // On a phone the axis has no room for the playhead's time.
    let small = of.left < of.plot.x;
    html! {
        <div class={classes!("keys-of", small.then_some("small"), of.low.then_some("low"))} style={format!("left:{}px", Px(of.left))}>
            <p><b>{ say(&of.title) }</b>if asked || small { <span class="mono at">{ clock(at) }</span> }<span>{ say(of.line(at, asked)) }</span></p>
            <table aria-label={say(&of.title)}><thead><tr>{ for heads.map(|(words, swatch)| html! { <th scope="col">{ for swatch.map(swatch_mark) }{ say(words) }</th> }) }</tr></thead>
            <tbody>{ for of.keys.iter().map(row) }</tbody></table>
        </div>
    }
}

/// Draws a table cell, with its colour.
fn cell(class: &'static str, swatch: Option<Swatch>, words: &str) -> Html {
    html! { <td class={class}>{ for swatch.map(swatch_mark) }{ words.to_string() }</td> }
}

fn swatch_mark(swatch: Swatch) -> Html {
    html! { <i class={swatch.class()} /> }
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
