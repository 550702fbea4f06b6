//! Panels of the timeline: breakpoints, and the comparison of two instants.

use super::dom::icon;
use super::editor::change;
use super::language::{Lang, say};
use apiserver::Op;
use i18n::format::{clock, count};
use i18n::{Arg, Message, msg};
use projection::changes::{Change, together};
use session::Msg as Do;
use session::breakpoint::{Breakpoint, COMMON};
use session::compare::CompareMsg;
use session::compare::ComparedState;
use session::selection::SelectionMsg;
use session::timeline::BreakpointHit;
use session::timeline::TimelineMsg;
use std::rc::Rc;
use wasm_bindgen::JsCast;
use web_sys::{HtmlInputElement, KeyboardEvent, SubmitEvent};
use yew::prelude::*;

/// Open panel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// Breakpoints.
    Breaks,
    /// Comparison.
    Compare,
}

/// Properties of the panel.
#[derive(Properties, PartialEq)]
pub struct Props {
    /// Open panel.
    pub tool: Tool,
    /// Breakpoints.
    pub breakpoints: Vec<Breakpoint>,
    /// Error of the last condition entered.
    pub misread: Message,
    /// Breakpoint at which the clock has stopped.
    pub stopped: Option<BreakpointHit>,
    /// Snapshots A and B.
    pub instants: [Option<Rc<ComparedState>>; 2],
    /// Differences between them.
    pub difference: Option<Rc<Vec<Change>>>,
    /// Language of the page.
    pub lang: Lang,
    /// Handles the message of a button.
    pub on: Callback<Do>,
    /// Called to close the panel.
    pub on_close: Callback<()>,
}

/// Maximum number of objects listed; the rest are counted.
const MAX_LISTED_CHANGES: usize = 100;

/// Draws the panel.
#[component]
pub fn Tools(props: &Props) -> Html {
    super::dom::renders("Tools");
    let title = match props.tool {
        Tool::Breaks => msg::tools_pause_when(),
        Tool::Compare => msg::tools_compare(),
    };
    let on_close = props.on_close.clone();
    // The page's shortcuts are disabled in a field; Escape closes the panel from there too.
    let onkeydown = Callback::from(move |event: KeyboardEvent| {
        if event.key() == "Escape" {
            event.stop_propagation();
            on_close.emit(());
        }
    });
    html! {
        <section class="tools" role="dialog" aria-label={say(&title)} onkeydown={onkeydown}>
            <div class="row"><h2>{ say(title) }</h2><span class="grow" /><button type="button" class="btn ghost icon" aria-label={say(msg::button_close())} title={say(msg::button_close_key())} onclick={props.on_close.reform(|_: MouseEvent| ())}>{ icon("i-cross", 14) }</button></div>
            { if props.tool == Tool::Breaks { breaks(props) } else { compare(props) } }
        </section>
    }
}

fn send(props: &Props, msg: Do) -> Callback<MouseEvent> {
    let on = props.on.clone();
    Callback::from(move |_| on.emit(msg.clone()))
}

fn breaks(props: &Props) -> Html {
    let on = props.on.clone();
    let onsubmit = Callback::from(move |event: SubmitEvent| {
        event.prevent_default();
        let field = event
            .target_dyn_into::<web_sys::Element>()
            .and_then(|form| form.query_selector("input").ok().flatten());
        if let Some(field) = field.and_then(|field| field.dyn_into::<HtmlInputElement>().ok()) {
            on.emit(TimelineMsg::Break(field.value()).into());
            field.set_value("");
        }
    });
    html! {
        <>
            if let Some(stop) = &props.stopped {
                <p class="hit"><b class="mono">{ clock(stop.at) }</b>{ " " }{ say(&stop.text) }<small>{ say(&stop.words) }</small></p>
            }
            <ul class="set">{ for props.breakpoints.iter().enumerate().map(|(at, breakpoint)| html! {
                <li class="row"><span class="mono grow">{ &breakpoint.text }</span><button type="button" class="btn ghost icon" aria-label={say(msg::tools_remove(&breakpoint.text))} onclick={send(props, TimelineMsg::Unbreak(at).into())}>{ icon("i-cross", 12) }</button></li>
            }) }</ul>
            <form class="row" onsubmit={onsubmit}>
                <input type="text" class="filter grow mono" aria-label={say(msg::input_condition())} placeholder="ready(web) < 2" spellcheck="false" autocomplete="off" autocapitalize="off" />
                <button type="submit" class="btn sm">{ say(msg::button_add_condition()) }</button>
            </form>
            if !props.misread.is_empty() { <p class="bad" role="alert">{ say(&props.misread) }</p> }
            <p class="row wrap common">{ for COMMON.iter().filter(|text| !props.breakpoints.iter().any(|set| set.text == **text)).map(|text| html! {
                <button type="button" class="pill mono" onclick={send(props, TimelineMsg::Break((*text).into()).into())}>{ icon("i-plus", 12) }{ *text }</button>
            }) }</p>
        </>
    }
}

