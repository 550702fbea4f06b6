//! Current selection: the diagram, object and loop, and the filter.

use super::effect::Effect;
use super::run::Run;
use super::trial::{Trial, Verdicts};
use actions::Action;
use apiserver::Actor;
use explain::diagnose::{self, Diagnosis, Remedy};
use i18n::{Message, msg};
use k8s_model::{Kind, Object, ObjectRef};
use projection::adapt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;
use views::grouping::{GroupBy, Grouping};
use views::view::View;

/// Page of the inspector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tab {
    /// Facts.
    Summary,
    /// Object.
    Yaml,
    /// Kubernetes Events.
    Events,
    /// Chain of causes.
    #[default]
    Why,
}

impl Tab {
    /// All tabs, in order.
    pub const ALL: [Tab; 4] = [Tab::Summary, Tab::Yaml, Tab::Events, Tab::Why];

    /// Title of the tab.
    pub fn title(self) -> Message {
        match self {
            Tab::Summary => msg::tab_summary(),
            Tab::Yaml => Message::name("YAML"),
            Tab::Events => msg::tab_events(),
            Tab::Why => msg::tab_why(),
        }
    }

    /// Name in identifiers.
    pub fn word(self) -> &'static str {
        match self {
            Tab::Summary => "Summary",
            Tab::Yaml => "YAML",
            Tab::Events => "Events",
            Tab::Why => "Why",
        }
    }
}

