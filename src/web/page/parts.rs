//! The panels with their properties.

use super::history::History;
use super::menu::{Menu, has_left};
use super::pickers::Pickers;
use super::{Msg, Overlay, Page};
use crate::web::console::Console;
use crate::web::dom::icon;
use crate::web::editor::Editor;
use crate::web::inspector::{self, Inspector};
use crate::web::language::tongue;
use crate::web::language::{Lang, marked, say};
use crate::web::loop_inspector::{LoopInspector, LoopProgram};
use crate::web::stage::{SaveProps, SceneScope, Stage};
use crate::web::timeline::{LaneClock, MarkSpan};
use crate::web::tools::{Tool, Tools};
use crate::web::topbar::Topbar;
use crate::web::window;
use actions::Action;
use apiserver::{Actor, Component};
use explain::diagnose::{Remedy, earlier_revision};
use explain::words;
use explain::{control_loop, remedies};
use i18n::{Message, msg};
use k8s_model::{Object, ObjectRef};
use session::Msg as Do;
use session::State;
use session::compare::Compare;
use session::console::{self, ConsoleMsg};
use session::drawing::Picture;
use session::editor::EditorMsg;
use session::examples;
use session::manifest_file;
use session::replace::{ReplaceMsg, Replacement};
use session::selection::Selection;
use session::selection::SelectionMsg;
use session::selection::Tab;
use session::stepping::SteppingMsg;
use session::timeline::Timeline;
use session::timeline::TimelineMsg;
use std::rc::Rc;
use views::loops::model::{Loop, PanelForm};
use views::shape::CardBody;
use views::view::{ObjectFilter, View};
use yew::prelude::*;

/// Height of the controls at the foot of the diagram, in pixels.
const FOOT: f64 = 44.0;

/// Callbacks of the panels: created once, so that a panel with equal properties is not rendered again.
pub(super) struct Calls {
    on: Callback<Do>,
    view: Callback<&'static View>,
    example: Callback<usize>,
    speak: Callback<Lang>,
    theme: Callback<()>,
    share: Callback<()>,
    over: [Callback<()>; 6],
    edit: Callback<String>,
    apply: Callback<()>,
    revert: Callback<()>,
    left: Callback<()>,
    right: Callback<()>,
    cure: Callback<Option<Remedy>>,
    tab: Callback<Tab>,
    act: Callback<Action>,
    select: Callback<Option<ObjectRef>>,
    pub(super) seek: Callback<u64>,
    /// Text of the marks of a lane, and the selection after a click on them.
    pub(super) marks: (Callback<MarkSpan, Message>, Callback<MarkSpan>),
    line: Callback<String>,
    complete: Callback<String, Vec<String>>,
    find: Callback<ObjectRef, bool>,
    stop: Callback<()>,
    console: Callback<bool>,
    shut: Callback<()>,
}

