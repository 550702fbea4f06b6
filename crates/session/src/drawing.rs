//! The picture on the stage, and the caches from which it is drawn.

use super::journal_marks::READ_ENTRIES;
use super::pod_cache::PodCache;
use super::run::Run;
use super::selection::Selection;
use apiserver::Actor;
use apiserver::journal::Entry;
use explain::control_loop;
use i18n::{Message, msg};
use k8s_model::{Kind, Object, ObjectRef};
use projection::adapt::{self, ModelReading, Scope};
use projection::budget::Budget;
use projection::model::{Model, Service};
use projection::rollout_track::Extent;
use projection::stale;
use sim_core::deferred_drop;
use std::rc::Rc;
use views::grouping::Grouping;
use views::shape::Scene;
use views::view::{Source, View, ViewMemory};

/// State of the picture in a few words.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pill {
    /// Words.
    pub words: Message,
    /// CSS class of the state, and its glyph.
    pub class: &'static str,
    /// Glyph; empty without a state.
    pub glyph: &'static str,
    /// Object that the words are about, if any.
    pub of: Option<ObjectRef>,
}

/// Write of the newest pass at the instant shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteShown {
    /// Number of its entry in the journal.
    pub entry: usize,
    /// Uid of the object written.
    pub object: Rc<str>,
    /// True if the loop that reconciles the object's owner wrote it.
    pub by_owner: bool,
}

/// Contents of the stage.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Picture {
    /// Diagram.
    pub scene: Rc<Scene>,
    /// Writes of the newest pass whose objects are in the diagram.
    pub writes: Rc<[WriteShown]>,
    /// Budget strip over it.
    pub budget: Option<Rc<Budget>>,
    /// Pill in its head.
    pub pill: Option<Pill>,
    /// Namespaces to choose from.
    pub namespaces: Rc<Vec<String>>,
    /// Number of objects hidden by the filter.
    pub hidden: usize,
    /// Diagram of the picture: the page may have switched to another while it was made.
    pub view: Option<&'static View>,
    /// Changes with every rewind.
    pub epoch: u64,
    /// Changes with the namespace, the filter and the grouping.
    pub part: u64,
}

/// Virtual time for which a write is shown, in microseconds.
const WRITE_SHOWN_US: u64 = 1_000_000;
/// Number of items from which single writes are not shown.
const MANY_ITEMS: usize = 400;

/// Number of entries of a pass that are looked at.
const PASS_ENTRIES: usize = 64;

/// Returns true if an entry is shown as it happens.
fn is_fresh(entry: &Entry, run: &Run) -> bool {
    entry.time.0 + WRITE_SHOWN_US >= run.sim().now().0
}

/// Writes of the newest pass at the instant shown whose objects are in the scene, oldest first.
fn writes_shown(run: &Run, scene: &Scene) -> Vec<WriteShown> {
    if scene.items.len() > MANY_ITEMS {
        return Vec::new();
    }
    let is_write = |entry: &Entry| !entry.is_event() && entry.write().is_some();
    let entries = run.journal().first(run.happened());
    let recent = entries
        .iter()
        .enumerate()
        .rev()
        .take(PASS_ENTRIES)
        .take_while(|(_, entry)| is_fresh(entry, run))
        .filter(|(_, entry)| is_write(entry));
    let mut pass = None;
    let mut writes: Vec<WriteShown> = recent
        .take_while(|(_, entry)| {
            let of = (&entry.actor, entry.pass, entry.time);
            *pass.get_or_insert(of) == of
        })
        .filter_map(|(at, entry)| {
            let (_, object) = entry.write()?;
            let uid = object.meta.uid.to_string();
            scene.items.iter().find(|item| item.id.is_of(&uid))?;
            let owner = object.meta.controller();
            Some(WriteShown {
                entry: at,
                object: uid.into(),
                by_owner: owner.is_some_and(|owner| {
                    let mut kinds = control_loop::reconciled(entry.actor.component);
                    kinds.any(|kind| owner.kind == kind.name())
                }),
            })
        })
        .collect();
    writes.reverse();
    writes
}

/// Key of a picture: the inputs from which it was drawn.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct DrawingKey {
    version: (u64, usize),
    happened: usize,
    view: &'static View,
    selected: Option<ObjectRef>,
    selected_loop: Option<Actor>,
    namespace: Option<String>,
    filter: String,
    grouping: Grouping,
    stage: (f64, f64),
    beside: Option<Rc<Extent>>,
    /// Advances with time while the picture changes without a write.
    tick: i64,
    /// True while the newest entry is shown as it happens.
    is_fresh: bool,
}

