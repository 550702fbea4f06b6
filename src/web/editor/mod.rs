//! The manifest: the code editor if its file can be loaded, else a text area over its own highlighted copy; errors at their lines, and the
//! changes that applying would make.

mod code;
mod plan;

use crate::web::dom::{self, icon};
use crate::web::language::{Lang, say};
use crate::web::rich::{self, Rich};
use crate::web::window;
use actions::{ApplyDiagnostic, PlannedChanges};
use apiserver::Op;
use gloo_timers::callback::Timeout;
use i18n::{Counted, Message, msg};
use k8s_model::ObjectRef;
pub use plan::change;
use plan::{afresh, differs, dropped, label, leftovers, message, named, was};
use session::drift::DriftedField;
use session::editor::ApplyStatus;
use std::cell::Cell;
use std::rc::Rc;
use views::changed_lines::changed;
use views::highlight;
use wasm_bindgen::JsCast;
use web_sys::{Event, HtmlElement, HtmlTextAreaElement, InputEvent, KeyboardEvent};
use yew::prelude::*;

/// Properties of the editor.
#[derive(Properties)]
pub struct Props {
    /// Text.
    pub text: Rc<str>,
    /// The text last applied: lines that differ are marked.
    pub applied: Rc<str>,
    /// State shown in the pill.
    pub standing: ApplyStatus,
    /// Drifted fields of the cluster.
    pub drift: Rc<Vec<DriftedField>>,
    /// Manifest in effect at an instant of the past.
    pub then: Option<Rc<str>>,
    /// Errors and warnings.
    pub diagnostics: Rc<Vec<ApplyDiagnostic>>,
    /// Changes that applying the text would make.
    pub plan: Option<Rc<PlannedChanges>>,
    /// Objects that left the manifest.
    pub left: Rc<Vec<ObjectRef>>,
    /// True if applying deletes them.
    pub prune: bool,
    /// True if applying starts with an empty cluster.
    pub fresh: bool,
    /// Called with true if they are to be deleted.
    pub on_prune: Callback<bool>,
    /// Language of the page.
    pub lang: Lang,
    /// Name of the text's file.
    pub file: String,
    /// True if there is no keyboard whose keys could be named.
    pub narrow: bool,
    /// The text was edited.
    pub on_edit: Callback<String>,
    /// Called to apply the text.
    pub on_apply: Callback<()>,
    /// Called to revert to the text applied last.
    pub on_revert: Callback<()>,
    /// Called to apply the text to an empty cluster, if that would accept what was refused.
    pub on_afresh: Option<Callback<()>>,
    /// Called to show or hide the changes that applying would make.
    pub on_compare: Callback<()>,
    /// Called to fold the editor away.
    pub on_close: Callback<()>,
}

impl PartialEq for Props {
    /// Compares long texts by pointer first. Callbacks are ignored: they are new each time but do the same.
    fn eq(&self, other: &Props) -> bool {
        let Props {
            text,
            applied,
            standing,
            diagnostics,
            plan,
            file,
            narrow,
            drift,
            lang,
            left,
            prune,
            fresh,
            then,
            ..
        } = self;
        Rc::ptr_eq(text, &other.text)
            && Rc::ptr_eq(applied, &other.applied)
            && Rc::ptr_eq(drift, &other.drift)
            && Rc::ptr_eq(diagnostics, &other.diagnostics)
            && (standing, file, narrow, lang)
                == (&other.standing, &other.file, &other.narrow, &other.lang)
            && plan.as_ref().map(Rc::as_ptr) == other.plan.as_ref().map(Rc::as_ptr)
            && (left, prune, fresh) == (&other.left, &other.prune, &other.fresh)
            && self.on_afresh.is_some() == other.on_afresh.is_some()
            && match (then, &other.then) {
                (Some(one), Some(other)) => is_same(one, other),
                (one, other) => one.is_none() && other.is_none(),
            }
    }
}

/// Returns true if two texts are equal; equal pointers are not compared further.
fn is_same(one: &Rc<str>, other: &Rc<str>) -> bool {
    Rc::ptr_eq(one, other) || one == other
}

