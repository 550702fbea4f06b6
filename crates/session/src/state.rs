//! State of the page and its update by each message. No web crate, no wall clock.

use super::announcer::Announcer;
use super::compare::{Compare, CompareMsg};
use super::console::{Console, ConsoleMsg};
use super::demo::Demo;
use super::drawing::{Drawing, Picture};
use super::editor::{Editor, EditorMsg};
use super::effect::Effect;
use super::follow::Following;
use super::journal_marks::JournalMarks;
use super::lesson::Player;
use super::msg::Msg;
use super::permalink::Link;
use super::record;
use super::replace::Replacing;
use super::run::Run;
use super::selection::{Selection, SelectionMsg};
use super::stepping::{Stepping, SteppingMsg};
use super::timeline::{Timeline, TimelineMsg};
use actions::{Action, OutputLine};
use explain::control_loop;
use explain::diagnose::Diagnosis;
use explain::remedies;
use explain::standing::{self, Standing};
use explain::waits::Health;
use fault::Fault;
use i18n::{Message, msg};
use k8s_model::{Kind, Object, ObjectRef, Time};
use lesson::format::Tongue;
use std::collections::BTreeMap;
use std::rc::Rc;
use views::card::{self, Card};
use views::shape::Scene;

/// States of stuck or waiting objects, by uid.
pub type Standings = BTreeMap<String, Message>;
/// Maximum number of objects whose state is computed for a list.
const MAX_STANDINGS: usize = 20;
/// Maximum number of objects between a selected one and the outermost that controls it.
const MAX_OWNERS: usize = 8;

/// State of the whole page.
pub struct State {
    /// Clock.
    pub timeline: Timeline,
    /// Manifest.
    pub editor: Editor,
    /// Console.
    pub console: Console,
    /// Current selection.
    pub selection: Selection,
    /// Comparison of snapshots or branches.
    pub compare: Compare,
    /// Announcements for screen readers.
    pub announcer: Announcer,
    /// Picture on the stage, and its caches.
    pub drawing: Drawing,
    /// Script of the example.
    pub demo: Demo,
    /// The pending question about starting over, and its undo.
    pub replacing: Replacing,
    /// Lesson in progress.
    pub player: Option<Player>,
    /// The cluster served elsewhere that the page follows.
    pub following: Option<Following>,
    /// Marks of the timeline.
    pub marks: JournalMarks,
    /// Pass of a program that is looked at line by line.
    pub stepping: Option<Stepping>,
}

impl State {
    /// Creates a page with a manifest, applied and playing.
    pub fn new(text: &str, seed: u64) -> State {
        State::of(text, Run::new(seed))
    }

    /// Creates a page with a manifest in an existing cluster.
    pub(super) fn of(text: &str, run: Run) -> State {
        let mut state = State {
            timeline: Timeline::new(run),
            editor: Editor::new(text),
            console: Console::default(),
            selection: Selection::default(),
            compare: Compare::default(),
            announcer: Announcer::default(),
            drawing: Drawing::default(),
            demo: Demo::default(),
            replacing: Replacing::default(),
            player: None,
            following: None,
            marks: JournalMarks::default(),
            stepping: None,
        };
        if lesson::is_lesson(text) {
            state.begin_own_lesson();
        } else {
            state.edit(EditorMsg::Apply { opens: true });
        }
        state
    }

    /// Builds a link to this page.
    pub fn link(&self) -> Link {
        // A learner is given the lesson, with its manifest in the editor.
        let source = self.player.as_ref().and_then(|player| player.source());
        let (text, view) = (
            source.unwrap_or(&self.editor.text).to_owned(),
            self.selection.view.id,
        );
        Link {
            v: 1,
            manifest: Some(text),
            seed: Some(self.timeline.run.seed()),
            view: Some(view.into()),
            ..Link::default()
        }
    }