/// Version of a picture of another history.
const OTHER_HISTORY: (u64, usize) = (u64::MAX, usize::MAX);

/// Number of controllers and Services above which each part of a picture is made in a frame of its own, so that no frame is blocked.
const PARTED: usize = 1000;
/// Controllers or Services read in one of these frames; half as many of controllers that were written since the last read.
const READ_AT_ONCE: usize = 1250;

/// Picture that is being made in parts.
struct Making {
    key: DrawingKey,
    /// True if there are more than [`PARTED`] objects.
    is_large: bool,
    part: Part,
    /// Parts of the picture besides the scene.
    picture: Picture,
    /// Services, whose problems the pill reports.
    services: Vec<Rc<Service>>,
}

/// Next part to make, with the intermediate result so far.
enum Part {
    /// Some workloads are read.
    Workloads(ModelReading),
    /// All workloads are read.
    Services(ModelReading),
    /// The Services are listed.
    Listed(ModelReading),
    /// The Services are read.
    Policies(ModelReading),
    /// Autoscalers and budgets are read.
    Others(ModelReading),
    /// The whole cluster is read.
    Beside(Box<Model>),
    /// The parts beside the diagram are made.
    Counters(Box<Model>),
    /// The counters that lag behind their Pods are marked; the scene may be partly laid out.
    Layout(Box<Model>),
    /// The scene is laid out.
    Standing(Scene),
    /// The state of its workloads is known.
    Whole(Scene),
    /// Compared with the previous picture; shown in the next frame, which also diffs the page's elements.
    Compared(Rc<Picture>),
}

/// The picture on the stage, and the caches from which it is drawn.
pub struct Drawing {
    /// Size of the stage in CSS pixels.
    pub stage: (f64, f64),
    pub(super) pods: PodCache,
    pub(super) drawn: Option<(DrawingKey, Rc<Picture>)>,
    making: Option<Making>,
    /// Earlier scenes that may still be in use.
    retired_scenes: Vec<Rc<Scene>>,
    pub(super) memory: ViewMemory,
}

impl Default for Drawing {
    fn default() -> Drawing {
        Drawing {
            stage: (800.0, 560.0),
            pods: PodCache::default(),
            drawn: None,
            making: None,
            retired_scenes: Vec::new(),
            memory: ViewMemory::default(),
        }
    }
}

impl Drawing {
    /// Scope of the cluster to read.
    pub fn scope(&self, run: &Run, selection: &Selection) -> Scope {
        Scope {
            namespace: selection.namespace.clone(),
            filter: selection.filter.clone(),
            now: run.wall(),
            lags: !self.pods.is_current(run),
            nodes: selection.view.uses.nodes,
            unfolded: if selection.view.uses.groups {
                selection.grouping.folded.clone()
            } else {
                Default::default()
            },
        }
    }

    /// Marks the picture as one of another history: it is shown only until there is a new one.
    pub fn forget(&mut self) {
        self.making = None;
        if let Some((key, _)) = &mut self.drawn {
            key.version = OTHER_HISTORY;
        }
    }

    /// Returns the pill of the last picture, if it is of this history.
    pub fn standing(&self) -> Message {
        let drawn = self
            .drawn
            .as_ref()
            .filter(|(key, _)| key.version != OTHER_HISTORY);
        drawn
            .and_then(|(_, picture)| picture.pill.as_ref())
            .map(|pill| pill.words.clone())
            .unwrap_or_default()
    }

    /// Returns true while the diagram shown is still being read.
    pub fn lags(&self) -> bool {
        self.is_drawing() || self.memory.lags || self.pods.pods.lags()
    }

    /// Returns true while a picture is being made in parts: the clock waits, since a picture is of one instant.
    pub fn is_drawing(&self) -> bool {
        self.making.is_some()
    }

    /// Draws the picture. Returns the same pointer as before if nothing in it has changed.
    pub fn picture(&mut self, run: &Run, selection: &Selection) -> Rc<Picture> {
        while !self.pods.read(run, usize::MAX) {}
        self.draw(run, selection, usize::MAX)
    }