/// Message of the editor.
pub enum Msg {
    /// The text was scrolled.
    Scroll,
    /// Makes the repair of a diagnostic, by its place among them.
    Repair(usize),
    /// Goes to the first line that is refused.
    Problem,
    /// Loads the code editor.
    Load,
    /// The code editor was loaded.
    Loaded,
    /// The code editor's text was edited.
    Typed(String),
    /// Updates the code editor.
    Tell,
    /// Shows the planned changes in full or in a line.
    Plan,
    /// Shows the current text in place of the manifest at the instant shown.
    Own,
}

/// Editor.
pub struct Editor {
    pub(super) area: NodeRef,
    pub(super) lines: NodeRef,
    /// True after Esc: the next Tab leaves the editor.
    pub(super) leaving: Cell<bool>,
    pub(super) host: NodeRef,
    pub(super) rich: Option<Rich>,
    pub(super) told: Option<code::EditorSnapshot>,
    /// Text that the code editor has.
    pub(super) held: Rc<str>,
    /// Selection of the text area from which the code editor takes the focus.
    pub(super) typing: Option<(usize, usize)>,
    pub(super) planned: bool,
    /// True if the current text is shown though an instant of the past has another.
    pub(super) own: bool,
    pub(super) _later: Option<Timeout>,
    pub(super) telling: Option<Timeout>,
}

impl Editor {
    pub(super) fn area(&self) -> Option<HtmlTextAreaElement> {
        self.area.cast()
    }

    /// Inserts text as if typed, so that it can be undone.
    pub(super) fn insert(area: &HtmlTextAreaElement, text: &str) {
        let document = dom::document().dyn_into::<web_sys::HtmlDocument>();
        let done = document.is_ok_and(|document| {
            document
                .exec_command_with_show_ui_and_value("insertText", false, text)
                .unwrap_or(false)
        });
        if !done {
            let _ = area.set_range_text(text);
        }
    }

    pub(super) fn tab(area: &HtmlTextAreaElement, back: bool) {
        let (from, to) = selection(area);
        let text = area.value();
        let units: Vec<u16> = text.encode_utf16().collect();
        let (from, to) = (from.min(units.len()), to.min(units.len()));
        let first = units[..from]
            .iter()
            .rposition(|unit| *unit == 10)
            .map_or(0, |at| at + 1);
        if from == to && !back {
            return Self::insert(area, "  ");
        }
        let block = String::from_utf16_lossy(&units[first..to]);
        let shifted: Vec<String> = block
            .split('\n')
            .map(|line| {
                if back {
                    line.strip_prefix("  ")
                        .or(line.strip_prefix(' '))
                        .unwrap_or(line)
                        .to_string()
                } else {
                    format!("  {line}")
                }
            })
            .collect();
        let shifted = shifted.join("\n");
        let _ = area.set_selection_range(first as u32, to as u32);
        Self::insert(area, &shifted);
        let _ = area.set_selection_range(
            first as u32,
            (first + shifted.encode_utf16().count()) as u32,
        );
    }

    /// Handles a key in the text.
    fn key(&self, on_apply: &Callback<()>, event: &KeyboardEvent) {
        let Some(area) = self.area() else { return };
        // Shift is pressed before Tab, and sends a key event of its own.
        let leaving = if event.key() == "Shift" {
            self.leaving.get()
        } else {
            self.leaving.take()
        };
        match event.key().as_str() {
            "Enter" if event.ctrl_key() || event.meta_key() => {
                event.prevent_default();
                on_apply.emit(());
            }
            "Enter" if !event.shift_key() && !event.is_composing() => {
                event.prevent_default();
                Self::enter(&area);
            }
            "Escape" => self.leaving.set(true),
            "Tab" if !leaving && !event.alt_key() && !event.ctrl_key() => {
                event.prevent_default();
                Self::tab(&area, event.shift_key());
            }
            _ => {}
        }
        if event.key() != "F6" {
            event.stop_propagation();
        }
    }

    pub(super) fn enter(area: &HtmlTextAreaElement) {
        let (from, _) = selection(area);
        let units: Vec<u16> = area.value().encode_utf16().take(from).collect();
        let before = String::from_utf16_lossy(&units);
        let line = before.rsplit('\n').next().unwrap_or("");
        let mut indent: String = line.chars().take_while(|c| *c == ' ').collect();
        if line.trim_end().ends_with(':') {
            indent.push_str("  ");
        }
        Self::insert(area, &format!("\n{indent}"));
    }
}

