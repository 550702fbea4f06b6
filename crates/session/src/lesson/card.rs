//! Contents of the lesson card.

use super::{Phase, Player, Result};
use crate::run::Run;
use explain::standing;
use i18n::Message;
use lesson::format::{Answers, LessonTask, Predict, ReviewQuestion, Text, Tongue};
use serde_json::{Value, json};

/// Contents of the lesson card.
#[derive(Clone, Debug, PartialEq)]
pub struct LessonCard {
    /// Title of the lesson.
    pub title: String,
    /// Step, from 1, and number of steps.
    pub step: (usize, usize),
    /// Phase.
    pub phase: Phase,
    /// Caption.
    pub say: String,
    /// Question of the step.
    pub question: Option<QuestionCard>,
    /// Task of the step, once the actions before it were played.
    pub task: Option<TaskCard>,
    /// Result of each step.
    pub results: Vec<Result>,
    /// Score once the lesson is over: questions answered correctly and tasks solved, and the number of both.
    pub score: Option<(usize, usize)>,
    /// Abilities that the learner has now, once the lesson is over.
    pub learned: Vec<String>,
    /// Questions by which the learner checks that, once the lesson is over.
    pub review: Vec<ReviewCard>,
    /// True if the clock is paused while actions are to be played.
    pub paused: bool,
    /// Notes for a presenter.
    pub notes: PresenterNotes,
}

/// Notes for a presenter's own window.
#[derive(Clone, Debug, PartialEq)]
pub struct PresenterNotes {
    /// Caption of the step, and its notes for the presenter.
    pub here: Vec<String>,
    /// Lines that solve its task.
    pub solution: Vec<String>,
    /// Caption of the next step.
    pub next: String,
}

/// Question after the last step.
#[derive(Clone, Debug, PartialEq)]
pub struct ReviewCard {
    /// Question.
    pub ask: String,
    /// Choices.
    pub choices: Vec<String>,
    /// Index of the right choice.
    pub right: usize,
    /// Explanation shown with the answer.
    pub because: String,
}

/// Contents of a question.
#[derive(Clone, Debug, PartialEq)]
pub struct QuestionCard {
    /// Question.
    pub ask: String,
    /// Choices; empty if the answer is a number.
    pub choices: Vec<String>,
    /// Answer given.
    pub given: Option<i64>,
    /// Correct answer, once the step was played.
    pub right: Option<i64>,
    /// Explanation.
    pub because: String,
    /// True if there is an instant to show.
    pub moment: bool,
}

/// Contents of a task.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskCard {
    /// Goal.
    pub goal: String,
    /// Hints shown so far.
    pub hints: Vec<String>,
    /// State of the task's object: the last hint.
    pub why: Message,
    /// True if there are more hints.
    pub more_hints: bool,
}

impl Player {
    /// Builds the card in a language.
    pub fn card(&self, run: &Run, playing: bool, tongue: Tongue) -> LessonCard {
        let step = self.step();
        LessonCard {
            title: self.file.lesson().title.plain(tongue),
            step: (self.at + 1, self.file.lesson().steps.len()),
            phase: self.state.phase,
            // The caption must not reveal the answer before the step was played.
            say: if step.predict.is_none() || self.state.played {
                self.say(&step.say, tongue)
            } else {
                String::new()
            },
            question: step
                .predict
                .as_ref()
                .map(|predict| self.question_card(predict, tongue)),
            task: step
                .task
                .as_ref()
                .filter(|_| self.state.played)
                .map(|task| self.task_card(task, run, tongue)),
            results: self.marks.results.clone(),
            score: self.is_over().then(|| self.score()),
            learned: if self.is_over() {
                let learned = &self.file.lesson().learned;
                learned.iter().map(|text| text.plain(tongue)).collect()
            } else {
                Vec::new()
            },
            review: if self.is_over() {
                self.review(tongue)
            } else {
                Vec::new()
            },
            paused: self.state.phase == Phase::Playing && !playing,
            notes: self.notes(tongue),
        }
    }

    fn review(&self, tongue: Tongue) -> Vec<ReviewCard> {
        let question = |question: &ReviewQuestion| ReviewCard {
            ask: question.ask.plain(tongue),
            choices: question
                .choices
                .iter()
                .map(|text| text.plain(tongue))
                .collect(),
            right: question.right,
            because: question.because.plain(tongue),
        };
        self.file.lesson().review.iter().map(question).collect()
    }

