//! Offers of the page: actions to try first, the load to which an autoscaler reacts, undoing a replacement, and the menu of the history.

use super::Page;
use super::menu::Menu;
use super::message::{Msg, Overlay};
use crate::web::dom::{self, icon};
use crate::web::help;
use crate::web::language::{marked, say};
use crate::web::load::LoadSlider;
use crate::web::tools::Tool;
use crate::web::topbar::Lessons;
use crate::web::window;
use actions::Action;
use explain::{control_loop, remedies};
use gloo_timers::callback::Timeout;
use i18n::format::clock;
use i18n::{Message, msg};
use session::Msg as Do;
use session::compare::CompareMsg;
use session::console::ConsoleMsg;
use session::demo;
use session::history::{self, HistoryCommand};
use session::instant;
use session::load;
use session::replace::ReplaceMsg;
use session::selection::SelectionMsg;
use session::timeline::TimelineMsg;
use wasm_bindgen::JsCast;
use web_sys::{HtmlInputElement, KeyboardEvent, SubmitEvent};
use yew::prelude::*;

/// Milliseconds for which the result of an action is shown.
const TOAST_MS: u32 = 4_000;
/// Maximum number of commands listed by the menu of the history: the newest.
const MAX_COMMANDS: usize = 200;
/// Preference that records that the offers were closed.
const CLOSED: &str = "loopscope.offers";

impl Page {
    /// Starts the opening example, unless the page was visited before or motion is unwanted.
    pub(super) fn begin(&self) {
        if !self.settings.embed && dom::kept(CLOSED).is_none() {
            let moves = !dom::prefers("(prefers-reduced-motion: reduce)");
            self.state.borrow_mut().update(Do::Begin { moves });
        }
    }

    /// Passes a message to the state; returns true, with an announcement, if the history was forked.
    pub(super) fn carry_out(&mut self, msg: Do) -> bool {
        let mut state = self.state.borrow_mut();
        let (before, mut known) = state.timeline.run.branches();
        state.update(msg);
        known.push(before);
        let (number, others) = state.timeline.run.branches();
        let forked = !known.contains(&number) && others.contains(&before);
        if forked {
            state.announcer.say(msg::notice_branch(number, before));
        }
        forked
    }

    /// Describes the effect of a fault offered for the selected object or loop.
    pub(super) fn offered(&self, action: &Action) -> Option<Message> {
        let state = self.state.borrow();
        let sim = state.timeline.run.sim();
        let of_loop = state
            .selection
            .selected_loop
            .iter()
            .flat_map(|name| control_loop::offers(sim, name));
        let of_object = state
            .object()
            .map(|object| remedies::of(sim, object))
            .unwrap_or_default();
        let offer = of_object
            .into_iter()
            .chain(of_loop)
            .find(|offer| offer.action == *action)?;
        Some(msg::offer_done(offer.words, offer.title))
    }

    /// Closes the offers for good.
    pub(super) fn close_offers(&self) {
        self.state.borrow_mut().update(Do::CloseOffers);
        dom::keep(CLOSED, "1");
    }

    /// Closes the overlay; a question is cancelled, and an edited text discarded.
    pub(super) fn close_over(&mut self) {
        match std::mem::take(&mut self.panels.over) {
            Overlay::Ask => self.state.borrow_mut().update(ReplaceMsg::Cancel),
            Overlay::Edit => {
                let text = self.state.borrow().timeline.run.edits().map(str::to_owned);
                if let Some(text) = text {
                    self.carry_out(ConsoleMsg::Edited(text).into());
                }
            }
            _ => {}
        }
    }

    /// Loads the files for which a command waits.
    pub(super) fn load_wanted(&self, ctx: &Context<Self>) {
        let state = &mut *self.state.borrow_mut();
        if state.console.requests_descriptions(&state.timeline.run) {
            let to = ctx.link().clone();
            dom::fetch_descriptions(move |there| {
                to.send_message(Msg::Do(ConsoleMsg::Described(there).into()))
            });
        }
    }

    /// Shows the question whether to start over, or the text to edit.
    pub(super) fn ask(&mut self) {
        let state = self.state.borrow();
        let asks = match (&state.replacing.asked, state.timeline.run.edits()) {
            (Some(_), _) => Overlay::Ask,
            (None, Some(_)) => Overlay::Edit,
            (None, None) => Overlay::Nothing,
        };
        drop(state);
        if asks != Overlay::Nothing || matches!(self.panels.over, Overlay::Ask | Overlay::Edit) {
            self.panels.over = asks;
        }
    }

    /// Labels of the offered actions.
    pub(super) fn tries(&self) -> Vec<Message> {
        demo::tries(&self.state.borrow().timeline.run)
            .into_iter()
            .map(|tries| tries.words)
            .collect()
    }

    /// Runs one of the offered actions in the cluster's current state.
    pub(super) fn attempt(&mut self, at: usize) {
        self.close_over();
        let wanted = demo::tries(&self.state.borrow().timeline.run)
            .into_iter()
            .nth(at);
        if let Some(demo::Try { line, pod, .. }) = wanted {
            self.carry_out(ConsoleMsg::Run(line).into());
            // A person who deletes a Pod wants to see what replaces it.
            if pod.is_some() {
                self.carry_out(SelectionMsg::Select(pod).into());
            }
        }
    }

