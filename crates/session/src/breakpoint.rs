//! Conditions at which the clock stops, in the expression language of lessons: `ready(web) < 2`, `created(pod) > 0`. The most common ones
//! have a short form: `pod not ready`, `event FailedScheduling`, `deployment/web condition=Available=False`. `line 6 of keep-pods` is met
//! where a pass of a loop that is a program reaches the line.

use crate::run::Run;
use apiserver::{Actor, Entry};
use cluster::loops;
use controllers::scripted::LastPass;
use i18n::{Message, msg};
use k8s_model::{Kind, Time};
use lesson::expr::{Expr, ExprError};
use lesson::{ObservedHistory, read};

/// Condition at which the clock stops.
#[derive(Clone, Debug)]
pub struct Breakpoint {
    /// Condition as the user wrote it.
    pub text: String,
    condition: Condition,
}

/// Condition of a breakpoint.
#[derive(Clone, Debug)]
enum Condition {
    /// Expression that begins to hold.
    Holds(Expr),
    /// Line of a loop that a pass reaches.
    Line { line: u32, of: String },
}

/// Suggested conditions.
pub const COMMON: [&str; 6] = [
    "pod not ready",
    "pod created",
    "pod deleted",
    "event FailedScheduling",
    "deployment condition=Available=False",
    "pod condition=Ready",
];

impl Breakpoint {
    /// Returns the last pass of the loop whose line it is about.
    fn last_pass<'r>(&self, run: &'r Run) -> Option<&'r LastPass> {
        let Condition::Line { of, .. } = &self.condition else {
            return None;
        };
        let mut loops = run.sim().manager.scripted_loops();
        let (_, state) = loops.find(|(loop_, _)| loop_.id.name == *of)?;
        state.last_pass()
    }
}

impl PartialEq for Breakpoint {
    fn eq(&self, other: &Breakpoint) -> bool {
        self.text == other.text
    }
}

impl Breakpoint {
    /// Parses a condition.
    ///
    /// # Errors
    /// A message that shows an accepted form.
    pub fn parse(text: &str) -> Result<Breakpoint, Message> {
        let words: Vec<&str> = text.split_whitespace().collect();
        if words.is_empty() {
            return Err(msg::breakpoint_empty("pod not ready"));
        }
        if let Some(condition) = line_of(&words) {
            return Ok(Breakpoint {
                text: words.join(" "),
                condition,
            });
        }
        let expression = match expression(&words)? {
            Some(expression) => expression,
            None => text.to_owned(),
        };
        let condition = Expr::of_instant(&expression).map_err(|error| match error {
            ExprError::Nested => msg::breakpoint_instant("max, min, ever, always, never"),
            ExprError::OnlyNow(name) => msg::breakpoint_instant(name),
            error => read::of_expression(&error),
        })?;
        Ok(Breakpoint {
            text: text.trim().to_owned(),
            condition: Condition::Holds(condition),
        })
    }

    /// Creates the breakpoint of a line of a loop.
    pub fn of_line(line: u32, of: &str) -> Breakpoint {
        Breakpoint {
            text: format!("line {line} of {of}"),
            condition: Condition::Line {
                line,
                of: of.to_owned(),
            },
        }
    }
}

/// Returns the condition of `line 6 of keep-pods`.
fn line_of(words: &[&str]) -> Option<Condition> {
    let ["line", line, "of", of] = words else {
        return None;
    };
    let line = line.parse().ok().filter(|line| *line > 0)?;
    let of = (*of).to_owned();
    Some(Condition::Line { line, of })
}

