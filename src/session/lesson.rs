//! The lesson that is played: which step, what was predicted, whether its task is done.

use super::console::ConsoleMsg;
use super::editor::EditorMsg;
use super::effect::Effect;
use super::run::Run;
use super::selection::SelectionMsg;
use super::state::State;
use super::timeline::{RunUntil, TimelineMsg};
use crate::actions::{Command, Line};
use crate::api::{ObjectRef, Time};
use crate::explain::standing;
use crate::i18n::{Message, msg};
use crate::lesson::format::{Answers, Lesson, Step, Tongue};
use crate::lesson::script::{Cursor, Play};
use crate::lesson::{History, merge};
use crate::scenario;
use std::rc::Rc;

/// Tasks of the copy that finds the answer, in each slice of the clock.
const COPY_BUDGET_TASKS: usize = 64;

/// A lesson and where it is from.
#[derive(Clone, Debug)]
pub struct LessonFile(Rc<(Rc<str>, Lesson)>);

impl LessonFile {
    /// A lesson by its name; one that is written in the editor has none.
    pub fn new(name: &str, lesson: Lesson) -> LessonFile {
        LessonFile(Rc::new((name.into(), lesson)))
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.0.0
    }

    /// The lesson.
    pub fn lesson(&self) -> &Lesson {
        &self.0.1
    }
}

/// The same file, read once.
impl PartialEq for LessonFile {
    fn eq(&self, other: &LessonFile) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
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

/// The answer to the question of a step.
#[derive(Default)]
struct Question {
    given: Option<i64>,
    right: Option<i64>,
    copy: Option<Play>,
}

/// The actions that are played.
struct Script {
    actions: Rc<[scenario::Step]>,
    cursor: Cursor,
    /// As fast as it can.
    hurries: bool,
}

/// A lesson in progress.
pub struct Player {
    file: LessonFile,
    /// It is the text of the editor, which stays there.
    own: bool,
    at: usize,
    phase: Phase,
    question: Question,
    script: Script,
    hints: usize,
    results: Vec<Result>,
    history: History,
    /// The run as it was when each step began that was reached.
    starts: Vec<Run>,
    branch: u32,
    looked: bool,
}

/// What is shown of a lesson.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LessonCard {
    /// The name of the file.
    pub name: String,
    /// The title of the lesson.
    pub title: String,
    /// The step, from 1, and how many there are.
    pub step: (usize, usize),
    /// The phase.
    pub phase: Option<Phase>,
    /// The caption.
    pub say: String,
    /// The question.
    pub ask: String,
    /// The answers to choose from; none where a number is asked for.
    pub choices: Vec<String>,
    /// The answer that was given.
    pub given: Option<i64>,
    /// The right answer, once the step was played.
    pub right: Option<i64>,
    /// What is said about it.
    pub because: String,
    /// Whether there is an instant to look at.
    pub moment: bool,
    /// What is to be reached.
    pub goal: String,
    /// The hints so far.
    pub hints: Vec<String>,
    /// Where the object of the task stands: the last hint.
    pub why: Message,
    /// Whether there are more hints.
    pub more_hints: bool,
    /// What came of each step.
    pub results: Vec<Result>,
    /// Whether the clock stands while something is to be played.
    pub paused: bool,
}

impl Player {
    fn new(file: LessonFile, own: bool) -> Player {
        let results = vec![Result::Open; file.lesson().steps.len()];
        let script = Script { actions: Rc::default(), cursor: Cursor::new(Time(0)), hurries: false };
        let (question, history, starts) = (Question::default(), History::default(), Vec::new());
        Player { file, own, at: 0, phase: Phase::Done, question, script, hints: 0, results, history, starts, branch: 1, looked: true }
    }

    fn step(&self) -> &Step {
        &self.file.lesson().steps[self.at]
    }

    /// The lesson that is played.
    pub fn file(&self) -> &LessonFile {
        &self.file
    }

    /// The step, from 0, its phase, and what came of all steps.
    pub fn progress(&self) -> (usize, Phase, &[Result]) {
        (self.at, self.phase, &self.results)
    }