impl Page {
    pub(super) fn calls(&self, ctx: &Context<Self>) -> &Calls {
        self.calls.get_or_init(|| {
            let link = ctx.link();
            let over = |over: Overlay| link.callback(move |()| Msg::Overlay(over));
            Calls {
                on: link.callback(Msg::Do),
                view: link.callback(|view| Msg::Do(SelectionMsg::View(view).into())),
                example: link.callback(|index: usize| {
                    Msg::Do(ReplaceMsg::Ask(Replacement::Example(index)).into())
                }),
                speak: link.callback(Msg::Speak),
                theme: link.callback(|()| Msg::Theme),
                share: link.callback(|()| Msg::Share),
                over: [
                    over(Overlay::Embed),
                    over(Overlay::Manifest),
                    over(Overlay::Console),
                    over(Overlay::More),
                    over(Overlay::Help),
                    over(Overlay::Learn),
                ],
                edit: link.callback(|text| Msg::Do(EditorMsg::Edit(text).into())),
                apply: link.callback(|()| Msg::Do(Do::Apply)),
                revert: link.callback(|()| Msg::Do(EditorMsg::Revert.into())),
                left: link.callback(|()| Msg::Left(false)),
                right: link.callback(|()| Msg::Right(false)),
                cure: link.callback(|cure: Option<Remedy>| {
                    Msg::Do(
                        cure.map_or(SelectionMsg::TryRemedies, SelectionMsg::Remedy)
                            .into(),
                    )
                }),
                tab: link.callback(|tab| Msg::Do(SelectionMsg::Tab(tab).into())),
                act: link.callback(Msg::Act),
                select: link.callback(|key| Msg::Do(SelectionMsg::Select(key).into())),
                seek: link.callback(|to| Msg::Do(TimelineMsg::Seek(to).into())),
                marks: {
                    let (told, picked) = (self.state.clone(), self.state.clone());
                    let tell = Callback::from(move |(from, to, lane)| {
                        words::tell(told.borrow().timeline.run.journal(), from, to, lane)
                    });
                    // A person's action leads to no object.
                    let pick = link.batch_callback(move |(from, to, lane)| {
                        words::object_at(picked.borrow().timeline.run.journal(), from, to, lane)
                            .map(Msg::Why)
                    });
                    (tell, pick)
                },
                line: link.callback(|line| Msg::Do(ConsoleMsg::Enter(line).into())),
                complete: {
                    let state = self.state.clone();
                    Callback::from(move |start: String| {
                        console::completions(state.borrow().timeline.run.sim(), &start)
                    })
                },
                find: {
                    let state = self.state.clone();
                    Callback::from(move |key: ObjectRef| {
                        state
                            .try_borrow()
                            .is_ok_and(|state| state.timeline.run.sim().store().get(&key).is_some())
                    })
                },
                stop: link.callback(|()| Msg::Do(ConsoleMsg::Interrupt.into())),
                console: link.callback(Msg::Console),
                shut: link.callback(|()| Msg::Tool(None)),
            }
        })
    }

    pub(super) fn on(&self, ctx: &Context<Self>) -> Callback<Do> {
        self.calls(ctx).on.clone()
    }

    pub(super) fn topbar(&self, ctx: &Context<Self>) -> Html {
        let calls = self.calls(ctx);
        let state = self.state.borrow();
        let example = examples::of(&state.editor.text);
        html! {
            <Topbar
                view={state.selection.view}
                dark={self.settings.dark}
                narrow={self.panels.is_narrow()}
                example={example}
                copied={self.notices.shows_copied()}
                on_view={calls.view.clone()}
                on_example={calls.example.clone()}
                lesson={state.lesson_title(tongue())}
                on_learn={calls.over[5].clone()}
                lang={self.settings.lang}
                on_language={calls.speak.clone()}
                on_theme={calls.theme.clone()}
                on_share={calls.share.clone()}
                on_embed={calls.over[0].clone()}
                on_manifest={calls.over[1].clone()}
                on_console={calls.over[2].clone()}
                on_more={calls.over[3].clone()}
                on_help={calls.over[4].clone()}
            />
        }
    }

    pub(super) fn editor(&self, ctx: &Context<Self>) -> Html {
        let calls = self.calls(ctx);
        let state = self.state.borrow();
        let file = manifest_file::name_of(&state.editor.text);
        let narrow = self.panels.is_narrow();
        html! {
            <Editor
                lang={self.settings.lang}
                text={state.editor.text.clone()}
                applied={state.editor.applied.clone()}
                standing={state.editor.status}
                diagnostics={state.editor.diagnostics.clone()}
                // The dry run used the newest instant: its plan does not apply to the past.
                plan={state.editor.plan.clone().filter(|_| !state.timeline.run.in_past())}
                left={state.editor.leftovers.found.clone()}
                prune={state.editor.leftovers.delete}
                fresh={state.editor.leftovers.fresh}
                on_prune={calls.on.reform(|delete| EditorMsg::Prune(delete).into())}
                drift={self.inspection.drift.clone()}
                then={state.applied_then()}
                narrow={narrow}
                file={file.to_string()}
                on_edit={calls.edit.clone()}
                on_apply={calls.apply.clone()}
                on_revert={calls.revert.clone()}
                on_afresh={state.editor.helps_afresh.then(|| calls.on.reform(|()| ReplaceMsg::Ask(Replacement::StartOver).into()))}
                on_compare={calls.on.reform(|()| EditorMsg::Compare.into())}
                on_close={calls.left.clone()}
            />
        }
    }

    pub(super) fn inspector(&self, ctx: &Context<Self>) -> Html {
        if window::is_whole() {
            self.inspect(ctx)
        } else {
            html! { <aside class="panel right" aria-label={say(msg::panel_inspector())} aria-busy="true" /> }
        }
    }

