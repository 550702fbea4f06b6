//! Layout of the panels: the full page, and a phone.

use super::menu::Menu;
use super::parts::{flags, lane_clock, pill};
use super::{Msg, Overlay, Page};
use crate::web::budget::Strip;
use crate::web::dom::{self, icon};
use crate::web::language::{marked, say};
use crate::web::stage::{SceneScope, Stage};
use crate::web::timeline::{Lanes, Transport, late};
use crate::web::topbar::{logo, tabs};
use explain::words;
use i18n::format::clock;
use i18n::{Message, msg};
use session::compare::CompareMsg;
use session::drawing::Picture;
use session::experiment::Experiment;
use session::selection::SelectionMsg;
use session::speed;
use session::timeline::TimelineMsg;
use std::rc::Rc;
use views::card::Card;
use yew::prelude::*;

impl Page {
    pub(super) fn full(&self, ctx: &Context<Self>) -> Html {
        let link = ctx.link();
        let class = classes!(
            "app",
            (!self.panels.left).then_some("l0"),
            (!self.panels.right).then_some("r0"),
            self.panels.console.then_some("open-console")
        );
        let state = self.state.borrow();
        let rail = |side: &'static str,
                    words: Message,
                    show: Message,
                    name: &'static str,
                    open: Callback<MouseEvent>| {
            html! { <div class={classes!("rail", side)}><button type="button" class="btn ghost icon" aria-label={say(&show)} title={say(&show)} onclick={open}>{ icon(name, 16) }</button><span aria-hidden="true">{ say(words) }</span></div> }
        };
        html! {
            <div class={class}>
                { self.topbar(ctx) }
                if self.panels.left { { self.editor(ctx) } } else { { rail("left", msg::panel_manifest(), msg::show_manifest(), "i-panel-l", link.callback(|_| Msg::Left(true))) } }
                <main class="canvas" id="canvas">{ self.head(ctx) }{ self.budget() }{ self.lesson(ctx) }{ self.load(ctx) }{ self.offers(ctx) }{ self.stages(ctx) }{ self.step() }{ self.past(ctx) }</main>
                if self.panels.right { { self.inspector(ctx) } } else { { rail("right", msg::panel_inspector(), msg::show_inspector(), "i-panel-r", link.callback(|_| Msg::Right(true))) } }
                <section class="timeline" aria-label={say(msg::timeline_title())}>
                    <Transport lang={self.settings.lang} now={state.timeline.run.now()} playing={state.timeline.playing} live={!state.timeline.run.in_past()} rate={state.timeline.rate()} reached={self.reached()} breaks={!state.timeline.breakpoints.all().is_empty()} open={self.panels.menu} menu={if self.panels.menu == Menu::History { self.history(ctx).menu() } else { Html::default() }} on={self.on(ctx)} on_menu={ctx.link().callback(Msg::Menu)} />
                    <Lanes marks={self.drawing.marks.clone()} flags={flags(&state.compare, self.panels.tool)} only={state.selection.selected_loop.as_ref().filter(|_| state.selection.view.uses.loops).and_then(|actor| words::lane_of(actor.component))} clock={lane_clock(&state.timeline)} chain={self.inspection.causes.clone()} dark={self.settings.dark} lang={self.settings.lang} left={self.drawing.left_branch.clone()} on_seek={self.calls(ctx).seek.clone()} on_tell={self.calls(ctx).marks.0.clone()} on_pick={self.calls(ctx).marks.1.clone()} />
                    if let Some(tool) = self.panels.tool { { self.tools(ctx, tool) } }
                </section>
                { self.console(ctx) }
            </div>
        }
    }

    /// Actual speed of the clock, if it cannot keep up.
    fn reached(&self) -> Option<String> {
        self.pacing
            .reached()
            .filter(|_| self.state.borrow().timeline.playing)
            .map(speed::label)
    }

    /// Draws the diagram, or the same diagram of two branches.
    pub(super) fn stages(&self, ctx: &Context<Self>) -> Html {
        match &self.drawing.beside {
            Some(picture) => self.both(ctx, picture),
            None => self.stage(ctx),
        }
    }