/// Returns the expression of a short form, such as `pod created`; `None` for an expression.
fn expression(words: &[&str]) -> Result<Option<String>, Message> {
    let (subject, rest) = (words[0], &words[1..]);
    let unknown = || msg::breakpoint_unknown("condition=Ready=False", "ready(web) < 2");
    if subject == "not" || words.iter().any(|word| word.contains('(')) {
        return Ok(None);
    }
    if words.iter().any(|word| word.contains(['"', '\'', '\\'])) {
        return Err(unknown());
    }
    if subject.eq_ignore_ascii_case("event") {
        let [reason] = rest else {
            return Err(msg::breakpoint_event("event FailedScheduling"));
        };
        return Ok(Some(format!("events({reason:?}) > 0")));
    }
    let (kind, name) = match subject.split_once('/') {
        Some((kind, name)) => (kind, Some(name)),
        None => (subject, None),
    };
    let lower = kind.to_ascii_lowercase();
    match Kind::from_word(&lower) {
        None => return Err(msg::breakpoint_kind(kind)),
        Some(Kind::Event) => return Err(msg::breakpoint_event("event FailedScheduling")),
        Some(_) => {}
    }
    let subject = name.map_or_else(|| lower.clone(), |name| format!("{lower}/{name}"));
    Ok(Some(match rest {
        ["created"] => format!("created({subject:?}) > 0"),
        ["deleted"] => format!("deleted({subject:?}) > 0"),
        ["changed"] => format!("changed({subject:?}) > 0"),
        ["not", "ready"] => format!("unready({subject:?}) > 0"),
        [condition] if condition.starts_with("condition=") => {
            let (name, status) = condition[10..]
                .split_once('=')
                .unwrap_or((&condition[10..], "True"));
            format!("became({subject:?}, {name:?}, {status:?}) > 0")
        }
        _ => return Err(unknown()),
    }))
}

/// Breakpoints of a clock, with what they have observed of its journal.
///
/// A breakpoint is met where its condition begins to hold. Functions that count, such as `created(pod)`, count since the clock last stopped
/// at a breakpoint, or another instant was shown.
#[derive(Clone, Debug, Default)]
pub struct Breakpoints {
    all: Vec<Breakpoint>,
    /// True for each condition that held at the last entry observed.
    held: Vec<bool>,
    history: ObservedHistory,
    /// Number and time of the last pass seen of the loop of each breakpoint on a line.
    passes: Vec<Option<(u64, Time)>>,
    /// Epoch of the run that was observed; `None` before the first.
    observed: Option<u64>,
}

impl Breakpoints {
    /// Breakpoints in the order in which they were set.
    pub fn all(&self) -> &[Breakpoint] {
        &self.all
    }

    /// Adds a breakpoint; one of the same text is replaced.
    pub fn add(&mut self, breakpoint: Breakpoint) {
        self.all.retain(|old| old.text != breakpoint.text);
        self.all.push(breakpoint);
        self.forget();
    }

    /// Removes a breakpoint, if there is one at this index.
    pub fn remove(&mut self, at: usize) {
        if at < self.all.len() {
            self.all.remove(at);
            self.forget();
        }
    }

    /// Forgets what was observed: no breakpoint stops the clock for what has happened so far.
    pub fn forget(&mut self) {
        self.observed = None;
    }

    /// Observes the instant shown, unless it follows from what was observed before.
    pub fn observe(&mut self, run: &Run) {
        if self.all.is_empty() || self.follows(run) {
            return;
        }
        self.observed = Some(run.epoch);
        self.history = ObservedHistory::present(run.sim());
        let all = self.all.iter();
        self.passes = all
            .map(|one| one.last_pass(run).map(|last| (last.number, last.time)))
            .collect();
        self.begin();
    }

    /// Returns the lines of a loop with a breakpoint.
    pub fn lines_of(&self, actor: &Actor) -> impl Iterator<Item = u32> {
        let name = actor.to_string();
        self.all.iter().filter_map(move |one| match &one.condition {
            Condition::Line { line, of } if *of == name => Some(*line),
            _ => None,
        })
    }

    /// Sets the breakpoint of a line of a loop, or removes it.
    pub fn toggle_line(&mut self, line: u32, of: &str) {
        let new = Breakpoint::of_line(line, of);
        match self.all.iter().position(|one| *one == new) {
            Some(at) => self.remove(at),
            None => self.add(new),
        }
    }

