//! Conditions at which the clock stops: `pod not ready`, `event FailedScheduling`, `deployment/web condition=Available=False`.

use apiserver::why::Why;
use apiserver::{Entry, Op, Record};
use controller_runtime::event_series::LATE_COUNT;
use i18n::{Message, msg};
use k8s_model::{Body, Kind, Object};

/// A condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breakpoint {
    /// Condition as the user wrote it.
    pub text: String,
    kind: Kind,
    /// Name of the object; `None` for any.
    name: Option<String>,
    when: When,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum When {
    Did(Op),
    /// The object was Ready and no longer is.
    NotReady,
    /// A status condition has just changed to this value.
    Condition(String, String),
    /// An Event with this reason was created.
    Said(String),
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
    /// Parses a condition; the error lists the accepted forms.
    pub fn parse(text: &str) -> Result<Breakpoint, Message> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let (subject, rest) = words
            .split_first()
            .ok_or_else(|| msg::breakpoint_empty("pod not ready"))?;
        let text = words.join(" ");
        if subject.eq_ignore_ascii_case("event") {
            let [reason] = rest else {
                return Err(msg::breakpoint_event("event FailedScheduling"));
            };
            return Ok(Breakpoint {
                text,
                kind: Kind::Event,
                name: None,
                when: When::Said((*reason).into()),
            });
        }
        let (kind, name) = subject
            .split_once('/')
            .map_or((*subject, None), |(kind, name)| {
                (kind, Some(name.to_string()))
            });
        let lower = kind.to_ascii_lowercase();
        let kind = Kind::from_word(&lower).ok_or_else(|| msg::breakpoint_kind(kind))?;
        let when = match rest {
            ["created"] => When::Did(Op::Added),
            ["deleted"] => When::Did(Op::Deleted),
            ["changed"] => When::Did(Op::Modified),
            ["not", "ready"] => When::NotReady,
            [condition] if condition.starts_with("condition=") => {
                let (name, value) = condition[10..]
                    .split_once('=')
                    .unwrap_or((&condition[10..], "True"));
                When::Condition(name.into(), value.into())
            }
            _ => return Err(msg::breakpoint_unknown("condition=Ready=False")),
        };
        Ok(Breakpoint {
            text,
            kind,
            name,
            when,
        })
    }

    /// Returns true if a journal entry meets the condition.
    pub fn hit(&self, entry: &Entry) -> bool {
        let Record::Write { op, object, before } = &entry.record else {
            return false;
        };
        if object.kind != self.kind
            || self
                .name
                .as_ref()
                .is_some_and(|name| *name != *object.meta.name)
        {
            return false;
        }
        let has = |object: &Object, name: &str, value: &str| {
            condition(object, name).is_some_and(|found| found.eq_ignore_ascii_case(value))
        };
        match &self.when {
            When::Did(wanted) => op == wanted,
            // A count written later is no occurrence, and neither is the deletion of an Event.
            When::Said(reason) => {
                let late = *op == Op::Deleted || entry.why == Why::Said { reason: LATE_COUNT };
                matches!(&object.body, Body::Event(event) if event.reason.eq_ignore_ascii_case(reason))
                    && !late
            }
            When::NotReady => {
                before
                    .as_ref()
                    .is_some_and(|before| has(before, "Ready", "True"))
                    && !has(object, "Ready", "True")
            }
            When::Condition(name, value) => {
                has(object, name, value)
                    && !before
                        .as_ref()
                        .is_some_and(|before| has(before, name, value))
                    && *op != Op::Deleted
            }
        }
    }
}

/// Returns the status of a condition.
fn condition(object: &Object, name: &str) -> Option<String> {
    let value = object.to_value();
    let all = value.pointer("/status/conditions")?.as_array()?;
    let found = all.iter().find(|one| {
        one["type"]
            .as_str()
            .is_some_and(|kind| kind.eq_ignore_ascii_case(name))
    })?;
    found["status"].as_str().map(str::to_string)
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
    fn an_invalid_condition_lists_valid_ones() {
        for bad in [
            "",
            "event",
            "pod",
            "thing deleted",
            "pod vanished",
            "pod deleted now",
        ] {
            assert!(Breakpoint::parse(bad).is_err(), "{bad}");
        }
        for good in COMMON {
            assert!(Breakpoint::parse(good).is_ok(), "{good}");
        }
    }
}