    /// Draws from the cached Pods, re-sorting at most `most` nodes; returns the previous picture while Pods are being read after a jump.
    pub fn draw(&mut self, run: &Run, selection: &Selection, most: usize) -> Rc<Picture> {
        if let (true, Some((_, picture))) = (self.pods.is_backfilling(), &self.drawn) {
            return picture.clone();
        }
        let key = DrawingKey {
            version: self.pods.position.unwrap_or_default(),
            happened: run.happened(),
            view: selection.view,
            selected: selection.selected.clone(),
            selected_loop: selection.selected_loop.clone(),
            namespace: selection.namespace.clone(),
            filter: selection.filter.clone(),
            grouping: selection.grouping.clone(),
            stage: self.stage,
            beside: self.memory.beside.clone(),
            tick: match (selection.view.refresh_ms)(run.sim()) {
                Some(ms) if self.pods.pods.leave() => run.wall() / ms.min(100),
                Some(ms) => run.wall() / ms,
                None if self.pods.pods.leave() => run.wall() / 100,
                None => 0,
            },
            is_fresh: (run.journal().first(run.happened()).last())
                .is_some_and(|newest| is_fresh(newest, run)),
        };
        // Work on a picture with another key is discarded.
        let making = self.making.take().filter(|making| making.key == key);
        if let (None, Some((drawn, picture))) = (&making, &self.drawn)
            && *drawn == key
            && !self.memory.lags
            && !self.pods.pods.lags()
        {
            return picture.clone();
        }
        let at_once = if most < usize::MAX {
            READ_AT_ONCE
        } else {
            most
        };
        let begins = making.is_none();
        let mut making = making.unwrap_or_else(|| self.begin(run, selection, key));
        // Without a previous picture there is nothing to show until this one is complete.
        let before = self
            .drawn
            .as_ref()
            .filter(|_| making.is_large && most < usize::MAX)
            .map(|(_, picture)| picture.clone());
        if let (true, Some(before), Part::Workloads(reading)) = (begins, &before, &making.part)
            && reading.controllers() > at_once
        {
            // Listing the objects takes as long as reading that many of them.
            self.making = Some(making);
            return before.clone();
        }
        loop {
            making.part = match making.part {
                Part::Workloads(mut reading) => {
                    let all = reading.roots(&mut self.pods.pods, at_once);
                    if all {
                        Part::Services(reading)
                    } else {
                        Part::Workloads(reading)
                    }
                }
                Part::Services(mut reading) => {
                    reading.list_services(&all(run), &self.scope(run, selection));
                    Part::Listed(reading)
                }
                Part::Listed(mut reading) => {
                    let scope = self.scope(run, selection);
                    let done = reading.services(&all(run), &mut self.pods.pods, &scope, at_once);
                    if done {
                        Part::Policies(reading)
                    } else {
                        Part::Listed(reading)
                    }
                }
                Part::Policies(mut reading) => {
                    let scope = self.scope(run, selection);
                    reading.policies(&all(run), &self.pods.pods, &scope);
                    Part::Others(reading)
                }
                Part::Others(reading) => {
                    Part::Beside(Box::new(self.read_others(run, selection, reading)))
                }
                Part::Beside(mut model) => {
                    self.read_beside(run, selection, &mut model, &mut making.picture);
                    Part::Counters(model)
                }
                Part::Counters(mut model) => {
                    if selection.view.uses.counters {
                        let scope = self.scope(run, selection);
                        stale::mark(
                            &mut model,
                            run.sim(),
                            &self.pods.pods,
                            &scope,
                            self.pods.is_current(run),
                        );
                    }
                    Part::Layout(model)
                }
                Part::Layout(mut model) => match self.lay_out(run, selection, most, &mut model) {
                    Some(scene) => {
                        deferred_drop::drop_later(model.roots);
                        deferred_drop::drop_later(model.claims);
                        deferred_drop::drop_later(model.policies);
                        making.services = model.services;
                        Part::Standing(scene)
                    }
                    None => Part::Layout(model),
                },
                Part::Standing(scene) => {
                    making.picture.pill = self.pill(run, selection, &scene, &making.services);
                    making.picture.writes = writes_shown(run, &scene).into();
                    Part::Whole(scene)
                }
                Part::Whole(scene) => {
                    Part::Compared(self.compare(scene, std::mem::take(&mut making.picture)))
                }
                Part::Compared(picture) => {
                    self.show(making.key, picture.clone());
                    return picture;
                }
            };
            if let Some(before) = before {
                self.making = Some(making);
                return before;
            }
        }
    }

