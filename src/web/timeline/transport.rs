//! Controls of the clock.

use crate::web::dom::{self, icon};
use crate::web::language::{Lang, say};
use crate::web::page::{Menu, has_left};
use i18n::format::Px;
use i18n::format::clock;
use i18n::msg;
use session::Msg as Do;
use session::replace::{ReplaceMsg, Replacement};
use session::speed::{self, ClockRate};
use session::timeline::TimelineMsg;
use wasm_bindgen::JsCast;
use web_sys::{HtmlInputElement, InputEvent};
use yew::prelude::*;

/// Properties of the transport.
#[derive(Properties, PartialEq)]
pub struct TransportProps {
    /// Language of the page.
    pub lang: Lang,
    /// Time shown, in milliseconds.
    pub now: u64,
    /// True while the clock runs.
    pub playing: bool,
    /// True if the newest instant is shown.
    pub live: bool,
    /// Rate of the clock.
    pub rate: ClockRate,
    /// Actual speed, if it is much lower.
    pub reached: Option<String>,
    /// True if breakpoints are set.
    pub breaks: bool,
    /// Open menu.
    pub open: Menu,
    /// Menu of the history.
    pub menu: Html,
    /// Handles the message of a button.
    pub on: Callback<Do>,
    /// A menu is to be opened or closed.
    pub on_menu: Callback<Menu>,
}

/// Draws the clock, buttons and speed.
#[component]
pub fn Transport(props: &TransportProps) -> Html {
    dom::renders("Transport");
    let emit = |msg: Do| {
        let on = props.on.clone();
        Callback::from(move |_: MouseEvent| on.emit(msg.clone()))
    };
    let on = props.on.clone();
    let slide = Callback::from(move |event: InputEvent| {
        if let Some(input) = event
            .target()
            .and_then(|target| target.dyn_into::<HtmlInputElement>().ok())
        {
            on.emit(TimelineMsg::Rate(ClockRate::at(input.value_as_number() / 100.0)).into());
        }
    });
    let (on, now) = (props.on.clone(), props.rate);
    // Arrow keys go from stop to stop: a step of the slider itself would snap back to the stop.
    let onkeydown = Callback::from(move |event: KeyboardEvent| {
        if let Some(rate) = now.by_key(&event.key()) {
            event.prevent_default();
            on.emit(TimelineMsg::Rate(rate).into());
        }
    });
    let left = props.on_menu.clone();
    let speeds = props.open == Menu::Speed;
    let choices = |stops: &[f64], by_cause| {
        let choice = |speed: &f64| {
            let rate = ClockRate {
                speed: *speed,
                by_cause,
            };
            html! { <button type="button" class="btn sm ghost mono" aria-pressed={(rate == props.rate).to_string()} onclick={emit(TimelineMsg::Rate(rate).into())}>{ speed::label(*speed) }</button> }
        };
        stops.iter().map(choice).collect::<Html>()
    };
    let ClockRate { speed, by_cause } = props.rate;
    let value = if by_cause {
        say(msg::speed_by_cause(speed::label(speed)))
    } else {
        speed::label(speed)
    };
    let onfocusout = Callback::from(move |event: FocusEvent| {
        if has_left(&event) {
            left.emit(Menu::None);
        }
    });
    html! {
        <div class="transport">
            <div class="clock"><b id="clock">{ clock(props.now) }</b><span class="grow" />
                <span class="pops up" onfocusout={&onfocusout}>
                    <button type="button" class={classes!("btn", "sm", "ghost", "opens", props.breaks.then_some("set"))} id="history" title={say(msg::history_menu())} aria-expanded={(props.open == Menu::History).to_string()} onclick={props.on_menu.reform(|_: MouseEvent| Menu::History)}>{ say(msg::history_title()) }{ icon("i-up", 14) }</button>
                    if props.open == Menu::History { { props.menu.clone() } }
                </span>
                if props.live && !props.playing { <span class="live rew"><i />{ say(msg::clock_paused()) }</span> } else if props.live { <span class="live"><i />{ say(msg::clock_live()) }</span> } else { <span class="live rew"><i />{ say(msg::clock_past()) }</span> }
            </div>
            <div class="tbtns">
                <button type="button" class="t" aria-label={say(msg::button_previous_reconcile())} title={say(msg::button_previous_reconcile_key())} onclick={emit(TimelineMsg::StepBack.into())}>{ icon("i-stepback", 16) }</button>
                <button type="button" class="play" id="play" aria-label={if props.playing { say(msg::button_pause()) } else { say(msg::button_play()) }} title={if props.playing { say(msg::button_pause_key()) } else { say(msg::button_play_key()) }} onclick={emit(TimelineMsg::Toggle.into())}>{ icon(if props.playing { "i-pause" } else { "i-play" }, 16) }</button>
                <button type="button" class="t" id="step" aria-label={say(msg::button_next_reconcile())} title={say(msg::button_next_reconcile_key())} onclick={emit(TimelineMsg::Step.into())}>{ icon("i-step", 16) }</button>
                <button type="button" class="t wide" id="second" aria-label={say(msg::button_forward_second())} title={say(msg::button_forward_second_key())} onclick={emit(TimelineMsg::Seconds(1).into())}>{ "+1 s" }</button>
                <button type="button" class="t wide" id="settle" aria-label={say(msg::button_run_until_stable())} title={say(msg::with_key(msg::button_run_until_stable_title(), "s"))} onclick={emit(TimelineMsg::Settle.into())}>{ say(msg::button_until_stable()) }</button>
                <span class="grow" />
                <button type="button" class="btn sm ghost" id="restart" title={say(msg::with_key(msg::button_start_over_title(), "r"))} onclick={emit(ReplaceMsg::Ask(Replacement::StartOver).into())}>{ say(msg::button_start_over()) }</button>
            </div>
            <div class="speed"><button type="button" class="btn sm ghost" id="pace-by-cause" aria-pressed={by_cause.to_string()} title={say(msg::with_key(msg::button_by_cause_title(), "c"))} onclick={emit(TimelineMsg::ByCause(!by_cause).into())}>{ say(msg::button_by_cause()) }</button>
                <input type="range" min="0" max="100" step="1" aria-label={say(msg::slider_speed())} title={say(msg::slider_speed_key())} aria-valuetext={value} value={Px(props.rate.position() * 100.0).to_string()} oninput={slide} {onkeydown} />
                <span>{ "1000×" }</span><span class="pops up" onfocusout={&onfocusout}>
                    <button type="button" class="btn sm ghost mono opens" id="speed" title={say(msg::slider_speed_key())} aria-label={say(msg::speed_is(speed::label(speed)))} aria-expanded={speeds.to_string()} onclick={props.on_menu.reform(|_: MouseEvent| Menu::Speed)}>{ speed::label(speed) }</button>
                    if speeds { <div class="open speeds" role="group" aria-label={say(msg::slider_speed())}>{ paces(say(msg::button_by_cause()), choices(&speed::CAUSAL_STOPS, true)) }{ paces(say(msg::pace_real()), choices(&speed::STOPS, false)) }</div> }
                </span>{ late(props.reached.clone()) }
            </div>
        </div>
    }
}

/// Draws the speeds of a pace below its name.
fn paces(name: String, speeds: Html) -> Html {
    html! { <span role="group" aria-label={name.clone()}><b aria-hidden="true">{ name }</b>{ speeds }</span> }
}

/// Draws the actual speed, if it is lower than requested.
pub fn late(reached: Option<String>) -> Html {
    html! { if let Some(reached) = reached { <span class="late" title={say(msg::clock_too_slow())}>{ icon("i-warn", 12) }{ reached }</span> } }
}
