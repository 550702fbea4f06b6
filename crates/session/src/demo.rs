//! Scripts of the examples: commands that run at set instants of the clock until a person acts, so that there is something to see.

use super::examples::ExampleScript;
use super::run::Run;
use i18n::{Message, msg};
use k8s_model::workload::Deployment;
use k8s_model::{Kind, Object, ObjectRef, Time};
use std::rc::Rc;

/// Placeholder for the name of the oldest Pod in a line of a script.
const POD: &str = "POD";

/// Script of an example, and the actions offered to try first.
#[derive(Clone, Debug, Default)]
pub struct Demo {
    script: Option<&'static ExampleScript>,
    /// Index of the next step, counted through all repetitions.
    next: usize,
    due: Time,
    /// Instants in milliseconds at which script lines were run: those commands are not a person's.
    ran: Vec<u64>,
    /// True if the page offers things to try.
    pub offers: bool,
    /// True if the page is not to announce that the example plays.
    silent: bool,
}

impl Demo {
    /// Begins a script at the clock's current time.
    pub fn begin(&mut self, script: Option<&'static ExampleScript>, run: &Run) {
        (self.script, self.next, self.due) = (script, 0, run.sim().now());
        self.ran.clear();
        self.silent = false;
        self.schedule();
    }

    /// Ends the example for good: a person has acted.
    pub fn end(&mut self) {
        *self = Demo {
            ran: std::mem::take(&mut self.ran),
            ..Demo::default()
        };
    }

    /// Returns the instants at which script lines were run, for a link.
    pub fn ran(&self) -> &[u64] {
        &self.ran
    }

    /// Restores the instants at which the example ran lines, for a history that is being repeated.
    pub fn recall(&mut self, mut ran: Vec<u64>) {
        ran.sort();
        *self = Demo {
            ran,
            ..Demo::default()
        };
    }

    /// Returns true if the command at an instant, in milliseconds, was run by the example.
    pub fn has_run(&self, at: u64) -> bool {
        self.ran.binary_search(&at).is_ok()
    }

    /// Returns the line that runs next, unless the script repeats.
    pub fn next_line(&self) -> Option<&'static str> {
        let script = self.script.filter(|script| script.times == 1)?;
        script.steps.get(self.next).map(|(_, line)| *line)
    }

    /// Stops the script; the offers stay.
    pub fn stop(&mut self) {
        self.script = None;
    }

    /// Forgets the lines run: the cluster is replaced.
    pub fn forget(&mut self) {
        self.ran.clear();
    }

    /// Hides the offers and the announcement; the script goes on.
    pub fn hide(&mut self) {
        (self.offers, self.silent) = (false, true);
    }

    /// Returns true if the page announces that the example plays.
    pub fn tells(&self) -> bool {
        self.plays() && !self.silent
    }

    /// Returns true while a script is playing.
    pub fn plays(&self) -> bool {
        self.script.is_some()
    }

    /// Time at which the next step is due; `None` in the past or without a script.
    pub fn due(&self, run: &Run) -> Option<Time> {
        (self.plays() && !run.in_past()).then_some(self.due)
    }

    /// Returns the line of the step that is due, and advances to the next.
    pub fn step(&mut self, run: &Run) -> Option<String> {
        let script = self.script?;
        let (_, line) = script.steps[self.next % script.steps.len()];
        self.ran.push(run.now());
        self.next += 1;
        self.schedule();
        if !line.contains(POD) {
            return Some(line.into());
        }
        // A terminating Pod is not deleted again.
        let pods = run
            .sim()
            .store()
            .list(Kind::Pod)
            .filter(|pod| !pod.meta.is_deleting() && &*pod.meta.namespace == "default");
        let oldest = pods.min_by_key(|pod| (pod.meta.creation_timestamp, pod.meta.name.clone()))?;
        Some(line.replace(POD, &oldest.meta.name))
    }

    fn schedule(&mut self) {
        let Some(script) = self.script else { return };
        match self.next < script.steps.len() * script.times {
            true => {
                self.due = self
                    .due
                    .after(script.steps[self.next % script.steps.len()].0 * 1_000_000)
            }
            false => self.script = None,
        }
    }
}

/// Action to try.
#[derive(Clone, Debug)]
pub struct Try {
    /// Label of the offer.
    pub words: Message,
    /// `kubectl` line that it runs.
    pub line: String,
    /// The Pod concerned, if there is one.
    pub pod: Option<ObjectRef>,
}