/// Message to the selection.
#[derive(Clone, Debug, PartialEq)]
pub enum SelectionMsg {
    /// A diagram.
    View(&'static View),
    /// An object.
    Select(Option<ObjectRef>),
    /// A page of the inspector.
    Tab(Tab),
    /// Selects one namespace, or all.
    Namespace(Option<String>),
    /// Sets the words by which objects are filtered.
    Filter(String),
    /// Sets the grouping of workloads, and unfolds all groups.
    GroupBy(GroupBy),
    /// Folds a group, by the uid of its heading, or unfolds it.
    Fold(String),
    /// Selects a loop of the control plane; the selected one is deselected.
    Loop(Option<Actor>),
    /// Another manifest is loaded; another diagram may be shown.
    Load(Option<&'static View>),
    /// A breakpoint was hit for this object.
    BreakpointHit(Option<ObjectRef>),
    /// An apply began.
    ApplyStarted,
    /// An apply ended; the first workload that it created.
    ApplyFinished(Option<ObjectRef>),
    /// Tries the remedies of the selected object on a copy.
    TryRemedies,
    /// Applies a remedy.
    Remedy(Remedy),
}

/// Current selection.
#[derive(Default)]
pub struct Selection {
    /// Diagram.
    pub view: &'static View,
    /// Object that the inspector shows.
    pub selected: Option<ObjectRef>,
    /// Page of the inspector.
    pub tab: Tab,
    /// Namespace shown; `None` for all.
    pub namespace: Option<String>,
    /// Words that objects are filtered by.
    pub filter: String,
    /// Grouping of workloads, and the folded groups.
    pub grouping: Grouping,
    /// Loop shown by the diagram of loops, to which the timeline is filtered.
    pub selected_loop: Option<Actor>,
    /// True if the loop was selected after the object: the inspector shows it.
    pub inspects_loop: bool,
    /// True if a person has selected an object since the apply in progress began.
    pub selected_by_person: bool,
    trial: Trial,
}

impl Selection {
    /// Copies the selection without the trial of remedies.
    pub fn look(&self) -> Selection {
        Selection {
            view: self.view,
            selected: self.selected.clone(),
            selected_loop: self.selected_loop.clone(),
            namespace: self.namespace.clone(),
            filter: self.filter.clone(),
            grouping: self.grouping.clone(),
            ..Selection::default()
        }
    }

    /// Hash of the namespace, filter and grouping, which changes with them.
    pub fn part(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (&self.namespace, self.filter.trim(), self.grouping.by as u8).hash(&mut hasher);
        hasher.finish()
    }

    /// Creates a selection of a diagram alone.
    pub fn at(view: &'static View) -> Selection {
        Selection {
            view,
            ..Selection::default()
        }
    }

    /// Handles a message.
    pub fn update(&mut self, msg: SelectionMsg, run: &Run) -> Vec<Effect> {
        match msg {
            SelectionMsg::View(view) => self.view = view,
            SelectionMsg::Select(key) => {
                // While a loop is inspected, deselecting applies to the loop.
                if key.is_none() && self.inspected_loop().is_some() {
                    self.selected_loop = None;
                }
                (self.selected, self.selected_by_person, self.inspects_loop) = (key, true, false);
            }
            SelectionMsg::Tab(tab) => self.tab = tab,
            SelectionMsg::Namespace(namespace) => self.namespace = namespace,
            SelectionMsg::Filter(words) => self.filter = words,
            SelectionMsg::GroupBy(by) => {
                self.grouping = Grouping {
                    by,
                    ..Grouping::default()
                }
            }
            SelectionMsg::Fold(uid) => self.grouping.toggle(uid),
            SelectionMsg::Loop(actor) => {
                // A selected loop that is not inspected is inspected first, and then deselected.
                self.selected_loop = if self.selected_loop == actor && self.inspects_loop {
                    None
                } else {
                    actor
                };
                self.inspects_loop = self.selected_loop.is_some();
            }
            SelectionMsg::Load(view) => {
                (self.view, self.selected) = (view.unwrap_or(self.view), None)
            }
            SelectionMsg::BreakpointHit(key) => self.selected = key,
            SelectionMsg::ApplyStarted => self.selected_by_person = false,
            SelectionMsg::ApplyFinished(created) => {
                // A person will look at what is new, unless they selected something since; an edit of existing objects does not change the
                // selection. An application of many workloads is looked at as a whole.
                let by_person = std::mem::take(&mut self.selected_by_person);
                let gone = self.object(run).is_none();
                if !adapt::has_many_workloads(run.sim()) {
                    if !by_person && (created.is_some() || gone) {
                        self.selected = created.or_else(|| adapt::first_workload(run.sim()));
                    }
                } else if gone {
                    self.selected = None;
                }
            }
            SelectionMsg::TryRemedies => {
                let found = self.diagnosis(run);
                while self.trial.step(run, &found) {}
            }
            SelectionMsg::Remedy(remedy) => {
                return remedy
                    .steps
                    .iter()
                    .flat_map(|step| effects_of(step.clone(), run))
                    .collect();
            }
        }
        Vec::new()
    }

    /// Copies the selection of another.
    pub fn sync(&mut self, other: &Selection) {
        self.view = other.view;
        self.selected.clone_from(&other.selected);
        self.selected_loop.clone_from(&other.selected_loop);
        self.namespace.clone_from(&other.namespace);
        self.filter.clone_from(&other.filter);
        self.grouping.clone_from(&other.grouping);
    }

    /// Tries the next remedy of the selected object if it has a problem and the trial is quick. Returns true while there are more.
    pub fn try_next(&mut self, run: &Run, found: &[Diagnosis]) -> bool {
        let stuck = found.iter().any(|found| found.waits.is_bad());
        stuck && Trial::is_short(run) && self.trial.step(run, found)
    }

    /// Diagnoses the selected object: the chain of waiting down to the root cause.
    pub fn diagnosis(&self, run: &Run) -> Vec<Diagnosis> {
        self.selected
            .as_ref()
            .map(|key| diagnose::chain_of_waiting(run.sim(), key))
            .unwrap_or_default()
    }

    /// Shows a loop of the control plane in its diagram.
    pub fn inspect_loop(&mut self, actor: Actor) {
        self.view = &views::loops::VIEW;
        self.selected_loop = Some(actor);
        self.inspects_loop = true;
    }

    /// Returns the loop that the inspector shows: the one selected in the diagram of loops, until an object is selected.
    pub fn inspected_loop(&self) -> Option<&Actor> {
        self.selected_loop
            .as_ref()
            .filter(|_| self.inspects_loop && self.view.uses.loops)
    }

    /// Returns the selected object, if it exists at the instant shown.
    pub fn object<'r>(&self, run: &'r Run) -> Option<&'r Rc<Object>> {
        run.sim().store().get(self.selected.as_ref()?)
    }

    /// Returns the verdicts of the trial of its remedies.
    pub fn verdicts(&self, run: &Run, found: &[Diagnosis]) -> Verdicts {
        self.trial.verdicts(run, found)
    }

    /// Lists the workloads whose rollout can be followed: uids and keys.
    pub fn workloads(&self, run: &Run) -> Vec<(String, ObjectRef)> {
        let all = adapt::ROOTS
            .into_iter()
            .filter(|kind| !matches!(kind, Kind::Job | Kind::CronJob));
        let all = all
            .flat_map(|kind| run.sim().store().list(kind))
            .filter(|object| object.meta.controller().is_none());
        let shown = all.filter(|object| {
            self.namespace
                .as_ref()
                .is_none_or(|namespace| *namespace == *object.meta.namespace)
        });
        shown
            .map(|object| (object.meta.uid.to_string(), object.key()))
            .collect()
    }
}