    pub(super) fn inspect(&self, ctx: &Context<Self>) -> Html {
        let calls = self.calls(ctx);
        let state = self.state.borrow();
        if let Some(of) = inspected_loop(&state.selection, &self.drawing.picture) {
            let offers = control_loop::offers(state.timeline.run.sim(), of.actor.component);
            let scene = &self.drawing.picture.scene;
            // The inspector has the pseudo-code if the panel is cut off, or only shows the executed line.
            let code = scene.items.iter().filter_map(|item| match &item.body {
                CardBody::Pass(pass)
                    if pass.form == PanelForm::Lines
                        || item.rect.bottom() > scene.stage.1 - FOOT =>
                {
                    Some(pass.code.clone())
                }
                _ => None,
            });
            let code = code.flatten().collect::<Vec<_>>();
            let watches = control_loop::watched_in(state.timeline.run.sim(), of.actor.component);
            let program = loop_program(&state, &of.actor);
            let on_step = calls.on.reform(|msg: SteppingMsg| msg.into());
            return html! { <LoopInspector {of} {offers} {code} {watches} {program} {on_step} on_command={calls.act.clone()} fold={inspector::fold(self.panels.is_narrow(), &calls.right)} lang={self.settings.lang} /> };
        }
        let now = state.object();
        let same = |shown: &&(Rc<Object>, Option<Message>)| {
            now.is_some_and(|now| now.meta.uid == shown.0.meta.uid)
        };
        let (object, late) = match self.drawing.selected.as_ref().filter(same) {
            Some((object, late)) => (Some(object.clone()), late.clone()),
            None => (
                now.cloned(),
                now.and_then(|object| state.status_lag(object)),
            ),
        };
        html! {
            <Inspector
                lang={self.settings.lang}
                narrow={self.panels.is_narrow()}
                key_of={state.selection.selected.clone()}
                late={late}
                object={object}
                epoch={state.timeline.run.sim().config.epoch}
                tab={state.selection.tab}
                offers={state.object().map(|object| remedies::of(state.timeline.run.sim(), object)).unwrap_or_default()}
                why={self.inspection.why.clone()}
                undoes={state.object().and_then(|object| earlier_revision(state.timeline.run.sim(), object).cloned())}
                on_cure={calls.cure.clone()}
                events={self.inspection.events.clone()}
                on_tab={calls.tab.clone()}
                on_command={calls.act.clone()}
                on_select={calls.select.clone()}
                on_seek={calls.seek.clone()}
                on_close={calls.right.clone()}
            />
        }
    }

    pub(super) fn console(&self, ctx: &Context<Self>) -> Html {
        let calls = self.calls(ctx);
        let state = self.state.borrow();
        let narrow = self.panels.is_narrow();
        html! {
            <Console
                lang={self.settings.lang}
                lines={state.console.lines.clone()}
                history={state.console.history.clone()}
                on_complete={calls.complete.clone()}
                waits={state.timeline.run.waiting().map(|command| AttrValue::from(command.to_owned()))}
                paused={!state.timeline.playing && state.timeline.run_until.is_none()}
                on_play={calls.on.reform(|()| TimelineMsg::Play.into())}
                shell={state.timeline.run.takes_input()}
                open={self.panels.console || narrow}
                narrow={narrow}
                on_line={calls.line.clone()}
                jobs={state.console.jobs(&state.timeline.run)}
                on_stop={calls.stop.clone()}
                on_stop_job={calls.on.reform(|number| ConsoleMsg::Stop(number).into())}
                on_open={calls.console.clone()}
                on_find={calls.find.clone()}
                on_select={calls.select.clone()}
            />
        }
    }

