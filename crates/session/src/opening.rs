//! Opening and replacing the page's cluster: the example that plays by itself, a manifest that takes its place, starting over and its undo.

use super::console::ConsoleMsg;
use super::editor::{ApplyStatus, Editor};
use super::effect::Effect;
use super::examples;
use super::lesson::{LessonFile, Player};
use super::msg::Msg;
use super::permalink::{self, Link, LinkHistory, MAX_COMMANDS};
use super::record::{InitialCluster, SavedRecord, Unreadable};
use super::replace::{Before, ReplaceMsg, Replacement, Replacing};
use super::run::Run;
use super::selection::{Selection, SelectionMsg};
use super::state::State;
use super::timeline::{Timeline, TimelineMsg};
use actions::{Action, RecordedAction};
use controller_runtime::cluster::ClusterConfig;
use i18n::msg;
use k8s_model::{Kind, ObjectRef, Time};
use lesson::Lesson;
use std::fmt;

/// Maximum number of breakpoints read from a link.
const MAX_BREAKPOINTS: usize = 100;
/// Maximum length of a link's history: a year.
const LONGEST_HISTORY_US: u64 = 366 * 86_400 * 1_000_000;

/// Parts of an address after the page's own.
pub struct SharedAddress {
    /// Query with its `?`, or nothing.
    pub query: String,
    /// Fragment with its `#`, or nothing.
    pub fragment: String,
}

impl fmt::Display for SharedAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.query)?;
        f.write_str(&self.fragment)
    }
}

impl State {
    /// Builds the page that a link describes, or the default page.
    pub fn from_link(link: Option<&Link>) -> State {
        State::in_cluster(State::cluster(link), link)
    }

    /// Builds the empty cluster of a link.
    pub fn cluster(link: Option<&Link>) -> Run {
        Run::new(link.and_then(|link| link.seed).unwrap_or(1))
    }

    /// Builds the page that a link describes, in a cluster built before.
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

    /// Starts the opening example: it offers things to try and, if `moves`, plays by itself, at the causal pace.
    pub(super) fn begin(&mut self, moves: bool) {
        if self.editor.leftovers.from_page && examples::of(&self.editor.text) == Some(0) {
            self.demo.offers = true;
            // Who sees the page for the first time sees each pass before the next.
            self.timeline.by_cause |= moves;
            self.demo.begin(
                examples::ALL[0].script.filter(|_| moves),
                &self.timeline.run,
            );
        }
    }

