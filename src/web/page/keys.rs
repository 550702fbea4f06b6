//! Keyboard shortcuts of the page.

use super::{Msg, Overlay, Page};
use crate::web::{console, dom};
use session::Msg as Do;
use session::compare::CompareMsg;
use session::lesson::{LessonMsg, Player};
use session::replace::{ReplaceMsg, Replacement};
use session::selection::SelectionMsg;
use session::timeline::TimelineMsg;
use wasm_bindgen::JsCast;
use web_sys::{Element, KeyboardEvent};

impl Page {
    /// Closes what was opened last; if nothing is open, deselects.
    pub(super) fn shut(&mut self) {
        if self.panels.over != Overlay::Nothing {
            return self.close_over();
        }
        if dom::presents() {
            return dom::present(false);
        }
        if !self.panels.close_menu()
            && self.panels.tool.take().is_none()
            && !std::mem::take(&mut self.panels.console)
        {
            self.carry_out(SelectionMsg::Select(None).into());
        }
    }

    /// Returns the messages of a key pressed anywhere on the page.
    pub(super) fn key(&self, event: &KeyboardEvent) -> Vec<Msg> {
        let target: Option<Element> = event.target().and_then(|target| target.dyn_into().ok());
        let tag = target
            .as_ref()
            .map(|target| target.tag_name())
            .unwrap_or_default();
        if event.key() == "F6" {
            event.prevent_default();
            landmarks(event.shift_key());
            return Vec::new();
        }
        if event.key() == "Tab"
            && matches!(
                self.panels.over,
                Overlay::Embed
                    | Overlay::Learn
                    | Overlay::Help
                    | Overlay::Ask
                    | Overlay::Edit
                    | Overlay::More
            )
        {
            stay(event);
            return Vec::new();
        }
        // A pending question takes precedence.
        let asks = matches!(self.panels.over, Overlay::Ask | Overlay::Edit);
        if asks && event.key() != "Escape" {
            return Vec::new();
        }
        let typed = event.ctrl_key()
            || event.meta_key()
            || event.alt_key()
            || matches!(tag.as_str(), "TEXTAREA" | "SELECT")
            || tag == "INPUT" && (moves(event) || !slides(target.as_ref()));
        if typed && !asks {
            return Vec::new();
        }
        let button = tag == "BUTTON"
            || tag == "A"
            || tag == "SUMMARY"
            || target
                .as_ref()
                .is_some_and(|target| target.get_attribute("role").as_deref() == Some("button"));
        let now = self.state.borrow().timeline.rate();
        let onward = self.state.borrow().player.as_ref().map(Player::onward);
        let learns = onward.is_some();
        let many = if event.shift_key() { 10 } else { 1 };
        let all: Vec<Do> = match event.key().as_str() {
            " " if !button => vec![TimelineMsg::Toggle.into()],
            // Nothing has the focus yet.
            "ArrowDown" | "ArrowUp"
                if tag == "BODY"
                    && self.panels.over == Overlay::Nothing
                    && !self.settings.embed
                    && dom::enter_stage() =>
            {
                Vec::new()
            }
            "ArrowRight" => vec![TimelineMsg::Step.into(); many],
            "ArrowLeft" => vec![TimelineMsg::StepBack.into(); many],
            "." => vec![TimelineMsg::Seconds(1).into()],
            "," => vec![TimelineMsg::Seconds(-1).into()],
            "[" => vec![TimelineMsg::Jump(false).into()],
            "]" => vec![TimelineMsg::Jump(true).into()],
            "<" => vec![TimelineMsg::Rate(now.next(false)).into()],
            ">" => vec![TimelineMsg::Rate(now.next(true)).into()],
            "c" => vec![TimelineMsg::ByCause(!now.by_cause).into()],
            "a" => vec![CompareMsg::Mark(false).into()],
            "b" => vec![CompareMsg::Mark(true).into()],
            "s" => vec![TimelineMsg::Settle.into()],
            "r" => vec![ReplaceMsg::Ask(Replacement::StartOver).into()],
            "l" => return vec![Msg::List],
            "Home" => vec![TimelineMsg::Seek(0).into()],
            "End" => vec![TimelineMsg::Live.into()],
            key @ ("1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9") => {
                let at: usize = key.parse().unwrap_or(1);
                views::ALL
                    .get(at - 1)
                    .map(|view| SelectionMsg::View(view).into())
                    .into_iter()
                    .collect()
            }
            "/" if filters() => Vec::new(),
            "`" | "/" => {
                event.prevent_default();
                // On a small window the console is an overlay, which takes the focus when it opens.
                console::focus();
                return vec![if self.panels.is_narrow() {
                    Msg::Overlay(Overlay::Console)
                } else {
                    Msg::Console(true)
                }];
            }
            "?" => return vec![Msg::Overlay(Overlay::Help)],
            "f" => {
                dom::fill_screen(dom::document().fullscreen_element().is_none());
                return Vec::new();
            }
            "p" if learns => return vec![Msg::Present],
            // Keys of a presenter's clicker; playback is finished at once, as by the button.
            "PageDown" if learns => onward.into_iter().map(Do::from).collect(),
            "PageUp" if learns => vec![LessonMsg::Back.into()],
            // In a frame without a lesson they go from marker to marker.
            "PageDown" | "PageUp"
                if self.settings.embed
                    && self.panels.over == Overlay::Nothing
                    && self.state.borrow().timeline.playback.is_some() =>
            {
                vec![TimelineMsg::Marker(event.key() == "PageDown").into()]
            }
            // The diagram's own keys, wherever the focus is.
            key @ ("+" | "=" | "-" | "0") => {
                // By a key attribute, not by the label, which depends on the language.
                let name = match key {
                    "-" => ".zoom [data-key='-']",
                    "0" => ".zoom [data-key='0']",
                    _ => ".zoom [data-key='+']",
                };
                let button = dom::document().query_selector(name).ok().flatten();
                if let Some(button) =
                    button.and_then(|button| button.dyn_into::<web_sys::HtmlElement>().ok())
                {
                    button.click();
                }
                return Vec::new();
            }
            "Escape" => {
                event.prevent_default();
                return vec![Msg::Shut];
            }
            _ => return Vec::new(),
        };
        event.prevent_default();
        all.into_iter().map(Msg::Do).collect()
    }
}

