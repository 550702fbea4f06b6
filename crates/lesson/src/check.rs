//! Native check of a whole lesson: its solutions and alternatives must complete the tasks, its wrong answers must not, each question must
//! have one right answer, and the claims of the captions must hold.

use super::expr::Expressions;
use super::format::{Answers, Lesson, LessonStep, LessonTask, Text, Tongue};
use super::history::{ObservedHistory, Value};
use super::script::Play;
use cluster::Sim;
use std::rc::Rc;

/// Flaw found in a lesson that parses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LessonFinding {
    /// Number of the step, from 1.
    pub step: usize,
    /// Flaw.
    pub what: Flaw,
}

/// Flaw of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// An action failed, with kubectl's message.
    Failed(String),
    /// No answer of the question is right, or several are; the indexes of the right ones.
    Answers(Vec<usize>),
    /// The expression of a numeric answer does not evaluate to a number.
    NoNumber,
    /// A claim of `expect` does not hold; its index.
    Claim(usize),
    /// An expression in a caption has no value.
    NoValue,
    /// The task is complete from the start.
    DoneAlready,
    /// The solution does not complete the task.
    NoSolution,
    /// The alternative does not complete the task.
    NoAlternative,
    /// The wrong answer completes the task.
    WrongIsRight,
    /// The object to show does not exist.
    NoObject(String),
    /// The Chinese text is missing.
    Untranslated,
}

impl std::fmt::Display for LessonFinding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "step {}: ", self.step)?;
        match &self.what {
            Flaw::Failed(said) => write!(f, "an action failed: {said}"),
            Flaw::Answers(right) if right.is_empty() => {
                f.write_str("no answer of the question is right")
            }
            Flaw::Answers(right) => {
                write!(f, "several answers of the question are right: {right:?}")
            }
            Flaw::NoNumber => f.write_str("the number asked for does not exist after the step"),
            Flaw::Claim(at) => write!(f, "expect[{at}] does not hold after the step"),
            Flaw::NoValue => f.write_str("a value in a text does not exist"),
            Flaw::DoneAlready => f.write_str("the task is done before anything is done"),
            Flaw::NoSolution => f.write_str("the solution does not do the task"),
            Flaw::NoAlternative => f.write_str("the alternative does not do the task"),
            Flaw::WrongIsRight => f.write_str("the wrong answer does the task"),
            Flaw::NoObject(name) => write!(f, "there is no object {name} to look at"),
            Flaw::Untranslated => f.write_str("a text has no Chinese"),
        }
    }
}

/// Plays a lesson to its end and returns its flaws.
pub fn check(lesson: &Lesson) -> Vec<LessonFinding> {
    let mut player = Player {
        sim: kubectl::new_cluster(lesson.cluster.clone(), lesson.seed),
        history: ObservedHistory::default(),
        step: 0,
        found: Vec::new(),
    };
    if !lesson.title.is_translated() || !lesson.summary.is_translated() {
        player.note(Flaw::Untranslated);
    }
    for (at, step) in lesson.steps.iter().enumerate() {
        player.step = at + 1;
        player.step(step);
    }
    player.found
}

struct Player {
    sim: Sim,
    history: ObservedHistory,
    step: usize,
    found: Vec<LessonFinding>,
}

impl Player {
    fn note(&mut self, what: Flaw) {
        self.found.push(LessonFinding {
            step: self.step,
            what,
        });
    }

    fn play(&mut self, actions: &Rc<[scenario::ScenarioStep]>) -> Play {
        Play::new(self.sim.clone(), self.history.clone(), actions.clone()).finish()
    }

    /// Continues from the end of a play; records a flaw if an action failed.
    fn keep(&mut self, play: Play) {
        if let Some(said) = play.failure {
            self.note(Flaw::Failed(said));
        }
        (self.sim, self.history) = (play.host.sim, play.history);
    }

    fn step(&mut self, step: &LessonStep) {
        let over: &Rc<Expressions> = &step.over;
        self.history.begin(&self.sim, over.clone());
        let play = self.play(&step.actions);
        self.keep(play);
        self.texts([&step.say, &step.notes]);
        if let Some(name) = step
            .look
            .as_ref()
            .filter(|name| self.history.find(name).is_none())
        {
            self.note(Flaw::NoObject(name.to_string()));
        }
        if let Some(predict) = &step.predict {
            self.texts([&predict.ask, &predict.because]);
            match &predict.answer {
                Answers::Choices(choices) => {
                    self.texts(choices.iter().map(|choice| &choice.say));
                    let holds = |at: &usize| self.history.holds(&self.sim, &choices[*at].when);
                    let right: Vec<usize> = (0..choices.len()).filter(holds).collect();
                    if right.len() != 1 {
                        self.note(Flaw::Answers(right));
                    }
                }
                Answers::Number(_) if predict.right(&self.history, &self.sim).is_none() => {
                    self.note(Flaw::NoNumber)
                }
                Answers::Number(_) => {}
            }
        }
        for (at, claim) in step.expect.iter().enumerate() {
            if !self.history.holds(&self.sim, claim) {
                self.note(Flaw::Claim(at));
            }
        }
        if let Some(task) = &step.task {
            self.task(task);
        }
    }

    /// Returns true if a play completes the task, at its end or at any instant before.
    fn does(play: &mut Play) -> bool {
        play.history.is_reached(&play.host.sim)
    }

    fn task(&mut self, task: &LessonTask) {
        self.texts(task.hints.iter().chain([&task.goal]));
        self.history.ask(&self.sim, task.check.clone());
        if self.history.is_reached(&self.sim) {
            self.note(Flaw::DoneAlready);
            let play = self.play(&task.solution);
            return self.keep(play);
        }
        if let Some(name) = task
            .about
            .as_ref()
            .filter(|name| self.history.find(name).is_none())
        {
            self.note(Flaw::NoObject(name.to_string()));
        }
        if !task.wrong.is_empty() {
            let mut play = self.play(&task.wrong);
            if Self::does(&mut play) {
                self.note(Flaw::WrongIsRight);
            }
        }
        if !task.alternative.is_empty() {
            let mut play = self.play(&task.alternative);
            if let Some(said) = &play.failure {
                self.note(Flaw::Failed(said.clone()));
            }
            if !Self::does(&mut play) {
                self.note(Flaw::NoAlternative);
            }
        }
        let mut play = self.play(&task.solution);
        if !Self::does(&mut play) {
            self.note(Flaw::NoSolution);
        }
        self.keep(play);
    }

    fn texts<'t>(&mut self, texts: impl IntoIterator<Item = &'t Text>) {
        for text in texts {
            if !text.is_translated() {
                self.note(Flaw::Untranslated);
            }
            // Most captions are shown during the step, some after it: values must exist at its end.
            if text
                .holes()
                .any(|hole| self.history.value(&self.sim, hole) == Value::Nothing)
            {
                self.note(Flaw::NoValue);
            }
            debug_assert!(
                text.is_empty()
                    || !text
                        .say(Tongue::English, &self.history, &self.sim)
                        .is_empty()
            );
        }
    }
}
