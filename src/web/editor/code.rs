//! The code editor in place of the text area, and the data passed to it.

use super::plan::AFTER;
use super::{Editor, Msg, Props, is_same, selection};
use crate::web::dom;
use crate::web::language::Lang;
use crate::web::rich::{EditorCallbacks, Rich};
use actions::ApplyDiagnostic;
use gloo_timers::callback::Timeout;
use session::editor::ApplyStatus;
use std::rc::Rc;
use views::changed_lines::{changed, runs};
use yew::prelude::*;

/// Data passed to the code editor last.
pub(in crate::web) struct EditorSnapshot {
    text: Rc<str>,
    applied: Rc<str>,
    diagnostics: Rc<Vec<ApplyDiagnostic>>,
    live: bool,
    lang: Lang,
}

impl EditorSnapshot {
    fn of(props: &Props) -> EditorSnapshot {
        EditorSnapshot {
            text: props.text.clone(),
            applied: props.applied.clone(),
            diagnostics: props.diagnostics.clone(),
            live: props.standing == ApplyStatus::Edited,
            lang: props.lang,
        }
    }

    /// Returns true if nothing has changed: long texts are compared by pointer.
    fn is(&self, other: &EditorSnapshot) -> bool {
        let same = Rc::ptr_eq(&self.text, &other.text) && Rc::ptr_eq(&self.applied, &other.applied);
        same && Rc::ptr_eq(&self.diagnostics, &other.diagnostics)
            && (self.live, self.lang) == (other.live, other.lang)
    }
}

/// Length in bytes from which a text is long: its diagnostics are then computed in a task of their own. The code editor has about the same
/// limit (`large` in `editor/yaml.mjs`).
const LONG: usize = 200_000;

impl Editor {
    /// Passes the code editor what it does not have yet.
    pub(super) fn inform(&mut self, ctx: &Context<Self>) {
        let props = ctx.props();
        let knows = is_same(&self.held, &props.text)
            && self
                .told
                .as_ref()
                .is_some_and(|told| told.is(&EditorSnapshot::of(props)));
        if props.text.len() < LONG || knows {
            self.tell(props);
        } else if self.telling.is_none() {
            self.focus();
            let link = ctx.link().clone();
            self.telling = Some(Timeout::new(0, move || link.send_message(Msg::Tell)));
        }
    }

    /// Updates the code editor at once.
    pub(super) fn tell(&mut self, props: &Props) {
        self.telling = None;
        let Some(rich) = &self.rich else { return };
        if !is_same(&self.held, &props.text) {
            rich.set(&props.text);
        }
        self.held = props.text.clone();
        let told = EditorSnapshot::of(props);
        if !self.told.as_ref().is_some_and(|before| before.is(&told)) {
            rich.tell(
                &told.diagnostics,
                &runs(&changed(&told.text, &told.applied)),
                told.live,
            );
            self.told = Some(told);
        }
        self.focus();
    }

    /// Moves focus and selection from the text area to the code editor.
    fn focus(&mut self) {
        if let (Some(rich), Some((from, to))) = (&self.rich, self.typing.take()) {
            rich.select(from, to);
        }
    }

    /// Schedules loading the code editor: the page comes first.
    pub(super) fn later(&mut self, ctx: &Context<Self>) -> bool {
        let link = ctx.link().clone();
        self._later = Some(Timeout::new(AFTER, move || link.send_message(Msg::Load)));
        false
    }

    /// Mounts the code editor in place of the text area, with its focus and selection.
    pub(super) fn enrich(&mut self, ctx: &Context<Self>) -> bool {
        let Some(host) = self
            .host
            .cast::<web_sys::Element>()
            .filter(|_| self.rich.is_none())
        else {
            return false;
        };
        self.typing = self
            .area()
            .filter(|area| {
                dom::document()
                    .active_element()
                    .is_some_and(|active| active.is_same_node(Some(area)))
            })
            .map(|area| selection(&area));
        let link = ctx.link();
        let props = ctx.props();
        let on = EditorCallbacks {
            edit: link.callback(Msg::Typed),
            apply: props.on_apply.clone(),
            repair: link.callback(Msg::Repair),
        };
        self.held = props.text.clone();
        (self.rich, self.told) = (Rich::mount(&host, &props.text, on), None);
        self.rich.is_some()
    }
}
