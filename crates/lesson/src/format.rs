//! What a lesson is made of.

use super::expr::{Expr, Expressions};
use super::history::{ObservedHistory, Value};
use cluster::Sim;
use controller_runtime::cluster::ClusterConfig;
use std::rc::Rc;
use views::view::View;

/// A language that lessons are written in; what has no Chinese text is shown in English.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tongue {
    /// `en`
    English,
    /// `zh`
    Chinese,
}

/// A part of a text.
#[derive(Clone, Debug)]
pub(super) enum CaptionPiece {
    Plain(Rc<str>),
    /// `{{ expression }}`
    Hole(Expr),
}

/// A text in both languages, with values to be filled in.
#[derive(Clone, Debug, Default)]
pub struct Text {
    pub(super) en: Vec<CaptionPiece>,
    pub(super) zh: Vec<CaptionPiece>,
}

impl Text {
    /// Returns true if nothing is said.
    pub fn is_empty(&self) -> bool {
        self.en.is_empty()
    }

    /// The text with its values filled in.
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

    /// The text where it has no values to be filled in, as titles.
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

    /// The expressions that are filled in.
    pub fn holes(&self) -> impl Iterator<Item = &Expr> {
        self.en.iter().chain(&self.zh).filter_map(|piece| {
            if let CaptionPiece::Hole(expr) = piece {
                Some(expr)
            } else {
                None
            }
        })
    }

    /// Returns true if it has a Chinese text.
    pub fn is_translated(&self) -> bool {
        self.en.is_empty() || !self.zh.is_empty()
    }
}

/// A lesson.
#[derive(Clone, Debug)]
pub struct Lesson {
    /// Its name.
    pub title: Text,
    /// One sentence.
    pub summary: Text,
    /// The cluster before the first step.
    pub cluster: ClusterConfig,
    /// Draws names and uids.
    pub seed: u64,
    /// The steps.
    pub steps: Vec<LessonStep>,
}

/// One step: what is said, played, asked and to be done.
#[derive(Clone, Debug)]
pub struct LessonStep {
    /// What is said.
    pub say: Text,
    /// The object to look at.
    pub look: Option<Rc<str>>,
    /// The diagram to look at.
    pub view: Option<&'static View>,
    /// The control loop whose code is pointed to.
    pub control_loop: Option<&'static str>,
    /// What is played.
    pub actions: Rc<[scenario::ScenarioStep]>,
    /// What is to be predicted before it is played.
    pub predict: Option<Predict>,
    /// What is to be done after it was played.
    pub task: Option<LessonTask>,
    /// What only the presenter reads.
    pub notes: Text,
    /// What its captions claim, and is checked when the lesson is.
    pub expect: Vec<Expr>,
    /// Values over time that its expressions ask for.
    pub over: Rc<Expressions>,
}

/// A question about what the step will do.
#[derive(Clone, Debug)]
pub struct Predict {
    /// The question.
    pub ask: Text,
    /// How it is answered.
    pub answer: Answers,
    /// What is said after it was played.
    pub because: Text,
}

/// How a question is answered.
#[derive(Clone, Debug)]
pub enum Answers {
    /// By one of these; the right one is whose condition holds after the step.
    Choices(Vec<Choice>),
    /// By a number, which the expression comes to after the step.
    Number(Expr),
}

/// One of the answers to choose from.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The answer.
    pub say: Text,
    /// When it is right.
    pub when: Expr,
}

/// Something to do.
#[derive(Clone, Debug)]
pub struct LessonTask {
    /// What is to be reached.
    pub goal: Text,
    /// When it is reached.
    pub check: Rc<Expr>,
    /// What helps, one after the other.
    pub hints: Vec<Text>,
    /// The object whose Why helps.
    pub about: Option<Rc<str>>,
    /// A way to do it.
    pub solution: Rc<[scenario::ScenarioStep]>,
    /// Another way.
    pub alternative: Rc<[scenario::ScenarioStep]>,
    /// What does not do it.
    pub wrong: Rc<[scenario::ScenarioStep]>,
}

impl Predict {
    /// The right answer once the step was played: the place of a choice, or a number.
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