/// Returns the effects of a command: a kubectl line is entered in the console by the caller; any other command acts on the newest instant.
fn effects_of(command: Action, run: &Run) -> Vec<Effect> {
    match command {
        Action::Kubectl(line) => vec![Effect::Enter(line.to_string())],
        // Entered as a person would, unless a program in a container reads the input; the editor's text is kept.
        Action::Apply(text) if !run.takes_input() && text.ends_with('\n') => {
            vec![Effect::Enter(
                ["kubectl apply -f - <<'EOF'\n", &text, "EOF"].concat(),
            )]
        }
        command => vec![Effect::Fork, Effect::Execute(command)],
    }
}

#[cfg(test)]
mod tests {
    use crate::console::ConsoleMsg;
    use crate::editor::EditorMsg;
    use crate::examples;
    use crate::selection::SelectionMsg;
    use crate::tests::{ready, settled};
    use crate::timeline::TimelineMsg;
    use crate::{Msg, State};
    use explain::diagnose::Diagnosis;
    use k8s_model::Kind;
    use std::collections::BTreeSet;
    use std::rc::Rc;
    use views::grouping::{FOLD, GROUP, GroupBy};

    #[test]
    fn a_loop_that_is_chosen_is_inspected_until_an_object_is() {
        let mut state = settled((examples::ALL[0].text)());
        let object = state
            .timeline
            .run
            .sim()
            .store()
            .list(Kind::Pod)
            .next()
            .unwrap()
            .key();
        let controller = cluster::loops::named("replicaset-controller").unwrap();
        let choose = |state: &mut State| state.update(SelectionMsg::Loop(Some(controller.clone())));
        choose(&mut state);
        assert_eq!(
            state.selection.inspected_loop(),
            None,
            "another diagram has no loops"
        );
        state.update(SelectionMsg::View(&views::loops::VIEW));
        assert_eq!(state.selection.inspected_loop(), Some(&controller));
        state.update(SelectionMsg::Select(Some(object)));
        assert_eq!(
            (
                state.selection.inspected_loop(),
                state.selection.selected_loop.is_some()
            ),
            (None, true)
        );
        choose(&mut state);
        assert_eq!(state.selection.inspected_loop(), Some(&controller));
        choose(&mut state);
        assert_eq!(
            (
                state.selection.inspected_loop(),
                state.selection.selected_loop.is_some()
            ),
            (None, false)
        );
        choose(&mut state);
        state.update(SelectionMsg::Select(None));
        assert_eq!(
            (
                state.selection.inspected_loop(),
                state.selection.selected_loop.is_some()
            ),
            (None, false)
        );
    }

    fn diagnosed(state: &State) -> (Vec<Diagnosis>, Rc<Vec<bool>>) {
        let found = state.selection.diagnosis(&state.timeline.run);
        let helps = state.selection.verdicts(&state.timeline.run, &found).helps;
        (found, helps)
    }

    #[test]
    fn an_apply_leads_away_from_an_object_that_is_gone_and_from_no_other() {
        let mut state = settled((examples::ALL[0].text)());
        let pod = state
            .timeline
            .run
            .sim()
            .store()
            .list(Kind::Pod)
            .next()
            .expect("a Pod")
            .key();
        let apply = |state: &mut State, image: &str| {
            let text = state.editor.text.replace("nginx:1.7.9", image);
            state.update(EditorMsg::Edit(text));
            state.update(Msg::Apply);
            state.selection.selected.as_ref().map(|key| key.kind)
        };
        state.update(SelectionMsg::Select(Some(pod.clone())));
        assert_eq!(apply(&mut state, "nginx:1.9.1"), Some(Kind::Pod));
        state.update(TimelineMsg::Seconds(60));
        assert!(state.timeline.run.sim().store().get(&pod).is_none());
        assert_eq!(apply(&mut state, "nginx:1.27"), Some(Kind::Deployment));
    }

