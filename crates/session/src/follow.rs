//! Following a cluster served elsewhere (`loopscope serve --page`): the page replays the server's record as it arrives, and sends a
//! person's actions to the server.

use super::effect::Effect;
use super::msg::Msg;
use super::record::{SavedRecord, begins};
use super::run::Run;
use super::state::State;
use super::timeline::{RunUntil, TimelineMsg};
use actions::{Action, OutputLine};
use i18n::{Message, msg};
use serde::Deserialize;

/// Lag behind the server, in microseconds, above which the page catches up at full speed.
const LAG_US: u64 = 2_000_000;

/// Message from the server.
#[derive(Clone, Debug, PartialEq)]
pub enum FollowMsg {
    /// A line of the record.
    Told(String),
    /// The connection was lost.
    Lost,
    /// The answer to something that was sent.
    Answered(String),
}

/// Request to the server.
#[derive(Clone, Debug, PartialEq)]
pub enum Outgoing {
    /// Runs an action.
    Run(Action),
    /// Advances the clock by this many seconds.
    Advance(i64),
}

impl Outgoing {
    /// Returns the path below `/loopscope/` and the body; `None` for an action that is a client's own and not a person's.
    pub fn request(&self) -> Option<(&'static str, String)> {
        Some(match self {
            Outgoing::Run(Action::Kubectl(line)) => ("kubectl", line.to_string()),
            Outgoing::Run(Action::Fault(fault)) => ("fault", fault.to_string()),
            Outgoing::Run(Action::Apply(text)) => ("apply", text.to_string()),
            Outgoing::Run(
                Action::Poll
                | Action::Edited(_)
                | Action::Request(_)
                | Action::Client(_)
                | Action::Admission(_)
                | Action::Remote(..)
                | Action::Beside(..)
                | Action::Interrupt
                | Action::Stop(_),
            ) => return None,
            Outgoing::Advance(seconds) => ("time", format!("{{\"seconds\": {seconds}}}")),
        })
    }
}

/// State of a page that follows.
#[derive(Default)]
pub struct Following {
    record: Option<SavedRecord>,
    lost: bool,
    /// Requests to be sent.
    pub outbox: Vec<Outgoing>,
}

/// Answer of the server: to a command, or a `Status`.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Answer {
    failed: bool,
    lines: Vec<Printed>,
    diagnostics: Vec<Wrong>,
    status: String,
    message: String,
}

#[derive(Deserialize)]
struct Printed {
    text: String,
    error: bool,
}

#[derive(Deserialize)]
struct Wrong {
    line: usize,
    message: String,
    error: bool,
}

impl State {
    /// Handles a message from the server.
    pub(super) fn follow(&mut self, msg: FollowMsg) {
        match msg {
            FollowMsg::Told(line) => self.take_told(&line),
            FollowMsg::Lost => {
                if let Some(following) = &mut self.following
                    && !std::mem::replace(&mut following.lost, true)
                {
                    self.announcer.say_failed(msg::follow_lost());
                }
            }
            FollowMsg::Answered(text) => self.take_answer(&text),
        }
    }

    fn take_told(&mut self, line: &str) {
        let Some(following) = &mut self.following else {
            return;
        };
        // The record is sent from the beginning after each connection.
        let begins = begins(line);
        if begins {
            following.record = None;
        }
        if let Err(problem) = SavedRecord::take(&mut following.record, line) {
            self.announcer.say_failed(Message::state(problem));
            return;
        }
        let Some(record) = &mut following.record else {
            return;
        };
        if begins {
            let back = std::mem::take(&mut following.lost);
            let run = Run::followed(record.config.clone(), record.seed);
            self.timeline.recall(run, record.end.1, None);
            self.demo.end();
            self.replacing.acted = true;
            self.perform(vec![Effect::HistoryChanged]);
            if back {
                self.announcer.say(msg::follow_back());
            }
            return;
        }
        self.timeline
            .run
            .extend(std::mem::take(&mut record.commands), record.end);
        let (run, end) = (&self.timeline.run, record.end.1);
        if self.timeline.playing && !run.in_past() && end.0 > run.sim().now().0 + LAG_US {
            self.timeline.run_until = Some(RunUntil::At(end));
        }
    }

