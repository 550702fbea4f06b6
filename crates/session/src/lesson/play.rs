//! Playing a lesson on the page: its actions are commands of the run, its manifests are put into the editor, and the object it points to is
//! selected.

use super::{
    Instant, LessonFile, LessonMsg, PageSnapshot, Phase, Player, Result, StepState, VisitedStep,
};
use crate::compare::CompareMsg;
use crate::console::{ConsoleMsg, PROMPT};
use crate::editor::EditorMsg;
use crate::effect::Effect;
use crate::selection::SelectionMsg;
use crate::state::State;
use crate::timeline::{RunUntil, TimelineMsg};
use actions::{Action, OutputLine};
use i18n::msg;
use k8s_model::{ObjectRef, Time};
use lesson::{ObservedHistory, merge};

impl State {
    /// Begins a lesson at its first step, in the cluster created for it.
    pub(crate) fn open_lesson(&mut self, file: LessonFile, own: bool) {
        if file.by_cause {
            self.timeline.begin_causal_pace();
        }
        self.player = Some(Player::new(file, own));
        self.begin_step(0);
    }

    /// Handles a message.
    pub(crate) fn teach(&mut self, msg: LessonMsg) {
        let Some(player) = &mut self.player else {
            return;
        };
        match msg {
            LessonMsg::Close => {
                let used = player.file.lesson().uses_machine();
                self.player = None;
                self.timeline.end_causal_pace();
                if used {
                    self.compare(CompareMsg::EventDriven(false));
                }
            }
            LessonMsg::Hint => player.state.hints += 1,
            LessonMsg::Answer(answer) if player.state.phase == Phase::Asking => {
                player.state.given = Some(answer);
                player.begin(&self.timeline.run);
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
                player.state.script.hurries = player.state.phase == Phase::Playing;
                self.fast_forward();
            }
            LessonMsg::Back => {
                let to = player.at.saturating_sub(1);
                self.clock(TimelineMsg::Live);
                self.leave_step();
                self.visit(to);
            }
            LessonMsg::Again => {
                let to = player.at;
                self.repeat_step(to);
            }
        }
    }

    fn show_solution(&mut self) {
        self.clock(TimelineMsg::Live);
        let Some(player) = &mut self.player else {
            return;
        };
        let Some(task) = &player.step().task else {
            return;
        };
        let solution = task.solution.clone();
        player.marks.results[player.at] = Result::Shown;
        player.play(solution, &self.timeline.run);
        self.clock(TimelineMsg::Play);
    }

    fn next_step(&mut self) {
        let Some(player) = &mut self.player else {
            return;
        };
        match player.state.phase {
            Phase::Playing => {}
            // The next step builds on the task: it is solved at once, unless its solution was already played in vain.
            Phase::Task if player.marks.results[player.at] != Result::Shown => {
                self.show_solution();
                self.teach(LessonMsg::Hurry);
            }
            // An unanswered question is played nevertheless, and its answer shown.
            Phase::Asking => {
                player.begin(&self.timeline.run);
                self.clock(TimelineMsg::Play);
            }
            Phase::Done | Phase::Task if player.at + 1 < player.file.lesson().steps.len() => {
                let next = player.at + 1;
                // A step visited before is only restored if nothing was done since.
                let goes_on = |visited: &VisitedStep| {
                    visited.began.run.record_of().0 == self.timeline.run.record_of().0
                };
                let visited = player.visited.get(next).is_some_and(goes_on);
                self.clock(TimelineMsg::Live);
                self.leave_step();
                if visited {
                    self.visit(next);
                } else {
                    self.begin_step(next);
                }
            }
            _ => {}
        }
    }

    fn snapshot(&self) -> PageSnapshot {
        PageSnapshot {
            run: self.timeline.run.clone(),
            text: self.editor.text.clone(),
            applied: self.editor.applied.clone(),
            event_driven: self.compare.event_driven_machine(),
        }
    }

