//! How the page begins, and begins again: the example that moves by itself, a manifest that takes its place, starting over and its undo.

use super::console::ConsoleMsg;
use super::editor::{ApplyStatus, Editor};
use super::effect::Effect;
use super::examples;
use super::lesson::LessonFile;
use super::msg::Msg;
use super::permalink::{Link, LinkHistory, MAX_COMMANDS};
use super::record::{Beginning, SavedRecord, Unreadable};
use super::replace::{Before, ReplaceMsg, Replacement, Replacing};
use super::run::Run;
use super::selection::{Selection, SelectionMsg};
use super::state::State;
use super::timeline::{Timeline, TimelineMsg};
use actions::Action;
use controller_runtime::cluster::ClusterConfig;
use i18n::msg;
use k8s_model::{Kind, ObjectRef, Time};
use lesson::Lesson;

/// Breakpoints of a link; more are not read.
const MAX_BREAKPOINTS: usize = 100;
/// A link's history ends within a year.
const LONGEST_HISTORY_US: u64 = 366 * 86_400 * 1_000_000;

impl State {
    /// The page that a link describes, or the one everybody begins with.
    pub fn from_link(link: Option<&Link>) -> State {
        State::in_cluster(State::cluster(link), link)
    }

    /// The cluster of a link, empty.
    pub fn cluster(link: Option<&Link>) -> Run {
        Run::new(link.and_then(|link| link.seed).unwrap_or(1))
    }

    /// The page that a link describes, in its cluster.
    pub fn in_cluster(cluster: Run, link: Option<&Link>) -> State {
        let first = &examples::ALL[0];
        let text = link
            .and_then(|link| link.manifest.as_deref())
            .unwrap_or_else(first.text);
        let mut state = State::of(text, cluster);
        state.editor.leftovers.from_page = link.is_none();
        if let Some(view) = link
            .and_then(|link| link.view.as_deref())
            .and_then(views::by_id)
        {
            state.selection.view = view;
        }
        state
    }

    /// The opening example offers things to try, and moves by itself.
    pub(super) fn begin(&mut self, moves: bool) {
        if self.editor.leftovers.from_page && examples::of(&self.editor.text) == Some(0) {
            self.demo.offers = true;
            self.demo.begin(
                examples::ALL[0].script.filter(|_| moves),
                &self.timeline.run,
            );
        }
    }

    /// Applies a text that has nothing in common with the example that the page opened with: to an empty cluster, unless it is refused.
    pub(super) fn apply_fresh(&mut self) {
        let (run, playing, selection) = (
            self.timeline.run.clone(),
            self.timeline.playing,
            self.selection.selected.clone(),
        );
        let (applied, leftovers) = (self.editor.applied.clone(), self.editor.leftovers.clone());
        self.editor.leftovers = Default::default();
        self.select(SelectionMsg::Load(None));
        self.clock(TimelineMsg::Restart);
        if self.editor.status == ApplyStatus::Rejected {
            let epoch = self.timeline.run.epoch + 1;
            (
                self.timeline.run,
                self.timeline.playing,
                self.selection.selected,
            ) = (run, playing, selection);
            self.timeline.run.epoch = epoch;
            (self.editor.applied, self.editor.leftovers) = (applied, leftovers);
            self.perform(vec![Effect::HistoryChanged]);
        } else {
            // What the example has printed is of a cluster that is gone.
            self.console.lines = Default::default();
        }
    }

    /// Whether something was done that a link to what is shown tells.
    pub fn shares_history(&self) -> bool {
        let (timeline, run) = (&self.timeline, &self.timeline.run);
        // A lesson that was closed leaves its cluster, which a link may not hold; that of a served cluster is held.
        let is_held = Beginning::tells(&run.sim().config) && run.command_count() <= MAX_COMMANDS;
        self.player.is_none()
            && is_held
            && (self.replacing.acted || run.in_past() || !timeline.playing)
    }

    /// What a link to what is shown holds: also what was done, the instant, the object that is selected and the breakpoints. A lesson is a
    /// history of its own.
    pub fn shared(&self) -> Link {
        let timeline = &self.timeline;
        let run = &timeline.run;
        let history = self.shares_history().then(|| {
            let (commands, end) = run.record_of();
            let at = (run.in_past() || !timeline.playing).then(|| run.now());
            LinkHistory::new(commands, end, at, Beginning::of(&run.sim().config))
        });
        let history = history.and_then(LinkHistory::held);
        let example = if history.is_some() {
            self.demo.ran().to_vec()
        } else {
            Vec::new()
        };
        let selected = self
            .selection
            .selected
            .as_ref()
            .filter(|_| self.selection.selected_by_person);
        Link {
            history,
            selected: selected.map(|key| [key.kind.name(), &key.namespace, &key.name].join("/")),
            breakpoints: timeline
                .breakpoints
                .iter()
                .map(|one| one.text.clone())
                .collect(),
            speed: Some(timeline.speed).filter(|speed| *speed != 1.0),
            example,
            ..self.link()
        }
    }