    /// When the next action is due.
    fn due(&self, run: &Run) -> Option<Time> {
        self.script.cursor.due(&self.script.actions, run.sim()).filter(|_| self.phase == Phase::Playing && !run.in_past())
    }

    fn play(&mut self, actions: Rc<[scenario::Step]>, run: &Run) {
        self.phase = Phase::Playing;
        self.script = Script { actions, cursor: Cursor::new(run.sim().now()), hurries: false };
    }

    /// What is shown, in a language.
    pub fn card(&self, run: &Run, playing: bool, tongue: Tongue) -> LessonCard {
        let (step, sim) = (self.step(), run.sim());
        let say = |text: &crate::lesson::format::Text| text.say(tongue, &self.history, sim);
        let told = !matches!(self.phase, Phase::Asking | Phase::Playing);
        let mut card = LessonCard {
            name: self.file.name().into(),
            title: self.file.lesson().title.plain(tongue),
            step: (self.at + 1, self.file.lesson().steps.len()),
            phase: Some(self.phase),
            results: self.results.clone(),
            paused: self.phase == Phase::Playing && !playing,
            ..LessonCard::default()
        };
        if let Some(predict) = &step.predict {
            card.ask = say(&predict.ask);
            if let Answers::Choices(choices) = &predict.answer {
                card.choices = choices.iter().map(|choice| say(&choice.say)).collect();
            }
            card.given = self.question.given;
            if told {
                card.right = self.question.right;
                card.because = say(&predict.because);
                card.moment = self.moment().is_some();
            }
        }
        // What a question asks for is not said before it was seen.
        if step.predict.is_none() || told {
            card.say = say(&step.say);
        }
        if let Some(task) = step.task.as_ref().filter(|_| told) {
            card.goal = say(&task.goal);
            card.hints = task.hints.iter().take(self.hints).map(say).collect();
            let about = task.about.as_ref().and_then(|name| self.history.find(name)).map(|object| object.key());
            let all = task.hints.len() + usize::from(about.is_some());
            card.more_hints = self.hints < all;
            if let Some(key) = about.filter(|_| self.hints >= all) {
                card.why = standing::of(sim, &key).sentence;
            }
        }
        card
    }

    /// When the value that was asked for became what it is.
    fn moment(&self) -> Option<Time> {
        let predict = self.step().predict.as_ref()?;
        let expr = match &predict.answer {
            Answers::Number(expr) => expr,
            Answers::Choices(choices) => &choices.get(usize::try_from(self.question.right?).ok()?)?.when,
        };
        self.history.since(expr)
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
        let over = self.phase == Phase::Playing && self.script.cursor.ended(&self.script.actions);
        self.history.advance(run.sim(), over);
        if let Some(copy) = &mut self.question.copy
            && (copy.advance(COPY_BUDGET_TASKS) || over)
        {
            let played = self.question.copy.take().map(Play::finish);
            let right = played.zip(self.step().predict.as_ref()).and_then(|(played, asked)| asked.right(&played.history, &played.sim));
            self.question.right = right;
        }
        let before = self.phase;
        let task = self.step().task.as_ref().map(|task| {
            let done = self.history.holds(run.sim(), &task.check);
            (done, self.history.can_hold(&task.check))
        });
        self.phase = match (self.phase, task) {
            (Phase::Playing, _) if !over => Phase::Playing,
            (Phase::Playing | Phase::Task | Phase::Lost, Some((true, _))) => Phase::Done,
            (Phase::Playing | Phase::Task | Phase::Lost, Some((false, true))) => Phase::Task,
            (Phase::Playing | Phase::Task | Phase::Lost, Some((false, false))) => Phase::Lost,
            (Phase::Playing, None) => Phase::Done,
            (phase, _) => phase,
        };
        if before != Phase::Done && self.phase == Phase::Done {
            self.note();
        }
        before != self.phase
    }

    /// Notes what came of the step.
    fn note(&mut self) {
        let result = match (&self.step().task, self.question.given) {
            (Some(_), _) if self.results[self.at] == Result::Shown => Result::Shown,
            (Some(_), _) => Result::Solved,
            (None, Some(given)) if Some(given) == self.question.right => Result::Right,
            (None, Some(_)) => Result::Wrong,
            (None, None) => Result::Read,
        };
        self.results[self.at] = result;
    }
}

