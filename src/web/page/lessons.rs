//! Lessons on the page: loaded when opened, shown in a panel, and their progress kept.

use super::opening;
use super::packing::Packed;
use super::{Msg, Page};
use crate::web::dom;
use crate::web::host::PageFault;
use crate::web::language::tongue;
use crate::web::lesson::{LessonPanel, is_over, kept_as};
use crate::web::page::packing;
use crate::web::status::STOPPED;
use crate::web::window;
use gloo_timers::callback::Timeout;
use i18n::msg;
use lesson::library;
use session::lesson::{LessonCard, LessonFile, LessonMsg, Phase, Player, ResumePoint};
use session::permalink::{self, Link};
use session::replace::{ReplaceMsg, Replacement};
use std::rc::Rc;
use yew::prelude::*;

/// Length of a link, in characters, from which some programs truncate it.
const LONG_LINK: usize = 8_000;
/// Time for which a button shows that something was copied, in milliseconds.
const COPIED_MS: u32 = 1_600;

impl Page {
    /// Opens the lesson named by the address.
    pub(super) fn open_wanted_lesson(&mut self, ctx: &Context<Self>) {
        if let Some(name) = dom::query("lesson").filter(|name| !dom::is_address(name)) {
            self.fetch_lesson(ctx, &name);
        }
    }

    /// Loads a lesson of the library.
    pub(super) fn fetch_lesson(&mut self, ctx: &Context<Self>, name: &str) {
        let Some(entry) = library::named(name) else {
            self.error = Some(PageFault::new("lesson", msg::lesson_none(name)));
            return;
        };
        let link = ctx.link().clone();
        dom::fetch_lesson(entry.name, move |text| {
            link.send_message(Msg::Lesson(entry.name, text))
        });
    }

    /// Opens a loaded lesson; if work would be lost the page asks first.
    pub(super) fn open_lesson(&mut self, name: &'static str, text: Option<&str>) {
        match text.map(lesson::parse) {
            Some(Ok(lesson)) => {
                self.carry_out_replace(LessonFile::new(name, lesson));
                self.resume();
            }
            _ => self.error = Some(PageFault::new("lesson", msg::lesson_not_loaded(name))),
        }
    }

    /// Resumes the lesson where a learning platform says that it was left, once.
    fn resume(&self) {
        if let Some(point) =
            dom::take_resume_point().and_then(|progress| ResumePoint::read(&progress))
        {
            self.state.borrow_mut().resume(point);
        }
    }

    fn carry_out_replace(&mut self, file: LessonFile) {
        self.carry_out(ReplaceMsg::Ask(Replacement::Lesson(file)).into());
    }

    /// Builds the card of the lesson.
    fn lesson_card(&self) -> Option<LessonCard> {
        let state = self.state.borrow();
        state
            .player
            .as_ref()
            .map(|player| player.card(&state.timeline.run, state.timeline.playing, tongue()))
    }

    /// Title of the lesson in progress.
    pub(super) fn lesson_title(&self) -> Option<String> {
        self.state
            .borrow()
            .player
            .as_ref()
            .map(|player| player.file().lesson().title.plain(tongue()))
    }

    /// Ends the presentation once its lesson is closed.
    pub(super) fn end_presenting(&self) {
        if dom::presents() && self.state.borrow().player.is_none() {
            dom::present(false);
        }
    }

    /// Message that advances the lesson: to the end of its playback, or to the next step.
    pub(super) fn onward(&self) -> LessonMsg {
        let state = self.state.borrow();
        let plays = state
            .player
            .as_ref()
            .is_some_and(|player| player.progress().1 == Phase::Playing);
        if plays {
            LessonMsg::Hurry
        } else {
            LessonMsg::Next
        }
    }

    /// Keeps the progress in the lesson.
    pub(super) fn keep_lesson(&mut self) {
        let state = self.state.borrow();
        let named = |player: &&Player| !player.file().name().is_empty() && !state.is_resuming();
        let Some(player) = state.player.as_ref().filter(named) else {
            return;
        };
        let ((at, _, results), over) = (player.progress(), player.is_over());
        let name = player.file().name();
        if !is_over(name) {
            dom::keep(
                &kept_as(name),
                &if over {
                    "over".to_owned()
                } else {
                    format!("{}/{}", at + 1, results.len())
                },
            );
        }
    }

    /// Saves the progress in this lesson, and the stored progress in others.
    pub(super) fn save_progress(&self) {
        let state = self.state.borrow();
        let Some(player) = &state.player else { return };
        let kept = library::ALL
            .iter()
            .filter_map(|entry| Some((entry.name, dom::kept(&kept_as(entry.name))?)));
        let progress = player.progress_file(kept, tongue());
        dom::save_text("loopscope-progress.json".into(), format!("{progress:#}\n"));
    }