    /// Handles a message.
    pub fn update(&mut self, msg: impl Into<Msg>) {
        let msg = msg.into();
        if self.timeline.run.applies() && !msg.keeps_apply() {
            self.finish_apply();
        }
        if self.routes_to_server(&msg) {
            return;
        }
        let acts = self.acts(&msg);
        self.note(&msg, acts);
        match msg {
            Msg::Follow(msg) => self.follow(msg),
            Msg::Editor(EditorMsg::Edit(text)) if record::is_record(&text) => {
                self.open_record(&text)
            }
            Msg::Editor(EditorMsg::Check) if lesson::is_lesson(&self.editor.text) => {
                drop(self.read_lesson(false))
            }
            Msg::Apply if lesson::is_lesson(&self.editor.text) => self.begin_own_lesson(),
            Msg::Lesson(msg) => self.teach(msg),
            Msg::Apply if self.editor.leftovers.is_replaced_by(&self.editor.text) => {
                self.apply_fresh()
            }
            Msg::Replace(msg) => self.replace(msg),
            Msg::Begin { moves } => self.begin(moves),
            Msg::CloseOffers => self.demo.hide(),
            Msg::StopDemo => self.demo.stop(),
            Msg::Timeline(msg) if self.is_held(&msg) => {
                self.announcer.say(msg::lesson_clock_stands())
            }
            Msg::Timeline(msg) => self.clock(msg),
            Msg::Editor(msg) => self.edit(msg),
            Msg::Console(msg) => self.submit_line(msg),
            Msg::Selection(msg) => self.select(msg),
            Msg::Compare(msg) => self.compare(msg),
            Msg::Stepping(msg) => self.step_lines(msg),
            Msg::Apply => self.perform(vec![Effect::Apply]),
            Msg::Load(text, view) => {
                self.player = None;
                self.edit(EditorMsg::Load(text));
                self.select(SelectionMsg::Load(view));
                self.clock(TimelineMsg::Restart);
            }
            Msg::Fault(fault) => {
                self.perform(vec![Effect::Fork, Effect::Execute(Action::Fault(fault))])
            }
            Msg::Stage(width, height) => self.drawing.stage = (width, height),
        }
        if acts && !lesson::is_lesson(&self.editor.text) {
            self.editor.outdate(&self.timeline.run);
        }
        self.offer_again();
        self.tick_lesson();
    }

    /// Returns true if a message acts on the cluster, so that starting over would lose work.
    fn acts(&self, msg: &Msg) -> bool {
        match msg {
            Msg::Console(ConsoleMsg::Enter(line) | ConsoleMsg::Run(line)) => {
                !super::console::only_reads(line.trim())
            }
            Msg::Timeline(TimelineMsg::Branch) => self.timeline.run.in_past(),
            // Beginning a lesson is no work on the cluster before it.
            Msg::Apply => !lesson::is_lesson(&self.editor.text),
            Msg::Timeline(TimelineMsg::Switch(_))
            | Msg::Selection(SelectionMsg::Remedy(_))
            | Msg::Compare(CompareMsg::Experiment(_))
            | Msg::Fault(_) => true,
            _ => false,
        }
    }

    /// Stops the example once a person acts on the cluster, its clock or the manifest.
    fn note(&mut self, msg: &Msg, acts: bool) {
        use TimelineMsg::{Live, Pause, Play, Rate, Speed, Toggle};
        match msg {
            Msg::Selection(SelectionMsg::Select(Some(key))) => {
                // A Pod that is being inspected must not be deleted by the script.
                self.demo.stop();
                self.note_looked(Some(key), None);
            }
            Msg::Console(ConsoleMsg::Enter(line) | ConsoleMsg::Run(line)) => {
                self.note_looked(None, Some(line))
            }
            _ => {}
        }
        if acts {
            (self.replacing.acted, self.replacing.before) = (true, None);
            self.editor.leftovers.from_page &= matches!(msg, Msg::Apply);
        }
        let ends = match msg {
            Msg::Timeline(msg) => !matches!(msg, Toggle | Play | Pause | Speed(_) | Rate(_) | Live),
            Msg::Editor(EditorMsg::Edit(text)) => **text != *self.editor.text,
            Msg::Load(..)
            | Msg::Lesson(_)
            | Msg::Stepping(_)
            | Msg::Console(ConsoleMsg::Enter(_) | ConsoleMsg::Run(_)) => true,
            _ => acts,
        };
        if ends {
            self.demo.end();
        }
    }

    pub(super) fn clock(&mut self, msg: TimelineMsg) {
        if let TimelineMsg::Switch(_) = msg {
            self.compare.keep(&mut self.timeline.run);
        }
        // The snapshots and branches belong to the cluster that was discarded.
        if msg == TimelineMsg::Restart {
            self.compare = Compare::default();
            self.demo.forget();
        }
        let effects = self.timeline.update(msg);
        self.perform(effects);
    }