impl State {
    /// Begins a lesson at its first step, in the cluster that was made for it.
    pub(super) fn open_lesson(&mut self, file: LessonFile, own: bool) {
        self.player = Some(Player::new(file, own));
        self.begin_step(0);
    }

    /// Does what a message says.
    pub(super) fn teach(&mut self, msg: LessonMsg) {
        let Some(player) = &mut self.player else { return };
        match msg {
            LessonMsg::Close => self.player = None,
            LessonMsg::Hint => player.hints += 1,
            LessonMsg::Answer(answer) if player.phase == Phase::Asking => {
                let run = &self.timeline.run;
                let actions = player.step().actions.clone();
                player.question.given = Some(answer);
                player.question.copy = Some(Play::new(run.sim().clone(), player.history.clone(), actions.clone()));
                player.play(actions, run);
                self.clock(TimelineMsg::Play);
                self.tick_lesson();
            }
            LessonMsg::Answer(_) => {}
            LessonMsg::Show => self.show_solution(),
            LessonMsg::Moment => {
                if let Some(at) = player.moment() {
                    self.clock(TimelineMsg::Seek(at.0 / 1000));
                }
            }
            LessonMsg::Next => self.next_step(),
            LessonMsg::Hurry => {
                player.script.hurries = player.phase == Phase::Playing;
                self.hurry();
            }
            LessonMsg::Back => {
                let to = player.at.saturating_sub(1);
                self.return_to(to);
            }
            LessonMsg::Again => {
                let to = player.at;
                self.return_to(to);
            }
        }
    }

    fn show_solution(&mut self) {
        self.clock(TimelineMsg::Live);
        let Some(player) = &mut self.player else { return };
        let Some(task) = &player.step().task else { return };
        let solution = task.solution.clone();
        player.results[player.at] = Result::Shown;
        player.play(solution, &self.timeline.run);
        self.clock(TimelineMsg::Play);
    }

    fn next_step(&mut self) {
        let Some(player) = &mut self.player else { return };
        match player.phase {
            Phase::Playing => {}
            // What comes next builds on the task: it is done at once.
            Phase::Task => {
                self.show_solution();
                self.teach(LessonMsg::Hurry);
            }
            // A question that is not answered is played all the same.
            Phase::Asking => {
                let actions = player.step().actions.clone();
                player.play(actions, &self.timeline.run);
                self.clock(TimelineMsg::Play);
            }
            Phase::Done if player.at + 1 < player.file.lesson().steps.len() => {
                let next = player.at + 1;
                self.clock(TimelineMsg::Live);
                self.begin_step(next);
            }
            _ => {}
        }
    }

    fn return_to(&mut self, step: usize) {
        let Some(run) = self.player.as_mut().and_then(|player| player.starts.drain(step..).next()) else { return };
        let epoch = self.timeline.run.epoch + 1;
        self.timeline.run = run;
        (self.timeline.run.epoch, self.timeline.stopped, self.timeline.run_until) = (epoch, None, None);
        self.perform(vec![Effect::HistoryChanged]);
        self.begin_step(step);
    }

    fn begin_step(&mut self, at: usize) {
        let run = &self.timeline.run;
        let Some(player) = &mut self.player else { return };
        player.starts.truncate(at);
        player.starts.push(run.clone());
        (player.at, player.hints, player.looked) = (at, 0, false);
        (player.question, player.branch) = (Question::default(), run.branches().0);
        player.results[at] = Result::Open;
        if player.history.is_ahead_of(run.sim()) {
            player.history = History::default();
        }
        let step = player.step().clone();
        player.history.begin(run.sim(), step.over.clone());
        match step.predict {
            Some(_) => player.phase = Phase::Asking,
            None => player.play(step.actions, run),
        }
        if let Some(view) = step.view {
            self.select(SelectionMsg::View(view));
        }
        if let Some(name) = step.control_loop {
            self.selection.selected_loop = Some(name.into());
        }
        self.clock(TimelineMsg::Play);
        self.tick_lesson();
    }

