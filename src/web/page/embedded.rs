//! The page in a frame of another page: the diagram, a bar or a lesson with the tools of its tasks, and the current fault.

use super::Drawing;
use super::parts::pill;
use super::{Msg, Page};
use crate::web::actions::Replicas;
use crate::web::dom::icon;
use crate::web::host::PageFault;
use crate::web::language::{marked, say};
use explain::handles::Handles;
use i18n::{Message, msg};
use session::State;
use session::editor::ApplyStatus;
use session::editor::Editor;
use session::lesson::Phase;
use std::rc::Rc;
use views::shape::CardBody;
use yew::prelude::*;
use {k8s_model, lesson};

impl Page {
    pub(super) fn embedded(&self, ctx: &Context<Self>) -> Html {
        let state = self.state.borrow();
        let chapter = state
            .timeline
            .playback
            .as_ref()
            .map_or("", |playback| playback.chapter(state.timeline.run.now()));
        let console = self.panels.console && state.player.is_some();
        html! {
            <div class={classes!("embed", console.then_some("open-console"))}><main class="stagebox">{ self.fault_notice() }{ self.stages(ctx) }{ self.lesson(ctx) }</main>
                <div class="cap">
                    if !state.selection.view.uses.loops { { pill(&self.drawing.picture, None) } }
                    if !chapter.is_empty() { <b class="chapter ell">{ chapter }</b> }
                    <span class="mid grow">{ marked(&caption(&self.drawing)) }</span>
                    { self.full_page_link(ctx) }
                </div>
                { self.bar(ctx) }
            </div>
        }
    }

    /// Draws the link to the full page.
    pub(super) fn full_page_link(&self, ctx: &Context<Self>) -> Html {
        let words = say(msg::link_open_full_page());
        html! { <a class="full" href={self.drawing.full_page.address(&self.state.borrow())} target="_blank" rel="noopener" aria-label={words.clone()} title={words.clone()} onpointerenter={ctx.link().callback(|_: PointerEvent| Msg::FullPage)} onpointerdown={ctx.link().callback(|_: PointerEvent| Msg::FullPage)} onfocus={ctx.link().callback(|_: FocusEvent| Msg::FullPage)}><span>{ words }</span>{ icon("i-external", 14) }</a> }
    }

    /// Tools of a task in a frame: the size of its workload, and the console.
    pub(super) fn lesson_tools(&self, ctx: &Context<Self>) -> Html {
        let works = self
            .state
            .borrow()
            .player
            .as_ref()
            .is_some_and(|player| matches!(player.progress().1, Phase::Task | Phase::Lost));
        if !self.settings.embed || !works {
            return Html::default();
        }
        let sized = sized_workload(&self.state.borrow());
        html! {
            <div class="task-tools" role="group" aria-label={say(msg::lesson_tools())}>
                if let Some(object) = sized { <Replicas {object} lang={self.settings.lang} on_command={ctx.link().callback(Msg::Act)} /> }
                { self.console(ctx) }
            </div>
        }
    }

    fn fault_notice(&self) -> Html {
        let Some(fault) = self.fault() else {
            return Html::default();
        };
        html! {
            <p class="fault" role="alert" data-code={fault.code}>{ icon("i-warn", 16) }
                <span>if fault.line > 0 { <b>{ say(msg::fault_in_line(fault.line)) }{ " " }</b> }{ say(&fault.words) }</span></p>
        }
    }

    /// Fault in the frame's input.
    pub(super) fn fault(&self) -> Option<PageFault> {
        input_fault(&self.state.borrow().editor).or_else(|| self.error.clone())
    }
}

/// Returns the selected workload, or else the first, if it can be scaled.
fn sized_workload(state: &State) -> Option<Rc<k8s_model::Object>> {
    let is_sized = |object: &Rc<k8s_model::Object>| Handles::of(object).replicas.is_some();
    let first = || {
        let sim = state.timeline.run.sim();
        [k8s_model::Kind::Deployment, k8s_model::Kind::StatefulSet]
            .into_iter()
            .find_map(|kind| sim.store().list(kind).next().cloned())
    };
    state
        .object()
        .cloned()
        .filter(is_sized)
        .or_else(first)
        .filter(is_sized)
}

/// Returns the first error of a refused manifest or lesson.
fn input_fault(editor: &Editor) -> Option<PageFault> {
    // An empty text stands for a source that could not be loaded.
    let refused = matches!(
        editor.status,
        ApplyStatus::Rejected | ApplyStatus::Partly(..)
    ) && !editor.text.is_empty();
    let first = editor
        .diagnostics
        .iter()
        .find(|diagnostic| diagnostic.error && refused);
    let code = if lesson::is_lesson(&editor.text) {
        "lesson"
    } else {
        "manifest"
    };
    first.map(|first| PageFault {
        code,
        line: first.line,
        words: first.message.clone(),
    })
}

/// Caption of a frame: in Loops the pass shown, elsewhere the latest decision.
fn caption(drawing: &Drawing) -> Message {
    let pass = drawing.picture.scene.items.iter().find_map(|item| {
        if let CardBody::Pass(pass) = &item.body {
            Some(pass)
        } else {
            None
        }
    });
    let Some(pass) = pass.filter(|pass| pass.act.is_some()) else {
        return drawing.caption.clone();
    };
    pass.told()
}