    pub(super) fn pickers<'a>(&'a self, state: &'a State, ctx: &'a Context<Self>) -> Pickers<'a> {
        Pickers {
            state,
            picture: &self.drawing.picture,
            link: ctx.link(),
        }
    }

    pub(super) fn history<'a>(&'a self, ctx: &'a Context<Self>) -> History<'a> {
        History {
            state: &self.state,
            link: ctx.link(),
            tool: self.panels.tool,
            beside: self.drawing.beside.is_some(),
        }
    }

    pub(super) fn head(&self, ctx: &Context<Self>) -> Html {
        let state = self.state.borrow();
        let link = ctx.link();
        let pickers = self.pickers(&state, ctx);
        let list = say(msg::button_show_as_list());
        html! {
            <div class="c-head"><h1>{ say((state.selection.view.title)()) }</h1>
                if self.drawing.beside.is_none() { { pill(&self.drawing.picture, Some(link.callback(Msg::Why))) } }
                <span class="grow" />
                { pickers.hidden() }
                { pickers.workloads() }
                { pickers.pace() }
                { pickers.filter() }
                <span class="views pops" onfocusout={link.batch_callback(|event: FocusEvent| has_left(&event).then_some(Msg::Menu(Menu::None)))}>
                    <button type="button" class="btn sm ghost opens" aria-expanded={(self.panels.menu == Menu::View).to_string()} onclick={link.callback(|_| Msg::Menu(Menu::View))}>{ say(msg::picker_view()) }{ icon("i-down", 14) }</button>
                    <div class={(self.panels.menu == Menu::View).then_some("open")}>
                        <button type="button" class="btn sm ghost" title={say(msg::with_key(msg::button_show_as_list(), "l"))} aria-label={list.clone()} aria-pressed={self.panels.as_list.to_string()} onclick={link.callback(|_| Msg::List)}>{ icon("i-endpointslice", 14) }{ list }</button>
                        if state.selection.view.filter >= ObjectFilter::Namespace { { pickers.namespaces() } }
                        { pickers.grouping() }
                    </div>
                </span>
            </div>
        }
    }

    /// Result of the last step, while the clock is paused or goes by cause: then one looks at the picture.
    pub(super) fn step(&self) -> Html {
        let state = self.state.borrow();
        let timeline = &state.timeline;
        let told = if timeline.idles() {
            &msg::notice_stable()
        } else {
            &self.drawing.caption
        };
        let runs = timeline.playing && !timeline.goes_by_cause();
        if runs || self.drawing.beside.is_some() || told.is_empty() {
            return Html::default();
        }
        let since = self.pacing.since_last_write_us();
        let since = since
            .map(|us| us / 1000)
            .filter(|ms| timeline.playing && *ms > 0);
        html! { <div class="told-at"><p class="told-step" title={say(told)}><span>if let Some(ms) = since { <b class="mono">{ say(msg::step_later(ms as usize)) }</b>{ " " } }{ marked(told) }</span></p></div> }
    }

    pub(super) fn stage(&self, ctx: &Context<Self>) -> Html {
        let link = ctx.link();
        let state = self.state.borrow();
        let of = &state.selection.view.empty;
        let words = |words: Option<fn() -> Message>| words.map(|words| say(words()));
        let empty = if of.by_filter && self.drawing.picture.hidden > 0 {
            nothing_matches(ctx, self.drawing.picture.hidden)
        } else {
            html! {
                <>if let Some(title) = words(of.title) { <h2>{ title }</h2> }if let Some(text) = words(of.text) { <p>{ text }</p> }
                { for examples::ALL.iter().enumerate().filter(|_| of.examples).map(|(at, example)| {
                    html! { <button type="button" class="linkrow" onclick={link.callback(move |_: MouseEvent| Msg::Do(ReplaceMsg::Ask(Replacement::Example(at)).into()))}>{ say((example.title)()) }</button> }
                }) }</>
            }
        };
        html! {
            <Stage
                lang={self.settings.lang}
                scene={self.drawing.picture.scene.clone()}
                writes={self.drawing.picture.writes.clone()}
                selected={state.object().map(|object| object.meta.uid.to_string())}
                scope={SceneScope { view: self.drawing.picture.view.unwrap_or(state.selection.view), epoch: self.drawing.picture.epoch, part: self.drawing.picture.part }}
                animate={state.timeline.speed <= 100.0}
                embed={self.settings.embed}
                follow={self.drawing.told_of.clone().filter(|_| self.settings.embed)}
                empty={empty}
                list={self.panels.as_list.then(|| self.inspection.standings.clone())}
                dark={self.settings.dark}
                making={state.drawing.is_drawing()}
                whole={window::is_whole()}
                on_pick={link.callback(|picked: SelectionMsg| Msg::Do(picked.into()))}
                on_why={link.callback(Msg::Why)}
                card={self.hover.card.clone()}
                changes={state.compare.difference.clone().filter(|_| self.panels.tool == Some(Tool::Compare))}
                on_hover={link.callback(Msg::Hover)}
                save={SaveProps { stretch: state.compare.stretch(&state.timeline.run), on_save: link.callback(Msg::Export) }}
                on_size={link.callback(|(width, height)| Msg::Do(Do::Stage(width, height)))}
            />
        }
    }

    pub(super) fn tools(&self, ctx: &Context<Self>, tool: Tool) -> Html {
        let calls = self.calls(ctx);
        let state = self.state.borrow();
        html! {
            <Tools lang={self.settings.lang} tool={tool} breakpoints={state.timeline.breakpoints.all().to_vec()} misread={state.timeline.breakpoint_error.clone()} stopped={state.timeline.stopped.clone()} instants={state.compare.snapshots.clone()} difference={state.compare.difference.clone()} on={calls.on.clone()} on_close={calls.shut.clone()} />
        }
    }
}