    pub(super) fn edit(&mut self, msg: EditorMsg) {
        let applies = matches!(msg, EditorMsg::Apply { .. });
        let effects = self.editor.update(msg, &mut self.timeline.run);
        self.perform(effects);
        if applies {
            self.offer_places();
        }
    }

    pub(super) fn select(&mut self, msg: SelectionMsg) {
        let effects = self.selection.update(msg, &self.timeline.run);
        self.perform(effects);
        self.offer_places();
    }

    /// Advances the dry run of the manifest by one document.
    pub fn dry_run_next(&mut self) {
        if self.editor.dry_run_next(&self.timeline.run) {
            self.offer_places();
        }
    }

    /// Offers to put fragments of the manifest into the selected object, or the one that controls it.
    fn offer_places(&mut self) {
        let mut keys: Vec<ObjectRef> = self.selection.selected.iter().cloned().collect();
        let store = self.timeline.run.sim().store();
        while let Some(object) = keys.last().and_then(|key| store.get(key))
            && let Some(owner) = object.meta.controller()
            && let Some(kind) = Kind::from_api(&owner.api_version, &owner.kind)
            && keys.len() < MAX_OWNERS
        {
            keys.push(ObjectRef::new(kind, &object.meta.namespace, &owner.name));
        }
        self.editor.offer_places(&keys);
    }

    pub(super) fn compare(&mut self, msg: CompareMsg) {
        let effects = self
            .compare
            .update(msg, &mut self.timeline.run, &self.selection);
        self.perform(effects);
    }

