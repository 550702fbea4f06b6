//! Lessons on the page: loaded when they are opened, told in a panel, and kept as far as they were taken.

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

/// Characters of a link that some programs cut.
const LONG_LINK: usize = 8_000;
/// How long a button says that something was copied.
const COPIED_MS: u32 = 1_600;

impl Page {
    /// The lesson that the address names is opened.
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

    /// Opens a lesson that was loaded; where there is work to lose the page asks first.
    pub(super) fn open_lesson(&mut self, name: &'static str, text: Option<&str>) {
        match text.map(lesson::parse) {
            Some(Ok(lesson)) => {
                self.carry_out_replace(LessonFile::new(name, lesson));
                self.resume();
            }
            _ => self.error = Some(PageFault::new("lesson", msg::lesson_not_loaded(name))),
        }
    }

    /// Goes on where a learning platform says that the lesson was left, once.
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

    /// What is shown of the lesson.
    fn lesson_card(&self) -> Option<LessonCard> {
        let state = self.state.borrow();
        state
            .player
            .as_ref()
            .map(|player| player.card(&state.timeline.run, state.timeline.playing, tongue()))
    }

    /// The title of the lesson that is played.
    pub(super) fn lesson_title(&self) -> Option<String> {
        self.state
            .borrow()
            .player
            .as_ref()
            .map(|player| player.file().lesson().title.plain(tongue()))
    }

    /// A presentation ends with its lesson: what it hides comes back.
    pub(super) fn end_presenting(&self) {
        if dom::presents() && self.state.borrow().player.is_none() {
            dom::present(false);
        }
    }

    /// What leads on in the lesson: to the end of what is played, or to the next step.
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

    /// Keeps how far the lesson was taken.
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

    /// Saves how far this lesson was taken, and what is kept of the others.
    pub(super) fn save_progress(&self) {
        let state = self.state.borrow();
        let Some(player) = &state.player else { return };
        let kept = library::ALL
            .iter()
            .filter_map(|entry| Some((entry.name, dom::kept(&kept_as(entry.name))?)));
        let progress = player.progress_file(kept, tongue());
        dom::save_text("loopscope-progress.json".into(), format!("{progress:#}\n"));
    }

    /// Keeps the address in step with the edits, half a second after the last.
    pub(super) fn save(&mut self, ctx: &Context<Self>) {
        let state = self.state.borrow();
        let (text, view) = &self.timers.saved;
        // A long text is not read each time.
        let same = Rc::ptr_eq(text, &state.editor.text) || *text == state.editor.text;
        let changed = !(same && *view == state.selection.view);
        // Another diagram, or another text, is there instead of what was wrong with the address.
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
        // What was done is kept as it is done: a tab may end without a word.
        let done = state.timeline.run.command_count();
        if self.timers.kept != done && !state.timeline.run.recalls() {
            self.timers.kept = done;
            let link = ctx.link().clone();
            self.timers.keeping = Some(Timeout::new(500, move || link.send_message(Msg::Keep)));
        }
    }

    /// The end of an address that opens what is shown: a lesson by its name, all else with what was done.
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

    /// Says for a while that something was copied.
    pub(super) fn copied(&mut self, ctx: &Context<Self>) {
        let to = ctx.link().clone();
        self.timers.copied = Some(Timeout::new(COPIED_MS, move || {
            to.send_message(Msg::Shared)
        }));
    }

    /// Repeats what the opening says was done; that takes the whole module. What was kept for a reload is tried once: it may be what stopped
    /// the page.
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

    /// Keeps what was done, so that a reload shows it again: at once where the page `leaves`, else when it is packed.
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

    /// What a reload shows again: what was done, or a fragment as it stands; nothing where nothing is kept.
    fn session(&self) -> Option<Result<Link, String>> {
        let state = self.state.try_borrow().ok()?;
        if !window::is_whole() || self.settings.embed || state.following.is_some() {
            return None;
        }
        Some(match &self.settings.recalled {
            _ if !state.shares_history() || STOPPED.get() => Err(String::new()),
            _ if !state.timeline.run.recalls() => Ok(state.shared()),
            // What is still being repeated is kept as it came.
            Some(kept) => Err(kept.clone()),
            None => Err(dom::fragment()),
        })
    }

    /// Saves the page as one file or package: with the lesson that is played, or with the manifest.
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

    /// The panel of the lesson.
    pub(super) fn lesson(&self, ctx: &Context<Self>) -> Html {
        if !window::is_whole() {
            return Html::default();
        }
        let Some(card) = self.lesson_card() else {
            return Html::default();
        };
        let on = self.on(ctx).reform(session::Msg::Lesson);
        // A sandboxed frame saves nothing; it tells the page around it instead.
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