    /// Introduction and offers, until the first action.
    pub(super) fn offers(&self, ctx: &Context<Self>) -> Html {
        let state = self.state.borrow();
        if !window::is_whole() || !state.demo.offers && !state.demo.tells() {
            return Html::default();
        }
        let plays = state.demo.tells().then(|| {
            state
                .demo
                .next_line()
                .map_or_else(msg::demo_plays, msg::demo_runs_next)
        });
        let close = ctx.link().callback(|_: MouseEvent| Msg::CloseOffers);
        let stop = ctx.link().callback(|_: MouseEvent| Msg::Do(Do::StopDemo));
        html! {
            <aside class={classes!("offers", (!state.demo.offers).then_some("slim"))} aria-label={say(msg::help_try())}><div>
                if state.demo.offers {
                    <p>{ say(msg::help_what()) }</p>
                }
                if let Some(words) = plays {
                    <p class={state.demo.offers.then_some("dim")}>{ marked(&words) }{ " " }<button type="button" class="btn sm" id="stop-demo" onclick={stop}>{ say(msg::demo_stop()) }</button></p>
                }
                <button type="button" class="btn ghost icon" aria-label={say(msg::offers_close())} title={say(msg::offers_close())} onclick={close}>{ icon("i-cross", 14) }</button>
                if state.demo.offers {
                    { help::offers(&self.tries(), &ctx.link().callback(Msg::Try), html! { <Lessons lang={self.settings.lang} on_lesson={ctx.link().callback(Msg::OpenLesson)} /> }) }
                }
            </div></aside>
        }
    }

    /// Shows the announced result of an action for a moment.
    pub(super) fn toast(&mut self, ctx: &Context<Self>) {
        let (to, state) = (ctx.link().clone(), self.state.borrow());
        let notice = state.announcer.notice();
        let said = (!notice.is_empty()).then(|| (notice.clone(), state.announcer.failed()));
        self.timers.said = said.map(|(words, failed)| {
            (
                Timeout::new(TOAST_MS, move || to.send_message(Msg::Read)),
                words,
                failed,
            )
        });
    }

    /// Slider of the load to which the autoscaler reacts.
    pub(super) fn load(&self, ctx: &Context<Self>) -> Html {
        if !window::is_whole() || self.drawing.beside.is_some() {
            return Html::default();
        }
        let Some(load) = load::read(&self.state.borrow().timeline.run) else {
            return Html::default();
        };
        html! { <LoadSlider load={load} lang={self.settings.lang} on_fault={ctx.link().callback(|fault| Msg::Do(Do::Fault(fault)))} /> }
    }

    /// Undo button after a replacement.
    pub(super) fn undo(&self, ctx: &Context<Self>) -> Html {
        if !self.state.borrow().offers_undo() {
            return Html::default();
        }
        let to = |msg: ReplaceMsg| {
            ctx.link()
                .callback(move |_: MouseEvent| Msg::Do(msg.clone().into()))
        };
        html! {
            <div class="toast undo" role="status"><span>{ say(msg::undo_replaced()) }</span>
                <button type="button" class="btn sm" onclick={to(ReplaceMsg::Undo)}>{ say(msg::button_undo()) }</button>
                <button type="button" class="btn ghost icon" aria-label={say(msg::button_close())} title={say(msg::button_close())} onclick={to(ReplaceMsg::Dismiss)}>{ icon("i-cross", 14) }</button>
            </div>
        }
    }

    /// Menu of the history: breakpoints, comparison and branches.
    pub(super) fn history(&self, ctx: &Context<Self>) -> Html {
        if self.panels.menu != Menu::History {
            return Html::default();
        }
        let tool = |tool: Tool, id: &'static str, glyph: &'static str, words: Message| {
            let open = self.panels.tool == Some(tool);
            html! { <button type="button" class="btn ghost" id={id} aria-pressed={open.to_string()} onclick={ctx.link().callback(move |_: MouseEvent| Msg::Tool(Some(tool)))}>{ icon(glyph, 16) }{ say(words) }</button> }
        };
        html! {
            <div class="open" role="group" aria-label={say(msg::history_title())}>
                { self.go_to(ctx) }
                { tool(Tool::Breaks, "break", "i-breakpoint", msg::history_breaks()) }
                { tool(Tool::Compare, "compare", "i-diff", msg::tools_compare()) }
                <h3>{ say(msg::history_branches()) }</h3>
                { self.branches(ctx) }
                <h3>{ say(msg::history_commands()) }</h3>
                { self.commands(ctx) }
            </div>
        }
    }

    /// Form in which a time to go to is entered.
    fn go_to(&self, ctx: &Context<Self>) -> Html {
        let (state, link) = (self.state.clone(), ctx.link().clone());
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
    pub(super) fn commands(&self, ctx: &Context<Self>) -> Html {
        let state = self.state.borrow();
        let all = history::commands(&state.timeline.run);
        let link = ctx.link();
        let row = |ran: &HistoryCommand| {
            let HistoryCommand {
                number, at, line, ..
            } = ran;
            let told = [
                history::did(&state.timeline.run, &all, ran),
                history::followed(&state.timeline.run, &all, ran),
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
    pub(super) fn branches(&self, ctx: &Context<Self>) -> Html {
        let (shown, others) = self.state.borrow().timeline.run.branches();
        if others.is_empty() {
            return html! { <p class="dim">{ say(msg::history_one_branch()) }</p> };
        }
        let mut all: Vec<u32> = others.into_iter().chain([shown]).collect();
        k8s_model::sort::sort(&mut all);
        let beside = self.drawing.beside.is_some();
        let other = if beside {
            None
        } else {
            all.iter().rev().find(|number| **number != shown).copied()
        };
        let link = ctx.link();
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