    pub(super) fn perform(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Announce(notice) => self.announcer.say(notice),
                Effect::AnnounceIfSilent(notice) if self.announcer.notice().is_empty() => {
                    self.announcer.say(notice)
                }
                Effect::AnnounceIfSilent(_) => {}
                Effect::AnnounceFailure(notice) => self.announcer.say_failed(notice),
                Effect::Select(key) => self.select(SelectionMsg::BreakpointHit(key)),
                Effect::StepInto(actor, line) => {
                    self.selection.inspect_loop(actor.clone());
                    self.step_lines(SteppingMsg::Open(actor));
                    self.step_lines(SteppingMsg::Line(line));
                }
                Effect::ApplyStarted => self.select(SelectionMsg::ApplyStarted),
                Effect::SelectCreated(created) => self.select(SelectionMsg::ApplyFinished(created)),
                Effect::Apply if lesson::is_lesson(&self.editor.text) => self.begin_own_lesson(),
                Effect::Apply if self.following.is_some() => {
                    self.send(&Action::Apply(self.editor.text.clone()));
                }
                Effect::Apply => {
                    self.fork();
                    self.edit(EditorMsg::Apply { opens: false });
                }
                Effect::Fork => self.fork(),
                Effect::Execute(command) => drop(self.execute(command)),
                Effect::ExecuteFault(fault) => self.execute_fault(fault),
                Effect::Enter(line) => self.submit_line(ConsoleMsg::Run(line)),
                Effect::Print(lines) => self.submit_line(ConsoleMsg::Print(lines)),
                Effect::HistoryChanged => {
                    self.editor.forget_drift();
                    self.console.forget_jobs(&self.timeline.run);
                    self.marks = JournalMarks::default();
                    self.drawing.forget();
                }
                Effect::BranchesChanged => self.marks.forget_branch(),
            }
        }
    }

    /// Forks the history if an instant of the past is shown; the part after it is kept as a branch.
    fn fork(&mut self) {
        if self.timeline.run.in_past() {
            self.clock(if self.following.is_some() {
                TimelineMsg::Live
            } else {
                TimelineMsg::Branch
            });
        }
    }

    /// Runs an action; returns its first line of failure, if it failed.
    fn execute(&mut self, command: Action) -> Option<String> {
        if self.send(&command) {
            return None;
        }
        let silent = match &command {
            // A fault without an answer of its own is described by its offer.
            Action::Fault(fault) => self
                .offered(&command)
                .unwrap_or_else(|| msg::notice_fault(fault.to_string())),
            _ => Message::default(),
        };
        let prints = matches!(
            command,
            Action::Kubectl(_) | Action::Edited(_) | Action::Apply(_) | Action::Beside(..)
        );
        let answer = self.timeline.run.command(command);
        let first = answer
            .failure
            .or_else(|| answer.lines.first().map(|line| line.text.clone()));
        let notice = first.as_ref().map_or(silent, Message::name);
        if answer.failed {
            self.announcer.say_failed(notice)
        } else {
            self.announcer.say(notice)
        }
        if let Some(number) = answer.job {
            self.console.begin_job(number, &self.timeline.run);
        }
        if prints {
            self.submit_line(ConsoleMsg::Print(answer.lines));
        }
        answer.failed.then(|| first.unwrap_or_default())
    }

    /// Injects a fault, and prints that in the console.
    fn execute_fault(&mut self, fault: Fault) {
        self.fork();
        let injected = msg::notice_fault(fault.to_string()).english();
        let line = match self.execute(Action::Fault(fault)) {
            Some(failure) => OutputLine::new(failure, true),
            None => OutputLine::new(injected, false),
        };
        self.submit_line(ConsoleMsg::Print(vec![line]));
    }

    /// Applies the rest of the apply in progress: the next message concerns its whole result.
    fn finish_apply(&mut self) {
        while self.timeline.run.applies() {
            self.apply_next();
        }
    }

    fn apply_next(&mut self) {
        let effects = self.editor.apply_next(&mut self.timeline.run);
        self.perform(effects);
        self.offer_places();
    }

    /// Continues the apply of a long manifest, or polls the waiting commands.
    pub fn poll(&mut self) {
        if self.timeline.run.applies() {
            self.apply_next();
            return;
        }
        let lines = self.timeline.run.poll();
        self.submit_line(ConsoleMsg::Print(lines));
        self.offer_again();
    }

    /// Offers to apply a manifest again whose kinds are defined by now.
    fn offer_again(&mut self) {
        if let Some(notice) = self.editor.offer_again(&self.timeline.run) {
            self.announcer.say(notice);
        }
    }

    /// Runs towards a time with a budget of tasks, stopping at breakpoints. Returns true when there is nothing left to run.
    pub fn advance(&mut self, to: Time, budget: usize) -> bool {
        self.finish_apply();
        if self.holds_clock() {
            self.timeline.playing = false;
            return true;
        }
        let due = self
            .demo
            .due(&self.timeline.run)
            .or_else(|| self.lesson_due())
            .filter(|due| *due <= to);
        // A lesson has a pace of its own.
        let asked = self
            .timeline
            .playback
            .as_ref()
            .and_then(|playback| playback.advance)
            .filter(|_| due.is_none() && self.player.is_none());
        let (done, effects) = match asked {
            Some(advance) => advance(&mut self.timeline, to, budget),
            None => self.timeline.advance(due.unwrap_or(to), budget),
        };
        self.perform(effects);
        if due.is_some() && done {
            if self.demo.plays() {
                self.play_demo();
            } else {
                self.play_lesson();
            }
        }
        self.tick_lesson();
        self.resume_lesson();
        done && due.is_none()
    }

    /// Runs one slice towards the target of a run at full speed.
    pub fn run_slice(&mut self, budget: usize) {
        self.finish_apply();
        if self.holds_clock() {
            self.timeline.run_until = None;
        }
        let effects = self.timeline.run_slice(budget);
        self.perform(effects);
        self.fast_forward();
        self.tick_lesson();
        self.resume_lesson();
    }

    /// Drops the oldest part of the history if there is no room for more, and announces it.
    pub fn make_room(&mut self) {
        let effects = self.timeline.make_room();
        self.perform(effects);
    }

    /// Stops the clock if dropping was not enough, and announces it.
    pub fn stop_full(&mut self) {
        let effects = self.timeline.stop_full();
        self.perform(effects);
    }

    /// Announces news while the clock runs; the newest decision only with `all`. Returns true if there is a new notice.
    pub fn announce(&mut self, all: bool) -> bool {
        self.announcer
            .announce(all, &self.timeline.run, &self.marks, || {
                self.drawing.standing()
            })
    }

    /// Returns the manifest in effect at an instant of the past, if it is not the text of the editor.
    pub fn applied_then(&self) -> Option<Rc<str>> {
        self.timeline
            .run
            .applied_then()
            .filter(|then| *then != self.editor.text)
    }

    /// Returns the selected object, if it exists at the instant shown.
    pub fn object(&self) -> Option<&Rc<Object>> {
        self.selection.object(&self.timeline.run)
    }

    /// Returns the state of the selected object, given its diagnosis and the remedies that help.
    pub fn standing(&self, found: &[Diagnosis], helps: &[bool]) -> Option<Standing> {
        self.selection
            .selected
            .as_ref()
            .map(|key| standing::standing(self.timeline.run.sim(), key, found, helps))
    }

    /// Returns the states of a diagram's stuck or waiting objects, by uid; limited to the first `MAX_STANDINGS`.
    pub fn standings(&self, scene: &Scene) -> Standings {
        let sim = self.timeline.run.sim();
        // A workload whose old Pods are ready may be stuck nevertheless; a ready Pod is not.
        let keys = scene.items.iter().filter_map(|item| {
            let kind = Kind::from_label(&item.id.kind)
                .filter(|kind| *kind != Kind::Pod || item.state != "ready")?;
            Some((
                item.id.uid.clone(),
                ObjectRef::new(kind, &item.id.namespace, &item.id.name),
            ))
        });
        let asked = keys
            .filter(|(_, key)| sim.store().get(key).is_some())
            .take(MAX_STANDINGS);
        let told = asked.map(|(uid, key)| (uid, standing::of(sim, &key)));
        let worse =
            told.filter(|(_, standing)| matches!(standing.health, Health::Stuck | Health::Waiting));
        worse.map(|(uid, of)| (uid, of.sentence)).collect()
    }

    /// Returns true if the picture or the timeline lags behind the history.
    pub fn lags(&self) -> bool {
        let run = &self.timeline.run;
        self.drawing.lags()
            || self.marks.scanned() < run.journal().len()
            || !self.drawing.pods.is_current(run)
    }

    /// Draws the picture. Returns the same pointer as before if nothing in it has changed.
    pub fn picture(&mut self) -> Rc<Picture> {
        self.compare.share_axes(
            &mut self.drawing,
            &self.timeline.run,
            &self.selection,
            usize::MAX,
        );
        self.drawing.picture(&self.timeline.run, &self.selection)
    }

    /// Draws from the cached Pods, re-sorting at most `most` nodes; returns the previous picture while Pods are being read after a jump.
    pub fn draw(&mut self, most: usize) -> Rc<Picture> {
        // Two branches are drawn at one instant, each completely.
        let most = if self.compare.branch.is_some() {
            usize::MAX
        } else {
            most
        };
        self.compare
            .share_axes(&mut self.drawing, &self.timeline.run, &self.selection, most);
        self.drawing.draw(&self.timeline.run, &self.selection, most)
    }

    /// Describes the effect of an action offered for the selected object or loop.
    pub fn offered(&self, action: &Action) -> Option<Message> {
        let sim = self.timeline.run.sim();
        let of_loop = self
            .selection
            .selected_loop
            .iter()
            .flat_map(|actor| control_loop::offers(sim, actor.component));
        let of_object = self
            .object()
            .map(|object| remedies::of(sim, object))
            .unwrap_or_default();
        let offer = of_object
            .into_iter()
            .chain(of_loop)
            .find(|offer| offer.action == *action)?;
        Some(msg::offer_done(offer.words, offer.title))
    }

    /// Title of the lesson in progress.
    pub fn lesson_title(&self, tongue: Tongue) -> Option<String> {
        let player = self.player.as_ref()?;
        Some(player.file().lesson().title.plain(tongue))
    }

    /// Builds the hover card of an object at the instant shown.
    pub fn card(&self, key: &ObjectRef) -> Option<Card> {
        card::read(
            self.timeline.run.sim(),
            &|object| self.ready_of(object),
            key,
        )
    }

    /// Describes how an object's status lags behind its Pods.
    pub fn status_lag(&self, object: &Object) -> Option<Message> {
        card::lag(self.ready_of(object), object)
    }

    /// Number of ready Pods of a workload: of the Pods drawn, or else of those in the cache of the loops.
    pub fn ready_of(&self, object: &Object) -> usize {
        self.drawing.pods.ready_of(&self.timeline.run, object)
    }
}

