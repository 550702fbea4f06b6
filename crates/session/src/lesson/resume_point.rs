//! Step at which a lesson was left, as recorded by a learning platform.

use super::{LessonFile, Result};
use lesson::format::Tongue;
use serde_json::Value;

/// Step at which a lesson was left, and the results of those before it.
#[derive(Clone, Debug, PartialEq)]
pub struct ResumePoint {
    /// Name of the lesson; empty for a lesson of one's own, which is identified by its title.
    lesson: String,
    title: String,
    pub(super) step: usize,
    pub(super) results: Vec<Result>,
    pub(super) answered: Vec<bool>,
}

impl ResumePoint {
    /// Reads the progress that `Player::told` returns.
    pub fn read(progress: &Value) -> Option<ResumePoint> {
        let words = progress["results"]
            .as_array()?
            .iter()
            .filter_map(Value::as_str);
        let answered = progress["answered"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|answered| *answered == true);
        let step = usize::try_from(progress["step"].as_u64()?.checked_sub(1)?).ok()?;
        let word = |name: &str| progress[name].as_str().map(str::to_owned);
        let (lesson, title) = (word("lesson")?, word("title").unwrap_or_default());
        Some(ResumePoint {
            lesson,
            title,
            step,
            results: words.map(Result::from_word).collect(),
            answered: answered.collect(),
        })
    }

    /// Returns true if the lesson is the one that was left.
    pub(super) fn is_of(&self, file: &LessonFile) -> bool {
        let is_title = |tongue| file.lesson().title.plain(tongue) == self.title;
        self.lesson == file.name()
            && (!self.lesson.is_empty()
                || [Tongue::English, Tongue::Chinese].into_iter().any(is_title))
    }
}
