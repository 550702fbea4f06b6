//! The menu of the faults that can be injected into an object or a control loop.

use super::dom::icon;
use super::language::{Lang, say};
use crate::web::dom;
use actions::Action;
use explain::remedies::ActionOffer;
use fault::Fault;
use i18n::{Message, msg};
use yew::prelude::*;

/// Properties of the menu of faults.
#[derive(Properties, PartialEq)]
pub struct FaultsProps {
    /// Heading of the menu.
    pub title: Message,
    /// Heading of the faults of the object or loop itself.
    pub own: Message,
    /// Faults.
    pub offers: Vec<ActionOffer>,
    /// Enters a line.
    pub on_command: Callback<Action>,
    /// Language of the page.
    pub lang: Lang,
}

/// A button and its menu.
#[component]
pub fn Faults(props: &FaultsProps) -> Html {
    let fault = |offer: &ActionOffer| {
        let (on_command, action) = (props.on_command.clone(), offer.action.clone());
        let onclick = Callback::from(move |event: MouseEvent| {
            close_menu(event.target_dyn_into());
            on_command.emit(action.clone());
        });
        html! { <button type="button" onclick={onclick}><b>{ say(&offer.words) }</b><span>{ say(&offer.title) }</span></button> }
    };
    // Groups: faults of the object itself, faults of its watch events, and faults of the whole cluster.
    let of = |offer: &&ActionOffer| match offer.action {
        Action::Fault(Fault::Lose { .. } | Fault::Delay { .. } | Fault::Repeat { .. }) => 1,
        _ if offer.is_for_all() => 2,
        _ => 0,
    };
    let group = |at: usize, words: Message| {
        let mut all = props
            .offers
            .iter()
            .filter(|offer| of(offer) == at)
            .map(fault)
            .peekable();
        all.peek()
            .is_some()
            .then(|| html! { <><h4>{ say(words) }</h4>{ for all }</> })
    };
    let keys = Callback::from(|event: KeyboardEvent| {
        if event.key() == "Escape" && close_menu(event.target_dyn_into()) {
            event.stop_propagation();
        }
    });
    // The menu closes when it loses the focus.
    let left = Callback::from(|event: FocusEvent| {
        let of = event
            .target_dyn_into::<web_sys::Element>()
            .and_then(|target| target.closest("details").ok().flatten());
        let to = event
            .related_target()
            .and_then(|to| wasm_bindgen::JsCast::dyn_into::<web_sys::Node>(to).ok());
        if let Some(of) = of.filter(|of| to.is_none() || !of.contains(to.as_ref())) {
            let _ = of.remove_attribute("open");
        }
    });
    html! {
        <details class="faults" onfocusout={left} onkeydown={keys}><summary class="btn sm">{ icon("i-warn", 14) }{ say(msg::button_faults()) }</summary><div><h3>{ say(&props.title) }</h3>{ group(0, props.own.clone()) }{ group(1, msg::fault_watch()) }{ group(2, msg::fault_cluster()) }</div></details>
    }
}

/// Closes the menu around an element and focuses its button; returns true if there was one.
fn close_menu(element: Option<web_sys::HtmlElement>) -> bool {
    let Some(menu) = element.and_then(|element| element.closest("details[open]").ok().flatten())
    else {
        return false;
    };
    let _ = menu.remove_attribute("open");
    if let Some(button) = menu.query_selector("summary").ok().flatten() {
        dom::focus(&button);
    }
    true
}