/// Focuses the filter, if the diagram has one; returns true if so.
fn filters() -> bool {
    let found = dom::document()
        .query_selector("input.filter")
        .ok()
        .flatten();
    found
        .as_ref()
        .inspect(|filter| dom::focus(filter))
        .is_some()
}

/// Returns true if the element is a slider.
fn slides(element: Option<&Element>) -> bool {
    element
        .and_then(|element| element.get_attribute("type"))
        .as_deref()
        == Some("range")
}

/// Returns true if a key moves a focused slider.
fn moves(event: &KeyboardEvent) -> bool {
    let key = event.key();
    key.starts_with("Arrow") || key.starts_with("Page") || matches!(key.as_str(), "Home" | "End")
}

/// Focusable elements of a dialog.
pub(super) const STOPS: &str = ".dialog button:not(:disabled), .dialog summary, .dialog input, .dialog select, .dialog textarea, .dialog a[href]";

/// Keeps the focus within the open dialog. Nothing is redrawn.
fn stay(event: &KeyboardEvent) {
    let document = dom::document();
    let Ok(all) = document.query_selector_all(STOPS) else {
        return;
    };
    let at = |index: u32| {
        all.item(index)
            .and_then(|node| node.dyn_into::<Element>().ok())
    };
    let active = document.active_element();
    let inside = (0..all.length()).any(|index| at(index) == active);
    let (first, last) = (at(0), at(all.length().saturating_sub(1)));
    let to = match event.shift_key() {
        true if !inside || active == first => last,
        false if !inside || active == last => first,
        _ => return,
    };
    if let Some(to) = to {
        event.prevent_default();
        dom::focus(&to);
    }
}

/// Moves the focus to the next landmark. An empty diagram takes it itself.
fn landmarks(back: bool) {
    const ALL: [&str; 5] = [
        "#manifest textarea, #manifest .rich .host",
        dom::STAGE_STOP,
        "#i-body",
        ".timeline canvas",
        "#console textarea",
    ];
    let document = dom::document();
    let find = |selector: &str| document.query_selector(selector).ok().flatten();
    let active = document.active_element();
    let at = ALL.iter().position(|selector| {
        let panel = find(selector)
            .and_then(|element| element.closest("section, aside, main").ok().flatten());
        panel.is_some_and(|panel| panel.contains(active.as_deref()))
    });
    for step in 1..=ALL.len() {
        let next = match (at, back) {
            (Some(at), false) => (at + step) % ALL.len(),
            (Some(at), true) => (at + ALL.len() * 2 - step) % ALL.len(),
            (None, _) => step - 1,
        };
        if let Some(element) = find(ALL[next]) {
            dom::focus(&element);
            // Elements that cannot be focused now are skipped.
            if document
                .active_element()
                .is_some_and(|active| element.contains(Some(&active)))
            {
                return;
            }
        }
    }
}