    #[test]
    fn pods_are_filtered_by_their_status_and_keep_their_owners() {
        let mut state = settled((examples::ALL[0].text)());
        state.update(ConsoleMsg::Enter(
            "kubectl set image deployment/nginx-deployment nginx=nginx:broken".into(),
        ));
        state.update(TimelineMsg::Seconds(20));
        let mut shown = |filter: &str| {
            state.update(SelectionMsg::Filter(filter.into()));
            let scene = state.picture().scene.clone();
            let count = |kind: &str| {
                scene
                    .items
                    .iter()
                    .filter(|item| item.id.kind == kind)
                    .count()
            };
            (count("Deployment"), count("ReplicaSet"), count("Pod"))
        };
        assert_eq!(shown("status:failing"), (1, 1, 1));
        assert_eq!(shown("status:imagepull"), (1, 1, 1));
        assert_eq!(shown("status:ready"), (1, 1, 2));
        assert_eq!(shown("status:succeeded"), (0, 0, 0));
    }

    #[test]
    fn old_revisions_are_unfolded_and_folded_again() {
        let mut state = settled((examples::ALL[0].text)());
        for image in ["nginx:1.9.1", "nginx:1.27"] {
            state.update(ConsoleMsg::Enter(format!(
                "kubectl set image deployment/nginx-deployment nginx={image}"
            )));
            state.update(TimelineMsg::Seconds(30));
        }
        let mut drawn = || {
            let scene = state.picture().scene.clone();
            let sets = scene
                .items
                .iter()
                .filter(|item| item.id.kind == "ReplicaSet")
                .count();
            let line = scene
                .items
                .iter()
                .find(|item| item.id.kind == FOLD)
                .expect("a line");
            let told = (sets, line.label.english());
            state.update(SelectionMsg::Fold(line.id.uid.clone()));
            told
        };
        assert_eq!(drawn(), (1, "+2 old revisions".into()));
        assert_eq!(drawn(), (3, "2 old revisions".into()));
        assert_eq!(drawn(), (1, "+2 old revisions".into()));
    }

    #[test]
    fn another_grouping_unfolds_what_was_folded() {
        let mut state = State::new((examples::ALL[0].text)(), 1);
        state.update(SelectionMsg::GroupBy(GroupBy::Kind));
        let scene = state.picture().scene.clone();
        let heading = scene
            .items
            .iter()
            .find(|item| item.id.kind == GROUP)
            .expect("a heading")
            .id
            .uid
            .clone();
        state.update(SelectionMsg::Fold(heading.clone()));
        let folded = state.picture().scene.clone();
        assert!(
            folded.items.len() < scene.items.len()
                && folded.items.iter().any(|item| item.id.uid == heading)
        );
        state.update(SelectionMsg::GroupBy(GroupBy::Namespace));
        assert!(state.picture().scene.items.len() >= scene.items.len());
        state.update(SelectionMsg::GroupBy(GroupBy::Automatic));
        assert!(
            state
                .picture()
                .scene
                .items
                .iter()
                .all(|item| item.id.kind != GROUP)
        );
    }

    #[test]
    fn no_grouping_loses_an_object_or_a_line() {
        let service = "{apiVersion: v1, kind: Service, metadata: {name: alone}, spec: {selector: {app: none}, ports: [{port: 80}]}}";
        let texts = examples::ALL
            .iter()
            .map(|example| (example.text)())
            .chain([service]);
        for (text, size) in texts.flat_map(|text| {
            [(1100.0, 700.0), (390.0, 700.0), (720.0, 300.0)].map(|size| (text, size))
        }) {
            let mut state = State::new(text, 1);
            state.update(Msg::Stage(size.0, size.1));
            state.update(TimelineMsg::Seconds(20));
            state.update(SelectionMsg::View(&views::ownership::VIEW));
            let mut drawn = |by: GroupBy| {
                state.update(SelectionMsg::GroupBy(by));
                let scene = state.picture().scene.clone();
                let objects = scene
                    .items
                    .iter()
                    .filter(|item| item.id.kind != GROUP)
                    .map(|item| item.id.uid.clone());
                (
                    objects.collect::<BTreeSet<String>>(),
                    scene
                        .edges
                        .iter()
                        .map(|edge| edge.key.clone())
                        .collect::<BTreeSet<String>>(),
                )
            };
            let plain = drawn(GroupBy::Nothing);
            for by in [GroupBy::Namespace, GroupBy::App, GroupBy::Kind] {
                assert_eq!(drawn(by), plain, "{by:?} at {size:?} of {text}");
            }
        }
    }

