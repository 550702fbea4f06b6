//! Messages shown for a moment.

use super::{Msg, Page};
use crate::web::dom::icon;
use crate::web::language::say;
use gloo_timers::callback::Timeout;
use i18n::Message;
use session::announcer::Announcer;
use yew::html::Scope;
use yew::prelude::*;

/// Milliseconds for which the result of an action is shown.
const TOAST_MS: u32 = 4_000;
/// Milliseconds for which a button shows that something was copied.
const COPIED_MS: u32 = 1_600;

/// Messages shown, each with the timeout that hides it.
#[derive(Default)]
pub(super) struct Notices {
    copied: Option<Timeout>,
    toast: Option<Toast>,
}

/// Result of an action. It stays as it is though more is announced meanwhile.
struct Toast {
    _timeout: Timeout,
    words: Message,
    failed: bool,
}

impl Notices {
    /// Shows that something was copied.
    pub(super) fn copied(&mut self, link: &Scope<Page>) {
        let link = link.clone();
        self.copied = Some(Timeout::new(COPIED_MS, move || {
            link.send_message(Msg::Shared)
        }));
    }

    pub(super) fn shows_copied(&self) -> bool {
        self.copied.is_some()
    }

    pub(super) fn hide_copied(&mut self) {
        self.copied = None;
    }

    /// Shows the announced result of an action, if there is one.
    pub(super) fn toast(&mut self, announcer: &Announcer, link: &Scope<Page>) {
        let words = announcer.notice();
        self.toast = (!words.is_empty()).then(|| {
            let link = link.clone();
            Toast {
                _timeout: Timeout::new(TOAST_MS, move || link.send_message(Msg::Read)),
                words: words.clone(),
                failed: announcer.failed(),
            }
        });
    }

    pub(super) fn hide_toast(&mut self) {
        self.toast = None;
    }

    /// Draws the result of an action.
    pub(super) fn draw(&self) -> Html {
        let Some(Toast { words, failed, .. }) = &self.toast else {
            return Html::default();
        };
        let glyph = if *failed { "i-error" } else { "i-check" };
        html! { <div class={classes!("toast", "said", failed.then_some("failed"))} aria-hidden="true">{ icon(glyph, 16) }<span>{ say(words) }</span></div> }
    }
}