    fn begin(&mut self, run: &Run, selection: &Selection, key: DrawingKey) -> Making {
        let scope = self.scope(run, selection);
        let reading = ModelReading::begin(&all(run), &mut self.pods.pods, &scope);
        let is_large = reading.controllers() + run.sim().store().count(Kind::Service) > PARTED;
        let picture = Picture {
            view: Some(selection.view),
            epoch: run.epoch,
            part: selection.part(),
            ..Picture::default()
        };
        Making {
            key,
            is_large,
            part: Part::Workloads(reading),
            picture,
            services: Vec::new(),
        }
    }

    /// Reads the rest of the cluster.
    fn read_others(&mut self, run: &Run, selection: &Selection, reading: ModelReading) -> Model {
        let scope = self.scope(run, selection);
        let mut model = reading.finish(&all(run), &mut self.pods.pods, &scope);
        adapt::hint_unanswered(&mut model.services, run.sim());
        for volume in &mut model.volumes {
            volume.data = content(run, &volume.id.name);
        }
        let selected = selection.object(run).cloned();
        model.chosen = selected
            .as_ref()
            .and_then(|object| self.pods.pods.get(object.meta.uid))
            .cloned();
        model
    }

    /// Reads the parts beside the diagram: the budget of a rollout, the list of namespaces.
    fn read_beside(
        &mut self,
        run: &Run,
        selection: &Selection,
        model: &mut Model,
        picture: &mut Picture,
    ) {
        let scope = self.scope(run, selection);
        let selected = selection.object(run).cloned();
        let budget = selection.view.uses.budget.then(|| {
            adapt::budget(&all(run), &self.pods.pods, &scope, selected.as_deref()).map(Rc::new)
        });
        picture.budget = budget.flatten();
        picture.namespaces = Rc::new(adapt::namespaces(&all(run), &self.pods.pods));
        picture.hidden = model.hidden;
        // On a phone there is no budget strip over the diagram.
        if self.stage.0 < 560.0 && self.stage.1 >= self.stage.0 {
            model.budget = picture.budget.clone();
        }
    }

    /// Lays out the scene; `None` until it is complete.
    fn lay_out(
        &mut self,
        run: &Run,
        selection: &Selection,
        most: usize,
        model: &mut Model,
    ) -> Option<Scene> {
        (
            self.memory.nodes.budget,
            self.memory.lags,
            self.memory.is_cut,
        ) = (most, false, false);
        let scope = self.scope(run, selection);
        let uid = selection
            .object(run)
            .map(|object| object.meta.uid.to_string());
        let source = source(
            run,
            selection,
            (&self.pods, &scope),
            uid.as_deref(),
            self.stage,
            most,
        );
        let mut scene = (selection.view.draw)(model, &source, &mut self.memory);
        if self.memory.is_cut {
            deferred_drop::drop_later(scene.items);
            return None;
        }
        scene.stage = self.stage;
        scene.failed = self.pods.pods.failed();
        Some(scene)
    }

    /// Returns the picture of a scene, or the previous one if nothing differs.
    fn compare(&self, mut scene: Scene, picture: Picture) -> Rc<Picture> {
        let Some((_, old)) = &self.drawn else {
            return Rc::new(Picture {
                scene: Rc::new(scene),
                ..picture
            });
        };
        // Equal parts keep their pointer, so that their components need not compare them.
        let scene = if scene.keep(&old.scene) && *old.scene == scene {
            old.scene.clone()
        } else {
            Rc::new(scene)
        };
        let picture = Picture { scene, ..picture };
        if Rc::ptr_eq(&old.scene, &picture.scene) && **old == picture {
            old.clone()
        } else {
            Rc::new(picture)
        }
    }

    fn show(&mut self, key: DrawingKey, picture: Rc<Picture>) {
        if let Some((_, old)) = self.drawn.replace((key, picture.clone()))
            && !Rc::ptr_eq(&old, &picture)
        {
            self.retire(old.scene.clone());
        }
    }

    /// Extent of the diagram's axes, if it has axes.
    pub fn extent(&mut self, run: &Run, selection: &Selection, most: usize) -> Option<Rc<Extent>> {
        let read = selection.view.extent?;
        let scope = self.scope(run, selection);
        read(
            &source(run, selection, (&self.pods, &scope), None, self.stage, most),
            &mut self.memory,
        )
        .map(Rc::new)
    }