    #[test]
    fn a_remedy_is_tried_on_a_copy_and_then_applied() {
        let mut state = settled("");
        state.update(ConsoleMsg::Enter(
            "kubectl cordon node-1 node-2 node-3".into(),
        ));
        state.update(EditorMsg::Edit((examples::ALL[0].text)().into()));
        state.update(Msg::Apply);
        state.update(TimelineMsg::Seconds(10));
        let (found, helps) = diagnosed(&state);
        let kinds: Vec<&str> = found.iter().map(|found| found.object.kind.name()).collect();
        assert_eq!(
            (kinds, helps.len()),
            (vec!["Deployment", "ReplicaSet", "Pod"], 0),
            "{found:#?}"
        );
        let (commands, objects) = (
            state.timeline.run.journal().len(),
            state.timeline.run.objects(),
        );
        state.update(SelectionMsg::TryRemedies);
        assert_eq!(
            (
                state.timeline.run.journal().len(),
                state.timeline.run.objects()
            ),
            (commands, objects)
        );
        let (found, helps) = diagnosed(&state);
        let at = helps.iter().position(|helps| *helps).expect("one helps");
        state.update(SelectionMsg::Remedy(found[0].remedies[at].clone()));
        state.update(TimelineMsg::Seconds(10));
        assert_eq!(
            (
                state.selection.diagnosis(&state.timeline.run),
                ready(&state.timeline.run)
            ),
            (vec![], 2)
        );
    }

    #[test]
    fn what_recovers_by_itself_needs_no_remedy() {
        let mut state = settled((examples::ALL[0].text)());
        // With an earlier revision there is something to roll back to.
        state.update(ConsoleMsg::Enter(
            "kubectl set image deployment/nginx-deployment nginx=nginx:1.27".into(),
        ));
        state.update(TimelineMsg::Seconds(30));
        let pod = state
            .timeline
            .run
            .sim()
            .store()
            .list(k8s_model::Kind::Pod)
            .find(|pod| pod.pod().is_some_and(|pod| pod.is_ready()))
            .unwrap()
            .key();
        let try_all = |state: &mut State| {
            state.update(SelectionMsg::Select(Some(pod.clone())));
            let found = state.selection.diagnosis(&state.timeline.run);
            assert!(
                !found.is_empty() && !found[0].remedies.is_empty(),
                "{found:#?}"
            );
            while state.selection.try_next(&state.timeline.run, &found) {}
            let verdicts = state.selection.verdicts(&state.timeline.run, &found);
            (
                verdicts.recovers,
                verdicts.helps.contains(&true),
                state.standing(&found, &verdicts.helps).unwrap().remedy,
            )
        };
        // The first restart is immediate, the second after a back-off.
        for _ in 0..2 {
            state.update(ConsoleMsg::Enter(format!("fault exit pod/{} 1", pod.name)));
            state.update(TimelineMsg::Seconds(3));
        }
        assert_eq!(try_all(&mut state), (true, false, None));
    }

    #[test]
    fn a_verdict_is_dropped_when_what_it_was_tried_on_changes() {
        let mut state = settled("");
        state.update(ConsoleMsg::Enter(
            "kubectl cordon node-1 node-2 node-3".into(),
        ));
        state.update(EditorMsg::Edit((examples::ALL[0].text)().into()));
        state.update(Msg::Apply);
        state.update(TimelineMsg::Seconds(10));
        // In a small cluster remedies are tried automatically, one after another.
        while state.selection.try_next(
            &state.timeline.run,
            &state.selection.diagnosis(&state.timeline.run),
        ) {}
        assert!(diagnosed(&state).1.contains(&true));
        // Passing time alone changes nothing.
        state.update(TimelineMsg::Seconds(5));
        assert!(diagnosed(&state).1.contains(&true));
        state.update(ConsoleMsg::Enter(
            "kubectl taint nodes node-1 a=b:NoSchedule".into(),
        ));
        let (found, helps) = diagnosed(&state);
        assert!(!found.is_empty() && helps.is_empty(), "{found:#?}");
    }

    #[test]
    fn a_command_that_fails_is_told_as_kubectl_tells_it() {
        let mut state = settled((examples::ALL[0].text)());
        state.update(ConsoleMsg::Enter(
            "kubectl rollout undo deployment/nginx-deployment".into(),
        ));
        assert!(state.announcer.failed());
        assert_eq!(
            state.announcer.notice(),
            "error: no rollout history found for deployment \"nginx-deployment\""
        );
        state.update(ConsoleMsg::Enter("kubectl get pods".into()));
        assert!(!state.announcer.failed());
    }
}
