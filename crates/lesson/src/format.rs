//! Data model of a lesson.

use super::expr::{Expr, Expressions};
use super::history::{ObservedHistory, Value};
use apiserver::Actor;
use cluster::Sim;
use controller_runtime::cluster::ClusterConfig;
use std::rc::Rc;
use views::view::View;

/// Language of lessons; missing Chinese texts are shown in English.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tongue {
    /// Language `en`.
    English,
    /// Language `zh`.
    Chinese,
}

/// Part of a text.
#[derive(Clone, Debug)]
pub(super) enum CaptionPiece {
    Plain(Rc<str>),
    /// Placeholder, `{{ expression }}`.
    Hole(Expr),
}

/// Text in both languages, with placeholders.
#[derive(Clone, Debug, Default)]
pub struct Text {
    pub(super) en: Vec<CaptionPiece>,
    pub(super) zh: Vec<CaptionPiece>,
}

impl Text {
    /// Returns true if the text is empty.
    pub fn is_empty(&self) -> bool {
        self.en.is_empty()
    }

    /// Returns the text with its placeholders filled in.
    pub fn say(&self, tongue: Tongue, history: &ObservedHistory, sim: &Sim) -> String {
        let pieces = if tongue == Tongue::Chinese && !self.zh.is_empty() {
            &self.zh
        } else {
            &self.en
        };
        let pieces = pieces.iter().map(|piece| match piece {
            CaptionPiece::Plain(text) => text.to_string(),
            CaptionPiece::Hole(expr) => history.value(sim, expr).to_string(),
        });
        pieces.collect()
    }

    /// Returns a text without placeholders, such as a title.
    pub fn plain(&self, tongue: Tongue) -> String {
        let pieces = if tongue == Tongue::Chinese && !self.zh.is_empty() {
            &self.zh
        } else {
            &self.en
        };
        pieces
            .iter()
            .map(|piece| {
                if let CaptionPiece::Plain(text) = piece {
                    &**text
                } else {
                    ""
                }
            })
            .collect()
    }

    /// Returns the expressions of the placeholders.
    pub fn holes(&self) -> impl Iterator<Item = &Expr> {
        self.en.iter().chain(&self.zh).filter_map(|piece| {
            if let CaptionPiece::Hole(expr) = piece {
                Some(expr)
            } else {
                None
            }
        })
    }

    /// Returns true if the text is empty or has a Chinese version.
    pub fn is_translated(&self) -> bool {
        self.en.is_empty() || !self.zh.is_empty()
    }
}

/// Parsed lesson.
#[derive(Clone, Debug)]
pub struct Lesson {
    /// Its name.
    pub title: Text,
    /// Summary in one sentence.
    pub summary: Text,
    /// Abilities that a learner has after it, each continuing "You can now".
    pub learned: Vec<Text>,
    /// Questions after the last step, by which a learner checks what was learnt.
    pub review: Vec<ReviewQuestion>,
    /// Cluster before the first step.
    pub cluster: ClusterConfig,
    /// Seed of names and uids.
    pub seed: u64,
    /// Steps.
    pub steps: Vec<LessonStep>,
}

impl Lesson {
    /// Returns true if a step shows a machine beside the cluster.
    pub fn uses_machine(&self) -> bool {
        self.steps.iter().any(|step| step.beside.is_some())
    }
}

/// Machine beside the cluster of a lesson.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BesideMachine {
    /// Copy of the cluster in which a program that reacts to events alone runs the ReplicaSets.
    EventDriven,
}

/// Step of a lesson.
#[derive(Clone, Debug)]
pub struct LessonStep {
    /// Caption.
    pub say: Text,
    /// Object to select.
    pub look: Option<Rc<str>>,
    /// Diagram to show.
    pub view: Option<&'static View>,
    /// Machine to show beside the cluster, which gets the same actions and faults.
    pub beside: Option<BesideMachine>,
    /// Controller whose pseudo-code is highlighted.
    pub control_loop: Option<Actor>,
    /// Actions to play.
    pub actions: Rc<[scenario::ScenarioStep]>,
    /// Question to answer before the actions are played.
    pub predict: Option<Predict>,
    /// Task to complete after the actions were played.
    pub task: Option<LessonTask>,
    /// Notes for the presenter.
    pub notes: Text,
    /// Claims of the captions, verified by the check.
    pub expect: Vec<Expr>,
    /// Aggregations over time of the step's expressions.
    pub over: Rc<Expressions>,
}

/// Panels of the page that a step uses beside the diagram.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StepPanels {
    /// Manifest: a manifest is applied.
    pub manifest: bool,
    /// Inspector: an object or a loop is looked at.
    pub inspector: bool,
}

impl LessonStep {
    /// Panels that the step uses.
    pub fn panels(&self) -> StepPanels {
        let task = self.task.as_ref();
        let solution = task.iter().flat_map(|task| task.solution.iter());
        let mut actions = self.actions.iter().chain(solution);
        StepPanels {
            manifest: actions.any(|action| matches!(action, scenario::ScenarioStep::Apply(_))),
            inspector: self.look.is_some()
                || self.control_loop.is_some()
                || task.is_some_and(|task| task.about.is_some()),
        }
    }
}

/// Question after the last step.
#[derive(Clone, Debug, Default)]
pub struct ReviewQuestion {
    /// Question text.
    pub ask: Text,
    /// Choices.
    pub choices: Vec<Text>,
    /// Index of the right choice.
    pub right: usize,
    /// Explanation shown with the answer.
    pub because: Text,
}

/// Question about the outcome of the step.
#[derive(Clone, Debug)]
pub struct Predict {
    /// Question text.
    pub ask: Text,
    /// Possible answers.
    pub answer: Answers,
    /// Explanation shown afterwards.
    pub because: Text,
}

/// Answers to a question.
#[derive(Clone, Debug)]
pub enum Answers {
    /// Choices; the right one is the one whose condition holds after the step.
    Choices(Vec<Choice>),
    /// Number, the value of the expression after the step.
    Number(Expr),
}

/// Choice among the answers.
#[derive(Clone, Debug)]
pub struct Choice {
    /// Text of the answer.
    pub say: Text,
    /// Condition under which the answer is right.
    pub when: Expr,
}

/// Task of a step.
#[derive(Clone, Debug)]
pub struct LessonTask {
    /// Goal text.
    pub goal: Text,
    /// Condition of completion.
    pub check: Rc<Expr>,
    /// Hints, shown one after the other.
    pub hints: Vec<Text>,
    /// Object whose Why panel helps.
    pub about: Option<Rc<str>>,
    /// Solution.
    pub solution: Rc<[scenario::ScenarioStep]>,
    /// Alternative solution.
    pub alternative: Rc<[scenario::ScenarioStep]>,
    /// Actions that do not complete the task.
    pub wrong: Rc<[scenario::ScenarioStep]>,
}

impl Predict {
    /// Returns the right answer after the step was played: the index of a choice, or a number.
    pub fn right(&self, history: &ObservedHistory, sim: &Sim) -> Option<i64> {
        match &self.answer {
            Answers::Choices(choices) => choices
                .iter()
                .position(|choice| history.holds(sim, &choice.when))
                .map(|at| at as i64),
            Answers::Number(expr) => match history.value(sim, expr) {
                Value::Number(number) => Some(number),
                _ => None,
            },
        }
    }
}