/// Lists the differences: each object with its fields, a person's writes before their consequences; many alike in one line.
fn groups(all: &[Change], on: &Callback<Do>) -> Vec<Html> {
    let mut out = Vec::new();
    let mut own = true;
    let mut groups = together(all);
    groups.sort_by_key(|these| !these[0].is_by_person());
    let more = groups
        .split_off(groups.len().min(MAX_LISTED_CHANGES))
        .into_iter()
        .map(<[Change]>::len)
        .sum::<usize>();
    for these in groups {
        let first = &these[0];
        // Each kind has a usual writer.
        if std::mem::replace(&mut own, first.is_by_person()) && !own && !out.is_empty() {
            out.push(html! { <li class="by"><h3>{ say(msg::compare_written_by_controllers()) }</h3></li> });
        }
        out.push(match these {
            [one] => change(one, Some(on)),
            [gone, came] if gone.key == came.key => replaced(came, on),
            many => alike(many, on),
        });
    }
    if more > 0 {
        out.push(html! { <li class="dim">{ say(msg::and_more(more)) }</li> });
    }
    out
}

/// Draws an object that was deleted and another of the same name that was created.
fn replaced(came: &Change, on: &Callback<Do>) -> Html {
    let key = came.key.clone();
    html! {
        <li><p><i aria-hidden="true">{ "±" }</i><span>{ came.key.kind.name() }</span><button type="button" class="wl" onclick={on.reform(move |_: MouseEvent| SelectionMsg::Select(Some(key.clone())).into())}><b class="mono">{ &*came.key.name }</b></button><small>{ say(msg::change_replaced()) }</small></p></li>
    }
}

/// Draws many objects with similar names that were created or deleted.
fn alike(many: &[Change], on: &Callback<Do>) -> Html {
    let first = &many[0];
    let (sign, class, word) = if first.op == Op::Added {
        ("+", "new", msg::change_created())
    } else {
        ("−", "gone", msg::change_deleted())
    };
    let name = &first.key.name[..first.key.name.rfind('-').map_or(0, |at| at + 1)];
    html! {
        <li class={class}><details class="many"><summary><i aria-hidden="true">{ sign }</i><span>{ format!("{} × {}", count(many.len()), first.key.kind.name()) }</span><b class="mono">{ format!("{name}…") }</b><small>{ say(word) }</small></summary>
            <ul>{ for many.iter().take(MAX_LISTED_CHANGES).map(|one| change(one, Some(on))) }if many.len() > MAX_LISTED_CHANGES { <li class="dim">{ say(msg::and_more(many.len() - MAX_LISTED_CHANGES)) }</li> }</ul></details>
        </li>
    }
}

fn compare(props: &Props) -> Html {
    // With one branch its number is not needed.
    let several = props
        .instants
        .iter()
        .flatten()
        .any(|instant| instant.branch > 1);
    let mark = |second: bool| {
        let name = if second { "B" } else { "A" };
        let at = props.instants[usize::from(second)].as_ref();
        let words = at.map_or_else(msg::field_not_set, |instant| match several {
            true => msg::tools_instant(instant.at, instant.branch),
            false => Message::only(Arg::Clock(instant.at as i64)),
        });
        html! { <div class="row"><button type="button" class="btn sm" onclick={send(props, CompareMsg::Mark(second).into())}>{ say(msg::tools_mark(name)) }<kbd>{ name.to_ascii_lowercase() }</kbd></button><span class="mono dim">{ say(words) }</span></div> }
    };
    let list = props.difference.as_ref().map(|all| {
        let of = |op: Op| all.iter().filter(|change| change.op == op).count();
        html! {
            <>
                <p class="sum">{ say(msg::tools_change_counts(of(Op::Added), of(Op::Deleted), of(Op::Modified))) }</p>
                <ul class="changes" tabindex="0" aria-label={say(msg::compare_differences())}>{ for groups(all, &props.on) }</ul>
            </>
        }
    });
    html! {
        <>
            { mark(false) }{ mark(true) }
            { for list }
            if props.instants.iter().any(Option::is_some) {
                <button type="button" class="btn sm ghost" onclick={send(props, CompareMsg::Unmark.into())}>{ say(msg::button_clear_marks()) }</button>
            }
        </>
    }
}
