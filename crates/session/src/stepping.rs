//! A pass of a program, line by line: the pass is replayed on a copy of the cluster as it was before.

use crate::State;
use crate::run::Run;
use apiserver::{Actor, Component};
use k8s_model::{ObjectRef, Str, Time};
use script::Step;

/// Pass of a program with the line at which it is looked at.
#[derive(Clone, Debug, PartialEq)]
pub struct Stepping {
    /// Loop.
    pub actor: Actor,
    /// Key of the pass.
    pub key: ObjectRef,
    /// Time of the pass.
    pub time: Time,
    /// Text of the program.
    pub program: Str,
    /// Steps of the pass, each with the values after it.
    pub steps: Vec<Step>,
    /// Index of the step looked at.
    pub at: usize,
}

impl Stepping {
    /// Replays the last pass of a loop at the instant shown. `None` if its program has made none, or the pass cannot be found again.
    pub fn of(run: &Run, actor: &Actor) -> Option<Stepping> {
        let Component::Loop(id) = actor.component else {
            return None;
        };
        let (of, state) = run.sim().manager.scripted(id)?;
        let last = state.last_pass()?.clone();
        let before = run.before(last.time, |sim| {
            let state = sim.manager.scripted(id).map(|(_, state)| state);
            state.and_then(|state| state.last_pass()) == Some(&last)
        })?;
        let steps = before.trace_pass(id, &last.key);
        (!steps.is_empty()).then(|| Stepping {
            actor: actor.clone(),
            key: last.key,
            time: last.time,
            program: of.spec.program.clone(),
            steps,
            at: 0,
        })
    }

    /// Returns the step looked at.
    pub fn step(&self) -> Option<&Step> {
        self.steps.get(self.at)
    }

    /// Goes forward or back by some steps, as far as there are.
    pub fn go(&mut self, by: i64) {
        let last = self.steps.len().saturating_sub(1);
        let to = (self.at as i64).saturating_add(by).max(0) as usize;
        self.at = to.min(last);
    }

    /// Goes to the first step of a line, if the pass has reached it.
    pub fn go_to_line(&mut self, line: u32) {
        let found = self.steps.iter().position(|step| step.line == line);
        self.at = found.unwrap_or(self.at);
    }

    /// Returns the names whose values the step has changed.
    pub fn changed(&self) -> Vec<&str> {
        let (Some(step), before) = (self.step(), self.at.checked_sub(1)) else {
            return Vec::new();
        };
        let before = before.and_then(|at| self.steps.get(at));
        let changed = step
            .values
            .iter()
            .filter(|value| before.is_none_or(|before| !before.values.contains(value)));
        changed.map(|(name, _)| name.as_str()).collect()
    }
}

/// Message of the steps of a pass.
#[derive(Clone, Debug, PartialEq)]
pub enum SteppingMsg {
    /// Replays the last pass of a loop.
    Open(Actor),
    /// Goes forward or back by some steps.
    Go(i64),
    /// Goes to a line of the pass.
    Line(u32),
    /// Leaves the pass.
    Close,
    /// Sets the breakpoint of a line of a loop, or removes it.
    Toggle(Actor, u32),
}

impl State {
    /// Handles a message of the steps of a pass.
    pub(super) fn step_lines(&mut self, msg: SteppingMsg) {
        match msg {
            SteppingMsg::Open(actor) => {
                self.stepping = Stepping::of(&self.timeline.run, &actor);
                if self.stepping.is_some() {
                    self.timeline.playing = false;
                }
            }
            SteppingMsg::Go(by) => {
                if let Some(stepping) = &mut self.stepping {
                    stepping.go(by);
                }
            }
            SteppingMsg::Line(line) => {
                if let Some(stepping) = &mut self.stepping {
                    stepping.go_to_line(line);
                }
            }
            SteppingMsg::Close => self.stepping = None,
            SteppingMsg::Toggle(actor, line) => {
                let breakpoints = &mut self.timeline.breakpoints;
                breakpoints.toggle_line(line, &actor.to_string());
                breakpoints.observe(&self.timeline.run);
            }
        }
    }