    /// Applies a text that has nothing in common with the page's example to an empty cluster, unless it is refused.
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
            // The example's output belongs to the cluster that was replaced.
            self.console.lines = Default::default();
        }
    }

    /// Returns true if the history is not empty and can be put into a link.
    pub fn shares_history(&self) -> bool {
        let (timeline, run) = (&self.timeline, &self.timeline.run);
        // A closed lesson leaves its cluster, whose configuration may not fit into a link; that of a served cluster does.
        let is_held =
            InitialCluster::tells(&run.sim().config) && run.command_count() <= MAX_COMMANDS;
        self.player.is_none()
            && is_held
            && (self.replacing.acted || run.in_past() || !timeline.playing)
    }

    /// Builds a link to the page as shown, with its history, instant, selected object and breakpoints. A lesson is shared as a lesson,
    /// without the history.
    pub fn shared(&self) -> Link {
        let timeline = &self.timeline;
        let run = &timeline.run;
        let history = self.shares_history().then(|| {
            let (commands, end) = run.record_of();
            let at = (run.in_past() || !timeline.playing).then(|| run.now());
            LinkHistory::new(commands, end, at, InitialCluster::of(&run.sim().config))
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
            selected: selected.map(|key| [&*key.kind.label(), &key.namespace, &key.name].join("/")),
            breakpoints: timeline
                .breakpoints
                .all()
                .iter()
                .map(|one| one.text.clone())
                .collect(),
            speed: Some(timeline.speed).filter(|speed| *speed != 1.0),
            by_cause: timeline.by_cause,
            example,
            ..self.link()
        }
    }

    /// Returns the address that opens what is shown: a lesson by its name, anything else with its history.
    pub fn shared_address(&self) -> SharedAddress {
        let name = self.player.as_ref().map(|player| player.file().name());
        if let Some(name) = name.filter(|name| !name.is_empty()) {
            return SharedAddress {
                query: format!("?lesson={name}"),
                fragment: String::new(),
            };
        }
        let learns = |player: &Player| player.source().is_some();
        let query = if self.player.as_ref().is_some_and(learns) {
            "?learn=1"
        } else {
            ""
        };
        SharedAddress {
            query: query.to_owned(),
            fragment: permalink::encode(&self.shared()),
        }
    }

    /// Repeats the history of a link, and restores its breakpoints and selection.
    pub fn recall(&mut self, link: &Link) {
        for text in link.breakpoints.iter().take(MAX_BREAKPOINTS) {
            self.clock(TimelineMsg::Break(text.clone()));
        }
        if let Some(speed) = link.speed.filter(|speed| speed.is_finite()) {
            self.clock(TimelineMsg::Speed(speed));
        }
        if link.by_cause {
            self.clock(TimelineMsg::ByCause(true));
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
            // A link is untrusted: times must not decrease, and must end within [`LONGEST_HISTORY_US`].
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
                        RecordedAction {
                            steps,
                            time: now,
                            action: action.clone(),
                        }
                    });
            let commands: Vec<_> = commands.collect();
            let end = (
                steps.max(history.end.0),
                now.max(Time(history.end.1.min(LONGEST_HISTORY_US))),
            );
            // Finds the text applied last, unless the link's own text was applied: a remedy applies missing objects as a text of its own.
            let applies = || {
                commands.iter().rev().filter_map(|recorded| {
                    if let Action::Apply(text) = &recorded.action {
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
                .filter(|recorded| !self.demo.has_run(recorded.time.0 / 1000));
            self.console.remember(own.map(|recorded| &recorded.action));
            self.editor.leftovers = Default::default();
            self.editor
                .restore(self.editor.text.clone(), applied.unwrap_or_default());
            let cluster = history
                .cluster
                .map_or_else(ClusterConfig::default, InitialCluster::config);
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

    /// Opens a record of `loopscope serve` dropped on the editor or pasted into it.
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

    /// Parses the lesson in the editor; its errors are shown there.
    pub(super) fn read_lesson(&mut self, begins: bool) -> Option<Lesson> {
        let read = lesson::parse(&self.editor.text);
        self.editor
            .show_lesson(read.as_ref().err().map_or(&[], Vec::as_slice), begins);
        read.ok()
    }

    /// Begins the lesson in the editor.
    pub(super) fn begin_own_lesson(&mut self) {
        let Some(lesson) = self.read_lesson(true) else {
            return;
        };
        let mut timeline = self.new_timeline(Run::of(lesson.cluster.clone(), lesson.seed));
        // The author of a lesson restarts it often: keep the speed.
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
        // Restarting a lesson of one's own loses nothing, and neither does replacing a cluster on which nothing was done.
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

    /// Returns true if undoing the replacement is offered: not during a lesson, whose own beginning it would undo.
    pub fn offers_undo(&self) -> bool {
        self.replacing.before.is_some() && self.player.is_none()
    }

    /// Returns true if starting over would lose an unapplied text or a person's actions.
    fn has_work(&self) -> bool {
        self.replacing.acted || self.editor.text != self.editor.applied
    }

    pub(super) fn replace(&mut self, msg: ReplaceMsg) {
        match msg {
            // A finished lesson is replaced without asking.
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
        // Starting over during a lesson restarts the lesson.
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
        // A new example starts at normal speed.
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
        // The example's output belongs to the cluster that was replaced, and nobody asked for it.
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
        self.timeline.end_causal_pace();
        self.update(Msg::Load(text, view));
        if let Some(example) = with.example() {
            // Further output is of another cluster.
            if !self.console.lines.is_empty() {
                self.submit_line(ConsoleMsg::Print(vec![actions::OutputLine::new(
                    ["# ", example.file].concat(),
                    false,
                )]));
            }
            self.editor.leftovers.from_page = true;
            self.demo.begin(example.script, &self.timeline.run);
        }
    }

    /// Creates a clock for another run, with the same breakpoints.
    fn new_timeline(&self, run: Run) -> Timeline {
        let mut timeline = Timeline::new(run);
        timeline.run.epoch = self.timeline.run.epoch;
        timeline.breakpoints.clone_from(&self.timeline.breakpoints);
        timeline.breakpoints.forget();
        timeline.by_cause = self.timeline.by_cause;
        timeline.by_cause_before = self.timeline.by_cause_before;
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

    /// Runs the step of the example that is due.
    pub(super) fn play_demo(&mut self) {
        // Output of a repeating script would fill the console, which is the person's.
        let once = self.demo.next_line().is_some();
        if let Some(line) = self.demo.step(&self.timeline.run) {
            let answer = self
                .timeline
                .run
                .command(Action::Kubectl(line.as_str().into()));
            if once {
                let told = actions::OutputLine::new(["# ", &line].concat(), false);
                self.submit_line(ConsoleMsg::Print([vec![told], answer.lines].concat()));
            }
        }
    }
}