    /// Saves the step and the page, for returning to it.
    fn leave_step(&mut self) {
        let page = self.snapshot();
        let Some(player) = &mut self.player else {
            return;
        };
        let left = (page, player.state.clone(), player.history.clone());
        if let Some(visited) = player.visited.get_mut(player.at) {
            visited.left = Some(left);
        }
    }

    fn restore(&mut self, page: PageSnapshot) {
        let epoch = self.timeline.run.epoch + 1;
        self.timeline.run = page.run;
        self.compare.restore(page.event_driven);
        if self.player.as_ref().is_some_and(|player| !player.own) {
            self.editor.restore(page.text, page.applied);
        }
        (
            self.timeline.run.epoch,
            self.timeline.stopped,
            self.timeline.run_until,
        ) = (epoch, None, None);
        self.perform(vec![Effect::HistoryChanged]);
    }

    /// Returns to a step as it was left, with its answers and texts.
    fn visit(&mut self, at: usize) {
        let left = self
            .player
            .as_ref()
            .and_then(|player| player.visited.get(at)?.left.clone());
        let Some((page, state, history)) = left else {
            return self.repeat_step(at);
        };
        self.restore(page);
        let Some(player) = &mut self.player else {
            return;
        };
        (player.at, player.state, player.history) = (at, state, history);
        (player.state.looked, player.branch) = (false, self.timeline.run.branches().0);
        self.show_step();
    }

    fn repeat_step(&mut self, at: usize) {
        let Some(player) = &mut self.player else {
            return;
        };
        let Some(began) = player.visited.get(at).map(|visited| visited.began.clone()) else {
            return;
        };
        // The journal is another one: it is read from its beginning.
        player.history = ObservedHistory::default();
        self.restore(began);
        self.begin_step(at);
    }

    fn begin_step(&mut self, at: usize) {
        let began = self.snapshot();
        let run = &self.timeline.run;
        let Some(player) = &mut self.player else {
            return;
        };
        player.visited.truncate(at);
        player.visited.push(VisitedStep { began, left: None });
        (player.at, player.branch) = (at, run.branches().0);
        (player.marks.results[at], player.marks.answered[at]) = (Result::Open, false);
        if player.history.is_ahead_of(run.sim()) {
            player.history = ObservedHistory::default();
        }
        let step = player.step().clone();
        player.history.begin(run.sim(), step.over.clone());
        let began = Instant {
            sim: run.sim().clone(),
            history: player.history.clone(),
        };
        player.state = StepState {
            looked: false,
            began: Some(began),
            ..StepState::new()
        };
        match step.predict {
            Some(_) => player.state.phase = Phase::Asking,
            None => player.begin(run),
        }
        self.show_step();
    }

    /// Shows the diagram of the step; the clock runs unless its question is open.
    fn show_step(&mut self) {
        let Some(player) = &self.player else { return };
        let (view, control_loop) = (player.step().view, player.step().control_loop.clone());
        let asks = player.state.phase == Phase::Asking;
        let (beside, used) = (player.step().beside, player.file.lesson().uses_machine());
        if used {
            self.compare(CompareMsg::EventDriven(beside.is_some()));
        }
        if let Some(view) = view {
            self.select(SelectionMsg::View(view));
        }
        if let Some(actor) = control_loop {
            (self.selection.selected_loop, self.selection.inspects_loop) = (Some(actor), true);
        }
        self.clock(if asks {
            TimelineMsg::Pause
        } else {
            TimelineMsg::Play
        });
        self.tick_lesson();
    }

    /// Returns true while the question of a lesson is open, so that the clock is paused.
    pub(crate) fn holds_clock(&self) -> bool {
        self.player
            .as_ref()
            .is_some_and(|player| player.holds_clock(&self.timeline.run))
    }