    /// Repeats what a link says was done, and shows what it is about.
    pub fn recall(&mut self, link: &Link) {
        for text in link.breakpoints.iter().take(MAX_BREAKPOINTS) {
            self.clock(TimelineMsg::Break(text.clone()));
        }
        if let Some(speed) = link.speed.filter(|speed| speed.is_finite()) {
            self.clock(TimelineMsg::Speed(speed));
        }
        let selected = link.selected.as_ref().and_then(|text| {
            let mut parts = text.splitn(3, '/');
            Some(ObjectRef::new(
                Kind::from_word(parts.next()?)?,
                parts.next()?,
                parts.next()?,
            ))
        });
        if let Some(history) = link.history() {
            // A link is untrusted: times do not go back, and end within the days that a history may have.
            let (mut steps, mut now) = (0, Time(0));
            let commands =
                history
                    .commands
                    .iter()
                    .take(MAX_COMMANDS)
                    .map(|(after, time, action)| {
                        (steps, now) = (
                            steps.max(*after),
                            now.max(Time((*time).min(LONGEST_HISTORY_US))),
                        );
                        (steps, now, action.clone())
                    });
            let commands: Vec<_> = commands.collect();
            let end = (
                steps.max(history.end.0),
                now.max(Time(history.end.1.min(LONGEST_HISTORY_US))),
            );
            // What was applied last, unless the text of the link was: a remedy applies what is missing beside it.
            let applies = || {
                commands.iter().rev().filter_map(|(.., command)| {
                    if let Action::Apply(text) = command {
                        Some(text)
                    } else {
                        None
                    }
                })
            };
            let applied = applies()
                .find(|text| **text == self.editor.text)
                .or_else(|| applies().next())
                .cloned();
            self.demo
                .recall(link.example.iter().copied().take(MAX_COMMANDS).collect());
            let own = commands
                .iter()
                .filter(|(_, at, _)| !self.demo.has_run(at.0 / 1000));
            self.console.remember(own.map(|(.., command)| command));
            self.editor.leftovers = Default::default();
            self.editor
                .restore(self.editor.text.clone(), applied.unwrap_or_default());
            let cluster = history
                .cluster
                .map_or_else(ClusterConfig::default, Beginning::config);
            self.timeline.recall(
                Run::recalled(cluster, self.timeline.run.seed(), commands, end),
                end.1,
                history.at,
            );
            self.replacing.acted = true;
            self.perform(vec![Effect::HistoryChanged]);
        }
        if selected.is_some() {
            self.select(SelectionMsg::Select(selected));
        }
    }

    /// Opens a record of `loopscope serve` that was dropped on the editor, or pasted into it.
    pub(super) fn open_record(&mut self, text: &str) {
        let link = match SavedRecord::read(text) {
            _ if self.following.is_some() => Err(msg::follow_not_here()),
            Ok(record) => Link::of_record(&record).ok_or_else(msg::record_too_long),
            Err(Unreadable(line, problem)) => Err(msg::record_unreadable(line, problem)),
        };
        match link {
            Ok(link) => {
                let (width, height) = self.drawing.stage;
                *self = State::from_link(Some(&link));
                self.recall(&link);
                self.update(Msg::Stage(width, height));
            }
            Err(words) => self.announcer.say_failed(words),
        }
    }

    /// Reads the lesson that stands in the editor; what is wrong with it is shown there.
    pub(super) fn read_lesson(&mut self, begins: bool) -> Option<Lesson> {
        let read = lesson::parse(&self.editor.text);
        self.editor
            .show_lesson(read.as_ref().err().map_or(&[], Vec::as_slice), begins);
        read.ok()
    }

    /// Begins the lesson that stands in the editor.
    pub(super) fn begin_own_lesson(&mut self) {
        let Some(lesson) = self.read_lesson(true) else {
            return;
        };
        let mut timeline = self.new_timeline(Run::of(lesson.cluster.clone(), lesson.seed));
        // Whoever writes it begins it again and again.
        timeline.set_speed(self.timeline.speed);
        self.compare = Default::default();
        let (editor, selection) = (
            Editor::new(&self.editor.text),
            Selection::at(self.selection.view),
        );
        let before = Before {
            timeline: std::mem::replace(&mut self.timeline, timeline),
            editor: std::mem::replace(&mut self.editor, editor),
            selection: std::mem::replace(&mut self.selection, selection),
            player: self.player.take(),
            acted: self.replacing.acted,
        };
        // Who writes a lesson begins it again and again, and loses nothing by that; nor does who has done nothing yet.
        let keeps = before
            .player
            .as_ref()
            .map_or(before.acted, |player| !player.is_own());
        self.replacing = Replacing {
            before: keeps.then(|| Box::new(before)),
            ..Replacing::default()
        };
        self.timeline.run.epoch += 1;
        self.editor.show_lesson(&[], true);
        self.perform(vec![Effect::HistoryChanged]);
        self.open_lesson(LessonFile::new("", lesson), true);
    }