    /// Returns a breakpoint on a line that the last pass of its loop has reached since it was looked at, with that loop and the line.
    pub fn next_line(&mut self, run: &Run) -> Option<(Breakpoint, Actor, u32)> {
        if self.all.is_empty() || !self.follows(run) {
            return None;
        }
        let mut hit = None;
        for (one, seen) in self.all.iter().zip(&mut self.passes) {
            let Condition::Line { line, of } = &one.condition else {
                continue;
            };
            let last = one.last_pass(run);
            let now = last.map(|last| (last.number, last.time));
            if now == *seen {
                continue;
            }
            *seen = now;
            let actor = loops::named(of);
            if last.is_some_and(|last| last.lines.contains(*line))
                && let Some(actor) = actor
            {
                hit = hit.or(Some((one.clone(), actor, *line)));
            }
        }
        hit
    }

    /// Returns true if the run goes on from what was observed.
    fn follows(&self, run: &Run) -> bool {
        self.observed == Some(run.epoch) && self.history.processed() <= run.happened()
    }

    /// Counts from here on.
    fn begin(&mut self) {
        self.history.forget_occurrences();
        let conditions = self.all.iter();
        self.held = conditions.map(|one| holds(&self.history, one)).collect();
    }

    /// Returns the next entry at which a breakpoint is met, with that breakpoint.
    pub fn next_hit<'r>(&mut self, run: &'r Run) -> Option<(&'r Entry, Breakpoint)> {
        if self.all.is_empty() || !self.follows(run) {
            self.forget();
            return None;
        }
        for entry in run.sim().journal().from(self.history.processed()).iter() {
            if !self.history.observe(entry) {
                continue;
            }
            let mut hit = None;
            for (breakpoint, held) in self.all.iter().zip(&mut self.held) {
                let holds = holds(&self.history, breakpoint);
                let begins = holds && !*held;
                *held = holds;
                hit = hit.or(begins.then_some(breakpoint));
            }
            if let Some(breakpoint) = hit.cloned() {
                self.begin();
                return Some((entry, breakpoint));
            }
        }
        None
    }
}

