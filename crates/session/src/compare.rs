//! Comparison of two snapshots, or of another branch beside the one shown.

use super::drawing::{Drawing, Picture};
use super::effect::Effect;
use super::experiment::{self, Experiment};
use super::history;
use super::run::Run;
use super::selection::Selection;
use super::timeline::SEEK_BUDGET_TASKS;
use actions::Action;
use controllers::Controller;
use fault::Fault;
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
    mirror: Option<Mirror>,
}

/// Commands of one branch that another one repeats.
#[derive(Clone, Copy, Debug)]
struct Mirror {
    /// Number of the branch whose commands are repeated.
    of: u32,
    /// Number of its commands that need no repeating.
    commands: usize,
}

/// Event-driven machine beside the branch shown, saved with its history.
#[derive(Clone, Debug)]
pub struct EventDrivenMachine {
    run: Run,
    mirror: Mirror,
}

impl ComparedBranch {
    /// Draws its picture.
    pub fn picture(&mut self) -> Rc<Picture> {
        self.drawing.picture(&self.run, &self.selection)
    }

    fn new(run: Run, mirror: Option<Mirror>, stage: Option<(f64, f64)>) -> ComparedBranch {
        let mut drawing = Drawing::default();
        drawing.stage = stage.unwrap_or(drawing.stage);
        ComparedBranch {
            run,
            selection: Selection::default(),
            drawing,
            mirror,
        }
    }

    /// Returns true if the branch is the cluster whose ReplicaSets an event-driven program runs, given the commands of the branch shown.
    pub fn is_event_driven(&self) -> bool {
        self.mirror.is_some()
    }

    /// Repeats the commands of the branch shown, each at its instant, with a budget of tasks. Returns true when all are done.
    fn mirror(&mut self, shown: &Run, budget: usize) -> bool {
        let (number, commands) = (shown.branches().0, shown.commands());
        let Some(mirror) = self.mirror.as_mut().filter(|mirror| mirror.of == number) else {
            self.mirror = None;
            return true;
        };
        while let Some(recorded) = commands.get(mirror.commands) {
            if self.run.in_past() {
                self.run.live();
            }
            if !self.run.advance(recorded.time, budget) {
                return false;
            }
            // The program on one side leaves the other side alone.
            if !matches!(&recorded.action, Action::Fault(Fault::EventDriven { .. })) {
                self.run.command(recorded.action.clone());
            }
            mirror.commands += 1;
        }
        true
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
    /// Shows, if true, an event-driven machine beside this branch: a copy of the cluster in which a program that reacts to events alone runs
    /// the ReplicaSets, and to which every command is given too. Hides it otherwise.
    EventDriven(bool),
    /// Begins the event-driven machine anew, as a copy of the newest instant.
    BeginAnew,
    /// Runs the experiment at this position of [`experiment::experiments`] on both machines.
    Experiment(usize),
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
    /// Branch of the last event-driven machine.
    machine: Option<u32>,
    /// Size of the other branch's stage in CSS pixels, once it is known.
    stage: Option<(f64, f64)>,
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
                self.stage = Some((width, height));
                if let Some(other) = &mut self.branch {
                    other.drawing.stage = (width, height);
                }
            }
            CompareMsg::With(number) => return self.compare_with(number, run, selection),
            CompareMsg::Experiment(at) => {
                let experiment = self.experiments(run).into_iter().nth(at);
                let actions = experiment.map(|experiment| experiment.actions);
                let actions = actions.into_iter().flatten();
                return actions.map(Effect::Execute).collect();
            }
            CompareMsg::EventDriven(on) if on == self.is_event_driven() => {}
            CompareMsg::EventDriven(false) => return self.compare_with(None, run, selection),
            CompareMsg::EventDriven(true) | CompareMsg::BeginAnew => {
                return self.fork_event_driven(run, selection);
            }
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

    /// Returns true if an event-driven machine is shown beside the branch.
    pub fn is_event_driven(&self) -> bool {
        let branch = self.branch.as_ref();
        branch.is_some_and(|branch| branch.is_event_driven())
    }

    /// Saves the progress of the branch shown beside the first, before that is replaced.
    pub(crate) fn keep(&self, run: &mut Run) {
        if let Some(other) = &self.branch {
            run.keep(&other.run);
        }
    }

    /// Returns the experiments that are possible with the event-driven machine beside the branch.
    pub fn experiments(&self, run: &Run) -> Vec<Experiment> {
        let possible = self.is_event_driven() && !run.in_past();
        let branch = self.branch.as_ref().filter(|_| possible);
        branch.map_or_else(Vec::new, |branch| experiment::experiments(run, &branch.run))
    }

    /// Saves the event-driven machine.
    pub(crate) fn event_driven_machine(&self) -> Option<EventDrivenMachine> {
        let branch = self.branch.as_ref()?;
        Some(EventDrivenMachine {
            run: branch.run.clone(),
            mirror: branch.mirror?,
        })
    }

    /// Restores the event-driven machine with the history that is shown; without one, no branch is shown beside it.
    pub(crate) fn restore(&mut self, machine: Option<EventDrivenMachine>) {
        let stage = self.stage;
        let branch = |machine: EventDrivenMachine| {
            let mirror = Some(machine.mirror);
            Box::new(ComparedBranch::new(machine.run, mirror, stage))
        };
        self.branch = machine.map(branch);
    }