    /// Whether the way back after a new beginning is offered: not over a lesson, whose own beginning it would undo.
    pub fn offers_undo(&self) -> bool {
        self.replacing.before.is_some() && self.player.is_none()
    }

    /// Whether beginning again would lose text that is not applied, or something that a person did.
    fn has_work(&self) -> bool {
        self.replacing.acted || self.editor.text != self.editor.applied
    }

    pub(super) fn replace(&mut self, msg: ReplaceMsg) {
        match msg {
            // Who is through with a lesson goes on to the next.
            ReplaceMsg::Ask(with @ Replacement::Lesson(_))
                if self
                    .player
                    .as_ref()
                    .is_some_and(|player| player.is_over() && !player.is_own()) =>
            {
                self.begin_again(with, false);
            }
            ReplaceMsg::Ask(with) if self.has_work() => self.replacing.asked = Some(with),
            ReplaceMsg::Ask(with) => self.begin_again(with, false),
            ReplaceMsg::Confirm => {
                if let Some(with) = self.replacing.asked.take() {
                    self.begin_again(with, true);
                }
            }
            ReplaceMsg::Cancel => self.replacing.asked = None,
            ReplaceMsg::Undo => self.undo(),
            ReplaceMsg::Dismiss => self.replacing.before = None,
        }
    }

    pub(super) fn begin_again(&mut self, with: Replacement, keeps: bool) {
        // To start over with a lesson is to begin it again.
        let player = self.player.take();
        let lesson = player
            .as_ref()
            .filter(|player| with == Replacement::StartOver && !player.is_own());
        let with = lesson.map_or(with, |player| Replacement::Lesson(player.file().clone()));
        let text = with.example().map_or_else(
            || self.editor.text.to_string(),
            |example| (example.text)().into(),
        );
        let view = with
            .example()
            .and_then(|example| views::by_id(example.view));
        let mut timeline = self.new_timeline(match &with {
            Replacement::Lesson(file) => Run::of(file.lesson().cluster.clone(), file.lesson().seed),
            _ => Run::new(self.timeline.run.seed()),
        });
        // What is new is seen at the speed of life.
        if with == Replacement::StartOver {
            timeline.set_speed(self.timeline.speed);
        }
        let selection = Selection::at(self.selection.view);
        let before = Before {
            timeline: std::mem::replace(&mut self.timeline, timeline),
            editor: std::mem::take(&mut self.editor),
            selection: std::mem::replace(&mut self.selection, selection),
            player,
            acted: self.replacing.acted,
        };
        // What the example before has printed is of another cluster, and nobody asked for it.
        if !self.replacing.acted {
            self.console.lines = Default::default();
        }
        self.replacing = Replacing {
            before: keeps.then(|| Box::new(before)),
            ..Replacing::default()
        };
        self.compare = Default::default();
        if let Replacement::Lesson(file) = with {
            self.timeline.run.epoch += 1;
            self.demo.end();
            self.perform(vec![Effect::HistoryChanged]);
            self.open_lesson(file, false);
            return;
        }
        self.update(Msg::Load(text, view));
        if let Some(example) = with.example() {
            // What follows is of another cluster.
            if !self.console.lines.is_empty() {
                self.type_in(ConsoleMsg::Print(vec![actions::OutputLine::new(
                    ["# ", example.file].concat(),
                    false,
                )]));
            }
            self.editor.leftovers.from_page = true;
            self.demo.begin(example.script, &self.timeline.run);
        }
    }

    /// A clock for another run, with the same breakpoints.
    fn new_timeline(&self, run: Run) -> Timeline {
        let mut timeline = Timeline::new(run);
        timeline.run.epoch = self.timeline.run.epoch;
        timeline.breakpoints.clone_from(&self.timeline.breakpoints);
        timeline
    }

    fn undo(&mut self) {
        let Some(before) = self.replacing.before.take() else {
            return;
        };
        self.compare = Default::default();
        self.demo.end();
        self.player = before.player;
        let epoch = self.timeline.run.epoch + 1;
        (self.timeline, self.editor, self.selection) =
            (before.timeline, before.editor, before.selection);
        self.timeline.run.epoch = epoch;
        self.replacing.acted = before.acted;
        self.perform(vec![
            Effect::HistoryChanged,
            Effect::Announce(msg::notice_undone()),
        ]);
    }

    /// Plays the step of the example that is due.
    pub(super) fn play_demo(&mut self) {
        // What is done again and again would fill the console, which is the person's.
        let once = self.demo.next_line().is_some();
        if let Some(line) = self.demo.step(&self.timeline.run) {
            let answer = self
                .timeline
                .run
                .command(Action::Kubectl(line.as_str().into()));
            if once {
                let told = actions::OutputLine::new(["# ", &line].concat(), false);
                self.type_in(ConsoleMsg::Print([vec![told], answer.lines].concat()));
            }
        }
    }
}