    /// Returns the pass that is looked at, if the instant shown is still that of its loop.
    pub fn stepping_of(&self, actor: &Actor) -> Option<&Stepping> {
        let Component::Loop(id) = actor.component else {
            return None;
        };
        let (_, state) = self.timeline.run.sim().manager.scripted(id)?;
        let last = state.last_pass()?;
        let stepping = self.stepping.as_ref()?;
        let is_shown = stepping.actor == *actor && stepping.key == last.key;
        (is_shown && stepping.time == last.time).then_some(stepping)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timeline::TimelineMsg;

    const LOOP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {pods: \"2\"}\n---\napiVersion: loopscope.dev/v1\nkind: ControlLoop\nmetadata: {name: mine}\nspec:\n  \
        for: {apiVersion: v1, kind: ConfigMap}\n  owns: [{apiVersion: v1, kind: Pod}]\n  program: |\n    def reconcile(key):\n        config = get(\"ConfigMap\", key)\n        \
        if not config or not config.data or not config.data.pods: return\n        wanted = int(config.data.pods)\n        found = list(\"Pod\", owner=config)\n        \
        for n in range(len(found), wanted):\n            pod = {\"kind\": \"Pod\", \"metadata\": {\"generateName\": \"web-\"}, \"spec\": {\"containers\": [{\"name\": \"c\", \"image\": \"nginx\"}]}}\n            \
        check(create(set_owner(pod, config)))\n";

    fn state() -> State {
        let mut state = State::new(LOOP, 1);
        state.update(TimelineMsg::Seconds(10));
        state
    }

    fn mine(state: &State) -> Actor {
        let sim = state.timeline.run.sim();
        let (of, _) = sim.manager.scripted_loops().next().expect("a loop");
        Actor::component(of.component())
    }

    #[test]
    fn pass_is_stepped_through_forwards_and_backwards() {
        let mut state = state();
        let actor = mine(&state);
        let entries = state.timeline.run.journal().len();
        let first_pod = state
            .timeline
            .run
            .journal()
            .iter()
            .find(|entry| {
                entry.actor == actor
                    && entry
                        .key()
                        .is_some_and(|key| key.kind == k8s_model::Kind::Pod)
            })
            .expect("a Pod")
            .time;
        state.update(TimelineMsg::Seek(first_pod.0 / 1000));
        let mut stepping = Stepping::of(&state.timeline.run, &actor).expect("a pass");
        let lines: Vec<u32> = stepping.steps.iter().map(|step| step.line).collect();
        assert_eq!(lines, [2, 3, 4, 5, 6, 7, 8, 6, 7, 8]);
        stepping.go(4);
        let value = |stepping: &Stepping, name: &str| {
            let values = &stepping.step().unwrap().values;
            let found = values.iter().find(|(known, _)| known == name);
            found.map(|(_, value)| value.clone())
        };
        assert_eq!(value(&stepping, "n").as_deref(), Some("0"));
        assert_eq!(stepping.changed(), ["n"]);
        stepping.go(3);
        assert_eq!(value(&stepping, "n").as_deref(), Some("1"));
        stepping.go(-3);
        assert_eq!(value(&stepping, "n").as_deref(), Some("0"));
        stepping.go(-100);
        assert_eq!(stepping.at, 0);
        stepping.go(100);
        assert_eq!(stepping.at, 9);
        stepping.go_to_line(6);
        assert_eq!(stepping.at, 4);
        state.update(TimelineMsg::Live);
        assert_eq!(
            state.timeline.run.journal().len(),
            entries,
            "nothing is written"
        );
        // The last pass found nothing to do.
        let quiet = Stepping::of(&state.timeline.run, &actor).expect("a pass");
        assert_eq!(quiet.steps.iter().map(|step| step.line).max(), Some(6));
    }

    #[test]
    fn clock_stops_at_a_line_and_its_pass_is_shown() {
        let mut state = state();
        let actor = mine(&state);
        state.update(TimelineMsg::Break("line 8 of mine".into()));
        assert!(state.timeline.breakpoint_error.is_empty());
        state.update(TimelineMsg::Seconds(5));
        assert!(state.timeline.stopped.is_none());
        state.update(crate::console::ConsoleMsg::Enter(
            "kubectl delete pods --all --wait=false".into(),
        ));
        state.update(TimelineMsg::Seconds(60));
        let stop = state.timeline.stopped.clone().expect("it stopped");
        assert_eq!(stop.text.to_string(), "line 8 of mine");
        assert!(state.timeline.run.now() < 60_000);
        assert_eq!(state.selection.inspected_loop(), Some(&actor));
        let stepping = state.stepping.clone().expect("its pass");
        assert_eq!(stepping.step().map(|step| step.line), Some(8));
        // It stops once for a pass, and not where the line is not reached.
        state.update(TimelineMsg::Toggle);
        state.update(TimelineMsg::Seconds(60));
        let again = state.timeline.stopped.clone();
        assert!(again.is_none_or(|again| again.at > stop.at));
    }

    #[test]
    fn click_on_a_line_sets_its_breakpoint_and_removes_it() {
        let mut state = state();
        let actor = mine(&state);
        state.update(SteppingMsg::Toggle(actor.clone(), 4));
        assert_eq!(
            state
                .timeline
                .breakpoints
                .lines_of(&actor)
                .collect::<Vec<_>>(),
            [4]
        );
        state.update(SteppingMsg::Toggle(actor.clone(), 4));
        assert_eq!(state.timeline.breakpoints.all().len(), 0);
    }
}