fn holds(history: &ObservedHistory, breakpoint: &Breakpoint) -> bool {
    match &breakpoint.condition {
        Condition::Holds(condition) => history.eval_recorded(condition).is_true(),
        Condition::Line { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Msg;
    use crate::State;
    use crate::console::ConsoleMsg;
    use crate::examples;
    use crate::timeline::TimelineMsg;

    fn stopped(state: &State) -> Option<(&str, String)> {
        state
            .timeline
            .stopped
            .as_ref()
            .map(|stop| (stop.text.as_str(), stop.words.to_string()))
    }

    fn run(lines: &[&str], then: &str) -> State {
        let mut state = State::new((examples::ALL[0].text)(), 1);
        state.update(TimelineMsg::Seconds(10));
        for line in lines {
            state.update(TimelineMsg::Break((*line).into()));
        }
        state.update(TimelineMsg::Play);
        state.update(ConsoleMsg::Enter(then.into()));
        state.update(TimelineMsg::Seconds(60));
        state
    }

    #[test]
    fn the_clock_stops_where_a_condition_holds_and_says_why() {
        let state = run(
            &["pod deleted", "event SuccessfulDelete"],
            "kubectl scale deployment nginx-deployment --replicas=1",
        );
        let (text, words) = stopped(&state).expect("it stopped");
        assert_eq!(text, "event SuccessfulDelete", "{words}");
        assert!(
            !state.timeline.playing && state.timeline.run.now() < 11_000,
            "{}",
            state.timeline.run.now()
        );
        let state = run(
            &["deployment/nginx-deployment condition=Available=False"],
            "kubectl scale deployment nginx-deployment --replicas=6",
        );
        assert!(
            stopped(&state).is_some_and(|(_, words)| words.contains("nginx-deployment")),
            "{:?}",
            stopped(&state)
        );
        let state = run(
            &["pod/nothing deleted"],
            "kubectl delete pods --all --wait=false",
        );
        assert_eq!((stopped(&state), state.timeline.run.now()), (None, 70_000));
    }

    #[test]
    fn a_ready_pod_that_is_no_longer_ready_stops_the_clock_also_in_the_past() {
        let mut state = State::new((examples::ALL[0].text)(), 1);
        state.update(TimelineMsg::Seconds(10));
        let pod = state
            .timeline
            .run
            .objects()
            .iter()
            .find(|object| object.kind == Kind::Pod)
            .expect("a Pod")
            .meta
            .name
            .to_string();
        state.update(Msg::Fault(format!("unready pod/{pod}").parse().unwrap()));
        state.update(TimelineMsg::Seconds(10));
        state.update(TimelineMsg::Seek(5_000));
        state.update(TimelineMsg::Break("pod not ready".into()));
        state.update(TimelineMsg::Seconds(14));
        assert!(
            state.timeline.run.in_past() && state.timeline.run.now() < 11_000,
            "{}",
            state.timeline.run.now()
        );
        assert_eq!(stopped(&state).map(|(text, _)| text), Some("pod not ready"));
        assert_eq!(
            state
                .selection
                .selected
                .as_ref()
                .map(|key| key.name.to_string()),
            Some(pod)
        );
        // Replaying an instant does not stop the clock there again.
        state.update(TimelineMsg::Seconds(5));
        assert_eq!(stopped(&state), None);
    }

    #[test]
    fn a_condition_stops_the_clock_where_it_begins_to_hold() {
        let line = "kubectl scale deployment nginx-deployment --replicas=1";
        let state = run(
            &["ready(nginx-deployment) < 2 and exists(nginx-deployment)"],
            line,
        );
        assert!(stopped(&state).is_some());
        let ready = state
            .timeline
            .run
            .objects()
            .iter()
            .filter(|object| object.kind == Kind::Pod && !object.meta.is_deleting())
            .count();
        assert_eq!(ready, 1);
        // The condition still holds: the clock does not stop again.
        let mut state = state;
        state.update(TimelineMsg::Seconds(60));
        assert_eq!(stopped(&state), None);
    }

    #[test]
    fn a_command_and_the_rest_of_a_pass_meet_conditions_as_well() {
        let scale = "kubectl scale deployment nginx-deployment --replicas=5";
        let state = run(&["replicas(nginx-deployment) > 3"], scale);
        assert!(stopped(&state).is_some());
        // One pass creates three Pods: the first meets one condition, the last the other.
        let mut state = run(&["created(pod) > 0", "created(pod) > 1"], scale);
        assert_eq!(
            stopped(&state).map(|(text, _)| text),
            Some("created(pod) > 0")
        );
        state.update(TimelineMsg::Play);
        state.update(TimelineMsg::Seconds(1));
        assert!(stopped(&state).is_some());
    }

    #[test]
    fn counts_begin_where_the_clock_has_stopped() {
        let state = run(
            &["created(pod) >= 3"],
            "kubectl scale deployment nginx-deployment --replicas=5",
        );
        assert!(stopped(&state).is_some());
        assert_eq!(
            stopped(&run(
                &["created(pod) >= 4"],
                "kubectl scale deployment nginx-deployment --replicas=5"
            )),
            None
        );
    }

    #[test]
    fn a_kind_is_meant_before_an_object_of_its_name() {
        let state = run(
            &["pod created"],
            "kubectl create deployment pod --image=nginx:1.27",
        );
        assert!(stopped(&state).is_some());
    }

    #[test]
    fn an_invalid_condition_lists_valid_ones() {
        for bad in [
            "",
            "event",
            "pod",
            "thing deleted",
            "pod vanished",
            "pod deleted now",
            "redy(web) < 2",
            "ready(web",
            "never ready(web) < 2",
            "file(web-0, '/a') == 'b'",
            "ran('rollout undo')",
            "seconds() > 30",
            "events created",
            "event Foo\"x",
            "line x of y",
            "line 0 of y",
            "line 3",
        ] {
            assert!(Breakpoint::parse(bad).is_err(), "{bad}");
        }
        for good in COMMON
            .into_iter()
            .chain(["ready(web) < 2", "not bound(data)"])
        {
            assert!(Breakpoint::parse(good).is_ok(), "{good}");
        }
    }
}