pub(super) fn selection(area: &HtmlTextAreaElement) -> (usize, usize) {
    let number = |value: Result<Option<u32>, _>| value.ok().flatten().unwrap_or(0) as usize;
    (number(area.selection_start()), number(area.selection_end()))
}

impl Component for Editor {
    type Message = Msg;
    type Properties = Props;

    fn create(_: &Context<Self>) -> Self {
        Editor {
            area: NodeRef::default(),
            lines: NodeRef::default(),
            leaving: Cell::new(false),
            host: NodeRef::default(),
            rich: None,
            told: None,
            held: "".into(),
            typing: None,
            planned: false,
            own: false,
            _later: None,
            telling: None,
        }
    }

    fn changed(&mut self, ctx: &Context<Self>, _: &Props) -> bool {
        self.own &= ctx.props().then.is_some();
        true
    }

    fn update(&mut self, ctx: &Context<Self>, msg: Msg) -> bool {
        match msg {
            Msg::Load => {
                if !window::is_whole() {
                    return self.later(ctx);
                }
                self._later = None;
                rich::load(ctx.link().callback(|()| Msg::Loaded));
                return false;
            }
            Msg::Loaded => return self.enrich(ctx),
            Msg::Tell => {
                self.tell(ctx.props());
                return false;
            }
            Msg::Typed(text) => {
                self.held = text.as_str().into();
                ctx.props().on_edit.emit(text);
                return false;
            }
            Msg::Plan => {
                self.planned = !self.planned;
                return true;
            }
            Msg::Own => {
                self.own = true;
                return true;
            }
            Msg::Repair(at) => {
                let props = ctx.props();
                let repair = props
                    .diagnostics
                    .get(at)
                    .and_then(|told| told.repair.as_ref());
                // The text may have gone on since it was looked at.
                if let Some(text) = repair.and_then(|repair| repair.apply(&props.text)) {
                    props.on_edit.emit(text);
                    props.on_apply.emit(());
                }
                return false;
            }
            Msg::Problem => {
                let props = ctx.props();
                let Some(first) = props.diagnostics.iter().find(|diagnostic| diagnostic.error)
                else {
                    return false;
                };
                let before = props
                    .text
                    .split_inclusive('\n')
                    .take(first.line.saturating_sub(1));
                let at = before.map(|line| line.encode_utf16().count()).sum();
                match (&self.rich, self.area()) {
                    (Some(rich), _) => rich.show(at),
                    (None, Some(area)) => {
                        let _ = area.focus();
                        let _ = area.set_selection_range(at as u32, at as u32);
                    }
                    _ => {}
                }
                return false;
            }
            Msg::Scroll => {
                if let (Some(area), Some(lines)) = (self.area(), self.lines.cast::<HtmlElement>()) {
                    lines.set_scroll_top(area.scroll_top());
                    lines.set_scroll_left(area.scroll_left());
                }
            }
        }
        false
    }