/// Returns things to try on the first Deployment; empty without a Deployment.
pub fn tries(run: &Run) -> Vec<Try> {
    let own = |object: &&Rc<Object>| {
        !object.meta.namespace.starts_with("kube-") && !object.meta.is_deleting()
    };
    let Some(deployment) = run.sim().store().list(Kind::Deployment).find(own) else {
        return Vec::new();
    };
    let (name, namespace) = (&deployment.meta.name, &deployment.meta.namespace);
    let flag = if &**namespace == "default" {
        String::new()
    } else {
        format!(" -n {namespace}")
    };
    let Some(body) = deployment.get::<Deployment>() else {
        return Vec::new();
    };
    let replicas = body.spec.replicas + 2;
    let on_all = |words, line| Try {
        words,
        line,
        pod: None,
    };
    let mut all = vec![on_all(
        msg::try_scale(replicas),
        format!("kubectl scale deployment {name} --replicas={replicas}{flag}"),
    )];
    if let Some(container) = body.spec.template.spec.containers.first() {
        let container = &container.name;
        all.push(on_all(
            msg::try_image(),
            format!("kubectl set image deployment {name} {container}={container}:broken{flag}"),
        ));
    }
    let pod = run
        .sim()
        .store()
        .list(Kind::Pod)
        .find(|pod| pod.meta.namespace == *namespace && !pod.meta.is_deleting());
    if let Some(pod) = pod {
        let line = format!("kubectl delete pod {}{flag}", pod.meta.name);
        all.push(Try {
            words: msg::try_delete(),
            line,
            pod: Some(pod.key()),
        });
    }
    all
}

#[cfg(test)]
mod tests {
    use super::tries;
    use crate::console::ConsoleMsg;
    use crate::editor::EditorMsg;
    use crate::replace::{ReplaceMsg, Replacement};
    use crate::selection::SelectionMsg;
    use crate::tests::ready;
    use crate::timeline::TimelineMsg;
    use crate::{Msg, State, examples};
    use k8s_model::{Kind, Time};

    fn run(state: &mut State, seconds: u64, budget: usize) {
        let to = Time(state.timeline.run.sim().now().0 + seconds * 1_000_000);
        while !state.advance(to, budget) {}
    }

    fn history(state: &State) -> Vec<String> {
        state
            .timeline
            .run
            .journal()
            .iter()
            .map(|entry| format!("{entry:?}"))
            .collect()
    }

    #[test]
    fn the_opening_example_goes_on_by_itself_and_the_same_way_however_the_clock_is_sliced() {
        let opened = |budget: usize| {
            let mut state = State::from_link(None);
            state.update(Msg::Begin { moves: true });
            run(&mut state, 60, budget);
            state
        };
        let mut state = opened(16);
        assert_eq!(history(&state), history(&opened(5_000)));
        // Fields set by the manifest are left alone.
        assert_eq!(
            (
                state.editor.drift(&state.timeline.run),
                ready(&state.timeline.run)
            ),
            (vec![], 2)
        );
        // From the first Pods on there is no pause longer than two seconds.
        let writes = state
            .timeline
            .run
            .journal()
            .iter()
            .filter(|entry| !entry.is_event())
            .map(|entry| entry.time.0)
            .collect::<Vec<_>>();
        println!("{writes:?}");
        let rest = writes.windows(2).map(|pair| pair[1] - pair[0]).max();
        assert!(rest < Some(2_500_000), "{rest:?}");
        // A page left alone comes to rest.
        run(&mut state, 600, 5_000);
        assert!(!state.demo.plays());
        let version = state.timeline.run.version();
        run(&mut state, 600, 5_000);
        assert_eq!(version, state.timeline.run.version());
    }

