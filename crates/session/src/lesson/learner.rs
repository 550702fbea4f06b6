//! A lesson of one's own as a learner takes it, and a lesson that goes on where a learning platform says that it was left.

use super::{LessonFile, LessonMsg, Phase, Player, ResumePoint};
use crate::replace::Replacement;
use crate::state::State;

/// Messages that lead from one step to the next at most: its question, its task, what is played, and the step itself.
const MOST_MESSAGES: usize = 4;

impl State {
    /// Takes the lesson that stands in the editor as a learner does: its source, which has the solutions and answers, gives way to the
    /// manifests of its steps.
    pub fn learn(&mut self) {
        let Some(player) = self.player.as_ref().filter(|player| player.is_own()) else {
            return;
        };
        let file = LessonFile {
            source: Some(self.editor.text.clone()),
            ..player.file().clone()
        };
        self.begin_again(Replacement::Lesson(file), false);
    }

    /// Plays the lesson to the step at which it was left, as fast as possible; tasks are done by their solutions. Another lesson stays as it
    /// is.
    pub fn resume(&mut self, mut point: ResumePoint) {
        if let Some(player) = self
            .player
            .as_mut()
            .filter(|player| point.is_of(&player.file))
        {
            let last = player.file.lesson().steps.len().saturating_sub(1);
            point.step = point.step.min(last);
            player.resume = Some(point);
        }
        self.resume_lesson();
    }

    /// Whether the lesson is played to the step at which it was left: its progress is not that of the learner until then.
    pub fn is_resuming(&self) -> bool {
        self.player
            .as_ref()
            .is_some_and(|player| player.resume.is_some())
    }

    /// Leads on to the step at which the lesson was left, if it is not reached.
    pub(crate) fn resume_lesson(&mut self) {
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
        let Some(player) = &mut self.player else {
            return;
        };
        let Some(point) = player.resume.take() else {
            return;
        };
        let before = player.at;
        for (kept, result) in player.marks.results[..before]
            .iter_mut()
            .zip(&point.results)
        {
            *kept = *result;
        }
        for (kept, answered) in player.marks.answered[..before]
            .iter_mut()
            .zip(&point.answered)
        {
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