    pub(super) fn both(&self, ctx: &Context<Self>, picture: &Rc<Picture>) -> Html {
        let link = ctx.link();
        let state = self.state.borrow();
        let Some(other) = &state.compare.branch else {
            return self.stage(ctx);
        };
        let branch = |number: u32| (msg::branch_title(number), Message::default());
        let (this, beside) = if other.is_event_driven() {
            (
                (
                    msg::machine_control_loops(),
                    msg::machine_control_loops_means(),
                ),
                (
                    msg::machine_event_driven(),
                    msg::machine_event_driven_means(),
                ),
            )
        } else {
            (
                branch(state.timeline.run.branches().0),
                branch(other.run.branches().0),
            )
        };
        let head = |(title, means): &(Message, Message), picture: &Picture| {
            html! { <h2>{ say(title) }{ pill(picture, None) }<small class="dim ell" title={say(means)}>{ say(means) }</small></h2> }
        };
        let (this, beside) = (head(&this, &self.drawing.picture), head(&beside, picture));
        html! {
            <>
            { self.experiments(ctx) }
            <div class="sides">
                <section class="side" aria-label={say(msg::branch_this())}>{ this }{ self.stage(ctx) }</section>
                <section class="side" aria-label={say(msg::branch_other())}>{ beside }
                    <Stage
                        id="stage-beside"
                        lang={self.settings.lang}
                        scene={picture.scene.clone()}
                        writes={picture.writes.clone()}
                        selected={other.selection.object(&other.run).map(|object| object.meta.uid.to_string())}
                        scope={SceneScope { view: other.selection.view, epoch: other.run.epoch, part: picture.part }}
                        animate={state.timeline.speed <= 100.0}
                        embed={false}
                        empty={html! { <p>{ say(msg::branch_empty()) }</p> }}
                        list={self.panels.as_list.then(Rc::default)}
                        dark={self.settings.dark}
                        whole=true
                        on_pick={link.callback(|picked: SelectionMsg| Msg::Do(picked.into()))}
                        on_why={link.callback(Msg::Why)}
                        card={None::<Rc<Card>>}
                        on_hover={Callback::noop()}
                        on_size={link.callback(|(width, height)| Msg::Other(CompareMsg::Stage(width, height).into()))}
                    />
                </section>
            </div>
            </>
        }
    }

    /// Draws the experiments on the control loops and the event-driven machine beside them.
    fn experiments(&self, ctx: &Context<Self>) -> Html {
        let state = self.state.borrow();
        if !state.compare.is_event_driven() {
            return Html::default();
        }
        let link = ctx.link();
        let all = state.compare.experiments(&state.timeline.run);
        let button = |(at, experiment): (usize, &Experiment)| {
            let onclick =
                link.callback(move |_: MouseEvent| Msg::Do(CompareMsg::Experiment(at).into()));
            html! { <button type="button" class="btn sm" title={say(&experiment.title)} {onclick}>{ say(&experiment.words) }</button> }
        };
        let label = match all.is_empty() {
            false => msg::experiment_label(),
            true if state.timeline.run.in_past() => msg::experiment_past(),
            true => msg::experiment_none(),
        };
        let anew = link.callback(|_: MouseEvent| Msg::Do(CompareMsg::BeginAnew.into()));
        let end = link.callback(|_: MouseEvent| Msg::Do(CompareMsg::EventDriven(false).into()));
        html! {
            <div class="experiments row" role="group" aria-label={say(msg::experiment_label())}>
                <span class="dim">{ say(label) }</span>{ for all.iter().enumerate().map(button) }<span class="grow" />
                if state.player.is_none() {
                    <button type="button" class="btn sm ghost" id="begin-anew" title={say(msg::machine_anew_means())} onclick={anew}>{ say(msg::machine_anew()) }</button>
                    <button type="button" class="btn sm ghost" id="end-machine" onclick={end}>{ icon("i-cross", 14) }{ say(msg::machine_end()) }</button>
                }
            </div>
        }
    }

    pub(super) fn phone(&self, ctx: &Context<Self>) -> Html {
        let link = ctx.link();
        let state = self.state.borrow();
        let inspect = |words: Message| html! { <button type="button" class="btn sm" onclick={link.callback(|_| Msg::Overlay(Overlay::Inspector))}>{ say(words) }{ icon("i-up", 14) }</button> };
        let sheet = match (&state.selection.selected, &self.inspection.why.standing) {
            _ if state.selection.inspected_loop().is_some() => {
                html! { <div class="row sh"><div class="grow"><p>{ say(msg::loop_kind()) }</p><p class="dim mono">{ state.selection.inspected_loop().map(ToString::to_string) }</p></div>{ inspect(msg::button_faults()) }</div> }
            }
            // An object that is gone has less to show than what is going on.
            (Some(key), Some(standing)) if state.object().is_some() => html! {
                <div class="row sh">{ dom::tile(key.kind.name()) }<div class="grow"><p>{ marked(&words::abbreviate_names(&standing.sentence)) }</p><p class="dim mono">{ key.name.as_str() }</p></div>
                    { inspect(msg::button_why()) }</div>
            },
            _ => {
                let pill = self.drawing.picture.pill.as_ref();
                html! {
                    <div class="row sh"><div class="grow"><p>{ pill.map(|pill| say(&pill.words)).unwrap_or_default() }</p><p class="dim">{ marked(&self.drawing.caption) }</p></div>
                        if let Some(of) = pill.and_then(|pill| pill.of.clone()) { <button type="button" class="btn sm" onclick={link.callback(move |_| Msg::Why(of.clone()))}>{ say(msg::button_why()) }{ icon("i-up", 14) }</button> }
                    </div>
                }
            }
        };
        let over = match self.panels.over {
            Overlay::Manifest => html! { <div class="fullscreen">{ self.editor(ctx) }</div> },
            Overlay::Inspector => html! { <div class="fullscreen">{ self.inspector(ctx) }</div> },
            Overlay::Console => {
                html! { <div class="fullscreen"><div class="p-head"><h2>{ say(msg::console_title()) }</h2><span class="grow" /><button type="button" class="btn" onclick={link.callback(|_| Msg::Console(false))}>{ say(msg::button_done()) }</button></div>{ self.console(ctx) }</div> }
            }
            _ => Html::default(),
        };
        html! {
            <div class="mob">
                { self.topbar(ctx) }
                <main class="stagebox">{ self.load(ctx) }{ self.stages(ctx) }{ self.lesson(ctx) }{ self.offers(ctx) }{ self.past(ctx) }</main>
                <section class="sheet" aria-label={say(msg::sheet_selection())}><i class="grab" />{ sheet }</section>
                { self.bar(ctx) }
                { tabs(state.selection.view, &link.callback(|view| Msg::Do(SelectionMsg::View(view).into())), 20, "mobtabs") }
                if let Some(tool) = self.panels.tool { { self.tools(ctx, tool) } }
                { over }
            </div>
        }
    }

