//! The inspector of a control loop: its component, its watches, its work queue, and its faults.

use super::dom::icon;
use super::faults::Faults;
use super::language::{Lang, say};
use crate::web::dom;
use actions::Action;
use controller_runtime::process::Process;
use explain::remedies::ActionOffer;
use i18n::{Message, msg};
use k8s_model::{Kind, Str};
use session::stepping::{Stepping, SteppingMsg};
use views::draw::loops::KEYWORDS;
use views::loops::model::{Code, Loop};
use web_sys::{KeyboardEvent, MouseEvent};
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
    /// Program, if the loop is one.
    pub program: Option<LoopProgram>,
    /// Called with a message of the steps of its pass.
    pub on_step: Callback<SteppingMsg>,
    /// Faults.
    pub offers: Vec<ActionOffer>,
    /// Enters a line.
    pub on_command: Callback<Action>,
    /// Button that folds the inspector away or closes it.
    pub fold: Html,
    /// Language of the page.
    pub lang: Lang,
}

/// Program of a loop, with its breakpoints and the pass that is looked at.
#[derive(Clone, PartialEq)]
pub struct LoopProgram {
    /// Text.
    pub text: Str,
    /// Lines with a breakpoint.
    pub breaks: Vec<u32>,
    /// Pass that is looked at line by line.
    pub stepping: Option<Stepping>,
    /// Key whose last pass failed, with the problem and its line.
    pub failing: Option<(String, Message, u32)>,
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
                if let Some(program) = &props.program { { lines(props, program) } } else if !props.code.is_empty() { { code(&props.code, "pseudo small") } }</div>
            <div class="actions"><div class="row wrap"><Faults title={msg::faults_of_loop(&name)} own={msg::loop_kind()} offers={props.offers.clone()} on_command={props.on_command.clone()} lang={props.lang} /></div></div>
        </aside>
    }
}

/// Draws the lines of a program, each a button of its breakpoint, and the steps of the pass.
fn lines(props: &Props, program: &LoopProgram) -> Html {
    let actor = &props.of.actor;
    let send = |msg: SteppingMsg| props.on_step.reform(move |_: MouseEvent| msg.clone());
    let step = program.stepping.as_ref().and_then(Stepping::step);
    let rows = (1..).zip(program.text.trim_end().lines()).map(|(number, text)| {
        let is_set = program.breaks.contains(&number);
        let is_bad = program.failing.as_ref().is_some_and(|(.., line)| *line == number);
        let is_here = step.is_some_and(|step| step.line == number);
        let label = match is_set {
            true => msg::program_unbreak(number),
            false => msg::program_break(number),
        };
        let toggle = send(SteppingMsg::Toggle(actor.clone(), number));
        html! {
            <li class={classes!(is_here.then_some("lit"), is_set.then_some("break"), is_bad.then_some("bad"))} aria-current={is_here.then_some("step")}>
                <button type="button" class="line" aria-pressed={is_set.to_string()} aria-label={say(&label)} title={say(&label)} onclick={toggle}>{ number }</button><code>{ for words(text) }</code>
            </li>
        }
    });
    let (on_step, steps) = (props.on_step.clone(), program.stepping.is_some());
    let onkeydown = Callback::from(move |event: KeyboardEvent| {
        let by = match event.key().as_str() {
            "ArrowDown" if steps => 1,
            "ArrowUp" if steps => -1,
            _ => return,
        };
        event.prevent_default();
        event.stop_propagation();
        on_step.emit(SteppingMsg::Go(by));
    });
    let bar = match &program.stepping {
        None => html! {
            <button type="button" class="btn" id="step-into" onclick={send(SteppingMsg::Open(actor.clone()))}>{ icon("i-step", 16) }{ say(msg::program_step_into()) }</button>
        },
        Some(stepping) => {
            let (at, all) = (stepping.at + 1, stepping.steps.len());
            html! { <>
                <button type="button" class="btn icon" id="step-line-back" disabled={at == 1} aria-label={say(msg::program_back())} title={say(msg::program_back())} onclick={send(SteppingMsg::Go(-1))}>{ icon("i-stepback", 16) }</button>
                <button type="button" class="btn icon" id="step-line" disabled={at == all} aria-label={say(msg::program_next())} title={say(msg::program_next())} onclick={send(SteppingMsg::Go(1))}>{ icon("i-step", 16) }</button>
                <span class="grow mono" role="status">{ say(msg::program_step(at, all, &stepping.key.name, stepping.time.0 / 1000)) }</span>
                <button type="button" class="btn" id="step-out" onclick={send(SteppingMsg::Close)}>{ say(msg::program_close()) }</button>
            </> }
        }
    };
    html! {
        <div class="program" tabindex="0" role="group" aria-label={say(msg::program_label())} {onkeydown}>
            <div class="row">{ bar }</div>
            if let Some((key, problem, _)) = &program.failing { <p class="says" role="status">{ say(msg::program_failing(key, problem)) }</p> }
            <ol class="pseudo small">{ for rows }</ol>
            if let Some(stepping) = &program.stepping { { values(stepping) } }
        </div>
    }
}

/// Draws the values of names after a step; those that it has changed stand out.
fn values(stepping: &Stepping) -> Html {
    let changed = stepping.changed();
    let all = stepping.step().map(|step| step.values.as_slice());
    let rows = all.unwrap_or_default().iter().map(|(name, value)| {
        let is_new = changed.contains(&name.as_str());
        html! { <><dt class="mono">{ name }</dt><dd class="mono">if is_new { <b>{ value }</b> } else { { value } }</dd></> }
    });
    html! { <dl class="kv" aria-live="polite">{ for rows }</dl> }
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