    /// Evaluates a text at the end of the step; empty before its values are known.
    fn say(&self, text: &Text, tongue: Tongue) -> String {
        match &self.state.ended {
            Some(end) => text.say(tongue, &end.history, &end.sim),
            None if text.holes().next().is_none() => text.plain(tongue),
            None => String::new(),
        }
    }

    /// Evaluates a text at the beginning of the step.
    fn ask(&self, text: &Text, tongue: Tongue) -> String {
        self.state
            .began
            .as_ref()
            .map(|began| text.say(tongue, &began.history, &began.sim))
            .unwrap_or_default()
    }

    /// Progress as JSON, for other scripts and for a file.
    pub fn told(&self, tongue: Tongue) -> Value {
        let (at, phase, results) = self.progress();
        let (right, asked) = self.score();
        json!({
            "lesson": self.file.name(),
            "title": self.file.lesson().title.plain(tongue),
            "step": at + 1,
            "steps": results.len(),
            "phase": phase.word(),
            "results": results.iter().map(|result| result.word()).collect::<Vec<_>>(),
            "answered": self.marks.answered,
            "right": right,
            "asked": asked,
            "over": self.is_over(),
        })
    }

    /// Returns true if the last step is done.
    pub fn is_over(&self) -> bool {
        let (at, phase, results) = self.progress();
        phase == Phase::Done && at + 1 == results.len()
    }

    /// Builds a file of the progress in this lesson, and of the stored progress in others (`over`, or the step).
    pub fn progress_file<'a>(
        &self,
        kept: impl Iterator<Item = (&'a str, String)>,
        tongue: Tongue,
    ) -> Value {
        let kept = kept.map(|(name, progress)| (name.to_owned(), progress.into()));
        json!({ "loopscope": "progress", "version": 1, "lesson": self.told(tongue), "kept": kept.collect::<serde_json::Map<_, _>>() })
    }

    fn notes(&self, tongue: Tongue) -> PresenterNotes {
        let step = self.step();
        let asked = step
            .predict
            .as_ref()
            .map(|predict| self.ask(&predict.ask, tongue));
        let goal = step.task.as_ref().map(|task| &task.goal);
        let here = [Some(&step.say), goal, Some(&step.notes)]
            .into_iter()
            .flatten()
            .map(|text| self.say(text, tongue));
        let solution = step
            .task
            .iter()
            .flat_map(|task| task.solution.iter())
            .filter_map(|action| match action {
                scenario::ScenarioStep::Apply(text) => Some(text.clone()),
                scenario::ScenarioStep::Kubectl { line, .. } => {
                    Some(["kubectl ", line.trim_start_matches("kubectl ")].concat())
                }
                scenario::ScenarioStep::Fault(line) => Some(["fault ", line].concat()),
                scenario::ScenarioStep::Wait(_) => None,
            });
        let next = self.file.lesson().steps.get(self.at + 1);
        let next = next.map(|step| {
            step.predict
                .as_ref()
                .map_or(&step.say, |predict| &predict.ask)
        });
        PresenterNotes {
            here: asked
                .into_iter()
                .chain(here)
                .filter(|text| !text.is_empty())
                .collect(),
            solution: solution.collect(),
            next: next.map(|text| text.plain(tongue)).unwrap_or_default(),
        }
    }

    fn question_card(&self, predict: &Predict, tongue: Tongue) -> QuestionCard {
        let choices = match &predict.answer {
            Answers::Choices(choices) => choices
                .iter()
                .map(|choice| self.ask(&choice.say, tongue))
                .collect(),
            Answers::Number(_) => Vec::new(),
        };
        let played = self.state.played;
        QuestionCard {
            ask: self.ask(&predict.ask, tongue),
            choices,
            given: self.state.given,
            right: self.state.right.filter(|_| played),
            because: if played {
                self.say(&predict.because, tongue)
            } else {
                String::new()
            },
            moment: played && self.moment().is_some(),
        }
    }

    fn task_card(&self, task: &LessonTask, run: &Run, tongue: Tongue) -> TaskCard {
        let about = task
            .about
            .as_ref()
            .and_then(|name| self.history.find(name))
            .map(|object| object.key());
        let all = task.hints.len() + usize::from(about.is_some());
        let hints = self.state.hints;
        TaskCard {
            goal: self.say(&task.goal, tongue),
            hints: task
                .hints
                .iter()
                .take(hints)
                .map(|hint| self.say(hint, tongue))
                .collect(),
            why: about
                .filter(|_| hints >= all)
                .map(|key| standing::of(run.sim(), &key).sentence)
                .unwrap_or_default(),
            more_hints: hints < all,
        }
    }
}
