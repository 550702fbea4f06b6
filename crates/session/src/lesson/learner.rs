//! A lesson of one's own as a learner takes it, and resuming a lesson where a learning platform says that it was left.

use super::{LessonFile, LessonMsg, Phase, Player, ResumePoint};
use crate::replace::Replacement;
use crate::state::State;

/// Maximum number of messages from one step to the next: its question, its task, its playback, and the step itself.
const MOST_MESSAGES: usize = 4;

impl State {
    /// Starts the lesson in the editor as for a learner: its source, which has the solutions and answers, is replaced by the manifests of
    /// its steps.
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

    /// Plays the lesson to the step at which it was left, as fast as possible; tasks are solved by their solutions. Does nothing for
    /// another lesson.
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

    /// Returns true while the lesson is played to the step at which it was left: until then its progress is not the learner's.
    pub fn is_resuming(&self) -> bool {
        self.player
            .as_ref()
            .is_some_and(|player| player.resume.is_some())
    }

    /// Advances towards the step at which the lesson was left, until it is reached.
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
    /// Text of a lesson of one's own that a learner takes.
    pub fn source(&self) -> Option<&str> {
        self.file.source.as_deref()
    }
}