    pub(super) fn bar(&self, ctx: &Context<Self>) -> Html {
        let state = self.state.borrow();
        let link = ctx.link();
        let markers = state
            .timeline
            .playback
            .iter()
            .flat_map(|playback| &playback.markers);
        let flags: Vec<_> = markers.map(|marker| (marker.at, "")).collect();
        let next = state.timeline.rate().turned();
        html! {
            <div class="pb" role="group" aria-label={say(msg::playback_controls())}>
                <button type="button" class="play" id="play" aria-label={if state.timeline.playing { say(msg::button_pause()) } else { say(msg::button_play()) }} onclick={link.callback(|_| Msg::Do(TimelineMsg::Toggle.into()))}>{ icon(if state.timeline.playing { "i-pause" } else { "i-play" }, 18) }</button>
                <button type="button" class="t" id="step" aria-label={say(msg::button_next_reconcile())} onclick={link.callback(|_| Msg::Do(TimelineMsg::Step.into()))}>{ icon("i-step", 18) }</button>
                <b class="mono" id="clock">{ clock(state.timeline.run.now()) }</b>
                <Lanes lang={self.settings.lang} slim=true flags={flags} marks={self.drawing.marks.clone()} clock={lane_clock(&state.timeline)} chain={self.inspection.causes.clone()} dark={self.settings.dark} on_seek={self.calls(ctx).seek.clone()} />
                <button type="button" class="btn sm ghost mono spd" aria-label={say(msg::speed_is(speed::label(state.timeline.speed)))} onclick={link.callback(move |_| Msg::Do(TimelineMsg::Rate(next).into()))}>{ speed::label(state.timeline.speed) }{ late(self.reached()) }</button>
                if self.settings.embed { <span class="brand">{ logo(16) }<span class="word">{ "Loopscope" }</span></span> }
            </div>
        }
    }

    pub(super) fn past(&self, ctx: &Context<Self>) -> Html {
        if let Some(stop) = &self.state.borrow().timeline.stopped {
            return html! {
                <div class="past stop" role="status"><span>{ icon("i-pause", 14) }<b>{ say(&stop.text) }</b><span class="ell">{ say(&stop.words) }</span></span>
                    <button type="button" class="btn sm primary" onclick={ctx.link().callback(|_| Msg::Do(TimelineMsg::Play.into()))}>{ say(msg::button_resume()) }</button>
                </div>
            };
        }
        if !self.state.borrow().timeline.run.in_past() || self.settings.embed {
            return Html::default();
        }
        let link = ctx.link();
        html! {
            <div class="past" role="status" title={say(msg::past_changes_branch())}><span>{ say(msg::past_notice()) }</span>
                <button type="button" class="btn sm" onclick={link.callback(|_| Msg::Do(TimelineMsg::Branch.into()))}>{ icon("i-branch", 14) }{ say(msg::button_branch_here()) }</button>
                <button type="button" class="btn sm primary" onclick={link.callback(|_| Msg::Do(TimelineMsg::Live.into()))}>{ say(msg::button_back_to_live()) }</button>
            </div>
        }
    }

    pub(super) fn budget(&self) -> Html {
        let Some(budget) = self
            .drawing
            .picture
            .budget
            .as_ref()
            .filter(|_| self.drawing.beside.is_none())
        else {
            return Html::default();
        };
        html! { <Strip lang={self.settings.lang} budget={budget.clone()} /> }
    }
}
