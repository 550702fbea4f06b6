//! The buttons of the clock.

use crate::i18n::format::Px;
use crate::i18n::format::clock;
use crate::i18n::{Message, msg};
use crate::session::Msg as Do;
use crate::session::speed;
use crate::session::timeline::TimelineMsg;
use crate::web::dom::{self, icon};
use crate::web::language::{Lang, say};
use crate::web::tools::Tool;
use wasm_bindgen::JsCast;
use web_sys::{HtmlInputElement, InputEvent};
use yew::prelude::*;

/// What the transport shows.
#[derive(Properties, PartialEq)]
pub struct TransportProps {
    /// The language.
    pub lang: Lang,
    /// Milliseconds.
    pub now: u64,
    /// Whether the clock runs.
    pub playing: bool,
    /// Whether the newest instant is shown.
    pub live: bool,
    /// Virtual seconds a second.
    pub speed: f64,
    /// How fast it really goes, if that is much less.
    pub reached: Option<String>,
    /// Whether breakpoints are set.
    pub breaks: bool,
    /// Which panel is open.
    pub tool: Option<Tool>,
    /// What a button does.
    pub on: Callback<Do>,
    /// A panel is to be opened or closed.
    pub on_tool: Callback<Tool>,
}

/// Clock, buttons, speed.
#[component]
pub fn Transport(props: &TransportProps) -> Html {
    dom::renders("Transport");
    let emit = |msg: Do| {
        let on = props.on.clone();
        Callback::from(move |_: MouseEvent| on.emit(msg.clone()))
    };
    let on = props.on.clone();
    let slide = Callback::from(move |event: InputEvent| {
        if let Some(input) = event.target().and_then(|target| target.dyn_into::<HtmlInputElement>().ok()) {
            on.emit(TimelineMsg::Speed(speed::at(input.value_as_number() / 100.0)).into());
        }
    });
    let tool = |of: Tool, id: &'static str, glyph: &'static str, words: Message| {
        let open = props.tool == Some(of);
        let onclick = props.on_tool.reform(move |_: MouseEvent| of);
        let set = (of == Tool::Breaks && props.breaks).then_some("set");
        html! { <button type="button" class={classes!("t", set)} id={id} aria-label={say(&words)} title={say(&words)} aria-expanded={open.to_string()} onclick={onclick}>{ icon(glyph, 16) }</button> }
    };
    html! {
        <div class="transport">
            <div class="clock"><b id="clock">{ clock(props.now) }</b><span class="grow" />
                { tool(Tool::Breaks, "break", "i-breakpoint", msg::pause_when()) }{ tool(Tool::Compare, "compare", "i-diff", msg::compare_keys()) }
                if props.live { <span class="live"><i />{ say(msg::clock_live()) }</span> } else { <span class="live rew"><i />{ say(msg::clock_past()) }</span> }
            </div>
            <div class="tbtns">
                <button type="button" class="t" aria-label={say(msg::button_previous_reconcile())} title={say(msg::button_previous_reconcile_key())} onclick={emit(TimelineMsg::StepBack.into())}>{ icon("i-stepback", 16) }</button>
                <button type="button" class="play" id="play" aria-label={if props.playing { say(msg::button_pause()) } else { say(msg::button_play()) }} onclick={emit(TimelineMsg::Toggle.into())}>{ icon(if props.playing { "i-pause" } else { "i-play" }, 16) }</button>
                <button type="button" class="t" id="step" aria-label={say(msg::button_next_reconcile())} title={say(msg::button_next_reconcile_key())} onclick={emit(TimelineMsg::Step.into())}>{ icon("i-step", 16) }</button>
                <button type="button" class="t wide" id="second" aria-label={say(msg::button_forward_second())} title={say(msg::button_forward_second_key())} onclick={emit(TimelineMsg::Seconds(1).into())}>{ "+1 s" }</button>
                <button type="button" class="t wide" id="settle" aria-label={say(msg::button_run_until_stable())} title={say(msg::button_run_until_stable_title())} onclick={emit(TimelineMsg::Settle.into())}>{ say(msg::button_until_stable()) }</button>
                <span class="grow" />
                <button type="button" class="btn sm ghost" id="restart" title={say(msg::button_start_over_title())} onclick={emit(TimelineMsg::Restart.into())}>{ say(msg::button_start_over()) }</button>
            </div>
            <div class="speed"><span>{ "0.1×" }</span>
                <input type="range" min="0" max="100" step="1" aria-label={say(msg::slider_speed())} aria-valuetext={speed::label(props.speed)} value={Px(speed::position(props.speed) * 100.0).to_string()} oninput={slide} />
                <span>{ "1000×" }</span><b class="mono">{ speed::label(props.speed) }</b>{ late(props.reached.clone()) }
            </div>
        </div>
    }
}

/// The speed that is reached, where it is less than what was asked for.
pub fn late(reached: Option<String>) -> Html {
    html! { if let Some(reached) = reached { <span class="late" title={say(msg::clock_too_slow())}>{ icon("i-warn", 12) }{ reached }</span> } }
}
