//! The picture on the stage, and the caches it is drawn from.

use super::annotations;
use super::journal_marks::READ_ENTRIES;
use super::last_scale::{LastScale, updates};
use super::pod_cache::PodCache;
use super::run::Run;
use super::selection::{Selection, first_workload};
use super::view::View;
use crate::api::{Kind, Object, ObjectRef};
use crate::engine::deferred_drop;
use crate::i18n::Message;
use crate::projection::adapt::{self, Scope};
use crate::projection::budget::Budget;
use crate::projection::rollout_track::{self, Tracker};
use crate::projection::totals;
use crate::views::network;
use crate::views::nodes;
use crate::views::ownership;
use crate::views::shape::Scene;
use crate::views::storage;
use std::rc::Rc;

/// Words, the class of the pill and its glyph.
pub type Pill = (Message, &'static str, &'static str);

/// What is on the stage.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Picture {
    /// The diagram.
    pub scene: Rc<Scene>,
    /// The strip over it.
    pub budget: Option<Rc<Budget>>,
    /// The pill in its head: words and the class of the pill.
    pub pill: Option<Pill>,
    /// Namespaces to choose from.
    pub namespaces: Rc<Vec<String>>,
    /// How many objects the filter hides.
    pub hidden: usize,
}

/// What a picture was drawn from.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Key {
    version: (u64, usize),
    happened: usize,
    view: View,
    selected: Option<ObjectRef>,
    selected_loop: Option<String>,
    namespace: Option<String>,
    filter: String,
    stage: (f64, f64),
    /// Tenths of a second while something counts down; for the loops the instant itself, as their queues are no objects.
    tenths: i64,
}

/// What is on the stage, and the caches it is drawn from.
pub struct Drawing {
    /// Size of the stage in CSS pixels.
    pub stage: (f64, f64),
    pub(super) pods: PodCache,
    pub(super) drawn: Option<(Key, Rc<Picture>)>,
    /// Scenes that were drawn before and that somebody may still look at.
    retired_scenes: Vec<Rc<Scene>>,
    /// The nodes as they were last laid out.
    layouts: nodes::Seen,
    last_scale: LastScale,
    pub(super) tracker: Tracker,
}

impl Default for Drawing {
    fn default() -> Drawing {
        Drawing {
            stage: (800.0, 560.0),
            pods: PodCache::default(),
            drawn: None,
            retired_scenes: Vec::new(),
            layouts: nodes::Seen::default(),
            last_scale: LastScale::default(),
            tracker: Tracker::default(),
        }
    }
}

impl Drawing {
    /// What to read of the cluster.
    pub fn scope(&self, run: &Run, selection: &Selection) -> Scope {
        Scope {
            namespace: selection.namespace.clone(),
            filter: selection.filter.clone(),
            now: run.wall(),
            lags: !self.pods.is_current(run),
            nodes: selection.view == View::Nodes,
        }
    }

    /// The history is another one than before.
    pub fn forget(&mut self) {
        self.drawn = None;
    }

    /// The pill of the picture drawn last.
    pub fn standing(&self) -> Message {
        self.drawn.as_ref().and_then(|(_, picture)| picture.pill.as_ref()).map(|pill| pill.0.clone()).unwrap_or_default()
    }

    /// Whether the diagram shown is still being read.
    pub fn lags(&self, view: View) -> bool {
        let own = match view {
            View::Nodes => self.layouts.lags,
            View::Rollout => self.tracker.lags,
            _ => false,
        };
        own || self.pods.pods.lags()
    }

    /// What is on the stage. The same pointer as before if nothing that it shows has changed.
    pub fn picture(&mut self, run: &Run, selection: &Selection) -> Rc<Picture> {
        while !self.pods.read(run, usize::MAX) {}
        self.draw(run, selection, usize::MAX)
    }

