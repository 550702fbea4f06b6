//! Offers of the page: actions to try first, the load to which an autoscaler reacts, undoing a replacement, and the menu of the history.

use super::Page;
use super::message::{Msg, Overlay};
use crate::web::dom::{self, icon};
use crate::web::help;
use crate::web::language::{marked, say};
use crate::web::load::LoadSlider;
use crate::web::window;
use i18n::{Message, msg};
use session::Msg as Do;
use session::console::ConsoleMsg;
use session::demo;
use session::lesson::Player;
use session::load;
use session::replace::ReplaceMsg;
use session::selection::SelectionMsg;
use yew::prelude::*;

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
        self.panels.stage(state.player.as_ref().map(Player::staged));
        forked
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
            <aside class={classes!("offers", (!state.demo.offers).then_some("slim"), state.selection.view.uses.loops.then_some("brief"))} aria-label={say(msg::help_try())}><div>
                if state.demo.offers {
                    <p>{ say(msg::help_what()) }</p>
                }
                if let Some(words) = plays {
                    <p class={state.demo.offers.then_some("dim")}>{ marked(&words) }{ " " }<button type="button" class="btn sm" id="stop-demo" onclick={stop}>{ say(msg::demo_stop()) }</button></p>
                }
                <button type="button" class="btn ghost icon" aria-label={say(msg::offers_close())} title={say(msg::offers_close())} onclick={close}>{ icon("i-cross", 14) }</button>
                if state.demo.offers {
                    <div class="row wrap ways">{ self.doors(ctx) }{ help::offers(&self.tries(), &ctx.link().callback(Msg::Try)) }</div>
                }
            </div></aside>
        }
    }

    /// Two ways in: the lessons, and the reader's own manifest.
    fn doors(&self, ctx: &Context<Self>) -> Html {
        let learn = ctx
            .link()
            .callback(|_: MouseEvent| Msg::Overlay(Overlay::Learn));
        let paste = ctx.link().callback(|_: MouseEvent| Msg::Paste);
        html! {
            <div class="doors"><button type="button" class="btn sm primary" id="door-learn" aria-haspopup="dialog" onclick={learn}>{ icon("i-learn", 14) }{ say(msg::offers_learn()) }</button>
                <button type="button" class="btn sm" id="door-paste" onclick={paste}>{ icon("i-file", 14) }{ say(msg::offers_paste()) }</button></div>
        }
    }

    /// Opens the manifest with its text selected, so that what is pasted replaces it.
    pub(super) fn paste(&mut self) {
        if self.panels.is_narrow() {
            self.panels.over = Overlay::Manifest;
        } else {
            self.panels.open_left(true);
            dom::select_text("#manifest");
        }
    }

    /// Shows the announced result of an action for a moment.
    pub(super) fn toast(&mut self, ctx: &Context<Self>) {
        self.notices
            .toast(&self.state.borrow().announcer, ctx.link());
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
}
