//! Overlays and dialogs.

use super::{Msg, Overlay, Page};
use crate::web::dom::{self, icon};
use crate::web::embed::{self, Opens};
use crate::web::export::{self, FILM_MS, ImageFormat};
use crate::web::language::{Lang, say, tongue};
use crate::web::learn::Learn;
use crate::web::tools::Tool;
use i18n::format::clock;
use i18n::{Message, msg};
use session::State;
use session::console::ConsoleMsg;
use session::filming::Filming;
use session::permalink;
use session::replace::{ReplaceMsg, Replacement};
use session::timeline::TimelineMsg;
use wasm_bindgen::JsCast;
use web_sys::HtmlTextAreaElement;
use yew::prelude::*;

/// Id of the text area of `kubectl edit`.
pub(super) const EDIT: &str = "edit";

/// Maximum number of Pods for a preview: a second simulation of more would starve the first.
const MAX_PREVIEW_PODS: usize = 2_000;

impl Page {
    /// Saves the diagram shown, or an animation of its history.
    pub(super) fn export(&self, form: ImageFormat) {
        let state = self.state.borrow();
        let now = state.timeline.run.now();
        let name = format!(
            "loopscope-{}-{}",
            state.selection.view.id,
            clock(now).replace(':', "-")
        );
        if let Some(frame_ms) = form.frame_ms() {
            let (from, to) = state
                .compare
                .stretch(&state.timeline.run)
                .unwrap_or((now.saturating_sub(FILM_MS), now));
            export::save_film(Filming::new(&state, from, to, frame_ms), form, name);
        } else {
            let chosen = state
                .object()
                .map(|object| object.meta.uid.to_string())
                .unwrap_or_default();
            export::save(self.drawing.picture.scene.clone(), &chosen, form, name);
        }
    }

    fn snippet(&self, ctx: &Context<Self>) -> Html {
        let state = self.state.borrow();
        let base = dom::address();
        let (done, chosen) = (state.shares_history(), &self.panels.frame.like);
        let [alone, now] = &self.panels.frame.links;
        let hash = if done && embed::is_of_now(chosen) {
            now
        } else {
            alone
        };
        let lesson = state
            .player
            .as_ref()
            .map(|player| player.file().name())
            .filter(|name| !name.is_empty());
        let opens = lesson.map_or(Opens::Link(hash), Opens::Lesson);
        let text = embed::snippet(
            &base,
            opens,
            state.selection.view,
            chosen,
            &state.editor.text,
        );
        let copy = text.clone();
        let copy = ctx
            .link()
            .callback(move |_: MouseEvent| Msg::Snippet(copy.clone()));
        let copied = self.notices.shows_copied();
        html! {
            <>
                <p>{ say(msg::embed_instructions()) }</p>
                { embed::choices(chosen, state.selection.view, done, ctx.link().callback(|_: Event| Msg::FrameLike)) }
                if state.timeline.run.sim().store().list(k8s_model::Kind::Pod).take(MAX_PREVIEW_PODS + 1).count() > MAX_PREVIEW_PODS { <p class="meta">{ say(msg::embed_no_preview()) }</p> } else { <iframe key={text.clone()} class="preview" title={say(msg::embed_preview())} tabindex="-1" sandbox="allow-scripts" src={embed::address(&base, opens, state.selection.view, chosen, self.settings.lang.tag())} height={embed::height(chosen)} /> }
                <textarea class="snippet mono" readonly=true aria-label={say(msg::embed_snippet())} value={text} />
                <div class="row"><button type="button" class="btn primary" onclick={copy}>{ say(if copied { msg::snippet_copied() } else { msg::button_copy() }) }</button>
                    <button type="button" class="btn" id="single" title={say(msg::embed_single_means())} onclick={ctx.link().callback(|_: MouseEvent| Msg::Single("html"))}>{ icon("i-save", 14) }{ say(msg::embed_single()) }</button>
                    if state.player.is_some() { <button type="button" class="btn" id="scorm" title={say(msg::embed_scorm_means())} onclick={ctx.link().callback(|_: MouseEvent| Msg::Single("scorm"))}>{ icon("i-save", 14) }{ say(msg::embed_scorm()) }</button> }</div>
            </>
        }
    }

