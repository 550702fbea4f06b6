//! The lesson in progress: its step, the answers, and the state of its tasks.

mod card;
mod learner;
mod play;
mod resume_point;
#[cfg(test)]
mod tests;

pub use card::{LessonCard, PresenterNotes, QuestionCard, ReviewCard, TaskCard};
pub use resume_point::ResumePoint;

use super::compare::EventDrivenMachine;
use super::run::Run;
use cluster::Sim;
use k8s_model::Time;
use lesson::ObservedHistory;
use lesson::format::{Answers, Lesson, LessonStep, StepPanels};
use lesson::script::{LessonCursor, Play};
use std::rc::Rc;

/// Budget of the copy that computes the answer, in tasks per slice of the clock.
const COPY_BUDGET_TASKS: usize = 64;
/// Budget of the copy per slice once the step itself was played, in tasks.
const COPY_LAST_TASKS: usize = 400;

/// Lesson and its source.
#[derive(Clone, Debug)]
pub struct LessonFile {
    read: Rc<(Rc<str>, Lesson)>,
    /// Text of a lesson of one's own that a learner takes.
    source: Option<Rc<str>>,
    /// True if the lesson sets the causal pace.
    by_cause: bool,
}

impl LessonFile {
    /// Creates a lesson with a name; a lesson written in the editor has an empty one.
    pub fn new(name: &str, lesson: Lesson) -> LessonFile {
        LessonFile {
            read: Rc::new((name.into(), lesson)),
            source: None,
            by_cause: false,
        }
    }

    /// Returns the lesson, played at the causal pace.
    pub fn paced_by_cause(self) -> LessonFile {
        LessonFile {
            by_cause: true,
            ..self
        }
    }

    /// Name of the lesson.
    pub fn name(&self) -> &str {
        &self.read.0
    }

    /// Lesson.
    pub fn lesson(&self) -> &Lesson {
        &self.read.1
    }
}

/// Equal if they are the same parsed file.
impl PartialEq for LessonFile {
    fn eq(&self, other: &LessonFile) -> bool {
        Rc::ptr_eq(&self.read, &other.read)
    }
}

/// Message to a lesson.
#[derive(Clone, Debug, PartialEq)]
pub enum LessonMsg {
    /// Advances to the next step, once this one is not playing any more.
    Next,
    /// Finishes playing at once.
    Hurry,
    /// Returns to the previous step, as it began.
    Back,
    /// Restarts the step.
    Again,
    /// Answers the question: the index of a choice, or a number.
    Answer(i64),
    /// Shows one more hint.
    Hint,
    /// Plays the solution.
    Show,
    /// Shows the instant at which the value asked for reached its final value.
    Moment,
    /// Leaves the lesson; the cluster stays as it is.
    Close,
}

impl LessonMsg {
    /// Parses a message of another script: `next`, `hurry`, `back`, `again`, `hint`, `show`, `close`, or an answer.
    pub fn from_word(word: &str) -> LessonMsg {
        match word {
            "hurry" => LessonMsg::Hurry,
            "back" => LessonMsg::Back,
            "again" => LessonMsg::Again,
            "hint" => LessonMsg::Hint,
            "show" => LessonMsg::Show,
            "close" => LessonMsg::Close,
            word => word.parse().map_or(LessonMsg::Next, LessonMsg::Answer),
        }
    }
}

/// Phase of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The question is not answered.
    Asking,
    /// The actions are being played.
    Playing,
    /// The task is to be solved.
    Task,
    /// The check of the task can never hold again.
    Lost,
    /// The step is over.
    Done,
}

impl Phase {
    /// Name in the document.
    pub fn word(self) -> &'static str {
        match self {
            Phase::Asking => "asking",
            Phase::Playing => "playing",
            Phase::Task => "task",
            Phase::Lost => "lost",
            Phase::Done => "done",
        }
    }
}

/// Result of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Result {
    /// None yet.
    #[default]
    Open,
    /// The question was answered correctly.
    Right,
    /// The question was answered wrongly.
    Wrong,
    /// The task was solved.
    Solved,
    /// The solution of the task was shown.
    Shown,
    /// The step was read.
    Read,
}

impl Result {
    /// Parses the name of a result; `Open` if there is none of that name.
    fn from_word(word: &str) -> Result {
        let all = [
            Result::Right,
            Result::Wrong,
            Result::Solved,
            Result::Shown,
            Result::Read,
        ];
        all.into_iter()
            .find(|result| result.word() == word)
            .unwrap_or_default()
    }

    /// Name for other scripts.
    pub fn word(self) -> &'static str {
        match self {
            Result::Open => "open",
            Result::Right => "right",
            Result::Wrong => "wrong",
            Result::Solved => "solved",
            Result::Shown => "shown",
            Result::Read => "read",
        }
    }
}

