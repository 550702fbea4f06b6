//! Comparison of two snapshots, or of another branch beside the one shown.

use super::drawing::{Drawing, Picture};
use super::effect::Effect;
use super::history;
use super::run::Run;
use super::selection::Selection;
use super::timeline::SEEK_BUDGET_TASKS;
use i18n::msg;
use k8s_model::{Object, Time};
use projection::changes::{self, Change};
use std::rc::Rc;

/// Maximum number of differing objects whose fields are compared.
const DETAILED_OBJECTS: usize = 100;

/// A snapshot of the cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparedState {
    /// Milliseconds.
    pub at: u64,
    /// Branch of the snapshot.
    pub branch: u32,
    objects: Vec<Rc<Object>>,
}

/// Another branch at the same instant, shown beside the first.
pub struct ComparedBranch {
    /// Run of the branch.
    pub run: Run,
    /// Selection of the branch: a copy of the first's.
    pub selection: Selection,
    drawing: Drawing,
}

impl ComparedBranch {
    /// Draws its picture.
    pub fn picture(&mut self) -> Rc<Picture> {
        self.drawing.picture(&self.run, &self.selection)
    }
}

/// Message to the comparison.
#[derive(Clone, Debug, PartialEq)]
pub enum CompareMsg {
    /// Takes snapshot A or, if true, B at the instant shown.
    Mark(bool),
    /// Takes snapshot A just before the command at an instant, in milliseconds, and snapshot B just before the next command that writes, or
    /// at the newest instant.
    Since(u64),
    /// Discards both snapshots.
    Unmark,
    /// Shows another branch beside this one; `None` hides it.
    With(Option<u32>),
    /// Size of the other branch's stage in CSS pixels.
    Stage(f64, f64),
}

/// State of the comparison.
#[derive(Default)]
pub struct Compare {
    /// Snapshots A and B.
    pub snapshots: [Option<Rc<ComparedState>>; 2],
    /// Differences between them.
    pub difference: Option<Rc<Vec<Change>>>,
    /// Another branch on the same clock.
    pub branch: Option<Box<ComparedBranch>>,
}

impl Compare {
    /// Handles a message.
    pub fn update(&mut self, msg: CompareMsg, run: &mut Run, selection: &Selection) -> Vec<Effect> {
        match msg {
            CompareMsg::Mark(second) => self.mark(usize::from(second), run),
            CompareMsg::Since(at) => {
                let mut before = run.clone();
                if !before.seek(Time((at * 1000).saturating_sub(1)), SEEK_BUDGET_TASKS) {
                    return vec![Effect::AnnounceFailure(msg::compare_too_far(at))];
                }
                self.mark(0, &before);
                // Changes until the next command that wrote are a command's own; a waiting command may write later.
                let next = history::next_write(run, at).map(|next| Time(next * 1000 - 1));
                let mut after = run.clone();
                match next {
                    Some(next) if !after.seek(next, SEEK_BUDGET_TASKS) => {
                        return vec![Effect::AnnounceFailure(msg::compare_too_far(at))];
                    }
                    Some(_) => {}
                    None => after.live(),
                }
                self.mark(1, &after);
            }
            CompareMsg::Unmark => (self.snapshots, self.difference) = ([None, None], None),
            CompareMsg::Stage(width, height) => {
                if let Some(other) = &mut self.branch {
                    other.drawing.stage = (width, height);
                }
            }
            CompareMsg::With(number) => return self.compare_with(number, run, selection),
        }
        Vec::new()
    }

    /// Returns the interval between snapshots A and B, in milliseconds, if both are of the branch shown and of different instants.
    pub fn stretch(&self, run: &Run) -> Option<(u64, u64)> {
        let [Some(a), Some(b)] = &self.snapshots else {
            return None;
        };
        let shown = run.branches().0;
        (a.branch == shown && b.branch == shown && a.at != b.at)
            .then(|| (a.at.min(b.at), a.at.max(b.at)))
    }

    fn mark(&mut self, which: usize, run: &Run) {
        let snapshot = ComparedState {
            at: run.now(),
            branch: run.branches().0,
            objects: run.objects(),
        };
        self.snapshots[which] = Some(Rc::new(snapshot));
        if let [Some(a), Some(b)] = &self.snapshots {
            self.difference = Some(Rc::new(changes::between(
                &a.objects,
                &b.objects,
                DETAILED_OBJECTS,
            )));
        }
    }

    fn compare_with(
        &mut self,
        number: Option<u32>,
        run: &mut Run,
        selection: &Selection,
    ) -> Vec<Effect> {
        let mut effects = Vec::new();
        if let Some(other) = self.branch.take() {
            run.keep(&other.run);
            effects.push(Effect::BranchesChanged);
        }
        if let Some(number) = number.filter(|number| run.branches().1.contains(number)) {
            let other = ComparedBranch {
                run: run.other(number),
                selection: Selection::default(),
                drawing: Drawing::default(),
            };
            self.branch = Some(Box::new(other));
            self.sync_branch(run, selection, SEEK_BUDGET_TASKS);
        }
        effects
    }

    /// Shares the axes between the diagrams of both branches.
    pub fn share_axes(
        &mut self,
        drawing: &mut Drawing,
        run: &Run,
        selection: &Selection,
        most: usize,
    ) {
        let Some(other) = &mut self.branch else {
            return drawing.set_beside(None);
        };
        let (own, others) = (
            drawing.extent(run, selection, most),
            other.drawing.extent(&other.run, &other.selection, most),
        );
        drawing.set_beside(others);
        other.drawing.set_beside(own);
    }