    /// Updates the address half a second after the last edit.
    pub(super) fn save(&mut self, ctx: &Context<Self>) {
        let state = self.state.borrow();
        let (text, view) = &self.timers.saved;
        // A long text is only compared if its pointer has changed.
        let same = Rc::ptr_eq(text, &state.editor.text) || *text == state.editor.text;
        let changed = !(same && *view == state.selection.view);
        // Another diagram, or another text, has replaced what was wrong with the address.
        let mended = self.error.as_ref().is_some_and(|fault| {
            if fault.code == "view" {
                *view != state.selection.view
            } else {
                !same
            }
        });
        if mended && self.settings.greeted {
            self.error = None;
        }
        self.timers.saved = (state.editor.text.clone(), state.selection.view);
        if changed && !self.settings.embed {
            let link = ctx.link().clone();
            self.timers.saving = Some(Timeout::new(500, move || link.send_message(Msg::Save)));
        }
        // Commands are kept as they are run: a tab may be closed without an event.
        let done = state.timeline.run.command_count();
        if self.timers.kept != done && !state.timeline.run.recalls() {
            self.timers.kept = done;
            let link = ctx.link().clone();
            self.timers.keeping = Some(Timeout::new(500, move || link.send_message(Msg::Keep)));
        }
    }

    /// Returns the query and fragment of an address that opens what is shown: a lesson by its name, anything else with its history.
    pub(super) fn shared(&self) -> (String, String) {
        let state = self.state.borrow();
        match state
            .player
            .as_ref()
            .map(|player| player.file().name())
            .filter(|name| !name.is_empty())
        {
            Some(name) => (format!("?lesson={name}"), String::new()),
            None => {
                let learns = state
                    .player
                    .as_ref()
                    .is_some_and(|player| player.source().is_some());
                (
                    if learns { "?learn=1" } else { "" }.to_owned(),
                    permalink::encode(&state.shared()),
                )
            }
        }
    }

    /// Copies a link to what is shown.
    pub(super) fn share(&mut self, ctx: &Context<Self>) {
        let (query, link) = self.shared();
        dom::copy(&format!("{}{query}{link}", dom::address()));
        if query.is_empty() {
            dom::set_fragment(&link);
        }
        let lacks_history = {
            let state = self.state.borrow();
            query.is_empty() && state.replacing.acted && !permalink::holds_history(&state.shared())
        };
        if lacks_history {
            self.state
                .borrow_mut()
                .announcer
                .say(msg::share_link_no_history());
            self.toast(ctx);
        } else if link.len() > LONG_LINK {
            self.state
                .borrow_mut()
                .announcer
                .say(msg::share_link_long(link.len()));
            self.toast(ctx);
        }
        self.copied(ctx);
    }

    /// Shows for a while that something was copied.
    pub(super) fn copied(&mut self, ctx: &Context<Self>) {
        let to = ctx.link().clone();
        self.timers.copied = Some(Timeout::new(COPIED_MS, move || {
            to.send_message(Msg::Shared)
        }));
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
        self.settings.recalled = kept;
    }

    /// Keeps the session so that a reload restores it: at once if the page `leaves`, otherwise when it is packed.
    pub(super) fn keep_session(&self, leaves: bool) {
        packing::supersede(Packed::Reload);
        match self.session() {
            Some(Ok(link)) if leaves => dom::keep_for_reload(&permalink::encode(&link)),
            Some(Ok(link)) => {
                packing::pack(Packed::Reload, &link, |hash| dom::keep_for_reload(&hash))
            }
            Some(Err(hash)) => dom::keep_for_reload(&hash),
            None => {}
        }
    }

    /// Session that a reload restores: a link, or a fragment as it stands; `None` if nothing is to be kept.
    fn session(&self) -> Option<Result<Link, String>> {
        let state = self.state.try_borrow().ok()?;
        if !window::is_whole() || self.settings.embed || state.following.is_some() {
            return None;
        }
        Some(match &self.settings.recalled {
            _ if !state.shares_history() || STOPPED.get() => Err(String::new()),
            _ if !state.timeline.run.recalls() => Ok(state.shared()),
            // A history that is still being repeated is kept as received.
            Some(kept) => Err(kept.clone()),
            None => Err(dom::fragment()),
        })
    }

    /// Saves the page as one file or package: with the lesson in progress, or with the manifest.
    pub(super) fn save_single(&self, ctx: &Context<Self>, form: &'static str) {
        let title = self
            .lesson_title()
            .unwrap_or_else(|| "Loopscope".to_owned());
        let (query, hash) = self.shared();
        let query = format!(
            "{}lang={}",
            if query.is_empty() {
                "?".to_owned()
            } else {
                query + "&"
            },
            self.settings.lang.tag()
        );
        dom::save_single(
            form,
            hash,
            query,
            title,
            ctx.link().callback(Msg::SingleDone),
        );
    }

    /// Draws the panel of the lesson.
    pub(super) fn lesson(&self, ctx: &Context<Self>) -> Html {
        if !window::is_whole() {
            return Html::default();
        }
        let Some(card) = self.lesson_card() else {
            return Html::default();
        };
        let on = self.on(ctx).reform(session::Msg::Lesson);
        // A sandboxed frame cannot save files; it reports to the embedding page instead.
        let on_save = (!self.settings.embed).then(|| ctx.link().callback(|()| Msg::SaveProgress));
        let following = self
            .state
            .borrow()
            .player
            .as_ref()
            .and_then(|player| library::after(player.file().name()));
        let full = if self.settings.embed {
            self.full_page_link(ctx)
        } else {
            Html::default()
        };
        html! { <LessonPanel card={card} {following} on_lesson={ctx.link().callback(Msg::OpenLesson)} lang={self.settings.lang} on={on} on_present={ctx.link().callback(|()| Msg::Present)} on_save={on_save} presents={dom::presents()} tools={self.lesson_tools(ctx)} full={full} /> }
    }
}