    /// Returns true if a message would run the clock that an open question holds.
    pub(crate) fn is_held(&self, msg: &TimelineMsg) -> bool {
        use TimelineMsg::{Marker, Play, Seconds, Settle, StartAt, Step, Toggle};
        let runs = match msg {
            Toggle | Play | Step | Settle | StartAt(_) | Marker(true) => true,
            Seconds(seconds) => *seconds > 0,
            _ => false,
        };
        runs && self.holds_clock()
    }

    /// Time at which the next action of the lesson is due.
    pub(crate) fn lesson_due(&self) -> Option<Time> {
        self.player.as_ref()?.due(&self.timeline.run)
    }

    /// Plays the action of the lesson that is due.
    pub(crate) fn play_lesson(&mut self) {
        let Some(player) = &mut self.player else {
            return;
        };
        if player
            .due(&self.timeline.run)
            .is_none_or(|due| due > self.timeline.run.sim().now())
        {
            return;
        }
        let own = player.own;
        let Some(command) = player
            .state
            .script
            .cursor
            .take(&player.state.script.actions, self.timeline.run.sim())
        else {
            return;
        };
        let command = match command {
            Ok(action) => action,
            Err(error) => {
                let line = OutputLine::new(error.printed(), true);
                self.submit_line(ConsoleMsg::Print(vec![line]));
                return;
            }
        };
        match command {
            // The manifest of a lesson is put into the editor, where a person can edit it.
            Action::Apply(text) if !own => {
                let all = merge(&self.editor.applied, &text);
                self.edit(EditorMsg::Edit(all));
                self.perform(vec![Effect::Apply]);
            }
            // The line may have to wait for descriptions, like a line entered by a person.
            Action::Kubectl(line)
                if kubectl::explain::is_in(&line) && kubectl::only_reads(&line) =>
            {
                self.submit_line(ConsoleMsg::Enter(line.to_string()));
            }
            command => {
                let entered = matches!(command, Action::Kubectl(_) | Action::Fault(_))
                    .then(|| OutputLine::entered(PROMPT, &command.to_string()));
                let answer = self.timeline.run.command(command);
                self.submit_line(ConsoleMsg::Print(
                    entered.into_iter().chain(answer.lines).collect(),
                ));
            }
        }
    }

    /// Updates the lesson with what has happened, and selects the object that it points to.
    pub(crate) fn tick_lesson(&mut self) {
        let Some(player) = &mut self.player else {
            return;
        };
        let further = player.read(&self.timeline.run);
        let (phase, lesson) = (player.state.phase, player.file.lesson());
        if !player.state.looked && phase != Phase::Asking {
            let found = player
                .step()
                .look
                .as_ref()
                .and_then(|name| player.history.find(name))
                .map(|object| object.key());
            if let Some(key) = found {
                player.state.looked = true;
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

    /// Notes that a person selected an object or entered a line, which counts as having looked.
    pub(crate) fn note_looked(&mut self, key: Option<&ObjectRef>, line: Option<&str>) {
        let Some(player) = &mut self.player else {
            return;
        };
        player.history.looked.extend(key.cloned());
        player.history.entered.extend(line.map(Into::into));
    }

    /// Runs to the next action as fast as possible, if playback is to finish at once.
    pub(crate) fn fast_forward(&mut self) {
        while let Some(player) = self
            .player
            .as_ref()
            .filter(|player| player.state.script.hurries && self.timeline.run_until.is_none())
        {
            match player.due(&self.timeline.run) {
                Some(due) if due > self.timeline.run.sim().now() => {
                    self.timeline.run_until = Some(RunUntil::At(due))
                }
                Some(_) => self.play_lesson(),
                None => {
                    self.tick_lesson();
                    let now = self.timeline.run.sim().now();
                    match &mut self.player {
                        // The answer is still being computed.
                        Some(player) if player.state.phase == Phase::Playing => {
                            self.timeline.run_until = Some(RunUntil::At(now))
                        }
                        Some(player) => player.state.script.hurries = false,
                        None => {}
                    }
                }
            }
        }
    }
}
