//! A lesson of one's own as a learner takes it, and a lesson that goes on where a learning platform says that it was left.

use super::{LessonFile, LessonMsg, Phase, Player, Result};
use crate::lesson::format::Tongue;
use crate::session::replace::Replacement;
use crate::session::state::State;
use serde_json::Value;

/// Messages that lead from one step to the next at most: its question, its task, what is played, and the step itself.
const MOST_MESSAGES: usize = 4;

/// The step at which a lesson was left, and what came of those before it.
#[derive(Clone, Debug, PartialEq)]
pub struct ResumePoint {
    /// Name of the lesson; empty for one of one's own, which is known by its title.
    lesson: String,
    title: String,
    step: usize,
    results: Vec<Result>,
    answered: Vec<bool>,
}

impl ResumePoint {
    /// Reads the progress that `Player::told` gives.
    pub fn read(progress: &Value) -> Option<ResumePoint> {
        let words = progress["results"].as_array()?.iter().filter_map(Value::as_str);
        let answered = progress["answered"].as_array().into_iter().flatten().map(|answered| *answered == true);
        let step = usize::try_from(progress["step"].as_u64()?.checked_sub(1)?).ok()?;
        let word = |name: &str| progress[name].as_str().map(str::to_owned);
        let (lesson, title) = (word("lesson")?, word("title").unwrap_or_default());
        Some(ResumePoint { lesson, title, step, results: words.map(Result::from_word).collect(), answered: answered.collect() })
    }

    /// Whether it is a step of this lesson.
    fn is_of(&self, file: &LessonFile) -> bool {
        let is_title = |tongue| file.lesson().title.plain(tongue) == self.title;
        self.lesson == file.name() && (!self.lesson.is_empty() || [Tongue::English, Tongue::Chinese].into_iter().any(is_title))
    }
}

impl State {
    /// Takes the lesson that stands in the editor as a learner does: its source, which has the solutions and answers, gives way to the
    /// manifests of its steps.
    pub fn learn(&mut self) {
        let Some(player) = self.player.as_ref().filter(|player| player.is_own()) else { return };
        let file = LessonFile { source: Some(self.editor.text.clone()), ..player.file().clone() };
        self.begin_again(Replacement::Lesson(file), false);
    }

    /// Plays the lesson to the step at which it was left, as fast as possible; tasks are done by their solutions. Another lesson stays as it
    /// is.
    pub fn resume(&mut self, point: ResumePoint) {
        if let Some(player) = self.player.as_mut().filter(|player| point.is_of(&player.file)) {
            let last = player.file.lesson().steps.len().saturating_sub(1);
            player.resume = Some(ResumePoint { step: point.step.min(last), ..point });
        }
        self.resume_lesson();
    }

    /// Whether the lesson is played to the step at which it was left: its progress is not that of the learner until then.
    pub fn is_resuming(&self) -> bool {
        self.player.as_ref().is_some_and(|player| player.resume.is_some())
    }

    /// Leads on to the step at which the lesson was left, if it is not reached.
    pub(in crate::session) fn resume_lesson(&mut self) {
        for _ in 0..MOST_MESSAGES {
            let Some(player) = &self.player else { return };
            let Some(point) = &player.resume else { return };
            if self.timeline.run_until.is_some() && player.state.phase == Phase::Playing {
                return;
            }
            let reached = player.at >= point.step;
            match player.state.phase {
                _ if reached => return self.restore_results(),
                Phase::Playing => return self.teach(LessonMsg::Hurry),
                Phase::Lost => return self.restore_results(),
                Phase::Asking | Phase::Task | Phase::Done => self.teach(LessonMsg::Next),
            }
        }
    }

    fn restore_results(&mut self) {
        let Some(player) = &mut self.player else { return };
        let Some(point) = player.resume.take() else { return };
        let before = player.at;
        for (kept, result) in player.marks.results[..before].iter_mut().zip(&point.results) {
            *kept = *result;
        }
        for (kept, answered) in player.marks.answered[..before].iter_mut().zip(&point.answered) {
            *kept = *answered;
        }
    }
}

impl Player {
    /// Text of the lesson, where it is one's own and a learner takes it.
    pub fn source(&self) -> Option<&str> {
        self.file.source.as_deref()
    }
}