    /// The same from what was read of the Pods, with so many nodes put in order anew; where Pods have not been read since a jump, the
    /// picture before it.
    pub fn draw(&mut self, run: &Run, selection: &Selection, most: usize) -> Rc<Picture> {
        if let (true, Some((_, picture))) = (self.pods.is_backfilling(), &self.drawn) {
            return picture.clone();
        }
        let key = Key {
            version: self.pods.position.unwrap_or_default(),
            happened: run.happened(),
            view: selection.view,
            selected: selection.selected.clone(),
            selected_loop: selection.selected_loop.clone(),
            namespace: selection.namespace.clone(),
            filter: selection.filter.clone(),
            stage: self.stage,
            tenths: match selection.view {
                View::Loops => run.wall(),
                View::Rollout => run.wall() / 50,
                _ if self.pods.pods.leave() => run.wall() / 100,
                View::Nodes if run.sim().list(Kind::Node).any(silent) => run.wall() / 1000,
                _ => 0,
            },
        };
        if let Some((drawn, picture)) = &self.drawn
            && *drawn == key
            && !self.lags(selection.view)
        {
            return picture.clone();
        }
        (self.layouts.most, self.layouts.lags) = (most, false);
        let scope = self.scope(run, selection);
        let mut model = adapt::model(&all(run), &mut self.pods.pods, &scope);
        annotations::label_volumes(run, &mut model);
        match selection.view {
            View::Nodes => annotations::label_evictions(run, &mut model),
            View::Ownership => {
                annotations::label_missing_sources(run, &mut model);
                if model.roots.iter().any(updates) {
                    self.last_scale.label(run, &mut model);
                }
            }
            View::Storage => model.removed = annotations::removed(run),
            _ => {}
        }
        // What is left of a tree is not what its status tells of.
        if scope.filter.trim().is_empty() && matches!(selection.view, View::Ownership | View::Storage) {
            // The loops may hear of it late: what is drawn is there.
            let current = self.pods.is_current(run);
            totals::mark(&mut model.roots, &|id| match current {
                true => annotations::drawn_totals(run, &self.pods.pods, id),
                false => annotations::known_totals(run, id),
            });
        }
        let selected = selection.object(run).cloned();
        model.chosen = selected.as_ref().and_then(|object| self.pods.pods.get(object.meta.uid)).cloned();
        let uid = selected.as_ref().map(|object| object.meta.uid.to_string());
        let width = self.stage.0;
        let uid = uid.as_deref();
        let budget = (selection.view == View::Ownership)
            .then(|| adapt::budget(&all(run), &self.pods.pods, &scope, selected.as_deref()).map(Rc::new));
        let budget = budget.flatten();
        let namespaces = Rc::new(adapt::namespaces(&all(run), &self.pods.pods));
        // On a phone there is no strip over the diagram.
        if self.stage.0 < 560.0 && self.stage.1 >= self.stage.0 {
            model.budget = budget.clone();
        }
        let mut scene = match selection.view {
            View::Ownership => ownership::layout(&model, uid, self.stage),
            View::Nodes => nodes::layout(&model, uid, width, &mut self.layouts),
            // A low frame has no room for three rows; claims stand beside their Pods there.
            View::Storage if self.stage.1 < 420.0 && self.stage.0 > self.stage.1 && !model.claims.is_empty() => {
                ownership::claims(&model, uid, self.stage)
            }
            View::Storage => storage::layout(&model, uid, (width, self.stage.1)),
            View::Network if self.stage.1 < ownership::LOW_FRAME => network::layout(&model, uid, width.min(network::NARROW)),
            View::Network => network::layout(&model, uid, width),
            View::Rollout => self.rollout(run, selection, width),
            View::Loops => crate::views::loops::layout::layout(
                &crate::views::loops::model::read(run.sim(), selection.selected_loop.as_deref()),
                self.stage,
            ),
        };
        scene.stage = self.stage;
        scene.failed = self.pods.pods.failed();
        let pill = self.pill(run, selection, &scene);
        let old = self.drawn.take().map(|(_, picture)| picture);
        // Equal parts keep their pointer, so that their components need not look.
        let scene = match &old {
            Some(old) => {
                scene.keep(&old.scene);
                if *old.scene == scene { old.scene.clone() } else { Rc::new(scene) }
            }
            None => Rc::new(scene),
        };
        let picture = Rc::new(Picture { scene, budget, pill, namespaces, hidden: model.hidden });
        let picture = match old {
            Some(old) if *old == *picture => old,
            Some(old) => {
                self.retire(old.scene.clone());
                picture
            }
            None => picture,
        };
        self.drawn = Some((key, picture.clone()));
        picture
    }