    /// Advances the other branch to the instant shown, with a budget of tasks. Returns true when it is there.
    pub fn sync_branch(&mut self, run: &Run, selection: &Selection, budget: usize) -> bool {
        let Some(other) = &mut self.branch else {
            return true;
        };
        if !run.branches().1.contains(&other.run.branches().0) {
            self.branch = None;
            return true;
        }
        other.selection.sync(selection);
        let (here, there) = (run.sim().now(), other.run.sim().now());
        if here < there {
            other.run.seek(here, budget);
        } else if there < here || other.run.repeats() {
            other.run.advance(here, budget);
        }
        other.run.sim().now() == here && !other.run.repeats()
    }
}

#[cfg(test)]
mod tests {
    use crate::State;
    use crate::compare::CompareMsg;
    use crate::console::ConsoleMsg;
    use crate::drawing::Picture;
    use crate::examples;
    use crate::selection::SelectionMsg;
    use crate::tests::{ready, settled};
    use crate::timeline::TimelineMsg;
    use apiserver::Op;
    use k8s_model::Kind;
    use std::rc::Rc;
    use views::shape::CardBody;

    #[test]
    fn two_instants_are_compared_also_of_two_branches() {
        let mut state = settled((examples::ALL[0].text)());
        state.update(CompareMsg::Mark(false));
        state.update(ConsoleMsg::Enter(
            "kubectl scale deployment nginx-deployment --replicas=3".into(),
        ));
        state.update(TimelineMsg::Seconds(20));
        state.update(CompareMsg::Mark(true));
        let difference = state.compare.difference.clone().expect("a difference");
        let made = difference
            .iter()
            .filter(|change| change.op == Op::Added)
            .map(|change| change.key.kind.name());
        assert_eq!(made.collect::<Vec<_>>(), ["Pod"]);
        let fields = |kind: Kind| {
            difference
                .iter()
                .find(|change| change.key.kind == kind)
                .map(|change| change.fields.clone())
                .unwrap_or_default()
        };
        assert!(
            fields(Kind::Deployment)
                .iter()
                .any(|field| field.path == "spec.replicas" && field.to.as_deref() == Some("3"))
        );
        state.update(CompareMsg::Unmark);
        assert_eq!(state.compare.difference, None);
        // The difference since a command of the history is the same, though nobody marked the instant before it.
        let scaled = crate::history::commands(&state.timeline.run)
            .pop()
            .expect("a command");
        state.update(CompareMsg::Since(scaled.at));
        assert_eq!(state.compare.difference, Some(difference.clone()));
        // Also while the instant before it is shown.
        state.update(CompareMsg::Unmark);
        state.update(TimelineMsg::Seek(scaled.at - 1));
        state.update(CompareMsg::Since(scaled.at));
        assert_eq!(state.compare.difference, Some(difference.clone()));
        // Changes of later commands are not included.
        state.update(TimelineMsg::Live);
        state.update(ConsoleMsg::Enter("kubectl get pods".into()));
        state.update(ConsoleMsg::Enter(
            "kubectl delete deployment nginx-deployment".into(),
        ));
        state.update(TimelineMsg::Seconds(40));
        state.update(CompareMsg::Since(scaled.at));
        assert_eq!(state.compare.difference, Some(difference));
    }

    #[test]
    fn two_branches_run_side_by_side_on_one_clock() {
        let mut state = settled((examples::ALL[0].text)());
        state.update(ConsoleMsg::Enter(
            "kubectl scale deployment nginx-deployment --replicas=5".into(),
        ));
        state.update(TimelineMsg::Seconds(10));
        state.update(TimelineMsg::Seek(20_000));
        state.update(ConsoleMsg::Enter(
            "kubectl scale deployment nginx-deployment --replicas=1".into(),
        ));
        state.update(CompareMsg::With(Some(1)));
        let counts = |state: &mut State| {
            while !state.sync_branch(1_000) {}
            let other = state.compare.branch.as_ref().expect("another branch");
            assert_eq!(other.run.sim().now(), state.timeline.run.sim().now());
            (ready(&state.timeline.run), ready(&other.run))
        };
        assert_eq!(counts(&mut state), (2, 2));
        // Beyond the end of the other's history both advance.
        state.update(TimelineMsg::Seconds(90));
        assert_eq!(counts(&mut state), (1, 5));
        state.update(TimelineMsg::Seek(25_000));
        assert_eq!(counts(&mut state), (1, 2));
        // Their charts have the same time axis.
        state.update(SelectionMsg::View(&views::rollout::VIEW));
        state.update(CompareMsg::Stage(
            state.drawing.stage.0,
            state.drawing.stage.1,
        ));
        let axis = |picture: Rc<Picture>| match &picture.scene.items[0].body {
            CardBody::Chart(chart) => chart.axis.clone(),
            _ => panic!("a chart"),
        };
        for to in [25_000, 60_000, 110_000] {
            state.update(TimelineMsg::Seek(to));
            while !state.sync_branch(1_000) {}
            let own = axis(state.draw(usize::MAX));
            assert_eq!(
                own,
                axis(
                    state
                        .compare
                        .branch
                        .as_mut()
                        .expect("another branch")
                        .picture()
                ),
                "{to}"
            );
        }
        state.update(TimelineMsg::Live);
        assert_eq!(counts(&mut state), (1, 5));
        let end = state.timeline.run.end();
        state.update(CompareMsg::With(None));
        state.update(TimelineMsg::Switch(1));
        assert_eq!(
            (state.timeline.run.end(), ready(&state.timeline.run)),
            (end, 5)
        );
    }
}