    /// Text area of `kubectl edit`. Yew does not touch its text once it exists; another text has another key.
    fn edit(&self, ctx: &Context<Self>) -> Html {
        let state = self.state.borrow();
        let text = state.timeline.run.edits().unwrap_or_default().to_owned();
        let saves = ctx.link().batch_callback(|event: KeyboardEvent| {
            let saves = event.key() == "Enter" && (event.ctrl_key() || event.meta_key());
            saves.then(|| event.prevent_default()).map(|()| Msg::Edited)
        });
        html! {
            <>
                <textarea key={text.clone()} id={EDIT} class="snippet edited mono" spellcheck="false" aria-label={say(msg::edit_text())} defaultvalue={text.clone()} onkeydown={saves} />
                <div class="row"><button type="button" class="btn primary" onclick={ctx.link().callback(|_: MouseEvent| Msg::Edited)}>{ say(msg::button_save()) }<kbd>{ "Ctrl ↵" }</kbd></button>
                    <button type="button" class="btn" onclick={ctx.link().callback(|_: MouseEvent| Msg::Overlay(Overlay::Nothing))}>{ say(msg::button_cancel()) }</button></div>
            </>
        }
    }

    /// Passes the edited text to the command that waits for it.
    pub(super) fn save_edit(&mut self, ctx: &Context<Self>) {
        let area =
            dom::element(EDIT).and_then(|element| element.dyn_into::<HtmlTextAreaElement>().ok());
        if let Some(area) = area {
            self.carry_out(ConsoleMsg::Edited(area.value()).into());
            self.ask();
            self.toast(ctx);
        }
    }

    /// Small windows: the buttons that do not fit into the bars.
    fn more(&self, ctx: &Context<Self>) -> Html {
        let link = ctx.link();
        let state = self.state.borrow();
        let (history, pickers) = (self.history(ctx), self.pickers(&state, ctx));
        let by_cause = state.timeline.by_cause;
        let button = |words: Message, id: &'static str, glyph: &'static str, msg: fn() -> Msg| {
            html! { <button type="button" class="btn" id={id} onclick={link.callback(move |_: MouseEvent| msg())}>{ icon(glyph, 16) }{ say(words) }</button> }
        };
        let other = if self.settings.lang == Lang::Chinese {
            Lang::English
        } else {
            Lang::Chinese
        };
        let other_name = if other == Lang::English {
            "English"
        } else {
            "中文"
        };
        html! {
            <>
                <div class="grid">
                    { button(msg::history_breaks(), "break", "i-breakpoint", || Msg::Tool(Some(Tool::Breaks))) }
                    { button(msg::tools_compare(), "compare", "i-diff", || Msg::Tool(Some(Tool::Compare))) }
                    { button(msg::button_previous_reconcile(), "back", "i-stepback", || Msg::Do(TimelineMsg::StepBack.into())) }
                    <button type="button" class="btn" id="pace-by-cause" aria-pressed={by_cause.to_string()} title={say(msg::button_by_cause_title())} onclick={link.callback(move |_: MouseEvent| Msg::Do(TimelineMsg::ByCause(!by_cause).into()))}>{ icon("i-step", 16) }{ say(msg::button_by_cause()) }</button>
                    { button(msg::button_until_stable(), "settle", "i-check", || Msg::Do(TimelineMsg::Settle.into())) }
                    { button(msg::button_start_over(), "restart", "i-stepback", || Msg::Do(ReplaceMsg::Ask(Replacement::StartOver).into())) }
                    { button(msg::button_help(), "help", "i-info", || Msg::Overlay(Overlay::Help)) }
                    { history.event_driven() }
                </div>
                { history.branches() }
                <h3>{ say(msg::history_commands()) }</h3>
                { history.commands() }
                <div class="grid">{ pickers.workloads() }{ pickers.filter() }{ pickers.namespaces() }{ pickers.grouping() }</div>
                { pickers.hidden() }
                <div class="grid">
                    { button(if self.panels.as_list { msg::button_show_as_diagram() } else { msg::button_show_as_list() }, "list", "i-endpointslice", || Msg::List) }
                    { button(if self.notices.shows_copied() { msg::share_link_copied() } else { msg::button_share() }, "share", "i-share", || Msg::Share) }
                    { button(msg::button_embed(), "embed", "i-embed", || Msg::Overlay(Overlay::Embed)) }
                    <button type="button" class="btn" lang={other.tag()} aria-label={other_name} onclick={link.callback(move |_: MouseEvent| Msg::Speak(other))}>{ icon("i-globe", 16) }{ other_name }</button>
                    { button(if self.settings.dark { msg::button_light_theme() } else { msg::button_dark_theme() }, "theme", if self.settings.dark { "i-sun" } else { "i-moon" }, || Msg::Theme) }
                </div>
            </>
        }
    }