    /// Sets the axis extent of the diagram beside this one.
    pub fn set_beside(&mut self, extent: Option<Rc<Extent>>) {
        self.memory.beside = extent;
    }

    /// Frees a large scene in parts once it is no longer in use.
    fn retire(&mut self, scene: Rc<Scene>) {
        self.retired_scenes.push(scene);
        for scene in std::mem::take(&mut self.retired_scenes) {
            match Rc::try_unwrap(scene) {
                Ok(scene) => deferred_drop::drop_later(scene.items),
                Err(scene) => self.retired_scenes.push(scene),
            }
        }
    }
}

/// Builds the source from which a diagram is drawn.
fn source<'a>(
    run: &'a Run,
    selection: &'a Selection,
    (pods, scope): (&'a PodCache, &'a Scope),
    uid: Option<&'a str>,
    stage: (f64, f64),
    most: usize,
) -> Source<'a> {
    Source {
        sim: run.sim(),
        history: run.journal().first(run.happened()),
        epoch: run.epoch,
        pods: &pods.pods,
        all_read: pods.is_current(run),
        scope,
        selected: selection.selected.as_ref(),
        uid,
        chosen: selection.selected_loop.as_ref(),
        grouping: &selection.grouping,
        stage,
        read_limit: READ_ENTRIES.max(most),
    }
}

/// Returns a function that lists all objects of a kind.
fn all(run: &Run) -> impl Fn(Kind) -> Vec<Rc<Object>> {
    |kind| run.sim().store().list(kind).cloned().collect()
}