/// Placeholder for a diagram that the filter has emptied.
fn nothing_matches(ctx: &Context<Page>, count: usize) -> Html {
    let words = msg::filter_hides(count);
    html! { <><h2>{ say(msg::filter_no_match()) }</h2><p>{ say(words) }</p><button type="button" class="btn" onclick={ctx.link().callback(|_| Msg::Do(SelectionMsg::Filter(String::new()).into()))}>{ say(msg::button_clear_filter()) }</button></> }
}

/// Returns the program of a loop that is one.
fn loop_program(state: &State, actor: &Actor) -> Option<LoopProgram> {
    let Component::Loop(id) = actor.component else {
        return None;
    };
    let (of, memory) = state.timeline.run.sim().manager.scripted(id)?;
    let failing = memory.failing().next();
    let failing = failing.map(|(key, error)| {
        (
            key.name.to_string(),
            projection::program::error(error),
            error.line,
        )
    });
    Some(LoopProgram {
        failing,
        text: of.spec.program.clone(),
        breaks: state.timeline.breakpoints.lines_of(actor).collect(),
        stepping: state.stepping_of(actor).cloned(),
    })
}

/// Returns the loop that the inspector shows, as drawn.
fn inspected_loop(selection: &Selection, picture: &Picture) -> Option<Loop> {
    let actor = selection.inspected_loop()?;
    picture
        .scene
        .items
        .iter()
        .find_map(|item| match &item.body {
            CardBody::Loop { of, .. } if of.actor == *actor => Some((**of).clone()),
            _ => None,
        })
}

/// The pill; its words shrink before its glyph. Selects the workload that it is about, if there is room for the inspector.
pub(super) fn pill(picture: &Picture, why: Option<Callback<ObjectRef>>) -> Html {
    let Some(pill) = &picture.pill else {
        return Html::default();
    };
    let words = say(&pill.words);
    let told = html! { <>if !pill.glyph.is_empty() { { icon(pill.glyph, 12) } }<span class="ell">{ words.clone() }</span></> };
    let class = classes!("pill", "stands", pill.class);
    match (&pill.of, why) {
        (Some(of), Some(why)) => {
            let of = of.clone();
            html! { <button type="button" class={class} title={say(msg::pill_why(pill.words.clone()))} onclick={move |_: MouseEvent| why.emit(of.clone())}>{ told }</button> }
        }
        _ => html! { <span class={class} title={words}>{ told }</span> },
    }
}

/// State of the clock for the timeline.
pub(super) fn lane_clock(timeline: &Timeline) -> LaneClock {
    LaneClock {
        now: timeline.run.now(),
        end: timeline.run.end(),
        playing: timeline.playing,
    }
}

/// Flags of the compared instants on the timeline: both while the comparison is open, the first alone until there is a second.
pub(super) fn flags(compare: &Compare, tool: Option<Tool>) -> Vec<(u64, &'static str)> {
    if compare.difference.is_some() && tool != Some(Tool::Compare) {
        return Vec::new();
    }
    compare
        .snapshots
        .iter()
        .zip(["A", "B"])
        .filter_map(|(instant, name)| Some((instant.as_ref()?.at, name)))
        .collect()
}
