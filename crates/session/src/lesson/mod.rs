//! The lesson that is played: which step, what was predicted, whether its task is done.

mod card;
mod learner;
mod play;
mod resume_point;
#[cfg(test)]
mod tests;

pub use card::{LessonCard, PresenterNotes, QuestionCard, TaskCard};
pub use resume_point::ResumePoint;

use super::run::Run;
use cluster::Sim;
use k8s_model::Time;
use lesson::ObservedHistory;
use lesson::format::{Answers, Lesson, LessonStep};
use lesson::script::{LessonCursor, Play};
use std::rc::Rc;

/// Tasks of the copy that finds the answer, in each slice of the clock.
const COPY_BUDGET_TASKS: usize = 64;
/// The same once the step itself was played.
const COPY_LAST_TASKS: usize = 400;

/// A lesson and where it is from.
#[derive(Clone, Debug)]
pub struct LessonFile {
    read: Rc<(Rc<str>, Lesson)>,
    /// Text of a lesson of one's own that a learner takes.
    source: Option<Rc<str>>,
}

impl LessonFile {
    /// A lesson by its name; one that is written in the editor has none.
    pub fn new(name: &str, lesson: Lesson) -> LessonFile {
        LessonFile {
            read: Rc::new((name.into(), lesson)),
            source: None,
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.read.0
    }

    /// The lesson.
    pub fn lesson(&self) -> &Lesson {
        &self.read.1
    }
}

/// The same file, read once.
impl PartialEq for LessonFile {
    fn eq(&self, other: &LessonFile) -> bool {
        Rc::ptr_eq(&self.read, &other.read)
    }
}

/// What happens to a lesson.
#[derive(Clone, Debug, PartialEq)]
pub enum LessonMsg {
    /// On to the next step, once this one is not played any more.
    Next,
    /// What is still played is played to its end at once.
    Hurry,
    /// To the step before, as it began.
    Back,
    /// The step begins again.
    Again,
    /// The question is answered: the place of a choice, or a number.
    Answer(i64),
    /// One more hint.
    Hint,
    /// The solution is played.
    Show,
    /// To the instant at which the value asked for became what it is.
    Moment,
    /// The lesson is left; the cluster stays as it is.
    Close,
}

impl LessonMsg {
    /// What another script asks for: `next`, `hurry`, `back`, `again`, `hint`, `show`, `close`, or an answer.
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

/// Where a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Its question is not answered.
    Asking,
    /// Its actions are played.
    Playing,
    /// Its task is to be done.
    Task,
    /// The check of its task can never hold again.
    Lost,
    /// It is over.
    Done,
}

impl Phase {
    /// Its name in the document.
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

/// What came of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Result {
    /// Nothing yet.
    #[default]
    Open,
    /// Its question was answered rightly.
    Right,
    /// Its question was answered wrongly.
    Wrong,
    /// Its task was done.
    Solved,
    /// The solution of its task was shown.
    Shown,
    /// It was read.
    Read,
}

impl Result {
    /// The result of a name; open, if there is none.
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

    /// Its name for other scripts.
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

/// The actions that are played.
#[derive(Clone)]
struct Script {
    actions: Rc<[scenario::ScenarioStep]>,
    cursor: LessonCursor,
    /// As fast as it can.
    hurries: bool,
}

/// The cluster at the instant that a text is about: whatever happens later, the text stays.
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
    /// The object to look at has been selected.
    looked: bool,
    /// Its beginning: the instant of its question.
    began: Option<Instant>,
    /// Its end: the instant of its caption, its explanation and its task. Before it was played, that of the copy.
    ended: Option<Instant>,
    /// It has been played.
    played: bool,
    /// The copy that is played ahead, for the answer and the values of the caption.
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

/// The page at an instant of a lesson: the run, and the text of the editor with what was applied of it.
#[derive(Clone)]
struct PageSnapshot {
    run: Run,
    text: Rc<str>,
    applied: Rc<str>,
}

/// A step that was reached.
struct VisitedStep {
    began: PageSnapshot,
    /// The page and the step as they were left.
    left: Option<(PageSnapshot, StepState, ObservedHistory)>,
}

/// What came of each step.
struct Marks {
    results: Vec<Result>,
    /// Whether its question was answered rightly.
    answered: Vec<bool>,
}

/// A lesson in progress.
pub struct Player {
    file: LessonFile,
    /// It is the text of the editor, which stays there.
    own: bool,
    at: usize,
    state: StepState,
    marks: Marks,
    history: ObservedHistory,
    /// The steps that were reached, also those after a step that was returned to.
    visited: Vec<VisitedStep>,
    branch: u32,
    /// Where the lesson was left, until its step is reached.
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

    /// The lesson that is played.
    pub fn file(&self) -> &LessonFile {
        &self.file
    }

    /// Whether it is the text of the editor.
    pub fn is_own(&self) -> bool {
        self.own
    }

    /// The step, from 0, its phase, and what came of all steps.
    pub fn progress(&self) -> (usize, Phase, &[Result]) {
        (self.at, self.state.phase, &self.marks.results)
    }

    /// When the next action is due.
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

    /// Plays the step, and a copy of it ahead of the clock where its texts need values of its end.
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

    /// Plays the copy on with a budget of tasks.
    fn look_ahead(&mut self, budget: usize) {
        let Some(mut copy) = self.state.copy.take() else {
            return;
        };
        if copy.advance(budget) {
            self.state.right = self
                .step()
                .predict
                .as_ref()
                .and_then(|asked| asked.right(&copy.history, &copy.sim));
            self.state.ended = Some(Instant {
                sim: copy.sim,
                history: copy.history,
            });
        } else {
            self.state.copy = Some(copy);
        }
    }

    /// Whether the question of the step is open at the newest instant: the clock stands, so that the picture does not answer it.
    pub fn holds_clock(&self, run: &Run) -> bool {
        self.state.phase == Phase::Asking && !run.in_past()
    }

    /// When the value that was asked for became what it is.
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

    /// Whether the history is another one than was read.
    fn is_elsewhere(&self, run: &Run) -> bool {
        self.branch != run.branches().0 || self.history.is_ahead_of(run.sim())
    }

    /// Reads what has happened; true when the step has come further.
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
        // The answer belongs to the step: it is over when both are.
        let over = played && self.state.copy.is_none();
        if over && !std::mem::replace(&mut self.state.played, true) {
            self.state.ended = Some(Instant {
                sim: run.sim().clone(),
                history: self.history.clone(),
            });
        }
        // A step that is over, or has not begun, is not asked about its task at each slice of the clock.
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

    /// How many questions were answered rightly and tasks done, and how many of both there are.
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

    /// Notes what came of the step.
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