    #[test]
    fn it_stops_for_good_when_a_person_acts() {
        let acts: [Msg; 6] = [
            EditorMsg::Edit("# mine".into()).into(),
            Msg::Apply,
            Msg::Fault("node-down node-3".parse().unwrap()),
            ConsoleMsg::Enter("kubectl get pods".into()).into(),
            TimelineMsg::Seek(1_000).into(),
            TimelineMsg::Step.into(),
        ];
        for act in acts {
            let mut state = State::from_link(None);
            state.update(Msg::Begin { moves: true });
            run(&mut state, 8, 64);
            assert!(state.demo.offers && state.demo.plays());
            state.update(act.clone());
            assert!(!state.demo.offers && !state.demo.plays(), "{act:?}");
            assert_eq!(state.timeline.run.branches(), (1, vec![]));
        }
        // Looking at an object is not an action.
        let mut state = State::from_link(None);
        state.update(Msg::Begin { moves: true });
        let looks: [Msg; 4] = [
            TimelineMsg::Pause.into(),
            TimelineMsg::Play.into(),
            SelectionMsg::Select(None).into(),
            Msg::Stage(9.0, 9.0),
        ];
        looks.into_iter().for_each(|look| state.update(look));
        assert!(state.demo.offers && state.demo.plays());
        state.update(Msg::CloseOffers);
        assert!(!state.demo.offers && state.demo.plays());
        // Selecting an object keeps the selection and the offers.
        for looks in [false, true] {
            let mut state = State::from_link(None);
            state.update(Msg::Begin { moves: true });
            run(&mut state, 8, 64);
            let pod = state
                .timeline
                .run
                .sim()
                .store()
                .list(Kind::Pod)
                .next()
                .expect("a Pod")
                .key();
            state.update(if looks {
                SelectionMsg::Select(Some(pod)).into()
            } else {
                Msg::StopDemo
            });
            assert!(state.demo.offers && !state.demo.plays());
        }
    }

    #[test]
    fn what_the_example_does_is_no_command_of_the_person() {
        let mut state = State::from_link(None);
        state.update(Msg::Begin { moves: true });
        run(&mut state, 8, 64);
        state.update(ConsoleMsg::Enter("kubectl get pods".into()));
        state.update(ConsoleMsg::Enter(
            "kubectl scale deployment nginx-deployment --replicas=1".into(),
        ));
        let lines: Vec<&str> = state
            .console
            .lines
            .iter()
            .filter(|line| line.entered.is_some())
            .map(|line| line.text.as_str())
            .collect();
        assert_eq!(lines.len(), 2, "{lines:?}");
        let told = |state: &State| {
            let all = crate::history::commands(&state.timeline.run);
            let own: Vec<&str> = all
                .iter()
                .filter(|ran| !state.demo.has_run(ran.at))
                .map(|ran| &*ran.line)
                .collect();
            (all.len() - own.len(), own.len())
        };
        assert_eq!(told(&state), (2, 3));
        // The same holds where a link repeats the script's line.
        let link = state.shared();
        let mut again = State::from_link(Some(&link));
        again.recall(&link);
        while again.timeline.run_until.is_some() {
            again.run_slice(1_000);
        }
        assert_eq!(told(&again), (2, 3));
    }

    #[test]
    fn a_link_and_a_manifest_of_ones_own_stay_as_they_are() {
        let link = State::from_link(None).link();
        let mut state = State::from_link(Some(&link));
        state.update(Msg::Begin { moves: true });
        assert!(!state.demo.offers && !state.demo.plays());
        let mut state = State::from_link(None);
        state.update(Msg::Begin { moves: false });
        assert!(state.demo.offers && !state.demo.plays());
    }

    #[test]
    fn the_example_of_a_rolling_update_rolls() {
        let mut state = State::from_link(None);
        state.update(ReplaceMsg::Ask(Replacement::Example(1)));
        run(&mut state, 30, 256);
        assert_eq!(state.timeline.run.sim().store().count(Kind::ReplicaSet), 2);
        assert_eq!((ready(&state.timeline.run), state.demo.plays()), (3, false));
        assert!(
            state
                .console
                .lines
                .iter()
                .any(|line| line.text.starts_with("# kubectl set image") && line.entered.is_none())
        );
        // The command was not a person's.
        state.update(ReplaceMsg::Ask(Replacement::Example(0)));
        assert_eq!(
            (
                state.replacing.asked.clone(),
                examples::of(&state.editor.text)
            ),
            (None, Some(0))
        );
    }

    #[test]
    fn each_thing_to_try_does_something() {
        for at in 0..3 {
            let mut state = State::from_link(None);
            run(&mut state, 10, 256);
            let line = tries(&state.timeline.run).swap_remove(at).line;
            let before = state.timeline.run.version();
            state.update(ConsoleMsg::Enter(line));
            run(&mut state, 5, 256);
            assert_ne!(state.timeline.run.version(), before);
            assert!(
                !state.console.lines.iter().any(|line| line.error),
                "{:?}",
                state.console.lines
            );
        }
        assert!(tries(&State::new("", 1).timeline.run).is_empty());
    }
}