    fn take_answer(&mut self, text: &str) {
        let answer: Answer = serde_json::from_str(text).unwrap_or_default();
        let mut lines: Vec<OutputLine> = answer
            .lines
            .into_iter()
            .map(|line| OutputLine::new(line.text, line.error))
            .collect();
        let wrong = answer.diagnostics.iter().filter(|one| one.error);
        lines.extend(
            wrong.map(|one| OutputLine::new(format!("line {}: {}", one.line, one.message), true)),
        );
        let refused = answer.status == "Failure";
        if refused {
            lines.push(OutputLine::new(answer.message, true));
        }
        let first = lines
            .first()
            .map(|line| Message::name(&line.text))
            .unwrap_or_default();
        if answer.failed || refused || lines.iter().any(|line| line.error) {
            self.announcer.say_failed(first);
        } else {
            self.announcer.say(first);
        }
        self.perform(vec![Effect::Print(lines)]);
    }

    /// Sends a command to the followed cluster; returns false if none is followed.
    pub(super) fn send(&mut self, command: &Action) -> bool {
        let Some(following) = &mut self.following else {
            return false;
        };
        let outgoing = Outgoing::Run(command.clone());
        if outgoing.request().is_some() {
            following.outbox.push(outgoing);
        }
        true
    }

    /// Returns true if a message belongs to the server: it is sent there, or refused here.
    pub(super) fn routes_to_server(&mut self, msg: &Msg) -> bool {
        let Some(following) = &mut self.following else {
            return false;
        };
        let past = self.timeline.run.in_past();
        match msg {
            Msg::Apply => {
                let text = self.editor.text.clone();
                following
                    .outbox
                    .push(Outgoing::Run(Action::Apply(text.clone())));
                self.editor.restore(text.clone(), text);
                return true;
            }
            Msg::Timeline(TimelineMsg::Seconds(seconds)) if *seconds > 0 && !past => {
                following.outbox.push(Outgoing::Advance(*seconds));
                return true;
            }
            Msg::Timeline(TimelineMsg::Step | TimelineMsg::Settle) if !past => {}
            Msg::Timeline(TimelineMsg::Branch | TimelineMsg::Restart | TimelineMsg::Switch(_))
            | Msg::Load(..)
            | Msg::Replace(_)
            | Msg::Lesson(_)
            | Msg::Begin { .. } => {}
            _ => return false,
        }
        if !matches!(msg, Msg::Begin { .. }) {
            self.announcer.say(msg::follow_not_here());
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::{FollowMsg, Following, Outgoing};
    use crate::console::ConsoleMsg;
    use crate::permalink::Link;
    use crate::run::Run;
    use crate::timeline::TimelineMsg;
    use crate::{Msg, State, record};
    use actions::Action;
    use controller_runtime::cluster::ClusterConfig;
    use k8s_model::{Kind, Time};

    /// Creates a page that follows, the record's lines of a served cluster after each of `seconds`, and that cluster.
    fn followed(seconds: u64) -> (State, Vec<String>, Run) {
        let config = ClusterConfig::with_nodes(2);
        let mut served = Run::of(config.clone(), 5);
        let mut lines = vec![record::head(5, &config)];
        for second in 1..=seconds {
            served.advance(Time(second * 1_000_000), usize::MAX);
            if second == 2 {
                served.command(Action::Kubectl(
                    "kubectl create deployment web --image=nginx --replicas=3".into(),
                ));
                lines.extend(served.record_of().0.last().map(record::did));
            }
            let (tasks, at) = served.record_of().1;
            lines.push(record::clock(tasks, at));
        }
        let mut state = State::from_link(Some(&Link {
            v: 1,
            manifest: Some(String::new()),
            ..Link::default()
        }));
        state.following = Some(Following::default());
        (state, lines, served)
    }

    fn tell(state: &mut State, lines: &[String]) {
        for line in lines {
            state.update(FollowMsg::Told(line.clone()));
            state.run_slice(5_000);
        }
        while state.timeline.run_until.is_some() {
            state.run_slice(5_000);
        }
    }

    #[test]
    fn a_page_repeats_what_is_done_elsewhere_and_goes_back_in_time() {
        let (mut state, lines, served) = followed(20);
        tell(&mut state, &lines);
        state.advance(Time(60_000_000), usize::MAX);
        assert_eq!(
            state.timeline.run.sim().now(),
            served.sim().now(),
            "no further than the server"
        );
        assert_eq!(state.timeline.run.objects(), served.objects());
        assert!(state.timeline.run.sim().store().count(Kind::Pod) == 3);
        state.update(TimelineMsg::Seek(1_000));
        assert_eq!(state.timeline.run.sim().store().count(Kind::Pod), 0);
        // An action on the past leads back to the server's present.
        state.update(ConsoleMsg::Enter(
            "kubectl scale deployment web --replicas=1".into(),
        ));
        assert!(!state.timeline.run.in_past());
        let sent = &state.following.as_ref().unwrap().outbox;
        assert_eq!(
            sent[..],
            [Outgoing::Run(Action::kubectl(
                "kubectl scale deployment web --replicas=1"
            ))]
        );
        assert_eq!(
            state.timeline.run.objects(),
            served.objects(),
            "nothing happens here alone"
        );
    }

    #[test]
    fn a_page_that_follows_is_shared_with_what_was_done() {
        let (mut state, lines, served) = followed(20);
        tell(&mut state, &lines);
        state.advance(served.sim().now(), usize::MAX);
        let link = state.shared();
        let mut again = State::from_link(Some(&link));
        again.recall(&link);
        while again.timeline.run.is_replaying() {
            again.advance(served.sim().now(), usize::MAX);
        }
        assert_eq!(again.timeline.run.objects(), served.objects());
    }

    #[test]
    fn what_belongs_to_the_server_is_sent_or_refused() {
        let (mut state, lines, served) = followed(5);
        tell(&mut state, &lines);
        state.advance(served.sim().now(), usize::MAX);
        state.update(crate::editor::EditorMsg::Edit("kind: Pod\n".into()));
        for msg in [
            Msg::Apply,
            Msg::Fault("node-down node-1".parse().unwrap()),
            TimelineMsg::Seconds(5).into(),
        ] {
            state.update(msg);
        }
        let sent: Vec<_> = state
            .following
            .as_mut()
            .unwrap()
            .outbox
            .drain(..)
            .filter_map(|sent| sent.request())
            .collect();
        let wanted = [
            ("apply", "kind: Pod\n"),
            ("fault", "node-down node-1"),
            ("time", "{\"seconds\": 5}"),
        ];
        assert_eq!(sent, wanted.map(|(path, body)| (path, body.to_owned())));
        for msg in [
            Msg::from(TimelineMsg::Restart),
            TimelineMsg::Settle.into(),
            TimelineMsg::Step.into(),
            Msg::Load("x".into(), None),
        ] {
            state.update(msg);
            assert_eq!(state.timeline.run.objects(), served.objects());
        }
        // Commands that only read are answered locally.
        state.update(ConsoleMsg::Enter("kubectl get deployments".into()));
        assert!(
            state
                .console
                .lines
                .iter()
                .any(|line| line.text.starts_with("web "))
        );
        assert!(state.following.as_ref().unwrap().outbox.is_empty());
    }

    #[test]
    fn a_connection_that_comes_back_is_told_all_again() {
        let (mut state, lines, served) = followed(20);
        tell(&mut state, &lines[..6]);
        state.update(FollowMsg::Lost);
        assert!(state.announcer.failed());
        tell(&mut state, &lines);
        state.advance(served.sim().now(), usize::MAX);
        assert_eq!(state.timeline.run.objects(), served.objects());
        // Input that is not a record is reported, and changes nothing.
        state.update(FollowMsg::Told("[1, {\"nonsense\": 1}]".into()));
        state.update(FollowMsg::Answered("<html>".into()));
        state.update(FollowMsg::Answered(
            "{\"status\":\"Failure\",\"message\":\"no\"}".into(),
        ));
        assert_eq!(
            state.console.lines.last().map(|line| line.text.as_str()),
            Some("no")
        );
        assert_eq!(state.timeline.run.objects(), served.objects());
    }
}