    /// When the next action of the lesson is due.
    pub(super) fn lesson_due(&self) -> Option<Time> {
        self.player.as_ref()?.due(&self.timeline.run)
    }

    /// Plays the action of the lesson that is due.
    pub(super) fn play_lesson(&mut self) {
        let Some(player) = &mut self.player else { return };
        if player.due(&self.timeline.run).is_none_or(|due| due > self.timeline.run.sim().now()) {
            return;
        }
        let own = player.own;
        let Some(command) = player.script.cursor.take(&player.script.actions, self.timeline.run.sim()) else { return };
        match command {
            // The manifest of a lesson stands in the editor, where a person goes on with it.
            Command::Apply(text) if !own => {
                let all = merge(&self.editor.text, &text);
                self.edit(EditorMsg::Edit(all));
                self.perform(vec![Effect::Apply]);
            }
            command => {
                let entered = match &command {
                    Command::Kubectl(line) => Some(["$ ", line].concat()),
                    Command::Fault(line) => Some(["$ fault ", line].concat()),
                    _ => None,
                };
                let answer = self.timeline.run.command(command);
                let entered = entered.map(|text| Line::new(text, false)).into_iter().collect();
                self.type_in(ConsoleMsg::Print([entered, answer.lines].concat()));
            }
        }
    }

    /// Lets the lesson see what has happened, and point to what there is to look at.
    pub(super) fn tick_lesson(&mut self) {
        let Some(player) = &mut self.player else { return };
        let further = player.read(&self.timeline.run);
        let (phase, lesson) = (player.phase, player.file.lesson());
        if !player.looked && phase != Phase::Asking {
            let found = player.step().look.as_ref().and_then(|name| player.history.find(name)).map(|object| object.key());
            if let Some(key) = found {
                player.looked = true;
                self.select(SelectionMsg::Select(Some(key)));
                return;
            }
        }
        if further && phase == Phase::Done {
            let last = player.at + 1 == lesson.steps.len();
            let notice = match (player.results[player.at], last) {
                (Result::Solved, false) => msg::lesson_notice_solved(),
                (Result::Right, false) => msg::lesson_notice_right(),
                (Result::Wrong, false) => msg::lesson_notice_wrong(),
                (_, true) => msg::lesson_notice_over(),
                _ => return,
            };
            self.perform(vec![Effect::Announce(notice)]);
        }
    }

    /// What a person entered or selected counts as having looked.
    pub(super) fn note_looked(&mut self, key: Option<&ObjectRef>, line: Option<&str>) {
        let Some(player) = &mut self.player else { return };
        player.history.looked.extend(key.cloned());
        player.history.commands.extend(line.map(Into::into));
    }