    fn fork_event_driven(&mut self, run: &mut Run, selection: &Selection) -> Vec<Effect> {
        let mut effects = self.compare_with(None, run, selection);
        effects.push(Effect::BranchesChanged);
        // Of the machines of this branch only the newest is kept.
        if let Some(number) = self.machine.take() {
            run.drop_branch(number);
        }
        run.live();
        let fault = Fault::EventDriven {
            name: controllers::REPLICA_SETS.name().into(),
            on: true,
        };
        if let Some(number) = run.fork_beside(Action::Fault(fault)) {
            effects.extend(self.compare_with(Some(number), run, selection));
            self.machine = Some(number);
        }
        if let Some(branch) = &mut self.branch {
            branch.mirror = Some(Mirror {
                of: run.branches().0,
                commands: run.command_count(),
            });
        }
        effects
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
            let other = ComparedBranch::new(run.other(number), None, self.stage);
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
        if !other.mirror(run, budget) {
            return false;
        }
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
                .any(|field| field.path == "spec.replicas" && field.to == Some(3.into()))
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

    /// Pods that are ready in the branch shown and in the machine beside it, once that is at the same instant.
    fn both(state: &mut State) -> (usize, usize) {
        while !state
            .compare
            .sync_branch(&state.timeline.run, &state.selection, 1_000)
        {}
        let other = state.compare.branch.as_ref().expect("a machine");
        assert_eq!(other.run.sim().now(), state.timeline.run.sim().now());
        (ready(&state.timeline.run), ready(&other.run))
    }

    #[test]
    fn the_event_driven_machine_gets_the_same_actions_and_faults() {
        // Experiment, and the ready Pods after 5 and after 60 seconds in both.
        let outcomes = [
            (0, (2, 2), (2, 2)),
            (1, (1, 1), (2, 1)),
            (2, (2, 3), (2, 3)),
            (3, (1, 1), (2, 2)),
            (4, (2, 1), (2, 1)),
        ];
        for (at, soon, late) in outcomes {
            let mut state = settled((examples::ALL[0].text)());
            state.update(CompareMsg::EventDriven(true));
            assert_eq!(both(&mut state), (2, 2));
            let all = state.compare.experiments(&state.timeline.run);
            assert_eq!(all.len(), outcomes.len());
            state.update(CompareMsg::Experiment(at));
            state.update(TimelineMsg::Seconds(5));
            assert_eq!(both(&mut state), soon, "{at} after 5 s");
            state.update(TimelineMsg::Seconds(55));
            assert_eq!(both(&mut state), late, "{at} after 60 s");
            // Scaling reaches both: the event-driven machine adds the difference to what is there.
            state.update(ConsoleMsg::Enter(
                "kubectl scale deployment nginx-deployment --replicas=4".into(),
            ));
            state.update(TimelineMsg::Seconds(20));
            assert_eq!(both(&mut state), (4, late.1 + 2), "{at} after scaling");
            // Back in time both show that time.
            let end = state.timeline.run.end();
            state.update(TimelineMsg::Seek(end - 20_500));
            assert_eq!(both(&mut state), late, "{at} before scaling");
            state.update(TimelineMsg::Live);
            assert_eq!(both(&mut state), (4, late.1 + 2), "{at} live again");
            // The machine is kept as a branch.
            state.update(CompareMsg::EventDriven(false));
            assert!(state.compare.branch.is_none());
            state.update(TimelineMsg::Switch(2));
            assert_eq!(ready(&state.timeline.run), late.1 + 2);
        }
    }

    #[test]
    fn the_machine_begins_anew_and_is_kept_by_its_branch() {
        let mut state = settled((examples::ALL[0].text)());
        state.update(CompareMsg::EventDriven(true));
        state.update(ConsoleMsg::Enter(
            "kubectl scale deployment nginx-deployment --replicas=4".into(),
        ));
        state.update(TimelineMsg::Seconds(10));
        assert_eq!(both(&mut state), (4, 4));
        // In the past there is nothing to do to both.
        state.update(TimelineMsg::Seek(state.timeline.run.now() - 5_000));
        assert!(state.compare.experiments(&state.timeline.run).is_empty());
        state.update(CompareMsg::Experiment(1));
        assert!(state.compare.is_event_driven());
        state.update(TimelineMsg::Live);
        state.update(CompareMsg::Experiment(1));
        state.update(TimelineMsg::Seconds(30));
        assert_eq!(both(&mut state), (4, 3));
        // What the control loop does again, the program does not.
        state.update(ConsoleMsg::Enter(
            "fault event-driven replicaset-controller off".into(),
        ));
        state.update(TimelineMsg::Seconds(10));
        assert_eq!(both(&mut state), (4, 3));
        let others = state.timeline.run.branches().1;
        state.update(CompareMsg::BeginAnew);
        assert_eq!(both(&mut state), (4, 4));
        assert_eq!(state.timeline.run.branches().1.len(), others.len());
        state.update(CompareMsg::Experiment(1));
        state.update(TimelineMsg::Seconds(30));
        assert_eq!(both(&mut state), (4, 3));
        let machine = state.timeline.run.branches().1[0];
        state.update(TimelineMsg::Switch(machine));
        assert_eq!(ready(&state.timeline.run), 3);
    }

    #[test]
    fn another_branch_ends_the_repetition_of_commands() {
        let mut state = settled((examples::ALL[0].text)());
        state.update(TimelineMsg::Seconds(10));
        state.update(CompareMsg::EventDriven(true));
        state.update(TimelineMsg::Seek(12_000));
        state.update(ConsoleMsg::Enter(
            "kubectl scale deployment nginx-deployment --replicas=4".into(),
        ));
        state.update(TimelineMsg::Seconds(20));
        assert_eq!(both(&mut state), (4, 2));
        assert!(!state.compare.is_event_driven());
        state.update(TimelineMsg::Restart);
        assert!(state.compare.branch.is_none());
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
            while !state
                .compare
                .sync_branch(&state.timeline.run, &state.selection, 1_000)
            {}
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
            while !state
                .compare
                .sync_branch(&state.timeline.run, &state.selection, 1_000)
            {}
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