    fn view(&self, ctx: &Context<Self>) -> Html {
        dom::renders("Editor");
        let props = ctx.props();
        let link = ctx.link();
        // Drift is shown in place of "applied", and beside "edited".
        let (pill, words) = match props.standing {
            ApplyStatus::Clean | ApplyStatus::Applied if !props.drift.is_empty() => {
                ("", Message::default())
            }
            ApplyStatus::Clean => ("", Message::default()),
            ApplyStatus::Edited => ("line", msg::editor_edited()),
            ApplyStatus::Applying => ("line", msg::editor_applying()),
            ApplyStatus::Applied => ("ready", msg::editor_applied()),
            ApplyStatus::Rejected => ("failed", msg::editor_rejected()),
            ApplyStatus::Partly(applied, unchanged, refused) => {
                let parts: [(usize, Counted); 3] = [
                    (refused, |n| msg::count_rejected(n)),
                    (applied, |n| msg::count_applied(n)),
                    (unchanged, |n| msg::count_unchanged(n)),
                ];
                let said = parts
                    .into_iter()
                    .filter(|(n, _)| *n > 0)
                    .map(|(n, words)| words(n));
                ("failed", Message::list(said.collect()))
            }
        };
        let then = props.then.as_ref().filter(|_| !self.own);
        let words = if then.is_some() {
            Message::default()
        } else {
            words
        };
        let errors = props
            .diagnostics
            .iter()
            .filter(|diagnostic| diagnostic.error)
            .count();
        // Refusals of the API server are shown beside Apply: their line may be scrolled out of view.
        let refused = matches!(
            props.standing,
            ApplyStatus::Rejected | ApplyStatus::Partly(..)
        );
        let rejected = props
            .diagnostics
            .iter()
            .find(|diagnostic| diagnostic.error && refused);
        let mac = dom::window()
            .navigator()
            .platform()
            .is_ok_and(|platform| platform.starts_with("Mac"));
        let apply = props.on_apply.reform(|_: MouseEvent| ());
        let revert = props.on_revert.reform(|_: MouseEvent| ());
        let close = props.on_close.reform(|_: MouseEvent| ());
        let on_apply = if then.is_some() {
            Callback::noop()
        } else {
            props.on_apply.clone()
        };
        // If an editor has the focus it has already handled the key.
        let onkeydown = Callback::from(move |event: KeyboardEvent| {
            if event.key() == "Enter"
                && (event.ctrl_key() || event.meta_key())
                && !event.default_prevented()
            {
                event.prevent_default();
                on_apply.emit(());
            }
        });
        // Handled at once, like keys, so that an apply uses the text typed before it.
        let oninput = dom::answer(link, {
            let on_edit = props.on_edit.clone();
            move |editor: &Editor, _: &InputEvent| {
                if let Some(area) = editor.area() {
                    on_edit.emit(area.value());
                }
            }
        });
        let onkey = dom::answer(link, {
            let on_apply = props.on_apply.clone();
            move |editor: &Editor, event| editor.key(&on_apply, event)
        });
        html! {
            <section class="panel left" aria-label={say(msg::panel_manifest())} id="manifest" onkeydown={onkeydown}>
                <div class="p-head"><h2>{ say(msg::panel_manifest()) }</h2><span class="mono dim file ell">{ &props.file }</span>
                    if !words.is_empty() {
                        <span class={classes!("pill", pill)} title={say(&words)}>{ say(&words) }</span>
                    }
                    if then.is_none() && !props.drift.is_empty() { { differs(props) } }
                    <span class="grow" />
                    if props.narrow {
                        <button type="button" class="btn" onclick={close}>{ say(msg::button_done()) }</button>
                    } else {
                        <button type="button" class="btn ghost icon" aria-label={say(msg::button_hide_manifest())} title={say(msg::button_hide_manifest())} onclick={close}>{ icon("i-panel-l", 16) }</button>
                    }
                </div>
                <div class={classes!("code", self.rich.is_some().then_some("rich"), (props.standing == ApplyStatus::Edited).then_some("trying"), then.is_some().then_some("covered"))} ondragover={Callback::from(|event: DragEvent| event.prevent_default())} ondrop={dropped(&props.on_edit)}>
                    if let Some(text) = then { { was(ctx, text) } }
                    <div class="host" ref={self.host.clone()} />
                    if self.rich.is_none() {
                        <div class="lines" ref={self.lines.clone()} aria-hidden="true">{ self.lines(ctx) }</div>
                        <textarea
                            ref={self.area.clone()}
                            aria-label={label()}
                            spellcheck="false"
                            autocomplete="off"
                            autocapitalize="off"
                            wrap="off"
                            oninput={oninput}
                            onkeydown={onkey}
                            onscroll={link.callback(|_: Event| Msg::Scroll)}
                            onfocus={link.callback(|_: FocusEvent| Msg::Load)}
                        />
                    }
                    if !props.narrow { <p class="leave" aria-hidden="true">{ say(msg::editor_leave()) }</p> }
                </div>
                if then.is_none() && !props.diagnostics.is_empty() {
                    <ul class="problems" role={if props.standing == ApplyStatus::Edited { "list" } else { "alert" }}>
                        { for props.diagnostics.iter().map(|diagnostic| html! { <li class="vh">{ say(msg::editor_problem(diagnostic.line, &diagnostic.message)) }</li> }) }
                    </ul>
                }
                if let Some(first) = rejected.filter(|_| then.is_none()) {
                    <button type="button" class="rejected" onclick={link.callback(|_: MouseEvent| Msg::Problem)}>{ say(msg::editor_problem(first.line, &first.message)) }</button>
                }
                if let Some(plan) = props.plan.as_ref().filter(|_| then.is_none()) { { self.plan(ctx, plan) } }
                if then.is_none() { { leftovers(props) }{ afresh(props) } }
                <div class="p-foot">
                    <button type="button" class="btn primary" id="apply" disabled={then.is_some()} onclick={apply}>{ say(msg::button_apply()) }if !props.narrow { { " " }<kbd>{ if mac { "⌘⏎" } else { "Ctrl ⏎" } }</kbd> }</button>
                    <button type="button" class="btn" disabled={then.is_some()} title={say(msg::editor_reset())} onclick={revert}>{ say(msg::button_reset()) }</button>
                    <span class="grow" />
                    if errors > 0 && then.is_none() { <button type="button" class="row count" onclick={link.callback(|_: MouseEvent| Msg::Problem)}>{ icon("i-error", 14) }<span role="status">{ say(msg::editor_problems(errors)) }</span></button> }
                </div>
            </section>
        }
    }