    /// A scene of thousands of shapes is taken apart in parts, once nobody looks at it.
    fn retire(&mut self, scene: Rc<Scene>) {
        self.retired_scenes.push(scene);
        for scene in std::mem::take(&mut self.retired_scenes) {
            match Rc::try_unwrap(scene) {
                Ok(scene) => deferred_drop::drop_later(scene.items),
                Err(scene) => self.retired_scenes.push(scene),
            }
        }
    }

    /// The chart of the selected workload, or of the first there is.
    fn rollout(&mut self, run: &Run, selection: &Selection, width: f64) -> Scene {
        let get = |key: &ObjectRef| run.get(key).cloned();
        let selected = selection.selected.as_ref().and_then(|key| rollout_track::subject(key, &get));
        let Some(object) = selected.or_else(|| first_workload(run).and_then(|key| rollout_track::subject(&key, &get))) else {
            self.tracker.lags = false;
            return Scene::default();
        };
        let (epoch, now) = (run.epoch, run.now());
        let journal = run.journal().first(run.happened());
        let track = self.tracker.read(&object, journal, epoch, now, READ_ENTRIES.max(self.layouts.most));
        crate::views::rollout::layout(track, width, self.stage.1)
    }
}

/// Hands out all objects of a kind.
fn all(run: &Run) -> impl Fn(Kind) -> Vec<Rc<Object>> {
    |kind| run.sim().list(kind).cloned().collect()
}

/// Whether nobody hears of a node, or it says itself that it is not ready.
fn silent(node: &Rc<Object>) -> bool {
    matches!(&node.body, crate::api::Body::Node(node) if !node.is_ready())
}

#[cfg(test)]
mod tests {
    use crate::api::Time;
    use crate::session::Msg;
    use crate::session::State;
    use crate::session::examples;
    use crate::session::tests::{ready, settled};
    use crate::session::view::View;
    use crate::views::shape::Body;
    use std::rc::Rc;

    #[test]
    fn a_rollout_is_followed_by_revision_and_again_after_a_seek() {
        let mut state = settled((examples::ALL[0].text)());
        let image = state.editor.text.replace("nginx:1.7.9", "nginx:1.9.1");
        state.update(Msg::Edit(image));
        state.update(Msg::Apply);
        state.update(Msg::View(View::Rollout));
        state.update(Msg::Seconds(20));
        let words = |state: &mut State| state.picture().scene.summary.clone();
        let end = words(&mut state);
        assert!(end.contains("nginx:1.7.9") && end.contains("0 ready, 0 not ready; revision nginx:1.9.1"), "{end}");
        state.update(Msg::Seek(10_000));
        let before = words(&mut state);
        assert!(before.ends_with("2 ready, 0 not ready") && !before.contains("1.9.1"), "{before}");
        state.update(Msg::Live);
        assert_eq!(words(&mut state), end);
    }

    #[test]
    fn the_limits_of_a_statefulset_hold_for_an_update_and_a_gap_is_named() {
        let mut state = settled((examples::ALL[2].text)());
        state.update(Msg::View(View::Rollout));
        state.drawing.stage = (900.0, 600.0);
        let words = |state: &mut State| -> Vec<String> {
            let of = |item: &Rc<crate::views::shape::Item>| match &item.body {
                Body::Chart(chart) => Some(chart.words.iter().map(|word| word.4.to_string()).collect::<Vec<_>>()),
                _ => None,
            };
            state.picture().scene.items.iter().find_map(of).unwrap_or_default()
        };
        let limits = |words: &[String]| words.iter().filter(|words| words.starts_with("at ")).count();
        assert_eq!(limits(&words(&mut state)), 0);
        state.update(Msg::Kubectl("kubectl delete pod web-0 --wait=false".into()));
        state.update(Msg::Seconds(10));
        let told = words(&mut state);
        assert!(limits(&told) == 0 && told.contains(&"web-0 deleted by you".into()), "{told:?}");
        state.update(Msg::Kubectl("kubectl set image statefulset/web nginx=nginx:1.27".into()));
        state.update(Msg::Seconds(1));
        assert_eq!(limits(&words(&mut state)), 2);
    }