/// Actions being played.
#[derive(Clone)]
struct Script {
    actions: Rc<[scenario::ScenarioStep]>,
    cursor: LessonCursor,
    /// True if they are played as fast as possible.
    hurries: bool,
}

/// Copy of the cluster at the instant of a text: later changes do not affect the text.
#[derive(Clone)]
struct Instant {
    sim: Sim,
    history: ObservedHistory,
}

/// Progress of a step.
#[derive(Clone)]
struct StepState {
    phase: Phase,
    script: Script,
    given: Option<i64>,
    right: Option<i64>,
    hints: usize,
    /// True if the object to look at has been selected.
    looked: bool,
    /// Beginning of the step: the instant of its question.
    began: Option<Instant>,
    /// End of the step: the instant of its caption, its explanation and its task. Until it was played, that of the copy.
    ended: Option<Instant>,
    /// True once the step has been played.
    played: bool,
    /// Copy that is played ahead, for the answer and the values of the caption.
    copy: Option<Play>,
}

impl StepState {
    fn new() -> StepState {
        let script = Script {
            actions: Rc::default(),
            cursor: LessonCursor::new(Time(0)),
            hurries: false,
        };
        StepState {
            phase: Phase::Done,
            script,
            given: None,
            right: None,
            hints: 0,
            looked: true,
            began: None,
            ended: None,
            played: false,
            copy: None,
        }
    }
}

/// Page at an instant of a lesson: the run, the text of the editor, and the text applied last.
#[derive(Clone)]
struct PageSnapshot {
    run: Run,
    text: Rc<str>,
    applied: Rc<str>,
    event_driven: Option<EventDrivenMachine>,
}

/// Step that was reached.
struct VisitedStep {
    began: PageSnapshot,
    /// Page and step as they were left.
    left: Option<(PageSnapshot, StepState, ObservedHistory)>,
}

/// Results of the steps.
struct Marks {
    results: Vec<Result>,
    /// True for each step whose question was answered correctly.
    answered: Vec<bool>,
}

/// A lesson in progress.
pub struct Player {
    file: LessonFile,
    /// True if the lesson is the text of the editor, which stays there.
    own: bool,
    at: usize,
    state: StepState,
    marks: Marks,
    history: ObservedHistory,
    /// Steps reached, including those after a step returned to.
    visited: Vec<VisitedStep>,
    branch: u32,
    /// Point at which the lesson was left, until its step is reached.
    resume: Option<ResumePoint>,
}

impl Player {
    fn new(file: LessonFile, own: bool) -> Player {
        let steps = file.lesson().steps.len();
        let marks = Marks {
            results: vec![Result::Open; steps],
            answered: vec![false; steps],
        };
        let (history, visited) = (ObservedHistory::default(), Vec::new());
        Player {
            file,
            own,
            at: 0,
            state: StepState::new(),
            marks,
            history,
            visited,
            branch: 1,
            resume: None,
        }
    }

    fn step(&self) -> &LessonStep {
        &self.file.lesson().steps[self.at]
    }

    /// Name of the lesson, number of the step, from 0, and the panels that it uses.
    pub fn staged(&self) -> (&str, usize, StepPanels) {
        (self.file.name(), self.at, self.step().panels())
    }

    /// The lesson that is played.
    pub fn file(&self) -> &LessonFile {
        &self.file
    }

    /// Returns true if the lesson is the text of the editor.
    pub fn is_own(&self) -> bool {
        self.own
    }

    /// Step from 0, its phase, and the results of all steps.
    pub fn progress(&self) -> (usize, Phase, &[Result]) {
        (self.at, self.state.phase, &self.marks.results)
    }

    /// Message that advances the lesson: to the end of its playback, or to the next step.
    pub fn onward(&self) -> LessonMsg {
        if self.state.phase == Phase::Playing {
            LessonMsg::Hurry
        } else {
            LessonMsg::Next
        }
    }

    /// Time at which the next action is due.
    fn due(&self, run: &Run) -> Option<Time> {
        let script = &self.state.script;
        script
            .cursor
            .due(&script.actions, run.sim())
            .filter(|_| self.state.phase == Phase::Playing && !run.in_past())
    }

    fn play(&mut self, actions: Rc<[scenario::ScenarioStep]>, run: &Run) {
        self.state.phase = Phase::Playing;
        self.state.script = Script {
            actions,
            cursor: LessonCursor::new(run.sim().now()),
            hurries: false,
        };
    }

    /// Starts playing the step, and a copy of it ahead of the clock if its texts need values of its end.
    fn begin(&mut self, run: &Run) {
        let step = self.step();
        let (actions, ahead) = (
            step.actions.clone(),
            step.predict.is_some() || step.say.holes().next().is_some(),
        );
        self.state.copy =
            ahead.then(|| Play::new(run.sim().clone(), self.history.clone(), actions.clone()));
        self.play(actions, run);
        self.look_ahead(COPY_LAST_TASKS);
    }

