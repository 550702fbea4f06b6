//! A lesson on the page: its actions are commands of the run, its manifests stand in the editor, and what it points to is selected.

use super::{LessonFile, LessonMsg, Phase, Player, Question, Result, Start};
use crate::actions::{Command, OutputLine};
use crate::api::{ObjectRef, Time};
use crate::i18n::msg;
use crate::lesson::script::Play;
use crate::lesson::{ObservedHistory, merge};
use crate::session::console::{ConsoleMsg, PROMPT};
use crate::session::editor::EditorMsg;
use crate::session::effect::Effect;
use crate::session::selection::SelectionMsg;
use crate::session::state::State;
use crate::session::timeline::{RunUntil, TimelineMsg};

impl State {
    /// Begins a lesson at its first step, in the cluster that was made for it.
    pub(in crate::session) fn open_lesson(&mut self, file: LessonFile, own: bool) {
        self.player = Some(Player::new(file, own));
        self.begin_step(0);
    }

    /// Does what a message says.
    pub(in crate::session) fn teach(&mut self, msg: LessonMsg) {
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
        player.marks.results[player.at] = Result::Shown;
        player.play(solution, &self.timeline.run);
        self.clock(TimelineMsg::Play);
    }

    fn next_step(&mut self) {
        let Some(player) = &mut self.player else { return };
        match player.phase {
            Phase::Playing => {}
            // What comes next builds on the task: it is done at once, unless its solution has been played in vain.
            Phase::Task if player.marks.results[player.at] != Result::Shown => {
                self.show_solution();
                self.teach(LessonMsg::Hurry);
            }
            // A question that is not answered is played all the same.
            Phase::Asking => {
                let actions = player.step().actions.clone();
                player.play(actions, &self.timeline.run);
                self.clock(TimelineMsg::Play);
            }
            Phase::Done | Phase::Task if player.at + 1 < player.file.lesson().steps.len() => {
                let next = player.at + 1;
                self.clock(TimelineMsg::Live);
                self.begin_step(next);
            }
            _ => {}
        }
    }

    fn return_to(&mut self, step: usize) {
        let Some(start) = self.player.as_mut().and_then(|player| player.starts.drain(step..).next()) else { return };
        let (epoch, Start { run, text, applied }) = (self.timeline.run.epoch + 1, start);
        self.timeline.run = run;
        if let Some(player) = &mut self.player {
            // The journal is another one: it is read from its beginning.
            player.history = ObservedHistory::default();
            if !player.own {
                self.editor.restore(text, applied);
            }
        }
        (self.timeline.run.epoch, self.timeline.stopped, self.timeline.run_until) = (epoch, None, None);
        self.perform(vec![Effect::HistoryChanged]);
        self.begin_step(step);
    }

    fn begin_step(&mut self, at: usize) {
        let run = &self.timeline.run;
        let Some(player) = &mut self.player else { return };
        player.starts.truncate(at);
        player.starts.push(Start { run: run.clone(), text: self.editor.text.clone(), applied: self.editor.applied.clone() });
        (player.at, player.hints, player.looked) = (at, 0, false);
        (player.question, player.branch) = (Question::default(), run.branches().0);
        (player.marks.results[at], player.marks.answered[at]) = (Result::Open, false);
        if player.history.is_ahead_of(run.sim()) {
            player.history = ObservedHistory::default();
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
    pub(in crate::session) fn lesson_due(&self) -> Option<Time> {
        self.player.as_ref()?.due(&self.timeline.run)
    }

    /// Plays the action of the lesson that is due.
    pub(in crate::session) fn play_lesson(&mut self) {
        let Some(player) = &mut self.player else { return };
        if player.due(&self.timeline.run).is_none_or(|due| due > self.timeline.run.sim().now()) {
            return;
        }
        let own = player.own;
        let Some(command) = player.script.cursor.take(&player.script.actions, self.timeline.run.sim()) else { return };
        match command {
            // The manifest of a lesson stands in the editor, where a person goes on with it.
            Command::Apply(text) if !own => {
                let all = merge(&self.editor.applied, &text);
                self.edit(EditorMsg::Edit(all));
                self.perform(vec![Effect::Apply]);
            }
            // It may have to wait for descriptions, as one that a person enters.
            Command::Kubectl(line) if crate::kubectl::explain::is_in(&line) && crate::kubectl::only_reads(&line) => {
                self.type_in(ConsoleMsg::Enter(line.to_string()));
            }
            command => {
                let entered = match &command {
                    Command::Kubectl(line) => Some(OutputLine::entered(PROMPT, line)),
                    Command::Fault(line) => Some(OutputLine::entered(PROMPT, &["fault ", line].concat())),
                    _ => None,
                };
                let answer = self.timeline.run.command(command);
                self.type_in(ConsoleMsg::Print(entered.into_iter().chain(answer.lines).collect()));
            }
        }
    }

    /// Lets the lesson see what has happened, and point to what there is to look at.
    pub(in crate::session) fn tick_lesson(&mut self) {
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
            let notice = match (player.marks.results[player.at], last) {
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
    pub(in crate::session) fn note_looked(&mut self, key: Option<&ObjectRef>, line: Option<&str>) {
        let Some(player) = &mut self.player else { return };
        player.history.looked.extend(key.cloned());
        player.history.entered.extend(line.map(Into::into));
    }

    /// Runs to the next action as fast as it can, where what is played is to be over at once.
    pub(in crate::session) fn hurry(&mut self) {
        while let Some(player) = self.player.as_ref().filter(|player| player.script.hurries && self.timeline.run_until.is_none()) {
            match player.due(&self.timeline.run) {
                Some(due) if due > self.timeline.run.sim().now() => self.timeline.run_until = Some(RunUntil::At(due)),
                Some(_) => self.play_lesson(),
                None => {
                    self.tick_lesson();
                    let now = self.timeline.run.sim().now();
                    match &mut self.player {
                        // The answer is still being found.
                        Some(player) if player.phase == Phase::Playing => self.timeline.run_until = Some(RunUntil::At(now)),
                        Some(player) => player.script.hurries = false,
                        None => {}
                    }
                }
            }
        }
    }
}
