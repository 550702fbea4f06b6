//! History of the run: a time to go to, breakpoints, comparison, branches, and the commands that were run.

use super::menu::Menu;
use super::{Msg, Page};
use crate::web::dom::icon;
use crate::web::language::say;
use crate::web::tools::Tool;
use i18n::format::clock;
use i18n::{Message, msg};
use session::State;
use session::compare::CompareMsg;
use session::console::ConsoleMsg;
use session::history::{self, HistoryCommand};
use session::instant;
use session::timeline::TimelineMsg;
use std::cell::RefCell;
use std::rc::Rc;
use wasm_bindgen::JsCast;
use web_sys::{HtmlInputElement, KeyboardEvent, SubmitEvent};
use yew::html::Scope;
use yew::prelude::*;

/// Maximum number of commands listed: the newest.
const MAX_COMMANDS: usize = 200;

/// History of the run.
pub(super) struct History<'a> {
    pub(super) state: &'a Rc<RefCell<State>>,
    pub(super) link: &'a Scope<Page>,
    /// Open panel of the timeline.
    pub(super) tool: Option<Tool>,
    /// True if another branch is drawn beside this one.
    pub(super) beside: bool,
}

impl History<'_> {
    /// Menu of the history: breakpoints, comparison and branches.
    pub(super) fn menu(&self) -> Html {
        let tool = |tool: Tool, id: &'static str, glyph: &'static str, words: Message| {
            let open = self.tool == Some(tool);
            html! { <button type="button" class="btn ghost" id={id} aria-pressed={open.to_string()} onclick={self.link.callback(move |_: MouseEvent| Msg::Tool(Some(tool)))}>{ icon(glyph, 16) }{ say(words) }</button> }
        };
        html! {
            <div class="open" role="group" aria-label={say(msg::history_title())}>
                { self.go_to() }
                { tool(Tool::Breaks, "break", "i-breakpoint", msg::history_breaks()) }
                { tool(Tool::Compare, "compare", "i-diff", msg::tools_compare()) }
                { self.event_driven() }
                <h3>{ say(msg::history_branches()) }</h3>
                { self.branches() }
                <h3>{ say(msg::history_commands()) }</h3>
                { self.commands() }
            </div>
        }
    }

    /// Switch of the event-driven machine beside the cluster.
    pub(super) fn event_driven(&self) -> Html {
        let state = self.state.borrow();
        if state.timeline.run.follows() {
            return Html::default();
        }
        let on = state.compare.is_event_driven();
        let onclick = self.link.batch_callback(move |_: MouseEvent| {
            let switch = CompareMsg::EventDriven(!on);
            vec![Msg::Menu(Menu::None), Msg::Do(switch.into())]
        });
        html! { <button type="button" class="btn ghost" id="event-driven" aria-pressed={on.to_string()} title={say(msg::machine_beside_means())} {onclick}>{ icon(if on { "i-check" } else { "i-diff" }, 16) }{ say(msg::machine_beside()) }</button> }
    }

    /// Form in which a time to go to is entered.
    fn go_to(&self) -> Html {
        let (state, link) = (self.state.clone(), self.link.clone());
        let on_submit = Callback::from(move |event: SubmitEvent| {
            event.prevent_default();
            let form = event
                .target()
                .and_then(|target| target.dyn_into::<web_sys::Element>().ok());
            let input = form.and_then(|form| {
                form.query_selector("input")
                    .ok()
                    .flatten()?
                    .dyn_into::<HtmlInputElement>()
                    .ok()
            });
            let Some(input) = input else { return };
            let (now, end) = (
                state.borrow().timeline.run.now(),
                state.borrow().timeline.run.end(),
            );
            let to = instant::parse(&input.value(), now);
            let _ =
                input.set_attribute("aria-invalid", if to.is_some() { "false" } else { "true" });
            if let Some(to) = to {
                link.send_message(Msg::Do(TimelineMsg::Seek(to.min(end)).into()));
            }
        });
        html! {
            <form class="row goto" onsubmit={on_submit}><label for="go-to">{ say(msg::history_go_to()) }</label><input id="go-to" class="mono" size="9" placeholder="1:30, −5m" title={say(msg::history_go_to_form())} autocomplete="off" onkeydown={Callback::from(|event: KeyboardEvent| if event.key() != "Escape" { event.stop_propagation() })} /></form>
        }
    }

    /// Lists the commands that were run, newest first: to go to their time, or to run them again.
    pub(super) fn commands(&self) -> Html {
        let state = self.state.borrow();
        let all = history::commands(&state.timeline.run);
        let link = self.link;
        let row = |ran: &HistoryCommand| {
            let HistoryCommand {
                number, at, line, ..
            } = ran;
            let told = [
                history::did(&state.timeline.run, ran),
                history::followed(&state.timeline.run, ran),
            ];
            let told = told.into_iter().filter(|one| !one.is_empty());
            let (at, number) = (*at, *number);
            let go = link.callback(move |_: MouseEvent| Msg::Do(TimelineMsg::Seek(at).into()));
            let before = at.saturating_sub(1);
            let before =
                link.callback(move |_: MouseEvent| Msg::Do(TimelineMsg::Seek(before).into()));
            let since = link.callback(move |_: MouseEvent| Msg::Do(CompareMsg::Since(at).into()));
            let again = link.batch_callback(move |_: MouseEvent| {
                vec![
                    Msg::Menu(Menu::None),
                    Msg::Do(ConsoleMsg::Run(format!("!{number}")).into()),
                ]
            });
            let small = |words: Message,
                         label: Message,
                         title: Message,
                         onclick: Callback<MouseEvent>| {
                html! { <button type="button" class="btn ghost sm" aria-label={say(label)} title={say(title)} onclick={onclick}>{ say(words) }</button> }
            };
            html! {
                <li key={number}><button type="button" class="btn ghost" title={format!("{line}\n{}", say(msg::chain_go_to_time()))} onclick={go}><span class="mono dim">{ clock(at) }</span><span><span class="mono ell">{ &**line }</span>{ for told.map(|one| html! { <small class="dim">{ say(one) }</small> }) }</span></button>
                    <span class="row">
                        { small(msg::history_before_short(), msg::history_before_line(&**line), msg::history_before(), before) }
                        { small(msg::history_compare_short(), msg::history_compare_line(&**line), msg::history_compare(), since) }
                        { small(msg::history_run_again(), msg::history_run_line_again(&**line), msg::history_run_again(), again) }
                    </span></li>
            }
        };
        html! { <ol class="ran" aria-label={say(msg::history_commands())}>{ for all.iter().rev().filter(|ran| !state.demo.has_run(ran.at)).take(MAX_COMMANDS).map(row) }</ol> }
    }

    /// Selector of the history's branches, and of one to show beside this one.
    pub(super) fn branches(&self) -> Html {
        let (shown, others) = self.state.borrow().timeline.run.branches();
        if others.is_empty() {
            return html! { <p class="dim">{ say(msg::history_one_branch()) }</p> };
        }
        let mut all: Vec<u32> = others.into_iter().chain([shown]).collect();
        all.sort();
        let beside = self.beside;
        let other = if beside {
            None
        } else {
            all.iter().rev().find(|number| **number != shown).copied()
        };
        let link = self.link;
        let branch = |number: u32| {
            html! { <button type="button" class="btn ghost" aria-pressed={(number == shown).to_string()} onclick={link.callback(move |_: MouseEvent| Msg::Do(TimelineMsg::Switch(number).into()))}>{ icon(if number == shown { "i-check" } else { "i-branch" }, 16) }{ say(msg::branch_title(number)) }</button> }
        };
        html! {
            <>
                { for all.iter().copied().map(branch) }
                <button type="button" class="btn ghost" id="beside" aria-pressed={beside.to_string()} onclick={link.callback(move |_: MouseEvent| Msg::Do(CompareMsg::With(other).into()))}>{ icon(if beside { "i-check" } else { "i-diff" }, 16) }{ say(msg::button_side_by_side()) }</button>
            </>
        }
    }
}
