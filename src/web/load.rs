//! The slider of the CPU load that an autoscaler reacts to.

use super::language::{Lang, say};
use fault::Fault;
use i18n::msg;
use session::load::CpuLoad;
use wasm_bindgen::JsCast;
use web_sys::HtmlInputElement;
use yew::prelude::*;

#[derive(PartialEq, Properties)]
pub struct LoadProps {
    pub load: CpuLoad,
    pub lang: Lang,
    /// Sets another load by a fault.
    pub on_fault: Callback<Fault>,
}

/// Draws the slider. While it is held it keeps its position, though the page is redrawn with each frame of the clock.
#[component]
pub fn LoadSlider(props: &LoadProps) -> Html {
    let held = use_state_eq(|| None::<i64>);
    let value_of = |event: &Event| {
        Some(
            event
                .target()?
                .dyn_into::<HtmlInputElement>()
                .ok()?
                .value_as_number() as i64,
        )
    };
    let (hold, own) = (held.clone(), props.load.milli);
    // At its original position it is not held: no change event would report its release.
    let oninput = Callback::from(move |event: InputEvent| {
        hold.set(value_of(&event).filter(|value| *value != own))
    });
    let (release, load, on_fault) = (held.clone(), props.load.clone(), props.on_fault.clone());
    let onchange = Callback::from(move |event: Event| {
        release.set(None);
        if let Some(value) = value_of(&event) {
            on_fault.emit(load.fault(value));
        }
    });
    let value = held.unwrap_or(props.load.milli).to_string();
    let most = props.load.most.to_string();
    html! {
        <div class="load" title={say(msg::load_reports())}><label for="load">{ say(msg::load_label(props.load.selector())) }</label><span class="dim mono">{ "0" }</span>
            <input type="range" id="load" min="0" max={most.clone()} step={props.load.step().to_string()} value={value.clone()} aria-valuetext={format!("{value}m")} oninput={oninput} onchange={onchange} />
            <span class="dim mono">{ format!("{most}m") }</span><b class="mono">{ format!("{value}m") }</b></div>
    }
}