    /// Advances the copy with a budget of tasks.
    fn look_ahead(&mut self, budget: usize) {
        let Some(mut copy) = self.state.copy.take() else {
            return;
        };
        if copy.advance(budget) {
            self.state.right = self
                .step()
                .predict
                .as_ref()
                .and_then(|asked| asked.right(&copy.history, &copy.host.sim));
            self.state.ended = Some(Instant {
                sim: copy.host.sim,
                history: copy.history,
            });
        } else {
            self.state.copy = Some(copy);
        }
    }

    /// Returns true if the step's question is open at the newest instant: the clock is paused, so that the picture does not reveal the
    /// answer.
    pub fn holds_clock(&self, run: &Run) -> bool {
        self.state.phase == Phase::Asking && !run.in_past()
    }

    /// Time at which the value asked for reached its final value.
    fn moment(&self) -> Option<Time> {
        let predict = self.step().predict.as_ref()?;
        let expr = match &predict.answer {
            Answers::Number(expr) => expr,
            Answers::Choices(choices) => {
                &choices.get(usize::try_from(self.state.right?).ok()?)?.when
            }
        };
        self.state.ended.as_ref()?.history.since(expr)
    }

    /// Returns true if the history is not the one that was read.
    fn is_elsewhere(&self, run: &Run) -> bool {
        self.branch != run.branches().0 || self.history.is_ahead_of(run.sim())
    }

    /// Reads the history; returns true if the step has progressed.
    fn read(&mut self, run: &Run) -> bool {
        if run.in_past() {
            return false;
        }
        if self.is_elsewhere(run) {
            self.branch = run.branches().0;
            self.history.reread(run.sim());
        }
        let before = self.state.phase;
        let played =
            before == Phase::Playing && self.state.script.cursor.ended(&self.state.script.actions);
        self.history.advance(run.sim(), played);
        self.look_ahead(if played {
            COPY_LAST_TASKS
        } else {
            COPY_BUDGET_TASKS
        });
        // The answer belongs to the step: it is over when both are known.
        let over = played && self.state.copy.is_none();
        if over && !std::mem::replace(&mut self.state.played, true) {
            self.state.ended = Some(Instant {
                sim: run.sim().clone(),
                history: self.history.clone(),
            });
        }
        // The task of a step that is over, or has not begun, is not checked at each slice of the clock.
        let asks = matches!(before, Phase::Task | Phase::Lost) || over;
        let check = self
            .step()
            .task
            .as_ref()
            .filter(|_| asks)
            .map(|task| task.check.clone());
        let task = check.map(|check| {
            if before == Phase::Playing && self.marks.results[self.at] != Result::Shown {
                self.history.ask(run.sim(), check.clone());
            }
            (
                self.history.is_reached(run.sim()),
                self.history.can_hold(&check),
            )
        });
        self.state.phase = match (before, task) {
            (Phase::Playing, _) if !over => Phase::Playing,
            (Phase::Playing | Phase::Task | Phase::Lost, Some((true, _))) => Phase::Done,
            (Phase::Playing | Phase::Task | Phase::Lost, Some((false, true))) => Phase::Task,
            (Phase::Playing | Phase::Task | Phase::Lost, Some((false, false))) => Phase::Lost,
            (Phase::Playing, None) => Phase::Done,
            (phase, _) => phase,
        };
        if before != Phase::Done && self.state.phase == Phase::Done {
            self.note();
        }
        before != self.state.phase
    }

    /// Number of questions answered correctly and tasks solved, and of both in total.
    pub fn score(&self) -> (usize, usize) {
        let right = self.marks.answered.iter().filter(|right| **right).count();
        let solved = self
            .marks
            .results
            .iter()
            .filter(|result| **result == Result::Solved)
            .count();
        let asked = self
            .file
            .lesson()
            .steps
            .iter()
            .map(|step| usize::from(step.predict.is_some()) + usize::from(step.task.is_some()));
        (right + solved, asked.sum())
    }

    /// Stores the result of the step.
    fn note(&mut self) {
        self.marks.answered[self.at] =
            self.state.given.is_some() && self.state.given == self.state.right;
        let result = match (&self.step().task, self.state.given) {
            (Some(_), _) if self.marks.results[self.at] == Result::Shown => Result::Shown,
            (Some(_), _) => Result::Solved,
            (None, Some(given)) if Some(given) == self.state.right => Result::Right,
            (None, Some(_)) => Result::Wrong,
            (None, None) => Result::Read,
        };
        self.marks.results[self.at] = result;
    }
}