    fn rendered(&mut self, ctx: &Context<Self>, first: bool) {
        let props = ctx.props();
        if first {
            self.later(ctx);
        }
        if let Some(area) = self.area()
            && area.value() != *props.text
        {
            area.set_value(&props.text);
        }
        self.inform(ctx);
    }
}

impl Editor {
    /// Draws the planned changes: a line, and unfolded each object with its fields.
    pub(super) fn plan(&self, ctx: &Context<Self>, plan: &PlannedChanges) -> Html {
        let count = |op: Op| plan.changes.iter().filter(|change| change.op == op).count();
        let (new, changed) = (count(Op::Added), count(Op::Modified));
        let refused = plan
            .diagnostics
            .iter()
            .filter(|diagnostic| diagnostic.error)
            .count();
        let parts: [(usize, Counted); 4] = [
            (new, |n| msg::count_created(n)),
            (changed, |n| msg::count_configured(n)),
            (plan.unchanged, |n| msg::count_unchanged(n)),
            (refused, |n| msg::count_rejected(n)),
        ];
        let words: Vec<Message> = parts
            .iter()
            .filter(|(n, _)| *n > 0)
            .map(|(n, words)| words(*n))
            .collect();
        let words = if words.is_empty() {
            msg::plan_nothing()
        } else {
            Message::list(words)
        };
        let open = self.planned;
        html! {
            <div class="plan">
                <button type="button" class="row head" id="plan" aria-expanded={open.to_string()} onclick={ctx.link().callback(|_: MouseEvent| Msg::Plan)}>
                    { icon(if open { "i-down" } else { "i-up" }, 14) }<span>{ say(msg::editor_changes()) }</span><b class="grow ell">{ say(words) }</b>
                </button>
                if !open { { named(plan) } }
                if open {
                    <ul tabindex="0" aria-label={say(msg::editor_changes_label())}>{ for plan.changes.iter().map(|one| change(one, None)) }</ul>
                }
            </div>
        }
    }

    pub(super) fn lines(&self, ctx: &Context<Self>) -> Html {
        let props = ctx.props();
        let mut block = None;
        let marked = changed(&props.text, &props.applied);
        let rows = props.text.split('\n').enumerate().map(|(at, text)| {
            let all = props.diagnostics.iter().enumerate();
            let here: Vec<(usize, &ApplyDiagnostic)> = all.filter(|(_, diagnostic)| diagnostic.line == at + 1).collect();
            let bad = here.iter().any(|(_, diagnostic)| diagnostic.error);
            let class = classes!(
                "ln",
                bad.then_some("bad"),
                (!bad && !here.is_empty()).then_some("warn"),
                (here.is_empty() && marked[at]).then_some("hot")
            );
            let mut column = 0;
            let pieces = highlight::line(text, &mut block).into_iter().map(|(token, piece)| {
                let from = column;
                column += piece.chars().count();
                let under = here
                    .iter()
                    .any(|(_, diagnostic)| diagnostic.columns.0 <= from && column <= diagnostic.columns.1 && !piece.trim().is_empty());
                if under {
                    html! { <u class={token.class()}>{ piece }</u> }
                } else {
                    html! { <span class={token.class()}>{ piece }</span> }
                }
            });
            html! {
                <div class={class}><i>{ at + 1 }</i><span>{ for pieces }</span>
                    if !here.is_empty() { <div class="says">{ for here.iter().map(|(at, diagnostic)| message(ctx, *at, diagnostic)) }</div> }
                </div>
            }
        });
        html! { <>{ for rows }</> }
    }
}