    pub(super) fn dialog(&self, ctx: &Context<Self>) -> Html {
        let link = ctx.link();
        let close = link.callback(|_: MouseEvent| Msg::Overlay(Overlay::Nothing));
        let (title, body) = match self.panels.over {
            Overlay::Embed => (msg::button_embed(), self.snippet(ctx)),
            Overlay::Learn => (
                msg::learn_title(),
                html! { <Learn lang={self.settings.lang} on_lesson={link.callback(Msg::OpenLesson)} /> },
            ),
            Overlay::Help => (
                msg::button_help(),
                crate::web::help::help(
                    &self.tries(),
                    &link.callback(Msg::Try),
                    self.panels.is_narrow(),
                ),
            ),
            Overlay::Edit => (msg::edit_title(), self.edit(ctx)),
            Overlay::Ask => match &self.state.borrow().replacing.asked {
                Some(asked) => ask(ctx, asked),
                None => return Html::default(),
            },
            Overlay::More => (msg::button_more(), self.more(ctx)),
            _ => return Html::default(),
        };
        let low = match self.panels.over {
            Overlay::More => Some("low"),
            Overlay::Embed | Overlay::Learn | Overlay::Help | Overlay::Edit => Some("wide"),
            _ => None,
        };
        html! {
            <div class={classes!("dialogbox", low)} onclick={close.clone()}>
                <div class="dialog" role="dialog" aria-modal="true" aria-label={say(&title)} onclick={Callback::from(|event: MouseEvent| event.stop_propagation())}>
                    <div class="row"><h2>{ say(title) }</h2><span class="grow" /><button type="button" class="btn ghost icon" aria-label={say(msg::button_close())} title={say(msg::button_close_key())} onclick={close}>{ icon("i-cross", 16) }</button></div>
                    { body }
                </div>
            </div>
        }
    }
}

/// Links to the manifest alone and to the page as it is now.
pub(super) fn links(state: &State) -> [String; 2] {
    [state.link(), state.shared()].map(|link| permalink::encode(&link))
}

/// Title and body of the question whether to start over.
fn ask(ctx: &Context<Page>, asked: &Replacement) -> (Message, Html) {
    let (title, means, words) = match asked.example() {
        None if let Replacement::Lesson(file) = asked => {
            let title = file.lesson().title.plain(tongue());
            (
                msg::ask_lesson(title),
                msg::ask_lesson_means(),
                msg::button_begin_lesson(),
            )
        }
        Some(example) => (
            msg::ask_example((example.title)()),
            msg::ask_example_means(),
            msg::button_open_example(),
        ),
        None => (
            msg::ask_start_over(),
            msg::ask_start_over_means(),
            msg::button_start_over(),
        ),
    };
    let to = |msg: ReplaceMsg| {
        ctx.link()
            .callback(move |_: MouseEvent| Msg::Do(msg.clone().into()))
    };
    let body = html! {
        <><p>{ say(means) }</p>
        <div class="row"><button type="button" class="btn primary" onclick={to(ReplaceMsg::Confirm)}>{ say(words) }</button><button type="button" class="btn" onclick={to(ReplaceMsg::Cancel)}>{ say(msg::button_cancel()) }</button></div></>
    };
    (title, body)
}