#[cfg(test)]
mod tests {
    use crate::Msg;
    use crate::State;
    use crate::editor::EditorMsg;
    use crate::examples;
    use crate::selection::SelectionMsg;
    use crate::tests::{ready, settled};
    use crate::timeline::TimelineMsg;
    use explain::words;
    use k8s_model::Kind;

    #[test]
    fn a_command_in_the_past_forks_the_history_and_the_old_future_is_kept() {
        let mut state = settled((examples::ALL[0].text)());
        let (end, future) = (state.timeline.run.end(), state.timeline.run.objects());
        state.update(TimelineMsg::Seek(500));
        state.update(EditorMsg::Edit((examples::ALL[2].text)().into()));
        state.update(Msg::Apply);
        assert!(!state.timeline.run.in_past());
        assert_eq!(
            (state.timeline.run.end(), state.timeline.run.branches()),
            (500, (2, vec![1]))
        );
        // The abandoned branch is shown on the timeline, from either side.
        let left = |state: &mut State| {
            let left = state
                .marks
                .abandoned_branch(&state.timeline.run)
                .expect("a fork");
            (
                left.number,
                left.at,
                left.marks.iter().all(|mark| mark.at > 500),
                left.marks
                    .iter()
                    .any(|mark| mark.lane == projection::marks::Lane::User),
            )
        };
        assert_eq!(left(&mut state), (2, 500, true, false));
        state.update(TimelineMsg::Seconds(30));
        assert_eq!(ready(&state.timeline.run), 4);
        let other = state.timeline.run.objects();
        state.update(TimelineMsg::Switch(1));
        assert_eq!(
            (state.timeline.run.end(), state.timeline.run.branches()),
            (end, (1, vec![2]))
        );
        assert_eq!(state.timeline.run.objects(), future);
        assert_eq!(left(&mut state), (2, 500, true, false));
        // The past of both can be shown.
        state.update(TimelineMsg::Seek(300));
        state.update(TimelineMsg::Live);
        state.update(TimelineMsg::Switch(2));
        assert_eq!(state.timeline.run.objects(), other);
    }