/// Returns the first line of a volume's only file, or the number of its files.
fn content(run: &Run, volume: &str) -> Message {
    let disk = format!("volume/{volume}");
    let files: Vec<_> = run.sim().disks.list(&disk).collect();
    match files[..] {
        [] => Message::default(),
        [(_, text)] if text.lines().next().is_some() => {
            Message::name(i18n::format::middle(text.lines().next().unwrap_or(""), 18))
        }
        ref files => msg::volume_files(files.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::{PARTED, READ_AT_ONCE};
    use crate::Msg;
    use crate::State;
    use crate::console::ConsoleMsg;
    use crate::editor::EditorMsg;
    use crate::examples;
    use crate::pacing::FramePacing;
    use crate::selection::SelectionMsg;
    use crate::tests::{ready, settled};
    use crate::timeline::TimelineMsg;
    use i18n::Message;
    use k8s_model::Time;
    use std::cell::Cell;
    use std::rc::Rc;
    use views::shape::CardBody;

    #[test]
    fn a_rollout_is_followed_by_revision_and_again_after_a_seek() {
        let mut state = settled((examples::ALL[0].text)());
        let image = state.editor.text.replace("nginx:1.7.9", "nginx:1.9.1");
        state.update(EditorMsg::Edit(image));
        state.update(Msg::Apply);
        state.update(SelectionMsg::View(&views::rollout::VIEW));
        state.update(TimelineMsg::Seconds(20));
        let words = |state: &mut State| state.picture().scene.summary.clone();
        let end = words(&mut state);
        assert!(
            end.contains("nginx:1.7.9")
                && end.contains("0 ready, 0 not ready; revision nginx:1.9.1"),
            "{end}"
        );
        state.update(TimelineMsg::Seek(10_000));
        let before = words(&mut state);
        assert!(
            before.ends_with("2 ready, 0 not ready") && !before.contains("1.9.1"),
            "{before}"
        );
        state.update(TimelineMsg::Live);
        assert_eq!(words(&mut state), end);
    }

    #[test]
    fn a_revision_that_was_rolled_back_to_is_not_called_the_newest() {
        for (example, of) in [
            (0, "deployment/nginx-deployment nginx"),
            (2, "statefulset/web nginx"),
        ] {
            let (name, container) = of.split_once(' ').unwrap();
            let mut state = settled((examples::ALL[example].text)());
            state.update(SelectionMsg::View(&views::rollout::VIEW));
            let mut enter = |line: String| {
                state.update(ConsoleMsg::Enter(line));
                state.update(TimelineMsg::Seconds(60));
                state.picture().scene.summary.to_string()
            };
            let updated = enter(format!("kubectl set image {name} {container}=nginx:1.9.9"));
            assert!(!updated.contains("rolled back"), "{updated}");
            let back = enter(format!("kubectl rollout undo {name}"));
            assert!(back.ends_with("revision 3, rolled back from 2"), "{back}");
            let again = enter(format!("kubectl rollout undo {name}"));
            assert!(again.ends_with("revision 4, rolled back from 3"), "{again}");
        }
    }

    #[test]
    fn the_limits_of_a_statefulset_hold_for_an_update_and_a_gap_is_named() {
        let mut state = settled((examples::ALL[2].text)());
        state.update(SelectionMsg::View(&views::rollout::VIEW));
        state.drawing.stage = (900.0, 600.0);
        let words = |state: &mut State| -> Vec<String> {
            let of = |item: &Rc<views::shape::Item>| match &item.body {
                CardBody::Chart(chart) => Some(
                    chart
                        .words
                        .iter()
                        .map(|word| word.text.to_string())
                        .collect::<Vec<_>>(),
                ),
                _ => None,
            };
            state
                .picture()
                .scene
                .items
                .iter()
                .find_map(of)
                .unwrap_or_default()
        };
        let limits = |words: &[String]| {
            words
                .iter()
                .filter(|words| words.starts_with("at "))
                .count()
        };
        assert_eq!(limits(&words(&mut state)), 0);
        state.update(ConsoleMsg::Enter(
            "kubectl delete pod web-0 --wait=false".into(),
        ));
        state.update(TimelineMsg::Seconds(10));
        let told = words(&mut state);
        assert!(
            limits(&told) == 0 && told.contains(&"web-0 deleted by user".into()),
            "{told:?}"
        );
        state.update(ConsoleMsg::Enter(
            "kubectl set image statefulset/web nginx=nginx:1.27".into(),
        ));
        state.update(TimelineMsg::Seconds(1));
        assert_eq!(limits(&words(&mut state)), 2);
    }

    #[test]
    fn the_page_begins_with_the_notes_deployment_and_it_becomes_ready() {
        let mut state = settled((examples::ALL[0].text)());
        assert_eq!(ready(&state.timeline.run), 2);
        let picture = state.picture();
        let kinds: Vec<&str> = picture
            .scene
            .items
            .iter()
            .map(|item| item.id.kind.as_str())
            .collect();
        assert_eq!(kinds, ["Deployment", "ReplicaSet", "Pod", "Pod"]);
        assert!(Rc::ptr_eq(&picture, &state.picture()));
        assert!(
            state
                .marks
                .read(&state.timeline.run)
                .iter()
                .any(|mark| mark.lane == projection::marks::Lane::User)
        );
    }

    #[test]
    fn an_incremental_picture_equals_one_read_from_scratch() {
        let mut state = settled((examples::ALL[2].text)());
        state.timeline.playing = false;
        for line in [
            "kubectl delete pod web-0",
            "kubectl scale sts/web --replicas=5",
            "fault node-down node-1",
            "kubectl delete sts web",
        ] {
            state.update(if line.starts_with("fault") {
                Msg::Fault(line[6..].parse().unwrap())
            } else {
                ConsoleMsg::Enter(line.into()).into()
            });
            for _ in 0..30 {
                let to = Time(state.timeline.run.sim().now().0 + 1_700_000);
                state.advance(to, usize::MAX);
                let followed = state.picture();
                (state.drawing.pods.position, state.drawing.drawn) = (None, None);
                assert_eq!(followed, state.picture(), "{} ms", state.timeline.run.now());
            }
        }
    }

    #[test]
    fn many_nodes_take_turns_and_the_picture_is_the_same_in_the_end() {
        let many = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: many}, spec: {replicas: 300, selector: {matchLabels: {app: many}}, template: {metadata: {labels: {app: many}}, spec: {containers: [{name: web, image: nginx}]}}}}";
        let mut states = [(); 2].map(|()| State::new(many, 1));
        for state in &mut states {
            (4..=9).for_each(|node| {
                state.update(Msg::Fault(format!("add-node node-{node}").parse().unwrap()))
            });
            state.update(SelectionMsg::View(&views::nodes::VIEW));
            state.update(TimelineMsg::Seconds(20));
            while state.timeline.run_until.is_some() {
                state.run_slice(usize::MAX);
            }
        }
        let [parts, whole] = &mut states;
        let turns = |state: &mut State| {
            let mut turns = 1;
            while !state.drawing.pods.read(&state.timeline.run, usize::MAX) {}
            state.marks.read(&state.timeline.run);
            state.draw(1);
            while state.lags() {
                state.draw(1);
                turns += 1;
            }
            turns
        };
        let first = turns(parts);
        assert!(first > 3, "{first}");
        assert_eq!(parts.draw(1).scene, whole.picture().scene);
        // All Pods now have an older revision: each node is re-sorted in turn.
        for state in [&mut *parts, &mut *whole] {
            state.update(ConsoleMsg::Enter(
                "kubectl set image deployment/many web=nginx:1.26".into(),
            ));
            state.update(TimelineMsg::Seconds(1));
        }
        assert!(turns(parts) > 3);
        assert_eq!(parts.draw(1).scene, whole.picture().scene);
        assert_eq!(turns(parts), 1);
    }

    fn empty_deployment(at: usize) -> String {
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: w{at}}}\nspec: {{replicas: 0, selector: {{matchLabels: {{app: w}}}}, \
             template: {{metadata: {{labels: {{app: w}}}}, spec: {{containers: [{{name: c, image: nginx}}]}}}}}}\n---\n"
        )
    }

    #[test]
    fn a_large_picture_is_made_in_several_frames_of_one_instant() {
        let service = |at| {
            format!(
                "apiVersion: v1\nkind: Service\nmetadata: {{name: w{at}}}\nspec: {{selector: {{app: w}}, ports: [{{port: 80}}]}}\n---\n"
            )
        };
        let text: String = (0..PARTED / 2 + 100)
            .map(|at| empty_deployment(at) + &service(at))
            .collect();
        let mut state = State::new(&text, 1);
        while state.timeline.run.goes_on() {
            state.poll();
        }
        let first = state.picture();
        state.update(ConsoleMsg::Enter(
            "kubectl delete deployment w7 --wait=false".into(),
        ));
        state.update(TimelineMsg::Seconds(5));
        while state.timeline.run_until.is_some()
            || !state.drawing.pods.read(&state.timeline.run, usize::MAX)
        {
            state.run_slice(usize::MAX);
        }
        // Until it is complete the previous picture is shown and the clock waits; then the clock catches up.
        let (mut pacing, now, clock) = (
            FramePacing::new(0.0),
            state.timeline.run.now(),
            Cell::new(0.0),
        );
        state.timeline.playing = true;
        let mut frames = 1;
        let second = loop {
            let picture = state.draw(100);
            if !state.drawing.is_drawing() {
                break picture;
            }
            assert!(Rc::ptr_eq(&picture, &first), "frame {frames}");
            clock.set(clock.get() + 16.0);
            assert!(
                state.lags() && pacing.run_slice(&mut state, true, &|| clock.get(), &mut |_| {})
            );
            assert_eq!(state.timeline.run.now(), now);
            frames += 1;
        };
        assert_eq!(frames, 12);
        assert_eq!(second, state.picture());
        pacing.run_slice(&mut state, true, &|| clock.get(), &mut |_| {});
        assert_eq!(state.timeline.run.now() - now, 16 * (frames - 1));
        assert!(!Rc::ptr_eq(&second, &first));
        // A person's change in between is drawn, in place of the picture in progress.
        state.update(ConsoleMsg::Enter(
            "kubectl delete deployment w8 --wait=false".into(),
        ));
        state.update(TimelineMsg::Step);
        state.draw(100);
        state.update(SelectionMsg::View(&views::network::VIEW));
        assert_eq!(
            state.draw(100).view.map(|view| view.id),
            second.view.map(|view| view.id)
        );
        let network = (0..10)
            .map(|_| state.draw(100))
            .last()
            .expect("it is drawn");
        assert_eq!(network.view.map(|view| view.id), Some("network"));
        (state.drawing.pods.position, state.drawing.drawn) = (None, None);
        assert_eq!(*network, *state.picture());
        // Switching back shows the previous picture at once, without waiting for the one begun.
        let service = state
            .timeline
            .run
            .sim()
            .store()
            .list(k8s_model::Kind::Service)
            .next()
            .map(|service| service.key());
        state.update(SelectionMsg::Select(None));
        let network = state.picture();
        state.update(SelectionMsg::Select(service));
        state.draw(100);
        assert!(state.drawing.is_drawing());
        state.update(SelectionMsg::Select(None));
        assert!(Rc::ptr_eq(&network, &state.draw(100)) && !state.drawing.is_drawing());
        // After a change of history, and where nothing was drawn before.
        assert_ne!(state.drawing.standing(), Message::default());
        state.drawing.forget();
        assert_eq!(state.drawing.standing(), Message::default());
        assert!(Rc::ptr_eq(&network, &state.draw(100)) && state.drawing.is_drawing());
        while state.drawing.is_drawing() {
            assert_eq!(state.draw(100), network);
        }
        state.drawing.drawn = None;
        assert_eq!(state.draw(100), network);
        // A lagging picture is made again from the same inputs, until it is complete.
        state.drawing.memory.lags = true;
        let frames = (0..20).take_while(|_| {
            state.draw(100);
            state.drawing.lags()
        });
        assert_eq!(frames.count(), 10);
    }

    #[test]
    fn a_large_picture_is_made_where_none_was_drawn_before() {
        let text: String = (0..READ_AT_ONCE / 2 + 20).map(empty_deployment).collect();
        let mut state = State::new(&text, 1);
        while state.timeline.run.goes_on() {
            state.poll();
        }
        state.update(TimelineMsg::Seconds(5));
        while state.timeline.run_until.is_some()
            || !state.drawing.pods.read(&state.timeline.run, usize::MAX)
        {
            state.run_slice(usize::MAX);
        }
        assert!(state.drawing.drawn.is_none());
        let picture = state.draw(100);
        assert!(!state.drawing.is_drawing() && picture.scene.items.len() > READ_AT_ONCE / 2);
        // With a previous picture, the first part is made in a frame of its own.
        state.drawing.forget();
        assert!(Rc::ptr_eq(&picture, &state.draw(100)) && state.drawing.is_drawing());
        let frames = (0..40).take_while(|_| {
            assert_eq!(state.draw(100), picture);
            state.drawing.is_drawing()
        });
        assert_eq!(frames.count(), 11);
    }

    #[test]
    fn a_filter_leaves_what_it_asks_for_and_says_how_much_it_hides() {
        let mut state = settled((examples::ALL[4].text)());
        let names = |state: &mut State| {
            let picture = state.picture();
            let mut kinds: Vec<String> = picture
                .scene
                .items
                .iter()
                .map(|item| format!("{} {}", item.id.kind, item.id.name))
                .collect();
            kinds.sort();
            (kinds, picture.hidden)
        };
        let (all, hidden) = names(&mut state);
        assert_eq!(hidden, 0);
        state.update(SelectionMsg::Filter("web".into()));
        let (some, hidden) = names(&mut state);
        assert_eq!(
            some,
            ["Pod web-0", "Pod web-1", "Pod web-2", "StatefulSet web"]
        );
        assert_eq!(hidden + some.len(), all.len());
        state.update(SelectionMsg::Filter("kind:pod app=shop".into()));
        assert_eq!(
            names(&mut state)
                .0
                .iter()
                .filter(|name| name.starts_with("Pod"))
                .count(),
            3
        );
    }

    #[test]
    fn nothing_else_moves_while_an_update_goes_on() {
        for (replicas, stage) in [
            (2, (1200.0, 700.0)),
            (4, (1200.0, 700.0)),
            (6, (1200.0, 700.0)),
            (9, (1200.0, 700.0)),
            (4, (480.0, 272.0)),
        ] {
            let text = |name: &str, replicas: usize| {
                format!(
                    "{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: {name}}}, spec: {{replicas: {replicas}, selector: {{matchLabels: {{app: {name}}}}}, \
                     template: {{metadata: {{labels: {{app: {name}}}}}, spec: {{containers: [{{name: c, image: 'nginx:1'}}]}}}}}}}}\n---\n"
                )
            };
            let mut state = settled(&[text("first", replicas), text("second", 2)].concat());
            state.update(Msg::Stage(stage.0, stage.1));
            state.update(ConsoleMsg::Enter(
                "kubectl set image deployment/first c=nginx:2".into(),
            ));
            let mut seen = std::collections::BTreeSet::new();
            for _ in 0..1500 {
                state.update(TimelineMsg::Step);
                let scene = state.picture().scene.clone();
                if scene
                    .items
                    .iter()
                    .filter(|item| {
                        item.id.kind == "ReplicaSet" && item.id.name.starts_with("first")
                    })
                    .count()
                    < 2
                {
                    continue;
                }
                let at = |name: &str| {
                    scene
                        .items
                        .iter()
                        .find(|item| item.id.kind == "Deployment" && item.id.name == name)
                        .expect("it is drawn")
                        .rect
                };
                seen.insert(format!("{:?} {:?}", at("first"), at("second")));
            }
            assert_eq!(seen.len(), 1, "{replicas} {stage:?} {seen:?}");
        }
    }
}
