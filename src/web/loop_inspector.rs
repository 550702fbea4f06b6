//! The inspector of a control loop: its component, its watches, its work queue, and its faults.

use super::dom::icon;
use super::faults::Faults;
use super::language::{Lang, say};
use crate::web::dom;
use actions::Action;
use controller_runtime::process::Process;
use explain::remedies::ActionOffer;
use i18n::{Message, msg};
use k8s_model::Kind;
use views::draw::loops::KEYWORDS;
use views::loops::model::{Code, Loop};
use yew::prelude::*;

/// Properties of the inspector.
#[derive(Properties, PartialEq)]
pub struct Props {
    /// Loop as drawn in its diagram.
    pub of: Loop,
    /// Kinds that it watches.
    pub watches: Vec<Kind>,
    /// Pseudo-code of its last pass, if the panel in the diagram has no room for all of it.
    pub code: Vec<Code>,
    /// Faults.
    pub offers: Vec<ActionOffer>,
    /// Enters a line.
    pub on_command: Callback<Action>,
    /// Button that folds the inspector away or closes it.
    pub fold: Html,
    /// Language of the page.
    pub lang: Lang,
}

/// Draws the inspector.
#[component]
pub fn LoopInspector(props: &Props) -> Html {
    dom::renders("LoopInspector");
    let of = &props.of;
    let (component, name) = (of.actor.component, of.actor.to_string());
    let kinds = props.watches.iter().copied().map(Message::name).collect();
    let rows = [
        (
            msg::loop_component(),
            Message::name(Process::of(component).name()),
        ),
        (msg::loop_watches(), Message::list(kinds)),
        (msg::loop_work_queue(), Message::count(of.queue)),
    ];
    html! {
        <aside class="panel right" aria-label={say(msg::panel_inspector())} id="inspector">
            <div class="i-head"><span class="kicon">{ icon(of.glyph, 16) }</span>
                <div class="grow"><small>{ say(msg::loop_kind()) }if !of.slow.is_empty() { <span class="pill notready"><span class="ell">{ say(&of.slow) }</span></span> }</small><b title={name.clone()}>{ &name }</b></div>
                { props.fold.clone() }</div>
            <div class="i-body" id="i-body" tabindex="0"><dl class="kv">{ for rows.iter().map(|(name, value)| html! { <><dt>{ say(name) }</dt><dd>{ say(value) }</dd></> }) }</dl>
                if !props.code.is_empty() { { code(&props.code, "pseudo small") } }</div>
            <div class="actions"><div class="row wrap"><Faults title={msg::faults_of_loop(&name)} own={msg::loop_kind()} offers={props.offers.clone()} on_command={props.on_command.clone()} lang={props.lang} /></div></div>
        </aside>
    }
}

/// Draws the pseudo-code, with the values of the pass.
fn code(lines: &[Code], class: &'static str) -> Html {
    let lines = lines.iter().enumerate().map(|(i, line)| {
        html! {
            <li class={classes!(line.lit.then_some("lit"), line.skipped.then_some("untaken"))}>
                <i>{ i + 1 }</i><code>{ for words(&line.text) }</code>
                if !line.value.is_empty() { <b>{ say(&line.value) }</b> }
            </li>
        }
    });
    html! { <ol class={class}>{ for lines }</ol> }
}

/// Draws a line with its keywords coloured.
fn words(line: &str) -> Vec<Html> {
    line.split_inclusive(' ')
        .map(|word| {
            if KEYWORDS.contains(&word.trim()) {
                html! { <em>{ word }</em> }
            } else {
                html! { { word } }
            }
        })
        .collect()
}