    #[test]
    fn a_fault_is_part_of_the_history() {
        let mut state = settled((examples::ALL[0].text)());
        let pod = state
            .timeline
            .run
            .sim()
            .store()
            .list(Kind::Pod)
            .next()
            .expect("a Pod")
            .meta
            .name
            .to_string();
        state.update(Msg::Fault(format!("exit pod/{pod} 3").parse().unwrap()));
        state.update(TimelineMsg::Seconds(5));
        let restarts = |state: &State| {
            state
                .timeline
                .run
                .sim()
                .store()
                .list(Kind::Pod)
                .filter_map(|p| p.pod())
                .flat_map(|p| &p.status.container_statuses)
                .map(|c| c.restart_count)
                .sum::<i32>()
        };
        assert_eq!(restarts(&state), 1);
        let now = state.timeline.run.now();
        state.update(TimelineMsg::Seek(100));
        state.update(TimelineMsg::Seek(now - 1));
        assert_eq!(restarts(&state), 1);
    }

    #[test]
    fn a_link_brings_the_same_page_back() {
        let mut state = settled((examples::ALL[2].text)());
        state.update(SelectionMsg::View(&views::storage::VIEW));
        let link =
            crate::permalink::decode(&crate::permalink::encode(&state.link())).expect("a link");
        let again = State::from_link(link.as_ref());
        assert_eq!(again.editor.text, state.editor.text);
        assert_eq!(again.selection.view, &views::storage::VIEW);
    }

    #[test]
    fn the_chain_of_a_pod_ends_at_the_person() {
        let state = settled((examples::ALL[0].text)());
        let pod = state
            .timeline
            .run
            .sim()
            .store()
            .list(Kind::Pod)
            .next()
            .expect("a Pod")
            .key();
        let chain = words::chain(
            state.timeline.run.journal(),
            &state.timeline.run.sim().delays,
            &pod,
            0,
        );
        let actors: Vec<&str> = chain.iter().map(|reason| reason.actor.as_str()).collect();
        assert_eq!(actors.last(), Some(&"user"), "{chain:#?}");
        assert!(actors.contains(&"replicaset-controller"), "{actors:?}");
        assert!(actors.contains(&"deployment-controller"), "{actors:?}");
    }
}