    #[test]
    fn the_page_begins_with_the_notes_deployment_and_it_becomes_ready() {
        let mut state = settled((examples::ALL[0].text)());
        assert_eq!(ready(&state.timeline.run), 2);
        let picture = state.picture();
        let kinds: Vec<&str> = picture.scene.items.iter().map(|item| item.id.kind.as_str()).collect();
        assert_eq!(kinds, ["Deployment", "ReplicaSet", "Pod", "Pod"]);
        assert!(Rc::ptr_eq(&picture, &state.picture()));
        assert!(state.marks().iter().any(|mark| mark.lane == 0));
    }

    #[test]
    fn a_picture_that_has_followed_the_writes_is_the_one_that_is_read_anew() {
        let mut state = settled((examples::ALL[2].text)());
        state.timeline.playing = false;
        for line in ["kubectl delete pod web-0", "kubectl scale sts/web --replicas=5", "fault node-down node-1", "kubectl delete sts web"] {
            state.update(if line.starts_with("fault") { Msg::Fault(line[6..].into()) } else { Msg::Kubectl(line.into()) });
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
            (4..=9).for_each(|node| state.update(Msg::Fault(format!("add-node node-{node}"))));
            state.update(Msg::View(View::Nodes));
            state.update(Msg::Seconds(20));
            while state.timeline.run_until.is_some() {
                state.run_slice(usize::MAX);
            }
        }
        let [parts, whole] = &mut states;
        let turns = |state: &mut State| {
            let mut turns = 1;
            while !state.read(usize::MAX) {}
            state.marks();
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
        // All Pods are of an older revision then: again each node has its turn.
        for state in [&mut *parts, &mut *whole] {
            state.update(Msg::Kubectl("kubectl set image deployment/many web=nginx:1.26".into()));
            state.update(Msg::Seconds(1));
        }
        assert!(turns(parts) > 3);
        assert_eq!(parts.draw(1).scene, whole.picture().scene);
        assert_eq!(turns(parts), 1);
    }

    #[test]
    fn a_filter_leaves_what_it_asks_for_and_says_how_much_it_hides() {
        let mut state = settled((examples::ALL[4].text)());
        let names = |state: &mut State| {
            let picture = state.picture();
            let mut kinds: Vec<String> = picture.scene.items.iter().map(|item| format!("{} {}", item.id.kind, item.id.name)).collect();
            kinds.sort();
            (kinds, picture.hidden)
        };
        let (all, hidden) = names(&mut state);
        assert_eq!(hidden, 0);
        state.update(Msg::Filter("web".into()));
        let (some, hidden) = names(&mut state);
        assert_eq!(some, ["Pod web-0", "Pod web-1", "Pod web-2", "StatefulSet web"]);
        assert_eq!(hidden + some.len(), all.len());
        state.update(Msg::Filter("kind:pod app=shop".into()));
        assert_eq!(names(&mut state).0.iter().filter(|name| name.starts_with("Pod")).count(), 3);
    }

    #[test]
    fn nothing_else_moves_while_an_update_goes_on() {
        for (replicas, stage) in
            [(2, (1200.0, 700.0)), (4, (1200.0, 700.0)), (6, (1200.0, 700.0)), (9, (1200.0, 700.0)), (4, (480.0, 272.0))]
        {
            let text = |name: &str, replicas: usize| {
                format!(
                    "{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: {name}}}, spec: {{replicas: {replicas}, selector: {{matchLabels: {{app: {name}}}}}, \
                     template: {{metadata: {{labels: {{app: {name}}}}}, spec: {{containers: [{{name: c, image: 'nginx:1'}}]}}}}}}}}\n---\n"
                )
            };
            let mut state = settled(&[text("first", replicas), text("second", 2)].concat());
            state.update(Msg::Stage(stage.0, stage.1));
            state.update(Msg::Kubectl("kubectl set image deployment/first c=nginx:2".into()));
            let mut seen = std::collections::BTreeSet::new();
            for _ in 0..1500 {
                state.update(Msg::Step);
                let scene = state.picture().scene.clone();
                if scene.items.iter().filter(|item| item.id.kind == "ReplicaSet" && item.id.name.starts_with("first")).count() < 2 {
                    continue;
                }
                let at = |name: &str| {
                    scene.items.iter().find(|item| item.id.kind == "Deployment" && item.id.name == name).expect("it is drawn").rect
                };
                seen.insert(format!("{:?} {:?}", at("first"), at("second")));
            }
            assert_eq!(seen.len(), 1, "{replicas} {stage:?} {seen:?}");
        }
    }
}