    /// Runs to the next action as fast as it can, where what is played is to be over at once.
    pub(super) fn hurry(&mut self) {
        while let Some(player) = self.player.as_ref().filter(|player| player.script.hurries && self.timeline.run_until.is_none()) {
            match player.due(&self.timeline.run) {
                Some(due) if due > self.timeline.run.sim().now() => self.timeline.run_until = Some(RunUntil::At(due)),
                Some(_) => self.play_lesson(),
                None => {
                    self.tick_lesson();
                    if let Some(player) = &mut self.player {
                        player.script.hurries = false;
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LessonCard, LessonFile, LessonMsg, Phase, Result};
    use crate::api::{Kind, Time};
    use crate::lesson::format::Tongue;
    use crate::session::console::ConsoleMsg;
    use crate::session::editor::{ApplyStatus, EditorMsg};
    use crate::session::replace::{ReplaceMsg, Replacement};
    use crate::session::selection::SelectionMsg;
    use crate::session::tests::ready;
    use crate::session::timeline::TimelineMsg;
    use crate::session::{Msg, State};

    const LESSON: &str = include_str!("../../static/lessons/control-loop.yaml");

    fn run(state: &mut State, seconds: u64, budget: usize) {
        let to = Time(state.timeline.run.sim().now().0 + seconds * 1_000_000);
        while !state.advance(to, budget) {}
    }

    fn opened() -> State {
        let mut state = State::from_link(None);
        let file = LessonFile::new("control-loop", crate::lesson::parse(LESSON).unwrap());
        state.update(ReplaceMsg::Ask(Replacement::Lesson(file)));
        state
    }

    fn card(state: &State) -> LessonCard {
        state.player.as_ref().unwrap().card(&state.timeline.run, state.timeline.playing, Tongue::English)
    }

    #[test]
    fn a_lesson_is_played_to_its_end_the_same_way_however_the_clock_is_sliced() {
        let played = |budget: usize| {
            let mut state = opened();
            run(&mut state, 1, budget);
            assert_eq!((card(&state).step, card(&state).phase), ((1, 4), Some(Phase::Done)));
            assert!(card(&state).say.starts_with("This manifest asks for two Pods"));
            state.update(LessonMsg::Next);
            assert_eq!(card(&state).phase, Some(Phase::Playing));
            run(&mut state, 30, budget);
            assert!(card(&state).say.contains("wants 2 Pods, and 2 are ready"), "{}", card(&state).say);
            assert!(state.editor.text.contains("kind: Deployment") && state.editor.status == ApplyStatus::Applied);
            assert!(state.selection.selected.as_ref().is_some_and(|key| key.kind == Kind::Deployment));
            state.update(LessonMsg::Next);
            let asked = card(&state);
            assert_eq!((asked.phase, asked.choices.len(), asked.right, asked.say.as_str()), (Some(Phase::Asking), 3, None, ""));
            state.update(LessonMsg::Answer(2));
            assert_eq!((card(&state).phase, card(&state).right), (Some(Phase::Playing), None));
            run(&mut state, 60, budget);
            let told = card(&state);
            assert_eq!((told.phase, told.given, told.right), (Some(Phase::Done), Some(2), Some(1)));
            assert!(told.because.starts_with("1 Pod is gone and 1 was created"), "{}", told.because);
            state.update(LessonMsg::Next);
            assert_eq!(card(&state).phase, Some(Phase::Task));
            run(&mut state, 5, budget);
            state.update(EditorMsg::Edit(state.editor.text.replace("replicas: 2", "replicas: 4")));
            state.update(Msg::Apply);
            run(&mut state, 20, budget);
            assert_eq!((card(&state).phase, ready(&state.timeline.run)), (Some(Phase::Done), 4));
            assert_eq!(card(&state).results, [Result::Read, Result::Read, Result::Wrong, Result::Solved]);
            state.timeline.run.journal().iter().map(|entry| format!("{entry:?}")).collect::<Vec<_>>()
        };
        assert_eq!(played(4), played(5_000));
    }

    #[test]
    fn what_is_played_can_be_hurried_shown_and_played_again() {
        let mut state = opened();
        let next = |state: &mut State| {
            state.update(LessonMsg::Next);
            state.update(LessonMsg::Hurry);
            while state.timeline.run_until.is_some() {
                state.run_slice(50);
            }
        };
        next(&mut state);
        assert_eq!((card(&state).step.0, card(&state).phase, ready(&state.timeline.run)), (2, Some(Phase::Done), 2));
        let before = state.timeline.run.objects();
        // A question can be left open: it is played all the same.
        state.update(LessonMsg::Next);
        next(&mut state);
        assert_eq!((card(&state).step.0, card(&state).phase, card(&state).given), (3, Some(Phase::Done), None));
        state.update(LessonMsg::Next);
        run(&mut state, 1, 64);
        assert_eq!((card(&state).phase, card(&state).more_hints), (Some(Phase::Task), true));
        for _ in 0..3 {
            state.update(LessonMsg::Hint);
        }
        assert_eq!((card(&state).hints.len(), card(&state).more_hints, card(&state).why.is_empty()), (2, false, false));
        // To skip it is to have it done at once.
        let mut skipped = State::from_link(None);
        std::mem::swap(&mut skipped, &mut state);
        skipped.update(LessonMsg::Next);
        while skipped.timeline.run_until.is_some() {
            skipped.run_slice(50);
        }
        assert_eq!((card(&skipped).phase, card(&skipped).results[3], ready(&skipped.timeline.run)), (Some(Phase::Done), Result::Shown, 4));
        skipped.update(LessonMsg::Again);
        run(&mut skipped, 1, 64);
        state = skipped;
        state.update(LessonMsg::Show);
        run(&mut state, 30, 64);
        assert_eq!((card(&state).phase, card(&state).results[3]), (Some(Phase::Done), Result::Shown));
        state.update(LessonMsg::Back);
        assert_eq!((card(&state).step.0, card(&state).phase), (3, Some(Phase::Asking)));
        assert_eq!(state.timeline.run.objects(), before);
        state.update(LessonMsg::Answer(1));
        run(&mut state, 60, 64);
        assert_eq!(card(&state).results[2], Result::Right);
        // To start over begins the lesson again.
        state.update(ReplaceMsg::Ask(Replacement::StartOver));
        state.update(ReplaceMsg::Confirm);
        assert_eq!((card(&state).step.0, state.timeline.run.now()), (1, 0));
        state.update(LessonMsg::Close);
        assert!(state.player.is_none());
        state.update(ReplaceMsg::Ask(Replacement::Example(1)));
        assert!(state.player.is_none());
    }

    #[test]
    fn the_past_and_branches_do_not_confuse_it() {
        let mut state = opened();
        state.update(LessonMsg::Next);
        run(&mut state, 30, 64);
        state.update(LessonMsg::Next);
        state.update(LessonMsg::Answer(1));
        run(&mut state, 40, 64);
        let began = state.timeline.run.now() - 30_000;
        // A look into the past changes nothing.
        state.update(TimelineMsg::Seek(began));
        assert_eq!(card(&state).phase, Some(Phase::Done));
        state.update(LessonMsg::Next);
        run(&mut state, 1, 64);
        assert_eq!((card(&state).phase, state.timeline.run.in_past()), (Some(Phase::Task), false));
        // What is done in the past becomes the present.
        state.update(TimelineMsg::Seek(state.timeline.run.now() - 500));
        state.update(ConsoleMsg::Enter("kubectl scale deployment web --replicas=4".into()));
        run(&mut state, 30, 64);
        assert_eq!((state.timeline.run.branches().0, card(&state).phase), (2, Some(Phase::Done)));
    }

    #[test]
    fn a_lesson_in_the_editor_is_played_beside_its_text() {
        let mut state = State::from_link(None);
        state.update(EditorMsg::Edit(LESSON.replace("view: ownership", "view: owners")));
        state.update(EditorMsg::Check);
        assert!(state.editor.diagnostics.iter().any(|one| one.error && one.message.english().contains("no diagram owners")));
        state.update(Msg::Apply);
        assert!(state.player.is_none() && state.editor.status == ApplyStatus::Rejected);
        state.update(EditorMsg::Edit(LESSON.into()));
        state.update(EditorMsg::Check);
        assert!(state.editor.diagnostics.is_empty());
        state.update(Msg::Apply);
        assert!(state.player.is_some() && state.editor.status == ApplyStatus::Applied);
        state.update(LessonMsg::Next);
        run(&mut state, 30, 64);
        assert_eq!((ready(&state.timeline.run), &*state.editor.text), (2, LESSON));
        // A link holds it.
        let again = State::from_link(Some(&state.link()));
        assert_eq!(card(&again).title, "The control loop");
        assert_eq!(state.drift(), Vec::<String>::new());
    }

    #[test]
    fn what_a_person_looked_at_counts() {
        let mut state = opened();
        state.update(EditorMsg::Edit(
            "lesson: 1\ntitle: a\nsteps:\n- say: a\n  do: [{kubectl: run web --image=nginx}, {wait: settled}]\n  task:\n    goal: a\n    check: looked(pod/web) and ran('get events')\n    solution: [{kubectl: describe pod web}]\n"
                .into(),
        ));
        state.update(Msg::Apply);
        run(&mut state, 30, 64);
        assert_eq!(card(&state).phase, Some(Phase::Task));
        let pod = state.timeline.run.sim().list(Kind::Pod).next().unwrap().key();
        state.update(SelectionMsg::Select(Some(pod)));
        assert_eq!(card(&state).phase, Some(Phase::Task));
        state.update(ConsoleMsg::Enter("kubectl get events".into()));
        assert_eq!(card(&state).phase, Some(Phase::Done));
    }
}
