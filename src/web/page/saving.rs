//! What outlives the page: the address, which follows the manifest and the diagram, the session kept for a reload, and links.

use super::packing::{self, Packed};
use super::{Msg, Page, opening};
use crate::web::dom;
use crate::web::host::PageFault;
use crate::web::language::tongue;
use crate::web::status::STOPPED;
use crate::web::window;
use gloo_timers::callback::Timeout;
use i18n::msg;
use session::State;
use session::permalink::{self, Link};
use std::cell::RefCell;
use std::rc::Rc;
use views::view::View;
use yew::html::Scope;
use yew::prelude::*;

/// Length of a link, in characters, from which some programs truncate it.
const LONG_LINK: usize = 8_000;
/// Milliseconds after the last change until the address or the session is saved.
const SAVING_DELAY_MS: u32 = 500;

/// Manifest and the diagram in which it is shown.
type Shown = (Rc<str>, &'static View);

fn shown(state: &State) -> Shown {
    (state.editor.text.clone(), state.selection.view)
}

/// Address of the page, which follows the manifest and the diagram.
pub(super) struct SavedAddress {
    saved: Shown,
    saving: Option<Timeout>,
}

/// Change of what an address holds.
#[derive(Clone, Copy)]
pub(super) struct AddressChange {
    pub(super) text: bool,
    pub(super) view: bool,
}

impl SavedAddress {
    pub(super) fn new(state: &State) -> SavedAddress {
        SavedAddress {
            saved: shown(state),
            saving: None,
        }
    }

    /// Notes what is shown, and returns what has changed since.
    pub(super) fn note(&mut self, state: &State) -> AddressChange {
        let (text, view) = std::mem::replace(&mut self.saved, shown(state));
        AddressChange {
            // A long text is only compared if its pointer has changed.
            text: !Rc::ptr_eq(&text, &self.saved.0) && text != self.saved.0,
            view: view != self.saved.1,
        }
    }

    /// Saves the address some time after the last change.
    pub(super) fn save_later(&mut self, link: &Scope<Page>) {
        let link = link.clone();
        self.saving = Some(Timeout::new(SAVING_DELAY_MS, move || {
            link.send_message(Msg::Save)
        }));
    }
}

/// Session kept so that a reload restores it.
#[derive(Default)]
pub(super) struct KeptSession {
    /// Number of commands when the session was last kept.
    commands: usize,
    keeping: Option<Timeout>,
    /// Session kept for the reload that opened the page.
    recalled: Option<String>,
}

impl KeptSession {
    /// Keeps the session some time after the last command: a tab may be closed without an event.
    fn keep_later(&mut self, state: &State, link: &Scope<Page>) {
        let run = &state.timeline.run;
        let commands = run.command_count();
        if self.commands != commands && !run.is_replaying() {
            self.commands = commands;
            let link = link.clone();
            self.keeping = Some(Timeout::new(SAVING_DELAY_MS, move || {
                link.send_message(Msg::Keep)
            }));
        }
    }

    /// Keeps the session: at once if the page `leaves`, otherwise when it is packed.
    pub(super) fn keep(&self, state: &State, leaves: bool) {
        packing::supersede(Packed::Reload);
        match self.session(state) {
            Some(Ok(link)) if leaves => dom::keep_for_reload(&permalink::encode(&link)),
            Some(Ok(link)) => {
                packing::pack(Packed::Reload, &link, |hash| dom::keep_for_reload(&hash))
            }
            Some(Err(hash)) => dom::keep_for_reload(&hash),
            None => {}
        }
    }

    /// Session that a reload restores: a link, or a fragment as it stands; `None` if nothing is to be kept.
    fn session(&self, state: &State) -> Option<Result<Link, String>> {
        if !window::is_whole() || state.following.is_some() {
            return None;
        }
        Some(match &self.recalled {
            _ if !state.shares_history() || STOPPED.get() => Err(String::new()),
            _ if !state.timeline.run.is_replaying() => Ok(state.shared()),
            // A history that is still being repeated is kept as received.
            Some(kept) => Err(kept.clone()),
            None => Err(dom::fragment()),
        })
    }
}

/// Link from a frame to the full page, packed when it is needed.
#[derive(Default)]
pub(super) struct FullPageLink(RefCell<Option<(Shown, String)>>);

impl FullPageLink {
    /// Keeps the link when a person is about to follow it: the page with its history, or the lesson in progress.
    pub(super) fn keep(&self, state: &State) {
        if window::is_whole() {
            let link = state.shared_address().to_string();
            self.0.replace(Some((shown(state), link)));
        }
    }

    /// Returns the address: the link kept, or else the manifest, packed when it has changed. Nothing is packed before the whole module is
    /// loaded.
    pub(super) fn address(&self, state: &State) -> String {
        let mut known = self.0.borrow_mut();
        let of = shown(state);
        if known.as_ref().is_none_or(|(packed, _)| *packed != of) && window::is_whole() {
            // A lesson is linked as a lesson.
            let link = if state.player.is_some() {
                state.shared_address().to_string()
            } else {
                permalink::encode(&state.link())
            };
            *known = Some((of, link));
        }
        let link = known.as_ref().map_or("", |(_, link)| link.as_str());
        format!("{}{link}", dom::address())
    }
}

impl Page {
    /// Updates the address, and keeps the session, some time after the last change.
    pub(super) fn save(&mut self, ctx: &Context<Self>) {
        let state = self.state.borrow();
        let change = self.address.note(&state);
        // Another diagram, or another text, has replaced what was wrong with the address.
        let mended = self.error.as_ref().is_some_and(|fault| {
            if fault.code == "view" {
                change.view
            } else {
                change.text
            }
        });
        if mended && self.settings.greeted {
            self.error = None;
        }
        if !self.settings.embed {
            if change.text || change.view {
                self.address.save_later(ctx.link());
            }
            self.session.keep_later(&state, ctx.link());
        }
    }

    /// Keeps the session for a reload; a page in a frame has none.
    pub(super) fn keep_session(&self, leaves: bool) {
        if let Ok(state) = self.state.try_borrow()
            && !self.settings.embed
        {
            self.session.keep(&state, leaves);
        }
    }

    /// Copies a link to what is shown.
    pub(super) fn share(&mut self, ctx: &Context<Self>) {
        let mut state = self.state.borrow_mut();
        let address = state.shared_address();
        dom::copy(&format!("{}{address}", dom::address()));
        let (query, link) = (address.query, address.fragment);
        if query.is_empty() {
            dom::set_fragment(&link);
        }
        let lacks_history =
            query.is_empty() && state.replacing.acted && !permalink::holds_history(&state.shared());
        let warning = if lacks_history {
            Some(msg::share_link_no_history())
        } else {
            (link.len() > LONG_LINK).then(|| msg::share_link_long(link.len()))
        };
        let warns = warning.is_some();
        if let Some(warning) = warning {
            state.announcer.say(warning);
        }
        drop(state);
        if warns {
            self.toast(ctx);
        }
        self.notices.copied(ctx.link());
    }

    /// Repeats the history of the opening, which needs the whole module. A session kept for a reload is tried only once: it may be what
    /// stopped the page.
    pub(super) fn recall(&mut self, ctx: &Context<Self>) {
        let kept = dom::kept_for_reload();
        if let Ok(Some(link)) = opening::link(kept.as_deref()) {
            let plays = self.settings.embed && dom::autoplay() == Some(true);
            self.state
                .borrow_mut()
                .recall(&if plays { link.playing() } else { link });
        }
        if kept.is_none() && dom::is_for_learners() {
            self.state.borrow_mut().learn();
            self.resume();
        }
        if kept.is_some() {
            dom::keep_for_reload("");
        } else {
            self.open_wanted_lesson(ctx);
        }
        self.session.recalled = kept;
    }

    /// Opens the link entered into the address; returns false if nothing changes.
    pub(super) fn open_hash(&mut self) -> bool {
        match permalink::decode(&dom::fragment()) {
            Ok(Some(link)) if link != self.state.borrow().link() => {
                let (width, height) = self.state.borrow().drawing.stage;
                let mut state = State::from_link(Some(&link));
                state.recall(&link);
                state.update(session::Msg::Stage(width, height));
                self.address.note(&state);
                *self.state.borrow_mut() = state;
                self.inspection.chain_of = None;
                true
            }
            Ok(_) => false,
            Err(words) => {
                self.error = Some(PageFault::new("link", words));
                true
            }
        }
    }

    /// Saves the page as one file or package: with the lesson in progress, or with the manifest.
    pub(super) fn save_single(&self, ctx: &Context<Self>, form: &'static str) {
        let state = self.state.borrow();
        let title = state
            .lesson_title(tongue())
            .unwrap_or_else(|| "Loopscope".to_owned());
        let address = state.shared_address();
        let query = format!(
            "{}lang={}",
            if address.query.is_empty() {
                "?".to_owned()
            } else {
                address.query + "&"
            },
            self.settings.lang.tag()
        );
        dom::save_single(
            form,
            address.fragment,
            query,
            title,
            ctx.link().callback(Msg::SingleDone),
        );
    }
}
