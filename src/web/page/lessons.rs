//! Lessons on the page: loaded when opened, shown in a panel, and their progress kept.

use super::{Msg, Page};
use crate::web::dom;
use crate::web::host::PageFault;
use crate::web::language::tongue;
use crate::web::learn;
use crate::web::lesson::{LessonPanel, is_over, kept_as};
use crate::web::window;
use i18n::msg;
use lesson::library;
use session::lesson::{LessonCard, LessonFile, Player, ResumePoint};
use session::replace::{ReplaceMsg, Replacement};
use yew::prelude::*;

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
                let file = LessonFile::new(name, lesson);
                // What a lesson plays is watched write by write, unless the address says otherwise.
                let paced = dom::query("pace").is_none()
                    && !dom::prefers("(prefers-reduced-motion: reduce)");
                self.carry_out_replace(if paced { file.paced_by_cause() } else { file });
                self.resume();
            }
            _ => self.error = Some(PageFault::new("lesson", msg::lesson_not_loaded(name))),
        }
    }

    /// Resumes the lesson where a learning platform says that it was left, once.
    pub(super) fn resume(&self) {
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

    /// Ends the presentation once its lesson is closed.
    pub(super) fn end_presenting(&self) {
        if dom::presents() && self.state.borrow().player.is_none() {
            dom::present(false);
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
            .and_then(|player| library::after(learn::path(), player.file().name()));
        let full = if self.settings.embed {
            self.full_page_link(ctx)
        } else {
            Html::default()
        };
        html! { <LessonPanel card={card} {following} on_lesson={ctx.link().callback(Msg::OpenLesson)} lang={self.settings.lang} on={on} on_present={ctx.link().callback(|()| Msg::Present)} on_save={on_save} presents={dom::presents()} tools={self.lesson_tools(ctx)} full={full} /> }
    }
}
